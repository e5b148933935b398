/* batch_norm: every channel to mean 0 and variance 1 over the batch, then
 * scaled and shifted by what the network learns. Two statistics run along,
 * for use where there is no batch to measure. */
#include "batch_norm/batch_norm.h"

#include <math.h>

#include "batch_norm_group.h"
#include "engine/explain.h"
#include "engine/op.h"
#include "engine/plan.h"

static const struct lab_key_def keys[] = {
    {"eps", LAB_KEY_FLOAT, false, 1e-5, 0, 1},
    {"momentum", LAB_KEY_FLOAT, false, 0.1, 0, 1},
};

/* ---- explanations ---- */

/* A channel's elements, by number. */
struct channel {
    int64_t c;
    int64_t C;
    int64_t inner;
    int64_t elements;
};

static struct channel channel_of(const struct lab_explainer *ex, int slot,
                                 int64_t C, int64_t c)
{
    const struct lab_batch_norm_params *p = lab_explain_params(ex);
    struct channel ch = {.c = c, .C = C, .inner = p->inner};
    int64_t count = 0;
    if (!lab_shape_count(lab_explain_in_shape(ex, slot), &count))
        ch.elements = count / C;
    return ch;
}

static int64_t element_of(const struct channel *ch, int64_t k)
{
    return (k / ch->inner * ch->C + ch->c) * ch->inner + k % ch->inner;
}

/* The channel of a flat index. */
static int64_t channel_at(const struct lab_explainer *ex, int64_t index,
                          int64_t C)
{
    const struct lab_batch_norm_params *p = lab_explain_params(ex);
    return index / p->inner % C;
}

static double mean_of(struct lab_explainer *ex, const struct channel *ch,
                      int slot)
{
    double sum = 0;
    for (int64_t k = 0; k < ch->elements; k++)
        sum += lab_explain_in(ex, slot, element_of(ch, k));
    return sum / (double)ch->elements;
}

static double variance_of(struct lab_explainer *ex, const struct channel *ch,
                          double mean)
{
    double sum = 0;
    for (int64_t k = 0; k < ch->elements; k++) {
        double off = lab_explain_in(ex, 0, element_of(ch, k)) - mean;
        sum += off * off;
    }
    return sum / (double)ch->elements;
}

/* running_mean, or running_var: the statistic runs along in out_slot. */
static void explain_running(struct lab_explainer *ex, bool variance,
                            int out_slot, int64_t c, double stat, double E)
{
    const struct lab_batch_norm_params *p = lab_explain_params(ex);
    double m = p->momentum;
    double old = lab_explain_old(ex, out_slot, c);
    lab_explain_symbolic(ex,
                         variance ? "(1 - %g) old + %g variance[%lld] E/(E-1)"
                                  : "(1 - %g) old + %g mean[%lld]",
                         m, m, (long long)c);
    lab_explain_let_old(ex, "old", out_slot, c);
    if (variance)
        lab_explain_where(ex,
                          "variance[%lld] = %.6g, over the E = %lld values of "
                          "the channel",
                          (long long)c, stat * (E - 1) / E, (long long)E);
    else
        lab_explain_where(ex, "mean[%lld] = %.6g", (long long)c, stat);
    lab_explain_term(ex, (1 - m) * old, "%.6g*%.6g", 1 - m, old);
    lab_explain_term(ex, m * stat, "%.6g*%.6g", m, stat);
}

static void explain_mean(struct lab_explainer *ex, const struct channel *ch)
{
    lab_explain_symbolic(ex, "sum of channel %lld of %s / %lld",
                         (long long)ch->c, lab_explain_in_name(ex, 0),
                         (long long)ch->elements);
    for (int64_t k = 0; k < ch->elements; k++) {
        double x = lab_explain_in(ex, 0, element_of(ch, k));
        lab_explain_term(ex, x / (double)ch->elements, "%.6g/%lld", x,
                         (long long)ch->elements);
        lab_explain_source(ex, 0, element_of(ch, k));
    }
}

