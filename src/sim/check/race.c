/* race.c -- which access happened before which; races, and reads of shared memory
 * that nothing wrote.
 *
 * The rule is that of the PTX memory model, kept per warp. Accesses of a block are
 * numbered as they happen. Each warp has a clock: up to which number it knows the
 * accesses of each other warp, through barriers, mbarriers, and fences with
 * atomics. Two accesses to one byte, at least one a write, are a race if neither
 * is known to the other's warp. Two that are both volatile, atomic or relaxed are
 * none, but for two volatile ones to shared memory by lanes of one warp: volatile was
 * enough for lanes that run in step, and they no longer do.
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
 * read belongs to no thread until it arrives: any other access to it is a fault.
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
#include "check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- stamps ---- */

/* Who touched a word and when; when 0: no access. `who` is the thread in the block
 * (10 bits), the four flags and, from bit 14, the place + 1. */
struct sim_stamp {
    uint32_t when;
    uint32_t who;
};

enum {
    THREAD_MASK = 1023,
    STRONG = 1 << 10,   /* volatile, atomic, relaxed */
    PENDING = 1 << 11,  /* a copy that has not arrived; `when` is NEVER */
    COPIED = 1 << 12,   /* a write by a copy beside the threads */
    VOLATILE = 1 << 13, /* STRONG by that alone, and shared memory */
    PLACE_SHIFT = 14,
    PLACE_MOST = 1 << 18
};
static const uint32_t NEVER = UINT32_MAX;

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

/* Of lanes that access memory now; `strong` or not. */
static struct sim_stamp stamp_of(const struct sim_check *c,
                                 const struct sim_warp *w,
                                 const struct sim_instr *i, bool strong)
{
    struct sim_stamp s = {c->now, (uint32_t)w->index * SIM_LANES};
    int32_t place = i->ptx ? i->ptx->near : -1;
    if (place >= 0 && place < PLACE_MOST - 1)
        s.who |= (uint32_t)(place + 1) << PLACE_SHIFT;
    s.who |= strong ? STRONG : 0;
    return s;
}

