/* kernels/labs/shapes.h -- what operations of one shape share: an operation.c
 * names these in its table where they are what it means, and writes its own
 * where they do not. docs/lab-reference.md lists them. */
#pragma once
#include "labs/operation.h"

LAB_C_BEGIN
/* Nothing is computed: a copy, a walk. */
double lab_bench_no_flop(const int64_t *dim);

/* ---- y (N) from x (N), element by element; dim[0] is N ---- */

/* x and y, of the precision's dtype. */
int lab_bench_map_tensors(const int64_t *dim, enum lab_precision p,
                          struct lab_bench_tensor *out);
/* N numbers read and N written. */
double lab_bench_map_bytes(const int64_t *dim, enum lab_precision p);
/* y[i] = x[i] */
struct lab_ladder_element
lab_bench_copy_element(const struct lab_bench_numbers *n, const int64_t *dim,
                       int out, int64_t i);
/* `steps` times v = a v + c. `rounded`: how many of the roundings, each by
 * u |v| at most, the result still has in it. */
struct lab_ladder_element lab_bench_recurrence(double v, double a, double c,
                                               int64_t steps, double rounded);
/* One, primes, past a block's threads, with and without four to a load; dims is
 * 1. */
extern const char *const lab_bench_vector_checks[];

/* ---- C (M, N) = A (M, K) B (K, N); dim is M, N, K ---- */

int lab_bench_product_tensors(const int64_t *dim, enum lab_dtype t,
                              struct lab_bench_tensor *out);
double lab_bench_product_flop(const int64_t *dim);
/* Numbers of A, B and C together. */
double lab_bench_product_numbers(const int64_t *dim);
/* Element i of C. */
struct lab_bench_sum lab_bench_product_sum(const struct lab_bench_numbers *n,
                                           const int64_t *dim, int64_t i);

/* ---- each row of a matrix for itself; dim is R, C ---- */

/* Around every shape that a variant keeps in registers (row.cuh), and longer than
 * all. An element costs a row: long rows are so many that only some are
 * compared. */
extern const char *const lab_bench_row_checks[];
#define LAB_BENCH_ROW_SIZES_CPU "500,4000x256"
#define LAB_BENCH_ROW_SIZES_GPU "65536x1024,8192,8191x8193,2048x32768"
LAB_C_END
