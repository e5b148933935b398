/* softmax_cross_entropy: the price of the share that softmax gave to the right
 * class, -log p[y], as a mean over the samples. */

#include <math.h>
#include <stdio.h>

#include "engine/explain.h"
#include "ops/softmax_explain.h"
#include "loss_parts.h"

static int64_t classes(const struct lab_shape *z)
{
    return z->dim[z->rank - 1];
}

static double log_sum_exp(struct lab_explainer *ex, int64_t row, int64_t C,
                          double *max)
{
    double sum = 0;
    *max = -INFINITY;
    for (int64_t c = 0; c < C; c++) {
        double z = lab_explain_in(ex, 0, row * C + c);
        if (!(z <= *max))
            *max = z;
    }
    for (int64_t c = 0; c < C; c++)
        sum += exp(lab_explain_in(ex, 0, row * C + c) - *max);
    return log(sum);
}

static void explain_sample(struct lab_explainer *ex, int out_slot, int64_t row)
{
    int64_t C = classes(lab_explain_in_shape(ex, 0));
    double max;
    double lse = log_sum_exp(ex, row, C, &max);
    double label = lab_explain_in(ex, 1, row);
    double z = lab_explain_in(ex, 0, row * C + (int64_t)label);
    char at[LAB_SHAPE_TEXT];
    (void)out_slot;
    lab_explain_row(lab_explain_in_shape(ex, 0), row * C, at);
    lab_explain_source(ex, 0, row * C + (int64_t)label);
    lab_explain_source(ex, 1, row);
    lab_explain_symbolic(ex, "log(sum_k exp(%s[%sk] - max)) + max - %s[%s%lld]",
                         lab_explain_in_name(ex, 0), at,
                         lab_explain_in_name(ex, 0), at, (long long)label);
    lab_explain_numeric(ex, "%.6g + %.6g - %.6g", lse, max, z);
    lab_explain_where(ex,
                      "max = %.6g, the largest of the row; the label %s[%s] = "
                      "%lld; it is -log of its probability %.6g",
                      max, lab_explain_in_name(ex, 1),
                      lab_explain_at(lab_explain_in_shape(ex, 1), row, at),
                      (long long)label, exp(z - max - lse));
    lab_explain_value(ex, lse + max - z);
}

static void forward(struct lab_builder *b)
{
    int z = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, z);
    if (!lab_loss_check_target(b, true))
        return;
    int y = lab_build_target(b);
    struct lab_shape y_shape = lab_build_shape(b, y);
    int probs = lab_build_part(b, "probs", &shape, lab_build_real(b));
    int sample = lab_loss_sample(b, &y_shape);
    lab_build_step(b, &(struct lab_step_def){.name = "softmax",
                                             LAB_IN(z),
                                             LAB_OUT(probs),
                                             .flop_each = 5,
                                             .formula = LAB_SOFTMAX_FORMULA,
                                             .explain = lab_softmax_explain});
    lab_build_step(b, &(struct lab_step_def){
                          .name = "sample",
                          LAB_IN(z, y),
                          LAB_OUT(sample),
                          .flop_each = 4,
                          .formula = "!$o0[r] = -log softmax($i0)[r,$i1[r]]",
                          .explain = explain_sample});
    lab_loss_reduce(b, "mean", sample, true, NULL, 0);
}

static void backward(struct lab_builder *b)
{
    int probs = lab_build_find(b, "probs");
    int dz = lab_build_input_grad(b, 0);
    struct lab_shape shape = lab_build_shape(b, probs);
    int64_t n = 0;
    char formula[80];
    if (dz < 0 || lab_shape_count(&shape, &n))
        return;
    /* One sample of logits may come with one label. */
    snprintf(formula, sizeof(formula),
             shape.rank > 1 ? "$o0[r,c] = ($i0[r,c] - [c = $i1[r]]) / %lld"
                            : "$o0[c] = ($i0[c] - [c = $i1[0]]) / %lld",
             (long long)(n / classes(&shape)));
    lab_build_step(b,
                   &(struct lab_step_def){
                       .name = "softmax",
                       LAB_IN(probs, lab_build_target(b)),
                       LAB_OUT(dz),
                       .formula = formula,
                       .display = "$o0[r,c] = ($i0[r,c] - [c = $i1[r]]) / R"});
}

const struct lab_op_def lab_op_softmax_cross_entropy = {
    LAB_LOSS_OP("softmax_cross_entropy"), .labels = true};
