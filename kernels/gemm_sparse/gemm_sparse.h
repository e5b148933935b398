/* kernels/gemm_sparse/gemm_sparse.h -- C (M, N) = A (M, K) B (K, N), where of each
 * four neighbours in a row of A two are zero and are not stored. A size is M, N, K;
 * K is a multiple of 32.
 *
 *   in[0]  kept  (M, K / 2): the two others of each four, in their order
 *   in[1]  meta  (M, K / 32) i32: where they were. Four bits for each four of A, the
 *                first in the lowest; two bits, 0..3, for each number that was kept,
 *                the first in the lower. The second is larger than the first.
 *   in[2]  B     (K, N)
 *   out[0] C     (M, N)
 * kept, B and C are of the precision's type; sums are fp32. */
#pragma once
#include "common/kernel.h"

enum { LAB_SPARSE_WORD = 32 }; /* numbers of A that a word of meta describes */

/* Where number i (0..15) that a word of meta describes was, 0..31. */
LAB_HOST_DEVICE static inline int lab_sparse_place(uint32_t meta, int i)
{
    return i / 2 * 4 + (int)(meta >> 2 * i & 3);
}
