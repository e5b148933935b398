/* timeline_layout.h -- where a timeline is on the screen, and what part of
 * the time it shows: pure functions. */
#pragma once
#include "store/timeline.h"
#include "ui/layout.h"

/* What is in sight, inside what there is. Nanoseconds; bounds known. */
struct lab_time_window {
    int64_t from;
    int64_t to;
    int64_t least; /* the bounds */
    int64_t most;
};

struct lab_timeline_layout {
    struct lab_rect summary;
    struct lab_rect axis;    /* two lines: times, and what is chosen */
    struct lab_rect labels;  /* the lanes' names ... */
    struct lab_rect lanes;   /* ... and their spans */
    struct lab_rect list;    /* the kernels of a step */
    struct lab_rect details; /* of the chosen span */
};

/* One column of a lane. */
struct lab_lane_column {
    double share; /* of its time that is covered by narrow spans */
    int32_t span; /* the first of them; -1: none */
};

enum { LAB_TICK_BYTES = 32, LAB_SPAN_WIDE = 4 };

LAB_C_BEGIN
/* `listed` rows are wanted below the lanes (0: no list), and get what the lanes
 * leave; when they `must` be seen the lanes give way. */
struct lab_timeline_layout lab_timeline_place(struct lab_rect body, int summary,
                                              int32_t lanes, int label_w,
                                              int64_t listed, bool must);

void lab_window_fit(struct lab_time_window *w);
/* To num/den of what it shows, around `centre`; never beyond the bounds. */
void lab_window_zoom(struct lab_time_window *w, int64_t centre, int num,
                     int den);
/* By num/den of what it shows; negative: to earlier times. */
void lab_window_pan(struct lab_time_window *w, int num, int den);
/* So that it shows [from, to], with its width where that is enough. */
void lab_window_show(struct lab_time_window *w, int64_t from, int64_t to);

/* The distance of marks on the axis: 1, 2 or 5 times a power of ten, so that
 * their texts do not touch. */
int64_t lab_tick_step(const struct lab_time_window *w, int64_t origin,
                      int columns);
/* "120 us": a multiple of `step` in its unit. */
const char *lab_tick_text(int64_t ns, int64_t step, char out[LAB_TICK_BYTES]);

/* First and last column of a span that w shows a part of; false: none. */
bool lab_span_columns(const struct lab_span *s, const struct lab_time_window *w,
                      int columns, int *first, int *last);
LAB_C_END
