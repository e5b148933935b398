/* weighted_sum: a probe. The loss is sum(y * out), so that the gradient which
 * enters the network is y itself. */
#include "loss/loss.h"
#include "loss_parts.h"

static void explain_sample(struct lab_explainer *ex, int out_slot, int64_t row)
{
    const struct lab_shape *shape = lab_explain_in_shape(ex, 0);
    int64_t E = 1;
    char at[LAB_SHAPE_TEXT];
    for (int i = 1; i < shape->rank; i++)
        E *= shape->dim[i];
    (void)out_slot;
    lab_loss_at(shape, row, at);
    lab_explain_symbolic(ex, "%sy[%s] * %s[%s]", lab_loss_sum(shape), at,
                         lab_explain_in_name(ex, 0), at);
    for (int64_t e = 0; e < E; e++) {
        double h = lab_explain_in(ex, 0, row * E + e);
        double y = lab_explain_in(ex, 1, row * E + e);
        lab_explain_term(ex, y * h, "%.6g*%.6g", y, h);
        lab_explain_source(ex, 0, row * E + e);
        lab_explain_source(ex, 1, row * E + e);
    }
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    char at[LAB_SHAPE_TEXT];
    double y = lab_explain_in(ex, 0, index);
    (void)out_slot;
    lab_explain_symbolic(
        ex, "y[%s]", lab_explain_at(lab_explain_in_shape(ex, 0), index, at));
    lab_explain_term(ex, y, "%.6g", y);
    lab_explain_source(ex, 0, index);
}

static void forward(struct lab_builder *b)
{
    int h = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, h);
    int64_t n = 0;
    if (!lab_loss_check_target(b, false) || lab_shape_count(&shape, &n))
        return;
    int sample =
        lab_loss_sample(b, &(struct lab_shape){1, {lab_loss_samples(&shape)}});
    lab_build_step(
        b, &(struct lab_step_def){.name = "sample",
                                  .phase = LAB_LOSS,
                                  .in = {h, lab_build_target(b)},
                                  .n_in = 2,
                                  .out = {sample},
                                  .n_out = 1,
                                  .flop = 2.0 * (double)n,
                                  .formula = "$o0[n] = sum_e $i1[n,e] $i0[n,e]",
                                  .explain = explain_sample});
    lab_loss_reduce(b, "reduce", sample, false, NULL, 0);
}

static void backward(struct lab_builder *b)
{
    int dh = lab_build_input_grad(b, 0);
    if (dh < 0)
        return;
    lab_build_step(b, &(struct lab_step_def){.name = "sample",
                                             .phase = LAB_BACKWARD,
                                             .in = {lab_build_target(b)},
                                             .n_in = 1,
                                             .out = {dh},
                                             .n_out = 1,
                                             .formula = "$o0 = $i0",
                                             .explain = explain_backward});
}

const struct lab_op_def lab_op_weighted_sum = {.name = "weighted_sum",
                                               .kind = LAB_KIND_LOSS,
                                               .min_inputs = 1,
                                               .max_inputs = 1,
                                               .forward = forward,
                                               .backward = backward};
