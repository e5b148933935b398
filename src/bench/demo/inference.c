/* lapenna-lab lab inference: a lesson's network is trained, then run for inference as
 * it is, fused, in 8 bits, and with two of each four weights left out, before and
 * after the others were trained again: accuracy, size and time side by side. */
#include "commands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "base/signals.h"
#include "common/random.h"
#include "debug/kept.h"
#include "debug/options.h"
#include "engine/data.h"
#include "engine/infer.h"
#include "engine/ladder.h"
#include "engine/session.h"
#include "engine/setup.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"

enum { MOST_ROWS = 2000, CALIBRATION_ROWS = 1024, PASSES = 5 };
/* A simulation takes its time: so many rows are answered on one. */
enum { SIMULATED_ROWS = 100 };
/* Trained again: so many times the iterations of the first training, with noise of so much
 * of the root mean square of what a batch reads. */
enum { AGAIN = 3 };
#define NOISE .4

struct form_row {
    char name[64];
    int64_t rows;          /* held-back ones that it answered */
    int64_t iterations;    /* of training before that, without a loaded one's */
    double right;          /* share of them */
    double difference;     /* of the scores from fp32's, over the largest */
    int64_t bytes;         /* of the weights */
    double row_ns[PASSES]; /* of each pass over the rows, the least first; NaN:
                              simulated, or refused */
    char refused[192];     /* why it did not run; "": it did */
};
enum { MOST_FORMS = 16 };

/* A kernel for products of 8 bits on another backend. */
struct device {
    struct lab_backend *be; /* NULL: there is none */
    const struct lab_variant *variant;
};

struct inference {
    const struct lab_options *o;
    struct lab_network_spec spec;
    struct lab_walk *walk;
    struct lab_plan *plan;
    struct lab_infer *infer;
    float *held; /* rows of x, and their classes */
    int *label;
    int64_t rows;  /* of the test, where a lesson has validation rows, too */
    int64_t first; /* the first of them among what is held back */
    int64_t width;
    float *scores; /* of fp32, all rows */
    int64_t classes;
    struct form_row row[MOST_FORMS];
    int n_rows;
    int64_t iterations; /* of the first training */
    int64_t trained;    /* that the walk has had */
    int64_t layers;
    int64_t left;
    int pruned;      /* parameters */
    int64_t weights; /* numbers that they have */
    int64_t zeros;
    unsigned char **mask;  /* of each tensor, or NULL */
    struct lab_kept *kept; /* the network was loaded; NULL: it is trained */
    bool opened;
    struct device device;
    int64_t simulated_rows; /* 0: all rows */
};

/* ---- data ---- */

static enum lab_status read_held(struct inference *g)
{
    struct lab_data *data = lab_walk_data(g->walk);
    struct lab_data_facts facts;
    lab_data_get_facts(data, &facts);
    const struct lab_tensor *x = &g->plan->tensors[g->plan->x];
    int64_t batch = g->plan->batch;
    g->first = facts.valid_rows;
    g->rows = facts.held_rows - g->first;
    g->rows = g->rows < MOST_ROWS ? g->rows : MOST_ROWS;
    g->width = x->count / batch;
    if (g->rows < 1 || facts.classes < 1 || x->dtype != LAB_F32)
        return lab_fail(
            LAB_E_USAGE,
            "[demo.inference-classes] inference compares accuracy: it needs a "
            "lesson of classes with rows held back, as mlp-digits; %s has none",
            g->o->lesson);
    int64_t room = (g->rows + batch) * g->width;
    g->held = lab_alloc_array((size_t)room, sizeof(*g->held));
    g->label = lab_alloc_array((size_t)g->rows, sizeof(*g->label));
    if (!g->held || !g->label)
        return lab_no_memory("the rows for inference");
    for (int64_t r = 0; r < g->rows; r += batch)
        lab_data_fill_held(data, g->plan, g->plan->x, g->first + r,
                           g->held + r * g->width);
    for (int64_t r = 0; r < g->rows; r++)
        g->label[r] = lab_data_held_label(data, g->first + r);
    return LAB_OK;
}

/* ---- accuracy as the engine has it, on the same rows ---- */

