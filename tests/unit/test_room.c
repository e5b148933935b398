/* Memory of kernels that is kept between their calls. */
#include "test.h"

#include <string.h>

#include "base/mem.h"
#include "cpu/room.h"

TEST_CASE(what_is_given_back_is_taken_again)
{
    float *first = lab_room_take(1000);
    assert_non_null(first);
    assert_int_equal((uintptr_t)first % 64, 0);
    memset(first, 1, 1000 * sizeof(*first));
    lab_room_give(first);
    /* Without an allocation, which would fail. */
    lab_mem_fail_from(1);
    float *again = lab_room_take(900);
    float *second = lab_room_take(900);
    lab_mem_fail_from(0);
    assert_ptr_equal(again, first);
    assert_null(second);
    lab_room_give(again);
    lab_room_give(second);
}

TEST_CASE(two_at_once_are_apart)
{
    float *a = lab_room_take(1000);
    float *b = lab_room_take(1000);
    assert_true(a && b && (a + 1000 <= b || b + 1000 <= a));
    lab_room_give(a);
    lab_room_give(b);
}

TEST_CASE(what_is_too_small_or_large_is_not_kept)
{
    lab_room_give(lab_room_take(10));
    float *large = lab_room_take(LAB_ROOM_KEPT);
    assert_non_null(large);
    large[LAB_ROOM_KEPT - 1] = 1;
    lab_room_give(large);
    lab_mem_fail_from(1);
    float *none = lab_room_take(10);
    lab_mem_fail_from(0);
    assert_null(none);
}

RUN_TESTS()
