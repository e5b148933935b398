/* race.c -- which access happened before which; races, and reads of shared memory
 * that nothing wrote.
 *
 * The rule is that of the PTX memory model, kept per warp. Accesses of a block are
 * numbered as they happen. Each warp has a clock: up to which number it knows the
 * accesses of each other warp, through barriers, mbarriers, and fences with
 * atomics. Two accesses to one byte, at least one a write, are a race if neither
 * is known to the other's warp. Two that are both volatile, atomic or relaxed are
 * none.
 *
 * Within a warp: since Volta the lanes of a warp need not run in step, so two
 * instructions of two lanes have no order but by what makes them wait for each
 * other: bar.warp.sync, a barrier, or an instruction with .sync and a mask of
 * lanes (shfl, vote, match, redux). CUDA's documents promise no order of memory
 * for a shuffle, yet its lanes have met there, and compute-sanitizer reports
 * nothing either. Lanes of one instruction that store the same value in the same
 * place are no race, and so is a later store of the value that is there.
 *
 * What a copy beside the threads (cp.async, TMA, wgmma) has begun to write or to
 * read belongs to nobody until it arrives: any other access to it is a fault.
 *
 * A shadow keeps of each word the last write and two reads: the last, and the
 * last one of another warp that the last did not know. A third is forgotten, so
 * a race may be missed, but none is invented.
 *
 * Global memory, between blocks: where the blocks run side by side they have no
 * way to wait for each other, so a word that one writes and another touches is a
 * race. The shadow keeps the first touch of the two first blocks, which is the
 * same in whatever order they ran; the races are read from it at the end. A
 * kernel that can wait (lab_sim_kernel.in_order) runs its blocks one after the
 * other, and a block knows of another what a fence and an atomic released. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- stamps ---- */

/* Who touched a word and when; when 0: nobody. `who` is the thread in the block
 * (10 bits), the two flags and, from bit 12, the place + 1. */
struct sim_stamp {
    uint32_t when;
    uint32_t who;
};

enum {
    THREAD_MASK = 1023,
    STRONG = 1 << 10,  /* volatile, atomic, relaxed */
    PENDING = 1 << 11, /* a copy that has not arrived; `when` is NEVER */
    PLACE_SHIFT = 12,
    PLACE_MOST = 1 << 20
};
static const uint32_t NEVER = UINT32_MAX;

struct sim_cell {
    struct sim_stamp write;
    struct sim_stamp read;
    struct sim_stamp read_before; /* of another warp */
    uint32_t read_lanes;          /* of the warp of `read` */
    uint32_t unused;
};

/* Up to when a lane knows each other lane of its warp. */
struct sim_pairs {
    uint32_t known[SIM_LANES][SIM_LANES];
};

static uint32_t thread_of(struct sim_stamp s)
{
    return s.who & THREAD_MASK;
}

static uint32_t warp_of(struct sim_stamp s)
{
    return (s.who & THREAD_MASK) / SIM_LANES;
}

static int32_t place_of(uint32_t who)
{
    return (int32_t)(who >> PLACE_SHIFT) - 1;
}

/* What all lanes of an access share. */
static struct sim_stamp stamp(const struct sim_check *c,
                              const struct sim_warp *w,
                              const struct sim_instr *i,
                              const struct sim_access *a)
{
    struct sim_stamp s = {c->now, (uint32_t)w->index * SIM_LANES};
    int32_t place = i->ptx ? i->ptx->place : -1;
    if (place >= 0 && place < PLACE_MOST - 1)
        s.who |= (uint32_t)(place + 1) << PLACE_SHIFT;
    if (a->synchronises || a->kind == SIM_ATOMIC)
        s.who |= STRONG;
    if (a->async && a->issued) {
        s.who |= PENDING;
        s.when = NEVER;
    }
    return s;
}

/* Whether `old` happened before what lane does now; both strong: as good as. */
static bool in_order(const struct sim_check *c, const struct sim_warp *w,
                     int lane, struct sim_stamp old, uint32_t me)
{
    const uint32_t other = thread_of(old);
    if (old.who & PENDING)
        return false;
    if (old.when <= c->known[w->index].known[warp_of(old)] ||
        (old.who & me & STRONG))
        return true;
    if (warp_of(old) != (uint32_t)w->index)
        return false;
    return other % SIM_LANES == (uint32_t)lane ||
           (c->pairs &&
            old.when <= c->pairs[w->index].known[lane][other % SIM_LANES]);
}

/* ---- findings ---- */

/* " at kernel.cu:12" behind a message. */
static size_t append_place(const struct sim_check *c, int32_t place, char *out,
                           size_t room, size_t at)
{
    const struct lab_ptx *ptx = c->launch->ptx;
    if (place < 0 || place >= ptx->place_count)
        return at;
    const struct lab_ptx_place *p = &ptx->places[place];
    const char *file =
        p->file >= 0 && p->file < ptx->file_count ? ptx->files[p->file] : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    const char *name = slash ? slash + 1 : file;
    return name ? sim_append(out, room, at, " at %s:%d", name, p->line)
                : sim_append(out, room, at, " on line %d", p->line);
}

