/* rnn: h = tanh(x Wx + hp Wh + b), unrolled over time. Per time step two steps
 * forward and, from the last to the first, the same two backward; the gradient
 * of the weights is one sum over all of them. */
#include "recurrent/rnn.h"

#include <math.h>

#include "engine/explain.h"
#include "recurrent.h"
#include "recurrent_group.h"

static const struct lab_key_def keys[] = {
    {"hidden", LAB_KEY_INT, true, 0, 1, 1 << 28},
    {"bias", LAB_KEY_BOOL, false, 1},
    {"return", LAB_KEY_CHOICE, false, 0, .choices = lab_recurrent_returns},
};

static int64_t cols(const struct lab_shape *s)
{
    return s->dim[s->rank - 1];
}

/* ---- explanations ---- */

static void explain_sum(struct lab_explainer *ex, int out_slot, int64_t index)
{
    int64_t D = cols(lab_explain_in_shape(ex, 0));
    int64_t H = cols(lab_explain_out_shape(ex, out_slot));
    long long n = index / H;
    long long j = index % H;
    bool bias = lab_explain_has_in(ex, 4);
    lab_explain_symbolic(
        ex, "sum_d %s[%lld,d] * %s[d,%lld] + sum_k %s[%lld,k] * %s[k,%lld]%s%s",
        lab_explain_in_name(ex, 0), n, lab_explain_in_name(ex, 2), j,
        lab_explain_in_name(ex, 1), n, lab_explain_in_name(ex, 3), j,
        bias ? " + " : "", bias ? lab_explain_in_name(ex, 4) : "");
    lab_recurrent_products(ex, 0, n * D, 1, 2, j, H, D);
    lab_recurrent_products(ex, 1, n * H, 1, 3, j, H, H);
    if (bias)
        lab_recurrent_number(ex, 4, j);
}

static void explain_tanh(struct lab_explainer *ex, int out_slot, int64_t index)
{
    double z = lab_explain_in(ex, 0, index);
    char at[LAB_SHAPE_TEXT];
    lab_explain_source(ex, 0, index);
    lab_explain_symbolic(
        ex, "tanh(%s[%s])", lab_explain_in_name(ex, 0),
        lab_explain_at(lab_explain_out_shape(ex, out_slot), index, at));
    lab_explain_numeric(ex, "tanh(%.6g)", z);
    lab_explain_value(ex, tanh(z));
}

static void explain_tanh_back(struct lab_explainer *ex, int out_slot,
                              int64_t index)
{
    bool both = lab_explain_has_in(ex, 0) && lab_explain_has_in(ex, 1);
    int one = lab_explain_has_in(ex, 0) ? 0 : 1;
    char at[LAB_SHAPE_TEXT];
    lab_explain_at(lab_explain_in_shape(ex, 2), index, at);
    if (out_slot == 1) {
        if (both)
            lab_explain_symbolic(ex, "%s[%s] + %s[%s]",
                                 lab_explain_in_name(ex, 0), at,
                                 lab_explain_in_name(ex, 1), at);
        else
            lab_explain_symbolic(ex, "%s[%s]", lab_explain_in_name(ex, one),
                                 at);
        lab_recurrent_number(ex, one, index);
        if (both)
            lab_recurrent_number(ex, 1, index);
        return;
    }
    double dh = lab_explain_in(ex, one, index);
    lab_explain_source(ex, one, index);
    if (both) {
        dh += lab_explain_in(ex, 1, index);
        lab_explain_source(ex, 1, index);
    }
    double h = lab_explain_in(ex, 2, index);
    lab_explain_source(ex, 2, index);
    lab_explain_symbolic(ex, "%s[%s] * (1 - %s[%s]^2)",
                         lab_explain_out_name(ex, 1), at,
                         lab_explain_in_name(ex, 2), at);
    lab_explain_numeric(ex, "%.6g*(1 - %.6g^2)", dh, h);
    lab_explain_value(ex, dh * (1 - h * h));
}

static void explain_sum_back(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    int64_t H = cols(lab_explain_out_shape(ex, out_slot));
    lab_explain_symbolic(ex, "sum_j %s[%lld,j] * %s[%lld,j]",
                         lab_explain_in_name(ex, 0), (long long)(index / H),
                         lab_explain_in_name(ex, 1), (long long)(index % H));
    lab_recurrent_products(ex, 0, index / H * H, 1, 1, index % H * H, 1, H);
}

