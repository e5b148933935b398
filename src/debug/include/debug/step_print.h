/* step_print.h -- what a step did, as lines of text for pipes and screen readers.
 * Errors: LAB_E_NOMEM, LAB_E_IO, the backend's. Threads: one. */
#pragma once
#include "debug/lesson_run.h"

/* Title, machine, network: what is about to be walked. */
enum lab_status lab_step_text_run(struct lab_lesson_run *w);
/* Step `index`, which has just run: its name, formula, time, and what it
 * wrote, with the largest element explained. */
enum lab_status lab_step_text(struct lab_lesson_run *w, int index);
/* After the first iteration also what the course prints, beside it. */
enum lab_status lab_step_text_end(struct lab_lesson_run *w);

/* The parts of it, where there is no walk: the machine and the network; name,
 * formula, time, work and the kernels of execution `exec`; a tensor's shape and
 * figures. */
void lab_step_text_machine(const struct lab_options *o, const char *backend,
                           const char *device, const char *note,
                           const struct lab_plan *plan,
                           const struct lab_schedule *s);
void lab_step_text_head(const struct lab_schedule_step *s, int index,
                        int64_t time_ns, struct lab_live *live, int64_t exec);
void lab_step_text_stats(const struct lab_tensor *t,
                         const struct lab_stats *stats);
/* What execution `exec` of step `index` took: by the profiler where its record has
 * come, else `wall_ns`, by the clock around the call. */
int64_t lab_step_text_time(struct lab_live *live, int index, int64_t exec,
                           int64_t wall_ns);
