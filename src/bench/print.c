/* What `lapenna-lab lab` prints of a ladder: a table for each size with what it
 * shows in words, results of other machines, the course's figures; or a line of
 * JSON for each. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/unknown.h"
#include "engine/sim_backend.h"
#include "lesson/lesson.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"

enum { RATE_COLUMNS = 8 };

static void print_head(const struct lab_bench *lab)
{
    const struct lab_ladder_machine *m = &lab->machine;
    char words[64];
    lab_print_wrap(lab_print_columns(), 0);
    lab_printf(stdout, "%s: %s, %s, on %s", lab->ladder->name, lab->title,
               lab_bench_precisions(lab, words, sizeof(words)), m->info.name);
    if (!lab->backend->untimed) /* else the device's name has it */
        lab_printf(stdout, " (%s)", lab->backend->ops->name);
    lab_printf(stdout, "\n");
    if (lab->backend->untimed) {
        lab_printf(stdout,
                   "values are compared with double, and every access is "
                   "checked and counted; a simulation has no times\n");
        const char *missing = lab_sim_backend_registers_missing();
        if (missing)
            lab_printf(stdout, "registers and occupancy n/a: %s\n", missing);
        if (lab->small_sizes)
            lab_printf(stdout, "small sizes: the lab's own take long thread by "
                               "thread; --sizes chooses others\n");
        return;
    }
    lab_printf(stdout, "ceilings measured now: copy %s",
               LAB_AMOUNT_TEXT(m->copy_bytes_s, "B/s"));
    for (int p = 0; p < LAB_PRECISION_COUNT; p++) {
        if (!isnan(m->flops[p]))
            lab_printf(stdout, ", %s %s %s",
                       lab_ladder_precision(lab->ladder, (enum lab_precision)p),
                       p == LAB_FP32 && m->fp32_by_fma ? "multiply-adds"
                                                       : "product",
                       LAB_AMOUNT_TEXT(m->flops[p], "FLOP/s"));
    }
    lab_printf(stdout, "\n");
    lab_printf(stdout,
               "%d repeats each; before each %s are read, to evict the "
               "inputs from the caches; variants are compared with double "
               "first\n",
               lab->repeats, LAB_SIZE_TEXT((double)lab_bench_flushed(lab)));
    if (lab->course_from < lab->n_sizes)
        lab_printf(stdout,
                   "then sizes of the course's figures, each by its figure's "
                   "variant: %sthe large ones once\n",
                   lab->however_long ? "" : "as many as fit into a minute, ");
    lab_printf(stdout, "gain is over the previous hand-written variant; "
                       "the model counts a kernel's loads and stores "
                       "without caches, so a variant can beat it\n");
}

/* ---- what a simulation counted ---- */

void lab_bench_json_counted(json_t *to, const struct lab_counters *c)
{
    const struct lab_counted_row row = {
        .counters = *c, .formula = NAN, .by = "simulation"};
    json_object_set_new(
        to, "counted",
        lab_json_fields(json_object(), &lab_counted_fields, &row));
}

/* ---- the table of a size ---- */

/* Its results so far, in their order. */
struct page {
    const struct lab_bench *lab;
    const struct lab_bench_data *data;
    int size; /* of data->sizes */
};

static const struct lab_bench_result *next(const struct page *p,
                                           const struct lab_bench_result *r)
{
    const struct lab_bench_result *end = p->data->rows + p->data->row_count;
    for (r = r ? r + 1 : p->data->rows; r < end; r++)
        if (r->size_index == p->size && r->state >= LAB_BENCH_DONE)
            return r;
    return NULL;
}

static bool has_errors(const struct page *p)
{
    for (const struct lab_bench_result *r = NULL; (r = next(p, r));) {
        if (!isnan(r->error))
            return true;
    }
    return false;
}

static void add_rate(struct lab_text_table *t, const struct lab_bench *lab,
                     double v)
{
    lab_text_table_add_real(t, v / lab_bench_scale(lab), 4);
}

static void add_error(struct lab_text_table *t,
                      const struct lab_bench_result *r)
{
    if (isnan(r->error))
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%.2e", r->error);
}

