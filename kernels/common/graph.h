/* kernels/common/graph.h -- the first and the last kernel of an iteration that was
 * captured as a CUDA graph.
 *
 * A graph runs again and again with the arguments that it was captured with, so
 * what changes from one iteration to the next lies on the device: which
 * iteration this is, and where the host looks for the loss. The host does not
 * wait: the last kernel writes a line into memory that both sees, and its
 * serial number, written last, marks the line as whole.
 *
 * Everything is queued on `stream`. LAB_E_DEVICE when a launch is rejected. */
#pragma once
#include <stdint.h>
#include "base/status.h"

struct CUstream_st;

enum { LAB_GRAPH_LINES = 64 };

/* Device memory. */
struct lab_graph_state {
    uint64_t iteration; /* that runs, or ran last */
    uint64_t serial;    /* of the launch, from 1 */
    uint64_t start_ns;  /* of the device's clock */
    double rate;        /* learning rate */
};

/* Pinned memory, LAB_GRAPH_LINES of them: launch s has line s modulo that. */
struct lab_graph_line {
    uint64_t iteration;
    uint64_t start_ns;
    uint64_t end_ns;
    float loss;
    uint64_t serial;
};

LAB_C_BEGIN
/* The next launch is of `iteration`, with learning rate `rate`. */
enum lab_status lab_cuda_graph_set(struct lab_graph_state *state,
                                   uint64_t iteration, double rate,
                                   struct CUstream_st *stream);
/* iteration + 1, serial + 1. */
enum lab_status lab_cuda_graph_advance(struct lab_graph_state *state,
                                       struct CUstream_st *stream);
/* Tells the loss. `lines` as the device sees them. */
enum lab_status lab_cuda_graph_report(struct lab_graph_line *lines,
                                      const struct lab_graph_state *state,
                                      const float *loss,
                                      struct CUstream_st *stream);
LAB_C_END
