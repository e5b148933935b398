/* One point of a sweep: the lesson's network, opened, trained for a moment and
 * closed again. At speed for its time; or step by step, for how long forward,
 * backward, the update and the matrix products take. */
#include "sweep_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "base/signals.h"
#include "engine/setup.h"
#include "store/row_fields.h"

enum {
    WARM_UP = 3,  /* iterations that are not timed */
    BUDGET_S = 20 /* of one point; fewer iterations are timed then */
};

static void init(struct lab_sweep_result *r, const struct lab_sweep_point *p)
{
    *r = (struct lab_sweep_result){.product_ns = NAN, .product_flop = NAN};
    lab_fields_clear(&lab_sweep_row_fields, &r->row);
    r->row.backend = p->backend;
    r->row.samples = p->batch > 0 ? p->batch : LAB_UNKNOWN;
    for (int i = 0; i < LAB_PHASE_COUNT; i++)
        r->phase_ns[i] = r->phase_flop[i] = NAN;
}

static void fail(struct lab_sweep_result *r, enum lab_status st)
{
    r->status = st;
    snprintf(r->reason, sizeof(r->reason), "%s", lab_error());
}

static enum lab_status open_network(const struct lab_sweep_point *p,
                                    struct lab_walk **walk,
                                    struct lab_plan **plan,
                                    struct lab_sweep_result *r)
{
    struct lab_str notice;
    struct lab_setup setup = {.spec = p->spec,
                              .backend = p->backend,
                              .device = p->device,
                              .batch = p->batch};
    lab_str_init(&notice);
    enum lab_status st = lab_setup_open(&setup, walk, plan, &notice);
    lab_str_release(&notice);
    if (st)
        return st;
    lab_backend_info(lab_walk_backend(*walk), &r->device);
    r->row.samples = (*plan)->batch;
    r->row.memory_bytes = (int64_t)(*plan)->arena_bytes;
    r->row.parameters = (*plan)->parameter_count;
    r->row.flop = 0;
    for (int i = 0; i < (*plan)->n_steps; i++)
        r->row.flop += (*plan)->steps[i].flop;
    return LAB_OK;
}

enum lab_status lab_sweep_own_batch(const struct lab_sweep_point *p,
                                    int64_t *out)
{
    struct lab_walk *walk = NULL;
    struct lab_plan *plan = NULL;
    struct lab_sweep_result r;
    struct lab_sweep_point own = *p;
    own.batch = 0;
    enum lab_status st = open_network(&own, &walk, &plan, &r);
    if (!st)
        *out = r.row.samples;
    lab_walk_free(walk);
    lab_plan_free(plan);
    return st;
}

/* ---- at speed ---- */

struct speed {
    const struct lab_sweep_point *p;
    struct lab_walk *walk;
    struct lab_sweep_result *r;
    double *ns;
    int64_t n;
    int64_t done;           /* iterations */
    int64_t needed_samples; /* iterations for as many samples; 0: none */
    double last_loss;
    int64_t start_ns;
};

static void take_progress(struct speed *s)
{
    struct lab_iteration_progress now;
    while (lab_walk_poll(s->walk, &now)) {
        s->last_loss = now.loss;
        if (now.iteration >= WARM_UP && s->n < s->p->iterations)
            s->ns[s->n++] = (double)(now.end_ns - now.start_ns);
    }
}

/* Of the rows that were held back, where there are some: a training batch's
 * loss depends on which rows it drew. */
static enum lab_status take_loss(struct speed *s, double *out)
{
    double accuracy = NAN;
    double loss = NAN;
    enum lab_status st = lab_walk_drain(s->walk);
    if (!st)
        take_progress(s);
    if (!st)
        st = lab_walk_evaluate(s->walk, &accuracy, &loss);
    s->r->held_back = !isnan(loss);
    *out = isnan(loss) ? s->last_loss : loss;
    return st;
}

static bool over(const struct speed *s)
{
    int64_t spent = lab_clock_monotonic_ns() - s->start_ns;
    return spent > (int64_t)BUDGET_S * 1000000000 || lab_signals_caught() != 0;
}

static enum lab_status train(struct speed *s)
{
    int64_t timed = s->p->iterations + WARM_UP;
    int64_t target = s->needed_samples > timed ? s->needed_samples : timed;
    enum lab_status st = LAB_OK;
    while (!st && s->done < target && !over(s)) {
        st = lab_walk_iterate(s->walk);
        s->done++;
        if (!st)
            take_progress(s);
        if (!st && s->done == s->p->iterations)
            st = take_loss(s, &s->r->row.loss_iterations);
        if (!st && s->done == s->needed_samples)
            st = take_loss(s, &s->r->row.loss);
    }
    if (!st)
        st = lab_walk_drain(s->walk);
    take_progress(s);
    return st;
}

