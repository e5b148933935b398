/* What a recurrent layer does between its products, on all threads
 * (cpu/vector.h): tanh of rnn, the four gates and the memory of lstm. An element
 * takes five of tanh and sigmoid in lstm's cell; the rest is additions. */
#include <string.h>

#include "cpu/vector.h"
#include "recurrent/lstm.h"
#include "recurrent/rnn.h"

#define LAB_VECTOR_FILE "kernels/recurrent/cell_vector.c"

/* A time step is small: a part of this many elements is worth a thread. */
enum { CELL_GRAIN = 1024 };

/* a, i, f, o from z; c = a i + f cp; h = tanh(c) o; samples n = from .. to-1. */
LAB_VECTOR static void lstm_cells(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    int64_t H = lab_view_cols(&call->in[1]);
    for (int64_t n = from; n < to; n++) {
        const float *z = (const float *)call->in[0].data + n * 4 * H;
        const float *cp = (const float *)call->in[1].data + n * H;
        float *a = (float *)call->out[0].data + n * H;
        float *i = (float *)call->out[1].data + n * H;
        float *f = (float *)call->out[2].data + n * H;
        float *o = (float *)call->out[3].data + n * H;
        float *c = (float *)call->out[4].data + n * H;
        float *h = (float *)call->out[5].data + n * H;
#pragma omp simd
        for (int64_t j = 0; j < H; j++) {
            a[j] = tanhf(z[j]);
            i[j] = lab_sigmoidf(z[H + j]);
            f[j] = lab_sigmoidf(z[2 * H + j]);
            o[j] = lab_sigmoidf(z[3 * H + j]);
            c[j] = a[j] * i[j] + f[j] * cp[j];
            h[j] = tanhf(c[j]) * o[j];
        }
    }
}

static enum lab_status lstm_cell_forward(const struct lab_call *call)
{
    int64_t H = lab_view_cols(&call->in[1]);
    lab_parallel(lab_view_rows(&call->in[1]), 1 + CELL_GRAIN / (1 + H),
                 lstm_cells, call);
    return LAB_OK;
}

/* Columns j = first .. first+count-1 of sample n; `count` is CHUNK at most. */
enum { CHUNK = 64 };

LAB_VECTOR static void lstm_cell_back(const struct lab_call *call, int64_t n,
                                      int64_t first, int64_t count)
{
    static const float zeros[CHUNK];
    const struct lab_view *in = call->in;
    int64_t H = lab_view_cols(&in[4]);
    int64_t at = n * H + first;
    const float *dr = in[0].data ? (const float *)in[0].data + at : zeros;
    const float *dg = in[1].data ? (const float *)in[1].data + at : zeros;
    const float *dcn = in[2].data ? (const float *)in[2].data + at : zeros;
    const float *fn = in[3].data ? (const float *)in[3].data + at : NULL;
    const float *a = (const float *)in[4].data + at;
    const float *i = (const float *)in[5].data + at;
    const float *f = (const float *)in[6].data + at;
    const float *o = (const float *)in[7].data + at;
    const float *c = (const float *)in[8].data + at;
    const float *cp = (const float *)in[9].data + at;
    float *dz = (float *)call->out[0].data + n * 4 * H + first;
    float *dh = (float *)call->out[1].data + at;
    float *dc = (float *)call->out[2].data + at;
#pragma omp simd
    for (int64_t j = 0; j < count; j++) {
        float shown = tanhf(c[j]);
        float later = fn ? dcn[j] * fn[j] : dcn[j];
        dh[j] = dr[j] + dg[j];
        dc[j] = dh[j] * o[j] * (1 - shown * shown) + later;
        dz[j] = dc[j] * i[j] * (1 - a[j] * a[j]);
        dz[H + j] = dc[j] * a[j] * i[j] * (1 - i[j]);
        dz[2 * H + j] = dc[j] * cp[j] * f[j] * (1 - f[j]);
        dz[3 * H + j] = dh[j] * shown * o[j] * (1 - o[j]);
    }
    if (call->out[3].data) {
        float *dcp = (float *)call->out[3].data + at;
        for (int64_t j = 0; j < count; j++)
            dcp[j] = dc[j] * f[j];
    }
}

