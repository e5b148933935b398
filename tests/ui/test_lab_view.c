/* The lab's screen without a screen: layouts, words, pictures, sources. */
#include "test.h"

#include "base/mem.h"
#include "lab_fixture.h"
#include "lesson/lesson.h"
#include "ui/lab_chart.h"
#include "ui/views.h"
#include "bench/view_lab_priv.h"

static void apart(const struct lab_rect *parts, int n, struct lab_rect body)
{
    for (int i = 0; i < n; i++) {
        assert_true(lab_rect_empty(parts[i]) ||
                    lab_rect_inside(parts[i], body));
        for (int k = 0; k < i; k++)
            assert_false(lab_rect_overlap(parts[i], parts[k]));
    }
}

TEST_CASE(no_part_overlaps_another)
{
    for (int h = 0; h < 70; h++) {
        for (int w = 0; w < 220; w += 7) {
            for (int variants = 0; variants < 40; variants += 13) {
                struct lab_rect body = {1, 0, h, w};
                struct lab_bench_layout l = lab_bench_layout(
                    body, variants, variants, w & 1, variants % 6);
                const struct lab_rect parts[] = {l.facts, l.table,   l.words,
                                                 l.lower, l.bars,    l.rates,
                                                 l.slide, l.profile, l.kernel};
                apart(parts, 9, body);
            }
        }
    }
    struct lab_bench_layout l =
        lab_bench_layout((struct lab_rect){1, 0, 21, 80}, 4, 2, false, 0);
    assert_false(l.wide);
    assert_int_equal(l.table.h, 5);
    assert_true(l.lower.h >= 8);
    /* a ladder of twelve leaves a picture four rows of dots, or more */
    l = lab_bench_layout((struct lab_rect){1, 0, 21, 80}, 12, 2, false, 0);
    assert_int_equal(l.lower.h, 8);
    l = lab_bench_layout((struct lab_rect){1, 0, 21, 80}, 12, 2, true, 0);
    assert_true(l.lower.h >= 12 && l.table.h >= 4);
    l = lab_bench_layout((struct lab_rect){1, 0, 57, 200}, 10, 2, true, 0);
    assert_true(l.wide);
    assert_true(l.table.h == 11 && l.kernel.h > 30 && l.rates.h > 15);
    /* lanes are rows below the bars, which the rates give */
    struct lab_bench_layout with =
        lab_bench_layout((struct lab_rect){1, 0, 57, 200}, 10, 2, true, 5);
    assert_int_equal(with.bars.h, l.bars.h + 5);
    assert_int_equal(with.rates.h, l.rates.h - 5);
}

static struct lab_bench_result row_of(double rate, double median_ns,
                                      const char *bound)
{
    struct lab_bench_result r;
    lab_bench_result_init(&r);
    r.state = LAB_BENCH_DONE;
    r.rate = rate;
    r.median_ns = median_ns;
    r.bound = bound;
    return r;
}

TEST_CASE(how_far_off_a_prediction_was)
{
    char text[300];
    struct lab_prediction p;
    struct lab_bench_result r = row_of(4e12, 500, "compute");
    lab_prediction_init(&p);
    assert_false(lab_prediction_any(&p));
    assert_string_equal(
        lab_prediction_ratio_text(LAB_UNIT_FLOPS, &p, &r, text, sizeof(text)),
        "");
    p.rate = 2e12;
    p.bound = "memory";
    p.occupancy_pct = 50;
    assert_true(lab_prediction_any(&p));
    assert_string_equal(
        lab_prediction_ratio_text(LAB_UNIT_FLOPS, &p, &r, text, sizeof(text)),
        "2 times as fast as you predicted; bound by compute, you predicted "
        "memory; "
        "its occupancy is not known");
    /* Less time an item is faster. */
    r.rate = 4e-9;
    p.rate = 2e-9;
    assert_true(fabs(lab_prediction_ratio(LAB_UNIT_TIME, &p, &r) - 0.5) <
                1e-12);
    p.rate = NAN;
    p.time_ns = 510;
    r.occupancy_pct = 25;
    p.bound = "compute";
    assert_string_equal(
        lab_prediction_ratio_text(LAB_UNIT_FLOPS, &p, &r, text, sizeof(text)),
        "within 10 % of what you predicted; bound by compute, as you "
        "predicted; "
        "occupancy 25 %, you predicted 50 %");
    assert_string_equal(
        lab_prediction_ratio_short(LAB_UNIT_FLOPS, &p, &r, text, sizeof(text)),
        "1.02 x");
    r.state = LAB_BENCH_FAILED;
    assert_string_equal(
        lab_prediction_ratio_text(LAB_UNIT_FLOPS, &p, &r, text, sizeof(text)),
        "");
}

