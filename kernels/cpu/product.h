/* kernels/cpu/product.h -- products of matrices on the CPU, cut over the pool.
 *
 * The files kernels/<op>/<name>_products.inc have what an op multiplies, and are
 * included twice: with LAB_MULTIPLY and LAB_CHECK_SIDES being lab_vector_multiply and
 * lab_vector_check, the product of this folder in compiler vectors, or those of
 * OpenBLAS (library/blas.h). LAB_PRODUCT_NAME is the variant's name,
 * LAB_PRODUCT_PREFERRED whether the fixed table prefers it. Threads: any. */
#pragma once
#include "common/kernel.h"

/* A row-major matrix, `ld` numbers from row to row. */
struct lab_matrix {
    float *data;
    int64_t ld;
    bool flip; /* a factor: the product takes the transpose */
    const float
        *bias; /* a result: added to each row, where beta is 0; or NULL */
};

/* c (rows, cols) = alpha a b + beta c + bias, summed over `inner`; an empty sum is 0.
 * beta is 0 or 1. */
typedef void lab_multiply_fn(struct lab_matrix c, struct lab_matrix a,
                             struct lab_matrix b, int64_t rows, int64_t cols,
                             int64_t inner, float alpha, float beta);

LAB_C_BEGIN
/* The product on all threads; within a part of a loop on the caller. Fastest for
 * factors that fit the second cache: it packs little. */
lab_multiply_fn lab_vector_multiply;
/* Numbers in the vectors of its next products: 8, or 16 where the processor has them,
 * which it takes unless a test sets 8. Both sum in the same order. */
int lab_vector_lanes(void);
void lab_vector_lanes_set(int most);

/* The same by `multiply` on one thread for each part: some columns of c, or some
 * rows. */
void lab_product_cut(lab_multiply_fn *multiply, bool by_rows,
                     struct lab_matrix c, struct lab_matrix a,
                     struct lab_matrix b, int64_t rows, int64_t cols,
                     int64_t inner, float alpha, float beta);

/* to (cols, rows) = from^T, `ld` and `from_ld` numbers from row to row. On the caller. */
void lab_turn(float *to, int64_t ld, const float *from, int64_t from_ld,
              int64_t rows, int64_t cols);

/* c (rows, cols) += `count` sums of its size that lie one behind the other, in their
 * order; on all threads. */
void lab_sums_add(struct lab_matrix c, const float *sums, int64_t count,
                  int64_t rows, int64_t cols);

/* The least part of a loop over n columns of a product, each of `each` multiply-adds,
 * for lab_parallel(): two parts a thread, as each packs the other factor anew, and
 * none of less than half a million FLOPs, 10 microseconds. */
int64_t lab_product_grain(int64_t n, int64_t each);
LAB_C_END

/* It multiplies any sides. */
static inline enum lab_status lab_vector_check(int64_t N, int64_t K, int64_t M)
{
    (void)N;
    (void)K;
    (void)M;
    return LAB_OK;
}

#define LAB_PRODUCT_ROW(file, step_name, phase_id, fn, first)                  \
    {                                                                          \
        .name = LAB_PRODUCT_NAME, .step = step_name, .phase = phase_id,        \
        .run = fn, .source = file, .symbol = first,                            \
        .preferred = LAB_PRODUCT_PREFERRED                                     \
    }
