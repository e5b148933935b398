/* roofline.h -- the steps and kernels of a recorded run under the roofs of its
 * device: what the commands print and the screen draws. Threads: one. */
#pragma once
#include "profiler/roofline.h"
#include "store/ceilings.h"
#include "store/counted.h"
#include "store/row_fields.h"
#include "store/time_sum.h"

struct lab_roofline_row {
    const struct lab_time_sum *sum; /* of a step, or of a kernel in it */
    struct lab_roofline_work work;
    struct lab_roofline_point point;
    double time;    /* share of all steps', or all kernels', 0 to 1 */
    char *sentence; /* what bounds it */
    char *label;    /* of a lab: with variant, precision and size; NULL */
    const char *flop_reason; /* why counted FLOPs are not the formula's; "" */
};

struct lab_roofline {
    int64_t run;
    struct lab_ceiling_device device;
    char precision[64]; /* of a lab: all of them, "tf32, bf16" */
    char lesson[64];
    char counters[16];
    char *counters_reason; /* NULL: none */
    struct lab_roof roofs[LAB_CEILING_ROOFS];
    double per_s[LAB_CEILING_ROOFS]; /* FLOP or bytes a second of each */
    double floor_ns;                 /* lab_device_floor(); NaN */
    double launch_ns;
    int64_t sm_count;
    int64_t max_warps_per_sm;
    struct lab_roofline_row *rows; /* each step, then its kernels */
    size_t count;
    struct lab_time_sums sums; /* of all levels */
    struct lab_counted_run counted;
};

/* Of its rows, for a list on the screen. */
extern const struct lab_fields lab_roofline_fields;

/* Errors: LAB_E_NOTFOUND there is no such run; LAB_E_DB; LAB_E_NOMEM. */
enum lab_status lab_roofline_load(struct lab_roofline *out,
                                  struct lab_database *db, int64_t run);
void lab_roofline_release(struct lab_roofline *r);
/* The rows' `time`, which lab_roofline_load() has filled. */
void lab_roofline_times(struct lab_roofline *r);
/* Writes what bounds each of some steps or kernels of the same run; the
 * sentences are the roofline's. */
void lab_roofline_bounds(const struct lab_roofline *r,
                         struct lab_time_sum *items, size_t count);
bool lab_roofline_is_kernel(const struct lab_roofline_row *row);
/* A kernel's short name, a step's name, with what it is of in a lab; never
 * NULL. */
const char *lab_roofline_name(const struct lab_roofline_row *row);
/* FLOPs a byte by the formula; NaN where there is none, as of a kernel that
 * is under its roof by what was counted. */
double lab_roofline_formula(const struct lab_roofline_row *row);
/* Whether any ceiling was measured: on this device, by the run, or on another
 * device of its name. */
bool lab_roofline_measured(const struct lab_roofline *r);
