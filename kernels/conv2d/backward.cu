/* kernels/conv2d/backward.cu -- our own variants of the convolution's gradients.
 *
 * lab_conv_data_direct    a thread for each element of dx: the definition. As in
 *                         direct.cu neighbouring threads have neighbouring columns
 *                         and the same weight, so the loads of dy share lines.
 * lab_conv_filter_direct  a thread for each element of dw. A kernel has few
 *                         elements and each is a sum over all places of all images:
 *                         N P Q terms, one after the other. Neighbouring threads
 *                         read x one column apart, and all the same dy.
 * lab_conv_filter_block   a block for each element of dw: its threads share the
 *                         places, neighbours take neighbouring columns, and their
 *                         sums are added as a tree in shared memory. The order is
 *                         fixed, so the bits are the same every time.
 *
 * All are limited by the loads: two, and two comparisons (four in filter_block),
 * a multiply-add. */
#include "conv2d/conv.cuh"

static __global__ void conv_data_direct(float *dx, const float *dy,
                                        const float *w, struct conv_shape s,
                                        int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t v = i % s.W + s.pad;
    int64_t h = i / s.W % s.H + s.pad;
    int64_t c = i / (s.H * s.W) % s.C;
    int64_t n = i / (s.H * s.W * s.C);
    float sum = 0.0f;
    for (int64_t k = 0; k < s.K; k++) {
        const float *map = dy + (n * s.K + k) * s.P * s.Q;
        const float *window = w + (k * s.C + c) * s.R * s.R;
        for (int64_t r = 0; r < s.R; r++) {
            if (h - r < 0 || h - r >= s.P)
                continue;
            for (int64_t t = 0; t < s.R; t++) {
                if (v - t >= 0 && v - t < s.Q)
                    sum += map[(h - r) * s.Q + v - t] * window[r * s.R + t];
            }
        }
    }
    dx[i] = sum;
}

enum lab_status lab_conv_data_direct(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    conv_data_direct<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1),
        conv_shape_of_data(call), count);
    return lab_launched("conv_data_direct");
}

/* Where element i of dw finds its factors in image n. */
struct conv_pair {
    const float *image; /* channel c of x */
    const float *map;   /* kernel k of dy */
    int64_t r;          /* row and column of the window, less the zeros */
    int64_t t;
};

static __device__ struct conv_pair conv_pair_of(const float *x, const float *dy,
                                                const struct conv_shape &s,
                                                int64_t i, int64_t n)
{
    int64_t area = s.R * s.R;
    return {x + (n * s.C + i / area % s.C) * s.H * s.W,
            dy + (n * s.K + i / (area * s.C)) * s.P * s.Q,
            i / s.R % s.R - s.pad, i % s.R - s.pad};
}

static __global__ void conv_filter_direct(float *dw, const float *x,
                                          const float *dy, struct conv_shape s,
                                          int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    float sum = 0.0f;
    for (int64_t n = 0; n < s.N; n++) {
        struct conv_pair f = conv_pair_of(x, dy, s, i, n);
        for (int64_t p = 0; p < s.P; p++) {
            if (p + f.r < 0 || p + f.r >= s.H)
                continue;
            for (int64_t q = 0; q < s.Q; q++) {
                if (q + f.t >= 0 && q + f.t < s.W)
                    sum +=
                        f.image[(p + f.r) * s.W + q + f.t] * f.map[p * s.Q + q];
            }
        }
    }
    dw[i] = sum;
}

enum lab_status lab_conv_filter_direct(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    conv_filter_direct<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1),
        conv_shape_of_filter(call), count);
    return lab_launched("conv_filter_direct");
}

static __global__ void conv_filter_block(float *dw, const float *x,
                                         const float *dy, struct conv_shape s)
{
    __shared__ float part[LAB_BLOCK];
    int64_t i = blockIdx.x;
    float sum = 0.0f;
    for (int64_t n = 0; n < s.N; n++) {
        struct conv_pair f = conv_pair_of(x, dy, s, i, n);
        for (int64_t at = threadIdx.x; at < s.P * s.Q; at += LAB_BLOCK) {
            int64_t h = at / s.Q + f.r;
            int64_t v = at % s.Q + f.t;
            if (h >= 0 && h < s.H && v >= 0 && v < s.W)
                sum += f.image[h * s.W + v] * f.map[at];
        }
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = LAB_BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        dw[i] = part[0];
}

enum lab_status lab_conv_filter_block(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    if (count > INT32_MAX)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.conv-blocks] a block for each of %lld "
                        "elements: a grid has 2^31 - 1",
                        (long long)count);
    conv_filter_block<<<static_cast<unsigned>(count), LAB_BLOCK, 0,
                        lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                            lab_in(call, 1),
                                            conv_shape_of_filter(call));
    return lab_launched("conv_filter_block");
}
