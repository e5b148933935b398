/* kernels/dense/dense_cuda.cuh -- the launchers of the dense layer, one file a variant:
 *   dense.cu         naive products, bias, and the table of all of them
 *   dense_tiled.cu   tiles in shared memory
 *   dense_blocked.cu tiles in shared memory and in registers
 *   dense_cublas.cu  NVIDIA's library
 *   dense_tf32x3.cu  three products of the tensor cores
 *   dense_fused.cu   product, bias and activation in one kernel */
#pragma once
#include "dense/dense.h"
#include "library/cublas_exec.h"
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

/* The three products as a library or tf32x3 takes them. */
static inline struct lab_cublas_product dense_xW(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[0], &call->in[1]);
    return {s.N, s.M,   s.K,  lab_in(call, 0),  s.K, false, lab_in(call, 1),
            s.M, false, 0.0f, lab_out(call, 0), s.M};
}

static inline struct lab_cublas_product dense_dW(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[1], &call->in[2]);
    return {s.K, s.M,   s.N,  lab_in(call, 1),  s.K, true, lab_in(call, 0),
            s.M, false, 0.0f, lab_out(call, 0), s.M};
}

static inline struct lab_cublas_product dense_dx(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[1], &call->in[2]);
    return {s.N, s.K,  s.M,  lab_in(call, 0),  s.M, false, lab_in(call, 2),
            s.M, true, 0.0f, lab_out(call, 1), s.K};
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
lab_kernel_fn dense_tf32x3_layer;
lab_kernel_fn dense_tf32x3_forward;
lab_kernel_fn dense_tf32x3_backward;
lab_kernel_fn dense_fused_forward;
