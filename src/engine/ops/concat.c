/* concat: several tensors side by side, along their channels (images) or their
 * features ([N,D]): the branches of an inception block come together so. */
#include "concat/concat.h"

#include "engine/explain.h"
#include "engine/op.h"
#include "engine/plan.h"

/* The shape of the result, and what of a row comes from each input; false: the
 * node was refused. */
static bool node_of(struct lab_builder *b, struct lab_concat_params *p,
                    struct lab_shape *out)
{
    char text[2][LAB_SHAPE_TEXT];
    *p = (struct lab_concat_params){.n = lab_build_node(b)->n_in};
    for (int k = 0; k < p->n; k++) {
        struct lab_shape s = lab_build_shape(b, lab_build_input(b, k));
        if (s.rank != 2 && s.rank != 4) {
            lab_build_fail(
                b, LAB_E_SHAPE,
                "[op.concat.shape] reads %s; it takes [N,D] or images",
                lab_shape_text(&s, text[0]));
            return false;
        }
        int axis = s.rank == 2 ? 1 : lab_build_nhwc(b) ? 3 : 1;
        int64_t width = 1; /* of a row: from the axis on */
        for (int a = axis; a < s.rank; a++)
            width *= s.dim[a];
        p->width[k] = width;
        p->row += width;
        if (k == 0) {
            *out = s;
            continue;
        }
        struct lab_shape same = s;
        same.dim[axis] = s.rank == out->rank ? out->dim[axis] : 0;
        if (!lab_shape_equal(&same, out)) {
            lab_build_fail(
                b, LAB_E_SHAPE,
                "[op.concat.sides] puts %s beside %s; only the %s may differ",
                lab_shape_text(&s, text[0]), lab_shape_text(out, text[1]),
                s.rank == 4 ? "channels" : "features");
            return false;
        }
        out->dim[axis] += s.dim[axis];
    }
    return true;
}

static void explain(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_step *step = lab_explain_step(ex);
    const struct lab_concat_params *p = step->params;
    bool back = step->phase == LAB_BACKWARD;
    int k = back ? out_slot : 0;
    int64_t first = 0;
    int64_t row = back ? index / p->width[k] : index / p->row;
    int64_t at = back ? index % p->width[k] : index % p->row;
    char text[LAB_SHAPE_TEXT];
    for (int i = 0; back && i < k; i++)
        first += p->width[i];
    while (!back && at >= p->width[k])
        at -= p->width[k++];
    int slot = back ? 0 : k;
    int64_t from = back ? row * p->row + first + at : row * p->width[k] + at;
    lab_explain_symbolic(
        ex, "%s[%s], unchanged", lab_explain_in_name(ex, slot),
        lab_explain_at(lab_explain_in_shape(ex, slot), from, text));
    lab_explain_source(ex, slot, from);
    lab_explain_value(ex, lab_explain_in(ex, slot, from));
}

static void forward(struct lab_builder *b)
{
    struct lab_concat_params p;
    struct lab_shape shape;
    if (!node_of(b, &p, &shape))
        return;
    struct lab_step_def step = {.name = "copy",
                                .n_in = p.n,
                                LAB_OUT(lab_build_out(b, &shape)),
                                LAB_PARAMS(p),
                                .formula = "!$o0 = the inputs side by side",
                                .explain = explain};
    for (int k = 0; k < p.n; k++)
        step.in[k] = lab_build_input(b, k);
    lab_build_step(b, &step);
}

static void backward(struct lab_builder *b)
{
    struct lab_concat_params p;
    struct lab_shape shape;
    if (!node_of(b, &p, &shape))
        return;
    struct lab_step_def step = {.name = "copy",
                                LAB_IN(lab_build_out_grad(b)),
                                .n_out = p.n,
                                LAB_PARAMS(p),
                                .formula =
                                    "!each input's gradient is its part of $i0",
                                .explain = explain};
    for (int k = 0; k < p.n; k++)
        step.out[k] = lab_build_input_grad(b, k);
    lab_build_step(b, &step);
}

static const struct lab_op_test_network trials[] = {
    {.in = {{2, {3, 5}}, {2, {3, 2}}, {2, {3, 7}}}, .out = {2, {3, 14}}},
    {.in = {{4, {2, 3, 4, 5}}, {4, {2, 1, 4, 5}}}, .out = {4, {2, 4, 4, 5}}},
};

const struct lab_op_def lab_op_concat = {
    LAB_LAYER_OP("concat", 2, LAB_CONCAT_INPUTS), .takes_images = true,
    LAB_TRIALS(trials)};
