/* kernels/dense/dense_cublas.cu -- the top rung: NVIDIA's own library.
 *
 * cuBLAS picks one of hundreds of kernels, each written for a chip and a range
 * of shapes; the profile shows its name. The precision is plain fp32: no TF32
 * unless it is asked for.
 *
 * cuBLAS counts column by column, as Fortran does; our matrices lie row by row.
 * A row-major (N, M) is, byte for byte, a column-major (M, N): its transpose.
 * So we ask for the transposed product, and nothing has to be turned:
 *
 *   xW = x W      (xW)^T = W^T x^T     cuBLAS sees W as (M, K), x as (K, N)
 *   dW = x^T dxW  (dW)^T = dxW^T x     dxW as (M, N), x as (K, N) transposed
 *   dx = dxW W^T  (dx)^T = W dxW^T     W as (M, K) transposed, dxW as (M, N) */
#include "library/cublas_exec.h"
#include "dense/dense_cuda.cuh"

/* C (m, n) = op(A) op(B), column-major, summed over k; lengths of a column of
 * each matrix as it lies in memory: lda, ldb, and m. */
struct product {
    int op_a;
    int op_b;
    int64_t m;
    int64_t n;
    int64_t k;
    const float *a;
    int64_t lda;
    const float *b;
    int64_t ldb;
    float *c;
};

static enum lab_status sgemm(const struct lab_call *call,
                             const struct product *p)
{
    const struct lab_cublas *cublas = call->exec->cublas;
    const float one = 1.0f;
    const float zero = 0.0f;
    if (!cublas)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.no-cublas] cuBLAS is not on this machine");
    if (p->m > INT32_MAX || p->n > INT32_MAX || p->k > INT32_MAX) {
        return lab_fail(LAB_E_RANGE, "[launch.cublas-side] cuBLAS sgemm takes "
                                     "at most 2^31 - 1 rows or columns");
    }
    return lab_cublas_judge(cublas,
                            cublas->sgemm(cublas->handle, p->op_a, p->op_b,
                                          (int)p->m, (int)p->n, (int)p->k, &one,
                                          p->a, (int)p->lda, p->b, (int)p->ldb,
                                          &zero, p->c, (int)p->m),
                            "sgemm");
}

enum lab_status dense_cublas_forward(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[0], &call->in[1]);
    struct product xW = {LAB_CUBLAS_N, LAB_CUBLAS_N,    s.M, s.N,
                         s.K,          lab_in(call, 1), s.M, lab_in(call, 0),
                         s.K,          lab_out(call, 0)};
    return sgemm(call, &xW);
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
    struct dense_shape s = dense_shape_of(&call->in[1], &call->in[2]);
    const float *dxW = lab_in(call, 0);
    struct product dW = {
        LAB_CUBLAS_N, LAB_CUBLAS_T,    s.M, s.K, s.N, dxW, s.M, lab_in(call, 1),
        s.K,          lab_out(call, 0)};
    enum lab_status st = lab_out(call, 0) ? sgemm(call, &dW) : LAB_OK;
    if (st || !lab_out(call, 1))
        return st;
    struct product dx = {LAB_CUBLAS_T, LAB_CUBLAS_N,    s.K, s.N,
                         s.M,          lab_in(call, 2), s.M, dxW,
                         s.M,          lab_out(call, 1)};
    return sgemm(call, &dx);
}
