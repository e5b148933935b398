/* layer_norm: each row to mean 0 and variance 1, then scaled and shifted by
 * what the network learns. */
#include "layer_norm/layer_norm.h"

#include <math.h>

#include "engine/explain.h"
#include "engine/op.h"

static const struct lab_key_def keys[] = {
    {"eps", LAB_KEY_FLOAT, false, 1e-5, 0, 1},
};

static int64_t width(const struct lab_shape *s)
{
    return s->dim[s->rank - 1];
}

/* ---- explanations ---- */

static double row_mean(struct lab_explainer *ex, int64_t row, int64_t D)
{
    double sum = 0;
    for (int64_t d = 0; d < D; d++)
        sum += lab_explain_in(ex, 0, row * D + d);
    return sum / (double)D;
}

static void explain_stats(struct lab_explainer *ex, int out_slot, int64_t row)
{
    const struct lab_layer_norm_params *p = lab_explain_params(ex);
    int64_t D = width(lab_explain_in_shape(ex, 0));
    double mean = row_mean(ex, row, D);
    double square = 0;
    char at[LAB_SHAPE_TEXT];
    lab_explain_row(lab_explain_in_shape(ex, 0), row * D, at);
    for (int64_t d = 0; d < D; d++) {
        double x = lab_explain_in(ex, 0, row * D + d);
        square += (x - mean) * (x - mean);
        if (out_slot == 0) {
            lab_explain_term(ex, x / (double)D, "%.6g/%lld", x, (long long)D);
            lab_explain_source(ex, 0, row * D + d);
        }
    }
    if (out_slot == 0) {
        lab_explain_symbolic(ex, "sum_d %s[%sd] / %lld",
                             lab_explain_in_name(ex, 0), at, (long long)D);
        return;
    }
    double variance = square / (double)D;
    for (int64_t d = 0; d < D && d < 3; d++)
        lab_explain_source(ex, 0, row * D + d);
    lab_explain_symbolic(ex, "1/sqrt(sum_d (%s[%sd] - mean)^2 / %lld + eps)",
                         lab_explain_in_name(ex, 0), at, (long long)D);
    lab_explain_numeric(ex, "1/sqrt(%.6g + %g)", variance, p->eps);
    lab_explain_where(ex, "mean = %.6g; eps = %g", mean, p->eps);
    lab_explain_value(ex, 1 / sqrt(variance + p->eps));
}

static void explain_normalize(struct lab_explainer *ex, int out_slot,
                              int64_t index)
{
    int64_t row = index / width(lab_explain_out_shape(ex, out_slot));
    double x = lab_explain_in(ex, 0, index);
    double mean = lab_explain_in(ex, 1, row);
    double rstd = lab_explain_in(ex, 2, row);
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, row);
    lab_explain_source(ex, 2, row);
    lab_explain_symbolic(ex, "(x - mean) * rstd");
    lab_explain_numeric(ex, "(%.6g - %.6g) * %.6g", x, mean, rstd);
    lab_explain_let(ex, "x", 0, index);
    lab_explain_let(ex, "mean", 1, row);
    lab_explain_let(ex, "rstd", 2, row);
    lab_explain_value(ex, (x - mean) * rstd);
}

static void explain_scale(struct lab_explainer *ex, int out_slot, int64_t index)
{
    int64_t d = index % width(lab_explain_out_shape(ex, out_slot));
    double xhat = lab_explain_in(ex, 0, index);
    double gamma = lab_explain_in(ex, 1, d);
    double beta = lab_explain_in(ex, 2, d);
    lab_explain_symbolic(ex, "xhat * gamma + beta");
    lab_explain_let(ex, "xhat", 0, index);
    lab_explain_let(ex, "gamma", 1, d);
    lab_explain_let(ex, "beta", 2, d);
    lab_explain_term(ex, xhat * gamma, "%.6g*%.6g", xhat, gamma);
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, d);
    lab_explain_term(ex, beta, "%.6g", beta);
    lab_explain_source(ex, 2, d);
}

