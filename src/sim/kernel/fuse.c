/* fuse.c -- what ptxas makes one instruction of where PTX has two: a kernel's values
 * and FLOP are then those of the machine.
 *
 * A product and a sum without a rounding modifier become a fused multiply-add, where
 * nothing else reads the product ("PTX ISA", mul and add: they "may be optimized
 * aggressively", mul.rn and add.rn never). A cvt.sat of a sum or product that nothing
 * else reads is a modifier of that instruction. A sum or product that only a selp reads
 * is executed under the selp's predicate, by the lanes that take it: so in fp32, where
 * the other source is in a register that nothing reads later, and no constant, parameter,
 * or number with a changed sign: it is then in the result's register before. A sum that
 * waits for a shuffle, and that is read only behind a branch to the end of the kernel,
 * comes behind that branch, and the lanes that end do not execute it. All as seen in
 * machine code and on an H200 with CUDA 13 (bench/sim_card.py). */
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "kernel/flow.h"
#include "warp/code.h"

/* Of a register: how often it is written and read, and where it was written. */
struct reg_use {
    int32_t writes;
    int32_t reads;
    int32_t at;
};

struct branching {
    int32_t target; /* -1: no branch */
    bool is_target;
};

struct fusing {
    const struct lab_ptx_function *f;
    struct lab_ptx_instr *instrs; /* the copy that is changed */
    struct sim_fused *fused;
    struct reg_use *regs;
    int32_t *block;         /* of each instruction */
    struct branching *flow; /* of each instruction */
    struct sim_home
        *homes; /* of the registers, where find_lives() was called */
    int32_t at; /* of a walk */
    int32_t reg;
    bool found;
};

static void note_read(void *arg, int32_t reg)
{
    struct fusing *x = arg;
    x->regs[reg].reads++;
}

static void note_write(void *arg, int32_t reg)
{
    struct fusing *x = arg;
    x->regs[reg].writes++;
    x->regs[reg].at = x->at;
}

static void note_registers(struct fusing *x)
{
    for (x->at = 0; x->at < x->f->instr_count; x->at++) {
        const struct lab_ptx_instr *in = &x->f->instrs[x->at];
        for (int o = 0; o < in->operand_count; o++)
            sim_each_reg(x->f, &in->operands[o],
                         o == 0 && sim_flow_writes(in) &&
                                 in->operands[0].kind != LAB_PTX_OPERAND_ADDRESS
                             ? note_write
                             : note_read,
                         x);
        if (in->guard >= 0 && in->guard < x->f->reg_count)
            note_read(x, in->guard);
    }
}

static void note_branches(struct fusing *x)
{
    const struct lab_ptx_function *f = x->f;
    for (int32_t k = 0; k < f->instr_count; k++) {
        const struct lab_ptx_instr *in = &f->instrs[k];
        x->flow[k].target = -1;
        for (int o = 0; strcmp(in->opcode, "bra") == 0 && o < in->operand_count;
             o++)
            if (in->operands[o].kind == LAB_PTX_OPERAND_LABEL)
                x->flow[k].target = in->operands[o].target;
        const int32_t to = x->flow[k].target;
        if (to < 0 || to > f->instr_count)
            continue;
        x->flow[to].is_target = true;
    }
}

static const struct reg_use *use_of(const struct fusing *x,
                                    const struct lab_ptx_operand *o)
{
    return o->kind == LAB_PTX_OPERAND_REG && o->reg >= 0 &&
                   o->reg < x->f->reg_count
               ? &x->regs[o->reg]
               : NULL;
}

static bool is_type(const struct lab_ptx_instr *in, const char *type)
{
    return in->modifier_count > 0 &&
           strcmp(in->modifiers[in->modifier_count - 1], type) == 0;
}

/* add, sub or mul of f32 or f64 that may be fused. */
static bool is_loose(const struct lab_ptx_instr *in)
{
    static const char *const strict[] = {"rn", "rz", "rm", "rp"};
    for (size_t k = 0; k < sizeof(strict) / sizeof(strict[0]); k++)
        if (lab_ptx_has_modifier(in, strict[k]))
            return false;
    return in->operand_count == 3 && in->guard < 0 &&
           (is_type(in, "f32") || is_type(in, "f64"));
}