static void add_result(struct lab_text_table *t, const struct page *p,
                       const struct lab_bench_result *r, bool errors)
{
    char text[120];
    bool failed = r->state == LAB_BENCH_FAILED;
    lab_text_table_add(t, r->variant);
    if (lab_bench_has_precisions(p->lab))
        lab_text_table_add(t, r->precision);
    if (p->lab->backend->untimed) {
        const struct lab_field *column;
        const struct lab_counted_row counted = {.counters = r->counted};
        const bool wrong =
            failed && strcmp(r->status, lab_status_text(LAB_E_CHECK)) == 0;
        lab_text_table_add(t, wrong ? "no" : failed ? "not run" : "yes");
        lab_text_table_add_real(t, r->check_error, 2);
        lab_text_table_add_real(t, r->sample_error, 2);
        if (errors)
            add_error(t, r);
        for (int i = 0; (column = lab_bench_counted_column(i)); i++)
            lab_text_table_add_field(t, column, &counted);
        return; /* no room for the idea: it is below */
    }
    lab_text_table_add_ns(t, failed ? LAB_UNKNOWN : llround(r->median_ns));
    lab_text_table_add_ns(t, failed ? LAB_UNKNOWN : llround(r->min_ns));
    lab_text_table_add_share(t, (r->three_quarters_ns - r->quarter_ns) /
                                    r->median_ns);
    add_rate(t, p->lab, r->rate);
    lab_text_table_add_share(t, r->share);
    lab_text_table_add_share(t, r->of_library);
    add_rate(t, p->lab, r->rate_model);
    lab_text_table_add_times(t, r->gain);
    lab_text_table_add_times(t, r->gain_model);
    if (errors)
        add_error(t, r);
    if (p->lab->n_predictions) {
        lab_text_table_add(
            t, lab_prediction_text(p->data, &r->predicted, text, sizeof(text)));
        lab_text_table_add(t, lab_prediction_ratio_short(p->data->unit,
                                                         &r->predicted, r, text,
                                                         sizeof(text)));
    }
    lab_text_table_add(t, r->idea);
}

/* "1.71 times as fast as its model: caches serve ..." */
static void print_passed(const struct page *p, const struct lab_bench_result *r)
{
    enum lab_bench_unit unit = p->data->unit;
    const char *why = lab_bench_model_passed(unit, r->rate, r->rate_model,
                                             r->bytes, r->traffic_bytes);
    if (why)
        lab_printf(stdout, "  %s: %.2f times as fast as its model: %s\n",
                   r->variant,
                   unit == LAB_UNIT_TIME ? r->rate_model / r->rate
                                         : r->rate / r->rate_model,
                   why);
}

static void print_notes(const struct page *p)
{
    char workspace[64];
    double share = NAN;
    for (const struct lab_bench_result *r = NULL; (r = next(p, r));) {
        share = fmax(share, r->share);
        lab_bench_workspace_text(r->workspace_bytes, workspace,
                                 sizeof(workspace));
        const char *note = r->note ? r->note : "";
        if (p->lab->backend->untimed && r->idea && r->idea[0])
            lab_printf(stdout, "  %s: %s\n", r->variant, r->idea);
        if (r->state == LAB_BENCH_FAILED)
            lab_printf(stdout, "  %s: %s\n", r->variant,
                       r->reason ? r->reason : "");
        else if (note[0] || workspace[0])
            lab_printf(stdout, "  %s: %s%s%s\n", r->variant, note,
                       note[0] && workspace[0] ? ", " : "", workspace);
        if (r->state == LAB_BENCH_DONE)
            print_passed(p, r);
    }
    /* Once for all results of a size. */
    const char *why = lab_bench_ceiling_passed(p->data->unit, share);
    if (why)
        lab_printf(stdout, "  of ceiling: %s\n", why);
}

static void print_ratio(const struct page *p, const char *name,
                        const struct lab_prediction *predicted,
                        const struct lab_bench_result *r)
{
    char text[320];
    struct lab_prediction timed = *predicted;
    timed.occupancy_pct = NAN; /* known when its kernels were traced */
    lab_prediction_ratio_text(p->data->unit, &timed, r, text, sizeof(text));
    if (text[0])
        lab_printf(stdout, "  %s: %s\n", name, text);
}

