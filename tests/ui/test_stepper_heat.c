/* The heat map's arithmetic, and the tree of steps. */
#include <stdio.h>
#include "test.h"

#include "base/mem.h"
#include "engine/plan.h"
#include "stepper/board.h"
#include "stepper/labels.h"
#include "stepper/step_tree.h"
#include "stepper_plan.h"
#include "ui/heat.h"

/* Cells of characters, two columns wide. */
static struct lab_heat_grid fit(int64_t rows, int64_t cols, int64_t fold, int h,
                                int cells)
{
    return lab_heat_fit(rows, cols, fold,
                        &(struct lab_heat_room){.h = h, .w = 2 * cells});
}

TEST_CASE(every_element_has_a_cell)
{
    for (int64_t rows = 1; rows < 30; rows += 3) {
        for (int64_t cols = 1; cols < 70; cols += 5) {
            for (int fold = 0; fold < 9; fold += 4) {
                struct lab_heat_grid g = fit(rows, cols, fold, 6, 11);
                int64_t seen = 0;
                assert_true(g.cells_h <= 6 || fold > 0);
                assert_true(g.cells_h <= 6 && g.cells_w <= 11);
                for (int64_t y = 0; y < g.rows; y++) {
                    for (int64_t x = 0; x < g.cols; x++) {
                        int64_t r;
                        int64_t c;
                        int64_t i = lab_heat_index(&g, y, x);
                        if (i < 0)
                            continue;
                        seen++;
                        lab_heat_place(&g, i, &r, &c);
                        assert_int_equal(r, y);
                        assert_int_equal(c, x);
                        assert_true(lab_heat_cell(g.rows, g.cells_h, y) <
                                    g.cells_h);
                        assert_true(lab_heat_cell(g.cols, g.cells_w, x) <
                                    g.cells_w);
                    }
                }
                assert_int_equal(seen, rows * cols);
            }
        }
    }
}

TEST_CASE(one_row_folds_only_when_it_must)
{
    struct lab_heat_grid g = fit(1, 10, 0, 5, 20);
    assert_false(g.folded);
    g = fit(1, 64, 8, 20, 20);
    assert_true(g.folded);
    assert_int_equal(g.rows, 8);
    assert_int_equal(g.cols, 8);
    g = fit(1, 65, 8, 20, 20);
    assert_int_equal(g.rows, 9);
    assert_int_equal(lab_heat_index(&g, 8, 0), 64);
    assert_int_equal(lab_heat_index(&g, 8, 1), -1);
    g = fit(1, 784, 0, 7, 26);
    assert_true(g.folded && lab_heat_is_shared(&g));
}

/* No cell is empty, none has two elements more than another one, and each element is
 * in the cell that has it; a place that has room for no whole number is full. */
TEST_CASE(elements_share_cells_evenly)
{
    for (int64_t n = 1; n < 140; n += 9) {
        for (int cells = 1; cells <= n; cells++) {
            assert_int_equal(lab_heat_first(n, cells, 0), 0);
            assert_int_equal(lab_heat_first(n, cells, cells), n);
            for (int i = 0; i < cells; i++) {
                const int64_t first = lab_heat_first(n, cells, i);
                const int64_t end = lab_heat_first(n, cells, i + 1);
                assert_true(end - first >= n / cells);
                assert_true(end - first <= n / cells + 1);
                for (int64_t k = first; k < end; k++)
                    assert_int_equal(lab_heat_cell(n, cells, k), i);
            }
        }
    }
    const struct lab_heat_room room = {.h = 20, .w = 100, .halves = true};
    struct lab_heat_grid g = lab_heat_fit(64, 128, 0, &room);
    assert_int_equal(g.cells_h, 40);
    assert_int_equal(g.cells_w, 100);
    assert_true(lab_heat_is_shared(&g));
    g = lab_heat_fit(40, 100, 0, &room);
    assert_false(lab_heat_is_shared(&g));
    /* Two a cell, where that leaves few columns. */
    g = lab_heat_fit(60, 190, 0, &room);
    assert_int_equal(g.cells_w, 95);
    assert_int_equal(g.cells_h, 40);
}

