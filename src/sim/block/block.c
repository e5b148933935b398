/* A block: its warps in turn, its barriers, its memory. It is an object that goes
 * on by one instruction or by many and can be looked at in between. */
#include <string.h>

#include "base/mem.h"
#include "block/block.h"

enum {
    TURN = 2048,  /* instructions, then the next warp */
    ROUNDS = 4096 /* in which warps did nothing but wait */
};

/* A named barrier. */
struct sim_bar {
    uint32_t waiting;              /* warps that arrived and wait */
    int arrived;                   /* warps, also those that went on */
    int threads;                   /* that it is for; 0: all of the block */
    const struct sim_instr *first; /* the instruction that arrived first */
    uint32_t any;                  /* lanes with a true value: of any warp */
    bool all;
    int count;
    bool released; /* by warps that did not wait */
    struct sim_clock clock;
};

/* What a block keeps beside its warps; b->barriers. */
struct room {
    struct sim_bar bars[SIM_BARS];
    const struct sim_instr *at[SIM_WARPS]; /* of warps that wait: bar.red */
    uint32_t mask[SIM_WARPS];
    uint64_t random;
    int last;      /* the warp that had its turn */
    int turn_left; /* instructions of its turn; 0: choose another */
    int idle;      /* turns since a warp did more than look */
    int rounds;    /* in which all warps only waited */
    unsigned char *memory;
};

static struct room *room_of(const struct sim_block *b)
{
    return b->barriers;
}

/* ---- memory ---- */

static size_t up(size_t bytes)
{
    return (bytes + 127) / 128 * 128;
}

static int warps_of(const struct sim_grid *g)
{
    const uint32_t *n = g->launch->block;
    return (int)((n[0] * n[1] * n[2] + SIM_LANES - 1) / SIM_LANES);
}

enum lab_status sim_block_open(struct sim_block *b)
{
    const struct lab_sim_kernel *k = b->grid->kernel;
    size_t warps = (size_t)warps_of(b->grid);
    size_t regs = up((size_t)k->slots * 128);
    size_t preds = up((size_t)k->preds * sizeof(uint32_t));
    size_t local = up((size_t)k->local_bytes * SIM_LANES);
    size_t stack = up(sizeof(struct sim_stack));
    b->warp_count = (int)warps;
    b->shared_bytes = sim_shared_bytes(k, b->grid->launch->shared_bytes);
    size_t unwritten =
        up((size_t)k->tracked_count * sizeof(struct sim_unwritten));
    size_t each =
        regs + preds + local + stack + unwritten + up(sizeof(struct sim_warp));
    size_t bytes = warps * each + up((size_t)b->shared_bytes);
    struct room *r = lab_alloc(sizeof(*r));
    unsigned char *p = lab_alloc_aligned(bytes + 128);
    if (!r || !p) {
        lab_free(r);
        lab_free(p);
        return lab_no_memory("a block of a kernel");
    }
    r->memory = p;
    b->barriers = r;
    b->shared = p;
    p += up((size_t)b->shared_bytes);
    b->warps = (struct sim_warp *)(void *)p;
    p += warps * up(sizeof(struct sim_warp));
    for (size_t i = 0; i < warps; i++) {
        struct sim_warp *w = &b->warps[i];
        w->block = b;
        w->index = (int)i;
        w->regs = p;
        w->preds = (uint32_t *)(void *)(p + regs);
        w->local = p + regs + preds;
        w->stack = (struct sim_stack *)(void *)(p + regs + preds + local);
        p += regs + preds + local + stack;
        w->unwritten = (struct sim_unwritten *)(void *)p;
        p += unwritten;
    }
    return LAB_OK;
}

void sim_block_close(struct sim_block *b)
{
    if (!b->barriers)
        return;
    lab_free(room_of(b)->memory);
    lab_free(b->barriers);
    b->barriers = NULL;
}

