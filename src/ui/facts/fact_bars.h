/* fact_bars.h -- numbers of a table of facts as bars, a row each under the column's
 * name. Pure drawing. Threads: the UI's. */
#pragma once
#include "store/fact_table.h"
#include "ui/canvas.h"

struct lab_fact_bars {
    const struct lab_fact_table *t;
    const int *shown; /* rows of it; NULL: all */
    int count;        /* of those */
    int chosen;       /* a row of the table, which is marked; -1: none */
};

LAB_C_BEGIN
/* Columns of the screen that the keys take, within limits. */
int lab_fact_key_width(const struct lab_fact_bars *b);
/* Column `first` (-1: the first that is computed, else the first of numbers), then the
 * other computed ones, then those that are given, as many as have room for their rows. */
void lab_fact_bars_draw(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_fact_bars *b, int first);
LAB_C_END
