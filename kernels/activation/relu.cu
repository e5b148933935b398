/* kernels/activation/relu.cu -- what is negative becomes zero.
 *
 * y = max(0, x), and dx is dy where x was positive. A comparison and a select:
 * the arithmetic is free, the time is the time to move the tensor.
 *
 * Thread -> element: thread i of the whole grid has element i, so that the 32
 * lanes of a warp read 32 neighbouring floats, one 128-byte transaction.
 * Memory: forward reads x and writes y, 8 bytes an element; backward reads dy
 * and x and writes dx, 12 bytes an element. Nothing is used twice, so the
 * memory sets the pace. */
#include "activation/activation.cuh"
#include "common/vector.cuh"

static __global__ void relu_fwd(float *y, const float *x, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = relu_value(x[i]);
}

static __global__ void relu_bwd(float *dx, const float *dy, const float *x,
                                int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dx[i] = x[i] > 0.0f ? dy[i] : 0.0f;
}

static enum lab_status relu_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    relu_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count);
    return lab_launched("relu_fwd");
}

static enum lab_status relu_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    relu_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count);
    return lab_launched("relu_bwd");
}

struct relu_map {
    __device__ float operator()(float x, float) const
    {
        return relu_value(x);
    }
};

struct relu_slope {
    __device__ float operator()(float dy, float x) const
    {
        return x > 0.0f ? dy : 0.0f;
    }
};

static enum lab_status relu_forward_vector(const struct lab_call *call)
{
    if (!vector_fits(call))
        return relu_forward(call);
    vector_run(call, lab_out(call, 0), lab_in(call, 0), nullptr,
               each<relu_map>{}, call->out[0].count);
    return lab_launched("vector_map");
}

static enum lab_status relu_backward_vector(const struct lab_call *call)
{
    if (!vector_fits(call))
        return relu_backward(call);
    vector_run(call, lab_out(call, 0), lab_in(call, 0), lab_in(call, 1),
               each<relu_slope>{}, call->out[0].count);
    return lab_launched("vector_map");
}

static const char source[] = "kernels/activation/relu.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "relu", LAB_FORWARD, relu_forward, source, "relu_fwd"),
    lab_prefer(lab_row("vector", "relu", LAB_FORWARD, relu_forward_vector,
                       source, "relu_forward_vector")),
    lab_row("naive", "relu", LAB_BACKWARD, relu_backward, source, "relu_bwd"),
    lab_prefer(lab_row("vector", "relu", LAB_BACKWARD, relu_backward_vector,
                       source, "relu_backward_vector")),
};

const struct lab_kernel_set lab_cuda_relu = lab_set("relu", variants);
