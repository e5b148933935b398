/* kernels/gemm/wmma.cu -- the tensor core, by the compiler's own words.
 *
 * The idea: a warp asks for a product of 16 x 16 matrices as one thing
 * (nvcuda::wmma): D = A B + C, sums in fp32. Which lane holds which number is
 * the compiler's affair. Everything around it is as in the variant `tile`: a stage
 * of both matrices in shared memory, a barrier, the products, a barrier.
 * Thread -> element: 8 warps make 128 x 128, each 64 x 32 in 4 x 2 fragments.
 * Memory: 16 bytes a load, lines of 128 bytes of A. Rows in shared memory are 16
 * bytes longer than what they hold, so that rows below each other start in other
 * banks.
 * Its price: as it is not known where a fragment's numbers are, the result goes
 * through shared memory to be rounded and cut at the matrix's end; and while a
 * stage is fetched nothing is multiplied. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include "gemm/gemm.cuh"

enum { BM = 128, BN = 128, THREADS = 256, PATCH = 20, GROUP = 16 };

/* ROWS x COLS numbers from (row0, col0) on; zeros outside. */
template <typename T, int ROWS, int COLS, int PITCH, bool FOURS>
static __device__ __forceinline__ void load_tile(T *to, const T *from,
                                                 int64_t row0, int64_t col0,
                                                 int64_t rows, int64_t cols)
{
    enum { EACH = 16 / sizeof(T), ACROSS = COLS / EACH };
#pragma unroll
    for (int e = threadIdx.x; e < ROWS * ACROSS; e += THREADS) {
        int64_t row = row0 + e / ACROSS;
        int64_t col = col0 + e % ACROSS * EACH;
        T *place = to + e / ACROSS * PITCH + e % ACROSS * EACH;
        __align__(16) T v[EACH] = {};
        if (FOURS && row < rows && col < cols)
            *reinterpret_cast<uint4 *>(v) =
                *reinterpret_cast<const uint4 *>(from + row * cols + col);
#pragma unroll
        for (int i = 0; i < EACH && !FOURS; i++)
            if (row < rows && col + i < cols)
                v[i] = from[row * cols + col + i];
        *reinterpret_cast<uint4 *>(place) = *reinterpret_cast<const uint4 *>(v);
    }
}

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
template <typename T> struct part {
    typedef T number;
    enum { DEPTH = 16 };
};
template <> struct part<float> {
    typedef nvcuda::wmma::precision::tf32 number;
    enum { DEPTH = 8 };
};

template <typename T>
using sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16,
                                    part<T>::DEPTH, float>;

/* A fragment, rounded to tf32 if its numbers are fp32. */
template <typename T, typename F>
static __device__ __forceinline__ void load(F &f, const T *from, int pitch)
{
    nvcuda::wmma::load_matrix_sync(f, from, pitch);
    if constexpr (sizeof(T) == 4) {
#pragma unroll
        for (int e = 0; e < f.num_elements; e++)
            f.x[e] = nvcuda::wmma::__float_to_tf32(f.x[e]);
    }
}

/* One depth of the products: 64 rows of A from `a` on, 32 columns of B. */
template <typename T, int A_PITCH, int B_PITCH>
static __device__ __forceinline__ void add(sums<T> (&sum)[4][2], const T *a,
                                           const T *b)
{
    using namespace nvcuda::wmma;
    enum { K = part<T>::DEPTH };
    typedef typename part<T>::number number;
    fragment<matrix_a, 16, 16, K, number, row_major> av[4];
    fragment<matrix_b, 16, 16, K, number, row_major> bv[2];
#pragma unroll
    for (int i = 0; i < 4; i++)
        load<T>(av[i], a + 16 * i * A_PITCH, A_PITCH);
#pragma unroll
    for (int j = 0; j < 2; j++)
        load<T>(bv[j], b + 16 * j, B_PITCH);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 2; j++)
            mma_sync(sum[i][j], av[i], bv[j], sum[i][j]);
}

/* A fragment to C, by way of this warp's patch of shared memory. */
template <typename T>
static __device__ __forceinline__ void write(T *c, float *patch,
                                             const sums<T> &sum, int64_t row0,
                                             int64_t col0, int64_t M, int64_t N)
{
    nvcuda::wmma::store_matrix_sync(patch, sum, PATCH,
                                    nvcuda::wmma::mem_row_major);
    __syncwarp();
    for (int e = threadIdx.x % 32; e < 256; e += 32) {
        int64_t row = row0 + e / 16;
        int64_t col = col0 + e % 16;
        if (row < M && col < N)
            c[row * N + col] = T(patch[e / 16 * PATCH + e % 16]);
    }
    __syncwarp();
}
#endif

template <typename T, bool FOURS>
static __global__ void __launch_bounds__(THREADS)
    gemm_wmma(T *c, const T *a, const T *b, int64_t M, int64_t N, int64_t K)
{
#if __CUDA_ARCH__ >= 800
    enum { DEPTH = 128 / sizeof(T), PAD = 16 / sizeof(T) };
    enum { A_PITCH = DEPTH + PAD, B_PITCH = BN + PAD };
    __shared__ __align__(32) T as[BM * A_PITCH];
    __shared__ __align__(32) T bs[DEPTH * B_PITCH];
    __shared__ __align__(32) float patch[8][16 * PATCH];
    const int warp = threadIdx.x / 32;
    const int row = warp % 2 * 64;
    const int col = warp / 2 * 32;
    int64_t row0;
    int64_t col0;
    sums<T> sum[4][2];
    gemm_band_place<BM, BN, GROUP>(M, N, &row0, &col0);
#pragma unroll
    for (int i = 0; i < 8; i++)
        nvcuda::wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int64_t k0 = 0; k0 < K; k0 += DEPTH) {
        load_tile<T, BM, DEPTH, A_PITCH, FOURS>(as, a, row0, k0, M, K);
        load_tile<T, DEPTH, BN, B_PITCH, FOURS>(bs, b, k0, col0, K, N);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k += part<T>::DEPTH)
            add<T, A_PITCH, B_PITCH>(sum, as + row * A_PITCH + k,
                                     bs + k * B_PITCH + col);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        write<T>(c, patch[warp], sum[i / 2][i % 2], row0 + row + i / 2 * 16,
                 col0 + col + i % 2 * 16, M, N);
#endif
}

template <typename T> static enum lab_status launch(const struct lab_call *call)
{
    const int64_t M = call->in[0].dim[0];
    const int64_t K = call->in[0].dim[1];
    const int64_t N = call->in[1].dim[1];
    const int64_t each = 16 / sizeof(T);
    const unsigned blocks =
        lab_blocks((M + BM - 1) / BM * ((N + BN - 1) / BN), 1);
    T *c = static_cast<T *>(call->out[0].data);
    const T *a = static_cast<const T *>(call->in[0].data);
    const T *b = static_cast<const T *>(call->in[1].data);
    if (N % each == 0 && K % each == 0)
        gemm_wmma<T, true>
            <<<blocks, THREADS, 0, lab_stream(call)>>>(c, a, b, M, N, K);
    else
        gemm_wmma<T, false>
            <<<blocks, THREADS, 0, lab_stream(call)>>>(c, a, b, M, N, K);
    return lab_launched("gemm_wmma");
}

enum lab_status lab_gemm_wmma(const struct lab_call *call)
{
    if (call->in[0].dtype == LAB_BFLOAT16)
        return launch<__nv_bfloat16>(call);
    return call->in[0].dtype == LAB_F16 ? launch<__half>(call)
                                        : launch<float>(call);
}
