/* ops/window.h -- what conv2d and the pools share: a window that moves over an
 * image. */
#pragma once
#include "engine/op.h"
#include "common/image.h"

/* Reads the keys `size_key`, `stride` and `padding` of the node over the image
 * shape `x` ([N,C,H,W] or [N,H,W,C]) and finds the rows and columns of the
 * result. stride 0: as the size. same: ceil(size/stride) results, the padding
 * that this takes split evenly, the odd one below and to the right.
 * `dilation`, of rows and columns, pulls the window apart; NULL: 1.
 * false: the node was refused, with what does not fit. */
bool lab_window_of(struct lab_builder *b, const struct lab_shape *x,
                   const char *size_key, const int64_t *dilation,
                   struct lab_window *win, int64_t out[2]);
/* [N,C,rows,columns] in the layout of the window. */
struct lab_shape lab_window_shape(const struct lab_window *win, int64_t N,
                                  int64_t C, const int64_t rows_cols[2]);
