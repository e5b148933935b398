/* A warp: its lanes, which of them run, and the loop that executes instructions.
 *
 * Lanes that part at a branch meet again at its post-dominator. Each of these
 * places is a struct sim_join that knows which lanes come; lanes that run later
 * are a struct sim_side. A side that waits for memory lets the others run, and if
 * need be the lanes that wait for it at a join go on without it, so that a lock
 * that one lane of a warp holds does not stop the warp. */
#include "warp/lanes.h"

/* ---- operands ---- */

/* name, what it is in lane l of warp w, bytes */
#define SPECIAL_LIST(X)                                                        \
    X("%tid.x", t % n[0], 4)                                                   \
    X("%tid.y", t / n[0] % n[1], 4)                                            \
    X("%tid.z", t / n[0] / n[1], 4)                                            \
    X("%ntid.x", n[0], 4)                                                      \
    X("%ntid.y", n[1], 4)                                                      \
    X("%ntid.z", n[2], 4)                                                      \
    X("%ctaid.x", b->index[0], 4)                                              \
    X("%ctaid.y", b->index[1], 4)                                              \
    X("%ctaid.z", b->index[2], 4)                                              \
    X("%nctaid.x", g[0], 4)                                                    \
    X("%nctaid.y", g[1], 4)                                                    \
    X("%nctaid.z", g[2], 4)                                                    \
    X("%clusterid.x", b->index[0], 4)                                          \
    X("%clusterid.y", b->index[1], 4)                                          \
    X("%clusterid.z", b->index[2], 4)                                          \
    X("%nclusterid.x", g[0], 4)                                                \
    X("%nclusterid.y", g[1], 4)                                                \
    X("%nclusterid.z", g[2], 4)                                                \
    X("%cluster_ctaid.x", 0, 4)                                                \
    X("%cluster_ctaid.y", 0, 4)                                                \
    X("%cluster_ctaid.z", 0, 4)                                                \
    X("%cluster_nctaid.x", 1, 4)                                               \
    X("%cluster_nctaid.y", 1, 4)                                               \
    X("%cluster_nctaid.z", 1, 4)                                               \
    X("%cluster_ctarank", 0, 4)                                                \
    X("%cluster_nctarank", 1, 4)                                               \
    X("%is_explicit_cluster", 0, 4)                                            \
    X("%laneid", (uint64_t)l, 4)                                               \
    X("%warpid", (uint64_t)w->index, 4)                                        \
    X("%nwarpid", (uint64_t)device->warps_per_sm, 4)                           \
    X("%smid", b->number % (uint64_t)device->sm_count, 4)                      \
    X("%nsmid", (uint64_t)device->sm_count, 4)                                 \
    X("%gridid", 1, 8)                                                         \
    X("%lanemask_eq", 1u << l, 4)                                              \
    X("%lanemask_lt", (1u << l) - 1, 4)                                        \
    X("%lanemask_le", (2u << l) - 1, 4)                                        \
    X("%lanemask_gt", ~((2u << l) - 1), 4)                                     \
    X("%lanemask_ge", ~((1u << l) - 1), 4)                                     \
    X("%clock", (uint64_t)w->steps, 4)                                         \
    X("%clock_hi", (uint64_t)w->steps >> 32, 4)                                \
    X("%clock64", (uint64_t)w->steps, 8)                                       \
    X("%globaltimer", (uint64_t)w->steps, 8)                                   \
    X("%globaltimer_lo", (uint64_t)w->steps, 4)                                \
    X("%globaltimer_hi", (uint64_t)w->steps >> 32, 4)                          \
    X("%dynamic_smem_size", (uint64_t)launch->shared_bytes, 4)                 \
    X("%total_smem_size", (uint64_t)b->shared_bytes, 4)                        \
    X("%aggr_smem_size", (uint64_t)b->shared_bytes, 4)

int sim_special_code(const char *name, int *bytes)
{
    static const struct {
        const char *name;
        int bytes;
    } names[] = {
#define X(name, value, bytes) {name, bytes},
        SPECIAL_LIST(X)
#undef X
    };
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        if (strcmp(names[k].name, name) == 0) {
            *bytes = names[k].bytes;
            return (int)k;
        }
    return -1;
}

