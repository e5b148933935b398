/* kernels/gemm/tuned.h -- one kernel in several tile shapes: which is the
 * fastest depends on the device and on the size, so it is measured.
 *
 * A shape is that of warp.cuh: block BM x BN, DEPTH deep, warp WM x WN. */
#pragma once
#include "common/kernel.h"

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

/* Rows of the table: the rung, and its candidates. Until a device was tuned the
 * rung runs the shape of wide.cu. A thread has WM/8 x WN/4 elements: it reads
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
