/* check.c -- the one way from a lane to memory: bounds, alignment, writes to what
 * is read-only, reads of what nothing wrote. */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char NOT_WRITTEN[] = "what nothing wrote";

/* ---- bounds and alignment ---- */

static const char *verb(const struct sim_access *a)
{
    return a->kind == SIM_LOAD    ? "read"
           : a->kind == SIM_STORE ? "write"
                                  : "atomic operation";
}

/* A lane that must not touch memory: reports why, and ends it. */
static void refuse(struct sim_warp *w, const struct sim_instr *i,
                   const struct sim_access *a, enum lab_ptx_space space,
                   int lane, const char *why)
{
    char words[SIM_WORDS];
    struct lab_sim_finding f = {.bytes = a->bytes,
                                .write = a->kind != SIM_LOAD};
    uint64_t addr = a->addr[lane];
    sim_describe(w->block->grid, sim_check_of(w), space, addr, &f, words);
    w->faulted |= 1u << lane;
    const struct lab_sim_kernel *kernel = w->block->grid->kernel;
    if (space == LAB_PTX_SHARED)
        sim_describe_beyond(kernel, i->variable, addr, words);
    if (space == LAB_PTX_SHARED && kernel->dynamic &&
        addr >= (uint64_t)kernel->shared_bytes)
        f.hint = w->block->grid->launch->shared_bytes > 0
                     ? "the size of dynamic shared memory, --shared or the "
                       "third number of <<< >>>: it is too small"
                     : "dynamic shared memory, --shared or the third number "
                       "of <<< >>>: the launch has none";
    if (a->align > 0 && addr % (uint64_t)a->align != 0)
        sim_find(w, i, 1u << lane, LAB_SIM_MEMORY, &f,
                 "misaligned %s of %d bytes: %s, is %d bytes past a multiple "
                 "of %d",
                 verb(a), a->bytes, words, (int)(addr % (uint64_t)a->align),
                 a->align);
    else
        sim_find(w, i, 1u << lane, LAB_SIM_MEMORY, &f,
                 "%s of %d bytes outside of memory: %s%s", verb(a), a->bytes,
                 words, why);
}

static bool aligned(const struct sim_access *a, uint64_t addr)
{
    return a->align <= 1 || (addr & (uint64_t)(a->align - 1)) == 0;
}

struct spread {
    uint64_t low;
    uint64_t high;
    uint64_t bits; /* that any address has */
};

SIM_CLONES static struct spread spread_of(const struct sim_access *a)
{
    struct spread s = {UINT64_MAX, 0, 0};
    for (uint32_t lane = 0; lane < SIM_LANES; lane++) {
        const bool on = a->mask >> lane & 1;
        const uint64_t low = on ? a->addr[lane] : UINT64_MAX;
        const uint64_t high = on ? a->addr[lane] : 0;
        s.low = low < s.low ? low : s.low;
        s.high = high > s.high ? high : s.high;
        s.bits |= high;
    }
    return s;
}

/* Lanes that are within from .. end of a window. */
static uint32_t bound(struct sim_warp *w, const struct sim_instr *i,
                      const struct sim_access *a, enum lab_ptx_space space,
                      int64_t from, int64_t end)
{
    uint32_t good = a->mask;
    int64_t most = end - a->bytes;
    const struct spread all = spread_of(a);
    if (most >= from && all.low >= (uint64_t)from &&
        all.high <= (uint64_t)most && aligned(a, all.bits))
        return good;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (most >= from && a->addr[lane] >= (uint64_t)from &&
            a->addr[lane] <= (uint64_t)most && aligned(a, a->addr[lane]))
            continue;
        good &= ~(1u << lane);
        refuse(w, i, a, space, lane, "");
    }
    return good;
}

/* ---- global memory ---- */

/* The allocation that holds an access, and of a bounded one the label; NULL: none
 * does. */
