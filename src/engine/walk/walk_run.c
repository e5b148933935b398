/* Running steps: the call, the observers, the iteration's start and end. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "walk_priv.h"

static void tell_phase(struct lab_walk *w, int phase, bool begin)
{
    for (int i = 0; i < w->n_observers && !w->muted; i++) {
        const struct lab_observer *o = &w->observers[i];
        if (begin && o->phase_begin)
            o->phase_begin(o->user, (enum lab_phase)phase);
        if (!begin && o->phase_end)
            o->phase_end(o->user, (enum lab_phase)phase);
    }
}

static void tell_node(struct lab_walk *w, int node, bool begin)
{
    const char *id = w->plan->nodes[node].id;
    for (int i = 0; i < w->n_observers && !w->muted; i++) {
        const struct lab_observer *o = &w->observers[i];
        if (begin && o->node_begin)
            o->node_begin(o->user, id);
        if (!begin && o->node_end)
            o->node_end(o->user, id);
    }
}

static void close_node(struct lab_walk *w)
{
    if (w->open_node >= 0)
        tell_node(w, w->open_node, false);
    w->open_node = -1;
}

static void close_phase(struct lab_walk *w)
{
    close_node(w);
    if (w->open_phase >= 0)
        tell_phase(w, w->open_phase, false);
    w->open_phase = -1;
}

static void tell_iteration_end(struct lab_walk *w)
{
    for (int i = 0; i < w->n_observers && !w->muted; i++) {
        const struct lab_observer *o = &w->observers[i];
        if (w->cut && o->iteration_cut)
            o->iteration_cut(o->user, w->iteration);
        else if (o->iteration_end)
            o->iteration_end(o->user, w->iteration, w->cut ? NAN : w->loss);
    }
    w->open_iteration = w->cut = false;
}

void lab_walk_close_ranges(struct lab_walk *w)
{
    close_phase(w);
    if (w->open_iteration)
        tell_iteration_end(w);
}

void lab_walk_report_unobserved(struct lab_walk *w, bool begin)
{
    for (int i = 0; i < w->n_observers; i++) {
        const struct lab_observer *o = &w->observers[i];
        if (begin && o->untold_begin)
            o->untold_begin(o->user);
        if (!begin && o->untold_end)
            o->untold_end(o->user);
    }
}

static void open_iteration(struct lab_walk *w)
{
    for (int i = 0; i < w->n_observers && !w->open_iteration; i++) {
        if (w->observers[i].iteration_begin)
            w->observers[i].iteration_begin(w->observers[i].user, w->iteration);
    }
    w->open_iteration = true;
}

/* Closes what the step is not in and opens what it is in. */
static void enter(struct lab_walk *w, const struct lab_step *s)
{
    if (w->muted)
        return;
    open_iteration(w);
    if (w->quiet)
        return;
    if (w->open_phase != (int)s->phase) {
        close_phase(w);
        w->open_phase = (int)s->phase;
        tell_phase(w, w->open_phase, true);
    }
    if (w->open_node != s->node) {
        close_node(w);
        w->open_node = s->node;
        tell_node(w, w->open_node, true);
    }
}

static void tell_step(struct lab_walk *w, const struct lab_step_event *e,
                      bool begin)
{
    for (int i = 0; i < w->n_observers && !w->muted && !w->quiet; i++) {
        const struct lab_observer *o = &w->observers[i];
        if (begin && o->step_begin)
            o->step_begin(o->user, e);
        if (!begin && o->step_end)
            o->step_end(o->user, e);
    }
}

/* Persistent tensors and data live in the walk's arena; the others in `base`,
 * which is another arena during an evaluation. */
static struct lab_view view_in(const struct lab_walk *w, int tensor, void *base)
{
    bool shared = tensor >= 0 && w->plan->tensors[tensor].persistent;
    return lab_plan_view(w->plan, tensor, shared ? w->arena : base);
}

enum lab_status lab_walk_run_schedule_step(struct lab_walk *w,
                                           const struct lab_schedule_step *s,
                                           void *base, bool training)
{
    struct lab_view in[LAB_STEP_IN];
    struct lab_view out[LAB_STEP_OUT];
    struct lab_call call = {.in = in,
                            .n_in = s->step->n_in,
                            .out = out,
                            .n_out = s->step->n_out,
                            .params = s->step->params,
                            .training = training,
                            .seed = w->plan->seed,
                            .iteration = (uint64_t)w->iteration,
                            .node = (uint32_t)s->step->node};
    for (int i = 0; i < call.n_in; i++)
        in[i] = view_in(w, s->step->in[i], base);
    for (int i = 0; i < call.n_out; i++)
        out[i] = view_in(w, s->step->out[i], base);
    enum lab_status st = lab_backend_run(w->be, s->variant, &call);
    return st ? lab_fail_context(st, "step %s, variant %s", s->step->name,
                                 s->variant->name)
              : LAB_OK;
}

static enum lab_status read_loss(struct lab_walk *w)
{
    double value = 0;
    enum lab_status st = lab_walk_read(w, w->plan->loss, false, &value);
    if (!st)
        w->loss = lab_element_value(&value, w->plan->real, 0);
    return st;
}

