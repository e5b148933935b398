/* kernels/conv2d/operation.c -- the operations conv, conv_nhwc, conv_data and
 * conv_filter: sizes, costs, and the reference in double; see conv.h.
 * dim is N, C, H, W, K, R. */
#include <stddef.h>

#include "conv2d/conv.h"
#include "conv2d/conv2d.h"
#include "labs/operation.h"

/* The shape of a size. False: the size has no meaning; lab_error() has the reason. */
static bool shape_check(const int64_t *dim, struct conv_shape *out)
{
    if (!conv_counts(dim)) {
        lab_fail(LAB_E_USAGE,
                 "[lab.conv-size] more numbers than can be counted: a size is "
                 "NxCxHxWxKxR, 1x16x32x32x16x3");
        return false;
    }
    struct conv_shape s = conv_shape_of_dims(dim);
    if (s.P < 1 || s.Q < 1) {
        lab_fail(LAB_E_USAGE,
                 "[lab.conv-window] a window of %lld x %lld does not fit into "
                 "%lld x %lld with "
                 "%lld zeros around",
                 (long long)s.R, (long long)s.R, (long long)s.H, (long long)s.W,
                 (long long)s.pad);
        return false;
    }
    *out = s;
    return true;
}

static double flop(const int64_t *dim)
{
    struct conv_shape s = conv_shape_of_dims(dim);
    return 2.0 * (double)s.N * (double)s.K * (double)s.P * (double)s.Q *
           (double)s.C * (double)s.R * (double)s.R;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    struct conv_shape s = conv_shape_of_dims(dim);
    double x = (double)s.C * (double)s.H * (double)s.W;
    double y = (double)s.K * (double)s.P * (double)s.Q;
    double w = (double)s.K * (double)s.C * (double)s.R * (double)s.R;
    return (double)lab_dtype_bytes(lab_bench_dtype(p)) *
           ((double)s.N * (x + y) + w);
}

/* Transforms (Winograd's, Fourier's) mix the numbers of a whole tile, so that
 * the error of an element at the edge is that of its neighbours, and they add
 * errors of their own: up to 100 times those of the plain sum, for Winograd's
 * larger tiles. So the tolerance is that of a full window of random numbers
 * (the mean square of their products is 1 / 144), four times over. A term that is
 * left out is 0.06 on average, still 200 times as much for 1,000 terms. */
static struct lab_ladder_element
judged(double terms, double value, enum lab_precision p, enum lab_dtype dtype)
{
    const struct lab_bench_sum window = {
        .value = value, .squares = terms / 144, .terms = terms};
    struct lab_ladder_element e = lab_bench_sum_element(&window, p, dtype);
    e.allowed *= 4;
    return e;
}

/* No padding at all, an even window, windows larger than the image, sizes that
 * are no multiple of anything, more kernels than a tile has; at the end a size
 * that every variant takes: the reason why one refuses it is the most telling. */
static const char *const checks[] = {"1x1x1x1x1x1",
                                     "1x3x5x7x2x3",
                                     "2x5x9x11x7x3",
                                     "3x4x13x12x130x3",
                                     "2x3x17x19x5x5",
                                     "1x2x23x29x3x11",
                                     "2x7x6x5x9x2",
                                     "1x16x12x12x140x1",
                                     "2x4x3x2x5x7",
                                     "1x8x16x16x16x3",
                                     NULL};

/* What a place of a tensor list holds. */
enum part { X, W, Y };

/* Two inputs and the result of an NCHW operation. 0: the size has no meaning. */
static int three_tensors(const int64_t *dim, enum lab_precision p,
                         const enum part *order, struct lab_bench_tensor *out)
{
    struct conv_shape s;
    if (!shape_check(dim, &s))
        return 0;
    const int64_t sides[][4] = {
        {s.N, s.C, s.H, s.W}, {s.K, s.C, s.R, s.R}, {s.N, s.K, s.P, s.Q}};
    for (int i = 0; i < 3; i++) {
        const int64_t *d = sides[order[i]];
        out[i] = (struct lab_bench_tensor){i < 2 ? LAB_ROLE_IN : LAB_ROLE_OUT,
                                           lab_bench_dtype(p),
                                           4,
                                           {d[0], d[1], d[2], d[3]}};
    }
    return 3;
}

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    const enum part order[] = {X, W, Y};
    if (!three_tensors(dim, p, order, out))
        return 0;
    struct conv_shape s = conv_shape_of_dims(dim);
    out[3] = (struct lab_bench_tensor){
        LAB_ROLE_SCRATCH, lab_bench_dtype(p), 2, {conv_depth(&s), s.P * s.Q}};
    return 4;
}

