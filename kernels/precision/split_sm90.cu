/* kernels/precision/split_sm90.cu -- an fp32 product of 16-bit ones.
 *
 * The idea: 16 bits keep 8 (bf16) or 11 (fp16) of the 24 bits of an fp32. What
 * they leave, A - A1, is an fp32 again, and 16 bits keep as many of that. So two
 * parts hold 16 or 22 bits, and A B is the sum of four products of parts, each
 * at the tensor core's full rate; the sum never leaves the registers, as if the
 * depth were 4 K. The fourth product is as small as what was cut off anyway.
 * Two kernels: `take_apart` writes the parts, rows starting on 16 bytes; then
 * the tiles of the variant wgmma of gemm (tile_sm90.cuh), once for each product.
 * Its price: n products, and before them 8 bytes moved for each number. fp16 has
 * more bits than bf16 but less room: an A2 below 2^-14 loses bits again, and a
 * number above 65504 has no A1 at all. */
#include "gemm/operands.cuh"
#include "gemm/tile_sm90.cuh"
#include "labs/lab.cuh"
#include "precision/precision.h"

struct split_maps {
    CUtensorMap a[2];
    CUtensorMap b[2];
};

/* A number a thread: from (rows, cols), to (2, rows, pitch). */
template <typename T>
static __global__ void take_apart(T *to, const float *from, int64_t rows,
                                  int64_t cols, int64_t pitch)
{
    int64_t i = lab_element();
    if (i >= rows * cols)
        return;
    T *part = to + i / cols * pitch + i % cols;
    float v = from[i];
    T first = T(v);
    part[0] = first;
    part[rows * pitch] = T(v - static_cast<float>(first));
}

/* The small products first. */
template <typename T, int PRODUCTS>
static __global__ void __launch_bounds__(SM90_THREADS)
    split_multiply(const __grid_constant__ struct split_maps maps,
                   struct sm90_product p, int across)
{
    extern __shared__ char raw[];
    typedef sm90_tile<T> TILE;
    sm90_ring ring;
    const int row0 = static_cast<int>(blockIdx.x) / across * TILE::BM;
    const int col0 = static_cast<int>(blockIdx.x) % across * TILE::BN;
    ring.start(raw);
    if (threadIdx.x < 128) {
        registers_give<40>();
        if (threadIdx.x > 0)
            return;
#pragma unroll
        for (int i = PRODUCTS - 1; i >= 0; i--)
            sm90_fetch<T>(&ring, &maps.a[i / 2], &maps.b[i % 2], row0, col0,
                          p.K);
        return;
    }
    registers_take<232>();
    const int side = threadIdx.x / 128 - 1;
    TILE tile;
#pragma unroll
    for (int i = PRODUCTS - 1; i >= 0; i--)
        sm90_multiply(&ring, &tile, side, p.K, i == PRODUCTS - 1);
    sm90_write<float>(tile, p, side, row0, col0);
}

template <typename T>
static enum lab_status parts(const struct lab_call *call, int k,
                             const struct gemm_operands *o, int box_rows,
                             CUtensorMap map[2])
{
    const struct lab_view *from = &call->in[k];
    const struct lab_view *to = &call->out[1 + k];
    T *part = static_cast<T *>(to->data);
    const int64_t pitch = to->dim[2];
    take_apart<<<lab_blocks(from->count), LAB_BLOCK, 0, lab_stream(call)>>>(
        part, lab_in(call, k), from->dim[0], from->dim[1], pitch);
    enum lab_status st = lab_launched("take_apart");
    for (int i = 0; i < 2 && !st; i++)
        st = gemm_map(&map[i], o, part + i * from->dim[0] * pitch,
                      static_cast<int>(from->dim[0]),
                      static_cast<int>(from->dim[1]),
                      pitch * static_cast<int64_t>(sizeof(T)), box_rows);
    return st;
}

template <typename T, int PRODUCTS>
static enum lab_status launch(const struct lab_call *call)
{
    typedef sm90_tile<T> TILE;
    struct split_maps maps;
    struct gemm_operands o = {};
    const int64_t M = call->in[0].dim[0];
    const int64_t N = call->in[1].dim[1];
    const int64_t K = call->in[0].dim[1];
    const int64_t most = INT32_MAX - 256;
    if (M > most || N > most || K > most)
        return lab_fail(
            LAB_E_RANGE,
            "[launch.tma-side] a side is more than the TMA unit's 31 bits");
    o.dtype = call->out[1].dtype;
    o.number_bytes = sizeof(T);
    const struct sm90_product p = {static_cast<int>(M), static_cast<int>(N),
                                   static_cast<int>(K), call->out[0].data};
    const int across = (p.N + TILE::BN - 1) / TILE::BN;
    const int64_t down = (M + TILE::BM - 1) / TILE::BM;
    enum lab_status st = parts<T>(call, 0, &o, TILE::BM, maps.a);
    if (!st)
        st = parts<T>(call, 1, &o, TILE::DEPTH, maps.b);
    if (!st)
        st = lab_bench_take_shared(
            call, reinterpret_cast<const void *>(split_multiply<T, PRODUCTS>),
            SM90_SHARED_BYTES);
    if (st)
        return st;
    split_multiply<T, PRODUCTS>
        <<<lab_blocks(down * across, 1), SM90_THREADS, SM90_SHARED_BYTES,
           lab_stream(call)>>>(maps, p, across);
    return lab_launched("split_multiply");
}

template <int PRODUCTS>
static enum lab_status split(const struct lab_call *call)
{
    return call->out[1].dtype == LAB_BFLOAT16
               ? launch<__nv_bfloat16, PRODUCTS>(call)
               : launch<__half, PRODUCTS>(call);
}

enum lab_status lab_split_1(const struct lab_call *call)
{
    return split<1>(call);
}

enum lab_status lab_split_2(const struct lab_call *call)
{
    return split<2>(call);
}

enum lab_status lab_split_3(const struct lab_call *call)
{
    return split<3>(call);
}

enum lab_status lab_split_4(const struct lab_call *call)
{
    return split<4>(call);
}
