/* kernels/labs/transpose/fours.cu -- 16 bytes a load and a store, both ways.
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
 * The price: rows that start on 16 bytes. Where a side does not divide by four,
 * a row starts anywhere (transpose_uneven): the whole pieces of 16 bytes that
 * cover a tile's row are read, and put into shared memory as numbers, at the same
 * distance from 16 bytes as in memory. Of the result's rows the pieces that lie
 * whole in the tile are written at once, the numbers before and behind them one
 * by one. A tile that starts off 16 bytes goes to `down`. */
#include "labs/transpose/pieces.h"
#include "labs/transpose/transpose.h"
#include "vector.cuh"

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

/* Numbers from row to row of the tile: odd, so that a column meets all banks, and
 * with room for a row that starts 3 behind 16 bytes. */
enum { PITCH = SIDE + 9, LINES = THREADS / 8 };

static __global__ void __launch_bounds__(THREADS)
    transpose_uneven(float *y, const float *x, int64_t R, int64_t C)
{
    __shared__ float tile[SIDE * PITCH];
    const int64_t down = (R + SIDE - 1) / SIDE;
    const int64_t row0 = blockIdx.x % down * SIDE;
    const int64_t col0 = blockIdx.x / down * SIDE;
    const int rows = static_cast<int>(min(R - row0, (int64_t)SIDE));
    const int cols = static_cast<int>(min(C - col0, (int64_t)SIDE));
    const int lane = threadIdx.x % 8;
    for (int row = threadIdx.x / 8; row < rows; row += LINES) {
        const int64_t begin = (row0 + row) * C + col0;
        const struct lab_pieces p = lab_pieces_of(begin, cols);
        for (int q = lane; q < p.count; q += 8) {
            const int64_t at = p.first + 4 * q;
            float v[4] = {};
            if (at + 4 <= R * C) {
                float4 f = *reinterpret_cast<const float4 *>(x + at);
                v[0] = f.x;
                v[1] = f.y;
                v[2] = f.z;
                v[3] = f.w;
            } else {
                for (int i = 0; i < 4 && at + i < R * C; i++)
                    v[i] = x[at + i];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
                tile[row * PITCH + 4 * q + i] = v[i];
        }
    }
    __syncthreads();
    /* Number (row, col) of the tile: behind what its row has in front. */
    auto number = [&](int row, int col) {
        return tile[row * PITCH + lab_pieces_before((row0 + row) * C + col0) +
                    col];
    };
    for (int col = threadIdx.x / 8; col < cols; col += LINES) {
        const int64_t begin = (col0 + col) * R + row0;
        const struct lab_pieces p = lab_pieces_of(begin, rows);
        for (int q = lane; q < p.count; q += 8) {
            const int row = 4 * q - p.before;
            float *to = y + p.first + 4 * q;
            if (row >= 0 && row + 4 <= rows) {
                *reinterpret_cast<float4 *>(to) =
                    make_float4(number(row, col), number(row + 1, col),
                                number(row + 2, col), number(row + 3, col));
                continue;
            }
            for (int i = 0; i < 4; i++) {
                if (row + i >= 0 && row + i < rows)
                    to[i] = number(row + i, col);
            }
        }
    }
}

enum lab_status lab_transpose_fours(const struct lab_call *call)
{
    const int64_t R = call->in[0].dim[0];
    const int64_t C = call->in[0].dim[1];
    if (!vector_fits(call))
        return lab_transpose_down(call);
    int64_t tiles = (R + SIDE - 1) / SIDE * ((C + SIDE - 1) / SIDE);
    if (R % 4 != 0 || C % 4 != 0) {
        transpose_uneven<<<lab_blocks(tiles, 1), THREADS, 0,
                           lab_stream(call)>>>(lab_out(call, 0),
                                               lab_in(call, 0), R, C);
        return lab_launched("transpose_uneven");
    }
    transpose_fours<<<lab_blocks(tiles, 1), THREADS, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), R, C);
    return lab_launched("transpose_fours");
}