/* which: 0 mean, 1 rstd, 2 running_mean, 3 running_var */
static void explain_statistic(struct lab_explainer *ex, int which, int out_slot,
                              int64_t c)
{
    const struct lab_batch_norm_params *p = lab_explain_params(ex);
    const struct lab_shape *C = lab_explain_out_shape(ex, out_slot);
    struct channel ch = channel_of(ex, 0, C->dim[0], c);
    double E = (double)ch.elements;
    double mean = mean_of(ex, &ch, 0);
    if (which == 0) {
        explain_mean(ex, &ch);
        return;
    }
    if (which == 2) {
        explain_running(ex, false, out_slot, c, mean, E);
        return;
    }
    double variance = variance_of(ex, &ch, mean);
    if (which == 3) {
        explain_running(ex, true, out_slot, c, variance * E / (E - 1), E);
        return;
    }
    for (int64_t k = 0; k < ch.elements && k < LAB_TERM_SOURCES; k++)
        lab_explain_source(ex, 0, element_of(&ch, k));
    lab_explain_symbolic(ex, "1/sqrt(sum (%s - mean[%lld])^2 / %lld + eps)",
                         lab_explain_in_name(ex, 0), (long long)c,
                         (long long)ch.elements);
    lab_explain_numeric(ex, "1/sqrt(%.6g + %g)", variance, p->eps);
    lab_explain_where(ex,
                      "the sum is over channel %lld; mean[%lld] = %.6g; "
                      "eps = %g",
                      (long long)c, (long long)c, mean, p->eps);
    lab_explain_value(ex, 1 / sqrt(variance + p->eps));
}

static void explain_stats(struct lab_explainer *ex, int out_slot, int64_t c)
{
    explain_statistic(ex, out_slot, out_slot, c);
}

static void explain_normalize(struct lab_explainer *ex, int out_slot,
                              int64_t index)
{
    int64_t c = channel_at(ex, index, lab_explain_in_shape(ex, 1)->dim[0]);
    double x = lab_explain_in(ex, 0, index);
    double mean = lab_explain_in(ex, 1, c);
    double rstd = lab_explain_in(ex, 2, c);
    (void)out_slot;
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, c);
    lab_explain_source(ex, 2, c);
    lab_explain_symbolic(ex, "(x - mean) * rstd");
    lab_explain_numeric(ex, "(%.6g - %.6g) * %.6g", x, mean, rstd);
    lab_explain_let(ex, "x", 0, index);
    lab_explain_let(ex, "mean", 1, c);
    lab_explain_let(ex, "rstd", 2, c);
    lab_explain_value(ex, (x - mean) * rstd);
}

static void explain_scale(struct lab_explainer *ex, int out_slot, int64_t index)
{
    int64_t c = channel_at(ex, index, lab_explain_in_shape(ex, 1)->dim[0]);
    double xhat = lab_explain_in(ex, 0, index);
    double gamma = lab_explain_in(ex, 1, c);
    double beta = lab_explain_in(ex, 2, c);
    (void)out_slot;
    lab_explain_symbolic(ex, "xhat * gamma + beta");
    lab_explain_let(ex, "xhat", 0, index);
    lab_explain_let(ex, "gamma", 1, c);
    lab_explain_let(ex, "beta", 2, c);
    lab_explain_term(ex, xhat * gamma, "%.6g*%.6g", xhat, gamma);
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, c);
    lab_explain_term(ex, beta, "%.6g", beta);
    lab_explain_source(ex, 2, c);
}

/* in: dy, xhat, gamma; out: dxhat, dgamma, dbeta */
static void explain_scale_back(struct lab_explainer *ex, int out_slot,
                               int64_t index)
{
    int64_t C = lab_explain_in_shape(ex, 2)->dim[0];
    if (out_slot == 0) {
        int64_t c = channel_at(ex, index, C);
        double dy = lab_explain_in(ex, 0, index);
        double gamma = lab_explain_in(ex, 2, c);
        lab_explain_symbolic(ex, "dy * gamma");
        lab_explain_let(ex, "dy", 0, index);
        lab_explain_let(ex, "gamma", 2, c);
        lab_explain_term(ex, dy * gamma, "%.6g*%.6g", dy, gamma);
        lab_explain_source(ex, 0, index);
        lab_explain_source(ex, 2, c);
        return;
    }
    struct channel ch = channel_of(ex, 0, C, index);
    lab_explain_symbolic(ex,
                         out_slot == 1 ? "sum over channel %lld of dy * xhat"
                                       : "sum over channel %lld of dy",
                         (long long)index);
    lab_explain_where(ex, "dy is %s", lab_explain_in_name(ex, 0));
    if (out_slot == 1)
        lab_explain_where(ex, "xhat is %s", lab_explain_in_name(ex, 1));
    for (int64_t k = 0; k < ch.elements; k++) {
        int64_t i = element_of(&ch, k);
        double dy = lab_explain_in(ex, 0, i);
        double xhat = lab_explain_in(ex, 1, i);
        if (out_slot == 1)
            lab_explain_term(ex, dy * xhat, "%.6g*%.6g", dy, xhat);
        else
            lab_explain_term(ex, dy, "%.6g", dy);
        lab_explain_source(ex, 0, i);
        if (out_slot == 1)
            lab_explain_source(ex, 1, i);
    }
}

