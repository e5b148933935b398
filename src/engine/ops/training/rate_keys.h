/* rate_keys.h -- the keys that all optimizers share: a learning rate that changes,
 * and clipping (engine/plan.h). */
#pragma once
#include "engine/op.h"
#include "engine/plan.h"

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
