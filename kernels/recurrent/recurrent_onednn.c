/* kernels/recurrent/recurrent_onednn.c -- the groups of rnn and lstm by oneDNN: a
 * whole sequence in one primitive, kept by its sizes (sequence.h). */
#include <string.h>

#include "base/mem.h"
#include "library/onednn.h"

struct layer_sizes {
    bool lstm;
    int64_t N;
    int64_t T;
    int64_t D;
    int64_t H;
};

/* Row-major, as kernels/recurrent/sequence.h has them; c0, dc0: lstm only; b,
 * db, dx may be NULL. Forward writes h; backward the gradients. */
struct layer_data {
    const float *x;
    const float *W;
    const float *U;
    const float *b;
    const float *h0;
    const float *c0;
    const float *dh; /* (T, N, H): what comes back to h */
    float *h;
    float *dx;
    float *dW;
    float *dU;
    float *db;
    float *dh0;
    float *dc0;
};

enum { PLACES = 6, MAX_LAYER_ARGS = 20, LSTM_GATES = 4 };

/* Buffers in oneDNN's order, besides the workspace. */
enum buffer {
    BUF_X,      /* (T, N, D) */
    BUF_W,      /* [D][gate][H] */
    BUF_U,      /* [H][gate][H] */
    BUF_W_BACK, /* [gate][H][D] */
    BUF_U_BACK, /* [gate][H][H] */
    BUF_B,      /* [gate][H]; zeros without bias */
    BUF_H,      /* (T, N, H) of the forward run that backward makes */
    BUF_DX,
    BUF_DW,
    BUF_DU,
    BUF_DB,
    BUF_COUNT
};

struct layer {
    struct layer_sizes sizes;
    int gates; /* 0: a free place */
    dnnl_primitive_t forward;
    dnnl_primitive_t backward;
    dnnl_exec_arg_t args[MAX_LAYER_ARGS];
    int n_args;
    int n_shared;  /* of them, those that both primitives take */
    int n_forward; /* those and the weights as forward reads them */
    float *buffer[BUF_COUNT];
};

static struct layer places[PLACES];
static int next_place;

/* Where oneDNN has i, f, candidate, o, we have candidate, i, f, o. */
static const int our_gate[LSTM_GATES] = {1, 2, 0, 3};

/* Our index of weight (gate, unit j, input i): lstm [4H, in], rnn [in, H]. */
static int64_t ours(const struct layer *l, int gate, int64_t j, int64_t i,
                    int64_t inputs)
{
    int64_t H = l->sizes.H;
    return l->sizes.lstm ? (our_gate[gate] * H + j) * inputs + i : i * H + j;
}

/* ---- the primitives ---- */

struct descs {
    dnnl_memory_desc_t x;
    dnnl_memory_desc_t state;
    dnnl_memory_desc_t W;
    dnnl_memory_desc_t U;
    dnnl_memory_desc_t W_back;
    dnnl_memory_desc_t U_back;
    dnnl_memory_desc_t b;
    dnnl_memory_desc_t h;
};

static dnnl_status_t by_tag(dnnl_memory_desc_t *md, int rank,
                            const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_init_by_tag(md, rank, dims, dnnl_f32, tag);
}

static dnnl_status_t describe(struct descs *d, const struct layer *l)
{
    const struct layer_sizes *s = &l->sizes;
    dnnl_dims_t x = {s->T, s->N, s->D};
    dnnl_dims_t h = {s->T, s->N, s->H};
    dnnl_dims_t state = {1, 1, s->N, s->H};
    dnnl_dims_t W = {1, 1, s->D, l->gates, s->H};
    dnnl_dims_t U = {1, 1, s->H, l->gates, s->H};
    dnnl_dims_t b = {1, 1, l->gates, s->H};
    dnnl_status_t code = by_tag(&d->x, 3, x, dnnl_tnc);
    if (!code)
        code = by_tag(&d->h, 3, h, dnnl_tnc);
    if (!code)
        code = by_tag(&d->state, 4, state, dnnl_ldnc);
    if (!code)
        code = by_tag(&d->W, 5, W, dnnl_ldigo);
    if (!code)
        code = by_tag(&d->U, 5, U, dnnl_ldigo);
    if (!code)
        code = by_tag(&d->W_back, 5, W, dnnl_ldgoi);
    if (!code)
        code = by_tag(&d->U_back, 5, U, dnnl_ldgoi);
    if (!code)
        code = by_tag(&d->b, 4, b, dnnl_ldgo);
    return code;
}

