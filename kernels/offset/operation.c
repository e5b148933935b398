/* y (N) = x (N + O) from number O on; a size is N, O. */
#include "labs/shapes.h"

#include <stddef.h>

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 1, {dim[0] + dim[1]}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_OUT, t, 1, {dim[0]}};
    return 2;
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    return lab_bench_exact(lab_bench_number(n, 0, i + dim[1]),
                           n->tensor[1 + out].dtype);
}

static const char *const checks[] = {"1x1",     "31x2",    "257x3",  "1000x4",
                                     "4099x7",  "1021x32", "4096x5", "65537x1",
                                     "33000x6", NULL};

const struct lab_operation lab_operation_offset = {
    .name = "offset",
    .title = "y[i] = x[O + i]",
    .shape = "NxO",
    .dims = 2,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "4000000x16,4000000x1",
    .sizes_gpu = "67108864x32,67108864x8,67108864x4,67108864x2,67108864x1",
    .checks = checks,
    .tensors = tensors,
    .names = "x y",
    .flop = lab_bench_no_flop,
    .bytes = lab_bench_map_bytes,
    .element = element,
};
