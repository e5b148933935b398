/* Shapes: how many elements, what they look like in words, where an element
 * stands. */
#include "test.h"

#include "engine/tensor.h"

TEST_CASE(counts_multiply_the_dimensions)
{
    int64_t n = -1;
    struct lab_shape scalar = {0};
    assert_ok(lab_shape_count(&scalar, &n));
    assert_int_equal(n, 1);
    struct lab_shape s = lab_shape_make(3, (int64_t[]){7, 1, 13});
    assert_ok(lab_shape_count(&s, &n));
    assert_int_equal(n, 91);
}

TEST_CASE(a_bad_shape_leaves_the_count_alone)
{
    const struct lab_shape bad[] = {
        {1, {0}},
        {2, {3, -1}},
        {1, {INT64_MAX}},
        {2, {1000000000, 1000000000}}, /* 10^18 */
        {2, {(int64_t)1 << 32, (int64_t)1 << 32}},
        {3, {INT64_MAX, INT64_MAX, INT64_MAX}},
        {6, {1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20}},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t n = 42;
        char text[LAB_SHAPE_TEXT];
        assert_int_equal(lab_shape_count(&bad[i], &n), LAB_E_SHAPE);
        assert_int_equal(n, 42);
        lab_shape_text(&bad[i], text);
        if (!strstr(lab_error(), text))
            fail_msg("%s is not named in: %s", text, lab_error());
    }
}

TEST_CASE(text_has_room_for_the_largest)
{
    char text[LAB_SHAPE_TEXT];
    struct lab_shape s = {LAB_MAX_RANK, {0}};
    for (int i = 0; i < LAB_MAX_RANK; i++)
        s.dim[i] = INT64_MAX - i;
    lab_shape_text(&s, text);
    assert_int_equal(text[strlen(text) - 1], ']');
    assert_non_null(strstr(text, "9223372036854775802"));
    s = (struct lab_shape){2, {10, 16}};
    assert_string_equal(lab_shape_text(&s, text), "[10,16]");
    s.rank = 0;
    assert_string_equal(lab_shape_text(&s, text), "[]");
}

TEST_CASE(shapes_are_equal_in_rank_and_dimensions)
{
    struct lab_shape a = {2, {3, 4, 99}};
    struct lab_shape b = {2, {3, 4, 11}};
    struct lab_shape c = {3, {3, 4, 99}};
    struct lab_shape d = {2, {4, 3}};
    assert_true(lab_shape_equal(&a, &b));
    assert_false(lab_shape_equal(&a, &c));
    assert_false(lab_shape_equal(&a, &d));
}

TEST_CASE(unravel_and_ravel_undo_each_other)
{
    const struct lab_shape s = {4, {2, 3, 1, 5}};
    int64_t before[LAB_MAX_RANK] = {-1};
    for (int64_t i = 0; i < 30; i++) {
        int64_t at[LAB_MAX_RANK];
        lab_shape_unravel(&s, i, at);
        assert_int_equal(lab_shape_ravel(&s, at, 4), i);
        /* Row-major: the last axis runs first. */
        if (i % 5 != 0)
            assert_int_equal(at[3], before[3] + 1);
        memcpy(before, at, sizeof(before));
    }
}

TEST_CASE(ravel_refuses_what_is_outside)
{
    const struct lab_shape s = {2, {2, 3}};
    const struct lab_shape scalar = {0};
    assert_int_equal(lab_shape_ravel(&s, (int64_t[]){1, 2}, 2), 5);
    assert_int_equal(lab_shape_ravel(&s, (int64_t[]){2, 0}, 2), -1);
    assert_int_equal(lab_shape_ravel(&s, (int64_t[]){0, 3}, 2), -1);
    assert_int_equal(lab_shape_ravel(&s, (int64_t[]){-1, 0}, 2), -1);
    assert_int_equal(lab_shape_ravel(&s, (int64_t[]){1}, 1), -1);
    assert_int_equal(lab_shape_ravel(&s, (int64_t[]){0, 0, 0}, 3), -1);
    assert_int_equal(lab_shape_ravel(&scalar, (int64_t[]){0}, 0), 0);
}

RUN_TESTS()
