/* kernels/gemm/cublas.cu -- what the vendor's library makes of it.
 *
 * fp32 in fp32 arithmetic (CUBLAS_DEFAULT_MATH), and the tensor cores: bf16 and
 * fp16 with sums in fp32, fp32 as tf32. cuBLAS has matrices by columns: a
 * row-major C = A B is its C^T = B^T A^T, and nothing is copied. */
#include "library/cublas_exec.h"
#include "gemm/gemm.cuh"

static enum lab_status can(const struct lab_call *call)
{
    const int64_t sides[] = {call->in[0].dim[0], call->in[0].dim[1],
                             call->in[1].dim[1]};
    return lab_cublas_ask(call->exec->cublas, sides, 3);
}

enum lab_status lab_gemm_cublas(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    const struct lab_cublas *blas = call->exec->cublas;
    const float one = 1.0f;
    const float zero = 0.0f;
    enum lab_status st = can(call);
    if (st)
        return st;
    int n = static_cast<int>(g.N);
    int k = static_cast<int>(g.K);
    return lab_cublas_judge(blas,
                            blas->sgemm(blas->handle, LAB_CUBLAS_N,
                                        LAB_CUBLAS_N, n, static_cast<int>(g.M),
                                        k, &one, g.b, n, g.a, k, &zero, g.c, n),
                            "sgemm");
}

enum lab_status lab_gemm_cublas_tensor(const struct lab_call *call)
{
    const struct lab_cublas *blas = call->exec->cublas;
    const enum lab_dtype t = call->in[0].dtype;
    const int type = t == LAB_F32   ? LAB_CUBLAS_F32
                     : t == LAB_F16 ? LAB_CUBLAS_F16
                                    : LAB_CUBLAS_BF16;
    const float one = 1.0f;
    const float zero = 0.0f;
    enum lab_status st = can(call);
    if (st)
        return st;
    const int m = static_cast<int>(call->in[0].dim[0]);
    const int k = static_cast<int>(call->in[0].dim[1]);
    const int n = static_cast<int>(call->in[1].dim[1]);
    return lab_cublas_judge(
        blas,
        blas->gemm_ex(blas->handle, LAB_CUBLAS_N, LAB_CUBLAS_N, n, m, k, &one,
                      call->in[1].data, type, n, call->in[0].data, type, k,
                      &zero, call->out[0].data, type, n,
                      t == LAB_F32 ? LAB_CUBLAS_COMPUTE_TF32
                                   : LAB_CUBLAS_COMPUTE_F32,
                      -1),
        "gemm_ex");
}