/* in: dxhat, xhat, rstd */
static void explain_normalize_back(struct lab_explainer *ex, int out_slot,
                                   int64_t index)
{
    int64_t C = lab_explain_in_shape(ex, 2)->dim[0];
    struct channel ch = channel_of(ex, 0, C, channel_at(ex, index, C));
    double dot = 0;
    (void)out_slot;
    for (int64_t k = 0; k < ch.elements; k++) {
        int64_t i = element_of(&ch, k);
        dot += lab_explain_in(ex, 0, i) * lab_explain_in(ex, 1, i);
    }
    dot /= (double)ch.elements;
    double mean = mean_of(ex, &ch, 0);
    double g = lab_explain_in(ex, 0, index);
    double xhat = lab_explain_in(ex, 1, index);
    double rstd = lab_explain_in(ex, 2, ch.c);
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, index);
    lab_explain_source(ex, 2, ch.c);
    lab_explain_symbolic(ex, "rstd (dxhat - mean(dxhat) - xhat "
                             "mean(dxhat xhat)), means over the channel");
    lab_explain_numeric(ex, "%.6g (%.6g - %.6g - %.6g * %.6g)", rstd, g, mean,
                        xhat, dot);
    lab_explain_let(ex, "rstd", 2, ch.c);
    lab_explain_let(ex, "dxhat", 0, index);
    lab_explain_let(ex, "xhat", 1, index);
    lab_explain_where(ex, "mean(dxhat) = %.6g; mean(dxhat xhat) = %.6g", mean,
                      dot);
    lab_explain_value(ex, rstd * (g - mean - xhat * dot));
}

/* ---- steps ---- */

struct node {
    struct lab_batch_norm_params p;
    struct lab_shape shape;
    struct lab_shape channels;
    double elements; /* of x */
};

static bool node_of(struct lab_builder *b, struct node *n)
{
    char text[LAB_SHAPE_TEXT];
    n->shape = lab_build_shape(b, lab_build_input(b, 0));
    int rank = n->shape.rank;
    if (rank != 2 && rank != 4) {
        lab_build_fail(b, LAB_E_SHAPE, "reads %s; it takes [N,C] or images, %s",
                       lab_shape_text(&n->shape, text),
                       lab_build_nhwc(b) ? "[N,H,W,C]" : "[N,C,H,W]");
        return false;
    }
    bool nchw = rank == 4 && !lab_build_nhwc(b);
    int64_t C = n->shape.dim[nchw ? 1 : rank - 1];
    int64_t count = 0;
    n->p.eps = lab_build_attr(b, "eps")->f;
    n->p.momentum = lab_build_attr(b, "momentum")->f;
    n->p.inner = nchw ? n->shape.dim[2] * n->shape.dim[3] : 1;
    n->channels = (struct lab_shape){1, {C}};
    if (lab_shape_count(&n->shape, &count))
        return false;
    n->elements = (double)count;
    if (count / C < 2) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "reads %s: one number a channel has no variance; the "
                       "batch must be larger",
                       lab_shape_text(&n->shape, text));
        return false;
    }
    return true;
}

static void stats_step(struct lab_builder *b, const struct node *n)
{
    enum lab_dtype real = lab_build_real(b);
    int mean = lab_build_part(b, "mean", &n->channels, real);
    int rstd = lab_build_part(b, "rstd", &n->channels, real);
    int running_mean =
        lab_build_node_state(b, "running_mean", &n->channels, LAB_INIT_ZERO);
    int running_var =
        lab_build_node_state(b, "running_var", &n->channels, LAB_INIT_ONE);
    lab_build_step(b,
                   &(struct lab_step_def){
                       .name = "stats",
                       .phase = LAB_FORWARD,
                       .in = {lab_build_input(b, 0)},
                       .n_in = 1,
                       .out = {mean, rstd, running_mean, running_var},
                       .n_out = 4,
                       .params = &n->p,
                       .params_bytes = sizeof(n->p),
                       .flop = 4 * n->elements,
                       .formula = "$o0[c] = mean of channel c of $i0; $o1[c] = "
                                  "1/sqrt(mean ($i0 - $o0[c])^2 + eps)",
                       .explain = explain_stats});
}

