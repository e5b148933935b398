/* The rectangles of every screen at every size: none overlap, none leave the
 * screen, and each part has its least size or is left out. */
#include "test.h"

#include "ui/layout.h"

enum { MOST_H = 80, MOST_W = 250 };

/* No two overlap, none leaves `all`, and none is left unused by mistake. */
static void check_parts(const struct lab_rect *parts, int count,
                        struct lab_rect all, bool whole)
{
    int cells = 0;
    for (int i = 0; i < count; i++) {
        if (!lab_rect_inside(parts[i], all))
            fail_msg("part %d leaves %dx%d", i, all.w, all.h);
        cells += parts[i].h * parts[i].w;
        for (int k = 0; k < i; k++)
            if (lab_rect_overlap(parts[i], parts[k]))
                fail_msg("parts %d and %d overlap at %dx%d", i, k, all.w,
                         all.h);
    }
    if (whole)
        assert_int_equal(cells, all.h * all.w);
}

TEST_CASE(frames_never_overlap)
{
    for (int h = 0; h <= MOST_H; h++) {
        for (int w = 0; w <= MOST_W; w++) {
            struct lab_frame f = lab_frame_layout(h, w);
            struct lab_rect parts[] = {f.title, f.body, f.status, f.bar};
            check_parts(parts, 4, (struct lab_rect){0, 0, h, w}, true);
            assert_int_equal(f.small,
                             h < LAB_SCREEN_MIN_H || w < LAB_SCREEN_MIN_W);
            if (!f.small)
                assert_true(f.body.h >= 13 && f.bar.h == 1 && f.title.h == 1 &&
                            f.status.h == 1);
        }
    }
}

TEST_CASE(homes_and_runs_never_overlap)
{
    for (int h = 0; h <= MOST_H; h++) {
        for (int w = 0; w <= MOST_W; w++) {
            struct lab_rect body = {3, 5, h, w};
            struct lab_home_layout l = lab_home_layout(body, w % 7);
            struct lab_rect home[] = {l.badge, l.lessons, l.about, l.runs};
            const struct lab_run_want want = {w % 30, h % 50, h % 2, w % 3 == 0,
                                              h >= 20 ? w % 2 * 6 : 0};
            struct lab_run_layout m = lab_run_layout(body, &want);
            struct lab_rect run[] = {m.facts, m.steps, m.kernels, m.flame,
                                     m.why};
            struct lab_list_layout r =
                lab_list_layout(body, w % 70, h - h * 2 / 5);
            struct lab_rect runs[] = {r.list, r.preview};
            check_parts(runs, 2, body, false);
            assert_true(h == 0 || r.list.h >= (h < 5 ? h : 5));
            assert_true(lab_rect_empty(r.preview) ||
                        (r.preview.w >= w * 4 / 10 && r.preview.h >= 13));
            check_parts(home, 4, body, h >= 14);
            check_parts(run, 5, body, h >= 12);
            assert_int_equal(lab_rect_empty(m.why), want.why == 0 || w == 0);
            if (h >= 13 && w >= LAB_SCREEN_MIN_W) /* the smallest screen */
                assert_true(l.lessons.h >= 5 && l.runs.h >= 3 &&
                            m.steps.h >= 5 && m.kernels.h >= (h % 2 ? 4 : 2));
        }
    }
}

/* The list of runs has all of a small screen; a preview is below it, or beside it on
 * one that is wide alone, and none without runs. */
