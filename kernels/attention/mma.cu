/* kernels/attention/mma.cu -- attention on the tensor cores, after
 * FlashAttention-2 (T. Dao, arXiv:2307.08691).
 *
 * One idea: both products are done by mma.sync, 16 x 8 x 16 multiply-adds an
 * instruction, with factors of 16 bits and sums of 32. A warp owns whole rows of
 * scores, so that softmax needs no shared memory, and the registers in which a
 * product leaves its result are those in which the next one wants its left
 * matrix: shares never leave the warp.
 *
 * Thread -> element: 4 warps with 32 queries each (D up to 64), or 8 with 16.
 * Two left matrices of 16 rows share each right matrix that ldmatrix reads;
 * with one, shared memory would be the limit.
 * Shared memory: Q, and two tiles each of K and V: cp.async brings the next ones
 * while the tensor cores have these. Pieces of 16 bytes change places with their
 * row (piece_at), so that no read meets a bank twice.
 *
 * Price: shares are rounded to 16 bits. A warp waits for its own products:
 * its softmax runs beside the tensor cores only when another warp keeps them
 * busy, and mma.sync does not reach the rate that Hopper's wgmma has. D a
 * multiple of 8, at most 128. */
#include "attention/mma.cuh"
#include "labs/lab.cuh"

template <class C> static __device__ __forceinline__ void begin(mma_rows<C> &w)
{
#pragma unroll
    for (int m = 0; m < C::TALL; m++) {
#pragma unroll
        for (int i = 0; i < C::WIDTH / 2; i++)
            w.o[m][i] = 0.0f;
        w.top[m][0] = w.top[m][1] = -INFINITY;
        w.sum[m][0] = w.sum[m][1] = 0.0f;
    }
}

/* Divides by the rows' sums and writes; `out` is the head's. */
template <class C>
static __device__ __forceinline__ void store(const mma_rows<C> &w,
                                             typename C::type *out,
                                             const attention_size &s, int row0)
{
#pragma unroll
    for (int i = 0; i < 2 * C::TALL; i++) {
        int m = i / 2;
        int h = i % 2;
        float sum = w.sum[m][h];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        float factor = 1.0f / sum;
        int row = row0 + 16 * m + 8 * h + threadIdx.x % 32 / 4;
        if (row >= s.T)
            continue;
        typename C::type *to = out + static_cast<int64_t>(row) * s.D;
#pragma unroll
        for (int c = 0; c < C::WIDTH / 8; c++) {
            int col = 8 * c + 2 * (threadIdx.x % 4);
            const float *o = &w.o[m][4 * c + 2 * h];
            if (col < s.D)
                *reinterpret_cast<uint32_t *>(to + col) =
                    pack(o[0] * factor, o[1] * factor, typename C::type());
        }
    }
}

template <class C, bool HIDE>
static __device__ __forceinline__ void
tile_of_keys(mma_rows<C> &w, uint32_t k, uint32_t v, const attention_size &s,
             int row0, int key0)
{
    scores<C>(w, k);
    if (HIDE)
        hide<C>(w, s.T, row0, key0);
#pragma unroll
    for (int i = 0; i < 2 * C::TALL; i++)
        advance<C>(w, i / 2, i % 2, s.scale);
    mix<C>(w, v);
}

template <class C>
static __global__ void __launch_bounds__(C::THREADS, C::BLOCKS)
    attention_mma(typename C::type *out, const typename C::type *q,
                  const typename C::type *k, const typename C::type *v,
                  attention_size s)
{
#if __CUDA_ARCH__ >= 800 /* older ones are refused before (rungs.cu) */
    extern __shared__ __align__(128) uint8_t attention_mma_memory[];
    uint32_t q_at = shared_address(attention_mma_memory);
    uint32_t k_at = q_at + C::Q_BYTES;
    uint32_t v_at = k_at + 2 * C::KV_BYTES;
    attention_tile t = attention_tile_of<C::CAUSAL>(s, C::ROWS, blockIdx.x);
    int64_t head = static_cast<int64_t>(t.head) * s.T * s.D;
    int mine = threadIdx.x / 32 * 16 * C::TALL;
    int row0 = t.q0 + mine;
    /* Keys before this are seen by all of the warp's queries. */
    int open = C::CAUSAL ? min(t.keys, row0 + 1) : t.keys;
    mma_rows<C> w;
    begin<C>(w);
    bring<C, C::ROWS>(q_at, q + head, t.q0, s);
    bring<C, C::KEYS>(k_at, k + head, 0, s);
    bring<C, C::KEYS>(v_at, v + head, 0, s);
    copy_async_commit();
    for (int key0 = 0, now = 0; key0 < t.keys; key0 += C::KEYS, now ^= 1) {
        copy_async_wait<0>();
        __syncthreads(); /* this tile is there, and nobody reads the last */
        if (key0 == 0)
            read_queries<C>(w, q_at, mine);
        if (key0 + C::KEYS < t.keys) {
            int next = (now ^ 1) * C::KV_BYTES;
            bring<C, C::KEYS>(k_at + next, k + head, key0 + C::KEYS, s);
            bring<C, C::KEYS>(v_at + next, v + head, key0 + C::KEYS, s);
            copy_async_commit();
        }
        uint32_t k_now = k_at + now * C::KV_BYTES;
        uint32_t v_now = v_at + now * C::KV_BYTES;
        if (key0 + C::KEYS <= open)
            tile_of_keys<C, false>(w, k_now, v_now, s, row0, key0);
        else
            tile_of_keys<C, true>(w, k_now, v_now, s, row0, key0);
    }
    store<C>(w, out + head, s, row0);
#endif
}

template <class C>
static enum lab_status launch(const struct lab_call *call,
                              const attention_size &s)
{
    using type = typename C::type;
    enum lab_status st = lab_bench_take_shared(
        call, reinterpret_cast<const void *>(attention_mma<C>), C::BYTES);
    if (st)
        return st;
    attention_mma<C>
        <<<attention_tiles(s, C::ROWS), C::THREADS, C::BYTES,
           lab_stream(call)>>>(static_cast<type *>(call->out[0].data),
                               static_cast<const type *>(call->in[0].data),
                               static_cast<const type *>(call->in[1].data),
                               static_cast<const type *>(call->in[2].data), s);
    return lab_launched("attention_mma");
}

template <class TYPE, bool CAUSAL>
static enum lab_status choose(const struct lab_call *call)
{
    attention_size s = {};
    enum lab_status st = attention_size_of(call, 128, 8, &s);
    if (st)
        return st;
    return s.D <= 64
               ? launch<mma_config<TYPE, 64, 4, 2, 64, 2, CAUSAL>>(call, s)
               : launch<mma_config<TYPE, 128, 8, 1, 64, 1, CAUSAL>>(call, s);
}

enum lab_status lab_attention_mma(const struct lab_call *call)
{
    return call->in[0].dtype == LAB_F16 ? choose<__half, false>(call)
                                        : choose<__nv_bfloat16, false>(call);
}

enum lab_status lab_attention_causal_mma(const struct lab_call *call)
{
    return call->in[0].dtype == LAB_F16 ? choose<__half, true>(call)
                                        : choose<__nv_bfloat16, true>(call);
}
