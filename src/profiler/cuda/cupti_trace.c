/* cupti_trace.c -- what the CUDA module offers the profiler: CUPTI's activity
 * trace (which records are asked for, the mark in the row of calls, records
 * decoded into ours, start, buffers and stop), and NVTX ranges. */
#include "cupti_trace.h"

#include "cupti_api.h"
#include "cupti_counters.h"
#include "cupti_window.h"
#include "profiler/gpu.h"

#ifdef LAB_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>

#include "common/kernel.h"
#endif

#include <pthread.h>

#ifdef LAB_HAVE_CUPTI
#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

enum { MIB = 1 << 20, DEFAULT_BUFFER = 8 * MIB, LEAST_BUFFER = MIB, POOL = 8 };

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

/* Without the required kinds the picture is not worth its name; the others only
 * make it fuller. `calls`: of the host's calls, not of the device's work. */
static const struct {
    CUpti_ActivityKind kind;
    bool required;
    bool calls;
} kinds[] = {
    /* A call of the runtime leaves no record of the driver's calls in it. */
    {CUPTI_ACTIVITY_KIND_RUNTIME, true, true},
    {CUPTI_ACTIVITY_KIND_DRIVER, true, true},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true, false},
    {CUPTI_ACTIVITY_KIND_MEMCPY, true, false},
    {CUPTI_ACTIVITY_KIND_MEMSET, true, false},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, false, true},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, false, true},
    /* A graph as a whole, instead of each of its kernels: it is launched for
     * iterations without steps that were asked for. */
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, false, false},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Graphs that are there keep how they were made. Launching one after this kind
 * was switched on or off ends in libcupti's own memory (seen with CUPTI 13.0),
 * so that it stays as it was at the start. */
static bool stays(CUpti_ActivityKind kind)
{
    return kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
}

static bool wanted(int i, enum lab_gpu_records records)
{
    return records == LAB_GPU_RECORDS_ALL ||
           (records == LAB_GPU_RECORDS_KERNELS && !kinds[i].calls);
}

static void disable(enum lab_gpu_records but)
{
    for (int i = KINDS - 1; i >= 0; i--) {
        if (!stays(kinds[i].kind) && !wanted(i, but))
            trace.cupti->cuptiActivityDisable(kinds[i].kind);
    }
}

static void kinds_end(void)
{
    for (int i = KINDS - 1; i >= 0; i--)
        trace.cupti->cuptiActivityDisable(kinds[i].kind);
}

/* Calls that only ask: no work for the device, and half of all records. Without
 * them a launch costs less to trace, and a run's database is half as large.
 * CUPTI takes them out after their kind was switched on. */
static void leave_out_questions(void)
{
    static const CUpti_CallbackId runtime[] = {
        CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020};
    static const CUpti_CallbackId driver[] = {
        CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
        CUPTI_DRIVER_TRACE_CBID_cuKernelGetName,
        CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion}; /* CALL */
    const struct lab_cupti *cupti = trace.cupti;
    for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++) {
        if (cupti->enable_runtime_call)
            (void)cupti->enable_runtime_call(runtime[i], 0);
    }
    for (size_t i = 0; i < sizeof(driver) / sizeof(driver[0]); i++) {
        if (cupti->enable_driver_call)
            (void)cupti->enable_driver_call(driver[i], 0);
    }
}

static enum lab_status kinds_set(enum lab_gpu_records records, bool first)
{
    disable(records);
    for (int i = 0; i < KINDS; i++) {
        if (!wanted(i, records) ||
            (stays(kinds[i].kind) && (trace.graph_nodes || !first)))
            continue;
        CUptiResult r = trace.cupti->cuptiActivityEnable(kinds[i].kind);
        if (r == CUPTI_SUCCESS || !kinds[i].required)
            continue;
        disable(LAB_GPU_RECORDS_NONE);
        return lab_cupti_check(trace.cupti, r, "enable tracing");
    }
    if (records == LAB_GPU_RECORDS_ALL)
        leave_out_questions();
    return LAB_OK;
}

