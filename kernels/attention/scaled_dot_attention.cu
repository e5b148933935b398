/* kernels/attention/scaled_dot_attention.cu -- attention step by step.
 *
 * Three kernels with a matrix of Tq x Tk numbers a head between them: scores
 * writes it, softmax reads it and writes another, context reads that. For long
 * sequences these matrices are what the time goes into, not the flop; the fused
 * kernel (attention_fused.cu) never writes them.
 *
 * Thread -> element: one each, but for softmax, where GROUP threads share a row
 * (reduce.cuh). The mask is applied in softmax: a hidden key gets the share 0,
 * its score stays to be looked at.
 * Memory, without caches: scores and context 8 bytes for 2 flop; softmax 16
 * bytes a score, the row read three times. */
#include "attention/attention_cuda.cuh"
#include "common/reduce.cuh"

/* The first column of head h in row t of sequence n. */
static __device__ int64_t head_at(int64_t n, int64_t t, int64_t h, int64_t T,
                                  int64_t H, int64_t width)
{
    return ((n * T + t) * H + h) * width;
}

/* out[n,h,i,j] = factor * sum_w a[n,i,h,w] b[n,j,h,w] */
static __device__ void row_products(float *out, const float *a, const float *b,
                                    int64_t width, float factor,
                                    const attend_shape &s)
{
    int64_t at = lab_element();
    if (at >= s.N * s.H * s.Tq * s.Tk)
        return;
    int64_t j = at % s.Tk;
    int64_t i = at / s.Tk % s.Tq;
    int64_t h = at / s.Tk / s.Tq % s.H;
    int64_t n = at / s.Tk / s.Tq / s.H;
    a += head_at(n, i, h, s.Tq, s.H, width);
    b += head_at(n, j, h, s.Tk, s.H, width);
    float sum = 0.0f;
    for (int64_t w = 0; w < width; w++)
        sum += a[w] * b[w];
    out[at] = sum * factor;
}

/* out[n,i,h,w] = factor * sum_j m[n,h,i,j] x[n,j,h,w] */
static __device__ void mix_by_rows(float *out, const float *m, const float *x,
                                   int64_t width, float factor,
                                   const attend_shape &s)
{
    int64_t at = lab_element();
    if (at >= s.N * s.Tq * s.H * width)
        return;
    int64_t w = at % width;
    int64_t h = at / width % s.H;
    int64_t i = at / width / s.H % s.Tq;
    int64_t n = at / width / s.H / s.Tq;
    m += ((n * s.H + h) * s.Tq + i) * s.Tk;
    float sum = 0.0f;
    for (int64_t j = 0; j < s.Tk; j++)
        sum += m[j] * x[head_at(n, j, h, s.Tk, s.H, width) + w];
    out[at] = sum * factor;
}

/* out[n,j,h,w] = factor * sum_i m[n,h,i,j] x[n,i,h,w] */
static __device__ void mix_by_columns(float *out, const float *m,
                                      const float *x, int64_t width,
                                      float factor, const attend_shape &s)
{
    int64_t at = lab_element();
    if (at >= s.N * s.Tk * s.H * width)
        return;
    int64_t w = at % width;
    int64_t h = at / width % s.H;
    int64_t j = at / width / s.H % s.Tk;
    int64_t n = at / width / s.H / s.Tk;
    m += (n * s.H + h) * s.Tq * s.Tk + j;
    float sum = 0.0f;
    for (int64_t i = 0; i < s.Tq; i++)
        sum += m[i * s.Tk] * x[head_at(n, i, h, s.Tq, s.H, width) + w];
    out[at] = sum * factor;
}

static __global__ void attend_scores_fwd(float *scores, const float *q,
                                         const float *k, attend_shape s)
{
    row_products(scores, q, k, s.E, s.scale, s);
}

static __global__ void attend_context_fwd(float *ctx, const float *probs,
                                          const float *v, attend_shape s)
{
    mix_by_rows(ctx, probs, v, s.F, 1.0f, s);
}

static __global__ void attend_context_dprobs(float *dprobs, const float *dctx,
                                             const float *v, attend_shape s)
{
    row_products(dprobs, dctx, v, s.F, 1.0f, s);
}

static __global__ void attend_context_dv(float *dv, const float *probs,
                                         const float *dctx, attend_shape s)
{
    mix_by_columns(dv, probs, dctx, s.F, 1.0f, s);
}

static __global__ void attend_scores_dq(float *dq, const float *dscores,
                                        const float *k, attend_shape s)
{
    mix_by_rows(dq, dscores, k, s.E, s.scale, s);
}

static __global__ void attend_scores_dk(float *dk, const float *dscores,
                                        const float *q, attend_shape s)
{
    mix_by_columns(dk, dscores, q, s.E, s.scale, s);
}

/* y[r,j] = exp(x[r,j] - max) / sum over the keys that row r sees, 0 beyond;
 * mask (R / each, Tk) may be NULL */
