/* recording.h -- what is kept of a run: the profiler that listens, the window
 * that screens read, the writer that stores. Wiring of profiler and store.
 *
 * The run's row is made when the first step runs, or with `whole` when the first
 * iteration has ended (its records wait till then), so that looking at a lesson
 * leaves nothing behind; with `eager` it is made at once, and a database
 * that cannot be written is an error then. Without a database everything else
 * works, and lab_recording_note() says why nothing is stored.
 *
 * A restart ends the run; the next step begins another, so that one run is one
 * walk from one seed.
 *
 * Threads: the hooks run on the thread that walks; the rest from any one thread, which never waits for a database that
 * is being opened. */
#pragma once
#include "debug/options.h"
#include "engine/session.h"
#include "engine/walk.h"
#include "lesson/lesson.h"
#include "profiler/counters.h"
#include "profiler/profiler.h"
#include "store/live.h"
#include "store/writer.h"

struct lab_recording;

struct lab_recording_options {
    const struct lab_lesson *lesson; /* must outlive the recording, as must */
    const struct lab_network_spec *spec; /* its, with the options' values */
    const struct lab_options *run; /* copied; its words must outlive, too */
    bool eager;
    bool whole; /* the first iteration makes the run, not the first step */
};

LAB_C_BEGIN
enum lab_status lab_recording_new(struct lab_recording **out,
                                  const struct lab_recording_options *options);
/* Ends as interrupted what was not finished. NULL allowed. */
void lab_recording_free(struct lab_recording *r);

/* Sets the hooks of a session that is to be recorded. */
void lab_recording_attach(struct lab_recording *r,
                          struct lab_session_config *config);
/* The hooks of a walk (engine/setup.h); user = the recording. */
void lab_recording_prepare(void *recording, const char *backend);
void lab_recording_opened(void *recording, struct lab_walk *walk);
void lab_recording_closing(void *recording, struct lab_walk *walk);
/* What opened() met: LAB_OK, or with `eager` why the database refuses. */
enum lab_status lab_recording_status(const struct lab_recording *r);

struct lab_live *lab_recording_live(struct lab_recording *r);
/* Where the device's times come from. */
enum lab_time_source lab_recording_time_source(const struct lab_recording *r);
/* The run, after a restart the one that it ended; 0: none yet. */
int64_t lab_recording_run(const struct lab_recording *r);
/* What is counted in this run: OFF too where counters cannot be had. */
enum lab_counter_set lab_recording_counters(const struct lab_recording *r);
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
enum lab_trace_state lab_recording_trace_state(const struct lab_recording *r);
/* Lines for the learner: no CUPTI, no database, records dropped; "" nothing. */
void lab_recording_note(struct lab_recording *r, struct lab_str *out);
/* The state of the recording, or its end. */
struct lab_recording_state {
    int64_t run;           /* as lab_recording_run() */
    bool whole;            /* nothing was refused or dropped */
    int64_t lost;          /* records, of the run */
    bool empty;            /* there is a run, and no record of it is stored */
    double trace_calls_ms; /* struct lab_trace_cost; NaN: none */
    double trace_callbacks_ms;
    char error[LAB_WRITER_ERROR_TEXT]; /* why; "" where nothing is known */
};
void lab_recording_get_state(const struct lab_recording *r,
                             struct lab_recording_state *out);
/* Everything recorded so far is in the database. */
enum lab_status lab_recording_flush(struct lab_recording *r);
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
LAB_C_END
