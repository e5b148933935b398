/* stepper_priv.h -- the panes of the stepper and where they are (pure), and what
 * the stepper shows by the training screen's functions. Threads: the UI's. */
#pragma once
#include "ui/diagram.h"
#include "ui/keymap.h"
#include "ui/layout.h"
#include "ui/settings.h"
#include "ui/stepper.h"

enum lab_stepper_pane {
    LAB_PANE_STEPS,
    LAB_PANE_TENSOR,
    LAB_PANE_EXPLAIN,
    LAB_PANE_KERNELS,
    LAB_PANE_TEXT,
    LAB_PANE_COUNT
};

struct lab_stepper_layout {
    struct lab_rect network; /* its picture; h 0: there is no room */
    struct lab_rect state;   /* the walk's position: one line */
    struct lab_rect step;    /* the chosen step and its formula: one line */
    struct lab_rect pane[LAB_PANE_COUNT]; /* title line and contents */
    bool tabs; /* explanation, kernels and text share one place */
};

/* Rows that a pane's contents take, without its title; 0: not known. */
struct lab_stepper_needs {
    int explain;
    int kernels;
};

/* The boxes of a plan's network. */
struct lab_network { /* zeros: an empty one */
    struct lab_diagram picture;
    struct lab_network_item {
        int first; /* plan nodes first .. end-1; first -1: the data */
        int end;
        int at;      /* the step in time of an opened recurrence; -1: all */
        int times;   /* of a folded recurrence: how many there are; 0: none */
        int part_of; /* the node that was opened to show it; -1: none was */
    } * items;       /* one for each box */
    int *of_step;    /* schedule index -> box */
    bool *open; /* by plan node, the first of a block: shown as its parts */
    int n_nodes;
};

LAB_C_BEGIN
/* Boxes anew; what was open stays so while the plan has as many nodes. On failure
 * it is as it was, or empty. LAB_E_NOMEM. */
enum lab_status lab_network_build(struct lab_network *n,
                                  const struct lab_plan *plan,
                                  const struct lab_schedule *schedule);
void lab_network_release(struct lab_network *n);

/* One place for each pane from 150x38 up; below, explanation, kernels and text
 * share one, and `tab` is the visible one. With `zoom` the pane in focus is
 * alone. The network's picture is `network` rows high where all panes are in
 * sight, or where it is `chosen`; else it is one line.
 * `set`: sizes by the configuration, 0 where there is none; NULL: none. Where all
 * panes are in sight and the configuration has no height, the tensor gets what the
 * explanation does not need, and the text what the kernels do not; `needs` NULL:
 * they keep their shares. */
struct lab_stepper_layout
lab_stepper_layout(struct lab_rect body, enum lab_stepper_pane focus,
                   enum lab_stepper_pane tab, bool zoom, int network,
                   bool chosen, const struct lab_pane_sizes *set,
                   const struct lab_stepper_needs *needs);

/* view_train.c. Where a file is there already and `force` is not given, asks
 * whether to overwrite it (y: the answer of `id`) and returns true. */
bool lab_train_asks_to_save(struct lab_ui *ui, int id,
                            const struct lab_ui_command *cmd);
/* For a lesson without text; the answer to `:near`, cut where the
 * terminal ends. */
extern const char lab_train_sample_not_here[];
void lab_train_show_near(struct lab_ui *ui, const struct lab_snapshot *snap);
LAB_C_END
