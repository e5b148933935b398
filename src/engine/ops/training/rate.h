/* rate.h -- what all optimizers share: the keys of a learning rate that changes
 * and of clipping, and what they mean. */
#pragma once
#include "engine/op.h"
#include "engine/rate.h"

/* In an optimizer's table of keys. Counts are iterations, `factor` and `lr_end`
 * have no unit of their own. */
#define LAB_RATE_KEYS                                                          \
    {"schedule", LAB_KEY_CHOICE, false, LAB_RATE_CONSTANT,                     \
     .choices = lab_rate_names},                                               \
        {"warmup", LAB_KEY_INT, false, 0, 0, 1e12},                            \
        {"every", LAB_KEY_INT, false, 0, 1, 1e12},                             \
        {"factor", LAB_KEY_FLOAT, false, 0.1, 0, 1},                           \
        {"over", LAB_KEY_INT, false, 0, 1, 1e12},                              \
        {"lr_end", LAB_KEY_FLOAT, false, 0, 0, LAB_LR_MOST},                   \
    {                                                                          \
        "clip_norm", LAB_KEY_FLOAT, false, 0, 0, 1e6                           \
    }

/* What a gradient is multiplied by, and its text where that is not 1: inputs 0
 * and 1 are the gradient and the norm of all. */
double lab_rate_explain_clip(struct lab_explainer *ex, double clip);
