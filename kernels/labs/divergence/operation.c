/* y (N) = a recurrence from x (N) whose constant element i takes from branch
 * i % B; a size is N, B. */
#include "labs/operation.h"

#include <math.h>
#include <stddef.h>

#include "labs/divergence/divergence.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_lab_tensor *out)
{
    enum lab_dtype t = lab_lab_dtype(p);
    if (dim[1] > LAB_DIVERGENCE_BRANCHES) {
        lab_fail(LAB_E_USAGE, "1 to %d branches: a warp has 32 threads",
                 LAB_DIVERGENCE_BRANCHES);
        return 0;
    }
    out[0] = (struct lab_lab_tensor){LAB_ROLE_IN, t, 1, {dim[0]}};
    out[1] = (struct lab_lab_tensor){LAB_ROLE_OUT, t, 1, {dim[0]}};
    return 2;
}

static double flop(const int64_t *dim)
{
    return 2.0 * LAB_DIVERGENCE_STEPS * (double)dim[0];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return 2 * (double)lab_dtype_bytes(lab_lab_dtype(p)) * (double)dim[0];
}

/* Every step rounds once, by u |v| at most. */
static struct lab_ladder_element element(const struct lab_lab_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    double v = lab_lab_number(n, 0, i);
    double most = fabs(v);
    (void)out;
    for (int s = 0; s < LAB_DIVERGENCE_STEPS; s++) {
        v = v * (double)LAB_DIVERGENCE_A +
            (double)LAB_DIVERGENCE_C((int)(i % dim[1]));
        most = fmax(most, fabs(v));
    }
    return (struct lab_ladder_element){
        v, ldexp(16, -24) * sqrt(LAB_DIVERGENCE_STEPS) * most};
}

static const char *const checks[] = {
    "1x1", "31x2", "257x3", "1000x32", "4099x31", "65537x16", "33000x7", NULL};

const struct lab_operation lab_operation_divergence = {
    .name = "divergence",
    .title = "512 times v = a v + c, c by one of B branches",
    .shape = "NxB",
    .dims = 2,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "20000x1,20000x32",
    .sizes_gpu = "4194304x1,4194304x2,4194304x4,4194304x8,4194304x16,"
                 "4194304x32",
    .checks = checks,
    .tensors = tensors,
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
