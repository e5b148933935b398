/* The stepper at every size, and with any allocation failing. */
#include "test.h"

#include "base/mem.h"
#include "stepper_play.h"
#include "stepper/board.h"
#include "stepper/stepper_priv.h"

TEST_CASE(every_size_survives)
{
    static const char *const openers[] = {
        "",        "key s\n",       "key s d 2 G\n",
        "key v\n", "key s z\n",     "key c 4\n",
        "key t\n", "key s x I z\n", "enter :print block1.attn.probs\n"};
    for (size_t i = 0; i < sizeof(openers) / sizeof(openers[0]); i++) {
        struct stepper_fixture *f = stepper_fixture_new(0);
        char *script = test_malloc(1 << 16);
        int n = sprintf(script, "resize 80 24\n%s", openers[i]);
        f->curve = i == 6 ? 40 : 0;
        for (int h = 1; h <= 70; h += 6)
            for (int w = 1; w <= 240; w += h < 40 ? 13 : 47)
                n += sprintf(script + n, "resize %d %d\nkey j\n", w, h);
        sprintf(script + n, "resize 0 0\nresize 1 1\nresize 80 24\n"
                            "expect An MLP on digits\n");
        if (play_keys(f, script, i % 2 == 1))
            fail_msg("opener %zu: %s", i, lab_error());
        assert_int_equal(f->live_snapshots, 0);
        test_free(script);
        stepper_fixture_free(f);
    }
}

TEST_CASE(panes_never_overlap)
{
    for (int h = 0; h <= 80; h++) {
        for (int w = 0; w <= 250; w += w < 100 ? 1 : 7) {
            struct lab_rect body = {1, 0, h, w};
            for (int k = 0; k < 2 * LAB_PANE_COUNT; k++) {
                enum lab_stepper_pane tab = k % 3 == 0   ? LAB_PANE_EXPLAIN
                                            : k % 3 == 1 ? LAB_PANE_KERNELS
                                                         : LAB_PANE_TEXT;
                struct lab_stepper_layout l = lab_stepper_layout(
                    body, k % LAB_PANE_COUNT, tab, k >= LAB_PANE_COUNT, k,
                    k % 3 == 0,
                    &(struct lab_pane_sizes){.steps = k % 2 ? 60 : 0,
                                             .text = k % 3 ? 60 : 0,
                                             .tensor = k % 4 ? 80 : 0,
                                             .focus = k % 5 ? 0 : 80},
                    &(struct lab_stepper_needs){h * k / 7, w * k / 30});
                struct lab_rect all[LAB_PANE_COUNT + 3] = {l.state, l.step,
                                                           l.network};
                memcpy(all + 3, l.pane, sizeof(l.pane));
                for (int i = 0; i < LAB_PANE_COUNT + 3; i++) {
                    assert_true(lab_rect_inside(all[i], body));
                    for (int j = 0; j < i; j++)
                        assert_false(lab_rect_overlap(all[i], all[j]));
                }
            }
        }
    }
}

TEST_CASE(the_pane_in_focus_grows)
{
    const struct lab_pane_sizes grows = {.focus = 75};
    const struct lab_rect small = {1, 0, 21, 80};
    const struct lab_rect large = {1, 0, 57, 200};
    for (int i = 0; i < 2; i++) {
        struct lab_rect body = i ? large : small;
        for (int p = 0; p < LAB_PANE_COUNT; p++) {
            enum lab_stepper_pane tab =
                p < LAB_PANE_EXPLAIN ? LAB_PANE_TEXT : (enum lab_stepper_pane)p;
            struct lab_rect is =
                lab_stepper_layout(body, p, tab, false, 0, false, &grows, NULL)
                    .pane[p];
            struct lab_rect was =
                lab_stepper_layout(body, p, tab, false, 0, false, NULL, NULL)
                    .pane[p];
            assert_true(is.h * is.w > was.h * was.w);
        }
    }
}

/* The tensor has what the explanation does not need, unless the reader has chosen
 * a height. */
