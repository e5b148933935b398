/* Taking the trace off and on, and what it was while times were taken. */
#include <string.h>

#include "profiler/join.h"
#include "profiler_priv.h"

static const struct {
    const char *name;
    const char *text;
} states[LAB_TRACE_STATE_COUNT] = {
    [LAB_TRACE_NEVER] = {"never", "without tracing"},
    [LAB_TRACE_ON] = {"on", "with tracing on"},
    [LAB_TRACE_OFF] = {"off", "with tracing attached and taken off"},
    [LAB_TRACE_MIXED] = {"mixed", "with tracing changed in between"},
    [LAB_TRACE_KERNELS] = {"kernels", "with kernels traced and no calls"},
};

const char *lab_trace_state_name(enum lab_trace_state state)
{
    return (unsigned)state < LAB_TRACE_STATE_COUNT ? states[state].name : NULL;
}

const char *lab_trace_state_text(enum lab_trace_state state)
{
    bool known = (unsigned)state < LAB_TRACE_STATE_COUNT && states[state].text;
    return known ? states[state].text : "";
}

enum lab_trace_state lab_trace_state_find(const char *name)
{
    for (int i = 0; name && i < LAB_TRACE_STATE_COUNT; i++) {
        if (states[i].name && strcmp(states[i].name, name) == 0)
            return (enum lab_trace_state)i;
    }
    return LAB_TRACE_UNKNOWN;
}

bool lab_profiler_records(const struct lab_profiler *p)
{
    return p->tracing && p->records != LAB_GPU_RECORDS_NONE;
}

enum lab_trace_state lab_profiler_trace_state(const struct lab_profiler *p)
{
    static const enum lab_trace_state of[] = {
        [LAB_GPU_RECORDS_ALL] = LAB_TRACE_ON,
        [LAB_GPU_RECORDS_KERNELS] = LAB_TRACE_KERNELS,
        [LAB_GPU_RECORDS_NONE] = LAB_TRACE_OFF};
    if (!p->gpu_run)
        return LAB_TRACE_UNKNOWN;
    if (!p->tracing)
        return LAB_TRACE_NEVER;
    if (p->was & (p->was - 1)) /* more than one */
        return LAB_TRACE_MIXED;
    for (int i = 0; i <= LAB_GPU_RECORDS_NONE; i++) {
        if (p->was == 1u << i)
            return of[i];
    }
    return of[p->records];
}

enum lab_status lab_profiler_trace(struct lab_profiler *p,
                                   enum lab_gpu_records records)
{
    char why[LAB_GPU_TEXT] = "";
    if (!p->gpu_run)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "tracing is a GPU's: steps on the host are timed by "
                        "its clock");
    if (!p->tracing)
        return lab_fail(LAB_E_UNSUPPORTED, "nothing is traced: %s",
                        p->note[0] ? p->note
                                   : "tracing was switched off at the start");
    if (p->records == records)
        return LAB_OK;
    if (lab_profiler_records(p))
        (void)lab_profiler_flush(p);
    enum lab_status st = p->gpu->set_records(records, why, sizeof(why));
    p->records = st ? LAB_GPU_RECORDS_NONE : records;
    p->was |= 1u << p->records;
    p->time_source =
        lab_profiler_records(p) ? LAB_TIME_CUPTI : LAB_TIME_CUDA_EVENTS;
    return st ? lab_fail(LAB_E_DEVICE, "profiler: %s", why) : LAB_OK;
}

/* Counting pauses the trace. Where it did not go on, steps are timed otherwise. */
void lab_profiler_trace_again(struct lab_profiler *p)
{
    enum lab_gpu_records records = p->records;
    if (!p->tracing || !lab_profiler_records(p))
        return;
    p->records = LAB_GPU_RECORDS_NONE;
    (void)lab_profiler_trace(p, records);
}

void lab_profiler_trace_cost(struct lab_profiler *p, struct lab_trace_cost *out)
{
    struct lab_profiler_stats s;
    lab_profiler_get_stats(p, &s);
    *out = (struct lab_trace_cost){.calls_ns = s.observer_ns,
                                   .callbacks_ns = s.gpu.callback_ns,
                                   .records = s.gpu.records,
                                   .kernels = s.kernels};
}
