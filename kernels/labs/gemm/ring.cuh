/* kernels/labs/gemm/ring.cuh -- stages of a tile that come by themselves.
 *
 * cp.async copies from memory to shared memory past the registers: a thread
 * asks, goes on, and waits for it several stages later. STAGES of them are a
 * ring: one is read, the others are on their way. A needs turning, and a copy
 * moves its bytes as they are: so A comes 4 bytes at a time, each to its place
 * in the turned stage; eight lanes take 32 bytes of a row, and the 32 numbers
 * of a warp meet 32 banks. B comes 16 bytes at a time where rows start on them.
 *
 * Numbers outside of the matrices are zeros in shared memory (a copy of 0
 * bytes), so that no row has to start anywhere. Needs compute capability 8.0. */
#pragma once
#include <limits.h>
#include "labs/gemm/warp.cuh"

template <int BM, int BN, int DEPTH, int STAGES_, int BLOCKS_>
struct ring_shape : gemm_shape<BM, BN, DEPTH, 64, 64> {
    typedef gemm_shape<BM, BN, DEPTH, 64, 64> SHAPE;
    enum {
        STAGES = STAGES_,
        BLOCKS = BLOCKS_, /* of a multiprocessor */
        A_NUMBERS = DEPTH * SHAPE::A_ROW,
        STAGE = A_NUMBERS + DEPTH * SHAPE::B_ROW,
        BYTES = STAGES * STAGE * 4
    };
    static_assert(DEPTH % 8 == 0, "eight lanes have 32 bytes of a row of A");
    static_assert(BM % (SHAPE::THREADS / 8) == 0, "A divides evenly");
};

/* Copies 4 FLOATS bytes, or writes as many zeros. */
template <int FLOATS>
static __device__ __forceinline__ void ring_copy(float *to, const float *from,
                                                 bool inside)
{
#if __CUDA_ARCH__ >= 800
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    int bytes = inside ? 4 * FLOATS : 0;
    if (FLOATS == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at),
                     "l"(from), "r"(bytes));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at),
                     "l"(from), "r"(bytes));
#endif
}

/* What was asked for since the last call is one stage. */
static __device__ __forceinline__ void ring_commit()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
}

/* All stages have come but the LATER last ones. */
template <int LATER> static __device__ __forceinline__ void ring_wait()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER));
#endif
}

/* This thread's copies of a stage: A (row, k) with eight lanes along k, and B
 * (k, col) with the lanes along a row. */
template <class S, bool FOURS> struct ring_copies {
    enum {
        EACH = FOURS ? 4 : 1,
        A_STEP = S::THREADS / 8, /* rows of A that the block takes at once */
        A_ROWS = S::BM / A_STEP,
        ACROSS = S::BN / EACH, /* copies of a row of B */
        B_STEP = S::THREADS > ACROSS ? S::THREADS / ACROSS : 1,
        B_TURNS = ACROSS > S::THREADS ? ACROSS / S::THREADS : 1
    };
    const float *a;
    const float *b;
    int64_t a_step; /* in numbers, A_STEP rows */
    int64_t N;
    int k_left;       /* of the matrix, from the next stage on */
    unsigned a_rows;  /* bit i: row i of mine is inside */
    unsigned b_turns; /* bit i: column i of mine is inside */

    __device__ __forceinline__ void start(const float *A, const float *B,
                                          int row0, int col0, int k0, int M,
                                          int width, int K)
    {
        int row = row0 + threadIdx.x / 8;
        int col = col0 + threadIdx.x % ACROSS * EACH;
        N = width;
        a = A + static_cast<int64_t>(row) * K + k0 + threadIdx.x % 8;
        b = B + (k0 + threadIdx.x / ACROSS) * N + col;
        a_step = static_cast<int64_t>(A_STEP) * K;
        k_left = K - k0;
        a_rows = 0;
        b_turns = 0;
#pragma unroll
        for (int i = 0; i < A_ROWS; i++)
            a_rows |= (row + i * A_STEP < M ? 1u : 0u) << i;
#pragma unroll
        for (int i = 0; i < B_TURNS; i++)
            b_turns |= (col + i * S::THREADS * EACH < width ? 1u : 0u) << i;
    }

    __device__ __forceinline__ void ask_a(float *stage) const
    {
        const int k = threadIdx.x % 8;
        float *to = stage + k * S::A_ROW + threadIdx.x / 8;
#pragma unroll
        for (int deep = 0; deep < S::DEPTH; deep += 8) {
            unsigned inside = k + deep < k_left ? a_rows : 0;
            const float *from = a + deep;
#pragma unroll
            for (int i = 0; i < A_ROWS; i++) {
                ring_copy<1>(to + deep * S::A_ROW + i * A_STEP, from,
                             inside >> i & 1);
                from += a_step;
            }
        }
    }

    __device__ __forceinline__ void ask_b(float *stage) const
    {
        const int k = threadIdx.x / ACROSS;
        const float *from = b;
        float *to =
            stage + S::A_NUMBERS + k * S::B_ROW + threadIdx.x % ACROSS * EACH;
#pragma unroll
        for (int deep = 0; deep < S::DEPTH; deep += B_STEP) {
            unsigned inside = k + deep < k_left ? b_turns : 0;
#pragma unroll
            for (int i = 0; i < B_TURNS; i++)
                ring_copy<EACH>(to + deep * S::B_ROW + i * S::THREADS * EACH,
                                from + i * S::THREADS * EACH, inside >> i & 1);
            from += B_STEP * N;
        }
    }

    /* Asks for the next stage, if `more`, into `stage`. */
    __device__ __forceinline__ void ask(float *stage, bool more)
    {
        if (more) {
            ask_a(stage);
            ask_b(stage);
            a += S::DEPTH;
            b += S::DEPTH * N;
            k_left -= S::DEPTH;
        }
        ring_commit(); /* an empty one too: stages are counted */
    }
};

