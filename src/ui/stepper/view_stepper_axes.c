/* Which axes of a tensor run down and across, and which stand still. */
#include "view_stepper_axes.h"

#include <string.h>

static const struct lab_tensor *tensor_of(const struct lab_stepper *v)
{
    return &v->snap.plan->tensors[v->tensor];
}

bool lab_stepper_is_shown(const struct lab_show *show, int axis)
{
    return axis == show->row_axis || axis == show->col_axis;
}

/* The first axis from `from` on, going `dir`, that is not shown; -1: none. */
static int hidden_axis(const struct lab_tensor_slice *look, int rank, int from,
                       int dir)
{
    for (int i = 0; i < rank; i++) {
        int axis = ((from + dir * i) % rank + rank) % rank;
        if (!lab_stepper_is_shown(&look->show, axis))
            return axis;
    }
    return -1;
}

/* Images, feature maps and filters. Ops that say what their axes count have
 * other parts of four axes: [N,heads,T,T]. */
static bool holds_pictures(const struct lab_plan *plan,
                           const struct lab_tensor *t)
{
    return t->shape.rank == 4 &&
           (t->node < 0 || plan->nodes[t->node].op->n_axes == 0);
}

/* The last axis runs across and the one before it down, but for pictures with
 * their channels last: there it is the rows and columns of the picture, which
 * are [N,H,W,C] or, of filters, [H,W,C,M]. */
static void first_axes(const struct lab_plan *plan, int tensor, int *row,
                       int *col)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    while (t->gradient_of >= 0)
        t = &plan->tensors[t->gradient_of];
    int rank = t->shape.rank;
    *row = rank >= 2 ? rank - 2 : -1;
    *col = rank >= 1 ? rank - 1 : -1;
    if (plan->layout == LAB_NHWC && holds_pictures(plan, t)) {
        bool filter =
            t->role == LAB_TENSOR_PARAM || t->role == LAB_TENSOR_STATE;
        *row = filter ? 0 : 1;
        *col = *row + 1;
    }
}

void lab_stepper_look_first(const struct lab_plan *plan, int tensor,
                            struct lab_tensor_slice *look)
{
    memset(look, 0, sizeof(*look));
    look->set = true;
    look->show.tensor = tensor;
    first_axes(plan, tensor, &look->show.row_axis, &look->show.col_axis);
    look->hidden = hidden_axis(look, plan->tensors[tensor].shape.rank, 0, 1);
}

void lab_stepper_look_along(struct lab_stepper *v, int row_axis, int col_axis)
{
    struct lab_tensor_slice *look = lab_stepper_look(v);
    struct lab_show *show = &look->show;
    int rank = tensor_of(v)->shape.rank;
    int64_t at[LAB_MAX_RANK];
    memcpy(at, show->fixed, sizeof(at));
    if (show->row_axis >= 0)
        at[show->row_axis] = look->row;
    if (show->col_axis >= 0)
        at[show->col_axis] = look->col;
    *show = (struct lab_show){
        .tensor = v->tensor, .row_axis = row_axis, .col_axis = col_axis};
    for (int i = 0; i < rank; i++)
        if (!lab_stepper_is_shown(show, i))
            show->fixed[i] = at[i];
    look->row = row_axis >= 0 ? at[row_axis] : 0;
    look->col = col_axis >= 0 ? at[col_axis] : 0;
    look->picture = false;
    if (look->hidden < 0 || lab_stepper_is_shown(show, look->hidden))
        look->hidden = hidden_axis(look, rank, 0, 1);
    lab_stepper_ask(v);
}

void lab_stepper_choose_hidden(struct lab_stepper *v, int dir)
{
    struct lab_tensor_slice *look = lab_stepper_look(v);
    int rank = tensor_of(v)->shape.rank;
    if (look->hidden >= 0)
        look->hidden = hidden_axis(look, rank, look->hidden + dir, dir);
}

void lab_stepper_turn_axis(struct lab_stepper *v, bool rows)
{
    struct lab_tensor_slice *look = lab_stepper_look(v);
    int row = look->show.row_axis;
    int col = look->show.col_axis;
    int rank = tensor_of(v)->shape.rank;
    int *mine = rows ? &row : &col;
    int *other = rows ? &col : &row;
    if (rank < 2 || look->picture) {
        lab_ui_message(v->ui, LAB_ROLE_DIM, "this picture has one axis only");
        return;
    }
    int next = (*mine + 1) % rank;
    if (next == *other && *mine < 0)
        next = (next + 1) % rank; /* a slice of one axis gets a second */
    else if (next == *other)
        *other = *mine;
    *mine = next;
    lab_stepper_look_along(v, row, col);
}

/* A tensor of images has its pictures as they are. */
static bool turn_image(struct lab_stepper *v)
{
    const struct lab_show *show = &lab_stepper_look(v)->show;
    const struct lab_tensor *t = tensor_of(v);
    int row;
    int col;
    if (!holds_pictures(v->snap.plan, t))
        return false;
    first_axes(v->snap.plan, v->tensor, &row, &col);
    if (show->row_axis == row && show->col_axis == col)
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "this is the picture: [ and ] go to another, { and } "
                       "say along what");
    else
        lab_stepper_look_along(v, row, col);
    return true;
}

/* One row as a square: a digit of 64 pixels is 8 by 8. */
void lab_stepper_turn_picture(struct lab_stepper *v)
{
    struct lab_tensor_slice *look = lab_stepper_look(v);
    int row = look->show.row_axis;
    int col = look->show.col_axis;
    if (col < 0) {
        lab_ui_message(v->ui, LAB_ROLE_DIM, "one number has no picture");
    } else if (look->picture) {
        first_axes(v->snap.plan, v->tensor, &row, &col);
        lab_stepper_look_along(v, row, col);
    } else if (!turn_image(v)) {
        lab_stepper_look_along(v, -1, col);
        if (row >= 0)
            look->hidden = row;
        look->picture = true;
    }
}
