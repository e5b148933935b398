/* kernels/transpose/fours.cu -- 16 bytes a load and a store, both ways.
 *
 * The idea: a thread reads four rows of four numbers, turns this square of 4 x
 * 4 in its registers and puts it into shared memory as four pieces of 16 bytes
 * of the result's rows. So every access, to memory and to shared memory, moves
 * 16 bytes, and 64 x 64 numbers take 16 instructions of a thread in the place
 * of 64. A piece's place in its row is turned by the row's number (q ^ row / 4):
 * what 8 threads read or write together lies in 32 different banks, without a
 * column of padding that would break the 16 bytes. Blocks go down the matrix as
 * in `down`.
 *
 * The price: sides that divide by four. Others go to `down`. */
#include "transpose/transpose.h"
#include "common/launch.cuh"

enum {
    SIDE = 64,
    PIECES = SIDE / 4, /* of 16 bytes, of a tile's row */
    THREADS = 256,
    TURNS = SIDE * PIECES / THREADS
};
static_assert(PIECES * PIECES == THREADS, "a thread has one square of 4 x 4");

/* The place of piece q in row `row` of the turned tile. */
static __device__ __forceinline__ int place(int row, int q)
{
    return row * PIECES + (q ^ (row / 4 % PIECES));
}

static __global__ void __launch_bounds__(THREADS)
    transpose_fours(float *y, const float *x, int64_t R, int64_t C)
{
    __shared__ float4 tile[SIDE * PIECES];
    const int64_t down = (R + SIDE - 1) / SIDE;
    const int64_t row0 = blockIdx.x % down * SIDE;
    const int64_t col0 = blockIdx.x / down * SIDE;
    const int row = threadIdx.x / PIECES; /* of squares, in the tile */
    const int col = threadIdx.x % PIECES;
    float4 v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int64_t r = row0 + row * 4 + i;
        int64_t c = col0 + col * 4;
        if (r < R && c < C)
            v[i] = *reinterpret_cast<const float4 *>(x + r * C + c);
    }
    tile[place(col * 4, row)] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
    tile[place(col * 4 + 1, row)] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
    tile[place(col * 4 + 2, row)] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
    tile[place(col * 4 + 3, row)] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TURNS; i++) {
        int at = row + i * (THREADS / PIECES); /* a row of the turned tile */
        int64_t r = row0 + col * 4;
        int64_t c = col0 + at;
        if (r < R && c < C)
            *reinterpret_cast<float4 *>(y + c * R + r) = tile[place(at, col)];
    }
}

enum lab_status lab_transpose_fours(const struct lab_call *call)
{
    const int64_t R = call->in[0].dim[0];
    const int64_t C = call->in[0].dim[1];
    if (R % 4 != 0 || C % 4 != 0)
        return lab_transpose_down(call);
    int64_t tiles = (R + SIDE - 1) / SIDE * ((C + SIDE - 1) / SIDE);
    transpose_fours<<<lab_blocks(tiles, 1), THREADS, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), R, C);
    return lab_launched("transpose_fours");
}
