/* Where the parts of a roofline's picture stand. */
#include "test.h"

#include "base/mem.h"
#include "roofline_fixture.h"
#include "ui/roof_plot.h"

enum { MOST = 128 };

static int64_t all[MOST];

static struct lab_roof_list list_of(const struct lab_roofline *line)
{
    assert_true(line->count <= MOST);
    for (size_t i = 0; i < line->count; i++)
        all[i] = (int64_t)i;
    return (struct lab_roof_list){line, all, (int64_t)line->count};
}

static struct lab_roofline line_of(int64_t run)
{
    const struct lab_roofline *line;
    struct lab_str note;
    lab_str_init(&note);
    assert_ok(fixture_roofline(NULL, run, &line, &note));
    lab_str_release(&note);
    return *line;
}

TEST_CASE(parts_never_overlap)
{
    for (int h = 0; h < 80; h++) {
        for (int w = 0; w < 260; w += 3) {
            struct lab_rect body = {2, 1, h, w};
            struct lab_roof_layout l = lab_roof_layout(body);
            assert_true(lab_rect_inside(l.picture, body));
            assert_true(lab_rect_inside(l.list, body));
            assert_true(lab_rect_inside(l.words, body));
            assert_false(lab_rect_overlap(l.picture, l.list));
            assert_false(lab_rect_overlap(l.picture, l.words));
            assert_false(lab_rect_overlap(l.list, l.words));
            if (h >= 21 && w >= 80)
                assert_true(l.picture.h >= 9 && l.list.h >= 5 &&
                            l.words.h >= 5);
        }
    }
}

TEST_CASE(labels_are_unique)
{
    bool seen[256] = {false};
    for (int64_t i = 0; i < 61; i++) {
        unsigned char c = (unsigned char)lab_roof_label(i);
        assert_false(seen[c]);
        seen[c] = true;
    }
    assert_int_equal(lab_roof_label(0), '1');
    assert_int_equal(lab_roof_label(9), 'a');
    assert_int_equal(lab_roof_label(61), '*');
    assert_int_equal(lab_roof_label(-1), '*');
    assert_false(seen['*']);
}

TEST_CASE(everything_is_in_sight)
{
    struct lab_roofline line = line_of(12);
    struct lab_roof_axes a;
    int y;
    int x;
    int shown = 0;
    struct lab_roof_list list = list_of(&line);
    assert_true(lab_roof_axes_fit(&a, &list, (struct lab_rect){3, 6, 9, 70}));
    assert_true(a.x0 == floor(a.x0) && a.y1 == ceil(a.y1));
    for (int64_t i = 0; i < list.count; i++) {
        const struct lab_roofline_point *p = &line.rows[i].point;
        if (!lab_roof_has_place(p))
            continue;
        shown++;
        assert_true(lab_roof_cell(&a, p->intensity, p->flop_s, &y, &x));
        assert_true(lab_rect_has(a.plot, y, x));
    }
    assert_int_equal(shown, 4);
    /* the ridges of all roofs, with the memory's */
    int roofs = 0;
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        if (i == LAB_CEILING_COPY || isnan(line.per_s[i]))
            continue;
        roofs++;
        assert_true(lab_roof_cell(&a,
                                  line.per_s[i] / line.per_s[LAB_CEILING_COPY],
                                  line.per_s[i], &y, &x));
    }
    assert_int_equal(roofs, 4);
    /* further right and higher is right and up */
    int y2;
    int x2;
    assert_true(lab_roof_cell(&a, 1, 1e10, &y, &x));
    assert_true(lab_roof_cell(&a, 100, 1e13, &y2, &x2));
    assert_true(y2 < y && x2 > x);
    assert_false(lab_roof_cell(&a, NAN, 1e10, &y, &x));
    assert_false(lab_roof_cell(&a, 1, 0, &y, &x));
    assert_false(lab_roof_cell(&a, 1e300, 1e300, &y, &x));
}

TEST_CASE(nothing_has_no_axes)
{
    struct lab_roofline line = line_of(9);
    struct lab_roof_axes a;
    line.count = 0;
    struct lab_roof_list list = list_of(&line);
    assert_false(lab_roof_axes_fit(&a, &list, (struct lab_rect){0, 0, 9, 70}));
    /* the memory's roof alone is enough */
    line = line_of(11);
    line.per_s[LAB_CEILING_FP32] = NAN;
    line.count = 0;
    list = list_of(&line);
    assert_true(lab_roof_axes_fit(&a, &list, (struct lab_rect){0, 0, 9, 70}));
}

