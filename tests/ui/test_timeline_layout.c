/* Where a timeline is, what part of the time it shows, and its axis. */
#include "test.h"

#include "timeline/timeline_layout.h"

TEST_CASE(parts_do_not_overlap)
{
    for (int h = 0; h < 70; h++)
        for (int w = 0; w < 210; w += 7)
            for (int64_t listed = 0; listed < 60; listed += 19) {
                struct lab_rect body = {1, 0, h, w};
                struct lab_timeline_layout l =
                    lab_timeline_place(body, 3, 9, 21, listed, w % 2);
                const struct lab_rect r[] = {l.summary, l.axis, l.labels,
                                             l.lanes,   l.list, l.details};
                for (int i = 0; i < 6; i++) {
                    assert_true(lab_rect_inside(r[i], body));
                    for (int k = 0; k < i; k++)
                        assert_false(lab_rect_overlap(r[i], r[k]));
                }
                if (h >= 20 && w >= 60)
                    assert_true(l.lanes.h >= 2 && l.lanes.w >= 30);
                if (h >= 20 && w % 2 && listed)
                    assert_true(l.list.h >= 4);
            }
}

TEST_CASE(windows_stay_in_their_bounds)
{
    struct lab_time_window w = {0, 0, 1000, 9000};
    lab_window_fit(&w);
    assert_int_equal(w.from, 1000);
    assert_int_equal(w.to, 9000);
    lab_window_zoom(&w, 3000, 1, 2);
    assert_int_equal(w.to - w.from, 4000);
    /* The centre was at a quarter, and is there still. */
    assert_int_equal(w.from, 2000);
    lab_window_pan(&w, 1, 4);
    assert_int_equal(w.from, 3000);
    lab_window_pan(&w, 5, 1);
    assert_int_equal(w.to, 9000);
    lab_window_pan(&w, -9, 1);
    assert_int_equal(w.from, 1000);
    assert_int_equal(w.to, 5000);
    lab_window_show(&w, 6000, 6100);
    assert_int_equal(w.from, 4050);
    lab_window_show(&w, 4100, 4200); /* in sight: nothing moves */
    assert_int_equal(w.from, 4050);
    for (int i = 0; i < 40; i++)
        lab_window_zoom(&w, 5000, 1, 2);
    assert_true(w.to - w.from >= 1 && w.to > w.from);
    for (int i = 0; i < 40; i++)
        lab_window_zoom(&w, 5000, 2, 1);
    assert_int_equal(w.from, 1000);
    assert_int_equal(w.to, 9000);
}

TEST_CASE(ticks_have_round_numbers_and_room)
{
    char text[LAB_TICK_BYTES];
    for (int64_t span = 20; span < INT64_C(4000000000000); span = span * 7 / 2)
        for (int columns = 20; columns < 200; columns += 31) {
            struct lab_time_window w = {1000, 1000 + span, 0, 2 * span};
            int64_t step = lab_tick_step(&w, 0, columns);
            int64_t lead = step;
            while (lead % 10 == 0)
                lead /= 10;
            assert_true(lead == 1 || lead == 2 || lead == 5);
            double room = (double)step / (double)span * columns;
            lab_tick_text((1000 + span) / step * step, step, text);
            assert_true(strlen(text) + 1 < room + 1e-6);
        }
    assert_string_equal(lab_tick_text(0, 500, text), "0");
    assert_string_equal(lab_tick_text(1500, 500, text), "1500 ns");
    assert_string_equal(lab_tick_text(20000, 5000, text), "20 us");
    assert_string_equal(lab_tick_text(3000000000, 1000000000, text), "3 s");
}

TEST_CASE(spans_are_cut_at_the_edges)
{
    const struct lab_time_window w = {1000, 2000, 0, 5000};
    struct lab_span s = {.start_ns = 900, .end_ns = 1100};
    int a;
    int b;
    assert_true(lab_span_columns(&s, &w, 10, &a, &b));
    assert_int_equal(a, 0);
    assert_int_equal(b, 0);
    s = (struct lab_span){.start_ns = 1950, .end_ns = 4000};
    assert_true(lab_span_columns(&s, &w, 10, &a, &b));
    assert_int_equal(a, 9);
    assert_int_equal(b, 9);
    s = (struct lab_span){.start_ns = 0, .end_ns = 5000};
    assert_true(lab_span_columns(&s, &w, 10, &a, &b));
    assert_int_equal(a, 0);
    assert_int_equal(b, 9);
    s = (struct lab_span){.start_ns = 2000, .end_ns = 3000};
    assert_false(lab_span_columns(&s, &w, 10, &a, &b));
    s = (struct lab_span){.start_ns = 500, .end_ns = 1000};
    assert_false(lab_span_columns(&s, &w, 10, &a, &b));
    s = (struct lab_span){.start_ns = LAB_UNKNOWN, .end_ns = LAB_UNKNOWN};
    assert_false(lab_span_columns(&s, &w, 10, &a, &b));
}

RUN_TESTS()
