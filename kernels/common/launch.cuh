/* kernels/common/launch.cuh -- the few lines that every launcher shares.
 *
 * A launcher is the host side of a kernel: it takes the views of a call apart,
 * chooses grid and block, and queues the kernel on the stream of the exec:
 *
 *     relu_fwd<<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(y, x, n);
 *     return lab_launched("relu_fwd");
 *
 * Grids are one-dimensional: gridDim.x may be 2^31 - 1, y and z only 65,535,
 * and batches of a million rows are not rare. */
#pragma once
#include <cuda_runtime.h>
#include "common/cuda_exec.h"
#include "common/cuda_sets.h"
#include "common/kernel.h"

/* Threads of a block where nothing else is given: 8 warps. Small enough that
 * several blocks share a multiprocessor, large enough to fill it with them. */
enum { LAB_BLOCK = 256 };

static inline const float *lab_in(const struct lab_call *call, int i)
{
    return static_cast<const float *>(call->in[i].data);
}

static inline const int32_t *lab_labels(const struct lab_call *call, int i)
{
    return static_cast<const int32_t *>(call->in[i].data);
}

static inline float *lab_out(const struct lab_call *call, int i)
{
    return static_cast<float *>(call->out[i].data);
}

static inline cudaStream_t lab_stream(const struct lab_call *call)
{
    return call->exec->stream;
}

/* The parameters, as the struct that the op's header names. */
template <typename PARAMS>
static inline const PARAMS *lab_params(const struct lab_call *call)
{
    return static_cast<const PARAMS *>(call->params);
}

/* Which iteration a kernel runs in. A captured kernel runs again in later
 * iterations, so it asks the device; else the argument has it. */
struct lab_iteration_ref {
    const uint64_t *device;
    uint64_t host;
};

static inline struct lab_iteration_ref
lab_iteration_ref_of(const struct lab_call *call)
{
    return {call->exec->iteration, call->iteration};
}

static __device__ inline uint64_t
lab_iteration(const struct lab_iteration_ref &when)
{
    return when.device ? *when.device : when.host;
}

/* Blocks of `per_block` items for `count` items; at least one. A count beyond
 * the largest grid gives 0, which the launch rejects and lab_launched()
 * reports. */
static inline unsigned lab_blocks(int64_t count, int per_block = LAB_BLOCK)
{
    int64_t blocks = count / per_block + (count % per_block != 0);
    if (blocks < 1)
        return 1;
    return blocks <= INT32_MAX ? static_cast<unsigned>(blocks) : 0;
}

/* Was the launch accepted? Faults while it runs surface at the next sync. */
static inline enum lab_status lab_launched(const char *kernel)
{
    cudaError_t err = cudaGetLastError();
    if (err == cudaSuccess)
        return LAB_OK;
    return lab_fail(LAB_E_DEVICE, "cannot launch %s: %s (%s)", kernel,
                    cudaGetErrorString(err), cudaGetErrorName(err));
}

/* Queues zeros. What cannot be queued is reported here, and not as a fault of
 * the next launch. */
static inline enum lab_status lab_zero(const struct lab_call *call, void *to,
                                       size_t bytes)
{
    cudaError_t err = cudaMemsetAsync(to, 0, bytes, lab_stream(call));
    if (err == cudaSuccess)
        return LAB_OK;
    (void)cudaGetLastError();
    return lab_fail(LAB_E_DEVICE, "cannot write zeros: %s (%s)",
                    cudaGetErrorString(err), cudaGetErrorName(err));
}

/* The element of this thread when every thread has one. 64 bits: a tensor may
 * have more than 2^31 elements. */
static __device__ inline int64_t lab_element()
{
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/* A row of an op's table. */
static constexpr struct lab_variant
lab_row(const char *name, const char *step, enum lab_phase phase,
        lab_kernel_fn *run, const char *source, const char *symbol,
        bool absorbs_activation = false, lab_kernel_fn *prepare = nullptr)
{
    struct lab_variant row = {};
    row.name = name;
    row.step = step;
    row.phase = phase;
    row.run = run;
    row.source = source;
    row.symbol = symbol;
    row.absorbs_activation = absorbs_activation;
    row.prepare = prepare;
    return row;
}

/* The row that large nodes run without a choice. */
static constexpr struct lab_variant lab_prefer(struct lab_variant row)
{
    row.preferred = true;
    return row;
}

/* A row whose outputs can be asked for one by one (lab_variant.apart). */
static constexpr struct lab_variant lab_apart(struct lab_variant row)
{
    row.apart = true;
    return row;
}

template <int COUNT>
static constexpr struct lab_kernel_set
lab_set(const char *op, const struct lab_variant (&variants)[COUNT])
{
    return {op, variants, COUNT};
}
