/* kernels/labs/conv_nhwc/operation.c -- the convolution with channels last: see
 * labs/conv/conv.h. A size is written as for conv. */
#include "labs/conv/reference.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    struct conv_shape s;
    if (!lab_conv_shape_check(dim, &s))
        return 0;
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 4, {s.N, s.H, s.W, s.C}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 4, {s.K, s.R, s.R, s.C}};
    out[2] =
        (struct lab_bench_tensor){LAB_ROLE_OUT, t, 4, {s.N, s.P, s.Q, s.K}};
    return 3;
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct conv_shape s = conv_shape_of_dims(dim);
    struct lab_bench_sum sum = {0};
    int64_t k = i % s.K;
    int64_t place = i / s.K % (s.P * s.Q);
    int64_t image = i / (s.K * s.P * s.Q);
    for (int64_t j = 0; j < s.R * s.R; j++) {
        int64_t h = place / s.Q + j / s.R - s.pad;
        int64_t v = place % s.Q + j % s.R - s.pad;
        if (h < 0 || h >= s.H || v < 0 || v >= s.W)
            continue;
        int64_t at = ((image * s.H + h) * s.W + v) * s.C;
        for (int64_t c = 0; c < s.C; c++)
            lab_bench_add(&sum, lab_bench_number(n, 0, at + c) *
                                    lab_bench_number(
                                        n, 1, (k * s.R * s.R + j) * s.C + c));
    }
    (void)out;
    return lab_conv_element(&s, sum.value, n->precision, n->tensor[2].dtype);
}

const struct lab_operation lab_operation_conv_nhwc = {
    .name = "conv_nhwc",
    .title = "a convolution, NHWC, stride 1, padded to keep the size",
    .shape = "NxCxHxWxKxR",
    .dims = 6,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "1x16x32x32x16x3",
    .sizes_gpu = "1x128x128x128x128x3,32x256x56x56x256x3",
    .checks = lab_conv_checks,
    .tensors = tensors,
    .flop = lab_conv_flop,
    .bytes = lab_conv_bytes,
    .element = element,
};