/* How far off the predictions were, that of the fastest last. */
static void print_predictions(const struct page *p)
{
    char name[64];
    for (const struct lab_bench_result *r = NULL; (r = next(p, r));)
        print_ratio(p, r->variant, &r->predicted, r);
    const struct lab_bench_result *best = lab_bench_best(p->data, p->size);
    if (!best)
        return;
    snprintf(name, sizeof(name), "the fastest, %s", best->variant);
    print_ratio(p, name, &p->data->sizes[p->size].best, best);
}

/* Clocks differ from result to result under a power limit: between what. And which
 * of them does the most work for its power. */
static void print_clocks(const struct page *p)
{
    const struct lab_bench_result *best = NULL;
    double least = INFINITY;
    double most = 0;
    double hot = NAN;
    for (const struct lab_bench_result *r = NULL; (r = next(p, r));) {
        double work = lab_bench_flop_per_j(r);
        least = fmin(least, r->sm_clock_after_hz);
        most = fmax(most, r->sm_clock_after_hz);
        hot = fmax(hot, r->temperature_c);
        if (!isnan(work) && (!best || work > lab_bench_flop_per_j(best)))
            best = r;
    }
    if (most > 0)
        lab_printf(stdout, "  SM clock %s to %s, at most %.0f C\n",
                   LAB_AMOUNT_TEXT(least, "Hz"), LAB_AMOUNT_TEXT(most, "Hz"),
                   hot);
    if (best)
        lab_printf(stdout, "  most work for its power: %s, %s per W at %s\n",
                   best->variant,
                   LAB_AMOUNT_TEXT(lab_bench_flop_per_j(best), "FLOP/s"),
                   LAB_AMOUNT_TEXT(best->power_w, "W"));
}

/* A row's idea breaks under its head where there is room. */
static void print_table(struct lab_str *table)
{
    enum { ROOM = 16 };
    size_t columns = lab_print_columns();
    const char *idea = strstr(lab_str_text(table), "its idea");
    size_t at = idea ? (size_t)(idea - lab_str_text(table)) : 0;
    if (lab_print_is_ascii())
        lab_table_make_ascii(table);
    lab_print_wrap(columns, at + ROOM < columns ? at : 4);
    lab_print_text(stdout, lab_str_text(table));
    lab_print_wrap(columns, 0);
}

static enum lab_status print_size(const struct lab_bench *lab, int size)
{
    const struct page p = {lab, &lab->data, size};
    char unit[LAB_BENCH_UNIT + 2] = ">";
    const char *heads[LAB_TEXT_TABLE_COLUMNS] = {"variant"};
    const bool errors = has_errors(&p);
    int n = 1;
    lab_bench_shown_unit(lab, unit + 1, sizeof(unit) - 1);
    if (lab_bench_has_precisions(lab))
        heads[n++] = "in";
    const char *const figures[] = {">median", ">min",        ">spread",
                                   unit,      ">of ceiling", ">of library",
                                   ">model",  ">gain",       ">model's"};
    /* Errors are in parts of what is allowed: on odd shapes, and at this size. */
    const char *const simulated[] = {"right", ">odd shapes", ">here"};
    const bool timed = !lab->backend->untimed;
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]) && timed; i++)
        heads[n++] = figures[i];
    for (size_t i = 0; i < sizeof(simulated) / sizeof(simulated[0]) && !timed;
         i++)
        heads[n++] = simulated[i];
    if (errors)
        heads[n++] = ">error";
    const struct lab_field *column;
    for (int i = 0; !timed && (column = lab_bench_counted_column(i)); i++)
        heads[n++] = column->title;
    if (lab->n_predictions && timed)
        heads[n++] = "predicted";
    if (lab->n_predictions && timed)
        heads[n++] = ">vs. predicted";
    if (timed)
        heads[n] = "its idea";
    struct lab_text_table t;
    struct lab_str text;
    lab_str_init(&text);
    lab_text_table_init(&t, heads);
    for (const struct lab_bench_result *r = NULL; (r = next(&p, r));)
        add_result(&t, &p, r, errors);
    enum lab_status st = lab_text_table_format(&t, &text);
    if (!st) {
        lab_printf(stdout, "\n%s %s\n", lab->ladder->shape,
                   lab->data.sizes[size].text);
        print_table(&text);
        if (!timed)
            lab_printf(stdout, "odd shapes, here: the largest error, in parts "
                               "of what is allowed\n");
        if (errors)
            lab_printf(stdout, "error: %s\n", lab->ladder->error_is);
        print_notes(&p);
        print_predictions(&p);
        print_clocks(&p);
        st = lab_print_check();
    }
    lab_str_release(&text);
    return st;
}

