/* kernels/attention/attention_fused.cu -- attention in one kernel, after FlashAttention
 * (T. Dao et al., arXiv:2205.14135): the matrix of Tq x Tk shares is never
 * written. It is made a tile at a time, used, and thrown away.
 *
 * Forward. A block has 32 queries of one head, and walks the keys 32 at a time:
 * scores of the tile, then softmax as far as it is known: largest score so far
 * and sum so far, and when a larger score comes, what was summed before shrinks
 * by exp(old - new). At the end ctx = what was mixed / sum.
 *
 * Backward. Shares are made anew from the scores (1 product more than step by
 * step), with the log of the sum of every row, which a first kernel works out:
 *     p = exp(s - L),  dp = dctx v^T,  ds = p (dp - delta),
 *     delta[i] = sum_j dp[i,j] p[i,j] = sum_f dctx[i,f] ctx[i,f]
 * One kernel has 32 queries and walks the keys (dq), another has 32 keys and
 * walks the queries (dk, dv): every number is added by one thread, in order.
 *
 * Thread -> element: 8 warps with 4 rows each. In the scores a lane has one row
 * of the tile and all 4 of its warp's; in the mixing a lane has 4 columns of
 * each of the 4 rows, 32 apart. Heads wider than 128 take several blocks, one
 * for every 128 columns of the result, which all make the same scores.
 * Memory: q, k, v, ctx, and 8 bytes a row for L and delta: O(T), not O(T^2). */
#include "attention/attention_cuda.cuh"

enum { WARPS = 8, OWN = 4, TILE = 32, PARTS = 4, COLS = TILE * PARTS };

/* The rows of one head. */
struct head_rows {
    const float *first;
    int64_t stride; /* from row to row */
    int64_t count;
    int64_t width;
};

struct scratch {
    float own[TILE][TILE + OWN]; /* own[e][row]: 4 rows are one float4 */
    float tile[TILE][TILE + 1];  /* tile[row][e] */
    float value[TILE][COLS];
    float4 weight[WARPS][TILE];
};

static __device__ head_rows rows_of(const float *x, int64_t n, int64_t h,
                                    int64_t T, int64_t H, int64_t width)
{
    return {x + (n * T * H + h) * width, H * width, T, width};
}

static __device__ float at_or_0(const head_rows &x, int64_t row, int64_t col)
{
    bool inside = row < x.count && col < x.width;
    return inside ? x.first[row * x.stride + col] : 0.0f;
}

/* sum[o] = this warp's row o of the block's own rows, times this lane's row of
 * the tile. Called by the whole block. */
static __device__ void products(float sum[OWN], scratch &s,
                                const head_rows &own, int64_t own0,
                                const head_rows &tile, int64_t tile0)
{
    int lane = threadIdx.x % TILE;
    int warp = threadIdx.x / TILE;
    for (int o = 0; o < OWN; o++)
        sum[o] = 0.0f;
    for (int64_t e0 = 0; e0 < own.width; e0 += TILE) {
        __syncthreads(); /* no thread reads the last tiles any more */
        for (int row = warp; row < TILE; row += WARPS) {
            s.own[lane][row] = at_or_0(own, own0 + row, e0 + lane);
            s.tile[row][lane] = at_or_0(tile, tile0 + row, e0 + lane);
        }
        __syncthreads();
        for (int e = 0; e < TILE; e++) {
            float t = s.tile[lane][e];
            float4 q = *reinterpret_cast<float4 *>(&s.own[e][warp * OWN]);
            sum[0] += q.x * t;
            sum[1] += q.y * t;
            sum[2] += q.z * t;
            sum[3] += q.w * t;
        }
    }
}

/* acc[o][c] += sum over the tile's rows of that row's weight for own row o,
 * times column col0 + 32 c + lane. A lane brings the weights of its row. */
static __device__ void mix(float acc[OWN][PARTS], scratch &s,
                           const float weight[OWN], const head_rows &tile,
                           int64_t tile0, int64_t col0)
{
    int lane = threadIdx.x % TILE;
    int warp = threadIdx.x / TILE;
    __syncthreads();
    s.weight[warp][lane] =
        make_float4(weight[0], weight[1], weight[2], weight[3]);
    for (int i = threadIdx.x; i < TILE * COLS; i += WARPS * TILE)
        s.value[i / COLS][i % COLS] =
            at_or_0(tile, tile0 + i / COLS, col0 + i % COLS);
    __syncthreads();
    for (int row = 0; row < TILE; row++) {
        float4 w = s.weight[warp][row];
        for (int c = 0; c < PARTS; c++) {
            float v = s.value[row][c * TILE + lane];
            acc[0][c] += w.x * v;
            acc[1][c] += w.y * v;
            acc[2][c] += w.z * v;
            acc[3][c] += w.w * v;
        }
    }
}

