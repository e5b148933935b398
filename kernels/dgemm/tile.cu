/* kernels/dgemm/tile.cu -- tiles of 32 x 32 in shared memory.
 *
 * The idea: as gemm's tile: a number that was fetched is used 32 times.
 * What double precision changes: numbers are 8 bytes, so that a warp's load is
 * two lines of 128 bytes, and a GPU for science has half as many fp64 units as
 * fp32 ones; others have a 32nd or a 64th. */
#include "dgemm/dgemm.cuh"

enum { SIDE = 32 };

static __global__ void __launch_bounds__(SIDE *SIDE)
    dgemm_tile(struct dgemm_call g)
{
    __shared__ double as[SIDE][SIDE];
    __shared__ double bs[SIDE][SIDE];
    int64_t across = (g.N + SIDE - 1) / SIDE;
    int64_t row = blockIdx.x / across * SIDE + threadIdx.y;
    int64_t col = blockIdx.x % across * SIDE + threadIdx.x;
    double sum = 0.0;
    for (int64_t k0 = 0; k0 < g.K; k0 += SIDE) {
        int64_t ka = k0 + threadIdx.x;
        int64_t kb = k0 + threadIdx.y;
        as[threadIdx.y][threadIdx.x] =
            row < g.M && ka < g.K ? g.a[row * g.K + ka] : 0.0;
        bs[threadIdx.y][threadIdx.x] =
            kb < g.K && col < g.N ? g.b[kb * g.N + col] : 0.0;
        __syncthreads(); /* both tiles are there */
        for (int k = 0; k < SIDE; k++)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads(); /* no thread needs them any more */
    }
    if (row < g.M && col < g.N)
        g.c[row * g.N + col] = sum;
}

enum lab_status lab_dgemm_tile(const struct lab_call *call)
{
    struct dgemm_call g = dgemm_of(call);
    dgemm_tile<<<dgemm_blocks(g, SIDE, SIDE), dim3(SIDE, SIDE), 0,
                 lab_stream(call)>>>(g);
    return lab_launched("dgemm_tile");
}
