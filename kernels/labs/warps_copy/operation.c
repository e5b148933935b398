/* y (N) = x (N) with WARPS warps on each multiprocessor; a size is N, WARPS. */
#include "labs/operation.h"

#include <stddef.h>

#include "labs/warps_copy/warps_copy.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_lab_tensor *out)
{
    enum lab_dtype t = lab_lab_dtype(p);
    if (dim[1] > LAB_COPY_WARPS) {
        lab_fail(LAB_E_USAGE, "1 to %d warps a multiprocessor", LAB_COPY_WARPS);
        return 0;
    }
    out[0] = (struct lab_lab_tensor){LAB_ROLE_IN, t, 1, {dim[0]}};
    out[1] = (struct lab_lab_tensor){LAB_ROLE_OUT, t, 1, {dim[0]}};
    return 2;
}

static double flop(const int64_t *dim)
{
    (void)dim;
    return 0;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return 2 * (double)lab_dtype_bytes(lab_lab_dtype(p)) * (double)dim[0];
}

static struct lab_ladder_element element(const struct lab_lab_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    (void)dim;
    return lab_lab_exact(lab_lab_number(n, 0, i), n->tensor[1 + out].dtype);
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
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
