/* A whole lstm as one step a phase, on all threads: a thread takes some samples
 * through all time steps, so that no thread waits for another between two of them.
 * The input's product is one for all steps of a sample, before the first; the time
 * steps add that of h, and the cell follows while its rows are in the first cache.
 * The weights' gradient is one product over all steps, as in the single steps.
 *
 * U is transposed once a call, so that no step packs it: room for that is taken and
 * given back within the call (cpu/room.h). The step before leaves a, i, f, o and c for the
 * way back (keeps_parts). */
#include <string.h>

#include "cpu/product.h"
#include "cpu/room.h"
#include "cpu/vector.h"
#include "recurrent/lstm.h"

#define LAB_VECTOR_FILE "kernels/recurrent/sequence_vector.c"

enum { GATES = 4, LEAST_SAMPLES = 4 };

/* Slots of the group's calls (sequence.h); backward has those of the layer one
 * later. */
enum { IN_X, IN_W, IN_U, IN_B, IN_H0, IN_C0, IN_H, IN_A };
enum { OUT_RESULT, OUT_H, OUT_A, OUT_C = OUT_A + GATES };
enum { OUT_DX, OUT_DW, OUT_DU, OUT_DB, OUT_DH0, OUT_DC0, OUT_DZ };

struct layer {
    const struct lab_call *call;
    int64_t N;
    int64_t T;
    int64_t D;
    int64_t H;
    float *turned; /* forward: W^T (D, 4H), then U^T (H, 4H) */
    float *dh;     /* backward (N, H): what the next step's gates leave; */
    float *dc;     /* what its cell does */
    float *x;      /* (T, N, D) */
};

static struct layer layer_of(const struct lab_call *call, int at)
{
    return (struct layer){.call = call,
                          .N = call->in[at + IN_X].dim[0],
                          .T = call->in[at + IN_X].dim[1],
                          .D = call->in[at + IN_X].dim[2],
                          .H = call->in[at + IN_U].dim[1]};
}

static float *numbers(const struct lab_view *v)
{
    return (float *)v->data;
}

/* Each thread its samples; few enough rows make a product slow. */
static void each_sample(const struct layer *l, lab_part_fn *run)
{
    int64_t grain = l->N / lab_threads();
    lab_parallel(l->N, grain > LEAST_SAMPLES ? grain : LEAST_SAMPLES, run, l);
}

/* ---- forward ---- */

/* to (cols, rows) = from (rows, cols) transposed, rows first .. last-1. */
static void turn(float *to, const float *from, int64_t rows, int64_t cols,
                 int64_t first, int64_t last)
{
    enum { BAND = 16 };
    for (int64_t c = 0; c < cols; c += BAND)
        for (int64_t r = first; r < last; r++)
            for (int64_t k = c; k < c + BAND && k < cols; k++)
                to[k * rows + r] = from[r * cols + k];
}

static void turn_weights(const void *arg, int64_t from, int64_t to)
{
    const struct layer *l = arg;
    const struct lab_view *in = l->call->in;
    turn(l->turned, in[IN_W].data, GATES * l->H, l->D, from, to);
    turn(l->turned + l->D * GATES * l->H, in[IN_U].data, GATES * l->H, l->H,
         from, to);
}

/* z of a gate += from (rows, inner) times its columns of the weights. */
static void add_product(const struct layer *l, struct lab_matrix z,
                        struct lab_matrix from, const float *weights, int gate,
                        int64_t rows, int64_t inner, float beta)
{
    struct lab_matrix W = {(float *)(uintptr_t)weights + gate * l->H,
                           GATES * l->H};
    lab_vector_multiply(z, from, W, rows, l->H, inner, 1, beta);
}

/* a, i, f, o hold z without its bias, and get their values; then c and h. */
LAB_VECTOR static void cell(const struct layer *l, int64_t at, int64_t count,
                            const float *cp)
{
    const struct lab_view *out = l->call->out;
    const float *b = l->call->in[IN_B].data;
    int64_t H = l->H;
    for (int64_t n = 0; n < count; n++, at += H, cp += H) {
        float *a = numbers(&out[OUT_A]) + at;
        float *i = numbers(&out[OUT_A + 1]) + at;
        float *f = numbers(&out[OUT_A + 2]) + at;
        float *o = numbers(&out[OUT_A + 3]) + at;
        float *c = numbers(&out[OUT_C]) + at;
        float *h = numbers(&out[OUT_H]) + at;
#pragma omp simd
        for (int64_t j = 0; j < H; j++) {
            a[j] = tanhf(a[j] + b[j]);
            i[j] = lab_sigmoidf(i[j] + b[H + j]);
            f[j] = lab_sigmoidf(f[j] + b[2 * H + j]);
            o[j] = lab_sigmoidf(o[j] + b[3 * H + j]);
            c[j] = a[j] * i[j] + f[j] * cp[j];
            h[j] = tanhf(c[j]) * o[j];
        }
    }
}

