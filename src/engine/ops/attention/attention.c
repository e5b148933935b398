/* attention: self-attention with heads. Three projections of x, scaled dot
 * product attention in every head, and a projection of the heads' results. */
#include "attend.h"
#include "engine/op.h"

static const struct lab_key_def keys[] = {
    {"heads", LAB_KEY_INT, true, 0, 1, 1073741824.0},
    {"causal", LAB_KEY_BOOL, false, 0},
    {"bias", LAB_KEY_BOOL, false, 1},
};

static const char *const projections[] = {"q", "k", "v"};

static int64_t last(const struct lab_shape *s)
{
    return s->dim[s->rank - 1];
}

/* y = x W + b, with W and b named after `letter`. */
static void project(struct lab_builder *b, const char *step, char letter, int x,
                    int y)
{
    struct lab_shape shape = lab_build_shape(b, x);
    int64_t D = last(&shape);
    char W_name[] = {'W', letter, '\0'};
    char b_name[] = {'b', letter, '\0'};
    int bias = LAB_NO_TENSOR;
    int W = lab_build_param(b, W_name, &(struct lab_shape){2, {D, D}},
                            LAB_INIT_FAN_IN);
    if (lab_build_attr(b, "bias")->b)
        bias = lab_build_param(b, b_name, &(struct lab_shape){1, {D}},
                               LAB_INIT_ZERO);
    lab_build_step(
        b, &(struct lab_step_def){
               .name = step,
               LAB_IN(x, W, bias),
               LAB_OUT(y),
               .formula = bias >= 0
                              ? "$o0[t,m] = sum_k $i0[t,k] ~ $i1[k,m] + $i2[m]"
                              : "$o0[t,m] = sum_k $i0[t,k] ~ $i1[k,m]"});
}

static void project_back(struct lab_builder *b, const char *step, char letter,
                         int x, int dy, int dx)
{
    char W_name[] = {'W', letter, '\0'};
    char b_name[] = {'b', letter, '\0'};
    int W = lab_build_find(b, W_name);
    int dW = lab_build_grad(b, W);
    int db = lab_build_grad(b, lab_build_find(b, b_name));
    lab_build_step(b, &(struct lab_step_def){
                          .name = step,
                          LAB_IN(dy, x, W),
                          LAB_OUT(dW, db, dx),
                          .formula =
                              "$o0[k,m] = sum_t $i1[t,k] ~ $i0[t,m]; $o1[m] = "
                              "sum_t $i0[t,m]; $o2[t,k] = sum_m $i0[t,m] ~ "
                              "$i2[k,m]"});
}

static bool input_fits(struct lab_builder *b, const struct lab_shape *shape)
{
    int64_t heads = lab_build_attr(b, "heads")->i;
    char text[LAB_SHAPE_TEXT];
    lab_shape_text(shape, text);
    if (shape->rank < 2 || shape->rank > 3)
        lab_build_fail(
            b, LAB_E_SHAPE,
            "[op.attention.shape] reads %s; it takes [N,T,D] or [T,D]", text);
    else if (last(shape) % heads != 0)
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.attention.heads] reads %s: %lld heads do not "
                       "divide its width %lld",
                       text, (long long)heads, (long long)last(shape));
    else
        return true;
    return false;
}

static struct lab_attend attend_of(const struct lab_builder *b)
{
    struct lab_attend t = {.q = lab_build_find(b, "q"),
                           .k = lab_build_find(b, "k"),
                           .v = lab_build_find(b, "v"),
                           .heads = lab_build_attr(b, "heads")->i,
                           .mask = LAB_NO_TENSOR,
                           .causal = lab_build_attr(b, "causal")->b};
    return t;
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    enum lab_dtype real = lab_build_real(b);
    if (!input_fits(b, &shape))
        return;
    for (int i = 0; i < 3; i++) {
        int y = lab_build_part(b, projections[i], &shape, real);
        project(b, projections[i], projections[i][0], x, y);
        if (i > 0)
            lab_build_input_use(b, 0);
    }
    struct lab_attend t = attend_of(b);
    int ctx = lab_build_part(b, "ctx", &shape, real);
    if (ctx < 0)
        return;
    lab_attend_forward(b, &t, ctx, true);
    project(b, "output", 'o', ctx, lab_build_out(b, &shape));
}

static void backward(struct lab_builder *b)
{
    struct lab_attend t = attend_of(b);
    int ctx = lab_build_find(b, "ctx");
    int dctx = lab_build_grad(b, ctx);
    project_back(b, "output", 'o', ctx, lab_build_out_grad(b), dctx);
    int d[] = {lab_build_grad(b, t.q), lab_build_grad(b, t.k),
               lab_build_grad(b, t.v)};
    lab_attend_backward(b, &t, dctx, d[0], d[1], d[2]);
    for (int i = 2; i >= 0; i--)
        project_back(b, projections[i], projections[i][0],
                     lab_build_input(b, 0), d[i], lab_build_input_grad(b, i));
}

static const struct lab_op_test_network trials[] = {
    {.in = {{3, {3, 5, 21}}}, .out = {3, {3, 5, 21}}, .keys = {{"heads", 3}}},
    {.in = {{3, {2, 33, 10}}},
     .out = {3, {2, 33, 10}},
     .keys = {{"heads", 2}, {"causal", 1}, {"bias", 0}}},
};

static const struct lab_part_axis axes[] = {
    {"scores", 2, 0}, {"scores", 1, 0}, {"probs", 2, 0}, {"probs", 1, 0}};

const struct lab_op_def lab_op_attention = {
    LAB_LAYER_OP("attention", 1, 1),
    LAB_KEYS(keys),
    .group = lab_attend_group,
    .group_from = {[LAB_FORWARD] = "scores", [LAB_BACKWARD] = "context"},
    .group_steps = 3,
    .group_both = true,
    LAB_TRIALS(trials),
    LAB_AXES(axes)};
