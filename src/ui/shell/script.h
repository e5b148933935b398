/* script.h -- keys from a file instead of a terminal, for tests and demos.
 *
 * One token a line; empty lines and lines that start with '#' are skipped:
 *   key NAME       a key by its name: j, Enter, F5, ^L, Space
 *   text TEXT      the rest of the line, typed
 *   resize W H     the size, as in "resize 80 24" (the default)
 *   click Y X      a click of the mouse
 *   wait MS        let time pass: ticks and wakes go on
 *   await MS TEXT  wait until TEXT is on the screen; fails after MS
 *   expect TEXT    TEXT must be on the screen now
 *   absent TEXT    it must not
 *   screen FILE    write the screen to FILE as text
 *   quit           end; the end of the file means the same
 * Threads: the UI's. */
#pragma once
#include <stdbool.h>
#include "base/status.h"
#include "ui/event.h"

struct lab_script;

/* Whether `text` is on the screen. */
typedef bool lab_script_sees_fn(void *user, const char *text);

LAB_C_BEGIN
/* Reads and checks the whole file: LAB_E_IO, LAB_E_PARSE with FILE:LINE. */
enum lab_status lab_script_open(struct lab_script **out, const char *path,
                                lab_script_sees_fn *sees, void *user);
void lab_script_close(struct lab_script *s);
void lab_script_size(const struct lab_script *s, int *h, int *w);
/* As lab_terminal_wait(). While keys wait to be handled (`keys_wait`), nothing is
 * looked for on the screen. */
void lab_script_wait(struct lab_script *s, int timeout_ms, int wake_fd,
                     bool keys_wait, struct lab_event *out);
/* LAB_E_CHECK when an `expect`, `absent` or `await` failed. */
enum lab_status lab_script_result(const struct lab_script *s);
LAB_C_END
