/* roofline.c -- loads a run's steps and kernels as points under its device's
 * ceilings. */
#include "report/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "base/format.h"
#include "base/mem.h"
#include "engine/ceiling.h"
#include "engine/ladder.h"
#include "report/print.h"
#include "store/launch.h"
#include "store/query.h"
#include "report/counters_text.h"
#include "report/variant_facts.h"

void lab_roofline_release(struct lab_roofline *r)
{
    for (size_t i = 0; i < r->count; i++) {
        lab_free(r->rows[i].sentence);
        lab_free(r->rows[i].label);
    }
    lab_free(r->rows);
    lab_free(r->counters_reason);
    lab_time_sums_release(&r->sums);
    lab_counted_release(&r->counted);
    *r = (struct lab_roofline){0};
}

bool lab_roofline_is_kernel(const struct lab_roofline_row *row)
{
    return row->sum->level == LAB_SUM_KERNEL;
}

double lab_roofline_formula(const struct lab_roofline_row *row)
{
    return isnan(row->work.flop) ? row->work.flop : row->point.intensity;
}

const char *lab_roofline_name(const struct lab_roofline_row *row)
{
    const struct lab_time_sum *s = row->sum;
    const char *name = s->name;
    if (row->label)
        return row->label;
    if (lab_roofline_is_kernel(row))
        name = s->kernel_short ? s->kernel_short : s->kernel;
    return name ? name : "?";
}

bool lab_roofline_measured(const struct lab_roofline *r)
{
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        if (r->roofs[i].origin != LAB_ROOF_NONE &&
            r->roofs[i].origin != LAB_ROOF_DATASHEET)
            return true;
    return false;
}

struct facts {
    struct lab_roofline *r;
    bool failed;
};

static bool read_facts(void *user, const struct lab_run_row *row)
{
    struct facts *f = user;
    struct lab_roofline *r = f->r;
    snprintf(r->precision, sizeof(r->precision), "%s",
             row->precision ? row->precision : "");
    snprintf(r->lesson, sizeof(r->lesson), "%s",
             row->lesson ? row->lesson : "");
    snprintf(r->counters, sizeof(r->counters), "%s",
             row->counters ? row->counters : "");
    r->sm_count = row->sm_count;
    if (row->counters_reason)
        r->counters_reason = lab_strdup(row->counters_reason);
    f->failed = row->counters_reason && !r->counters_reason;
    return true;
}

static enum lab_status find_roofs(struct lab_roofline *r,
                                  struct lab_database *db)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < LAB_CEILING_ROOFS && st == LAB_OK; i++) {
        st = lab_roof_of_run(db, &r->device, &r->sums.bench_names,
                             lab_ceiling_name((enum lab_ceiling)i),
                             &r->roofs[i]);
        r->per_s[i] = r->roofs[i].per_s;
    }
    return st;
}

/* ---- rows ---- */

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_of(const struct lab_time_sum *kernel,
                  const struct lab_time_sum *step)
{
    return kernel->level == LAB_SUM_KERNEL &&
           kernel->step_index == step->step_index &&
           kernel->phase_id == step->phase_id &&
           same(kernel->name, step->name) &&
           same(kernel->variant, step->variant) &&
           same(kernel->backend, step->backend);
}

/* A lab's run has a precision for each of its variants; where it multiplies numbers
 * of 8 bits they say fp32, and no roof here is its own. */
static enum lab_ceiling arithmetic_of(const struct lab_roofline *r,
                                      const struct lab_bench_name *bench_name)
{
    bool of_variant = bench_name && bench_name->precision[0] &&
                      strcmp(r->precision, "int8") != 0;
    return lab_roofline_precision(of_variant ? bench_name->precision
                                             : r->precision);
}

/* A library's variant of which the kernels are known; else what was stored. */
static double bytes_moved(const struct lab_bench_name *bench_name)
{
    const struct lab_operation *op;
    struct lab_ladder_size size;
    if (!bench_name || !lab_variant_is_library(bench_name->variant))
        return bench_name ? bench_name->bytes_moved : (double)NAN;
    if (lab_ladder_find(bench_name->lab, &op) || !op->library_traffic ||
        lab_ladder_size(op, bench_name->size, strlen(bench_name->size), &size))
        return NAN;
    for (int p = 0; p < LAB_PRECISION_COUNT; p++)
        if (strcmp(lab_precision_name((enum lab_precision)p),
                   bench_name->precision) == 0)
            return op->library_traffic(size.dim, (enum lab_precision)p,
                                       bench_name->variant);
    return NAN;
}

