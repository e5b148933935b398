/* A library with CUPTI's function names, which the profiler's tests load in
 * place of libcupti; fake_cupti.h has how a test steers it. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cupti_compat.h"
#include "fake_cupti.h"

enum { SPOILT = 0x7FFF };

static struct fake_cupti state;
static CUpti_BuffersCallbackRequestFunc requested;
static CUpti_BuffersCallbackCompleteFunc completed;
static uint8_t *buffer;
static size_t size;
static size_t used;
static uint64_t clock_ns = 1000;
static int enabled[CUPTI_ACTIVITY_KIND_COUNT];

struct fake_cupti *fake_cupti_state(void)
{
    return &state;
}

static size_t bytes_of(int kind)
{
    size_t n;
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        n = sizeof(lab_cupti_kernel);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        n = sizeof(lab_cupti_memcpy);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        n = sizeof(lab_cupti_memset);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        n = sizeof(lab_cupti_call);
        break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        n = sizeof(lab_cupti_sync);
        break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        n = sizeof(lab_cupti_overhead);
        break;
    default:
        n = sizeof(CUpti_ActivityExternalCorrelation);
    }
    return (n + 7) / 8 * 8;
}

static void give_back(void)
{
    uint8_t *full = buffer;
    buffer = NULL;
    if (!full)
        return;
    state.buffers_out--;
    completed(NULL, 0, full, size, used);
}

static void *hand(void *user)
{
    (void)user;
    give_back();
    return NULL;
}

void fake_cupti_hand_over(void)
{
    pthread_t worker;
    if (pthread_create(&worker, NULL, hand, NULL) == 0)
        pthread_join(worker, NULL);
}

static void put(int kind, const void *record)
{
    size_t n = bytes_of(kind);
    if (kind != SPOILT && kind < CUPTI_ACTIVITY_KIND_COUNT && !enabled[kind])
        return;
    if (buffer && used + n > size)
        fake_cupti_hand_over();
    if (!buffer) {
        size_t max = 0;
        requested(&buffer, &size, &max);
        state.buffers_requested++;
        state.buffers_out += buffer != NULL;
        used = 0;
    }
    if (!buffer) {
        state.lost++;
        return;
    }
    memcpy(buffer + used, record, n);
    used += n;
}

static void put_call_of(int kind, uint32_t id, CUpti_CallbackId call)
{
    lab_cupti_call a = {.kind = (CUpti_ActivityKind)kind,
                        .cbid = call,
                        .start = clock_ns,
                        .end = clock_ns + 5,
                        .processId = 77,
                        .threadId =
                            state.thread ? state.thread : (uint32_t)gettid(),
                        .correlationId = id};
    put(kind, &a);
}

static void put_call(int kind, uint32_t id)
{
    put_call_of(kind, id, 211);
}

static void put_mark(uint32_t id)
{
    put_call_of(CUPTI_ACTIVITY_KIND_DRIVER, id,
                CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion);
}

void fake_cupti_launch(const char *name, int times_known)
{
    uint32_t id = ++state.correlation_id;
    clock_ns += 100;
    put_call(CUPTI_ACTIVITY_KIND_RUNTIME, id);
    lab_cupti_kernel k = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                          .registersPerThread = 40,
                          .start = times_known ? clock_ns + 10 : 0,
                          .end = times_known ? clock_ns + 30 : 0,
                          .deviceId = 0,
                          .contextId = 1,
                          .streamId = 7,
                          .gridX = 10,
                          .gridY = 2,
                          .gridZ = 1,
                          .blockX = 128,
                          .blockY = 1,
                          .blockZ = 1,
                          .staticSharedMemory = 512,
                          .dynamicSharedMemory = 1024,
                          .correlationId = id,
                          .name = name,
                          .shmemLimitConfig = CUPTI_FUNC_SHMEM_LIMIT_OPTIN,
                          .localMemoryTotal_v2 = 1 << 20};
    put(k.kind, &k);
}

void fake_cupti_others(void)
{
    uint32_t id = ++state.correlation_id;
    put_call(CUPTI_ACTIVITY_KIND_DRIVER, id);
    lab_cupti_memcpy c = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                          .copyKind = 1,
                          .bytes = 4096,
                          .start = 5,
                          .end = 9,
                          .correlationId = id};
    lab_cupti_memset m = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                          .value = 3,
                          .bytes = 64,
                          .start = 10,
                          .end = 11,
                          .correlationId = id};
    lab_cupti_sync s = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                        .type = 3,
                        .start = 12,
                        .end = 13,
                        .streamId = 7,
                        .correlationId = id};
    lab_cupti_overhead o = {.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
                            .overheadKind =
                                CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH,
                            .start = 14,
                            .end = 20};
    CUpti_ActivityExternalCorrelation foreign = {
        .kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
        .externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC,
        .externalId = 999,
        .correlationId = id};
    put(c.kind, &c);
    put(m.kind, &m);
    put(s.kind, &s);
    put(o.kind, &o);
    put(foreign.kind, &foreign);
}

void fake_cupti_spoil(void)
{
    CUpti_ActivityExternalCorrelation e = {.kind = (CUpti_ActivityKind)SPOILT};
    put(SPOILT, &e);
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = state.version ? state.version : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **str)
{
    (void)result;
    *str = "CUPTI_ERROR_PLAYED";
    return CUPTI_SUCCESS;
}

static CUpti_CallbackFunc state_callback;

static CUptiResult subscribe(CUpti_SubscriberHandle *subscriber)
{
    *subscriber = NULL;
    if (state.subscribe_gives == CUPTI_SUCCESS)
        state.subscribed++;
    return (CUptiResult)state.subscribe_gives;
}

#ifdef CUpti_SubscriberParams_STRUCT_SIZE
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber,
                              CUpti_CallbackFunc callback, void *userdata,
                              CUpti_SubscriberParams *params)
{
    state_callback = callback;
    (void)userdata;
    if (params->structSize != CUpti_SubscriberParams_STRUCT_SIZE)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (state.subscribe_gives && state.other_tool &&
        params->oldSubscriberSize >= CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN)
        strcpy(params->oldSubscriberName, state.other_tool);
    return subscribe(subscriber);
}
#else
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber,
                           CUpti_CallbackFunc callback, void *userdata)
{
    state_callback = callback;
    (void)userdata;
    return subscribe(subscriber);
}
#endif

/* One launch as CUPTI's callbacks tell it: going in, coming out. */
void fake_cupti_count_launch(void)
{
    CUresult ok = CUDA_SUCCESS;
    CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER,
                               .functionReturnValue = &ok};
    state.launched++;
    if (state.callbacks_on <= 0 || !state_callback)
        return;
    state_callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API,
                   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
    data.callbackSite = CUPTI_API_EXIT;
    state_callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API,
                   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
}

