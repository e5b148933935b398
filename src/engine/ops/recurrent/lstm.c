/* lstm: a layer with a memory, unrolled over time. Per time step two steps
 * forward and, from the last to the first, the same two backward; the gradient
 * of the weights is one sum over all of them. */
#include "recurrent/lstm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain.h"
#include "recurrent.h"

static const struct lab_key_def keys[] = {
    {"hidden", LAB_KEY_INT, true, 0, 1, 1 << 28},
    {"return", LAB_KEY_CHOICE, false, 0, .choices = lab_recurrent_returns},
};

static int64_t cols(const struct lab_shape *s)
{
    return s->dim[s->rank - 1];
}

/* ---- explanations ---- */

enum { GATE_A, GATE_I, GATE_F, GATE_O };

/* One element of the cell, backward. */
struct cell {
    double a, i, f, o, c, cp;
    double dh, dc;
};

static struct cell read_cell(struct lab_explainer *ex, int64_t e)
{
    struct cell s = {.a = lab_explain_in(ex, 4, e),
                     .i = lab_explain_in(ex, 5, e),
                     .f = lab_explain_in(ex, 6, e),
                     .o = lab_explain_in(ex, 7, e),
                     .c = lab_explain_in(ex, 8, e),
                     .cp = lab_explain_in(ex, 9, e)};
    for (int slot = 0; slot < 2; slot++) {
        if (lab_explain_has_in(ex, slot))
            s.dh += lab_explain_in(ex, slot, e);
    }
    s.dc = s.dh * s.o * (1 - tanh(s.c) * tanh(s.c));
    if (lab_explain_has_in(ex, 2))
        s.dc += lab_explain_in(ex, 2, e) *
                (lab_explain_has_in(ex, 3) ? lab_explain_in(ex, 3, e) : 1);
    return s;
}

/* What a formula's short names are: dh and dc are written by this step too. */
static void name_cell(struct lab_explainer *ex, const struct cell *s,
                      const char *names, int64_t e)
{
    static const struct {
        char letter;
        int slot;
        const char *name;
    } inputs[] = {{'a', 4, "a"}, {'i', 5, "i"}, {'f', 6, "f"},
                  {'o', 7, "o"}, {'c', 8, "c"}, {'b', 9, "c_before"}};
    if (strchr(names, 'H')) {
        lab_explain_let_out(ex, "dh", 1, e, s->dh);
        lab_explain_source_out(ex, 1, e);
    }
    if (strchr(names, 'C')) {
        lab_explain_let_out(ex, "dc", 2, e, s->dc);
        lab_explain_source_out(ex, 2, e);
    }
    for (size_t k = 0; k < sizeof(inputs) / sizeof(*inputs); k++) {
        if (!strchr(names, inputs[k].letter))
            continue;
        lab_explain_let(ex, inputs[k].name, inputs[k].slot, e);
        lab_explain_source(ex, inputs[k].slot, e);
    }
}

static void explain_dz(struct lab_explainer *ex, int64_t index)
{
    int64_t H = cols(lab_explain_in_shape(ex, 4));
    int gate = (int)(index / H % 4);
    int64_t e = index / (4 * H) * H + index % H;
    struct cell s = read_cell(ex, e);
    double t = tanh(s.c);
    static const char *const formula[] = {
        "dc * i * (1 - a^2)", "dc * a * i * (1 - i)",
        "dc * c_before * f * (1 - f)", "dh * tanh(c) * o * (1 - o)"};
    static const char *const names[] = {"Cia", "Cai", "Cbf", "Hco"};
    const double g[] = {s.a, s.i, s.f, s.o};
    const double by[] = {s.dc * s.i, s.dc * s.a, s.dc * s.cp, s.dh * t};
    double slope = gate == GATE_A ? 1 - s.a * s.a : g[gate] * (1 - g[gate]);
    const double first[] = {s.dc, s.dc, s.dc, s.dh};
    const double second[] = {s.i, s.a, s.cp, t};
    name_cell(ex, &s, names[gate], e);
    lab_explain_rounds(ex, s.dh * s.o);
    lab_explain_symbolic(ex, "%s", formula[gate]);
    if (gate == GATE_A)
        lab_explain_numeric(ex, "%.6g*%.6g*(1 - %.6g^2)", first[gate],
                            second[gate], s.a);
    else
        lab_explain_numeric(ex, "%.6g*%.6g*%.6g*(1 - %.6g)", first[gate],
                            second[gate], g[gate], g[gate]);
    lab_explain_value(ex, by[gate] * slope);
}

