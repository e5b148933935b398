/* The debugger's words: what each command does to the walk. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/clock.h"
#include "session_priv.h"

/* ---- breakpoints ---- */

enum lab_status lab_session_add_break(struct lab_session *s,
                                      const struct lab_break_info *b)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    if (s->n_breaks == LAB_MAX_BREAKS)
        return lab_fail(LAB_E_STATE, "at most %d breakpoints: delete some",
                        LAB_MAX_BREAKS);
    if (b->watch && lab_plan_tensor(s->plan, b->step) < 0)
        return lab_fail(LAB_E_NOTFOUND, "this network has no tensor '%s'",
                        b->step);
    if (!b->watch && b->kind == LAB_BREAK_STEP &&
        lab_schedule_find(schedule, s->plan, b->step, b->phase, 0) < 0)
        return lab_fail(LAB_E_NOTFOUND, "this network has no step '%s'%s%s",
                        b->step, b->phase >= 0 ? " in phase " : "",
                        b->phase >= 0 ? lab_phase_name((enum lab_phase)b->phase)
                                      : "");
    s->breaks[s->n_breaks] = *b;
    s->breaks[s->n_breaks].number = s->next_break++;
    s->breaks[s->n_breaks].hits = 0;
    s->n_breaks++;
    return LAB_OK;
}

void lab_session_break(struct lab_session *s, const struct lab_command *c)
{
    struct lab_break_info info = {.kind = c->break_kind,
                                  .phase = c->phase,
                                  .value = c->value,
                                  .watch = c->kind == LAB_DO_WATCH};
    memcpy(info.step, c->text, sizeof(info.step));
    enum lab_status st = lab_session_add_break(s, &info);
    if (st)
        lab_session_fail(s, st);
}

void lab_session_delete(struct lab_session *s, const struct lab_command *c)
{
    bool watches = c->kind == LAB_DO_UNWATCH;
    int kept = 0;
    for (int i = 0; i < s->n_breaks; i++) {
        const struct lab_break_info *b = &s->breaks[i];
        bool gone =
            watches ? b->watch && (!c->text[0] || strcmp(c->text, b->step) == 0)
                    : c->n == 0 || b->number == c->n;
        if (!gone)
            s->breaks[kept++] = *b;
    }
    if (kept == s->n_breaks)
        lab_session_fail(s, lab_fail(LAB_E_NOTFOUND,
                                     "nothing to delete: there is no such "
                                     "breakpoint or watch"));
    s->n_breaks = kept;
}

static void hit(struct lab_session *s, struct lab_break_info *b,
                const char *what)
{
    char remove[LAB_COMMAND_TEXT + 16];
    b->hits++;
    if (!b->lesson) {
        snprintf(s->stop_reason, sizeof(s->stop_reason), "%s %d: %s",
                 b->watch ? "watch" : "breakpoint", b->number, what);
        return;
    }
    if (b->watch)
        snprintf(remove, sizeof(remove), "unwatch %s", b->step);
    else
        snprintf(remove, sizeof(remove), "delete %d", b->number);
    snprintf(s->stop_reason, sizeof(s->stop_reason),
             "this lesson pauses here (%s %d: %s); c goes on, %s removes it",
             b->watch ? "watch" : "breakpoint", b->number, what, remove);
}

/* Does something stop the walk before the step at the position? */
static bool stops_before(struct lab_session *s)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    int at = lab_walk_position(s->walk);
    if (at >= schedule->n_steps)
        return false;
    const struct lab_step *step = schedule->steps[at].step;
    for (int i = 0; i < s->n_breaks; i++) {
        struct lab_break_info *b = &s->breaks[i];
        if (b->watch || (s->passing && b->lesson) ||
            (b->phase >= 0 && b->phase != (int)step->phase))
            continue;
        bool here =
            b->kind == LAB_BREAK_STEP &&
            lab_schedule_find(schedule, s->plan, b->step, b->phase, at) == at;
        bool phase_starts = b->kind == LAB_BREAK_PHASE &&
                            schedule->phase_first[step->phase] == at;
        /* A node's id means its first step of the phase. */
        if (here && at > 0 && strcmp(step->name, b->step) != 0 &&
            schedule->steps[at - 1].step->node == step->node &&
            schedule->steps[at - 1].step->phase == step->phase)
            here = false;
        if (!here && !phase_starts)
            continue;
        hit(s, b, here ? step->name : lab_phase_name(step->phase));
        return true;
    }
    return false;
}

static bool step_wrote(const struct lab_session *s, const struct lab_step *step,
                       const char *name)
{
    for (int i = 0; i < step->n_out; i++) {
        if (step->out[i] >= 0 &&
            strcmp(s->plan->tensors[step->out[i]].name, name) == 0)
            return true;
    }
    return false;
}

