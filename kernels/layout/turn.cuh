/* kernels/layout/turn.cuh -- a batch of matrices, each turned.
 *
 * to[b, c, r] = from[b, r, c], from (batch, rows, cols). NCHW to NHWC is that
 * with an image's channels as rows and its pixels as columns; back is the same
 * with both exchanged. Tiles go through shared memory with rows one number
 * longer, as in the lab transpose: whole lines are read, and whole lines
 * written. */
#pragma once
#include "common/launch.cuh"

/* SIDE x SIDE numbers by 256 threads, SIDE SIDE / 256 each: all of a thread's
 * loads are on their way before the first is put down. */
template <typename T, int SIDE>
static __global__ void __launch_bounds__(LAB_BLOCK)
    layout_turn(T *to, const T *from, int64_t rows, int64_t cols)
{
    enum { DOWN = LAB_BLOCK / SIDE, EACH = SIDE / DOWN };
    __shared__ T tile[SIDE][SIDE + 1];
    int64_t across = (cols + SIDE - 1) / SIDE;
    int64_t down = (rows + SIDE - 1) / SIDE;
    int64_t b = blockIdx.x / (across * down);
    int64_t row0 = blockIdx.x / across % down * SIDE;
    int64_t col0 = blockIdx.x % across * SIDE;
    int x = threadIdx.x % SIDE;
    int y = threadIdx.x / SIDE;
    T v[EACH];
    from += b * rows * cols + row0 * cols + col0;
    to += b * rows * cols + col0 * rows + row0;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        int i = y + j * DOWN;
        if (row0 + i < rows && col0 + x < cols)
            v[j] = from[i * cols + x];
    }
#pragma unroll
    for (int j = 0; j < EACH; j++)
        tile[y + j * DOWN][x] = v[j];
    __syncthreads(); /* the tile is there */
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        int i = y + j * DOWN;
        if (col0 + i < cols && row0 + x < rows)
            to[i * rows + x] = tile[x][i];
    }
}

template <int SIDE, typename T>
static inline enum lab_status lab_turn_in(const struct lab_call *call, T *to,
                                          const T *from, int64_t batch,
                                          int64_t rows, int64_t cols)
{
    int64_t tiles = (rows + SIDE - 1) / SIDE * ((cols + SIDE - 1) / SIDE);
    layout_turn<T, SIDE>
        <<<lab_blocks(batch * tiles, 1), LAB_BLOCK, 0, lab_stream(call)>>>(
            to, from, rows, cols);
    return lab_launched("layout_turn");
}

/* Larger tiles where they are full. */
template <typename T>
static inline enum lab_status lab_turn(const struct lab_call *call, T *to,
                                       const T *from, int64_t batch,
                                       int64_t rows, int64_t cols)
{
    return rows >= 64 && cols >= 64
               ? lab_turn_in<64>(call, to, from, batch, rows, cols)
               : lab_turn_in<32>(call, to, from, batch, rows, cols);
}
