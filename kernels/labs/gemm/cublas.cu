/* kernels/labs/gemm/cublas.cu -- what the vendor's library makes of it.
 *
 * fp32 in fp32 arithmetic (CUBLAS_DEFAULT_MATH). cuBLAS has matrices by
 * columns: a row-major C = A B is its C^T = B^T A^T, and nothing is copied. */
#include <limits.h>
#include "labs/gemm/gemm.cuh"

enum lab_status lab_gemm_cublas(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    const struct lab_cublas *blas = call->exec->cublas;
    const float one = 1.0f;
    const float zero = 0.0f;
    if (!blas)
        return lab_fail(LAB_E_UNSUPPORTED, "cuBLAS was not found");
    if (g.M > INT_MAX || g.N > INT_MAX || g.K > INT_MAX)
        return lab_fail(LAB_E_RANGE, "a side is more than cuBLAS's 32 bits");
    int n = static_cast<int>(g.N);
    int k = static_cast<int>(g.K);
    int status = blas->sgemm(blas->handle, LAB_CUBLAS_N, LAB_CUBLAS_N, n,
                             static_cast<int>(g.M), k, &one, g.b, n, g.a, k,
                             &zero, g.c, n);
    return status == 0 ? LAB_OK
                       : lab_fail(LAB_E_DEVICE, "cuBLAS: %s",
                                  blas->status_text ? blas->status_text(status)
                                                    : "the product failed");
}
