#include "cupti_trace.h"

#include "cupti_attach.h"
#include "cupti_decode.h"
#include "cupti_kinds.h"
#include "cupti_mark.h"
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

/* One for the process, as CUPTI is. `lock` guards the pool; it is never held
 * across a call of CUPTI that may call back. */
static struct {
    pthread_mutex_t lock;
    const struct lab_cupti *cupti;
    struct lab_gpu_sink sink;
    atomic_bool started;   /* push, pop and flush do something */
    atomic_bool accepting; /* callbacks hand records to the sink */
    atomic_int in_callback;
    CUpti_SubscriberHandle subscriber;
    enum lab_gpu_records wanted; /* counting brings it back to this */
    bool marking;
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

/* Who traces, from start() to the end of stop(). A lab that was left may still be
 * looking at its kernels when a lesson opens: the later one waits for it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    bool taken;
    pthread_t by;
} turn = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t turn_ready = PTHREAD_ONCE_INIT;
enum { TURN_S = 10 }; /* patience */

/* It waits on the clock that is never set. */
static void init_turn(void)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&turn.given_back, &attr);
    pthread_condattr_destroy(&attr);
}

/* false: it traces itself, or the other one does not end. */
static bool take_turn(void)
{
    struct timespec until;
    int timed_out = 0;
    pthread_once(&turn_ready, init_turn);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += TURN_S;
    pthread_mutex_lock(&turn.lock);
    while (turn.taken && !timed_out && !pthread_equal(turn.by, pthread_self()))
        timed_out =
            pthread_cond_timedwait(&turn.given_back, &turn.lock, &until);
    bool free = !turn.taken;
    if (free) {
        turn.taken = true;
        turn.by = pthread_self();
    }
    pthread_mutex_unlock(&turn.lock);
    return free;
}

static void give_turn(void)
{
    pthread_mutex_lock(&turn.lock);
    turn.taken = false;
    pthread_cond_signal(&turn.given_back);
    pthread_mutex_unlock(&turn.lock);
}

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
    struct lab_cupti_view view;
    CUptiResult r;
    lab_cupti_window_view(&view);
    while ((r = trace.cupti->cuptiActivityGetNextRecord(
                buffer, valid, &record)) == CUPTI_SUCCESS) {
        records++;
        if (!trace.accepting) { /* the end waits for this call */
            trace.dropped++;
            continue;
        }
        untimed += !lab_cupti_decode(trace.cupti, &trace.sink, &view, record);
    }
    if (r != CUPTI_ERROR_MAX_LIMIT_REACHED)
        trace.invalid++;
    trace.records += records;
    trace.untimed += untimed;
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

static void end_marks(void)
{
    if (trace.marking)
        lab_cupti_mark_close(trace.cupti, trace.subscriber);
    trace.marking = false;
}

/* From here on what CUPTI numbers belongs to what is pushed. */
static void mark(void)
{
    uint32_t id;
    if (trace.marking && lab_cupti_mark(&id))
        lab_cupti_window_note(id);
}

static enum lab_status set_records(enum lab_gpu_records records, bool first,
                                   char *why, size_t bytes)
{
    enum lab_status st = lab_cupti_kinds_set(trace.cupti, records, first,
                                             trace.graph_nodes, why, bytes);
    if (st || records == LAB_GPU_RECORDS_NONE) {
        end_marks();
        return st;
    }
    if (!trace.marking)
        st = lab_cupti_mark_open(trace.cupti, trace.subscriber, why, bytes);
    trace.marking = !st;
    if (st)
        lab_cupti_kinds_set(trace.cupti, LAB_GPU_RECORDS_NONE, false, false,
                            why, 0);
    else
        mark();
    return st;
}

static enum lab_status begin_trace(char *why, size_t bytes)
{
    const struct lab_cupti *cupti = trace.cupti;
    CUptiResult r = cupti->cuptiActivityRegisterCallbacks(buffer_requested,
                                                          buffer_completed);
    if (r != CUPTI_SUCCESS)
        return lab_cupti_refused(cupti, r, "register callbacks", "", why,
                                 bytes);
    /* The system's ids: those of the ranges, and of cupti_window.h. */
    r = cupti->cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (r != CUPTI_SUCCESS)
        return lab_cupti_refused(cupti, r, "number threads", "", why, bytes);
    enum lab_status st = set_records(trace.wanted, true, why, bytes);
    if (st)
        lab_cupti_kinds_end(cupti);
    return st;
}

/* In a forked child CUPTI does not work, and its worker is not there. */
static void forget_in_child(void)
{
    trace.started = false;
    trace.accepting = false;
    turn.taken = false;
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
    trace.wanted = options ? options->records : LAB_GPU_RECORDS_ALL;
    trace.marking = false;
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
    lab_cupti_window_reset();
}

enum lab_status
lab_cupti_trace_start(const struct lab_gpu_sink *sink,
                      const struct lab_gpu_trace_options *options,
                      char *why_not, size_t why_bytes)
{
    if (!take_turn()) {
        snprintf(why_not, why_bytes, "the GPU is being traced already");
        return LAB_E_STATE;
    }
    enum lab_status st =
        lab_cupti_attach(&trace.cupti, &trace.subscriber, why_not, why_bytes);
    if (st) {
        give_turn();
        return st;
    }
    reset(sink, options);
    trace.accepting = true;
    st = begin_trace(why_not, why_bytes);
    if (st) {
        trace.accepting = false;
        lab_cupti_detach();
        give_turn();
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
    if (!trace.started)
        return LAB_OK;
    enum lab_status st = set_records(on ? LAB_GPU_RECORDS_NONE : trace.wanted,
                                     false, why_not, why_bytes);
    if (st)
        trace.wanted = LAB_GPU_RECORDS_NONE;
    return st;
}

enum lab_status lab_cupti_trace_records(enum lab_gpu_records records,
                                        char *why_not, size_t why_bytes)
{
    enum lab_status st = LAB_OK;
    if (!trace.started || trace.wanted == records)
        return LAB_OK;
    st = set_records(records, false, why_not, why_bytes);
    trace.wanted = st ? LAB_GPU_RECORDS_NONE : records;
    return st;
}

void lab_cupti_trace_stop(void)
{
    if (!trace.started)
        return;
    trace.started = false;
    end_marks();
    lab_cupti_kinds_end(trace.cupti);
    trace.cupti->cuptiActivityFlushAll(0);
    trace.cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    wait_for_callbacks();
    /* A sink that is stuck takes one more record at most; the sink is freed after
     * this call, and so the callback must have left it. */
    trace.accepting = false;
    while (!wait_for_callbacks())
        continue;
    lab_cupti_detach();
    for (void *buffer = pool_take(); buffer; buffer = pool_take())
        lab_free(buffer);
    give_turn();
}

void lab_cupti_trace_push(int64_t exec)
{
    if (!trace.started)
        return;
    lab_cupti_window_push(exec);
    mark();
}

void lab_cupti_trace_pop(void)
{
    if (!trace.started)
        return;
    lab_cupti_window_pop();
    mark();
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

enum lab_status lab_cupti_trace_records(enum lab_gpu_records records,
                                        char *why_not, size_t why_bytes)
{
    (void)records;
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