/* Samples from .. to-1 of time step t into the result, where it has them. */
static void put_result(const struct layer *l, int64_t t, int64_t from,
                       int64_t to)
{
    const struct lab_view *out = &l->call->out[OUT_RESULT];
    bool whole = out->rank == 3;
    for (int64_t n = from; n < to && (whole || t == l->T - 1); n++)
        memcpy(numbers(out) + (whole ? n * l->T + t : n) * l->H,
               numbers(&l->call->out[OUT_H]) + (t * l->N + n) * l->H,
               (size_t)l->H * sizeof(float));
}

static void samples_forward(const void *arg, int64_t from, int64_t to)
{
    const struct layer *l = arg;
    const struct lab_view *in = l->call->in;
    const struct lab_view *out = l->call->out;
    const float *U = l->turned + l->D * GATES * l->H;
    for (int64_t n = from; n < to; n++) {
        struct lab_matrix x = {numbers(&in[IN_X]) + n * l->T * l->D, l->D};
        for (int g = 0; g < GATES; g++) {
            struct lab_matrix z = {numbers(&out[OUT_A + g]) + n * l->H,
                                   l->N * l->H};
            add_product(l, z, x, l->turned, g, l->T, l->D, 0);
        }
    }
    for (int64_t t = 0; t < l->T; t++) {
        int64_t at = (t * l->N + from) * l->H;
        int64_t before = at - l->N * l->H;
        struct lab_matrix h = {t > 0 ? numbers(&out[OUT_H]) + before
                                     : numbers(&in[IN_H0]) + from * l->H,
                               l->H};
        for (int g = 0; g < GATES; g++) {
            struct lab_matrix z = {numbers(&out[OUT_A + g]) + at, l->H};
            add_product(l, z, h, U, g, to - from, l->H, 1);
        }
        cell(l, at, to - from,
             t > 0 ? numbers(&out[OUT_C]) + before
                   : numbers(&in[IN_C0]) + from * l->H);
        put_result(l, t, from, to);
    }
}

static enum lab_status lstm_sequence_forward(const struct lab_call *call)
{
    struct layer l = layer_of(call, 0);
    l.turned = lab_room_take((l.D + l.H) * GATES * l.H);
    if (!l.turned)
        return lab_no_memory("the transposed weights of an lstm");
    lab_parallel(GATES * l.H, 1 + LAB_GRAIN / (1 + l.D + l.H), turn_weights,
                 &l);
    each_sample(&l, samples_forward);
    lab_room_give(l.turned);
    return LAB_OK;
}

/* ---- backward ---- */

/* dr of one row; NULL: the result does not use it. */
static const float *returned(const struct layer *l, int64_t t, int64_t n)
{
    const struct lab_view *dout = &l->call->in[0];
    if (!dout->data || (dout->rank == 2 && t < l->T - 1))
        return NULL;
    return numbers(dout) + (dout->rank == 3 ? n * l->T + t : n) * l->H;
}

/* dz of row (t, n); dc becomes what the step before gets. */
LAB_VECTOR static void cell_back(const struct layer *l, int64_t t, int64_t n)
{
    const struct lab_view *in = l->call->in + 1;
    int64_t H = l->H;
    int64_t at = (t * l->N + n) * H;
    const float *dr = returned(l, t, n);
    const float *a = numbers(&in[IN_A]) + at;
    const float *i = numbers(&in[IN_A + 1]) + at;
    const float *f = numbers(&in[IN_A + 2]) + at;
    const float *o = numbers(&in[IN_A + 3]) + at;
    const float *c = numbers(&in[IN_A + GATES]) + at;
    const float *cp = t > 0 ? c - l->N * H : numbers(&in[IN_C0]) + n * H;
    float *dh = l->dh + n * H;
    float *dc = l->dc + n * H;
    float *dz = numbers(&l->call->out[OUT_DZ]) + at * GATES;
    if (dr)
        for (int64_t j = 0; j < H; j++)
            dh[j] += dr[j];
#pragma omp simd
    for (int64_t j = 0; j < H; j++) {
        float shown = tanhf(c[j]);
        float d = dh[j] * o[j] * (1 - shown * shown) + dc[j];
        dz[j] = d * i[j] * (1 - a[j] * a[j]);
        dz[H + j] = d * a[j] * i[j] * (1 - i[j]);
        dz[2 * H + j] = d * cp[j] * f[j] * (1 - f[j]);
        dz[3 * H + j] = dh[j] * shown * o[j] * (1 - o[j]);
        dc[j] = d * f[j];
    }
}

/* What another layer left that starts where this one ends, or zeros. */
static void start_rows(float *to, const struct lab_view *end, int64_t from,
                       int64_t count)
{
    if (end->data)
        memcpy(to + from, numbers(end) + from, (size_t)count * sizeof(*to));
    else
        memset(to + from, 0, (size_t)count * sizeof(*to));
}

