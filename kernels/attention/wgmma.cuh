/* kernels/attention/wgmma.cuh -- what a warpgroup of 128 threads does with
 * its 64 queries: scores, softmax, mixing. See wgmma_sm90.cu for the whole. */
#pragma once
#include "attention/attention.cuh"
#include "common/sm90.cuh"

/* ---- the warpgroup's two products: scores, and the mixing with its left
 * matrix in registers ---- */

#define D4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(d, i) D4(d, i), D4(d, i + 4), D4(d, i + 8), D4(d, i + 12)
#define D32(d) D16(d, 0), D16(d, 16)
#define D64(d) D16(d, 0), D16(d, 16), D16(d, 32), D16(d, 48)
#define REGISTERS_32                                                           \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "   \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "   \
    "%30, %31"
#define REGISTERS_64                                                           \
    REGISTERS_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, "   \
                 "%43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "     \
                 "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

/* Both have one type in, fp32 sums. Thread 32 w + l of the 128 has, of the
 * result (64, N), rows 16 w + l / 4 and 8 below it, and of every 8 columns two:
 *     d[4 i + 2 h + c]  row 16 w + l/4 + 8 h,  column 8 i + 2 (l % 4) + c
 * which is also how it holds the columns 16 k .. 16 k + 15 of a left matrix:
 * a[j] is the pair (d[8 k + 2 j], d[8 k + 2 j + 1]). */
#define WGMMA(TYPE, NAME)                                                      \
    /* d (64, 128) = A (64, 16) B (128, 16)^T, or += where `add` is not 0 */   \
    static __device__ __forceinline__ void wgmma_scores(                       \
        float(&d)[64], uint64_t a, uint64_t b, int add, TYPE)                  \
    {                                                                          \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"              \
                     "wgmma.mma_async.sync.aligned.m64n128k16.f32." NAME       \
                     " {" REGISTERS_64 "}, %64, %65, p, 1, 1, 0, 0;\n}\n"      \
                     : D64(d)                                                  \
                     : "l"(a), "l"(b), "r"(add));                              \
    }                                                                          \
    /* d (64, 64) += A (64, 16) B (16, 64), A in registers */                  \
    static __device__ __forceinline__ void wgmma_mix(                          \
        float(&d)[32], const uint32_t *a, uint64_t b, TYPE)                    \
    {                                                                          \
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." NAME        \
                     " {" REGISTERS_32 "}, {%32, %33, %34, %35}, %36, 1, 1, "  \
                     "1, 1;\n"                                                 \
                     : D32(d)                                                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));    \
    }                                                                          \
    /* d (64, 128) += A (64, 16) B (16, 128) */                                \
    static __device__ __forceinline__ void wgmma_mix(                          \
        float(&d)[64], const uint32_t *a, uint64_t b, TYPE)                    \
    {                                                                          \
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." NAME       \
                     " {" REGISTERS_64 "}, {%64, %65, %66, %67}, %68, 1, 1, "  \
                     "1, 1;\n"                                                 \
                     : D64(d)                                                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));    \
    }
WGMMA(__nv_bfloat16, "bf16.bf16")
WGMMA(__half, "f16.f16")
#undef WGMMA

/* ---- its queries ---- */

/* WIDTH: numbers of a row that are computed (64 or 128; TMA fills what D lacks
 * with zeros). GROUPS warpgroups of 64 queries each; KEYS keys at a time;
 * STAGES tiles of keys, and as many of values, in shared memory. */
template <class TYPE, int WIDTH_, int GROUPS_, int KEYS_, int STAGES_,
          bool CAUSAL_>
struct wgmma_config {
    using type = TYPE;
    static constexpr int WIDTH = WIDTH_;
    static constexpr int GROUPS = GROUPS_;
    static constexpr int KEYS = KEYS_;
    static constexpr int STAGES = STAGES_;
    static constexpr bool CAUSAL = CAUSAL_;
    static constexpr int ROWS = 64 * GROUPS;
    static constexpr int THREADS = 128 * (GROUPS + 1);
    /* A panel: 64 columns, rows of 128 bytes. */
    static constexpr int PANELS = WIDTH / 64;
    static constexpr int Q_PANEL = ROWS * 128;
    static constexpr int KV_PANEL = KEYS * 128;
    static constexpr int Q_BYTES = PANELS * Q_PANEL;
    static constexpr int KV_BYTES = PANELS * KV_PANEL;
    /* Tiles on 1024 bytes, as the swizzle wants them; then the barriers. */
    static constexpr int BYTES = 1024 + Q_BYTES + 2 * STAGES * KV_BYTES + 256;
    /* Registers a thread: the one that only loads gives its own away. */
    static constexpr int LOADER_REGISTERS = GROUPS == 3 ? 32 : 24;
    static constexpr int WORKER_REGISTERS = GROUPS == 3 ? 160 : 240;
};

/* What a thread holds of its two rows (WGMMA has the layout). */
template <class C> struct wgmma_rows {
    float o[C::WIDTH / 2];       /* the result so far, not yet divided */
    float score[C::KEYS / 2];    /* of the newest keys */
    uint32_t share[C::KEYS / 4]; /* of the keys before: 16 bits each */
    float top[2];                /* largest score so far */
    float sum[2];                /* of this thread's shares so far */
};

/* Where a matrix lies: rows of 128 bytes, 8 of them (1024 bytes) after 8;
 * `panel` bytes from 64 columns to the next 64, where it is read across. */
static __device__ __forceinline__ uint64_t matrix(const void *p, int panel)
{
    return wgmma_operand(p, panel, 1024);
}

/* score = Q K^T, queued. */
template <class C>
static __device__ __forceinline__ void
scores_start(wgmma_rows<C> &w, const uint8_t *q, const uint8_t *k)
{
#pragma unroll
    for (int p = 0; p < C::PANELS; p++) {
        uint64_t a = matrix(q + p * C::Q_PANEL, 16);
        uint64_t b = matrix(k + p * C::KV_PANEL, 16);
#pragma unroll
        for (int i = 0; i < 4; i++) /* 16 columns are 32 bytes */
            wgmma_scores(w.score, a + 2 * i, b + 2 * i, p + i > 0,
                         typename C::type());
    }
    wgmma_commit();
}

/* o += share V, queued. */
template <class C>
static __device__ __forceinline__ void mix_start(wgmma_rows<C> &w,
                                                 const uint8_t *v)
{
    uint64_t b = matrix(v, C::KV_PANEL);
#pragma unroll
    for (int i = 0; i < C::KEYS / 16; i++) /* 16 rows are 2048 bytes */
        wgmma_mix(w.o, &w.share[4 * i], b + 128 * i, typename C::type());
    wgmma_commit();
}

/* Scores of keys that the row does not see become -inf. */
template <class C>
static __device__ __forceinline__ void hide(wgmma_rows<C> &w, int T, int row,
                                            int key0)
{
    int key = key0 + 2 * (threadIdx.x % 4);
#pragma unroll
    for (int i = 0; i < C::KEYS / 2; i++) {
        int last = C::CAUSAL ? min(row + 4 * (i & 2), T - 1) : T - 1;
        if (key + 8 * (i / 4) + (i & 1) > last)
            w.score[i] = -INFINITY;
    }
}

/* The larger of row h's largest score so far and those of the new keys: over
 * this thread's, then over the four threads that share the row. */
template <class C>
static __device__ __forceinline__ float largest(const wgmma_rows<C> &w, int h)
{
    float a = fmaxf(w.score[2 * h], w.score[2 * h + 1]);
    float b = fmaxf(w.score[4 + 2 * h], w.score[5 + 2 * h]);
#pragma unroll
    for (int i = 8 + 2 * h; i < C::KEYS / 2; i += 8) {
        a = fmaxf(a, fmaxf(w.score[i], w.score[i + 1]));
        b = fmaxf(b, fmaxf(w.score[i + 4], w.score[i + 5]));
    }
    a = fmaxf(a, b);
    a = fmaxf(a, __shfl_xor_sync(0xffffffffu, a, 1));
    a = fmaxf(a, __shfl_xor_sync(0xffffffffu, a, 2));
    return fmaxf(a, w.top[h]);
}

/* score = 2^(score - top), with a new top; *shrink is what everything that was
 * added before is to be multiplied by. Keys in ascending order: every row sees
 * key 0, so a row's top is never -inf after its first keys. */
template <class C>
static __device__ __forceinline__ void advance(wgmma_rows<C> &w, float scale,
                                               float (&shrink)[2])
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float top = largest(w, h);
        float even = 0.0f;
        float odd = 0.0f;
        shrink[h] = exp2_fast((w.top[h] - top) * scale);
        w.top[h] = top;
        top *= scale;
#pragma unroll
        for (int i = 2 * h; i < C::KEYS / 2; i += 4) {
            w.score[i] = exp2_fast(fmaf(w.score[i], scale, -top));
            w.score[i + 1] = exp2_fast(fmaf(w.score[i + 1], scale, -top));
            even += w.score[i];
            odd += w.score[i + 1];
        }
        w.sum[h] = w.sum[h] * shrink[h] + (even + odd);
    }
}

