/* The bias of a dense layer and of a convolution, on all threads (cpu/vector.h).
 * Both are bound by memory: every element is read once and, forward, written once.
 * In nhwc a convolution's bias is that of a matrix with the pixels as rows; in
 * nchw each plane has one number. */
#include <string.h>

#include "cpu/vector.h"
#include "conv2d/conv2d.h"

#define LAB_VECTOR_FILE "kernels/dense/dense_vector.c"

/* out[n,m] = x[n,m] + b[m], rows n = from .. to-1 */
LAB_VECTOR static void add_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *x = call->in[0].data;
    const float *b = call->in[1].data;
    float *out = call->out[0].data;
    int64_t M = call->in[1].count;
    for (int64_t n = from; n < to; n++) {
#pragma omp simd
        for (int64_t m = 0; m < M; m++)
            out[n * M + m] = x[n * M + m] + b[m];
    }
}

static enum lab_status bias_forward(const struct lab_call *call)
{
    return lab_each_row(call, &call->out[0], add_rows);
}

/* ---- sums over rows ---- */

enum { CHUNKS = 16, CHUNK_ROWS = 16 };

struct chunks {
    lab_add_rows_fn *run;
    const void *arg;
    int64_t rows;
    int64_t n;   /* of them */
    double *sum; /* LAB_ROW_SUMS each */
};

static void add_chunks(const void *arg, int64_t from, int64_t to)
{
    const struct chunks *c = arg;
    for (int64_t i = from; i < to; i++)
        c->run(c->arg, c->rows * i / c->n, c->rows * (i + 1) / c->n,
               c->sum + i * LAB_ROW_SUMS);
}

void lab_sum_over_rows(double *sum, int64_t n, lab_add_rows_fn *run,
                       const void *arg, int64_t rows)
{
    double some[CHUNKS * LAB_ROW_SUMS];
    struct chunks c = {run, arg, rows, rows / CHUNK_ROWS, some};
    c.n = c.n < 1 ? 1 : c.n > CHUNKS ? CHUNKS : c.n;
    for (int64_t i = 0; i < c.n; i++)
        memset(some + i * LAB_ROW_SUMS, 0, (size_t)n * sizeof(*some));
    lab_parallel(c.n, 1 + LAB_GRAIN * c.n / (1 + rows * n), add_chunks, &c);
    memset(sum, 0, (size_t)n * sizeof(*sum));
    for (int64_t i = 0; i < c.n; i++) {
        for (int64_t k = 0; k < n; k++)
            sum[k] += some[i * LAB_ROW_SUMS + k];
    }
}

struct columns {
    const float *x; /* from the first of them on */
    int64_t cols;   /* from row to row */
    int64_t width;
};

/* A sum is a float over ROWS rows, four of which are read at once, and a double over
 * these. */
LAB_VECTOR static void add_columns(const void *arg, int64_t from, int64_t to,
                                   double *sum)
{
    enum { ROWS = 64, AT_ONCE = 4 };
    const struct columns *c = arg;
    int64_t ld = c->cols;
    for (int64_t n = from; n < to; n += ROWS) {
        int64_t last = to - n < ROWS ? to : n + ROWS;
        float some[LAB_ROW_SUMS] = {0};
        int64_t r = n;
        for (; r + AT_ONCE <= last; r += AT_ONCE) {
            const float *row = c->x + r * ld;
#pragma omp simd
            for (int64_t m = 0; m < c->width; m++)
                some[m] += (row[m] + row[ld + m]) +
                           (row[2 * ld + m] + row[3 * ld + m]);
        }
        for (; r < last; r++) {
            const float *row = c->x + r * ld;
#pragma omp simd
            for (int64_t m = 0; m < c->width; m++)
                some[m] += row[m];
        }
#pragma omp simd
        for (int64_t m = 0; m < c->width; m++)
            sum[m] += (double)some[m];
    }
}

void lab_column_sums(float *sum, const float *x, int64_t rows, int64_t cols)
{
    double some[LAB_ROW_SUMS];
    for (int64_t m = 0; m < cols; m += LAB_ROW_SUMS) {
        int64_t left = cols - m;
        struct columns c = {x + m, cols,
                            left < LAB_ROW_SUMS ? left : LAB_ROW_SUMS};
        lab_sum_over_rows(some, c.width, add_columns, &c, rows);
        for (int64_t k = 0; k < c.width; k++)
            sum[m + k] = (float)some[k];
    }
}

/* db[m] = sum_n dout[n,m] */
static enum lab_status bias_backward(const struct lab_call *call)
{
    int64_t M = call->out[0].count;
    lab_column_sums(call->out[0].data, call->in[0].data,
                    M > 0 ? call->in[0].count / M : 0, M);
    return LAB_OK;
}

static bool is_nhwc(const struct lab_call *call)
{
    const struct lab_conv2d_params *p = call->params;
    return p->window.nhwc;
}

/* Planes from .. to-1 of nchw; plane i belongs to filter i % M. */
LAB_VECTOR static void add_planes(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *x = call->in[0].data;
    const float *b = call->in[1].data;
    float *out = call->out[0].data;
    int64_t pixels = call->out[0].dim[2] * call->out[0].dim[3];
    for (int64_t i = from; i < to; i++) {
        float add = b[i % call->in[1].count];
#pragma omp simd
        for (int64_t at = i * pixels; at < (i + 1) * pixels; at++)
            out[at] = x[at] + add;
    }
}

static enum lab_status conv2d_bias_forward(const struct lab_call *call)
{
    const int64_t *dim = call->out[0].dim;
    if (is_nhwc(call))
        return bias_forward(call);
    lab_parallel(dim[0] * dim[1], 1 + LAB_GRAIN / (1 + dim[2] * dim[3]),
                 add_planes, call);
    return LAB_OK;
}

/* db[m], filters m = from .. to-1 of nchw. */
LAB_VECTOR static void sum_planes(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *dout = call->in[0].data;
    float *db = call->out[0].data;
    int64_t M = call->out[0].count;
    int64_t pixels = call->in[0].dim[2] * call->in[0].dim[3];
    for (int64_t m = from; m < to; m++) {
        double sum = 0;
        for (int64_t n = 0; n < call->in[0].dim[0]; n++) {
            const float *plane = dout + (n * M + m) * pixels;
            double some = 0;
#pragma omp simd reduction(+ : some)
            for (int64_t i = 0; i < pixels; i++)
                some += (double)plane[i];
            sum += some;
        }
        db[m] = (float)sum;
    }
}

static enum lab_status conv2d_bias_backward(const struct lab_call *call)
{
    int64_t M = call->out[0].count;
    if (is_nhwc(call))
        return bias_backward(call);
    lab_parallel(M, 1 + LAB_GRAIN * M / (1 + call->in[0].count), sum_planes,
                 call);
    return LAB_OK;
}

static const struct lab_variant dense_rows[] = {
    LAB_VECTOR_ROW("bias", LAB_FORWARD, bias_forward),
    LAB_VECTOR_ROW("bias", LAB_BACKWARD, bias_backward),
};
const struct lab_kernel_set lab_vector_dense = {"dense", dense_rows, 2};

static const struct lab_variant conv2d_rows[] = {
    LAB_VECTOR_ROW("bias", LAB_FORWARD, conv2d_bias_forward),
    LAB_VECTOR_ROW("bias", LAB_BACKWARD, conv2d_bias_backward),
};
const struct lab_kernel_set lab_vector_conv2d = {"conv2d", conv2d_rows, 2};