struct engine_rows {
    int64_t first;
    int64_t end;
    int64_t right;
};

static void take_answer(void *user, int64_t row, int label, int answer,
                        double loss)
{
    struct engine_rows *e = user;
    (void)loss;
    e->right += row >= e->first && row < e->end && answer == label;
}

static enum lab_status ask_engine(struct inference *g, double *accuracy)
{
    struct engine_rows rows = {.first = g->first, .end = g->first + g->rows};
    const struct lab_row_watch watch = {.user = &rows, .row = take_answer};
    double all = NAN;
    double loss = NAN;
    lab_walk_watch_rows(g->walk, &watch);
    enum lab_status st = g->first > 0 ? lab_walk_test(g->walk, &all, &loss)
                                      : lab_walk_evaluate(g->walk, &all, &loss);
    lab_walk_watch_rows(g->walk, NULL);
    *accuracy = (double)rows.right / (double)g->rows;
    return st;
}

/* Rows of training data for calibration: held-back rows are not looked at. */
static enum lab_status calibrate(struct inference *g)
{
    int64_t batch = g->plan->batch;
    int64_t rows = 0;
    int64_t room = CALIBRATION_ROWS + batch;
    float *x = lab_alloc_array((size_t)(room * g->width), sizeof(*x));
    enum lab_status st = x ? LAB_OK : lab_no_memory("calibration");
    for (int64_t i = 0; rows < CALIBRATION_ROWS && !st; i++, rows += batch)
        st = lab_data_fill(lab_walk_data(g->walk), g->plan, g->plan->x, i,
                           x + rows * g->width);
    if (!st)
        st = lab_infer_calibrate(g->infer, x, rows);
    lab_free(x);
    return st;
}

/* ---- training ---- */

/* What was pruned is 0 again after each update. */
static enum lab_status keep_zeros(struct inference *g)
{
    enum lab_status st = LAB_OK;
    for (int t = 0; t < g->plan->n_tensors && !st && g->mask; t++) {
        const struct lab_tensor *p = &g->plan->tensors[t];
        if (!g->mask[t])
            continue;
        float *v = lab_alloc_array((size_t)p->count, sizeof(*v));
        st = v ? lab_walk_read(g->walk, t, false, v)
               : lab_no_memory("pruned weights");
        for (int64_t k = 0; k < p->count && !st; k++)
            v[k] = g->mask[t][k] ? v[k] : 0;
        if (!st)
            st = lab_walk_write(g->walk, t, v);
        lab_free(v);
    }
    return st;
}

static enum lab_status train(struct inference *g, int64_t iterations)
{
    enum lab_status st = LAB_OK;
    for (int64_t i = 0; i < iterations && !st; i++) {
        st = lab_walk_iterate(g->walk);
        g->trained += !st;
        if (!st && lab_signals_caught())
            st = lab_fail(LAB_E_CANCELLED, "stopped");
    }
    return st ? st : lab_walk_drain(g->walk);
}

/* Noise on what the batch reads, of NOISE times its root mean square: a network that has
 * learned all of its rows by heart has something to learn again. The sum of four numbers
 * of 0..1 is near enough to a normal one, of mean 2 and variance 1/3. */
static enum lab_status add_noise(struct inference *g, float *x)
{
    const int64_t n = g->plan->tensors[g->plan->x].count;
    const uint32_t at = (uint32_t)lab_walk_iteration(g->walk);
    enum { STREAM = 0x2400 };
    double square = 0;
    enum lab_status st = lab_walk_read(g->walk, g->plan->x, false, x);
    for (int64_t k = 0; k < n && !st; k++)
        square += (double)x[k] * x[k];
    const double size = NOISE * sqrt(square / (double)n) * sqrt(3);
    for (int64_t k = 0; k < n && !st; k++) {
        struct lab_random4 r =
            lab_philox(g->plan->seed, STREAM, at, (uint64_t)k);
        double sum = 0;
        for (int i = 0; i < 4; i++)
            sum += lab_random_unit(r.v[i]);
        x[k] += (float)(size * (sum - 2));
    }
    return st ? st : lab_walk_write(g->walk, g->plan->x, x);
}

