/* recurrent.c -- what rnn and lstm share: their parts, what they start from (zeros of
 * their own, or the last state of another layer), and what they return. */
#include "recurrent.h"

#include <stdio.h>
#include <string.h>

#include "engine/plan.h"

const char *const lab_recurrent_returns[] = {"sequence", "last", NULL};

bool lab_recurrent_dims(struct lab_builder *b, struct lab_recurrent *r)
{
    struct lab_shape x = lab_build_shape(b, lab_build_input(b, 0));
    char text[LAB_SHAPE_TEXT];
    if (x.rank != 3) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.recurrent.shape] reads %s; it takes sequences "
                       "[N,T,D]: samples, time steps, features",
                       lab_shape_text(&x, text));
        return false;
    }
    if (x.dim[1] > LAB_RECURRENT_STEPS) {
        lab_build_fail(b, LAB_E_RANGE,
                       "[op.recurrent.steps] reads %s: %lld time steps, and at "
                       "most %d are unrolled",
                       lab_shape_text(&x, text), (long long)x.dim[1],
                       LAB_RECURRENT_STEPS);
        return false;
    }
    *r = (struct lab_recurrent){.n = x.dim[0],
                                .t = x.dim[1],
                                .d = x.dim[2],
                                .h = lab_build_attr(b, "hidden")->i,
                                .last = lab_build_attr(b, "return")->choice,
                                .chained = lab_build_node(b)->n_in > 1};
    return true;
}

static struct lab_shape recurrent_step_shape(const struct lab_recurrent *r)
{
    return (struct lab_shape){2, {r->n, r->h}};
}

int lab_recurrent_find(const struct lab_builder *b, const char *part, int64_t t)
{
    char name[64];
    snprintf(name, sizeof(name), "%s.%lld", part, (long long)t);
    return lab_build_find(b, name);
}

int lab_recurrent_part(struct lab_builder *b, const struct lab_recurrent *r,
                       const char *part, int64_t t, int64_t cols, int of)
{
    struct lab_shape shape = {2, {r->n, cols}};
    char name[64];
    snprintf(name, sizeof(name), "%s.%lld", part, (long long)t);
    if (of == LAB_NO_TENSOR)
        return lab_build_part(b, name, &shape, lab_build_real(b));
    return lab_build_slice(b, name, &shape, of, t * r->n * cols);
}

int lab_recurrent_grad(struct lab_builder *b, const struct lab_recurrent *r,
                       const char *part, int64_t t, const char *path, int of)
{
    int tensor = lab_recurrent_find(b, part, t);
    struct lab_shape shape = lab_build_shape(b, tensor);
    return lab_build_grad_slice(b, tensor, path, of, t * r->n * shape.dim[1]);
}

/* ---- steps ---- */

void lab_recurrent_input(struct lab_builder *b, const struct lab_recurrent *r)
{
    int xs = lab_build_part(b, "x", &(struct lab_shape){3, {r->t, r->n, r->d}},
                            lab_build_real(b));
    for (int64_t t = 0; t < r->t; t++)
        lab_recurrent_part(b, r, "x", t, r->d, xs);
    lab_build_step(b,
                   &(struct lab_step_def){.name = "input",
                                          LAB_IN(lab_build_input(b, 0)),
                                          LAB_OUT(xs),
                                          .formula = "$o0[t,n,d] = $i0[n,t,d] "
                                                     "\"unchanged\""});
}

void lab_recurrent_return(struct lab_builder *b, const struct lab_recurrent *r)
{
    struct lab_shape shape = {3, {r->n, r->t, r->h}};
    if (r->last)
        shape = recurrent_step_shape(r);
    int from =
        r->last ? lab_recurrent_find(b, "h", r->t - 1) : lab_build_find(b, "h");
    int out = lab_build_out(b, &shape);
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "return",
               LAB_IN(from),
               LAB_OUT(out),
               .formula = r->last ? "$o0 = $i0 \"unchanged\""
                                  : "$o0[n,t,j] = $i0[t,n,j] \"unchanged\""});
}

int lab_recurrent_return_grad(struct lab_builder *b,
                              const struct lab_recurrent *r)
{
    if (r->last || lab_build_out_grad(b) < 0)
        return LAB_NO_TENSOR;
    int whole = lab_build_grad_slice(b, lab_build_find(b, "h"), "return",
                                     LAB_NO_TENSOR, 0);
    lab_build_step(b,
                   &(struct lab_step_def){.name = "return",
                                          LAB_IN(lab_build_out_grad(b)),
                                          LAB_OUT(whole),
                                          .formula = "$o0[t,n,j] = $i0[n,t,j] "
                                                     "\"unchanged\""});
    return whole;
}

