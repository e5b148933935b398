#include "profiler/profiler.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "profiler/join.h"
#include "profiler_priv.h"

static bool runs_on_host(const char *backend)
{
    return !backend || strcmp(backend, "cpu") == 0 ||
           strcmp(backend, "null") == 0;
}

static enum lab_status make_join(struct lab_profiler *p,
                                 const struct lab_profiler_config *config)
{
    struct lab_join_config join = {
        .sink = config->sink,
    };
    return lab_join_new(&p->join, &join);
}

/* Tracing that cannot be had leaves a note and CUDA-event times. */
static enum lab_status start_trace(struct lab_profiler *p,
                                   const struct lab_profiler_config *config)
{
    struct lab_gpu_sink sink;
    p->time_source = LAB_TIME_CUDA_EVENTS;
    if (config->no_trace)
        return LAB_OK;
    if (!p->gpu) {
        strcpy(p->note, "the CUDA module has no profiler of this version: "
                        "build program and module together");
        return LAB_OK;
    }
    enum lab_status st = make_join(p, config);
    if (st)
        return st;
    lab_join_gpu_sink(p->join, &sink);
    if (p->gpu->start(&sink, &config->trace, p->note, sizeof(p->note)) ==
        LAB_OK) {
        p->note[0] = '\0';
        p->tracing = true;
        p->records = config->trace.records;
        p->time_source = LAB_TIME_CUPTI;
    } else {
        lab_join_free(p->join);
        p->join = NULL;
    }
    return LAB_OK;
}

enum lab_status lab_profiler_new(struct lab_profiler **out,
                                 const struct lab_profiler_config *config)
{
    if (!config->sink || !config->sink->push || !config->sink->intern)
        return lab_fail(LAB_E_ARG, "profiler: no sink");
    struct lab_profiler *p = lab_alloc(sizeof(*p));
    if (!p)
        return lab_fail(LAB_E_NOMEM, "profiler: out of memory");
    p->sink = *config->sink;
    if (config->gpu && config->gpu->abi == LAB_GPU_PROFILER_ABI)
        p->gpu = config->gpu;
    p->ranges = !config->no_ranges;
    p->time_source = LAB_TIME_CPU_CLOCK;
    lab_profiler_moments_anchor(p);
    p->gpu_run = !runs_on_host(config->backend);
    if (p->gpu_run) {
        enum lab_status st = start_trace(p, config);
        if (st) {
            lab_free(p);
            return st;
        }
    }
    *out = p;
    return LAB_OK;
}

void lab_profiler_free(struct lab_profiler *p)
{
    if (!p)
        return;
    lab_profiler_close_all(p);
    if (p->counters_probed && p->gpu && p->gpu->counters &&
        p->counters_status == LAB_OK)
        p->gpu->counters->close();
    if (p->tracing)
        p->gpu->stop();
    lab_join_free(p->join);
    lab_free(p);
}

void lab_profiler_set_device(struct lab_profiler *p,
                             const struct lab_device_info *device)
{
    if (p->join)
        lab_join_set_device(p->join, device);
}

enum lab_status lab_profiler_flush(struct lab_profiler *p)
{
    if (!p->tracing)
        return LAB_OK;
    char why[LAB_GPU_TEXT] = "";
    enum lab_status st = p->gpu->flush(why, sizeof(why));
    return st ? lab_fail(LAB_E_DEVICE, "profiler: %s", why) : LAB_OK;
}

enum lab_time_source lab_profiler_time_source(const struct lab_profiler *p)
{
    return p->time_source;
}

const char *lab_profiler_note(const struct lab_profiler *p)
{
    return p->note;
}

void lab_profiler_get_stats(struct lab_profiler *p,
                            struct lab_profiler_stats *out)
{
    struct lab_profiler_stats s = {
        .steps = p->steps,
        .not_stored = p->not_stored,
        .failed_flushes = p->failed_flushes,
        .observer_ns = p->observer_ns,
    };
    if (p->tracing) {
        struct lab_join_stats join;
        lab_join_get_stats(p->join, &join);
        p->gpu->stats(&s.gpu);
        s.kernels = join.kernels;
        s.kernels_without_step = join.kernels_without_step;
        s.kernels_between = join.kernels_between;
        s.before_run = join.before;
        s.muted = join.muted;
        s.untold = join.untold;
        s.not_stored += join.not_stored;
    }
    *out = s;
}