static enum lab_status train_with_zeros(struct inference *g, int64_t iterations,
                                        bool noise)
{
    const int64_t n = noise ? g->plan->tensors[g->plan->x].count : 0;
    float *x = noise ? lab_alloc_array((size_t)n, sizeof(*x)) : NULL;
    enum lab_status st =
        x || !noise ? LAB_OK : lab_no_memory("a batch with noise");
    for (int64_t i = 0; i < iterations && !st; i++) {
        st = lab_walk_begin(g->walk);
        if (!st && noise)
            st = add_noise(g, x);
        while (!st && !lab_walk_at_end(g->walk))
            st = lab_walk_step(g->walk);
        if (!st)
            st = keep_zeros(g);
        g->trained += !st;
        if (!st && lab_signals_caught())
            st = lab_fail(LAB_E_CANCELLED, "stopped");
    }
    lab_free(x);
    return st;
}

static bool has_batch_norm(const struct lab_plan *plan)
{
    for (int i = 0; i < plan->n_nodes; i++)
        if (plan->nodes[i].op &&
            strcmp(plan->nodes[i].op->name, "batch_norm") == 0)
            return true;
    return false;
}

/* In the second half the learning rate is a tenth: at the whole one accuracy goes up and
 * down by several rows from one iteration to the next. A batch norm ends with the mean and
 * variance of what it reads in that half, and answers by them: these have to be without
 * noise. */
static enum lab_status train_again(struct inference *g)
{
    int64_t all = AGAIN * g->iterations;
    double rate = lab_walk_lr(g->walk);
    enum lab_status st = train_with_zeros(g, all / 2, true);
    if (!st && rate > 0)
        st = lab_walk_set_lr(g->walk, rate / 10);
    return st ? st
              : train_with_zeros(g, all - all / 2, !has_batch_norm(g->plan));
}

/* Masks of all weights that are large enough; those left out become 0 at once, and the
 * others make up for them. */
static enum lab_status prune(struct inference *g)
{
    enum lab_status st = LAB_OK;
    g->mask = lab_alloc_array((size_t)g->plan->n_tensors, sizeof(*g->mask));
    if (!g->mask)
        return lab_no_memory("pruned weights");
    for (int t = 0; t < g->plan->n_tensors && !st; t++) {
        const struct lab_tensor *p = &g->plan->tensors[t];
        if (p->role != LAB_TENSOR_PARAM)
            continue;
        float *v = lab_alloc_array((size_t)p->count, sizeof(*v));
        unsigned char *mask = lab_alloc((size_t)p->count);
        st = v && mask ? lab_walk_read(g->walk, t, false, v)
                       : lab_no_memory("pruned weights");
        if (!st && lab_infer_depth(g->plan, t) >= 4)
            st = lab_infer_prune(g->infer, t, v, mask);
        if (!st && lab_infer_depth(g->plan, t) >= 4) {
            g->pruned++;
            g->weights += p->count;
            for (int64_t k = 0; k < p->count; k++)
                g->zeros += !mask[k];
            g->mask[t] = mask;
            mask = NULL;
            st = lab_walk_write(g->walk, t, v);
        }
        lab_free(mask);
        lab_free(v);
    }
    return st;
}

/* ---- the network ---- */

static enum lab_status begin(void *user, struct lab_walk *walk,
                             struct lab_str *notice)
{
    return lab_kept_take(user, walk, LAB_KEPT_LOAD, NULL, notice);
}

static enum lab_status open_network(struct inference *g)
{
    struct lab_str notice;
    bool other =
        strcmp(g->o->backend, "cpu") != 0 && strcmp(g->o->backend, "auto") != 0;
    struct lab_setup setup = {.spec = &g->spec,
                              .backend = "cpu",
                              .data = g->o->data,
                              .begin = g->kept ? begin : NULL,
                              .user = g->kept,
                              /* The CPU's number is 0. */
                              .device = other ? 0 : g->o->device};
    lab_str_init(&notice);
    enum lab_status st = lab_setup_open(&setup, &g->walk, &g->plan, &notice);
    if (!g->opened) /* the second is the same network */
        lab_warn_lines(lab_str_text(&notice));
    g->opened = true;
    lab_str_release(&notice);
    return st;
}

