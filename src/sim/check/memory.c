/* memory.c -- simulated global memory: real memory of the host in allocations
 * with names, a guard zone around each, and a record of what was written.
 *
 * A device address is the address in this process, and the same in each run: each
 * memory has a region of addresses that nothing else uses, and an allocation the first
 * gap there. What a kernel prints of a pointer, and how far a wild access is from an
 * allocation, are then repeatable. The guard zone makes an access past the end hit no
 * other allocation, also when it is off by as much as the allocation is long. A freed
 * allocation is kept for a while, so that its use is found and has its name. */
#include "check/memory.h"

#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "exec.h"

enum {
    ALIGN = 256,
    GUARD_LEAST = 64 << 10,
    GUARD_MOST = 4 << 20,
    /* Of freed allocations that are kept. */
    FREED_MOST = 256,
    FREED_BYTES_MOST = 64 << 20,
    PAGE = 64 << 10, /* of the largest that systems have */
    REGIONS = 16
};

/* Between what a program maps for itself and what the sanitizers keep for theirs. */
#define FIRST_REGION UINT64_C(0x200000000000)
#define REGION_BYTES UINT64_C(0x10000000000)

static _Atomic uint32_t regions; /* those in use, a bit each */

static uint64_t address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* How many allocations begin at or before `addr`. */
static size_t count_before(const struct lab_sim_memory *m, uint64_t addr)
{
    size_t low = 0;
    size_t high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (address(m->allocs[middle]->base) <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct sim_alloc *sim_memory_before(const struct lab_sim_memory *m,
                                    uint64_t addr)
{
    size_t n = count_before(m, addr);
    return n > 0 ? m->allocs[n - 1] : NULL;
}

struct sim_alloc *sim_memory_near(const struct lab_sim_memory *m, uint64_t addr)
{
    size_t n = count_before(m, addr);
    for (size_t i = n > 0 ? n - 1 : 0; i < m->count && i <= n; i++) {
        struct sim_alloc *a = m->allocs[i];
        if (addr - address(a->block) < a->block_bytes)
            return a;
    }
    return NULL;
}

enum lab_status lab_sim_memory_open(struct lab_sim_memory **out)
{
    struct lab_sim_memory *m = lab_alloc(sizeof(*m));
    if (!m)
        return lab_no_memory("simulated memory");
    m->region = -1;
    for (int r = 0; r < REGIONS && m->region < 0; r++)
        if (!(atomic_fetch_or(&regions, 1u << r) >> r & 1))
            m->region = r;
    *out = m;
    return LAB_OK;
}

void sim_copy_release(struct sim_copy *c)
{
    lab_free(c->bytes);
    lab_free(c->set);
    *c = (struct sim_copy){NULL};
}

static void alloc_release(struct sim_alloc *a)
{
    sim_copy_release(&a->before);
    if (a->races_free)
        a->races_free(atomic_load(&a->races));
    lab_free(a->names);
    lab_free((void *)a->set);
    lab_unmap(a->block, a->block_bytes);
    lab_free(a);
}

void lab_sim_memory_close(struct lab_sim_memory *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++)
        alloc_release(m->allocs[i]);
    if (m->region >= 0)
        atomic_fetch_and(&regions, ~(1u << m->region));
    lab_free(m->allocs);
    lab_free(m);
}

/* ---- allocations ---- */

static size_t set_bytes(size_t bytes)
{
    return bytes / 4 + (bytes % 4 != 0);
}

/* The first gap of the region for `bytes`, a page apart from its neighbours; 0: none. */
static uint64_t gap_for(const struct lab_sim_memory *m, size_t bytes)
{
    uint64_t at = FIRST_REGION + (uint64_t)m->region * REGION_BYTES;
    const uint64_t end = at + REGION_BYTES;
    if (m->region < 0)
        return 0;
    for (size_t i = 0; i < m->count; i++) {
        const uint64_t from = address(m->allocs[i]->block);
        const uint64_t to = from + m->allocs[i]->block_bytes;
        if (to <= at || from >= end)
            continue;
        if (from >= at + PAGE && from - at - PAGE >= bytes)
            return at;
        at = (to + 2 * PAGE - 1) / PAGE * PAGE;
    }
    return at < end && end - at > bytes ? at : 0;
}

static enum lab_status alloc_make(const struct lab_sim_memory *m, size_t bytes,
                                  struct sim_alloc **out)
{
    size_t guard = bytes < GUARD_LEAST  ? GUARD_LEAST
                   : bytes > GUARD_MOST ? GUARD_MOST
                                        : bytes;
    size_t total;
    if (!lab_add_size(bytes, 2 * guard + ALIGN, &total))
        return lab_no_memory("an allocation of the simulator");
    struct sim_alloc *a = lab_alloc(sizeof(*a));
    if (!a)
        return lab_no_memory("an allocation of the simulator");
    a->block = lab_map(gap_for(m, total), total);
    a->block_bytes = total;
    a->set = lab_alloc(set_bytes(bytes));
    if (!a->block || !a->set) {
        alloc_release(a);
        return lab_fail(
            LAB_E_NOMEM,
            "[sim.memory] no memory for %zu bytes of simulated memory", bytes);
    }
    a->bytes = bytes;
    a->whole = bytes == 0;
    a->base = a->block + guard;
    a->base += (ALIGN - address(a->base) % ALIGN) % ALIGN;
    *out = a;
    return LAB_OK;
}

/* The system gives more than it has, and ends a process that then uses it. What the
 * checks keep, a bit a byte and the last accesses, was a quarter of the memory. Bytes
 * for all allocations; 0: not known. */
static double most_bytes(void)
{
    const double checks = 1.26;
    return 0.75 * (double)lab_host_memory() / checks;
}

static enum lab_status fits(const struct lab_sim_memory *m, size_t bytes)
{
    const double most = most_bytes();
    if (most <= 0 || (double)m->bytes + (double)bytes <= most)
        return LAB_OK;
    return lab_fail(
        LAB_E_NOMEM,
        "[sim.memory-most] %s of simulated memory beside %s: all of it, with "
        "what the checks keep, may take three quarters of this machine's "
        "memory: %s are left for it",
        LAB_AMOUNT_TEXT((double)bytes, "B"),
        LAB_AMOUNT_TEXT((double)m->bytes, "B"), LAB_AMOUNT_TEXT(most, "B"));
}

static void forget(struct lab_sim_memory *m, size_t i)
{
    m->bytes -= m->allocs[i]->bytes;
    alloc_release(m->allocs[i]);
    m->count--;
    memmove(&m->allocs[i], &m->allocs[i + 1],
            (m->count - i) * sizeof(m->allocs[0]));
}

enum lab_status lab_sim_alloc(struct lab_sim_memory *m, size_t bytes,
                              void **out)
{
    struct sim_alloc *a = NULL;
    enum lab_status st = lab_grow(&m->allocs, m->count, &m->room,
                                  sizeof(struct sim_alloc *), "allocations");
    if (!st)
        st = fits(m, bytes);
    if (!st)
        st = alloc_make(m, bytes, &a);
    if (st)
        return st;
    size_t i = count_before(m, address(a->base));
    memmove(&m->allocs[i + 1], &m->allocs[i],
            (m->count - i) * sizeof(m->allocs[0]));
    m->allocs[i] = a;
    m->bytes += bytes;
    m->count++;
    *out = a->base;
    return LAB_OK;
}

/* Gives the oldest of the freed ones back until the rest is little enough. */
static void forget_freed(struct lab_sim_memory *m)
{
    while (m->freed > FREED_MOST || m->freed_bytes > FREED_BYTES_MOST) {
        size_t oldest = m->count;
        for (size_t i = 0; i < m->count; i++)
            if (m->allocs[i]->freed &&
                (oldest == m->count ||
                 m->allocs[i]->freed_when < m->allocs[oldest]->freed_when))
                oldest = i;
        if (oldest == m->count)
            return;
        m->freed--;
        m->freed_bytes -= m->allocs[oldest]->bytes;
        forget(m, oldest);
    }
}

enum lab_status lab_sim_free(struct lab_sim_memory *m, void *p)
{
    if (!p)
        return LAB_OK;
    struct sim_alloc *a = sim_memory_before(m, address(p));
    if (!a || a->base != p || a->freed)
        return lab_fail(LAB_E_ARG,
                        "%p is not the start of an allocation of the "
                        "simulator%s",
                        p, a && a->base == p ? ": it was freed" : "");
    sim_copy_release(&a->before);
    a->freed = true;
    a->freed_when = ++m->frees;
    m->freed++;
    m->freed_bytes += a->bytes;
    forget_freed(m);
    return LAB_OK;
}

/* The allocation that holds all of these bytes. */
static enum lab_status find(const struct lab_sim_memory *m, const void *p,
                            size_t bytes, struct sim_alloc **out)
{
    struct sim_alloc *a = sim_memory_before(m, address(p));
    if (!a || a->freed || !sim_holds(a, address(p), bytes))
        return lab_fail(LAB_E_RANGE,
                        "[sim.not-allocated] %zu bytes at %p are not in one "
                        "allocation of the "
                        "simulator",
                        bytes, p);
    *out = a;
    return LAB_OK;
}

/* ---- what was written ---- */

/* Of a word, the bits of its bytes from .. to-1. */
static unsigned char bits(size_t from, size_t to)
{
    return (unsigned char)((SIM_ALL_SET << from) & ~(SIM_ALL_SET << to) &
                           SIM_ALL_SET);
}

/* Two threads may write parts of one word: those bits are added, not stored. */
static void set_part(sim_set_t *word, unsigned char part)
{
    atomic_fetch_or_explicit(word, part, memory_order_relaxed);
}

void sim_memory_set(struct sim_alloc *a, size_t offset, size_t bytes)
{
    size_t end = offset + bytes;
    size_t first = offset / 4;
    size_t last = end / 4;
    if (a->whole || bytes == 0)
        return;
    if (first == last) {
        set_part(&a->set[first], bits(offset % 4, end % 4));
        return;
    }
    if (offset % 4)
        set_part(&a->set[first++], bits(offset % 4, 4));
    for (size_t i = first; i < last; i++)
        atomic_store_explicit(&a->set[i], SIM_ALL_SET, memory_order_relaxed);
    if (end % 4)
        set_part(&a->set[last], bits(0, end % 4));
}

size_t sim_memory_unset(const struct sim_alloc *a, size_t offset, size_t bytes)
{
    size_t i = 0;
    if (a->whole)
        return bytes;
    /* Words, four at a time. */
    for (; offset % 4 == 0 && i + 16 <= bytes; i += 16) {
        const sim_set_t *four = &a->set[(offset + i) / 4];
        unsigned char all = SIM_ALL_SET;
        for (int k = 0; k < 4; k++)
            all &= atomic_load_explicit(&four[k], memory_order_relaxed);
        if (all != SIM_ALL_SET)
            break;
    }
    for (; i < bytes; i++) {
        unsigned char word = atomic_load_explicit(&a->set[(offset + i) / 4],
                                                  memory_order_relaxed);
        if (word == SIM_ALL_SET)
            i += 3 - (offset + i) % 4;
        else if (!(word >> (offset + i) % 4 & 1))
            return i;
    }
    return bytes;
}

/* Between launches, while no other thread writes to them: */

static unsigned char *words_of(const struct sim_alloc *a, size_t offset)
{
    return (unsigned char *)a->set + offset / 4;
}

static bool all_set(const struct sim_alloc *a, size_t offset, size_t bytes)
{
    const size_t end = offset + bytes;
    const size_t words = end / 4 - offset / 4;
    if (!a->whole && offset % 4 == 0 && words > 0) {
        const unsigned char *w = words_of(a, offset);
        if (w[0] != SIM_ALL_SET || memcmp(w, w + 1, words - 1) != 0)
            return false;
        offset = end - end % 4;
    }
    return sim_memory_unset(a, offset, end - offset) == end - offset;
}

static void set_all(struct sim_alloc *a, size_t offset, size_t bytes)
{
    const size_t end = offset + bytes;
    if (!a->whole && offset % 4 == 0) {
        memset(words_of(a, offset), SIM_ALL_SET, end / 4 - offset / 4);
        offset = end - end % 4;
    }
    sim_memory_set(a, offset, end - offset);
}

static void settle(struct sim_alloc *a)
{
    if (a->whole || !all_set(a, 0, a->bytes))
        return;
    a->whole = true;
    lab_free((void *)a->set);
    a->set = NULL;
}

/* ---- a launch that is taken back ---- */

/* Makes `to` what `from` is, of which it has an earlier state, or zeros (`fresh`). Parts
 * that are the same are left alone: of most of a network, and of a workspace, these are
 * all, and memory that nothing was written to takes no room. */
static void bring_up(unsigned char *to, const unsigned char *from, size_t bytes,
                     bool fresh)
{
    enum { PART = 4096 };
    static const unsigned char zeros[PART];
    for (size_t at = 0; at < bytes; at += PART) {
        const size_t n = bytes - at < PART ? bytes - at : PART;
        if (memcmp(from + at, fresh ? zeros : to + at, n) != 0)
            memcpy(to + at, from + at, n);
    }
}

bool sim_copy_take(struct sim_copy *out, const struct sim_alloc *a)
{
    const bool fresh = !out->bytes;
    const bool fresh_set = !out->set;
    if (a->whole) {
        lab_free(out->set);
        out->set = NULL;
    } else if (fresh_set) {
        out->set = lab_alloc(set_bytes(a->bytes));
    }
    if (fresh)
        out->bytes = lab_alloc(a->bytes);
    if (!out->bytes || (!a->whole && !out->set))
        return false;
    bring_up(out->bytes, a->base, a->bytes, fresh);
    if (out->set)
        bring_up(out->set, words_of(a, 0), set_bytes(a->bytes), fresh_set);
    return true;
}

void sim_copy_put_back(const struct sim_copy *c, struct sim_alloc *a)
{
    memcpy(a->base, c->bytes, a->bytes);
    if (c->set && a->whole) { /* all was written since */
        a->set = lab_alloc(set_bytes(a->bytes));
        a->whole = !a->set;
    }
    if (c->set && !a->whole)
        memcpy(words_of(a, 0), c->set, set_bytes(a->bytes));
}

bool sim_memory_keep(struct lab_sim_memory *m)
{
    const double most = most_bytes();
    m->keeps = most <= 0 || 2 * (double)m->bytes <= most;
    for (size_t i = 0; !m->keeps && i < m->count; i++)
        sim_copy_release(&m->allocs[i]->before);
    return m->keeps;
}

bool sim_memory_first_store(const struct lab_sim_memory *m, struct sim_alloc *a)
{
    bool kept = !m->keeps || sim_copy_take(&a->before, a);
    atomic_store_explicit(&a->stored, true, memory_order_release);
    return kept;
}

void sim_memory_restore(struct lab_sim_memory *m)
{
    for (size_t i = 0; i < m->count; i++) {
        struct sim_alloc *a = m->allocs[i];
        if (!atomic_load(&a->stored))
            continue;
        sim_copy_put_back(&a->before, a);
        atomic_store(&a->stored, false);
    }
    m->keeps = false;
}

void sim_memory_settle(struct lab_sim_memory *m)
{
    m->keeps = false;
    for (size_t i = 0; i < m->count; i++) {
        struct sim_alloc *a = m->allocs[i];
        if (atomic_load_explicit(&a->stored, memory_order_relaxed))
            settle(a);
        atomic_store_explicit(&a->stored, false, memory_order_relaxed);
    }
}

enum lab_status lab_sim_written(struct lab_sim_memory *m, void *p, size_t bytes)
{
    struct sim_alloc *a;
    enum lab_status st = find(m, p, bytes, &a);
    if (st)
        return st;
    set_all(a, (size_t)(address(p) - address(a->base)), bytes);
    settle(a);
    return LAB_OK;
}

enum lab_status lab_sim_unwritten(struct lab_sim_memory *m, void *p,
                                  size_t bytes)
{
    struct sim_alloc *a;
    enum lab_status st = find(m, p, bytes, &a);
    if (st || bytes == 0)
        return st;
    if (a->whole) {
        sim_set_t *set = lab_alloc(a->bytes / 4 + 1);
        if (!set)
            return lab_no_memory("which bytes of a tensor were written");
        a->set = set;
        a->whole = false;
        set_all(a, 0, a->bytes);
    }
    size_t from = (size_t)(address(p) - address(a->base));
    for (size_t at = from; at < from + bytes;) {
        const bool word = at % 4 == 0 && from + bytes - at >= 4;
        if (word)
            atomic_store_explicit(&a->set[at / 4], 0, memory_order_relaxed);
        else
            atomic_fetch_and_explicit(&a->set[at / 4],
                                      (unsigned char)~(1u << at % 4),
                                      memory_order_relaxed);
        at += word ? 4 : 1;
    }
    return LAB_OK;
}

int64_t lab_sim_count_unwritten(const struct lab_sim_memory *m, const void *p,
                                int64_t count, size_t element_bytes,
                                int64_t *first)
{
    struct sim_alloc *a;
    int64_t n = 0;
    *first = 0;
    if (find(m, p, (size_t)count * element_bytes, &a) || a->whole)
        return 0;
    const size_t from = (size_t)(address(p) - address(a->base));
    const size_t bytes = (size_t)count * element_bytes;
    if (sim_memory_unset(a, from, bytes) == bytes)
        return 0;
    for (int64_t i = 0; i < count; i++)
        if (sim_memory_unset(a, from + (size_t)i * element_bytes,
                             element_bytes) < element_bytes) {
            *first = n == 0 ? i : *first;
            n++;
        }
    return n;
}

/* ---- names ---- */

static bool overlap(const struct sim_named *a, const struct sim_named *b)
{
    return a->from < b->from + b->bytes && b->from < a->from + a->bytes;
}

/* Whether a label that may be written shares bytes with this one. */
static bool is_written(const struct sim_alloc *a, const struct sim_named *n)
{
    for (size_t i = 0; i < a->name_count; i++)
        if (!a->names[i].label.read_only && overlap(&a->names[i], n))
            return true;
    return false;
}

/* A store lies within one label, and its first byte in none that is only read: it
 * may reach over the end of a label that overlaps this one. */
static bool is_fixed(const struct sim_alloc *a, const struct sim_named *n)
{
    if (!a->bounded && !(a->name_count == 1 && n->bytes == a->bytes))
        return false;
    for (size_t i = 0; i < a->name_count; i++)
        if (overlap(&a->names[i], n) && is_written(a, &a->names[i]))
            return false;
    return true;
}

static void look_at_names(struct sim_alloc *a)
{
    a->read_only = false;
    a->bounded = false;
    for (size_t i = 0; i < a->name_count; i++) {
        a->read_only |= a->names[i].label.read_only;
        a->bounded |= a->names[i].label.bounded;
    }
}

void sim_memory_begin(struct lab_sim_memory *m)
{
    for (size_t i = 0; i < m->count; i++) {
        struct sim_alloc *a = m->allocs[i];
        for (size_t k = 0; !a->freed && k < a->name_count; k++) {
            struct sim_named *n = &a->names[k];
            n->fixed = is_fixed(a, n);
            n->whole = n->fixed && all_set(a, n->from, n->bytes);
        }
    }
}

/* Drops the names that lie within these bytes: the newer one hides them. */
static void drop_names(struct sim_alloc *a, size_t from, size_t bytes)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->name_count; i++) {
        const struct sim_named *n = &a->names[i];
        if (n->from < from || n->from + n->bytes > from + bytes)
            a->names[kept++] = *n;
    }
    a->name_count = kept;
}

