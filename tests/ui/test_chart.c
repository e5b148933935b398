/* Charts, bars, heat cells, and numbers as people read them. */
#include <math.h>
#include <string.h>

#include "test.h"

#include "base/mem.h"
#include "ui/chart.h"
#include "base/format.h"

static char *chart(const struct lab_chart *what, int h, int w, int style)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, h, w, style == 2));
    c.blocks = style == 1;
    lab_chart_draw(&c, (struct lab_rect){0, 0, h, w}, what);
    char *dump = lab_canvas_dump(&c);
    lab_canvas_release(&c);
    return dump;
}

static void assert_chart(const struct lab_chart *what, int style,
                         const char *want)
{
    char *dump = chart(what, 6, 22, style);
    assert_string_equal(dump, want);
    lab_free(dump);
}

TEST_CASE(a_line_in_three_sets_of_glyphs)
{
    const double y[] = {0, 1, 2, 3};
    struct lab_series s = {NULL, y, 4, "up", LAB_ROLE_SERIES_1};
    struct lab_chart c = {NULL, NULL, &s, 1, NAN, NAN, false};
    assert_chart(&c, 0,
                 "up 3\n"
                 "        │          ⡠⠔⠊\n"
                 "       2┤      ⢀⡠⠔⠉\n"
                 "        │   ⣀⠔⠊⠁\n"
                 "       0┤⡠⠔⠉\n"
                 "        └─ 0 ────── 3\n");
    assert_chart(&c, 1,
                 "up 3\n"
                 "        │         ▄▄▀▀\n"
                 "       2┤      ▄▄▀\n"
                 "        │   ▄▄▀\n"
                 "       0┤▄▀▀\n"
                 "        └─ 0 ────── 3\n");
    assert_chart(&c, 2,
                 "up 3\n"
                 "        |         ..''\n"
                 "       2+      ..'\n"
                 "        |   ..'\n"
                 "       0+.''\n"
                 "        +- 0 ------ 3\n");
}

/* Cells that differ where a curve has `more` points than its `n`. */
static int cells_changed(double *y, int64_t n, int64_t more, bool grows)
{
    struct lab_series s = {.y = y, .name = "up", .role = LAB_ROLE_SERIES_1};
    struct lab_chart what = {.series = &s,
                             .count = 1,
                             .y_min = 0,
                             .y_max = 1,
                             .zero_x = true,
                             .grows_x = grows,
                             .unlisted = true};
    struct lab_canvas c[2];
    int changed = 0;
    for (int i = 0; i < 2; i++) {
        assert_ok(lab_canvas_init(&c[i], 20, 80, false));
        s.n = i ? n + more : n;
        lab_chart_draw(&c[i], (struct lab_rect){0, 0, 20, 80}, &what);
    }
    for (int i = 0; i < 20 * 80; i++)
        changed += strcmp(c[0].cells[i].text, c[1].cells[i].text) != 0;
    lab_canvas_release(&c[0]);
    lab_canvas_release(&c[1]);
    return changed;
}

/* Points that come change no others, until the axis ends at the next round number. */
TEST_CASE(a_curve_grows_at_its_end)
{
    static double y[1400];
    for (int i = 0; i < 1400; i++)
        y[i] = 0.5 + 0.5 * sin(i / 40.0);
    assert_true(cells_changed(y, 905, 10, true) < 8);
    assert_true(cells_changed(y, 905, 10, false) > 40);
    assert_true(cells_changed(y, 995, 10, true) > 40);
}

/* A mark has its word at the side where it has room, before the axis' own; a mark
 * without room is left out, as is one beyond the axis. */
TEST_CASE(a_mark_on_the_axis)
{
    static double y[101];
    struct lab_series s = {NULL, y, 101, "up", LAB_ROLE_SERIES_1};
    struct lab_chart_mark marks[] = {
        {50, "lr 1"}, {20, "lr 0.02"}, {97, "lr 3"}, {200, "lr 4"}};
    struct lab_chart c = {.x_name = "x",
                          .series = &s,
                          .count = 1,
                          .y_min = NAN,
                          .y_max = NAN,
                          .marks = marks,
                          .n_marks = 4};
    char *dump = chart(&c, 5, 60, 0);
    const char *axis = strstr(dump, "└");
    assert_string_equal(
        axis, "└─ 0 ──────▲lr 0.02───────▲lr 1───────────────lr 3▲─\n");
    lab_free(dump);
    marks[0].x = 22; /* the newer one has its word, the older no room */
    c.n_marks = 2;
    dump = chart(&c, 5, 60, 2);
    axis = strstr(dump, "+- 0");
    assert_non_null(axis);
    assert_non_null(strstr(axis, "^lr 0.02"));
    assert_null(strstr(axis, "lr 1"));
    lab_free(dump);
}

