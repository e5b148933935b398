/* ui/view_timeline.h -- one iteration on lanes of time: steps, ranges, calls,
 * kernels, copies. Threads: the UI's. */
#pragma once
#include "ui/models.h"
#include "ui/screen.h"

struct lab_timeline_args {
    const struct lab_runs_model *model;
    int64_t run;
    const char *step;  /* to begin at, for the call only; NULL: the first */
    const char *phase; /* its phase: "forward" */
};

extern const struct lab_screen_ops lab_view_timeline; /* the args above */