/* The other access of a race. */
struct earlier {
    uint64_t block;
    uint32_t who;
    bool write;
};

static void race_words(const struct sim_check *c, struct lab_sim_finding *f,
                       const struct earlier *e, const char *words)
{
    char *out = f->message;
    const size_t room = sizeof(f->message);
    const uint32_t *block = f->other.block;
    size_t n = sim_append(
        out, room, 0,
        "%s of %s races with the %s%s of thread "
        "(%u,%u,%u)",
        f->write ? "write" : "read", words, e->write ? "write" : "read",
        e->who & PENDING ? " that is under way" : "", f->other.thread[0],
        f->other.thread[1], f->other.thread[2]);
    if (memcmp(block, f->at.block, sizeof(f->at.block)) != 0)
        n = sim_append(out, room, n, " of block (%u,%u,%u)", block[0], block[1],
                       block[2]);
    n = append_place(c, f->other.place, out, room, n);
    sim_append(out, room, n, ": nothing puts one of them first");
}

static void find_race(struct sim_check *c, struct sim_warp *w,
                      const struct sim_instr *i, const struct sim_access *a,
                      enum lab_ptx_space space, uint64_t addr, int lane,
                      const struct earlier *e)
{
    char words[SIM_WORDS];
    const struct sim_grid *g = w->block->grid;
    struct lab_sim_finding f = {.check = LAB_SIM_RACE,
                                .has_other = true,
                                .bytes = a->bytes,
                                .write = a->kind != SIM_LOAD};
    if (!c->launch->races)
        return;
    uint32_t thread = (uint32_t)(w->index * SIM_LANES + lane);
    sim_describe(g, c, space, addr, &f, words);
    sim_where(g, w->block->number, thread, i->ptx ? i->ptx->place : -1, &f.at);
    sim_where(g, e->block, e->who & THREAD_MASK, place_of(e->who), &f.other);
    race_words(c, &f, e, words);
    sim_found(c, &f, w->block->number, thread);
}

/* An earlier store that is not in order with this one: no race if both store the
 * same, which sim_same() finds out. */
static void must_be_same(struct sim_check *c, struct sim_access *a, int lane,
                         uint64_t byte, uint32_t bytes, uint64_t block,
                         uint32_t who)
{
    a->overlap = true;
    c->same_end[lane] = (int)(byte + bytes);
    if (c->same >> lane & 1)
        return;
    c->same |= 1u << lane;
    c->same_who[lane] = who;
    c->same_block[lane] = block;
    c->same_byte[lane] = (int)byte;
}

void sim_same(struct sim_warp *w, const struct sim_instr *i,
              const struct sim_access *a, uint32_t lanes,
              unsigned char *const at[SIM_LANES],
              const unsigned char *const data[SIM_LANES])
{
    struct sim_check *c = sim_check_of(w);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        struct earlier e = {w->block->number, 0, true};
        int byte = -1;
        if (c->same >> lane & 1 &&
            memcmp(at[lane] + c->same_byte[lane],
                   data[lane] + c->same_byte[lane],
                   (size_t)(c->same_end[lane] - c->same_byte[lane])) != 0) {
            byte = c->same_byte[lane];
            e.block = c->same_block[lane];
            e.who = c->same_who[lane];
        }
        /* Lanes before it in this store. */
        for (uint32_t r = lanes & ((1u << lane) - 1); r && byte < 0;
             r &= r - 1) {
            const int other = __builtin_ctz(r);
            const int64_t off = at[lane] - at[other];
            for (int k = 0; k < a->bytes && byte < 0; k++)
                if (k + off >= 0 && k + off < a->bytes &&
                    data[lane][k] != data[other][k + off])
                    byte = k;
            if (byte >= 0)
                e.who = (stamp(c, w, i, a).who & ~(uint32_t)THREAD_MASK) |
                        (uint32_t)(w->index * SIM_LANES + other);
        }
        if (byte < 0)
            continue;
        uint64_t addr = a->addr[lane] + (uint64_t)byte;
        enum lab_ptx_space space = a->space;
        if (space == LAB_PTX_GENERIC)
            space = sim_generic(&addr);
        find_race(c, w, i, a, space, addr, lane, &e);
    }
}

/* ---- objects that are released to and acquired from ---- */

struct sim_flag {
    bool used;
    uint64_t key;           /* the address; mbarriers: MBARRIER + offset */
    struct sim_clock clock; /* of a block's own */
    uint32_t *blocks;       /* between blocks: of each, up to when; owned */
};

static const uint64_t MBARRIER = (uint64_t)1 << 63;