TEST_CASE(a_point_is_found)
{
    const double y[] = {0, NAN, 2, 3};
    const double envelope[] = {0.2, 0.2, 0.2, 0.2};
    const struct lab_series s[] = {{NULL, envelope, 4, NULL, LAB_ROLE_SERIES_1},
                                   {NULL, y, 4, "up", LAB_ROLE_SERIES_1}};
    const struct lab_chart c = {NULL, NULL, s, 2, NAN, NAN, false};
    const struct lab_rect r = {3, 5, 6, 22};
    int k = -1;
    int64_t i = -1;
    assert_true(lab_chart_find(r, &c, 4, 26, &k, &i));
    assert_true(k == 1 && i == 3);
    assert_true(lab_chart_find(r, &c, 7, 15, &k, &i)); /* a column beside it */
    assert_true(k == 1 && i == 0);
    assert_false(lab_chart_find(r, &c, 4, 14, &k, &i)); /* far from all */
    assert_false(lab_chart_find(r, &c, 6, 18, &k, &i)); /* NaN */
    assert_false(lab_chart_find(r, &c, 3, 26, &k, &i)); /* the legend */
    assert_false(lab_chart_find(r, &c, 8, 14, &k, &i)); /* the axis */
}

TEST_CASE(charts_of_anything)
{
    static double y[5000];
    double x[3] = {0, 1, 1};
    struct lab_series s[2] = {{NULL, y, 0, "a", LAB_ROLE_SERIES_1},
                              {x, y, 3, "b", LAB_ROLE_SERIES_2}};
    struct lab_chart c = {"T", "x", s, 2, NAN, NAN, false};
    const double specials[] = {0,         -0.0, 1e308,  -1e308, INFINITY,
                               -INFINITY, NAN,  1e-300, 5,      -3};
    srand(5);
    for (int round = 0; round < 60; round++) {
        s[0].n = round * round;
        for (int i = 0; i < s[0].n; i++)
            y[i] = round % 3 ? rand() % 100 : specials[rand() % 10];
        c.log_y = round % 2 == 1;
        char *dump = chart(&c, round % 13, round * 3 % 70, round % 3);
        for (const char *p = dump; round % 3 == 2 && *p; p++)
            assert_true((unsigned char)*p < 0x80);
        lab_free(dump);
    }
}

TEST_CASE(what_is_not_finite_is_counted)
{
    const double y[] = {1, NAN, INFINITY, 2};
    const double none[] = {NAN, NAN};
    struct lab_series s[2] = {{NULL, y, 4, "loss", LAB_ROLE_SERIES_1},
                              {NULL, none, 2, "right", LAB_ROLE_SERIES_2}};
    struct lab_chart c = {"Run", NULL, s, 2, NAN, NAN, false};
    char *dump = chart(&c, 8, 80, 0);
    assert_non_null(strstr(dump, "1 loss 2 (2 not finite)"));
    assert_non_null(strstr(dump, "2 right nan (2 not finite)"));
    lab_free(dump);
    c.series = &s[1];
    c.count = 1;
    dump = chart(&c, 8, 80, 0);
    assert_non_null(strstr(dump, "no values yet"));
    lab_free(dump);
    lab_mem_fail_from(2);
    c.series = s;
    struct lab_canvas canvas;
    assert_ok(lab_canvas_init(&canvas, 8, 40, false));
    lab_chart_draw(&canvas, (struct lab_rect){0, 0, 8, 40}, &c);
    lab_mem_fail_from(0);
    dump = lab_canvas_dump(&canvas);
    assert_non_null(strstr(dump, "out of memory"));
    lab_free(dump);
    lab_canvas_release(&canvas);
}