/* Rows that hold the text, of the drawing at this size. */
static int rows_with(const struct lab_roofline *line, bool ascii, int h, int w,
                     int64_t chosen, const char *text)
{
    struct lab_canvas c;
    int rows = 0;
    assert_ok(lab_canvas_init(&c, h, w, ascii));
    struct lab_roof_list list = list_of(line);
    lab_roof_plot_draw(&c, (struct lab_rect){0, 0, h, w}, &list, chosen);
    char *dump = lab_canvas_dump(&c);
    for (const char *p = dump; p && *p;) {
        size_t n = strcspn(p, "\n");
        char row[4096];
        snprintf(row, sizeof(row), "%.*s", (int)n, p);
        rows += strstr(row, text) != NULL;
        p += n + (p[n] == '\n');
    }
    lab_free(dump);
    lab_canvas_release(&c);
    return rows;
}

TEST_CASE(the_chosen_one_is_marked_without_colour)
{
    struct lab_roofline line = line_of(12);
    for (int ascii = 0; ascii < 2; ascii++) {
        assert_int_equal(
            rows_with(&line, ascii, 20, 90, 2, ascii ? ">::3" : ">▒▒3"), 1);
        assert_int_equal(rows_with(&line, ascii, 20, 90, 0, ">1<"), 1);
        assert_int_equal(
            rows_with(&line, ascii, 20, 90, 0, "fc1.matmul 4.35 us, <0.1 %"),
            1);
        assert_int_equal(rows_with(&line, ascii, 20, 90, -1, "<"), 0);
        assert_int_equal(rows_with(&line, ascii, 20, 90, 4, ">5<"), 0);
        assert_int_equal(rows_with(&line, ascii, 20, 90, 2, "copy 4.26 TB/s"),
                         1);
        assert_int_equal(rows_with(&line, ascii, 20, 90, 2, "tf32 382"), 1);
        assert_int_equal(rows_with(&line, ascii, 20, 90, 2, "FLOP/byte"), 1);
    }
}

/* As wide as the points of that picture are. */
TEST_CASE(sizes_have_a_legend)
{
    struct lab_roofline line = line_of(12);
    assert_int_equal(rows_with(&line, false, 50, 110, -1,
                               "▒▒▒▒▒▒▒▒▒ 30 % ▒▒▒▒▒ 10 % ▒▒▒ 3 % "
                               "▒ less of the time"),
                     1);
    assert_int_equal(
        rows_with(&line, true, 16, 110, -1, "::::::: 30 % ::::: 10 %"), 1);
    assert_int_equal(rows_with(&line, false, 10, 110, -1, "30 %"), 0);
    assert_int_equal(rows_with(&line, false, 50, 60, -1, "30 %"), 0);
}

/* No point is so near a name that it reads as a part of it. */
TEST_CASE(names_and_points_keep_apart)
{
    struct lab_roofline line = line_of(11); /* copy and fp32 */
    struct lab_roofline_row row = line.rows[3];
    line.rows = &row;
    line.count = 1;
    for (double i = 0.5; i < 1e3; i *= 1.3) {
        row.point.intensity = i;
        row.point.flop_s = 51e12;
        assert_int_equal(rows_with(&line, false, 12, 80, -1, "51.2 TFLOP/s"),
                         1);
    }
}

TEST_CASE(every_size_and_any_number_is_drawn)
{
    static const double odd[] = {NAN, INFINITY, -1, 0, 1e-300, 1e300, 5};
    struct lab_roofline line = line_of(12);
    struct lab_roofline_row rows[7];
    for (int h = 0; h < 40; h += 3)
        for (int w = 0; w < 200; w += 11)
            rows_with(&line, h % 2 == 0, h, w, w % 7 - 1, "x");
    for (int i = 0; i < 7; i++) {
        rows[i] = line.rows[0];
        struct lab_roofline_point *p = &rows[i].point;
        p->intensity = odd[i];
        p->flop_s = odd[6 - i];
        p->allowed_flop_s = p->counted_intensity = odd[(i + 3) % 7];
    }
    line = line_of(9);
    line.rows = rows;
    line.count = 7;
    for (int roofs = 0; roofs <= 2; roofs++) {
        if (roofs > 0)
            line.per_s[LAB_CEILING_COPY] = 1e300;
        if (roofs > 1)
            line.per_s[LAB_CEILING_FP32] = 1e-300;
        for (int64_t chosen = -1; chosen < 7; chosen++)
            rows_with(&line, false, 12, 60, chosen, "x");
    }
}

RUN_TESTS()
