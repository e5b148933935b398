/* kernels/labs/dgemm/rungs.cu -- the CUDA rungs. No model of the pipes: how many
 * fp64 units a multiprocessor has differs between devices by a factor of 32. */
#include "labs/dgemm/dgemm.h"
#include "common/kernel.h"

extern const struct lab_variant lab_cuda_rungs_dgemm[] = {
    {.name = "tile",
     .idea = "tiles of 32 x 32 in shared memory",
     .run = lab_dgemm_tile,
     .source = "kernels/labs/dgemm/tile.cu",
     .precision = LAB_FP64},
    {.name = "block",
     .idea = "a thread makes 8 x 4 elements, two buffers",
     .run = lab_dgemm_block,
     .source = "kernels/labs/dgemm/block.cu",
     .precision = LAB_FP64},
    {.name = "mma",
     .idea = "8 x 8 sums an instruction, on the tensor cores",
     .needs = "a GPU of compute capability 8.0",
     .run = lab_dgemm_mma,
     .source = "kernels/labs/dgemm/mma.cu",
     .precision = LAB_FP64,
     .capability = 80},
    {.name = "cublas",
     .idea = "the vendor's library",
     .needs = "cuBLAS",
     .run = lab_dgemm_cublas,
     .source = "kernels/labs/dgemm/cublas.cu",
     .model = {.library = true},
     .precision = LAB_FP64},
    {},
};
