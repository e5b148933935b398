/* What the labs' fill() makes: numbers with all the bits of their dtype, so that
 * a kernel which drops some of them is seen. */
#include "climb.h"

#include "base/mem.h"

/* Tensor k, a matrix, of a size, as fill() makes it. */
static void *filled(const struct lab_operation *op, const int64_t *dim, int k,
                    int64_t *count)
{
    struct lab_bench_tensor t[LAB_BENCH_TENSORS];
    assert_true(op->tensors(dim, LAB_FP32, t) > k);
    *count = t[k].dim[0] * t[k].dim[1];
    void *host = lab_alloc_array((size_t)*count, lab_dtype_bytes(t[k].dtype));
    assert_non_null(host);
    assert_true(op->fill(dim, k, &t[k], 7, host));
    return host;
}

/* Most doubles are no fp32. */
static void doubles_are_no_floats(const char *name, const int64_t *dim, int k)
{
    int64_t count = 0;
    double *x = filled(operation_of(name), dim, k, &count);
    int64_t more = 0;
    for (int64_t i = 0; i < count; i++)
        more += (double)(float)x[i] < x[i] || (double)(float)x[i] > x[i];
    if (more < count * 9 / 10)
        fail_msg("%s: %lld of %lld numbers are fp32", name,
                 (long long)(count - more), (long long)count);
    lab_free(x);
}

TEST_CASE(linear_systems_are_in_double)
{
    for (int k = 0; k < 3; k++)
        doubles_are_no_floats("gesv", (const int64_t[]){100, 10}, k);
    doubles_are_no_floats("lu", (const int64_t[]){100}, 0);
}

/* Numbers up to 100 on one grid would be multiples of 2^-17; those near 0 have
 * room for more bits than that. */
TEST_CASE(softmax_is_of_no_grid)
{
    const int64_t dim[] = {100, 400};
    int64_t count = 0;
    float *x = filled(operation_of("softmax"), dim, 0, &count);
    int near = 0;
    int apart = 0;
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        double steps = ldexp((double)x[i], 17);
        most = fmax(most, fabs((double)x[i]));
        if (fabs((double)x[i]) > 6)
            continue;
        near++;
        apart += fabs(steps - nearbyint(steps)) > 0;
    }
    assert_true(most > 99 && most <= 100);
    assert_true(near > 1000);
    assert_true(apart > near / 2);
    lab_free(x);
}

/* Past the numbers that fill() draws they come again, the last part cut off. */
TEST_CASE(numbers_come_again)
{
    float x[7] = {1, 2, 3};
    lab_bench_repeat(x, 3, 7, sizeof(*x));
    assert_memory_equal(x, ((float[]){1, 2, 3, 1, 2, 3, 1}), sizeof(x));
}

RUN_TESTS()
