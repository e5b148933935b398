/* backend_cuda.c -- the CUDA backend: its slots, and a whole iteration as one
 * CUDA graph, launched in one call and reported in pinned memory, so that the
 * host neither queues a thousand kernels nor waits. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "cuda_priv.h"
#include "common/graph.h"
#include "library/cublas_exec.h"
#include "library/cudnn_exec.h"
#include "library/cusolver_exec.h"
#include "library/cusparselt_exec.h"
#include "labs/cuda_variants.h"
#include "common/cuda_sets.h"
#include "library/cudnn_sets.h"

/* ---- the kernel tables that this machine can run ---- */

static const struct lab_kernel_set *const all[] = {
#define LAB_OP(id) &lab_cuda_##id,
#define LAB_OP_PLAN(id)
#include "ops.def"
#undef LAB_OP
#undef LAB_OP_PLAN
};

/* Offered after those, where cuDNN is there. */
static const struct lab_kernel_set *const of_cudnn[] = {
#define LAB_CUDNN_SET(id) &lab_cudnn_##id,
    LAB_CUDNN_SETS(LAB_CUDNN_SET)
#undef LAB_CUDNN_SET
};

enum {
    SET_COUNT = sizeof(all) / sizeof(all[0]),
    CUDNN_COUNT = sizeof(of_cudnn) / sizeof(of_cudnn[0]),
    MAX_ROWS = 512
};

static const struct lab_kernel_set *offered[SET_COUNT + CUDNN_COUNT];
static int offered_count;
static struct lab_variant kept_rows[MAX_ROWS];
static struct lab_kernel_set kept_sets[SET_COUNT];

/* A copy of the set without the rows that need cuBLAS, at kept_rows[*used]. */
static void keep_rows(const struct lab_kernel_set *set,
                      struct lab_kernel_set *kept, int *used)
{
    *kept = (struct lab_kernel_set){set->op, &kept_rows[*used], 0};
    for (int i = 0; i < set->count && *used < MAX_ROWS; i++) {
        if (lab_cublas_row(&set->variants[i]))
            continue;
        kept_rows[(*used)++] = set->variants[i];
        kept->count++;
    }
}

static void collect_sets(void)
{
    bool cublas = lab_cublas_available(NULL);
    int used = 0;
    for (int s = 0; s < SET_COUNT; s++) {
        bool whole = true;
        for (int i = 0; i < all[s]->count; i++)
            whole = whole && !lab_cublas_row(&all[s]->variants[i]);
        offered[s] = all[s];
        if (cublas || whole)
            continue;
        keep_rows(all[s], &kept_sets[s], &used);
        offered[s] = &kept_sets[s];
    }
    offered_count = SET_COUNT;
    for (int s = 0; s < CUDNN_COUNT && lab_cudnn_available(NULL); s++)
        offered[offered_count++] = of_cudnn[s];
}

/* The kernel sets of this process: without the rows that need cuBLAS, and
 * without the sets of cuDNN, when it is not there. Valid as long as the module.
 * Any thread. */
static const struct lab_kernel_set *const *all_sets(int *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, collect_sets);
    *count = offered_count;
    return offered;
}

/* ---- cuSOLVER, found at run time: a machine without it has every other kernel. Its
 * number is not the toolkit's: libcusolver.so.11 is of CUDA 11 and 12, .12 of
 * CUDA 13 ---- */

static struct {
    void *lib;
    struct lab_cusolver table;
} cusolver_api;

static void load_cusolver(void)
{
    static const char *const names[] = {
        CUDART_VERSION >= 13000 ? "libcusolver.so.12" : "libcusolver.so.11",
        "libcusolver.so", "/usr/local/cuda/lib64/libcusolver.so", NULL};
    static const struct lab_cuda_function functions[] = {
        {&cusolver_api.table.create, "cusolverDnCreate"},
        {&cusolver_api.table.destroy, "cusolverDnDestroy"},
        {&cusolver_api.table.set_stream, "cusolverDnSetStream"},
        {&cusolver_api.table.getrf_size, "cusolverDnDgetrf_bufferSize"},
        {&cusolver_api.table.getrf, "cusolverDnDgetrf"},
        {&cusolver_api.table.getrs, "cusolverDnDgetrs"},
        {NULL}};
    void *lib = lab_cuda_library(names);
    if (!lib)
        return;
    if (lab_cuda_functions(lib, functions))
        dlclose(lib);
    else
        cusolver_api.lib = lib;
}

