/* kernels/attention/fused.cu -- attention by tiles in shared memory, after
 * FlashAttention (T. Dao et al., arXiv:2205.14135), in fp32.
 *
 * One idea: the two products are matrix products, and are made like one. A block
 * has 128 queries, walks the keys 64 at a time, and its threads have small
 * matrices of both results in registers: a number that comes from shared memory
 * is used 4 or 8 times.
 *
 * Thread -> element: 16 x 16 threads. Thread (ty, tx) has the scores of queries
 * 8 ty .. 8 ty + 7 with keys 4 tx .. 4 tx + 3, and of the result the same rows
 * and 4 columns of every 64. A row's softmax is a matter of the 16 threads of
 * half a warp: shuffles.
 * Shared memory: Q and K with the rows along (transposed), so that 8 queries or 4
 * keys are 16-byte reads; V as it is; the shares, transposed too. A warp writes
 * and reads the shares of its own rows only: no barrier between the products.
 *
 * A multiply-add costs 3/32 reads of 16 bytes a thread, 4/32 accesses of a warp:
 * half of what shared memory can do. Price: 102 kB of shared memory, two blocks a
 * multiprocessor. fp32 units have 67 TFLOP/s; only the tensor cores have more. */
#include "attention/attention.cuh"
#include "labs/lab.cuh"

/* Q: queries, K: keys of a tile, W: width; TQ, TK, TW of them a thread. */
enum { SIDE = 16, THREADS = SIDE * SIDE, Q = 128, K = 64, WIDEST = 128 };
enum { TQ = Q / SIDE, TK = K / SIDE, Q_PITCH = Q + 4, K_PITCH = K + 4 };

template <int W> struct fused_memory {
    float q[W][Q_PITCH]; /* one column: a query */
    float k[W][K_PITCH];
    float v[K][W];
    float share[K][Q_PITCH];
};

template <int W> struct fused_rows {
    float o[TQ][W / SIDE];
    float score[TQ][TK];
    float top[TQ];
    float sum[TQ];
};

/* Row `row` of x, numbers col .. col + 3; zeros outside. */
static __device__ __forceinline__ float4 read_four(const float *x, int row,
                                                   int col,
                                                   const attention_size &s)
{
    if (row >= s.T || col >= s.D)
        return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return *reinterpret_cast<const float4 *>(
        x + static_cast<int64_t>(row) * s.D + col);
}

/* ROWS rows of x from row0 into to[column][row]. A warp's lanes have a row
 * each: they write next to each other. */
template <int W, int ROWS, int PITCH>
static __device__ __forceinline__ void
bring_turned(float (*to)[PITCH], const float *x, int row0, float scale,
             const attention_size &s)
{
    for (int i = threadIdx.x; i < ROWS * W / 4; i += THREADS) {
        int row = i % ROWS;
        int col = i / ROWS * 4;
        float4 four = read_four(x, row0 + row, col, s);
        to[col][row] = four.x * scale;
        to[col + 1][row] = four.y * scale;
        to[col + 2][row] = four.z * scale;
        to[col + 3][row] = four.w * scale;
    }
}

template <int W>
static __device__ __forceinline__ void bring(float (*to)[W], const float *x,
                                             int row0, const attention_size &s)
{
    for (int i = threadIdx.x; i < K * W / 4; i += THREADS) {
        int row = i / (W / 4);
        int col = i % (W / 4) * 4;
        *reinterpret_cast<float4 *>(&to[row][col]) =
            read_four(x, row0 + row, col, s);
    }
}

/* `count` numbers, 16 bytes at a time; every four of them `apart` further. */
template <int COUNT>
static __device__ __forceinline__ void
read_fours(float (&to)[COUNT], const float *from, int apart = 4)
{
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        *reinterpret_cast<float4 *>(&to[i]) =
            *reinterpret_cast<const float4 *>(from + i / 4 * apart);
}

/* score = Q K^T of this thread's queries and keys. */
template <int W>
static __device__ __forceinline__ void scores(fused_rows<W> &r,
                                              const fused_memory<W> &m)
{
    int tx = threadIdx.x % SIDE;
    int ty = threadIdx.x / SIDE;
#pragma unroll
    for (int i = 0; i < TQ * TK; i++)
        r.score[i / TK][i % TK] = 0.0f;
#pragma unroll 8
    for (int e = 0; e < W; e++) {
        float a[TQ];
        float b[TK];
        read_fours<TQ>(a, &m.q[e][ty * TQ]);
        read_fours<TK>(b, &m.k[e][tx * TK]);
#pragma unroll
        for (int i = 0; i < TQ * TK; i++)
            r.score[i / TK][i % TK] += a[i / TK] * b[i % TK];
    }
}

/* o += share V for this thread's rows and columns. */
template <int W>
static __device__ __forceinline__ void mix(fused_rows<W> &r,
                                           const fused_memory<W> &m)
{
    constexpr int TW = W / SIDE;
    int tx = threadIdx.x % SIDE;
    int ty = threadIdx.x / SIDE;
#pragma unroll 8
    for (int e = 0; e < K; e++) {
        float a[TQ];
        float b[TW];
        read_fours<TQ>(a, &m.share[e][ty * TQ]);
        read_fours<TW>(b, &m.v[e][tx * 4], 64);
#pragma unroll
        for (int i = 0; i < TQ * TW; i++)
            r.o[i / TW][i % TW] += a[i / TW] * b[i % TW];
    }
}

/* The scores of a tile into the running softmax, row by row; what the row had
 * shrinks. Scores are in powers of 2. */
