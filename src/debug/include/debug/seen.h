/* seen.h -- how far a learner is in a lesson, noted where the home screen reads
 * it (ui/progress.h). Threads: one. */
#pragma once
#include "engine/snapshot.h"
#include "debug/progress.h"

struct lab_network_spec;

LAB_C_BEGIN
/* Most steps of an iteration that were walked, and whether the lesson is
 * finished: merged into `p`, at this moment. */
enum lab_status lab_seen_note(struct lab_progress *p, const char *lesson,
                              int64_t steps_seen, int64_t steps_total,
                              bool finished);
/* The same, into the usual file; a warning on stderr where it cannot be kept. */
void lab_seen_keep(const char *lesson, int64_t steps_seen, int64_t steps_total,
                   bool finished);
/* Whether a training that has ended was as long as the lesson asks for. */
bool lab_seen_trained(const struct lab_network_spec *spec,
                      const struct lab_snapshot *snap);
LAB_C_END
