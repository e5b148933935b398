/* tests/unit/test_channels.c -- the walk of a thread over the elements of a
 * channel (kernels/library/channels.h), on odd sizes: each element once. */
#include "test.h"

#include "base/mem.h"
#include "library/channels.h"

static const uint32_t sides[] = {1, 2, 3, 7, 31, 32, 64, 97};
enum { SIDES = sizeof(sides) / sizeof(sides[0]) };

static void check_walk(uint32_t outer, uint32_t C, uint32_t inner,
                       uint32_t threads)
{
    uint32_t count = outer * C * inner;
    unsigned char *seen = lab_alloc(count);
    assert_non_null(seen);
    for (uint32_t c = 0; c < C; c++) {
        for (uint32_t t = 0; t < threads; t++) {
            struct lab_channel_walk w =
                lab_channel_walk_from(inner, t, threads);
            for (uint32_t k = t; k < outer * inner; k += threads) {
                int64_t i = lab_channel_index(&w, C, c);
                assert_in_range(i, 0, count - 1);
                assert_int_equal(i, (k / inner * C + c) * inner + k % inner);
                assert_int_equal(lab_channel_of((uint32_t)i, inner, C), c);
                seen[i]++;
                lab_channel_walk_on(&w);
            }
        }
    }
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(seen[i], 1);
    lab_free(seen);
}

TEST_CASE(every_element_is_walked_once)
{
    static const uint32_t threads[] = {1, 5, 32, 256};
    for (int i = 0; i < SIDES * SIDES; i++) {
        for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++)
            check_walk(sides[i % SIDES], 3, sides[i / SIDES], threads[t]);
    }
    check_walk(1, 17, 1, 256);
}

/* The last channel of the largest tensor that 32 bits count. */
TEST_CASE(an_index_may_be_large)
{
    struct lab_channel_walk w = lab_channel_walk_from(1, 1073741822, 256);
    assert_int_equal(lab_channel_index(&w, 2, 1), INT64_C(2147483645));
    w = lab_channel_walk_from(715827882, 715827881, 256);
    assert_int_equal(lab_channel_index(&w, 3, 2), INT64_C(2147483645));
}

RUN_TESTS()
