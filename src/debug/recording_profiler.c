/* What a recording's profiler does on demand: counting, and the trace off and
 * on. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "recording_priv.h"

enum lab_counter_set lab_recording_counters(const struct lab_recording *r)
{
    return r->counters_refused ? LAB_COUNTERS_OFF : r->counters;
}

enum lab_status lab_recording_count(struct lab_recording *r,
                                    struct lab_walk *walk, int from, int to,
                                    struct lab_counted *out)
{
    enum lab_counter_set set = r->counters ? r->counters : LAB_COUNTERS_BASIC;
    if (r->counters_refused)
        return lab_fail(LAB_E_UNSUPPORTED, "counters: %s", r->counters_note);
    if (!r->profiler || strcmp(r->backend, "cuda") != 0)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "counters: hardware counters are a GPU's, and this run "
                        "is on %s",
                        r->backend);
    return lab_profiler_count(r->profiler, walk, from, to, set, out);
}

enum lab_status lab_recording_count_said(void *recording, struct lab_walk *walk,
                                         int from, int to, char *said,
                                         size_t bytes)
{
    struct lab_counted c;
    enum lab_status st = lab_recording_count(recording, walk, from, to, &c);
    if (!st)
        snprintf(
            said, bytes, "counted %lld kernels: %d counters, %d passes, %.2f s",
            (long long)c.kernels, c.metrics, c.passes, (double)c.wall_ns / 1e9);
    return st;
}

enum lab_trace_state lab_recording_trace_state(const struct lab_recording *r)
{
    return r->profiler ? lab_profiler_trace_state(r->profiler) : r->trace_state;
}

void lab_recording_trace_cost(const struct lab_recording *r, double seconds,
                              struct lab_str *out)
{
    struct lab_trace_cost c = r->trace_cost;
    enum lab_trace_state state = lab_recording_trace_state(r);
    if (r->profiler)
        lab_profiler_trace_cost(r->profiler, &c);
    if (state != LAB_TRACE_ON && state != LAB_TRACE_KERNELS &&
        state != LAB_TRACE_MIXED)
        return;
    lab_str_addf(out,
                 "%.2f ms in the profiler's own calls, %.2f ms on CUPTI's "
                 "thread, for %llu kernels",
                 (double)c.calls_ns / 1e6, (double)c.callbacks_ns / 1e6,
                 (unsigned long long)c.kernels);
    if (seconds > 0)
        lab_str_addf(out, ", beside %.2f ms of training", seconds * 1e3);
}

static enum lab_gpu_records records_of(const char *word)
{
    if (strcmp(word, "kernels") == 0)
        return LAB_GPU_RECORDS_KERNELS;
    return strcmp(word, "on") == 0 ? LAB_GPU_RECORDS_ALL : LAB_GPU_RECORDS_NONE;
}

enum lab_status lab_recording_trace_said(void *recording, struct lab_walk *walk,
                                         const char *what, char *said,
                                         size_t bytes)
{
    struct lab_recording *r = recording;
    enum lab_status st = LAB_OK;
    struct lab_str cost;
    if (!r->profiler)
        return lab_fail(LAB_E_UNSUPPORTED, "nothing is recorded");
    if (what[0]) {
        st = lab_walk_recapture(walk);
        if (!st)
            st = lab_walk_sync(walk);
        if (!st)
            st = lab_profiler_trace(r->profiler, records_of(what));
        r->time_source = lab_profiler_time_source(r->profiler);
        lab_walk_time_with_events(walk, r->time_source == LAB_TIME_CUDA_EVENTS);
    }
    if (st)
        return st;
    lab_str_init(&cost);
    lab_recording_trace_cost(r, NAN, &cost);
    snprintf(said, bytes, "the run is timed %s%s%s",
             lab_recording_trace_state(r) == LAB_TRACE_UNKNOWN
                 ? "by the host's clock: nothing is traced"
                 : lab_trace_state_text(lab_recording_trace_state(r)),
             cost.len ? "; it cost " : "", lab_str_text(&cost));
    lab_str_release(&cost);
    return LAB_OK;
}
