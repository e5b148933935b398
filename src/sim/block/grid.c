/* A launch: checks it, spreads its blocks over threads of the host or runs them in
 * one order where that matters, and adds up what they counted. */
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "block/block.h"

enum {
    LIVE_BLOCKS = 1024,      /* that wait for each other */
    LIVE_BYTES = 512 << 20,  /* of their memory, about */
    TURN_OF_BLOCK = 1 << 20, /* instructions, then others may begin */
    LOOK = 1 << 16,          /* instructions between looks at the stop flag */
    AHEAD = 512              /* blocks that may begin before the oldest ends */
};

/* What a block that has ended used of the budget; used -1: it has not. */
struct spent {
    int64_t used;
    const struct sim_instr *last; /* that its first warp executed */
};

/* The budget is of the launch, and its finding the same for any number of host
 * threads. Each block may use its share without asking; one that needs more waits
 * until all blocks before it have ended, and goes on with what they left. So the
 * first block with which the sum is beyond the budget is known, though others may
 * have run after it. */
struct budget {
    int64_t all; /* 0: without end */
    int64_t share;
    pthread_cond_t moved; /* `first` has, or the launch is over */
    uint64_t first;       /* the oldest block that has not ended */
    int64_t spent;        /* by the blocks before it */
    struct spent ended[AHEAD];
    bool found;
    uint64_t block; /* that went beyond it */
    uint32_t thread;
    const struct sim_instr *at;
};

/* What the threads of a launch share. */
struct launch {
    struct sim_grid grid;
    uint64_t blocks;
    int threads;          /* of the host */
    atomic_ullong next;   /* block that is not taken yet */
    atomic_bool over;     /* the budget is used up, or something failed */
    pthread_mutex_t lock; /* of what follows */
    struct budget budget;
    enum lab_status status;
    char error[512];
    struct sim_tally *tally;
    struct lab_sim_counts *counts;
};

/* ---- is it a launch ---- */

static enum lab_status check_size(const struct lab_sim_launch *l,
                                  const struct lab_sim_device *d)
{
    static const uint32_t most_block[] = {1024, 1024, 64};
    static const uint32_t most_grid[] = {INT32_MAX, 65535, 65535};
    const struct lab_ptx_function *f = l->kernel->function;
    uint64_t threads = 1;
    uint64_t most_threads = 1;
    for (int k = 0; k < 3; k++) {
        if (l->block[k] < 1 || l->block[k] > most_block[k])
            return lab_fail(LAB_E_ARG,
                            "[sim.block-side] kernel %s: a block of %u in "
                            "dimension %c; 1 to %u "
                            "are possible",
                            l->kernel->name, l->block[k], "xyz"[k],
                            most_block[k]);
        if (l->grid[k] < 1 || l->grid[k] > most_grid[k])
            return lab_fail(LAB_E_ARG,
                            "[sim.grid-side] kernel %s: a grid of %u blocks in "
                            "dimension %c; 1 "
                            "to %u are possible",
                            l->kernel->name, l->grid[k], "xyz"[k],
                            most_grid[k]);
        threads *= l->block[k];
        most_threads *= f->max_threads[k] > 0 ? (uint64_t)f->max_threads[k] : 1;
    }
    if (threads > (uint64_t)d->max_threads)
        return lab_fail(LAB_E_ARG,
                        "[sim.block-threads] kernel %s: a block of %llu "
                        "threads; %s has %d at most",
                        l->kernel->name, (unsigned long long)threads, d->name,
                        d->max_threads);
    if (f->max_threads[0] > 0 && (threads > most_threads ||
                                  (f->exact_threads && threads < most_threads)))
        return lab_fail(LAB_E_ARG,
                        "[sim.block-compiled] kernel %s was compiled for "
                        "blocks of %s%llu threads, "
                        "not %llu",
                        l->kernel->name, f->exact_threads ? "" : "at most ",
                        (unsigned long long)most_threads,
                        (unsigned long long)threads);
    return LAB_OK;
}