static void fill_work(struct lab_roofline *r, const struct lab_time_sum *s,
                      const struct lab_time_sum *step,
                      struct lab_roofline_work *w)
{
    const struct lab_counted_item *counted;
    bool whole = s == step || step->kernels == 1; /* its work is the step's */
    *w = (struct lab_roofline_work){
        .gpu = strcmp(r->device.backend, "cuda") == 0,
        .time_ns = s->median_ns,
        .flop = whole ? step->flop : (double)NAN,
        .bytes = whole ? step->bytes : (double)NAN,
        .occupancy_pct = s->occupancy_pct,
        .blocks = LAB_UNKNOWN,
        .threads_per_block = LAB_UNKNOWN,
        .sm_count = r->sm_count,
        .max_warps_per_sm = r->max_warps_per_sm,
        .kernels = s == step ? s->kernels : 1,
        .arithmetic = arithmetic_of(r, step->bench_name),
        .floor_ns = r->floor_ns,
        .kernels_ns = NAN,
        .launch_ns = r->launch_ns,
        .own_bytes = whole ? bytes_moved(step->bench_name) : (double)NAN,
        .library = lab_variant_is_library(step->variant),
        .other_algorithm = lab_variant_has_fewer_flop(step->variant),
        .one_address = whole && step->bench_name &&
                       lab_variant_has_one_address(step->bench_name->variant),
        .fusable = lab_variant_can_fuse(step->backend, step->op, step->phase_id,
                                        step->name, step->variant),
    };
    lab_counters_init(&w->counted);
    if (s != step) {
        lab_counted_launch(&r->counted, step->step_index, step->variant,
                           s->kernel, &w->counted);
        w->blocks = lab_launch_size(s->launch.grid);
        w->threads_per_block = lab_launch_size(s->launch.block);
        return;
    }
    w->occupancy_pct = NAN;
    counted = lab_counted_step(&r->counted, s->step_index, s->variant);
    if (counted)
        w->counted = counted->counters;
}

/* A step with one kernel is as full as that kernel. */
static void lend_launch(struct lab_roofline_work *step,
                        const struct lab_roofline_work *kernel)
{
    step->occupancy_pct = kernel->occupancy_pct;
    step->blocks = kernel->blocks;
    step->threads_per_block = kernel->threads_per_block;
}

/* A variant's times are taken without a trace, and its launches are known of the
 * one that was traced apart. */
static void lend_traced(struct lab_roofline *r, struct lab_roofline_row *row)
{
    const struct lab_bench_name *bench_name = row->sum->bench_name;
    for (size_t i = 0; bench_name && !bench_name->traced && i < r->count; i++) {
        const struct lab_roofline_row *t = &r->rows[i];
        const struct lab_bench_name *of = t->sum->bench_name;
        if (!of || !of->traced || lab_roofline_is_kernel(t) ||
            strcmp(of->variant, bench_name->variant) != 0 ||
            strcmp(of->precision, bench_name->precision) != 0 ||
            strcmp(of->size, bench_name->size) != 0)
            continue;
        row->work.kernels = t->work.kernels;
        row->work.kernels_ns = t->work.time_ns;
        row->work.counted = t->work.counted;
        lend_launch(&row->work, &t->work);
    }
}

/* A lab's steps have the name of the problem alone, and its kernels serve
 * several precisions. */
static enum lab_status label_row(struct lab_roofline_row *row)
{
    const struct lab_bench_name *bench_name = row->sum->bench_name;
    struct lab_str s;
    if (!bench_name)
        return LAB_OK;
    lab_str_init(&s);
    if (lab_roofline_is_kernel(row))
        lab_str_addf(&s, "%s %s", lab_roofline_name(row), bench_name->problem);
    else
        lab_str_add(&s, bench_name->name);
    row->label = lab_str_detach(&s);
    return row->label ? LAB_OK : lab_no_memory("a variant's name");
}

