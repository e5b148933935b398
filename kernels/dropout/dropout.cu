/* kernels/dropout/dropout.cu -- inverted dropout.
 *
 * The random number of an element is a function of (seed, node, iteration,
 * element): no generator state to load, to advance or to rewind, and the CPU
 * draws the same mask. Philox makes four words at a time, so a thread has four
 * neighbouring elements; making them one by one would do the work four times.
 * u and p are compared as floats, which both hold exactly what is compared.
 *
 * Thread -> element: thread i has the elements 4i .. 4i+3. A warp's 32 threads
 * cover 512 bytes in four interleaved accesses, which the cache puts together.
 * Memory: forward 12 bytes an element (x read, y and mask written), backward
 * 12. About 25 integer operations an element hide behind that. */
#include "dropout/dropout.h"
#include "common/launch.cuh"
#include "common/random.h"

struct dropout_draw {
    uint64_t seed;
    uint32_t node;
    struct lab_iteration_ref when;
    float p;
    float kept; /* 1/(1 - p) */
};

/* mask[i] = u(i) >= p ? 1/(1-p) : 0,  y[i] = x[i] mask[i] */
static __global__ void dropout_fwd(float *y, float *mask, const float *x,
                                   struct dropout_draw draw, int64_t count)
{
    int64_t block = lab_element();
    if (block * 4 >= count)
        return;
    struct lab_random4 words = lab_philox(
        draw.seed, draw.node, static_cast<uint32_t>(lab_iteration(draw.when)),
        static_cast<uint64_t>(block));
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int64_t i = block * 4 + j;
        if (i >= count)
            return;
        float factor = lab_random_unit(words.v[j]) >= draw.p ? draw.kept : 0.0f;
        mask[i] = factor;
        y[i] = x[i] * factor;
    }
}

/* Evaluation: nothing is dropped. */
static __global__ void dropout_pass(float *y, float *mask, const float *x,
                                    int64_t count)
{
    int64_t i = lab_element();
    if (i < count) {
        mask[i] = 1.0f;
        y[i] = x[i];
    }
}

/* dx[i] = dy[i] mask[i] */
static __global__ void dropout_bwd(float *dx, const float *dy,
                                   const float *mask, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dx[i] = dy[i] * mask[i];
}

static enum lab_status dropout_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    if (!call->training) {
        dropout_pass<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_out(call, 1), lab_in(call, 0), count);
        return lab_launched("dropout_pass");
    }
    double p = lab_params<lab_dropout_params>(call)->p;
    struct dropout_draw draw = {call->seed, call->node,
                                lab_iteration_ref_of(call), (float)p,
                                (float)(1.0 / (1.0 - p))};
    dropout_fwd<<<lab_blocks(count, 4 * LAB_BLOCK), LAB_BLOCK, 0,
                  lab_stream(call)>>>(lab_out(call, 0), lab_out(call, 1),
                                      lab_in(call, 0), draw, count);
    return lab_launched("dropout_fwd");
}

static enum lab_status dropout_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    dropout_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count);
    return lab_launched("dropout_bwd");
}

static const char source[] = "kernels/dropout/dropout.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "dropout", LAB_FORWARD, dropout_forward, source,
            "dropout_fwd"),
    lab_row("naive", "dropout", LAB_BACKWARD, dropout_backward, source,
            "dropout_bwd"),
};

const struct lab_kernel_set lab_cuda_dropout = lab_set("dropout", variants);
