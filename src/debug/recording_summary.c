/* The figures of a session, as its run keeps them. */
#include <math.h>

#include "debug/recording.h"

void lab_recording_summarize(const struct lab_snapshot *snap,
                             struct lab_run_summary *out)
{
    lab_run_summary_init(out);
    out->iterations = snap->iteration + (snap->position > 0);
    out->accuracy = snap->accuracy;
    out->loss_last = snap->loss;
    if (snap->losses.n > 0) {
        out->loss_first = snap->losses.value[0];
        if (isnan(snap->loss))
            out->loss_last = snap->losses.value[snap->losses.n - 1];
    }
    if (!isnan(snap->step_ms_median))
        out->iteration_median_ns = (int64_t)(snap->step_ms_median * 1e6);
}
