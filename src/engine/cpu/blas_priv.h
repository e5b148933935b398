/* blas_priv.h -- the OpenBLAS tables of the other files, and its start. */
#pragma once
#include "cpu/cpu_sets.h"

/* One thread: the order of the additions, and so the last bit of the result,
 * must not depend on how many cores are free. Any thread, any number of times.
 */
void lab_blas_start(void);

enum { LAB_BLAS_CONV2D = 2 };
extern const struct lab_variant lab_blas_conv2d[LAB_BLAS_CONV2D];
