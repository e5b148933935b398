/* kernels/optimizer/sgd.cu -- a step against the gradient, in place.
 *
 * Thread -> element: thread i updates parameter i and its velocity; no other
 * reads or writes them, so that no thread waits for another.
 * Memory: 12 bytes a parameter (p and g read, p written), 20 with momentum. Two
 * to six flop for that: the memory sets the pace. */
#include "common/launch.cuh"
#include "optimizer/update.cuh"

struct sgd_factors {
    struct rate_ref lr;
    double clip;
    float momentum;
    float weight_decay;
    bool nesterov;
};

/* d = g + weight_decay p;  velocity = momentum velocity + d;
 * p -= lr d, lr velocity, or with nesterov lr (d + momentum velocity) */
static __global__ void sgd_update(float *p, float *velocity, const float *g,
                                  const float *norm, struct sgd_factors f,
                                  int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    float d = clipped(g[i], norm, f.clip) + f.weight_decay * p[i];
    float step = d;
    if (velocity) {
        float v = f.momentum * velocity[i] + d;
        velocity[i] = v;
        step = f.nesterov ? d + f.momentum * v : v;
    }
    p[i] -= (float)rate_of(f.lr) * step;
}

static enum lab_status sgd(const struct lab_call *call)
{
    const auto *params = lab_params<lab_sgd_params>(call);
    struct sgd_factors f = {rate_ref_of(call, params->lr), params->clip,
                            (float)params->momentum,
                            (float)params->weight_decay, params->nesterov};
    int64_t count = call->out[0].count;
    float *velocity = call->n_out > 1 ? lab_out(call, 1) : nullptr;
    sgd_update<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), velocity, lab_in(call, 0), norm_of(call), f, count);
    return lab_launched("sgd_update");
}

static const struct lab_variant variants[] = {
    lab_row("naive", "update", LAB_UPDATE, sgd, "kernels/optimizer/sgd.cu",
            "sgd_update"),
};

const struct lab_kernel_set lab_cuda_sgd = lab_set("sgd", variants);
