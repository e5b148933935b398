/* ui/chart.h -- pictures of numbers in character cells.
 *
 * Lines in braille (2x4 dots a cell), half blocks (1x2) or ASCII (1x2), by what
 * the canvas can show. Nothing is shown by colour alone: series carry their
 * number, signs have their own glyphs. NaN and infinities are gaps, counted in
 * the legend. Pure drawing. Threads: any, one canvas each. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "ui/canvas.h"

enum { LAB_CHART_SERIES = 24 };

struct lab_series {
    const double *x; /* NULL: 0, 1, 2 ...; must not fall */
    const double *y;
    int64_t n;
    const char *name; /* NULL: neither listed nor marked, as an envelope */
    enum lab_role role;
    const int64_t *at; /* x as whole numbers, where `x` is NULL */
    bool points;       /* no lines between them, and x in any order */
};

/* A place on the x axis with a word beside it: "lr 0.02". */
struct lab_chart_mark {
    double x;
    char text[24];
};

struct lab_chart {
    const char *title;  /* may be NULL */
    const char *x_name; /* may be NULL: "iteration" */
    const struct lab_series *series;
    int count;    /* at most LAB_CHART_SERIES */
    double y_min; /* NaN: from the values */
    double y_max;
    bool log_y;  /* values <= 0 are gaps */
    bool log_x;  /* the same */
    bool zero_x; /* a linear x axis that begins at 0 */
    bool
        grows_x; /* it ends at a round number, so that points which come change no
                      others */
    bool unlisted; /* no names and values beside the title, and
                     without a title no row for them */
    const struct lab_chart_mark
        *marks; /* on the x axis; where they have no room,
                                           the last ones */
    int n_marks;
};

LAB_C_BEGIN
/* Title and legend in the first row, the axis at the left and below. A
 * rectangle too small for a picture gets the legend alone. */
void lab_chart_draw(struct lab_canvas *c, struct lab_rect r,
                    const struct lab_chart *chart);

/* The point of a series with a name that is at a cell of the chart drawn in `r`,
 * or within two columns or a row of it: the nearest. false: there is none. */
bool lab_chart_find(struct lab_rect r, const struct lab_chart *chart, int y,
                    int x, int *series, int64_t *point);

/* The sign of series k of those that have a name: 1 ... 9 a b ... */
char lab_chart_sign(int k);

/* Vertical bars side by side from n counts or values >= 0, one column each
 * when they fit (else neighbours are summed), as high as the rectangle. Where
 * one leaves less than a row to all others it is cut, which a row at the top states: they
 * have the other rows. */
void lab_histogram_draw(struct lab_canvas *c, struct lab_rect r,
                        const double *values, int64_t n, enum lab_role role);

/* One row: a bar from zero to a value, in columns for `least` (0 or below) to `most` (0
 * or above). Where least is below zero a line shows where zero is. Little is not nothing:
 * what is not zero shows. NaN: empty. */
void lab_bar_draw(struct lab_canvas *c, int y, int x, int w, double value,
                  double least, double most, enum lab_role role);
/* So that a bar of the value has room between the two. NaN and infinity have none. */
void lab_bar_widen(double value, double *least, double *most);

/* A cell of a column of blocks, filled to so many eighths; below 0 and above 8 as
 * these. */
void lab_column_draw(struct lab_canvas *c, int y, int x, int eighths,
                     enum lab_role role);

/* One row: a bar of `share` (0..1, NaN: empty) with `text` over it. What is
 * full and what is empty differ in their glyphs. */
void lab_gauge_draw(struct lab_canvas *c, int y, int x, int w, double share,
                    enum lab_role role, const char *text);
LAB_C_END
