/* run_columns.c -- the columns of runs, steps and kernels on screens that list
 * them. */
#include "run_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "store/launch.h"
#include "trace/record.h"
#include "base/format.h"

/* The user pointer points at the variable that holds the rows, so that a
 * reload needs no new table. */

static int compare_text(const char *a, const char *b)
{
    return strcasecmp(a ? a : "", b ? b : "");
}

static void put_text(const char *text, char *out, size_t cap)
{
    snprintf(out, cap, "%s", text && text[0] ? text : LAB_NA);
}

static void put_number(double v, char *out, size_t cap)
{
    if (isnan(v))
        snprintf(out, cap, LAB_NA);
    else
        lab_format_value(v, 8, out, cap);
}

enum {
    RUN_ID,
    RUN_LESSON,
    RUN_VARIANTS,
    RUN_BACKEND,
    RUN_DEVICE,
    RUN_STARTED,
    RUN_STATUS,
    RUN_ITERATIONS,
    RUN_MEDIAN,
    RUN_GPU,
    RUN_LOSS,
    RUN_ACCURACY,
    RUN_RATE,
    RUN_COLUMNS
};

static const struct lab_table_column RUN_TABLE[RUN_COLUMNS] = {
    [RUN_ID] = {"run", 5, 0, 0, true, true},
    [RUN_LESSON] = {"lesson", 14, 3, 0, false, false},
    [RUN_VARIANTS] = {"variants", 12, 1, 1, false, false},
    [RUN_BACKEND] = {"backend", 7, 0, 3, false, false},
    [RUN_DEVICE] = {"device", 16, 2, 8, false, false},
    [RUN_STARTED] = {"started", 16, 0, 2, false, true},
    [RUN_STATUS] = {"status", 11, 0, 0, false, false},
    [RUN_ITERATIONS] = {"iterations", 11, 0, 7, true, true},
    [RUN_MEDIAN] = {"median", 13, 0, 4, true, true},
    [RUN_GPU] = {"GPU time", 9, 0, 5, true, true},
    [RUN_LOSS] = {"loss", 8, 0, 0, true, false},
    [RUN_ACCURACY] = {"right", 7, 0, 6, true, true},
    [RUN_RATE] = {"samples/s", 10, 0, 9, true, true},
};

/* What one iteration took is no median of a run's. */
static void put_median(const struct lab_ui_run_row *r, char *out, size_t cap)
{
    char time[LAB_FORMAT_BYTES];
    bool first = r->iterations == 1 && !isnan(r->median_ns);
    lab_format_ns(r->median_ns, time, sizeof(time));
    snprintf(out, cap, "%s%s", first ? "first " : "", time);
}

const struct lab_sign lab_run_signs[] = {
    {"done", "it went as far as it was asked to"},
    {"cancelled", "stopped before that, by a key or a signal"},
    {"interrupted", "its program ended without a word: killed, or the machine "
                    "was switched off; what it had recorded is kept"},
    {"first 21.8 ms", "the wall time of the only iteration: on a GPU kernels "
                      "and libraries are loaded in it"},
    {"GPU time", "of an iteration's steps on the GPU, without the host's work"},
    {NULL, NULL}};

static void run_cell(const void *user, int64_t row, int column, char *out,
                     size_t cap, enum lab_role *role)
{
    const struct lab_ui_run_row *r =
        *(struct lab_ui_run_row *const *)user + row;
    switch (column) {
    case RUN_ID:
        snprintf(out, cap, "%" PRId64, r->run);
        break;
    case RUN_LESSON:
        put_text(r->lesson, out, cap);
        break;
    case RUN_VARIANTS:
        put_text(r->variants, out, cap);
        break;
    case RUN_BACKEND:
        put_text(r->backend, out, cap);
        break;
    case RUN_DEVICE:
        put_text(r->device, out, cap);
        break;
    case RUN_STARTED:
        put_text(r->started, out, cap);
        break;
    case RUN_STATUS:
        put_text(r->status, out, cap);
        if (strcmp(out, "failed") == 0)
            *role = LAB_ROLE_BAD;
        else if (strcmp(out, "running") == 0)
            *role = LAB_ROLE_GOOD;
        break;
    case RUN_ITERATIONS:
        lab_format_int(r->iterations, out, cap);
        break;
    case RUN_MEDIAN:
        put_median(r, out, cap);
        break;
    case RUN_GPU:
        lab_format_ns(r->gpu_ns, out, cap);
        break;
    case RUN_LOSS:
        put_number(r->loss_last, out, cap);
        break;
    case RUN_ACCURACY:
        lab_format_share(r->accuracy, out, cap);
        break;
    default:
        put_number(r->samples_per_s, out, cap);
    }
    if (strcmp(out, LAB_NA) == 0)
        *role = LAB_ROLE_DIM;
}