/* A cell of many elements shows the one that matters. */
TEST_CASE(a_block_shows_its_worst)
{
    double v[12] = {0.1, -3, 2, 1, NAN, 1, 1, 1, -INFINITY, 5, 0, 0};
    struct lab_heat_grid g = fit(3, 4, 0, 3, 1);
    bool present;
    assert_int_equal(g.cells_w, 1);
    assert_true(lab_heat_cell_value(&g, v, 0, 0, &present) == -3);
    assert_true(present);
    assert_true(isnan(lab_heat_cell_value(&g, v, 1, 0, &present)));
    assert_true(lab_heat_cell_value(&g, v, 2, 0, &present) == -INFINITY);
    lab_heat_cell_value(&g, v, 3, 0, &present);
    assert_false(present);
    assert_true(lab_heat_scale(v, 12) == 5);
    assert_true(lab_heat_scale(v + 4, 1) == 0);
    /* One number alone is not all of the brightest colour. */
    const double same[3] = {-1.5, -1.5, -1.5};
    assert_true(lab_heat_scale_alone(same, 3) == 3);
    assert_true(lab_heat_scale_alone(same, 1) == 1.5);
    assert_true(lab_heat_scale_alone(v, 12) == 5);
}

static const char *cell(struct lab_canvas *c, double v, double scale,
                        bool cursor)
{
    static char text[16];
    lab_canvas_clear(c);
    lab_heat_draw_cell(c, (struct lab_rect){0, 0, 1, 2}, v, scale, cursor);
    snprintf(text, sizeof(text), "%s%s", c->cells[0].text, c->cells[1].text);
    return text;
}

TEST_CASE(signs_and_marks_need_no_colour)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 1, 4, false));
    assert_string_equal(cell(&c, 1, 1, false), " █");
    assert_string_equal(lab_heat_shade(&c, 1, 1), "█");
    assert_string_equal(cell(&c, -1, 1, false), "-█");
    assert_string_equal(cell(&c, 1e-9, 1, false), " ░");
    assert_string_equal(cell(&c, 0, 1, false), " ·");
    assert_string_equal(cell(&c, 0, 0, false), " ·");
    assert_string_equal(cell(&c, NAN, 1, false), "NN");
    assert_string_equal(cell(&c, -INFINITY, 1, false), "-I");
    assert_string_equal(cell(&c, 0.6, 1, true), "[▓");
    c.ascii = true;
    assert_string_equal(cell(&c, -1, 1, false), "-@");
    assert_string_equal(lab_heat_shade(&c, 1, 1), "@");
    assert_string_equal(cell(&c, 1e-9, 1, false), " .");
    assert_string_equal(cell(&c, 0, 1, false), " 0");
    assert_string_equal(cell(&c, 1e308, 1e308, false), " @");
    /* A grey level is never a sign, and a larger value never a lighter one. */
    const char levels[] = ".,:;=*#%@";
    const char *at = levels;
    for (int i = 1; i <= 1000; i++) {
        const char *text = cell(&c, i / -1000.0, 1, false);
        assert_int_equal(text[0], '-');
        at = strchr(at, text[1]);
        assert_non_null(at);
    }
    assert_string_equal(at, "@");
    lab_canvas_release(&c);
}

/* A small picture fills the place that it has: the cells grow. */
TEST_CASE(small_pictures_are_enlarged)
{
    struct lab_canvas c;
    struct lab_heat_grid g = fit(1, 64, 8, 16, 39);
    assert_int_equal(g.cell_w, 9); /* with room for a number */
    assert_int_equal(g.cell_h, 4);
    assert_int_equal(lab_heat_height(&g), 16);
    g = fit(1, 64, 8, 15, 39); /* wider than high, for the number */
    assert_int_equal(g.cell_h, 2);
    assert_int_equal(g.cell_w, 8);
    g = fit(1, 64, 8, 15, 16); /* as far as there is room */
    assert_int_equal(g.cell_w, 4);
    assert_int_equal(fit(100, 100, 0, 16, 39).cell_w, 2);
    assert_ok(lab_canvas_init(&c, 2, 12, false));
    lab_heat_draw_cell(&c, (struct lab_rect){0, 0, 2, 4}, 1, 1, false);
    lab_heat_draw_cell(&c, (struct lab_rect){0, 4, 2, 4}, -1, 1, true);
    lab_heat_draw_cell(&c, (struct lab_rect){0, 8, 2, 4}, 0, 1, false);
    char *dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "████[██] ·\n████████\n");
    assert_int_equal(c.cells[1].role, LAB_ROLE_POSITIVE);
    assert_int_equal(c.cells[5].role, LAB_ROLE_NEGATIVE);
    lab_free(dump);
    lab_canvas_release(&c);
    /* Of one row: signs, or numbers. */
    assert_ok(lab_canvas_init(&c, 2, 20, false));
    const double row[5] = {1, -1, 0.5, -0.1, 0};
    for (int i = 0; i < 5; i++)
        lab_heat_draw_cell(&c, (struct lab_rect){0, 4 * i, 1, 4}, row[i], 1,
                           i == 2);
    lab_heat_draw_cell(&c, (struct lab_rect){1, 0, 1, 9}, -0.51234, 1, false);
    lab_heat_draw_cell(&c, (struct lab_rect){1, 9, 1, 9}, 0.25, 1, true);
    dump = lab_canvas_dump(&c);
    assert_string_equal(dump, " ███-███[▓▓]-░░░ ·\n▓▓▓-0.51▓[▒▒0.25▒]\n");
    lab_free(dump);
    lab_canvas_release(&c);
}