/* A number of an input as a term of its own. */
static void add_number(struct lab_explainer *ex, int slot, int64_t index)
{
    double v = lab_explain_in(ex, slot, index);
    lab_explain_term(ex, v, "%.6g", v);
    lab_explain_source(ex, slot, index);
}

static void explain_dh(struct lab_explainer *ex, int64_t e)
{
    bool both = lab_explain_has_in(ex, 0) && lab_explain_has_in(ex, 1);
    int one = lab_explain_has_in(ex, 0) ? 0 : 1;
    char at[LAB_SHAPE_TEXT];
    lab_explain_at(lab_explain_in_shape(ex, one), e, at);
    if (both)
        lab_explain_symbolic(ex, "%s[%s] + %s[%s]", lab_explain_in_name(ex, 0),
                             at, lab_explain_in_name(ex, 1), at);
    else
        lab_explain_symbolic(ex, "%s[%s]", lab_explain_in_name(ex, one), at);
    add_number(ex, one, e);
    if (both)
        add_number(ex, 1, e);
}

static void explain_dc(struct lab_explainer *ex, int64_t e)
{
    struct cell s = read_cell(ex, e);
    double t = tanh(s.c);
    bool next = lab_explain_has_in(ex, 2);
    bool scaled = lab_explain_has_in(ex, 3);
    char at[LAB_SHAPE_TEXT];
    lab_explain_at(lab_explain_in_shape(ex, 8), e, at);
    lab_explain_symbolic(ex, "dh * o * (1 - tanh(c)^2)");
    if (next && scaled)
        lab_explain_symbolic(ex, "dh * o * (1 - tanh(c)^2) + %s[%s] * %s[%s]",
                             lab_explain_in_name(ex, 2), at,
                             lab_explain_in_name(ex, 3), at);
    else if (next)
        lab_explain_symbolic(ex, "dh * o * (1 - tanh(c)^2) + %s[%s]",
                             lab_explain_in_name(ex, 2), at);
    lab_explain_rounds(ex, s.dh * s.o);
    lab_explain_term(ex, s.dh * s.o * (1 - t * t), "%.6g*%.6g*(1 - %.6g^2)",
                     s.dh, s.o, t);
    name_cell(ex, &s, "Hoc", e);
    if (scaled) {
        double dc = lab_explain_in(ex, 2, e);
        double f = lab_explain_in(ex, 3, e);
        lab_explain_term(ex, dc * f, "%.6g*%.6g", dc, f);
        lab_explain_source(ex, 2, e);
        lab_explain_source(ex, 3, e);
    } else if (next) {
        add_number(ex, 2, e);
    }
}

static void explain_cell_back(struct lab_explainer *ex, int out_slot,
                              int64_t index)
{
    if (out_slot == 0) {
        explain_dz(ex, index);
        return;
    }
    if (out_slot == 1) {
        explain_dh(ex, index);
        return;
    }
    if (out_slot == 2) {
        explain_dc(ex, index);
        return;
    }
    struct cell s = read_cell(ex, index);
    name_cell(ex, &s, "Cf", index);
    lab_explain_rounds(ex, s.dh * s.o * s.f);
    lab_explain_symbolic(ex, "dc * f");
    lab_explain_numeric(ex, "%.6g*%.6g", s.dc, s.f);
    lab_explain_value(ex, s.dc * s.f);
}

/* ---- steps ---- */

static void forward_gates(struct lab_builder *b, const struct lab_recurrent *r,
                          int64_t t, int z)
{
    int before = lab_recurrent_before(b, r, "h", 0, t);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "gates",
                          .numbered = true,
                          .number = (int)t,
                          LAB_IN(lab_recurrent_find(b, "x", t), before,
                                 lab_build_find(b, "W"), lab_build_find(b, "U"),
                                 lab_build_find(b, "b")),
                          LAB_OUT(z),
                          .formula =
                              "$o0[n,k] = sum_d $i0[n,d] * $i2[k,d] + sum_j "
                              "$i1[n,j] * $i3[k,j] + $i4[k]"});
}

/* What a cell writes besides h, each a part (T, N, H) of which step t writes a
 * slice. */
enum { CELL_PARTS = 5 };
static const char *const cell_part[CELL_PARTS] = {"a", "i", "f", "o", "c"};