static int run_compare(const void *user, int64_t a, int64_t b, int column,
                       bool turned)
{
    const struct lab_ui_run_row *rows = *(struct lab_ui_run_row *const *)user;
    const struct lab_ui_run_row *p = rows + a;
    const struct lab_ui_run_row *q = rows + b;
    switch (column) {
    case RUN_ID:
        return lab_table_compare_int(p->run, q->run, turned);
    case RUN_LESSON:
        return compare_text(p->lesson, q->lesson);
    case RUN_VARIANTS:
        return compare_text(p->variants, q->variants);
    case RUN_BACKEND:
        return compare_text(p->backend, q->backend);
    case RUN_DEVICE:
        return compare_text(p->device, q->device);
    case RUN_STARTED:
        return compare_text(p->started, q->started);
    case RUN_STATUS:
        return compare_text(p->status, q->status);
    case RUN_ITERATIONS:
        return lab_table_compare_int(p->iterations, q->iterations, turned);
    case RUN_MEDIAN:
        return lab_table_compare_double(p->median_ns, q->median_ns, turned);
    case RUN_GPU:
        return lab_table_compare_double(p->gpu_ns, q->gpu_ns, turned);
    case RUN_LOSS:
        return lab_table_compare_double(p->loss_last, q->loss_last, turned);
    case RUN_ACCURACY:
        return lab_table_compare_double(p->accuracy, q->accuracy, turned);
    default:
        return lab_table_compare_double(p->samples_per_s, q->samples_per_s,
                                        turned);
    }
}

const struct lab_table_ops lab_run_columns = {RUN_TABLE, RUN_COLUMNS, run_cell,
                                              run_compare};

enum {
    STEP_INDEX,
    STEP_NAME,
    STEP_PHASE,
    STEP_VARIANT,
    STEP_BACKEND,
    STEP_MEDIAN,
    STEP_SPREAD,
    STEP_MIN,
    STEP_COUNT,
    STEP_FLOPS,
    STEP_RATE,
    STEP_KERNELS,
    STEP_ACHIEVED,
    STEP_DRAM,
    STEP_COUNTED,
    STEP_COLUMNS
};

#define STEP_COMMON                                                            \
    [STEP_INDEX] = {"#", 4, 0, 6, true, false}, [STEP_NAME] = {"step", 16,     \
                                                               4,      0,      \
                                                               false,  false}, \
    [STEP_PHASE] = {"phase", 8, 0, 0, false, false},                           \
    [STEP_VARIANT] = {"variant", 8, 1, 1, false, false},                       \
    [STEP_BACKEND] = {"backend", 7, 0, 9, false, false},                       \
    [STEP_MEDIAN] = {"median", 9, 0, 0, true, true},                           \
    [STEP_SPREAD] = {"spread", 9, 0, 5, true, true},                           \
    [STEP_MIN] = {"min", 9, 0, 8, true, true}, [STEP_COUNT] = {"times", 7,     \
                                                               0,       7,     \
                                                               true,    true}, \
    [STEP_FLOPS] = {"FLOP/s", 12, 0, 2, true, true}, [STEP_RATE] = {"bytes/s", \
                                                                    10,        \
                                                                    0,         \
                                                                    3,         \
                                                                    true,      \
                                                                    true},     \
    [STEP_KERNELS] = {"kernels", 7, 0, 4, true, true},