static enum lab_status finish_row(struct lab_roofline *r,
                                  struct lab_roofline_row *row)
{
    struct lab_sentences stated;
    struct lab_str text;
    struct lab_str s;
    lab_str_init(&text);
    lab_str_init(&s);
    lab_roofline_place(&row->point, &row->work, r->per_s);
    lab_roofline_state(&stated, &row->work, &row->point, r->per_s);
    lab_sentences_add(&text, &stated);
    lab_command_spell(&s, lab_str_text(&text), "`", lab_print_is_ascii());
    s.failed |= text.failed;
    lab_str_release(&text);
    row->flop_reason = lab_counters_flop_reason(
        &row->work.counted, row->work.flop, row->sum->phase_id == LAB_UPDATE);
    row->sentence = lab_str_detach(&s);
    if (!row->sentence)
        return lab_no_memory("a sentence");
    return label_row(row);
}

static void add_step(struct lab_roofline *r, const struct lab_time_sum *step)
{
    size_t at = r->count++;
    r->rows[at] = (struct lab_roofline_row){.sum = step};
    fill_work(r, step, step, &r->rows[at].work);
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *k = &r->sums.items[i];
        if (!is_of(k, step) || r->count > r->sums.count)
            continue;
        struct lab_roofline_row *row = &r->rows[r->count++];
        *row = (struct lab_roofline_row){.sum = k};
        fill_work(r, k, step, &row->work);
        if (step->kernels == 1)
            lend_launch(&r->rows[at].work, &row->work);
        else if (row->work.blocks > r->rows[at].work.blocks)
            r->rows[at].work.blocks = row->work.blocks;
    }
}

void lab_roofline_times(struct lab_roofline *r)
{
    double all[2] = {0};
    for (size_t i = 0; i < r->count; i++) {
        double ns = lab_time_sum_ns(r->rows[i].sum);
        all[lab_roofline_is_kernel(&r->rows[i])] += ns > 0 ? ns : 0;
    }
    for (size_t i = 0; i < r->count; i++) {
        double of = all[lab_roofline_is_kernel(&r->rows[i])];
        r->rows[i].time =
            of > 0 ? lab_time_sum_ns(r->rows[i].sum) / of : (double)NAN;
    }
}

static enum lab_status make_rows(struct lab_roofline *r)
{
    enum lab_status st = LAB_OK;
    r->rows = lab_alloc_array(r->sums.count + 2, sizeof(*r->rows));
    if (!r->rows)
        return lab_no_memory("the roofline of a run");
    for (size_t i = 0; i < r->sums.count; i++)
        if (r->sums.items[i].level == LAB_SUM_STEP && r->count < r->sums.count)
            add_step(r, &r->sums.items[i]);
    for (size_t i = 0; i < r->count; i++)
        if (!lab_roofline_is_kernel(&r->rows[i]))
            lend_traced(r, &r->rows[i]);
    for (size_t i = 0; i < r->count && st == LAB_OK; i++)
        st = finish_row(r, &r->rows[i]);
    lab_roofline_times(r);
    return st;
}

enum lab_status lab_roofline_load(struct lab_roofline *out,
                                  struct lab_database *db, int64_t run)
{
    struct lab_roofline r = {.run = run,
                             .sm_count = LAB_UNKNOWN,
                             .max_warps_per_sm = LAB_UNKNOWN,
                             .floor_ns = NAN,
                             .launch_ns = NAN};
    struct facts facts = {.r = &r};
    struct lab_run_device gpu;
    char name[LAB_GPU_NAME];
    enum lab_status st = lab_query_run(db, run, read_facts, &facts);
    if (st == LAB_OK && facts.failed)
        st = lab_no_memory("the roofline of a run");
    if (st == LAB_OK)
        st = lab_ceiling_device_of_run(db, run, &r.device);
    if (st == LAB_OK)
        st = lab_device_floor(db, &r.device, &r.floor_ns, &r.launch_ns);
    if (st == LAB_OK) {
        st = lab_run_gpu_read(db, run, LAB_UNKNOWN, &gpu, name);
        if (st == LAB_OK)
            r.max_warps_per_sm = gpu.max_warps_per_sm;
        st = st == LAB_E_NOTFOUND ? LAB_OK : st;
    }
    if (st == LAB_OK)
        st = lab_time_sums_load(&r.sums, db, run, ~0u);
    if (st == LAB_OK)
        st = find_roofs(&r, db);
    if (st == LAB_OK)
        st = lab_counted_load(&r.counted, db, run);
    if (st == LAB_OK)
        st = make_rows(&r);
    if (st)
        lab_roofline_release(&r);
    else
        *out = r;
    return st;
}

