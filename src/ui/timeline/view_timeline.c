#include "ui/view_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/intern.h"
#include "ui/ui.h"
#include "ui/view_occupancy.h"
#include "view_timeline_priv.h"

enum {
    ACT_ZOOM_IN = LAB_ACT_OWN,
    ACT_ZOOM_OUT,
    ACT_FIT,
    ACT_ZOOM_SPAN,
    ACT_NEXT,
    ACT_PREV,
    ACT_CALL,
    ACT_LATER,
    ACT_EARLIER,
    ACT_WHAT_IF
};

/* ---- loading ---- */

static void set_bounds(struct lab_timeline_state *st)
{
    const struct lab_timeline *t = st->t;
    st->dateless = t->start_ns == LAB_UNKNOWN || t->end_ns == LAB_UNKNOWN;
    st->window.least = st->dateless ? 0 : t->start_ns;
    st->window.most = st->dateless ? 1 : t->end_ns;
    lab_window_fit(&st->window);
}

static enum lab_status load_pass(struct lab_timeline_state *st, int64_t pass)
{
    const struct lab_timeline *t;
    enum lab_status status = st->model->load_timeline(
        st->model->user, st->run, &st->passes[pass], NULL, &t);
    if (status)
        return status;
    lab_timeline_unlist(st);
    st->t = t;
    st->pass = pass;
    st->sums = t->sums;
    st->part = st->crowded = false;
    for (int k = 0; k < LAB_SPAN_KIND_COUNT; k++)
        st->crowded = st->crowded || t->left_out[k] > 0;
    st->lane = st->top = 0;
    st->chosen = t->count > 0 ? 0 : -1;
    set_bounds(st);
    return LAB_OK;
}

/* The same span in what was read anew, or none. */
static int32_t find_again(const struct lab_timeline *t, enum lab_span_kind kind,
                          int64_t row)
{
    for (int32_t i = 0; i < t->count; i++)
        if (t->spans[i].kind == kind && t->spans[i].row == row)
            return i;
    return -1;
}

static enum lab_status read_part(struct lab_timeline_state *st,
                                 const struct lab_timeline_filter *filter)
{
    struct lab_span was = st->chosen < 0 ? (struct lab_span){.row = -1}
                                         : st->t->spans[st->chosen];
    int64_t focus = st->focus < 0 ? -1 : st->t->spans[st->focus].row;
    const struct lab_timeline *t;
    enum lab_status status = st->model->load_timeline(
        st->model->user, st->run, &st->passes[st->pass], filter, &t);
    if (status)
        return status;
    lab_timeline_unlist(st);
    if (focus >= 0)
        st->focus = find_again(t, LAB_SPAN_STEP, focus);
    st->t = t;
    st->part = filter != NULL;
    st->chosen = find_again(t, was.kind, was.row);
    st->lane = st->chosen < 0 ? 0 : t->spans[st->chosen].lane;
    return LAB_OK;
}

/* Too many spans for all at once: those in sight are read when the window has
 * left what was read, or is a small part of it. */
static void settle(struct lab_screen *s)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_time_window *w = &st->window;
    int64_t span = w->to - w->from;
    if (!st->crowded || st->dateless)
        return;
    bool inside = w->from >= st->t->from_ns && w->to <= st->t->to_ns;
    bool all = w->from <= w->least && w->to >= w->most;
    if (inside && (all || (st->t->to_ns - st->t->from_ns) / 4 <= span))
        return;
    struct lab_timeline_filter filter = {.from_ns = w->from - span,
                                         .to_ns = w->to + span};
    if (filter.from_ns < w->least)
        filter.from_ns = w->least;
    if (filter.to_ns > w->most)
        filter.to_ns = w->most;
    if (read_part(st, all ? NULL : &filter))
        lab_ui_error(s->ui);
}

static int64_t best_pass(const struct lab_timeline_state *st)
{
    int64_t best = 0;
    for (int64_t i = 1; i < st->pass_count; i++)
        if (lab_iteration_prefer(&st->passes[best], &st->passes[i]))
            best = i;
    return best;
}

