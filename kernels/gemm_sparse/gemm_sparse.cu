/* kernels/gemm_sparse/gemm_sparse.cu -- C = A B, of each four numbers of A two kept.
 *
 * skip    thread -> element of C: it walks over what is kept of a row of A, and two
 *         bits name the row of B. Half of the operations; the lanes of a warp share
 *         row and bits, so that they read neighbours of B.
 * mma     the tensor core without sparsity: A's zeros are put back while a stage is
 *         written to shared memory, and mma.m16n8k16 multiplies them, too.
 * mma_sp  mma.sp.m16n8k32: the instruction takes 16 x 16 kept numbers and 16 x 32
 *         pairs of bits, and picks the numbers of B that they name. One instruction
 *         of the cost of m16n8k16 makes the product of twice the depth, and A is
 *         read at 9/16 of its bytes.
 * cusparselt  the vendor's library, where the machine has it. It stores A in an
 *         order of its own: its zeros are put back and A is compressed before the
 *         clock starts.
 * Both mma variants: four warps make 64 x 64 of C, each of them 32 x 32, a stage is 32
 * deep, compute capability 8.0. What limits them is the same: stages come while
 * nothing is multiplied; the difference of the two is the sparsity alone.
 *
 * The bits go to the instruction in an order of its own (selector 0, PTX ISA "Sparse
 * matrix storage"): lane 4 G has those of columns 0..15 of row G and, in its upper
 * half, of row G + 8; lane 4 G + 1 those of columns 16..31. */
#include "common/half.cuh"
#include "common/tiles.cuh"
#include "gemm_sparse/gemm_sparse.h"
#include "library/cusparselt_exec.h"

#include <stdio.h>

enum { TILE = 64, THREADS = 128, DEPTH = 32, SIDE = 16 };
/* Numbers of a row in shared memory: 16 bytes more than it has, so that the rows of
 * a read meet in no bank. */
enum { KEPT_PITCH = DEPTH / 2 + 8, A_PITCH = DEPTH + 8, B_PITCH = TILE + 8 };

static __global__ void sparse_skip(float *c, const float *kept, const int *meta,
                                   const float *b, int64_t M, int64_t N,
                                   int64_t K)
{
    int64_t row;
    int64_t col;
    lab_tile_start<SIDE>(N, &row, &col);
    row += threadIdx.y;
    col += threadIdx.x;
    if (row >= M || col >= N)
        return;
    float sum = 0.0f;
    for (int64_t k0 = 0; k0 < K; k0 += LAB_SPARSE_WORD) {
        const int64_t word = (row * K + k0) / LAB_SPARSE_WORD;
        const uint32_t places = static_cast<uint32_t>(meta[word]);
        for (int i = 0; i < 16; i++)
            sum += kept[word * 16 + i] *
                   b[(k0 + lab_sparse_place(places, i)) * N + col];
    }
    c[row * N + col] = sum;
}

/* ---- stages ---- */

/* DEPTH rows of B, 64 columns; zeros where it ends. */
template <typename T>
static __device__ __forceinline__ void load_b(T *bs, const T *b, int64_t k0,
                                              int64_t col0, int64_t N)
{
#pragma unroll 4
    for (int e = threadIdx.x; e < DEPTH * TILE; e += THREADS) {
        int64_t col = col0 + e % TILE;
        bs[e / TILE * B_PITCH + e % TILE] =
            col < N ? b[(k0 + e / TILE) * N + col] : T(0.0f);
    }
}

/* What is kept of 64 rows, with or without the zeros between, and its bits. */
template <typename T, bool SPARSE>
static __device__ __forceinline__ void
load_a(T *as, uint32_t *bits, const T *kept, const int *meta, int64_t k0,
       int64_t row0, int64_t M, int64_t K)
{
    for (int e = threadIdx.x; SPARSE && e < TILE; e += THREADS)
        bits[e] = row0 + e < M
                      ? static_cast<uint32_t>(
                            meta[((row0 + e) * K + k0) / LAB_SPARSE_WORD])
                      : 0x44444444u;
#pragma unroll 2
    for (int e = threadIdx.x; e < TILE * DEPTH / 4; e += THREADS) {
        const int down = e / (DEPTH / 4);
        const int four = e % (DEPTH / 4);
        const int64_t at = (row0 + down) * K + k0;
        T first = T(0.0f);
        T second = T(0.0f);
        if (row0 + down < M) {
            first = kept[at / 2 + 2 * four];
            second = kept[at / 2 + 2 * four + 1];
        }
        if (SPARSE) {
            as[down * KEPT_PITCH + 2 * four] = first;
            as[down * KEPT_PITCH + 2 * four + 1] = second;
        } else {
            uint32_t places = 0x4;
            if (row0 + down < M)
                places = static_cast<uint32_t>(meta[at / LAB_SPARSE_WORD]) >>
                         4 * four;
#pragma unroll
            for (int i = 0; i < 4; i++)
                as[down * A_PITCH + 4 * four + i] = (places & 3) == i ? first
                                                    : (places >> 2 & 3) == i
                                                        ? second
                                                        : T(0.0f);
        }
    }
}

