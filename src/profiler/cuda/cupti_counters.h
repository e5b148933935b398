/* profiler/cuda/cupti_counters.h -- hardware counters of every kernel, by
 * CUPTI's Range Profiler; the functions of struct lab_gpu_counter_ops.
 *
 * One range a kernel (auto range), and whoever counts runs the work again for
 * every pass (user replay): that is many times faster than having CUPTI save
 * and restore memory around each kernel. */
#pragma once
#include "profiler/gpu.h"

extern const struct lab_gpu_counter_ops lab_cupti_counter_ops;
