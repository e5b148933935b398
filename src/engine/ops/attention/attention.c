/* attention: self-attention with heads. Three projections of x, scaled dot
 * product attention in every head, and a projection of what the heads say. */
#include "attend.h"
#include "engine/explain.h"
#include "engine/op_trial.h"

#include <stdio.h>

static const struct lab_key_def keys[] = {
    {"heads", LAB_KEY_INT, true, 0, 1, 1073741824.0},
    {"causal", LAB_KEY_BOOL, false, 0},
    {"bias", LAB_KEY_BOOL, false, 1},
};

static const char *const projections[] = {"q", "k", "v"};

/* ---- explanations of a projection ---- */

static int64_t last(const struct lab_shape *s)
{
    return s->dim[s->rank - 1];
}

/* in: x, W, b */
static void explain_project(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    int64_t K = last(lab_explain_in_shape(ex, 0));
    int64_t M = last(lab_explain_out_shape(ex, out_slot));
    int64_t m = index % M;
    bool bias = lab_explain_has_in(ex, 2);
    char row[LAB_SHAPE_TEXT];
    char plus[80] = "";
    if (bias)
        snprintf(plus, sizeof(plus), " + %s[%lld]", lab_explain_in_name(ex, 2),
                 (long long)m);
    lab_explain_symbolic(
        ex, "sum_k %s[%sk] * %s[k,%lld]%s", lab_explain_in_name(ex, 0),
        lab_explain_row(lab_explain_out_shape(ex, out_slot), index, row),
        lab_explain_in_name(ex, 1), (long long)m, plus);
    for (int64_t k = 0; k < K; k++) {
        double x = lab_explain_in(ex, 0, index / M * K + k);
        double w = lab_explain_in(ex, 1, k * M + m);
        lab_explain_term(ex, x * w, "%.6g*%.6g", x, w);
        lab_explain_source(ex, 0, index / M * K + k);
        lab_explain_source(ex, 1, k * M + m);
    }
    if (bias) {
        double v = lab_explain_in(ex, 2, m);
        lab_explain_term(ex, v, "%.6g", v);
        lab_explain_source(ex, 2, m);
    }
}

/* dW[k,m] = sum_r x[r,k] dy[r,m]; db[m] = sum_r dy[r,m] */
static void explain_parameter(struct lab_explainer *ex, bool bias,
                              int64_t index)
{
    const struct lab_shape *dy = lab_explain_in_shape(ex, 0);
    int64_t K = last(lab_explain_in_shape(ex, 1));
    int64_t M = last(dy);
    int64_t R = 1;
    const char *lead = lab_explain_axes(dy->rank - 1);
    for (int i = 0; i + 1 < dy->rank; i++)
        R *= dy->dim[i];
    if (bias)
        lab_explain_symbolic(ex, "sum_%s %s[%s,%lld]", lead,
                             lab_explain_in_name(ex, 0), lead,
                             (long long)index);
    else
        lab_explain_symbolic(ex, "sum_%s %s[%s,%lld] * %s[%s,%lld]", lead,
                             lab_explain_in_name(ex, 1), lead,
                             (long long)(index / M), lab_explain_in_name(ex, 0),
                             lead, (long long)(index % M));
    for (int64_t r = 0; r < R; r++) {
        int64_t at = r * M + index % M;
        double g = lab_explain_in(ex, 0, at);
        if (bias) {
            lab_explain_term(ex, g, "%.6g", g);
            lab_explain_source(ex, 0, at);
            continue;
        }
        double x = lab_explain_in(ex, 1, r * K + index / M);
        lab_explain_term(ex, x * g, "%.6g*%.6g", x, g);
        lab_explain_source(ex, 1, r * K + index / M);
        lab_explain_source(ex, 0, at);
    }
}

/* in: dy, x, W; out: dW, db, dx */
static void explain_project_back(struct lab_explainer *ex, int out_slot,
                                 int64_t index)
{
    int64_t M = last(lab_explain_in_shape(ex, 0));
    int64_t K = last(lab_explain_in_shape(ex, 1));
    if (out_slot < 2) {
        explain_parameter(ex, out_slot == 1, index);
        return;
    }
    char row[LAB_SHAPE_TEXT];
    lab_explain_symbolic(
        ex, "sum_m %s[%sm] * %s[%lld,m]", lab_explain_in_name(ex, 0),
        lab_explain_row(lab_explain_out_shape(ex, out_slot), index, row),
        lab_explain_in_name(ex, 2), (long long)(index % K));
    for (int64_t m = 0; m < M; m++) {
        double g = lab_explain_in(ex, 0, index / K * M + m);
        double w = lab_explain_in(ex, 2, index % K * M + m);
        lab_explain_term(ex, g * w, "%.6g*%.6g", g, w);
        lab_explain_source(ex, 0, index / K * M + m);
        lab_explain_source(ex, 2, index % K * M + m);
    }
}

/* ---- steps ---- */

static double product_flop(const struct lab_builder *b, int x, int64_t M)
{
    struct lab_shape shape = lab_build_shape(b, x);
    int64_t n = 0;
    return lab_shape_count(&shape, &n) ? 0 : 2.0 * (double)n * (double)M;
}

