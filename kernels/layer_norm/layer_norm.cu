/* kernels/layer_norm/layer_norm.cu -- every row to mean 0 and variance 1, then scaled.
 *
 * The variance takes a second walk over the row, sum (x - mean)^2: the one-pass
 * form E[x^2] - E[x]^2 subtracts two large numbers that are nearly equal. The
 * second walk finds the row in the cache.
 *
 * Thread -> element: where a row is reduced (stats, and normalize backward),
 * GROUP threads share it (reduce.cuh); where a column is reduced (dgamma and
 * dbeta: the parameters are shared by all rows), a thread a column (`naive`) or
 * 32 threads a column (`block`); else one thread an element.
 * Memory, an element of x: stats 4 bytes at best, normalize 8, scale 8;
 * backward: scale 20 (dy and xhat are read for the columns, dy once more for
 * dxhat, which is written), normalize 12 at best. */
#include "common/columns.cuh"
#include "layer_norm/layer_norm.h"
#include "common/reduce.cuh"
#include "common/vector.cuh"

/* mean[r] = sum_d x / D, rstd[r] = 1/sqrt(sum_d (x - mean)^2 / D + eps) */
template <int GROUP>
static __global__ void layer_norm_stats(float *mean, float *rstd,
                                        const float *x, int64_t R, int64_t D,
                                        double eps)
{
    int64_t r = group_row<GROUP>();
    if (r >= R)
        return;
    x += r * D;
    double sum = 0.0;
    for (int64_t d = group_lane<GROUP>(); d < D; d += GROUP)
        sum += x[d];
    double mu = group_sum<GROUP>(sum) / (double)D;
    double squares = 0.0;
    for (int64_t d = group_lane<GROUP>(); d < D; d += GROUP)
        squares += (x[d] - mu) * (x[d] - mu);
    squares = group_sum<GROUP>(squares);
    if (group_lane<GROUP>() == 0) {
        mean[r] = (float)mu;
        rstd[r] = (float)(1.0 / sqrt(squares / (double)D + eps));
    }
}

/* xhat[r,d] = (x[r,d] - mean[r]) rstd[r] */
static __global__ void layer_norm_normalize(float *xhat, const float *x,
                                            const float *mean,
                                            const float *rstd, int64_t count,
                                            int64_t D)
{
    int64_t i = lab_element();
    if (i < count)
        xhat[i] = (x[i] - mean[i / D]) * rstd[i / D];
}

/* y[r,d] = xhat[r,d] gamma[d] + beta[d] */
static __global__ void layer_norm_scale(float *y, const float *xhat,
                                        const float *gamma, const float *beta,
                                        int64_t count, int64_t D)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = xhat[i] * gamma[i % D] + beta[i % D];
}

/* dxhat[r,d] = dy[r,d] gamma[d] */
static __global__ void layer_norm_dxhat(float *dxhat, const float *dy,
                                        const float *gamma, int64_t count,
                                        int64_t D)
{
    int64_t i = lab_element();
    if (i < count)
        dxhat[i] = dy[i] * gamma[i % D];
}

/* dgamma[d] = sum_r dy xhat, dbeta[d] = sum_r dy: ROWS threads a column. Thread
 * (tx, ty) adds the rows ty, ty + ROWS ... of column 32 blockIdx.x + tx; the
 * partial sums are added in halves, always the same pairs. */
template <int ROWS>
static __global__ void layer_norm_columns(float *dgamma, float *dbeta,
                                          const float *dy, const float *xhat,
                                          int64_t R, int64_t D)
{
    __shared__ double gamma_part[ROWS][32];
    __shared__ double beta_part[ROWS][32];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int64_t d = static_cast<int64_t>(blockIdx.x) * 32 + tx;
    double gamma_sum = 0.0;
    double beta_sum = 0.0;
    for (int64_t r = ty; d < D && r < R; r += ROWS) {
        gamma_sum += (double)dy[r * D + d] * xhat[r * D + d];
        beta_sum += dy[r * D + d];
    }
    gamma_part[ty][tx] = gamma_sum;
    beta_part[ty][tx] = beta_sum;
    for (int half = ROWS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (ty < half) {
            gamma_part[ty][tx] += gamma_part[ty + half][tx];
            beta_part[ty][tx] += beta_part[ty + half][tx];
        }
    }
    if (ty == 0 && d < D) {
        dgamma[d] = (float)gamma_part[0][tx];
        dbeta[d] = (float)beta_part[0][tx];
    }
}

