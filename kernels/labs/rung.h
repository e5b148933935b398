/* kernels/labs/rung.h -- one rung of a ladder: a kernel, its idea, its model.
 *
 * A ladder is one operation done in several ways, from the first that works to
 * the fastest known. A rung adds one idea to the one before it.
 *
 * Tensors of the ladders, row-major and dense, all fp32:
 *   vector_add  in a (n), b (n)            out c (n) = a + b
 *   saxpy       in x (n)                   out y (n) = 2 x + y, inout
 *   transpose   in x (R, C)                out y (C, R) = x^T
 *   reduction   in x (n)                   out s (1) = sum of x,
 *                                              scratch (LAB_LAB_SCRATCH)
 *   gemm        in A (M, K), B (K, N)      out C (M, N) = A B
 * A launcher gets them as a kernel of the engine does (kernel.h); it neither
 * allocates nor waits. */
#pragma once
#include "kernel.h"

enum { LAB_LAB_SCRATCH = 4096 };
#define LAB_SAXPY_A 2.0f

/* What the pipes of the device have to do, counted from the kernel's text.
 * "A multiply-add" is one of a whole warp (32 of them); 0: does not apply. */
struct lab_rung_model {
    /* Bytes that memory moves for each byte that the problem needs. */
    double traffic;
    /* Tile of the result (gemm): each number of A is read N / tile_n times, each
     * of B M / tile_m times; stands in the place of `traffic`. */
    int tile_m;
    int tile_n;
    /* Accesses of 128 bytes to L1 or shared memory, a multiply-add. */
    double accesses;
    /* Instructions issued, a multiply-add. */
    double instructions;
    /* Share of the device's processors that have work. 0: all. */
    double share;
    /* The vendor's library: no model, it is what the others are measured by. */
    bool library;
};

struct lab_rung {
    const char *ladder;
    const char *name;
    const char *idea;  /* one line: what it adds to the rung before it */
    const char *needs; /* what the machine must have; NULL: nothing more */
    lab_kernel_fn *run;
    const char *source; /* the file that a learner reads */
    struct lab_rung_model model;
};
