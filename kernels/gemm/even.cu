/* kernels/gemm/even.cu -- the same share of the work for every block.
 *
 * The idea: tiles come in waves, as many as the device holds at once, and the
 * last wave takes as long as a full one however few tiles are left. With 264
 * tiles at once it is 88 % full at 4096, 37 % at 6000, and at 1024 the only one.
 * Here only full waves are dealt out as tiles, by the kernel of `wide`. What is
 * left over is cut along K too: its tiles, end to end, are one long row of
 * stages, and each block gets the same length of it (M. Osama et al.,
 * "Stream-K", 2023). A tile that was cut is put together by the block that
 * comes last to it: the others have left their sums in the workspace, and they
 * are added in the order of K, the same bits every time, whoever is last.
 *
 * The price: 64 KiB for each piece of a cut tile, written and read again, and a
 * second kernel. Where the last wave is seven eighths full, or the pieces would
 * not fit the workspace, nothing is cut. */
#include <stdio.h>
#include "gemm/double.cuh"
#include "common/kernel.h"

typedef gemm_shape<128, 128, 8, 64, 64> SHAPE;

enum {
    BLOCKS = 2,       /* of a multiprocessor */
    CUT_TILES = 1024, /* most that may be cut */
    PIECE = SHAPE::BM * SHAPE::BN,
    OF_THREAD = PIECE / 4 / SHAPE::THREADS /* float4 of a thread's sums */
};

/* Pieces of each cut tile that are in the workspace; zero between calls. */
static __device__ unsigned arrived[CUT_TILES];

/* How the work is dealt out. `steps` stages are a tile. The first `whole` tiles
 * have a block each, in full waves; the stages of the `cut` tiles after them
 * are shared by `shares` blocks. */
struct even_plan {
    int64_t M;
    int64_t N;
    int64_t K;
    int64_t steps;
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
static __global__ void __launch_bounds__(SHAPE::THREADS)
    gemm_shares(float *c, const float *a, const float *b, float4 *pieces,
                struct even_plan p)
{
    __shared__ __align__(16) gemm_buffers<SHAPE> buffers;
    int64_t at = first_of(p, blockIdx.x);
    while (at < first_of(p, blockIdx.x + 1)) {
        int64_t row0;
        int64_t col0;
        gemm_sums<SHAPE> mine;
        const int64_t left = first_of(p, blockIdx.x + 1) - at;
        const int64_t t = at / p.steps; /* of the cut tiles */
        const int64_t from = at % p.steps;
        const int64_t steps = left < p.steps - from ? left : p.steps - from;
        const int64_t k1 = (from + steps) * SHAPE::DEPTH;
        gemm_place_tile<SHAPE>(p.whole + t, p.M, p.N, &row0, &col0);
        mine.start();
        gemm_add_stages<SHAPE, FOURS>(mine, buffers, a, b, row0, col0,
                                      from * SHAPE::DEPTH, k1 < p.K ? k1 : p.K,
                                      p.M, p.N, p.K);
        if (steps == p.steps || joined(p, pieces, blockIdx.x, t, mine))
            mine.template write<FOURS>(c, row0, col0, p.M, p.N);
        at += steps;
        __syncthreads(); /* the buffers are written again */
    }
}

static struct even_plan plan_of(const struct gemm_call *g,
                                const struct lab_exec *exec)
{
    const int64_t most = exec->sm_count * BLOCKS;
    const int64_t tiles = (g->M + SHAPE::BM - 1) / SHAPE::BM *
                          ((g->N + SHAPE::BN - 1) / SHAPE::BN);
    const int64_t steps = (g->K + SHAPE::DEPTH - 1) / SHAPE::DEPTH;
    const int64_t room =
        static_cast<int64_t>(exec->workspace_bytes / (PIECE * sizeof(float)));
    int64_t cut = tiles % most;
    int64_t shares = most < cut * steps ? most : cut * steps;
    if (8 * cut > 7 * most || cut > CUT_TILES || cut + shares > room)
        cut = 0;
    return {g->M, g->N, g->K, steps, tiles - cut, cut, cut ? shares : 0};
}

enum lab_status lab_gemm_even(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    struct even_plan p = plan_of(&g, call->exec);
    auto shares = gemm_fours(&g) ? gemm_shares<true> : gemm_shares<false>;
    if (p.whole > 0) {
        enum lab_status st = gemm_double_run<SHAPE, 0>(call, p.whole);
        if (st)
            return st;
    }
    if (p.shares > 0)
        shares<<<lab_blocks(p.shares, 1), SHAPE::THREADS, 0,
                 lab_stream(call)>>>(
            g.c, g.a, g.b, static_cast<float4 *>(call->exec->workspace), p);
    return lab_launched("gemm_shares");
}

void lab_gemm_even_note(const struct lab_call *call,
                        struct lab_variant_note *out)
{
    struct gemm_call g = gemm_of(call);
    struct even_plan p = plan_of(&g, call->exec);
    snprintf(
        out->text, sizeof(out->text), "%lld of %lld tiles cut, %lld shares",
        static_cast<long long>(p.cut), static_cast<long long>(p.whole + p.cut),
        static_cast<long long>(p.shares));
    out->workspace_bytes =
        (p.cut + p.shares) * PIECE * static_cast<int64_t>(sizeof(float));
}
