/* cvt: every pair of types, with rounding and saturation. The frequent pairs have
 * a handler of their own; the rest go through 64 bits or a double, which holds
 * every value of the smaller types exactly. */
#include <fenv.h>

#include "warp/lanes.h"

enum rounding { NONE, RN, RZ, RM, RP, RNA, RNI, RZI, RMI, RPI };

enum format { F8_NONE, F8_E4M3, F8_E5M2 };

/* What a cvt is; i->extra. */
struct cvt {
    enum rounding round;
    bool ftz;
    bool sat;
    bool relu;
    bool finite;
    int type_bytes; /* of the result's type */
    int reg_bytes;  /* of its register */
    enum format to; /* of pairs of 8 bits */
    enum format from;
};

static const struct sim_format formats[] = {
    [F8_E4M3] = SIM_FORMAT_E4M3,
    [F8_E5M2] = SIM_FORMAT_E5M2,
};

static bool is_signed(int type)
{
    return type == LAB_PTX_S8 || type == LAB_PTX_S16 || type == LAB_PTX_S32 ||
           type == LAB_PTX_S64;
}

static bool is_integer(int type)
{
    return is_signed(type) || type == LAB_PTX_U8 || type == LAB_PTX_U16 ||
           type == LAB_PTX_U32 || type == LAB_PTX_U64;
}

/* ---- frequent pairs, without saturation ---- */

SIM_OP1(s64_s32, s64, s32, (int64_t)a)
SIM_OP1(u64_u32, u64, u32, (uint64_t)a)
SIM_OP1(u32_u64, u32, u64, (uint32_t)a)
SIM_OP1(u16_u32, u32, u32, a & 0xFFFF)
SIM_OP1(u32_u16, u32, u16, a)
SIM_OP1(s32_s16, s32, s16, a)
SIM_OP1(f32_s32, f32, s32, (float)a)
SIM_OP1(f32_u32, f32, u32, (float)a)
SIM_OP1(f32_bf16, u32, u32, a << 16)
SIM_OP1(bf16_f32, bf16, f32, a)
SIM_OP1(f64_f32, f64, f32, (double)a)
SIM_OP1(f32_f64, f32, f64, a == a ? (float)a : sim_f32(0x7FFFFFFF))
SIM_OP1(f32_sat, f32, f32, a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f)

static inline float one_nan(float v)
{
    return v == v ? v : sim_f32(0x7FFFFFFF);
}
SIM_OP1(f32_f16, f32, f16, one_nan(a))
SIM_OP1(f32_rni, f32, f32, one_nan(__builtin_rintf(a)))
SIM_OP1(f32_rzi, f32, f32, one_nan(__builtin_truncf(a)))
SIM_OP1(f32_rmi, f32, f32, one_nan(__builtin_floorf(a)))
SIM_OP1(f32_rpi, f32, f32, one_nan(__builtin_ceilf(a)))

