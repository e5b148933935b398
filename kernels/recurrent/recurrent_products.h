/* kernels/recurrent/recurrent_products.h -- the products of rnn and lstm
 * (common/product.h): the four gates of an lstm are one product, and the weights' gradient is one
 * product over all time steps. */
#include <string.h>

#include "base/parallel.h"
#include "common/product.h"
#include "common/vector.h"

static struct lab_matrix matrix(const struct lab_view *v, bool flip)
{
    return (struct lab_matrix){v->data, lab_view_cols(v), flip};
}

/* Every row of z starts as b, or as zeros. */
static void start_rows(struct lab_matrix z, const float *b, int64_t rows,
                       int64_t cols)
{
    for (int64_t r = 0; r < rows; r++) {
        if (b)
            memcpy(z.data + r * z.ld, b, (size_t)cols * sizeof(*b));
        else
            memset(z.data + r * z.ld, 0, (size_t)cols * sizeof(*z.data));
    }
}

/* A call, and whether the weights are stored as [out,in]. */
struct step {
    const struct lab_call *call;
    bool flip;
};

/* z = x W + hp U + b, columns from .. to-1: both products by one thread. */
static void step_part(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = ((const struct step *)arg)->call;
    bool flip = ((const struct step *)arg)->flip;
    const float *b = call->in[4].data;
    int64_t N = call->out[0].dim[0];
    struct lab_matrix z = matrix(&call->out[0], false);
    z.data += from;
    start_rows(z, b ? b + from : NULL, N, to - from);
    for (int i = 0; i < 2; i++) {
        struct lab_matrix W = matrix(&call->in[2 + i], flip);
        W.data += flip ? from * W.ld : from;
        LAB_MULTIPLY(z, matrix(&call->in[i], false), W, N, to - from,
                     lab_view_cols(&call->in[i]), 1, 1);
    }
}

static enum lab_status step_forward(const struct lab_call *call, bool flip)
{
    struct step step = {call, flip};
    int64_t N = call->out[0].dim[0];
    int64_t K = call->out[0].dim[1];
    int64_t inner = lab_view_cols(&call->in[0]) + lab_view_cols(&call->in[1]);
    enum lab_status st = LAB_CHECK_SIDES(N, K, inner);
    if (!st)
        lab_parallel(K, lab_product_grain(K, N * inner), step_part, &step);
    return st;
}

/* dhp = dz U, or dz Wh^T. */
static enum lab_status step_backward(const struct lab_call *call, bool flip)
{
    int64_t N = call->out[0].dim[0];
    int64_t H = call->out[0].dim[1];
    int64_t K = call->in[0].dim[1];
    enum lab_status st = LAB_CHECK_SIDES(N, H, K);
    if (!st)
        LAB_MULTIPLY(matrix(&call->out[0], false), matrix(&call->in[0], false),
                     matrix(&call->in[1], flip), N, H, K, 1, 0);
    return st;
}

/* dW (cols_a, cols_b) = a^T b + beta dW over `rows` rows. */
static void outer(float *dW, float *a, int64_t cols_a, float *b, int64_t cols_b,
                  int64_t rows, float beta)
{
    LAB_MULTIPLY((struct lab_matrix){dW, cols_b},
                 (struct lab_matrix){a, cols_a, .flip = true},
                 (struct lab_matrix){b, cols_b}, cols_a, cols_b, rows, 1, beta);
}

