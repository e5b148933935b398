/* A lab as data: results of the run at hand, of earlier runs and of those that
 * ship with the program, the course's figures beside them, and what relates
 * them; its numbers and predictions as text, and as they are typed. */
#include "bench/model.h"

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/unknown.h"
#include "bench/bench.h"
#include "debug/kept_times.h"
#include "lesson/lesson.h"
#include "overlap/overlap.h"
#include "profiler/roofline.h"
#include "report/suggest.h"
#include "report/variant_facts.h"
#include "store/ceilings.h"
#include "store/row_fields.h"
#include "trace/intern.h"
#include "trace/metric.h"

/* ---- the data ---- */

/* Safe for a terminal, and kept. */
static const char *visible(const char *text)
{
    struct lab_str s;
    lab_str_init(&s);
    lab_str_add_visible(&s, text ? text : "", text ? strlen(text) : 0, false);
    const char *kept = lab_intern_text(lab_intern(lab_str_text(&s)));
    lab_str_release(&s);
    return kept;
}

void lab_bench_data_init(struct lab_bench_data *data)
{
    *data = (struct lab_bench_data){.running = -1, .at_size = -1};
    lab_str_init(&data->output);
}

void lab_bench_data_release(struct lab_bench_data *data)
{
    lab_free(data->slides);
    lab_free(data->sizes);
    lab_free(data->rows);
    lab_str_release(&data->output);
    lab_bench_data_init(data);
}

static void *copy_of(const void *from, size_t n, size_t each)
{
    void *to = lab_alloc_array(n + 1, each);
    if (to && n)
        memcpy(to, from, n * each);
    return to;
}

enum lab_status lab_bench_data_copy(struct lab_bench_data *to,
                                    const struct lab_bench_data *from)
{
    *to = *from;
    to->slides =
        copy_of(from->slides, (size_t)from->slide_count, sizeof(*from->slides));
    to->sizes =
        copy_of(from->sizes, (size_t)from->size_count, sizeof(*from->sizes));
    to->rows =
        copy_of(from->rows, (size_t)from->row_count, sizeof(*from->rows));
    lab_str_init(&to->output);
    lab_str_add_bytes(&to->output, lab_str_text(&from->output),
                      from->output.len);
    if (to->slides && to->sizes && to->rows && !to->output.failed)
        return LAB_OK;
    lab_bench_data_release(to);
    return lab_no_memory("the rows of a lab");
}

/* The fastest of a size by its time, which orders variants of every unit; with
 * `library` of the libraries of that precision. NULL: none. */
static const struct lab_bench_result *fastest(const struct lab_bench_data *data,
                                              int size, const char *library)
{
    const struct lab_bench_result *best = NULL;
    for (int64_t i = 0; i < data->row_count; i++) {
        const struct lab_bench_result *r = &data->rows[i];
        bool fits =
            !library || (r->library && strcmp(r->precision, library) == 0);
        if (r->size_index == size && r->state == LAB_BENCH_DONE && fits &&
            !isnan(r->median_ns) && (!best || r->median_ns < best->median_ns))
            best = r;
    }
    return best;
}

const struct lab_bench_result *lab_bench_best(const struct lab_bench_data *data,
                                              int size)
{
    return fastest(data, size, NULL);
}

const struct lab_bench_result *
lab_bench_gain_over(const struct lab_bench_data *data,
                    const struct lab_bench_result *row)
{
    const struct lab_bench_result *over = NULL;
    for (const struct lab_bench_result *r = data->rows; r < row; r++)
        if (r->size_index == row->size_index && !r->library &&
            r->state == LAB_BENCH_DONE)
            over = r;
    return over;
}

/* "streams_4" is 4; the variants that are one part have other names. */
static int parts_of(const char *variant)
{
    int parts = 1;
    if (sscanf(variant, "streams_%d", &parts) != 1)
        return 1;
    return parts < 1 || parts > LAB_LANE_PARTS ? 0 : parts;
}

bool lab_bench_lanes(const struct lab_bench_result *row,
                     struct lab_bench_lanes *out)
{
    double alone[LAB_LANES];
    if (row->state != LAB_BENCH_DONE || !row->note ||
        sscanf(row->note, LAB_OVERLAP_ALONE("%lf"), &alone[LAB_LANE_IN],
               &alone[LAB_LANE_KERNEL], &alone[LAB_LANE_OUT]) != LAB_LANES)
        return false;
    out->parts = parts_of(row->variant);
    for (int lane = 0; lane < LAB_LANES; lane++)
        if (!isfinite(alone[lane]) || alone[lane] < 0)
            return false;
    for (int part = 0; part < out->parts; part++) {
        double before = 0; /* the end of this part in the lane before */
        for (int lane = 0; lane < LAB_LANES; lane++) {
            double free = part > 0 ? out->end_ms[lane][part - 1] : 0;
            out->begin_ms[lane][part] = fmax(before, free);
            before = out->begin_ms[lane][part] + alone[lane] / out->parts;
            out->end_ms[lane][part] = before;
        }
        out->ms = before;
    }
    return out->parts > 0 && out->ms > 0;
}

void lab_bench_relate(struct lab_bench_data *data, int size)
{
    for (int64_t i = 0; i < data->row_count; i++) {
        struct lab_bench_result *r = &data->rows[i];
        if (r->size_index != size || r->state != LAB_BENCH_DONE)
            continue;
        const struct lab_bench_result *l = fastest(data, size, r->precision);
        r->of_library = l ? l->median_ns / r->median_ns : (double)NAN;
    }
}

/* ---- sets, sizes, results ---- */

int lab_bench_model_add_set(struct lab_bench_data *data, const char *name,
                            const char *device)
{
    if (data->set_count == LAB_BENCH_SETS)
        return -1;
    struct lab_bench_set *set = &data->sets[data->set_count];
    *set = (struct lab_bench_set){.ceiling = NAN};
    lab_visible_copy(set->name, sizeof(set->name), name);
    lab_visible_copy(set->device, sizeof(set->device), device);
    return data->set_count++;
}

/* Takes out a set's sizes and results; the set stays. */
static void clear_set(struct lab_bench_data *data, int set)
{
    int before = 0; /* sizes of the set before the one at hand */
    int kept = 0;
    int64_t rows = 0;
    for (int64_t i = 0; i < data->row_count; i++)
        if (data->rows[i].set != set)
            data->rows[rows++] = data->rows[i];
    data->row_count = rows;
    for (int s = 0; s < data->size_count; s++) {
        if (data->sizes[s].set == set) {
            before++;
            continue;
        }
        for (int64_t i = 0; i < rows && before; i++)
            if (data->rows[i].size_index == s)
                data->rows[i].size_index = s - before;
        data->sizes[kept++] = data->sizes[s];
    }
    data->size_count = kept;
    data->at_size = -1;
}

/* -1: no memory. */
static int add_size(struct lab_bench_data *data, int set, const char *text,
                    double x)
{
    struct lab_bench_size *grown = lab_realloc_array(
        data->sizes, (size_t)data->size_count + 1, sizeof(*grown));
    if (!grown)
        return -1;
    data->sizes = grown;
    struct lab_bench_size *size = &grown[data->size_count];
    *size = (struct lab_bench_size){.set = set, .text = visible(text), .x = x};
    lab_prediction_init(&size->best);
    return data->size_count++;
}

