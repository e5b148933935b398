/* kernels/batch_norm/batch_norm_split.cu -- batch norm by slices of a channel.
 *
 * A block a channel keeps 16 of 132 multiprocessors busy where there are 16
 * channels. Here a block sums a slice of a channel, and a second kernel adds the
 * slices' sums in their order: the same bits at every run.
 *
 *   channels_planes   block (c, s): slice s of channel c, 256 threads; in nchw
 *                     they read neighbouring addresses
 *   channels_rows     the channel is the last axis: block (b, s) has 32 channels,
 *                     8 threads each, over the rows of slice s
 *   channels_join     8 threads a channel: thread y adds the slices y, y + 8 ...
 *
 * Every sum takes one walk. For the variance that is sum (x - s)^2 - E (mean -
 * s)^2 in double, about a shift s that is one of the channel's elements: what is
 * subtracted is then of the variance's size, not of mean^2.
 *
 * Memory, an element: stats 4 bytes, normalize 8, scale 8; backward: scale 8,
 * and 8 for dxhat; normalize 8 for its sums and 12. Elementwise work moves 16
 * bytes an access where four neighbours are in one channel, or in four. */
#include "batch_norm/batch_norm_cuda.cuh"
#include "library/channels.h"
#include "common/reduce.cuh"
#include "common/vector.cuh"

enum { WIDE = 32, DEEP = 8, LEAST_ROWS = 128, LEAST_ELEMENTS = 1024 };

/* How the channels are cut. */
struct channels_cut {
    int64_t C;
    uint32_t inner;
    int64_t elements; /* of a channel; rows where inner is 1 */
    int64_t each;     /* of a slice */
    int64_t slices;
    int64_t across; /* blocks side by side */
};

/* The sums of a slice: kept, or, where it is the only one, the result. */
template <class TERMS>
static __device__ inline void keep(double *part, const TERMS &terms,
                                   const channels_cut &cut, int64_t slice,
                                   int64_t c, double a, double b)
{
    if (cut.slices == 1) {
        terms.put(c, a, b);
        return;
    }
    part[2 * slice * cut.C + c] = a;
    part[(2 * slice + 1) * cut.C + c] = b;
}

/* TERMS has `begin(c)`, `add(a, b, i)`, which adds element i to the two sums of
 * its channel, and `put(c, a, b)`, which writes what follows from them. */
template <class TERMS>
static __global__ void channels_planes(double *part, TERMS terms,
                                       channels_cut cut)
{
    int64_t c = blockIdx.x % cut.C;
    int64_t slice = blockIdx.x / cut.C;
    int64_t end = min(cut.elements, (slice + 1) * cut.each);
    int64_t k = slice * cut.each + threadIdx.x;
    struct lab_channel_walk at =
        lab_channel_walk_from(cut.inner, (uint32_t)k, LAB_BLOCK);
    double a = 0.0;
    double b = 0.0;
    terms.begin(c);
    for (; k < end; k += LAB_BLOCK) {
        terms.add(a, b, lab_channel_index(&at, cut.C, c));
        lab_channel_walk_on(&at);
    }
    a = group_sum<LAB_BLOCK>(a);
    b = group_sum<LAB_BLOCK>(b);
    if (threadIdx.x == 0)
        keep(part, terms, cut, slice, c, a, b);
}

