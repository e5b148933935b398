/* kernels/library/cublas_exec.cu -- what launchers of cuBLAS ask before a call and tell
 * after it. */
#include "library/cublas_exec.h"

enum lab_status lab_cublas_ask(const struct lab_cublas *blas,
                               const int64_t *sides, int count)
{
    if (!blas)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.no-cublas] cuBLAS is not on this machine");
    for (int i = 0; i < count; i++) {
        if (sides[i] > INT32_MAX)
            return lab_fail(
                LAB_E_RANGE,
                "[launch.cublas-side] cuBLAS takes at most 2^31 - 1 rows or "
                "columns");
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

/* cuBLAS counts column by column, as Fortran does: a row-major (m, n) is, byte for
 * byte, a column-major (n, m), its transpose. So it is asked for C^T = B^T A^T, and
 * nothing has to be transposed. */
enum lab_status lab_cublas_multiply_many(const struct lab_call *call,
                                         const struct lab_cublas_product *p,
                                         int64_t count, int64_t next_a,
                                         int64_t next_b, int64_t next_c)
{
    const struct lab_cublas *cublas = call->exec->cublas;
    const float one = 1.0f;
    int op_a = p->flip_a ? LAB_CUBLAS_T : LAB_CUBLAS_N;
    int op_b = p->flip_b ? LAB_CUBLAS_T : LAB_CUBLAS_N;
    const int64_t sides[] = {p->m, p->n, p->k, p->lda, p->ldb, p->ldc, count};
    enum lab_status st =
        lab_cublas_ask(cublas, sides, sizeof(sides) / sizeof(sides[0]));
    if (st || p->m == 0 || p->n == 0 || p->k == 0)
        return st; /* a plan has no empty tensors */
    int status =
        count == 1
            ? cublas->sgemm(cublas->handle, op_b, op_a, (int)p->n, (int)p->m,
                            (int)p->k, &one, p->b, (int)p->ldb, p->a,
                            (int)p->lda, &p->beta, p->c, (int)p->ldc)
            : cublas->sgemm_strided_batched(
                  cublas->handle, op_b, op_a, (int)p->n, (int)p->m, (int)p->k,
                  &one, p->b, (int)p->ldb, next_b, p->a, (int)p->lda, next_a,
                  &p->beta, p->c, (int)p->ldc, next_c, (int)count);
    return lab_cublas_judge(cublas, status, "sgemm");
}

enum lab_status lab_cublas_multiply(const struct lab_call *call,
                                    const struct lab_cublas_product *p)
{
    return lab_cublas_multiply_many(call, p, 1, 0, 0, 0);
}
