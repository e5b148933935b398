// run: --grid 3 --block 64 --arg in:unsigned[700]=random --arg inout:unsigned[24]=zero --arg int:700
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

// Counts by class in a struct of each warp, then one sum: members of a class template.
template <int BINS, int WARPS> class counter {
    struct alignas(8) one {
        unsigned bin[BINS];
        unsigned lost;
    };
    one warp[WARPS];

public:
    __device__ void clear()
    {
        unsigned *all = reinterpret_cast<unsigned *>(this);
#if FAULT == 1 // as many words as there are threads, and no more
        all[threadIdx.x % (sizeof(*this) / 4 - 2)] = 0;
#else
        for (unsigned k = threadIdx.x; k < sizeof(*this) / 4; k += blockDim.x)
            all[k] = 0;
#endif
    }
    __device__ void count(unsigned x)
    {
        one &mine = warp[threadIdx.x / 32];
#if FAULT == 2 // lanes of a warp count at once
        if (x < BINS)
            mine.bin[x]++; // fault 2: race
#elif FAULT == 3 // a class that there is not: of the last warp, behind the array
        atomicAdd(&warp[WARPS].bin[x + BINS], 1u); // fault 3: memory
#else
        atomicAdd(x < BINS ? &mine.bin[x] : &mine.lost, 1u); // fault 1: uninitialised
#endif
    }
    __device__ unsigned sum(int bin) const
    {
        unsigned s = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            s += bin < BINS ? warp[w].bin[bin] : warp[w].lost;
        return s;
    }
};

__global__ void count_classes(const unsigned *__restrict__ x, unsigned *total, int n)
{
    typedef counter<7, 2> counts;
    __shared__ counts c;
    c.clear();
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c.count(x[i]);
    __syncthreads();
#if FAULT == 4 // each block adds its sum, and reads it apart from that
    if (threadIdx.x < 8)
        total[threadIdx.x] = total[threadIdx.x] + c.sum(threadIdx.x); // fault 4: race
#else
    if (threadIdx.x < 8)
        atomicAdd(&total[blockIdx.x * 8 + threadIdx.x], c.sum(threadIdx.x));
#endif
}
