#include "stepper_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stepper_plan.h"
#include "ui/ui.h"

static int tensor(const struct stepper_fixture *f, const char *name)
{
    for (int i = 0; i < f->plan->n_tensors; i++)
        if (strcmp(f->plan->tensors[i].name, name) == 0)
            return i;
    abort();
}

/* ---- numbers ---- */

static void fill_values(struct stepper_fixture *f)
{
    f->values = calloc((size_t)f->plan->n_tensors, sizeof(*f->values));
    for (int t = 0; t < f->plan->n_tensors; t++) {
        int64_t n = f->plan->tensors[t].count;
        f->values[t] = calloc((size_t)n, sizeof(double));
        for (int64_t i = 0; i < n; i++)
            f->values[t][i] = sin(0.7 * (double)i + t) * (1 + t % 3) / 2;
    }
    if (f->plan->n_tensors < 10 || f->plan->n_nodes > 10)
        return;
    double *x = f->values[tensor(f, "x")];
    double *W = f->values[tensor(f, "fc1.W")];
    double *xW = f->values[tensor(f, "fc1.xW")];
    double *out = f->values[tensor(f, "fc1.out")];
    double *relu = f->values[tensor(f, "relu1.out")];
    for (int i = 0; i < 4 * 64; i++) /* a ring, as a digit 0 has it */
        x[i] = fabs(hypot(i % 8 - 3.5, i % 64 / 8 - 3.5) - 2.5) < 0.9
                   ? 1 - 0.1 * (i % 3)
                   : 0;
    for (int n = 0; n < 4; n++) {
        for (int m = 0; m < 16; m++) {
            double sum = 0;
            for (int k = 0; k < 64; k++)
                sum += x[n * 64 + k] * W[k * 16 + m];
            xW[n * 16 + m] = sum;
            out[n * 16 + m] = sum + f->values[tensor(f, "fc1.b")][m];
            relu[n * 16 + m] = fmax(0, out[n * 16 + m]);
        }
    }
    f->values[tensor(f, "fc2.W.grad")][7] = NAN;
    f->values[tensor(f, "fc2.W.grad")][11] = -INFINITY;
}

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

/* xW[n,m] from x and W; everything else says that it is given. */
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
        double x = f->values[tensor(f, "x")][n * 64 + k];
        double w = f->values[tensor(f, "fc1.W")][k * 16 + m];
        term->value = x * w;
        snprintf(term->text, sizeof(term->text), "%.4g*%.4g", x, w);
        term->source[0] = (struct lab_element){tensor(f, "x"), n * 64 + k};
        term->source[1] = (struct lab_element){tensor(f, "fc1.W"), k * 16 + m};
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
    return f->fused && f->position > 0 && t == tensor(f, "fc1.xW");
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

