/* What the stepper's keys do. */
#include <stdio.h>
#include <string.h>

#include "view_stepper_priv.h"

/* ---- commands to the session ---- */

static void post_n(struct lab_stepper *v, enum lab_command_kind kind, int64_t n)
{
    struct lab_command cmd = {.kind = kind, .n = n, .phase = -1};
    v->walked = true;
    v->searching = false;
    /* Walking is for reading on; the kernels stay for who looks at them. */
    if (v->focus == LAB_PANE_STEPS && v->tab == LAB_PANE_EXPLAIN)
        v->tab = LAB_PANE_TEXT;
    lab_stepper_post(v, &cmd);
}

static void toggle_break(struct lab_stepper *v)
{
    const struct lab_schedule_step *s = lab_stepper_now(v);
    struct lab_command cmd = {.kind = LAB_DO_BREAK,
                              .break_kind = LAB_BREAK_STEP};
    if (!s)
        return;
    cmd.phase = (int)s->step->phase;
    snprintf(cmd.text, sizeof(cmd.text), "%s", s->step->name);
    for (int i = 0; i < v->snap.n_breaks; i++) {
        const struct lab_break_info *b = &v->snap.breaks[i];
        if (b->watch || b->kind != LAB_BREAK_STEP ||
            strcmp(b->step, s->step->name) != 0 ||
            (b->phase >= 0 && b->phase != (int)s->step->phase))
            continue;
        cmd.kind = LAB_DO_DELETE;
        cmd.n = b->number;
    }
    lab_stepper_post(v, &cmd);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   cmd.kind == LAB_DO_DELETE ? "no breakpoint at %s any more"
                                             : "breakpoint at %s",
                   s->step->name);
}

static void toggle_watch(struct lab_stepper *v)
{
    struct lab_command cmd = {.kind = LAB_DO_WATCH, .phase = -1};
    if (v->tensor < 0)
        return;
    const char *name = v->snap.plan->tensors[v->tensor].name;
    snprintf(cmd.text, sizeof(cmd.text), "%s", name);
    for (int i = 0; i < v->snap.n_breaks; i++)
        if (v->snap.breaks[i].watch &&
            strcmp(v->snap.breaks[i].step, name) == 0)
            cmd.kind = LAB_DO_UNWATCH;
    lab_stepper_post(v, &cmd);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   cmd.kind == LAB_DO_WATCH ? "stops when %s has been written"
                                            : "%s is no longer watched",
                   name);
}

/* The parameter shown, or the one whose gradient is shown. */
static void check_gradient(struct lab_stepper *v)
{
    const struct lab_plan *plan = v->snap.plan;
    struct lab_command cmd = {.kind = LAB_DO_CHECK, .phase = -1};
    int t = v->tensor;
    if (t >= 0 && plan->tensors[t].gradient_of >= 0)
        t = plan->tensors[t].gradient_of;
    if (t < 0 || plan->tensors[t].role != LAB_TENSOR_PARAM) {
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "show a parameter or its gradient first (x), or :check");
        return;
    }
    snprintf(cmd.text, sizeof(cmd.text), "%s", plan->tensors[t].name);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   "comparing the gradient of %s with central differences",
                   cmd.text);
    lab_stepper_post(v, &cmd);
}

void lab_stepper_count(struct lab_stepper *v, const char *what)
{
    struct lab_command cmd = {.kind = LAB_DO_COUNT, .n = v->step, .phase = -1};
    if (strcmp(v->snap.backend, "cuda") != 0) {
        lab_ui_message(
            v->ui, LAB_ROLE_DIM,
            "hardware counters need a GPU: this walk runs on the CPU");
        return;
    }
    snprintf(cmd.text, sizeof(cmd.text), "%s", what);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   "counting: the steps run again, and nothing changes");
    lab_stepper_post(v, &cmd);
}

static void open_occupancy(struct lab_stepper *v)
{
    if (!v->model.open_occupancy)
        lab_ui_message(v->ui, LAB_ROLE_DIM, "there is no GPU to ask about");
    else if (v->model.open_occupancy(v->model.user, v->ui, &v->snap, v->step))
        lab_ui_error(v->ui);
}