/* Without colours too, each row of a cell is filled; a sign is in the first. */
TEST_CASE(a_cell_of_two_columns_has_all_of_its_rows)
{
    static const struct {
        double v[2];
        const char *want;
    } cases[] = {{{0.5, 1}, "▓▓██\n▓▓██\n"},
                 {{-0.5, 1}, "-▓ █\n ▓ █\n"},
                 {{0, 1}, " ·██\n  ██\n"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab_canvas c;
        assert_ok(lab_canvas_init(&c, 2, 4, false));
        lab_heat_picture(&c, c.clip, cases[i].v, 1, 2, false);
        char *dump = lab_canvas_dump(&c);
        assert_string_equal(dump, cases[i].want);
        lab_free(dump);
        lab_canvas_release(&c);
    }
}

/* A canvas with tints: an element is half a character, its colour the paper of its
 * half, or the ink. */
TEST_CASE(pictures_of_colour_go_down_to_half_a_character)
{
    const double v[4] = {0, 1, 0.5, 1};
    struct lab_canvas c;
    const int top = LAB_TINT_SEQUENTIAL + LAB_TINT_STEPS - 1;
    assert_ok(lab_canvas_init(&c, 1, 2, false));
    c.tints = true;
    lab_heat_picture(&c, c.clip, v, 2, 2, true);
    assert_string_equal(c.cells[0].text, "▀");
    assert_int_equal(c.cells[0].ink, LAB_TINT_SEQUENTIAL);
    assert_int_equal(c.cells[0].paper, lab_tint_sequential(0.5, 1));
    assert_string_equal(c.cells[1].text, " "); /* both halves alike */
    assert_int_equal(c.cells[1].paper, top);
    lab_canvas_release(&c);
}

TEST_CASE(large_cells_have_numbers_signs_and_outlines)
{
    const double v[2] = {-0.25, 1};
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 4, 16, false));
    c.tints = true;
    struct lab_heat_grid g = lab_heat_picture(&c, c.clip, v, 1, 2, false);
    assert_int_equal(g.cell_w, 8);
    assert_int_equal(g.cell_h, 8);
    char *dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "\n -0.25      1\n\n\n");
    lab_free(dump);
    assert_int_equal(c.cells[0].paper, lab_tint_diverging(-0.25, 1));
    assert_int_equal(c.cells[8].paper, lab_tint_diverging(1, 1));
    lab_heat_outline(&c, 0, 0, &g, 0, 1, 1, 1);
    assert_string_equal(c.cells[8].text, "▏");
    assert_int_equal(c.cells[8].role, LAB_ROLE_TITLE);
    assert_int_equal(c.cells[8].paper, lab_tint_diverging(1, 1));
    assert_int_equal(c.cells[7].role, LAB_ROLE_NORMAL);
    lab_canvas_release(&c);
}

/* A number that does not fit in digits has an exponent, or is near zero. */
TEST_CASE(a_narrow_cell_has_a_number)
{
    static const double v[4] = {-0.00052, 0.000123, -0.01234, 0.5};
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 3, 24, false));
    c.tints = true;
    struct lab_heat_grid g = lab_heat_picture(&c, c.clip, v, 1, 4, false);
    assert_int_equal(g.cell_w, 6);
    char *dump = lab_canvas_dump(&c);
    assert_non_null(strstr(dump, "-5e-4"));
    assert_non_null(strstr(dump, "1e-4"));
    assert_non_null(strstr(dump, "-0.01"));
    lab_free(dump);
    lab_canvas_release(&c);
}

/* Cells of 6 columns: a blank before every number, before a sign too. */
TEST_CASE(numbers_side_by_side_do_not_touch)
{
    static const double v[6] = {0.396, -0.24, 0.318, -0.396, -1.5e-5, 12345};
    struct lab_canvas c;
    for (int h = 1; h <= 4; h++) {
        assert_ok(lab_canvas_init(&c, h, 36, false));
        c.tints = true;
        struct lab_heat_grid g = lab_heat_picture(&c, c.clip, v, 1, 6, false);
        assert_int_equal(g.cell_w, 6);
        const int y = (h - 1) / 2;
        const struct lab_cell *row = &c.cells[y * c.w];
        for (int i = 0; i < 6; i++)
            assert_string_equal(row[6 * i].text, " ");
        char *dump = lab_canvas_dump(&c);
        assert_non_null(strstr(dump, " 0.396 -0.24 0.318 -0.4  -2e-5 12345"));
        lab_free(dump);
        lab_canvas_release(&c);
    }
}

