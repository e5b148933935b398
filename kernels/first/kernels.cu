/* kernels/first/kernels.cu -- the first kernels of the course.
 *
 * A kernel is a function that many threads run at once. Each asks where it is
 * (blockIdx, threadIdx) and how large blocks and grid are (blockDim, gridDim),
 * and makes an index of that: which element is mine?
 *
 *     index = threadIdx.x + blockIdx.x * blockDim.x
 *
 * With more dimensions blocks are counted x first, then y, then z, and so are
 * the threads of a block. */
#include <stdio.h>

#include "first/first.h"
#include "common/launch.cuh"

static __device__ int64_t block_number()
{
    return blockIdx.x +
           (blockIdx.y + static_cast<int64_t>(blockIdx.z) * gridDim.y) *
               gridDim.x;
}

static __device__ int thread_number()
{
    return threadIdx.x + (threadIdx.y + threadIdx.z * blockDim.y) * blockDim.x;
}

static __device__ int64_t index_of_thread()
{
    int threads = blockDim.x * blockDim.y * blockDim.z;
    return block_number() * threads + thread_number();
}

static __global__ void hello_world()
{
    printf("Hello World from block %lld, thread %d\n",
           static_cast<long long>(block_number()), thread_number());
}

static __global__ void scalar_add(int *c, const int *a, const int *b)
{
    *c = *a + *b;
}

static __global__ void vector_add(float *c, int *idle, const float *a,
                                  const float *b, int64_t n)
{
    int64_t i = index_of_thread();
    if (i < n)
        c[i] = a[i] + b[i];
    else
        atomicAdd(idle, 1);
}

static __global__ void index_hits(int *hits)
{
    atomicAdd(&hits[index_of_thread()], 1);
}

/* ---- launching ---- */

static const struct lab_first_launch *launch_of(const struct lab_call *call)
{
    return lab_params<struct lab_first_launch>(call);
}

static dim3 dim3_of(const int64_t *dim)
{
    return dim3(static_cast<unsigned>(dim[0]), static_cast<unsigned>(dim[1]),
                static_cast<unsigned>(dim[2]));
}

static int *ints(const struct lab_view &view)
{
    return static_cast<int *>(view.data);
}

enum lab_status lab_first_prepare(const struct lab_call *call)
{
    static const enum cudaDeviceAttr attributes[] = {
        cudaDevAttrMaxThreadsPerBlock, cudaDevAttrMaxBlockDimX,
        cudaDevAttrMaxBlockDimY,       cudaDevAttrMaxBlockDimZ,
        cudaDevAttrMaxGridDimX,        cudaDevAttrMaxGridDimY,
        cudaDevAttrMaxGridDimZ};
    int v[7];
    for (int i = 0; i < 7; i++) {
        cudaError_t err =
            cudaDeviceGetAttribute(&v[i], attributes[i], call->exec->device);
        if (err != cudaSuccess)
            return lab_fail(LAB_E_DEVICE, "cannot ask the device: %s",
                            cudaGetErrorString(err));
    }
    const struct lab_first_limits limits = {
        v[0], {v[1], v[2], v[3]}, {v[4], v[5], v[6]}};
    return lab_first_fits(launch_of(call), &limits, "this device");
}

enum lab_status lab_first_hello(const struct lab_call *call)
{
    hello_world<<<dim3_of(launch_of(call)->grid),
                  dim3_of(launch_of(call)->block), 0, lab_stream(call)>>>();
    return lab_launched("hello_world");
}

enum lab_status lab_first_scalar_add(const struct lab_call *call)
{
    scalar_add<<<dim3_of(launch_of(call)->grid),
                 dim3_of(launch_of(call)->block), 0, lab_stream(call)>>>(
        ints(call->out[0]), ints(call->in[0]), ints(call->in[1]));
    return lab_launched("scalar_add");
}

enum lab_status lab_first_vectors(const struct lab_call *call)
{
    vector_add<<<dim3_of(launch_of(call)->grid),
                 dim3_of(launch_of(call)->block), 0, lab_stream(call)>>>(
        lab_out(call, 0), ints(call->out[1]), lab_in(call, 0), lab_in(call, 1),
        call->out[0].count);
    return lab_launched("vector_add");
}

enum lab_status lab_first_index(const struct lab_call *call)
{
    index_hits<<<dim3_of(launch_of(call)->grid),
                 dim3_of(launch_of(call)->block), 0, lab_stream(call)>>>(
        ints(call->out[0]));
    return lab_launched("index_hits");
}
