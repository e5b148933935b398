/* kernels/bahdanau_attention/bahdanau_attention.cu -- additive attention, a thread an element of
 * every result, GROUP threads a sum along a row (reduce.cuh). The sums over all
 * rows (dWs, dWh, db, dv) are walked by one thread each, in order; `split` adds
 * dv in slices of the rows (columns.cuh), `cublas` makes the products of u those
 * of a library (bahdanau_cublas.cu).
 *
 * Memory, without caches: u 8 bytes for 2 flop; the softmax reads its row three
 * times; the others read what they need once. */
#include "bahdanau_attention/bahdanau_cuda.cuh"
#include "common/columns.cuh"
#include "common/reduce.cuh"

/* u[n,t,a] = sum_i s[n,i] Ws[i,a] + sum_d h[n,t,d] Wh[d,a] + b[a] */
static __global__ void bahdanau_u_fwd(float *u, const float *s, const float *h,
                                      const float *Ws, const float *Wh,
                                      const float *b, lab_bahdanau_dims d)
{
    int64_t i = lab_element();
    if (i >= d.N * d.T * d.A)
        return;
    int64_t a = i % d.A;
    int64_t row = i / d.A;
    float sum = b[a];
    for (int64_t k = 0; k < d.S; k++)
        sum += s[row / d.T * d.S + k] * Ws[k * d.A + a];
    for (int64_t k = 0; k < d.D; k++)
        sum += h[row * d.D + k] * Wh[k * d.A + a];
    u[i] = sum;
}

static __global__ void bahdanau_t_fwd(float *t, const float *u, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        t[i] = tanhf(u[i]);
}

/* e[n,t] = sum_a t[n,t,a] v[a] */
template <int GROUP>
static __global__ void bahdanau_e_fwd(float *e, const float *t, const float *v,
                                      int64_t rows, int64_t A)
{
    int64_t row = group_row<GROUP>();
    if (row >= rows)
        return;
    double sum = 0.0;
    for (int64_t a = group_lane<GROUP>(); a < A; a += GROUP)
        sum += t[row * A + a] * v[a];
    sum = group_sum<GROUP>(sum);
    if (group_lane<GROUP>() == 0)
        e[row] = (float)sum;
}

template <int GROUP>
static __global__ void bahdanau_a_fwd(float *a, const float *e, int64_t N,
                                      int64_t T)
{
    int64_t n = group_row<GROUP>();
    if (n >= N)
        return;
    e += n * T;
    a += n * T;
    float largest = -INFINITY;
    for (int64_t t = group_lane<GROUP>(); t < T; t += GROUP)
        largest = fmaxf(largest, e[t]);
    largest = group_max<GROUP>(largest);
    double sum = 0.0;
    for (int64_t t = group_lane<GROUP>(); t < T; t += GROUP)
        sum += expf(e[t] - largest);
    float total = (float)group_sum<GROUP>(sum);
    for (int64_t t = group_lane<GROUP>(); t < T; t += GROUP)
        a[t] = expf(e[t] - largest) / total;
}

/* out[n,d] = sum_t a[n,t] h[n,t,d] */
static __global__ void bahdanau_context_fwd(float *out, const float *a,
                                            const float *h, lab_bahdanau_dims d)
{
    int64_t i = lab_element();
    if (i >= d.N * d.D)
        return;
    int64_t first = i / d.D * d.T;
    float sum = 0.0f;
    for (int64_t t = first; t < first + d.T; t++)
        sum += a[t] * h[t * d.D + i % d.D];
    out[i] = sum;
}

/* da[n,t] = sum_d dout[n,d] h[n,t,d] */
template <int GROUP>
static __global__ void bahdanau_context_da(float *da, const float *dout,
                                           const float *h, lab_bahdanau_dims d)
{
    int64_t row = group_row<GROUP>();
    if (row >= d.N * d.T)
        return;
    double sum = 0.0;
    for (int64_t k = group_lane<GROUP>(); k < d.D; k += GROUP)
        sum += dout[row / d.T * d.D + k] * h[row * d.D + k];
    sum = group_sum<GROUP>(sum);
    if (group_lane<GROUP>() == 0)
        da[row] = (float)sum;
}

/* dh[n,t,d] = a[n,t] dout[n,d] */
static __global__ void bahdanau_context_dh(float *dh, const float *dout,
                                           const float *a, lab_bahdanau_dims d)
{
    int64_t i = lab_element();
    if (i < d.N * d.T * d.D)
        dh[i] = a[i / d.D] * dout[i / d.D / d.T * d.D + i % d.D];
}

template <int GROUP>
static __global__ void bahdanau_a_bwd(float *de, const float *da,
                                      const float *a, int64_t N, int64_t T)
{
    int64_t n = group_row<GROUP>();
    if (n >= N)
        return;
    da += n * T;
    a += n * T;
    de += n * T;
    double dot = 0.0;
    for (int64_t t = group_lane<GROUP>(); t < T; t += GROUP)
        dot += (double)da[t] * a[t];
    float along = (float)group_sum<GROUP>(dot);
    for (int64_t t = group_lane<GROUP>(); t < T; t += GROUP)
        de[t] = a[t] * (da[t] - along);
}

