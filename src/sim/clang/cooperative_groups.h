/* cooperative_groups.h -- for clang: blocks, tiles of up to 32 lanes, the lanes that are
 * there, and the grid without its barrier. cooperative_groups/reduce.h has reduce(). What
 * else CUDA's has (partitions by a label, copies, scans, clusters) needs nvcc. */
#pragma once
#include <cuda_runtime.h>

namespace cooperative_groups
{

class thread_block
{
  public:
    LAB_MEMBER static void sync()
    {
        __syncthreads();
    }
    LAB_MEMBER static unsigned thread_rank()
    {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x +
               threadIdx.x;
    }
    LAB_MEMBER static unsigned num_threads()
    {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    LAB_MEMBER static unsigned size()
    {
        return num_threads();
    }
    LAB_MEMBER static dim3 group_index()
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    LAB_MEMBER static dim3 thread_index()
    {
        return dim3(threadIdx.x, threadIdx.y, threadIdx.z);
    }
    LAB_MEMBER static dim3 dim_threads()
    {
        return dim3(blockDim.x, blockDim.y, blockDim.z);
    }
    LAB_MEMBER static dim3 group_dim()
    {
        return dim_threads();
    }
};
LAB_BOTH thread_block this_thread_block()
{
    return thread_block();
}

class grid_group
{
  public:
#define LAB_NO_BARRIER                                                         \
    __attribute__((                                                            \
        unavailable("blocks of a grid do not wait for each other; a launch "   \
                    "for each part does the same"))) __device__
    LAB_NO_BARRIER void sync() const;
    LAB_NO_BARRIER bool is_valid() const; /* that sync() may be called */
#undef LAB_NO_BARRIER
    LAB_MEMBER static dim3 block_index()
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    LAB_MEMBER static dim3 dim_blocks()
    {
        return dim3(gridDim.x, gridDim.y, gridDim.z);
    }
    LAB_MEMBER static unsigned long long block_rank()
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) *
                   gridDim.x +
               blockIdx.x;
    }
    LAB_MEMBER static unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    LAB_MEMBER static unsigned long long thread_rank()
    {
        return block_rank() * thread_block::size() +
               thread_block::thread_rank();
    }
    LAB_MEMBER static unsigned long long num_threads()
    {
        return num_blocks() * thread_block::size();
    }
    LAB_MEMBER static unsigned long long size()
    {
        return num_threads();
    }
};
LAB_BOTH grid_group this_grid()
{
    return grid_group();
}

/* ---- lanes ---- */