static const struct {
    uint8_t to;
    uint8_t from;
    uint8_t round; /* NONE and RN are the same where nothing is rounded */
    bool sat;
    int reg_bytes; /* 0: any */
    sim_run_fn *run;
} quick[] = {
    {LAB_PTX_S64, LAB_PTX_S32, NONE, false, 8, s64_s32},
    {LAB_PTX_U64, LAB_PTX_U32, NONE, false, 8, u64_u32},
    {LAB_PTX_S64, LAB_PTX_U32, NONE, false, 8, u64_u32},
    {LAB_PTX_U32, LAB_PTX_U64, NONE, false, 4, u32_u64},
    {LAB_PTX_S32, LAB_PTX_S64, NONE, false, 4, u32_u64},
    {LAB_PTX_U32, LAB_PTX_S64, NONE, false, 4, u32_u64},
    {LAB_PTX_U16, LAB_PTX_U32, NONE, false, 2, u16_u32},
    {LAB_PTX_U32, LAB_PTX_U16, NONE, false, 4, u32_u16},
    {LAB_PTX_S32, LAB_PTX_S16, NONE, false, 4, s32_s16},
    {LAB_PTX_F32, LAB_PTX_S32, RN, false, 4, f32_s32},
    {LAB_PTX_F32, LAB_PTX_U32, RN, false, 4, f32_u32},
    {LAB_PTX_F32, LAB_PTX_F16, NONE, false, 4, f32_f16},
    {LAB_PTX_F32, LAB_PTX_BF16, NONE, false, 4, f32_bf16},
    {LAB_PTX_BF16, LAB_PTX_F32, RN, false, 2, bf16_f32},
    {LAB_PTX_F64, LAB_PTX_F32, NONE, false, 8, f64_f32},
    {LAB_PTX_F32, LAB_PTX_F64, RN, false, 4, f32_f64},
    {LAB_PTX_F32, LAB_PTX_F32, NONE, true, 4, f32_sat},
    {LAB_PTX_F32, LAB_PTX_F32, RNI, false, 4, f32_rni},
    {LAB_PTX_F32, LAB_PTX_F32, RZI, false, 4, f32_rzi},
    {LAB_PTX_F32, LAB_PTX_F32, RMI, false, 4, f32_rmi},
    {LAB_PTX_F32, LAB_PTX_F32, RPI, false, 4, f32_rpi},
};

/* ---- any pair ---- */

static double flushed(double v, double least)
{
    return fabs(v) < least ? copysign(0.0, v) : v;
}

static double number_of(uint64_t raw, int type, bool ftz)
{
    switch (type) {
    case LAB_PTX_F16:
        return (double)sim_f32_of_f16((uint16_t)raw);
    case LAB_PTX_BF16:
        return (double)sim_f32_of_bf16((uint16_t)raw);
    case LAB_PTX_F32: {
        double v = (double)sim_f32((uint32_t)raw);
        return ftz ? flushed(v, 0x1p-126) : v;
    }
    default:
        return sim_f64(raw);
    }
}

static double to_integral(double v, enum rounding round)
{
    switch (round) {
    case RNI:
    case RN:
        return rint(v);
    case RMI:
    case RM:
        return floor(v);
    case RPI:
    case RP:
        return ceil(v);
    default:
        return trunc(v);
    }
}

/* The integer in the range of `type`; out of it, the nearest end. */
static uint64_t integer_of_number(double v, int type, bool from_f64)
{
    int bits = lab_ptx_type_bytes((enum lab_ptx_type)type) * 8;
    if (v != v)
        return from_f64 || bits == 64 ? (uint64_t)1 << (bits - 1) : 0;
    if (is_signed(type)) {
        double end = ldexp(1.0, bits - 1);
        if (v >= end)
            return ((uint64_t)1 << (bits - 1)) - 1;
        return v < -end ? 0 - ((uint64_t)1 << (bits - 1))
                        : (uint64_t)(int64_t)v;
    }
    if (v >= ldexp(1.0, bits))
        return bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    return v <= 0.0 ? 0 : (uint64_t)v;
}

static uint64_t extend(uint64_t raw, int type)
{
    switch (type) {
    case LAB_PTX_U8:
        return (uint8_t)raw;
    case LAB_PTX_S8:
        return (uint64_t)(int64_t)(int8_t)(uint8_t)raw;
    case LAB_PTX_U16:
        return (uint16_t)raw;
    case LAB_PTX_S16:
        return (uint64_t)(int64_t)(int16_t)(uint16_t)raw;
    case LAB_PTX_U32:
        return (uint32_t)raw;
    case LAB_PTX_S32:
        return (uint64_t)(int64_t)(int32_t)(uint32_t)raw;
    default:
        return raw;
    }
}

/* Only where one type does not hold the other does .sat clamp. */
static uint64_t integer_of_integer(uint64_t v, int to, int from, bool sat)
{
    int bits = lab_ptx_type_bytes((enum lab_ptx_type)to) * 8;
    if (!sat)
        return v;
    bool below = is_signed(from) && (int64_t)v < 0;
    if (is_signed(to)) {
        int64_t most = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
        if (below)
            return (int64_t)v < -most - 1 ? (uint64_t)(-most - 1) : v;
        return v > (uint64_t)most ? (uint64_t)most : v;
    }
    uint64_t most = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    return below ? 0 : v > most ? most : v;
}