static __device__ float warp_max(float v)
{
    for (int d = TILE / 2; d > 0; d /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

static __device__ float warp_sum(float v)
{
    for (int d = TILE / 2; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

/* What a block works on: 32 rows of a head from row0, columns from col0. */
struct job {
    int64_t n;
    int64_t h;
    int64_t row0;
    int64_t col0;
};

static __device__ job job_of(const attend_shape &s, int64_t rows, int64_t width)
{
    int64_t chunks = (width + COLS - 1) / COLS;
    int64_t tiles = (rows + TILE - 1) / TILE;
    int64_t b = blockIdx.x / chunks;
    return {b / tiles / s.H, b / tiles % s.H, b % tiles * TILE,
            blockIdx.x % chunks * COLS};
}

static __device__ bool sees(const attend_shape &s, int64_t i, int64_t j)
{
    return i < s.Tq && j < s.Tk && (!s.causal || j <= i);
}

/* Keys beyond this are seen by no query of the 32 from row0. */
static __device__ int64_t last_key(const attend_shape &s, int64_t row0)
{
    return s.causal && row0 + TILE < s.Tk ? row0 + TILE : s.Tk;
}

/* out[own row][col] = factor * acc, for the columns of this lane. */
static __device__ void store(float *out, const float acc[OWN][PARTS],
                             const float factor[OWN], const job &j, int64_t T,
                             int64_t H, int64_t width)
{
    for (int o = 0; o < OWN; o++) {
        int64_t row = j.row0 + threadIdx.x / TILE * OWN + o;
        for (int c = 0; c < PARTS; c++) {
            int64_t col = j.col0 + c * TILE + threadIdx.x % TILE;
            if (row < T && col < width)
                out[((j.n * T + row) * H + j.h) * width + col] =
                    acc[o][c] * factor[o];
        }
    }
}

/* One tile's scores into the running softmax of row i: the lane's share, as yet
 * undivided; *shrink is for what was added before. */
static __device__ float advance(float score, bool seen, float *largest,
                                float *sum, float *shrink)
{
    float x = seen ? score : -INFINITY;
    float up = fmaxf(*largest, warp_max(x));
    float p = seen ? expf(x - up) : 0.0f;
    *shrink = expf(*largest - up);
    *sum = *sum * *shrink + warp_sum(p);
    *largest = up;
    return p;
}

static __global__ void __launch_bounds__(WARPS *TILE)
    attend_fused_fwd(float *ctx, const float *q, const float *k, const float *v,
                     attend_shape s)
{
    __shared__ scratch mem;
    job at = job_of(s, s.Tq, s.F);
    head_rows queries = rows_of(q, at.n, at.h, s.Tq, s.H, s.E);
    head_rows keys = rows_of(k, at.n, at.h, s.Tk, s.H, s.E);
    head_rows values = rows_of(v, at.n, at.h, s.Tk, s.H, s.F);
    int64_t i0 = at.row0 + threadIdx.x / TILE * OWN;
    float acc[OWN][PARTS] = {};
    float largest[OWN] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    float sum[OWN] = {};
    for (int64_t k0 = 0; k0 < last_key(s, at.row0); k0 += TILE) {
        float p[OWN];
        products(p, mem, queries, at.row0, keys, k0);
        for (int o = 0; o < OWN; o++) {
            float shrink;
            int64_t j = k0 + threadIdx.x % TILE;
            bool seen = j < s.Tk && (!s.causal || j <= i0 + o);
            p[o] = advance(p[o] * s.scale, seen, &largest[o], &sum[o], &shrink);
            for (int c = 0; c < PARTS; c++)
                acc[o][c] *= shrink;
        }
        mix(acc, mem, p, values, k0, at.col0);
    }
    for (int o = 0; o < OWN; o++)
        sum[o] = 1.0f / sum[o];
    store(ctx, acc, sum, at, s.Tq, s.H, s.F);
}

/* L[row] = log sum_j exp(s[row,j]), delta[row] = sum_f dctx ctx. */
static __global__ void __launch_bounds__(WARPS *TILE)
    attend_fused_stats(float *L, float *delta, const float *q, const float *k,
                       const float *dctx, const float *ctx, attend_shape s)
{
    __shared__ scratch mem;
    job at = job_of(s, s.Tq, 1);
    head_rows queries = rows_of(q, at.n, at.h, s.Tq, s.H, s.E);
    head_rows keys = rows_of(k, at.n, at.h, s.Tk, s.H, s.E);
    head_rows grad = rows_of(dctx, at.n, at.h, s.Tq, s.H, s.F);
    head_rows out = rows_of(ctx, at.n, at.h, s.Tq, s.H, s.F);
    int lane = threadIdx.x % TILE;
    int64_t i0 = at.row0 + threadIdx.x / TILE * OWN;
    float largest[OWN] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    float sum[OWN] = {};
    for (int64_t k0 = 0; k0 < last_key(s, at.row0); k0 += TILE) {
        float p[OWN];
        products(p, mem, queries, at.row0, keys, k0);
        for (int o = 0; o < OWN; o++) {
            float shrink;
            bool seen = k0 + lane < s.Tk && (!s.causal || k0 + lane <= i0 + o);
            advance(p[o] * s.scale, seen, &largest[o], &sum[o], &shrink);
        }
    }
    for (int o = 0; o < OWN && i0 + o < s.Tq; o++) {
        float along = 0.0f;
        for (int64_t f = lane; f < s.F; f += TILE)
            along += at_or_0(grad, i0 + o, f) * at_or_0(out, i0 + o, f);
        along = warp_sum(along);
        int64_t row = (at.n * s.H + at.h) * s.Tq + i0 + o;
        if (lane == 0) {
            L[row] = largest[o] + logf(sum[o]);
            delta[row] = along;
        }
    }
}

/* Tensors of a backward call. */
struct back {
    const float *dctx;
    const float *q;
    const float *k;
    const float *v;
    const float *L;
    const float *delta;
};

static __global__ void __launch_bounds__(WARPS *TILE)
    attend_fused_dq(float *dq, back b, attend_shape s)
{
    __shared__ scratch mem;
    job at = job_of(s, s.Tq, s.E);
    head_rows queries = rows_of(b.q, at.n, at.h, s.Tq, s.H, s.E);
    head_rows keys = rows_of(b.k, at.n, at.h, s.Tk, s.H, s.E);
    head_rows values = rows_of(b.v, at.n, at.h, s.Tk, s.H, s.F);
    head_rows grad = rows_of(b.dctx, at.n, at.h, s.Tq, s.H, s.F);
    int64_t i0 = at.row0 + threadIdx.x / TILE * OWN;
    int64_t first = (at.n * s.H + at.h) * s.Tq;
    float acc[OWN][PARTS] = {};
    for (int64_t k0 = 0; k0 < last_key(s, at.row0); k0 += TILE) {
        float score[OWN];
        float dp[OWN];
        products(score, mem, queries, at.row0, keys, k0);
        products(dp, mem, grad, at.row0, values, k0);
        for (int o = 0; o < OWN; o++) {
            bool seen = sees(s, i0 + o, k0 + threadIdx.x % TILE);
            int64_t row = first + i0 + o;
            float p = seen ? expf(score[o] * s.scale - b.L[row]) : 0.0f;
            dp[o] = seen ? p * (dp[o] - b.delta[row]) : 0.0f;
        }
        mix(acc, mem, dp, keys, k0, at.col0);
    }
    const float factor[OWN] = {s.scale, s.scale, s.scale, s.scale};
    store(dq, acc, factor, at, s.Tq, s.H, s.E);
}

/* Here the block's own rows are keys and the tiles are queries. */
static __global__ void __launch_bounds__(WARPS *TILE)
    attend_fused_dkv(float *dk, float *dv, back b, attend_shape s)
{
    __shared__ scratch mem;
    job at = job_of(s, s.Tk, s.E > s.F ? s.E : s.F);
    head_rows queries = rows_of(b.q, at.n, at.h, s.Tq, s.H, s.E);
    head_rows keys = rows_of(b.k, at.n, at.h, s.Tk, s.H, s.E);
    head_rows values = rows_of(b.v, at.n, at.h, s.Tk, s.H, s.F);
    head_rows grad = rows_of(b.dctx, at.n, at.h, s.Tq, s.H, s.F);
    int64_t j0 = at.row0 + threadIdx.x / TILE * OWN;
    int64_t first = (at.n * s.H + at.h) * s.Tq;
    float acc_k[OWN][PARTS] = {};
    float acc_v[OWN][PARTS] = {};
    /* Causal: no query before the first of these keys sees any of them. */
    for (int64_t q0 = s.causal ? at.row0 : 0; q0 < s.Tq; q0 += TILE) {
        float p[OWN];
        float ds[OWN];
        products(p, mem, keys, at.row0, queries, q0);
        products(ds, mem, values, at.row0, grad, q0);
        int64_t i = q0 + threadIdx.x % TILE;
        for (int o = 0; o < OWN; o++) {
            bool seen = sees(s, i, j0 + o);
            p[o] = seen ? expf(p[o] * s.scale - b.L[first + i]) : 0.0f;
            ds[o] = seen ? p[o] * (ds[o] - b.delta[first + i]) : 0.0f;
        }
        mix(acc_v, mem, p, grad, q0, at.col0);
        mix(acc_k, mem, ds, queries, q0, at.col0);
    }
    const float scale[OWN] = {s.scale, s.scale, s.scale, s.scale};
    const float one[OWN] = {1.0f, 1.0f, 1.0f, 1.0f};
    if (dk)
        store(dk, acc_k, scale, at, s.Tk, s.H, s.E);
    if (dv)
        store(dv, acc_v, one, at, s.Tk, s.H, s.F);
}

/* ---- launchers ---- */

static unsigned blocks_of(const attend_shape &s, int64_t rows, int64_t width)
{
    int64_t tiles = (rows + TILE - 1) / TILE;
    return lab_blocks(s.N * s.H * tiles * ((width + COLS - 1) / COLS), 1);
}

enum lab_status attend_fused_forward(const struct lab_call *call)
{
    attend_shape s =
        attend_shape_of(call, &call->in[0], &call->in[1], &call->in[2]);
    attend_fused_fwd<<<blocks_of(s, s.Tq, s.F), WARPS * TILE, 0,
                       lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                           lab_in(call, 1), lab_in(call, 2), s);
    return lab_launched("attend_fused_fwd");
}

/* Sequences n0 .. n0+count-1: L and delta of more may not fit. */
static void launch_back(const struct lab_call *call, const attend_shape &all,
                        int64_t n0, int64_t count)
{
    attend_shape s = all;
    s.N = count;
    int64_t at_q = n0 * s.Tq * s.H * s.E;
    int64_t at_k = n0 * s.Tk * s.H * s.E;
    int64_t at_v = n0 * s.Tk * s.H * s.F;
    int64_t at_ctx = n0 * s.Tq * s.H * s.F;
    float *L = static_cast<float *>(call->exec->workspace);
    float *delta = L + count * s.H * s.Tq;
    float *dq = lab_out(call, 0);
    float *dk = lab_out(call, 1);
    float *dv = lab_out(call, 2);
    back b = {lab_in(call, 0) + at_ctx,
              lab_in(call, 1) + at_q,
              lab_in(call, 2) + at_k,
              lab_in(call, 3) + at_v,
              L,
              delta};
    cudaStream_t stream = lab_stream(call);
    int threads = WARPS * TILE;
    attend_fused_stats<<<blocks_of(s, s.Tq, 1), threads, 0, stream>>>(
        L, delta, b.q, b.k, b.dctx, lab_in(call, 4) + at_ctx, s);
    if (dq)
        attend_fused_dq<<<blocks_of(s, s.Tq, s.E), threads, 0, stream>>>(
            dq + at_q, b, s);
    if (dk || dv)
        attend_fused_dkv<<<blocks_of(s, s.Tk, s.E > s.F ? s.E : s.F), threads,
                           0, stream>>>(dk ? dk + at_k : nullptr,
                                        dv ? dv + at_v : nullptr, b, s);
}

enum lab_status attend_fused_backward(const struct lab_call *call)
{
    attend_shape s =
        attend_shape_of(call, &call->in[1], &call->in[2], &call->in[3]);
    int64_t each = 2 * s.H * s.Tq * (int64_t)sizeof(float);
    int64_t room = each > 0 ? (int64_t)call->exec->workspace_bytes / each : s.N;
    if (!call->exec->workspace || room < 1)
        return lab_fail(LAB_E_RANGE,
                        "[launch.workspace] attend_fused: a workspace of %lld "
                        "bytes is needed",
                        (long long)each);
    for (int64_t n = 0; n < s.N; n += room)
        launch_back(call, s, n, s.N - n < room ? s.N - n : room);
    return lab_launched("attend_fused_dq");
}
