/* kernels/labs/warps.cuh -- variants of labs with sizes of N, WARPS: a kernel on a
 * vector with so many warps on each multiprocessor and no more. */
#pragma once
#include "labs/lab.cuh"
#include "labs/sweep.h"

/* Defines the launcher NAME, NAME_prepare and NAME_note for KERNEL<EACH>(y, x,
 * n) with a note by NOTE<EACH>(call, out). */
#define LAB_WARPS_VARIANT(NAME, KERNEL, EACH, NOTE)                            \
    static enum lab_status NAME##_prepare(const struct lab_call *call)         \
    {                                                                          \
        return lab_bench_take_warps(                                           \
            call, reinterpret_cast<const void *>(KERNEL<EACH>),                \
            lab_bench_dim(call, 1));                                           \
    }                                                                          \
    static enum lab_status NAME(const struct lab_call *call)                   \
    {                                                                          \
        struct lab_resident r =                                                \
            lab_bench_resident(call, lab_bench_dim(call, 1));                  \
        KERNEL<EACH><<<r.blocks, r.threads, r.shared, lab_stream(call)>>>(     \
            lab_out(call, 0), lab_in(call, 0), call->out[0].count);            \
        return lab_launched(#KERNEL);                                          \
    }                                                                          \
    static void NAME##_note(const struct lab_call *call,                       \
                            struct lab_variant_note *out)                      \
    {                                                                          \
        NOTE<EACH>(call, out);                                                 \
    }
