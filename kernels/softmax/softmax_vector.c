/* Softmax, alone, in attention and in the loss, a row at a time on all threads
 * (cpu/vector.h). A row is read three times: its largest element, exp and sum,
 * scale. It stays in the first cache up to some thousands of columns, so that
 * exp, and not memory, bounds it. */
#include <string.h>

#include "attention/attention.h"
#include "cpu/vector.h"
#include "softmax/softmax.h"

#define LAB_VECTOR_FILE "kernels/softmax/softmax_vector.c"

enum { WHOLE = 16 }; /* numbers of the longest vector */

/* By whole vectors: what is left over would take as long one by one. The last vector
 * may have numbers of the one before it: a largest one is none the larger. */
static inline float largest(const float *x, int64_t C)
{
    float max = x[0];
    int64_t whole = C / WHOLE * WHOLE;
#pragma omp simd reduction(max : max)
    for (int64_t c = 0; c < whole; c++)
        max = x[c] > max ? x[c] : max;
    if (whole == C)
        return max;
#pragma omp simd reduction(max : max)
    for (int64_t c = C > WHOLE ? C - WHOLE : 0; c < C; c++)
        max = x[c] > max ? x[c] : max;
    return max;
}

LAB_VECTOR int64_t lab_softmax_largest(const float *x, int64_t C)
{
    int no_number = 0;
    int64_t first = 0;
    float max = largest(x, C);
#pragma omp simd reduction(| : no_number)
    for (int64_t c = 0; c < C; c++)
        no_number |= x[c] != x[c];
    if (no_number)
        return -1;
    while (x[first] != max)
        first++;
    return first;
}

/* y[c] = exp(x[c] - max); returns their sum. */
LAB_VECTOR static double exp_row(float *y, const float *x, int64_t C)
{
    float max = largest(x, C);
    double sum = 0;
#pragma omp simd
    for (int64_t c = 0; c < C; c++)
        y[c] = expf(x[c] - max);
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < C; c++)
        sum += (double)y[c];
    return sum;
}

LAB_VECTOR static void scale_row(float *y, float by, int64_t C)
{
#pragma omp simd
    for (int64_t c = 0; c < C; c++)
        y[c] *= by;
}

static void softmax_row(float *y, const float *x, int64_t C)
{
    scale_row(y, (float)(1 / exp_row(y, x, C)), C);
}

/* dx[c] = y[c] (dy[c] - sum_k dy[k] y[k]) */
LAB_VECTOR static void gradient_row(float *dx, const float *dy, const float *y,
                                    int64_t C)
{
    double dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int64_t c = 0; c < C; c++)
        dot += (double)dy[c] * (double)y[c];
    float common = (float)dot;
#pragma omp simd
    for (int64_t c = 0; c < C; c++)
        dx[c] = y[c] * (dy[c] - common);
}

static void softmax_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    int64_t C = lab_view_cols(&call->in[0]);
    for (int64_t r = from; r < to; r++)
        softmax_row((float *)call->out[0].data + r * C,
                    (const float *)call->in[0].data + r * C, C);
}

static void gradient_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    int64_t C = lab_view_cols(&call->in[0]);
    for (int64_t r = from; r < to; r++)
        gradient_row((float *)call->out[0].data + r * C,
                     (const float *)call->in[0].data + r * C,
                     (const float *)call->in[1].data + r * C, C);
}

static enum lab_status softmax_forward(const struct lab_call *call)
{
    return lab_each_row(call, &call->in[0], softmax_rows);
}

static enum lab_status softmax_backward(const struct lab_call *call)
{
    return lab_each_row(call, &call->in[0], gradient_rows);
}

static const struct lab_variant softmax_table[] = {
    LAB_VECTOR_ROW("softmax", LAB_FORWARD, softmax_forward),
    LAB_VECTOR_ROW("softmax", LAB_BACKWARD, softmax_backward),
};
const struct lab_kernel_set lab_vector_softmax = {"softmax", softmax_table, 2};

/* Attention: row (n, h, i) of the scores sees its first keys (causal) and those
 * that the mask shows; what it does not see is 0. */

/* The scores of a row, with -inf where the mask hides. */
LAB_VECTOR static void mask_row(float *y, const float *x, const float *mask,
                                int64_t C)
{
#pragma omp simd
    for (int64_t c = 0; c < C; c++)
        y[c] = mask[c] > 0 ? x[c] : -INFINITY;
}

