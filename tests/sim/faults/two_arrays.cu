// Two arrays in shared memory, one behind the other: an index past the first is in the second.
// run: --grid 2 --block 64 --arg in:float[128] --arg out:float[128]
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif
#if FAULT == 1 // too small
#define SIDE 60
#elif FAULT == 3 // far too small, and the next one is written as a whole
#define SIDE 32
#else
#define SIDE 64
#endif

__device__ float *choose(float *a, float *b, int which)
{
    return which ? a : b; // either: no bounds are known
}

__global__ void two_arrays(const float *x, float *y)
{
    __shared__ float a[SIDE];
    __shared__ float b[2][32];
    int t = threadIdx.x;
    const float *mine = x + blockIdx.x * 64;
    a[t] = mine[t]; // fault 1: memory // fault 3: memory
    __syncthreads();
    float s = a[63 - t];
#if FAULT == 2 // a row beyond
    b[t / 32 + 1][t % 32] = s; // fault 2: memory
#else
    b[t / 32][t % 32] = s;
#endif
    __syncthreads();
#if FAULT == 4 // the element before the first
    y[blockIdx.x * 64 + t] = b[0][t - 1]; // fault 4: memory
#else
    y[blockIdx.x * 64 + t] = choose(a, &b[0][0], t % 2)[t];
#endif
}
