/* positional_embedding: a learned row for every place in the sequence, added to
 * what stands there. */
#include "embedding/positional_embedding.h"

#include "engine/explain.h"
#include "engine/op.h"
#include "engine/op_trial.h"

#define MANY 1073741824.0

static const struct lab_key_def keys[] = {
    {"max_length", LAB_KEY_INT, true, 0, 1, MANY},
};

static int64_t sequence(const struct lab_shape *x)
{
    return x->dim[x->rank - 2] * x->dim[x->rank - 1];
}

static void explain_add(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_shape *out = lab_explain_out_shape(ex, out_slot);
    char at[LAB_SHAPE_TEXT];
    char w_at[LAB_SHAPE_TEXT];
    int64_t place = index % sequence(out);
    double x = lab_explain_in(ex, 0, index);
    double w = lab_explain_in(ex, 1, place);
    lab_explain_symbolic(
        ex, "%s[%s] + %s[%s]", lab_explain_in_name(ex, 0),
        lab_explain_at(out, index, at), lab_explain_in_name(ex, 1),
        lab_explain_at(lab_explain_in_shape(ex, 1), place, w_at));
    lab_explain_term(ex, x, "%.6g", x);
    lab_explain_source(ex, 0, index);
    lab_explain_term(ex, w, "%.6g", w);
    lab_explain_source(ex, 1, place);
}

static void explain_add_back(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    const struct lab_shape *dout = lab_explain_in_shape(ex, 0);
    int64_t TD = sequence(dout);
    int64_t N = 1;
    for (int i = 0; i + 2 < dout->rank; i++)
        N *= dout->dim[i];
    if (out_slot == 1) {
        lab_explain_passed(ex, 0, index);
        return;
    }
    char at[LAB_SHAPE_TEXT];
    lab_explain_symbolic(
        ex, "sum_n %s[n,%s]", lab_explain_in_name(ex, 0),
        lab_explain_at(lab_explain_out_shape(ex, 0), index, at));
    if (index >= TD)
        lab_explain_value(ex, 0); /* no sequence is that long */
    for (int64_t n = 0; index < TD && n < N; n++) {
        double g = lab_explain_in(ex, 0, n * TD + index);
        lab_explain_term(ex, g, "%.6g", g);
        lab_explain_source(ex, 0, n * TD + index);
    }
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    int64_t most = lab_build_attr(b, "max_length")->i;
    char text[LAB_SHAPE_TEXT];
    int64_t n = 0;
    if (shape.rank < 2 || shape.rank > 3) {
        lab_build_fail(b, LAB_E_SHAPE, "reads %s; it takes [N,T,D] or [T,D]",
                       lab_shape_text(&shape, text));
        return;
    }
    int64_t T = shape.dim[shape.rank - 2];
    if (T > most) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "reads %s: a sequence of %lld is longer than "
                       "max_length %lld",
                       lab_shape_text(&shape, text), (long long)T,
                       (long long)most);
        return;
    }
    struct lab_shape table = {2, {most, shape.dim[shape.rank - 1]}};
    int W = lab_build_param(b, "W", &table, LAB_INIT_FAN_IN_FIRST);
    int out = lab_build_out(b, &shape);
    if (out < 0 || lab_shape_count(&shape, &n))
        return;
    lab_build_step(b, &(struct lab_step_def){.name = "add",
                                             .phase = LAB_FORWARD,
                                             .in = {x, W},
                                             .n_in = 2,
                                             .out = {out},
                                             .n_out = 1,
                                             .flop = (double)n,
                                             .formula =
                                                 "$o0[n,t,d] = $i0[n,t,d] + "
                                                 "$i1[t,d]",
                                             .explain = explain_add});
}

static void backward(struct lab_builder *b)
{
    int dout = lab_build_out_grad(b);
    int dW = lab_build_grad(b, lab_build_find(b, "W"));
    int dx = lab_build_input_grad_alias(b, 0, dout);
    struct lab_shape shape = lab_build_shape(b, dout);
    int64_t n = 0;
    if (lab_shape_count(&shape, &n))
        return;
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "add",
               .phase = LAB_BACKWARD,
               .in = {dout},
               .n_in = 1,
               .out = {dW, dx},
               .n_out = 2,
               .flop = (double)n,
               .formula = dx >= 0 ? "$o0[t,d] = sum_n $i0[n,t,d]; $o1 = $i0"
                                  : "$o0[t,d] = sum_n $i0[n,t,d]",
               .explain = explain_add_back});
}

static const struct lab_op_test_network trials[] = {
    {.in = {{3, {3, 5, 7}}},
     .out = {3, {3, 5, 7}},
     .keys = {{"max_length", 6}}},
};

const struct lab_op_def lab_op_positional_embedding = {
    .name = "positional_embedding",
    .kind = LAB_KIND_LAYER,
    .keys = keys,
    .n_keys = 1,
    .min_inputs = 1,
    .max_inputs = 1,
    .forward = forward,
    .backward = backward,
    .trials = trials,
    .n_trials = 1};
