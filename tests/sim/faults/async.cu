// run: --grid 2 --block 64 --arg in:float[512]=random --arg out:float[512]
// Copies beside the threads, through a ring and out by TMA, and an mbarrier.
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__device__ unsigned shared_at(const void *p)
{
    unsigned at;
    asm("{ .reg .u64 u; cvta.to.shared.u64 u, %1; cvt.u32.u64 %0, u; }" : "=r"(at) : "l"(p));
    return at;
}

#define WAIT "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }"

__global__ void ring(const float *x, float *y)
{
    __shared__ __align__(16) float stage[2][64];
    __shared__ __align__(16) float tile[64];
    __shared__ unsigned long long barrier;
    int t = threadIdx.x;
    x += blockIdx.x * 256;
    y += blockIdx.x * 256;
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        unsigned to = shared_at(&stage[k % 2][t]);
#if FAULT == 5 // four floats, and not where a multiple of 16 bytes is
        if (t < 16)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(x + 64 * k + t)); // fault 5: memory
#else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(x + 64 * k + t)); // fault 4: race
#endif
#if FAULT != 3
        asm volatile("cp.async.commit_group;");
#endif
#if FAULT != 1
        asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
#if FAULT != 2
        __syncthreads();
#endif
        float v = stage[k % 2][63 - t]; // fault 1: uninitialised race // fault 2: uninitialised race // fault 3: uninitialised race
#if FAULT == 4 // the stage is filled again while it is read
        v = stage[(k + 1) % 2][t] + v; // fault 4: race uninitialised
#endif
        sum += v;
    }
    tile[t] = sum; // fault 6: race // fault 7: race
#if FAULT != 6
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
#if FAULT != 7
    __syncthreads();
#endif
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(y), "r"(shared_at(tile)) : "memory"); // fault 6: race // fault 7: race // fault 8: race
        asm volatile("cp.async.bulk.commit_group;");
#if FAULT != 8
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
    }
#if FAULT == 9 // each thread makes it
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" :: "r"(shared_at(&barrier)) : "memory"); // fault 9: barrier race
#elif FAULT == 10 // no thread is the 65th
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 65;" :: "r"(shared_at(&barrier)) : "memory");
#else
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" :: "r"(shared_at(&barrier)) : "memory"); // fault 11: race barrier
#endif
#if FAULT != 11
    __syncthreads();
#endif
    tile[t] = t; // fault 12: race
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" :: "r"(shared_at(&barrier)) : "memory"); // fault 11: race barrier
#if FAULT != 12
    asm volatile(WAIT :: "r"(shared_at(&barrier)) : "memory"); // fault 10: barrier
#endif
    y[64 + t] = tile[63 - t]; // fault 12: race
}
