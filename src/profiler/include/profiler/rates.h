/* profiler/rates.h -- how fast a step was, and how far from the chip's limit.
 *
 * Pure functions. A number that cannot be known is NaN. The limit is the
 * roofline: with I = flop / bytes, a chip can do at most
 * min(peak_flops, I * peak_bytes_s). Threads: any. */
#pragma once
#include <stdint.h>
#include "base/status.h"

enum lab_bound {
    LAB_BOUND_UNKNOWN,
    LAB_BOUND_COMPUTE, /* I at or above the ridge */
    LAB_BOUND_MEMORY,  /* I below it, or no arithmetic at all */
    LAB_BOUND_COUNT
};

struct lab_rates {
    double flop_s;
    double bytes_s;
    double gflop_s;
    double gbyte_s;       /* 1e9 bytes */
    double intensity;     /* flop per byte */
    double ridge;         /* intensity at which both limits meet */
    double flop_pct;      /* of the peak arithmetic rate */
    double bandwidth_pct; /* of the peak memory rate */
    double roof_pct;      /* of what the roofline allows at this intensity */
    double best_ns;       /* the shortest time the roofline allows */
    enum lab_bound bound;
};

LAB_C_BEGIN
/* flop, bytes: NaN or negative: unknown; 0 is a number (a copy has no flop).
 * time_ns: LAB_UNKNOWN or not positive: unknown. Peaks: not positive or NaN:
 * unknown. Always fills all of *out. */
void lab_rates_compute(struct lab_rates *out, double flop, double bytes,
                       int64_t time_ns, double peak_flop_s,
                       double peak_bytes_s);
const char *lab_bound_name(enum lab_bound bound); /* "compute", "memory", "" */
LAB_C_END