static bool same_sum(const struct lab_time_sum *a, const struct lab_time_sum *b)
{
    return a->level == b->level && a->step_index == b->step_index &&
           a->phase_id == b->phase_id && same(a->name, b->name) &&
           same(a->variant, b->variant) && same(a->backend, b->backend) &&
           same(a->kernel, b->kernel);
}

void lab_roofline_bounds(const struct lab_roofline *r,
                         struct lab_time_sum *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < r->count; k++) {
            const struct lab_roofline_point *p = &r->rows[k].point;
            if (!same_sum(r->rows[k].sum, &items[i]))
                continue;
            items[i].of_roof = p->share;
            items[i].why = r->rows[k].sentence;
            items[i].bound = p->verdict == LAB_ROOFLINE_UNKNOWN
                                 ? NULL
                                 : lab_roofline_verdict_name(p->verdict);
            break;
        }
}

/* ---- columns of a list on the screen ---- */

static double median(const void *row)
{
    return ((const struct lab_roofline_row *)row)->sum->median_ns;
}

static double formula(const void *row)
{
    return lab_roofline_formula(row);
}

static double share(const void *row)
{
    return ((const struct lab_roofline_row *)row)->point.share;
}

static const char *share_text(const void *row, char *out, size_t cap)
{
    double v = share(row);
    return v > 0 && v < 0.0005 ? "<0.1 %" : lab_format_share(v, out, cap);
}

/* The texts of a row; NULL where there is none. */
#define TEXT(name_, value)                                                     \
    static const char *name_(const void *row, char *out, size_t cap)           \
    {                                                                          \
        const struct lab_roofline_row *r = row;                                \
        const char *text = value;                                              \
        (void)out;                                                             \
        (void)cap;                                                             \
        return text && text[0] ? text : NULL;                                  \
    }
TEXT(name_text, lab_roofline_name(r))
TEXT(phase_text, r->sum->phase)
TEXT(roof_text, lab_ceiling_name(r->point.roof))
TEXT(bound_text, lab_roofline_verdict_name(r->point.verdict))

#define FIELD(...)                                                             \
    {                                                                          \
        .kind = LAB_FIELD_REAL, __VA_ARGS__                                    \
    }
#define POINT(member)                                                          \
    .at = offsetof(struct lab_roofline_row, point) +                           \
          offsetof(struct lab_roofline_point, member)
#define LISTED LAB_LISTED

/* The first column is the sign of a point in the picture. */
static const struct lab_field fields[] = {
    FIELD(.text = name_text, .list = {1, "", 1, .as_given = true}),
    FIELD(.text = name_text, LISTED(2, "step", 14, 4, false, 0)),
    FIELD(.text = phase_text,
          .list = {3, "phase", 8, .as_given = true, .drop = {4}}),
    FIELD(.real = median, .show = LAB_SHOW_NS,
          LISTED(4, ">median", 9, 0, true, 3)),
    FIELD(.real = formula, .show = LAB_SHOW_RATIO,
          LISTED(5, ">FLOP/byte", 9, 0, true, 1)),
    FIELD(POINT(counted_intensity), .show = LAB_SHOW_RATIO,
          LISTED(6, ">counted", 8, 0, true, 6)),
    FIELD(POINT(flop_s), .show = LAB_SHOW_FLOP_S,
          LISTED(7, ">FLOP/s", 12, 0, true, 2)),
    FIELD(.text = roof_text, LISTED(8, "roof", 4, 0, false, 5)),
    FIELD(.real = share, .text = share_text,
          LISTED(9, ">of roof", 7, 0, true, 0)),
    FIELD(.text = bound_text, LISTED(10, "bound", 7, 0, false, 0)),
};
LAB_FIELDS_TABLE(lab_roofline_fields, lab_roofline_row);
