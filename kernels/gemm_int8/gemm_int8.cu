/* kernels/gemm_int8/gemm_int8.cu -- C = scale[n] A W^T of 8-bit numbers.
 *
 * bytes      thread -> element of C; each word of A and W is taken apart, and each
 *            byte is multiplied by itself. 8 bits save memory, not work: more
 *            instructions than a product of floats needs.
 * dp4a       the same threads: one instruction multiplies four pairs of bytes and
 *            adds the products to a whole number (compute capability 6.1).
 * dp4a_tile  a block of 16 x 16 threads makes 64 x 64: a stage of 64 numbers of
 *            64 rows of both in shared memory, and a thread 4 x 4 elements, 16 rows
 *            and columns apart. A row in shared memory has a word more, so that the
 *            16 columns of a read meet in no bank.
 * imma       the tensor core: a warp multiplies 16 x 32 by 32 x 8 with one
 *            instruction, mma.m16n8k32 (compute capability 8.0). Four warps make
 *            64 x 64, each of them 32 x 32. Both operands lie with the depth side
 *            by side, as the instruction wants them: nothing is transposed. With
 *            rows of 20 words the 32 lanes of a read meet in no bank.
 * cublas     the vendor's library makes the sums in 32 bits; a second kernel scales
 *            them, 8 bytes an element more.
 * cublaslt   the same by cuBLASLt: the fastest of the algorithms that it names.
 *
 * What limits: bytes and dp4a by the sectors that they ask for (lanes of a warp
 * read rows of W that are far apart), dp4a_tile by its instructions, imma here by
 * waiting for its stages, which come while nothing is multiplied. */
#include <stdio.h>

#include "common/half.cuh"
#include "common/tiles.cuh"
#include "gemm_int8/gemm_int8.h"
#include "library/cublas_exec.h"

enum { SIDE = 16, TILE = 64, STAGE = 16, IMMA_THREADS = 128, IMMA_PITCH = 20 };

/* ---- a thread an element ---- */

static __device__ __forceinline__ int int8_products(int a, int w, int sum)
{
#pragma unroll
    for (int b = 0; b < 4; b++)
        sum += lab_int8_of(a, b) * lab_int8_of(w, b);
    return sum;
}

template <bool DP4A> static __global__ void int8_element(struct lab_gemm_int8 g)
{
    int64_t row;
    int64_t col;
    lab_tile_start<SIDE>(g.N, &row, &col);
    row += threadIdx.y;
    col += threadIdx.x;
    if (row >= g.M || col >= g.N)
        return;
    const int *a = g.a + row * g.words;
    const int *w = g.w + col * g.words;
    int sum = 0;
    for (int64_t k = 0; k < g.words; k++)
        sum = DP4A ? __dp4a(a[k], w[k], sum) : int8_products(a[k], w[k], sum);
    g.c[row * g.N + col] = static_cast<float>(sum) * g.scale[col];
}

/* ---- tiles ---- */

/* STAGE words, from word k0 on, of TILE rows of a matrix; 0 where it ends. */
template <int THREADS, int PITCH>
static __device__ __forceinline__ void
int8_stage(int (&to)[TILE * PITCH], const int *from, int64_t row0, int64_t k0,
           int64_t rows, int64_t words, int thread)
{
#pragma unroll
    for (int e = thread; e < TILE * STAGE; e += THREADS) {
        int64_t row = row0 + e / STAGE;
        int64_t k = k0 + e % STAGE;
        to[e / STAGE * PITCH + e % STAGE] =
            row < rows && k < words ? from[row * words + k] : 0;
    }
}

static __global__ void __launch_bounds__(SIDE *SIDE)
    int8_dp4a_tile(struct lab_gemm_int8 g)
{
    enum { PITCH = STAGE + 1, EACH = TILE / SIDE };
    __shared__ int as[TILE * PITCH];
    __shared__ int ws[TILE * PITCH];
    const int x = threadIdx.x % SIDE;
    const int y = threadIdx.x / SIDE;
    int64_t row0;
    int64_t col0;
    lab_tile_start<TILE>(g.N, &row0, &col0);
    int sum[EACH][EACH] = {};
    for (int64_t k0 = 0; k0 < g.words; k0 += STAGE) {
        int8_stage<SIDE * SIDE, PITCH>(as, g.a, row0, k0, g.M, g.words,
                                       threadIdx.x);
        int8_stage<SIDE * SIDE, PITCH>(ws, g.w, col0, k0, g.N, g.words,
                                       threadIdx.x);
        __syncthreads(); /* both stages are there */
#pragma unroll 4
        for (int k = 0; k < STAGE; k++) {
            int w[EACH];
#pragma unroll
            for (int j = 0; j < EACH; j++)
                w[j] = ws[(x + j * SIDE) * PITCH + k];
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                int a = as[(y + i * SIDE) * PITCH + k];
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sum[i][j] = __dp4a(a, w[j], sum[i][j]);
            }
        }
        __syncthreads(); /* no thread needs them any more */
    }
