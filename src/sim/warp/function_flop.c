/* function_flop.c -- FLOP of the functions of mathematics that clang leaves as calls
 * (call.c). nvcc puts its own code for them into the PTX, and count.c counts that. Here is
 * what that code adds and multiplies for each argument, by the same rules (fuse.c): in the
 * PTX of CUDA 13.0, which is the same for all GPUs. A test compares both compilers for the
 * functions of the table, with arguments on all sides of each condition
 * (tests/cli/case_sim_flop.sh). The argument is taken for one that nothing reads later: a
 * number that is scaled near the ends of the range is so by those lanes alone. */
#include "warp/code.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof(bits));
    return bits;
}

/* ---- powers and exponential functions ---- */

static struct sim_work exponential(double x, double unused)
{
    (void)x;
    (void)unused;
    return (struct sim_work){.adds = 1, .muls = 1, .fmas = 4};
}

static struct sim_work power_of_two(double x, double unused)
{
    (void)unused;
    return (struct sim_work){.muls = x < -126.0 ? 2 : 0};
}

/* exp(x) - 1 from 2^n and a polynomial; 2^128 is made of 2^127, and 2^n with n below -126
 * scaled. */
static struct sim_work less_one(double x, double unused)
{
    const float a = (float)x;
    const float n = fabsf(a) < 0.41f ? 0.0f : rintf(a * 1.4426950408889634f);
    (void)unused;
    return (struct sim_work){.adds = 1 + 2 * (n == 128.0f) + (a == 0.0f),
                             .muls = 3 + (n < -126.0f),
                             .fmas = 8};
}

static struct sim_work hyperbolic_sine(double x, double unused)
{
    (void)unused;
    return (struct sim_work){
        .adds = 1, .muls = 6, .fmas = 6 + !(fabs(x) >= 1.0)};
}

static struct sim_work hyperbolic_cosine(double x, double unused)
{
    (void)x;
    (void)unused;
    return (struct sim_work){.adds = 1, .muls = 4, .fmas = 3};
}

static struct sim_work hyperbolic_tangent(double x, double unused)
{
    (void)unused;
    return (struct sim_work){
        .adds = 1, .muls = 2, .fmas = 5 + !((float)fabs(x) >= 0.6f)};
}

/* log2 of a number as the function has it: that of its significand and its exponent,
 * also for 0 (after it was scaled by 2^24), infinities and NaN. */
static double log2_of_bits(float a)
{
    enum { ZERO = -151, BIAS = 127, SPECIAL = 255 };
    const uint32_t bits = bits_of(fabsf(a));
    if (bits == 0)
        return ZERO;
    if (bits >> 23 < SPECIAL)
        return log2(fabs((double)a));
    return SPECIAL - BIAS + log2(1.0 + (bits & 0x7fffff) / 8388608.0);
}

/* 2^(b log2(a)), with a result out of range chosen; then what is special. */
static struct sim_work power(double x, double y)
{
    const float a = (float)x;
    const float b = (float)y;
    const float exponent = (float)log2_of_bits(a) * b;
    struct sim_work n = {
        .adds = 13, .muls = 9 + !(fabsf(exponent) > 152.0f), .fmas = 19};
    if (a != 1.0f && b != 0.0f)
        n.adds += isnan(a) || isnan(b) || a == 0.0f || isinf(a);
    return n;
}

/* ---- logarithms: a number below the normal ones is scaled, a special one has a sum of
 * its own ---- */

static struct sim_work logarithm(double x, struct sim_work n)
{
    n.muls += x < 0x1p-126;
    n.fmas += signbit(x) || !isfinite(x);
    return n;
}

static struct sim_work logarithm_e(double x, double unused)
{
    (void)unused;
    return logarithm(x, (struct sim_work){.adds = 1, .muls = 1, .fmas = 11});
}

static struct sim_work logarithm_2(double x, double unused)
{
    (void)unused;
    return logarithm(x, (struct sim_work){.adds = 2, .muls = 2, .fmas = 11});
}

static struct sim_work logarithm_10(double x, double unused)
{
    (void)unused;
    return logarithm(x, (struct sim_work){.adds = 1, .muls = 2, .fmas = 11});
}

static struct sim_work logarithm_of_one_more(double x, double unused)
{
    (void)unused;
    return (struct sim_work){
        .adds = 2,
        .muls = 2,
        .fmas = 11 + (isnan(x) || x < -1.0 || (isinf(x) && x > 0.0))};
}

static struct sim_work logarithm_f64(double x, double unused)
{
    const int scaled = signbit(x) || x < 0x1p-1022;
    (void)unused;
    if (!(x > 0.0) || isinf(x))
        return (struct sim_work){.muls = scaled, .fmas = 1, .f64 = true};
    return (struct sim_work){
        .adds = 8, .muls = 4 + scaled, .fmas = 16, .f64 = true};
}

