/* tests/unit/test_conv_choice.c -- which of cuDNN's algorithms for a convolution
 * may be taken (kernels/conv2d/conv2d_cudnn_choice.h). */
#include "test.h"

#include "conv2d/conv2d_cudnn_choice.h"

static bool may(int direction, int algorithm, int status, int determinism,
                int math, int64_t side)
{
    struct lab_conv_offer o = {direction, algorithm, status, determinism,
                               math,      side,      side};
    return lab_conv_may_choose(&o);
}

TEST_CASE(fp32_that_repeats_is_taken)
{
    assert_true(may(0, 1, 0, 1, 3, 3));
    assert_true(may(0, 1, 0, 1, 0, 5));
    assert_true(may(2, 1, 0, 1, 3, 3));
    assert_true(may(0, 6, 0, 1, 3, 3));
    assert_true(may(1, 5, 0, 1, 3, 3));
}

TEST_CASE(what_fails_or_changes_is_not_taken)
{
    assert_false(may(0, 1, 9, 1, 3, 3));
    assert_false(may(0, 1, 0, 0, 3, 3));
}

TEST_CASE(tensor_cores_are_not_taken)
{
    assert_false(may(0, 1, 0, 1, 1, 3));
    assert_false(may(2, 1, 0, 1, 2, 3));
}

TEST_CASE(winograd_is_taken_where_it_is_exact)
{
    assert_false(may(0, 6, 0, 1, 3, 5));
    assert_false(may(0, 7, 0, 1, 3, 1));
    assert_false(may(1, 4, 0, 1, 3, 5));
    assert_false(may(2, 4, 0, 1, 3, 3));
    assert_false(may(2, 5, 0, 1, 3, 3));
}

RUN_TESTS()
