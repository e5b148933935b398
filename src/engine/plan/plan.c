/* plan.c -- the ordered steps of an iteration, and the checks of a plan. */
#include "engine/plan.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "plan_priv.h"
#include "optimizer/optimizer.h"
#include "common/random.h"
#include "base/str.h"

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

/* by_first: the first axis counts the units, else the last. */
static void init_fan_in(const struct lab_plan *plan, const struct lab_tensor *t,
                        bool by_first, void *out)
{
    uint32_t stream = stream_of(t->name);
    int64_t units = t->shape.dim[by_first ? 0 : t->shape.rank - 1];
    double scale = sqrt((double)units / (double)t->count);
    for (int64_t i = 0; i < t->count; i++)
        lab_number_put(
            out, t->dtype, i,
            (float)(scale * normal(plan->seed, stream, (uint64_t)i)));
}

void lab_plan_init_tensor(const struct lab_plan *plan, int tensor, void *out)
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
        return;
    }
    if (init && !init->filled &&
        (init->init == LAB_INIT_FAN_IN ||
         init->init == LAB_INIT_FAN_IN_FIRST)) {
        init_fan_in(plan, t, init->init == LAB_INIT_FAN_IN_FIRST, out);
        return;
    }
    double value = 0;
    if (init && init->filled)
        value = init->fill;
    else if (init && init->init == LAB_INIT_ONE)
        value = 1;
    for (int64_t i = 0; i < t->count; i++)
        lab_number_put(out, t->dtype, i, value);
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
