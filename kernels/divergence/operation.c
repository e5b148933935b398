/* y (N) = a recurrence from x (N); element i takes its constant from branch
 * i % B. A size is N, B. */
#include "labs/shapes.h"

#include <stddef.h>

#include "divergence/divergence.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    if (dim[1] > LAB_DIVERGENCE_BRANCHES) {
        lab_fail(LAB_E_USAGE,
                 "[lab.branches] 1 to %d branches: a warp has 32 threads",
                 LAB_DIVERGENCE_BRANCHES);
        return 0;
    }
    return lab_bench_map_tensors(dim, p, out);
}

static double flop(const int64_t *dim)
{
    return 2.0 * LAB_DIVERGENCE_STEPS * (double)dim[0];
}

/* Every step rounds once. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    (void)out;
    return lab_bench_recurrence(lab_bench_number(n, 0, i),
                                (double)LAB_DIVERGENCE_A,
                                (double)LAB_DIVERGENCE_C((int)(i % dim[1])),
                                LAB_DIVERGENCE_STEPS, LAB_DIVERGENCE_STEPS);
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
    .names = "x y",
    .flop = flop,
    .bytes = lab_bench_map_bytes,
    .element = element,
};