/* What all lanes of an access share. */
static struct sim_stamp stamp(const struct sim_check *c,
                              const struct sim_warp *w,
                              const struct sim_instr *i,
                              const struct sim_access *a)
{
    struct sim_stamp s = stamp_of(c, w, i, false);
    if (a->synchronises || a->kind == SIM_ATOMIC)
        s.who |= a->is_volatile ? STRONG | VOLATILE : STRONG;
    if (a->async)
        s.who |= COPIED;
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
    const bool same_warp = warp_of(old) == (uint32_t)w->index;
    if (old.when <= c->known[w->index].known[warp_of(old)] ||
        (old.who & me & STRONG && !(same_warp && old.who & me & VOLATILE)))
        return true;
    if (!same_warp)
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

struct sim_race {
    enum lab_ptx_space space;
    uint64_t addr;
    uint64_t block;
    uint32_t thread;
    int32_t place;
    int bytes;
    bool write;
    struct earlier e;
    bool late;     /* of struct sim_found: known while the block is there */
    int64_t array; /* of struct sim_found */
    int64_t times;
};

static void race_words(const struct sim_check *c, struct lab_sim_finding *f,
                       const struct earlier *e, const char *words)
{
    char *out = f->message;
    const size_t room = sizeof(f->message);
    const uint32_t *block = f->other.block;
    size_t n = sim_append(
        out, room, 0, "%s of %s races with the %s%s of thread (%u,%u,%u)",
        f->write ? "write" : "read", words, e->write ? "write" : "read",
        e->who & PENDING ? " that is under way" : "", f->other.thread[0],
        f->other.thread[1], f->other.thread[2]);
    if (memcmp(block, f->at.block, sizeof(f->at.block)) != 0)
        n = sim_append(out, room, n, " of block (%u,%u,%u)", block[0], block[1],
                       block[2]);
    n = append_place(c, f->other.place, out, room, n);
    sim_append(out, room, n, ": nothing puts one of them first");
}

static struct lab_sim_finding race_finding(const struct sim_check *c,
                                           const struct sim_race *r)
{
    char words[SIM_WORDS];
    const struct sim_grid *g = c->launch->grid;
    struct lab_sim_finding f = {.check = LAB_SIM_RACE,
                                .has_other = true,
                                .bytes = r->bytes,
                                .write = r->write,
                                .times = r->times};
    sim_describe(g, c, r->space, r->addr, &f, words);
    sim_where(g, r->block, r->thread, r->place, &f.at);
    sim_where(g, r->e.block, r->e.who & THREAD_MASK, place_of(r->e.who),
              &f.other);
    race_words(c, &f, &r->e, words);
    return f;
}

static void race_found(struct sim_check *c, const struct lab_sim_finding *f,
                       const struct sim_race *r)
{
    sim_found(c, &(struct sim_found){.f = *f,
                                     .block = r->block,
                                     .thread = r->thread,
                                     .late = r->late,
                                     .array = r->array});
}

static size_t race_hash(const struct sim_race *r)
{
    uint64_t h = r->addr ^ r->block << 40 ^ (uint64_t)r->thread << 20 ^
                 (uint64_t)(uint32_t)r->place << 30 ^ r->e.who;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
    return (size_t)(h ^ h >> 32);
}

static bool same_race(const struct sim_race *a, const struct sim_race *b)
{
    return a->addr == b->addr && a->block == b->block &&
           a->thread == b->thread && a->place == b->place &&
           a->write == b->write && a->e.block == b->e.block &&
           a->e.who == b->e.who && a->e.write == b->e.write;
}

/* The slot of a race in the table, or where it would be. */
static uint32_t *later_slot(const struct sim_check *c, const struct sim_race *r)
{
    size_t k = race_hash(r) & (c->later_slots - 1);
    while (c->later_at[k] && !same_race(&c->later[c->later_at[k] - 1], r))
        k = (k + 1) & (c->later_slots - 1);
    return &c->later_at[k];
}

/* Keeps a race for the end, once, however often it comes. false: no memory. */
static bool keep_later(struct sim_check *c, const struct sim_race *r)
{
    enum { FIRST = 64 };
    if (2 * (c->later_count + 1) > c->later_slots) {
        const size_t slots = c->later_slots ? 2 * c->later_slots : FIRST;
        uint32_t *at = lab_alloc_array(slots, sizeof(*at));
        if (!at)
            return false;
        lab_free(c->later_at);
        c->later_at = at;
        c->later_slots = slots;
        for (size_t k = 0; k < c->later_count; k++)
            *later_slot(c, &c->later[k]) = (uint32_t)k + 1;
    }
    uint32_t *slot = later_slot(c, r);
    if (*slot) {
        c->later[*slot - 1].times++;
        return true;
    }
    if (c->later_count >= UINT32_MAX - 1 ||
        lab_grow(&c->later, c->later_count, &c->later_room, sizeof(*r),
                 "races"))
        return false;
    c->later[c->later_count++] = *r;
    *slot = (uint32_t)c->later_count;
    return true;
}

static void find_race(struct sim_check *c, struct sim_warp *w,
                      const struct sim_instr *i, const struct sim_access *a,
                      enum lab_ptx_space space, uint64_t addr, int lane,
                      const struct earlier *e)
{
    const struct sim_race r = {
        .space = space,
        .addr = addr,
        .block = w->block->number,
        .thread = (uint32_t)(w->index * SIM_LANES + lane),
        .place = i->ptx ? i->ptx->near : -1,
        .bytes = a->bytes,
        .write = a->kind != SIM_LOAD,
        .e = *e,
        .late = e->block == w->block->number
                    ? sim_is_ended(w->block, e->who & THREAD_MASK)
                    : c->launch->ordered &&
                          sim_is_cut(c->launch, w->block, e->block),
        .array = space == LAB_PTX_SHARED
                     ? sim_array_at(w->block->grid->kernel, i, addr)
                     : -1,
        .times = 1};
    const struct sim_watch *watch = c->launch->grid->watch;
    const bool now = space != LAB_PTX_GLOBAL || c->launch->ordered;
    if (!c->launch->races ||
        (now && sim_repeats(w, i, lane, LAB_SIM_RACE, space, addr)))
        return;
    if (now || (watch && watch->finding)) {
        const struct lab_sim_finding f = race_finding(c, &r);
        sim_tell(c->launch->grid, &f);
        if (now)
            race_found(c, &f, &r);
    }
    /* If another block touches this word as well, whether this race is seen
     * depends on which comes first. At the end it is known if one did. */
    if (!now && !keep_later(c, &r))
        sim_check_no_memory(c->launch);
}

/* An earlier store that is not in order with this one: no race if both store the
 * same, which sim_same() finds out. */
static void must_be_same(struct sim_check *c, struct sim_access *a, int lane,
                         const unsigned char *old, size_t byte, size_t bytes,
                         uint64_t block, uint32_t who)
{
    a->overlap = true;
    if (byte + bytes > sizeof(c->same_old[lane]))
        return;
    memcpy(c->same_old[lane] + byte, old, bytes);
    c->same_end[lane] = (int)(byte + bytes);
    if (c->same >> lane & 1)
        return;
    c->same |= 1u << lane;
    c->same_who[lane] = who;
    c->same_block[lane] = block;
    c->same_byte[lane] = (int)byte;
}

static void add_values(struct sim_check *c, const struct sim_access *a,
                       const unsigned char *const data[SIM_LANES]);

void sim_same(struct sim_warp *w, const struct sim_instr *i,
              const struct sim_access *a,
              const unsigned char *const data[SIM_LANES])
{
    struct sim_check *c = sim_check_of(w);
    add_values(c, a, data);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const int first = c->same_byte[lane];
        struct earlier e = {w->block->number, 0, true};
        int byte = -1;
        if (c->same >> lane & 1 &&
            memcmp(c->same_old[lane] + first, data[lane] + first,
                   (size_t)(c->same_end[lane] - first)) != 0) {
            byte = first;
            e.block = c->same_block[lane];
            e.who = c->same_who[lane];
        }
        /* Lanes before it in this store. */
        for (uint32_t r = c->meet ? a->mask & ((1u << lane) - 1) : 0;
             r && byte < 0; r &= r - 1) {
            const int other = __builtin_ctz(r);
            const int64_t off = (int64_t)(a->addr[lane] - a->addr[other]);
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
    for (int k = 0; k < SIM_WARPS; k++)
        to->proxied[k] = to->proxied[k] > from->proxied[k] ? to->proxied[k]
                                                           : from->proxied[k];
}

void sim_release(struct sim_warp *w, struct sim_clock *object)
{
    const struct sim_check *c = sim_check_of(w);
    join(object, &c->known[w->index]);
    object->known[w->index] = c->now;
}

static uint32_t floor_of(const struct sim_check *c, const struct sim_clock *k)
{
    uint32_t least = k->known[0];
    for (int w = 1; w < c->block->warp_count; w++)
        least = k->known[w] < least ? k->known[w] : least;
    return least;
}

void sim_acquire(struct sim_warp *w, const struct sim_clock *object)
{
    struct sim_check *c = sim_check_of(w);
    join(&c->known[w->index], object);
    c->floor[w->index] = floor_of(c, &c->known[w->index]);
}

void sim_block_synchronised(struct sim_block *b, uint32_t warps)
{
    struct sim_check *c = b->check;
    if (!c->launch->shadow)
        return;
    struct sim_clock all = {{0}, {0}};
    struct sim_clock fenced = {{0}, {0}};
    uint32_t fence = c->start;
    uint32_t wide = c->start;
    for (uint32_t rest = warps; rest; rest &= rest - 1) {
        int k = __builtin_ctz(rest);
        join(&all, &c->known[k]);
        all.known[k] = c->now;
        if (c->fence_when[k] <= c->start)
            continue;
        join(&fenced, &c->fenced[k]);
        fence = c->fence_when[k] > fence ? c->fence_when[k] : fence;
        wide = c->wide_when[k] > wide ? c->wide_when[k] : wide;
    }
    const uint32_t floor = floor_of(c, &all);
    for (uint32_t rest = warps; rest; rest &= rest - 1) {
        int k = __builtin_ctz(rest);
        c->known[k] = all;
        c->floor[k] = floor;
        if (fence > c->start) {
            c->fenced[k] = fenced;
            c->fence_when[k] = fence;
            c->wide_when[k] = wide;
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

void sim_fence(struct sim_warp *w, uint32_t lanes, bool narrow)
{
    struct sim_check *c = sim_check_of(w);
    (void)lanes; /* of a warp that fences in part, all count as fenced */
    c->fenced[w->index] = c->known[w->index];
    c->fenced[w->index].known[w->index] = c->now;
    c->fence_when[w->index] = c->now;
    if (!narrow)
        c->wide_when[w->index] = c->now;
}

void sim_fence_proxy(struct sim_warp *w)
{
    struct sim_check *c = sim_check_of(w);
    struct sim_clock *mine = &c->known[w->index];
    memcpy(mine->proxied, mine->known, sizeof(mine->proxied));
    mine->proxied[w->index] = c->now;
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
    const bool fenced = c->wide_when[w->index] > c->start;
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
            f->blocks[mine] = c->wide_when[w->index];
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
    const bool outside =
        space == LAB_PTX_GLOBAL && c->launch->ordered && !a->narrow;
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

/* Which granule a byte is in: 1, 2 or 4 bytes each, and no division. */
static inline size_t granule_at(uint64_t offset, uint32_t granule)
{
    return (size_t)(offset >> __builtin_ctz(granule));
}

/* ---- shared memory ---- */

/* Of a granule, in arrays side by side so that a row of them is one loop. */
enum field {
    WRITE_WHEN,
    WRITE_WHO,
    READ_WHEN,
    READ_WHO,
    READ_LANES,  /* of the warp of the read */
    BEFORE_WHEN, /* a read before it, of another warp */
    BEFORE_WHO,
    FIELDS
};

static uint32_t *field(const struct sim_check *c, enum field f)
{
    return c->shared + (size_t)f * c->shared_cells;
}

static struct sim_stamp stamp_in(const struct sim_check *c, enum field when,
                                 size_t cell)
{
    return (struct sim_stamp){field(c, when)[cell], field(c, when + 1)[cell]};
}

static void put_stamp(struct sim_check *c, enum field when, size_t cell,
                      uint32_t at, uint32_t who)
{
    field(c, when)[cell] = at;
    field(c, when + 1)[cell] = who;
}

/* A write at `start`, which is no access: by the instruction that stored it. */
void sim_shared_unset(struct sim_warp *w, const struct sim_instr *i,
                      uint64_t addr, int bytes)
{
    struct sim_check *c = sim_check_of(w);
    if (!c->shared_cells || c->granule == 0)
        return;
    const size_t last = granule_at(addr + (uint64_t)bytes - 1, c->granule);
    for (size_t k = granule_at(addr, c->granule);
         k <= last && k < c->shared_cells; k++)
        put_stamp(c, WRITE_WHEN, k, c->start, (uint32_t)sim_index(w, i));
}

/* Cells of half the size: what was true of a word is true of its halves. */
static bool split_cells(struct sim_check *c)
{
    const size_t n = c->shared_cells;
    uint32_t *more = lab_alloc_array(2 * n * FIELDS, sizeof(*more));
    if (!more)
        return false;
    for (size_t k = 0; k < 2 * n * FIELDS; k++)
        more[k] = c->shared[k / 2];
    lab_free(c->shared);
    c->shared = more;
    c->shared_cells = 2 * n;
    c->granule /= 2;
    return true;
}

struct shared_access {
    struct sim_check *c;
    struct sim_warp *w;
    const struct sim_instr *i;
    struct sim_access *a;
    struct sim_stamp me;
    uint32_t start; /* of the block */
    uint32_t floor; /* up to here the warp knows every access */
    bool arrives;   /* a copy that was issued */
};

static void find_shared(const struct shared_access *s, int lane, size_t cell,
                        struct sim_stamp old, bool write)
{
    const struct earlier e = {s->w->block->number, old.who, write};
    find_race(s->c, s->w, s->i, s->a, LAB_PTX_SHARED,
              (uint64_t)cell * s->c->granule, lane, &e);
}

static void find_unwritten(const struct shared_access *s, int lane, size_t cell,
                           const char *what, const char *hint)
{
    sim_find_unset(s->w, s->i, LAB_PTX_SHARED, lane,
                   (uint64_t)cell * s->c->granule, s->a->bytes, what, hint);
}

static void find_never_written(const struct shared_access *s, int lane,
                               size_t cell, struct sim_stamp old)
{
    const struct lab_sim_kernel *k = s->w->block->grid->kernel;
    const int32_t place =
        old.when < s->start
            ? -1
            : lab_ptx_user_place(k->ptx, k->instrs[old.who].ptx->near);
    char what[80] = "what nothing wrote";
    if (place >= 0 && k->ptx->places[place].line > 0)
        snprintf(what, sizeof(what),
                 "a variable that nothing wrote, which line %d stored",
                 (int)k->ptx->places[place].line);
    find_unwritten(s, lane, cell, what, NULL);
}

static bool is_set_shared(const void *arg, size_t at)
{
    const struct shared_access *s = arg;
    return field(s->c, WRITE_WHEN)[granule_at(at, s->c->granule)] > s->start;
}

/* Looks at the write before an access of a lane. */
static void after_write(const struct shared_access *s, int lane, size_t cell)
{
    const struct sim_stamp old = stamp_in(s->c, WRITE_WHEN, cell);
    const bool pending = old.when == NEVER;
    if (old.when <= s->start) {
        if (s->a->kind != SIM_STORE &&
            !sim_is_padding(s->i, is_set_shared, s, (size_t)s->a->addr[lane]))
            find_never_written(s, lane, cell, old);
        return;
    }
    if (in_order(s->c, s->w, lane, old, s->me.who) ||
        (pending && s->arrives &&
         thread_of(old) == thread_of(s->me) + (uint32_t)lane))
        return;
    if (pending && s->a->kind == SIM_LOAD && !s->a->async)
        find_unwritten(s, lane, cell,
                       "what an asynchronous copy has yet to write",
                       "the copy has not been waited for: "
                       "__pipeline_wait_prior() or cp.async.wait_group, or "
                       "the mbarrier of a TMA, before the barrier");
    else if (pending || s->a->kind != SIM_STORE || s->a->async)
        find_shared(s, lane, cell, old, true);
    else if (old.when == s->me.when)
        s->a->overlap = s->c->meet = true; /* a lane of this instruction */
    else
        must_be_same(s->c, s->a, lane,
                     s->w->block->shared + cell * s->c->granule,
                     cell * s->c->granule - (size_t)s->a->addr[lane],
                     s->c->granule, s->w->block->number, old.who);
}

/* Looks at a read before a write, by these lanes of a warp. */
static void after_read(const struct shared_access *s, int lane, size_t cell,
                       struct sim_stamp old, uint32_t lanes)
{
    /* What arrives was looked at when it was issued, and who read it since was
     * found then. */
    if (s->arrives)
        return;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        old.who = (old.who & ~(uint32_t)(SIM_LANES - 1)) |
                  (uint32_t)__builtin_ctz(rest);
        if (in_order(s->c, s->w, lane, old, s->me.who))
            continue;
        find_shared(s, lane, cell, old, false);
        return;
    }
}

/* A copy's read that was issued has happened: from now on it is an access of the
 * thread. false: the cell's read is of another copy, which is still under way. */
static bool read_arrives(const struct shared_access *s, int lane, size_t cell)
{
    struct sim_check *c = s->c;
    const uint32_t me = s->me.who + (uint32_t)lane;
    const struct sim_stamp read = stamp_in(c, READ_WHEN, cell);
    const struct sim_stamp before = stamp_in(c, BEFORE_WHEN, cell);
    bool free = before.when != NEVER;
    if (!free && thread_of(before) == (me & THREAD_MASK)) {
        put_stamp(c, BEFORE_WHEN, cell, 0, 0);
        free = true;
    }
    if (read.when == NEVER && thread_of(read) == (me & THREAD_MASK))
        put_stamp(c, READ_WHEN, cell, 0, 0);
    else if (read.when == NEVER && free)
        put_stamp(c, BEFORE_WHEN, cell, s->me.when, me);
    return field(c, READ_WHEN)[cell] != NEVER;
}

/* A thread's own store is made in another proxy than TMA and wgmma read in. It must
 * have happened before, and then been fenced. */
static void behind_proxy(const struct shared_access *s, int lane, size_t cell)
{
    char words[SIM_WORDS];
    char at[SIM_WORDS] = "";
    struct sim_check *c = s->c;
    const struct sim_stamp old = stamp_in(c, WRITE_WHEN, cell);
    const struct sim_clock *mine = &c->known[s->w->index];
    if (old.when <= s->start || old.who & (COPIED | PENDING) ||
        old.when <= mine->proxied[warp_of(old)] ||
        !in_order(c, s->w, lane, old, s->me.who) || !c->launch->races ||
        sim_repeats(s->w, s->i, lane, LAB_SIM_RACE, LAB_PTX_SHARED,
                    (uint64_t)cell * c->granule))
        return;
    struct lab_sim_finding f = {
        .has_other = true,
        .bytes = s->a->bytes,
        .hint = "fence.proxy.async behind the store, before the barrier"};
    sim_describe(c->launch->grid, c, LAB_PTX_SHARED,
                 (uint64_t)cell * c->granule, &f, words);
    sim_where(c->launch->grid, s->w->block->number, thread_of(old),
              place_of(old.who), &f.other);
    append_place(c, f.other.place, at, sizeof(at), 0);
    sim_find(s->w, s->i, 1u << lane, LAB_SIM_RACE, &f,
             "%s reads %s, which thread (%u,%u,%u) wrote%s: fence.proxy.async "
             "is missing between the two",
             s->i->ptx ? s->i->ptx->opcode : "a copy", words, f.other.thread[0],
             f.other.thread[1], f.other.thread[2], at);
}

/* A load by lanes that read the same. */
static void load_cell(const struct shared_access *s, uint32_t lanes,
                      size_t cell)
{
    struct sim_check *c = s->c;
    const int lane = __builtin_ctz(lanes);
    if (field(c, WRITE_WHEN)[cell] - s->start - 1 >= s->floor - s->start)
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            after_write(s, __builtin_ctz(rest), cell);
    if (s->a->proxy && s->a->issued)
        behind_proxy(s, lane, cell);
    if (s->arrives && !read_arrives(s, lane, cell))
        return;
    const struct sim_stamp old = stamp_in(c, READ_WHEN, cell);
    const bool own =
        ((old.who ^ s->me.who) & (THREAD_MASK | PENDING)) < SIM_LANES;
    if (own && old.when > c->known[s->w->index].known[s->w->index])
        lanes |= field(c, READ_LANES)[cell];
    else if (!own && old.when > s->floor)
        put_stamp(c, BEFORE_WHEN, cell, old.when, old.who);
    put_stamp(c, READ_WHEN, cell, s->me.when, s->me.who + (uint32_t)lane);
    field(c, READ_LANES)[cell] = lanes;
}

/* A store or an atomic. */
static void store_cell(const struct shared_access *s, int lane, size_t cell)
{
    struct sim_check *c = s->c;
    const struct sim_stamp read = stamp_in(c, READ_WHEN, cell);
    const struct sim_stamp before = stamp_in(c, BEFORE_WHEN, cell);
    if (field(c, WRITE_WHEN)[cell] - s->start - 1 >= s->floor - s->start)
        after_write(s, lane, cell);
    if (read.when > s->floor)
        after_read(s, lane, cell, read, field(c, READ_LANES)[cell]);
    if (before.when > s->floor)
        after_read(s, lane, cell, before, 1u << before.who % SIM_LANES);
    put_stamp(c, WRITE_WHEN, cell, s->me.when, s->me.who + (uint32_t)lane);
    field(c, READ_WHEN)[cell] = 0;
    field(c, BEFORE_WHEN)[cell] = 0;
}

/* ---- rows of shared memory, in one loop ---- */

static inline uint32_t other_thread(uint32_t who, uint32_t me)
{
    return (who ^ me) & (THREAD_MASK | PENDING);
}

/* Loads n cells, 1 << shift a lane. false: some must be looked at one by one. */
SIM_CLONES static bool load_row(const struct shared_access *s, size_t cell,
                                uint32_t n, int shift)
{
    const struct sim_check *c = s->c;
    const uint32_t *restrict wrote = field(c, WRITE_WHEN) + cell;
    const uint32_t *restrict writer = field(c, WRITE_WHO) + cell;
    uint32_t *restrict when = field(c, READ_WHEN) + cell;
    uint32_t *restrict who = field(c, READ_WHO) + cell;
    uint32_t *restrict lanes = field(c, READ_LANES) + cell;
    uint32_t *restrict before_when = field(c, BEFORE_WHEN) + cell;
    uint32_t *restrict before_who = field(c, BEFORE_WHO) + cell;
    const uint32_t start = s->start;
    const uint32_t span = s->floor - start;
    const uint32_t floor = s->floor;
    const uint32_t met = c->known[s->w->index].known[s->w->index];
    const struct sim_stamp me = s->me;
    uint32_t bad = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t other = other_thread(writer[k], me.who + (k >> shift));
        bad |= (wrote[k] - start - 1 >= span) &
               ((other != 0) | (wrote[k] <= start));
    }
    if (bad)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t old_when = when[k];
        const uint32_t old_who = who[k];
        const bool own = other_thread(old_who, me.who) < SIM_LANES;
        const bool push = !own & (old_when > floor);
        const uint32_t kept = (own & (old_when > met)) ? lanes[k] : 0;
        before_when[k] = push ? old_when : before_when[k];
        before_who[k] = push ? old_who : before_who[k];
        when[k] = me.when;
        who[k] = me.who + (k >> shift);
        lanes[k] = kept | 1u << (k >> shift);
    }
    return true;
}

SIM_CLONES static bool store_row(const struct shared_access *s, size_t cell,
                                 uint32_t n, int shift)
{
    const struct sim_check *c = s->c;
    uint32_t *restrict wrote = field(c, WRITE_WHEN) + cell;
    uint32_t *restrict writer = field(c, WRITE_WHO) + cell;
    uint32_t *restrict when = field(c, READ_WHEN) + cell;
    const uint32_t *restrict who = field(c, READ_WHO) + cell;
    const uint32_t *restrict lanes = field(c, READ_LANES) + cell;
    uint32_t *restrict before_when = field(c, BEFORE_WHEN) + cell;
    const uint32_t floor = s->floor;
    const struct sim_stamp me = s->me;
    uint32_t bad = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t mine = me.who + (k >> shift);
        const uint32_t read =
            other_thread(who[k], mine) | (lanes[k] ^ 1u << (k >> shift));
        bad |= wrote[k] > floor ? other_thread(writer[k], mine) : 0;
        bad |= when[k] > floor ? read : 0;
        bad |= before_when[k] > floor;
    }
    if (bad)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        wrote[k] = me.when;
        writer[k] = me.who + (k >> shift);
        when[k] = 0;
        before_when[k] = 0;
    }
    return true;
}

/* false: no more accesses can be numbered, or no memory. */
static bool shared_ready(struct sim_check *c, const struct sim_access *a,
                         uint32_t lanes)
{
    uint64_t bits = (uint64_t)a->bytes;
    if (c->granule > 1 && (bits & 3 || a->align < 4))
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
    const struct shared_access s = {c,
                                    w,
                                    i,
                                    a,
                                    stamp(c, w, i, a),
                                    c->start,
                                    c->floor[w->index],
                                    a->async && !a->issued};
    if (s.me.who & STRONG && !a->async)
        meet(c, w, a, lanes, LAB_PTX_SHARED);
    const uint32_t cells = (uint32_t)granule_at((uint64_t)a->bytes, c->granule);
    if (c->pattern == SIM_ROW && !a->async && a->kind != SIM_ATOMIC) {
        const size_t cell = granule_at(a->addr[0], c->granule);
        const uint32_t n = cells * (uint32_t)sim_count_lanes(lanes);
        const int shift = __builtin_ctz(cells);
        if (a->kind == SIM_LOAD ? load_row(&s, cell, n, shift)
                                : store_row(&s, cell, n, shift))
            return;
    }
    for (uint32_t rest = lanes; rest;) {
        const int lane = __builtin_ctz(rest);
        const size_t cell = granule_at(a->addr[lane], c->granule);
        uint32_t group = 1u << lane;
        rest &= rest - 1;
        /* Lanes that follow and read the same. */
        while (a->kind == SIM_LOAD && rest &&
               a->addr[__builtin_ctz(rest)] == a->addr[lane]) {
            group |= rest & (~rest + 1);
            rest &= rest - 1;
        }
        for (size_t k = cell; k < cell + cells; k++)
            if (a->kind == SIM_LOAD)
                load_cell(&s, group, k);
            else
                store_cell(&s, lane, k);
    }
}

/* ---- global memory ---- */

/* Kinds of touch that a shadow keeps apart, and which are a race. */
enum kind { READ, WRITE, ATOMIC, KINDS };
static const unsigned char conflicts[KINDS] = {
    [READ] = 1 << WRITE | 1 << ATOMIC,
    [WRITE] = 1 << READ | 1 << WRITE | 1 << ATOMIC,
    [ATOMIC] = 1 << READ | 1 << WRITE,
};

/* The first touch of the first two blocks, as a key: the block, counted over all
 * launches from 1, and who. A block of an earlier launch means none, so nothing
 * is cleared. And of the last touch of `first`'s block, when and who, as long as
 * there is no second. Where blocks run one after the other, `first` is the last
 * touch of any, and there is no second. */
struct mark {
    _Atomic uint64_t first;
    _Atomic uint64_t second;
    _Atomic uint64_t last;
};

/* A warp that touches a whole line of 128 bytes, lane after lane, leaves one mark
 * for it: `who` is the thread of its first word, and the two flags are 0, 1 or 2
 * for 4, 8 or 16 bytes a thread. Other touches leave one a granule. */
enum { LINE = 128, WIDTH_SHIFT = 10 };

/* What was stored in a granule, by a launch (its base + 1, in the upper half):
 * blocks that all store the same value are no race. Kept of stores that are not
 * whole lines, as those of flags are. */
struct value {
    _Atomic uint64_t value;
    _Atomic uint64_t differs; /* the launch that stored two values */
};

struct sim_races {
    uint32_t granule;
    struct value *_Atomic values;
    struct mark *_Atomic cells[KINDS];
    struct mark *_Atomic lines[KINDS];
    _Atomic uint64_t cells_in[KINDS]; /* the launch that last touched cells */
    atomic_bool conflict;             /* two blocks met somewhere */
};

static void races_free(struct sim_races *r)
{
    if (r)
        lab_free(atomic_load(&r->values));
    for (enum kind k = READ; r && k < KINDS; k++) {
        lab_free(atomic_load(&r->cells[k]));
        lab_free(atomic_load(&r->lines[k]));
    }
    lab_free(r);
}

static uint64_t get(const _Atomic uint64_t *p)
{
    return atomic_load_explicit(p, memory_order_acquire);
}

static void put(_Atomic uint64_t *p, uint64_t value)
{
    atomic_store_explicit(p, value, memory_order_release);
}

static uint64_t block_of(uint64_t key)
{
    return key >> 32;
}

struct global_access {
    struct sim_check *c;
    struct sim_launch_check *l;
    struct sim_warp *w;
    const struct sim_instr *i;
    struct sim_access *a;
    struct sim_alloc *g;
    struct sim_races *r;
    struct sim_stamp me;
    enum kind kind;
    uint64_t block; /* counted over all launches */
};

static struct sim_races *races_of(struct sim_launch_check *l,
                                  struct sim_alloc *g)
{
    struct sim_races *r = atomic_load_explicit(&g->races, memory_order_acquire);
    if (r)
        return r;
    pthread_mutex_lock(&l->lock);
    r = atomic_load(&g->races);
    if (!r) {
        r = lab_alloc(sizeof(*r));
        if (r)
            r->granule = l->granule;
        g->races_free = races_free;
        l->no_memory |= !r;
        atomic_store(&g->races, r);
    }
    pthread_mutex_unlock(&l->lock);
    return r;
}

/* An array of `each` bytes an element, made when it is first needed; NULL: no
 * memory. */
static void *made(struct sim_launch_check *l, size_t count, size_t each)
{
    void *p = lab_alloc_array(count, each);
    l->no_memory |= !p;
    return p;
}

/* The marks of a kind, a mark each `bytes`. */
static struct mark *marks_of(const struct global_access *s,
                             struct mark *_Atomic *marks, size_t bytes)
{
    struct mark *m = atomic_load_explicit(marks, memory_order_acquire);
    if (m)
        return m;
    pthread_mutex_lock(&s->l->lock);
    m = atomic_load(marks);
    if (!m) {
        m = made(s->l, s->g->bytes / bytes + 1, sizeof(*m));
        atomic_store(marks, m);
    }
    pthread_mutex_unlock(&s->l->lock);
    return m;
}

static struct value *values_of(struct sim_launch_check *l,
                               const struct sim_alloc *g)
{
    struct sim_races *r = atomic_load(&g->races);
    struct value *v = atomic_load_explicit(&r->values, memory_order_acquire);
    if (v)
        return v;
    pthread_mutex_lock(&l->lock);
    v = atomic_load(&r->values);
    if (!v) {
        v = made(l, g->bytes / r->granule + 1, sizeof(*v));
        atomic_store(&r->values, v);
    }
    pthread_mutex_unlock(&l->lock);
    return v;
}

/* Adds a value to those of a launch: the outcome is the same in any order. */
static void add_value(struct value *v, uint64_t launch, uint32_t value)
{
    const uint64_t mine = launch << 32 | value;
    uint64_t old = get(&v->value);
    while (old >> 32 != launch)
        if (atomic_compare_exchange_weak(&v->value, &old, mine))
            return;
    if (old != mine)
        atomic_store(&v->differs, launch);
}

/* Keeps what the lanes of a store write where other blocks may write, too. */
static void add_values(struct sim_check *c, const struct sim_access *a,
                       const unsigned char *const data[SIM_LANES])
{
    struct sim_launch_check *l = c->launch;
    for (uint32_t rest = c->valued & a->mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const struct sim_alloc *g = c->valued_in[lane];
        const uint32_t granule = atomic_load(&g->races)->granule;
        struct value *v = values_of(l, g);
        size_t at = (size_t)(a->addr[lane] - (uint64_t)(uintptr_t)g->base);
        for (size_t k = 0; v && k < (size_t)a->bytes; k += granule) {
            uint32_t value = 0;
            memcpy(&value, data[lane] + k, granule);
            add_value(&v[granule_at(at + k, granule)], l->base + 1, value);
        }
    }
}

/* Of two blocks, the lower one is kept. */
static void note_second(struct mark *m, uint64_t key, uint64_t base)
{
    uint64_t old = get(&m->second);
    while (block_of(old) <= base || block_of(key) < block_of(old))
        if (atomic_compare_exchange_weak(&m->second, &old, key))
            return;
}

static void note_first(struct mark *m, uint64_t key, uint64_t base)
{
    uint64_t old = get(&m->first);
    while (block_of(old) <= base || block_of(key) < block_of(old))
        if (atomic_compare_exchange_weak(&m->first, &old, key)) {
            if (block_of(old) > base)
                note_second(m, old, base);
            return;
        }
    if (block_of(old) != block_of(key))
        note_second(m, key, base);
}

static void set_conflict(const struct global_access *s)
{
    if (!atomic_load_explicit(&s->r->conflict, memory_order_relaxed))
        atomic_store_explicit(&s->r->conflict, true, memory_order_relaxed);
}

SIM_INLINE void note(const struct global_access *s, struct mark *m,
                     uint32_t who)
{
    const uint64_t base = s->l->base;
    const uint64_t key = s->block << 32 | who;
    const uint64_t last = (uint64_t)s->me.when << 32 | who;
    const uint64_t first = get(&m->first);
    if (s->l->ordered) {
        put(&m->first, key);
        put(&m->last, last);
        return;
    }
    if (block_of(first) != s->block)
        note_first(m, key, base);
    if (block_of(get(&m->first)) != s->block) {
        if (s->kind == WRITE)
            set_conflict(s);
    } else if (block_of(get(&m->second)) <= base) {
        put(&m->last, last);
    }
}

/* The touch before this one that must be looked at, of another warp or lane of
 * this block, or, where blocks run in order, of another block. false: none. */
SIM_INLINE bool earlier_of(const struct global_access *s, const struct mark *m,
                           struct sim_stamp *old, uint64_t *block)
{
    const uint64_t first = get(&m->first);
    *block = block_of(first);
    if (*block <= s->l->base)
        return false;
    const uint64_t last = get(&m->last);
    *old = (struct sim_stamp){(uint32_t)(last >> 32), (uint32_t)last};
    if (*block != s->block && s->l->ordered) {
        const uint64_t number = *block - s->l->base - 1;
        return !s->l->apart &&
               !(s->c->learned && s->c->learned[number] >= old->when);
    }
    if (*block != s->block ||
        (!s->l->ordered && block_of(get(&m->second)) > s->l->base)) {
        set_conflict(s);
        return false;
    }
    return old->when > s->c->floor[s->w->index];
}

static void report(const struct global_access *s, int lane, size_t offset,
                   enum kind kind, struct sim_stamp old, uint64_t block)
{
    const uint64_t addr = (uint64_t)(uintptr_t)s->g->base + offset;
    const uint64_t number = block - s->l->base - 1;
    if (block == s->block && in_order(s->c, s->w, lane, old, s->me.who))
        return;
    if (kind == WRITE && s->kind == WRITE && !s->a->async &&
        s->a->kind == SIM_STORE) {
        if (block == s->block && old.when == s->me.when)
            s->a->overlap = s->c->meet = true;
        else
            must_be_same(s->c, s->a, lane, s->g->base + offset,
                         (size_t)(addr - s->a->addr[lane]), s->r->granule,
                         number, old.who);
        return;
    }
    const struct earlier e = {number, old.who, kind != READ};
    find_race(s->c, s->w, s->i, s->a, LAB_PTX_GLOBAL, addr, lane, &e);
}

/* Who touched the word at `offset`, from the mark of its line. */
static uint32_t who_in_line(uint32_t who, size_t offset)
{
    const uint32_t width = who >> WIDTH_SHIFT & 3;
    const uint32_t lane = (uint32_t)(offset % LINE) / (4u << width);
    return (who & ~(3u << WIDTH_SHIFT)) + lane;
}

/* A lane's granule at `offset` against what touches of a kind left there. */
SIM_INLINE void cell_against(const struct global_access *s, int lane,
                             size_t offset, enum kind kind)
{
    struct sim_stamp old;
    uint64_t block;
    const struct mark *m = atomic_load(&s->r->cells[kind]);
    if (m && earlier_of(s, &m[granule_at(offset, s->r->granule)], &old, &block))
        report(s, lane, offset, kind, old, block);
    m = atomic_load(&s->r->lines[kind]);
    if (m && earlier_of(s, &m[offset / LINE], &old, &block)) {
        old.who = who_in_line(old.who, offset);
        report(s, lane, offset, kind, old, block);
    }
}

/* A line, of which `lane` has the first word, against the same. */
static void line_against(const struct global_access *s, int lane, size_t line,
                         enum kind kind, uint32_t who)
{
    struct sim_stamp old;
    uint64_t block;
    const struct mark *m = atomic_load(&s->r->lines[kind]);
    bool look = get(&s->r->cells_in[kind]) == s->l->base + 1;
    if (!look && m && earlier_of(s, &m[line], &old, &block))
        look = block != s->block ||
               ((old.who ^ who) & (THREAD_MASK | 3u << WIDTH_SHIFT)) != 0;
    if (!look)
        return;
    for (size_t off = 0; off < LINE; off += s->r->granule)
        cell_against(s, lane + (int)(off / (size_t)s->a->bytes),
                     line * LINE + off, kind);
}

static void touch_line(const struct global_access *s, struct mark *lines,
                       size_t line, int lane)
{
    const uint32_t width = (uint32_t)__builtin_ctz((uint32_t)s->a->bytes) - 2;
    const uint32_t who = (s->me.who + (uint32_t)lane) | width << WIDTH_SHIFT;
    /* Another write of its block is looked at before it is replaced. */
    if (s->kind == WRITE)
        line_against(s, lane, line, WRITE, who);
    note(s, &lines[line], who);
    /* Now that this touch can be seen: of two that meet, one sees the other. */
    for (enum kind k = READ; k < KINDS; k++)
        if (conflicts[s->kind] >> k & 1 && k != s->kind)
            line_against(s, lane, line, k, who);
}

SIM_INLINE void touch_cell(const struct global_access *s, struct mark *cells,
                           size_t offset, int lane)
{
    if (s->kind == WRITE)
        cell_against(s, lane, offset, WRITE);
    note(s, &cells[granule_at(offset, s->r->granule)],
         s->me.who + (uint32_t)lane);
    for (enum kind k = READ; k < KINDS; k++)
        if (conflicts[s->kind] >> k & 1 && k != s->kind)
            cell_against(s, lane, offset, k);
}

/* Lanes side by side on whole lines. */
static bool touch_lines(const struct global_access *s, uint32_t lanes)
{
    const struct sim_access *a = s->a;
    const size_t from = (size_t)(a->addr[0] - (uint64_t)(uintptr_t)s->g->base);
    if (s->c->pattern != SIM_ROW || lanes != SIM_FULL || from % LINE ||
        (a->bytes != 4 && a->bytes != 8 && a->bytes != 16) || s->kind == ATOMIC)
        return false;
    struct mark *lines = marks_of(s, &s->r->lines[s->kind], LINE);
    const int lanes_each = LINE / a->bytes;
    for (int lane = 0; lines && lane < SIM_LANES; lane += lanes_each)
        touch_line(s, lines, (from + (size_t)lane * (size_t)a->bytes) / LINE,
                   lane);
    return true;
}

/* The executor is asked for the values. Those of a copy are not known. */
static void keep_values(const struct global_access *s, uint32_t lanes)
{
    struct sim_check *c = s->c;
    if (s->a->async)
        return;
    s->a->overlap = true;
    c->valued |= lanes;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        c->valued_in[__builtin_ctz(rest)] = s->g;
}

void sim_race_global(struct sim_check *c, struct sim_warp *w,
                     const struct sim_instr *i, struct sim_access *a,
                     struct sim_alloc *g, uint32_t lanes)
{
    struct sim_launch_check *l = c->launch;
    const bool strong = a->synchronises || a->kind == SIM_ATOMIC;
    /* To other blocks, one of scope .cta is like any other. */
    const bool wide = strong && !a->narrow;
    /* A copy reads when it is issued, and has written when it has arrived. */
    if (c->now >= NEVER - 2 || (a->async && a->issued != (a->kind == SIM_LOAD)))
        return;
    c->now++;
    if (strong)
        meet(c, w, a, lanes, LAB_PTX_GLOBAL);
    const struct global_access s = {.c = c,
                                    .l = l,
                                    .w = w,
                                    .i = i,
                                    .a = a,
                                    .g = g,
                                    .r = races_of(l, g),
                                    .me = stamp_of(c, w, i, strong),
                                    .kind = wide                  ? ATOMIC
                                            : a->kind == SIM_LOAD ? READ
                                                                  : WRITE,
                                    .block = l->base + c->block->number + 1};
    if (!s.r || touch_lines(&s, lanes))
        return;
    if (s.kind == WRITE && !l->ordered && a->kind == SIM_STORE)
        keep_values(&s, lanes);
    /* A strong load is looked at and not kept. */
    const bool kept = !wide || a->kind != SIM_LOAD;
    struct mark *cells =
        kept ? marks_of(&s, &s.r->cells[s.kind], s.r->granule) : NULL;
    if (kept && !cells)
        return;
    if (kept && get(&s.r->cells_in[s.kind]) != l->base + 1)
        atomic_store(&s.r->cells_in[s.kind], l->base + 1);
    const size_t granule = s.r->granule;
    const uint64_t base = (uint64_t)(uintptr_t)g->base;
    if (s.kind == READ && c->pattern == SIM_SAME)
        lanes &= ~lanes + 1; /* one for all */
    uint64_t last = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const size_t from = (size_t)(a->addr[lane] - base);
        if ((from | (size_t)a->bytes) & (granule - 1))
            continue;
        if (s.kind == READ && a->addr[lane] == last)
            continue; /* the lane before it reads the same */
        last = a->addr[lane];
        for (size_t at = from; at < from + (size_t)a->bytes; at += granule)
            if (kept)
                touch_cell(&s, cells, at, lane);
            else
                cell_against(&s, lane, at, WRITE);
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
        if (touches && granule > 2 && lab_ptx_has_modifier(in, "bulk"))
            granule = 2;
    }
    return granule;
}

