/* kernels/cpu/vector_sets.h -- the tables of the *_vector.c files: what the CPU
 * backend offers as "vector". */
#pragma once
#include "common/kernel.h"

#define LAB_VECTOR_SETS(SET)                                                   \
    SET(relu)                                                                  \
    SET(leaky_relu)                                                            \
    SET(sigmoid)                                                               \
    SET(tanh)                                                                  \
    SET(softplus)                                                              \
    SET(swish)                                                                 \
    SET(gelu)                                                                  \
    SET(dense)                                                                 \
    SET(conv2d)                                                                \
    SET(conv2d_conv)                                                           \
    SET(dropout)                                                               \
    SET(softmax)                                                               \
    SET(layer_norm)                                                            \
    SET(add)                                                                   \
    SET(grad_sum)                                                              \
    SET(embedding)                                                             \
    SET(positional_embedding)                                                  \
    SET(sgd)                                                                   \
    SET(adam)                                                                  \
    SET(adamw)                                                                 \
    SET(rnn)                                                                   \
    SET(lstm)                                                                  \
    SET(attention)                                                             \
    SET(scaled_dot_attention)                                                  \
    SET(softmax_cross_entropy)                                                 \
    SET(dense_products)                                                        \
    SET(dense_fused)                                                           \
    SET(attention_products)                                                    \
    SET(scaled_dot_attention_products)                                         \
    SET(attention_fused)                                                       \
    SET(scaled_dot_attention_fused)                                            \
    SET(lstm_products)                                                         \
    SET(lstm_sequence)                                                         \
    SET(rnn_products)

LAB_C_BEGIN
#define LAB_VECTOR_SET(op) extern const struct lab_kernel_set lab_vector_##op;
LAB_VECTOR_SETS(LAB_VECTOR_SET)
#undef LAB_VECTOR_SET

/* All of them, an array of *count pointers. */
const struct lab_kernel_set *const *lab_vector_sets(int *count);
LAB_C_END