/* First element of the step's results that is NaN (or infinite). */
static bool find_bad(struct lab_session *s, const struct lab_step *step,
                     bool nan, char *where, size_t size)
{
    for (int k = 0; k < step->n_out; k++) {
        if (step->out[k] < 0)
            continue;
        const struct lab_tensor *t = &s->plan->tensors[step->out[k]];
        void *data =
            lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
        bool bad = false;
        if (data && !lab_walk_read(s->walk, step->out[k], false, data)) {
            for (int64_t i = 0; i < t->count && !bad; i++) {
                double v = lab_number_at(data, t->dtype, i);
                char at[LAB_SHAPE_TEXT];
                bad = nan ? isnan(v) : isinf(v);
                if (bad)
                    snprintf(where, size, "%s[%s] is %s", t->name,
                             lab_explain_at(&t->shape, i, at),
                             nan ? "NaN" : "infinite");
            }
        }
        lab_free(data);
        if (bad)
            return true;
    }
    return false;
}

static bool stops_after(struct lab_session *s, const struct lab_step *step)
{
    char what[LAB_SESSION_TEXT / 2];
    for (int i = 0; i < s->n_breaks; i++) {
        struct lab_break_info *b = &s->breaks[i];
        bool stop = false;
        if (s->passing && b->lesson)
            continue;
        if (b->watch) {
            stop = step_wrote(s, step, b->step);
            snprintf(what, sizeof(what), "%s was written by %s", b->step,
                     step->name);
        } else if (b->kind == LAB_BREAK_NAN || b->kind == LAB_BREAK_INF) {
            stop =
                find_bad(s, step, b->kind == LAB_BREAK_NAN, what, sizeof(what));
        } else if (b->kind == LAB_BREAK_LOSS_ABOVE) {
            double loss = lab_walk_loss(s->walk);
            stop = step_wrote(s, step, "loss") && !(loss <= b->value);
            snprintf(what, sizeof(what), "the loss is %.6g, above %g", loss,
                     b->value);
        }
        if (stop) {
            hit(s, b, what);
            return true;
        }
    }
    return false;
}

const struct lab_break_info *lab_session_loss_break(struct lab_session *s)
{
    double loss = lab_walk_loss(s->walk);
    for (int i = 0; i < s->n_breaks; i++) {
        struct lab_break_info *b = &s->breaks[i];
        char what[128];
        bool stop = (b->kind == LAB_BREAK_NAN && isnan(loss)) ||
                    (b->kind == LAB_BREAK_INF && isinf(loss)) ||
                    (b->kind == LAB_BREAK_LOSS_ABOVE && !(loss <= b->value));
        if (b->watch || !stop)
            continue;
        snprintf(what, sizeof(what), "the loss is %.6g", loss);
        hit(s, b, what);
        return b;
    }
    return NULL;
}

/* ---- moving ---- */

/* One step; true when the walk may go on. */
static bool one_step(struct lab_session *s)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    int at = lab_walk_position(s->walk);
    if (at >= schedule->n_steps)
        at = 0; /* the next iteration's first */
    const struct lab_step *step = schedule->steps[at].step;
    enum lab_status st = lab_walk_step(s->walk);
    if (st) {
        lab_session_fail(s, st);
        return false;
    }
    if (lab_walk_at_end(s->walk))
        lab_curve_add(&s->losses, lab_walk_iteration(s->walk),
                      lab_walk_loss(s->walk));
    return !stops_after(s, step);
}

enum bound { BOUND_NODE, BOUND_PHASE, BOUND_ITERATION };

static bool beyond(const struct lab_session *s, const struct lab_step *first,
                   enum bound bound)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    int at = lab_walk_position(s->walk);
    if (at >= schedule->n_steps)
        return true;
    const struct lab_step *next = schedule->steps[at].step;
    if (bound == BOUND_ITERATION)
        return false;
    return next->phase != first->phase ||
           (bound == BOUND_NODE && next->node != first->node);
}

static bool is_cancelled(struct lab_session *s)
{
    bool cancelled = atomic_load(&s->cancel);
    if (cancelled)
        snprintf(s->stop_reason, sizeof(s->stop_reason), "stopped");
    return cancelled;
}

/* Does something stop the walk between two steps: a cancel, a breakpoint? At an
 * iteration's end that is before the first step of the next one. */
static bool stops_between(struct lab_session *s)
{
    if (is_cancelled(s))
        return true;
    enum lab_status st = lab_walk_begin(s->walk);
    if (st) {
        lab_session_fail(s, st);
        return true;
    }
    if (stops_before(s))
        return true;
    if (lab_clock_monotonic_ns() - s->last_publish_ns > 50000000)
        lab_session_publish(s);
    return false;
}

