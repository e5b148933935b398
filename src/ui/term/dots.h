/* dots.h -- a picture in dots, several to a cell: braille (2x4), half blocks or
 * ASCII (1x2), by what the canvas can show, and over them in pixels where it has
 * those. Each cell belongs to the owner that drew in it last. Threads: any, one
 * picture each. */
#pragma once
#include "ui/canvas.h"

struct lab_dots {
    struct lab_rect plot;
    int sx; /* dots of a cell */
    int sy;
    int w; /* dots in all */
    int h;
    unsigned char *dots; /* bit y*2+x of a cell */
    unsigned char *owner;
    int owners;        /* so many at least have drawn: roles[] has as many */
    unsigned char *px; /* of each pixel the owner, plus 1; NULL: no pixels */
    int px_h;          /* in all */
    int px_w;
};

/* false: no memory, and nothing is to be released. `plot` is not empty. */
bool lab_dots_init(struct lab_dots *d, const struct lab_canvas *c,
                   struct lab_rect plot);
void lab_dots_release(struct lab_dots *d);
/* (0, 0) is the upper left one; outside: nothing. owner < 255. */
void lab_dots_set(struct lab_dots *d, int x, int y, int owner);
void lab_dots_line(struct lab_dots *d, double x0, double y0, double x1,
                   double y1, int owner);
/* roles[owner]. Cells without dots are left as they are. */
void lab_dots_show(const struct lab_dots *d, struct lab_canvas *c,
                   const enum lab_role *roles);
