/* kernels/tf32x3/tf32x3_sm90.cu -- products of matrices by tf32x3_sm90.cuh. */
#include "tf32x3/tf32x3.h"
#include "tf32x3/tf32x3_sm90.cuh"

/* Rows that do not start on 16 bytes are fetched number by number, which takes so long
 * that the columns of a tile hardly matter. */
template <bool FLIP_A, bool FLIP_B>
static enum lab_status multiply(const struct lab_call *call,
                                const lab_cublas_product &of, const product &p,
                                size_t room_bytes)
{
    const int m = p.M;
    const int n = p.N;
    if (reinterpret_cast<uintptr_t>(of.a) % 16 == 0 && of.lda % 4 == 0 &&
        reinterpret_cast<uintptr_t>(of.b) % 16 == 0 && of.ldb % 4 == 0)
        return launch_best(call, p, room_bytes,
                           tf32x3_matrix<FLIP_A, true>{of.a, of.lda, m, p.K},
                           tf32x3_matrix<!FLIP_B, true>{of.b, of.ldb, n, p.K});
    product by_numbers = p;
    by_numbers.stages = (p.K - 1) / DEPTH + 1;
    by_numbers.pieces =
        plan_of(by_numbers, 64, call->exec->sm_count, room_bytes).pieces;
    return launch<64>(call, by_numbers,
                      tf32x3_matrix<FLIP_A, false>{of.a, of.lda, m, p.K},
                      tf32x3_matrix<!FLIP_B, false>{of.b, of.ldb, n, p.K});
}

enum lab_status lab_tf32x3_multiply(const struct lab_call *call,
                                    const struct lab_cublas_product *p,
                                    const float *bias, void *room,
                                    size_t room_bytes)
{
    enum lab_status st = lab_tf32x3_prepare(call);
    if (st)
        return st;
    if (p->flip_a && p->flip_b)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[launch.product-transposed] tf32x3 has no product of two "
            "transposed matrices");
    if (p->m > INT32_MAX - BM || p->n > INT32_MAX - BM || p->k > INT32_MAX - BM)
        return lab_fail(LAB_E_RANGE,
                        "[launch.product-side] tf32x3 takes at most 2^31 - 129 "
                        "rows or columns");
    if (p->m == 0 || p->n == 0 || p->k == 0)
        return LAB_OK; /* a plan has no empty tensors */
    const product of = {p->c,
                        bias,
                        static_cast<float *>(room),
                        p->ldc,
                        p->beta,
                        static_cast<int>(p->m),
                        static_cast<int>(p->n),
                        static_cast<int>(p->k)};
    if (p->flip_a)
        return multiply<true, false>(call, *p, of, room_bytes);
    return p->flip_b ? multiply<false, true>(call, *p, of, room_bytes)
                     : multiply<false, false>(call, *p, of, room_bytes);
}