static bool cusolver_open(struct lab_cusolver *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_cusolver);
    if (!cusolver_api.lib)
        return false;
    *out = cusolver_api.table;
    return true;
}

/* ---- the backend ---- */

/* One device, one stream. Kernels are queued and not waited
 * for; only download, sync and time_end wait.
 *
 * A learner's batch is pageable memory, and the driver may read such memory
 * after the call has returned. So an upload goes through a pinned staging
 * buffer: the caller's memory is free at once and the stream is not stopped,
 * but where the buffer is full. */

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
    return lab_cuda_judge(cudaSetDevice(cuda->exec.device),
                          "cannot switch to the CUDA device");
}

/* Queues a copy, to or from plain memory or on the device by its kind. */
static enum lab_status queue_copy(struct cuda_backend *cuda, void *dst,
                                  const void *src, size_t bytes,
                                  enum cudaMemcpyKind kind)
{
    enum lab_status st = enter(cuda);
    return st ? st
              : lab_cuda_judge(
                    cudaMemcpyAsync(dst, src, bytes, kind, cuda->exec.stream),
                    kind == cudaMemcpyHostToDevice ? "cannot copy to the device"
                    : kind == cudaMemcpyDeviceToHost
                        ? "cannot copy from the device"
                        : "cannot copy on the device");
}

/* ---- a whole iteration as one graph ---- */

struct lab_graph {
    cudaGraphExec_t exec;
};

struct lab_cuda_graphs {
    struct lab_graph_state *state; /* on the device */
    struct lab_graph_line *lines;  /* pinned */
    struct lab_graph_line *lines_dev;
    uint64_t launched;
    uint64_t reported;
    uint64_t next; /* the iteration that a launch would run now */
    double rate;   /* and its learning rate */
    struct CUstream_st *main;
    cudaStream_t lanes[LAB_GRAPH_LANES];
    cudaEvent_t
        reached[LAB_GRAPH_LANES + 1]; /* of a lane; last: of all before */
    bool forked;
    struct lab_exec side; /* of the side stream; stream NULL: there is none */
    struct lab_cublas side_cublas;
    void *side_cublas_workspace;
    cudaEvent_t side_reached[2]; /* of the main stream, of the side's */
    bool is_beside;
    bool has_side; /* this capture has something on the side stream */
};

_Static_assert((int)LAB_GRAPH_AHEAD < (int)LAB_GRAPH_LINES,
               "a line is read before it is written again");

static void side_close(struct lab_cuda_graphs *g)
{
    lab_cublas_close(&g->side_cublas);
    (void)cudaFree(g->side.workspace);
    (void)cudaFree(g->side_cublas_workspace);
    for (int i = 0; i < 2 && g->side_reached[i]; i++)
        (void)cudaEventDestroy(g->side_reached[i]);
    if (g->side.stream)
        (void)cudaStreamDestroy(g->side.stream);
    (void)cudaGetLastError();
    g->side = (struct lab_exec){0};
    g->side_cublas_workspace = NULL;
    g->side_reached[0] = g->side_reached[1] = NULL;
}

static void cuda_graphs_close(struct lab_cuda_graphs *g)
{
    if (!g)
        return;
    for (int i = 0; i < LAB_GRAPH_LANES && g->lanes[i]; i++)
        (void)cudaStreamDestroy(g->lanes[i]);
    for (int i = 0; i <= LAB_GRAPH_LANES && g->reached[i]; i++)
        (void)cudaEventDestroy(g->reached[i]);
    side_close(g);
    (void)cudaFree(g->state);
    (void)cudaFreeHost(g->lines);
    (void)cudaGetLastError();
    lab_free(g);
}

