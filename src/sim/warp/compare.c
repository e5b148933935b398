/* compare.c -- comparing and choosing: setp, set, selp, slct, testp.
 *
 * sim/kernel/lower.c lowers these instructions with sim_lower_compare(), once a
 * module; what they do to the lanes of a warp is the function that the lowered
 * one points to. */
#include "warp/lanes.h"

enum compare {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    EQU,
    NEU,
    LTU,
    LEU,
    GTU,
    GEU,
    NUM,
    NOTNUM,
    COMPARE_COUNT
};

/* lo, ls, hi, hs: of unsigned integers. */
static const struct {
    const char *text;
    enum compare compare;
} compares[] = {
    {"eq", EQ},   {"ne", NE},   {"lt", LT},   {"le", LE},      {"gt", GT},
    {"ge", GE},   {"equ", EQU}, {"neu", NEU}, {"ltu", LTU},    {"leu", LEU},
    {"gtu", GTU}, {"geu", GEU}, {"num", NUM}, {"nan", NOTNUM}, {"lo", LT},
    {"ls", LE},   {"hi", GT},   {"hs", GE},
};

static const char *const combines[] = {"and", "or", "xor"};

/* What a setp is beside its operands; i->extra. */
struct setp {
    enum compare compare;
    int combine; /* into combines, -1: none */
    bool ftz;
    struct sim_operand with; /* the predicate it is combined with */
};

static const uint32_t lane_bit[SIM_LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,
    1u << 7,  1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13,
    1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20,
    1u << 21, 1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27,
    1u << 28, 1u << 29, 1u << 30, 1u << 31};

#define EACH(T, condition)                                                     \
    for (int l = 0; l < SIM_LANES; l++) {                                      \
        val_##T a = get_##T(a_lanes[l]);                                       \
        val_##T b = get_##T(b_lanes[l]);                                       \
        bits |= (condition) ? lane_bit[l] : 0;                                 \
    }                                                                          \
    break;
#define ORDERED(T)                                                             \
    case EQ:                                                                   \
        EACH(T, a == b)                                                        \
    case NE:                                                                   \
        EACH(T, unordered_ne)                                                  \
    case LT:                                                                   \
        EACH(T, a < b)                                                         \
    case LE:                                                                   \
        EACH(T, a <= b)                                                        \
    case GT:                                                                   \
        EACH(T, a > b)                                                         \
    case GE:                                                                   \
        EACH(T, a >= b)

/* Which lanes compare as asked. */
#define INTEGER_COMPARE(T)                                                     \
    static SIM_CLONES uint32_t compare_##T(                                    \
        const struct sim_warp *w, const struct sim_operand *oa,                \
        const struct sim_operand *ob, enum compare compare)                    \
    {                                                                          \
        SIM_FETCH(T, a, oa);                                                   \
        SIM_FETCH(T, b, ob);                                                   \
        uint32_t bits = 0;                                                     \
        switch (compare) {                                                     \
            ORDERED(T)                                                         \
        default:                                                               \
            break;                                                             \
        }                                                                      \
        return bits;                                                           \
    }
#define FLOAT_COMPARE(T)                                                       \
    static SIM_CLONES uint32_t compare_##T(                                    \
        const struct sim_warp *w, const struct sim_operand *oa,                \
        const struct sim_operand *ob, enum compare compare)                    \
    {                                                                          \
        SIM_FETCH(T, a, oa);                                                   \
        SIM_FETCH(T, b, ob);                                                   \
        uint32_t bits = 0;                                                     \
        switch (compare) {                                                     \
            ORDERED(T)                                                         \
        case EQU:                                                              \
            EACH(T, !(a < b || a > b))                                         \
        case NEU:                                                              \
            EACH(T, !(a == b))                                                 \
        case LTU:                                                              \
            EACH(T, !(a >= b))                                                 \
        case LEU:                                                              \
            EACH(T, !(a > b))                                                  \
        case GTU:                                                              \
            EACH(T, !(a <= b))                                                 \
        case GEU:                                                              \
            EACH(T, !(a < b))                                                  \
        case NUM:                                                              \
            EACH(T, a == a && b == b)                                          \
        case NOTNUM:                                                           \
            EACH(T, a != a || b != b)                                          \
        default:                                                               \
            break;                                                             \
        }                                                                      \
        return bits;                                                           \
    }
