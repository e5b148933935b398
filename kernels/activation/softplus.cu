/* kernels/activation/softplus.cu -- a smooth relu.
 *
 * y = log(1 + exp(x)), written max(x, 0) + log1p(exp(-|x|)): exp cannot
 * overflow, and log1p keeps the digits of a small exp. Its derivative is the
 * sigmoid.
 *
 * Thread -> element: thread i of the whole grid has element i, so that the 32
 * lanes of a warp read 32 neighbouring floats, one 128-byte transaction.
 * Memory: forward reads x and writes y, 8 bytes an element; backward reads dy
 * and x and writes dx, 12 bytes an element. Nothing is used twice, so the
 * memory sets the pace. */
#include "activation/activation.cuh"
#include "common/launch.cuh"

static __global__ void softplus_fwd(float *y, const float *x, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = softplus_value(x[i]);
}

static __global__ void softplus_bwd(float *dx, const float *dy, const float *x,
                                    int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dx[i] = dy[i] * sigmoid_value(x[i]);
}

static enum lab_status softplus_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    softplus_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count);
    return lab_launched("softplus_fwd");
}

static enum lab_status softplus_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    softplus_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count);
    return lab_launched("softplus_bwd");
}

static const char source[] = "kernels/activation/softplus.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "softplus", LAB_FORWARD, softplus_forward, source,
            "softplus_fwd"),
    lab_row("naive", "softplus", LAB_BACKWARD, softplus_backward, source,
            "softplus_bwd"),
};

const struct lab_kernel_set lab_cuda_softplus = lab_set("softplus", variants);