/* in: dy, xhat, gamma; out: dxhat, dgamma, dbeta */
static void explain_scale_back(struct lab_explainer *ex, int out_slot,
                               int64_t index)
{
    const struct lab_shape *dy_shape = lab_explain_in_shape(ex, 0);
    int64_t D = width(dy_shape);
    int64_t rows = 1;
    for (int i = 0; i + 1 < dy_shape->rank; i++)
        rows *= dy_shape->dim[i];
    if (out_slot == 0) {
        double dy = lab_explain_in(ex, 0, index);
        double gamma = lab_explain_in(ex, 2, index % D);
        lab_explain_symbolic(ex, "dy * gamma");
        lab_explain_let(ex, "dy", 0, index);
        lab_explain_let(ex, "gamma", 2, index % D);
        lab_explain_term(ex, dy * gamma, "%.6g*%.6g", dy, gamma);
        lab_explain_source(ex, 0, index);
        lab_explain_source(ex, 2, index % D);
        return;
    }
    lab_explain_symbolic(ex,
                         out_slot == 1 ? "sum_r dy[r,%lld] * xhat[r,%lld]"
                                       : "sum_r dy[r,%lld]",
                         (long long)index, (long long)index);
    lab_explain_where(ex, "dy is %s, r a row of it",
                      lab_explain_in_name(ex, 0));
    if (out_slot == 1)
        lab_explain_where(ex, "xhat is %s", lab_explain_in_name(ex, 1));
    for (int64_t r = 0; r < rows; r++) {
        double dy = lab_explain_in(ex, 0, r * D + index);
        double xhat = lab_explain_in(ex, 1, r * D + index);
        if (out_slot == 1)
            lab_explain_term(ex, dy * xhat, "%.6g*%.6g", dy, xhat);
        else
            lab_explain_term(ex, dy, "%.6g", dy);
        lab_explain_source(ex, 0, r * D + index);
        if (out_slot == 1)
            lab_explain_source(ex, 1, r * D + index);
    }
}

/* in: dxhat, xhat, rstd */
static void explain_normalize_back(struct lab_explainer *ex, int out_slot,
                                   int64_t index)
{
    int64_t D = width(lab_explain_out_shape(ex, out_slot));
    int64_t row = index / D;
    double sum = 0;
    double dot = 0;
    for (int64_t d = 0; d < D; d++) {
        double g = lab_explain_in(ex, 0, row * D + d);
        sum += g;
        dot += g * lab_explain_in(ex, 1, row * D + d);
    }
    double g = lab_explain_in(ex, 0, index);
    double xhat = lab_explain_in(ex, 1, index);
    double rstd = lab_explain_in(ex, 2, row);
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, index);
    lab_explain_source(ex, 2, row);
    lab_explain_symbolic(
        ex, "rstd (dxhat - mean(dxhat) - xhat mean(dxhat xhat)), means over "
            "the row");
    lab_explain_let(ex, "rstd", 2, row);
    lab_explain_let(ex, "dxhat", 0, index);
    lab_explain_let(ex, "xhat", 1, index);
    lab_explain_where(ex, "mean(dxhat) = %.6g; mean(dxhat xhat) = %.6g",
                      sum / (double)D, dot / (double)D);
    lab_explain_numeric(ex, "%.6g (%.6g - %.6g - %.6g * %.6g)", rstd, g,
                        sum / (double)D, xhat, dot / (double)D);
    lab_explain_value(ex,
                      rstd * (g - sum / (double)D - xhat * dot / (double)D));
}

/* ---- steps ---- */

struct parts {
    int x, mean, rstd, xhat, gamma, beta;
    double elements;
};