/* ---- products on another backend ---- */

/* A tensor of the call in the backend's memory, with what is at `from`. */
static enum lab_status place_view(struct lab_backend *be, struct lab_view *v,
                                  const char *name, const void *from)
{
    if (v->data)
        return LAB_OK;
    size_t bytes = (size_t)v->count * lab_dtype_bytes(v->dtype);
    enum lab_status st = lab_backend_alloc(be, bytes, &v->data);
    if (st)
        return st;
    lab_backend_label(be, v->data, 0, name, true);
    return from ? lab_backend_upload(be, v->data, from, bytes) : LAB_OK;
}

static enum lab_status product_on_device(void *user,
                                         const struct lab_gemm_int8 *g)
{
    const struct device *d = user;
    const int64_t size[] = {g->M, g->N, 4 * g->words};
    struct lab_view v[5] = {
        {NULL, LAB_I32, 2, {g->M, g->words}, g->M * g->words},
        {NULL, LAB_I32, 2, {g->N, g->words}, g->N * g->words},
        {NULL, LAB_F32, 1, {g->N}, g->N},
        {NULL, LAB_F32, 2, {g->M, g->N}, g->M * g->N},
        {NULL, LAB_I32, 2, {g->M, g->N}, g->M * g->N}};
    static const char *const names[5] = {"A", "W", "scale", "C", "sums"};
    const void *const from[5] = {g->a, g->w, g->scale, NULL, NULL};
    struct lab_call call = {
        .in = v, .n_in = 3, .out = v + 3, .n_out = 2, .params = size};
    enum lab_status st = LAB_OK;
    const bool there = d->be->host_memory; /* then only the sums are made */
    void *const own[5] = {(void *)(uintptr_t)g->a, (void *)(uintptr_t)g->w,
                          (void *)(uintptr_t)g->scale, g->c, g->sums};
    for (int i = 0; i < 5 && there; i++)
        v[i].data = own[i];
    for (int i = 0; i < 5 && !st; i++)
        st = place_view(d->be, &v[i], names[i], from[i]);
    if (!st)
        st = lab_backend_run(d->be, d->variant, &call);
    if (!st && !there)
        st = lab_backend_download(d->be, g->c, v[3].data,
                                  (size_t)v[3].count * sizeof(*g->c));
    for (int i = 0; i < 5; i++)
        if (!there || !own[i])
            lab_backend_free(d->be, v[i].data);
    return st;
}

/* ---- a form ---- */

static enum lab_status renew(struct inference *g)
{
    lab_infer_free(g->infer);
    g->infer = NULL;
    return lab_infer_new(&g->infer, g->walk);
}

/* -1: a score is NaN, as the engine's evaluation has it. */
static int best_class(const float *scores, int64_t classes)
{
    int best = 0;
    for (int64_t c = 0; c < classes; c++) {
        if (isnan(scores[c]))
            return -1;
        best = scores[c] > scores[best] ? (int)c : best;
    }
    return best;
}

/* Passes over the rows; that of the comparison before was the warm-up. */
static enum lab_status time_rows(struct inference *g, enum lab_infer_form form,
                                 double *row_ns)
{
    for (int i = 0; i < PASSES; i++)
        row_ns[i] = NAN;
    if (g->device.variant && g->device.be->untimed)
        return LAB_OK;
    for (int i = 0; i < PASSES; i++) {
        int64_t start = lab_clock_monotonic_ns();
        for (int64_t r = 0; r < g->rows; r++) {
            const float *scores;
            enum lab_status st = lab_infer_row(
                g->infer, form, g->held + r * g->width, &scores, &g->classes);
            if (st)
                return st;
        }
        row_ns[i] =
            (double)(lab_clock_monotonic_ns() - start) / (double)g->rows;
        if (lab_signals_caught())
            return lab_fail(LAB_E_CANCELLED, "stopped");
    }
    lab_sort_reals(row_ns, PASSES);
    return LAB_OK;
}

