/* kernels/attention/mma.cuh -- what a warp does with its queries: scores,
 * softmax, mixing, with mma.sync m16n8k16. See mma.cu for the whole. */
#pragma once
#include "attention/attention.cuh"
#include "common/half.cuh"

/* WIDTH: numbers of a row (64 or 128; what D lacks is zeros). WARPS warps with
 * 16 TALL queries each; KEYS keys at a time; BLOCKS of a multiprocessor. */
template <class TYPE, int WIDTH_, int WARPS_, int TALL_, int KEYS_, int BLOCKS_,
          bool CAUSAL_>
struct mma_config {
    using type = TYPE;
    static constexpr int WIDTH = WIDTH_;
    static constexpr int TALL = TALL_;
    static constexpr int KEYS = KEYS_;
    static constexpr int BLOCKS = BLOCKS_;
    static constexpr bool CAUSAL = CAUSAL_;
    static constexpr int ROWS = 16 * TALL * WARPS_;
    static constexpr int THREADS = 32 * WARPS_;
    static constexpr int ROW_BYTES = 2 * WIDTH;
    static constexpr int Q_BYTES = ROWS * ROW_BYTES;
    static constexpr int KV_BYTES = KEYS * ROW_BYTES;
    static constexpr int BYTES = Q_BYTES + 4 * KV_BYTES;
};

/* Lane l has, of a result (16, N), rows l / 4 and 8 below, and of every 8
 * columns two: d[4 i + 2 h + c] is row l/4 + 8 h, column 8 i + 2 (l % 4) + c. */
template <class C> struct mma_rows {
    uint32_t q[C::TALL][C::WIDTH / 16][4]; /* left matrices (16, 16) */
    float score[C::TALL][C::KEYS / 2];
    float o[C::TALL][C::WIDTH / 2];
    float top[C::TALL][2]; /* largest score so far */
    float sum[C::TALL][2]; /* of this lane's shares so far */
};

/* ---- instructions ---- */

/* d (16, 8) += A (16, 16) B (16, 8) */
#define MMA(TYPE, NAME)                                                        \
    static __device__ __forceinline__ void mma(                                \
        float *d, const uint32_t(&a)[4], uint32_t b0, uint32_t b1, TYPE)       \
    {                                                                          \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." NAME             \
                     ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "     \
                     "{%0, %1, %2, %3};"                                       \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])          \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),    \
                       "r"(b1));                                               \
    }
MMA(__nv_bfloat16, "bf16.bf16")
MMA(__half, "f16.f16")
#undef MMA

/* ---- tiles in shared memory ---- */

/* Byte offset of 16-byte piece `piece` of row `row`: pieces change places with
 * the row, so that the same piece of 8 rows lies in 8 different groups of
 * banks. */
template <class C>
static __device__ __forceinline__ uint32_t piece_at(int row, int piece)
{
    return row * C::ROW_BYTES + (piece ^ (row & 7)) * 16;
}

/* ROWS rows of x from row0, by cp.async: past registers, and nobody waits. */
template <class C, int ROWS>
static __device__ __forceinline__ void
bring(uint32_t to, const typename C::type *x, int row0, const attention_size &s)
{
    constexpr int PIECES = C::WIDTH / 8;
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * PIECES; i += C::THREADS) {
        int row = i / PIECES;
        int piece = i % PIECES;
        bool inside = row0 + row < s.T && piece * 8 < s.D;
        const void *from =
            inside ? x + static_cast<int64_t>(row0 + row) * s.D + piece * 8 : x;
        copy_async16(to + piece_at<C>(row, piece), from, inside);
    }
}

/* ---- a tile of keys ---- */

template <class C>
static __device__ __forceinline__ void read_queries(mma_rows<C> &w, uint32_t q,
                                                    int row0)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int m = 0; m < C::TALL; m++)
#pragma unroll
        for (int e = 0; e < C::WIDTH / 16; e++)
            load_matrix(w.q[m][e], q + piece_at<C>(row0 + 16 * m + lane % 16,
                                                   2 * e + lane / 16));
}

