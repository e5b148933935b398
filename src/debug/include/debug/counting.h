/* counting.h -- hardware counters for `run --counters` and `step --counters`.
 * Threads: the one that walks. */
#pragma once
#include "debug/work.h"

/* Is it wanted, and may it be had? What may not be had is a warning already
 * (lab_recording_note()) and stands in the run's row. */
bool lab_counting_wanted(const struct lab_work *w);
/* Counts every step of the iteration that has run to its end; says on stderr
 * how long it took, with --json prints a line for every kernel. A refusal in
 * the middle is a warning: the run goes on. */
enum lab_status lab_counting_iteration(struct lab_work *w);