static const struct sim_around *around_of(struct sim_warp *w,
                                          const struct sim_instr *i,
                                          uint64_t addr, size_t bytes)
{
    struct sim_check *c = sim_check_of(w);
    struct sim_around *r = &c->around[sim_index(w, i) % SIM_AROUNDS];
    if (r->alloc && addr - r->from <= r->bytes &&
        bytes <= r->bytes - (addr - r->from))
        return r;
    struct sim_alloc *a = sim_memory_before(c->block->grid->memory, addr);
    if (!a || a->freed || !sim_holds(a, addr, bytes))
        return NULL;
    const uint64_t base = (uint64_t)(uintptr_t)a->base;
    const struct sim_named *n =
        sim_memory_bounds(a, (size_t)(addr - base), bytes);
    if (!n && a->bounded)
        return NULL;
    const bool all = !a->bounded;
    *r = (struct sim_around){.alloc = a,
                             .from = all ? base : base + n->from,
                             .bytes = all ? a->bytes : n->bytes,
                             .fixed = n && n->fixed,
                             .whole = a->whole || (n && n->whole)};
    return r;
}

static size_t offset_in(const struct sim_alloc *g, uint64_t addr)
{
    return (size_t)(addr - (uint64_t)(uintptr_t)g->base);
}

static bool is_set_global(const void *arg, size_t at)
{
    return sim_memory_unset(arg, at, 1) == 1;
}

static bool is_set_local(const void *arg, size_t at)
{
    return ((const unsigned char *)arg)[at] != 0;
}

/* Whether all is written that the lanes read, a word each. */
static bool are_words_set(const struct sim_access *a, const struct sim_alloc *g,
                          uint32_t lanes)
{
    unsigned char all = SIM_ALL_SET;
    size_t odd = 0;
    for (uint32_t rest = g->whole ? 0 : lanes; rest; rest &= rest - 1) {
        const size_t offset = offset_in(g, a->addr[__builtin_ctz(rest)]);
        odd |= offset % 4;
        all &= atomic_load_explicit(&g->set[offset / 4], memory_order_relaxed);
    }
    return all == SIM_ALL_SET && !odd;
}

static void read_or_set(struct sim_warp *w, const struct sim_instr *i,
                        const struct sim_access *a, struct sim_alloc *g,
                        uint32_t lanes)
{
    const size_t bytes = (size_t)a->bytes;
    const enum sim_pattern pattern = sim_check_of(w)->pattern;
    const bool row = pattern == SIM_ROW && lanes == a->mask;
    const bool same = pattern == SIM_SAME && lanes == a->mask;
    const size_t run = bytes * (size_t)sim_count_lanes(lanes);
    const size_t start = offset_in(g, a->addr[__builtin_ctz(lanes)]);
    /* A copy reads when it is issued, and has written when it has arrived. */
    if (a->async && a->issued != (a->kind == SIM_LOAD))
        return;
    if (row && a->kind == SIM_STORE) {
        sim_memory_set(g, start, run);
        return;
    }
    if (row && a->kind == SIM_LOAD && sim_memory_unset(g, start, run) == run)
        return;
    if (a->kind == SIM_LOAD && bytes == 4 &&
        are_words_set(a, g, same ? lanes & (~lanes + 1) : lanes))
        return;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        size_t offset = offset_in(g, a->addr[lane]);
        if (a->kind != SIM_STORE) {
            size_t unset = sim_memory_unset(g, offset, bytes);
            if (unset < bytes && !sim_is_padding(i, is_set_global, g, offset))
                sim_find_unset(w, i, LAB_PTX_GLOBAL, lane,
                               a->addr[lane] + unset, a->bytes, NOT_WRITTEN,
                               NULL);
        }
        if (a->kind != SIM_LOAD)
            sim_memory_set(g, offset, bytes);
    }
}

