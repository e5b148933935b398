/* cuda_bf16.h -- stands in for NVIDIA's header of that name: bfloat16 and pairs of
 * them, for clang. Sums, products and fused multiply-adds are instructions; what
 * else there is goes by float. */
#pragma once
#include "cuda_runtime.h"

struct __align__(2) __nv_bfloat16_raw
{
    unsigned short x;
};
struct __align__(2) __nv_bfloat16
{
    unsigned short lab_bits;
    __nv_bfloat16() = default;
    LAB_MEMBER __nv_bfloat16(__nv_bfloat16_raw r) : lab_bits(r.x)
    {
    }
    LAB_MEMBER __nv_bfloat16(float v)
    {
        lab_bits = lab_round(v);
    }
    LAB_MEMBER __nv_bfloat16(double v) : __nv_bfloat16((float)v)
    {
    }
    LAB_MEMBER __nv_bfloat16(int v) : __nv_bfloat16((float)v)
    {
    }
    LAB_MEMBER __nv_bfloat16(unsigned v) : __nv_bfloat16((float)v)
    {
    }
    LAB_MEMBER __nv_bfloat16(long v) : __nv_bfloat16((float)v)
    {
    }
    LAB_MEMBER operator float() const
    {
        return lab_float();
    }
    LAB_MEMBER static unsigned short lab_round(float v)
    {
        unsigned short r = 0;
#ifdef __CUDA_ARCH__
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(v));
#endif
        return r;
    }
    LAB_MEMBER float lab_float() const
    {
        unsigned bits = (unsigned)lab_bits << 16;
        float v;
        __builtin_memcpy(&v, &bits, 4);
        return v;
    }
};
struct __align__(4) __nv_bfloat162
{
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    LAB_MEMBER __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b)
    {
    }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

LAB_DEVICE __nv_bfloat16 lab_bfloat16_of_bits(unsigned short bits)
{
    __nv_bfloat16 h;
    h.lab_bits = bits;
    return h;
}
LAB_DEVICE unsigned lab_bfloat16_pair_bits(__nv_bfloat162 v)
{
    return (unsigned)v.y.lab_bits << 16 | v.x.lab_bits;
}
LAB_DEVICE __nv_bfloat162 lab_bfloat16_pair_of_bits(unsigned bits)
{
    return __nv_bfloat162(lab_bfloat16_of_bits((unsigned short)bits),
                          lab_bfloat16_of_bits((unsigned short)(bits >> 16)));
}

/* ---- conversions ---- */

LAB_BOTH __nv_bfloat16 __float2bfloat16(float v)
{
    return __nv_bfloat16(v);
}
LAB_BOTH __nv_bfloat16 __float2bfloat16_rn(float v)
{
    return __nv_bfloat16(v);
}
LAB_BOTH __nv_bfloat16 __double2bfloat16(double v)
{
    return __nv_bfloat16((float)v);
}
LAB_BOTH float __bfloat162float(__nv_bfloat16 v)
{
    return v.lab_float();
}
LAB_DEVICE __nv_bfloat16 __int2bfloat16_rn(int v)
{
    return __nv_bfloat16((float)v);
}
LAB_DEVICE int __bfloat162int_rn(__nv_bfloat16 v)
{
    return __float2int_rn(v.lab_float());
}
LAB_DEVICE int __bfloat162int_rz(__nv_bfloat16 v)
{
    return __float2int_rz(v.lab_float());
}
LAB_DEVICE unsigned short __bfloat16_as_ushort(__nv_bfloat16 v)
{
    return v.lab_bits;
}
LAB_DEVICE __nv_bfloat16 __ushort_as_bfloat16(unsigned short v)
{
    return lab_bfloat16_of_bits(v);
}
LAB_DEVICE short __bfloat16_as_short(__nv_bfloat16 v)
{
    return (short)v.lab_bits;
}
LAB_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __nv_bfloat162(a, b);
}
LAB_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __nv_bfloat162(a, b);
}
LAB_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a)
{
    return __nv_bfloat162(a, a);
}
LAB_BOTH __nv_bfloat162 __float2bfloat162_rn(float a)
{
    return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(a));
}
LAB_BOTH __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{
    return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
LAB_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 v)
{
    return __nv_bfloat162(__nv_bfloat16(v.x), __nv_bfloat16(v.y));
}
LAB_BOTH float2 __bfloat1622float2(__nv_bfloat162 v)
{
    return make_float2(v.x.lab_float(), v.y.lab_float());
}
LAB_BOTH float __low2float(__nv_bfloat162 v)
{
    return v.x.lab_float();
}
LAB_BOTH float __high2float(__nv_bfloat162 v)
{
    return v.y.lab_float();
}
LAB_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v)
{
    return v.x;
}
LAB_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v)
{
    return v.y;
}

