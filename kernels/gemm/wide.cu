/* kernels/gemm/wide.cu -- 128 sums a thread.
 *
 * The idea: the larger the tile of a thread, the fewer reads for each
 * multiply-add: 8 x 16 elements take 6 loads for 128 multiply-adds, 8 x 8 took
 * 4 for 64. A load of 16 bytes hands 512 to a warp, in four cycles of shared
 * memory, whether they differ or not: with 8 x 8 it is as busy as the
 * arithmetic, with 8 x 16 three quarters of it. The price is registers: 128
 * threads make the tile of 128 x 128, two such blocks fill a multiprocessor,
 * and 8 warps are all there are to hide the waiting. The compiler is not asked
 * to make room for two blocks: asked, it saves registers without a need, and
 * the product is 4 % slower. Two buffers, as in double.cuh. */
#include "gemm/double.cuh"

enum lab_status lab_gemm_wide(const struct lab_call *call)
{
    return gemm_double_run<gemm_shape<128, 128, 8, 64, 64>, 0>(call);
}
