/* What the fixture shows: snapshots of a walk without arithmetic. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stepper_fixture_priv.h"

static char *copy(const char *s)
{
    return strcpy(malloc(strlen(s) + 1), s);
}

static int by_size(const void *a, const void *b)
{
    double x = fabs(((const struct lab_term *)a)->value);
    double y = fabs(((const struct lab_term *)b)->value);
    return (x < y) - (x > y);
}

/* xW[n,m] from x and W; everything else is marked as given. */
static void explain(const struct stepper_fixture *f, struct lab_explanation *e)
{
    char text[128];
    e->tensor = f->element.tensor;
    e->index = f->element.index;
    if (e->tensor < 0)
        return;
    const struct lab_tensor *t = &f->plan->tensors[e->tensor];
    struct lab_shape place = {.rank = t->shape.rank};
    char shape[LAB_SHAPE_TEXT];
    lab_shape_unravel(&t->shape, e->index, place.dim);
    snprintf(text, sizeof(text), "%s%s", t->name,
             place.rank ? lab_shape_text(&place, shape) : "");
    e->name = copy(text);
    e->shown = f->values[e->tensor][e->index];
    e->value = e->shown;
    e->tolerance = 1e-5;
    e->agrees = true;
    e->step = -1;
    if (strcmp(t->name, "fc1.xW") != 0 || f->position < 1)
        return;
    int64_t n = e->index / 16;
    int64_t m = e->index % 16;
    e->step = 0;
    snprintf(text, sizeof(text), "sum_k x[%d,k] * fc1.W[k,%d]", (int)n, (int)m);
    e->symbolic = copy(text);
    e->terms = calloc(64, sizeof(*e->terms));
    e->n_terms_all = e->n_terms = 64;
    for (int k = 0; k < 64; k++) {
        struct lab_term *term = &e->terms[k];
        double x = f->values[fixture_tensor(f, "x")][n * 64 + k];
        double w = f->values[fixture_tensor(f, "fc1.W")][k * 16 + m];
        term->value = x * w;
        snprintf(term->text, sizeof(term->text), "%.4g*%.4g", x, w);
        term->source[0] =
            (struct lab_element){fixture_tensor(f, "x"), n * 64 + k};
        term->source[1] =
            (struct lab_element){fixture_tensor(f, "fc1.W"), k * 16 + m};
        term->n_sources = 2;
    }
    qsort(e->terms, 64, sizeof(*e->terms), by_size);
}

static void fill_stats(struct lab_stats *s, const double *v, int64_t n)
{
    double sum = 0;
    double squares = 0;
    int64_t finite = 0;
    *s = (struct lab_stats){.count = n, .min = NAN, .max = NAN};
    for (int64_t i = 0; i < n; i++) {
        s->nan_count += isnan(v[i]) != 0;
        s->inf_count += isinf(v[i]) != 0;
        s->zero_count += v[i] == 0;
        if (!isfinite(v[i]))
            continue;
        finite++;
        sum += v[i];
        squares += v[i] * v[i];
        s->min = isnan(s->min) || v[i] < s->min ? v[i] : s->min;
        s->max = isnan(s->max) || v[i] > s->max ? v[i] : s->max;
    }
    s->mean = sum / (double)finite;
    s->std = sqrt(fmax(0, squares / (double)finite - s->mean * s->mean));
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(v[i]))
            continue;
        double share =
            s->max > s->min ? (v[i] - s->min) / (s->max - s->min) : 0;
        int bin = (int)(share * LAB_HISTOGRAM_BINS);
        s->bin[bin < LAB_HISTOGRAM_BINS ? bin : LAB_HISTOGRAM_BINS - 1]++;
    }
}

/* ---- snapshots ---- */

