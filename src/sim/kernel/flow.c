/* The flow of control in a function of PTX: its basic blocks, where the sides of a
 * branch meet again (the immediate post-dominator), and which registers are alive
 * where, so that thousands of virtual registers share a file that fits a cache. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/flow.h"

/* ---- registers ---- */

enum { MOST_DEPTH = 8 /* of operands in operands */ };

static void walk_operand(const struct lab_ptx_function *f,
                         const struct lab_ptx_operand *o, int depth,
                         sim_reg_fn *fn, void *arg)
{
    if (o->kind == LAB_PTX_OPERAND_REG && o->reg >= 0 && o->reg < f->reg_count)
        fn(arg, o->reg);
    for (int k = 0; depth < MOST_DEPTH && k < o->part_count; k++)
        walk_operand(f, &o->parts[k], depth + 1, fn, arg);
}

void sim_each_reg(const struct lab_ptx_function *f,
                  const struct lab_ptx_operand *o, sim_reg_fn *fn, void *arg)
{
    walk_operand(f, o, 0, fn, arg);
}

void sim_each_changed(const struct lab_ptx_function *f,
                      const struct lab_ptx_instr *in, sim_reg_fn *fn, void *arg)
{
    const bool call = strcmp(in->opcode, "call") == 0;
    for (int k = 0; k < (call ? in->operand_count : in->operand_count > 0); k++)
        if (call || in->operands[k].kind != LAB_PTX_OPERAND_ADDRESS)
            sim_each_reg(f, &in->operands[k], fn, arg);
}

/* ---- basic blocks ---- */

struct block {
    int32_t first;
    int32_t last;
    int32_t next; /* into successors */
    int32_t next_count;
};

struct graph {
    const struct lab_ptx_function *f;
    struct block *blocks;
    int32_t *of; /* block of an instruction */
    int32_t count;
    int32_t *successors; /* blocks; `count` is the end */
    int32_t successor_count;
};

static bool is(const struct lab_ptx_instr *in, const char *opcode)
{
    return strcmp(in->opcode, opcode) == 0;
}

static bool ends(const struct lab_ptx_instr *in)
{
    return is(in, "ret") || is(in, "exit") || is(in, "trap");
}

/* The labels of a branch, one after the other; -1: no more. */
static int32_t target(const struct lab_ptx_instr *in, int n)
{
    if (!is(in, "bra") && !is(in, "brx"))
        return -1;
    for (int k = 0; k < in->operand_count; k++) {
        const struct lab_ptx_operand *o = &in->operands[k];
        if (o->kind == LAB_PTX_OPERAND_LABEL && n-- == 0)
            return o->target;
        for (int p = 0; p < o->part_count; p++)
            if (o->parts[p].kind == LAB_PTX_OPERAND_LABEL && n-- == 0)
                return o->parts[p].target;
    }
    return -1;
}

static bool falls_through(const struct lab_ptx_instr *in)
{
    return in->guard >= 0 || !(ends(in) || is(in, "bra") || is(in, "brx"));
}

static void graph_release(struct graph *g)
{
    lab_free(g->blocks);
    lab_free(g->of);
    lab_free(g->successors);
}

/* Blocks begin at targets and behind branches. g->of first marks them. */
static void find_blocks(struct graph *g)
{
    const struct lab_ptx_function *f = g->f;
    int32_t n = f->instr_count;
    g->of[0] = 1;
    for (int32_t i = 0; i < n; i++) {
        const struct lab_ptx_instr *in = &f->instrs[i];
        int32_t t;
        for (int k = 0; (t = target(in, k)) >= 0; k++)
            if (t < n)
                g->of[t] = 1;
        if ((ends(in) || target(in, 0) >= 0) && i + 1 < n)
            g->of[i + 1] = 1;
    }
    for (int32_t i = 0; i < n; i++) {
        if (g->of[i])
            g->blocks[g->count++].first = i;
        g->of[i] = g->count - 1;
        g->blocks[g->count - 1].last = i;
    }
}

static void find_successors(struct graph *g)
{
    const struct lab_ptx_function *f = g->f;
    int32_t n = f->instr_count;
    for (int32_t b = 0; b < g->count; b++) {
        const struct lab_ptx_instr *in = &f->instrs[g->blocks[b].last];
        struct block *at = &g->blocks[b];
        at->next = g->successor_count;
        int32_t t;
        for (int k = 0; (t = target(in, k)) >= 0; k++)
            g->successors[g->successor_count++] = t < n ? g->of[t] : g->count;
        if (ends(in))
            g->successors[g->successor_count++] = g->count;
        if (falls_through(in))
            g->successors[g->successor_count++] =
                at->last + 1 < n ? b + 1 : g->count;
        at->next_count = g->successor_count - at->next;
    }
}

