/* kernels/library/cudnn_sets.h -- the kernel tables of kernels/<op>_cudnn.cu: rows of
 * an op that has a table of its own, offered where cuDNN is found. A table
 * stays valid as long as the module is loaded. */
#pragma once
#include "common/kernel.h"

#define LAB_CUDNN_SETS(F)                                                      \
    F(conv2d)                                                                  \
    F(max_pool2d)                                                              \
    F(avg_pool2d)                                                              \
    F(batch_norm)                                                              \
    F(softmax)                                                                 \
    F(relu)                                                                    \
    F(sigmoid)                                                                 \
    F(tanh)                                                                    \
    F(scaled_dot_attention)                                                    \
    F(attention)                                                               \
    F(rnn)                                                                     \
    F(lstm)

LAB_C_BEGIN
#define LAB_CUDNN_SET(id) extern const struct lab_kernel_set lab_cudnn_##id;
LAB_CUDNN_SETS(LAB_CUDNN_SET)
#undef LAB_CUDNN_SET
LAB_C_END
