/* kernels/gemm/mma.cu -- the tensor core's own instruction, and copies that
 * run by themselves.
 *
 * The idea: mma.sync names its registers, so nothing has to be guessed. ldmatrix
 * fills them, four matrices of 8 x 8 at a time, and turns B on the way; a
 * swizzle instead of padding keeps every read free of bank conflicts; cp.async
 * moves 16 bytes from global to shared memory past the registers, and three
 * stages in turn keep two on their way while one is used (mma.cuh).
 * Thread -> element: 8 warps make 128 x 256, each of them 64 x 64: of 8 reads of
 * 16 x 16 numbers 32 products m16n8k16 are made (tf32: m16n8k8).
 * Memory: blocks go down GROUP tiles, then one to the right, so that what runs
 * at the same time shares its rows and columns in L2.
 * Its price: 144 KiB of shared memory and 250 registers a thread, one block for
 * a multiprocessor; and the instruction waits for its operands to be read from
 * registers: on Hopper it reaches some six tenths of what wgmma does. */
#include "gemm/gemm.cuh"
#include "gemm/mma.cuh"
#include "labs/lab.cuh"

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
