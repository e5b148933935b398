/* board.h -- a step's blackboard: where its tensors are drawn, and as what.
 *
 * A product has its left operands at the left of the result, their rows beside
 * its rows, and the others above it, their columns above its columns; what is
 * beside comes at the right. Rows and columns that parts share have one size, the
 * columns of a left and the rows of an upper operand one of their own. Else all are in
 * rows, the result last, and each picture has cells of its own size, those of
 * equal shapes the same: the rows that fill the most of the place are taken. Vectors
 * without a matrix are in several rows, each with the index of its first element, where
 * that fills more. Cells are the largest at which every tensor is whole, wider or higher
 * than square where there is room; where none is small enough a cell covers several
 * elements. Each has a line for its title, which is whole unless the cells would be much
 * smaller then, and, above and at the left of its cells, the symbols of a sequence and a
 * line for the marks of what is lit. An LSTM's cell is drawn with its lines.
 * The layout is pure; threads: any. */
#pragma once
#include "engine/board.h"
#include "engine/snapshot.h"
#include "ui/canvas.h"
#include "ui/heat.h"
#include "ui/layout.h"

struct lab_board_want { /* a part: elements down and across */
    enum lab_board_place place;
    int64_t rows;
    int64_t cols;
    int title_w;  /* columns of its title */
    int label_w;  /* columns at its rows and rows at its columns for their */
    int label_h;  /* symbols; 0: none */
    bool picture; /* cells of the board stay about square */
};

struct lab_board_at { /* w 0: there was no room for it */
    struct lab_rect title;
    struct lab_rect cells; /* one line below the marks, one column right */
    struct lab_rect side;  /* the rows' symbols; w 0: none */
    struct lab_rect above; /* the columns'; h 0: none */
    int64_t fold; /* elements in a row of a vector that has several; 0: none */
    int cells_h;  /* fewer than elements: these share them evenly */
    int cells_w;
    int cell_h; /* half rows */
    int cell_w; /* columns */
};

struct lab_board_layout {
    struct lab_board_at at[LAB_BOARD_PARTS];
    bool fits; /* false: there was no room */
    bool
        cross; /* as a product is; rows alone are side by side, or below others */
    bool drawn; /* with lines between the parts: an LSTM's cell */
};

/* On a canvas: its tensors as pictures, with marks at the rows and columns that belong
 * to the chosen element. The UI's thread. */
struct lab_board_view {
    struct lab_board board;
    struct lab_board_layout layout;  /* as last drawn */
    const struct lab_snapshot *snap; /* its planes */
    struct lab_element cursor;       /* tensor -1: none */
    int hidden;                      /* axis in < > in its title; -1 */
    bool focused;                    /* the terminal's cursor is there */
};

/* The step that is an LSTM's cell, as one draws it: the state before runs from the left
 * to the state at the right, through the product with the forget gate and the sum with
 * the input; the gates are below, from z at the bottom; the result is below the state.
 *
 *     c before ──▸(×)────────▸(+)─────┬──▸ c
 *                  ▲           ▲     tanh
 *                  │        ┌▸(×)◂┐   ▼
 *                  │        │     │  (×)──▸ h
 *                  f        i     a   ▲
 *                  ▴σ       ▴σ  ▴tanh o
 *                  └────────┴──┬──┴───┘
 *                              z */
enum lab_lstm_part {
    LAB_LSTM_BEFORE,
    LAB_LSTM_F,
    LAB_LSTM_I,
    LAB_LSTM_A,
    LAB_LSTM_O,
    LAB_LSTM_C,
    LAB_LSTM_H,
    LAB_LSTM_Z,
    LAB_LSTM_PARTS
};

/* The board's part of each; n 0: the board is no cell. */
struct lab_lstm_cell {
    int n;
    int part[LAB_LSTM_PARTS];
};

struct lab_plan;

LAB_C_BEGIN
/* halves: a cell may be one column wide and half a row high. */
struct lab_board_layout lab_board_place(struct lab_rect r,
                                        const struct lab_board_want *want,
                                        int n, bool cross, bool halves);
/* The same for an LSTM's cell. false: there is no room, and *out is as it was. */
bool lab_board_place_cell(struct lab_rect r, const struct lab_board_want *want,
                          const struct lab_lstm_cell *cell, bool halves,
                          struct lab_board_layout *out);
/* What there is no room for is not drawn; false: nothing is. */
bool lab_board_draw(struct lab_board_view *b, struct lab_canvas *c,
                    struct lab_rect r);
/* Whether a tensor has values below zero by its kind, whatever its values are now, so
 * that its colours keep their meaning: weights, gradients, sums of products. Of other
 * kinds by its values: `negative`. */
bool lab_board_signed(const struct lab_plan *plan, int tensor, bool negative);
/* Whether elements that share a cell show their mean: those of data of which `least`
 * is not below zero, as pixels, where the largest of some would make most cells bright.
 * Others show the largest: a mean would cancel signs, and hide a peak. */
bool lab_board_mean(const struct lab_plan *plan, int tensor, double least);
/* The value of the strongest colour of a part that has a plane. */
double lab_board_scale(const struct lab_board_view *b, int part);
/* The cells of a part whose plane has these elements. */
struct lab_heat_grid lab_board_grid(const struct lab_board_view *b, int part,
                                    int64_t rows, int64_t cols);
enum { LAB_BOARD_FREE = 2 * LAB_BOARD_PARTS + 3 };
/* What the board leaves of `r`, the largest first; the number of places. */
int lab_board_free(const struct lab_board_view *b, struct lab_rect r,
                   struct lab_rect out[LAB_BOARD_FREE]);
/* The part of a tensor; -1: it is not drawn. */
int lab_board_part_of(const struct lab_board_view *b, int tensor);
/* The element that a place of the screen shows; tensor -1: none. */
struct lab_element lab_board_hit(const struct lab_board_view *b, int y, int x);
/* The plane that a part shows, NULL: it is not there yet. */
const struct lab_plane *lab_board_plane(const struct lab_board_view *b,
                                        int part);
LAB_C_END