TEST_CASE(panes_give_what_they_do_not_need)
{
    const struct lab_rect body = {1, 0, 57, 200};
    const struct lab_pane_sizes set = {.tensor = 40};
    struct lab_stepper_needs needs = {.explain = 11, .kernels = 9};
    struct lab_stepper_layout l = lab_stepper_layout(
        body, LAB_PANE_STEPS, LAB_PANE_TEXT, false, 0, false, NULL, &needs);
    assert_int_equal(l.pane[LAB_PANE_EXPLAIN].h, 12);
    assert_int_equal(l.pane[LAB_PANE_KERNELS].h, 10);
    assert_int_equal(l.pane[LAB_PANE_TENSOR].h, 55 - 12);
    assert_int_equal(l.pane[LAB_PANE_TEXT].h, 55 - 10);
    needs.explain = 70;
    l = lab_stepper_layout(body, LAB_PANE_STEPS, LAB_PANE_TEXT, false, 0, false,
                           NULL, &needs);
    assert_int_equal(l.pane[LAB_PANE_TENSOR].h, 55 * 58 / 100);
    needs.explain = 2;
    l = lab_stepper_layout(body, LAB_PANE_STEPS, LAB_PANE_TEXT, false, 0, false,
                           &set, &needs);
    assert_int_equal(l.pane[LAB_PANE_TENSOR].h, 55 * 40 / 100);
}

/* A tab has its whole name, or its short one; an open one both brackets. */
TEST_CASE(tabs_are_not_cut)
{
    for (int w = 60; w <= 80; w++) {
        struct stepper_fixture *f = stepper_fixture_new(0);
        char script[200];
        const char *name = w < 63 ? "5 lesson" : "5 lesson, L: all";
        snprintf(script, sizeof(script),
                 "resize %d 16\nkey s 3\nexpect  %s \nkey 5\nexpect [%s]\n", w,
                 name, name);
        if (play_keys(f, script, w % 2 == 1))
            fail_msg("%d columns: %s", w, lab_error());
        stepper_fixture_free(f);
    }
}

TEST_CASE(the_keys_are_in_order)
{
    assert_ok(lab_keymap_check(lab_view_stepper.bindings));
    assert_ok(lab_keymap_check(lab_view_train.bindings));
}

/* Whatever fails, nothing crashes, and the sanitizer finds nothing lost. */
TEST_CASE(survives_any_allocation_failing)
{
    static const char keys[] =
        "resize 80 24\nkey s d 2 j e Enter y v j Enter 5 4\nresize 200 60\n"
        "key t q ? q : l i s t Enter\n";
    int refused = 0;
    lab_mem_fail_from(0);
    struct stepper_fixture *f = stepper_fixture_new(0);
    f->curve = 20;
    assert_ok(play_keys(f, keys, false));
    int64_t all = lab_mem_count();
    stepper_fixture_free(f);
    assert_true(all > 50);
    for (int64_t nth = 1; nth <= all; nth += nth < 60 ? 1 : 7) {
        f = stepper_fixture_new(0);
        f->curve = 20;
        lab_mem_fail_from(nth);
        enum lab_status st = play_keys(f, keys, false);
        lab_mem_fail_from(0);
        if (st != LAB_OK && st != LAB_E_NOMEM)
            fail_msg("allocation %d: %s", (int)nth, lab_error());
        assert_int_equal(f->live_snapshots, 0);
        refused += st == LAB_E_NOMEM;
        stepper_fixture_free(f);
    }
    assert_true(refused > 0);
}

/* ---- the blackboard ---- */

static void check_board(struct lab_rect r, const struct lab_board_want *want,
                        int n, bool cross, bool halves)
{
    struct lab_board_layout l = lab_board_place(r, want, n, cross, halves);
    for (int i = 0; i < n && l.fits; i++) {
        const struct lab_board_at *at = &l.at[i];
        const struct lab_board_at *c = &l.at[n - 1];
        assert_true(lab_rect_inside(at->cells, r));
        assert_true(lab_rect_inside(at->side, r));
        assert_true(lab_rect_inside(at->above, r));
        if (want[i].picture) {
            assert_true(at->cell_h <= at->cell_w + at->cell_w / 4);
            assert_true(at->cell_w <= at->cell_h + at->cell_h / 4);
        }
        if (at->fold) {
            assert_true(!l.cross && want[i].rows == 1);
            assert_true(at->fold * at->cells_h >= want[i].cols);
            assert_true(at->fold * (at->cells_h - 1) < want[i].cols);
            assert_int_equal(at->cells_w, at->fold);
        } else {
            assert_true(at->cells_h >= 0 && at->cells_h <= want[i].rows);
            assert_true(at->cells_w >= 0 && at->cells_w <= want[i].cols);
        }
        for (int k = 0; k < i; k++) {
            assert_false(lab_rect_overlap(at->cells, l.at[k].cells));
            assert_false(lab_rect_overlap(at->title, l.at[k].cells));
            assert_false(lab_rect_overlap(at->cells, l.at[k].title));
            assert_false(lab_rect_overlap(at->title, l.at[k].title));
            assert_false(lab_rect_overlap(at->side, l.at[k].cells));
            assert_false(lab_rect_overlap(at->above, l.at[k].cells));
            assert_false(lab_rect_overlap(at->cells, l.at[k].side));
            assert_false(lab_rect_overlap(at->cells, l.at[k].above));
        }
        /* Rows of A beside rows of C, columns of B above columns of C. */
        if (l.cross && want[i].place == LAB_BOARD_LEFT)
            assert_int_equal(at->cells.y, c->cells.y);
        if (l.cross && want[i].place == LAB_BOARD_ABOVE) {
            assert_int_equal(at->cells.x, c->cells.x);
            assert_true(at->cells.y + at->cells.h <= c->title.y);
        }
    }
}

