/* y (N) = 2048 times v = a v + c from x (N), with WARPS warps on each
 * multiprocessor; a size is N, WARPS. */
#include "labs/shapes.h"

#include <stddef.h>

#include "warps_fma/warps_fma.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    if (dim[1] > LAB_CHAIN_WARPS) {
        lab_fail(LAB_E_USAGE, "[lab.warps] 1 to %d warps a multiprocessor",
                 LAB_CHAIN_WARPS);
        return 0;
    }
    return lab_bench_map_tensors(dim, p, out);
}

static double flop(const int64_t *dim)
{
    return 2.0 * LAB_CHAIN_STEPS * (double)dim[0];
}

/* Every step rounds once or, without a fused multiply-add, twice. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    (void)dim;
    (void)out;
    return lab_bench_recurrence(lab_bench_number(n, 0, i), (double)LAB_CHAIN_A,
                                (double)LAB_CHAIN_C, LAB_CHAIN_STEPS,
                                2 * LAB_CHAIN_STEPS);
}

static const char *const checks[] = {"1x1",     "31x2",    "257x3",   "9999x5",
                                     "33000x8", "40003x1", "40009x4", NULL};

const struct lab_operation lab_operation_warps_fma = {
    .name = "warps_fma",
    .title = "2048 times v = a v + c with so many warps a multiprocessor",
    .shape = "NxWARPS",
    .dims = 2,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "20000x1",
    .sizes_gpu = "1081344x1,1081344x2,1081344x4,1081344x8,1081344x16,"
                 "1081344x32,1081344x64",
    .checks = checks,
    .tensors = tensors,
    .names = "x y",
    .flop = flop,
    .bytes = lab_bench_map_bytes,
    .element = element,
};
