/* kernels/labs/gemm/even.cu -- the same share of the work for every block.
 *
 * The idea: tiles come in waves, as many as the device holds at once, and the
 * last wave takes as long as a full one however few tiles are left: at 4096 it
 * is 88 % full, at 6000 18 %, at 1024 a tile is all that a block ever gets.
 * Here only full waves are dealt out as tiles. What is left over is cut along
 * K too: its tiles, end to end, are one long row of stages, and each block gets
 * the same length of it (M. Osama et al., "Stream-K", 2023). A tile that was
 * cut is put together by the block that comes last to it: the others have left
 * their sums in the workspace, and they are added in the order of K, the same
 * bits every time, whoever is last.
 *
 * The price: 32 KiB for each piece of a cut tile, written and read again. Where
 * the pieces would not fit the workspace, nothing is cut. */
#include <stdio.h>
#include "labs/gemm/ring.cuh"
#include "labs/rung.h"

typedef ring_shape<64, 128, 16, 3, 4> SHAPE;

enum {
    CUT_TILES = 1024, /* most that may be cut */
    PIECE = SHAPE::BM * SHAPE::BN,
    OF_THREAD = PIECE / 4 / SHAPE::THREADS /* float4 of a thread's sums */
};

/* Pieces of each cut tile that are in the workspace; zero between calls. */
static __device__ unsigned arrived[CUT_TILES];

/* How the work is dealt out. `steps` stages are a tile. Tiles before `whole`
 * have a block each; the stages of the `cut` tiles after them are shared by
 * `shares` blocks. */
struct even_plan {
    int M;
    int N;
    int K;
    int steps;
    int64_t whole;
    int64_t cut;
    int64_t shares;
};

/* The first stage of share j, in the row of stages of all cut tiles. */
static __device__ __forceinline__ int64_t first_of(const struct even_plan &p,
                                                   int64_t j)
{
    return p.cut * p.steps * j / p.shares;
}

/* The share that has stage `at`: the largest j with first_of(j) <= at. */
static __device__ __forceinline__ int64_t share_of(const struct even_plan &p,
                                                   int64_t at)
{
    return ((at + 1) * p.shares - 1) / (p.cut * p.steps);
}

static __device__ __forceinline__ void leave(float4 *piece,
                                             const gemm_sums<SHAPE> &mine)
{
#pragma unroll
    for (int i = 0; i < OF_THREAD; i++) {
        const float *s =
            &mine.sum[i / (SHAPE::TN / 4)][i % (SHAPE::TN / 4) * 4];
        __stcg(piece + i * SHAPE::THREADS + threadIdx.x,
               make_float4(s[0], s[1], s[2], s[3]));
    }
}

static __device__ __forceinline__ void add(gemm_sums<SHAPE> &mine,
                                           const float4 *piece)
{
#pragma unroll
    for (int i = 0; i < OF_THREAD; i++) {
        float *s = &mine.sum[i / (SHAPE::TN / 4)][i % (SHAPE::TN / 4) * 4];
        float4 v = __ldcg(piece + i * SHAPE::THREADS + threadIdx.x);
        s[0] += v.x;
        s[1] += v.y;
        s[2] += v.z;
        s[3] += v.w;
    }
}

/* Leaves the sums of share j for cut tile t; true for the last to come, which
 * has all pieces in `mine` then. Piece j + t is of no other share and tile: the
 * next piece in the row of stages has a larger j, a larger t, or both. */
static __device__ bool joined(const struct even_plan &p, float4 *pieces,
                              int64_t j, int64_t t, gemm_sums<SHAPE> &mine)
{
    __shared__ bool last;
    const int64_t first = share_of(p, t * p.steps);
    const int64_t end = share_of(p, (t + 1) * p.steps - 1) + 1;
    leave(pieces + (j + t) * (PIECE / 4), mine);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&arrived[t], 1u) == end - first - 1;
    __syncthreads();
    if (!last)
        return false;
    __threadfence();
    mine.start();
    for (int64_t i = first; i < end; i++)
        add(mine, pieces + (i + t) * (PIECE / 4));
    if (threadIdx.x == 0)
        arrived[t] = 0;
    return true;
}

