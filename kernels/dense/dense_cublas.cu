/* kernels/dense/dense_cublas.cu -- the top variant: NVIDIA's own library.
 *
 * cuBLAS picks one of hundreds of kernels, each written for a chip and a range
 * of shapes; the profile shows its name. The precision is plain fp32: no TF32
 * unless it is asked for.
 *
 * cuBLAS counts column by column, as Fortran does; our matrices lie row by row.
 * A row-major (N, M) is, byte for byte, a column-major (M, N): its transpose.
 * So the transposed product is asked for (lab_cublas_multiply()), and nothing has
 * to be transposed:
 *
 *   xW = x W      (xW)^T = W^T x^T     cuBLAS sees W as (M, K), x as (K, N)
 *   dW = x^T dxW  (dW)^T = dxW^T x     dxW as (M, N), x as (K, N) transposed
 *   dx = dxW W^T  (dx)^T = W dxW^T     W as (M, K) transposed, dxW as (M, N) */
#include "library/cublas_exec.h"
#include "dense/dense_cuda.cuh"

enum lab_status dense_cublas_forward(const struct lab_call *call)
{
    struct lab_cublas_product xW = dense_xW(call);
    return lab_cublas_multiply(call, &xW);
}

/* Product and bias by cuBLASLt in one kernel, where it has one: the bias is added
 * while the result is still in registers. Else in two. */
enum lab_status dense_cublas_layer(const struct lab_call *call)
{
    const struct lab_cublas *cublas = call->exec->cublas;
    struct dense_shape s = dense_shape_of(&call->in[0], &call->in[1]);
    const float *b = call->n_in > 2 ? lab_in(call, 2) : nullptr;
    float *out = lab_out(call, 0);
    if (b && cublas && cublas->sgemm_bias && s.N <= INT32_MAX &&
        s.K <= INT32_MAX && s.M <= INT32_MAX &&
        cublas->sgemm_bias(call->exec, LAB_CUBLAS_N, LAB_CUBLAS_N, (int)s.M,
                           (int)s.N, (int)s.K, lab_in(call, 1), (int)s.M,
                           lab_in(call, 0), (int)s.K, b, out, (int)s.M) == 0)
        return LAB_OK;
    enum lab_status st = dense_cublas_forward(call);
    return st || !b ? st : dense_add_bias(call, out, out, b);
}

enum lab_status dense_cublas_backward(const struct lab_call *call)
{
    struct lab_cublas_product dW = dense_dW(call);
    enum lab_status st = dW.c ? lab_cublas_multiply(call, &dW) : LAB_OK;
    if (st || !lab_out(call, 1))
        return st;
    struct lab_cublas_product dx = dense_dx(call);
    return lab_cublas_multiply(call, &dx);
}
