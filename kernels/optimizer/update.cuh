/* kernels/optimizer/update.cuh -- what the kernels of all optimizers share: the
 * learning rate of the iteration, and a gradient that is scaled where the norm of
 * all gradients is above the limit. */
#pragma once
#include "common/graph.h"
#include "common/launch.cuh"
#include "optimizer/optimizer.h"

/* A captured kernel runs again in iterations with other rates: it reads the rate
 * on the device, beside the iteration (graph.h). */
struct rate_ref {
    const double *device;
    double host;
};

static_assert(offsetof(struct lab_graph_state, iteration) == 0,
              "the state is found by its iteration");

static inline struct rate_ref rate_ref_of(const struct lab_call *call,
                                          double lr)
{
    const void *state = call->exec->iteration; /* NULL: not captured */
    if (!state)
        return {nullptr, lr};
    return {&static_cast<const struct lab_graph_state *>(state)->rate, lr};
}

static __device__ inline double rate_of(const struct rate_ref &rate)
{
    return rate.device ? *rate.device : rate.host;
}

/* in[1], or NULL: nothing is clipped. */
static inline const float *norm_of(const struct lab_call *call)
{
    return call->n_in > 1 ? lab_in(call, 1) : nullptr;
}

/* The product is rounded before it is added to anything, as on the CPU. */
static __device__ inline float clipped(float g, const float *norm, double clip)
{
    return norm ? __fmul_rn((float)lab_clip_scale(*norm, clip), g) : g;
}