/* score = Q K^T. A right matrix (16, 8) holds 16 numbers of 8 keys: rows of K. */
template <class C>
static __device__ __forceinline__ void scores(mma_rows<C> &w, uint32_t k)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int m = 0; m < C::TALL; m++)
#pragma unroll
        for (int i = 0; i < C::KEYS / 2; i++)
            w.score[m][i] = 0.0f;
#pragma unroll
    for (int e = 0; e < C::WIDTH / 16; e++)
#pragma unroll
        for (int n = 0; n < C::KEYS / 16; n++) {
            uint32_t b[4];
            load_matrix(b, k + piece_at<C>(16 * n + lane / 16 * 8 + lane % 8,
                                           2 * e + lane / 8 % 2));
#pragma unroll
            for (int m = 0; m < C::TALL; m++) {
                mma(&w.score[m][8 * n], w.q[m][e], b[0], b[1],
                    typename C::type());
                mma(&w.score[m][8 * n + 4], w.q[m][e], b[2], b[3],
                    typename C::type());
            }
        }
}

/* o += shares V. The scores' layout is that of a left matrix: they only become
 * pairs of 16 bits. V is read across its rows. */
template <class C>
static __device__ __forceinline__ void mix(mma_rows<C> &w, uint32_t v)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int e = 0; e < C::KEYS / 16; e++) {
        uint32_t share[C::TALL][4];
#pragma unroll
        for (int i = 0; i < C::TALL * 4; i++) {
            const float *two = &w.score[i / 4][8 * e + i % 4 * 2];
            share[i / 4][i % 4] = pack(two[0], two[1], typename C::type());
        }
#pragma unroll
        for (int n = 0; n < C::WIDTH / 16; n++) {
            uint32_t b[4];
            load_matrix_turned(
                b, v + piece_at<C>(16 * e + lane % 16, 2 * n + lane / 16));
#pragma unroll
            for (int m = 0; m < C::TALL; m++) {
                mma(&w.o[m][8 * n], share[m], b[0], b[1], typename C::type());
                mma(&w.o[m][8 * n + 4], share[m], b[2], b[3],
                    typename C::type());
            }
        }
    }
}

/* Scores of keys that a row does not see become -inf. */
template <class C>
static __device__ __forceinline__ void hide(mma_rows<C> &w, int T, int row0,
                                            int key0)
{
    int key = key0 + 2 * (threadIdx.x % 4);
#pragma unroll
    for (int m = 0; m < C::TALL; m++) {
        int row = row0 + 16 * m + threadIdx.x % 32 / 4;
#pragma unroll
        for (int i = 0; i < C::KEYS / 2; i++) {
            int last = C::CAUSAL ? min(row + 4 * (i & 2), T - 1) : T - 1;
            if (key + 8 * (i / 4) + (i & 1) > last)
                w.score[m][i] = -INFINITY;
        }
    }
}

/* The scores into the running softmax: rows m and h of this lane. */
template <class C>
static __device__ __forceinline__ void advance(mma_rows<C> &w, int m, int h,
                                               float scale)
{
    float(&score)[C::KEYS / 2] = w.score[m];
    float top = w.top[m][h];
    float sum = 0.0f;
#pragma unroll
    for (int i = 2 * h; i < C::KEYS / 2; i += 4)
        top = fmaxf(top, fmaxf(score[i], score[i + 1]));
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
    float shrink = exp2_fast((w.top[m][h] - top) * scale);
    w.top[m][h] = top;
    top *= scale;
#pragma unroll
    for (int i = 2 * h; i < C::KEYS / 2; i += 4) {
        score[i] = exp2_fast(fmaf(score[i], scale, -top));
        score[i + 1] = exp2_fast(fmaf(score[i + 1], scale, -top));
        sum += score[i] + score[i + 1];
    }
    w.sum[m][h] = w.sum[m][h] * shrink + sum;
#pragma unroll
    for (int i = 2 * h; i < C::WIDTH / 2; i += 4) {
        w.o[m][i] *= shrink;
        w.o[m][i + 1] *= shrink;
    }
}