static enum lab_status graph_make(const struct lab_ptx_function *f,
                                  struct graph *g)
{
    size_t n = (size_t)f->instr_count;
    size_t targets = 2 * n + 2;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < f->instrs[i].operand_count; k++)
            targets += (size_t)f->instrs[i].operands[k].part_count;
    memset(g, 0, sizeof(*g));
    g->f = f;
    g->blocks = lab_alloc_array(n + 1, sizeof(*g->blocks));
    g->of = lab_alloc_array(n + 1, sizeof(*g->of));
    g->successors = lab_alloc_array(targets, sizeof(*g->successors));
    if (!g->blocks || !g->of || !g->successors) {
        graph_release(g);
        return lab_no_memory("the flow of a kernel");
    }
    if (n == 0)
        return LAB_OK;
    find_blocks(g);
    find_successors(g);
    return LAB_OK;
}

/* ---- post-dominators ---- */

struct walk {
    int32_t *order; /* blocks, successors before predecessors; the end first */
    int32_t *place; /* of a block in it, -1: does not reach the end */
    int32_t *idom;  /* of a block: where all its ways to the end meet */
    int32_t count;
};

/* Predecessors as lists, to walk from the end backwards. */
struct backward {
    int32_t *head;
    int32_t *next;
    int32_t *from;
};

static void walk_back(const struct graph *g, const struct backward *p,
                      struct walk *w, int32_t *stack, int32_t *edge)
{
    int32_t depth = 0;
    int32_t done = g->count + 1;
    for (int32_t b = 0; b <= g->count; b++)
        w->place[b] = -1;
    stack[depth++] = g->count;
    edge[g->count] = p->head[g->count];
    w->place[g->count] = 0;
    while (depth > 0) {
        int32_t b = stack[depth - 1];
        int32_t e = edge[b];
        if (e < 0) {
            w->order[--done] = b;
            depth--;
            continue;
        }
        edge[b] = p->next[e];
        int32_t from = p->from[e];
        if (w->place[from] < 0) {
            w->place[from] = 0;
            edge[from] = p->head[from];
            stack[depth++] = from;
        }
    }
    w->count = g->count + 1 - done;
    memmove(w->order, w->order + done, (size_t)w->count * sizeof(*w->order));
    for (int32_t k = 0; k < w->count; k++)
        w->place[w->order[k]] = k;
}

static int32_t meet(const struct walk *w, int32_t a, int32_t b)
{
    while (a != b) {
        while (w->place[a] > w->place[b])
            a = w->idom[a];
        while (w->place[b] > w->place[a])
            b = w->idom[b];
    }
    return a;
}

/* Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", from the end
 * backwards. */
static void dominate(const struct graph *g, struct walk *w)
{
    for (int32_t b = 0; b <= g->count; b++)
        w->idom[b] = -1;
    w->idom[g->count] = g->count;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t k = 1; k < w->count; k++) {
            const struct block *b = &g->blocks[w->order[k]];
            int32_t at = -1;
            for (int32_t s = 0; s < b->next_count; s++) {
                int32_t to = g->successors[b->next + s];
                if (w->place[to] >= 0 && w->idom[to] >= 0)
                    at = at < 0 ? to : meet(w, at, to);
            }
            if (w->idom[w->order[k]] != at) {
                w->idom[w->order[k]] = at;
                changed = true;
            }
        }
    }
}

enum lab_status sim_flow_joins(const struct lab_ptx_function *f, int32_t *join)
{
    struct graph g;
    enum lab_status st = graph_make(f, &g);
    if (st)
        return st;
    size_t n = (size_t)g.count + 1;
    size_t edges = (size_t)g.successor_count + 1;
    int32_t *memory = lab_alloc_array(6 * n + 2 * edges, sizeof(*memory));
    if (!memory) {
        graph_release(&g);
        return lab_no_memory("the flow of a kernel");
    }
    struct walk w = {memory, memory + n, memory + 2 * n, 0};
    struct backward p = {memory + 3 * n, memory + 6 * n,
                         memory + 6 * n + edges};
    for (size_t b = 0; b < n; b++)
        p.head[b] = -1;
    for (int32_t b = 0; b < g.count; b++)
        for (int32_t s = 0; s < g.blocks[b].next_count; s++) {
            int32_t e = g.blocks[b].next + s;
            p.from[e] = b;
            p.next[e] = p.head[g.successors[e]];
            p.head[g.successors[e]] = e;
        }
    walk_back(&g, &p, &w, memory + 4 * n, memory + 5 * n);
    dominate(&g, &w);
    for (int32_t i = 0; i <= f->instr_count; i++)
        join[i] = -1;
    for (int32_t b = 0; b < g.count; b++) {
        int32_t at = w.idom[b];
        join[g.blocks[b].last] =
            at >= 0 && at < g.count ? g.blocks[at].first : -1;
    }
    lab_free(memory);
    graph_release(&g);
    return LAB_OK;
}

