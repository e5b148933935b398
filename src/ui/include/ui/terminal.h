/* ui/terminal.h -- the terminal: the only part that knows curses.
 *
 * One at a time in a process. While it is open, SIGINT, SIGTERM and SIGHUP only
 * set a flag, which comes out of lab_terminal_wait() as an event; a crash puts
 * the terminal right, lets the message of a library through, and dies of its
 * own signal. Signals that were ignored at the start stay ignored. What
 * libraries write to standard output, or to a stderr that is the terminal, is
 * kept aside and printed to stderr at lab_terminal_close().
 *
 * Calls setlocale(LC_CTYPE, ""): numbers keep their point.
 * Threads: one, but for lab_terminal_* marked otherwise. */
#pragma once
#include <stdbool.h>
#include "base/status.h"
#include "report/palette.h"
#include "ui/canvas.h"
#include "ui/event.h"

struct lab_terminal_options {
    /* Of lab_print_color(). "direct": direct colour where TERM has 256 colours, also
     * if COLORTERM does not state it; "256": not even then. */
    const char *color;
    /* Of lab_theme_find(). "auto", unlike NULL: where COLORFGBG is not set, the
     * terminal is asked for its background while the first frames are shown. */
    const char *theme;
    bool ascii; /* even where the locale is UTF-8 */
    bool mouse;
    /* "auto": the terminal is asked whether it shows pictures in pixels, while
     * the first frames are shown; "none", "sixel", "kitty"; NULL: none */
    const char *graphics;
};

struct lab_terminal;

LAB_C_BEGIN
/* A TERM that the terminfo database lacks is taken for an xterm or a vt100.
 * Errors: LAB_E_UNSUPPORTED no terminal, or one that cannot place its cursor
 * (TERM=dumb); the message names --plain. LAB_E_NOMEM. LAB_E_STATE one is
 * open already. Opens /dev/tty when standard input is not a terminal. */
enum lab_status lab_terminal_open(struct lab_terminal **out,
                                  const struct lab_terminal_options *options);
/* Whether lab_terminal_open() would find a terminal, how many colours that one
 * knows with the option `color` or NULL (0 monochrome), and its terminfo name (static,
 * or TERM itself), without opening it. Errors: its own. */
enum lab_status lab_terminal_probe(const char *color, int *colors,
                                   const char **type);
/* Restores the terminal and prints what libraries wrote. NULL is allowed. */
void lab_terminal_close(struct lab_terminal *t);

struct lab_terminal_facts {
    int h;
    int w;
    bool ascii;  /* only bytes below 0x80 may be sent: --ascii, or no UTF-8 */
    bool blocks; /* a Linux console: UTF-8, but no braille */
    bool tints;  /* lab_canvas.tints */
    int px_h;    /* lab_canvas.px_h: 0 without graphics */
    int px_w;
    enum lab_theme theme;
    /* The terminfo name that is used for a TERM which this machine does not
     * know, or NULL. */
    const char *stand_in;
};
void lab_terminal_get_facts(const struct lab_terminal *t,
                            struct lab_terminal_facts *out);

/* Another theme from the next frame on; "auto": as the terminal answered. False:
 * no such theme. A RESIZE follows. */
bool lab_terminal_theme(struct lab_terminal *t, const char *name);

/* Sends what changed since the last frame, and images (ui/canvas.h) where the
 * terminal has graphics. */
void lab_terminal_show(struct lab_terminal *t, const struct lab_canvas *c);
/* The next frame is sent whole: Ctrl-L. */
void lab_terminal_redraw(struct lab_terminal *t);
/* Waits at most timeout_ms (< 0: without end) for a key, a resize, a signal or
 * `wake_fd` becoming readable (< 0: none; it is not read here). A RESIZE also comes
 * when the terminal has answered that it has graphics, or another theme is in use.
 * Ctrl-Z gives the terminal back and stops the process; when that goes on, a RESIZE
 * follows. Sends what is left of images, with `images`: without it while a frame is
 * due, which goes first. */
void lab_terminal_wait(struct lab_terminal *t, int timeout_ms, int wake_fd,
                       bool images, struct lab_event *out);
/* Of the terminal at standard output, also while a screen has it. false: none, or
 * its size is not known. Threads: any. */
bool lab_terminal_get_size(int *h, int *w);
LAB_C_END
