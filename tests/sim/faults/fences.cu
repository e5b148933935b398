// run: --grid 4 --block 64 --arg in:float[256]=random --arg out:float[4] --arg inout:int[1]=zero --arg out:float[1]
// The block that comes last adds up what all have written.
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__global__ void last_block(const float *x, float *part, int *count, float *sum)
{
    __shared__ float parts[64];
    __shared__ int last;
    int t = threadIdx.x;
    parts[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d)
            parts[t] += parts[t + d]; // fault 5: race
#if FAULT != 5
        __syncthreads();
#endif
    }
    if (t == 0) {
        part[blockIdx.x] = parts[0]; // fault 1: race // fault 2: race
#if FAULT == 2 // of the block alone
        asm volatile("fence.acq_rel.cta;" ::: "memory");
#elif FAULT != 1
        __threadfence();
#endif
#if FAULT == 3 // atomic within the block alone
        asm volatile("atom.global.cta.add.u32 %0, [%1], 1;" : "=r"(last) : "l"(count) : "memory"); // fault 3: race
#elif FAULT == 4
        last = (*count)++; // fault 4: race
#else
        last = atomicAdd(count, 1);
#endif
    }
#if FAULT != 6
    __syncthreads();
#endif
    if (last != 3) // fault 6: race uninitialised
        return;
    float s = 0;
    for (int b = 0; b < 4; b++)
        s += part[b]; // fault 1: race // fault 2: race
#if FAULT == 7 // the other threads of the block write it, too, and not the same
    *sum = s + t; // fault 7: race
#else
    if (t == 0)
        *sum = s;
#endif
}
