/* kernels/lu/lu_cpu.h -- P A = L U on one thread of a CPU. */
#pragma once
#include <stdint.h>

/* a (n, n), columns first, becomes both factors; pivots (n) as LAPACK has them,
 * from 1. A column without a pivot leaves infinities or NaN. */
void lab_cpu_lu(double *a, int32_t *pivots, int64_t n);
