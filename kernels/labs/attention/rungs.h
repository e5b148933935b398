/* kernels/labs/attention/rungs.h -- the rows of both tables of rungs, for
 * rungs.cu and cpu.c of attention and attention_causal. OP is the start of the
 * launchers' names: lab_attention or lab_attention_causal. Figures of a model are
 * counted from the kernel's text:
 *
 * unfused  a multiply-add reads two numbers of shared memory (gemm's `tile`)
 * online   16 bytes of 4 numbers for 4 multiply-adds; 4 threads a row, so that a
 *          warp's 8 rows take one access; 14 instructions a key for 2 x 16
 * fused    8 + 4 numbers of shared memory in 3 reads, 4 accesses, for 32
 *
 * With 16 bits the tensor cores do the products, and the model says what they
 * could if nothing else took time. */
#pragma once
#include "labs/attention/attention.h"
#include "labs/cuda_rungs.h"

/* naive does 4 products where online does 2. */
#define LAB_ATTENTION_CPU_RUNGS(OP)                                            \
    {.name = "naive",                                                          \
     .idea = "largest score, sum, mixing: three passes over the keys",         \
     .run = OP##_cpu_naive,                                                    \
     .source = "kernels/labs/attention/cpu.c",                                 \
     .model = {.traffic = 1}},                                                 \
    {                                                                          \
        .name = "online",                                                      \
        .idea = "one pass: what was added shrinks when a larger score comes",  \
        .run = OP##_cpu_online, .source = "kernels/labs/attention/cpu.c",      \
        .model = {.traffic = 1}, .gain = 2                                     \
    }

/* 16 bits; MMA and WGMMA say what these rungs add in this precision. */
#define LAB_ATTENTION_TENSOR_RUNGS(OP, PRECISION, MMA, WGMMA)                  \
    {.name = "mma",                                                            \
     .idea = MMA,                                                              \
     .run = OP##_mma,                                                          \
     .source = "kernels/labs/attention/mma.cu",                                \
     .model = {.traffic = 1},                                                  \
     .precision = PRECISION,                                                   \
     .capability = 80},                                                        \
        {.name = "wgmma",                                                      \
         .idea = WGMMA,                                                        \
         .run = LAB_SM90(OP##_wgmma),                                          \
         .source = "kernels/labs/attention/wgmma_sm90.cu",                     \
         .model = {.traffic = 1},                                              \
         .precision = PRECISION,                                               \
         .capability = 90,                                                     \
         .capability_only = true},                                             \
    {                                                                          \
        .name = "cudnn", .idea = "the vendor's fused attention",               \
        .needs = "cuDNN", .run = OP##_cudnn,                                   \
        .source = "kernels/labs/attention/cudnn.cu",                           \
        .model = {.library = true}, .precision = PRECISION, .capability = 80,  \
        .prepare = OP##_cudnn_make, .release = lab_attention_cudnn_free,       \
        .note = lab_attention_cudnn_note                                       \
    }

/* ACCESSES and INSTRUCTIONS are those of unfused, which makes all scores whether
 * the mask hides them or not. */
#define LAB_ATTENTION_CUDA_RUNGS(OP, ACCESSES, INSTRUCTIONS)                   \
    {.name = "unfused",                                                        \
     .idea = "three kernels, and the scores in memory between them",           \
     .run = OP##_unfused,                                                      \
     .source = "kernels/labs/attention/unfused.cu",                            \
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
         .source = "kernels/labs/attention/online.cu",                         \
         .model = {.tile_m = 32,                                               \
                   .accesses = 1.0 / 4,                                        \
                   .instructions = 1 + 1.0 / 4 + 14.0 / 32}},                  \
        {.name = "fused",                                                      \
         .idea = "tiles in shared memory, small matrices in registers",        \
         .run = OP##_fused,                                                    \
         .source = "kernels/labs/attention/fused.cu",                          \
         .model = {.tile_m = 128,                                              \
                   .accesses = 4.0 / 32,                                       \
                   .instructions = 1 + 3.0 / 32}},                             \
        {.name = "cublas",                                                     \
         .idea = "products of the vendor's library, the scores in memory",     \
         .needs = "cuBLAS",                                                    \
         .run = OP##_cublas,                                                   \
         .source = "kernels/labs/attention/cublas.cu",                         \
         .model = {.library = true},                                           \
         .prepare = lab_attention_scores_make,                                 \
         .release = lab_attention_scores_free,                                 \
         .note = lab_attention_scores_note},                                   \
        LAB_ATTENTION_TENSOR_RUNGS(                                            \
            OP, LAB_BF16, "tensor cores: 16 bits in, a warp owns its rows",    \
            "products are queued, softmax runs beside them"),                  \
        LAB_ATTENTION_TENSOR_RUNGS(OP, LAB_FP16,                               \
                                   "10 bits of fraction instead of 7",         \
                                   "10 bits of fraction instead of 7")
