/* Going back, exactly. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "walk_priv.h"

/* Copies the persistent part of the arena aside. When memory for a copy
 * cannot be had, going back runs further from an older one. */
void lab_walk_keep_copy(struct lab_walk *w)
{
    struct lab_walk_copy *slot = NULL;
    size_t bytes = w->plan->persistent_bytes;
    for (int i = 0; i < w->n_copies; i++) {
        if (w->copy[i].iteration == w->iteration)
            slot = &w->copy[i];
    }
    if (!slot) {
        slot = &w->copy[w->next_copy];
        w->next_copy = (w->next_copy + 1) % w->n_copies;
    }
    slot->iteration = -1;
    if (!slot->memory &&
        lab_backend_alloc(w->be, bytes ? bytes : 1, &slot->memory))
        return;
    if (lab_backend_copy(w->be, slot->memory, w->arena, bytes) == LAB_OK)
        slot->iteration = w->iteration;
}

void lab_walk_drop_copy(struct lab_walk *w, int64_t iteration)
{
    for (int i = 0; i < w->n_copies; i++) {
        if (w->copy[i].iteration == iteration)
            w->copy[i].iteration = -1;
    }
}

const struct lab_walk_copy *lab_walk_copy_of(const struct lab_walk *w,
                                             int64_t iteration)
{
    for (int i = 0; i < w->n_copies; i++) {
        if (w->copy[i].iteration == iteration)
            return &w->copy[i];
    }
    return NULL;
}

enum lab_status lab_walk_init_parameters(struct lab_walk *w)
{
    for (int i = 0; i < w->plan->n_tensors; i++) {
        if (!w->plan->tensors[i].persistent)
            continue;
        lab_plan_init_tensor(w->plan, i, w->staging);
        enum lab_status st = lab_walk_write(w, i, w->staging);
        if (st)
            return st;
    }
    return LAB_OK;
}

enum lab_status lab_walk_restart(struct lab_walk *w)
{
    enum lab_status st = lab_walk_drain(w);
    if (st)
        return st;
    lab_walk_close_ranges(w);
    for (int i = 0; i < LAB_WALK_COPIES; i++)
        w->copy[i].iteration = -1;
    lab_walk_speed_forget(w); /* the seed or the rate may be another */
    st = lab_walk_init_parameters(w);
    w->iteration = 0;
    w->position = 0;
    lab_walk_forget_switches(w);
    lab_walk_note_schedule(w);
    return st ? st : lab_walk_load_iteration(w, true);
}

static enum lab_status restore_tensor(struct lab_walk *w, int tensor,
                                      const struct lab_walk_copy *copy)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    w->generation[tensor]++;
    return lab_backend_copy(w->be, (char *)w->arena + t->offset,
                            (const char *)copy->memory + t->offset,
                            (size_t)t->count * lab_dtype_bytes(t->dtype));
}

/* What a step has written has not been written. */
static enum lab_status forget_results(struct lab_walk *w,
                                      const struct lab_step *step,
                                      const struct lab_walk_copy *copy)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < step->n_out && !st; i++) {
        int t = step->out[i];
        if (t < 0)
            continue;
        if (!w->plan->tensors[t].persistent)
            w->written[t] = false;
        else if (copy)
            st = restore_tensor(w, t, copy);
        else
            st = lab_fail(LAB_E_STATE, "no copy of %s to go back to",
                          w->plan->tensors[t].name);
        if (t == w->plan->loss)
            w->loss = NAN;
    }
    return st;
}

enum lab_status lab_walk_undo(struct lab_walk *w, int index)
{
    const struct lab_walk_copy *copy = lab_walk_copy_of(w, w->iteration);
    const struct lab_schedule_step *s = &w->schedule->steps[index];
    enum lab_status st = forget_results(w, s->step, copy);
    /* A group's steps may have run one by one, before it was chosen. */
    for (int k = 0; k < s->hides_count; k++) {
        const struct lab_step *hidden = &w->plan->steps[s->hides_from + k];
        if (!st && hidden != s->step)
            st = forget_results(w, hidden, copy);
        w->step_exec[s->hides_from + k] = 0;
    }
    return st;
}

/* Runs the iteration, from its start to plan step `until`, as it ran then. It
 * may be stopped where a copy of the start is there to begin anew from. */
static enum lab_status run_again(struct lab_walk *w, int until, bool walking)
{
    enum lab_status st = LAB_OK;
    struct lab_walk_place p = {w->iteration, 0};
    while (!st && p.at < until) {
        if (lab_walk_copy_of(w, w->iteration))
            st = lab_walk_look_for_stop(w);
        if (st)
            break;
        w->schedule = lab_walk_schedule_at(w, p);
        int i = lab_walk_position_of(w->schedule, p.at);
        const struct lab_schedule_step *s = &w->schedule->steps[i];
        st = lab_walk_run_at(w, i, walking);
        if (!st)
            p.at = s->hides_from + s->hides_count;
    }
    return st;
}

