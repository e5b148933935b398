#include "bench/lab_feed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/unknown.h"
#include "lesson/lesson.h"
#include "profiler/roofline.h"
#include "trace/intern.h"
#include "report/variant_facts.h"

/* ---- sets, sizes, rows ---- */

int lab_bench_model_add_set(struct lab_ui_lab *ui, const char *name,
                            const char *device)
{
    if (ui->set_count == LAB_UI_LAB_SETS)
        return -1;
    struct lab_ui_lab_set *set = &ui->sets[ui->set_count];
    *set = (struct lab_ui_lab_set){.ceiling = NAN};
    lab_visible_copy(set->name, sizeof(set->name), name);
    lab_visible_copy(set->device, sizeof(set->device), device);
    return ui->set_count++;
}

void lab_bench_model_clear(struct lab_ui_lab *ui, int set)
{
    int before = 0; /* sizes of the set before the one at hand */
    int kept = 0;
    int64_t rows = 0;
    for (int64_t i = 0; i < ui->row_count; i++)
        if (ui->rows[i].set != set)
            ui->rows[rows++] = ui->rows[i];
    ui->row_count = rows;
    for (int s = 0; s < ui->size_count; s++) {
        if (ui->sizes[s].set == set) {
            before++;
            continue;
        }
        for (int64_t i = 0; i < rows && before; i++)
            if (ui->rows[i].size == s)
                ui->rows[i].size = s - before;
        ui->sizes[kept++] = ui->sizes[s];
    }
    ui->size_count = kept;
}

static enum lab_status no_memory(void)
{
    return lab_fail(LAB_E_NOMEM, "no memory for the rows of a lab");
}

/* -1: no memory. */
static int add_size(struct lab_ui_lab *ui, int set, const char *text, double x)
{
    struct lab_ui_lab_size *grown = lab_realloc_array(
        ui->sizes, (size_t)ui->size_count + 1, sizeof(*grown));
    if (!grown)
        return -1;
    ui->sizes = grown;
    struct lab_ui_lab_size *size = &grown[ui->size_count];
    *size = (struct lab_ui_lab_size){.set = set, .x = x};
    lab_visible_copy(size->text, sizeof(size->text), text);
    lab_ui_prediction_init(&size->best);
    return ui->size_count++;
}

