/* board.h -- a step's blackboard: where its tensors are drawn, and as what.
 *
 * A product has its left operands at the left of the result, their rows beside
 * its rows, and the others above it, their columns above its columns; what is
 * beside comes at the right. Else all are in rows, the result last. All pictures
 * have cells of one size, the largest at which every tensor is whole; where none
 * is small enough a cell covers several elements. Each has a line for its title
 * and, above and at the left of its cells, a line for the marks of what is lit.
 * The layout is pure; threads: any. */
#pragma once
#include "engine/board.h"
#include "engine/snapshot.h"
#include "ui/canvas.h"
#include "ui/layout.h"

struct lab_board_want { /* a part: elements down and across */
    enum lab_board_place place;
    int64_t rows;
    int64_t cols;
    int title_w; /* columns of its title */
};

struct lab_board_at { /* w 0: there was no room for it */
    struct lab_rect title;
    struct lab_rect cells; /* one line below the marks, one column right */
    int64_t block_rows;    /* elements that share a cell */
    int64_t block_cols;
    int cells_h;
    int cells_w;
};

struct lab_board_layout {
    struct lab_board_at at[LAB_BOARD_PARTS];
    int cell_w; /* columns; a cell is as many half rows high; 0: no room */
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

LAB_C_BEGIN
/* halves: a cell may be one column wide and half a row high. */
struct lab_board_layout lab_board_place(struct lab_rect r,
                                        const struct lab_board_want *want,
                                        int n, bool cross, bool halves);
/* What there is no room for is not drawn; false: nothing is. */
bool lab_board_draw(struct lab_board_view *b, struct lab_canvas *c,
                    struct lab_rect r);
/* The part of a tensor; -1: it is not drawn. */
int lab_board_part_of(const struct lab_board_view *b, int tensor);
/* The element that a place of the screen shows; tensor -1: none. */
struct lab_element lab_board_hit(const struct lab_board_view *b, int y, int x);
/* The plane that a part shows, NULL: it is not there yet. */
const struct lab_plane *lab_board_plane(const struct lab_board_view *b,
                                        int part);
LAB_C_END
