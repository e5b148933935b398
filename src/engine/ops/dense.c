/* dense: out = x W + b. Two products and a sum forward; the same two products
 * turned around carry the gradient back. */
#include "dense/dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain.h"
#include "engine/plan.h"
#include "unary.h"

static const struct lab_key_def keys[] = {
    {"units", LAB_KEY_INT, true, 0, 1, 1 << 30},
    {"bias", LAB_KEY_BOOL, false, 1},
};

/* N, K, M of kernels/dense/dense.h. */
struct dims {
    int64_t n;
    int64_t k;
    int64_t m;
};

static struct dims dims_of(const struct lab_shape *x, int64_t units)
{
    struct dims d = {.n = 1, .k = x->dim[x->rank - 1], .m = units};
    for (int i = 0; i + 1 < x->rank; i++)
        d.n *= x->dim[i];
    return d;
}

/* ---- explanations ---- */

static int64_t last(const struct lab_shape *s)
{
    return s->rank > 0 ? s->dim[s->rank - 1] : 1;
}

/* The coordinates of a row, "n" or "n,t", without the last axis. */
static const char *row_text(const struct lab_shape *s, int64_t row, char *buf,
                            size_t size)
{
    int64_t at[LAB_MAX_RANK];
    size_t used = 0;
    lab_shape_unravel(s, row * last(s), at);
    buf[0] = '\0';
    for (int i = 0; i + 1 < s->rank; i++)
        used += (size_t)snprintf(buf + used, size - used, "%lld,",
                                 (long long)at[i]);
    return buf;
}

/* xW[n,m] = sum_k x[n,k] W[k,m] */
static void add_products(struct lab_explainer *ex, int64_t n, int64_t m)
{
    int64_t K = last(lab_explain_in_shape(ex, 0));
    int64_t M = last(lab_explain_in_shape(ex, 1));
    for (int64_t k = 0; k < K; k++) {
        double x = lab_explain_in(ex, 0, n * K + k);
        double w = lab_explain_in(ex, 1, k * M + m);
        lab_explain_term(ex, x * w, "%.6g*%.6g", x, w);
        lab_explain_source(ex, 0, n * K + k);
        lab_explain_source(ex, 1, k * M + m);
    }
}

static void explain_matmul(struct lab_explainer *ex, int out_slot,
                           int64_t index)
{
    const struct lab_shape *xW = lab_explain_out_shape(ex, out_slot);
    char row[64];
    int64_t n = index / last(xW);
    int64_t m = index % last(xW);
    lab_explain_symbolic(ex, "sum_k %s[%sk] * %s[k,%lld]",
                         lab_explain_in_name(ex, 0),
                         row_text(xW, n, row, sizeof(row)),
                         lab_explain_in_name(ex, 1), (long long)m);
    add_products(ex, n, m);
}

static void explain_bias(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_shape *out = lab_explain_out_shape(ex, out_slot);
    char at[LAB_SHAPE_TEXT];
    int64_t m = index % last(out);
    double xW = lab_explain_in(ex, 0, index);
    double b = lab_explain_in(ex, 1, m);
    lab_explain_symbolic(ex, "%s[%s] + %s[%lld]", lab_explain_in_name(ex, 0),
                         lab_explain_at(out, index, at),
                         lab_explain_in_name(ex, 1), (long long)m);
    lab_explain_term(ex, xW, "%.6g", xW);
    lab_explain_source(ex, 0, index);
    lab_explain_term(ex, b, "%.6g", b);
    lab_explain_source(ex, 1, m);
}

static void explain_bias_back(struct lab_explainer *ex, int out_slot,
                              int64_t index)
{
    const struct lab_shape *dout = lab_explain_in_shape(ex, 0);
    int64_t M = last(dout);
    int64_t N = 1;
    const char *lead;
    for (int i = 0; i + 1 < dout->rank; i++)
        N *= dout->dim[i];
    if (out_slot == 1) { /* d xW is d out itself */
        lab_explain_passed(ex, 0, index);
        return;
    }
    lead = lab_explain_axes(dout->rank - 1);
    lab_explain_symbolic(ex, "sum_%s %s[%s,%lld]", lead,
                         lab_explain_in_name(ex, 0), lead, (long long)index);
    for (int64_t n = 0; n < N; n++) {
        double g = lab_explain_in(ex, 0, n * M + index);
        lab_explain_term(ex, g, "%.6g", g);
        lab_explain_source(ex, 0, n * M + index);
    }
}

/* dW[k,m] = sum_n x[n,k] dxW[n,m] */
static void explain_dW(struct lab_explainer *ex, int64_t k, int64_t m)
{
    const struct lab_shape *x = lab_explain_in_shape(ex, 1);
    int64_t K = last(x);
    int64_t M = last(lab_explain_in_shape(ex, 0));
    int64_t N = dims_of(x, 1).n;
    const char *lead = lab_explain_axes(x->rank - 1);
    lab_explain_symbolic(ex, "sum_%s %s[%s,%lld] * %s[%s,%lld]", lead,
                         lab_explain_in_name(ex, 1), lead, (long long)k,
                         lab_explain_in_name(ex, 0), lead, (long long)m);
    for (int64_t n = 0; n < N; n++) {
        double xv = lab_explain_in(ex, 1, n * K + k);
        double g = lab_explain_in(ex, 0, n * M + m);
        lab_explain_term(ex, xv * g, "%.6g*%.6g", xv, g);
        lab_explain_source(ex, 1, n * K + k);
        lab_explain_source(ex, 0, n * M + m);
    }
}

