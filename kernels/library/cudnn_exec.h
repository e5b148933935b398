/* kernels/library/cudnn_exec.h -- the part of NVIDIA's cuDNN 9 that kernels call, found at
 * run time: the module builds without its headers and loads without it.
 *
 * Most of these functions (cudnn_types.h) are marked as deprecated in favour of
 * cuDNN's graph interface; they are the ones that let a caller name the
 * algorithm, and every cuDNN 9 has them.
 *
 * What a shape needs - descriptors, the algorithm, memory - is made once and
 * kept in an entry (below): by the variant's `prepare`, when a schedule is
 * made, so that a step neither allocates nor waits. All arithmetic is fp32
 * without TF32 (LAB_CUDNN_FMA). */
#pragma once
#include "common/cuda_exec.h"
#include "library/cudnn_types.h"
#include "common/kernel.h"

/* Values of cuDNN's enums. */
enum {
    LAB_CUDNN_FLOAT = 0, /* cudnnDataType_t */
    LAB_CUDNN_HALF = 2,
    LAB_CUDNN_NCHW = 0,              /* cudnnTensorFormat_t */
    LAB_CUDNN_NHWC = 1,              /* weights: M, KH, KW, C */
    LAB_CUDNN_FMA = 3,               /* cudnnMathType_t */
    LAB_CUDNN_PROPAGATE_NAN = 1,     /* cudnnNanPropagation_t */
    LAB_CUDNN_CROSS_CORRELATION = 1, /* cudnnConvolutionMode_t */
    LAB_CUDNN_DETERMINISTIC = 1,     /* cudnnDeterminism_t */
    LAB_CUDNN_SOFTMAX_ACCURATE = 1,  /* cudnnSoftmaxAlgorithm_t */
    LAB_CUDNN_SOFTMAX_INSTANCE = 0,  /* cudnnSoftmaxMode_t */
    LAB_CUDNN_BATCHNORM_SPATIAL = 1, /* cudnnBatchNormMode_t */
    LAB_CUDNN_POOL_AVERAGE = 2,      /* cudnnPoolingMode_t, without padding */
    LAB_CUDNN_POOL_MAX = 3,          /* the deterministic one */
    LAB_CUDNN_SIGMOID = 0,           /* cudnnActivationMode_t */
    LAB_CUDNN_RELU = 1,
    LAB_CUDNN_TANH = 2,
    LAB_CUDNN_RNN_TANH = 1, /* cudnnRNNMode_t */
    LAB_CUDNN_LSTM = 2,
    LAB_CUDNN_RNN_NO_BIAS = 0, /* cudnnRNNBiasMode_t */
    LAB_CUDNN_RNN_INPUT_BIAS = 1,
    LAB_CUDNN_RNN_PACKED = 1, /* cudnnRNNDataLayout_t: (T, N, D) */
    LAB_CUDNN_INFERENCE = 0,  /* cudnnForwardMode_t */
    LAB_CUDNN_TRAINING = 1,
    LAB_CUDNN_NOT_SUPPORTED = 3000 /* .. 3999 of cudnnStatus_t */
};

