/* layer_norm: each row to mean 0 and variance 1, then scaled and shifted by
 * what the network learns. */
#include "layer_norm/layer_norm.h"

#include "engine/op.h"

static const struct lab_key_def keys[] = {
    {"eps", LAB_KEY_FLOAT, false, 1e-5, 0, 1},
};

static int64_t width(const struct lab_shape *s)
{
    return s->dim[s->rank - 1];
}

struct parts {
    int x, mean, rstd, xhat, gamma, beta;
};

static void forward_steps(struct lab_builder *b, const struct parts *t,
                          const struct lab_layer_norm_params *p)
{
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "stats",
               LAB_IN(t->x),
               LAB_OUT(t->mean, t->rstd),
               .params = p,
               .params_bytes = sizeof(*p),
               .flop_each = 4,
               .formula = "$o0[r] = mean_d $i0[r,d]; $o1[r] = 1/sqrt(mean_d "
                          "($i0[r,d] - $o0[r])^2 + eps)"});
    lab_build_step(b, &(struct lab_step_def){
                          .name = "normalize",
                          LAB_IN(t->x, t->mean, t->rstd),
                          LAB_OUT(t->xhat),
                          .formula = "$o0[r,d] = ($i0[r,d] - $i1[r]) ~ $i2[r]",
                          .names = "x mean rstd"});
    lab_build_step(b, &(struct lab_step_def){
                          .name = "scale",
                          LAB_IN(t->xhat, t->gamma, t->beta),
                          LAB_OUT(lab_build_find(b, "out")),
                          .formula = "$o0[r,d] = $i0[r,d] ~ $i1[d] + $i2[d]",
                          .names = "xhat gamma beta"});
}

static void forward(struct lab_builder *b)
{
    struct parts t = {.x = lab_build_input(b, 0)};
    struct lab_shape shape = lab_build_shape(b, t.x);
    struct lab_layer_norm_params p = {lab_build_attr(b, "eps")->f};
    if (shape.rank < 1) {
        lab_build_fail(
            b, LAB_E_SHAPE,
            "[op.layer-norm.shape] reads a scalar; it takes [.., D]");
        return;
    }
    struct lab_shape rows = shape;
    rows.rank--;
    struct lab_shape features = {1, {width(&shape)}};
    enum lab_dtype real = lab_build_real(b);
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
    int dx = lab_build_input_grad(b, 0);
    int dxhat = lab_build_grad(b, xhat); /* also where dx is not wanted */
    int dgamma = lab_build_grad(b, gamma);
    int dbeta = lab_build_grad(b, lab_build_find(b, "beta"));
    lab_build_step(b, &(struct lab_step_def){
                          .name = "scale",
                          LAB_IN(dy, xhat, gamma),
                          LAB_OUT(dxhat, dgamma, dbeta),
                          .formula = "$o0 = $i0 ~ $i2; $o1[d] = sum_r $i0 ~ "
                                     "$i1; $o2[d] = sum_r $i0",
                          .axes = "r,d",
                          .names = "dy xhat gamma"});
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "normalize",
               LAB_IN(dxhat, xhat, lab_build_find(b, "rstd")),
               LAB_OUT(dx),
               .formula = "$o0[r,d] = $i2[r] ($i0[r,d] - mean_d $i0[r,d] - "
                          "$i1[r,d] mean_d($i0[r,d] $i1[r,d])) \"means over "
                          "the row\"",
               .display = "$o0 = $i2 ($i0 - mean_d $i0 - $i1 mean_d($i0 $i1))",
               .names = "dxhat xhat rstd"});
}

const struct lab_op_def lab_op_layer_norm = {LAB_LAYER_OP("layer_norm", 1, 1),
                                             LAB_KEYS(keys)};