/* copy NULL: from the seed. */
static enum lab_status start_from(struct lab_walk *w,
                                  const struct lab_walk_copy *copy)
{
    enum lab_status st = LAB_OK;
    w->iteration = copy ? copy->iteration : 0;
    if (copy)
        st = lab_backend_copy(w->be, w->arena, copy->memory,
                              w->plan->persistent_bytes);
    else
        st = lab_walk_init_parameters(w);
    for (int i = 0; i < w->plan->n_tensors; i++)
        w->generation[i]++;
    return st ? st : lab_walk_load_iteration(w, true);
}

/* Starts iteration `target` as it was: from the newest copy at or before it,
 * or from the seed, and forward. */
static enum lab_status replay_to(struct lab_walk *w, int64_t target)
{
    const struct lab_walk_copy *best = NULL;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < w->n_copies; i++) {
        const struct lab_walk_copy *c = &w->copy[i];
        if (c->iteration >= 0 && c->iteration <= target &&
            (!best || c->iteration > best->iteration))
            best = c;
    }
    st = start_from(w, best);
    while (!st && w->iteration < target) {
        st = run_again(w, w->plan->n_steps, false);
        if (!st)
            st = lab_walk_next_iteration(w, true);
    }
    return st;
}

/* To a place, without telling anybody: steps that run again are not new
 * executions. Afterwards the present schedule holds again. */
static enum lab_status replay(struct lab_walk *w, struct lab_walk_place to)
{
    struct lab_schedule *now = w->schedule;
    w->muted = true;
    lab_walk_report_unobserved(w, true);
    enum lab_status st = replay_to(w, to.iteration);
    if (!st)
        st = run_again(w, to.at, true);
    if (st == LAB_E_CANCELLED) {
        st = start_from(w, lab_walk_copy_of(w, w->iteration));
        if (!st)
            st = lab_fail(LAB_E_CANCELLED,
                          "stopped on the way, at the start of iteration %lld",
                          (long long)w->iteration);
    }
    lab_walk_report_unobserved(w, false);
    w->muted = false;
    w->schedule = now;
    w->position = st ? 0 : lab_walk_position_of(now, to.at);
    return st;
}

static bool has_changed_parameters(const struct lab_walk *w)
{
    for (int i = 0; i < w->position; i++) {
        const struct lab_step *s = w->schedule->steps[i].step;
        for (int k = 0; k < s->n_out; k++) {
            if (s->out[k] >= 0 && w->plan->tensors[s->out[k]].persistent)
                return true;
        }
    }
    return false;
}

/* Training at speed keeps few copies: the iteration runs again from the last
 * one, to the same bits, and what was measured of it stays. */
static enum lab_status replay_for_copy(struct lab_walk *w)
{
    size_t bytes = (size_t)w->plan->n_steps * sizeof(*w->step_exec);
    int64_t *exec = lab_alloc(bytes);
    int64_t *ns = lab_alloc(bytes);
    enum lab_status st = LAB_E_NOMEM;
    struct lab_stop stop = w->stop;
    w->stop = (struct lab_stop){0}; /* it must come back to where it is */
    if (exec && ns) {
        memcpy(exec, w->step_exec, bytes);
        memcpy(ns, w->step_ns, bytes);
        st = replay(w, lab_walk_place(w));
        memcpy(w->step_exec, exec, bytes);
        memcpy(w->step_ns, ns, bytes);
    } else {
        lab_fail(st, "no memory to run the iteration again");
    }
    w->stop = stop;
    lab_free(exec);
    lab_free(ns);
    return st;
}

enum lab_status lab_walk_need_copy(struct lab_walk *w)
{
    enum lab_status st = lab_walk_drain(w);
    if (st || lab_walk_copy_of(w, w->iteration))
        return st;
    if (has_changed_parameters(w))
        st = replay_for_copy(w);
    else
        lab_walk_keep_copy(w);
    if (!st && !lab_walk_copy_of(w, w->iteration))
        st = lab_fail(LAB_E_NOMEM, "no memory to keep the parameters as the "
                                   "iteration found them");
    return st;
}

enum lab_status lab_walk_back(struct lab_walk *w, int64_t n)
{
    enum lab_status st = lab_walk_drain(w);
    if (st)
        return st;
    lab_walk_close_ranges(w);
    struct lab_walk_place to = lab_walk_place_before(w, n);
    if (to.iteration < w->iteration || !lab_walk_copy_of(w, w->iteration)) {
        st = replay(w, to);
    } else {
        while (!st && lab_walk_place(w).at > to.at) {
            w->position--;
            st = lab_walk_undo(w, w->position);
        }
        if (!st)
            st = lab_backend_sync(w->be);
    }
    lab_walk_note_schedule(w);
    return st;
}
