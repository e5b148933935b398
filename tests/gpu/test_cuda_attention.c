/* Attention, embeddings and additive attention on the GPU: every variant of
 * every step, and the fused kernels, against the reference in double. */
#include "attention/attention.h"
#include "base/mem.h"
#include "gpu_harness.h"

static struct tensor tensor3(enum fill fill, int64_t a, int64_t b, int64_t c)
{
    return (struct tensor){.fill = fill, .rank = 3, .dim = {a, b, c}};
}

/* ---- attention ---- */

struct sizes {
    int64_t N, H, Tq, Tk, E, F;
};

static const struct sizes cases[] = {
    {1, 1, 1, 1, 1, 1},      {2, 1, 3, 5, 4, 2},     {3, 2, 33, 33, 17, 17},
    {1, 4, 65, 31, 8, 5},    {2, 3, 64, 64, 64, 64}, {1, 2, 7, 70, 130, 133},
    {2, 1, 97, 40, 33, 129}, {1, 2, 9, 260, 8, 8},   {1, 1, 5, 516, 4, 4},
    {1, 1, 3, 1024, 4, 4}};

struct views {
    struct tensor q, k, v, scores, ctx;
};

static struct views views_of(const struct sizes *d)
{
    struct views t;
    t.q = tensor3(FILL_UNIFORM, d->N, d->Tq, d->H * d->E);
    t.k = tensor3(FILL_UNIFORM, d->N, d->Tk, d->H * d->E);
    t.v = tensor3(FILL_UNIFORM, d->N, d->Tk, d->H * d->F);
    t.ctx = tensor3(FILL_UNIFORM, d->N, d->Tq, d->H * d->F);
    t.scores = (struct tensor){
        .fill = FILL_UNIFORM, .rank = 4, .dim = {d->N, d->H, d->Tq, d->Tk}};
    return t;
}

static void check_steps(const char *op, const struct sizes *d,
                        const struct lab_attention_params *p)
{
    struct views t = views_of(d);
    struct tensor probs = t.scores;
    probs.fill = FILL_POSITIVE;
    const struct gpu_case steps[] = {
        {op, "scores", LAB_FORWARD, {t.q, t.k}, {t.scores}, .params = p},
        {op, "softmax", LAB_FORWARD, {t.scores}, {t.scores}, .params = p},
        {op, "context", LAB_FORWARD, {probs, t.v}, {t.ctx}, .params = p},
        {op, "softmax", LAB_BACKWARD, {t.scores, probs}, {probs}, .params = p},
    };
    GPU_CHECK_ALL(steps);
    struct tensor no_scores = t.scores;
    struct tensor no_q = t.q;
    no_scores.fill = no_q.fill = FILL_NULL;
    for (int k = 0; k < 2; k++) { /* 1: only k and v want their gradient */
        gpu_check_with(p, op, "context", LAB_BACKWARD,
                       TENSORS(t.ctx, probs, t.v),
                       TENSORS(k ? no_scores : t.scores, t.v));
        gpu_check_with(p, op, "scores", LAB_BACKWARD,
                       TENSORS(t.scores, t.q, t.k),
                       TENSORS(k ? no_q : t.q, t.k));
    }
}

GPU_CASE(attention_steps_agree)
{
    for (size_t i = 0; i < COUNT_OF(cases) * 2; i++) {
        const struct sizes *d = &cases[i / 2];
        struct lab_attention_params p = {d->H, i % 2 == 1};
        check_steps("attention", d, &p);
        if (d->H == 1)
            check_steps("scaled_dot_attention", d, &p);
    }
}

/* One step of the reference in double. */
static enum lab_status ref_step(const struct lab_call *call, const char *name,
                                enum lab_phase phase, const struct lab_view *in,
                                const struct lab_view *out)
{
    struct lab_call one = *call;
    one.in = in;
    one.out = out;
    return gpu_ref("attention", name, phase)(&one);
}

