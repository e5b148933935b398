/* kernels/library/cublas_exec.cu -- what launchers of cuBLAS ask before a call and tell
 * after it. */
#include "library/cublas_exec.h"

enum lab_status lab_cublas_ask(const struct lab_cublas *blas,
                               const int64_t *sides, int count)
{
    if (!blas)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.cublas-missing] cuBLAS was not found");
    for (int i = 0; i < count; i++) {
        if (sides[i] > INT32_MAX)
            return lab_fail(
                LAB_E_RANGE,
                "[launch.cublas-bits] a side is more than cuBLAS's 32 bits");
    }
    return LAB_OK;
}

enum lab_status lab_cublas_judge(const struct lab_cublas *blas, int status,
                                 const char *what)
{
    if (status == 0)
        return LAB_OK;
    return lab_fail(LAB_E_DEVICE, "cuBLAS %s: %s (status %d)", what,
                    blas->status_text ? blas->status_text(status) : "failed",
                    status);
}
