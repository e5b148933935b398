/* kernels/tf32x3/tf32x3_sm90.cuh -- an fp32 product of three tf32 products.
 *
 * The idea: tf32 keeps 11 of the 24 bits of an fp32, and what it leaves, x - x1, is an
 * fp32 again, of which tf32 keeps 11 more. So A B = A1 B1 + A1 B2 + A2 B1, and what is
 * missing, A2 B2 and the last bits, is as small as fp32's own rounding. Three products
 * on the tensor cores are still faster than one on the fp32 units. (Lab precision shows
 * the same with parts of 16 bits.) Source: Ootomo and Yokota, "Recovering single
 * precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
 * performance", 2022.
 * The tensor core cuts its sums, it does not round them, and a long sum would lose what
 * the parts have won: so its sums are of PROMOTE stages only, and are added up in fp32
 * by the ordinary units.
 * Thread -> element: a block has three warpgroups. Two multiply, and make a tile of
 * 128 x BN of C, 64 rows each; the first one feeds them. Blocks stay, one a
 * multiprocessor, and go from tile to tile; where there are fewer tiles than blocks, the
 * depth is cut in pieces, and tf32x3_add adds up what the pieces have.
 * Memory: stages of 32 numbers of depth come by cp.async. A multiplying warp takes its
 * part of A to registers and apart there. wgmma wants B in shared memory, the depth side
 * by side: the feeding warpgroup reads the stage's B, takes it apart, transposes it where
 * its rows are the depth, and writes its two parts down, while the others multiply the stage
 * before. Barriers in shared memory order them. All rows of 128 bytes are
 * swizzled: chunk c (16 bytes) of row r lies at c ^ (r % 8).
 * What limits it: by count, a stage of 128 columns keeps the tensor cores busy for 1,536
 * cycles, and shared memory for as many, half of them by wgmma's reads of B's parts;
 * 2,300 were measured.
 * Its price: compute capability 9.0 only; three products; an infinite number, or one
 * that tf32 rounds to infinity, becomes NaN. */
#pragma once
#include "common/launch.cuh"
#include "common/sm90.cuh"
#include "labs/lab.cuh"

enum { BM = 128, DEPTH = 32, PROMOTE = 2, HIGH = 8 };
enum { FEEDERS = 128, THREADS = FEEDERS + 256, WARPS = 8 /* that multiply */ };
enum { ROW = 4 * DEPTH, A_BYTES = BM * ROW };

/* What a tile of BN columns takes. */
template <int BN> struct sizes {
    enum { STAGES = BN == 128 ? 3 : 4 };
    /* A stage: A, B's two parts, and B as it came. They start on 1 KiB. */
    enum { B_BYTES = BN * ROW, STAGE_BYTES = A_BYTES + 3 * B_BYTES };
    enum { SHARED = STAGES * (STAGE_BYTES + 2 * 8) + 1024 };
};

/* What is made of A (M, K) and B (K, N), and how it is cut. */
struct product {
    float *c;
    const float *bias; /* NULL: none */
    float *parts;      /* (pieces, M, N); not used by one piece */
    int64_t ldc;
    float beta;
    int M;
    int N;
    int K;
    int down; /* tiles */
    int across;
    int stages; /* of the whole depth */
    int pieces; /* that the depth is cut in */
};

/* ---- the way of a block through its tiles, stage by stage ---- */

struct walk {
    int item; /* piece * tiles + tile */
    int stage;
    int end;
    int piece;
    int row0;
    int col0;

    /* Blocks go HIGH tiles down, then one to the right: those that run at the same
     * time find A's rows and B's columns in L2. */
    template <int BN> __device__ __forceinline__ void enter(const product &p)
    {
        const int tiles = p.down * p.across;
        const int tile = item % tiles;
        const int first = tile / (HIGH * p.across) * HIGH;
        const int high = min(static_cast<int>(HIGH), p.down - first);
        const int in = tile % (HIGH * p.across);
        piece = item / tiles;
        row0 = (first + in % high) * BM;
        col0 = in / high * BN;
        stage =
            static_cast<int>(static_cast<int64_t>(p.stages) * piece / p.pieces);
        end = static_cast<int>(static_cast<int64_t>(p.stages) * (piece + 1) /
                               p.pieces);
    }
    __device__ __forceinline__ bool over(const product &p) const
    {
        return item >= p.down * p.across * p.pieces;
    }
    template <int BN> __device__ __forceinline__ void next(const product &p)
    {
        if (++stage < end)
            return;
        item += gridDim.x;
        if (!over(p))
            enter<BN>(p);
    }
};

