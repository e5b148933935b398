/* Copies that run beside the threads (cp.async, cp.async.bulk, tensor maps), and the
 * mbarriers that tell of their arrival. PTX ISA, "Data Movement and Conversion
 * Instructions: Asynchronous copy" and "Parallel Synchronization: mbarrier".
 *
 * A copy is only queued when it is issued, and made when the program has waited
 * for it, at the last moment that the ISA allows: at the wait_group that ends it,
 * at the first question that depends on it, at the end of the warp or the
 * block. So a program that forgot to wait finds nothing, instead of being
 * lucky. sim_check_access() hears of both moments. */
#include "tensor/tensor.h"
#include "tensor/tensor_map.h"
#include "warp/code.h"

#include <string.h>
#include "base/mem.h"

enum {
    ACCESS_BYTES = 8,
    MAX_COUNT = (1 << 20) - 1, /* of arrivals */
    MAX_TX = (1 << 20) - 1,    /* bytes, also below zero */
    MAX_BULK = 1 << 20,        /* more than shared memory has */
};

/* ---- what is under way ---- */

/* A cp.async of a warp; or cp.async.mbarrier.arrive, which comes after those of the
 * same lane that are before it in the queue. */
struct sim_async_copy {
    const struct sim_instr *i;
    bool arrival;
    uint32_t lanes; /* not arrived yet */
    uint64_t to[SIM_LANES];
    uint64_t from[SIM_LANES];
    uint8_t bytes[SIM_LANES]; /* of the source; the rest are zeros */
    int32_t group[SIM_LANES];
};

struct sim_transfer {
    struct sim_warp *w;
    const struct sim_instr *i;
    int lane;
    bool mapped; /* by `map` and `at`; else `bytes` from `global` on */
    struct sim_tensor_map map;
    int32_t at[SIM_TENSOR_RANK];
    uint64_t global;
    uint64_t shared;
    uint32_t bytes;
    uint32_t barrier;      /* of a load: offset of its mbarrier */
    int32_t group;         /* of a store */
    unsigned char *staged; /* of a store: read from shared memory already */
};

struct sim_mbarriers {
    struct sim_transfer *loads; /* in order of issue */
    size_t count;
    size_t room;
    uint32_t *alive; /* offsets of the objects that were initialised */
    size_t alive_count;
    size_t alive_room;
};

/* NULL: no memory. */
static struct sim_mbarriers *mbarriers_of(struct sim_block *b)
{
    if (!b->mbarriers)
        b->mbarriers = lab_alloc(sizeof *b->mbarriers);
    return b->mbarriers;
}

struct sim_async *sim_async_of(struct sim_warp *w)
{
    if (!w->async)
        w->async = lab_alloc(sizeof *w->async);
    return w->async;
}

static int first_lane(uint32_t lanes)
{
    return __builtin_ctz(lanes);
}

/* ---- cp.async ---- */

static uint32_t copy_access(struct sim_warp *w, const struct sim_async_copy *c,
                            enum sim_access_kind kind, uint32_t lanes,
                            int bytes, bool issued, unsigned char **at)
{
    struct sim_access a = {.kind = kind,
                           .space = kind == SIM_LOAD ? LAB_PTX_GLOBAL
                                                     : LAB_PTX_SHARED,
                           .mask = lanes,
                           .bytes = bytes,
                           .align = c->i->bytes,
                           .async = true,
                           .issued = issued};
    memcpy(a.addr, kind == SIM_LOAD ? c->from : c->to, sizeof a.addr);
    return sim_check_access(w, c->i, &a, at);
}

/* Both sides of the copy for `lanes`: checked when issued, made when not. Returns
 * the lanes that had no finding. */
static uint32_t copy_do(struct sim_warp *w, const struct sim_async_copy *c,
                        uint32_t lanes, bool issued)
{
    unsigned char data[SIM_LANES][16] = {{0}};
    unsigned char *at[SIM_LANES];
    uint32_t ok = lanes;
    for (uint32_t left = lanes; left;) {
        int bytes = c->bytes[first_lane(left)];
        uint32_t same = 0;
        for (int l = 0; l < SIM_LANES; l++)
            if (left >> l & 1 && c->bytes[l] == bytes)
                same |= 1u << l;
        left &= ~same;
        if (bytes == 0)
            continue;
        uint32_t in = copy_access(w, c, SIM_LOAD, same, bytes, issued, at);
        ok &= ~(same & ~in);
        for (int l = 0; l < SIM_LANES && !issued; l++)
            if (in >> l & 1)
                memcpy(data[l], at[l], (size_t)bytes);
    }
    if (ok)
        ok = copy_access(w, c, SIM_STORE, ok, c->i->bytes, issued, at);
    for (int l = 0; l < SIM_LANES && !issued; l++)
        if (ok >> l & 1)
            memcpy(at[l], data[l], c->i->bytes);
    return ok;
}

static void copy_arrive(struct sim_warp *w, struct sim_async_copy *c,
                        uint32_t lanes)
{
    lanes &= c->lanes;
    c->lanes &= ~lanes;
    if (lanes)
        copy_do(w, c, lanes, false);
}

static void copies_forget(struct sim_async *s)
{
    size_t kept = 0;
    for (size_t k = 0; k < s->copy_count; k++)
        if (s->copies[k].lanes)
            s->copies[kept++] = s->copies[k];
    s->copy_count = kept;
}

/* The copies of `lanes` in all but the newest `pending` groups of each; with
 * `open` also those that no group has yet. */
static void copies_wait(struct sim_warp *w, uint32_t lanes, int64_t pending,
                        bool open)
{
    struct sim_async *s = w->async;
    if (!s || s->copy_count == 0)
        return;
    for (size_t k = 0; k < s->copy_count; k++) {
        struct sim_async_copy *c = &s->copies[k];
        uint32_t due = 0;
        for (int l = 0; l < SIM_LANES && !c->arrival; l++)
            if (lanes >> l & 1 &&
                (open || c->group[l] < s->copy_groups[l] - pending))
                due |= 1u << l;
        copy_arrive(w, c, due);
    }
    copies_forget(s);
}

/* Room for one more, or NULL: no memory. */
static struct sim_async_copy *copy_new(struct sim_warp *w)
{
    struct sim_async *s = sim_async_of(w);
    if (!s || lab_grow(&s->copies, s->copy_count, &s->copy_room,
                       sizeof *s->copies, "copies that are under way"))
        return NULL;
    struct sim_async_copy *c = &s->copies[s->copy_count];
    memset(c, 0, sizeof *c);
    memcpy(c->group, s->copy_groups, sizeof c->group);
    return c;
}

