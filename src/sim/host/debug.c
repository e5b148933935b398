/* A launch that one walks: the block in focus as an object, stepped by one
 * instruction of a warp, watched for lines, accesses and findings; back is memory
 * put back and the block run again. */
#include "sim/debug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "block/block.h"
#include "check/check.h"
#include "check/memory.h"
#include "kernel/flow.h"

/* An allocation as it was before the launch. */
struct saved {
    struct sim_alloc *of;
    struct sim_copy before;
};

/* A line of source. */
struct line {
    int32_t file;
    int32_t line;
};

/* A stop that back returns to: blocks `first` to `number` - 1 ran whole before it. */
struct mark {
    uint64_t first;
    uint64_t number;
    int64_t executed;
    int focus;
    struct lab_sim_stop stop;
};

/* An instruction, in whatever warp; or a thread, at each line that it comes to. */
struct breakpoint {
    int32_t pc; /* -1: a thread's */
    int warp;
    int lane;
    struct line last; /* of the thread */
};

/* Elements of a tensor by the thread that wrote them. */
struct written {
    struct lab_sim_written view;
    uint64_t base;
    int64_t *thread; /* the view's; owned. NULL: it could not be had */
};
enum { WRITTEN = 4, WRITTEN_MOST = 1 << 20 };

struct lab_sim_debug {
    struct lab_sim_launch launch;
    struct lab_sim_options options;
    struct lab_sim_memory *memory;
    const struct lab_sim_kernel *kernel;
    struct sim_grid grid;
    struct sim_watch watch;
    struct sim_block block;
    struct sim_tally *tally;
    struct lab_sim_counts *counts;
    /* Of a place of the kernel's instructions, the place that is shown: of what is in a
     * header of CUDA's the line that a person wrote. */
    int32_t *shown;
    struct saved *saved;
    size_t saved_count;
    uint64_t number;
    uint64_t first;  /* blocks from here on ran whole before this one */
    bool launched;   /* between sim_grid_open() and sim_grid_close() */
    bool started;    /* between sim_block_start() and sim_block_end() */
    bool has_memory; /* the block's own */
    bool ended;
    int focus;
    int64_t executed;
    struct mark *marks; /* the present stop is not among them */
    size_t mark_count;
    size_t mark_room;
    struct lab_sim_stop at; /* the present stop */
    struct breakpoint *breaks;
    size_t break_count;
    size_t break_room;
    uint64_t watched;
    size_t watched_bytes;
    bool stores_only; /* of what is watched */
    atomic_bool left;
    /* set by the watch functions during a step */
    int touched; /* the warp that touched what is watched; -1 */
    bool found;
    struct lab_sim_access_view access[SIM_WARPS];
    bool *has; /* of each warp and register: an instruction gave it a value */
    int32_t *writers; /* of each word of shared memory: a thread; -1: none */
    int64_t writer_count;
    struct written written[WRITTEN];
    int written_count;
    int written_last;          /* the tensor that was written to last */
    unsigned char *walked;     /* a bit a block; NULL: no memory for them */
    struct lab_sim_touch *log; /* of one thread, while it is asked for */
    int log_most;
    int log_count;
    int log_warp;
    int log_lane;
    uint64_t log_block;
    bool (*poll)(void *user);
    void *poll_user;
    unsigned polled;
    struct lab_sim_finding *findings;
    size_t finding_count;
    size_t finding_room;
};

/* The place of an instruction; -1: none. */
static int32_t shown_at(const struct lab_sim_debug *d,
                        const struct lab_ptx_instr *i)
{
    return i && i->near >= 0 ? d->shown[i->near] : -1;
}

/* ---- what the executor reports ---- */

/* Shared memory is also written to through generic addresses. */
static void note_writers(struct lab_sim_debug *d, const struct sim_warp *w,
                         const struct sim_access *a, uint32_t lanes)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t at = a->addr[lane];
        if ((a->space == LAB_PTX_GENERIC ? sim_generic(&at) : a->space) !=
            LAB_PTX_SHARED)
            continue;
        uint64_t last = (at + (uint64_t)a->bytes - 1) / 4;
        for (uint64_t k = at / 4; k <= last; k++)
            if (k < (uint64_t)d->writer_count)
                d->writers[k] = w->index * SIM_LANES + lane;
    }
}

/* The tensor of a store's address; NULL: it has no name, or there are too many. */
static struct written *written_at(struct lab_sim_debug *d, uint64_t address)
{
    for (int i = 0; i < d->written_count; i++) {
        struct written *t = &d->written[i];
        uint64_t bytes =
            (uint64_t)t->view.count * (uint64_t)t->view.label.element_bytes;
        if (address >= t->base && address - t->base < bytes) {
            d->written_last = i;
            return t;
        }
    }
    const struct sim_alloc *a = sim_memory_before(d->memory, address);
    const struct sim_named *n =
        a && !a->freed && sim_holds(a, address, 1)
            ? sim_memory_name(a, address - (uint64_t)(uintptr_t)a->base)
            : NULL;
    if (!n || n->label.element_bytes < 1 || d->written_count == WRITTEN)
        return NULL;
    struct written *t = &d->written[d->written_count];
    *t = (struct written){
        .view = {.label = n->label,
                 .count = (int64_t)n->bytes / n->label.element_bytes},
        .base = (uint64_t)(uintptr_t)a->base + n->from};
    memcpy(t->view.grid, d->launch.grid, sizeof(t->view.grid));
    memcpy(t->view.block, d->launch.block, sizeof(t->view.block));
    if (t->view.count <= WRITTEN_MOST)
        t->thread = lab_alloc_array((size_t)t->view.count, sizeof(*t->thread));
    for (int64_t i = 0; t->thread && i < t->view.count; i++)
        t->thread[i] = -1;
    t->view.thread = t->thread;
    d->written_last = d->written_count++;
    return t;
}

static int64_t block_threads(const struct lab_sim_debug *d)
{
    const uint32_t *n = d->launch.block;
    return (int64_t)n[0] * n[1] * n[2];
}

static void note_written(struct lab_sim_debug *d, const struct sim_warp *w,
                         const struct sim_access *a, uint32_t lanes)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct written *t = written_at(d, a->addr[lane]);
        if (!t || !t->thread)
            continue;
        uint64_t size = (uint64_t)t->view.label.element_bytes;
        uint64_t from = a->addr[lane] - t->base;
        for (uint64_t k = from / size; k * size < from + (uint64_t)a->bytes &&
                                       k < (uint64_t)t->view.count;
             k++)
            t->thread[k] = (int64_t)d->number * block_threads(d) +
                           w->index * SIM_LANES + lane;
    }
}

