/* kernels/common/cuda_sets.h -- the kernel tables of kernels/<op>.cu, one an op:
 * lab_cuda_dense, lab_cuda_relu ... The rows come from ops.def. A table stays
 * valid as long as the module is loaded. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
#define LAB_OP(id) extern const struct lab_kernel_set lab_cuda_##id;
#define LAB_OP_PLAN(id)
#include "ops.def"
#undef LAB_OP
#undef LAB_OP_PLAN
LAB_C_END
