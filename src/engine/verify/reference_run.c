#include "reference_run.h"

#include "base/mem.h"

enum lab_status lab_reference_run_open(struct lab_reference_run *r,
                                       const struct lab_network_spec *spec,
                                       const struct lab_data_shapes *shapes)
{
    struct lab_reference_run fresh = {0};
    enum lab_status st = lab_plan_build(&fresh.plan, spec, shapes, LAB_F64);
    if (!st)
        st = lab_backend_open(&fresh.cpu, "cpu", 0);
    if (!st) {
        fresh.arena = lab_alloc(fresh.plan->arena_bytes);
        if (!fresh.arena)
            st = lab_fail(LAB_E_NOMEM, "no memory for the network in double");
    }
    if (st) {
        lab_reference_run_close(&fresh);
        return st;
    }
    *r = fresh;
    return LAB_OK;
}

void lab_reference_run_close(struct lab_reference_run *r)
{
    lab_plan_free(r->plan);
    lab_backend_close(r->cpu);
    lab_free(r->arena);
    *r = (struct lab_reference_run){0};
}

void *lab_reference_run_data(const struct lab_reference_run *r, int tensor)
{
    return r->arena + r->plan->tensors[tensor].offset;
}

enum lab_status lab_reference_run_step(struct lab_reference_run *r, int i,
                                       int64_t iteration)
{
    const struct lab_step *s = &r->plan->steps[i];
    struct lab_view in[LAB_STEP_IN];
    struct lab_view out[LAB_STEP_OUT];
    const struct lab_variant *v = lab_backend_variant(
        r->cpu, LAB_F64, s->op->name, s->kernel, s->phase, NULL);
    if (!v)
        return lab_fail(LAB_E_INTERNAL, "no reference for step %s", s->name);
    for (int k = 0; k < s->n_in; k++)
        in[k] = lab_plan_view(r->plan, s->in[k], r->arena);
    for (int k = 0; k < s->n_out; k++)
        out[k] = lab_plan_view(r->plan, s->out[k], r->arena);
    struct lab_call call = {.in = in,
                            .n_in = s->n_in,
                            .out = out,
                            .n_out = s->n_out,
                            .params = s->params,
                            .training = true,
                            .seed = r->plan->seed,
                            .iteration = (uint64_t)iteration,
                            .node = (uint32_t)s->node};
    return lab_backend_run(r->cpu, v, &call);
}