static struct lab_bench_result *add_row(struct lab_bench_data *data, int set,
                                        int size)
{
    struct lab_bench_result *grown = lab_realloc_array(
        data->rows, (size_t)data->row_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    data->rows = grown;
    struct lab_bench_result *row = &grown[data->row_count++];
    lab_bench_result_init(row);
    row->set = set;
    row->size_index = size;
    row->size = data->sizes[size].text;
    return row;
}

static struct lab_bench_result *find_row(struct lab_bench_data *data, int set,
                                         const char *variant,
                                         const char *precision,
                                         const char *size)
{
    for (int64_t i = 0; i < data->row_count; i++) {
        struct lab_bench_result *r = &data->rows[i];
        if (r->set == set && strcmp(r->variant, variant) == 0 &&
            strcmp(r->precision, precision) == 0 && strcmp(r->size, size) == 0)
            return r;
    }
    return NULL;
}

static void take_unit(struct lab_bench_data *data,
                      const struct lab_operation *ladder)
{
    data->unit = ladder->unit;
    data->item = ladder->item;
    data->arithmetic = ladder->arithmetic;
    data->error_is = ladder->error_is;
}

const char *lab_bench_precision_text(const struct lab_bench_data *data,
                                     const struct lab_bench_result *r)
{
    bool fp32 = strcmp(r->precision, lab_precision_name(LAB_FP32)) == 0;
    return data->arithmetic && fp32 ? data->arithmetic : r->precision;
}

static void describe(struct lab_bench_result *r,
                     const struct lab_variant *variant)
{
    r->variant = variant->name;
    r->idea = variant->idea;
    r->source = variant->source ? variant->source : "";
    r->symbol = variant->symbol;
    r->precision = lab_precision_name(variant->precision);
    r->library = variant->model.library;
    r->wrong_on_purpose = variant->wrong_on_purpose;
}

bool lab_bench_measures(const struct lab_bench *lab, int variant, int size)
{
    const struct lab_lesson_lab *from = lab->lesson ? &lab->lesson->lab : NULL;
    bool named = size < lab->course_from;
    for (int i = 0; from && i < from->n_slides && !named; i++)
        named =
            from->slides[i].variant &&
            strcmp(from->slides[i].variant, lab->variants[variant]->name) == 0;
    return named;
}

enum lab_status lab_bench_model_plan(struct lab_bench_data *data, int set,
                                     const struct lab_bench *lab)
{
    clear_set(data, set);
    take_unit(data, lab->ladder);
    for (int s = 0; s < lab->n_sizes; s++) {
        const struct lab_ladder_size *size = &lab->sizes[s];
        int at = add_size(data, set, size->text, (double)size->dim[0]);
        for (int r = 0; r < lab->n_variants && at >= 0; r++) {
            if (!lab_bench_measures(lab, r, s))
                continue;
            struct lab_bench_result *row = add_row(data, set, at);
            if (!row)
                return lab_no_memory("the rows of a lab");
            describe(row, lab->variants[r]);
        }
        if (at < 0)
            return lab_no_memory("the rows of a lab");
    }
    lab_bench_model_predict(data, set, lab->predictions, lab->n_predictions);
    return LAB_OK;
}

static void predict(struct lab_prediction *out, const struct lab_prediction *p)
{
    lab_prediction_init(out);
    if (p)
        *out = *p;
}

/* The newest that fits, or NULL. `variant` "best": of the fastest. */
static const struct lab_prediction *
find_prediction(const struct lab_prediction *list, int n, const char *variant,
                const char *precision, const char *size)
{
    for (int i = n - 1; i >= 0; i--) {
        const struct lab_prediction *p = &list[i];
        if (strcmp(p->variant, variant) == 0 &&
            (!p->precision || strcmp(p->precision, precision) == 0) &&
            (!p->size || strcmp(p->size, size) == 0))
            return p;
    }
    return NULL;
}

void lab_bench_model_predict(struct lab_bench_data *data, int set,
                             const struct lab_prediction *list, int n)
{
    for (int s = 0; s < data->size_count; s++)
        if (data->sizes[s].set == set)
            predict(&data->sizes[s].best,
                    find_prediction(list, n, "best", "", data->sizes[s].text));
    for (int64_t i = 0; i < data->row_count; i++) {
        struct lab_bench_result *r = &data->rows[i];
        if (r->set == set)
            predict(&r->predicted, find_prediction(list, n, r->variant,
                                                   r->precision, r->size));
    }
}

/* ---- a run ---- */

static void name_ceiling(struct lab_bench_set *set, double per_s,
                         const char *name)
{
    set->ceiling = per_s;
    snprintf(set->ceiling_name, sizeof(set->ceiling_name), "%s", name);
}

/* The highest one of the precisions that were measured. */
void lab_bench_model_ceilings(struct lab_bench_data *data, int set,
                              const struct lab_bench *lab)
{
    struct lab_bench_set *to = &data->sets[set];
    const struct lab_ladder_machine *m = &lab->machine;
    char name[48];
    name_ceiling(to, NAN, "");
    if (data->unit == LAB_UNIT_BYTES && m->copy_bytes_s > 0)
        name_ceiling(to, m->copy_bytes_s, "a copy");
    for (int p = 0; p < LAB_PRECISION_COUNT; p++) {
        bool used = false;
        for (int r = 0; r < lab->n_variants; r++)
            used = used || lab->variants[r]->precision == (enum lab_precision)p;
        if (data->unit != LAB_UNIT_FLOPS || !used || !(m->flops[p] > 0) ||
            m->flops[p] <= to->ceiling)
            continue;
        snprintf(name, sizeof(name), "%s %s",
                 lab_ladder_precision(lab->ladder, (enum lab_precision)p),
                 p == LAB_FP32 && m->fp32_by_fma ? "multiply-adds" : "product");
        name_ceiling(to, m->flops[p], name);
    }
}

/* A time, held against the ceilings of the same run. */
static void find_bound(const struct lab_bench_data *data, double copy,
                       double flops, struct lab_bench_result *row)
{
    double per_s[LAB_CEILING_ROOFS];
    struct lab_roofline_point point;
    struct lab_roofline_work work = {.time_ns = row->median_ns,
                                     .flop = row->flop,
                                     .bytes = row->bytes,
                                     .occupancy_pct = NAN,
                                     .blocks = LAB_UNKNOWN,
                                     .sm_count = LAB_UNKNOWN,
                                     .kernels = LAB_UNKNOWN,
                                     .floor_ns = NAN,
                                     .kernels_ns = NAN};
    lab_counters_init(&work.counted);
    work.arithmetic = lab_roofline_precision(row->precision);
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        per_s[i] = NAN;
    per_s[LAB_CEILING_COPY] = copy;
    if (work.arithmetic < LAB_CEILING_ROOFS)
        per_s[work.arithmetic] = flops;
    lab_roofline_place(&point, &work, per_s);
    if (data->unit == LAB_UNIT_TIME) /* one item after the other */
        point.verdict = LAB_ROOFLINE_LATENCY;
    const char *name = lab_roofline_verdict_name(point.verdict);
    row->bound = name && name[0] ? name : NULL;
}

/* A time of the call at hand is a rate of it; NaN: no rate is predicted. */
static double rate_predicted(const struct lab_bench *lab,
                             const struct lab_ladder_row *row)
{
    const struct lab_prediction *p = find_prediction(
        lab->predictions, lab->n_predictions, row->variant->name,
        lab_precision_name(row->variant->precision), row->size.text);
    if (!p || isnan(p->time_ns))
        return p ? p->rate : (double)NAN;
    if (lab->ladder->unit == LAB_UNIT_TIME)
        return p->time_ns * 1e-9 / lab->ladder->items(row->size.dim);
    double work = lab->ladder->unit == LAB_UNIT_FLOPS ? row->flop : row->bytes;
    return work / (p->time_ns * 1e-9);
}

int64_t lab_bench_flushed(const struct lab_bench *lab)
{
    return 2 * (int64_t)lab->machine.flush_bytes;
}

void lab_bench_result_of(const struct lab_bench *lab,
                         const struct lab_ladder_row *row,
                         struct lab_bench_result *out)
{
    lab_bench_result_init(out);
    describe(out, row->variant);
    out->place = lab->place;
    out->lab = lab->ladder->name;
    out->size = visible(row->size.text);
    out->status = lab_status_text(row->status);
    out->reason = row->reason[0] ? visible(row->reason) : NULL;
    out->note = row->note.text[0] ? visible(row->note.text) : NULL;
    out->unit = visible(lab->unit);
    out->repeats = row->repeats;
    out->flush_bytes = lab_bench_flushed(lab);
    out->check_error = row->check_error;
    out->sample_error = row->sample_error;
    out->error = row->error;
    out->min_ns = row->min_ns;
    out->quarter_ns = row->quarter_ns;
    out->median_ns = row->median_ns;
    out->three_quarters_ns = row->three_quarters_ns;
    out->max_ns = row->max_ns;
    out->flop = row->flop;
    out->bytes = row->bytes;
    out->traffic_bytes = row->traffic;
    out->rate = row->rate;
    out->rate_model = row->rate_model;
    out->rate_predicted = rate_predicted(lab, row);
    out->gain = row->gain;
    out->gain_model = row->gain_model;
    out->share = row->share;
    out->ceiling_copy = lab->machine.copy_bytes_s;
    out->ceiling_fp32 =
        lab->ladder->arithmetic ? (double)NAN : lab->machine.flops[LAB_FP32];
    out->sm_clock_before_hz = row->before.sm_clock_hz;
    out->sm_clock_after_hz = row->after.sm_clock_hz;
    out->memory_clock_hz = row->after.memory_clock_hz;
    out->temperature_c = row->after.temperature_c;
    out->power_w = row->after.power_w;
    if (row->note.workspace_bytes >= 0)
        out->workspace_bytes = row->note.workspace_bytes;
    out->wrong = row->wrong;
    out->compared = row->compared;
    out->state = row->status ? LAB_BENCH_FAILED : LAB_BENCH_DONE;
}

const struct lab_bench_result *
lab_bench_model_put(struct lab_bench_data *data, int set,
                    const struct lab_bench *lab,
                    const struct lab_bench_result *result)
{
    struct lab_bench_result *to =
        find_row(data, set, result->variant, result->precision, result->size);
    if (!to)
        return NULL;
    struct lab_bench_result planned = *to;
    *to = *result;
    to->set = planned.set;
    to->size_index = planned.size_index;
    to->predicted = planned.predicted;
    int p = 0;
    while (p < LAB_PRECISION_COUNT - 1 &&
           strcmp(lab_precision_name((enum lab_precision)p), to->precision))
        p++;
    if (to->state == LAB_BENCH_DONE)
        find_bound(data, lab->machine.copy_bytes_s, lab->machine.flops[p], to);
    lab_bench_relate(data, to->size_index);
    return to;
}

/* A kernel as the store has it: there is no wider one. */
static void put_kernel(struct lab_bench_result *to,
                       const struct lab_kernel_row *k,
                       const struct lab_counters *c)
{
    double ns = lab_to_real(k->time_ns);
    double dram = c->dram_read_bytes + c->dram_write_bytes;
    to->kernels++;
    if (!isnan(dram))
        to->dram_bytes = isnan(to->dram_bytes) ? dram : to->dram_bytes + dram;
    bool longer = isnan(to->kernel_ns) ? !isnan(ns) : ns > to->kernel_ns;
    if (to->kernels > 1 && !longer)
        return;
    to->kernel = visible(k->short_name);
    to->launch = k->launch;
    to->kernel_ns = ns;
    to->occupancy_pct = k->occupancy_pct;
    to->achieved_pct = c->achieved_occupancy_pct;
}

static void put_record(struct lab_bench_result *to,
                       const struct lab_kernel_record *k,
                       const struct lab_counters *c)
{
    bool timed = k->start_ns != LAB_UNKNOWN && k->end_ns != LAB_UNKNOWN;
    struct lab_kernel_row row = {.short_name = lab_intern_text(k->short_name),
                                 .time_ns = timed ? k->end_ns - k->start_ns
                                                  : LAB_UNKNOWN,
                                 .launch = k->launch,
                                 .occupancy_pct = k->occupancy_pct};
    put_kernel(to, &row, c);
}

void lab_bench_model_kernel(struct lab_bench_data *data, int set,
                            const struct lab_bench *lab,
                            const struct lab_timed_row *row,
                            const struct lab_kernel_record *kernel,
                            const struct lab_counters *counters)
{
    struct lab_bench_result *to =
        find_row(data, set, row->variant->name,
                 lab_precision_name(row->variant->precision),
                 lab->sizes[row->size].text);
    if (to)
        put_record(to, kernel, counters);
}

void lab_bench_model_state(struct lab_bench_data *data, int set,
                           const struct lab_variant *variant, const char *size,
                           enum lab_bench_progress state)
{
    const char *precision = lab_precision_name(variant->precision);
    for (int64_t i = 0; i < data->row_count; i++) {
        struct lab_bench_result *r = &data->rows[i];
        if (r->set == set && strcmp(r->variant, variant->name) == 0 &&
            strcmp(r->precision, precision) == 0 &&
            (!size || strcmp(r->size, size) == 0) &&
            r->state != LAB_BENCH_DONE && r->state != LAB_BENCH_FAILED)
            r->state = state;
    }
}

int lab_bench_size_find(const struct lab_bench_data *data, int set,
                        const char *text)
{
    for (int s = 0; s < data->size_count; s++)
        if (data->sizes[s].set == set && strcmp(data->sizes[s].text, text) == 0)
            return s;
    return -1;
}

/* What has a column; its texts made safe and kept. */
static void take_stored(struct lab_bench_result *to,
                        const struct lab_bench_result *from)
{
    const struct lab_fields *f = &lab_bench_result_fields;
    const char *size = to->size;
    for (int i = 0; i < f->count; i++) {
        size_t at = f->list[i].at;
        const char *const *text =
            (const char *const *)(const void *)((const char *)from + at);
        if (f->list[i].kind != LAB_FIELD_TEXT)
            memcpy((char *)to + at, (const char *)from + at, sizeof(double));
        else
            *(const char **)(void *)((char *)to + at) =
                *text && **text ? visible(*text) : NULL;
    }
    bool done = to->status && strcmp(to->status, "done") == 0;
    to->size = size;
    to->state = done ? LAB_BENCH_DONE : LAB_BENCH_FAILED;
    to->variant = to->variant ? to->variant : "";
    to->precision = to->precision ? to->precision : "";
    to->reason = done ? NULL : to->reason ? to->reason : to->status;
    to->idea = to->idea ? to->idea : "";
    to->source = "";
    to->symbol = NULL;
}

/* The ceiling of fp32 and of memory are kept with a row; those of the other
 * precisions with the device: `roofs`. */
static void stored_ceiling(struct lab_bench_data *data, int set,
                           const double roofs[LAB_CEILING_ROOFS],
                           const struct lab_bench_result *from,
                           struct lab_bench_result *to)
{
    struct lab_bench_set *s = &data->sets[set];
    bool fp32 = strcmp(to->precision, "fp32") == 0;
    int precision = (int)lab_roofline_precision(to->precision);
    double flops = fp32                            ? from->ceiling_fp32
                   : precision < LAB_CEILING_ROOFS ? roofs[precision]
                                                   : (double)NAN;
    if (data->unit == LAB_UNIT_BYTES && from->ceiling_copy > 0) {
        name_ceiling(s, from->ceiling_copy, "a copy");
        to->share = to->rate / from->ceiling_copy;
    } else if (data->unit == LAB_UNIT_FLOPS && flops > 0) {
        if (!(s->ceiling >= flops)) /* the highest, as of a run */
            name_ceiling(s, flops, to->precision);
        to->share = to->rate / flops;
    }
    if (to->state == LAB_BENCH_DONE)
        find_bound(data, from->ceiling_copy, flops, to);
}

static bool is_data_file(const char *file)
{
    struct lab_str path;
    lab_str_init(&path);
    bool there =
        !lab_data_path(file, &path) && access(lab_str_text(&path), R_OK) == 0;
    lab_str_release(&path);
    return there;
}

/* Whether a file of variants has one of this name: its table has "NAME". */
static bool names_variant(const char *path, const char *variant)
{
    char word[64];
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *f = fopen(path, "r");
    snprintf(word, sizeof(word), "\"%s\"", variant);
    while (f && !found && getline(&line, &room, f) >= 0)
        found = strstr(line, word) != NULL;
    free(line);
    if (f)
        fclose(f);
    return found;
}

/* The first CUDA file of a folder, by name, that has the variant in its table. */
static void search_folder(struct lab_bench_result *to, const char *folder)
{
    struct lab_str path;
    glob_t files = {.gl_pathc = 0};
    lab_str_init(&path);
    bool any = !lab_data_path("kernels", &path);
    lab_str_addf(&path, "/%s/*.cu", folder);
    any = any && !lab_str_check(&path, "a folder of kernels") &&
          glob(lab_str_text(&path), 0, NULL, &files) == 0;
    for (size_t i = 0; any && i < files.gl_pathc; i++) {
        char file[128];
        if (!names_variant(files.gl_pathv[i], to->variant))
            continue;
        snprintf(file, sizeof(file), "kernels/%.28s/%.80s", folder,
                 strrchr(files.gl_pathv[i], '/') + 1);
        to->source = visible(file);
        break;
    }
    if (any)
        globfree(&files);
    lab_str_release(&path);
}

/* kernels/gemm/tile.cu, kernels/saxpy/saxpy.cu for small variants, or the file that names
 * the variant: once for all rows of a variant in a set; another set may be the CPU's. */
static void guess_source(const struct lab_bench_data *data,
                         struct lab_bench_result *to,
                         const struct lab_operation *op)
{
    for (const struct lab_bench_result *r = data->rows; r < to; r++)
        if (r->set == to->set && strcmp(r->variant, to->variant) == 0) {
            to->source = r->source;
            return;
        }
    const char *const names[] = {to->variant, op->name};
    const char *folder = op->folder ? op->folder : op->name;
    for (int i = 0; i < 2; i++) {
        char file[96];
        snprintf(file, sizeof(file), "kernels/%.28s/%.31s.cu", folder,
                 names[i]);
        if (is_data_file(file)) {
            to->source = visible(file);
            return;
        }
    }
    search_folder(to, folder);
}

/* The source is in the tables of the CUDA module, and the idea of a row that was
 * recorded without one. Where that cannot be loaded, the name shows whether a variant is
 * the library's and where its file may be. */
static void describe_stored(const struct lab_bench_data *data,
                            struct lab_bench_result *to,
                            const struct lab_operation *ladder)
{
    const struct lab_cuda_module *module = NULL;
    const struct lab_variant *r;
    const char *idea = to->idea;
    to->library = lab_variant_is_library(to->variant);
    guess_source(data, to, ladder);
    if (lab_cuda_load(&module))
        return;
    for (int i = 0; (r = module->backend->variant(NULL, ladder->name, i));
         i++) {
        if (strcmp(r->name, to->variant) == 0 &&
            strcmp(lab_precision_name(r->precision), to->precision) == 0) {
            describe(to, r);
            to->idea = idea[0] ? idea : to->idea;
            return;
        }
    }
}

/* ---- results of other runs ---- */

enum { LAUNCHES = 1024 };

struct taking {
    struct lab_bench_data *data;
    const struct lab_bench *lab; /* NULL: `brief` */
    const struct lab_operation *ladder;
    bool
        brief; /* no kernels and no sources; `ladder` and `sweep` as its rows have */
    const char *name;  /* of the set; NULL: by its backend */
    const char *but;   /* not on this backend; NULL: on any */
    const char *sweep; /* a sweep, of `lesson` or all, and no ladder; or NULL */
    const char *lesson;
    const char *backend; /* of `set`, a sweep's */
    int set;
    double
        roofs[LAB_CEILING_ROOFS]; /* of the run's device; NaN: not measured */
    enum lab_status status;
    struct launch {
        int64_t exec;
        int64_t row; /* of data->rows */
    } launches[LAUNCHES];
    int n_launches;
};

static bool take_kernel(void *user, const struct lab_kernel_row *k)
{
    struct taking *t = user;
    struct lab_counters none;
    lab_counters_init(&none);
    for (int i = 0; i < t->n_launches; i++)
        if (t->launches[i].exec == k->exec)
            put_kernel(&t->data->rows[t->launches[i].row], k, &none);
    return true;
}

static enum lab_status add_stored(struct taking *t,
                                  const struct lab_bench_result *row)
{
    struct lab_bench_data *data = t->data;
    const struct lab_operation *ladder = t->ladder;
    struct lab_ladder_size size;
    const char *text = row->size ? row->size : "";
    take_unit(data, ladder);
    if (lab_ladder_size(ladder, text, strlen(text), &size))
        return LAB_OK; /* of another program's size: left out */
    int at = lab_bench_size_find(data, t->set, size.text);
    if (at < 0)
        at = add_size(data, t->set, size.text, (double)size.dim[0]);
    struct lab_bench_result *to = at < 0 ? NULL : add_row(data, t->set, at);
    if (!to)
        return lab_no_memory("the rows of a lab");
    take_stored(to, row);
    if (t->brief)
        to->library = lab_variant_is_library(to->variant);
    else
        describe_stored(data, to, ladder);
    stored_ceiling(data, t->set, t->roofs, row, to);
    lab_bench_relate(data, at);
    if (row->traced_exec != LAB_UNKNOWN && t->n_launches < LAUNCHES)
        t->launches[t->n_launches++] =
            (struct launch){row->traced_exec, to - data->rows};
    return LAB_OK;
}

static bool take_row(void *user, const struct lab_bench_result *row)
{
    struct taking *t = user;
    if (t->brief && !t->ladder && row->lab &&
        lab_ladder_find(row->lab, &t->ladder))
        t->ladder = NULL; /* of another program: left out */
    if (row->lab && t->ladder && strcmp(row->lab, t->ladder->name) == 0)
        t->status = add_stored(t, row);
    return t->status == LAB_OK;
}

static bool is_sweep(const struct taking *t, enum lab_measure measure)
{
    return strcmp(t->sweep, lab_measure_name(measure)) == 0;
}

/* A sweep trains a lesson's network; a ladder and the calls of a library do not. */
static bool trains(const struct taking *t)
{
    return t->sweep && !is_sweep(t, LAB_MEASURE_CALLS);
}

static bool take_run(void *user, const struct lab_run_row *run)
{
    struct taking *t = user;
    const char *device = visible(run->device);
    bool cpu = run->backend && strcmp(run->backend, "cpu") == 0;
    t->set = lab_bench_model_add_set(t->data,
                                     t->name ? t->name
                                     : cpu   ? "CPU"
                                             : "GPU",
                                     device);
    if (t->set >= 0) {
        struct lab_bench_set *set = &t->data->sets[t->set];
        snprintf(set->badge, sizeof(set->badge), "%s on %.40s",
                 t->name ? t->name : "measured", device);
        snprintf(set->note, sizeof(set->note), "run %lld of %.10s%s%s",
                 (long long)run->id, run->started ? run->started : "",
                 trains(t) ? "; variants: " : "",
                 trains(t) ? lab_variants_from_text(
                                 lab_variants_from_find(run->variants_from))
                           : "");
    }
    return false;
}

/* ---- the rows of a sweep ---- */

/* "cudnnCreate(&handle)" of place 0 is "1 cudnnCreate". */
static const char *call_name(const struct lab_sweep_row *row)
{
    char name[LAB_BENCH_NAME];
    const char *call = row->name ? row->name : "";
    snprintf(name, sizeof(name), "%lld %.*s", (long long)row->place + 1,
             (int)strcspn(call, "("), call);
    return visible(name);
}

/* What a size is, and what one time is of. */
static void name_axes(struct taking *t)
{
    struct lab_bench_data *data = t->data;
    bool calls = is_sweep(t, LAB_MEASURE_CALLS);
    bool batch = is_sweep(t, LAB_MEASURE_BATCH);
    bool width = is_sweep(t, LAB_MEASURE_NETWORK);
    data->unit = LAB_UNIT_TIME;
    data->item = calls ? "call" : batch ? "sample" : "iteration";
    data->size_name = batch ? "batch" : width ? "width" : "lesson";
    data->by_size = batch || width;
    data->far_apart = calls;
}

/* A run has rows of one backend, or of the GPU and the CPU in turn. */
static int set_of_backend(struct taking *t, const char *backend)
{
    const char *name = strcmp(backend, "cpu") == 0 ? "CPU" : "GPU";
    struct lab_bench_data *data = t->data;
    if (!t->backend)
        t->backend = backend;
    if (strcmp(t->backend, backend) == 0)
        return t->set;
    for (int i = t->set + 1; i < data->set_count; i++)
        if (strcmp(data->sets[i].name, name) == 0)
            return i;
    int set = lab_bench_model_add_set(data, name, name);
    if (set >= 0) {
        struct lab_bench_set *to = &data->sets[set];
        snprintf(to->badge, sizeof(to->badge), "%s", name);
        memcpy(to->note, data->sets[t->set].note, sizeof(to->note));
        to->runs = data->sets[t->set].runs;
    }
    return set;
}

static void describe_point(const struct taking *t, struct lab_bench_result *to,
                           const struct lab_sweep_row *row)
{
    char note[LAB_BENCH_TEXT] = "";
    bool done = row->median_ns >= 0;
    bool batch = is_sweep(t, LAB_MEASURE_BATCH);
    bool width = is_sweep(t, LAB_MEASURE_NETWORK);
    to->state = done ? LAB_BENCH_DONE : LAB_BENCH_FAILED;
    to->variant = batch || width                   ? visible(row->backend)
                  : is_sweep(t, LAB_MEASURE_CALLS) ? call_name(row)
                                                   : visible(row->name);
    to->precision = lab_precision_name(LAB_FP32);
    to->reason = done ? NULL : visible(row->reason);
    to->idea = to->source = "";
    to->median_ns = row->median_ns;
    to->rate = batch ? 1 / row->samples_per_s : row->median_ns / 1e9;
    if (batch || width)
        snprintf(note, sizeof(note),
                 "%s an iteration, %s samples/s, tensors of %s",
                 LAB_NS_TEXT(row->median_ns),
                 LAB_INT_TEXT(llround(row->samples_per_s)),
                 LAB_BYTES_TEXT(lab_to_real(row->memory_bytes)));
    else if (!isnan(row->share))
        snprintf(note, sizeof(note), "%.1f %% of an iteration's time",
                 100 * row->share);
    else
        snprintf(note, sizeof(note), "%s", row->name ? row->name : "");
    size_t used = strlen(note);
    if (row->variants)
        snprintf(note + used, sizeof(note) - used, "; variants %s",
                 row->variants[0] ? row->variants : "naive");
    to->note = visible(note);
}

static enum lab_status add_point(struct taking *t,
                                 const struct lab_sweep_row *row)
{
    struct lab_bench_data *data = t->data;
    char text[LAB_BENCH_NAME];
    int set = set_of_backend(t, visible(row->backend));
    if (set < 0)
        return LAB_OK; /* as many as can be shown */
    if (data->by_size)
        snprintf(text, sizeof(text), "%.0f", row->x);
    else
        lab_visible_copy(text, sizeof(text), row->lesson ? row->lesson : "");
    int at = lab_bench_size_find(data, set, visible(text));
    if (at < 0)
        at = add_size(data, set, text,
                      data->by_size ? row->x : (double)data->size_count + 1);
    struct lab_bench_result *to = at < 0 ? NULL : add_row(data, set, at);
    if (!to)
        return lab_no_memory("the rows of a lab");
    describe_point(t, to, row);
    return LAB_OK;
}

static bool take_point(void *user, const struct lab_sweep_row *row)
{
    struct taking *t = user;
    const char *lesson = row->lesson ? row->lesson : "";
    if (t->brief && !t->sweep) {
        t->sweep = visible(row->sweep);
        name_axes(t);
    }
    if (!t->lesson || strcmp(lesson, t->lesson) == 0)
        t->status = add_point(t, row);
    return t->status == LAB_OK;
}

/* ---- both ---- */

/* Of this lesson, else of any of the ladder. */
static enum lab_status find_run(struct lab_database *db,
                                const struct lab_bench *lab, const char *but,
                                int64_t *run)
{
    const char *ladder = lab->ladder->name;
    enum lab_status st = LAB_E_NOTFOUND;
    if (lab->lesson)
        st = lab_bench_run_fullest(db, ladder, lab->lesson->id, but, run);
    if (st == LAB_E_NOTFOUND)
        st = lab_bench_run_fullest(db, ladder, NULL, but, run);
    return st;
}

/* A data sheet's peak is none that was measured. */
static enum lab_status read_roofs(struct taking *t, struct lab_database *db,
                                  int64_t run)
{
    struct lab_ceiling_device device;
    enum lab_status st = lab_ceiling_device_of_run(db, run, &device);
    for (int i = 0; i < LAB_CEILING_ROOFS && !st; i++) {
        struct lab_roof roof;
        st = lab_roof_find(db, &device, lab_roof_names[i], &roof);
        bool known = !st && roof.origin != LAB_ROOF_NONE &&
                     roof.origin != LAB_ROOF_DATASHEET;
        t->roofs[i] = known ? roof.per_s : (double)NAN;
    }
    return st;
}

static enum lab_status read_run(struct taking *t, struct lab_database *db)
{
    int64_t run = 0;
    enum lab_status st =
        t->sweep ? lab_sweep_run_newest(db, t->sweep, t->lesson, &run)
                 : find_run(db, t->lab, t->but, &run);
    if (!st)
        st = lab_query_run(db, run, take_run, t);
    if (!st && t->set < 0)
        st = lab_fail(LAB_E_NOTFOUND, "[lab.run] there is no such run");
    if (!st)
        st = read_roofs(t, db, run);
    if (!st)
        st = t->sweep ? lab_sweep_rows_read(db, run, take_point, t)
                      : lab_bench_results_read(db, run, take_row, t);
    const struct lab_kernel_filter all = {.limit = 0};
    if (!st && t->n_launches)
        st = lab_query_kernels(db, run, &all, take_kernel, t);
    return st ? st : t->status;
}

/* `path` belongs to this function; `st`: whether it is known. */
static enum lab_status read_file(struct taking *t, enum lab_status st,
                                 struct lab_str *path)
{
    struct lab_database_options options = {.read_only = true,
                                           .busy_timeout_ms = 500};
    struct lab_database *db = NULL;
    const char *file = lab_str_text(path);
    t->set = -1;
    if (!st && access(file, R_OK))
        st = lab_fail(LAB_E_NOTFOUND, "[lab.row] %s is not there", file);
    if (!st)
        st = lab_database_open(&db, file, &options);
    if (!st)
        st = read_run(t, db);
    lab_database_close(db);
    lab_str_release(path);
    return st;
}

enum lab_status lab_bench_model_recorded(struct lab_bench_data *data,
                                         const struct lab_bench *lab)
{
    struct taking t = {.data = data,
                       .lab = lab,
                       .ladder = lab->ladder,
                       .name = "recorded"}; /* 17 KiB */
    struct lab_str path;
    lab_str_init(&path);
    return read_file(&t, lab_data_path(LAB_RECORDED_RUNS, &path), &path);
}

enum lab_status lab_bench_db_path(const struct lab_options *o,
                                  struct lab_str *out)
{
    enum lab_status st = LAB_OK;
    if (o->db)
        lab_str_add(out, o->db);
    else
        st = lab_database_default_path(out);
    return st || !out->failed ? st : lab_no_memory("the database's name");
}

enum lab_status lab_bench_model_earlier(struct lab_bench_data *data,
                                        const struct lab_bench *lab)
{
    struct taking t = {.data = data,
                       .lab = lab,
                       .ladder = lab->ladder,
                       .but = lab->backend ? lab->backend->ops->name : NULL};
    struct lab_str path;
    lab_str_init(&path);
    return read_file(&t, lab_bench_db_path(lab->options, &path), &path);
}

enum lab_status lab_bench_model_sweep(struct lab_bench_data *data,
                                      const char *sweep, const char *lesson,
                                      const char *path, bool recorded)
{
    struct taking t = {.data = data,
                       .name = recorded ? "recorded" : NULL,
                       .sweep = sweep,
                       .lesson = lesson};
    struct lab_str file;
    int first = data->set_count;
    lab_str_init(&file);
    enum lab_status st = LAB_OK;
    if (recorded)
        st = lab_data_path(LAB_RECORDED_RUNS, &file);
    else
        lab_str_add(&file, path);
    name_axes(&t);
    st = read_file(&t, st, &file);
    for (int i = first; i < data->set_count; i++)
        data->sets[i].runs = !recorded;
    return st;
}

enum lab_status lab_bench_model_run(struct lab_bench_data *data,
                                    struct lab_database *db, int64_t run)
{
    struct taking t = {.data = data, .brief = true, .set = -1};
    enum lab_status st = lab_query_run(db, run, take_run, &t);
    if (!st)
        st = read_roofs(&t, db, run);
    if (!st)
        st = lab_bench_results_read(db, run, take_row, &t);
    if (!st && !t.ladder)
        st = lab_sweep_rows_read(db, run, take_point, &t);
    return st ? st : t.status;
}

/* ---- the course's figures ---- */

/* FLOP/s or B/s of a figure; NaN where it is no rate of this ladder. */
static double rate_of(const struct lab_bench_data *data,
                      const struct lab_lesson_slide *s)
{
    static const struct {
        const char *name;
        enum lab_bench_unit unit;
        double scale;
    } rates[] = {{"GFLOP/s", LAB_UNIT_FLOPS, 1e9},
                 {"TFLOP/s", LAB_UNIT_FLOPS, 1e12},
                 {"GB/s", LAB_UNIT_BYTES, 1e9},
                 {"TB/s", LAB_UNIT_BYTES, 1e12}};
    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
        if (rates[i].unit == data->unit && strcmp(s->unit, rates[i].name) == 0)
            return s->value * rates[i].scale;
    return NAN;
}

enum lab_status lab_bench_model_slides(struct lab_bench_data *data,
                                       const struct lab_bench *lab)
{
    const struct lab_lesson_lab *from = lab->lesson ? &lab->lesson->lab : NULL;
    int n = from ? from->n_slides : 0;
    lab_free(data->slides);
    data->slide_count = 0;
    data->slides = lab_alloc_array((size_t)n + 1, sizeof(*data->slides));
    if (!data->slides)
        return lab_no_memory("the course's figures");
    for (int i = 0; i < n; i++) {
        const struct lab_lesson_slide *s = &from->slides[i];
        struct lab_bench_slide *to = &data->slides[data->slide_count++];
        struct lab_ladder_size size = {.dim = {0}};
        *to = (struct lab_bench_slide){.course = s, .rate = rate_of(data, s)};
        if (lab->ladder &&
            !lab_ladder_size(lab->ladder, s->size, strlen(s->size), &size))
            to->x = (double)size.dim[0];
    }
    return LAB_OK;
}

static bool same_size(const struct lab_operation *l, const char *a,
                      const char *b)
{
    struct lab_ladder_size p;
    struct lab_ladder_size q;
    return !lab_ladder_size(l, a, strlen(a), &p) &&
           !lab_ladder_size(l, b, strlen(b), &q) &&
           memcmp(p.dim, q.dim, sizeof(p.dim)) == 0;
}

/* Of a figure that names none: networks and most labs are fp32. */
static const char *usual_precision(const struct lab_bench_data *data)
{
    for (int64_t i = 0; i < data->row_count; i++)
        if (strcmp(data->rows[i].precision, "fp32") == 0)
            return "fp32";
    return "fp64";
}

/* The variant that the figure names, else the fastest, in the same precision;
 * what runs here before what was recorded elsewhere. */
static const struct lab_bench_result *
find_beside(const struct lab_bench_data *data,
            const struct lab_operation *ladder,
            const struct lab_lesson_slide *slide, bool here)
{
    const struct lab_bench_result *best = NULL;
    const char *precision =
        slide->precision ? slide->precision : usual_precision(data);
    for (int64_t i = 0; i < data->row_count; i++) {
        const struct lab_bench_result *r = &data->rows[i];
        if (r->state != LAB_BENCH_DONE || data->sets[r->set].runs != here ||
            strcmp(r->precision, precision) != 0 ||
            (slide->variant && strcmp(r->variant, slide->variant) != 0) ||
            !same_size(ladder, slide->size, r->size))
            continue;
        if (!best || r->median_ns < best->median_ns)
            best = r;
    }
    return best;
}

/* The figure's own variant where it could not run, here or where it was recorded. */
static const struct lab_bench_result *
find_refused(const struct lab_bench_data *data,
             const struct lab_operation *ladder,
             const struct lab_lesson_slide *slide)
{
    const struct lab_bench_result *found = NULL;
    for (int64_t i = 0; i < data->row_count; i++) {
        const struct lab_bench_result *r = &data->rows[i];
        if (slide->variant && r->state == LAB_BENCH_FAILED && r->reason &&
            strcmp(r->variant, slide->variant) == 0 &&
            same_size(ladder, slide->size, r->size) &&
            (!found || data->sets[r->set].runs))
            found = r;
    }
    return found;
}

struct taking_slide {
    struct lab_bench_slide *slide;
    const char *size;
    const char *precision;
};

static bool take_slide(void *user, const struct lab_bench_result *row)
{
    struct taking_slide *t = user;
    struct lab_bench_result *to = &t->slide->recorded;
    if (!row->variant || !row->size || !row->precision || row->median_ns < 0 ||
        strcmp(row->variant, t->slide->course->variant) != 0 ||
        strcmp(row->size, t->size) != 0 ||
        strcmp(row->precision, t->precision) != 0)
        return true;
    to->state = LAB_BENCH_DONE;
    to->variant = t->slide->course->variant;
    to->precision = t->precision;
    to->median_ns = row->median_ns;
    to->rate = row->rate;
    to->workspace_bytes = row->workspace_bytes;
    return false;
}

static bool take_slide_device(void *user, const struct lab_run_row *run)
{
    struct lab_bench_slide *s = user;
    lab_visible_copy(s->recorded_device, sizeof(s->recorded_device),
                     run->device ? run->device : "");
    return false;
}

/* Nothing that is shown already has its figure. */
static bool lacks_figure(const struct lab_bench_data *data,
                         const struct lab_operation *ladder,
                         const struct lab_bench_slide *s)
{
    return s->course->variant && !find_beside(data, ladder, s->course, true) &&
           !find_beside(data, ladder, s->course, false);
}

static enum lab_status read_slide(struct lab_bench_data *data,
                                  const struct lab_operation *ladder,
                                  struct lab_bench_slide *s,
                                  struct lab_database *db)
{
    struct lab_ladder_size size;
    int64_t run = 0;
    struct taking_slide t = {.slide = s,
                             .precision = s->course->precision
                                              ? s->course->precision
                                              : usual_precision(data)};
    if (lab_ladder_size(ladder, s->course->size, strlen(s->course->size),
                        &size))
        return LAB_OK;
    t.size = size.text;
    enum lab_status st = lab_bench_run_with(
        db, ladder->name, s->course->variant, size.text, t.precision, &run);
    if (st)
        return st == LAB_E_NOTFOUND ? LAB_OK : st;
    st = lab_query_run(db, run, take_slide_device, s);
    return st ? st : lab_bench_results_read(db, run, take_slide, &t);
}

static double time_scale(const char *unit)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ns;
    return NAN;
}