void lab_bench_print_left(struct lab_bench *lab)
{
    if (lab->n_rows > 0)
        print_size(lab, lab->data.at_size);
    lab->n_rows = 0;
}

/* ---- JSON ---- */

static enum lab_status json_run(const struct lab_bench *lab)
{
    const struct lab_ladder_machine *m = &lab->machine;
    json_t *line = lab_json_new("lab");
    lab_json_text(line, "lab", lab->ladder->name);
    lab_json_text(line, "lesson", lab->lesson ? lab->lesson->id : NULL);
    lab_json_int(line, "run", lab->run ? lab->run : LAB_UNKNOWN);
    lab_json_text(line, "backend", lab->backend->ops->name);
    lab_json_text(line, "device", m->info.name);
    char words[64];
    lab_json_text(line, "precision",
                  lab_bench_precisions(lab, words, sizeof(words)));
    lab_json_uint(line, "seed", lab->options->seed);
    lab_json_int(line, "repeats", lab->repeats);
    lab_json_int(line, "flush_bytes", lab_bench_flushed(lab));
    lab_json_text(line, "error_is", lab->ladder->error_is);
    lab_json_real(line, "copy_bytes_per_s", m->copy_bytes_s);
    for (int p = 0; p < LAB_FP64; p++) {
        char key[32];
        snprintf(key, sizeof(key), "%s_flop_per_s",
                 lab_ladder_precision(lab->ladder, (enum lab_precision)p));
        lab_json_real(line, key, m->flops[p]);
    }
    return lab_json_print(line);
}

enum lab_status lab_bench_print_run(const struct lab_bench *lab)
{
    if (lab->options->json)
        return json_run(lab);
    print_head(lab);
    return lab_print_check(); /* what comes next takes its time */
}

static enum lab_status json_result(const struct lab_bench *lab,
                                   const struct lab_bench_result *r)
{
    const struct lab_prediction *p = &r->predicted;
    struct lab_bench_result row = *r;
    row.repeats = r->repeats ? r->repeats : LAB_UNKNOWN;
    json_t *line = lab_json_fields(lab_json_new("lab_row"),
                                   &lab_bench_result_fields, &row);
    const char *arithmetic = lab_bench_precision_text(&lab->data, r);
    if (strcmp(arithmetic, r->precision) != 0)
        lab_json_text(line, "arithmetic", arithmetic);
    lab_json_real(line, "traffic_bytes_model", r->traffic_bytes);
    lab_json_text(line, "source", r->source[0] ? r->source : NULL);
    if (r->wrong_on_purpose) {
        lab_json_text(line, "wrong_on_purpose", r->wrong_on_purpose);
        lab_json_int(line, "wrong_elements", r->wrong);
        lab_json_int(line, "compared_elements", r->compared);
    }
    if (lab->backend->untimed)
        lab_bench_json_counted(line, &r->counted);
    lab_json_real(line, "of_ceiling", r->share);
    lab_json_text(line, "bound", r->bound);
    lab_json_text(line, "bound_predicted", p->bound);
    lab_json_real(line, "occupancy_predicted_pct", p->occupancy_pct);
    lab_json_real(line, "speed_over_predicted",
                  lab_prediction_ratio(lab->data.unit, p, r));
    return lab_json_print(line);
}

enum lab_status lab_bench_print_result(void *user,
                                       const struct lab_bench_result *result)
{
    struct lab_bench *lab = user;
    const struct lab_bench_result *r =
        lab_bench_model_put(&lab->data, 0, lab, result);
    if (!r)
        return LAB_OK;
    if (lab->options->json)
        return json_result(lab, r);
    lab->data.at_size = r->size_index;
    if (++lab->n_rows < lab->n_climbing)
        return LAB_OK;
    lab->n_rows = 0;
    return print_size(lab, r->size_index);
}

/* ---- recorded elsewhere ---- */

