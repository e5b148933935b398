/* tests/unit/test_pieces.c -- pieces of 16 bytes that cover a part of a row
 * (kernels/labs/transpose/pieces.h): all of it, and no piece more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "labs/transpose/pieces.h"

static void pieces_cover_the_part_and_no_more(void **state)
{
    (void)state;
    for (int64_t begin = 0; begin < 200; begin++) {
        for (int length = 1; length <= 64; length++) {
            struct lab_pieces p = lab_pieces_of(begin, length);
            int64_t end = p.first + 4 * p.count;
            assert_int_equal(p.first % 4, 0);
            assert_int_equal(p.first + p.before, begin);
            assert_in_range(p.before, 0, 3);
            assert_true(end >= begin + length && end - 4 < begin + length);
            assert_true(p.count <= 17);
        }
    }
}

static void a_part_may_begin_far_away(void **state)
{
    (void)state;
    struct lab_pieces p = lab_pieces_of(INT64_C(8589934595), 64);
    assert_int_equal(p.first, INT64_C(8589934592));
    assert_int_equal(p.before, 3);
    assert_int_equal(p.count, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_cover_the_part_and_no_more),
        cmocka_unit_test(a_part_may_begin_far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
