/* kernels/activation/elu.cu -- x on the right, alpha (exp(x) - 1) on the left.
 *
 * expm1f keeps the digits of a small x. Lanes of one warp may take different
 * sides; the slower one takes an exp.
 *
 * Thread -> element: thread i of the grid computes element i; a warp reads 128
 * neighbouring bytes. Memory: forward 8 bytes an element, backward 12; memory
 * limits both. */
#include "activation/activation.h"
#include "common/launch.cuh"

static __global__ void elu_fwd(float *y, const float *x, float alpha,
                               int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = x[i] > 0.0f ? x[i] : alpha * expm1f(x[i]);
}

static __global__ void elu_bwd(float *dx, const float *dy, const float *x,
                               float alpha, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dx[i] = x[i] > 0.0f ? dy[i] : dy[i] * (alpha * expf(x[i]));
}

static enum lab_status elu_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    float alpha = (float)lab_params<lab_elu_params>(call)->alpha;
    elu_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), alpha, count);
    return lab_launched("elu_fwd");
}

static enum lab_status elu_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    float alpha = (float)lab_params<lab_elu_params>(call)->alpha;
    elu_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), alpha, count);
    return lab_launched("elu_bwd");
}

static const char source[] = "kernels/activation/elu.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "elu", LAB_FORWARD, elu_forward, source, "elu_fwd"),
    lab_row("naive", "elu", LAB_BACKWARD, elu_backward, source, "elu_bwd"),
};

const struct lab_kernel_set lab_cuda_elu = lab_set("elu", variants);
