/* kernels/dgemm/cublas.cu -- what the vendor's library makes of it: the
 * course's column "cuBLAS" of MAGMA's testing_dgemm.
 *
 * cuBLAS has matrices by columns: a row-major C = A B is its C^T = B^T A^T. */
#include "library/cublas_exec.h"
#include "dgemm/dgemm.cuh"

/* The values of cudaDataType_t and cublasComputeType_t. */
enum { TYPE_64F = 1, COMPUTE_64F = 70, CHOOSE = -1 };

enum lab_status lab_dgemm_cublas(const struct lab_call *call)
{
    struct dgemm_call g = dgemm_of(call);
    const struct lab_cublas *blas = call->exec->cublas;
    const double one = 1.0;
    const double zero = 0.0;
    const int64_t sides[] = {g.M, g.N, g.K};
    enum lab_status st = lab_cublas_ask(blas, sides, 3);
    if (st)
        return st;
    int n = static_cast<int>(g.N);
    int k = static_cast<int>(g.K);
    int status = blas->gemm_ex(blas->handle, LAB_CUBLAS_N, LAB_CUBLAS_N, n,
                               static_cast<int>(g.M), k, &one, g.b, TYPE_64F, n,
                               g.a, TYPE_64F, k, &zero, g.c, TYPE_64F, n,
                               COMPUTE_64F, CHOOSE);
    return lab_cublas_judge(blas, status, "gemm_ex");
}
