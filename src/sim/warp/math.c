/* Arithmetic of one lane, 32 times: a handler for each operation and type, and the
 * table by which the lowering finds it. Rounding is that of the PTX ISA; what it
 * calls approximate is computed to within its error and is not the hardware's
 * last bit. */
#include <fenv.h>
#include <stdio.h>

#include "warp/lanes.h"

/* ---- integers ---- */

/* The operations that are the same for signed and unsigned numbers. */
#define BITS_OPS(T)                                                            \
    SIM_OP2(add_##T, T, T, T, a + b)                                           \
    SIM_OP2(sub_##T, T, T, T, a - b)                                           \
    SIM_OP2(mul_lo_##T, T, T, T, (1u * a) * b)                                 \
    SIM_OP3(mad_lo_##T, T, T, T, T, (1u * a) * b + c)                          \
    SIM_OP2(and_##T, T, T, T, a &b)                                            \
    SIM_OP2(or_##T, T, T, T, a | b)                                            \
    SIM_OP2(xor_##T, T, T, T, a ^ b)                                           \
    SIM_OP1(not_##T, T, T, ~a)                                                 \
    SIM_OP1(cnot_##T, T, T, a == 0)                                            \
    SIM_OP1(neg_##T, T, T, 0u - a)                                             \
    SIM_OP2(shl_##T, T, T, u32, b < sizeof(a) * 8 ? (1u * a) << (b & 63) : 0)
BITS_OPS(u16)
BITS_OPS(u32)
BITS_OPS(u64)

/* Division by zero gives all ones on the hardware, and its rest the dividend. */
#define SIGN_OPS(T, U, is_signed)                                              \
    SIM_OP2(min_##T, T, T, T, a < b ? a : b)                                   \
    SIM_OP2(max_##T, T, T, T, a > b ? a : b)                                   \
    SIM_OP2(div_##T, T, T, T,                                                  \
            b == 0 ? (val_##T) - 1                                             \
                   : ((is_signed) && b == (val_##T) - 1                        \
                          ? (val_##T)(0u - (val_##U)a)                         \
                          : (val_##T)(a / b)))                                 \
    SIM_OP2(rem_##T, T, T, T,                                                  \
            b == 0                                                             \
                ? a                                                            \
                : ((is_signed) && b == (val_##T) - 1 ? 0 : (val_##T)(a % b)))  \
    SIM_OP2(shr_##T, T, T, u32,                                                \
            a >> (b < sizeof(a) * 8 ? b : sizeof(a) * 8 - 1) >>                \
                (!(is_signed) && b >= sizeof(a) * 8))                          \
    SIM_OP3(sad_##T, T, T, T, T,                                               \
            (val_##U)c + (a < b ? (val_##U)((val_##U)b - (val_##U)a)           \
                                : (val_##U)((val_##U)a - (val_##U)b)))
SIGN_OPS(u16, u16, false)
SIGN_OPS(s16, u16, true)
SIGN_OPS(u32, u32, false)
SIGN_OPS(s32, u32, true)
SIGN_OPS(u64, u64, false)
SIGN_OPS(s64, u64, true)

/* T: half as wide as W, the type of a full product; U its unsigned kind. */
#define PRODUCT_OPS(T, U, W, UW)                                               \
    SIM_OP2(mul_hi_##T, T, T, T, ((val_##W)a * (val_##W)b) >> sizeof(a) * 8)   \
    SIM_OP2(mul_wide_##T, W, T, T, (val_##W)a *(val_##W)b)                     \
    SIM_OP3(mad_hi_##T, T, T, T, T,                                            \
            (val_##U)(((val_##W)a * (val_##W)b) >> sizeof(a) * 8) +            \
                (val_##U)c)                                                    \
    SIM_OP3(mad_wide_##T, W, T, T, W,                                          \
            (val_##UW)((val_##W)a * (val_##W)b) + (val_##UW)c)
PRODUCT_OPS(u16, u16, u32, u32)
PRODUCT_OPS(s16, u16, s32, u32)
PRODUCT_OPS(u32, u32, u64, u64)
PRODUCT_OPS(s32, u32, s64, u64)

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;
SIM_OP2(mul_hi_u64, u64, u64, u64, ((u128)a * b) >> 64)
SIM_OP2(mul_hi_s64, s64, s64, s64, ((s128)a * b) >> 64)
SIM_OP3(mad_hi_u64, u64, u64, u64, u64, (uint64_t)(((u128)a * b) >> 64) + c)
SIM_OP3(mad_hi_s64, s64, s64, s64, s64,
        (uint64_t)(((s128)a * b) >> 64) + (uint64_t)c)

#define ABS_OP(T, U)                                                           \
    SIM_OP1(abs_##T, T, T, a < 0 ? 0u - (val_##U)a : (val_##U)a)
ABS_OP(s16, u16)
ABS_OP(s32, u32)
ABS_OP(s64, u64)

static inline int32_t clamp_sum(int64_t sum)
{
    return sum > INT32_MAX   ? INT32_MAX
           : sum < INT32_MIN ? INT32_MIN
                             : (int32_t)sum;
}
SIM_OP2(add_sat_s32, s32, s32, s32, clamp_sum((int64_t)a + b))
SIM_OP2(sub_sat_s32, s32, s32, s32, clamp_sum((int64_t)a - b))
SIM_OP3(mad_hi_sat_s32, s32, s32, s32, s32,
        clamp_sum((((int64_t)a * b) >> 32) + c))

/* 24 bits of each factor; hi: bits 16 to 47 of the product. */
static inline int32_t low24(int32_t v)
{
    return (int32_t)((uint32_t)v << 8) >> 8;
}
SIM_OP2(mul24_lo_s32, s32, s32, s32, (int64_t)low24(a) * low24(b))
SIM_OP2(mul24_hi_s32, s32, s32, s32, ((int64_t)low24(a) * low24(b)) >> 16)
SIM_OP2(mul24_lo_u32, u32, u32, u32, (uint64_t)(a & 0xFFFFFF) * (b & 0xFFFFFF))
SIM_OP2(mul24_hi_u32, u32, u32, u32,
        ((uint64_t)(a & 0xFFFFFF) * (b & 0xFFFFFF)) >> 16)
SIM_OP3(mad24_lo_s32, s32, s32, s32, s32,
        (uint32_t)((int64_t)low24(a) * low24(b)) + (uint32_t)c)
SIM_OP3(mad24_hi_s32, s32, s32, s32, s32,
        (uint32_t)(((int64_t)low24(a) * low24(b)) >> 16) + (uint32_t)c)
SIM_OP3(mad24_lo_u32, u32, u32, u32, u32,
        (uint64_t)(a & 0xFFFFFF) * (b & 0xFFFFFF) + c)
SIM_OP3(mad24_hi_u32, u32, u32, u32, u32,
        (((uint64_t)(a & 0xFFFFFF) * (b & 0xFFFFFF)) >> 16) + c)

/* ---- bits ---- */

SIM_OP1(popc_b32, u32, u32, __builtin_popcount(a))
SIM_OP1(popc_b64, u32, u64, __builtin_popcountll(a))
SIM_OP1(clz_b32, u32, u32, a ? __builtin_clz(a) : 32)
SIM_OP1(clz_b64, u32, u64, a ? __builtin_clzll(a) : 64)

static inline uint64_t reverse_bits(uint64_t v)
{
    v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
    v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
    v = (v >> 4 & 0x0F0F0F0F0F0F0F0F) | (v & 0x0F0F0F0F0F0F0F0F) << 4;
    return __builtin_bswap64(v);
}
SIM_OP1(brev_b32, u32, u32, reverse_bits(a) >> 32)
SIM_OP1(brev_b64, u64, u64, reverse_bits(a))

/* The highest bit that is not the sign's, or its distance from the top. */
static inline uint32_t find_bit(uint64_t v, int bits, bool shift)
{
    if (v == 0)
        return ~0u;
    uint32_t at = 63 - (uint32_t)__builtin_clzll(v);
    return shift ? (uint32_t)bits - 1 - at : at;
}
#define FIND_OP(T, size)                                                       \
    SIM_OP1(bfind_##T, u32, T, find_bit(size, sizeof(a) * 8, false))           \
    SIM_OP1(bfind_shift_##T, u32, T, find_bit(size, sizeof(a) * 8, true))
FIND_OP(u32, a)
FIND_OP(s32, (uint32_t)(a < 0 ? ~a : a))
FIND_OP(u64, a)
FIND_OP(s64, (uint64_t)(a < 0 ? ~a : a))

/* The ISA's words: position and length are those of 8 bits; what lies beyond the
 * register is the sign. */
static inline uint64_t extract(uint64_t a, uint32_t at, uint32_t length,
                               int bits, bool is_signed)
{
    uint32_t top = (uint32_t)bits - 1;
    at &= 0xFF;
    length &= 0xFF;
    if (length == 0)
        return 0;
    uint32_t last = at + length - 1 < top ? at + length - 1 : top;
    bool fill = is_signed && (a >> last & 1);
    uint64_t v = at > top ? 0 : a >> at;
    if (at > top)
        return fill ? ~(uint64_t)0 : 0;
    uint32_t kept = length < (uint32_t)bits - at ? length : (uint32_t)bits - at;
    if (kept < 64) {
        v &= ((uint64_t)1 << kept) - 1;
        v |= fill ? ~(uint64_t)0 << kept : 0;
    }
    return v;
}
SIM_OP3(bfe_u32, u32, u32, u32, u32, extract(a, b, c, 32, false))
SIM_OP3(bfe_s32, u32, u32, u32, u32, extract(a, b, c, 32, true))
SIM_OP3(bfe_u64, u64, u64, u32, u32, extract(a, b, c, 64, false))
SIM_OP3(bfe_s64, u64, u64, u32, u32, extract(a, b, c, 64, true))

static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t at,
                              uint32_t length, uint32_t bits)
{
    at &= 0xFF;
    length &= 0xFF;
    if (at >= bits || length == 0)
        return b;
    uint64_t field = length < 64 ? ((uint64_t)1 << length) - 1 : ~(uint64_t)0;
    return (b & ~(field << at)) | (a & field) << at;
}
#define INSERT_OP(T)                                                           \
    static SIM_CLONES void bfi_##T(struct sim_warp *w,                         \
                                   const struct sim_instr *i, uint32_t mask)   \
    {                                                                          \
        SIM_FETCH(T, a, &i->a);                                                \
        SIM_FETCH(T, b, &i->b);                                                \
        SIM_FETCH(u32, c, &i->c);                                              \
        SIM_FETCH(u32, e, &i->more[0]);                                        \
        raw_##T r[SIM_LANES];                                                  \
        for (int l = 0; l < SIM_LANES; l++)                                    \
            r[l] = (raw_##T)insert(a_lanes[l], b_lanes[l], c_lanes[l],         \
                                   e_lanes[l], sizeof(r[l]) * 8);              \
        SIM_JOIN(sim_put, wide_##T)(w, &i->d, r, mask);                        \
    }
INSERT_OP(u32)
INSERT_OP(u64)

SIM_OP2(bmsk_clamp, u32, u32, u32,
        (a >= 32 ? 0 : ~0u << (a & 31)) &
            (b >= 32 || a + (uint64_t)b >= 32 ? ~0u
                                              : (1u << ((a + b) & 31)) - 1))
SIM_OP2(bmsk_wrap, u32, u32, u32,
        (uint32_t)((((uint64_t)1 << (b & 31)) - 1) << (a & 31)))

#define FUNNEL(a, b) ((uint64_t)(b) << 32 | (a))
SIM_OP3(shf_l_wrap, u32, u32, u32, u32, FUNNEL(a, b) << (c & 31) >> 32)
SIM_OP3(shf_l_clamp, u32, u32, u32, u32,
        FUNNEL(a, b) << (c < 32 ? c : 32) >> 32)
SIM_OP3(shf_r_wrap, u32, u32, u32, u32, FUNNEL(a, b) >> (c & 31))
SIM_OP3(shf_r_clamp, u32, u32, u32, u32, FUNNEL(a, b) >> (c < 32 ? c : 32))

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t select)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t s = select >> (4 * k) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (s & 7))) & 0xFF;
        if (s & 8)
            byte = byte & 0x80 ? 0xFF : 0;
        r |= byte << (8 * k);
    }
    return r;
}

/* The modes of prmt with a name, as selectors of the general one. */
#define PRMT_OP(name, s0, s1, s2, s3)                                          \
    static inline uint32_t select_##name(uint32_t c)                           \
    {                                                                          \
        static const uint16_t table[4] = {s0, s1, s2, s3};                     \
        return table[c & 3];                                                   \
    }                                                                          \
    SIM_OP3(prmt_##name, u32, u32, u32, u32, permute(a, b, select_##name(c)))
SIM_OP3(prmt, u32, u32, u32, u32, permute(a, b, c))
PRMT_OP(f4e, 0x3210, 0x4321, 0x5432, 0x6543)
PRMT_OP(b4e, 0x5670, 0x6701, 0x7012, 0x0123)
PRMT_OP(rc8, 0x0000, 0x1111, 0x2222, 0x3333)
PRMT_OP(ecl, 0x3210, 0x3211, 0x3222, 0x3333)
PRMT_OP(ecr, 0x0000, 0x1110, 0x2210, 0x3210)
PRMT_OP(rc16, 0x1010, 0x3232, 0x1010, 0x3232)

static SIM_CLONES void lop3(struct sim_warp *w, const struct sim_instr *i,
                            uint32_t mask)
{
    SIM_FETCH(u32, a, &i->a);
    SIM_FETCH(u32, b, &i->b);
    SIM_FETCH(u32, c, &i->c);
    uint32_t t[8];
    for (int k = 0; k < 8; k++)
        t[k] = i->more[0].value >> k & 1 ? ~0u : 0;
    uint32_t r[SIM_LANES];
    for (int l = 0; l < SIM_LANES; l++) {
        uint32_t x = a_lanes[l];
        uint32_t y = b_lanes[l];
        uint32_t z = c_lanes[l];
        uint32_t low = (~y & ((~z & t[0]) | (z & t[1]))) |
                       (y & ((~z & t[2]) | (z & t[3])));
        uint32_t high = (~y & ((~z & t[4]) | (z & t[5]))) |
                        (y & ((~z & t[6]) | (z & t[7])));
        r[l] = (~x & low) | (x & high);
    }
    sim_put32(w, &i->d, r, mask);
}

/* dp4a: four products of bytes; dp2a: two of 16 bits with bytes, of the lower or
 * the upper half of b. */
#define DOT_OPS(TA, TB, SA, SB)                                                \
    static inline uint32_t dot4_##TA##TB(uint32_t a, uint32_t b, uint32_t c)   \
    {                                                                          \
        for (int k = 0; k < 4; k++)                                            \
            c += (uint32_t)((int32_t)(SA##8_t)(a >> 8 * k) *                   \
                            (int32_t)(SB##8_t)(b >> 8 * k));                   \
        return c;                                                              \
    }                                                                          \
    static inline uint32_t dot2_##TA##TB(uint32_t a, uint32_t b, uint32_t c,   \
                                         int at)                               \
    {                                                                          \
        for (int k = 0; k < 2; k++)                                            \
            c += (uint32_t)(SA##16_t)(a >> 16 * k) *                           \
                 (uint32_t)(SB##8_t)(b >> (8 * k + at));                       \
        return c;                                                              \
    }                                                                          \
    SIM_OP3(dp4a_##TA##TB, u32, u32, u32, u32, dot4_##TA##TB(a, b, c))         \
    SIM_OP3(dp2a_lo_##TA##TB, u32, u32, u32, u32, dot2_##TA##TB(a, b, c, 0))   \
    SIM_OP3(dp2a_hi_##TA##TB, u32, u32, u32, u32, dot2_##TA##TB(a, b, c, 16))
DOT_OPS(u32, u32, uint, uint)
DOT_OPS(u32, s32, uint, int)
DOT_OPS(s32, u32, int, uint)
DOT_OPS(s32, s32, int, int)

/* ---- with carry: the flag is a predicate of the warp, number 0 ---- */

#define CARRY_OP(name, T, W, with, sum)                                        \
    static SIM_CLONES void name##_##T(                                         \
        struct sim_warp *w, const struct sim_instr *i, uint32_t mask)          \
    {                                                                          \
        SIM_FETCH(T, a, &i->a);                                                \
        SIM_FETCH(T, b, &i->b);                                                \
        SIM_FETCH(T, c, &i->c);                                                \
        raw_##T r[SIM_LANES];                                                  \
        uint32_t carry = w->preds[0];                                          \
        uint32_t out = 0;                                                      \
        for (int l = 0; l < SIM_LANES; l++) {                                  \
            W x = a_lanes[l];                                                  \
            W y = b_lanes[l];                                                  \
            W z = c_lanes[l];                                                  \
            W in = (with) ? carry >> l & 1 : 0;                                \
            W v = (sum);                                                       \
            (void)z;                                                           \
            r[l] = (raw_##T)v;                                                 \
            out |= (uint32_t)(v >> sizeof(r[l]) * 8 & 1) << l;                 \
        }                                                                      \
        SIM_JOIN(sim_put, wide_##T)(w, &i->d, r, mask);                        \
        if (i->flags & SIM_F_CC)                                               \
            w->preds[0] = (carry & ~mask) | (out & mask);                      \
    }
#define CARRY_OPS(T, W, R)                                                     \
    CARRY_OP(add_cc, T, W, false, x + y + in)                                  \
    CARRY_OP(addc, T, W, true, x + y + in)                                     \
    CARRY_OP(sub_cc, T, W, false, x - y - in)                                  \
    CARRY_OP(subc, T, W, true, x - y - in)                                     \
    CARRY_OP(mad_lo_cc, T, W, false, (W)(R)(x * y) + z + in)                   \
    CARRY_OP(madc_lo, T, W, true, (W)(R)(x * y) + z + in)                      \
    CARRY_OP(mad_hi_cc, T, W, false, (x * y >> sizeof(R) * 8) + z + in)        \
    CARRY_OP(madc_hi, T, W, true, (x * y >> sizeof(R) * 8) + z + in)
CARRY_OPS(u32, uint64_t, uint32_t)
CARRY_OPS(u64, u128, uint64_t)
#define CARRY_HIGH(x) ((uint64_t)(((int64_t)(int32_t)x * (int32_t)y) >> 32))
CARRY_OP(mad_hi_cc, s32, uint64_t, false,
         (uint32_t)CARRY_HIGH(x) + (uint64_t)z + in)
CARRY_OP(madc_hi, s32, uint64_t, true,
         (uint32_t)CARRY_HIGH(x) + (uint64_t)z + in)

/* ---- fp32 and fp64 ---- */

#define F32_NAN sim_f32(0x7FFFFFFF)

/* A NaN that arithmetic in fp32 makes has one pattern on the hardware. */
static inline float one_nan(float v)
{
    return v == v ? v : F32_NAN;
}

static inline float flush(float v)
{
    uint32_t bits = sim_bits32(v);
    return sim_f32((bits & 0x7F800000) == 0 ? bits & 0x80000000 : bits);
}

static inline float saturate(float v)
{
    return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f;
}

static inline double saturate64(double v)
{
    return v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0;
}

/* The rounding of the instruction, while its lanes are computed. */
static void round_as(unsigned flags)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                FE_UPWARD};
    fesetround(modes[(flags & SIM_F_ROUND) / SIM_F_RZ]);
    __asm__ volatile("" ::: "memory");
}

static void round_to_nearest(void)
{
    __asm__ volatile("" ::: "memory");
    fesetround(FE_TONEAREST);
}

static inline float in_f32(float v, unsigned flags)
{
    return flags & SIM_F_FTZ ? flush(v) : v;
}

static inline float out_f32(float v, unsigned flags)
{
    v = one_nan(v);
    v = flags & SIM_F_FTZ ? flush(v) : v;
    return flags & SIM_F_SAT ? saturate(v) : v;
}

static inline double in_f64(double v, unsigned flags)
{
    (void)flags;
    return v;
}

static inline double out_f64(double v, unsigned flags)
{
    return flags & SIM_F_SAT ? saturate64(v) : v;
}

/* name: to the nearest; name_flagged: any rounding, .ftz, .sat. Memory is written
 * between the changes of rounding, so the compiler keeps the order. */
#define number_f32 float
#define number_f64 double
#define FLOAT_OP(T, name, sources, expr)                                       \
    static SIM_CLONES void name(struct sim_warp *w, const struct sim_instr *i, \
                                uint32_t mask)                                 \
    {                                                                          \
        SIM_FETCH(T, a, &i->a);                                                \
        SIM_FETCH(T, b, (sources) > 1 ? &i->b : &i->a);                        \
        SIM_FETCH(T, c, (sources) > 2 ? &i->c : &i->a);                        \
        raw_##T r[SIM_LANES];                                                  \
        for (int l = 0; l < SIM_LANES; l++) {                                  \
            number_##T a = get_##T(a_lanes[l]);                                \
            number_##T b = get_##T(b_lanes[l]);                                \
            number_##T c = get_##T(c_lanes[l]);                                \
            (void)b;                                                           \
            (void)c;                                                           \
            r[l] = put_##T(out_##T(expr, 0));                                  \
        }                                                                      \
        SIM_JOIN(sim_put, wide_##T)(w, &i->d, r, mask);                        \
    }                                                                          \
    static void name##_flagged(struct sim_warp *w, const struct sim_instr *i,  \
                               uint32_t mask)                                  \
    {                                                                          \
        SIM_FETCH(T, a, &i->a);                                                \
        SIM_FETCH(T, b, (sources) > 1 ? &i->b : &i->a);                        \
        SIM_FETCH(T, c, (sources) > 2 ? &i->c : &i->a);                        \
        volatile number_##T v[SIM_LANES];                                      \
        raw_##T r[SIM_LANES];                                                  \
        round_as(i->flags);                                                    \
        for (int l = 0; l < SIM_LANES; l++) {                                  \
            number_##T a = in_##T(get_##T(a_lanes[l]), i->flags);              \
            number_##T b = in_##T(get_##T(b_lanes[l]), i->flags);              \
            number_##T c = in_##T(get_##T(c_lanes[l]), i->flags);              \
            (void)b;                                                           \
            (void)c;                                                           \
            v[l] = expr;                                                       \
        }                                                                      \
        round_to_nearest();                                                    \
        for (int l = 0; l < SIM_LANES; l++)                                    \
            r[l] = put_##T(out_##T(v[l], i->flags));                           \
        SIM_JOIN(sim_put, wide_##T)(w, &i->d, r, mask);                        \
    }
FLOAT_OP(f32, add_f32, 2, a + b)
FLOAT_OP(f32, sub_f32, 2, a - b)
FLOAT_OP(f32, mul_f32, 2, a *b)
FLOAT_OP(f32, fma_f32, 3, __builtin_fmaf(a, b, c))
FLOAT_OP(f32, fma_minus_c_f32, 3, __builtin_fmaf(a, b, -c))
FLOAT_OP(f32, fma_minus_ab_f32, 3, __builtin_fmaf(-a, b, c))
FLOAT_OP(f32, div_f32, 2, a / b)
FLOAT_OP(f32, rcp_f32, 1, 1.0f / a)
FLOAT_OP(f32, sqrt_f32, 1, __builtin_sqrtf(a))
FLOAT_OP(f64, add_f64, 2, a + b)
FLOAT_OP(f64, sub_f64, 2, a - b)
FLOAT_OP(f64, mul_f64, 2, a *b)
FLOAT_OP(f64, fma_f64, 3, __builtin_fma(a, b, c))
FLOAT_OP(f64, fma_minus_c_f64, 3, __builtin_fma(a, b, -c))
FLOAT_OP(f64, fma_minus_ab_f64, 3, __builtin_fma(-a, b, c))
FLOAT_OP(f64, div_f64, 2, a / b)
FLOAT_OP(f64, rcp_f64, 1, 1.0 / a)
FLOAT_OP(f64, sqrt_f64, 1, __builtin_sqrt(a))

static bool is_root(const struct sim_instr *i)
{
    return strcmp(i->ptx->opcode, "sqrt") == 0 && i->type == LAB_PTX_F32 &&
           lab_ptx_has_modifier(i->ptx, "rn");
}

/* Another way for 0: the FLOP of the other lanes are counted. */
static void run_root(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    SIM_FETCH(f32, a, &i->a);
    int n = 0;
    for (int l = 0; l < SIM_LANES; l++)
        n += (int)(mask >> l & 1) & (sim_f32(a_lanes[l]) != 0);
    w->block->tally[sim_index(w, i)].chosen += n;
    i->after(w, i, mask);
}

static bool is_quotient(const struct sim_instr *i)
{
    return strcmp(i->ptx->opcode, "div") == 0 && i->type == LAB_PTX_F32 &&
           lab_ptx_has_modifier(i->ptx, "rn") && !(i->flags & SIM_F_FTZ);
}

/* What the function that ptxas calls for such a division adds and multiplies: in its
 * machine code it scales numbers that are not normal, divides the significands, and
 * rounds a result that is not normal with three more. */
static struct sim_work slow_division(float a, float b)
{
    int adds = 1;
    int fmas = 7;
    if (a != a || b != b)
        fmas = 0;
    else if (a == 0 || b == 0 || isinf(a) || isinf(b))
        adds = fmas = 0;
    else {
        int exponent;
        const double q = frexp((double)a / b, &exponent);
        frexp(ldexp(rint(ldexp(q, 24)), exponent - 24), &exponent);
        fmas += (fabsf(a) < 0x1p-126f) + (fabsf(b) < 0x1p-126f);
        if (exponent <= -126 && exponent >= -150)
            fmas += 3;
    }
    return (struct sim_work){.adds = adds, .fmas = fmas};
}

enum {
    /* Exponents, with their bias, for which the machine's test (FCHK) asks for the
     * function: as the counters of an H200 have it. */
    SMALL_DIVIDEND = 24,
    LARGE_DIVISOR = 253,
    LARGE_QUOTIENT = 127
};

static void run_quotient(struct sim_warp *w, const struct sim_instr *i,
                         uint32_t mask)
{
    SIM_FETCH(f32, a, &i->a);
    SIM_FETCH(f32, b, &i->b);
    uint32_t slow = 0;
    for (int l = 0; l < SIM_LANES; l++) {
        const int of_a = (int)(a_lanes[l] >> 23 & 255);
        const int of_b = (int)(b_lanes[l] >> 23 & 255);
        slow |=
            (uint32_t)(of_a <= SMALL_DIVIDEND || of_a == 255 || of_b == 0 ||
                       of_b >= LARGE_DIVISOR || of_a - of_b >= LARGE_QUOTIENT ||
                       of_b - of_a >= LARGE_QUOTIENT - 1)
            << l;
    }
    for (uint32_t rest = slow & mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        sim_add_work(&w->block->counts[sim_index(w, i)],
                     slow_division(sim_f32(a_lanes[l]), sim_f32(b_lanes[l])));
    }
    i->after(w, i, mask);
}

/* In fp64 ptxas calls a function, too, for a division, a reciprocal and a root near the
 * ends of the range. What these compare, and what they add and multiply, is that of their
 * machine code, the same for sm_75 and sm_90a (CUDA 13). */

enum {
    /* Of the upper half of a number. What is compared as a float is no less as a
     * number, where it is no NaN of a float: those begin behind FLOAT_INFINITY. */
    SIGNLESS = 0x7fffffff,
    LEAST_NORMAL = 0x00100000,
    FLOAT_INFINITY = 0x7f800000,
    INFINITE = 0x7ff00000,
    LEAST_DIVIDEND = 0x03600000,
    MOST_OF_RECIPROCAL = 0x7fcffbfe,
    SCALED_RECIPROCAL = 0x01000001,
    LEAST_OF_ROOT = 0x03500000
};

static uint32_t upper(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    return (uint32_t)(bits >> 32);
}

static bool is_exact_quotient(double a, double b)
{
    int unused;
    const double x = frexp(a, &unused);
    const double y = frexp(b, &unused);
    return fma(-(x / y), y, x) == 0;
}

static struct sim_work slow_quotient(double a, double b)
{
    const uint32_t of_a = upper(a) & SIGNLESS;
    const uint32_t of_b = upper(b) & SIGNLESS;
    const uint32_t of_q = upper(a / b) & SIGNLESS;
    struct sim_work n = {.muls = 1, .fmas = 7};
    if (of_a >= LEAST_DIVIDEND && of_b < FLOAT_INFINITY &&
        of_b >= LEAST_NORMAL && of_q > LEAST_NORMAL && of_q <= FLOAT_INFINITY)
        return (struct sim_work){.adds = 0};
    n.muls += of_b < LEAST_NORMAL;
    n.fmas += of_a < LEAST_NORMAL;
    if (a == 0 || b == 0 || of_a >= INFINITE || of_b >= INFINITE)
        return n;
    n.muls++;
    if (of_q > LEAST_NORMAL)
        return n;
    n.fmas++;
    if (!is_exact_quotient(a, b)) {
        n.muls++;
        n.fmas++;
    }
    return n;
}

static struct sim_work slow_reciprocal(double a)
{
    const uint32_t of_a = upper(a) & SIGNLESS;
    if ((of_a >= LEAST_NORMAL && of_a < MOST_OF_RECIPROCAL) || of_a == 0 ||
        of_a >= INFINITE)
        return (struct sim_work){.adds = 0};
    return of_a >= SCALED_RECIPROCAL ? (struct sim_work){.muls = 1, .fmas = 8}
                                     : (struct sim_work){.muls = 2, .fmas = 5};
}

static struct sim_work slow_root(double a)
{
    const uint32_t of_a = upper(a);
    if (of_a >= LEAST_OF_ROOT && of_a < INFINITE)
        return (struct sim_work){.adds = 0};
    if (of_a >= LEAST_NORMAL && of_a < INFINITE)
        return (struct sim_work){.fmas = 2};
    if (a > 0 && of_a < LEAST_NORMAL)
        return (struct sim_work){.muls = 4, .fmas = 5};
    return (struct sim_work){.adds = !(a < 0)};
}

#define RUN_F64(name, slow, second)                                            \
    static void name(struct sim_warp *w, const struct sim_instr *i,            \
                     uint32_t mask)                                            \
    {                                                                          \
        SIM_FETCH(f64, a, &i->a);                                              \
        SIM_FETCH(f64, b, second);                                             \
        (void)b_lanes;                                                         \
        for (uint32_t rest = mask; rest; rest &= rest - 1) {                   \
            const int l = __builtin_ctz(rest);                                 \
            struct sim_work more = slow;                                       \
            more.f64 = true;                                                   \
            sim_add_work(&w->block->counts[sim_index(w, i)], more);            \
        }                                                                      \
        i->after(w, i, mask);                                                  \
    }
RUN_F64(run_quotient_f64,
        slow_quotient(sim_f64(a_lanes[l]), sim_f64(b_lanes[l])), &i->b)
RUN_F64(run_reciprocal_f64, slow_reciprocal(sim_f64(a_lanes[l])), &i->a)
RUN_F64(run_root_f64, slow_root(sim_f64(a_lanes[l])), &i->a)

static sim_run_fn *run_f64(const struct sim_instr *i)
{
    const char *opcode = i->ptx->opcode;
    if (i->type != LAB_PTX_F64 || !lab_ptx_has_modifier(i->ptx, "rn"))
        return NULL;
    return strcmp(opcode, "div") == 0    ? run_quotient_f64
           : strcmp(opcode, "rcp") == 0  ? run_reciprocal_f64
           : strcmp(opcode, "sqrt") == 0 ? run_root_f64
                                         : NULL;
}

/* ---- functions that scale what they take near the ends of the range ----
 *
 * Without .ftz the machine's function is given a number that is normal, and the result is
 * scaled back. ptxas does the first under a predicate where nothing reads that number
 * later, or else for all lanes in a register of its own, with a choice behind (sm_75 to
 * sm_90a, CUDA 13). */

enum { KEPT_A = 1, KEPT_B = 2 };

static bool is_small(float x)
{
    return fabsf(x) < 0x1p-126f;
}

/* The lanes of `mask` that multiply an operand first. */
static int first_lanes(const struct sim_instr *i, int operand, uint32_t scaled,
                       uint32_t mask)
{
    return __builtin_popcount(i->kept & operand ? mask : scaled & mask);
}

#define SCALED(name, operand, condition, muls, adds)                           \
    static void name(struct sim_warp *w, const struct sim_instr *i,            \
                     uint32_t mask)                                            \
    {                                                                          \
        SIM_FETCH(f32, x, operand);                                            \
        uint32_t scaled = 0;                                                   \
        for (int l = 0; l < SIM_LANES; l++) {                                  \
            const float x = sim_f32(x_lanes[l]);                               \
            scaled |= (uint32_t)(condition) << l;                              \
        }                                                                      \
        const int back = __builtin_popcount(scaled & mask);                    \
        (void)back;                                                            \
        sim_add_work(&w->block->counts[sim_index(w, i)],                       \
                     (struct sim_work){adds, muls, 0, false, 0});              \
        i->after(w, i, mask);                                                  \
    }
SCALED(scaled_power, &i->a, x < -126.0f,
       first_lanes(i, KEPT_A, scaled, mask) + back, 0)
SCALED(scaled_root, &i->a, is_small(x),
       first_lanes(i, KEPT_A, scaled, mask) + back, 0)
SCALED(scaled_logarithm, &i->a, is_small(x),
       first_lanes(i, KEPT_A, scaled, mask), back)
SCALED(scaled_quotient, &i->b, is_small(x),
       first_lanes(i, KEPT_B, scaled, mask) +
           (i->a.source == SIM_IMMEDIATE
                ? 0
                : first_lanes(i, KEPT_A, scaled, mask)),
       0)

static sim_run_fn *run_scaled(const struct sim_instr *i)
{
    static const struct {
        const char *opcode;
        sim_run_fn *run;
    } rows[] = {{"ex2", scaled_power},
                {"rsqrt", scaled_root},
                {"sqrt", scaled_root},
                {"lg2", scaled_logarithm},
                {"div", scaled_quotient}};
    if (i->type != LAB_PTX_F32 || !lab_ptx_has_modifier(i->ptx, "approx") ||
        lab_ptx_has_modifier(i->ptx, "ftz"))
        return NULL;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        if (strcmp(i->ptx->opcode, rows[k].opcode) == 0)
            return rows[k].run;
    return NULL;
}

sim_run_fn *sim_math_counts(struct sim_instr *i)
{
    sim_run_fn *run = is_root(i)       ? run_root
                      : is_quotient(i) ? run_quotient
                                       : run_f64(i);
    if (is_root(i))
        i->flop = SIM_FLOP_CHOSEN;
    return run ? run : run_scaled(i);
}

/* One NaN loses against a number; -0 is less than +0. */
static inline float least(float a, float b)
{
    float v = a < b ? a : b;
    v = a == b ? sim_f32(sim_bits32(a) | sim_bits32(b)) : v;
    v = a != a ? b : v;
    return one_nan(b != b ? a : v);
}

static inline float greatest(float a, float b)
{
    float v = a > b ? a : b;
    v = a == b ? sim_f32(sim_bits32(a) & sim_bits32(b)) : v;
    v = a != a ? b : v;
    return one_nan(b != b ? a : v);
}

static inline float extreme(float a, float b, bool max, unsigned flags)
{
    if (flags & SIM_F_FTZ) {
        a = flush(a);
        b = flush(b);
    }
    uint32_t sign = (sim_bits32(a) ^ sim_bits32(b)) & 0x80000000;
    if (flags & SIM_F_XORSIGN) {
        a = fabsf(a);
        b = fabsf(b);
    }
    if (flags & SIM_F_NAN && (a != a || b != b))
        return F32_NAN;
    float v = max ? greatest(a, b) : least(a, b);
    return flags & SIM_F_XORSIGN ? sim_f32((sim_bits32(v) & 0x7FFFFFFF) | sign)
                                 : v;
}
SIM_OP2(min_f32, f32, f32, f32, least(a, b))
SIM_OP2(max_f32, f32, f32, f32, greatest(a, b))
SIM_OP2(min_f32_flagged, f32, f32, f32, extreme(a, b, false, i->flags))
SIM_OP2(max_f32_flagged, f32, f32, f32, extreme(a, b, true, i->flags))
SIM_OP1(abs_f32, f32, f32, sim_f32(sim_bits32(a) & 0x7FFFFFFF))
SIM_OP1(neg_f32, f32, f32, sim_f32(sim_bits32(a) ^ 0x80000000))
SIM_OP1(abs_f32_flagged, f32, f32, flush(fabsf(a)))
SIM_OP1(neg_f32_flagged, f32, f32, flush(-a))
SIM_OP2(copysign_f32, u32, u32, u32, (a & 0x80000000) | (b & 0x7FFFFFFF))

static inline double least64(double a, double b)
{
    double v = a < b ? a : b;
    v = a == b ? sim_f64(sim_bits64(a) | sim_bits64(b)) : v;
    v = a != a ? b : v;
    return b != b ? a : v;
}

static inline double greatest64(double a, double b)
{
    double v = a > b ? a : b;
    v = a == b ? sim_f64(sim_bits64(a) & sim_bits64(b)) : v;
    v = a != a ? b : v;
    return b != b ? a : v;
}
#define F64_SIGN ((uint64_t)1 << 63)
SIM_OP2(min_f64, f64, f64, f64, least64(a, b))
SIM_OP2(max_f64, f64, f64, f64, greatest64(a, b))
SIM_OP1(abs_f64, u64, u64, a & ~F64_SIGN)
SIM_OP1(neg_f64, u64, u64, a ^ F64_SIGN)
SIM_OP2(copysign_f64, u64, u64, u64, (a & F64_SIGN) | (b & ~F64_SIGN))

/* ---- approximate ---- */

/* Computed in double and rounded once: closer than the ISA asks for. div.approx
 * gives zero where the divisor is beyond 2^126. */
static inline float div_fast(float a, float b)
{
    if (fabsf(b) > 0x1p126f && !isinf(b))
        return isinf(a) ? F32_NAN : copysignf(0.0f, a) * copysignf(1.0f, b);
    return (float)((double)a / (double)b);
}
#define APPROX1(name, expr)                                                    \
    static void name(struct sim_warp *w, const struct sim_instr *i,            \
                     uint32_t mask)                                            \
    {                                                                          \
        SIM_FETCH(f32, a, &i->a);                                              \
        uint32_t r[SIM_LANES];                                                 \
        for (int l = 0; l < SIM_LANES; l++) {                                  \
            double a = (double)in_f32(sim_f32(a_lanes[l]), i->flags);          \
            r[l] = sim_bits32(out_f32((float)(expr), i->flags));               \
        }                                                                      \
        sim_put32(w, &i->d, r, mask);                                          \
    }
APPROX1(rcp_fast, 1.0 / a)
APPROX1(sqrt_fast, sqrt(a))
APPROX1(rsqrt_fast, 1.0 / sqrt(a))
APPROX1(sin_fast, sin(a))
APPROX1(cos_fast, cos(a))
APPROX1(lg2_fast, log2(a))
APPROX1(tanh_fast, tanh(a))

/* 2^a in double: 2^n by the exponent, 2^f for f in -1/2 to 1/2 by a polynomial,
 * within 1e-10 (the ISA allows 2^-22). */
static inline float exp2_lane(float x, bool ftz)
{
    double a = (double)(ftz ? flush(x) : x);
    a = a >= -160.0 ? a : -160.0; /* of NaN, too */
    a = a > 160.0 ? 160.0 : a;
    double n = __builtin_floor(a + 0.5);
    double f = (a - n) * 0.693147180559945309417;
    double p = 1.0 / 40320;
    p = p * f + 1.0 / 5040;
    p = p * f + 1.0 / 720;
    p = p * f + 1.0 / 120;
    p = p * f + 1.0 / 24;
    p = p * f + 1.0 / 6;
    p = p * f + 0.5;
    p = p * f + 1.0;
    p = p * f + 1.0;
    uint64_t scale = (uint64_t)((int64_t)(int32_t)n + 1023) << 52;
    float v = (float)(p * sim_f64(scale));
    v = ftz ? flush(v) : v;
    return x == x ? v : F32_NAN;
}
SIM_OP1(ex2_f32, f32, f32, exp2_lane(a, false))
SIM_OP1(ex2_ftz_f32, f32, f32, exp2_lane(a, true))
SIM_OP2(div_fast_f32, f32, f32, f32,
        out_f32(div_fast(in_f32(a, i->flags), in_f32(b, i->flags)), i->flags))
SIM_OP2(div_full_f32, f32, f32, f32,
        out_f32((float)((double)in_f32(a, i->flags) /
                        (double)in_f32(b, i->flags)),
                i->flags))

/* .f64 with .approx.ftz: the upper 32 bits of the result are good, the lower are
 * zero; subnormal numbers are zero. */
static inline double coarse(double v)
{
    uint64_t bits = sim_bits64(v);
    if ((bits >> 52 & 0x7FF) == 0)
        bits &= F64_SIGN;
    if (v != v)
        return v;
    return sim_f64(bits & 0xFFFFFFFF00000000);
}
SIM_OP1(rcp_fast_f64, f64, f64, coarse(1.0 / coarse(a)))
SIM_OP1(rsqrt_fast_f64, f64, f64, coarse(1.0 / __builtin_sqrt(coarse(a))))
SIM_OP1(rsqrt_f64, f64, f64, 1.0 / __builtin_sqrt(a))

/* ---- f16 and bf16: exact in float or double, then rounded once ---- */

/* .ftz of f16: a subnormal half is zero. */
static inline float half_in(float v, unsigned flags, bool brain)
{
    return flags & SIM_F_FTZ && !brain && fabsf(v) < 0x1p-14f
               ? copysignf(0.0f, v)
               : v;
}

/* a * b + c, of which the last bit is set where it is not exact: rounding it
 * again gives what one rounding would have. */
static inline double fma_to_odd(double a, double b, double c)
{
    double p = a * b; /* exact: 22 bits */
    double s = p + c;
    double t = s - p;
    double rest = (p - (s - t)) + (c - t);
    if (rest != 0.0 && !isinf(s) && s == s && !(sim_bits64(s) & 1))
        s = sim_f64(sim_bits64(s) + ((rest > 0.0) == (s > 0.0) ? 1 : -1));
    return s;
}

static inline uint32_t half_code(double v, unsigned flags, bool brain)
{
    static const enum sim_round rounds[] = {SIM_ROUND_NEAREST, SIM_ROUND_ZERO,
                                            SIM_ROUND_DOWN, SIM_ROUND_UP};
    enum sim_round round = rounds[(flags & SIM_F_ROUND) / SIM_F_RZ];
    if (flags & SIM_F_SAT)
        v = saturate64(v);
    if (flags & SIM_F_RELU && v < 0.0)
        v = 0.0;
    uint16_t h = brain ? sim_bf16_of_f64(v, round, false)
                       : sim_f16_of_f64(v, round, false);
    if (flags & SIM_F_FTZ && !brain && (h & 0x7C00) == 0)
        h &= 0x8000;
    return h;
}

enum half_op {
    HALF_ADD,
    HALF_SUB,
    HALF_MUL,
    HALF_FMA,
    HALF_MIN,
    HALF_MAX,
    HALF_NEG,
    HALF_ABS,
    HALF_EX2,
    HALF_TANH
};

static uint32_t half_value(enum half_op op, uint32_t ra, uint32_t rb,
                           uint32_t rc, unsigned flags, bool brain)
{
    if (op == HALF_NEG || op == HALF_ABS) {
        uint32_t h = op == HALF_NEG ? ra ^ 0x8000 : ra & 0x7FFF;
        return flags & SIM_F_FTZ && !brain && (h & 0x7C00) == 0 ? h & 0x8000
                                                                : h;
    }
#define HALF(r)                                                                \
    half_in(brain ? sim_f32_of_bf16((uint16_t)(r))                             \
                  : sim_f32_of_f16((uint16_t)(r)),                             \
            flags, brain)
    float a = HALF(ra);
    float b = HALF(rb);
    float c = HALF(rc);
#undef HALF
    switch (op) {
    case HALF_ADD:
        return half_code(fma_to_odd((double)a, 1.0, (double)b), flags, brain);
    case HALF_SUB:
        return half_code(fma_to_odd((double)a, 1.0, -(double)b), flags, brain);
    case HALF_MUL:
        return half_code((double)a * (double)b, flags, brain);
    case HALF_FMA:
        return half_code(fma_to_odd((double)a, (double)b, (double)c), flags,
                         brain);
    case HALF_EX2:
        return half_code(exp2((double)a), flags, brain);
    case HALF_TANH:
        return half_code(tanh((double)a), flags, brain);
    default:
        return half_code(
            (double)extreme(a, b, op == HALF_MAX, flags & ~(unsigned)SIM_F_FTZ),
            flags, brain);
    }
}

/* Of one or of two halves in 32 bits. */
#define HALF_OP(name, op, sources)                                             \
    static void name##_half(struct sim_warp *w, const struct sim_instr *i,     \
                            uint32_t mask)                                     \
    {                                                                          \
        bool brain = i->type == LAB_PTX_BF16 || i->type == LAB_PTX_BF16X2;     \
        bool two = i->type == LAB_PTX_F16X2 || i->type == LAB_PTX_BF16X2;      \
        SIM_FETCH(u32, a, &i->a);                                              \
        SIM_FETCH(u32, b, (sources) > 1 ? &i->b : &i->a);                      \
        SIM_FETCH(u32, c, (sources) > 2 ? &i->c : &i->a);                      \
        uint32_t r[SIM_LANES];                                                 \
        for (int l = 0; l < SIM_LANES; l++) {                                  \
            uint32_t a = a_lanes[l];                                           \
            uint32_t b = b_lanes[l];                                           \
            uint32_t c = c_lanes[l];                                           \
            r[l] = half_value(op, a & 0xFFFF, b & 0xFFFF, c & 0xFFFF,          \
                              i->flags, brain);                                \
            if (two)                                                           \
                r[l] |=                                                        \
                    half_value(op, a >> 16, b >> 16, c >> 16, i->flags, brain) \
                    << 16;                                                     \
        }                                                                      \
        sim_put32(w, &i->d, r, mask);                                          \
    }
HALF_OP(add, HALF_ADD, 2)
HALF_OP(sub, HALF_SUB, 2)
HALF_OP(mul, HALF_MUL, 2)
HALF_OP(fma, HALF_FMA, 3)
HALF_OP(min, HALF_MIN, 2)
HALF_OP(max, HALF_MAX, 2)
HALF_OP(neg, HALF_NEG, 1)
HALF_OP(abs, HALF_ABS, 1)
HALF_OP(ex2, HALF_EX2, 1)
HALF_OP(tanh, HALF_TANH, 1)

/* ---- szext, fns ---- */

/* The lower `bits` of a value, extended by zeros or by their sign. */
static inline uint32_t extend(uint32_t a, uint32_t bits, bool sign)
{
    if (bits >= 32)
        return a;
    if (bits == 0)
        return 0;
    const uint32_t low = a & ((1u << bits) - 1);
    return sign && low >> (bits - 1) ? low | ~0u << bits : low;
}
SIM_OP2(szext_wrap_u32, u32, u32, u32, extend(a, b & 31, false))
SIM_OP2(szext_wrap_s32, u32, u32, u32, extend(a, b & 31, true))
SIM_OP2(szext_clamp_u32, u32, u32, u32, extend(a, b, false))
SIM_OP2(szext_clamp_s32, u32, u32, u32, extend(a, b, true))

/* The bit that is the n-th that is set, from `base` on, upwards or downwards. */
static inline uint32_t nth_set(uint32_t mask, uint32_t base, int32_t n)
{
    int64_t count = n < 0 ? -(int64_t)n : n;
    if (base > 31)
        return ~0u;
    if (n == 0)
        return mask >> base & 1 ? base : ~0u;
    for (int32_t at = (int32_t)base; at >= 0 && at<32; at += n> 0 ? 1 : -1)
        if (mask >> at & 1 && --count == 0)
            return (uint32_t)at;
    return ~0u;
}
SIM_OP3(fns, u32, u32, u32, s32, nth_set(a, b, c))

/* ---- two halves of a word ---- */

static inline uint32_t two(uint32_t low, uint32_t high)
{
    return (low & 0xffff) | high << 16;
}
#define HALF(v, k) ((v) >> 16 * (k)&0xffff)
#define SIGNED_HALF(v, k) ((int16_t)((v) >> 16 * (k)))
#define OF_TWO(of, half) two((uint32_t)of(half, 0), (uint32_t)of(half, 1))
#define LEAST_OF(half, k) (half(a, k) < half(b, k) ? half(a, k) : half(b, k))
#define MOST_OF(half, k) (half(a, k) > half(b, k) ? half(a, k) : half(b, k))
#define NOT_BELOW_0(v) ((v) < 0 ? 0 : (v))
#define LEAST_RELU(half, k) NOT_BELOW_0(LEAST_OF(half, k))
#define MOST_RELU(half, k) NOT_BELOW_0(MOST_OF(half, k))
SIM_OP2(add_16x2, u32, u32, u32, two(a + b, (a >> 16) + (b >> 16)))
SIM_OP2(min_u16x2, u32, u32, u32, OF_TWO(LEAST_OF, HALF))
SIM_OP2(max_u16x2, u32, u32, u32, OF_TWO(MOST_OF, HALF))
SIM_OP2(min_s16x2, u32, u32, u32, OF_TWO(LEAST_OF, SIGNED_HALF))
SIM_OP2(max_s16x2, u32, u32, u32, OF_TWO(MOST_OF, SIGNED_HALF))
SIM_OP2(min_relu_s16x2, u32, u32, u32, OF_TWO(LEAST_RELU, SIGNED_HALF))
SIM_OP2(max_relu_s16x2, u32, u32, u32, OF_TWO(MOST_RELU, SIGNED_HALF))
SIM_OP2(min_relu_s32, s32, s32, s32, NOT_BELOW_0(a < b ? a : b))
SIM_OP2(max_relu_s32, s32, s32, s32, NOT_BELOW_0(a > b ? a : b))

/* The differences of `wide` bits each, side by side or added up. */
static inline uint32_t differences(uint32_t a, uint32_t b, int wide, bool sum)
{
    const uint32_t part = 0xffffffff >> (32 - wide);
    uint32_t out = 0;
    for (int k = 0; k < 32; k += wide) {
        const uint32_t x = a >> k & part;
        const uint32_t y = b >> k & part;
        out += (x > y ? x - y : y - x) << (sum ? 0 : k);
    }
    return out;
}
SIM_OP3(vabsdiff2_u32, u32, u32, u32, u32,
        ((void)c, differences(a, b, 16, false)))
SIM_OP3(vabsdiff4_u32, u32, u32, u32, u32,
        ((void)c, differences(a, b, 8, false)))
SIM_OP3(vabsdiff2_add_u32, u32, u32, u32, u32, c + differences(a, b, 16, true))
SIM_OP3(vabsdiff4_add_u32, u32, u32, u32, u32, c + differences(a, b, 8, true))

/* ---- predicates ---- */

#define PRED_OP(name, expr)                                                    \
    static void name##_pred(struct sim_warp *w, const struct sim_instr *i,     \
                            uint32_t mask)                                     \
    {                                                                          \
        uint32_t a = sim_pred(w, &i->a);                                       \
        uint32_t b = sim_pred(w, &i->b);                                       \
        (void)b;                                                               \
        sim_put_pred(w, &i->d, expr, mask);                                    \
    }
PRED_OP(and, a &b)
PRED_OP(or, a | b)
PRED_OP(xor, a ^ b)
PRED_OP(not, ~a)

/* ---- the table ---- */

/* clang-format off: a row a form */
#define R(op, type, need, allow, shape, run)                                   \
    {                                                                          \
#op, LAB_PTX_##type, need, allow, shape, run, NULL, 0                  \
    }
#define RF(op, type, need, allow, shape, run)                                  \
    {                                                                          \
#op, LAB_PTX_##type, need, allow, shape, run, run##_flagged, 0         \
    }
#define UNSIGNED_SIGNED(op, U, S, need, shape, run)                            \
    R(op, U, need, need, shape, run), R(op, S, need, need, shape, run)
#define BITS(op, shape)                                                        \
    R(op, B16, 0, 0, shape, op##_u16), R(op, B32, 0, 0, shape, op##_u32),      \
        R(op, B64, 0, 0, shape, op##_u64)
#define INTEGERS(op, need, shape, run)                                         \
    UNSIGNED_SIGNED(op, U16, S16, need, shape, run##_u16),                     \
        UNSIGNED_SIGNED(op, U32, S32, need, shape, run##_u32),                 \
        UNSIGNED_SIGNED(op, U64, S64, need, shape, run##_u64)
#define BY_SIGN(op, need, shape, run)                                          \
    R(op, U16, need, need, shape, run##_u16),                                  \
        R(op, S16, need, need, shape, run##_s16),                              \
        R(op, U32, need, need, shape, run##_u32),                              \
        R(op, S32, need, need, shape, run##_s32),                              \
        R(op, U64, need, need, shape, run##_u64),                              \
        R(op, S64, need, need, shape, run##_s64)
#define WIDE_BY_SIGN(op, shape, run)                                           \
    R(op, U16, SIM_M(WIDE), SIM_M(WIDE), shape, run##_u16),                    \
        R(op, S16, SIM_M(WIDE), SIM_M(WIDE), shape, run##_s16),                \
        R(op, U32, SIM_M(WIDE), SIM_M(WIDE), shape, run##_u32),                \
        R(op, S32, SIM_M(WIDE), SIM_M(WIDE), shape, run##_s32)
#define HALVES(op, need, allow, shape, run)                                    \
    R(op, F16, need, allow, shape, run),                                       \
        R(op, F16X2, need, allow, shape, run),                                 \
        R(op, BF16, need, allow, shape, run),                                  \
        R(op, BF16X2, need, allow, shape, run)
#define CARRY(op, need, shape, run)                                            \
    UNSIGNED_SIGNED_CC(op, U32, S32, need, shape, run##_u32),                  \
        UNSIGNED_SIGNED_CC(op, U64, S64, need, shape, run##_u64)
#define UNSIGNED_SIGNED_CC(op, U, S, need, shape, run)                         \
    R(op, U, need, (need) | SIM_M(CC), shape, run),                            \
        R(op, S, need, (need) | SIM_M(CC), shape, run)
#define DOT(op, need, run)                                                       \
    {#op, LAB_PTX_U32, need, need, "IIII", run##_u32u32, NULL, LAB_PTX_U32},     \
        {#op, LAB_PTX_U32, need, need, "IIII", run##_u32s32, NULL, LAB_PTX_S32}, \
        {#op, LAB_PTX_S32, need, need, "IIII", run##_s32u32, NULL, LAB_PTX_U32}, \
    {                                                                            \
#op, LAB_PTX_S32, need, need, "IIII", run##_s32s32, NULL, LAB_PTX_S32    \
    }

#define ROUND (SIM_M(RN) | SIM_M(RZ) | SIM_M(RM) | SIM_M(RP))
#define FLAGS32 (ROUND | SIM_M(FTZ) | SIM_M(SAT))
#define HALF_FLAGS (SIM_M(RN) | SIM_M(FTZ) | SIM_M(SAT))
#define LIMITS (SIM_M(FTZ) | SIM_M(NAN) | SIM_M(XORSIGN) | SIM_M(ABS))
#define FAST (SIM_M(APPROX) | SIM_M(FTZ))

static const struct sim_row rows[] = {
    CARRY(add, SIM_M(CC), "TTT", add_cc),
    INTEGERS(add, 0, "TTT", add),
    R(add, S32, SIM_M(SAT), SIM_M(SAT), "TTT", add_sat_s32),
    RF(add, F32, 0, FLAGS32, "TTT", add_f32),
    RF(add, F64, 0, ROUND, "TTT", add_f64),
    HALVES(add, 0, HALF_FLAGS, "TTT", add_half),
    CARRY(addc, 0, "TTT", addc),
    CARRY(sub, SIM_M(CC), "TTT", sub_cc),
    INTEGERS(sub, 0, "TTT", sub),
    R(sub, S32, SIM_M(SAT), SIM_M(SAT), "TTT", sub_sat_s32),
    RF(sub, F32, 0, FLAGS32, "TTT", sub_f32),
    RF(sub, F64, 0, ROUND, "TTT", sub_f64),
    HALVES(sub, 0, HALF_FLAGS, "TTT", sub_half),
    CARRY(subc, 0, "TTT", subc),
    INTEGERS(mul, SIM_M(LO), "TTT", mul_lo),
    BY_SIGN(mul, SIM_M(HI), "TTT", mul_hi),
    WIDE_BY_SIGN(mul, "WTT", mul_wide),
    RF(mul, F32, 0, FLAGS32, "TTT", mul_f32),
    RF(mul, F64, 0, ROUND, "TTT", mul_f64),
    HALVES(mul, 0, HALF_FLAGS, "TTT", mul_half),
    CARRY(mad, SIM_M(CC) | SIM_M(LO), "TTTT", mad_lo_cc),
    R(mad, U32, SIM_M(CC) | SIM_M(HI), SIM_M(CC) | SIM_M(HI), "TTTT",
      mad_hi_cc_u32),
    R(mad, S32, SIM_M(CC) | SIM_M(HI), SIM_M(CC) | SIM_M(HI), "TTTT",
      mad_hi_cc_s32),
    R(mad, U64, SIM_M(CC) | SIM_M(HI), SIM_M(CC) | SIM_M(HI), "TTTT",
      mad_hi_cc_u64),
    INTEGERS(mad, SIM_M(LO), "TTTT", mad_lo),
    BY_SIGN(mad, SIM_M(HI), "TTTT", mad_hi),
    R(mad, S32, SIM_M(HI) | SIM_M(SAT), SIM_M(HI) | SIM_M(SAT), "TTTT",
      mad_hi_sat_s32),
    WIDE_BY_SIGN(mad, "WTTW", mad_wide),
    RF(mad, F32, 0, FLAGS32, "TTTT", fma_f32),
    RF(mad, F64, 0, ROUND, "TTTT", fma_f64),
    CARRY(madc, SIM_M(LO), "TTTT", madc_lo),
    R(madc, U32, SIM_M(HI), SIM_M(CC) | SIM_M(HI), "TTTT", madc_hi_u32),
    R(madc, S32, SIM_M(HI), SIM_M(CC) | SIM_M(HI), "TTTT", madc_hi_s32),
    R(madc, U64, SIM_M(HI), SIM_M(CC) | SIM_M(HI), "TTTT", madc_hi_u64),
    R(mul24, S32, SIM_M(LO), SIM_M(LO), "TTT", mul24_lo_s32),
    R(mul24, U32, SIM_M(LO), SIM_M(LO), "TTT", mul24_lo_u32),
    R(mul24, S32, SIM_M(HI), SIM_M(HI), "TTT", mul24_hi_s32),
    R(mul24, U32, SIM_M(HI), SIM_M(HI), "TTT", mul24_hi_u32),
    R(mad24, S32, SIM_M(LO), SIM_M(LO), "TTTT", mad24_lo_s32),
    R(mad24, U32, SIM_M(LO), SIM_M(LO), "TTTT", mad24_lo_u32),
    R(mad24, S32, SIM_M(HI), SIM_M(HI), "TTTT", mad24_hi_s32),
    R(mad24, U32, SIM_M(HI), SIM_M(HI), "TTTT", mad24_hi_u32),
    RF(fma, F32, 0, FLAGS32, "TTTT", fma_f32),
    RF(fma, F64, 0, ROUND, "TTTT", fma_f64),
    /* Of fuse.c: no PTX can have these names. */
    {"fma -c", LAB_PTX_F32, 0, FLAGS32, "TTTT", fma_minus_c_f32,
     fma_minus_c_f32_flagged},
    {"fma -c", LAB_PTX_F64, 0, ROUND, "TTTT", fma_minus_c_f64,
     fma_minus_c_f64_flagged},
    {"fma -ab", LAB_PTX_F32, 0, FLAGS32, "TTTT", fma_minus_ab_f32,
     fma_minus_ab_f32_flagged},
    {"fma -ab", LAB_PTX_F64, 0, ROUND, "TTTT", fma_minus_ab_f64,
     fma_minus_ab_f64_flagged},
    HALVES(fma, SIM_M(RN), HALF_FLAGS | SIM_M(RELU), "TTTT", fma_half),
    BY_SIGN(sad, 0, "TTTT", sad),
    BY_SIGN(div, 0, "TTT", div),
    BY_SIGN(rem, 0, "TTT", rem),
    R(div, F32, SIM_M(APPROX), FAST, "TTT", div_fast_f32),
    R(div, F32, SIM_M(FULL), SIM_M(FULL) | SIM_M(FTZ), "TTT", div_full_f32),
    RF(div, F32, 0, ROUND | SIM_M(FTZ), "TTT", div_f32),
    RF(div, F64, 0, ROUND, "TTT", div_f64),
    R(rcp, F32, SIM_M(APPROX), FAST, "TT", rcp_fast),
    RF(rcp, F32, 0, ROUND | SIM_M(FTZ), "TT", rcp_f32),
    R(rcp, F64, FAST, FAST, "TT", rcp_fast_f64),
    RF(rcp, F64, 0, ROUND, "TT", rcp_f64),
    R(sqrt, F32, SIM_M(APPROX), FAST, "TT", sqrt_fast),
    RF(sqrt, F32, 0, ROUND | SIM_M(FTZ), "TT", sqrt_f32),
    RF(sqrt, F64, 0, ROUND, "TT", sqrt_f64),
    R(rsqrt, F32, SIM_M(APPROX), FAST, "TT", rsqrt_fast),
    R(rsqrt, F64, FAST, FAST, "TT", rsqrt_fast_f64),
    R(rsqrt, F64, SIM_M(APPROX), SIM_M(APPROX), "TT", rsqrt_f64),
    R(sin, F32, SIM_M(APPROX), FAST, "TT", sin_fast),
    R(cos, F32, SIM_M(APPROX), FAST, "TT", cos_fast),
    R(lg2, F32, SIM_M(APPROX), FAST, "TT", lg2_fast),
    R(ex2, F32, FAST, FAST, "TT", ex2_ftz_f32),
    R(ex2, F32, SIM_M(APPROX), FAST, "TT", ex2_f32),
    HALVES(ex2, SIM_M(APPROX), FAST, "TT", ex2_half),
    R(tanh, F32, SIM_M(APPROX), SIM_M(APPROX), "TT", tanh_fast),
    HALVES(tanh, SIM_M(APPROX), SIM_M(APPROX), "TT", tanh_half),
    BY_SIGN(min, 0, "TTT", min),
    BY_SIGN(max, 0, "TTT", max),
    RF(min, F32, 0, LIMITS, "TTT", min_f32),
    RF(max, F32, 0, LIMITS, "TTT", max_f32),
    R(min, F64, 0, 0, "TTT", min_f64),
    R(max, F64, 0, 0, "TTT", max_f64),
    HALVES(min, 0, LIMITS, "TTT", min_half),
    HALVES(max, 0, LIMITS, "TTT", max_half),
    R(abs, S16, 0, 0, "TT", abs_s16),
    R(abs, S32, 0, 0, "TT", abs_s32),
    R(abs, S64, 0, 0, "TT", abs_s64),
    RF(abs, F32, 0, SIM_M(FTZ), "TT", abs_f32),
    R(abs, F64, 0, 0, "TT", abs_f64),
    HALVES(abs, 0, SIM_M(FTZ), "TT", abs_half),
    R(neg, S16, 0, 0, "TT", neg_u16),
    R(neg, S32, 0, 0, "TT", neg_u32),
    R(neg, S64, 0, 0, "TT", neg_u64),
    RF(neg, F32, 0, SIM_M(FTZ), "TT", neg_f32),
    R(neg, F64, 0, 0, "TT", neg_f64),
    HALVES(neg, 0, SIM_M(FTZ), "TT", neg_half),
    R(copysign, F32, 0, 0, "TTT", copysign_f32),
    R(copysign, F64, 0, 0, "TTT", copysign_f64),
    R(popc, B32, 0, 0, "IT", popc_b32),
    R(popc, B64, 0, 0, "IT", popc_b64),
    R(clz, B32, 0, 0, "IT", clz_b32),
    R(clz, B64, 0, 0, "IT", clz_b64),
    R(brev, B32, 0, 0, "TT", brev_b32),
    R(brev, B64, 0, 0, "TT", brev_b64),
    R(bfind, U32, SIM_M(SHIFTAMT), SIM_M(SHIFTAMT), "IT", bfind_shift_u32),
    R(bfind, S32, SIM_M(SHIFTAMT), SIM_M(SHIFTAMT), "IT", bfind_shift_s32),
    R(bfind, U64, SIM_M(SHIFTAMT), SIM_M(SHIFTAMT), "IT", bfind_shift_u64),
    R(bfind, S64, SIM_M(SHIFTAMT), SIM_M(SHIFTAMT), "IT", bfind_shift_s64),
    R(bfind, U32, 0, 0, "IT", bfind_u32),
    R(bfind, S32, 0, 0, "IT", bfind_s32),
    R(bfind, U64, 0, 0, "IT", bfind_u64),
    R(bfind, S64, 0, 0, "IT", bfind_s64),
    R(bfe, U32, 0, 0, "TTII", bfe_u32),
    R(bfe, S32, 0, 0, "TTII", bfe_s32),
    R(bfe, U64, 0, 0, "TTII", bfe_u64),
    R(bfe, S64, 0, 0, "TTII", bfe_s64),
    R(bfi, B32, 0, 0, "TTTII", bfi_u32),
    R(bfi, B64, 0, 0, "TTTII", bfi_u64),
    R(bmsk, B32, SIM_M(WRAP), SIM_M(WRAP), "TTI", bmsk_wrap),
    R(bmsk, B32, 0, SIM_M(CLAMP), "TTI", bmsk_clamp),
    R(szext, U32, SIM_M(WRAP), SIM_M(WRAP), "TTI", szext_wrap_u32),
    R(szext, S32, SIM_M(WRAP), SIM_M(WRAP), "TTI", szext_wrap_s32),
    R(szext, U32, 0, SIM_M(CLAMP), "TTI", szext_clamp_u32),
    R(szext, S32, 0, SIM_M(CLAMP), "TTI", szext_clamp_s32),
    R(fns, B32, 0, 0, "TTII", fns),
    R(shf, B32, SIM_M(LEFT) | SIM_M(WRAP), SIM_M(LEFT) | SIM_M(WRAP), "TTTI",
      shf_l_wrap),
    R(shf, B32, SIM_M(LEFT), SIM_M(LEFT) | SIM_M(CLAMP), "TTTI", shf_l_clamp),
    R(shf, B32, SIM_M(RIGHT) | SIM_M(WRAP), SIM_M(RIGHT) | SIM_M(WRAP), "TTTI",
      shf_r_wrap),
    R(shf, B32, SIM_M(RIGHT), SIM_M(RIGHT) | SIM_M(CLAMP), "TTTI", shf_r_clamp),
    R(prmt, B32, 0, 0, "IIII", prmt),
    R(prmt, B32, SIM_M(F4E), SIM_M(F4E), "IIII", prmt_f4e),
    R(prmt, B32, SIM_M(B4E), SIM_M(B4E), "IIII", prmt_b4e),
    R(prmt, B32, SIM_M(RC8), SIM_M(RC8), "IIII", prmt_rc8),
    R(prmt, B32, SIM_M(ECL), SIM_M(ECL), "IIII", prmt_ecl),
    R(prmt, B32, SIM_M(ECR), SIM_M(ECR), "IIII", prmt_ecr),
    R(prmt, B32, SIM_M(RC16), SIM_M(RC16), "IIII", prmt_rc16),
    R(lop3, B32, 0, 0, "TTTTI", lop3),
    BITS(and, "TTT"),
    BITS(or, "TTT"),
    BITS(xor, "TTT"),
    BITS(not, "TT"),
    BITS(cnot, "TT"),
    BITS(shl, "TTI"),
    R(shr, B16, 0, 0, "TTI", shr_u16),
    R(shr, B32, 0, 0, "TTI", shr_u32),
    R(shr, B64, 0, 0, "TTI", shr_u64),
    BY_SIGN(shr, 0, "TTI", shr),
    R(and, PRED, 0, 0, "PPP", and_pred),
    R(or, PRED, 0, 0, "PPP", or_pred),
    R(xor, PRED, 0, 0, "PPP", xor_pred),
    R(not, PRED, 0, 0, "PP", not_pred),
    R(add, U16X2, 0, 0, "TTT", add_16x2),
    R(add, S16X2, 0, 0, "TTT", add_16x2),
    R(min, U16X2, 0, 0, "TTT", min_u16x2),
    R(max, U16X2, 0, 0, "TTT", max_u16x2),
    R(min, S16X2, 0, 0, "TTT", min_s16x2),
    R(max, S16X2, 0, 0, "TTT", max_s16x2),
    R(min, S16X2, SIM_M(RELU), SIM_M(RELU), "TTT", min_relu_s16x2),
    R(max, S16X2, SIM_M(RELU), SIM_M(RELU), "TTT", max_relu_s16x2),
    R(min, S32, SIM_M(RELU), SIM_M(RELU), "TTT", min_relu_s32),
    R(max, S32, SIM_M(RELU), SIM_M(RELU), "TTT", max_relu_s32),
    R(vabsdiff2, U32, 0, 0, "TTTT", vabsdiff2_u32),
    R(vabsdiff4, U32, 0, 0, "TTTT", vabsdiff4_u32),
    {"vabsdiff2.add", LAB_PTX_U32, 0, 0, "TTTT", vabsdiff2_add_u32, NULL, 0},
    {"vabsdiff4.add", LAB_PTX_U32, 0, 0, "TTTT", vabsdiff4_add_u32, NULL, 0},
    DOT(dp4a, 0, dp4a),
    DOT(dp2a, SIM_M(LO), dp2a_lo),
    DOT(dp2a, SIM_M(HI), dp2a_hi),
};
/* clang-format on */

/* Instructions of video have a type for each operand, and may add up. */
static const char *video(const char *opcode, struct sim_mods *m, char with[32])
{
    if (opcode[0] != 'v' || m->type_count != 3 || m->types[0] != m->types[1] ||
        m->types[0] != m->types[2])
        return opcode;
    m->type_count = 1;
    if (!m->other || strcmp(m->other, "add") != 0)
        return opcode;
    m->other = NULL;
    snprintf(with, 32, "%s.add", opcode);
    return with;
}

const struct sim_row *sim_math_row(const char *opcode,
                                   const struct sim_mods *given)
{
    char with[32];
    struct sim_mods m = *given;
    const struct sim_mods *mods = &m;
    opcode = video(opcode, &m, with);
    int from = mods->type_count == 2 ? mods->types[1] : 0;
    if (mods->type_count < 1 || mods->type_count > 2 || mods->other)
        return NULL;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        const struct sim_row *r = &rows[k];
        if (r->opcode[0] == opcode[0] && r->type == mods->types[0] &&
            r->from == from && (r->need & ~mods->bits) == 0 &&
            (mods->bits & ~r->allow) == 0 && strcmp(r->opcode, opcode) == 0)
            return r;
    }
    return NULL;
}