/* From 4 columns and 3 rows on it has two digits, beside others with a sign or a blank
 * between them; the cursor's frame is above and below it. */
TEST_CASE(a_small_cell_has_a_short_number)
{
    static const double v[6] = {0.25, -0.356, 1.26, -12.4, 0.0004, -0.0004};
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 3, 24, false));
    c.tints = true;
    struct lab_heat_grid g = lab_heat_picture(&c, c.clip, v, 1, 6, false);
    assert_int_equal(g.cell_w, 4);
    char *dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "\n .25-.36 1.3-12  ~0 -~0\n\n");
    lab_free(dump);
    struct lab_heat m = {
        .grid = g, .value = v, .most = 12.4, .diverging = true, .cursor = 1};
    lab_heat_draw(&c, 0, 0, &m);
    dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "    ┌──┐\n .25-.36 1.3-12  ~0 -~0\n"
                              "    └──┘\n");
    lab_free(dump);
    m.cursor = -1; /* an outline leaves the number's columns, too */
    lab_heat_draw(&c, 0, 0, &m);
    lab_heat_outline(&c, 0, 0, &g, 0, 1, 1, 1);
    dump = lab_canvas_dump(&c);
    assert_non_null(strstr(dump, "\n .25-.36 1.3-12  ~0 -~0\n"));
    assert_non_null(strstr(dump, "▏▔▔▕"));
    lab_free(dump);
    lab_canvas_release(&c);
    /* Two rows have no room for that: a sign. */
    assert_ok(lab_canvas_init(&c, 2, 24, false));
    c.tints = true;
    lab_heat_picture(&c, c.clip, v, 1, 6, false);
    dump = lab_canvas_dump(&c);
    assert_null(strchr(dump, '2'));
    lab_free(dump);
    lab_canvas_release(&c);
}

/* "~0" is by the scale, which the largest decides, whatever that is. */
TEST_CASE(near_zero_is_by_the_scale)
{
    static const struct {
        double v[4];
        bool near;
    } rows[] = {{{-1.2345e-12, 0.5, 0.5, 0.5}, true},
                {{-1.2345e-12, 2e-12, 2e-12, 2e-12}, false},
                {{-1.2345e-12, 2e-10, 2e-10, 2e-10}, true},
                {{-1.2345e12, 1e14, 1e14, 1e14}, true},
                {{-1.2345e12, 2e12, 2e12, 2e12}, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct lab_canvas c;
        assert_ok(lab_canvas_init(&c, 3, 24, false));
        c.tints = true;
        lab_heat_picture(&c, c.clip, rows[i].v, 1, 4, true);
        char *dump = lab_canvas_dump(&c);
        if ((strstr(dump, "~0") != NULL) != rows[i].near)
            fail_msg("%g of %g: ~0 is not %d in:\n%s", rows[i].v[0],
                     rows[i].v[1], (int)rows[i].near, dump);
        lab_free(dump);
        lab_canvas_release(&c);
    }
}

/* Without half rows a picture has a cell of one row, then of two, and so on: it fills
 * the columns as with them, and no row is left blank. */
TEST_CASE(a_picture_without_half_rows_is_as_large)
{
    double v[16];
    struct lab_canvas c;
    for (int i = 0; i < 16; i++)
        v[i] = i % 5 == 0; /* the diagonal */
    assert_ok(lab_canvas_init(&c, 6, 14, false));
    struct lab_heat_grid g = lab_heat_picture(&c, c.clip, v, 4, 4, true);
    assert_int_equal(g.cell_w, 3);
    assert_int_equal(lab_heat_height(&g), 6);
    char *dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "███ ·  ·  ·\n███\n"
                              " · ███ ·  ·\n"
                              " ·  · ███ ·\n      ███\n"
                              " ·  ·  · ███\n");
    lab_free(dump);
    c.tints = true;
    assert_int_equal(lab_heat_picture(&c, c.clip, v, 4, 4, true).cell_w,
                     g.cell_w);
    for (int y = 0; y < 6; y++) /* where a click is, too */
        assert_int_equal(lab_heat_at(&g, y, 0), (2 * y / 3) * 4);
    lab_canvas_release(&c);
}

/* Weights, gradients and sums of products have signs though all are positive now;
 * what a ReLU, a gate or a softmax gives has none. */
