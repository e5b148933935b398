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
    [LAB_TRACE_MIXED] = {"mixed", "with tracing on and off in turn"},
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

enum lab_trace_state lab_profiler_trace_state(const struct lab_profiler *p)
{
    if (!p->gpu_run)
        return LAB_TRACE_UNKNOWN;
    if (!p->tracing)
        return LAB_TRACE_NEVER;
    if (p->was_on && p->was_off)
        return LAB_TRACE_MIXED;
    return p->was_off || (!p->was_on && p->off) ? LAB_TRACE_OFF : LAB_TRACE_ON;
}

enum lab_status lab_profiler_trace(struct lab_profiler *p, bool on)
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
    if (p->off == !on)
        return LAB_OK;
    if (!on)
        (void)lab_profiler_flush(p);
    if (p->gpu->pause(!on, why, sizeof(why)))
        return lab_fail(LAB_E_DEVICE, "profiler: %s", why);
    p->off = !on;
    p->was_on |= on;
    p->was_off |= !on;
    p->time_source = on ? LAB_TIME_CUPTI : LAB_TIME_CUDA_EVENTS;
    return LAB_OK;
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