static const struct lab_table_column STEP_TABLE[STEP_COLUMNS] = {
    STEP_COMMON[STEP_ACHIEVED] = {"achieved", 8, 0, 10, true, true},
    [STEP_DRAM] = {"DRAM", 9, 0, 11, true, true},
    [STEP_COUNTED] = {"counted", 11, 0, 12, true, true},
};
/* Where counters were taken they go last when the screen is narrow. */
static const struct lab_table_column STEP_COUNTED_TABLE[STEP_COLUMNS] = {
    STEP_COMMON[STEP_ACHIEVED] = {"achieved", 8, 0, 2, true, true},
    [STEP_DRAM] = {"DRAM", 9, 0, 4, true, true},
    [STEP_COUNTED] = {"counted", 11, 0, 3, true, true},
};

static void step_number(const struct lab_ui_step_row *r, int column, char *out,
                        size_t cap)
{
    switch (column) {
    case STEP_INDEX:
        lab_format_int(r->index, out, cap);
        break;
    case STEP_MEDIAN:
        lab_format_ns(r->median_ns, out, cap);
        break;
    case STEP_SPREAD:
        lab_format_ns(r->spread_ns, out, cap);
        break;
    case STEP_MIN:
        lab_format_ns(r->min_ns, out, cap);
        break;
    case STEP_COUNT:
        lab_format_int(r->count, out, cap);
        break;
    case STEP_FLOPS:
        lab_format_flops(r->flop, r->median_ns, out, cap);
        break;
    case STEP_RATE:
        lab_format_rate(r->bytes, r->median_ns, out, cap);
        break;
    case STEP_ACHIEVED:
        lab_format_share(r->achieved, out, cap);
        break;
    case STEP_DRAM:
        lab_format_bytes(r->dram_bytes, out, cap);
        break;
    case STEP_COUNTED:
        lab_format_flop(r->counted_flop, out, cap);
        break;
    default:
        lab_format_int(r->kernels, out, cap);
    }
}

static void step_cell(const void *user, int64_t row, int column, char *out,
                      size_t cap, enum lab_role *role)
{
    const struct lab_ui_step_row *r =
        *(struct lab_ui_step_row *const *)user + row;
    switch (column) {
    case STEP_NAME:
        put_text(r->name, out, cap);
        break;
    case STEP_PHASE:
        put_text(r->phase, out, cap);
        break;
    case STEP_VARIANT:
        put_text(r->variant, out, cap);
        break;
    case STEP_BACKEND:
        put_text(r->backend, out, cap);
        break;
    default:
        step_number(r, column, out, cap);
    }
    if (strcmp(out, LAB_NA) == 0)
        *role = LAB_ROLE_DIM;
}

static double per_ns(double work, double ns)
{
    return ns > 0 ? work / ns : NAN;
}

static int step_compare(const void *user, int64_t a, int64_t b, int column,
                        bool turned)
{
    const struct lab_ui_step_row *rows = *(struct lab_ui_step_row *const *)user;
    const struct lab_ui_step_row *p = rows + a;
    const struct lab_ui_step_row *q = rows + b;
    switch (column) {
    case STEP_INDEX:
        return lab_table_compare_int(p->index, q->index, turned);
    case STEP_NAME:
        return compare_text(p->name, q->name);
    case STEP_PHASE: /* forward, loss, backward, update: as they run */
        return lab_table_compare_int(p->index, q->index, turned);
    case STEP_VARIANT:
        return compare_text(p->variant, q->variant);
    case STEP_BACKEND:
        return compare_text(p->backend, q->backend);
    case STEP_MEDIAN:
        return lab_table_compare_double(p->median_ns, q->median_ns, turned);
    case STEP_SPREAD:
        return lab_table_compare_double(p->spread_ns, q->spread_ns, turned);
    case STEP_MIN:
        return lab_table_compare_double(p->min_ns, q->min_ns, turned);
    case STEP_COUNT:
        return lab_table_compare_int(p->count, q->count, turned);
    case STEP_FLOPS:
        return lab_table_compare_double(per_ns(p->flop, p->median_ns),
                                        per_ns(q->flop, q->median_ns), turned);
    case STEP_RATE:
        return lab_table_compare_double(per_ns(p->bytes, p->median_ns),
                                        per_ns(q->bytes, q->median_ns), turned);
    case STEP_ACHIEVED:
        return lab_table_compare_double(p->achieved, q->achieved, turned);
    case STEP_DRAM:
        return lab_table_compare_double(p->dram_bytes, q->dram_bytes, turned);
    case STEP_COUNTED:
        return lab_table_compare_double(p->counted_flop, q->counted_flop,
                                        turned);
    default:
        return lab_table_compare_int(p->kernels, q->kernels, turned);
    }
}

