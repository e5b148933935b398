/* softmax over the last axis: a row of numbers becomes a row of shares. */
#include "softmax/softmax.h"

#include <math.h>

#include "engine/explain.h"
#include "engine/op.h"

static int64_t columns(const struct lab_shape *s)
{
    return s->rank > 0 ? s->dim[s->rank - 1] : 1;
}

static double row_max(struct lab_explainer *ex, int64_t row, int64_t C)
{
    double max = -INFINITY;
    for (int64_t c = 0; c < C; c++) {
        double x = lab_explain_in(ex, 0, row * C + c);
        if (!(x <= max)) /* a NaN stays */
            max = x;
    }
    return max;
}

static void explain_forward(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    const struct lab_shape *shape = lab_explain_out_shape(ex, out_slot);
    char at[LAB_SHAPE_TEXT];
    char row_at[LAB_SHAPE_TEXT];
    int64_t C = columns(shape);
    int64_t row = index / C;
    double max = row_max(ex, row, C);
    double x = lab_explain_in(ex, 0, index);
    double sum = 0;
    lab_explain_source(ex, 0, index);
    for (int64_t c = 0; c < C; c++)
        sum += exp(lab_explain_in(ex, 0, row * C + c) - max);
    lab_explain_symbolic(
        ex, "exp(%s[%s] - max) / sum_k exp(%s[%sk] - max)",
        lab_explain_in_name(ex, 0), lab_explain_at(shape, index, at),
        lab_explain_in_name(ex, 0), lab_explain_row(shape, index, row_at));
    lab_explain_numeric(ex, "exp(%.6g - %.6g) / %.6g", x, max, sum);
    lab_explain_where(ex, "max = %.6g, the largest of the row", max);
    lab_explain_value(ex, exp(x - max) / sum);
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    const struct lab_shape *shape = lab_explain_out_shape(ex, out_slot);
    int64_t C = columns(shape);
    int64_t row = index / C;
    double dot = 0;
    for (int64_t c = 0; c < C; c++)
        dot += lab_explain_in(ex, 0, row * C + c) *
               lab_explain_in(ex, 1, row * C + c);
    double dy = lab_explain_in(ex, 0, index);
    double y = lab_explain_in(ex, 1, index);
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, index);
    lab_explain_symbolic(ex, "y (dy - sum_k dy[k] y[k])");
    lab_explain_numeric(ex, "%.6g (%.6g - %.6g)", y, dy, dot);
    lab_explain_let(ex, "y", 1, index);
    lab_explain_let(ex, "dy", 0, index);
    lab_explain_where(ex, "dy[k] and y[k] are the row's: the sum is %.6g", dot);
    lab_explain_value(ex, y * (dy - dot));
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    int64_t n = 0;
    int y = lab_build_out(b, &shape);
    if (y < 0 || lab_shape_count(&shape, &n))
        return;
    if (shape.rank < 1) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "reads a scalar; it takes [.., classes]");
        return;
    }
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "softmax",
               .phase = LAB_FORWARD,
               .in = {x},
               .n_in = 1,
               .out = {y},
               .n_out = 1,
               .flop = 5.0 * (double)n,
               .formula = "$o0[r,c] = exp($i0[r,c] - max) / sum_k exp($i0[r,k] "
                          "- max)",
               .explain = explain_forward});
}

static void backward(struct lab_builder *b)
{
    int dy = lab_build_out_grad(b);
    int y = lab_build_find(b, "out");
    int dx = lab_build_input_grad(b, 0);
    struct lab_shape shape = lab_build_shape(b, y);
    int64_t n = 0;
    if (dx < 0 || lab_shape_count(&shape, &n))
        return;
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "softmax",
               .phase = LAB_BACKWARD,
               .in = {dy, y},
               .n_in = 2,
               .out = {dx},
               .n_out = 1,
               .flop = 4.0 * (double)n,
               .formula =
                   "$o0[r,c] = $i1[r,c] ($i0[r,c] - sum_k $i0[r,k] $i1[r,k])",
               .explain = explain_backward});
}

const struct lab_op_def lab_op_softmax = {.name = "softmax",
                                          .kind = LAB_KIND_LAYER,
                                          .min_inputs = 1,
                                          .max_inputs = 1,
                                          .forward = forward,
                                          .backward = backward};
