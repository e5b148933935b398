/* A network as boxes and lines, without a terminal. */
#include "test.h"

#include "base/mem.h"
#include "ui/diagram.h"

/* x, conv1, relu1, conv2, sum: the sum reads conv2 and, further back, conv1. */
static void residual(struct lab_diagram *d)
{
    static const char *const name[] = {"x", "conv1", "relu1", "conv2", "sum"};
    memset(d, 0, sizeof(*d));
    for (int i = 0; i < 5; i++) {
        struct lab_diagram_box *b = lab_diagram_add(d, name[i]);
        assert_non_null(b);
        snprintf(b->text[0], sizeof(b->text[0]), "4x4");
        if (i > 0)
            lab_diagram_join(d, i - 1, i);
    }
    lab_diagram_join(d, 1, 4);
    d->lit = 2;
}

static void check(struct lab_diagram *d, int h, int w, const char *want)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, h, w, false));
    if (h == 1)
        lab_diagram_line(&c, (struct lab_rect){0, 0, h, w}, d, LAB_ROLE_TITLE);
    else
        lab_diagram_draw(&c, (struct lab_rect){0, 0, h, w}, d, LAB_ROLE_TITLE);
    char *have = lab_canvas_dump(&c);
    assert_string_equal(have, want);
    lab_free(have);
    lab_canvas_release(&c);
}

TEST_CASE(a_residual_has_a_line_under_the_boxes)
{
    struct lab_diagram d;
    residual(&d);
    d.box[3].share = 0.5;
    assert_int_equal(lab_diagram_tracks(&d), 1);
    assert_int_equal(lab_diagram_rows(&d), 5);
    check(&d, 5, 60,
          "┌ x ──┐   ┌ conv1 ┐   ┌[relu1]┐   ┌ conv2 ┐   ┌ sum ┐\n"
          "│ 4x4 │──▸│ 4x4   │──▸▐ 4x4   ▌──▸│ 4x4   │──▸│ 4x4 │\n"
          "│     │   │       │   ▐       ▌   │       │   │     │\n"
          "└─────┘   └───────┘   └───────┘   └════───┘   └▴────┘\n"
          "                 └─────────────────────────────┘\n");
    lab_diagram_release(&d);
}

/* Each function reads x: one line has a branch to each, and another one crosses it. */
TEST_CASE(a_line_has_a_branch_to_each_that_reads_it)
{
    struct lab_diagram d;
    memset(&d, 0, sizeof(d));
    for (int i = 0; i < 5; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        assert_non_null(lab_diagram_add(&d, name));
        lab_diagram_join(&d, 0, i);
    }
    lab_diagram_join(&d, 1, 3);
    d.lit = -1;
    assert_int_equal(lab_diagram_tracks(&d), 2);
    check(&d, 6, 48,
          "┌ a ┐   ┌ b ┐   ┌ c ┐   ┌ d ┐   ┌ e ┐\n"
          "│   │──▸│   │   │   │   │   │   │   │\n"
          "│   │   │   │   │   │   │   │   │   │\n"
          "└───┘   └───┘   └▴──┘   └▴▴─┘   └▴──┘\n"
          "   └───────┼─────┴───────┴┼──────┘\n"
          "           └──────────────┘\n");
    lab_diagram_release(&d);
}

TEST_CASE(one_line_shows_what_is_around_the_lit_box)
{
    struct lab_diagram d;
    residual(&d);
    check(&d, 1, 60, " x ▸ conv1 ▸[relu1]▸ conv2 ▸ sum (conv1)\n");
    d.backward = true;
    check(&d, 1, 60, " x ◂ conv1 ◂[relu1]◂ conv2 ◂ sum (conv1)\n");
    d.lit = 4;
    check(&d, 1, 34, "…◂ relu1 ◂ conv2 ◂[sum] (conv1)\n");
    lab_diagram_release(&d);
}

/* Where boxes have no room: names, with what they read from further back. */
TEST_CASE(names_go_over_several_rows)
{
    struct lab_diagram d;
    struct lab_canvas c;
    residual(&d);
    assert_ok(lab_canvas_init(&c, 3, 30, false));
    assert_true(lab_diagram_fits(&c, &d, 53));
    assert_false(lab_diagram_fits(&c, &d, 52));
    const struct lab_rect r = {0, 0, 3, 30};
    assert_int_equal(lab_diagram_names(&c, r, &d, LAB_ROLE_TITLE), 2);
    char *have = lab_canvas_dump(&c);
    assert_string_equal(have, "x ▸ conv1 ▸ relu1 ▸ conv2\n"
                              "▸ sum (conv1)\n\n");
    lab_free(have);
    for (int i = 0; i < d.n; i++)
        assert_int_equal(lab_diagram_hit(&d, d.box[i].at.y, d.box[i].at.x), i);
    lab_canvas_clear(&c);
    const struct lab_rect one = {0, 0, 1, 30};
    assert_int_equal(lab_diagram_names(&c, one, &d, LAB_ROLE_TITLE), 1);
    have = lab_canvas_dump(&c);
    assert_string_equal(have, "x ▸ conv1 ▸ relu1 ▸ conv2 …\n\n\n");
    lab_free(have);
    lab_canvas_release(&c);
    lab_diagram_release(&d);
}

TEST_CASE(a_box_is_found_where_it_was_drawn)
{
    struct lab_diagram d;
    struct lab_canvas c;
    residual(&d);
    assert_ok(lab_canvas_init(&c, 6, 60, true));
    lab_diagram_draw(&c, (struct lab_rect){0, 0, 6, 60}, &d, LAB_ROLE_TITLE);
    for (int i = 0; i < d.n; i++)
        assert_int_equal(
            lab_diagram_hit(&d, d.box[i].at.y + 1, d.box[i].at.x + 1), i);
    assert_int_equal(lab_diagram_hit(&d, 5, 0), -1);
    for (int w = 0; w < 70; w++) { /* boxes stay within their place */
        struct lab_rect r = {1, 2, 5, w};
        lab_canvas_clear(&c);
        lab_diagram_draw(&c, r, &d, LAB_ROLE_TITLE);
        for (int i = 0; i < d.n; i++)
            assert_true(d.box[i].at.w == 0 || i == d.lit ||
                        lab_rect_inside(d.box[i].at, r));
    }
    lab_canvas_release(&c);
    lab_diagram_release(&d);
}

RUN_TESTS()