/* ---- a stage, fetched ---- */

static __device__ __forceinline__ int swizzled(int row, int chunk)
{
    return row * ROW + ((chunk ^ (row % 8)) * 16);
}

/* 16 bytes, of which `left` numbers are inside; zeros for the others. */
template <bool FOURS>
static __device__ __forceinline__ void copy(char *to, const float *from,
                                            int left)
{
    if constexpr (FOURS) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                         shared_address(to)),
                     "l"(from), "r"(4 * min(max(left, 0), 4))
                     : "memory");
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                             shared_address(to + 4 * i)),
                         "l"(from + i), "r"(i < left ? 4 : 0)
                         : "memory");
    }
}

/* A transposed: boxes of 32 columns, rows of 128 bytes. */
static __device__ __forceinline__ int place_a(int k, int chunk)
{
    return chunk / 8 * DEPTH * ROW + swizzled(k, chunk % 8);
}

/* B by rows: neither 8 chunks of a row nor chunk c of rows 0, 4 .. 28 meet in a
 * bank. */
template <int BN>
static __device__ __forceinline__ int place_b(int k, int chunk)
{
    return 4 * BN * k + (chunk ^ (k / 4)) * 16;
}

/* ---- a factor, and how a stage of it is fetched ----
 *
 * A kind of factor has
 *   DOWN         its depth lies down in memory, not side by side: a thread's 16 bytes are
 *                four numbers of one depth
 *   kept         what a thread keeps of a tile
 *   enter<SIDE>  fills it, for SIDE rows of A (or columns of B) from side0 on
 *   fetch<SIDE>  brings DEPTH numbers of each from k0 on to a stage, zeros for those
 *                outside; place(k, chunk) is where, if DOWN
 * Of a factor that is not down thread t has chunk t % 8 of side t / 8, and of every 16th
 * after it. */
enum { SIDES = FEEDERS / 8 };

template <bool DOWN_, bool FOURS> struct tf32x3_matrix {
    static constexpr bool DOWN = DOWN_;
    struct kept {
    };
    const float *data;
    int64_t pitch;
    int sides;
    int depth;

    template <int SIDE> __device__ __forceinline__ void enter(kept *, int) const
    {
    }
    template <int SIDE, typename PLACE>
    __device__ __forceinline__ void fetch(const kept &, char *to, int side0,
                                          int k0, PLACE place) const
    {
        if constexpr (DOWN) {
            enum { CHUNKS = SIDE / 4, EACH = DEPTH * CHUNKS / FEEDERS };
            const int k = threadIdx.x / CHUNKS;
            const int chunk = threadIdx.x % CHUNKS;
            const float *at = data + (k0 + k) * pitch + side0 + 4 * chunk;
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const int down = i * (FEEDERS / CHUNKS);
                copy<FOURS>(to + place(k + down, chunk), at + down * pitch,
                            k0 + k + down < depth ? sides - side0 - 4 * chunk
                                                  : 0);
            }
        } else {
            const int row = threadIdx.x / 8;
            const int k = 4 * (threadIdx.x % 8);
            const float *at = data + (side0 + row) * pitch + k0 + k;
            to += swizzled(row, k / 4);
#pragma unroll
            for (int i = 0; i < SIDE / SIDES; i++)
                copy<FOURS>(to + i * SIDES * ROW, at + i * SIDES * pitch,
                            side0 + row + SIDES * i < sides ? depth - k0 - k
                                                            : 0);
        }
    }
};

/* ---- numbers taken apart ---- */

/* The nearest tf32, in two operations of the integer units; a NaN may become a number,
 * but then the rest is NaN. */
static __device__ __forceinline__ uint32_t first_part(float x)
{
    return (__float_as_uint(x) + 0x1000) & 0xffffe000;
}

