/* kernels/tf32x3/tf32x3.h -- products of fp32 numbers by the tensor cores, about as exact as
 * those of the fp32 units: see tf32x3_sm90.cuh. */
#pragma once
#include "library/cublas_exec.h"

LAB_C_BEGIN
/* C = op(A) op(B) + beta C + bias, as lab_cublas_multiply(); `bias` has n numbers, one
 * for each column of C, or is NULL. `room` is device memory of room_bytes for the sums
 * of pieces, where the depth is cut; 0: it is not cut. LAB_E_UNSUPPORTED: as
 * lab_tf32x3_prepare(), or both matrices are transposed; LAB_E_RANGE: a side is more
 * than 2^31 - 129, or there are more tiles than an int counts. */
enum lab_status lab_tf32x3_multiply(const struct lab_call *call,
                                    const struct lab_cublas_product *p,
                                    const float *bias, void *room,
                                    size_t room_bytes);
/* LAB_E_UNSUPPORTED: the device, or this build, has no code for it. */
lab_kernel_fn lab_tf32x3_prepare;
LAB_C_END