/* The block begins: what it wrote when it was walked before is as if not written. */
static void forget_written(struct lab_sim_debug *d)
{
    const uint32_t *n = d->launch.grid;
    uint64_t blocks = (uint64_t)n[0] * n[1] * n[2];
    if (!d->walked && blocks <= WRITTEN_MOST)
        d->walked = lab_alloc(blocks / 8 + 1);
    if (!d->walked)
        return;
    bool before = d->walked[d->number / 8] >> d->number % 8 & 1;
    d->walked[d->number / 8] |= (unsigned char)(1u << d->number % 8);
    int64_t first = (int64_t)d->number * block_threads(d);
    for (int i = 0; i < d->written_count && before; i++) {
        struct written *t = &d->written[i];
        for (int64_t k = 0; t->thread && k < t->view.count; k++)
            if (t->thread[k] >= first &&
                t->thread[k] < first + block_threads(d))
                t->thread[k] = -1;
    }
}

static void note_touch(struct lab_sim_debug *d,
                       const struct lab_sim_access_view *v)
{
    uint64_t address = v->address[d->log_lane];
    uint64_t part = address; /* of shared memory, where others are of global */
    if (v->space == LAB_PTX_GENERIC && sim_generic(&part) != LAB_PTX_GLOBAL)
        return;
    for (int i = 0; i < d->log_count; i++) {
        if (d->log[i].address == address && d->log[i].write == v->write) {
            d->log[i].times++;
            return;
        }
    }
    if (d->log_count < d->log_most)
        d->log[d->log_count++] = (struct lab_sim_touch){
            .write = v->write,
            .atomic = v->atomic,
            .address = address,
            .bytes = v->bytes,
            .place = v->place,
            .times = 1,
        };
}

/* Generic addresses that are all of one space: an access of that space. Those of
 * several stay generic. */
static void find_space(struct lab_sim_access_view *v)
{
    uint64_t at[SIM_LANES];
    enum lab_ptx_space space = LAB_PTX_GENERIC;
    memcpy(at, v->address, sizeof(at));
    for (uint32_t rest = v->lanes; rest; rest &= rest - 1) {
        enum lab_ptx_space of = sim_generic(&at[__builtin_ctz(rest)]);
        if (rest != v->lanes && of != space)
            return;
        space = of;
    }
    v->space = space;
    memcpy(v->address, at, sizeof(at));
}

static void on_access(void *arg, struct sim_warp *w, const struct sim_instr *i,
                      const struct sim_access *a, uint32_t lanes)
{
    struct lab_sim_debug *d = arg;
    struct lab_sim_access_view *v = &d->access[w->index];
    *v = (struct lab_sim_access_view){
        .write = a->kind != SIM_LOAD,
        .atomic = a->kind == SIM_ATOMIC,
        .space = a->space,
        .bytes = a->bytes,
        .lanes = a->mask,
        .outside = a->mask & ~lanes,
        .variable = i->variable,
        .place = shown_at(d, i->ptx),
        .text_line = i->ptx ? i->ptx->text_line : 0,
    };
    memcpy(v->address, a->addr, sizeof(v->address));
    if (v->space == LAB_PTX_GENERIC)
        find_space(v);
    bool global = v->space == LAB_PTX_GLOBAL || v->space == LAB_PTX_GENERIC ||
                  v->space == LAB_PTX_CONST;
    if (v->write)
        note_writers(d, w, a, lanes);
    if (global && v->write)
        note_written(d, w, a, lanes);
    if (global && d->log && d->number == d->log_block &&
        w->index == d->log_warp && lanes >> d->log_lane & 1)
        note_touch(d, v);
    if (!d->watched_bytes || !global || (d->stores_only && !v->write))
        return;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t p = a->addr[__builtin_ctz(rest)];
        if (p < d->watched + d->watched_bytes &&
            d->watched < p + (uint64_t)a->bytes)
            d->touched = w->index;
    }
}

static void on_finding(void *arg, const struct lab_sim_finding *f)
{
    struct lab_sim_debug *d = arg;
    d->found = true;
    if (lab_grow(&d->findings, d->finding_count, &d->finding_room,
                 sizeof(*d->findings), "findings") == LAB_OK)
        d->findings[d->finding_count++] = *f;
}

/* ---- memory, before and again ---- */

static enum lab_status save(struct lab_sim_debug *d)
{
    const struct lab_sim_memory *m = d->memory;
    d->saved = lab_alloc_array(m->count + 1, sizeof(*d->saved));
    if (!d->saved)
        return lab_no_memory("a copy of simulated memory");
    for (size_t i = 0; i < m->count; i++) {
        struct sim_alloc *a = m->allocs[i];
        if (a->freed)
            continue;
        struct saved *s = &d->saved[d->saved_count++];
        s->of = a;
        if (!sim_copy_take(&s->before, a))
            return lab_no_memory("a copy of simulated memory");
    }
    return LAB_OK;
}

static void restore(struct lab_sim_debug *d)
{
    for (size_t i = 0; i < d->saved_count; i++)
        sim_copy_put_back(&d->saved[i].before, d->saved[i].of);
}

/* ---- the block ---- */

static void leave(struct lab_sim_debug *d)
{
    if (d->started)
        sim_block_end(&d->block);
    if (d->launched)
        (void)sim_grid_close(&d->grid, d->tally, d->counts, NULL);
    d->started = d->launched = false;
}

static enum lab_status launch(struct lab_sim_debug *d)
{
    enum lab_status st =
        sim_grid_open(&d->grid, d->memory, &d->launch, &d->options);
    d->launched = !st;
    d->grid.watch = &d->watch;
    if (!st && !d->has_memory)
        st = sim_block_open(&d->block);
    d->has_memory = d->has_memory || !st;
    if (!st && !d->writers) {
        d->writer_count = (d->block.shared_bytes + 3) / 4;
        d->writers =
            lab_alloc_array((size_t)d->writer_count + 1, sizeof(*d->writers));
        if (!d->writers)
            st = lab_no_memory("the writers of shared memory");
    }
    for (int64_t i = 0; !st && i < d->writer_count; i++)
        d->writers[i] = -1;
    if (!st)
        st = sim_block_start(&d->block, d->number);
    d->started = !st;
    return st;
}

static size_t has_bytes(const struct lab_sim_debug *d)
{
    return (size_t)SIM_WARPS * (size_t)d->kernel->function->reg_count *
           sizeof(*d->has);
}

struct gets {
    const struct lab_sim_debug *d;
    int warp;
};

static void note_value(void *arg, int32_t reg)
{
    const struct gets *g = arg;
    g->d->has[g->warp * g->d->kernel->function->reg_count + reg] = true;
}

/* To the first instruction of block d->number; `again`: memory is put back. */
static enum lab_status start(struct lab_sim_debug *d, bool again)
{
    size_t n = (size_t)d->kernel->instr_count;
    leave(d);
    if (again)
        restore(d);
    memset(d->tally, 0, n * sizeof(*d->tally));
    memset(d->counts, 0, n * sizeof(*d->counts));
    memset(d->access, 0, sizeof(d->access));
    memset(d->has, 0, has_bytes(d));
    d->executed = 0;
    d->finding_count = 0;
    d->ended = false;
    d->focus = 0;
    d->touched = -1;
    d->found = false;
    forget_written(d);
    return launch(d);
}