#define unordered_ne a != b
INTEGER_COMPARE(u16)
INTEGER_COMPARE(s16)
INTEGER_COMPARE(u32)
INTEGER_COMPARE(s32)
INTEGER_COMPARE(u64)
INTEGER_COMPARE(s64)
#undef unordered_ne
#define unordered_ne (a < b || a > b)
FLOAT_COMPARE(f32)
FLOAT_COMPARE(f64)
FLOAT_COMPARE(f16)
FLOAT_COMPARE(bf16)

typedef uint32_t compare_fn(const struct sim_warp *w,
                            const struct sim_operand *a,
                            const struct sim_operand *b, enum compare compare);

static compare_fn *const compare_of[LAB_PTX_TYPE_COUNT] = {
    [LAB_PTX_B16] = compare_u16,   [LAB_PTX_U16] = compare_u16,
    [LAB_PTX_S16] = compare_s16,   [LAB_PTX_B32] = compare_u32,
    [LAB_PTX_U32] = compare_u32,   [LAB_PTX_S32] = compare_s32,
    [LAB_PTX_B64] = compare_u64,   [LAB_PTX_U64] = compare_u64,
    [LAB_PTX_S64] = compare_s64,   [LAB_PTX_F32] = compare_f32,
    [LAB_PTX_F64] = compare_f64,   [LAB_PTX_F16] = compare_f16,
    [LAB_PTX_BF16] = compare_bf16,
};

/* A source with its subnormal numbers, or with one half of each register. */
static void changed(const struct sim_warp *w, const struct sim_operand *o,
                    int shift, bool ftz, struct sim_warp *copy,
                    uint32_t regs[SIM_LANES], struct sim_operand *out)
{
    uint32_t buffer[SIM_LANES];
    const uint32_t *lanes = sim_fetch32(w, o, buffer);
    for (int l = 0; l < SIM_LANES; l++) {
        regs[l] = lanes[l] >> shift;
        if (ftz && (regs[l] & 0x7F800000) == 0)
            regs[l] &= 0x80000000;
    }
    *copy = *w;
    *out = (struct sim_operand){.source = SIM_SLOT, .bytes = 4};
}

static uint32_t compare_changed(const struct sim_warp *w,
                                const struct sim_instr *i, compare_fn *fn,
                                enum compare compare, int shift, bool ftz)
{
    uint32_t regs[2 * SIM_LANES];
    struct sim_warp copy;
    struct sim_operand a;
    struct sim_operand b;
    changed(w, &i->a, shift, ftz, &copy, regs, &a);
    changed(w, &i->b, shift, ftz, &copy, regs + SIM_LANES, &b);
    copy.regs = (unsigned char *)regs;
    b.slot = 1;
    return fn(&copy, &a, &b, compare);
}

static uint32_t combined(const struct sim_warp *w, const struct setp *s,
                         uint32_t bits)
{
    uint32_t with = sim_pred(w, &s->with);
    switch (s->combine) {
    case 0:
        return bits & with;
    case 1:
        return bits | with;
    case 2:
        return bits ^ with;
    default:
        return bits;
    }
}

/* Both results are of what was there before. */
static void put_both(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask, uint32_t first, uint32_t second)
{
    const struct setp *s = i->extra;
    first = combined(w, s, first);
    second = combined(w, s, second);
    sim_put_pred(w, &i->d, first, mask);
    if (i->more_count)
        sim_put_pred(w, &i->more[0], second, mask);
}

