/* kernels/common/multiply_adds.cu -- chains of multiply-adds in registers.
 *
 * Thread -> element: thread i does LAB_MULTIPLY_ADD_CHAINS chains of its own.
 * Memory: the 4 bytes that keep the compiler from leaving everything out.
 * What limits it: a scheduler starts one instruction of a warp each cycle, and
 * a result is there four cycles after its operands. Eight chains a thread and
 * 64 warps a multiprocessor are far more than that, so every cycle starts a
 * multiply-add: no kernel does more in fp32. */
#include "common/multiply_adds.h"

#include "common/launch.cuh"

enum { UNROLL = 16 };

static __global__ void multiply_adds(float *y, int64_t steps)
{
    int64_t i = lab_element();
    float v[LAB_MULTIPLY_ADD_CHAINS];
#pragma unroll
    for (int k = 0; k < LAB_MULTIPLY_ADD_CHAINS; k++)
        v[k] = static_cast<float>(i + k);
#pragma unroll 1
    for (int64_t s = 0; s < steps; s += UNROLL) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
#pragma unroll
            for (int k = 0; k < LAB_MULTIPLY_ADD_CHAINS; k++)
                v[k] = fmaf(v[k], 0.5f, 1.0f);
        }
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < LAB_MULTIPLY_ADD_CHAINS; k++)
        sum += v[k];
    y[i] = sum;
}

enum lab_status lab_multiply_adds(float *y, int64_t blocks, int64_t steps,
                                  struct CUstream_st *stream)
{
    if (blocks < 1 || blocks > INT32_MAX || steps < UNROLL ||
        steps % UNROLL != 0)
        return lab_fail(LAB_E_ARG, "multiply-adds: %lld blocks, %lld steps",
                        static_cast<long long>(blocks),
                        static_cast<long long>(steps));
    multiply_adds<<<static_cast<unsigned>(blocks), LAB_MULTIPLY_ADD_THREADS, 0,
                    stream>>>(y, steps);
    return lab_launched("multiply_adds");
}