/* One instruction of the block; *warp: which warp's. */
static void step(struct lab_sim_debug *d, int *warp)
{
    int64_t before[SIM_WARPS];
    int32_t at[SIM_WARPS];
    for (int i = 0; i < d->block.warp_count; i++) {
        before[i] = d->block.warps[i].steps;
        at[i] = d->block.warps[i].pc;
    }
    d->touched = -1;
    d->found = false;
    d->ended = sim_block_step(&d->block) == SIM_ENDED;
    *warp = -1;
    for (int i = 0; i < d->block.warp_count; i++) {
        if (d->block.warps[i].steps != before[i]) {
            const struct lab_ptx_instr *in = d->kernel->instrs[at[i]].ptx;
            struct gets g = {d, i};
            *warp = i;
            if (in && at[i] < d->kernel->function->instr_count)
                sim_each_changed(d->kernel->function, in, note_value, &g);
            sim_warp_settle(&d->block.warps[i]);
            d->executed += d->block.warps[i].steps - before[i];
        }
    }
}

static enum lab_status stopped(struct lab_sim_debug *d)
{
    enum { POLLED_EVERY = 512 };
    const atomic_bool *stop = d->options.stop;
    bool ends = (stop && atomic_load(stop)) || lab_stop_asked(&d->options.when);
    if (d->poll && ++d->polled % POLLED_EVERY == 0)
        ends = !d->poll(d->poll_user) || ends;
    if (ends)
        return lab_fail(LAB_E_CANCELLED, "stopped");
    if (d->options.budget > 0 && d->executed >= d->options.budget)
        return lab_fail(LAB_E_RANGE,
                        "[kernel.endless] the block has executed %lld "
                        "instructions of warps, "
                        "more are not allowed; does a loop end?",
                        (long long)d->executed);
    return LAB_OK;
}

/* ---- open and close ---- */

static enum lab_status number_of(const struct lab_sim_debug *d,
                                 const uint32_t block[3], uint64_t *out)
{
    const uint32_t *n = d->launch.grid;
    for (int k = 0; k < 3; k++)
        if (block[k] >= n[k])
            return lab_fail(LAB_E_RANGE,
                            "[kernel.block] block (%u,%u,%u) is not in the "
                            "grid of %u x %u x "
                            "%u",
                            block[0], block[1], block[2], n[0], n[1], n[2]);
    *out = block[0] + (uint64_t)n[0] * (block[1] + (uint64_t)n[1] * block[2]);
    return LAB_OK;
}

static enum lab_status make_counts(struct lab_sim_debug *d)
{
    size_t n = (size_t)d->kernel->instr_count;
    const struct lab_ptx *ptx = d->kernel->ptx;
    d->tally = lab_alloc_array(n, sizeof(*d->tally));
    d->counts = lab_alloc_array(n, sizeof(*d->counts));
    d->has = lab_alloc(has_bytes(d) + 1);
    d->shown = lab_alloc_array((size_t)ptx->place_count + 1, sizeof(*d->shown));
    if (!d->tally || !d->counts || !d->has || !d->shown)
        return lab_no_memory("the counts of a kernel");
    for (size_t k = 0; k < n; k++) {
        const struct lab_ptx_instr *in = d->kernel->instrs[k].ptx;
        if (in && in->near >= 0)
            d->shown[in->near] = lab_ptx_user_place(ptx, in->near);
    }
    d->block.grid = &d->grid;
    d->block.tally = d->tally;
    d->block.counts = d->counts;
    return LAB_OK;
}

enum lab_status lab_sim_debug_open(struct lab_sim_memory *m,
                                   const struct lab_sim_launch *launch,
                                   const struct lab_sim_options *options,
                                   const uint32_t block[3],
                                   struct lab_sim_debug **out)
{
    struct lab_sim_debug *d = lab_alloc(sizeof(*d));
    if (!d)
        return lab_no_memory("a walk through a kernel");
    d->launch = *launch;
    d->options = *options;
    d->memory = m;
    d->kernel = launch->kernel;
    d->watch = (struct sim_watch){d, on_access, on_finding};
    enum lab_status st = number_of(d, block, &d->number);
    d->first = d->number;
    if (!st)
        st = make_counts(d);
    if (!st)
        st = save(d);
    if (!st)
        st = start(d, false);
    if (st) {
        lab_sim_debug_close(d);
        return st;
    }
    *out = d;
    return LAB_OK;
}

void lab_sim_debug_close(struct lab_sim_debug *d)
{
    if (!d)
        return;
    leave(d);
    if (d->has_memory)
        sim_block_close(&d->block);
    for (size_t i = 0; i < d->saved_count; i++)
        sim_copy_release(&d->saved[i].before);
    lab_free(d->saved);
    lab_free(d->tally);
    lab_free(d->counts);
    lab_free(d->has);
    lab_free(d->shown);
    lab_free(d->marks);
    lab_free(d->breaks);
    lab_free(d->writers);
    for (int i = 0; i < d->written_count; i++)
        lab_free(d->written[i].thread);
    lab_free(d->walked);
    lab_free(d->findings);
    lab_free(d);
}

/* ---- places ---- */

static const struct lab_ptx_instr *next_of(const struct lab_sim_debug *d,
                                           int warp)
{
    const struct sim_warp *w = &d->block.warps[warp];
    if (w->state == SIM_DONE || w->pc < 0 || w->pc >= d->kernel->instr_count)
        return NULL;
    return d->kernel->instrs[w->pc].ptx;
}

static const struct lab_ptx *ptx_of(const struct lab_sim_debug *d)
{
    return lab_sim_module_ptx(d->kernel->module);
}

/* The source line of a warp's next instruction; without line numbers, that of the
 * PTX. */
static struct line line_of(const struct lab_sim_debug *d, int warp)
{
    const struct lab_ptx_instr *i = next_of(d, warp);
    if (!i)
        return (struct line){-1, -1};
    if (i->near < 0)
        return (struct line){-1, i->text_line};
    const struct lab_ptx_place *p = &ptx_of(d)->places[shown_at(d, i)];
    return (struct line){p->file, p->line};
}

static bool same_line(struct line a, struct line b)
{
    return a.file == b.file && a.line == b.line;
}

/* Is the next instruction of the warp one to stop at? */
static bool breaks_at(struct lab_sim_debug *d, int warp)
{
    const struct sim_warp *w = &d->block.warps[warp];
    const struct line here = line_of(d, warp);
    bool hit = false;
    for (size_t i = 0; i < d->break_count; i++) {
        struct breakpoint *b = &d->breaks[i];
        if (b->pc >= 0) {
            hit = hit || b->pc == w->pc;
        } else if (b->warp == warp && w->active >> b->lane & 1) {
            hit = hit || !same_line(b->last, here);
            b->last = here;
        }
    }
    return hit;
}

