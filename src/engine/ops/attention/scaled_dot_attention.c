/* scaled_dot_attention: softmax(q k^T / sqrt(d)) v, with nothing learned.
 *
 * The three steps scores, probabilities and context are those of attention
 * (attend.h); q, k and v are inputs of the node. */
#include "attend.h"
#include "engine/op.h"
#include "engine/plan.h"

static const struct lab_key_def keys[] = {
    {"causal", LAB_KEY_BOOL, false, 0},
};

static bool shapes_fit(struct lab_builder *b)
{
    struct lab_shape s[3];
    char text[3][LAB_SHAPE_TEXT];
    for (int i = 0; i < 3; i++) {
        s[i] = lab_build_shape(b, lab_build_input(b, i));
        lab_shape_text(&s[i], text[i]);
    }
    int r = s[0].rank;
    bool fits = r >= 2 && s[1].rank == r && s[2].rank == r;
    for (int i = 0; fits && i + 2 < r; i++)
        fits = s[0].dim[i] == s[1].dim[i] && s[0].dim[i] == s[2].dim[i];
    if (fits && s[0].dim[r - 1] == s[1].dim[r - 1] &&
        s[1].dim[r - 2] == s[2].dim[r - 2])
        return true;
    lab_build_fail(b, LAB_E_SHAPE,
                   "[op.scaled-dot-attention.shape] reads q %s, k %s and v %s; "
                   "it takes q [N,Tq,d], k [N,Tk,d] and v [N,Tk,dv]",
                   text[0], text[1], text[2]);
    return false;
}

/* The fourth input states which keys are padding; nothing flows back to it. */
static bool mask_fits(struct lab_builder *b)
{
    struct lab_shape k = lab_build_shape(b, lab_build_input(b, 1));
    struct lab_shape mask = lab_build_shape(b, lab_build_input(b, 3));
    char text[2][LAB_SHAPE_TEXT];
    if (lab_build_producer_op(b, 3)) {
        lab_build_fail(
            b, LAB_E_PARSE,
            "[op.scaled-dot-attention.mask] '%s' cannot be the mask: nothing "
            "flows back to a mask, so it has to be data",
            lab_build_producer_id(b, 3));
        return false;
    }
    bool fits = mask.rank == k.rank - 1;
    for (int i = 0; fits && i < mask.rank; i++)
        fits = mask.dim[i] == k.dim[i];
    if (!fits)
        lab_build_fail(
            b, LAB_E_SHAPE,
            "[op.scaled-dot-attention.mask-shape] reads keys %s and the mask "
            "%s; it takes a mask of one number for each key, [N,Tk]",
            lab_shape_text(&k, text[0]), lab_shape_text(&mask, text[1]));
    lab_build_node(b)->no_group = "has a mask";
    return fits;
}

static struct lab_attend attend_of(const struct lab_builder *b)
{
    struct lab_attend t = {.q = lab_build_input(b, 0),
                           .k = lab_build_input(b, 1),
                           .v = lab_build_input(b, 2),
                           .heads = 1,
                           .mask = lab_build_node(b)->n_in > 3
                                       ? lab_build_input(b, 3)
                                       : LAB_NO_TENSOR,
                           .causal = lab_build_attr(b, "causal")->b};
    return t;
}

static void forward(struct lab_builder *b)
{
    struct lab_attend t = attend_of(b);
    if (!shapes_fit(b) || (lab_build_node(b)->n_in > 3 && !mask_fits(b)))
        return;
    struct lab_shape shape = lab_build_shape(b, t.q);
    struct lab_shape v = lab_build_shape(b, t.v);
    shape.dim[shape.rank - 1] = v.dim[v.rank - 1];
    int out = lab_build_out(b, &shape);
    if (out >= 0)
        lab_attend_forward(b, &t, out, false);
}

static void backward(struct lab_builder *b)
{
    struct lab_attend t = attend_of(b);
    int dq = lab_build_input_grad(b, 0);
    int dk = lab_build_input_grad(b, 1);
    int dv = lab_build_input_grad(b, 2);
    lab_attend_backward(b, &t, lab_build_out_grad(b), dq, dk, dv);
}

static const struct lab_op_test_network trials[] = {
    {.in = {{3, {3, 5, 7}}, {3, {3, 9, 7}}, {3, {3, 9, 4}}},
     .out = {3, {3, 5, 4}}},
    {.in = {{3, {2, 37, 17}}, {3, {2, 37, 17}}, {3, {2, 37, 17}}},
     .out = {3, {2, 37, 17}},
     .keys = {{"causal", 1}}},
    {.in = {{3, {4, 5, 7}}, {3, {4, 9, 7}}, {3, {4, 9, 4}}, {2, {4, 9}}},
     .out = {3, {4, 5, 4}}},
    /* Keys that are a multiple of four, which wide kernels want. */
    {.in = {{3, {2, 5, 8}}, {3, {2, 64, 8}}, {3, {2, 64, 8}}},
     .out = {3, {2, 5, 8}}},
    {.in = {{3, {4, 5, 7}}, {3, {4, 8, 7}}, {3, {4, 8, 4}}, {2, {4, 8}}},
     .out = {3, {4, 5, 4}}},
    {.in = {{2, {6, 3}}, {2, {6, 3}}, {2, {6, 2}}, {1, {6}}},
     .out = {2, {6, 2}},
     .keys = {{"causal", 1}}},
};

static const struct lab_part_axis axes[] = {
    {"scores", 2, 0}, {"scores", 1, 1}, {"probs", 2, 0}, {"probs", 1, 1}};

const struct lab_op_def lab_op_scaled_dot_attention = {
    LAB_LAYER_OP("scaled_dot_attention", 3, 4),
    LAB_KEYS(keys),
    .group = lab_attend_group,
    .group_from = {[LAB_FORWARD] = "scores", [LAB_BACKWARD] = "context"},
    .group_steps = 3,
    .group_both = true,
    LAB_TRIALS(trials),
    LAB_AXES(axes)};