static int direction(enum rounding round)
{
    return round == RZ   ? FE_TOWARDZERO
           : round == RM ? FE_DOWNWARD
           : round == RP ? FE_UPWARD
                         : FE_TONEAREST;
}

static enum sim_round small_round(enum rounding round)
{
    return round == RZ    ? SIM_ROUND_ZERO
           : round == RM  ? SIM_ROUND_DOWN
           : round == RP  ? SIM_ROUND_UP
           : round == RNA ? SIM_ROUND_AWAY
                          : SIM_ROUND_NEAREST;
}

/* An integer as a double, with its last bit set where it is not exact: rounding
 * that again to a smaller format is right. */
static double odd_double(uint64_t v, bool negative)
{
    uint64_t size = negative ? 0 - v : v;
    int lost = size >> 53 ? 11 - __builtin_clzll(size) : 0;
    uint64_t kept = size >> lost;
    if (lost)
        kept |= (size & (((uint64_t)1 << lost) - 1)) != 0;
    double d = ldexp((double)kept, lost);
    return negative ? -d : d;
}

static uint64_t code_of_number(double v, int type, const struct cvt *c)
{
    if (c->round >= RNI && v == v)
        v = to_integral(v, c->round);
    if (c->sat)
        v = v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0;
    if (c->relu && v < 0.0)
        v = 0.0;
    switch (type) {
    case LAB_PTX_F16:
        return sim_f16_of_f64(v, small_round(c->round), c->finite);
    case LAB_PTX_BF16:
        return sim_bf16_of_f64(v, small_round(c->round), c->finite);
    case LAB_PTX_TF32:
        return sim_bits32(sim_tf32_of_f32((float)v, small_round(c->round)));
    case LAB_PTX_F32: {
        volatile double in = v;
        volatile float f;
        int before = direction(c->round);
        if (before != FE_TONEAREST)
            fesetround(before);
        f = (float)in;
        if (before != FE_TONEAREST)
            fesetround(FE_TONEAREST);
        if (c->ftz)
            f = (float)flushed((double)f, 0x1p-126);
        return sim_bits32(one_nan(f));
    }
    default:
        return sim_bits64(v);
    }
}

/* 64-bit integers have more bits than a double. */
static uint64_t float_of_integer(uint64_t v, bool negative, int type,
                                 const struct cvt *c)
{
    if (type != LAB_PTX_F64)
        return code_of_number(odd_double(v, negative), type, c);
    volatile uint64_t in = v;
    volatile double d;
    int round = direction(c->round);
    if (round != FE_TONEAREST)
        fesetround(round);
    d = negative ? (double)(int64_t)in : (double)in;
    if (round != FE_TONEAREST)
        fesetround(FE_TONEAREST);
    return sim_bits64(c->sat ? (d > 0.0 ? (d < 1.0 ? d : 1.0) : 0.0) : d);
}

static void cvt_any(struct sim_warp *w, const struct sim_instr *i,
                    uint32_t mask)
{
    const struct cvt *c = i->extra;
    uint64_t v[SIM_LANES];
    sim_values(w, &i->a, v);
    bool from_integer = is_integer(i->from);
    bool to_integer = is_integer(i->type);
    for (int l = 0; l < SIM_LANES; l++) {
        uint64_t r;
        if (!(mask >> l & 1))
            continue;
        if (from_integer) {
            uint64_t x = extend(v[l], i->from);
            r = to_integer
                    ? integer_of_integer(x, i->type, i->from, c->sat)
                    : float_of_integer(x, is_signed(i->from) && (int64_t)x < 0,
                                       i->type, c);
        } else {
            double x = number_of(v[l], i->from, c->ftz);
            r = to_integer ? integer_of_number(to_integral(x, c->round),
                                               i->type, i->from == LAB_PTX_F64)
                           : code_of_number(x, i->type, c);
        }
        if (to_integer && c->reg_bytes > c->type_bytes)
            r = extend(r, i->type);
        if (c->reg_bytes < 8)
            r &= ((uint64_t)1 << c->reg_bytes * 8) - 1;
        v[l] = r;
    }
    sim_set(w, &i->d, mask, v);
}

