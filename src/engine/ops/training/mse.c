/* mse: the squared distance from the target, in the three normalisations that
 * course material uses. */
#include "loss/loss.h"
#include "loss_parts.h"

#include <stdio.h>

static const char *const reductions[] = {"mean", "half_sum",
                                         "half_sum_per_sample", NULL};
static const struct lab_key_def keys[] = {
    {"reduction", LAB_KEY_CHOICE, false, LAB_MSE_MEAN, .choices = reductions},
};

static int64_t elements_of(const struct lab_shape *h)
{
    int64_t n = 1;
    for (int i = 1; i < h->rank; i++)
        n *= h->dim[i];
    return n;
}

/* What (h - y) is multiplied by in the gradient. */
static double slope(const struct lab_mse_params *p, int64_t samples,
                    int64_t elements)
{
    if (p->reduction == LAB_MSE_MEAN)
        return 2.0 / ((double)samples * (double)elements);
    return p->reduction == LAB_MSE_HALF_SUM ? 1.0 : 1.0 / (double)samples;
}

static void forward(struct lab_builder *b)
{
    int h = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, h);
    struct lab_mse_params p = {
        (enum lab_mse_reduction)lab_build_attr(b, "reduction")->choice};
    char formula[160];
    bool mean = p.reduction == LAB_MSE_MEAN;
    if (!lab_loss_check_target(b, false))
        return;
    lab_loss_formula(formula, sizeof(formula), mean ? "mean" : "1/2 sum",
                     "($i0@ - $i1@)^2", &shape);
    int sample =
        lab_loss_sample(b, &(struct lab_shape){1, {lab_loss_samples(&shape)}});
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "sample",
               LAB_IN(h, lab_build_target(b)),
               LAB_OUT(sample),
               LAB_PARAMS(p),
               .flop_each = 3,
               .formula = formula,
               .display = mean ? "$o0[n] = mean_e ($i0[n,e] - $i1[n,e])^2"
                               : "$o0[n] = 1/2 sum_e ($i0[n,e] - $i1[n,e])^2"});
    lab_loss_reduce(b, "reduce", sample, p.reduction != LAB_MSE_HALF_SUM, &p,
                    sizeof(p));
}

static void backward(struct lab_builder *b)
{
    int h = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, h);
    struct lab_mse_params p = {
        (enum lab_mse_reduction)lab_build_attr(b, "reduction")->choice};
    char formula[80];
    snprintf(formula, sizeof(formula), "$o0 = %.17g ($i0 - $i1)",
             slope(&p, lab_loss_samples(&shape), elements_of(&shape)));
    static const char *const display[] = {
        [LAB_MSE_MEAN] = "$o0 = 2/(N E) ($i0 - $i1)",
        [LAB_MSE_HALF_SUM] = "$o0 = $i0 - $i1",
        [LAB_MSE_HALF_SUM_PER_SAMPLE] = "$o0 = ($i0 - $i1) / N"};
    lab_build_step(b,
                   &(struct lab_step_def){.name = "sample",
                                          LAB_IN(h, lab_build_target(b)),
                                          LAB_OUT(lab_build_input_grad(b, 0)),
                                          LAB_PARAMS(p),
                                          .formula = formula,
                                          .display = display[p.reduction]});
}

const struct lab_op_def lab_op_mse = {LAB_LOSS_OP("mse"), LAB_KEYS(keys)};
