/* dropout: a random share of the elements is set to zero in training, and the
 * rest is scaled up so that the expected value stays. */
#include "dropout/dropout.h"

#include "engine/explain.h"
#include "engine/op.h"
#include "common/random.h"

static const struct lab_key_def keys[] = {
    {"p", LAB_KEY_FLOAT, true, 0.5, 0, 1, .open_max = true},
};

static double mask_value(const struct lab_explainer *ex, int64_t index)
{
    const struct lab_dropout_params *p = lab_explain_step(ex)->params;
    uint32_t word = lab_random_word(
        lab_explain_plan(ex)->seed, (uint32_t)lab_explain_step(ex)->node,
        (uint32_t)lab_explain_iteration(ex), (uint64_t)index);
    return lab_random_unit(word) >= (float)p->p ? 1 / (1 - p->p) : 0;
}

static void explain_forward(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    const struct lab_dropout_params *p = lab_explain_step(ex)->params;
    double mask = mask_value(ex, index);
    double x = lab_explain_in(ex, 0, index);
    if (out_slot == 1) {
        lab_explain_symbolic(ex,
                             "1/(1 - p) where a random number is >= p, "
                             "else 0; here it is %s",
                             mask > 0 ? "1/(1 - p)" : "0");
        lab_explain_where(ex, "p = %g", p->p);
        lab_explain_value(ex, mask);
        return;
    }
    lab_explain_source(ex, 0, index);
    char at[LAB_SHAPE_TEXT];
    lab_explain_symbolic(
        ex, "%s[%s] * mask", lab_explain_in_name(ex, 0),
        lab_explain_at(lab_explain_in_shape(ex, 0), index, at));
    lab_explain_numeric(ex, "%.6g * %.6g", x, mask);
    lab_explain_let_out(ex, "mask", 1, index, mask);
    lab_explain_source_out(ex, 1, index);
    lab_explain_value(ex, x * mask);
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    struct lab_dropout_params p = {lab_build_attr(b, "p")->f};
    if (!(p.p >= 0 && p.p < 1)) {
        lab_build_fail(b, LAB_E_RANGE,
                       "[op.dropout.p] p is %g; it is the share that is "
                       "dropped, from 0 to below 1",
                       p.p);
        return;
    }
    int mask = lab_build_part(b, "mask", &shape, lab_build_real(b));
    int y = lab_build_out(b, &shape);
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "dropout",
               LAB_IN(x),
               LAB_OUT(y, mask),
               LAB_PARAMS(p),
               .flop_each = 2,
               .formula = "!$o1 = u >= p ? 1/(1-p) : 0; $o0 = $i0 * $o1",
               .explain = explain_forward});
}

static void backward(struct lab_builder *b)
{
    int dy = lab_build_out_grad(b);
    int mask = lab_build_find(b, "mask");
    int dx = lab_build_input_grad(b, 0);
    struct lab_dropout_params p = {lab_build_attr(b, "p")->f};
    lab_build_step(b, &(struct lab_step_def){.name = "dropout",
                                             LAB_IN(dy, mask),
                                             LAB_OUT(dx),
                                             LAB_PARAMS(p),
                                             .formula = "$o0 = $i0 * $i1",
                                             .names = "- mask"});
}

const struct lab_op_def lab_op_dropout = {LAB_LAYER_OP("dropout", 1, 1),
                                          LAB_KEYS(keys)};
