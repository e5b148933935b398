/* stepper_priv.h -- the stepper's state, shared by the pane of the tensor
 * (stepper_tensor.c: which part of it is seen) and the screen around it with all
 * the rest (view_stepper.c). Threads: the UI's. */
#pragma once
#include "heat.h"
#include "step_tree.h"
#include "ui/stepper.h"
#include "ui/pager.h"
#include "ui/ui.h"
#include "stepper_layout.h"

enum { LAB_STEPPER_ASK_RESTART = 1, LAB_STEPPER_ASK_LEAVE };
enum {
    LAB_STEPPER_TENSORS = LAB_STEP_IN + LAB_STEP_OUT,
    LAB_STEPPER_KERNELS = 64,
    LAB_STEPPER_NUMBER_W = 10,
    LAB_STEPPER_VARIANTS = 32
};

/* How a tensor is looked at; kept for each, so that it comes back so. */
struct lab_tensor_slice {
    bool set;
    bool picture; /* one row, folded to a square */
    int hidden;   /* axis that [ and ] move along, -1: none */
    struct lab_show show;
    int64_t row; /* the cursor, in the plane shown */
    int64_t col;
};

/* What the lesson's pane shows when it is no step's text. */
enum { LAB_TEXT_NONE = -2, LAB_TEXT_OPENING = -1 };

struct lab_stepper {
    struct lab_ui *ui;
    struct lab_stepper_model model;
    struct lab_snapshot snap; /* only when `taken` */
    bool taken;
    enum lab_stepper_pane focus;
    enum lab_stepper_pane tab; /* of the shared place */
    bool zoom;
    struct lab_stepper_layout layout; /* as last drawn */
    bool numbers; /* the tensor as numbers, else as a heat map */
    bool stay;    /* the next stop is at a step not run yet */
    bool pinned;  /* the source of an explained number is looked at */
    bool leave;   /* the training may be stopped */
    bool walked;  /* a command of ours has been posted since */

    struct lab_step_tree tree;
    int item; /* chosen item of the tree */
    int64_t tree_top;
    int step;                         /* chosen step, -1: none */
    int tensors[LAB_STEPPER_TENSORS]; /* of the chosen step: in, then out */
    int n_tensors;
    int n_in;
    int tensor;                     /* looked at, -1: none */
    struct lab_tensor_slice *looks; /* plan->n_tensors of them */
    int n_looks;
    int64_t asked_ns;      /* when: monotonic */
    bool held;             /* a frame waits for the plane that belongs to it */
    struct lab_show asked; /* last posted */
    struct lab_element explained; /* last posted; tensor -1: none */
    int64_t *marks; /* source elements in the plane shown, ascending */
    int64_t n_marks;
    int64_t cursor;  /* in the plane, as last drawn; -1: not in it */
    int64_t num_top; /* scroll of the numbers */
    int64_t num_left;
    int64_t page_rows; /* as last drawn */
    int64_t page_cols;
    struct lab_rect cells; /* the picture or the numbers, as last drawn */
    struct lab_rect tabs[LAB_PANE_COUNT]; /* their titles; w 0: not drawn */
    struct lab_rect chips[LAB_STEPPER_TENSORS];

    struct lab_rect explain_at;         /* the explanation, as last drawn */
    size_t first_term;                  /* the paragraph of its first term */
    int term;                           /* chosen term of the explanation */
    int source;                         /* chosen source of that term */
    struct lab_doc doc[LAB_PANE_COUNT]; /* of the panes of text */
    struct lab_pager pager[LAB_PANE_COUNT];
    int64_t view_h[LAB_PANE_COUNT];

    struct lab_stepper_kernel *kernels;
    int n_kernels;      /* -1: not known */
    int64_t kernels_of; /* exec they were read for */
    int text_step; /* the lesson's: LAB_TEXT_NONE, LAB_TEXT_OPENING or a step */
    int text_columns;

    struct {
        bool open;
        int node;
        const char *name[LAB_STEPPER_VARIANTS];
        int n;
        int cursor;
        int first;             /* the row on top, as last drawn */
        struct lab_rect inner; /* and where the rows are */
    } variants;
    char search[64];
    char list[LAB_COMMAND_ARG_BYTES]; /* what `list` shows */
    bool searching;                   /* n and N go to matches */
    struct lab_command again;         /* the restart that is asked about */
    bool ends_training;               /* for a restart: its message stays */
};

/* What the lesson's text is about now; all NULL: its introduction. */
struct lab_stepper_topic {
    const char *step;
    const char *node;
    const char *phase;
};

LAB_C_BEGIN
/* stepper_tensor.c */
void lab_stepper_look_at(struct lab_stepper *v, int tensor);
struct lab_tensor_slice *lab_stepper_look(const struct lab_stepper *v);
void lab_stepper_goto_element(struct lab_stepper *v, struct lab_element e);
/* The cursor to the element at a place of the screen, or another tensor where
 * its name is; false: neither is there. */
bool lab_stepper_click_tensor(struct lab_stepper *v, int y, int x);
/* Moves the cursor; false for other actions. */
bool lab_stepper_tensor_action(struct lab_stepper *v, int action);
/* For keys. */
enum lab_status lab_stepper_next_tensor(struct lab_screen *s, int by);
enum lab_status lab_stepper_next_slice(struct lab_screen *s, int by);
enum lab_status lab_stepper_next_hidden(struct lab_screen *s, int by);
enum lab_status lab_stepper_turn_axis(struct lab_screen *s, int rows);
enum lab_status lab_stepper_turn_picture(struct lab_screen *s);
void lab_stepper_explain_cursor(struct lab_stepper *v);
void lab_stepper_mark_sources(struct lab_stepper *v);
bool lab_stepper_plane_ready(const struct lab_stepper *v);

/* tensor */
void lab_stepper_draw_tensor(struct lab_stepper *v, struct lab_canvas *c,
                             struct lab_rect r);

/* The printed value of an element; false: nothing is printed for it. */
bool lab_stepper_printed(const struct lab_stepper *v, int tensor, int64_t index,
                         double *value,
                         const struct lab_course_values_spec **spec);

bool lab_stepper_is_shown(const struct lab_show *show, int axis);
/* Other axes (-1: none), with the cursor on the same element. */
void lab_stepper_look_along(struct lab_stepper *v, int row_axis, int col_axis);

/* view_train.c: for a lesson without text; the answer to `:near`, cut where the
 * terminal ends. */
extern const char lab_train_sample_not_here[];
void lab_train_show_near(struct lab_ui *ui, const struct lab_snapshot *snap);
LAB_C_END