TEST_CASE(a_board_has_no_overlap_at_any_size)
{
    static const int64_t sizes[] = {1, 16, 65, 4097};
    enum { N = sizeof(sizes) / sizeof(sizes[0]) };
    for (int i = 0; i < N * N * N; i++) {
        int64_t n = sizes[i % N];
        int64_t k = sizes[i / N % N];
        int64_t m = sizes[i / N / N];
        struct lab_board_want want[] = {
            {.place = LAB_BOARD_LEFT, .rows = n, .cols = k, .title_w = 14},
            {.place = LAB_BOARD_ABOVE, .rows = k, .cols = m, .title_w = 14},
            {.place = LAB_BOARD_ABOVE, .rows = 1, .cols = m, .title_w = 40},
            {.place = LAB_BOARD_BESIDE, .rows = n, .cols = m, .title_w = 9},
            {.place = LAB_BOARD_RESULT, .rows = n, .cols = m, .title_w = 12}};
        for (int h = 0; h < 64; h += 5)
            for (int w = 0; w < 210; w += 13) {
                for (int p = 0; p < 5; p++) { /* some have symbols */
                    want[p].label_w = (h + p) % 3 ? 0 : 1 + p;
                    want[p].label_h = (h + p) % 2 ? 0 : 1 + p % 3;
                    want[p].picture = h % 4 == 3;
                }
                struct lab_rect r = {2, 5, h, w};
                check_board(r, want, 5, true, w % 2);
                check_board(r, want, 5, false, w % 2);
            }
    }
}

/* Cells grow in the direction that has room, those of a picture less. */
TEST_CASE(a_small_board_is_whole)
{
    struct lab_board_want want[] = {
        {.place = LAB_BOARD_LEFT, .rows = 4, .cols = 6, .title_w = 10},
        {.place = LAB_BOARD_ABOVE, .rows = 6, .cols = 5, .title_w = 10},
        {.place = LAB_BOARD_RESULT, .rows = 4, .cols = 5, .title_w = 10}};
    const struct lab_rect r = {0, 0, 30, 90};
    struct lab_board_layout l = lab_board_place(r, want, 3, true, false);
    /* Of C as of A the rows, as of B the columns; the rest is their own. */
    assert_int_equal(l.at[0].cell_h, l.at[2].cell_h);
    assert_int_equal(l.at[1].cell_w, l.at[2].cell_w);
    for (int i = 0; i < 3; i++) {
        const struct lab_board_at *at = &l.at[i];
        assert_int_equal(2 * at->cells.h, at->cell_h * want[i].rows);
        assert_int_equal(at->cells.w, at->cell_w * want[i].cols);
        assert_true(lab_heat_has_numbers(at->cell_h, at->cell_w));
        assert_true(at->cell_w <= lab_heat_widest(at->cell_h));
        assert_true(at->cell_h <= lab_heat_highest(at->cell_w));
    }
    /* No row is left for a higher one, no column for a wider one. */
    assert_true(l.at[2].cells.y + l.at[2].cells.h > r.h - 4);
    assert_true(l.at[2].cells.x + l.at[2].cells.w > r.w - 5);
    want[1].picture = true;
    l = lab_board_place(r, want, 3, true, false);
    assert_true(l.at[1].cell_w <= l.at[1].cell_h + l.at[1].cell_h / 4);
    assert_true(l.at[1].cell_h <= l.at[1].cell_w + l.at[1].cell_w / 4);
    l = lab_board_place((struct lab_rect){0, 0, 5, 9}, want, 3, true, false);
    assert_false(l.fits);
}