/* Two numbers into the halves of a register, the first above. */
static void cvt_pack(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    const struct cvt *c = i->extra;
    uint64_t a[SIM_LANES];
    uint64_t b[SIM_LANES];
    sim_values(w, &i->a, a);
    sim_values(w, &i->b, b);
    int type = i->type == LAB_PTX_F16X2 ? LAB_PTX_F16 : LAB_PTX_BF16;
    for (int l = 0; l < SIM_LANES; l++) {
        double x = number_of(a[l], LAB_PTX_F32, c->ftz);
        double y = number_of(b[l], LAB_PTX_F32, c->ftz);
        a[l] = code_of_number(x, type, c) << 16 | code_of_number(y, type, c);
    }
    sim_set(w, &i->d, mask, a);
}

/* Pairs of numbers of 8 bits: from two floats or a pair of halves, and back. */
static void cvt_eight(struct sim_warp *w, const struct sim_instr *i,
                      uint32_t mask)
{
    const struct cvt *c = i->extra;
    uint64_t a[SIM_LANES];
    uint64_t b[SIM_LANES];
    sim_values(w, &i->a, a);
    sim_values(w, &i->b, b);
    for (int l = 0; l < SIM_LANES; l++) {
        double high;
        double low;
        if (c->from) {
            high = sim_decode(a[l] >> 8 & 0xFF, formats[c->from]);
            low = sim_decode(a[l] & 0xFF, formats[c->from]);
            a[l] = code_of_number(high, LAB_PTX_F16, c) << 16 |
                   code_of_number(low, LAB_PTX_F16, c);
            continue;
        }
        bool floats = i->from == LAB_PTX_F32;
        high = floats ? number_of(a[l], LAB_PTX_F32, false)
                      : number_of(a[l] >> 16, LAB_PTX_F16, false);
        low = floats ? number_of(b[l], LAB_PTX_F32, false)
                     : number_of(a[l], LAB_PTX_F16, false);
        if (c->relu) {
            high = high < 0.0 ? 0.0 : high;
            low = low < 0.0 ? 0.0 : low;
        }
        a[l] = sim_encode(high, formats[c->to], SIM_ROUND_NEAREST, true) << 8 |
               sim_encode(low, formats[c->to], SIM_ROUND_NEAREST, true);
    }
    sim_set(w, &i->d, mask, a);
}

/* ---- lowering ---- */

static bool read_modifiers(const struct lab_ptx_instr *in, struct cvt *out,
                           uint8_t types[2], enum format eight[2])
{
    static const char *const rounds[] = {"",    "rn",  "rz",  "rm",  "rp",
                                         "rna", "rni", "rzi", "rmi", "rpi"};
    int count = 0;
    for (int k = 0; k < in->modifier_count; k++) {
        const char *m = in->modifiers[k];
        enum lab_ptx_type type = lab_ptx_type_of(m);
        int r = 1;
        while (r < 10 && strcmp(m, rounds[r]) != 0)
            r++;
        enum format f8 = strcmp(m, "e4m3x2") == 0   ? F8_E4M3
                         : strcmp(m, "e5m2x2") == 0 ? F8_E5M2
                                                    : F8_NONE;
        if (r < 10)
            out->round = (enum rounding)r;
        else if (strcmp(m, "ftz") == 0)
            out->ftz = true;
        else if (strcmp(m, "sat") == 0)
            out->sat = true;
        else if (strcmp(m, "relu") == 0)
            out->relu = true;
        else if (strcmp(m, "satfinite") == 0)
            out->finite = true;
        else if ((type != LAB_PTX_NO_TYPE || f8) && count < 2) {
            types[count] = (uint8_t)type;
            eight[count++] = f8;
        } else
            return false;
    }
    return count == 2;
}

