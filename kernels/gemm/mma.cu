/* kernels/gemm/mma.cu -- the tensor core's own instruction, and copies that
 * run by themselves.
 *
 * The idea: mma.sync names its registers, so nothing has to be guessed. ldmatrix
 * fills them, four matrices of 8 x 8 at a time, and turns B on the way; a
 * swizzle instead of padding keeps every read free of bank conflicts; cp.async
 * moves 16 bytes from global to shared memory past the registers, and three
 * stages in turn keep two on their way while one is used.
 * Thread -> element: 8 warps make 128 x 256, each of them 64 x 64: of 8 reads of
 * 16 x 16 numbers 32 products m16n8k16 are made (tf32: m16n8k8).
 * Memory: blocks go down GROUP tiles, then one to the right, so that what runs
 * at the same time shares its rows and columns in L2.
 * Its price: 144 KiB of shared memory and 250 registers a thread, one block for
 * a multiprocessor; and the instruction waits for its operands to be read from
 * registers: on Hopper it reaches some six tenths of what wgmma does. */
#include "common/half.cuh"
#include "gemm/gemm.cuh"
#include "labs/lab.cuh"

/* ---- the warp's product, and the tiles that feed it ----
 *
 * 256 threads, 8 warps, make a tile of 128 x 256 of C; a warp makes 64 x 64.
 * A stage is 128 bytes of depth: 64 numbers of bf16 or fp16, 32 of fp32. In
 * shared memory a stage is a box of 128 rows of A, and boxes of B, each as deep
 * as the stage and 128 bytes across. All rows are 128 bytes: 8 chunks of 16.
 * Chunk c of row r lies at c ^ (r % 8), so that neither eight rows of one chunk
 * nor eight chunks of one row meet in a bank ("swizzle"; the TMA unit of the
 * variant wgmma writes the same order). */
enum { MMA_THREADS = 256, MMA_BM = 128, MMA_BN = 256, MMA_ROW = 128 };
enum { MMA_A_BYTES = MMA_BM * MMA_ROW, MMA_STAGE_BYTES = 3 * MMA_A_BYTES };

static __device__ __forceinline__ int mma_swizzle(int row, int chunk)
{
    return row * MMA_ROW + ((chunk ^ (row % 8)) * 16);
}

