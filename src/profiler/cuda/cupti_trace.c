#include "cupti_trace.h"

#include "cupti_attach.h"
#include "cupti_decode.h"
#include "cupti_window.h"

#ifdef LAB_HAVE_CUPTI
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

enum { MIB = 1 << 20, DEFAULT_BUFFER = 8 * MIB, LEAST_BUFFER = MIB, POOL = 8 };
static const int64_t HAND_OVER_NS = 5000000000; /* patience of a flush */

/* What is traced. Without the required kinds there is no join; the others only
 * make the picture fuller. */
static const struct {
    CUpti_ActivityKind kind;
    bool required;
} kinds[] = {
    /* A call of the runtime leaves no record of the driver's calls in it. */
    {CUPTI_ACTIVITY_KIND_RUNTIME, true},
    {CUPTI_ACTIVITY_KIND_DRIVER, true},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true},
    {CUPTI_ACTIVITY_KIND_MEMCPY, true},
    {CUPTI_ACTIVITY_KIND_MEMSET, true},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, false},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, false},
    /* A graph as a whole, instead of each of its kernels: it is launched for
     * iterations whose steps nobody asked for. */
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, false},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* One for the process, as CUPTI is. `lock` guards start, stop and the pool;
 * it is never held across a call of CUPTI that may call back. */
static struct {
    pthread_mutex_t lock;
    const struct lab_cupti *cupti;
    struct lab_gpu_sink sink;
    atomic_bool started;   /* push, pop and flush do something */
    atomic_bool accepting; /* callbacks hand records to the sink */
    atomic_int in_callback;
    bool off;         /* by the user: counting does not put it on again */
    bool graph_nodes; /* no GRAPH_TRACE */
    size_t buffer_bytes;
    void *pool[POOL];
    int pooled;
    atomic_uint_fast64_t records;
    atomic_uint_fast64_t dropped;
    atomic_uint_fast64_t invalid;
    atomic_uint_fast64_t untimed;
    atomic_uint_fast64_t buffers;
    atomic_uint_fast64_t flushes;
    atomic_int_fast64_t callback_ns;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t trace_forks = PTHREAD_ONCE_INIT;

static void *pool_take(void)
{
    void *buffer = NULL;
    pthread_mutex_lock(&trace.lock);
    if (trace.pooled > 0)
        buffer = trace.pool[--trace.pooled];
    pthread_mutex_unlock(&trace.lock);
    return buffer;
}

static void pool_give(void *buffer)
{
    pthread_mutex_lock(&trace.lock);
    if (trace.accepting && trace.pooled < POOL) {
        trace.pool[trace.pooled++] = buffer;
        buffer = NULL;
    }
    pthread_mutex_unlock(&trace.lock);
    lab_free(buffer);
}

/* A request that cannot be met makes CUPTI drop records and count them. */
static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size,
                                      size_t *max_records)
{
    int64_t since = lab_clock_monotonic_ns();
    void *memory = pool_take();
    if (!memory)
        memory = lab_alloc_aligned(trace.buffer_bytes);
    *buffer = memory;
    *size = memory ? trace.buffer_bytes : 0;
    *max_records = 0;
    trace.callback_ns += lab_clock_monotonic_ns() - since;
}

static void read_buffer(uint8_t *buffer, size_t valid)
{
    CUpti_Activity *record = NULL;
    uint64_t records = 0;
    uint64_t untimed = 0;
    CUptiResult r;
    while ((r = trace.cupti->cuptiActivityGetNextRecord(
                buffer, valid, &record)) == CUPTI_SUCCESS) {
        records++;
        untimed += !lab_cupti_decode(trace.cupti, &trace.sink, record);
    }
    if (r != CUPTI_ERROR_MAX_LIMIT_REACHED)
        trace.invalid++;
    trace.records += records;
    trace.untimed += untimed;
    trace.sink.buffer_end(trace.sink.user);
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream,
                                      uint8_t *buffer, size_t size,
                                      size_t valid)
{
    int64_t since = lab_clock_monotonic_ns();
    size_t dropped = 0;
    (void)size;
    trace.in_callback++;
    if (trace.accepting) {
        if (buffer && valid > 0)
            read_buffer(buffer, valid);
        trace.buffers++;
        /* No lock is held here: this call takes CUPTI's own. */
        if (trace.cupti->cuptiActivityGetNumDroppedRecords(
                context, stream, &dropped) == CUPTI_SUCCESS)
            trace.dropped += dropped;
    }
    if (buffer)
        pool_give(buffer);
    trace.callback_ns += lab_clock_monotonic_ns() - since;
    trace.in_callback--;
}