/* Data and parameters are always there; the rest when a step has written it. */
static bool written(const struct stepper_fixture *f, int t)
{
    if (f->plan->tensors[t].role <= LAB_TENSOR_STATE || f->iteration > 0)
        return true;
    for (int i = 0; i < f->position; i++) {
        const struct lab_step *s = f->schedule->steps[i].step;
        for (int k = 0; k < s->n_out; k++)
            if (s->out[k] == t)
                return true;
    }
    return f->fused && f->position > 0 && t == fixture_tensor(f, "fc1.xW");
}

static int64_t cut(const struct lab_shape *s, int axis, int64_t first,
                   int64_t most)
{
    int64_t n = axis >= 0 ? s->dim[axis] - first : 1;
    return n < most ? n : most;
}

static void name_place(struct lab_label *label, int64_t i)
{
    static const char *const word[] = {"^", "the", "cat", "7", "beyond"};
    label->symbol = i % 6 != 5; /* one is known by its number alone */
    snprintf(label->text, sizeof(label->text), "%s", word[i % 5]);
    if (!label->symbol)
        snprintf(label->text, sizeof(label->text), "%lld", (long long)i);
}

static void fill_plane(const struct stepper_fixture *f,
                       const struct lab_show *show, struct lab_plane *p)
{
    p->tensor = show->tensor;
    p->show = *show;
    if (p->tensor < 0)
        return;
    const struct lab_shape *s = &f->plan->tensors[p->tensor].shape;
    const double *v = f->values[p->tensor];
    p->cols = cut(s, p->show.col_axis, p->show.col_first, LAB_PLANE_ELEMENTS);
    p->rows = cut(s, p->show.row_axis, p->show.row_first,
                  LAB_PLANE_ELEMENTS / p->cols);
    p->tiles = show->sheet ? s->dim[show->sheet - 1] : 1;
    p->value = calloc((size_t)(p->tiles * p->rows * p->cols), sizeof(double));
    p->written = written(f, p->tensor);
    for (int64_t k = 0; k < p->tiles * p->rows * p->cols; k++) {
        int64_t at[LAB_MAX_RANK];
        int64_t i = k % (p->rows * p->cols);
        memcpy(at, p->show.fixed, sizeof(at));
        if (show->sheet)
            at[show->sheet - 1] = k / (p->rows * p->cols);
        if (p->show.row_axis >= 0)
            at[p->show.row_axis] = p->show.row_first + i / p->cols;
        if (p->show.col_axis >= 0)
            at[p->show.col_axis] = p->show.col_first + i % p->cols;
        p->value[k] = v[lab_shape_ravel(s, at, s->rank)];
    }
    fill_stats(&p->stats, v, f->plan->tensors[p->tensor].count);
    if (!f->labels)
        return;
    p->row_label = calloc((size_t)(p->tiles * p->rows), sizeof(*p->row_label));
    p->col_label = calloc((size_t)(p->tiles * p->cols), sizeof(*p->col_label));
    for (int64_t i = 0; i < p->tiles * p->rows; i++)
        name_place(&p->row_label[i], i % p->rows);
    for (int64_t i = 0; i < p->tiles * p->cols; i++)
        name_place(&p->col_label[i], i % p->cols + 2);
}

static void fill_curve(struct lab_curve *c, int n, bool breaks, double from,
                       double to)
{
    c->n = n;
    c->iteration = calloc((size_t)n + 1, sizeof(*c->iteration));
    c->value = calloc((size_t)n + 1, sizeof(*c->value));
    for (int i = 0; i < n; i++) {
        c->iteration[i] = i * 10;
        c->value[i] = to + (from - to) * exp(-i / 15.0) + 0.02 * sin(i);
    }
    if (breaks && n > 40) {
        c->value[20] = NAN;
        c->value[30] = INFINITY;
        c->value[31] = -INFINITY;
    }
}

static void show_device(const struct stepper_fixture *f,
                        struct lab_snapshot *out)
{
    snprintf(out->backend, sizeof(out->backend), f->cuda ? "cuda" : "cpu");
    if (!f->cuda)
        return;
    snprintf(out->device.name, sizeof(out->device.name), "NVIDIA H200");
    out->device.peak_fp32_flops = 66.9e12;
    out->device.peak_dram_bytes_s = 4.8e12;
}

