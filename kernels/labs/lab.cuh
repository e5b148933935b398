/* kernels/labs/lab.cuh -- what launchers of several labs ask the device. */
#pragma once
#include <stdio.h>

#include "labs/operation.h"
#include "common/kernel.h"
#include "common/launch.cuh"

/* Makes room for `bytes` of dynamic shared memory in a block of `kernel`.
 * LAB_E_UNSUPPORTED: a block of this device has less. */
static inline enum lab_status lab_bench_take_shared(const struct lab_call *call,
                                                    const void *kernel,
                                                    int64_t bytes)
{
    int most = 0;
    struct cudaFuncAttributes a;
    cudaError_t err = cudaDeviceGetAttribute(
        &most, cudaDevAttrMaxSharedMemoryPerBlockOptin, call->exec->device);
    if (err == cudaSuccess)
        err = cudaFuncGetAttributes(&a, kernel);
    if (err == cudaSuccess && bytes + (int64_t)a.sharedSizeBytes > most)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.block-shared] a block of this device has %lld "
                        "bytes of shared "
                        "memory to give, not %lld",
                        (long long)most - (long long)a.sharedSizeBytes,
                        (long long)bytes);
    if (err == cudaSuccess)
        err = cudaFuncSetAttribute(kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes));
    if (err == cudaSuccess)
        return LAB_OK;
    (void)cudaGetLastError(); /* the next launch is not to blame */
    return lab_fail(LAB_E_DEVICE, "cannot ask for shared memory: %s",
                    cudaGetErrorString(err));
}

/* Blocks and warps that a multiprocessor holds at once, into a note. */
static inline void lab_bench_say_resident(struct lab_variant_note *out,
                                          const void *kernel, int block,
                                          size_t shared)
{
    int blocks = 0;
    int device = 0;
    int threads = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor,
                               device) != cudaSuccess ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block,
                                                      shared) != cudaSuccess)
        return;
    int warps = blocks * ((block + 31) / 32);
    snprintf(out->text, sizeof(out->text),
             "%d block%s, %d warps a multiprocessor: occupancy %.1f %%", blocks,
             blocks == 1 ? "" : "s", warps, 3200.0 * warps / threads);
}

/* A grid that fills every multiprocessor with so many warps and no more. */
struct lab_resident {
    unsigned blocks;
    unsigned threads;
    size_t shared; /* bytes that a block asks for, to keep others out */
};

/* One block a multiprocessor up to 32 warps, two beyond. Shared memory keeps
 * the next one out: k blocks of a (k + 1)-th and a little fit, k + 1 do not. */
static inline struct lab_resident
lab_bench_resident(const struct lab_call *call, int64_t warps)
{
    int all = 0;
    int k = warps > 32 ? 2 : 1;
    if (cudaDeviceGetAttribute(&all,
                               cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                               call->exec->device) != cudaSuccess)
        all = 0;
    return {static_cast<unsigned>(call->exec->sm_count * k),
            static_cast<unsigned>((warps + k - 1) / k * 32),
            static_cast<size_t>(all) / (k + 1) + 16};
}

/* Can a multiprocessor hold so many warps of `kernel`? Else `why` has the reason. */
static inline enum lab_status lab_bench_take_warps(const struct lab_call *call,
                                                   const void *kernel,
                                                   int64_t warps)
{
    struct lab_resident r = lab_bench_resident(call, warps);
    int threads = 0;
    if (warps > 32 && warps % 2 != 0)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.odd-warps] %lld warps are two blocks of a "
                        "half each: take an "
                        "even number",
                        (long long)warps);
    cudaError_t err = cudaDeviceGetAttribute(
        &threads, cudaDevAttrMaxThreadsPerMultiProcessor, call->exec->device);
    if (err != cudaSuccess)
        return lab_fail(LAB_E_DEVICE, "cannot ask the device: %s",
                        cudaGetErrorString(err));
    if (warps * 32 > threads)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.warps] a multiprocessor of this device holds "
                        "%d warps, not "
                        "%lld",
                        threads / 32, (long long)warps);
    return lab_bench_take_shared(call, kernel, static_cast<int64_t>(r.shared));
}