/* dx = rstd (dxhat - mean_d dxhat - xhat mean_d(dxhat xhat)) */
template <int GROUP>
static __global__ void
layer_norm_normalize_bwd(float *dx, const float *dxhat, const float *xhat,
                         const float *rstd, int64_t R, int64_t D)
{
    int64_t r = group_row<GROUP>();
    if (r >= R)
        return;
    dxhat += r * D;
    xhat += r * D;
    dx += r * D;
    double sum = 0.0;
    double dot = 0.0;
    for (int64_t d = group_lane<GROUP>(); d < D; d += GROUP) {
        sum += dxhat[d];
        dot += (double)dxhat[d] * xhat[d];
    }
    float through_mean = (float)(group_sum<GROUP>(sum) / (double)D);
    float through_rstd = (float)(group_sum<GROUP>(dot) / (double)D);
    for (int64_t d = group_lane<GROUP>(); d < D; d += GROUP) {
        dx[d] = rstd[r] * (dxhat[d] - through_mean - xhat[d] * through_rstd);
    }
}

template <int GROUP>
static enum lab_status stats_forward(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t D = lab_view_cols(&call->in[0]);
    layer_norm_stats<GROUP>
        <<<group_blocks<GROUP>(R), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_out(call, 1), lab_in(call, 0), R, D,
            lab_params<lab_layer_norm_params>(call)->eps);
    return lab_launched("layer_norm_stats");
}

static enum lab_status normalize_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    layer_norm_normalize<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        count, lab_view_cols(&call->in[0]));
    return lab_launched("layer_norm_normalize");
}

static enum lab_status scale_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    layer_norm_scale<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        count, lab_view_cols(&call->in[0]));
    return lab_launched("layer_norm_scale");
}

template <int ROWS>
static enum lab_status scale_backward(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t D = lab_view_cols(&call->in[0]);
    layer_norm_columns<ROWS>
        <<<lab_blocks(D, 32), dim3(32, ROWS), 0, lab_stream(call)>>>(
            lab_out(call, 1), lab_out(call, 2), lab_in(call, 0),
            lab_in(call, 1), R, D);
    if (lab_out(call, 0)) {
        layer_norm_dxhat<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 2), count, D);
    }
    return lab_launched("layer_norm_columns");
}

/* normalize, scale and dxhat, four numbers of a row a thread (vector.cuh). */
struct layer_norm_quad {
    enum what { NORMALIZE, SCALE, DXHAT } what;
    const float *p; /* mean, gamma, gamma */
    const float *q; /* rstd, beta, - */
    unsigned D;

    __device__ float one(float a, float, int64_t at) const
    {
        unsigned i = static_cast<unsigned>(at);
        if (what == NORMALIZE)
            return (a - p[i / D]) * q[i / D];
        return what == SCALE ? a * p[i % D] + q[i % D] : a * p[i % D];
    }
    __device__ float4 four(float4 a, float4, int64_t at) const
    {
        unsigned i = static_cast<unsigned>(at);
        unsigned r = i / D;
        float4 g;
        float4 b = {};
        if (what == NORMALIZE) {
            float mean = p[r];
            float rstd = q[r];
            return make_float4((a.x - mean) * rstd, (a.y - mean) * rstd,
                               (a.z - mean) * rstd, (a.w - mean) * rstd);
        }
        g = *reinterpret_cast<const float4 *>(p + (i - r * D));
        if (what == DXHAT)
            return make_float4(a.x * g.x, a.y * g.y, a.z * g.z, a.w * g.w);
        b = *reinterpret_cast<const float4 *>(q + (i - r * D));
        return make_float4(a.x * g.x + b.x, a.y * g.y + b.y, a.z * g.z + b.z,
                           a.w * g.w + b.w);
    }
};

static enum lab_status normalize_forward_vector(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    int64_t D = lab_view_cols(&call->in[0]);
    if (!vector_rows_fit(call, count, D))
        return normalize_forward(call);
    vector_run(call, lab_out(call, 0), lab_in(call, 0), nullptr,
               layer_norm_quad{layer_norm_quad::NORMALIZE, lab_in(call, 1),
                               lab_in(call, 2), (unsigned)D},
               count);
    return lab_launched("vector_map");
}

