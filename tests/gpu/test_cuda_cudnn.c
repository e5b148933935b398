/* cuDNN's variants: its groups against references of their own in double, and
 * every row on at least one shape. What has a step like other variants is also
 * in the tests of that step. LAB_TEST_SEED repeats a run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "batch_norm.h"
#include "conv2d.h"
#include "gpu_harness.h"
#include "pool.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static struct tensor shaped(int rank, const int64_t *dim)
{
    struct tensor t = {.fill = FILL_UNIFORM, .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof(*dim));
    return t;
}
#define T1(a) shaped(1, (const int64_t[]){a})
#define T2(a, b) shaped(2, (const int64_t[]){a, b})
#define T3(a, b, c) shaped(3, (const int64_t[]){a, b, c})
#define T4(a, b, c, d) shaped(4, (const int64_t[]){a, b, c, d})

static struct tensor left_out(void)
{
    return (struct tensor){.fill = FILL_NULL, .rank = 1, .dim = {0}};
}

static const double *in_of(const struct lab_call *call, int i)
{
    return call->in[i].data;
}

static double *out_of(const struct lab_call *call, int i)
{
    return call->out[i].data;
}

/* ---- a recurrent layer, in double ---- */

struct layer {
    const double *x, *W, *U, *b, *h0, *c0; /* c0 NULL: an rnn */
    int64_t N, T, D, H, K;
    double *gate; /* (T, N, K) after their functions */
    double *c;    /* (T+1, N, H) */
    double *h;    /* (T+1, N, H) */
};

static double *zeros(int64_t n)
{
    double *p = lab_alloc_array((size_t)n, sizeof(*p));
    assert_non_null(p);
    return p;
}

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
    struct tensor b = bias ? T1(K) : left_out();
    struct tensor state = T2(s->N, s->H);
    struct tensor c0 = lstm ? state : left_out();
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
    gpu_check_against(
        &(struct gpu_case){.op = op,
                           .phase = LAB_BACKWARD,
                           .in = {out, x, W, U, b, state, c0, h},
                           .out = {dx ? x : left_out(), W, U, b, state, c0},
                           .derive = derive_h},
        layer_backward);
}

static void layers_agree(void **state)
{
    static const struct sizes all[] = {{1, 1, 1, 1},
                                       {5, 3, 7, 2},
                                       {33, 2, 1, 31},
                                       {3, 7, 65, 33},
                                       {64, 4, 32, 64}};
    (void)state;
    if (!gpu_exec())
        skip();
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        check_layer("lstm", &all[i], false, true, true);
        check_layer("lstm", &all[i], true, true, i % 2);
        check_layer("rnn", &all[i], false, true, true);
        check_layer("rnn", &all[i], true, false, i % 2);
    }
}

/* ---- batch norm: its steps, one after the other ---- */

static enum lab_status norm_forward(const struct lab_call *call)
{
    struct lab_view xhat = call->in[0];
    xhat.data = zeros(xhat.count);
    struct lab_call step = *call;
    step.out = call->out + 1;
    step.n_out = 4;
    step.n_in = 1;
    assert_int_equal(gpu_ref("batch_norm", "stats", LAB_FORWARD)(&step),
                     LAB_OK);
    struct lab_view in[] = {call->in[0], call->out[1], call->out[2]};
    step.in = in;
    step.n_in = 3;
    step.out = &xhat;
    step.n_out = 1;
    assert_int_equal(gpu_ref("batch_norm", "normalize", LAB_FORWARD)(&step),
                     LAB_OK);
    in[0] = xhat;
    in[1] = call->in[1];
    in[2] = call->in[2];
    step.out = call->out;
    assert_int_equal(gpu_ref("batch_norm", "scale", LAB_FORWARD)(&step),
                     LAB_OK);
    lab_free(xhat.data);
    return LAB_OK;
}

/* mean and rstd, inputs of backward, must be those of x. */
static enum lab_status derive_stats(const struct lab_call *call)
{
    double *running = zeros(2 * call->in[2].count);
    struct lab_view var = call->in[2];
    var.data = running + call->in[2].count;
    struct lab_view mean = call->in[2];
    mean.data = running;
    struct lab_view out[] = {call->in[3], call->in[4], mean, var};
    struct lab_call step = *call;
    step.in = &call->in[1];
    step.n_in = 1;
    step.out = out;
    step.n_out = 4;
    assert_int_equal(gpu_ref("batch_norm", "stats", LAB_FORWARD)(&step),
                     LAB_OK);
    lab_free(running);
    return LAB_OK;
}

