/* profiler/cuda/cupti_api.h -- libcupti: found at run time, and subscribed to.
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

/* Opens libcupti once for the process; it stays open. After a failure the next
 * call looks again. Errors: LAB_E_UNSUPPORTED, what is missing and the remedy
 * in lab_error(). */
enum lab_status lab_cupti_load(const struct lab_cupti **out);
/* Called for every callback that is enabled, on the thread that made the call
 * of CUDA. */
typedef void lab_cupti_callback_fn(CUpti_CallbackDomain domain,
                                   CUpti_CallbackId id,
                                   const CUpti_CallbackData *data);

/* Loads libcupti and becomes its one subscriber, by which tools find out about
 * each other; a second holder (tracing, counting) gets the same subscription.
 * Errors: LAB_E_UNSUPPORTED no usable CUPTI, LAB_E_STATE another tool is
 * attached, LAB_E_DEVICE CUPTI refused; lab_error() has the remedy. */
enum lab_status lab_cupti_attach(const struct lab_cupti **cupti,
                                 CUpti_SubscriberHandle *subscriber);
void lab_cupti_detach(void);
/* One listener at a time; NULL: none. */
void lab_cupti_listen(lab_cupti_callback_fn *listener);
/* One call of the driver goes to `listener` instead; NULL: to no listener. */
void lab_cupti_listen_marks(CUpti_CallbackId call,
                            lab_cupti_callback_fn *listener);
/* LAB_OK for CUPTI_SUCCESS; else the refusal to do `what`, with its remedy. */
enum lab_status lab_cupti_check(const struct lab_cupti *cupti, CUptiResult r,
                                const char *what);
#endif