static uint64_t special(const struct sim_warp *w, uint64_t code, int l)
{
    const struct sim_block *b = w->block;
    const struct lab_sim_launch *launch = b->grid->launch;
    const struct lab_sim_device *device = b->grid->options->device
                                              ? b->grid->options->device
                                              : lab_sim_device_at(0);
    const uint32_t *n = launch->block;
    const uint32_t *g = launch->grid;
    uint64_t t = (uint64_t)w->index * SIM_LANES + (uint64_t)l;
    uint64_t k = 0;
#define X(name, value, bytes)                                                  \
    if (code == k++)                                                           \
        return (bytes) == 4 ? (uint32_t)(value) : (value);
    SPECIAL_LIST(X)
#undef X
    return 0;
}

void sim_values(const struct sim_warp *w, const struct sim_operand *o,
                uint64_t out[SIM_LANES])
{
    switch (o->source) {
    case SIM_SLOT:
        if (o->bytes == 8)
            memcpy(out, sim_r64(w, o->slot), SIM_LANES * sizeof(*out));
        else
            for (int l = 0; l < SIM_LANES; l++)
                out[l] = sim_r32(w, o->slot)[l];
        break;
    case SIM_IMMEDIATE:
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = o->value;
        break;
    case SIM_PREDICATE:
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = sim_pred(w, o) >> l & 1;
        break;
    case SIM_SPECIAL:
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = special(w, o->value, l);
        break;
    default:
        memset(out, 0, SIM_LANES * sizeof(*out));
    }
}

void sim_fetch_slow32(const struct sim_warp *w, const struct sim_operand *o,
                      uint32_t *out)
{
    uint64_t v[SIM_LANES];
    sim_values(w, o, v);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = (uint32_t)v[l];
}

SIM_CLONES
void sim_addresses(const struct sim_warp *w, const struct sim_operand *o,
                   uint64_t out[SIM_LANES])
{
    if (o->source != SIM_SLOT)
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = o->value;
    else if (o->bytes == 8) {
        const uint64_t *r = sim_r64(w, o->slot);
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = r[l] + o->value;
    } else {
        const uint32_t *r = sim_r32(w, o->slot);
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = (uint32_t)(r[l] + o->value);
    }
}

SIM_CLONES
void sim_blend32(uint32_t *d, const uint32_t *r, uint32_t mask)
{
    for (int l = 0; l < SIM_LANES; l++)
        d[l] = mask >> l & 1 ? r[l] : d[l];
}

SIM_CLONES
void sim_blend64(uint64_t *d, const uint64_t *r, uint32_t mask)
{
    for (int l = 0; l < SIM_LANES; l++)
        d[l] = mask >> l & 1 ? r[l] : d[l];
}

void sim_set(struct sim_warp *w, const struct sim_operand *o, uint32_t mask,
             const uint64_t values[SIM_LANES])
{
    if (o->source == SIM_PREDICATE) {
        uint32_t bits = 0;
        for (int l = 0; l < SIM_LANES; l++)
            bits |= (uint32_t)(values[l] != 0) << l;
        sim_put_pred(w, o, bits, mask);
    } else if (o->bytes == 8)
        sim_put64(w, o, values, mask);
    else {
        uint32_t low[SIM_LANES];
        for (int l = 0; l < SIM_LANES; l++)
            low[l] = (uint32_t)values[l];
        sim_put32(w, o, low, mask);
    }
}

/* ---- lanes that part and meet ---- */

static void set_join(struct sim_stack *s, int join)
{
    s->join = join;
    s->join_pc = join >= 0 && !s->joins[join].call ? s->joins[join].pc : -1;
}

/* -1: there is no room, and the lanes part for longer than they had to. */
static int new_join(struct sim_stack *s)
{
    return s->free_count > 0 ? s->free[--s->free_count] : -1;
}

static void free_join(struct sim_stack *s, int join)
{
    s->free[s->free_count++] = (uint8_t)join;
}

static void go(struct sim_warp *w, int32_t pc, uint32_t lanes, int join)
{
    w->pc = pc;
    w->active = lanes;
    w->stack->spins = 0;
    set_join(w->stack, join);
}