/* y of a convolution at image, k, p, q: the definition. What is in memory is NCHW,
 * or with the channels last. */
static struct lab_ladder_element
sum_of_window(const struct lab_bench_numbers *n, const struct conv_shape *s,
              bool nhwc, int64_t image, int64_t k, int64_t place)
{
    struct lab_bench_sum sum = {0};
    for (int64_t i = 0; i < conv_depth(s); i++) {
        int64_t c = i / (s->R * s->R);
        int64_t j = i % (s->R * s->R);
        int64_t h = place / s->Q + j / s->R - s->pad;
        int64_t v = place % s->Q + j % s->R - s->pad;
        if (h < 0 || h >= s->H || v < 0 || v >= s->W)
            continue;
        int64_t x = nhwc ? ((image * s->H + h) * s->W + v) * s->C + c
                         : ((image * s->C + c) * s->H + h) * s->W + v;
        int64_t w = nhwc ? (k * s->R * s->R + j) * s->C + c
                         : (k * s->C + c) * s->R * s->R + j;
        lab_bench_add(&sum,
                      lab_bench_number(n, 0, x) * lab_bench_number(n, 1, w));
    }
    return judged((double)conv_depth(s), sum.value, n->precision,
                  n->tensor[2].dtype);
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct conv_shape s = conv_shape_of_dims(dim);
    (void)out;
    return sum_of_window(n, &s, false, i / (s.P * s.Q * s.K),
                         i / (s.P * s.Q) % s.K, i % (s.P * s.Q));
}

/* A layer's convolution has any window, stride, padding, layout, dilation and
 * groups. */
static bool size_of_conv2d(const struct lab_call *call, int64_t *dim)
{
    const struct lab_conv2d_params *params = call->params;
    const struct lab_window *w = &params->window;
    const int64_t *x = call->in[0].dim;
    const int64_t pad = (w->size[0] - 1) / 2;
    if (lab_conv2d_plain(call))
        return false;
    if (w->nhwc || w->size[0] != w->size[1] || w->stride[0] != 1 ||
        w->stride[1] != 1 || w->pad[0] != pad || w->pad[1] != pad ||
        call->out[0].dim[2] != x[2] + 2 * pad - w->size[0] + 1 ||
        call->out[0].dim[3] != x[3] + 2 * pad - w->size[1] + 1) {
        lab_fail(LAB_E_UNSUPPORTED, "[launch.conv-layout] needs layout nchw, a "
                                    "square kernel, stride 1 and a padding of "
                                    "(kernel - 1) / 2");
        return false;
    }
    for (int i = 0; i < 4; i++)
        dim[i] = x[i];
    dim[4] = call->out[0].dim[1];
    dim[5] = w->size[0];
    return true;
}

const struct lab_operation lab_operation_conv = {
    .name = "conv",
    .folder = "conv2d",
    .title = "a convolution, NCHW, stride 1, padded to keep the size",
    .shape = "NxCxHxWxKxR",
    .dims = 6,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "1x16x32x32x16x3",
    .sizes_gpu = "1x128x128x128x128x3,1x128x128x128x128x11",
    .checks = checks,
    .tensors = tensors,
    .names = "x w y columns",
    .flop = flop,
    .bytes = bytes,
    .element = element,
    .as_step = {"conv2d", "conv", LAB_FORWARD, size_of_conv2d},
};

static int tensors_nhwc(const int64_t *dim, enum lab_precision p,
                        struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    struct conv_shape s;
    if (!shape_check(dim, &s))
        return 0;
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 4, {s.N, s.H, s.W, s.C}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 4, {s.K, s.R, s.R, s.C}};
    out[2] =
        (struct lab_bench_tensor){LAB_ROLE_OUT, t, 4, {s.N, s.P, s.Q, s.K}};
    return 3;
}

static struct lab_ladder_element element_nhwc(const struct lab_bench_numbers *n,
                                              const int64_t *dim, int out,
                                              int64_t i)
{
    struct conv_shape s = conv_shape_of_dims(dim);
    (void)out;
    return sum_of_window(n, &s, true, i / (s.K * s.P * s.Q), i % s.K,
                         i / s.K % (s.P * s.Q));
}