static enum lab_status graph_fail(struct lab_cuda_graphs *g, cudaError_t err)
{
    enum lab_status st = lab_cuda_fail(err, "cannot prepare CUDA graphs");
    cuda_graphs_close(g);
    return st;
}

static cudaError_t make_lanes(struct lab_cuda_graphs *g)
{
    cudaError_t err = cudaSuccess;
    for (int i = 0; i < LAB_GRAPH_LANES && err == cudaSuccess; i++)
        err = cudaStreamCreateWithFlags(&g->lanes[i], cudaStreamNonBlocking);
    for (int i = 0; i <= LAB_GRAPH_LANES && err == cudaSuccess; i++)
        err = cudaEventCreateWithFlags(&g->reached[i], cudaEventDisableTiming);
    return err;
}

/* A stream with a workspace and a cuBLAS handle of its own. Without memory there
 * is no side stream. */
static void side_open(struct lab_cuda_graphs *g, const struct lab_exec *like)
{
    g->side = *like;
    g->side.stream = NULL;
    g->side.workspace = NULL;
    g->side.cublas = NULL;
    g->side.cudnn = NULL;
    g->side.cusolver = NULL;
    cudaError_t err =
        cudaStreamCreateWithFlags(&g->side.stream, cudaStreamNonBlocking);
    for (int i = 0; i < 2 && err == cudaSuccess; i++)
        err = cudaEventCreateWithFlags(&g->side_reached[i],
                                       cudaEventDisableTiming);
    if (err == cudaSuccess)
        err = cudaMalloc(&g->side.workspace, WORKSPACE_BYTES);
    if (err == cudaSuccess && like->cublas)
        err = cudaMalloc(&g->side_cublas_workspace, WORKSPACE_BYTES);
    bool whole = err == cudaSuccess;
    if (whole && like->cublas) {
        whole = lab_cublas_open(&g->side_cublas, g->side.stream,
                                g->side_cublas_workspace,
                                WORKSPACE_BYTES) == LAB_OK;
        g->side.cublas = &g->side_cublas;
    }
    if (!whole)
        side_close(g);
}

static enum lab_status graphs_open(struct lab_backend *be)
{
    struct lab_cuda_graphs **slot = &of(be)->graphs;
    struct lab_cuda_graphs *g = *slot;
    size_t bytes = LAB_GRAPH_LINES * sizeof(*g->lines);
    void *p = NULL;
    if (g)
        return LAB_OK;
    g = lab_alloc(sizeof(*g));
    if (!g)
        return lab_no_memory("CUDA graphs");
    cudaError_t err = cudaMalloc(&p, sizeof(*g->state));
    if (err != cudaSuccess)
        return graph_fail(g, err);
    g->state = p;
    err = cudaMemsetAsync(p, 0, sizeof(*g->state), of(be)->exec.stream);
    p = NULL;
    if (err == cudaSuccess)
        err = cudaHostAlloc(&p, bytes, cudaHostAllocMapped);
    g->lines = p;
    for (int i = 0; i < LAB_GRAPH_LINES && p; i++)
        g->lines[i] = (struct lab_graph_line){0};
    if (err == cudaSuccess)
        err = cudaHostGetDevicePointer(&p, g->lines, 0);
    g->lines_dev = p;
    if (err == cudaSuccess)
        err = make_lanes(g);
    if (err != cudaSuccess)
        return graph_fail(g, err);
    side_open(g, &of(be)->exec);
    *slot = g;
    return LAB_OK;
}

static enum lab_status host_alloc(struct lab_backend *be, size_t bytes,
                                  void **out)
{
    enum lab_status st = enter(of(be));
    if (st)
        return st;
    void *p = NULL;
    cudaError_t err = cudaHostAlloc(&p, bytes, cudaHostAllocDefault);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "no pinned memory for the next batches");
    *out = p;
    return LAB_OK;
}

static void host_free(struct lab_backend *be, void *p)
{
    if (enter(of(be)) == LAB_OK)
        (void)cudaFreeHost(p);
    (void)cudaGetLastError();
}

static enum lab_status upload(struct lab_backend *be, void *dst,
                              const void *src, size_t bytes)
{
    return queue_copy(of(be), dst, src, bytes, cudaMemcpyHostToDevice);
}

