/* ui_priv.h -- the loop's own state, shared by ui.c, ui_keys.c and
 * ui_draw.c. Threads: the UI's, but for `wake`. */
#pragma once
#include <stdatomic.h>
#include <stdint.h>
#include "script.h"
#include "ui/layout.h"
#include "ui/prompt.h"
#include "ui/ui.h"

enum {
    LAB_UI_STACK = 16,
    LAB_UI_BAR_ITEMS = 32,
    LAB_UI_HISTORIES = 8,
    LAB_UI_AHEAD = 256, /* keys that wait */
    LAB_UI_FRAME_NS = 33 * 1000 * 1000
};

struct lab_ui_entry {
    struct lab_screen screen;
    int tick_ms;
    int64_t last_tick_ns;
    bool closing;
};

enum lab_ui_asking { LAB_ASK_NOTHING, LAB_ASK_LINE, LAB_ASK_YES };

struct lab_ui_history {
    int id; /* 0: free */
    struct lab_history lines;
};

struct lab_ui {
    struct lab_terminal *terminal; /* one of the two */
    struct lab_script *script;
    struct lab_canvas canvas;
    struct lab_ui_entry stack[LAB_UI_STACK];
    int depth;
    bool dirty;
    bool woken; /* a wake waits for the next frame */
    int signal;
    enum lab_status result;
    char result_text[512];
    int wake_fd;
    atomic_int wake;

    struct lab_event ahead[LAB_UI_AHEAD]; /* typed ahead: a ring */
    int ahead_first;
    int ahead_count;

    char message[512];
    char hint[320]; /* over the prompt: what may be typed; "": nothing */
    enum lab_role message_role;
    char badge[64];

    enum lab_ui_asking asking;
    int asking_id;
    struct lab_prompt prompt;
    struct lab_ui_history histories[LAB_UI_HISTORIES];

    struct { /* where the bar's items stand, for clicks */
        int x;
        int w;
        int key;
    } bar[LAB_UI_BAR_ITEMS];
    int bar_count;
};

LAB_C_BEGIN
struct lab_ui_entry *lab_ui_top(const struct lab_ui *ui); /* NULL: none */
const struct lab_binding *lab_ui_bindings(const struct lab_screen *s);
void lab_ui_draw(struct lab_ui *ui);
void lab_ui_handle_key(struct lab_ui *ui, int key);
void lab_ui_handle_mouse(struct lab_ui *ui, const struct lab_event *e);
LAB_C_END
