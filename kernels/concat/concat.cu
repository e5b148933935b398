/* kernels/concat/concat.cu -- tensors side by side: a launch for each of them.
 *
 * Thread -> element: thread i copies element i of one input. Neighbours in a row
 * are neighbours in both tensors. Memory: 8 bytes an element, and nothing else. */
#include "common/launch.cuh"
#include "concat/concat.h"

/* Element i of an input of that width is in a row of the result, from `first` on. */
static __global__ void concat_copy(float *to, const float *from, int64_t width,
                                   int64_t row, int64_t first, bool back,
                                   int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t wide = i / width * row + first + i % width;
    to[back ? i : wide] = from[back ? wide : i];
}

static enum lab_status concat_forward(const struct lab_call *call)
{
    const lab_concat_params *p = lab_params<lab_concat_params>(call);
    int64_t first = 0;
    for (int k = 0; k < p->n; first += p->width[k++]) {
        int64_t count = call->in[k].count;
        concat_copy<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, k), p->width[k], p->row, first,
            false, count);
    }
    return lab_launched("concat_copy");
}

static enum lab_status concat_backward(const struct lab_call *call)
{
    const lab_concat_params *p = lab_params<lab_concat_params>(call);
    int64_t first = 0;
    for (int k = 0; k < p->n; first += p->width[k++]) {
        int64_t count = call->out[k].count;
        if (!lab_out(call, k))
            continue;
        concat_copy<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, k), lab_in(call, 0), p->width[k], p->row, first, true,
            count);
    }
    return lab_launched("concat_copy");
}

static const char source[] = "kernels/concat/concat.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "copy", LAB_FORWARD, concat_forward, source,
            "concat_copy"),
    lab_row("naive", "copy", LAB_BACKWARD, concat_backward, source,
            "concat_copy"),
};

const struct lab_kernel_set lab_cuda_concat = lab_set("concat", variants);
