/* cuDNN's variants: its groups against references of their own in double, and
 * every row on at least one shape. What has a step like other variants is also
 * in the tests of that step. LAB_TEST_SEED repeats a run. */
#include "base/mem.h"
#include "batch_norm/batch_norm.h"
#include "conv2d/conv2d.h"
#include "gpu_harness.h"
#include "pool/pool.h"

/* ---- batch norm: its steps, one after the other ---- */

static enum lab_status norm_forward(const struct lab_call *call)
{
    struct lab_view xhat = call->in[0];
    xhat.data = zeros(xhat.count);
    struct lab_call step = *call;
    step.out = call->out + 1;
    step.n_out = 4;
    step.n_in = 1;
    assert_ok(gpu_ref("batch_norm", "stats", LAB_FORWARD)(&step));
    struct lab_view in[] = {call->in[0], call->out[1], call->out[2]};
    step.in = in;
    step.n_in = 3;
    step.out = &xhat;
    step.n_out = 1;
    assert_ok(gpu_ref("batch_norm", "normalize", LAB_FORWARD)(&step));
    in[0] = xhat;
    in[1] = call->in[1];
    in[2] = call->in[2];
    step.out = call->out;
    assert_ok(gpu_ref("batch_norm", "scale", LAB_FORWARD)(&step));
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
    assert_ok(gpu_ref("batch_norm", "stats", LAB_FORWARD)(&step));
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
    assert_ok(gpu_ref("batch_norm", "normalize", LAB_FORWARD)(&step));
    struct lab_view scale_in[] = {call->in[0], xhat, call->in[2]};
    struct lab_view scale_out[] = {dxhat, call->out[1], call->out[2]};
    step.in = scale_in;
    step.out = scale_out;
    step.n_out = 3;
    assert_ok(gpu_ref("batch_norm", "scale", LAB_BACKWARD)(&step));
    struct lab_view back_in[] = {dxhat, xhat, call->in[4]};
    step.in = back_in;
    step.out = call->out;
    step.n_out = 1;
    if (call->out[0].data)
        assert_ok(gpu_ref("batch_norm", "normalize", LAB_BACKWARD)(&step));
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
                                             .out = {k ? x : absent(), c, c},
                                             .derive = derive_stats,
                                             .params = &p},
                          norm_backward);
    }
}

GPU_CASE(norms_agree)
{
    static const int64_t sizes[][3] = {{2, 1, 1},    {5, 7, 1},  {3, 2, 35},
                                       {128, 33, 1}, {9, 5, 64}, {1, 3, 1000},
                                       {70001, 2, 1}};
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

GPU_CASE(max_pools_agree)
{
    const struct lab_pool_params p[] = {
        {{.size = {2, 2}, .stride = {2, 2}}},
        {{.size = {3, 2}, .stride = {2, 1}, .pad = {1, 1}}},
        {{.size = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}}};
    static const int64_t out[][2] = {{4, 3}, {4, 8}, {8, 7}};
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
        gpu_check_step(ops[i], ops[i], LAB_FORWARD, TENSORS(x), TENSORS(x));
        gpu_check(&(struct gpu_case){ops[i],
                                     ops[i],
                                     LAB_BACKWARD,
                                     {x, x, x},
                                     {x},
                                     .derive = derive_activation});
    }
}

/* ---- every way of computing a convolution, and the rest ---- */

TEST_CASE(every_row_serves)
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
    if (!gpu_exec())
        skip();
    GPU_CHECK_ALL(cases);
    check_activations(x);
    static const char *const ops[] = {"conv2d",     "max_pool2d", "avg_pool2d",
                                      "batch_norm", "softmax",    "relu",
                                      "sigmoid",    "tanh"};
    for (size_t i = 0; i < COUNT_OF(ops) && gpu_exec()->cudnn; i++)
        gpu_check_served(ops[i]);
}

RUN_TESTS_IN(NULL, gpu_close)
