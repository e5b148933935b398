/* Recorded iterations that are launched as one graph: which of its nodes are of
 * which step. */
#include "base/mem.h"
#include "walk_priv.h"

void lab_walk_graph_nodes(struct lab_walk *w, bool on)
{
    w->speed.nodes = on;
}

void lab_walk_nodes_forget(struct lab_walk *w)
{
    lab_free(w->speed.node_end);
    w->speed.node_end = NULL;
}

enum lab_status lab_walk_nodes_begin(struct lab_walk *w)
{
    struct lab_walk_speed *s = &w->speed;
    lab_walk_nodes_forget(w);
    if (!s->nodes)
        return LAB_OK;
    s->node_end =
        lab_alloc_array((size_t)w->schedule->n_steps, sizeof(*s->node_end));
    if (!s->node_end)
        return lab_fail(LAB_E_NOMEM, "no memory for a graph's nodes");
    return lab_graph_count(w->be, &s->first_node);
}

enum lab_status lab_walk_nodes_step(struct lab_walk *w, int index)
{
    struct lab_walk_speed *s = &w->speed;
    return s->nodes ? lab_graph_count(w->be, &s->node_end[index]) : LAB_OK;
}

static void tell_graph(struct lab_walk *w, const struct lab_graph_event *e,
                       bool begin)
{
    for (int i = 0; i < w->n_observers; i++) {
        const struct lab_observer *o = &w->observers[i];
        if (begin && o->graph_begin)
            o->graph_begin(o->user, e);
        else if (!begin && o->graph_end)
            o->graph_end(o->user, e);
    }
}

static void tell_steps(struct lab_walk *w, int64_t exec)
{
    for (int i = 0; i < w->schedule->n_steps; i++) {
        const struct lab_schedule_step *s = &w->schedule->steps[i];
        struct lab_step_event e = {.exec = exec + i,
                                   .iteration = w->iteration,
                                   .index = i,
                                   .step = s->step,
                                   .node = w->plan->nodes[s->step->node].id,
                                   .op = s->step->op->name,
                                   .variant = s->variant->name,
                                   .backend = w->be->ops->name,
                                   .device_ns = LAB_EVENT_NO_TIME};
        for (int k = 0; k < w->n_observers; k++) {
            if (w->observers[k].step_done)
                w->observers[k].step_done(w->observers[k].user, &e);
        }
    }
}

enum lab_status lab_walk_launch_nodes(
    struct lab_walk *w, int64_t iteration, bool keep,
    enum lab_status (*launch)(struct lab_walk *w, int64_t iteration, bool keep))
{
    struct lab_graph_event e = {.exec = w->exec + 1,
                                .n_steps = w->schedule->n_steps,
                                .first_node = w->speed.first_node,
                                .node_end = w->speed.node_end};
    enum lab_status st = lab_walk_drain(w);
    if (st)
        return st;
    w->exec += e.n_steps;
    tell_graph(w, &e, true);
    st = launch(w, iteration, keep);
    tell_graph(w, &e, false);
    if (!st)
        st = lab_walk_sync(w); /* the nodes' records have come */
    if (!st)
        tell_steps(w, e.exec);
    return st;
}
