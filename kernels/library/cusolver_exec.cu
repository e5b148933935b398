/* kernels/library/cusolver_exec.cu -- handle and memory for the launchers of cuSOLVER.
 * The handle is made with the first use, not with the backend. */
#include "library/cusolver_exec.h"
#include "common/launch.cuh"

enum lab_status lab_cusolver_judge(int status, const char *what)
{
    return status == 0 ? LAB_OK
                       : lab_fail(LAB_E_DEVICE, "%s: cuSOLVER's status %d",
                                  what, status);
}

enum lab_status lab_cusolver_start(const struct lab_exec *exec,
                                   struct lab_cusolver **out)
{
    struct lab_cusolver *s = exec->cusolver;
    if (!s)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.no-cusolver] cuSOLVER is not on this machine: "
                        "install it, or add "
                        "the directory of libcusolver.so to LD_LIBRARY_PATH");
    *out = s;
    if (s->handle)
        return LAB_OK;
    enum lab_status st = lab_cusolver_judge(s->create(&s->handle), "cuSOLVER");
    return st ? st
              : lab_cusolver_judge(s->set_stream(s->handle, exec->stream),
                                   "cuSOLVER");
}

enum lab_status lab_cusolver_getrf_room(struct lab_cusolver *s, int n)
{
    int count = 0;
    enum lab_status st =
        lab_cusolver_judge(s->getrf_size(s->handle, n, n, nullptr, n, &count),
                           "cusolverDnDgetrf_bufferSize");
    if (st)
        return st;
    s->wanted_bytes = static_cast<size_t>(count) * sizeof(double);
    if (s->wanted_bytes <= s->workspace_bytes)
        return LAB_OK;
    void *memory = nullptr;
    cudaError_t err = cudaMalloc(&memory, s->wanted_bytes);
    if (err) {
        (void)cudaGetLastError();
        return lab_fail(LAB_E_NOMEM, "cuSOLVER asks for %zu bytes: %s",
                        s->wanted_bytes, cudaGetErrorString(err));
    }
    if (s->workspace)
        (void)cudaFree(s->workspace); /* waits for the device */
    s->workspace = static_cast<double *>(memory);
    s->workspace_bytes = s->wanted_bytes;
    return LAB_OK;
}

void lab_cusolver_release(struct lab_cusolver *s)
{
    if (s->workspace)
        (void)cudaFree(s->workspace);
    if (s->handle)
        s->destroy(s->handle);
    s->workspace = nullptr;
    s->workspace_bytes = 0;
    s->handle = nullptr;
}
