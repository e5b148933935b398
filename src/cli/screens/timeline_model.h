/* timeline_model.h -- the passes of a run and the timeline of one of them, for
 * the screen that shows it. */
#pragma once
#include "store/timeline.h"

/* Owns what it hands out. The whole of a pass is kept while parts of it are
 * looked at. */
struct lab_timeline_model {
    struct lab_iteration_row *passes;
    int64_t count;
    size_t room;
    bool failed; /* no memory for a pass */
    struct lab_timeline *whole;
    struct lab_timeline *part;
};

void lab_timeline_model_release(struct lab_timeline_model *m);

/* For struct lab_runs_model; `user` is a struct lab_runs_source. The first
 * forgets the timelines too: the run may have grown. LAB_E_NOTFOUND: it has no
 * passes, with the reason. */
enum lab_status lab_timeline_load_passes(void *user, int64_t run,
                                         const struct lab_iteration_row **rows,
                                         int64_t *count);
enum lab_status lab_timeline_load_pass(void *user, int64_t run,
                                       const struct lab_iteration_row *of,
                                       const struct lab_timeline_filter *filter,
                                       const struct lab_timeline **out);