template <class TERMS>
static __global__ void channels_rows(double *part, TERMS terms,
                                     channels_cut cut)
{
    __shared__ double sums[2][DEEP][WIDE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int64_t c = blockIdx.x % cut.across * WIDE + tx;
    int64_t slice = blockIdx.x / cut.across;
    int64_t end = min(cut.elements, (slice + 1) * cut.each);
    double a = 0.0;
    double b = 0.0;
    if (c < cut.C) {
        terms.begin(c);
#pragma unroll 4
        for (int64_t r = slice * cut.each + ty; r < end; r += DEEP)
            terms.add(a, b, r * cut.C + c);
    }
    sums[0][ty][tx] = a;
    sums[1][ty][tx] = b;
    __syncthreads();
    if (ty > 0 || c >= cut.C)
        return;
    for (int y = 1; y < DEEP; y++) {
        a += sums[0][y][tx];
        b += sums[1][y][tx];
    }
    keep(part, terms, cut, slice, c, a, b);
}

template <class TERMS>
static __global__ void channels_join(const double *part, TERMS terms,
                                     channels_cut cut)
{
    __shared__ double sums[2][DEEP][WIDE + 1];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int64_t c = (int64_t)blockIdx.x * WIDE + tx;
    double a = 0.0;
    double b = 0.0;
    for (int64_t s = ty; c < cut.C && s < cut.slices; s += DEEP) {
        a += part[2 * s * cut.C + c];
        b += part[(2 * s + 1) * cut.C + c];
    }
    sums[0][ty][tx] = a;
    sums[1][ty][tx] = b;
    __syncthreads();
    if (ty > 0 || c >= cut.C)
        return;
    for (int y = 1; y < DEEP; y++) {
        a += sums[0][y][tx];
        b += sums[1][y][tx];
    }
    terms.begin(c);
    terms.put(c, a, b);
}

/* Sums of x - shift and of its square; mean, rstd and what runs along. */
struct stats_terms {
    float *mean;
    float *rstd;
    float *running_mean;
    float *running_var;
    const float *x;
    int64_t inner;
    double elements;
    double eps;
    double momentum;
    double shift;

    __device__ void begin(int64_t c)
    {
        float first = x[c * inner];
        shift = isfinite(first) ? (double)first : 0.0;
    }
    __device__ void add(double &a, double &b, int64_t i) const
    {
        double apart = x[i] - shift;
        a += apart;
        b += apart * apart;
    }
    __device__ void put(int64_t c, double a, double b) const
    {
        double off = a / elements; /* mean - shift */
        double mu = shift + off;
        double var = fmax(b / elements - off * off, 0.0);
        if (!isfinite(b)) /* NaN, which fmax() would hide */
            var = b - b;
        mean[c] = (float)mu;
        rstd[c] = (float)(1.0 / sqrt(var + eps));
        running_mean[c] =
            (float)((1.0 - momentum) * running_mean[c] + momentum * mu);
        running_var[c] = (float)((1.0 - momentum) * running_var[c] +
                                 momentum * var * elements / (elements - 1.0));
    }
};

/* Sums of dy xhat and of dy, times `factor`: dgamma and dbeta, or their means. */
struct pair_terms {
    float *of_product;
    float *of_dy;
    const float *dy;
    const float *xhat;
    double factor;

    __device__ void begin(int64_t)
    {
    }
    __device__ void add(double &a, double &b, int64_t i) const
    {
        double d = dy[i];
        a += d * xhat[i];
        b += d;
    }
    __device__ void put(int64_t c, double a, double b) const
    {
        of_product[c] = (float)(a * factor);
        of_dy[c] = (float)(b * factor);
    }
};

/* ---- elementwise ---- */

struct normalize {
    const float *mean;
    const float *rstd;
    __device__ float operator()(float x, float, uint32_t c) const
    {
        return (x - mean[c]) * rstd[c];
    }
};

struct scale {
    const float *gamma;
    const float *beta; /* or NULL */
    __device__ float operator()(float xhat, float, uint32_t c) const
    {
        float y = xhat * gamma[c];
        return beta ? y + beta[c] : y;
    }
};

struct normalize_bwd {
    const float *rstd;
    const float *of_dxhat;
    const float *of_product;
    __device__ float operator()(float dxhat, float xhat, uint32_t c) const
    {
        return rstd[c] * (dxhat - of_dxhat[c] - xhat * of_product[c]);
    }
};

/* y[i] = f(a[i], b[i], channel of i), four elements a thread: of one channel, or,
 * where the channel is the last axis (NEXT is 1), of four. */
template <int NEXT, class F>
static __global__ void channels_map_fours(float4 *y, const float4 *a,
                                          const float4 *b, F f, uint32_t quads,
                                          uint32_t inner, uint32_t C)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads)
        return;
    uint32_t c = lab_channel_of(4 * i, inner, C);
    float4 u = a[i];
    float4 v = b ? b[i] : u;
    y[i] = make_float4(f(u.x, v.x, c), f(u.y, v.y, c + NEXT),
                       f(u.z, v.z, c + 2 * NEXT), f(u.w, v.w, c + 3 * NEXT));
}

template <class F>
static __global__ void channels_map(float *y, const float *a, const float *b,
                                    F f, uint32_t count, uint32_t inner,
                                    uint32_t C)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = f(a[i], b ? b[i] : 0.0f, lab_channel_of(i, inner, C));
}

/* ---- launchers ---- */

static uint32_t inner_of(const struct lab_call *call)
{
    return (uint32_t)lab_params<lab_batch_norm_params>(call)->inner;
}

static bool counts_in_32_bits(const struct lab_call *call)
{
    return call->in[0].count <= INT32_MAX;
}

static channels_cut cut_of(const struct lab_call *call, int64_t C)
{
    channels_cut cut = {C, inner_of(call), call->in[0].count / C, 0, 1, C};
    bool rows = cut.inner == 1;
    int64_t least = rows ? LEAST_ROWS : LEAST_ELEMENTS;
    int64_t most = (cut.elements + least - 1) / least;
    size_t slice_bytes = (size_t)(2 * C) * sizeof(double);
    /* The means of normalize backward come behind the slices. */
    int64_t room = (int64_t)(call->exec->workspace_bytes / slice_bytes) - 1;
    if (rows)
        cut.across = (C + WIDE - 1) / WIDE;
    int64_t wanted = 8 * (int64_t)call->exec->sm_count / cut.across;
    wanted = min(min(wanted, most), room);
    if (wanted >= 2 && call->exec->workspace)
        cut.slices = wanted;
    cut.each = (cut.elements + cut.slices - 1) / cut.slices;
    return cut;
}

