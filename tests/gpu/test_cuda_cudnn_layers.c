/* rnn and lstm, a whole sequence in one step, by cuDNN and by cuBLAS, against the
 * layer in double. LAB_TEST_SEED repeats a run. */
#include "base/mem.h"
#include "gpu_harness.h"

static const double *in_of(const struct lab_call *call, int i)
{
    return call->in[i].data;
}

static double *out_of(const struct lab_call *call, int i)
{
    return call->out[i].data;
}

struct layer {
    const double *x, *W, *U, *b, *h0, *c0; /* c0 NULL: an rnn */
    int64_t N, T, D, H, K;
    double *gate; /* (T, N, K) after their functions */
    double *c;    /* (T+1, N, H) */
    double *h;    /* (T+1, N, H) */
};

/* An rnn's weights stand turned: (D, H). */
static double *weight(const struct layer *l, double *w, int64_t k, int64_t d,
                      int64_t cols)
{
    return w + (l->c0 ? k * cols + d : d * l->K + k);
}

static void layer_open(struct layer *l, const struct lab_call *call, int at)
{
    const struct lab_view *in = &call->in[at];
    *l = (struct layer){in[0].data,   in[1].data,  in[2].data,   in[3].data,
                        in[4].data,   in[5].data,  in[0].dim[0], in[0].dim[1],
                        in[0].dim[2], in[4].dim[1]};
    l->K = l->c0 ? 4 * l->H : l->H;
    l->gate = zeros(l->T * l->N * l->K);
    l->c = zeros((l->T + 1) * l->N * l->H);
    l->h = zeros((l->T + 1) * l->N * l->H);
    memcpy(l->h, l->h0, (size_t)(l->N * l->H) * sizeof(double));
    if (l->c0)
        memcpy(l->c, l->c0, (size_t)(l->N * l->H) * sizeof(double));
}

static void layer_close(struct layer *l)
{
    lab_free(l->gate);
    lab_free(l->c);
    lab_free(l->h);
}

static double gate_sum(const struct layer *l, int64_t t, int64_t n, int64_t k)
{
    const double *x = l->x + (n * l->T + t) * l->D;
    const double *h = l->h + (t * l->N + n) * l->H;
    double z = l->b ? l->b[k] : 0;
    for (int64_t d = 0; d < l->D; d++)
        z += x[d] * *weight(l, (double *)l->W, k, d, l->D);
    for (int64_t j = 0; j < l->H; j++)
        z += h[j] * *weight(l, (double *)l->U, k, j, l->H);
    return z;
}

static void layer_run(struct layer *l)
{
    for (int64_t row = 0; row < l->T * l->N; row++) {
        double *g = l->gate + row * l->K;
        for (int64_t k = 0; k < l->K; k++) {
            double z = gate_sum(l, row / l->N, row % l->N, k);
            g[k] = !l->c0 || k < l->H ? tanh(z) : 1 / (1 + exp(-z));
        }
        double *h = l->h + (row + l->N) * l->H;
        for (int64_t j = 0; j < l->H; j++) {
            double *c = l->c + (row + l->N) * l->H + j;
            h[j] = g[j];
            if (!l->c0)
                continue;
            *c = g[j] * g[l->H + j] + g[2 * l->H + j] * c[-l->N * l->H];
            h[j] = tanh(*c) * g[3 * l->H + j];
        }
    }
}

/* What a group that keeps parts leaves of row (t, n): a, i, f, o, c and x. */
static void put_parts(const struct layer *l, const struct lab_call *call,
                      int64_t t, int64_t n)
{
    int64_t row = t * l->N + n;
    for (int64_t j = 0; j < l->H; j++) {
        for (int k = 0; k < 4; k++)
            out_of(call, 2 + k)[row * l->H + j] =
                l->gate[row * l->K + k * l->H + j];
        out_of(call, 6)[row * l->H + j] = l->c[(row + l->N) * l->H + j];
    }
    memcpy(out_of(call, 7) + row * l->D, l->x + (n * l->T + t) * l->D,
           (size_t)l->D * sizeof(double));
}

static enum lab_status layer_forward(const struct lab_call *call)
{
    struct layer l;
    bool last = call->out[0].rank == 2;
    layer_open(&l, call, 0);
    layer_run(&l);
    for (int64_t t = 0; t < l.T; t++) {
        for (int64_t n = 0; n < l.N; n++) {
            size_t bytes = (size_t)l.H * sizeof(double);
            const double *h = l.h + ((t + 1) * l.N + n) * l.H;
            if (call->n_out > 2)
                put_parts(&l, call, t, n);
            memcpy(out_of(call, 1) + (t * l.N + n) * l.H, h, bytes);
            if (!last)
                memcpy(out_of(call, 0) + (n * l.T + t) * l.H, h, bytes);
            else if (t == l.T - 1)
                memcpy(out_of(call, 0) + n * l.H, h, bytes);
        }
    }
    layer_close(&l);
    return LAB_OK;
}

/* dz of one element from dh, and dc of the step before. */
static void cell_back(const struct layer *l, int64_t row, int64_t j, double dh,
                      double *dc, double *dz)
{
    const double *g = l->gate + row * l->K + j;
    int64_t H = l->H;
    if (!l->c0) {
        dz[j] = dh * (1 - g[0] * g[0]);
        return;
    }
    double a = g[0], i = g[H], f = g[2 * H], o = g[3 * H];
    double s = tanh(l->c[(row + l->N) * H + j]);
    double d = *dc + dh * o * (1 - s * s);
    dz[j] = d * i * (1 - a * a);
    dz[H + j] = d * a * i * (1 - i);
    dz[2 * H + j] = d * l->c[row * H + j] * f * (1 - f);
    dz[3 * H + j] = dh * s * o * (1 - o);
    *dc = d * f;
}

