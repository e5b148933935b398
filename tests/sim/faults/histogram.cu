// run: --grid 3 --block 128 --arg in:int[1000]=random --arg inout:unsigned[8]=zero --arg int:1000
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

enum { BINS = 8 };

__global__ void histogram(const int *x, unsigned *bins, int n)
{
    __shared__ unsigned mine[BINS];
    int t = threadIdx.x;
#if FAULT == 2 // nothing sets them to zero
#elif FAULT == 6 // one too many
    if (t <= BINS)
        mine[t] = 0; // fault 6: memory
#else
    if (t < BINS)
        mine[t] = 0;
#endif
#if FAULT != 3
    __syncthreads();
#endif
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) {
#if FAULT == 4 // values from 8 on have no bin
        int bin = x[i];
#else
        int bin = x[i] % BINS;
#endif
#if FAULT == 1 // an add in place of the atomic
        mine[bin]++; // fault 1: race
#else
        atomicAdd(&mine[bin], 1u); // fault 2: uninitialised  // fault 3: race  // fault 4: memory
#endif
    }
#if FAULT != 5
    __syncthreads();
#endif
    if (t < BINS)
#if FAULT == 7 // an atomic for the block alone
        atomicAdd_block(&bins[t], mine[t]); // fault 7: race
#else
        atomicAdd(&bins[t], mine[t]); // fault 5: race
#endif
}