static dnnl_status_t forward_desc(dnnl_primitive_desc_t *out,
                                  const struct layer *l, const struct descs *d,
                                  dnnl_engine_t engine)
{
    dnnl_rnn_desc_t desc;
    dnnl_status_t code;
    if (l->sizes.lstm)
        code = dnnl_lstm_forward_desc_init(
            &desc, dnnl_forward_training, dnnl_unidirectional_left2right, &d->x,
            &d->state, &d->state, &d->W, &d->U, &d->b, &d->h, NULL, NULL,
            dnnl_rnn_flags_undef);
    else
        code = dnnl_vanilla_rnn_forward_desc_init(
            &desc, dnnl_forward_training, dnnl_eltwise_tanh,
            dnnl_unidirectional_left2right, &d->x, &d->state, &d->W, &d->U,
            &d->b, &d->h, NULL, dnnl_rnn_flags_undef, 0, 0);
    return code ? code
                : dnnl_primitive_desc_create(out, &desc, NULL, engine, NULL);
}

static dnnl_status_t backward_desc(dnnl_primitive_desc_t *out,
                                   const struct layer *l, const struct descs *d,
                                   dnnl_primitive_desc_t hint,
                                   dnnl_engine_t engine)
{
    dnnl_rnn_desc_t desc;
    dnnl_status_t code;
    if (l->sizes.lstm)
        code = dnnl_lstm_backward_desc_init(
            &desc, dnnl_backward, dnnl_unidirectional_left2right, &d->x,
            &d->state, &d->state, &d->W_back, &d->U_back, &d->b, &d->h, NULL,
            NULL, &d->x, &d->state, &d->state, &d->W, &d->U, &d->b, &d->h, NULL,
            NULL, dnnl_rnn_flags_undef);
    else
        code = dnnl_vanilla_rnn_backward_desc_init(
            &desc, dnnl_backward, dnnl_eltwise_tanh,
            dnnl_unidirectional_left2right, &d->x, &d->state, &d->W_back,
            &d->U_back, &d->b, &d->h, NULL, &d->x, &d->state, &d->W, &d->U,
            &d->b, &d->h, NULL, dnnl_rnn_flags_undef, 0, 0);
    return code ? code
                : dnnl_primitive_desc_create(out, &desc, NULL, engine, hint);
}

static void add_memory(struct layer *l, dnnl_status_t *code, int id,
                       const dnnl_memory_desc_t *md, void *data,
                       dnnl_engine_t engine)
{
    dnnl_memory_t memory;
    if (*code)
        return;
    *code = dnnl_memory_create(&memory, md, engine, data);
    if (!*code)
        l->args[l->n_args++] = (dnnl_exec_arg_t){id, memory};
}

/* The place of an argument's memory, for what changes from call to call. */
static dnnl_status_t point_at(struct layer *l, int id, const void *data)
{
    for (int i = 0; i < l->n_args; i++) {
        if (l->args[i].arg == id)
            return dnnl_memory_set_data_handle(l->args[i].memory, (void *)data);
    }
    return dnnl_invalid_arguments;
}

/* A layer of one of the two kinds has no memory for the other's state. */
static void add_state(struct layer *l, dnnl_status_t *code, int h, int c,
                      const dnnl_memory_desc_t *md, dnnl_engine_t engine)
{
    add_memory(l, code, h, md, DNNL_MEMORY_NONE, engine);
    if (l->sizes.lstm)
        add_memory(l, code, c, md, DNNL_MEMORY_NONE, engine);
}

