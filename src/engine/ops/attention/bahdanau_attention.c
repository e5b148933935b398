/* bahdanau_attention: additive attention. A state is compared with every row of
 * h, and the rows are mixed by how well they fit. */

#include <string.h>

#include "engine/op.h"
#include "ops/softmax_explain.h"

static const struct lab_key_def keys[] = {
    {"align", LAB_KEY_INT, true, 0, 1, 1073741824.0},
};

struct parts {
    int s, h, Ws, Wh, b, v, u, t, e, a;
    double rows; /* N*T */
    double S, D, A;
};

static struct parts parts_of(const struct lab_builder *b)
{
    struct parts p = {.s = lab_build_input(b, 0), .h = lab_build_input(b, 1)};
    struct lab_shape s = lab_build_shape(b, p.s);
    struct lab_shape h = lab_build_shape(b, p.h);
    p.rows = 1;
    for (int i = 0; i + 1 < h.rank; i++)
        p.rows *= (double)h.dim[i];
    p.S = (double)s.dim[s.rank - 1];
    p.D = (double)h.dim[h.rank - 1];
    p.A = (double)lab_build_attr(b, "align")->i;
    p.Ws = lab_build_find(b, "Ws");
    p.Wh = lab_build_find(b, "Wh");
    p.b = lab_build_find(b, "b");
    p.v = lab_build_find(b, "v");
    p.u = lab_build_find(b, "u");
    p.t = lab_build_find(b, "t");
    p.e = lab_build_find(b, "e");
    p.a = lab_build_find(b, "a");
    return p;
}

static bool shapes_fit(struct lab_builder *b)
{
    struct lab_shape s = lab_build_shape(b, lab_build_input(b, 0));
    struct lab_shape h = lab_build_shape(b, lab_build_input(b, 1));
    char one[LAB_SHAPE_TEXT];
    char two[LAB_SHAPE_TEXT];
    bool fits = (s.rank == 1 && h.rank == 2) ||
                (s.rank == 2 && h.rank == 3 && s.dim[0] == h.dim[0]);
    if (!fits)
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.bahdanau-attention.shape] reads s %s and h %s; it "
                       "takes s [N,S] and h [N,T,D], or s [S] and h [T,D]",
                       lab_shape_text(&s, one), lab_shape_text(&h, two));
    return fits;
}

static void declare(struct lab_builder *b)
{
    struct lab_shape s = lab_build_shape(b, lab_build_input(b, 0));
    struct lab_shape h = lab_build_shape(b, lab_build_input(b, 1));
    int64_t A = lab_build_attr(b, "align")->i;
    enum lab_dtype real = lab_build_real(b);
    struct lab_shape Ws = {2, {s.dim[s.rank - 1], A}};
    struct lab_shape Wh = {2, {h.dim[h.rank - 1], A}};
    struct lab_shape row = {1, {A}};
    struct lab_shape u = h;
    struct lab_shape e = h;
    struct lab_shape out = h;
    u.dim[u.rank - 1] = A;
    e.rank--;
    out.rank--;
    out.dim[out.rank - 1] = h.dim[h.rank - 1];
    lab_build_param(b, "Ws", &Ws, LAB_INIT_FAN_IN);
    lab_build_param(b, "Wh", &Wh, LAB_INIT_FAN_IN);
    lab_build_param(b, "b", &row, LAB_INIT_ZERO);
    lab_build_param(b, "v", &row, LAB_INIT_FAN_IN);
    lab_build_part(b, "u", &u, real);
    lab_build_part(b, "t", &u, real);
    lab_build_part(b, "e", &e, real);
    lab_build_part(b, "a", &e, real);
    lab_build_out(b, &out);
}

/* One step of the op; `in` and `out` end with the count given. */
static void step(struct lab_builder *b, const char *name, const int *in,
                 int n_in, const int *out, int n_out, const char *formula,
                 const char *names)
{
    struct lab_step_def def = {.name = name,
                               .n_in = n_in,
                               .n_out = n_out,
                               .formula = formula,
                               .names = names};
    memcpy(def.in, in, (size_t)n_in * sizeof(*in));
    memcpy(def.out, out, (size_t)n_out * sizeof(*out));
    lab_build_step(b, &def);
}

