/* kernels/labs/attention/half.cuh -- pairs of 16-bit numbers, and addresses in
 * shared memory as the instructions of the tensor cores take them. */
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/* Two fp32 rounded to 16 bits, the first in the lower half; the last argument
 * only names the type. */
static __device__ __forceinline__ uint32_t pack(float lo, float hi,
                                                __nv_bfloat16)
{
    uint32_t r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
    return r;
}

static __device__ __forceinline__ uint32_t pack(float lo, float hi, __half)
{
    uint32_t r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
    return r;
}
