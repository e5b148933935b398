/* kernels/attention/attention.cuh -- what the CUDA variants share: the size of
 * a call, the order of the tiles, 2^x.
 *
 * Softmax is computed with powers of 2, which the hardware has:
 *     exp(s / sqrt(D) - m) = 2^(s c - m'),  c = log2(e) / sqrt(D)
 * so that scaling costs nothing: it is part of one multiply-add. */
#pragma once
#include <limits.h>
#include <math.h>
#include "attention/operation.h"
#include "common/kernel.h"
#include "common/launch.cuh"

struct attention_size {
    int heads; /* B H: a head knows nothing of another */
    int T;
    int D;
    float scale; /* c above */
    int group;   /* causal: heads with tiles that are done together */
};

/* The size of a call for kernels that take rows of at most `widest` numbers, a
 * multiple of `step`. */
static inline enum lab_status attention_size_of(const struct lab_call *call,
                                                int widest, int step,
                                                attention_size *out)
{
    const struct lab_view *q = &call->in[0];
    int64_t heads = q->dim[0] * q->dim[1];
    int64_t T = q->dim[2];
    int64_t D = q->dim[3];
    if (D > widest || D % step)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.head-size] it takes heads of at most %d "
                        "numbers, a multiple of "
                        "%d; D is %lld",
                        widest, step, static_cast<long long>(D));
    if (T > INT_MAX / 4 || heads > INT_MAX || heads * (T / 16 + 1) > INT_MAX)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[launch.head-tiles] more tiles than a grid of 2^31 blocks has");
    /* Keys and values of a group: half of the 50 MB of L2 of an H200. */
    int64_t each = 2 * T * D * static_cast<int64_t>(lab_dtype_bytes(q->dtype));
    int64_t group = (24 << 20) / each;
    group = group < 1 ? 1 : group > heads ? heads : group;
    *out = {
        static_cast<int>(heads), static_cast<int>(T), static_cast<int>(D),
        static_cast<float>(1.4426950408889634 / sqrt(static_cast<double>(D))),
        static_cast<int>(group)};
    return LAB_OK;
}

/* A block's queries, q0 .. q0+rows-1 of a head, and the keys that they see. */
struct attention_tile {
    int head;
    int q0;
    int keys;
};

static inline __host__ __device__ int attention_tiles(const attention_size &s,
                                                      int rows)
{
    return s.heads * ((s.T + rows - 1) / rows);
}

/* Tile `i` of all. Without a mask head by head: blocks that run together share
 * keys in L2. With one a tile's work grows with q0: heads go in groups that fit
 * L2 together, and in a group the longest tiles come first, so that no long one
 * is left for the end. */
template <bool CAUSAL>
static __device__ __forceinline__ attention_tile
attention_tile_of(const attention_size &s, int rows, int i)
{
    int tiles = (s.T + rows - 1) / rows;
    if (!CAUSAL)
        return {i / tiles, i % tiles * rows, s.T};
    int first = i / (tiles * s.group) * s.group;
    int group = min(s.group, s.heads - first);
    int at = i - first * tiles;
    int q0 = (tiles - 1 - at / group) * rows;
    return {first + at % group, q0, min(s.T, q0 + rows)};
}

/* 2^x in one instruction; 2^-inf is 0. Error at most 2 units in the last place
 * of fp32. */
static __device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* ---- scores in memory: unfused.cu and cublas.cu ---- */

/* The scores (heads, T, T), fp32, that lab_attention_scores_make() has made;
 * NULL: it has not, or for a smaller size. */
float *attention_scores(const attention_size &s);
/* Scores times `scale`, as powers of 2, become shares, row by row; queued. */
enum lab_status attention_softmax(const struct lab_call *call, float *scores,
                                  const attention_size &s, float scale,
                                  bool causal);