/* splitmix64, of which each seed and block has a sequence of its own. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

enum lab_status sim_block_start(struct sim_block *b, uint64_t number)
{
    const struct sim_grid *g = b->grid;
    const struct lab_sim_kernel *k = g->kernel;
    const uint32_t *size = g->launch->grid;
    struct room *r = room_of(b);
    unsigned char *memory = r->memory;
    memset(r, 0, sizeof(*r));
    r->memory = memory;
    r->random = g->options->seed ^ number * 0xD1B54A32D192ED03;
    r->last = -1;
    b->number = number;
    b->index[0] = (uint32_t)(number % size[0]);
    b->index[1] = (uint32_t)(number / size[0] % size[1]);
    b->index[2] = (uint32_t)(number / size[0] / size[1]);
    b->stopped = false;
    const uint32_t *n = g->launch->block;
    uint32_t threads = n[0] * n[1] * n[2];
    memset(b->shared, 0, (size_t)b->shared_bytes);
    for (int i = 0; i < b->warp_count; i++) {
        struct sim_warp *w = &b->warps[i];
        uint32_t rest = threads - (uint32_t)i * SIM_LANES;
        memset(w->regs, 0, (size_t)k->slots * 128);
        memset(w->preds, 0, (size_t)k->preds * sizeof(uint32_t));
        memset(w->local, 0, (size_t)k->local_bytes * SIM_LANES);
        memset(&w->counts, 0, sizeof(w->counts));
        sim_unwritten_start(w);
        sim_warp_start(w, rest >= SIM_LANES ? ~0u : (1u << rest) - 1);
    }
    return sim_check_block_begin(b);
}

void sim_block_end(struct sim_block *b)
{
    for (int i = 0; i < b->warp_count; i++)
        if (b->warps[i].state != SIM_DONE)
            sim_tensor_warp_end(&b->warps[i]);
    sim_tensor_block_end(b);
    sim_check_block_end(b);
}

/* ---- barriers ---- */

/* How many warps it waits for: of all, those that have not ended. */
static int needed(const struct sim_block *b, const struct sim_bar *bar)
{
    if (bar->threads)
        return bar->threads / SIM_LANES;
    int n = 0;
    for (int i = 0; i < b->warp_count; i++)
        n += b->warps[i].state != SIM_DONE;
    return n;
}

/* Before Volta, threads that ended were waited for at a barrier of all threads. From
 * then on "bar.sync (and their derivatives) ... will not succeed until reached by all
 * non-exited threads in the block" (CUDA C++ Programming Guide, "Independent Thread
 * Scheduling"), with .aligned as without. */
static void find_ended(struct sim_block *b, const struct sim_bar *bar)
{
    uint32_t thread[2] = {0, 0};
    int gone = 0;
    for (int k = 0; k < b->warp_count; k++) {
        const struct sim_warp *w = &b->warps[k];
        for (uint32_t rest = w->lanes & ~w->alive & ~w->faulted; rest;
             rest &= rest - 1) {
            thread[1] = (uint32_t)(k * SIM_LANES + __builtin_ctz(rest));
            thread[0] = gone++ ? thread[0] : thread[1];
        }
    }
    if (gone == 0 || !bar->waiting)
        return;
    struct sim_warp *w = &b->warps[__builtin_ctz(bar->waiting)];
    const uint32_t *n = b->grid->launch->block;
#define AT(t) (t) % n[0], (t) / n[0] % n[1], (t) / n[0] / n[1]
    sim_find(w, bar->first, w->active, LAB_SIM_BARRIER, NULL,
             "barrier that %d threads never reach, (%u,%u,%u) to (%u,%u,%u): "
             "they ended",
             gone, AT(thread[0]), AT(thread[1]));
#undef AT
}