static bool convertible(int type)
{
    return is_integer(type) || type == LAB_PTX_F16 || type == LAB_PTX_BF16 ||
           type == LAB_PTX_F32 || type == LAB_PTX_F64;
}

static sim_run_fn *quick_run(const struct sim_instr *i, const struct cvt *c)
{
    int natural = lab_ptx_type_bytes((enum lab_ptx_type)i->from) == 8 ? 8 : 4;
    if (c->ftz || c->relu || c->finite ||
        (i->a.source == SIM_SLOT && i->a.bytes != natural))
        return cvt_any;
    for (size_t k = 0; k < sizeof(quick) / sizeof(quick[0]); k++)
        if (quick[k].to == i->type && quick[k].from == i->from &&
            quick[k].sat == c->sat && quick[k].round == c->round &&
            quick[k].reg_bytes == c->reg_bytes)
            return quick[k].run;
    return cvt_any;
}

enum lab_status sim_lower_convert(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out, bool *known)
{
    *known = strcmp(in->opcode, "cvt") == 0;
    if (!*known)
        return LAB_OK;
    struct cvt *c = sim_lower_take(l, sizeof(*c));
    uint8_t t[2] = {0, 0};
    if (!c)
        return lab_no_memory("a conversion");
    enum format eight[2] = {F8_NONE, F8_NONE};
    if (!read_modifiers(in, c, t, eight) || in->operand_count < 2)
        return sim_lower_refuse(l, in, NULL);
    out->extra = c;
    out->type = t[0];
    out->from = t[1];
    c->to = eight[0];
    c->from = eight[1];
    enum lab_status st;
    if (eight[0] || eight[1]) {
        bool floats = t[1] == LAB_PTX_F32;
        bool fine = eight[0] ? !eight[1] && (floats || t[1] == LAB_PTX_F16X2)
                             : t[0] == LAB_PTX_F16X2;
        if (!fine || in->operand_count != (eight[0] && floats ? 3 : 2))
            return sim_lower_refuse(l, in, NULL);
        out->run = cvt_eight;
        st = sim_lower_typed(l, in, 0, eight[0] ? LAB_PTX_B16 : LAB_PTX_B32,
                             &out->d);
        if (!st)
            st = sim_lower_typed(l, in, 1, eight[1] ? LAB_PTX_B16 : LAB_PTX_B32,
                                 &out->a);
        if (!st && in->operand_count == 3)
            st = sim_lower_typed(l, in, 2, LAB_PTX_F32, &out->b);
        return st;
    }
    if (t[0] == LAB_PTX_F16X2 || t[0] == LAB_PTX_BF16X2) {
        if (t[1] != LAB_PTX_F32 || in->operand_count != 3)
            return sim_lower_refuse(l, in, NULL);
        out->run = cvt_pack;
        st = sim_lower_typed(l, in, 0, LAB_PTX_B32, &out->d);
        if (!st)
            st = sim_lower_typed(l, in, 1, LAB_PTX_F32, &out->a);
        return st ? st : sim_lower_typed(l, in, 2, LAB_PTX_F32, &out->b);
    }
    bool tf32 = t[0] == LAB_PTX_TF32 && t[1] == LAB_PTX_F32;
    if (in->operand_count != 2 ||
        (!tf32 && (!convertible(t[0]) || !convertible(t[1]))) ||
        (c->round == RNA && !tf32))
        return sim_lower_refuse(l, in, NULL);
    st = sim_lower_typed_part(l, in, &in->operands[0], t[0], true, &out->d);
    if (!st)
        st = sim_lower_typed_part(l, in, &in->operands[1], t[1], true, &out->a);
    if (st)
        return st;
    c->type_bytes = tf32 ? 4 : lab_ptx_type_bytes((enum lab_ptx_type)t[0]);
    c->reg_bytes = sim_lower_register_bytes(l, &in->operands[0]);
    if (c->reg_bytes < c->type_bytes)
        c->reg_bytes = c->type_bytes;
    out->run = quick_run(out, c);
    return LAB_OK;
}
