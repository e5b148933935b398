/* C (n) = A (n) + B (n): 12 bytes for one operation. */
#include "labs/shapes.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype dtype = lab_bench_dtype(p);
    for (int k = 0; k < 3; k++)
        out[k] = (struct lab_bench_tensor){
            k < 2 ? LAB_ROLE_IN : LAB_ROLE_OUT, dtype, 1, {dim[0]}};
    return 3;
}

static double flop(const int64_t *dim)
{
    return (double)dim[0];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return 3 * (double)lab_dtype_bytes(lab_bench_dtype(p)) * (double)dim[0];
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = {0};
    (void)dim;
    lab_bench_add(&sum, lab_bench_number(n, 0, i));
    lab_bench_add(&sum, lab_bench_number(n, 1, i));
    return lab_bench_sum_element(&sum, n->precision, n->tensor[2 + out].dtype);
}

static bool size_of_add(const struct lab_call *call, int64_t *dim)
{
    dim[0] = call->out[0].count;
    return true;
}

const struct lab_operation lab_operation_vector_add = {
    .name = "vector_add",
    .title = "C = A + B",
    .shape = "N",
    .dims = 1,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "50000,4000000",
    .sizes_gpu = "50000,1000000,67108864",
    .checks = lab_bench_vector_checks,
    .tensors = tensors,
    .names = "A B C",
    .flop = flop,
    .bytes = bytes,
    .element = element,
    .as_step = {"add", "add", LAB_FORWARD, size_of_add},
};
