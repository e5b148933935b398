/* Layer norm, a row at a time on all threads (cpu/vector.h). All five steps are
 * bound by memory. Sums are kept in double, as in the reference, and the variance
 * takes a second pass over a row that is still in the first cache. */
#include "cpu/vector.h"
#include "layer_norm/layer_norm.h"

#define LAB_VECTOR_FILE "kernels/layer_norm/layer_norm_vector.c"

LAB_VECTOR static double sum_row(const float *x, int64_t D)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t d = 0; d < D; d++)
        sum += (double)x[d];
    return sum;
}

LAB_VECTOR static double squares_row(const float *x, double mean, int64_t D)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t d = 0; d < D; d++)
        sum += ((double)x[d] - mean) * ((double)x[d] - mean);
    return sum;
}

/* Of dxhat, and of dxhat xhat. */
LAB_VECTOR static void sums_back(const float *dxhat, const float *xhat,
                                 int64_t D, double *sum, double *sum_xhat)
{
    double a = 0;
    double b = 0;
#pragma omp simd reduction(+ : a, b)
    for (int64_t d = 0; d < D; d++) {
        a += (double)dxhat[d];
        b += (double)dxhat[d] * (double)xhat[d];
    }
    *sum = a;
    *sum_xhat = b;
}

static void stats_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const struct lab_layer_norm_params *p = call->params;
    float *mean = call->out[0].data;
    float *rstd = call->out[1].data;
    int64_t D = lab_view_cols(&call->in[0]);
    for (int64_t r = from; r < to; r++) {
        const float *x = (const float *)call->in[0].data + r * D;
        double mu = sum_row(x, D) / (double)D;
        double variance = squares_row(x, mu, D) / (double)D;
        mean[r] = (float)mu;
        rstd[r] = (float)(1 / sqrt(variance + p->eps));
    }
}

/* xhat = (x - mean) rstd */
LAB_VECTOR static void normalize_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *mean = call->in[1].data;
    const float *rstd = call->in[2].data;
    int64_t D = lab_view_cols(&call->in[0]);
    for (int64_t r = from; r < to; r++) {
        const float *x = (const float *)call->in[0].data + r * D;
        float *xhat = (float *)call->out[0].data + r * D;
#pragma omp simd
        for (int64_t d = 0; d < D; d++)
            xhat[d] = (x[d] - mean[r]) * rstd[r];
    }
}

/* y = xhat gamma + beta */
LAB_VECTOR static void scale_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *gamma = call->in[1].data;
    const float *beta = call->in[2].data;
    int64_t D = lab_view_cols(&call->in[0]);
    for (int64_t r = from; r < to; r++) {
        const float *xhat = (const float *)call->in[0].data + r * D;
        float *y = (float *)call->out[0].data + r * D;
#pragma omp simd
        for (int64_t d = 0; d < D; d++)
            y[d] = xhat[d] * gamma[d] + beta[d];
    }
}

struct columns {
    const struct lab_call *call;
    int64_t first;
    int64_t width;
};

/* Rows from .. to-1 of some columns: dxhat = dy gamma, and to the sums dy xhat and,
 * SUMS further on, dy. A sum is a float over ROWS rows and a double over these. */
enum { SUMS = LAB_ROW_SUMS / 2 };

LAB_VECTOR static void scale_back(const void *arg, int64_t from, int64_t to,
                                  double *sum)
{
    enum { ROWS = 64 };
    const struct columns *c = arg;
    const struct lab_view *in = c->call->in;
    const float *gamma = (const float *)in[2].data + c->first;
    int64_t D = lab_view_cols(&in[0]);
    for (int64_t n = from; n < to; n += ROWS) {
        int64_t last = to - n < ROWS ? to : n + ROWS;
        float by_gamma[SUMS] = {0};
        float by_beta[SUMS] = {0};
        for (int64_t r = n; r < last; r++) {
            int64_t at = r * D + c->first;
            const float *dy = (const float *)in[0].data + at;
            const float *xhat = (const float *)in[1].data + at;
            float *dxhat = (float *)c->call->out[0].data + at;
#pragma omp simd
            for (int64_t d = 0; d < c->width; d++) {
                by_gamma[d] += dy[d] * xhat[d];
                by_beta[d] += dy[d];
                dxhat[d] = dy[d] * gamma[d];
            }
        }
#pragma omp simd
        for (int64_t d = 0; d < c->width; d++) {
            sum[d] += (double)by_gamma[d];
            sum[SUMS + d] += (double)by_beta[d];
        }
    }
}

/* dx = rstd (dxhat - mean(dxhat) - xhat mean(dxhat xhat)) */
LAB_VECTOR static void normalize_rows_back(const void *arg, int64_t from,
                                           int64_t to)
{
    const struct lab_call *call = arg;
    const float *rstd = call->in[2].data;
    int64_t D = lab_view_cols(&call->in[0]);
    for (int64_t r = from; r < to; r++) {
        const float *dxhat = (const float *)call->in[0].data + r * D;
        const float *xhat = (const float *)call->in[1].data + r * D;
        float *dx = (float *)call->out[0].data + r * D;
        double sum;
        double sum_xhat;
        sums_back(dxhat, xhat, D, &sum, &sum_xhat);
        float through_mean = (float)(sum / (double)D);
        float through_rstd = (float)(sum_xhat / (double)D);
#pragma omp simd
        for (int64_t d = 0; d < D; d++)
            dx[d] =
                rstd[r] * (dxhat[d] - through_mean - xhat[d] * through_rstd);
    }
}

static enum lab_status stats_forward(const struct lab_call *call)
{
    return lab_each_row(call, &call->in[0], stats_rows);
}

static enum lab_status normalize_forward(const struct lab_call *call)
{
    return lab_each_row(call, &call->in[0], normalize_rows);
}

static enum lab_status scale_forward(const struct lab_call *call)
{
    return lab_each_row(call, &call->in[0], scale_rows);
}

/* dgamma = sum_r dy xhat, dbeta = sum_r dy */
static enum lab_status scale_backward(const struct lab_call *call)
{
    double sum[LAB_ROW_SUMS];
    float *dgamma = call->out[1].data;
    float *dbeta = call->out[2].data;
    int64_t D = lab_view_cols(&call->in[0]);
    for (int64_t first = 0; first < D; first += SUMS) {
        struct columns c = {call, first, D - first < SUMS ? D - first : SUMS};
        lab_sum_over_rows(sum, LAB_ROW_SUMS, scale_back, &c,
                          lab_view_rows(&call->in[0]));
        for (int64_t d = 0; d < c.width; d++) {
            dgamma[first + d] = (float)sum[d];
            dbeta[first + d] = (float)sum[SUMS + d];
        }
    }
    return LAB_OK;
}

static enum lab_status normalize_backward(const struct lab_call *call)
{
    return lab_each_row(call, &call->in[0], normalize_rows_back);
}

static const struct lab_variant rows[] = {
    LAB_VECTOR_ROW("stats", LAB_FORWARD, stats_forward),
    LAB_VECTOR_ROW("normalize", LAB_FORWARD, normalize_forward),
    LAB_VECTOR_ROW("scale", LAB_FORWARD, scale_forward),
    LAB_VECTOR_ROW("scale", LAB_BACKWARD, scale_backward),
    LAB_VECTOR_ROW("normalize", LAB_BACKWARD, normalize_backward),
};
const struct lab_kernel_set lab_vector_layer_norm = {"layer_norm", rows, 5};