/* Lanes that may write: not where a label marks it as only read. */
static uint32_t writable(struct sim_warp *w, const struct sim_instr *i,
                         const struct sim_access *a, const struct sim_alloc *g,
                         uint32_t lanes)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct sim_named *n =
            sim_memory_name(g, offset_in(g, a->addr[lane]));
        if (!n || !n->label.read_only)
            continue;
        lanes &= ~(1u << lane);
        w->faulted |= 1u << lane;
        char words[SIM_WORDS];
        struct lab_sim_finding f = {.bytes = a->bytes, .write = true};
        sim_describe(w->block->grid, sim_check_of(w), LAB_PTX_GLOBAL,
                     a->addr[lane], &f, words);
        sim_find(w, i, 1u << lane, LAB_SIM_MEMORY, &f,
                 "%s of %d bytes to what is only read: %s", verb(a), a->bytes,
                 words);
    }
    return lanes;
}

/* What the launch overwrites may have to be kept first. */
static void first_store(struct sim_launch_check *l, struct sim_alloc *g)
{
    pthread_mutex_lock(&l->lock);
    if (!atomic_load(&g->stored))
        l->no_memory |= !sim_memory_first_store(l->grid->memory, g);
    pthread_mutex_unlock(&l->lock);
}

/* Lanes of one allocation, all within it; what is `fixed` and `whole` is so for all
 * of them. */
static uint32_t in_alloc(struct sim_warp *w, const struct sim_instr *i,
                         struct sim_access *a, const struct sim_around *r,
                         uint32_t lanes, unsigned char *at[SIM_LANES])
{
    struct sim_alloc *g = r->alloc;
    struct sim_check *c = sim_check_of(w);
    if (a->kind != SIM_LOAD) {
        if (g->read_only)
            lanes = writable(w, i, a, g, lanes);
        if (!lanes)
            return 0;
        if (!atomic_load_explicit(&g->stored, memory_order_acquire))
            first_store(c->launch, g);
    }
    /* Also for lanes that are off: the executor does not look at those. */
    for (int lane = 0; lane < SIM_LANES; lane++)
        at[lane] = (unsigned char *)(uintptr_t)a->addr[lane];
    if (!r->whole)
        read_or_set(w, i, a, g, lanes);
    if (c->launch->races && !r->fixed)
        sim_race_global(c, w, i, a, g, lanes);
    return lanes;
}

/* A copy beside the threads is one access, which comes twice. Constant memory has a cache
 * of its own: loads from it are no requests. */
static bool counted(const struct sim_instr *i, const struct sim_access *a)
{
    return (!a->async || a->issued) && i->space != LAB_PTX_CONST;
}

static uint32_t access_global(struct sim_warp *w, const struct sim_instr *i,
                              struct sim_access *a,
                              unsigned char *at[SIM_LANES])
{
    struct sim_check *c = sim_check_of(w);
    struct lab_sim_counts *n = &w->block->counts[sim_index(w, i)];
    const size_t bytes = (size_t)a->bytes;
    const struct sim_around *one = NULL;
    if (c->pattern != SIM_ANY && aligned(a, a->addr[0])) {
        const int run = c->pattern == SIM_ROW ? sim_count_lanes(a->mask) : 1;
        one = around_of(w, i, a->addr[0], (size_t)run * bytes);
    }
    if (!one) {
        c->pattern = SIM_ANY;
        const struct spread all = spread_of(a);
        if (aligned(a, all.bits))
            one = around_of(w, i, all.low, all.high - all.low + bytes);
    }
    if (one) {
        if (counted(i, a))
            sim_count_global(n, a, a->mask, c->pattern);
        return in_alloc(w, i, a, one, a->mask, at);
    }
    struct sim_around of[SIM_LANES];
    uint32_t good = 0;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct sim_around *r = aligned(a, a->addr[lane])
                                         ? around_of(w, i, a->addr[lane], bytes)
                                         : NULL;
        if (r) {
            of[lane] = *r;
            good |= 1u << lane;
        } else
            refuse(w, i, a, LAB_PTX_GLOBAL, lane, "");
    }
    if (!good)
        return 0;
    if (counted(i, a))
        sim_count_global(n, a, good, SIM_ANY);
    uint32_t done = 0;
    for (uint32_t rest = good; rest;) {
        const struct sim_around *r = &of[__builtin_ctz(rest)];
        uint32_t lanes = 0;
        for (uint32_t k = rest; k; k &= k - 1) {
            const struct sim_around *other = &of[__builtin_ctz(k)];
            if (other->alloc == r->alloc && other->fixed == r->fixed &&
                other->whole == r->whole)
                lanes |= k & (~k + 1);
        }
        rest &= ~lanes;
        done |= in_alloc(w, i, a, r, lanes, at);
    }
    return done;
}

