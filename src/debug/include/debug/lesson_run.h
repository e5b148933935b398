/* lesson_run.h -- a lesson that is opened: read, built, recorded. With a walk
 * for step, run and the bare program; with a session for the screen and
 * --plain.
 *
 * What is recorded: the profiler that listens, the window that screens read, the
 * writer that stores. With a session the run's row is made when the first step
 * runs, or the first iteration has ended, so that looking at a lesson leaves
 * nothing behind; with a walk at once, and a database that cannot be written is
 * an error then. Without a database everything else works, and
 * lab_recording_note() has the reason why nothing is stored. A restart ends the run; the
 * next step begins another, so that one run is one walk from one seed.
 *
 * Threads: hooks run on the thread that walks; the rest on any one thread, which
 * never waits for a database that is being opened. */
#pragma once
#include "debug/options.h"
#include "engine/session.h"
#include "engine/walk.h"
#include "lesson/lesson.h"
#include "profiler/counters.h"
#include "profiler/profiler.h"
#include "store/live.h"
#include "store/writer.h"

struct lab_generator;
struct lab_kept;
struct lab_recording;

struct lab_lesson_run {
    const struct lab_options *options;
    struct lab_lesson *lesson;
    struct lab_network_spec spec; /* with the options' seed, rate, precision */
    struct lab_kept *kept;        /* of --load or --continue, or NULL */
    struct lab_recording *recording;
    struct lab_session *session; /* or */
    struct lab_plan *plan;
    struct lab_walk *walk;
    struct lab_generator *generator; /* NULL: no --sample */
    struct lab_device_info device;
    struct lab_str notice;
};

LAB_C_BEGIN
/* ---- what is recorded ---- */

struct lab_live *lab_recording_live(struct lab_recording *r);
/* Counters are asked for and available. Where they are refused, a warning has
 * reported it (lab_recording_note()), and the run's row has it. */
bool lab_recording_counts(const struct lab_recording *r);
/* Counts steps that have run (profiler/counters.h); where the run asked for no
 * set, the basic one. On the thread that walks. */
enum lab_status lab_recording_count(struct lab_recording *r,
                                    struct lab_walk *walk, int from, int to,
                                    struct lab_counted *out);
/* "1.23 ms in the profiler ...": what tracing has cost, beside a training of
 * `seconds` (not positive or NaN: leaves it out); ""
 * where nothing is traced. After closing(). */
void lab_recording_trace_cost(const struct lab_recording *r, double seconds,
                              struct lab_str *out);
/* Joules since the recording was opened, by a counter; NaN: there is none. */
double lab_recording_energy(struct lab_recording *r);
enum lab_trace_state lab_recording_trace_state(const struct lab_recording *r);
/* Lines for the learner: no CUPTI, no database, records dropped; "" nothing. */
void lab_recording_note(struct lab_recording *r, struct lab_str *out);
/* The state of the recording, or its end. */
struct lab_recording_state {
    int64_t run;           /* after a restart the one that it ended; 0: none */
    bool whole;            /* nothing was refused or dropped */
    int64_t lost;          /* records, of the run */
    bool empty;            /* there is a run, and no record of it is stored */
    double trace_calls_ms; /* struct lab_trace_cost; NaN: none */
    double trace_callbacks_ms;
    char error[LAB_WRITER_ERROR_TEXT]; /* why; "" where nothing is known */
};
void lab_recording_get_state(struct lab_recording *r,
                             struct lab_recording_state *out);
/* Everything recorded so far is in the database. */
enum lab_status lab_recording_flush(struct lab_recording *r);
/* Without waiting: lab_writer_mark() and lab_writer_stored() of the run that is
 * recorded; where none is, everything counts as stored. */
int64_t lab_recording_mark(struct lab_recording *r);
bool lab_recording_stored(struct lab_recording *r, int64_t mark);
/* A reader leaves a walk before an iteration was whole: it becomes no run, where
 * those are kept from the first whole one on. */
void lab_recording_leave(struct lab_recording *r);
/* A session's figures, status done. */
void lab_recording_summarize(const struct lab_snapshot *snap,
                             struct lab_run_summary *out);
/* The run's end; without it the run is "interrupted". The walk has closed. What
 * was lost does not come back: a failure is one of the record, not of what was
 * computed. */
enum lab_status lab_recording_finish(struct lab_recording *r,
                                     const struct lab_run_summary *summary);
/* A backend's device as a run's record has it; the texts stay `info`'s. */
void lab_run_device_fill(struct lab_run_device *d,
                         const struct lab_device_info *info, bool gpu);

/* ---- opening and closing ---- */

/* Finds and reads a lesson that has a network; a lab is LAB_E_USAGE, with the
 * command that runs it, and records in `db` (suggest.h). */
enum lab_status lab_lesson_run_lesson(const char *name, const char *db,
                                      struct lab_lesson **out);
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
LAB_C_END
