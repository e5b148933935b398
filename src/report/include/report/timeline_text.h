/* timeline_text.h -- a timeline in words: for its screen, and for screen
 * readers and pipes. Pure functions. Threads: any. */
#pragma once
#include "store/timeline.h"

typedef void lab_timeline_line_fn(void *user, const char *line);

LAB_C_BEGIN
/* How long, how busy, how many launches; what is left out; gaps; launch
 * latencies (the median, and the largest). `sums` of the whole iteration
 * may be given for those of a part. */
void lab_timeline_summary(const struct lab_timeline *t,
                          const struct lab_timeline_sums *sums,
                          lab_timeline_line_fn *each, void *user);
/* What is known of one span; its name is not among it. */
void lab_span_lines(const struct lab_timeline *t, int32_t span,
                    lab_timeline_line_fn *each, void *user);
/* A moment from the iteration's start: "+12.3 us", "-1.00 us", "n/a". */
const char *lab_timeline_moment(const struct lab_timeline *t, int64_t moment,
                                char *out, size_t cap);
/* "forward" ...; NULL: none. */
const char *lab_timeline_phase(int64_t phase);
LAB_C_END
