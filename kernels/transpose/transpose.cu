/* kernels/transpose/transpose.cu -- y (C, R) = x (R, C) turned.
 *
 * plain   reads along a row, writes down a column: the 32 numbers of a warp go
 *         to 32 lines of memory, and each line of 32 bytes is written for 4.
 * tile    a tile of 32 x 32 is read along its rows, turned in shared memory and
 *         written along its rows: every access to memory is whole. Now a
 *         column of the tile lies in one bank, and 32 threads wait in a queue.
 * padded  rows of 33 numbers: a column goes through all 32 banks.
 * rows    the same with 32 x 8 threads, each for four rows: four loads are on
 *         their way at once, and a block has a quarter of the threads.
 * large   tiles of 64 x 64 and eight rows a thread.
 * down    the same, and the blocks that run together stand below each other:
 *         they write next to each other. Memory changes over to another place
 *         for reading more easily than for writing, and where rows start
 *         anywhere, two blocks share a piece of 32 bytes at each end of a row:
 *         now they write it at about the same time, and it goes to memory
 *         once. */
#include "transpose/transpose.h"
#include "common/tiles.cuh"

enum { SIDE = 32, LARGE = 64, FEW = 8 };

static unsigned tiles_of(const struct lab_view *x, int side)
{
    return lab_tiles(x->dim[0], x->dim[1], side, side);
}

static __global__ void transpose_plain(float *y, const float *x, int64_t R,
                                       int64_t C)
{
    int64_t across = (C + SIDE - 1) / SIDE;
    int64_t row = blockIdx.x / across * SIDE + threadIdx.y;
    int64_t col = blockIdx.x % across * SIDE + threadIdx.x;
    if (row < R && col < C)
        y[col * R + row] = x[row * C + col];
}

/* A tile is WIDE x WIDE, with HIGH threads below each other: each has WIDE /
 * HIGH of its rows. */
template <int WIDE, int HIGH, int PAD, bool DOWN>
static __global__ void __launch_bounds__(WIDE *HIGH)
    transpose_tile(float *y, const float *x, int64_t R, int64_t C)
{
    __shared__ float tile[WIDE][WIDE + PAD];
    int64_t across = (C + WIDE - 1) / WIDE;
    int64_t down = (R + WIDE - 1) / WIDE;
    int64_t row0 = (DOWN ? blockIdx.x % down : blockIdx.x / across) * WIDE;
    int64_t col0 = (DOWN ? blockIdx.x / down : blockIdx.x % across) * WIDE;
    const int tx = threadIdx.x;
#pragma unroll
    for (int i = 0; i < WIDE; i += HIGH) {
        int ty = threadIdx.y + i;
        if (row0 + ty < R && col0 + tx < C)
            tile[ty][tx] = x[(row0 + ty) * C + col0 + tx];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < WIDE; i += HIGH) {
        int ty = threadIdx.y + i;
        if (col0 + ty < C && row0 + tx < R)
            y[(col0 + ty) * R + row0 + tx] = tile[tx][ty];
    }
}

enum lab_status lab_transpose_plain(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    transpose_plain<<<tiles_of(x, SIDE), dim3(SIDE, SIDE), 0,
                      lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                          x->dim[0], x->dim[1]);
    return lab_launched("transpose_plain");
}

template <int WIDE, int HIGH, int PAD, bool DOWN = false>
static enum lab_status turn(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    transpose_tile<WIDE, HIGH, PAD, DOWN>
        <<<tiles_of(x, WIDE), dim3(WIDE, HIGH), 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), x->dim[0], x->dim[1]);
    return lab_launched("transpose_tile");
}

enum lab_status lab_transpose_tile(const struct lab_call *call)
{
    return turn<SIDE, SIDE, 0>(call);
}

enum lab_status lab_transpose_padded(const struct lab_call *call)
{
    return turn<SIDE, SIDE, 1>(call);
}

enum lab_status lab_transpose_rows(const struct lab_call *call)
{
    return turn<SIDE, FEW, 1>(call);
}

enum lab_status lab_transpose_large(const struct lab_call *call)
{
    return turn<LARGE, FEW, 1>(call);
}

enum lab_status lab_transpose_down(const struct lab_call *call)
{
    return turn<LARGE, FEW, 1, true>(call);
}