static void explain_weights(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    const struct lab_shape *dz = lab_explain_in_shape(ex, 0);
    int64_t N = dz->dim[1];
    int64_t H = dz->dim[2];
    int64_t rows = dz->dim[0] * N;
    int64_t j = index % H;
    int64_t row = index / H;
    const char *name = lab_explain_in_name(ex, 0);
    if (out_slot == 2) {
        lab_explain_symbolic(ex, "sum_t sum_n %s[t,n,%lld]", name,
                             (long long)index);
        for (int64_t r = 0; r < rows; r++)
            lab_recurrent_number(ex, 0, r * H + index);
    } else if (out_slot == 0) {
        lab_explain_symbolic(ex, "sum_t sum_n %s[t,n,%lld] * %s[t,n,%lld]",
                             lab_explain_in_name(ex, 1), (long long)row, name,
                             (long long)j);
        lab_recurrent_products(ex, 1, row, cols(lab_explain_in_shape(ex, 1)), 0,
                               j, H, rows);
    } else {
        lab_explain_symbolic(
            ex,
            "sum_n %s[n,%lld] * %s[0,n,%lld] + sum_t sum_n %s[t-1,n,%lld] * "
            "%s[t,n,%lld]",
            lab_explain_in_name(ex, 3), (long long)row, name, (long long)j,
            lab_explain_in_name(ex, 2), (long long)row, name, (long long)j);
        lab_recurrent_products(ex, 3, row, H, 0, j, H, N);
        lab_recurrent_products(ex, 2, row, H, 0, N * H + j, H, rows - N);
    }
}

static void explain_input_back(struct lab_explainer *ex, int out_slot,
                               int64_t index)
{
    const struct lab_shape *out = lab_explain_out_shape(ex, out_slot);
    int64_t H = cols(lab_explain_in_shape(ex, 0));
    int64_t at[LAB_MAX_RANK];
    lab_shape_unravel(out, index, at);
    lab_explain_symbolic(ex, "sum_j %s[%lld,%lld,j] * %s[%lld,j]",
                         lab_explain_in_name(ex, 0), (long long)at[1],
                         (long long)at[0], lab_explain_in_name(ex, 1),
                         (long long)at[2]);
    lab_recurrent_products(ex, 0, (at[1] * out->dim[0] + at[0]) * H, 1, 1,
                           at[2] * H, 1, H);
}

/* ---- forward ---- */

static void forward_step(struct lab_builder *b, const struct lab_recurrent *r,
                         int64_t t, int z, int h)
{
    double nh = (double)r->n * (double)r->h;
    int bias = lab_build_find(b, "b");
    int zt = lab_recurrent_part(b, r, "z", t, r->h, z);
    int before = lab_recurrent_before(b, r, "h", 0, t);
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "sum",
               .numbered = true,
               .number = (int)t,
               .phase = LAB_FORWARD,
               .in = {lab_recurrent_find(b, "x", t), before,
                      lab_build_find(b, "Wx"), lab_build_find(b, "Wh"), bias},
               .n_in = 5,
               .out = {zt},
               .n_out = 1,
               .flop = nh * (2 * (double)r->d + 2 * (double)r->h + (bias >= 0)),
               .formula = bias >= 0 ? "$o0[n,j] = sum_d $i0[n,d] * $i2[d,j] + "
                                      "sum_k $i1[n,k] * $i3[k,j] + $i4[j]"
                                    : "$o0[n,j] = sum_d $i0[n,d] * $i2[d,j] + "
                                      "sum_k $i1[n,k] * $i3[k,j]",
               .explain = explain_sum});
    int ht = lab_recurrent_part(b, r, "h", t, r->h, h);
    lab_build_step(b, &(struct lab_step_def){.name = "tanh",
                                             .numbered = true,
                                             .number = (int)t,
                                             .phase = LAB_FORWARD,
                                             .in = {zt},
                                             .n_in = 1,
                                             .out = {ht},
                                             .n_out = 1,
                                             .flop = nh,
                                             .formula = "$o0 = tanh($i0)",
                                             .explain = explain_tanh});
}

static void forward(struct lab_builder *b)
{
    struct lab_recurrent r;
    if (!lab_recurrent_dims(b, &r))
        return;
    struct lab_shape all = {3, {r.t, r.n, r.h}};
    lab_build_param(b, "Wx", &(struct lab_shape){2, {r.d, r.h}},
                    LAB_INIT_FAN_IN);
    lab_build_param(b, "Wh", &(struct lab_shape){2, {r.h, r.h}},
                    LAB_INIT_FAN_IN);
    if (lab_build_attr(b, "bias")->b)
        lab_build_param(b, "b", &(struct lab_shape){1, {r.h}}, LAB_INIT_ZERO);
    lab_recurrent_start(b, &r, "h", 0);
    lab_recurrent_input(b, &r);
    int z = lab_build_part(b, "z", &all, lab_build_real(b));
    int h = lab_build_part(b, "h", &all, lab_build_real(b));
    for (int64_t t = 0; t < r.t; t++)
        forward_step(b, &r, t, z, h);
    lab_recurrent_return(b, &r);
}

/* ---- backward ---- */

/* returned, later: what comes back from the result and from the next step.
 * Returns what goes on to the step before. */
