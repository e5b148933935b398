/* kernels/common/half.cuh -- what the tensor cores of compute capability 8.0 and
 * later are fed with: addresses in shared memory as 32-bit numbers, tf32, pairs
 * of 16-bit numbers, small matrices, copies that no thread waits for. Source:
 * NVIDIA, PTX ISA, "ldmatrix", "cp.async" and "cvt". */
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/* fp32 to the nearest tf32, 10 bits behind the point instead of 23, as
 * cvt.rna.tf32.f32 has it, in a quarter of its time: a tensor core reads the
 * upper 19 bits alone, so half a unit of the last of them is added, 2^-11 of
 * the number's power of two. What the sum rounds is below these bits; infinity
 * stays, and NaN stays NaN (adding half a unit to the bits would turn it into
 * -0). Of all numbers only those below 2^-126 come out otherwise: they are
 * cut. */
static __device__ __forceinline__ uint32_t tf32_nearest(uint32_t bits)
{
    return __float_as_uint(fmaf(__uint_as_float(bits & 0xff800000), 0x1p-11f,
                                __uint_as_float(bits)));
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

/* Four matrices of 8 rows of 16 bytes; lane l gives the address of row l % 8 of matrix
 * l / 8 lies, and gets 4 bytes of row l / 4 of each. */
static __device__ __forceinline__ void load_matrix(uint32_t (&r)[4],
                                                   uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
                 "[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row));
}

/* The same, each matrix of 16-bit numbers transposed. */
static __device__ __forceinline__ void load_matrix_turned(uint32_t (&r)[4],
                                                          uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row));
}

/* 16 bytes from global to shared memory, past the registers; zeros if not
 * inside. */
static __device__ __forceinline__ void
copy_async16(uint32_t to, const void *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}

static __device__ __forceinline__ void copy_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Until at most N of the committed groups are under way. */
template <int N> static __device__ __forceinline__ void copy_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
