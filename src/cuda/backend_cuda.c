/* The CUDA backend: one device, one stream. Kernels are queued and not waited
 * for; only download, sync and time_end wait.
 *
 * A learner's batch is pageable memory, and the driver may read such memory
 * after the call has returned. So an upload goes through a pinned staging
 * buffer: the caller's memory is free at once and the stream is not stopped,
 * but where the buffer is full. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cuda_priv.h"
#include "library/cudnn_exec.h"
#include "library/cusolver_exec.h"
#include "labs/cuda_rungs.h"

/* NVIDIA recommends 32 MiB for cuBLAS on Hopper and 4 MiB before. Launchers
 * have as much for themselves: some call cuBLAS while they use theirs. */
#define WORKSPACE_BYTES ((size_t)32 << 20)
#define STAGING_BYTES ((size_t)4 << 20)

struct cuda_backend {
    struct lab_backend base;
    struct lab_exec exec;
    struct lab_cublas cublas;
    struct lab_cudnn cudnn;
    struct lab_cusolver cusolver;
    void *cublas_workspace;
    struct lab_device_info info;
    cudaEvent_t begin;
    cudaEvent_t end;
    unsigned char *staging; /* pinned; NULL: uploads wait */
    size_t staged;          /* bytes of it that the stream may still read */
    struct lab_cuda_graphs *graphs;
};

static struct cuda_backend *of(struct lab_backend *be)
{
    return (struct cuda_backend *)be;
}

/* The current device belongs to the calling thread, and an instance may be
 * handed from one thread to another. */
static enum lab_status enter(struct cuda_backend *cuda)
{
    cudaError_t err = cudaSetDevice(cuda->exec.device);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot switch to the CUDA device");
    return LAB_OK;
}

enum lab_status lab_cuda_enter(struct lab_backend *be)
{
    return enter(of(be));
}

struct lab_exec *lab_cuda_exec_of(struct lab_backend *be)
{
    return &of(be)->exec;
}

struct lab_cuda_graphs **lab_cuda_graphs_of(struct lab_backend *be)
{
    return &of(be)->graphs;
}

static enum lab_status cuda_sync(struct lab_backend *be)
{
    struct cuda_backend *cuda = of(be);
    enum lab_status st = enter(cuda);
    if (st)
        return st;
    cudaError_t err = cudaStreamSynchronize(cuda->exec.stream);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "a kernel failed on the device");
    cuda->staged = 0;
    return LAB_OK;
}

static void cuda_close(struct lab_backend *be)
{
    struct cuda_backend *cuda = of(be);
    if (!cuda)
        return;
    (void)cudaSetDevice(cuda->exec.device);
    if (cuda->exec.stream)
        (void)cudaStreamSynchronize(cuda->exec.stream);
    lab_cuda_graphs_close(cuda->graphs);
    lab_cublas_close(&cuda->cublas);
    lab_cudnn_release(&cuda->cudnn);
    lab_cusolver_release(&cuda->cusolver);
    if (cuda->begin)
        (void)cudaEventDestroy(cuda->begin);
    if (cuda->end)
        (void)cudaEventDestroy(cuda->end);
    (void)cudaFreeHost(cuda->staging);
    (void)cudaFree(cuda->exec.workspace);
    (void)cudaFree(cuda->cublas_workspace);
    if (cuda->exec.stream)
        (void)cudaStreamDestroy(cuda->exec.stream);
    (void)cudaGetLastError();
    lab_free(cuda);
}

static enum lab_status make_resources(struct cuda_backend *cuda)
{
    cudaError_t err =
        cudaStreamCreateWithFlags(&cuda->exec.stream, cudaStreamNonBlocking);
    if (err == cudaSuccess)
        err = cudaEventCreate(&cuda->begin);
    if (err == cudaSuccess)
        err = cudaEventCreate(&cuda->end);
    if (err == cudaSuccess)
        err = cudaMalloc(&cuda->exec.workspace, WORKSPACE_BYTES);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot prepare the CUDA device");
    cuda->exec.workspace_bytes = WORKSPACE_BYTES;
    void *staging = NULL;
    if (cudaMallocHost(&staging, STAGING_BYTES) == cudaSuccess)
        cuda->staging = staging;
    (void)cudaGetLastError();
    if (lab_cudnn_open(&cuda->cudnn))
        cuda->exec.cudnn = &cuda->cudnn;
    if (lab_cusolver_open(&cuda->cusolver))
        cuda->exec.cusolver = &cuda->cusolver;
    if (!lab_cublas_available(NULL))
        return LAB_OK;
    err = cudaMalloc(&cuda->cublas_workspace, WORKSPACE_BYTES);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot prepare the CUDA device");
    enum lab_status st =
        lab_cublas_open(&cuda->cublas, cuda->exec.stream,
                        cuda->cublas_workspace, WORKSPACE_BYTES);
    if (st == LAB_OK)
        cuda->exec.cublas = &cuda->cublas;
    return st;
}