static struct sim_flag *flag_at(const struct sim_flags *t, uint64_t key)
{
    if (t->room == 0)
        return NULL;
    size_t k = (size_t)((key ^ key >> 17) * 0x9e3779b97f4a7c15u >> 20);
    for (k &= t->room - 1; t->at[k].used && t->at[k].key != key;)
        k = (k + 1) & (t->room - 1);
    return &t->at[k];
}

static struct sim_flag *flag_find(const struct sim_flags *t, uint64_t key)
{
    struct sim_flag *f = flag_at(t, key);
    return f && f->used ? f : NULL;
}

/* NULL: no memory. */
static struct sim_flag *flag_make(struct sim_flags *t, uint64_t key)
{
    enum { FIRST = 16 };
    struct sim_flag *f = flag_find(t, key);
    if (f)
        return f;
    if (2 * (t->count + 1) > t->room) {
        struct sim_flags more = {.count = t->count,
                                 .room = t->room ? 2 * t->room : FIRST};
        more.at = lab_alloc_array(more.room, sizeof(*more.at));
        if (!more.at)
            return NULL;
        for (size_t k = 0; k < t->room; k++)
            if (t->at[k].used)
                *flag_at(&more, t->at[k].key) = t->at[k];
        lab_free(t->at);
        *t = more;
    }
    f = flag_at(t, key);
    f->used = true;
    f->key = key;
    t->count++;
    return f;
}

static void flags_release(struct sim_flags *t)
{
    for (size_t k = 0; k < t->room; k++)
        lab_free(t->at[k].blocks);
    lab_free(t->at);
    *t = (struct sim_flags){0};
}

/* ---- clocks ---- */

static void join(struct sim_clock *to, const struct sim_clock *from)
{
    for (int k = 0; k < SIM_WARPS; k++)
        to->known[k] =
            to->known[k] > from->known[k] ? to->known[k] : from->known[k];
}

void sim_release(struct sim_warp *w, struct sim_clock *object)
{
    const struct sim_check *c = sim_check_of(w);
    join(object, &c->known[w->index]);
    object->known[w->index] = c->now;
}

void sim_acquire(struct sim_warp *w, const struct sim_clock *object)
{
    join(&sim_check_of(w)->known[w->index], object);
}

void sim_block_synchronised(struct sim_block *b, uint32_t warps)
{
    struct sim_check *c = b->check;
    if (!c->launch->shadow)
        return;
    struct sim_clock all = {{0}};
    struct sim_clock fenced = {{0}};
    uint32_t fence = c->start;
    for (uint32_t rest = warps; rest; rest &= rest - 1) {
        int k = __builtin_ctz(rest);
        join(&all, &c->known[k]);
        all.known[k] = c->now;
        if (c->fence_when[k] <= c->start)
            continue;
        join(&fenced, &c->fenced[k]);
        fence = c->fence_when[k] > fence ? c->fence_when[k] : fence;
    }
    for (uint32_t rest = warps; rest; rest &= rest - 1) {
        int k = __builtin_ctz(rest);
        c->known[k] = all;
        if (fence > c->start) {
            c->fenced[k] = fenced;
            c->fence_when[k] = fence;
        }
    }
}

void sim_warp_synchronised(struct sim_warp *w, uint32_t lanes)
{
    struct sim_check *c = sim_check_of(w);
    if ((lanes & w->alive) == w->alive) {
        c->known[w->index].known[w->index] = c->now;
        return;
    }
    if (!c->launch->shadow)
        return;
    if (!c->pairs)
        c->pairs = lab_alloc_array(SIM_WARPS, sizeof(*c->pairs));
    if (!c->pairs) {
        sim_check_no_memory(c->launch);
        return;
    }
    uint32_t(*known)[SIM_LANES] = c->pairs[w->index].known;
    uint32_t all[SIM_LANES] = {0};
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        for (int k = 0; k < SIM_LANES; k++) {
            uint32_t one = known[__builtin_ctz(rest)][k];
            all[k] = one > all[k] ? one : all[k];
        }
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        all[__builtin_ctz(rest)] = c->now;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        memcpy(known[__builtin_ctz(rest)], all, sizeof(all));
}

void sim_fence(struct sim_warp *w, uint32_t lanes)
{
    struct sim_check *c = sim_check_of(w);
    (void)lanes; /* of a warp that fences in part, all count as fenced */
    c->fenced[w->index] = c->known[w->index];
    c->fenced[w->index].known[w->index] = c->now;
    c->fence_when[w->index] = c->now;
}

void sim_mbarrier_arrived(struct sim_warp *w, uint32_t lanes, uint32_t offset)
{
    struct sim_check *c = sim_check_of(w);
    (void)lanes;
    if (!c->launch->shadow)
        return;
    struct sim_flag *f = flag_make(&c->flags, MBARRIER + offset);
    if (f)
        sim_release(w, &f->clock);
    else
        sim_check_no_memory(c->launch);
}