TEST_CASE(a_list_has_a_preview_where_there_is_room)
{
    const struct {
        int h;
        int w;
        int64_t rows;
        int below; /* rows that it leaves */
        int list_h;
        int preview_h;
    } cases[] = {
        {21, 80, 3, 13, 21, 0},    {21, 179, 3, 13, 21, 0},
        {21, 200, 3, 13, 21, 21},  {57, 200, 3, 35, 5, 52},
        {57, 80, 3, 35, 5, 52},    {57, 200, 1000, 35, 22, 35},
        {57, 200, 0, 35, 57, 0},   {57, 200, 1000, 18, 39, 18},
        {57, 200, 30, 18, 32, 25}, {14, 200, 3, 9, 14, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab_rect body = {1, 0, cases[i].h, cases[i].w};
        struct lab_list_layout l =
            lab_list_layout(body, cases[i].rows, cases[i].below);
        if (l.list.h != cases[i].list_h || l.preview.h != cases[i].preview_h)
            fail_msg("case %d: %d, %d", (int)i, l.list.h, l.preview.h);
    }
}

/* The facts of a run in the room that its lists leave. */
TEST_CASE(facts_take_what_is_left)
{
    const struct {
        int h;
        int w;
        struct lab_run_want want;
        int facts; /* rows, with the heading */
    } cases[] = {
        {21, 80, {12, 7, 1}, 9},  /* 9 + 3 for the lists */
        {21, 80, {4, 7, 1}, 5},   /* no more than there are */
        {21, 80, {12, 40, 3}, 4}, /* a fifth, where the lists are long */
        {21, 80, {12, 12, 3}, 4},
        {57, 200, {12, 40, 3}, 13}, /* the lists stand side by side */
        {57, 200, {12, 3, 40}, 13},
        {57, 200, {40, 54, 3}, 11},
        {57, 200, {40, INT64_MAX, 3}, 11},
        {13, 60, {12, 40, 3}, 3},
        {13, 60, {12, 40, 0}, 5},
        {21, 80, {12, 7, 0}, 10},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab_rect body = {1, 0, cases[i].h, cases[i].w};
        struct lab_run_layout l = lab_run_layout(body, &cases[i].want);
        if (l.facts.h != cases[i].facts)
            fail_msg("case %d: %d", (int)i, l.facts.h);
    }
}

/* A flame graph where the lists are short. */
TEST_CASE(a_flame_takes_what_is_left)
{
    const struct {
        int h;
        int w;
        struct lab_run_want want;
        int flame; /* rows, with the heading */
    } cases[] = {
        {52, 200, {11, 15, 2, true}, 22}, {52, 200, {11, 15, 2, false}, 0},
        {52, 200, {11, 40, 2, true}, 36}, {52, 200, {11, 40, 40, true}, 0},
        {52, 100, {11, 15, 2, true}, 18}, {21, 80, {4, 7, 1, true}, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab_rect body = {1, 0, cases[i].h, cases[i].w};
        struct lab_run_layout l = lab_run_layout(body, &cases[i].want);
        if (l.flame.h != cases[i].flame)
            fail_msg("case %d: %d", (int)i, l.flame.h);
        if (l.flame.h > 0) /* the lists are whole, or go on beside it */
            assert_true(
                (l.steps.h >= cases[i].want.steps + 2 || l.flame.x > body.x) &&
                l.kernels.h >= cases[i].want.kernels + 2);
    }
}

/* Of few kernels beside many steps the rest of the column is the text's. */
TEST_CASE(what_bounds_a_step_is_below_few_kernels)
{
    const struct lab_rect body = {1, 0, 57, 200};
    struct lab_run_want want = {11, 18, 1, true, 6};
    struct lab_run_layout l = lab_run_layout(body, &want);
    assert_int_equal(l.kernels.h, 4);
    assert_int_equal(l.why.x, l.kernels.x);
    assert_int_equal(l.why.y + l.why.h, l.steps.y + l.steps.h);
    want.kernels = 18;
    l = lab_run_layout(body, &want);
    assert_int_equal(l.why.w, body.w);
    assert_int_equal(l.why.y + l.why.h, body.y + body.h);
}

TEST_CASE(shares_keep_their_promises)
{
    const struct lab_share parts[] = {
        {5, 3, 0}, {4, 0, 2}, {3, 1, 1}, {2, 0, 2}};
    for (int total = -3; total < 200; total++) {
        int out[4];
        int sum = 0;
        lab_layout_share(total, parts, 4, out);
        for (int i = 0; i < 4; i++) {
            assert_true(out[i] >= 0);
            sum += out[i];
        }
        assert_int_equal(sum, total < 0 ? 0 : total);
        if (total >= 14) {
            for (int i = 0; i < 4; i++)
                assert_true(out[i] >= parts[i].least);
            assert_int_equal(out[1], 4);
        } else if (total >= 12) {
            assert_int_equal(out[3], 0); /* the last of the worst goes first */
            assert_true(out[1] >= 4);
        } else if (total >= 8) {
            assert_true(out[1] == 0 && out[2] >= 3);
        }
    }
}

TEST_CASE(strips_are_cut)
{
    struct lab_rect r = {2, 3, 10, 20};
    struct lab_rect top = lab_rect_cut_top(&r, 4);
    struct lab_rect bottom = lab_rect_cut_bottom(&r, 99);
    assert_int_equal(top.y, 2);
    assert_int_equal(top.h, 4);
    assert_int_equal(bottom.y, 6);
    assert_int_equal(bottom.h, 6);
    assert_true(lab_rect_empty(r));
    r = (struct lab_rect){0, 0, 2, 10};
    struct lab_rect left = lab_rect_cut_left(&r, -1);
    struct lab_rect right = lab_rect_cut_right(&r, 3);
    assert_int_equal(left.w, 0);
    assert_int_equal(right.x, 7);
    assert_int_equal(r.w, 7);
    assert_true(lab_rect_has(right, 1, 9) && !lab_rect_has(right, 1, 6));
}

RUN_TESTS()
