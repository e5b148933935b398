/* multiply: two tensors of one shape, element by element: a gate. Each side's
 * gradient is the other side times what comes back. */
#include "multiply/multiply.h"

#include "engine/op.h"

static void forward(struct lab_builder *b)
{
    struct lab_shape shape;
    if (!lab_build_same_shape(
            b, &shape,
            "[op.multiply.shape] multiplies %s by %s; both must "
            "have the same shape"))
        return;
    lab_build_step(b, &(struct lab_step_def){
                          .name = "multiply",
                          LAB_IN(lab_build_input(b, 0), lab_build_input(b, 1)),
                          LAB_OUT(lab_build_out(b, &shape)),
                          .formula = "$o0 = $i0 * $i1"});
}

static void backward(struct lab_builder *b)
{
    int dy = lab_build_out_grad(b);
    int da = lab_build_input_grad(b, 0);
    int db = lab_build_input_grad(b, 1);
    lab_build_step(b,
                   &(struct lab_step_def){
                       .name = "multiply",
                       LAB_IN(dy, lab_build_input(b, 0), lab_build_input(b, 1)),
                       LAB_OUT(da, db),
                       .formula = "$o0 = $i0 * $i2; $o1 = $i0 * $i1"});
}

static bool check(int turn, struct lab_op_check *c)
{
    c->x = (struct lab_shape){2, {5, 7}};
    return turn == 0;
}

const struct lab_op_def lab_op_multiply = {LAB_LAYER_OP("multiply", 2, 2),
                                           .check = check};
