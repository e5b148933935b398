/* profiler/cuda/cupti_compat.h -- CUPTI's headers, where the toolkit has them.
 *
 * Records are read through the oldest struct that has every field used here:
 * CUPTI only appends fields, so the code compiles and runs with CUDA 12 and 13
 * alike. */
#pragma once
#if defined(__has_include)
#if __has_include(<cupti.h>)
#define LAB_HAVE_CUPTI 1
#endif
#if __has_include(<cupti_range_profiler.h>) && __has_include(<cupti_target.h>)
#define LAB_HAVE_COUNTERS 1
#endif
#if __has_include(<nvtx3/nvToolsExt.h>)
#define LAB_HAVE_NVTX 1
#endif
#endif

#ifdef LAB_HAVE_CUPTI
#include <cupti.h>
#ifdef LAB_HAVE_COUNTERS
/* cupti_profiler_host.h asks for C++'s <string> and uses nothing of it; the
 * directory no_cpp/ has an empty one for it. */
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#endif
typedef CUpti_ActivityKernel9 lab_cupti_kernel;
typedef CUpti_ActivityMemcpy5 lab_cupti_memcpy;
typedef CUpti_ActivityMemset4 lab_cupti_memset;
typedef CUpti_ActivityAPI lab_cupti_call;
typedef CUpti_ActivitySynchronization lab_cupti_sync;
typedef CUpti_ActivityOverhead lab_cupti_overhead;
#endif
