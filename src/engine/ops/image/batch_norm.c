/* batch_norm: every channel to mean 0 and variance 1 over the batch, then
 * scaled and shifted by what the network learns. Two statistics run along,
 * for use where there is no batch to measure. */
#include "batch_norm/batch_norm.h"

#include <stdio.h>

#include "engine/op.h"
#include "engine/plan.h"

static const struct lab_key_def keys[] = {
    {"eps", LAB_KEY_FLOAT, false, 1e-5, 0, 1},
    {"momentum", LAB_KEY_FLOAT, false, 0.1, 0, 1},
};

struct node {
    struct lab_batch_norm_params p;
    struct lab_shape shape;
    struct lab_shape channels;
    const char *axes; /* of x */
    double elements;  /* of x */
};

static bool node_of(struct lab_builder *b, struct node *n)
{
    char text[LAB_SHAPE_TEXT];
    n->shape = lab_build_shape(b, lab_build_input(b, 0));
    int rank = n->shape.rank;
    if (rank != 2 && rank != 4) {
        lab_build_fail(
            b, LAB_E_SHAPE,
            "[op.batch-norm.shape] reads %s; it takes [N,C] or images, %s",
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
    n->axes = rank == 2 ? "n,c" : nchw ? "n,c,h,w" : "n,h,w,c";
    if (lab_shape_count(&n->shape, &count))
        return false;
    n->elements = (double)count;
    if (count / C < 2) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.batch-norm.variance] reads %s: one number a "
                       "channel has no variance; the batch must be larger",
                       lab_shape_text(&n->shape, text));
        return false;
    }
    return true;
}

/* Outputs mean, rstd, running_mean and running_var, from output `mean` on, of
 * `E` values a channel. */
static void stats_formula(char *out, size_t cap, const char *before, int mean,
                          int64_t E)
{
    snprintf(out, cap,
             "%s$o%d[c] = mean $i0; $o%d[c] = 1/sqrt(mean ($i0 - $o%d[c])^2 + "
             "eps); $o%d[c] = (1 - momentum) * $o%d[c] + momentum * $o%d[c]; "
             "$o%d[c] = (1 - momentum) * $o%d[c] + momentum * mean ($i0 - "
             "$o%d[c])^2 * %lld/%lld",
             before, mean, mean + 1, mean, mean + 2, mean + 2, mean, mean + 3,
             mean + 3, mean, (long long)E, (long long)E - 1);
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
    char formula[LAB_GROUP_FORMULA];
    stats_formula(formula, sizeof(formula), "", 0,
                  (int64_t)n->elements / n->channels.dim[0]);
    lab_build_step(b,
                   &(struct lab_step_def){
                       .name = "stats",
                       LAB_IN(lab_build_input(b, 0)),
                       LAB_OUT(mean, rstd, running_mean, running_var),
                       LAB_PARAMS(n->p),
                       .flop = 4 * n->elements,
                       .formula = formula,
                       .display = "$o0[c] = mean of channel c of $i0; $o1[c] = "
                                  "1/sqrt(mean ($i0 - $o0[c])^2 + eps)",
                       .axes = n->axes});
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
               LAB_IN(x, lab_build_find(b, "mean"), lab_build_find(b, "rstd")),
               LAB_OUT(xhat),
               LAB_PARAMS(n.p),
               .formula = "$o0 = ($i0 - $i1[c]) ~ $i2[c]",
               .axes = n.axes,
               .names = "x mean rstd"});
    lab_build_step(
        b, &(struct lab_step_def){.name = "scale",
                                  LAB_IN(xhat, gamma, beta),
                                  LAB_OUT(out),
                                  LAB_PARAMS(n.p),
                                  .formula = "$o0 = $i0 ~ $i1[c] + $i2[c]",
                                  .axes = n.axes,
                                  .names = "xhat gamma beta"});
}