TEST_CASE(colours_go_by_the_kind_of_tensor)
{
    const struct lab_op_def lstm = {.name = "lstm"};
    const struct lab_op_def dense = {.name = "dense"};
    const struct lab_op_def relu = {.name = "relu"};
    const struct lab_op_def conv = {.name = "conv2d"};
    const struct lab_op_def add = {.name = "add"};
    const struct lab_op_def rnn = {.name = "rnn"};
    const struct lab_op_def attention = {.name = "attention"};
    const struct lab_op_def scaled = {.name = "scaled_dot_attention"};
    const struct lab_op_def bahdanau = {.name = "bahdanau_attention"};
    const struct lab_op_def norm = {.name = "batch_norm"};
    const struct lab_op_def position = {.name = "positional_embedding"};
    /* the last of a conv_block's and of a bottleneck's nodes are named as they are */
    struct lab_node nodes[] = {{.id = (char[]){"rnn"}, .op = &lstm},
                               {.id = (char[]){"fc"}, .op = &dense},
                               {.id = (char[]){"r"}, .op = &relu},
                               {.id = (char[]){"conv1"}, .op = &conv},
                               {.id = (char[]){"block1.r"}, .op = &add},
                               {.id = (char[]){"r2"}, .op = &rnn},
                               {.id = (char[]){"att"}, .op = &attention},
                               {.id = (char[]){"sdp"}, .op = &scaled},
                               {.id = (char[]){"b"}, .op = &bahdanau},
                               {.id = (char[]){"c.conv"}, .op = &conv},
                               {.id = (char[]){"c.norm"}, .op = &norm},
                               {.id = (char[]){"c"}, .op = &relu},
                               {.id = (char[]){"u.sum"}, .op = &add},
                               {.id = (char[]){"p"}, .op = &position}};
    static const struct {
        const char *name;
        enum lab_tensor_role role;
        int node;
        bool has;
    } kinds[] = {{"rnn.z", LAB_TENSOR_ACTIVATION, 0, true},
                 {"rnn.z.3", LAB_TENSOR_ACTIVATION, 0, true},
                 {"rnn.c", LAB_TENSOR_ACTIVATION, 0, true},
                 {"rnn.i", LAB_TENSOR_ACTIVATION, 0, false},
                 {"fc.out", LAB_TENSOR_ACTIVATION, 1, true},
                 {"fc.W", LAB_TENSOR_PARAM, 1, true},
                 {"r.out", LAB_TENSOR_ACTIVATION, 2, false},
                 {"r.out.grad", LAB_TENSOR_GRADIENT, 2, true},
                 {"rnn.out", LAB_TENSOR_ACTIVATION, 0, true},
                 {"rnn.a.0", LAB_TENSOR_ACTIVATION, 0, true},
                 {"rnn.h", LAB_TENSOR_ACTIVATION, 0, true},
                 {"rnn.o.2", LAB_TENSOR_ACTIVATION, 0, false},
                 {"fc.xW", LAB_TENSOR_ACTIVATION, 1, true},
                 {"conv1.conv", LAB_TENSOR_ACTIVATION, 3, true},
                 {"conv1.out", LAB_TENSOR_ACTIVATION, 3, true},
                 {"block1.r", LAB_TENSOR_ACTIVATION, 4, true},
                 {"r2.z", LAB_TENSOR_ACTIVATION, 5, true},
                 {"r2.h.4", LAB_TENSOR_ACTIVATION, 5, true},
                 {"r2.out", LAB_TENSOR_ACTIVATION, 5, true},
                 {"att.q", LAB_TENSOR_ACTIVATION, 6, true},
                 {"att.k", LAB_TENSOR_ACTIVATION, 6, true},
                 {"att.v", LAB_TENSOR_ACTIVATION, 6, true},
                 {"att.scores", LAB_TENSOR_ACTIVATION, 6, true},
                 {"att.ctx", LAB_TENSOR_ACTIVATION, 6, true},
                 {"att.out", LAB_TENSOR_ACTIVATION, 6, true},
                 {"att.probs", LAB_TENSOR_ACTIVATION, 6, false},
                 {"sdp.scores", LAB_TENSOR_ACTIVATION, 7, true},
                 {"sdp.out", LAB_TENSOR_ACTIVATION, 7, true},
                 {"sdp.probs", LAB_TENSOR_ACTIVATION, 7, false},
                 {"b.u", LAB_TENSOR_ACTIVATION, 8, true},
                 {"b.t", LAB_TENSOR_ACTIVATION, 8, true},
                 {"b.e", LAB_TENSOR_ACTIVATION, 8, true},
                 {"b.a", LAB_TENSOR_ACTIVATION, 8, false},
                 {"b.out", LAB_TENSOR_ACTIVATION, 8, true},
                 {"c.conv.out", LAB_TENSOR_ACTIVATION, 9, true},
                 {"c.norm.out", LAB_TENSOR_ACTIVATION, 10, true},
                 {"c.norm.rstd", LAB_TENSOR_ACTIVATION, 10, false},
                 {"c.out", LAB_TENSOR_ACTIVATION, 11, false},
                 {"u.sum.out", LAB_TENSOR_ACTIVATION, 12, true},
                 {"p.out", LAB_TENSOR_ACTIVATION, 13, true},
                 {"x", LAB_TENSOR_DATA, -1, false}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char name[32];
        snprintf(name, sizeof(name), "%s", kinds[i].name);
        struct lab_tensor t = {
            .name = name, .role = kinds[i].role, .node = kinds[i].node};
        const struct lab_plan plan = {.tensors = &t, .nodes = nodes};
        if (lab_board_signed(&plan, 0, false) != kinds[i].has)
            fail_msg("%s: signed is not %d", name, (int)kinds[i].has);
        assert_true(lab_board_signed(&plan, 0, true));
    }
}

