/* kernels/activation/leaky_relu.cu -- what is negative becomes small.
 *
 * y = x, or slope*x where x is not positive: some gradient always comes back,
 * so that no unit dies. The slope is an argument of the kernel, which every
 * thread reads from constant memory for free.
 *
 * Thread -> element: thread i of the whole grid has element i, so that the 32
 * lanes of a warp read 32 neighbouring floats, one 128-byte transaction.
 * Memory: forward reads x and writes y, 8 bytes an element; backward reads dy
 * and x and writes dx, 12 bytes an element. Nothing is used twice, so the
 * memory sets the pace. */
#include "activation/activation.cuh"
#include "common/launch.cuh"

static __global__ void leaky_relu_fwd(float *y, const float *x, float slope,
                                      int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = leaky_relu_value(x[i], slope);
}

static __global__ void leaky_relu_bwd(float *dx, const float *dy,
                                      const float *x, float slope,
                                      int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dx[i] = x[i] > 0.0f ? dy[i] : slope * dy[i];
}

static enum lab_status leaky_relu_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    float slope = (float)lab_params<lab_leaky_relu_params>(call)->slope;
    leaky_relu_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), slope, count);
    return lab_launched("leaky_relu_fwd");
}

static enum lab_status leaky_relu_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    float slope = (float)lab_params<lab_leaky_relu_params>(call)->slope;
    leaky_relu_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), slope, count);
    return lab_launched("leaky_relu_bwd");
}

static const char source[] = "kernels/activation/leaky_relu.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "leaky_relu", LAB_FORWARD, leaky_relu_forward, source,
            "leaky_relu_fwd"),
    lab_row("naive", "leaky_relu", LAB_BACKWARD, leaky_relu_backward, source,
            "leaky_relu_bwd"),
};

const struct lab_kernel_set lab_cuda_leaky_relu =
    lab_set("leaky_relu", variants);
