/* kernels/conv2d/variants.cu -- the CUDA variants of the convolution and of its
 * gradients: our own, then each of cuDNN's algorithms, then its math types.
 *
 * The figures of a model are counted from a kernel's inner loop. direct: two
 * loads, the multiply-add, two comparisons and an address; block of the filter's
 * gradient two comparisons more. tile and kernels: the
 * image's number, then a load and a multiply-add for each kernel. The products
 * are those of the lab gemm. Channels last: 32 pieces of w and one of x a
 * multiply-add. */
#include "conv2d/conv.cuh"
#include "conv2d/cudnn.cuh"

#define OWN(name_, run_, idea_, file_, accesses_, instructions_)               \
    {                                                                          \
        .name = name_, .idea = idea_, .run = run_,                             \
        .source = "kernels/conv2d/" file_,                                     \
        .model = {.traffic = 1,                                                \
                  .accesses = accesses_,                                       \
                  .instructions = instructions_},                              \
    }

extern const struct lab_variant lab_cuda_variants_conv[] = {
    OWN("direct", lab_conv_direct, "a thread for each element of y",
        "direct.cu", 2, 6),
    OWN("tile", lab_conv_tile, "a piece of the image in shared memory",
        "tile.cu", 2, 3),
    OWN("kernels", lab_conv_kernels, "a thread makes its element for 8 kernels",
        "tile.cu", 9.0 / 8, 1 + 9.0 / 8),
    {.name = "im2col",
     .idea = "the windows laid out, then the product of gemm's double",
     .run = lab_conv_im2col,
     .source = "kernels/conv2d/im2col.cu",
     .model = {.traffic = 1,
               .accesses = 8.0 / 64,
               .instructions = 1 + 4.0 / 64},
     .note = lab_conv_im2col_note,
     .scratch = true},
    OWN("implicit", lab_conv_implicit,
        "the product without its matrix in memory", "implicit.cu", 8.0 / 64,
        1 + 4.0 / 64),
    CONV_CUDNN("cudnn_gemm", "windows laid out, then a product", LAB_FP32,
               LAB_CONV_GEMM),
    CONV_CUDNN("cudnn_implicit_gemm", "the matrix is never laid out", LAB_FP32,
               LAB_CONV_IMPLICIT_GEMM),
    CONV_CUDNN("cudnn_precomp_gemm", "its places are computed beforehand",
               LAB_FP32, LAB_CONV_PRECOMP_GEMM),
    CONV_CUDNN("cudnn_direct", "a name in cuDNN's list", LAB_FP32,
               LAB_CONV_DIRECT),
    CONV_CUDNN("cudnn_fft", "products of Fourier transforms", LAB_FP32,
               LAB_CONV_FFT),
    CONV_CUDNN("cudnn_fft_tiling", "transforms of tiles of 32 x 32", LAB_FP32,
               LAB_CONV_FFT_TILING),
    CONV_CUDNN("cudnn_winograd", "fewer multiplications, one kernel", LAB_FP32,
               LAB_CONV_WINOGRAD),
    CONV_CUDNN("cudnn_winograd_nonfused", "the same in several kernels",
               LAB_FP32, LAB_CONV_WINOGRAD_NONFUSED),
    CONV_CUDNN("default_math", "precomp_gemm, CUDNN_DEFAULT_MATH", LAB_TF32,
               LAB_CONV_PRECOMP_GEMM, LAB_MATH_DEFAULT),
    CONV_CUDNN("tensor_op", "precomp_gemm, CUDNN_TENSOR_OP_MATH", LAB_TF32,
               LAB_CONV_PRECOMP_GEMM, LAB_MATH_TENSOR_OP),
    CONV_CUDNN("conversion", "precomp_gemm, conversion to FP16 allowed",
               LAB_TF32, LAB_CONV_PRECOMP_GEMM, LAB_MATH_CONVERSION),
    CONV_CUDNN("nonfused_tensor_op", "winograd_nonfused, CUDNN_TENSOR_OP_MATH",
               LAB_TF32, LAB_CONV_WINOGRAD_NONFUSED, LAB_MATH_TENSOR_OP),
    {.name = "turned",
     .idea = "to NHWC, convolved, and back: three transposes",
     .needs = "cuDNN",
     .run = lab_conv_turned,
     .source = "kernels/conv2d/turned.cu",
     .model = {.library = true},
     .precision = LAB_TF32,
     .prepare = lab_conv_turned_prepare,
     .note = lab_conv_turned_note},
    CONV_CUDNN("half", "FP16 tensors, NCHW, on tensor cores", LAB_FP16,
               LAB_CONV_PRECOMP_GEMM, LAB_MATH_TENSOR_OP, LAB_CUDNN_NCHW,
               LAB_CUDNN_HALF),
    {},
};

#define NHWC(name_, idea_, precision_, math_, type_)                           \
    CONV_CUDNN(name_, idea_, precision_, LAB_CONV_PRECOMP_GEMM, math_,         \
               LAB_CUDNN_NHWC, type_)

