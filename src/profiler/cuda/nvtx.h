/* profiler/cuda/nvtx.h -- the lesson's structure as NVTX ranges, for nsys and
 * ncu. profiler/gpu.h says what the slots promise. */
#pragma once
#include "profiler/gpu.h"

void lab_nvtx_range_push(const struct lab_gpu_range *range);
void lab_nvtx_range_pop(void);