enum { IGNORE_SOURCE = 1 };

/* d [to], a [from], c source bytes or a predicate; bytes: of the copy. */
static void run_copy(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    struct sim_async_copy alone = {0};
    struct sim_async_copy *c = copy_new(w);
    uint64_t size[SIM_LANES];
    bool queued = c != NULL;
    if (!queued)
        c = &alone;
    c->i = i;
    sim_addresses(w, &i->d, c->to);
    sim_addresses(w, &i->a, c->from);
    if (i->flags & IGNORE_SOURCE) {
        uint32_t ignore = w->preds[i->c.slot];
        if (i->c.negated)
            ignore = ~ignore;
        for (int l = 0; l < SIM_LANES; l++)
            size[l] = ignore >> l & 1 ? 0 : i->bytes;
    } else {
        sim_values(w, &i->c, size);
    }
    for (int l = 0; l < SIM_LANES; l++) {
        uint32_t asked = (uint32_t)size[l];
        c->bytes[l] = (uint8_t)(asked < i->bytes ? asked : i->bytes);
    }
    c->lanes = copy_do(w, c, mask, true);
    if (queued && c->lanes)
        w->async->copy_count++;
    else if (!queued) /* no memory to wait in: it arrives at once */
        copy_arrive(w, c, c->lanes);
}

static void run_copy_commit(struct sim_warp *w, const struct sim_instr *i,
                            uint32_t mask)
{
    (void)i;
    struct sim_async *s = sim_async_of(w);
    for (int l = 0; s && l < SIM_LANES; l++)
        s->copy_groups[l] += (int32_t)(mask >> l & 1);
}

static void run_copy_wait(struct sim_warp *w, const struct sim_instr *i,
                          uint32_t mask)
{
    copies_wait(w, mask, (int64_t)i->a.value, false);
}

static void run_copy_wait_all(struct sim_warp *w, const struct sim_instr *i,
                              uint32_t mask)
{
    (void)i;
    copies_wait(w, mask, 0, true);
}

/* ---- mbarrier ----
 *
 * The object is opaque to a program; here its 64 bits are
 *     0..19 arrivals pending, 20..39 arrivals expected of a phase,
 *     40..60 bytes pending + MAX_TX, 61 parity of the phase, 62..63: 2, alive. */

struct mbarrier {
    uint32_t pending;
    uint32_t expected;
    int32_t tx;
    uint32_t parity;
};

static uint64_t mbarrier_pack(const struct mbarrier *m)
{
    return m->pending | (uint64_t)m->expected << 20 |
           (uint64_t)(m->tx + MAX_TX) << 40 | (uint64_t)m->parity << 61 |
           (uint64_t)2 << 62;
}

static struct mbarrier mbarrier_unpack(uint64_t word)
{
    struct mbarrier m = {
        (uint32_t)(word & MAX_COUNT), (uint32_t)(word >> 20 & MAX_COUNT),
        (int32_t)(word >> 40 & 0x1fffff) - MAX_TX, (uint32_t)(word >> 61 & 1)};
    return m;
}

/* The phase ends when nothing is pending, and the next one begins. */
static void mbarrier_turn(struct mbarrier *m)
{
    if (m->pending == 0 && m->tx == 0) {
        m->parity ^= 1;
        m->pending = m->expected;
    }
}

/* The object at `offset` of shared memory; NULL with a finding. */
static unsigned char *mbarrier_at(struct sim_warp *w, const struct sim_instr *i,
                                  int lane, uint64_t offset, struct mbarrier *m)
{
    uint64_t word;
    unsigned char *at = w->block->shared + offset;
    memcpy(&word, at, sizeof word);
    *m = mbarrier_unpack(word);
    if (word >> 62 == 2)
        return at;
    sim_end(w, i, 1u << lane, LAB_SIM_BARRIER,
            SIM_HINT("mbarrier.init in one thread, and a barrier behind it"),
            "the mbarrier at %llu of shared memory is not initialised",
            (unsigned long long)offset);
    return NULL;
}

static void mbarrier_put(unsigned char *at, struct mbarrier *m)
{
    mbarrier_turn(m);
    uint64_t word = mbarrier_pack(m);
    memcpy(at, &word, sizeof word);
}

/* `count` arrivals of a lane, and `tx` bytes more (or, below 0, fewer) to wait for.
 * *state: the object before. */
static void mbarrier_step(struct sim_warp *w, const struct sim_instr *i,
                          int lane, uint64_t offset, uint64_t count, int64_t tx,
                          bool drop, uint64_t *state)
{
    struct mbarrier m;
    unsigned char *at = mbarrier_at(w, i, lane, offset, &m);
    if (!at)
        return;
    *state = mbarrier_pack(&m);
    if (count > m.pending || (drop && count > m.expected)) {
        sim_end(w, i, 1u << lane, LAB_SIM_BARRIER,
                SIM_HINT("the number of arrivals that mbarrier.init was given"),
                "%llu arrivals at the mbarrier at %llu of shared memory, "
                "while its phase waits for %u more",
                (unsigned long long)count, (unsigned long long)offset,
                m.pending);
        return;
    }
    if (tx + m.tx > MAX_TX || tx + m.tx < -MAX_TX) {
        sim_end(w, i, 1u << lane, LAB_SIM_BARRIER,
                SIM_HINT("the bytes that expect_tx announces"),
                "the mbarrier at %llu of shared memory would wait for %lld "
                "bytes; %d are the most",
                (unsigned long long)offset, (long long)(tx + m.tx), MAX_TX);
        return;
    }
    m.tx += (int32_t)tx;
    m.pending -= (uint32_t)count;
    if (drop)
        m.expected -= (uint32_t)count;
    mbarrier_put(at, &m);
}

/* Offsets in shared memory of the mbarriers that `mask` names; returns the lanes
 * that may go on. All but init and inval are for the checks a load of .relaxed, so
 * that the last plain write stays known: threads that use an object must have
 * waited for the one that made it. */
