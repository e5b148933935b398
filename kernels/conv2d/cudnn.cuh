/* kernels/conv2d/cudnn.cuh -- a convolution of the labs by cuDNN: what is
 * asked for, and how it is kept (kernels/library/cudnn_exec.h). */
#pragma once
#include "library/cudnn_entry.cuh"
#include "conv2d/conv.h"
#include "common/kernel.h"

/* cuDNN's numbers: cudnnConvolutionFwdAlgo_t, ...BwdDataAlgo_t, ...BwdFilterAlgo_t,
 * cudnnMathType_t. */
enum {
    LAB_CONV_IMPLICIT_GEMM = 0,
    LAB_CONV_PRECOMP_GEMM = 1,
    LAB_CONV_GEMM = 2,
    LAB_CONV_DIRECT = 3,
    LAB_CONV_FFT = 4,
    LAB_CONV_FFT_TILING = 5,
    LAB_CONV_WINOGRAD = 6,
    LAB_CONV_WINOGRAD_NONFUSED = 7,

    LAB_DATA_ALGO_0 = 0, /* its sums come in another order every time */
    LAB_DATA_ALGO_1 = 1,
    LAB_DATA_FFT = 2,
    LAB_DATA_FFT_TILING = 3,
    LAB_DATA_WINOGRAD = 4,
    LAB_DATA_WINOGRAD_NONFUSED = 5,

    LAB_FILTER_ALGO_0 = 0, /* in another order every time, as is ALGO_3 */
    LAB_FILTER_ALGO_1 = 1,
    LAB_FILTER_FFT = 2,
    LAB_FILTER_ALGO_3 = 3,
    LAB_FILTER_WINOGRAD = 4,
    LAB_FILTER_WINOGRAD_NONFUSED = 5,
    LAB_FILTER_FFT_TILING = 6,

    LAB_MATH_DEFAULT = 0,
    LAB_MATH_TENSOR_OP = 1,
    LAB_MATH_CONVERSION = 2
};

/* What is computed from what; the numbers of struct lab_conv_offer. */
enum conv_pass {
    CONV_PASS_FORWARD, /* y from x and w */
    CONV_PASS_DATA,    /* dx from dy and w */
    CONV_PASS_FILTER   /* dw from x and dy */
};

/* Which of cuDNN's ways. */
struct conv_way {
    int algorithm;
    int math;
    int layout; /* LAB_CUDNN_NCHW or LAB_CUDNN_NHWC: x, w and y have it */
    int type; /* of x, w and y: LAB_CUDNN_FLOAT or LAB_CUDNN_HALF; sums fp32 */
    enum conv_pass pass; /* `algorithm` is a number of this one's list */
};

struct conv_made {
    struct lab_cudnn_entry *entry;
    size_t workspace; /* bytes that the algorithm wants */
    size_t more_at;   /* where the caller's bytes of it start */
};

/* Descriptors, and a workspace with `more` bytes behind the algorithm's own for
 * the caller. LAB_E_UNSUPPORTED: cuDNN does not serve the shape in this way;
 * LAB_E_NOMEM: its workspace is more than the device has. */
enum lab_status conv_cudnn_make(const struct lab_call *call,
                                const struct conv_shape &s,
                                const struct conv_way &way, size_t more,
                                struct conv_made *out);
/* Queues the pass: its two inputs, in the order of enum conv_pass, and its
 * result. */
enum lab_status conv_cudnn_run(const struct lab_call *call,
                               const struct conv_made &made,
                               const struct conv_way &way, const void *a,
                               const void *b, void *c);

/* A variant: the call's tensors as they are. */
enum lab_status conv_way_prepare(const struct lab_call *call,
                                 const struct conv_way &way);
enum lab_status conv_way_run(const struct lab_call *call,
                             const struct conv_way &way);
/* The workspace, and where TF32 may be used how far the result is from that of
 * fp32 arithmetic. */
void conv_way_note(const struct lab_call *call, const struct conv_way &way,
                   struct lab_variant_note *out);

template <int ALGORITHM, int MATH = LAB_CUDNN_FMA, int LAYOUT = LAB_CUDNN_NCHW,
          int TYPE = LAB_CUDNN_FLOAT, enum conv_pass PASS = CONV_PASS_FORWARD>
struct conv_variant {
    static enum lab_status prepare(const struct lab_call *call)
    {
        return conv_way_prepare(call, {ALGORITHM, MATH, LAYOUT, TYPE, PASS});
    }
    static enum lab_status run(const struct lab_call *call)
    {
        return conv_way_run(call, {ALGORITHM, MATH, LAYOUT, TYPE, PASS});
    }
    static void note(const struct lab_call *call, struct lab_variant_note *out)
    {
        conv_way_note(call, {ALGORITHM, MATH, LAYOUT, TYPE, PASS}, out);
    }
};

/* The row of a conv_variant<...>. */
#define CONV_CUDNN(name_, idea_, precision_, ...)                              \
    {                                                                          \
        .name = name_, .idea = idea_, .needs = "cuDNN",                        \
        .run = conv_variant<__VA_ARGS__>::run,                                 \
        .source = "kernels/conv2d/cudnn.cu", .model = {.library = true},       \
        .precision = precision_,                                               \
        .prepare = conv_variant<__VA_ARGS__>::prepare,                         \
        .note = conv_variant<__VA_ARGS__>::note,                               \
    }
