/* The stepper: a training iteration as a debugger shows it. This file is the
 * life of the screen: taking snapshots, following the walk, choosing a step. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/setup.h"
#include "shell/neighbours_text.h"
#include "view_stepper_priv.h"

static const struct lab_element no_element = {-1, 0};

const struct lab_schedule_step *lab_stepper_now(const struct lab_stepper *v)
{
    const struct lab_schedule *s = v->snap.schedule;
    return s && v->step >= 0 && v->step < s->n_steps ? &s->steps[v->step]
                                                     : NULL;
}

const char *lab_stepper_node(const struct lab_stepper *v, int step)
{
    const struct lab_schedule *s = v->snap.schedule;
    return v->snap.plan->nodes[s->steps[step].depth_node].id;
}

bool lab_stepper_busy(const struct lab_stepper *v)
{
    enum lab_session_state state = v->snap.state;
    return state == LAB_SESSION_WALKING || state == LAB_SESSION_TRAINING ||
           state == LAB_SESSION_CHECKING;
}

/* What a session takes only when nothing runs. */
static bool waits_for_training(enum lab_command_kind kind)
{
    switch (kind) {
    case LAB_DO_STEP:
    case LAB_DO_NEXT:
    case LAB_DO_FINISH:
    case LAB_DO_CONTINUE:
    case LAB_DO_BACK:
    case LAB_DO_RUN_TO:
    case LAB_DO_VARIANT:
    case LAB_DO_CHECK:
    case LAB_DO_COUNT:
    case LAB_DO_TRACE:
        return true;
    default:
        return false;
    }
}

void lab_stepper_post(struct lab_stepper *v, const struct lab_command *cmd)
{
    if (v->snap.state == LAB_SESSION_TRAINING &&
        waits_for_training(cmd->kind)) {
        lab_ui_message(v->ui, LAB_ROLE_WARN,
                       "a training runs: Esc stops it, t shows it");
        return;
    }
    if (v->model.post(v->model.user, cmd))
        lab_ui_error(v->ui);
}

/* ---- the chosen step and its tensors ---- */

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
    v->top[LAB_PANE_KERNELS] = 0;
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
    else /* a header stands for its first step */
        lab_stepper_choose(v, v->tree.items[item].first);
    v->item = item;
}

void lab_stepper_focus(struct lab_stepper *v, enum lab_stepper_pane pane)
{
    v->focus = pane;
    if (pane >= LAB_PANE_EXPLAIN)
        v->tab = pane;
}

/* ---- following the walk ---- */

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
        return; /* the screen says it */
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
    if (v->taken && v->model.version(v->model.user) == v->snap.version) {
        int before = v->n_kernels;
        read_kernels(v); /* records come later than the step they are of */
        return v->n_kernels != before;
    }
    struct lab_snapshot next;
    memset(&next, 0, sizeof(next));
    if (v->model.snapshot(v->model.user, &next)) {
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
        v->model.snapshot_release(v->model.user, &old);
    read_kernels(v);
    return true;
}

/* Following a walk asks for another tensor; where the answer is there at once,
 * it belongs to the same frame. */
bool lab_stepper_refresh(struct lab_stepper *v)
{
    bool changed = refresh_once(v);
    for (int i = 0; i < 2 && v->taken; i++)
        if (v->model.version(v->model.user) != v->snap.version)
            changed = refresh_once(v) || changed;
    return changed;
}

/* ---- the screen ---- */

/* For a moment after a step its tensor is on the way: the old frame is better
 * than one with a hole in it. */