/* ---- the other spaces ---- */

static uint32_t access_shared(struct sim_warp *w, const struct sim_instr *i,
                              struct sim_access *a,
                              unsigned char *at[SIM_LANES])
{
    struct sim_check *c = sim_check_of(w);
    struct sim_block *b = w->block;
    const struct sim_variable *v =
        i->variable > 0 ? &b->grid->kernel->variables[i->variable - 1] : NULL;
    const int64_t from = v ? v->from : 0;
    const int64_t end = v ? v->end : b->shared_bytes;
    uint32_t good = a->mask;
    const uint64_t run =
        (uint64_t)a->bytes *
        (c->pattern == SIM_ROW ? (uint64_t)sim_count_lanes(a->mask) : 1);
    if (c->pattern == SIM_ANY || !aligned(a, a->addr[0]) ||
        a->addr[0] < (uint64_t)from || a->addr[0] > (uint64_t)end ||
        run > (uint64_t)end - a->addr[0])
        good = bound(w, i, a, LAB_PTX_SHARED, from, end);
    if (!good)
        return 0;
    if (good != a->mask)
        c->pattern = SIM_ANY;
    if (!a->async)
        sim_count_shared(&b->counts[sim_index(w, i)], i, a, good, c->pattern);
    for (uint32_t rest = good; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        at[lane] = b->shared + a->addr[lane];
    }
    if (c->launch->shadow)
        sim_race_shared(c, w, i, a, good);
    return good;
}

static uint32_t access_local(struct sim_warp *w, const struct sim_instr *i,
                             struct sim_access *a, unsigned char *at[SIM_LANES])
{
    struct sim_check *c = sim_check_of(w);
    const int64_t each = w->block->grid->kernel->local_bytes;
    const size_t bytes = (size_t)a->bytes;
    uint32_t good = bound(w, i, a, LAB_PTX_LOCAL, 0, each);
    c->pattern = SIM_ANY; /* each lane has memory of its own */
    for (uint32_t rest = good; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        size_t offset = (size_t)lane * (size_t)each + a->addr[lane];
        at[lane] = w->local + offset;
        if (!c->launch->shadow || (a->async && a->issued))
            continue;
        unsigned char *own =
            c->local +
            ((size_t)w->index * SIM_LANES + (size_t)lane) * (size_t)each;
        unsigned char *set = own + a->addr[lane];
        unsigned char *unset = memchr(set, 0, bytes);
        if (a->kind != SIM_STORE && unset &&
            !sim_is_padding(i, is_set_local, own, (size_t)a->addr[lane]))
            sim_find_unset(w, i, LAB_PTX_LOCAL, lane,
                           a->addr[lane] + (uint64_t)(unset - set), a->bytes,
                           NOT_WRITTEN, NULL);
        if (a->kind != SIM_LOAD)
            memset(set, 1, bytes);
    }
    return good;
}

void sim_local_unset(struct sim_warp *w, int lane, uint64_t addr, int bytes)
{
    struct sim_check *c = sim_check_of(w);
    const uint64_t each = (uint64_t)w->block->grid->kernel->local_bytes;
    if (!c->launch->shadow || addr > each || (uint64_t)bytes > each - addr)
        return;
    memset(c->local +
               ((size_t)w->index * SIM_LANES + (size_t)lane) * (size_t)each +
               addr,
           0, (size_t)bytes);
}