enum { STATIC_MOST = 48 << 10 /* bytes of shared memory in variables */ };

static enum lab_status check_launch(const struct lab_sim_launch *l,
                                    const struct lab_sim_device *d)
{
    const struct lab_sim_kernel *k = l->kernel;
    const struct lab_ptx_function *f = k->function;
    enum lab_status st = check_size(l, d);
    if (st)
        return st;
    /* More has to be dynamic: ptxas refuses it, for every GPU. */
    if (k->shared_bytes > STATIC_MOST)
        return lab_fail(LAB_E_ARG,
                        "[sim.shared-static] kernel %s: %lld bytes of shared "
                        "memory in variables; %d is the most, and what is more "
                        "has to be dynamic (extern __shared__)",
                        l->kernel->name, (long long)k->shared_bytes,
                        STATIC_MOST);
    if (l->shared_bytes < 0 || l->shared_bytes > d->shared_per_block ||
        sim_shared_bytes(k, l->shared_bytes) > d->shared_per_block)
        return lab_fail(LAB_E_ARG,
                        "[sim.shared-bytes] kernel %s: %lld bytes of shared "
                        "memory and %lld of "
                        "dynamic; a block on %s has %lld at most",
                        l->kernel->name, (long long)k->shared_bytes,
                        (long long)l->shared_bytes, d->name,
                        (long long)d->shared_per_block);
    if (f->cluster[0] * f->cluster[1] * f->cluster[2] > 1)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[sim.clusters] kernel %s: clusters of more than one block are not "
            "simulated",
            l->kernel->name);
    if (l->arg_count != f->param_count)
        return lab_fail(
            LAB_E_ARG,
            "[sim.parameter-count] kernel %s has %d parameters, not %d",
            l->kernel->name, f->param_count, l->arg_count);
    return LAB_OK;
}

static enum lab_status copy_params(struct sim_grid *g)
{
    const struct lab_sim_kernel *k = g->kernel;
    g->params_bytes = k->params_bytes;
    g->params = lab_alloc_aligned((size_t)k->params_bytes + 1);
    if (!g->params)
        return lab_no_memory("the parameters of a kernel");
    for (int i = 0; i < k->function->param_count; i++) {
        const struct lab_ptx_variable *p = &k->function->params[i];
        if (!g->launch->args[i])
            return lab_fail(
                LAB_E_ARG,
                "[sim.parameter-value] kernel %s: no value of parameter %d",
                k->name, i);
        memcpy(g->params + k->param_offsets[i], g->launch->args[i],
               (size_t)p->elements * (size_t)lab_ptx_type_bytes(p->type));
    }
    return LAB_OK;
}

enum lab_status sim_grid_open(struct sim_grid *g, struct lab_sim_memory *m,
                              const struct lab_sim_launch *launch,
                              const struct lab_sim_options *options)
{
    memset(g, 0, sizeof(*g));
    g->memory = m;
    g->launch = launch;
    g->options = options;
    g->kernel = launch->kernel;
    enum lab_status st = check_launch(
        launch, options->device ? options->device : lab_sim_device_at(0));
    if (!st)
        st = copy_params(g);
    if (!st)
        st = sim_check_begin(g);
    if (st) {
        lab_free(g->params);
        g->params = NULL;
    }
    return st;
}

enum lab_status sim_grid_close(struct sim_grid *g,
                               const struct sim_tally *tally,
                               const struct lab_sim_counts *counts,
                               struct lab_sim_result *out)
{
    enum lab_status st = sim_check_end(g, tally, counts, out);
    lab_free(g->params);
    g->params = NULL;
    return st;
}

/* ---- blocks ---- */

static void fail(struct launch *l, enum lab_status st, const char *text)
{
    pthread_mutex_lock(&l->lock);
    if (!l->status) {
        l->status = st;
        strncpy(l->error, text, sizeof(l->error) - 1);
    }
    atomic_store(&l->over, true);
    pthread_cond_broadcast(&l->budget.moved);
    pthread_mutex_unlock(&l->lock);
}

