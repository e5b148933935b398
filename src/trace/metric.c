/* metric.c -- which counters are asked for, and what their values mean.
 *
 * A set (`--counters basic`) is the names that NVIDIA's profiler gives its
 * metrics; from their values come FLOPs, bytes and shares of a kernel, and
 * those of a step from its kernels. The profiler asks for the names, store and
 * reports read the values. */
#include "trace/metric.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define INST "smsp__sass_thread_inst_executed_op_"
#define TENSOR "sm__ops_path_tensor_src_"
#define ACTIVE ".avg.pct_of_peak_sustained_active"
#define ELAPSED ".avg.pct_of_peak_sustained_elapsed"
#define LSU "_pipe_lsu_mem_global_op_"
/* Without _op_ld and _op_st they also count what is no access to shared memory. */
#define WAVEFRONTS "l1tex__data_pipe_lsu_wavefronts_mem_shared"
#define CONFLICTS "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
#define PIPE "sm__inst_executed_pipe_tensor_op_"

/* How the kernels' values become a step's figure. */
enum merge {
    SUM,   /* summed, times the weight */
    SHARE, /* averaged over the kernels' time */
    OVER,  /* summed, and divided by ... */
    UNDER  /* ... this sum */
};

/* name, field, weight, merge. The smaller set first: it is the beginning of the
 * larger one. */
#define BASIC_METRICS(X)                                                       \
    X("gpu__time_duration.sum", time_ns, 1, SUM)                               \
    X("sm__warps_active" ACTIVE, achieved_occupancy_pct, 1, SHARE)             \
    X("dram__bytes_read.sum", dram_read_bytes, 1, SUM)                         \
    X("dram__bytes_write.sum", dram_write_bytes, 1, SUM)                       \
    X(INST "fadd_pred_on.sum", fp32_flop, 1, SUM)                              \
    X(INST "fmul_pred_on.sum", fp32_flop, 1, SUM)                              \
    X(INST "ffma_pred_on.sum", fp32_flop, 2, SUM)                              \
    X("sm__inst_executed.avg.per_cycle_active", ipc, 1, SHARE)                 \
    X("sm__pipe_tensor_cycles_active" ACTIVE, tensor_active_pct, 1, SHARE)     \
    X(PIPE "hmma.sum", tensor_inst, 1, SUM)                                    \
    X(PIPE "hmma_type_hfma2.sum", tensor_inst, -1, SUM)                        \
    X(PIPE "gmma.sum", tensor_inst, 1, SUM)                                    \
    X(PIPE "dmma.sum", tensor_inst, 1, SUM)
#define FULL_METRICS(X)                                                        \
    X(INST "hadd_pred_on.sum", fp16_flop, 1, SUM)                              \
    X(INST "hmul_pred_on.sum", fp16_flop, 1, SUM)                              \
    X(INST "hfma_pred_on.sum", fp16_fma_flop, 2, SUM)                          \
    X(INST "dadd_pred_on.sum", fp64_flop, 1, SUM)                              \
    X(INST "dmul_pred_on.sum", fp64_flop, 1, SUM)                              \
    X(INST "dfma_pred_on.sum", fp64_flop, 2, SUM)                              \
    X("sm__throughput" ELAPSED, sm_pct, 1, SHARE)                              \
    X("gpu__compute_memory_throughput" ELAPSED, memory_pct, 1, SHARE)          \
    X("gpu__dram_throughput" ELAPSED, dram_pct, 1, SHARE)                      \
    X("l1tex__t_sector_hit_rate.pct", l1_hit_pct, 1, SHARE)                    \
    X("lts__t_sector_hit_rate.pct", l2_hit_pct, 1, SHARE)                      \
    X("l1tex__t_sectors" LSU "ld.sum", sectors_per_load, 1, OVER)              \
    X("l1tex__t_requests" LSU "ld.sum", sectors_per_load, 1, UNDER)            \
    X("l1tex__t_sectors" LSU "st.sum", sectors_per_store, 1, OVER)             \
    X("l1tex__t_requests" LSU "st.sum", sectors_per_store, 1, UNDER)           \
    X(WAVEFRONTS "_op_ld.sum", shared_wavefronts, 1, SUM)                      \
    X(WAVEFRONTS "_op_st.sum", shared_wavefronts, 1, SUM)                      \
    X(CONFLICTS "_op_ld.sum", bank_conflicts, 1, SUM)                          \
    X(CONFLICTS "_op_st.sum", bank_conflicts, 1, SUM)                          \
    X("smsp__thread_inst_executed.sum", lanes_per_inst, 1, OVER)               \
    X("smsp__inst_executed.sum", lanes_per_inst, 1, UNDER)
