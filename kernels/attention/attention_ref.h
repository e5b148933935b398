/* kernels/attention/attention_ref.h -- the reference functions that `attention` and
 * `scaled_dot_attention` share; they stand in scaled_dot_attention_ref.c. */
#pragma once
#include "attention/attention.h"
#include "common/ref.h"

/* Each build, float and double, has its own symbols. */
#define attend_scores_forward LAB_REF(attend_scores_forward)
#define attend_softmax_forward LAB_REF(attend_softmax_forward)
#define attend_context_forward LAB_REF(attend_context_forward)
#define attend_scores_backward LAB_REF(attend_scores_backward)
#define attend_softmax_backward LAB_REF(attend_softmax_backward)
#define attend_context_backward LAB_REF(attend_context_backward)

lab_kernel_fn attend_scores_forward;
lab_kernel_fn attend_softmax_forward;
lab_kernel_fn attend_context_forward;
lab_kernel_fn attend_scores_backward;
lab_kernel_fn attend_softmax_backward;
lab_kernel_fn attend_context_backward;

#define ATTEND_ROW(step_name, phase_id, fn, symbol_name)                       \
    {                                                                          \
        .name = "naive", .step = step_name, .phase = phase_id, .run = fn,      \
        .source = "kernels/attention/scaled_dot_attention_ref.c",              \
        .symbol = symbol_name                                                  \
    }

#define ATTEND_ROWS                                                            \
    ATTEND_ROW("scores", LAB_FORWARD, attend_scores_forward,                   \
               "attend_scores_forward"),                                       \
        ATTEND_ROW("softmax", LAB_FORWARD, attend_softmax_forward,             \
                   "attend_softmax_forward"),                                  \
        ATTEND_ROW("context", LAB_FORWARD, attend_context_forward,             \
                   "attend_context_forward"),                                  \
        ATTEND_ROW("context", LAB_BACKWARD, attend_context_backward,           \
                   "attend_context_backward"),                                 \
        ATTEND_ROW("softmax", LAB_BACKWARD, attend_softmax_backward,           \
                   "attend_softmax_backward"),                                 \
        ATTEND_ROW("scores", LAB_BACKWARD, attend_scores_backward,             \
                   "attend_scores_backward")
