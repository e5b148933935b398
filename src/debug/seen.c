/* What `run`, the plain stepper and the screens note of a lesson that was
 * walked or trained. */
#include "debug/seen.h"

#include <stdio.h>
#include <time.h>

#include "report/exit.h"
#include "engine/session.h"

enum lab_status lab_seen_note(struct lab_progress *p, const char *lesson,
                              int64_t steps_seen, int64_t steps_total,
                              bool finished)
{
    time_t now = time(NULL);
    struct tm utc;
    struct lab_progress_entry entry = {.steps_seen = steps_seen,
                                       .steps_total = steps_total,
                                       .finished = finished};
    snprintf(entry.id, sizeof(entry.id), "%s", lesson);
    gmtime_r(&now, &utc);
    strftime(entry.opened, sizeof(entry.opened), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return lab_progress_update(p, &entry);
}

void lab_seen_keep(const char *lesson, int64_t steps_seen, int64_t steps_total,
                   bool finished)
{
    char path[LAB_PROGRESS_PATH_BYTES];
    struct lab_progress p = {0};
    enum lab_status st = lab_progress_path(path, sizeof(path));
    if (!st)
        st = lab_progress_load(&p, path);
    if (!st && p.note[0])
        lab_warn("%s", p.note);
    if (!st)
        st = lab_seen_note(&p, lesson, steps_seen, steps_total, finished);
    if (!st)
        st = lab_progress_save(&p);
    if (st)
        lab_warn("progress is not kept: %s", lab_error());
    lab_progress_release(&p);
}

bool lab_seen_trained(const struct lab_network_spec *spec,
                      const struct lab_snapshot *snap)
{
    const struct lab_data_facts facts = {.batches_per_epoch =
                                             snap->iterations_per_epoch};
    return snap->schedule && snap->train_target > 0 &&
           snap->train_done >= snap->train_target &&
           snap->iteration + 1 >= lab_train_iterations(spec, &facts, 0, 0);
}
