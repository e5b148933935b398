/* residual: the sums of a transformer block. A lesson's own sums are the op
 * add; this one stands inside a block only. */
#include "residual.h"

#include "engine/explain.h"
#include "engine/op.h"
#include "engine/op_check.h"

static void explain_add(struct lab_explainer *ex, int out_slot, int64_t index)
{
    char at[LAB_SHAPE_TEXT];
    const char *where =
        lab_explain_at(lab_explain_out_shape(ex, out_slot), index, at);
    lab_explain_symbolic(ex, "%s[%s] + %s[%s]", lab_explain_in_name(ex, 0),
                         where, lab_explain_in_name(ex, 1), where);
    for (int slot = 0; slot < 2; slot++) {
        double v = lab_explain_in(ex, slot, index);
        lab_explain_term(ex, v, "%.6g", v);
        lab_explain_source(ex, slot, index);
    }
}

static void explain_add_back(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    double g = lab_explain_in(ex, 0, index);
    (void)out_slot;
    lab_explain_symbolic(ex, "%s, unchanged: a sum passes its gradient on",
                         lab_explain_in_name(ex, 0));
    lab_explain_term(ex, g, "%.6g", g);
    lab_explain_source(ex, 0, index);
}

static void forward(struct lab_builder *b)
{
    struct lab_shape a = lab_build_shape(b, lab_build_input(b, 0));
    struct lab_shape c = lab_build_shape(b, lab_build_input(b, 1));
    char one[LAB_SHAPE_TEXT];
    char two[LAB_SHAPE_TEXT];
    int64_t n = 0;
    if (!lab_shape_equal(&a, &c)) {
        lab_build_fail(b, LAB_E_SHAPE, "adds %s and %s",
                       lab_shape_text(&a, one), lab_shape_text(&c, two));
        return;
    }
    int out = lab_build_out(b, &a);
    if (out < 0 || lab_shape_count(&a, &n))
        return;
    lab_build_step(b, &(struct lab_step_def){
                          .name = "add",
                          .phase = LAB_FORWARD,
                          .in = {lab_build_input(b, 0), lab_build_input(b, 1)},
                          .n_in = 2,
                          .out = {out},
                          .n_out = 1,
                          .flop = (double)n,
                          .formula = "$o0 = $i0 + $i1",
                          .explain = explain_add});
}

static void backward(struct lab_builder *b)
{
    int dout = lab_build_out_grad(b);
    int da = lab_build_input_grad_alias(b, 0, dout);
    int db = lab_build_input_grad_alias(b, 1, dout);
    if (da < 0 && db < 0)
        return;
    /* An unwanted one must not be the first: it names the formula. */
    int first = da >= 0 ? da : db;
    int second = da >= 0 ? db : LAB_NO_TENSOR;
    lab_build_step(b, &(struct lab_step_def){.name = "add",
                                             .phase = LAB_BACKWARD,
                                             .in = {dout},
                                             .n_in = 1,
                                             .out = {first, second},
                                             .n_out = 2,
                                             .formula = second >= 0
                                                            ? "$o0 = $o1 = $i0"
                                                            : "$o0 = $i0",
                                             .explain = explain_add_back});
}

static const struct lab_op_check checks[] = {
    {.in = {{3, {3, 5, 7}}, {3, {3, 5, 7}}}, .out = {3, {3, 5, 7}}},
};

const struct lab_op_def lab_op_residual = {.name = "residual",
                                           .kind = LAB_KIND_LAYER,
                                           .internal = true,
                                           .min_inputs = 2,
                                           .max_inputs = 2,
                                           .forward = forward,
                                           .backward = backward,
                                           .checks = checks,
                                           .n_checks = 1};
