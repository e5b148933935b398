/* kernels/labs/cpu_rungs.h -- the CPU's rungs that need no library. */
#pragma once
#include "labs/rung.h"

lab_kernel_fn lab_cpu_add;
lab_kernel_fn lab_cpu_saxpy;
lab_kernel_fn lab_cpu_transpose, lab_cpu_transpose_blocked;
lab_kernel_fn lab_cpu_sum, lab_cpu_sum_lanes;
lab_kernel_fn lab_cpu_gemm, lab_cpu_gemm_rows, lab_cpu_gemm_blocked;

extern const struct lab_rung lab_cpu_rungs[];
extern const int lab_cpu_rung_count;
