/* kernels/gemm/wgmma_sm90.cu -- the warpgroup's product, fed by the TMA
 * unit.
 *
 * The idea: no thread carries numbers any more. One thread tells the TMA unit
 * which boxes of A and B it wants, and they arrive in shared memory, swizzled,
 * with zeros where the matrices end; wgmma reads its operands there by itself,
 * for 4 warps at once, and works while they wait for the next stage. Warps have
 * trades: one fetches, eight multiply, and barriers in shared memory that count
 * bytes stand between them (tile_sm90.cuh).
 * Thread -> element: a block of 384 threads has a tile of 128 x 256 (tf32:
 * 256 x 128); 256 of them hold its 32,768 sums, 128 each.
 * Its price: code for compute capability 9.0 and no other; rows must start on
 * 16 bytes, else they are copied first; 197 KiB of shared memory, so that a
 * multiprocessor has one block, and nothing to do while that one writes its
 * tile down. */
#include "gemm/operands.cuh"
#include "gemm/tile_sm90.cuh"
#include "labs/lab.cuh"

template <typename T>
static __global__ void __launch_bounds__(SM90_THREADS)
    gemm_wgmma(const __grid_constant__ CUtensorMap a,
               const __grid_constant__ CUtensorMap b, struct sm90_product p,
               int across)
{
    extern __shared__ char raw[];
    typedef sm90_tile<T> TILE;
    sm90_ring ring;
    const int row0 = static_cast<int>(blockIdx.x) / across * TILE::BM;
    const int col0 = static_cast<int>(blockIdx.x) % across * TILE::BN;
    ring.start(raw);
    if (threadIdx.x < 128) {
        registers_give<40>();
        if (threadIdx.x == 0)
            sm90_fetch<T>(&ring, &a, &b, row0, col0, p.K);
    } else {
        registers_take<232>();
        const int side = threadIdx.x / 128 - 1;
        TILE tile;
        sm90_multiply(&ring, &tile, side, p.K, true);
        sm90_write<T>(tile, p, side, row0, col0);
    }
}

template <typename T>
static enum lab_status launch(const struct lab_call *call,
                              const struct gemm_operands *o)
{
    typedef sm90_tile<T> TILE;
    CUtensorMap a;
    CUtensorMap b;
    const int64_t down = (o->M + TILE::BM - 1) / TILE::BM;
    const int across = (o->N + TILE::BN - 1) / TILE::BN;
    const struct sm90_product p = {o->M, o->N, o->K, o->c};
    enum lab_status st = gemm_maps<TILE>(o, &a, &b);
    if (!st)
        st = lab_bench_take_shared(
            call, reinterpret_cast<const void *>(gemm_wgmma<T>),
            SM90_SHARED_BYTES);
    if (st)
        return st;
    gemm_wgmma<T><<<lab_blocks(down * across, 1), SM90_THREADS,
                    SM90_SHARED_BYTES, lab_stream(call)>>>(a, b, p, across);
    return lab_launched("gemm_wgmma");
}

enum lab_status lab_gemm_wgmma(const struct lab_call *call)
{
    return gemm_by_type(call, [&](auto number, const struct gemm_operands *o) {
        return launch<decltype(number)>(call, o);
    });
}
