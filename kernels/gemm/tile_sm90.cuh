/* kernels/gemm/tile_sm90.cuh -- a tile of C by three warpgroups.
 *
 * The first warpgroup gives most of its registers away; one thread of it asks
 * the TMA unit for the stages. The other two multiply: each has half of the
 * tile, 128 sums a thread. Between them lies a ring of stages in shared memory,
 * with two barriers each: `full` (the bytes have come) and `empty` (all
 * multiplying warps are done with it). No warp waits for the whole block now.
 *
 * A stage is 128 bytes of depth, 48 KiB: one box of A, its rows 128 bytes, and
 * boxes of B that are as deep as the stage and 128 bytes across; what lies
 * outside of a matrix comes as zeros. All boxes are swizzled by the TMA unit:
 * chunk c (16 bytes) of row r lies at c ^ (r % 8).
 *
 * The two kinds of tile, and who has what of it:
 *   bf16, fp16  128 x 256: a warpgroup has 64 rows of A, from shared memory.
 *   tf32        256 x 128: wgmma wants the depth of its B side by side in shared
 *               memory, and our B has it row by row. So the tile is made as
 *               C^T = B^T A^T: A's rows are what wgmma calls B, and B^T, 64 rows
 *               of it a warpgroup, goes through registers, where a lane may
 *               read it as it likes. The tensor core cuts fp32 to tf32, it does
 *               not round: B is rounded on its way, A is cut. */
#pragma once
#include "common/half.cuh"
#include "common/sm90.cuh"

/* ---- the warpgroup's product, by type ----
 *
 * 128 threads together: sums (64, 256) += A (64, depth) B (depth, 256); queued,
 * not awaited. The depth is 32 bytes: 16 numbers of bf16 or fp16, 8 of tf32.
 * Thread t of the warpgroup has, in d[4 j + 2 h + i], row 16 (t / 32) + 8 h +
 * t % 32 / 4 and column 8 j + 2 (t % 4) + i. The sums are registers of the
 * instruction, so the assembler's text must name every one of them. */

/* clang-format off */
#define WGMMA_SUMS \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, " \
    "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, " \
    "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, " \
    "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, " \
    "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, " \
    "%67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, " \
    "%93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, " \
    "%105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, " \
    "%116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
    "%127}, "
#define SUM4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUM16(i) SUM4(i), SUM4(i + 4), SUM4(i + 8), SUM4(i + 12)
#define SUM64(i) SUM16(i), SUM16(i + 16), SUM16(i + 32), SUM16(i + 48)
/* clang-format on */

/* Both operands in shared memory, described by wgmma_operand(). A as the
 * instruction wants it, the depth side by side; B by rows, as C = A B has it,
 * by the two last figures: "transposed" is B alone. keep 0: the sums
 * start here. */
#define WGMMA_SHARED(T, TYPES)                                                 \
    static __device__ __forceinline__ void wgmma_add(                          \
        float(&d)[128], uint64_t a, uint64_t b, int keep, T)                   \
    {                                                                          \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"             \
                     "wgmma.mma_async.sync.aligned.m64n256k16.f32." TYPES      \
                     " " WGMMA_SUMS "%128, %129, p, 1, 1, 0, 1;\n}"            \
                     : SUM64(0), SUM64(64)                                     \
                     : "l"(a), "l"(b), "r"(keep));                             \
    }
WGMMA_SHARED(__nv_bfloat16, "bf16.bf16")
WGMMA_SHARED(__half, "f16.f16")

/* tf32: A from registers. Thread t has, in a[2 h + i], row 16 (t / 32) + 8 i +
 * t % 32 / 4 at depth 4 h + t % 4. B only with the depth side by side: there is
 * no transposed form for 32-bit numbers. */
static __device__ __forceinline__ void
wgmma_add_tf32(float (&d)[128], const uint32_t (&a)[4], uint64_t b, int keep)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %133, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " WGMMA_SUMS
        "{%128, %129, %130, %131}, %132, p, 1, 1;\n}"
        : SUM64(0), SUM64(64)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));
}

/* ---- the tile ---- */

