/* A tensor that several nodes read gets a gradient back from each of them; the
 * chain rule adds them up. The plan inserts this step, lessons do not. */
#include "grad_sum/grad_sum.h"

#include <stdio.h>

#include "plan/plan_priv.h"

/* Called by the builder with the tensor whose gradients are to be summed. */
static void build_sum(struct lab_builder *b, int tensor, int grad)
{
    (void)grad;
    struct lab_grad_paths paths = b->paths[tensor];
    int total = lab_build_grad(b, tensor);
    if (total < 0)
        return;
    char formula[120];
    size_t used = 0;
    struct lab_step_def def = {
        .name = "sum",
        .phase = LAB_BACKWARD,
        .n_in = paths.n,
        LAB_OUT(total),
        .formula = formula,
        .display = paths.n > 10
                       ? "$o0 = $i0 + $i1 + ...: the sum over every reader"
                       : NULL,
    };
    for (int i = 0; i < paths.n; i++)
        def.in[i] = paths.id[i];
    for (int i = 0; i < paths.n; i++)
        used += (size_t)snprintf(formula + used, sizeof(formula) - used,
                                 "%s$i%d", i ? " + " : "$o0 = ", i);
    lab_build_step(b, &def);
}

const struct lab_op_def lab_op_grad_sum = {.name = "grad_sum",
                                           .kind = LAB_KIND_LAYER,
                                           .internal = true,
                                           .min_inputs = 2,
                                           .max_inputs = LAB_STEP_IN,
                                           .update = build_sum};