static void choose_step(struct lab_timeline_state *st,
                        const struct lab_timeline_args *args)
{
    static const char *const phases[] = {"forward", "loss", "backward",
                                         "update"};
    for (int32_t i = 0; args->step && i < st->t->count; i++) {
        const struct lab_span *s = &st->t->spans[i];
        bool phase = !args->phase || s->phase < 0 || s->phase > 3 ||
                     strcmp(phases[s->phase], args->phase) == 0;
        if (s->kind == LAB_SPAN_STEP && phase &&
            strcmp(lab_intern_text(s->name), args->step) == 0) {
            st->chosen = i;
            return;
        }
    }
}

static enum lab_status init(struct lab_screen *s, const void *given)
{
    const struct lab_timeline_args *args = given;
    struct lab_timeline_state *st = s->state;
    st->model = args->model;
    st->run = args->run;
    st->focus = st->list_of = st->chosen = -1;
    if (!st->model->load_passes || !st->model->load_timeline)
        return lab_fail(LAB_E_STATE, "there is no timeline here");
    enum lab_status status = st->model->load_passes(
        st->model->user, st->run, &st->passes, &st->pass_count);
    if (status)
        return status;
    if (st->pass_count == 0)
        return lab_fail(LAB_E_STATE,
                        "this run has no recorded steps or kernels");
    status = load_pass(st, best_pass(st));
    if (!status)
        choose_step(st, args);
    return status ? status : lab_timeline_relist(st);
}

static void release(struct lab_screen *s)
{
    lab_timeline_unlist(s->state);
}

/* ---- keys ---- */

static void zoom(struct lab_timeline_state *st, int num, int den)
{
    const struct lab_span *s = lab_timeline_chosen(st);
    int64_t centre = -1;
    if (s && s->start_ns != LAB_UNKNOWN)
        centre = s->start_ns + (s->end_ns - s->start_ns) / 2;
    lab_window_zoom(&st->window, centre, num, den);
}

static enum lab_status turn_to(struct lab_screen *s, int64_t pass)
{
    struct lab_timeline_state *st = s->state;
    if (pass < 0 || pass >= st->pass_count)
        return lab_fail(LAB_E_STATE, "no iteration was recorded %s this one",
                        pass < 0 ? "before" : "after");
    return load_pass(st, pass);
}

/* Where kernels are left out, those of the step are read first. */
static enum lab_status open_chosen(struct lab_screen *s)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_span *step = lab_timeline_chosen(st);
    struct lab_time_window before = st->window;
    if (!st->crowded || st->focus >= 0 || !step ||
        step->kind != LAB_SPAN_STEP || step->start_ns == LAB_UNKNOWN)
        return lab_timeline_open(st);
    lab_window_set(&st->window, step->start_ns, step->end_ns);
    settle(s);
    enum lab_status status = lab_timeline_open(st);
    st->before = before;
    if (status)
        st->window = before;
    return status;
}

static enum lab_status open_what_if(struct lab_screen *s)
{
    const struct lab_timeline_state *st = s->state;
    const struct lab_span *k = lab_timeline_chosen(st);
    if (!k || k->kind != LAB_SPAN_KERNEL)
        return lab_fail(LAB_E_STATE, "what if is asked of a kernel: choose one "
                                     "(Enter lists those of a step)");
    return lab_occupancy_open(s->ui, st->model, st->run, NULL, k->row);
}

