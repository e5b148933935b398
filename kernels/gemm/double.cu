/* kernels/gemm/double.cu -- the next stage comes while this one is used.
 *
 * The idea: two buffers. A thread asks for its part of the next stage before
 * it works on this one, and puts it into the other buffer afterwards: memory
 * and arithmetic overlap, and one barrier a stage is enough. The kernel is in
 * double.cuh. */
#include "gemm/double.cuh"

enum lab_status lab_gemm_double(const struct lab_call *call)
{
    return gemm_double_run<gemm_shape<128, 128, 8, 64, 32>, 2>(call);
}