static void forward_steps(struct lab_builder *b, const struct parts *t,
                          const struct lab_layer_norm_params *p)
{
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "stats",
               .phase = LAB_FORWARD,
               .in = {t->x},
               .n_in = 1,
               .out = {t->mean, t->rstd},
               .n_out = 2,
               .params = p,
               .params_bytes = sizeof(*p),
               .flop = 4 * t->elements,
               .formula = "$o0[r] = mean_d $i0[r,d]; $o1[r] = 1/sqrt(mean_d "
                          "($i0[r,d] - $o0[r])^2 + eps)",
               .explain = explain_stats});
    lab_build_step(b, &(struct lab_step_def){
                          .name = "normalize",
                          .phase = LAB_FORWARD,
                          .in = {t->x, t->mean, t->rstd},
                          .n_in = 3,
                          .out = {t->xhat},
                          .n_out = 1,
                          .flop = 2 * t->elements,
                          .formula = "$o0[r,d] = ($i0[r,d] - $i1[r]) $i2[r]",
                          .explain = explain_normalize});
    lab_build_step(b, &(struct lab_step_def){
                          .name = "scale",
                          .phase = LAB_FORWARD,
                          .in = {t->xhat, t->gamma, t->beta},
                          .n_in = 3,
                          .out = {lab_build_find(b, "out")},
                          .n_out = 1,
                          .flop = 2 * t->elements,
                          .formula = "$o0[r,d] = $i0[r,d] $i1[d] + $i2[d]",
                          .explain = explain_scale});
}

static void forward(struct lab_builder *b)
{
    struct parts t = {.x = lab_build_input(b, 0)};
    struct lab_shape shape = lab_build_shape(b, t.x);
    struct lab_layer_norm_params p = {lab_build_attr(b, "eps")->f};
    int64_t n = 0;
    if (shape.rank < 1 || lab_shape_count(&shape, &n)) {
        lab_build_fail(b, LAB_E_SHAPE, "reads a scalar; it takes [.., D]");
        return;
    }
    struct lab_shape rows = shape;
    rows.rank--;
    struct lab_shape features = {1, {width(&shape)}};
    enum lab_dtype real = lab_build_real(b);
    t.elements = (double)n;
    t.gamma = lab_build_param(b, "gamma", &features, LAB_INIT_ONE);
    t.beta = lab_build_param(b, "beta", &features, LAB_INIT_ZERO);
    t.mean = lab_build_part(b, "mean", &rows, real);
    t.rstd = lab_build_part(b, "rstd", &rows, real);
    t.xhat = lab_build_part(b, "xhat", &shape, real);
    if (lab_build_out(b, &shape) >= 0)
        forward_steps(b, &t, &p);
}

static void backward(struct lab_builder *b)
{
    int dy = lab_build_out_grad(b);
    int xhat = lab_build_find(b, "xhat");
    int gamma = lab_build_find(b, "gamma");
    struct lab_shape shape = lab_build_shape(b, xhat);
    int64_t n = 0;
    if (lab_shape_count(&shape, &n))
        return;
    int dx = lab_build_input_grad(b, 0);
    int dxhat = lab_build_grad(b, xhat); /* also where nobody wants dx */
    int dgamma = lab_build_grad(b, gamma);
    int dbeta = lab_build_grad(b, lab_build_find(b, "beta"));
    lab_build_step(b, &(struct lab_step_def){
                          .name = "scale",
                          .phase = LAB_BACKWARD,
                          .in = {dy, xhat, gamma},
                          .n_in = 3,
                          .out = {dxhat, dgamma, dbeta},
                          .n_out = 3,
                          .flop = 4.0 * (double)n,
                          .formula = "$o0 = $i0 $i2; $o1[d] = sum_r $i0 $i1; "
                                     "$o2[d] = sum_r $i0",
                          .explain = explain_scale_back});
    if (dx < 0)
        return;
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "normalize",
               .phase = LAB_BACKWARD,
               .in = {dxhat, xhat, lab_build_find(b, "rstd")},
               .n_in = 3,
               .out = {dx},
               .n_out = 1,
               .flop = 7.0 * (double)n,
               .formula = "$o0 = $i2 ($i0 - mean_d $i0 - $i1 mean_d($i0 $i1))",
               .explain = explain_normalize_back});
}

const struct lab_op_def lab_op_layer_norm = {.name = "layer_norm",
                                             .kind = LAB_KIND_LAYER,
                                             .keys = keys,
                                             .n_keys = 1,
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .forward = forward,
                                             .backward = backward};