static void put_number(double v, const char *unit, char *out, size_t cap)
{
    snprintf(out, cap, v < 10000 ? "%.4g %s" : "%.0f %s", v, unit);
}

/* In the slide's own unit. */
static void put_figure(const struct lab_bench_data *data,
                       const struct lab_bench_slide *slide,
                       const struct lab_bench_result *r, char *out, size_t cap)
{
    const struct lab_lesson_slide *s = slide->course;
    double ns = time_scale(s->unit);
    bool mb = strcmp(s->unit, "MB") == 0;
    bool bytes = mb || strcmp(s->unit, "MiB") == 0;
    if (!isnan(slide->rate))
        put_number(r->rate / (slide->rate / s->value), s->unit, out, cap);
    else if (!isnan(ns))
        put_number(r->median_ns / ns, s->unit, out, cap);
    else if (bytes && r->workspace_bytes == LAB_UNKNOWN)
        snprintf(out, cap, "%s reports none", r->variant);
    else if (bytes)
        put_number((double)r->workspace_bytes / (mb ? 1e6 : 1048576), s->unit,
                   out, cap);
    else
        lab_bench_rate_text(data, r->rate, out, cap);
}

enum lab_status lab_bench_model_slides_recorded(struct lab_bench_data *data,
                                                const struct lab_bench *lab)
{
    struct lab_database *db = NULL;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < data->slide_count && !st; i++) {
        struct lab_bench_slide *s = &data->slides[i];
        lab_bench_result_init(&s->recorded);
        if (!lacks_figure(data, lab->ladder, s))
            continue;
        if (!db)
            st = lab_recorded_open(&db);
        if (!st)
            st = read_slide(data, lab->ladder, s, db);
    }
    lab_database_close(db);
    return st;
}