static void show_steps(const struct stepper_fixture *f,
                       struct lab_snapshot *out)
{
    out->steps = calloc((size_t)f->schedule->n_steps, sizeof(*out->steps));
    for (int i = 0; i < f->schedule->n_steps; i++) {
        bool done = i < f->position;
        out->steps[i] =
            (struct lab_step_status){.exec = done || f->iteration ? i + 1 : 0,
                                     .time_ns = 1000 + 731 * (i % 7) * (i % 7),
                                     .done = done};
    }
    int loss = f->schedule->phase_first[LAB_LOSS + 1];
    if (loss > f->schedule->phase_first[LAB_LOSS] && f->position >= loss)
        out->loss = 1.0986;
}

static void show_training(const struct stepper_fixture *f,
                          struct lab_snapshot *out)
{
    fill_curve(&out->losses, f->curve, f->curve_breaks, 2.3, 0.1);
    fill_curve(&out->accuracies, f->curve / 5, false, 0.1, 0.97);
    if (!f->curve)
        return;
    if (f->rate_falls)
        fill_curve(&out->rates, f->curve, false, 0.1, 0.01);
    if (f->iteration == 0) /* else the walk has gone back */
        out->iteration = out->losses.iteration[f->curve - 1];
    out->train_target = f->target;
    out->train_done = f->curve * 10;
    out->samples_per_s = 20511;
    out->seconds_left = 16.4;
    out->step_ms_median = 0.4875;
    out->epoch = 4;
    out->iterations_per_epoch = 144;
    out->accuracy = 0.9472;
    out->exact = f->decodes ? 0.9125 : NAN;
    if (f->decodes)
        snprintf(out->decoded, sizeof(out->decoded),
                 "40713 -> 31704\n22940 -> 04292, not 04922\n1 -> 1\n");
}

static void fill_text(const struct stepper_fixture *f, struct lab_snapshot *out)
{
    out->text = f->text;
    out->bits_per_char = out->bits_order3 = NAN;
    if (f->text && f->curve) {
        fill_curve(&out->bits, f->curve / 5, false, 4.5, 2);
        out->bits_per_char = 2.0417;
        out->bits_order3 = 2.1798;
    }
    if (f->text && f->written) {
        out->sample = strdup(f->written);
        out->sample_p = calloc(strlen(f->written), sizeof(*out->sample_p));
        for (size_t i = 0; f->written[i]; i++)
            out->sample_p[i] = i < 6 ? NAN : (float)(i % 11 + 1) / 12;
        out->sample_iteration = 590;
    }
}

/* Seven classes: 1 comes out as 4 now and then, and 2 once as 0. */
static void show_confusion(struct lab_confusion *k)
{
    enum { N = 7 };
    *k = (struct lab_confusion){.after = 600,
                                .classes = N,
                                .total = 143,
                                .right = 138,
                                .n_misread = 5,
                                .rows = 4,
                                .cols = 4};
    k->count = calloc((size_t)(N * N), sizeof(*k->count));
    for (int i = 0; i < N; i++)
        k->count[i * N + i] = i == 6 ? 0 : 23;
    k->count[1 * N + 4] = 4;
    k->count[2 * N + 0] = 1;
    k->misread = calloc(5, sizeof(*k->misread));
    for (int i = 0; i < 5; i++) {
        struct lab_misread *m = &k->misread[i];
        *m = (struct lab_misread){.row = i,
                                  .label = i == 2 ? 2 : 1,
                                  .answer = i == 2 ? 0 : 4,
                                  .loss = 3.0 / (i + 1)};
        m->value = calloc(16, sizeof(double));
        for (int e = 0; e < 16; e++)
            m->value[e] = (e % 4 == i % 4) * 0.5 + (e / 4 == i / 2) * 0.5;
    }
}

