/* kernels/dense/dense_cuda.cuh -- the launchers of the dense layer, one file a rung:
 *   dense.cu         naive products, bias, and the table of all of them
 *   dense_tiled.cu   tiles in shared memory
 *   dense_blocked.cu tiles in shared memory and in registers
 *   dense_cublas.cu  NVIDIA's library
 *   dense_fused.cu   product, bias and activation in one kernel */
#pragma once
#include "dense/dense.h"
#include "common/launch.cuh"

/* The shape of a call: x (N, K), W (K, M), xW (N, M). */
struct dense_shape {
    int64_t N;
    int64_t K;
    int64_t M;
};

static inline struct dense_shape dense_shape_of(const struct lab_view *x,
                                                const struct lab_view *W)
{
    return {lab_view_rows(x), lab_view_cols(x), lab_view_cols(W)};
}

/* out = xW + b, the sizes as out[0] of the call; out may be xW. */
enum lab_status dense_add_bias(const struct lab_call *call, float *out,
                               const float *xW, const float *b);
lab_kernel_fn dense_tiled_forward;
lab_kernel_fn dense_tiled_backward;
lab_kernel_fn dense_blocked_forward;
lab_kernel_fn dense_blocked_backward;
lab_kernel_fn dense_cublas_forward;
lab_kernel_fn dense_cublas_backward;
/* The whole layer, bias and all (dense.h: group); its params are not read. */
lab_kernel_fn dense_cublas_layer;
lab_kernel_fn dense_fused_forward;