/* Runs until the next step lies beyond the bound, a stop, or a cancel. */
static void run_to_bound(struct lab_session *s, enum bound bound)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    int at = lab_walk_position(s->walk);
    bool fresh = at >= schedule->n_steps;
    const struct lab_step *first = schedule->steps[fresh ? 0 : at].step;
    s->state = LAB_SESSION_WALKING;
    if (fresh ? stops_between(s) : is_cancelled(s))
        return;
    while (one_step(s) && !beyond(s, first, bound)) {
        if (stops_between(s))
            return;
    }
    if (!s->stop_reason[0] && lab_walk_at_end(s->walk))
        snprintf(s->stop_reason, sizeof(s->stop_reason),
                 "the iteration is done");
}

static void run_to_index(struct lab_session *s, int64_t index)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    if (index < 0 || index > schedule->n_steps) {
        lab_session_fail(s, lab_fail(LAB_E_RANGE, "no such step"));
        return;
    }
    int64_t goal = lab_walk_iteration(s->walk);
    goal += lab_walk_position(s->walk) >= index;
    s->state = LAB_SESSION_WALKING;
    for (;;) {
        bool fresh = lab_walk_at_end(s->walk);
        if (fresh ? stops_between(s) : is_cancelled(s) || !one_step(s))
            return;
        if (lab_walk_iteration(s->walk) == goal &&
            lab_walk_position(s->walk) == index)
            return;
        if (!lab_walk_at_end(s->walk) && !fresh && stops_between(s))
            return;
    }
}

static void repeat(struct lab_session *s, int64_t n, bool over_node)
{
    s->state = LAB_SESSION_WALKING;
    for (int64_t i = 0; i < (n > 0 ? n : 1); i++) {
        if (i > 0 ? stops_between(s) : is_cancelled(s))
            return;
        if (over_node)
            run_to_bound(s, BOUND_NODE);
        else
            one_step(s);
        if (s->stop_reason[0] || s->error_code)
            return;
    }
}

void lab_session_move(struct lab_session *s, const struct lab_command *c)
{
    switch (c->kind) {
    case LAB_DO_FINISH:
        run_to_bound(s, BOUND_PHASE);
        break;
    case LAB_DO_CONTINUE:
        run_to_bound(s, BOUND_ITERATION);
        break;
    case LAB_DO_RUN_TO:
        s->passing = true; /* the learner has named where to stop */
        run_to_index(s, c->n);
        s->passing = false;
        break;
    default:
        repeat(s, c->n, c->kind == LAB_DO_NEXT);
    }
}

void lab_session_back(struct lab_session *s, const struct lab_command *c)
{
    lab_session_fail(s, lab_walk_back(s->walk, c->n > 0 ? c->n : 1));
}

/* ---- looking ---- */

void lab_session_show(struct lab_session *s, const struct lab_command *c)
{
    const struct lab_show *show = &c->show;
    if (show->tensor < 0 || show->tensor >= s->plan->n_tensors) {
        s->showing = false;
        return;
    }
    const struct lab_shape *shape = &s->plan->tensors[show->tensor].shape;
    if (show->row_axis >= shape->rank || show->col_axis >= shape->rank ||
        (show->row_axis >= 0 && show->row_axis == show->col_axis)) {
        lab_session_fail(s, lab_fail(LAB_E_RANGE, "no such axis"));
        return;
    }
    s->show = *show;
    for (int i = 0; i < shape->rank; i++) {
        int64_t *at = &s->show.fixed[i];
        *at = *at < 0 ? 0 : *at >= shape->dim[i] ? shape->dim[i] - 1 : *at;
    }
    if (s->show.row_first < 0)
        s->show.row_first = 0;
    if (s->show.col_first < 0)
        s->show.col_first = 0;
    s->showing = true;
}

void lab_session_explain(struct lab_session *s, const struct lab_command *c)
{
    const struct lab_element *e = &c->element;
    s->explaining = false;
    if (e->tensor < 0)
        return;
    if (e->tensor >= s->plan->n_tensors || e->index < 0 ||
        e->index >= s->plan->tensors[e->tensor].count) {
        lab_session_fail(s, lab_fail(LAB_E_RANGE, "no such element"));
        return;
    }
    s->element = *e;
    s->explaining = true;
}

void lab_session_near(struct lab_session *s, const struct lab_command *c)
{
    int64_t asked = s->near.asked;
    enum lab_status st = lab_near_ask(s->walk, c->text, &s->near);
    if (st)
        lab_session_fail(s, st);
    else
        s->near.asked = asked + 1;
}