enum lab_status sim_flow_blocks(const struct lab_ptx_function *f,
                                int32_t *block)
{
    struct graph g;
    enum lab_status st = graph_make(f, &g);
    if (st)
        return st;
    memcpy(block, g.of, (size_t)f->instr_count * sizeof(*block));
    graph_release(&g);
    return LAB_OK;
}

/* ---- registers that are alive ---- */

/* Operand 0 is written whole, whatever was there. */
bool sim_flow_writes(const struct lab_ptx_instr *in)
{
    return in->guard < 0 && sim_has_result(in);
}

struct live {
    const struct graph *g;
    struct sim_home *homes;
    int32_t regs;
    size_t words;   /* of a set */
    uint64_t *sets; /* of a block: used before written, written, alive at entry,
                     * alive at its end */
    int32_t block;
    int32_t at;
};

enum { USED, WRITTEN, IN, OUT, SETS };

static uint64_t *set_of(const struct live *v, int32_t block, int which)
{
    return v->sets + ((size_t)block * SETS + (size_t)which) * v->words;
}

static void widen(struct sim_home *h, int32_t at)
{
    if (h->to < 0 || at < h->from)
        h->from = at;
    if (at > h->to)
        h->to = at;
}

static void mention(void *arg, int32_t reg)
{
    struct live *v = arg;
    widen(&v->homes[reg], v->at);
}

static void use(void *arg, int32_t reg)
{
    struct live *v = arg;
    mention(arg, reg);
    uint64_t bit = (uint64_t)1 << reg % 64;
    if (!(set_of(v, v->block, WRITTEN)[reg / 64] & bit))
        set_of(v, v->block, USED)[reg / 64] |= bit;
}

static void write(void *arg, int32_t reg)
{
    struct live *v = arg;
    mention(arg, reg);
    set_of(v, v->block, WRITTEN)[reg / 64] |= (uint64_t)1 << reg % 64;
}

static void scan_instr(struct live *v, const struct lab_ptx_instr *in,
                       sim_reg_fn *on_use, sim_reg_fn *on_write)
{
    bool writes = sim_flow_writes(in);
    for (int k = writes ? 1 : 0; k < in->operand_count; k++)
        sim_each_reg(v->g->f, &in->operands[k], on_use, v);
    if (in->guard >= 0 && in->guard < v->regs)
        on_use(v, in->guard);
    if (writes && in->operand_count > 0) {
        /* [address] of an opcode that is not in the list: it is read. */
        bool address = in->operands[0].kind == LAB_PTX_OPERAND_ADDRESS;
        sim_each_reg(v->g->f, &in->operands[0], address ? on_use : on_write, v);
    }
}

/* Backwards over the blocks until nothing changes. */
static void spread(struct live *v)
{
    const struct graph *g = v->g;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t b = g->count - 1; b >= 0; b--) {
            uint64_t *out = set_of(v, b, OUT);
            uint64_t *in = set_of(v, b, IN);
            for (int32_t s = 0; s < g->blocks[b].next_count; s++) {
                int32_t to = g->successors[g->blocks[b].next + s];
                if (to >= g->count)
                    continue;
                const uint64_t *from = set_of(v, to, IN);
                for (size_t k = 0; k < v->words; k++)
                    out[k] |= from[k];
            }
            for (size_t k = 0; k < v->words; k++) {
                uint64_t now = set_of(v, b, USED)[k] |
                               (out[k] & ~set_of(v, b, WRITTEN)[k]);
                changed |= now != in[k];
                in[k] = now;
            }
        }
    }
}

static void widen_all(struct live *v, const uint64_t *set, int32_t at)
{
    for (size_t k = 0; k < v->words; k++)
        for (uint64_t rest = set[k]; rest; rest &= rest - 1)
            widen(&v->homes[k * 64 + (size_t)__builtin_ctzll(rest)], at);
}

