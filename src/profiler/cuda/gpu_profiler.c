/* gpu_profiler.c -- what the CUDA module offers the profiler: CUPTI's trace and
 * counters, and the lesson's structure as NVTX ranges, for nsys and ncu. */
#include "cupti_compat.h"
#include "profiler/gpu.h"
#include "cupti_counters.h"
#include "cupti_trace.h"

#ifdef LAB_HAVE_NVTX
#include <pthread.h>

#include <nvtx3/nvToolsExt.h>

#include "common/kernel.h"

enum { CATEGORY_FIRST = 1 }; /* 0 is NVTX's "no category" */

static nvtxDomainHandle_t domain;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_domain(void)
{
    static const char *const names[LAB_RANGE_LEVEL_COUNT] = {
        "run", "iteration", "phase", "node", "step", "between steps"};
    domain = nvtxDomainCreateA("lapenna-lab");
    for (uint32_t i = 0; i < LAB_RANGE_LEVEL_COUNT; i++)
        nvtxDomainNameCategoryA(domain, CATEGORY_FIRST + i, names[i]);
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
    pthread_once(&once, make_domain);
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
    nvtxDomainRangePushEx(domain, &a);
}

static void nvtx_range_pop(void)
{
    pthread_once(&once, make_domain);
    nvtxDomainRangePop(domain);
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

#ifndef LAB_HAVE_CUPTI
static enum lab_status left_out(void)
{
    return lab_fail(LAB_E_UNSUPPORTED,
                    "the CUDA module was built without CUPTI's headers: "
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
    .probe = lab_cupti_trace_probe,
    .start = lab_cupti_trace_start,
    .stop = lab_cupti_trace_stop,
    .flush = lab_cupti_trace_flush,
    .set_records = lab_cupti_trace_records,
    .push = lab_cupti_trace_push,
    .pop = lab_cupti_trace_pop,
    .stats = lab_cupti_trace_stats,
#else /* start() fails, so that the rest is never reached */
    .probe = no_probe,
    .start = no_start,
#endif
    .range_push = nvtx_range_push,
    .range_pop = nvtx_range_pop,
    .counters = &lab_cupti_counter_ops,
};
