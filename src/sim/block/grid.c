/* A launch: checks it, spreads its blocks over threads of the host or runs them in
 * one order where that matters, and adds up what they counted. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "block/block.h"

enum {
    LIVE_BLOCKS = 1024,      /* that wait for each other */
    LIVE_BYTES = 512 << 20,  /* of their memory, about */
    TURN_OF_BLOCK = 1 << 20, /* instructions, then others may begin */
    LOOK = 1 << 16           /* instructions between looks at the stop flag */
};

/* What the threads of a launch share. */
struct launch {
    struct sim_grid grid;
    uint64_t blocks;
    atomic_ullong next;   /* block that is not taken yet */
    atomic_llong left;    /* of the budget */
    atomic_bool over;     /* it is used up, or something failed */
    pthread_mutex_t lock; /* of what follows */
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
                            "kernel %s: a block of %u in dimension %c; 1 to %u "
                            "are possible",
                            f->name, l->block[k], "xyz"[k], most_block[k]);
        if (l->grid[k] < 1 || l->grid[k] > most_grid[k])
            return lab_fail(LAB_E_ARG,
                            "kernel %s: a grid of %u blocks in dimension %c; 1 "
                            "to %u are possible",
                            f->name, l->grid[k], "xyz"[k], most_grid[k]);
        threads *= l->block[k];
        most_threads *= f->max_threads[k] > 0 ? (uint64_t)f->max_threads[k] : 1;
    }
    if (threads > (uint64_t)d->max_threads)
        return lab_fail(
            LAB_E_ARG, "kernel %s: a block of %llu threads; %s has %d at most",
            f->name, (unsigned long long)threads, d->name, d->max_threads);
    if (f->max_threads[0] > 0 && (threads > most_threads ||
                                  (f->exact_threads && threads < most_threads)))
        return lab_fail(LAB_E_ARG,
                        "kernel %s was compiled for blocks of %s%llu threads, "
                        "not %llu",
                        f->name, f->exact_threads ? "" : "at most ",
                        (unsigned long long)most_threads,
                        (unsigned long long)threads);
    return LAB_OK;
}

static enum lab_status check_launch(const struct lab_sim_launch *l,
                                    const struct lab_sim_device *d)
{
    const struct lab_sim_kernel *k = l->kernel;
    const struct lab_ptx_function *f = k->function;
    enum lab_status st = check_size(l, d);
    if (st)
        return st;
    if (l->shared_bytes < 0 || l->shared_bytes > d->shared_per_block ||
        sim_shared_bytes(k, l->shared_bytes) > d->shared_per_block)
        return lab_fail(LAB_E_ARG,
                        "kernel %s: %lld bytes of shared memory and %lld of "
                        "dynamic; a block on %s has %lld at most",
                        f->name, (long long)k->shared_bytes,
                        (long long)l->shared_bytes, d->name,
                        (long long)d->shared_per_block);
    if (f->cluster[0] * f->cluster[1] * f->cluster[2] > 1)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "kernel %s: clusters of more than one block are not "
                        "simulated",
                        f->name);
    if (l->arg_count != f->param_count)
        return lab_fail(LAB_E_ARG, "kernel %s has %d parameters, not %d",
                        f->name, f->param_count, l->arg_count);
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
            return lab_fail(LAB_E_ARG, "kernel %s: no value of parameter %d",
                            k->function->name, i);
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
    pthread_mutex_unlock(&l->lock);
    atomic_store(&l->over, true);
}

static bool stopped(struct launch *l)
{
    const atomic_bool *stop = l->grid.options->stop;
    if (atomic_load(&l->over))
        return true;
    if (!stop || !atomic_load(stop))
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

static void find_budget(struct sim_block *b)
{
    for (int k = 0; k < b->warp_count; k++) {
        struct sim_warp *w = &b->warps[k];
        if (w->state == SIM_DONE)
            continue;
        const struct sim_instr *i = &b->grid->kernel->instrs[w->pc];
        sim_find(w, i, w->active ? w->active : w->lanes, LAB_SIM_BUDGET, NULL,
                 "the launch executes more than %lld instructions of warps; "
                 "does a loop end?",
                 (long long)b->grid->options->budget);
        return;
    }
}

/* Runs up to `most` instructions. The budget is of all blocks. */
static enum sim_progress run_some(struct launch *l, struct sim_block *b,
                                  int64_t most)
{
    int64_t budget = l->grid.options->budget;
    enum sim_progress p = SIM_RUNS;
    while (most > 0 && p == SIM_RUNS && !stopped(l)) {
        int64_t now = most < LOOK ? most : LOOK;
        int64_t before = steps_of(b);
        int64_t left = budget ? atomic_load(&l->left) : now;
        if (left < now)
            now = left;
        if (now <= 0) {
            find_budget(b);
            atomic_store(&l->over, true);
            return SIM_ENDED;
        }
        p = sim_block_run(b, now);
        int64_t used = steps_of(b) - before;
        most -= used > 0 ? used : 1;
        atomic_fetch_sub(&l->left, used);
    }
    return stopped(l) ? SIM_ENDED : p;
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
        st = sim_block_start(&b, number);
        if (st)
            break;
        while (run_some(l, &b, INT64_MAX) != SIM_ENDED)
            ;
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
        if (run_some(l, q->live[at], TURN_OF_BLOCK) == SIM_ENDED)
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

static void run_all(struct launch *l)
{
    int threads =
        l->grid.options->threads > 0 ? l->grid.options->threads : lab_threads();
    if ((uint64_t)threads > l->blocks)
        threads = (int)l->blocks;
    if (l->grid.kernel->in_order)
        run_in_order(l);
    else if (threads == 1)
        run_blocks(&l, 0, 1);
    else
        lab_parallel(threads, 1, run_blocks, &l);
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
    atomic_init(&l.left, options->budget);
    atomic_init(&l.over, false);
    pthread_mutex_init(&l.lock, NULL);
    if (l.tally && l.counts)
        run_all(&l);
    else
        l.status = lab_no_memory("the counts of a kernel");
    st = sim_grid_close(&l.grid, l.tally, l.counts, l.status ? NULL : out);
    if (l.status)
        st = lab_fail(l.status, "kernel %s: %s", launch->kernel->function->name,
                      l.error[0] ? l.error : lab_error());
    pthread_mutex_destroy(&l.lock);
    lab_free(l.tally);
    lab_free(l.counts);
    return st;
}
