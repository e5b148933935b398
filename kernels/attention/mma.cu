/* kernels/attention/mma.cu -- attention on the tensor cores, after
 * FlashAttention-2 (T. Dao, arXiv:2307.08691).
 *
 * One idea: both products are done by mma.sync, 16 x 8 x 16 multiply-adds an
 * instruction, with factors of 16 bits and sums of 32. A warp owns whole rows of
 * scores, so that softmax needs no shared memory, and the registers in which a
 * product leaves its result are those in which the next one wants its left
 * matrix: shares never leave the warp.
 *
 * Thread -> element: 4 warps with 32 queries each (D up to 64), or 8 with 16.
 * Two left matrices of 16 rows share each right matrix that ldmatrix reads;
 * with one, shared memory would be the limit.
 * Shared memory: Q, and two tiles each of K and V: cp.async brings the next ones
 * while the tensor cores have these. Pieces of 16 bytes change places with their
 * row (piece_at), so that no read meets a bank twice.
 *
 * Price: shares are rounded to 16 bits. A warp waits for its own products:
 * its softmax runs beside the tensor cores only when another warp keeps them
 * busy, and mma.sync does not reach the rate that Hopper's wgmma has. D a
 * multiple of 8, at most 128. */
#include "attention/attention.cuh"
#include "common/half.cuh"
#include "labs/lab.cuh"

/* ---- what a warp does with its queries: scores, softmax, mixing, with mma.sync
 * m16n8k16 ---- */

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

/* ROWS rows of x from row0, by cp.async: past registers, no thread waits. */
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

/* ---- the kernel ---- */

template <class C> static __device__ __forceinline__ void begin(mma_rows<C> &w)
{
#pragma unroll
    for (int m = 0; m < C::TALL; m++) {
#pragma unroll
        for (int i = 0; i < C::WIDTH / 2; i++)
            w.o[m][i] = 0.0f;
        w.top[m][0] = w.top[m][1] = -INFINITY;
        w.sum[m][0] = w.sum[m][1] = 0.0f;
    }
}

/* Divides by the rows' sums and writes; `out` is the head's. */
template <class C>
static __device__ __forceinline__ void store(const mma_rows<C> &w,
                                             typename C::type *out,
                                             const attention_size &s, int row0)
{
#pragma unroll
    for (int i = 0; i < 2 * C::TALL; i++) {
        int m = i / 2;
        int h = i % 2;
        float sum = w.sum[m][h];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        float factor = 1.0f / sum;
        int row = row0 + 16 * m + 8 * h + threadIdx.x % 32 / 4;
        if (row >= s.T)
            continue;
        typename C::type *to = out + static_cast<int64_t>(row) * s.D;
#pragma unroll
        for (int c = 0; c < C::WIDTH / 8; c++) {
            int col = 8 * c + 2 * (threadIdx.x % 4);
            const float *o = &w.o[m][4 * c + 2 * h];
            if (col < s.D)
                *reinterpret_cast<uint32_t *>(to + col) =
                    pack(o[0] * factor, o[1] * factor, typename C::type());
        }
    }
}

template <class C, bool HIDE>
static __device__ __forceinline__ void
tile_of_keys(mma_rows<C> &w, uint32_t k, uint32_t v, const attention_size &s,
             int row0, int key0)
{
    scores<C>(w, k);
    if (HIDE)
        hide<C>(w, s.T, row0, key0);
#pragma unroll
    for (int i = 0; i < 2 * C::TALL; i++)
        advance<C>(w, i / 2, i % 2, s.scale);
    mix<C>(w, v);
}

template <class C>
static __global__ void __launch_bounds__(C::THREADS, C::BLOCKS)
    attention_mma(typename C::type *out, const typename C::type *q,
                  const typename C::type *k, const typename C::type *v,
                  attention_size s)
{
#if __CUDA_ARCH__ >= 800 /* older ones are refused before (variants.cu) */
    extern __shared__ __align__(128) uint8_t attention_mma_memory[];
    uint32_t q_at = shared_address(attention_mma_memory);
    uint32_t k_at = q_at + C::Q_BYTES;
    uint32_t v_at = k_at + 2 * C::KV_BYTES;
    attention_tile t = attention_tile_of<C::CAUSAL>(s, C::ROWS, blockIdx.x);
    int64_t head = static_cast<int64_t>(t.head) * s.T * s.D;
    int mine = threadIdx.x / 32 * 16 * C::TALL;
    int row0 = t.q0 + mine;
    /* Keys before this are seen by all of the warp's queries. */
    int open = C::CAUSAL ? min(t.keys, row0 + 1) : t.keys;
    mma_rows<C> w;
    begin<C>(w);
    bring<C, C::ROWS>(q_at, q + head, t.q0, s);
    bring<C, C::KEYS>(k_at, k + head, 0, s);
    bring<C, C::KEYS>(v_at, v + head, 0, s);
    copy_async_commit();
    for (int key0 = 0, now = 0; key0 < t.keys; key0 += C::KEYS, now ^= 1) {
        copy_async_wait<0>();
        __syncthreads(); /* this tile is there, and no thread reads the last */
        if (key0 == 0)
            read_queries<C>(w, q_at, mine);
        if (key0 + C::KEYS < t.keys) {
            int next = (now ^ 1) * C::KV_BYTES;
            bring<C, C::KEYS>(k_at + next, k + head, key0 + C::KEYS, s);
            bring<C, C::KEYS>(v_at + next, v + head, key0 + C::KEYS, s);
            copy_async_commit();
        }
        uint32_t k_now = k_at + now * C::KV_BYTES;
        uint32_t v_now = v_at + now * C::KV_BYTES;
        if (key0 + C::KEYS <= open)
            tile_of_keys<C, false>(w, k_now, v_now, s, row0, key0);
        else
            tile_of_keys<C, true>(w, k_now, v_now, s, row0, key0);
    }
    store<C>(w, out + head, s, row0);
#endif
}

template <class C>
static enum lab_status launch(const struct lab_call *call,
                              const attention_size &s)
{
    using type = typename C::type;
    enum lab_status st = lab_bench_take_shared(
        call, reinterpret_cast<const void *>(attention_mma<C>), C::BYTES);
    if (st)
        return st;
    attention_mma<C>
        <<<attention_tiles(s, C::ROWS), C::THREADS, C::BYTES,
           lab_stream(call)>>>(static_cast<type *>(call->out[0].data),
                               static_cast<const type *>(call->in[0].data),
                               static_cast<const type *>(call->in[1].data),
                               static_cast<const type *>(call->in[2].data), s);
    return lab_launched("attention_mma");
}

template <class TYPE, bool CAUSAL>
static enum lab_status choose(const struct lab_call *call)
{
    attention_size s = {};
    enum lab_status st = attention_size_of(call, 128, 8, &s);
    if (st)
        return st;
    return s.D <= 64
               ? launch<mma_config<TYPE, 64, 4, 2, 64, 2, CAUSAL>>(call, s)
               : launch<mma_config<TYPE, 128, 8, 1, 64, 1, CAUSAL>>(call, s);
}

enum lab_status lab_attention_mma(const struct lab_call *call)
{
    return call->in[0].dtype == LAB_F16 ? choose<__half, false>(call)
                                        : choose<__nv_bfloat16, false>(call);
}

enum lab_status lab_attention_causal_mma(const struct lab_call *call)
{
    return call->in[0].dtype == LAB_F16 ? choose<__half, true>(call)
                                        : choose<__nv_bfloat16, true>(call);
}
