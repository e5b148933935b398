/* lstm_cell.h -- the blackboard of the step that is an LSTM's cell, as one draws it: the
 * state before runs from the left to the state at the right, through the product with
 * the forget gate and the sum with the input; the gates are below, from z at the bottom;
 * the result is below the state.
 *
 *     c before ──▸(×)────────▸(+)─────┬──▸ c
 *                  ▲           ▲     tanh
 *                  │        ┌▸(×)◂┐   ▼
 *                  │        │     │  (×)──▸ h
 *                  f        i     a   ▲
 *                  ▴σ       ▴σ  ▴tanh o
 *                  └────────┴──┬──┴───┘
 *                              z
 *
 * Threads: any. */
#pragma once
#include "board.h"

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

LAB_C_BEGIN
struct lab_lstm_cell lab_lstm_cell_find(const struct lab_plan *plan,
                                        const struct lab_board *b);
/* false: there is no room, and *out is as it was. Pure. */
bool lab_lstm_cell_place(struct lab_rect r, const struct lab_board_want *want,
                         const struct lab_lstm_cell *cell, bool halves,
                         struct lab_board_layout *out);
/* The lines between the parts, and beside the operations the values of the unit of the
 * chosen element. */
void lab_lstm_cell_draw(const struct lab_board_view *b, struct lab_canvas *c,
                        const struct lab_lstm_cell *cell);
/* The letters of the gates above the columns of z that go into them, over the marks: in
 * their colour where the column is marked. When the parts are drawn. */
void lab_lstm_cell_name_sections(const struct lab_board_view *b,
                                 struct lab_canvas *c,
                                 const struct lab_lstm_cell *cell);
LAB_C_END