/* Of the rest the tensor core takes the first 11 bits. */
static __device__ __forceinline__ uint32_t rest(float x, uint32_t first)
{
    return __float_as_uint(x - __uint_as_float(first));
}

static __device__ __forceinline__ void write_parts(char *first, char *second,
                                                   const float (&x)[4])
{
    uint32_t f[4];
    uint32_t r[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        f[i] = first_part(x[i]);
        r[i] = rest(x[i], f[i]);
    }
    *reinterpret_cast<uint4 *>(first) = make_uint4(f[0], f[1], f[2], f[3]);
    *reinterpret_cast<uint4 *>(second) = make_uint4(r[0], r[1], r[2], r[3]);
}

/* A stage's B into its two parts. By rows: a thread takes 4 x 4 numbers at a time; 8
 * lanes read the same chunk of 8 rows, and write 8 chunks of one row, each bank once. */
template <int BN, bool FLIP_B>
static __device__ __forceinline__ void part_b(char *stage)
{
    char *first = stage + A_BYTES;
    char *second = first + sizes<BN>::B_BYTES;
    const char *from = second + sizes<BN>::B_BYTES;
    if constexpr (FLIP_B) {
#pragma unroll
        for (int i = 0; i < BN * 8 / FEEDERS; i++) {
            const int at = 16 * (threadIdx.x + FEEDERS * i);
            float4 v = *reinterpret_cast<const float4 *>(from + at);
            const float x[4] = {v.x, v.y, v.z, v.w};
            write_parts(first + at, second + at, x);
        }
        return;
    }
    const int chunk = threadIdx.x % 8; /* of the depth */
    for (int columns = threadIdx.x / 8; columns < BN / 4;
         columns += FEEDERS / 8) { /* fours */
        float v[4][4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            *reinterpret_cast<float4 *>(v[i]) =
                *reinterpret_cast<const float4 *>(
                    from + place_b<BN>(4 * chunk + i, columns));
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float x[4] = {v[0][j], v[1][j], v[2][j], v[3][j]};
            const int at = swizzled(4 * columns + j, chunk);
            write_parts(first + at, second + at, x);
        }
    }
}

/* ---- a warp's 16 rows of A ---- */

/* Row of C that a lane's sums of half h belong to, in the tile. Turned, a lane takes
 * neighbours, such that 16 lanes that read 8 bytes each meet every bank once. */
template <bool FLIP_A> static __device__ __forceinline__ int row_of(int h)
{
    const int warp = (threadIdx.x - FEEDERS) / 32;
    const int g = threadIdx.x % 32 / 4;
    if (!FLIP_A)
        return 16 * warp + g + 8 * h;
    return warp / 2 * 32 + 4 * (g % 2 * 4 + warp % 2 * 2 + g / 4) +
           g / 2 % 2 * 2 + h;
}

template <bool FLIP_A>
static __device__ __forceinline__ void read_a(uint32_t (&a)[4][4],
                                              const char *from)
{
    const int lane = threadIdx.x % 32;
    [[maybe_unused]] const int row0 = row_of<FLIP_A>(0);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if constexpr (!FLIP_A)
            load_matrix(
                a[k], shared_address(from + swizzled(row0 / 16 * 16 + lane % 16,
                                                     2 * k + lane / 16)));
        else
#pragma unroll
            for (int h = 0; h < 2; h++) {
                uint2 v = *reinterpret_cast<const uint2 *>(
                    from + place_a(8 * k + 4 * h + lane % 4, row0 / 4) +
                    row0 % 4 * 4);
                a[k][2 * h] = v.x;
                a[k][2 * h + 1] = v.y;
            }
    }
}

/* ---- the warpgroup's product: d (64, BN) += A (64, 8) B (8, BN) ---- */

/* clang-format off */
#define SUM4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUM16(i) SUM4(i), SUM4(i + 4), SUM4(i + 8), SUM4(i + 12)
#define NAMES_16 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define NAMES_32 NAMES_16 \
    ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, " \
    "%30, %31"
#define NAMES_64 NAMES_32 \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
    "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, " \
    "%60, %61, %62, %63"
