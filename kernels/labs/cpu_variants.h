/* kernels/labs/cpu_variants.h -- the CPU's variants that need no library. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
/* Variant i of an operation in the order of its table, NULL past the last. */
const struct lab_variant *lab_cpu_variant(const char *operation, int i);
LAB_C_END