TEST_CASE(bars_are_in_proportion)
{
    struct lab_canvas c;
    const double v[] = {0, 1, 8, 16};
    const double w[] = {1, NAN, 2};
    assert_ok(lab_canvas_init(&c, 4, 12, false));
    lab_histogram_draw(&c, (struct lab_rect){0, 0, 2, 4}, v, 4,
                       LAB_ROLE_NORMAL);
    lab_histogram_draw(&c, (struct lab_rect){2, 0, 1, 3}, w, 3,
                       LAB_ROLE_NORMAL);
    lab_gauge_draw(&c, 3, 0, 12, 0.5, LAB_ROLE_NORMAL, "");
    char *dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "   █\n ▁██\n▄ █\n██████░░░░░░\n");
    lab_free(dump);
    lab_gauge_draw(&c, 3, 0, 12, NAN, LAB_ROLE_NORMAL, "n/a");
    lab_gauge_draw(&c, 3, 0, 0, 1, LAB_ROLE_NORMAL, "x");
    lab_histogram_draw(&c, (struct lab_rect){0, 0, 2, 2}, v, 4,
                       LAB_ROLE_NORMAL); /* pairs are summed: 1 and 24 */
    dump = lab_canvas_dump(&c);
    assert_string_equal(dump, " █ █\n▁███\n▄ █\n░░░ n/a ░░░░\n");
    lab_free(dump);
    lab_canvas_release(&c);
}

/* The role of a match underlines: above the column that would be lines. */
TEST_CASE(a_column_has_its_role_where_it_is)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 2, 1, false));
    lab_column_draw(&c, 1, 0, 5, LAB_ROLE_MARK);
    lab_column_draw(&c, 0, 0, 5 - 8, LAB_ROLE_MARK);
    assert_string_equal(c.cells[1].text, "▅");
    assert_int_equal(c.cells[1].role, LAB_ROLE_MARK);
    assert_string_equal(c.cells[0].text, " ");
    assert_int_equal(c.cells[0].role, LAB_ROLE_NORMAL);
    lab_canvas_release(&c);
}

