/* kernels/dense/dense.h -- a dense layer: out = x W + b.
 *
 * N = rows (every dimension of x but the last), K = in, M = units.
 *
 * matmul, forward    xW = x W                         flop 2*N*K*M
 *   out[0] xW (N, M)      in[0] x (N, K)   in[1] W (K, M)
 * bias, forward      out[n,m] = xW[n,m] + b[m]        flop N*M
 *   out[0] out (N, M)     in[0] xW (N, M)  in[1] b (M)
 * bias, backward     db[m] = sum_n dout[n,m]          flop N*M
 *   out[0] db (M)         in[0] dout (N, M)
 *   (d xW = dout: the plan shares the memory, nothing is copied)
 * matmul, backward   dW = x^T dxW,  dx = dxW W^T      flop 2*N*K*M each
 *   out[0] dW (K, M)      out[1] dx (N, K), NULL when it is not wanted
 *   in[0] dxW (N, M)      in[1] x (N, K)   in[2] W (K, M)
 *
 * group, forward (`fused`): matmul, bias and, where the next node is an
 * elementwise activation, that too, in one kernel.
 *   out[0] out (N, M)     out[1] activated (N, M), NULL when none
 *   in[0] x   in[1] W   in[2] b, NULL without bias
 *   params: struct lab_dense_params
 *
 * A 1-D x of K elements counts as one row. */
#pragma once
#include "common/kernel.h"

enum lab_activation {
    LAB_ACT_NONE,
    LAB_ACT_RELU,
    LAB_ACT_LEAKY_RELU,
    LAB_ACT_SIGMOID,
    LAB_ACT_TANH,
    LAB_ACT_GELU_TANH,
    LAB_ACT_GELU_ERF,
    LAB_ACT_SOFTPLUS,
    LAB_ACT_SWISH
};

/* Passed to group variants only; the single steps need no parameters. */
struct lab_dense_params {
    enum lab_activation activation;
    double slope; /* leaky_relu: the factor for x < 0 */
};
