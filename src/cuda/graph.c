/* A whole iteration as one CUDA graph: launched in one call, and told about in
 * pinned memory, so that the host neither queues a thousand kernels nor waits.
 */
#include <time.h>

#include "base/mem.h"
#include "cuda_priv.h"
#include "common/graph.h"

struct lab_graph {
    cudaGraphExec_t exec;
};

struct lab_cuda_graphs {
    struct lab_graph_state *state; /* on the device */
    struct lab_graph_line *lines;  /* pinned */
    struct lab_graph_line *lines_dev;
    uint64_t launched;
    uint64_t told;
    uint64_t next; /* the iteration that a launch would run now */
    struct CUstream_st *main;
    cudaStream_t lanes[LAB_GRAPH_LANES];
    cudaEvent_t
        reached[LAB_GRAPH_LANES + 1]; /* of a lane; last: of all before */
    bool forked;
};

_Static_assert((int)LAB_GRAPH_AHEAD < (int)LAB_GRAPH_LINES,
               "a line is read before it is written again");

static enum lab_status graph_fail(struct lab_cuda_graphs *g, cudaError_t err)
{
    enum lab_status st = lab_cuda_fail(err, "cannot prepare CUDA graphs");
    lab_cuda_graphs_close(g);
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

static enum lab_status graphs_open(struct lab_backend *be)
{
    struct lab_cuda_graphs **slot = lab_cuda_graphs_of(be);
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
    err =
        cudaMemsetAsync(p, 0, sizeof(*g->state), lab_cuda_exec_of(be)->stream);
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
    *slot = g;
    return LAB_OK;
}

void lab_cuda_graphs_close(struct lab_cuda_graphs *g)
{
    if (!g)
        return;
    for (int i = 0; i < LAB_GRAPH_LANES && g->lanes[i]; i++)
        (void)cudaStreamDestroy(g->lanes[i]);
    for (int i = 0; i <= LAB_GRAPH_LANES && g->reached[i]; i++)
        (void)cudaEventDestroy(g->reached[i]);
    (void)cudaFree(g->state);
    (void)cudaFreeHost(g->lines);
    (void)cudaGetLastError();
    lab_free(g);
}

static enum lab_status host_alloc(struct lab_backend *be, size_t bytes,
                                  void **out)
{
    enum lab_status st = lab_cuda_enter(be);
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
    if (lab_cuda_enter(be) == LAB_OK)
        (void)cudaFreeHost(p);
    (void)cudaGetLastError();
}

static enum lab_status upload(struct lab_backend *be, void *dst,
                              const void *src, size_t bytes)
{
    enum lab_status st = lab_cuda_enter(be);
    if (st)
        return st;
    cudaError_t err = cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice,
                                      lab_cuda_exec_of(be)->stream);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot copy to the device");
    return LAB_OK;
}

static enum lab_status begin(struct lab_backend *be)
{
    struct lab_exec *exec = lab_cuda_exec_of(be);
    enum lab_status st = lab_cuda_enter(be);
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
    struct lab_cuda_graphs *g = *lab_cuda_graphs_of(be);
    g->main = exec->stream;
    g->forked = false;
    exec->iteration = &g->state->iteration;
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
    struct lab_exec *exec = lab_cuda_exec_of(be);
    struct lab_cuda_graphs *g = *lab_cuda_graphs_of(be);
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

static enum lab_status count(struct lab_backend *be, int64_t *nodes)
{
    cudaStream_t stream = lab_cuda_exec_of(be)->stream;
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
    struct lab_exec *exec = lab_cuda_exec_of(be);
    struct lab_cuda_graphs *g = *lab_cuda_graphs_of(be);
    cudaGraph_t graph = NULL;
    enum lab_status st = LAB_OK;
    if (!g)
        return LAB_OK; /* it never began */
    if (g->main)
        exec->stream = g->main;
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
    if (lab_cuda_enter(be) == LAB_OK) {
        (void)cudaStreamSynchronize(lab_cuda_exec_of(be)->stream);
        (void)cudaGraphExecDestroy(g->exec);
    }
    (void)cudaGetLastError();
    lab_free(g);
}

static enum lab_status launch(struct lab_backend *be, struct lab_graph *graph,
                              uint64_t iteration)
{
    struct lab_exec *exec = lab_cuda_exec_of(be);
    struct lab_cuda_graphs *g = *lab_cuda_graphs_of(be);
    enum lab_status st = lab_cuda_enter(be);
    if (!st && g->launched - g->told >= LAB_GRAPH_AHEAD)
        st = lab_fail(LAB_E_STATE, "%d iterations have not been told",
                      LAB_GRAPH_AHEAD);
    if (!st && (g->launched == 0 || g->next != iteration))
        st = lab_cuda_graph_set(g->state, iteration, exec->stream);
    if (st)
        return st;
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
                              struct lab_graph_report *out, bool *told)
{
    enum { SPINS = 4096 }; /* some microseconds */
    const struct timespec nap = {0, 20000};
    struct lab_cuda_graphs *g = *lab_cuda_graphs_of(be);
    *told = false;
    if (!g || g->told == g->launched)
        return LAB_OK;
    const struct lab_graph_line *line =
        &g->lines[(g->told + 1) % LAB_GRAPH_LINES];
    for (int64_t i = 0;
         __atomic_load_n(&line->serial, __ATOMIC_ACQUIRE) != g->told + 1; i++) {
        if (!wait)
            return LAB_OK;
        if (i < SPINS)
            continue;
        enum lab_status st = still_running(lab_cuda_exec_of(be));
        if (st)
            return st;
        (void)nanosleep(&nap, NULL);
    }
    *out = (struct lab_graph_report){.iteration = line->iteration,
                                     .loss = line->loss,
                                     .start_ns = (int64_t)line->start_ns,
                                     .end_ns = (int64_t)line->end_ns};
    g->told++;
    *told = true;
    return LAB_OK;
}

const struct lab_graph_ops lab_cuda_graph_ops = {
    .host_alloc = host_alloc,
    .host_free = host_free,
    .upload = upload,
    .begin = begin,
    .lane = lane,
    .count = count,
    .end = end,
    .free = graph_free,
    .launch = launch,
    .report = report,
};
