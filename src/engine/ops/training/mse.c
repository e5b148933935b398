/* mse: the squared distance from the target, in the three normalisations that
 * course material uses. */
#include "loss/loss.h"
#include "loss_parts.h"

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

/* What (h - y)^2 is multiplied by in a sample's loss. */
static double sample_scale(const struct lab_mse_params *p, int64_t elements)
{
    return p->reduction == LAB_MSE_MEAN ? 1.0 / (double)elements : 0.5;
}

/* What (h - y) is multiplied by in the gradient. */
static double slope(const struct lab_mse_params *p, int64_t samples,
                    int64_t elements)
{
    if (p->reduction == LAB_MSE_MEAN)
        return 2.0 / ((double)samples * (double)elements);
    return p->reduction == LAB_MSE_HALF_SUM ? 1.0 : 1.0 / (double)samples;
}

static void explain_sample(struct lab_explainer *ex, int out_slot, int64_t row)
{
    const struct lab_mse_params *p = lab_explain_params(ex);
    int64_t E = elements_of(lab_explain_in_shape(ex, 0));
    double scale = sample_scale(p, E);
    const char *sum = lab_loss_sum(lab_explain_in_shape(ex, 0));
    char at[LAB_SHAPE_TEXT];
    (void)out_slot;
    lab_loss_at(lab_explain_in_shape(ex, 0), row, at);
    if (p->reduction == LAB_MSE_MEAN)
        lab_explain_symbolic(ex, "%s(%s[%s] - y[%s])^2 / %lld", sum,
                             lab_explain_in_name(ex, 0), at, at, (long long)E);
    else
        lab_explain_symbolic(ex, "1/2 %s(%s[%s] - y[%s])^2", sum,
                             lab_explain_in_name(ex, 0), at, at);
    for (int64_t e = 0; e < E; e++) {
        double h = lab_explain_in(ex, 0, row * E + e);
        double y = lab_explain_in(ex, 1, row * E + e);
        lab_explain_term(ex, scale * (h - y) * (h - y), "%.3g(%.6g - %.6g)^2",
                         scale, h, y);
        lab_explain_source(ex, 0, row * E + e);
        lab_explain_source(ex, 1, row * E + e);
    }
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    const struct lab_mse_params *p = lab_explain_params(ex);
    const struct lab_shape *h_shape = lab_explain_in_shape(ex, 0);
    char at[LAB_SHAPE_TEXT];
    double s = slope(p, lab_loss_samples(h_shape), elements_of(h_shape));
    double h = lab_explain_in(ex, 0, index);
    double y = lab_explain_in(ex, 1, index);
    (void)out_slot;
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, index);
    lab_explain_symbolic(ex, "%.6g (%s[%s] - y[%s])", s,
                         lab_explain_in_name(ex, 0),
                         lab_explain_at(h_shape, index, at), at);
    lab_explain_numeric(ex, "%.6g (%.6g - %.6g)", s, h, y);
    lab_explain_value(ex, s * (h - y));
}

static void forward(struct lab_builder *b)
{
    int h = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, h);
    struct lab_mse_params p = {
        (enum lab_mse_reduction)lab_build_attr(b, "reduction")->choice};
    int64_t n = 0;
    if (!lab_loss_check_target(b, false) || lab_shape_count(&shape, &n))
        return;
    int sample =
        lab_loss_sample(b, &(struct lab_shape){1, {lab_loss_samples(&shape)}});
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "sample",
               .phase = LAB_LOSS,
               .in = {h, lab_build_target(b)},
               .n_in = 2,
               .out = {sample},
               .n_out = 1,
               .params = &p,
               .params_bytes = sizeof(p),
               .flop = 3.0 * (double)n,
               .formula = p.reduction == LAB_MSE_MEAN
                              ? "$o0[n] = mean_e ($i0[n,e] - $i1[n,e])^2"
                              : "$o0[n] = 1/2 sum_e ($i0[n,e] - $i1[n,e])^2",
               .explain = explain_sample});
    lab_loss_reduce(b, "reduce", sample, p.reduction != LAB_MSE_HALF_SUM, &p,
                    sizeof(p));
}

static void backward(struct lab_builder *b)
{
    int h = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, h);
    struct lab_mse_params p = {
        (enum lab_mse_reduction)lab_build_attr(b, "reduction")->choice};
    int dh = lab_build_input_grad(b, 0);
    int64_t n = 0;
    if (dh < 0 || lab_shape_count(&shape, &n))
        return;
    static const char *const formula[] = {
        [LAB_MSE_MEAN] = "$o0 = 2/(N E) ($i0 - $i1)",
        [LAB_MSE_HALF_SUM] = "$o0 = $i0 - $i1",
        [LAB_MSE_HALF_SUM_PER_SAMPLE] = "$o0 = ($i0 - $i1) / N"};
    lab_build_step(b, &(struct lab_step_def){.name = "sample",
                                             .phase = LAB_BACKWARD,
                                             .in = {h, lab_build_target(b)},
                                             .n_in = 2,
                                             .out = {dh},
                                             .n_out = 1,
                                             .params = &p,
                                             .params_bytes = sizeof(p),
                                             .flop = 2.0 * (double)n,
                                             .formula = formula[p.reduction],
                                             .explain = explain_backward});
}

const struct lab_op_def lab_op_mse = {.name = "mse",
                                      .kind = LAB_KIND_LOSS,
                                      .keys = keys,
                                      .n_keys = 1,
                                      .min_inputs = 1,
                                      .max_inputs = 1,
                                      .forward = forward,
                                      .backward = backward};
