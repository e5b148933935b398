/* The precision lab: how the error of a product falls with the parts that its
 * numbers are split into. The rungs' own check only knows a precision's bound,
 * which all of its splits keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "split_errors.h"

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

static void all_rungs_tell_their_error(void **state)
{
    (void)state;
    assert_int_equal(seen.rows, 9);
    assert_true(seen.fp32 > 0 && seen.fp32 < 1e-6);
}

static void errors_fall_as_parts_are_added(void **state)
{
    (void)state;
    split_errors_expect(&seen);
}

/* One product rounds each factor to 8 or 11 bits: 2^-9 or 2^-12 at most, which
 * is 0.4 of that in the mean of squares, for both factors together 0.6. */
static void one_product_has_the_error_of_its_bits(void **state)
{
    (void)state;
    assert_true(seen.bf16[0] > 0.3 * ldexp(1, -9));
    assert_true(seen.bf16[0] < 1.5 * ldexp(1, -9));
    assert_true(seen.fp16[0] > 0.3 * ldexp(1, -12));
    assert_true(seen.fp16[0] < 1.5 * ldexp(1, -12));
}

static void two_parts_of_fp16_are_as_good_as_fp32(void **state)
{
    (void)state;
    assert_true(seen.fp16[2] < 4 * seen.fp32);
    assert_true(seen.bf16[2] > 4 * seen.fp32); /* 16 bits are not 24 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rungs_tell_their_error),
        cmocka_unit_test(errors_fall_as_parts_are_added),
        cmocka_unit_test(one_product_has_the_error_of_its_bits),
        cmocka_unit_test(two_parts_of_fp16_are_as_good_as_fp32),
    };
    return cmocka_run_group_tests(tests, measure, NULL);
}