TEST_CASE(numbers_read_well)
{
    char s[LAB_FORMAT_BYTES * 4];
#define IS(call, want) assert_string_equal(call, want)
    IS(lab_format_ns(4352, s, sizeof(s)), "4.35 us");
    IS(lab_format_ns(999.96, s, sizeof(s)), "1.00 us");
    IS(lab_format_ns(12, s, sizeof(s)), "12 ns");
    IS(lab_format_ns(NAN, s, sizeof(s)), "n/a");
    IS(lab_format_ns(3.5e12, s, sizeof(s)), "3500 s");
    IS(lab_format_bytes(2048, s, sizeof(s)), "2.00 KiB");
    IS(lab_format_size(2048, s, sizeof(s)), "2 KiB");
    IS(lab_format_size(72 << 20, s, sizeof(s)), "72 MiB");
    IS(lab_format_size(100 << 20, s, sizeof(s)), "100 MiB");
    IS(lab_format_size(1.5 * 1024, s, sizeof(s)), "1.5 KiB");
    IS(lab_format_size(512, s, sizeof(s)), "512 B");
    IS(lab_format_size(NAN, s, sizeof(s)), "n/a");
    IS(lab_format_energy(59.86, s, sizeof(s)), "59.9 J");
    IS(lab_format_energy(0.01234, s, sizeof(s)), "12.3 mJ");
    IS(lab_format_energy(1234, s, sizeof(s)), "1.23 kJ");
    IS(lab_format_energy(0, s, sizeof(s)), "0 J");
    IS(lab_format_energy(NAN, s, sizeof(s)), "n/a");
    IS(lab_format_flop(20480, s, sizeof(s)), "20.5 kFLOP");
    IS(lab_format_flops(20480, 4352, s, sizeof(s)), "4.71 GFLOP/s");
    IS(lab_format_flops(20480, 0, s, sizeof(s)), "n/a");
    IS(lab_format_rate(NAN, 5, s, sizeof(s)), "n/a");
    IS(lab_format_rate(7296, 4352, s, sizeof(s)), "1.68 GB/s");
    IS(lab_format_share(0.981, s, sizeof(s)), "98.1 %");
    IS(lab_format_share(1, s, sizeof(s)), "100 %");
    IS(lab_format_int(1234567, s, sizeof(s)), "1,234,567");
    IS(lab_format_int(-1234, s, sizeof(s)), "-1,234");
    IS(lab_format_int(-123, s, sizeof(s)), "-123");
    IS(lab_format_int(LAB_UNKNOWN, s, sizeof(s)), "n/a");
    IS(lab_format_int(INT64_MAX, s, sizeof(s)), "9,223,372,036,854,775,807");
    IS(lab_format_span(200LL * 1000000000, s, sizeof(s)), "3 min 20 s");
    IS(lab_format_span(-1, s, sizeof(s)), "n/a");
    IS(lab_format_progress(120, 500, 5000000000, "it", s, sizeof(s)),
       "120/500, 24 it/s, 16 s left");
    IS(lab_format_progress(0, 500, 0, "it", s, sizeof(s)), "0/500");
    IS(lab_format_progress(10, 0, 1000000000, "it", s, sizeof(s)),
       "10, 10 it/s");
    IS(lab_format_value(0.1, 8, s, sizeof(s)), "0.1");
    IS(lab_format_value(-1.0 / 3, 8, s, sizeof(s)), "-0.33333");
    IS(lab_format_value(NAN, 8, s, sizeof(s)), "nan");
    IS(lab_format_value(-INFINITY, 8, s, sizeof(s)), "-inf");
    IS(lab_format_value(-NAN, 8, s, sizeof(s)), "nan");
    IS(lab_format_digits(2.0 / 3, 6, s, sizeof(s)), "0.666667");
    IS(lab_format_digits(-NAN, 6, s, sizeof(s)), "nan");
    IS(lab_format_digits(-INFINITY, 6, s, sizeof(s)), "-inf");
    for (double v = 1e-300; v < 1e300; v *= 77.7)
        assert_true(strlen(lab_format_value(-v, 8, s, sizeof(s))) <= 8);
    IS(lab_format_value(-0.0009, 6, s, sizeof(s)), "-9e-04");
    IS(lab_format_value(0.0009, 6, s, sizeof(s)), "0.0009");
    IS(lab_format_value(-0.0009, 7, s, sizeof(s)), "-0.0009");
    for (int width = 6; width < 10; width++) /* what fp32 has */
        for (double v = 1.4e-45; v < 3e38; v *= 1.37)
            assert_true(strlen(lab_format_value(-v, width, s, sizeof(s))) <=
                        (size_t)width);
}

/* Lines that end in one place still have their marks; after 9 come letters. */
TEST_CASE(signs_do_not_hide_each_other)
{
    const double low[] = {0, 0};
    const double high[] = {3, 3};
    struct lab_series s[11];
    struct lab_chart c = {
        .series = s, .count = 3, .y_min = NAN, .y_max = NAN, .unlisted = true};
    for (int k = 0; k < 11; k++)
        s[k] = (struct lab_series){NULL, k == 1 ? high : low, 2, "same",
                                   LAB_ROLE_SERIES_1};
    char *text = chart(&c, 6, 22, 0);
    assert_non_null(strstr(text, "⣀3⣀1"));
    assert_non_null(strstr(text, "⠉2\n"));
    lab_free(text);
    c.count = 11;
    text = chart(&c, 6, 60, 0);
    assert_non_null(strstr(text, "b⣀a⣀9"));
    lab_free(text);
    text = chart(&c, 6, 14, 0); /* no room is left to go to */
    assert_non_null(text);
    lab_free(text);
    assert_int_equal(lab_chart_sign(LAB_CHART_SERIES - 1), 'o');
}

/* An envelope takes no number. */
TEST_CASE(numbers_count_what_has_a_name)
{
    const double low[] = {0, 1};
    const double high[] = {3, 3};
    struct lab_series s[4] = {{NULL, low, 2, "loss", LAB_ROLE_SERIES_1},
                              {NULL, low, 2, NULL, LAB_ROLE_DIM},
                              {NULL, low, 2, NULL, LAB_ROLE_DIM},
                              {NULL, high, 2, "held", LAB_ROLE_SERIES_2}};
    struct lab_chart c = {.series = s, .count = 4, .y_min = NAN, .y_max = NAN};
    char *text = chart(&c, 7, 40, 0);
    assert_non_null(strstr(text, "1 loss 1  2 held 3\n"));
    assert_non_null(strstr(text, "⠉2\n"));
    assert_null(strchr(text, '4'));
    lab_free(text);
}

