/* The launches of bench_tracing.c. */
#include "bench_tracing.h"

#include <cuda_runtime.h>
#include <time.h>

static __global__ void empty()
{
}

static double now_us()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static cudaStream_t stream;

int bench_open(void)
{
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) !=
        cudaSuccess)
        return 0;
    empty<<<1, 32, 0, stream>>>();
    return cudaStreamSynchronize(stream) == cudaSuccess;
}

double bench_launches(int n, int per_step, void (*push)(int64_t),
                      void (*pop)(void))
{
    static int64_t exec;
    cudaStreamSynchronize(stream);
    double since = now_us();
    for (int i = 0; i < n; i += per_step) {
        if (push)
            push(++exec);
        for (int j = 0; j < per_step; j++)
            empty<<<1, 32, 0, stream>>>();
        if (pop)
            pop();
    }
    cudaStreamSynchronize(stream);
    return (now_us() - since) / n;
}

double bench_graph(int nodes, int launches, int *failed)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    for (int i = 0; i < nodes; i++)
        empty<<<1, 32, 0, stream>>>();
    cudaStreamEndCapture(stream, &graph);
    *failed = cudaGraphInstantiateWithFlags(&exec, graph, 0) != cudaSuccess;
    if (*failed)
        return 0;
    double best = 1e30;
    for (int repeat = 0; repeat < 5; repeat++) {
        cudaStreamSynchronize(stream);
        double since = now_us();
        for (int i = 0; i < launches; i++)
            cudaGraphLaunch(exec, stream);
        cudaStreamSynchronize(stream);
        double each = (now_us() - since) / launches / nodes;
        best = each < best ? each : best;
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    return best;
}