template <unsigned N, typename PARENT = void> class thread_block_tile
{
    static_assert(N > 0 && N <= 32 && (N & (N - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads: others need nvcc");
    unsigned rank, count; /* among the tiles of the parent */

    LAB_MEMBER static unsigned first()
    {
        return thread_block::thread_rank() % 32 / N * N;
    }
    LAB_MEMBER static unsigned ones()
    {
        return 0xffffffffu >> (32 - N);
    }
    LAB_MEMBER static unsigned mask()
    {
        return ones() << first();
    }

  public:
    LAB_MEMBER thread_block_tile(unsigned of, unsigned all)
        : rank(of), count(all)
    {
    }
    /* "thread_block_tile<32> t" names no parent. */
    template <typename OTHER>
    LAB_MEMBER thread_block_tile(const thread_block_tile<N, OTHER> &t)
        : rank(t.meta_group_rank()), count(t.meta_group_size())
    {
    }
    LAB_MEMBER static void sync()
    {
        __syncwarp(mask());
    }
    LAB_MEMBER static unsigned thread_rank()
    {
        return thread_block::thread_rank() % N;
    }
    LAB_MEMBER static constexpr unsigned num_threads()
    {
        return N;
    }
    LAB_MEMBER static constexpr unsigned size()
    {
        return N;
    }
    LAB_MEMBER unsigned meta_group_rank() const
    {
        return rank;
    }
    LAB_MEMBER unsigned meta_group_size() const
    {
        return count;
    }
    template <typename T> LAB_MEMBER static T shfl(T v, int from)
    {
        return __shfl_sync(mask(), v, from, N);
    }
    template <typename T> LAB_MEMBER static T shfl_up(T v, unsigned by)
    {
        return __shfl_up_sync(mask(), v, by, N);
    }
    template <typename T> LAB_MEMBER static T shfl_down(T v, unsigned by)
    {
        return __shfl_down_sync(mask(), v, by, N);
    }
    template <typename T> LAB_MEMBER static T shfl_xor(T v, unsigned by)
    {
        return __shfl_xor_sync(mask(), v, by, N);
    }
    LAB_MEMBER static int any(int p)
    {
        return __any_sync(mask(), p);
    }
    LAB_MEMBER static int all(int p)
    {
        return __all_sync(mask(), p);
    }
    LAB_MEMBER static unsigned ballot(int p)
    {
        return __ballot_sync(mask(), p) >> first() & ones();
    }
    template <typename T> LAB_MEMBER static unsigned match_any(T v)
    {
        return __match_any_sync(mask(), v) >> first() & ones();
    }
};
template <unsigned N, typename PARENT>
LAB_BOTH thread_block_tile<N, PARENT> tiled_partition(const PARENT &parent)
{
    return thread_block_tile<N, PARENT>(
        (unsigned)parent.thread_rank() / N,
        ((unsigned)parent.num_threads() + N - 1) / N);
}

/* The lanes of a warp that are here. */
class coalesced_group
{
    unsigned mask;

    LAB_MEMBER unsigned lane_of(unsigned rank) const
    {
        return __fns(mask, 0, (int)rank + 1);
    }
    /* Bit k is that of the lane of rank k. */
    LAB_MEMBER unsigned by_rank(unsigned lanes) const
    {
        unsigned bits = 0;
        unsigned bit = 1;
        for (unsigned rest = mask; rest != 0; rest &= rest - 1, bit <<= 1)
            if (lanes & rest & -rest)
                bits |= bit;
        return bits;
    }

  public:
    LAB_MEMBER explicit coalesced_group(unsigned lanes) : mask(lanes)
    {
    }
    LAB_MEMBER void sync() const
    {
        __syncwarp(mask);
    }
    LAB_MEMBER unsigned thread_rank() const
    {
        const unsigned lane = thread_block::thread_rank() % 32;
        return (unsigned)__popc(mask & ((1u << lane) - 1));
    }
    LAB_MEMBER unsigned num_threads() const
    {
        return (unsigned)__popc(mask);
    }
    LAB_MEMBER unsigned size() const
    {
        return num_threads();
    }
    template <typename T> LAB_MEMBER T shfl(T v, unsigned rank) const
    {
        return __shfl_sync(mask, v, (int)lane_of(rank));
    }
    template <typename T> LAB_MEMBER T shfl_up(T v, unsigned by) const
    {
        const unsigned rank = thread_rank();
        return shfl(v, rank < by ? rank : rank - by);
    }
    template <typename T> LAB_MEMBER T shfl_down(T v, unsigned by) const
    {
        const unsigned rank = thread_rank();
        return shfl(v, by < size() - rank ? rank + by : rank);
    }
    LAB_MEMBER int any(int p) const
    {
        return __any_sync(mask, p);
    }
    LAB_MEMBER int all(int p) const
    {
        return __all_sync(mask, p);
    }
    LAB_MEMBER unsigned ballot(int p) const
    {
        return by_rank(__ballot_sync(mask, p));
    }
    template <typename T> LAB_MEMBER unsigned match_any(T v) const
    {
        return by_rank(__match_any_sync(mask, v));
    }
};
/* Partitions of these are another function of CUDA's. */
template <unsigned N>
LAB_BOTH void tiled_partition(const coalesced_group &) = delete;
LAB_DEVICE coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}

template <typename GROUP> LAB_BOTH void sync(const GROUP &g)
{
    g.sync();
}
template <typename GROUP> LAB_BOTH unsigned thread_rank(const GROUP &g)
{
    return (unsigned)g.thread_rank();
}

} // namespace cooperative_groups
