// run: --grid 2 --block 96 --budget 50000 --arg inout:int[2]=zero --arg out:int[192]
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__global__ void waits(int *flags, int *out)
{
    __shared__ int shared_sum;
    int t = threadIdx.x;
    int local[8];
    volatile int *flag = flags + blockIdx.x;
    if (t == 0)
        shared_sum = 0;
#if FAULT == 1 // a third of the threads has left, and is counted
    if (t >= 64)
        return;
    asm volatile("bar.sync 0, 96;" ::: "memory"); // fault 1: barrier
#elif FAULT == 6 // a third of the threads goes on without it
    if (t < 64)
        __syncthreads(); // fault 6: barrier
#elif FAULT == 2 // two barriers, each for some
    if (t % 2) {
        atomicAdd(&shared_sum, 1);
        __syncthreads(); // fault 2: barrier
        atomicSub(&shared_sum, 1);
    } else {
        __syncthreads(); // fault 2: barrier
    }
#else
    __syncthreads();
#endif
#if FAULT == 3 // nothing ever sets it
    while (*flag == 0) // fault 3: budget
        ;
#elif FAULT == 4 // only the other block's is set
    if (t == 0)
        flags[1 - blockIdx.x] = blockIdx.x; // fault 4: budget race
    while (*flag == 0) // fault 4: budget race
        ;
#else
    if (t == 0)
        *flag = 1;
    __syncthreads();
#endif
    for (int k = 0; k < 8; k++)
        local[k] = t * k;
#if FAULT == 5 // behind a thread's own array
    local[t % 64 + flags[0]] = 1; // fault 5: memory
#endif
    atomicAdd(&shared_sum, local[(t + flags[blockIdx.x]) % 8]);
    __syncthreads();
    out[blockIdx.x * 96 + t] = shared_sum;
}