static uint32_t mbarrier_access(struct sim_warp *w, const struct sim_instr *i,
                                const struct sim_operand *address,
                                uint32_t mask, enum sim_access_kind kind,
                                uint64_t offset[SIM_LANES])
{
    struct sim_block *b = w->block;
    unsigned char *at[SIM_LANES];
    struct sim_access a = {.kind = kind,
                           .space = (enum lab_ptx_space)i->space,
                           .mask = mask,
                           .bytes = ACCESS_BYTES,
                           .align = ACCESS_BYTES,
                           .synchronises = kind == SIM_LOAD};
    sim_addresses(w, address, a.addr);
    uint32_t ok = sim_check_access(w, i, &a, at);
    uintptr_t low = (uintptr_t)b->shared;
    for (int l = 0; l < SIM_LANES; l++) {
        if (!(ok >> l & 1))
            continue;
        uintptr_t p = (uintptr_t)at[l];
        if (p >= low && p - low + ACCESS_BYTES <= (uintptr_t)b->shared_bytes) {
            offset[l] = p - low;
            continue;
        }
        struct lab_sim_finding f = {
            .address = a.addr[l], .bytes = ACCESS_BYTES, .argument = -1};
        sim_end(w, i, 1u << l, LAB_SIM_MEMORY, &f,
                "an mbarrier must be in shared memory");
        ok &= ~(1u << l);
    }
    return ok;
}

enum { ARRIVE_TX = 1, ARRIVE_DROP = 2, TX_DONE = 4, BY_PARITY = 8 };

/* Whether there is an object at `offset` already; from now on there is. */
static bool mbarrier_is_alive(struct sim_block *b, uint32_t offset)
{
    struct sim_mbarriers *q = mbarriers_of(b);
    for (size_t k = 0; q && k < q->alive_count; k++)
        if (q->alive[k] == offset)
            return true;
    if (q && !lab_grow(&q->alive, q->alive_count, &q->alive_room,
                       sizeof *q->alive, "mbarriers"))
        q->alive[q->alive_count++] = offset;
    return false;
}

static void mbarrier_ends(struct sim_block *b, uint32_t offset)
{
    struct sim_mbarriers *q = b->mbarriers;
    for (size_t k = 0; q && k < q->alive_count; k++)
        if (q->alive[k] == offset)
            q->alive[k--] = q->alive[--q->alive_count];
}

/* a [address], b arrivals */
static void run_mbarrier_init(struct sim_warp *w, const struct sim_instr *i,
                              uint32_t mask)
{
    uint64_t offset[SIM_LANES];
    uint64_t count[SIM_LANES];
    uint32_t ok = mbarrier_access(w, i, &i->a, mask, SIM_STORE, offset);
    sim_values(w, &i->b, count);
    for (int l = 0; l < SIM_LANES; l++) {
        if (!(ok >> l & 1))
            continue;
        uint32_t n = (uint32_t)count[l];
        struct mbarrier m = {n, n, 0, 0};
        uint64_t word = mbarrier_pack(&m);
        if (n < 1 || n > MAX_COUNT)
            sim_end(w, i, 1u << l, LAB_SIM_BARRIER,
                    SIM_HINT("the number that mbarrier.init is given"),
                    "an mbarrier of %u arrivals; 1 to %d are possible", n,
                    MAX_COUNT);
        else if (mbarrier_is_alive(w->block, (uint32_t)offset[l]))
            sim_end(
                w, i, 1u << l, LAB_SIM_BARRIER,
                SIM_HINT("mbarrier.init in a loop or in more than one thread"),
                "the mbarrier at %llu of shared memory is initialised "
                "twice; mbarrier.inval has to end it first",
                (unsigned long long)offset[l]);
        else
            memcpy(w->block->shared + offset[l], &word, sizeof word);
    }
}

static void run_mbarrier_inval(struct sim_warp *w, const struct sim_instr *i,
                               uint32_t mask)
{
    uint64_t offset[SIM_LANES];
    struct mbarrier m;
    uint32_t ok = mbarrier_access(w, i, &i->a, mask, SIM_STORE, offset);
    for (int l = 0; l < SIM_LANES; l++)
        if (ok >> l & 1) {
            unsigned char *at = mbarrier_at(w, i, l, offset[l], &m);
            if (!at)
                continue;
            memset(at, 0, ACCESS_BYTES);
            mbarrier_ends(w->block, (uint32_t)offset[l]);
        }
}

/* d state, a [address], b arrivals or bytes */
static void run_mbarrier_arrive(struct sim_warp *w, const struct sim_instr *i,
                                uint32_t mask)
{
    uint64_t offset[SIM_LANES];
    uint64_t value[SIM_LANES];
    uint64_t state[SIM_LANES] = {0};
    uint32_t ok = mbarrier_access(w, i, &i->a, mask, SIM_LOAD, offset);
    bool tx = i->flags & ARRIVE_TX;
    sim_values(w, &i->b, value);
    for (int l = 0; l < SIM_LANES; l++) {
        if (!(ok >> l & 1))
            continue;
        sim_mbarrier_arrived(w, 1u << l, (uint32_t)offset[l]);
        mbarrier_step(w, i, l, offset[l], tx ? 1 : (uint32_t)value[l],
                      tx ? (int64_t)(uint32_t)value[l] : 0,
                      i->flags & ARRIVE_DROP, &state[l]);
    }
    if (i->d.source == SIM_SLOT && ok)
        sim_set(w, &i->d, ok, state);
}

/* expect_tx and, with TX_DONE, complete_tx: a [address], b bytes */
static void run_mbarrier_tx(struct sim_warp *w, const struct sim_instr *i,
                            uint32_t mask)
{
    uint64_t offset[SIM_LANES];
    uint64_t value[SIM_LANES];
    uint64_t state;
    uint32_t ok = mbarrier_access(w, i, &i->a, mask, SIM_LOAD, offset);
    sim_values(w, &i->b, value);
    for (int l = 0; l < SIM_LANES; l++) {
        int64_t tx = (int64_t)(uint32_t)value[l];
        if (ok >> l & 1)
            mbarrier_step(w, i, l, offset[l], 0, i->flags & TX_DONE ? -tx : tx,
                          false, &state);
    }
}

/* d count, a state */
static void run_mbarrier_pending(struct sim_warp *w, const struct sim_instr *i,
                                 uint32_t mask)
{
    uint64_t state[SIM_LANES];
    sim_values(w, &i->a, state);
    for (int l = 0; l < SIM_LANES; l++)
        state[l] &= MAX_COUNT;
    sim_set(w, &i->d, mask, state);
}

/* ---- cp.async.bulk ---- */

int sim_tensor_map_element(int type)
{
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
    return type >= 0 && type < (int)sizeof bytes ? bytes[type] : 0;
}

/* Elements of a box along dimension d. */
static int64_t box_side(const struct sim_tensor_map *m, int d)
{
    return d == 0 ? m->box[0] : (m->box[d] + m->step[d] - 1) / m->step[d];
}