static bool look(struct lab_timeline_state *st, int action)
{
    const struct lab_span *s = lab_timeline_chosen(st);
    switch (action) {
    case ACT_ZOOM_IN:
        zoom(st, 1, 2);
        return true;
    case ACT_ZOOM_OUT:
        zoom(st, 2, 1);
        return true;
    case ACT_FIT:
        lab_window_fit(&st->window);
        return true;
    case ACT_ZOOM_SPAN:
        if (s && s->start_ns != LAB_UNKNOWN)
            lab_window_set(&st->window, s->start_ns, s->end_ns);
        return true;
    case LAB_ACT_LEFT:
        lab_window_pan(&st->window, -1, 4);
        return true;
    case LAB_ACT_RIGHT:
        lab_window_pan(&st->window, 1, 4);
        return true;
    case LAB_ACT_PAGE_UP:
        lab_window_pan(&st->window, -1, 1);
        return true;
    case LAB_ACT_PAGE_DOWN:
        lab_window_pan(&st->window, 1, 1);
        return true;
    default:
        return false;
    }
}

static bool go(struct lab_timeline_state *st, int action)
{
    if (st->t->lane_count == 0)
        return false;
    switch (action) {
    case ACT_NEXT:
        lab_timeline_move(st, 1);
        return true;
    case ACT_PREV:
        lab_timeline_move(st, -1);
        return true;
    case LAB_ACT_FIRST:
        lab_timeline_move(st, INT32_MIN / 2);
        return true;
    case LAB_ACT_LAST:
        lab_timeline_move(st, INT32_MAX / 2);
        return true;
    case LAB_ACT_UP:
        lab_timeline_upright(st, -1);
        return true;
    case LAB_ACT_DOWN:
        lab_timeline_upright(st, 1);
        return true;
    case LAB_ACT_PREV_PANE:
        lab_timeline_lane(st, -1);
        return true;
    case LAB_ACT_NEXT_PANE:
        lab_timeline_lane(st, 1);
        return true;
    default:
        return false;
    }
}

static bool turn(struct lab_screen *s, int action)
{
    struct lab_timeline_state *st = s->state;
    enum lab_status status = LAB_OK;
    switch (action) {
    case LAB_ACT_OPEN:
        status = open_chosen(s);
        break;
    case ACT_WHAT_IF:
        status = open_what_if(s);
        break;
    case ACT_CALL:
        status = lab_timeline_follow(st);
        break;
    case ACT_LATER:
        status = turn_to(s, st->pass + 1);
        break;
    case ACT_EARLIER:
        status = turn_to(s, st->pass - 1);
        break;
    case LAB_ACT_SEARCH_NEXT:
        if (!lab_timeline_search(st))
            lab_ui_message(s->ui, LAB_ROLE_WARN, "search with / first");
        break;
    case LAB_ACT_CANCEL:
        if (st->focus >= 0)
            lab_timeline_back(st);
        else
            lab_ui_pop(s->ui);
        break;
    default:
        return false;
    }
    if (status)
        lab_ui_error(s->ui);
    return true;
}

static bool act(struct lab_screen *s, int action)
{
    struct lab_timeline_state *st = s->state;
    bool done = look(st, action) || go(st, action) || turn(s, action);
    settle(s);
    if (lab_timeline_relist(st))
        lab_ui_error(s->ui);
    return done;
}

static void answer(struct lab_screen *s, int id, const char *text)
{
    struct lab_timeline_state *st = s->state;
    if (id != LAB_PROMPT_SEARCH || !text)
        return;
    snprintf(st->search, sizeof(st->search), "%s", text);
    if (!lab_timeline_search(st))
        lab_ui_message(s->ui, LAB_ROLE_WARN, "\"%s\" is not in this iteration",
                       text);
    settle(s);
    if (lab_timeline_relist(st))
        lab_ui_error(s->ui);
}

static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_rect *r = &st->place.lanes;
    int32_t count;
    if (what != LAB_MOUSE_CLICK || !lab_rect_has(*r, y, x))
        return false;
    int32_t lane = st->top + y - r->y;
    if (lane >= st->t->lane_count)
        return false;
    int32_t first =
        lab_lane_find(st->t, lane, st->window.from, st->window.to, &count);
    for (int32_t i = first + count - 1; i >= first; i--) {
        int a;
        int b;
        if (lab_span_columns(&st->t->spans[i], &st->window, r->w, &a, &b) &&
            x - r->x >= a && x - r->x <= b) {
            st->focus = -1;
            lab_timeline_choose(st, i);
            if (lab_timeline_relist(st))
                lab_ui_error(s->ui);
            return true;
        }
    }
    return false;
}

