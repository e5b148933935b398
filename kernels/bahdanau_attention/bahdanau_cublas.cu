/* kernels/bahdanau_attention/bahdanau_cublas.cu -- the products of additive attention by cuBLAS.
 *
 *   u (N T, A) = h Wh, added to s Ws + b, which all T rows of a state share
 *   dWh = h^T du      dh = du Wh^T
 *   dWs = s^T du_n    ds = du_n Ws^T     du_n (N, A) = sum_t du
 *
 * A thread an element walked S + D numbers for u and all N T rows for dWh. What
 * the rows of a state share is computed once, in the workspace.
 *
 * cuBLAS counts column by column: for row-major C = A B it is asked for C^T =
 * B^T A^T. */
#include "bahdanau_attention/bahdanau_cuda.cuh"
#include "common/columns.cuh"
#include "library/cublas_exec.h"

/* A factor, row-major, with rows of `ld` numbers. */
struct factor {
    const float *data;
    int64_t ld;
    bool flip;
};

/* C (m, n) = A B, or more: += */
static enum lab_status product(const struct lab_call *call, int64_t m,
                               int64_t n, int64_t k, const factor &a,
                               const factor &b, float *c, bool more = false)
{
    const struct lab_cublas *cublas = call->exec->cublas;
    const int64_t sides[] = {m, n, k, a.ld, b.ld};
    const float one = 1.0f;
    const float beta = more ? 1.0f : 0.0f;
    enum lab_status st = lab_cublas_ask(cublas, sides, 5);
    if (st)
        return st;
    return lab_cublas_judge(
        cublas,
        cublas->sgemm(cublas->handle, b.flip ? LAB_CUBLAS_T : LAB_CUBLAS_N,
                      a.flip ? LAB_CUBLAS_T : LAB_CUBLAS_N, (int)n, (int)m,
                      (int)k, &one, b.data, (int)b.ld, a.data, (int)a.ld, &beta,
                      c, (int)n),
        "sgemm");
}

/* u[n,t,a] = shared[n,a] + b[a] */
static __global__ void bahdanau_u_start(float *u, const float *shared,
                                        const float *b, int64_t count,
                                        int64_t T, int64_t A)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t row = i / A;
    int64_t a = i - row * A;
    u[i] = shared[row / T * A + a] + b[a];
}

/* y[n,a] = sum_t du[n,t,a] */
static __global__ void bahdanau_sum_rows(float *y, const float *du,
                                         int64_t count, int64_t T, int64_t A)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t n = i / A;
    const float *from = du + n * T * A + (i - n * A);
    double sum = 0.0;
#pragma unroll 4
    for (int64_t t = 0; t < T; t++)
        sum += from[t * A];
    y[i] = (float)sum;
}

/* Room for N x A numbers that the rows of a state share; NULL: too many. */
static float *shared_rows(const struct lab_call *call,
                          const lab_bahdanau_dims &d)
{
    size_t bytes = (size_t)(d.N * d.A) * sizeof(float);
    return bytes <= call->exec->workspace_bytes
               ? static_cast<float *>(call->exec->workspace)
               : nullptr;
}

enum lab_status bahdanau_cublas_forward(const struct lab_call *call)
{
    lab_bahdanau_dims d =
        lab_bahdanau_sizes(&call->in[1], &call->in[0], &call->in[2]);
    float *shared = shared_rows(call, d);
    float *u = lab_out(call, 0);
    int64_t count = call->out[0].count;
    if (!shared)
        return bahdanau_u_forward(call);
    enum lab_status st =
        product(call, d.N, d.A, d.S, {lab_in(call, 0), d.S, false},
                {lab_in(call, 2), d.A, false}, shared);
    if (st)
        return st;
    bahdanau_u_start<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        u, shared, lab_in(call, 4), count, d.T, d.A);
    st = lab_launched("bahdanau_u_start");
    return st ? st
              : product(call, d.N * d.T, d.A, d.D,
                        {lab_in(call, 1), d.D, false},
                        {lab_in(call, 3), d.A, false}, u, true);
}

enum lab_status bahdanau_cublas_backward(const struct lab_call *call)
{
    lab_bahdanau_dims d =
        lab_bahdanau_sizes(&call->in[2], &call->in[1], &call->in[3]);
    float *shared = shared_rows(call, d);
    int64_t rows = d.N * d.T;
    const factor du = {lab_in(call, 0), d.A, false};
    if (!shared)
        return bahdanau_u_backward(call);
    /* db first: it uses the workspace, too. */
    columns_sum(call, columns_plain{lab_out(call, 2), du.data}, rows, d.A);
    bahdanau_sum_rows<<<lab_blocks(d.N * d.A), LAB_BLOCK, 0,
                        lab_stream(call)>>>(shared, du.data, d.N * d.A, d.T,
                                            d.A);
    enum lab_status st = lab_launched("bahdanau_sum_rows");
    const factor du_n = {shared, d.A, false};
    if (!st)
        st = product(call, d.S, d.A, d.N, {lab_in(call, 1), d.S, true}, du_n,
                     lab_out(call, 0));
    if (!st)
        st = product(call, d.D, d.A, rows, {lab_in(call, 2), d.D, true}, du,
                     lab_out(call, 1));
    if (!st && lab_out(call, 3))
        st = product(call, d.N, d.S, d.A, du_n, {lab_in(call, 3), d.A, true},
                     lab_out(call, 3));
    if (!st && lab_out(call, 4))
        st = product(call, rows, d.D, d.A, du, {lab_in(call, 4), d.A, true},
                     lab_out(call, 4));
    return st;
}