/* A matrix of scores of its own, doubles. */
static struct lab_view scratch(const struct lab_call *call, int q)
{
    const struct lab_attention_params *p = call->params;
    struct lab_attention_dims d =
        lab_attention_sizes(&call->in[q], &call->in[q + 1], NULL, p->heads);
    struct lab_view v = {.dtype = LAB_F64,
                         .rank = 3,
                         .dim = {d.N * d.H, d.Tq, d.Tk},
                         .count = d.N * d.H * d.Tq * d.Tk};
    v.data = lab_alloc_array((size_t)v.count, sizeof(double));
    assert_non_null(v.data);
    return v;
}

static enum lab_status fused_forward(const struct lab_call *call)
{
    struct lab_view in[2] = {scratch(call, 0), call->in[2]};
    struct lab_view scores = scratch(call, 0);
    ref_step(call, "scores", LAB_FORWARD, call->in, &scores);
    ref_step(call, "softmax", LAB_FORWARD, &scores, in);
    enum lab_status st = ref_step(call, "context", LAB_FORWARD, in, call->out);
    lab_free(scores.data);
    lab_free(in[0].data);
    return st;
}

/* ds = p (dp - sum_f dctx ctx), with the ctx that is handed in, whatever it is:
 * random numbers there show whether delta comes from where it should. */
static void gradient_of_scores(const struct lab_call *call,
                               const struct lab_view *probs,
                               const struct lab_view *dprobs,
                               struct lab_view *out)
{
    const struct lab_attention_params *p = call->params;
    const double *dctx = call->in[0].data;
    const double *ctx = call->in[4].data;
    struct lab_attention_dims d =
        lab_attention_sizes(&call->in[1], &call->in[2], &call->in[3], p->heads);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t row = i / d.Tk % d.Tq;
        int64_t h = i / d.Tk / d.Tq % d.H;
        int64_t n = i / d.Tk / d.Tq / d.H;
        int64_t first = ((n * d.Tq + row) * d.H + h) * d.F;
        double delta = 0;
        for (int64_t f = first; f < first + d.F; f++)
            delta += dctx[f] * ctx[f];
        ((double *)out->data)[i] = ((const double *)probs->data)[i] *
                                   (((const double *)dprobs->data)[i] - delta);
    }
}

/* in: dctx, q, k, v, ctx */
static enum lab_status fused_backward(const struct lab_call *call)
{
    struct lab_view scores = scratch(call, 1);
    struct lab_view probs = scratch(call, 1);
    struct lab_view dprobs = scratch(call, 1);
    struct lab_view back[2] = {dprobs, call->out[2]};
    struct lab_view in[3] = {call->in[0], probs, call->in[3]};
    ref_step(call, "scores", LAB_FORWARD, &call->in[1], &scores);
    ref_step(call, "softmax", LAB_FORWARD, &scores, &probs);
    ref_step(call, "context", LAB_BACKWARD, in, back);
    gradient_of_scores(call, &probs, &dprobs, &scores);
    struct lab_view last[3] = {scores, call->in[1], call->in[2]};
    enum lab_status st =
        ref_step(call, "scores", LAB_BACKWARD, last, call->out);
    lab_free(scores.data);
    lab_free(probs.data);
    lab_free(dprobs.data);
    return st;
}

/* in: dctx, q, k, v, ctx, which is to be theirs. */
static enum lab_status derive_ctx(const struct lab_call *call)
{
    struct lab_call forward = *call;
    forward.in = &call->in[1];
    forward.n_in = 3;
    forward.out = &call->in[4];
    forward.n_out = 1;
    return fused_forward(&forward);
}

GPU_CASE(fused_agrees)
{
    for (size_t i = 0; i < COUNT_OF(cases) * 2; i++) {
        const struct sizes *d = &cases[i / 2];
        struct lab_attention_params p = {d->H, i % 2 == 1};
        struct views t = views_of(d);
        struct gpu_case c = {.op = "attention",
                             .phase = LAB_FORWARD,
                             .in = {t.q, t.k, t.v},
                             .out = {t.ctx},
                             .params = &p};
        gpu_check_against(&c, fused_forward);
    }
}