/* The rows once, beside fp32's scores. */
static enum lab_status compare_rows(struct inference *g, struct form_row *row,
                                    enum lab_infer_form form, int64_t rows)
{
    int64_t right = 0;
    bool first = !g->scores;
    for (int64_t r = 0; r < rows; r++) {
        const float *scores;
        enum lab_status st = lab_infer_row(
            g->infer, form, g->held + r * g->width, &scores, &g->classes);
        if (st)
            return st;
        if (!g->scores)
            g->scores = lab_alloc_array((size_t)(g->rows * g->classes),
                                        sizeof(*g->scores));
        if (!g->scores)
            return lab_no_memory("the scores");
        float *of_row = g->scores + r * g->classes;
        if (first)
            memcpy(of_row, scores, (size_t)g->classes * sizeof(*scores));
        double off = lab_infer_difference(of_row, scores, g->classes);
        if (isnan(off) || off > row->difference) /* a NaN stays */
            row->difference = off;
        int best = best_class(scores, g->classes);
        right += best >= 0 && best == g->label[r];
        if (lab_signals_caught())
            return lab_fail(LAB_E_CANCELLED, "stopped");
    }
    row->rows = rows;
    row->right = (double)right / (double)rows;
    return LAB_OK;
}

static struct form_row *new_row(struct inference *g, const char *name,
                                enum lab_infer_form form)
{
    struct form_row *row = &g->row[g->n_rows++];
    struct lab_infer_facts facts;
    *row = (struct form_row){.right = NAN};
    snprintf(row->name, sizeof(row->name), "%s", name);
    row->iterations = g->trained;
    lab_infer_get_facts(g->infer, &facts);
    row->bytes = facts.bytes[form];
    return row;
}

static enum lab_status measure(struct inference *g, const char *name,
                               enum lab_infer_form form)
{
    struct form_row *row = new_row(g, name, form);
    enum lab_status st = compare_rows(g, row, form, g->rows);
    return st ? st : time_rows(g, form, row->row_ns);
}

/* What the CPU answers for the rows that are simulated. */
static enum lab_status measure_simulated_rows(struct inference *g)
{
    char name[64];
    snprintf(name, sizeof(name), "int8, CPU, these %lld rows",
             (long long)g->simulated_rows);
    struct form_row *row = new_row(g, name, LAB_INFER_INT8);
    for (int k = 0; k < PASSES; k++)
        row->row_ns[k] = NAN;
    return compare_rows(g, row, LAB_INFER_INT8, g->simulated_rows);
}

/* INT8 again, the products by each kernel that the backend has for them. What one
 * refuses is in its row. */
static enum lab_status measure_on_device(struct inference *g)
{
    struct device *d = &g->device;
    enum lab_status st = LAB_OK;
    int64_t rows = g->rows;
    struct lab_device_info info = {0};
    if (d->be)
        lab_backend_info(d->be, &info);
    if (d->be && d->be->untimed && rows > SIMULATED_ROWS)
        g->simulated_rows = rows = SIMULATED_ROWS;
    if (g->simulated_rows)
        st = measure_simulated_rows(g);
    for (int i = 0; d->be && !st && g->n_rows + 3 < MOST_FORMS; i++) {
        char name[64];
        d->variant = lab_backend_variant_at(d->be, "gemm_int8", i);
        if (!d->variant)
            break;
        if (d->be->host_memory && !d->variant->model.library)
            continue; /* slower ways to do what the form before has done */
        snprintf(name, sizeof(name), "int8, %s, %s", d->be->ops->name,
                 d->variant->name);
        struct form_row *row = new_row(g, name, LAB_INFER_INT8);
        st = lab_ladder_serves(&info, d->variant);
        if (!st) {
            lab_infer_int8_by(g->infer, product_on_device, d);
            st = compare_rows(g, row, LAB_INFER_INT8, rows);
        }
        if (!st)
            st = time_rows(g, LAB_INFER_INT8, row->row_ns);
        lab_infer_int8_by(g->infer, NULL, NULL);
        if (st == LAB_E_UNSUPPORTED) {
            *row = (struct form_row){
                .iterations = row->iterations, .right = NAN, .difference = NAN};
            snprintf(row->name, sizeof(row->name), "%s", name);
            snprintf(row->refused, sizeof(row->refused), "%s", lab_error());
            for (int k = 0; k < PASSES; k++)
                row->row_ns[k] = NAN;
            st = LAB_OK;
        }
    }
    d->variant = NULL;
    return st;
}

