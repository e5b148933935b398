/* kernels/attention/unfused.cu -- attention as the formula has it: three
 * kernels, and the scores in memory between them.
 *
 *     S = Q K^T;  P = softmax(S / sqrt(D)), row by row;  O = P V
 *
 * Thread -> element: in the products a thread has one element of the result, a
 * block 32 x 32 of them, and both factors come through shared memory in tiles of
 * 32 x 32. In the softmax a block has a row.
 *
 * Price: S has B H T T numbers, T / D times as many as Q, K, V and O each. They
 * are written, read, written and read again: at T = 4096 with 64 heads 4.3 GB,
 * four times. With the causal mask half of the products are made for nothing. */
#include "attention/attention.cuh"

enum { TILE = 32, THREADS = 256 };

/* C (M, N) = A (M, K) B, for each head; B is (K, N), or with TURNED it
 * lies as (N, K). */
template <bool TURNED>
static __global__ void attention_product(float *c, const float *a,
                                         const float *b, int M, int N, int K)
{
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE + 1];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    /* Blocks next to each other: next to each other in a row of C. */
    int wide = (N + TILE - 1) / TILE;
    int high = (M + TILE - 1) / TILE;
    int64_t head = blockIdx.x / wide / high;
    int row = blockIdx.x / wide % high * TILE + ty;
    int col0 = blockIdx.x % wide * TILE;
    float sum = 0.0f;
    a += head * M * K;
    b += head * N * K;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        left[ty][tx] = row < M && k0 + tx < K
                           ? a[static_cast<int64_t>(row) * K + k0 + tx]
                           : 0.0f;
        if (TURNED)
            right[tx][ty] =
                col0 + ty < N && k0 + tx < K
                    ? b[static_cast<int64_t>(col0 + ty) * K + k0 + tx]
                    : 0.0f;
        else
            right[ty][tx] =
                k0 + ty < K && col0 + tx < N
                    ? b[static_cast<int64_t>(k0 + ty) * N + col0 + tx]
                    : 0.0f;
        __syncthreads();
#pragma unroll
        for (int e = 0; e < TILE; e++)
            sum += left[ty][e] * right[e][tx];
        __syncthreads();
    }
    if (row < M && col0 + tx < N)
        c[head * M * N + static_cast<int64_t>(row) * N + col0 + tx] = sum;
}

template <bool SUM>
static __device__ __forceinline__ float both(float a, float b)
{
    return SUM ? a + b : fmaxf(a, b);
}

/* Sum or largest of a number of every thread of the block, in every thread. */
template <bool SUM> static __device__ __forceinline__ float of_block(float v)
{
    __shared__ float part[TILE];
    for (int d = TILE / 2; d > 0; d /= 2)
        v = both<SUM>(v, __shfl_xor_sync(0xffffffffu, v, d));
    __syncthreads(); /* no thread reads an older part any more */
    if (threadIdx.x % TILE == 0)
        part[threadIdx.x / TILE] = v;
    __syncthreads();
    v = part[0];
    for (int i = 1; i < THREADS / TILE; i++)
        v = both<SUM>(v, part[i]);
    return v;
}

static __global__ void __launch_bounds__(THREADS)
    attention_softmax_rows(float *scores, int T, float scale, bool causal)
{
    float *row = scores + static_cast<int64_t>(blockIdx.x) * T;
    int seen = causal ? static_cast<int>(blockIdx.x % T) + 1 : T;
    float top = -INFINITY;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < seen; j += THREADS)
        top = fmaxf(top, row[j]);
    top = of_block<false>(top);
    for (int j = threadIdx.x; j < seen; j += THREADS)
        sum += exp2_fast((row[j] - top) * scale);
    float factor = 1.0f / of_block<true>(sum);
    for (int j = threadIdx.x; j < T; j += THREADS)
        row[j] = j < seen ? exp2_fast((row[j] - top) * scale) * factor : 0.0f;
}

enum lab_status attention_softmax(const struct lab_call *call, float *scores,
                                  const attention_size &s, float scale,
                                  bool causal)
{
    int64_t rows = static_cast<int64_t>(s.heads) * s.T;
    attention_softmax_rows<<<lab_blocks(rows, 1), THREADS, 0,
                             lab_stream(call)>>>(scores, s.T, scale, causal);
    return lab_launched("attention_softmax_rows");
}

/* ---- the memory, from prepare to release: one size at a time ---- */

static struct {
    float *data;
    int64_t bytes;
} kept;

static int64_t scores_bytes(int64_t heads, int64_t T)
{
    return 4 * heads * T * T;
}

float *attention_scores(const attention_size &s)
{
    return scores_bytes(s.heads, s.T) <= kept.bytes ? kept.data : nullptr;
}

enum lab_status lab_attention_scores_free(const struct lab_call *call)
{
    (void)call;
    cudaFree(kept.data);
    kept = {};
    return LAB_OK;
}

enum lab_status lab_attention_scores_make(const struct lab_call *call)
{
    const struct lab_view *q = &call->in[0];
    int64_t bytes = scores_bytes(q->dim[0] * q->dim[1], q->dim[2]);
    lab_attention_scores_free(call);
    if (cudaMalloc(&kept.data, static_cast<size_t>(bytes))) {
        cudaGetLastError(); /* it is reported here */
        kept = {};
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.scores] the scores of this size take %.1f GB, "
                        "which the GPU "
                        "does not have",
                        static_cast<double>(bytes) / 1e9);
    }
    kept.bytes = bytes;
    return LAB_OK;
}

void lab_attention_scores_note(const struct lab_call *call,
                               struct lab_variant_note *out)
{
    (void)call;
    out->workspace_bytes = kept.bytes;
}

/* ---- launchers ---- */

static enum lab_status run(const struct lab_call *call, bool causal)
{
    attention_size s = {};
    enum lab_status st = attention_size_of(call, INT_MAX / 4, 1, &s);
    if (st)
        return st;
    float *scores = attention_scores(s);
    int64_t tiles = (s.T + TILE - 1) / TILE;
    int64_t wide = (s.D + TILE - 1) / TILE;
    dim3 threads(TILE, TILE);
    cudaStream_t stream = lab_stream(call);
    if (!scores)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.no-scores] it needs memory for the scores");
    attention_product<true>
        <<<lab_blocks(s.heads * tiles * tiles, 1), threads, 0, stream>>>(
            scores, lab_in(call, 0), lab_in(call, 1), s.T, s.T, s.D);
    st = attention_softmax(call, scores, s, s.scale, causal);
    if (st)
        return st;
    attention_product<false>
        <<<lab_blocks(s.heads * tiles * wide, 1), threads, 0, stream>>>(
            lab_out(call, 0), scores, lab_in(call, 2), s.T, s.D, s.T);
    return lab_launched("attention_product");
}

enum lab_status lab_attention_unfused(const struct lab_call *call)
{
    return run(call, false);
}

enum lab_status lab_attention_causal_unfused(const struct lab_call *call)
{
    return run(call, true);
}
