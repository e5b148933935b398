/* cuda_fp16.h -- stands in for NVIDIA's header of that name: half and pairs of
 * them, for clang. Sums, products and fused multiply-adds are instructions; what
 * else there is goes by float. */
#pragma once
#include "cuda_runtime.h"

struct __align__(2) __half_raw
{
    unsigned short x;
};
struct __align__(2) __half
{
    unsigned short lab_bits;
    __half() = default;
    LAB_MEMBER __half(__half_raw r) : lab_bits(r.x)
    {
    }
    LAB_MEMBER __half(float v)
    {
        lab_bits = lab_round(v);
    }
    LAB_MEMBER __half(double v) : __half((float)v)
    {
    }
    LAB_MEMBER __half(int v) : __half((float)v)
    {
    }
    LAB_MEMBER __half(unsigned v) : __half((float)v)
    {
    }
    LAB_MEMBER __half(long v) : __half((float)v)
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
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(v));
#endif
        return r;
    }
    LAB_MEMBER float lab_float() const
    {
        float v = 0;
#ifdef __CUDA_ARCH__
        asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(lab_bits));
#endif
        return v;
    }
};
struct __align__(4) __half2
{
    __half x, y;
    __half2() = default;
    LAB_MEMBER __half2(__half a, __half b) : x(a), y(b)
    {
    }
};
typedef __half half;
typedef __half2 half2;

LAB_DEVICE __half lab_half_of_bits(unsigned short bits)
{
    __half h;
    h.lab_bits = bits;
    return h;
}
LAB_DEVICE unsigned lab_half_pair_bits(__half2 v)
{
    return (unsigned)v.y.lab_bits << 16 | v.x.lab_bits;
}
LAB_DEVICE __half2 lab_half_pair_of_bits(unsigned bits)
{
    return __half2(lab_half_of_bits((unsigned short)bits),
                   lab_half_of_bits((unsigned short)(bits >> 16)));
}

/* ---- conversions ---- */

LAB_BOTH __half __float2half(float v)
{
    return __half(v);
}
LAB_BOTH __half __float2half_rn(float v)
{
    return __half(v);
}
LAB_BOTH __half __double2half(double v)
{
    return __half((float)v);
}
LAB_BOTH float __half2float(__half v)
{
    return v.lab_float();
}
LAB_DEVICE __half __int2half_rn(int v)
{
    return __half((float)v);
}
LAB_DEVICE int __half2int_rn(__half v)
{
    return __float2int_rn(v.lab_float());
}
LAB_DEVICE int __half2int_rz(__half v)
{
    return __float2int_rz(v.lab_float());
}
LAB_DEVICE unsigned short __half_as_ushort(__half v)
{
    return v.lab_bits;
}
LAB_DEVICE __half __ushort_as_half(unsigned short v)
{
    return lab_half_of_bits(v);
}
LAB_DEVICE short __half_as_short(__half v)
{
    return (short)v.lab_bits;
}
LAB_BOTH __half2 __halves2half2(__half a, __half b)
{
    return __half2(a, b);
}
LAB_BOTH __half2 make_half2(__half a, __half b)
{
    return __half2(a, b);
}
LAB_BOTH __half2 __half2half2(__half a)
{
    return __half2(a, a);
}
LAB_BOTH __half2 __float2half2_rn(float a)
{
    return __half2(__half(a), __half(a));
}
LAB_BOTH __half2 __floats2half2_rn(float a, float b)
{
    return __half2(__half(a), __half(b));
}
LAB_BOTH __half2 __float22half2_rn(float2 v)
{
    return __half2(__half(v.x), __half(v.y));
}
LAB_BOTH float2 __half22float2(__half2 v)
{
    return make_float2(v.x.lab_float(), v.y.lab_float());
}
LAB_BOTH float __low2float(__half2 v)
{
    return v.x.lab_float();
}
LAB_BOTH float __high2float(__half2 v)
{
    return v.y.lab_float();
}
LAB_BOTH __half __low2half(__half2 v)
{
    return v.x;
}
LAB_BOTH __half __high2half(__half2 v)
{
    return v.y;
}

/* ---- arithmetic ---- */

#define LAB_HALF_OP3(name, op)                                                 \
    LAB_DEVICE __half name(__half a, __half b, __half c)                       \
    {                                                                          \
        unsigned short r;                                                      \
        asm(op " %0, %1, %2, %3;"                                              \
            : "=h"(r)                                                          \
            : "h"(a.lab_bits), "h"(b.lab_bits), "h"(c.lab_bits));              \
        return lab_half_of_bits(r);                                            \
    }                                                                          \
    LAB_DEVICE __half2 name##2(__half2 a, __half2 b, __half2 c)                \
    {                                                                          \
        unsigned r;                                                            \
        asm(op "x2 %0, %1, %2, %3;"                                            \
            : "=r"(r)                                                          \
            : "r"(lab_half_pair_bits(a)), "r"(lab_half_pair_bits(b)),          \
              "r"(lab_half_pair_bits(c)));                                     \
        return lab_half_pair_of_bits(r);                                       \
    }
