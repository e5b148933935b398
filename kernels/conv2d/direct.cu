/* kernels/conv2d/direct.cu -- a thread for each element of y.
 *
 * The idea: the definition. Neighbouring threads have neighbouring columns of
 * the image, so their loads share lines, and all threads of a warp have the
 * same weight at the same time.
 * The price: every multiply-add loads two numbers and asks twice whether it is
 * still inside of the image; each number of x is loaded K R R times.
 *
 * With the channels last neighbouring threads have neighbouring kernels: they
 * want the same number of x, and weights that lie C R R numbers apart. It is what
 * that layout is not made for. */
#include "conv2d/conv.cuh"

static __global__ void conv_direct(float *y, const float *x, const float *w,
                                   struct conv_shape s, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t q = i % s.Q - s.pad;
    int64_t p = i / s.Q % s.P - s.pad;
    int64_t k = i / (s.P * s.Q) % s.K;
    int64_t n = i / (s.P * s.Q * s.K);
    float sum = 0.0f;
    for (int64_t c = 0; c < s.C; c++) {
        const float *image = x + (n * s.C + c) * s.H * s.W;
        const float *window = w + (k * s.C + c) * s.R * s.R;
        for (int64_t r = 0; r < s.R; r++) {
            if (p + r < 0 || p + r >= s.H)
                continue;
            for (int64_t t = 0; t < s.R; t++) {
                if (q + t >= 0 && q + t < s.W)
                    sum += image[(p + r) * s.W + q + t] * window[r * s.R + t];
            }
        }
    }
    y[i] = sum;
}

enum lab_status lab_conv_direct(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    conv_direct<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), conv_shape_of(call),
        count);
    return lab_launched("conv_direct");
}

/* ---- channels last ---- */

static __global__ void conv_nhwc_direct(float *y, const float *x,
                                        const float *w, struct conv_shape s,
                                        int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t q = i / s.K % s.Q - s.pad;
    int64_t p = i / (s.K * s.Q) % s.P - s.pad;
    const float *image = x + i / (s.K * s.P * s.Q) * s.H * s.W * s.C;
    const float *window = w + i % s.K * s.R * s.R * s.C;
    float sum = 0.0f;
    for (int64_t r = 0; r < s.R; r++) {
        for (int64_t t = 0; t < s.R; t++) {
            if (p + r < 0 || p + r >= s.H || q + t < 0 || q + t >= s.W)
                continue;
            const float *from = image + ((p + r) * s.W + q + t) * s.C;
            for (int64_t c = 0; c < s.C; c++)
                sum += from[c] * window[(r * s.R + t) * s.C + c];
        }
    }
    y[i] = sum;
}

enum lab_status lab_conv_nhwc_direct(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    conv_nhwc_direct<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1),
        conv_shape_of_nhwc(call), count);
    return lab_launched("conv_nhwc_direct");
}
