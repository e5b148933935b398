/* kernels/gemv/cublas.cu -- what the vendor's library makes of it.
 *
 * cuBLAS has matrices by columns: our A (M,N) by rows is its A^T (N,M). */
#include "library/cublas_exec.h"
#include "gemv/gemv.h"
#include "common/launch.cuh"

enum lab_status lab_gemv_cublas(const struct lab_call *call)
{
    const struct lab_cublas *blas = call->exec->cublas;
    const struct lab_view *a = &call->in[0];
    const float one = 1.0f;
    const float zero = 0.0f;
    enum lab_status st =
        lab_cublas_ask(blas && blas->sgemv ? blas : nullptr, a->dim, 2);
    if (st)
        return st;
    int n = static_cast<int>(a->dim[1]);
    int status = blas->sgemv(blas->handle, LAB_CUBLAS_T, n,
                             static_cast<int>(a->dim[0]), &one, lab_in(call, 0),
                             n, lab_in(call, 1), 1, &zero, lab_out(call, 0), 1);
    return lab_cublas_judge(blas, status, "sgemv");
}
