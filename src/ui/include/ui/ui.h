/* ui/ui.h -- the loop: a stack of screens, a frame around the top one, keys,
 * messages, the prompt line, and a way to wake it from other threads.
 *
 * It sleeps until something happens. A key is drawn at once; wakes are drawn at
 * most 30 times a second, however many come. Threads: one, but for
 * lab_ui_wake(). */
#pragma once
#include <stdbool.h>
#include "base/status.h"
#include "ui/screen.h"
#include "ui/settings.h"
#include "ui/terminal.h"

struct lab_ui_options {
    struct lab_terminal_options terminal;
    const char *script; /* a file of tokens instead of a terminal, or NULL */
    const char *replay; /* a file of tokens played on the terminal, or NULL */
    const char *record; /* a new file for the keys of this session, or NULL */
    const char *cast;   /* a new file for its frames (ui/picture.h), or NULL */
    /* No terminal: the replay is played, or the first screen is drawn, and the
     * last frame is written to this new file as SVG. Or NULL. */
    const char *picture;
    const char *badge; /* "CPU", "NVIDIA H200", "recorded"; copied */
    const struct lab_ui_settings *settings; /* copied; NULL: none */
};

LAB_C_BEGIN
/* Opens the terminal, or the script. While a replay is played, Space pauses it
 * and goes on, Right takes the next key at once, and any other key ends it: the
 * screens stay and the user goes on. Errors: lab_terminal_open()'s; LAB_E_IO,
 * LAB_E_PARSE the script or the replay; LAB_E_IO the recording. */
enum lab_status lab_ui_new(struct lab_ui **out,
                           const struct lab_ui_options *options);
/* Closes all screens and the terminal. NULL is allowed. */
void lab_ui_free(struct lab_ui *ui);

/* Runs until the last screen closes. LAB_OK: the user quit. LAB_E_CANCELLED: a
 * signal came, lab_ui_signal() returns it. LAB_E_CHECK, LAB_E_IO: a script's
 * `expect` or `screen` failed. LAB_E_IO: the recording is not whole. */
enum lab_status lab_ui_run(struct lab_ui *ui);
int lab_ui_signal(const struct lab_ui *ui); /* 0 none */
/* The keys of a screen now; NULL: it has none. */
const struct lab_binding *lab_ui_keys(const struct lab_screen *s);

/* Opens a screen on top. On failure nothing changes, and the caller usually
 * shows lab_error() with lab_ui_error(). */
enum lab_status lab_ui_push(struct lab_ui *ui, const struct lab_screen_ops *ops,
                            const void *args);
/* Closes the top screen once the current event has been handled. */
void lab_ui_pop(struct lab_ui *ui);

/* Some thread has something to show: `tick` runs soon. Cheap; any thread,
 * signal handlers too. Takes void * to fit a callback. */
void lab_ui_wake(void *user);
/* Calls `tick` of the top screen every `ms` (0: only after wakes). */
void lab_ui_tick_every(struct lab_ui *ui, int ms);
void lab_ui_redraw(struct lab_ui *ui);
const struct lab_pane_sizes *lab_ui_pane_sizes(const struct lab_ui *ui);
/* Only characters below 0x80 are shown. */
bool lab_ui_is_ascii(const struct lab_ui *ui);

/* As if the user pressed it now, before what was typed ahead. */
void lab_ui_press(struct lab_ui *ui, int key);

/* One line in the status line, until the next key. */
void lab_ui_message(struct lab_ui *ui, enum lab_role role, const char *fmt, ...)
    LAB_PRINTF(3, 4);
/* The same with lab_error(). */
void lab_ui_error(struct lab_ui *ui);
/* The text at the right of the title line. */
void lab_ui_badge(struct lab_ui *ui, const char *text);

/* Asks for a line; ops->answer gets it. `initial` may be NULL. The search
 * prompt and others of the same `id` share a history. */
void lab_ui_prompt(struct lab_ui *ui, int id, const char *label,
                   const char *initial);
/* After that: what may be typed, over the prompt for as long as it asks. */
void lab_ui_hint(struct lab_ui *ui, const char *text);
/* Asks for y or n; ops->answer gets "y", or NULL. */
void lab_ui_ask(struct lab_ui *ui, int id, const char *question);
/* The same with other keys than y, which the question names: the answer is the
 * letter, or NULL. */
void lab_ui_ask_which(struct lab_ui *ui, int id, const char *question,
                      const char *letters);
enum { LAB_PROMPT_SEARCH = -1, LAB_PROMPT_COMMAND = -2 }; /* ids in use */

LAB_C_END