/* The scores, by now shares, become the left matrix of the next mixing. */
template <class C>
static __device__ __forceinline__ void pack_shares(wgmma_rows<C> &w)
{
#pragma unroll
    for (int i = 0; i < C::KEYS / 4; i++)
        w.share[i] =
            pack(w.score[2 * i], w.score[2 * i + 1], typename C::type());
}

template <class C>
static __device__ __forceinline__ void shrink_result(wgmma_rows<C> &w,
                                                     const float (&shrink)[2])
{
#pragma unroll
    for (int i = 0; i < C::WIDTH / 2; i++)
        w.o[i] *= shrink[i >> 1 & 1];
}

/* Divides by the row's sum and writes. */
template <class C>
static __device__ __forceinline__ void
store_rows(const wgmma_rows<C> &w, typename C::type *out,
           const attention_size &s, int head, int row0)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = w.sum[h];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        float factor = 1.0f / sum;
        int row = row0 + 8 * h;
        if (row >= s.T)
            continue;
        typename C::type *to =
            out + (static_cast<int64_t>(head) * s.T + row) * s.D;
#pragma unroll
        for (int i = 0; i < C::WIDTH / 8; i++) {
            int col = 8 * i + 2 * (threadIdx.x % 4);
            const float *o = &w.o[4 * i + 2 * h];
            if (col < s.D)
                *reinterpret_cast<uint32_t *>(to + col) =
                    pack(o[0] * factor, o[1] * factor, typename C::type());
        }
    }
}