/* ---- a number in the row of the process's CUDA calls ---- The cheapest call
 * of the driver that CUPTI can be asked to report is made, and its correlation
 * id is read in the callback. Kernels launched before have smaller ids, kernels
 * launched after it larger ones; no record of any call has to be written for
 * that (seen with CUPTI 13.0, all kinds off but kernels). */
enum { CALL = CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion };

static CUresult (*ask)(int *version);
static _Thread_local struct {
    bool known;
    uint32_t id;
} seen;

static void on_mark(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                    const CUpti_CallbackData *data)
{
    (void)domain;
    (void)id;
    if (data->callbackSite != CUPTI_API_ENTER)
        return;
    seen.id = data->correlationId;
    seen.known = true;
}

/* libcuda is there where CUPTI could attach; the program does not link it, and
 * it stays open. */
static void *driver_call(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    void *cuda = symbol ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return cuda ? dlsym(cuda, name) : symbol;
}

static bool cupti_mark(uint32_t *correlation_id)
{
    int version;
    seen.known = false;
    (void)ask(&version);
    *correlation_id = seen.id;
    return seen.known;
}

/* Before cuInit() the driver need not report its calls. Tracing is for a
 * program that opens the device next, so that it is not early. */
static bool works(CUresult *init_gives)
{
    CUresult (*init)(unsigned) = NULL;
    uint32_t id;
    *init_gives = CUDA_SUCCESS;
    if (cupti_mark(&id))
        return true;
    void *symbol = driver_call("cuInit");
    memcpy(&init, &symbol, sizeof(symbol));
    if (init)
        *init_gives = init(0);
    return *init_gives == CUDA_SUCCESS && cupti_mark(&id);
}

static void mark_close(void)
{
    (void)trace.cupti->cuptiEnableCallback(0, trace.subscriber,
                                           CUPTI_CB_DOMAIN_DRIVER_API, CALL);
    lab_cupti_listen_marks(CALL, NULL);
}

static enum lab_status mark_open(void)
{
    if (!ask) {
        void *symbol = driver_call("cuDriverGetVersion");
        memcpy(&ask, &symbol, sizeof(symbol));
    }
    if (!ask)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[trace.no-driver] libcuda.so.1 is not to be found: is "
                        "an NVIDIA driver "
                        "installed?");
    lab_cupti_listen_marks(CALL, on_mark);
    CUptiResult r = trace.cupti->cuptiEnableCallback(
        1, trace.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CALL);
    if (r != CUPTI_SUCCESS) {
        lab_cupti_listen_marks(CALL, NULL);
        return lab_cupti_check(trace.cupti, r, "watch a call");
    }
    CUresult init;
    if (works(&init))
        return LAB_OK;
    mark_close();
    if (init != CUDA_SUCCESS)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[trace.driver] the driver does not start (cuInit: error %d); "
            "nvidia-smi shows more",
            (int)init);
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[trace.no-correlation] %s tells no correlation id of a "
                    "call, so that kernels "
                    "cannot be given to their steps; use the CUPTI of CUDA 13",
                    trace.cupti->path);
}

enum { API_NAMES = 1024, DOMAINS = 2 };

/* 0: not asked yet. A race finds the same id twice, which is harmless. */
static atomic_uint api_names[DOMAINS][API_NAMES];

static void decode_reset(void)
{
    for (int d = 0; d < DOMAINS; d++) {
        for (int i = 0; i < API_NAMES; i++)
            api_names[d][i] = 0;
    }
}

static uint32_t api_name(int driver, CUpti_CallbackId id)
{
    const char *text = NULL;
    uint32_t name = id < API_NAMES ? api_names[driver][id] : 0;
    if (name != 0)
        return name;
    CUpti_CallbackDomain domain =
        driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
    if (trace.cupti->cuptiGetCallbackName(domain, id, &text) != CUPTI_SUCCESS ||
        !text)
        return 0;
    name = trace.sink.intern(trace.sink.user, text);
    if (id < API_NAMES)
        api_names[driver][id] = name;
    return name;
}