template <int W>
static __device__ __forceinline__ void advance(fused_rows<W> &r)
{
#pragma unroll
    for (int i = 0; i < TQ; i++) {
        float top = r.top[i];
#pragma unroll
        for (int j = 0; j < TK; j++)
            top = fmaxf(top, r.score[i][j]);
#pragma unroll
        for (int d = 1; d < SIDE; d *= 2)
            top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
        float shrink = exp2_fast(r.top[i] - top);
        r.top[i] = top;
        r.sum[i] *= shrink;
#pragma unroll
        for (int j = 0; j < TK; j++) {
            r.score[i][j] = exp2_fast(r.score[i][j] - top);
            r.sum[i] += r.score[i][j];
        }
#pragma unroll
        for (int c = 0; c < W / SIDE; c++)
            r.o[i][c] *= shrink;
    }
}

template <int W, bool CAUSAL>
static __device__ __forceinline__ void hide(fused_rows<W> &r,
                                            const attention_tile &t, int key0)
{
    int row = t.q0 + threadIdx.x / SIDE * TQ;
    int key = key0 + threadIdx.x % SIDE * TK;
#pragma unroll
    for (int i = 0; i < TQ * TK; i++)
        if (key + i % TK >= t.keys || (CAUSAL && key + i % TK > row + i / TK))
            r.score[i / TK][i % TK] = -INFINITY;
}

template <int W>
static __device__ __forceinline__ void put_shares(fused_memory<W> &m,
                                                  const fused_rows<W> &r)
{
    int key = threadIdx.x % SIDE * TK;
    int row = threadIdx.x / SIDE * TQ;
#pragma unroll
    for (int j = 0; j < TK; j++)
#pragma unroll
        for (int i = 0; i < TQ; i += 4)
            *reinterpret_cast<float4 *>(&m.share[key + j][row + i]) =
                make_float4(r.score[i][j], r.score[i + 1][j], r.score[i + 2][j],
                            r.score[i + 3][j]);
    __syncwarp();
}

template <int W>
static __device__ __forceinline__ void store(float *out, const fused_rows<W> &r,
                                             const attention_tile &t,
                                             const attention_size &s)
{
#pragma unroll
    for (int i = 0; i < TQ; i++) {
        int row = t.q0 + threadIdx.x / SIDE * TQ + i;
        float sum = r.sum[i];
#pragma unroll
        for (int d = 1; d < SIDE; d *= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, d);
        float factor = 1.0f / sum;
#pragma unroll
        for (int c = 0; c < W / SIDE; c++) {
            int col = c / 4 * 64 + threadIdx.x % SIDE * 4 + c % 4;
            if (row < s.T && col < s.D)
                out[static_cast<int64_t>(row) * s.D + col] = r.o[i][c] * factor;
        }
    }
}

template <int W, bool CAUSAL>
static __global__ void __launch_bounds__(THREADS, W == 64 ? 2 : 1)
    attention_fused(float *out, const float *q, const float *k, const float *v,
                    attention_size s)
{
    extern __shared__ float4 attention_fused_memory[];
    fused_memory<W> &m =
        *reinterpret_cast<fused_memory<W> *>(attention_fused_memory);
    attention_tile t = attention_tile_of<CAUSAL>(s, Q, blockIdx.x);
    int64_t head = static_cast<int64_t>(t.head) * s.T * s.D;
    fused_rows<W> r;
#pragma unroll
    for (int i = 0; i < TQ; i++) {
        r.top[i] = -INFINITY;
        r.sum[i] = 0.0f;
#pragma unroll
        for (int c = 0; c < W / SIDE; c++)
            r.o[i][c] = 0.0f;
    }
    bring_turned<W, Q>(m.q, q + head, t.q0, s.scale, s);
    for (int key0 = 0; key0 < t.keys; key0 += K) {
        __syncthreads(); /* no thread reads the last tiles any more */
        bring_turned<W, K>(m.k, k + head, key0, 1.0f, s);
        bring<W>(m.v, v + head, key0, s);
        __syncthreads();
        scores<W>(r, m);
        if (key0 + K > t.keys || (CAUSAL && key0 + K > t.q0 + 1))
            hide<W, CAUSAL>(r, t, key0);
        advance<W>(r);
        put_shares<W>(m, r);
        mix<W>(r, m);
    }
    store<W>(out + head, r, t, s);
}

template <int W, bool CAUSAL>
static enum lab_status launch(const struct lab_call *call,
                              const attention_size &s)
{
    int bytes = static_cast<int>(sizeof(fused_memory<W>));
    enum lab_status st = lab_bench_take_shared(
        call, reinterpret_cast<const void *>(attention_fused<W, CAUSAL>),
        bytes);
    if (st)
        return st;
    attention_fused<W, CAUSAL>
        <<<attention_tiles(s, Q), THREADS, bytes, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
            s);
    return lab_launched("attention_fused");
}

template <bool CAUSAL> static enum lab_status run(const struct lab_call *call)
{
    attention_size s = {};
    enum lab_status st = attention_size_of(call, WIDEST, 4, &s);
    if (st)
        return st;
    return s.D <= 64 ? launch<64, CAUSAL>(call, s)
                     : launch<WIDEST, CAUSAL>(call, s);
}

enum lab_status lab_attention_fused(const struct lab_call *call)
{
    return run<false>(call);
}

enum lab_status lab_attention_causal_fused(const struct lab_call *call)
{
    return run<true>(call);
}