/* Pruning comes with AGAIN trainings more: what these alone are worth shows a second
 * network, which is trained so long and not pruned. */
static enum lab_status measure_trained_on(struct inference *g)
{
    struct lab_walk *walk = g->walk;
    struct lab_plan *plan = g->plan;
    unsigned char **mask = g->mask;
    const int64_t trained = g->trained;
    g->trained = 0;
    g->walk = NULL;
    g->plan = NULL;
    g->mask = NULL;
    enum lab_status st = open_network(g);
    if (!st)
        st = train(g, g->kept ? 0 : g->iterations);
    if (!st)
        st = train_again(g);
    if (!st)
        st = renew(g);
    if (!st)
        st = measure(g, "fused, fp32, trained on", LAB_INFER_FP32);
    lab_infer_free(g->infer);
    g->infer = NULL;
    lab_walk_free(g->walk);
    lab_plan_free(g->plan);
    g->walk = walk;
    g->plan = plan;
    g->mask = mask;
    g->trained = trained;
    return st;
}

static enum lab_status measure_all(struct inference *g)
{
    struct lab_infer_facts facts;
    enum lab_status st = renew(g);
    if (st)
        return st;
    lab_infer_get_facts(g->infer, &facts);
    g->layers = facts.fused.nodes;
    g->left = facts.fused.left;
    st = measure(g, "fused, fp32", LAB_INFER_FP32);
    if (!st)
        st = calibrate(g);
    if (!st)
        st = measure(g, "fused, int8", LAB_INFER_INT8);
    if (!st)
        st = measure_on_device(g);
    if (!st)
        st = prune(g);
    if (st || g->pruned == 0)
        return st;
    st = measure_trained_on(g);
    if (!st)
        st = renew(g);
    if (!st)
        st = measure(g, "2:4, not trained again", LAB_INFER_SPARSE);
    if (!st)
        st = train_again(g);
    if (!st)
        st = renew(g);
    if (!st)
        st = measure(g, "2:4, trained again", LAB_INFER_SPARSE);
    return st;
}

/* Of the first rows, by fp32's scores. */
static int64_t right_of(const struct inference *g, int64_t rows)
{
    int64_t right = 0;
    for (int64_t r = 0; r < rows; r++)
        right +=
            best_class(g->scores + r * g->classes, g->classes) == g->label[r];
    return right;
}

/* ---- output ---- */

/* Which weights have too short sums, and what was left out of the others. */
static void print_pruned(const struct inference *g)
{
    for (int t = 0; t < g->plan->n_tensors; t++) {
        int64_t depth = g->plan->tensors[t].role == LAB_TENSOR_PARAM
                            ? lab_infer_depth(g->plan, t)
                            : 0;
        if (depth > 0 && !g->mask[t])
            lab_printf(stdout,
                       "%s stays whole: its sums have %lld numbers, 2:4 needs "
                       "four\n",
                       g->plan->tensors[t].name, (long long)depth);
    }
    if (g->pruned == 0)
        return;
    lab_printf(stdout,
               "2:4 leaves out %lld of %lld weights of %d layers; each kept "
               "one has 2 bits for its place\ntrained on, trained again: %lld "
               "iterations more, with noise on what the network reads, the "
               "second half at a tenth of the learning rate%s\n",
               (long long)g->zeros, (long long)g->weights, g->pruned,
               (long long)(AGAIN * g->iterations),
               has_batch_norm(g->plan)
                   ? " and without noise, for the means of batch norm"
                   : "");
}

