/* kernels/batched_gemm/variants.cu -- the CUDA variants. The model knows the work
 * of a multiprocessor and no launches: it promises the same for looped, streams
 * and blocks, and what is missing is launching. Four multiply-adds read two
 * numbers of A, the same for half a warp, and two of B. */
#include "batched_gemm/batched.h"
#include "common/kernel.h"

#define OWN(name_, idea_, run_, ...)                                           \
    {                                                                          \
        .name = name_, .idea = idea_, .run = run_,                             \
        .source = "kernels/batched_gemm/batched.cu",                           \
        .model = {.traffic = 1, .accesses = 1, .instructions = 2}, __VA_ARGS__ \
    }
#define CUBLAS(name_, idea_, run_, note_)                                      \
    {                                                                          \
        .name = name_, .idea = idea_, .needs = "cuBLAS", .run = run_,          \
        .source = "kernels/batched_gemm/cublas.cu",                            \
        .model = {.library = true}, .note = note_                              \
    }

extern const struct lab_variant lab_cuda_variants_batched_gemm[] = {
    OWN("looped", "one launch a product", lab_batched_looped,
        .note = lab_batched_note_loop),
    OWN("streams", "the launches on 8 streams", lab_batched_streams,
        .prepare = lab_batched_streams_make,
        .release = lab_batched_streams_free, .note = lab_batched_note_loop),
    OWN("blocks", "one launch: a block knows its product", lab_batched_blocks,
        .note = lab_batched_note),
    CUBLAS("cublas_looped", "cublasSgemm, once a product",
           lab_batched_cublas_looped, lab_batched_note_loop),
    CUBLAS("cublas_batched", "cublasSgemmBatched: arrays of addresses",
           lab_batched_cublas, lab_batched_note),
    CUBLAS("cublas_strided", "cublasSgemmStridedBatched: even distances",
           lab_batched_strided, lab_batched_note),
    {},
};
