/* stepper_follow.c -- what the screen shows once the session has moved: the
 * step chosen, its tensors, its kernels, messages. */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/setup.h"
#include "shell/neighbours_text.h"
#include "stepper_priv.h"

static void add_tensor(struct lab_stepper *v, int tensor)
{
    if (tensor < 0 || tensor >= v->snap.plan->n_tensors ||
        v->n_tensors == LAB_STEPPER_TENSORS)
        return;
    for (int i = 0; i < v->n_tensors; i++)
        if (v->tensors[i] == tensor)
            return;
    v->tensors[v->n_tensors++] = tensor;
}

/* Inputs first, then outputs; what a step changes in place counts as out. */
static void list_tensors(struct lab_stepper *v)
{
    const struct lab_step *step = lab_stepper_now(v)->step;
    v->n_tensors = 0;
    for (int i = 0; i < step->n_in; i++) {
        bool in_place = false;
        for (int k = 0; k < step->n_out; k++)
            in_place = in_place || step->out[k] == step->in[i];
        if (!in_place)
            add_tensor(v, step->in[i]);
    }
    v->n_in = v->n_tensors;
    for (int i = 0; i < step->n_out; i++)
        add_tensor(v, step->out[i]);
}

void lab_stepper_choose(struct lab_stepper *v, int step)
{
    const struct lab_schedule *s = v->snap.schedule;
    if (!s || step < 0 || step >= s->n_steps)
        return;
    bool same = step == v->step;
    v->step = step;
    v->item = v->tree.of_step ? v->tree.of_step[step] : -1;
    list_tensors(v);
    if (same && v->tensor >= 0)
        return;
    v->pinned = false;
    lab_pager_action(&v->pager[LAB_PANE_KERNELS], LAB_ACT_FIRST);
    /* What a step made, or before it has run, what it will start from. */
    bool ran = v->snap.steps[step].done && v->n_in < v->n_tensors;
    int first = ran ? v->n_in : 0;
    lab_stepper_look_at(v, v->n_tensors ? v->tensors[first] : -1);
    lab_stepper_explain_cursor(v);
}

void lab_stepper_choose_item(struct lab_stepper *v, int item)
{
    if (item < 0 || item >= v->tree.count)
        return;
    int step = v->tree.items[item].step;
    if (step >= 0)
        lab_stepper_choose(v, step);
    else /* a header represents its first step */
        lab_stepper_choose(v, v->tree.items[item].first);
    v->item = item;
}

void lab_stepper_focus(struct lab_stepper *v, enum lab_stepper_pane pane)
{
    v->focus = pane;
    if (pane >= LAB_PANE_EXPLAIN)
        v->tab = pane;
}

/* Whether the walk stopped because of a breakpoint at the step that is next. */
static bool broke_at_next(const struct lab_snapshot *snap)
{
    return snap->stop_reason[0] && snap->position < snap->schedule->n_steps &&
           lab_stepper_breaks_at(snap, snap->position);
}

/* After a walk the step that ran last is shown: its numbers are new. Where the
 * walk stopped in front of a step on purpose, that step is shown instead. */
static int step_to_show(const struct lab_stepper *v)
{
    const struct lab_snapshot *snap = &v->snap;
    int last = snap->schedule->n_steps - 1;
    int at = snap->position - 1;
    if (snap->position == 0 || v->stay || broke_at_next(snap))
        at = snap->position;
    return at > last ? last : at;
}

static void follow(struct lab_stepper *v)
{
    int step = step_to_show(v);
    v->step = -1; /* look again: the tensors are new */
    lab_stepper_choose(v, step);
    lab_step_tree_reveal(&v->tree, v->item);
    if (!lab_stepper_busy(v))
        v->stay = false;
}

static void read_kernels(struct lab_stepper *v)
{
    int64_t exec = 0;
    if (v->step >= 0 && v->snap.steps)
        exec = v->snap.steps[v->step].exec;
    /* A GPU's records come later than the step, and not all at once. */
    bool complete = v->n_kernels >= 0 && strcmp(v->snap.backend, "cuda") != 0;
    if (exec == v->kernels_of && complete)
        return;
    v->kernels_of = exec;
    v->n_kernels = -1;
    if (exec > 0 && v->model.kernels)
        v->n_kernels = v->model.kernels(v->model.user, exec, v->kernels,
                                        LAB_STEPPER_KERNELS);
}

static void tell_progress(struct lab_stepper *v, const struct lab_snapshot *old)
{
    const struct lab_snapshot *snap = &v->snap;
    bool trained = old->state == LAB_SESSION_TRAINING ||
                   snap->state == LAB_SESSION_TRAINING ||
                   snap->train_done != old->train_done;
    bool past_end = old->plan && snap->iteration > old->iteration;
    if (v->model.progress && v->walked && !trained)
        v->model.progress(v->model.user,
                          past_end ? snap->schedule->n_steps : snap->position,
                          snap->schedule->n_steps);
}