enum lab_status lab_cupti_trace_probe(char *text, size_t bytes)
{
    const struct lab_cupti *cupti;
    CUpti_SubscriberHandle subscriber;
    if (trace.started) {
        cupti = trace.cupti;
    } else {
        enum lab_status st = lab_cupti_attach(&cupti, &subscriber, text, bytes);
        if (st)
            return st;
        lab_cupti_detach();
    }
    if (cupti->version >= 10000) /* before CUDA 13: 1, 2, ... 28 */
        snprintf(text, bytes, "CUPTI %u.%u (%s)", cupti->version / 10000,
                 cupti->version / 100 % 100, cupti->path);
    else
        snprintf(text, bytes, "CUPTI, API %u (%s)", cupti->version,
                 cupti->path);
    return LAB_OK;
}

/* Graphs that are there keep how they were made. Launching one after this kind
 * was switched on or off ends in libcupti's own memory (seen with CUPTI 13.0),
 * so that it stays as it was at the start. */
static bool stays(CUpti_ActivityKind kind)
{
    return kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
}

static void disable_kinds(const struct lab_cupti *cupti, int count, bool all)
{
    for (int i = count - 1; i >= 0; i--) {
        if (all || !stays(kinds[i].kind))
            cupti->cuptiActivityDisable(kinds[i].kind);
    }
}

/* Calls that only ask: no work for the device, and half of all records. Without
 * them a launch costs less to trace, and a run's database is half as large. CUPTI
 * takes them out after their kind was switched on. */
static void leave_out_questions(const struct lab_cupti *cupti)
{
    static const CUpti_CallbackId runtime[] = {
        CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020};
    static const CUpti_CallbackId driver[] = {
        CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
        CUPTI_DRIVER_TRACE_CBID_cuKernelGetName};
    for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++) {
        if (cupti->enable_runtime_call)
            (void)cupti->enable_runtime_call(runtime[i], 0);
    }
    for (size_t i = 0; i < sizeof(driver) / sizeof(driver[0]); i++) {
        if (cupti->enable_driver_call)
            (void)cupti->enable_driver_call(driver[i], 0);
    }
}

static enum lab_status enable_kinds(const struct lab_cupti *cupti, bool all,
                                    char *why, size_t bytes)
{
    for (int i = 0; i < KINDS; i++) {
        if (stays(kinds[i].kind) && (trace.graph_nodes || !all))
            continue;
        CUptiResult r = cupti->cuptiActivityEnable(kinds[i].kind);
        if (r == CUPTI_SUCCESS || !kinds[i].required)
            continue;
        disable_kinds(cupti, i, all);
        return lab_cupti_refused(cupti, r, "enable tracing", "", why, bytes);
    }
    leave_out_questions(cupti);
    return LAB_OK;
}

static enum lab_status begin_trace(const struct lab_cupti *cupti, char *why,
                                   size_t bytes)
{
    CUptiResult r = cupti->cuptiActivityRegisterCallbacks(buffer_requested,
                                                          buffer_completed);
    if (r != CUPTI_SUCCESS)
        return lab_cupti_refused(cupti, r, "register callbacks", "", why,
                                 bytes);
    /* The system's ids: those of the ranges, and of cupti_window.h. */
    r = cupti->cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (r != CUPTI_SUCCESS)
        return lab_cupti_refused(cupti, r, "number threads", "", why, bytes);
    return enable_kinds(cupti, true, why, bytes);
}

/* In a forked child CUPTI does not work, and its worker is not there. */
static void forget_in_child(void)
{
    trace.started = false;
    trace.accepting = false;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
}

static void reset(const struct lab_gpu_sink *sink,
                  const struct lab_gpu_trace_options *options)
{
    size_t bytes = options && options->buffer_bytes ? options->buffer_bytes
                                                    : DEFAULT_BUFFER;
    trace.off = false;
    trace.graph_nodes = options && options->graph_nodes;
    trace.buffer_bytes = bytes < LEAST_BUFFER ? LEAST_BUFFER : bytes;
    trace.sink = *sink;
    pthread_once(&trace_forks, watch_forks);
    trace.records = 0;
    trace.dropped = 0;
    trace.invalid = 0;
    trace.untimed = 0;
    trace.buffers = 0;
    trace.flushes = 0;
    trace.callback_ns = 0;
    lab_cupti_decode_reset();
}

enum lab_status
lab_cupti_trace_start(const struct lab_gpu_sink *sink,
                      const struct lab_gpu_trace_options *options,
                      char *why_not, size_t why_bytes)
{
    const struct lab_cupti *cupti;
    CUpti_SubscriberHandle subscriber;
    if (trace.started) {
        snprintf(why_not, why_bytes, "the GPU is being traced already");
        return LAB_E_STATE;
    }
    enum lab_status st =
        lab_cupti_attach(&cupti, &subscriber, why_not, why_bytes);
    if (st)
        return st;
    trace.cupti = cupti;
    reset(sink, options);
    trace.accepting = true;
    st = lab_cupti_window_open();
    if (st)
        snprintf(why_not, why_bytes, "%s", lab_error());
    else
        st = begin_trace(cupti, why_not, why_bytes);
    if (st) {
        trace.accepting = false;
        lab_cupti_window_close();
        lab_cupti_detach();
        return st;
    }
    trace.started = true;
    return LAB_OK;
}