/* What a pool or a flatten gives has the sign of what it reads. */
TEST_CASE(signs_go_through_a_pool)
{
    const struct lab_op_def conv = {.name = "conv2d"};
    const struct lab_op_def relu = {.name = "relu"};
    const struct lab_op_def pool = {.name = "avg_pool2d"};
    const struct lab_op_def flatten = {.name = "flatten"};
    struct lab_tensor t[] = {{.name = (char[]){"conv1.out"}, .node = 0},
                             {.name = (char[]){"pool1.out"}, .node = 1},
                             {.name = (char[]){"flatten1.out"}, .node = 2},
                             {.name = (char[]){"relu1.out"}, .node = 3},
                             {.name = (char[]){"pool2.out"}, .node = 4}};
    struct lab_node nodes[] = {
        {.id = (char[]){"conv1"}, .op = &conv},
        {.id = (char[]){"pool1"}, .op = &pool, .in = {0}, .n_in = 1},
        {.id = (char[]){"flatten1"}, .op = &flatten, .in = {1}, .n_in = 1},
        {.id = (char[]){"relu1"}, .op = &relu, .in = {0}, .n_in = 1},
        {.id = (char[]){"pool2"}, .op = &pool, .in = {3}, .n_in = 1}};
    static const bool has[] = {true, true, true, false, false};
    const struct lab_plan plan = {.tensors = t, .nodes = nodes};
    for (int i = 0; i < 5; i++)
        t[i].role = LAB_TENSOR_ACTIVATION;
    for (int i = 0; i < 5; i++)
        assert_int_equal(lab_board_signed(&plan, i, false), has[i]);
}

/* Labels are at their cells, whatever size these have. */
TEST_CASE(labels_are_at_their_cells)
{
    struct lab_label names[4] = {
        {.text = "a"}, {.text = "b"}, {.text = "c"}, {.text = "de"}};
    const struct lab_plane p = {.rows = 4,
                                .cols = 4,
                                .tiles = 1,
                                .row_label = names,
                                .col_label = names};
    struct lab_heat_grid g = {.count = 16,
                              .rows = 4,
                              .cols = 4,
                              .cells_h = 4,
                              .cells_w = 4,
                              .cell_h = 1,
                              .cell_w = 1};
    const struct {
        int unit;
        const char *screen;
    } sizes[] = {{1, "      d\n   abce\n a\n c\n"}, /* a line has two rows */
                 {2, "          d\n    a b c e\n a\n b\n c\nde\n"},
                 {5, "                    d\n     a    b    c    e\n\n\n"}};
    struct lab_canvas c;
    assert_int_equal(lab_labels_height(&p, 4), 1); /* a third */
    assert_int_equal(lab_labels_height(&p, 9), 2);
    for (int i = 0; i < 3; i++) {
        assert_ok(lab_canvas_init(&c, i == 1 ? 6 : 4, 24, false));
        g.cell_h = g.cell_w = sizes[i].unit;
        lab_labels_draw(&c, &p, (struct lab_rect){2, 3, 4, 21}, &g,
                        i < 2 ? (struct lab_rect){2, 0, 4, 3}
                              : (struct lab_rect){0},
                        (struct lab_rect){0, 3, 2, 21}, 15);
        assert_int_equal(lab_labels_width(&p, &c), 3);
        char *dump = lab_canvas_dump(&c);
        assert_string_equal(dump, sizes[i].screen);
        lab_free(dump);
        lab_canvas_release(&c);
    }
}

