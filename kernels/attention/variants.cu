/* kernels/attention/variants.cu -- the CUDA variants of attention and of
 * attention_causal in the order in which a learner climbs them. OP is the start
 * of the launchers' names. Figures of a model are
 * counted from the kernel's text:
 *
 * unfused  a multiply-add reads two numbers of shared memory (gemm's `tile`)
 * online   16 bytes of 4 numbers for 4 multiply-adds; 4 threads a row, so that a
 *          warp's 8 rows take one access; 14 instructions a key for 2 x 16
 * fused    8 + 4 numbers of shared memory in 3 reads, 4 accesses, for 32
 *
 * With 16 bits the tensor cores do the products, and the model states what they
 * could if nothing else took time. */
#include "attention/operation.h"
#include "labs/cuda_variants.h"

/* 16 bits; MMA and WGMMA name what these variants add in this precision. */
#define LAB_ATTENTION_TENSOR_VARIANTS(OP, PRECISION, MMA, WGMMA)               \
    {.name = "mma",                                                            \
     .idea = MMA,                                                              \
     .run = OP##_mma,                                                          \
     .source = "kernels/attention/mma.cu",                                     \
     .model = {.traffic = 1},                                                  \
     .precision = PRECISION,                                                   \
     .capability = 80},                                                        \
        {.name = "wgmma",                                                      \
         .idea = WGMMA,                                                        \
         .run = LAB_SM90(OP##_wgmma),                                          \
         .source = "kernels/attention/wgmma_sm90.cu",                          \
         .model = {.traffic = 1},                                              \
         .precision = PRECISION,                                               \
         .capability = 90,                                                     \
         .capability_only = true},                                             \
    {                                                                          \
        .name = "cudnn", .idea = "the vendor's fused attention",               \
        .needs = "cuDNN", .run = OP##_cudnn,                                   \
        .source = "kernels/attention/cudnn.cu", .model = {.library = true},    \
        .precision = PRECISION, .capability = 80, .prepare = OP##_cudnn_make,  \
        .release = lab_attention_cudnn_free, .note = lab_attention_cudnn_note  \
    }

/* ACCESSES and INSTRUCTIONS are those of unfused, which makes all scores whether
 * the mask hides them or not. */
#define LAB_ATTENTION_CUDA_VARIANTS(OP, ACCESSES, INSTRUCTIONS)                \
    {.name = "unfused",                                                        \
     .idea = "three kernels, and the scores in memory between them",           \
     .run = OP##_unfused,                                                      \
     .source = "kernels/attention/unfused.cu",                                 \
     .model = {.tile_m = 32,                                                   \
               .tile_n = 32,                                                   \
               .accesses = ACCESSES,                                           \
               .instructions = INSTRUCTIONS},                                  \
     .prepare = lab_attention_scores_make,                                     \
     .release = lab_attention_scores_free,                                     \
     .note = lab_attention_scores_note},                                       \
        {.name = "online",                                                     \
         .idea = "one pass: a row keeps its largest score and its sum",        \
         .run = OP##_online,                                                   \
         .source = "kernels/attention/online.cu",                              \
         .model = {.tile_m = 32,                                               \
                   .accesses = 1.0 / 4,                                        \
                   .instructions = 1 + 1.0 / 4 + 14.0 / 32}},                  \
        {.name = "fused",                                                      \
         .idea = "tiles in shared memory, small matrices in registers",        \
         .run = OP##_fused,                                                    \
         .source = "kernels/attention/fused.cu",                               \
         .model = {.tile_m = 128,                                              \
                   .accesses = 4.0 / 32,                                       \
                   .instructions = 1 + 3.0 / 32}},                             \
        {.name = "cublas",                                                     \
         .idea = "products of the vendor's library, the scores in memory",     \
         .needs = "cuBLAS",                                                    \
         .run = OP##_cublas,                                                   \
         .source = "kernels/attention/cublas.cu",                              \
         .model = {.library = true},                                           \
         .prepare = lab_attention_scores_make,                                 \
         .release = lab_attention_scores_free,                                 \
         .note = lab_attention_scores_note},                                   \
        LAB_ATTENTION_TENSOR_VARIANTS(                                         \
            OP, LAB_BF16, "tensor cores: 16 bits in, a warp owns its rows",    \
            "products are queued, softmax runs beside them"),                  \
        LAB_ATTENTION_TENSOR_VARIANTS(OP, LAB_FP16,                            \
                                      "10 bits of fraction instead of 7",      \
                                      "10 bits of fraction instead of 7")

extern const struct lab_variant lab_cuda_variants_attention[] = {
    LAB_ATTENTION_CUDA_VARIANTS(lab_attention, 2, 3),
    {},
};

/* unfused makes all scores, twice as many as the mask leaves. */
extern const struct lab_variant lab_cuda_variants_attention_causal[] = {
    LAB_ATTENTION_CUDA_VARIANTS(lab_attention_causal, 4, 6),
    {},
};