const char *sim_tensor_map_wrong(const struct sim_tensor_map *m)
{
    int element = sim_tensor_map_element(m->type);
    if (m->magic != SIM_TENSOR_MAGIC)
        return "it is no tensor map";
    if (element == 0)
        return "its type is not simulated";
    if (m->rank < 1 || m->rank > SIM_TENSOR_RANK)
        return "it has not 1 to 5 dimensions";
    if (m->interleave || m->fill)
        return "interleaving and filling with NaN are not simulated";
    if (m->swizzle > SIM_SWIZZLE_128)
        return "its swizzle is not simulated";
    if (m->address % 16)
        return "its address is not a multiple of 16";
    int64_t bytes = element;
    for (int d = 0; d < m->rank; d++) {
        if (m->dim[d] < 1 || m->dim[d] > (uint64_t)1 << 32)
            return "a dimension is not 1 to 2^32";
        if (d > 0 && (m->stride[d - 1] % 16 || m->stride[d - 1] >> 40))
            return "a stride is not a multiple of 16 below 2^40";
        if (m->box[d] < 1 || m->box[d] > 256)
            return "a side of the box is not 1 to 256";
        if (m->step[d] < 1 || m->step[d] > 8)
            return "an element stride is not 1 to 8";
        bytes *= box_side(m, d);
        if (bytes > MAX_BULK)
            return "the box is larger than shared memory";
    }
    if (m->box[0] * element % 16)
        return "a row of the box is not a multiple of 16 bytes";
    if (m->swizzle && m->box[0] * element > 16 << m->swizzle)
        return "a row of the box is longer than the swizzle";
    return NULL;
}

static bool transfer_loads(const struct sim_transfer *t)
{
    return t->i->space == LAB_PTX_SHARED; /* that of the destination */
}

/* The global side of a box, up to 32 rows at a time: elements outside of the tensor
 * are left alone. Between memory and `box`, or with NULL only checked. */
static bool map_rows(const struct sim_transfer *t, unsigned char *box)
{
    const struct sim_tensor_map *m = &t->map;
    const int element = sim_tensor_map_element(m->type);
    const int64_t row_bytes = (int64_t)m->box[0] * element;
    const int64_t low = t->at[0] < 0 ? -(int64_t)t->at[0] : 0;
    int64_t high = (int64_t)m->dim[0] - t->at[0];
    int64_t rows = 1;
    if (high > m->box[0])
        high = m->box[0];
    if (low >= high)
        return true;
    for (int d = 1; d < m->rank; d++)
        rows *= box_side(m, d);
    struct sim_access a = {.kind = transfer_loads(t) ? SIM_LOAD : SIM_STORE,
                           .space = LAB_PTX_GLOBAL,
                           .mask = 1u << t->lane,
                           .bytes = (int)((high - low) * element),
                           .align = element,
                           .async = true,
                           .proxy = true,
                           .issued = box == NULL};
    unsigned char *at[SIM_LANES];
    for (int64_t r = 0; r < rows; r++) {
        uint64_t address = m->address + (uint64_t)((t->at[0] + low) * element);
        int64_t rest = r;
        bool inside = true;
        for (int d = 1; d < m->rank; d++) {
            int64_t x = t->at[d] + rest % box_side(m, d) * m->step[d];
            rest /= box_side(m, d);
            inside = inside && x >= 0 && x < (int64_t)m->dim[d];
            address += (uint64_t)x * m->stride[d - 1];
        }
        if (!inside)
            continue;
        a.addr[t->lane] = address;
        if (!sim_check_access(t->w, t->i, &a, at))
            return false;
        if (!box)
            continue;
        unsigned char *part = box + r * row_bytes + low * element;
        if (a.kind == SIM_LOAD)
            memcpy(part, at[t->lane], (size_t)a.bytes);
        else
            memcpy(at[t->lane], part, (size_t)a.bytes);
    }
    return true;
}

static bool global_side(const struct sim_transfer *t, unsigned char *box)
{
    if (t->mapped)
        return map_rows(t, box);
    struct sim_access a = {.kind = transfer_loads(t) ? SIM_LOAD : SIM_STORE,
                           .space = LAB_PTX_GLOBAL,
                           .mask = 1u << t->lane,
                           .bytes = (int)t->bytes,
                           .align = 16,
                           .async = true,
                           .proxy = true,
                           .issued = box == NULL};
    unsigned char *at[SIM_LANES];
    a.addr[t->lane] = t->global;
    if (!sim_check_access(t->w, t->i, &a, at))
        return false;
    if (box && a.kind == SIM_LOAD)
        memcpy(box, at[t->lane], t->bytes);
    else if (box)
        memcpy(at[t->lane], box, t->bytes);
    return true;
}

/* The shared side. A swizzle of 32, 64 or 128 bytes changes the order of the pieces
 * of 16 bytes within each such span: piece p of the span at address x is at
 * p ^ (x / 128), in as many bits as p has. A row that is shorter than the span has a
 * span of its own all the same, and the rest is left alone (measured on an H100). */
static bool shared_side(const struct sim_transfer *t, unsigned char *box)
{
    const int swizzle = t->mapped ? t->map.swizzle : SIM_SWIZZLE_NONE;
    const uint32_t pieces = (1u << swizzle) - 1;
    const uint32_t row =
        swizzle ? t->map.box[0] * (uint32_t)sim_tensor_map_element(t->map.type)
                : t->bytes;
    const uint32_t span = swizzle ? 16u << swizzle : row;
    const uint32_t run = row == span ? t->bytes : 16; /* of an access */
    struct sim_access a = {.kind = transfer_loads(t) ? SIM_STORE : SIM_LOAD,
                           .space = LAB_PTX_SHARED,
                           .mask = 1u << t->lane,
                           .bytes = (int)run,
                           .align = 16,
                           .async = true,
                           .proxy = true,
                           .issued = box == NULL};
    unsigned char *at[SIM_LANES];
    for (uint32_t p = 0; p < t->bytes; p += 16) {
        uint64_t to = t->shared + p / row * span + p % row;
        to ^= (to >> 7 & pieces) << 4;
        if (p % run == 0) {
            a.addr[t->lane] = run == 16 ? to : t->shared;
            if (!sim_check_access(t->w, t->i, &a, at))
                return false;
        }
        if (!box)
            continue;
        unsigned char *there = at[t->lane] + (to - a.addr[t->lane]);
        if (a.kind == SIM_STORE)
            memcpy(there, box + p, 16);
        else
            memcpy(box + p, there, 16);
    }
    return true;
}

