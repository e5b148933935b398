/* kernels/common/sm90.cuh -- Hopper's own instructions, one function each.
 *
 * Compute capability 9.0 only (sm_90a). Source: NVIDIA, PTX ISA, "Asynchronous
 * warpgroup level matrix instructions", "mbarrier" and "cp.async.bulk.tensor". */
#pragma once
#include <cuda.h>
#include "common/half.cuh"

/* ---- mbarrier: counts arrivals and bytes; its phase turns when both are in */

static __device__ __forceinline__ void barrier_init(uint64_t *bar, int arrivals)
{
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)),
        "r"(arrivals));
}

/* What was initialised is seen by the TMA unit. */
static __device__ __forceinline__ void barrier_init_done()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Arrives, and adds the number of bytes that the phase also waits for. */
static __device__ __forceinline__ void barrier_expect(uint64_t *bar,
                                                      uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(bar)),
                 "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void barrier_arrive(uint64_t *bar)
{
    asm volatile(
        "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar))
        : "memory");
}

/* Until the phase of this parity is over. A new barrier is in phase 0, and the
 * phase before it, of parity 1, counts as over. */
static __device__ __forceinline__ void barrier_wait(uint64_t *bar,
                                                    uint32_t parity)
{
    asm volatile("{\n.reg .pred over;\n"
                 "again_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@over bra done_%=;\n"
                 "bra again_%=;\n"
                 "done_%=:\n}" ::"r"(shared_address(bar)),
                 "r"(parity)
                 : "memory");
}

/* ---- TMA: a box of a matrix, fetched by one thread's instruction */

static __device__ __forceinline__ void
tma_load(void *to, const CUtensorMap *map, uint64_t *bar, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
                 "complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
                     shared_address(to)),
                 "l"(map), "r"(shared_address(bar)), "r"(x), "r"(y)
                 : "memory");
}

/* The same of a tensor with three sides. */
static __device__ __forceinline__ void
tma_load(void *to, const CUtensorMap *map, uint64_t *bar, int x, int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::"
                 "complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(
                     shared_address(to)),
                 "l"(map), "r"(shared_address(bar)), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

static __device__ __forceinline__ void tma_store(const CUtensorMap *map,
                                                 const void *from, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
                 "[%0, {%2, %3}], [%1];" ::"l"(map),
                 "r"(shared_address(from)), "r"(x), "r"(y)
                 : "memory");
}

static __device__ __forceinline__ void tma_store_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Until what this thread stored has been read from shared memory. */
static __device__ __forceinline__ void tma_store_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

static __device__ __forceinline__ void tma_store_wait()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* What threads wrote to shared memory is seen by the TMA unit. */
static __device__ __forceinline__ void shared_for_tma()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ---- registers, groups of threads, results in shared memory */

template <int COUNT> static __device__ __forceinline__ void registers_give()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

template <int COUNT> static __device__ __forceinline__ void registers_take()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

/* Barriers of `threads` threads, of which some wait and some only report; 0 is
 * __syncthreads()'s. */
static __device__ __forceinline__ void named_wait(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

static __device__ __forceinline__ void named_arrive(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* Four matrices of 8 x 8 numbers of 16 bits; lane l gives two numbers of row
 * l / 4 of each, and gives the address of row l % 8 of matrix l / 8. */
static __device__ __forceinline__ void
store_matrix(char *row, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], "
                 "{%1, %2, %3, %4};" ::"r"(shared_address(row)),
                 "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
}

/* ---- wgmma: 128 threads multiply matrices that lie in shared memory */

/* Registers that wgmma reads or writes are as the program left them. */
static __device__ __forceinline__ void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Until at most COUNT groups are under way. */
template <int COUNT> static __device__ __forceinline__ void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(COUNT) : "memory");
}

/* Where an operand lies in shared memory, its rows of 128 bytes swizzled as the
 * TMA unit writes them. `stride`: bytes from eight rows to the next eight.
 * `leading`: bytes from a box to the next, only where a row is shorter than
 * what the instruction reads across. */
static __device__ __forceinline__ uint64_t wgmma_operand(const void *p,
                                                         uint32_t leading,
                                                         uint32_t stride)
{
    uint64_t at = (shared_address(p) & 0x3ffff) >> 4;
    return at | static_cast<uint64_t>(leading >> 4) << 16 |
           static_cast<uint64_t>(stride >> 4) << 32 | 1ull << 62;
}
