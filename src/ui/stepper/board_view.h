/* board_view.h -- a step's blackboard on a canvas: its tensors as pictures, with
 * marks at the rows and columns that belong to the chosen element. Threads: the
 * UI's. */
#pragma once
#include "board_layout.h"
#include "engine/snapshot.h"

struct lab_board_view {
    struct lab_board board;
    struct lab_board_layout layout;  /* as last drawn */
    const struct lab_snapshot *snap; /* its planes */
    struct lab_element cursor;       /* tensor -1: none */
    int hidden;                      /* axis in < > in its title; -1 */
    bool focused;                    /* the terminal's cursor is there */
};

LAB_C_BEGIN
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