#pragma unroll
    for (int e = 0; e < EACH * EACH; e++) {
        int64_t row = row0 + y + e / EACH * SIDE;
        int64_t col = col0 + x + e % EACH * SIDE;
        if (row < g.M && col < g.N)
            g.c[row * g.N + col] =
                static_cast<float>(sum[e / EACH][e % EACH]) * g.scale[col];
    }
}

/* ---- tensor cores ---- */

/* d (16, 8) += a (16, 32) b (32, 8): lane 4 G + T has words T and T + 4 of rows G
 * and G + 8 of a, of column G of b, and columns 2 T and 2 T + 1 of those rows of d. */
static __device__ __forceinline__ void imma_add(int (&d)[4], const int (&a)[4],
                                                const int (&b)[2])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __global__ void __launch_bounds__(IMMA_THREADS)
    int8_imma(struct lab_gemm_int8 g)
{
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
    __shared__ int as[TILE * IMMA_PITCH];
    __shared__ int ws[TILE * IMMA_PITCH];
    const int warp = threadIdx.x / 32;
    const int G = threadIdx.x % 32 / 4;
    const int T = threadIdx.x % 4;
    const int row = warp % 2 * 32; /* of this warp in the tile */
    const int col = warp / 2 * 32;
    int64_t row0;
    int64_t col0;
    lab_tile_start<TILE>(g.N, &row0, &col0);
    int sum[2][4][4] = {};
    for (int64_t k0 = 0; k0 < g.words; k0 += STAGE) {
        int8_stage<IMMA_THREADS, IMMA_PITCH>(as, g.a, row0, k0, g.M, g.words,
                                             threadIdx.x);
        int8_stage<IMMA_THREADS, IMMA_PITCH>(ws, g.w, col0, k0, g.N, g.words,
                                             threadIdx.x);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < STAGE; k += 8) {
            int a[2][4];
            int b[4][2];
#pragma unroll
            for (int e = 0; e < 8; e++)
                a[e / 4][e % 4] =
                    as[(row + e / 4 * 16 + e % 2 * 8 + G) * IMMA_PITCH + k +
                       e % 4 / 2 * 4 + T];
#pragma unroll
            for (int e = 0; e < 8; e++)
                b[e / 2][e % 2] =
                    ws[(col + e / 2 * 8 + G) * IMMA_PITCH + k + e % 2 * 4 + T];
#pragma unroll
            for (int e = 0; e < 8; e++)
                imma_add(sum[e / 4][e % 4], a[e / 4], b[e % 4]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < 32; e++) {
        int64_t r = row0 + row + e / 16 * 16 + e % 4 / 2 * 8 + G;
        int64_t c = col0 + col + e / 4 % 4 * 8 + 2 * T + e % 2;
        if (r < g.M && c < g.N)
            g.c[r * g.N + c] =
                static_cast<float>(sum[e / 16][e / 4 % 4][e % 4]) * g.scale[c];
    }
#endif
}

/* ---- launchers ---- */

static enum lab_status bytes(const struct lab_call *call)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    int8_element<false><<<lab_tiles(g.M, g.N, SIDE, SIDE), dim3(SIDE, SIDE), 0,
                          lab_stream(call)>>>(g);
    return lab_launched("int8_element");
}

static enum lab_status dp4a(const struct lab_call *call)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    int8_element<true><<<lab_tiles(g.M, g.N, SIDE, SIDE), dim3(SIDE, SIDE), 0,
                         lab_stream(call)>>>(g);
    return lab_launched("int8_element");
}

