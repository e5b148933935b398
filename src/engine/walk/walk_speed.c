/* Training at speed: iterations whose steps nobody wants to hear of are
 * captured once and launched as one (engine/walk.h, lab_walk_iterate). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "walk_priv.h"

bool lab_walk_samples(int64_t iteration)
{
    int64_t stride = 1;
    while (iteration / stride >= 32)
        stride *= 2;
    return iteration % stride == 0;
}

void lab_walk_use_graph(struct lab_walk *w, bool on)
{
    w->speed.off = !on;
}

/* The graph is that of the present schedule, or none. */
static void follow_schedule(struct lab_walk *w, struct lab_schedule *schedule)
{
    struct lab_walk_speed *s = &w->speed;
    if (s->of == schedule)
        return;
    lab_graph_free(w->be, s->graph);
    lab_schedule_release(s->of);
    lab_walk_nodes_forget(w);
    s->graph = NULL;
    s->of = lab_schedule_retain(schedule);
    s->warm = s->failed = false;
}

void lab_walk_speed_forget(struct lab_walk *w)
{
    follow_schedule(w, NULL);
}

enum lab_status lab_walk_recapture(struct lab_walk *w)
{
    enum lab_status st = lab_walk_drain(w);
    lab_walk_speed_forget(w);
    return st;
}

void lab_walk_speed_release(struct lab_walk *w)
{
    if (!w->be)
        return;
    follow_schedule(w, NULL);
    for (int i = 0; i < LAB_GRAPH_AHEAD; i++)
        lab_graph_host_free(w->be, w->speed.slot[i]);
}

/* ---- news ---- */

static void add_news(struct lab_walk *w, const struct lab_iteration_progress *n)
{
    struct lab_walk_speed *s = &w->speed;
    s->news[s->news_end++ % LAB_WALK_NEWS] = *n;
    if (s->news_end - s->news_first > LAB_WALK_NEWS)
        s->news_first++;
}

/* Once a walk: another schedule that is refused too is refused for the same. */
static enum lab_status refuse_graph(struct lab_walk_speed *s,
                                    enum lab_status st)
{
    if (st && !s->refusal_known) {
        snprintf(s->refusal, sizeof(s->refusal), "%s", lab_error());
        s->refusal_known = true;
    }
    return st;
}

const char *lab_walk_graph_refused(struct lab_walk *w)
{
    struct lab_walk_speed *s = &w->speed;
    if (!s->refusal_known || s->refusal_told)
        return NULL;
    s->refusal_told = true;
    return s->refusal;
}

bool lab_walk_poll(struct lab_walk *w, struct lab_iteration_progress *out)
{
    struct lab_walk_speed *s = &w->speed;
    if (s->news_first == s->news_end)
        return false;
    *out = s->news[s->news_first++ % LAB_WALK_NEWS];
    return true;
}

static void tell_done(struct lab_walk *w,
                      const struct lab_iteration_progress *n)
{
    for (int i = 0; i < w->n_observers; i++) {
        const struct lab_observer *o = &w->observers[i];
        if (o->iteration_done) {
            o->iteration_done(o->user, n->iteration, n->loss, n->start_ns,
                              n->end_ns);
            continue;
        }
        if (o->iteration_begin)
            o->iteration_begin(o->user, n->iteration);
        if (o->iteration_end)
            o->iteration_end(o->user, n->iteration, n->loss);
    }
}

/* The device's moment on the host's clock. The host hears of it late, now more
 * and now less: the smallest difference is the nearest to the truth. */
static int64_t host_moment(struct lab_walk_speed *s, int64_t device_ns)
{
    int64_t now = lab_clock_monotonic_ns();
    if (!s->clock_known || now - device_ns < s->clock_offset_ns)
        s->clock_offset_ns = now - device_ns;
    s->clock_known = true;
    return device_ns + s->clock_offset_ns;
}

/* Tells the oldest launch when it is done; `wait`: waits for it. */
static enum lab_status collect(struct lab_walk *w, bool wait, bool *told)
{
    struct lab_walk_speed *s = &w->speed;
    struct lab_graph_report r;
    enum lab_status st = lab_graph_wait(w->be, wait, &r, told);
    if (st || !*told)
        return st;
    int64_t queued = s->queued_ns[s->told++ % LAB_GRAPH_AHEAD];
    struct lab_iteration_progress n = {.iteration = (int64_t)r.iteration,
                                       .loss = r.loss,
                                       .end_ns = host_moment(s, r.end_ns)};
    n.start_ns = queued > s->last_end_ns ? queued : s->last_end_ns;
    if (n.end_ns < n.start_ns)
        n.end_ns = n.start_ns;
    s->last_end_ns = n.end_ns;
    if (n.iteration == w->iteration)
        w->loss = n.loss;
    tell_done(w, &n);
    add_news(w, &n);
    return LAB_OK;
}

