/* kernels/labs/cpu_rungs.h -- the CPU's rungs that need no library. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
/* Rung i of an operation in the order of its table, NULL past the last. */
const struct lab_variant *lab_cpu_rung(const char *operation, int i);
LAB_C_END