/* One count that leaves no row to the others is cut, and named. */
TEST_CASE(a_bar_far_above_the_others_is_cut)
{
    struct lab_canvas c;
    const double v[] = {90, 1, 2, 0, 1, 2, 0, 0, 0, 0, 0, 0};
    const double w[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 12};
    const struct lab_rect r = {0, 0, 3, 12};
    assert_ok(lab_canvas_init(&c, 3, 12, false));
    lab_histogram_draw(&c, r, v, 12, LAB_ROLE_NORMAL);
    char *dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "▲ 90, cut\n█ █  █\n███ ██\n");
    lab_free(dump);
    lab_canvas_clear(&c);
    lab_histogram_draw(&c, r, w, 12, LAB_ROLE_NORMAL);
    dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "   12, cut ▲\n         █ █\n         █▅█\n");
    lab_free(dump);
    lab_canvas_clear(&c);
    /* A count without room is cut, too, and writes over nothing. */
    const double many[] = {1, 0, 0, 0, 0, 1234567, 0, 0};
    lab_canvas_text(&c, 0, 10, 2, LAB_ROLE_NORMAL, "ab");
    lab_histogram_draw(&c, (struct lab_rect){0, 2, 3, 8}, many, 8,
                       LAB_ROLE_NORMAL);
    dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "  123… ▲  ab\n  █    █\n  █    █\n");
    lab_free(dump);
    lab_canvas_clear(&c);
    /* A third of the highest has a row: nothing is cut. */
    lab_histogram_draw(&c, r, (const double[]){9, 3}, 2, LAB_ROLE_NORMAL);
    dump = lab_canvas_dump(&c);
    assert_null(strstr(dump, "cut"));
    lab_free(dump);
    lab_canvas_release(&c);
}