static void forward(struct lab_builder *b)
{
    struct node n;
    if (!node_of(b, &n))
        return;
    int x = lab_build_input(b, 0);
    int gamma = lab_build_param(b, "gamma", &n.channels, LAB_INIT_ONE);
    int beta = lab_build_param(b, "beta", &n.channels, LAB_INIT_ZERO);
    stats_step(b, &n);
    int xhat = lab_build_part(b, "xhat", &n.shape, lab_build_real(b));
    int out = lab_build_out(b, &n.shape);
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "normalize",
               .phase = LAB_FORWARD,
               .in = {x, lab_build_find(b, "mean"), lab_build_find(b, "rstd")},
               .n_in = 3,
               .out = {xhat},
               .n_out = 1,
               .params = &n.p,
               .params_bytes = sizeof(n.p),
               .flop = 2 * n.elements,
               .formula = "$o0 = ($i0 - $i1[c]) $i2[c]",
               .explain = explain_normalize});
    lab_build_step(
        b, &(struct lab_step_def){.name = "scale",
                                  .phase = LAB_FORWARD,
                                  .in = {xhat, gamma, beta},
                                  .n_in = 3,
                                  .out = {out},
                                  .n_out = 1,
                                  .params = &n.p,
                                  .params_bytes = sizeof(n.p),
                                  .flop = 2 * n.elements,
                                  .formula = "$o0 = $i0 $i1[c] + $i2[c]",
                                  .explain = explain_scale});
}

static void normalize_back(struct lab_builder *b, const struct node *n,
                           int dxhat, int dx)
{
    lab_build_step(
        b,
        &(struct lab_step_def){
            .name = "normalize",
            .phase = LAB_BACKWARD,
            .in = {dxhat, lab_build_find(b, "xhat"), lab_build_find(b, "rstd")},
            .n_in = 3,
            .out = {dx},
            .n_out = 1,
            .params = &n->p,
            .params_bytes = sizeof(n->p),
            .flop = 7 * n->elements,
            .formula = "$o0 = $i2[c] ($i0 - mean $i0 - $i1 mean($i0 $i1)), "
                       "means over the channel",
            .explain = explain_normalize_back});
}

static void backward(struct lab_builder *b)
{
    struct node n;
    if (!node_of(b, &n))
        return;
    int xhat = lab_build_find(b, "xhat");
    int gamma = lab_build_find(b, "gamma");
    int dx = lab_build_input_grad(b, 0);
    int dxhat = dx >= 0 ? lab_build_grad(b, xhat) : LAB_NO_TENSOR;
    int dgamma = lab_build_grad(b, gamma);
    int dbeta = lab_build_grad(b, lab_build_find(b, "beta"));
    lab_build_step(
        b,
        &(struct lab_step_def){
            .name = "scale",
            .phase = LAB_BACKWARD,
            .in = {lab_build_out_grad(b), xhat, gamma},
            .n_in = 3,
            .out = {dxhat, dgamma, dbeta},
            .n_out = 3,
            .params = &n.p,
            .params_bytes = sizeof(n.p),
            .flop = (dx >= 0 ? 4 : 3) * n.elements,
            .formula = dx >= 0 ? "$o0 = $i0 $i2[c]; $o1[c] = sum $i0 $i1; "
                                 "$o2[c] = sum $i0, over the channel"
                               : "$o1[c] = sum $i0 $i1; $o2[c] = sum $i0, over "
                                 "the channel",
            .explain = explain_scale_back});
    if (dx >= 0)
        normalize_back(b, &n, dxhat, dx);
}

/* ---- the group: from x to y, and back, without what lies between ---- */

/* in: x, gamma, beta; out: y, mean, rstd, running_mean, running_var */
void lab_batch_norm_explain_group(struct lab_explainer *ex, int out_slot,
                                  int64_t index)
{
    const struct lab_batch_norm_params *p = lab_explain_params(ex);
    if (out_slot > 0) {
        explain_statistic(ex, out_slot - 1, out_slot, index);
        return;
    }
    int64_t C = lab_explain_in_shape(ex, 1)->dim[0];
    struct channel ch = channel_of(ex, 0, C, channel_at(ex, index, C));
    double mean = mean_of(ex, &ch, 0);
    double rstd = 1 / sqrt(variance_of(ex, &ch, mean) + p->eps);
    double x = lab_explain_in(ex, 0, index);
    double gamma = lab_explain_in(ex, 1, ch.c);
    double beta = lab_explain_in(ex, 2, ch.c);
    for (int slot = 0; slot < 3; slot++)
        lab_explain_source(ex, slot, slot == 0 ? index : ch.c);
    lab_explain_symbolic(ex, "(x - mean) rstd gamma + beta");
    lab_explain_let(ex, "x", 0, index);
    lab_explain_where(ex, "mean = %.6g and rstd = %.6g of channel %lld", mean,
                      rstd, (long long)ch.c);
    lab_explain_let(ex, "gamma", 1, ch.c);
    lab_explain_let(ex, "beta", 2, ch.c);
    lab_explain_numeric(ex, "(%.6g - %.6g) %.6g %.6g + %.6g", x, mean, rstd,
                        gamma, beta);
    lab_explain_value(ex, (x - mean) * rstd * gamma + beta);
}

