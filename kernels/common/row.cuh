/* kernels/common/row.cuh -- what the variants share that work on the rows of a
 * matrix: sums and maxima over the threads of a row, and a row in registers.
 *
 * A row has THREADS threads: up to a warp, several rows share a block of 256;
 * from 64 on a block has one row. The order of the additions depends on the
 * shape alone: the same input gives the same bits. */
#pragma once
#include "common/kernel.h"
#include "common/launch.cuh"

struct row_add {
    static __device__ float join(float a, float b)
    {
        return a + b;
    }
    static constexpr float NONE = 0.0f;
};

struct row_larger {
    static __device__ float join(float a, float b)
    {
        return fmaxf(a, b);
    }
    static constexpr float NONE = -INFINITY;
};

/* `v` of all threads of a row, joined; all of them call it and have the result.
 * In a warp by shuffles; the warps' results meet in shared memory, where every
 * warp joins all of them again: one barrier less than handing the result back. */
template <typename OP, int THREADS>
static __device__ __forceinline__ float row_join(float v)
{
    constexpr int LANES = THREADS < 32 ? THREADS : 32;
#pragma unroll
    for (int distance = LANES / 2; distance > 0; distance /= 2)
        v = OP::join(v, __shfl_xor_sync(0xffffffffu, v, distance));
    if constexpr (THREADS > 32) {
        constexpr int WARPS = THREADS / 32;
        __shared__ float part[WARPS];
        __syncthreads(); /* the readers of an earlier call are done */
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = v;
        __syncthreads();
        v = threadIdx.x % 32 < WARPS ? part[threadIdx.x % 32] : OP::NONE;
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
            v = OP::join(v, __shfl_xor_sync(0xffffffffu, v, distance));
    }
    return v;
}

template <int THREADS> static __device__ __forceinline__ float row_sum(float v)
{
    return row_join<row_add, THREADS>(v);
}

template <int THREADS> static __device__ __forceinline__ float row_max(float v)
{
    return row_join<row_larger, THREADS>(v);
}

/* A row of at most 4 * THREADS * FOURS numbers, THREADS threads to it. */
template <int THREADS_, int FOURS_> struct row_shape {
    enum {
        THREADS = THREADS_,
        FOURS = FOURS_,
        EACH = 4 * FOURS_,
        BLOCK = THREADS_ > LAB_BLOCK ? THREADS_ : LAB_BLOCK,
        BLOCK_OF_ONE = THREADS_ > 32 ? THREADS_ : BLOCK,
        ROWS = BLOCK_OF_ONE / THREADS_ /* of a block */
    };

    static __device__ __forceinline__ int64_t row()
    {
        return static_cast<int64_t>(blockIdx.x) * ROWS + threadIdx.x / THREADS;
    }

    static __device__ __forceinline__ int lane()
    {
        return threadIdx.x % THREADS;
    }
};

/* Calls `use` with the smallest shape that a row of C numbers fits; false: it
 * fits none, and stays in memory. 32,768 numbers are 32 registers of each of
 * 1,024 threads. */
template <typename USE> static inline bool row_fits(int64_t C, USE &&use)
{
    if (C <= 128)
        use(row_shape<32, 1>{});
    else if (C <= 256)
        use(row_shape<32, 2>{});
    else if (C <= 512)
        use(row_shape<32, 4>{});
    else if (C <= 1024)
        use(row_shape<32, 8>{});
    else if (C <= 2048)
        use(row_shape<256, 2>{});
    else if (C <= 4096)
        use(row_shape<256, 4>{});
    else if (C <= 8192)
        use(row_shape<256, 8>{});
    else if (C <= 10240)
        use(row_shape<512, 5>{});
    else if (C <= 16384)
        use(row_shape<512, 8>{});
    else if (C <= 20480)
        use(row_shape<1024, 5>{});
    else if (C <= 32768)
        use(row_shape<1024, 8>{});
    else
        return false;
    return true;
}

/* Element lane + i * THREADS in v[i]; `outside` behind the row's end. */
template <typename SHAPE>
static __device__ __forceinline__ void
row_load(float (&v)[SHAPE::EACH], const float *x, int C, float outside)
{
#pragma unroll
    for (int i = 0; i < SHAPE::EACH; i++) {
        int c = SHAPE::lane() + i * SHAPE::THREADS;
        v[i] = c < C ? x[c] : outside;
    }
}

template <typename SHAPE>
static __device__ __forceinline__ void
row_store(float *y, const float (&v)[SHAPE::EACH], int C)
{
#pragma unroll
    for (int i = 0; i < SHAPE::EACH; i++) {
        int c = SHAPE::lane() + i * SHAPE::THREADS;
        if (c < C)
            y[c] = v[i];
    }
}

/* Four numbers in one load are possible when every row starts on 16 bytes. */
static inline bool row_has_fours(int64_t C)
{
    return C % 4 == 0;
}

/* Numbers 4 (lane + i * THREADS) and the three after it in v[4 i ...]. */
template <typename SHAPE>
static __device__ __forceinline__ void
row_load_fours(float (&v)[SHAPE::EACH], const float *x, int C, float outside)
{
#pragma unroll
    for (int i = 0; i < SHAPE::FOURS; i++) {
        int c = 4 * (SHAPE::lane() + i * SHAPE::THREADS);
        float4 f = make_float4(outside, outside, outside, outside);
        if (c < C)
            f = *reinterpret_cast<const float4 *>(x + c);
        v[4 * i] = f.x;
        v[4 * i + 1] = f.y;
        v[4 * i + 2] = f.z;
        v[4 * i + 3] = f.w;
    }
}

template <typename SHAPE>
static __device__ __forceinline__ void
row_store_fours(float *y, const float (&v)[SHAPE::EACH], int C)
{
#pragma unroll
    for (int i = 0; i < SHAPE::FOURS; i++) {
        int c = 4 * (SHAPE::lane() + i * SHAPE::THREADS);
        if (c < C)
            *reinterpret_cast<float4 *>(y + c) =
                make_float4(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
    }
}
