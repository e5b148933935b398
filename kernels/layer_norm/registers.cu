/* kernels/layer_norm/registers.cu -- rows that stay in registers.
 *
 * registers  a row is read once, 4 bytes a load, and kept in the registers of
 *            its threads: mean and variance are taken in two walks over
 *            registers, as exactly as in `block`, and 8 bytes an element go
 *            through memory, what a copy moves. Rows up to 1,024 numbers have a
 *            warp and need no barrier. The price: a row has to fit, 32 numbers
 *            a thread, 32,768 in all; a longer one takes the walks of
 *            `welford`.
 * vector     the same with 16 bytes a load and a store, where rows start on 16
 *            bytes; else it is `registers`. */
#include "layer_norm/layer_norm.h"
#include "common/row.cuh"

/* Mean and 1 / sqrt(variance + eps) of a row, with 0 outside of it; INSIDE(i):
 * v[i] is in the row. */
template <typename SHAPE, typename INSIDE>
static __device__ __forceinline__ void moments_of(const float (&v)[SHAPE::EACH],
                                                  int C, INSIDE inside,
                                                  float *mean, float *scale)
{
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < SHAPE::EACH; i++)
        sum += v[i];
    *mean = row_sum<SHAPE::THREADS>(sum) / C;
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < SHAPE::EACH; i++) {
        float apart = inside(i) ? v[i] - *mean : 0.0f;
        squares += apart * apart;
    }
    squares = row_sum<SHAPE::THREADS>(squares);
    *scale = rsqrtf(squares / C + LAB_LAYER_NORM_EPS);
}

/* Blocks that a multiprocessor is to hold at once: while one waits at a barrier,
 * others load. A thread's registers are limited for it; a row in a warp waits at
 * no barrier. */
template <typename SHAPE> static constexpr int layer_norm_blocks()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    constexpr int THREADS = 1024; /* it holds no more */
#else
    constexpr int THREADS = SHAPE::EACH > 20 ? 1024 : 1536;
#endif
    return SHAPE::THREADS > 32 ? THREADS / SHAPE::BLOCK_OF_ONE : 1;
}

/* The last loop stores by twos: gamma and beta of all of a thread's columns at a
 * time would take as many registers as the row, twice. */
template <typename SHAPE>
static __global__ void __launch_bounds__(SHAPE::BLOCK_OF_ONE,
                                         layer_norm_blocks<SHAPE>())
    layer_norm_registers(float *y, const float *x, const float *gamma,
                         const float *beta, int64_t R, int C)
{
    float v[SHAPE::EACH];
    float mean;
    float scale;
    int64_t r = SHAPE::row();
    if (r >= R) /* a whole warp, or no thread */
        return;
    const int lane = SHAPE::lane();
    row_load<SHAPE>(v, x + r * C, C, 0.0f);
    moments_of<SHAPE>(
        v, C, [&](int i) { return lane + i * SHAPE::THREADS < C; }, &mean,
        &scale);
    y += r * C;
#pragma unroll
    for (int i = 0; i < SHAPE::EACH; i += 2) {
        int c = lane + i * SHAPE::THREADS;
        int next = c + SHAPE::THREADS;
        float g = c < C ? gamma[c] : 0.0f;
        float b = c < C ? beta[c] : 0.0f;
        float next_g = next < C ? gamma[next] : 0.0f;
        float next_b = next < C ? beta[next] : 0.0f;
        if (c < C)
            y[c] = (v[i] - mean) * scale * g + b;
        if (next < C)
            y[next] = (v[i + 1] - mean) * scale * next_g + next_b;
    }
}

template <typename SHAPE>
static __global__ void __launch_bounds__(SHAPE::BLOCK_OF_ONE)
    layer_norm_vector(float *y, const float *x, const float *gamma,
                      const float *beta, int64_t R, int C)
{
    float v[SHAPE::EACH];
    float mean;
    float scale;
    int64_t r = SHAPE::row();
    if (r >= R)
        return;
    const int lane = SHAPE::lane();
    row_load_fours<SHAPE>(v, x + r * C, C, 0.0f);
    moments_of<SHAPE>(
        v, C, [&](int i) { return 4 * (lane + i / 4 * SHAPE::THREADS) < C; },
        &mean, &scale);
#pragma unroll
    for (int i = 0; i < SHAPE::FOURS; i++) {
        int c = 4 * (lane + i * SHAPE::THREADS);
        if (c >= C)
            continue;
        float4 g = *reinterpret_cast<const float4 *>(gamma + c);
        float4 b = *reinterpret_cast<const float4 *>(beta + c);
        v[4 * i] = (v[4 * i] - mean) * scale * g.x + b.x;
        v[4 * i + 1] = (v[4 * i + 1] - mean) * scale * g.y + b.y;
        v[4 * i + 2] = (v[4 * i + 2] - mean) * scale * g.z + b.z;
        v[4 * i + 3] = (v[4 * i + 3] - mean) * scale * g.w + b.w;
    }
    row_store_fours<SHAPE>(y + r * C, v, C);
}

enum lab_status lab_layer_norm_registers(const struct lab_call *call)
{
    const int64_t R = call->in[0].dim[0];
    const int64_t C = call->in[0].dim[1];
    bool fits = row_fits(C, [&](auto shape) {
        typedef decltype(shape) SHAPE;
        layer_norm_registers<SHAPE>
            <<<lab_blocks(R, SHAPE::ROWS), SHAPE::BLOCK_OF_ONE, 0,
               lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                   lab_in(call, 1), lab_in(call, 2), R,
                                   static_cast<int>(C));
    });
    return fits ? lab_launched("layer_norm_registers")
                : lab_layer_norm_welford(call);
}

enum lab_status lab_layer_norm_vector(const struct lab_call *call)
{
    const int64_t R = call->in[0].dim[0];
    const int64_t C = call->in[0].dim[1];
    if (!row_has_fours(C))
        return lab_layer_norm_registers(call);
    bool fits = row_fits(C, [&](auto shape) {
        typedef decltype(shape) SHAPE;
        layer_norm_vector<SHAPE><<<lab_blocks(R, SHAPE::ROWS),
                                   SHAPE::BLOCK_OF_ONE, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
            R, static_cast<int>(C));
    });
    return fits ? lab_launched("layer_norm_vector")
                : lab_layer_norm_welford(call);
}
