/* y (N) = STEPS times v = a v + c from x (N), which lies on the host and goes
 * back there; a size is N, STEPS. The scratch vector is what x becomes on the
 * device. Bytes are those of both ways. */
#include "labs/shapes.h"

#include <math.h>
#include <stddef.h>

#include "overlap/overlap.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    static const enum lab_bench_role roles[] = {LAB_ROLE_IN, LAB_ROLE_OUT,
                                                LAB_ROLE_SCRATCH};
    if (dim[1] > LAB_OVERLAP_STEPS) {
        lab_fail(LAB_E_USAGE,
                 "[lab.overlap-steps] 1 to %d steps an element: 1000000x64",
                 LAB_OVERLAP_STEPS);
        return 0;
    }
    for (int k = 0; k < 3; k++)
        out[k] = (struct lab_bench_tensor){roles[k], t, 1, {dim[0]}};
    return 3;
}

static double flop(const int64_t *dim)
{
    return 2 * (double)dim[0] * (double)dim[1];
}

/* Every step rounds once or, without a fused multiply-add, twice. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    (void)out;
    /* What is forgotten of x, is of its errors: 1 / (1 - a) = 500 steps. */
    double steps = fmin((double)dim[1], 500);
    return lab_bench_recurrence(lab_bench_number(n, 0, i),
                                (double)LAB_OVERLAP_A, (double)LAB_OVERLAP_C,
                                dim[1], 2 * steps);
}

static const char *const checks[] = {
    "1x1", "5x3", "31x2", "257x64", "1000x10", "65537x16", "100003x5", NULL};

const struct lab_operation lab_operation_overlap = {
    .name = "overlap",
    .title = "to the GPU, STEPS times v = a v + c, and back",
    .shape = "NxSTEPS",
    .dims = 2,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "1000000x1,1000000x16",
    .sizes_gpu = "16777216x1,16777216x1024,16777216x2048,16777216x8192",
    .checks = checks,
    .tensors = tensors,
    .names = "x y device",
    .flop = flop,
    .bytes = lab_bench_map_bytes,
    .element = element,
};