/* The rates of a variant at the columns' sizes. */
static void add_rates(struct lab_text_table *t,
                      const struct lab_bench_data *data,
                      const struct lab_bench_result *of, const int *sizes,
                      int n)
{
    lab_text_table_add(t, of->variant);
    lab_text_table_add(t, lab_bench_precision_text(data, of));
    for (int c = 0; c < n; c++) {
        char text[64] = LAB_NA;
        for (int64_t i = 0; i < data->row_count; i++) {
            const struct lab_bench_result *r = &data->rows[i];
            if (r->size_index == sizes[c] &&
                strcmp(r->variant, of->variant) == 0 &&
                strcmp(r->precision, of->precision) == 0)
                lab_bench_rate_text(data, r->rate, text, sizeof(text));
        }
        lab_text_table_add(t, text);
    }
}

/* Is row `i` the first of its variant and precision in its set? */
static bool first_of_variant(const struct lab_bench_data *data, int64_t i)
{
    const struct lab_bench_result *r = &data->rows[i];
    for (int64_t k = 0; k < i; k++)
        if (data->rows[k].set == r->set &&
            strcmp(data->rows[k].variant, r->variant) == 0 &&
            strcmp(data->rows[k].precision, r->precision) == 0)
            return false;
    return true;
}

/* The sizes from `at` on that fit side by side; moves `at` behind them. */
static enum lab_status print_columns(const struct lab_bench_data *data, int set,
                                     int *at)
{
    const char *heads[RATE_COLUMNS + 3] = {"variant", "in"};
    char names[RATE_COLUMNS][LAB_BENCH_NAME + 1];
    int sizes[RATE_COLUMNS];
    struct lab_text_table t;
    int n = 0;
    for (; *at < data->size_count && n < RATE_COLUMNS; ++*at) {
        if (data->sizes[*at].set != set)
            continue;
        snprintf(names[n], sizeof(names[n]), ">%s", data->sizes[*at].text);
        heads[2 + n] = names[n];
        sizes[n++] = *at;
    }
    if (n == 0)
        return LAB_OK;
    lab_text_table_init(&t, heads);
    for (int64_t i = 0; i < data->row_count; i++)
        if (data->rows[i].set == set && first_of_variant(data, i))
            add_rates(&t, data, &data->rows[i], sizes, n);
    lab_printf(stdout, "\n");
    return lab_text_table_put(&t, "");
}

static enum lab_status print_set(const struct lab_bench_data *data, int set)
{
    enum lab_status st = LAB_OK;
    lab_printf(stdout, "\n%s, %s:", data->sets[set].badge,
               data->sets[set].note);
    for (int at = 0; at < data->size_count && !st;)
        st = print_columns(data, set, &at);
    return st;
}

static bool runs_here(const struct lab_bench *lab, const char *variant)
{
    for (int i = 0; i < lab->n_variants; i++)
        if (strcmp(lab->variants[i]->name, variant) == 0)
            return true;
    return false;
}

static bool has_variant(const struct lab_backend_ops *backend, const char *op,
                        const char *variant)
{
    const struct lab_variant *r;
    for (int i = 0; (r = backend->variant(NULL, op, i)); i++)
        if (strcmp(r->name, variant) == 0)
            return true;
    return false;
}

/* A CUDA variant that does not run here. Without the CUDA module: one that the CPU's
 * table does not have. */
static bool needs_gpu(const struct lab_bench *lab, const char *variant)
{
    const struct lab_cuda_module *module = NULL;
    const char *op = lab->ladder->name;
    if (runs_here(lab, variant))
        return false;
    return lab_cuda_load(&module) ? !has_variant(&lab_backend_cpu, op, variant)
                                  : has_variant(module->backend, op, variant);
}

/* Is row `i` the first of a variant that this machine has not? */
static bool first_of_missing(const struct lab_bench *lab, int64_t i)
{
    const struct lab_bench_data *data = &lab->data;
    const struct lab_bench_result *r = &data->rows[i];
    if (data->sets[r->set].runs || !needs_gpu(lab, r->variant))
        return false;
    for (int64_t k = 0; k < i; k++)
        if (!data->sets[data->rows[k].set].runs &&
            strcmp(data->rows[k].variant, r->variant) == 0)
            return false;
    return true;
}

static void print_one_missing(const char **before, const char *name)
{
    lab_printf(stdout, "%s%s", *before, name);
    *before = ", ";
}