enum lab_status lab_walk_drain(struct lab_walk *w)
{
    enum lab_status st = LAB_OK;
    bool told = true;
    while (!st && told && w->speed.told < w->speed.launched)
        st = collect(w, true, &told);
    w->speed.clock_known = false;
    return st;
}

/* ---- the graph ---- */

static bool wants_steps(const struct lab_walk *w)
{
    for (int i = 0; i < w->n_observers; i++) {
        if (w->observers[i].step_begin || w->observers[i].step_end)
            return true;
    }
    return false;
}

/* The iteration that iterate() is to run, -1: one that has begun as a walk. */
static int64_t next_iteration(const struct lab_walk *w)
{
    if (lab_walk_at_end(w))
        return w->iteration + 1;
    return w->position == 0 ? w->iteration : -1;
}

static bool may_launch(const struct lab_walk *w)
{
    const struct lab_walk_speed *s = &w->speed;
    int64_t next = next_iteration(w);
    if (s->off || s->failed || !s->warm || next < 0 ||
        !lab_backend_graphs(w->be) || w->plan->real != LAB_F32)
        return false;
    return s->nodes || !lab_walk_samples(next) || !wants_steps(w);
}

static enum lab_status alloc_slots(struct lab_walk *w)
{
    size_t bytes = 0;
    for (int i = 0; i < w->plan->n_tensors; i++) {
        const struct lab_tensor *t = &w->plan->tensors[i];
        if (t->role == LAB_TENSOR_DATA)
            bytes += (size_t)t->count * lab_dtype_bytes(t->dtype);
    }
    for (int i = 0; i < LAB_GRAPH_AHEAD; i++) {
        if (w->speed.slot[i])
            continue;
        enum lab_status st =
            lab_graph_host_alloc(w->be, bytes ? bytes : 1, &w->speed.slot[i]);
        if (st)
            return st;
    }
    return LAB_OK;
}

/* Updates of different parameters do not wait for each other. */
static bool stands_alone(const struct lab_schedule_step *s)
{
    return s->step->phase == LAB_UPDATE;
}

static enum lab_status capture_steps(struct lab_walk *w)
{
    enum lab_status st = LAB_OK;
    int lane = -1;
    for (int i = 0; i < w->schedule->n_steps && !st; i++) {
        const struct lab_schedule_step *s = &w->schedule->steps[i];
        int before = lane;
        lane = stands_alone(s) ? (lane + 1) % LAB_GRAPH_LANES : -1;
        if (lane != before)
            st = lab_graph_lane(w->be, lane);
        if (!st)
            st = lab_walk_run_schedule_step(w, s, w->arena, true);
        if (!st)
            st = lab_walk_nodes_step(w, i);
    }
    return st || lane < 0 ? st : lab_graph_lane(w->be, -1);
}

static enum lab_status capture(struct lab_walk *w)
{
    const char *loss =
        (char *)w->arena + w->plan->tensors[w->plan->loss].offset;
    enum lab_status st = alloc_slots(w);
    if (st)
        return st;
    st = lab_graph_begin(w->be);
    if (!st)
        st = lab_walk_nodes_begin(w);
    if (!st)
        st = capture_steps(w);
    if (st) {
        (void)lab_graph_end(w->be, loss, NULL);
        return st;
    }
    return lab_graph_end(w->be, loss, &w->speed.graph);
}

/* The batch of an iteration: the host fills one while the device reads others.
 */
static enum lab_status send_data(struct lab_walk *w, int64_t iteration)
{
    const struct lab_plan *plan = w->plan;
    char *at = w->speed.slot[w->speed.launched % LAB_GRAPH_AHEAD];
    enum lab_status st = LAB_OK;
    if (w->speed.data_of >= 0 &&
        lab_data_same(w->data, w->speed.data_of, iteration))
        return LAB_OK;
    for (int i = 0; i < plan->n_tensors && !st; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        size_t bytes = (size_t)t->count * lab_dtype_bytes(t->dtype);
        if (t->role != LAB_TENSOR_DATA)
            continue;
        st = lab_data_fill(w->data, plan, i, iteration, at);
        if (!st)
            st = lab_graph_upload(w->be, (char *)w->arena + t->offset, at,
                                  bytes);
        w->generation[i]++;
        at += bytes;
    }
    w->speed.data_of = st ? -1 : iteration;
    return st;
}