/* Row i is of class i % 3; all come out as class 0. */
static void show_labels(struct lab_result *r)
{
    enum { ROWS = 40, COLS = 3 };
    *r = (struct lab_result){.iteration = 20, .rows = ROWS, .cols = COLS};
    r->out = calloc((size_t)(ROWS * COLS), sizeof(double));
    r->label = calloc(ROWS, sizeof(*r->label));
    for (int i = 0; i < ROWS; i++) {
        r->out[i * COLS] = 1;
        r->label[i] = i % COLS;
    }
}

/* Three looks at two nodes, one of which has parameters that are few; two rows of a
 * regression. */
static void show_batch(const struct stepper_fixture *f,
                       struct lab_snapshot *out)
{
    enum { LOOKS = 3, NODES = 3 };
    struct lab_looks *l = &out->looks;
    struct lab_result *r = &out->result;
    if (!f->batch)
        return;
    out->confusion.classes = 0;
    out->confusion.after = -1;
    *l = (struct lab_looks){.n = LOOKS, .n_parameters = 2};
    l->iteration = calloc(LOOKS, sizeof(*l->iteration));
    l->gradient = calloc((size_t)(NODES * LOOKS), sizeof(double));
    l->ratio = calloc((size_t)(NODES * LOOKS), sizeof(double));
    l->parameter = calloc((size_t)(2 * LOOKS), sizeof(double));
    for (int k = 0; k < LOOKS; k++) {
        l->iteration[k] = 10 * k;
        l->parameter[k] = 0.25 * k;
        l->parameter[LOOKS + k] = 1 - 0.5 / (k + 1);
        for (int i = 0; i < NODES; i++) {
            l->gradient[i * LOOKS + k] = (i + 1) / (k + 1.0);
            l->ratio[i * LOOKS + k] = 0.01 * (i + 1) / (k + 1.0);
        }
    }
    if (f->batch_labels) {
        show_labels(r);
        return;
    }
    *r = (struct lab_result){.iteration = 20, .rows = 2, .cols = 1};
    r->out = calloc(2, sizeof(double));
    r->target = calloc(2, sizeof(double));
    r->out[0] = 0.875;
    r->out[1] = 5.25;
    r->target[0] = 1;
    r->target[1] = 5;
}

static void show_layers(const struct stepper_fixture *f,
                        struct lab_snapshot *out)
{
    out->confusion.classes = f->text ? 0 : 7;
    if (!f->inspected)
        return;
    show_confusion(&out->confusion);
    out->figures = calloc(3, sizeof(*out->figures));
    out->n_figures = 3;
    out->figures_of = 599;
    out->figures[0] = (struct lab_node_figures){.node = 0,
                                                .parameters = 1040,
                                                .gradient = 0.25,
                                                .parameter = 8,
                                                .update = 0.025};
    out->figures[1] = (struct lab_node_figures){.node = 1,
                                                .gradient = NAN,
                                                .parameter = NAN,
                                                .update = NAN,
                                                .units = 16,
                                                .dead = 3};
    out->figures[2] = (struct lab_node_figures){.node = 2,
                                                .parameters = 51,
                                                .gradient = 1.5,
                                                .parameter = 3,
                                                .update = NAN};
}

static void show_check(const struct stepper_fixture *f,
                       struct lab_snapshot *out)
{
    if (!f->checked)
        return;
    const struct lab_check_result right = {.parameter = "fc2.W",
                                           .elements = 48,
                                           .max_error = 3.2e-9,
                                           .worst = 7,
                                           .analytic = 0.125,
                                           .numeric = 0.125000001,
                                           .passed = true};
    bool all = f->checked_all;
    out->checks = calloc(3, sizeof(*out->checks));
    out->n_checks = all ? 3 : 1;
    out->checks[0] = right;
    out->checks[1] = right;
    out->checks[2] = right;
    snprintf(out->checks[1].parameter, sizeof(right.parameter), "fc1.W");
    snprintf(out->checks[2].parameter, sizeof(right.parameter), "fc1.b");
    out->checks[2].max_error = 4e-8;
    if (f->check_wrong) {
        out->checks[all].passed = false;
        out->checks[all].max_error = f->check_wrong;
    }
}

