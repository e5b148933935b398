/* kernels/launch/copies.cu -- y = x with any size of block, and with any
 * amount of shared memory asked for.
 *
 * A multiprocessor holds so many warps, so many blocks, so many registers and
 * so much shared memory; what runs out first limits how many blocks are resident.
 * Small blocks run out of blocks, and shared memory that is asked for counts
 * whether it is used or not: here it is not.
 *
 * plain  a thread for each number: 4 bytes on their way a thread, so that many
 *        threads are needed.
 * fours  16 bytes a thread: a quarter of the warps has as much on its way. */
#include "common/kernel.h"
#include "labs/lab.cuh"
#include "labs/sweep.h"

static __global__ void launch_plain(float *y, const float *x, int64_t n)
{
    int64_t i = lab_element();
    if (i < n)
        y[i] = x[i];
}

static __global__ void launch_fours(float *y, const float *x, int64_t n)
{
    int64_t i = 4 * lab_element();
    if (i + 3 < n) {
        *reinterpret_cast<float4 *>(y + i) =
            *reinterpret_cast<const float4 *>(x + i);
        return;
    }
    for (; i < n; i++)
        y[i] = x[i];
}

typedef void copy_kernel(float *y, const float *x, int64_t n);

static enum lab_status launch(const struct lab_call *call, copy_kernel *kernel,
                              int each, const char *name)
{
    int64_t n = call->out[0].count;
    int block = static_cast<int>(lab_bench_dim(call, 1));
    kernel<<<lab_blocks(n, each * block), static_cast<unsigned>(block),
             static_cast<size_t>(lab_bench_dim(call, 2)), lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), n);
    return lab_launched(name);
}

static void note(const struct lab_call *call, copy_kernel *kernel,
                 struct lab_variant_note *out)
{
    lab_bench_say_resident(out, reinterpret_cast<const void *>(kernel),
                           static_cast<int>(lab_bench_dim(call, 1)),
                           static_cast<size_t>(lab_bench_dim(call, 2)));
}

static enum lab_status plain_prepare(const struct lab_call *call)
{
    return lab_bench_take_shared(call,
                                 reinterpret_cast<const void *>(launch_plain),
                                 lab_bench_dim(call, 2));
}

static enum lab_status plain(const struct lab_call *call)
{
    return launch(call, launch_plain, 1, "launch_plain");
}

static void plain_note(const struct lab_call *call,
                       struct lab_variant_note *out)
{
    note(call, launch_plain, out);
}

static enum lab_status fours_prepare(const struct lab_call *call)
{
    return lab_bench_take_shared(call,
                                 reinterpret_cast<const void *>(launch_fours),
                                 lab_bench_dim(call, 2));
}

static enum lab_status fours(const struct lab_call *call)
{
    return launch(call, launch_fours, 4, "launch_fours");
}

static void fours_note(const struct lab_call *call,
                       struct lab_variant_note *out)
{
    note(call, launch_fours, out);
}

#define SOURCE "kernels/launch/copies.cu"

extern const struct lab_variant lab_cuda_variants_launch[] = {
    {.name = "plain",
     .idea = "a thread for each number",
     .run = plain,
     .source = SOURCE,
     .model = {.traffic = 1},
     .prepare = plain_prepare,
     .note = plain_note},
    {.name = "fours",
     .idea = "16 bytes a thread: fewer warps have as much on its way",
     .run = fours,
     .source = SOURCE,
     .model = {.traffic = 1},
     .prepare = fours_prepare,
     .note = fours_note},
    {},
};