GPU_CASE(fused_backward_agrees)
{
    for (size_t i = 0; i < COUNT_OF(cases) * 2; i++) {
        const struct sizes *d = &cases[i / 2];
        struct lab_attention_params p = {d->H, i % 2 == 1};
        struct views t = views_of(d);
        struct gpu_case c = {.op = "attention",
                             .phase = LAB_BACKWARD,
                             .in = {t.ctx, t.q, t.k, t.v, t.ctx},
                             .out = {t.q, t.k, t.v},
                             .not_cudnn = true, /* it has a ctx of its own */
                             .params = &p};
        gpu_check_against(&c, fused_backward);
        c.out[0].fill = FILL_NULL;
        gpu_check_against(&c, fused_backward);
        c.not_cudnn = false;
        c.derive = derive_ctx;
        gpu_check_against(&c, fused_backward);
    }
    if (gpu_exec()->cudnn)
        gpu_check_served("attention");
}

TEST_CASE(fused_refuses_without_a_workspace)
{
    struct lab_exec *exec = gpu_exec();
    if (!exec)
        skip();
    struct lab_exec without = *exec;
    without.workspace = NULL;
    struct lab_view one = {.rank = 3, .dim = {1, 1, 1}, .count = 1};
    struct lab_view five[5] = {one, one, one, one, one};
    struct lab_attention_params p = {.heads = 1};
    struct lab_call call = {.in = five,
                            .n_in = 5,
                            .out = five,
                            .n_out = 3,
                            .params = &p,
                            .exec = &without};
    const struct lab_kernel_set *set = gpu_cuda_set("attention");
    int tried = 0;
    for (int i = 0; i < set->count; i++) {
        const struct lab_variant *v = &set->variants[i];
        if (v->step || v->phase != LAB_BACKWARD)
            continue;
        assert_int_equal(v->run(&call), LAB_E_RANGE);
        tried++;
    }
    assert_int_equal(tried, 1);
}

GPU_CASE(projections_agree)
{
    static const int64_t dims[][3] = {
        {1, 1, 1}, {33, 65, 31}, {127, 17, 129}, {64, 64, 64}};
    static const char *const names[] = {"q", "k", "v", "output"};
    for (size_t i = 0; i < COUNT_OF(dims) * 4; i++) {
        const int64_t *d = dims[i / 4];
        struct tensor x = matrix(FILL_UNIFORM, d[0], d[1]);
        struct tensor W = matrix(FILL_UNIFORM, d[1], d[2]);
        struct tensor y = matrix(FILL_UNIFORM, d[0], d[2]);
        struct tensor b = vector(i % 2 ? FILL_UNIFORM : FILL_NULL, d[2]);
        struct tensor unwanted = x;
        unwanted.fill = FILL_NULL;
        gpu_check_step("attention", names[i % 4], LAB_FORWARD, TENSORS(x, W, b),
                       TENSORS(y));
        gpu_check_step("attention", names[i % 4], LAB_BACKWARD,
                       TENSORS(y, x, W), TENSORS(W, b, x));
        gpu_check_step("attention", names[i % 4], LAB_BACKWARD,
                       TENSORS(y, x, W), TENSORS(W, b, unwanted));
    }
}

/* ---- embeddings ---- */

GPU_CASE(embeddings_agree)
{
/* Without an order of the ids all R are looked at for each of V: on the simulator fewer,
 * but several blocks of them still, and several of V for each thread of a scan. */
#ifdef LAB_GPU_SIMULATED
#define MANY 515
#else
#define MANY 4099
#endif
    static const int64_t dims[][3] = {
        /* R, V, D */
        {1, 1, 1},      {70, 5, 33},     {257, 65, 64},
        {2051, 65, 96}, {1031, 128, 31}, {1031, 129, 9},
        {3, 1000, 7},   {MANY, 5003, 5}, {70001, 131, 2}};
    for (size_t i = 0; i < COUNT_OF(dims); i++) {
        const int64_t *d = dims[i];
        struct tensor W = matrix(FILL_UNIFORM, d[1], d[2]);
        struct tensor out = matrix(FILL_UNIFORM, d[0], d[2]);
        for (int bad = 0; bad < 2; bad++) {
            struct tensor ids =
                vector(bad ? FILL_BAD_LABELS : FILL_LABELS, d[0]);
            ids.limit = d[1];
            gpu_check_step("embedding", "gather", LAB_FORWARD, TENSORS(ids, W),
                           TENSORS(out));
            gpu_check_step("embedding", "gather", LAB_BACKWARD,
                           TENSORS(out, ids), TENSORS(W));
        }
    }
}

