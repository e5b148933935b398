/* rnn: h = tanh(x Wx + hp Wh + b), unrolled over time. Per time step two steps
 * forward and, from the last to the first, the same two backward; the gradient
 * of the weights is one sum over all of them. */
#include "recurrent/rnn.h"

#include "recurrent.h"

static const struct lab_key_def keys[] = {
    {"hidden", LAB_KEY_INT, true, 0, 1, 1 << 28},
    {"bias", LAB_KEY_BOOL, false, 1},
    {"return", LAB_KEY_CHOICE, false, 0, .choices = lab_recurrent_returns},
};

/* ---- forward ---- */

static void forward_step(struct lab_builder *b, const struct lab_recurrent *r,
                         int64_t t, int z, int h)
{
    int bias = lab_build_find(b, "b");
    int zt = lab_recurrent_part(b, r, "z", t, r->h, z);
    int before = lab_recurrent_before(b, r, "h", 0, t);
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "sum",
               .numbered = true,
               .number = (int)t,
               LAB_IN(lab_recurrent_find(b, "x", t), before,
                      lab_build_find(b, "Wx"), lab_build_find(b, "Wh"), bias),
               LAB_OUT(zt),
               .formula = bias >= 0 ? "$o0[n,j] = sum_d $i0[n,d] * $i2[d,j] + "
                                      "sum_k $i1[n,k] * $i3[k,j] + $i4[j]"
                                    : "$o0[n,j] = sum_d $i0[n,d] * $i2[d,j] + "
                                      "sum_k $i1[n,k] * $i3[k,j]"});
    int ht = lab_recurrent_part(b, r, "h", t, r->h, h);
    lab_build_step(b, &(struct lab_step_def){.name = "tanh",
                                             .numbered = true,
                                             .number = (int)t,
                                             LAB_IN(zt),
                                             LAB_OUT(ht),
                                             .formula = "$o0 = tanh($i0)"});
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
                       LAB_IN(returned, later, lab_recurrent_find(b, "h", t)),
                       LAB_OUT(dzt, dht),
                       .formula = sum});
    int before =
        t > 0 ? lab_recurrent_grad(b, r, "h", t - 1, "sum", LAB_NO_TENSOR)
              : lab_recurrent_start_grad(b, r, "h", 0);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "sum",
                          .numbered = true,
                          .number = (int)t,
                          LAB_IN(dzt, lab_build_find(b, "Wh")),
                          LAB_OUT(before),
                          .formula = "$o0[n,k] = sum_j $i0[n,j] * $i1[k,j]"});
    return before;
}

static void backward_weights(struct lab_builder *b,
                             const struct lab_recurrent *r, int dz)
{
    int Wx = lab_build_find(b, "Wx");
    int bias = lab_build_find(b, "b");
    int dWx = lab_build_grad(b, Wx);
    int dWh = lab_build_grad(b, lab_build_find(b, "Wh"));
    int db = bias >= 0 ? lab_build_grad(b, bias) : LAB_NO_TENSOR;
    lab_recurrent_weights_step(
        b, r, dz,
        &(struct lab_step_def){
            .out = {dWx, dWh, db},
            .formula =
                "$o0[d,j] = sum_t sum_n $i1[t,n,d] * $i0[t,n,j]; $o1[k,j] = "
                "sum_n $i3[n,k] * $i0[0,n,j] + sum_t sum_n $i2[t-1,n,k] * "
                "$i0[t,n,j]; $o2[j] = sum_t sum_n $i0[t,n,j]",
            .display = "$o0[d,j] = sum_tn $i1[t,n,d] * $i0[t,n,j]; $o1[k,j] = "
                       "sum_tn $i2[t-1,n,k] * $i0[t,n,j], $i2[-1] = $i3; "
                       "$o2[j] = sum_tn $i0[t,n,j]"});
    lab_recurrent_input_step(
        b, dz, Wx,
        &(struct lab_step_def){.formula =
                                   "$o0[n,t,d] = sum_j $i0[t,n,j] * $i1[d,j]"});
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

const struct lab_op_def lab_op_rnn = {
    LAB_LAYER_OP("rnn", 1, 2), LAB_KEYS(keys), .check = check,
    .group = lab_recurrent_group, .group_both = true};
