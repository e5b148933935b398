/* kernels/dense/dense_tiled.cu -- the second variant: tiles in shared memory.
 *
 * One kernel makes all three products of the layer; dense_tile.cuh has its
 * inner part and the picture.
 *
 *   xW (N, M) = x   W       summed over K
 *   dW (K, M) = x^T dxW     summed over N: x lies transposed
 *   dx (N, K) = dxW W^T     summed over M: W lies transposed
 *
 * Thread -> element: thread (tx, ty) of a block has row ty and column tx of the
 * block's tile of 32 x 32.
 * Memory: each factor is read once for every 32 rows or columns of the result,
 * 2*32 flop for 8 bytes: 8 flop a byte instead of a quarter. Shared memory is
 * still read twice for every 2 flop, and that is what the blocked kernel
 * mends. */
#include "dense/dense_cuda.cuh"
#include "dense/dense_tile.cuh"

template <bool TA, bool TB>
static __global__ void __launch_bounds__(DENSE_TILE *DENSE_TILE)
    dense_tiled(float *c, const float *a, const float *b, int64_t rows,
                int64_t cols, int64_t depth)
{
    int64_t row0;
    int64_t col0;
    lab_tile_start<DENSE_TILE>(cols, &row0, &col0);
    float sum = dense_tile_element<TA, TB>(a, b, rows, cols, depth, row0, col0);
    int64_t row = row0 + threadIdx.y;
    int64_t col = col0 + threadIdx.x;
    if (row < rows && col < cols)
        c[row * cols + col] = sum;
}

template <bool TA, bool TB>
static void tiled(const struct lab_call *call, float *c, const float *a,
                  const float *b, int64_t rows, int64_t cols, int64_t depth)
{
    unsigned blocks = lab_tiles(rows, cols, DENSE_TILE, DENSE_TILE);
    dense_tiled<TA, TB>
        <<<blocks, dim3(DENSE_TILE, DENSE_TILE), 0, lab_stream(call)>>>(
            c, a, b, rows, cols, depth);
}

enum lab_status dense_tiled_forward(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[0], &call->in[1]);
    tiled<false, false>(call, lab_out(call, 0), lab_in(call, 0),
                        lab_in(call, 1), s.N, s.M, s.K);
    return lab_launched("dense_tiled");
}

enum lab_status dense_tiled_backward(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[1], &call->in[2]);
    const float *dxW = lab_in(call, 0);
    tiled<true, false>(call, lab_out(call, 0), lab_in(call, 1), dxW, s.K, s.M,
                       s.N);
    if (lab_out(call, 1)) {
        tiled<false, true>(call, lab_out(call, 1), dxW, lab_in(call, 2), s.N,
                           s.K, s.M);
    }
    return lab_launched("dense_tiled");
}
