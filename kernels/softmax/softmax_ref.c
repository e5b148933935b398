/* softmax over the last axis: every row becomes positive numbers that sum to
 * 1. Subtracting the row's largest element changes nothing on paper (it cancels
 * in the fraction) and keeps exp from overflowing: the largest argument is 0.
 */
#include "common/ref.h"

#define LAB_REF_FILE "kernels/softmax/softmax_ref.c"

/* y[c] = exp(x[c] - max) / sum_c exp(x[c] - max), for one row */
static void softmax_row(real *y, const real *x, int64_t C)
{
    real max = x[0];
    for (int64_t c = 1; c < C; c++)
        max = x[c] > max ? x[c] : max;
    double sum = 0;
    for (int64_t c = 0; c < C; c++) {
        y[c] = real_exp(x[c] - max);
        sum += y[c];
    }
    for (int64_t c = 0; c < C; c++)
        y[c] = (real)(y[c] / sum);
}

static enum lab_status softmax_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    int64_t C = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t r = 0; r < R; r++)
        softmax_row(y + r * C, x + r * C, C);
    return LAB_OK;
}

/* The same without taking off the largest: exp of a float overflows above 88.72,
 * and infinity over infinity is NaN; a row far below 0 is 0 over 0. */
static enum lab_status softmax_forward_unstable(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    int64_t C = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t r = 0; r < R; r++, x += C, y += C) {
        double sum = 0;
        for (int64_t c = 0; c < C; c++) {
            y[c] = real_exp(x[c]);
            sum += y[c];
        }
        for (int64_t c = 0; c < C; c++)
            y[c] = (real)(y[c] / sum);
    }
    return LAB_OK;
}

/* dx[c] = y[c] (dy[c] - sum_k dy[k] y[k]): every output of a row depends on
 * every input of it, and the sum is what they share. */
static enum lab_status softmax_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const real *y = call->in[1].data;
    real *dx = call->out[0].data;
    int64_t C = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t r = 0; r < R; r++) {
        double dot = 0;
        for (int64_t c = 0; c < C; c++)
            dot += (double)dy[r * C + c] * y[r * C + c];
        for (int64_t c = 0; c < C; c++)
            dx[r * C + c] = (real)(y[r * C + c] * (dy[r * C + c] - dot));
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("softmax", LAB_FORWARD, softmax_forward),
    LAB_REF_WRONG_ROW("unstable", "softmax", LAB_FORWARD,
                      softmax_forward_unstable, "exp overflows"),
    LAB_REF_ROW("softmax", LAB_BACKWARD, softmax_backward),
};

LAB_REF_SET(softmax, variants);
