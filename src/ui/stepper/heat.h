/* heat.h -- a plane of numbers as a picture in character cells.
 *
 * A cell is two columns wide: a sign ('-' below zero) and a shade of |v| over
 * the plane's largest |v|. A plane much smaller than the picture has larger
 * cells. One that is larger than the picture is drawn with one cell for a block
 * of elements: the element of the block with the largest |v|, and a NaN or an
 * infinity before any number, so that one bad element in a million still shows.
 * A plane of one row is folded to several. Pure. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "ui/canvas.h"

struct lab_heat_grid {
    int64_t count; /* elements of the plane */
    int64_t rows;  /* of the picture, in elements */
    int64_t cols;
    bool folded;        /* rows of the picture are pieces of one row */
    int64_t block_rows; /* elements that share a cell */
    int64_t block_cols;
    int cells_h;
    int cells_w;
    int scale; /* rows that a cell is high: enlarged to fill the place */
};

LAB_C_BEGIN
/* The grid for rows x cols elements in at most h x w cells. fold > 0: one row
 * is folded every `fold` elements; 0: where it does not fit. */
struct lab_heat_grid lab_heat_fit(int64_t rows, int64_t cols, int64_t fold,
                                  int h, int w);
/* Picture coordinates of an element of the plane (row-major index), and back:
 * -1 where the picture has no element. */
void lab_heat_place(const struct lab_heat_grid *g, int64_t index, int64_t *row,
                    int64_t *col);
int64_t lab_heat_index(const struct lab_heat_grid *g, int64_t row, int64_t col);
/* The value of cell (y, x); *present false: no element there. */
double lab_heat_cell_value(const struct lab_heat_grid *g, const double *value,
                           int y, int x, bool *present);
/* Largest |v| of the finite values, 0 when there is none. */
double lab_heat_scale(const double *value, int64_t count);

/* The shade of the largest |v|, as cells are drawn here: for captions. */
const char *lab_heat_full(const struct lab_canvas *c);

/* Draws one cell at (y, x), `times` rows high and twice as many columns wide;
 * the cursor's is in brackets, so that it is not shown by colour alone. */
void lab_heat_draw_cell(struct lab_canvas *c, int y, int x, double v,
                        double scale, bool cursor, int times);
LAB_C_END
