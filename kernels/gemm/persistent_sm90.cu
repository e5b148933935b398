/* kernels/gemm/persistent_sm90.cu -- blocks that stay.
 *
 * The idea: as many blocks as multiprocessors, each walking from tile to tile.
 * The ring never runs dry: while the multipliers write a tile down, the stages
 * of the next one are already coming, and the one warpgroup multiplies while the
 * other still writes. In 16 bits a tile leaves as it came, by the TMA unit: the
 * sums go to shared memory by stmatrix, 16 KiB at a time, and the warpgroup
 * goes on while they travel. fp32 goes straight from the registers, 32 bytes
 * of a row at a time, without waiting.
 * Order of the tiles: GROUP tiles down, then one to the right. The tiles that
 * are worked on at the same time read few rows of A and few columns of B, and
 * most of what they read is in L2.
 * Not here: clusters of two blocks that share B by multicast. Measured on an
 * H200: nothing at 4096, 1 % at 8192, where half of B's way through L2 is saved
 * and with it some power; and a release for the whole cluster at every stage
 * (mbarrier.arrive.release.cluster) costs a third of the speed.
 * Its price: the last round. 512 tiles for 132 blocks are 3.9 rounds, so 4; at
 * 6000 they are 8.5, so 9, and 5 % of the time half of the machine waits. */
#include "gemm/operands.cuh"
#include "gemm/tile_sm90.cuh"
#include "labs/lab.cuh"

enum { GROUP = 16 };

struct tile_walk {
    int down;
    int across;

    __device__ __forceinline__ int count() const
    {
        return down * across;
    }
    __device__ __forceinline__ void place(int tile, int bm, int bn, int *row0,
                                          int *col0) const
    {
        int first = tile / (GROUP * across) * GROUP;
        int high = min(static_cast<int>(GROUP), down - first);
        int in = tile % (GROUP * across);
        *row0 = (first + in % high) * bm;
        *col0 = in / high * bn;
    }
};

/* ---- a tile's way out by the TMA unit ---- */

/* 64 x 64 of 16 bits: rows of 128 bytes, swizzled. Four matrices of 8 x 8 at a
 * time; lane l gives the address of row l % 8 of matrix l / 8. */
template <typename T>
static __device__ __forceinline__ void write_box(char *box, const float *sums)
{
    const int t = threadIdx.x % 128;
    const int row = t / 32 * 16 + t % 16;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float *v = sums + 8 * j;
        int chunk = 2 * j + t % 32 / 16;
        store_matrix(box + row * 128 + ((chunk ^ (row % 8)) * 16),
                     pack(v[0], v[1], T()), pack(v[2], v[3], T()),
                     pack(v[4], v[5], T()), pack(v[6], v[7], T()));
    }
}

/* A warpgroup: 64 x 256 in two rounds of two boxes. Its first thread stores;
 * before the room is written again, the TMA unit must have read it. */
template <typename T>
static __device__ __forceinline__ void send(const sm90_tile<T> &tile,
                                            const CUtensorMap *c, char *room,
                                            int side, int row0, int col0)
{
    const bool first = threadIdx.x % 128 == 0;
#pragma unroll
    for (int box = 0; box < 4; box += 2) {
        if (first)
            tma_store_wait_read();
        named_wait(1 + side, 128);
        write_box<T>(room, tile.d + box * 32);
        write_box<T>(room + SM90_OUT_BYTES / 2, tile.d + box * 32 + 32);
        shared_for_tma();
        named_wait(1 + side, 128);
        if (first) {
            tma_store(c, room, col0 + box * 64, row0 + side * 64);
            tma_store(c, room + SM90_OUT_BYTES / 2, col0 + box * 64 + 64,
                      row0 + side * 64);
            tma_store_commit();
        }
    }
}

static __device__ __forceinline__ void
send(const sm90_tile<float> &, const CUtensorMap *, char *, int, int, int)
{
}

/* ---- the kernel ---- */

template <typename T>
static __global__ void __launch_bounds__(SM90_THREADS)
    gemm_persistent(const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b,
                    const __grid_constant__ CUtensorMap c,
                    struct sm90_product p, struct tile_walk walk, bool stored)
{
    extern __shared__ char raw[];
    typedef sm90_tile<T> TILE;
    sm90_ring ring;
    int row0;
    int col0;
    ring.start(raw);
    if (threadIdx.x < 128) {
        registers_give<40>();
        if (threadIdx.x > 0)
            return;
        for (int t = blockIdx.x; t < walk.count(); t += gridDim.x) {
            walk.place(t, TILE::BM, TILE::BN, &row0, &col0);
            sm90_fetch<T>(&ring, &a, &b, row0, col0, p.K);
        }
        return;
    }
    registers_take<232>();
    const int side = threadIdx.x / 128 - 1;
    char *room =
        ring.base + SM90_STAGES * SM90_STAGE_BYTES + side * SM90_OUT_BYTES;
    TILE tile;
    for (int t = blockIdx.x; t < walk.count(); t += gridDim.x) {
        walk.place(t, TILE::BM, TILE::BN, &row0, &col0);
        sm90_multiply(&ring, &tile, side, p.K, true);
        if (stored)
            send(tile, &c, room, side, row0, col0);
        else
            sm90_write<T>(tile, p, side, row0, col0);
    }
    if (stored && threadIdx.x % 128 == 0)
        tma_store_wait();
}

template <typename T>
static enum lab_status launch(const struct lab_call *call,
                              const struct gemm_operands *o)
{
    typedef sm90_tile<T> TILE;
    CUtensorMap a;
    CUtensorMap b;
    CUtensorMap c = {};
    const struct tile_walk walk = {(o->M + TILE::BM - 1) / TILE::BM,
                                   (o->N + TILE::BN - 1) / TILE::BN};
    const struct sm90_product p = {o->M, o->N, o->K, o->c};
    const int64_t c_pitch = static_cast<int64_t>(o->number_bytes) * o->N;
    const bool stored = sizeof(T) == 2 && c_pitch % 16 == 0;
    const int64_t tiles = static_cast<int64_t>(walk.down) * walk.across;
    if (tiles > INT32_MAX)
        return lab_fail(LAB_E_RANGE, "[launch.tiles] more than 2^31 tiles");
    enum lab_status st = gemm_maps<TILE>(o, &a, &b);
    if (!st && stored)
        st = gemm_map(&c, o, o->c, o->M, o->N, c_pitch, 64);
    if (!st)
        st = lab_bench_take_shared(
            call, reinterpret_cast<const void *>(gemm_persistent<T>),
            SM90_SHARED_BYTES);
    if (st)
        return st;
    const int blocks = static_cast<int>(
        tiles < call->exec->sm_count ? tiles : call->exec->sm_count);
    gemm_persistent<T>
        <<<blocks, SM90_THREADS, SM90_SHARED_BYTES, lab_stream(call)>>>(
            a, b, c, p, walk, stored);
    return lab_launched("gemm_persistent");
}

enum lab_status lab_gemm_persistent(const struct lab_call *call)
{
    return gemm_by_type(call, [&](auto number, const struct gemm_operands *o) {
        return launch<decltype(number)>(call, o);
    });
}
