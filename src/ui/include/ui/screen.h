/* ui/screen.h -- what a screen of the program is: a table of functions.
 *
 * (A `struct lab_view` is a tensor's; a screen of the user interface is a
 * `struct lab_screen`.) The framework allocates `state_bytes` of zeroed memory
 * for each open screen, keeps a stack of them, draws the top one inside the
 * frame, and hands it keys by way of its binding table. Draw functions read
 * their state and draw, nothing else: they run at every frame and size.
 * Threads: all functions run on the UI's thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "ui/canvas.h"
#include "debug/command.h"
#include "ui/event.h"
#include "ui/keymap.h"

struct lab_pager;
struct lab_run_args;
struct lab_screen_ops;
struct lab_table;
struct lab_ui;

struct lab_screen {
    const struct lab_screen_ops *ops;
    void *state; /* ops->state_bytes, owned by the framework */
    struct lab_ui *ui;
};

struct lab_sign {
    const char *sign;
    const char *means;
};

/* A part of a screen that moves: one of the two. */
struct lab_pane {
    struct lab_table *table;
    struct lab_pager *pager;
};

/* The parts of a screen that move, sort and are searched, which the shell does;
 * *chosen is the one that has the keys. */
struct lab_panes {
    struct lab_pane at[4];
    int count;
    int *chosen;      /* may be NULL where there is one */
    bool click_opens; /* a click on the chosen row is Enter */
};

/* What a view is opened for (ui/views.h). */
enum lab_subject { LAB_OF_RUN = 1, LAB_OF_STEP = 2, LAB_OF_KERNEL = 4 };

struct lab_screen_ops {
    const char *name;  /* stable id: "home" */
    const char *title; /* shown when title_now is NULL */
    size_t state_bytes;
    const struct lab_binding *bindings; /* may be NULL */
    bool sideways; /* h and l move here; otherwise h opens help */

    /* `args` is what lab_ui_push() was given; keep what outlives the call. On
     * failure the screen does not open, and release frees what there is of a
     * state that began as zeroes. */
    enum lab_status (*init)(struct lab_screen *s, const void *args);
    void (*release)(struct lab_screen *s); /* optional */
    /* Draws inside `body`; the clip is set to it. */
    void (*draw)(struct lab_screen *s, struct lab_canvas *c,
                 struct lab_rect body);

    /* All below are optional. */
    /* A key bound without a function of its own: false when it means
     * nothing here. It comes before what the panes do with it. */
    bool (*action)(struct lab_screen *s, int action);
    void (*panes)(struct lab_screen *s, struct lab_panes *out);
    /* A search of its own, as lab_pager_search(); "": for the same text again. */
    bool (*search)(struct lab_screen *s, const char *text, int dir);
    /* The text so far of a search that filters: while it is typed, at its end,
     * and "" when it is cancelled. false: it is a search, at its end. */
    bool (*filter)(struct lab_screen *s, const char *text);
    const char *place; /* where it searches: "text"; NULL: by the pane */
    /* What is under the cursor, for the views that the bindings list. */
    enum lab_status (*subject)(struct lab_screen *s, enum lab_subject of,
                               struct lab_run_args *out);
    /* False, after a message: the screen's own keys mean nothing yet. */
    bool (*ready)(struct lab_screen *s);
    /* After each key, click and answer that was used. */
    void (*after)(struct lab_screen *s);
    /* An unbound key; false: the status line states "press ? for help". */
    bool (*key)(struct lab_screen *s, int key);
    /* Called after lab_ui_wake(), and every lab_screen_tick_every(); returns
     * whether something changed that shows. */
    bool (*tick)(struct lab_screen *s);
    /* A `:` command; false when it means nothing here. */
    bool (*command)(struct lab_screen *s, const struct lab_ui_command *cmd);
    /* A `:` line of words that are the screen's own, before it is read as a command;
     * false: it is none of them. */
    bool (*line)(struct lab_screen *s, const char *text);
    /* The answer to lab_ui_prompt() or lab_ui_ask(); NULL: cancelled. */
    void (*answer)(struct lab_screen *s, int id, const char *text);
    /* A click or wheel inside the body. */
    bool (*mouse)(struct lab_screen *s, enum lab_mouse what, int y, int x);
    /* Optional. The mouse was pressed in the body, for which mouse() was called, and
     * released at (y, x), anywhere. */
    void (*drag)(struct lab_screen *s, int from_y, int from_x, int y, int x);
    /* The nth candidate for the argument of a command, or NULL at the end:
     * step names for `run`, tensors for `print`. */
    const char *(*complete)(struct lab_screen *s, enum lab_ui_command_kind kind,
                            int nth);
    /* The rest of the title line, at most cap bytes with the NUL. */
    void (*title_now)(struct lab_screen *s, char *out, size_t cap);
    /* The table that holds now, for a screen with modes. */
    const struct lab_binding *(*bindings_now)(const struct lab_screen *s);
    /* true: `key` (0: a click) must wait, for what was asked for before it has
     * not been done yet. The keys behind it wait too. Esc that need not wait
     * drops those before it. */
    bool (*waits)(struct lab_screen *s, int key);
    /* The screen is on top again after another one closed. */
    void (*shown)(struct lab_screen *s);
    /* What its picture is drawn with, for the help; ends with NULL. */
    const struct lab_sign *signs;
    /* false keeps the screen open (it may ask a question first). */
    bool (*may_close)(struct lab_screen *s);
};
