/* engine/backend_graph.h -- a whole iteration as one object of the device: a
 * CUDA graph. The host launches it and goes on; the loss comes later.
 *
 * What is captured runs again with the arguments that it was captured with;
 * kernels that depend on the iteration or the learning rate read them on the
 * device
 * (kernels/common/graph.h). Optional: `graph` of a backend's table is NULL
 * where there is none. Threads: the engine's, as the backend. */
#pragma once
#include "engine/backend.h"

enum { LAB_GRAPH_AHEAD = 4, LAB_GRAPH_LANES = 6 };

/* What the device reports of an iteration that was launched as a graph. */
struct lab_graph_report {
    uint64_t iteration;
    float loss;
    int64_t start_ns; /* of the device's clock */
    int64_t end_ns;
};

struct lab_graph;
/* Each status goes through lab_backend_judge(). */
struct lab_graph_ops {
    /* Host memory that upload() reads while the host goes on: it must not be
     * written before the iteration that was launched next has been reported. */
    enum lab_status (*host_alloc)(struct lab_backend *be, size_t bytes,
                                  void **out);
    void (*host_free)(struct lab_backend *be, void *p);
    enum lab_status (*upload)(struct lab_backend *be, void *dst,
                              const void *src, size_t bytes);
    /* What run() queues between begin and end is kept and not done. `loss`: a
     * device address of one f32. out NULL: throws it away. Any failure ends
     * the capture. */
    enum lab_status (*begin)(struct lab_backend *be);
    enum lab_status (*end)(struct lab_backend *be, const void *loss,
                           struct lab_graph **out);
    /* During a capture: what is queued from now on goes into lane 0 ..
     * LAB_GRAPH_LANES - 1, beside what the other lanes hold and after what came
     * before the first lane. -1: what follows comes after all of them. Steps
     * that use the workspace have no lane of their own. */
    enum lab_status (*lane)(struct lab_backend *be, int lane);
    /* During a capture: nodes so far. */
    enum lab_status (*count)(struct lab_backend *be, int64_t *nodes);
    void (*free)(struct lab_backend *be, struct lab_graph *g);
    /* `rate`: the iteration's learning rate, NaN where nothing is updated. At
     * most LAB_GRAPH_AHEAD launches may wait to be reported. */
    enum lab_status (*launch)(struct lab_backend *be, struct lab_graph *g,
                              uint64_t iteration, double rate);
    /* The oldest launch that has not been reported, when it is done; `wait`:
     * waits for it. *reported false: none is done. */
    enum lab_status (*report)(struct lab_backend *be, bool wait,
                              struct lab_graph_report *out, bool *reported);
};