/* A legend is whole, shorter, or not there. */
TEST_CASE(a_legend_is_never_cut)
{
    struct lab_canvas c;
    const struct lab_heat m = {.grid = {.rows = 9,
                                        .cols = 5,
                                        .cells_h = 4,
                                        .cells_w = 5,
                                        .cell_h = 2,
                                        .cell_w = 2},
                               .most = 0.387677,
                               .diverging = true};
    assert_ok(lab_canvas_init(&c, 3, 47, false));
    c.tints = true;
    int all = lab_heat_legend(&c, (struct lab_rect){0, 0, 1, 47}, &m);
    int least = lab_heat_legend_least(&c, &m);
    assert_true(least < all);
    assert_int_equal(
        lab_heat_legend(&c, (struct lab_rect){1, 0, 1, all - 1}, &m), least);
    assert_int_equal(
        lab_heat_legend(&c, (struct lab_rect){2, 0, 1, least - 1}, &m), 0);
    char *dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "-0.3877              0.38768; max of 2.25x1\n"
                              "±0.3877       ; max of 2.25x1\n\n");
    lab_free(dump);
    struct lab_heat large = m; /* a vocabulary in few rows */
    large.grid.rows = 50257;
    lab_canvas_clear(&c);
    lab_heat_legend(&c, (struct lab_rect){0, 0, 1, 47}, &large);
    dump = lab_canvas_dump(&c);
    assert_non_null(strstr(dump, "; max of 12564x1\n"));
    lab_free(dump);
    lab_canvas_release(&c);
}

/* A picture that is made smaller fades; a matrix keeps what is large. */
TEST_CASE(a_cell_of_several_is_their_mean_or_the_largest)
{
    const double v[4] = {0, 1, 0, 1};
    struct lab_heat_room room = {.h = 1, .w = 2, .square = true, .mean = true};
    struct lab_heat_grid g = lab_heat_fit(2, 2, 0, &room);
    bool present;
    assert_int_equal(g.cells_h * g.cells_w, 1);
    assert_true(lab_heat_cell_value(&g, v, 0, 0, &present) == 0.5);
    g.mean = false;
    assert_true(lab_heat_cell_value(&g, v, 0, 0, &present) == 1);
}

/* It keeps its shape to a cell, also where cells have one element or two, and its room. */
TEST_CASE(a_picture_keeps_its_shape)
{
    struct lab_heat_room room = {
        .h = 13, .w = 40, .square = true, .halves = true};
    struct lab_heat_grid g = lab_heat_fit(28, 28, 0, &room);
    assert_int_equal(g.cells_h, 26);
    assert_int_equal(g.cells_w, 26);
    for (int i = 0; i < 39 * 39 * 8 * 8; i++) {
        const int64_t rows = 2 + i % 39;
        const int64_t cols = 2 + i / 39 % 39;
        room.h = 2 + i / 1521 % 8 * 3;
        room.w = 2 + i / 12168 * 5;
        g = lab_heat_fit(rows, cols, 0, &room);
        assert_in_range(g.cells_h, 1, rows);
        assert_in_range(g.cells_w, 1, cols);
        assert_true(lab_heat_height(&g) <= room.h);
        assert_true(g.cells_w * g.cell_w <= room.w);
        const int64_t off = g.cells_w * rows - g.cells_h * cols;
        assert_true(llabs(off) <= (rows > cols ? rows : cols));
    }
}

/* ---- the tree ---- */

struct world {
    struct lab_plan *plan;
    struct lab_schedule *schedule;
    struct lab_step_tree tree;
};

static void make(struct world *w, struct lab_plan *plan)
{
    w->plan = plan;
    w->schedule = plan_schedule(plan, false);
    w->tree = (struct lab_step_tree){0};
    assert_ok(lab_step_tree_build(&w->tree, plan, w->schedule));
}

static void unmake(struct world *w)
{
    lab_step_tree_release(&w->tree);
    free(w->schedule->steps);
    free(w->schedule);
    plan_release(w->plan);
}

/* Headers hold the steps that they name, and every step has its item. */
static void check_tree(const struct world *w)
{
    const struct lab_step_tree *t = &w->tree;
    for (int i = 0; i < w->schedule->n_steps; i++)
        assert_int_equal(t->items[t->of_step[i]].step, i);
    for (int i = 0; i < t->count; i++) {
        const struct lab_tree_item *item = &t->items[i];
        int steps = 0;
        assert_true(item->next > i && item->next <= t->count);
        for (int k = i; k < item->next; k++) {
            steps += t->items[k].step >= 0;
            assert_true(t->items[k].first >= item->first &&
                        t->items[k].end <= item->end);
        }
        assert_int_equal(steps, item->end - item->first);
        if (item->parent >= 0)
            assert_int_equal(t->items[item->parent].depth, item->depth - 1);
        else
            assert_int_equal(item->depth, 0);
    }
}