static void restart(struct lab_stepper *v)
{
    const struct lab_command again = {.kind = LAB_DO_RESTART, .phase = -1};
    lab_stepper_restart(v, &again, true);
}

static void train(struct lab_stepper *v)
{
    if (lab_ui_push(v->ui, &lab_view_train, &v->model))
        lab_ui_error(v->ui);
}

/* ---- search ---- */

static bool step_matches(const struct lab_stepper *v, int i, int *tensor)
{
    const struct lab_step *step = v->snap.schedule->steps[i].step;
    const struct lab_plan *plan = v->snap.plan;
    *tensor = -1;
    if (strcasestr(step->name, v->search))
        return true;
    for (int k = 0; k < step->n_out + step->n_in; k++) {
        int t = k < step->n_out ? step->out[k] : step->in[k - step->n_out];
        if (t >= 0 && strcasestr(plan->tensors[t].name, v->search)) {
            *tensor = t;
            return true;
        }
    }
    return false;
}

/* The next step whose name, or the name of one of its tensors, contains the
 * text, around the end. dir 0: from the cursor's own step on. */
void lab_stepper_search(struct lab_stepper *v, int dir)
{
    int n = v->snap.schedule ? v->snap.schedule->n_steps : 0;
    int tensor;
    if (!v->search[0] || n == 0)
        return;
    int turn = dir < 0 ? -1 : 1;
    for (int i = 0; i < n; i++) {
        int at = v->step + dir + turn * i;
        at = ((at % n) + n) % n;
        if (!step_matches(v, at, &tensor))
            continue;
        lab_stepper_choose(v, at);
        lab_step_tree_reveal(&v->tree, v->item);
        if (tensor >= 0) {
            lab_stepper_look_at(v, tensor);
            lab_stepper_explain_cursor(v);
        }
        v->searching = true;
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "/%s   n next, N before, Esc ends the search",
                       v->search);
        return;
    }
    lab_ui_message(v->ui, LAB_ROLE_WARN, "no step or tensor has \"%s\"",
                   v->search);
}

/* ---- actions ---- */

static void stop_or_close(struct lab_stepper *v)
{
    if (lab_stepper_busy(v)) {
        post_n(v, LAB_DO_STOP, 0);
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "stopping");
    } else if (v->searching) {
        v->searching = false;
    } else if (v->zoom) {
        v->zoom = false;
    } else if (v->pinned) {
        lab_stepper_goto_element(v, v->explained);
        v->pinned = false;
    }
}

static bool walk(struct lab_stepper *v, int action)
{
    switch (action) {
    case LAB_STEPPER_ACT_STEP:
        post_n(v, LAB_DO_STEP, 1);
        return true;
    case LAB_STEPPER_ACT_NEXT:
        if (v->searching)
            lab_stepper_search(v, 1);
        else
            post_n(v, LAB_DO_NEXT, 1);
        return true;
    case LAB_STEPPER_ACT_FINISH:
        post_n(v, LAB_DO_FINISH, 0);
        return true;
    case LAB_STEPPER_ACT_CONTINUE:
        post_n(v, LAB_DO_CONTINUE, 0);
        return true;
    case LAB_STEPPER_ACT_BACK:
        post_n(v, LAB_DO_BACK, 1);
        return true;
    case LAB_STEPPER_ACT_UNTIL:
        v->stay = true;
        post_n(v, LAB_DO_RUN_TO, v->step);
        return true;
    case LAB_STEPPER_ACT_RESTART:
        restart(v);
        return true;
    case LAB_STEPPER_ACT_BREAK:
        toggle_break(v);
        return true;
    case LAB_STEPPER_ACT_WATCH:
        toggle_watch(v);
        return true;
    case LAB_STEPPER_ACT_CHECK:
        check_gradient(v);
        return true;
    case LAB_STEPPER_ACT_OCCUPANCY:
        open_occupancy(v);
        return true;
    case LAB_STEPPER_ACT_COUNT:
        lab_stepper_count(v, "step");
        return true;
    case LAB_STEPPER_ACT_COUNT_ALL:
        lab_stepper_count(v, "iteration");
        return true;
    default:
        return false;
    }
}

