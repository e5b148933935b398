/* Steps that have run, once more and to the same bits: for whoever has to see
 * them several times, as hardware counters do.
 *
 * A step reads what it read then: activations are still there, data too, and
 * what is kept over iterations is put back to the iteration's start before each
 * pass. Afterwards all memory is as it was, byte for byte, whatever a kernel
 * that is not quite repeatable may have written. */
#include "base/mem.h"
#include "walk_priv.h"

static enum lab_status check_range(const struct lab_walk *w, int from, int to)
{
    if (from < 0 || from >= to || to > w->schedule->n_steps)
        return lab_fail(LAB_E_ARG, "there are no steps %d to %d", from, to);
    for (int i = from; i < to; i++) {
        const struct lab_schedule_step *s = &w->schedule->steps[i];
        if (i >= w->position)
            return lab_fail(LAB_E_STATE,
                            "step %s has not run in this iteration: run it "
                            "first",
                            s->step->name);
        if (w->step_ran[s->hides_from] != s->variant)
            return lab_fail(LAB_E_STATE,
                            "step %s ran as %s and would now run as %s: run it "
                            "again first",
                            s->step->name,
                            w->step_ran[s->hides_from]
                                ? w->step_ran[s->hides_from]->name
                                : "another variant",
                            s->variant->name);
    }
    return LAB_OK;
}

static enum lab_status one_pass(struct lab_walk *w, int from, int to,
                                const struct lab_walk_copy *start,
                                const struct lab_rerun *r, bool *again)
{
    enum lab_status st = lab_backend_copy(w->be, w->arena, start->memory,
                                          w->plan->persistent_bytes);
    if (!st)
        st = lab_backend_sync(w->be);
    if (!st)
        st = r->pass_begin(r->user);
    for (int i = from; i < to && !st; i++) {
        r->step_begin(r->user, i);
        st = lab_walk_run_schedule_step(w, &w->schedule->steps[i], w->arena,
                                        true);
        r->step_end(r->user, i);
    }
    if (!st)
        st = lab_backend_sync(w->be);
    return st ? st : r->pass_end(r->user, again);
}

enum lab_status lab_walk_rerun(struct lab_walk *w, int from, int to,
                               const struct lab_rerun *r)
{
    void *saved = NULL;
    size_t bytes = w->plan->arena_bytes;
    bool again = true;
    enum lab_status st = check_range(w, from, to);
    if (!st)
        st = lab_walk_need_copy(w);
    if (!st)
        st = lab_backend_alloc(w->be, bytes ? bytes : 1, &saved);
    if (st)
        return st;
    const struct lab_walk_copy *start = lab_walk_copy_of(w, w->iteration);
    st = lab_backend_copy(w->be, saved, w->arena, bytes);
    while (!st && again)
        st = one_pass(w, from, to, start, r, &again);
    enum lab_status back = lab_backend_copy(w->be, w->arena, saved, bytes);
    if (!back)
        back = lab_backend_sync(w->be);
    lab_backend_free(w->be, saved);
    return st ? st : back;
}
