/* terminal_priv.h -- the parts of the terminal that know no curses: signals,
 * crashes, the stderr of libraries, and the palette. One guard a process. */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include "base/status.h"
#include "ui/canvas.h"

struct lab_guard_progress {
    int quit; /* a signal that ends the program, or 0 */
    bool stop;
    bool resume;
};

LAB_C_BEGIN
/* Where keys come from: standard input, or else the terminal itself, which is
 * then the caller's *in. LAB_E_UNSUPPORTED: no terminal. */
enum lab_status lab_terminal_find_input(FILE **in, int *fd);
/* curses ends the program, or draws nonsense, on a terminal that it does not
 * know or that cannot place its cursor. *colors: how many it knows, below 1
 * for none. *type: the terminfo name to open it with: TERM, or, where that one
 * is not known, a stand-in. LAB_E_UNSUPPORTED says to use --plain. */
enum lab_status lab_terminal_check(int *colors, const char **type);

/* Keeps the terminal's settings and takes the signals. Before curses starts:
 * it leaves handlers that it finds alone. LAB_E_IO, LAB_E_STATE. */
enum lab_status lab_guard_open(int tty);
void lab_guard_close(void);
/* What puts the screen right when there is no time for curses. */
void lab_guard_set_leave(const char *bytes);
/* Wakes the loop after curses' own SIGWINCH handler; after curses started. */
void lab_guard_chain_winch(void);
int lab_guard_fd(void); /* readable when there is news */
struct lab_guard_progress lab_guard_take(void);
bool lab_guard_crashed(void);
/* Stops the process as Ctrl-Z does; returns when it is continued. */
void lab_guard_stop(void);

/* From now on a stderr that is a terminal goes aside; failure is no harm. */
void lab_stderr_hold(void);
/* stderr is itself again, and what was held is printed on it, control
 * characters made visible, the beginning left out when it is very long. */
void lab_stderr_release(void);
/* For a crash handler: the same, raw, with async-signal-safe calls only. */
void lab_stderr_spill(void);

enum {
    LAB_STYLE_BOLD = 1,
    LAB_STYLE_DIM = 2,
    LAB_STYLE_UNDERLINE = 4,
    LAB_STYLE_REVERSE = 8
};

struct lab_style {
    int style; /* bits of LAB_STYLE_* */
    int color; /* -1: the terminal's own; RGB when colors is 1 << 24 */
};
/* How a role looks with so many colours (0: none). */
struct lab_style lab_palette(enum lab_role role, int colors);
LAB_C_END