static bool stopped(struct launch *l)
{
    const atomic_bool *stop = l->grid.options->stop;
    if (atomic_load(&l->over))
        return true;
    if (!(stop && atomic_load(stop)) && !lab_stop_asked(&l->grid.options->when))
        return false;
    fail(l, LAB_E_CANCELLED, "the kernel was stopped");
    return true;
}

static int64_t steps_of(const struct sim_block *b)
{
    int64_t n = 0;
    for (int i = 0; i < b->warp_count; i++)
        n += b->warps[i].steps;
    return n;
}

/* ---- the budget ---- */

/* Block `number` went beyond the budget, at an instruction of a thread. */
static void over_budget(struct launch *l, uint64_t number, uint32_t thread,
                        const struct sim_instr *at)
{
    struct budget *g = &l->budget;
    if (!g->found) {
        g->found = true;
        g->block = number;
        g->thread = thread;
        g->at = at;
    }
    atomic_store(&l->over, true);
    pthread_cond_broadcast(&g->moved);
}

/* The block is where the budget ends: in the warp that executed most. */
static void over_in(struct launch *l, const struct sim_block *b)
{
    const struct sim_warp *w = &b->warps[0];
    for (int k = 1; k < b->warp_count; k++) {
        const struct sim_warp *other = &b->warps[k];
        if (other->state != SIM_DONE &&
            (w->state == SIM_DONE || other->steps > w->steps))
            w = other;
    }
    uint32_t lanes = w->active ? w->active : w->lanes;
    uint32_t thread = (uint32_t)(w->index * SIM_LANES + __builtin_ctz(lanes));
    pthread_mutex_lock(&l->lock);
    over_budget(l, b->number, thread, &l->grid.kernel->instrs[w->pc]);
    pthread_mutex_unlock(&l->lock);
}

/* Waits until fewer than `ahead` blocks before this one have not ended; returns what
 * is left of the budget then. */
static int64_t wait_for_blocks(struct launch *l, uint64_t number,
                               uint64_t ahead)
{
    struct budget *g = &l->budget;
    pthread_mutex_lock(&l->lock);
    while (number - g->first >= ahead && !atomic_load(&l->over))
        pthread_cond_wait(&g->moved, &l->lock);
    int64_t left = g->all - g->spent;
    pthread_mutex_unlock(&l->lock);
    return left;
}

static void block_ended(struct launch *l, const struct sim_block *b)
{
    struct budget *g = &l->budget;
    const struct sim_warp *w = &b->warps[0];
    pthread_mutex_lock(&l->lock);
    g->ended[b->number % AHEAD] = (struct spent){
        steps_of(b), &l->grid.kernel->instrs[w->pc > 0 ? w->pc - 1 : 0]};
    for (struct spent *e = &g->ended[g->first % AHEAD];
         e->used >= 0 && !g->found; e = &g->ended[g->first % AHEAD]) {
        g->spent += e->used;
        if (g->spent > g->all)
            over_budget(l, g->first, 0, e->last);
        e->used = -1;
        g->first++;
    }
    pthread_cond_broadcast(&g->moved);
    pthread_mutex_unlock(&l->lock);
}

static void budget_init(struct launch *l, int64_t all)
{
    struct budget *g = &l->budget;
    g->all = all;
    g->share = all / (int64_t)l->blocks;
    pthread_cond_init(&g->moved, NULL);
    for (int k = 0; k < AHEAD; k++)
        g->ended[k].used = -1;
}

/* Of all warps, once the threads have added theirs up. */
static int64_t executed(const struct launch *l)
{
    int64_t n = 0;
    for (int32_t i = 0; l->tally && i < l->grid.kernel->instr_count; i++)
        n += l->tally[i].warps;
    return n;
}

