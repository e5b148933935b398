/* kernels/labs/layout/turn.cuh -- a batch of matrices, each turned.
 *
 * to[b, c, r] = from[b, r, c], from (batch, rows, cols). NCHW to NHWC is that
 * with an image's channels as rows and its pixels as columns; back is the same
 * with both exchanged. Tiles of 32 x 32 go through shared memory with rows of
 * 33, as in the lab transpose: whole lines are read, and whole lines written. */
#pragma once
#include "launch.cuh"

enum { TURN_SIDE = 32, TURN_DOWN = 8 };

template <typename T>
static __global__ void __launch_bounds__(TURN_SIDE *TURN_DOWN)
    layout_turn(T *to, const T *from, int64_t rows, int64_t cols)
{
    __shared__ T tile[TURN_SIDE][TURN_SIDE + 1];
    int64_t across = (cols + TURN_SIDE - 1) / TURN_SIDE;
    int64_t down = (rows + TURN_SIDE - 1) / TURN_SIDE;
    int64_t b = blockIdx.x / (across * down);
    int64_t row0 = blockIdx.x / across % down * TURN_SIDE;
    int64_t col0 = blockIdx.x % across * TURN_SIDE;
    from += b * rows * cols;
    to += b * rows * cols;
    for (int i = threadIdx.y; i < TURN_SIDE; i += TURN_DOWN) {
        if (row0 + i < rows && col0 + threadIdx.x < cols)
            tile[i][threadIdx.x] = from[(row0 + i) * cols + col0 + threadIdx.x];
    }
    __syncthreads(); /* the tile is there */
    for (int i = threadIdx.y; i < TURN_SIDE; i += TURN_DOWN) {
        if (col0 + i < cols && row0 + threadIdx.x < rows)
            to[(col0 + i) * rows + row0 + threadIdx.x] = tile[threadIdx.x][i];
    }
}

template <typename T>
static inline enum lab_status lab_turn(const struct lab_call *call, T *to,
                                       const T *from, int64_t batch,
                                       int64_t rows, int64_t cols)
{
    int64_t tiles = (rows + TURN_SIDE - 1) / TURN_SIDE *
                    ((cols + TURN_SIDE - 1) / TURN_SIDE);
    layout_turn<<<lab_blocks(batch * tiles, 1), dim3(TURN_SIDE, TURN_DOWN), 0,
                  lab_stream(call)>>>(to, from, rows, cols);
    return lab_launched("layout_turn");
}