int lab_recurrent_returned(struct lab_builder *b, const struct lab_recurrent *r,
                           int64_t t, int whole)
{
    if (!r->last)
        return whole < 0 ? LAB_NO_TENSOR
                         : lab_recurrent_grad(b, r, "h", t, "return", whole);
    return t == r->t - 1 ? lab_build_out_grad(b) : LAB_NO_TENSOR;
}

void lab_recurrent_weights_step(struct lab_builder *b,
                                const struct lab_recurrent *r, int dz,
                                const struct lab_step_def *def)
{
    const int in[] = {dz, lab_build_find(b, "x"), lab_build_find(b, "h"),
                      lab_recurrent_before(b, r, "h", 0, 0)};
    struct lab_step_def step = *def;
    step.name = "weights";
    step.n_in = 4;
    step.n_out = 3;
    memcpy(step.in, in, sizeof(in));
    lab_build_step(b, &step);
}

void lab_recurrent_input_step(struct lab_builder *b, int dz, int W,
                              const struct lab_step_def *def)
{
    struct lab_step_def step = *def;
    step.name = "input";
    step.in[0] = dz;
    step.in[1] = W;
    step.n_in = 2;
    step.out[0] = lab_build_input_grad(b, 0);
    step.n_out = 1;
    lab_build_step(b, &step);
}

/* What a recurrent layer starts from: zeros of its own, or the last state of
 * another layer. */

/* The time steps of a layer, from its part "h" [T,N,H]. */
static int64_t steps_of(const struct lab_builder *b)
{
    struct lab_shape h = lab_build_shape(b, lab_build_producer_find(b, 1, "h"));
    return h.rank == 3 ? h.dim[0] : 0;
}

static bool fits(struct lab_builder *b, const struct lab_recurrent *r,
                 const char *part, int state)
{
    const struct lab_op_def *giver = lab_build_producer_op(b, 1);
    const char *name = lab_build_producer_id(b, 1);
    struct lab_shape s = lab_build_shape(b, state);
    struct lab_shape own = recurrent_step_shape(r);
    char text[2][LAB_SHAPE_TEXT];
    bool recurrent = giver && (strcmp(giver->name, "rnn") == 0 ||
                               strcmp(giver->name, "lstm") == 0);
    if (!recurrent)
        lab_build_fail(
            b, LAB_E_PARSE,
            "[op.recurrent.no-state] starts from '%s', which has no state: the "
            "second of from: is an rnn or an lstm before this node",
            name);
    else if (state < 0)
        lab_build_fail(b, LAB_E_PARSE,
                       "[op.recurrent.state-kind] starts from '%s', an %s "
                       "without a state %s: an lstm starts from an lstm",
                       name, giver->name, part);
    else if (s.dim[0] != own.dim[0] || s.dim[1] != own.dim[1])
        lab_build_fail(
            b, LAB_E_SHAPE,
            "[op.recurrent.state-shape] starts from '%s', with the last state "
            "%s; this layer's is %s, [samples, hidden]",
            name, lab_shape_text(&s, text[0]), lab_shape_text(&own, text[1]));
    else
        return true;
    return false;
}

void lab_recurrent_start(struct lab_builder *b, const struct lab_recurrent *r,
                         const char *part, int k)
{
    char name[64];
    struct lab_shape shape = recurrent_step_shape(r);
    if (!r->chained) {
        snprintf(name, sizeof(name), "%s0", part);
        lab_build_node_state(b, name, &shape, LAB_INIT_ZERO);
        return;
    }
    snprintf(name, sizeof(name), "%s.%lld", part, (long long)steps_of(b) - 1);
    int state = lab_build_producer_find(b, 1, name);
    if (fits(b, r, part, state))
        lab_build_read_part(b, 1 + k, state);
}

int lab_recurrent_before(const struct lab_builder *b,
                         const struct lab_recurrent *r, const char *part, int k,
                         int64_t t)
{
    char name[64];
    if (t > 0)
        return lab_recurrent_find(b, part, t - 1);
    if (r->chained)
        return lab_build_input(b, 1 + k);
    snprintf(name, sizeof(name), "%s0", part);
    return lab_build_find(b, name);
}

int lab_recurrent_start_grad(struct lab_builder *b,
                             const struct lab_recurrent *r, const char *part,
                             int k)
{
    if (r->chained)
        return lab_build_input_grad(b, 1 + k);
    return lab_build_grad(b, lab_recurrent_before(b, r, part, k, 0));
}

int lab_recurrent_end_grad(const struct lab_builder *b,
                           const struct lab_recurrent *r, const char *part)
{
    return lab_build_part_returned(b, lab_recurrent_find(b, part, r->t - 1));
}
