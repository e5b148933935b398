/* kernels/labs/conv/operation.c -- the convolution as a lab: see conv.h. */
#include "labs/conv/reference.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    struct conv_shape s;
    if (!lab_conv_shape_check(dim, &s))
        return 0;
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 4, {s.N, s.C, s.H, s.W}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 4, {s.K, s.C, s.R, s.R}};
    out[2] =
        (struct lab_bench_tensor){LAB_ROLE_OUT, t, 4, {s.N, s.K, s.P, s.Q}};
    out[3] = (struct lab_bench_tensor){
        LAB_ROLE_SCRATCH, t, 2, {conv_depth(&s), s.P * s.Q}};
    return 4;
}

/* The terms of one channel. */
static void add_channel(const struct lab_bench_numbers *n,
                        const struct conv_shape *s, int64_t image, int64_t c,
                        int64_t k, int64_t p, int64_t q,
                        struct lab_bench_sum *sum)
{
    for (int64_t r = 0; r < s->R; r++) {
        for (int64_t t = 0; t < s->R; t++) {
            int64_t h = p + r - s->pad;
            int64_t v = q + t - s->pad;
            if (h < 0 || h >= s->H || v < 0 || v >= s->W)
                continue;
            lab_bench_add(
                sum, lab_bench_number(
                         n, 0, ((image * s->C + c) * s->H + h) * s->W + v) *
                         lab_bench_number(
                             n, 1, ((k * s->C + c) * s->R + r) * s->R + t));
        }
    }
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct conv_shape s = conv_shape_of_dims(dim);
    struct lab_bench_sum sum = {0};
    int64_t place = i % (s.P * s.Q);
    int64_t k = i / (s.P * s.Q) % s.K;
    (void)out;
    for (int64_t c = 0; c < s.C; c++)
        add_channel(n, &s, i / (s.P * s.Q * s.K), c, k, place / s.Q,
                    place % s.Q, &sum);
    return lab_conv_element(&s, sum.value, n->precision, n->tensor[2].dtype);
}

const struct lab_operation lab_operation_conv = {
    .name = "conv",
    .title = "a convolution, NCHW, stride 1, padded to keep the size",
    .shape = "NxCxHxWxKxR",
    .dims = 6,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "1x16x32x32x16x3",
    .sizes_gpu = "1x128x128x128x128x3,1x128x128x128x128x11",
    .checks = lab_conv_checks,
    .tensors = tensors,
    .flop = lab_conv_flop,
    .bytes = lab_conv_bytes,
    .element = element,
};
