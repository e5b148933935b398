/* kernels/gemv/variants.cu -- the CUDA variants. plain: a piece of 32 bytes for
 * each number of 4, where the caches do not keep it for the next seven. */
#include "gemv/gemv.h"
#include "common/kernel.h"

#define VARIANT(name_, run_, idea_, traffic_)                                  \
    {                                                                          \
        .name = name_, .idea = idea_, .run = run_,                             \
        .source = "kernels/gemv/gemv.cu", .model = {.traffic = traffic_},      \
    }

extern const struct lab_variant lab_cuda_variants_gemv[] = {
    VARIANT("plain", lab_gemv_plain, "a thread a row", 8),
    VARIANT("warp", lab_gemv_warp, "a warp a row: whole lines", 1),
    VARIANT("fours", lab_gemv_fours, "16 bytes a load, four on their way", 1),
    VARIANT("block", lab_gemv_block, "a block a row: for few long rows", 1),
    {.name = "cublas",
     .idea = "the vendor's library",
     .needs = "cuBLAS",
     .run = lab_gemv_cublas,
     .source = "kernels/gemv/cublas.cu",
     .model = {.library = true}},
    {},
};
