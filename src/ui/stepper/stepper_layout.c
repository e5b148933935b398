/* Where the stepper's panes stand: a pure function. */
#include "stepper_layout.h"

enum {
    FULL_W = 150, /* from here on all panes are in sight at once */
    FULL_H = 36,
    GAP = 1 /* the line between two columns */
};

static struct lab_rect nothing(struct lab_rect near)
{
    return (struct lab_rect){near.y, near.x, 0, 0};
}

static void place_full(struct lab_stepper_layout *l, struct lab_rect r)
{
    l->pane[LAB_PANE_STEPS] = lab_rect_cut_left(&r, 36);
    lab_rect_cut_left(&r, GAP);
    struct lab_rect right = lab_rect_cut_right(&r, r.w * 42 / 100);
    lab_rect_cut_right(&r, GAP);
    l->pane[LAB_PANE_TENSOR] = lab_rect_cut_top(&r, r.h * 58 / 100);
    l->pane[LAB_PANE_EXPLAIN] = r;
    l->pane[LAB_PANE_TEXT] = lab_rect_cut_top(&right, right.h * 55 / 100);
    l->pane[LAB_PANE_KERNELS] = right;
}

static void place_tabs(struct lab_stepper_layout *l, struct lab_rect r,
                       enum lab_stepper_pane tab)
{
    int steps = r.w >= 110 ? 32 : r.w >= 80 ? 25 : 20;
    l->tabs = true;
    l->pane[LAB_PANE_STEPS] = lab_rect_cut_left(&r, steps);
    lab_rect_cut_left(&r, GAP);
    l->pane[LAB_PANE_TENSOR] = lab_rect_cut_top(&r, (r.h + 1) * 6 / 10);
    l->pane[tab] = r;
}

struct lab_stepper_layout lab_stepper_layout(struct lab_rect body,
                                             enum lab_stepper_pane focus,
                                             enum lab_stepper_pane tab,
                                             bool zoom)
{
    struct lab_stepper_layout l = {0};
    bool full = body.w >= FULL_W && body.h >= FULL_H;
    for (int i = 0; i < LAB_PANE_COUNT; i++)
        l.pane[i] = nothing(body);
    l.state = lab_rect_cut_top(&body, 1);
    l.step = lab_rect_cut_top(&body, 1);
    if (zoom)
        l.pane[focus] = body;
    else if (full)
        place_full(&l, body);
    else
        place_tabs(&l, body, tab);
    return l;
}
