#include "timeline_model.h"

#include "base/mem.h"
#include "profile/profile_missing.h"
#include "runs_model_priv.h"

static bool add_pass(void *user, const struct lab_iteration_row *row)
{
    struct lab_timeline_model *m = user;
    m->failed = lab_grow(&m->passes, (size_t)m->count, &m->room, sizeof(*row),
                         "the passes");
    if (m->failed)
        return false;
    m->passes[m->count++] = *row;
    return true;
}

enum lab_status lab_timeline_load_passes(void *user, int64_t run,
                                         const struct lab_iteration_row **rows,
                                         int64_t *count)
{
    struct lab_runs_source *s = user;
    struct lab_timeline_model *m = &s->timeline;
    struct lab_database *db;
    lab_timeline_model_release(m);
    enum lab_status st = lab_runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_query_iterations(db, run, add_pass, m);
    if (!st && m->failed)
        st = lab_no_memory("the iterations of a run");
    else if (!st && db && m->count == 0)
        st = lab_profile_fail_missing(db, run, LAB_HAS_KERNELS);
    lab_database_close(db);
    *rows = m->passes;
    *count = m->count;
    return st;
}

static bool is_of(const struct lab_timeline *t, int64_t run,
                  const struct lab_iteration_row *of)
{
    return t && t->run == run && t->of.exec_first == of->exec_first;
}

enum lab_status lab_timeline_load_pass(void *user, int64_t run,
                                       const struct lab_iteration_row *of,
                                       const struct lab_timeline_filter *filter,
                                       const struct lab_timeline **out)
{
    struct lab_runs_source *s = user;
    struct lab_timeline_model *m = &s->timeline;
    struct lab_timeline **place = filter ? &m->part : &m->whole;
    struct lab_timeline *fresh = NULL;
    struct lab_database *db;
    if (!filter && is_of(m->whole, run, of)) {
        *out = m->whole;
        return LAB_OK;
    }
    enum lab_status st = lab_runs_source_open(s, false, &db);
    if (!st && !db)
        st = lab_fail(LAB_E_NOTFOUND, "%s is gone", s->path);
    if (!st)
        st = lab_timeline_load(&fresh, db, run, of, filter);
    lab_database_close(db);
    if (!st)
        st = lab_timeline_close_pauses(fresh);
    if (st) {
        lab_timeline_free(fresh);
        return st;
    }
    lab_timeline_free(*place);
    *place = fresh;
    *out = fresh;
    return LAB_OK;
}

void lab_timeline_model_release(struct lab_timeline_model *m)
{
    lab_free(m->passes);
    lab_timeline_free(m->whole);
    lab_timeline_free(m->part);
    *m = (struct lab_timeline_model){0};
}