#define MULTIPLY(BN, SUMS, NAMES, A0, A1, A2, A3, B, KEEP, ...) \
    static __device__ __forceinline__ void multiply( \
        float(&d)[SUMS], const uint32_t(&a)[4], uint64_t b, int keep) \
    { \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" KEEP ", 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n" BN \
                     "k8.f32.tf32.tf32 " NAMES "}, {%" A0 ", %" A1 ", %" A2 \
                     ", %" A3 "}, %" B ", p, 1, 1;\n}" \
                     : __VA_ARGS__ \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), \
                       "r"(keep)); \
    }
MULTIPLY("32", 16, NAMES_16, "16", "17", "18", "19", "20", "21", SUM16(0))
MULTIPLY("64", 32, NAMES_32, "32", "33", "34", "35", "36", "37", SUM16(0),
         SUM16(16))
MULTIPLY("128", 64, NAMES_64, "64", "65", "66", "67", "68", "69", SUM16(0),
         SUM16(16), SUM16(32), SUM16(48))
/* clang-format on */

/* Queues a stage, the small products first; `fresh`: the sums start here. */
template <int BN>
static __device__ __forceinline__ void
multiply_stage(float (&d)[BN / 2], const uint32_t (&first)[4][4],
               const uint32_t (&second)[4][4], const char *parts, bool fresh)
{
    const char *b2 = parts + sizes<BN>::B_BYTES;
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint64_t b = wgmma_operand(parts + 32 * k, 0, 1024);
        multiply(d, second[k], b, !fresh || k > 0);
        multiply(d, first[k], wgmma_operand(b2 + 32 * k, 0, 1024), 1);
        multiply(d, first[k], b, 1);
    }
    wgmma_commit();
}

/* ---- the end of a tile ---- */

/* Sum x of element (row, col) to where it belongs. */
static __device__ __forceinline__ float finish(const product &p, float x,
                                               const float *to, int col)
{
    if (p.bias)
        x += p.bias[col];
    return p.beta == 0.0f ? x : x + p.beta * *to;
}

template <int BN, bool FLIP_A>
static __device__ __forceinline__ void
write_tile(const product &p, const walk &w, const float (&sum)[BN / 2])
{
    const bool whole = p.pieces == 1;
    float *out =
        whole ? p.c : p.parts + static_cast<int64_t>(w.piece) * p.M * p.N;
    const int64_t ld = whole ? p.ldc : p.N;
    const bool pairs = ld % 2 == 0 && reinterpret_cast<uintptr_t>(out) % 8 == 0;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = w.row0 + row_of<FLIP_A>(h);
        if (row >= p.M)
            continue;
#pragma unroll
        for (int j = 0; j < BN / 8; j++) {
            const int col = w.col0 + 8 * j + threadIdx.x % 4 * 2;
            float *to = out + row * ld + col;
            float2 v = make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
            if (whole && col < p.N)
                v.x = finish(p, v.x, to, col);
            if (whole && col + 1 < p.N)
                v.y = finish(p, v.y, to + 1, col + 1);
            if (pairs && col + 1 < p.N) {
                *reinterpret_cast<float2 *>(to) = v;
            } else {
                if (col < p.N)
                    to[0] = v.x;
                if (col + 1 < p.N)
                    to[1] = v.y;
            }
        }
    }
}

/* The pieces' sums, a thread an element, always in the same order. */
static __global__ void tf32x3_add(product p)
{
    const int64_t count = static_cast<int64_t>(p.M) * p.N;
    const int64_t i = lab_element();
    if (i >= count)
        return;
    const int col = static_cast<int>(i % p.N);
    float sum = 0.0f;
    for (int piece = 0; piece < p.pieces; piece++)
        sum += p.parts[piece * count + i];
    float *to = p.c + i / p.N * p.ldc + col;
    *to = finish(p, sum, to, col);
}

/* ---- the kernel ---- */