/* Threads stop at lines that they come to from now on. */
static void set_lines(struct lab_sim_debug *d)
{
    for (size_t i = 0; i < d->break_count; i++)
        if (d->breaks[i].pc < 0)
            d->breaks[i].last = line_of(d, d->breaks[i].warp);
}

static bool is_barrier(const struct lab_ptx_instr *i)
{
    return i &&
           (strcmp(i->opcode, "bar") == 0 || strcmp(i->opcode, "barrier") == 0);
}

/* ---- moves ---- */

static enum lab_status add_mark(struct lab_sim_debug *d)
{
    enum lab_status st = lab_grow(&d->marks, d->mark_count, &d->mark_room,
                                  sizeof(*d->marks), "stops");
    if (!st)
        d->marks[d->mark_count++] =
            (struct mark){d->first, d->number, d->executed, d->focus, d->at};
    return st;
}

static void stop_at(struct lab_sim_debug *d, enum lab_sim_stop_reason reason,
                    struct lab_sim_stop *out)
{
    d->at = (struct lab_sim_stop){reason, d->focus, d->executed};
    *out = d->at;
}

/* What ends any move after a step of `warp`; false: nothing does. */
static bool stops(struct lab_sim_debug *d, int warp,
                  enum lab_sim_stop_reason *why)
{
    if (d->found)
        *why = LAB_SIM_STOPPED_FINDING;
    else if (d->touched >= 0)
        *why = LAB_SIM_STOPPED_ACCESS;
    else if (d->ended)
        *why = LAB_SIM_STOPPED_END;
    else if (warp >= 0 && next_of(d, warp) && breaks_at(d, warp))
        *why = LAB_SIM_STOPPED_LINE;
    else
        return false;
    if (warp >= 0 && *why != LAB_SIM_STOPPED_END)
        d->focus = warp;
    return true;
}

/* The file of the kernel's first instruction that has one; -1: none. */
static int32_t own_file(const struct lab_sim_debug *d)
{
    const struct lab_ptx *ptx = ptx_of(d);
    const struct lab_ptx_function *f = d->kernel->function;
    for (int32_t i = 0; i < f->instr_count; i++) {
        int32_t p = f->instrs[i].place;
        while (p >= 0 && ptx->places[p].inlined_at >= 0)
            p = ptx->places[p].inlined_at;
        if (p >= 0)
            return ptx->places[p].file;
    }
    return -1;
}

/* The function that a warp is in, as far as PTX has it. */
struct frame {
    bool called;  /* by an instruction, with code of its own */
    int32_t file; /* -1: the kernel's own lines */
    int32_t
        inlined_at; /* -1: nothing is inlined here, or clang does not record it */
};

static struct frame frame_of(const struct lab_sim_debug *d)
{
    const struct sim_warp *w = &d->block.warps[d->focus];
    const struct lab_ptx_instr *i = next_of(d, d->focus);
    struct frame f = {w->pc >= d->kernel->function->instr_count, -1, -1};
    if (f.called || !i || i->near < 0)
        return f;
    const struct lab_ptx_place *p = &ptx_of(d)->places[shown_at(d, i)];
    f.inlined_at = p->inlined_at;
    if (p->inlined_at >= 0 || p->file != own_file(d))
        f.file = p->file;
    return f;
}

/* Is the warp in focus still in it, or in what it calls? */
static bool is_within(const struct lab_sim_debug *d, const struct frame *f)
{
    const struct sim_warp *w = &d->block.warps[d->focus];
    const struct lab_ptx_instr *i = next_of(d, d->focus);
    const bool called = w->pc >= d->kernel->function->instr_count;
    if (f->called || f->file < 0)
        return called || !f->called;
    if (called || !i || i->near < 0)
        return true;
    for (int32_t at = i->near; at >= 0; at = ptx_of(d)->places[at].inlined_at)
        if (ptx_of(d)->places[at].file == f->file &&
            ptx_of(d)->places[at].inlined_at == f->inlined_at)
            return true;
    return false;
}

/* Has the warp in focus, which stood at `from`, gone as far as asked? */
static bool moved(const struct lab_sim_debug *d, enum lab_sim_move move,
                  int warp, struct line from, const struct frame *in,
                  bool waited, bool *passing)
{
    const struct sim_warp *w = &d->block.warps[d->focus];
    if (move == LAB_SIM_INSTRUCTION)
        return warp == d->focus;
    if (move == LAB_SIM_LINE)
        return waited
                   ? w->state == SIM_READY
                   : warp == d->focus && !same_line(line_of(d, d->focus), from);
    if (move == LAB_SIM_FINISH)
        return w->state != SIM_DONE && !is_within(d, in);
    return move == LAB_SIM_BARRIER_NEXT && *passing && w->state == SIM_READY;
}

enum lab_status lab_sim_debug_move(struct lab_sim_debug *d,
                                   enum lab_sim_move move,
                                   struct lab_sim_stop *out)
{
    enum lab_sim_stop_reason why = LAB_SIM_STOPPED_END;
    const struct line from = line_of(d, d->focus);
    const struct frame in = frame_of(d);
    const bool waited = d->block.warps[d->focus].state == SIM_AT_BARRIER;
    bool passing = false;
    if (d->ended) {
        stop_at(d, why, out);
        return LAB_OK;
    }
    enum lab_status st = add_mark(d);
    if (st)
        return st;
    set_lines(d);
    for (;;) {
        int warp;
        st = stopped(d);
        if (st)
            break;
        const struct lab_ptx_instr *next = next_of(d, d->focus);
        step(d, &warp);
        passing = passing || (warp == d->focus && is_barrier(next));
        if (stops(d, warp, &why))
            break;
        why = LAB_SIM_STOPPED_MOVED;
        if (moved(d, move, warp, from, &in, waited, &passing))
            break;
        why = LAB_SIM_STOPPED_WARP_DONE;
        if (move != LAB_SIM_CONTINUE &&
            d->block.warps[d->focus].state == SIM_DONE)
            break;
    }
    if (st)
        why = LAB_SIM_STOPPED_MOVED;
    stop_at(d, why, out);
    return st;
}

/* Runs the block up to `executed`; `asks`: may be stopped. The way back to where a
 * stopped search began ends only where the walk is left. */
static enum lab_status run_to(struct lab_sim_debug *d, int64_t executed,
                              bool asks)
{
    enum lab_status st = LAB_OK;
    while (!st && d->executed < executed && !d->ended) {
        int warp;
        step(d, &warp);
        if (asks)
            st = stopped(d);
        else if (atomic_load(&d->left))
            st = lab_fail(LAB_E_CANCELLED, "left");
    }
    return st;
}

/* Memory as before the launch, and run again to just there. */
static enum lab_status replay(struct lab_sim_debug *d, const struct mark *m,
                              bool asks)
{
    enum lab_status st = LAB_OK;
    d->first = m->first;
    for (uint64_t i = m->first; i <= m->number && !st; i++) {
        d->number = i;
        st = start(d, i == m->first);
        if (!st)
            st = run_to(d, i < m->number ? INT64_MAX : m->executed, asks);
    }
    if (st)
        return st;
    d->focus = m->focus;
    d->at = m->stop;
    return LAB_OK;
}