/* A load arrives: its bytes, then what its mbarrier counts. */
static void load_arrive(struct sim_transfer *t)
{
    unsigned char *box = lab_alloc(t->bytes); /* zeros */
    uint64_t state;
    if (!box)
        sim_end(t->w, t->i, 1u << t->lane, LAB_SIM_MEMORY, NULL,
                "no memory to simulate a copy of %u bytes", t->bytes);
    else if (global_side(t, box) && shared_side(t, box)) {
        sim_mbarrier_arrived(t->w, 1u << t->lane, t->barrier);
        mbarrier_step(t->w, t->i, t->lane, t->barrier, 0, -(int64_t)t->bytes,
                      false, &state);
    }
    lab_free(box);
}

/* A store has read shared memory. */
static void store_read(struct sim_transfer *t)
{
    if (t->staged)
        return;
    t->staged = lab_alloc(t->bytes);
    if (!t->staged)
        sim_end(t->w, t->i, 1u << t->lane, LAB_SIM_MEMORY, NULL,
                "no memory to simulate a copy of %u bytes", t->bytes);
    else
        shared_side(t, t->staged);
}

static void store_arrive(struct sim_transfer *t)
{
    store_read(t);
    if (t->staged)
        global_side(t, t->staged);
    lab_free(t->staged);
    t->staged = NULL;
}

/* The stores of `lanes` in all but the newest `pending` groups of each, and with
 * `open` all of them. `read`: only their reading of shared memory. */
static void stores_wait(struct sim_warp *w, uint32_t lanes, int64_t pending,
                        bool open, bool read)
{
    struct sim_async *s = w->async;
    size_t kept = 0;
    for (size_t k = 0; s && k < s->store_count; k++) {
        struct sim_transfer *t = &s->stores[k];
        bool due = lanes >> t->lane & 1 &&
                   (open || t->group < s->store_groups[t->lane] - pending);
        if (due && read)
            store_read(t);
        else if (due)
            store_arrive(t);
        if (!due || read)
            s->stores[kept++] = *t;
    }
    if (s)
        s->store_count = kept;
}

/* Queues a transfer of a lane that has been checked. Without memory for the queue it
 * arrives at once. */
static void transfer_queue(struct sim_transfer *t)
{
    struct sim_block *b = t->w->block;
    if (transfer_loads(t)) {
        struct sim_mbarriers *q = mbarriers_of(b);
        if (q && !lab_grow(&q->loads, q->count, &q->room, sizeof *t,
                           "copies that are under way"))
            q->loads[q->count++] = *t;
        else
            load_arrive(t);
        return;
    }
    struct sim_async *s = sim_async_of(t->w);
    if (s && !lab_grow(&s->stores, s->store_count, &s->store_room, sizeof *t,
                       "copies that are under way")) {
        t->group = s->store_groups[t->lane];
        s->stores[s->store_count++] = *t;
    } else {
        store_arrive(t);
    }
}

/* The map of a lane's copy, from memory. */
static bool map_read(struct sim_transfer *t, uint64_t address, int rank)
{
    struct sim_access a = {.kind = SIM_LOAD,
                           .space = LAB_PTX_GENERIC,
                           .mask = 1u << t->lane,
                           .bytes = SIM_TENSOR_MAP_BYTES,
                           .align = 64};
    unsigned char *at[SIM_LANES];
    a.addr[t->lane] = address;
    if (!sim_check_access(t->w, t->i, &a, at))
        return false;
    memcpy(&t->map, at[t->lane], sizeof t->map);
    const char *why = sim_tensor_map_wrong(&t->map);
    if (!why && t->map.rank != rank)
        why = "its number of dimensions is not that of the instruction";
    struct lab_sim_finding f = {
        .address = address, .bytes = SIM_TENSOR_MAP_BYTES, .argument = -1};
    if (why)
        sim_end(t->w, t->i, 1u << t->lane, LAB_SIM_MEMORY, &f,
                "the tensor map cannot be used: %s", why);
    t->bytes = (uint32_t)sim_tensor_map_element(t->map.type);
    for (int d = 0; !why && d < rank; d++)
        t->bytes *= (uint32_t)box_side(&t->map, d);
    return !why;
}

/* d [shared], a [global] or [map], b bytes, c [mbarrier], more: coordinates;
 * space: of the destination. */
static void run_bulk(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    uint64_t shared[SIM_LANES];
    uint64_t global[SIM_LANES];
    uint64_t bytes[SIM_LANES] = {0};
    uint64_t barrier[SIM_LANES] = {0};
    uint64_t at[SIM_TENSOR_RANK][SIM_LANES];
    sim_addresses(w, &i->d, shared);
    sim_addresses(w, &i->a, global);
    for (int d = 0; d < i->more_count; d++)
        sim_values(w, &i->more[d], at[d]);
    if (i->more_count == 0)
        sim_values(w, &i->b, bytes);
    if (i->space == LAB_PTX_SHARED)
        mask = mbarrier_access(w, i, &i->c, mask, SIM_LOAD, barrier);
    for (int l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        struct sim_transfer t = {.w = w,
                                 .i = i,
                                 .lane = l,
                                 .mapped = i->more_count > 0,
                                 .global = global[l],
                                 .shared = shared[l],
                                 .bytes = (uint32_t)bytes[l],
                                 .barrier = (uint32_t)barrier[l]};
        for (int d = 0; d < i->more_count; d++)
            t.at[d] = (int32_t)(uint32_t)at[d][l];
        if (t.mapped && !map_read(&t, global[l], i->more_count))
            continue;
        if (t.bytes % 16 || t.bytes > MAX_BULK) {
            sim_end(w, i, 1u << l, LAB_SIM_MEMORY,
                    SIM_HINT("the number of bytes of the copy"),
                    "a bulk copy of %u bytes: a multiple of 16 is needed, "
                    "and no more than shared memory has",
                    t.bytes);
            continue;
        }
        if (t.mapped && t.shared % 128) {
            struct lab_sim_finding f = {
                .address = t.shared, .bytes = (int)t.bytes, .argument = -1};
            sim_end(w, i, 1u << l, LAB_SIM_MEMORY, &f,
                    "the box of a tensor map begins at byte %llu of shared "
                    "memory, which is not a multiple of 128",
                    (unsigned long long)t.shared);
            continue;
        }
        if (t.bytes && global_side(&t, NULL) && shared_side(&t, NULL))
            transfer_queue(&t);
    }
}

