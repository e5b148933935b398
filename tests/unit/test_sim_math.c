/* Instructions of the simulator, one by one: each is run for many numbers and
 * compared with the same in C. */
#include <fenv.h>
#include "test.h"

#include "sim/sim.h"

enum { N = 512 };

static float f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float v;
    memcpy(&v, &low, sizeof(v));
    return v;
}

static double f64(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* The hardware's one NaN of fp32. */
static uint64_t b32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    return v == v ? bits : 0x7FFFFFFF;
}

static uint64_t b64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    return v == v ? bits : 0x7FF8000000000000;
}

static float rounded(int mode, char op, float a, float b, float c)
{
    volatile float x = a;
    volatile float y = b;
    volatile float z = c;
    fesetround(mode);
    volatile float r = op == '+'   ? x + y
                       : op == '*' ? x * y
                       : op == '/' ? x / y
                                   : fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    return r;
}

static uint32_t bytes_chosen(uint32_t a, uint32_t b, uint32_t s)
{
    uint64_t v = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int k = 0; k < 4; k++, s >>= 4) {
        uint32_t byte = (uint32_t)(v >> (s & 7) * 8) & 255;
        r |= (s & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * k;
    }
    return r;
}

static uint32_t table_of(uint32_t a, uint32_t b, uint32_t c, int table)
{
    uint32_t r = 0;
    for (int k = 0; k < 32; k++)
        r |= (uint32_t)(table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 +
                                  (c >> k & 1)) &
                        1)
             << k;
    return r;
}

static int64_t dot4(uint32_t a, uint32_t b)
{
    int64_t sum = 0;
    for (int k = 0; k < 4; k++)
        sum += (int64_t)(int8_t)(a >> 8 * k) * (int8_t)(b >> 8 * k);
    return sum;
}

/* Half a to float, exactly, by its definition. */
static float of_half(uint64_t h)
{
    int e = (int)(h >> 10 & 31);
    float m = (float)(h & 1023);
    float v = e == 31  ? (m != 0.0f ? NAN : INFINITY)
              : e == 0 ? ldexpf(m, -24)
                       : ldexpf(m + 1024.0f, e - 25);
    return h & 0x8000 ? -v : v;
}

/* The nearest half by trying its neighbours. */
static uint64_t to_half(double v)
{
    if (v != v)
        return 0x7FFF;
    uint64_t sign = signbit(v) ? 0x8000 : 0;
    double size = fabs(v);
    uint64_t low = 0;
    uint64_t high = 0x7C00;
    if (size >= 65520.0)
        return sign | 0x7C00;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if ((double)of_half(middle) <= size)
            low = middle;
        else
            high = middle;
    }
    double below = size - (double)of_half(low);
    double above = (high == 0x7C00 ? 65536.0 : (double)of_half(high)) - size;
    bool up = above < below || (above == below && (low & 1));
    return sign | (up ? high : low);
}

static float fmax_of(float a, float b)
{
    if (a == b)
        return signbit(a) ? b : a;
    return fmaxf(a, b);
}

static float fmin_of(float a, float b)
{
    if (a == b)
        return signbit(a) ? a : b;
    return fminf(a, b);
}

static uint64_t clamped(double v, double least, double most)
{
    return v != v ? 0
                  : (uint64_t)(int64_t)(v < least  ? least
                                        : v > most ? most
                                                   : v);
}

static float flush(float v)
{
    return fabsf(v) < 0x1p-126f ? copysignf(0.0f, v) : v;
}

static float limited(float v)
{
    return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f;
}

#define U(v) ((uint32_t)(v))
#define S(v) ((int32_t)(uint32_t)(v))
#define UL(v) ((uint64_t)(v))
#define SL(v) ((int64_t)(v))
#define HS(v) ((int16_t)(uint16_t)(v))
#define F(v) f32(v)
#define D(v) f64(v)

/* opcode, its registers (result first: h 16 bits, r 32, q 64, f and d numbers, p a
 * predicate), a tail of the operand list, the result */
