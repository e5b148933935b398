/* cuda_fp16.h -- stands in for NVIDIA's header of that name: half and pairs of
 * them, for clang. */
#pragma once
#include "cuda_runtime.h"

LAB_BOTH float lab_float_of_half(unsigned short bits)
{
    float v = 0;
#ifdef __CUDA_ARCH__
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
#else
    (void)bits;
#endif
    return v;
}
#define LAB_T __half
#define LAB_T2 __half2
#define LAB_RAW __half_raw
#define LAB_WORD half
#define LAB_PTX "f16"
#define LAB_TO_FLOAT lab_float_of_half
#include "half_type.h"
typedef __half half;
typedef __half2 half2;

#define LAB_HALF_OP2(name, op)                                                 \
    LAB_DEVICE __half name(__half a, __half b)                                 \
    {                                                                          \
        unsigned short r;                                                      \
        asm(op " %0, %1, %2;" : "=h"(r) : "h"(a.lab_bits), "h"(b.lab_bits));   \
        return lab_half_of_bits(r);                                            \
    }                                                                          \
    LAB_DEVICE __half2 name##2(__half2 a, __half2 b)                           \
    {                                                                          \
        unsigned r;                                                            \
        asm(op "x2 %0, %1, %2;"                                                \
            : "=r"(r)                                                          \
            : "r"(lab_half_pair_bits(a)), "r"(lab_half_pair_bits(b)));         \
        return lab_half_pair_of_bits(r);                                       \
    }
LAB_HALF_OP2(__hadd, "add.f16")
LAB_HALF_OP2(__hsub, "sub.f16")
LAB_HALF_OP2(__hmul, "mul.f16")
