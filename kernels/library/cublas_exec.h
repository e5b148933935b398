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

/* C (m, n) = op(A) op(B) + beta C in fp32, row-major, summed over k; lda, ldb and
 * ldc are the elements from one row of a matrix in memory to the next. */
struct lab_cublas_product {
    int64_t m;
    int64_t n;
    int64_t k;
    const float *a;
    int64_t lda;
    bool flip_a; /* op transposes */
    const float *b;
    int64_t ldb;
    bool flip_b;
    float beta;
    float *c;
    int64_t ldc;
};

/* Errors: those of lab_cublas_ask() and lab_cublas_judge(). */
enum lab_status lab_cublas_multiply(const struct lab_call *call,
                                    const struct lab_cublas_product *p);
/* `count` products: A, B and C of the next one begin so many elements further
 * on. */
enum lab_status lab_cublas_multiply_many(const struct lab_call *call,
                                         const struct lab_cublas_product *p,
                                         int64_t count, int64_t next_a,
                                         int64_t next_b, int64_t next_c);
LAB_C_END