#define EXACT(X)                                                               \
    X("add.s32", "rrr", "", U(a + b))                                          \
    X("add.s64", "qqq", "", a + b)                                             \
    X("add.u16", "hhh", "", (a + b) & 0xFFFF)                                  \
    X("sub.s32", "rrr", "", U(a - b))                                          \
    X("sub.s64", "qqq", "", a - b)                                             \
    X("add.sat.s32", "rrr", "",                                                \
      U(clamped((double)S(a) + S(b), -2147483648.0, 2147483647.0)))            \
    X("mul.lo.s32", "rrr", "", U(U(a) * U(b)))                                 \
    X("mul.lo.s64", "qqq", "", a *b)                                           \
    X("mul.lo.u16", "hhh", "", (a & 0xFFFF) * (b & 0xFFFF) & 0xFFFF)           \
    X("mul.hi.s32", "rrr", "", U(((int64_t)S(a) * S(b)) >> 32))                \
    X("mul.hi.u32", "rrr", "", U(((uint64_t)U(a) * U(b)) >> 32))               \
    X("mul.hi.u64", "qqq", "", (uint64_t)(((unsigned __int128)a * b) >> 64))   \
    X("mul.hi.s64", "qqq", "", (uint64_t)(((__int128)SL(a) * SL(b)) >> 64))    \
    X("mul.wide.s32", "qrr", "", (uint64_t)((int64_t)S(a) * S(b)))             \
    X("mul.wide.u32", "qrr", "", (uint64_t)U(a) * U(b))                        \
    X("mul.wide.s16", "rhh", "", U(HS(a) * HS(b)))                             \
    X("mad.lo.s32", "rrrr", "", U(U(a) * U(b) + U(c)))                         \
    X("mad.hi.u32", "rrrr", "", U((((uint64_t)U(a) * U(b)) >> 32) + U(c)))     \
    X("mad.wide.s32", "qrrq", "", (uint64_t)((int64_t)S(a) * S(b)) + c)        \
    X("mul24.lo.u32", "rrr", "", U((a & 0xFFFFFF) * (b & 0xFFFFFF)))           \
    X("sad.s32", "rrrr", "",                                                   \
      U(U(c) + (S(a) < S(b) ? U(b) - U(a) : U(a) - U(b))))                     \
    X("div.s32", "rrr", "",                                                    \
      U(b) == 0 ? U(-1) : U((int64_t)S(a) / (int64_t)S(b)))                    \
    X("div.u32", "rrr", "", U(b) == 0 ? U(-1) : U(a) / U(b))                   \
    X("rem.s32", "rrr", "", U(b) == 0 ? U(a) : U((int64_t)S(a) % S(b)))        \
    X("div.u64", "qqq", "", b == 0 ? UL(-1) : a / b)                           \
    X("rem.u64", "qqq", "", b == 0 ? a : a % b)                                \
    X("min.s32", "rrr", "", S(a) < S(b) ? U(a) : U(b))                         \
    X("max.u32", "rrr", "", U(a) > U(b) ? U(a) : U(b))                         \
    X("min.s64", "qqq", "", SL(a) < SL(b) ? a : b)                             \
    X("max.s16", "hhh", "", HS(a) > HS(b) ? a & 0xFFFF : b & 0xFFFF)           \
    X("abs.s32", "rr", "", S(a) < 0 ? U(0 - U(a)) : U(a))                      \
    X("neg.s64", "qq", "", 0 - a)                                              \
    X("not.b32", "rr", "", U(~a))                                              \
    X("cnot.b32", "rr", "", U(a) == 0)                                         \
    X("and.b64", "qqq", "", a &b)                                              \
    X("xor.b32", "rrr", "", U(a ^ b))                                          \
    X("shl.b32", "rrr", "", U(b) > 31 ? 0 : U(a) << U(b))                      \
    X("shl.b64", "qqr", "", U(b) > 63 ? 0 : a << U(b))                         \
    X("shr.u32", "rrr", "", U(b) > 31 ? 0 : U(a) >> U(b))                      \
    X("shr.s32", "rrr", "", U(S(a) >> (U(b) > 31 ? 31 : U(b))))                \
    X("shr.s64", "qqr", "", UL(SL(a) >> (U(b) > 63 ? 63 : U(b))))              \
    X("shr.s16", "hhr", "", U(HS(a) >> (U(b) > 15 ? 15 : U(b))) & 0xFFFF)      \
    X("shf.l.wrap.b32", "rrrr", "", (b << 32 | U(a)) << (c & 31) >> 32)        \
    X("shf.r.clamp.b32", "rrrr", "",                                           \
      U((b << 32 | U(a)) >> (U(c) > 32 ? 32 : U(c))))                          \
    X("popc.b32", "rr", "", (uint64_t)__builtin_popcount(U(a)))                \
    X("popc.b64", "rq", "", (uint64_t)__builtin_popcountll(a))                 \
    X("clz.b32", "rr", "", U(a) ? (uint64_t)__builtin_clz(U(a)) : 32)          \
    X("clz.b64", "rq", "", a ? (uint64_t)__builtin_clzll(a) : 64)              \
    X("bfind.u32", "rr", "",                                                   \
      U(a) ? 31 - (uint64_t)__builtin_clz(U(a)) : U(-1))                       \
    X("prmt.b32", "rrrr", "", bytes_chosen(U(a), U(b), U(c)))                  \
    X("lop3.b32", "rrrr", ", 0x6A", table_of(U(a), U(b), U(c), 0x6A))          \
    X("lop3.b32", "rrrr", ", 0x1D", table_of(U(a), U(b), U(c), 0x1D))          \
    X("bfe.u32", "rr", ", 7, 9", U(a) >> 7 & 511)                              \
    X("bfe.s32", "rr", ", 7, 9", U(S(U(a) << 16) >> 23))                       \
    X("bfe.s64", "qq", ", 60, 9", UL(SL(a) >> 60))                             \
    X("bfi.b32", "rrr", ", 5, 11",                                             \
      (U(b) & ~(2047u << 5)) | (U(a) & 2047) << 5)                             \
    X("dp4a.s32.s32", "rrrr", "", U(dot4(U(a), U(b)) + S(c)))                  \
    X("add.u16x2", "rrr", "",                                                  \
      ((U(a) + U(b)) & 0xFFFF) | ((U(a) >> 16) + (U(b) >> 16)) << 16)          \
    X("max.u16x2", "rrr", "",                                                  \
      larger(U(a) & 0xFFFF, U(b) & 0xFFFF) | larger(U(a) >> 16, U(b) >> 16)    \
                                                 << 16)                        \
    X("vabsdiff4.u32.u32.u32", "rrrr", "", apart(U(a), U(b), 1))               \
    X("vabsdiff4.u32.u32.u32.add", "rrrr", "", U(c) + apart(U(a), U(b), 0))    \
    X("add.f32", "fff", "", b32(F(a) + F(b)))                                  \
    X("add.rz.f32", "fff", "",                                                 \
      b32(rounded(FE_TOWARDZERO, '+', F(a), F(b), 0)))                         \
    X("add.ftz.f32", "fff", "", b32(flush(flush(F(a)) + flush(F(b)))))         \
    X("add.sat.f32", "fff", "", b32(limited(F(a) + F(b))))                     \
    X("sub.f32", "fff", "", b32(F(a) - F(b)))                                  \
    X("mul.f32", "fff", "", b32(F(a) * F(b)))                                  \
    X("mul.rp.f32", "fff", "", b32(rounded(FE_UPWARD, '*', F(a), F(b), 0)))    \
    X("mul.ftz.f32", "fff", "", b32(flush(flush(F(a)) * flush(F(b)))))         \
    X("mul.sat.f32", "fff", "", b32(limited(F(a) * F(b))))                     \
    X("fma.rn.f32", "ffff", "", b32(fmaf(F(a), F(b), F(c))))                   \
    X("fma.rn.ftz.f32", "ffff", "",                                            \
      b32(flush(fmaf(flush(F(a)), flush(F(b)), flush(F(c))))))                 \
    X("fma.rm.f32", "ffff", "",                                                \
      b32(rounded(FE_DOWNWARD, 'f', F(a), F(b), F(c))))                        \
    X("div.rn.f32", "fff", "", b32(F(a) / F(b)))                               \
    X("div.rm.f32", "fff", "", b32(rounded(FE_DOWNWARD, '/', F(a), F(b), 0)))  \
    X("rcp.rn.f32", "ff", "", b32(1.0f / F(a)))                                \
    X("sqrt.rn.f32", "ff", "", b32(sqrtf(F(a))))                               \
    X("min.f32", "fff", "", b32(fmin_of(F(a), F(b))))                          \
    X("max.f32", "fff", "", b32(fmax_of(F(a), F(b))))                          \
    X("max.NaN.f32", "fff", "",                                                \
      b32(F(a) != F(a) || F(b) != F(b) ? NAN : fmax_of(F(a), F(b))))           \
    X("abs.f32", "ff", "", U(a) & 0x7FFFFFFF)                                  \
    X("neg.f32", "ff", "", U(a) ^ 0x80000000)                                  \
    X("copysign.f32", "fff", "", (U(a) & 0x80000000) | (U(b) & 0x7FFFFFFF))    \
    X("add.f64", "ddd", "", b64(D(a) + D(b)))                                  \
    X("fma.rn.f64", "dddd", "", b64(fma(D(a), D(b), D(c))))                    \
    X("div.rn.f64", "ddd", "", b64(D(a) / D(b)))                               \
    X("sqrt.rn.f64", "dd", "", b64(sqrt(D(a))))                                \
    X("add.f16", "hhh", "", to_half((double)of_half(a) + of_half(b)))          \
    X("mul.f16", "hhh", "", to_half((double)of_half(a) * of_half(b)))          \
    X("setp.lt.s32", "prr", "", S(a) < S(b))                                   \
    X("setp.ge.u64", "pqq", "", a >= b)                                        \
    X("setp.hi.u32", "prr", "", U(a) > U(b))                                   \
    X("setp.ne.f32", "pff", "", F(a) < F(b) || F(a) > F(b))                    \
    X("setp.leu.f32", "pff", "", !(F(a) > F(b)))                               \
    X("setp.nan.f32", "pff", "", F(a) != F(a) || F(b) != F(b))                 \
    X("setp.gt.f64", "pdd", "", D(a) > D(b))                                   \
    X("set.lt.u32.f32", "rff", "", F(a) < F(b) ? U(-1) : 0)                    \
    X("set.ge.f32.s32", "frr", "", S(a) >= S(b) ? 0x3F800000 : 0)              \
    X("slct.u32.s32", "rrrr", "", S(c) >= 0 ? U(a) : U(b))                     \
    X("testp.subnormal.f32", "pf", "",                                         \
      F(a) != 0.0f && fabsf(F(a)) < 0x1p-126f)                                 \
    X("cvt.s64.s32", "qr", "", UL((int64_t)S(a)))                              \
    X("cvt.u64.u32", "qr", "", U(a))                                           \
    X("cvt.u32.u64", "rq", "", U(a))                                           \
    X("cvt.s32.s8", "rr", "", U((int8_t)(uint8_t)a))                           \
    X("cvt.u16.u32", "hr", "", a & 0xFFFF)                                     \
    X("cvt.sat.u8.s32", "rr", "", S(a) < 0 ? 0 : S(a) > 255 ? 255 : U(a))      \
    X("cvt.sat.s16.s32", "hr", "", clamped(S(a), -32768.0, 32767.0) & 0xFFFF)  \
    X("cvt.rn.f32.s32", "fr", "", b32((float)S(a)))                            \
    X("cvt.rn.f32.u64", "fq", "", b32((float)a))                               \
    X("cvt.rn.f64.s64", "dq", "", b64((double)SL(a)))                          \
    X("cvt.rz.f32.s64", "fq", "", b32(toward_zero(SL(a))))                     \
    X("cvt.rzi.s32.f32", "rf", "",                                             \
      U(clamped(truncf(F(a)), -2147483648.0, 2147483647.0)))                   \
    X("cvt.rni.u32.f32", "rf", "", U(clamped(rintf(F(a)), 0.0, 4294967295.0))) \
    X("cvt.rmi.s64.f64", "qd", "", to_s64(floor(D(a))))                        \
    X("cvt.rpi.f32.f32", "ff", "", b32(ceilf(F(a))))                           \
    X("cvt.f64.f32", "df", "", b64(F(a)))                                      \
    X("cvt.rn.f32.f64", "fd", "", b32((float)D(a)))                            \
    X("cvt.sat.f32.f32", "ff", "", b32(limited(F(a))))                         \
    X("cvt.f32.f16", "fh", "", b32(of_half(a)))                                \
    X("cvt.rn.f16.f32", "hf", "", to_half((double)F(a)))                       \
    X("cvt.rn.f16.f64", "hd", "", to_half(D(a)))                               \
    X("cvt.f32.bf16", "fh", "", U(a) << 16)                                    \
    X("cvt.rn.f16x2.f32", "rff", "",                                           \
      to_half((double)F(a)) << 16 | to_half((double)F(b)))

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t apart(uint32_t a, uint32_t b, int beside)
{
    uint32_t out = 0;
    for (int k = 0; k < 4; k++)
        out += (uint32_t)abs((int)(a >> 8 * k & 255) - (int)(b >> 8 * k & 255))
               << 8 * k * beside;
    return out;
}

