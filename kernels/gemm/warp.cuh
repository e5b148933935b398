/* kernels/gemm/warp.cuh -- tiles of a block, of a warp and of a thread.
 *
 *   block  BM x BN of C        in shared memory, DEPTH deep
 *   warp   WM x WN of that     8 x 4 threads
 *   thread (WM / 8) x (WN / 4) of that, in squares of 4 x 4
 *
 * The 8 threads below each other in a warp read 8 x 4 numbers of A that lie
 * side by side, the 4 beside each other 4 x 4 numbers of B: a warp's loads meet
 * no bank twice, and the squares of a thread lie 32 rows or 16 columns apart. */
#pragma once
#include "gemm/gemm.cuh"

template <int BM_, int BN_, int DEPTH_, int WM_, int WN_> struct gemm_shape {
    enum {
        BM = BM_,
        BN = BN_,
        DEPTH = DEPTH_,
        WM = WM_,
        WN = WN_,
        TM = WM / 8, /* elements of a thread */
        TN = WN / 4,
        WARPS_ACROSS = BN / WN,
        THREADS = BM / WM * WARPS_ACROSS * 32,
        A_ROW = BM + 4, /* so that turning A meets no bank twice */
        B_ROW = BN,
        A_FOURS = BM * DEPTH / 4 / THREADS, /* loads of a thread a stage */
        B_FOURS = BN * DEPTH / 4 / THREADS
    };
    static_assert(A_FOURS * THREADS * 4 == BM * DEPTH, "A divides evenly");
    static_assert(B_FOURS * THREADS * 4 == BN * DEPTH, "B divides evenly");
};

/* The place of tile `tile`. Tiles are numbered in bands of 2,048 rows, so
 * that the blocks that run at the same time share what they read in L2. */
template <class S>
static __device__ __forceinline__ void gemm_place_tile(int64_t tile, int64_t M,
                                                       int64_t N, int64_t *row0,
                                                       int64_t *col0)
{
    const int64_t band = 2048 / S::BM;
    int64_t down = (M + S::BM - 1) / S::BM;
    int64_t across = (N + S::BN - 1) / S::BN;
    int64_t first = tile / (band * across) * band;
    int64_t rows = down - first < band ? down - first : band;
    int64_t at = tile - first * across;
    *row0 = (first + at % rows) * S::BM;
    *col0 = at / rows * S::BN;
}

/* The place of the tile of this block, one block a tile. */
template <class S>
static __device__ __forceinline__ void gemm_place(int64_t M, int64_t N,
                                                  int64_t *row0, int64_t *col0)
{
    gemm_place_tile<S>(blockIdx.x, M, N, row0, col0);
}

/* This thread's part of a stage, from memory into registers. */
template <class S, bool FOURS> struct gemm_fetch {
    float4 a[S::A_FOURS];
    float4 b[S::B_FOURS];

    __device__ __forceinline__ void load(const float *A, const float *B,
                                         int64_t row0, int64_t col0, int64_t k0,
                                         int64_t M, int64_t N, int64_t K)
    {
#pragma unroll
        for (int i = 0; i < S::A_FOURS; i++) {
            int e = threadIdx.x + i * S::THREADS;
            int64_t row = row0 + e / (S::DEPTH / 4);
            a[i] = gemm_load4<FOURS>(A + row * K, row < M,
                                     k0 + e % (S::DEPTH / 4) * 4, K);
        }
#pragma unroll
        for (int i = 0; i < S::B_FOURS; i++) {
            int e = threadIdx.x + i * S::THREADS;
            int64_t k = k0 + e / (S::BN / 4);
            b[i] = gemm_load4<FOURS>(B + k * N, k < K,
                                     col0 + e % (S::BN / 4) * 4, N);
        }
    }

    __device__ __forceinline__ void store(float (*as)[S::A_ROW],
                                          float (*bs)[S::B_ROW]) const
    {
#pragma unroll
        for (int i = 0; i < S::A_FOURS; i++) {
            int e = threadIdx.x + i * S::THREADS;
            int row = e / (S::DEPTH / 4);
            int k = e % (S::DEPTH / 4) * 4;
            as[k][row] = a[i].x;
            as[k + 1][row] = a[i].y;
            as[k + 2][row] = a[i].z;
            as[k + 3][row] = a[i].w;
        }
#pragma unroll
        for (int i = 0; i < S::B_FOURS; i++) {
            int e = threadIdx.x + i * S::THREADS;
            *reinterpret_cast<float4 *>(
                &bs[e / (S::BN / 4)][e % (S::BN / 4) * 4]) = b[i];
        }
    }
};

/* The sums of a thread and their place. */
template <class S> struct gemm_sums {
    float sum[S::TM][S::TN];
    int row; /* of the first square, in the block's tile */
    int col;

    __device__ __forceinline__ void start()
    {
        int warp = threadIdx.x / 32;
        int lane = threadIdx.x % 32;
        row = warp / S::WARPS_ACROSS * S::WM + lane / 4 * 4;
        col = warp % S::WARPS_ACROSS * S::WN + lane % 4 * 4;
#pragma unroll
        for (int u = 0; u < S::TM; u++)
#pragma unroll
            for (int v = 0; v < S::TN; v++)
                sum[u][v] = 0.0f;
    }

    __device__ __forceinline__ void add_stage(const float (*as)[S::A_ROW],
                                              const float (*bs)[S::B_ROW])
    {
#pragma unroll
        for (int k = 0; k < S::DEPTH; k++) {
            float a[S::TM];
            float b[S::TN];
#pragma unroll
            for (int u = 0; u < S::TM; u += 4)
                gemm_read4(a + u, &as[k][row + u * 8]);
#pragma unroll
            for (int v = 0; v < S::TN; v += 4)
                gemm_read4(b + v, &bs[k][col + v * 4]);
#pragma unroll
            for (int u = 0; u < S::TM; u++)
#pragma unroll
                for (int v = 0; v < S::TN; v++)
                    sum[u][v] += a[u] * b[v];
        }
    }

    template <bool FOURS>
    __device__ __forceinline__ void write(float *c, int64_t row0, int64_t col0,
                                          int64_t M, int64_t N) const
    {
#pragma unroll
        for (int u = 0; u < S::TM; u++) {
            int64_t at = row0 + row + u / 4 * 32 + u % 4;
            if (at >= M)
                continue;
#pragma unroll
            for (int v = 0; v < S::TN; v += 4)
                gemm_store4<FOURS>(c + at * N, col0 + col + v * 4, N,
                                   &sum[u][v]);
        }
    }
};