static enum lab_status norm_backward(const struct lab_call *call)
{
    struct lab_view xhat = call->in[1];
    struct lab_view dxhat = call->in[1];
    xhat.data = zeros(xhat.count);
    dxhat.data = zeros(dxhat.count);
    struct lab_view in[] = {call->in[1], call->in[3], call->in[4]};
    struct lab_call step = *call;
    step.in = in;
    step.n_in = 3;
    step.out = &xhat;
    step.n_out = 1;
    assert_int_equal(gpu_ref("batch_norm", "normalize", LAB_FORWARD)(&step),
                     LAB_OK);
    struct lab_view scale_in[] = {call->in[0], xhat, call->in[2]};
    struct lab_view scale_out[] = {dxhat, call->out[1], call->out[2]};
    step.in = scale_in;
    step.out = scale_out;
    step.n_out = 3;
    assert_int_equal(gpu_ref("batch_norm", "scale", LAB_BACKWARD)(&step),
                     LAB_OK);
    struct lab_view back_in[] = {dxhat, xhat, call->in[4]};
    step.in = back_in;
    step.out = call->out;
    step.n_out = 1;
    if (call->out[0].data)
        assert_int_equal(
            gpu_ref("batch_norm", "normalize", LAB_BACKWARD)(&step), LAB_OK);
    lab_free(xhat.data);
    lab_free(dxhat.data);
    return LAB_OK;
}

static void check_norm(int64_t outer, int64_t C, int64_t inner)
{
    const struct lab_batch_norm_params p = {1e-5, 0.3, inner};
    struct tensor x = inner > 1 ? T4(outer, C, inner, 1) : T2(outer, C);
    struct tensor c = T1(C);
    struct tensor positive = c;
    positive.fill = FILL_POSITIVE;
    for (int k = 0; k < 2; k++) {
        gpu_check_against(&(struct gpu_case){.op = "batch_norm",
                                             .phase = LAB_FORWARD,
                                             .in = {x, c, c},
                                             .out = {x, c, c, c, positive},
                                             .inout = true,
                                             .evaluation = k == 1,
                                             .params = &p},
                          norm_forward);
        gpu_check_against(&(struct gpu_case){.op = "batch_norm",
                                             .phase = LAB_BACKWARD,
                                             .in = {x, x, c, c, positive},
                                             .out = {k ? x : left_out(), c, c},
                                             .derive = derive_stats,
                                             .params = &p},
                          norm_backward);
    }
}

static void norms_agree(void **state)
{
    static const int64_t sizes[][3] = {{2, 1, 1},    {5, 7, 1},  {3, 2, 35},
                                       {128, 33, 1}, {9, 5, 64}, {1, 3, 1000},
                                       {70001, 2, 1}};
    (void)state;
    if (!gpu_exec())
        skip();
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        check_norm(sizes[i][0], sizes[i][1], sizes[i][2]);
}

/* ---- pools ---- */

static struct lab_view winners_of(const struct lab_call *call,
                                  const struct lab_view *y)
{
    struct lab_view argmax = *y;
    (void)call;
    argmax.dtype = LAB_I32;
    argmax.data = zeros(argmax.count);
    return argmax;
}

static enum lab_status pool_forward(const struct lab_call *call)
{
    struct lab_view out[] = {call->out[0], winners_of(call, &call->out[0])};
    struct lab_call step = *call;
    step.out = out;
    step.n_out = 2;
    enum lab_status st = gpu_ref("max_pool2d", "pool", LAB_FORWARD)(&step);
    lab_free(out[1].data);
    return st;
}

/* in: dy, x, y */
static enum lab_status derive_y(const struct lab_call *call)
{
    struct lab_call step = *call;
    step.in = &call->in[1];
    step.n_in = 1;
    step.out = &call->in[2];
    step.n_out = 1;
    return pool_forward(&step);
}

static enum lab_status pool_backward(const struct lab_call *call)
{
    struct lab_view y = call->in[2];
    y.data = zeros(y.count);
    struct lab_view out[] = {y, winners_of(call, &y)};
    struct lab_call step = *call;
    step.in = &call->in[1];
    step.n_in = 1;
    step.out = out;
    step.n_out = 2;
    enum lab_status st = gpu_ref("max_pool2d", "pool", LAB_FORWARD)(&step);
    struct lab_view in[] = {call->in[0], out[1]};
    step = *call;
    step.in = in;
    step.n_in = 2;
    if (!st)
        st = gpu_ref("max_pool2d", "pool", LAB_BACKWARD)(&step);
    lab_free(y.data);
    lab_free(out[1].data);
    return st;
}

