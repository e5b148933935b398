/* kernels/common/reduce.cuh -- sums and maxima over the threads that share a row.
 *
 * A row of a matrix is reduced by GROUP threads, and every row-wise kernel here
 * is written once for three sizes of group:
 *   1     (`naive`)  one thread walks the whole row. Neighbouring threads read
 *                    addresses a row apart: every load is a memory transaction
 *                    of its own.
 *   32    (`warp`)   a warp shares the row: its lanes read neighbouring
 *                    addresses in one transaction and combine their partial
 *                    results through registers, with shuffles.
 *   256   (`block`)  a block shares the row: its 8 warps combine theirs through
 *                    shared memory. Worth it when rows are long and few.
 *
 * The order of the additions depends on the shape alone, never on which thread
 * comes first (no atomics), so that the same input gives the same bits at every
 * run. All threads of the group get the result, the same bits in each: adding
 * is commutative, and the butterfly adds the same pairs everywhere.
 *
 * Sums are kept in a double and rounded once, as in the reference: a float sum
 * of a million terms has lost its last digits. These kernels wait for memory,
 * and the wider additions hide behind it. */
#pragma once
#include "common/launch.cuh"

struct lab_sum {
    static __device__ double join(double a, double b)
    {
        return a + b;
    }
};

/* Of a NaN and a number, the number: a NaN in a row shows in the sum. */
struct lab_max {
    static __device__ float join(float a, float b)
    {
        return fmaxf(a, b);
    }
};

/* `v` of all threads of the group, joined. Every thread of the group calls it,
 * and with GROUP > 32 every thread of the block. */
template <typename OP, int GROUP, typename REAL>
static __device__ REAL group_join(REAL v)
{
    if constexpr (GROUP >= 32) {
        for (int distance = 16; distance > 0; distance /= 2)
            v = OP::join(v, __shfl_xor_sync(0xffffffffu, v, distance));
    }
    if constexpr (GROUP > 32) {
        __shared__ REAL part[GROUP / 32];
        __syncthreads(); /* the readers of an earlier call are done */
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = v;
        __syncthreads();
        v = part[0];
        for (int w = 1; w < GROUP / 32; w++)
            v = OP::join(v, part[w]);
    }
    return v;
}

template <int GROUP> static __device__ double group_sum(double v)
{
    return group_join<lab_sum, GROUP>(v);
}

template <int GROUP> static __device__ float group_max(float v)
{
    return group_join<lab_max, GROUP>(v);
}

/* Which row this thread works on, and its place among the row's threads. */
template <int GROUP> static __device__ int64_t group_row()
{
    return lab_element() / GROUP;
}

template <int GROUP> static __device__ int group_lane()
{
    return threadIdx.x % GROUP;
}

/* Blocks of LAB_BLOCK threads for `rows` rows of GROUP threads. */
template <int GROUP> static inline unsigned group_blocks(int64_t rows)
{
    return lab_blocks(rows, LAB_BLOCK / GROUP);
}

enum {
    LAB_GROUP_NAIVE = 1,
    LAB_GROUP_WARP = 32,
    LAB_GROUP_BLOCK = LAB_BLOCK,
    LAB_GROUP_ALL = 1024 /* the largest block, alone: one sum of everything */
};