/* dt[n,t,a] = de[n,t] v[a] */
static __global__ void bahdanau_e_dt(float *dt, const float *de, const float *v,
                                     int64_t count, int64_t A)
{
    int64_t i = lab_element();
    if (i < count)
        dt[i] = de[i / A] * v[i % A];
}

/* du = dt (1 - t^2) */
static __global__ void bahdanau_t_bwd(float *du, const float *dt,
                                      const float *t, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        du[i] = dt[i] * (1.0f - t[i] * t[i]);
}

/* y[k,a] = sum_row x[row / each, k] du[row, a]; x NULL: ones */
static __global__ void bahdanau_outer(float *y, const float *x, const float *du,
                                      int64_t rows, int64_t each, int64_t K,
                                      int64_t A)
{
    int64_t i = lab_element();
    if (i >= K * A)
        return;
    double sum = 0.0;
    for (int64_t row = 0; row < rows; row++)
        sum += (x ? x[row / each * K + i / A] : 1.0f) * du[row * A + i % A];
    y[i] = (float)sum;
}

/* y[m,k] = sum over `each` rows of sum_a du[row,a] W[k,a] */
static __global__ void bahdanau_back(float *y, const float *du, const float *W,
                                     int64_t M, int64_t each, int64_t K,
                                     int64_t A)
{
    int64_t i = lab_element();
    if (i >= M * K)
        return;
    double sum = 0.0;
    for (int64_t at = i / K * each * A; at < (i / K + 1) * each * A; at++)
        sum += du[at] * W[i % K * A + at % A];
    y[i] = (float)sum;
}

/* dv[a] = sum_nt de[n,t] t[n,t,a] */
struct dv_terms {
    enum { SUMS = 1 };
    float *dv;
    const float *de;
    const float *t;
    int64_t A;

    __device__ void add(double *sum, int64_t i) const
    {
        sum[0] += (double)de[i / A] * t[i];
    }
    __device__ void put(int64_t a, int, float value) const
    {
        dv[a] = value;
    }
};

/* ---- launchers ---- */

enum lab_status bahdanau_u_forward(const struct lab_call *call)
{
    lab_bahdanau_dims d =
        lab_bahdanau_sizes(&call->in[1], &call->in[0], &call->in[2]);
    bahdanau_u_fwd<<<lab_blocks(call->out[0].count), LAB_BLOCK, 0,
                     lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                         lab_in(call, 1), lab_in(call, 2),
                                         lab_in(call, 3), lab_in(call, 4), d);
    return lab_launched("bahdanau_u_fwd");
}

static enum lab_status t_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    bahdanau_t_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count);
    return lab_launched("bahdanau_t_fwd");
}

template <int GROUP>
static enum lab_status e_forward(const struct lab_call *call)
{
    int64_t rows = call->out[0].count;
    bahdanau_e_fwd<GROUP>
        <<<group_blocks<GROUP>(rows), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), rows,
            call->in[1].count);
    return lab_launched("bahdanau_e_fwd");
}

template <int GROUP>
static enum lab_status a_forward(const struct lab_call *call)
{
    int64_t N = lab_view_rows(&call->in[0]);
    bahdanau_a_fwd<GROUP>
        <<<group_blocks<GROUP>(N), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), N, lab_view_cols(&call->in[0]));
    return lab_launched("bahdanau_a_fwd");
}

static enum lab_status context_forward(const struct lab_call *call)
{
    lab_bahdanau_dims d = lab_bahdanau_sizes(&call->in[1], nullptr, nullptr);
    bahdanau_context_fwd<<<lab_blocks(d.N * d.D), LAB_BLOCK, 0,
                           lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), d);
    return lab_launched("bahdanau_context_fwd");
}

template <int GROUP>
static enum lab_status context_backward(const struct lab_call *call)
{
    lab_bahdanau_dims d = lab_bahdanau_sizes(&call->in[2], nullptr, nullptr);
    bahdanau_context_da<GROUP>
        <<<group_blocks<GROUP>(d.N * d.T), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 2), d);
    if (lab_out(call, 1)) {
        bahdanau_context_dh<<<lab_blocks(d.N * d.T * d.D), LAB_BLOCK, 0,
                              lab_stream(call)>>>(
            lab_out(call, 1), lab_in(call, 0), lab_in(call, 1), d);
    }
    return lab_launched("bahdanau_context_bwd");
}

template <int GROUP>
static enum lab_status a_backward(const struct lab_call *call)
{
    int64_t N = lab_view_rows(&call->in[1]);
    bahdanau_a_bwd<GROUP>
        <<<group_blocks<GROUP>(N), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), N,
            lab_view_cols(&call->in[1]));
    return lab_launched("bahdanau_a_bwd");
}