/* Which operand of a sum is the product: 1 or 2; 0: none, or both. */
static int product_place(const struct lab_ptx_instr *sum, int32_t reg)
{
    int place = 0;
    int found = 0;
    for (int o = 1; o < 3; o++)
        if (sum->operands[o].kind == LAB_PTX_OPERAND_REG &&
            sum->operands[o].reg == reg) {
            place = o;
            found++;
        }
    return found == 1 ? place : 0;
}

static bool can_fuse(const struct lab_ptx_instr *product,
                     const struct lab_ptx_instr *sum)
{
    static const char *const sums[] = {"add", "sub", NULL};
    return sim_is_one_of(sum, sums) && is_loose(sum) &&
           is_type(sum, product->modifiers[product->modifier_count - 1]) &&
           lab_ptx_has_modifier(sum, "ftz") ==
               lab_ptx_has_modifier(product, "ftz") &&
           product_place(sum, product->operands[0].reg) > 0;
}

static void find(void *arg, int32_t reg)
{
    struct fusing *x = arg;
    x->found |= reg == x->reg;
}

static bool overwrites(struct fusing *x, const struct lab_ptx_instr *in,
                       const struct lab_ptx_operand *factor)
{
    x->reg = factor->reg;
    x->found = false;
    if (factor->kind == LAB_PTX_OPERAND_REG)
        sim_each_changed(x->f, in, find, x);
    return x->found;
}

/* How many of the product's readers are sums of its block that can take it in. */
static int32_t takers(struct fusing *x, int32_t at)
{
    const struct lab_ptx_instr *product = &x->instrs[at];
    int32_t n = 0;
    for (int32_t k = at + 1;
         k < x->f->instr_count && x->block[k] == x->block[at]; k++) {
        const struct lab_ptx_instr *in = &x->instrs[k];
        n += can_fuse(product, in);
        if (overwrites(x, in, &product->operands[1]) ||
            overwrites(x, in, &product->operands[2]))
            break;
    }
    return n;
}

static enum lab_status fuse_product(struct fusing *x, int32_t at,
                                    struct lab_arena *arena)
{
    const struct lab_ptx_instr *product = &x->instrs[at];
    const struct reg_use *r = use_of(x, &product->operands[0]);
    if (!r || r->writes != 1 || r->reads == 0 || takers(x, at) != r->reads)
        return LAB_OK;
    int32_t left = r->reads;
    for (int32_t k = at + 1; left > 0; k++) {
        struct lab_ptx_instr *sum = &x->instrs[k];
        if (!can_fuse(product, sum))
            continue;
        struct lab_ptx_operand *to = lab_arena_array(arena, 4, sizeof(to[0]));
        if (!to)
            return lab_no_memory("a kernel");
        const int place = product_place(sum, product->operands[0].reg);
        to[0] = sum->operands[0];
        to[1] = product->operands[1];
        to[2] = product->operands[2];
        to[3] = sum->operands[3 - place];
        sum->opcode = strcmp(sum->opcode, "add") == 0 ? "fma"
                      : place == 1                    ? "fma -c"
                                                      : "fma -ab";
        sum->operands = to;
        sum->operand_count = 4;
        left--;
    }
    x->fused[at].flop = SIM_FLOP_NONE;
    return LAB_OK;
}

static bool is_saturation(const struct fusing *x,
                          const struct lab_ptx_instr *in)
{
    static const char *const sources[] = {"fma", "add", "sub", "mul", NULL};
    if (strcmp(in->opcode, "cvt") != 0 || in->operand_count != 2 ||
        in->guard >= 0 || in->modifier_count < 3 ||
        !lab_ptx_has_modifier(in, "sat") || !is_type(in, "f32") ||
        strcmp(in->modifiers[in->modifier_count - 2], "f32") != 0)
        return false;
    const struct reg_use *r = use_of(x, &in->operands[1]);
    return r && r->writes == 1 && r->reads == 1 &&
           sim_is_one_of(&x->instrs[r->at], sources) &&
           is_type(&x->instrs[r->at], "f32");
}