void sim_mbarrier_passed(struct sim_warp *w, uint32_t lanes, uint32_t offset)
{
    const struct sim_flag *f =
        flag_find(&sim_check_of(w)->flags, MBARRIER + offset);
    (void)lanes;
    if (f)
        sim_acquire(w, &f->clock);
}

/* ---- atomics and volatile accesses put threads in order ---- */

/* Up to when each block is known, as an object or this block has it. */
static bool blocks_join(uint32_t **to, const uint32_t *from, uint64_t blocks)
{
    if (!from)
        return true;
    if (!*to)
        *to = lab_alloc_array((size_t)blocks, sizeof(**to));
    if (!*to)
        return false;
    for (uint64_t k = 0; k < blocks; k++)
        (*to)[k] = (*to)[k] > from[k] ? (*to)[k] : from[k];
    return true;
}

/* Between blocks, which run one after the other. With very many blocks and objects
 * races between blocks are no longer looked for. */
static bool meet_blocks(struct sim_check *c, const struct sim_warp *w,
                        const struct sim_access *a, uint64_t key)
{
    enum { MOST = 64 << 20 };
    struct sim_launch_check *l = c->launch;
    const uint64_t mine = c->block->number;
    const bool fenced = c->fence_when[w->index] > c->start;
    bool enough = true;
    if (l->apart)
        return true;
    struct sim_flag *f = flag_find(&l->flags, key);
    if (f && a->kind != SIM_STORE)
        enough = blocks_join(&c->learned, f->blocks, l->blocks);
    if (a->kind != SIM_LOAD && fenced) {
        l->apart = (l->flags.count + 1) * l->blocks > MOST;
        f = flag_make(&l->flags, key);
        if (f && !f->blocks)
            f->blocks = lab_alloc_array((size_t)l->blocks, sizeof(uint32_t));
        enough = f && f->blocks &&
                 blocks_join(&f->blocks, c->learned, l->blocks) && enough;
        if (enough)
            f->blocks[mine] = c->fence_when[w->index];
    }
    return enough;
}

/* A strong access: a load takes what a fence before a store to the same address
 * made known. */
static void meet(struct sim_check *c, struct sim_warp *w,
                 const struct sim_access *a, uint32_t lanes,
                 enum lab_ptx_space space)
{
    const bool fenced = c->fence_when[w->index] > c->start;
    const bool outside = space == LAB_PTX_GLOBAL && c->launch->ordered;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint64_t key = a->addr[__builtin_ctz(rest)];
        bool enough = true;
        struct sim_flag *f = flag_find(&c->flags, key);
        if (f && a->kind != SIM_STORE)
            sim_acquire(w, &f->clock);
        if (fenced && a->kind != SIM_LOAD) {
            f = flag_make(&c->flags, key);
            enough = f;
            if (f)
                join(&f->clock, &c->fenced[w->index]);
        }
        if (outside)
            enough = meet_blocks(c, w, a, key) && enough;
        if (!enough)
            sim_check_no_memory(c->launch);
    }
}

/* ---- shared memory ---- */

/* Cells of half the size: what was true of a word is true of its halves. */
static bool split_cells(struct sim_check *c)
{
    struct sim_cell *more = lab_alloc_array(2 * c->shared_cells, sizeof(*more));
    if (!more)
        return false;
    for (size_t k = 0; k < 2 * c->shared_cells; k++)
        more[k] = c->shared[k / 2];
    lab_free(c->shared);
    c->shared = more;
    c->shared_cells *= 2;
    c->granule /= 2;
    return true;
}

struct shared_access {
    struct sim_check *c;
    struct sim_warp *w;
    const struct sim_instr *i;
    struct sim_access *a;
    struct sim_stamp me;
};

static void find_shared(const struct shared_access *s, int lane,
                        const struct sim_cell *cell, struct sim_stamp old,
                        bool write)
{
    const struct earlier e = {s->w->block->number, old.who, write};
    uint64_t offset = (uint64_t)(cell - s->c->shared) * s->c->granule;
    find_race(s->c, s->w, s->i, s->a, LAB_PTX_SHARED, offset, lane, &e);
}

/* A write before it that the warp may not know. false: the bytes are of a copy
 * that has not arrived. */
static bool after_write(const struct shared_access *s, int lane,
                        const struct sim_cell *cell)
{
    const struct sim_stamp old = cell->write;
    const uint64_t offset = (uint64_t)(cell - s->c->shared) * s->c->granule;
    if (in_order(s->c, s->w, lane, old, s->me.who))
        return true;
    if (old.who & PENDING && s->a->kind == SIM_LOAD && !s->a->async) {
        sim_find_unset(s->w, s->i, LAB_PTX_SHARED, lane, offset, s->a->bytes,
                       "what an asynchronous copy has yet to write");
        return false;
    }
    if (old.who & PENDING && s->a->async && !s->a->issued &&
        thread_of(old) == thread_of(s->me) + (uint32_t)lane)
        return true; /* its own arrival */
    if (s->a->kind != SIM_STORE || s->a->async || old.who & PENDING) {
        find_shared(s, lane, cell, old, true);
        return true;
    }
    if (old.when == s->me.when)
        s->a->overlap = true; /* another lane of this instruction */
    else
        must_be_same(s->c, s->a, lane, offset - s->a->addr[lane], s->c->granule,
                     s->w->block->number, old.who);
    return true;
}