/* in: dy, x, gamma, mean, rstd; out: dx, dgamma, dbeta */
void lab_batch_norm_explain_group_back(struct lab_explainer *ex, int out_slot,
                                       int64_t index)
{
    int64_t C = lab_explain_in_shape(ex, 2)->dim[0];
    struct channel ch =
        channel_of(ex, 0, C, out_slot > 0 ? index : channel_at(ex, index, C));
    double mean = lab_explain_in(ex, 3, ch.c);
    double rstd = lab_explain_in(ex, 4, ch.c);
    double dy_sum = 0;
    double dot = 0;
    for (int64_t k = 0; k < ch.elements; k++) {
        int64_t i = element_of(&ch, k);
        double dy = lab_explain_in(ex, 0, i);
        double xhat = (lab_explain_in(ex, 1, i) - mean) * rstd;
        dy_sum += dy;
        dot += dy * xhat;
        if (out_slot > 0)
            lab_explain_term(ex, out_slot == 1 ? dy * xhat : dy,
                             out_slot == 1 ? "%.6g*%.6g" : "%.6g", dy, xhat);
        if (out_slot > 0)
            lab_explain_source(ex, 0, i);
    }
    if (out_slot > 0) {
        lab_explain_symbolic(ex, "sum over channel %lld of dy%s",
                             (long long)ch.c,
                             out_slot == 1 ? " * (x - mean) rstd" : "");
        lab_explain_where(ex, "dy is %s", lab_explain_in_name(ex, 0));
        if (out_slot == 1)
            lab_explain_where(ex, "x is %s; mean = %.6g; rstd = %.6g",
                              lab_explain_in_name(ex, 1), mean, rstd);
        return;
    }
    double E = (double)ch.elements;
    double gamma = lab_explain_in(ex, 2, ch.c);
    double dy = lab_explain_in(ex, 0, index);
    double xhat = (lab_explain_in(ex, 1, index) - mean) * rstd;
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, index);
    lab_explain_symbolic(ex, "rstd gamma (dy - mean(dy) - xhat mean(dy xhat)), "
                             "means over the channel");
    lab_explain_numeric(ex, "%.6g %.6g (%.6g - %.6g - %.6g * %.6g)", rstd,
                        gamma, dy, dy_sum / E, xhat, dot / E);
    lab_explain_let(ex, "rstd", 4, ch.c);
    lab_explain_let(ex, "gamma", 2, ch.c);
    lab_explain_let(ex, "dy", 0, index);
    lab_explain_where(ex, "xhat = (x - mean) rstd = %.6g", xhat);
    lab_explain_let(ex, "x", 1, index);
    lab_explain_let(ex, "mean", 3, ch.c);
    lab_explain_where(ex, "mean(dy) = %.6g; mean(dy xhat) = %.6g", dy_sum / E,
                      dot / E);
    lab_explain_value(ex, rstd * gamma * (dy - dy_sum / E - xhat * dot / E));
}

static bool check(int turn, struct lab_op_check *c)
{
    static const struct lab_shape shapes[] = {
        {2, {5, 7}}, {4, {2, 3, 5, 7}}, {4, {2, 5, 7, 3}}};
    if (turn >= 3)
        return false;
    c->x = shapes[turn];
    c->nhwc = turn == 2;
    c->attr[1].f = 0.3; /* momentum */
    return true;
}

const struct lab_op_def lab_op_batch_norm = {.name = "batch_norm",
                                             .kind = LAB_KIND_LAYER,
                                             .keys = keys,
                                             .n_keys = 2,
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .takes_images = true,
                                             .forward = forward,
                                             .backward = backward,
                                             .check = check,
                                             .group = lab_batch_norm_group,
                                             .group_both = true};