enum { MOST_TIMES_WORK = 100 };

/* A call of a figure's variant at its size, by the rate at the largest size that was
 * measured here; NaN: at none. Caches and blocks work otherwise at a size with `*far`
 * times the work, or at one with that part of it. */
static double call_ns(const struct lab_bench_data *data,
                      const struct lab_operation *ladder,
                      const struct lab_lesson_slide *slide, double *far)
{
    struct lab_ladder_size size;
    double most = 0;
    double ns = NAN;
    if (!slide->variant ||
        lab_ladder_size(ladder, slide->size, strlen(slide->size), &size))
        return NAN;
    const double wanted = lab_ladder_work(ladder, &size);
    for (int64_t i = 0; i < data->row_count; i++) {
        const struct lab_bench_result *r = &data->rows[i];
        if (r->state != LAB_BENCH_DONE || !data->sets[r->set].runs ||
            data->sets[r->set].untimed ||
            strcmp(r->variant, slide->variant) != 0 ||
            lab_ladder_size(ladder, r->size, strlen(r->size), &size))
            continue;
        double work = lab_ladder_work(ladder, &size);
        if (work <= most)
            continue;
        most = work;
        ns = r->median_ns / work * wanted;
        *far = work < wanted ? wanted / work : work / wanted;
    }
    return ns;
}

