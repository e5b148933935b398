/* half_type.h -- a type of 16 bits and pairs of it, for clang: what cuda_fp16.h and
 * cuda_bf16.h have in common. Sums, products and fused multiply-adds are instructions;
 * what else there is goes by float. Before it is included, once for each type:
 *     LAB_T, LAB_T2, LAB_RAW   names of the types
 *     LAB_WORD                 what functions call it: bfloat16 in __float2bfloat16
 *     LAB_PTX                  what instructions call it: "bf16"
 *     LAB_TO_FLOAT(bits)       its value
 * and behind it __hadd(), __hsub(), __hmul() and those of pairs are defined. */
#define LAB_PASTE(a, b, c) a##b##c
#define LAB_PASTE_OF(a, b, c) LAB_PASTE(a, b, c)
#define LAB_NAME(before, behind) LAB_PASTE_OF(before, LAB_WORD, behind)
#define LAB_OF_BITS LAB_NAME(lab_, _of_bits)
#define LAB_PAIR_BITS LAB_NAME(lab_, _pair_bits)
#define LAB_PAIR_OF_BITS LAB_NAME(lab_, _pair_of_bits)
/* __half2half2 */
#define LAB_PAIR_OF_ONE LAB_PASTE_OF(LAB_NAME(__, 2), LAB_WORD, 2)

struct __align__(2) LAB_RAW
{
    unsigned short x;
};
struct __align__(2) LAB_T
{
    unsigned short lab_bits;
    LAB_T() = default;
    LAB_MEMBER LAB_T(LAB_RAW r) : lab_bits(r.x)
    {
    }
    LAB_MEMBER LAB_T(float v)
    {
        lab_bits = lab_round(v);
    }
    LAB_MEMBER LAB_T(double v) : LAB_T((float)v)
    {
    }
    LAB_MEMBER LAB_T(int v) : LAB_T((float)v)
    {
    }
    LAB_MEMBER LAB_T(unsigned v) : LAB_T((float)v)
    {
    }
    LAB_MEMBER LAB_T(long v) : LAB_T((float)v)
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
        asm("cvt.rn." LAB_PTX ".f32 %0, %1;" : "=h"(r) : "f"(v));
#endif
        return r;
    }
    LAB_MEMBER float lab_float() const
    {
        return LAB_TO_FLOAT(lab_bits);
    }
};
struct __align__(4) LAB_T2
{
    LAB_T x, y;
    LAB_T2() = default;
    LAB_MEMBER LAB_T2(LAB_T a, LAB_T b) : x(a), y(b)
    {
    }
    LAB_T2(const LAB_T2 &) = default;
    /* As one number, as LAB_ASSIGN does. */
    LAB_MEMBER LAB_T2 &operator=(const LAB_T2 &from)
    {
        typedef unsigned __attribute__((may_alias)) whole;
        *reinterpret_cast<whole *>(this) =
            *reinterpret_cast<const whole *>(&from);
        return *this;
    }
};

LAB_DEVICE LAB_T LAB_OF_BITS(unsigned short bits)
{
    LAB_T h;
    h.lab_bits = bits;
    return h;
}
LAB_DEVICE unsigned LAB_PAIR_BITS(LAB_T2 v)
{
    return (unsigned)v.y.lab_bits << 16 | v.x.lab_bits;
}
LAB_DEVICE LAB_T2 LAB_PAIR_OF_BITS(unsigned bits)
{
    return LAB_T2(LAB_OF_BITS((unsigned short)bits),
                  LAB_OF_BITS((unsigned short)(bits >> 16)));
}

/* ---- conversions ---- */

LAB_BOTH LAB_T LAB_NAME(__float2, )(float v)
{
    return LAB_T(v);
}
LAB_BOTH LAB_T LAB_NAME(__float2, _rn)(float v)
{
    return LAB_T(v);
}
LAB_BOTH LAB_T LAB_NAME(__double2, )(double v)
{
    return LAB_T((float)v);
}
LAB_BOTH float LAB_NAME(__, 2float)(LAB_T v)
{
    return v.lab_float();
}
LAB_DEVICE LAB_T LAB_NAME(__int2, _rn)(int v)
{
    return LAB_T((float)v);
}
LAB_DEVICE int LAB_NAME(__, 2int_rn)(LAB_T v)
{
    return __float2int_rn(v.lab_float());
}
LAB_DEVICE int LAB_NAME(__, 2int_rz)(LAB_T v)
{
    return __float2int_rz(v.lab_float());
}
LAB_DEVICE unsigned short LAB_NAME(__, _as_ushort)(LAB_T v)
{
    return v.lab_bits;
}
LAB_DEVICE LAB_T LAB_NAME(__ushort_as_, )(unsigned short v)
{
    return LAB_OF_BITS(v);
}
LAB_DEVICE short LAB_NAME(__, _as_short)(LAB_T v)
{
    return (short)v.lab_bits;
}
LAB_BOTH LAB_T2 LAB_NAME(__halves2, 2)(LAB_T a, LAB_T b)
{
    return LAB_T2(a, b);
}
LAB_BOTH LAB_T2 LAB_NAME(make_, 2)(LAB_T a, LAB_T b)
{
    return LAB_T2(a, b);
}
LAB_BOTH LAB_T2 LAB_PAIR_OF_ONE(LAB_T a)
{
    return LAB_T2(a, a);
}
LAB_BOTH LAB_T2 LAB_NAME(__float2, 2_rn)(float a)
{
    return LAB_T2(LAB_T(a), LAB_T(a));
}
LAB_BOTH LAB_T2 LAB_NAME(__floats2, 2_rn)(float a, float b)
{
    return LAB_T2(LAB_T(a), LAB_T(b));
}
LAB_BOTH LAB_T2 LAB_NAME(__float22, 2_rn)(float2 v)
{
    return LAB_T2(LAB_T(v.x), LAB_T(v.y));
}
LAB_BOTH float2 LAB_NAME(__, 22float2)(LAB_T2 v)
{
    return make_float2(v.x.lab_float(), v.y.lab_float());
}
LAB_BOTH float __low2float(LAB_T2 v)
{
    return v.x.lab_float();
}
LAB_BOTH float __high2float(LAB_T2 v)
{
    return v.y.lab_float();
}
LAB_BOTH LAB_T LAB_NAME(__low2, )(LAB_T2 v)
{
    return v.x;
}
LAB_BOTH LAB_T LAB_NAME(__high2, )(LAB_T2 v)
{
    return v.y;
}

