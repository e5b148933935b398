// run: --grid 7 --block 64 --arg out:float[7,50] --arg in:float[7,50]=random --arg in:float[50]=random --arg int:50
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

/* The sum over a block of two warps, in each of its threads. */
__device__ float block_sum(float v)
{
    __shared__ float part[2];
#if FAULT == 1 // the mask names half of the warp
    for (int k = 16; k > 0; k /= 2)
        v += __shfl_xor_sync(0xffff, v, k); // fault 1: shuffle
#else
    for (int k = 16; k > 0; k /= 2)
        v += __shfl_xor_sync(0xffffffff, v, k);
#endif
#if FAULT == 2 // the second warp's part is left out
    if (threadIdx.x == 0)
#else
    if (threadIdx.x % 32 == 0)
#endif
        part[threadIdx.x / 32] = v; // fault 4: race | part[
    __syncthreads();
    v = part[0] + part[1]; // fault 2: uninitialised | part[1]
#if FAULT != 4 // the second sum may be written while the first is read
    __syncthreads();
#endif
    return v;
}

__global__ void layer_norm(float *y, const float *x, const float *gamma, int D)
{
#if FAULT == 3 // a row too many: x begins behind row 0
    x += (blockIdx.x + 1) * D;
#else
    x += blockIdx.x * D;
#endif
    y += blockIdx.x * D;
    float sum = 0;
    for (int d = threadIdx.x; d < D; d += blockDim.x)
        sum += x[d]; // fault 3: memory | 0 bytes after the end of x
    float mean = block_sum(sum) / D;
    float squares = 0;
    for (int d = threadIdx.x; d < D; d += blockDim.x)
        squares += (x[d] - mean) * (x[d] - mean);
    float rstd = rsqrtf(block_sum(squares) / D + 1e-5f);
#if FAULT == 5 // as many columns as threads
    int d = threadIdx.x;
    y[d] = (x[d] - mean) * rstd * gamma[d]; // fault 5: memory | 0 bytes after the end of gamma
#else
    for (int d = threadIdx.x; d < D; d += blockDim.x)
        y[d] = (x[d] - mean) * rstd * gamma[d];
#endif
}