static struct lab_ui_lab_row *add_row(struct lab_ui_lab *ui, int set, int size)
{
    struct lab_ui_lab_row *grown =
        lab_realloc_array(ui->rows, (size_t)ui->row_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    ui->rows = grown;
    struct lab_ui_lab_row *row = &grown[ui->row_count++];
    lab_ui_lab_row_init(row);
    row->set = set;
    row->size = size;
    return row;
}

static struct lab_ui_lab_row *find_row(struct lab_ui_lab *ui, int set,
                                       const char *rung, const char *precision,
                                       const char *size)
{
    for (int64_t i = 0; i < ui->row_count; i++) {
        struct lab_ui_lab_row *r = &ui->rows[i];
        if (r->set == set && strcmp(r->rung, rung) == 0 &&
            strcmp(r->precision, precision) == 0 &&
            strcmp(ui->sizes[r->size].text, size) == 0)
            return r;
    }
    return NULL;
}

static void take_unit(struct lab_ui_lab *ui, const struct lab_operation *l)
{
    ui->unit = lab_bench_ui_unit(l);
    lab_visible_copy(ui->item, sizeof(ui->item), l->item);
}

static void describe(struct lab_ui_lab_row *row, const struct lab_rung *rung)
{
    lab_visible_copy(row->rung, sizeof(row->rung), rung->name);
    lab_visible_copy(row->idea, sizeof(row->idea), rung->idea);
    lab_visible_copy(row->source, sizeof(row->source), rung->source);
    lab_visible_copy(row->precision, sizeof(row->precision),
                     lab_precision_name(rung->precision));
    row->library = rung->model.library;
}

enum lab_status lab_bench_model_plan(struct lab_ui_lab *ui, int set,
                                     const struct lab_bench *lab)
{
    lab_bench_model_clear(ui, set);
    take_unit(ui, lab->ladder);
    for (int s = 0; s < lab->n_sizes; s++) {
        const struct lab_ladder_size *size = &lab->sizes[s];
        int at = add_size(ui, set, size->text, (double)size->dim[0]);
        for (int r = 0; r < lab->n_rungs && at >= 0; r++) {
            struct lab_ui_lab_row *row = add_row(ui, set, at);
            if (!row)
                return no_memory();
            describe(row, lab->rungs[r]);
        }
        if (at < 0)
            return no_memory();
    }
    lab_bench_model_prediction(ui, set, lab->said, lab->n_said);
    return LAB_OK;
}

void lab_bench_model_prediction(struct lab_ui_lab *ui, int set,
                                const struct lab_prediction *said, int n)
{
    for (int s = 0; s < ui->size_count; s++) {
        struct lab_ui_lab_size *size = &ui->sizes[s];
        const struct lab_ui_prediction *of =
            lab_prediction_find(said, n, "best", "", size->text);
        if (size->set != set)
            continue;
        lab_ui_prediction_init(&size->best);
        if (of)
            size->best = *of;
    }
    for (int64_t i = 0; i < ui->row_count; i++) {
        struct lab_ui_lab_row *r = &ui->rows[i];
        const struct lab_ui_prediction *of = lab_prediction_find(
            said, n, r->rung, r->precision, ui->sizes[r->size].text);
        if (r->set != set)
            continue;
        lab_ui_prediction_init(&r->said);
        if (of)
            r->said = *of;
    }
}

/* ---- a climb ---- */

static void name_ceiling(struct lab_ui_lab_set *set, double per_s,
                         const char *name)
{
    set->ceiling = per_s;
    snprintf(set->ceiling_name, sizeof(set->ceiling_name), "%s", name);
}

/* The highest one of the precisions that were measured. */
void lab_bench_model_ceilings(struct lab_ui_lab *ui, int set,
                              const struct lab_bench *lab)
{
    struct lab_ui_lab_set *to = &ui->sets[set];
    const struct lab_ladder_machine *m = &lab->machine;
    char name[48];
    name_ceiling(to, NAN, "");
    if (ui->unit == LAB_UI_LAB_BYTES && m->copy_bytes_s > 0)
        name_ceiling(to, m->copy_bytes_s, "a copy");
    for (int p = 0; p < LAB_PRECISION_COUNT; p++) {
        bool used = false;
        for (int r = 0; r < lab->n_rungs; r++)
            used = used || lab->rungs[r]->precision == (enum lab_precision)p;
        if (ui->unit != LAB_UI_LAB_FLOPS || !used || !(m->flops[p] > 0) ||
            m->flops[p] <= to->ceiling)
            continue;
        snprintf(name, sizeof(name), "%s %s",
                 lab_precision_name((enum lab_precision)p),
                 p == LAB_FP32 && m->fp32_by_fma ? "multiply-adds" : "product");
        name_ceiling(to, m->flops[p], name);
    }
}

/* What a time says, held against the ceilings of the same run. */
static void find_bound(const struct lab_ui_lab *ui, double copy, double flops,
                       const char *precision, struct lab_ui_lab_row *row)
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
    work.arithmetic = lab_roofline_precision(precision);
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        per_s[i] = NAN;
    per_s[LAB_CEILING_COPY] = copy;
    if (work.arithmetic < LAB_CEILING_ROOFS)
        per_s[work.arithmetic] = flops;
    lab_roofline_place(&point, &work, per_s);
    if (ui->unit == LAB_UI_LAB_TIME) /* one item after the other */
        point.verdict = LAB_ROOFLINE_LATENCY;
    snprintf(row->bound, sizeof(row->bound), "%s",
             lab_roofline_verdict_name(point.verdict));
}

/* As it is stored; its share follows from a ceiling. */
static void fill_times(struct lab_ui_lab_row *to,
                       const struct lab_bench_row *from)
{
    to->repeats = (int)from->repeats;
    to->check_error = from->check_error;
    to->min_ns = from->min_ns;
    to->quarter_ns = from->quarter_ns;
    to->median_ns = from->median_ns;
    to->three_quarters_ns = from->three_quarters_ns;
    to->max_ns = from->max_ns;
    to->flop = from->flop;
    to->bytes = from->bytes;
    to->traffic_bytes = from->traffic_bytes;
    to->rate = from->rate;
    to->rate_model = from->rate_model;
    to->gain = from->gain;
    to->gain_model = from->gain_model;
    to->sm_clock_hz = from->sm_clock_after_hz;
    to->temperature_c = from->temperature_c;
    to->power_w = from->power_w;
    if (from->workspace_bytes >= 0)
        to->workspace_bytes = (double)from->workspace_bytes;
}

