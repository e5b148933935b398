/* kernels/optimizer/adamw.cu -- adam with the weight decay apart from the gradient.
 *
 * Every weight shrinks by the same share; the means see the gradient alone.
 * adam.cuh has the means and the step.
 *
 * Thread -> element: thread i updates parameter i with its m and v, and the
 * one a grid further on; no other thread reads or writes them.
 * Memory: 28 bytes a parameter: p, m, v and g are read, p, m and v written.
 * That is all an optimizer costs, and it is more than twice what sgd moves. */
#include "optimizer/adam.cuh"

static __global__ void adamw_update(float *p, float *m, float *v,
                                    const float *g, const float *norm,
                                    struct adam_factors f, int64_t count)
{
    struct adam_corrections c = adam_corrections_of(f);
    float shrink = adam_shrink(f);
    int64_t all = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = lab_element(); i < count; i += all) {
        float step = adam_step(&m[i], &v[i], clipped(g[i], norm, f.clip), f, c);
        p[i] = shrink * p[i] - step;
    }
}

static enum lab_status adamw(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    adamw_update<<<adam_blocks(call, count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_out(call, 1), lab_out(call, 2), lab_in(call, 0),
        norm_of(call), adam_factors_of(call), count);
    return lab_launched("adamw_update");
}

static const struct lab_variant variants[] = {
    lab_row("naive", "update", LAB_UPDATE, adamw, "kernels/optimizer/adamw.cu",
            "adamw_update"),
};

const struct lab_kernel_set lab_cuda_adamw = lab_set("adamw", variants);
