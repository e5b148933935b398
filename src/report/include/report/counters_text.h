/* ui/counters_text.h -- hardware counters in words, beside what the formulas
 * say. Pure functions, no curses. Threads: any. */
#pragma once
#include <stdbool.h>
#include "trace/metric.h"

/* What the counters are compared with; unknown: NaN. */
struct lab_counters_beside {
    double occupancy_pct; /* theoretical */
    double flop;          /* by the step's formula */
    double bytes;         /* every input once, every output once */
    bool update;          /* an optimizer's step */
};

/* One line: a short name and its text; both for the call only. */
typedef void lab_counters_line_fn(void *user, const char *name,
                                  const char *text);

LAB_C_BEGIN
/* A line for everything that is known. */
void lab_counters_lines(const struct lab_counters *c,
                        const struct lab_counters_beside *beside,
                        lab_counters_line_fn *each, void *user);
/* Why the counted work is not that of the formula, the usual reasons; "" where
 * the two agree within 1 %. `update`: of an optimizer's step. */
const char *lab_counters_flop_reason(const struct lab_counters *c, double flop,
                                     bool update);
LAB_C_END
