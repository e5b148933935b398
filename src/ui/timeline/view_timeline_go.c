/* What is chosen on a timeline, and where the keys take it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/intern.h"
#include "view_timeline_priv.h"

const struct lab_span *lab_timeline_chosen(const struct lab_timeline_state *st)
{
    return st->chosen < 0 ? NULL : &st->t->spans[st->chosen];
}

void lab_timeline_unlist(struct lab_timeline_state *st)
{
    lab_free(st->list);
    st->list = NULL;
    st->list_count = 0;
    st->list_of = st->focus = -1;
}

/* ---- choosing ---- */

void lab_timeline_choose(struct lab_timeline_state *st, int32_t span)
{
    const struct lab_span *s = &st->t->spans[span];
    st->chosen = span;
    st->lane = s->lane;
    if (s->start_ns != LAB_UNKNOWN)
        lab_window_show(&st->window, s->start_ns, s->end_ns);
}

/* Where in the list the chosen span is; -1: it is not of it. */
static int32_t list_place(const struct lab_timeline_state *st)
{
    for (int32_t i = 0; i < st->list_count; i++)
        if (st->list[i] == st->chosen)
            return i;
    return -1;
}

static bool is_listed(const struct lab_timeline_state *st)
{
    return st->focus >= 0 && st->list_count > 0;
}

/* Along the lane, or along the list of a step. */
void lab_timeline_move(struct lab_timeline_state *st, int32_t by)
{
    const struct lab_lane *l = &st->t->lanes[st->lane];
    bool listed = is_listed(st);
    int32_t count = listed ? st->list_count : l->count;
    int32_t at = listed ? list_place(st) : st->chosen - l->first;
    at = at < 0 ? 0 : at + by;
    at = at < 0 ? 0 : at >= count ? count - 1 : at;
    lab_timeline_choose(st, listed ? st->list[at] : l->first + at);
}

/* The span of the lane that is nearest to the chosen one's start. */
void lab_timeline_lane(struct lab_timeline_state *st, int by)
{
    st->focus = -1; /* the list is of the step that is chosen then */
    const struct lab_span *s = lab_timeline_chosen(st);
    int64_t moment =
        s && s->start_ns != LAB_UNKNOWN ? s->start_ns : st->window.from;
    int32_t lanes = st->t->lane_count;
    st->lane = (st->lane + (by + lanes)) % lanes;
    const struct lab_lane *l = &st->t->lanes[st->lane];
    int32_t best = l->first;
    for (int32_t i = 0; i < l->timed; i++) {
        const struct lab_span *o = &st->t->spans[l->first + i];
        if (o->start_ns > moment && i > 0 &&
            o->start_ns - moment > moment - st->t->spans[best].start_ns)
            break;
        best = l->first + i;
    }
    lab_timeline_choose(st, best);
}

void lab_timeline_upright(struct lab_timeline_state *st, int by)
{
    if (is_listed(st))
        lab_timeline_move(st, by);
    else
        lab_timeline_lane(st, by);
}

bool lab_timeline_search(struct lab_timeline_state *st)
{
    int32_t n = st->t->count;
    for (int32_t i = 1; i <= n && st->search[0]; i++) {
        int32_t at = (st->chosen + i) % n;
        const char *name = lab_intern_text(st->t->spans[at].name);
        if (strcasestr(name, st->search)) {
            st->focus = -1;
            lab_timeline_choose(st, at);
            return true;
        }
    }
    return false;
}

/* ---- a step and its kernels ---- */

static int compare_starts(const void *a, const void *b, void *user)
{
    const struct lab_timeline *t = user;
    int32_t i = *(const int32_t *)a;
    int32_t j = *(const int32_t *)b;
    const struct lab_span *x = &t->spans[i];
    const struct lab_span *y = &t->spans[j];
    bool later = x->start_ns == LAB_UNKNOWN; /* unknown last */
    if (later != (y->start_ns == LAB_UNKNOWN))
        return later ? 1 : -1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (i > j) - (i < j);
}

static bool launched_by(const struct lab_span *s, int32_t step)
{
    return s->step == step && s->kind >= LAB_SPAN_KERNEL;
}

enum lab_status lab_timeline_relist(struct lab_timeline_state *st)
{
    const struct lab_timeline *t = st->t;
    const struct lab_span *s = lab_timeline_chosen(st);
    int32_t focus = st->focus;
    int32_t step = focus >= 0 ? focus : s ? s->step : -1;
    int32_t n = 0;
    if (step == st->list_of)
        return LAB_OK;
    lab_timeline_unlist(st);
    st->focus = focus;
    for (int32_t i = 0; i < t->count && step >= 0; i++)
        n += launched_by(&t->spans[i], step);
    if (n == 0) {
        st->list_of = step;
        return LAB_OK;
    }
    st->list = lab_alloc_array((size_t)n, sizeof(*st->list));
    if (!st->list)
        return lab_no_memory("a list");
    for (int32_t i = 0; i < t->count; i++)
        if (launched_by(&t->spans[i], step))
            st->list[st->list_count++] = i;
    qsort_r(st->list, (size_t)n, sizeof(*st->list), compare_starts, (void *)t);
    st->list_of = step;
    return LAB_OK;
}

/* The step and all of its kernels come into sight. */
static enum lab_status open_step(struct lab_timeline_state *st)
{
    int32_t step = st->chosen;
    const struct lab_span *s = &st->t->spans[step];
    int64_t from = s->start_ns;
    int64_t to = s->end_ns;
    enum lab_status status = lab_timeline_relist(st);
    if (status)
        return status;
    if (st->list_count == 0)
        return lab_fail(LAB_E_STATE, "no kernel or copy of this step was "
                                     "recorded");
    st->focus = step;
    for (int32_t i = 0; i < st->list_count; i++) {
        s = &st->t->spans[st->list[i]];
        if (s->start_ns == LAB_UNKNOWN)
            continue;
        from = from == LAB_UNKNOWN || s->start_ns < from ? s->start_ns : from;
        to = s->end_ns > to ? s->end_ns : to;
    }
    st->before = st->window;
    if (from != LAB_UNKNOWN)
        lab_window_set(&st->window, from, to);
    lab_timeline_choose(st, st->list[0]);
    return LAB_OK;
}

void lab_timeline_back(struct lab_timeline_state *st)
{
    int32_t step = st->focus;
    st->window = st->before;
    st->focus = -1;
    lab_timeline_choose(st, step);
}

enum lab_status lab_timeline_open(struct lab_timeline_state *st)
{
    const struct lab_span *s = lab_timeline_chosen(st);
    if (st->focus >= 0) {
        lab_timeline_back(st);
        return LAB_OK;
    }
    if (!s)
        return lab_fail(LAB_E_STATE, "there is nothing to open");
    if (s->kind == LAB_SPAN_STEP)
        return open_step(st);
    if (s->step < 0)
        return lab_fail(LAB_E_STATE, "it belongs to no step of this iteration");
    lab_timeline_choose(st, s->step);
    return LAB_OK;
}

/* From what was launched to the call, and from the call to that. */
enum lab_status lab_timeline_follow(struct lab_timeline_state *st)
{
    const struct lab_span *s = lab_timeline_chosen(st);
    st->focus = -1;
    if (s && s->call >= 0) {
        lab_timeline_choose(st, s->call);
        return LAB_OK;
    }
    for (int32_t i = 0; s && i < st->t->count; i++)
        if (st->t->spans[i].call == st->chosen) {
            lab_timeline_choose(st, i);
            return LAB_OK;
        }
    return lab_fail(LAB_E_STATE, "no call, or nothing it launched, is known");
}