/* Buffers may be with CUPTI's worker when a flush returns. */
static bool wait_for_callbacks(void)
{
    const struct timespec pause = {.tv_nsec = 20000};
    int64_t until = lab_clock_monotonic_ns() + HAND_OVER_NS;
    while (trace.in_callback > 0) {
        if (lab_clock_monotonic_ns() > until)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

enum lab_status lab_cupti_trace_flush(char *why_not, size_t why_bytes)
{
    if (!trace.started) {
        snprintf(why_not, why_bytes, "the GPU is not being traced");
        return LAB_E_STATE;
    }
    CUptiResult r = trace.cupti->cuptiActivityFlushAll(0);
    trace.flushes++;
    if (r != CUPTI_SUCCESS)
        return lab_cupti_refused(trace.cupti, r, "flush", "", why_not,
                                 why_bytes);
    if (!wait_for_callbacks()) {
        snprintf(why_not, why_bytes, "CUPTI did not hand its records over");
        return LAB_E_DEVICE;
    }
    return LAB_OK;
}

enum lab_status lab_cupti_trace_pause(bool on, char *why_not, size_t why_bytes)
{
    if (!trace.started || trace.off)
        return LAB_OK;
    if (!on)
        return enable_kinds(trace.cupti, false, why_not, why_bytes);
    disable_kinds(trace.cupti, KINDS, false);
    return LAB_OK;
}

enum lab_status lab_cupti_trace_off(bool off, char *why_not, size_t why_bytes)
{
    enum lab_status st = LAB_OK;
    if (!trace.started || trace.off == off)
        return LAB_OK;
    trace.off = false;
    st = lab_cupti_trace_pause(off, why_not, why_bytes);
    trace.off = st ? !off : off;
    return st;
}

void lab_cupti_trace_stop(void)
{
    if (!trace.started)
        return;
    trace.started = false;
    disable_kinds(trace.cupti, KINDS, true);
    trace.cupti->cuptiActivityFlushAll(0);
    trace.cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    trace.accepting = false;
    wait_for_callbacks();
    lab_cupti_detach();
    lab_cupti_window_close();
    for (void *buffer = pool_take(); buffer; buffer = pool_take())
        lab_free(buffer);
}

static uint64_t moment(void)
{
    uint64_t now = 0;
    trace.cupti->cuptiGetTimestamp(&now);
    return now;
}

void lab_cupti_trace_push(int64_t exec)
{
    if (trace.started)
        lab_cupti_window_push(exec, moment());
}

void lab_cupti_trace_pop(void)
{
    if (trace.started)
        lab_cupti_window_pop(moment());
}

void lab_cupti_trace_stats(struct lab_gpu_trace_stats *out)
{
    *out = (struct lab_gpu_trace_stats){
        .records = trace.records,
        .dropped = trace.dropped,
        .invalid = trace.invalid,
        .untimed = trace.untimed,
        .buffers = trace.buffers,
        .flushes = trace.flushes,
        .callback_ns = trace.callback_ns,
    };
}
#else
#include <stdio.h>

static enum lab_status left_out(char *text, size_t bytes)
{
    snprintf(text, bytes,
             "the CUDA module was built without CUPTI's headers: install the "
             "cuda-cupti development package and build again");
    return LAB_E_UNSUPPORTED;
}

enum lab_status lab_cupti_trace_probe(char *text, size_t bytes)
{
    return left_out(text, bytes);
}

enum lab_status
lab_cupti_trace_start(const struct lab_gpu_sink *sink,
                      const struct lab_gpu_trace_options *options,
                      char *why_not, size_t why_bytes)
{
    (void)sink;
    (void)options;
    return left_out(why_not, why_bytes);
}

void lab_cupti_trace_stop(void)
{
}

enum lab_status lab_cupti_trace_flush(char *why_not, size_t why_bytes)
{
    left_out(why_not, why_bytes);
    return LAB_E_STATE;
}

enum lab_status lab_cupti_trace_off(bool off, char *why_not, size_t why_bytes)
{
    (void)off;
    (void)why_not;
    (void)why_bytes;
    return LAB_OK;
}

void lab_cupti_trace_push(int64_t exec)
{
    (void)exec;
}

void lab_cupti_trace_pop(void)
{
}

void lab_cupti_trace_stats(struct lab_gpu_trace_stats *out)
{
    *out = (struct lab_gpu_trace_stats){0};
}
#endif