static void summarize(struct speed *s)
{
    struct lab_sweep_result *r = s->r;
    lab_sort_reals(s->ns, (size_t)s->n);
    r->row.iterations = s->n;
    r->row.median_ns = lab_quantile(s->ns, (size_t)s->n, 0.5);
    r->row.quarter_ns = lab_quantile(s->ns, (size_t)s->n, 0.25);
    r->row.three_quarters_ns = lab_quantile(s->ns, (size_t)s->n, 0.75);
    r->row.samples_per_s = (double)r->row.samples / (r->row.median_ns / 1e9);
    if (s->n > 0 && s->n == s->p->iterations)
        return;
    if (s->n == 0) {
        fail(r, lab_fail(LAB_E_CANCELLED, "no iteration was timed within %d s",
                         BUDGET_S));
        return;
    }
    snprintf(r->reason, sizeof(r->reason),
             "stopped after %d s: %lld of %lld iterations were timed", BUDGET_S,
             (long long)s->n, (long long)s->p->iterations);
}

void lab_sweep_speed(const struct lab_sweep_point *p,
                     struct lab_sweep_result *out)
{
    struct lab_plan *plan = NULL;
    struct speed s = {.p = p, .r = out, .last_loss = NAN};
    init(out, p);
    s.ns = lab_alloc_array((size_t)p->iterations, sizeof(*s.ns));
    enum lab_status st =
        s.ns ? open_network(p, &s.walk, &plan, out) : lab_no_memory("times");
    if (!st) {
        s.needed_samples =
            (p->samples + out->row.samples - 1) / out->row.samples;
        s.start_ns = lab_clock_monotonic_ns();
        st = train(&s);
    }
    if (st)
        fail(out, st);
    else
        summarize(&s);
    lab_walk_free(s.walk);
    lab_plan_free(plan);
    lab_free(s.ns);
}

/* ---- step by step ---- */

enum { PRODUCT = LAB_PHASE_COUNT /* in struct parts */, PARTS };

/* Is the step a matrix product, or a group with one in it? */
static bool is_product(const struct lab_step *step)
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
    if (!is_product(step))
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
    for (int64_t i = 0; i < t->p->iterations + WARM_UP && !st; i++) {
        int64_t spent = lab_clock_monotonic_ns() - began;
        bool enough = spent > (int64_t)BUDGET_S * 1000000000 && t->n > 0;
        if (enough || lab_signals_caught())
            break;
        st = walk_iteration(w, t);
        if (st || i < WARM_UP)
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
        fail(r, lab_fail(LAB_E_CANCELLED, "no iteration was timed"));
        return;
    }
    r->row.median_ns = 0;
    for (int k = 0; k < PARTS; k++) {
        double median = lab_median(t->ns[k], (size_t)t->n);
        if (k == PRODUCT) {
            r->product_ns = median;
            r->product_flop = t->flop[k];
        } else {
            r->phase_ns[k] = median;
            r->phase_flop[k] = t->flop[k];
            r->row.median_ns += median;
        }
    }
    r->row.iterations = t->n;
    r->row.samples_per_s = (double)r->row.samples / (r->row.median_ns / 1e9);
}

void lab_sweep_steps(const struct lab_sweep_point *p,
                     struct lab_sweep_result *out)
{
    struct lab_walk *walk = NULL;
    struct lab_plan *plan = NULL;
    struct parts t = {.p = p};
    size_t n = (size_t)p->iterations;
    enum lab_status st = LAB_OK;
    init(out, p);
    double *all = lab_alloc_array(n * PARTS, sizeof(*all));
    for (size_t k = 0; k < PARTS && all; k++)
        t.ns[k] = all + k * n;
    if (all)
        open_trace(&t);
    st = all ? open_network(p, &walk, &plan, out) : lab_no_memory("times");
    if (!st)
        st = walk_all(walk, &t);
    bool gpu = walk && !lab_walk_backend(walk)->host_memory;
    out->time_source = t.watch.profiler ? LAB_TIME_CUPTI
                       : gpu            ? LAB_TIME_CUDA_EVENTS
                                        : LAB_TIME_CPU_CLOCK;
    if (st)
        fail(out, st);
    else
        summarize_parts(&t, out);
    lab_kernel_watch_close(&t.watch);
    lab_walk_free(walk);
    lab_plan_free(plan);
    lab_free(all);
}

/* ---- wider ---- */

/* The key that says how wide a layer is; -1: it has none. */
static int width_key(const struct lab_node_spec *n)
{
    int units = lab_op_key(n->op, "units");
    return units >= 0 ? units : lab_op_key(n->op, "filters");
}

int lab_sweep_widen(const struct lab_network_spec *spec, int64_t factor,
                    struct lab_node_spec *nodes, struct lab_network_spec *out)
{
    int last = -1;
    int n = 0;
    *out = *spec;
    out->nodes = nodes;
    out->n_parameters = 0; /* written ones have the old shapes */
    for (int i = 0; i < spec->n_nodes; i++) {
        nodes[i] = spec->nodes[i];
        if (width_key(&nodes[i]) >= 0)
            last = i; /* makes the result: its width is the data's */
    }
    for (int i = 0; i < last; i++) {
        int key = width_key(&nodes[i]);
        if (key < 0)
            continue;
        nodes[i].attr[key].i *= factor;
        n++;
    }
    return n;
}
