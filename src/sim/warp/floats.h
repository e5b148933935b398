/* floats.h -- the small formats of floating-point numbers: f16, bf16, tf32 and
 * the two of 8 bits, to and from float, in every rounding. */
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* How a number that does not fit is rounded. */
enum sim_round {
    SIM_ROUND_NEAREST, /* ties to even */
    SIM_ROUND_ZERO,
    SIM_ROUND_DOWN,
    SIM_ROUND_UP,
    SIM_ROUND_AWAY /* nearest, ties away from zero */
};

static inline float sim_f32_of_bf16(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* Vectorises: the magic product aligns the exponent; what is not finite gets the
 * largest exponent. */
static inline float sim_f32_of_f16(uint16_t h)
{
    uint32_t bits = (uint32_t)(h & 0x7FFF) << 13;
    uint32_t magic = 0x77800000; /* 2^112 */
    float scale;
    float v;
    memcpy(&scale, &magic, sizeof(scale));
    memcpy(&v, &bits, sizeof(v));
    v *= scale;
    memcpy(&bits, &v, sizeof(bits));
    bits |= (h & 0x7C00) == 0x7C00 ? 0x7F800000u : 0;
    bits |= (uint32_t)(h & 0x8000) << 16;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* Bits below `drop` are rounded away; `bits` is a magnitude in two's complement
 * order, so a carry runs into the exponent as it should. */
static inline uint64_t sim_round_bits(uint64_t bits, int drop, bool negative,
                                      enum sim_round round)
{
    uint64_t rest = bits & (((uint64_t)1 << drop) - 1);
    uint64_t half = (uint64_t)1 << (drop - 1);
    uint64_t kept = bits >> drop;
    bool up = false;
    if (round == SIM_ROUND_NEAREST)
        up = rest > half || (rest == half && (kept & 1));
    else if (round == SIM_ROUND_AWAY)
        up = rest >= half;
    else if (round == SIM_ROUND_DOWN)
        up = negative && rest;
    else if (round == SIM_ROUND_UP)
        up = !negative && rest;
    return kept + up;
}

/* A format: bits of exponent and mantissa. `nan` is its NaN, and also its
 * largest code; e4m3 has no infinity. */
struct sim_format {
    int exponent;
    int mantissa;
    bool infinity;
    uint32_t nan;
};

#define SIM_FORMAT_F16                                                         \
    {                                                                          \
        5, 10, true, 0x7FFF                                                    \
    }
#define SIM_FORMAT_BF16                                                        \
    {                                                                          \
        8, 7, true, 0x7FFF                                                     \
    }
#define SIM_FORMAT_E4M3                                                        \
    {                                                                          \
        4, 3, false, 0x7F                                                      \
    }
#define SIM_FORMAT_E5M2                                                        \
    {                                                                          \
        5, 2, true, 0x7F                                                       \
    }

/* The code of v in a format. `finite`: the largest finite number in place of an
 * overflow. Double holds every float and product of two halves exactly. */
static inline uint32_t sim_encode(double v, struct sim_format f,
                                  enum sim_round round, bool finite)
{
    int bias = (1 << (f.exponent - 1)) - 1;
    uint64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    bool negative = bits >> 63;
    uint32_t sign = (uint32_t)negative << (f.exponent + f.mantissa);
    uint32_t most = f.infinity ? (((1u << f.exponent) - 1) << f.mantissa) - 1
                               : (1u << (f.exponent + f.mantissa)) - 2;
    bits &= ~((uint64_t)1 << 63);
    if (bits > (uint64_t)0x7FF << 52)
        return f.nan;
    uint64_t code;
    if (bits == (uint64_t)0x7FF << 52)
        code = (uint64_t)most + 1;
    else {
        int exponent = (int)(bits >> 52) - 1023 + bias;
        uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
        int drop = 52 - f.mantissa;
        if (exponent >= (1 << f.exponent)) {
            exponent = 1 << f.exponent;
            mantissa = ((uint64_t)1 << 52) - 1;
        }
        if (exponent < 1) { /* subnormal: the leading one is shifted in */
            int shift = 1 - exponent;
            mantissa |= bits >> 52 ? (uint64_t)1 << 52 : 0;
            exponent = 0;
            if (shift > 54)
                mantissa = mantissa ? 1 : 0;
            else
                mantissa = mantissa >> shift |
                           ((mantissa & (((uint64_t)1 << shift) - 1)) != 0);
        }
        code = sim_round_bits(((uint64_t)exponent << 52) + mantissa, drop,
                              negative, round);
        if (code > most && !finite &&
            (round == SIM_ROUND_ZERO ||
             (round == SIM_ROUND_DOWN && !negative) ||
             (round == SIM_ROUND_UP && negative)))
            code = most;
    }
    if (code > most) {
        if (finite && bits <= (uint64_t)0x7FF << 52)
            code = most;
        else
            code = f.infinity ? (uint64_t)most + 1 : f.nan;
    }
    return sign | (uint32_t)code;
}

static inline double sim_decode(uint32_t code, struct sim_format f)
{
    int bias = (1 << (f.exponent - 1)) - 1;
    uint32_t sign = code >> (f.exponent + f.mantissa) & 1;
    uint32_t exponent = code >> f.mantissa & ((1u << f.exponent) - 1);
    uint32_t mantissa = code & ((1u << f.mantissa) - 1);
    double v;
    if (f.infinity && exponent == (1u << f.exponent) - 1)
        v = mantissa ? (double)NAN : (double)INFINITY;
    else if (!f.infinity && (code & f.nan) == f.nan)
        v = (double)NAN;
    else if (exponent == 0)
        v = ldexp((double)mantissa, 1 - bias - f.mantissa);
    else
        v = ldexp((double)(mantissa | 1u << f.mantissa),
                  (int)exponent - bias - f.mantissa);
    return sign ? -v : v;
}

static inline uint16_t sim_f16_of_f64(double v, enum sim_round round,
                                      bool finite)
{
    static const struct sim_format f = SIM_FORMAT_F16;
    return (uint16_t)sim_encode(v, f, round, finite);
}

static inline uint16_t sim_bf16_of_f64(double v, enum sim_round round,
                                       bool finite)
{
    static const struct sim_format f = SIM_FORMAT_BF16;
    return (uint16_t)sim_encode(v, f, round, finite);
}

/* To the nearest, ties to even. */
static inline uint16_t sim_f16_of_f32(float v)
{
    return sim_f16_of_f64((double)v, SIM_ROUND_NEAREST, false);
}

static inline uint16_t sim_bf16_of_f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    if ((bits & 0x7FFFFFFF) > 0x7F800000)
        return 0x7FFF;
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* tf32: a float of 10 bits of mantissa, the rest zero. */
static inline float sim_tf32_of_f32(float v, enum sim_round round)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    uint32_t sign = bits & 0x80000000;
    if ((bits & 0x7FFFFFFF) > 0x7F800000)
        bits = 0x7FFFFFFF;
    else if ((bits & 0x7FFFFFFF) < 0x7F800000)
        bits = sign |
               (uint32_t)sim_round_bits(bits & 0x7FFFFFFF, 13, sign != 0, round)
                   << 13;
    memcpy(&v, &bits, sizeof(v));
    return v;
}
