/* kernels/layout/operation.c -- a tensor's other order: y[n,h,w,c] =
 * x[n,c,h,w]. A size is N, C, H, W. */
#include "labs/shapes.h"

static const char *const checks[] = {"1x1x1x1",   "1x64x5x4",  "2x3x17x19",
                                     "3x33x7x31", "1x1x65x33", "2x129x8x9",
                                     NULL};

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    out[0] = (struct lab_bench_tensor){
        LAB_ROLE_IN, t, 4, {dim[0], dim[1], dim[2], dim[3]}};
    out[1] = (struct lab_bench_tensor){
        LAB_ROLE_OUT, t, 4, {dim[0], dim[2], dim[3], dim[1]}};
    return 2;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return 2 * (double)lab_dtype_bytes(lab_bench_dtype(p)) * (double)dim[0] *
           (double)dim[1] * (double)dim[2] * (double)dim[3];
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    int64_t c = i % dim[1];
    int64_t pixels = dim[2] * dim[3];
    int64_t pixel = i / dim[1] % pixels;
    int64_t image = i / dim[1] / pixels;
    return lab_bench_exact(
        lab_bench_number(n, 0, (image * dim[1] + c) * pixels + pixel),
        n->tensor[1 + out].dtype);
}

const struct lab_operation lab_operation_layout = {
    .name = "layout",
    .title = "a tensor from NCHW to NHWC",
    .shape = "NxCxHxW",
    .dims = 4,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "1x64x5x4,8x64x56x56",
    .sizes_gpu = "1x128x128x128,32x256x56x56,32x3x224x224",
    .checks = checks,
    .tensors = tensors,
    .names = "x y",
    .flop = lab_bench_no_flop,
    .bytes = bytes,
    .element = element,
};
