/* plan.c -- the ordered steps of an iteration, and the checks of a plan.
 *
 * Built by builder.c from a network, then read by any thread and never changed,
 * but for the learning rate. Finds tensors, nodes and steps by name, makes a
 * step's call, and gives tensors their first values. */
#include "engine/plan.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "plan_priv.h"
#include "optimizer/optimizer.h"
#include "common/random.h"

void lab_plan_free(struct lab_plan *plan)
{
    if (!plan)
        return;
    for (int i = 0; i < plan->n_tensors; i++)
        lab_free(plan->tensors[i].name);
    lab_free(plan->tensors);
    for (int i = 0; i < plan->n_steps; i++)
        lab_step_release(&plan->steps[i]);
    lab_free(plan->steps);
    for (int i = 0; i < plan->n_nodes; i++)
        lab_free(plan->nodes[i].id);
    lab_free(plan->nodes);
    for (int i = 0; i < plan->n_inits; i++)
        lab_free(plan->inits[i].values);
    lab_free(plan->inits);
    lab_free(plan->file);
    for (int kind = 0; kind < LAB_NAME_KINDS; kind++)
        lab_names_release(&plan->names[kind]);
    lab_free(plan);
}

int lab_plan_tensor(const struct lab_plan *plan, const char *name)
{
    return (int)lab_names_find(&plan->names[LAB_NAME_TENSOR], name);
}

int lab_plan_node(const struct lab_plan *plan, const char *id)
{
    return (int)lab_names_find(&plan->names[LAB_NAME_NODE], id);
}

int lab_plan_step(const struct lab_plan *plan, const char *name)
{
    return (int)lab_names_find(&plan->names[LAB_NAME_STEP], name);
}

struct lab_view lab_plan_view(const struct lab_plan *plan, int tensor,
                              void *base)
{
    struct lab_view v = {0};
    if (tensor < 0)
        return v;
    const struct lab_tensor *t = &plan->tensors[tensor];
    v.data = base ? (char *)base + t->offset : NULL;
    v.dtype = t->dtype;
    v.rank = t->shape.rank;
    memcpy(v.dim, t->shape.dim, sizeof(v.dim));
    v.count = t->count;
    return v;
}

void lab_step_call(struct lab_step_call *out, const struct lab_plan *plan,
                   const struct lab_step *s, void *kept, void *base)
{
    for (int i = 0; i < s->n_in + s->n_out; i++) {
        int t = i < s->n_in ? s->in[i] : s->out[i - s->n_in];
        struct lab_view *v = i < s->n_in ? &out->in[i] : &out->out[i - s->n_in];
        bool is_kept = t >= 0 && plan->tensors[t].persistent;
        *v = lab_plan_view(plan, t, is_kept ? kept : base);
    }
    out->call = (struct lab_call){.in = out->in,
                                  .n_in = s->n_in,
                                  .out = out->out,
                                  .n_out = s->n_out,
                                  .params = s->params,
                                  .training = true,
                                  .seed = plan->seed,
                                  .node = (uint32_t)s->node};
}

/* Standard normal number i of a tensor's stream: Box and Muller, 1958. Taken
 * in double from 24-bit uniforms, so that every machine gets the same bits. */
static double normal(uint64_t seed, uint32_t stream, uint64_t i)
{
    const uint32_t init_stream = 0x494E4954u; /* "INIT" */
    struct lab_random4 r = lab_philox(seed, stream, init_stream, i);
    double u = (lab_random_unit(r.v[0]) + 1.0 / 33554432.0);
    double v = lab_random_unit(r.v[1]);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* A name's own stream, so that adding a layer leaves the others' numbers as
 * they were. FNV-1a, 32 bits. */
static uint32_t stream_of(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

/* Numbers of a tensor that are drawn: from `first` on. */
struct drawn {
    const struct lab_tensor *t;
    uint64_t seed;
    uint32_t stream;
    double scale;
    int64_t first;
    void *out;
};

static void draw_part(const void *arg, int64_t from, int64_t to)
{
    const struct drawn *d = arg;
    for (int64_t i = d->first + from; i < d->first + to; i++)
        lab_number_put(
            d->out, d->t->dtype, i,
            (float)(d->scale * normal(d->seed, d->stream, (uint64_t)i)));
}

/* by_first: the first axis counts the units, else the last. A number takes some 40
 * ns, and a large layer has 10^8. */
static enum lab_status init_fan_in(const struct lab_plan *plan,
                                   const struct lab_tensor *t, bool by_first,
                                   void *out, const struct lab_stop *stop)
{
    enum { AT_ONCE = 1 << 18, GRAIN = 1 << 12 };
    int64_t units = t->shape.dim[by_first ? 0 : t->shape.rank - 1];
    struct drawn d = {.t = t,
                      .seed = plan->seed,
                      .stream = stream_of(t->name),
                      .scale = sqrt((double)units / (double)t->count),
                      .out = out};
    for (; d.first < t->count; d.first += AT_ONCE) {
        int64_t left = t->count - d.first;
        if (lab_stop_asked(stop))
            return lab_fail(LAB_E_CANCELLED, "stopped");
        lab_parallel(left < AT_ONCE ? left : AT_ONCE, GRAIN, draw_part, &d);
    }
    return LAB_OK;
}

enum lab_status lab_plan_init_tensor(const struct lab_plan *plan, int tensor,
                                     void *out, const struct lab_stop *stop)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    const struct lab_param_init *init = NULL;
    for (int i = 0; i < plan->n_inits; i++) {
        if (plan->inits[i].tensor == tensor)
            init = &plan->inits[i];
    }
    if (init && init->values) {
        for (int64_t i = 0; i < t->count; i++)
            lab_number_put(out, t->dtype, i, init->values[i]);
        return LAB_OK;
    }
    if (init && !init->filled &&
        (init->init == LAB_INIT_FAN_IN || init->init == LAB_INIT_FAN_IN_FIRST))
        return init_fan_in(plan, t, init->init == LAB_INIT_FAN_IN_FIRST, out,
                           stop);
    double value = 0;
    if (init && init->filled)
        value = init->fill;
    else if (init && init->init == LAB_INIT_ONE)
        value = 1;
    for (int64_t i = 0; i < t->count; i++)
        lab_number_put(out, t->dtype, i, value);
    return LAB_OK;
}

static_assert(offsetof(struct lab_sgd_params, lr) == 0 &&
                  offsetof(struct lab_adam_params, lr) == 0,
              "the learning rate of a step is found without its op");

static double *lr_of(const struct lab_step *step)
{
    return step->op->kind == LAB_KIND_OPTIMIZER ? step->params : NULL;
}

double lab_plan_lr(const struct lab_plan *plan)
{
    for (int i = 0; i < plan->n_steps; i++) {
        if (lr_of(&plan->steps[i]))
            return *lr_of(&plan->steps[i]);
    }
    return NAN;
}

void lab_plan_set_lr(struct lab_plan *plan, double lr)
{
    for (int i = 0; i < plan->n_steps; i++) {
        double *at = lr_of(&plan->steps[i]);
        if (at)
            *at = lr;
    }
}

void lab_step_release(struct lab_step *s)
{
    lab_free(s->name);
    lab_free(s->formula);
    if (!s->shared)
        lab_free(s->source);
    lab_free(s->params);
}
