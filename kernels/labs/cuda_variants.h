/* kernels/labs/cuda_variants.h -- the CUDA variants of all operations.
 *
 * Kernels that need what only Hopper has (wgmma, TMA, clusters) are in files
 * named *_sm90.cu, which are compiled for 90a alone. Where the compiler knows no
 * 90a the build leaves these files out: name their launchers in a table through
 * LAB_SM90, and give the row .capability = 90, .capability_only = true. */
#pragma once
#include "common/kernel.h"

#ifdef LAB_HAVE_SM90A
#define LAB_SM90(launcher) launcher
#else
#define LAB_SM90(launcher) nullptr
#endif

LAB_C_BEGIN
/* Variant i of an operation in the order of its table, NULL past the last. */
const struct lab_variant *lab_cuda_variant(const char *operation, int i);
LAB_C_END