void lab_bench_model_row(struct lab_ui_lab *ui, int set,
                         const struct lab_bench *lab,
                         const struct lab_ladder_row *row)
{
    const char *precision = lab_precision_name(row->rung->precision);
    struct lab_bench_row stored;
    struct lab_ui_lab_row *to =
        find_row(ui, set, row->rung->name, precision, row->size.text);
    if (!to)
        return;
    lab_bench_row_of(lab, row, &stored);
    fill_times(to, &stored);
    to->share = row->share;
    to->state = row->status ? LAB_UI_LAB_FAILED : LAB_UI_LAB_DONE;
    lab_visible_copy(to->reason, sizeof(to->reason),
                     row->status ? row->reason : "");
    lab_visible_copy(to->note, sizeof(to->note), row->note.text);
    if (!row->status)
        find_bound(ui, lab->machine.copy_bytes_s,
                   lab->machine.flops[row->rung->precision], precision, to);
    lab_ui_lab_relate(ui, to->size);
}

/* "128 x 4", without sides of 1. */
static void put_sides(const int64_t *v, char *out, size_t cap)
{
    if (v[0] == LAB_UNKNOWN)
        snprintf(out, cap, "n/a");
    else if (v[2] > 1)
        snprintf(out, cap, "%" PRId64 " x %" PRId64 " x %" PRId64, v[0], v[1],
                 v[2]);
    else if (v[1] > 1)
        snprintf(out, cap, "%" PRId64 " x %" PRId64, v[0], v[1]);
    else
        snprintf(out, cap, "%" PRId64, v[0]);
}

/* A kernel as the store has it: there is no wider one. */
static void put_kernel(struct lab_ui_lab_row *to,
                       const struct lab_kernel_row *k,
                       const struct lab_counters *c)
{
    char grid[64];
    char block[64];
    double ns = lab_to_real(k->time_ns);
    double dram = c->dram_read_bytes + c->dram_write_bytes;
    to->kernels++;
    if (!isnan(dram))
        to->dram_bytes = isnan(to->dram_bytes) ? dram : to->dram_bytes + dram;
    bool longer = isnan(to->kernel_ns) ? !isnan(ns) : ns > to->kernel_ns;
    if (to->kernels > 1 && !longer)
        return;
    put_sides(k->grid, grid, sizeof(grid));
    put_sides(k->block, block, sizeof(block));
    lab_visible_copy(to->kernel, sizeof(to->kernel), k->short_name);
    snprintf(to->launch, sizeof(to->launch), "%s blocks of %s", grid, block);
    to->kernel_ns = ns;
    to->occupancy_pct = k->occupancy_pct;
    to->achieved_pct = c->achieved_occupancy_pct;
    to->registers = lab_to_real(k->registers_per_thread);
    to->shared_bytes = lab_to_real(k->shared_bytes);
}

static void put_record(struct lab_ui_lab_row *to,
                       const struct lab_kernel_record *k,
                       const struct lab_counters *c)
{
    bool timed = k->start_ns != LAB_UNKNOWN && k->end_ns != LAB_UNKNOWN;
    struct lab_kernel_row row = {
        .short_name = lab_intern_text(k->short_name),
        .time_ns = timed ? k->end_ns - k->start_ns : LAB_UNKNOWN,
        .registers_per_thread = k->registers_per_thread,
        .shared_bytes =
            (int64_t)k->static_shared_bytes + k->dynamic_shared_bytes,
        .occupancy_pct = k->occupancy_pct};
    for (int i = 0; i < 3; i++) {
        row.grid[i] = k->grid[i];
        row.block[i] = k->block[i];
    }
    put_kernel(to, &row, c);
}

void lab_bench_model_kernel(struct lab_ui_lab *ui, int set,
                            const struct lab_bench *lab,
                            const struct lab_timed_row *row,
                            const struct lab_kernel_record *kernel,
                            const struct lab_counters *counters)
{
    struct lab_ui_lab_row *to = find_row(
        ui, set, row->rung->name, lab_precision_name(row->rung->precision),
        lab->sizes[row->size].text);
    if (to)
        put_record(to, kernel, counters);
}

void lab_bench_model_state(struct lab_ui_lab *ui, int set, const char *rung,
                           const char *precision, const char *size,
                           enum lab_ui_lab_state state)
{
    for (int64_t i = 0; i < ui->row_count; i++) {
        struct lab_ui_lab_row *r = &ui->rows[i];
        if (r->set == set && strcmp(r->rung, rung) == 0 &&
            strcmp(r->precision, precision) == 0 &&
            (!size || strcmp(ui->sizes[r->size].text, size) == 0) &&
            r->state != LAB_UI_LAB_DONE && r->state != LAB_UI_LAB_FAILED)
            r->state = state;
    }
}

/* ---- the store ---- */

static int find_size(const struct lab_ui_lab *ui, int set, const char *text)
{
    for (int s = 0; s < ui->size_count; s++)
        if (ui->sizes[s].set == set && strcmp(ui->sizes[s].text, text) == 0)
            return s;
    return -1;
}