static uint32_t access_param(struct sim_warp *w, const struct sim_instr *i,
                             struct sim_access *a, unsigned char *at[SIM_LANES])
{
    struct sim_grid *g = w->block->grid;
    uint32_t good = bound(w, i, a, LAB_PTX_PARAM, 0, g->params_bytes);
    for (uint32_t rest = good; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        at[lane] = g->params + a->addr[lane];
        if (a->kind == SIM_LOAD)
            continue;
        good &= ~(1u << lane);
        refuse(w, i, a, LAB_PTX_PARAM, lane, ", which is only read");
    }
    return good;
}

/* The lanes of a partial mask are looked at if they are the first ones. */
SIM_CLONES static enum sim_pattern pattern_of(const struct sim_access *a)
{
    const uint64_t bytes = (uint64_t)a->bytes;
    const int n = sim_count_lanes(a->mask);
    uint64_t row = 0;
    uint64_t same = 0;
    if (a->mask & (a->mask + 1) || !a->mask)
        return SIM_ANY;
    if (a->mask == SIM_FULL)
        for (uint64_t lane = 0; lane < SIM_LANES; lane++) {
            row |= a->addr[lane] - a->addr[0] - lane * bytes;
            same |= a->addr[lane] - a->addr[0];
        }
    else
        for (int lane = 0; lane < n; lane++) {
            row |= a->addr[lane] - a->addr[0] - (uint64_t)lane * bytes;
            same |= a->addr[lane] - a->addr[0];
        }
    return !row ? SIM_ROW : !same ? SIM_SAME : SIM_ANY;
}

static uint32_t access_space(struct sim_warp *w, const struct sim_instr *i,
                             struct sim_access *a, unsigned char *at[SIM_LANES])
{
    sim_check_of(w)->pattern = pattern_of(a);
    switch (a->space) {
    case LAB_PTX_SHARED:
        return access_shared(w, i, a, at);
    case LAB_PTX_LOCAL:
        return access_local(w, i, a, at);
    case LAB_PTX_PARAM:
        return access_param(w, i, a, at);
    default:
        return access_global(w, i, a, at);
    }
}

static uint32_t access_any(struct sim_warp *w, const struct sim_instr *i,
                           struct sim_access *a, unsigned char *at[SIM_LANES])
{
    uint32_t of[LAB_PTX_LOCAL + 1] = {0};
    uint32_t done = 0;
    a->overlap = false;
    sim_check_of(w)->same = 0;
    sim_check_of(w)->valued = 0;
    sim_check_of(w)->meet = false;
    if (a->space != LAB_PTX_GENERIC)
        return access_space(w, i, a, at);
    /* The lanes of each space in turn. */
    struct sim_access part = *a;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        of[sim_generic(&part.addr[lane])] |= 1u << lane;
    }
    for (int space = LAB_PTX_PARAM; space <= LAB_PTX_LOCAL; space++) {
        if (!of[space])
            continue;
        part.space = (enum lab_ptx_space)space;
        part.mask = of[space];
        done |= access_space(w, i, &part, at);
        if (of[space] != a->mask)
            sim_check_of(w)->pattern = SIM_ANY;
    }
    a->overlap = part.overlap;
    return done;
}

uint32_t sim_check_access(struct sim_warp *w, const struct sim_instr *i,
                          struct sim_access *a, unsigned char *at[SIM_LANES])
{
    const uint32_t done = access_any(w, i, a, at);
    a->row = sim_check_of(w)->pattern == SIM_ROW && done == a->mask;
    const struct sim_watch *watch = w->block->grid->watch;
    if (watch && watch->access)
        watch->access(watch->arg, w, i, a, done);
    return done;
}

/* ---- begin and end ---- */

enum lab_status sim_check_begin(struct sim_grid *g)
{
    struct sim_launch_check *l = lab_alloc(sizeof(*l));
    if (!l)
        return lab_no_memory("the checks of a launch");
    sim_memory_begin(g->memory);
    l->grid = g;
    l->ptx = g->kernel->ptx;
    l->checks = g->options->checks;
    l->races = l->checks >> LAB_SIM_RACE & 1;
    l->shadow = l->races || l->checks >> LAB_SIM_UNINITIALISED & 1;
    l->ordered = g->kernel->in_order;
    l->last = UINT64_MAX;
    l->blocks =
        (uint64_t)g->launch->grid[0] * g->launch->grid[1] * g->launch->grid[2];
    pthread_mutex_init(&l->lock, NULL);
    g->check = l;
    sim_race_begin(l);
    return LAB_OK;
}