static enum lab_status scale_forward_vector(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    int64_t D = lab_view_cols(&call->in[0]);
    if (!vector_rows_fit(call, count, D))
        return scale_forward(call);
    vector_run(call, lab_out(call, 0), lab_in(call, 0), nullptr,
               layer_norm_quad{layer_norm_quad::SCALE, lab_in(call, 1),
                               lab_in(call, 2), (unsigned)D},
               count);
    return lab_launched("vector_map");
}

/* dgamma and dbeta in one walk over dy and xhat. */
struct layer_norm_terms {
    enum { SUMS = 2 };
    float *dgamma;
    float *dbeta;
    const float *dy;
    const float *xhat;

    __device__ void add(double *sum, int64_t i) const
    {
        sum[0] += (double)dy[i] * xhat[i];
        sum[1] += dy[i];
    }
    __device__ void put(int64_t d, int k, float value) const
    {
        float *out = k == 0 ? dgamma : dbeta;
        if (out)
            out[d] = value;
    }
};

static enum lab_status scale_backward_split(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t D = lab_view_cols(&call->in[0]);
    if (lab_out(call, 1) || lab_out(call, 2))
        columns_sum(call,
                    layer_norm_terms{lab_out(call, 1), lab_out(call, 2),
                                     lab_in(call, 0), lab_in(call, 1)},
                    R, D);
    if (lab_out(call, 0) && vector_rows_fit(call, count, D)) {
        vector_run(call, lab_out(call, 0), lab_in(call, 0), nullptr,
                   layer_norm_quad{layer_norm_quad::DXHAT, lab_in(call, 2),
                                   nullptr, (unsigned)D},
                   count);
    } else if (lab_out(call, 0)) {
        layer_norm_dxhat<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 2), count, D);
    }
    return lab_launched("columns_slice");
}

template <int GROUP>
static enum lab_status normalize_backward(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t D = lab_view_cols(&call->in[0]);
    layer_norm_normalize_bwd<GROUP>
        <<<group_blocks<GROUP>(R), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
            R, D);
    return lab_launched("layer_norm_normalize_bwd");
}

static const char source[] = "kernels/layer_norm/layer_norm.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "stats", LAB_FORWARD, stats_forward<LAB_GROUP_NAIVE>,
            source, "layer_norm_stats"),
    lab_prefer(lab_row("warp", "stats", LAB_FORWARD,
                       stats_forward<LAB_GROUP_WARP>, source,
                       "layer_norm_stats")),
    lab_row("block", "stats", LAB_FORWARD, stats_forward<LAB_GROUP_BLOCK>,
            source, "layer_norm_stats"),
    lab_row("naive", "normalize", LAB_FORWARD, normalize_forward, source,
            "layer_norm_normalize"),
    lab_prefer(lab_row("vector", "normalize", LAB_FORWARD,
                       normalize_forward_vector, source,
                       "normalize_forward_vector")),
    lab_row("naive", "scale", LAB_FORWARD, scale_forward, source,
            "layer_norm_scale"),
    lab_prefer(lab_row("vector", "scale", LAB_FORWARD, scale_forward_vector,
                       source, "scale_forward_vector")),
    lab_row("naive", "scale", LAB_BACKWARD, scale_backward<1>, source,
            "layer_norm_columns"),
    lab_row("block", "scale", LAB_BACKWARD, scale_backward<32>, source,
            "layer_norm_columns"),
    lab_apart(
        lab_prefer(lab_row("split", "scale", LAB_BACKWARD, scale_backward_split,
                           "kernels/common/columns.cuh", "columns_slice"))),
    lab_row("naive", "normalize", LAB_BACKWARD,
            normalize_backward<LAB_GROUP_NAIVE>, source,
            "layer_norm_normalize_bwd"),
    lab_prefer(lab_row("warp", "normalize", LAB_BACKWARD,
                       normalize_backward<LAB_GROUP_WARP>, source,
                       "layer_norm_normalize_bwd")),
    lab_row("block", "normalize", LAB_BACKWARD,
            normalize_backward<LAB_GROUP_BLOCK>, source,
            "layer_norm_normalize_bwd"),
};

const struct lab_kernel_set lab_cuda_layer_norm =
    lab_set("layer_norm", variants);
