/* number.c -- conversion between float and the 16-bit formats on the host,
 * rounding to nearest even, for labs and their references. */
#include "common/number.h"

#include <math.h>
#include <string.h>

/* A format of 16 bits: `fraction` bits after the point, and the exponent of the
 * smallest normal number. */
struct format {
    int fraction;
    int least;
    int most; /* exponent of the largest finite number */
};

static const struct format f16 = {10, -14, 15};
static const struct format bf16 = {7, -126, 127};

/* The numbers of a format are counted from zero upwards: +inf is the next one
 * after the largest. v / step is exact, because step is a power of two, so that
 * nearbyint() rounds once, ties to even. */
static uint16_t round_to(double v, const struct format *f)
{
    uint16_t sign = signbit(v) ? 0x8000u : 0;
    int infinity = (f->most - f->least + 2) << f->fraction;
    int exponent = 0;
    if (isnan(v))
        return (uint16_t)(sign | infinity | 1 << (f->fraction - 1));
    if (isinf(v))
        return (uint16_t)(sign | infinity);
    v = fabs(v);
    if (v == 0)
        return sign;
    frexp(v, &exponent); /* v = [0.5, 1) * 2^exponent */
    exponent--;
    if (exponent > f->most)
        return (uint16_t)(sign | infinity);
    if (exponent < f->least)
        exponent = f->least;
    /* In steps of the last bit: one less than 2^fraction is subnormal. */
    int steps = (int)nearbyint(ldexp(v, f->fraction - exponent));
    int bits = ((exponent - f->least) << f->fraction) + steps;
    return (uint16_t)(sign | (bits < infinity ? bits : infinity));
}

static float value_of(uint16_t bits, const struct format *f)
{
    int fraction = bits & ((1 << f->fraction) - 1);
    int exponent = (bits & 0x7fff) >> f->fraction;
    float sign = bits & 0x8000 ? -1.0f : 1.0f;
    if (exponent == f->most - f->least + 2)
        return fraction ? copysignf(NAN, sign) : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexpf((float)fraction, f->least - f->fraction);
    return sign * ldexpf((float)(fraction + (1 << f->fraction)),
                         f->least + exponent - 1 - f->fraction);
}

uint16_t lab_f16_of(double v)
{
    return round_to(v, &f16);
}

uint16_t lab_bf16_of(double v)
{
    return round_to(v, &bf16);
}

float lab_f16_value(uint16_t bits)
{
    return value_of(bits, &f16);
}

float lab_bf16_value(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float v;
    memcpy(&v, &word, sizeof(v));
    return v;
}