/* The stages, between those that feed and those that multiply. */
template <int BN> struct ring {
    char *base;
    uint64_t *full;  /* all feeding threads have written their share */
    uint64_t *empty; /* all multiplying warps are done with it */
    int slot;
    uint32_t parity;

    __device__ __forceinline__ void start(char *raw)
    {
        base = raw + (1024 - shared_address(raw) % 1024) % 1024;
        full = reinterpret_cast<uint64_t *>(base + sizes<BN>::STAGES *
                                                       sizes<BN>::STAGE_BYTES);
        empty = full + sizes<BN>::STAGES;
        slot = 0;
        parity = 0;
        if (threadIdx.x == 0) {
            for (int s = 0; s < sizes<BN>::STAGES; s++) {
                barrier_init(&full[s], FEEDERS);
                barrier_init(&empty[s], WARPS);
            }
            barrier_init_done();
        }
        __syncthreads();
    }
    __device__ __forceinline__ char *stage() const
    {
        return base + slot * sizes<BN>::STAGE_BYTES;
    }
    __device__ __forceinline__ void next()
    {
        if (++slot == sizes<BN>::STAGES) {
            slot = 0;
            parity ^= 1;
        }
    }
};

/* The feeding warpgroup: AHEAD stages are under way while one is taken apart. */
template <int BN, typename A, typename B>
static __device__ __forceinline__ void feed(ring<BN> in, const product &p,
                                            const A &a, const B &b)
{
    enum { AHEAD = sizes<BN>::STAGES - 1 };
    ring<BN> out = in; /* whose stage is taken apart next */
    walk w;
    int left = 0; /* stages that are fetched and not taken apart */
    int item = -1;
    typename A::kept of_a;
    typename B::kept of_b;
    w.item = blockIdx.x;
    w.enter<BN>(p);
    auto fetch_next = [&]() {
        if (!w.over(p)) {
            barrier_wait(&in.empty[in.slot], in.parity ^ 1);
            if (w.item != item) {
                item = w.item;
                a.template enter<BM>(&of_a, w.row0);
                b.template enter<BN>(&of_b, w.col0);
            }
            a.template fetch<BM>(of_a, in.stage(), w.row0, w.stage * DEPTH,
                                 place_a);
            b.template fetch<BN>(of_b,
                                 in.stage() + A_BYTES + 2 * sizes<BN>::B_BYTES,
                                 w.col0, w.stage * DEPTH, place_b<BN>);
            w.next<BN>(p);
            in.next();
            left++;
        }
        copy_async_commit();
    };
    for (int i = 0; i < AHEAD; i++)
        fetch_next();
    while (left > 0) {
        copy_async_wait<AHEAD - 1>();
        named_wait(1, FEEDERS);
        part_b<BN, !B::DOWN>(out.stage());
        shared_for_tma();
        barrier_arrive(&out.full[out.slot]);
        out.next();
        left--;
        fetch_next();
    }
}

/* A multiplying warpgroup. */
template <int BN, bool FLIP_A>
static __device__ __forceinline__ void work(ring<BN> r, const product &p)
{
    float d[BN / 2];
    float sum[BN / 2] = {};
    uint32_t a[4][4];
    uint32_t first[4][4];
    uint32_t second[4][4];
    int depth = 0; /* stages in d */
    walk now;
    now.item = blockIdx.x;
    now.enter<BN>(p);
    barrier_wait(&r.full[0], 0);
    read_a<FLIP_A>(a, r.stage());
    while (!now.over(p)) {
        const walk done = now;
        const bool last = now.stage + 1 == now.end;
        uint64_t *empty = &r.empty[r.slot];
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float x = __uint_as_float(a[k][i]);
                first[k][i] = first_part(x);
                second[k][i] = rest(x, first[k][i]);
            }
        multiply_stage<BN>(d, first, second, r.stage() + A_BYTES, depth == 0);
        r.next();
        now.next<BN>(p);
        if (!now.over(p)) {
            barrier_wait(&r.full[r.slot], r.parity);
            read_a<FLIP_A>(a, r.stage());
        }
        wgmma_wait<0>();
        __syncwarp(); /* lane 0 reports what all 32 have read */
        if (threadIdx.x % 32 == 0)
            barrier_arrive(empty);
        if (++depth == PROMOTE || last) {
            depth = 0;
#pragma unroll
            for (int i = 0; i < BN / 2; i++)
                sum[i] += d[i];
        }
        if (last) {
            write_tile<BN, FLIP_A>(p, done, sum);
#pragma unroll
            for (int i = 0; i < BN / 2; i++)
                sum[i] = 0.0f;
        }
    }
}

