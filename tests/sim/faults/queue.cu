// run: --grid 2 --block 64 --budget 3000000 --arg in:int[41]=iota --arg out:int[80] --arg int:40
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

// Producers and consumers of one block: a queue in shared memory.
struct queue {
    int item[16];
    int head, tail, done;
};

__global__ void work_queue(const int *in, int *out, int n)
{
    __shared__ queue q;
    const int t = threadIdx.x;
#if FAULT != 1 // counters begin at what is there
    if (t == 0)
        q.head = q.tail = q.done = 0;
#endif
    __syncthreads();
    for (int first = 0; first < n; first += 16) {
        if (t >= 48 && first + t - 48 < n) {
            int at = atomicAdd(&q.tail, 1); // fault 1: uninitialised
#if FAULT == 2 // no end of the ring
            q.item[at] = in[first + t - 48]; // fault 2: memory
#else
            q.item[at % 16] = in[first + t - 48];
#endif
        }
#if FAULT != 3
        __syncthreads();
#endif
        while (true) {
            int at = atomicAdd(&q.head, 1);
            if (at >= min(n, first + 16)) // fault 3: race
                break;
#if FAULT == 4 // behind the other block's part, too
            out[(blockIdx.x * n + at) % n] = q.item[at % 16] + blockIdx.x; // fault 4: race // fault 3: race uninitialised
#else
            out[blockIdx.x * n + at] = q.item[at % 16] * 2; // fault 3: race uninitialised
#endif
        }
        __syncthreads();
        if (t == 0)
            q.head = q.tail;
#if FAULT == 5 // some have left
        if (t >= 32)
            break;
        if (t < 32)
            asm volatile("bar.sync 0, 64;" ::: "memory"); // fault 5: barrier
#else
        __syncthreads();
#endif
    }
}