const struct lab_table_ops lab_step_counted_columns = {
    STEP_COUNTED_TABLE, STEP_COLUMNS, step_cell, step_compare};
const struct lab_table_ops lab_step_columns = {STEP_TABLE, STEP_COLUMNS,
                                               step_cell, step_compare};

enum {
    KERNEL_NAME,
    KERNEL_STEP,
    KERNEL_PHASE,
    KERNEL_MEDIAN,
    KERNEL_COUNT,
    KERNEL_GRID,
    KERNEL_BLOCK,
    KERNEL_REGISTERS,
    KERNEL_SHARED,
    KERNEL_OCCUPANCY,
    KERNEL_LIMIT,
    KERNEL_ACHIEVED,
    KERNEL_DRAM,
    KERNEL_COUNTED,
    KERNEL_COLUMNS
};

/* The larger its number, the sooner a column goes where the screen is narrow:
 * for the columns of which lists differ it is an argument. */
#define KERNEL_COMMON(step, phase, block, shared)                              \
    [KERNEL_NAME] = {"kernel", 20, 4, 0, false, false},                        \
    [KERNEL_STEP] = {"step", 14, 1, step, false, false},                       \
    [KERNEL_PHASE] = {"phase", 8, 0, phase, false, false},                     \
    [KERNEL_MEDIAN] = {"median", 9, 0, 0, true, true},                         \
    [KERNEL_COUNT] = {"times", 7, 0, 8, true, true},                           \
    [KERNEL_GRID] = {"grid", 9, 0, 2, true, true}, [KERNEL_BLOCK] = {"block",  \
                                                                     8,        \
                                                                     0,        \
                                                                     block,    \
                                                                     true,     \
                                                                     true},    \
    [KERNEL_REGISTERS] = {"regs", 4, 0, 3, true, true},                        \
    [KERNEL_SHARED] = {"shared", 8, 0, shared, true, true},                    \
    [KERNEL_OCCUPANCY] = {"occup.", 7, 0, 1, true, true},                      \
    [KERNEL_LIMIT] = {"limited by", 10, 1, 6, false, false}
#define KERNEL_COUNTERS(achieved, dram, counted)                               \
    [KERNEL_ACHIEVED] = {"achieved", 8, 0, achieved, true, true},              \
    [KERNEL_DRAM] = {"DRAM", 9, 0, dram, true, true},                          \
    [KERNEL_COUNTED] = {"counted", 11, 0, counted, true, true}
/* The heading names the step of the listed kernels. */
#define KERNEL_OF_STEP KERNEL_COMMON(7, 12, 2, 4)
/* Whose a kernel is comes before its block. */
#define KERNEL_OF_ALL KERNEL_COMMON(0, 1, 4, 5)
static const struct lab_table_column KERNEL_TABLE[KERNEL_COLUMNS] = {
    KERNEL_OF_STEP, KERNEL_COUNTERS(9, 10, 11)};
static const struct lab_table_column KERNEL_COUNTED_TABLE[KERNEL_COLUMNS] = {
    KERNEL_OF_STEP, KERNEL_COUNTERS(1, 4, 3)};
static const struct lab_table_column KERNEL_ALL_TABLE[KERNEL_COLUMNS] = {
    KERNEL_OF_ALL, KERNEL_COUNTERS(9, 10, 11)};
static const struct lab_table_column KERNEL_ALL_COUNTED_TABLE[KERNEL_COLUMNS] =
    {KERNEL_OF_ALL, KERNEL_COUNTERS(1, 6, 5)};