TEST_CASE(rates_in_their_unit)
{
    char text[64];
    struct lab_bench_data lab = {.unit = LAB_UNIT_FLOPS};
    assert_string_equal(lab_bench_rate_text(&lab, 8.2414e12, text, 64),
                        "8.241 TFLOP/s");
    lab.unit = LAB_UNIT_BYTES;
    assert_string_equal(lab_bench_rate_text(&lab, 999.99e9, text, 64),
                        "1 TB/s");
    lab.unit = LAB_UNIT_TIME;
    lab.item = "access";
    assert_string_equal(lab_bench_rate_text(&lab, 25e-9, text, 64),
                        "25 ns / access");
    assert_string_equal(lab_bench_rate_text(&lab, NAN, text, 64), "n/a");
}

/* Of 424 variants on an H200 21 are faster than their model. */
TEST_CASE(why_a_model_can_be_passed)
{
    const double bytes = 32;
    assert_null(lab_bench_model_passed(LAB_UNIT_BYTES, 0.9, 1, 4, 8));
    assert_null(lab_bench_model_passed(LAB_UNIT_BYTES, 1.01, 1, 4, 8));
    assert_null(lab_bench_model_passed(LAB_UNIT_BYTES, 9, NAN, 4, NAN));
    assert_null(lab_bench_model_passed(LAB_UNIT_BYTES, NAN, 1, 4, 8));
    /* gemv plain: a sector of 32 bytes for each number of 4 */
    assert_non_null(strstr(
        lab_bench_model_passed(LAB_UNIT_BYTES, 900, 525, bytes, 8 * bytes),
        "caches serve"));
    /* vector_add fours: as many bytes as the problem has */
    assert_non_null(
        strstr(lab_bench_model_passed(LAB_UNIT_BYTES, 1.03, 1, bytes, bytes),
               "mix of reads"));
    /* the same, 36 % faster: it is "bound by cache" */
    assert_non_null(
        strstr(lab_bench_model_passed(LAB_UNIT_BYTES, 1.36, 1, bytes, bytes),
               "caches serve"));
    assert_non_null(
        strstr(lab_bench_model_passed(LAB_UNIT_FLOPS, 20.9, 14.9, bytes, bytes),
               "counts each access"));
    /* times: less is faster */
    assert_null(lab_bench_model_passed(LAB_UNIT_TIME, 1.4, 1, NAN, NAN));
    assert_non_null(lab_bench_model_passed(LAB_UNIT_TIME, 1, 1.4, NAN, NAN));
}