CUptiResult cuptiEnableCallback(uint32_t enable,
                                CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain,
                                CUpti_CallbackId id)
{
    (void)subscriber;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API &&
        id == CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion) {
        if (state.callback_gives)
            return (CUptiResult)state.callback_gives;
        state.marks_on = (int)enable;
        return CUPTI_SUCCESS;
    }
    state.callbacks_on += enable ? 1 : -1;
    return CUPTI_SUCCESS;
}

/* Two calls of the driver, which the tracer finds as it finds libcuda's. */
CUresult cuInit(unsigned flags)
{
    (void)flags;
    state.init_first = 0;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    uint32_t id = ++state.correlation_id;
    CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER,
                               .correlationId = id};
    *version = CUDA_VERSION;
    if (state.marks_traced)
        put_mark(id);
    if (!state.marks_on || state.no_ids || state.init_first)
        return CUDA_SUCCESS;
    state_callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API,
                   CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion, &data);
    data.callbackSite = CUPTI_API_EXIT;
    data.correlationId = 0;
    state_callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API,
                   CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion, &data);
    return CUDA_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    (void)subscriber;
    state.subscribed--;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                               CUpti_BuffersCallbackCompleteFunc complete)
{
    requested = request;
    completed = complete;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    if ((int)kind == state.enable_fails_for)
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    state.kinds_on += !enabled[kind];
    if (kind != CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
        state.records_on += !enabled[kind];
    enabled[kind] = 1;
    if (kind == CUPTI_ACTIVITY_KIND_RUNTIME ||
        kind == CUPTI_ACTIVITY_KIND_DRIVER)
        state.calls_left_out =
            0; /* the kind overrides what was set for calls */
    return CUPTI_SUCCESS;
}

static CUptiResult leave_out(CUpti_ActivityKind kind, uint8_t enable)
{
    if (!enabled[kind])
        return CUPTI_ERROR_NOT_INITIALIZED;
    state.calls_left_out += !enable;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId call, uint8_t enable)
{
    (void)call;
    return leave_out(CUPTI_ACTIVITY_KIND_RUNTIME, enable);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId call, uint8_t enable)
{
    (void)call;
    return leave_out(CUPTI_ACTIVITY_KIND_DRIVER, enable);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    state.kinds_on -= enabled[kind];
    if (kind != CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
        state.records_on -= enabled[kind];
    enabled[kind] = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    if (state.flush_gives)
        return (CUptiResult)state.flush_gives;
    state.forced_flushes += flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
    give_back();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *from, size_t valid,
                                       CUpti_Activity **record)
{
    size_t at = 0;
    if (*record)
        at = (size_t)((uint8_t *)*record - from) + bytes_of((*record)->kind);
    if (at >= valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    CUpti_Activity *next = (CUpti_Activity *)(void *)(from + at);
    if ((int)next->kind == SPOILT)
        return CUPTI_ERROR_INVALID_KIND;
    *record = next;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context,
                                              uint32_t stream, size_t *dropped)
{
    (void)context;
    (void)stream;
    *dropped = state.dropped;
    state.dropped = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
    state.thread_ids = (int)type;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
                                 const char **name)
{
    (void)cbid;
    *name = domain == CUPTI_CB_DOMAIN_DRIVER_API ? "cuMemcpyHtoDAsync_v2"
                                                 : "cudaLaunchKernel_v7000";
    return CUPTI_SUCCESS;
}
