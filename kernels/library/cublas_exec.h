/* kernels/library/cublas_exec.h -- what launchers of cuBLAS ask before a call and tell
 * after it (struct lab_cublas: cuda_exec.h). */
#pragma once
#include <string.h>

#include "common/cuda_exec.h"
#include "common/kernel.h"

/* Is it a row that calls cuBLAS? `cublas`, or `cublas_` and more. */
static inline bool lab_cublas_row(const struct lab_variant *v)
{
    return strncmp(v->name, "cublas", strlen("cublas")) == 0;
}

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