/* One relu of one number: does this device run the module's code at all? An
 * architecture that the module was not built for shows here, and not in the
 * middle of a lesson. */
static enum lab_status try_kernel(struct cuda_backend *cuda)
{
    struct lab_view x = {.data = cuda->exec.workspace, .count = 1};
    struct lab_call call = {.in = &x, .n_in = 1, .out = &x, .n_out = 1};
    const float probe = -1.0f;
    float back = NAN;
    int count = 0;
    const struct lab_kernel_set *const *sets = lab_cuda_sets(&count);
    const struct lab_variant *relu = NULL;
    for (int i = 0; i < count; i++) {
        if (strcmp(sets[i]->op, "relu") == 0)
            relu = &sets[i]->variants[0];
    }
    if (!relu)
        return lab_fail(LAB_E_INTERNAL, "the CUDA module has no relu");
    call.exec = &cuda->exec;
    cudaError_t err =
        cudaMemcpyAsync(x.data, &probe, sizeof(probe), cudaMemcpyHostToDevice,
                        cuda->exec.stream);
    if (err == cudaSuccess && relu->run(&call) != LAB_OK)
        return lab_fail_context(LAB_E_UNSUPPORTED,
                                "this GPU does not run the module's kernels "
                                "(-DCMAKE_CUDA_ARCHITECTURES=native builds "
                                "them for it)");
    if (err == cudaSuccess)
        err = cudaMemcpyAsync(&back, x.data, sizeof(back),
                              cudaMemcpyDeviceToHost, cuda->exec.stream);
    if (err == cudaSuccess)
        err = cudaStreamSynchronize(cuda->exec.stream);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "the first kernel failed");
    if (back != 0.0f)
        return lab_fail(LAB_E_DEVICE, "relu(-1) is %g on this device",
                        (double)back);
    return LAB_OK;
}

static enum lab_status cuda_open(struct lab_backend **out, int device)
{
    enum lab_status st = lab_cuda_select(device);
    if (st)
        return st;
    struct cuda_backend *cuda = lab_alloc(sizeof(*cuda));
    if (!cuda)
        return lab_no_memory("the CUDA backend");
    cuda->base.ops = &lab_backend_cuda;
    lab_cuda_describe(device, &cuda->info);
    cuda->exec.device = device;
    cuda->exec.sm_count = cuda->info.sm_count;
    cuda->exec.cc_major = cuda->info.compute_major;
    cuda->exec.cc_minor = cuda->info.compute_minor;
    st = make_resources(cuda);
    if (st == LAB_OK)
        st = try_kernel(cuda);
    if (st) {
        cuda_close(&cuda->base);
        return st;
    }
    *out = &cuda->base;
    return LAB_OK;
}

/* Zeroed, as the CPU's memory is. */
static enum lab_status cuda_alloc(struct lab_backend *be, size_t bytes,
                                  void **out)
{
    struct cuda_backend *cuda = of(be);
    void *p = NULL;
    size_t free_bytes = 0;
    size_t total = 0;
    if (bytes == 0)
        bytes = 1;
    enum lab_status st = enter(cuda);
    if (st)
        return st;
    cudaError_t err = cudaMalloc(&p, bytes);
    if (err == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        (void)cudaMemGetInfo(&free_bytes, &total);
        return lab_fail(LAB_E_NOMEM,
                        "no memory for %zu bytes of tensors on the GPU: %zu of "
                        "%zu bytes are free. Remedy: a smaller --batch, or "
                        "another device",
                        bytes, free_bytes, total);
    }
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot allocate on the device");
    err = cudaMemsetAsync(p, 0, bytes, cuda->exec.stream);
    if (err != cudaSuccess) {
        st = lab_cuda_fail(err, "cannot clear memory on the device");
        (void)cudaFree(p);
        return st;
    }
    *out = p;
    return LAB_OK;
}

static void cuda_free(struct lab_backend *be, void *p)
{
    struct cuda_backend *cuda = of(be);
    if (enter(cuda))
        return;
    (void)cudaStreamSynchronize(cuda->exec.stream);
    (void)cudaFree(p);
    (void)cudaGetLastError();
}