void lab_bench_model_beside(struct lab_bench_data *data,
                            const struct lab_operation *ladder)
{
    for (int i = 0; i < data->slide_count; i++) {
        struct lab_bench_slide *s = &data->slides[i];
        char figure[48];
        const struct lab_bench_result *r =
            find_beside(data, ladder, s->course, true);
        bool here = r != NULL;
        if (!here)
            r = find_beside(data, ladder, s->course, false);
        bool shown = r != NULL;
        if (!shown && s->recorded.state == LAB_BENCH_DONE)
            r = &s->recorded;
        s->recorded_on[0] = '\0';
        /* A figure that ships is shown beside it, and is none of this machine. */
        const struct lab_bench_result *refused =
            shown ? NULL : find_refused(data, ladder, s->course);
        double far = 1;
        s->call_ns =
            shown || refused ? NAN : call_ns(data, ladder, s->course, &far);
        if (refused && !r) {
            const struct lab_bench_set *set = &data->sets[refused->set];
            snprintf(s->here, sizeof(s->here), "no time: %s", refused->reason);
            if (!set->runs)
                snprintf(s->recorded_on, sizeof(s->recorded_on), "%s",
                         set->device);
            continue;
        }
        if (!r) {
            char time[LAB_FORMAT_BYTES];
            bool known = !isnan(s->call_ns) && far <= MOST_TIMES_WORK;
            snprintf(s->here, sizeof(s->here), "not measured at %.40s%s%s%s",
                     s->course->size, known ? " (about " : "",
                     known ? lab_format_ns(s->call_ns, time, sizeof(time)) : "",
                     known ? " a call)" : "");
            continue;
        }
        put_figure(data, s, r, figure, sizeof(figure));
        snprintf(s->here, sizeof(s->here), "%.40s (%.40s)", figure, r->variant);
        const char *device =
            shown ? data->sets[r->set].device : s->recorded_device;
        if (!here)
            snprintf(s->recorded_on, sizeof(s->recorded_on), "%s",
                     device[0] ? device : "another machine");
    }
}