/* The numbers of A and B that a thread needs for one k. */
template <class S> struct ring_numbers {
    float a[S::TM];
    float b[S::TN];

    __device__ __forceinline__ void read(const float *stage, int k, int row,
                                         int col)
    {
        const float *as = stage + k * S::A_ROW + row;
        const float *bs = stage + S::A_NUMBERS + k * S::B_ROW + col;
#pragma unroll
        for (int u = 0; u < S::TM; u += 4)
            gemm_read4(a + u, as + u * 8);
#pragma unroll
        for (int v = 0; v < S::TN; v += 4)
            gemm_read4(b + v, bs + v * 4);
    }
};

/* Adds `steps` stages to `mine`, from those that `copies` points to on. The
 * numbers of the next k are read before those of this one are used; `ring` is
 * free to be written, and has been read by all threads at the end. */
template <class S, class COPIES>
static __device__ __forceinline__ void
ring_add(gemm_sums<S> &mine, COPIES &copies, float *ring, int steps)
{
    ring_numbers<S> numbers[2];
    int now = 0;
    int to = S::STAGES - 1;
#pragma unroll
    for (int i = 0; i < S::STAGES - 1; i++)
        copies.ask(ring + i * S::STAGE, i < steps);
    ring_wait<S::STAGES - 2>();
    __syncthreads();
    numbers[0].read(ring, 0, mine.row, mine.col);
    for (int step = 0; step < steps; step++) {
        const float *stage = ring + now * S::STAGE;
        now = now + 1 == S::STAGES ? 0 : now + 1;
#pragma unroll
        for (int k = 0; k < S::DEPTH; k++) {
            if (k + 1 == S::DEPTH) { /* the next stage has come */
                ring_wait<S::STAGES - 2>();
                __syncthreads();
                stage = ring + now * S::STAGE;
            }
            numbers[(k + 1) % 2].read(stage, (k + 1) % S::DEPTH, mine.row,
                                      mine.col);
            if (k == 0)
                copies.ask(ring + to * S::STAGE, step + S::STAGES - 1 < steps);
#pragma unroll
            for (int u = 0; u < S::TM; u++)
#pragma unroll
                for (int v = 0; v < S::TN; v++)
                    mine.sum[u][v] += numbers[k % 2].a[u] * numbers[k % 2].b[v];
        }
        to = to + 1 == S::STAGES ? 0 : to + 1;
    }
    ring_wait<0>();
    __syncthreads();
}

/* Lets `kernel` have its shared memory; sides are 32 bits. */
template <class S, typename KERNEL>
static inline enum lab_status ring_ready(const struct gemm_call *g,
                                         KERNEL *kernel)
{
    if (g->M > INT_MAX - S::BM || g->N > INT_MAX - S::BN ||
        g->K > INT_MAX - S::DEPTH)
        return lab_fail(LAB_E_RANGE, "a side is more than 31 bits");
    cudaError_t err = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::BYTES);
    return err == cudaSuccess
               ? LAB_OK
               : lab_fail(LAB_E_DEVICE, "%d bytes of shared memory: %s",
                          static_cast<int>(S::BYTES), cudaGetErrorString(err));
}