static void run_bulk_commit(struct sim_warp *w, const struct sim_instr *i,
                            uint32_t mask)
{
    (void)i;
    struct sim_async *s = sim_async_of(w);
    for (int l = 0; s && l < SIM_LANES; l++)
        s->store_groups[l] += (int32_t)(mask >> l & 1);
}

enum { WAIT_READ = 1 };

static void run_bulk_wait(struct sim_warp *w, const struct sim_instr *i,
                          uint32_t mask)
{
    stores_wait(w, mask, (int64_t)i->a.value, false, i->flags & WAIT_READ);
}

/* ---- waiting at an mbarrier: what can arrive, arrives ---- */

static struct mbarrier peek(const struct sim_block *b, uint64_t offset)
{
    uint64_t word;
    memcpy(&word, b->shared + offset, sizeof word);
    return mbarrier_unpack(word);
}

/* Arrivals that wait for cp.async, at one mbarrier: their number, and with `make`
 * they and the copies before them are made. */
static uint32_t copy_arrivals(struct sim_block *b, uint64_t offset, bool make)
{
    uint32_t found = 0;
    for (int k = 0; k < b->warp_count; k++) {
        struct sim_warp *w = &b->warps[k];
        struct sim_async *s = w->async;
        for (size_t n = 0; s && n < s->copy_count; n++) {
            struct sim_async_copy *c = &s->copies[n];
            for (int l = 0; c->arrival && l < SIM_LANES; l++) {
                uint64_t state;
                if (!(c->lanes >> l & 1) || c->to[l] != offset)
                    continue;
                found++;
                if (!make)
                    continue;
                for (size_t before = 0; before < n; before++)
                    if (!s->copies[before].arrival)
                        copy_arrive(w, &s->copies[before], 1u << l);
                c->lanes &= ~(1u << l);
                sim_mbarrier_arrived(w, 1u << l, (uint32_t)offset);
                mbarrier_step(w, c->i, l, offset, 1, 0, false, &state);
            }
        }
        if (s && make)
            copies_forget(s);
    }
    return found;
}

/* Bulk copies of one mbarrier (or, below 0, of all) arrive in order of issue until
 * its phase is not `parity` any more. */
static bool loads_arrive(struct sim_block *b, int64_t offset, uint32_t parity)
{
    struct sim_mbarriers *q = b->mbarriers;
    size_t kept = 0;
    bool some = false;
    for (size_t k = 0; q && k < q->count; k++) {
        struct sim_transfer t = q->loads[k];
        if (offset < 0 || (t.barrier == (uint64_t)offset &&
                           peek(b, (uint64_t)offset).parity == parity)) {
            load_arrive(&t);
            some = true;
        } else {
            q->loads[kept++] = t;
        }
    }
    if (q)
        q->count = kept;
    return some;
}

/* d predicate, a [address], b state or parity. */
static void run_mbarrier_wait(struct sim_warp *w, const struct sim_instr *i,
                              uint32_t mask)
{
    struct sim_block *b = w->block;
    uint64_t offset[SIM_LANES];
    uint64_t value[SIM_LANES];
    uint32_t over = 0;
    uint32_t ok = mbarrier_access(w, i, &i->a, mask, SIM_LOAD, offset);
    sim_values(w, &i->b, value);
    for (int l = 0; l < SIM_LANES; l++) {
        struct mbarrier m;
        if (!(ok >> l & 1) || !mbarrier_at(w, i, l, offset[l], &m))
            continue;
        uint32_t parity = (uint32_t)(i->flags & BY_PARITY ? value[l] & 1
                                                          : value[l] >> 61 & 1);
        if (m.parity == parity &&
            copy_arrivals(b, offset[l], false) >= m.pending)
            copy_arrivals(b, offset[l], true);
        m = peek(b, offset[l]);
        if (m.parity == parity && m.pending == 0)
            loads_arrive(b, (int64_t)offset[l], parity);
        if (peek(b, offset[l]).parity == parity)
            continue;
        over |= 1u << l;
        sim_mbarrier_passed(w, 1u << l, (uint32_t)offset[l]);
    }
    if (i->d.source == SIM_PREDICATE)
        w->preds[i->d.slot] = (w->preds[i->d.slot] & ~mask) | over;
    if (ok & ~over)
        w->state = SIM_WAITING;
}

enum { NO_INCREMENT = 1 };

/* cp.async.mbarrier.arrive: a [address]. Without .noinc the phase waits for one
 * arrival more, which is this one. */
static void run_copy_arrive(struct sim_warp *w, const struct sim_instr *i,
                            uint32_t mask)
{
    uint64_t offset[SIM_LANES] = {0};
    uint32_t ok = mbarrier_access(w, i, &i->a, mask, SIM_LOAD, offset);
    for (int l = 0; l < SIM_LANES && !(i->flags & NO_INCREMENT); l++) {
        struct mbarrier m;
        unsigned char *at =
            ok >> l & 1 ? mbarrier_at(w, i, l, offset[l], &m) : NULL;
        if (at && m.pending == MAX_COUNT) {
            sim_end(w, i, 1u << l, LAB_SIM_BARRIER, NULL,
                    "more than %d arrivals at an mbarrier", MAX_COUNT);
        } else if (at) {
            m.pending++;
            mbarrier_put(at, &m);
        }
    }
    struct sim_async_copy *c = ok ? copy_new(w) : NULL;
    if (c) {
        c->i = i;
        c->arrival = true;
        c->lanes = ok;
        memcpy(c->to, offset, sizeof offset);
        w->async->copy_count++;
        return;
    }
    copies_wait(w, ok, 0, true); /* no memory to wait in: all arrives now */
    for (int l = 0; l < SIM_LANES; l++) {
        uint64_t state;
        if (ok >> l & 1)
            mbarrier_step(w, i, l, offset[l], 1, 0, false, &state);
    }
}

/* ---- the end ---- */

/* Everything that a warp has under way arrives. */
static void warp_arrive(struct sim_warp *w)
{
    struct sim_async *s = w->async;
    for (size_t k = 0; k < s->copy_count; k++) {
        struct sim_async_copy *c = &s->copies[k];
        for (int l = 0; c->arrival && l < SIM_LANES; l++) {
            uint64_t state;
            if (!(c->lanes >> l & 1))
                continue;
            sim_mbarrier_arrived(w, 1u << l, (uint32_t)c->to[l]);
            mbarrier_step(w, c->i, l, c->to[l], 1, 0, false, &state);
        }
        if (!c->arrival)
            copy_arrive(w, c, c->lanes);
    }
    s->copy_count = 0;
    stores_wait(w, ~0u, 0, true, false);
}