LAB_VECTOR void lab_softmax_shares(float *y, const float *x, int64_t seen,
                                   int64_t C)
{
    int64_t end = (seen + WHOLE - 1) / WHOLE * WHOLE;
    float max = largest(x, seen);
    double sum = 0;
    if (end > C)
        end = C;
#pragma omp simd
    for (int64_t c = 0; c < end; c++)
        y[c] = expf(x[c] - max);
    memset(y + seen, 0, (size_t)(end - seen) * sizeof(*y));
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < end; c++)
        sum += (double)y[c];
    float by = (float)(1 / sum);
#pragma omp simd
    for (int64_t c = 0; c < end; c++)
        y[c] *= by;
    memset(y + seen, 0, (size_t)(C - seen) * sizeof(*y)); /* 0 inf is none */
}

static void attention_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const struct lab_attention_params *p = call->params;
    int64_t Tk = lab_view_cols(&call->in[0]);
    int64_t Tq = lab_attention_rows(&call->in[0]);
    int64_t each = 1; /* rows that share a row of the mask */
    if (p->masked)
        each = lab_view_rows(&call->in[0]) / lab_view_rows(&call->in[1]);
    for (int64_t r = from; r < to; r++) {
        const float *x = (const float *)call->in[0].data + r * Tk;
        float *y = (float *)call->out[0].data + r * Tk;
        int64_t seen = p->causal && r % Tq + 1 < Tk ? r % Tq + 1 : Tk;
        const float *mask = p->masked ? call->in[1].data : NULL;
        if (mask) {
            mask += r / each * Tk;
            mask_row(y, x, mask, Tk);
            x = y;
        }
        lab_softmax_shares(y, x, seen, Tk);
        for (int64_t c = 0; mask && c < seen; c++) {
            if (!(mask[c] > 0))
                y[c] = 0;
        }
    }
}

static enum lab_status attention_forward(const struct lab_call *call)
{
    return lab_each_row(call, &call->in[0], attention_rows);
}

static const struct lab_variant attention_table[] = {
    LAB_VECTOR_ROW("softmax", LAB_FORWARD, attention_forward),
    LAB_VECTOR_ROW("softmax", LAB_BACKWARD, softmax_backward),
};
const struct lab_kernel_set lab_vector_attention = {"attention",
                                                    attention_table, 2};
const struct lab_kernel_set lab_vector_scaled_dot_attention = {
    "scaled_dot_attention", attention_table, 2};

/* The loss. */

/* sample[r] = log(sum_c exp(z[r,c] - max)) + max - z[r,y] */
LAB_VECTOR static double log_sum_row(const float *z, int64_t C)
{
    float max = largest(z, C);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < C; c++)
        sum += (double)expf(z[c] - max);
    return log(sum) + (double)max;
}

static void sample_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const int32_t *y = call->in[1].data;
    float *sample = call->out[0].data;
    int64_t C = lab_view_cols(&call->in[0]);
    for (int64_t r = from; r < to; r++) {
        const float *z = (const float *)call->in[0].data + r * C;
        bool known = y[r] >= 0 && y[r] < C;
        sample[r] = known ? (float)(log_sum_row(z, C) - (double)z[y[r]]) : NAN;
    }
}

/* dz[c] = probs[c] / R, less 1/R at the label; NaN where there is no label. */
LAB_VECTOR static void loss_row(float *dz, const float *probs, float R,
                                int64_t C)
{
#pragma omp simd
    for (int64_t c = 0; c < C; c++)
        dz[c] = probs[c] / R;
}

static void loss_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const int32_t *y = call->in[1].data;
    int64_t C = lab_view_cols(&call->in[0]);
    float R = (float)lab_view_rows(&call->in[0]);
    for (int64_t r = from; r < to; r++) {
        const float *probs = (const float *)call->in[0].data + r * C;
        float *dz = (float *)call->out[0].data + r * C;
        loss_row(dz, probs, y[r] >= 0 && y[r] < C ? R : NAN, C);
        if (y[r] >= 0 && y[r] < C)
            dz[y[r]] = (probs[y[r]] - 1) / R;
    }
}

static enum lab_status loss_sample(const struct lab_call *call)
{
    return lab_each_row(call, &call->in[0], sample_rows);
}

static enum lab_status loss_backward(const struct lab_call *call)
{
    return lab_each_row(call, &call->in[0], loss_rows);
}

static const struct lab_variant loss_table[] = {
    LAB_VECTOR_ROW("softmax", LAB_LOSS, softmax_forward),
    LAB_VECTOR_ROW("sample", LAB_LOSS, loss_sample),
    LAB_VECTOR_ROW("softmax", LAB_BACKWARD, loss_backward),
};
const struct lab_kernel_set lab_vector_softmax_cross_entropy = {
    "softmax_cross_entropy", loss_table, 3};
