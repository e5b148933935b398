/* sequence_mean: the mean over the places of a sequence; order is lost. */
#include "sequence_mean/sequence_mean.h"

#include <stdio.h>

#include "engine/op.h"

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    char text[LAB_SHAPE_TEXT];
    if (shape.rank != 3) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.sequence-mean.shape] reads %s; it takes [N,T,D]",
                       lab_shape_text(&shape, text));
        return;
    }
    int y =
        lab_build_out(b, &(struct lab_shape){2, {shape.dim[0], shape.dim[2]}});
    lab_build_step(b, &(struct lab_step_def){
                          .name = "mean",
                          LAB_IN(x),
                          LAB_OUT(y),
                          .formula = "$o0[n,d] = mean_t $i0[n,t,d]",
                          .display = "$o0[n,d] = (sum_t $i0[n,t,d]) / T"});
}

static void backward(struct lab_builder *b)
{
    int dy = lab_build_out_grad(b);
    int dx = lab_build_input_grad(b, 0);
    char formula[64];
    struct lab_shape shape = lab_build_shape(b, lab_build_input(b, 0));
    snprintf(formula, sizeof(formula), "$o0[n,t,d] = $i0[n,d] / %lld",
             (long long)shape.dim[1]);
    lab_build_step(
        b, &(struct lab_step_def){.name = "mean",
                                  LAB_IN(dy),
                                  LAB_OUT(dx),
                                  .flop_each = (double)shape.dim[1],
                                  .formula = formula,
                                  .display = "$o0[n,t,d] = $i0[n,d] / T"});
}

static const struct lab_op_test_network trials[] = {
    {.in = {{3, {3, 5, 7}}}, .out = {2, {3, 7}}},
};

const struct lab_op_def lab_op_sequence_mean = {
    LAB_LAYER_OP("sequence_mean", 1, 1), LAB_TRIALS(trials)};
