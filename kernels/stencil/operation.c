/* y (N) = sums of seven neighbours of x (N + 6); a size is N. */
#include "labs/operation.h"

#include <stddef.h>

#include "stencil/stencil.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    out[0] = (struct lab_bench_tensor){
        LAB_ROLE_IN, t, 1, {dim[0] + LAB_STENCIL_WIDTH - 1}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_OUT, t, 1, {dim[0]}};
    return 2;
}

static double flop(const int64_t *dim)
{
    return (LAB_STENCIL_WIDTH - 1) * (double)dim[0];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    double numbers = 2 * (double)dim[0] + LAB_STENCIL_WIDTH - 1;
    return (double)lab_dtype_bytes(lab_bench_dtype(p)) * numbers;
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = {0};
    (void)dim;
    for (int k = 0; k < LAB_STENCIL_WIDTH; k++)
        lab_bench_add(&sum, lab_bench_number(n, 0, i + k));
    return lab_bench_sum_element(&sum, n->precision, n->tensor[1 + out].dtype);
}

/* Around a block's 256 results, and around four a thread. */
static const char *const checks[] = {"1",    "5",    "31",    "250",    "256",
                                     "257",  "1000", "1023",  "4099",   "4102",
                                     "4103", "4104", "65537", "100003", NULL};

const struct lab_operation lab_operation_stencil = {
    .name = "stencil",
    .title = "y[i] = x[i] + ... + x[i + 6]",
    .shape = "N",
    .dims = 1,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "100000,4000000",
    .sizes_gpu = "1000000,67108864",
    .checks = checks,
    .tensors = tensors,
    .names = "x y",
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
