/* kernels/labs/conv_nhwc/rungs.cu -- the CUDA rungs: one of our own, and cuDNN
 * in fp32, TF32 and FP16. direct: 32 pieces of w and one of x a multiply-add. */
#include "labs/conv/cudnn.cuh"
#include "labs/conv_nhwc/nhwc.h"

#define NHWC(name_, idea_, precision_, math_, type_)                           \
    CONV_CUDNN(name_, idea_, precision_, LAB_CONV_PRECOMP_GEMM, math_,         \
               LAB_CUDNN_NHWC, type_)

extern const struct lab_variant lab_cuda_rungs_conv_nhwc[] = {
    {.name = "direct",
     .idea = "a thread for each element of y",
     .run = lab_conv_nhwc_direct,
     .source = "kernels/labs/conv_nhwc/nhwc.cu",
     .model = {.traffic = 1, .accesses = 33, .instructions = 4}},
    NHWC("cudnn", "precomp_gemm in fp32", LAB_FP32, LAB_CUDNN_FMA,
         LAB_CUDNN_FLOAT),
    NHWC("default_math", "precomp_gemm, TF32 allowed", LAB_TF32,
         LAB_MATH_DEFAULT, LAB_CUDNN_FLOAT),
    NHWC("half", "precomp_gemm, FP16 tensors", LAB_FP16, LAB_MATH_TENSOR_OP,
         LAB_CUDNN_HALF),
    {},
};
