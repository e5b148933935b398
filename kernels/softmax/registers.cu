/* kernels/softmax/registers.cu -- rows that stay in registers.
 *
 * registers  a row is read once, 4 bytes a load, kept in the registers of its
 *            threads, and written once: 8 bytes an element, what a copy moves.
 *            Rows up to 1,024 numbers have a warp and need no barrier; longer
 *            ones have a block of up to 1,024 threads. The price: a row has to
 *            fit, 32 numbers a thread, 32,768 in all; a longer one takes the
 *            two walks of `online`.
 * vector     the same with 16 bytes a load and a store, where rows start on 16
 *            bytes; else it is `registers`. */
#include "common/row.cuh"
#include "softmax/softmax.h"

/* v = exp(v - largest) / sum; what lies outside of the row is -infinity. */
template <typename SHAPE>
static __device__ __forceinline__ void softmax_of(float (&v)[SHAPE::EACH])
{
    float largest = v[0];
#pragma unroll
    for (int i = 1; i < SHAPE::EACH; i++)
        largest = fmaxf(largest, v[i]);
    largest = row_max<SHAPE::THREADS>(largest);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < SHAPE::EACH; i++) {
        v[i] = expf(v[i] - largest);
        sum += v[i];
    }
    float scale = 1.0f / row_sum<SHAPE::THREADS>(sum);
#pragma unroll
    for (int i = 0; i < SHAPE::EACH; i++)
        v[i] *= scale;
}

template <typename SHAPE>
static __global__ void __launch_bounds__(SHAPE::BLOCK_OF_ONE)
    softmax_registers(float *y, const float *x, int64_t R, int C)
{
    float v[SHAPE::EACH];
    int64_t r = SHAPE::row();
    if (r >= R) /* a whole warp, or no thread */
        return;
    row_load<SHAPE>(v, x + r * C, C, -INFINITY);
    softmax_of<SHAPE>(v);
    row_store<SHAPE>(y + r * C, v, C);
}

template <typename SHAPE>
static __global__ void __launch_bounds__(SHAPE::BLOCK_OF_ONE)
    softmax_vector(float *y, const float *x, int64_t R, int C)
{
    float v[SHAPE::EACH];
    int64_t r = SHAPE::row();
    if (r >= R)
        return;
    row_load_fours<SHAPE>(v, x + r * C, C, -INFINITY);
    softmax_of<SHAPE>(v);
    row_store_fours<SHAPE>(y + r * C, v, C);
}

enum lab_status lab_softmax_registers(const struct lab_call *call)
{
    const int64_t R = call->in[0].dim[0];
    const int64_t C = call->in[0].dim[1];
    bool fits = row_fits(C, [&](auto shape) {
        typedef decltype(shape) SHAPE;
        softmax_registers<SHAPE><<<lab_blocks(R, SHAPE::ROWS),
                                   SHAPE::BLOCK_OF_ONE, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), R, static_cast<int>(C));
    });
    return fits ? lab_launched("softmax_registers") : lab_softmax_online(call);
}

enum lab_status lab_softmax_vector(const struct lab_call *call)
{
    const int64_t R = call->in[0].dim[0];
    const int64_t C = call->in[0].dim[1];
    if (!row_has_fours(C))
        return lab_softmax_registers(call);
    bool fits = row_fits(C, [&](auto shape) {
        typedef decltype(shape) SHAPE;
        softmax_vector<SHAPE><<<lab_blocks(R, SHAPE::ROWS), SHAPE::BLOCK_OF_ONE,
                                0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), R, static_cast<int>(C));
    });
    return fits ? lab_launched("softmax_vector") : lab_softmax_online(call);
}
