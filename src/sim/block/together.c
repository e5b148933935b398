/* What the lanes of a warp or the warps of a block do together: shfl, vote, match,
 * redux, activemask, barriers and fences. */
#include <stdio.h>

#include "block/block.h"
#include "warp/lanes.h"

static uint32_t value_of_first(const struct sim_warp *w,
                               const struct sim_operand *o, uint32_t mask)
{
    uint64_t v[SIM_LANES];
    sim_values(w, o, v);
    return (uint32_t)v[__builtin_ctz(mask)];
}

/* The lanes of `members` all execute the instruction now, and no other does.
 * false: not yet, or there is a finding. */
static bool together(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask, uint32_t members)
{
    if (!sim_gather(w, i, members, LAB_SIM_SHUFFLE))
        return false;
    uint32_t off = members & w->active & ~mask;
    uint32_t foreign = mask & ~members;
    if ((off || foreign) &&
        w->block->grid->options->checks >> LAB_SIM_SHUFFLE & 1) {
        if (foreign)
            sim_find(
                w, i, foreign, LAB_SIM_SHUFFLE,
                SIM_HINT("the mask: it has to name each lane that executes it"),
                "lanes 0x%08x execute it, and its mask 0x%08x does not "
                "name them",
                foreign, members);
        else
            sim_find(w, i, mask, LAB_SIM_SHUFFLE, NULL,
                     "its mask 0x%08x names lanes that do not execute it: "
                     "0x%08x",
                     members, off);
        w->faulted |= mask;
        return false;
    }
    sim_warp_synchronised(w, mask);
    return true;
}

/* An instruction for lanes that name the same members. */
typedef void group_fn(struct sim_warp *w, const struct sim_instr *i,
                      uint32_t mask, uint32_t members);

/* The lanes of `mask` that name what the first of them does. */
static uint32_t first_group(const uint64_t named[SIM_LANES], uint32_t mask)
{
    const uint32_t members = (uint32_t)named[__builtin_ctz(mask)];
    uint32_t group = 0;
    for (int l = 0; l < SIM_LANES; l++)
        group |= (uint32_t)((uint32_t)named[l] == members) << l;
    return group & mask;
}

/* `o` names the members. Tiles of a warp, as cooperative groups have them, execute one
 * instruction with a mask each: they do not wait for each other. */
static void by_group(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask, const struct sim_operand *o, group_fn *run)
{
    uint64_t named[SIM_LANES];
    uint32_t missing = 0;
    sim_values(w, o, named);
    const uint32_t first = first_group(named, mask);
    for (uint32_t rest = mask & ~first; rest; rest &= ~first_group(named, rest))
        missing |= (uint32_t)named[__builtin_ctz(rest)];
    if (first != mask)
        missing |= (uint32_t)named[__builtin_ctz(mask)];
    if (missing & w->alive & ~w->active) {
        sim_warp_part(w, i, first);
        return;
    }
    for (uint32_t rest = mask; rest;) {
        const uint32_t group = first_group(named, rest);
        run(w, i, group, (uint32_t)named[__builtin_ctz(group)]);
        rest &= ~group;
    }
}

/* ---- shfl ---- */

enum shuffle { UP, DOWN, BFLY, IDX };

static void shfl_group(struct sim_warp *w, const struct sim_instr *i,
                       uint32_t mask, uint32_t members)
{
    if (!together(w, i, mask, members))
        return;
    SIM_FETCH(u32, a, &i->a);
    SIM_FETCH(u32, b, &i->b);
    SIM_FETCH(u32, c, &i->c);
    uint32_t r[SIM_LANES];
    uint32_t inside = 0;
    uint32_t lost = 0;
    int from = 0;
    int reads[SIM_LANES];
    for (int l = 0; l < SIM_LANES; l++) {
        int segment = c_lanes[l] >> 8 & 31;
        int clamp = c_lanes[l] & 31;
        int by = b_lanes[l] & 31;
        int most = (l & segment) | (clamp & ~segment);
        int j = i->flags == UP     ? l - by
                : i->flags == DOWN ? l + by
                : i->flags == BFLY ? l ^ by
                                   : (l & segment) | (by & ~segment);
        bool in = i->flags == UP ? j >= most : j <= most;
        if (!in)
            j = l;
        inside |= (uint32_t)in << l;
        reads[l] = j & 31;
        r[l] = a_lanes[j & 31];
        if (mask >> l & 1 && !(mask >> (j & 31) & 1)) {
            if (!lost)
                from = j & 31;
            lost |= 1u << l;
        }
    }
    if (lost && w->block->grid->options->checks >> LAB_SIM_SHUFFLE & 1) {
        sim_end(
            w, i, lost, LAB_SIM_SHUFFLE,
            SIM_HINT(
                "the lane that is read: it has to execute the shuffle, too"),
            "lane %d reads lane %d, which does not execute it",
            __builtin_ctz(lost), from);
    }
    sim_put32(w, &i->d, r, mask);
    sim_put_pred(w, &i->more[0], inside, mask);
    if (i->then && w->block->grid->kernel->tracked)
        sim_unwritten_shuffled(w, i, mask, reads);
}