static bool is_arithmetic(const struct lab_ptx_instr *in)
{
    static const char *const words[] = {"add",    "sub",     "mul", "fma",
                                        "fma -c", "fma -ab", NULL};
    return in->guard < 0 && sim_is_one_of(in, words);
}

/* A sign of fp64 that is no instruction for ptxas: it belongs to the operand of a sum, a
 * comparison or a conversion (`DSETP.GT.AND P0, PT, |R2|, R6`). Where the value is stored,
 * shuffled, chosen or moved, or a register has it from several places, ptxas makes a sum
 * of it: `DADD R4, -RZ, |R2|`. */
static bool is_operand_sign(struct fusing *x, int32_t at)
{
    static const char *const signs[] = {"abs", "neg", NULL};
    static const char *const whole[] = {"st", "shfl", "selp", "mov", NULL};
    const struct lab_ptx_instr *in = &x->instrs[at];
    const struct reg_use *r;
    if (!sim_is_one_of(in, signs) || !is_type(in, "f64"))
        return false;
    r = use_of(x, &in->operands[0]);
    if (!r || r->writes != 1)
        return false;
    x->reg = in->operands[0].reg;
    x->found = false;
    for (int32_t k = 0; k < x->f->instr_count && !x->found; k++)
        for (int o = 0; sim_is_one_of(&x->instrs[k], whole) &&
                        o < x->instrs[k].operand_count;
             o++)
            sim_each_reg(x->f, &x->instrs[k].operands[o], find, x);
    return !x->found;
}

/* ---- under a predicate ---- */

static bool is_choice(const struct lab_ptx_instr *in)
{
    return strcmp(in->opcode, "selp") == 0 && in->guard < 0 &&
           in->operand_count == 4;
}

/* A function in fp32 that ptxas gives numbers that are normal (math.c). */
static bool is_scaling(const struct lab_ptx_instr *in)
{
    static const char *const words[] = {"ex2", "rsqrt", "sqrt",
                                        "lg2", "div",   NULL};
    return sim_is_one_of(in, words) && is_type(in, "f32") &&
           lab_ptx_has_modifier(in, "approx") &&
           !lab_ptx_has_modifier(in, "ftz");
}

static enum lab_status find_lives(struct fusing *x,
                                  const struct lab_ptx_function *code)
{
    int32_t slots = 0;
    int32_t preds = 0;
    bool any = false;
    for (int32_t k = 0; k < code->instr_count; k++)
        any |= is_choice(&x->instrs[k]) || is_scaling(&x->instrs[k]);
    if (!any)
        return LAB_OK;
    x->homes = lab_alloc_array((size_t)code->reg_count + 1, sizeof(*x->homes));
    return x->homes ? sim_flow_homes(code, x->homes, &slots, &preds)
                    : lab_no_memory("a kernel");
}

/* Whether `at` may leave another value in the register: nothing reads this one later.
 * What abs and neg make is no register for ptxas: they belong to the operand. */
static bool may_change(const struct fusing *x, const struct lab_ptx_operand *o,
                       int32_t at)
{
    static const char *const signs[] = {"abs", "neg", NULL};
    const struct reg_use *r = use_of(x, o);
    return r && x->homes[o->reg].to <= at &&
           (r->writes != 1 || !sim_is_one_of(&x->instrs[r->at], signs));
}

static bool is_constant(const struct fusing *x, const struct lab_ptx_operand *o)
{
    const struct reg_use *r = use_of(x, o);
    if (!r || r->writes != 1)
        return !r;
    const struct lab_ptx_instr *in = &x->instrs[r->at];
    return (strcmp(in->opcode, "mov") == 0 && in->operand_count == 2 &&
            in->operands[1].kind != LAB_PTX_OPERAND_REG &&
            in->operands[1].part_count == 0) ||
           (strcmp(in->opcode, "ld") == 0 && lab_ptx_has_modifier(in, "param"));
}

/* The sum or product that the selp `at` chooses from, one of its sources: of two, the
 * later. */