void lab_sim_debug_leave(struct lab_sim_debug *d)
{
    atomic_store(&d->left, true);
}

enum lab_status lab_sim_debug_back(struct lab_sim_debug *d,
                                   struct lab_sim_stop *out)
{
    if (d->mark_count == 0)
        return lab_fail(LAB_E_STATE,
                        "[kernel.at-start] this is where the walk began");
    const struct mark m = d->marks[--d->mark_count];
    enum lab_status st = replay(d, &m, true);
    if (st) /* somewhere before it */
        stop_at(d, LAB_SIM_STOPPED_MOVED, out);
    else
        *out = m.stop;
    return st;
}

enum lab_status lab_sim_debug_block(struct lab_sim_debug *d,
                                    const uint32_t block[3])
{
    uint64_t number;
    enum lab_status st = number_of(d, block, &number);
    if (!st)
        st = add_mark(d);
    if (st)
        return st;
    d->first = d->number = number;
    d->at = (struct lab_sim_stop){LAB_SIM_STOPPED_MOVED, 0, 0};
    return start(d, true);
}

enum lab_status lab_sim_debug_focus(struct lab_sim_debug *d, int warp)
{
    if (warp < 0 || warp >= d->block.warp_count)
        return lab_fail(
            LAB_E_RANGE,
            "[kernel.warp-number] no warp %d: the block has 0 to %d", warp,
            d->block.warp_count - 1);
    d->focus = warp;
    return LAB_OK;
}

enum lab_status lab_sim_debug_thread(struct lab_sim_debug *d,
                                     const uint32_t thread[3], int *lane)
{
    const uint32_t *n = d->launch.block;
    for (int k = 0; k < 3; k++)
        if (thread[k] >= n[k])
            return lab_fail(LAB_E_RANGE,
                            "[kernel.thread] thread (%u,%u,%u) is not in the "
                            "block of %u x %u "
                            "x %u",
                            thread[0], thread[1], thread[2], n[0], n[1], n[2]);
    uint32_t number = thread[0] + n[0] * (thread[1] + n[1] * thread[2]);
    *lane = (int)(number % SIM_LANES);
    return lab_sim_debug_focus(d, (int)(number / SIM_LANES));
}

/* Runs the block until something is touched; *hit false: it ended. */
static enum lab_status until_touched(struct lab_sim_debug *d, bool *hit)
{
    enum lab_status st = LAB_OK;
    *hit = false;
    while (!st && !*hit && !d->ended) {
        int warp;
        st = stopped(d);
        if (st)
            break;
        step(d, &warp);
        *hit = d->touched >= 0;
    }
    return st;
}

static int lane_of(const struct lab_sim_debug *d, int warp)
{
    const struct lab_sim_access_view *v = &d->access[warp];
    for (int l = 0; l < SIM_LANES; l++)
        if (v->lanes >> l & 1 &&
            v->address[l] < d->watched + d->watched_bytes &&
            d->watched < v->address[l] + (uint64_t)v->bytes)
            return l;
    return 0;
}

/* The blocks in turn until one writes what is watched. */
static enum lab_status find_writer(struct lab_sim_debug *d, bool *hit)
{
    const uint64_t blocks =
        (uint64_t)d->launch.grid[0] * d->launch.grid[1] * d->launch.grid[2];
    enum lab_status st = LAB_OK;
    *hit = false;
    d->first = 0;
    for (uint64_t i = 0; i < blocks && !st && !*hit; i++) {
        d->number = i;
        st = start(d, i == 0);
        if (!st)
            st = until_touched(d, hit);
    }
    return st;
}

enum lab_status lab_sim_debug_writer(struct lab_sim_debug *d, const void *p,
                                     size_t bytes, struct lab_sim_stop *out,
                                     int *lane)
{
    const uint64_t watched = d->watched;
    const size_t watched_bytes = d->watched_bytes;
    bool hit;
    enum lab_status st = add_mark(d);
    if (st)
        return st;
    d->watched = (uint64_t)(uintptr_t)p;
    d->watched_bytes = bytes;
    d->stores_only = true;
    st = find_writer(d, &hit);
    if (!st && hit) {
        d->focus = d->touched;
        *lane = lane_of(d, d->focus);
        stop_at(d, LAB_SIM_STOPPED_ACCESS, out);
    }
    d->watched = watched;
    d->watched_bytes = watched_bytes;
    d->stores_only = false;
    if (!st && hit)
        return LAB_OK;
    const struct mark m = d->marks[--d->mark_count];
    enum lab_status back = replay(d, &m, false);
    if (st == LAB_E_CANCELLED && !back)
        return lab_fail(st, "stopped; the walk is where it was");
    if (st || back)
        return st ? st : back;
    return lab_fail(LAB_E_NOTFOUND,
                    "[kernel.no-writer] no thread of the launch writes there");
}

enum lab_status lab_sim_debug_thread_accesses(struct lab_sim_debug *d, int warp,
                                              int lane,
                                              struct lab_sim_touch *out,
                                              int most, int *count)
{
    const struct mark here = {d->first, d->number, d->executed, d->focus,
                              d->at};
    d->log = out;
    d->log_most = most;
    d->log_count = 0;
    d->log_warp = warp;
    d->log_lane = lane;
    d->log_block = d->number;
    const struct mark end = {d->first, d->number, INT64_MAX, d->focus, d->at};
    enum lab_status st = replay(d, &end, true);
    d->log = NULL;
    *count = d->log_count;
    enum lab_status back = replay(d, &here, false);
    return st ? st : back;
}

/* ---- breakpoints ---- */

static bool ends_with(const char *path, const char *name)
{
    size_t n = strlen(path);
    size_t k = strlen(name);
    return k <= n && strcmp(path + n - k, name) == 0 &&
           (k == n || path[n - k - 1] == '/');
}

static bool is_of_file(const struct lab_sim_debug *d, const char *file,
                       int32_t index)
{
    const struct lab_ptx *ptx = ptx_of(d);
    if (!file)
        return index == own_file(d);
    return index >= 0 && index < ptx->file_count && ptx->files[index] &&
           ends_with(ptx->files[index], file);
}

/* Is there an instruction before `i` of the same line and the same call? */
static bool is_repeated(const struct lab_sim_debug *d, int32_t i)
{
    const struct lab_ptx_place *places = ptx_of(d)->places;
    const struct lab_ptx_place *p =
        &places[shown_at(d, d->kernel->instrs[i].ptx)];
    for (int32_t k = 0; k < i; k++) {
        const struct lab_ptx_instr *before = d->kernel->instrs[k].ptx;
        const int32_t at =
            before && before->place >= 0 ? shown_at(d, before) : -1;
        if (at >= 0 && places[at].file == p->file &&
            places[at].line == p->line &&
            places[at].inlined_at == p->inlined_at)
            return true;
    }
    return false;
}