const struct lab_field *lab_bench_counted_column(int i)
{
    /* Instructions, sectors a load, bank conflicts. */
    static const int places[] = {5, 1, 3};
    enum { PLACES = sizeof(places) / sizeof(places[0]) };
    return i < PLACES ? lab_field_at(&lab_counted_fields,
                                     LAB_COUNTED_SIMULATED + places[i])
                      : NULL;
}

/* ---- numbers as text ---- */

/* Four digits and the prefix of a thousand that fits. */
static const char *scaled(double v, const char *unit, char *out, size_t cap)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P"};
    int p = 0;
    while (v >= 999.95 && p < 5) {
        v /= 1000;
        p++;
    }
    snprintf(out, cap, "%.4g %s%s", v, prefix[p], unit);
    return out;
}

const char *lab_bench_rate_text(const struct lab_bench_data *data, double rate,
                                char *out, size_t cap)
{
    char time[LAB_FORMAT_BYTES];
    if (isnan(rate))
        snprintf(out, cap, "n/a");
    else if (data->unit == LAB_UNIT_TIME)
        snprintf(out, cap, "%s / %s",
                 lab_format_ns(rate * 1e9, time, sizeof(time)),
                 data->item && data->item[0] ? data->item : "item");
    else
        scaled(rate, data->unit == LAB_UNIT_FLOPS ? "FLOP/s" : "B/s", out, cap);
    return out;
}

