/* profiler/profiler.h -- listens to the engine and writes down what it did.
 *
 * A profiler is an observer (engine/observer.h) that turns steps, ranges and
 * losses into records of trace/record.h. On the CPU a step's time is the
 * monotonic clock around the call. On a GPU it is the sum of the step's kernels
 * as CUPTI saw them (the step's record then has time_source LAB_TIME_CUPTI and
 * time_ns LAB_UNKNOWN: the reader of the records adds the kernels up), or the
 * time between two CUDA events when CUPTI is not to be had.
 *
 * One profiler at a time may trace a GPU. Threads: everything from the engine's
 * thread, except lab_profiler_get_stats(), _time_source() and _note(). */
#pragma once
#include <stdbool.h>
#include "engine/backend.h"
#include "engine/observer.h"
#include "profiler/gpu.h"
#include "profiler/join.h"
#include "trace/record.h"

struct lab_profiler;

struct lab_profiler_config {
    const struct lab_sink *sink; /* copied; must outlive the profiler's use */
    const char *backend;         /* of the run: "cpu", "cuda", "null" */
    /* The module's table, or NULL. With a table NVTX ranges are made on every
     * backend; kernels are traced only when `backend` is none of the host's. */
    const struct lab_gpu_profiler_ops *gpu;
    bool no_trace;  /* do not start CUPTI: CUDA-event times */
    bool no_ranges; /* no LAB_RECORD_RANGE records (NVTX stays on) */
    struct lab_gpu_trace_options trace;
};

/* Everything since the profiler was made, as far as flushed. What tracing has
 * cost is observer_ns and gpu.callback_ns; a launch's own extra time is
 * bench/bench_tracing's to measure. */
struct lab_profiler_stats {
    uint64_t steps;
    uint64_t failed_flushes; /* in the observer's `synced` */
    uint64_t not_stored;     /* own records that the sink refused */
    /* Zeros when nothing is traced: */
    int64_t observer_ns; /* the training thread, in the profiler's calls */
    struct lab_join_stats join;
    struct lab_gpu_trace_stats gpu;
};

LAB_C_BEGIN
/* Kernels that are launched in a run but in no step are recorded as such
 * (LAB_EXEC_BETWEEN). What belongs to steps that are not reported
 * (engine/observer.h) is counted and not recorded.
 *
 * Starts tracing where it is asked for and possible; that it is not possible is
 * no failure: lab_profiler_note() has the reason and what helps. Make it before
 * the GPU backend is opened: CUPTI wants to be there before the first context.
 * Errors: LAB_E_ARG (no sink), LAB_E_NOMEM. */
enum lab_status lab_profiler_new(struct lab_profiler **out,
                                 const struct lab_profiler_config *config);
/* Ends tracing, handing out what is left. NULL allowed. */
void lab_profiler_free(struct lab_profiler *p);

/* The device that kernels run on, once it is known: kernels seen afterwards
 * get their theoretical occupancy. */
void lab_profiler_set_device(struct lab_profiler *p,
                             const struct lab_device_info *device);

/* Fills in an observer that lives as long as the profiler. */
void lab_profiler_observer(struct lab_profiler *p, struct lab_observer *out);

/* The observer's `synced` does this by itself; call it where no observer tells
 * the observer. The caller has synchronised the backend. Afterwards every
 * kernel, copy and call of the steps executed so far has been given to the
 * sink. On the CPU it does nothing. Errors: LAB_E_DEVICE (CUPTI's words in
 * lab_error()). */
enum lab_status lab_profiler_flush(struct lab_profiler *p);

/* Where the steps' times come from. LAB_TIME_CUDA_EVENTS: the engine has to
 * ask the backend for the time of each step (struct lab_step_event.device_ns),
 * because only it knows. */
enum lab_time_source lab_profiler_time_source(const struct lab_profiler *p);
/* Why there is no kernel trace on a GPU and what helps, one line; "" when there
 * is one or none was asked for. Lives as long as the profiler. */
const char *lab_profiler_note(const struct lab_profiler *p);
void lab_profiler_get_stats(struct lab_profiler *p,
                            struct lab_profiler_stats *out);

/* Takes the trace off, or puts it on again with more records or fewer, without
 * a restart; between steps, the backend synchronised. While it is off steps are
 * timed by CUDA events: ask lab_profiler_time_source(), and make graphs anew.
 * LAB_E_UNSUPPORTED: nothing was traced from the start, lab_error() has the
 * reason; LAB_E_DEVICE. */
enum lab_status lab_profiler_trace(struct lab_profiler *p,
                                   enum lab_gpu_records records);
/* Of the present run; UNKNOWN on the host. */
enum lab_trace_state lab_profiler_trace_state(const struct lab_profiler *p);
/* "never", "on", "off", "mixed", "kernels"; NULL: unknown. */
const char *lab_trace_state_name(enum lab_trace_state state);
/* Of a name that was stored; UNKNOWN for NULL and for others. */
enum lab_trace_state lab_trace_state_find(const char *name);
/* The same as a sentence's end: "with tracing on"; "" unknown. */
const char *lab_trace_state_text(enum lab_trace_state state);
LAB_C_END
