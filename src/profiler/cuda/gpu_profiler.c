#include "profiler/gpu.h"

#include "cupti_counters.h"
#include "cupti_trace.h"
#include "nvtx.h"

const struct lab_gpu_profiler_ops lab_gpu_profiler_cupti = {
    .abi = LAB_GPU_PROFILER_ABI,
    .probe = lab_cupti_trace_probe,
    .start = lab_cupti_trace_start,
    .stop = lab_cupti_trace_stop,
    .flush = lab_cupti_trace_flush,
    .set_records = lab_cupti_trace_records,
    .push = lab_cupti_trace_push,
    .pop = lab_cupti_trace_pop,
    .range_push = lab_nvtx_range_push,
    .range_pop = lab_nvtx_range_pop,
    .stats = lab_cupti_trace_stats,
    .counters = &lab_cupti_counter_ops,
};