static void forward_cell(struct lab_builder *b, const struct lab_recurrent *r,
                         int64_t t, int z, int h, const int *part)
{
    int before = lab_recurrent_before(b, r, "c", 1, t);
    long long H = (long long)r->h;
    char formula[256];
    snprintf(formula, sizeof(formula),
             "$o0[n,j] = tanh($i0[n,j]); $o1[n,j] = sigmoid($i0[n,%lld+j]); "
             "$o2[n,j] = sigmoid($i0[n,%lld+j]); $o3[n,j] = "
             "sigmoid($i0[n,%lld+j]); $o4 = $o0 * $o1 + $o2 * $i1; $o5 = "
             "tanh($o4) * $o3",
             H, 2 * H, 3 * H);
    struct lab_step_def def = {
        .name = "cell",
        .numbered = true,
        .number = (int)t,
        LAB_IN(z, before),
        .n_out = 6,
        .formula = formula,
        .display = "$o0 = tanh($i0 a); $o1, $o2, $o3 = sigmoid($i0 i, f, o); "
                   "$o4 = $o0 * $o1 + $o2 * $i1; $o5 = tanh($o4) * $o3"};
    for (int k = 0; k < CELL_PARTS; k++)
        def.out[k] = lab_recurrent_part(b, r, cell_part[k], t, r->h, part[k]);
    def.out[CELL_PARTS] = lab_recurrent_part(b, r, "h", t, r->h, h);
    lab_build_step(b, &def);
}

static void forward(struct lab_builder *b)
{
    struct lab_recurrent r;
    if (!lab_recurrent_dims(b, &r))
        return;
    lab_build_param(b, "W", &(struct lab_shape){2, {4 * r.h, r.d}},
                    LAB_INIT_FAN_IN_FIRST);
    lab_build_param(b, "U", &(struct lab_shape){2, {4 * r.h, r.h}},
                    LAB_INIT_FAN_IN_FIRST);
    lab_build_param(b, "b", &(struct lab_shape){1, {4 * r.h}}, LAB_INIT_ZERO);
    lab_recurrent_start(b, &r, "h", 0);
    lab_recurrent_start(b, &r, "c", 1);
    lab_recurrent_input(b, &r);
    int z = lab_build_part(b, "z", &(struct lab_shape){3, {r.t, r.n, 4 * r.h}},
                           lab_build_real(b));
    int h = lab_build_part(b, "h", &(struct lab_shape){3, {r.t, r.n, r.h}},
                           lab_build_real(b));
    int part[CELL_PARTS];
    for (int k = 0; k < CELL_PARTS; k++)
        part[k] = lab_build_part(b, cell_part[k],
                                 &(struct lab_shape){3, {r.t, r.n, r.h}},
                                 lab_build_real(b));
    for (int64_t t = 0; t < r.t; t++) {
        int zt = lab_recurrent_part(b, &r, "z", t, 4 * r.h, z);
        forward_gates(b, &r, t, zt);
        forward_cell(b, &r, t, zt, h, part);
    }
    lab_recurrent_return(b, &r);
}

/* The grads of step t that later steps left: of h along the gates, and of c,
 * which the later step's f scales. At the last step they are what a layer left
 * that starts there, and nothing scales them. */
struct later {
    int dh;
    int dc;
    int f;
};

/* dh has one or two parts, and dc's second part a factor, or not. */
static void cell_back_formula(char *out, size_t cap, int returned,
                              const struct later *later)
{
    const char *dh = returned < 0 ? "$i1" : later->dh < 0 ? "$i0" : "$i0 + $i1";
    const char *dc = later->dc < 0  ? ""
                     : later->f < 0 ? " + $i2"
                                    : " + $i2 * $i3";
    snprintf(out, cap,
             "!$o1 = %s; $o2 = $o1 * $i7 * (1 - tanh($i8)^2)%s; $o0 = [$o2 $i5 "
             "(1-$i4^2), $o2 $i4 $i5 (1-$i5), $o2 $i9 $i6 (1-$i6), $o1 "
             "tanh($i8) $i7 (1-$i7)]",
             dh, dc);
}