/* d (16, 8) += a (16, depth) b (depth, 8); depth 16, for fp32 (as tf32) 8. */
#define MMA_SYNC(T, SHAPE)                                                     \
    static __device__ __forceinline__ void mma_add(                            \
        float(&d)[4], const uint32_t(&a)[4], uint32_t b0, uint32_t b1, T)      \
    {                                                                          \
        asm("mma.sync.aligned." SHAPE                                          \
            " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                   \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));   \
    }
MMA_SYNC(__nv_bfloat16, "m16n8k16.row.col.f32.bf16.bf16.f32")
MMA_SYNC(__half, "m16n8k16.row.col.f32.f16.f16.f32")
MMA_SYNC(float, "m16n8k8.row.col.f32.tf32.tf32.f32")

/* ---- a stage, fetched ---- */

/* 16 bytes of a row, number by number, where rows do not start on 16 bytes. */
template <typename T>
static __device__ __forceinline__ void copy_numbers(char *to, const T *from,
                                                    bool inside, int64_t left)
{
    enum { EACH = 16 / sizeof(T) };
    __align__(16) T v[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++)
        v[i] = inside && i < left ? from[i] : T(0.0f);
    *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(v);
}

/* What one thread fetches of each stage: chunk t % 8 of row t / 8, and of every
 * 32nd row after it, in the box of A and in those of B. */
template <typename T, bool FOURS> struct mma_fetch {
    enum { DEPTH = MMA_ROW / sizeof(T), EACH = 16 / sizeof(T) };
    enum { DOWN = DEPTH / 32 }; /* rows a thread has of a box of B */
    const T *a;
    const T *b;
    int64_t a_rows; /* from this thread's first row to the end of A */
    int64_t a_cols; /* from its first column */
    int64_t b_rows;
    int64_t b_cols;
    int64_t K;
    int64_t N;
    int place;

    __device__ __forceinline__ void start(const T *a0, const T *b0,
                                          int64_t row0, int64_t col0, int64_t M,
                                          int64_t n, int64_t k)
    {
        const int row = threadIdx.x / 8;
        const int col = threadIdx.x % 8 * EACH;
        N = n;
        K = k;
        a = a0 + (row0 + row) * K + col;
        b = b0 + row * N + col0 + col;
        a_rows = M - row0 - row;
        a_cols = K - col;
        b_rows = K - row;
        b_cols = N - col0 - col;
        place = mma_swizzle(row, threadIdx.x % 8);
    }
    static __device__ __forceinline__ void copy(char *to, const T *from,
                                                bool inside, int64_t left)
    {
        if (FOURS)
            copy_async16(shared_address(to), from, inside && left > 0);
        else
            copy_numbers(to, from, inside, left);
    }
    /* The next stage; zeros where the matrices end. */
    __device__ __forceinline__ void next(char *stage)
    {
        char *to = stage + place;
#pragma unroll
        for (int i = 0; i < MMA_BM / 32; i++)
            copy(to + i * 32 * MMA_ROW, a + i * 32 * K, 32 * i < a_rows,
                 a_cols);
        to += MMA_A_BYTES;
#pragma unroll
        for (int i = 0; i < 8; i++)
            copy(to + i * 32 * MMA_ROW,
                 b + i % DOWN * 32 * N + i / DOWN * DEPTH,
                 i % DOWN * 32 < b_rows, b_cols - i / DOWN * DEPTH);
        a += DEPTH;
        b += DEPTH * N;
        a_cols -= DEPTH;
        b_rows -= DEPTH;
        if (FOURS)
            copy_async_commit();
    }
};

/* ---- a warp's 64 x 64 of C ---- */

/* 16-bit numbers: B's boxes are turned on the way to the registers. Element
 * d[i][j][e] is row 16 i + 8 (e / 2) + lane / 4, column 8 j + 2 (lane % 4) +
 * e % 2. */
template <typename T> struct mma_sums {
    float d[4][8][4];

    /* Depth 16 k .. 16 k + 15 of a stage, in the order of the instruction. */
    struct operands {
        uint32_t a[4][4];
        uint32_t b[4][4];

        __device__ __forceinline__ void load(const char *as, const char *bs,
                                             int k)
        {
            const int lane = threadIdx.x % 32;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                load_matrix(
                    a[i], shared_address(as + mma_swizzle(16 * i + lane % 16,
                                                          2 * k + lane / 16)));
                load_matrix_turned(
                    b[i], shared_address(bs + mma_swizzle(16 * k + lane % 16,
                                                          2 * i + lane / 16)));
            }
        }
    };

    __device__ __forceinline__ void add(const operands &o)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                mma_add(d[i][j], o.a[i], o.b[j / 2][j % 2 * 2],
                        o.b[j / 2][j % 2 * 2 + 1], T());
    }

    template <bool FOURS>
    __device__ __forceinline__ void write(T *row, int i, int h, int64_t col0,
                                          int64_t N) const
    {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int64_t col = col0 + 8 * j + threadIdx.x % 4 * 2;
            __align__(4) T v[2] = {T(d[i][j][2 * h]), T(d[i][j][2 * h + 1])};
            if (FOURS && col < N)
                *reinterpret_cast<uint32_t *>(row + col) =
                    *reinterpret_cast<const uint32_t *>(v);
            else if (!FOURS && col < N)
                row[col] = v[0];
            if (!FOURS && col + 1 < N)
                row[col + 1] = v[1];
        }
    }
};

/* fp32 as tf32. No instruction turns 32-bit numbers, so a lane reads 4
 * neighbours of a row of B and gives one to each of 4 tiles of 8 columns: which
 * column of a tile is which of C is free. Element d[i][j][e] is column
 * 32 (j / 4) + 4 f + j % 4, f = (lane % 4) + 4 (e % 2). */
template <> struct mma_sums<float> {
    float d[4][8][4];

    struct operands {
        uint32_t a[4][4];
        uint32_t b[4][4]; /* [2 * (tile / 4) + half of the depth][tile % 4] */

        __device__ __forceinline__ void load(const char *as, const char *bs,
                                             int k)
        {
            const int lane = threadIdx.x % 32;
            const int chunk = lane / 4 % 2 * 4 + lane / 8;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                load_matrix(
                    a[i], shared_address(as + mma_swizzle(16 * i + lane % 16,
                                                          2 * k + lane / 16)));
                uint4 v = *reinterpret_cast<const uint4 *>(
                    bs + i / 2 * 32 * MMA_ROW +
                    mma_swizzle(8 * k + i % 2 * 4 + lane % 4, chunk));
                b[i][0] = v.x;
                b[i][1] = v.y;
                b[i][2] = v.z;
                b[i][3] = v.w;
            }
#pragma unroll
            for (int i = 0; i < 16; i++) {
                a[i / 4][i % 4] = tf32_nearest(a[i / 4][i % 4]);
                b[i / 4][i % 4] = tf32_nearest(b[i / 4][i % 4]);
            }
        }
    };

    __device__ __forceinline__ void add(const operands &o)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                mma_add(d[i][j], o.a[i], o.b[j / 4 * 2][j % 4],
                        o.b[j / 4 * 2 + 1][j % 4], 0.0f);
    }

    template <bool FOURS>
    __device__ __forceinline__ void write(float *row, int i, int h,
                                          int64_t col0, int64_t N) const
    {
#pragma unroll
        for (int u = 0; u < 4; u++) {
            const int j = u / 2 * 4, e = 2 * h + u % 2;
            int64_t col = col0 + 8 * j + 4 * (threadIdx.x % 4 + 4 * (u % 2));
            float v[4] = {d[i][j][e], d[i][j + 1][e], d[i][j + 2][e],
                          d[i][j + 3][e]};
            if (FOURS && col < N)
                *reinterpret_cast<float4 *>(row + col) =
                    make_float4(v[0], v[1], v[2], v[3]);
#pragma unroll
            for (int q = 0; q < 4 && !FOURS; q++)
                if (col + q < N)
                    row[col + q] = v[q];
        }
    }
};