template <int BN, typename A, typename B>
static __global__ void __launch_bounds__(THREADS, 1)
    gemm_tf32x3(product p, A a, B b)
{
    extern __shared__ char raw[];
    ring<BN> r;
    r.start(raw);
    if (threadIdx.x < FEEDERS) {
        registers_give<72>();
        feed<BN>(r, p, a, b);
    } else {
        registers_take<216>();
        work<BN, A::DOWN>(r, p);
    }
}

/* ---- the launch ---- */

/* How a product is cut. */
struct plan {
    int columns; /* of a tile */
    int pieces;
    double cost;
};

/* Time of a stage of a block, in cycles, measured on an H200. */
static double stage_cycles(int columns)
{
    return columns == 128 ? 2300 : columns == 64 ? 1500 : 1150;
}

static plan plan_of(const product &p, int columns, int blocks,
                    size_t room_bytes)
{
    const double M = p.M;
    const double N = p.N;
    const double tiles = ceil(M / BM) * ceil(N / columns);
    plan best = {columns, 1, INFINITY};
    for (int pieces = 1; pieces <= 64; pieces++) {
        if (pieces > 1 &&
            (pieces > p.stages / 4 ||
             4.0 * pieces * M * N > static_cast<double>(room_bytes)))
            break;
        /* A tile's end takes about three stages; the sums of pieces are added by a
         * kernel that starts after 5,000 cycles and moves 2 KiB a cycle. */
        double cost = ceil(tiles * pieces / blocks) *
                      (ceil(static_cast<double>(p.stages) / pieces) + 3) *
                      stage_cycles(columns);
        if (pieces > 1)
            cost += 5000 + 4.0 * (pieces + 1) * M * N / 2048;
        if (cost < best.cost)
            best = {columns, pieces, cost};
    }
    return best;
}

template <int BN, typename A, typename B>
static enum lab_status launch(const struct lab_call *call, product p,
                              const A &a, const B &b)
{
    p.down = (p.M + BM - 1) / BM;
    p.across = (p.N + BN - 1) / BN;
    const int64_t items = static_cast<int64_t>(p.down) * p.across * p.pieces;
    if (items > INT32_MAX)
        return lab_fail(
            LAB_E_RANGE,
            "[launch.product-tiles] a product of more than 2^31 - 1 "
            "tiles");
    const int blocks = call->exec->sm_count;
    enum lab_status st = lab_bench_take_shared(
        call, reinterpret_cast<const void *>(gemm_tf32x3<BN, A, B>),
        sizes<BN>::SHARED);
    if (st)
        return st;
    gemm_tf32x3<BN, A, B>
        <<<static_cast<unsigned>(items < blocks ? items : blocks), THREADS,
           sizes<BN>::SHARED, lab_stream(call)>>>(p, a, b);
    st = lab_launched("gemm_tf32x3");
    if (st || p.pieces == 1)
        return st;
    tf32x3_add<<<lab_blocks(static_cast<int64_t>(p.M) * p.N), LAB_BLOCK, 0,
                 lab_stream(call)>>>(p);
    return lab_launched("tf32x3_add");
}

/* p.M, p.N, p.K and where the result goes are known; p.parts is memory for the sums of
 * pieces, room_bytes of it. */
template <typename A, typename B>
static enum lab_status launch_best(const struct lab_call *call, product p,
                                   size_t room_bytes, const A &a, const B &b)
{
    p.stages = (p.K - 1) / DEPTH + 1;
    plan best = {0, 0, INFINITY};
    for (int columns = 32; columns <= 128; columns *= 2) {
        plan other = plan_of(p, columns, call->exec->sm_count, room_bytes);
        if (other.cost < best.cost)
            best = other;
    }
    p.pieces = best.pieces;
    return best.columns == 128  ? launch<128>(call, p, a, b)
           : best.columns == 64 ? launch<64>(call, p, a, b)
                                : launch<32>(call, p, a, b);
}
