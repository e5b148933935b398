/* dense: out = x W + b. Two products and a sum forward; the same two products
 * turned around carry the gradient back. */
#include "dense/dense.h"

#include <stdio.h>

#include "engine/formula.h"
#include "engine/plan.h"
#include "unary.h"

static const struct lab_key_def keys[] = {
    {"units", LAB_KEY_INT, true, 0, 1, 1 << 30},
    {"bias", LAB_KEY_BOOL, false, 1},
};

/* The activation that follows, of the sum that output 0 is. */
static void explain_activated(struct lab_explainer *ex, int out_slot,
                              int64_t index)
{
    lab_explain_formula(ex, 0, index);
    lab_unary_explain_absorbed(ex, out_slot);
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    bool bias = lab_build_attr(b, "bias")->b;
    if (shape.rank < 1) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.dense.shape] reads a scalar; it takes [.., in]");
        return;
    }
    int64_t *last = &shape.dim[shape.rank - 1];
    int64_t units = lab_build_attr(b, "units")->i;
    int W = lab_build_param(b, "W", &(struct lab_shape){2, {*last, units}},
                            LAB_INIT_FAN_IN);
    *last = units;
    int xW = bias ? lab_build_part(b, "xW", &shape, lab_build_real(b))
                  : lab_build_out(b, &shape);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "matmul",
                          LAB_IN(x, W),
                          LAB_OUT(xW),
                          .formula = "$o0[n,m] = sum_k $i0[n,k] * $i1[k,m]"});
    if (!bias)
        return;
    int param =
        lab_build_param(b, "b", &(struct lab_shape){1, {units}}, LAB_INIT_ZERO);
    int out = lab_build_out(b, &shape);
    lab_build_step(
        b, &(struct lab_step_def){.name = "bias",
                                  LAB_IN(xW, param),
                                  LAB_OUT(out),
                                  .formula = "$o0[n,m] = $i0[n,m] + $i1[m]"});
}

static void backward(struct lab_builder *b)
{
    int dout = lab_build_out_grad(b);
    int x = lab_build_input(b, 0);
    int W = lab_build_find(b, "W");
    int dxW = dout;
    if (lab_build_attr(b, "bias")->b) {
        int db = lab_build_grad(b, lab_build_find(b, "b"));
        dxW = lab_build_grad_alias(b, lab_build_find(b, "xW"), dout);
        lab_build_step(b, &(struct lab_step_def){
                              .name = "bias",
                              LAB_IN(dout),
                              LAB_OUT(db, dxW),
                              .formula = "$o0[m] = sum_n $i0[n,m]; $o1 = "
                                         "$i0 " LAB_PASSED});
    }
    int dW = lab_build_grad(b, W);
    int dx = lab_build_input_grad(b, 0);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "matmul",
                          LAB_IN(dxW, x, W),
                          LAB_OUT(dW, dx),
                          .formula = "$o0[k,m] = sum_n $i1[n,k] * $i0[n,m]; "
                                     "$o1[n,k] = sum_m $i0[n,m] * $i2[k,m]"});
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
        lab_unary_absorb(absorbed, &p);
    out->def = (struct lab_step_def){
        .name = node->op->name,
        LAB_IN(matmul->in[0], matmul->in[1],
               bias ? bias->in[1] : LAB_NO_TENSOR),
        LAB_OUT(node->out, absorbed ? absorbed->out : LAB_NO_TENSOR),
        .flop = lab_group_flop(plan, node, phase),
        .formula = out->formula,
        .explain = explain_activated};
    if (absorbed)
        out->def.flop += plan->steps[absorbed->first_step[phase]].flop;
    lab_group_params(out, &p, sizeof(p));
    snprintf(out->formula, sizeof(out->formula),
             "$o0[n,m] = sum_k $i0[n,k] * $i1[k,m]%s%s%s%s",
             bias ? " + $i2[m]" : "", absorbed ? "; !$o1 = " : "",
             absorbed ? absorbed->op->name : "", absorbed ? "($o0)" : "");
}

/* Odd sizes, then rows that start on 16 bytes: kernels that copy whole tiles
 * serve no others. */
static bool check(int turn, struct lab_op_check *c)
{
    c->x = (struct lab_shape){2, {5, 7}};
    if (turn == 1) {
        c->x = (struct lab_shape){2, {8, 12}};
        c->attr[0].i = 8;
    }
    return turn < 2;
}

const struct lab_op_def lab_op_dense = {LAB_LAYER_OP("dense", 1, 1),
                                        LAB_KEYS(keys), .group = group,
                                        .check = check};
