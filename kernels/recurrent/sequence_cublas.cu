/* kernels/recurrent/sequence_cublas.cu -- the products of rnn and lstm by cuBLAS.
 *
 * One time step is two small products, x W and h U, that add up in the same z:
 * the second one is called with beta = 1. All four gates of an lstm are one
 * product, four times as wide: one launch where there would be four, and more
 * blocks to fill the chip with. Still, with N = 64 rows a step has little work,
 * and the steps cannot overlap, because each one reads the last one's h.
 *
 * The gradient of the weights does not wait for anyone: its rows are those of
 * all time steps, one large product.
 */
#include "library/cublas_exec.h"
#include "recurrent/sequence.cuh"

/* z = b; z += x W; z += hp U */
enum lab_status sequence_cublas_forward(const struct lab_call *call, bool flip)
{
    int64_t N = call->out[0].dim[0];
    int64_t K = call->out[0].dim[1];
    float *z = lab_out(call, 0);
    sequence_start<<<lab_blocks(N * K), LAB_BLOCK, 0, lab_stream(call)>>>(
        z, lab_in(call, 4), N * K, K);
    enum lab_status st = lab_launched("sequence_start");
    for (int i = 0; i < 2 && !st; i++) {
        int64_t D = lab_view_cols(&call->in[i]);
        struct lab_cublas_product p = {N,
                                       K,
                                       D,
                                       lab_in(call, i),
                                       D,
                                       false,
                                       lab_in(call, 2 + i),
                                       lab_view_cols(&call->in[2 + i]),
                                       flip,
                                       1.0f,
                                       z,
                                       K};
        st = lab_cublas_multiply(call, &p);
    }
    return st;
}

/* (rows, cols) = dz W, or dz W^T, with rows `ld` apart. */
static struct lab_cublas_product through(const struct lab_call *call, bool flip,
                                         int64_t rows, int64_t cols, int64_t K,
                                         int64_t ld)
{
    return {rows,
            cols,
            K,
            lab_in(call, 0),
            K,
            false,
            lab_in(call, 1),
            lab_view_cols(&call->in[1]),
            flip,
            0.0f,
            lab_out(call, 0),
            ld};
}

/* dhp = dz U, or dz Wh^T */
enum lab_status sequence_cublas_backward(const struct lab_call *call, bool flip)
{
    int64_t H = call->out[0].dim[1];
    struct lab_cublas_product p =
        through(call, flip, call->out[0].dim[0], H, call->in[0].dim[1], H);
    return lab_cublas_multiply(call, &p);
}

/* dW (cols_a, cols_b) = a^T b + beta dW over `rows` rows */
static enum lab_status outer(const struct lab_call *call, float *dW,
                             const float *a, int64_t cols_a, const float *b,
                             int64_t cols_b, int64_t rows, float beta)
{
    struct lab_cublas_product p = {cols_a, cols_b, rows,  a,    cols_a, true,
                                   b,      cols_b, false, beta, dW,     cols_b};
    return lab_cublas_multiply(call, &p);
}

/* The rows of h are one step of N behind those of dz, and h0 is before. */
enum lab_status sequence_cublas_weights(const struct lab_call *call, bool flip)
{
    struct sequence_shape s = sequence_shape_of(call);
    const float *dz = lab_in(call, 0);
    const float *xs = lab_in(call, 1);
    const float *h[2] = {lab_in(call, 3), lab_in(call, 2)};
    float *dU = lab_out(call, 1);
    enum lab_status st;
    sequence_sum_rows(call, &s);
    st = lab_launched("columns_slice");
    if (!st && lab_out(call, 0))
        st = flip ? outer(call, lab_out(call, 0), dz, s.K, xs, s.D, s.rows, 0)
                  : outer(call, lab_out(call, 0), xs, s.D, dz, s.K, s.rows, 0);
    for (int i = 0; i < 2 && dU && !st; i++) {
        int64_t rows = i == 0 ? s.N : s.rows - s.N;
        const float *from = i == 0 ? dz : dz + s.N * s.K;
        st = flip ? outer(call, dU, from, s.K, h[i], s.H, rows, (float)i)
                  : outer(call, dU, h[i], s.H, from, s.K, rows, (float)i);
    }
    return st;
}

/* dx[:,t,:] = dz[t] W, or dz[t] Wx^T, for every t: rows T*D apart, time steps
 * D apart. */
enum lab_status sequence_cublas_input(const struct lab_call *call, bool flip)
{
    int64_t T = call->in[0].dim[0];
    int64_t N = call->in[0].dim[1];
    int64_t K = call->in[0].dim[2];
    int64_t D = call->out[0].dim[2];
    struct lab_cublas_product p = through(call, flip, N, D, K, T * D);
    return lab_cublas_multiply_many(call, &p, T, N * K, 0, D);
}