static void sink_sources(struct fusing *x, int32_t at)
{
    const struct lab_ptx_instr *in = &x->instrs[at];
    int32_t *from = x->fused[at].source;
    for (int o = 1; o < 3; o++) {
        const struct reg_use *r = use_of(x, &in->operands[o]);
        const struct lab_ptx_operand *other = &in->operands[3 - o];
        if (!r || r->writes != 1 || r->reads != 1 ||
            !may_change(x, other, at) || is_constant(x, other) ||
            x->block[r->at] != x->block[at] ||
            !is_arithmetic(&x->instrs[r->at]) ||
            !is_type(&x->instrs[r->at], "f32") ||
            x->fused[r->at].flop != SIM_FLOP_ALL)
            continue;
        from[o - 1] = r->at;
    }
    if (from[0] >= 0 && from[1] >= 0)
        from[from[0] < from[1] ? 0 : 1] = -1;
}

static void keep_operands(struct fusing *x, int32_t at)
{
    const struct lab_ptx_instr *in = &x->instrs[at];
    for (int o = 1; o < in->operand_count; o++)
        if (!may_change(x, &in->operands[o], at))
            x->fused[at].kept |= (uint8_t)(1 << (o - 1));
}

/* ---- behind a branch to the end ---- */

/* Whether the block that begins at `first` comes only behind a branch to the kernel's
 * end under a predicate. */
static bool behind_exit(const struct fusing *x, int32_t first)
{
    static const char *const ends[] = {"ret", "exit", NULL};
    const struct lab_ptx_function *f = x->f;
    if (!f->entry || first < 1 || f->instrs[first - 1].guard < 0 ||
        x->flow[first].is_target)
        return false;
    const int32_t to = x->flow[first - 1].target;
    return sim_is_one_of(
        &f->instrs[to >= 0 && to < f->instr_count ? to : first - 1], ends);
}

/* Whether the value comes from a shuffle of the block. */
static bool is_shuffled(const struct fusing *x, const struct lab_ptx_operand *o,
                        int32_t block, int depth)
{
    const struct reg_use *r = use_of(x, o);
    for (int k = 0; k < o->part_count; k++)
        if (is_shuffled(x, &o->parts[k], block, depth))
            return true;
    if (!r || r->writes != 1 || x->block[r->at] != block)
        return false;
    const struct lab_ptx_instr *in = &x->f->instrs[r->at];
    if (strcmp(in->opcode, "shfl") == 0)
        return true;
    return depth < 3 && strcmp(in->opcode, "mov") == 0 &&
           in->operand_count == 2 &&
           is_shuffled(x, &in->operands[1], block, depth + 1);
}

static bool touches(struct fusing *x, const struct lab_ptx_instr *in,
                    int32_t reg)
{
    x->reg = reg;
    x->found = in->guard == reg;
    for (int o = 0; o < in->operand_count; o++)
        sim_each_reg(x->f, &in->operands[o], find, x);
    return x->found;
}

/* Whether the result of `at` is read behind `to` alone. `rounded`: or is rounded to
 * fp32 before, for such readers. What is before `to` writes it nowhere else. */
static bool is_read_behind(struct fusing *x, int32_t at, int32_t to,
                           bool rounded)
{
    const struct lab_ptx_operand *result = &x->instrs[at].operands[0];
    if (!use_of(x, result))
        return false;
    for (int32_t k = 0; k < to; k++) {
        const struct lab_ptx_instr *in = &x->instrs[k];
        if (k == at || !touches(x, in, result->reg))
            continue;
        if (!rounded || k < at || strcmp(in->opcode, "cvt") != 0 ||
            in->guard >= 0 || !is_type(in, "f64") ||
            !is_read_behind(x, k, to, false))
            return false;
    }
    return true;
}

/* Whether something behind `to` is begun before the sum and takes longer. */
static bool has_loads(const struct fusing *x, int32_t to)
{
    static const char *const slow[] = {"ld", "atom", "red", NULL};
    for (int32_t k = to; k < x->f->instr_count; k++)
        if (sim_is_one_of(&x->f->instrs[k], slow))
            return true;
    return false;
}

/* A sum or product that waits for a shuffle, and that is read only behind its block,
 * where that is behind a branch to the end. In fp64 it may be rounded to fp32 first,
 * and there must be a load behind the branch, of a parameter at least. Of sums that wait
 * for a load from shared memory see move_chains(). */
