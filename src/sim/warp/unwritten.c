/* unwritten.c -- variables in registers that nothing has written: the sum that never
 * began at zero. Where the flow of a kernel shows that a register may be read before
 * it is written, the instructions that it can reach keep, for each lane, whether
 * their value comes from it. That is a finding where the value is stored, is an
 * address, or decides a branch; a compiler may compute with it and drop the result.
 * Kernels without such a register, nearly all, pay nothing. */
#include <string.h>

#include "warp/code.h"

static bool is(const struct lab_ptx_instr *in, const char *opcode)
{
    return strcmp(in->opcode, opcode) == 0;
}

bool sim_is_one_of(const struct lab_ptx_instr *in, const char *const *list)
{
    for (; *list; list++)
        if (is(in, *list))
            return true;
    return false;
}

bool sim_has_result(const struct lab_ptx_instr *in)
{
    static const char *const reading[] = {"st",
                                          "red",
                                          "bra",
                                          "brx",
                                          "call",
                                          "bar",
                                          "barrier",
                                          "ret",
                                          "prefetch",
                                          "prefetchu",
                                          "stmatrix",
                                          "wgmma",
                                          "cp",
                                          "mbarrier",
                                          "fence",
                                          "membar",
                                          "setmaxnreg",
                                          "nanosleep",
                                          "multimem",
                                          "tensormap",
                                          "discard",
                                          "applypriority",
                                          "griddepcontrol",
                                          "trap"};
    for (size_t k = 0; k < sizeof(reading) / sizeof(reading[0]); k++)
        if (is(in, reading[k]))
            return false;
    return !(is(in, "wmma") && lab_ptx_has_modifier(in, "store"));
}

/* Values from memory or of several lanes: nothing is known of them. */
static const char *const from_elsewhere[] = {
    "ld",         "ldu",      "atom",     "vote", "match",     "redux",
    "activemask", "elect",    "ldmatrix", "call", "movmatrix", "tex",
    "suld",       "isspacep", "mbarrier", NULL};

/* Defined where one source is: a part of a packed value, a && b. */
static const char *const one_is_enough[] = {"and", "or",  "xor",  "prmt",
                                            "bfi", "shf", "lop3", NULL};

bool sim_unwritten_passes(const struct lab_ptx_instr *in)
{
    return !sim_is_one_of(in, from_elsewhere);
}

/* Of the registers in an operand: lanes in which all of them (`all`), or any, have
 * what nothing wrote. Without registers: none. */
struct lanes {
    uint32_t any;
    uint32_t all;
    bool found;
    int32_t origin; /* of the first; -1: the register itself */
};

static void look(const struct sim_warp *w, const struct lab_ptx_operand *o,
                 struct lanes *out)
{
    const int32_t *tracked = w->block->grid->kernel->tracked;
    if (o->kind == LAB_PTX_OPERAND_REG && o->reg >= 0) {
        int32_t k = tracked[o->reg] - 1;
        uint32_t mask = k >= 0 ? w->unwritten[k].lanes : 0;
        if (mask && !out->any)
            out->origin = w->unwritten[k].origin;
        out->any |= mask;
        out->all = out->found ? out->all & mask : mask;
        out->found = true;
    }
    for (int k = 0; k < o->part_count; k++)
        look(w, &o->parts[k], out);
}

static struct lanes lanes_of(const struct sim_warp *w,
                             const struct lab_ptx_operand *o)
{
    struct lanes l = {0, 0, false, -1};
    look(w, o, &l);
    return l;
}

static void set(struct sim_warp *w, const struct lab_ptx_operand *o,
                uint32_t mask, uint32_t lanes, int32_t origin)
{
    const int32_t *tracked = w->block->grid->kernel->tracked;
    if (o->kind == LAB_PTX_OPERAND_REG && o->reg >= 0 && tracked[o->reg]) {
        struct sim_unwritten *u = &w->unwritten[tracked[o->reg] - 1];
        const uint32_t before = u->lanes;
        u->lanes = (u->lanes & ~mask) | (lanes & mask);
        w->unwritten_count += (u->lanes != 0) - (before != 0);
        if (lanes & mask)
            u->origin = origin;
    }
    for (int k = 0; k < o->part_count; k++)
        set(w, &o->parts[k], mask, lanes, origin);
}

