/* kernels/activation/tanh.cu -- any number into (-1, 1).
 *
 * Backward needs y alone: dx = dy (1 - y)(1 + y). Where y rounds to 1 the
 * gradient is exactly zero: the unit is saturated.
 *
 * Thread -> element: thread i of the whole grid has element i, so that the 32
 * lanes of a warp read 32 neighbouring floats, one 128-byte transaction.
 * Memory: forward reads x and writes y, 8 bytes an element; backward reads dy
 * and y and writes dx, 12 bytes an element. Nothing is used twice, so the
 * memory sets the pace. */
#include "activation/activation.cuh"
#include "common/launch.cuh"

static __global__ void tanh_fwd(float *y, const float *x, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = tanhf(x[i]);
}

static __global__ void tanh_bwd(float *dx, const float *dy, const float *y,
                                int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dx[i] = dy[i] * ((1.0f - y[i]) * (1.0f + y[i]));
}

static enum lab_status tanh_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    tanh_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count);
    return lab_launched("tanh_fwd");
}

static enum lab_status tanh_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    tanh_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 2), count);
    return lab_launched("tanh_bwd");
}

static const char source[] = "kernels/activation/tanh.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "tanh", LAB_FORWARD, tanh_forward, source, "tanh_fwd"),
    lab_row("naive", "tanh", LAB_BACKWARD, tanh_backward, source, "tanh_bwd"),
};

const struct lab_kernel_set lab_cuda_tanh = lab_set("tanh", variants);
