/* lab_screen.h -- a lesson of kind lab on the screen: a thread of its own opens
 * the backends and climbs, and the screen's model on top of it. */
#pragma once
#include "debug/options.h"
#include "ui/ui.h"

struct lab_bench_screen;

/* What the learner did, for the progress file. */
typedef void lab_lesson_progress_fn(void *user, const char *lesson,
                                    int64_t steps_seen, int64_t steps_total,
                                    bool finished);

/* Reads the lesson, starts the thread, pushes the screen. Errors: the lesson's
 * own; LAB_E_NOMEM. */
enum lab_status lab_bench_screen_open(struct lab_bench_screen **out,
                                      struct lab_ui *ui,
                                      const struct lab_options *options,
                                      const char *lesson,
                                      lab_lesson_progress_fn *seen, void *user);
/* The screen has been left: what runs shall stop (its run is a cancelled one),
 * and `ui` is woken no more. Waits for nothing: `s` goes to the head of the list
 * *leaving. True: a call still runs. NULL ok. */
bool lab_bench_screen_leave(struct lab_bench_screen *s,
                            struct lab_bench_screen **leaving);
/* Frees those of the list with an ended thread; with `wait` all of them, and
 * a long wait is reported on stderr: the terminal is the shell's again. */
void lab_bench_screen_reap(struct lab_bench_screen **leaving, bool wait);
