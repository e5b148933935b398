/* kernels/grad_sum.cu -- the sum of the gradients that come back along each
 * path from a tensor that feeds several nodes.
 *
 * The pointers of the contributions travel in the kernel's arguments, so that
 * one launch reads them all and writes the sum once. Atomics from the separate
 * backward kernels would save the launch and lose the order of the additions,
 * and with it the same bits at every run.
 *
 * Thread -> element: one thread an element of dx.
 * Memory: 4 bytes an element for each contribution, and 4 for dx. */
#include "grad_sum.h"
#include "launch.cuh"

enum { GRAD_SUM_MAX = 16 };

struct grad_sum_parts {
    const float *part[GRAD_SUM_MAX];
    int count;
};

/* dx[i] = sum_k part[k][i] */
static __global__ void grad_sum(float *dx, struct grad_sum_parts parts,
                                int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    double sum = 0.0;
    for (int k = 0; k < parts.count; k++)
        sum += parts.part[k][i];
    dx[i] = (float)sum;
}

static enum lab_status sum_backward(const struct lab_call *call)
{
    struct grad_sum_parts parts = {};
    if (call->n_in > GRAD_SUM_MAX) {
        return lab_fail(LAB_E_RANGE,
                        "grad_sum: %d contributions, at most %d fit one kernel",
                        call->n_in, (int)GRAD_SUM_MAX);
    }
    for (int k = 0; k < call->n_in; k++) {
        if (call->in[k].data)
            parts.part[parts.count++] = lab_in(call, k);
    }
    int64_t count = call->out[0].count;
    grad_sum<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), parts, count);
    return lab_launched("grad_sum");
}

static const struct lab_variant variants[] = {
    lab_row("naive", "sum", LAB_BACKWARD, sum_backward, "kernels/grad_sum.cu",
            "grad_sum"),
};

const struct lab_kernel_set lab_cuda_grad_sum = lab_set("grad_sum", variants);
