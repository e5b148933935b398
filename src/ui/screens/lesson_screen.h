/* lesson_screen.h -- one lesson in the stepper: its session, its recording,
 * and the stepper's model on top of them. */
#pragma once
#include "lesson/lesson.h"
#include "debug/options.h"
#include "engine/snapshot.h"
#include "ui/ui.h"

struct lab_lesson_screen;

/* What the learner did, for the progress file. */
typedef void lab_lesson_progress_fn(void *user, const char *lesson,
                                    int64_t steps_seen, int64_t steps_total,
                                    bool finished);

/* Reads the lesson (id or path), starts its session and pushes the stepper. With
 * `stays` a training can be left running in the background. Errors: the
 * lesson's own. */
enum lab_status
lab_lesson_screen_open(struct lab_lesson_screen **out, struct lab_ui *ui,
                       const struct lab_options *options, const char *lesson,
                       bool stays, lab_lesson_progress_fn *seen, void *user);
/* What has become of a training that was left running. */
enum lab_background {
    LAB_BACKGROUND_NONE, /* none was left */
    LAB_BACKGROUND_RUNS,
    LAB_BACKGROUND_STOPPED, /* at a break, by an error: to be looked at */
    LAB_BACKGROUND_DONE
};
/* `text` gets a line about one that runs or has stopped. NULL ok. */
enum lab_background lab_lesson_screen_background(struct lab_lesson_screen *s,
                                                 char *text, size_t cap);
/* The same of a snapshot of the session that was left. */
enum lab_background lab_background_of(const char *lesson,
                                      const struct lab_snapshot *snap,
                                      char *text, size_t cap);
/* Is it this lesson (id)? NULL ok. */
bool lab_lesson_screen_is(const struct lab_lesson_screen *s,
                          const char *lesson);
/* Pushes its stepper again. */
enum lab_status lab_lesson_screen_again(struct lab_lesson_screen *s,
                                        struct lab_ui *ui);
/* The session wakes `ui` no more: before `ui` is freed. NULL ok. */
void lab_lesson_screen_detach_ui(struct lab_lesson_screen *s);
/* Ends the session and the recording: the run was cancelled when something ran.
 * The screen must be closed. `notes` (or NULL)
 * gets lines for standard error. s may be NULL. */
void lab_lesson_screen_close(struct lab_lesson_screen *s,
                             struct lab_str *notes);