static void add_side(struct sim_warp *w, int32_t pc, uint32_t mask, int join,
                     bool parked, bool last)
{
    struct sim_stack *s = w->stack;
    int at = last ? 0 : s->side_count;
    memmove(&s->sides[at + 1], &s->sides[at],
            (size_t)(s->side_count - at) * sizeof(s->sides[0]));
    s->sides[at] = (struct sim_side){pc, mask, join, parked};
    s->side_count++;
}

static void take_side(struct sim_warp *w, int at)
{
    struct sim_stack *s = w->stack;
    struct sim_side side = s->sides[at];
    s->side_count--;
    memmove(&s->sides[at], &s->sides[at + 1],
            (size_t)(s->side_count - at) * sizeof(s->sides[0]));
    go(w, side.pc, side.mask, side.join);
}

/* The newest side that can run; -1: none. */
static int runnable(const struct sim_stack *s)
{
    int at = s->side_count - 1;
    while (at >= 0 && s->sides[at].parked)
        at--;
    return at;
}

/* No lane is active. A parked side looks again whether its lanes are there. */
static void next_side(struct sim_warp *w)
{
    struct sim_stack *s = w->stack;
    int at = runnable(s);
    if (at < 0)
        at = s->side_count - 1;
    if (at >= 0)
        take_side(w, at);
    else {
        w->active = 0;
        w->state = SIM_DONE;
    }
}

/* All lanes of a join are there. */
static void pass_join(struct sim_warp *w, int join)
{
    struct sim_stack *s = w->stack;
    struct sim_join j = s->joins[join];
    free_join(s, join);
    go(w, j.pc, j.arrived, j.parent);
    if (j.call)
        sim_call_results(w, j.call, j.arrived);
}

/* No lane is active; those that the last ones kept waiting may go on. */
static void settle(struct sim_warp *w, int join)
{
    struct sim_stack *s = w->stack;
    while (join >= 0) {
        struct sim_join *j = &s->joins[join];
        if (j->expected && j->expected == j->arrived) {
            pass_join(w, join);
            return;
        }
        if (j->expected)
            break;
        int parent = j->parent;
        free_join(s, join);
        join = parent;
    }
    next_side(w);
}

/* The active lanes are at their join. */
static void arrive(struct sim_warp *w)
{
    struct sim_join *j = &w->stack->joins[w->stack->join];
    j->arrived |= w->active;
    settle(w, w->stack->join);
}

/* `lanes` are not awaited at the joins from `join` up to, not at, `end`. */
static void forget(struct sim_stack *s, int join, int end, uint32_t lanes)
{
    for (; join != end && join >= 0; join = s->joins[join].parent)
        s->joins[join].expected &= ~lanes;
}

void sim_leave(struct sim_warp *w, uint32_t lanes)
{
    lanes &= w->active;
    w->alive &= ~lanes;
    w->active &= ~lanes;
    forget(w->stack, w->stack->join, -1, lanes);
    if (!w->active)
        settle(w, w->stack->join);
}

void sim_return(struct sim_warp *w, uint32_t lanes)
{
    struct sim_stack *s = w->stack;
    int call = s->join;
    while (call >= 0 && !s->joins[call].call)
        call = s->joins[call].parent;
    if (call < 0) {
        sim_leave(w, lanes);
        return;
    }
    forget(s, s->join, call, lanes);
    s->joins[call].arrived |= lanes;
    w->active &= ~lanes;
    if (!w->active)
        settle(w, s->join);
}

void sim_split(struct sim_warp *w, const struct sim_instr *i, uint32_t taken,
               int32_t target, int32_t join)
{
    struct sim_stack *s = w->stack;
    uint32_t others = w->active & ~taken;
    if (!others) {
        w->pc = target;
        return;
    }
    w->block->tally[sim_index(w, i)].divergent++;
    int at = s->join;
    int made = join >= 0 && join != s->join_pc ? new_join(s) : -1;
    if (made >= 0) {
        s->joins[made] = (struct sim_join){join, w->active, 0, at, NULL};
        at = made;
    }
    add_side(w, w->pc, others, at, false, false);
    go(w, target, taken, at);
}

