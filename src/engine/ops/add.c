/* add: the sum of two tensors. A residual block is a few layers with a result
 * that is added to what went in: the gradient finds a way around the layers. */
#include "add/add.h"

#include "engine/formula.h"
#include "engine/op.h"

static void forward(struct lab_builder *b)
{
    struct lab_shape shape;
    if (!lab_build_same_shape(
            b, &shape,
            "[op.add.shape] adds %s and %s; both must have the same shape"))
        return;
    int y = lab_build_out(b, &shape);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "add",
                          LAB_IN(lab_build_input(b, 0), lab_build_input(b, 1)),
                          LAB_OUT(y),
                          .formula = "$o0 = $i0 + $i1"});
}

static void backward(struct lab_builder *b)
{
    int dy = lab_build_out_grad(b);
    int da = lab_build_input_grad(b, 0);
    int db = lab_build_input_grad(b, 1);
    lab_build_step(b, &(struct lab_step_def){.name = "add",
                                             LAB_IN(dy),
                                             LAB_OUT(da, db),
                                             .formula =
                                                 "$o0 = $i0 " LAB_PASSED
                                                 "; $o1 = $i0 " LAB_PASSED});
}

/* From x twice: the sum of both gradients is checked as well. */
static bool check(int turn, struct lab_op_check *c)
{
    c->x = (struct lab_shape){2, {5, 7}};
    return turn == 0;
}

const struct lab_op_def lab_op_add = {LAB_LAYER_OP("add", 2, 2),
                                      .check = check};