/* F(type, field, symbol): the functions that are looked up. */
#define LAB_CUDNN_FUNCTIONS(F)                                                 \
    F(lab_cudnn_create_fn, create, "cudnnCreate")                              \
    F(lab_cudnn_destroy_fn, destroy, "cudnnDestroy")                           \
    F(lab_cudnn_set_stream_fn, set_stream, "cudnnSetStream")                   \
    F(lab_cudnn_create_fn, tensor_create, "cudnnCreateTensorDescriptor")       \
    F(lab_cudnn_destroy_fn, tensor_destroy, "cudnnDestroyTensorDescriptor")    \
    F(lab_cudnn_tensor_4d_fn, tensor_4d, "cudnnSetTensor4dDescriptorEx")       \
    F(lab_cudnn_tensor_nd_fn, tensor_nd, "cudnnSetTensorNdDescriptor")         \
    F(lab_cudnn_create_fn, filter_create, "cudnnCreateFilterDescriptor")       \
    F(lab_cudnn_destroy_fn, filter_destroy, "cudnnDestroyFilterDescriptor")    \
    F(lab_cudnn_filter_4d_fn, filter_4d, "cudnnSetFilter4dDescriptor")         \
    F(lab_cudnn_create_fn, conv_create, "cudnnCreateConvolutionDescriptor")    \
    F(lab_cudnn_destroy_fn, conv_destroy, "cudnnDestroyConvolutionDescriptor") \
    F(lab_cudnn_conv_2d_fn, conv_2d, "cudnnSetConvolution2dDescriptor")        \
    F(lab_cudnn_set_math_fn, conv_math, "cudnnSetConvolutionMathType")         \
    F(lab_cudnn_conv_list_fn, forward_list,                                    \
      "cudnnGetConvolutionForwardAlgorithm_v7")                                \
    F(lab_cudnn_conv_list_fn, data_list,                                       \
      "cudnnGetConvolutionBackwardDataAlgorithm_v7")                           \
    F(lab_cudnn_conv_list_fn, filter_list,                                     \
      "cudnnGetConvolutionBackwardFilterAlgorithm_v7")                         \
    F(lab_cudnn_conv_size_fn, forward_size,                                    \
      "cudnnGetConvolutionForwardWorkspaceSize")                               \
    F(lab_cudnn_conv_size_fn, data_size,                                       \
      "cudnnGetConvolutionBackwardDataWorkspaceSize")                          \
    F(lab_cudnn_conv_size_fn, filter_size,                                     \
      "cudnnGetConvolutionBackwardFilterWorkspaceSize")                        \
    F(lab_cudnn_conv_run_fn, forward_run, "cudnnConvolutionForward")           \
    F(lab_cudnn_conv_run_fn, data_run, "cudnnConvolutionBackwardData")         \
    F(lab_cudnn_conv_run_fn, filter_run, "cudnnConvolutionBackwardFilter")     \
    F(lab_cudnn_create_fn, pool_create, "cudnnCreatePoolingDescriptor")        \
    F(lab_cudnn_destroy_fn, pool_destroy, "cudnnDestroyPoolingDescriptor")     \
    F(lab_cudnn_pool_2d_fn, pool_2d, "cudnnSetPooling2dDescriptor")            \
    F(lab_cudnn_act_fn, pool_forward, "cudnnPoolingForward")                   \
    F(lab_cudnn_act_back_fn, pool_backward, "cudnnPoolingBackward")            \
    F(lab_cudnn_create_fn, act_create, "cudnnCreateActivationDescriptor")      \
    F(lab_cudnn_destroy_fn, act_destroy, "cudnnDestroyActivationDescriptor")   \
    F(lab_cudnn_act_set_fn, act_set, "cudnnSetActivationDescriptor")           \
    F(lab_cudnn_act_fn, act_forward, "cudnnActivationForward")                 \
    F(lab_cudnn_act_back_fn, act_backward, "cudnnActivationBackward")          \
    F(lab_cudnn_softmax_fn, softmax_forward, "cudnnSoftmaxForward")            \
    F(lab_cudnn_softmax_back_fn, softmax_backward, "cudnnSoftmaxBackward")     \
    F(lab_cudnn_bn_train_fn, bn_train,                                         \
      "cudnnBatchNormalizationForwardTraining")                                \
    F(lab_cudnn_bn_infer_fn, bn_infer,                                         \
      "cudnnBatchNormalizationForwardInference")                               \
    F(lab_cudnn_bn_back_fn, bn_backward, "cudnnBatchNormalizationBackward")    \
    F(lab_cudnn_create_fn, dropout_create, "cudnnCreateDropoutDescriptor")     \
    F(lab_cudnn_destroy_fn, dropout_destroy, "cudnnDestroyDropoutDescriptor")  \
    F(lab_cudnn_dropout_set_fn, dropout_set, "cudnnSetDropoutDescriptor")      \
    F(lab_cudnn_create_fn, rnn_create, "cudnnCreateRNNDescriptor")             \
    F(lab_cudnn_destroy_fn, rnn_destroy, "cudnnDestroyRNNDescriptor")          \
    F(lab_cudnn_rnn_set_fn, rnn_set, "cudnnSetRNNDescriptor_v8")               \
    F(lab_cudnn_create_fn, rnn_data_create, "cudnnCreateRNNDataDescriptor")    \
    F(lab_cudnn_destroy_fn, rnn_data_destroy, "cudnnDestroyRNNDataDescriptor") \
    F(lab_cudnn_rnn_data_set_fn, rnn_data_set, "cudnnSetRNNDataDescriptor")    \
    F(lab_cudnn_rnn_room_fn, rnn_room, "cudnnGetRNNTempSpaceSizes")            \
    F(lab_cudnn_rnn_weights_fn, rnn_weights, "cudnnGetRNNWeightSpaceSize")     \
    F(lab_cudnn_rnn_part_fn, rnn_part, "cudnnGetRNNWeightParams")              \
    F(lab_cudnn_rnn_run_fn, rnn_forward, "cudnnRNNForward")                    \
    F(lab_cudnn_rnn_data_fn, rnn_backward_data, "cudnnRNNBackwardData_v8")     \
    F(lab_cudnn_rnn_weight_fn, rnn_backward_weights,                           \
      "cudnnRNNBackwardWeights_v8")