static dnnl_status_t add_arguments(struct layer *l, const struct descs *d,
                                   dnnl_primitive_desc_t forward,
                                   dnnl_engine_t engine)
{
    dnnl_status_t code = dnnl_success;
    const dnnl_memory_desc_t *space =
        dnnl_primitive_desc_query_md(forward, dnnl_query_workspace_md, 0);
    float **b = l->buffer;
    add_memory(l, &code, DNNL_ARG_SRC_LAYER, &d->x, b[BUF_X], engine);
    add_state(l, &code, DNNL_ARG_SRC_ITER, DNNL_ARG_SRC_ITER_C, &d->state,
              engine);
    add_memory(l, &code, DNNL_ARG_BIAS, &d->b, b[BUF_B], engine);
    add_memory(l, &code, DNNL_ARG_DST_LAYER, &d->h, DNNL_MEMORY_NONE, engine);
    add_memory(l, &code, DNNL_ARG_WORKSPACE, space, DNNL_MEMORY_ALLOCATE,
               engine);
    l->n_shared = l->n_args;
    add_memory(l, &code, DNNL_ARG_WEIGHTS_LAYER, &d->W, b[BUF_W], engine);
    add_memory(l, &code, DNNL_ARG_WEIGHTS_ITER, &d->U, b[BUF_U], engine);
    l->n_forward = l->n_args;
    add_memory(l, &code, DNNL_ARG_WEIGHTS_LAYER, &d->W_back, b[BUF_W_BACK],
               engine);
    add_memory(l, &code, DNNL_ARG_WEIGHTS_ITER, &d->U_back, b[BUF_U_BACK],
               engine);
    add_memory(l, &code, DNNL_ARG_DIFF_DST_LAYER, &d->h, DNNL_MEMORY_NONE,
               engine);
    add_memory(l, &code, DNNL_ARG_DIFF_SRC_LAYER, &d->x, b[BUF_DX], engine);
    add_state(l, &code, DNNL_ARG_DIFF_SRC_ITER, DNNL_ARG_DIFF_SRC_ITER_C,
              &d->state, engine);
    add_memory(l, &code, DNNL_ARG_DIFF_WEIGHTS_LAYER, &d->W, b[BUF_DW], engine);
    add_memory(l, &code, DNNL_ARG_DIFF_WEIGHTS_ITER, &d->U, b[BUF_DU], engine);
    add_memory(l, &code, DNNL_ARG_DIFF_BIAS, &d->b, b[BUF_DB], engine);
    return code;
}

/* ---- places ---- */

static void clear(struct layer *l)
{
    for (int i = 0; i < l->n_args; i++)
        dnnl_memory_destroy(l->args[i].memory);
    if (l->forward)
        dnnl_primitive_destroy(l->forward);
    if (l->backward)
        dnnl_primitive_destroy(l->backward);
    for (int i = 0; i < BUF_COUNT; i++)
        lab_free(l->buffer[i]);
    memset(l, 0, sizeof(*l));
}

static dnnl_status_t take_buffers(struct layer *l)
{
    const struct layer_sizes *s = &l->sizes;
    size_t x = (size_t)s->T * (size_t)s->N * (size_t)s->D;
    size_t h = (size_t)s->T * (size_t)s->N * (size_t)s->H;
    size_t b = (size_t)l->gates * (size_t)s->H;
    size_t W = b * (size_t)s->D;
    size_t U = b * (size_t)s->H;
    const size_t count[BUF_COUNT] = {x, W, U, W, U, b, h, x, W, U, b};
    for (int i = 0; i < BUF_COUNT; i++) {
        l->buffer[i] = lab_alloc_array(count[i], sizeof(float));
        if (!l->buffer[i])
            return dnnl_out_of_memory;
    }
    return dnnl_success;
}

static dnnl_status_t make(struct layer *l, const struct layer_sizes *s,
                          dnnl_engine_t engine)
{
    struct descs d;
    dnnl_primitive_desc_t forward = NULL;
    dnnl_primitive_desc_t backward = NULL;
    clear(l);
    l->sizes = *s;
    l->gates = s->lstm ? LSTM_GATES : 1;
    dnnl_status_t code = take_buffers(l);
    if (!code)
        code = describe(&d, l);
    if (!code)
        code = forward_desc(&forward, l, &d, engine);
    if (!code)
        code = backward_desc(&backward, l, &d, forward, engine);
    if (!code)
        code = add_arguments(l, &d, forward, engine);
    if (!code)
        code = dnnl_primitive_create(&l->forward, forward);
    if (!code)
        code = dnnl_primitive_create(&l->backward, backward);
    if (forward)
        dnnl_primitive_desc_destroy(forward);
    if (backward)
        dnnl_primitive_desc_destroy(backward);
    if (code)
        clear(l);
    return code;
}

static bool same(const struct layer_sizes *a, const struct layer_sizes *b)
{
    return a->lstm == b->lstm && a->N == b->N && a->T == b->T && a->D == b->D &&
           a->H == b->H;
}

