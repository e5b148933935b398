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
#include "debug/kept.h"
#include "debug/options.h"
#include "engine/data.h"
#include "engine/infer.h"
#include "engine/session.h"
#include "engine/setup.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"

enum { MOST_ROWS = 2000, CALIBRATION_ROWS = 256, PASSES = 5 };

struct form_row {
    const char *name;
    double right;          /* share of the held-back rows */
    double difference;     /* of the scores from fp32's, over the largest */
    int64_t bytes;         /* of the weights */
    double row_ns[PASSES]; /* of each pass over the rows, the least first */
};
enum { MOST_FORMS = 5 };

struct inference {
    const struct lab_options *o;
    struct lab_network_spec spec;
    struct lab_walk *walk;
    struct lab_plan *plan;
    struct lab_infer *infer;
    float *held; /* rows of x, and their classes */
    int *label;
    int64_t rows;
    int64_t width;
    float *scores; /* of fp32, all rows */
    int64_t classes;
    struct form_row row[MOST_FORMS];
    int n_rows;
    int64_t iterations;
    int64_t layers;
    int64_t left;
    int pruned;      /* parameters */
    int64_t weights; /* numbers that they have */
    int64_t zeros;
    unsigned char **mask; /* of each tensor, or NULL */
};

/* ---- data ---- */

static enum lab_status read_held(struct inference *g)
{
    struct lab_data *data = lab_walk_data(g->walk);
    struct lab_data_facts facts;
    lab_data_get_facts(data, &facts);
    const struct lab_tensor *x = &g->plan->tensors[g->plan->x];
    int64_t batch = g->plan->batch;
    g->rows = facts.held_rows < MOST_ROWS ? facts.held_rows : MOST_ROWS;
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
        lab_data_fill_held(data, g->plan, g->plan->x, r,
                           g->held + r * g->width);
    for (int64_t r = 0; r < g->rows; r++)
        g->label[r] = lab_data_held_label(data, r);
    return LAB_OK;
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

static enum lab_status train(struct inference *g, int64_t iterations)
{
    enum lab_status st = LAB_OK;
    for (int64_t i = 0; i < iterations && !st; i++) {
        st = lab_walk_iterate(g->walk);
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
        if (!st && lab_signals_caught())
            st = lab_fail(LAB_E_CANCELLED, "stopped");
    }
    return st ? st : lab_walk_drain(g->walk);
}

/* Masks of all weights that are large enough; those left out become 0 at once. */
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
        if (!st && lab_infer_mask(g->plan, t, v, mask)) {
            g->pruned++;
            g->weights += p->count;
            for (int64_t k = 0; k < p->count; k++) {
                g->zeros += !mask[k];
                v[k] = mask[k] ? v[k] : 0;
            }
            g->mask[t] = mask;
            mask = NULL;
            st = lab_walk_write(g->walk, t, v);
        }
        lab_free(mask);
        lab_free(v);
    }
    if (!st && g->pruned == 0)
        st = lab_fail(LAB_E_UNSUPPORTED,
                      "no layer sums four numbers or more: there is nothing to "
                      "prune by 2:4");
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

static enum lab_status measure(struct inference *g, const char *name,
                               enum lab_infer_form form)
{
    struct form_row *row = &g->row[g->n_rows];
    struct lab_infer_facts facts;
    int64_t right = 0;
    bool first = !g->scores;
    *row = (struct form_row){.name = name};
    lab_infer_get_facts(g->infer, &facts);
    row->bytes = facts.bytes[form];
    for (int64_t r = 0; r < g->rows; r++) {
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
    }
    row->right = (double)right / (double)g->rows;
    g->n_rows++;
    return time_rows(g, form, row->row_ns);
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
        st = prune(g);
    if (!st)
        st = renew(g);
    if (!st)
        st = measure(g, "2:4, not trained again", LAB_INFER_SPARSE);
    if (!st)
        st = train(g, g->iterations);
    if (!st)
        st = renew(g);
    if (!st)
        st = measure(g, "2:4, trained again", LAB_INFER_SPARSE);
    return st;
}

/* ---- output ---- */

