/* kernels/activation/swish.cu -- x times its own sigmoid.
 *
 * y = x s with s = sigmoid(x), dx = dy (s + x s (1 - s)). Backward computes s
 * again from x: one exp is cheaper than four more bytes from memory.
 *
 * Thread -> element: thread i of the whole grid has element i, so that the 32
 * lanes of a warp read 32 neighbouring floats, one 128-byte transaction.
 * Memory: forward reads x and writes y, 8 bytes an element; backward reads dy
 * and x and writes dx, 12 bytes an element. Nothing is used twice, so the
 * memory sets the pace. */
#include "activation/activation.cuh"
#include "common/launch.cuh"

static __global__ void swish_fwd(float *y, const float *x, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = swish_value(x[i]);
}

static __global__ void swish_bwd(float *dx, const float *dy, const float *x,
                                 int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dx[i] = dy[i] * swish_slope(x[i]);
}

static enum lab_status swish_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    swish_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count);
    return lab_launched("swish_fwd");
}

static enum lab_status swish_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    swish_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count);
    return lab_launched("swish_bwd");
}

static const char source[] = "kernels/activation/swish.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "swish", LAB_FORWARD, swish_forward, source, "swish_fwd"),
    lab_row("naive", "swish", LAB_BACKWARD, swish_backward, source,
            "swish_bwd"),
};

const struct lab_kernel_set lab_cuda_swish = lab_set("swish", variants);