static void add(char *out, size_t cap, const char *separator, const char *text)
{
    size_t n = strlen(out);
    if (text[0] && n < cap)
        snprintf(out + n, cap - n, "%s%s", n ? separator : "", text);
}

const char *lab_prediction_text(const struct lab_bench_data *data,
                                const struct lab_prediction *p, char *out,
                                size_t cap)
{
    char part[LAB_BENCH_NAME];
    if (cap)
        out[0] = '\0';
    if (!isnan(p->rate))
        add(out, cap, ", ",
            lab_bench_rate_text(data, p->rate, part, sizeof(part)));
    if (!isnan(p->time_ns))
        add(out, cap, ", ", lab_format_ns(p->time_ns, part, sizeof(part)));
    add(out, cap, ", ", p->bound ? p->bound : "");
    if (!isnan(p->occupancy_pct)) {
        snprintf(part, sizeof(part), "%.4g %%", p->occupancy_pct);
        add(out, cap, ", ", part);
    }
    return out;
}

/* A rate of LAB_UNIT_TIME is a time: there the smaller one is faster. */
double lab_prediction_ratio(enum lab_bench_unit unit,
                            const struct lab_prediction *p,
                            const struct lab_bench_result *row)
{
    if (row->state != LAB_BENCH_DONE)
        return NAN;
    if (!isnan(p->time_ns))
        return p->time_ns / row->median_ns;
    return unit == LAB_UNIT_TIME ? p->rate / row->rate : row->rate / p->rate;
}

const char *lab_prediction_ratio_short(enum lab_bench_unit unit,
                                       const struct lab_prediction *p,
                                       const struct lab_bench_result *row,
                                       char *out, size_t cap)
{
    double off = lab_prediction_ratio(unit, p, row);
    if (cap)
        out[0] = '\0';
    if (!isnan(off))
        snprintf(out, cap, off >= 100 ? "%.0f x" : "%.2f x", off);
    else if (row->state == LAB_BENCH_DONE && p->bound && row->bound)
        snprintf(out, cap,
                 strcmp(p->bound, row->bound) == 0 ? "right" : "wrong");
    return out;
}

static void add_speed(double off, char *out, size_t cap)
{
    char part[80];
    if (isnan(off))
        return;
    if (off > 1 / 1.1 && off < 1.1)
        snprintf(part, sizeof(part), "within 10 %% of what you predicted");
    else if (off >= 1)
        snprintf(part, sizeof(part), "%.3g times as fast as you predicted",
                 off);
    else
        snprintf(part, sizeof(part), "%.3g times as slow as you predicted",
                 1 / off);
    add(out, cap, "; ", part);
}

const char *lab_prediction_ratio_text(enum lab_bench_unit unit,
                                      const struct lab_prediction *p,
                                      const struct lab_bench_result *row,
                                      char *out, size_t cap)
{
    char part[120];
    if (cap)
        out[0] = '\0';
    if (row->state != LAB_BENCH_DONE)
        return out;
    add_speed(lab_prediction_ratio(unit, p, row), out, cap);
    if (p->bound && !row->bound)
        add(out, cap, "; ", "what bounds it is not known");
    else if (p->bound) {
        snprintf(part, sizeof(part),
                 strcmp(p->bound, row->bound) == 0
                     ? "bound by %s, as you predicted"
                     : "bound by %s, you predicted %s",
                 row->bound, p->bound);
        add(out, cap, "; ", part);
    }
    if (!isnan(p->occupancy_pct)) {
        snprintf(part, sizeof(part), "occupancy %.4g %%, you predicted %.4g %%",
                 row->occupancy_pct, p->occupancy_pct);
        add(out, cap, "; ",
            isnan(row->occupancy_pct) ? "its occupancy is not known" : part);
    }
    return out;
}