template <bool SPLIT>
static enum lab_status e_backward(const struct lab_call *call)
{
    int64_t A = call->in[2].count;
    int64_t rows = call->in[0].count;
    bahdanau_e_dt<<<lab_blocks(rows * A), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 2), rows * A, A);
    if (SPLIT) {
        dv_terms terms = {lab_out(call, 1), lab_in(call, 0), lab_in(call, 1),
                          A};
        columns_sum(call, terms, rows, A);
        return lab_launched("columns_slice");
    }
    /* dv[a] = sum de[row] t[row,a]: an outer sum with a column of A = 1 */
    bahdanau_outer<<<lab_blocks(A), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 1), lab_in(call, 1), lab_in(call, 0), rows, 1, A, 1);
    return lab_launched("bahdanau_e_bwd");
}

static enum lab_status t_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    bahdanau_t_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count);
    return lab_launched("bahdanau_t_bwd");
}

enum lab_status bahdanau_u_backward(const struct lab_call *call)
{
    lab_bahdanau_dims d =
        lab_bahdanau_sizes(&call->in[2], &call->in[1], &call->in[3]);
    const float *du = lab_in(call, 0);
    cudaStream_t stream = lab_stream(call);
    int64_t rows = d.N * d.T;
    bahdanau_outer<<<lab_blocks(d.S * d.A), LAB_BLOCK, 0, stream>>>(
        lab_out(call, 0), lab_in(call, 1), du, rows, d.T, d.S, d.A);
    bahdanau_outer<<<lab_blocks(d.D * d.A), LAB_BLOCK, 0, stream>>>(
        lab_out(call, 1), lab_in(call, 2), du, rows, 1, d.D, d.A);
    bahdanau_outer<<<lab_blocks(d.A), LAB_BLOCK, 0, stream>>>(
        lab_out(call, 2), nullptr, du, rows, 1, 1, d.A);
    if (lab_out(call, 3)) {
        bahdanau_back<<<lab_blocks(d.N * d.S), LAB_BLOCK, 0, stream>>>(
            lab_out(call, 3), du, lab_in(call, 3), d.N, d.T, d.S, d.A);
    }
    if (lab_out(call, 4)) {
        bahdanau_back<<<lab_blocks(rows * d.D), LAB_BLOCK, 0, stream>>>(
            lab_out(call, 4), du, lab_in(call, 4), rows, 1, d.D, d.A);
    }
    return lab_launched("bahdanau_u_bwd");
}

static const char source[] = "kernels/bahdanau_attention/bahdanau_attention.cu";
static const char library[] = "kernels/bahdanau_attention/bahdanau_cublas.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "u", LAB_FORWARD, bahdanau_u_forward, source,
            "bahdanau_u_fwd"),
    lab_prefer(lab_row("cublas", "u", LAB_FORWARD, bahdanau_cublas_forward,
                       library, "bahdanau_cublas_forward")),
    lab_row("naive", "t", LAB_FORWARD, t_forward, source, "bahdanau_t_fwd"),
    lab_row("naive", "e", LAB_FORWARD, e_forward<LAB_GROUP_NAIVE>, source,
            "bahdanau_e_fwd"),
    lab_prefer(lab_row("warp", "e", LAB_FORWARD, e_forward<LAB_GROUP_WARP>,
                       source, "bahdanau_e_fwd")),
    lab_row("naive", "a", LAB_FORWARD, a_forward<LAB_GROUP_NAIVE>, source,
            "bahdanau_a_fwd"),
    lab_prefer(lab_row("warp", "a", LAB_FORWARD, a_forward<LAB_GROUP_WARP>,
                       source, "bahdanau_a_fwd")),
    lab_row("naive", "context", LAB_FORWARD, context_forward, source,
            "bahdanau_context_fwd"),
    lab_row("naive", "context", LAB_BACKWARD, context_backward<LAB_GROUP_NAIVE>,
            source, "bahdanau_context_da"),
    lab_prefer(lab_row("warp", "context", LAB_BACKWARD,
                       context_backward<LAB_GROUP_WARP>, source,
                       "bahdanau_context_da")),
    lab_row("naive", "a", LAB_BACKWARD, a_backward<LAB_GROUP_NAIVE>, source,
            "bahdanau_a_bwd"),
    lab_prefer(lab_row("warp", "a", LAB_BACKWARD, a_backward<LAB_GROUP_WARP>,
                       source, "bahdanau_a_bwd")),
    lab_row("naive", "e", LAB_BACKWARD, e_backward<false>, source,
            "bahdanau_e_dt"),
    lab_prefer(lab_row("split", "e", LAB_BACKWARD, e_backward<true>, source,
                       "bahdanau_e_dt")),
    lab_row("naive", "t", LAB_BACKWARD, t_backward, source, "bahdanau_t_bwd"),
    lab_row("naive", "u", LAB_BACKWARD, bahdanau_u_backward, source,
            "bahdanau_outer"),
    lab_prefer(lab_row("cublas", "u", LAB_BACKWARD, bahdanau_cublas_backward,
                       library, "bahdanau_cublas_backward")),
};

const struct lab_kernel_set lab_cuda_bahdanau_attention =
    lab_set("bahdanau_attention", variants);