/* As wide as its title where the board has the columns; else some for each. */
TEST_CASE(titles_of_a_board_are_whole_where_there_is_room)
{
    const struct lab_board_want want[] = {
        {.place = LAB_BOARD_LEFT, .rows = 16, .cols = 10, .title_w = 16},
        {.place = LAB_BOARD_ABOVE, .rows = 10, .cols = 10, .title_w = 18},
        {.place = LAB_BOARD_RESULT, .rows = 16, .cols = 10, .title_w = 17}};
    struct lab_board_layout l =
        lab_board_place((struct lab_rect){0, 0, 24, 94}, want, 3, true, true);
    for (int i = 0; i < 3; i++)
        assert_true(l.at[i].title.w >= want[i].title_w);
    l = lab_board_place((struct lab_rect){0, 0, 24, 30}, want, 3, true, true);
    assert_true(l.fits);
    assert_true(l.at[0].title.w >= 10 && l.at[2].title.w >= 10);
    assert_int_equal(l.at[0].title.w + l.at[2].title.w, 28);
}

/* Where not every element has a cell, as few share one as there is room for: the
 * columns are used up. */
TEST_CASE(cells_are_as_many_as_there_is_room_for)
{
    const struct lab_board_want want[] = {
        {.place = LAB_BOARD_LEFT, .rows = 16, .cols = 64, .title_w = 16},
        {.place = LAB_BOARD_ABOVE, .rows = 64, .cols = 119, .title_w = 18},
        {.place = LAB_BOARD_RESULT, .rows = 16, .cols = 119, .title_w = 17}};
    const struct lab_rect r = {0, 0, 25, 102};
    struct lab_board_layout l = lab_board_place(r, want, 3, true, true);
    assert_true(l.fits);
    assert_in_range(l.at[0].cells_w, 32, 63);
    assert_in_range(l.at[2].cells_w, 40, 118);
    assert_true(l.at[2].cells.x + l.at[2].cells.w > r.w - r.w / 16);
    for (int i = 0; i < 3; i++)
        assert_true(lab_rect_inside(l.at[i].cells, r));
}

/* No product: a part may have larger cells than another one, twins have the same,
 * and most of the place is covered. */
TEST_CASE(parts_of_a_board_fill_it)
{
    const struct lab_board_want want[] = {
        {.place = LAB_BOARD_BESIDE, .rows = 8, .cols = 8, .title_w = 18},
        {.place = LAB_BOARD_BESIDE, .rows = 1, .cols = 16, .title_w = 12},
        {.place = LAB_BOARD_RESULT, .rows = 8, .cols = 8, .title_w = 19}};
    const struct lab_rect r = {0, 0, 38, 94};
    struct lab_board_layout l = lab_board_place(r, want, 3, false, true);
    int covered = 0;
    assert_true(l.fits);
    for (int i = 0; i < 3; i++)
        covered += l.at[i].cells.h * l.at[i].cells.w;
    assert_true(5 * covered > 3 * r.h * r.w);
    assert_int_equal(l.at[0].cell_h, l.at[2].cell_h);
    assert_int_equal(l.at[0].cell_w, l.at[2].cell_w);
    assert_int_equal(l.at[0].cells.y, l.at[2].cells.y);
}

/* Two vectors are in rows; one that adds to the columns of a matrix is not. */
TEST_CASE(vectors_of_a_board_are_folded)
{
    struct lab_board_want want[] = {
        {.place = LAB_BOARD_BESIDE, .rows = 1, .cols = 16, .title_w = 12},
        {.place = LAB_BOARD_RESULT, .rows = 1, .cols = 16, .title_w = 10}};
    const struct lab_rect r = {0, 0, 38, 102};
    struct lab_board_layout l = lab_board_place(r, want, 2, false, true);
    assert_true(l.fits && l.at[0].fold > 1 && l.at[0].fold < 16);
    assert_int_equal(l.at[0].fold, l.at[1].fold);
    assert_int_equal(l.at[0].cells_h * l.at[0].fold, 16);
    assert_int_equal(l.at[0].side.w, 3); /* "10 " */
    want[0].place = LAB_BOARD_LEFT;      /* nor has a sum over a row a corner */
    l = lab_board_place(r, want, 2, true, true);
    assert_true(l.fits && !l.cross && l.at[0].fold > 1);
    want[1].rows = 10;
    l = lab_board_place(r, want, 2, false, true);
    assert_true(l.fits && l.at[0].fold == 0);
}