TEST_CASE(a_tree_of_phases_nodes_and_steps)
{
    struct world w;
    make(&w, plan_small());
    check_tree(&w);
    assert_string_equal(w.tree.items[0].name, "forward");
    assert_string_equal(w.tree.items[1].name, "fc1");
    assert_string_equal(w.tree.items[2].name, "matmul");
    assert_string_equal(w.tree.items[4].name, "relu1.relu");
    assert_string_equal(w.tree.items[5].name, "block1");
    assert_string_equal(w.tree.items[6].name, "attn");
    assert_int_equal(w.tree.items[7].depth, 3);
    unmake(&w);
}

/* The last of a block's inner nodes has the block's own id. */
TEST_CASE(a_block_holds_its_last_step)
{
    static struct lab_node nodes[] = {{.id = (char *)"fc1"},
                                      {.id = (char *)"block1.ff1"},
                                      {.id = (char *)"block1"}};
    static struct lab_step steps[] = {
        {.name = (char *)"fc1.matmul", .node = 0},
        {.name = (char *)"block1.ff1.matmul", .node = 1},
        {.name = (char *)"block1.ff1.bias", .node = 1},
        {.name = (char *)"block1.add", .node = 2},
        {.name = (char *)"block1.add", .node = 2, .phase = LAB_BACKWARD},
        {.name = (char *)"block1.ff1.bias", .node = 1, .phase = LAB_BACKWARD},
        {.name = (char *)"fc1.matmul", .node = 0, .phase = LAB_BACKWARD}};
    static const char *const names[] = {
        "forward",  "fc1.matmul", "block1", "ff1", "matmul", "bias",      "add",
        "backward", "block1",     "add",    "ff1", "bias",   "fc1.matmul"};
    enum { STEPS = 7, ITEMS = 13 };
    struct lab_plan plan = {.nodes = nodes, .n_nodes = 3};
    struct lab_schedule_step list[STEPS];
    struct lab_schedule schedule = {.steps = list, .n_steps = STEPS};
    struct world w = {.plan = &plan, .schedule = &schedule};
    for (int i = 0; i < STEPS; i++)
        list[i] = (struct lab_schedule_step){.step = &steps[i],
                                             .depth_node = steps[i].node};
    assert_ok(lab_step_tree_build(&w.tree, &plan, &schedule));
    check_tree(&w);
    assert_int_equal(w.tree.count, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        assert_string_equal(w.tree.items[i].name, names[i]);
    assert_int_equal(w.tree.items[6].parent, 2);
    lab_step_tree_fold(&w.tree, 2, true);
    assert_int_equal(w.tree.n_rows, ITEMS - 4);
    lab_step_tree_release(&w.tree);
}

TEST_CASE(folding_hides_and_revealing_shows)
{
    struct world w;
    make(&w, plan_small());
    int all = w.tree.n_rows;
    lab_step_tree_fold(&w.tree, 1, true);
    assert_int_equal(w.tree.n_rows, all - 2);
    assert_int_equal(lab_step_tree_row(&w.tree, 3), 1);
    lab_step_tree_reveal(&w.tree, 3);
    assert_int_equal(w.tree.n_rows, all);
    assert_int_equal(lab_step_tree_row(&w.tree, 3), 3);
    lab_step_tree_fold_all(&w.tree, true);
    assert_true(w.tree.n_rows < all);
    assert_ok(lab_step_tree_build(&w.tree, w.plan, w.schedule));
    assert_true(w.tree.n_rows < all); /* folds are kept */
    lab_step_tree_fold_all(&w.tree, false);
    assert_int_equal(w.tree.n_rows, all);
    lab_step_tree_fold(&w.tree, 2, true); /* a step has nothing to fold */
    lab_step_tree_fold(&w.tree, -1, true);
    lab_step_tree_fold(&w.tree, 9999, true);
    assert_int_equal(w.tree.n_rows, all);
    assert_int_equal(lab_step_tree_row(&w.tree, -1), -1);
    unmake(&w);
}

TEST_CASE(a_large_tree_is_whole)
{
    struct world w;
    make(&w, plan_large(10000));
    check_tree(&w);
    for (int i = 0; i < 10000; i += 997)
        assert_int_equal(
            w.tree.rows[lab_step_tree_row(&w.tree, w.tree.of_step[i])],
            w.tree.of_step[i]);
    unmake(&w);
}

TEST_CASE(a_tree_that_cannot_grow_stays)
{
    struct world w;
    make(&w, plan_small());
    int all = w.tree.n_rows;
    for (int nth = 1; nth <= 3; nth++) {
        lab_mem_fail_from(nth);
        assert_int_equal(lab_step_tree_build(&w.tree, w.plan, w.schedule),
                         LAB_E_NOMEM);
        lab_mem_fail_from(0);
        assert_int_equal(w.tree.n_rows, all);
    }
    unmake(&w);
}

RUN_TESTS()