static dnnl_status_t find_or_make(struct layer **out,
                                  const struct layer_sizes *s,
                                  dnnl_engine_t engine)
{
    for (int i = 0; i < PLACES; i++) {
        *out = &places[i];
        if (places[i].gates > 0 && same(&places[i].sizes, s))
            return dnnl_success;
    }
    *out = &places[next_place];
    next_place = (next_place + 1) % PLACES;
    return make(*out, s, engine);
}

/* ---- from our order to oneDNN's and back ---- */

/* Our index of the bias at position k of oneDNN's order. */
static int64_t bias_at(const struct layer *l, int64_t k)
{
    int64_t H = l->sizes.H;
    return l->sizes.lstm ? our_gate[k / H] * H + k % H : k;
}

/* (outer, inner, D) to (inner, outer, D) */
static void turn(float *to, const float *from, int64_t outer, int64_t inner,
                 int64_t D)
{
    for (int64_t i = 0; i < inner; i++)
        for (int64_t o = 0; o < outer; o++)
            memcpy(to + (i * outer + o) * D, from + (o * inner + i) * D,
                   (size_t)D * sizeof(*to));
}

/* [inputs][gate][H] and, for the way back, [gate][H][inputs] */
static void pack(const struct layer *l, float *to, float *back, const float *W,
                 int64_t inputs)
{
    int64_t H = l->sizes.H;
    for (int g = 0; g < l->gates; g++) {
        for (int64_t j = 0; j < H; j++) {
            for (int64_t i = 0; i < inputs; i++) {
                float w = W[ours(l, g, j, i, inputs)];
                to[(i * l->gates + g) * H + j] = w;
                back[(g * H + j) * inputs + i] = w;
            }
        }
    }
}

static void unpack(const struct layer *l, float *dW, const float *from,
                   int64_t inputs)
{
    int64_t H = l->sizes.H;
    for (int64_t i = 0; i < inputs; i++)
        for (int g = 0; g < l->gates; g++)
            for (int64_t j = 0; j < H; j++)
                dW[ours(l, g, j, i, inputs)] = from[(i * l->gates + g) * H + j];
}

static dnnl_status_t run_forward(struct layer *l, const struct layer_data *data,
                                 float *h, dnnl_stream_t stream)
{
    const struct layer_sizes *s = &l->sizes;
    turn(l->buffer[BUF_X], data->x, s->N, s->T, s->D);
    pack(l, l->buffer[BUF_W], l->buffer[BUF_W_BACK], data->W, s->D);
    pack(l, l->buffer[BUF_U], l->buffer[BUF_U_BACK], data->U, s->H);
    for (int64_t k = 0; k < l->gates * s->H; k++)
        l->buffer[BUF_B][k] = data->b ? data->b[bias_at(l, k)] : 0;
    dnnl_status_t code = point_at(l, DNNL_ARG_SRC_ITER, data->h0);
    if (!code && s->lstm)
        code = point_at(l, DNNL_ARG_SRC_ITER_C, data->c0);
    if (!code)
        code = point_at(l, DNNL_ARG_DST_LAYER, h);
    if (!code)
        code =
            dnnl_primitive_execute(l->forward, stream, l->n_forward, l->args);
    return code ? code : dnnl_stream_wait(stream);
}

/* oneDNN adds to the gradients of the weights. */
static void clear_gradients(struct layer *l)
{
    const struct layer_sizes *s = &l->sizes;
    size_t row = (size_t)l->gates * (size_t)s->H * sizeof(float);
    memset(l->buffer[BUF_DW], 0, row * (size_t)s->D);
    memset(l->buffer[BUF_DU], 0, row * (size_t)s->H);
    memset(l->buffer[BUF_DB], 0, row);
}