/* A copy in memory does not bound what the caches serve. */
TEST_CASE(a_ceiling_that_is_passed_is_none)
{
    struct lab_bench_result rows[3];
    struct lab_bench_data lab = {.rows = rows, .row_count = 3};
    assert_null(lab_bench_ceiling_passed(LAB_UNIT_BYTES, 1.01));
    assert_null(lab_bench_ceiling_passed(LAB_UNIT_FLOPS, NAN));
    assert_non_null(strstr(lab_bench_ceiling_passed(LAB_UNIT_BYTES, 1.5),
                           "a copy is no ceiling at this size: caches serve"));
    assert_null(
        strstr(lab_bench_ceiling_passed(LAB_UNIT_BYTES, 1.5), "mix of reads"));
    assert_non_null(strstr(lab_bench_ceiling_passed(LAB_UNIT_BYTES, 1.03),
                           "this mix of reads and writes is faster"));
    assert_non_null(strstr(lab_bench_ceiling_passed(LAB_UNIT_FLOPS, 1.5),
                           "what was measured is no ceiling"));
    for (int i = 0; i < 3; i++) {
        rows[i] = row_of(1, 1, NULL);
        rows[i].set = 1;
        rows[i].size_index = i == 1;
        rows[i].share = i ? 1.5 : 0.9;
        rows[i].rate = (i < 2 ? 60 : 500) * rows[i].share;
    }
    const double fp32 = lab_bench_row_ceiling(&rows[0]);
    const double tensor = lab_bench_row_ceiling(&rows[2]);
    assert_float_equal(fp32, 60, 1e-9);
    assert_float_equal(tensor, 500, 1e-9);
    assert_false(lab_bench_ceiling_beaten(&lab, 1, 0, fp32));
    assert_true(lab_bench_ceiling_beaten(&lab, 1, 1, fp32));
    assert_true(lab_bench_ceiling_beaten(&lab, 1, -1, fp32));
    assert_false(lab_bench_ceiling_beaten(&lab, 0, -1, fp32));
    /* Of another precision: its own variant alone passes it. */
    assert_true(lab_bench_ceiling_beaten(&lab, 1, 0, tensor));
    assert_false(lab_bench_ceiling_beaten(&lab, 1, 1, tensor));
    rows[2].share = NAN;
    assert_false(lab_bench_ceiling_beaten(&lab, 1, 0, tensor));
    assert_true(isnan(lab_bench_row_ceiling(&rows[2])));
}

/* A library is no variant to climb over. */
TEST_CASE(gains_are_over_the_last_own_variant)
{
    struct lab_bench_result rows[5];
    struct lab_bench_data lab = {.rows = rows, .row_count = 5};
    for (int i = 0; i < 5; i++) {
        rows[i] = row_of(1, 1, NULL);
        rows[i].size_index = 0;
    }
    rows[2].library = true;
    rows[3].state = LAB_BENCH_FAILED;
    assert_null(lab_bench_gain_over(&lab, &rows[0]));
    assert_ptr_equal(lab_bench_gain_over(&lab, &rows[2]), &rows[1]);
    assert_ptr_equal(lab_bench_gain_over(&lab, &rows[4]), &rows[1]);
    rows[1].size_index = 1; /* another size */
    assert_ptr_equal(lab_bench_gain_over(&lab, &rows[4]), &rows[0]);
}

TEST_CASE(the_kernel_of_a_variant_is_found)
{
    static const char text[] = "int first(int a)\n{\n    return a;\n}\n"
                               "__global__ void sum_tree(float *x)\n{\n}\n"
                               "__global__ void sum_tree_large(float *x)\n{\n"
                               "}\n"
                               "int lab_sum_tree(int n)\n{\n    return n;\n}\n";
    char name[96];
    assert_int_equal(
        lab_bench_kernel_find(text, sizeof(text) - 1, NULL, "tree", name, 96),
        5);
    assert_string_equal(name, "sum_tree");
    assert_int_equal(lab_bench_kernel_find(text, sizeof(text) - 1, NULL,
                                           "tree_large", name, 96),
                     8);
    /* Its symbol goes before its name. */
    assert_int_equal(lab_bench_kernel_find(text, sizeof(text) - 1, "sum_tree",
                                           "tree_large", name, 96),
                     5);
    assert_string_equal(name, "sum_tree");
    /* Nothing like it: the first function; no function: the first line. */
    assert_int_equal(
        lab_bench_kernel_find(text, sizeof(text) - 1, NULL, "cublas", name, 96),
        1);
    assert_string_equal(name, "first");
    assert_int_equal(
        lab_bench_kernel_find("/* */\n", 6, NULL, "tree", name, 96), 1);
    assert_string_equal(name, "");
}

