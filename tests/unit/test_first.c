/* The first kernels: the course's random numbers, and pictures of a launch. */
#include "test.h"

#include "bench/demo.h"

/* The first numbers of rand() after srand(1) in the GNU C library, as its
 * manual's examples and every program without a seed show them. */
TEST_CASE(the_numbers_are_glibc_s)
{
    static const int32_t want[] = {1804289383, 846930886,  1681692777,
                                   1714636915, 1957747793, 424238335};
    struct lab_course_rand r;
    lab_course_rand_init(&r, 1);
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
        assert_int_equal(lab_course_rand_next(&r), want[i]);
#ifdef __GLIBC__
    static const uint32_t seeds[] = {0, 1, 42, 2147483647u, 4000000000u};
    for (size_t s = 0; s < sizeof(seeds) / sizeof(*seeds); s++) {
        srand(seeds[s]);
        lab_course_rand_init(&r, seeds[s]);
        for (int i = 0; i < 10000; i++)
            assert_int_equal(lab_course_rand_next(&r), rand());
    }
#endif
}

static void expect(struct lab_first_launch launch, int64_t marked,
                   int64_t elements, int width, const char *want)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_index_picture(&launch, marked, elements, width, &text);
    assert_string_equal(lab_str_text(&text), want);
    lab_str_release(&text);
}

TEST_CASE(pictures)
{
    expect((struct lab_first_launch){{2, 1, 1}, {3, 2, 1}}, 7, 11, 78,
           "+(0,0)-------+ +(1,0)-------+\n"
           "|  0   1   2 | |  6 [ 7]  8 |\n"
           "|  3   4   5 | |  9  10   . |\n"
           "+------------+ +------------+\n");
    /* Around thread 21 of 80: blocks of 8. */
    expect((struct lab_first_launch){{10, 1, 1}, {8, 1, 1}}, 21, -1, 40,
           "+(2,0)---------------------------+\n"
           "| 16  17  18  19  20 [21] 22  23 |\n"
           "+--------------------------------+\n"
           "blocks 2 to 2 of 10 in x, 0 to 0 of 1 in y\n");
    /* A plane of z. */
    expect((struct lab_first_launch){{1, 1, 2}, {2, 1, 2}}, 6, -1, 78,
           "+(0,0)-+\n"
           "|[6] 7 |\n"
           "+------+\n"
           "in z: block 1 of 2, thread 1 of 2\n");
}

/* Nothing is wider than it may be, whatever the launch. */
TEST_CASE(pictures_fit)
{
    static const int64_t sides[] = {1, 2, 7, 33, 1000, 65535};
    enum { SIDES = sizeof(sides) / sizeof(*sides) };
    struct lab_str text;
    lab_str_init(&text);
    for (int i = 0; i < SIDES * SIDES; i++) {
        struct lab_first_launch l = {{sides[i / SIDES], sides[i % SIDES], 1},
                                     {sides[i % SIDES], 3, 2}};
        int64_t last = lab_first_count(l.grid) * lab_first_count(l.block) - 1;
        lab_str_clear(&text);
        lab_index_picture(&l, last, -1, 78, &text);
        assert_non_null(strchr(lab_str_text(&text), '['));
        for (const char *at = lab_str_text(&text); *at;) {
            size_t n = strcspn(at, "\n");
            assert_true(n <= 120 && (*at == 'o' || *at == 'b' || n <= 78));
            at += n + (at[n] != '\0');
        }
    }
    lab_str_release(&text);
}

RUN_TESTS()
