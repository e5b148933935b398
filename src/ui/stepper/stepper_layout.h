/* stepper_layout.h -- the panes of the stepper, where they stand, and what
 * its keys ask for. Pure. Threads: any. */
#pragma once
#include "ui/keymap.h"
#include "ui/layout.h"

enum lab_stepper_pane {
    LAB_PANE_STEPS,
    LAB_PANE_TENSOR,
    LAB_PANE_EXPLAIN,
    LAB_PANE_KERNELS,
    LAB_PANE_TEXT,
    LAB_PANE_COUNT
};

struct lab_stepper_layout {
    struct lab_rect state; /* the walk's position: one line */
    struct lab_rect step;  /* the chosen step and its formula: one line */
    struct lab_rect pane[LAB_PANE_COUNT]; /* title line and contents */
    bool tabs; /* explanation, kernels and text share one place */
};

enum {
    LAB_STEPPER_ACT_STEP = LAB_ACT_OWN,
    LAB_STEPPER_ACT_NEXT,
    LAB_STEPPER_ACT_FINISH,
    LAB_STEPPER_ACT_CONTINUE,
    LAB_STEPPER_ACT_UNTIL,
    LAB_STEPPER_ACT_BACK,
    LAB_STEPPER_ACT_RESTART,
    LAB_STEPPER_ACT_BREAK,
    LAB_STEPPER_ACT_WATCH,
    LAB_STEPPER_ACT_VARIANT,
    LAB_STEPPER_ACT_EXPLAIN,
    LAB_STEPPER_ACT_ORIGIN,
    LAB_STEPPER_ACT_TRAIN,
    LAB_STEPPER_ACT_SOURCE,
    LAB_STEPPER_ACT_LESSON,
    LAB_STEPPER_ACT_CHECK,
    LAB_STEPPER_ACT_COUNT,
    LAB_STEPPER_ACT_COUNT_ALL,
    LAB_STEPPER_ACT_OCCUPANCY,
    LAB_STEPPER_ACT_DIGITS,
    LAB_STEPPER_ACT_PICTURE,
    LAB_STEPPER_ACT_TENSOR_NEXT,
    LAB_STEPPER_ACT_TENSOR_PREV,
    LAB_STEPPER_ACT_SLICE_NEXT,
    LAB_STEPPER_ACT_SLICE_PREV,
    LAB_STEPPER_ACT_HIDDEN_NEXT,
    LAB_STEPPER_ACT_HIDDEN_PREV,
    LAB_STEPPER_ACT_ROW_AXIS,
    LAB_STEPPER_ACT_COL_AXIS,
    LAB_STEPPER_ACT_FOLD,
    LAB_STEPPER_ACT_FOLD_ALL,
    LAB_STEPPER_ACT_ZOOM,
    LAB_STEPPER_ACT_HERE,
    LAB_STEPPER_ACT_STOP,
    LAB_STEPPER_ACT_PANE /* + enum lab_stepper_pane */
};

LAB_C_BEGIN
/* One place for each pane from 150x38 up; below, explanation, kernels and text
 * share one, and `tab` is the visible one. With `zoom` the pane in focus is
 * alone. */
struct lab_stepper_layout lab_stepper_layout(struct lab_rect body,
                                             enum lab_stepper_pane focus,
                                             enum lab_stepper_pane tab,
                                             bool zoom);
LAB_C_END
