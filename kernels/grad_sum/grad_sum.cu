/* kernels/grad_sum/grad_sum.cu -- the sum of the gradients that come back along each
 * path from a tensor that feeds several nodes.
 *
 * The pointers of the contributions travel in the kernel's arguments, so that
 * one launch reads them all and writes the sum once. Atomics from the separate
 * backward kernels would save the launch and lose the order of the additions,
 * and with it the same bits at every run.
 *
 * Thread -> element: one thread an element of dx.
 * Memory: 4 bytes an element for each contribution, and 4 for dx.
 *
 * grad_norm is one block of 256 threads: thread i adds the squares of elements i,
 * i + 256 ..., then the threads join their sums (reduce.cuh). The order of the
 * additions depends on the count alone. 4 bytes an element, read once by one
 * multiprocessor, which cannot use the whole bandwidth: a gradient of millions of
 * elements takes long here. */
#include "grad_sum/grad_sum.h"
#include "common/reduce.cuh"
#include "common/vector.cuh"

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

/* The same with a quad a thread: vector.cuh has the reason. */
static __global__ void grad_sum_vector(float *dx, struct grad_sum_parts parts,
                                       int64_t count)
{
    int64_t i = lab_element();
    int64_t quads = count / 4;
    if (i < quads) {
        double sum[4] = {};
        for (int k = 0; k < parts.count; k++) {
            float4 q = reinterpret_cast<const float4 *>(parts.part[k])[i];
            sum[0] += q.x;
            sum[1] += q.y;
            sum[2] += q.z;
            sum[3] += q.w;
        }
        reinterpret_cast<float4 *>(dx)[i] = make_float4(
            (float)sum[0], (float)sum[1], (float)sum[2], (float)sum[3]);
    }
    int64_t last = 4 * quads + i;
    if (i >= count % 4)
        return;
    double sum = 0.0;
    for (int k = 0; k < parts.count; k++)
        sum += parts.part[k][last];
    dx[last] = (float)sum;
}

static enum lab_status parts_of(const struct lab_call *call,
                                struct grad_sum_parts *parts)
{
    if (call->n_in > GRAD_SUM_MAX) {
        return lab_fail(LAB_E_RANGE,
                        "[launch.contributions] grad_sum: %d contributions, at "
                        "most %d fit one kernel",
                        call->n_in, (int)GRAD_SUM_MAX);
    }
    for (int k = 0; k < call->n_in; k++) {
        if (call->in[k].data)
            parts->part[parts->count++] = lab_in(call, k);
    }
    return LAB_OK;
}

static enum lab_status sum_backward(const struct lab_call *call)
{
    struct grad_sum_parts parts = {};
    enum lab_status st = parts_of(call, &parts);
    if (st)
        return st;
    int64_t count = call->out[0].count;
    grad_sum<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), parts, count);
    return lab_launched("grad_sum");
}

static enum lab_status sum_backward_vector(const struct lab_call *call)
{
    struct grad_sum_parts parts = {};
    if (!vector_fits(call))
        return sum_backward(call);
    enum lab_status st = parts_of(call, &parts);
    if (st)
        return st;
    int64_t count = call->out[0].count;
    grad_sum_vector<<<lab_blocks((count + 3) / 4), LAB_BLOCK, 0,
                      lab_stream(call)>>>(lab_out(call, 0), parts, count);
    return lab_launched("grad_sum_vector");
}

static __global__ void grad_norm(float *norm, float *to_here, const float *g,
                                 const float *before, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = threadIdx.x; i < count; i += LAB_GROUP_ALL)
        sum += (double)g[i] * g[i];
    sum = group_sum<LAB_GROUP_ALL>(sum);
    if (threadIdx.x > 0)
        return;
    *norm = (float)sqrt(sum);
    if (before)
        sum += (double)*before * *before;
    *to_here = (float)sqrt(sum);
}

static enum lab_status norm_update(const struct lab_call *call)
{
    const float *before = call->n_in > 1 ? lab_in(call, 1) : nullptr;
    grad_norm<<<1, LAB_GROUP_ALL, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_out(call, 1), lab_in(call, 0), before,
        call->in[0].count);
    return lab_launched("grad_norm");
}

static const struct lab_variant variants[] = {
    lab_row("naive", "sum", LAB_BACKWARD, sum_backward,
            "kernels/grad_sum/grad_sum.cu", "grad_sum"),
    lab_prefer(lab_row("vector", "sum", LAB_BACKWARD, sum_backward_vector,
                       "kernels/grad_sum/grad_sum.cu", "grad_sum_vector")),
    lab_row("naive", "norm", LAB_UPDATE, norm_update,
            "kernels/grad_sum/grad_sum.cu", "grad_norm"),
};

const struct lab_kernel_set lab_cuda_grad_sum = lab_set("grad_sum", variants);