static enum lab_status begin(struct lab_backend *be)
{
    struct lab_exec *exec = &of(be)->exec;
    enum lab_status st = enter(of(be));
    if (!st)
        st = graphs_open(be);
    if (st)
        return st;
    /* Relaxed: a kernel that is launched for the first time is loaded, and
     * loading allocates. */
    cudaError_t err =
        cudaStreamBeginCapture(exec->stream, cudaStreamCaptureModeRelaxed);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot capture an iteration");
    struct lab_cuda_graphs *g = of(be)->graphs;
    g->main = exec->stream;
    g->forked = g->is_beside = g->has_side = false;
    exec->iteration = &g->state->iteration;
    g->side.iteration = exec->iteration;
    return lab_cuda_graph_advance(g->state, exec->stream);
}

static cudaError_t fork_lanes(struct lab_cuda_graphs *g)
{
    cudaEvent_t here = g->reached[LAB_GRAPH_LANES];
    cudaError_t err = cudaEventRecord(here, g->main);
    for (int i = 0; i < LAB_GRAPH_LANES && err == cudaSuccess; i++)
        err = cudaStreamWaitEvent(g->lanes[i], here, 0);
    return err;
}

static cudaError_t join_lanes(struct lab_cuda_graphs *g)
{
    cudaError_t err = cudaSuccess;
    for (int i = 0; i < LAB_GRAPH_LANES && err == cudaSuccess; i++) {
        err = cudaEventRecord(g->reached[i], g->lanes[i]);
        if (err == cudaSuccess)
            err = cudaStreamWaitEvent(g->main, g->reached[i], 0);
    }
    return err;
}

static enum lab_status lane(struct lab_backend *be, int number)
{
    struct lab_exec *exec = &of(be)->exec;
    struct lab_cuda_graphs *g = of(be)->graphs;
    cudaError_t err = cudaSuccess;
    if (number >= 0 && !g->forked)
        err = fork_lanes(g);
    else if (number < 0 && g->forked)
        err = join_lanes(g);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot capture an iteration");
    g->forked = number >= 0;
    exec->stream = number >= 0 ? g->lanes[number] : g->main;
    return LAB_OK;
}

/* What is queued on `to` from now on comes after what `from` has. */
static enum lab_status follow(cudaStream_t to, cudaStream_t from,
                              cudaEvent_t reached)
{
    cudaError_t err = cudaEventRecord(reached, from);
    if (err == cudaSuccess)
        err = cudaStreamWaitEvent(to, reached, 0);
    return lab_cuda_judge(err, "cannot capture an iteration");
}

static enum lab_status beside(struct lab_backend *be, bool on)
{
    struct lab_cuda_graphs *g = of(be)->graphs;
    if (!g->side.stream)
        return LAB_OK;
    g->is_beside = on;
    if (!on)
        return LAB_OK;
    g->has_side = true;
    return follow(g->side.stream, g->main, g->side_reached[0]);
}

static enum lab_status join(struct lab_backend *be)
{
    struct lab_cuda_graphs *g = of(be)->graphs;
    bool had = g->has_side;
    g->has_side = false;
    return had ? follow(g->main, g->side.stream, g->side_reached[1]) : LAB_OK;
}

static enum lab_status count(struct lab_backend *be, int64_t *nodes)
{
    cudaStream_t stream = of(be)->exec.stream;
    enum cudaStreamCaptureStatus status;
    cudaGraph_t graph = NULL;
    size_t n = 0;
#if CUDART_VERSION >= 13000
    cudaError_t err = cudaStreamGetCaptureInfo(stream, &status, NULL, &graph,
                                               NULL, NULL, NULL);
#else
    cudaError_t err =
        cudaStreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL);
#endif
    if (err == cudaSuccess && graph)
        err = cudaGraphGetNodes(graph, NULL, &n);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot count a graph's nodes");
    *nodes = (int64_t)n;
    return LAB_OK;
}