/* What a new schedule needs: its tree, and room for the tensors' looks. */
static bool adopt_schedule(struct lab_stepper *v)
{
    int n = v->snap.plan->n_tensors;
    if (lab_step_tree_build(&v->tree, v->snap.plan, v->snap.schedule))
        return false;
    v->text_step = LAB_TEXT_NONE;
    if (v->n_looks != n) {
        struct lab_tensor_slice *looks =
            lab_alloc_array((size_t)n + 1, sizeof(*looks));
        if (!looks) {
            lab_fail(LAB_E_NOMEM, "no memory to show %d tensors", n);
            return false;
        }
        lab_free(v->looks);
        v->looks = looks;
        v->n_looks = n;
        v->tensor = -1;
    }
    return true;
}

static void say_news(struct lab_stepper *v, const struct lab_snapshot *old)
{
    const struct lab_snapshot *snap = &v->snap;
    if (snap->state == LAB_SESSION_FAILED)
        return; /* the screen shows it */
    if (snap->error[0] && strcmp(snap->error, old->error) != 0)
        lab_ui_message(v->ui, LAB_ROLE_BAD, "%s", snap->error);
    else if (snap->near.asked != old->near.asked)
        lab_ui_say_near(v->ui, snap);
    else if (snap->stop_reason[0] && old->version &&
             (strcmp(snap->stop_reason, old->stop_reason) != 0 ||
              snap->position != old->position) &&
             !v->ends_training)
        lab_ui_message(v->ui, LAB_ROLE_WARN, "%s", snap->stop_reason);
    if (snap->state != LAB_SESSION_TRAINING)
        v->ends_training = false;
}

/* Where the lesson really runs. */
static void show_badge(struct lab_stepper *v)
{
    const struct lab_snapshot *snap = &v->snap;
    if (strcmp(snap->backend, "cpu") == 0)
        lab_ui_badge(v->ui, "CPU");
    else if (strcmp(snap->backend, "cuda") == 0)
        lab_ui_badge(v->ui, snap->device.name[0] ? snap->device.name : "GPU");
    else
        lab_ui_badge(v->ui, snap->backend);
}

/* What was withdrawn or left out: the first of it, and where the rest is. */
static void say_notice(struct lab_stepper *v)
{
    const char *notice = lab_setup_notice_rest(v->snap.notice);
    int n = (int)strcspn(notice, "\n");
    if (!n)
        return;
    bool more = notice[n] && notice[n + 1];
    lab_ui_message(v->ui, LAB_ROLE_WARN, "%s%.*s",
                   more ? "(:list notes shows all) " : "", n, notice);
}

/* What has come since: its first line. */
static void say_more_notice(struct lab_stepper *v, const char *old)
{
    size_t n = strlen(old);
    const char *more = v->snap.notice + n;
    if (strncmp(v->snap.notice, old, n) != 0 || !*more)
        return;
    more += *more == '\n';
    lab_ui_message(v->ui, LAB_ROLE_WARN, "%s%.*s",
                   n ? "(:list notes shows all) " : "",
                   (int)strcspn(more, "\n"), more);
}

static void take_in(struct lab_stepper *v, const struct lab_snapshot *old)
{
    const struct lab_snapshot *snap = &v->snap;
    if (!snap->plan || !snap->schedule)
        return;
    bool renewed = snap->schedule != old->schedule;
    bool moved = renewed || snap->position != old->position ||
                 snap->iteration != old->iteration;
    bool settled = old->state == LAB_SESSION_TRAINING &&
                   snap->state != LAB_SESSION_TRAINING;
    if (!old->plan) {
        show_badge(v);
        say_notice(v);
    } else {
        say_more_notice(v, old->notice);
    }
    if (renewed && !adopt_schedule(v)) {
        lab_ui_error(v->ui);
        v->snap.schedule = NULL; /* nothing can be drawn of it */
        return;
    }
    if ((moved && snap->state != LAB_SESSION_TRAINING) || settled ||
        v->step < 0)
        follow(v);
    if (moved)
        tell_progress(v, old);
    lab_stepper_mark_sources(v);
    if (v->term >= snap->explanation.n_terms)
        v->term = 0;
}

static bool refresh_once(struct lab_stepper *v)
{
    if (v->taken && v->model.version(v->model.session) == v->snap.version) {
        int before = v->n_kernels;
        read_kernels(v); /* records come later than the step they are of */
        return v->n_kernels != before;
    }
    struct lab_snapshot next;
    memset(&next, 0, sizeof(next));
    if (v->model.snapshot(v->model.session, &next)) {
        lab_ui_error(v->ui);
        return true;
    }
    struct lab_snapshot old = v->snap;
    bool had = v->taken;
    v->snap = next;
    v->taken = true;
    take_in(v, &old);
    say_news(v, &old);
    if (had)
        v->model.snapshot_release(v->model.session, &old);
    read_kernels(v);
    return true;
}

/* Following a walk asks for another tensor; where the answer is there at once,
 * it belongs to the same frame. */
bool lab_stepper_refresh(struct lab_stepper *v)
{
    bool changed = refresh_once(v);
    for (int i = 0; i < 2 && v->taken; i++)
        if (v->model.version(v->model.session) != v->snap.version)
            changed = refresh_once(v) || changed;
    return changed;
}