/* A read before it, by these lanes of a warp, that the lane may not know. */
static void after_read(const struct shared_access *s, int lane,
                       const struct sim_cell *cell, struct sim_stamp old,
                       uint32_t lanes)
{
    if (old.who & PENDING && s->a->async && !s->a->issued)
        return; /* a copy that arrives was looked at when it was issued */
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        old.who = (old.who & ~(uint32_t)(SIM_LANES - 1)) |
                  (uint32_t)__builtin_ctz(rest);
        if (in_order(s->c, s->w, lane, old, s->me.who))
            continue;
        find_shared(s, lane, cell, old, false);
        return;
    }
}

static uint32_t lane_bit(struct sim_stamp s)
{
    return 1u << (s.who % SIM_LANES);
}

/* A copy's read that was issued has happened: from now on it is an access of the
 * thread. false: `read` is of another copy, which is still under way. */
static bool read_arrives(const struct shared_access *s, int lane,
                         struct sim_cell *cell)
{
    const struct sim_stamp me = {s->me.when, s->me.who + (uint32_t)lane};
    if (cell->read_before.when == NEVER &&
        thread_of(cell->read_before) == thread_of(me))
        cell->read_before.when = 0;
    if (cell->read.when != NEVER || thread_of(cell->read) == thread_of(me))
        return true;
    if (cell->read_before.when != NEVER)
        cell->read_before = me;
    return false;
}

static void load_cell(const struct shared_access *s, int lane,
                      struct sim_cell *cell, const uint32_t *known)
{
    struct sim_check *c = s->c;
    if (cell->write.when > known[warp_of(cell->write)] &&
        !after_write(s, lane, cell))
        return;
    if (cell->write.when <= c->start)
        sim_find_unset(s->w, s->i, LAB_PTX_SHARED, lane,
                       (uint64_t)(cell - c->shared) * c->granule, s->a->bytes,
                       "what nothing wrote");
    const bool arrives = s->a->async && !s->a->issued;
    if (arrives && !read_arrives(s, lane, cell))
        return;
    const struct sim_stamp old = cell->read;
    uint32_t lanes = 0;
    if (old.when > known[warp_of(old)] && !(arrives && old.when == NEVER)) {
        if (warp_of(old) == (uint32_t)s->w->index &&
            !((old.who ^ s->me.who) & PENDING))
            lanes = cell->read_lanes;
        else
            cell->read_before = old;
    }
    cell->read_lanes = lanes | 1u << lane;
    cell->read.when = s->me.when;
    cell->read.who = s->me.who + (uint32_t)lane;
}

/* An atomic is both: it reads as a load does. */
static void store_cell(const struct shared_access *s, int lane,
                       struct sim_cell *cell, const uint32_t *known)
{
    if (cell->write.when > known[warp_of(cell->write)])
        after_write(s, lane, cell);
    if (s->a->kind == SIM_ATOMIC && cell->write.when <= s->c->start)
        sim_find_unset(s->w, s->i, LAB_PTX_SHARED, lane,
                       (uint64_t)(cell - s->c->shared) * s->c->granule,
                       s->a->bytes, "what nothing wrote");
    if (cell->read.when > known[warp_of(cell->read)])
        after_read(s, lane, cell, cell->read, cell->read_lanes);
    if (cell->read_before.when > known[warp_of(cell->read_before)])
        after_read(s, lane, cell, cell->read_before,
                   lane_bit(cell->read_before));
    cell->write.when = s->me.when;
    cell->write.who = s->me.who + (uint32_t)lane;
    cell->read.when = 0;
    cell->read_before.when = 0;
}

/* false: no more accesses can be numbered, or no memory. */
static bool shared_ready(struct sim_check *c, const struct sim_access *a,
                         uint32_t lanes)
{
    uint64_t bits = (uint64_t)a->bytes;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        bits |= a->addr[__builtin_ctz(rest)];
    while (bits & (c->granule - 1))
        if (!split_cells(c)) {
            sim_check_no_memory(c->launch);
            return false;
        }
    return c->now < NEVER - 2;
}

