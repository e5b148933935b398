/* kernels/attention/attention_cublas.cu -- the products of attention by NVIDIA's library.
 *
 * A head is a matrix with rows H*E numbers apart, which is what the
 * leading dimension is for: nothing is copied to separate the heads. The N*H
 * matrices of a batch do not lie at one fixed step, so cuBLAS is given a list
 * of addresses, which a small kernel writes into the workspace: one call does
 * all heads of all sequences, and fills the chip. cuBLAS counts column by
 * column: as in dense_cublas.cu we ask for the transposed products.
 *
 *   scores^T  = k q^T / sqrt(E)      ctx^T = v^T probs^T
 *   dprobs^T  = v dctx^T             dv^T  = dctx^T probs
 *   dq^T      = k^T dscores^T        dk^T  = q^T dscores    (both / sqrt(E)) */
#include "library/cublas_exec.h"
#include "attention/attention_cuda.cuh"

/* A head of a tensor as cuBLAS sees it: columns `ld` apart, sequences `step`
 * apart, heads `head` apart. */
struct matrix {
    const float *data;
    int64_t ld;
    int64_t step;
    int64_t head;
};

static matrix rows_matrix(const float *x, int64_t T, int64_t H, int64_t width)
{
    return {x, H * width, T * H * width, width};
}

static matrix score_matrix(const float *x, const attend_shape &s)
{
    return {x, s.Tk, s.H * s.Tq * s.Tk, s.Tq * s.Tk};
}

struct product {
    int op_a;
    int op_b;
    int64_t m;
    int64_t n;
    int64_t k;
    float factor;
};

/* Where each of the N*H matrices of the three factors starts. */
static __global__ void attend_addresses(const float **list, matrix a, matrix b,
                                        matrix c, int64_t H, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t n = i / H;
    int64_t h = i % H;
    list[i] = a.data + n * a.step + h * a.head;
    list[count + i] = b.data + n * b.step + h * b.head;
    list[2 * count + i] = c.data + n * c.step + h * c.head;
}

static enum lab_status judge(const struct lab_cublas *cublas, int status)
{
    return lab_cublas_judge(cublas, status, "sgemm");
}

/* C (m, n) = factor op(A) op(B), for every head and sequence. */
static enum lab_status multiply(const struct lab_call *call,
                                const attend_shape &s, const product &p,
                                const matrix &a, const matrix &b,
                                const matrix &c)
{
    const struct lab_cublas *cublas = call->exec->cublas;
    const float zero = 0.0f;
    int64_t count = s.N * s.H;
    auto list = static_cast<const float **>(call->exec->workspace);
    const int64_t sides[] = {a.ld, b.ld, c.ld, p.m, p.n, p.k, count};
    enum lab_status st =
        lab_cublas_ask(cublas, sides, sizeof(sides) / sizeof(sides[0]));
    if (st)
        return st;
    if ((size_t)count * 3 * sizeof(*list) > call->exec->workspace_bytes)
        return lab_fail(LAB_E_RANGE,
                        "[launch.cublas-heads] attention cublas: the addresses "
                        "of %lld heads are "
                        "more than the workspace holds",
                        (long long)count);
    attend_addresses<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        list, a, b, c, s.H, count);
    st = lab_launched("attend_addresses");
    if (st)
        return st;
    return judge(
        cublas, cublas->sgemm_batched(cublas->handle, p.op_a, p.op_b, (int)p.m,
                                      (int)p.n, (int)p.k, &p.factor, list,
                                      (int)a.ld, list + count, (int)b.ld, &zero,
                                      const_cast<float **>(list + 2 * count),
                                      (int)c.ld, (int)count));
}

enum lab_status attend_cublas_scores_forward(const struct lab_call *call)
{
    attend_shape s = attend_shape_of(call, &call->in[0], &call->in[1], nullptr);
    product p = {LAB_CUBLAS_T, LAB_CUBLAS_N, s.Tk, s.Tq, s.E, s.scale};
    return multiply(call, s, p, rows_matrix(lab_in(call, 1), s.Tk, s.H, s.E),
                    rows_matrix(lab_in(call, 0), s.Tq, s.H, s.E),
                    score_matrix(lab_out(call, 0), s));
}

enum lab_status attend_cublas_context_forward(const struct lab_call *call)
{
    attend_shape s =
        attend_shape_of(call, &call->out[0], nullptr, &call->in[1]);
    product p = {LAB_CUBLAS_N, LAB_CUBLAS_N, s.F, s.Tq, s.Tk, 1.0f};
    return multiply(call, s, p, rows_matrix(lab_in(call, 1), s.Tk, s.H, s.F),
                    score_matrix(lab_in(call, 0), s),
                    rows_matrix(lab_out(call, 0), s.Tq, s.H, s.F));
}

enum lab_status attend_cublas_context_backward(const struct lab_call *call)
{
    attend_shape s = attend_shape_of(call, &call->in[0], nullptr, &call->in[2]);
    matrix dctx = rows_matrix(lab_in(call, 0), s.Tq, s.H, s.F);
    matrix v = rows_matrix(lab_in(call, 2), s.Tk, s.H, s.F);
    enum lab_status st = LAB_OK;
    if (lab_out(call, 0)) {
        product p = {LAB_CUBLAS_T, LAB_CUBLAS_N, s.Tk, s.Tq, s.F, 1.0f};
        st = multiply(call, s, p, v, dctx, score_matrix(lab_out(call, 0), s));
    }
    if (!st && lab_out(call, 1)) {
        product p = {LAB_CUBLAS_N, LAB_CUBLAS_T, s.F, s.Tk, s.Tq, 1.0f};
        st = multiply(call, s, p, dctx, score_matrix(lab_in(call, 1), s),
                      rows_matrix(lab_out(call, 1), s.Tk, s.H, s.F));
    }
    return st;
}

enum lab_status attend_cublas_scores_backward(const struct lab_call *call)
{
    attend_shape s = attend_shape_of(call, &call->in[1], &call->in[2], nullptr);
    matrix dscores = score_matrix(lab_in(call, 0), s);
    matrix q = rows_matrix(lab_in(call, 1), s.Tq, s.H, s.E);
    matrix k = rows_matrix(lab_in(call, 2), s.Tk, s.H, s.E);
    enum lab_status st = LAB_OK;
    if (lab_out(call, 0)) {
        product p = {LAB_CUBLAS_N, LAB_CUBLAS_N, s.E, s.Tq, s.Tk, s.scale};
        st = multiply(call, s, p, k, dscores,
                      rows_matrix(lab_out(call, 0), s.Tq, s.H, s.E));
    }
    if (!st && lab_out(call, 1)) {
        product p = {LAB_CUBLAS_N, LAB_CUBLAS_T, s.E, s.Tk, s.Tq, s.scale};
        st = multiply(call, s, p, q, dscores,
                      rows_matrix(lab_out(call, 1), s.Tk, s.H, s.E));
    }
    return st;
}