template <class TERMS>
static void sum_channels(const struct lab_call *call, const TERMS &terms,
                         const channels_cut &cut)
{
    double *part = static_cast<double *>(call->exec->workspace);
    unsigned blocks = lab_blocks(cut.across * cut.slices, 1);
    dim3 rows(WIDE, DEEP);
    cudaStream_t stream = lab_stream(call);
    if (cut.inner == 1)
        channels_rows<<<blocks, rows, 0, stream>>>(part, terms, cut);
    else
        channels_planes<<<blocks, LAB_BLOCK, 0, stream>>>(part, terms, cut);
    if (cut.slices > 1)
        channels_join<<<lab_blocks(cut.C, WIDE), rows, 0, stream>>>(part, terms,
                                                                    cut);
}

template <class F>
static void map_channels(const struct lab_call *call, float *y, const float *a,
                         const float *b, const F &f, int64_t C)
{
    uint32_t count = (uint32_t)call->in[0].count;
    uint32_t inner = inner_of(call);
    uint32_t M = (uint32_t)C;
    unsigned blocks = lab_blocks(count / 4);
    cudaStream_t stream = lab_stream(call);
    auto to = reinterpret_cast<float4 *>(y);
    auto from = reinterpret_cast<const float4 *>(a);
    auto other = reinterpret_cast<const float4 *>(b);
    if (!vector_fits(call) || (inner % 4 != 0 && (inner != 1 || C % 4 != 0)))
        channels_map<<<lab_blocks(count), LAB_BLOCK, 0, stream>>>(
            y, a, b, f, count, inner, M);
    else if (inner == 1)
        channels_map_fours<1><<<blocks, LAB_BLOCK, 0, stream>>>(
            to, from, other, f, count / 4, inner, M);
    else
        channels_map_fours<0><<<blocks, LAB_BLOCK, 0, stream>>>(
            to, from, other, f, count / 4, inner, M);
}

enum lab_status batch_norm_stats_split(const struct lab_call *call)
{
    const struct lab_batch_norm_params *p =
        lab_params<lab_batch_norm_params>(call);
    int64_t C = call->out[0].count;
    if (!call->training || !counts_in_32_bits(call))
        return batch_norm_stats_block(call);
    stats_terms terms = {lab_out(call, 0),
                         lab_out(call, 1),
                         lab_out(call, 2),
                         lab_out(call, 3),
                         lab_in(call, 0),
                         p->inner,
                         (double)(call->in[0].count / C),
                         p->eps,
                         p->momentum,
                         0.0};
    sum_channels(call, terms, cut_of(call, C));
    return lab_launched("channels_planes");
}

enum lab_status batch_norm_normalize_vector(const struct lab_call *call)
{
    if (!counts_in_32_bits(call))
        return batch_norm_normalize_plain(call);
    map_channels(call, lab_out(call, 0), lab_in(call, 0), nullptr,
                 normalize{lab_in(call, 1), lab_in(call, 2)},
                 call->in[1].count);
    return lab_launched("channels_map_fours");
}

enum lab_status batch_norm_scale_vector(const struct lab_call *call)
{
    if (!counts_in_32_bits(call))
        return batch_norm_scale_plain(call);
    map_channels(call, lab_out(call, 0), lab_in(call, 0), nullptr,
                 scale{lab_in(call, 1), lab_in(call, 2)}, call->in[1].count);
    return lab_launched("channels_map_fours");
}

enum lab_status batch_norm_scale_split(const struct lab_call *call)
{
    int64_t C = call->in[2].count;
    if (!counts_in_32_bits(call))
        return batch_norm_scale_block(call);
    pair_terms terms = {lab_out(call, 1), lab_out(call, 2), lab_in(call, 0),
                        lab_in(call, 1), 1.0};
    sum_channels(call, terms, cut_of(call, C));
    if (lab_out(call, 0))
        map_channels(call, lab_out(call, 0), lab_in(call, 0), nullptr,
                     scale{lab_in(call, 2), nullptr}, C);
    return lab_launched("channels_planes");
}

enum lab_status batch_norm_normalize_split(const struct lab_call *call)
{
    int64_t C = call->in[2].count;
    channels_cut cut = cut_of(call, C);
    size_t bytes = (size_t)(2 * C) * sizeof(double);
    if (!counts_in_32_bits(call) || !call->exec->workspace ||
        call->exec->workspace_bytes / bytes < (size_t)cut.slices + 1)
        return batch_norm_normalize_block(call);
    double *part = static_cast<double *>(call->exec->workspace);
    float *means = reinterpret_cast<float *>(part + 2 * cut.slices * C);
    pair_terms terms = {means, means + C, lab_in(call, 0), lab_in(call, 1),
                        1.0 / (double)cut.elements};
    sum_channels(call, terms, cut);
    map_channels(call, lab_out(call, 0), lab_in(call, 0), lab_in(call, 1),
                 normalize_bwd{lab_in(call, 2), means + C, means}, C);
    return lab_launched("channels_planes");
}