static void shfl(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    if (i->more[1].source == SIM_NONE)
        shfl_group(w, i, mask, mask);
    else
        by_group(w, i, mask, &i->more[1], shfl_group);
}

static enum lab_status lower_shfl(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    struct sim_operand *more = sim_lower_take(l, 2 * sizeof(*more));
    bool sync = false;
    bool mode = false;
    bool typed = false;
    if (!more)
        return lab_no_memory("a kernel");
    for (int k = 0; k < in->modifier_count; k++) {
        int m = 0;
        while (m < 4 && strcmp(in->modifiers[k], modes[m]) != 0)
            m++;
        if (m < 4) {
            out->flags = (uint8_t)m;
            mode = true;
        } else if (strcmp(in->modifiers[k], "sync") == 0)
            sync = true;
        else if (strcmp(in->modifiers[k], "b32") == 0)
            typed = true;
        else
            return sim_lower_refuse(l, in, NULL);
    }
    if (!mode || !typed || in->operand_count != (sync ? 5 : 4))
        return sim_lower_refuse(l, in, NULL);
    out->run = shfl;
    out->more = more;
    out->more_count = 2;
    more[0].source = SIM_NONE;
    more[1].source = SIM_NONE;
    const struct lab_ptx_operand *d = &in->operands[0];
    bool pair = d->kind == LAB_PTX_OPERAND_PAIR && d->part_count == 2;
    enum lab_status st = sim_lower_typed_part(l, in, pair ? &d->parts[0] : d,
                                              LAB_PTX_B32, false, &out->d);
    if (!st && out->d.source != SIM_SLOT && out->d.source != SIM_NONE)
        st = sim_lower_refuse(l, in, "the result is no register");
    if (!st && pair)
        st = sim_lower_pred(l, in, &d->parts[1], &more[0]);
    struct sim_operand *to[] = {&out->a, &out->b, &out->c, &more[1]};
    for (int k = 1; !st && k < in->operand_count; k++)
        st = sim_lower_typed(l, in, k, LAB_PTX_B32, to[k - 1]);
    return st;
}

/* ---- vote, match, redux, activemask ---- */

enum vote { ALL, ANY, UNI, BALLOT };

static void put_same(struct sim_warp *w, const struct sim_operand *d,
                     uint32_t value, uint32_t mask)
{
    uint32_t r[SIM_LANES];
    for (int l = 0; l < SIM_LANES; l++)
        r[l] = value;
    sim_put32(w, d, r, mask);
}

static void vote_group(struct sim_warp *w, const struct sim_instr *i,
                       uint32_t mask, uint32_t members)
{
    if (!together(w, i, mask, members))
        return;
    uint32_t bits = sim_pred(w, &i->a) & mask;
    bool all = bits == mask;
    bool yes = i->flags == ALL   ? all
               : i->flags == ANY ? bits != 0
                                 : all || bits == 0;
    if (i->flags == BALLOT)
        put_same(w, &i->d, bits, mask);
    else
        sim_put_pred(w, &i->d, yes ? ~0u : 0, mask);
}

static void vote(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    if (i->b.source == SIM_NONE)
        vote_group(w, i, mask, mask);
    else
        by_group(w, i, mask, &i->b, vote_group);
}

static void match_group(struct sim_warp *w, const struct sim_instr *i,
                        uint32_t mask, uint32_t members)
{
    if (!together(w, i, mask, members))
        return;
    uint64_t v[SIM_LANES];
    uint32_t r[SIM_LANES] = {0};
    sim_values(w, &i->a, v);
    for (int l = 0; l < SIM_LANES; l++)
        for (int k = 0; k < SIM_LANES; k++)
            r[l] |= mask >> k & 1 && v[k] == v[l] ? 1u << k : 0;
    if (i->flags == ALL) {
        bool all = r[__builtin_ctz(mask)] == mask;
        put_same(w, &i->d, all ? mask : 0, mask);
        sim_put_pred(w, &i->more[0], all ? ~0u : 0, mask);
    } else
        sim_put32(w, &i->d, r, mask);
}