static enum lab_status dp4a_tile(const struct lab_call *call)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    int8_dp4a_tile<<<lab_tiles(g.M, g.N, TILE, TILE), SIDE * SIDE, 0,
                     lab_stream(call)>>>(g);
    return lab_launched("int8_dp4a_tile");
}

static enum lab_status imma(const struct lab_call *call)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    int8_imma<<<lab_tiles(g.M, g.N, TILE, TILE), IMMA_THREADS, 0,
                lab_stream(call)>>>(g);
    return lab_launched("int8_imma");
}

/* A row of sums has `pitch` of them. */
static __global__ void int8_scale(struct lab_gemm_int8 g, const int *sums,
                                  int64_t pitch)
{
    int64_t i = lab_element();
    if (i < g.M * g.N)
        g.c[i] = static_cast<float>(sums[i / g.N * pitch + i % g.N]) *
                 g.scale[i % g.N];
}

static enum lab_status scaled(const struct lab_call *call, const int *sums,
                              int64_t pitch)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    int8_scale<<<lab_blocks(g.M * g.N), LAB_BLOCK, 0, lab_stream(call)>>>(
        g, sums, pitch);
    return lab_launched("int8_scale");
}

/* Row-major sums = A W^T is column-major sums^T = W A^T: W's rows are columns there,
 * and transposed. */
static enum lab_status cublas(const struct lab_call *call)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    const struct lab_cublas *blas = call->exec->cublas;
    const int64_t sides[] = {g.M, g.N, 4 * g.words};
    const int one = 1;
    const int zero = 0;
    enum lab_status st = lab_cublas_ask(blas, sides, 3);
    if (st)
        return st;
    const int n = static_cast<int>(g.N);
    const int k = static_cast<int>(4 * g.words);
    int status = blas->gemm_ex(
        blas->handle, LAB_CUBLAS_T, LAB_CUBLAS_N, n, static_cast<int>(g.M), k,
        &one, g.w, LAB_CUBLAS_I8, k, g.a, LAB_CUBLAS_I8, k, &zero, g.sums,
        LAB_CUBLAS_I32, n, LAB_CUBLAS_COMPUTE_I32, -1);
    st = lab_cublas_judge(blas, status, "gemm_ex");
    return st ? st : scaled(call, g.sums, g.N);
}

/* ---- cuBLASLt ---- */

/* The one of the size that was prepared; one at a time, as labs are. */
static struct {
    struct lab_gemm_int8 of;
    struct lab_lt_choice algorithm; /* tried 0: none was found */
} lt_prepared;

static struct lab_lt_product lt_of(const int *w, const int *a, int *sums,
                                   int64_t N, int64_t M, int64_t words)
{
    return {LAB_CUBLAS_I8,
            LAB_CUBLAS_COMPUTE_I32,
            static_cast<int>(N),
            static_cast<int>(M),
            static_cast<int>(4 * words),
            w,
            a,
            sums,
            true};
}

static __global__ void int8_widen(int *to, const int *from, int64_t rows,
                                  int64_t words, int64_t wide, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        to[i] = i / wide < rows && i % wide < words
                    ? from[i / wide * words + i % wide]
                    : 0;
}

static void widen(const struct lab_call *call, int *to, const int *from,
                  int64_t rows, int64_t words, int64_t wide, int64_t count)
{
    int8_widen<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        to, from, rows, words, wide, count);
}

static int64_t up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* The library's kernels want filters in fours, and some of them rows of 16 bytes and
 * more than 16 columns: what it refuses is copied into zeros, at the start of the
 * workspace, and what is left of that is the library's. */
static enum lab_status lt_wide(const struct lab_call *call)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    const int64_t M = up(g.M, 32);
    const int64_t N = up(g.N, 32);
    const int64_t words = up(g.words, 8);
    const int64_t need = 4 * ((M + N) * words + M * N);
    struct lab_exec exec = *call->exec;
    int *w = static_cast<int *>(exec.workspace);
    int *a = w + N * words;
    int *sums = a + M * words;
    if (need > static_cast<int64_t>(exec.workspace_bytes))
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.cublaslt-room] cuBLASLt has no algorithm for "
                        "this size here, and with sides of 32 the copies "
                        "take %lld bytes: the workspace has %zu",
                        static_cast<long long>(need), exec.workspace_bytes);
    exec.workspace = sums + M * N;
    exec.workspace_bytes -= static_cast<size_t>(need);
    widen(call, w, g.w, g.N, g.words, words, N * words);
    widen(call, a, g.a, g.M, g.words, words, M * words);
    enum lab_status st = lab_launched("int8_widen");
    if (st)
        return st;
    const struct lab_lt_product of = lt_of(w, a, sums, N, M, words);
    int status = exec.cublas->lt_product(&exec, &of, NULL);
    if (status)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.cublaslt] cuBLASLt has no algorithm for this "
                        "size here (status %d)",
                        status);
    return scaled(call, sums, N);
}

