/* kernels/precision/variants.cu -- the product of fp32 numbers, by the bits
 * that it is computed in. fp32 and tf32 are variants of gemm; a split takes the
 * parts of its numbers from scratch, which it fills first. */
#include "labs/cuda_variants.h"
#include "gemm/gemm.h"
#include "precision/precision.h"

#define SPLIT(N, PRECISION, GAIN, IDEA)                                        \
    {                                                                          \
        .name = "split_" #N, .idea = IDEA, .run = LAB_SM90(lab_split_##N),     \
        .source = "kernels/precision/split_sm90.cu", .model = {},              \
        .precision = PRECISION, .gain = GAIN, .capability = 90,                \
        .capability_only = true                                                \
    }
/* The gain that is promised: n products instead of n - 1. */
#define SPLITS(PRECISION)                                                      \
    SPLIT(1, PRECISION, 2, "A1 B1: both rounded to 16 bits"),                  \
        SPLIT(2, PRECISION, 1.0 / 2, "+ A1 B2: the rest of B"),                \
        SPLIT(3, PRECISION, 2.0 / 3, "+ A2 B1: the rest of A"),                \
        SPLIT(4, PRECISION, 3.0 / 4, "+ A2 B2: the product of the rests")

extern const struct lab_variant lab_cuda_variants_precision[] = {
    {.name = "fp32",
     .idea = "fp32 throughout: gemm's variant wide",
     .run = lab_gemm_wide,
     .source = "kernels/gemm/wide.cu"},
    {.name = "cublas",
     .idea = "the vendor's library",
     .needs = "cuBLAS",
     .run = lab_gemm_cublas,
     .source = "kernels/gemm/cublas.cu",
     .model = {.library = true}},
    {.name = "tf32",
     .idea = "tf32: 10 bits behind the point, gemm's variant mma",
     .run = lab_gemm_mma,
     .source = "kernels/gemm/mma.cu",
     .model = {},
     .precision = LAB_TF32,
     .capability = 80},
    {.name = "tf32_cut",
     .idea = "tf32, A cut instead of rounded: gemm's variant persistent",
     .run = LAB_SM90(lab_gemm_persistent),
     .source = "kernels/gemm/persistent_sm90.cu",
     .model = {},
     .precision = LAB_TF32,
     .capability = 90,
     .capability_only = true,
     .prepare = lab_gemm_operands_prepare,
     .release = lab_gemm_operands_release,
     .note = lab_gemm_operands_note},
    {.name = "cublas",
     .idea = "tf32: the vendor's library",
     .needs = "cuBLAS",
     .run = lab_gemm_cublas_tensor,
     .source = "kernels/gemm/cublas.cu",
     .model = {.library = true},
     .precision = LAB_TF32,
     .capability = 80},
    {.name = "tf32x3",
     .idea = "tf32: A1 B1 + A1 B2 + A2 B1, short sums, added in fp32",
     .run = LAB_SM90(lab_gemm_tf32x3),
     .source = "kernels/tf32x3/tf32x3_sm90.cuh",
     .model = {},
     .precision = LAB_TF32,
     .gain = 1.0 / 3,
     .capability = 90,
     .capability_only = true},
    SPLITS(LAB_BF16),
    SPLITS(LAB_FP16),
    {},
};
