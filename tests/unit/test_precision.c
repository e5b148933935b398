/* The precision lab: how the error of a product falls with the parts that its
 * numbers are split into. The variants' own check only knows a precision's bound,
 * which all of its splits keep. */
#include "test.h"

#include "precision/precision.h"
#include "split_errors.h"

extern const struct lab_variant lab_cpu_variants_precision[];

static struct split_errors seen;

static int measure(void **state)
{
    struct lab_backend *be = NULL;
    (void)state;
    if (lab_backend_open(&be, "cpu", 0))
        return -1;
    split_errors_measure(be, "33x20x70", &seen);
    lab_backend_close(be);
    return 0;
}

TEST_CASE(all_variants_tell_their_error)
{
    assert_int_equal(seen.rows, 9);
    assert_true(seen.fp32 > 0 && seen.fp32 < 1e-6);
}

TEST_CASE(errors_fall_as_parts_are_added)
{
    split_errors_expect(&seen);
}

/* One product rounds each factor to 8 or 11 bits: 2^-9 or 2^-12 at most, which
 * is 0.4 of that in the mean of squares, for both factors together 0.6. */
TEST_CASE(one_product_has_the_error_of_its_bits)
{
    assert_true(seen.bf16[0] > 0.3 * ldexp(1, -9));
    assert_true(seen.bf16[0] < 1.5 * ldexp(1, -9));
    assert_true(seen.fp16[0] > 0.3 * ldexp(1, -12));
    assert_true(seen.fp16[0] < 1.5 * ldexp(1, -12));
}

TEST_CASE(two_parts_of_fp16_are_as_good_as_fp32)
{
    assert_true(seen.fp16[2] < 4 * seen.fp32);
    assert_true(seen.bf16[2] > 4 * seen.fp32); /* 16 bits are not 24 */
}

/* A NaN in a factor is in all that it is a factor of, in each precision: rounding
 * its bits as if it were a number would lose it. */
TEST_CASE(nan_reaches_the_product)
{
    enum { M = 3, K = 5, N = 4, PITCH = LAB_SPLIT_PITCH(5) };
    float a[M * K];
    float b[K * N];
    float c[M * N];
    uint16_t parts_a[2 * M * PITCH];
    uint16_t parts_b[2 * K * PITCH];
    const uint32_t made_by_cuda = 0x7fffffff;
    for (const struct lab_variant *r = lab_cpu_variants_precision; r->name;
         r++) {
        enum lab_dtype half = r->precision == LAB_FP16 ? LAB_F16 : LAB_BFLOAT16;
        const struct lab_view in[2] = {
            {.data = a, .rank = 2, .dim = {M, K}, .count = M * K},
            {.data = b, .rank = 2, .dim = {K, N}, .count = K * N}};
        const struct lab_view out[3] = {
            {.data = c, .rank = 2, .dim = {M, N}, .count = M * N},
            {.data = parts_a, .dtype = half, .rank = 3, .dim = {2, M, PITCH}},
            {.data = parts_b, .dtype = half, .rank = 3, .dim = {2, K, PITCH}}};
        const struct lab_call call = {
            .in = in, .n_in = 2, .out = out, .n_out = 3};
        for (int i = 0; i < M * K; i++)
            a[i] = (float)(i % 7) - 2.5f;
        for (int i = 0; i < K * N; i++)
            b[i] = (float)(i % 5) / 3;
        memcpy(&a[1 * K + 2], &made_by_cuda, sizeof(float));
        memcpy(&b[3 * N + 0], &made_by_cuda, sizeof(float));
        assert_ok(r->run(&call));
        for (int i = 0; i < M * N; i++)
            assert_int_equal(isnan(c[i]) != 0, i / N == 1 || i % N == 0);
    }
}

RUN_TESTS_IN(measure, NULL)
