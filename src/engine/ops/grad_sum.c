/* A tensor that several nodes read gets a gradient back from each of them; the
 * chain rule adds them up. The plan inserts this step, lessons do not. */
#include "grad_sum/grad_sum.h"

#include <stdio.h>

#include "plan/plan_priv.h"
#include "engine/explain.h"

static void explain_sum(struct lab_explainer *ex, int out_slot, int64_t index)
{
    (void)out_slot;
    struct lab_str names;
    char at[LAB_SHAPE_TEXT];
    lab_str_init(&names);
    for (int slot = 0; lab_explain_has_in(ex, slot); slot++)
        lab_str_addf(&names, "%s%s[%s]", slot ? " + " : "",
                     lab_explain_in_name(ex, slot),
                     lab_explain_at(lab_explain_in_shape(ex, slot), index, at));
    lab_explain_symbolic(ex, "%s", lab_str_text(&names));
    lab_str_release(&names);
    for (int slot = 0; lab_explain_has_in(ex, slot); slot++) {
        double g = lab_explain_in(ex, slot, index);
        lab_explain_term(ex, g, "%.6g", g);
        lab_explain_source(ex, slot, index);
    }
}

/* Called by the builder with the tensor whose gradients are to be summed. */
static void build_sum(struct lab_builder *b, int tensor, int grad)
{
    (void)grad;
    struct lab_grad_paths paths = b->paths[tensor];
    int total = lab_build_grad(b, tensor);
    if (total < 0)
        return;
    char formula[120] = "$o0 = $i0 + $i1 + ...: the sum over every reader";
    struct lab_step_def def = {
        .name = "sum",
        .phase = LAB_BACKWARD,
        .n_in = paths.n,
        .out = {total},
        .n_out = 1,
        .flop = (double)(paths.n - 1) * (double)b->plan->tensors[total].count,
        .formula = formula,
        .explain = explain_sum,
    };
    for (int i = 0; i < paths.n; i++)
        def.in[i] = paths.id[i];
    size_t used = 0;
    for (int i = 0; i < paths.n && paths.n <= 10; i++)
        used += (size_t)snprintf(formula + used, sizeof(formula) - used,
                                 "%s$i%d", i ? " + " : "$o0 = ", i);
    lab_build_step(b, &def);
}

const struct lab_op_def lab_op_grad_sum = {.name = "grad_sum",
                                           .internal = true,
                                           .kind = LAB_KIND_LAYER,
                                           .min_inputs = 2,
                                           .max_inputs = LAB_STEP_IN,
                                           .update = build_sum};