/* Lets the warps that wait go on, if all arrived. */
static void open_if_full(struct sim_block *b, int number)
{
    struct room *r = room_of(b);
    struct sim_bar *bar = &r->bars[number];
    if (bar->arrived == 0 || bar->arrived < needed(b, bar))
        return;
    if (!bar->threads && number < 16 && b->grid->kernel->ptx->target < 70)
        find_ended(b, bar);
    struct sim_bar full = *bar;
    memset(bar, 0, sizeof(*bar));
    for (int k = 0; full.released && k < b->warp_count; k++)
        if (full.waiting >> k & 1)
            sim_acquire(&b->warps[k], &full.clock);
    sim_block_synchronised(b, full.waiting);
    for (int k = 0; k < b->warp_count; k++) {
        struct sim_warp *w = &b->warps[k];
        const struct sim_instr *i = r->at[k];
        if (!(full.waiting >> k & 1))
            continue;
        w->state = SIM_READY;
        uint64_t v[SIM_LANES];
        uint64_t value = i->flags == SIM_BAR_POPC  ? (uint64_t)full.count
                         : i->flags == SIM_BAR_AND ? (uint64_t)full.all
                                                   : full.any != 0;
        for (int l = 0; l < SIM_LANES; l++)
            v[l] = value;
        if (i->flags >= SIM_BAR_POPC)
            sim_set(w, &i->d, r->mask[k], v);
    }
}

static bool barrier_fits(struct sim_warp *w, const struct sim_instr *i,
                         const struct sim_bar *bar, int threads)
{
    const char *wrong = NULL;
    int all = w->block->warp_count * SIM_LANES;
    if (threads < 0 || threads % SIM_LANES || threads > 1024)
        wrong = "a barrier for a number of threads that is no multiple of 32";
    else if (bar->arrived &&
             (bar->threads ? bar->threads : all) != (threads ? threads : all))
        wrong = "a barrier for another number of threads than the other warps'";
    else if (bar->arrived && !threads && !bar->threads && bar->first != i &&
             w->block->grid->options->checks >> LAB_SIM_BARRIER & 1)
        wrong = "another barrier than the one where other warps of the block "
                "wait";
    if (!wrong)
        return true;
    sim_end(w, i, w->active, LAB_SIM_BARRIER, NULL, "%s", wrong);
    return false;
}

void sim_barrier(struct sim_warp *w, const struct sim_instr *i, int number,
                 int threads, enum sim_bar_kind kind, uint32_t values)
{
    struct sim_block *b = w->block;
    struct room *r = room_of(b);
    struct sim_bar *bar = &r->bars[number];
    if (!barrier_fits(w, i, bar, threads))
        return;
    b->counts[sim_index(w, i)].barriers++;
    if (!bar->arrived) {
        bar->threads = threads;
        bar->first = i;
        bar->all = true;
    }
    bar->arrived++;
    values &= w->active;
    bar->any |= values;
    bar->all &= values == w->active;
    bar->count += __builtin_popcount(values);
    if (kind != SIM_BAR_ARRIVE) {
        bar->waiting |= 1u << w->index;
        r->at[w->index] = i;
        r->mask[w->index] = w->active;
        w->state = SIM_AT_BARRIER;
        w->barrier = number;
    } else {
        bar->released = true;
        sim_release(w, &bar->clock);
    }
    open_if_full(b, number);
}

/* A warp ended: barriers of all threads may be full now. */
static void ended(struct sim_block *b, struct sim_warp *w)
{
    sim_tensor_warp_end(w);
    for (int k = 0; k < SIM_BARS; k++)
        open_if_full(b, k);
}

/* ---- turns ---- */

static int count_state(const struct sim_block *b, enum sim_state state)
{
    int n = 0;
    for (int i = 0; i < b->warp_count; i++)
        n += b->warps[i].state == state;
    return n;
}

/* The warp that is next; -1: none is ready. */
static int choose(struct sim_block *b)
{
    struct room *r = room_of(b);
    int ready = count_state(b, SIM_READY);
    if (ready == 0)
        return -1;
    uint64_t skip =
        b->grid->options->seed ? draw(&r->random) % (uint64_t)ready : 0;
    int from = b->grid->options->seed ? 0 : r->last + 1;
    for (int k = 0; k < 2 * b->warp_count; k++) {
        int i = (from + k) % b->warp_count;
        if (b->warps[i].state == SIM_READY && skip-- == 0)
            return i;
    }
    return -1;
}

/* No warp is ready. false: none will ever be. */
static bool wake(struct sim_block *b)
{
    struct room *r = room_of(b);
    if (count_state(b, SIM_WAITING) == 0)
        return false;
    /* Copies arrive as late as they can: all have asked in vain, twice. */
    if (r->rounds >= 2 && sim_tensor_arrive(b))
        r->rounds = 0;
    if (++r->rounds > ROUNDS)
        return false;
    for (int i = 0; i < b->warp_count; i++)
        if (b->warps[i].state == SIM_WAITING)
            b->warps[i].state = SIM_READY;
    return true;
}

