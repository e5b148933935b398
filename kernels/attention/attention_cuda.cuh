/* kernels/attention/attention_cuda.cuh -- attention, one file a variant:
 *   scaled_dot_attention.cu  scores, softmax, context: a thread an element
 *   attention_softmax.cu     softmax with a row in registers
 *   attention_cublas.cu      their products by NVIDIA's library
 *   attention_fused.cu       all three in one kernel, without the matrix
 *   attention.cu             the projections; the table of `attention` */
#pragma once
#include "attention/attention.h"
#include "common/launch.cuh"

lab_kernel_fn attend_scores_forward;
lab_kernel_fn attend_softmax_forward_naive;
lab_kernel_fn attend_softmax_forward_warp;
lab_kernel_fn attend_softmax_forward_vector;
lab_kernel_fn attend_context_forward;
lab_kernel_fn attend_context_backward;
lab_kernel_fn attend_softmax_backward_naive;
lab_kernel_fn attend_softmax_backward_warp;
lab_kernel_fn attend_softmax_backward_vector;
lab_kernel_fn attend_scores_backward;
lab_kernel_fn attend_cublas_scores_forward;
lab_kernel_fn attend_cublas_context_forward;
lab_kernel_fn attend_cublas_context_backward;
lab_kernel_fn attend_cublas_scores_backward;
lab_kernel_fn attend_fused_forward;
lab_kernel_fn attend_fused_backward;

/* The sizes, for kernels: by value. */
struct attend_shape {
    int64_t N;
    int64_t H;
    int64_t Tq;
    int64_t Tk;
    int64_t E;
    int64_t F;
    float scale; /* 1 / sqrt(E) */
    bool causal;
};

static inline struct attend_shape attend_shape_of(const struct lab_call *call,
                                                  const struct lab_view *q,
                                                  const struct lab_view *k,
                                                  const struct lab_view *v)
{
    const auto *p = lab_params<lab_attention_params>(call);
    struct lab_attention_dims d = lab_attention_sizes(q, k, v, p->heads);
    return {
        d.N,      d.H, d.Tq, d.Tk, d.E, d.F, (float)(1.0 / sqrt((double)d.E)),
        p->causal};
}

static constexpr char attend_naive_source[] =
    "kernels/attention/scaled_dot_attention.cu";
static constexpr char attend_softmax_source[] =
    "kernels/attention/attention_softmax.cu";
static constexpr char attend_cublas_source[] =
    "kernels/attention/attention_cublas.cu";
static constexpr char attend_fused_source[] =
    "kernels/attention/attention_fused.cu";

/* The rows that both ops have. */
#define ATTEND_CUDA_ROWS                                                       \
    lab_row("naive", "scores", LAB_FORWARD, attend_scores_forward,             \
            attend_naive_source, "attend_scores_fwd"),                         \
        lab_prefer(lab_row("cublas", "scores", LAB_FORWARD,                    \
                           attend_cublas_scores_forward, attend_cublas_source, \
                           "attend_cublas_scores_forward")),                   \
        lab_row("naive", "softmax", LAB_FORWARD, attend_softmax_forward_naive, \
                attend_naive_source, "attend_softmax_fwd"),                    \
        lab_row("warp", "softmax", LAB_FORWARD, attend_softmax_forward_warp,   \
                attend_naive_source, "attend_softmax_fwd"),                    \
        lab_row("cublas", "softmax", LAB_FORWARD,                              \
                attend_softmax_forward_vector, attend_softmax_source,          \
                "attend_softmax_fwd_vector"),                                  \
        lab_prefer(lab_row(                                                    \
            "vector", "softmax", LAB_FORWARD, attend_softmax_forward_vector,   \
            attend_softmax_source, "attend_softmax_fwd_vector")),              \
        lab_row("naive", "context", LAB_FORWARD, attend_context_forward,       \
                attend_naive_source, "attend_context_fwd"),                    \
        lab_prefer(lab_row(                                                    \
            "cublas", "context", LAB_FORWARD, attend_cublas_context_forward,   \
            attend_cublas_source, "attend_cublas_context_forward")),           \
        lab_row("naive", "context", LAB_BACKWARD, attend_context_backward,     \
                attend_naive_source, "attend_context_dprobs"),                 \
        lab_prefer(lab_row(                                                    \
            "cublas", "context", LAB_BACKWARD, attend_cublas_context_backward, \
            attend_cublas_source, "attend_cublas_context_backward")),          \
        lab_row("naive", "softmax", LAB_BACKWARD,                              \
                attend_softmax_backward_naive, attend_naive_source,            \
                "attend_softmax_bwd"),                                         \
        lab_row("warp", "softmax", LAB_BACKWARD, attend_softmax_backward_warp, \
                attend_naive_source, "attend_softmax_bwd"),                    \
        lab_row("cublas", "softmax", LAB_BACKWARD,                             \
                attend_softmax_backward_vector, attend_softmax_source,         \
                "attend_softmax_bwd_vector"),                                  \
        lab_prefer(lab_row(                                                    \
            "vector", "softmax", LAB_BACKWARD, attend_softmax_backward_vector, \
            attend_softmax_source, "attend_softmax_bwd_vector")),              \
        lab_row("naive", "scores", LAB_BACKWARD, attend_scores_backward,       \
                attend_naive_source, "attend_scores_dq"),                      \
        lab_prefer(lab_row(                                                    \
            "cublas", "scores", LAB_BACKWARD, attend_cublas_scores_backward,   \
            attend_cublas_source, "attend_cublas_scores_backward")),           \
        lab_row("fused", nullptr, LAB_FORWARD, attend_fused_forward,           \
                attend_fused_source, "attend_fused_fwd"),                      \
        lab_row("fused", nullptr, LAB_BACKWARD, attend_fused_backward,         \
                attend_fused_source, "attend_fused_dq")
