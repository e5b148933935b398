/* kernels/attention/online.cu -- attention in one pass over the keys, after
 * M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax"
 * (arXiv:1805.02867).
 *
 * One idea: softmax does not need all scores before it can begin. A row keeps
 * its largest score so far, m, the sum of its shares, l, and the mixed values,
 * o. A new score s that is larger shrinks what is there:
 *     f = exp(m - max(m, s)),  l = l f + exp(s - max),  o = o f + exp(s - max) v
 * and at the end O = o / l. Nothing of size T x T exists: memory is O(T).
 *
 * Thread -> element: 4 threads a query, each with a quarter of its numbers, of
 * q and of o, in registers. They add up their quarters of a score by shuffles,
 * and all four do the softmax. The 8 rows of a warp walk together: where any of
 * them has a new largest score, all shrink (by 1, mostly).
 *
 * Price: every row reads all keys and values by itself, 16 bytes for 4
 * multiply-adds; they come from L1, where 8 rows of a warp and the warps of a
 * block meet, and L1 is the limit. And an exponential, a comparison and two
 * shuffles for each 2 D multiply-adds. */
#include "attention/attention.cuh"

enum { TEAM = 4, THREADS = 128, WIDEST = 128 };

/* A quarter of a row, in pieces of 4 numbers, 16 apart: the four threads read
 * 64 bytes next to each other. Beyond D: zeros. */
template <int OWN>
static __device__ __forceinline__ void read_quarter(float (&to)[OWN],
                                                    const float *row, int D)
{
#pragma unroll
    for (int e = 0; e < OWN; e += 4) {
        int c = 4 * e + threadIdx.x % TEAM * 4;
        float4 x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (c < D)
            x = *reinterpret_cast<const float4 *>(row + c);
        to[e] = x.x;
        to[e + 1] = x.y;
        to[e + 2] = x.z;
        to[e + 3] = x.w;
    }
}

/* The whole score, in each of the four threads. */
template <int OWN>
static __device__ __forceinline__ float dot(const float (&q)[OWN],
                                            const float (&k)[OWN])
{
    float sum[2] = {0.0f, 0.0f};
#pragma unroll
    for (int e = 0; e < OWN; e++)
        sum[e % 2] += q[e] * k[e];
    sum[0] += sum[1];
    sum[0] += __shfl_xor_sync(0xffffffffu, sum[0], 1);
    return sum[0] + __shfl_xor_sync(0xffffffffu, sum[0], 2);
}

/* The most keys that a row of the warp sees: its rows walk together. */
static __device__ __forceinline__ int most_of_warp(int keys)
{
#pragma unroll
    for (int d = TEAM; d < 32; d *= 2)
        keys = max(keys, __shfl_xor_sync(0xffffffffu, keys, d));
    return keys;
}

template <int WIDTH>
static __global__ void __launch_bounds__(THREADS)
    attention_online(float *out, const float *q, const float *k, const float *v,
                     attention_size s, bool causal)
{
    constexpr int OWN = WIDTH / TEAM;
    int64_t rows = static_cast<int64_t>(s.heads) * s.T;
    int64_t mine = lab_element() / TEAM;
    int64_t row = mine < rows ? mine : rows - 1; /* no thread leaves early */
    int keys = causal ? static_cast<int>(row % s.T) + 1 : s.T;
    int most = most_of_warp(keys);
    float own[OWN];
    float next[OWN];
    float o[OWN] = {};
    float top = -INFINITY;
    float sum = 0.0f;
    k += row / s.T * s.T * s.D;
    v += row / s.T * s.T * s.D;
    read_quarter<OWN>(own, q + row * s.D, s.D);
    for (int j = 0; j < most; j++, k += s.D, v += s.D) {
        read_quarter<OWN>(next, k, s.D);
        float score = dot<OWN>(own, next) * s.scale;
        score = j < keys ? score : -INFINITY;
        if (__any_sync(0xffffffffu, score > top)) { /* rare after a while */
            float larger = fmaxf(top, score);
            float shrink = exp2_fast(top - larger);
            top = larger;
            sum *= shrink;
#pragma unroll
            for (int e = 0; e < OWN; e++)
                o[e] *= shrink;
        }
        float share = exp2_fast(score - top);
        sum += share;
        read_quarter<OWN>(next, v, s.D);
#pragma unroll
        for (int e = 0; e < OWN; e++)
            o[e] += share * next[e];
    }
#pragma unroll
    for (int e = 0; e < OWN; e++) {
        int c = 4 * (e / 4 * 4) + threadIdx.x % TEAM * 4 + e % 4;
        if (mine < rows && c < s.D)
            out[row * s.D + c] = o[e] / sum;
    }
}

static enum lab_status run(const struct lab_call *call, bool causal)
{
    attention_size s = {};
    enum lab_status st = attention_size_of(call, WIDEST, 4, &s);
    if (st)
        return st;
    int64_t rows = static_cast<int64_t>(s.heads) * s.T;
    auto *kernel = s.D <= 64 ? attention_online<64> : attention_online<WIDEST>;
    kernel<<<lab_blocks(rows, THREADS / TEAM), THREADS, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2), s,
        causal);
    return lab_launched("attention_online");
}

enum lab_status lab_attention_online(const struct lab_call *call)
{
    return run(call, false);
}

enum lab_status lab_attention_causal_online(const struct lab_call *call)
{
    return run(call, true);
}
