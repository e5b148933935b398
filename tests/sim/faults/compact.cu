// run: --grid 5 --block 96 --arg in:int[450]=random --arg out:int[450] --arg inout:int[1]=zero --arg int:450
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

// Keeps what passes a test, in any order: ballots, counts of bits, one atomic a warp.
struct larger {
    int than;
    __device__ bool operator()(int x) const { return x > than; }
};

template <typename PASS>
__device__ __forceinline__ void compact_warp(const int *in, int *out, int *count, int n, PASS pass)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned lane = threadIdx.x & 31u;
#if FAULT == 2 // lanes behind the end read
    const int x = in[i]; // fault 2: memory
    const bool keep = i < n && pass(x);
#else
    const int x = i < n ? in[i] : 0;
    const bool keep = i < n && pass(x);
#endif
    unsigned votes = 0;
#if FAULT == 1 // of all lanes some vote
    if (x % 2 == 0)
#endif
        votes = __ballot_sync(0xffffffffu, keep); // fault 1: shuffle
    if (votes == 0)
        return;
    const int leader = __ffs(votes) - 1;
    int base = 0;
    if ((int)lane == leader)
#if FAULT == 3 // an add that is none of all blocks together
        base = *count, *count = base + __popc(votes); // fault 3: race
#else
        base = atomicAdd(count, __popc(votes));
#endif
#if FAULT == 4 // the value of a lane that does not take part
    if (keep)
        base = __shfl_sync(__activemask(), base, (leader + 1) % 32); // fault 4: shuffle
#else
    base = __shfl_sync(0xffffffffu, base, leader);
#endif
    const int before = __popc(votes & ((1u << lane) - 1u));
    if (keep)
        out[base + before] = x;
}

__global__ void compact(const int *in, int *out, int *count, int n)
{
    compact_warp(in, out, count, n, larger{4});
}
