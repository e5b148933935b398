/* wide.c -- loads from shared memory that ptxas joins to one of 8 or 16 bytes: values
 * and checks stay those of each load, wavefronts and bank conflicts are of the joined
 * one, at the first of them.
 *
 * Loads are joined where they are in one basic block without anything between them
 * that may change shared memory, have the same base, which is known to be aligned,
 * and lie in one aligned piece of memory: three words or four of 16 bytes, or both
 * of 8. As seen in the machine code of all kernels of this tree for sm_90a (CUDA 13). */
#include <string.h>

#include "base/mem.h"
#include "kernel/flow.h"
#include "warp/code.h"

enum { WIDEST = 16, WORD = 4, WORDS = WIDEST / WORD };

/* ---- alignment of addresses ---- */

struct aligning {
    const struct lab_ptx_function *f;
    const struct lab_ptx_instr *in;
    uint8_t *of; /* each register: a power of two up to WIDEST, or 1 */
    bool changed;
};

static int of_number(uint64_t v)
{
    return v % WIDEST == 0 ? WIDEST : (int)(v & (~v + 1));
}

static int less(int a, int b)
{
    return a < b ? a : b;
}

static int of_operand(const struct aligning *x, const struct lab_ptx_operand *o)
{
    switch (o->kind) {
    case LAB_PTX_OPERAND_REG:
        return o->reg >= 0 && o->reg < x->f->reg_count ? x->of[o->reg] : 1;
    case LAB_PTX_OPERAND_INT:
        return of_number(o->value);
    case LAB_PTX_OPERAND_SYMBOL:
        /* ptxas chooses where a static variable begins. */
        if (!o->variable || o->variable->space != LAB_PTX_SHARED)
            return 1;
        return less(o->variable->external
                        ? of_number((uint64_t)o->variable->align)
                        : WIDEST,
                    of_number(o->value));
    default:
        return 1;
    }
}

static int product(int a, int b)
{
    return less(a * b, WIDEST);
}

static int of_result(const struct aligning *x)
{
    static const char *const same[] = {"mov", "cvta", "cvt", NULL};
    static const char *const sums[] = {"add", "sub", "or", NULL};
    const struct lab_ptx_instr *in = x->in;
    const struct lab_ptx_operand *o = in->operands;
    const int count = in->operand_count;
    int a[4] = {0};
    for (int k = 1; k < count && k < 4; k++)
        a[k] = of_operand(x, &o[k]);
    if (count == 2 && sim_is_one_of(in, same))
        return a[1];
    if (count == 3 && sim_is_one_of(in, sums))
        return less(a[1], a[2]);
    if (count == 3 && strcmp(in->opcode, "and") == 0)
        return a[1] > a[2] ? a[1] : a[2];
    if (count == 3 && strcmp(in->opcode, "shl") == 0 &&
        o[2].kind == LAB_PTX_OPERAND_INT)
        return o[2].value >= 4 ? WIDEST : product(a[1], 1 << o[2].value);
    if (lab_ptx_has_modifier(in, "hi"))
        return 1;
    if (count == 3 && strcmp(in->opcode, "mul") == 0)
        return product(a[1], a[2]);
    if (count == 4 && strcmp(in->opcode, "mad") == 0)
        return less(product(a[1], a[2]), a[3]);
    if (count == 4 && strcmp(in->opcode, "selp") == 0)
        return less(a[1], a[2]);
    return 1;
}

static void lower(void *arg, int32_t reg)
{
    struct aligning *x = arg;
    const bool alone = x->in->operands[0].kind == LAB_PTX_OPERAND_REG &&
                       sim_flow_writes(x->in);
    const int to = alone ? of_result(x) : 1;
    if (to < x->of[reg]) {
        x->of[reg] = (uint8_t)to;
        x->changed = true;
    }
}

static void align(struct aligning *x)
{
    memset(x->of, WIDEST, (size_t)x->f->reg_count);
    for (x->changed = true; x->changed;) {
        x->changed = false;
        for (int32_t k = 0; k < x->f->instr_count; k++) {
            x->in = &x->f->instrs[k];
            sim_each_changed(x->f, x->in, lower, x);
        }
    }
}

/* ---- loads ---- */

/* The bytes of a load that may be joined; 0: none. */
static int load_bytes(const struct lab_ptx_instr *in)
{
    static const char *const never[] = {"volatile", "relaxed", "acquire",
                                        "mmio",     "v4",      "v8"};
    if (strcmp(in->opcode, "ld") != 0 || in->guard >= 0 ||
        in->operand_count != 2 || in->modifier_count < 2 ||
        (!lab_ptx_has_modifier(in, "shared") &&
         !lab_ptx_has_modifier(in, "shared::cta")) ||
        in->operands[1].kind != LAB_PTX_OPERAND_ADDRESS ||
        in->operands[1].part_count != 1)
        return 0;
    for (size_t k = 0; k < sizeof(never) / sizeof(never[0]); k++)
        if (lab_ptx_has_modifier(in, never[k]))
            return 0;
    const int each = lab_ptx_type_bytes(
        lab_ptx_type_of(in->modifiers[in->modifier_count - 1]));
    const int bytes = lab_ptx_has_modifier(in, "v2") ? 2 * each : each;
    return each >= WORD && bytes <= 8 ? bytes : 0;
}

