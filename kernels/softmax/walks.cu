/* kernels/softmax/walks.cu -- y[r,c] = exp(x[r,c] - m_r) / sum_c exp(x[r,c]
 * - m_r), m_r the largest of the row: rows that stay in memory.
 *
 * naive   a thread has a row and walks over it three times: for the largest,
 *         for the sum, for the quotient. Neighbouring threads read a whole row
 *         apart: a piece of 32 bytes is fetched for 4.
 * block   256 threads have a row, and neighbours read neighbours. Three walks
 *         still, 16 bytes for the 8 that are needed, where the caches do not
 *         help.
 * online  the largest and the sum in one walk: when a larger element comes, the
 *         sum so far is scaled down by exp(old - new) (M. Milakov, N.
 *         Gimelshein, "Online normalizer calculation for softmax", 2018). Two
 *         walks, 12 bytes; the price is a second exp where the largest changes.
 *
 * The row is taken in int64_t: it may be longer than 2^31. */
#include "common/row.cuh"
#include "softmax/softmax.h"

static __global__ void softmax_naive(float *y, const float *x, int64_t R,
                                     int64_t C)
{
    int64_t r = lab_element();
    if (r >= R)
        return;
    x += r * C;
    y += r * C;
    float largest = -INFINITY;
    for (int64_t c = 0; c < C; c++)
        largest = fmaxf(largest, x[c]);
    float sum = 0.0f;
    for (int64_t c = 0; c < C; c++)
        sum += expf(x[c] - largest);
    for (int64_t c = 0; c < C; c++)
        y[c] = expf(x[c] - largest) / sum;
}

enum lab_status lab_softmax_naive(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    softmax_naive<<<lab_blocks(x->dim[0]), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), x->dim[0], x->dim[1]);
    return lab_launched("softmax_naive");
}

static __global__ void softmax_block(float *y, const float *x, int64_t C)
{
    x += blockIdx.x * C;
    y += blockIdx.x * C;
    float largest = -INFINITY;
    for (int64_t c = threadIdx.x; c < C; c += LAB_BLOCK)
        largest = fmaxf(largest, x[c]);
    largest = row_max<LAB_BLOCK>(largest);
    float sum = 0.0f;
    for (int64_t c = threadIdx.x; c < C; c += LAB_BLOCK)
        sum += expf(x[c] - largest);
    sum = row_sum<LAB_BLOCK>(sum);
    for (int64_t c = threadIdx.x; c < C; c += LAB_BLOCK)
        y[c] = expf(x[c] - largest) / sum;
}

static __global__ void softmax_online(float *y, const float *x, int64_t C)
{
    x += blockIdx.x * C;
    y += blockIdx.x * C;
    float largest = -INFINITY;
    float sum = 0.0f;
    for (int64_t c = threadIdx.x; c < C; c += LAB_BLOCK) {
        float v = x[c];
        if (v > largest) {
            sum *= expf(largest - v); /* the first time 0 exp(-inf) = 0 */
            largest = v;
        }
        sum += expf(v - largest);
    }
    float all = row_max<LAB_BLOCK>(largest);
    /* A thread without elements has a sum of 0 and must not make a NaN. */
    sum = row_sum<LAB_BLOCK>(sum == 0.0f ? 0.0f : sum * expf(largest - all));
    for (int64_t c = threadIdx.x; c < C; c += LAB_BLOCK)
        y[c] = expf(x[c] - all) / sum;
}

typedef void softmax_kernel(float *y, const float *x, int64_t C);

static enum lab_status block_a_row(const struct lab_call *call,
                                   softmax_kernel *kernel, const char *name)
{
    const struct lab_view *x = &call->in[0];
    kernel<<<lab_blocks(x->dim[0], 1), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), x->dim[1]);
    return lab_launched(name);
}

enum lab_status lab_softmax_block(const struct lab_call *call)
{
    return block_a_row(call, softmax_block, "softmax_block");
}

enum lab_status lab_softmax_online(const struct lab_call *call)
{
    return block_a_row(call, softmax_online, "softmax_online");
}
