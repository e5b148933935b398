/* tests/ui/stepper_fixture.h -- a session that is not one: a hand-made plan, a
 * walk through it without arithmetic, and a list of the commands it was given.
 *
 * The numbers are real: fc1.xW really is x times fc1.W, so that explanations
 * can be checked. fc2.W.grad holds a NaN and an infinity. One at a time. */
#pragma once
#include "ui/stepper.h"

enum { FIXTURE_COMMANDS = 256 };

struct stepper_fixture {
    struct lab_stepper_model model;
    struct lab_plan *plan;
    struct lab_schedule *schedule; /* the last of `made` */
    struct lab_schedule *made[8];
    int n_made;
    double **values;                               /* by tensor */
    struct lab_command commands[FIXTURE_COMMANDS]; /* the last ones */
    int n_commands;
    int live_snapshots; /* taken and not released */

    int64_t version;
    enum lab_session_state state;
    int position;
    int64_t iteration;
    struct lab_show show;
    struct lab_show board[LAB_BOARD_PARTS];
    int n_board;
    struct lab_element element;
    struct lab_break_info breaks[LAB_MAX_BREAKS];
    int n_breaks;
    int next_break;
    char stop_reason[128];
    char error[128];
    enum lab_status error_code;
    bool fused;     /* fc1 forward is one step */
    bool timed;     /* variants were measured, and choose what runs */
    int measure_of; /* while STARTING: so many variants are */
    bool cuda;
    bool labels;         /* rows and columns of planes have symbols */
    bool decodes;        /* evaluation gave strings */
    int curve;           /* points of the curves */
    bool curve_breaks;   /* NaN and Inf in them */
    bool text;           /* a lesson that learns from text ... */
    const char *written; /* ... and what it wrote, NULL: nothing yet */
    bool rate_falls;     /* the learning rate, over the curve */
    bool inspected;      /* figures of layers and classes are there */
    bool batch;        /* and looks over the iterations, a batch, no classes */
    bool batch_labels; /* ... of 40 rows with labels */
    int64_t target;
    bool checked;
    bool checked_all;   /* all three */
    double check_wrong; /* the error of the one that fails; 0: none does */
    int64_t check_done;
    int64_t check_of;
    const char *notice; /* NULL: none */
    int progress_calls;
    int64_t source_opened;
};

/* steps 0: the small network; -1: huge tensors; else that many steps. */
struct stepper_fixture *stepper_fixture_new(int steps);
void stepper_fixture_free(struct stepper_fixture *f);
/* The last command of a kind, or NULL. */
const struct lab_command *fixture_last(const struct stepper_fixture *f,
                                       enum lab_command_kind kind);
int fixture_count(const struct stepper_fixture *f, enum lab_command_kind kind);
