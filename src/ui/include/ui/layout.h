/* ui/layout.h -- where things are on the screen: pure functions from a size
 * to rectangles.
 *
 * Rectangles are half-open, in cells, and never reach outside the size they
 * were made from; a part for which there is no room has h or w 0. No two parts
 * of one layout overlap, at any size from 0x0 up. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "ui/canvas.h"

enum { LAB_SCREEN_MIN_H = 16, LAB_SCREEN_MIN_W = 60 };

/* The frame of every screen. */
struct lab_frame {
    bool small; /* below the minimum: only `body`, for the message */
    struct lab_rect title;
    struct lab_rect body;
    struct lab_rect status; /* messages and the prompt */
    struct lab_rect bar;    /* keys */
};

struct lab_home_layout {
    struct lab_rect badge;
    struct lab_rect lessons;
    struct lab_rect about; /* the chosen lesson's summary */
    struct lab_rect runs;
};

struct lab_list_layout { /* a list that shows more of what is in it */
    struct lab_rect list;
    struct lab_rect preview; /* below the list or beside it */
};

struct lab_run_layout { /* one run: what it was, its steps, its kernels */
    struct lab_rect facts;
    struct lab_rect steps;
    struct lab_rect kernels;
    struct lab_rect flame; /* where the time goes, in what the lists leave */
    struct lab_rect
        why; /* below the kernels where these leave rows, else below all */
};

struct lab_run_want { /* what there is to show of it */
    int64_t facts;    /* lines */
    int64_t steps;
    int64_t kernels; /* of the step with the most; 0: no step has any */
    bool flame;      /* it has times to draw one of */
    int why;         /* rows, with the heading, of what bounds a step */
};

LAB_C_BEGIN
struct lab_frame lab_frame_layout(int h, int w);
/* `runs`: of how many the last are shown. */
struct lab_home_layout lab_home_layout(struct lab_rect body, int64_t runs);
/* `rows`: in the list, which leaves `preview` rows or more below it. On a small screen it
 * has all of the body. */
struct lab_list_layout lab_list_layout(struct lab_rect body, int64_t rows,
                                       int preview);
/* Without kernels their part is a line that states it. The facts get the room
 * that the lists leave, and a fifth of the body where these are long. */
struct lab_run_layout lab_run_layout(struct lab_rect body,
                                     const struct lab_run_want *want);

/* Shares `total` cells among `count` parts: each gets its `least` when they
 * all fit, the rest goes by `weight` (0: takes no more). When they do not fit,
 * parts are dropped (0) from the one with the highest `drop` down; equal ones
 * from the last. One with LAB_SHARE_ABSENT is never there. out[count] is filled;
 * their sum is at most `total`. */
enum { LAB_SHARE_ABSENT = 1000 };
struct lab_share {
    int least;
    int weight;
    int drop;
};
void lab_layout_share(int total, const struct lab_share *parts, int count,
                      int *out);
LAB_C_END