/* A pass each: they are counted where the tensor cores worked at all. (HFMA2, an
 * ordinary instruction that compilers like to load constants with, runs on their
 * pipe: its time alone does not show it.) Hopper has one count of fp16 products,
 * other chips one for each accumulator; a chip does not know the names of the
 * others. */
#define TENSOR_METRICS(X)                                                      \
    X(TENSOR "tf32_dst_fp32.sum", tf32_flop, 1, SUM)                           \
    X(TENSOR "bf16_dst_fp32.sum", bf16_flop, 1, SUM)                           \
    X(TENSOR "fp16.sum", fp16_tensor_flop, 1, SUM)                             \
    X(TENSOR "fp16_dst_fp32.sum", fp16_tensor_flop, 1, SUM)                    \
    X(TENSOR "fp16_dst_fp16.sum", fp16_tensor_flop, 1, SUM)                    \
    X(TENSOR "fp64.sum", fp64_tensor_flop, 1, SUM)

/* What else is made of the values; several have a second meaning here. A GPU is not
 * asked for those that are in no list above. */
#define MORE_METRICS(X)                                                        \
    X("l1tex__t_sectors" LSU "ld.sum", load_sectors, 1, SUM)                   \
    X("l1tex__t_requests" LSU "ld.sum", load_requests, 1, SUM)                 \
    X("l1tex__t_sectors" LSU "st.sum", store_sectors, 1, SUM)                  \
    X("l1tex__t_requests" LSU "st.sum", store_requests, 1, SUM)                \
    X(WAVEFRONTS ".sum", shared_wavefronts, 1, SUM)                            \
    X(CONFLICTS ".sum", bank_conflicts, 1, SUM)                                \
    X(LAB_COUNTER_SIM "inst_executed.sum", warp_inst, 1, SUM)                  \
    X(LAB_COUNTER_SIM "thread_inst_executed.sum", thread_inst, 1, SUM)         \
    X(LAB_COUNTER_SIM "thread_inst_executed.sum", lanes_per_inst, 1, OVER)     \
    X(LAB_COUNTER_SIM "inst_executed.sum", lanes_per_inst, 1, UNDER)           \
    X(LAB_COUNTER_SIM "divergent_branches.sum", divergent_branches, 1, SUM)    \
    X(LAB_COUNTER_SIM "shared_requests.sum", shared_requests, 1, SUM)          \
    X(LAB_COUNTER_SIM "atomics.sum", atomics, 1, SUM)                          \
    X(LAB_COUNTER_SIM "barriers.sum", barriers, 1, SUM)

#define COUNT(name, field, weight, merge) +1
#define NAME(name, field, weight, merge) name,
#define ROW(name, field, weight, merge)                                        \
    {name, offsetof(struct lab_counters, field), weight, merge},

enum {
    BASIC = 0 BASIC_METRICS(COUNT),
    FULL = BASIC FULL_METRICS(COUNT),
    METRICS = FULL TENSOR_METRICS(COUNT), /* that a GPU is asked for */
    MEANINGS = METRICS MORE_METRICS(COUNT)
};
_Static_assert((int)METRICS <= (int)LAB_MAX_METRICS, "room for every metric");

static const char *const metric_names[] = {
    BASIC_METRICS(NAME) FULL_METRICS(NAME) TENSOR_METRICS(NAME)};
static const struct metric {
    const char *name;
    size_t field;
    double weight;
    enum merge merge;
} metrics[] = {BASIC_METRICS(ROW) FULL_METRICS(ROW) TENSOR_METRICS(ROW)
                   MORE_METRICS(ROW)};

static const char *const set_names[] = {"off", "basic", "full"};

const char *lab_counter_set_name(enum lab_counter_set set)
{
    return set < LAB_COUNTERS_COUNT ? set_names[set] : "off";
}

enum lab_counter_set lab_counter_set_find(const char *name)
{
    int i = 0;
    while (i < LAB_COUNTERS_COUNT && strcmp(set_names[i], name) != 0)
        i++;
    return (enum lab_counter_set)i;
}

int lab_counter_metrics(enum lab_counter_set set, const char *const **names)
{
    *names = metric_names;
    return set == LAB_COUNTERS_FULL ? FULL : set ? BASIC : 0;
}

int lab_counter_tensor_metrics(const char *const **names)
{
    *names = metric_names + FULL;
    return METRICS - FULL;
}

/* ---- what the values mean ---- */

enum { FIELDS = sizeof(struct lab_counters) / sizeof(double) };

void lab_counters_init(struct lab_counters *c)
{
    double *field = (double *)c;
    for (int i = 0; i < FIELDS; i++)
        field[i] = NAN;
}