extern const struct lab_variant lab_cuda_variants_conv_nhwc[] = {
    {.name = "direct",
     .idea = "a thread for each element of y",
     .run = lab_conv_nhwc_direct,
     .source = "kernels/conv2d/direct.cu",
     .model = {.traffic = 1, .accesses = 33, .instructions = 4}},
    NHWC("cudnn", "precomp_gemm in fp32", LAB_FP32, LAB_CUDNN_FMA,
         LAB_CUDNN_FLOAT),
    NHWC("default_math", "precomp_gemm, TF32 allowed", LAB_TF32,
         LAB_MATH_DEFAULT, LAB_CUDNN_FLOAT),
    NHWC("half", "precomp_gemm, FP16 tensors", LAB_FP16, LAB_MATH_TENSOR_OP,
         LAB_CUDNN_HALF),
    {},
};

/* ---- the gradients ---- */

#define BACK(pass_, name_, idea_, algorithm_)                                  \
    CONV_CUDNN(name_, idea_, LAB_FP32, algorithm_, LAB_CUDNN_FMA,              \
               LAB_CUDNN_NCHW, LAB_CUDNN_FLOAT, pass_)
#define BACK_TF32(pass_, name_, idea_, algorithm_, math_)                      \
    CONV_CUDNN(name_, idea_, LAB_TF32, algorithm_, math_, LAB_CUDNN_NCHW,      \
               LAB_CUDNN_FLOAT, pass_)
#define DATA(...) BACK(CONV_PASS_DATA, __VA_ARGS__)
#define DATA_TF32(...) BACK_TF32(CONV_PASS_DATA, __VA_ARGS__)
#define FILTER(...) BACK(CONV_PASS_FILTER, __VA_ARGS__)
#define FILTER_TF32(...) BACK_TF32(CONV_PASS_FILTER, __VA_ARGS__)

extern const struct lab_variant lab_cuda_variants_conv_data[] = {
    OWN("direct", lab_conv_data_direct, "a thread for each element of dx",
        "backward.cu", 2, 6),
    DATA("cudnn_algo_0", "a product; sums in any order", LAB_DATA_ALGO_0),
    DATA("cudnn_algo_1", "a product; the same bits every time",
         LAB_DATA_ALGO_1),
    DATA("cudnn_fft", "products of Fourier transforms", LAB_DATA_FFT),
    DATA("cudnn_fft_tiling", "transforms of tiles of 32 x 32",
         LAB_DATA_FFT_TILING),
    DATA("cudnn_winograd", "fewer multiplications, one kernel",
         LAB_DATA_WINOGRAD),
    DATA("cudnn_winograd_nonfused", "the same in several kernels",
         LAB_DATA_WINOGRAD_NONFUSED),
    DATA_TF32("default_math", "algo_1, CUDNN_DEFAULT_MATH", LAB_DATA_ALGO_1,
              LAB_MATH_DEFAULT),
    DATA_TF32("tensor_op", "algo_1, CUDNN_TENSOR_OP_MATH", LAB_DATA_ALGO_1,
              LAB_MATH_TENSOR_OP),
    DATA_TF32("nonfused_tensor_op", "winograd_nonfused, CUDNN_TENSOR_OP_MATH",
              LAB_DATA_WINOGRAD_NONFUSED, LAB_MATH_TENSOR_OP),
    {},
};

extern const struct lab_variant lab_cuda_variants_conv_filter[] = {
    OWN("direct", lab_conv_filter_direct, "a thread for each element of dw",
        "backward.cu", 2, 6),
    OWN("block", lab_conv_filter_block, "a block for each element of dw",
        "backward.cu", 2, 8),
    FILTER("cudnn_algo_0", "a product; sums in any order", LAB_FILTER_ALGO_0),
    FILTER("cudnn_algo_1", "a product; the same bits every time",
           LAB_FILTER_ALGO_1),
    FILTER("cudnn_algo_3", "algo_0 with places computed beforehand",
           LAB_FILTER_ALGO_3),
    FILTER("cudnn_fft", "products of Fourier transforms", LAB_FILTER_FFT),
    FILTER("cudnn_fft_tiling", "transforms of tiles of 32 x 32",
           LAB_FILTER_FFT_TILING),
    FILTER("cudnn_winograd", "a name in cuDNN's list", LAB_FILTER_WINOGRAD),
    FILTER("cudnn_winograd_nonfused", "fewer multiplications, several kernels",
           LAB_FILTER_WINOGRAD_NONFUSED),
    FILTER_TF32("default_math", "algo_1, CUDNN_DEFAULT_MATH", LAB_FILTER_ALGO_1,
                LAB_MATH_DEFAULT),
    FILTER_TF32("tensor_op", "algo_1, CUDNN_TENSOR_OP_MATH", LAB_FILTER_ALGO_1,
                LAB_MATH_TENSOR_OP),
    FILTER_TF32("nonfused_tensor_op", "winograd_nonfused, CUDNN_TENSOR_OP_MATH",
                LAB_FILTER_WINOGRAD_NONFUSED, LAB_MATH_TENSOR_OP),
    {},
};