static enum lab_status launch(struct lab_walk *w, int64_t iteration, bool keep)
{
    struct lab_walk_speed *s = &w->speed;
    bool told = true;
    bool loaded = !lab_walk_at_end(w); /* as after a restart */
    enum lab_status st = LAB_OK;
    if (s->launched - s->told == LAB_GRAPH_AHEAD)
        st = collect(w, true, &told);
    if (!st && !loaded)
        st = send_data(w, iteration);
    if (st)
        return st;
    lab_walk_close_ranges(w);
    w->iteration = iteration;
    lab_walk_begin_iteration(w, keep || loaded);
    s->queued_ns[s->launched % LAB_GRAPH_AHEAD] = lab_clock_monotonic_ns();
    st = lab_graph_launch(w->be, s->graph, (uint64_t)iteration);
    if (st)
        return st;
    s->launched++;
    w->quiet = true;
    for (int i = 0; i < w->schedule->n_steps; i++)
        lab_walk_mark_written(w, &w->schedule->steps[i], 0);
    w->quiet = false;
    w->position = w->schedule->n_steps;
    while (!st && told && s->told < s->launched)
        st = collect(w, false, &told);
    return st;
}

/* Of a graph that is traced as a whole no kernel is recorded. */
static enum lab_status launch_untold(struct lab_walk *w, int64_t iteration,
                                     bool keep)
{
    if (w->speed.nodes)
        lab_walk_report_unobserved(w, true);
    enum lab_status st = launch(w, iteration, keep);
    if (w->speed.nodes)
        lab_walk_report_unobserved(w, false);
    return st;
}

/* Records may be collected: that takes a tracer about a millisecond, and so it
 * is not done after every short iteration. */
static enum lab_status sync_now_and_then(struct lab_walk *w)
{
    const int64_t patience_ns = 50000000;
    int64_t now = lab_clock_monotonic_ns();
    if (now - w->speed.synced_ns < patience_ns)
        return lab_backend_sync(w->be);
    enum lab_status st = lab_walk_sync(w);
    w->speed.synced_ns = lab_clock_monotonic_ns();
    return st;
}

/* A short iteration comes to its end, so that training stops between two; a long
 * one is cut. *until: when patience ends, 0: no stop has been seen. */
static enum lab_status look_for_cut(const struct lab_walk *w, int64_t *until)
{
    const int64_t patience_ns = 20000000;
    enum lab_status st = lab_walk_look_for_stop(w);
    int64_t now = st ? lab_clock_monotonic_ns() : 0;
    if (st && *until == 0)
        *until = now + patience_ns;
    return st && now >= *until ? st : LAB_OK;
}

/* A step at a time, as when walking, but without waiting after each. */
static enum lab_status by_steps(struct lab_walk *w, bool keep)
{
    int64_t start = lab_clock_monotonic_ns();
    int64_t until = 0;
    enum lab_status st = lab_walk_look_for_stop(w);
    if (!st && lab_walk_at_end(w))
        st = lab_walk_next_iteration(w, keep);
    if (st)
        return st;
    bool whole = w->position == 0;
    /* An iteration that began as a walk goes on as one. */
    w->quiet = whole && !lab_walk_samples(w->iteration);
    if (w->quiet)
        lab_walk_report_unobserved(w, true);
    while (!st && !lab_walk_at_end(w)) {
        st = lab_walk_run_at(w, w->position, false);
        w->position += st == LAB_OK;
        if (!st && !lab_walk_at_end(w))
            st = look_for_cut(w, &until);
    }
    if (!st)
        st = lab_walk_finish_iteration(w);
    bool observed = !w->quiet;
    w->quiet = false;
    if (!observed)
        lab_walk_report_unobserved(w, false);
    if (st == LAB_E_CANCELLED && lab_walk_cut_iteration(w) == LAB_OK)
        return lab_walk_look_for_stop(w);
    if (!st && observed)
        st = sync_now_and_then(w);
    if (st)
        return st;
    w->speed.warm |= whole;
    struct lab_iteration_progress n = {w->iteration, w->loss, start,
                                       lab_clock_monotonic_ns()};
    w->speed.last_end_ns = n.end_ns;
    add_news(w, &n);
    return LAB_OK;
}

enum lab_status lab_walk_iterate(struct lab_walk *w)
{
    enum { COPY_EVERY = 16 };
    int64_t next = next_iteration(w);
    bool keep = next % COPY_EVERY == 0;
    follow_schedule(w, w->schedule);
    if (may_launch(w)) {
        if (!w->speed.graph)
            w->speed.failed = refuse_graph(&w->speed, capture(w)) != LAB_OK;
        bool told = w->speed.nodes && wants_steps(w) && lab_walk_samples(next);
        if (!w->speed.failed && told)
            return lab_walk_launch_nodes(w, next, keep, launch);
        if (!w->speed.failed)
            return launch_untold(w, next, keep);
    }
    enum lab_status st = lab_walk_drain(w);
    return st ? st : by_steps(w, keep);
}
