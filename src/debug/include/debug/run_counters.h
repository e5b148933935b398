/* run_counters.h -- hardware counters for `run --counters` and `step --counters`.
 * Threads: the one that walks. */
#pragma once
#include "debug/lesson_run.h"

/* Is it wanted, and may it be had? What may not be had is a warning already
 * (lab_recording_note()) and stands in the run's row. */
bool lab_run_counters_wanted(const struct lab_lesson_run *w);
/* Counts every step of the iteration that has run to its end; says on stderr
 * how long it took, with --json prints a line for every kernel. A refusal in
 * the middle is a warning: the run goes on. */
enum lab_status lab_run_counters_iteration(struct lab_lesson_run *w);