static void title(struct lab_screen *s, char *out, size_t cap)
{
    const struct lab_timeline_state *st = s->state;
    if (st->t->of.iteration == LAB_UNKNOWN)
        snprintf(out, cap, "Timeline of run %lld", (long long)st->run);
    else
        snprintf(out, cap,
                 "Timeline of run %lld, iteration %lld (%lld of %lld)%s",
                 (long long)st->run, (long long)st->t->of.iteration,
                 (long long)st->pass + 1, (long long)st->pass_count,
                 st->pass_count > 1 ? ", [ and ]" : "");
}

static const struct lab_binding BINDINGS[] = {
    {{'+', '='}, ACT_ZOOM_IN, "zoom", "half of the time, twice as large", true},
    {{'-'}, ACT_ZOOM_OUT, "out", "twice the time", true},
    {{'z'}, ACT_FIT, "fit", "the whole iteration", true},
    {{'Z'}, ACT_ZOOM_SPAN, "to it", "zoom to what is chosen", false},
    {{LAB_KEY_LEFT, 'h'}, LAB_ACT_LEFT, "earlier", "earlier times", false},
    {{LAB_KEY_RIGHT, 'l'}, LAB_ACT_RIGHT, "later", "later times", false},
    {{'n'}, ACT_NEXT, "next", "the next of its lane, or of the list", true},
    {{'p'}, ACT_PREV, "before", "the one before it", false},
    {{LAB_KEY_UP, 'k'},
     LAB_ACT_UP,
     "up",
     "the lane above, or the one before in the list",
     false},
    {{LAB_KEY_DOWN, 'j'},
     LAB_ACT_DOWN,
     "down",
     "the lane below, or the next in the list",
     false},
    {{LAB_KEY_TAB},
     LAB_ACT_NEXT_PANE,
     "lane",
     "the next lane, out of a list",
     true},
    {{LAB_KEY_ENTER},
     LAB_ACT_OPEN,
     "kernels",
     "from a step to what it launched, and back",
     true},
    {{'O'},
     ACT_WHAT_IF,
     "what if",
     "a kernel's occupancy with another block, registers, shared memory",
     true},
    {{']'}, ACT_LATER, "iteration on", "the next recorded iteration", false},
    {{'['}, ACT_EARLIER, "iteration back", "the one before", false},
    {{'/', LAB_KEY_F1 + 2},
     LAB_ACT_SEARCH,
     "search",
     "search for a name",
     true},
    /* After what 80 columns have room for: without --trace on there is none. */
    {{'c'}, ACT_CALL, "call", "from a kernel to its call, and back", true},
    {{'N'},
     LAB_ACT_SEARCH_NEXT,
     "next match",
     "the next with that name",
     false},
    {{LAB_KEY_ESC}, LAB_ACT_CANCEL, "back", "to the step, or close", false},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};

static const struct lab_sign SIGNS[] = {
    {"[name===]", "one span, from its begin to its end"},
    {"[name~~~]", "the same of a node of a CUDA graph"},
    {"<  >", "it goes on out of sight"},
    {"░ ▒ ▓ █", "several spans, or one too short for its name: how much of the "
                "column's time they fill, up to 25, 50, 75 and 100 % (.:+# in "
                "ASCII)"},
    {"v---v", "over the lanes: where the chosen span is"},
    {NULL, NULL}};

const struct lab_screen_ops lab_view_timeline = {
    .name = "timeline",
    .title = "Timeline",
    .state_bytes = sizeof(struct lab_timeline_state),
    .bindings = BINDINGS,
    .sideways = true,
    .init = init,
    .release = release,
    .draw = lab_timeline_draw,
    .action = act,
    .answer = answer,
    .mouse = mouse,
    .title_now = title,
    .signs = SIGNS,
};
