/* One place of a sweep, step by step: how long forward, backward, the update
 * and the matrix products take. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "base/signals.h"
#include "bench/sweep.h"

enum {
    BUDGET_S = 20, /* of one place; fewer iterations are timed then */
    PRODUCT = LAB_PHASE_COUNT, /* in struct parts */
    PARTS
};

bool lab_sweep_is_product(const struct lab_step *step)
{
    static const char *const products[][2] = {
        {"dense", "matmul"},
        {"conv2d", "conv"},
        {"attention", "q"},
        {"attention", "k"},
        {"attention", "v"},
        {"attention", "output"},
        {"attention", "scores"},
        {"attention", "context"},
        {"scaled_dot_attention", "scores"},
        {"scaled_dot_attention", "context"},
        {"bahdanau_attention", "u"},
        {"bahdanau_attention", "e"},
        {"bahdanau_attention", "context"},
        {"rnn", "sum"},
        {"rnn", "weights"},
        {"lstm", "input"},
        {"lstm", "gates"},
        {"lstm", "weights"},
    };
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        bool op = strcmp(step->op->name, products[i][0]) == 0;
        if (op && (step->group || !step->kernel ||
                   strcmp(step->kernel, products[i][1]) == 0))
            return step->phase != LAB_UPDATE && step->flop > 0;
    }
    return false;
}

struct parts {
    const struct lab_sweep_point *p;
    double *ns[PARTS]; /* of each iteration */
    double flop[PARTS];
    double now[PARTS]; /* of the iteration at hand */
    int64_t n;
    int64_t start_ns;
    bool first;
    /* On a GPU, where CUPTI can be had: a step's time is that of its kernels,
     * without what lies between them. Else it is closed. */
    struct lab_kernel_watch watch;
};

static void add_time(struct parts *t, const struct lab_step *step, double ns)
{
    t->now[step->phase] += ns;
    if (t->first)
        t->flop[step->phase] += step->flop;
    if (!lab_sweep_is_product(step))
        return;
    t->now[PRODUCT] += ns;
    if (t->first)
        t->flop[PRODUCT] += step->flop;
}

/* ---- by the clock, or by CUDA events ---- */

static void step_begin(void *user, const struct lab_step_event *e)
{
    (void)e;
    ((struct parts *)user)->start_ns = lab_clock_monotonic_ns();
}

static void step_end(void *user, const struct lab_step_event *e)
{
    struct parts *t = user;
    double ns = (double)(lab_clock_monotonic_ns() - t->start_ns);
    if (e->device_ns != LAB_EVENT_NO_TIME)
        ns = (double)e->device_ns;
    add_time(t, e->step, ns);
}

/* ---- by CUPTI ---- */

/* Before the backend is opened. What cannot be traced is timed by events. */
static void open_trace(struct parts *t)
{
    if (strcmp(t->p->backend, "cuda") == 0)
        lab_kernel_watch_open(&t->watch, t->p->backend, NULL);
}

/* The kernels of the iteration that has run. */
static enum lab_status take_kernels(struct lab_walk *w, struct parts *t)
{
    const struct lab_schedule *s = lab_walk_schedule(w);
    enum lab_status st = lab_walk_sync(w);
    if (!st)
        st = lab_profiler_flush(t->watch.profiler);
    for (int i = 0; i < s->n_steps && !st; i++) {
        struct lab_step_record r;
        bool there = lab_live_step(t->watch.live, i, &r);
        /* A step without kernels, as a flatten, takes no time. */
        double ns = there && r.time_ns != LAB_UNKNOWN ? (double)r.time_ns : 0;
        add_time(t, s->steps[i].step, ns);
    }
    return st;
}

/* ---- both ---- */

static enum lab_status walk_iteration(struct lab_walk *w, struct parts *t)
{
    memset(t->now, 0, sizeof(t->now));
    enum lab_status st = lab_walk_step(w);
    while (!st && !lab_walk_at_end(w))
        st = lab_walk_step(w);
    if (!st && t->watch.profiler)
        st = take_kernels(w, t);
    t->first = false;
    return st;
}

static enum lab_status observe(struct lab_walk *w, struct parts *t)
{
    struct lab_observer observer = {
        .user = t, .step_begin = step_begin, .step_end = step_end};
    bool gpu = !lab_walk_backend(w)->host_memory;
    t->first = true;
    if (t->watch.profiler) {
        lab_profiler_observer(t->watch.profiler, &observer);
        observer.synced = NULL; /* records are fetched once an iteration */
    }
    lab_walk_time_with_events(w, gpu && !t->watch.profiler);
    return lab_walk_observe(w, &observer);
}

static enum lab_status walk_all(struct lab_walk *w, struct parts *t)
{
    int64_t began = lab_clock_monotonic_ns();
    enum lab_status st = observe(w, t);
    lab_walk_run_begin(w, "parts");
    for (int64_t i = 0; i < t->p->iterations + LAB_SWEEP_WARM_UP && !st; i++) {
        int64_t spent = lab_clock_monotonic_ns() - began;
        bool enough = spent > (int64_t)BUDGET_S * 1000000000 && t->n > 0;
        if (enough || lab_signals_caught())
            break;
        st = walk_iteration(w, t);
        if (st || i < LAB_SWEEP_WARM_UP)
            continue;
        for (int k = 0; k < PARTS; k++)
            t->ns[k][t->n] = t->now[k];
        t->n++;
    }
    lab_walk_run_end(w);
    return st;
}

static void summarize_parts(struct parts *t, struct lab_sweep_result *r)
{
    if (t->n == 0) {
        lab_sweep_fail(r, lab_fail(LAB_E_CANCELLED, "no iteration was timed"));
        return;
    }
    r->median_ns = 0;
    for (int k = 0; k < PARTS; k++) {
        double median = lab_median(t->ns[k], (size_t)t->n);
        if (k == PRODUCT) {
            r->product_ns = median;
            r->product_flop = t->flop[k];
        } else {
            r->phase_ns[k] = median;
            r->phase_flop[k] = t->flop[k];
            r->median_ns += median;
        }
    }
    r->iterations = t->n;
    r->samples_per_s = (double)r->batch / (r->median_ns / 1e9);
}

void lab_sweep_steps(const struct lab_sweep_point *p,
                     struct lab_sweep_result *out)
{
    struct lab_walk *walk = NULL;
    struct lab_plan *plan = NULL;
    struct parts t = {.p = p};
    size_t n = (size_t)p->iterations;
    enum lab_status st = LAB_OK;
    lab_sweep_init(out, p);
    double *all = lab_alloc_array(n * PARTS, sizeof(*all));
    for (size_t k = 0; k < PARTS && all; k++)
        t.ns[k] = all + k * n;
    if (all)
        open_trace(&t);
    st = all ? lab_sweep_open(p, &walk, &plan, out)
             : lab_fail(LAB_E_NOMEM, "no memory for times");
    if (!st)
        st = walk_all(walk, &t);
    bool gpu = walk && !lab_walk_backend(walk)->host_memory;
    out->time_source = t.watch.profiler ? LAB_TIME_CUPTI
                       : gpu            ? LAB_TIME_CUDA_EVENTS
                                        : LAB_TIME_CPU_CLOCK;
    if (st)
        lab_sweep_fail(out, st);
    else
        summarize_parts(&t, out);
    lab_kernel_watch_close(&t.watch);
    lab_walk_free(walk);
    lab_plan_free(plan);
    lab_free(all);
}
