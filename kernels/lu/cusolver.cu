/* kernels/lu/cusolver.cu -- P A = L U by the vendor's library. */
#include <stdio.h>

#include "library/cusolver_exec.h"
#include "lu/lu.h"
#include "common/kernel.h"
#include "common/launch.cuh"

enum lab_status lab_lu_cusolver_prepare(const struct lab_call *call)
{
    struct lab_cusolver *s;
    int n = static_cast<int>(call->in[0].dim[0]);
    enum lab_status st = lab_cusolver_start(call->exec, &s);
    return st ? st : lab_cusolver_getrf_room(s, n);
}

enum lab_status lab_lu_cusolver(const struct lab_call *call)
{
    struct lab_cusolver *s;
    int n = static_cast<int>(call->in[0].dim[0]);
    enum lab_status st = lab_cusolver_start(call->exec, &s);
    if (st)
        return st;
    double *a = static_cast<double *>(call->out[0].data);
    cudaError_t err =
        cudaMemcpyAsync(a, call->in[0].data,
                        static_cast<size_t>(call->in[0].count) * sizeof(*a),
                        cudaMemcpyDeviceToDevice, lab_stream(call));
    if (err)
        return lab_fail(LAB_E_DEVICE, "lu: %s", cudaGetErrorString(err));
    int status = s->getrf(s->handle, n, n, a, n, s->workspace,
                          static_cast<int *>(call->out[1].data),
                          static_cast<int *>(call->out[2].data));
    return lab_cusolver_judge(status, "cusolverDnDgetrf");
}

void lab_lu_cusolver_note(const struct lab_call *call,
                          struct lab_variant_note *out)
{
    struct lab_cusolver *s;
    if (!lab_cusolver_start(call->exec, &s))
        out->workspace_bytes = static_cast<int64_t>(s->wanted_bytes);
}