static void move_behind(struct fusing *x, int32_t at)
{
    const struct lab_ptx_instr *in = &x->instrs[at];
    const bool f64 = is_type(in, "f64");
    bool shuffled = false;
    int32_t to = at;
    for (int o = 1; o < in->operand_count; o++)
        shuffled |= is_shuffled(x, &in->operands[o], x->block[at], 0);
    if (!shuffled || x->fused[at].flop != SIM_FLOP_ALL)
        return;
    while (to < x->f->instr_count && x->block[to] == x->block[at])
        to++;
    if (to < x->f->instr_count && behind_exit(x, to) &&
        x->f->instrs[to].guard < 0 && (!f64 || has_loads(x, to)) &&
        is_read_behind(x, at, to, f64))
        x->fused[at].with = to;
}

/* ---- loads from shared memory that ptxas joins to one of 8 or 16 bytes: values
 * and checks stay those of each load, wavefronts and bank conflicts are of the joined
 * one, at the first of them.
 *
 * Loads are joined where they are in one basic block without anything between them
 * that may change shared memory, have the same base, which is known to be aligned,
 * and lie in one aligned piece of memory: three words or four of 16 bytes, or both
 * of 8. As seen in the machine code of all kernels of this tree for sm_90a (CUDA 13). ---- */

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

static int times(int a, int b)
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
        return o[2].value >= 4 ? WIDEST : times(a[1], 1 << o[2].value);
    if (lab_ptx_has_modifier(in, "hi"))
        return 1;
    if (count == 3 && strcmp(in->opcode, "mul") == 0)
        return times(a[1], a[2]);
    if (count == 4 && strcmp(in->opcode, "mad") == 0)
        return less(times(a[1], a[2]), a[3]);
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

/* ---- loads and stores ---- */

/* Of a load or a store. */
static const struct lab_ptx_operand *address_of(const struct lab_ptx_instr *in)
{
    return &in->operands[strcmp(in->opcode, "ld") == 0 ? 1 : 0];
}

/* Elements of a load, or a store, of shared memory that may be joined with others that
 * have elements as wide: bytes of one and how many; 0: none. Four bytes or two halves of a
 * vector are a word. */
struct elements {
    int wide;
    int count;
};

static struct elements elements_of(const struct lab_ptx_instr *in,
                                   const char *opcode)
{
    static const char *const never[] = {"volatile", "relaxed", "acquire",
                                        "release",  "mmio",    "v8"};
    const struct elements none = {0, 0};
    if (strcmp(in->opcode, opcode) != 0 || in->guard >= 0 ||
        in->operand_count != 2 || in->modifier_count < 2 ||
        (!lab_ptx_has_modifier(in, "shared") &&
         !lab_ptx_has_modifier(in, "shared::cta")) ||
        address_of(in)->kind != LAB_PTX_OPERAND_ADDRESS ||
        address_of(in)->part_count != 1)
        return none;
    for (size_t k = 0; k < sizeof(never) / sizeof(never[0]); k++)
        if (lab_ptx_has_modifier(in, never[k]))
            return none;
    const int each = lab_ptx_type_bytes(
        lab_ptx_type_of(in->modifiers[in->modifier_count - 1]));
    const int count = lab_ptx_has_modifier(in, "v4")   ? 4
                      : lab_ptx_has_modifier(in, "v2") ? 2
                                                       : 1;
    if (each < WORD)
        return each * count == WORD ? (struct elements){WORD, 1} : none;
    return each * count <= 8 ? (struct elements){each, count} : none;
}

static struct elements load_of(const struct lab_ptx_instr *in)
{
    return elements_of(in, "ld");
}