enum {
    SM90_THREADS = 384,
    SM90_WARPS = 8, /* that multiply */
    SM90_STAGES = 4,
    SM90_STAGE_BYTES = 48 << 10,
    SM90_OUT_BYTES = 16 << 10, /* a warpgroup's way out (persistent) */
    SM90_BARRIERS = SM90_STAGES * SM90_STAGE_BYTES + 2 * SM90_OUT_BYTES,
    /* The swizzle counts rows of 1 KiB's start: the ring starts on 1 KiB. */
    SM90_SHARED_BYTES = SM90_BARRIERS + 2 * 8 * SM90_STAGES + 1024
};

/* What a kernel multiplies; maps have the addresses of A and B. */
struct sm90_product {
    int M;
    int N;
    int K;
    void *c; /* (M, N), row-major */
};

struct sm90_ring {
    char *base;
    uint64_t *full;
    uint64_t *empty;
    int stage;
    uint32_t parity;

    __device__ __forceinline__ void start(char *raw)
    {
        base = raw + (1024 - shared_address(raw) % 1024) % 1024;
        full = reinterpret_cast<uint64_t *>(base + SM90_BARRIERS);
        empty = full + SM90_STAGES;
        stage = 0;
        parity = 0;
        if (threadIdx.x == 0) {
            for (int s = 0; s < SM90_STAGES; s++) {
                barrier_init(&full[s], 1);
                barrier_init(&empty[s], SM90_WARPS); /* a lane of each */
            }
            barrier_init_done();
        }
        __syncthreads();
    }
    __device__ __forceinline__ void next()
    {
        if (++stage == SM90_STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/* ---- the two kinds of tile ---- */

template <typename T> struct sm90_tile {
    enum { BM = 128, BN = 256, DEPTH = 64, A_BYTES = BM * 128 };
    enum { BOX = 64, BOX_BYTES = DEPTH * 128 };
    float d[128];

    /* Queues the products of a stage; on return those of the stage before have
     * been done. Four times depth 16: 32 bytes further in a row of A, 16 rows
     * further down in B. */
    __device__ __forceinline__ void add_stage(const char *stage, int side,
                                              bool first)
    {
        const char *a = stage + side * (A_BYTES / 2);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < 4; k++)
            wgmma_add(
                d, wgmma_operand(a + 32 * k, 0, 1024),
                wgmma_operand(stage + A_BYTES + 16 * 128 * k, BOX_BYTES, 1024),
                !first || k > 0, T());
        wgmma_commit();
        wgmma_wait<1>();
    }

    /* f(row, col, x, y): x and its right neighbour y, in the tile. */
    template <typename F>
    __device__ __forceinline__ void each_pair(int side, F f) const
    {
        const int t = threadIdx.x % 128;
        int row = 64 * side + t / 32 * 16 + t % 32 / 4;
#pragma unroll
        for (int j = 0; j < 32; j++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                f(row + 8 * h, 8 * j + t % 4 * 2, d[4 * j + 2 * h],
                  d[4 * j + 2 * h + 1]);
    }
};

template <> struct sm90_tile<float> {
    enum { BM = 256, BN = 128, DEPTH = 32, A_BYTES = BM * 128 };
    enum { BOX = 32, BOX_BYTES = DEPTH * 128 };
    float d[128];
    uint32_t bt[4][4]; /* B^T at depth 8 k .. 8 k + 7 */

    /* Which column of B a row of B^T is, is free: here it is chosen such that
     * the 16 lanes that read together, 8 bytes each, meet every bank once, and
     * that a lane has neighbours. Column of row 8 i + lane / 4 of this warp: */
    static __device__ __forceinline__ int column()
    {
        const int g = threadIdx.x % 32 / 4;
        const int chunk = g % 2 * 4 + threadIdx.x / 32 % 2 * 2 + g / 4;
        return 4 * chunk + g / 2 % 2 * 2; /* + i */
    }

    __device__ __forceinline__ void read(uint32_t (&f)[4], const char *box,
                                         int k)
    {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int row = 8 * k + 4 * h + threadIdx.x % 4;
            uint2 v = *reinterpret_cast<const uint2 *>(
                box + row * 128 + ((4 * column()) ^ (row % 8 * 16)));
            f[2 * h] = tf32_nearest(v.x);
            f[2 * h + 1] = tf32_nearest(v.y);
        }
    }

    __device__ __forceinline__ void add_stage(const char *stage, int side,
                                              bool first)
    {
        const char *box =
            stage + A_BYTES + (2 * side + threadIdx.x / 64 % 2) * BOX_BYTES;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            wgmma_wait<3>(); /* bt[k] has been used */
            read(bt[k], box, k);
            wgmma_fence();
            wgmma_add_tf32(d, bt[k], wgmma_operand(stage + 32 * k, 0, 1024),
                           !first || k > 0);
            wgmma_commit();
        }
    }

    template <typename F>
    __device__ __forceinline__ void each_pair(int side, F f) const
    {
        int col = 64 * side + threadIdx.x / 64 % 2 * 32 + column();
#pragma unroll
        for (int j = 0; j < 32; j++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                f(8 * j + threadIdx.x % 4 * 2 + i, col, d[4 * j + i],
                  d[4 * j + 2 + i]);
    }
};

/* ---- the two parts of the work on a tile that starts at (row0, col0) ---- */

/* One thread: all stages of the tile, as fast as the ring has room. */
template <typename T>
static __device__ __forceinline__ void
sm90_fetch(sm90_ring *ring, const CUtensorMap *a, const CUtensorMap *b,
           int row0, int col0, int K)
{
    typedef sm90_tile<T> TILE;
    for (int k0 = 0; k0 < K; k0 += TILE::DEPTH) {
        uint64_t *full = &ring->full[ring->stage];
        char *stage = ring->base + ring->stage * SM90_STAGE_BYTES;
        barrier_wait(&ring->empty[ring->stage], ring->parity ^ 1);
        barrier_expect(full, SM90_STAGE_BYTES);
        tma_load(stage, a, full, k0, row0);
#pragma unroll
        for (int i = 0; i < TILE::BN / TILE::BOX; i++)
            tma_load(stage + TILE::A_BYTES + i * TILE::BOX_BYTES, b, full,
                     col0 + i * TILE::BOX, k0);
        ring->next();
    }
}

/* A warpgroup: its half of the tile into its registers; `fresh`: the sums start
 * here, else they go on. A stage is given back when the products of the next are
 * queued: the tensor core is never idle. */
template <typename T>
static __device__ __forceinline__ void
sm90_multiply(sm90_ring *ring, sm90_tile<T> *tile, int side, int K, bool fresh)
{
    int before = 0;
    for (int k0 = 0; k0 < K; k0 += sm90_tile<T>::DEPTH) {
        barrier_wait(&ring->full[ring->stage], ring->parity);
        tile->add_stage(ring->base + ring->stage * SM90_STAGE_BYTES, side,
                        fresh && k0 == 0);
        if (k0 > 0 && threadIdx.x % 32 == 0)
            barrier_arrive(&ring->empty[before]);
        before = ring->stage;
        ring->next();
    }
    wgmma_wait<0>();
    if (threadIdx.x % 32 == 0)
        barrier_arrive(&ring->empty[before]);
}

/* A warpgroup: its half of the tile from the registers to C, of type OUT. */
template <typename OUT, typename T>
static __device__ __forceinline__ void sm90_write(const sm90_tile<T> &tile,
                                                  const sm90_product &p,
                                                  int side, int row0, int col0)
{
    OUT *c = static_cast<OUT *>(p.c);
    tile.each_pair(side, [&](int row, int col, float x, float y) {
        row += row0;
        col += col0;
        if (row >= p.M || col >= p.N)
            return;
        OUT *to = c + static_cast<int64_t>(row) * p.N + col;
        if (p.N % 2 == 0) {
            struct alignas(2 * sizeof(OUT)) pair {
                OUT x, y;
            } v = {OUT(x), OUT(y)};
            *reinterpret_cast<pair *>(to) = v;
        } else {
            to[0] = OUT(x);
            if (col + 1 < p.N)
                to[1] = OUT(y);
        }
    });
}