static enum lab_status lt_ask(const struct lab_call *call,
                              struct lab_lt_product *out)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    const int64_t sides[] = {up(g.M, 32), up(g.N, 32), 4 * up(g.words, 8)};
    enum lab_status st = lab_cublas_ask(call->exec->cublas, sides, 3);
    if (!st)
        *out = lt_of(g.w, g.a, g.sums, g.N, g.M, g.words);
    return st;
}

static enum lab_status cublaslt(const struct lab_call *call)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    struct lab_lt_product of;
    enum lab_status st = lt_ask(call, &of);
    if (st)
        return st;
    const bool ready = lt_prepared.algorithm.tried > 0 &&
                       lt_prepared.of.M == g.M && lt_prepared.of.N == g.N &&
                       lt_prepared.of.words == g.words;
    int status =
        g.N % 4 ? 1
                : call->exec->cublas->lt_product(
                      call->exec, &of, ready ? &lt_prepared.algorithm : NULL);
    return status ? lt_wide(call) : scaled(call, g.sums, g.N);
}

static enum lab_status cublaslt_prepare(const struct lab_call *call)
{
    struct lab_lt_product of;
    enum lab_status st = lt_ask(call, &of);
    if (st)
        return st;
    lt_prepared.of = lab_gemm_int8_of(call);
    lt_prepared.algorithm = {};
    if (of.m % 4 == 0 &&
        call->exec->cublas->lt_find(call->exec, &of, &lt_prepared.algorithm))
        lt_prepared.algorithm = {};
    return lt_prepared.algorithm.tried > 0 ? LAB_OK : lt_wide(call);
}

static void cublaslt_note(const struct lab_call *call,
                          struct lab_variant_note *out)
{
    (void)call;
    const struct lab_lt_choice *c = &lt_prepared.algorithm;
    out->workspace_bytes = static_cast<int64_t>(c->workspace_bytes);
    if (c->tried > 0)
        snprintf(out->text, sizeof(out->text),
                 "the fastest of %d was number %d of the heuristic's list",
                 c->tried, c->place);
    else
        snprintf(out->text, sizeof(out->text),
                 "sides filled with zeros up to multiples of 32");
}

#define SOURCE "kernels/gemm_int8/gemm_int8.cu"

extern const struct lab_variant lab_cuda_variants_gemm_int8[] = {
    {.name = "bytes",
     .idea = "a thread an element, byte by byte",
     .run = bytes,
     .source = SOURCE,
     .symbol = "int8_element"},
    {.name = "dp4a",
     .idea = "four products of bytes an instruction",
     .run = dp4a,
     .source = SOURCE,
     .symbol = "int8_element"},
    {.name = "dp4a_tile",
     .idea = "tiles in shared memory, 4 x 4 elements a thread",
     .run = dp4a_tile,
     .source = SOURCE,
     .symbol = "int8_dp4a_tile"},
    {.name = "imma",
     .idea = "the tensor core: 16 x 8 x 32 an instruction of a warp",
     .run = imma,
     .source = SOURCE,
     .symbol = "int8_imma",
     .model = {},
     .capability = 80},
    {.name = "cublas",
     .idea = "the vendor's library, and a kernel that scales",
     .needs = "cuBLAS",
     .run = cublas,
     .source = SOURCE,
     .symbol = "int8_scale",
     .model = {.library = true},
     .capability = 75,
     .scratch = true},
    {.name = "cublaslt",
     .idea = "the fastest that cuBLASLt names, and a kernel that scales",
     .needs = "cuBLAS",
     .run = cublaslt,
     .source = SOURCE,
     .symbol = "cublaslt",
     .model = {.library = true},
     .capability = 75,
     .prepare = cublaslt_prepare,
     .note = cublaslt_note,
     .scratch = true},
    {},
};
