// Functions that are called, in which lanes of a warp vote and exchange numbers.
// run: --grid 2 --block 64 --arg in:int[128]=random --arg out:int[128] --arg out:int[128]
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__device__ __noinline__ void vote(int lane, int v, int *y)
{
#if FAULT == 1 // the others only return from the function
    if (lane < 16)
        *y = __popc(__ballot_sync(0xffffffffu, v > 4)); // fault 1: shuffle
#else
    int n = __popc(__ballot_sync(0xffffffffu, v > 4));
    if (lane < 16)
        *y = n;
#endif
}

__device__ __noinline__ void swap(int lane, int v, int *y)
{
#if FAULT == 2
    if (lane >= 16)
        return;
#endif
    int other = __shfl_xor_sync(0xffffffffu, v, 1); // fault 2: shuffle
    if (other > v)
        *y = other;
}

__global__ void functions(const int *x, int *y, int *z)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    const int lane = threadIdx.x % 32;
    y[i] = z[i] = 0;
    vote(lane, x[i], y + i);
    swap(lane, x[i], z + i);
    z[i] += __popc(__ballot_sync(0xffffffffu, y[i] > 0));
}
