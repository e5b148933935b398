/* kernels/recurrent/sequence.cuh -- what rnn.cu and lstm.cu share: turning sequences, and
 * the sums over all time steps. See sequence.h for the steps.
 *
 * Thread -> element: one thread an element of the result. In the turn,
 * neighbours differ in the last axis, which stays the last: reads and writes
 * are both of whole lines as soon as it has 32 elements. */
#pragma once
#include "common/columns.cuh"
#include "recurrent/sequence.h"

/* out[b,a,c] = in[a,b,c] */
static __global__ void sequence_turn(float *out, const float *in, int64_t A,
                                     int64_t B, int64_t C)
{
    int64_t i = lab_element();
    if (i >= A * B * C)
        return;
    int64_t c = i % C;
    int64_t a = i / C % A;
    int64_t b = i / C / A;
    out[i] = in[(a * B + b) * C + c];
}

static inline void sequence_turn_run(const struct lab_call *call, float *out,
                                     const float *in, int64_t A, int64_t B,
                                     int64_t C)
{
    sequence_turn<<<lab_blocks(A * B * C), LAB_BLOCK, 0, lab_stream(call)>>>(
        out, in, A, B, C);
}

/* A matrix, the last step of a sequence, is copied as it is. */
static inline enum lab_status sequence_turn_naive(const struct lab_call *call)
{
    const struct lab_view *in = &call->in[0];
    int64_t A = in->rank == 3 ? in->dim[0] : 1;
    int64_t B = in->rank == 3 ? in->dim[1] : 1;
    int64_t C = in->rank == 3 ? in->dim[2] : in->count;
    sequence_turn_run(call, lab_out(call, 0), lab_in(call, 0), A, B, C);
    return lab_launched("sequence_turn");
}

/* sum over rows of a[r,i] b[r,j], neighbours in j: b is read a line at a time
 * and a[r,i] once for all of them. Kept in a double: the rows of all time steps
 * are many. */
static __device__ inline double sequence_outer(const float *a, int64_t cols_a,
                                               int64_t i, const float *b,
                                               int64_t cols_b, int64_t j,
                                               int64_t rows)
{
    double sum = 0.0;
    for (int64_t r = 0; r < rows; r++)
        sum += (double)a[r * cols_a + i] * b[r * cols_b + j];
    return sum;
}

/* dW[i,j] = sum_r a[r,i] b[r,j] */
static __global__ void sequence_dW_naive(float *dW, const float *a,
                                         int64_t cols_a, const float *b,
                                         int64_t cols_b, int64_t rows)
{
    int64_t e = lab_element();
    if (e >= cols_a * cols_b)
        return;
    dW[e] = (float)sequence_outer(a, cols_a, e / cols_b, b, cols_b, e % cols_b,
                                  rows);
}

/* The same where one side begins with the N rows of h0 and goes on with the
 * rows of h; `h_first`: it is the left side. */
static __global__ void sequence_dU_naive(float *dU, const float *h0,
                                         const float *h, const float *dz,
                                         int64_t H, int64_t K, int64_t N,
                                         int64_t rows, bool h_first)
{
    int64_t e = lab_element();
    if (e >= H * K)
        return;
    int64_t j = h_first ? e / K : e % H;
    int64_t k = h_first ? e % K : e / H;
    double sum = sequence_outer(h0, H, j, dz, K, k, N);
    sum += sequence_outer(h, H, j, dz + N * K, K, k, rows - N);
    dU[e] = (float)sum;
}

/* Every row of z starts as b, or as zeros. */
static __global__ void sequence_start(float *z, const float *b, int64_t count,
                                      int64_t K)
{
    int64_t i = lab_element();
    if (i < count)
        z[i] = b ? b[i % K] : 0.0f;
}

/* The sizes that the weights step reads off its views. */
struct sequence_shape {
    int64_t N;
    int64_t K; /* columns of dz */
    int64_t D;
    int64_t H;
    int64_t rows; /* T * N */
};

static inline struct sequence_shape
sequence_shape_of(const struct lab_call *call)
{
    return {call->in[0].dim[1], call->in[0].dim[2], call->in[1].dim[2],
            call->in[2].dim[2], call->in[0].dim[0] * call->in[0].dim[1]};
}

static inline void sequence_sum_rows(const struct lab_call *call,
                                     const struct sequence_shape *s)
{
    if (lab_out(call, 2))
        columns_sum(call, columns_plain{lab_out(call, 2), lab_in(call, 0)},
                    s->rows, s->K);
}

/* sequence_cublas.cu. `flip`: the weights are stored as [out,in] (lstm). */
enum lab_status sequence_cublas_forward(const struct lab_call *call, bool flip);
enum lab_status sequence_cublas_backward(const struct lab_call *call,
                                         bool flip);
enum lab_status sequence_cublas_weights(const struct lab_call *call, bool flip);
enum lab_status sequence_cublas_input(const struct lab_call *call, bool flip);
