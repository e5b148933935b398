/* Attention with its four projections. What happens between them is in
 * scaled_dot_attention_ref.c. */
#include "attention/attention_ref.h"

#define LAB_REF_FILE "kernels/attention/attention_ref.c"

/* y[r,m] = sum_k x[r,k] W[k,m] + b[m] */
static enum lab_status attention_project_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    const real *W = call->in[1].data;
    const real *b = call->in[2].data;
    real *y = call->out[0].data;
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t K = lab_view_cols(&call->in[0]);
    int64_t M = lab_view_cols(&call->in[1]);
    for (int64_t r = 0; r < R && !lab_stopped(call); r++) {
        for (int64_t m = 0; m < M; m++) {
            double sum = b ? b[m] : 0;
            for (int64_t k = 0; k < K; k++)
                sum += (double)x[r * K + k] * W[k * M + m];
            y[r * M + m] = (real)sum;
        }
    }
    return LAB_OK;
}

/* dW[k,m] = sum_r x[r,k] dy[r,m]; db[m] = sum_r dy[r,m] */
static void project_parameters(const struct lab_call *call, real *dW, real *db,
                               const real *x, const real *dy, int64_t R,
                               int64_t K, int64_t M)
{
    for (int64_t m = 0; m < M && !lab_stopped(call); m++) {
        double bias = 0;
        for (int64_t r = 0; r < R; r++)
            bias += dy[r * M + m];
        if (db)
            db[m] = (real)bias;
        for (int64_t k = 0; k < K; k++) {
            double sum = 0;
            for (int64_t r = 0; r < R; r++)
                sum += (double)x[r * K + k] * dy[r * M + m];
            dW[k * M + m] = (real)sum;
        }
    }
}

/* dx[r,k] = sum_m dy[r,m] W[k,m] */
static enum lab_status attention_project_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const real *W = call->in[2].data;
    real *dx = call->out[2].data;
    int64_t R = lab_view_rows(&call->in[1]);
    int64_t K = lab_view_cols(&call->in[1]);
    int64_t M = lab_view_cols(&call->in[2]);
    project_parameters(call, call->out[0].data, call->out[1].data,
                       call->in[1].data, dy, R, K, M);
    for (int64_t i = 0; dx && i < R * K && !lab_stopped_at(call, i, K); i++) {
        double sum = 0;
        for (int64_t m = 0; m < M; m++)
            sum += (double)dy[i / K * M + m] * W[i % K * M + m];
        dx[i] = (real)sum;
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("q", LAB_FORWARD, attention_project_forward),
    LAB_REF_ROW("k", LAB_FORWARD, attention_project_forward),
    LAB_REF_ROW("v", LAB_FORWARD, attention_project_forward),
    ATTEND_ROWS,
    LAB_REF_ROW("output", LAB_FORWARD, attention_project_forward),
    LAB_REF_ROW("output", LAB_BACKWARD, attention_project_backward),
    LAB_REF_ROW("v", LAB_BACKWARD, attention_project_backward),
    LAB_REF_ROW("k", LAB_BACKWARD, attention_project_backward),
    LAB_REF_ROW("q", LAB_BACKWARD, attention_project_backward),
};

LAB_REF_SET(attention, variants);
