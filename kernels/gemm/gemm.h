/* kernels/gemm/gemm.h -- the matrix product: the launchers of the CUDA variants, and
 * the tile shapes of the tuned one. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_gemm_even;
/* How many tiles were cut, and the workspace that the pieces take. */
void lab_gemm_even_note(const struct lab_call *call,
                        struct lab_variant_note *out);

lab_kernel_fn lab_gemm_naive, lab_gemm_coalesced, lab_gemm_tile,
    lab_gemm_thread_1d, lab_gemm_thread_2d, lab_gemm_vector, lab_gemm_warp,
    lab_gemm_double, lab_gemm_wide, lab_gemm_cublas;

/* bf16, fp16 and, with fp32 tensors, tf32: the tensors' type decides. */
lab_kernel_fn lab_gemm_wmma, lab_gemm_mma, lab_gemm_wgmma, lab_gemm_persistent,
    lab_gemm_cublas_tensor, lab_gemm_cublaslt;
lab_kernel_fn lab_gemm_cublaslt_prepare;
void lab_gemm_cublaslt_note(const struct lab_call *call,
                            struct lab_variant_note *out);
/* fp32 by three products in tf32 (tf32x3_sm90.cuh). */
lab_kernel_fn lab_gemm_tf32x3;
/* For the variants that the TMA unit feeds (operands.cuh). */
lab_kernel_fn lab_gemm_operands_prepare, lab_gemm_operands_release;
void lab_gemm_operands_note(const struct lab_call *call,
                            struct lab_variant_note *out);
LAB_C_END

/* ---- the tuned variant ----
 *
 * One kernel in several tile shapes: which is the fastest depends on the device
 * and on the size, so it is measured. A shape is that of warp.cuh: block
 * BM x BN, DEPTH deep, warp WM x WN. */

/* SHAPE(BM, BN, DEPTH, WM, WN): the block's threads must share A's and B's
 * stages evenly, in fours, and two stages must fit into 48 KiB. */
#define LAB_GEMM_SHAPES(SHAPE)                                                 \
    SHAPE(32, 128, 16, 32, 32)                                                 \
    SHAPE(64, 64, 8, 32, 32)                                                   \
    SHAPE(64, 64, 16, 32, 32)                                                  \
    SHAPE(64, 64, 32, 32, 32)                                                  \
    SHAPE(128, 64, 8, 64, 32)                                                  \
    SHAPE(64, 128, 8, 32, 64)                                                  \
    SHAPE(128, 128, 8, 64, 32)                                                 \
    SHAPE(128, 128, 16, 64, 32)                                                \
    SHAPE(128, 128, 8, 64, 64)                                                 \
    SHAPE(128, 128, 16, 64, 64)                                                \
    SHAPE(256, 128, 8, 64, 64)                                                 \
    SHAPE(128, 256, 8, 64, 64)

#define LAB_GEMM_SHAPE_LAUNCHER(bm, bn, d, wm, wn)                             \
    lab_kernel_fn lab_gemm_##bm##x##bn##x##d##_##wm##x##wn;

LAB_C_BEGIN
LAB_GEMM_SHAPES(LAB_GEMM_SHAPE_LAUNCHER)
LAB_C_END

/* Rows of the table: the variant, and its candidates. Until a device was tuned the
 * variant runs the shape of wide.cu. A thread has WM/8 x WN/4 elements: it reads
 * (WM + 2 WN) / 8 numbers of a stage, in fours, for WM WN / 32 multiply-adds. */
#define LAB_GEMM_SHAPE_ROW(bm, bn, d, wm, wn)                                  \
    {.name = #bm "x" #bn "x" #d "_" #wm "x" #wn,                               \
     .idea =                                                                   \
         "a tile of " #bm " x " #bn ", " #d " deep, a warp " #wm " x " #wn,    \
     .run = lab_gemm_##bm##x##bn##x##d##_##wm##x##wn,                          \
     .source = "kernels/gemm/tuned.cu",                                        \
     .model = {.tile_m = bm,                                                   \
               .tile_n = bn,                                                   \
               .accesses = 4.0 * (wm + 2 * wn) / (wm * wn),                    \
               .instructions = 1 + 1.0 * (wm + 2 * wn) / (wm * wn)},           \
     .family = "tuned"},
#define LAB_GEMM_TUNED_ROWS                                                    \
    {.name = "tuned",                                                          \
     .idea = "the tile shape that was the fastest on this device",             \
     .run = lab_gemm_128x128x8_64x64,                                          \
     .source = "kernels/gemm/tuned.cu",                                        \
     .tuned = true},                                                           \
        LAB_GEMM_SHAPES(LAB_GEMM_SHAPE_ROW)