static enum lab_status print_text(const struct inference *g, double engine)
{
    static const char *const heads[] = {"form",    ">accuracy", ">off fp32",
                                        ">bytes",  ">of fp32",  ">a row",
                                        ">spread", NULL};
    struct lab_text_table t;
    struct lab_str text;
    lab_str_init(&text);
    lab_printf(stdout,
               "%s: %lld iterations of training, then inference on %lld rows "
               "that were held back, on one core\n%lld layers, %lld after "
               "fusing; as trained, the network's accuracy is %.2f %%\n\n",
               g->o->lesson, (long long)g->iterations, (long long)g->rows,
               (long long)g->layers, (long long)g->left, 100 * engine);
    lab_text_table_init(&t, heads);
    for (int i = 0; i < g->n_rows; i++) {
        const struct form_row *r = &g->row[i];
        lab_text_table_add(&t, r->name);
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
    if (!st)
        st = lab_print_str(&text);
    lab_str_release(&text);
    lab_printf(stdout,
               "\noff fp32: the largest difference of a score from fp32's, "
               "over the largest score of its row\n"
               "bytes: of the weights; a row: its time, median of %d passes "
               "over the rows\nspread: interquartile range of the passes over "
               "the median\n2:4 leaves out %lld of %lld weights of %d layers; "
               "each kept one has 2 bits for its place\n",
               PASSES, (long long)g->zeros, (long long)g->weights, g->pruned);
    return st ? st : lab_print_check();
}

static enum lab_status print_json(const struct inference *g, double engine)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < g->n_rows && !st; i++) {
        const struct form_row *r = &g->row[i];
        json_t *line = lab_json_new("inference_form");
        lab_json_text(line, "form", r->name);
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
    lab_json_int(line, "rows", g->rows);
    lab_json_real(line, "accuracy_as_trained", engine);
    lab_json_int(line, "layers", g->layers);
    lab_json_int(line, "layers_left", g->left);
    lab_json_int(line, "weights", g->weights);
    lab_json_int(line, "zeros", g->zeros);
    return lab_json_print(line);
}

/* ---- the command ---- */

static enum lab_status begin(void *user, struct lab_walk *walk)
{
    return lab_kept_take(user, walk, LAB_KEPT_LOAD, NULL);
}

static enum lab_status run(struct inference *g, struct lab_kept *kept)
{
    struct lab_str notice;
    struct lab_setup setup = {.spec = &g->spec,
                              .backend = "cpu",
                              .data = g->o->data,
                              .begin = kept ? begin : NULL,
                              .user = kept};
    struct lab_data_facts facts;
    double engine = NAN;
    double loss;
    lab_str_init(&notice);
    enum lab_status st = lab_setup_open(&setup, &g->walk, &g->plan, &notice);
    if (!st)
        st = read_held(g);
    if (!st) {
        lab_data_get_facts(lab_walk_data(g->walk), &facts);
        g->iterations = lab_train_iterations(&g->spec, &facts, g->o->epochs,
                                             g->o->iterations);
        if (!kept)
            st = train(g, g->iterations);
    }
    if (!st)
        st = lab_walk_evaluate(g->walk, &engine, &loss);
    if (!st)
        st = measure_all(g);
    if (!st)
        st = g->o->json ? print_json(g, engine) : print_text(g, engine);
    for (int t = 0; g->mask && t < g->plan->n_tensors; t++)
        lab_free(g->mask[t]);
    lab_free(g->mask);
    lab_infer_free(g->infer);
    lab_walk_free(g->walk);
    lab_plan_free(g->plan);
    lab_free(g->held);
    lab_free(g->label);
    lab_free(g->scores);
    lab_str_release(&notice);
    return st;
}

static void take_lesson(struct lab_options *o, struct argp_state *state)
{
    if (o->n_words != 1)
        lab_usage_error(state, "[usage.network-lesson] one lesson of classes: "
                               "mlp-digits, cnn-digits, residual ...");
    o->lesson = o->words[0];
}

static int cmd_inference(int argc, char **argv)
{
    static const struct lab_command_line line = {
        .name = "lapenna-lab lab inference",
        .commands = LAB_FOR_INFERENCE,
        .takes = LAB_FOR_INFERENCE,
        .args = "LESSON",
        .doc = "A lesson's network trained, or loaded, and then run for "
               "inference: fused, in 8 bits, and with two of each four weights "
               "left out, before and after the others were trained again for "
               "as long. On the CPU; nothing is recorded.",
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
        st = run(&g, kept);
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
