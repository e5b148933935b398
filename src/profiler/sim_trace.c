/* sim_trace.c -- the profiler's table for the backend "sim": each launch becomes a
 * kernel's record, with grid, block and shared memory, and without a time. */
#include "profiler/gpu.h"

#include <stdio.h>

#include "engine/sim_backend.h"

enum { MOST_PUSHED = 32 };

/* Launches come from the thread that pushes. */
static struct {
    bool started;
    struct lab_gpu_sink sink;
    enum lab_gpu_records records;
    int64_t exec[MOST_PUSHED];
    int pushed;
    struct lab_gpu_trace_stats stats;
} sim;

static void launched(void *user, const struct lab_sim_gpu_launched *of)
{
    const struct lab_sim_gpu_launch *l = of->launch;
    (void)user;
    if (sim.records == LAB_GPU_RECORDS_NONE)
        return;
    int top = sim.pushed < MOST_PUSHED ? sim.pushed : MOST_PUSHED;
    struct lab_kernel_record k = {
        .exec = top > 0 ? sim.exec[top - 1] : LAB_UNKNOWN,
        .start_ns = LAB_UNKNOWN,
        .end_ns = LAB_UNKNOWN,
        .correlation_id = (uint32_t)sim.stats.records + 1,
        .launch = {.registers_per_thread = LAB_UNKNOWN,
                   .static_shared_bytes = of->facts->shared_bytes,
                   .dynamic_shared_bytes = l->shared_bytes},
        .shared_executed_bytes =
            (int32_t)(of->facts->shared_bytes + l->shared_bytes),
        .local_per_thread_bytes = (int32_t)of->facts->local_bytes,
        .local_total_bytes = LAB_UNKNOWN,
        .grid_id = (int64_t)sim.stats.records + 1};
    for (int d = 0; d < 3; d++) {
        k.launch.grid[d] = l->grid[d];
        k.launch.block[d] = l->block[d];
    }
    const struct lab_gpu_launch names = {
        .mangled = l->kernel, .carveout_pct = -1, .shared_optin = 1};
    sim.stats.records++;
    sim.stats.untimed++;
    sim.sink.kernel(sim.sink.user, &k, &names);
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
    if (sim.pushed < MOST_PUSHED)
        sim.exec[sim.pushed] = exec;
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
