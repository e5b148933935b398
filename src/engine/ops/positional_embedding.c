/* positional_embedding: a learned row for every position of the sequence, added
 * to what is there. */
#include "embedding/positional_embedding.h"

#include "engine/formula.h"
#include "engine/op.h"

#define MANY 1073741824.0

static const struct lab_key_def keys[] = {
    {"max_length", LAB_KEY_INT, true, 0, 1, MANY},
};

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    int64_t most = lab_build_attr(b, "max_length")->i;
    char text[LAB_SHAPE_TEXT];
    if (shape.rank < 2 || shape.rank > 3) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.positional-embedding.shape] reads %s; it takes "
                       "[N,T,D] or [T,D]",
                       lab_shape_text(&shape, text));
        return;
    }
    int64_t T = shape.dim[shape.rank - 2];
    if (T > most) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.positional-embedding.length] reads %s: a sequence "
                       "of %lld is longer than max_length %lld",
                       lab_shape_text(&shape, text), (long long)T,
                       (long long)most);
        return;
    }
    struct lab_shape table = {2, {most, shape.dim[shape.rank - 1]}};
    int W = lab_build_param(b, "W", &table, LAB_INIT_FAN_IN_FIRST);
    int out = lab_build_out(b, &shape);
    lab_build_step(b, &(struct lab_step_def){.name = "add",
                                             LAB_IN(x, W),
                                             LAB_OUT(out),
                                             .formula =
                                                 "$o0[n,t,d] = $i0[n,t,d] + "
                                                 "$i1[t,d]"});
}

static void backward(struct lab_builder *b)
{
    int dout = lab_build_out_grad(b);
    int dW = lab_build_grad(b, lab_build_find(b, "W"));
    int dx = lab_build_input_grad_alias(b, 0, dout);
    lab_build_step(
        b,
        &(struct lab_step_def){
            .name = "add",
            LAB_IN(dout),
            LAB_OUT(dW, dx),
            .formula = "$o0[t,d] = sum_n $i0[n,t,d]; $o1 = $i0 " LAB_PASSED});
}

static const struct lab_op_test_network trials[] = {
    {.in = {{3, {3, 5, 7}}},
     .out = {3, {3, 5, 7}},
     .keys = {{"max_length", 6}}},
};

const struct lab_op_def lab_op_positional_embedding = {
    LAB_LAYER_OP("positional_embedding", 1, 1), LAB_KEYS(keys),
    LAB_TRIALS(trials)};