LAB_HALF_OP3(__hfma, "fma.rn.f16")
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
LAB_DEVICE __half __hdiv(__half a, __half b)
{
    return __half(a.lab_float() / b.lab_float());
}
LAB_DEVICE __half2 __h2div(__half2 a, __half2 b)
{
    return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
LAB_DEVICE __half __hneg(__half a)
{
    return lab_half_of_bits(a.lab_bits ^ 0x8000);
}
LAB_DEVICE __half2 __hneg2(__half2 a)
{
    return __half2(__hneg(a.x), __hneg(a.y));
}
LAB_DEVICE __half __habs(__half a)
{
    return lab_half_of_bits(a.lab_bits & 0x7fff);
}
LAB_DEVICE __half2 __habs2(__half2 a)
{
    return __half2(__habs(a.x), __habs(a.y));
}
LAB_DEVICE __half __hmax(__half a, __half b)
{
    return __half(fmaxf(a.lab_float(), b.lab_float()));
}
LAB_DEVICE __half __hmin(__half a, __half b)
{
    return __half(fminf(a.lab_float(), b.lab_float()));
}
LAB_DEVICE __half2 __hmax2(__half2 a, __half2 b)
{
    return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y));
}
LAB_DEVICE __half2 __hmin2(__half2 a, __half2 b)
{
    return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y));
}
#define LAB_HALF_OPERATOR(T, sign, name)                                       \
    LAB_DEVICE T operator sign(T a, T b)                                       \
    {                                                                          \
        return name(a, b);                                                     \
    }                                                                          \
    LAB_DEVICE T &operator sign##=(T &a, T b)                                  \
    {                                                                          \
        a = name(a, b);                                                        \
        return a;                                                              \
    }
LAB_HALF_OPERATOR(__half, +, __hadd)
LAB_HALF_OPERATOR(__half, -, __hsub)
LAB_HALF_OPERATOR(__half, *, __hmul)
LAB_HALF_OPERATOR(__half, /, __hdiv)
LAB_HALF_OPERATOR(__half2, +, __hadd2)
LAB_HALF_OPERATOR(__half2, -, __hsub2)
LAB_HALF_OPERATOR(__half2, *, __hmul2)
LAB_HALF_OPERATOR(__half2, /, __h2div)
LAB_DEVICE __half operator-(__half a)
{
    return __hneg(a);
}
#define LAB_HALF_COMPARE(name, sign)                                           \
    LAB_DEVICE bool name(__half a, __half b)                                   \
    {                                                                          \
        return a.lab_float() sign b.lab_float();                               \
    }                                                                          \
    LAB_DEVICE bool operator sign(__half a, __half b)                          \
    {                                                                          \
        return a.lab_float() sign b.lab_float();                               \
    }
LAB_HALF_COMPARE(__heq, ==)
LAB_HALF_COMPARE(__hne, !=)
LAB_HALF_COMPARE(__hlt, <)
LAB_HALF_COMPARE(__hle, <=)
LAB_HALF_COMPARE(__hgt, >)
LAB_HALF_COMPARE(__hge, >=)
LAB_DEVICE bool __hisnan(__half a)
{
    return __builtin_isnan(a.lab_float());
}

/* ---- mathematics ---- */

#define LAB_HALF_MATH(name, f)                                                 \
    LAB_DEVICE __half h##name(__half a)                                        \
    {                                                                          \
        return __half(f(a.lab_float()));                                       \
    }                                                                          \
    LAB_DEVICE __half2 h2##name(__half2 a)                                     \
    {                                                                          \
        return __half2(h##name(a.x), h##name(a.y));                            \
    }
LAB_HALF_MATH(exp, expf)
LAB_HALF_MATH(exp2, exp2f)
LAB_HALF_MATH(log, logf)
LAB_HALF_MATH(log2, log2f)
LAB_HALF_MATH(sin, sinf)
LAB_HALF_MATH(cos, cosf)
LAB_HALF_MATH(sqrt, sqrtf)
LAB_HALF_MATH(rsqrt, rsqrtf)
LAB_HALF_MATH(rcp, 1.0f /)
LAB_HALF_MATH(floor, floorf)
LAB_HALF_MATH(ceil, ceilf)

/* ---- loads, shuffles, atomics ---- */

LAB_DEVICE __half __ldg(const __half *p)
{
    return *p;
}
LAB_DEVICE __half2 __ldg(const __half2 *p)
{
    return *p;
}
#define LAB_HALF_SHUFFLE(name, by)                                             \
    LAB_DEVICE __half name(unsigned mask, __half v, by lane, int width = 32)   \
    {                                                                          \
        return lab_half_of_bits(                                               \
            (unsigned short)name(mask, (unsigned)v.lab_bits, lane, width));    \
    }                                                                          \
    LAB_DEVICE __half2 name(unsigned mask, __half2 v, by lane, int width = 32) \
    {                                                                          \
        return lab_half_pair_of_bits(                                          \
            name(mask, lab_half_pair_bits(v), lane, width));                   \
    }
LAB_HALF_SHUFFLE(__shfl_sync, int)
LAB_HALF_SHUFFLE(__shfl_xor_sync, int)
LAB_HALF_SHUFFLE(__shfl_down_sync, unsigned)
LAB_HALF_SHUFFLE(__shfl_up_sync, unsigned)
LAB_DEVICE __half2 atomicAdd(__half2 *p, __half2 v)
{
    unsigned old;
    asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(p), "r"(lab_half_pair_bits(v))
                 : "memory");
    return lab_half_pair_of_bits(old);
}
LAB_DEVICE __half atomicAdd(__half *p, __half v)
{
    unsigned short old;
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;"
                 : "=h"(old)
                 : "l"(p), "h"(v.lab_bits)
                 : "memory");
    return lab_half_of_bits(old);
}