/* `sum` and the parts that are known; NaN without any. */
static double add_known(double sum, const double parts[4])
{
    for (int i = 0; i < 4; i++) {
        if (!isnan(parts[i]))
            sum = isnan(sum) ? parts[i] : sum + parts[i];
    }
    return sum;
}

double lab_counters_flop(const struct lab_counters *c)
{
    const double parts[] = {c->fp16_flop, c->fp32_flop, c->fp64_flop,
                            c->tensor_flop};
    return add_known(NAN, parts);
}

double lab_counters_flop_beside(const struct lab_counters *c, double formula)
{
    const double flop = lab_counters_flop(c);
    /* What HFMA2 may have computed, or loaded. */
    const double unclear = isnan(c->fp16_flop) ? c->fp16_fma_flop : 0;
    const bool all = !isnan(unclear) && !isnan(c->fp64_flop);
    const bool less = flop < 0.99 * formula;
    return less && (!all || (unclear > 0 && flop + unclear >= 0.99 * formula))
               ? (double)NAN
               : flop;
}

bool lab_counter_is_sum(size_t at)
{
    for (int i = 0; i < MEANINGS; i++)
        if (metrics[i].field == at && metrics[i].merge == SUM)
            return true;
    return at == offsetof(struct lab_counters, tensor_flop);
}

bool lab_counter_is_simulated(const char *metric)
{
    return strncmp(metric, LAB_COUNTER_SIM, strlen(LAB_COUNTER_SIM)) == 0;
}

/* Column m, summed: with `weights` (of the kernels) or without. */
static double column(const double *values, int stride, int m, int n_kernels,
                     const double *weights)
{
    double sum = 0;
    double weight = 0;
    for (int k = 0; k < n_kernels; k++) {
        double w = weights ? weights[(ptrdiff_t)k * stride] : 1;
        sum += w * values[(ptrdiff_t)k * stride + m];
        weight += w;
    }
    return weights ? sum / weight : sum;
}

/* Compilers load constants with HFMA2, which a GPU counts as FLOP in fp16: where it
 * counted no other instruction in fp16, whether these are FLOP is not known. What is
 * simulated is arithmetic. */
static double fp16_sum(const struct lab_counters *c)
{
    const bool moves = isnan(c->warp_inst) && c->fp16_flop == 0;
    if (isnan(c->fp16_fma_flop))
        return c->fp16_flop;
    return moves && c->fp16_fma_flop > 0 ? (double)NAN
                                         : c->fp16_flop + c->fp16_fma_flop;
}

/* The sum of those that are known. A pipe that never worked did none. */
static double tensor_sum(const struct lab_counters *c)
{
    const double parts[] = {c->tf32_flop, c->bf16_flop, c->fp16_tensor_flop,
                            c->fp64_tensor_flop};
    return add_known(c->tensor_inst == 0 ? 0 : NAN, parts);
}

/* What a metric's values mean: its rows of the table. */
struct computing {
    struct lab_counters *out;
    double under[FIELDS];
    bool ratio[FIELDS];
    bool asked[FIELDS];
};

static void add_meaning(struct computing *c, const struct metric *row,
                        double value)
{
    size_t f = row->field / sizeof(double);
    double *field = (double *)c->out + f;
    if (row->merge == UNDER) {
        c->ratio[f] = true;
        c->under[f] += value;
        return;
    }
    *field = value * row->weight + (c->asked[f] ? *field : 0);
    c->asked[f] = true;
}

void lab_counters_compute(struct lab_counters *out, const char *const *names,
                          int n_metrics, const double *values, int stride,
                          int n_kernels)
{
    const double *times = NULL; /* of the kernels; NULL: all count alike */
    struct computing c = {.out = out};
    lab_counters_init(out);
    for (int m = 0; m < n_metrics && n_kernels > 0; m++) {
        if (strcmp(names[m], metric_names[0]) == 0)
            times = values + m;
    }
    for (int m = 0; m < n_metrics && n_kernels > 0; m++)
        for (int i = 0; i < MEANINGS; i++)
            if (strcmp(names[m], metrics[i].name) == 0)
                add_meaning(&c, &metrics[i],
                            column(values, stride, m, n_kernels,
                                   metrics[i].merge == SHARE ? times : NULL));
    for (int f = 0; f < FIELDS; f++) {
        double *field = (double *)out + f;
        if (c.ratio[f]) /* no loads: no sectors a load */
            *field = c.under[f] > 0 ? *field / c.under[f] : NAN;
    }
    out->fp16_flop = fp16_sum(out);
    out->tensor_flop = tensor_sum(out);
}