/* The rows of h are one step of N behind those of dz, and h0 is before. */
static enum lab_status weights_backward(const struct lab_call *call, bool flip)
{
    float *dz = call->in[0].data;
    float *h = call->in[2].data;
    float *h0 = call->in[3].data;
    float *dW = call->out[0].data;
    float *dU = call->out[1].data;
    int64_t N = call->in[0].dim[1];
    int64_t K = call->in[0].dim[2];
    int64_t D = call->in[1].dim[2];
    int64_t H = call->in[2].dim[2];
    int64_t rows = call->in[0].dim[0] * N;
    enum lab_status st = LAB_CHECK_SIDES(rows, K, D > H ? D : H);
    if (st)
        return st;
    float *later = rows > N ? dz + N * K : dz;
    if (flip) {
        outer(dW, dz, K, call->in[1].data, D, rows, 0.0f);
        outer(dU, dz, K, h0, H, N, 0.0f);
        outer(dU, later, K, h, H, rows - N, 1.0f);
    } else {
        outer(dW, call->in[1].data, D, dz, K, rows, 0.0f);
        outer(dU, h0, H, dz, K, N, 0.0f);
        outer(dU, h, H, later, K, rows - N, 1.0f);
    }
    if (call->out[2].data)
        lab_column_sums(call->out[2].data, dz, rows, K);
    return LAB_OK;
}

/* dx[:,t,:] = dz[t] W, or dz[t] Wx^T: rows T*D apart. */
static void some_steps_back(const void *arg, int64_t from, int64_t to)
{
    const struct step *a = arg;
    const struct lab_call *call = a->call;
    int64_t T = call->in[0].dim[0];
    int64_t N = call->in[0].dim[1];
    int64_t K = call->in[0].dim[2];
    int64_t D = call->out[0].dim[2];
    float *dx = call->out[0].data;
    float *dz = call->in[0].data;
    for (int64_t t = from; t < to; t++)
        LAB_MULTIPLY((struct lab_matrix){dx + t * D, T * D},
                     (struct lab_matrix){dz + t * N * K, K},
                     matrix(&call->in[1], a->flip), N, D, K, 1, 0);
}

static enum lab_status input_backward(const struct lab_call *call, bool flip)
{
    struct step a = {call, flip};
    int64_t T = call->in[0].dim[0];
    enum lab_status st = LAB_CHECK_SIDES(call->in[0].dim[1], call->in[0].dim[2],
                                         T * call->out[0].dim[2]);
    if (!st)
        lab_parallel(T, 1, some_steps_back, &a);
    return st;
}

static enum lab_status lstm_gates_forward(const struct lab_call *call)
{
    return step_forward(call, true);
}

static enum lab_status lstm_gates_backward(const struct lab_call *call)
{
    return step_backward(call, false);
}

static enum lab_status lstm_weights_backward(const struct lab_call *call)
{
    return weights_backward(call, true);
}

static enum lab_status lstm_input_backward(const struct lab_call *call)
{
    return input_backward(call, false);
}

static enum lab_status rnn_sum_forward(const struct lab_call *call)
{
    return step_forward(call, false);
}

static enum lab_status rnn_sum_backward(const struct lab_call *call)
{
    return step_backward(call, true);
}

static enum lab_status rnn_weights_backward(const struct lab_call *call)
{
    return weights_backward(call, false);
}

static enum lab_status rnn_input_backward(const struct lab_call *call)
{
    return input_backward(call, true);
}

#define ROW(step_name, phase_id, fn, first)                                    \
    LAB_PRODUCT_ROW("kernels/recurrent/recurrent_products.h", step_name,       \
                    phase_id, fn, first)

static const struct lab_variant lstm_products[] = {
    ROW("gates", LAB_FORWARD, lstm_gates_forward, "step_forward"),
    ROW("gates", LAB_BACKWARD, lstm_gates_backward, "step_backward"),
    ROW("weights", LAB_BACKWARD, lstm_weights_backward, "weights_backward"),
    ROW("input", LAB_BACKWARD, lstm_input_backward, "input_backward"),
};

static const struct lab_variant rnn_products[] = {
    ROW("sum", LAB_FORWARD, rnn_sum_forward, "step_forward"),
    ROW("sum", LAB_BACKWARD, rnn_sum_backward, "step_backward"),
    ROW("weights", LAB_BACKWARD, rnn_weights_backward, "weights_backward"),
    ROW("input", LAB_BACKWARD, rnn_input_backward, "input_backward"),
};
#undef ROW