void sim_switch(struct sim_warp *w, const struct sim_instr *i, uint32_t mask,
                const int32_t targets[SIM_LANES])
{
    struct sim_stack *s = w->stack;
    int32_t first = targets[__builtin_ctz(mask)];
    uint32_t rest = w->active;
    uint32_t there = 0;
    for (int l = 0; l < SIM_LANES; l++)
        there |= mask >> l & 1 && targets[l] == first ? 1u << l : 0;
    rest &= ~there;
    if (!rest) {
        w->pc = first;
        return;
    }
    int32_t after = w->pc;
    sim_split(w, i, there, first, i->join);
    /* What sim_split() took for one side are several. */
    int at = s->join;
    s->side_count--;
    if (rest & ~mask)
        add_side(w, after, rest & ~mask, at, false, false);
    for (rest &= mask; rest;) {
        int32_t target = targets[__builtin_ctz(rest)];
        uint32_t lanes = 0;
        for (int l = 0; l < SIM_LANES; l++)
            lanes |= rest >> l & 1 && targets[l] == target ? 1u << l : 0;
        add_side(w, target, lanes, at, false, false);
        rest &= ~lanes;
    }
}

void sim_call(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    struct sim_stack *s = w->stack;
    int at = new_join(s);
    if (at < 0) {
        sim_find(w, i, mask, LAB_SIM_BUDGET,
                 SIM_HINT("a function that calls itself, and where it stops"),
                 "calls are nested deeper than the simulator follows them");
        w->faulted |= mask;
        return;
    }
    int32_t after = w->pc;
    uint32_t others = w->active & ~mask;
    s->joins[at] = (struct sim_join){after, mask, 0, s->join, i};
    if (others)
        add_side(w, after, others, s->join, false, false);
    go(w, i->target, mask, at);
}

/* ---- lanes that wait for each other ---- */

/* Lanes that wait at a join go on without those that are still to come. */
static bool release(struct sim_warp *w)
{
    struct sim_stack *s = w->stack;
    for (int at = s->join; at >= 0; at = s->joins[at].parent) {
        struct sim_join *j = &s->joins[at];
        if (!j->arrived || j->call)
            continue;
        add_side(w, j->pc, j->arrived, j->parent, false, true);
        j->expected &= ~j->arrived;
        j->arrived = 0;
        return true;
    }
    return false;
}

/* The active lanes let another side of the warp run. */
static void turn(struct sim_warp *w)
{
    struct sim_stack *s = w->stack;
    int at = runnable(s);
    if (at < 0)
        return;
    add_side(w, w->pc, w->active, s->join, false, true);
    take_side(w, at + 1);
}

enum { SPINS_OF_TURN = 16, SPINS_OF_WARP = 128 };

void sim_spins(struct sim_warp *w)
{
    w->stack->spins++;
    if (w->stack->spins % SPINS_OF_TURN == 0)
        w->stack->turn_over = true;
}

static void after_spins(struct sim_warp *w)
{
    int spins = w->stack->spins;
    if (spins >= SPINS_OF_WARP && release(w))
        spins = 0;
    turn(w);
    w->stack->spins = spins;
}

static uint32_t guarded(const struct sim_warp *w, const struct sim_instr *i)
{
    if (i->guard < 0)
        return w->active;
    uint32_t p = w->preds[i->guard];
    return w->active & (i->guard_negated ? ~p : p);
}

/* The instruction that was counted will run later. */
static void uncount(struct sim_warp *w, const struct sim_instr *i)
{
    struct sim_tally *t = &w->block->tally[sim_index(w, i)];
    t->warps--;
    t->lanes -= __builtin_popcount(guarded(w, i));
}

/* The lowest join that both have above them; -1: none. A call is not passed. */
static bool common(const struct sim_stack *s, int a, int b, int *out)
{
    for (int x = a;; x = s->joins[x].parent) {
        for (int y = b;; y = s->joins[y].parent) {
            if (x == y) {
                *out = x;
                return true;
            }
            if (y < 0 || s->joins[y].call)
                break;
        }
        if (x < 0 || s->joins[x].call)
            return false;
    }
}

/* Joins of `lanes` below `end` go on without them, or are no longer needed. */
static void part_from(struct sim_warp *w, int join, int end, uint32_t lanes)
{
    struct sim_stack *s = w->stack;
    forget(s, join, end, lanes);
    while (join != end) {
        struct sim_join j = s->joins[join];
        if (j.expected != j.arrived)
            return;
        if (j.expected)
            add_side(w, j.pc, j.arrived, j.parent, false, true);
        free_join(s, join);
        join = j.parent;
        if (j.expected)
            return;
    }
}