static void fold_all(struct lab_stepper *v)
{
    bool any = false;
    for (int i = 0; i < v->tree.count; i++)
        any = any || v->tree.items[i].folded;
    lab_step_tree_fold_all(&v->tree, !any);
    int row = lab_step_tree_row(&v->tree, v->item);
    if (row >= 0)
        v->item = v->tree.rows[row];
}

static void fold_here(struct lab_stepper *v)
{
    const struct lab_tree_item *item = &v->tree.items[v->item];
    int header = item->step < 0 ? v->item : item->parent;
    lab_step_tree_fold(&v->tree, header, !v->tree.items[header].folded);
    v->item = header;
}

static void open_lesson(struct lab_stepper *v)
{
    struct lab_stepper_topic at = lab_stepper_topic(v);
    if (!v->model.open_lesson)
        lab_ui_message(v->ui, LAB_ROLE_DIM, "the lesson has no text");
    else if (v->model.open_lesson(v->model.user, v->ui, at.step, at.node,
                                  at.phase))
        lab_ui_error(v->ui);
}

static bool look_around(struct lab_stepper *v, int action)
{
    switch (action) {
    case LAB_STEPPER_ACT_VARIANT:
        lab_stepper_open_variants(v);
        return true;
    case LAB_STEPPER_ACT_EXPLAIN:
        v->pinned = false;
        lab_stepper_explain_cursor(v);
        lab_stepper_focus(v, LAB_PANE_EXPLAIN);
        return true;
    case LAB_STEPPER_ACT_ORIGIN:
        lab_stepper_goto_element(v, v->explained);
        v->pinned = false;
        lab_stepper_mark_sources(v);
        return true;
    case LAB_STEPPER_ACT_TRAIN:
        train(v);
        return true;
    case LAB_STEPPER_ACT_SOURCE:
        lab_stepper_open_source(v);
        return true;
    case LAB_STEPPER_ACT_LESSON:
        open_lesson(v);
        return true;
    case LAB_STEPPER_ACT_HERE:
        lab_stepper_choose(v, v->snap.position < v->snap.schedule->n_steps
                                  ? v->snap.position
                                  : v->snap.position - 1);
        lab_step_tree_reveal(&v->tree, v->item);
        return true;
    case LAB_STEPPER_ACT_FOLD:
        fold_here(v);
        return true;
    case LAB_STEPPER_ACT_FOLD_ALL:
        fold_all(v);
        return true;
    case LAB_STEPPER_ACT_ZOOM:
        v->zoom = !v->zoom;
        return true;
    case LAB_STEPPER_ACT_STOP:
        stop_or_close(v);
        return true;
    default:
        return false;
    }
}

static bool scroll(struct lab_stepper *v, int action)
{
    int64_t *top = &v->top[v->focus];
    int64_t page = v->view_h[v->focus] > 1 ? v->view_h[v->focus] - 1 : 1;
    int64_t by = action == LAB_ACT_UP          ? -1
                 : action == LAB_ACT_DOWN      ? 1
                 : action == LAB_ACT_PAGE_UP   ? -page
                 : action == LAB_ACT_PAGE_DOWN ? page
                 : action == LAB_ACT_FIRST     ? -*top
                 : action == LAB_ACT_LAST      ? INT32_MAX
                                               : 0;
    *top += by; /* drawing keeps it in range */
    if (*top < 0)
        *top = 0;
    return by != 0 || action == LAB_ACT_FIRST || action == LAB_ACT_LEFT ||
           action == LAB_ACT_RIGHT;
}

static bool in_pane(struct lab_stepper *v, int action)
{
    if (action == LAB_ACT_OPEN && v->focus == LAB_PANE_TENSOR) {
        v->pinned = false;
        lab_stepper_explain_cursor(v);
        lab_stepper_focus(v, LAB_PANE_EXPLAIN);
        return true;
    }
    if (v->focus == LAB_PANE_STEPS && lab_stepper_steps_action(v, action))
        return true;
    if (v->focus == LAB_PANE_EXPLAIN && lab_stepper_explain_action(v, action))
        return true;
    if (lab_stepper_tensor_action(v, action))
        return true;
    return v->focus >= LAB_PANE_EXPLAIN && scroll(v, action);
}

