/* adam and adamw: each weight gets a step of its own size, from running means
 * of its gradient and of the gradient's square. */
#include <math.h>

#include "engine/explain.h"
#include "engine/op.h"
#include "optimizer/optimizer.h"
#include "rate_keys.h"

static const struct lab_key_def keys[] = {
    {"lr", LAB_KEY_FLOAT, true, 1e-3, 0, LAB_LR_MOST},
    {"beta1", LAB_KEY_FLOAT, false, 0.9, 0, 1, .open_max = true},
    {"beta2", LAB_KEY_FLOAT, false, 0.999, 0, 1, .open_max = true},
    {"eps", LAB_KEY_FLOAT, false, 1e-8, 0, 1},
    {"weight_decay", LAB_KEY_FLOAT, false, 0, 0, 1e6},
    LAB_RATE_KEYS,
};

static void explain_state(struct lab_explainer *ex, int out_slot, int64_t index,
                          double beta, double taken)
{
    double old = lab_explain_old(ex, out_slot, index);
    lab_explain_symbolic(ex, out_slot == 1
                                 ? "beta1 * m + (1 - beta1) * gradient"
                                 : "beta2 * v + (1 - beta2) * gradient^2");
    lab_explain_numeric(ex, "%g * %.6g + %g * %.6g", beta, old, 1 - beta,
                        taken);
    lab_explain_let_old(ex, out_slot == 1 ? "m" : "v", out_slot, index);
    lab_explain_let(ex, "gradient", 0, index);
    lab_explain_where(ex, "%s = %g", out_slot == 1 ? "beta1" : "beta2", beta);
    lab_explain_value(ex, beta * old + (1 - beta) * taken);
}

/* step NULL: a tensor that no step has written (data, a parameter before its
 * update): the explanation states where the value comes from. */
static void explain(struct lab_explainer *ex, int out_slot, int64_t index,
                    bool decoupled)
{
    const struct lab_adam_params *p = lab_explain_step(ex)->params;
    double t = (double)lab_explain_iteration(ex) + 1;
    double g =
        lab_explain_in(ex, 0, index) * lab_rate_explain_clip(ex, p->clip);
    double w = lab_explain_old(ex, 0, index);
    double d = decoupled ? g : g + p->weight_decay * w;
    double start = decoupled ? w * (1 - p->lr * p->weight_decay) : w;
    lab_explain_source(ex, 0, index);
    if (out_slot > 0) {
        if (!decoupled && p->weight_decay > 0)
            lab_explain_where(ex,
                              "the gradient is taken with weight_decay * "
                              "weight: %.6g",
                              d);
        explain_state(ex, out_slot, index, out_slot == 1 ? p->beta1 : p->beta2,
                      out_slot == 1 ? d : d * d);
        return;
    }
    double m = p->beta1 * lab_explain_old(ex, 1, index) + (1 - p->beta1) * d;
    double v =
        p->beta2 * lab_explain_old(ex, 2, index) + (1 - p->beta2) * d * d;
    double mhat = m / (1 - pow(p->beta1, t));
    double vhat = v / (1 - pow(p->beta2, t));
    lab_explain_symbolic(ex, "%s - lr * mhat / (sqrt(vhat) + eps)",
                         decoupled ? "old (1 - lr * weight_decay)" : "old");
    lab_explain_numeric(ex, "%.6g - %g * %.6g / (%.6g + %g)", start, p->lr,
                        mhat, sqrt(vhat), p->eps);
    lab_explain_let_old(ex, "old", 0, index);
    lab_explain_where(ex, "lr = %g", p->lr);
    if (decoupled)
        lab_explain_where(ex, "weight_decay = %g", p->weight_decay);
    lab_explain_where(ex,
                      "mhat = m / (1 - beta1^t) = %.6g / (1 - %g^%g) = %.6g", m,
                      p->beta1, t, mhat);
    lab_explain_where(ex,
                      "vhat = v / (1 - beta2^t) = %.6g / (1 - %g^%g) = %.6g", v,
                      p->beta2, t, vhat);
    lab_explain_let_out(ex, "m", 1, index, m);
    lab_explain_let_out(ex, "v", 2, index, v);
    lab_explain_where(ex, "beta1 = %g; beta2 = %g; eps = %g", p->beta1,
                      p->beta2, p->eps);
    lab_explain_where(ex, "t = %g counts the updates", t);
    lab_explain_source_out(ex, 1, index);
    lab_explain_source_out(ex, 2, index);
    lab_explain_value(ex, start - p->lr * mhat / (sqrt(vhat) + p->eps));
}

static void explain_adam(struct lab_explainer *ex, int out_slot, int64_t index)
{
    explain(ex, out_slot, index, false);
}

static void explain_adamw(struct lab_explainer *ex, int out_slot, int64_t index)
{
    explain(ex, out_slot, index, true);
}

static void build(struct lab_builder *b, int param, int grad, bool decoupled)
{
    struct lab_adam_params p = {.lr = lab_build_attr(b, "lr")->f,
                                .beta1 = lab_build_attr(b, "beta1")->f,
                                .beta2 = lab_build_attr(b, "beta2")->f,
                                .eps = lab_build_attr(b, "eps")->f,
                                .weight_decay =
                                    lab_build_attr(b, "weight_decay")->f,
                                .clip = lab_build_attr(b, "clip_norm")->f};
    int norm = lab_build_clip_norm(b);
    int m = lab_build_state(b, param, "m");
    int v = lab_build_state(b, param, "v");
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "update",
               .in = {grad, norm},
               .n_in = norm < 0 ? 1 : 2,
               LAB_OUT(param, m, v),
               LAB_PARAMS(p),
               .flop_each = p.weight_decay > 0 ? 14 : 12,
               .formula =
                   decoupled
                       ? "!$o1 = beta1 $o1 + (1-beta1) $i0; $o2 = beta2 $o2 + "
                         "(1-beta2) $i0^2; $o0 = $o0 (1 - lr decay) - lr "
                         "mhat/(sqrt(vhat) + eps)"
                       : "!$o1 = beta1 $o1 + (1-beta1) $i0; $o2 = beta2 $o2 + "
                         "(1-beta2) $i0^2; $o0 = $o0 - lr mhat/(sqrt(vhat) + "
                         "eps)",
               .explain = decoupled ? explain_adamw : explain_adam});
}

static void update_adam(struct lab_builder *b, int param, int grad)
{
    build(b, param, grad, false);
}

static void update_adamw(struct lab_builder *b, int param, int grad)
{
    build(b, param, grad, true);
}

const struct lab_op_def lab_op_adam = {.name = "adam",
                                       .kind = LAB_KIND_OPTIMIZER,
                                       LAB_KEYS(keys),
                                       .update = update_adam};

const struct lab_op_def lab_op_adamw = {.name = "adamw",
                                        .kind = LAB_KIND_OPTIMIZER,
                                        LAB_KEYS(keys),
                                        .update = update_adamw};