static bool plane_is_coming(const struct lab_stepper *v)
{
    enum { PATIENCE_NS = 100 * 1000 * 1000 };
    return v->tensor >= 0 && !lab_stepper_plane_ready(v) &&
           lab_clock_monotonic_ns() - v->asked_ns < PATIENCE_NS;
}

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct lab_stepper *v = s->state;
    v->ui = s->ui;
    v->model = *(const struct lab_stepper_model *)args;
    v->focus = LAB_PANE_STEPS;
    v->tab = LAB_PANE_TEXT;
    v->step = -1;
    v->item = -1;
    v->tensor = -1;
    v->asked.tensor = -1;
    v->explained = no_element;
    v->text_step = LAB_TEXT_NONE;
    v->n_kernels = -1;
    lab_step_tree_init(&v->tree);
    lab_stepper_text_init(&v->lines, lab_ui_is_ascii(v->ui));
    lab_stepper_text_init(&v->text, lab_ui_is_ascii(v->ui));
    v->kernels = lab_alloc_array(LAB_STEPPER_KERNELS, sizeof(*v->kernels));
    if (!v->kernels)
        return lab_fail(LAB_E_NOMEM, "no memory for the stepper");
    /* Records of kernels arrive without a new snapshot. */
    lab_ui_tick_every(s->ui, 200);
    lab_stepper_refresh(v);
    return LAB_OK;
}

static void release(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    if (v->taken)
        v->model.snapshot_release(v->model.user, &v->snap);
    lab_step_tree_release(&v->tree);
    lab_stepper_text_release(&v->lines);
    lab_stepper_text_release(&v->text);
    lab_free(v->kernels);
    lab_free(v->looks);
    lab_free(v->marks);
}

static bool tick(struct lab_screen *s, int64_t now_ns)
{
    struct lab_stepper *v = s->state;
    (void)now_ns;
    bool changed = lab_stepper_refresh(v) || v->held;
    v->held = changed && plane_is_coming(v);
    return changed && !v->held;
}

/* A key acts on what the reader expects to see: on the step that was asked for
 * before it, and on its numbers. Long work does not hold keys up. */
static bool waits(struct lab_screen *s, int key)
{
    struct lab_stepper *v = s->state;
    if (!v->model.pending)
        return false;
    bool pending = v->model.pending(v->model.user);
    if (!pending) {
        if (lab_stepper_refresh(v)) /* may ask for the numbers of a step */
            lab_ui_redraw(v->ui);
        pending = v->model.pending(v->model.user);
    }
    enum lab_session_state state =
        v->taken ? v->snap.state : LAB_SESSION_STARTING;
    if (state == LAB_SESSION_STARTING)
        return key != 'q' && key != LAB_KEY_ESC && key != '?';
    if (key == LAB_KEY_ESC && lab_stepper_busy(v))
        return false;
    return pending && state != LAB_SESSION_TRAINING &&
           state != LAB_SESSION_CHECKING && state != LAB_SESSION_FAILED;
}

/* A training that goes on is not ended by a slip of the finger. */
static bool may_close(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    lab_stepper_refresh(v);
    if (v->leave || v->snap.state != LAB_SESSION_TRAINING)
        return true;
    lab_ui_ask(v->ui, LAB_STEPPER_ASK_LEAVE,
               "The training goes on: stop it and leave?");
    return false;
}

static void shown(struct lab_screen *s)
{
    lab_stepper_refresh(s->state);
}

static void title_now(struct lab_screen *s, char *out, size_t cap)
{
    const struct lab_stepper *v = s->state;
    const char *title = v->model.title;
    snprintf(out, cap, "%s", title && title[0] ? title : "stepper");
}

const struct lab_screen_ops lab_view_stepper = {
    .name = "stepper",
    .title = "stepper",
    .state_bytes = sizeof(struct lab_stepper),
    .bindings = lab_stepper_keys,
    .sideways = true,
    .init = init,
    .release = release,
    .draw = lab_stepper_draw,
    .action = lab_stepper_action,
    .mouse = lab_stepper_mouse,
    .tick = tick,
    .command = lab_stepper_command,
    .answer = lab_stepper_answer,
    .complete = lab_stepper_complete,
    .title_now = title_now,
    .bindings_now = lab_stepper_bindings,
    .waits = waits,
    .may_close = may_close,
    .shown = shown,
};
