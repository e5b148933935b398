/* kernels/gemm/tf32x3_sm90.h -- lab_tf32x3_multiply() on compute capability 9.0. */
#pragma once
#include "library/cublas_exec.h"

LAB_C_BEGIN
enum lab_status lab_tf32x3_sm90(const struct lab_call *call,
                                const struct lab_cublas_product *p,
                                const float *bias, void *room,
                                size_t room_bytes);
LAB_C_END