void sim_race_shared(struct sim_check *c, struct sim_warp *w,
                     const struct sim_instr *i, struct sim_access *a,
                     uint32_t lanes)
{
    if (!shared_ready(c, a, lanes))
        return;
    c->now++;
    c->copies |= a->async;
    const struct shared_access s = {c, w, i, a, stamp(c, w, i, a)};
    if (s.me.who & STRONG && !a->async)
        meet(c, w, a, lanes, LAB_PTX_SHARED);
    const uint32_t *known = c->known[w->index].known;
    const size_t cells = (size_t)a->bytes / c->granule;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        struct sim_cell *cell = &c->shared[a->addr[lane] / c->granule];
        if (a->kind == SIM_LOAD)
            for (size_t k = 0; k < cells; k++)
                load_cell(&s, lane, &cell[k], known);
        else
            for (size_t k = 0; k < cells; k++)
                store_cell(&s, lane, &cell[k], known);
    }
}

/* ---- global memory ---- */

/* Kinds of touch that a shadow keeps apart. */
enum kind { READ, WRITE, ATOMIC, KINDS };

/* Of a granule and a kind: the first touch of the first two blocks, as block + 1
 * and who (0: none); and of the last touch of `first`'s block, when and who, which
 * is kept only as long as there is no second. Where blocks run one after the
 * other, `first` is the last touch of any, and there is no second. */
struct mark {
    _Atomic uint64_t first;
    _Atomic uint64_t second;
    _Atomic uint64_t last;
};

struct sim_races {
    struct mark *_Atomic of[KINDS];
    atomic_bool conflict; /* two blocks met in some granule */
};

static uint64_t get(const _Atomic uint64_t *p)
{
    return atomic_load_explicit(p, memory_order_acquire);
}

static void put(_Atomic uint64_t *p, uint64_t value)
{
    atomic_store_explicit(p, value, memory_order_release);
}

/* The shadow of an allocation and a kind; NULL: no memory. */
static struct mark *marks_of(struct sim_check *c, struct sim_alloc *g,
                             enum kind kind)
{
    struct sim_races *r = atomic_load_explicit(&g->races, memory_order_acquire);
    struct mark *m =
        r ? atomic_load_explicit(&r->of[kind], memory_order_acquire) : NULL;
    if (m)
        return m;
    struct sim_launch_check *l = c->launch;
    pthread_mutex_lock(&l->lock);
    r = atomic_load(&g->races);
    if (!r) {
        r = lab_alloc(sizeof(*r));
        atomic_store(&g->races, r);
    }
    if (r) {
        m = atomic_load(&r->of[kind]);
        if (!m) {
            m = lab_alloc_array(g->bytes / l->granule + 1, sizeof(*m));
            atomic_store(&r->of[kind], m);
        }
    }
    l->no_memory |= !m;
    pthread_mutex_unlock(&l->lock);
    return m;
}

/* Of two blocks, the lower one is kept. */
static void note_second(struct mark *m, uint64_t key)
{
    uint64_t old = get(&m->second);
    while (old == 0 || key >> 32 < old >> 32)
        if (atomic_compare_exchange_weak(&m->second, &old, key))
            return;
}

static void note_first(struct mark *m, uint64_t key)
{
    uint64_t old = get(&m->first);
    while (old == 0 || key >> 32 < old >> 32)
        if (atomic_compare_exchange_weak(&m->first, &old, key)) {
            if (old)
                note_second(m, old);
            return;
        }
    if (old >> 32 != key >> 32)
        note_second(m, key);
}

struct global_access {
    struct sim_check *c;
    struct sim_warp *w;
    const struct sim_instr *i;
    struct sim_access *a;
    struct sim_alloc *g;
    struct sim_stamp me;
    enum kind kind;
    uint64_t block; /* + 1, in the upper half */
    struct mark *of[KINDS];
};

static void against(const struct global_access *s, int lane, size_t cell,
                    enum kind kind)
{
    const struct mark *m = &s->of[kind][cell];
    const uint64_t first = get(&m->first);
    if (first == 0)
        return;
    const uint64_t last = get(&m->last);
    const bool own = first >> 32 == s->block >> 32;
    const struct sim_stamp old = {(uint32_t)(last >> 32), (uint32_t)last};
    const bool alone = s->c->launch->ordered || get(&m->second) == 0;
    if (!s->c->launch->ordered && !(own && alone)) {
        atomic_store_explicit(&s->g->races->conflict, true,
                              memory_order_relaxed);
        return;
    }
    const uint64_t block = (first >> 32) - 1;
    if (own ? in_order(s->c, s->w, lane, old, s->me.who)
            : s->c->launch->apart ||
                  (s->c->learned && s->c->learned[block] >= old.when))
        return;
    const uint64_t addr = (uint64_t)(uintptr_t)s->g->base +
                          (uint64_t)cell * s->c->launch->granule;
    if (kind == WRITE && s->kind == WRITE && !s->a->async) {
        if (own && old.when == s->me.when)
            s->a->overlap = true;
        else
            must_be_same(s->c, s->a, lane, addr - s->a->addr[lane],
                         s->c->launch->granule, block, old.who);
        return;
    }
    const struct earlier e = {block, old.who, kind != READ};
    find_race(s->c, s->w, s->i, s->a, LAB_PTX_GLOBAL, addr, lane, &e);
}

