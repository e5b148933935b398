/* ui/diagram.h -- a network as a picture: boxes in the order of execution with
 * lines between them, in one line of text or as boxes with what they hold.
 *
 * A box that reads the one before it is joined to it; what is read further on goes
 * along a line under the boxes, with a branch up to each box that reads it. Arrows
 * point the way the data flow: backward they turn. A picture that is too long shows the part around the lit
 * box. Pure, but for where the boxes were drawn last. Threads: one at a time. */
#pragma once
#include "ui/canvas.h"

enum { LAB_DIAGRAM_IN = 8, LAB_DIAGRAM_LINES = 2 };

struct lab_diagram_box {
    char name[40];
    char text[LAB_DIAGRAM_LINES][28];
    double share;           /* of the time, 0..1; NaN: not known */
    int in[LAB_DIAGRAM_IN]; /* boxes that it reads, before it */
    int n_in;
    bool folded;        /* holds boxes that can be shown in its place */
    struct lab_rect at; /* as last drawn; w 0: it was not */
    int line_end; /* the last box that its line leads to; -1: it has none */
    int track;    /* row of that line under the boxes, from 0 */
};

struct lab_diagram { /* zeros: an empty one */
    struct lab_diagram_box *box;
    int n;
    size_t cap;
    int lit; /* -1: none */
    bool backward;
    bool focused;
};

LAB_C_BEGIN
void lab_diagram_release(struct lab_diagram *d);
void lab_diagram_clear(struct lab_diagram *d);
/* A new last box, of that name, joined to nothing; NULL: no memory. Pointers to
 * others are not valid afterwards. */
struct lab_diagram_box *lab_diagram_add(struct lab_diagram *d,
                                        const char *name);
/* Box `to` reads box `from`; more than LAB_DIAGRAM_IN are not drawn. */
void lab_diagram_join(struct lab_diagram *d, int from, int to);
/* Rows under the boxes that the lines take along which boxes are read from further
 * on: one line from each of those. */
int lab_diagram_tracks(struct lab_diagram *d);
/* Rows that the boxes take with those lines. */
int lab_diagram_rows(struct lab_diagram *d);
/* Names in one row, behind a name those that it reads from further back. */
void lab_diagram_line(struct lab_canvas *c, struct lab_rect row,
                      struct lab_diagram *d, enum lab_role lit);
/* Names in rows from the first on, at most r.h, behind a name those that it reads from
 * further back, "sum1 (relu1)"; returns the rows that they take. */
int lab_diagram_names(struct lab_canvas *c, struct lab_rect r,
                      struct lab_diagram *d, enum lab_role lit);
/* Whether all boxes fit beside each other. */
bool lab_diagram_fits(const struct lab_canvas *c, const struct lab_diagram *d,
                      int columns);
/* Boxes, lab_diagram_rows() high; fewer rows leave lines out. */
void lab_diagram_draw(struct lab_canvas *c, struct lab_rect r,
                      struct lab_diagram *d, enum lab_role lit);
/* The box at a place of the screen, -1: none. */
int lab_diagram_hit(const struct lab_diagram *d, int y, int x);
LAB_C_END
