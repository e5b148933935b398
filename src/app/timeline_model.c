#include "timeline_model.h"

#include "base/mem.h"

static bool add_pass(void *user, const struct lab_iteration_row *row)
{
    struct lab_timeline_model *m = user;
    if (m->count == m->room) {
        int64_t room = m->room ? m->room * 2 : 64;
        void *p = lab_realloc_array(m->passes, (size_t)room, sizeof(*row));
        if (!p) {
            m->room = -1; /* no memory */
            return false;
        }
        m->passes = p;
        m->room = room;
    }
    m->passes[m->count++] = *row;
    return true;
}

enum lab_status lab_timeline_model_passes(struct lab_timeline_model *m,
                                          struct lab_database *db, int64_t run)
{
    lab_timeline_model_release(m);
    enum lab_status st = lab_query_iterations(db, run, add_pass, m);
    if (st == LAB_OK && m->room < 0)
        st = lab_fail(LAB_E_NOMEM, "no memory for the iterations of a run");
    if (st)
        lab_timeline_model_release(m);
    return st;
}

static bool is_of(const struct lab_timeline *t, int64_t run,
                  const struct lab_iteration_row *of)
{
    return t && t->run == run && t->of.exec_first == of->exec_first;
}

enum lab_status
lab_timeline_model_load(struct lab_timeline_model *m, struct lab_database *db,
                        int64_t run, const struct lab_iteration_row *of,
                        const struct lab_timeline_filter *filter,
                        const struct lab_timeline **out)
{
    struct lab_timeline **place = filter ? &m->part : &m->whole;
    struct lab_timeline *fresh;
    if (!filter && is_of(m->whole, run, of)) {
        *out = m->whole;
        return LAB_OK;
    }
    enum lab_status st = lab_timeline_load(&fresh, db, run, of, filter);
    if (st)
        return st;
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
