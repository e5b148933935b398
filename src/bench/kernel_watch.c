/* kernel_watch.c -- a profiler for a short measurement: which kernels each step
 * launched, in memory only. */
#include "bench/bench.h"

#include <string.h>

static enum lab_status open_profiler(struct lab_kernel_watch *w,
                                     const char *backend)
{
    const struct lab_cuda_module *module = NULL;
    bool simulated = strcmp(backend, "sim") == 0;
    enum lab_status st = simulated ? LAB_OK : lab_cuda_load(&module);
    if (st)
        return st;
    struct lab_profiler_config config = {
        .sink = &w->sink,
        .backend = backend,
        .gpu = simulated ? &lab_gpu_profiler_sim : module->profiler,
        .no_ranges = true,
        .trace.records = LAB_GPU_RECORDS_KERNELS};
    st = lab_profiler_new(&w->profiler, &config);
    if (!st && !simulated &&
        lab_profiler_time_source(w->profiler) != LAB_TIME_CUPTI)
        st = lab_fail(LAB_E_UNSUPPORTED, "%s", lab_profiler_note(w->profiler));
    return st;
}

enum lab_status lab_kernel_watch_open(struct lab_kernel_watch *w,
                                      const char *backend,
                                      const struct lab_sink *then)
{
    *w = (struct lab_kernel_watch){.live = NULL};
    enum lab_status st = lab_live_new(&w->live, NULL);
    if (st)
        return st;
    w->sink = lab_live_tee(w->live, then);
    st = open_profiler(w, backend);
    if (st)
        lab_kernel_watch_close(w);
    return st;
}

void lab_kernel_watch_close(struct lab_kernel_watch *w)
{
    lab_profiler_free(w->profiler);
    lab_live_free(w->live);
    *w = (struct lab_kernel_watch){.live = NULL};
}