/* ---- error functions ---- */

static struct sim_work error_function(double x, double unused)
{
    (void)unused;
    return (struct sim_work){
        .adds = (float)fabs(x) >= 1.002959966659546f, .muls = 1, .fmas = 7};
}

static struct sim_work complement(double x, double unused)
{
    (void)unused;
    return (struct sim_work){.adds = 5 + (x < 0.0), .muls = 8, .fmas = 20};
}

/* ---- angles ---- */

enum { LARGE_ANGLE = 105615 };

/* The nearest multiple of pi/2, modulo 4 at least. */
static int quarter(float a)
{
    const double turn = 6.283185307179586;
    if (isnan(a) || isinf(a))
        return 0;
    if (fabsf(a) < LARGE_ANGLE)
        return (int)rintf(a * 0.6366197466850281f);
    return (int)rint(atan2(sin((double)a), cos((double)a)) / turn * 4.0);
}

/* What an angle takes that is large, or infinite, before its quarter is known. */
static struct sim_work reduction(float a)
{
    return (struct sim_work){.muls = 1 + (isinf(a) != 0),
                             .fmas = 3,
                             .wide_muls = fabsf(a) >= LARGE_ANGLE && !isinf(a)};
}

/* A series for the sine or for the cosine, which has one term more; the sign last. */
static struct sim_work wave(float a, int q)
{
    struct sim_work n = reduction(a);
    n.muls++;
    n.fmas += 4 + (q & 1) + (q >> 1 & 1);
    return n;
}

static struct sim_work sine(double x, double unused)
{
    (void)unused;
    return wave((float)x, quarter((float)x));
}

static struct sim_work cosine(double x, double unused)
{
    (void)unused;
    return wave((float)x, quarter((float)x) + 1);
}

static struct sim_work tangent(double x, double unused)
{
    struct sim_work n = reduction((float)x);
    (void)unused;
    n.muls += 2;
    n.fmas += 6;
    return n;
}

static struct sim_work arc_sine(double x, double unused)
{
    (void)unused;
    return (struct sim_work){.muls = 5, .fmas = 8 + ((float)fabs(x) > 0.56f)};
}

static struct sim_work arc_cosine(double x, double unused)
{
    (void)unused;
    return (struct sim_work){.adds = (float)fabs(x) > 0.56f,
                             .muls = 4,
                             .fmas = 9 + !((float)x > 0.56f)};
}

static struct sim_work arc_tangent(double x, double unused)
{
    (void)unused;
    return (struct sim_work){.muls = 2, .fmas = 8 + (fabs(x) > 1.0)};
}

/* ---- others ---- */

static struct sim_work cube_root(double x, double unused)
{
    (void)unused;
    return (struct sim_work){
        .adds = 1 + (fabs(x) < 0x1p-126), .muls = 5, .fmas = 2};
}

static struct sim_work rounding(double x, double unused)
{
    (void)x;
    (void)unused;
    return (struct sim_work){.adds = 1};
}

sim_work_fn *sim_function_work(const char *name)
{
    static const struct {
        const char *name; /* in C */
        sim_work_fn *work;
    } rows[] = {{"acosf", arc_cosine},
                {"asinf", arc_sine},
                {"atanf", arc_tangent},
                {"cbrtf", cube_root},
                {"cosf", cosine},
                {"coshf", hyperbolic_cosine},
                {"erfcf", complement},
                {"erff", error_function},
                {"exp10f", exponential},
                {"exp2f", power_of_two},
                {"expf", exponential},
                {"expm1f", less_one},
                {"log", logarithm_f64},
                {"log10f", logarithm_10},
                {"log1pf", logarithm_of_one_more},
                {"log2f", logarithm_2},
                {"logf", logarithm_e},
                {"powf", power},
                {"roundf", rounding},
                {"sinf", sine},
                {"sinhf", hyperbolic_sine},
                {"tanf", tangent},
                {"tanhf", hyperbolic_tangent}};
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        if (strcmp(rows[k].name, name) == 0)
            return rows[k].work;
    return NULL;
}

void sim_add_work(struct lab_sim_counts *n, struct sim_work w)
{
    *(w.f64 ? &n->f64_adds : &n->f32_adds) += w.adds;
    *(w.f64 ? &n->f64_muls : &n->f32_muls) += w.muls;
    *(w.f64 ? &n->f64_fmas : &n->f32_fmas) += w.fmas;
    *(w.f64 ? &n->flops_f64 : &n->flops) += w.adds + w.muls + 2 * w.fmas;
    n->f64_muls += w.wide_muls;
    n->flops_f64 += w.wide_muls;
}