bool sim_tensor_arrive(struct sim_block *b)
{
    bool some = loads_arrive(b, -1, 0);
    for (int k = 0; k < b->warp_count; k++) {
        struct sim_async *s = b->warps[k].async;
        if (!s || (s->copy_count == 0 && s->store_count == 0))
            continue;
        some = true;
        warp_arrive(&b->warps[k]);
    }
    return some;
}

void sim_tensor_warp_end(struct sim_warp *w)
{
    struct sim_async *s = w->async;
    if (!s)
        return;
    for (size_t k = 0; k < s->store_count && !w->block->stopped; k++) {
        const struct sim_transfer *t = &s->stores[k];
        if (!t->staged)
            sim_find(
                w, t->i, 1u << t->lane, LAB_SIM_RACE,
                SIM_HINT(
                    "cp.async.bulk.wait_group.read before the thread ends"),
                "the thread ended before this copy had read shared "
                "memory; cp.async.bulk.wait_group is missing");
    }
    for (size_t k = 0; k < s->product_count && !w->block->stopped; k++)
        sim_find(
            w, s->products[k].i, w->lanes, LAB_SIM_RACE,
            SIM_HINT(
                "wgmma.commit_group and wgmma.wait_group behind the product"),
            "the warp ended before this product had; wgmma.wait_group or "
            "wgmma.commit_group is missing before its sums are used");
    s->product_count = 0;
    warp_arrive(w);
}

void sim_tensor_block_end(struct sim_block *b)
{
    struct sim_mbarriers *q = b->mbarriers;
    for (int k = 0; k < b->warp_count; k++) {
        struct sim_async *s = b->warps[k].async;
        for (size_t n = 0; s && n < s->store_count; n++)
            lab_free(s->stores[n].staged);
        if (s) {
            lab_free(s->copies);
            lab_free(s->stores);
            lab_free(s->products);
            lab_free(s->sums);
        }
        lab_free(s);
        b->warps[k].async = NULL;
    }
    /* Its shared memory goes to another block while the copies still come. */
    for (size_t k = 0; q && !b->stopped && k < q->count; k++)
        sim_find(q->loads[k].w, q->loads[k].i, 1u << q->loads[k].lane,
                 LAB_SIM_RACE, SIM_HINT("a wait at the mbarrier of the copy"),
                 "the block ended before this copy to its shared memory, which "
                 "nothing waited for");
    if (q) {
        lab_free(q->loads);
        lab_free(q->alive);
    }
    lab_free(q);
    b->mbarriers = NULL;
}

/* ---- lowering ---- */

static enum lab_status lower_nothing(struct sim_lowering *l,
                                     const struct lab_ptx_instr *in,
                                     struct sim_instr *out)
{
    (void)l;
    (void)in;
    out->run = sim_run_nothing;
    return LAB_OK;
}

static enum lab_status lower_never(struct sim_lowering *l,
                                   const struct lab_ptx_instr *in,
                                   struct sim_instr *out)
{
    (void)out;
    return sim_lower_refuse(l, in, "it is not simulated");
}

static enum lab_status lower_commit(struct sim_lowering *l,
                                    const struct lab_ptx_instr *in,
                                    struct sim_instr *out)
{
    (void)l;
    out->run =
        lab_ptx_has_modifier(in, "bulk") ? run_bulk_commit : run_copy_commit;
    return LAB_OK;
}

static enum lab_status lower_wait(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out)
{
    int64_t pending = 0;
    bool all = lab_ptx_has_modifier(in, "wait_all");
    if (!all && (in->operand_count != 1 ||
                 !sim_number(&in->operands[0], &pending) || pending < 0))
        return sim_lower_refuse(l, in, "it needs a number of groups");
    out->a.source = SIM_IMMEDIATE;
    out->a.value = (uint64_t)pending;
    out->flags = lab_ptx_has_modifier(in, "read") ? WAIT_READ : 0;
    out->run = all                                ? run_copy_wait_all
               : lab_ptx_has_modifier(in, "bulk") ? run_bulk_wait
                                                  : run_copy_wait;
    return LAB_OK;
}

/* Operands that are not those of the copy but of a cache policy come last. */
static int operands_of(const struct lab_ptx_instr *in)
{
    return in->operand_count - lab_ptx_has_modifier(in, "L2::cache_hint") -
           lab_ptx_has_modifier(in, "multicast::cluster");
}

/* cp.async.ca [to], [from], bytes {, source bytes or predicate} */
static enum lab_status lower_copy(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out)
{
    const struct lab_ptx_operand *o = in->operands;
    int count = operands_of(in);
    int64_t bytes;
    if (count < 3 || count > 4 || !sim_number(&o[2], &bytes))
        return sim_lower_refuse(l, in, "it needs two addresses and a size");
    if ((bytes != 4 && bytes != 8 && bytes != 16) ||
        (bytes != 16 && lab_ptx_has_modifier(in, "cg")))
        return sim_lower_refuse(l, in,
                                "its size is not 4, 8 or 16 bytes "
                                "(.cg: 16)");
    enum lab_status st = sim_lower_address(l, &o[0], &out->d);
    if (!st)
        st = sim_lower_address(l, &o[1], &out->a);
    if (!st)
        st = sim_lower_operand(l, &o[count == 4 ? 3 : 2], &out->c);
    if (out->c.source == SIM_PREDICATE)
        out->flags = IGNORE_SOURCE;
    out->bytes = (uint8_t)bytes;
    out->run = run_copy;
    return st;
}

static enum lab_status lower_copy_arrive(struct sim_lowering *l,
                                         const struct lab_ptx_instr *in,
                                         struct sim_instr *out)
{
    if (in->operand_count != 1)
        return sim_lower_refuse(l, in, "it needs an address");
    out->space = (uint8_t)sim_space_of(in);
    out->flags = lab_ptx_has_modifier(in, "noinc") ? NO_INCREMENT : 0;
    out->run = run_copy_arrive;
    return sim_lower_address(l, &in->operands[0], &out->a);
}

