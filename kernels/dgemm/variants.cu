/* kernels/dgemm/variants.cu -- the CUDA variants. No model of the pipes: how many
 * fp64 units a multiprocessor has differs between devices by a factor of 32. */
#include "dgemm/dgemm.h"
#include "common/kernel.h"

extern const struct lab_variant lab_cuda_variants_dgemm[] = {
    {.name = "tile",
     .idea = "tiles of 32 x 32 in shared memory",
     .run = lab_dgemm_tile,
     .source = "kernels/dgemm/tile.cu",
     .precision = LAB_FP64},
    {.name = "block",
     .idea = "a thread makes 8 x 4 elements, two buffers",
     .run = lab_dgemm_block,
     .source = "kernels/dgemm/block.cu",
     .precision = LAB_FP64},
    {.name = "mma",
     .idea = "8 x 8 sums an instruction, on the tensor cores",
     .needs = "a GPU of compute capability 8.0",
     .run = lab_dgemm_mma,
     .source = "kernels/dgemm/mma.cu",
     .precision = LAB_FP64,
     .capability = 80},
    {.name = "cublas",
     .idea = "the vendor's library",
     .needs = "cuBLAS",
     .run = lab_dgemm_cublas,
     .source = "kernels/dgemm/cublas.cu",
     .model = {.library = true},
     .precision = LAB_FP64},
    {},
};
