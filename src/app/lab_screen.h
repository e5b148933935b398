/* lab_screen.h -- a lesson of kind lab on the screen: a thread of its own opens
 * the backends and climbs, and the screen's model on top of it. */
#pragma once
#include "lesson_screen.h"

struct lab_lab_screen;

/* Whether a lesson (id or path) is a lab. One that cannot be read is none. */
bool lab_lab_screen_is(const char *lesson);
/* Reads the lesson, starts the thread, pushes the screen. Errors: the lesson's
 * own; LAB_E_NOMEM. */
enum lab_status lab_lab_screen_open(struct lab_lab_screen **out,
                                    struct lab_ui *ui,
                                    const struct lab_options *options,
                                    const char *lesson,
                                    lab_lesson_seen_fn *seen, void *user);
/* The thread wakes `ui` no more: before `ui` is freed. NULL ok. */
void lab_lab_screen_hush(struct lab_lab_screen *s);
/* Stops what runs (its run is a cancelled one), waits for it, frees all. The
 * screen must be closed. NULL ok. */
void lab_lab_screen_close(struct lab_lab_screen *s);