#define SETP(T)                                                                \
    static void setp_##T(struct sim_warp *w, const struct sim_instr *i,        \
                         uint32_t mask)                                        \
    {                                                                          \
        const struct setp *s = i->extra;                                       \
        uint32_t bits = compare_##T(w, &i->a, &i->b, s->compare);              \
        if (s->combine < 0 && !i->more_count)                                  \
            sim_put_pred(w, &i->d, bits, mask);                                \
        else                                                                   \
            put_both(w, i, mask, bits, ~bits);                                 \
    }
SETP(s32)
SETP(u32)
SETP(s64)
SETP(f32)

static void setp_any(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    const struct setp *s = i->extra;
    bool f16x2 = i->type == LAB_PTX_F16X2;
    if (f16x2 || i->type == LAB_PTX_BF16X2) {
        compare_fn *fn = f16x2 ? compare_f16 : compare_bf16;
        put_both(w, i, mask, compare_changed(w, i, fn, s->compare, 0, false),
                 compare_changed(w, i, fn, s->compare, 16, false));
        return;
    }
    compare_fn *fn = compare_of[i->type];
    uint32_t bits = s->ftz && i->type == LAB_PTX_F32
                        ? compare_changed(w, i, fn, s->compare, 0, true)
                        : fn(w, &i->a, &i->b, s->compare);
    put_both(w, i, mask, bits, ~bits);
}

/* set: all ones for an integer, 1.0 for a number. */
static void set_any(struct sim_warp *w, const struct sim_instr *i,
                    uint32_t mask)
{
    const struct setp *s = i->extra;
    compare_fn *fn = compare_of[i->from];
    uint32_t bits = s->ftz && i->from == LAB_PTX_F32
                        ? compare_changed(w, i, fn, s->compare, 0, true)
                        : fn(w, &i->a, &i->b, s->compare);
    bits = combined(w, s, bits);
    uint32_t yes = i->type == LAB_PTX_F32    ? 0x3F800000
                   : i->type == LAB_PTX_F16  ? 0x3C00
                   : i->type == LAB_PTX_BF16 ? 0x3F80
                   : i->bytes == 2           ? 0xFFFF
                                             : 0xFFFFFFFF;
    uint32_t r[SIM_LANES];
    for (int l = 0; l < SIM_LANES; l++)
        r[l] = bits >> l & 1 ? yes : 0;
    sim_put32(w, &i->d, r, mask);
}

