/* kernels/attention/wgmma_sm90.cu -- attention on Hopper's warpgroup
 * instructions, after FlashAttention-3 (J. Shah et al., arXiv:2407.08608).
 *
 * One idea: no warp waits for another. mma.sync keeps a warp busy until its
 * product is done; wgmma is queued, and the warp goes on. So
 *  - one warpgroup only loads: TMA brings tiles of keys and values into a ring
 *    of buffers, ahead of their use, and costs no registers of the others;
 *  - a warpgroup queues the scores of the next keys and the mixing of the last
 *    ones, and while the tensor cores do both, it works out the softmax of the
 *    scores as soon as they are there;
 *  - two or three such warpgroups take turns at queueing (named barriers), so
 *    that one has its softmax while another has the tensor cores.
 * With D = 64 a key costs a row 256 tensor operations and one exponential:
 * 1/16 of a cycle of a multiprocessor on either unit. Without the overlap half
 * the rate would be the most.
 *
 * Thread -> element: 128 threads have 64 queries; the accumulator's layout
 * (wgmma.cuh) gives a thread two rows, and is at the same time that of the left
 * matrix of the next product, so shares never leave registers.
 * Shared memory: Q, and STAGES tiles each of K and V, in the 128-byte swizzle in
 * which TMA writes and wgmma reads without bank conflicts. V is read across
 * its rows: the transposed flag of wgmma, for 16-bit types only.
 * Blocks stay: one on each multiprocessor, which takes tile after tile, so that
 * the loads of the next tile begin while the last one's result is written.
 *
 * Price: code for one generation of GPUs, and 16-byte rows: D a multiple of 8,
 * at most 128. T may be anything: TMA reads zeros beyond the end, scores there
 * are hidden, rows there are not stored. */
#include <type_traits>
#include "common/tensor_map_sm90.cuh"
#include "attention/wgmma.cuh"
#include "labs/lab.cuh"

struct tensor_maps {
    CUtensorMap q;
    CUtensorMap k;
    CUtensorMap v;
};

/* Shared memory by parts. A `full` barrier ends a phase when TMA's bytes are
 * there, an `empty` one when every warp that reads the buffer is done. */
template <class C> struct attention_memory {
    uint8_t *q;
    uint8_t *k;
    uint8_t *v;
    uint64_t *q_full;
    uint64_t *q_empty;
    uint64_t *k_full; /* [STAGES], as the rest */
    uint64_t *k_empty;
    uint64_t *v_full;
    uint64_t *v_empty;

    __device__ __forceinline__ explicit attention_memory(uint8_t *raw)
    {
        q = raw + (1024 - shared_address(raw) % 1024) % 1024;
        k = q + C::Q_BYTES;
        v = k + C::STAGES * C::KV_BYTES;
        q_full = reinterpret_cast<uint64_t *>(v + C::STAGES * C::KV_BYTES);
        q_empty = q_full + 1;
        k_full = q_empty + 1;
        k_empty = k_full + C::STAGES;
        v_full = k_empty + C::STAGES;
        v_empty = v_full + C::STAGES;
    }

    __device__ __forceinline__ void begin() const
    {
        enum { WARPS = 4 * C::GROUPS };
        barrier_init(q_full, 1);
        barrier_init(q_empty, WARPS);
        for (int i = 0; i < C::STAGES; i++) {
            barrier_init(&k_full[i], 1);
            barrier_init(&v_full[i], 1);
            barrier_init(&k_empty[i], WARPS);
            barrier_init(&v_empty[i], WARPS);
        }
        /* ... before TMA or another warp sees them. */
        barrier_init_done();
        asm volatile("fence.proxy.async;" ::: "memory");
    }
};

