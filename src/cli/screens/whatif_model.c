#include "whatif_model.h"

#include <math.h>
#include <stdio.h>

#include "profile/profile_missing.h"
#include "runs_model_priv.h"
#include "store/launch.h"
#include "base/format.h"

/* What a launch says is known of a sum where all of its launches agree. */
static bool launches_differ(const struct lab_time_sum *sum)
{
    return sum->count > 1 && (lab_launch_size(sum->grid) == LAB_UNKNOWN ||
                              lab_launch_size(sum->block) == LAB_UNKNOWN ||
                              sum->registers_per_thread == LAB_UNKNOWN ||
                              sum->shared_bytes == LAB_UNKNOWN);
}

static enum lab_status load_newest(struct lab_runs_source *s,
                                   struct lab_database *db, int64_t run,
                                   const struct lab_ui_kernel_row *kernel,
                                   struct lab_occupancy_args *out)
{
    char count[LAB_FORMAT_BYTES];
    struct lab_whatif *w = &s->whatif;
    const struct lab_time_sum *sum = &s->sums.items[kernel->place];
    int64_t row;
    enum lab_status st = lab_launch_last(db, run, sum->step_index, sum->variant,
                                         sum->kernel, &row);
    if (!st)
        st = lab_whatif_stored(w, db, run, row, 100 * kernel->achieved, out);
    if (st || !launches_differ(sum))
        return st;
    snprintf(w->note, sizeof(w->note),
             "the newest of %s launches, which differ",
             lab_format_int(sum->count, count, sizeof(count)));
    out->note = w->note;
    return LAB_OK;
}

enum lab_status lab_whatif_load(void *user, int64_t run,
                                const struct lab_ui_kernel_row *kernel,
                                int64_t row, struct lab_occupancy_args *out)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    enum lab_status st = lab_runs_source_open(s, false, &db);
    if (st)
        return st;
    if (!db)
        return lab_fail(LAB_E_NOTFOUND, "%s is gone", s->path);
    if (kernel)
        st = load_newest(s, db, run, kernel, out);
    else if (row != LAB_UNKNOWN)
        st = lab_whatif_stored(&s->whatif, db, run, row, (double)NAN, out);
    else
        st = lab_profile_fail_missing(db, run, LAB_HAS_KERNELS);
    lab_database_close(db);
    return st;
}