/* Little is not nothing, and what is below zero goes to the other side. */
TEST_CASE(bars_begin_at_zero)
{
    static const struct {
        double value;
        double least;
        double most;
        const char *text;
        const char *ascii;
    } cases[] = {{1, 0, 1, "█████\n", "#####\n"},
                 {0.5, 0, 1, "██▌\n", "##+\n"},
                 {1e-9, 0, 1, "▏\n", "-\n"},
                 {7, 0, 1, "█████\n", "#####\n"},
                 {-1, 0, 1, "\n", "\n"},
                 {NAN, 0, 1, "\n", "\n"},
                 {1e-309, 0, 1e-309, "█████\n", "#####\n"},
                 {-1e-309, -1e-309, 1e-309, "██│\n", "##|\n"},
                 {0, 0, 0, "\n", "\n"},
                 {0, -1, 1, "  │\n", "  |\n"},
                 {1, -1, 1, "  │██\n", "  |##\n"},
                 {-0.75, -1, 1, "▐█│\n", "-#|\n"},
                 {-1e-9, -1, 1, " ▕│\n", " -|\n"},
                 /* The side with more has more columns, on one scale. */
                 {3, -1, 3, " │███\n", " |###\n"},
                 {-1, -1, 3, "█│\n", "#|\n"},
                 {1, -1e-9, 1, " │███\n", " |###\n"},
                 {-2, -4, 0, "  ██│\n", "  ##|\n"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int ascii = 0; ascii < 2; ascii++) {
            struct lab_canvas c;
            assert_ok(lab_canvas_init(&c, 1, 5, ascii));
            lab_bar_draw(&c, 0, 0, 5, cases[i].value, cases[i].least,
                         cases[i].most, LAB_ROLE_GOOD);
            char *text = lab_canvas_dump(&c);
            assert_string_equal(text, ascii ? cases[i].ascii : cases[i].text);
            lab_free(text);
            lab_canvas_release(&c);
        }
}

static bool marked(const char *dump, const char *text)
{
    if (!strstr(dump, text))
        print_error("no '%s' in:\n%s", text, dump);
    return strstr(dump, text) != NULL;
}

/* Marks at 1, 2 and 5 of a decade where there is room, the powers first; and
 * between the ends of the x axis. */
TEST_CASE(axes_have_marks_where_there_is_room)
{
    const double x[] = {100, 250, 40000};
    const double y[] = {30, 900, 40000};
    struct lab_series s = {x, y, 3, "rate", LAB_ROLE_SERIES_1};
    struct lab_chart c = {.x_name = "size",
                          .series = &s,
                          .count = 1,
                          .y_min = NAN,
                          .y_max = NAN,
                          .log_y = true,
                          .log_x = true};
    char *dump = chart(&c, 34, 90, 0);
    static const char *const want[] = {
        "  100┤",  "  1000┤",   " 10000┤", "   50┤",  "   200┤",
        "   500┤", " 2000┤",    "  5000┤", " 20000┤", " 100 ─",
        "┴ 500 ─", "┴ 10000 ─", " size "};
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
        assert_true(marked(dump, want[i]));
    lab_free(dump);
    /* A lower one keeps the powers of ten. */
    dump = chart(&c, 9, 90, 2);
    assert_true(marked(dump, "  100+") && marked(dump, " 1000+") &&
                marked(dump, "10000+"));
    lab_free(dump);
    /* Less than a factor of two: round numbers all the same. */
    const double near[] = {3100, 3300, 3900};
    s.y = near;
    c.log_x = false;
    dump = chart(&c, 12, 90, 0);
    assert_true(marked(dump, " 3200┤") && marked(dump, " 3600┤"));
    assert_true(marked(dump, "┴ 10000 ─") && marked(dump, "┴ 30000 ─"));
    lab_free(dump);
    /* Two charts of one training begin at the same x. */
    c.zero_x = true;
    dump = chart(&c, 12, 90, 0);
    assert_true(marked(dump, "└─ 0 ─"));
    lab_free(dump);
    c.zero_x = false;
    /* A plot of more rows than have marks: those below have none. */
    for (int h = 500; h < 900; h += 7)
        lab_free(chart(&c, h, 30, 0));
    /* Names, ends and marks of a narrow one do not run into each other. */
    dump = chart(&c, 12, 30, 0);
    assert_true(marked(dump, "└─ 100 ─ size ─ 40000"));
    lab_free(dump);
    /* One x alone: no other is named, and it is in the middle. */
    s.n = 1;
    for (int log = 0; log < 2; log++) {
        c.log_x = log;
        dump = chart(&c, 12, 50, 0);
        assert_true(marked(dump, "─ 100 ─"));
        assert_false(marked(dump, "└─ 100 ─"));
        assert_false(marked(dump, " 101 ") || marked(dump, " 126 "));
        lab_free(dump);
    }
}

/* Marks of a log axis that are as many rows apart have the same ratio: where
 * the powers of ten do not all fit, it is those of 100, of 1000 and so on. */
TEST_CASE(marks_of_a_log_axis_are_where_they_belong)
{
    double y[2] = {1, 3};
    struct lab_series s = {NULL, y, 2, "loss", LAB_ROLE_SERIES_1};
    struct lab_chart c = {
        .series = &s, .count = 1, .y_min = NAN, .y_max = NAN, .log_y = true};
    for (double decades = 3; decades < 12; decades += 0.25) {
        for (int h = 8; h < 30; h++) {
            y[0] = 3 * pow(10, -decades);
            char *dump = chart(&c, h, 40, h % 3);
            double before = 0;
            double ratio = 0;
            int marks = 0;
            for (char *line = dump; line; line = strchr(line, '\n')) {
                char *end = NULL;
                line += *line == '\n';
                double v = strtod(line, &end);
                if (line == dump || end == line || end != line + 8 ||
                    fabs(log10(v) - round(log10(v))) > 1e-6)
                    continue;
                if (ratio > 0 && fabs(log10(before / v) - ratio) > 1e-6)
                    fail_msg("%g after %g in:\n%s", v, before, dump);
                ratio = marks ? log10(before / v) : 0;
                before = v;
                marks++;
            }
            assert_true(marks > 0);
            lab_free(dump);
        }
    }
}

RUN_TESTS()
