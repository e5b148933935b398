/* store/live.h -- the newest steps and kernels, without a database.
 *
 * A window of fixed size that the records pass on their way to the writer, so
 * that a screen can show the kernels of the step that has just run. Memory is
 * taken once. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "trace/metric.h"
#include "trace/record.h"

struct lab_live;

struct lab_live_limits {
    size_t kernels; /* 0: 4096 */
    size_t steps;   /* 0: 4096; steps of one iteration's schedule */
    size_t metrics; /* 0: 65536 counters' values */
};

LAB_C_BEGIN
/* limits NULL: the defaults. Errors: LAB_E_NOMEM. */
enum lab_status lab_live_new(struct lab_live **out,
                             const struct lab_live_limits *limits);
void lab_live_free(struct lab_live *live); /* NULL allowed */
/* A sink that notes step and kernel records and passes every record on to
 * `next`; next NULL: nowhere. Must not outlive the window or `next`'s user. */
struct lab_sink lab_live_tee(struct lab_live *live,
                             const struct lab_sink *next);
/* Copies the kernels of one execution, oldest first, at most `max`; returns
 * how many there are in the window. */
size_t lab_live_kernels(struct lab_live *live, int64_t exec,
                        struct lab_kernel_record *out, size_t max);
/* The last execution of the step at place `index`; false: none yet. A step
 * timed by CUPTI gets the sum of its kernels in the window as time_ns,
 * LAB_UNKNOWN as long as there are none or one has no time. */
bool lab_live_step(struct lab_live *live, int32_t index,
                   struct lab_step_record *out);
/* The hardware counters of one execution: of its kernel number
 * `ordinal`, or with LAB_UNKNOWN of all of them together. false: they were not
 * taken, or the window has lost them. */
bool lab_live_counters(struct lab_live *live, int64_t exec, int64_t ordinal,
                       struct lab_counters *out);
LAB_C_END
