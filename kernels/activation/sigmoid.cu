/* kernels/activation/sigmoid.cu -- any number into (0, 1).
 *
 * y = 1/(1 + exp(-x)). The two branches of sigmoid_value keep exp away from
 * large positive numbers; lanes of one warp may take different ones (a short
 * divergence). Backward needs y alone: dx = dy y (1 - y).
 *
 * Thread -> element: thread i of the whole grid has element i, so that the 32
 * lanes of a warp read 32 neighbouring floats, one 128-byte transaction.
 * Memory: forward reads x and writes y, 8 bytes an element; backward reads dy
 * and y and writes dx, 12 bytes an element. Nothing is used twice, so the
 * memory sets the pace. */
#include "activation/activation.cuh"
#include "common/launch.cuh"
#include "common/wrong.cuh"

static __global__ void sigmoid_fwd(float *y, const float *x, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = sigmoid_value(x[i]);
}

static __global__ void sigmoid_bwd(float *dx, const float *dy, const float *y,
                                   int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dx[i] = dy[i] * (y[i] * (1.0f - y[i]));
}

/* The derivative as the quotient rule gives it, from x: 12 bytes an element too.
 * The square overflows below x = -44.36 (0), expf below -88.72 (NaN). */
static __global__ void sigmoid_bwd_direct(float *dx, const float *dy,
                                          const float *x, int64_t count)
{
    int64_t i = lab_element();
    if (i < count) {
        float e = expf(-x[i]);
        dx[i] = dy[i] * (e / ((1.0f + e) * (1.0f + e)));
    }
}

static enum lab_status sigmoid_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    sigmoid_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count);
    return lab_launched("sigmoid_fwd");
}

static enum lab_status sigmoid_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    sigmoid_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 2), count);
    return lab_launched("sigmoid_bwd");
}

static enum lab_status sigmoid_backward_direct(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    sigmoid_bwd_direct<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count);
    return lab_launched("sigmoid_bwd_direct");
}

static const char source[] = "kernels/activation/sigmoid.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "sigmoid", LAB_FORWARD, sigmoid_forward, source,
            "sigmoid_fwd"),
    lab_row("naive", "sigmoid", LAB_BACKWARD, sigmoid_backward, source,
            "sigmoid_bwd"),
    lab_wrong(lab_row("direct", "sigmoid", LAB_BACKWARD,
                      sigmoid_backward_direct, source, "sigmoid_bwd_direct"),
              "exp(-x) overflows"),
};

const struct lab_kernel_set lab_cuda_sigmoid = lab_set("sigmoid", variants);
