// run: --grid 3 --block 128 --arg in:float[360]=random --arg out:float[12] --arg out:float[3] --arg int:360
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

// Groups of threads as objects, as in cooperative groups: a tile of a warp and a block.
template <unsigned SIZE> struct tile {
    unsigned rank;
    unsigned mask;
    __device__ tile() : rank(threadIdx.x % SIZE)
    {
        unsigned lane = threadIdx.x % 32;
#if FAULT == 1 // the mask of the first tile of a warp for each of them
        mask = (SIZE == 32 ? 0xffffffffu : (1u << SIZE) - 1u) << (lane - lane);
#else
        mask = (SIZE == 32 ? 0xffffffffu : (1u << SIZE) - 1u) << (lane / SIZE * SIZE);
#endif
    }
    __device__ void sync() const { __syncwarp(mask); }
    template <typename T> __device__ T down(T v, unsigned by) const
    {
        return __shfl_down_sync(mask, v, by, SIZE); // fault 1: shuffle
    }
    template <typename T> __device__ T from(T v, unsigned lane) const
    {
        return __shfl_sync(mask, v, lane, SIZE);
    }
};

struct block {
    __device__ static void sync() { __syncthreads(); }
    __device__ static unsigned rank() { return threadIdx.x; }
};

struct plus {
    template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename GROUP, typename T, typename OP>
__device__ T reduce(const GROUP &g, T v, OP op, unsigned size)
{
    for (unsigned by = size / 2; by; by >>= 1)
        v = op(v, g.down(v, by));
    return g.from(v, 0);
}

__global__ void groups(const float *__restrict__ x, float *__restrict__ tiles, float *__restrict__ blocks, int n)
{
    struct room {
        float part[4];
        float last;
    };
    __shared__ room r;
    tile<16> half;
    tile<32> warp;
    const int i = blockIdx.x * blockDim.x + block::rank();
    float v = i < n ? x[i] : 0.0f;
    float sum = reduce(half, v, plus(), 16);
    float other = __shfl_xor_sync(0xffffffffu, sum, 16);
    const int w = threadIdx.x / 32;
#if FAULT == 2 // every lane of the warp, each another value: not the same for all
    r.part[w] = sum + threadIdx.x; // fault 2: race
#else
    if (warp.rank == 0)
        r.part[w] = sum + other;
#endif
#if FAULT == 3 // the warp waits for itself, the block does not
    warp.sync();
#else
    block::sync();
#endif
    if (w == 0) {
        float p = warp.rank < 4 ? r.part[warp.rank] : 0.0f; // fault 3: race
#if FAULT == 4 // a group that leaves: the others name it
        if (warp.rank >= 8)
            return;
        p = reduce(warp, p, plus(), 32);
#else
        p = reduce(warp, p, plus(), 32);
#endif
        if (warp.rank == 0)
            blocks[blockIdx.x] = p;
    }
    if (warp.rank == 0)
        tiles[blockIdx.x * 4 + w] = r.part[w];
}
