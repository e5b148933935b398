// run: --grid 6 --block 32 --budget 4000000 --arg inout:int[4]=zero --arg inout:int[12]=zero --arg out:int[1]
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

// A lock for each account; a thread of a block at a time moves money.
struct guard {
    int *lock;
    __device__ explicit guard(int *l) : lock(l)
    {
#if FAULT == 1 // a test and a set that are two
        while (*(volatile int *)lock != 0)
            ;
        *lock = 1; // fault 1: race
#else
        while (atomicCAS(lock, 0, 1) != 0)
            ;
#endif
        __threadfence();
    }
    __device__ ~guard()
    {
#if FAULT != 3 // set free before what it guards is there
        __threadfence();
#endif
#if FAULT == 4 // a plain store gives it back
        *lock = 0; // fault 4: race
#else
        atomicExch(lock, 0);
#endif
    }
};

struct row {
    int balance;
    int moves;
    int owner;
};

__global__ void account(int *locks, row *rows, int *total)
{
    if (threadIdx.x == 0) {
        for (int k = 0; k < 4; k++) {
            guard g(&locks[k]);
            rows[k].balance += 10 * (int)blockIdx.x; // fault 1: race // fault 2: race // fault 3: race
            rows[k].moves++; // fault 1: race // fault 2: race // fault 3: race
            rows[k].owner = blockIdx.x;
        }
#if FAULT == 2 // a last one without its lock
        rows[2].balance -= 1; // fault 2: race
#endif
    }
    if (blockIdx.x == 0 && threadIdx.x == 7)
        *total = 1;
}