static float toward_zero(int64_t v)
{
    volatile int64_t in = v;
    fesetround(FE_TOWARDZERO);
    volatile float r = (float)in;
    fesetround(FE_TONEAREST);
    return r;
}

static uint64_t to_s64(double v)
{
    return v != v || v < -0x1p63 ? 0x8000000000000000
           : v >= 0x1p63         ? INT64_MAX
                                 : (uint64_t)(int64_t)v;
}

static const struct {
    const char *opcode;
    const char *regs;
    const char *tail;
} exact[] = {
#define X(opcode, regs, tail, value) {opcode, regs, tail},
    EXACT(X)
#undef X
};

__extension__ static uint64_t expected(int row, uint64_t a, uint64_t b,
                                       uint64_t c)
{
    int k = 0;
#define X(opcode, regs, tail, value)                                           \
    if (row == k++)                                                            \
        return (uint64_t)(value);
    EXACT(X)
#undef X
    return 0;
}

static char *append(char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    at += vsprintf(at, format, args);
    va_end(args);
    return at;
}

/* A kernel that loads three numbers, executes `text` on them and stores. */
static void write_kernel(char *out, const char *opcode, const char *regs,
                         const char *tail)
{
    static const char *const types[] = {['h'] = "u16",
                                        ['r'] = "u32",
                                        ['f'] = "f32",
                                        ['d'] = "f64",
                                        ['q'] = "u64"};
    char *p = append(
        out, "%s",
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 x, .param .u64 y) {\n"
        ".reg .pred %p<2>; .reg .b16 %h<5>; .reg .b32 %r<9>;\n"
        ".reg .f32 %f<5>; .reg .f64 %d<5>; .reg .b64 %q<5>;"
        ".reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];\n"
        "mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x; mov.u32 %r7, %tid.x;\n"
        "mad.lo.u32 %r8, %r5, %r6, %r7;\n"
        "mad.wide.u32 %rd3, %r8, 24, %rd1; mad.wide.u32 %rd4, %r8, 8, %rd2;\n"
        "mov.u64 %rd5, 0; st.global.u64 [%rd4], %rd5;\n");
    for (int k = 1; regs[k]; k++)
        p = append(p, "ld.global.%s %%%c%d, [%%rd3+%d];\n", types[(int)regs[k]],
                   regs[k], k, 8 * (k - 1));
    p = append(p, "%s %%%c0", opcode, regs[0]);
    for (int k = 1; regs[k]; k++)
        p = append(p, ", %%%c%d", regs[k], k);
    p = append(p, "%s;\n", tail);
    if (regs[0] == 'p')
        p = append(p, "selp.u32 %%r0, 1, 0, %%p0;\n");
    char stored = regs[0] == 'p' ? 'r' : regs[0];
    append(p, "st.global.%s [%%rd4], %%%c0;\nret;\n}\n", types[(int)stored],
           stored);
}

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

