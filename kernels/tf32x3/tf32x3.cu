/* kernels/tf32x3/tf32x3.cu -- which devices have the product of tf32x3_sm90.cuh, and the
 * variant of lab precision. */
#include "gemm/gemm.cuh"
#include "tf32x3/tf32x3.h"

enum lab_status lab_tf32x3_prepare(const struct lab_call *call)
{
    if (call->exec->cc_major != 9)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[launch.tf32x3-device] tf32x3 needs compute capability "
            "9.0, this GPU has %d.%d",
            call->exec->cc_major, call->exec->cc_minor);
#ifdef LAB_HAVE_SM90A
    return LAB_OK;
#else
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[launch.tf32x3-build] this build has no code for compute "
                    "capability 9.0 (CMAKE_CUDA_ARCHITECTURES lacks 90a-real)");
#endif
}

#ifndef LAB_HAVE_SM90A
enum lab_status lab_tf32x3_multiply(const struct lab_call *call,
                                    const struct lab_cublas_product *,
                                    const float *, void *, size_t)
{
    return lab_tf32x3_prepare(call);
}
#endif

enum lab_status lab_gemm_tf32x3(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    const struct lab_cublas_product p = {g.M, g.N, g.K,   g.a,  g.K, false,
                                         g.b, g.N, false, 0.0f, g.c, g.N};
    return lab_tf32x3_multiply(call, &p, nullptr, call->exec->workspace,
                               call->exec->workspace_bytes);
}
