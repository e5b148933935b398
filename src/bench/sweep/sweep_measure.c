/* One place of a sweep: the lesson's network, opened, trained for a moment and
 * closed again. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "engine/setup.h"
#include "base/signals.h"
#include "bench/sweep.h"

enum {
    BUDGET_S = 20 /* of one place; what is not reached stays unknown */
};

void lab_sweep_init(struct lab_sweep_result *r, const struct lab_sweep_point *p)
{
    *r = (struct lab_sweep_result){.batch =
                                       p->batch > 0 ? p->batch : LAB_UNKNOWN,
                                   .iterations = LAB_UNKNOWN,
                                   .memory_bytes = LAB_UNKNOWN,
                                   .parameters = LAB_UNKNOWN,
                                   .flop = NAN,
                                   .median_ns = NAN,
                                   .quarter_ns = NAN,
                                   .three_quarters_ns = NAN,
                                   .samples_per_s = NAN,
                                   .loss_samples = NAN,
                                   .loss_iterations = NAN,
                                   .product_ns = NAN,
                                   .product_flop = NAN};
    for (int i = 0; i < LAB_PHASE_COUNT; i++)
        r->phase_ns[i] = r->phase_flop[i] = NAN;
}

void lab_sweep_fail(struct lab_sweep_result *r, enum lab_status st)
{
    r->status = st;
    snprintf(r->reason, sizeof(r->reason), "%s", lab_error());
}

enum lab_status lab_sweep_open(const struct lab_sweep_point *p,
                               struct lab_walk **walk, struct lab_plan **plan,
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
    r->batch = (*plan)->batch;
    r->memory_bytes = (int64_t)(*plan)->arena_bytes;
    r->parameters = (*plan)->parameter_count;
    r->flop = 0;
    for (int i = 0; i < (*plan)->n_steps; i++)
        r->flop += (*plan)->steps[i].flop;
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
    enum lab_status st = lab_sweep_open(&own, &walk, &plan, &r);
    if (!st)
        *out = r.batch;
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

static void take_news(struct speed *s)
{
    struct lab_iteration_progress news;
    while (lab_walk_poll(s->walk, &news)) {
        s->last_loss = news.loss;
        if (news.iteration >= LAB_SWEEP_WARM_UP && s->n < s->p->iterations)
            s->ns[s->n++] = (double)(news.end_ns - news.start_ns);
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
        take_news(s);
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
    int64_t timed = s->p->iterations + LAB_SWEEP_WARM_UP;
    int64_t target = s->needed_samples > timed ? s->needed_samples : timed;
    enum lab_status st = LAB_OK;
    while (!st && s->done < target && !over(s)) {
        st = lab_walk_iterate(s->walk);
        s->done++;
        if (!st)
            take_news(s);
        if (!st && s->done == s->p->iterations)
            st = take_loss(s, &s->r->loss_iterations);
        if (!st && s->done == s->needed_samples)
            st = take_loss(s, &s->r->loss_samples);
    }
    if (!st)
        st = lab_walk_drain(s->walk);
    take_news(s);
    return st;
}

static void summarize(struct speed *s)
{
    struct lab_sweep_result *r = s->r;
    lab_sort_reals(s->ns, (size_t)s->n);
    r->iterations = s->n;
    r->median_ns = lab_quantile(s->ns, (size_t)s->n, 0.5);
    r->quarter_ns = lab_quantile(s->ns, (size_t)s->n, 0.25);
    r->three_quarters_ns = lab_quantile(s->ns, (size_t)s->n, 0.75);
    r->samples_per_s = (double)r->batch / (r->median_ns / 1e9);
    if (s->n > 0 && s->n == s->p->iterations)
        return;
    if (s->n == 0) {
        lab_sweep_fail(r, lab_fail(LAB_E_CANCELLED,
                                   "no iteration was timed within %d s",
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
    lab_sweep_init(out, p);
    s.ns = lab_alloc_array((size_t)p->iterations, sizeof(*s.ns));
    enum lab_status st = s.ns ? lab_sweep_open(p, &s.walk, &plan, out)
                              : lab_fail(LAB_E_NOMEM, "no memory for times");
    if (!st) {
        s.needed_samples = (p->samples + out->batch - 1) / out->batch;
        s.start_ns = lab_clock_monotonic_ns();
        st = train(&s);
    }
    if (st)
        lab_sweep_fail(out, st);
    else
        summarize(&s);
    lab_walk_free(s.walk);
    lab_plan_free(plan);
    lab_free(s.ns);
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