/* ---- arithmetic ---- */

#define LAB_16_OP3(name, op)                                                   \
    LAB_DEVICE LAB_T name(LAB_T a, LAB_T b, LAB_T c)                           \
    {                                                                          \
        unsigned short r;                                                      \
        asm(op " %0, %1, %2, %3;"                                              \
            : "=h"(r)                                                          \
            : "h"(a.lab_bits), "h"(b.lab_bits), "h"(c.lab_bits));              \
        return LAB_OF_BITS(r);                                                 \
    }                                                                          \
    LAB_DEVICE LAB_T2 name##2(LAB_T2 a, LAB_T2 b, LAB_T2 c)                    \
    {                                                                          \
        unsigned r;                                                            \
        asm(op "x2 %0, %1, %2, %3;"                                            \
            : "=r"(r)                                                          \
            : "r"(LAB_PAIR_BITS(a)), "r"(LAB_PAIR_BITS(b)),                    \
              "r"(LAB_PAIR_BITS(c)));                                          \
        return LAB_PAIR_OF_BITS(r);                                            \
    }
LAB_16_OP3(__hfma, "fma.rn." LAB_PTX)
/* The instructions for these differ: where this is included. */
LAB_DEVICE LAB_T __hadd(LAB_T a, LAB_T b);
LAB_DEVICE LAB_T __hsub(LAB_T a, LAB_T b);
LAB_DEVICE LAB_T __hmul(LAB_T a, LAB_T b);
LAB_DEVICE LAB_T2 __hadd2(LAB_T2 a, LAB_T2 b);
LAB_DEVICE LAB_T2 __hsub2(LAB_T2 a, LAB_T2 b);
LAB_DEVICE LAB_T2 __hmul2(LAB_T2 a, LAB_T2 b);
LAB_DEVICE LAB_T __hdiv(LAB_T a, LAB_T b)
{
    return LAB_T(a.lab_float() / b.lab_float());
}
LAB_DEVICE LAB_T2 __h2div(LAB_T2 a, LAB_T2 b)
{
    return LAB_T2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
LAB_DEVICE LAB_T __hneg(LAB_T a)
{
    return LAB_OF_BITS(a.lab_bits ^ 0x8000);
}
LAB_DEVICE LAB_T2 __hneg2(LAB_T2 a)
{
    return LAB_T2(__hneg(a.x), __hneg(a.y));
}
LAB_DEVICE LAB_T __habs(LAB_T a)
{
    return LAB_OF_BITS(a.lab_bits & 0x7fff);
}
LAB_DEVICE LAB_T2 __habs2(LAB_T2 a)
{
    return LAB_T2(__habs(a.x), __habs(a.y));
}
LAB_DEVICE LAB_T __hmax(LAB_T a, LAB_T b)
{
    return LAB_T(fmaxf(a.lab_float(), b.lab_float()));
}
LAB_DEVICE LAB_T __hmin(LAB_T a, LAB_T b)
{
    return LAB_T(fminf(a.lab_float(), b.lab_float()));
}
LAB_DEVICE LAB_T2 __hmax2(LAB_T2 a, LAB_T2 b)
{
    return LAB_T2(__hmax(a.x, b.x), __hmax(a.y, b.y));
}
LAB_DEVICE LAB_T2 __hmin2(LAB_T2 a, LAB_T2 b)
{
    return LAB_T2(__hmin(a.x, b.x), __hmin(a.y, b.y));
}
#define LAB_16_OPERATOR(T, sign, name)                                         \
    LAB_DEVICE T operator sign(T a, T b)                                       \
    {                                                                          \
        return name(a, b);                                                     \
    }                                                                          \
    LAB_DEVICE T &operator sign##=(T &a, T b)                                  \
    {                                                                          \
        a = name(a, b);                                                        \
        return a;                                                              \
    }
LAB_16_OPERATOR(LAB_T, +, __hadd)
LAB_16_OPERATOR(LAB_T, -, __hsub)
LAB_16_OPERATOR(LAB_T, *, __hmul)
LAB_16_OPERATOR(LAB_T, /, __hdiv)
LAB_16_OPERATOR(LAB_T2, +, __hadd2)
LAB_16_OPERATOR(LAB_T2, -, __hsub2)
LAB_16_OPERATOR(LAB_T2, *, __hmul2)
LAB_16_OPERATOR(LAB_T2, /, __h2div)
LAB_DEVICE LAB_T operator-(LAB_T a)
{
    return __hneg(a);
}
#define LAB_16_COMPARE(name, sign)                                             \
    LAB_DEVICE bool name(LAB_T a, LAB_T b)                                     \
    {                                                                          \
        return a.lab_float() sign b.lab_float();                               \
    }                                                                          \
    LAB_DEVICE bool operator sign(LAB_T a, LAB_T b)                            \
    {                                                                          \
        return a.lab_float() sign b.lab_float();                               \
    }
LAB_16_COMPARE(__heq, ==)
LAB_16_COMPARE(__hne, !=)
LAB_16_COMPARE(__hlt, <)
LAB_16_COMPARE(__hle, <=)
LAB_16_COMPARE(__hgt, >)
LAB_16_COMPARE(__hge, >=)
LAB_DEVICE bool __hisnan(LAB_T a)
{
    return __builtin_isnan(a.lab_float());
}

/* ---- mathematics ---- */

#define LAB_16_MATH(name, f)                                                   \
    LAB_DEVICE LAB_T h##name(LAB_T a)                                          \
    {                                                                          \
        return LAB_T(f(a.lab_float()));                                        \
    }                                                                          \
    LAB_DEVICE LAB_T2 h2##name(LAB_T2 a)                                       \
    {                                                                          \
        return LAB_T2(h##name(a.x), h##name(a.y));                             \
    }
LAB_16_MATH(exp, expf)
LAB_16_MATH(exp2, exp2f)
LAB_16_MATH(log, logf)
LAB_16_MATH(log2, log2f)
LAB_16_MATH(sin, sinf)
LAB_16_MATH(cos, cosf)
LAB_16_MATH(sqrt, sqrtf)
LAB_16_MATH(rsqrt, rsqrtf)
LAB_16_MATH(rcp, 1.0f /)
LAB_16_MATH(floor, floorf)
LAB_16_MATH(ceil, ceilf)

/* ---- loads, shuffles, atomics ---- */

LAB_DEVICE LAB_T __ldg(const LAB_T *p)
{
    return *p;
}
LAB_DEVICE LAB_T2 __ldg(const LAB_T2 *p)
{
    return *p;
}
#define LAB_16_SHUFFLE(name, by)                                               \
    LAB_DEVICE LAB_T name(unsigned mask, LAB_T v, by lane, int width = 32)     \
    {                                                                          \
        return LAB_OF_BITS(                                                    \
            (unsigned short)name(mask, (unsigned)v.lab_bits, lane, width));    \
    }                                                                          \
    LAB_DEVICE LAB_T2 name(unsigned mask, LAB_T2 v, by lane, int width = 32)   \
    {                                                                          \
        return LAB_PAIR_OF_BITS(name(mask, LAB_PAIR_BITS(v), lane, width));    \
    }
LAB_16_SHUFFLE(__shfl_sync, int)
LAB_16_SHUFFLE(__shfl_xor_sync, int)
LAB_16_SHUFFLE(__shfl_down_sync, unsigned)
LAB_16_SHUFFLE(__shfl_up_sync, unsigned)
LAB_DEVICE LAB_T atomicAdd(LAB_T *p, LAB_T v)
{
    unsigned short old;
    asm volatile("atom.add.noftz." LAB_PTX " %0, [%1], %2;"
                 : "=h"(old)
                 : "l"(p), "h"(v.lab_bits)
                 : "memory");
    return LAB_OF_BITS(old);
}
LAB_DEVICE LAB_T2 atomicAdd(LAB_T2 *p, LAB_T2 v)
{
    unsigned old;
    asm volatile("atom.add.noftz." LAB_PTX "x2 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(p), "r"(LAB_PAIR_BITS(v))
                 : "memory");
    return LAB_PAIR_OF_BITS(old);
}
#undef LAB_16_OP3
#undef LAB_16_OPERATOR
#undef LAB_16_COMPARE
#undef LAB_16_MATH
#undef LAB_16_SHUFFLE
#undef LAB_PASTE
#undef LAB_PASTE_OF
#undef LAB_NAME
#undef LAB_OF_BITS
#undef LAB_PAIR_BITS
#undef LAB_PAIR_OF_BITS
#undef LAB_PAIR_OF_ONE
#undef LAB_T
#undef LAB_T2
#undef LAB_RAW
#undef LAB_WORD
#undef LAB_PTX
#undef LAB_TO_FLOAT