static int backward_cell(struct lab_builder *b, const struct lab_recurrent *r,
                         int64_t t, int dz, int returned, struct later *later)
{
    int before = lab_recurrent_before(b, r, "c", 1, t);
    int f = lab_recurrent_find(b, "f", t);
    char formula[256];
    cell_back_formula(formula, sizeof(formula), returned, later);
    struct lab_step_def def = {.name = "cell",
                               .numbered = true,
                               .number = (int)t,
                               LAB_IN(returned, later->dh, later->dc, later->f,
                                      lab_recurrent_find(b, "a", t),
                                      lab_recurrent_find(b, "i", t), f,
                                      lab_recurrent_find(b, "o", t),
                                      lab_recurrent_find(b, "c", t), before),
                               .n_out = 4,
                               .flop = 25 * (double)r->n * (double)r->h,
                               .formula = formula,
                               .explain = explain_cell_back};
    def.out[0] = lab_recurrent_grad(b, r, "z", t, NULL, dz);
    def.out[1] = lab_recurrent_grad(b, r, "h", t, NULL, LAB_NO_TENSOR);
    def.out[2] = lab_recurrent_grad(b, r, "c", t, NULL, LAB_NO_TENSOR);
    def.out[3] = t > 0 ? LAB_NO_TENSOR : lab_recurrent_start_grad(b, r, "c", 1);
    lab_build_step(b, &def);
    *later = (struct later){LAB_NO_TENSOR, def.out[2], f};
    return def.out[0];
}

static int backward_gates(struct lab_builder *b, const struct lab_recurrent *r,
                          int64_t t, int dz)
{
    int dh = t > 0
                 ? lab_recurrent_grad(b, r, "h", t - 1, "gates", LAB_NO_TENSOR)
                 : lab_recurrent_start_grad(b, r, "h", 0);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "gates",
                          .numbered = true,
                          .number = (int)t,
                          LAB_IN(dz, lab_build_find(b, "U")),
                          LAB_OUT(dh),
                          .formula = "$o0[n,j] = sum_k $i0[n,k] * $i1[k,j]"});
    return dh;
}

static void backward_weights(struct lab_builder *b,
                             const struct lab_recurrent *r, int dz)
{
    int W = lab_build_find(b, "W");
    int dW = lab_build_grad(b, W);
    int dU = lab_build_grad(b, lab_build_find(b, "U"));
    int db = lab_build_grad(b, lab_build_find(b, "b"));
    lab_recurrent_weights_step(
        b, r, dz,
        &(struct lab_step_def){
            .out = {dW, dU, db},
            .formula =
                "$o0[k,d] = sum_t sum_n $i0[t,n,k] * $i1[t,n,d]; $o1[k,j] = "
                "sum_n $i0[0,n,k] * $i3[n,j] + sum_t sum_n $i0[t,n,k] * "
                "$i2[t-1,n,j]; $o2[k] = sum_t sum_n $i0[t,n,k]",
            .display =
                "$o0[k,d] = sum_tn $i0[t,n,k] * $i1[t,n,d]; $o1[k,j] = "
                "sum_tn $i0[t,n,k] * $i2[t-1,n,j], $i2[-1] = $i3; $o2[k] = "
                "sum_tn $i0[t,n,k]"});
    lab_recurrent_input_step(
        b, dz, W,
        &(struct lab_step_def){.formula =
                                   "$o0[n,t,d] = sum_k $i0[t,n,k] * $i1[k,d]"});
}

static void backward(struct lab_builder *b)
{
    struct lab_recurrent r;
    if (!lab_recurrent_dims(b, &r))
        return;
    struct later later = {lab_recurrent_end_grad(b, &r, "h"),
                          lab_recurrent_end_grad(b, &r, "c"), LAB_NO_TENSOR};
    int whole = lab_recurrent_return_grad(b, &r);
    int dz = lab_build_grad(b, lab_build_find(b, "z"));
    for (int64_t t = r.t - 1; t >= 0; t--) {
        int returned = lab_recurrent_returned(b, &r, t, whole);
        int dzt = backward_cell(b, &r, t, dz, returned, &later);
        later.dh = backward_gates(b, &r, t, dzt);
    }
    backward_weights(b, &r, dz);
}

/* Four odd sizes; then two steps of which the last alone returns; then one
 * layer that starts where another ends. */
static bool check(int turn, struct lab_op_check *out)
{
    out->x = (struct lab_shape){3, {5, turn ? 2 : 4, 7}};
    out->attr[0].i = 3;
    out->attr[1].choice = turn == 1;
    out->chained = turn == 2;
    return turn < 3;
}

const struct lab_op_def lab_op_lstm = {
    LAB_LAYER_OP("lstm", 1, 2), LAB_KEYS(keys), .check = check,
    .group = lab_recurrent_group, .group_both = true};
