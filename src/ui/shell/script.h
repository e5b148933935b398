/* script.h -- keys from a file: a test's script without a terminal, or a session
 * that was recorded and is played on one. The same format for both.
 *
 * One token a line; empty lines and lines that start with '#' are skipped:
 *   key NAME         a key by its name: j, Enter, F5, ^L, Space
 *   text TEXT        the rest of the line, typed
 *   resize W H       the size, as in "resize 80 24" (the default)
 *   click Y X        a click of the mouse
 *   wheel-up Y X     its wheel; wheel-down Y X
 *   wait MS          let time pass: ticks and wakes go on
 *   caption TEXT     text over the bottom of the screen until the next caption;
 *                    alone, it goes
 *   await MS TEXT    wait until TEXT is on the screen; fails after MS
 *   expect TEXT      TEXT must be on the screen now
 *   absent TEXT      it must not
 *   screen FILE      write the screen to FILE as text; not in a recording
 *   quit             end; the end of the file means the same, but on a terminal,
 *                    where the learner goes on
 *
 * Threads: one. */
#pragma once
#include "ui/canvas.h"
#include "ui/event.h"

struct lab_script;
struct lab_key_log;

LAB_C_BEGIN
/* Reads a file. `canvas` is the screen that await, expect and absent look at; it
 * must outlive the script. `played` refuses `screen`: a recording comes from
 * others and must write no file. *out is for lab_script_close(), on failure too.
 * Errors: LAB_E_IO, LAB_E_PARSE (with file and line), LAB_E_NOMEM. */
enum lab_status lab_script_open(struct lab_script **out, const char *path,
                                const struct lab_canvas *canvas, bool played);
/* A script of no file: it waits until the screen that is opened is ready. The
 * rest as above. */
enum lab_status lab_script_still(struct lab_script **out,
                                 const struct lab_canvas *canvas, int h, int w);
void lab_script_close(struct lab_script *s); /* NULL is allowed */
/* The size of the first `resize`, else 80x24. */
void lab_script_size(const struct lab_script *s, int *h, int *w);
/* Runs the next token that is due into *out and returns 0, or returns after how
 * many milliseconds at most to ask again. `keys_wait`: keys are typed ahead, so
 * that looking at the screen would be too early. */
int lab_script_next(struct lab_script *s, bool keys_wait,
                    struct lab_event *out);
/* Waits for that as lab_terminal_wait() does. */
void lab_script_wait(struct lab_script *s, int timeout_ms, int wake_fd,
                     bool keys_wait, struct lab_event *out);
/* Ends a `wait` now. */
void lab_script_skip_wait(struct lab_script *s);
/* Whether it is a recording, which must write no files. */
bool lab_script_played(const struct lab_script *s);
/* The caption now; "": none. Valid as long as the script. */
const char *lab_script_caption(const struct lab_script *s);
/* Keys and clicks that were played, of how many. */
void lab_script_progress(const struct lab_script *s, int *done, int *all);
/* LAB_OK: it came to its end, *quit when a `quit` ended it. LAB_E_CHECK: a token
 * failed. */
enum lab_status lab_script_result(const struct lab_script *s, bool *quit);

/* Creates a file that must not exist yet, and writes the size of the screen.
 * Errors: LAB_E_IO, LAB_E_NOMEM. */
enum lab_status lab_key_log_open(struct lab_key_log **out, const char *path,
                                 int h, int w);
/* Adds a key, a click, the wheel or a new size, with the time since the last. */
void lab_key_log_add(struct lab_key_log *r, const struct lab_event *e);
/* Closes the file. NULL is allowed. Errors: LAB_E_IO, also of an earlier write. */
enum lab_status lab_key_log_close(struct lab_key_log *r);
LAB_C_END
