/* labels.h -- the symbols of a sequence beside the rows and above the columns of a
 * heat map. Pure. Threads: any. */
#pragma once
#include "engine/snapshot.h"
#include "ui/canvas.h"
#include "ui/heat.h"
#include "ui/layout.h"

LAB_C_BEGIN
/* Columns that the rows' labels take, with the space behind them; 0: none. */
int lab_labels_width(const struct lab_plane *p, const struct lab_canvas *c);
/* Rows that the columns' labels take, a third of `h` at most; 0: none. */
int lab_labels_height(const struct lab_plane *p, int h);
/* The picture's corner is that of `r`. Its rows have their labels in `side` and
 * its columns theirs in `above`: where these are empty, none. A line of the screen
 * that holds two rows of cells has the label of the first. The label of `cursor`
 * (an element of the plane, -1: none) is bright. */
void lab_labels_draw(struct lab_canvas *c, const struct lab_plane *p,
                     struct lab_rect r, const struct lab_heat_grid *g,
                     struct lab_rect side, struct lab_rect above,
                     int64_t cursor);
LAB_C_END