static enum lab_status instantiate(struct lab_exec *exec, cudaGraph_t graph,
                                   struct lab_graph **out)
{
    struct lab_graph *g = lab_alloc(sizeof(*g));
    if (!g)
        return lab_no_memory("a CUDA graph");
    cudaError_t err = cudaGraphInstantiateWithFlags(&g->exec, graph, 0);
    if (err == cudaSuccess)
        err = cudaGraphUpload(g->exec, exec->stream);
    if (err == cudaSuccess) {
        *out = g;
        return LAB_OK;
    }
    enum lab_status st = lab_cuda_fail(err, "cannot make a CUDA graph");
    if (g->exec)
        (void)cudaGraphExecDestroy(g->exec);
    (void)cudaGetLastError();
    lab_free(g);
    return st;
}

static enum lab_status end(struct lab_backend *be, const void *loss,
                           struct lab_graph **out)
{
    struct lab_exec *exec = &of(be)->exec;
    struct lab_cuda_graphs *g = of(be)->graphs;
    cudaGraph_t graph = NULL;
    enum lab_status st = LAB_OK;
    if (!g)
        return LAB_OK; /* it never began */
    if (g->main)
        exec->stream = g->main;
    g->is_beside = false;
    if (out)
        st = lab_cuda_graph_report(g->lines_dev, g->state, loss, exec->stream);
    exec->iteration = NULL;
    cudaError_t err = cudaStreamEndCapture(exec->stream, &graph);
    if (out && !st && err != cudaSuccess)
        st = lab_cuda_fail(err, "cannot capture an iteration");
    (void)cudaGetLastError();
    if (out && !st)
        st = instantiate(exec, graph, out);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return st;
}

/* or NULL */
static void graph_free(struct lab_backend *be, struct lab_graph *g)
{
    if (enter(of(be)) == LAB_OK) {
        (void)cudaStreamSynchronize(of(be)->exec.stream);
        (void)cudaGraphExecDestroy(g->exec);
    }
    (void)cudaGetLastError();
    lab_free(g);
}

static enum lab_status launch(struct lab_backend *be, struct lab_graph *graph,
                              uint64_t iteration, double rate)
{
    struct lab_exec *exec = &of(be)->exec;
    struct lab_cuda_graphs *g = of(be)->graphs;
    enum lab_status st = enter(of(be));
    if (!st && g->launched - g->reported >= LAB_GRAPH_AHEAD)
        st = lab_fail(LAB_E_STATE,
                      "[cuda.unreported] %d iterations have not been reported",
                      LAB_GRAPH_AHEAD);
    bool same_rate = rate == g->rate || (isnan(rate) && isnan(g->rate));
    if (!st && (g->launched == 0 || g->next != iteration || !same_rate))
        st = lab_cuda_graph_set(g->state, iteration, rate, exec->stream);
    if (st)
        return st;
    g->rate = rate;
    cudaError_t err = cudaGraphLaunch(graph->exec, exec->stream);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot launch an iteration");
    g->launched++;
    g->next = iteration + 1;
    return LAB_OK;
}

/* A fault of the device shows in the stream; it would be waited for forever. */
static enum lab_status still_running(struct lab_exec *exec)
{
    cudaError_t err = cudaStreamQuery(exec->stream);
    if (err == cudaSuccess || err == cudaErrorNotReady) {
        (void)cudaGetLastError();
        return LAB_OK;
    }
    return lab_cuda_fail(err, "a kernel failed on the device");
}

static enum lab_status report(struct lab_backend *be, bool wait,
                              struct lab_graph_report *out, bool *reported)
{
    enum { SPINS = 4096 }; /* some microseconds */
    const struct timespec nap = {0, 20000};
    struct lab_cuda_graphs *g = of(be)->graphs;
    *reported = false;
    if (!g || g->reported == g->launched)
        return LAB_OK;
    const struct lab_graph_line *line =
        &g->lines[(g->reported + 1) % LAB_GRAPH_LINES];
    for (int64_t i = 0;
         __atomic_load_n(&line->serial, __ATOMIC_ACQUIRE) != g->reported + 1;
         i++) {
        if (!wait)
            return LAB_OK;
        if (i < SPINS)
            continue;
        enum lab_status st = still_running(&of(be)->exec);
        if (st)
            return st;
        (void)nanosleep(&nap, NULL);
    }
    *out = (struct lab_graph_report){.iteration = line->iteration,
                                     .loss = line->loss,
                                     .start_ns = (int64_t)line->start_ns,
                                     .end_ns = (int64_t)line->end_ns};
    g->reported++;
    *reported = true;
    return LAB_OK;
}

