/* y (N) = x (N) with WARPS warps on each multiprocessor; a size is N, WARPS. */
#include "labs/shapes.h"

#include <stddef.h>

#include "warps_copy/warps_copy.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    if (dim[1] > LAB_COPY_WARPS) {
        lab_fail(LAB_E_USAGE, "[lab.warps] 1 to %d warps a multiprocessor",
                 LAB_COPY_WARPS);
        return 0;
    }
    return lab_bench_map_tensors(dim, p, out);
}

static const char *const checks[] = {
    "1x1", "31x2", "257x3", "9999x5", "65537x8", "100003x1", "400009x4", NULL};

const struct lab_operation lab_operation_warps_copy = {
    .name = "warps_copy",
    .title = "y = x with so many warps a multiprocessor",
    .shape = "NxWARPS",
    .dims = 2,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "4000000x1",
    .sizes_gpu = "33554432x1,33554432x2,33554432x4,33554432x8,33554432x16,"
                 "33554432x32,33554432x64",
    .checks = checks,
    .tensors = tensors,
    .names = "x y",
    .flop = lab_bench_no_flop,
    .bytes = lab_bench_map_bytes,
    .element = lab_bench_copy_element,
};