static enum lab_status print_text(const struct inference *g, double engine)
{
    static const char *const heads[] = {"form",    ">accuracy", ">off fp32",
                                        ">bytes",  ">of fp32",  ">a row",
                                        ">spread", NULL};
    struct lab_text_table t;
    struct lab_str text;
    lab_str_init(&text);
    lab_print_wrap(lab_print_columns(), 0);
    if (g->kept)
        lab_printf(stdout, "%s: loaded from %s", g->o->lesson, g->o->load);
    else
        lab_printf(stdout, "%s: %lld iterations of training", g->o->lesson,
                   (long long)g->iterations);
    lab_printf(stdout,
               ", then inference on %lld %s, on one "
               "core\n%lld layers, %lld after fusing; as %s, the network's "
               "accuracy on them is %.2f %%\n\n",
               (long long)g->rows,
               g->first > 0 ? "test rows, apart from those of validation"
                            : "rows that were held back",
               (long long)g->layers, (long long)g->left,
               g->kept ? "loaded" : "trained", 100 * engine);
    lab_text_table_init(&t, heads);
    for (int i = 0; i < g->n_rows; i++) {
        const struct form_row *r = &g->row[i];
        lab_text_table_add(&t, r->name);
        if (r->refused[0]) {
            for (int k = 1; heads[k]; k++)
                lab_text_table_add(&t, NULL);
            continue;
        }
        lab_text_table_addf(&t, "%.2f %%", 100 * r->right);
        lab_text_table_addf(&t, "%.2g", r->difference);
        lab_text_table_add_int(&t, r->bytes);
        lab_text_table_add_share(&t,
                                 (double)r->bytes / (double)g->row[0].bytes);
        double median = lab_quantile(r->row_ns, PASSES, 0.5);
        lab_text_table_add_real_ns(&t, median);
        lab_text_table_add_share(&t, (lab_quantile(r->row_ns, PASSES, 0.75) -
                                      lab_quantile(r->row_ns, PASSES, 0.25)) /
                                         median);
    }
    enum lab_status st = lab_text_table_format(&t, &text);
    lab_print_wrap(0, 0);
    if (!st)
        st = lab_print_str(&text);
    lab_str_release(&text);
    lab_print_wrap(lab_print_columns(), 0);
    lab_printf(stdout,
               "\noff fp32: the largest difference of a score from fp32's, "
               "over the largest score of its row\n"
               "bytes: of the weights; a row: its time, median of %d passes "
               "over the rows\nspread: interquartile range of the passes over "
               "the median\n",
               PASSES);
    print_pruned(g);
    for (int i = 0; i < g->n_rows; i++)
        if (g->row[i].refused[0])
            lab_printf(stdout, "%s: %s\n", g->row[i].name, g->row[i].refused);
    if (g->device.be && !g->device.be->host_memory)
        lab_printf(stdout,
                   "%s: convolutions and dense layers on it, the rest on the "
                   "CPU%s\n",
                   g->device.be->ops->name,
                   g->device.be->untimed
                       ? "; a simulation has no times"
                       : "; a row's time has its copies to and from the GPU");
    if (g->simulated_rows)
        lab_printf(
            stdout,
            "simulated on the first %lld rows, of which fp32 has %.2f %% "
            "right\n",
            (long long)g->simulated_rows,
            100.0 * (double)right_of(g, g->simulated_rows) /
                (double)g->simulated_rows);
    lab_print_wrap(0, 0);
    return st ? st : lab_print_check();
}

static enum lab_status print_json(const struct inference *g, double engine)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < g->n_rows && !st; i++) {
        const struct form_row *r = &g->row[i];
        json_t *line = lab_json_new("inference_form");
        lab_json_text(line, "form", r->name);
        lab_json_text(line, "refused", r->refused[0] ? r->refused : NULL);
        lab_json_int(line, "rows", r->rows);
        lab_json_int(line, "iterations", r->iterations);
        lab_json_real(line, "accuracy", r->right);
        lab_json_real(line, "difference", r->difference);
        lab_json_int(line, "weight_bytes", r->bytes);
        lab_json_int(line, "passes", PASSES);
        lab_json_real(line, "row_ns", lab_quantile(r->row_ns, PASSES, 0.5));
        lab_json_real(line, "row_min_ns", r->row_ns[0]);
        lab_json_real(line, "row_quarter_ns",
                      lab_quantile(r->row_ns, PASSES, 0.25));
        lab_json_real(line, "row_three_quarters_ns",
                      lab_quantile(r->row_ns, PASSES, 0.75));
        st = lab_json_print(line);
    }
    if (st)
        return st;
    json_t *line = lab_json_new("inference");
    lab_json_text(line, "lesson", g->o->lesson);
    lab_json_int(line, "iterations", g->iterations);
    lab_json_text(line, "loaded", g->kept ? g->o->load : NULL);
    lab_json_int(line, "rows", g->rows);
    lab_json_int(line, "simulated_rows", g->simulated_rows);
    lab_json_real(line, "accuracy_as_trained", engine);
    lab_json_int(line, "layers", g->layers);
    lab_json_int(line, "layers_left", g->left);
    lab_json_int(line, "weights", g->weights);
    lab_json_int(line, "zeros", g->zeros);
    return lab_json_print(line);
}

