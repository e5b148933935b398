/* kernels/common/vector.cuh -- elementwise work, four neighbouring elements a thread.
 *
 * What such a kernel costs is its bytes. A thread that asks for one float has
 * one small request under way and then waits; with 16-byte loads a warp asks for
 * 512 bytes in one instruction, and a quarter of the threads, indices and
 * instructions move the same data. On an H200 that is the step from two thirds
 * of the memory's bandwidth to nine tenths.
 *
 * The first count / 4 threads have a quad each; the up to three elements that
 * are left over go one each to the first threads. All addresses must be
 * multiples of 16 bytes (vector_fits); where they are not, as in a slice, the
 * launcher takes the plain kernel.
 *
 * F is the function: `one(a, b, i)` for element i and `four(a, b, i)` for the
 * elements i .. i+3; `each<F>` makes the second out of the first. */
#pragma once
#include "common/launch.cuh"

static inline bool vector_aligned(const void *p)
{
    return reinterpret_cast<uintptr_t>(p) % sizeof(float4) == 0;
}

/* May all views of the call be read and written in quads? */
static inline bool vector_fits(const struct lab_call *call)
{
    bool fits = true;
    for (int i = 0; i < call->n_in; i++)
        fits = fits && vector_aligned(call->in[i].data);
    for (int i = 0; i < call->n_out; i++)
        fits = fits && vector_aligned(call->out[i].data);
    return fits;
}

template <class F> struct each {
    F f;

    __device__ float one(float a, float b, int64_t) const
    {
        return f(a, b);
    }
    __device__ float4 four(float4 a, float4 b, int64_t) const
    {
        return make_float4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));
    }
};

/* y[i] = f(a[i], b[i]); without b: IN is 1. y may be a or b. */
template <int IN, class F>
static __global__ void vector_map(float *y, const float *a, const float *b, F f,
                                  int64_t count)
{
    int64_t i = lab_element();
    int64_t quads = count / 4;
    if (i < quads) {
        float4 qa = reinterpret_cast<const float4 *>(a)[i];
        float4 qb = qa;
        if (IN == 2)
            qb = reinterpret_cast<const float4 *>(b)[i];
        reinterpret_cast<float4 *>(y)[i] = f.four(qa, qb, 4 * i);
    }
    int64_t last = 4 * quads + i;
    if (i < count % 4)
        y[last] = f.one(a[last], IN == 2 ? b[last] : 0.0f, last);
}

template <class F>
static inline void vector_run(const struct lab_call *call, float *y,
                              const float *a, const float *b, const F &f,
                              int64_t count)
{
    unsigned blocks = lab_blocks((count + 3) / 4);
    if (b)
        vector_map<2>
            <<<blocks, LAB_BLOCK, 0, lab_stream(call)>>>(y, a, b, f, count);
    else
        vector_map<1>
            <<<blocks, LAB_BLOCK, 0, lab_stream(call)>>>(y, a, b, f, count);
}

/* y[i] = a[i] + b[i % M]; M is a multiple of 4 where four() is called. */
struct vector_bias {
    const float *bias;
    unsigned M;

    __device__ float one(float a, float, int64_t i) const
    {
        return a + bias[static_cast<unsigned>(i) % M];
    }
    __device__ float4 four(float4 a, float4, int64_t i) const
    {
        unsigned m = static_cast<unsigned>(i) % M;
        float4 b = *reinterpret_cast<const float4 *>(bias + m);
        return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
};

/* Rows of M columns, counted in 32 bits, no quad across two rows. */
static inline bool vector_rows_fit(const struct lab_call *call, int64_t count,
                                   int64_t M)
{
    return vector_fits(call) && M % 4 == 0 && count <= INT32_MAX;
}