/* ---- a warp's products ---- */

/* d (16, 8) += a b: a (16, 16) and b (16, 8), or 32 deep and a's two of four. */
#define SPARSE_MMA(T, TYPES)                                                   \
    static __device__ __forceinline__ void dense_add(                          \
        float(&d)[4], const uint32_t(&a)[4], uint32_t b0, uint32_t b1, T)      \
    {                                                                          \
        asm("mma.sync.aligned.m16n8k16.row.col." TYPES                         \
            " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                   \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));   \
    }                                                                          \
    static __device__ __forceinline__ void sparse_add(                         \
        float(&d)[4], const uint32_t(&a)[4], const uint32_t(&b)[4],            \
        uint32_t bits, T)                                                      \
    {                                                                          \
        asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col." TYPES    \
            " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, "        \
            "{%0, %1, %2, %3}, %12, 0x0;"                                      \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                   \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),           \
              "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(bits));                     \
    }
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
SPARSE_MMA(__nv_bfloat16, "f32.bf16.bf16.f32")
SPARSE_MMA(__half, "f32.f16.f16.f32")
#endif

/* Two neighbours of shared memory. */
template <typename T>
static __device__ __forceinline__ uint32_t two_of(const T *at)
{
    return *reinterpret_cast<const uint32_t *>(at);
}

template <typename T, bool SPARSE>
static __global__ void __launch_bounds__(THREADS)
    sparse_mma(T *c, const T *kept, const int *meta, const T *b, int64_t M,
               int64_t N, int64_t K)
{
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
    enum { PITCH = SPARSE ? KEPT_PITCH : A_PITCH };
    __shared__ __align__(16) T as[TILE * PITCH];
    __shared__ __align__(16) T bs[DEPTH * B_PITCH];
    __shared__ uint32_t bits[TILE];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int G = lane / 4;
    const int row = warp % 2 * 32; /* of this warp in the tile */
    const int col = warp / 2 * 32;
    int64_t row0;
    int64_t col0;
    lab_tile_start<TILE>(N, &row0, &col0);
    float sum[2][4][4] = {};
    for (int64_t k0 = 0; k0 < K; k0 += DEPTH) {
        load_a<T, SPARSE>(as, bits, kept, meta, k0, row0, M, K);
        load_b<T>(bs, b, k0, col0, N);
        __syncthreads();   /* the stage is there */
        uint32_t bv[4][4]; /* 8 columns each, the depth in four parts */
#pragma unroll
        for (int j = 0; j < 4; j++)
            load_matrix_turned(
                bv[j], shared_address(bs + lane * B_PITCH + col + 8 * j));
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const T *from = as + (row + 16 * i + G) * PITCH + lane % 4 * 2;
            if (SPARSE) {
                const uint32_t a[4] = {two_of(from), two_of(from + 8 * PITCH),
                                       two_of(from + 8),
                                       two_of(from + 8 * PITCH + 8)};
                /* Halves of two rows' words: the lower ones in even lanes, the
                 * upper ones in odd lanes. */
                const uint32_t places = __byte_perm(bits[row + 16 * i + G],
                                                    bits[row + 16 * i + G + 8],
                                                    lane % 2 ? 0x7632 : 0x5410);
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sparse_add(sum[i][j], a, bv[j], places, T());
            } else {
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    const T *at = from + 16 * k;
                    const uint32_t a[4] = {two_of(at), two_of(at + 8 * PITCH),
                                           two_of(at + 8),
                                           two_of(at + 8 * PITCH + 8)};
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        dense_add(sum[i][j], a, bv[j][2 * k], bv[j][2 * k + 1],
                                  T());
                }
            }
        }
        __syncthreads(); /* no thread needs it any more */
    }
#pragma unroll
    for (int e = 0; e < 32; e++) {
        int64_t r = row0 + row + e / 16 * 16 + e % 4 / 2 * 8 + G;
        int64_t at = col0 + col + e / 4 % 4 * 8 + lane % 4 * 2 + e % 2;
        if (r < M && at < N)
            c[r * N + at] = T(sum[e / 16][e / 4 % 4][e % 4]);
    }
#endif
}

/* ---- launchers ---- */

static unsigned blocks_of(const struct lab_call *call, int side)
{
    const struct lab_view *c = &call->out[0];
    return lab_tiles(c->dim[0], c->dim[1], side, side);
}

