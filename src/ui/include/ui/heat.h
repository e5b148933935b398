/* ui/heat.h -- a plane of numbers as a picture that fills the place it is given.
 *
 * A small plane gets large cells, each as wide as it is high to the eye, with its
 * number inside where that fits. A large plane has as many cells as there is room for,
 * and each element is in one of them: 128 columns in 100 cells are one or two a cell.
 * A cell shows their mean, or the one with the largest |v|; a NaN or an infinity comes
 * before any number, so that one bad element in a million still shows. A picture keeps
 * its shape: each cell has as many rows as columns. A plane of one row is folded to
 * several.
 *
 * On a canvas with tints a cell has the colour of its value as background, and
 * goes down to half a character; where the canvas has pixels, elements that share a
 * cell have some each. Else a cell is at least two columns wide: a sign ('-' below
 * zero) and a shade of |v| over the largest |v|. Pure. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "ui/canvas.h"

/* The place: columns and rows of the screen, and what a cell may be there. */
struct lab_heat_room {
    int h;
    int w;
    bool halves; /* a cell may be one column wide and half a row high */
    bool square; /* a picture: cells are not widened for their numbers */
    bool mean;   /* several elements show their mean */
};

struct lab_heat_grid {
    int64_t count; /* elements of the plane */
    int64_t rows;  /* of the picture, in elements */
    int64_t cols;
    bool folded; /* rows of the picture are pieces of one row */
    bool mean;   /* what a cell of several shows */
    int cells_h; /* cells, which elements share evenly where they are fewer */
    int cells_w;
    int cell_h; /* half rows of the screen */
    int cell_w; /* columns */
};

struct lab_heat {
    struct lab_heat_grid grid;
    const double *value; /* grid.count of them */
    double most;         /* |v| of the strongest colour: lab_heat_scale() */
    bool diverging;      /* values below zero are expected */
    int64_t cursor;      /* element, -1: none */
};

LAB_C_BEGIN
/* Rows and columns of rows x cols elements, each with a cell, of which a row of the
 * screen has `w`. fold > 0: one row is folded every `fold` elements; 0: where it does not
 * fit. */
struct lab_heat_grid lab_heat_fold(int64_t rows, int64_t cols, int64_t fold,
                                   int w);
/* The same with the cells that fill the place. */
struct lab_heat_grid lab_heat_fit(int64_t rows, int64_t cols, int64_t fold,
                                  const struct lab_heat_room *room);
/* How far a cell may be wider or higher than square to fill its place: as far as
 * it is still seen as a cell, or has room for its number. Columns, half rows. */
int lab_heat_widest(int cell_h);
int lab_heat_highest(int cell_w);
/* Whether cells of this size have room for their numbers. */
bool lab_heat_has_numbers(int cell_h, int cell_w);
/* What a canvas allows in a rectangle. */
struct lab_heat_room lab_heat_room(const struct lab_canvas *c,
                                   struct lab_rect r);
/* Picture coordinates of an element of the plane (row-major index), and back:
 * -1 where the picture has no element. */
void lab_heat_place(const struct lab_heat_grid *g, int64_t index, int64_t *row,
                    int64_t *col);
int64_t lab_heat_index(const struct lab_heat_grid *g, int64_t row, int64_t col);
/* The cells of n rows or columns where there is room for some: each has as many of them
 * where that leaves little of the room. */
int lab_heat_cells(int64_t n, int room);
/* Of n rows or columns that share some cells evenly: the first of a cell (of the one
 * behind the last: n), and the cell of one of them. */
int64_t lab_heat_first(int64_t n, int cells, int64_t cell);
int lab_heat_cell(int64_t n, int cells, int64_t at);
/* Whether any cell has several elements. */
bool lab_heat_is_shared(const struct lab_heat_grid *g);
/* Rows of the screen above cell `y`, and whole rows that the cell has. */
int lab_heat_top(const struct lab_heat_grid *g, int y);
int lab_heat_rows(const struct lab_heat_grid *g, int y);
/* Rows of the screen that the whole picture takes. */
int lab_heat_height(const struct lab_heat_grid *g);
/* The element at a row and a column of the screen, from the picture's corner;
 * -1: none. */
int64_t lab_heat_at(const struct lab_heat_grid *g, int y, int x);
/* The value of cell (y, x); *present false: no element there. */
double lab_heat_cell_value(const struct lab_heat_grid *g, const double *value,
                           int y, int x, bool *present);
/* Largest |v| of the finite values, 0 when there is none. */
double lab_heat_scale(const double *value, int64_t count);
/* The same of a picture with a scale of its own: twice that where all values are one
 * number, which would else fill it with the brightest colour. */
double lab_heat_scale_alone(const double *value, int64_t count);
bool lab_heat_has_negative(const double *value, int64_t count);

/* Draws it with its top left corner at (y, x); the cursor's cell has an outline or
 * brackets, so that it is not shown by colour alone. */
void lab_heat_draw(struct lab_canvas *c, int y, int x,
                   const struct lab_heat *m);
/* Fits a plane into a rectangle and draws it; returns its grid. */
struct lab_heat_grid lab_heat_picture(struct lab_canvas *c, struct lab_rect r,
                                      const double *value, int64_t rows,
                                      int64_t cols, bool square);
/* An outline around the elements of some rows and columns, where the cells have
 * room for one: the colours under it stay. */
void lab_heat_outline(struct lab_canvas *c, int y, int x,
                      const struct lab_heat_grid *g, int64_t row, int64_t col,
                      int64_t rows, int64_t cols);
/* The scale, "-0.5 [colours] 0.5", or "█ = 0.5" in characters, and what a cell
 * covers; in a narrow row "±0.5 [colours]". Returns the columns used; 0: there is no
 * room for all of it, and nothing is drawn. */
int lab_heat_legend_least(const struct lab_canvas *c, const struct lab_heat *m);
int lab_heat_legend(struct lab_canvas *c, struct lab_rect row,
                    const struct lab_heat *m);
/* "mean of 2x1.28", rows and columns of the average cell; false: each element has one. */
bool lab_heat_shares(const struct lab_canvas *c, const struct lab_heat_grid *g,
                     char *out, size_t cap);
/* The shade of v in cells of characters, where `most` has the fullest. */
const char *lab_heat_shade(const struct lab_canvas *c, double v, double most);

/* Draws one cell of characters at (y, x). */
void lab_heat_draw_cell(struct lab_canvas *c, struct lab_rect cell, double v,
                        double most, bool cursor);
LAB_C_END