/* A set for each block in 256 MiB at most; larger kernels share no slots. */
static enum lab_status find_live(const struct graph *g, struct sim_home *homes)
{
    struct live v = {.g = g, .homes = homes, .regs = g->f->reg_count};
    v.words = ((size_t)v.regs + 63) / 64;
    size_t cells = v.words * SETS * ((size_t)g->count + 1);
    bool small = cells < (size_t)1 << 25;
    v.sets = lab_alloc_array(small ? cells + 1 : 1, sizeof(*v.sets));
    if (!v.sets)
        return lab_no_memory("the registers of a kernel");
    for (int32_t b = 0; b < g->count; b++) {
        v.block = b;
        for (v.at = g->blocks[b].first; v.at <= g->blocks[b].last; v.at++)
            scan_instr(&v, &g->f->instrs[v.at], small ? use : mention,
                       small ? write : mention);
    }
    if (small) {
        spread(&v);
        for (int32_t b = 0; b < g->count; b++) {
            widen_all(&v, set_of(&v, b, IN), g->blocks[b].first);
            widen_all(&v, set_of(&v, b, OUT), g->blocks[b].last);
        }
        for (int32_t r = 0; g->count > 0 && r < v.regs; r++)
            homes[r].early = homes[r].unwritten =
                set_of(&v, 0, IN)[r / 64] >> r % 64 & 1;
    } else
        for (int32_t r = 0; r < v.regs; r++)
            if (homes[r].to >= 0)
                homes[r] =
                    (struct sim_home){-1, 0, g->f->instr_count, false, true};
    lab_free(v.sets);
    return LAB_OK;
}

/* ---- slots ---- */

/* Free slots of one width: the one that was freed last is taken first, it is
 * still in the cache. */
struct pool {
    int32_t *free;
    int32_t count;
    int32_t width;
    int32_t *next;
};

static int32_t pool_take(struct pool *p)
{
    if (p->count > 0)
        return p->free[--p->count];
    int32_t slot = *p->next;
    *p->next += p->width;
    return slot;
}

struct order {
    const struct sim_home *home;
    int32_t reg;
};

static int by_from(const void *a, const void *b)
{
    const struct order *x = a;
    const struct order *y = b;
    if (x->home->from != y->home->from)
        return x->home->from < y->home->from ? -1 : 1;
    return (x->reg > y->reg) - (x->reg < y->reg);
}

static int by_to(const void *a, const void *b)
{
    const struct order *x = a;
    const struct order *y = b;
    if (x->home->to != y->home->to)
        return x->home->to < y->home->to ? -1 : 1;
    return (x->reg > y->reg) - (x->reg < y->reg);
}

enum lab_status sim_flow_homes(const struct lab_ptx_function *f,
                               struct sim_home *homes, int32_t *slots,
                               int32_t *preds)
{
    struct graph g;
    size_t n = (size_t)f->reg_count;
    for (size_t r = 0; r < n; r++)
        homes[r] = (struct sim_home){-1, -1, -1, false, false};
    enum lab_status st = graph_make(f, &g);
    if (st)
        return st;
    struct order *from = lab_alloc_array(2 * n + 1, sizeof(*from));
    int32_t *memory = lab_alloc_array(3 * n + 1, sizeof(*memory));
    st = from && memory ? find_live(&g, homes)
                        : lab_no_memory("the registers of a kernel");
    graph_release(&g);
    if (st) {
        lab_free(from);
        lab_free(memory);
        return st;
    }
    struct order *to = from + n;
    size_t used = 0;
    for (size_t r = 0; r < n; r++)
        if (homes[r].to >= 0)
            from[used++] = (struct order){&homes[r], (int32_t)r};
    memcpy(to, from, used * sizeof(*to));
    qsort(from, used, sizeof(*from), by_from);
    qsort(to, used, sizeof(*to), by_to);
    struct pool pools[] = {{memory, 0, 1, slots},
                           {memory + n, 0, 2, slots},
                           {memory + 2 * n, 0, 1, preds}};
    size_t freed = 0;
    for (size_t k = 0; k < used; k++) {
        /* Never at one instruction: a result overlaps no source. */
        for (; freed < used && to[freed].home->to < from[k].home->from;
             freed++) {
            enum lab_ptx_type type = f->regs[to[freed].reg].type;
            struct pool *p = &pools[type == LAB_PTX_PRED            ? 2
                                    : lab_ptx_type_bytes(type) == 8 ? 1
                                                                    : 0];
            p->free[p->count++] = to[freed].home->slot;
        }
        enum lab_ptx_type type = f->regs[from[k].reg].type;
        homes[from[k].reg].slot =
            pool_take(&pools[type == LAB_PTX_PRED            ? 2
                             : lab_ptx_type_bytes(type) == 8 ? 1
                                                             : 0]);
    }
    lab_free(from);
    lab_free(memory);
    return LAB_OK;
}
