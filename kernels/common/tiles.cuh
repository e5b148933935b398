/* kernels/common/tiles.cuh -- tiles of a matrix as the blocks of a grid.
 *
 * They are numbered in x: in y and in z a grid has at most 65,535 blocks, and a
 * batch of a million rows is not rare. */
#pragma once
#include "common/launch.cuh"

/* Blocks for the tiles of `down` x `across` elements in a matrix of M x N. */
static inline unsigned lab_tiles(int64_t M, int64_t N, int down, int across)
{
    return lab_blocks((M + down - 1) / down * ((N + across - 1) / across), 1);
}

/* The first row and column of this block's tile of SIDE x SIDE, in a matrix with
 * `cols` columns: tiles are numbered row by row. */
template <int SIDE>
static __device__ __forceinline__ void
lab_tile_start(int64_t cols, int64_t *row0, int64_t *col0)
{
    int64_t across = (cols + SIDE - 1) / SIDE;
    *row0 = blockIdx.x / across * SIDE;
    *col0 = blockIdx.x % across * SIDE;
}