static void match(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    by_group(w, i, mask, &i->b, match_group);
}

static void activemask(struct sim_warp *w, const struct sim_instr *i,
                       uint32_t mask)
{
    put_same(w, &i->d, w->active, mask);
}

enum redux { ADD, MIN, MAX, AND, OR, XOR };

static void redux_group(struct sim_warp *w, const struct sim_instr *i,
                        uint32_t mask, uint32_t members)
{
    if (!together(w, i, mask, members))
        return;
    SIM_FETCH(u32, a, &i->a);
    uint32_t r = a_lanes[__builtin_ctz(mask)];
    bool is_signed = i->type == LAB_PTX_S32;
    for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1) {
        uint32_t v = a_lanes[__builtin_ctz(rest)];
        bool less = is_signed ? (int32_t)v < (int32_t)r : v < r;
        switch ((enum redux)i->flags) {
        case ADD:
            r += v;
            break;
        case MIN:
            r = less ? v : r;
            break;
        case MAX:
            r = less ? r : v;
            break;
        case AND:
            r &= v;
            break;
        case OR:
            r |= v;
            break;
        case XOR:
            r ^= v;
            break;
        }
    }
    put_same(w, &i->d, r, mask);
}

static void redux(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    by_group(w, i, mask, &i->b, redux_group);
}

/* The one of `names` that a modifier is; -1: none. */
static int named(const struct lab_ptx_instr *in, const char *const *names,
                 int count)
{
    for (int n = 0; n < count; n++)
        if (lab_ptx_has_modifier(in, names[n]))
            return n;
    return -1;
}

static enum lab_status lower_vote(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out)
{
    static const char *const votes[] = {"all", "any", "uni", "ballot"};
    int vote_of = named(in, votes, 4);
    bool sync = lab_ptx_has_modifier(in, "sync");
    bool ballot = vote_of == BALLOT;
    if (vote_of < 0 || in->operand_count != (sync ? 3 : 2) ||
        in->modifier_count != (sync ? 3 : 2) ||
        !lab_ptx_has_modifier(in, ballot ? "b32" : "pred"))
        return sim_lower_refuse(l, in, NULL);
    out->run = vote;
    out->flags = (uint8_t)vote_of;
    enum lab_status st =
        sim_lower_typed(l, in, 0, ballot ? LAB_PTX_B32 : LAB_PTX_PRED, &out->d);
    if (!st)
        st = sim_lower_pred(l, in, &in->operands[1], &out->a);
    if (!st && sync)
        st = sim_lower_typed(l, in, 2, LAB_PTX_B32, &out->b);
    return st;
}

static enum lab_status lower_match(struct sim_lowering *l,
                                   const struct lab_ptx_instr *in,
                                   struct sim_instr *out)
{
    static const char *const kinds[] = {"all", "any"};
    struct sim_operand *second = sim_lower_take(l, sizeof(*second));
    int kind = named(in, kinds, 2);
    int type = lab_ptx_has_modifier(in, "b64")   ? LAB_PTX_B64
               : lab_ptx_has_modifier(in, "b32") ? LAB_PTX_B32
                                                 : 0;
    if (!second)
        return lab_no_memory("a kernel");
    if (kind < 0 || !type || in->operand_count != 3 ||
        in->modifier_count != 3 || !lab_ptx_has_modifier(in, "sync"))
        return sim_lower_refuse(l, in, NULL);
    const struct lab_ptx_operand *d = &in->operands[0];
    bool pair = d->kind == LAB_PTX_OPERAND_PAIR && d->part_count == 2;
    second->source = SIM_NONE;
    out->run = match;
    out->flags = (uint8_t)kind;
    out->more = second;
    out->more_count = 1;
    enum lab_status st = sim_lower_typed_part(l, in, pair ? &d->parts[0] : d,
                                              LAB_PTX_B32, false, &out->d);
    if (!st && pair)
        st = sim_lower_pred(l, in, &d->parts[1], second);
    if (!st)
        st = sim_lower_typed(l, in, 1, type, &out->a);
    return st ? st : sim_lower_typed(l, in, 2, LAB_PTX_B32, &out->b);
}