/* CUPTI gives both as 0 where no time could be taken. */
static int set_times(int64_t *start_ns, int64_t *end_ns, uint64_t start,
                     uint64_t end)
{
    int timed = start != 0 || end != 0;
    *start_ns = timed ? (int64_t)start : LAB_UNKNOWN;
    *end_ns = timed ? (int64_t)end : LAB_UNKNOWN;
    return timed;
}

static int64_t exec_of(struct lab_cupti_view *view, uint32_t correlation_id)
{
    int64_t exec = lab_cupti_window_find(view, correlation_id);
    return exec ? exec : LAB_UNKNOWN;
}

static int decode_kernel(struct lab_cupti_view *view, const lab_cupti_kernel *r)
{
    struct lab_kernel_record k = {
        .exec = exec_of(view, r->correlationId),
        .device_id = (int32_t)r->deviceId,
        .context_id = (int32_t)r->contextId,
        .stream_id = (int32_t)r->streamId,
        .correlation_id = r->correlationId,
        .launch = {.grid = {r->gridX, r->gridY, r->gridZ},
                   .block = {r->blockX, r->blockY, r->blockZ},
                   .cluster = {r->clusterX, r->clusterY, r->clusterZ},
                   .registers_per_thread = r->registersPerThread,
                   .static_shared_bytes = r->staticSharedMemory,
                   .dynamic_shared_bytes = r->dynamicSharedMemory},
        .facts = {.shared_executed_bytes = r->sharedMemoryExecuted,
                  .local_per_thread_bytes = r->localMemoryPerThread},
        .local_total_bytes = (int64_t)r->localMemoryTotal_v2,
        .launch_type = r->launchType,
        .cache_config = r->cacheConfig.both,
        .shared_limit_config = (int32_t)r->shmemLimitConfig,
        .grid_id = r->gridId,
        .graph_node_id = (int64_t)r->graphNodeId,
        .graph_id = r->graphId,
        .occupancy_pct = NAN,
    };
    struct lab_gpu_launch launch = {
        .mangled = r->name,
        .carveout_pct = r->isSharedMemoryCarveoutRequested
                            ? r->sharedMemoryCarveoutRequested
                            : -1,
        .shared_optin = r->shmemLimitConfig == CUPTI_FUNC_SHMEM_LIMIT_OPTIN,
    };
    int timed = set_times(&k.start_ns, &k.end_ns, r->start, r->end);
    trace.sink.kernel(trace.sink.user, &k, &launch);
    return timed;
}

static int decode_memcpy(struct lab_cupti_view *view, const lab_cupti_memcpy *r)
{
    struct lab_record out = {.kind = LAB_RECORD_MEMCPY};
    out.u.memcpy_ = (struct lab_memcpy_record){
        .exec = exec_of(view, r->correlationId),
        .bytes = (int64_t)r->bytes,
        .device_id = (int32_t)r->deviceId,
        .context_id = (int32_t)r->contextId,
        .stream_id = (int32_t)r->streamId,
        .correlation_id = r->correlationId,
        .copy_kind = r->copyKind,
        .src_kind = r->srcKind,
        .dst_kind = r->dstKind,
        .graph_node_id = (int64_t)r->graphNodeId,
    };
    int timed = set_times(&out.u.memcpy_.start_ns, &out.u.memcpy_.end_ns,
                          r->start, r->end);
    trace.sink.record(trace.sink.user, &out);
    return timed;
}

static int decode_memset(struct lab_cupti_view *view, const lab_cupti_memset *r)
{
    struct lab_record out = {.kind = LAB_RECORD_MEMSET};
    out.u.memcpy_ = (struct lab_memcpy_record){
        .exec = exec_of(view, r->correlationId),
        .bytes = (int64_t)r->bytes,
        .device_id = (int32_t)r->deviceId,
        .context_id = (int32_t)r->contextId,
        .stream_id = (int32_t)r->streamId,
        .correlation_id = r->correlationId,
        .value = r->value,
        .graph_node_id = (int64_t)r->graphNodeId,
    };
    int timed = set_times(&out.u.memcpy_.start_ns, &out.u.memcpy_.end_ns,
                          r->start, r->end);
    trace.sink.record(trace.sink.user, &out);
    return timed;
}

