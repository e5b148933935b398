/* kernels/conv2d/conv2d_cudnn.cuh -- a convolution by cuDNN, in three files:
 *   conv2d_cudnn_find.cu     a shape, once: descriptors, algorithm, memory
 *   conv2d_cudnn_choice.h    which algorithms may be taken
 *   conv2d_cudnn.cu          the copies around it, the steps and their table */
#pragma once
#include "conv2d/conv2d_cuda.cuh"
#include "library/cudnn_entry.cuh"

enum conv_direction { CONV_FORWARD, CONV_DATA, CONV_FILTER };

enum conv_wish {
    CONV_FOUND,
    CONV_IMPLICIT,
    CONV_PRECOMP,
    CONV_GEMM,
    CONV_FFT,
    CONV_FFT_TILING,
    CONV_WINOGRAD,
    CONV_NONFUSED
};

/* How the tensors are handed over: as they are, as nhwc, or copied. */
enum conv_mode { CONV_AS_IT_IS, CONV_AS_NHWC, CONV_STAGED };

/* A box of N x C images of H x W, packed, that starts at input (-top, -left). */
struct conv_box {
    int64_t H;
    int64_t W;
    int64_t top;
    int64_t left;
};

struct conv_plan {
    enum conv_mode mode;
    int algorithm;
    size_t algorithm_bytes;
    struct conv_box box;
    size_t x_at; /* bytes into the workspace, where it is copied */
    size_t y_at;
    size_t w_at;
    size_t total;
};

/* Descriptors of an entry. */
enum { CONV_X, CONV_Y, CONV_W, CONV_SELF };

struct conv_job {
    const struct lab_call *call;
    struct lab_conv2d s;
    enum conv_direction dir;
    enum conv_wish wish;
    struct lab_cudnn *dnn;
    struct lab_cudnn_entry *entry;
    struct conv_plan *plan;
};

/* "conv2d cudnn_fft", for messages. */
const char *conv_name(enum conv_wish wish);
/* The job of a call, with a plan and the workspace for it. */
enum lab_status conv_job_of(const struct lab_call *call,
                            enum conv_direction dir, enum conv_wish wish,
                            struct conv_job *j);
/* A way to do it: how the tensors are handed over, and cuDNN's number. */
struct conv_candidate {
    enum conv_mode mode;
    int algorithm;
};
enum { CONV_CANDIDATES = 32 };

/* One direction of a step, on the views of j->call. */
enum lab_status conv_execute(const struct conv_job *j);

/* The functions of a direction, and its tensors: two in, one out. */
struct conv_calls {
    lab_cudnn_conv_list_fn *list;
    lab_cudnn_conv_size_fn *size;
    lab_cudnn_conv_run_fn *run;
    int a;
    int b;
    int c;
};

struct conv_calls conv_calls_of(const struct conv_job *j);

static inline struct conv_box conv_whole(const struct lab_image &i)
{
    return {i.H, i.W, 0, 0};
}

static inline int64_t conv_weights(const struct conv_job *j)
{
    return j->s.KH * j->s.KW * j->s.x.C * j->s.y.C;
}