static enum lab_status skip(const struct lab_call *call)
{
    sparse_skip<<<blocks_of(call, SIDE), dim3(SIDE, SIDE), 0,
                  lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0),
        static_cast<const int *>(call->in[1].data), lab_in(call, 2),
        call->out[0].dim[0], call->out[0].dim[1], call->in[2].dim[0]);
    return lab_launched("sparse_skip");
}

template <typename T, bool SPARSE>
static enum lab_status launch(const struct lab_call *call)
{
    sparse_mma<T, SPARSE>
        <<<blocks_of(call, TILE), THREADS, 0, lab_stream(call)>>>(
            static_cast<T *>(call->out[0].data),
            static_cast<const T *>(call->in[0].data),
            static_cast<const int *>(call->in[1].data),
            static_cast<const T *>(call->in[2].data), call->out[0].dim[0],
            call->out[0].dim[1], call->in[2].dim[0]);
    return lab_launched("sparse_mma");
}

template <bool SPARSE> static enum lab_status mma(const struct lab_call *call)
{
    return call->in[0].dtype == LAB_BFLOAT16
               ? launch<__nv_bfloat16, SPARSE>(call)
               : launch<__half, SPARSE>(call);
}

/* ---- the vendor's library ---- */

const struct lab_cusparselt *lab_cusparselt;

/* Of the size that was prepared; one at a time. */
static struct lab_sparse_bytes stored;

static struct lab_sparse_product product_of(const struct lab_call *call)
{
    const struct lab_view *c = &call->out[0];
    return {call->in[0].dtype == LAB_BFLOAT16 ? LAB_CUBLAS_BF16
                                              : LAB_CUBLAS_F16,
            c->dim[0],
            c->dim[1],
            call->in[2].dim[0],
            call->in[0].data,
            static_cast<const int32_t *>(call->in[1].data),
            call->in[2].data,
            c->data};
}

static enum lab_status cusparselt_prepare(const struct lab_call *call)
{
    const struct lab_sparse_product of = product_of(call);
    return lab_cusparselt
               ? lab_cusparselt->prepare(call->exec, &of, &stored)
               : lab_fail(LAB_E_UNSUPPORTED,
                          "[launch.cusparselt-gpu] cuSPARSELt runs on a GPU");
}

static enum lab_status cusparselt(const struct lab_call *call)
{
    const struct lab_sparse_product of = product_of(call);
    return lab_cusparselt->product(call->exec, &of);
}

static enum lab_status cusparselt_release(const struct lab_call *call)
{
    (void)call;
    lab_cusparselt->release();
    return LAB_OK;
}

static void cusparselt_note(const struct lab_call *call,
                            struct lab_variant_note *out)
{
    (void)call;
    out->workspace_bytes = static_cast<int64_t>(stored.workspace);
    snprintf(out->text, sizeof(out->text),
             "A in %zu bytes, %.1f %% of those with its zeros",
             stored.compressed,
             100.0 * static_cast<double>(stored.compressed) /
                 static_cast<double>(stored.dense));
}

#define ROWS(PRECISION)                                                        \
    {.name = "mma",                                                            \
     .idea = "the tensor core, with the zeros",                                \
     .run = mma<false>,                                                        \
     .source = "kernels/gemm_sparse/gemm_sparse.cu",                           \
     .symbol = "sparse_mma",                                                   \
     .model = {},                                                              \
     .precision = PRECISION,                                                   \
     .capability = 80},                                                        \
        {.name = "mma_sp",                                                     \
         .idea = "without them: 16 x 8 x 32 an instruction, half of A",        \
         .run = mma<true>,                                                     \
         .source = "kernels/gemm_sparse/gemm_sparse.cu",                       \
         .symbol = "sparse_mma",                                               \
         .model = {},                                                          \
         .precision = PRECISION,                                               \
         .gain = 2,                                                            \
         .capability = 80},                                                    \
    {                                                                          \
        .name = "cusparselt", .idea = "the vendor's library",                  \
        .needs = "cuSPARSELt", .run = cusparselt,                              \
        .source = "kernels/gemm_sparse/gemm_sparse.cu",                        \
        .symbol = "cusparselt", .model = {.library = true},                    \
        .precision = PRECISION, .capability = 80,                              \
        .prepare = cusparselt_prepare, .release = cusparselt_release,          \
        .note = cusparselt_note                                                \
    }

extern const struct lab_variant lab_cuda_variants_gemm_sparse[] = {
    {.name = "skip",
     .idea = "a thread an element, over what is kept",
     .run = skip,
     .source = "kernels/gemm_sparse/gemm_sparse.cu",
     .symbol = "sparse_skip"},
    ROWS(LAB_BF16),
    ROWS(LAB_FP16),
    {},
};
