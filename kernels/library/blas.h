/* kernels/library/blas.h -- OpenBLAS on the CPU: the tables of
 * kernels/<op>/<name>_blas.c, and what their rows share.
 *
 * Rows have the variant name "blas", a lab's rows "openblas", "threads" or
 * "lapack". OpenBLAS itself runs on one thread but for `threads`; a large product
 * of a step is cut into parts for the pool (base/parallel.h), so that the last bit
 * of a result depends on the number of threads and on nothing else. LAPACK is looked for at run time: an OpenBLAS may be built
 * without it. Threads: any. */
#pragma once
#include "cpu/product.h"

/* The ops and the operations of labs that have rows. */
#define LAB_BLAS_SETS(F)                                                       \
    F(dense)                                                                   \
    F(conv2d)                                                                  \
    F(rnn)                                                                     \
    F(lstm)                                                                    \
    F(attention)                                                               \
    F(scaled_dot_attention)
#define LAB_BLAS_VARIANTS(F)                                                   \
    F(saxpy)                                                                   \
    F(transpose)                                                               \
    F(gemm)                                                                    \
    F(gemv)                                                                    \
    F(gemm_full)                                                               \
    F(dot)                                                                     \
    F(trsv)                                                                    \
    F(dgemm)                                                                   \
    F(batched_gemm)                                                            \
    F(conv)                                                                    \
    F(lu)                                                                      \
    F(gesv)

LAB_C_BEGIN
#define LAB_BLAS_SET(op) extern const struct lab_kernel_set lab_blas_##op;
#define LAB_BLAS_VARIANT(operation)                                            \
    extern const struct lab_variant lab_blas_variants_##operation[];
LAB_BLAS_SETS(LAB_BLAS_SET)
LAB_BLAS_VARIANTS(LAB_BLAS_VARIANT)
#undef LAB_BLAS_SET
#undef LAB_BLAS_VARIANT

/* All sets, an array of *count pointers: none where OpenBLAS is not installed. */
const struct lab_kernel_set *const *lab_blas_sets(int *count);
/* OpenBLAS's version and how it was built; NULL where it is not installed. */
const char *lab_blas_version(void);
/* Row i of an operation in the order of its table, NULL past the last; none where
 * OpenBLAS is not installed. */
const struct lab_variant *lab_blas_variant(const char *operation, int i);

/* Refuses sides that BLAS's 32-bit sizes do not hold (LAB_E_RANGE). */
enum lab_status lab_blas_check(int64_t N, int64_t K, int64_t M);
/* fn(call) with OpenBLAS on all cores. */
enum lab_status lab_blas_all_cores(lab_kernel_fn *fn,
                                   const struct lab_call *call);

/* lab_multiply_fn (cpu/product.h), on all threads; within a part of a loop on
 * the caller. Check the sides first. */
lab_multiply_fn lab_blas_multiply;

/* LAPACK's function of that name into *fn, a pointer to a function.
 * LAB_E_UNSUPPORTED: this OpenBLAS has none. */
enum lab_status lab_lapack_find(const char *name, void *fn);
/* What LAPACK's function `name` left in `info`: 0 is LAB_OK, else
 * LAB_E_CHECK. */
enum lab_status lab_lapack_judge(int info, const char *name);
/* lu_blas.c: a (n, n), stored by columns, becomes L and U. */
enum lab_status lab_lapack_factor(double *a, int *pivots, int64_t n);
LAB_C_END