static void fill_plane(const struct stepper_fixture *f, struct lab_plane *p)
{
    p->tensor = f->show.tensor;
    p->show = f->show;
    if (p->tensor < 0)
        return;
    const struct lab_shape *s = &f->plan->tensors[p->tensor].shape;
    const double *v = f->values[p->tensor];
    p->cols = cut(s, p->show.col_axis, p->show.col_first, LAB_PLANE_ELEMENTS);
    p->rows = cut(s, p->show.row_axis, p->show.row_first,
                  LAB_PLANE_ELEMENTS / p->cols);
    p->value = calloc((size_t)(p->rows * p->cols), sizeof(double));
    p->written = written(f, p->tensor);
    for (int64_t i = 0; i < p->rows * p->cols; i++) {
        int64_t at[LAB_MAX_RANK];
        memcpy(at, p->show.fixed, sizeof(at));
        if (p->show.row_axis >= 0)
            at[p->show.row_axis] = p->show.row_first + i / p->cols;
        if (p->show.col_axis >= 0)
            at[p->show.col_axis] = p->show.col_first + i % p->cols;
        p->value[i] = v[lab_shape_ravel(s, at, s->rank)];
    }
    fill_stats(&p->stats, v, f->plan->tensors[p->tensor].count);
    if (!f->labels)
        return;
    p->row_label = calloc((size_t)p->rows, sizeof(*p->row_label));
    p->col_label = calloc((size_t)p->cols, sizeof(*p->col_label));
    for (int64_t i = 0; i < p->rows; i++)
        name_place(&p->row_label[i], i);
    for (int64_t i = 0; i < p->cols; i++)
        name_place(&p->col_label[i], i + 2);
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

static enum lab_status snapshot(void *user, struct lab_snapshot *out)
{
    struct stepper_fixture *f = user;
    f->live_snapshots++;
    *out = (struct lab_snapshot){.version = f->version,
                                 .state = f->state,
                                 .iteration = f->iteration,
                                 .position = f->position,
                                 .loss = NAN,
                                 .accuracy = NAN,
                                 .exact = NAN,
                                 .seconds_left = NAN};
    out->plane.tensor = -1;
    out->explanation.tensor = -1;
    if (f->state == LAB_SESSION_FAILED || f->state == LAB_SESSION_STARTING) {
        snprintf(out->error, sizeof(out->error), "%s", f->error);
        return LAB_OK;
    }
    out->plan = f->plan;
    out->schedule = f->schedule;
    snprintf(out->backend, sizeof(out->backend), f->cuda ? "cuda" : "cpu");
    if (f->cuda) {
        snprintf(out->device.name, sizeof(out->device.name), "NVIDIA H200");
        out->device.peak_fp32_flops = 66.9e12;
        out->device.peak_dram_bytes_s = 4.8e12;
    }
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
    memcpy(out->breaks, f->breaks, sizeof(out->breaks));
    out->n_breaks = f->n_breaks;
    snprintf(out->stop_reason, sizeof(out->stop_reason), "%s", f->stop_reason);
    snprintf(out->error, sizeof(out->error), "%s", f->error);
    fill_plane(f, &out->plane);
    explain(f, &out->explanation);
    fill_curve(&out->losses, f->curve, f->curve_breaks, 2.3, 0.1);
    fill_curve(&out->accuracies, f->curve / 5, false, 0.1, 0.97);
    if (f->curve) {
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
                     "40713 -> 31704\n22940 -> 04292, not 04922\n"
                     "1 -> 1\n");
    }
    if (f->checked) {
        out->checks = calloc(1, sizeof(*out->checks));
        out->n_checks = 1;
        *out->checks = (struct lab_check_result){.parameter = "fc2.W",
                                                 .elements = 48,
                                                 .max_error = 3.2e-9,
                                                 .worst = 7,
                                                 .analytic = 0.125,
                                                 .numeric = 0.125000001,
                                                 .passed = true};
    }
    return LAB_OK;
}

static void snapshot_release(void *user, struct lab_snapshot *s)
{
    struct stepper_fixture *f = user;
    f->live_snapshots--;
    free(s->steps);
    free(s->plane.value);
    free(s->plane.row_label);
    free(s->plane.col_label);
    free(s->explanation.name);
    free(s->explanation.symbolic);
    free(s->explanation.terms);
    free(s->losses.iteration);
    free(s->losses.value);
    free(s->accuracies.iteration);
    free(s->accuracies.value);
    free(s->checks);
    memset(s, 0, sizeof(*s));
}

static int64_t version(void *user)
{
    return ((struct stepper_fixture *)user)->version;
}

/* ---- commands ---- */

static bool breaks(struct stepper_fixture *f)
{
    const struct lab_step *s = f->schedule->steps[f->position].step;
    for (int i = 0; i < f->n_breaks; i++) {
        const struct lab_break_info *b = &f->breaks[i];
        if (b->watch || strcmp(b->step, s->name) != 0 ||
            (b->phase >= 0 && b->phase != (int)s->phase))
            continue;
        snprintf(f->stop_reason, sizeof(f->stop_reason), "breakpoint %d at %s",
                 b->number, s->name);
        return true;
    }
    return false;
}

static void advance(struct stepper_fixture *f, int64_t n)
{
    f->stop_reason[0] = '\0';
    for (int64_t i = 0; i < n; i++) {
        if (f->position == f->schedule->n_steps) {
            f->position = 0;
            f->iteration++;
        }
        f->position++;
        if (f->position < f->schedule->n_steps && breaks(f))
            break;
    }
}

