/* kernels/common/graph.cu -- one thread each: counting, and telling the host.
 *
 * %globaltimer counts nanoseconds, in steps of about a microsecond on some
 * chips; the clock of a multiprocessor would be finer, but the two kernels may
 * run on two of them. */
#include "common/graph.h"
#include "common/launch.cuh"

static __device__ uint64_t device_ns()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __global__ void graph_set(struct lab_graph_state *state,
                                 uint64_t iteration, double rate)
{
    state->iteration = iteration - 1;
    state->rate = rate;
}

static __global__ void graph_advance(struct lab_graph_state *state)
{
    state->iteration++;
    state->serial++;
    state->start_ns = device_ns();
}

static __global__ void graph_tell(struct lab_graph_line *lines,
                                  const struct lab_graph_state *state,
                                  const float *loss)
{
    uint64_t serial = state->serial;
    volatile struct lab_graph_line *line = &lines[serial % LAB_GRAPH_LINES];
    line->iteration = state->iteration;
    line->start_ns = state->start_ns;
    line->end_ns = device_ns();
    line->loss = *loss;
    __threadfence_system(); /* the host sees these before the serial */
    line->serial = serial;
}

enum lab_status lab_cuda_graph_set(struct lab_graph_state *state,
                                   uint64_t iteration, double rate,
                                   struct CUstream_st *stream)
{
    graph_set<<<1, 1, 0, stream>>>(state, iteration, rate);
    return lab_launched("graph_set");
}

enum lab_status lab_cuda_graph_advance(struct lab_graph_state *state,
                                       struct CUstream_st *stream)
{
    graph_advance<<<1, 1, 0, stream>>>(state);
    return lab_launched("graph_advance");
}

enum lab_status lab_cuda_graph_report(struct lab_graph_line *lines,
                                      const struct lab_graph_state *state,
                                      const float *loss,
                                      struct CUstream_st *stream)
{
    graph_tell<<<1, 1, 0, stream>>>(lines, state, loss);
    return lab_launched("graph_tell");
}