/* Who took the last snapshot. */
static struct stepper_fixture *taker;

enum lab_status fixture_snapshot(struct lab_session *session,
                                 struct lab_snapshot *out)
{
    struct stepper_fixture *f = fixture_of(session);
    taker = f;
    f->live_snapshots++;
    *out = (struct lab_snapshot){.version = f->version,
                                 .state = f->state,
                                 .iteration = f->iteration,
                                 .position = f->position,
                                 .loss = NAN,
                                 .accuracy = NAN,
                                 .test_accuracy = NAN,
                                 .exact = NAN,
                                 .seconds_left = NAN};
    out->plane.tensor = -1;
    out->confusion.after = out->figures_of = out->result.iteration = -1;
    out->explanation.tensor = -1;
    snprintf(out->error, sizeof(out->error), "%s", f->error);
    out->error_code = f->error_code;
    if (f->state == LAB_SESSION_STARTING && f->measure_of) {
        snprintf(out->measured, sizeof(out->measured), "vector");
        out->measure_done = 1;
        out->measure_of = f->measure_of;
    }
    if (f->state == LAB_SESSION_FAILED || f->state == LAB_SESSION_STARTING)
        return LAB_OK;
    snprintf(out->notice, sizeof(out->notice), "%s",
             f->notice ? f->notice : "");
    out->check_done = f->check_done;
    out->check_of = f->check_of;
    out->plan = f->plan;
    out->lr = 0.1; /* the steps of this plan have no params */
    out->rate = out->lr;
    out->schedule = f->schedule;
    if (f->timed)
        f->schedule->steps[0].by = LAB_BY_TIME;
    show_device(f, out);
    show_steps(f, out);
    memcpy(out->breaks, f->breaks, sizeof(out->breaks));
    out->n_breaks = f->n_breaks;
    snprintf(out->stop_reason, sizeof(out->stop_reason), "%s", f->stop_reason);
    fill_plane(f, &f->show, &out->plane);
    for (int i = 0; i < f->n_board; i++)
        fill_plane(f, &f->board[i], &out->board[i]);
    out->n_board = f->n_board;
    explain(f, &out->explanation);
    show_training(f, out);
    show_layers(f, out);
    show_batch(f, out);
    show_check(f, out);
    fill_text(f, out);
    return LAB_OK;
}

static void free_plane(struct lab_plane *p)
{
    free(p->value);
    free(p->row_label);
    free(p->col_label);
}

void fixture_snapshot_release(struct lab_snapshot *s)
{
    taker->live_snapshots--;
    free(s->steps);
    free_plane(&s->plane);
    for (int i = 0; i < s->n_board; i++)
        free_plane(&s->board[i]);
    free(s->explanation.name);
    free(s->explanation.symbolic);
    free(s->explanation.terms);
    for (int i = 0; i < s->confusion.n_misread; i++)
        free(s->confusion.misread[i].value);
    free(s->confusion.misread);
    free(s->confusion.count);
    free(s->figures);
    free(s->looks.iteration);
    free(s->looks.gradient);
    free(s->looks.ratio);
    free(s->looks.parameter);
    free(s->result.out);
    free(s->result.target);
    free(s->result.label);
    free(s->sample_p);
    free(s->losses.iteration);
    free(s->losses.value);
    free(s->accuracies.iteration);
    free(s->accuracies.value);
    free(s->bits.iteration);
    free(s->bits.value);
    free(s->rates.iteration);
    free(s->rates.value);
    free(s->sample);
    free(s->checks);
    memset(s, 0, sizeof(*s));
}