static char *drawn(const struct lab_bench_chart *chart, bool rates, int h,
                   int w, bool ascii)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, h, w, ascii));
    struct lab_rect r = {0, 0, h, w};
    if (rates)
        lab_bench_rates_draw(&c, r, chart);
    else
        lab_bench_bars_draw(&c, r, chart);
    char *text = lab_canvas_dump(&c);
    lab_canvas_release(&c);
    assert_non_null(text);
    return text;
}

TEST_CASE(a_bar_is_found)
{
    struct lab_bench_data lab;
    fixture_lab();
    fixture_lab_finish();
    assert_ok(fixture_lab_data(&lab));
    const struct lab_bench_chart chart = {
        .lab = &lab, .set = 1, .size = 5, .chosen = 36};
    const struct lab_rect r = {0, 0, 5, 100}; /* fewer rows than variants */
    char *text = drawn(&chart, false, r.h, r.w, true);
    char *line = text;
    for (int y = 0; y < r.h; y++) {
        int64_t row = lab_bench_bars_find(r, &chart, y);
        line[strcspn(line, "\n")] = '\0';
        assert_true(y == 0 ? row < 0 : row >= 0);
        if (y > 0)
            assert_ptr_equal(strstr(line, lab.rows[row].variant), line + 1);
        line += strlen(line) + 1;
    }
    assert_true(lab_bench_bars_find(r, &chart, r.h) < 0);
    lab_free(text);
    lab_bench_data_release(&lab);
}

TEST_CASE(pictures_at_every_size)
{
    struct lab_bench_data lab;
    fixture_lab();
    fixture_lab_finish();
    assert_ok(fixture_lab_data(&lab));
    struct lab_bench_chart chart = {
        .lab = &lab, .set = 1, .size = 5, .chosen = 36};
    for (int h = 0; h < 30; h += 3) {
        for (int w = 1; w < 130; w += 8) {
            for (int k = 0; k < 4; k++) {
                chart.log = k & 1;
                char *text = drawn(&chart, k & 2, h + 1, w, true);
                for (const char *p = text; *p; p++)
                    assert_true((unsigned char)*p < 0x80);
                lab_free(text);
            }
        }
    }
    /* The chosen variant stays in sight where not all fit. */
    char *text = drawn(&chart, false, 4, 80, false);
    assert_non_null(strstr(text, lab.rows[36].variant));
    lab_free(text);
    /* A refused variant has a word instead of a bar. */
    chart = (struct lab_bench_chart){
        .lab = &lab, .set = 0, .size = 2, .chosen = -1};
    text = drawn(&chart, false, 8, 80, false);
    assert_non_null(strstr(text, "failed"));
    lab_free(text);
    lab_bench_data_release(&lab);
}

/* `h`: rows below the heading. */
static void draws(const struct lab_bench_chart *chart, int h, int w,
                  const char *with, const char *without)
{
    char *text = drawn(chart, true, h + 1, w, false);
    if (!strstr(text, with) || strstr(text, without))
        fail_msg("%d x %d: '%s', without '%s', is not:\n%s", w, h, with,
                 without, text);
    lab_free(text);
}

/* Of the recorded set at its sixth size, its row 34 chosen. */
static struct lab_bench_chart recorded_chart(struct lab_bench_data *lab)
{
    fixture_lab();
    fixture_lab_finish();
    assert_ok(fixture_lab_data(lab));
    return (struct lab_bench_chart){
        .lab = lab, .set = 1, .size = 5, .chosen = 34, .log = true};
}

/* Sizes of the course's figures that another recorded run of the device has go on the
 * lines of the one that is shown; those of another device do not. */
