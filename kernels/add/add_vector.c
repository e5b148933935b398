/* Sums of tensors, several elements at a time and on all threads
 * (cpu/vector.h): add of the forward pass, grad_sum of the backward pass. Memory
 * bounds both. */
#include <string.h>

#include "add/add.h"
#include "cpu/vector.h"

#define LAB_VECTOR_FILE "kernels/add/add_vector.c"

/* out[i] = sum_k in[k][i]; in double from three tensors on */
LAB_VECTOR static void sum_part(const void *arg, int64_t from, int64_t to)
{
    enum { CHUNK = 256 };
    const struct lab_call *call = arg;
    float *out = call->out[0].data;
    for (int64_t at = from; at < to; at += CHUNK) {
        int64_t count = to - at < CHUNK ? to - at : CHUNK;
        double sum[CHUNK] = {0};
        for (int k = 0; k < call->n_in; k++) {
            const float *x = (const float *)call->in[k].data + at;
#pragma omp simd
            for (int64_t i = 0; i < count; i++)
                sum[i] += (double)x[i];
        }
#pragma omp simd
        for (int64_t i = 0; i < count; i++)
            out[at + i] = (float)sum[i];
    }
}

LAB_VECTOR static void pair_part(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *a = call->in[0].data;
    const float *b = call->in[1].data;
    float *out = call->out[0].data;
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        out[i] = a[i] + b[i];
}

LAB_VECTOR static void triple_part(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *a = call->in[0].data;
    const float *b = call->in[1].data;
    const float *c = call->in[2].data;
    float *out = call->out[0].data;
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        out[i] = (float)((double)a[i] + (double)b[i] + (double)c[i]);
}

static enum lab_status sum_all(const struct lab_call *call)
{
    return lab_each_element(call, call->n_in == 2   ? pair_part
                                  : call->n_in == 3 ? triple_part
                                                    : sum_part);
}

/* d = dy for each side that is wanted */
static void copy_part(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *dy = call->in[0].data;
    for (int side = 0; side < 2; side++) {
        float *d = call->out[side].data;
        if (d)
            memcpy(d + from, dy + from, (size_t)(to - from) * sizeof(*d));
    }
}

static enum lab_status add_backward(const struct lab_call *call)
{
    lab_parallel(call->in[0].count, LAB_GRAIN, copy_part, call);
    return LAB_OK;
}

static const struct lab_variant add_rows[] = {
    LAB_VECTOR_ROW("add", LAB_FORWARD, sum_all),
    LAB_VECTOR_ROW("add", LAB_BACKWARD, add_backward),
};
const struct lab_kernel_set lab_vector_add = {"add", add_rows, 2};

static const struct lab_variant grad_sum_rows[] = {
    LAB_VECTOR_ROW("sum", LAB_BACKWARD, sum_all),
};
const struct lab_kernel_set lab_vector_grad_sum = {"grad_sum", grad_sum_rows,
                                                   1};
