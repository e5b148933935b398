/* timeline_model.h -- the passes of a run and the timeline of one of them, for
 * the screen that shows it. */
#pragma once
#include "store/timeline.h"

/* Owns what it hands out. The whole of a pass is kept while parts of it are
 * looked at. */
struct lab_timeline_model {
    struct lab_iteration_row *passes;
    int64_t count;
    int64_t room;
    struct lab_timeline *whole;
    struct lab_timeline *part;
};

/* Replaces the passes and forgets the whole: the run may have grown. */
enum lab_status lab_timeline_model_passes(struct lab_timeline_model *m,
                                          struct lab_database *db, int64_t run);
/* On failure what was handed out before stays. */
enum lab_status
lab_timeline_model_load(struct lab_timeline_model *m, struct lab_database *db,
                        int64_t run, const struct lab_iteration_row *of,
                        const struct lab_timeline_filter *filter,
                        const struct lab_timeline **out);
void lab_timeline_model_release(struct lab_timeline_model *m);
