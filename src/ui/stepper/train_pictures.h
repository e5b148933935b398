/* train_pictures.h -- what the training screen shows beside its curves: layers,
 * classes, written text. Pure: from a snapshot to a canvas. Threads: any. */
#pragma once
#include "engine/snapshot.h"
#include "ui/canvas.h"

LAB_C_BEGIN
/* A row for each node: parameters, the gradient's norm and a bar, the update and
 * its ratio to the parameters, units that are always 0. From row `top` on; returns
 * how many rows there are. */
int lab_train_layers(struct lab_canvas *c, struct lab_rect r,
                     const struct lab_snapshot *snap, int top);
/* Which class the validation rows have, and which they come out as; beside or below
 * that the rows that are the most wrong, as pictures. */
void lab_train_classes(struct lab_canvas *c, struct lab_rect r,
                       const struct lab_snapshot *snap);
/* The text with the probability of each character as its background, and in
 * tenths below it. `back` rows before its end; the heading has that of the
 * character at byte `cursor` (-1: of none). Returns how many rows there are. */
int lab_train_written(struct lab_canvas *c, struct lab_rect r,
                      const struct lab_snapshot *snap, int back,
                      int64_t cursor);
/* The character at a cell of it, drawn in `r`: its first byte; -1: none. */
int64_t lab_train_written_at(struct lab_rect r, const struct lab_snapshot *snap,
                             int back, bool ascii, int y, int x);
/* The one before (`by` -1) or behind that at `byte`, the last where there is none,
 * which *back then has in sight; -1: there is no text. */
int64_t lab_train_written_move(struct lab_rect r,
                               const struct lab_snapshot *snap, bool ascii,
                               int64_t byte, int by, int *back);
LAB_C_END