/* ties: numbers that are equal in almost every window. */
static void check_pool(const struct lab_pool_params *p, struct tensor x,
                       struct tensor y, bool ties)
{
    x.fill = ties ? FILL_TIES : FILL_UNIFORM;
    gpu_check_against(&(struct gpu_case){.op = "max_pool2d",
                                         .phase = LAB_FORWARD,
                                         .in = {x},
                                         .out = {y},
                                         .params = p},
                      pool_forward);
    gpu_check_against(&(struct gpu_case){.op = "max_pool2d",
                                         .phase = LAB_BACKWARD,
                                         .in = {y, x, y},
                                         .out = {x},
                                         .derive = derive_y,
                                         .params = p},
                      pool_backward);
}

static void max_pools_agree(void **state)
{
    const struct lab_pool_params p[] = {
        {{.size = {2, 2}, .stride = {2, 2}}},
        {{.size = {3, 2}, .stride = {2, 1}, .pad = {1, 1}}},
        {{.size = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}}};
    static const int64_t out[][2] = {{4, 3}, {4, 8}, {8, 7}};
    (void)state;
    if (!gpu_exec())
        skip();
    for (size_t i = 0; i < COUNT_OF(p); i++) {
        struct lab_pool_params nhwc = p[i];
        nhwc.window.nhwc = true;
        for (int ties = 0; ties < 2; ties++) {
            check_pool(&p[i], T4(3, 5, 8, 7), T4(3, 5, out[i][0], out[i][1]),
                       ties);
            check_pool(&nhwc, T4(3, 8, 7, 5), T4(3, out[i][0], out[i][1], 5),
                       ties);
        }
    }
}

/* in: dy, x, y, and y must be that of x. */
static const char *activation_op;

static enum lab_status derive_activation(const struct lab_call *call)
{
    struct lab_call step = *call;
    step.in = &call->in[1];
    step.n_in = 1;
    step.out = &call->in[2];
    step.n_out = 1;
    return gpu_ref(activation_op, activation_op, LAB_FORWARD)(&step);
}

static void check_activations(struct tensor x)
{
    static const char *const ops[] = {"relu", "sigmoid", "tanh"};
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        activation_op = ops[i];
        gpu_check(&(struct gpu_case){ops[i], ops[i], LAB_FORWARD, {x}, {x}});
        gpu_check(&(struct gpu_case){ops[i],
                                     ops[i],
                                     LAB_BACKWARD,
                                     {x, x, x},
                                     {x},
                                     .derive = derive_activation});
    }
}

/* ---- every way of computing a convolution, and the rest ---- */

static void every_row_serves(void **state)
{
    const struct lab_conv2d_params conv = {
        {.size = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}};
    const struct lab_pool_params pool = {{.size = {2, 2}, .stride = {2, 2}}};
    struct tensor x = T4(4, 8, 16, 18);
    struct tensor W = T4(16, 8, 3, 3);
    struct tensor y = T4(4, 16, 16, 18);
    struct tensor half = T4(4, 8, 8, 9);
    const struct gpu_case cases[] = {
        {"conv2d", "conv", LAB_FORWARD, {x, W}, {y}, .params = &conv},
        {"conv2d", "conv", LAB_BACKWARD, {y, x, W}, {W, x}, .params = &conv},
        {"avg_pool2d", "pool", LAB_FORWARD, {x}, {half}, .params = &pool},
        {"avg_pool2d", "pool", LAB_BACKWARD, {half}, {x}, .params = &pool},
        {"softmax", "softmax", LAB_FORWARD, {x}, {x}},
        {"softmax", "softmax", LAB_BACKWARD, {x, x}, {x}},
    };
    (void)state;
    if (!gpu_exec())
        skip();
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        gpu_check(&cases[i]);
    check_activations(x);
    static const char *const ops[] = {
        "conv2d", "max_pool2d", "avg_pool2d", "batch_norm", "softmax",
        "relu",   "sigmoid",    "tanh",       "rnn",        "lstm"};
    for (size_t i = 0; i < COUNT_OF(ops) && gpu_exec()->cudnn; i++)
        gpu_check_served(ops[i]);
}

static int close_gpu(void **state)
{
    (void)state;
    gpu_exec_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_agree),
        cmocka_unit_test(norms_agree),
        cmocka_unit_test(max_pools_agree),
        cmocka_unit_test(every_row_serves),
    };
    return cmocka_run_group_tests(tests, NULL, close_gpu);
}
