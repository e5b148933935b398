/* profiler/cuda/cupti_api.h -- libcupti's functions, found at run time.
 *
 * The module must load on a machine that has no CUPTI, so that it is opened
 * when it is first wanted. It is looked for at $LAPENNA_LAB_CUPTI (then nowhere
 * else), where the loader looks, beside the CUDA libraries that are loaded
 * already (a toolkit's and Python's layout), in $CUDA_HOME and $CUDA_PATH, in
 * the toolkit of the nvcc on $PATH, and in /usr/local/cuda. Threads: any. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "cupti_compat.h"

#ifdef LAB_HAVE_CUPTI
#ifdef CUpti_SubscriberParams_STRUCT_SIZE
#define LAB_CUPTI_SUBSCRIBE cuptiSubscribe_v2
#else
#define LAB_CUPTI_SUBSCRIBE cuptiSubscribe
#endif

#define LAB_CUPTI_LIST(X)                                                      \
    X(cuptiGetVersion)                                                         \
    X(cuptiGetResultString)                                                    \
    X(LAB_CUPTI_SUBSCRIBE)                                                     \
    X(cuptiUnsubscribe)                                                        \
    X(cuptiActivityRegisterCallbacks)                                          \
    X(cuptiActivityEnable)                                                     \
    X(cuptiActivityDisable)                                                    \
    X(cuptiActivityFlushAll)                                                   \
    X(cuptiActivityGetNextRecord)                                              \
    X(cuptiActivityGetNumDroppedRecords)                                       \
    X(cuptiSetThreadIdType)                                                    \
    X(cuptiGetCallbackName)                                                    \
    X(cuptiEnableCallback)

/* What counting needs besides: a libcupti that lacks one of these traces, and
 * does not count. */
#define LAB_CUPTI_COUNTER_LIST(X)                                              \
    X(cuptiProfilerInitialize)                                                 \
    X(cuptiProfilerDeviceSupported)                                            \
    X(cuptiProfilerGetCounterAvailability)                                     \
    X(cuptiDeviceGetChipName)                                                  \
    X(cuptiProfilerHostInitialize)                                             \
    X(cuptiProfilerHostDeinitialize)                                           \
    X(cuptiProfilerHostConfigAddMetrics)                                       \
    X(cuptiProfilerHostGetConfigImageSize)                                     \
    X(cuptiProfilerHostGetConfigImage)                                         \
    X(cuptiProfilerHostGetNumOfPasses)                                         \
    X(cuptiProfilerHostEvaluateToGpuValues)                                    \
    X(cuptiRangeProfilerEnable)                                                \
    X(cuptiRangeProfilerDisable)                                               \
    X(cuptiRangeProfilerGetCounterDataSize)                                    \
    X(cuptiRangeProfilerCounterDataImageInitialize)                            \
    X(cuptiRangeProfilerSetConfig)                                             \
    X(cuptiRangeProfilerStart)                                                 \
    X(cuptiRangeProfilerStop)                                                  \
    X(cuptiRangeProfilerDecodeData)                                            \
    X(cuptiRangeProfilerGetCounterDataInfo)

enum { LAB_CUPTI_PATH_BYTES = 512 };

struct lab_cupti {
#define X(name) __typeof__(name) *name;
    LAB_CUPTI_LIST(X)
#undef X
    /* NULL: a libcupti that traces every call or none. */
    CUptiResult (*enable_runtime_call)(CUpti_CallbackId call, uint8_t enable);
    CUptiResult (*enable_driver_call)(CUpti_CallbackId call, uint8_t enable);
#ifdef LAB_HAVE_COUNTERS
#define X(name) __typeof__(name) *name; /* NULL: see no_counters */
    LAB_CUPTI_COUNTER_LIST(X)
#undef X
    const char *no_counters; /* the function that is missing; NULL: none */
#endif
    uint32_t version;
    char path[LAB_CUPTI_PATH_BYTES];
};

/* Opens libcupti once for the process; it stays open. On failure `why` states
 * what is missing and the remedy, and the next call looks again.
 * Errors: LAB_E_UNSUPPORTED. */
enum lab_status lab_cupti_load(const struct lab_cupti **out, char *why,
                               size_t why_bytes);
/* CUPTI's words for a result; never NULL. */
const char *lab_cupti_text(const struct lab_cupti *cupti, CUptiResult result);
#endif
