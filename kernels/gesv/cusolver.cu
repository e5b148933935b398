/* kernels/gesv/cusolver.cu -- A X = B by the vendor's library: the factors
 * (cusolverDnDgetrf), then both triangles (cusolverDnDgetrs). */
#include "common/kernel.h"
#include "library/cusolver_exec.h"
#include "common/launch.cuh"

static enum lab_status cusolver_prepare(const struct lab_call *call)
{
    struct lab_cusolver *s;
    int n = static_cast<int>(call->in[0].dim[0]);
    enum lab_status st = lab_cusolver_start(call->exec, &s);
    return st ? st : lab_cusolver_getrf_room(s, n);
}

static enum lab_status copy(const struct lab_call *call, void *to,
                            const struct lab_view *from)
{
    cudaError_t err = cudaMemcpyAsync(
        to, from->data, static_cast<size_t>(from->count) * sizeof(double),
        cudaMemcpyDeviceToDevice, lab_stream(call));
    return err ? lab_fail(LAB_E_DEVICE, "gesv: %s", cudaGetErrorString(err))
               : LAB_OK;
}

static enum lab_status cusolver(const struct lab_call *call)
{
    struct lab_cusolver *s;
    int n = static_cast<int>(call->in[0].dim[0]);
    double *lu = static_cast<double *>(call->out[1].data);
    double *x = static_cast<double *>(call->out[0].data);
    int *pivots = static_cast<int *>(call->out[2].data);
    enum lab_status st = lab_cusolver_start(call->exec, &s);
    if (!st)
        st = copy(call, lu, &call->in[0]);
    if (!st)
        st = copy(call, x, &call->in[1]);
    if (!st)
        st = lab_cusolver_judge(
            s->getrf(s->handle, n, n, lu, n, s->workspace, pivots, pivots + n),
            "cusolverDnDgetrf");
    if (!st)
        st = lab_cusolver_judge(s->getrs(s->handle, LAB_CUBLAS_N, n,
                                         static_cast<int>(call->in[1].dim[1]),
                                         lu, n, pivots, x, n, pivots + n),
                                "cusolverDnDgetrs");
    return st;
}

extern const struct lab_variant lab_cuda_variants_gesv[] = {
    {.name = "cusolver",
     .idea = "the vendor's library: getrf, then getrs",
     .needs = "cuSOLVER",
     .run = cusolver,
     .source = "kernels/gesv/cusolver.cu",
     .model = {.library = true},
     .precision = LAB_FP64,
     .prepare = cusolver_prepare},
    {},
};