enum lab_status lab_sim_debug_break(struct lab_sim_debug *d, const char *file,
                                    int32_t line)
{
    const struct lab_ptx *ptx = ptx_of(d);
    int32_t next = 0;
    bool any = false;
    enum lab_status st = LAB_OK;
    for (int32_t i = 0; i < d->kernel->instr_count && !st; i++) {
        const struct lab_ptx_instr *in = d->kernel->instrs[i].ptx;
        if (!in || in->place < 0)
            continue;
        const struct lab_ptx_place *p = &ptx->places[shown_at(d, in)];
        if (!is_of_file(d, file, p->file))
            continue;
        int32_t here = p->line;
        if (here > line && (next == 0 || here < next))
            next = here;
        if (here != line)
            continue;
        any = true;
        if (is_repeated(d, i))
            continue;
        st = lab_grow(&d->breaks, d->break_count, &d->break_room,
                      sizeof(*d->breaks), "breakpoints");
        if (!st)
            d->breaks[d->break_count++] = (struct breakpoint){.pc = i};
    }
    if (st || any)
        return st;
    if (next > 0)
        return lab_fail(LAB_E_NOTFOUND,
                        "[kernel.line-empty] the kernel has no code of line "
                        "%d; the next that has "
                        "some is %d",
                        line, next);
    return lab_fail(
        LAB_E_NOTFOUND,
        "[kernel.line-past] the kernel has no code of line %d or later%s", line,
        own_file(d) < 0 ? ": it has no line numbers" : "");
}

enum lab_status lab_sim_debug_break_thread(struct lab_sim_debug *d,
                                           const uint32_t thread[3])
{
    const int focus = d->focus;
    struct breakpoint b = {.pc = -1};
    enum lab_status st = lab_sim_debug_thread(d, thread, &b.lane);
    b.warp = d->focus;
    d->focus = focus;
    if (!st)
        st = lab_grow(&d->breaks, d->break_count, &d->break_room,
                      sizeof(*d->breaks), "breakpoints");
    if (!st)
        d->breaks[d->break_count++] = b;
    return st;
}

static bool is_of_line(const struct lab_sim_debug *d, int32_t pc, int32_t file,
                       int32_t line)
{
    const int32_t at = pc >= 0 ? shown_at(d, d->kernel->instrs[pc].ptx) : -1;
    const struct lab_ptx_place *p = at >= 0 ? &ptx_of(d)->places[at] : NULL;
    return p && p->file == file && p->line == line;
}

bool lab_sim_debug_breaks(const struct lab_sim_debug *d, int32_t file,
                          int32_t line)
{
    for (size_t i = 0; i < d->break_count; i++)
        if (is_of_line(d, d->breaks[i].pc, file, line))
            return true;
    return false;
}

void lab_sim_debug_unbreak(struct lab_sim_debug *d, int32_t file, int32_t line)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->break_count; i++)
        if (!is_of_line(d, d->breaks[i].pc, file, line))
            d->breaks[kept++] = d->breaks[i];
    d->break_count = kept;
}

void lab_sim_debug_watch(struct lab_sim_debug *d, const void *p, size_t bytes)
{
    d->watched = (uint64_t)(uintptr_t)p;
    d->watched_bytes = bytes;
}

void lab_sim_debug_clear(struct lab_sim_debug *d)
{
    d->break_count = 0;
    d->watched_bytes = 0;
}

/* ---- looks ---- */

const struct lab_ptx_function *
lab_sim_debug_function(const struct lab_sim_debug *d)
{
    return d->kernel->function;
}

const struct lab_ptx *lab_sim_debug_ptx(const struct lab_sim_debug *d)
{
    return ptx_of(d);
}

void lab_sim_debug_shape(const struct lab_sim_debug *d, uint32_t grid[3],
                         uint32_t block[3])
{
    memcpy(grid, d->launch.grid, sizeof(d->launch.grid));
    memcpy(block, d->launch.block, sizeof(d->launch.block));
}

bool lab_sim_debug_parameter(const struct lab_sim_debug *d, int number,
                             uint64_t *out)
{
    const struct lab_ptx_function *f = d->kernel->function;
    if (number < 0 || number >= f->param_count ||
        number >= d->launch.arg_count || !d->launch.args[number])
        return false;
    const struct lab_ptx_variable *v = &f->params[number];
    int64_t bytes =
        (v->elements > 0 ? v->elements : 1) * lab_ptx_type_bytes(v->type);
    *out = 0;
    if (bytes < 1 || bytes > (int64_t)sizeof(*out))
        return false;
    memcpy(out, d->launch.args[number], (size_t)bytes);
    return true;
}

void lab_sim_debug_where(const struct lab_sim_debug *d, uint32_t block[3],
                         int *warp, int *warps)
{
    memcpy(block, d->block.index, sizeof(d->block.index));
    *warp = d->focus;
    *warps = d->block.warp_count;
}

void lab_sim_debug_warp(const struct lab_sim_debug *d, int warp,
                        struct lab_sim_warp_view *out)
{
    const struct sim_warp *w = &d->block.warps[warp];
    const struct lab_ptx_instr *i = next_of(d, warp);
    /* Who waits is at the barrier, not behind it. */
    if (w->state == SIM_AT_BARRIER && w->pc > 0 &&
        is_barrier(d->kernel->instrs[w->pc - 1].ptx))
        i = d->kernel->instrs[w->pc - 1].ptx;
    *out = (struct lab_sim_warp_view){.index = warp,
                                      .lanes = w->lanes,
                                      .alive = w->alive,
                                      .active = w->active,
                                      .at_barrier = w->state == SIM_AT_BARRIER,
                                      .waiting = w->state == SIM_WAITING,
                                      .done = w->state == SIM_DONE,
                                      .place = shown_at(d, i),
                                      .text_line = i ? i->text_line : 0,
                                      .executed = w->steps};
}

void lab_sim_debug_access(const struct lab_sim_debug *d, int warp,
                          struct lab_sim_access_view *out)
{
    *out = d->access[warp];
}

void lab_sim_debug_thread_of(const struct lab_sim_debug *d, int warp, int lane,
                             uint32_t thread[3])
{
    const uint32_t *n = d->launch.block;
    uint32_t number = (uint32_t)warp * SIM_LANES + (uint32_t)lane;
    thread[0] = number % n[0];
    thread[1] = number / n[0] % n[1];
    thread[2] = number / n[0] / n[1];
}

/* Does the instruction write the register as a whole? */
static bool is_result(const struct lab_ptx_instr *in, int32_t reg)
{
    return in && in->operand_count > 0 && sim_has_result(in) &&
           in->operands[0].kind == LAB_PTX_OPERAND_REG &&
           in->operands[0].reg == reg;
}

