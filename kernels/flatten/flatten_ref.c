/* flatten: an image becomes a row of numbers. Only the order is in question:
 * memory's own, or the channel slowest ("channel first"), which is how a
 * network trained on [N, C, H, W] images numbers its inputs. */
#include "flatten/flatten.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/flatten/flatten_ref.c"

/* The image in x is [N, S, C], S = H*W. Element (s, c) of sample n goes to
 * place c*S + s of row n; `back` brings it home again. */
static void permute(real *to, const real *from, const struct lab_view *image,
                    bool back)
{
    int64_t C = lab_view_cols(image);
    int64_t N = image->rank > 0 ? image->dim[0] : 1;
    int64_t S = N * C > 0 ? image->count / (N * C) : 0;
    for (int64_t n = 0; n < N; n++) {
        for (int64_t s = 0; s < S; s++) {
            for (int64_t c = 0; c < C; c++) {
                int64_t in_image = (n * S + s) * C + c;
                int64_t in_row = (n * C + c) * S + s;
                if (back)
                    to[in_image] = from[in_row];
                else
                    to[in_row] = from[in_image];
            }
        }
    }
}

static void copy(real *to, const real *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i];
}

static enum lab_status flatten_forward(const struct lab_call *call)
{
    const struct lab_flatten_params *p = call->params;
    if (p->permute)
        permute(call->out[0].data, call->in[0].data, &call->in[0], false);
    else
        copy(call->out[0].data, call->in[0].data, call->in[0].count);
    return LAB_OK;
}

static enum lab_status flatten_backward(const struct lab_call *call)
{
    const struct lab_flatten_params *p = call->params;
    if (p->permute)
        permute(call->out[0].data, call->in[0].data, &call->out[0], true);
    else
        copy(call->out[0].data, call->in[0].data, call->in[0].count);
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("flatten", LAB_FORWARD, flatten_forward),
    LAB_REF_ROW("flatten", LAB_BACKWARD, flatten_backward),
};

LAB_REF_SET(flatten, variants);
