/* unit/late_backend.h -- the CPU backend with graphs, as a GPU has them: what is
 * launched is done later, when a caller waits. The numbers that a batch was
 * filled with are read then, and not before, so that a walk that fills its
 * memory too soon is found out. */
#pragma once
#include "engine/backend.h"

enum lab_status late_backend_open(struct lab_backend **out);
/* Of all late backends of the process. */
struct late_counts {
    int captures;
    int launches;
    int most_waiting; /* launches that had not been reported */
    int beside;       /* calls on the side stream, in all captures */
};
extern struct late_counts late_counts;
/* What a call in a graph takes in reports, in ns; NULL: 9 for the whole graph. */
extern int64_t (*late_call_ns)(const struct lab_variant *v);
/* The next captures fail. */
extern int late_failures;