/* A click on a folded vector finds the element that is there, and none behind the
 * last. */
TEST_CASE(a_folded_vector_is_pointed_at)
{
    char name[] = "b";
    struct lab_tensor t = {.name = name, .count = 13, .shape = {1, {13}}};
    struct lab_plan plan = {.tensors = &t, .n_tensors = 1};
    const struct lab_snapshot snap = {.plan = &plan};
    const struct lab_board_want want = {
        .place = LAB_BOARD_RESULT, .rows = 1, .cols = 13, .title_w = 6};
    struct lab_board_view b = {.board = {.n = 1}, .snap = &snap};
    b.board.part[0].show = (struct lab_show){.row_axis = -1, .col_axis = 0};
    b.layout =
        lab_board_place((struct lab_rect){3, 7, 30, 60}, &want, 1, false, true);
    const struct lab_board_at *at = &b.layout.at[0];
    const struct lab_heat_grid g = lab_board_grid(&b, 0, 1, 13);
    assert_true(at->fold > 1 && g.folded);
    for (int64_t i = 0; i < at->cells_h * at->fold; i++) {
        int y = at->cells.y + lab_heat_top(&g, (int)(i / at->fold));
        int x = at->cells.x + (int)(i % at->fold) * at->cell_w;
        assert_int_equal(lab_board_hit(&b, y, x).index, i < 13 ? i : -1);
    }
    assert_true(at->cells_h * at->fold > 13);
}

/* Where several elements share a cell, the title has no more than the cells: the
 * rest of the row is free. */
TEST_CASE(a_board_of_blocks_leaves_what_it_does_not_use)
{
    const struct lab_board_want want[] = {
        {.place = LAB_BOARD_BESIDE, .rows = 64, .cols = 128, .title_w = 20},
        {.place = LAB_BOARD_RESULT, .rows = 64, .cols = 128, .title_w = 20}};
    const struct lab_rect r = {0, 0, 38, 102};
    struct lab_board_layout l = lab_board_place(r, want, 2, false, true);
    assert_true(l.fits);
    for (int i = 0; i < 2; i++) {
        const struct lab_board_at *at = &l.at[i];
        assert_true(at->cells_w < want[i].cols);
        assert_true(at->title.x + at->title.w <= at->cells.x + at->cells.w);
    }
}

/* 42 in 100 columns for the text, but no more than a line of it is read well. */
TEST_CASE(a_wide_screen_is_for_the_tensor)
{
    static const int cases[][2] = {{150, 47}, {200, 60}, {300, 78}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab_stepper_layout l = lab_stepper_layout(
            (struct lab_rect){1, 0, 56, cases[i][0]}, LAB_PANE_TENSOR,
            LAB_PANE_TEXT, false, 0, false, NULL, NULL);
        assert_int_equal(l.pane[LAB_PANE_TEXT].w, cases[i][1]);
    }
}

static void check_free(struct lab_rect r, const struct lab_board_view *b)
{
    struct lab_rect place[LAB_BOARD_FREE];
    int n = lab_board_free(b, r, place);
    for (int i = 0; i < n; i++) {
        assert_true(lab_rect_inside(place[i], r));
        for (int k = 0; k < b->board.n; k++) {
            assert_false(lab_rect_overlap(place[i], b->layout.at[k].title));
            assert_false(lab_rect_overlap(place[i], b->layout.at[k].cells));
            assert_false(lab_rect_overlap(place[i], b->layout.at[k].side));
            assert_false(lab_rect_overlap(place[i], b->layout.at[k].above));
        }
        for (int k = 0; k < i; k++)
            assert_false(lab_rect_overlap(place[i], place[k]));
    }
}

/* Beside all rows of pictures is one place, as high as they are. */
TEST_CASE(what_is_free_beside_all_rows_is_one_place)
{
    const struct lab_board_want want[] = {
        {.place = LAB_BOARD_BESIDE, .rows = 10, .cols = 64, .title_w = 12},
        {.place = LAB_BOARD_BESIDE, .rows = 1, .cols = 64, .title_w = 10},
        {.place = LAB_BOARD_RESULT, .rows = 10, .cols = 64, .title_w = 13}};
    const struct lab_rect r = {2, 5, 40, 102};
    struct lab_rect place[LAB_BOARD_FREE];
    struct lab_board_view b = {.board = {.n = 3}};
    b.layout = lab_board_place(r, want, 3, false, true);
    assert_true(b.layout.fits);
    const int n = lab_board_free(&b, r, place);
    const int bottom = b.layout.at[2].cells.y + b.layout.at[2].cells.h;
    int beside = 0;
    for (int i = 0; i < n; i++)
        beside += place[i].y == r.y && place[i].y + place[i].h == bottom &&
                  place[i].w >= 30;
    assert_int_equal(beside, 1);
    check_free(r, &b);
}

