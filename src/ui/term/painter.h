/* painter.h -- images encoded beside the loop of the screens: a large one takes
 * longer than a key may wait. One thread; without one, images are encoded at once.
 * Threads: the functions are the loop's. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "graphics.h"
#include "ui/canvas.h"

struct lab_painter;

/* An image of the screen. */
struct lab_painting {
    struct lab_rect at; /* cells */
    uint64_t sum;       /* of its pixels */
    int pieces;         /* of sixels, at most */
    struct lab_str
        text; /* as the terminal takes it, cursor placed and put back: pieces that
                 are written one by one, each ending in LAB_PIECE_END */
};
#define LAB_PIECE_END "\0338"

LAB_C_BEGIN
/* `wake_fd` gets 8 bytes (an eventfd's 1) when an image is ready; not owned. Colours
 * (256) are kept. LAB_E_NOMEM. */
enum lab_status lab_painter_new(struct lab_painter **out, enum lab_graphics how,
                                const int *color, int wake_fd);
/* Ends the thread; what is not ready is dropped. NULL is allowed. */
void lab_painter_free(struct lab_painter *p);
/* Image number `nth` (0 to LAB_CANVAS_IMAGES-1) is to be encoded: h by w pixels at
 * `px`, which is freed. It takes the place of an earlier one that has not begun. */
void lab_painter_give(struct lab_painter *p, int nth,
                      const struct lab_painting *what, unsigned char *px, int h,
                      int w);
/* What was given under this number is not wanted any more. */
void lab_painter_drop(struct lab_painter *p, int nth);
/* The next image that is ready: its number, and *out, of which the caller releases
 * the text; -1: none. */
int lab_painter_take(struct lab_painter *p, struct lab_painting *out);
LAB_C_END