template <bool FOURS>
static __global__ void __launch_bounds__(SHAPE::THREADS, SHAPE::BLOCKS)
    gemm_even(float *c, const float *a, const float *b, float4 *pieces,
              struct even_plan p)
{
    extern __shared__ __align__(16) float ring[];
    const int64_t j = blockIdx.x - p.whole; /* my share, if I have one */
    int64_t at = j < 0 ? 0 : first_of(p, j);
    const int64_t end = j < 0 ? p.steps : first_of(p, j + 1);
    while (at < end) {
        int64_t row0;
        int64_t col0;
        ring_copies<SHAPE, FOURS> copies;
        gemm_sums<SHAPE> mine;
        const int64_t t = at / p.steps; /* of the cut tiles */
        const int from = static_cast<int>(at - t * p.steps);
        const int64_t left = end - at;
        const int steps =
            left < p.steps - from ? static_cast<int>(left) : p.steps - from;
        gemm_place<SHAPE>(j < 0 ? blockIdx.x : p.whole + t, p.M, p.N, &row0,
                          &col0);
        copies.start(a, b, static_cast<int>(row0), static_cast<int>(col0),
                     from * SHAPE::DEPTH, p.M, p.N, p.K);
        mine.start();
        ring_add(mine, copies, ring, steps);
        if (steps == p.steps || joined(p, pieces, j, t, mine))
            mine.template write<FOURS>(c, row0, col0, p.M, p.N);
        at += steps;
    }
}

static struct even_plan plan_of(const struct gemm_call *g,
                                const struct lab_exec *exec)
{
    const int64_t most = exec->sm_count * SHAPE::BLOCKS;
    const int64_t tiles = (g->M + SHAPE::BM - 1) / SHAPE::BM *
                          ((g->N + SHAPE::BN - 1) / SHAPE::BN);
    const int64_t steps = (g->K + SHAPE::DEPTH - 1) / SHAPE::DEPTH;
    const int64_t room =
        static_cast<int64_t>(exec->workspace_bytes / (PIECE * sizeof(float)));
    int64_t cut = tiles % most;
    int64_t shares = most < cut * steps ? most : cut * steps;
    if (cut > CUT_TILES || cut + shares > room)
        cut = 0;
    return {static_cast<int>(g->M),
            static_cast<int>(g->N),
            static_cast<int>(g->K),
            static_cast<int>(steps),
            tiles - cut,
            cut,
            cut ? shares : 0};
}

enum lab_status lab_gemm_even(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    auto kernel = g.N % 4 == 0 ? gemm_even<true> : gemm_even<false>;
    enum lab_status st = ring_ready<SHAPE>(&g, kernel);
    if (st)
        return st;
    struct even_plan p = plan_of(&g, call->exec);
    kernel<<<lab_blocks(p.whole + p.shares, 1), SHAPE::THREADS, SHAPE::BYTES,
             lab_stream(call)>>>(
        g.c, g.a, g.b, static_cast<float4 *>(call->exec->workspace), p);
    return lab_launched("gemm_even");
}

void lab_gemm_even_note(const struct lab_call *call, struct lab_rung_note *out)
{
    struct gemm_call g = gemm_of(call);
    struct even_plan p = plan_of(&g, call->exec);
    snprintf(
        out->text, sizeof(out->text), "%lld of %lld tiles cut, %lld shares",
        static_cast<long long>(p.cut), static_cast<long long>(p.whole + p.cut),
        static_cast<long long>(p.shares));
    out->workspace_bytes =
        p.cut ? (p.cut + p.shares) * PIECE * static_cast<int64_t>(sizeof(float))
              : 0;
}
