/* kernels/dense/dense_tile.cuh -- the inner product of the tiled dense kernels.
 *
 * C (rows, cols) = A (rows, depth) B (depth, cols). A block of 32 x 32 threads
 * makes a tile of 32 x 32 of C, and walks the depth 32 at a time:
 *
 *            B  . . [ bs ] .        all threads together copy one tile of A
 *                    |              and one of B into shared memory, wait for
 *     A   .          v              each other, and then every thread reads
 *   [as] -> . . . [ tile ] .        one row of `as` and one column of `bs`
 *     .                             from there
 *
 * A number of A or B is fetched from global memory once for the whole tile, not
 * once for every thread that needs it: 32 times fewer bytes. At the edges the
 * tiles are filled up with zeros, which add nothing.
 *
 * A factor may lie in memory transposed (x^T, W^T); neighbouring threads tx
 * always read neighbouring addresses, and the tile is turned on its way into
 * shared memory. Its rows are 33 long so that turning it does not send a whole
 * warp to one of the 32 banks. */
#pragma once
#include "common/tiles.cuh"

enum { DENSE_TILE = 32 };

/* out[i][k] = matrix(first + i, k0 + k), zero outside (limit, depth). The
 * matrix lies as (limit, depth), or as (depth, limit) when TRANSPOSED. */
template <bool TRANSPOSED>
static __device__ void dense_load_tile(float out[DENSE_TILE][DENSE_TILE + 1],
                                       const float *matrix, int64_t first,
                                       int64_t limit, int64_t k0, int64_t depth)
{
    int i = TRANSPOSED ? threadIdx.x : threadIdx.y;
    int k = TRANSPOSED ? threadIdx.y : threadIdx.x;
    int64_t at = TRANSPOSED ? (k0 + k) * limit + first + i
                            : (first + i) * depth + k0 + k;
    bool inside = first + i < limit && k0 + k < depth;
    out[i][k] = inside ? matrix[at] : 0.0f;
}

/* C(row0 + ty, col0 + tx). `a` lies as (rows, depth), or as (depth, rows) when
 * TA; `b` as (depth, cols), or as (cols, depth) when TB. Called by the whole
 * block. */
template <bool TA, bool TB>
static __device__ float
dense_tile_element(const float *a, const float *b, int64_t rows, int64_t cols,
                   int64_t depth, int64_t row0, int64_t col0)
{
    __shared__ float as[DENSE_TILE][DENSE_TILE + 1]; /* as[row][k] */
    __shared__ float bs[DENSE_TILE][DENSE_TILE + 1]; /* bs[col][k] */
    float sum = 0.0f;
    for (int64_t k0 = 0; k0 < depth; k0 += DENSE_TILE) {
        dense_load_tile<TA>(as, a, row0, rows, k0, depth);
        dense_load_tile<!TB>(bs, b, col0, cols, k0, depth);
        __syncthreads(); /* both tiles are there */
        for (int k = 0; k < DENSE_TILE; k++)
            sum += as[threadIdx.y][k] * bs[threadIdx.x][k];
        __syncthreads(); /* no thread needs them any more */
    }
    return sum;
}