/* [map, {x, y}]: the map's address and the coordinates. */
static enum lab_status lower_box(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 const struct lab_ptx_operand *o,
                                 struct sim_instr *out)
{
    struct lab_ptx_operand map = *o;
    const struct lab_ptx_operand *at = o->parts + 1;
    int rank = 0;
    int count = o->part_count - 1;
    for (int k = 0; k < in->modifier_count; k++) {
        const char *m = in->modifiers[k];
        if (m[0] >= '1' && m[0] <= '5' && strcmp(m + 1, "d") == 0)
            rank = m[0] - '0';
    }
    if (count == 1 && at->kind == LAB_PTX_OPERAND_VECTOR) {
        count = at->part_count;
        at = at->parts;
    }
    if (o->kind != LAB_PTX_OPERAND_ADDRESS || rank == 0 || count != rank)
        return sim_lower_refuse(l, in,
                                "it needs a map and a coordinate for "
                                "each dimension");
    struct sim_operand *more = sim_lower_take(l, (size_t)count * sizeof *more);
    if (!more)
        return lab_no_memory("a kernel's operands");
    map.part_count = 1;
    enum lab_status st = sim_lower_address(l, &map, &out->a);
    for (int k = 0; !st && k < count; k++)
        st = sim_lower_operand(l, &at[k], &more[k]);
    out->more = more;
    out->more_count = count;
    return st;
}

static enum lab_status lower_bulk(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out)
{
    const struct lab_ptx_operand *o = in->operands;
    bool mapped = lab_ptx_has_modifier(in, "tensor");
    bool store = lab_ptx_has_modifier(in, "bulk_group");
    int count = operands_of(in);
    if (count != (store ? 3 : 4) - mapped)
        return sim_lower_refuse(l, in, "it has not the operands it needs");
    for (int k = 0; k < in->modifier_count; k++)
        if (strncmp(in->modifiers[k], "im2col", 6) == 0 ||
            strncmp(in->modifiers[k], "tile::", 6) == 0 ||
            strcmp(in->modifiers[k], "cp_mask") == 0)
            return sim_lower_refuse(l, in, "this form is not simulated");
    if (!lab_ptx_has_modifier(in, "global"))
        return sim_lower_refuse(l, in,
                                "between blocks of a cluster it is not "
                                "simulated");
    const struct lab_ptx_operand *global = &o[store ? 0 : 1];
    enum lab_status st = sim_lower_address(l, &o[store ? 1 : 0], &out->d);
    if (!st)
        st = mapped ? lower_box(l, in, global, out)
                    : sim_lower_address(l, global, &out->a);
    if (!st && !mapped)
        st = sim_lower_operand(l, &o[2], &out->b);
    if (!st && !store)
        st = sim_lower_address(l, &o[count - 1], &out->c);
    out->space = (uint8_t)(store ? LAB_PTX_GLOBAL : LAB_PTX_SHARED);
    out->run = run_bulk;
    return st;
}

/* d state or predicate, a [address], b the rest, by default one arrival */
static enum lab_status lower_mbarrier(struct sim_lowering *l,
                                      const struct lab_ptx_instr *in,
                                      struct sim_instr *out)
{
    static const struct {
        const char *name;
        sim_run_fn *run;
        int results;
        int least; /* operands */
        int most;
        uint8_t flags;
    } kinds[] = {
        {"init", run_mbarrier_init, 0, 2, 2, 0},
        {"inval", run_mbarrier_inval, 0, 1, 1, 0},
        {"arrive", run_mbarrier_arrive, 1, 2, 3, 0},
        {"arrive_drop", run_mbarrier_arrive, 1, 2, 3, ARRIVE_DROP},
        {"expect_tx", run_mbarrier_tx, 0, 2, 2, 0},
        {"complete_tx", run_mbarrier_tx, 0, 2, 2, TX_DONE},
        {"test_wait", run_mbarrier_wait, 1, 3, 3, 0},
        {"try_wait", run_mbarrier_wait, 1, 3, 4, 0},
        {"pending_count", run_mbarrier_pending, 1, 2, 2, 0},
    };
    const struct lab_ptx_operand *o = in->operands;
    const char *name = in->modifier_count > 0 ? in->modifiers[0] : "";
    size_t k = 0;
    while (k < sizeof kinds / sizeof kinds[0] &&
           strcmp(kinds[k].name, name) != 0)
        k++;
    if (k == sizeof kinds / sizeof kinds[0] ||
        in->operand_count < kinds[k].least || in->operand_count > kinds[k].most)
        return sim_lower_refuse(l, in, "it has not the operands it needs");
    out->run = kinds[k].run;
    out->flags = kinds[k].flags;
    out->space = (uint8_t)sim_space_of(in);
    out->b.source = SIM_IMMEDIATE;
    out->b.value = 1;
    if (out->run == run_mbarrier_arrive &&
        lab_ptx_has_modifier(in, "expect_tx"))
        out->flags |= ARRIVE_TX;
    if (lab_ptx_has_modifier(in, "parity"))
        out->flags |= BY_PARITY;
    if (out->flags & ARRIVE_TX && in->operand_count != 3)
        return sim_lower_refuse(l, in, "it needs a number of bytes");
    enum lab_status st = LAB_OK;
    if (kinds[k].results)
        st = sim_lower_operand(l, o++, &out->d);
    if (st)
        return st;
    enum sim_source result =
        out->run == run_mbarrier_wait ? SIM_PREDICATE : SIM_SLOT;
    if (kinds[k].results && out->d.source != SIM_NONE &&
        out->d.source != result)
        return sim_lower_refuse(l, in, "its result has the wrong type");
    if (out->run == run_mbarrier_pending)
        return sim_lower_operand(l, o, &out->a);
    st = sim_lower_address(l, o++, &out->a);
    if (!st && o < in->operands + in->operand_count)
        st = sim_lower_operand(l, o, &out->b);
    return st;
}

enum lab_status sim_lower_async(struct sim_lowering *l,
                                const struct lab_ptx_instr *in,
                                struct sim_instr *out, bool *known)
{
    static const struct sim_form forms[] = {
        {"cp", {"async", "commit_group"}, lower_commit},
        {"cp", {"async", "wait_group"}, lower_wait},
        {"cp", {"async", "wait_all"}, lower_wait},
        {"cp", {"async", "mbarrier"}, lower_copy_arrive},
        {"cp", {"async", "bulk", "commit_group"}, lower_commit},
        {"cp", {"async", "bulk", "wait_group"}, lower_wait},
        {"cp", {"async", "bulk", "prefetch"}, lower_nothing},
        {"cp", {"async", "bulk"}, lower_bulk},
        {"cp", {"async"}, lower_copy},
        {"cp", {"reduce"}, lower_never},
        {"mbarrier", {NULL}, lower_mbarrier},
        {"griddepcontrol", {NULL}, lower_nothing},
        {"setmaxnreg", {NULL}, lower_nothing},
    };
    const struct sim_form *f =
        sim_form_find(forms, sizeof forms / sizeof forms[0], in);
    *known = f != NULL;
    return f ? f->lower(l, in, out) : LAB_OK;
}