/* y = x W + b, with W and b named after `letter`. */
static void project(struct lab_builder *b, const char *step, char letter, int x,
                    int y)
{
    struct lab_shape shape = lab_build_shape(b, x);
    int64_t D = last(&shape);
    char W_name[] = {'W', letter, '\0'};
    char b_name[] = {'b', letter, '\0'};
    int bias = LAB_NO_TENSOR;
    int W = lab_build_param(b, W_name, &(struct lab_shape){2, {D, D}},
                            LAB_INIT_FAN_IN);
    if (lab_build_attr(b, "bias")->b)
        bias = lab_build_param(b, b_name, &(struct lab_shape){1, {D}},
                               LAB_INIT_ZERO);
    double product = product_flop(b, x, D);
    lab_build_step(
        b,
        &(struct lab_step_def){
            .name = step,
            .phase = LAB_FORWARD,
            .in = {x, W, bias},
            .n_in = 3,
            .out = {y},
            .n_out = 1,
            .flop = product + (bias >= 0 ? product / 2 / (double)D : 0),
            .formula = bias >= 0 ? "$o0[t,m] = sum_k $i0[t,k] $i1[k,m] + $i2[m]"
                                 : "$o0[t,m] = sum_k $i0[t,k] $i1[k,m]",
            .explain = explain_project});
}

static void project_back(struct lab_builder *b, const char *step, char letter,
                         int x, int dy, int dx)
{
    char W_name[] = {'W', letter, '\0'};
    char b_name[] = {'b', letter, '\0'};
    int W = lab_build_find(b, W_name);
    int dW = lab_build_grad(b, W);
    int db = lab_build_grad(b, lab_build_find(b, b_name));
    struct lab_shape shape = lab_build_shape(b, x);
    double product = product_flop(b, x, last(&shape));
    char formula[160];
    snprintf(formula, sizeof(formula), "$o0[k,m] = sum_t $i1[t,k] $i0[t,m]%s%s",
             db >= 0 ? "; $o1[m] = sum_t $i0[t,m]" : "",
             dx >= 0 ? "; $o2[t,k] = sum_m $i0[t,m] $i2[k,m]" : "");
    lab_build_step(
        b, &(struct lab_step_def){
               .name = step,
               .phase = LAB_BACKWARD,
               .in = {dy, x, W},
               .n_in = 3,
               .out = {dW, db, dx},
               .n_out = 3,
               .flop = product * (dx >= 0 ? 2 : 1) +
                       (db >= 0 ? product / 2 / (double)last(&shape) : 0),
               .formula = formula,
               .explain = explain_project_back});
}

static bool input_fits(struct lab_builder *b, const struct lab_shape *shape)
{
    int64_t heads = lab_build_attr(b, "heads")->i;
    char text[LAB_SHAPE_TEXT];
    lab_shape_text(shape, text);
    if (shape->rank < 2 || shape->rank > 3)
        lab_build_fail(b, LAB_E_SHAPE, "reads %s; it takes [N,T,D] or [T,D]",
                       text);
    else if (last(shape) % heads != 0)
        lab_build_fail(b, LAB_E_SHAPE,
                       "reads %s: %lld heads do not divide its width %lld",
                       text, (long long)heads, (long long)last(shape));
    else
        return true;
    return false;
}

static struct lab_attend attend_of(const struct lab_builder *b)
{
    struct lab_attend t = {.q = lab_build_find(b, "q"),
                           .k = lab_build_find(b, "k"),
                           .v = lab_build_find(b, "v"),
                           .heads = lab_build_attr(b, "heads")->i,
                           .mask = LAB_NO_TENSOR,
                           .causal = lab_build_attr(b, "causal")->b};
    return t;
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    enum lab_dtype real = lab_build_real(b);
    if (!input_fits(b, &shape))
        return;
    for (int i = 0; i < 3; i++) {
        int y = lab_build_part(b, projections[i], &shape, real);
        project(b, projections[i], projections[i][0], x, y);
        if (i > 0)
            lab_build_input_use(b, 0);
    }
    struct lab_attend t = attend_of(b);
    int ctx = lab_build_part(b, "ctx", &shape, real);
    if (ctx < 0)
        return;
    lab_attend_forward(b, &t, ctx, true);
    project(b, "output", 'o', ctx, lab_build_out(b, &shape));
}

static void backward(struct lab_builder *b)
{
    struct lab_attend t = attend_of(b);
    int ctx = lab_build_find(b, "ctx");
    int dctx = lab_build_grad(b, ctx);
    project_back(b, "output", 'o', ctx, lab_build_out_grad(b), dctx);
    int d[] = {lab_build_grad(b, t.q), lab_build_grad(b, t.k),
               lab_build_grad(b, t.v)};
    lab_attend_backward(b, &t, dctx, d[0], d[1], d[2]);
    for (int i = 2; i >= 0; i--)
        project_back(b, projections[i], projections[i][0],
                     lab_build_input(b, 0), d[i], lab_build_input_grad(b, i));
}

static const struct lab_op_test_network trials[] = {
    {.in = {{3, {3, 5, 21}}}, .out = {3, {3, 5, 21}}, .keys = {{"heads", 3}}},
    {.in = {{3, {2, 33, 10}}},
     .out = {3, {2, 33, 10}},
     .keys = {{"heads", 2}, {"causal", 1}, {"bias", 0}}},
};

static const struct lab_part_axis axes[] = {
    {"scores", 2, 0}, {"scores", 1, 0}, {"probs", 2, 0}, {"probs", 1, 0}};

const struct lab_op_def lab_op_attention = {
    .name = "attention",
    .kind = LAB_KIND_LAYER,
    .keys = keys,
    .n_keys = 3,
    .min_inputs = 1,
    .max_inputs = 1,
    .forward = forward,
    .backward = backward,
    .group = lab_attend_group,
    .group_from = {[LAB_FORWARD] = "scores", [LAB_BACKWARD] = "context"},
    .group_steps = 3,
    .group_both = true,
    .trials = trials,
    .n_trials = 2,
    .axes = axes,
    .n_axes = 4};
