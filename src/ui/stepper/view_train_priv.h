/* view_train_priv.h -- the training screen's state, which view_train.c changes
 * and view_train_draw.c draws. */
#pragma once
#include "ui/keymap.h"
#include "ui/stepper.h"

enum { LAB_TRAIN_KEYS = 8 };

struct lab_train_curve { /* as a chart wants it */
    double *x;
    double *y;
    int64_t n;
    int64_t cap;
};

struct lab_train_state {
    struct lab_ui *ui;
    struct lab_stepper_model model;
    struct lab_snapshot snap; /* only when `taken` */
    bool taken;
    struct lab_train_curve loss;
    struct lab_train_curve accuracy;
    struct lab_train_curve bits;
    struct lab_train_curve held;
    int64_t asked;   /* iterations of the last request; 0: the lesson's */
    bool log_chosen; /* by the reader, else as the curve needs it */
    bool log_scale;
    struct lab_binding text_keys[LAB_TRAIN_KEYS + 1]; /* ends as a table does */
};

/* Whether the loss is drawn on a logarithmic scale. */
bool lab_train_log(const struct lab_train_state *v);
void lab_train_draw(struct lab_screen *s, struct lab_canvas *c,
                    struct lab_rect body);