static void give_rows(const struct lab_view *to, const float *rows,
                      int64_t from, int64_t count)
{
    if (to->data)
        memcpy(numbers(to) + from, rows + from, (size_t)count * sizeof(*rows));
}

/* dx = dz W of samples from .. to-1, of which this core has dz; all steps of a sample at
 * once where those are more than the samples: of many rows a product is faster. */
static void input_back(const struct layer *l, int64_t from, int64_t to)
{
    int64_t K = GATES * l->H;
    float *dx = numbers(&l->call->out[OUT_DX]);
    float *dz = numbers(&l->call->out[OUT_DZ]);
    const struct lab_matrix W = {numbers(&l->call->in[1 + IN_W]), l->D};
    for (int64_t n = from; n < to && l->T >= to - from; n++)
        lab_vector_multiply((struct lab_matrix){dx + n * l->T * l->D, l->D},
                            (struct lab_matrix){dz + n * K, l->N * K}, W, l->T,
                            l->D, K, 1, 0);
    for (int64_t t = 0; t < l->T && l->T < to - from; t++)
        lab_vector_multiply(
            (struct lab_matrix){dx + (from * l->T + t) * l->D, l->T * l->D},
            (struct lab_matrix){dz + (t * l->N + from) * K, K}, W, to - from,
            l->D, K, 1, 0);
}

static void samples_back(const void *arg, int64_t from, int64_t to)
{
    const struct layer *l = arg;
    const struct lab_view *in = l->call->in + 1;
    const struct lab_view *out = l->call->out;
    int64_t K = GATES * l->H;
    int64_t count = (to - from) * l->H;
    start_rows(l->dh, &in[IN_A + GATES + 1], from * l->H, count);
    start_rows(l->dc, &in[IN_A + GATES + 2], from * l->H, count);
    for (int64_t t = l->T - 1; t >= 0; t--) {
        float *dz = numbers(&out[OUT_DZ]) + (t * l->N + from) * K;
        for (int64_t n = from; n < to; n++)
            cell_back(l, t, n);
        lab_vector_multiply((struct lab_matrix){l->dh + from * l->H, l->H},
                            (struct lab_matrix){dz, K},
                            (struct lab_matrix){numbers(&in[IN_U]), l->H},
                            to - from, l->H, K, 1, 0);
        for (int64_t n = from; n < to; n++)
            memcpy(l->x + (t * l->N + n) * l->D,
                   numbers(&in[IN_X]) + (n * l->T + t) * l->D,
                   (size_t)l->D * sizeof(float));
    }
    give_rows(&out[OUT_DH0], l->dh, from * l->H, count);
    give_rows(&out[OUT_DC0], l->dc, from * l->H, count);
    if (out[OUT_DX].data)
        input_back(l, from, to);
}

/* dW (4H, cols) = dz^T rows + beta dW */
static void outer(const struct layer *l, int slot, float *dz, float *by,
                  int64_t cols, int64_t rows, float beta)
{
    int64_t K = GATES * l->H;
    lab_vector_multiply((struct lab_matrix){numbers(&l->call->out[slot]), cols},
                        (struct lab_matrix){dz, K, .flip = true},
                        (struct lab_matrix){by, cols}, K, cols, rows, 1, beta);
}

static enum lab_status lstm_sequence_backward(const struct lab_call *call)
{
    struct layer l = layer_of(call, 1);
    const struct lab_view *in = call->in + 1;
    float *dz = numbers(&call->out[OUT_DZ]);
    int64_t rows = l.T * l.N;
    float *memory = lab_room_take(2 * l.N * l.H + rows * l.D);
    if (!memory)
        return lab_no_memory("an lstm's gradients");
    l.dh = memory;
    l.dc = l.dh + l.N * l.H;
    l.x = l.dc + l.N * l.H;
    each_sample(&l, samples_back);
    outer(&l, OUT_DW, dz, l.x, l.D, rows, 0);
    outer(&l, OUT_DU, dz, numbers(&in[IN_H0]), l.H, l.N, 0);
    if (l.T > 1)
        outer(&l, OUT_DU, dz + l.N * GATES * l.H, numbers(&in[IN_H]), l.H,
              rows - l.N, 1);
    if (call->out[OUT_DB].data)
        lab_column_sums(numbers(&call->out[OUT_DB]), dz, rows, GATES * l.H);
    lab_room_give(memory);
    return LAB_OK;
}

#define ROW(phase_id, fn)                                                      \
    {                                                                          \
        .name = "sequence", .phase = phase_id, .run = fn,                      \
        .source = LAB_VECTOR_FILE, .symbol = #fn, .keeps_parts = true          \
    }

static const struct lab_variant rows[] = {
    ROW(LAB_FORWARD, lstm_sequence_forward),
    ROW(LAB_BACKWARD, lstm_sequence_backward),
};
const struct lab_kernel_set lab_vector_lstm_sequence = {"lstm", rows, 2};
