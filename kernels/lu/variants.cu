/* kernels/lu/variants.cu -- the CUDA variants. No model: what limits a variant is
 * how much of it is products, and how long one panel takes. */
#include "lu/lu.h"
#include "common/kernel.h"

extern const struct lab_variant lab_cuda_variants_lu[] = {
    {.name = "unblocked",
     .idea = "a column at a time: the update moves all of memory",
     .run = lab_lu_unblocked,
     .source = "kernels/lu/blocked.cu",
     .precision = LAB_FP64},
    {.name = "blocked",
     .idea = "32 columns at a time: the update is a product",
     .run = lab_lu_blocked,
     .source = "kernels/lu/blocked.cu",
     .precision = LAB_FP64},
    {.name = "cusolver",
     .idea = "the vendor's library: cusolverDnDgetrf",
     .needs = "cuSOLVER",
     .run = lab_lu_cusolver,
     .source = "kernels/lu/cusolver.cu",
     .model = {.library = true},
     .precision = LAB_FP64,
     .prepare = lab_lu_cusolver_prepare,
     .note = lab_lu_cusolver_note},
    {},
};