static void check_release(struct sim_check *c)
{
    sim_race_release(c);
    lab_free(c->found);
    lab_free(c->local);
    lab_free(c);
}

static struct sim_check *take(struct sim_launch_check *l)
{
    pthread_mutex_lock(&l->lock);
    struct sim_check *c = l->idle;
    if (c)
        l->idle = c->free;
    pthread_mutex_unlock(&l->lock);
    if (c)
        return c;
    c = lab_alloc(sizeof(*c));
    if (!c)
        return NULL;
    c->launch = l;
    pthread_mutex_lock(&l->lock);
    c->next = l->all;
    l->all = c;
    pthread_mutex_unlock(&l->lock);
    return c;
}

/* Local memory of the block: nothing of it is written. */
static bool local_begin(struct sim_check *c)
{
    const struct sim_block *b = c->block;
    size_t bytes = (size_t)b->grid->kernel->local_bytes * SIM_LANES *
                   (size_t)b->warp_count;
    if (bytes > c->local_room) {
        lab_free(c->local);
        c->local = lab_alloc(bytes);
        c->local_room = c->local ? bytes : 0;
        return c->local;
    }
    if (bytes > 0)
        memset(c->local, 0, bytes);
    return true;
}

enum lab_status sim_check_block_begin(struct sim_block *b)
{
    struct sim_check *c = take(b->grid->check);
    if (!c)
        return lab_no_memory("the checks of a block");
    c->block = b;
    b->check = c;
    if (c->launch->shadow && !(local_begin(c) && sim_race_block_begin(c))) {
        sim_check_block_end(b);
        return lab_no_memory("the shadow of shared and local memory");
    }
    return LAB_OK;
}

void sim_check_block_end(struct sim_block *b)
{
    struct sim_check *c = b->check;
    struct sim_launch_check *l = c->launch;
    sim_race_block_end(c);
    c->block = NULL;
    sim_keep_broken(l, b);
    pthread_mutex_lock(&l->lock);
    c->free = l->idle;
    l->idle = c;
    pthread_mutex_unlock(&l->lock);
    b->check = NULL;
}

bool sim_check_keep(struct sim_grid *g)
{
    const struct sim_launch_check *l = g->check;
    return !l->races || sim_memory_keep(g->memory);
}

bool sim_check_raced(const struct sim_grid *g)
{
    const struct sim_launch_check *l = g->check;
    return l->races && !l->no_memory && sim_race_between(l);
}

enum lab_status sim_check_again(struct sim_grid *g)
{
    sim_memory_restore(g->memory);
    sim_check_end(g, NULL, NULL, NULL);
    return sim_check_begin(g);
}

enum lab_status sim_check_end(struct sim_grid *g, const struct sim_tally *tally,
                              const struct lab_sim_counts *counts,
                              struct lab_sim_result *out)
{
    enum lab_status st = LAB_OK;
    struct sim_launch_check *l = g->check;
    if (!l)
        return LAB_OK;
    if (out)
        sim_race_end(l);
    sim_memory_settle(g->memory);
    if (out) {
        st = sim_findings_end(l, out);
        if (!st)
            st = sim_count_end(g, tally, counts, out);
        if (st)
            lab_sim_result_release(out);
    }
    while (l->all) {
        struct sim_check *c = l->all;
        l->all = c->next;
        check_release(c);
    }
    sim_race_forget(l);
    pthread_mutex_destroy(&l->lock);
    lab_free(l->broken);
    lab_free(l);
    g->check = NULL;
    return st;
}

void lab_sim_result_release(struct lab_sim_result *r)
{
    if (!r)
        return;
    lab_free(r->lines);
    lab_free(r->findings);
    *r = (struct lab_sim_result){0};
}
