/* lesson_run.h -- a lesson that is opened: read, built, recorded. With a walk
 * for step, run and the bare program; with a session for the screen and
 * --plain. */
#pragma once
#include "engine/session.h"
#include "lesson/lesson.h"
#include "debug/options.h"
#include "debug/recording.h"

struct lab_generator;

struct lab_lesson_run {
    const struct lab_options *options;
    struct lab_lesson *lesson;
    struct lab_network_spec spec; /* with the options' seed, rate, precision */
    struct lab_recording *recording;
    struct lab_session *session; /* or */
    struct lab_plan *plan;
    struct lab_walk *walk;
    struct lab_generator *generator; /* NULL: no --sample */
    struct lab_device_info device;
    struct lab_str notice;
};

/* Finds and reads a lesson that has a network; a lab is LAB_E_USAGE, with the
 * command that runs it, and records in `db` (suggest.h). */
enum lab_status lab_lesson_run_lesson(const char *name, const char *db,
                                      struct lab_lesson **out);
/* ", learning rate 0.5" where the options set one, else "". */
enum { LAB_WORK_LR_TEXT = 48 };
const char *lab_lesson_run_lr_text(const struct lab_options *o,
                                   char out[LAB_WORK_LR_TEXT]);
/* What a command still has to find right before a run is recorded; the network
 * is built, and what it puts into `w` lab_lesson_run_close() frees. */
typedef enum lab_status lab_lesson_run_check_fn(struct lab_lesson_run *w);
/* Opens the lesson (id or path) and everything for it. On failure nothing is
 * left open, and no run is recorded. `w` need not be initialised; `check` may
 * be NULL. */
enum lab_status lab_lesson_run_open(struct lab_lesson_run *w,
                                    const struct lab_options *options,
                                    const char *lesson,
                                    lab_lesson_run_check_fn *check);
/* The same with a session, which starts on a thread of its own; the run begins
 * with the first step, or with the first iteration where `whole`. On failure
 * too, lab_lesson_run_close() frees what is there. */
enum lab_status lab_lesson_run_start(struct lab_lesson_run *w,
                                     const struct lab_options *options,
                                     const char *lesson, bool whole,
                                     void (*wake)(void *user), void *user);
/* A walk: ends the run in the database, once. A database that refuses is reported on
 * stderr, and is no failure of what was computed: `out` has how much is kept. */
void lab_lesson_run_finish(struct lab_lesson_run *w,
                           const struct lab_run_summary *summary,
                           struct lab_recording_state *out);
/* The exit code of a command when its run was kept like that: LAB_EXIT_INPUT in
 * place of LAB_EXIT_DONE when nothing of the run is stored. */
int lab_lesson_run_code(int code, const struct lab_recording_state *kept);
/* A walk: the elements of a tensor as they are, to be freed with lab_free(); NULL
 * on failure. LAB_E_NOMEM, the backend's. */
enum lab_status lab_lesson_run_read(struct lab_lesson_run *w, int tensor,
                                    void **data);
/* Frees all; a run that was not finished is an interrupted one. */
void lab_lesson_run_close(struct lab_lesson_run *w);
/* Notices on stderr: what was left out, no GPU, not recorded. */
void lab_lesson_run_warn(struct lab_lesson_run *w);
