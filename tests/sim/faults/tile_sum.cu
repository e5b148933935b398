// A tile of a product on tensor cores, kept in shared memory on its way.
// run: --grid 1 --block 32 --arg in:half[16,16] --arg in:half[16,16] --arg out:float[16,16]
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void tile_sum(const half *a, const half *b, float *c)
{
    __shared__ float tile[16 * 16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
#if FAULT != 1 && FAULT != 2 // the sums never began at zero
    wmma::fill_fragment(sum, 0.0f);
#endif
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(sum, fa, fb, sum); // fault 1: uninitialised // fault 2: uninitialised
#if FAULT == 1
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
#else
    wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
#if FAULT != 3 // lanes read what others stored
    __syncwarp();
#endif
    for (int i = threadIdx.x; i < 256; i += 32)
        c[i] = tile[i]; // fault 3: race
#endif
}