/* What a register holds in a lane; false: nothing where the warp is. */
static bool bits_of(const struct lab_sim_debug *d, const struct sim_warp *w,
                    int32_t reg, int lane, uint64_t *out)
{
    const struct sim_home *h = &d->kernel->homes[reg];
    enum lab_ptx_type type = d->kernel->function->regs[reg].type;
    if (h->slot < 0 || w->pc < h->from || w->pc > h->to ||
        (w->pc == h->from && is_result(next_of(d, w->index), reg)) ||
        (h->early && !d->has[w->index * d->kernel->function->reg_count + reg]))
        return false;
    *out = type == LAB_PTX_PRED            ? w->preds[h->slot] >> lane & 1
           : lab_ptx_type_bytes(type) == 8 ? sim_r64(w, h->slot)[lane]
                                           : sim_r32(w, h->slot)[lane];
    return true;
}

enum lab_status lab_sim_debug_register(const struct lab_sim_debug *d, int warp,
                                       const char *name, uint64_t values[32],
                                       enum lab_ptx_type *type)
{
    const struct lab_ptx_function *f = d->kernel->function;
    const struct sim_warp *w = &d->block.warps[warp];
    for (int32_t r = 0; r < f->reg_count; r++) {
        if (strcmp(f->regs[r].name, name) != 0)
            continue;
        *type = f->regs[r].type;
        for (int l = 0; l < SIM_LANES; l++)
            if (!bits_of(d, w, r, l, &values[l]))
                return lab_fail(LAB_E_STATE,
                                "[kernel.no-value] %s holds no value here",
                                name);
        return LAB_OK;
    }
    return lab_fail(LAB_E_NOTFOUND,
                    "[kernel.register] the kernel has no register %s", name);
}

/* Of each register the instruction that computed it; -1: none. */
struct made {
    int32_t *by;
    int32_t now;
    int32_t pc;
};

static void note_made(void *arg, int32_t reg)
{
    struct made *m = arg;
    int32_t before = m->by[reg];
    if (before < 0 || m->now < m->pc || before >= m->pc)
        m->by[reg] = m->now;
}

/* The parameter that a register has, or the address of what one points to. */
static int32_t parameter_of(const struct lab_sim_debug *d, const int32_t *by,
                            int32_t reg)
{
    enum { MOVES = 4 };
    const struct lab_ptx_function *f = d->kernel->function;
    for (int k = 0; k < MOVES && reg >= 0 && by[reg] >= 0; k++) {
        const struct lab_ptx_instr *in = d->kernel->instrs[by[reg]].ptx;
        const struct lab_ptx_operand *o =
            in->operand_count > 1 ? &in->operands[1] : NULL;
        if (!o || in->operands[0].kind != LAB_PTX_OPERAND_REG)
            return -1;
        if (o->kind == LAB_PTX_OPERAND_ADDRESS && o->part_count == 1 &&
            strcmp(in->opcode, "ld") == 0) {
            const struct lab_ptx_variable *v = o->parts[0].variable;
            bool own = v >= f->params && v < f->params + f->param_count;
            return own && v->elements == 1 ? (int32_t)(v - f->params) : -1;
        }
        if (o->kind != LAB_PTX_OPERAND_REG ||
            (strcmp(in->opcode, "cvta") != 0 && strcmp(in->opcode, "mov") != 0))
            return -1;
        reg = o->reg;
    }
    return -1;
}

int lab_sim_debug_values(const struct lab_sim_debug *d, int warp, int lane,
                         struct lab_sim_value *out, int most)
{
    const struct lab_sim_kernel *k = d->kernel;
    const struct lab_ptx_function *f = k->function;
    const struct sim_warp *w = &d->block.warps[warp];
    struct made m = {lab_alloc_array((size_t)f->reg_count + 1, sizeof(*m.by)),
                     0, w->pc};
    int n = 0;
    for (int32_t r = 0; m.by && r < f->reg_count; r++)
        m.by[r] = -1;
    for (m.now = 0; m.by && m.now < f->instr_count; m.now++)
        if (k->instrs[m.now].ptx)
            sim_each_changed(f, k->instrs[m.now].ptx, note_made, &m);
    /* Backwards from where the warp is, round the kernel's end. */
    for (int32_t i = 1; m.by && i <= f->instr_count; i++) {
        int32_t at = (w->pc - i + 2 * f->instr_count) % f->instr_count;
        for (int32_t r = 0; n < most && r < f->reg_count; r++) {
            uint64_t bits;
            if (m.by[r] != at || !bits_of(d, w, r, lane, &bits))
                continue;
            out[n++] = (struct lab_sim_value){f->regs[r].name, f->regs[r].type,
                                              bits, k->instrs[at].ptx->near,
                                              parameter_of(d, m.by, r)};
        }
    }
    lab_free(m.by);
    return n;
}

const unsigned char *lab_sim_debug_shared(const struct lab_sim_debug *d,
                                          int64_t *bytes)
{
    *bytes = d->block.shared_bytes;
    return d->block.shared;
}

void lab_sim_debug_outside(const struct lab_sim_debug *d,
                           const struct lab_sim_access_view *v, int lane,
                           char *out, size_t cap)
{
    enum lab_ptx_space space = v->space;
    uint64_t address = v->address[lane];
    char words[SIM_WORDS];
    struct lab_sim_finding f = {.argument = -1};
    if (space == LAB_PTX_GENERIC)
        space = sim_generic(&address);
    sim_describe(&d->grid, d->block.check, space, address, &f, words);
    if (space == LAB_PTX_SHARED && v->outside >> lane & 1)
        sim_describe_beyond(d->kernel, v->variable, address, words);
    snprintf(out, cap, "%s", words);
}

bool lab_sim_debug_shared_element(const struct lab_sim_debug *d,
                                  uint64_t address, char *out, size_t cap)
{
    char words[SIM_WORDS];
    if (!sim_shared_element(d->kernel, address, words))
        return false;
    snprintf(out, cap, "%s", words);
    return true;
}

bool lab_sim_debug_element(const struct lab_sim_debug *d, uint64_t address,
                           struct lab_sim_finding *out)
{
    const struct sim_alloc *a = sim_memory_before(d->memory, address);
    const struct sim_named *n =
        a && !a->freed && sim_holds(a, address, 1)
            ? sim_memory_name(a, address - (uint64_t)(uintptr_t)a->base)
            : NULL;
    if (!n || n->label.element_bytes < 1)
        return false;
    size_t offset = address - (uint64_t)(uintptr_t)a->base - n->from;
    int64_t element = (int64_t)offset / n->label.element_bytes;
    *out = (struct lab_sim_finding){.address = address,
                                    .argument = n->label.argument,
                                    .rank = n->label.rank};
    memcpy(out->name, n->label.name, sizeof(out->name));
    for (int k = n->label.rank; k-- > 0;) {
        int64_t dim = n->label.dim[k] > 0 ? n->label.dim[k] : 1;
        out->index[k] = element % dim;
        element /= dim;
    }
    return true;
}

