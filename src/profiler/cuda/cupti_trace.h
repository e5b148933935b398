/* profiler/cuda/cupti_trace.h -- CUPTI's activity trace, as counting sees it. The
 * rest of it is behind struct lab_gpu_profiler_ops (profiler/gpu.h). */
#pragma once
#include <stdbool.h>
#include "base/status.h"

/* Nothing is recorded until it goes on. Needed around counting: with kernel
 * records on, the counts of executed instructions that CUPTI gives for a user's
 * replay are all 0 (seen on GH100 with CUPTI 13.0). No-op when not started. */
enum lab_status lab_cupti_trace_pause(bool on);