/* Corners of the type of a register, and numbers of every size. */
static uint64_t number(char reg, uint64_t *state)
{
    static const uint64_t whole[] = {0,
                                     1,
                                     2,
                                     31,
                                     32,
                                     33,
                                     64,
                                     0x7FFFFFFF,
                                     0x80000000,
                                     0xFFFFFFFF,
                                     0x7FFF,
                                     0x8000,
                                     0x7FFFFFFFFFFFFFFF,
                                     0x8000000000000000,
                                     ~UINT64_C(0)};
    static const double numbers[] = {
        0.0,          -0.0,         1.0,           -1.0,      0.5,     1.5,
        2.5,          -2.5,         65504.0,       65520.0,   1e-40,   -1e-40,
        3.4e38,       -3.4e38,      INFINITY,      -INFINITY, NAN,     6e-8,
        2147483648.0, 4294967296.0, -2147483649.0, 9.3e18,    -9.3e18, 1e-310,
        255.5,        0.999999};
    uint64_t r = draw(state);
    uint64_t corner = draw(state) % 4;
    if (reg == 'f' || reg == 'd') {
        double v =
            corner == 0 ? numbers[r % (sizeof(numbers) / sizeof(*numbers))]
            : corner == 1
                ? ((double)(int64_t)r) * 0x1p-60
                : ldexp((double)(int64_t)r, (int)(draw(state) % 120) - 120);
        return reg == 'f' ? b32((float)v) : b64(v);
    }
    if (corner == 0)
        return whole[r % (sizeof(whole) / sizeof(*whole))];
    return corner == 1 ? r % 70 : r >> draw(state) % 64;
}