/* An LSTM's cell: state before and after on one line, each gate in a column of its own
 * and z below all; what there is no room for is refused. */
TEST_CASE(a_cell_is_drawn_as_one_draws_it)
{
    static const int64_t units[] = {1, 5, 192};
    const struct lab_lstm_cell cell = {.n = LAB_LSTM_PARTS,
                                       .part = {1, 4, 3, 2, 5, 6, 7, 0}};
    int placed = 0;
    for (int i = 0; i < 9 * 64 * 20; i++) {
        const int64_t rows = i % 3 * 8 + 1;
        const int64_t n = units[i / 3 % 3];
        const struct lab_rect r = {2, 5, i / 9 % 64, i / 9 / 64 * 11};
        struct lab_board_view b = {.board = {.n = LAB_LSTM_PARTS}};
        struct lab_board_want want[LAB_LSTM_PARTS];
        for (int k = 0; k < LAB_LSTM_PARTS; k++)
            want[k] = (struct lab_board_want){.place = LAB_BOARD_BESIDE,
                                              .rows = rows,
                                              .cols = k ? n : 4 * n,
                                              .title_w = 14};
        if (!lab_board_place_cell(r, want, &cell, i % 2, &b.layout)) {
            assert_false(b.layout.fits);
            assert_true(r.h < 15 || r.w < 60);
            continue;
        }
        placed++;
        const struct lab_board_at *at[LAB_LSTM_PARTS];
        for (int k = 0; k < LAB_LSTM_PARTS; k++) {
            at[k] = &b.layout.at[cell.part[k]];
            assert_true(lab_rect_inside(at[k]->title, r));
            assert_true(lab_rect_inside(at[k]->cells, r));
            assert_true(at[k]->cells.h > 0 && at[k]->cells.w > 0);
            for (int m = 0; m < k; m++) {
                assert_false(lab_rect_overlap(at[k]->cells, at[m]->cells));
                assert_false(lab_rect_overlap(at[k]->title, at[m]->cells));
                assert_false(lab_rect_overlap(at[k]->title, at[m]->title));
                assert_false(lab_rect_overlap(at[k]->cells, at[m]->title));
            }
        }
        assert_int_equal(at[LAB_LSTM_BEFORE]->cells.y, at[LAB_LSTM_C]->cells.y);
        for (int k = LAB_LSTM_F; k <= LAB_LSTM_O; k++) {
            assert_int_equal(at[k]->cells.y, at[LAB_LSTM_F]->cells.y);
            assert_true(at[k]->title.x > at[k - 1]->title.x);
            assert_true(at[k]->title.y >= at[LAB_LSTM_C]->cells.y + 3);
            assert_true(at[LAB_LSTM_Z]->title.y >=
                        at[k]->cells.y + at[k]->cells.h + 2);
        }
        assert_true(at[LAB_LSTM_H]->title.y > at[LAB_LSTM_C]->cells.y);
        check_free(r, &b);
    }
    assert_true(placed > 1000);
}

TEST_CASE(what_a_board_leaves_is_free)
{
    const struct lab_board_want want[] = {
        {.place = LAB_BOARD_LEFT, .rows = 10, .cols = 64, .title_w = 8},
        {.place = LAB_BOARD_ABOVE, .rows = 64, .cols = 16, .title_w = 12},
        {.place = LAB_BOARD_BESIDE, .rows = 3, .cols = 3, .title_w = 9},
        {.place = LAB_BOARD_RESULT, .rows = 10, .cols = 16, .title_w = 13}};
    struct lab_board_view b = {.board = {.n = 4}};
    for (int i = 0; i < 4; i++)
        b.board.part[i].place = want[i].place;
    for (int cross = 0; cross < 2; cross++)
        for (int h = 15; h < 60; h += 4)
            for (int w = 20; w < 200; w += 7) {
                struct lab_rect r = {2, 5, h, w};
                b.board.cross = cross;
                b.layout = lab_board_place(r, want, 4, cross, true);
                if (b.layout.fits)
                    check_free(r, &b);
            }
}

RUN_TESTS_FROM(LAB_BINARY_DIR)
