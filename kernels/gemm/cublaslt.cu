/* kernels/gemm/cublaslt.cu -- the vendor's library, asked twice.
 *
 * cuBLAS chooses an algorithm by a rule of thumb. cuBLASLt names several, in the
 * order in which the rule likes them; which is the fastest at this size on this
 * GPU only a clock can say. `prepare` runs eight of them, five times each, and
 * the fastest is the one that is timed; the note tells which place it had. */
#include <stdio.h>
#include "library/cublas_exec.h"
#include "gemm/gemm.h"
#include "common/launch.cuh"

/* Of the size that was prepared; one at a time, as variant.h has it. */
static struct lab_lt_choice choice;

/* Row-major C = A B is column-major C^T = B^T A^T. */
static enum lab_status product_of(const struct lab_call *call,
                                  struct lab_lt_product *out)
{
    const int64_t *a = call->in[0].dim;
    const int64_t N = call->in[1].dim[1];
    const int64_t sides[] = {a[0], a[1], N};
    enum lab_status st = lab_cublas_ask(call->exec->cublas, sides, 3);
    if (st)
        return st;
    const enum lab_dtype t = call->in[0].dtype;
    *out = {t == LAB_F32   ? LAB_CUBLAS_F32
            : t == LAB_F16 ? LAB_CUBLAS_F16
                           : LAB_CUBLAS_BF16,
            t == LAB_F32 ? LAB_CUBLAS_COMPUTE_TF32 : LAB_CUBLAS_COMPUTE_F32,
            static_cast<int>(N),
            static_cast<int>(a[0]),
            static_cast<int>(a[1]),
            call->in[1].data,
            call->in[0].data,
            call->out[0].data,
            false};
    return LAB_OK;
}

enum lab_status lab_gemm_cublaslt_prepare(const struct lab_call *call)
{
    struct lab_lt_product of;
    enum lab_status st = product_of(call, &of);
    if (st)
        return st;
    int status = call->exec->cublas->lt_find(call->exec, &of, &choice);
    return status == 0 ? LAB_OK
                       : lab_fail(LAB_E_UNSUPPORTED,
                                  "[launch.cublaslt] cuBLASLt has no algorithm "
                                  "for this size "
                                  "here (status %d)",
                                  status);
}

enum lab_status lab_gemm_cublaslt(const struct lab_call *call)
{
    struct lab_lt_product of;
    enum lab_status st = product_of(call, &of);
    if (st)
        return st;
    int status = call->exec->cublas->lt_product(call->exec, &of, &choice);
    return status == 0 ? LAB_OK
                       : lab_fail(LAB_E_DEVICE, "cuBLASLt: status %d", status);
}

void lab_gemm_cublaslt_note(const struct lab_call *call,
                            struct lab_variant_note *out)
{
    (void)call;
    out->workspace_bytes = static_cast<int64_t>(choice.workspace_bytes);
    snprintf(out->text, sizeof(out->text),
             "the fastest of %d was number %d of the heuristic's list",
             choice.tried, choice.place);
}
