/* kernels/labs/cuda_rungs.cu -- all CUDA rungs, ladder by ladder, in the order
 * in which a learner climbs them. The figures of a model are counted from the
 * kernel's text: {traffic, tile_m, tile_n, accesses, instructions, share}. */
#include "labs/cuda_rungs.h"

#define GEMM(name, run, idea, ...)                                             \
    {                                                                          \
        "gemm", #name, idea, nullptr, lab_gemm_##run,                          \
            "kernels/labs/gemm_" #run ".cu",                                   \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }
#define RUNG(ladder, file, name, run, idea, ...)                               \
    {                                                                          \
        ladder, name, idea, nullptr, run, "kernels/labs/" file ".cu",          \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }

extern const struct lab_rung lab_cuda_rungs[] = {
    RUNG("vector_add", "vector_add", "plain", lab_add_plain,
         "a thread for each element", 1, 0, 0, 0, 0, 0, false),
    RUNG("vector_add", "vector_add", "fours", lab_add_fours,
         "four elements a thread, 16 bytes a load", 1, 0, 0, 0, 0, 0, false),

    RUNG("saxpy", "saxpy", "one_block", lab_saxpy_one_block,
         "one block of 256 threads walks over everything", 1, 0, 0, 0, 0, 1,
         false),
    RUNG("saxpy", "saxpy", "plain", lab_saxpy_plain,
         "a thread for each element", 1, 0, 0, 0, 0, 0, false),
    RUNG("saxpy", "saxpy", "stride", lab_saxpy_stride,
         "as many threads as the GPU holds, in steps of the grid", 1, 0, 0, 0,
         0, 0, false),
    RUNG("saxpy", "saxpy", "fours", lab_saxpy_fours,
         "four elements a thread, 16 bytes a load", 1, 0, 0, 0, 0, 0, false),

    /* 32 bytes are written for 4 and 4 are read: 36 for 8. */
    RUNG("transpose", "transpose", "plain", lab_transpose_plain,
         "reads along rows, writes down columns", 4.5, 0, 0, 0, 0, 0, false),
    RUNG("transpose", "transpose", "tile", lab_transpose_tile,
         "turned in shared memory: whole lines are read and written", 1, 0, 0,
         0, 0, 0, false),
    RUNG("transpose", "transpose", "padded", lab_transpose_padded,
         "rows of 33 numbers: a column meets every bank once", 1, 0, 0, 0, 0, 0,
         false),
    RUNG("transpose", "transpose", "rows", lab_transpose_rows,
         "four rows a thread: four loads on their way at once", 1, 0, 0, 0, 0,
         0, false),
    RUNG("transpose", "transpose", "large", lab_transpose_large,
         "tiles of 64 x 64: eight loads a thread, lines of 256 bytes", 1, 0, 0,
         0, 0, 0, false),

    RUNG("reduction", "reduction", "atomic", lab_sum_atomic,
         "every thread adds to one address", 1, 0, 0, 0, 0, 0, false),
    RUNG("reduction", "reduction", "tree", lab_sum_tree,
         "a tree in shared memory, and the blocks' sums in a second kernel", 1,
         0, 0, 0, 0, 0, false),
    RUNG("reduction", "reduction", "shuffle", lab_sum_shuffle,
         "add while walking, then within the warp in registers", 1, 0, 0, 0, 0,
         0, false),
    RUNG("reduction", "reduction", "fours", lab_sum_fours, "16 bytes a load", 1,
         0, 0, 0, 0, 0, false),
    RUNG("reduction", "reduction", "several", lab_sum_several,
         "four loads of 16 bytes on their way at once", 1, 0, 0, 0, 0, 0,
         false),

    /* 32 lines of A and one of B; a step is 2 loads, the multiply-add and the
     * loop's share. */
    GEMM(naive, naive, "a thread for each element", 0, 1, 1, 33, 3.5, 0, false),
    GEMM(coalesced, coalesced, "neighbouring threads read neighbouring numbers",
         0, 32, 32, 2, 3.5, 0, false),
    GEMM(tile, tile, "tiles of 32 x 32 in shared memory", 0, 32, 32, 2, 3, 0,
         false),
    GEMM(thread_1d, thread_1d, "a thread makes 8 elements of a column", 0, 64,
         64, 9.0 / 8, 1 + 9.0 / 8, 0, false),
    GEMM(thread_2d, thread_2d, "a thread makes 8 x 8 elements", 0, 128, 128,
         16.0 / 64, 1 + 16.0 / 64, 0, false),
    GEMM(vector, vector, "16 bytes a load, A turned in shared memory", 0, 128,
         128, 16.0 / 64, 1 + 4.0 / 64, 0, false),
    GEMM(warp, warp, "a warp's tile: its loads meet no bank twice", 0, 128, 128,
         8.0 / 64, 1 + 4.0 / 64, 0, false),
    GEMM(double, double, "two buffers: the next stage comes meanwhile", 0, 128,
         128, 8.0 / 64, 1 + 4.0 / 64, 0, false),
    GEMM(wide, wide, "8 x 16 a thread: fewer reads a multiply-add", 0, 128, 128,
         12.0 / 128, 1 + 6.0 / 128, 0, false),
    {"gemm",
     "cublas",
     "the vendor's library",
     "cuBLAS",
     lab_gemm_cublas,
     "kernels/labs/gemm_cublas.cu",
     {0, 0, 0, 0, 0, 0, true}},
};

extern const int lab_cuda_rung_count =
    sizeof(lab_cuda_rungs) / sizeof(lab_cuda_rungs[0]);