/* ---- arithmetic ---- */

#define LAB_BFLOAT16_OP3(name, op)                                             \
    LAB_DEVICE __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b,            \
                                  __nv_bfloat16 c)                             \
    {                                                                          \
        unsigned short r;                                                      \
        asm(op " %0, %1, %2, %3;"                                              \
            : "=h"(r)                                                          \
            : "h"(a.lab_bits), "h"(b.lab_bits), "h"(c.lab_bits));              \
        return lab_bfloat16_of_bits(r);                                        \
    }                                                                          \
    LAB_DEVICE __nv_bfloat162 name##2(__nv_bfloat162 a, __nv_bfloat162 b,      \
                                      __nv_bfloat162 c)                        \
    {                                                                          \
        unsigned r;                                                            \
        asm(op "x2 %0, %1, %2, %3;"                                            \
            : "=r"(r)                                                          \
            : "r"(lab_bfloat16_pair_bits(a)), "r"(lab_bfloat16_pair_bits(b)),  \
              "r"(lab_bfloat16_pair_bits(c)));                                 \
        return lab_bfloat16_pair_of_bits(r);                                   \
    }
LAB_BFLOAT16_OP3(__hfma, "fma.rn.bf16")
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
LAB_DEVICE __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __nv_bfloat16(a.lab_float() / b.lab_float());
}
LAB_DEVICE __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
LAB_DEVICE __nv_bfloat16 __hneg(__nv_bfloat16 a)
{
    return lab_bfloat16_of_bits(a.lab_bits ^ 0x8000);
}
LAB_DEVICE __nv_bfloat162 __hneg2(__nv_bfloat162 a)
{
    return __nv_bfloat162(__hneg(a.x), __hneg(a.y));
}
LAB_DEVICE __nv_bfloat16 __habs(__nv_bfloat16 a)
{
    return lab_bfloat16_of_bits(a.lab_bits & 0x7fff);
}
LAB_DEVICE __nv_bfloat162 __habs2(__nv_bfloat162 a)
{
    return __nv_bfloat162(__habs(a.x), __habs(a.y));
}
LAB_DEVICE __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __nv_bfloat16(fmaxf(a.lab_float(), b.lab_float()));
}
LAB_DEVICE __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __nv_bfloat16(fminf(a.lab_float(), b.lab_float()));
}
LAB_DEVICE __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(__hmax(a.x, b.x), __hmax(a.y, b.y));
}
LAB_DEVICE __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(__hmin(a.x, b.x), __hmin(a.y, b.y));
}
#define LAB_BFLOAT16_OPERATOR(T, sign, name)                                   \
    LAB_DEVICE T operator sign(T a, T b)                                       \
    {                                                                          \
        return name(a, b);                                                     \
    }                                                                          \
    LAB_DEVICE T &operator sign##=(T &a, T b)                                  \
    {                                                                          \
        a = name(a, b);                                                        \
        return a;                                                              \
    }
