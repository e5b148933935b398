/* kernels/gemm/variants.cu -- the CUDA variants in the order in which a learner
 * climbs them. The figures of a model are counted from the kernel's text:
 * naive and coalesced read 32 lines of A or one, and one of B; a step is 2
 * loads, the multiply-add and the loop's share. 16 bytes a load are 512 for a
 * warp, four accesses: shared memory hands out 128 a cycle, whether they differ
 * or not (measured: 4.0 a load). */
#include "labs/cuda_variants.h"
#include "gemm/gemm.h"

/* The variants of a precision that has a tensor core, WHAT in words. Their model is
 * the product that the library makes, and a gain is what the idea promises: mma
 * multiplies while it fetches; wgmma has half again as much to issue; blocks
 * that stay save the tenth that a tile's end takes. */
#define TENSOR_VARIANTS(PRECISION, WHAT)                                       \
    {.name = "wmma",                                                           \
     .idea = WHAT ": a warp's product, in the compiler's words",               \
     .run = lab_gemm_wmma,                                                     \
     .source = "kernels/gemm/wmma.cu",                                         \
     .model = {.traffic = 1},                                                  \
     .precision = PRECISION,                                                   \
     .capability = 80},                                                        \
        {.name = "mma",                                                        \
         .idea = WHAT ": mma.sync, ldmatrix, and three stages by cp.async",    \
         .run = lab_gemm_mma,                                                  \
         .source = "kernels/gemm/mma.cu",                                      \
         .model = {.traffic = 1},                                              \
         .precision = PRECISION,                                               \
         .gain = 2,                                                            \
         .capability = 80},                                                    \
        {.name = "wgmma",                                                      \
         .idea = WHAT ": TMA fetches, two warpgroups multiply",                \
         .run = LAB_SM90(lab_gemm_wgmma),                                      \
         .source = "kernels/gemm/wgmma_sm90.cu",                               \
         .model = {.traffic = 1},                                              \
         .precision = PRECISION,                                               \
         .gain = 1.6,                                                          \
         .capability = 90,                                                     \
         .capability_only = true,                                              \
         .prepare = lab_gemm_operands_prepare,                                 \
         .release = lab_gemm_operands_release,                                 \
         .note = lab_gemm_operands_note},                                      \
        {.name = "persistent",                                                 \
         .idea = WHAT ": blocks that stay, tiles in L2's order",               \
         .run = LAB_SM90(lab_gemm_persistent),                                 \
         .source = "kernels/gemm/persistent_sm90.cu",                          \
         .model = {.traffic = 1},                                              \
         .precision = PRECISION,                                               \
         .gain = 1.1,                                                          \
         .capability = 90,                                                     \
         .capability_only = true,                                              \
         .prepare = lab_gemm_operands_prepare,                                 \
         .release = lab_gemm_operands_release,                                 \
         .note = lab_gemm_operands_note},                                      \
        {.name = "cublas",                                                     \
         .idea = WHAT ": the vendor's library",                                \
         .needs = "cuBLAS",                                                    \
         .run = lab_gemm_cublas_tensor,                                        \
         .source = "kernels/gemm/cublas.cu",                                   \
         .model = {.library = true},                                           \
         .precision = PRECISION,                                               \
         .capability = 80},                                                    \
    {                                                                          \
        .name = "cublaslt", .idea = WHAT ": the fastest that cuBLASLt names",  \
        .needs = "cuBLAS", .run = lab_gemm_cublaslt,                           \
        .source = "kernels/gemm/cublaslt.cu", .model = {.library = true},      \
        .precision = PRECISION, .capability = 80,                              \
        .prepare = lab_gemm_cublaslt_prepare, .note = lab_gemm_cublaslt_note   \
    }

extern const struct lab_variant lab_cuda_variants_gemm[] = {
    {.name = "naive",
     .idea = "a thread for each element",
     .run = lab_gemm_naive,
     .source = "kernels/gemm/naive.cu",
     .model = {.tile_m = 1, .tile_n = 1, .accesses = 33, .instructions = 3.5}},
    {.name = "coalesced",
     .idea = "neighbouring threads read neighbouring numbers",
     .run = lab_gemm_coalesced,
     .source = "kernels/gemm/coalesced.cu",
     .model = {.tile_m = 32, .tile_n = 32, .accesses = 2, .instructions = 3.5}},
    {.name = "tile",
     .idea = "tiles of 32 x 32 in shared memory",
     .run = lab_gemm_tile,
     .source = "kernels/gemm/tile.cu",
     .model = {.tile_m = 32, .tile_n = 32, .accesses = 2, .instructions = 3}},
    {.name = "thread_1d",
     .idea = "a thread makes 8 elements of a column",
     .run = lab_gemm_thread_1d,
     .source = "kernels/gemm/thread_1d.cu",
     .model = {.tile_m = 64,
               .tile_n = 64,
               .accesses = 9.0 / 8,
               .instructions = 1 + 9.0 / 8}},
    {.name = "thread_2d",
     .idea = "a thread makes 8 x 8 elements",
     .run = lab_gemm_thread_2d,
     .source = "kernels/gemm/thread_2d.cu",
     .model = {.tile_m = 128,
               .tile_n = 128,
               .accesses = 16.0 / 64,
               .instructions = 1 + 16.0 / 64}},
    {.name = "vector",
     .idea = "16 bytes a load, A turned in shared memory",
     .run = lab_gemm_vector,
     .source = "kernels/gemm/vector.cu",
     .model = {.tile_m = 128,
               .tile_n = 128,
               .accesses = 16.0 / 64,
               .instructions = 1 + 4.0 / 64}},
    {.name = "warp",
     .idea = "a warp's tile: its loads meet no bank twice",
     .run = lab_gemm_warp,
     .source = "kernels/gemm/warp.cu",
     .model = {.tile_m = 128,
               .tile_n = 128,
               .accesses = 16.0 / 64,
               .instructions = 1 + 4.0 / 64}},
    {.name = "double",
     .idea = "two buffers: the next stage comes meanwhile",
     .run = lab_gemm_double,
     .source = "kernels/gemm/double.cu",
     .model = {.tile_m = 128,
               .tile_n = 128,
               .accesses = 16.0 / 64,
               .instructions = 1 + 4.0 / 64}},
    {.name = "wide",
     .idea = "8 x 16 a thread: fewer reads a multiply-add",
     .run = lab_gemm_wide,
     .source = "kernels/gemm/wide.cu",
     .model = {.tile_m = 128,
               .tile_n = 128,
               .accesses = 24.0 / 128,
               .instructions = 1 + 6.0 / 128}},
    {.name = "even",
     .idea = "the last wave cut along K: an even share for every block",
     .run = lab_gemm_even,
     .source = "kernels/gemm/even.cu",
     .model = {.tile_m = 128,
               .tile_n = 128,
               .accesses = 24.0 / 128,
               .instructions = 1 + 6.0 / 128},
     .note = lab_gemm_even_note},
    LAB_GEMM_TUNED_ROWS{.name = "cublas",
                        .idea = "the vendor's library",
                        .needs = "cuBLAS",
                        .run = lab_gemm_cublas,
                        .source = "kernels/gemm/cublas.cu",
                        .model = {.library = true}},
    TENSOR_VARIANTS(LAB_TF32, "tf32"),
    TENSOR_VARIANTS(LAB_BF16, "bf16"),
    TENSOR_VARIANTS(LAB_FP16, "fp16"),
    {},
};
