/* trace/metric.h -- hardware counters by name: what is asked for, and what the
 * answers mean.
 *
 * Names are CUPTI's, which are ncu's. A chip that does not know one is asked
 * for the rest; the figures made of it are then unknown. A simulation counts under
 * the same names; what it counts of PTX alone has a name of its own. Pure functions
 * and constant tables. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"

/* What the name of a counter begins with that only a simulation has. */
#define LAB_COUNTER_SIM "sim__ptx_"

enum lab_counter_set {
    LAB_COUNTERS_OFF,
    LAB_COUNTERS_BASIC, /* time, occupancy, DRAM bytes, FLOPs, IPC: few passes
                         */
    LAB_COUNTERS_FULL,  /* also speed of light, caches, every data type */
    LAB_COUNTERS_COUNT
};

enum { LAB_MAX_METRICS = 48 };

/* The counters of one kernel, or the sums of a step's kernels. Unknown: NaN. */
struct lab_counters {
    double time_ns;
    double achieved_occupancy_pct; /* of the warps that a busy SM can hold */
    double dram_read_bytes;
    double dram_write_bytes;
    double
        fp16_flop; /* on the ordinary lanes; a fused multiply-add is two. NaN also
                       * where HFMA2 alone was counted: it may load constants */
    double fp16_fma_flop; /* the part of HFMA2 */
    double fp32_flop;
    double fp64_flop;
    double tensor_flop; /* of all data types that are known: */
    double tf32_flop;
    double bf16_flop;
    double fp16_tensor_flop;
    double fp64_tensor_flop;
    double ipc; /* instructions a cycle of a busy SM */
    double tensor_active_pct;
    double tensor_inst; /* warps' instructions on tensor cores, floating-point;
                           0: their FLOPs are 0, and known */
    double sm_pct;      /* speed of light of the SMs */
    double memory_pct;  /* ... and of the memory system */
    double dram_pct;
    double l1_hit_pct;
    double l2_hit_pct;
    double sectors_per_load; /* 32-byte sectors a global load of a warp: 4 when
                                32 floats are adjacent */
    double sectors_per_store;
    double load_requests; /* of warps to global memory */
    double load_sectors;
    double store_requests;
    double store_sectors;
    double shared_wavefronts; /* passes through shared memory */
    double bank_conflicts;    /* those beyond the least that were needed */
    double warp_inst;         /* of PTX, from here on: a simulation's */
    double thread_inst;
    double lanes_per_inst; /* that a warp's instruction has active, of 32 */
    double divergent_branches;
    double shared_requests;
    double atomics;
    double barriers;
};

LAB_C_BEGIN
/* "off", "basic", "full"; find: LAB_COUNTERS_COUNT when there is none. */
const char *lab_counter_set_name(enum lab_counter_set set);
enum lab_counter_set lab_counter_set_find(const char *name);
/* The metrics to ask for, constant; returns how many (<= LAB_MAX_METRICS). */
int lab_counter_metrics(enum lab_counter_set set, const char *const **names);
/* What the tensor cores computed, by data type: to be asked for where a set's
 * `tensor_inst` is not 0, or not known. */
int lab_counter_tensor_metrics(const char *const **names);

void lab_counters_init(struct lab_counters *c); /* everything unknown */
/* Does the member at that offset grow with the work? All else is a share, or a
 * figure of each. */
bool lab_counter_is_sum(size_t at);
/* Does only a simulation count it? */
bool lab_counter_is_simulated(const char *metric);
/* All floating-point work, wherever it ran: the sum of what is known. */
double lab_counters_flop(const struct lab_counters *c);
/* The same beside what a formula gives: unknown where it is less by more than
 * 1 % and double or half precision was not counted, for that may be the rest.
 */
double lab_counters_flop_beside(const struct lab_counters *c, double formula);
/* Makes one picture of the kernels of a step: sums are summed, shares are
 * averaged over the kernels' time. values[k * stride + m] is metric names[m] of
 * kernel k, m < n_metrics <= stride. A value that is NaN makes what it belongs
 * to unknown. */
void lab_counters_compute(struct lab_counters *out, const char *const *names,
                          int n_metrics, const double *values, int stride,
                          int n_kernels);
LAB_C_END
