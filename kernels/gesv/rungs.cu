/* kernels/gesv/rungs.cu -- the CUDA rungs. */
#include "gesv/gesv.h"
#include "common/kernel.h"

extern const struct lab_variant lab_cuda_rungs_gesv[] = {
    {.name = "cusolver",
     .idea = "the vendor's library: getrf, then getrs",
     .needs = "cuSOLVER",
     .run = lab_gesv_cusolver,
     .source = "kernels/gesv/cusolver.cu",
     .model = {.library = true},
     .precision = LAB_FP64,
     .prepare = lab_gesv_cusolver_prepare},
    {},
};
