/* ui/roof_plot.h -- the picture of a roofline: intensity to the right, FLOPs a
 * second upwards, both by powers of ten; the roofs as lines, steps or kernels
 * as labels.
 *
 * A point is as large as its share of the time, and has the colour of what bounds
 * it, or of its phase. Nothing is shown by colour alone: points have digits and
 * letters, the chosen one is between > and <, with its name beside it, and a dotted
 * line leads up to its roof. Pure
 * functions and drawing. Threads: any, one canvas each. */
#pragma once
#include "report/roofline.h"
#include "ui/canvas.h"
#include "ui/layout.h"

/* The positions: log10 of both axes over a rectangle of cells. */
struct lab_roof_axes {
    struct lab_rect plot;
    double x0; /* log10 of FLOPs a byte */
    double x1;
    double y0; /* log10 of FLOPs a second */
    double y1;
};

struct lab_roof_layout { /* the screen; no part overlaps another */
    struct lab_rect picture;
    struct lab_rect list;
    struct lab_rect words; /* of the chosen one */
};

/* Some of the points: a level, or what a search has left. */
struct lab_roof_list {
    const struct lab_roofline *line;
    const int64_t *shown; /* indices of line->rows */
    int64_t count;
    bool by_phase; /* what colours mean; else the bound */
};

LAB_C_BEGIN
struct lab_roof_layout lab_roof_layout(struct lab_rect body);
/* 1 to 9, a to z, A to Z by the place in the list; '*' beyond. */
char lab_roof_label(int64_t place);
/* Whether a point has a place: both numbers are known and positive. */
bool lab_roof_has_place(const struct lab_roofline_point *p);
/* Whole powers of ten around the points and the ridges. false: there is nothing
 * to show. */
bool lab_roof_axes_fit(struct lab_roof_axes *out,
                       const struct lab_roof_list *list, struct lab_rect plot);
/* The cell of a place; false: outside. */
bool lab_roof_cell(const struct lab_roof_axes *axes, double intensity,
                   double flop_s, int *y, int *x);
/* The picture with its axes; `chosen` is a place of the list, or -1. */
void lab_roof_plot_draw(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_roof_list *list, int64_t chosen);
LAB_C_END