/* Sides that wait at the same instruction run it with the active lanes. */
static void merge(struct sim_warp *w, int32_t pc)
{
    struct sim_stack *s = w->stack;
    for (int k = 0; k < s->side_count; k++) {
        struct sim_side side = s->sides[k];
        int end;
        if (side.pc != pc || !common(s, s->join, side.join, &end))
            continue;
        s->side_count--;
        memmove(&s->sides[k], &s->sides[k + 1],
                (size_t)(s->side_count - k) * sizeof(s->sides[0]));
        int mine = s->join;
        part_from(w, mine, end, w->active);
        part_from(w, side.join, end, side.mask);
        w->active |= side.mask;
        set_join(s, end);
        k = -1;
    }
}

bool sim_gather_for(struct sim_warp *w, const struct sim_instr *i,
                    uint32_t lanes, enum lab_sim_check check)
{
    struct sim_stack *s = w->stack;
    int32_t pc = sim_index(w, i);
    uint32_t missing = lanes & w->alive & ~w->active;
    if (!missing)
        return true;
    uncount(w, i);
    uint32_t there = 0;
    for (int k = 0; k < s->side_count; k++)
        if (s->sides[k].pc == pc)
            there |= s->sides[k].mask;
    if (!(missing & ~there)) {
        merge(w, pc);
        missing = lanes & w->alive & ~w->active;
        if (!missing) {
            /* The guard is that of all of them. */
            w->pc = pc;
            return false;
        }
    }
    int at = runnable(s);
    if (at >= 0) {
        add_side(w, pc, w->active, s->join, true, true);
        take_side(w, at + 1);
        return false;
    }
    struct sim_tally *t = &w->block->tally[pc];
    t->warps++;
    t->lanes += __builtin_popcount(guarded(w, i));
    if (!(w->block->grid->options->checks >> check & 1))
        return true;
    const char *what = check == LAB_SIM_BARRIER
                           ? "barrier that not all threads of the warp reach"
                           : "its mask names lanes that do not execute it";
    sim_find(w, i, w->active, check, NULL,
             "%s: lanes 0x%08x of the warp wait, 0x%08x do not come", what,
             w->active, missing);
    w->faulted |= w->active;
    return false;
}

bool sim_gather(struct sim_warp *w, const struct sim_instr *i, uint32_t lanes)
{
    return sim_gather_for(w, i, lanes, LAB_SIM_SHUFFLE);
}

/* ---- running ---- */

void sim_warp_start(struct sim_warp *w, uint32_t lanes)
{
    struct sim_stack *s = w->stack;
    w->state = SIM_READY;
    w->lanes = lanes;
    w->alive = lanes;
    w->faulted = 0;
    w->barrier = 0;
    w->steps = 0;
    s->side_count = 0;
    s->turn_over = false;
    s->free_count = 0;
    for (int k = 0; k < SIM_JOINS; k++)
        free_join(s, k);
    go(w, 0, lanes, -1);
}

void sim_warp_settle(struct sim_warp *w)
{
    while (w->state == SIM_READY && w->pc == w->stack->join_pc)
        arrive(w);
}

SIM_CLONES
void sim_warp_run(struct sim_warp *w, int64_t most)
{
    const struct sim_instr *code = w->block->grid->kernel->instrs;
    struct sim_tally *tally = w->block->tally;
    struct sim_stack *s = w->stack;
    int64_t left = most;
    s->turn_over = false;
    while (left > 0 && w->state == SIM_READY) {
        int32_t pc = w->pc;
        if (pc == s->join_pc) {
            arrive(w);
            continue;
        }
        const struct sim_instr *i = &code[pc];
        uint32_t mask = w->active;
        if (i->guard >= 0)
            mask = guarded(w, i);
        tally[pc].warps++;
        tally[pc].lanes += __builtin_popcount(mask);
        w->pc = pc + 1;
        left--;
        if (mask)
            i->run(w, i, mask);
        if (__builtin_expect((w->faulted & w->active) != 0, 0))
            sim_leave(w, w->faulted & w->active);
        if (__builtin_expect(s->turn_over || w->state == SIM_WAITING, 0)) {
            s->spins += w->state == SIM_WAITING ? SPINS_OF_TURN : 0;
            after_spins(w);
            break;
        }
    }
    w->steps += most - left;
}