void sim_race_begin(struct sim_launch_check *l)
{
    struct lab_sim_memory *m = l->grid->memory;
    l->granule = narrowest(l->grid->kernel);
    if (l->blocks >= UINT32_MAX / 2)
        l->races = false; /* too many for the shadow, and to wait for */
    if (!l->races)
        return;
    const bool over = m->blocks + l->blocks >= UINT32_MAX;
    for (size_t n = 0; n < m->count; n++) {
        struct sim_alloc *g = m->allocs[n];
        struct sim_races *r = atomic_load(&g->races);
        if (r)
            atomic_store(&r->conflict, false);
        if (!r || !(over || r->granule > l->granule))
            continue;
        races_free(r);
        atomic_store(&g->races, NULL);
    }
    l->base = over ? 0 : m->blocks;
    m->blocks = l->base + l->blocks;
}

bool sim_race_block_begin(struct sim_check *c)
{
    enum { WORD = 4 };
    if (c->granule == 0)
        c->granule = WORD;
    size_t cells = (size_t)c->block->shared_bytes / c->granule + 1;
    if (cells > c->shared_cells) {
        lab_free(c->shared);
        c->shared = lab_alloc_array(cells * FIELDS, sizeof(*c->shared));
        c->shared_cells = c->shared ? cells : 0;
        if (!c->shared)
            return false;
    }
    if (c->now >= NEVER / 2 || c->copies) {
        memset(c->shared, 0, c->shared_cells * FIELDS * sizeof(*c->shared));
        c->now = 0;
        c->copies = false; /* that may not have arrived */
    }
    /* 0 means never, `start` what sim_shared_unset() puts: the first access comes
     * after both. */
    c->start = ++c->now;
    for (int w = 0; w < SIM_WARPS; w++) {
        c->fence_when[w] = c->start;
        c->wide_when[w] = c->start;
        c->floor[w] = c->start;
        for (int k = 0; k < SIM_WARPS; k++)
            c->known[w].known[k] = c->known[w].proxied[k] = c->start;
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
    lab_free(c->later);
    lab_free(c->later_at);
    lab_free(c->shared);
    lab_free(c->pairs);
}

/* The keys of a kind that a granule has, the lowest block first. */
static int keys_of(const struct sim_launch_check *l, const struct sim_races *r,
                   enum kind kind, size_t offset, uint64_t keys[4])
{
    const struct mark *marks[2] = {atomic_load(&r->lines[kind]),
                                   atomic_load(&r->cells[kind])};
    int n = 0;
    for (int k = 0; k < 2; k++) {
        if (!marks[k])
            continue;
        const struct mark *m =
            &marks[k][k ? granule_at(offset, r->granule) : offset / LINE];
        for (int second = 0; second < 2; second++) {
            uint64_t key = get(second ? &m->second : &m->first);
            if (block_of(key) <= l->base)
                continue;
            if (k == 0)
                key = (key >> 32) << 32 | who_in_line((uint32_t)key, offset);
            int at = n++;
            for (; at > 0 && block_of(keys[at - 1]) > block_of(key); at--)
                keys[at] = keys[at - 1];
            keys[at] = key;
        }
    }
    return n;
}

/* All that was stored there is one value, as far as is known. */
static bool same_value(const struct sim_launch_check *l,
                       const struct sim_races *r, size_t offset)
{
    const struct value *v = atomic_load(&r->values);
    const struct mark *lines = atomic_load(&r->lines[WRITE]);
    if (!v || (lines && block_of(get(&lines[offset / LINE].first)) > l->base))
        return false;
    v += granule_at(offset, r->granule);
    return get(&v->value) >> 32 == l->base + 1 &&
           get(&v->differs) != l->base + 1;
}

/* Two blocks that touched a granule, with kinds that conflict. */
static bool pair_of(const struct sim_launch_check *l, const struct sim_races *r,
                    size_t offset, uint64_t key[2], enum kind kind[2])
{
    static const enum kind order[][2] = {
        {WRITE, WRITE}, {WRITE, READ}, {WRITE, ATOMIC}, {ATOMIC, READ}};
    uint64_t keys[KINDS][4];
    int count[KINDS];
    for (enum kind k = READ; k < KINDS; k++)
        count[k] = keys_of(l, r, k, offset, keys[k]);
    for (size_t n = 0; n < sizeof(order) / sizeof(order[0]); n++) {
        kind[0] = order[n][0];
        kind[1] = order[n][1];
        for (int x = 0; x < count[kind[0]]; x++)
            for (int y = 0; y < count[kind[1]]; y++) {
                key[0] = keys[kind[0]][x];
                key[1] = keys[kind[1]][y];
                if (block_of(key[0]) != block_of(key[1]) &&
                    !(kind[0] == kind[1] && same_value(l, r, offset)))
                    return true;
            }
    }
    return false;
}

static void find_between(struct sim_launch_check *l, const struct sim_alloc *g,
                         size_t offset, const uint64_t key[2],
                         const enum kind kind[2])
{
    /* The finding is the later block's. */
    const int at = key[1] > key[0];
    const struct sim_race r = {.space = LAB_PTX_GLOBAL,
                               .addr = (uint64_t)(uintptr_t)g->base + offset,
                               .block = block_of(key[at]) - l->base - 1,
                               .thread = (uint32_t)key[at] & THREAD_MASK,
                               .place = place_of((uint32_t)key[at]),
                               .bytes = (int)atomic_load(&g->races)->granule,
                               .write = kind[at] != READ,
                               .array = -1,
                               .e = {block_of(key[!at]) - l->base - 1,
                                     (uint32_t)key[!at] & ~(uint32_t)PENDING,
                                     kind[!at] != READ}};
    const struct lab_sim_finding f = race_finding(l->all, &r);
    sim_tell(l->grid, &f);
    race_found(l->all, &f, &r);
}

/* Races within a block, but on words that other blocks race for, too. */
static void find_later(struct sim_launch_check *l, struct sim_check *c)
{
    for (size_t k = 0; k < c->later_count; k++) {
        const struct sim_race *r = &c->later[k];
        const struct sim_alloc *g = sim_memory_before(l->grid->memory, r->addr);
        const struct sim_races *races = atomic_load(&g->races);
        const size_t offset = (size_t)(r->addr - (uint64_t)(uintptr_t)g->base);
        uint64_t key[2];
        enum kind kind[2];
        if (atomic_load(&races->conflict) &&
            pair_of(l, races, offset - offset % races->granule, key, kind))
            continue;
        const struct lab_sim_finding f = race_finding(c, r);
        race_found(c, &f, r);
    }
}

void sim_race_forget(struct sim_launch_check *l)
{
    flags_release(&l->flags);
}

bool sim_race_between(const struct sim_launch_check *l)
{
    const struct lab_sim_memory *m = l->grid->memory;
    for (size_t n = 0; n < m->count; n++) {
        const struct sim_alloc *g = m->allocs[n];
        const struct sim_races *r = atomic_load(&g->races);
        if (!r || !atomic_load(&r->conflict))
            continue;
        for (size_t at = 0; at < g->bytes; at += r->granule) {
            uint64_t key[2];
            enum kind kind[2];
            if (pair_of(l, r, at, key, kind))
                return true;
        }
    }
    return false;
}

void sim_race_end(struct sim_launch_check *l)
{
    const struct lab_sim_memory *m = l->grid->memory;
    for (struct sim_check *c = l->all; c; c = c->next)
        find_later(l, c);
    for (size_t n = 0; n < m->count; n++) {
        struct sim_alloc *g = m->allocs[n];
        struct sim_races *r = atomic_load(&g->races);
        if (!r || !atomic_load(&r->conflict))
            continue;
        atomic_store(&r->conflict, false);
        for (size_t at = 0; l->all && at < g->bytes; at += r->granule) {
            uint64_t key[2];
            enum kind kind[2];
            if (pair_of(l, r, at, key, kind))
                find_between(l, g, at, key, kind);
        }
    }
}
