/* kernels/local_response_norm/local_response_norm.cu -- each number over a power of the
 * squares of its neighbours along the channels.
 *
 * Thread -> element: thread i computes element i and reads its whole window: in
 * nchw a warp reads rows of neighbouring pixels, in nhwc neighbouring channels.
 * Memory: the window comes from the cache but for its first read; 12 bytes an
 * element forward and 20 backward. powf is what the arithmetic costs. */
#include "common/launch.cuh"
#include "local_response_norm/local_response_norm.h"

static __global__ void
local_response_fwd(float *y, float *scale, const float *x,
                   struct lab_local_response_norm_params p, int64_t count)
{
    int64_t i = lab_element();
    int64_t first, last;
    if (i >= count)
        return;
    lab_local_response_norm_window(&p, i, &first, &last);
    float sum = 0.0f;
    for (int64_t j = first; j <= last; j += p.inner)
        sum += x[j] * x[j];
    float s = (float)p.k + (float)(p.alpha / (double)p.size) * sum;
    scale[i] = s;
    y[i] = x[i] * powf(s, -(float)p.beta);
}

static __global__ void
local_response_bwd(float *dx, const float *dy, const float *x, const float *y,
                   const float *scale, struct lab_local_response_norm_params p,
                   int64_t count)
{
    int64_t i = lab_element();
    int64_t first, last;
    if (i >= count)
        return;
    lab_local_response_norm_window(&p, i, &first, &last);
    float sum = 0.0f;
    for (int64_t j = first; j <= last; j += p.inner)
        sum += dy[j] * y[j] / scale[j];
    float factor = (float)(2.0 * p.alpha * p.beta / (double)p.size);
    dx[i] = dy[i] * powf(scale[i], -(float)p.beta) - factor * x[i] * sum;
}

static enum lab_status normalize_forward(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    local_response_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_out(call, 1), lab_in(call, 0),
        *lab_params<lab_local_response_norm_params>(call), count);
    return lab_launched("local_response_fwd");
}

static enum lab_status normalize_backward(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    local_response_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        lab_in(call, 3), *lab_params<lab_local_response_norm_params>(call),
        count);
    return lab_launched("local_response_bwd");
}

static const char source[] =
    "kernels/local_response_norm/local_response_norm.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "normalize", LAB_FORWARD, normalize_forward, source,
            "local_response_fwd"),
    lab_row("naive", "normalize", LAB_BACKWARD, normalize_backward, source,
            "local_response_bwd"),
};

const struct lab_kernel_set lab_cuda_local_response_norm =
    lab_set("local_response_norm", variants);