static const struct lab_graph_ops graph_ops = {
    .host_alloc = host_alloc,
    .host_free = host_free,
    .upload = upload,
    .begin = begin,
    .lane = lane,
    .beside = beside,
    .join = join,
    .count = count,
    .end = end,
    .free = graph_free,
    .launch = launch,
    .report = report,
};

/* ---- the backend ---- */

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
    cuda_graphs_close(cuda->graphs);
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

/* The side stream of graphs has the least priority: the steps that others wait for
 * come first. */
static enum lab_status make_resources(struct cuda_backend *cuda)
{
    int greatest = 0;
    cudaError_t err = cudaDeviceGetStreamPriorityRange(NULL, &greatest);
    if (err == cudaSuccess)
        err = cudaStreamCreateWithPriority(&cuda->exec.stream,
                                           cudaStreamNonBlocking, greatest);
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
    if (cusolver_open(&cuda->cusolver))
        cuda->exec.cusolver = &cuda->cusolver;
    lab_cusparselt = &lab_cuda_cusparselt;
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
    const struct lab_kernel_set *const *sets = all_sets(&count);
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

static enum lab_status cuda_upload(struct lab_backend *be, void *dst,
                                   const void *src, size_t bytes)
{
    struct cuda_backend *cuda = of(be);
    bool direct = !cuda->staging || bytes > STAGING_BYTES / 2;
    enum lab_status st = LAB_OK;
    if (!direct && cuda->staged + bytes > STAGING_BYTES)
        st = cuda_sync(be);
    if (!direct && !st) {
        src = memcpy(cuda->staging + cuda->staged, src, bytes);
        /* Each piece starts on a line of its own. */
        cuda->staged += (bytes + 63) / 64 * 64;
    }
    if (!st)
        st = queue_copy(cuda, dst, src, bytes, cudaMemcpyHostToDevice);
    return st || !direct ? st : cuda_sync(be);
}

static enum lab_status cuda_download(struct lab_backend *be, void *dst,
                                     const void *src, size_t bytes)
{
    enum lab_status st =
        queue_copy(of(be), dst, src, bytes, cudaMemcpyDeviceToHost);
    return st ? st : cuda_sync(be);
}

static enum lab_status cuda_copy(struct lab_backend *be, void *dst,
                                 const void *src, size_t bytes)
{
    return queue_copy(of(be), dst, src, bytes, cudaMemcpyDeviceToDevice);
}

static enum lab_status cuda_run(struct lab_backend *be,
                                const struct lab_variant *v,
                                struct lab_call *call)
{
    struct cuda_backend *cuda = of(be);
    enum lab_status st = enter(cuda);
    if (st)
        return st;
    struct lab_cuda_graphs *g = cuda->graphs;
    call->exec = g && g->is_beside ? &g->side : &cuda->exec;
    return v->run(call);
}

/* Kernels here are fp32; gradient checks in double run on the CPU. */
static const struct lab_kernel_set *const *
cuda_sets(struct lab_backend *be, enum lab_dtype real, int *count)
{
    (void)be;
    const struct lab_kernel_set *const *sets = all_sets(count);
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
    enum lab_status st = enter(of(be));
    return st ? st
              : lab_cuda_judge(
                    cudaEventRecord(of(be)->begin, of(be)->exec.stream),
                    "cannot record an event");
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

static const struct lab_variant *cuda_variant(struct lab_backend *be,
                                              const char *operation, int i)
{
    (void)be;
    return lab_cuda_variant(operation, i);
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
    .error_id = lab_error_id,
    .time_begin = cuda_time_begin,
    .time_end = cuda_time_end,
    .graph = &graph_ops,
    .ceiling = cuda_ceiling,
    .variant = cuda_variant,
};