static void kernel_number(const struct lab_ui_kernel_row *r, int column,
                          char *out, size_t cap)
{
    bool shared = r->shared_bytes != LAB_UNKNOWN;
    switch (column) {
    case KERNEL_MEDIAN:
        lab_format_ns(r->median_ns, out, cap);
        break;
    case KERNEL_COUNT:
        lab_format_int(r->count, out, cap);
        break;
    case KERNEL_GRID:
        lab_format_dims(r->grid, out, cap);
        break;
    case KERNEL_BLOCK:
        lab_format_dims(r->block, out, cap);
        break;
    case KERNEL_REGISTERS:
        lab_format_int(r->registers, out, cap);
        break;
    case KERNEL_SHARED:
        lab_format_bytes(shared ? (double)r->shared_bytes : NAN, out, cap);
        break;
    case KERNEL_OCCUPANCY:
        lab_format_share(r->occupancy, out, cap);
        break;
    case KERNEL_ACHIEVED:
        lab_format_share(r->achieved, out, cap);
        break;
    case KERNEL_DRAM:
        lab_format_bytes(r->dram_bytes, out, cap);
        break;
    default:
        lab_format_flop(r->counted_flop, out, cap);
    }
}

static void kernel_cell(const void *user, int64_t row, int column, char *out,
                        size_t cap, enum lab_role *role)
{
    const struct lab_ui_kernel_row *r =
        *(struct lab_ui_kernel_row *const *)user + row;
    switch (column) {
    case KERNEL_NAME:
        put_text(r->name, out, cap);
        break;
    case KERNEL_STEP:
        put_text(r->step, out, cap);
        break;
    case KERNEL_PHASE:
        put_text(r->phase, out, cap);
        break;
    case KERNEL_LIMIT:
        put_text(r->limit, out, cap);
        break;
    default:
        kernel_number(r, column, out, cap);
    }
    if (strcmp(out, LAB_NA) == 0)
        *role = LAB_ROLE_DIM;
}

static int kernel_compare(const void *user, int64_t a, int64_t b, int column,
                          bool turned)
{
    const struct lab_ui_kernel_row *rows =
        *(struct lab_ui_kernel_row *const *)user;
    const struct lab_ui_kernel_row *p = rows + a;
    const struct lab_ui_kernel_row *q = rows + b;
    switch (column) {
    case KERNEL_NAME:
        return compare_text(p->name, q->name);
    case KERNEL_STEP:
        return compare_text(p->step, q->step);
    case KERNEL_PHASE: /* as they ran */
        return lab_table_compare_int(p->place, q->place, turned);
    case KERNEL_MEDIAN:
        return lab_table_compare_double(p->median_ns, q->median_ns, turned);
    case KERNEL_COUNT:
        return lab_table_compare_int(p->count, q->count, turned);
    case KERNEL_GRID:
        return lab_table_compare_int(lab_launch_size(p->grid),
                                     lab_launch_size(q->grid), turned);
    case KERNEL_BLOCK:
        return lab_table_compare_int(lab_launch_size(p->block),
                                     lab_launch_size(q->block), turned);
    case KERNEL_REGISTERS:
        return lab_table_compare_int(p->registers, q->registers, turned);
    case KERNEL_SHARED:
        return lab_table_compare_int(p->shared_bytes, q->shared_bytes, turned);
    case KERNEL_OCCUPANCY:
        return lab_table_compare_double(p->occupancy, q->occupancy, turned);
    case KERNEL_ACHIEVED:
        return lab_table_compare_double(p->achieved, q->achieved, turned);
    case KERNEL_DRAM:
        return lab_table_compare_double(p->dram_bytes, q->dram_bytes, turned);
    case KERNEL_COUNTED:
        return lab_table_compare_double(p->counted_flop, q->counted_flop,
                                        turned);
    default:
        return compare_text(p->limit, q->limit);
    }
}

const struct lab_table_ops lab_kernel_columns = {KERNEL_TABLE, KERNEL_COLUMNS,
                                                 kernel_cell, kernel_compare};
const struct lab_table_ops lab_kernel_counted_columns = {
    KERNEL_COUNTED_TABLE, KERNEL_COLUMNS, kernel_cell, kernel_compare};
const struct lab_table_ops lab_kernel_all_columns = {
    KERNEL_ALL_TABLE, KERNEL_COLUMNS, kernel_cell, kernel_compare};
const struct lab_table_ops lab_kernel_all_counted_columns = {
    KERNEL_ALL_COUNTED_TABLE, KERNEL_COLUMNS, kernel_cell, kernel_compare};
