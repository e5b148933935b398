/* profiler/roofline.h -- where a step or a kernel stands under the roofs of a
 * device, and what holds it back.
 *
 * With intensity I = flop / bytes a device can do at most
 * min(arithmetic, I * memory) (Williams, Waterman, Patterson: Roofline, 2009).
 * The roofs are enum lab_ceiling's, measured or a data sheet's: the caller
 * knows which. Pure functions; unknown is NaN, LAB_UNKNOWN, or
 * LAB_CEILING_COUNT for a ceiling. Threads: any. */
#pragma once
#include "base/str.h"
#include "engine/backend.h"
#include "trace/metric.h"

/* At this share of a roof and above the roof is what bounds; below it waiting
 * does. Nsight Compute's speed-of-light rule draws the line there too. */
#define LAB_ROOFLINE_BOUND 0.6
/* More than this share of the memory's roof cannot come from memory. */
#define LAB_ROOFLINE_ABOVE 1.05
/* From this share of a roof on there is nothing to gain but by other work. */
#define LAB_ROOFLINE_AT 0.9
/* An empty kernel's start and end take no longer on any GPU that is supported:
 * a run whose shortest kernel takes longer does not show them. */
#define LAB_ROOFLINE_FLOOR_NS 2000

enum lab_roofline_verdict {
    LAB_ROOFLINE_UNKNOWN,
    LAB_ROOFLINE_MEMORY,
    LAB_ROOFLINE_COMPUTE,
    LAB_ROOFLINE_CACHE,   /* faster than memory could feed it */
    LAB_ROOFLINE_NEITHER, /* waiting: launches, latency, idle SMs */
    LAB_ROOFLINE_VERDICTS
};

/* What is known of a step, or of one launch of a kernel. */
struct lab_roofline_work {
    bool gpu;
    double time_ns; /* median */
    double flop;    /* by the formula */
    double bytes;   /* every input once, every output once */
    struct lab_counters counted;
    double occupancy_pct; /* theoretical */
    int64_t blocks;       /* of the grid */
    int64_t sm_count;
    int64_t kernels;             /* launches in it; LAB_UNKNOWN or 0: none */
    enum lab_ceiling arithmetic; /* of the run's precision */
    /* The shortest kernel of the same run, which is what starting and ending
     * one takes; NaN or not positive: unknown. */
    double floor_ns;
    bool library;         /* its kernel is a library's, not to be read */
    bool fusable;         /* another variant does more in one kernel */
    bool other_algorithm; /* it needs fewer FLOPs than the formula counts */
};

struct lab_roofline_point {
    double flop;          /* that `flop_s` is of: the formula's, else counted */
    double bytes;         /* the same */
    double intensity;     /* FLOPs a byte, of those two */
    double counted_flop;  /* unknown where a part was not counted */
    double counted_least; /* what was counted, be it all or not */
    double dram_bytes;    /* counted, read and written */
    double counted_intensity;
    double flop_s; /* achieved */
    double bytes_s;
    enum lab_ceiling arithmetic; /* the kind of arithmetic that it does */
    enum lab_ceiling roof;       /* which one is above the point */
    double roof_per_s;           /* of that one, in its unit */
    double allowed_flop_s;       /* min of both roofs at this intensity */
    double share;                /* of the roof, 0 .. 1 and sometimes more */
    double best_ns;              /* the shortest time the roofs allow */
    enum lab_roofline_verdict verdict;
};

LAB_C_BEGIN
/* "memory", "compute", "cache", "latency"; "": unknown. */
const char *lab_roofline_verdict_name(enum lab_roofline_verdict verdict);
/* "fp32" ... to a ceiling; LAB_CEILING_COUNT: none. NULL allowed. */
enum lab_ceiling lab_roofline_precision(const char *name);
/* per_s[LAB_CEILING_ROOFS]: the roofs; NaN or not positive: unknown. Always
 * fills all of *out. */
void lab_roofline_place(struct lab_roofline_point *out,
                        const struct lab_roofline_work *work,
                        const double *per_s);
/* What bounds it, with its evidence and what would help: two or three
 * sentences. */
void lab_roofline_say(struct lab_str *out, const struct lab_roofline_work *work,
                      const struct lab_roofline_point *point,
                      const double *per_s);
/* "3.91 TB/s", "41.2 TFLOP/s": `unit` with a prefix of a thousand each. */
void lab_roofline_rate(double per_s, const char *unit, char out[32]);
LAB_C_END