static enum lab_status upload_waiting(struct cuda_backend *cuda, void *dst,
                                      const void *src, size_t bytes)
{
    cudaError_t err = cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice,
                                      cuda->exec.stream);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot copy to the device");
    return cuda_sync(&cuda->base);
}

static enum lab_status cuda_upload(struct lab_backend *be, void *dst,
                                   const void *src, size_t bytes)
{
    struct cuda_backend *cuda = of(be);
    enum lab_status st = enter(cuda);
    if (st)
        return st;
    if (!cuda->staging || bytes > STAGING_BYTES / 2)
        return upload_waiting(cuda, dst, src, bytes);
    if (cuda->staged + bytes > STAGING_BYTES) {
        st = cuda_sync(be);
        if (st)
            return st;
    }
    unsigned char *stage = cuda->staging + cuda->staged;
    memcpy(stage, src, bytes);
    cudaError_t err = cudaMemcpyAsync(dst, stage, bytes, cudaMemcpyHostToDevice,
                                      cuda->exec.stream);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot copy to the device");
    /* Each piece starts on a line of its own. */
    cuda->staged += (bytes + 63) / 64 * 64;
    return LAB_OK;
}

static enum lab_status cuda_download(struct lab_backend *be, void *dst,
                                     const void *src, size_t bytes)
{
    struct cuda_backend *cuda = of(be);
    enum lab_status st = enter(cuda);
    if (st)
        return st;
    cudaError_t err = cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost,
                                      cuda->exec.stream);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot copy from the device");
    return cuda_sync(be);
}

static enum lab_status cuda_copy(struct lab_backend *be, void *dst,
                                 const void *src, size_t bytes)
{
    struct cuda_backend *cuda = of(be);
    enum lab_status st = enter(cuda);
    if (st)
        return st;
    cudaError_t err = cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice,
                                      cuda->exec.stream);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot copy on the device");
    return LAB_OK;
}

static enum lab_status cuda_run(struct lab_backend *be,
                                const struct lab_variant *v,
                                struct lab_call *call)
{
    struct cuda_backend *cuda = of(be);
    enum lab_status st = enter(cuda);
    if (st)
        return st;
    call->exec = &cuda->exec;
    return v->run(call);
}

/* Kernels here are fp32; gradient checks in double run on the CPU. */
static const struct lab_kernel_set *const *
cuda_sets(struct lab_backend *be, enum lab_dtype real, int *count)
{
    (void)be;
    const struct lab_kernel_set *const *sets = lab_cuda_sets(count);
    if (real != LAB_F32)
        *count = 0;
    return sets;
}

static void cuda_info(struct lab_backend *be, struct lab_device_info *out)
{
    *out = of(be)->info;
}

static enum lab_status cuda_time_begin(struct lab_backend *be)
{
    struct cuda_backend *cuda = of(be);
    enum lab_status st = enter(cuda);
    if (st)
        return st;
    cudaError_t err = cudaEventRecord(cuda->begin, cuda->exec.stream);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot record an event");
    return LAB_OK;
}

static enum lab_status cuda_time_end(struct lab_backend *be, int64_t *ns)
{
    struct cuda_backend *cuda = of(be);
    float ms = 0.0f;
    enum lab_status st = enter(cuda);
    if (st)
        return st;
    cudaError_t err = cudaEventRecord(cuda->end, cuda->exec.stream);
    if (err == cudaSuccess)
        err = cudaEventSynchronize(cuda->end);
    if (err == cudaSuccess)
        err = cudaEventElapsedTime(&ms, cuda->begin, cuda->end);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot time the device");
    *ns = llround((double)ms * 1e6);
    return LAB_OK;
}

/* Measures on the exec's stream; see engine/ceiling.h. */
static enum lab_status cuda_ceiling(struct lab_backend *be, int ceiling,
                                    struct lab_ceiling_times *out)
{
    enum lab_status st = enter(of(be));
    return st ? st : lab_cuda_ceiling(&of(be)->exec, ceiling, out);
}

static const struct lab_variant *cuda_rung(struct lab_backend *be,
                                           const char *operation, int i)
{
    (void)be;
    return lab_cuda_rung(operation, i);
}

const struct lab_backend_ops lab_backend_cuda = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .upload = cuda_upload,
    .download = cuda_download,
    .copy = cuda_copy,
    .run = cuda_run,
    .sync = cuda_sync,
    .sets = cuda_sets,
    .info = cuda_info,
    .error = lab_error,
    .time_begin = cuda_time_begin,
    .time_end = cuda_time_end,
    .graph = &lab_cuda_graph_ops,
    .ceiling = cuda_ceiling,
    .rung = cuda_rung,
};
