/* ui/keymap.h -- keys, what they are bound to, and their names.
 *
 * One table a screen has everything about its keys: the bar at the bottom, the
 * help page and the handling are all made from it. No curses here.
 * Threads: any; the tables are const. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

/* A key is a Unicode code point, a control character, or one of these. */
enum lab_key {
    LAB_KEY_NONE = 0,
    LAB_KEY_CTRL_L = 12,
    LAB_KEY_TAB = '\t',
    LAB_KEY_ENTER = '\n', /* carriage return and the keypad's Enter too */
    LAB_KEY_ESC = 0x1B,
    LAB_KEY_BACKSPACE = 0x7F,
    LAB_KEY_UP = 0x110000, /* above the last code point */
    LAB_KEY_DOWN,
    LAB_KEY_LEFT,
    LAB_KEY_RIGHT,
    LAB_KEY_PAGE_UP,
    LAB_KEY_PAGE_DOWN,
    LAB_KEY_HOME,
    LAB_KEY_END,
    LAB_KEY_INSERT,
    LAB_KEY_DELETE,
    LAB_KEY_BACKTAB,
    LAB_KEY_F1, /* to F12, in order */
    LAB_KEY_F12 = LAB_KEY_F1 + 11
};

/* What a key asks for. The named ones mean the same on every screen, which
 * the shell knows: LAB_ACT_OWN is the screen's own. */
enum lab_action {
    LAB_ACT_NONE = 0,
    LAB_ACT_UP,
    LAB_ACT_DOWN,
    LAB_ACT_LEFT,
    LAB_ACT_RIGHT,
    LAB_ACT_PAGE_UP,
    LAB_ACT_PAGE_DOWN,
    LAB_ACT_FIRST,
    LAB_ACT_LAST,
    LAB_ACT_NEXT_PANE,
    LAB_ACT_PREV_PANE,
    LAB_ACT_OPEN,
    LAB_ACT_CANCEL,
    LAB_ACT_SEARCH,
    LAB_ACT_SEARCH_NEXT,
    LAB_ACT_SEARCH_PREV,
    LAB_ACT_COMMAND,
    LAB_ACT_HELP,
    LAB_ACT_BACK,
    LAB_ACT_REDRAW,
    LAB_ACT_SORT,
    LAB_ACT_SORT_TURN,
    LAB_ACT_OWN
};

enum { LAB_KEY_NAME_BYTES = 16 };

struct lab_screen;
struct lab_screen_ops;

struct lab_binding {
    const char *keys; /* "s F7"; the first is shown; NULL ends a table */
    bool bar;         /* shown in the bar */
    const char *name; /* for the bar: one or two words */
    const char *help; /* for the help page: one line */
    int action;
    /* What the key does, one of three; the shell shows the error. None: what the
     * action means to the screen, or everywhere. */
    enum lab_status (*act)(struct lab_screen *s);
    enum lab_status (*act_with)(struct lab_screen *s, int with);
    int with;
    const struct lab_screen_ops
        *view; /* opened (ui/views.h): of what, `with` */
};

LAB_C_BEGIN
/* Movement and what works everywhere. With `sideways` h and l move; without,
 * h opens help. Looked at after the screen's own table. */
const struct lab_binding *lab_global_keymap(bool sideways);

/* The row that binds `key`, or NULL. A NULL table has no rows. */
const struct lab_binding *lab_keymap_find(const struct lab_binding *table,
                                          int key);
/* The row of an action other than LAB_ACT_OWN, or NULL. */
const struct lab_binding *lab_keymap_action(const struct lab_binding *table,
                                            int action);

/* `table` with the first row of which the name begins with it for each of `bar` in
 * front, in its order: they are the bar. `out` has room for the table with its
 * end; returns it. */
const struct lab_binding *lab_keymap_bar(const struct lab_binding *table,
                                         const char *bar,
                                         struct lab_binding *out);

/* Where an action of movement leads in a list of `count`: from `at`, by one, by
 * `page` less one, or to an end. -1: the action is no movement. */
int64_t lab_action_move(int action, int64_t at, int64_t count, int64_t page);

/* "Enter", "F5", "^L", "Space", "Up", "g"; returns `out`. */
const char *lab_key_name(int key, char out[LAB_KEY_NAME_BYTES]);
/* The key of such a name, or LAB_KEY_NONE. */
int lab_key_parse(const char *name);
/* The first key of a list of names, and *names moved behind it; LAB_KEY_NONE at
 * its end, or before what is no name. */
int lab_key_next(const char **names);

/* LAB_E_CHECK, naming the row, when a key is bound twice or is none, an F key
 * has no letter twin, or a row has no name or help. For tests. */
enum lab_status lab_keymap_check(const struct lab_binding *table);
LAB_C_END