/* What a kind of touch must be in order with. */
static const unsigned char conflicts[KINDS] = {
    [READ] = 1 << WRITE | 1 << ATOMIC,
    [WRITE] = 1 << READ | 1 << WRITE | 1 << ATOMIC,
    [ATOMIC] = 1 << READ | 1 << WRITE,
};

static void touch(struct global_access *s, int lane, size_t cell)
{
    struct mark *m = &s->of[s->kind][cell];
    const uint32_t who = s->me.who + (uint32_t)lane;
    const uint64_t last = (uint64_t)s->me.when << 32 | who;
    const uint64_t key = s->block | who;
    /* Another write of its block is looked at before it is replaced. */
    if (s->kind == WRITE)
        against(s, lane, cell, WRITE);
    if (s->c->launch->ordered) {
        put(&m->first, key);
        put(&m->last, last);
    } else {
        note_first(m, key);
        if (get(&m->first) >> 32 == s->block >> 32) {
            if (get(&m->second) == 0)
                put(&m->last, last);
        } else if (s->kind == WRITE) {
            atomic_store_explicit(&s->g->races->conflict, true,
                                  memory_order_relaxed);
        }
    }
    /* Looked for after this touch can be seen: of two that meet, one sees it. */
    for (enum kind k = READ; k < KINDS; k++) {
        if (!(conflicts[s->kind] >> k & 1) || k == s->kind)
            continue;
        if (!s->of[k])
            s->of[k] = atomic_load(&s->g->races->of[k]);
        if (s->of[k])
            against(s, lane, cell, k);
    }
}

void sim_race_global(struct sim_check *c, struct sim_warp *w,
                     const struct sim_instr *i, struct sim_access *a,
                     struct sim_alloc *g, uint32_t lanes)
{
    struct sim_launch_check *l = c->launch;
    const bool strong = a->synchronises || a->kind == SIM_ATOMIC;
    /* A copy reads when it is issued, and has written when it has arrived. */
    if (c->now >= NEVER - 2 || (a->async && a->issued != (a->kind == SIM_LOAD)))
        return;
    c->now++;
    if (strong)
        meet(c, w, a, lanes, LAB_PTX_GLOBAL);
    struct global_access s = {.c = c, .w = w, .i = i, .a = a, .g = g};
    struct sim_access plain = {.kind = a->kind, .synchronises = strong};
    s.me = stamp(c, w, i, &plain);
    s.kind = strong ? ATOMIC : a->kind == SIM_LOAD ? READ : WRITE;
    s.block = (c->block->number + 1) << 32;
    /* A strong load is looked at and not kept. */
    struct mark *own =
        strong && a->kind == SIM_LOAD ? NULL : marks_of(c, g, s.kind);
    struct sim_races *r = atomic_load(&g->races);
    for (enum kind k = READ; r && k < KINDS; k++)
        s.of[k] = atomic_load_explicit(&r->of[k], memory_order_acquire);
    const uint64_t base = (uint64_t)(uintptr_t)g->base;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const uint64_t from = a->addr[lane] - base;
        if ((from | (uint64_t)a->bytes) & (l->granule - 1))
            continue;
        const size_t cell = (size_t)(from / l->granule);
        const size_t cells = (size_t)a->bytes / l->granule;
        for (size_t k = cell; k < cell + cells; k++)
            if (own)
                touch(&s, lane, k);
            else if (strong && s.of[WRITE])
                against(&s, lane, k, WRITE);
    }
}

/* ---- begin and end ---- */

/* The narrowest access of a kernel to global memory: neighbours within a word
 * that are accessed one by one must be kept apart. */
static uint32_t narrowest(const struct lab_sim_kernel *k)
{
    static const char *const memory[] = {"ld",  "ldu", "st",   "atom",
                                         "red", "cp",  "wmma", NULL};
    uint32_t granule = 4;
    for (int32_t n = 0; n < k->instr_count && granule > 1; n++) {
        const struct lab_ptx_instr *in = k->instrs[n].ptx;
        bool touches = false;
        for (int m = 0; in && memory[m]; m++)
            touches |= strcmp(in->opcode, memory[m]) == 0;
        for (int m = 0; touches && m < in->modifier_count; m++) {
            int bytes = lab_ptx_type_bytes(lab_ptx_type_of(in->modifiers[m]));
            if (bytes > 0 && (uint32_t)bytes < granule)
                granule = (uint32_t)bytes;
        }
        /* A box of TMA has elements of any type. */
        if (touches && granule > 2 && sim_has_modifier(in, "bulk"))
            granule = 2;
    }
    return granule;
}

void sim_race_begin(struct sim_launch_check *l)
{
    l->granule = narrowest(l->grid->kernel);
    if (l->blocks >= UINT32_MAX)
        l->races = false; /* too many for the shadow, and to wait for */
}