enum lab_status lab_sim_label(struct lab_sim_memory *m, void *p, size_t bytes,
                              const struct lab_sim_label *label)
{
    struct sim_alloc *a;
    enum lab_status st = find(m, p, bytes, &a);
    if (!st && label &&
        (label->element_bytes < 0 || label->rank < 0 ||
         label->rank > LAB_SIM_MAX_RANK))
        st = lab_fail(LAB_E_ARG,
                      "a label of %d dimensions and elements of %d bytes: 0 to "
                      "%d dimensions are possible",
                      label->rank, label->element_bytes, LAB_SIM_MAX_RANK);
    if (!st && label)
        st = lab_grow(&a->names, a->name_count, &a->name_room,
                      sizeof(a->names[0]), "names of allocations");
    if (st)
        return st;
    size_t from = (size_t)(address(p) - address(a->base));
    drop_names(a, from, bytes);
    if (label) {
        a->names[a->name_count] = (struct sim_named){from, bytes, *label};
        a->names[a->name_count++].label.name[LAB_SIM_NAME - 1] = '\0';
    }
    look_at_names(a);
    return LAB_OK;
}

const struct sim_named *sim_memory_name(const struct sim_alloc *a,
                                        size_t offset)
{
    for (size_t i = a->name_count; i-- > 0;)
        if (offset - a->names[i].from < a->names[i].bytes)
            return &a->names[i];
    return NULL;
}

const struct sim_named *sim_memory_bounds(const struct sim_alloc *a,
                                          size_t offset, size_t bytes)
{
    for (size_t i = a->bounded ? a->name_count : 0; i-- > 0;) {
        const struct sim_named *n = &a->names[i];
        if (offset >= n->from && offset - n->from <= n->bytes &&
            bytes <= n->bytes - (offset - n->from))
            return n;
    }
    return !a->bounded && a->name_count == 1 ? &a->names[0] : NULL;
}

enum lab_ptx_space sim_generic(uint64_t *addr)
{
    static const struct {
        uint64_t window;
        enum lab_ptx_space space;
    } windows[] = {{SIM_SHARED_WINDOW, LAB_PTX_SHARED},
                   {SIM_PARAM_WINDOW, LAB_PTX_PARAM},
                   {SIM_LOCAL_WINDOW, LAB_PTX_LOCAL}};
    for (size_t k = 0; k < sizeof(windows) / sizeof(windows[0]); k++)
        if (*addr >> 60 == windows[k].window >> 60) {
            *addr -= windows[k].window;
            return windows[k].space;
        }
    return LAB_PTX_GLOBAL;
}