template <int GROUP>
static __global__ void
attend_softmax_fwd(float *y, const float *x, const float *mask, int64_t each,
                   int64_t R, int64_t Tq, int64_t Tk, bool causal)
{
    int64_t r = group_row<GROUP>();
    if (r >= R)
        return;
    int64_t i = r % Tq;
    int64_t seen = causal && i + 1 < Tk ? i + 1 : Tk;
    x += r * Tk;
    y += r * Tk;
    if (mask)
        mask += r / each * Tk;
    float largest = -INFINITY;
    for (int64_t j = group_lane<GROUP>(); j < seen; j += GROUP) {
        if (!mask || mask[j] > 0.0f)
            largest = fmaxf(largest, x[j]);
    }
    largest = group_max<GROUP>(largest);
    double sum = 0.0;
    for (int64_t j = group_lane<GROUP>(); j < seen; j += GROUP) {
        if (!mask || mask[j] > 0.0f)
            sum += expf(x[j] - largest);
    }
    float total = (float)group_sum<GROUP>(sum);
    for (int64_t j = group_lane<GROUP>(); j < Tk; j += GROUP) {
        bool shown = j < seen && (!mask || mask[j] > 0.0f);
        y[j] = shown ? expf(x[j] - largest) / total : 0.0f;
    }
}

/* dx[r,j] = y[r,j] (dy[r,j] - sum_k dy[r,k] y[r,k]) */
template <int GROUP>
static __global__ void attend_softmax_bwd(float *dx, const float *dy,
                                          const float *y, int64_t R, int64_t Tk)
{
    int64_t r = group_row<GROUP>();
    if (r >= R)
        return;
    dy += r * Tk;
    y += r * Tk;
    dx += r * Tk;
    double dot = 0.0;
    for (int64_t j = group_lane<GROUP>(); j < Tk; j += GROUP)
        dot += (double)dy[j] * y[j];
    float along = (float)group_sum<GROUP>(dot);
    for (int64_t j = group_lane<GROUP>(); j < Tk; j += GROUP)
        dx[j] = y[j] * (dy[j] - along);
}

/* ---- launchers ---- */

enum lab_status attend_scores_forward(const struct lab_call *call)
{
    attend_shape s = attend_shape_of(call, &call->in[0], &call->in[1], nullptr);
    attend_scores_fwd<<<lab_blocks(call->out[0].count), LAB_BLOCK, 0,
                        lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                            lab_in(call, 1), s);
    return lab_launched("attend_scores_fwd");
}

enum lab_status attend_context_forward(const struct lab_call *call)
{
    attend_shape s =
        attend_shape_of(call, &call->out[0], nullptr, &call->in[1]);
    attend_context_fwd<<<lab_blocks(call->out[0].count), LAB_BLOCK, 0,
                         lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                             lab_in(call, 1), s);
    return lab_launched("attend_context_fwd");
}

enum lab_status attend_context_backward(const struct lab_call *call)
{
    attend_shape s = attend_shape_of(call, &call->in[0], nullptr, &call->in[2]);
    if (lab_out(call, 0)) {
        attend_context_dprobs<<<lab_blocks(call->out[0].count), LAB_BLOCK, 0,
                                lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 2), s);
    }
    if (lab_out(call, 1)) {
        attend_context_dv<<<lab_blocks(call->out[1].count), LAB_BLOCK, 0,
                            lab_stream(call)>>>(
            lab_out(call, 1), lab_in(call, 1), lab_in(call, 0), s);
    }
    return lab_launched("attend_context_bwd");
}

enum lab_status attend_scores_backward(const struct lab_call *call)
{
    attend_shape s = attend_shape_of(call, &call->in[1], &call->in[2], nullptr);
    if (lab_out(call, 0)) {
        attend_scores_dq<<<lab_blocks(call->out[0].count), LAB_BLOCK, 0,
                           lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 2), s);
    }
    if (lab_out(call, 1)) {
        attend_scores_dk<<<lab_blocks(call->out[1].count), LAB_BLOCK, 0,
                           lab_stream(call)>>>(
            lab_out(call, 1), lab_in(call, 0), lab_in(call, 1), s);
    }
    return lab_launched("attend_scores_bwd");
}

template <int GROUP>
static enum lab_status softmax_forward(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    bool masked = lab_params<lab_attention_params>(call)->masked;
    const float *mask = masked ? lab_in(call, 1) : NULL;
    int64_t each = mask ? R / lab_view_rows(&call->in[1]) : R;
    attend_softmax_fwd<GROUP>
        <<<group_blocks<GROUP>(R), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), mask, each, R,
            lab_attention_rows(&call->in[0]), lab_view_cols(&call->in[0]),
            lab_params<lab_attention_params>(call)->causal);
    return lab_launched("attend_softmax_fwd");
}

template <int GROUP>
static enum lab_status softmax_backward(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[1]);
    attend_softmax_bwd<GROUP>
        <<<group_blocks<GROUP>(R), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), R,
            lab_view_cols(&call->in[1]));
    return lab_launched("attend_softmax_bwd");
}

enum lab_status attend_softmax_forward_naive(const struct lab_call *call)
{
    return softmax_forward<LAB_GROUP_NAIVE>(call);
}

enum lab_status attend_softmax_forward_warp(const struct lab_call *call)
{
    return softmax_forward<LAB_GROUP_WARP>(call);
}

enum lab_status attend_softmax_backward_naive(const struct lab_call *call)
{
    return softmax_backward<LAB_GROUP_NAIVE>(call);
}

enum lab_status attend_softmax_backward_warp(const struct lab_call *call)
{
    return softmax_backward<LAB_GROUP_WARP>(call);
}

static const struct lab_variant variants[] = {ATTEND_CUDA_ROWS};

const struct lab_kernel_set lab_cuda_scaled_dot_attention =
    lab_set("scaled_dot_attention", variants);
