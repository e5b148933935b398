/* sim_trace.c -- the profiler's table for the backend "sim": each launch becomes a
 * kernel's record, with grid, block and shared memory, and without a time; and what
 * was counted in it the values of hardware counters, by their names. */
#include "profiler/gpu.h"

#include <stddef.h>
#include <stdio.h>

#include "engine/sim_backend.h"
#include "trace/intern.h"

enum { MOST_PUSHED = 32 };

/* Launches come from the thread that pushes. */
static struct {
    bool started;
    struct lab_gpu_sink sink;
    enum lab_gpu_records records;
    struct {
        int64_t exec;
        int64_t kernels; /* so far */
    } in[MOST_PUSHED];
    int pushed;
    struct lab_gpu_trace_stats stats;
} sim;

#define INST "smsp__sass_thread_inst_executed_op_"
#define TENSOR "sm__ops_path_tensor_src_"
#define LSU "_pipe_lsu_mem_global_op_"
/* The name is a hardware counter's where the definition is the same; where PTX
 * differs from the machine's own instructions it is LAB_COUNTER_SIM's
 * (trace/metric.h). */
static const struct {
    const char *metric;
    size_t at; /* in struct lab_sim_counts */
} counts[] = {
#define ROW(metric, count)                                                     \
    {                                                                          \
        metric, offsetof(struct lab_sim_counts, count)                         \
    }
    ROW(LAB_COUNTER_SIM "inst_executed.sum", warp_instructions),
    ROW(LAB_COUNTER_SIM "thread_inst_executed.sum", lane_instructions),
    ROW(LAB_COUNTER_SIM "divergent_branches.sum", divergent_branches),
    ROW(LAB_COUNTER_SIM "shared_requests.sum", shared_requests),
    ROW(LAB_COUNTER_SIM "atomics.sum", atomics),
    ROW(LAB_COUNTER_SIM "barriers.sum", barriers),
    ROW(INST "fadd_pred_on.sum", f32_adds),
    ROW(INST "fmul_pred_on.sum", f32_muls),
    ROW(INST "ffma_pred_on.sum", f32_fmas),
    ROW(INST "hadd_pred_on.sum", f16_adds),
    ROW(INST "hmul_pred_on.sum", f16_muls),
    ROW(INST "hfma_pred_on.sum", f16_fmas),
    ROW(INST "dadd_pred_on.sum", f64_adds),
    ROW(INST "dmul_pred_on.sum", f64_muls),
    ROW(INST "dfma_pred_on.sum", f64_fmas),
    ROW(TENSOR "tf32_dst_fp32.sum", tensor_tf32),
    ROW(TENSOR "bf16_dst_fp32.sum", tensor_bf16),
    ROW(TENSOR "fp16.sum", tensor_f16),
    ROW(TENSOR "fp64.sum", tensor_f64),
    ROW("l1tex__t_requests" LSU "ld.sum", load_requests),
    ROW("l1tex__t_sectors" LSU "ld.sum", load_sectors),
    ROW("l1tex__t_requests" LSU "st.sum", store_requests),
    ROW("l1tex__t_sectors" LSU "st.sum", store_sectors),
    ROW("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", shared_wavefronts),
    ROW("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", bank_conflicts),
#undef ROW
};

/* Of kernel number `ordinal` of a step; what is of no step is not counted, as no
 * hardware counter is. */
static void push_counts(int64_t exec, int64_t ordinal,
                        const struct lab_sim_counts *of)
{
    struct lab_record r = {.kind = LAB_RECORD_METRIC};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]) && exec > 0;
         i++) {
        const char *value = (const char *)of + counts[i].at;
        r.u.metric = (struct lab_metric_record){
            .exec = exec,
            .kernel_ordinal = ordinal,
            .metric = lab_intern(counts[i].metric),
            .passes = 1,
            .value = (double)*(const int64_t *)(const void *)value};
        sim.sink.record(sim.sink.user, &r);
    }
}

static void launched(void *user, const struct lab_sim_gpu_launched *of)
{
    const struct lab_sim_gpu_launch *l = of->launch;
    (void)user;
    if (sim.records == LAB_GPU_RECORDS_NONE)
        return;
    int top = sim.pushed < MOST_PUSHED ? sim.pushed : MOST_PUSHED;
    struct lab_kernel_record k = {
        .exec = top > 0 ? sim.in[top - 1].exec : LAB_UNKNOWN,
        .start_ns = LAB_UNKNOWN,
        .end_ns = LAB_UNKNOWN,
        .correlation_id = (uint32_t)sim.stats.records + 1,
        .launch = {.registers_per_thread =
                       l->registers >= 0 ? l->registers : LAB_UNKNOWN,
                   .static_shared_bytes = of->facts->shared_bytes,
                   .dynamic_shared_bytes = l->shared_bytes},
        .facts = lab_kernel_facts_unknown(),
        .local_total_bytes = LAB_UNKNOWN,
        .grid_id = (int64_t)sim.stats.records + 1};
    k.facts.shared_executed_bytes = of->facts->shared_bytes + l->shared_bytes;
    k.facts.local_per_thread_bytes =
        l->stack_bytes >= 0 ? l->stack_bytes : of->facts->local_bytes;
    for (int d = 0; d < 3; d++) {
        k.launch.grid[d] = l->grid[d];
        k.launch.block[d] = l->block[d];
    }
    const struct lab_gpu_launch names = {
        .mangled = l->kernel, .carveout_pct = -1, .shared_optin = 1};
    sim.stats.records++;
    sim.stats.untimed++;
    sim.sink.kernel(sim.sink.user, &k, &names);
    if (top > 0)
        push_counts(k.exec, sim.in[top - 1].kernels++, &of->result->counts);
}

static const char *trace_error(void)
{
    return "";
}

static enum lab_status probe(char *text, size_t bytes)
{
    snprintf(text, bytes, "the simulator's own records");
    return LAB_OK;
}

static enum lab_status start(const struct lab_gpu_sink *sink,
                             const struct lab_gpu_trace_options *options)
{
    sim.sink = *sink;
    sim.records = options ? options->records : LAB_GPU_RECORDS_ALL;
    sim.pushed = 0;
    sim.stats = (struct lab_gpu_trace_stats){0};
    sim.started = true;
    lab_sim_backend_listen(launched, NULL);
    return LAB_OK;
}

static void stop(void)
{
    if (sim.started)
        lab_sim_backend_listen(NULL, NULL);
    sim.started = false;
}

/* A launch is recorded before it returns. */
static enum lab_status flush(void)
{
    return LAB_OK;
}

static enum lab_status set_records(enum lab_gpu_records records)
{
    sim.records = records;
    return LAB_OK;
}

static void push(int64_t exec)
{
    if (sim.pushed < MOST_PUSHED) {
        sim.in[sim.pushed].exec = exec;
        sim.in[sim.pushed].kernels = 0;
    }
    sim.pushed++;
}

static void pop(void)
{
    if (sim.pushed > 0)
        sim.pushed--;
}

static void range_push(const struct lab_gpu_range *range)
{
    (void)range; /* NVIDIA's tools do not see a simulation */
}

static void range_pop(void)
{
}

static void stats(struct lab_gpu_trace_stats *out)
{
    *out = sim.stats;
}

const struct lab_gpu_profiler_ops lab_gpu_profiler_sim = {
    .abi = LAB_GPU_PROFILER_ABI,
    .error = trace_error,
    .probe = probe,
    .start = start,
    .stop = stop,
    .flush = flush,
    .set_records = set_records,
    .push = push,
    .pop = pop,
    .range_push = range_push,
    .range_pop = range_pop,
    .stats = stats,
};