static enum lab_status lower_redux(struct sim_lowering *l,
                                   const struct lab_ptx_instr *in,
                                   struct sim_instr *out)
{
    static const char *const names[] = {"add", "min", "max",
                                        "and", "or",  "xor"};
    struct sim_mods m;
    int op = named(in, names, 6);
    sim_mods_of(in, &m);
    if (op < 0 || in->operand_count != 3 || in->modifier_count != 3 ||
        !lab_ptx_has_modifier(in, "sync") || m.type_count != 1 ||
        (m.types[0] != LAB_PTX_U32 && m.types[0] != LAB_PTX_S32 &&
         m.types[0] != LAB_PTX_B32))
        return sim_lower_refuse(l, in, NULL);
    out->run = redux;
    out->flags = (uint8_t)op;
    out->type = m.types[0];
    enum lab_status st = sim_lower_typed(l, in, 0, LAB_PTX_B32, &out->d);
    if (!st)
        st = sim_lower_typed(l, in, 1, LAB_PTX_B32, &out->a);
    return st ? st : sim_lower_typed(l, in, 2, LAB_PTX_B32, &out->b);
}

/* ---- barriers and fences ---- */

static void bar_warp_group(struct sim_warp *w, const struct sim_instr *i,
                           uint32_t mask, uint32_t members)
{
    together(w, i, mask, members);
}

static void bar_warp(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    by_group(w, i, mask, &i->a, bar_warp_group);
}

#define NO_BARRIER "barrier %u; there are 0 to %d"

/* a: number, b: threads, c: the value of bar.red; i->flags enum sim_bar_kind. */
static void bar(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    if (!sim_gather(w, i, w->alive, LAB_SIM_BARRIER))
        return;
    if (mask != w->active &&
        w->block->grid->options->checks >> LAB_SIM_BARRIER & 1) {
        sim_end(w, i, mask, LAB_SIM_BARRIER, NULL,
                "barrier that not all threads of the warp reach: its "
                "predicate is false in lanes 0x%08x",
                w->active & ~mask);
        return;
    }
    uint32_t number = value_of_first(w, &i->a, mask);
    uint32_t threads =
        i->b.source == SIM_NONE ? 0 : value_of_first(w, &i->b, mask);
    if (number >= SIM_CLUSTER_BAR && i->a.source != SIM_IMMEDIATE) {
        sim_end(w, i, mask, LAB_SIM_BARRIER,
                SIM_HINT("the number of the barrier"), NO_BARRIER, number,
                SIM_CLUSTER_BAR - 1);
        return;
    }
    uint32_t values = i->c.source == SIM_NONE ? 0 : sim_pred(w, &i->c);
    sim_barrier(w, i, (int)number, (int)(threads & 0x7FFFFFFF),
                (enum sim_bar_kind)i->flags, values);
}

/* i->flags: of scope .cta */
static void fence(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    sim_fence(w, mask, i->flags != 0);
}

static void fence_proxy(struct sim_warp *w, const struct sim_instr *i,
                        uint32_t mask)
{
    (void)i;
    (void)mask;
    sim_fence_proxy(w);
}

/* Others may change what it waits for. */
static void nanosleep(struct sim_warp *w, const struct sim_instr *i,
                      uint32_t mask)
{
    (void)i;
    (void)mask;
    sim_spins(w);
}

static enum lab_status lower_cluster_barrier(struct sim_lowering *l,
                                             const struct lab_ptx_instr *in,
                                             struct sim_instr *out)
{
    bool wait = lab_ptx_has_modifier(in, "wait");
    if (in->operand_count != 0 || wait == lab_ptx_has_modifier(in, "arrive"))
        return sim_lower_refuse(l, in, NULL);
    out->run = wait ? bar : sim_run_nothing;
    out->flags = SIM_BAR_SYNC;
    out->a =
        (struct sim_operand){.source = SIM_IMMEDIATE, .value = SIM_CLUSTER_BAR};
    return LAB_OK;
}

/* The number of a barrier. One that is computed is looked at when it is known: bar(). */
static enum lab_status lower_bar_number(struct sim_lowering *l,
                                        const struct lab_ptx_instr *in,
                                        int operand, struct sim_operand *out)
{
    enum lab_status st = sim_lower_typed_part(l, in, &in->operands[operand],
                                              LAB_PTX_U32, false, out);
    char why[64];
    if (st || out->source != SIM_IMMEDIATE || out->value < SIM_CLUSTER_BAR)
        return st;
    snprintf(why, sizeof(why), NO_BARRIER, (unsigned)out->value,
             SIM_CLUSTER_BAR - 1);
    return sim_lower_refuse(l, in, why);
}