LAB_BFLOAT16_OPERATOR(__nv_bfloat16, +, __hadd)
LAB_BFLOAT16_OPERATOR(__nv_bfloat16, -, __hsub)
LAB_BFLOAT16_OPERATOR(__nv_bfloat16, *, __hmul)
LAB_BFLOAT16_OPERATOR(__nv_bfloat16, /, __hdiv)
LAB_BFLOAT16_OPERATOR(__nv_bfloat162, +, __hadd2)
LAB_BFLOAT16_OPERATOR(__nv_bfloat162, -, __hsub2)
LAB_BFLOAT16_OPERATOR(__nv_bfloat162, *, __hmul2)
LAB_BFLOAT16_OPERATOR(__nv_bfloat162, /, __h2div)
LAB_DEVICE __nv_bfloat16 operator-(__nv_bfloat16 a)
{
    return __hneg(a);
}
#define LAB_BFLOAT16_COMPARE(name, sign)                                       \
    LAB_DEVICE bool name(__nv_bfloat16 a, __nv_bfloat16 b)                     \
    {                                                                          \
        return a.lab_float() sign b.lab_float();                               \
    }                                                                          \
    LAB_DEVICE bool operator sign(__nv_bfloat16 a, __nv_bfloat16 b)            \
    {                                                                          \
        return a.lab_float() sign b.lab_float();                               \
    }
LAB_BFLOAT16_COMPARE(__heq, ==)
LAB_BFLOAT16_COMPARE(__hne, !=)
LAB_BFLOAT16_COMPARE(__hlt, <)
LAB_BFLOAT16_COMPARE(__hle, <=)
LAB_BFLOAT16_COMPARE(__hgt, >)
LAB_BFLOAT16_COMPARE(__hge, >=)
LAB_DEVICE bool __hisnan(__nv_bfloat16 a)
{
    return __builtin_isnan(a.lab_float());
}

/* ---- mathematics ---- */

#define LAB_BFLOAT16_MATH(name, f)                                             \
    LAB_DEVICE __nv_bfloat16 h##name(__nv_bfloat16 a)                          \
    {                                                                          \
        return __nv_bfloat16(f(a.lab_float()));                                \
    }                                                                          \
    LAB_DEVICE __nv_bfloat162 h2##name(__nv_bfloat162 a)                       \
    {                                                                          \
        return __nv_bfloat162(h##name(a.x), h##name(a.y));                     \
    }
LAB_BFLOAT16_MATH(exp, expf)
LAB_BFLOAT16_MATH(exp2, exp2f)
LAB_BFLOAT16_MATH(log, logf)
LAB_BFLOAT16_MATH(log2, log2f)
LAB_BFLOAT16_MATH(sin, sinf)
LAB_BFLOAT16_MATH(cos, cosf)
LAB_BFLOAT16_MATH(sqrt, sqrtf)
LAB_BFLOAT16_MATH(rsqrt, rsqrtf)
LAB_BFLOAT16_MATH(rcp, 1.0f /)
LAB_BFLOAT16_MATH(floor, floorf)
LAB_BFLOAT16_MATH(ceil, ceilf)

/* ---- loads, shuffles, atomics ---- */

LAB_DEVICE __nv_bfloat16 __ldg(const __nv_bfloat16 *p)
{
    return *p;
}
LAB_DEVICE __nv_bfloat162 __ldg(const __nv_bfloat162 *p)
{
    return *p;
}
#define LAB_BFLOAT16_SHUFFLE(name, by)                                         \
    LAB_DEVICE __nv_bfloat16 name(unsigned mask, __nv_bfloat16 v, by lane,     \
                                  int width = 32)                              \
    {                                                                          \
        return lab_bfloat16_of_bits(                                           \
            (unsigned short)name(mask, (unsigned)v.lab_bits, lane, width));    \
    }                                                                          \
    LAB_DEVICE __nv_bfloat162 name(unsigned mask, __nv_bfloat162 v, by lane,   \
                                   int width = 32)                             \
    {                                                                          \
        return lab_bfloat16_pair_of_bits(                                      \
            name(mask, lab_bfloat16_pair_bits(v), lane, width));               \
    }
LAB_BFLOAT16_SHUFFLE(__shfl_sync, int)
LAB_BFLOAT16_SHUFFLE(__shfl_xor_sync, int)
LAB_BFLOAT16_SHUFFLE(__shfl_down_sync, unsigned)
LAB_BFLOAT16_SHUFFLE(__shfl_up_sync, unsigned)