static void explain_matmul_back(struct lab_explainer *ex, int out_slot,
                                int64_t index)
{
    int64_t M = last(lab_explain_in_shape(ex, 0));
    if (out_slot == 0) {
        explain_dW(ex, index / M, index % M);
        return;
    }
    /* dx[n,k] = sum_m dxW[n,m] W[k,m] */
    const struct lab_shape *x = lab_explain_in_shape(ex, 1);
    char row[64];
    int64_t n = index / last(x);
    int64_t k = index % last(x);
    lab_explain_symbolic(ex, "sum_m %s[%sm] * %s[%lld,m]",
                         lab_explain_in_name(ex, 0),
                         row_text(x, n, row, sizeof(row)),
                         lab_explain_in_name(ex, 2), (long long)k);
    for (int64_t m = 0; m < M; m++) {
        double g = lab_explain_in(ex, 0, n * M + m);
        double w = lab_explain_in(ex, 2, k * M + m);
        lab_explain_term(ex, g * w, "%.6g*%.6g", g, w);
        lab_explain_source(ex, 0, n * M + m);
        lab_explain_source(ex, 2, k * M + m);
    }
}

static const char *const act_name[] = {
    [LAB_ACT_NONE] = "",           [LAB_ACT_RELU] = "relu",
    [LAB_ACT_SIGMOID] = "sigmoid", [LAB_ACT_LEAKY_RELU] = "leaky_relu",
    [LAB_ACT_TANH] = "tanh",       [LAB_ACT_GELU_TANH] = "gelu",
    [LAB_ACT_GELU_ERF] = "gelu",   [LAB_ACT_SOFTPLUS] = "softplus",
    [LAB_ACT_SWISH] = "swish"};

static double activate(const struct lab_dense_params *p, double x)
{
    switch (p->activation) {
    case LAB_ACT_RELU:
        return x < 0 ? 0 : x;
    case LAB_ACT_LEAKY_RELU:
        return x > 0 ? x : p->slope * x;
    case LAB_ACT_SIGMOID:
        return lab_sigmoid(x);
    case LAB_ACT_TANH:
        return tanh(x);
    case LAB_ACT_GELU_TANH:
        return lab_gelu(x, true);
    case LAB_ACT_GELU_ERF:
        return lab_gelu(x, false);
    case LAB_ACT_SOFTPLUS:
        return lab_softplus(x);
    case LAB_ACT_SWISH:
        return x * lab_sigmoid(x);
    case LAB_ACT_NONE:
        break;
    }
    return x;
}

static void explain_group(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_dense_params *p = lab_explain_params(ex);
    const struct lab_shape *out = lab_explain_out_shape(ex, out_slot);
    char row[64];
    int64_t n = index / last(out);
    int64_t m = index % last(out);
    const char *act = out_slot == 1 ? act_name[p->activation] : "";
    char bias[80] = "";
    add_products(ex, n, m);
    double sum = 0;
    int64_t K = last(lab_explain_in_shape(ex, 0));
    for (int64_t k = 0; k < K; k++)
        sum += lab_explain_in(ex, 0, n * K + k) *
               lab_explain_in(ex, 1, k * last(out) + m);
    if (lab_explain_has_in(ex, 2)) {
        double b = lab_explain_in(ex, 2, m);
        sum += b;
        lab_explain_term(ex, b, "%.6g", b);
        lab_explain_source(ex, 2, m);
    }
    if (lab_explain_has_in(ex, 2))
        snprintf(bias, sizeof(bias), " + %s[%lld]", lab_explain_in_name(ex, 2),
                 (long long)m);
    lab_explain_symbolic(
        ex, "%s%ssum_k %s[%sk] * %s[k,%lld]%s%s", act, *act ? "(" : "",
        lab_explain_in_name(ex, 0), row_text(out, n, row, sizeof(row)),
        lab_explain_in_name(ex, 1), (long long)m, bias, *act ? ")" : "");
    lab_explain_value(ex, *act ? activate(p, sum) : sum);
}

/* ---- steps ---- */

