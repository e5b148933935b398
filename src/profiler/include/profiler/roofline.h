/* profiler/roofline.h -- a step or a kernel under the roofs of a
 * device, and what limits it.
 *
 * With intensity I = flop / bytes a device can do at most
 * min(arithmetic, I * memory) (Williams, Waterman, Patterson: Roofline, 2009).
 * The roofs are enum lab_ceiling's, measured or a data sheet's: the caller
 * knows which. Pure functions; unknown is NaN, LAB_UNKNOWN, or
 * LAB_CEILING_COUNT for a ceiling. Threads: any. */
#pragma once
#include "engine/backend.h"
#include "profiler/sentence.h"
#include "trace/metric.h"

/* At this share of a roof and above the roof is what bounds. Nsight Compute's
 * speed-of-light rule draws the line there too. */
#define LAB_ROOFLINE_BOUND 0.6
/* More than this share of the memory's roof cannot come from memory. */
#define LAB_ROOFLINE_ABOVE 1.05
/* From this share of a roof on there is nothing to gain but by other work. */
#define LAB_ROOFLINE_AT 0.9
/* The shortest kernel of a device is its floor, unless it is longer than this:
 * then it has work to do (an empty one takes 0.8 to 1.5 us on every GPU that
 * was measured; docs/measurements.md). */
#define LAB_ROOFLINE_FLOOR_NS 2000
/* The words that a learner may predict with; lab_roofline_verdict_find(). */
#define LAB_ROOFLINE_WORDS "memory, compute or latency"

enum lab_roofline_verdict {
    LAB_ROOFLINE_UNKNOWN,
    LAB_ROOFLINE_MEMORY,
    LAB_ROOFLINE_COMPUTE,
    LAB_ROOFLINE_CACHE,
    LAB_ROOFLINE_LAUNCH,
    LAB_ROOFLINE_LATENCY,
    LAB_ROOFLINE_VERDICTS
};

/* What is known of a step, or of one launch of a kernel. */
struct lab_roofline_work {
    bool gpu;
    double time_ns; /* median */
    double flop;    /* by the formula */
    double bytes;   /* every input once, every output once */
    struct lab_counters counted;
    double occupancy_pct; /* theoretical, of an SM that is full of blocks */
    int64_t blocks;       /* of the grid, of several kernels of the largest */
    int64_t threads_per_block;
    int64_t sm_count;
    int64_t max_warps_per_sm;
    int64_t kernels;             /* launches in it; LAB_UNKNOWN or 0: none */
    enum lab_ceiling arithmetic; /* of the run's precision */
    /* What no kernel of the device goes below (on a processor: no step), as it
     * was measured: lab_device_floor(). NaN or not positive: unknown. */
    double floor_ns;
    /* What its kernels take together, where `time_ns` is between two events of
     * the host and the kernels were traced apart; else NaN. */
    double kernels_ns;
    /* What the shortest variant of a lab takes between two events on the device,
     * launch and all: lab_device_floor(); NaN. */
    double launch_ns;
    /* Bytes that it reads and writes itself where they are more than `bytes`:
     * scores between two products. By its model, which knows no cache; NaN. */
    double own_bytes;
    bool library;         /* its kernel is a library's, not to be read */
    bool fusable;         /* another variant does more in one kernel */
    bool other_algorithm; /* it needs fewer FLOPs than the formula counts */
    bool one_address;     /* every thread adds to the same one */
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
    double each_ns;              /* of a launch */
    double floor_ns;             /* the work's, where it can be one; else NaN */
    enum lab_roofline_verdict verdict;
};

LAB_C_BEGIN
/* "memory", "compute", "cache", "launch", "latency"; "": unknown. */
const char *lab_roofline_verdict_name(enum lab_roofline_verdict verdict);
/* What the word means: "memory-bound: ..."; "": unknown. */
const char *lab_roofline_verdict_text(enum lab_roofline_verdict verdict);
/* By its first letters, three at least, in any case; "arithmetic" is "compute".
 * LAB_ROOFLINE_UNKNOWN: no such word. */
enum lab_roofline_verdict lab_roofline_verdict_find(const char *word);
/* Of the warps that an SM with blocks can hold, how many this grid can bring at
 * most: a grid of one block of 8 warps 12.5 %, whatever else would fit. NaN:
 * unknown. */
double lab_roofline_grid_occupancy(const struct lab_roofline_work *work);
/* "fp32" ... to a ceiling; LAB_CEILING_COUNT: none. NULL allowed. */
enum lab_ceiling lab_roofline_precision(const char *name);
/* per_s[LAB_CEILING_ROOFS]: the roofs; NaN or not positive: unknown. Always
 * fills all of *out. */
void lab_roofline_place(struct lab_roofline_point *out,
                        const struct lab_roofline_work *work,
                        const double *per_s);
/* What bounds it, with its evidence and what would help: two or three
 * sentences. */
void lab_roofline_state(struct lab_sentences *out,
                        const struct lab_roofline_work *work,
                        const struct lab_roofline_point *point,
                        const double *per_s);
LAB_C_END