void lab_walk_mark_written(struct lab_walk *w,
                           const struct lab_schedule_step *s, int64_t ns)
{
    for (int i = 0; i < s->step->n_out; i++) {
        int t = s->step->out[i];
        if (t < 0)
            continue;
        w->written[t] = true;
        w->generation[t]++;
    }
    bool told = !w->muted && !w->quiet;
    for (int k = 0; k < s->hides_count; k++) {
        w->step_exec[s->hides_from + k] = told ? w->exec : LAB_EXEC_UNOBSERVED;
        w->step_ns[s->hides_from + k] = ns;
        w->step_ran[s->hides_from + k] = s->variant;
    }
}

static bool step_writes_loss(const struct lab_walk *w, const struct lab_step *s)
{
    for (int i = 0; i < s->n_out; i++) {
        if (s->out[i] == w->plan->loss)
            return true;
    }
    return false;
}

enum lab_status lab_walk_run_at(struct lab_walk *w, int index, bool walking)
{
    const struct lab_schedule_step *s = &w->schedule->steps[index];
    if (!w->muted && !w->quiet)
        w->exec++;
    struct lab_step_event e = {.exec = w->exec,
                               .iteration = w->iteration,
                               .index = index,
                               .step = s->step,
                               .node = w->plan->nodes[s->step->node].id,
                               .op = s->step->op->name,
                               .variant = s->variant->name,
                               .backend = w->be->ops->name,
                               .device_ns = LAB_EVENT_NO_TIME};
    bool events = w->use_events && !w->muted && !w->quiet;
    enter(w, s->step);
    tell_step(w, &e, true);
    if (events)
        events = lab_backend_time_begin(w->be) == LAB_OK;
    int64_t start = lab_clock_monotonic_ns();
    enum lab_status st = lab_walk_run_schedule_step(w, s, w->arena, true);
    if (!st && events)
        st = lab_backend_time_end(w->be, &e.device_ns);
    if (!st && walking)
        st = lab_backend_sync(w->be);
    int64_t ns = lab_clock_monotonic_ns() - start;
    tell_step(w, &e, false);
    if (st)
        return st;
    lab_walk_mark_written(w, s, ns);
    if (walking && step_writes_loss(w, s->step))
        st = read_loss(w);
    if (walking && !st)
        st = lab_walk_sync(w);
    return st;
}

enum lab_status lab_walk_finish_iteration(struct lab_walk *w)
{
    enum lab_status st = LAB_OK;
    close_phase(w);
    w->cut = false;
    if (isnan(w->loss)) /* at speed it was not read on the way */
        st = read_loss(w);
    if (w->open_iteration)
        tell_iteration_end(w);
    return st;
}

enum lab_status lab_walk_cut_iteration(struct lab_walk *w)
{
    enum lab_status st = lab_backend_sync(w->be);
    if (!st && lab_walk_written(w, w->plan->loss))
        st = read_loss(w);
    w->cut = w->open_iteration;
    return st;
}

static enum lab_status load_data(struct lab_walk *w)
{
    const struct lab_plan *plan = w->plan;
    for (int i = 0; i < plan->n_tensors; i++) {
        if (plan->tensors[i].role != LAB_TENSOR_DATA)
            continue;
        enum lab_status st =
            lab_data_fill(w->data, plan, i, w->iteration, w->staging);
        if (!st)
            st = lab_walk_write(w, i, w->staging);
        if (st)
            return st;
    }
    w->speed.data_of = w->iteration;
    return LAB_OK;
}

void lab_walk_begin_iteration(struct lab_walk *w, bool keep_copy)
{
    const struct lab_plan *plan = w->plan;
    w->position = 0;
    w->loss = NAN;
    memset(w->step_exec, 0, (size_t)plan->n_steps * sizeof(*w->step_exec));
    for (int i = 0; i < plan->n_tensors; i++)
        w->written[i] = plan->tensors[i].role == LAB_TENSOR_DATA ||
                        plan->tensors[i].persistent;
    if (keep_copy)
        lab_walk_keep_copy(w);
    else /* one from before the learner went back, perhaps of other numbers */
        lab_walk_drop_copy(w, w->iteration);
}

enum lab_status lab_walk_load_iteration(struct lab_walk *w, bool keep_copy)
{
    lab_walk_close_ranges(w);
    lab_walk_begin_iteration(w, keep_copy);
    return load_data(w);
}

enum lab_status lab_walk_next_iteration(struct lab_walk *w, bool keep_copy)
{
    lab_walk_close_ranges(w);
    w->iteration++;
    enum lab_status st = load_data(w);
    if (st)
        w->iteration--;
    else
        lab_walk_begin_iteration(w, keep_copy);
    return st;
}

void lab_walk_run_begin(struct lab_walk *w, const char *name)
{
    w->evaluations = 0;
    for (int i = 0; i < w->n_observers; i++) {
        if (w->observers[i].run_begin)
            w->observers[i].run_begin(w->observers[i].user, name);
    }
}

void lab_walk_run_end(struct lab_walk *w)
{
    (void)lab_walk_drain(w); /* a device that failed has said so before */
    lab_walk_close_ranges(w);
    for (int i = 0; i < w->n_observers; i++) {
        if (w->observers[i].run_end)
            w->observers[i].run_end(w->observers[i].user);
    }
}