/* The same; any of them may be NULL. */
#define LAB_CUDNN_OPTIONAL(F)                                                  \
    F(lab_cudnn_conv_out_fn, conv_out_dim,                                     \
      "cudnnGetConvolution2dForwardOutputDim")                                 \
    F(lab_cudnn_create_fn, seq_create, "cudnnCreateSeqDataDescriptor")         \
    F(lab_cudnn_destroy_fn, seq_destroy, "cudnnDestroySeqDataDescriptor")      \
    F(lab_cudnn_seq_set_fn, seq_set, "cudnnSetSeqDataDescriptor")              \
    F(lab_cudnn_create_fn, attn_create, "cudnnCreateAttnDescriptor")           \
    F(lab_cudnn_destroy_fn, attn_destroy, "cudnnDestroyAttnDescriptor")        \
    F(lab_cudnn_attn_set_fn, attn_set, "cudnnSetAttnDescriptor")               \
    F(lab_cudnn_attn_room_fn, attn_room, "cudnnGetMultiHeadAttnBuffers")       \
    F(lab_cudnn_attn_run_fn, attn_forward, "cudnnMultiHeadAttnForward")        \
    F(lab_cudnn_attn_back_fn, attn_backward, "cudnnMultiHeadAttnBackwardData") \
    F(lab_cudnn_graph_create_fn, graph_create, "cudnnBackendCreateDescriptor") \
    F(lab_cudnn_destroy_fn, graph_destroy, "cudnnBackendDestroyDescriptor")    \
    F(lab_cudnn_graph_set_fn, graph_set, "cudnnBackendSetAttribute")           \
    F(lab_cudnn_graph_get_fn, graph_get, "cudnnBackendGetAttribute")           \
    F(lab_cudnn_destroy_fn, graph_finalize, "cudnnBackendFinalize")            \
    F(lab_cudnn_graph_execute_fn, graph_execute, "cudnnBackendExecute")

enum { LAB_CUDNN_KEY = 20, LAB_CUDNN_DESCRIPTORS = 10 };

/* What one shape of one function needs; owned by lab_cudnn. */
struct lab_cudnn_entry {
    struct lab_cudnn_entry *next;
    int64_t key[LAB_CUDNN_KEY];
    void *descriptor[LAB_CUDNN_DESCRIPTORS];
    lab_cudnn_destroy_fn *destroy[LAB_CUDNN_DESCRIPTORS];
    int n_descriptors;
    bool ready;   /* made to the end */
    void *plan;   /* the launcher's own struct, plain data */
    void *memory; /* device memory that lives as long as the entry */
    size_t memory_bytes;
};

/* Device memory that is too small by now; a graph may still point into it. */
struct lab_cudnn_retired {
    struct lab_cudnn_retired *next;
    void *memory;
};

struct lab_cudnn {
    void *handle; /* NULL until the first entry */
    struct lab_cudnn_entry *entries;
    void *workspace;
    size_t workspace_bytes;
    struct lab_cudnn_retired *retired;
#define LAB_CUDNN_FIELD(type, field, symbol) type *field;
    LAB_CUDNN_FUNCTIONS(LAB_CUDNN_FIELD)
    LAB_CUDNN_OPTIONAL(LAB_CUDNN_FIELD)
#undef LAB_CUDNN_FIELD
    const char *(*status_text)(int status);
    void (*last_error)(char *out, size_t size); /* NULL: not in this cuDNN */
};

LAB_C_BEGIN
/* Frees what the launchers made; the handle too. The work must be done. */
void lab_cudnn_release(struct lab_cudnn *dnn);
LAB_C_END