/* A lesson names the GPU's variants too, and a recorded run has them: which of them
 * the table above lacks. */
static void print_missing(const struct lab_bench *lab)
{
    const char *before = "\nThese variants need a GPU: ";
    const char *named = lab->lesson ? lab->lesson->lab.variants : NULL;
    char name[64];
    for (const char *at = named; at; at = strchr(at, ',')) {
        at += *at == ',';
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
        if (needs_gpu(lab, name))
            print_one_missing(&before, name);
    }
    for (int64_t i = 0; !named && i < lab->data.row_count; i++) {
        if (first_of_missing(lab, i))
            print_one_missing(&before, lab->data.rows[i].variant);
    }
    if (before[0] == ',')
        lab_printf(stdout, ".\n");
}

static enum lab_status print_recorded(const struct lab_bench *lab)
{
    enum lab_status st = LAB_OK;
    if (lab->backend->host_memory && !lab->options->variants)
        print_missing(lab);
    for (int s = 0; s < lab->data.set_count && !st; s++)
        if (!lab->data.sets[s].runs)
            st = print_set(&lab->data, s);
    return st;
}

/* ---- occupancy that was predicted ---- */

static void print_occupancy(const struct lab_bench *lab)
{
    const struct lab_bench_data *data = &lab->data;
    bool any = false;
    for (int64_t i = 0; i < data->row_count; i++) {
        const struct lab_bench_result *r = &data->rows[i];
        char text[160];
        struct lab_prediction p;
        lab_prediction_init(&p);
        p.occupancy_pct = r->predicted.occupancy_pct;
        lab_prediction_ratio_text(data->unit, &p, r, text, sizeof(text));
        if (r->set == 0 && text[0])
            lab_printf(stdout, "%s  %s at %s: %s\n", any ? "" : "\n",
                       r->variant, r->size, text);
        any = any || text[0];
    }
}

/* ---- the course's figures ---- */

/* What a CPU does of them in reasonable time. */
static void print_course_rest(const struct lab_bench *lab)
{
    int left = 0;
    if (!lab->backend->host_memory)
        return;
    for (int i = 0; i < lab->data.slide_count; i++)
        left += !isnan(lab->data.slides[i].call_ns);
    if (left > 0)
        lab_printf(stdout,
                   "\n%d of the course's figures have none of this CPU beside "
                   "them: %s\n",
                   left,
                   lab->course_from < lab->n_sizes
                       ? "a minute had no room for their sizes (--sizes all: "
                         "however long)"
                       : "without --sizes those are measured that a minute has "
                         "room for");
}

static void print_slides(const struct lab_bench *lab)
{
    for (int i = 0; i < lab->data.slide_count; i++) {
        const struct lab_bench_slide *s = &lab->data.slides[i];
        char text[LAB_BENCH_SLIDE_TEXT];
        lab_printf(stdout, "%s%s\n", i ? "" : "\n",
                   lab_bench_slide_text(s, text, sizeof(text)));
    }
    print_course_rest(lab);
}

static enum lab_status json_slides(const struct lab_bench *lab)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < lab->data.slide_count && !st; i++) {
        const struct lab_bench_slide *ours = &lab->data.slides[i];
        const struct lab_lesson_slide *s = ours->course;
        json_t *line = lab_json_new("slide");
        lab_json_text(line, "lab", lab->ladder->name);
        lab_json_text(line, "label", s->label);
        lab_json_text(line, "size", s->size);
        lab_json_real(line, "value", s->value);
        lab_json_text(line, "unit", s->unit);
        lab_json_text(line, "machine", s->machine);
        lab_json_text(line, "source", s->source);
        lab_json_text(line, "rung", s->variant);
        bool there = ours->recorded_on[0];
        lab_json_text(line, "this_machine", there ? NULL : ours->here);
        lab_json_text(line, "recorded", there ? ours->here : NULL);
        lab_json_text(line, "recorded_on", there ? ours->recorded_on : NULL);
        st = lab_json_print(line);
    }
    return st;
}

enum lab_status lab_bench_print_rest(const struct lab_bench *lab)
{
    if (lab->options->json)
        return json_slides(lab);
    print_occupancy(lab);
    enum lab_status st = print_recorded(lab);
    print_slides(lab);
    return st;
}