static void copy_stored(struct lab_ui_lab_row *to,
                        const struct lab_bench_row *from)
{
    bool done = from->status && strcmp(from->status, "done") == 0;
    to->state = done ? LAB_UI_LAB_DONE : LAB_UI_LAB_FAILED;
    lab_visible_copy(to->rung, sizeof(to->rung), from->rung);
    lab_visible_copy(to->precision, sizeof(to->precision), from->precision);
    lab_visible_copy(to->reason, sizeof(to->reason),
                     done           ? ""
                     : from->reason ? from->reason
                                    : from->status);
    lab_visible_copy(to->note, sizeof(to->note), from->note);
    fill_times(to, from);
}

/* The ceiling of fp32 and of memory are kept with a row. */
static void stored_ceiling(struct lab_ui_lab *ui, int set,
                           const struct lab_bench_row *from,
                           struct lab_ui_lab_row *to)
{
    struct lab_ui_lab_set *s = &ui->sets[set];
    bool fp32 = strcmp(to->precision, "fp32") == 0;
    if (ui->unit == LAB_UI_LAB_BYTES && from->ceiling_copy > 0) {
        name_ceiling(s, from->ceiling_copy, "a copy");
        to->share = to->rate / from->ceiling_copy;
    } else if (ui->unit == LAB_UI_LAB_FLOPS && from->ceiling_fp32 > 0) {
        name_ceiling(s, from->ceiling_fp32, "fp32");
        if (fp32)
            to->share = to->rate / from->ceiling_fp32;
    }
    if (to->state == LAB_UI_LAB_DONE)
        find_bound(ui, from->ceiling_copy,
                   fp32 ? from->ceiling_fp32 : (double)NAN, to->precision, to);
}

/* kernels/labs/gemm/tile.cu, or kernels/labs/saxpy/saxpy.cu for small rungs. */
static void guess_source(struct lab_ui_lab_row *to, const char *lab)
{
    const char *const names[] = {to->rung, lab};
    for (int i = 0; i < 2; i++) {
        char file[sizeof(to->source)];
        struct lab_str path;
        lab_str_init(&path);
        snprintf(file, sizeof(file), "kernels/labs/%.28s/%.31s.cu", lab,
                 names[i]);
        bool there = !lab_data_path(file, &path) &&
                     access(lab_str_text(&path), R_OK) == 0;
        lab_str_release(&path);
        if (there) {
            memcpy(to->source, file, sizeof(file));
            return;
        }
    }
}

/* Idea and source stand in the tables of the CUDA module. Where that cannot be
 * loaded, the name says whether a rung is the library's and where its file may
 * be. */
static void describe_stored(struct lab_ui_lab_row *to,
                            const struct lab_operation *ladder)
{
    const struct lab_cuda_module *module = NULL;
    const struct lab_rung *r;
    to->library = lab_variant_is_library(to->rung);
    guess_source(to, ladder->name);
    if (lab_cuda_load(&module))
        return;
    for (int i = 0; (r = module->backend->rung(NULL, ladder->name, i)); i++) {
        if (strcmp(r->name, to->rung) == 0 &&
            strcmp(lab_precision_name(r->precision), to->precision) == 0) {
            describe(to, r);
            return;
        }
    }
}

enum lab_status lab_bench_model_stored(struct lab_ui_lab *ui, int set,
                                       const struct lab_operation *ladder,
                                       const struct lab_bench_row *row,
                                       int64_t *index)
{
    struct lab_ladder_size size;
    const char *text = row->size ? row->size : "";
    *index = -1;
    take_unit(ui, ladder);
    if (lab_ladder_size(ladder, text, strlen(text), &size))
        return LAB_OK; /* of another program's size: left out */
    int at = find_size(ui, set, size.text);
    if (at < 0)
        at = add_size(ui, set, size.text, (double)size.dim[0]);
    struct lab_ui_lab_row *to = at < 0 ? NULL : add_row(ui, set, at);
    if (!to)
        return no_memory();
    copy_stored(to, row);
    describe_stored(to, ladder);
    stored_ceiling(ui, set, row, to);
    lab_ui_lab_relate(ui, at);
    *index = to - ui->rows;
    return LAB_OK;
}

void lab_bench_model_stored_kernel(struct lab_ui_lab *ui, int64_t index,
                                   const struct lab_kernel_row *kernel)
{
    struct lab_counters none;
    lab_counters_init(&none);
    put_kernel(&ui->rows[index], kernel, &none);
}