static void normalize_back(struct lab_builder *b, const struct node *n,
                           int dxhat, int dx)
{
    lab_build_step(
        b,
        &(struct lab_step_def){
            .name = "normalize",
            LAB_IN(dxhat, lab_build_find(b, "xhat"), lab_build_find(b, "rstd")),
            LAB_OUT(dx),
            LAB_PARAMS(n->p),
            .formula = "$o0 = $i2[c] ($i0 - mean $i0 - $i1 mean($i0 $i1)) "
                       "\"means over the channel\", means over the channel",
            .axes = n->axes,
            .names = "dxhat xhat rstd"});
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
            LAB_IN(lab_build_out_grad(b), xhat, gamma),
            LAB_OUT(dxhat, dgamma, dbeta),
            LAB_PARAMS(n.p),
            .formula = "$o0 = $i0 ~ $i2[c]; $o1[c] = sum $i0 ~ $i1; $o2[c] = "
                       "sum $i0, over the channel",
            .axes = n.axes,
            .names = "dy xhat gamma"});
    normalize_back(b, &n, dxhat, dx);
}

/* ---- the group: from x to y, and back, in one step each ---- */

static void group(const struct lab_plan *plan, const struct lab_node *node,
                  enum lab_phase phase, const struct lab_node *absorbed,
                  struct lab_group_step *out)
{
    const struct lab_step *stats = &plan->steps[node->first_step[LAB_FORWARD]];
    const struct lab_step *scale = stats + 2;
    const struct lab_step *back = &plan->steps[node->first_step[LAB_BACKWARD]];
    (void)absorbed;
    if (phase == LAB_FORWARD) {
        out->def = (struct lab_step_def){
            LAB_IN(stats->in[0], scale->in[1], scale->in[2]),
            LAB_OUT(scale->out[0], stats->out[0], stats->out[1], stats->out[2],
                    stats->out[3]),
            .formula = out->formula,
            .display = "$o0 = ($i0 - $o1[c]) $o2[c] $i1[c] + $i2[c]",
            .names = "x gamma beta"};
        stats_formula(out->formula, LAB_GROUP_FORMULA,
                      "$o0 = ($i0 - $o1[c]) $o2[c] $i1[c] + $i2[c]; ", 1,
                      plan->tensors[stats->in[0]].count /
                          plan->tensors[scale->in[1]].count);
    } else {
        bool dx = node->n_steps[LAB_BACKWARD] > 1;
        out->def = (struct lab_step_def){
            LAB_IN(back->in[0], stats->in[0], scale->in[1], stats->out[0],
                   stats->out[1]),
            LAB_OUT(dx ? back[1].out[0] : LAB_NO_TENSOR, back->out[1],
                    back->out[2]),
            .formula =
                "$o0 = $i4[c] $i2[c] ($i0 - mean $i0 - ($i1 - $i3[c]) $i4[c] "
                "mean($i0 ($i1 - $i3[c]) $i4[c])) \"means over the channel\"; "
                "$o1[c] = sum $i0 ($i1 - $i3[c]) $i4[c]; $o2[c] = sum $i0",
            .display =
                "xhat = ($i1 - $i3[c]) $i4[c]; $o1[c] = sum $i0 xhat; $o2[c] "
                "= sum $i0; the gradient of $i1 is $i4[c] $i2[c] ($i0 - mean "
                "$i0 - xhat mean($i0 xhat))",
            .names = "dy x gamma mean rstd"};
    }
    out->def.name = node->op->name;
    out->def.axes = stats->axes;
    out->def.flop = lab_group_flop(plan, node, phase);
    lab_group_params(out, stats->params, sizeof(struct lab_batch_norm_params));
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

const struct lab_op_def lab_op_batch_norm = {LAB_LAYER_OP("batch_norm", 1, 1),
                                             LAB_KEYS(keys),
                                             .takes_images = true,
                                             .check = check,
                                             .group = group,
                                             .group_both = true};
