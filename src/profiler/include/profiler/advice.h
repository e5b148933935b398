/* profiler/advice.h -- short rules about a kernel, each with its evidence.
 *
 * Pure functions over what is known of one kernel: its launch, its counters
 * where they were taken, its step's formula and the device. A rule without its facts
 * states nothing; no rule guesses. Thresholds are in advice.c
 * beside their reasons. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "profiler/sentence.h"
#include "trace/metric.h"

enum lab_advice_rule {
    LAB_ADVICE_LOW_OCCUPANCY, /* a resource holds the warps down */
    LAB_ADVICE_FEW_BLOCKS,    /* a fifth of the SMs or more are idle */
    LAB_ADVICE_TAIL,          /* the last wave is nearly empty */
    LAB_ADVICE_UNCOALESCED,   /* a warp's request is spread over memory */
    LAB_ADVICE_LAUNCH_BOUND,  /* launching takes longer than the work */
    LAB_ADVICE_MANY_LAUNCHES, /* the step is many short kernels */
    LAB_ADVICE_IDLE_TENSOR,   /* a product that tensor cores could do */
    LAB_ADVICE_SMALL_TILES,   /* operands are fetched again and again */
    LAB_ADVICE_COUNT
};

/* What is known. Unknown: NaN, LAB_UNKNOWN or false. */
struct lab_advice_facts {
    int64_t blocks; /* of the grid */
    int64_t sm_count;
    double occupancy_pct; /* theoretical */
    int occupancy_limit;  /* enum lab_occupancy_limit */
    int64_t active_blocks_per_sm;
    double time_ns;  /* of the kernel */
    double wall_ns;  /* of the whole step, as the host saw it */
    int64_t kernels; /* of the step */
    double flop;     /* of the step's formula, when it is one kernel */
    double bytes;    /* its tensors, each once */
    double peak_dram_bytes_s;
    bool fusable; /* another variant does more in one kernel */
    struct lab_counters counters;
};

struct lab_advice {
    enum lab_advice_rule rule;
    double weight; /* the share of the kernel's time that it may cost, 0..1 */
    struct lab_sentence evidence; /* the numbers */
    enum lab_sentence_id remedy;  /* what to try; it has no values */
};

LAB_C_BEGIN
void lab_advice_facts_init(struct lab_advice_facts *f); /* nothing is known */
/* Fills out[] with what applies, the weightiest first; returns how many, at
 * most LAB_ADVICE_COUNT. */
int lab_advise(const struct lab_advice_facts *f,
               struct lab_advice out[LAB_ADVICE_COUNT]);
/* "low-occupancy" ... */
const char *lab_advice_name(enum lab_advice_rule rule);
/* "low-occupancy: ... . Try ... ." */
void lab_advice_add(struct lab_str *out, const struct lab_advice *a);
LAB_C_END