bool sim_race_block_begin(struct sim_check *c)
{
    enum { WORD = 4 };
    if (c->granule == 0)
        c->granule = WORD;
    size_t cells = (size_t)c->block->shared_bytes / c->granule + 1;
    if (cells > c->shared_cells) {
        lab_free(c->shared);
        c->shared = lab_alloc_array(cells, sizeof(*c->shared));
        c->shared_cells = c->shared ? cells : 0;
        if (!c->shared)
            return false;
    }
    if (c->now >= NEVER / 2 || c->copies) {
        memset(c->shared, 0, c->shared_cells * sizeof(*c->shared));
        c->now = 0;
        c->copies = false; /* that may not have arrived */
    }
    /* 0 means never: the first access is number 1 or later. */
    c->start = c->now;
    for (int w = 0; w < SIM_WARPS; w++) {
        c->fence_when[w] = c->start;
        for (int k = 0; k < SIM_WARPS; k++)
            c->known[w].known[k] = c->start;
    }
    if (c->pairs)
        memset(c->pairs, 0, SIM_WARPS * sizeof(*c->pairs));
    return true;
}

void sim_race_block_end(struct sim_check *c)
{
    flags_release(&c->flags);
    lab_free(c->learned);
    c->learned = NULL;
}

void sim_race_release(struct sim_check *c)
{
    sim_race_block_end(c);
    lab_free(c->shared);
    lab_free(c->pairs);
}

/* The touch of another block than `block`; 0: none. */
static uint64_t of_other(const struct mark *m, uint64_t block)
{
    uint64_t first = get(&m->first);
    return first >> 32 != block >> 32 ? first : get(&m->second);
}

/* Two blocks that touched a granule, with kinds that conflict. */
static bool pair_of(const struct mark *const of[KINDS], size_t cell,
                    uint64_t key[2], enum kind kind[2])
{
    static const enum kind order[][2] = {
        {WRITE, WRITE}, {WRITE, READ}, {WRITE, ATOMIC}, {ATOMIC, READ}};
    for (size_t n = 0; n < sizeof(order) / sizeof(order[0]); n++) {
        kind[0] = order[n][0];
        kind[1] = order[n][1];
        if (!of[kind[0]] || !of[kind[1]])
            continue;
        const struct mark *a = &of[kind[0]][cell];
        const uint64_t of_a[2] = {get(&a->first), get(&a->second)};
        for (int k = 0; k < 2 && of_a[k]; k++) {
            key[0] = of_a[k];
            key[1] = of_other(&of[kind[1]][cell], key[0]);
            if (key[1])
                return true;
        }
    }
    return false;
}

static void find_between(struct sim_launch_check *l, const struct sim_alloc *g,
                         size_t cell, const uint64_t key[2],
                         const enum kind kind[2])
{
    /* The finding is the later block's. */
    const int at = key[1] > key[0];
    const uint64_t block = (key[at] >> 32) - 1;
    const uint32_t thread = (uint32_t)key[at] & THREAD_MASK;
    const struct earlier e = {(key[!at] >> 32) - 1, (uint32_t)key[!at],
                              kind[!at] != READ};
    char words[SIM_WORDS];
    struct lab_sim_finding f = {.check = LAB_SIM_RACE,
                                .has_other = true,
                                .bytes = (int)l->granule,
                                .write = kind[at] != READ};
    sim_describe(l->grid, NULL, LAB_PTX_GLOBAL,
                 (uint64_t)(uintptr_t)g->base + cell * l->granule, &f, words);
    sim_where(l->grid, block, thread, place_of((uint32_t)key[at]), &f.at);
    sim_where(l->grid, e.block, e.who & THREAD_MASK, place_of(e.who), &f.other);
    race_words(l->all, &f, &e, words);
    sim_found(l->all, &f, block, thread);
}

static void find_all_between(struct sim_launch_check *l,
                             const struct sim_alloc *g, struct sim_races *r)
{
    const struct mark *of[KINDS];
    for (enum kind k = READ; k < KINDS; k++)
        of[k] = atomic_load(&r->of[k]);
    for (size_t cell = 0; cell < g->bytes / l->granule; cell++) {
        uint64_t key[2];
        enum kind kind[2];
        if (pair_of(of, cell, key, kind))
            find_between(l, g, cell, key, kind);
    }
}

void sim_race_end(struct sim_launch_check *l)
{
    const struct lab_sim_memory *m = l->grid->memory;
    flags_release(&l->flags);
    for (size_t n = 0; n < m->count; n++) {
        struct sim_alloc *g = m->allocs[n];
        struct sim_races *r = atomic_load(&g->races);
        if (!r)
            continue;
        if (atomic_load(&r->conflict) && l->all && !l->no_memory)
            find_all_between(l, g, r);
        for (enum kind k = READ; k < KINDS; k++)
            lab_free(atomic_load(&r->of[k]));
        lab_free(r);
        atomic_store(&g->races, NULL);
    }
}
