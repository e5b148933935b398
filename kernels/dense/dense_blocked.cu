/* kernels/dense/dense_blocked.cu -- the third variant: tiles in registers as well.
 *
 * The tiled kernel reads shared memory twice for every multiplication. Here a
 * thread makes 4 x 4 elements: it reads 4 numbers of A and 4 of B and uses each
 * of them four times, 8 reads for 16 multiplications. Registers are the fastest
 * memory there is, and the 16 sums live in them; the additions of different
 * sums do not wait for each other, so that one thread keeps several of them in
 * flight.
 *
 * Thread -> element: 256 threads make a tile of 64 x 64 of the result. Thread t
 * has the rows ty + 16 u and the columns tx + 16 v (u, v = 0..3; ty = t / 16,
 * tx = t % 16): neighbouring threads write neighbouring addresses.
 * Memory: 2*64 flop for 8 bytes, 16 flop a byte. The common dimension is walked
 * 16 at a time; edges are filled up with zeros. */
#include "dense/dense_cuda.cuh"
#include "dense/dense_tile.cuh"

enum {
    SIDE = 64,  /* of the tile of the result */
    DEPTH = 16, /* of one stage */
    GRAIN = 4,  /* a thread has GRAIN x GRAIN elements */
    ACROSS = SIDE / GRAIN,
    THREADS = ACROSS * ACROSS
};

/* out[k][i] = matrix(first + i, k0 + k), zero outside (limit, depth). The
 * matrix lies as (limit, depth), or as (depth, limit) when TRANSPOSED; threads
 * follow each other along memory in either case. */
template <bool TRANSPOSED>
static __device__ void load_stage(float out[DEPTH][SIDE + 1],
                                  const float *matrix, int64_t first,
                                  int64_t limit, int64_t k0, int64_t depth)
{
    for (int e = threadIdx.x; e < SIDE * DEPTH; e += THREADS) {
        int i = TRANSPOSED ? e % SIDE : e / DEPTH;
        int k = TRANSPOSED ? e / SIDE : e % DEPTH;
        int64_t at = TRANSPOSED ? (k0 + k) * limit + first + i
                                : (first + i) * depth + k0 + k;
        bool inside = first + i < limit && k0 + k < depth;
        out[k][i] = inside ? matrix[at] : 0.0f;
    }
}

/* sum[u][v] += the products of one stage, for this thread's rows and columns */
static __device__ void add_stage(float sum[GRAIN][GRAIN],
                                 const float as[DEPTH][SIDE + 1],
                                 const float bs[DEPTH][SIDE + 1], int ty,
                                 int tx)
{
    for (int k = 0; k < DEPTH; k++) {
        float a[GRAIN];
        float b[GRAIN];
#pragma unroll
        for (int u = 0; u < GRAIN; u++) {
            a[u] = as[k][ty + ACROSS * u];
            b[u] = bs[k][tx + ACROSS * u];
        }
#pragma unroll
        for (int u = 0; u < GRAIN; u++) {
#pragma unroll
            for (int v = 0; v < GRAIN; v++)
                sum[u][v] += a[u] * b[v];
        }
    }
}

template <bool TA, bool TB>
static __global__ void __launch_bounds__(THREADS)
    dense_blocked(float *c, const float *a, const float *b, int64_t rows,
                  int64_t cols, int64_t depth)
{
    __shared__ float as[DEPTH][SIDE + 1];
    __shared__ float bs[DEPTH][SIDE + 1];
    int64_t tiles_across = (cols + SIDE - 1) / SIDE;
    int64_t row0 = blockIdx.x / tiles_across * SIDE;
    int64_t col0 = blockIdx.x % tiles_across * SIDE;
    int ty = threadIdx.x / ACROSS;
    int tx = threadIdx.x % ACROSS;
    float sum[GRAIN][GRAIN] = {};
    for (int64_t k0 = 0; k0 < depth; k0 += DEPTH) {
        load_stage<TA>(as, a, row0, rows, k0, depth);
        load_stage<!TB>(bs, b, col0, cols, k0, depth);
        __syncthreads();
        add_stage(sum, as, bs, ty, tx);
        __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < GRAIN; u++) {
#pragma unroll
        for (int v = 0; v < GRAIN; v++) {
            int64_t row = row0 + ty + ACROSS * u;
            int64_t col = col0 + tx + ACROSS * v;
            if (row < rows && col < cols)
                c[row * cols + col] = sum[u][v];
        }
    }
}

template <bool TA, bool TB>
static void blocked(const struct lab_call *call, float *c, const float *a,
                    const float *b, int64_t rows, int64_t cols, int64_t depth)
{
    unsigned blocks = lab_tiles(rows, cols, SIDE, SIDE);
    dense_blocked<TA, TB>
        <<<blocks, THREADS, 0, lab_stream(call)>>>(c, a, b, rows, cols, depth);
}

enum lab_status dense_blocked_forward(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[0], &call->in[1]);
    blocked<false, false>(call, lab_out(call, 0), lab_in(call, 0),
                          lab_in(call, 1), s.N, s.M, s.K);
    return lab_launched("dense_blocked");
}

enum lab_status dense_blocked_backward(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[1], &call->in[2]);
    const float *dxW = lab_in(call, 0);
    blocked<true, false>(call, lab_out(call, 0), lab_in(call, 1), dxW, s.K, s.M,
                         s.N);
    if (lab_out(call, 1)) {
        blocked<false, true>(call, lab_out(call, 1), dxW, lab_in(call, 2), s.N,
                             s.K, s.M);
    }
    return lab_launched("dense_blocked");
}
