/* sgd: a step down the gradient, with momentum and Nesterov's look ahead.
 *
 * An update step a parameter. Without momentum there is no state; with it the
 * velocity is a tensor beside the parameter, kept from iteration to iteration. */
#include "engine/explain.h"
#include "engine/op.h"
#include "optimizer/optimizer.h"
#include "rate_keys.h"

static const struct lab_key_def keys[] = {
    {"lr", LAB_KEY_FLOAT, true, 0.1, 0, LAB_LR_MOST},
    {"momentum", LAB_KEY_FLOAT, false, 0, 0, 1, .open_max = true},
    {"nesterov", LAB_KEY_BOOL, false, 0},
    {"weight_decay", LAB_KEY_FLOAT, false, 0, 0, 1e6},
    LAB_RATE_KEYS,
};

static void explain_update(struct lab_explainer *ex, int out_slot,
                           int64_t index)
{
    const struct lab_sgd_params *p = lab_explain_step(ex)->params;
    double g =
        lab_explain_in(ex, 0, index) * lab_rate_explain_clip(ex, p->clip);
    double w = lab_explain_old(ex, 0, index);
    double d = g + p->weight_decay * w;
    double v = d;
    lab_explain_source(ex, 0, index);
    if (p->momentum > 0)
        v = p->momentum * lab_explain_old(ex, 1, index) + d;
    lab_explain_let(ex, "gradient", 0, index);
    if (p->weight_decay > 0)
        lab_explain_where(ex,
                          "the gradient is taken with weight_decay * weight: "
                          "%.6g",
                          d);
    if (p->momentum > 0)
        lab_explain_where(ex, "momentum = %g", p->momentum);
    if (out_slot == 1) {
        lab_explain_let_old(ex, "velocity", 1, index);
        lab_explain_symbolic(ex, "momentum * velocity + gradient");
        lab_explain_numeric(ex, "%g * %.6g + %.6g", p->momentum,
                            lab_explain_old(ex, 1, index), d);
        lab_explain_value(ex, v);
        return;
    }
    lab_explain_let_old(ex, "old", 0, index);
    lab_explain_where(ex, "lr = %g", p->lr);
    if (p->momentum > 0)
        lab_explain_let_out(ex, "velocity", 1, index, v);
    double move = p->nesterov ? d + p->momentum * v : v;
    lab_explain_symbolic(ex, p->momentum > 0 ? p->nesterov
                                                   ? "old - lr * (gradient + "
                                                     "momentum * velocity)"
                                                   : "old - lr * velocity"
                                             : "old - lr * gradient");
    lab_explain_numeric(ex, "%.6g - %g * %.6g", w, p->lr, move);
    lab_explain_value(ex, w - p->lr * move);
}

static void update(struct lab_builder *b, int param, int grad)
{
    struct lab_sgd_params p = {.lr = lab_build_attr(b, "lr")->f,
                               .momentum = lab_build_attr(b, "momentum")->f,
                               .weight_decay =
                                   lab_build_attr(b, "weight_decay")->f,
                               .nesterov = lab_build_attr(b, "nesterov")->b,
                               .clip = lab_build_attr(b, "clip_norm")->f};
    int norm = lab_build_clip_norm(b);
    if (p.nesterov && p.momentum == 0) {
        lab_build_fail(
            b, LAB_E_PARSE,
            "[op.sgd.nesterov] nesterov needs a momentum larger than 0");
        return;
    }
    int velocity =
        p.momentum > 0 ? lab_build_state(b, param, "velocity") : LAB_NO_TENSOR;
    double flop = 2 + (p.momentum > 0 ? 2 : 0) + (p.nesterov ? 2 : 0) +
                  (p.weight_decay > 0 ? 2 : 0);
    const char *formula = "!$o0 = $o0 - lr * $i0";
    if (p.momentum > 0)
        formula = p.nesterov
                      ? "!$o1 = momentum * $o1 + $i0; $o0 = $o0 - lr * "
                        "($i0 + momentum * $o1)"
                      : "!$o1 = momentum * $o1 + $i0; $o0 = $o0 - lr * $o1";
    lab_build_step(b, &(struct lab_step_def){.name = "update",
                                             .in = {grad, norm},
                                             .n_in = norm < 0 ? 1 : 2,
                                             LAB_OUT(param, velocity),
                                             LAB_PARAMS(p),
                                             .flop_each = flop,
                                             .formula = formula,
                                             .explain = explain_update});
}

const struct lab_op_def lab_op_sgd = {.name = "sgd",
                                      .kind = LAB_KIND_OPTIMIZER,
                                      LAB_KEYS(keys),
                                      .update = update};