/* Runs a kernel of write_kernel() over N triples. */
static void run(const char *ptx, const uint64_t *x, uint64_t *y)
{
    struct lab_sim_memory *memory;
    struct lab_sim_module *module;
    const struct lab_sim_kernel *kernel = NULL;
    void *in;
    void *out;
    assert_int_equal(lab_sim_memory_open(&memory), LAB_OK);
    if (lab_sim_module_open(memory, ptx, strlen(ptx), "k.ptx", &module) ||
        lab_sim_kernel_find(module, "k", &kernel))
        fail_msg("%s\n%s", lab_error(), ptx);
    assert_int_equal(lab_sim_alloc(memory, 3 * N * 8, &in), LAB_OK);
    assert_int_equal(lab_sim_alloc(memory, N * 8, &out), LAB_OK);
    memcpy(in, x, 3 * N * 8);
    assert_int_equal(lab_sim_written(memory, in, 3 * N * 8), LAB_OK);
    const void *args[] = {&in, &out};
    const struct lab_sim_launch launch = {.kernel = kernel,
                                          .grid = {N / 64, 1, 1},
                                          .block = {64, 1, 1},
                                          .args = args,
                                          .arg_count = 2};
    const struct lab_sim_options options = {.checks = ~0u, .threads = 1};
    struct lab_sim_result result = {.line_count = 0};
    if (lab_sim_run(memory, &launch, &options, &result))
        fail_msg("%s", lab_error());
    if (result.finding_count)
        fail_msg("%s", result.findings[0].message);
    memcpy(y, out, N * 8);
    lab_sim_result_release(&result);
    lab_sim_module_close(module);
    lab_sim_memory_close(memory);
}