/* What `l` came to: found where it was first computed with. */
static void found(struct sim_warp *w, const struct sim_instr *i,
                  const struct lab_ptx_operand *o, const struct lanes *l,
                  uint32_t lanes, const char *what)
{
    const struct sim_instr *at =
        l->origin >= 0 ? &w->block->grid->kernel->instrs[l->origin] : i;
    set(w, o, lanes, 0, -1); /* once */
    if (sim_repeats(w, at, __builtin_ctz(lanes), LAB_SIM_UNINITIALISED,
                    LAB_PTX_LOCAL, 0))
        return;
    sim_find(w, at, lanes, LAB_SIM_UNINITIALISED,
             SIM_HINT("the variable's first value, on every way to here"),
             "read of a variable that nothing wrote, and %s", what);
}

/* Of a store into shared or local memory, each element for itself: who reads it is
 * found. */
static void unset(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    const struct lab_ptx_operand *o = &i->ptx->operands[1];
    uint64_t addr[SIM_LANES];
    sim_addresses(w, &i->d, addr);
    for (int k = 0; k < i->count; k++) {
        struct lanes l = lanes_of(w, o->part_count > k ? &o->parts[k] : o);
        for (uint32_t rest = l.any & mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            uint64_t at = addr[lane] + (uint64_t)(i->bytes * k);
            if (i->space == LAB_PTX_SHARED)
                sim_shared_unset(w, i, at, i->bytes);
            else
                sim_local_unset(w, lane, at, i->bytes);
        }
    }
}

/* Lanes whose value is stored where others see it: in global memory, and the sums of a
 * tensor core's tile anywhere. */
static uint32_t kept(const struct sim_warp *w, const struct sim_instr *i)
{
    uint64_t addr[SIM_LANES];
    uint32_t lanes = 0;
    if (is(i->ptx, "wmma") && lab_ptx_has_modifier(i->ptx, "store"))
        return ~0u;
    if (!is(i->ptx, "st") && !is(i->ptx, "red") && !is(i->ptx, "atom"))
        return 0;
    if (i->space != LAB_PTX_GENERIC || !is(i->ptx, "st"))
        return i->space == LAB_PTX_GLOBAL ? ~0u : 0;
    sim_addresses(w, &i->d, addr);
    for (int k = 0; k < SIM_LANES; k++) /* below all windows */
        lanes |= (uint32_t)(addr[k] < SIM_LOCAL_WINDOW) << k;
    return lanes;
}

/* Values that leave the registers. */
static void check(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    const struct lab_ptx_instr *in = i->ptx;
    const uint32_t stored = kept(w, i);
    struct lanes l;
    if (in->guard >= 0) {
        const struct lab_ptx_operand guard = {.kind = LAB_PTX_OPERAND_REG,
                                              .reg = in->guard};
        l = lanes_of(w, &guard);
        if (l.any & mask)
            found(w, i, &guard, &l, l.any & mask,
                  "what it gives decides a branch");
    }
    for (int k = 0; k < in->operand_count; k++) {
        const struct lab_ptx_operand *o = &in->operands[k];
        const bool address = o->kind == LAB_PTX_OPERAND_ADDRESS;
        if (!address && !(stored && k > 0))
            continue;
        l = lanes_of(w, o);
        uint32_t lanes = (address ? l.any : l.all & stored) & mask;
        if (lanes)
            found(w, i, o, &l, lanes,
                  address ? "what it gives is an address"
                          : "what it gives is stored");
    }
}

/* Lanes of the predicate of a selp that are true. */
static uint32_t truth(const struct sim_warp *w, const struct lab_ptx_operand *o)
{
    const struct lab_sim_kernel *k = w->block->grid->kernel;
    if (o->kind != LAB_PTX_OPERAND_REG || o->reg < 0)
        return 0;
    uint32_t p = w->preds[k->homes[o->reg].slot];
    return o->negated ? ~p : p;
}

