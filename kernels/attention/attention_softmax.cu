/* kernels/attention/attention_softmax.cu -- the softmax of attention, a row in registers.
 *
 * For rows of up to 1,024 keys, a multiple of four, that data do not mask: a
 * warp keeps its row, QUADS times four numbers a lane, so that memory is read
 * once and exp is taken once. Forward, a quad that no element of the row sees is
 * not read. Other rows go the way of scaled_dot_attention.cu.
 *
 * Thread -> element: lane l of a row's warp has the elements 4l .. 4l+3, then
 * those 128 further on.
 * Memory: forward 8 bytes a score, 6 with the causal mask; backward 12. */
#include "attention/attention_cuda.cuh"
#include "common/reduce.cuh"
#include "common/vector.cuh"

/* y[r,j] = exp(x[r,j] - max) / sum over the keys that row r sees, 0 beyond */
template <int QUADS>
static __global__ void attend_softmax_fwd_vector(float *y, const float *x,
                                                 int64_t R, int64_t Tq,
                                                 int64_t Tk, bool causal)
{
    int64_t r = group_row<LAB_GROUP_WARP>();
    if (r >= R)
        return;
    int64_t i = r % Tq;
    int seen = (int)(causal && i + 1 < Tk ? i + 1 : Tk);
    float v[QUADS][4];
    float largest = -INFINITY;
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        int j = 4 * (group_lane<LAB_GROUP_WARP>() + 32 * q);
        float4 quad = make_float4(0, 0, 0, 0);
        if (j < seen)
            quad = *reinterpret_cast<const float4 *>(x + r * Tk + j);
        v[q][0] = quad.x;
        v[q][1] = quad.y;
        v[q][2] = quad.z;
        v[q][3] = quad.w;
#pragma unroll
        for (int k = 0; k < 4; k++)
            largest = j + k < seen ? fmaxf(largest, v[q][k]) : largest;
    }
    largest = group_max<LAB_GROUP_WARP>(largest);
    double sum = 0.0;
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        int j = 4 * (group_lane<LAB_GROUP_WARP>() + 32 * q);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            v[q][k] = j + k < seen ? expf(v[q][k] - largest) : 0.0f;
            sum += v[q][k];
        }
    }
    float total = (float)group_sum<LAB_GROUP_WARP>(sum);
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        int j = 4 * (group_lane<LAB_GROUP_WARP>() + 32 * q);
        if (j < Tk)
            *reinterpret_cast<float4 *>(y + r * Tk + j) =
                make_float4(j < seen ? v[q][0] / total : 0.0f,
                            j + 1 < seen ? v[q][1] / total : 0.0f,
                            j + 2 < seen ? v[q][2] / total : 0.0f,
                            j + 3 < seen ? v[q][3] / total : 0.0f);
    }
}

/* dx[r,j] = y[r,j] (dy[r,j] - sum_k dy[r,k] y[r,k]) */
template <int QUADS>
static __global__ void attend_softmax_bwd_vector(float *dx, const float *dy,
                                                 const float *y, int64_t R,
                                                 int64_t Tk)
{
    int64_t r = group_row<LAB_GROUP_WARP>();
    if (r >= R)
        return;
    float4 g[QUADS];
    float4 p[QUADS];
    double dot = 0.0;
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        int j = 4 * (group_lane<LAB_GROUP_WARP>() + 32 * q);
        g[q] = p[q] = make_float4(0, 0, 0, 0);
        if (j < Tk) {
            g[q] = *reinterpret_cast<const float4 *>(dy + r * Tk + j);
            p[q] = *reinterpret_cast<const float4 *>(y + r * Tk + j);
        }
        dot += (double)g[q].x * p[q].x + (double)g[q].y * p[q].y +
               (double)g[q].z * p[q].z + (double)g[q].w * p[q].w;
    }
    float along = (float)group_sum<LAB_GROUP_WARP>(dot);
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        int j = 4 * (group_lane<LAB_GROUP_WARP>() + 32 * q);
        if (j < Tk)
            *reinterpret_cast<float4 *>(dx + r * Tk + j) = make_float4(
                p[q].x * (g[q].x - along), p[q].y * (g[q].y - along),
                p[q].z * (g[q].z - along), p[q].w * (g[q].w - along));
    }
}

/* Quads a lane for rows of Tk numbers: 1, 2, 4 or 8; 0: they do not fit. */
static int softmax_quads(const struct lab_call *call, int64_t Tk)
{
    int quads = 1;
    if (Tk % 4 != 0 || Tk > 1024 || !vector_fits(call))
        return 0;
    while (128 * quads < Tk)
        quads *= 2;
    return quads;
}

enum lab_status attend_softmax_forward_vector(const struct lab_call *call)
{
    int64_t Tk = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    bool masked = lab_params<lab_attention_params>(call)->masked;
    auto kernel = attend_softmax_fwd_vector<1>;
    switch (masked ? 0 : softmax_quads(call, Tk)) {
    case 0:
        return attend_softmax_forward_warp(call);
    case 2:
        kernel = attend_softmax_fwd_vector<2>;
        break;
    case 4:
        kernel = attend_softmax_fwd_vector<4>;
        break;
    case 8:
        kernel = attend_softmax_fwd_vector<8>;
        break;
    }
    kernel<<<group_blocks<LAB_GROUP_WARP>(R), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), R, lab_attention_rows(&call->in[0]),
        Tk, lab_params<lab_attention_params>(call)->causal);
    return lab_launched("attend_softmax_fwd_vector");
}

enum lab_status attend_softmax_backward_vector(const struct lab_call *call)
{
    int64_t Tk = lab_view_cols(&call->in[1]);
    int64_t R = lab_view_rows(&call->in[1]);
    auto kernel = attend_softmax_bwd_vector<1>;
    switch (softmax_quads(call, Tk)) {
    case 0:
        return attend_softmax_backward_warp(call);
    case 2:
        kernel = attend_softmax_bwd_vector<2>;
        break;
    case 4:
        kernel = attend_softmax_bwd_vector<4>;
        break;
    case 8:
        kernel = attend_softmax_bwd_vector<8>;
        break;
    }
    kernel<<<group_blocks<LAB_GROUP_WARP>(R), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), R, Tk);
    return lab_launched("attend_softmax_bwd_vector");
}
