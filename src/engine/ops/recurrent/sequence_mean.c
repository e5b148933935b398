/* sequence_mean: the mean over the places of a sequence; order is lost. */
#include "sequence_mean/sequence_mean.h"

#include "engine/explain.h"
#include "engine/op.h"
#include "engine/op_trial.h"

static void explain_mean(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_shape *x = lab_explain_in_shape(ex, 0);
    int64_t T = x->dim[1];
    int64_t D = x->dim[2];
    (void)out_slot;
    lab_explain_symbolic(ex, "sum_t %s[%lld,t,%lld] / %lld",
                         lab_explain_in_name(ex, 0), (long long)(index / D),
                         (long long)(index % D), (long long)T);
    for (int64_t t = 0; t < T; t++) {
        int64_t from = (index / D * T + t) * D + index % D;
        double v = lab_explain_in(ex, 0, from);
        lab_explain_term(ex, v / (double)T, "%.6g/%lld", v, (long long)T);
        lab_explain_source(ex, 0, from);
    }
}

static void explain_share(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_shape *dx = lab_explain_out_shape(ex, out_slot);
    int64_t T = dx->dim[1];
    int64_t D = dx->dim[2];
    int64_t from = index / (T * D) * D + index % D;
    double v = lab_explain_in(ex, 0, from);
    lab_explain_symbolic(ex, "%s[%lld,%lld] / %lld", lab_explain_in_name(ex, 0),
                         (long long)(index / (T * D)), (long long)(index % D),
                         (long long)T);
    lab_explain_term(ex, v / (double)T, "%.6g/%lld", v, (long long)T);
    lab_explain_source(ex, 0, from);
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    char text[LAB_SHAPE_TEXT];
    int64_t n = 0;
    if (shape.rank != 3) {
        lab_build_fail(b, LAB_E_SHAPE, "reads %s; it takes [N,T,D]",
                       lab_shape_text(&shape, text));
        return;
    }
    int y =
        lab_build_out(b, &(struct lab_shape){2, {shape.dim[0], shape.dim[2]}});
    if (y < 0 || lab_shape_count(&shape, &n))
        return;
    lab_build_step(b, &(struct lab_step_def){
                          .name = "mean",
                          .phase = LAB_FORWARD,
                          .in = {x},
                          .n_in = 1,
                          .out = {y},
                          .n_out = 1,
                          /* T - 1 additions and a division */
                          .flop = (double)n,
                          .formula = "$o0[n,d] = (sum_t $i0[n,t,d]) / T",
                          .explain = explain_mean});
}

static void backward(struct lab_builder *b)
{
    int dy = lab_build_out_grad(b);
    int dx = lab_build_input_grad(b, 0);
    int64_t n = 0;
    if (dx < 0)
        return;
    struct lab_shape shape = lab_build_shape(b, dx);
    if (lab_shape_count(&shape, &n))
        return;
    lab_build_step(
        b, &(struct lab_step_def){.name = "mean",
                                  .phase = LAB_BACKWARD,
                                  .in = {dy},
                                  .n_in = 1,
                                  .out = {dx},
                                  .n_out = 1,
                                  .flop = (double)n,
                                  .formula = "$o0[n,t,d] = $i0[n,d] / T",
                                  .explain = explain_share});
}

static const struct lab_op_test_network trials[] = {
    {.in = {{3, {3, 5, 7}}}, .out = {2, {3, 7}}},
};

const struct lab_op_def lab_op_sequence_mean = {.name = "sequence_mean",
                                                .kind = LAB_KIND_LAYER,
                                                .min_inputs = 1,
                                                .max_inputs = 1,
                                                .forward = forward,
                                                .backward = backward,
                                                .trials = trials,
                                                .n_trials = 1};
