// Each block hands its numbers on within global memory, from one warp to the other.
// run: --grid 2 --block 64 --arg out:int[128] --arg out:int[128]
// run: --grid 1 --block 64 --arg out:int[64] --arg out:int[64]
// run: --grid 16 --block 64 --arg out:int[1024] --arg out:int[1024]
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__global__ void neighbours(int *x, int *y)
{
    int t = threadIdx.x;
    int *mine = x + blockIdx.x * 64;
    mine[t] = t; // fault 1: race // fault 2: race
#if FAULT == 0
    __syncthreads();
#elif FAULT == 2 // enough within a warp only
    __syncwarp();
#endif
    y[blockIdx.x * 64 + t] = mine[(t + 32) % 64]; // fault 1: race // fault 2: race
}