GPU_CASE(positions_agree)
{
    struct tensor x = tensor3(FILL_UNIFORM, 5, 33, 17);
    struct tensor W = matrix(FILL_UNIFORM, 40, 17);
    const char *op = "positional_embedding";
    gpu_check_step(op, "add", LAB_FORWARD, TENSORS(x, W), TENSORS(x));
    gpu_check_step(op, "add", LAB_BACKWARD, TENSORS(x), TENSORS(W));
}

GPU_CASE(means_agree)
{
    const int64_t dims[][3] = {{1, 1, 1}, {5, 33, 17}, {64, 4, 300}};
    for (size_t i = 0; i < sizeof(dims) / sizeof(dims[0]); i++) {
        const int64_t *d = dims[i];
        struct tensor x = tensor3(FILL_UNIFORM, d[0], d[1], d[2]);
        struct tensor y = matrix(FILL_UNIFORM, d[0], d[2]);
        const char *op = "sequence_mean";
        gpu_check_step(op, "mean", LAB_FORWARD, TENSORS(x), TENSORS(y));
        gpu_check_step(op, "mean", LAB_BACKWARD, TENSORS(y), TENSORS(x));
    }
}

/* ---- additive attention ---- */

static void check_bahdanau(int64_t N, int64_t T, int64_t S, int64_t D,
                           int64_t A)
{
    const char *op = "bahdanau_attention";
    struct tensor s = matrix(FILL_UNIFORM, N, S);
    struct tensor h = tensor3(FILL_UNIFORM, N, T, D);
    struct tensor Ws = matrix(FILL_UNIFORM, S, A);
    struct tensor Wh = matrix(FILL_UNIFORM, D, A);
    struct tensor b = vector(FILL_UNIFORM, A);
    struct tensor u = tensor3(FILL_UNIFORM, N, T, A);
    struct tensor e = matrix(FILL_UNIFORM, N, T);
    struct tensor a = matrix(FILL_POSITIVE, N, T);
    struct tensor out = matrix(FILL_UNIFORM, N, D);
    struct tensor no_s = matrix(FILL_NULL, N, S);
    struct tensor no_h = tensor3(FILL_NULL, N, T, D);
    const struct gpu_case steps[] = {
        {op, "u", LAB_FORWARD, {s, h, Ws, Wh, b}, {u}},
        {op, "t", LAB_FORWARD, {u}, {u}},
        {op, "e", LAB_FORWARD, {u, b}, {e}},
        {op, "a", LAB_FORWARD, {e}, {e}},
        {op, "context", LAB_FORWARD, {a, h}, {out}},
        {op, "context", LAB_BACKWARD, {out, a, h}, {e, h}},
        {op, "a", LAB_BACKWARD, {e, a}, {e}},
        {op, "e", LAB_BACKWARD, {e, u, b}, {u, b}},
        {op, "t", LAB_BACKWARD, {u, u}, {u}},
        {op, "u", LAB_BACKWARD, {u, s, h, Ws, Wh}, {Ws, Wh, b, s, h}},
        {op, "u", LAB_BACKWARD, {u, s, h, Ws, Wh}, {Ws, Wh, b, no_s, no_h}},
    };
    GPU_CHECK_ALL(steps);
}

GPU_CASE(additive_attention_agrees)
{
    check_bahdanau(1, 1, 1, 1, 1);
    check_bahdanau(3, 7, 5, 33, 9);
    check_bahdanau(17, 65, 31, 13, 37);
    check_bahdanau(101, 41, 3, 70, 129);
}

RUN_TESTS_IN(NULL, gpu_close)