static void forward(struct lab_builder *b)
{
    if (!shapes_fit(b))
        return;
    declare(b);
    struct parts p = parts_of(b);
    int out = lab_build_find(b, "out");
    if (out < 0)
        return;
    lab_build_input_use(b, 1); /* h is compared, and then it is mixed */
    lab_build_step(b,
                   &(struct lab_step_def){
                       .name = "u",
                       LAB_IN(p.s, p.h, p.Ws, p.Wh, p.b),
                       LAB_OUT(p.u),
                       .flop = p.rows * p.A * (2 * p.S + 2 * p.D + 1),
                       .formula = "$o0[t,a] = sum_i $i0[i] ~ $i2[i,a] + sum_d "
                                  "$i1[t,d] ~ $i3[d,a] + $i4[a]",
                       .display = "$o0[t,:] = $i0 $i2 + $i1[t,:] $i3 + $i4"});
    step(b, "t", &p.u, 1, &p.t, 1, "$o0 = tanh($i0)", "u");
    step(b, "e", (int[]){p.t, p.v}, 2, &p.e, 1,
         "$o0[t] = sum_a $i0[t,a] ~ $i1[a]", NULL);
    lab_build_step(
        b,
        &(struct lab_step_def){
            .name = "a",
            LAB_IN(p.e),
            LAB_OUT(p.a),
            .flop_each = 5,
            .formula = "!$o0[t] = exp($i0[t] - max) / sum_k exp($i0[k] - max)",
            .explain = lab_softmax_explain});
    step(b, "context", (int[]){p.a, p.h}, 2, &out, 1,
         "$o0[d] = sum_t $i0[t] ~ $i1[t,d]", NULL);
}

static void backward(struct lab_builder *b)
{
    struct parts p = parts_of(b);
    int dout = lab_build_out_grad(b);
    int da = lab_build_grad(b, p.a);
    int dh_mixed = lab_build_input_grad(b, 2);
    step(b, "context", (int[]){dout, p.a, p.h}, 3, (int[]){da, dh_mixed}, 2,
         "$o0[t] = sum_d $i0[d] ~ $i2[t,d]; $o1[t,d] = $i1[t] ~ $i0[d]", NULL);
    int de = lab_build_grad(b, p.e);
    step(b, "a", (int[]){da, p.a}, 2, &de, 1,
         "$o0[t] = $i1[t] ($i0[t] - sum_k $i0[k] $i1[k])", "da a");
    int dt = lab_build_grad(b, p.t);
    int dv = lab_build_grad(b, p.v);
    step(b, "e", (int[]){de, p.t, p.v}, 3, (int[]){dt, dv}, 2,
         "$o0[t,a] = $i0[t] ~ $i2[a]; $o1[a] = sum_t $i0[t] ~ $i1[t,a]", NULL);
    int du = lab_build_grad(b, p.u);
    step(b, "t", (int[]){dt, p.t}, 2, &du, 1, "$o0 = $i0 (1 - $i1^2)", "dt t");
    int d[] = {lab_build_grad(b, p.Ws), lab_build_grad(b, p.Wh),
               lab_build_grad(b, p.b), lab_build_input_grad(b, 0),
               lab_build_input_grad(b, 1)};
    step(b, "u", (int[]){du, p.s, p.h, p.Ws, p.Wh}, 5, d, 5,
         "$o0[s,a] = sum_t $i1[s] ~ $i0[t,a]; $o1[d,a] = sum_t $i2[t,d] ~ "
         "$i0[t,a]; $o2[a] = sum_t $i0[t,a]; $o3[s] = sum_t,a $i0[t,a] ~ "
         "$i3[s,a]; $o4[t,d] = sum_a $i0[t,a] ~ $i4[d,a]",
         NULL);
}

static const struct lab_op_test_network trials[] = {
    {.in = {{2, {3, 7}}, {3, {3, 9, 5}}},
     .out = {2, {3, 5}},
     .keys = {{"align", 11}}},
    {.in = {{1, {3}}, {2, {4, 2}}}, .out = {1, {2}}, .keys = {{"align", 1}}},
};

static const struct lab_part_axis axes[] = {
    {"e", 1, 1}, {"a", 1, 1}, {"u", 2, 1}, {"t", 2, 1}};

const struct lab_op_def lab_op_bahdanau_attention = {
    LAB_LAYER_OP("bahdanau_attention", 2, 2), LAB_KEYS(keys),
    LAB_TRIALS(trials), LAB_AXES(axes)};