static void choose(struct sim_warp *w, const struct lab_ptx_instr *in,
                   uint32_t mask)
{
    struct lanes a = lanes_of(w, &in->operands[1]);
    struct lanes b = lanes_of(w, &in->operands[2]);
    struct lanes p = lanes_of(w, &in->operands[3]);
    uint32_t t = truth(w, &in->operands[3]);
    uint32_t lanes = (a.any & t) | (b.any & ~t) | p.any;
    set(w, &in->operands[0], mask, lanes,
        a.any & t & mask ? a.origin
        : b.any & ~t     ? b.origin
                         : p.origin);
}

static void pass_on(struct sim_warp *w, const struct sim_instr *i,
                    uint32_t mask)
{
    const struct lab_ptx_instr *in = i->ptx;
    const bool moves = is(in, "mov");
    const bool product = is(in, "mma") || is(in, "wmma");
    const bool every = sim_is_one_of(in, one_is_enough) || moves;
    /* The sum that is added to: the fourth, mma.sp has two operands behind it. */
    const int first = !product                ? 1
                      : in->operand_count > 4 ? 3
                                              : in->operand_count - 1;
    struct lanes l = {0, 0, false, -1};
    for (int k = first; k < in->operand_count; k++)
        look(w, &in->operands[k], &l);
    uint32_t lanes = (every ? l.all : l.any) & mask;
    /* A constant beside it makes a part of it known. */
    for (int k = first; k < in->operand_count && every && !moves; k++)
        if (in->operands[k].kind != LAB_PTX_OPERAND_REG)
            lanes = 0;
    set(w, &in->operands[0], mask, lanes,
        l.origin < 0 && !moves ? sim_index(w, i) : l.origin);
}

void sim_unwritten_shuffled(struct sim_warp *w, const struct sim_instr *i,
                            uint32_t mask, const int from[SIM_LANES])
{
    struct lanes l = lanes_of(w, &i->ptx->operands[1]);
    uint32_t lanes = 0;
    for (int k = 0; k < SIM_LANES; k++)
        lanes |= (l.any >> from[k] & 1u) << k;
    const struct lab_ptx_operand *d = &i->ptx->operands[0];
    set(w, d, mask, 0, -1); /* with the predicate of d|p, which is known */
    set(w, d->kind == LAB_PTX_OPERAND_PAIR ? &d->parts[0] : d, mask, lanes,
        l.origin < 0 ? sim_index(w, i) : l.origin);
}

void sim_run_on_unwritten(struct sim_warp *w, const struct sim_instr *i,
                          uint32_t mask)
{
    const struct lab_ptx_instr *in = i->ptx;
    if (w->unwritten_count == 0) {
        i->then(w, i, mask);
        return;
    }
    check(w, i, mask);
    /* A shuffle knows which lane it reads: it calls back. */
    if (!is(in, "shfl") && sim_has_result(in) && in->operand_count > 0) {
        if (is(in, "selp") && in->operand_count == 4)
            choose(w, in, mask);
        else if (sim_unwritten_passes(in))
            pass_on(w, i, mask);
        else
            set(w, &in->operands[0], mask, 0, -1);
    }
    /* mbarrier.test_wait, bar.red, call ...: what they write is known. */
    if (!sim_has_result(in) && in->operand_count > 0 &&
        in->operands[0].kind != LAB_PTX_OPERAND_ADDRESS)
        set(w, &in->operands[0], mask, 0, -1);
    i->then(w, i, mask);
    if ((i->space == LAB_PTX_SHARED || i->space == LAB_PTX_LOCAL) &&
        is(in, "st") && in->operand_count == 2)
        unset(w, i, mask);
}

void sim_unwritten_start(struct sim_warp *w)
{
    const struct lab_sim_kernel *k = w->block->grid->kernel;
    for (int32_t r = 0; r < k->tracked_count; r++)
        w->unwritten[r] = (struct sim_unwritten){0, -1};
    w->unwritten_count = 0;
    for (int32_t r = 0; k->tracked_count && r < k->function->reg_count; r++)
        if (k->tracked[r] && k->homes[r].unwritten) {
            w->unwritten[k->tracked[r] - 1].lanes = ~0u;
            w->unwritten_count++;
        }
}
