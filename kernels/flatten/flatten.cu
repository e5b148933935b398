/* kernels/flatten/flatten.cu -- an image becomes a row of numbers.
 *
 * Where the order of memory stays, this is a copy. Channel first turns every
 * image: it lies as (S, C), S = H*W pixels of C channels, and becomes (C, S).
 *
 * Thread -> element: one thread an element of what is written, so that writes
 * are neighbours. Reads are then C (or S) numbers apart: of each 32-byte sector
 * that is fetched, one float is used at a time, and the cache must keep the
 * rest. A tile in shared memory would mend that (dense_tile.cuh turns one).
 * Memory: 8 bytes an element. */
#include "flatten/flatten.h"
#include "common/launch.cuh"

static __global__ void flatten_copy(float *to, const float *from, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        to[i] = from[i];
}

/* to[n, j, i] = from[n, i, j]: every (rows, cols) matrix is transposed. */
static __global__ void flatten_turn(float *to, const float *from, int64_t count,
                                    int64_t rows, int64_t cols)
{
    int64_t at = lab_element();
    if (at >= count)
        return;
    int64_t n = at / (rows * cols);
    int64_t j = at / rows % cols;
    int64_t i = at % rows;
    to[at] = from[(n * rows + i) * cols + j];
}

static enum lab_status flatten(const struct lab_call *call,
                               const struct lab_view *image, bool back)
{
    int64_t count = call->out[0].count;
    unsigned blocks = lab_blocks(count);
    if (!lab_params<lab_flatten_params>(call)->permute) {
        flatten_copy<<<blocks, LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), count);
        return lab_launched("flatten_copy");
    }
    int64_t C = lab_view_cols(image);
    int64_t N = image->rank > 0 ? image->dim[0] : 1;
    int64_t S = N * C > 0 ? image->count / (N * C) : 0;
    flatten_turn<<<blocks, LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count, back ? C : S, back ? S : C);
    return lab_launched("flatten_turn");
}

static enum lab_status flatten_forward(const struct lab_call *call)
{
    return flatten(call, &call->in[0], false);
}

static enum lab_status flatten_backward(const struct lab_call *call)
{
    return flatten(call, &call->out[0], true);
}

static const char source[] = "kernels/flatten/flatten.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "flatten", LAB_FORWARD, flatten_forward, source,
            "flatten_turn"),
    lab_row("naive", "flatten", LAB_BACKWARD, flatten_backward, source,
            "flatten_turn"),
};

const struct lab_kernel_set lab_cuda_flatten = lab_set("flatten", variants);