/* bar.red.popc.u32 d, a{, b}, {!}c; .and.pred, .or.pred */
static enum lab_status lower_bar_red(struct sim_lowering *l,
                                     const struct lab_ptx_instr *in,
                                     struct sim_instr *out)
{
    static const char *const names[] = {"popc", "and", "or"};
    int n = in->operand_count;
    int op = named(in, names, 3);
    if (op < 0 || n < 3 || n > 4)
        return sim_lower_refuse(l, in, NULL);
    out->flags = (uint8_t)(SIM_BAR_POPC + op);
    enum lab_status st = sim_lower_typed(
        l, in, 0, op == 0 ? LAB_PTX_U32 : LAB_PTX_PRED, &out->d);
    if (!st)
        st = lower_bar_number(l, in, 1, &out->a);
    if (!st && n == 4)
        st = sim_lower_typed(l, in, 2, LAB_PTX_U32, &out->b);
    return st ? st : sim_lower_pred(l, in, &in->operands[n - 1], &out->c);
}

static enum lab_status lower_bar(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 struct sim_instr *out)
{
    static const char *const kinds[] = {"sync", "arrive", "red"};
    if (lab_ptx_has_modifier(in, "cluster"))
        return lower_cluster_barrier(l, in, out);
    if (lab_ptx_has_modifier(in, "warp")) {
        out->run = bar_warp;
        return in->operand_count == 1
                   ? sim_lower_typed_part(l, in, &in->operands[0], LAB_PTX_B32,
                                          false, &out->a)
                   : sim_lower_refuse(l, in, NULL);
    }
    int kind = named(in, kinds, 3);
    out->run = bar;
    if (kind == 2)
        return lower_bar_red(l, in, out);
    int n = in->operand_count;
    if (kind < 0 || n < 1 || n > 2 || (kind == 1 && n != 2))
        return sim_lower_refuse(l, in, NULL);
    out->flags = (uint8_t)(kind == 1 ? SIM_BAR_ARRIVE : SIM_BAR_SYNC);
    enum lab_status st = lower_bar_number(l, in, 0, &out->a);
    return st || n == 1 ? st : sim_lower_typed(l, in, 1, LAB_PTX_U32, &out->b);
}

/* membar.cta, fence.acq_rel.gpu, fence.proxy.async.shared::cta ... A fence of global
 * memory alone, of another proxy or of mbarrier.init means nothing that the checks
 * ask for. */
static void lower_fence(const struct lab_ptx_instr *in, struct sim_instr *out)
{
    const bool proxy = lab_ptx_has_modifier(in, "proxy");
    const bool shared = !lab_ptx_has_modifier(in, "global");
    out->flags = lab_ptx_has_modifier(in, "cta");
    out->run = fence;
    if (proxy)
        out->run = lab_ptx_has_modifier(in, "async") && shared
                       ? fence_proxy
                       : sim_run_nothing;
    else if (lab_ptx_has_modifier(in, "mbarrier_init"))
        out->run = sim_run_nothing;
}

enum lab_status sim_lower_warp(struct sim_lowering *l,
                               const struct lab_ptx_instr *in,
                               struct sim_instr *out, bool *known)
{
    *known = true;
    if (strcmp(in->opcode, "shfl") == 0)
        return lower_shfl(l, in, out);
    if (strcmp(in->opcode, "vote") == 0)
        return lower_vote(l, in, out);
    if (strcmp(in->opcode, "match") == 0)
        return lower_match(l, in, out);
    if (strcmp(in->opcode, "redux") == 0)
        return lower_redux(l, in, out);
    if (strcmp(in->opcode, "bar") == 0 || strcmp(in->opcode, "barrier") == 0)
        return lower_bar(l, in, out);
    if (strcmp(in->opcode, "activemask") == 0) {
        out->run = activemask;
        return sim_lower_typed(l, in, 0, LAB_PTX_B32, &out->d);
    }
    if (strcmp(in->opcode, "membar") == 0 || strcmp(in->opcode, "fence") == 0) {
        lower_fence(in, out);
        return LAB_OK;
    }
    if (strcmp(in->opcode, "nanosleep") == 0) {
        out->run = nanosleep;
        return LAB_OK;
    }
    *known = false;
    return LAB_OK;
}
