/* What a variant needs before it runs, made for the sizes of a step. */
#include "plan_priv.h"

enum lab_status lab_step_prepare(const struct lab_plan *plan,
                                 struct lab_backend *be,
                                 const struct lab_step *s,
                                 const struct lab_variant *v)
{
    struct lab_view in[LAB_STEP_IN];
    struct lab_view out[LAB_STEP_OUT];
    if (!v->prepare)
        return LAB_OK;
    for (int k = 0; k < s->n_in; k++)
        in[k] = lab_plan_view(plan, s->in[k], NULL);
    for (int k = 0; k < s->n_out; k++)
        out[k] = lab_plan_view(plan, s->out[k], NULL);
    struct lab_call call = {.in = in,
                            .n_in = s->n_in,
                            .out = out,
                            .n_out = s->n_out,
                            .params = s->params,
                            .training = true,
                            .node = (uint32_t)s->node};
    enum lab_status st = lab_backend_prepare(be, v, &call);
    return st ? lab_fail_context(st, "step %s", s->name) : LAB_OK;
}

enum lab_status lab_group_fill(const struct lab_plan *plan,
                               const struct lab_node *node,
                               const struct lab_variant *v,
                               const struct lab_node *absorbed,
                               struct lab_step *step)
{
    struct lab_group_step g = {.def = {.name = node->op->name}};
    node->op->group(plan, node, v->phase, absorbed, &g);
    g.def.phase = v->phase;
    *step = (struct lab_step){
        .op = node->op, .node = (int)(node - plan->nodes), .group = true};
    return lab_step_fill(step, plan, &g.def, node->id, true);
}

enum lab_status lab_group_prepare(const struct lab_plan *plan,
                                  struct lab_backend *be,
                                  const struct lab_node *node,
                                  const struct lab_variant *v)
{
    struct lab_step step;
    if (!v || !v->prepare)
        return LAB_OK;
    enum lab_status st = lab_group_fill(plan, node, v, NULL, &step);
    if (st)
        return st;
    st = lab_step_prepare(plan, be, &step, v);
    lab_step_release(&step);
    return st;
}