static int64_t to_end_of_node(const struct stepper_fixture *f)
{
    const struct lab_schedule *s = f->schedule;
    int at = f->position < s->n_steps ? f->position : 0;
    int end = at + 1;
    while (end < s->n_steps &&
           s->steps[end].depth_node == s->steps[at].depth_node &&
           s->steps[end].step->phase == s->steps[at].step->phase)
        end++;
    return end - at;
}

static void change_break(struct stepper_fixture *f, const struct lab_command *c)
{
    if (c->kind == LAB_DO_BREAK || c->kind == LAB_DO_WATCH) {
        struct lab_break_info *b = &f->breaks[f->n_breaks++];
        *b = (struct lab_break_info){.number = ++f->next_break,
                                     .kind = c->break_kind,
                                     .phase = c->phase,
                                     .value = c->value,
                                     .watch = c->kind == LAB_DO_WATCH};
        snprintf(b->step, sizeof(b->step), "%s", c->text);
        return;
    }
    for (int i = 0; i < f->n_breaks; i++) {
        bool gone =
            c->kind == LAB_DO_DELETE
                ? f->breaks[i].number == c->n
                : f->breaks[i].watch && strcmp(f->breaks[i].step, c->text) == 0;
        if (gone)
            f->breaks[i--] = f->breaks[--f->n_breaks];
    }
}

static void make_schedule(struct stepper_fixture *f, bool fused)
{
    if (f->n_made == 8)
        abort();
    f->schedule = plan_schedule(f->plan, fused);
    f->made[f->n_made++] = f->schedule;
}

static void switch_variant(struct stepper_fixture *f,
                           const struct lab_command *c)
{
    bool fused = strcmp(c->text2, "fused") == 0;
    if (fused != f->fused) {
        /* A snapshot may still hold the old one: all live to the end. */
        f->fused = fused;
        f->position = f->position > 2 ? f->position + (fused ? -1 : 1) : 0;
        make_schedule(f, fused);
        return;
    }
    f->schedule->steps[0].variant =
        plan_variant(strcmp(c->text2, "tiled") == 0);
}

static enum lab_status post(void *user, const struct lab_command *c)
{
    struct stepper_fixture *f = user;
    if (f->n_commands == FIXTURE_COMMANDS) {
        memmove(f->commands, f->commands + 1,
                sizeof(f->commands) - sizeof(f->commands[0]));
        f->n_commands--;
    }
    f->commands[f->n_commands++] = *c;
    f->version++;
    switch (c->kind) {
    case LAB_DO_STEP:
        advance(f, c->n);
        break;
    case LAB_DO_NEXT:
        advance(f, to_end_of_node(f));
        break;
    case LAB_DO_FINISH:
    case LAB_DO_CONTINUE:
        advance(f, f->schedule->n_steps - f->position);
        break;
    case LAB_DO_RUN_TO:
        f->position = (int)c->n;
        break;
    case LAB_DO_BACK:
        f->position -= f->position > 0;
        break;
    case LAB_DO_RESTART:
        f->position = 0;
        f->iteration = 0;
        break;
    case LAB_DO_TRAIN:
        f->state = LAB_SESSION_TRAINING;
        f->target = c->n ? c->n : 4320;
        break;
    case LAB_DO_STOP:
        f->state = LAB_SESSION_IDLE;
        break;
    case LAB_DO_SHOW:
        f->show = c->show;
        break;
    case LAB_DO_EXPLAIN:
        f->element = c->element;
        break;
    case LAB_DO_VARIANT:
        switch_variant(f, c);
        break;
    case LAB_DO_CHECK:
        f->checked = true;
        break;
    default:
        change_break(f, c);
        break;
    }
    return LAB_OK;
}

/* ---- the rest of the model ---- */

