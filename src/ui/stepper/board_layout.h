/* board_layout.h -- where the tensors of a step's blackboard are drawn.
 *
 * A product has its left operands at the left of the result, their rows beside
 * its rows, and the others above it, their columns above its columns; what is
 * beside comes at the right. Else all are in rows, the result last. All pictures
 * have cells of one size, the largest at which every tensor is whole; where none
 * is small enough a cell covers several elements. Each has a line for its title
 * and, above and at the left of its cells, a line for the marks of what is lit.
 * Pure. Threads: any. */
#pragma once
#include "engine/board.h"
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

LAB_C_BEGIN
/* halves: a cell may be one column wide and half a row high. */
struct lab_board_layout lab_board_place(struct lab_rect r,
                                        const struct lab_board_want *want,
                                        int n, bool cross, bool halves);
LAB_C_END