static dnnl_status_t run_backward(struct layer *l,
                                  const struct layer_data *data,
                                  dnnl_stream_t stream)
{
    dnnl_exec_arg_t args[MAX_LAYER_ARGS];
    const struct layer_sizes *s = &l->sizes;
    dnnl_status_t code = point_at(l, DNNL_ARG_DIFF_DST_LAYER, data->dh);
    if (!code)
        code = point_at(l, DNNL_ARG_DIFF_SRC_ITER, data->dh0);
    if (!code && s->lstm)
        code = point_at(l, DNNL_ARG_DIFF_SRC_ITER_C, data->dc0);
    if (code)
        return code;
    clear_gradients(l);
    int own = l->n_args - l->n_forward;
    memcpy(args, l->args, (size_t)l->n_shared * sizeof(*args));
    memcpy(args + l->n_shared, l->args + l->n_forward,
           (size_t)own * sizeof(*args));
    code = dnnl_primitive_execute(l->backward, stream, l->n_shared + own, args);
    if (!code)
        code = dnnl_stream_wait(stream);
    if (code)
        return code;
    if (data->dx)
        turn(data->dx, l->buffer[BUF_DX], s->T, s->N, s->D);
    unpack(l, data->dW, l->buffer[BUF_DW], s->D);
    unpack(l, data->dU, l->buffer[BUF_DU], s->H);
    for (int64_t k = 0; data->db && k < l->gates * s->H; k++)
        data->db[bias_at(l, k)] = l->buffer[BUF_DB][k];
    return dnnl_success;
}

/* ---- the steps ---- */

/* The sizes and the first six inputs from in[at] on; false: one of them is
 * 0. */
static bool open_call(const struct lab_call *call, int at,
                      struct layer_sizes *s, struct layer_data *data)
{
    const struct lab_view *in = call->in + at;
    *s = (struct layer_sizes){.lstm = in[5].data != NULL,
                              .N = in[0].dim[0],
                              .T = in[0].dim[1],
                              .D = in[0].dim[2],
                              .H = lab_view_cols(&in[2])};
    if (!s->lstm) /* [H,H] and [4H,H] end alike, [D,H] does not */
        s->H = lab_view_cols(&in[1]);
    *data = (struct layer_data){.x = in[0].data,
                                .W = in[1].data,
                                .U = in[2].data,
                                .b = in[3].data,
                                .h0 = in[4].data,
                                .c0 = in[5].data};
    return s->N > 0 && s->T > 0 && s->D > 0 && s->H > 0;
}

/* out (N, T, H) or (N, H) from h (T, N, H). */
static void give_back(const struct lab_view *out, const float *h,
                      const struct layer_sizes *s)
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

static enum lab_status recurrent_forward(const struct lab_call *call)
{
    struct layer_sizes s;
    struct layer_data data;
    if (!open_call(call, 0, &s, &data))
        return LAB_OK;
    data.h = call->out[1].data;
    struct onednn_place at;
    struct layer *l;
    onednn_enter(&at);
    dnnl_status_t code = find_or_make(&l, &s, at.engine);
    if (!code)
        code = run_forward(l, &data, data.h, at.stream);
    enum lab_status st = onednn_leave(code, "a recurrent layer");
    if (!st)
        give_back(&call->out[0], data.h, &s);
    return onednn_finish(st);
}

/* dh (T, N, H) from dout; zeros where the layer's result does not use it. */
static void take_back(float *dh, const struct lab_view *dout,
                      const struct layer_sizes *s)
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

static enum lab_status recurrent_backward(const struct lab_call *call)
{
    struct layer_sizes s;
    struct layer_data data;
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
    struct onednn_place at;
    struct layer *l;
    onednn_enter(&at);
    dnnl_status_t code = find_or_make(&l, &s, at.engine);
    if (!code)
        code = run_forward(l, &data, l->buffer[BUF_H], at.stream);
    if (!code)
        code = run_backward(l, &data, at.stream);
    enum lab_status st = onednn_leave(code, "a recurrent layer, backward");
    lab_free(dh);
    return onednn_finish(st);
}

#define FILE_NAME "recurrent/recurrent_onednn.c"

/* Two tables: a row of one op may be withdrawn and the other's not. */
static const struct lab_variant lstm_rows[] = {
    ONEDNN_ROW(FILE_NAME, NULL, LAB_FORWARD, recurrent_forward),
    ONEDNN_ROW(FILE_NAME, NULL, LAB_BACKWARD, recurrent_backward),
};
static const struct lab_variant rnn_rows[] = {
    ONEDNN_ROW(FILE_NAME, NULL, LAB_FORWARD, recurrent_forward),
    ONEDNN_ROW(FILE_NAME, NULL, LAB_BACKWARD, recurrent_backward),
};

const struct lab_kernel_set lab_onednn_lstm = {"lstm", lstm_rows, 2};
const struct lab_kernel_set lab_onednn_rnn = {"rnn", rnn_rows, 2};