static int kernels(void *user, int64_t exec, struct lab_stepper_kernel *rows,
                   int max)
{
    const struct stepper_fixture *f = user;
    if (!f->cuda || max < 2)
        return 0;
    rows[0] = (struct lab_stepper_kernel){.time_ns = 4352 + exec,
                                          .grid = {1, 4, 1},
                                          .block = {16, 16, 1},
                                          .registers_per_thread = 38,
                                          .shared_bytes = 2048,
                                          .occupancy_pct = 75,
                                          .occupancy_limit = 4 | 8};
    snprintf(rows[0].name, sizeof(rows[0].name), "dense_matmul_fwd_tiled");
    rows[1] = (struct lab_stepper_kernel){.time_ns = 1700,
                                          .grid = {5, 1, 1},
                                          .block = {512, 1, 1},
                                          .registers_per_thread = INT32_MIN,
                                          .shared_bytes = INT64_MIN,
                                          .occupancy_pct = NAN};
    snprintf(rows[1].name, sizeof(rows[1].name), "splitK\033[31m_reduce");
    return 2;
}

static int variant_names(void *user, int node, const char **names, int max)
{
    (void)user;
    (void)max;
    for (int i = 0; i < 3; i++)
        names[i] = plan_variant(i)->name;
    return node == 0 ? 3 : 1;
}

static void text_for(void *user, const char *step, const char *node,
                     const char *phase, int columns,
                     struct lab_stepper_text *out)
{
    (void)user;
    if (strcmp(node, "fc1") != 0)
        return;
    char line[256];
    snprintf(line, sizeof(line), "%s (%s)", step, phase);
    lab_stepper_text_line(out);
    lab_stepper_text_add(out, LAB_ROLE_HEADING, line);
    lab_stepper_text_wrap(out, LAB_ROLE_NORMAL,
                          "Every row of x meets every column of W: one "
                          "product for each pair, and their sum is one "
                          "number of xW.",
                          columns, 0);
}

static enum lab_status open_source(void *user, struct lab_ui *ui,
                                   const char *file, const char *symbol)
{
    struct stepper_fixture *f = user;
    f->source_opened++;
    lab_ui_message(ui, LAB_ROLE_NORMAL, "source %s at %s", file, symbol);
    return LAB_OK;
}

static void progress(void *user, int64_t iteration, int position, int n_steps)
{
    struct stepper_fixture *f = user;
    (void)iteration;
    f->progress_calls += position <= n_steps;
}

struct stepper_fixture *stepper_fixture_new(int steps)
{
    static double printed_value[2] = {0.25, 0.875};
    static char tensor_name[] = "fc1.xW";
    static char where[] = "slide 12";
    static struct lab_printed_spec printed;
    printed = (struct lab_printed_spec){.tensor = tensor_name,
                                        .at = {2, {0, 1}},
                                        .values = printed_value,
                                        .n_values = 2,
                                        .tolerance = 1e-3,
                                        .where = where};
    struct stepper_fixture *f = calloc(1, sizeof(*f));
    f->plan = steps > 0   ? plan_large(steps)
              : steps < 0 ? plan_huge()
                          : plan_small();
    make_schedule(f, false);
    f->version = 1;
    f->state = LAB_SESSION_IDLE;
    f->show.tensor = -1;
    f->element.tensor = -1;
    fill_values(f);
    f->model = (struct lab_stepper_model){.user = f,
                                          .title = "An MLP on digits",
                                          .time_note = "CPU clock",
                                          .post = post,
                                          .version = version,
                                          .snapshot = snapshot,
                                          .snapshot_release = snapshot_release,
                                          .kernels = kernels,
                                          .variant_names = variant_names,
                                          .text_for = text_for,
                                          .open_source = open_source,
                                          .progress = progress,
                                          .printed = &printed,
                                          .n_printed = 1};
    return f;
}

void stepper_fixture_free(struct stepper_fixture *f)
{
    for (int i = 0; i < f->plan->n_tensors; i++)
        free(f->values[i]);
    free(f->values);
    for (int i = 0; i < f->n_made; i++) {
        free(f->made[i]->steps);
        free(f->made[i]);
    }
    plan_release(f->plan);
    free(f);
}

const struct lab_command *fixture_last(const struct stepper_fixture *f,
                                       enum lab_command_kind kind)
{
    for (int i = f->n_commands - 1; i >= 0; i--)
        if (f->commands[i].kind == kind)
            return &f->commands[i];
    return NULL;
}

int fixture_count(const struct stepper_fixture *f, enum lab_command_kind kind)
{
    int n = 0;
    for (int i = 0; i < f->n_commands; i++)
        n += f->commands[i].kind == kind;
    return n;
}