static void find_budget(struct launch *l)
{
    const struct budget *g = &l->budget;
    if (g->found && l->status == LAB_E_CANCELLED)
        sim_find_late(&l->grid, g->block, g->thread, g->at, LAB_SIM_BUDGET,
                      false,
                      "the launch was stopped here, after %lld instructions of "
                      "warps",
                      (long long)executed(l));
    else if (g->found)
        sim_find_late(&l->grid, g->block, g->thread, g->at, LAB_SIM_BUDGET,
                      true,
                      "the launch executes more than %lld instructions of "
                      "warps; does a loop end?",
                      (long long)g->all);
}

/* Runs up to `most` instructions. */
static enum sim_progress run_some(struct launch *l, struct sim_block *b,
                                  int64_t most)
{
    enum sim_progress p = SIM_RUNS;
    while (most > 0 && p == SIM_RUNS && !stopped(l)) {
        int64_t before = steps_of(b);
        p = sim_block_run(b, most < LOOK ? most : LOOK);
        int64_t used = steps_of(b) - before;
        most -= used > 0 ? used : 1;
        if (l->grid.options->executed)
            atomic_fetch_add(l->grid.options->executed, used);
    }
    if (!stopped(l))
        return p;
    if (p == SIM_RUNS && l->grid.options->stop_found)
        over_in(l, b);
    return SIM_ENDED;
}

/* Runs a block to its end, or to that of the budget. */
static void run_block(struct launch *l, struct sim_block *b)
{
    const struct budget *g = &l->budget;
    int64_t most = g->all ? g->share : INT64_MAX;
    bool asked = !g->all;
    while (run_some(l, b, most - steps_of(b)) != SIM_ENDED) {
        if (!g->all || steps_of(b) < most)
            continue;
        if (asked) {
            over_in(l, b);
            return;
        }
        int64_t left = wait_for_blocks(l, b->number, 1);
        most = left > most ? left : most;
        asked = true;
    }
    if (g->all && !stopped(l))
        block_ended(l, b);
}

static void block_init(struct launch *l, struct sim_block *b,
                       struct sim_tally *tally, struct lab_sim_counts *counts)
{
    memset(b, 0, sizeof(*b));
    b->grid = &l->grid;
    b->tally = tally;
    b->counts = counts;
}

static void add_up(struct launch *l, const struct sim_tally *tally,
                   const struct lab_sim_counts *counts)
{
    pthread_mutex_lock(&l->lock);
    for (int32_t i = 0; i < l->grid.kernel->instr_count; i++) {
        l->tally[i].warps += tally[i].warps;
        l->tally[i].lanes += tally[i].lanes;
        l->tally[i].divergent += tally[i].divergent;
        l->tally[i].chosen += tally[i].chosen;
#define X(key, title) l->counts[i].key += counts[i].key;
        LAB_SIM_COUNT_LIST(X)
        LAB_SIM_PART_LIST(X)
#undef X
    }
    pthread_mutex_unlock(&l->lock);
}

/* A thread of the host: one block after the other. */
static void run_blocks(const void *arg, int64_t from, int64_t to)
{
    struct launch *l = *(struct launch *const *)arg;
    size_t n = (size_t)l->grid.kernel->instr_count;
    struct sim_tally *tally = lab_alloc_array(n, sizeof(*tally));
    struct lab_sim_counts *counts = lab_alloc_array(n, sizeof(*counts));
    struct sim_block b;
    (void)from;
    (void)to;
    block_init(l, &b, tally, counts);
    enum lab_status st = tally && counts
                             ? sim_block_open(&b)
                             : lab_no_memory("the counts of a kernel");
    while (!st && !stopped(l)) {
        unsigned long long number = atomic_fetch_add(&l->next, 1);
        if (number >= l->blocks)
            break;
        if (l->budget.all)
            wait_for_blocks(l, number, AHEAD);
        st = sim_block_start(&b, number);
        if (st)
            break;
        run_block(l, &b);
        sim_block_end(&b);
    }
    if (st)
        fail(l, st, lab_error());
    if (tally && counts)
        add_up(l, tally, counts);
    sim_block_close(&b);
    lab_free(tally);
    lab_free(counts);
}

