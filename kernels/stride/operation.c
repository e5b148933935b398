/* y (N) = every S-th number of x (N S); a size is N, S. */
#include "labs/shapes.h"

#include <math.h>
#include <stddef.h>

#include "common/kernel.h"

/* Bytes that DRAM gives at once: two sectors of a GPU, a line of a CPU. */
enum { BURST = 64 };

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    int64_t all = 0;
    if (dim[1] > INT32_MAX || __builtin_mul_overflow(dim[0], dim[1], &all)) {
        lab_fail(
            LAB_E_USAGE,
            "[lab.stride-size] x would have more numbers than can be counted: "
            "a size is N x STRIDE, 1000000x8");
        return 0;
    }
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 1, {all}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_OUT, t, 1, {dim[0]}};
    return 2;
}

/* A burst for each number that is wanted, or for those that share one. A variant
 * that reads all of x has a traffic of 2. */
static double traffic(const int64_t *dim, enum lab_precision p,
                      const struct lab_kernel_model *model)
{
    double one = (double)lab_dtype_bytes(lab_bench_dtype(p));
    double apart = one * (double)dim[1];
    if (model->traffic == 0)
        return NAN;
    if (model->traffic < 2)
        apart = fmin(apart, BURST);
    return (apart + one) * (double)dim[0];
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    return lab_bench_exact(lab_bench_number(n, 0, i * dim[1]),
                           n->tensor[1 + out].dtype);
}

static const char *const checks[] = {"1x1",     "31x2",    "257x3",
                                     "1000x4",  "4099x7",  "1021x32",
                                     "65537x1", "33000x9", NULL};

const struct lab_operation lab_operation_stride = {
    .name = "stride",
    .title = "y[i] = x[S i]",
    .shape = "NxS",
    .dims = 2,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "1000000x1,1000000x4,1000000x16",
    .sizes_gpu = "16777216x1,16777216x2,16777216x4,16777216x8,16777216x16,"
                 "16777216x32",
    .checks = checks,
    .tensors = tensors,
    .names = "x y",
    .flop = lab_bench_no_flop,
    .bytes = lab_bench_map_bytes,
    .traffic = traffic,
    .element = element,
};
