/* tests/unit/test_conv_pieces.c -- how a batch's windows are cut into pieces for
 * the workspace (kernels/conv2d/conv2d_pieces.h), on odd sizes, and how few there are.
 */
#include "test.h"

#include "conv2d/conv2d_pieces.h"

/* Every place once, in order, none larger than the room; returns how many. */
static int check_cut(const struct lab_conv_cut *c)
{
    int64_t next = 0;
    int pieces = 0;
    for (struct lab_conv_piece p =
             lab_conv_next(c, (struct lab_conv_piece){0, 0});
         p.count > 0; p = lab_conv_next(c, p)) {
        int64_t images = lab_conv_images(c, p);
        assert_int_equal(p.first, next);
        assert_true(p.count <= c->room);
        if (!c->nhwc && c->room >= c->places) {
            assert_int_equal(p.first % c->places, 0);
            assert_int_equal(p.count, images * c->places);
        } else if (!c->nhwc) {
            int64_t last = p.first + p.count - 1;
            assert_int_equal(images, 1);
            assert_int_equal(p.first / c->places, last / c->places);
        }
        next += p.count;
        pieces++;
    }
    assert_int_equal(next, c->images * c->places);
    return pieces;
}

TEST_CASE(every_place_is_in_one_piece)
{
    static const int64_t sizes[] = {1, 2, 3, 7, 16, 31, 97};
    for (int i = 0; i < 7 * 7 * 7 * 2; i++) {
        struct lab_conv_cut c = {i % 2, sizes[i / 2 % 7], sizes[i / 14 % 7],
                                 sizes[i / 98]};
        check_cut(&c);
    }
}

/* The convolutions of a CNN over 1,024 images: 12 to 48 channels, a workspace
 * of 32 MiB. Each piece is two or three launches. */
TEST_CASE(many_images_are_few_pieces)
{
    static const int64_t layers[][2] = {{784, 9}, {196, 432}, {49, 384}};
    int pieces = 0;
    for (int i = 0; i < 3; i++) {
        struct lab_conv_cut c = {false, 1024, layers[i][0],
                                 ((int64_t)32 << 20) / 4 / layers[i][1]};
        pieces += check_cut(&c);
    }
    assert_in_range(pieces, 3, 20);
}

/* Row m of the copy is channel m of one image after the other. */
TEST_CASE(a_channel_follows_through_the_images)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {3, 1, 5},  {2, 7, 1},
                                       {5, 3, 4}, {4, 5, 49}, {17, 13, 11}};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        int64_t N = sizes[s][0];
        int64_t M = sizes[s][1];
        int64_t P = sizes[s][2];
        for (int64_t i = 0; i < N * M * P; i++) {
            int64_t m = i / (N * P);
            int64_t n = i / P % N;
            int64_t p = i % P;
            assert_int_equal(lab_conv_channel_at((uint32_t)i, (uint32_t)(N * P),
                                                 (uint32_t)P, M),
                             (n * M + m) * P + p);
        }
    }
}

RUN_TESTS()
