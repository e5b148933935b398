/* view_stepper_axes.h -- which axes of a tensor run down and across, and which
 * stand still. All but the first two are about the tensor looked at; they ask
 * for the plane that they choose. Threads: the UI's. */
#pragma once
#include "view_stepper_priv.h"

LAB_C_BEGIN
bool lab_stepper_is_shown(const struct lab_show *show, int axis);
/* As a tensor opens. */
void lab_stepper_look_first(const struct lab_plan *plan, int tensor,
                            struct lab_tensor_slice *look);
/* Other axes (-1: none), with the cursor on the same element. */
void lab_stepper_look_along(struct lab_stepper *v, int row_axis, int col_axis);
/* The hidden axis that [ and ] move along: the next, or the one before. */
void lab_stepper_choose_hidden(struct lab_stepper *v, int dir);
/* The next axis down or across; the two change places when they meet. */
void lab_stepper_turn_axis(struct lab_stepper *v, bool rows);
/* One row as a square, and back; of images, the image. */
void lab_stepper_turn_picture(struct lab_stepper *v);
LAB_C_END