/* ---- blocks in one order ---- */

/* Blocks that have begun and not ended, oldest first. */
struct queue {
    struct sim_block **live;
    size_t count;
    size_t most;
    struct sim_block **idle; /* with memory, for the next block */
    size_t idle_count;
};

static size_t most_live(const struct sim_grid *g)
{
    const struct lab_sim_kernel *k = g->kernel;
    size_t warps =
        (size_t)((uint64_t)g->launch->block[0] * g->launch->block[1] *
                     g->launch->block[2] / SIM_LANES +
                 1);
    size_t each = warps * ((size_t)k->slots * 128 +
                           (size_t)k->local_bytes * SIM_LANES + 8192) +
                  (size_t)(k->shared_bytes + g->launch->shared_bytes);
    size_t n = LIVE_BYTES / each;
    return n < 1 ? 1 : n > LIVE_BLOCKS ? LIVE_BLOCKS : n;
}

static enum lab_status begin_block(struct launch *l, struct queue *q,
                                   struct sim_tally *tally,
                                   struct lab_sim_counts *counts,
                                   uint64_t number)
{
    struct sim_block *b;
    enum lab_status st = LAB_OK;
    if (q->idle_count > 0)
        b = q->idle[--q->idle_count];
    else {
        b = lab_alloc(sizeof(*b));
        if (!b)
            return lab_no_memory("a block of a kernel");
        block_init(l, b, tally, counts);
        st = sim_block_open(b);
    }
    if (!st)
        st = sim_block_start(b, number);
    if (st) {
        sim_block_close(b);
        lab_free(b);
        return st;
    }
    q->live[q->count++] = b;
    return LAB_OK;
}

static void end_block(struct queue *q, size_t at)
{
    struct sim_block *b = q->live[at];
    sim_block_end(b);
    q->count--;
    memmove(&q->live[at], &q->live[at + 1],
            (q->count - at) * sizeof(q->live[0]));
    q->idle[q->idle_count++] = b;
}

static const struct sim_block *busiest(const struct queue *q)
{
    const struct sim_block *most = q->live[0];
    for (size_t k = 1; k < q->count; k++)
        if (steps_of(q->live[k]) > steps_of(most))
            most = q->live[k];
    return most;
}

/* A block's turn, with what is left of the budget: nothing, and the block that used
 * most of it, which may not be this one, is shown. */
static enum sim_progress run_turn(struct launch *l, const struct queue *q,
                                  struct sim_block *b)
{
    struct budget *g = &l->budget;
    const int64_t before = steps_of(b);
    const int64_t left = g->all ? g->all - g->spent : INT64_MAX;
    if (left <= 0) {
        over_in(l, busiest(q));
        return SIM_ENDED;
    }
    enum sim_progress p =
        run_some(l, b, left < TURN_OF_BLOCK ? left : TURN_OF_BLOCK);
    g->spent += steps_of(b) - before;
    return p;
}

/* The oldest block first; when it waits, or has run for long, another begins, so
 * that blocks may wait for blocks behind them. */
static enum lab_status run_queue(struct launch *l, struct queue *q,
                                 struct sim_tally *tally,
                                 struct lab_sim_counts *counts)
{
    uint64_t number = 0;
    size_t at = 0;
    enum lab_status st = LAB_OK;
    while (!st && !stopped(l) && (number < l->blocks || q->count > 0)) {
        if (at >= q->count && number < l->blocks && q->count < q->most) {
            at = q->count;
            st = begin_block(l, q, tally, counts, number++);
            if (st)
                break;
        } else if (at >= q->count)
            at = 0;
        if (run_turn(l, q, q->live[at]) == SIM_ENDED)
            end_block(q, at);
        else
            at++;
    }
    while (q->count > 0)
        end_block(q, q->count - 1);
    return st;
}

