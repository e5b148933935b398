/* A tensor that several nodes read gets a gradient back from each of them; the
 * chain rule adds them up. And clipping compares the length of all gradients, seen
 * as one vector, with its limit. The plan inserts these steps (plan/builder.c),
 * lessons do not. */
#include "grad_sum/grad_sum.h"

#include "engine/op.h"

const struct lab_op_def lab_op_grad_sum = {.name = "grad_sum",
                                           .kind = LAB_KIND_LAYER,
                                           .internal = true,
                                           .min_inputs = 2,
                                           .max_inputs = LAB_STEP_IN};
