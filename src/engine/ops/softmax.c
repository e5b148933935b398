/* softmax over the last axis: a row of numbers becomes a row of shares. */

#include <math.h>

#include "engine/explain.h"
#include "engine/op.h"
#include "softmax_explain.h"

void lab_softmax_explain(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_shape *shape = lab_explain_out_shape(ex, out_slot);
    const char *name = lab_explain_in_name(ex, 0);
    char at[LAB_SHAPE_TEXT];
    char row_at[LAB_SHAPE_TEXT];
    int64_t C = shape->rank > 0 ? shape->dim[shape->rank - 1] : 1;
    int64_t row = index - index % C;
    double x = lab_explain_in(ex, 0, index);
    double max = -INFINITY;
    double sum = 0;
    lab_explain_source(ex, 0, index);
    for (int64_t c = row; c < row + C; c++) {
        double v = lab_explain_in(ex, 0, c);
        if (!(v <= max)) /* a NaN stays */
            max = v;
    }
    for (int64_t c = row; c < row + C; c++)
        sum += exp(lab_explain_in(ex, 0, c) - max);
    lab_explain_symbolic(ex, "exp(%s[%s] - max) / sum_k exp(%s[%sk] - max)",
                         name, lab_explain_at(shape, index, at), name,
                         lab_explain_row(shape, index, row_at));
    lab_explain_numeric(ex, "exp(%.6g - %.6g) / %.6g", x, max, sum);
    lab_explain_where(ex, "max = %.6g, the largest of the row", max);
    lab_explain_value(ex, exp(x - max) / sum);
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    if (shape.rank < 1) {
        lab_build_fail(
            b, LAB_E_SHAPE,
            "[op.softmax.shape] reads a scalar; it takes [.., classes]");
        return;
    }
    lab_build_step(b, &(struct lab_step_def){.name = "softmax",
                                             LAB_IN(x),
                                             LAB_OUT(lab_build_out(b, &shape)),
                                             .flop_each = 5,
                                             .formula = LAB_SOFTMAX_FORMULA,
                                             .explain = lab_softmax_explain});
}

static void backward(struct lab_builder *b)
{
    int dy = lab_build_out_grad(b);
    int y = lab_build_find(b, "out");
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "softmax",
               LAB_IN(dy, y),
               LAB_OUT(lab_build_input_grad(b, 0)),
               .formula =
                   "$o0[r,c] = $i1[r,c] ($i0[r,c] - sum_k $i0[r,k] $i1[r,k])",
               .names = "dy y"});
}

const struct lab_op_def lab_op_softmax = {LAB_LAYER_OP("softmax", 1, 1)};