static void run_in_order(struct launch *l)
{
    size_t n = (size_t)l->grid.kernel->instr_count;
    struct queue q = {.most = most_live(&l->grid)};
    struct sim_tally *tally = lab_alloc_array(n, sizeof(*tally));
    struct lab_sim_counts *counts = lab_alloc_array(n, sizeof(*counts));
    q.live = lab_alloc_array(q.most + 1, sizeof(*q.live));
    q.idle = lab_alloc_array(q.most + 1, sizeof(*q.idle));
    enum lab_status st = tally && counts && q.live && q.idle
                             ? run_queue(l, &q, tally, counts)
                             : lab_no_memory("the blocks of a kernel");
    if (st)
        fail(l, st, lab_error());
    if (tally && counts)
        add_up(l, tally, counts);
    while (q.idle_count > 0) {
        sim_block_close(q.idle[--q.idle_count]);
        lab_free(q.idle[q.idle_count]);
    }
    lab_free(q.live);
    lab_free(q.idle);
    lab_free(tally);
    lab_free(counts);
}

/* ---- a launch ---- */

static int threads_of(struct sim_grid *g, uint64_t blocks)
{
    int threads = g->options->threads > 0 ? g->options->threads : lab_threads();
    if ((uint64_t)threads > blocks)
        threads = (int)blocks;
    return g->kernel->in_order || (threads > 1 && !sim_check_keep(g)) ? 1
                                                                      : threads;
}

static void run_all(struct launch *l)
{
    if (l->grid.kernel->in_order)
        run_in_order(l);
    else if (l->threads == 1)
        run_blocks(&l, 0, 1);
    else
        lab_parallel(l->threads, 1, run_blocks, &l);
}

/* The blocks run once more, one after the other: they raced. */
static void run_again(struct launch *l)
{
    const size_t n = (size_t)l->grid.kernel->instr_count;
    if (l->grid.options->executed)
        atomic_fetch_sub(l->grid.options->executed, executed(l));
    memset(l->tally, 0, n * sizeof(*l->tally));
    memset(l->counts, 0, n * sizeof(*l->counts));
    atomic_store(&l->next, 0);
    atomic_store(&l->over, false);
    pthread_cond_destroy(&l->budget.moved);
    l->budget = (struct budget){.all = 0};
    budget_init(l, l->grid.options->budget);
    l->threads = 1;
    l->status = sim_check_again(&l->grid);
    if (!l->status)
        run_all(l);
}

enum lab_status lab_sim_run(struct lab_sim_memory *m,
                            const struct lab_sim_launch *launch,
                            const struct lab_sim_options *options,
                            struct lab_sim_result *out)
{
    struct launch l = {.status = LAB_OK};
    enum lab_status st = sim_grid_open(&l.grid, m, launch, options);
    if (st)
        return st;
    size_t n = (size_t)launch->kernel->instr_count;
    l.blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    l.tally = lab_alloc_array(n, sizeof(*l.tally));
    l.counts = lab_alloc_array(n, sizeof(*l.counts));
    atomic_init(&l.next, 0);
    budget_init(&l, options->budget);
    atomic_init(&l.over, false);
    pthread_mutex_init(&l.lock, NULL);
    l.threads = threads_of(&l.grid, l.blocks);
    if (l.tally && l.counts)
        run_all(&l);
    else
        l.status = lab_no_memory("the counts of a kernel");
    if (l.threads > 1 && !l.status && sim_check_raced(&l.grid))
        run_again(&l);
    find_budget(&l);
    /* What was found before it was stopped is known, too. */
    const bool known = !l.status || l.status == LAB_E_CANCELLED;
    st = sim_grid_close(&l.grid, l.tally, l.counts, known ? out : NULL);
    if (known && !st) {
        out->counted = true;
        out->stopped = l.status == LAB_E_CANCELLED;
    }
    if (l.status)
        st = lab_fail(l.status, "kernel %s: %s", launch->kernel->name,
                      l.error[0] ? l.error : lab_error());
    pthread_cond_destroy(&l.budget.moved);
    pthread_mutex_destroy(&l.lock);
    lab_free(l.tally);
    lab_free(l.counts);
    return st;
}