static bool act(struct lab_stepper *v, int action)
{
    if (v->variants.open)
        return lab_stepper_variants_action(v, action);
    if (action >= LAB_STEPPER_ACT_PANE &&
        action < LAB_STEPPER_ACT_PANE + LAB_PANE_COUNT) {
        lab_stepper_focus(v, action - LAB_STEPPER_ACT_PANE);
        return true;
    }
    if (action == LAB_ACT_NEXT_PANE || action == LAB_ACT_PREV_PANE) {
        int dir = action == LAB_ACT_NEXT_PANE ? 1 : LAB_PANE_COUNT - 1;
        lab_stepper_focus(v, ((int)v->focus + dir) % LAB_PANE_COUNT);
        return true;
    }
    if (action == LAB_ACT_SEARCH_NEXT || action == LAB_ACT_SEARCH_PREV) {
        lab_stepper_search(v, action == LAB_ACT_SEARCH_NEXT ? 1 : -1);
        return true;
    }
    return walk(v, action) || look_around(v, action) || in_pane(v, action);
}

bool lab_stepper_action(struct lab_screen *s, int action)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.plan || !v->snap.schedule || v->item < 0) {
        if (action == LAB_STEPPER_ACT_LESSON) {
            open_lesson(v);
            return true;
        }
        bool waits = action == LAB_STEPPER_ACT_STOP;
        if (action >= LAB_ACT_OWN && !waits)
            lab_ui_message(v->ui, LAB_ROLE_DIM, "there is nothing to walk yet");
        return action >= LAB_ACT_OWN;
    }
    bool used = act(v, action);
    if (used)
        lab_stepper_refresh(v);
    return used;
}

/* A click goes to a pane or its tab, in the list to a step, in the tensor to an
 * element or to another tensor, in the explanation to a term; the wheel moves in
 * it. In the list of variants it takes one. */
bool lab_stepper_mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.schedule || v->item < 0)
        return false;
    if (v->variants.open && what == LAB_MOUSE_CLICK) {
        lab_stepper_click_variants(v, y, x);
        lab_stepper_refresh(v);
        return true;
    }
    if (v->variants.open)
        return false;
    for (int i = 0; i < LAB_PANE_COUNT; i++) {
        struct lab_rect r = v->layout.pane[i];
        if (!lab_rect_has(r, y, x))
            continue;
        int pane = i;
        for (int k = 0; what == LAB_MOUSE_CLICK && k < LAB_PANE_COUNT; k++)
            if (lab_rect_has(v->tabs[k], y, x))
                pane = k;
        lab_stepper_focus(v, (enum lab_stepper_pane)pane);
        int64_t row = v->tree_top + y - r.y - 1;
        if (what == LAB_MOUSE_CLICK && i == LAB_PANE_STEPS && y > r.y &&
            row < v->tree.n_rows)
            lab_stepper_choose_item(v, v->tree.rows[row]);
        if (what == LAB_MOUSE_CLICK && i == LAB_PANE_TENSOR)
            lab_stepper_click_tensor(v, y, x);
        if (what == LAB_MOUSE_CLICK && pane == LAB_PANE_EXPLAIN)
            lab_stepper_click_explain(v, y, x);
        lab_stepper_refresh(v);
        return what == LAB_MOUSE_CLICK; /* the wheel: as the arrows */
    }
    return false;
}

void lab_stepper_answer(struct lab_screen *s, int id, const char *text)
{
    struct lab_stepper *v = s->state;
    if (!text)
        return;
    if (id == LAB_PROMPT_SEARCH) {
        if (text[0])
            snprintf(v->search, sizeof(v->search), "%s", text);
        lab_stepper_search(v, 0);
    } else if (id == LAB_STEPPER_ASK_RESTART) {
        lab_stepper_restart_now(v);
    } else if (id == LAB_STEPPER_ASK_LEAVE) {
        v->leave = true;
        lab_ui_pop(v->ui);
    }
    lab_stepper_refresh(v);
}