#define SELECT(T, name, choice)                                                \
    static SIM_CLONES void name(struct sim_warp *w, const struct sim_instr *i, \
                                uint32_t mask)                                 \
    {                                                                          \
        SIM_FETCH(T, a, &i->a);                                                \
        SIM_FETCH(T, b, &i->b);                                                \
        uint32_t bits = choice;                                                \
        raw_##T r[SIM_LANES];                                                  \
        for (int l = 0; l < SIM_LANES; l++)                                    \
            r[l] = bits & lane_bit[l] ? a_lanes[l] : b_lanes[l];               \
        SIM_JOIN(sim_put, wide_##T)(w, &i->d, r, mask);                        \
    }
SELECT(u32, selp32, sim_pred(w, &i->c))
SELECT(u64, selp64, sim_pred(w, &i->c))

void sim_run_choice(struct sim_warp *w, const struct sim_instr *i,
                    uint32_t mask)
{
    const uint32_t first = sim_pred(w, &i->c);
    for (int k = 0; k < 2; k++)
        if (i->source[k])
            w->block->tally[sim_index(w, i->source[k])].chosen +=
                __builtin_popcount(mask & (k == 0 ? first : ~first));
    i->after(w, i, mask);
}

static uint32_t slct_bits(const struct sim_warp *w, const struct sim_instr *i)
{
    static const struct sim_operand zero = {.source = SIM_IMMEDIATE};
    if (i->from == LAB_PTX_S32)
        return compare_s32(w, &i->c, &zero, GE);
    struct sim_instr of_c = {.a = i->c, .b = zero};
    return compare_changed(w, &of_c, compare_f32, GE, 0, i->flags & 1);
}
SELECT(u32, slct32, slct_bits(w, i))
SELECT(u64, slct64, slct_bits(w, i))

/* testp: by the class of a number, 1u << bit of its modifier. */
static void testp(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    uint64_t v[SIM_LANES];
    sim_values(w, &i->a, v);
    bool wide = i->type == LAB_PTX_F64;
    uint32_t bits = 0;
    for (int l = 0; l < SIM_LANES; l++) {
        double x = wide ? sim_f64(v[l]) : (double)sim_f32((uint32_t)v[l]);
        double least = wide ? 0x1p-1022 : 0x1p-126;
        bool number = x == x;
        bool finite = number && !isinf(x);
        bool is[] = {finite,
                     number && !finite,
                     number,
                     !number,
                     finite && fabs(x) >= least,
                     finite && x != 0.0 && fabs(x) < least};
        bits |= is[i->flags] ? lane_bit[l] : 0;
    }
    sim_put_pred(w, &i->d, bits, mask);
}

static enum lab_status lower_testp(struct sim_lowering *l,
                                   const struct lab_ptx_instr *in,
                                   struct sim_instr *out)
{
    struct sim_mods m;
    sim_mods_of(in, &m);
    if (m.type_count != 1 || m.other || in->operand_count != 2 ||
        (m.types[0] != LAB_PTX_F32 && m.types[0] != LAB_PTX_F64))
        return sim_lower_refuse(l, in, NULL);
    int bit = SIM_BIT_FINITE;
    while (bit <= SIM_BIT_SUBNORMAL && m.bits != (uint64_t)1 << bit)
        bit++;
    if (bit > SIM_BIT_SUBNORMAL)
        return sim_lower_refuse(l, in, NULL);
    out->run = testp;
    out->type = m.types[0];
    out->flags = (uint8_t)(bit - SIM_BIT_FINITE);
    enum lab_status st = sim_lower_pred(l, in, &in->operands[0], &out->d);
    return st ? st : sim_lower_typed(l, in, 1, out->type, &out->a);
}

static enum lab_status lower_select(struct sim_lowering *l,
                                    const struct lab_ptx_instr *in,
                                    struct sim_instr *out)
{
    struct sim_mods m;
    sim_mods_of(in, &m);
    bool slct = in->opcode[1] == 'l';
    int bytes = m.type_count ? lab_ptx_type_bytes(m.types[0]) : 0;
    if (m.type_count != (slct ? 2 : 1) || m.other || in->operand_count != 4 ||
        (m.bits & ~(slct ? SIM_M(FTZ) : 0)) || bytes < 2 || bytes > 8 ||
        (slct && m.types[1] != LAB_PTX_S32 && m.types[1] != LAB_PTX_F32))
        return sim_lower_refuse(l, in, NULL);
    out->type = m.types[0];
    out->from = slct ? m.types[1] : 0;
    out->flags = m.bits != 0;
    if (slct)
        out->run = bytes == 8 ? slct64 : slct32;
    else
        out->run = bytes == 8 ? selp64 : selp32;
    enum lab_status st = sim_lower_typed(l, in, 0, out->type, &out->d);
    if (!st)
        st = sim_lower_typed(l, in, 1, out->type, &out->a);
    if (!st)
        st = sim_lower_typed(l, in, 2, out->type, &out->b);
    if (!st)
        st = slct ? sim_lower_typed(l, in, 3, out->from, &out->c)
                  : sim_lower_pred(l, in, &in->operands[3], &out->c);
    return st;
}

/* The comparison and the combination, which are modifiers of their own. */
static bool read_setp(const struct lab_ptx_instr *in, struct setp *out,
                      uint8_t types[2], int *type_count)
{
    bool found = false;
    out->combine = -1;
    *type_count = 0;
    for (int k = 0; k < in->modifier_count; k++) {
        const char *text = in->modifiers[k];
        enum lab_ptx_type type = lab_ptx_type_of(text);
        bool known = false;
        for (size_t c = 0; !found && c < sizeof(compares) / sizeof(*compares);
             c++)
            if (strcmp(text, compares[c].text) == 0) {
                out->compare = compares[c].compare;
                known = found = true;
            }
        for (int c = 0; !known && c < 3; c++)
            if (strcmp(text, combines[c]) == 0) {
                out->combine = c;
                known = true;
            }
        if (known)
            continue;
        if (strcmp(text, "ftz") == 0)
            out->ftz = true;
        else if (type != LAB_PTX_NO_TYPE && *type_count < 2)
            types[(*type_count)++] = (uint8_t)type;
        else
            return false;
    }
    return found;
}

static bool floating(int type)
{
    return type == LAB_PTX_F32 || type == LAB_PTX_F64 || type == LAB_PTX_F16 ||
           type == LAB_PTX_BF16 || type == LAB_PTX_F16X2 ||
           type == LAB_PTX_BF16X2;
}

static enum lab_status lower_set(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 struct sim_instr *out)
{
    uint8_t types[2];
    int type_count;
    bool pred = strcmp(in->opcode, "setp") == 0;
    struct setp *s = sim_lower_take(l, sizeof(*s));
    struct sim_operand *second = sim_lower_take(l, sizeof(*second));
    if (!s || !second)
        return lab_no_memory("a comparison");
    bool fine = read_setp(in, s, types, &type_count) &&
                type_count == (pred ? 1 : 2) &&
                in->operand_count == (s->combine < 0 ? 3 : 4);
    if (!fine)
        return sim_lower_refuse(l, in, NULL);
    int type = types[type_count - 1];
    bool two = type == LAB_PTX_F16X2 || type == LAB_PTX_BF16X2;
    if ((!compare_of[type] && !(two && pred)) ||
        (s->compare >= EQU && !floating(type)))
        return sim_lower_refuse(l, in, NULL);
    out->extra = s;
    out->type = types[0];
    out->from = (uint8_t)type;
    enum lab_status st = LAB_OK;
    const struct lab_ptx_operand *d = &in->operands[0];
    if (!pred) {
        int bytes = lab_ptx_type_bytes(types[0]);
        if ((bytes != 4 && bytes != 2) || types[0] == LAB_PTX_F16X2 ||
            types[0] == LAB_PTX_BF16X2)
            return sim_lower_refuse(l, in, NULL);
        out->bytes = (uint8_t)bytes;
        out->run = set_any;
        st = sim_lower_typed(l, in, 0, types[0], &out->d);
    } else if (d->kind == LAB_PTX_OPERAND_PAIR && d->part_count == 2) {
        st = sim_lower_pred(l, in, &d->parts[0], &out->d);
        if (!st)
            st = sim_lower_pred(l, in, &d->parts[1], second);
        out->more = second;
        out->more_count = 1;
    } else
        st = sim_lower_pred(l, in, d, &out->d);
    if (pred) {
        out->run = setp_any;
        if (!s->ftz)
            out->run = type == LAB_PTX_S32   ? setp_s32
                       : type == LAB_PTX_U32 ? setp_u32
                       : type == LAB_PTX_B32 ? setp_u32
                       : type == LAB_PTX_S64 ? setp_s64
                       : type == LAB_PTX_F32 ? setp_f32
                                             : setp_any;
    }
    if (!st)
        st = sim_lower_typed(l, in, 1, type, &out->a);
    if (!st)
        st = sim_lower_typed(l, in, 2, type, &out->b);
    if (!st && s->combine >= 0)
        st = sim_lower_pred(l, in, &in->operands[3], &s->with);
    return st;
}

enum lab_status sim_lower_compare(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out, bool *known)
{
    *known = true;
    if (strcmp(in->opcode, "setp") == 0 || strcmp(in->opcode, "set") == 0)
        return lower_set(l, in, out);
    if (strcmp(in->opcode, "selp") == 0 || strcmp(in->opcode, "slct") == 0)
        return lower_select(l, in, out);
    if (strcmp(in->opcode, "testp") == 0)
        return lower_testp(l, in, out);
    *known = false;
    return LAB_OK;
}