static int backward_step(struct lab_builder *b, const struct lab_recurrent *r,
                         int64_t t, int dz, int returned, int later)
{
    double nh = (double)r->n * (double)r->h;
    const char *sum = "$o1 = $i0 + $i1; $o0 = $o1 * (1 - $i2^2)";
    if (returned < 0)
        sum = "$o1 = $i1; $o0 = $o1 * (1 - $i2^2)";
    else if (later < 0)
        sum = "$o1 = $i0; $o0 = $o1 * (1 - $i2^2)";
    int dzt = lab_recurrent_grad(b, r, "z", t, NULL, dz);
    int dht = lab_recurrent_grad(b, r, "h", t, NULL, LAB_NO_TENSOR);
    lab_build_step(b,
                   &(struct lab_step_def){
                       .name = "tanh",
                       .numbered = true,
                       .number = (int)t,
                       .phase = LAB_BACKWARD,
                       .in = {returned, later, lab_recurrent_find(b, "h", t)},
                       .n_in = 3,
                       .out = {dzt, dht},
                       .n_out = 2,
                       .flop = nh * (returned >= 0 && later >= 0 ? 4 : 3),
                       .formula = sum,
                       .explain = explain_tanh_back});
    int before =
        t > 0 ? lab_recurrent_grad(b, r, "h", t - 1, "sum", LAB_NO_TENSOR)
              : lab_recurrent_start_grad(b, r, "h", 0);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "sum",
                          .numbered = true,
                          .number = (int)t,
                          .phase = LAB_BACKWARD,
                          .in = {dzt, lab_build_find(b, "Wh")},
                          .n_in = 2,
                          .out = {before},
                          .n_out = 1,
                          .flop = 2 * nh * (double)r->h,
                          .formula = "$o0[n,k] = sum_j $i0[n,j] * $i1[k,j]",
                          .explain = explain_sum_back});
    return before;
}

static void backward_weights(struct lab_builder *b,
                             const struct lab_recurrent *r, int dz)
{
    double each = (double)r->h * (double)r->t * (double)r->n;
    int Wx = lab_build_find(b, "Wx");
    int bias = lab_build_find(b, "b");
    int dWx = lab_build_grad(b, Wx);
    int dWh = lab_build_grad(b, lab_build_find(b, "Wh"));
    int db = bias >= 0 ? lab_build_grad(b, bias) : LAB_NO_TENSOR;
    lab_recurrent_weights_step(
        b, r, dz,
        &(struct lab_step_def){
            .out = {dWx, dWh, db},
            .flop = each * (2 * (double)r->d + 2 * (double)r->h + (bias >= 0)),
            .formula = bias >= 0
                           ? "$o0[d,j] = sum_tn $i1[t,n,d] * $i0[t,n,j]; "
                             "$o1[k,j] = sum_tn $i2[t-1,n,k] * $i0[t,n,j], "
                             "$i2[-1] = $i3; $o2[j] = sum_tn $i0[t,n,j]"
                           : "$o0[d,j] = sum_tn $i1[t,n,d] * $i0[t,n,j]; "
                             "$o1[k,j] = sum_tn $i2[t-1,n,k] * $i0[t,n,j], "
                             "$i2[-1] = $i3",
            .explain = explain_weights});
    lab_recurrent_input_step(
        b, dz, Wx,
        &(struct lab_step_def){.flop = each * 2 * (double)r->d,
                               .formula =
                                   "$o0[n,t,d] = sum_j $i0[t,n,j] * $i1[d,j]",
                               .explain = explain_input_back});
}

static void backward(struct lab_builder *b)
{
    struct lab_recurrent r;
    if (!lab_recurrent_dims(b, &r))
        return;
    int whole = lab_recurrent_return_grad(b, &r);
    int dz = lab_build_grad(b, lab_build_find(b, "z"));
    int later = lab_recurrent_end_grad(b, &r, "h");
    for (int64_t t = r.t - 1; t >= 0; t--) {
        int returned = lab_recurrent_returned(b, &r, t, whole);
        later = backward_step(b, &r, t, dz, returned, later);
    }
    backward_weights(b, &r, dz);
}

/* Four odd sizes; then two steps of which the last alone returns, without bias;
 * then one layer that starts where another ends. */
static bool check(int turn, struct lab_op_check *out)
{
    out->x = (struct lab_shape){3, {5, turn ? 2 : 4, 7}};
    out->attr[0].i = 3;
    out->attr[1].b = turn == 0;
    out->attr[2].choice = turn == 1;
    out->chained = turn == 2;
    return turn < 3;
}

const struct lab_op_def lab_op_rnn = {.name = "rnn",
                                      .kind = LAB_KIND_LAYER,
                                      .keys = keys,
                                      .n_keys = 3,
                                      .min_inputs = 1,
                                      .max_inputs = 2,
                                      .forward = forward,
                                      .backward = backward,
                                      .check = check,
                                      .group = lab_recurrent_group,
                                      .group_both = true};