/* Opcodes that may change shared memory, or wait for others to do so. */
static bool parts_loads(const struct lab_ptx_instr *in)
{
    static const char *const words[] = {
        "st",    "atom", "red",   "bar",      "barrier", "call",     "membar",
        "fence", "cp",   "wgmma", "mbarrier", "wmma",    "stmatrix", NULL};
    if (strcmp(in->opcode, "st") == 0 && (lab_ptx_has_modifier(in, "global") ||
                                          lab_ptx_has_modifier(in, "local")))
        return false;
    return sim_is_one_of(in, words);
}

/* Of the address: a register and what is added, or a variable. */
static int64_t offset_of(const struct lab_ptx_instr *in)
{
    const struct lab_ptx_operand *a = &in->operands[1];
    return (int64_t)(a->value + (a->parts[0].kind == LAB_PTX_OPERAND_SYMBOL
                                     ? a->parts[0].value
                                     : 0));
}

static bool same_base(const struct lab_ptx_operand *a,
                      const struct lab_ptx_operand *b)
{
    return a->kind == b->kind &&
           (a->kind == LAB_PTX_OPERAND_REG ? a->reg == b->reg
            : a->kind == LAB_PTX_OPERAND_SYMBOL
                ? a->variable && a->variable == b->variable
                : false);
}

struct widening {
    const struct lab_ptx_function *f;
    const int32_t *block;
    struct sim_fused *fused;
    int32_t base; /* register of the loads, -1 */
    bool changed;
};

static void note_base(void *arg, int32_t reg)
{
    struct widening *x = arg;
    x->changed |= reg == x->base;
}

/* Floor, also below zero. */
static int64_t piece_of(int64_t offset)
{
    return offset >= 0 ? offset / WIDEST : -((-offset + WIDEST - 1) / WIDEST);
}

/* What a lane reads at once for these words of a piece; *from: its first byte. */
static int joined_bytes(unsigned words, int aligned, int *from)
{
    *from = 0;
    if (aligned == WIDEST && __builtin_popcount(words) >= 3)
        return WIDEST;
    if (words != 3 && words != 12)
        return 0;
    *from = words == 3 ? 0 : 8;
    return 8;
}

/* The load at `at` with those behind it that go into its piece. */
static void join_from(struct widening *x, int32_t at, int aligned)
{
    const struct lab_ptx_instr *first = &x->f->instrs[at];
    const struct lab_ptx_operand *base = &first->operands[1].parts[0];
    const int64_t piece = piece_of(offset_of(first));
    /* Of a base that is aligned to 8 bytes alone, a half of the piece. */
    const unsigned half =
        aligned == WIDEST ? 15u
                          : 3u << (offset_of(first) - piece * WIDEST) / 8 * 2;
    int32_t parts[WORDS] = {at};
    unsigned words = 0;
    int count = 0;
    x->base = base->kind == LAB_PTX_OPERAND_REG ? base->reg : -1;
    x->changed = false;
    for (int32_t k = at; k < x->f->instr_count && x->block[k] == x->block[at] &&
                         !x->changed && count < WORDS;
         k++) {
        const struct lab_ptx_instr *in = &x->f->instrs[k];
        const int bytes = load_bytes(in);
        if (parts_loads(in))
            break;
        if (bytes && !x->fused[k].wide &&
            same_base(base, &in->operands[1].parts[0]) &&
            piece_of(offset_of(in)) == piece) {
            const int word = (int)(offset_of(in) - piece * WIDEST) / WORD;
            const unsigned own = ((1u << bytes / WORD) - 1) << word;
            if (offset_of(in) % bytes == 0 && (own & half) == own) {
                words |= own;
                parts[count++] = k;
            }
        }
        sim_each_changed(x->f, in, note_base, x);
    }
    int from;
    const int bytes = joined_bytes(words, aligned, &from);
    if (count < 2 || !bytes)
        return;
    for (int k = 0; k < count; k++)
        x->fused[parts[k]].wide = SIM_NOT_WIDE;
    x->fused[at].wide = (uint8_t)bytes;
    x->fused[at].back = (uint8_t)(offset_of(first) - piece * WIDEST - from);
}

enum lab_status sim_widen(const struct lab_ptx_function *f,
                          const int32_t *block, struct sim_fused *fused)
{
    struct aligning a = {.f = f};
    struct widening x = {.f = f, .block = block, .fused = fused};
    static const char *const apart[] = {"mbarrier", "cp", NULL};
    bool any = false;
    for (int32_t k = 0; k < f->instr_count; k++) {
        any |= load_bytes(&f->instrs[k]) > 0;
        /* They have hardware of their own. */
        if (sim_is_one_of(&f->instrs[k], apart))
            fused[k].wide = SIM_NOT_WIDE;
    }
    if (!any)
        return LAB_OK;
    a.of = lab_alloc_array((size_t)f->reg_count + 1, sizeof(a.of[0]));
    if (!a.of)
        return lab_no_memory("a kernel");
    align(&a);
    for (int32_t k = 0; k < f->instr_count; k++) {
        const struct lab_ptx_instr *in = &f->instrs[k];
        if (!load_bytes(in) || fused[k].wide)
            continue;
        const struct lab_ptx_operand *base = &in->operands[1].parts[0];
        struct lab_ptx_operand start = *base;
        start.value = 0;
        const int aligned = of_operand(&a, &start);
        if (aligned >= 8)
            join_from(&x, k, aligned);
    }
    lab_free(a.of);
    return LAB_OK;
}