static int decode_call(struct lab_cupti_view *view, const lab_cupti_call *r)
{
    int driver = r->kind == CUPTI_ACTIVITY_KIND_DRIVER;
    bool own = r->threadId == view->thread;
    if (driver && r->cbid == CALL)
        return 1;
    struct lab_record out = {.kind = LAB_RECORD_API};
    out.u.api = (struct lab_api_record){
        .exec = own ? exec_of(view, r->correlationId) : LAB_UNKNOWN,
        .name = api_name(driver, r->cbid),
        .correlation_id = r->correlationId,
        .event_class = driver, /* nsys: 0 CUDA runtime, 1 CUDA driver */
        .return_value = (int32_t)r->returnValue,
        .global_tid = ((int64_t)(r->processId & 0xFFFFFF) << 24) |
                      (int64_t)(r->threadId & 0xFFFFFF),
        .device_id = -1,
        .stream_id = -1,
        .sync_type = -1,
    };
    int timed =
        set_times(&out.u.api.start_ns, &out.u.api.end_ns, r->start, r->end);
    trace.sink.record(trace.sink.user, &out);
    return timed;
}

static int decode_sync(struct lab_cupti_view *view, const lab_cupti_sync *r)
{
    struct lab_record out = {.kind = LAB_RECORD_SYNC};
    out.u.api = (struct lab_api_record){
        .exec = exec_of(view, r->correlationId),
        .correlation_id = r->correlationId,
        .device_id = -1,
        .stream_id = (int32_t)r->streamId, /* -1: not of one stream */
        .sync_type = (int32_t)r->type,
    };
    int timed =
        set_times(&out.u.api.start_ns, &out.u.api.end_ns, r->start, r->end);
    trace.sink.record(trace.sink.user, &out);
    return timed;
}

static const char *overhead_text(CUpti_ActivityOverheadKind kind)
{
    static const struct {
        int kind;
        const char *text;
    } texts[] = {{1, "Driver compiler"},
                 {1 << 16, "CUPTI buffer flush"},
                 {2 << 16, "CUPTI instrumentation"},
                 {3 << 16, "CUPTI resource"},
                 {4 << 16, "Module loading"},
                 {5 << 16, "Lazy function loading"},
                 {6 << 16, "Command buffer full"},
                 {7 << 16, "Activity buffer request"},
                 {8 << 16, "Unified memory tracing start"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (texts[i].kind == (int)kind)
            return texts[i].text;
    }
    return "Unknown overhead";
}

static int decode_overhead(const lab_cupti_overhead *r)
{
    struct lab_record out = {.kind = LAB_RECORD_OVERHEAD};
    out.u.overhead = (struct lab_overhead_record){
        .overhead_kind = (int32_t)r->overheadKind,
        .name =
            trace.sink.intern(trace.sink.user, overhead_text(r->overheadKind)),
    };
    int timed = set_times(&out.u.overhead.start_ns, &out.u.overhead.end_ns,
                          r->start, r->end);
    trace.sink.record(trace.sink.user, &out);
    return timed;
}

static int decode(struct lab_cupti_view *view, const CUpti_Activity *record)
{
    const void *r = record;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return decode_kernel(view, r);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return decode_memcpy(view, r);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return decode_memset(view, r);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return decode_call(view, r);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return decode_sync(view, r);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return decode_overhead(r);
    default:
        return 1;
    }
}

static const int64_t HAND_OVER_NS = 5000000000; /* patience of a flush */

static pthread_once_t trace_forks = PTHREAD_ONCE_INIT;

/* Who traces, from start() to the end of stop(). A lab that was left may still
 * be looking at its kernels when a lesson opens: the later one waits for it. */
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
        untimed += !decode(&view, record);
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