const struct lab_operation lab_operation_conv_nhwc = {
    .name = "conv_nhwc",
    .folder = "conv2d",
    .title = "a convolution, NHWC, stride 1, padded to keep the size",
    .shape = "NxCxHxWxKxR",
    .dims = 6,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "1x16x32x32x16x3",
    .sizes_gpu = "1x128x128x128x128x3,32x256x56x56x256x3",
    .checks = checks,
    .tensors = tensors_nhwc,
    .names = "x w y",
    .flop = flop,
    .bytes = bytes,
    .element = element_nhwc,
};

/* ---- the gradients ---- */

static int tensors_data(const int64_t *dim, enum lab_precision p,
                        struct lab_bench_tensor *out)
{
    const enum part order[] = {Y, W, X};
    return three_tensors(dim, p, order, out);
}

static struct lab_ladder_element element_data(const struct lab_bench_numbers *n,
                                              const int64_t *dim, int out,
                                              int64_t i)
{
    struct conv_shape s = conv_shape_of_dims(dim);
    struct lab_bench_sum sum = {0};
    int64_t h = i / s.W % s.H;
    int64_t v = i % s.W;
    int64_t c = i / (s.H * s.W) % s.C;
    int64_t image = i / (s.H * s.W * s.C);
    for (int64_t j = 0; j < s.R * s.R; j++) {
        int64_t p = h - j / s.R + s.pad;
        int64_t q = v - j % s.R + s.pad;
        if (p < 0 || p >= s.P || q < 0 || q >= s.Q)
            continue;
        for (int64_t k = 0; k < s.K; k++)
            lab_bench_add(
                &sum,
                lab_bench_number(n, 0,
                                 ((image * s.K + k) * s.P + p) * s.Q + q) *
                    lab_bench_number(n, 1, (k * s.C + c) * s.R * s.R + j));
    }
    (void)out;
    return judged((double)(s.K * s.R * s.R), sum.value, n->precision,
                  n->tensor[2].dtype);
}

const struct lab_operation lab_operation_conv_data = {
    .name = "conv_data",
    .folder = "conv2d",
    .title = "dx of a convolution, from dy and w, NCHW, stride 1",
    .shape = "NxCxHxWxKxR",
    .dims = 6,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "1x16x32x32x16x3",
    .sizes_gpu = "1x128x128x128x128x3,32x64x56x56x64x3",
    .checks = checks,
    .tensors = tensors_data,
    .names = "dy w dx",
    .flop = flop,
    .bytes = bytes,
    .element = element_data,
};

static int tensors_filter(const int64_t *dim, enum lab_precision p,
                          struct lab_bench_tensor *out)
{
    const enum part order[] = {X, Y, W};
    return three_tensors(dim, p, order, out);
}

static struct lab_ladder_element
element_filter(const struct lab_bench_numbers *n, const int64_t *dim, int out,
               int64_t i)
{
    struct conv_shape s = conv_shape_of_dims(dim);
    struct lab_bench_sum sum = {0};
    int64_t k = i / (s.R * s.R * s.C);
    int64_t c = i / (s.R * s.R) % s.C;
    for (int64_t j = 0; j < s.N * s.P * s.Q; j++) {
        int64_t image = j / (s.P * s.Q);
        int64_t h = j / s.Q % s.P + i / s.R % s.R - s.pad;
        int64_t v = j % s.Q + i % s.R - s.pad;
        if (h < 0 || h >= s.H || v < 0 || v >= s.W)
            continue;
        lab_bench_add(
            &sum,
            lab_bench_number(n, 0, ((image * s.C + c) * s.H + h) * s.W + v) *
                lab_bench_number(
                    n, 1, (image * s.K + k) * s.P * s.Q + j % (s.P * s.Q)));
    }
    (void)out;
    return judged((double)(s.N * s.P * s.Q), sum.value, n->precision,
                  n->tensor[2].dtype);
}

const struct lab_operation lab_operation_conv_filter = {
    .name = "conv_filter",
    .folder = "conv2d",
    .title = "dw of a convolution, from x and dy, NCHW, stride 1",
    .shape = "NxCxHxWxKxR",
    .dims = 6,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "1x16x32x32x16x3",
    .sizes_gpu = "1x128x128x128x128x3,32x64x56x56x64x3",
    .checks = checks,
    .tensors = tensors_filter,
    .names = "x dy dw",
    .flop = flop,
    .bytes = bytes,
    .element = element_filter,
};