/* What one row's dz gives to the weights, to x and to the h before. */
static void row_back(const struct layer *l, const struct lab_call *call,
                     int64_t row, const double *dz, double *dh_before)
{
    int64_t t = row / l->N;
    int64_t n = row % l->N;
    double *dx = out_of(call, 0);
    memset(dh_before, 0, (size_t)l->H * sizeof(double));
    for (int64_t k = 0; k < l->K; k++) {
        if (out_of(call, 3))
            out_of(call, 3)[k] += dz[k];
        for (int64_t d = 0; d < l->D; d++) {
            int64_t x = (n * l->T + t) * l->D + d;
            *weight(l, out_of(call, 1), k, d, l->D) += dz[k] * l->x[x];
            if (dx)
                dx[x] += dz[k] * *weight(l, (double *)l->W, k, d, l->D);
        }
        for (int64_t j = 0; j < l->H; j++) {
            *weight(l, out_of(call, 2), k, j, l->H) +=
                dz[k] * l->h[row * l->H + j];
            dh_before[j] += dz[k] * *weight(l, (double *)l->U, k, j, l->H);
        }
    }
}

static enum lab_status layer_backward(const struct lab_call *call)
{
    struct layer l;
    const double *dout = in_of(call, 0);
    bool last = call->in[0].rank == 2;
    layer_open(&l, call, 1);
    layer_run(&l);
    double *dz = zeros(l.K);
    double *dh = zeros(l.N * l.H);
    double *dc = zeros(l.N * l.H);
    for (int i = 0; i < 4; i++) {
        if (out_of(call, i))
            memset(out_of(call, i), 0,
                   (size_t)call->out[i].count * sizeof(double));
    }
    for (int64_t row = l.T * l.N - 1; row >= 0; row--) {
        int64_t t = row / l.N;
        int64_t n = row % l.N;
        for (int64_t j = 0; j < l.H; j++) {
            double g = dh[n * l.H + j];
            if (!last)
                g += dout[(n * l.T + t) * l.H + j];
            else if (t == l.T - 1)
                g += dout[n * l.H + j];
            cell_back(&l, row, j, g, &dc[n * l.H + j], dz);
        }
        row_back(&l, call, row, dz, dh + n * l.H);
    }
    memcpy(out_of(call, 4), dh, (size_t)(l.N * l.H) * sizeof(double));
    if (l.c0)
        memcpy(out_of(call, 5), dc, (size_t)(l.N * l.H) * sizeof(double));
    lab_free(dz);
    lab_free(dh);
    lab_free(dc);
    layer_close(&l);
    return LAB_OK;
}

/* h, an input of backward, must be what forward gives. */
static enum lab_status derive_h(const struct lab_call *call)
{
    struct layer l;
    layer_open(&l, call, 1);
    layer_run(&l);
    memcpy(call->in[7].data, l.h + l.N * l.H,
           (size_t)(l.T * l.N * l.H) * sizeof(double));
    layer_close(&l);
    return LAB_OK;
}

struct sizes {
    int64_t N, T, D, H;
};

static void check_layer(const char *op, const struct sizes *s, bool last,
                        bool bias, bool dx)
{
    bool lstm = strcmp(op, "lstm") == 0;
    int64_t K = lstm ? 4 * s->H : s->H;
    struct tensor x = T3(s->N, s->T, s->D);
    struct tensor W = lstm ? T2(K, s->D) : T2(s->D, K);
    struct tensor U = lstm ? T2(K, s->H) : T2(s->H, K);
    struct tensor b = bias ? T1(K) : absent();
    struct tensor state = T2(s->N, s->H);
    struct tensor c0 = lstm ? state : absent();
    struct tensor h = T3(s->T, s->N, s->H);
    struct tensor out = last ? state : T3(s->N, s->T, s->H);
    /* Small weights: tanh is not to hide what goes wrong. */
    W.fill = U.fill = FILL_SMALL;
    gpu_check_against(&(struct gpu_case){.op = op,
                                         .phase = LAB_FORWARD,
                                         .in = {x, W, U, b, state, c0},
                                         .out = {out, h},
                                         .evaluation = !dx},
                      layer_forward);
    if (lstm)
        gpu_check_against(&(struct gpu_case){.op = op,
                                             .phase = LAB_FORWARD,
                                             .in = {x, W, U, b, state, c0},
                                             .out = {out, h, h, h, h, h, h,
                                                     T3(s->T, s->N, s->D)},
                                             .keeps_parts = true},
                          layer_forward);
    gpu_check_against(
        &(struct gpu_case){.op = op,
                           .phase = LAB_BACKWARD,
                           .in = {out, x, W, U, b, state, c0, h},
                           .out = {dx ? x : absent(), W, U, b, state, c0},
                           .derive = derive_h},
        layer_backward);
}

GPU_CASE(layers_agree)
{
    static const struct sizes all[] = {{1, 1, 1, 1},
                                       {5, 3, 7, 2},
                                       {33, 2, 1, 31},
                                       {3, 7, 65, 33},
                                       {64, 4, 32, 64}};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        check_layer("lstm", &all[i], false, true, true);
        check_layer("lstm", &all[i], true, true, i % 2);
        check_layer("rnn", &all[i], false, true, true);
        check_layer("rnn", &all[i], true, false, i % 2);
    }
    if (gpu_exec()->cudnn) {
        gpu_check_served("rnn");
        gpu_check_served("lstm");
    }
}

RUN_TESTS_IN(NULL, gpu_close)
