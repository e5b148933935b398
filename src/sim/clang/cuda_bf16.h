/* cuda_bf16.h -- stands in for NVIDIA's header of that name: bfloat16 and pairs of
 * them, for clang. */
#pragma once
#include "cuda_runtime.h"

LAB_BOTH float lab_float_of_bfloat16(unsigned short bits)
{
    unsigned wide = (unsigned)bits << 16;
    float v;
    __builtin_memcpy(&v, &wide, 4);
    return v;
}
#define LAB_T __nv_bfloat16
#define LAB_T2 __nv_bfloat162
#define LAB_RAW __nv_bfloat16_raw
#define LAB_WORD bfloat16
#define LAB_PTX "bf16"
#define LAB_TO_FLOAT lab_float_of_bfloat16
#include "half_type.h"
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

/* Below sm_90 there is no sum of its own: a times one, plus b. */
LAB_DEVICE __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __hfma(a, lab_bfloat16_of_bits(0x3f80), b);
}
LAB_DEVICE __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __hfma(b, lab_bfloat16_of_bits(0xbf80), a);
}
LAB_DEVICE __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __hfma(a, b, lab_bfloat16_of_bits(0x8000));
}
LAB_DEVICE __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __hfma2(a, lab_bfloat16_pair_of_bits(0x3f803f80u), b);
}
LAB_DEVICE __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __hfma2(b, lab_bfloat16_pair_of_bits(0xbf80bf80u), a);
}
LAB_DEVICE __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __hfma2(a, b, lab_bfloat16_pair_of_bits(0x80008000u));
}