/* Does an earlier warp wait where this one does? */
static bool waits_with_another(const struct sim_block *b, int warp)
{
    const struct sim_warp *w = &b->warps[warp];
    for (int k = 0; k < warp; k++)
        if (b->warps[k].state == w->state && b->warps[k].pc == w->pc)
            return true;
    return false;
}

/* A finding for each instruction at which warps wait: which of them is wrong is not
 * known. */
static void find_deadlock(struct sim_block *b)
{
    const struct room *r = room_of(b);
    const int done = count_state(b, SIM_DONE);
    for (int k = 0; k < b->warp_count; k++) {
        struct sim_warp *w = &b->warps[k];
        if ((w->state != SIM_AT_BARRIER && w->state != SIM_WAITING) ||
            waits_with_another(b, k))
            continue;
        const struct lab_sim_kernel *kernel = b->grid->kernel;
        const struct sim_instr *i = &kernel->instrs[w->pc > 0 ? w->pc - 1 : 0];
        if (w->state == SIM_AT_BARRIER)
            sim_find(w, i, w->active ? w->active : w->lanes, LAB_SIM_BARRIER,
                     NULL,
                     "deadlock: %d of %d warps wait at a barrier that the "
                     "others do not reach (%d ended)",
                     __builtin_popcount(r->bars[w->barrier].waiting),
                     b->warp_count, done);
        else
            sim_find(w, i, w->active ? w->active : w->lanes, LAB_SIM_BARRIER,
                     SIM_HINT("who arrives at the mbarrier, how often, and the "
                              "bytes that it expects"),
                     "deadlock: waits for an mbarrier that nothing completes");
    }
    b->stopped = true;
}

/* The next warp's turn, of at most `most` instructions. */
static enum sim_progress take_turn(struct sim_block *b, int64_t most,
                                   int64_t *used)
{
    struct room *r = room_of(b);
    *used = 0;
    if (b->stopped)
        return SIM_ENDED;
    if (r->turn_left <= 0 || b->warps[r->last].state != SIM_READY) {
        int next = choose(b);
        if (next < 0 && count_state(b, SIM_DONE) == b->warp_count)
            return SIM_ENDED;
        if (next < 0 && !wake(b)) {
            find_deadlock(b);
            return SIM_ENDED;
        }
        if (next < 0)
            return SIM_RUNS;
        r->last = next;
        r->turn_left = b->grid->options->seed
                           ? TURN / 4 + (int)(draw(&r->random) % TURN)
                           : TURN;
    }
    struct sim_warp *w = &b->warps[r->last];
    int64_t before = w->steps;
    int64_t turn = r->turn_left < most ? r->turn_left : most;
    sim_warp_run(w, turn);
    *used = w->steps - before;
    r->turn_left -= (int)*used;
    bool looked = w->state == SIM_WAITING || w->stack->turn_over;
    if (w->stack->turn_over || w->state != SIM_READY)
        r->turn_left = 0;
    if (w->state == SIM_DONE)
        ended(b, w);
    if (!looked) {
        r->idle = 0;
        r->rounds = 0;
    } else if (++r->idle > 2 * b->warp_count) {
        /* Those that look at memory keep no one who waits from looking. */
        r->idle = 0;
        wake(b);
        return SIM_YIELDS;
    }
    return SIM_RUNS;
}

enum sim_progress sim_block_run(struct sim_block *b, int64_t most)
{
    while (most > 0) {
        int64_t used;
        enum sim_progress p = take_turn(b, most, &used);
        if (p != SIM_RUNS)
            return p;
        most -= used;
    }
    return SIM_RUNS;
}

enum sim_progress sim_block_step(struct sim_block *b)
{
    int64_t used = 0;
    enum sim_progress p = SIM_RUNS;
    while (p == SIM_RUNS && used == 0)
        p = take_turn(b, 1, &used);
    return p;
}
