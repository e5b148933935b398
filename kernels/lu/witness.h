/* kernels/lu/witness.h -- matrices with known LU factors.
 *
 * The factors of a random matrix are known only by computing them, which for
 * 10,000 x 10,000 takes a CPU longer than the whole lab. So A is made of its
 * factors, and made so that this is quick: with five random vectors
 *
 *   L[i,k] = p[i] q[k] below the diagonal, 1 on it
 *   U[k,j] = r[k] s[j] above the diagonal, d[k] on it
 *
 * each element of L U is a product of few numbers and one running sum. As
 * |p q| < 1, row k is the pivot of step k; the rows of L U are then shuffled, so
 * that partial pivoting has to find it, and finds nothing else. All of A is
 * nonzero, and both factors are well conditioned: signs are random, so that
 * errors die out along the rows.
 *
 * Columns first, as LAPACK has matrices: A[i,j] at i + j n. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"

/* Rows of a witness (LAB_WITNESS_ROWS, n). */
enum {
    LAB_WITNESS_P,
    LAB_WITNESS_Q,
    LAB_WITNESS_R,
    LAB_WITNESS_S,
    LAB_WITNESS_D,
    LAB_WITNESS_PIVOT, /* the row that step k exchanges with row k, from 1 */
    LAB_WITNESS_PLACE, /* the row of A that row i of L U is, from 0 */
    LAB_WITNESS_ROWS
};

LAB_C_BEGIN
void lab_witness_fill(double *w, int64_t n, uint64_t seed);
/* The same numbers in new memory; NULL when there is none. */
double *lab_witness_new(int64_t n, uint64_t seed);
/* Column j of A. */
void lab_witness_column(const double *w, int64_t n, int64_t j, double *column);
/* Element (i, j) of both factors in one matrix: L below the diagonal. */
double lab_witness_factor(const double *w, int64_t n, int64_t i, int64_t j);
LAB_C_END