TEST_CASE(sizes_of_other_recorded_runs_are_in_the_picture)
{
    struct lab_bench_data lab;
    struct lab_bench_chart chart = recorded_chart(&lab);
    struct lab_bench_slide *s = &lab.slides[0];
    s->x = 100000;
    s->recorded.state = LAB_BENCH_DONE;
    s->recorded.variant = lab.rows[34].variant;
    s->recorded.precision = lab.rows[34].precision;
    s->recorded.rate = 5e15;
    draws(&chart, 20, 119, "50000┤", "5000000┤");
    snprintf(s->recorded_device, sizeof(s->recorded_device), "%s",
             lab.sets[1].device);
    draws(&chart, 20, 119, "5000000┤", "none");
    chart.set = 0; /* there as the best of the other set */
    chart.chosen = -1;
    draws(&chart, 20, 119, "5000000┤", "none");
    lab_bench_data_release(&lab);
}

/* Twelve lines in nine rows are one grey band. */
TEST_CASE(small_pictures_have_the_lines_that_matter)
{
    struct lab_bench_data lab;
    struct lab_bench_chart chart = recorded_chart(&lab);
    assert_string_equal(lab.rows[34].variant, "tile");
    draws(&chart, 12, 80, "1 tile  2 wide  3 cublas  4 ceiling", "slide");
    draws(&chart, 12, 80, "4 ceiling", "5 ");
    draws(&chart, 16, 80, "4 best of CPU  5 slide", "coalesced");
    /* in the table's order, so that a sign is the row's number there */
    draws(&chart, 20, 119, "1 naive  2 coalesced  3 tile  4 thread_1d", "none");
    draws(&chart, 20, 119, "9 wide  a cublas  b best of CPU", "none");
    /* a variant of several precisions is several lines */
    lab.rows[33].precision = "bf16";
    draws(&chart, 12, 80, "1 tile fp32  2 wide fp32", "1 tile  2");
    lab_bench_data_release(&lab);
}

/* The role of the cell where a text of ASCII begins. */
static int role_at(const struct lab_canvas *c, const char *text)
{
    const int n = (int)strlen(text);
    for (int i = 0; i + n <= c->h * c->w; i++) {
        int same = 0;
        while (same < n && c->cells[i + same].text[0] == text[same])
            same++;
        if (same == n)
            return c->cells[i].role;
    }
    fail_msg("'%s' is not there", text);
    return -1;
}

/* A variant has one colour in bars and rates; a line that is no variant's has another. */
TEST_CASE(colours_of_bars_are_those_of_their_lines)
{
    static const char *const variants[] = {"1 tile", "2 wide", "3 cublas"};
    struct lab_bench_data lab;
    struct lab_bench_chart chart = recorded_chart(&lab);
    struct lab_canvas rates;
    struct lab_canvas bars;
    assert_ok(lab_canvas_init(&rates, 17, 80, true));
    assert_ok(lab_canvas_init(&bars, 30, 80, true));
    lab_bench_rates_draw(&rates, (struct lab_rect){0, 0, 17, 80}, &chart);
    lab_bench_bars_draw(&bars, (struct lab_rect){0, 0, 30, 80}, &chart);
    const int other = role_at(&rates, "4 best of CPU");
    for (int i = 0; i < 3; i++) {
        const int role = role_at(&rates, variants[i]);
        bool drawn_so = false;
        for (int y = 0; y < bars.h; y++) {
            const struct lab_cell *row = &bars.cells[y * bars.w];
            const char *name = variants[i] + 2;
            bool mine = true;
            for (int x = 0; name[x] && mine; x++)
                mine = row[1 + x].text[0] == name[x];
            for (int x = 0; x < bars.w && mine; x++)
                drawn_so = drawn_so || row[x].role == role;
        }
        assert_true(drawn_so);
        assert_int_not_equal(role, other);
        assert_int_not_equal(role, role_at(&rates, "5 slide"));
    }
    assert_int_not_equal(other, role_at(&rates, "5 slide"));
    lab_canvas_release(&rates);
    lab_canvas_release(&bars);
    lab_bench_data_release(&lab);
}

/* ---- what runs beside what ---- */

static struct lab_bench_result overlapped(const char *variant, const char *note)
{
    return (struct lab_bench_result){.state = LAB_BENCH_DONE,
                                     .variant = variant,
                                     .note = note,
                                     .median_ns = 5e6};
}