/* A place in the ring of buffers: which one, and its barriers' parity. */
template <class C> struct ring_place {
    int stage = 0;
    int parity = 0;

    __device__ __forceinline__ void next()
    {
        if (++stage == C::STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/* The tile that this block takes in a round: across the grid and back, so that
 * with a mask the blocks' sums of long and short tiles come out alike. */
template <class C> static __device__ __forceinline__ int tile_in(int round)
{
    bool back = C::CAUSAL && round % 2;
    int at = back ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    return round * gridDim.x + at;
}

/* ---- the warpgroup that loads: one thread of it ---- */

template <class C>
static __device__ __forceinline__ void
load_tile(uint8_t *to, const CUtensorMap *map, uint64_t *full, int panel,
          int row, int head)
{
    barrier_expect(full, C::PANELS * panel);
    for (int p = 0; p < C::PANELS; p++)
        tma_load(to + p * panel, map, full, 64 * p, row, head);
}

template <class C>
static __device__ __forceinline__ void load_all(const attention_memory<C> &m,
                                                const tensor_maps *maps,
                                                const attention_size &s)
{
    int tiles = attention_tiles(s, C::ROWS);
    ring_place<C> at;
    for (int round = 0; round * static_cast<int>(gridDim.x) < tiles; round++) {
        int i = tile_in<C>(round);
        if (i >= tiles)
            return; /* only in the last round */
        attention_tile t = attention_tile_of<C::CAUSAL>(s, C::ROWS, i);
        barrier_wait(m.q_empty, round % 2 ^ 1);
        load_tile<C>(m.q, &maps->q, m.q_full, C::Q_PANEL, t.q0, t.head);
        for (int key0 = 0; key0 < t.keys; key0 += C::KEYS, at.next()) {
            int offset = at.stage * C::KV_BYTES;
            barrier_wait(&m.k_empty[at.stage], at.parity ^ 1);
            load_tile<C>(m.k + offset, &maps->k, &m.k_full[at.stage],
                         C::KV_PANEL, key0, t.head);
            barrier_wait(&m.v_empty[at.stage], at.parity ^ 1);
            load_tile<C>(m.v + offset, &maps->v, &m.v_full[at.stage],
                         C::KV_PANEL, key0, t.head);
        }
    }
}

/* ---- the warpgroups that compute ---- */

/* Signals that the warp has read a buffer for the last time. */
static __device__ __forceinline__ void done_with(uint64_t *empty)
{
    if (threadIdx.x % 32 == 0)
        barrier_arrive(empty);
}

/* Where a warpgroup is. */
template <class C> struct worker {
    const attention_memory<C> &m;
    const attention_size &s;
    int group;        /* of GROUPS */
    const uint8_t *q; /* its 64 rows of the first panel */
    ring_place<C> at; /* the newest keys */
    int row = 0;      /* the first of this thread's two */

    /* Named barrier 1 + g is group g's turn to queue. */
    __device__ __forceinline__ void wait_turn() const
    {
        named_wait(1 + group, 256);
    }

    __device__ __forceinline__ void pass_turn() const
    {
        named_arrive(1 + (group + 1) % C::GROUPS, 256);
    }

    template <bool HIDE>
    __device__ __forceinline__ void softmax(wgmma_rows<C> &w,
                                            float (&shrink)[2], int key0)
    {
        if (HIDE)
            hide<C>(w, s.T, row, key0);
        advance<C>(w, s.scale, shrink);
    }

    /* The first keys of a tile: nothing to mix yet. */
    __device__ __forceinline__ void first(wgmma_rows<C> &w, bool open)
    {
        float shrink[2];
        barrier_wait(&m.k_full[at.stage], at.parity);
        wgmma_fence();
        scores_start<C>(w, q, m.k + at.stage * C::KV_BYTES);
        wgmma_wait<0>();
        done_with(&m.k_empty[at.stage]);
        if (open)
            softmax<false>(w, shrink, 0);
        else
            softmax<true>(w, shrink, 0);
        pack_shares<C>(w);
    }

    /* The scores of the next keys and the mixing of the last, side by side. */
    template <bool HIDE>
    __device__ __forceinline__ void turn(wgmma_rows<C> &w, int key0)
    {
        ring_place<C> old = at;
        float shrink[2];
        at.next();
        barrier_wait(&m.k_full[at.stage], at.parity);
        wait_turn();
        wgmma_fence();
        scores_start<C>(w, q, m.k + at.stage * C::KV_BYTES);
        barrier_wait(&m.v_full[old.stage], old.parity);
        wgmma_fence();
        mix_start<C>(w, m.v + old.stage * C::KV_BYTES);
        pass_turn();
        wgmma_wait<1>(); /* the scores; the mixing goes on */
        done_with(&m.k_empty[at.stage]);
        softmax<HIDE>(w, shrink, key0);
        wgmma_wait<0>();
        done_with(&m.v_empty[old.stage]);
        shrink_result<C>(w, shrink);
        pack_shares<C>(w);
    }

    /* The mixing of a tile's last keys. */
    __device__ __forceinline__ void last(wgmma_rows<C> &w)
    {
        barrier_wait(&m.v_full[at.stage], at.parity);
        wgmma_fence();
        mix_start<C>(w, m.v + at.stage * C::KV_BYTES);
        wgmma_wait<0>();
        done_with(&m.v_empty[at.stage]);
        at.next();
    }
};

template <class C>
static __device__ __forceinline__ void
work_tile(worker<C> &me, const attention_tile &t, typename C::type *out)
{
    wgmma_rows<C> w;
    int row0 = t.q0 + 64 * me.group;
    /* Keys before this are seen by all of the group's queries. */
    int open = C::CAUSAL ? min(t.keys, row0 + 1) : t.keys;
    me.row = row0 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
    for (int i = 0; i < C::WIDTH / 2; i++)
        w.o[i] = 0.0f;
    w.top[0] = w.top[1] = -INFINITY;
    w.sum[0] = w.sum[1] = 0.0f;
    me.first(w, C::KEYS <= open);
    int key0 = C::KEYS;
#pragma unroll 1
    for (; key0 + C::KEYS <= open; key0 += C::KEYS)
        me.template turn<false>(w, key0);
#pragma unroll 1
    for (; key0 < t.keys; key0 += C::KEYS)
        me.template turn<true>(w, key0);
    done_with(me.m.q_empty);
    me.last(w);
    store_rows<C>(w, out, me.s, t.head, me.row);
}

template <class C>
static __device__ __forceinline__ void work_all(const attention_memory<C> &m,
                                                const attention_size &s,
                                                typename C::type *out)
{
    /* The same number in all lanes, and the compiler knows it. */
    int group = __shfl_sync(0xffffffffu, threadIdx.x / 128 - 1, 0);
    int tiles = attention_tiles(s, C::ROWS);
    worker<C> me = {m, s, group, m.q + group * 64 * 128, {}};
    if (group == C::GROUPS - 1)
        me.pass_turn(); /* group 0 begins */
    for (int round = 0; round * static_cast<int>(gridDim.x) < tiles; round++) {
        int i = tile_in<C>(round);
        if (i >= tiles)
            return;
        barrier_wait(m.q_full, round % 2);
        work_tile<C>(me, attention_tile_of<C::CAUSAL>(s, C::ROWS, i), out);
    }
}

template <class C>
static __global__ void __launch_bounds__(C::THREADS, 1)
    attention_wgmma(const __grid_constant__ tensor_maps maps,
                    typename C::type *out, const attention_size s)
{
    extern __shared__ uint8_t attention_raw[];
    attention_memory<C> m(attention_raw);
    if (threadIdx.x == 0)
        m.begin();
    __syncthreads();
    if (threadIdx.x < 128) {
        registers_give<C::LOADER_REGISTERS>();
        if (threadIdx.x == 0)
            load_all<C>(m, &maps, s);
    } else {
        registers_take<C::WORKER_REGISTERS>();
        work_all<C>(m, s, out);
    }
}

/* ---- host ---- */

/* x (heads, T, D) by boxes of `rows` rows and 64 columns. Rows beyond T are
 * zeros, not the next head's: a head is a dimension of its own. */
template <class TYPE>
static enum lab_status describe(CUtensorMap *map, void *x,
                                const attention_size &s, int rows)
{
    lab_tensor_map_fn encode = nullptr;
    enum lab_status st = lab_tensor_map_find(&encode);
    cuuint64_t row = sizeof(TYPE) * static_cast<cuuint64_t>(s.D);
    cuuint64_t dim[3] = {static_cast<cuuint64_t>(s.D),
                         static_cast<cuuint64_t>(s.T),
                         static_cast<cuuint64_t>(s.heads)};
    cuuint64_t stride[2] = {row, row * s.T}; /* bytes */
    cuuint32_t box[3] = {64, static_cast<cuuint32_t>(rows), 1};
    cuuint32_t step[3] = {1, 1, 1};
    if (st)
        return st;
    CUresult err = encode(
        map,
        std::is_same<TYPE, __half>::value ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                          : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        3, x, dim, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return err == CUDA_SUCCESS
               ? LAB_OK
               : lab_fail(LAB_E_DEVICE, "cuTensorMapEncodeTiled: error %d",
                          static_cast<int>(err));
}

template <class C>
static enum lab_status launch(const struct lab_call *call,
                              const attention_size &s)
{
    using type = typename C::type;
    tensor_maps maps;
    int processors = call->exec->sm_count;
    int tiles = attention_tiles(s, C::ROWS);
    enum lab_status st = describe<type>(&maps.q, call->in[0].data, s, C::ROWS);
    if (!st)
        st = describe<type>(&maps.k, call->in[1].data, s, C::KEYS);
    if (!st)
        st = describe<type>(&maps.v, call->in[2].data, s, C::KEYS);
    if (!st)
        st = lab_bench_take_shared(
            call, reinterpret_cast<const void *>(attention_wgmma<C>), C::BYTES);
    if (st)
        return st;
    int blocks = tiles < processors ? tiles : processors;
    attention_wgmma<C><<<blocks, C::THREADS, C::BYTES, lab_stream(call)>>>(
        maps, static_cast<type *>(call->out[0].data), s);
    return lab_launched("attention_wgmma");
}

/* Three warpgroups where the result is narrow enough for 160 registers. */
template <class TYPE, bool CAUSAL>
static enum lab_status choose(const struct lab_call *call)
{
    attention_size s = {};
    enum lab_status st = attention_size_of(call, 128, 8, &s);
    if (st)
        return st;
    if (s.D <= 64)
        return launch<wgmma_config<TYPE, 64, 3, 128, 4, CAUSAL>>(call, s);
    return launch<wgmma_config<TYPE, 128, 2, 128, 2, CAUSAL>>(call, s);
}

enum lab_status lab_attention_wgmma(const struct lab_call *call)
{
    return call->in[0].dtype == LAB_F16 ? choose<__half, false>(call)
                                        : choose<__nv_bfloat16, false>(call);
}

enum lab_status lab_attention_causal_wgmma(const struct lab_call *call)
{
    return call->in[0].dtype == LAB_F16 ? choose<__half, true>(call)
                                        : choose<__nv_bfloat16, true>(call);
}
