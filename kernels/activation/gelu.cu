/* kernels/activation/gelu.cu -- x, weighted by the share of a normal distribution below
 * it.
 *
 * Two forms: the exact one with erf, and the tanh that approximates it and was
 * once cheaper. The form is a template parameter, so that the choice is made by
 * the compiler and not by every thread. Backward computes what it needs again
 * from x: a few more operations, no more bytes.
 *
 * Thread -> element: thread i of the whole grid has element i, so that the 32
 * lanes of a warp read 32 neighbouring floats, one 128-byte transaction.
 * Memory: forward reads x and writes y, 8 bytes an element; backward reads dy
 * and x and writes dx, 12 bytes an element. */
#include "activation/activation.cuh"
#include "common/vector.cuh"

template <bool TANH>
static __global__ void gelu_fwd(float *y, const float *x, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = TANH ? gelu_tanh_value(x[i]) : gelu_erf_value(x[i]);
}

template <bool TANH>
static __global__ void gelu_bwd(float *dx, const float *dy, const float *x,
                                int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dx[i] = dy[i] * (TANH ? gelu_tanh_slope(x[i]) : gelu_erf_slope(x[i]));
}

static bool is_tanh(const struct lab_call *call)
{
    return lab_params<lab_gelu_params>(call)->tanh;
}

static enum lab_status gelu_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    auto kernel = is_tanh(call) ? gelu_fwd<true> : gelu_fwd<false>;
    kernel<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count);
    return lab_launched("gelu_fwd");
}

static enum lab_status gelu_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    auto kernel = is_tanh(call) ? gelu_bwd<true> : gelu_bwd<false>;
    kernel<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count);
    return lab_launched("gelu_bwd");
}

template <bool TANH> struct gelu_map {
    __device__ float operator()(float x, float) const
    {
        return TANH ? gelu_tanh_value(x) : gelu_erf_value(x);
    }
};

template <bool TANH> struct gelu_slope_map {
    __device__ float operator()(float dy, float x) const
    {
        return dy * (TANH ? gelu_tanh_slope(x) : gelu_erf_slope(x));
    }
};

static enum lab_status gelu_forward_vector(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    if (!vector_fits(call))
        return gelu_forward(call);
    if (is_tanh(call))
        vector_run(call, lab_out(call, 0), lab_in(call, 0), nullptr,
                   each<gelu_map<true>>{}, count);
    else
        vector_run(call, lab_out(call, 0), lab_in(call, 0), nullptr,
                   each<gelu_map<false>>{}, count);
    return lab_launched("vector_map");
}

static enum lab_status gelu_backward_vector(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    if (!vector_fits(call))
        return gelu_backward(call);
    if (is_tanh(call))
        vector_run(call, lab_out(call, 0), lab_in(call, 0), lab_in(call, 1),
                   each<gelu_slope_map<true>>{}, count);
    else
        vector_run(call, lab_out(call, 0), lab_in(call, 0), lab_in(call, 1),
                   each<gelu_slope_map<false>>{}, count);
    return lab_launched("vector_map");
}

static const char source[] = "kernels/activation/gelu.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "gelu", LAB_FORWARD, gelu_forward, source, "gelu_fwd"),
    lab_prefer(lab_row("vector", "gelu", LAB_FORWARD, gelu_forward_vector,
                       source, "gelu_forward_vector")),
    lab_row("naive", "gelu", LAB_BACKWARD, gelu_backward, source, "gelu_bwd"),
    lab_prefer(lab_row("vector", "gelu", LAB_BACKWARD, gelu_backward_vector,
                       source, "gelu_backward_vector")),
};

const struct lab_kernel_set lab_cuda_gelu = lab_set("gelu", variants);
