/* work.h -- a lesson opened for step and run: read, built, recorded. */
#pragma once
#include "lesson/lesson.h"
#include "options.h"
#include "recording.h"

struct lab_work {
    const struct lab_options *options;
    struct lab_lesson *lesson;
    struct lab_network_spec spec; /* the lesson's, with the options' seed */
    struct lab_recording *recording;
    struct lab_plan *plan;
    struct lab_walk *walk;
    struct lab_device_info device;
    struct lab_str notice;
};

/* Opens the lesson (id or path) and everything for it. On failure nothing is
 * left open. `w` need not be initialised. */
enum lab_status lab_work_open(struct lab_work *w,
                              const struct lab_options *options,
                              const char *lesson);
/* Ends the run in the database and frees all. `summary` NULL: interrupted. */
enum lab_status lab_work_close(struct lab_work *w,
                               const struct lab_run_summary *summary);
/* Notices on stderr: what was left out, no GPU, not recorded. */
void lab_work_warn(struct lab_work *w);
