/* Kernels that each show one rule of the advice (few warps, spread loads, a
 * product on the ordinary lanes), and a plain one that shows none. */
#include "advice_kernels.h"

#include <cmath>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

namespace
{

enum { THREADS = 256, SIDE = 1024, ROWS = 32, DEPTH = 1024, WIDE = 65536 };
enum { SPLIT = 8, REGISTERS = 128, STRIDE = 32, BIG_SHARED = 160 * 1024 };

float *memory; /* DEPTH * WIDE floats: 256 MiB, more than the caches hold */
float *result; /* ROWS * WIDE */
int sms;

/* Long enough to count, and nothing to complain of. */
__global__ void plain(const float *x, float *y, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int t = 0; t < turns; t++)
        v = v * 0.999f + 0.5f;
    y[i] = v;
}

__global__ void with_shared(const float *x, float *y, int turns)
{
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    float v = tile[(threadIdx.x + 1) % blockDim.x];
    for (int t = 0; t < turns; t++)
        v = v * 0.999f + 0.5f;
    y[i] = v;
}

__global__ __launch_bounds__(128) void with_registers(const float *x, float *y,
                                                      int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[REGISTERS];
#pragma unroll
    for (int k = 0; k < REGISTERS; k++)
        v[k] = x[i + k];
    for (int t = 0; t < turns; t++) {
#pragma unroll
        for (int k = 0; k < REGISTERS; k++)
            v[k] = v[k] * 0.999f + v[(k + 1) % REGISTERS];
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < REGISTERS; k++)
        sum += v[k];
    y[i] = sum;
}

__global__ void spread_load(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += x[(size_t)i * STRIDE + k];
    y[i] = sum;
}

__global__ void spread_store(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++)
        y[(size_t)i * STRIDE + k] = (float)i;
}

__global__ void tiny(float *y)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

/* C = A B, SIDE x SIDE, a thread for each element. */
__global__ void product(const float *a, const float *b, float *c)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    float sum = 0;
    for (int k = 0; k < SIDE; k++)
        sum += a[row * SIDE + k] * b[k * SIDE + col];
    c[row * SIDE + col] = sum;
}

/* The same size on tensor cores: a warp for each 16 x 16. */
__global__ void tensor_product(const __half *a, const __half *b, float *c)
{
    using namespace nvcuda::wmma;
    int col = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
    int row = blockIdx.y * 16;
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.0f);
    for (int k = 0; k < SIDE; k += 16) {
        load_matrix_sync(fa, a + row * SIDE + k, SIDE);
        load_matrix_sync(fb, b + k * SIDE + col, SIDE);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c + row * SIDE + col, fc, SIDE, mem_row_major);
}

/* C (ROWS, WIDE) += A (ROWS, DEPTH) B (DEPTH, WIDE), a part of DEPTH for each
 * blockIdx.y; B comes from memory once for every row. */
__global__ void refetch(const float *a, const float *b, float *c)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.y * (DEPTH / SPLIT);
    for (int row = 0; row < ROWS; row++) {
        float sum = 0;
#pragma unroll 16
        for (int k = first; k < first + DEPTH / SPLIT; k++)
            sum += a[row * DEPTH + k] * __ldcg(&b[(size_t)k * WIDE + col]);
        atomicAdd(&c[(size_t)row * WIDE + col], sum);
    }
}

/* B comes once, and is used for all rows. */
__global__ void tiled(const float *a, const float *b, float *c)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.y * (DEPTH / SPLIT);
    float sum[ROWS] = {0};
    for (int k = first; k < first + DEPTH / SPLIT; k++) {
        float v = __ldcg(&b[(size_t)k * WIDE + col]);
#pragma unroll
        for (int row = 0; row < ROWS; row++)
            sum[row] += a[row * DEPTH + k] * v;
    }
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        atomicAdd(&c[(size_t)row * WIDE + col], sum[row]);
}

int blocks_a_wave()
{
    int each = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, plain, THREADS, 0);
    return each * sms;
}

void launch_product(enum advice_kernel which)
{
    const float *a = memory;
    const float *b = memory + SIDE * SIDE;
    dim3 columns(WIDE / THREADS, SPLIT);
    if (which == ADVICE_FP32_PRODUCT)
        product<<<dim3(SIDE / THREADS, SIDE), THREADS>>>(a, b, result);
    else if (which == ADVICE_TENSOR_PRODUCT)
        tensor_product<<<dim3(SIDE / 64, SIDE / 16), 128>>>(
            (const __half *)a, (const __half *)b, result);
    else if (which == ADVICE_REFETCH)
        refetch<<<columns, THREADS>>>(result, memory, result);
    else
        tiled<<<columns, THREADS>>>(result, memory, result);
}

} // namespace

int advice_open(void)
{
    size_t bytes = (size_t)DEPTH * WIDE * sizeof(float);
    if (cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0) !=
            cudaSuccess ||
        cudaMalloc(&memory, bytes) != cudaSuccess ||
        cudaMalloc(&result, (size_t)ROWS * WIDE * sizeof(float)) != cudaSuccess)
        return 0;
    cudaFuncSetAttribute(
        with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, BIG_SHARED);
    cudaMemset(memory, 0, bytes);
    cudaMemset(result, 0, (size_t)ROWS * WIDE * sizeof(float));
    return cudaDeviceSynchronize() == cudaSuccess;
}

void advice_close(void)
{
    cudaFree(memory);
    cudaFree(result);
}

int advice_launch(enum advice_kernel which)
{
    const int turns = 4000;
    switch (which) {
    case ADVICE_PLAIN:
        plain<<<2 * blocks_a_wave(), THREADS>>>(memory, result, turns);
        break;
    case ADVICE_SHARED:
        with_shared<<<2 * sms, THREADS, BIG_SHARED>>>(memory, result, turns);
        break;
    case ADVICE_REGISTERS:
        with_registers<<<12 * sms, 128>>>(memory, result, 50);
        break;
    case ADVICE_FEW:
        plain<<<sms / 2, THREADS>>>(memory, result, turns);
        break;
    case ADVICE_TAIL:
        plain<<<blocks_a_wave() + 3, THREADS>>>(memory, result, turns);
        break;
    case ADVICE_SPREAD:
        spread_load<<<2 * blocks_a_wave(), THREADS>>>(memory, result, 8);
        break;
    case ADVICE_SPREAD_STORE:
        spread_store<<<2 * blocks_a_wave(), THREADS>>>(memory, 8);
        break;
    case ADVICE_TINY:
        tiny<<<sms, THREADS>>>(result);
        break;
    default:
        launch_product(which);
    }
    return cudaGetLastError() == cudaSuccess;
}

int advice_wait(void)
{
    return cudaDeviceSynchronize() == cudaSuccess;
}

void advice_work(enum advice_kernel which, double *flop, double *bytes)
{
    double side = SIDE;
    *flop = *bytes = NAN;
    if (which == ADVICE_FP32_PRODUCT || which == ADVICE_TENSOR_PRODUCT) {
        *flop = 2 * side * side * side;
        *bytes = (which == ADVICE_FP32_PRODUCT ? 12 : 8) * side * side;
    } else if (which == ADVICE_REFETCH || which == ADVICE_TILED) {
        *flop = 2.0 * ROWS * DEPTH * WIDE;
        *bytes =
            4.0 * ((double)DEPTH * WIDE + ROWS * DEPTH + 2.0 * ROWS * WIDE);
    }
}
