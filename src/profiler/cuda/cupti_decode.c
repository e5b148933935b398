#include "cupti_decode.h"

#ifdef LAB_HAVE_CUPTI
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cupti_mark.h"

enum { API_NAMES = 1024, DOMAINS = 2 };

/* 0: not asked yet. A race finds the same id twice, which harms nobody. */
static atomic_uint api_names[DOMAINS][API_NAMES];

void lab_cupti_decode_reset(void)
{
    for (int d = 0; d < DOMAINS; d++) {
        for (int i = 0; i < API_NAMES; i++)
            api_names[d][i] = 0;
    }
}

static uint32_t api_name(const struct lab_cupti *cupti,
                         const struct lab_gpu_sink *sink, int driver,
                         CUpti_CallbackId id)
{
    const char *text = NULL;
    uint32_t name = id < API_NAMES ? api_names[driver][id] : 0;
    if (name != 0)
        return name;
    CUpti_CallbackDomain domain =
        driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
    if (cupti->cuptiGetCallbackName(domain, id, &text) != CUPTI_SUCCESS ||
        !text)
        return 0;
    name = sink->intern(sink->user, text);
    if (id < API_NAMES)
        api_names[driver][id] = name;
    return name;
}

/* Both 0 is CUPTI's way to say that no time could be taken. */
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

static int decode_kernel(const struct lab_gpu_sink *sink,
                         struct lab_cupti_view *view, const lab_cupti_kernel *r)
{
    struct lab_kernel_record k = {
        .exec = exec_of(view, r->correlationId),
        .device_id = (int32_t)r->deviceId,
        .context_id = (int32_t)r->contextId,
        .stream_id = (int32_t)r->streamId,
        .correlation_id = r->correlationId,
        .registers_per_thread = r->registersPerThread,
        .grid = {r->gridX, r->gridY, r->gridZ},
        .block = {r->blockX, r->blockY, r->blockZ},
        .cluster = {(int32_t)r->clusterX, (int32_t)r->clusterY,
                    (int32_t)r->clusterZ},
        .static_shared_bytes = r->staticSharedMemory,
        .dynamic_shared_bytes = r->dynamicSharedMemory,
        .shared_executed_bytes = (int32_t)r->sharedMemoryExecuted,
        .local_per_thread_bytes = (int32_t)r->localMemoryPerThread,
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
    sink->kernel(sink->user, &k, &launch);
    return timed;
}

static int decode_memcpy(const struct lab_gpu_sink *sink,
                         struct lab_cupti_view *view, const lab_cupti_memcpy *r)
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
    sink->record(sink->user, &out);
    return timed;
}

static int decode_memset(const struct lab_gpu_sink *sink,
                         struct lab_cupti_view *view, const lab_cupti_memset *r)
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
    sink->record(sink->user, &out);
    return timed;
}

static int decode_call(const struct lab_cupti *cupti,
                       const struct lab_gpu_sink *sink,
                       struct lab_cupti_view *view, const lab_cupti_call *r)
{
    int driver = r->kind == CUPTI_ACTIVITY_KIND_DRIVER;
    bool own = r->threadId == view->thread;
    if (driver && lab_cupti_is_mark(r->cbid))
        return 1;
    struct lab_record out = {.kind = LAB_RECORD_API};
    out.u.api = (struct lab_api_record){
        .exec = own ? exec_of(view, r->correlationId) : LAB_UNKNOWN,
        .name = api_name(cupti, sink, driver, r->cbid),
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
    sink->record(sink->user, &out);
    return timed;
}

static int decode_sync(const struct lab_gpu_sink *sink,
                       struct lab_cupti_view *view, const lab_cupti_sync *r)
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
    sink->record(sink->user, &out);
    return timed;
}

static const char *overhead_text(CUpti_ActivityOverheadKind kind)
{
    switch ((int)kind) {
    case 1:
        return "Driver compiler";
    case 1 << 16:
        return "CUPTI buffer flush";
    case 2 << 16:
        return "CUPTI instrumentation";
    case 3 << 16:
        return "CUPTI resource";
    case 4 << 16:
        return "Module loading";
    case 5 << 16:
        return "Lazy function loading";
    case 6 << 16:
        return "Command buffer full";
    case 7 << 16:
        return "Activity buffer request";
    case 8 << 16:
        return "Unified memory tracing start";
    default:
        return "Unknown overhead";
    }
}

static int decode_overhead(const struct lab_gpu_sink *sink,
                           const lab_cupti_overhead *r)
{
    struct lab_record out = {.kind = LAB_RECORD_OVERHEAD};
    out.u.overhead = (struct lab_overhead_record){
        .overhead_kind = (int32_t)r->overheadKind,
        .name = sink->intern(sink->user, overhead_text(r->overheadKind)),
    };
    int timed = set_times(&out.u.overhead.start_ns, &out.u.overhead.end_ns,
                          r->start, r->end);
    sink->record(sink->user, &out);
    return timed;
}

int lab_cupti_decode(const struct lab_cupti *cupti,
                     const struct lab_gpu_sink *sink,
                     struct lab_cupti_view *view, const CUpti_Activity *record)
{
    const void *r = record;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return decode_kernel(sink, view, r);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return decode_memcpy(sink, view, r);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return decode_memset(sink, view, r);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return decode_call(cupti, sink, view, r);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return decode_sync(sink, view, r);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return decode_overhead(sink, r);
    default:
        return 1;
    }
}
#else
typedef int lab_cupti_decode_left_out;
#endif