/* What is faster by less than this is as fast. */
static const double noise = 1.02;
/* What is faster than memory by more than this comes from caches: the row is
 * "bound by cache" (LAB_ROOFLINE_ABOVE). */
static const double cached = 1.05;

const char *lab_bench_ceiling_passed(enum lab_bench_unit unit, double share)
{
    if (!(share > noise))
        return NULL;
    if (unit != LAB_UNIT_BYTES)
        return "what was measured is no ceiling at this size: this is faster";
    return share > cached ? "a copy is no ceiling at this size: caches serve a "
                            "part of the bytes"
                          : "a copy is no ceiling here: this mix of reads and "
                            "writes is faster";
}

double lab_bench_row_ceiling(const struct lab_bench_result *r)
{
    return r->share > 0 ? r->rate / r->share : (double)NAN;
}

bool lab_bench_ceiling_beaten(const struct lab_bench_data *data, int set,
                              int size, double ceiling)
{
    const double rounded = 1e-6;
    for (int64_t i = 0; i < data->row_count; i++) {
        const struct lab_bench_result *r = &data->rows[i];
        if (r->set == set && (size < 0 || r->size_index == size) &&
            fabs(lab_bench_row_ceiling(r) - ceiling) <= rounded * ceiling &&
            lab_bench_ceiling_passed(data->unit, r->share))
            return true;
    }
    return false;
}

const char *lab_bench_workspace_text(int64_t bytes, char *out, size_t cap)
{
    if (bytes < 0)
        snprintf(out, cap, "%s", "");
    else if (bytes == 0)
        snprintf(out, cap, "no workspace");
    else
        snprintf(out, cap, "workspace %s", LAB_SIZE_TEXT((double)bytes));
    return out;
}

const char *lab_bench_model_passed(enum lab_bench_unit unit, double rate,
                                   double model, double bytes, double traffic)
{
    if (unit == LAB_UNIT_TIME)
        return model > noise * rate ? "an item takes less than the model has "
                                      "for it"
                                    : NULL;
    if (!(rate > noise * model))
        return NULL;
    if (unit == LAB_UNIT_FLOPS)
        return "the model counts each access of the kernel's text, and caches "
               "and registers serve some at once";
    return traffic > noise * bytes || rate > cached * model
               ? "caches serve a part of what the model charges to memory"
               : "the model has memory at a copy's rate, and this mix of "
                 "reads and writes is faster";
}

const char *lab_bench_slide_text(const struct lab_bench_slide *slide, char *out,
                                 size_t cap)
{
    const struct lab_lesson_slide *s = slide->course;
    bool there = slide->recorded_on[0];
    snprintf(out, cap, "%s at %s: slide, %s: %.6g %s; %s%s: %s", s->label,
             s->size, s->machine, s->value, s->unit,
             there ? "recorded on " : "this machine",
             there ? slide->recorded_on : "", slide->here);
    return out;
}

const char *lab_bench_state_text(enum lab_bench_progress state)
{
    static const char *const texts[] = {"not run", "checking", "timing", "",
                                        "failed"};
    return texts[state];
}

/* ---- predictions as they are typed ---- */

enum { WORD_BYTES = 48 };

struct reading {
    enum lab_bench_unit unit;
    struct lab_prediction *out;
    double number; /* one that waits for its unit; NaN: none */
};

static enum lab_status wrong(const struct reading *r, const char *word)
{
    const char *number = r->unit == LAB_UNIT_FLOPS   ? "8.2T (FLOP/s)"
                         : r->unit == LAB_UNIT_BYTES ? "800G (B/s)"
                                                     : "25 (ns)";
    return lab_fail(LAB_E_USAGE,
                    "[predict.value] %s is no prediction: a number above 0, as "
                    "%s, or a time, 3.5ms; " LAB_ROOFLINE_WORDS
                    "; an occupancy, 50%%",
                    word, number);
}

/* "T", "TFLOP/s", "gb/s" ... to what it multiplies by; NaN: no such unit. */
static double rate_scale(enum lab_bench_unit unit, const char *text)
{
    static const char prefixes[] = "kMGTP";
    const char *rest = text;
    double scale = 1;
    const char *p = text[0] ? strchr(prefixes, text[0]) : NULL;
    if (!p && text[0] == 'g')
        p = prefixes + 2;
    if (p) {
        scale = pow(1000, (double)(p - prefixes) + 1);
        rest++;
    }
    if (unit == LAB_UNIT_FLOPS &&
        (strcasecmp(rest, "flop/s") == 0 || strcasecmp(rest, "flops") == 0))
        return scale;
    if (unit == LAB_UNIT_BYTES && strcasecmp(rest, "b/s") == 0)
        return scale;
    return rest[0] == '\0' && p ? scale : (double)NAN;
}

/* The number that waits, in the unit that is there now. */
static bool read_unit(struct reading *r, const char *unit)
{
    double v = r->number;
    double ns = time_scale(unit);
    double scale = rate_scale(r->unit, unit);
    bool time = r->unit == LAB_UNIT_TIME;
    if (isnan(v))
        return false;
    if (strcmp(unit, "%") == 0 && v <= 100)
        r->out->occupancy_pct = v;
    else if (!isnan(ns) && time)
        r->out->rate = v * ns * 1e-9; /* of one item */
    else if (!isnan(ns))
        r->out->time_ns = v * ns;
    else if (!isnan(scale) && !time)
        r->out->rate = v * scale;
    else
        return false;
    r->number = NAN;
    return true;
}

static void read_bare(struct reading *r)
{
    if (isnan(r->number))
        return;
    r->out->rate = r->number * (r->unit == LAB_UNIT_TIME ? 1e-9 : 1e9);
    r->number = NAN;
}

static bool read_bound(struct reading *r, const char *word)
{
    enum lab_roofline_verdict v = lab_roofline_verdict_find(word);
    if (v)
        r->out->bound = lab_roofline_verdict_name(v);
    return v != LAB_ROOFLINE_UNKNOWN;
}

static enum lab_status read_word(struct reading *r, const char *word)
{
    char *end = NULL;
    if (read_unit(r, word) || read_bound(r, word))
        return LAB_OK;
    read_bare(r);
    if (!isdigit((unsigned char)word[0]) && word[0] != '.')
        return wrong(r, word);
    double v = strtod(word, &end);
    if (end == word || !(v > 0) || isinf(v) ||
        tolower((unsigned char)word[1]) == 'x')
        return wrong(r, word);
    r->number = v;
    if (*end && !read_unit(r, end))
        return wrong(r, word);
    return LAB_OK;
}

/* Beyond any machine; and what is computed from it would leave double. */
static bool beyond(double v)
{
    return v < 1e-30 || v > 1e30; /* not NaN */
}

enum lab_status lab_prediction_parse(enum lab_bench_unit unit, const char *text,
                                     struct lab_prediction *out)
{
    static const char separators[] = " ,:\t";
    struct lab_prediction p;
    struct reading r = {.unit = unit, .out = &p, .number = NAN};
    enum lab_status st = LAB_OK;
    lab_prediction_init(&p);
    while (!st) {
        char word[WORD_BYTES];
        text += strspn(text, separators);
        size_t n = strcspn(text, separators);
        if (n == 0)
            break;
        snprintf(word, sizeof(word), "%.*s", (int)(n < 40 ? n : 40), text);
        st = read_word(&r, word);
        text += n;
    }
    if (st)
        return st;
    read_bare(&r);
    if (beyond(p.rate) || beyond(p.time_ns))
        return lab_fail(
            LAB_E_USAGE,
            "[predict.ratio] a prediction of %g: no machine is that far off",
            beyond(p.rate) ? p.rate : p.time_ns);
    if (!isnan(p.rate) && !isnan(p.time_ns))
        return lab_fail(LAB_E_USAGE, "[predict.rate-time] a rate or a time, "
                                     "not both: one follows from the other");
    *out = p;
    return LAB_OK;
}

bool lab_prediction_any(const struct lab_prediction *p)
{
    return !isnan(p->rate) || !isnan(p->time_ns) || !isnan(p->occupancy_pct) ||
           p->bound;
}