static void build_bias(struct lab_builder *b, int xW, const struct dims *d)
{
    struct lab_shape shape = lab_build_shape(b, xW);
    int bias =
        lab_build_param(b, "b", &(struct lab_shape){1, {d->m}}, LAB_INIT_ZERO);
    int out = lab_build_out(b, &shape);
    lab_build_step(
        b, &(struct lab_step_def){.name = "bias",
                                  .phase = LAB_FORWARD,
                                  .in = {xW, bias},
                                  .n_in = 2,
                                  .out = {out},
                                  .n_out = 1,
                                  .flop = (double)d->n * (double)d->m,
                                  .formula = "$o0[n,m] = $i0[n,m] + $i1[m]",
                                  .explain = explain_bias});
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    bool bias = lab_build_attr(b, "bias")->b;
    if (shape.rank < 1) {
        lab_build_fail(b, LAB_E_SHAPE, "reads a scalar; it takes [.., in]");
        return;
    }
    struct dims d = dims_of(&shape, lab_build_attr(b, "units")->i);
    shape.dim[shape.rank - 1] = d.m;
    int W = lab_build_param(b, "W", &(struct lab_shape){2, {d.k, d.m}},
                            LAB_INIT_FAN_IN);
    int xW = bias ? lab_build_part(b, "xW", &shape, lab_build_real(b))
                  : lab_build_out(b, &shape);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "matmul",
                          .phase = LAB_FORWARD,
                          .in = {x, W},
                          .n_in = 2,
                          .out = {xW},
                          .n_out = 1,
                          .flop = 2.0 * (double)d.n * (double)d.k * (double)d.m,
                          .formula = "$o0[n,m] = sum_k $i0[n,k] * $i1[k,m]",
                          .explain = explain_matmul});
    if (bias)
        build_bias(b, xW, &d);
}

static void backward(struct lab_builder *b)
{
    int dout = lab_build_out_grad(b);
    int x = lab_build_input(b, 0);
    int W = lab_build_find(b, "W");
    int xW = lab_build_find(b, "xW");
    struct lab_shape x_shape = lab_build_shape(b, x);
    struct dims d = dims_of(&x_shape, lab_build_attr(b, "units")->i);
    double product = 2.0 * (double)d.n * (double)d.k * (double)d.m;
    int dxW = dout;
    if (lab_build_attr(b, "bias")->b) {
        int db = lab_build_grad(b, lab_build_find(b, "b"));
        dxW = lab_build_grad_alias(b, xW, dout);
        lab_build_step(b, &(struct lab_step_def){
                              .name = "bias",
                              .phase = LAB_BACKWARD,
                              .in = {dout},
                              .n_in = 1,
                              .out = {db, dxW},
                              .n_out = 2,
                              .flop = (double)d.n * (double)d.m,
                              .formula = "$o0[m] = sum_n $i0[n,m]; $o1 = $i0",
                              .explain = explain_bias_back});
    }
    int dW = lab_build_grad(b, W);
    int dx = lab_build_input_grad(b, 0);
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "matmul",
               .phase = LAB_BACKWARD,
               .in = {dxW, x, W},
               .n_in = 3,
               .out = {dW, dx},
               .n_out = 2,
               .flop = dx >= 0 ? 2 * product : product,
               .formula = dx >= 0 ? "$o0[k,m] = sum_n $i1[n,k] * $i0[n,m]; "
                                    "$o1[n,k] = sum_m $i0[n,m] * $i2[k,m]"
                                  : "$o0[k,m] = sum_n $i1[n,k] * $i0[n,m]",
               .explain = explain_matmul_back});
}

/* The fused step: product, bias and the activation that follows. */
static void group(const struct lab_plan *plan, const struct lab_node *node,
                  enum lab_phase phase, const struct lab_node *absorbed,
                  struct lab_group_step *out)
{
    const struct lab_step *matmul = &plan->steps[node->first_step[phase]];
    const struct lab_step *bias = node->n_steps[phase] > 1 ? matmul + 1 : NULL;
    struct lab_dense_params p = {.activation = LAB_ACT_NONE};
    if (absorbed)
        p.activation = (enum lab_activation)absorbed->op->activation(
            absorbed->attr, &p.slope);
    memcpy(out->params.bytes, &p, sizeof(p));
    out->def.params = out->params.bytes;
    out->def.params_bytes = sizeof(p);
    out->def.in[0] = matmul->in[0];
    out->def.in[1] = matmul->in[1];
    out->def.in[2] = bias ? bias->in[1] : LAB_NO_TENSOR;
    out->def.n_in = 3;
    out->def.out[0] = node->out;
    out->def.out[1] = absorbed ? absorbed->out : LAB_NO_TENSOR;
    out->def.n_out = 2;
    out->def.flop = matmul->flop + (bias ? bias->flop : 0);
    if (absorbed)
        out->def.flop += plan->steps[absorbed->first_step[phase]].flop;
    snprintf(out->formula, sizeof(out->formula),
             "$o0[n,m] = sum_k $i0[n,k] * $i1[k,m]%s", bias ? " + $i2[m]" : "");
    if (absorbed)
        snprintf(out->formula + strlen(out->formula),
                 sizeof(out->formula) - strlen(out->formula), "; $o1 = %s($o0)",
                 act_name[p.activation]);
    out->def.formula = out->formula;
    out->def.explain = explain_group;
}

const struct lab_op_def lab_op_dense = {.name = "dense",
                                        .kind = LAB_KIND_LAYER,
                                        .keys = keys,
                                        .n_keys = 2,
                                        .min_inputs = 1,
                                        .max_inputs = 1,
                                        .forward = forward,
                                        .backward = backward,
                                        .group = group};
