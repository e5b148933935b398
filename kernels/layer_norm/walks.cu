/* kernels/layer_norm/walks.cu -- y = (x - mean) / sqrt(variance + eps)
 * gamma + beta, row by row: rows that stay in memory.
 *
 * naive    a thread has a row and walks over it three times: for the mean, for
 *          the variance, for the result. Neighbouring threads read a whole row
 *          apart: a piece of 32 bytes is fetched for 4.
 * block    256 threads have a row, and neighbours read neighbours; 16 bytes for
 *          the 8 that are needed, where the caches do not help.
 * welford  mean and variance in one walk, each element mending both, and the
 *          threads' results joined two by two (B. P. Welford 1962; T. F. Chan,
 *          G. H. Golub, R. J. LeVeque 1979): 12 bytes. The sum of the squares
 *          would do with one walk too, but E[x^2] - E[x]^2 takes two large
 *          numbers from each other that are nearly equal. The price: a chain of
 *          one division and three more operations for every element. */
#include "layer_norm/layer_norm.h"
#include "common/row.cuh"

static __global__ void layer_norm_naive(float *y, const float *x,
                                        const float *gamma, const float *beta,
                                        int64_t R, int64_t C)
{
    int64_t r = lab_element();
    if (r >= R)
        return;
    x += r * C;
    y += r * C;
    float sum = 0.0f;
    for (int64_t c = 0; c < C; c++)
        sum += x[c];
    float mean = sum / C;
    float squares = 0.0f;
    for (int64_t c = 0; c < C; c++)
        squares += (x[c] - mean) * (x[c] - mean);
    float scale = rsqrtf(squares / C + LAB_LAYER_NORM_EPS);
    for (int64_t c = 0; c < C; c++)
        y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

enum lab_status lab_layer_norm_naive(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    layer_norm_naive<<<lab_blocks(x->dim[0]), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        x->dim[0], x->dim[1]);
    return lab_launched("layer_norm_naive");
}

static __global__ void layer_norm_block(float *y, const float *x,
                                        const float *gamma, const float *beta,
                                        int64_t C)
{
    x += blockIdx.x * C;
    y += blockIdx.x * C;
    float sum = 0.0f;
    for (int64_t c = threadIdx.x; c < C; c += LAB_BLOCK)
        sum += x[c];
    float mean = row_sum<LAB_BLOCK>(sum) / C;
    float squares = 0.0f;
    for (int64_t c = threadIdx.x; c < C; c += LAB_BLOCK)
        squares += (x[c] - mean) * (x[c] - mean);
    squares = row_sum<LAB_BLOCK>(squares);
    float scale = rsqrtf(squares / C + LAB_LAYER_NORM_EPS);
    for (int64_t c = threadIdx.x; c < C; c += LAB_BLOCK)
        y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

/* Count, mean and sum of the squares of the differences from it. */
struct moments {
    float count;
    float mean;
    float squares;

    __device__ __forceinline__ void add(float v)
    {
        float before = v - mean;
        count += 1.0f;
        mean += before / count;
        squares += before * (v - mean);
    }

    __device__ __forceinline__ void join(const moments &o)
    {
        float all = count + o.count;
        float share = all > 0.0f ? o.count / all : 0.0f;
        float apart = o.mean - mean;
        mean += apart * share;
        squares += o.squares + apart * apart * count * share;
        count = all;
    }
};

static __device__ moments join_block(moments m)
{
    __shared__ moments part[LAB_BLOCK / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        moments o = {__shfl_xor_sync(0xffffffffu, m.count, distance),
                     __shfl_xor_sync(0xffffffffu, m.mean, distance),
                     __shfl_xor_sync(0xffffffffu, m.squares, distance)};
        m.join(o);
    }
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = m;
    __syncthreads();
    m = part[0];
    for (int w = 1; w < LAB_BLOCK / 32; w++)
        m.join(part[w]);
    return m;
}

static __global__ void layer_norm_welford(float *y, const float *x,
                                          const float *gamma, const float *beta,
                                          int64_t C)
{
    x += blockIdx.x * C;
    y += blockIdx.x * C;
    moments m = {0.0f, 0.0f, 0.0f};
    for (int64_t c = threadIdx.x; c < C; c += LAB_BLOCK)
        m.add(x[c]);
    m = join_block(m);
    float scale = rsqrtf(m.squares / C + LAB_LAYER_NORM_EPS);
    for (int64_t c = threadIdx.x; c < C; c += LAB_BLOCK)
        y[c] = (x[c] - m.mean) * scale * gamma[c] + beta[c];
}

typedef void layer_norm_kernel(float *y, const float *x, const float *gamma,
                               const float *beta, int64_t C);

static enum lab_status block_a_row(const struct lab_call *call,
                                   layer_norm_kernel *kernel, const char *name)
{
    const struct lab_view *x = &call->in[0];
    kernel<<<lab_blocks(x->dim[0], 1), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        x->dim[1]);
    return lab_launched(name);
}

enum lab_status lab_layer_norm_block(const struct lab_call *call)
{
    return block_a_row(call, layer_norm_block, "layer_norm_block");
}

enum lab_status lab_layer_norm_welford(const struct lab_call *call)
{
    return block_a_row(call, layer_norm_welford, "layer_norm_welford");
}