/* A stage: the next operands are read while the products of these are made. */
template <typename T>
static __device__ __forceinline__ void add_stage(mma_sums<T> *sums,
                                                 const char *a, const char *b)
{
    typename mma_sums<T>::operands o[2];
    o[0].load(a, b, 0);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (k < 3)
            o[(k + 1) % 2].load(a, b, k + 1);
        sums->add(o[k % 2]);
    }
}

/* ---- the kernel ---- */

enum { GROUP = 8, STAGES = 3, SHARED = STAGES * MMA_STAGE_BYTES };

template <typename T, bool FOURS>
static __device__ __forceinline__ void write(T *c, const mma_sums<T> &sums,
                                             int64_t row0, int64_t col0,
                                             int64_t M, int64_t N)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int64_t row = row0 + 16 * i + 8 * h + threadIdx.x % 32 / 4;
            if (row < M)
                sums.template write<FOURS>(c + row * N, i, h, col0, N);
        }
}

template <typename T, bool FOURS>
static __global__ void __launch_bounds__(MMA_THREADS)
    gemm_mma(T *c, const T *a, const T *b, int64_t M, int64_t N, int64_t K)
{
#if __CUDA_ARCH__ >= 800
    enum { DEPTH = MMA_ROW / sizeof(T), BOX = DEPTH * MMA_ROW };
    extern __shared__ __align__(128) char stages[];
    const int warp = threadIdx.x / 32;
    int64_t row0;
    int64_t col0;
    int now = 0;
    int next = STAGES - 1;
    mma_fetch<T, FOURS> fetch;
    mma_sums<T> sums = {};
    gemm_band_place<MMA_BM, MMA_BN, GROUP>(M, N, &row0, &col0);
    fetch.start(a, b, row0, col0, M, N, K);
    for (int s = 0; s < STAGES - 1; s++)
        fetch.next(stages + s * MMA_STAGE_BYTES);
    for (int64_t k0 = 0; k0 < K; k0 += DEPTH) {
        /* This thread's part of stage `now` has come; then everybody's. And
         * everybody is done with stage `next`. */
        copy_async_wait<STAGES - 2>();
        __syncthreads();
        fetch.next(stages + next * MMA_STAGE_BYTES);
        const char *stage = stages + now * MMA_STAGE_BYTES;
        add_stage(&sums, stage + warp % 2 * 64 * MMA_ROW,
                  stage + MMA_A_BYTES + warp / 2 * (64 / DEPTH) * BOX);
        now = now + 1 == STAGES ? 0 : now + 1;
        next = next + 1 == STAGES ? 0 : next + 1;
    }
    write<T, FOURS>(c, sums, row0 + warp % 2 * 64, col0 + warp / 2 * 64, M, N);
#endif
}

template <typename T, bool FOURS>
static enum lab_status launch(const struct lab_call *call)
{
    const int64_t M = call->in[0].dim[0];
    const int64_t K = call->in[0].dim[1];
    const int64_t N = call->in[1].dim[1];
    const int64_t blocks =
        (M + MMA_BM - 1) / MMA_BM * ((N + MMA_BN - 1) / MMA_BN);
    enum lab_status st = lab_bench_take_shared(
        call, reinterpret_cast<const void *>(gemm_mma<T, FOURS>), SHARED);
    if (st)
        return st;
    gemm_mma<T, FOURS>
        <<<lab_blocks(blocks, 1), MMA_THREADS, SHARED, lab_stream(call)>>>(
            static_cast<T *>(call->out[0].data),
            static_cast<const T *>(call->in[0].data),
            static_cast<const T *>(call->in[1].data), M, N, K);
    return lab_launched("gemm_mma");
}

/* 16 bytes at a time where every row starts on 16 bytes. */
template <typename T> static enum lab_status choose(const struct lab_call *call)
{
    const int64_t each = 16 / sizeof(T);
    return call->in[0].dim[1] % each == 0 && call->in[1].dim[1] % each == 0
               ? launch<T, true>(call)
               : launch<T, false>(call);
}

enum lab_status lab_gemm_mma(const struct lab_call *call)
{
    if (call->in[0].dtype == LAB_BFLOAT16)
        return choose<__nv_bfloat16>(call);
    return call->in[0].dtype == LAB_F16 ? choose<__half>(call)
                                        : choose<float>(call);
}