static struct elements store_of(const struct lab_ptx_instr *in)
{
    return elements_of(in, "st");
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
    const struct lab_ptx_operand *a = address_of(in);
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
    int32_t base; /* register of the accesses, -1 */
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

/* The words of an access in its piece. */
static unsigned words_of(const struct lab_ptx_instr *in, int bytes)
{
    const int64_t from = offset_of(in) - piece_of(offset_of(in)) * WIDEST;
    return ((1u << bytes / WORD) - 1) << from / WORD;
}

/* The load at `at` with those behind it that go into its piece. */
static void join_from(struct widening *x, int32_t at, int aligned)
{
    const struct lab_ptx_instr *first = &x->f->instrs[at];
    const struct lab_ptx_operand *base = &address_of(first)->parts[0];
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
        const struct elements e = load_of(in);
        const int bytes = e.wide * e.count;
        if (parts_loads(in))
            break;
        if (bytes && e.wide == load_of(first).wide && !x->fused[k].wide &&
            same_base(base, &address_of(in)->parts[0]) &&
            piece_of(offset_of(in)) == piece) {
            const unsigned own = words_of(in, bytes);
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

/* Marks those of `parts` whose words are of `whole`, as one access. */
static void join_parts(const struct widening *x, const int32_t *parts,
                       const unsigned *words, int count, unsigned whole)
{
    int32_t first = -1;
    for (int k = 0; k < count; k++) {
        if ((words[k] & whole) != words[k] || words[k] == whole)
            continue;
        x->fused[parts[k]].wide = SIM_NOT_WIDE;
        if (first >= 0)
            continue;
        first = parts[k];
        x->fused[first].wide = (uint8_t)(WORD * __builtin_popcount(whole));
        x->fused[first].back =
            (uint8_t)(WORD * (__builtin_ctz(words[k]) - __builtin_ctz(whole)));
    }
}

/* What parts loads parts stores, and so does a load that may be of shared memory. */
static bool parts_stores(const struct lab_ptx_instr *in)
{
    static const char *const loads[] = {"ld", "ldmatrix", NULL};
    static const char *const elsewhere[] = {"global", "local", "param",
                                            "const"};
    const bool load = strcmp(in->opcode, "ld") == 0;
    for (size_t w = 0; w < sizeof(elsewhere) / sizeof(elsewhere[0]); w++)
        if (load && lab_ptx_has_modifier(in, elsewhere[w]))
            return false;
    return parts_loads(in) || sim_is_one_of(in, loads);
}

/* The store at `at` with those behind it that go into its piece, if no other access to
 * shared memory is between. ptxas writes a whole piece, or a half, at once, in whatever
 * order the stores are; none where one of a word follows one of two. Returns the last. */
static int32_t join_stores(struct widening *x, int32_t at, int aligned)
{
    const struct lab_ptx_instr *first = &x->f->instrs[at];
    const struct lab_ptx_operand *base = &address_of(first)->parts[0];
    int32_t parts[WORDS];
    unsigned words[WORDS];
    unsigned all = 0;
    int count = 0;
    int widest = 0;
    bool falls = false;
    x->base = base->kind == LAB_PTX_OPERAND_REG ? base->reg : -1;
    x->changed = false;
    for (int32_t k = at; k < x->f->instr_count && x->block[k] == x->block[at] &&
                         !x->changed && count < WORDS;
         k++) {
        const struct lab_ptx_instr *in = &x->f->instrs[k];
        const struct elements e = store_of(in);
        const int bytes = e.wide * e.count;
        if (bytes && e.wide == store_of(first).wide &&
            same_base(base, &address_of(in)->parts[0]) &&
            piece_of(offset_of(in)) == piece_of(offset_of(first)) &&
            offset_of(in) % bytes == 0 && !(all & words_of(in, bytes))) {
            words[count] = words_of(in, bytes);
            all |= words[count];
            parts[count++] = k;
            falls |= bytes < widest;
            widest = bytes > widest ? bytes : widest;
        } else if (parts_stores(in)) {
            break;
        }
        sim_each_changed(x->f, in, note_base, x);
    }
    if (count == 0)
        return at;
    if (falls)
        return parts[count - 1];
    if (all == 15 && aligned == WIDEST)
        join_parts(x, parts, words, count, 15);
    else
        for (unsigned half = 3; half <= 12; half <<= 2)
            if ((all & half) == half)
                join_parts(x, parts, words, count, half);
    return parts[count - 1];
}

static int aligned_to(const struct aligning *a, const struct lab_ptx_instr *in)
{
    struct lab_ptx_operand start = address_of(in)->parts[0];
    start.value = 0;
    return of_operand(a, &start);
}

static enum lab_status widen(const struct lab_ptx_function *f,
                             const int32_t *block, struct sim_fused *fused)
{
    struct aligning a = {.f = f};
    struct widening x = {.f = f, .block = block, .fused = fused};
    static const char *const apart[] = {"mbarrier", "cp", NULL};
    bool any = false;
    for (int32_t k = 0; k < f->instr_count; k++) {
        any |= load_of(&f->instrs[k]).wide || store_of(&f->instrs[k]).wide;
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
        if (!load_of(in).wide || fused[k].wide)
            continue;
        const int aligned = aligned_to(&a, in);
        if (aligned >= 8)
            join_from(&x, k, aligned);
    }
    for (int32_t k = 0; k < f->instr_count; k++)
        if (store_of(&f->instrs[k]).wide) {
            const int aligned = aligned_to(&a, &f->instrs[k]);
            k = aligned >= 8 ? join_stores(&x, k, aligned) : k;
        }
    lab_free(a.of);
    return LAB_OK;
}

/* ---- loads from shared memory, and sums of them ----
 *
 * ptxas makes of the branch to the kernel's end an instruction, EXIT under the predicate,
 * and schedules it among those of the blocks before and behind. A load of one place that
 * only the lanes behind it read comes behind it, as in adam_update. Where a load from global
 * memory comes behind it, EXIT goes before what only the lanes behind it need, loads from
 * shared memory, too: so 7 of 7 sums of cross_entropy_sample<256> for sm_90a, and at most
 * the last 10 in fp64 and 22 in fp32 of sums as long as that. Without such a load EXIT is
 * where the sums left take as long as the machine's instructions behind it: with 3 of 7
 * sums left in softmax_fwd<256>, 4 of 7 in softmax_bwd<256>, none of 31 in grad_norm. PTX
 * does not have those instructions: such sums are counted where PTX has them. */

/* Whether the block at `to` loads from global memory. */
static bool loads_behind(const struct fusing *x, int32_t to)
{
    for (int32_t k = to; k < x->f->instr_count && x->block[k] == x->block[to];
         k++)
        if (strcmp(x->f->instrs[k].opcode, "ld") == 0 &&
            lab_ptx_has_modifier(&x->f->instrs[k], "global"))
            return true;
    return false;
}

/* A load of one place in shared memory by all lanes. */
static bool is_shared_load(const struct lab_ptx_instr *in)
{
    return load_of(in).wide > 0 &&
           address_of(in)->parts[0].kind == LAB_PTX_OPERAND_SYMBOL;
}

/* Whether what `at` writes is read behind `to`, or before by what is moved there, alone. */
static bool serves_behind(struct fusing *x, int32_t at, int32_t to)
{
    const struct lab_ptx_operand *result = &x->instrs[at].operands[0];
    if (!use_of(x, result))
        return false;
    for (int32_t k = 0; k < to; k++)
        if (k != at && touches(x, &x->instrs[k], result->reg) &&
            (k < at || x->fused[k].with != to))
            return false;
    return true;
}

/* Whether a source of the sum is what comes behind `to`. */
static bool has_moved_source(const struct fusing *x, int32_t at, int32_t to)
{
    for (int o = 1; o < x->instrs[at].operand_count; o++) {
        const struct reg_use *r = use_of(x, &x->instrs[at].operands[o]);
        if (r && r->at < at && x->fused[r->at].with == to)
            return true;
    }
    return false;
}

/* Where the code begins that is one block for ptxas, which ends with the block at `from`:
 * an instruction that a branch leaves out is executed under its predicate. */
static int32_t joined_from(const struct fusing *x, int32_t from)
{
    for (;;) {
        int32_t branches = 0;
        for (int32_t k = 0; k < x->f->instr_count; k++)
            branches += x->flow[k].target == from;
        if (from < 2 || branches != 1 || x->flow[from - 2].target != from ||
            x->block[from - 1] == x->block[from - 2] ||
            x->f->instrs[from - 2].guard < 0)
            return from;
        from -= 2;
        while (from > 0 && x->block[from - 1] == x->block[from])
            from--;
    }
}

/* The block from `from` to before `to`. */
static void move_chain(struct fusing *x, int32_t from, int32_t to)
{
    enum { MOST_F64 = 10, MOST_F32 = 22 };
    int sums = 0;
    bool before = false; /* what may write shared memory */
    if (!behind_exit(x, to) || x->f->instrs[to].guard >= 0)
        return;
    const bool loads = loads_behind(x, to);
    const int32_t begin = joined_from(x, from);
    for (int32_t k = to - 1; k >= begin; k--) {
        const struct lab_ptx_instr *in = &x->instrs[k];
        const bool f64 = is_type(in, "f64");
        const bool sum = loads && k >= from && is_arithmetic(in) &&
                         (f64 || is_type(in, "f32")) &&
                         x->fused[k].flop == SIM_FLOP_ALL;
        before |= parts_loads(&x->f->instrs[k]);
        if ((!sum && (before || !is_shared_load(in))) ||
            (sum && sums >= (f64 ? MOST_F64 : MOST_F32)) ||
            !serves_behind(x, k, to))
            continue;
        x->fused[k].with = to;
        sums += sum;
    }
    for (int32_t k = from; k < to; k++)
        if (x->fused[k].with == to && !is_shared_load(&x->instrs[k]) &&
            !has_moved_source(x, k, to))
            x->fused[k].with = -1;
}

static void move_chains(struct fusing *x)
{
    const int32_t n = x->f->instr_count;
    for (int32_t from = 0, k = 1; k < n; k++)
        if (x->block[k] != x->block[from]) {
            move_chain(x, from, k);
            from = k;
        }
}

/* ---- all of it ---- */

enum lab_status sim_fuse(const struct lab_ptx_function *f,
                         struct lab_arena *arena, struct lab_ptx_function *code,
                         struct sim_fused **fused)
{
    const size_t n = (size_t)f->instr_count + 1;
    struct fusing x = {.f = f};
    enum lab_status st = LAB_OK;
    *code = *f;
    x.instrs = lab_arena_array(arena, n, sizeof(x.instrs[0]));
    x.fused = lab_arena_array(arena, n, sizeof(x.fused[0]));
    x.regs = lab_alloc_array((size_t)f->reg_count + 1, sizeof(x.regs[0]));
    x.block = lab_alloc_array(n, sizeof(x.block[0]));
    x.flow = lab_alloc_array(n, sizeof(x.flow[0]));
    if (!x.instrs || !x.fused || !x.regs || !x.block || !x.flow)
        st = lab_no_memory("a kernel");
    if (!st)
        st = sim_flow_blocks(f, x.block);
    if (!st) {
        if (f->instr_count > 0)
            memcpy(x.instrs, f->instrs,
                   (size_t)f->instr_count * sizeof(x.instrs[0]));
        note_registers(&x);
        note_branches(&x);
    }
    for (size_t k = 0; !st && k < n; k++)
        x.fused[k].source[0] = x.fused[k].source[1] = x.fused[k].with = -1;
    for (int32_t k = 0; !st && k < f->instr_count; k++)
        if (strcmp(x.instrs[k].opcode, "mul") == 0 && is_loose(&x.instrs[k]) &&
            !lab_ptx_has_modifier(&x.instrs[k], "sat"))
            st = fuse_product(&x, k, arena);
    for (int32_t k = 0; !st && k < f->instr_count; k++)
        if (is_saturation(&x, &x.instrs[k]) || is_operand_sign(&x, k))
            x.fused[k].flop = SIM_FLOP_NONE;
    code->instrs = x.instrs;
    if (!st)
        st = find_lives(&x, code);
    for (int32_t k = 0; !st && k < f->instr_count; k++)
        if (is_choice(&x.instrs[k]))
            sink_sources(&x, k);
        else if (is_scaling(&x.instrs[k]))
            keep_operands(&x, k);
    if (!st)
        move_chains(&x);
    for (int32_t k = 0; !st && k < f->instr_count; k++)
        if (is_arithmetic(&x.instrs[k]))
            move_behind(&x, k);
    if (!st)
        st = widen(f, x.block, x.fused);
    lab_free(x.regs);
    lab_free(x.block);
    lab_free(x.flow);
    lab_free(x.homes);
    *fused = x.fused;
    return st;
}
