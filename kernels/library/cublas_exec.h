/* kernels/library/cublas_exec.h -- what launchers of cuBLAS ask before a call and tell
 * after it (struct lab_cublas: cuda_exec.h). */
#pragma once
#include "common/cuda_exec.h"

LAB_C_BEGIN
/* May a product with these sides be asked for? LAB_E_UNSUPPORTED: `blas` is NULL;
 * LAB_E_RANGE: a side is more than an int. */
enum lab_status lab_cublas_ask(const struct lab_cublas *blas,
                               const int64_t *sides, int count);
/* What cuBLAS's function `what` returned: 0 is LAB_OK, else LAB_E_DEVICE in the
 * library's words. */
enum lab_status lab_cublas_judge(const struct lab_cublas *blas, int status,
                                 const char *what);
LAB_C_END