static enum lab_status trace_probe(char *text, size_t bytes)
{
    const struct lab_cupti *cupti = trace.cupti;
    CUpti_SubscriberHandle subscriber;
    if (!trace.started) {
        enum lab_status st = lab_cupti_attach(&cupti, &subscriber);
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
        mark_close();
    trace.marking = false;
}

/* From here on what CUPTI numbers belongs to what is pushed. */
static void mark(void)
{
    uint32_t id;
    if (trace.marking && cupti_mark(&id))
        lab_cupti_window_note(id);
}

static enum lab_status set_records(enum lab_gpu_records records, bool first)
{
    enum lab_status st = kinds_set(records, first);
    if (st || records == LAB_GPU_RECORDS_NONE) {
        end_marks();
        return st;
    }
    if (!trace.marking)
        st = mark_open();
    trace.marking = !st;
    if (st)
        kinds_set(LAB_GPU_RECORDS_NONE, false);
    else
        mark();
    return st;
}

static enum lab_status begin_trace(void)
{
    const struct lab_cupti *cupti = trace.cupti;
    CUptiResult r = cupti->cuptiActivityRegisterCallbacks(buffer_requested,
                                                          buffer_completed);
    if (r != CUPTI_SUCCESS)
        return lab_cupti_check(cupti, r, "register callbacks");
    /* The system's ids: those of the ranges, and of cupti_window.h. */
    r = cupti->cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (r != CUPTI_SUCCESS)
        return lab_cupti_check(cupti, r, "number threads");
    enum lab_status st = set_records(trace.wanted, true);
    if (st)
        kinds_end();
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
    decode_reset();
    lab_cupti_window_reset();
}

static enum lab_status trace_start(const struct lab_gpu_sink *sink,
                                   const struct lab_gpu_trace_options *options)
{
    if (!take_turn())
        return lab_fail(LAB_E_STATE,
                        "[trace.twice] the GPU is being traced already");
    enum lab_status st = lab_cupti_attach(&trace.cupti, &trace.subscriber);
    if (!st) {
        reset(sink, options);
        trace.accepting = true;
        st = begin_trace();
        trace.accepting = !st;
        if (st)
            lab_cupti_detach();
    }
    if (st)
        give_turn();
    trace.started = !st;
    return st;
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

static enum lab_status trace_flush(void)
{
    if (!trace.started)
        return lab_fail(LAB_E_STATE,
                        "[trace.not-started] the GPU is not being traced");
    CUptiResult r = trace.cupti->cuptiActivityFlushAll(0);
    trace.flushes++;
    if (r == CUPTI_SUCCESS && !wait_for_callbacks())
        return lab_fail(
            LAB_E_DEVICE,
            "[trace.not-flushed] CUPTI did not hand its records over");
    return lab_cupti_check(trace.cupti, r, "flush");
}

enum lab_status lab_cupti_trace_pause(bool on)
{
    if (!trace.started)
        return LAB_OK;
    enum lab_status st =
        set_records(on ? LAB_GPU_RECORDS_NONE : trace.wanted, false);
    if (st)
        trace.wanted = LAB_GPU_RECORDS_NONE;
    return st;
}

static enum lab_status trace_records(enum lab_gpu_records records)
{
    if (!trace.started || trace.wanted == records)
        return LAB_OK;
    enum lab_status st = set_records(records, false);
    trace.wanted = st ? LAB_GPU_RECORDS_NONE : records;
    return st;
}

static void trace_stop(void)
{
    if (!trace.started)
        return;
    trace.started = false;
    end_marks();
    kinds_end();
    trace.cupti->cuptiActivityFlushAll(0);
    trace.cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    wait_for_callbacks();
    /* A sink that is stuck takes one more record at most; the sink is freed
     * after this call, and so the callback must have left it. */
    trace.accepting = false;
    while (!wait_for_callbacks())
        continue;
    lab_cupti_detach();
    for (void *buffer = pool_take(); buffer; buffer = pool_take())
        lab_free(buffer);
    give_turn();
}

static void trace_push(int64_t exec)
{
    if (!trace.started)
        return;
    lab_cupti_window_push(exec);
    mark();
}

static void trace_pop(void)
{
    if (!trace.started)
        return;
    lab_cupti_window_pop();
    mark();
}

static void trace_stats(struct lab_gpu_trace_stats *out)
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
#endif

/* ---- the lesson's structure as NVTX ranges, for nsys and ncu ---- */

#ifdef LAB_HAVE_NVTX
enum { CATEGORY_FIRST = 1 }; /* 0 is NVTX's "no category" */

static nvtxDomainHandle_t nvtx_domain;
static pthread_once_t nvtx_once = PTHREAD_ONCE_INIT;

static void make_domain(void)
{
    static const char *const names[LAB_RANGE_LEVEL_COUNT] = {
        "run", "iteration", "phase", "node", "step", "between steps"};
    nvtx_domain = nvtxDomainCreateA("lapenna-lab");
    for (uint32_t i = 0; i < LAB_RANGE_LEVEL_COUNT; i++)
        nvtxDomainNameCategoryA(nvtx_domain, CATEGORY_FIRST + i, names[i]);
}

/* A phase has one colour on all its levels; colours that colour-blind readers
 * can tell apart. */
static uint32_t colour_of(const struct lab_gpu_range *range)
{
    switch (range->phase) {
    case LAB_FORWARD:
        return 0xFF0072B2; /* blue */
    case LAB_LOSS:
        return 0xFFF0E442; /* yellow */
    case LAB_BACKWARD:
        return 0xFFD55E00; /* orange */
    case LAB_UPDATE:
        return 0xFF009E73; /* green */
    default:
        return 0xFF999999; /* grey */
    }
}

static void nvtx_range_push(const struct lab_gpu_range *range)
{
    nvtxEventAttributes_t a = {0};
    pthread_once(&nvtx_once, make_domain);
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.category = CATEGORY_FIRST + (uint32_t)range->level;
    a.colorType = NVTX_COLOR_ARGB;
    a.color = colour_of(range);
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = range->text;
    if (range->value != LAB_UNKNOWN) {
        a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
        a.payload.llValue = range->value;
    }
    nvtxDomainRangePushEx(nvtx_domain, &a);
}

static void nvtx_range_pop(void)
{
    pthread_once(&nvtx_once, make_domain);
    nvtxDomainRangePop(nvtx_domain);
}
#else
static void nvtx_range_push(const struct lab_gpu_range *range)
{
    (void)range;
}

static void nvtx_range_pop(void)
{
}
#endif

/* ---- the table ---- */

#ifndef LAB_HAVE_CUPTI
static enum lab_status left_out(void)
{
    return lab_fail(
        LAB_E_UNSUPPORTED,
        "[trace.not-built] the CUDA module was built without CUPTI's headers: "
        "install the cuda-cupti development package and build "
        "again");
}

static enum lab_status no_probe(char *text, size_t bytes)
{
    (void)text;
    (void)bytes;
    return left_out();
}

static enum lab_status no_start(const struct lab_gpu_sink *sink,
                                const struct lab_gpu_trace_options *options)
{
    (void)sink;
    (void)options;
    return left_out();
}
#endif

const struct lab_gpu_profiler_ops lab_gpu_profiler_cupti = {
    .abi = LAB_GPU_PROFILER_ABI,
    .error = lab_error,
#ifdef LAB_HAVE_CUPTI
    .probe = trace_probe,
    .start = trace_start,
    .stop = trace_stop,
    .flush = trace_flush,
    .set_records = trace_records,
    .push = trace_push,
    .pop = trace_pop,
    .stats = trace_stats,
#else /* start() fails, so that the rest is never reached */
    .probe = no_probe,
    .start = no_start,
#endif
    .range_push = nvtx_range_push,
    .range_pop = nvtx_range_pop,
    .counters = &lab_cupti_counter_ops,
};