/* In k parts: a k-th of all three, and k - 1 of k of the longest. */
TEST_CASE(lanes_follow_the_lessons_formula)
{
    static const char note[] =
        "alone: in 1.200 + kernel 2.400 + out 0.800 ms; together 0 ms by the "
        "model";
    static const int parts[] = {1, 2, 4, 8};
    static const char *const names[] = {"pinned", "streams_2", "streams_4",
                                        "streams_8"};
    for (int i = 0; i < 4; i++) {
        struct lab_bench_result r = overlapped(names[i], note);
        struct lab_bench_lanes l;
        double k = parts[i];
        assert_true(lab_bench_lanes(&r, &l));
        assert_int_equal(l.parts, parts[i]);
        assert_true(fabs(l.ms - (4.4 / k + (k - 1) * 2.4 / k)) < 1e-9);
        for (int p = 0; p < l.parts; p++) {
            assert_true(l.begin_ms[LAB_LANE_KERNEL][p] >=
                        l.end_ms[LAB_LANE_IN][p]);
            assert_true(l.begin_ms[LAB_LANE_OUT][p] >=
                        l.end_ms[LAB_LANE_KERNEL][p]);
            for (int lane = 0; lane < LAB_LANES && p > 0; lane++)
                assert_true(l.begin_ms[lane][p] >= l.end_ms[lane][p - 1]);
        }
    }
}

TEST_CASE(other_rows_have_no_lanes)
{
    struct lab_bench_lanes l;
    struct lab_bench_result r = overlapped("streams_2", NULL);
    assert_false(lab_bench_lanes(&r, &l));
    r.note = "algorithm 3";
    assert_false(lab_bench_lanes(&r, &l));
    r = overlapped("streams_9", "alone: in 1 + kernel 1 + out 1 ms");
    assert_false(lab_bench_lanes(&r, &l));
    r = overlapped("pinned", "alone: in 0 + kernel 0 + out 0 ms");
    assert_false(lab_bench_lanes(&r, &l));
    r = overlapped("pinned", "alone: in 1 + kernel nan + out 1 ms");
    assert_false(lab_bench_lanes(&r, &l));
    r = overlapped("pinned", "alone: in 1 + kernel 1 + out 1 ms");
    r.state = LAB_BENCH_FAILED;
    assert_false(lab_bench_lanes(&r, &l));
}

TEST_CASE(lanes_are_below_the_bars)
{
    struct lab_bench_data lab;
    fixture_lab();
    fixture_lab_finish();
    assert_ok(fixture_lab_data(&lab));
    struct lab_bench_chart chart = {
        .lab = &lab, .set = 1, .size = 5, .chosen = 36};
    lab.rows[36].variant = "streams_2";
    lab.rows[36].note = "alone: in 1.000 + kernel 1.000 + out 1.000 ms";
    char *text = drawn(&chart, false, 24, 50, true);
    assert_non_null(
        strstr(text, " streams_2, 2 parts: 0 to 2.00 ms by each lane"));
    assert_non_null(strstr(text, " copy in  11111111112222222222.........."));
    assert_non_null(strstr(text, " kernel   ..........11111111112222222222"));
    assert_non_null(strstr(text, " copy out ....................1111111111"));
    lab_free(text);
    /* A kernel that is shorter than a cell keeps one. */
    lab.rows[36].note = "alone: in 1.000 + kernel 0.002 + out 1.000 ms";
    text = drawn(&chart, false, 24, 50, true);
    const char *lane = strstr(text, " kernel   .");
    assert_non_null(lane);
    assert_int_equal(strcspn(lane, "1"), 10 + 13);
    assert_int_equal(strcspn(lane, "2"), 10 + 26);
    lab_free(text);
    assert_int_equal(lab_bench_lanes_rows(&chart), 5);
    lab.rows[36].note = NULL;
    assert_int_equal(lab_bench_lanes_rows(&chart), 0);
    lab.rows[36].note = "alone: in 1.000 + kernel 0.002 + out 1.000 ms";
    /* The words first go without room, then the lanes; the bars stay. */
    text = drawn(&chart, false, 9, 50, true);
    assert_null(strstr(text, "copy in"));
    lab_free(text);
    lab_bench_data_release(&lab);
}

