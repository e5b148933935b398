/* kernels/attention/cublas.cu -- the products by the vendor's library, the
 * softmax ours: what one gets without writing a fused kernel. fp32 in fp32
 * arithmetic.
 *
 * cuBLAS has matrices by columns: our row-major S = Q K^T is its S^T = K Q^T.
 * Price: the scores still go through memory four times. */
#include "library/cublas_exec.h"
#include "attention/attention.cuh"

static enum lab_status judge(const struct lab_cublas *blas, int status)
{
    return lab_cublas_judge(blas, status, "sgemm");
}

static enum lab_status run(const struct lab_call *call, bool causal)
{
    const struct lab_cublas *blas = call->exec->cublas;
    const float one = 1.0f;
    const float zero = 0.0f;
    attention_size s = {};
    enum lab_status st = attention_size_of(call, INT_MAX / 4, 1, &s);
    if (st)
        return st;
    float *scores = attention_scores(s);
    long long rows = static_cast<long long>(s.T) * s.D;
    long long square = static_cast<long long>(s.T) * s.T;
    if (!blas || !scores)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            blas ? "[launch.no-scores] it needs memory for the scores"
                 : "cuBLAS was not found");
    st = judge(blas, blas->sgemm_strided_batched(
                         blas->handle, LAB_CUBLAS_T, LAB_CUBLAS_N, s.T, s.T,
                         s.D, &one, lab_in(call, 1), s.D, rows, lab_in(call, 0),
                         s.D, rows, &zero, scores, s.T, square, s.heads));
    if (!st)
        st = attention_softmax(call, scores, s, s.scale, causal);
    if (st)
        return st;
    return judge(blas,
                 blas->sgemm_strided_batched(
                     blas->handle, LAB_CUBLAS_N, LAB_CUBLAS_N, s.D, s.T, s.T,
                     &one, lab_in(call, 2), s.D, rows, scores, s.T, square,
                     &zero, lab_out(call, 0), s.D, rows, s.heads));
}

enum lab_status lab_attention_cublas(const struct lab_call *call)
{
    return run(call, false);
}

enum lab_status lab_attention_causal_cublas(const struct lab_call *call)
{
    return run(call, true);
}