/* "[3,17]" as an element's number in the label's shape. */
static enum lab_status read_index(const struct lab_sim_label *l,
                                  const char *text, const char *whole,
                                  int64_t *out)
{
    int64_t at = 0;
    int k = 0;
    const char *p = text + 1;
    for (; k < l->rank; k++) {
        char *end;
        int64_t i = strtoll(p, &end, 10);
        if (end == p || i < 0 || i >= l->dim[k])
            break;
        at = at * l->dim[k] + i;
        p = end + (*end == ',');
    }
    if (k < l->rank || strcmp(p, "]") != 0)
        return lab_fail(
            LAB_E_RANGE,
            "[kernel.index] %s: an index for each of %d dimensions, the first "
            "from 0 to %lld",
            whole, l->rank, (long long)(l->rank > 0 ? l->dim[0] - 1 : 0));
    *out = at;
    return LAB_OK;
}

static bool is_called(const struct lab_sim_label *l, const char *name, size_t n)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", l->argument);
    return (strlen(l->name) == n && memcmp(l->name, name, n) == 0) ||
           (l->argument >= 0 && strlen(number) == n &&
            memcmp(number, name, n) == 0);
}

bool lab_sim_debug_is_shared(const struct lab_sim_debug *d, const char *element)
{
    const size_t n = strcspn(element, "[");
    const char *name;
    int64_t from;
    int64_t end;
    int type;
    for (int i = 0; lab_sim_debug_shared_array(d, i, &name, &from, &end, &type);
         i++)
        if (strlen(name) == n && memcmp(name, element, n) == 0)
            return true;
    return false;
}

static enum lab_status find_memory(const struct lab_sim_debug *d,
                                   const char *element, void **p, size_t *bytes,
                                   const struct lab_sim_label **label)
{
    const struct lab_sim_memory *m = d->memory;
    const size_t n = strcspn(element, "[");
    char names[256] = "";
    for (size_t i = 0; i < m->count; i++) {
        const struct sim_alloc *a = m->allocs[i];
        for (size_t k = a->freed ? 0 : a->name_count; k-- > 0;) {
            const struct sim_named *named = &a->names[k];
            const struct lab_sim_label *l = &named->label;
            int64_t at = 0;
            if (!is_called(l, element, n)) {
                size_t used = strlen(names);
                snprintf(names + used, sizeof(names) - used, "%s%s",
                         used ? ", " : "", l->name);
                continue;
            }
            *label = l;
            *p = a->base + named->from;
            *bytes = named->bytes;
            if (!element[n])
                return LAB_OK;
            enum lab_status st = read_index(l, element + n, element, &at);
            *bytes = (size_t)l->element_bytes;
            *p = a->base + named->from + (size_t)at * *bytes;
            return st;
        }
    }
    if (lab_sim_debug_is_shared(d, element))
        return lab_fail(LAB_E_NOTFOUND,
                        "[kernel.shared-name] %.*s is an array in shared "
                        "memory: `shared %.*s` prints it; on the screen, 2 "
                        "shows it",
                        (int)n, element, (int)n, element);
    return lab_fail(
        LAB_E_NOTFOUND,
        "[kernel.memory-name] no memory is called %.*s: there is %s", (int)n,
        element, names[0] ? names : "none with a name");
}

enum lab_status lab_sim_debug_find(const struct lab_sim_debug *d,
                                   const char *element, void **p, size_t *bytes)
{
    const struct lab_sim_label *label;
    return find_memory(d, element, p, bytes, &label);
}

enum lab_status lab_sim_debug_element_at(const struct lab_sim_debug *d,
                                         const char *element, void **p,
                                         int *type, bool *written)
{
    const struct lab_sim_label *label;
    size_t bytes;
    int64_t first;
    enum lab_status st = find_memory(d, element, p, &bytes, &label);
    if (st)
        return st;
    if (label->type == 0 || !strchr(element, '['))
        return lab_fail(LAB_E_NOTFOUND, "[kernel.element] %s: %s", element,
                        label->type == 0
                            ? "the type of its elements is not known"
                            : "which element? As x[3,17]");
    *type = label->type - 1;
    *written = lab_sim_count_unwritten(d->memory, *p, 1, bytes, &first) == 0;
    return LAB_OK;
}

void lab_sim_debug_poll(struct lab_sim_debug *d, bool (*go_on)(void *user),
                        void *user)
{
    d->poll = go_on;
    d->poll_user = user;
}

bool lab_sim_debug_shared_array(const struct lab_sim_debug *d, int number,
                                const char **name, int64_t *from, int64_t *end,
                                int *type)
{
    const struct lab_sim_kernel *k = d->kernel;
    if (number == k->variable_count && d->block.shared_bytes > k->dynamic_at) {
        *name = "dynamic";
        *from = k->dynamic_at;
        *end = d->block.shared_bytes;
        *type = k->dynamic_array.type;
        return true;
    }
    if (number < 0 || number >= k->variable_count)
        return false;
    *name = k->variables[number].name;
    *from = k->variables[number].from;
    *end = k->variables[number].end;
    *type = k->variables[number].type;
    return true;
}

const int32_t *lab_sim_debug_shared_writers(const struct lab_sim_debug *d,
                                            int64_t *words)
{
    *words = d->writer_count;
    return d->writers;
}

const struct lab_sim_written *
lab_sim_debug_written(const struct lab_sim_debug *d)
{
    const struct written *t = &d->written[d->written_last];
    return d->written_count > 0 && t->thread ? &t->view : NULL;
}

double lab_sim_debug_lanes(const struct lab_sim_debug *d, int32_t file,
                           int32_t line)
{
    double most = 0;
    for (int32_t i = 0; i < d->kernel->instr_count; i++) {
        const double warps = (double)d->tally[i].warps;
        if (warps > 0 && is_of_line(d, i, file, line) &&
            (double)d->tally[i].lanes / warps > most)
            most = (double)d->tally[i].lanes / warps;
    }
    return most;
}

void lab_sim_debug_counts(const struct lab_sim_debug *d, int32_t file,
                          int32_t line, struct lab_sim_counts *out)
{
    const struct lab_sim_kernel *k = d->kernel;
    *out = (struct lab_sim_counts){0};
    for (int32_t i = 0; i < k->instr_count; i++) {
        if (line > 0 && !is_of_line(d, i, file, line))
            continue;
#define X(key, title) out->key += d->counts[i].key;
        LAB_SIM_COUNT_LIST(X)
#undef X
        out->warp_instructions += d->tally[i].warps;
        out->lane_instructions += d->tally[i].lanes;
        out->divergent_branches += d->tally[i].divergent;
        if (k->instrs[i].ptx)
            sim_count_flops(out, k, &k->instrs[i], d->tally);
    }
}

const struct lab_sim_finding *
lab_sim_debug_findings(const struct lab_sim_debug *d, int32_t *count)
{
    *count = (int32_t)d->finding_count;
    return d->findings;
}