/* What was recorded elsewhere is not this machine's. */
TEST_CASE(our_figure_names_its_run)
{
    const struct lab_lesson_slide course = {.label = "np.dot",
                                            .machine = "its CPU",
                                            .size = "6000",
                                            .unit = "GFLOP/s",
                                            .value = 71.65};
    struct lab_bench_slide s = {.course = &course,
                                .here = "30 GFLOP/s (openblas)"};
    char text[400];
    assert_string_equal(lab_bench_slide_text(&s, text, sizeof(text)),
                        "np.dot at 6000: slide, its CPU: 71.65 GFLOP/s; this "
                        "machine: 30 GFLOP/s (openblas)");
    snprintf(s.recorded_on, sizeof(s.recorded_on), "NVIDIA H200");
    assert_non_null(strstr(lab_bench_slide_text(&s, text, sizeof(text)),
                           "; recorded on NVIDIA H200: 30 GFLOP/s (openblas)"));
}

TEST_CASE(pictures_for_a_pipe)
{
    struct lab_bench_data lab;
    struct lab_str text;
    fixture_lab();
    fixture_lab_finish();
    assert_ok(fixture_lab_data(&lab));
    lab_str_init(&text);
    assert_ok(lab_bench_chart_text(&lab, 1, 100, true, &text));
    assert_non_null(strstr(lab_str_text(&text), "size 4096"));
    assert_non_null(strstr(lab_str_text(&text), "GFLOP/s against the size"));
    assert_non_null(strstr(lab_str_text(&text), "slide, a GPU of 2020"));
    assert_non_null(strstr(lab_str_text(&text), "ceiling"));
    for (const char *p = lab_str_text(&text); *p; p++)
        assert_true((unsigned char)*p < 0x80);
    lab_str_release(&text);
    lab_bench_data_release(&lab);
}

TEST_CASE(the_keys_have_names)
{
    assert_ok(lab_keymap_check(lab_view_lab.bindings));
}

/* Of the fastest library row of the same precision; where there is none, and of
 * a row that failed, nothing. */
TEST_CASE(what_a_row_is_of_the_library)
{
    static const struct {
        const char *precision;
        bool library;
        double ns;
        int size;
        double share;
    } all[] = {{"fp32", false, 400, 0, 0.25}, {"fp32", true, 200, 0, 0.5},
               {"fp32", true, 100, 0, 1},     {"bf16", false, 50, 0, NAN},
               {"fp64", false, 800, 0, 0.5},  {"fp64", true, 400, 0, 1},
               {"bf16", true, 25, 1, NAN}};
    enum { ROWS = sizeof(all) / sizeof(all[0]) };
    struct lab_bench_result rows[ROWS + 1];
    struct lab_bench_data lab;
    lab_bench_data_init(&lab);
    for (int i = 0; i <= ROWS; i++) {
        lab_bench_result_init(&rows[i]);
        rows[i].precision = i < ROWS ? all[i].precision : "fp32";
        rows[i].library = i == ROWS || all[i].library;
        rows[i].size_index = i < ROWS ? all[i].size : 0;
        rows[i].median_ns = i < ROWS ? all[i].ns : 1;
        rows[i].state = i < ROWS ? LAB_BENCH_DONE : LAB_BENCH_FAILED;
    }
    lab.rows = rows;
    lab.row_count = ROWS + 1;
    lab_bench_relate(&lab, 0);
    for (int i = 0; i < ROWS; i++) {
        if (isnan(all[i].share))
            assert_true(isnan(rows[i].of_library));
        else
            assert_true(rows[i].of_library == all[i].share);
    }
    assert_true(isnan(rows[ROWS].of_library));
}

RUN_TESTS()
