/* What a recurrent layer starts from: zeros of its own, or the last state of
 * another layer. */
#include <stdio.h>
#include <string.h>

#include "recurrent.h"

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
    struct lab_shape own = lab_recurrent_step_shape(r);
    char text[2][LAB_SHAPE_TEXT];
    bool recurrent = giver && (strcmp(giver->name, "rnn") == 0 ||
                               strcmp(giver->name, "lstm") == 0);
    if (!recurrent)
        lab_build_fail(b, LAB_E_PARSE,
                       "starts from '%s', which has no state: the second of "
                       "from: is an rnn or an lstm before this node",
                       name);
    else if (state < 0)
        lab_build_fail(b, LAB_E_PARSE,
                       "starts from '%s', an %s without a state %s: an lstm "
                       "starts from an lstm",
                       name, giver->name, part);
    else if (s.dim[0] != own.dim[0] || s.dim[1] != own.dim[1])
        lab_build_fail(b, LAB_E_SHAPE,
                       "starts from '%s', whose last state is %s; this layer's "
                       "is %s, [samples, hidden]",
                       name, lab_shape_text(&s, text[0]),
                       lab_shape_text(&own, text[1]));
    else
        return true;
    return false;
}

void lab_recurrent_start(struct lab_builder *b, const struct lab_recurrent *r,
                         const char *part, int k)
{
    char name[64];
    struct lab_shape shape = lab_recurrent_step_shape(r);
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