TEST_CASE(exact_instructions_equal_c)
{
    static char ptx[4096];
    uint64_t random = 1;
    for (size_t row = 0; row < sizeof(exact) / sizeof(*exact); row++) {
        const char *regs = exact[row].regs;
        uint64_t x[3 * N];
        uint64_t y[N];
        int n = (int)strlen(regs) - 1;
        for (int k = 0; k < 3 * N; k++)
            x[k] = number(k % 3 < n ? regs[1 + k % 3] : 'q', &random);
        write_kernel(ptx, exact[row].opcode, regs, exact[row].tail);
        run(ptx, x, y);
        for (int k = 0; k < N; k++) {
            const uint64_t *v = x + 3 * k;
            uint64_t want = expected((int)row, v[0], v[1], v[2]);
            uint64_t have = y[k];
            if (regs[0] == 'd')
                have = b64(f64(have));
            if (have != want)
                fail_msg("%s of 0x%llx, 0x%llx, 0x%llx is 0x%llx, not 0x%llx",
                         exact[row].opcode, (unsigned long long)v[0],
                         (unsigned long long)v[1], (unsigned long long)v[2],
                         (unsigned long long)have, (unsigned long long)want);
        }
    }
}

/* What the ISA calls approximate, against double, with its error. */
TEST_CASE(approximate_instructions_are_near)
{
    static const struct {
        const char *opcode;
        double (*fn)(double);
        double from;
        double to;
        double error; /* relative, or of the value where it is below 1 */
    } rows[] = {
        {"ex2.approx.f32", exp2, -100.0, 100.0, 0x1p-22},
        {"ex2.approx.ftz.f32", exp2, -100.0, 100.0, 0x1p-22},
        {"lg2.approx.f32", log2, 0.01, 100.0, 0x1p-22},
        {"sin.approx.f32", sin, -3.0, 3.0, 0x1p-20},
        {"cos.approx.f32", cos, -3.0, 3.0, 0x1p-20},
        {"tanh.approx.f32", tanh, -4.0, 4.0, 0x1p-11},
        {"sqrt.approx.f32", sqrt, 0.01, 1e6, 0x1p-22},
    };
    static char ptx[4096];
    for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
        uint64_t x[3 * N];
        uint64_t y[N];
        for (int k = 0; k < N; k++)
            x[3 * k] = b32((float)(rows[row].from +
                                   (rows[row].to - rows[row].from) * k / N));
        write_kernel(ptx, rows[row].opcode, "ff", "");
        run(ptx, x, y);
        for (int k = 0; k < N; k++) {
            double want = rows[row].fn((double)f32(x[3 * k]));
            double size = fabs(want) > 1.0 ? fabs(want) : 1.0;
            if (strncmp(rows[row].opcode, "ex2", 3) == 0)
                size = fabs(want);
            assert_true(fabs((double)f32(y[k]) - want) <=
                        rows[row].error * size);
        }
    }
}

RUN_TESTS()
