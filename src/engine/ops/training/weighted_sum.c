/* weighted_sum: a probe. The loss is sum(y * out), so that the gradient which
 * enters the network is y itself. */
#include "loss_parts.h"

static void forward(struct lab_builder *b)
{
    int h = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, h);
    char formula[160];
    if (!lab_loss_check_target(b, false))
        return;
    lab_loss_formula(formula, sizeof(formula), "sum", "$i1@ * $i0@", &shape);
    int sample =
        lab_loss_sample(b, &(struct lab_shape){1, {lab_loss_samples(&shape)}});
    lab_build_step(b, &(struct lab_step_def){
                          .name = "sample",
                          LAB_IN(h, lab_build_target(b)),
                          LAB_OUT(sample),
                          .flop_each = 2,
                          .formula = formula,
                          .display = "$o0[n] = sum_e $i1[n,e] $i0[n,e]"});
    lab_loss_reduce(b, "reduce", sample, false, NULL, 0);
}

static void backward(struct lab_builder *b)
{
    lab_build_step(b,
                   &(struct lab_step_def){.name = "sample",
                                          LAB_IN(lab_build_target(b)),
                                          LAB_OUT(lab_build_input_grad(b, 0)),
                                          .formula = "$o0 = $i0"});
}

const struct lab_op_def lab_op_weighted_sum = {LAB_LOSS_OP("weighted_sum")};
