/* rnn and lstm in one primitive for the whole sequence: one step stands for all
 * steps of a phase (kernels/recurrent/sequence.h). */
#include <string.h>

#include "base/mem.h"
#include "onednn_layer.h"
#include "onednn_rows.h"
#include "recurrent/sequence.h"

/* The sizes and the first six inputs from in[at] on; false: one of them is 0. */
static bool open_call(const struct lab_call *call, int at,
                      struct onednn_layer_sizes *s,
                      struct onednn_layer_data *data)
{
    const struct lab_view *in = call->in + at;
    *s = (struct onednn_layer_sizes){.lstm = in[5].data != NULL,
                                     .N = in[0].dim[0],
                                     .T = in[0].dim[1],
                                     .D = in[0].dim[2],
                                     .H = lab_view_cols(&in[2])};
    if (!s->lstm) /* [H,H] and [4H,H] end alike, [D,H] does not */
        s->H = lab_view_cols(&in[1]);
    *data = (struct onednn_layer_data){.x = in[0].data,
                                       .W = in[1].data,
                                       .U = in[2].data,
                                       .b = in[3].data,
                                       .h0 = in[4].data,
                                       .c0 = in[5].data};
    return s->N > 0 && s->T > 0 && s->D > 0 && s->H > 0;
}

/* out (N, T, H) or (N, H) from h (T, N, H). */
static void give_back(const struct lab_view *out, const float *h,
                      const struct onednn_layer_sizes *s)
{
    float *to = out->data;
    if (out->rank == 2) {
        int64_t step = s->N * s->H;
        memcpy(to, h + (s->T - 1) * step, (size_t)step * sizeof(*to));
        return;
    }
    for (int64_t n = 0; n < s->N; n++)
        for (int64_t t = 0; t < s->T; t++)
            memcpy(to + (n * s->T + t) * s->H, h + (t * s->N + n) * s->H,
                   (size_t)s->H * sizeof(*to));
}

enum lab_status onednn_recurrent_forward(const struct lab_call *call)
{
    struct onednn_layer_sizes s;
    struct onednn_layer_data data;
    if (!open_call(call, 0, &s, &data))
        return LAB_OK;
    data.h = call->out[1].data;
    enum lab_status st = onednn_layer_forward(&s, &data);
    if (!st)
        give_back(&call->out[0], data.h, &s);
    return onednn_finish(st);
}

/* dh (T, N, H) from dout; zeros where the layer's result does not use it. */
static void take_back(float *dh, const struct lab_view *dout,
                      const struct onednn_layer_sizes *s)
{
    const float *from = dout->data;
    int64_t step = s->N * s->H;
    if (!from) {
        memset(dh, 0, (size_t)(s->T * step) * sizeof(*dh));
        return;
    }
    if (dout->rank == 2) {
        memset(dh, 0, (size_t)((s->T - 1) * step) * sizeof(*dh));
        memcpy(dh + (s->T - 1) * step, from, (size_t)step * sizeof(*dh));
        return;
    }
    for (int64_t n = 0; n < s->N; n++)
        for (int64_t t = 0; t < s->T; t++)
            memcpy(dh + (t * s->N + n) * s->H, from + (n * s->T + t) * s->H,
                   (size_t)s->H * sizeof(*dh));
}

enum lab_status onednn_recurrent_backward(const struct lab_call *call)
{
    struct onednn_layer_sizes s;
    struct onednn_layer_data data;
    if (!open_call(call, 1, &s, &data))
        return LAB_OK;
    float *dh = lab_alloc_array((size_t)(s.T * s.N * s.H), sizeof(*dh));
    if (!dh)
        return onednn_finish(
            lab_fail(LAB_E_NOMEM, "oneDNN: no memory for a recurrent layer"));
    take_back(dh, &call->in[0], &s);
    data.dh = dh;
    data.dx = call->out[0].data;
    data.dW = call->out[1].data;
    data.dU = call->out[2].data;
    data.db = call->out[3].data;
    data.dh0 = call->out[4].data;
    data.dc0 = call->out[5].data;
    enum lab_status st = onednn_layer_backward(&s, &data);
    lab_free(dh);
    return onednn_finish(st);
}