/* ---- the command ---- */

static enum lab_status run(struct inference *g)
{
    struct lab_data_facts facts;
    double engine = NAN;
    bool other =
        strcmp(g->o->backend, "cpu") != 0 && strcmp(g->o->backend, "auto") != 0;
    /* First: a training would be for nothing where there is no such device. */
    enum lab_status st = lab_backend_open(
        &g->device.be, other ? g->o->backend : "cpu", other ? g->o->device : 0);
    if (!st)
        st = open_network(g);
    if (!st)
        st = read_held(g);
    if (!st) {
        lab_data_get_facts(lab_walk_data(g->walk), &facts);
        g->iterations = lab_train_iterations(&g->spec, &facts, g->o->epochs,
                                             g->o->iterations);
        if (!g->kept)
            st = train(g, g->iterations);
    }
    if (!st)
        st = ask_engine(g, &engine);
    if (!st)
        st = measure_all(g);
    if (!st)
        st = g->o->json ? print_json(g, engine) : print_text(g, engine);
    if (!st && g->pruned == 0)
        st = lab_fail(LAB_E_RANGE, "[demo.no-prune] no layer sums four numbers "
                                   "or more: there is nothing to prune by 2:4");
    for (int t = 0; g->mask && t < g->plan->n_tensors; t++)
        lab_free(g->mask[t]);
    lab_free(g->mask);
    lab_infer_free(g->infer);
    lab_backend_close(g->device.be);
    lab_walk_free(g->walk);
    lab_plan_free(g->plan);
    lab_free(g->held);
    lab_free(g->label);
    lab_free(g->scores);
    return st;
}

static void take_lesson(struct lab_options *o, struct argp_state *state)
{
    if (o->n_words != 1)
        lab_usage_error(state,
                        "[usage.network-lesson] give one lesson of classes, "
                        "as mlp-digits (found: %d)",
                        o->n_words);
    o->lesson = o->words[0];
}

static int cmd_inference(int argc, char **argv)
{
    static const struct lab_command_line line = {
        .name = "lapenna-lab lab inference",
        .commands = LAB_FOR_INFERENCE,
        .args = "LESSON",
        .doc = "A lesson's network trained, or loaded, and then run for "
               "inference: fused, in 8 bits, and with two of each four weights "
               "left out, before and after the others were trained again for "
               "three times as long, beside the whole network trained on as "
               "long. On the CPU, the 8-bit products besides by oneDNN where "
               "it is; with --backend cuda or sim by each kernel of the lab "
               "gemm_int8. Nothing is recorded.",
        .check = take_lesson};
    struct lab_options o;
    struct lab_lesson *lesson = NULL;
    struct lab_kept *kept = NULL;
    lab_options_parse(&o, argc, argv, &line);
    struct inference g = {.o = &o};
    lab_signals_catch();
    enum lab_status st = lab_lesson_open(&lesson, o.lesson);
    if (!st && lesson->kind == LAB_LESSON_LAB)
        st = lab_fail(LAB_E_USAGE,
                      "[demo.inference-lab] %s is a lab and has no network",
                      o.lesson);
    if (!st && o.load)
        st = lab_kept_open(&kept, o.load);
    if (!st) {
        g.spec = lesson->spec;
        if (o.given.seed)
            g.spec.seed = o.seed;
        g.kept = kept;
        st = run(&g);
    }
    lab_kept_free(kept);
    lab_lesson_free(lesson);
    return lab_exit_error(st);
}

const struct lab_demo_row lab_demo_row_inference = {
    .word = "inference",
    .takes = "LESSON",
    .text = "a trained network fused, in 8 bits, and pruned",
    .run = cmd_inference};
