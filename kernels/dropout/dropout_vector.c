/* Dropout on all threads (cpu/vector.h): the random numbers of an element are a
 * function of its index, so that any order gives the same mask. One block of Philox
 * serves four elements; the blocks are independent, and the compiler computes
 * several at a time. */
#include "common/random.h"
#include "cpu/vector.h"
#include "dropout/dropout.h"

#define LAB_VECTOR_FILE "kernels/dropout/dropout_vector.c"

enum { FOUR = 4, BLOCKS = 64 };

/* The words of blocks first .. first + BLOCKS - 1 of the call's stream. */
LAB_VECTOR static void random_words(uint32_t *word, const struct lab_call *call,
                                    uint64_t first)
{
    uint32_t iteration = (uint32_t)call->iteration;
    uint64_t seed = call->seed;
    uint32_t node = call->node;
#pragma omp simd
    for (int i = 0; i < BLOCKS; i++) {
        struct lab_random4 r =
            lab_philox(seed, node, iteration, first + (uint64_t)i);
        word[FOUR * i] = r.v[0];
        word[FOUR * i + 1] = r.v[1];
        word[FOUR * i + 2] = r.v[2];
        word[FOUR * i + 3] = r.v[3];
    }
}

/* Elements from .. to-1 of one run of blocks, which begins at element `first`. */
LAB_VECTOR static void drop_run(const struct lab_call *call,
                                const uint32_t *word, int64_t first,
                                int64_t from, int64_t to)
{
    const struct lab_dropout_params *params = call->params;
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    float *mask = call->out[1].data;
    float p = (float)params->p;
    float kept = (float)(1 / (1 - params->p));
#pragma omp simd
    for (int64_t i = from; i < to; i++) {
        float factor = lab_random_unit(word[i - first]) >= p ? kept : 0;
        mask[i] = factor;
        y[i] = x[i] * factor;
    }
}

static void drop_part(const void *arg, int64_t from, int64_t to)
{
    uint32_t word[FOUR * BLOCKS];
    for (int64_t first = from / FOUR * FOUR; first < to;
         first += FOUR * BLOCKS) {
        int64_t last = first + FOUR * BLOCKS < to ? first + FOUR * BLOCKS : to;
        random_words(word, arg, (uint64_t)first / FOUR);
        drop_run(arg, word, first, first < from ? from : first, last);
    }
}

/* Evaluation: nothing is dropped. */
LAB_VECTOR static void pass_part(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    float *mask = call->out[1].data;
#pragma omp simd
    for (int64_t i = from; i < to; i++) {
        mask[i] = 1;
        y[i] = x[i];
    }
}

static enum lab_status dropout_forward(const struct lab_call *call)
{
    enum { GRAIN = LAB_GRAIN / 4 }; /* ten rounds of Philox for four */
    lab_parallel(call->out[0].count, GRAIN,
                 call->training ? drop_part : pass_part, call);
    return LAB_OK;
}

LAB_VECTOR static void back_part(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *dy = call->in[0].data;
    const float *mask = call->in[1].data;
    float *dx = call->out[0].data;
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        dx[i] = dy[i] * mask[i];
}

static enum lab_status dropout_backward(const struct lab_call *call)
{
    return lab_each_element(call, back_part);
}

static const struct lab_variant rows[] = {
    LAB_VECTOR_ROW("dropout", LAB_FORWARD, dropout_forward),
    LAB_VECTOR_ROW("dropout", LAB_BACKWARD, dropout_backward),
};
const struct lab_kernel_set lab_vector_dropout = {"dropout", rows, 2};