static void lstm_cells_back(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    int64_t H = lab_view_cols(&call->in[4]);
    for (int64_t n = from; n < to; n++) {
        for (int64_t first = 0; first < H; first += CHUNK)
            lstm_cell_back(call, n, first,
                           H - first < CHUNK ? H - first : CHUNK);
    }
}

static enum lab_status lstm_cell_backward(const struct lab_call *call)
{
    int64_t H = lab_view_cols(&call->in[4]);
    lab_parallel(lab_view_rows(&call->in[4]), 1 + CELL_GRAIN / (1 + H),
                 lstm_cells_back, call);
    return LAB_OK;
}

LAB_VECTOR static void tanh_part(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *z = call->in[0].data;
    float *h = call->out[0].data;
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        h[i] = tanhf(z[i]);
}

static enum lab_status rnn_tanh_forward(const struct lab_call *call)
{
    lab_parallel(call->out[0].count, CELL_GRAIN, tanh_part, call);
    return LAB_OK;
}

/* dh = dr + ds, either may be left out; dz = dh (1 - h^2) */
LAB_VECTOR static void tanh_back_part(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *dr = call->in[0].data;
    const float *ds = call->in[1].data;
    const float *h = call->in[2].data;
    float *dz = call->out[0].data;
    float *dh = call->out[1].data;
#pragma omp simd
    for (int64_t i = from; i < to; i++) {
        dh[i] = (dr ? dr[i] : 0.0f) + (ds ? ds[i] : 0.0f);
        dz[i] = dh[i] * (1 - h[i] * h[i]);
    }
}

static enum lab_status rnn_tanh_backward(const struct lab_call *call)
{
    lab_parallel(call->out[0].count, CELL_GRAIN, tanh_back_part, call);
    return LAB_OK;
}

/* out[b,a,:] = in[a,b,:], rows b*A + a = from .. to-1: samples and time steps
 * change places. */
static void turn_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const int64_t *dim = call->in[0].dim;
    float *out = call->out[0].data;
    size_t each = (size_t)dim[2];
    for (int64_t i = from; i < to; i++) {
        int64_t at = i % dim[0] * dim[1] + i / dim[0];
        memcpy(out + (size_t)i * each,
               (const float *)call->in[0].data + (size_t)at * each,
               each * sizeof(*out));
    }
}

static enum lab_status sequence_turn(const struct lab_call *call)
{
    const struct lab_view *in = &call->in[0];
    if (in->rank == 3)
        lab_parallel(in->dim[0] * in->dim[1], 1 + LAB_GRAIN / (1 + in->dim[2]),
                     turn_rows, call);
    else
        memcpy(call->out[0].data, in->data, (size_t)in->count * sizeof(float));
    return LAB_OK;
}

#define SEQUENCE_ROWS                                                          \
    LAB_VECTOR_ROW("input", LAB_FORWARD, sequence_turn),                       \
        LAB_VECTOR_ROW("return", LAB_FORWARD, sequence_turn),                  \
        LAB_VECTOR_ROW("return", LAB_BACKWARD, sequence_turn)

static const struct lab_variant lstm_rows[] = {
    SEQUENCE_ROWS,
    LAB_VECTOR_ROW("cell", LAB_FORWARD, lstm_cell_forward),
    LAB_VECTOR_ROW("cell", LAB_BACKWARD, lstm_cell_backward),
};
const struct lab_kernel_set lab_vector_lstm = {"lstm", lstm_rows, 5};

static const struct lab_variant rnn_rows[] = {
    SEQUENCE_ROWS,
    LAB_VECTOR_ROW("tanh", LAB_FORWARD, rnn_tanh_forward),
    LAB_VECTOR_ROW("tanh", LAB_BACKWARD, rnn_tanh_backward),
};
const struct lab_kernel_set lab_vector_rnn = {"rnn", rnn_rows, 5};
