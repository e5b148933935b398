/* finding.c -- findings: where, in which tensor's element, and each fault once.
 *
 * They do not depend on the number of host threads: each block that runs keeps, for
 * a source line, the one of its first block and thread, and the lists are merged and
 * sorted at the end. */
#include "check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- where ---- */

static void coordinates(uint64_t number, const uint32_t size[3],
                        uint32_t out[3])
{
    uint64_t x = size[0] ? size[0] : 1;
    uint64_t y = size[1] ? size[1] : 1;
    out[0] = (uint32_t)(number % x);
    out[1] = (uint32_t)(number / x % y);
    out[2] = (uint32_t)(number / x / y);
}

void sim_where(const struct sim_grid *g, uint64_t block, uint32_t thread,
               int32_t place, struct lab_sim_where *out)
{
    const struct sim_launch_check *l = g->check;
    out->place = lab_ptx_user_place(l->ptx, place);
    coordinates(block, g->launch->grid, out->block);
    coordinates(thread, g->launch->block, out->thread);
}

static uint32_t thread_of(const struct sim_warp *w, int lane)
{
    return (uint32_t)(w->index * SIM_LANES + lane);
}

static int32_t place_of(const struct sim_instr *i)
{
    return i && i->ptx ? i->ptx->near : -1;
}

/* ---- what an address is called ---- */

/* The argument of the launch that points to this allocation; -1: none does. */
static int argument_of(const struct sim_grid *g, const struct sim_alloc *a)
{
    const struct lab_ptx_function *f = g->kernel->function;
    const struct lab_sim_launch *l = g->launch;
    for (int k = 0; f && k < l->arg_count && k < f->param_count; k++) {
        uint64_t value;
        if (f->params[k].elements != 1 ||
            lab_ptx_type_bytes(f->params[k].type) != (int)sizeof(value))
            continue;
        memcpy(&value, l->args[k], sizeof(value));
        if (value == (uint64_t)(uintptr_t)a->base)
            return k;
    }
    return -1;
}

/* Index of an element: of the first dimension it may be beyond its size. */
static void unravel(const struct lab_sim_label *l, int64_t element,
                    struct lab_sim_finding *f)
{
    f->rank = l->rank;
    for (int d = l->rank; d-- > 1;) {
        int64_t n = l->dim[d] > 0 ? l->dim[d] : 1;
        int64_t at = element % n;
        at += at < 0 ? n : 0;
        f->index[d] = at;
        element = (element - at) / n;
    }
    if (l->rank > 0)
        f->index[0] = element;
}

size_t sim_append(char *out, size_t room, size_t at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(out + at, room - at, format, list);
    va_end(list);
    size_t end = at + (size_t)(n > 0 ? n : 0);
    return end < room ? end : room - 1;
}

static void describe_inside(const struct lab_sim_finding *f, int64_t offset,
                            int element_bytes, char *words)
{
    size_t n = sim_append(words, SIM_WORDS, 0, "%s", f->name);
    for (int d = 0; d < f->rank; d++)
        n = sim_append(words, SIM_WORDS, n, "%s%lld", d ? "," : "[",
                       (long long)f->index[d]);
    if (f->rank > 0)
        n = sim_append(words, SIM_WORDS, n, "]");
    else
        n = sim_append(words, SIM_WORDS, n, ", byte %lld", (long long)offset);
    if (f->rank > 0 && offset % element_bytes != 0)
        sim_append(words, SIM_WORDS, n, " + %lld byte%s",
                   (long long)(offset % element_bytes),
                   offset % element_bytes == 1 ? "" : "s");
}

/* Of a bounded allocation, the name that ends nearest before a byte, and the one that
 * begins nearest behind it; NULL: there is none. */
static void neighbours(const struct sim_alloc *a, size_t offset,
                       const struct sim_named **before,
                       const struct sim_named **behind)
{
    *before = *behind = NULL;
    for (size_t i = a->name_count; i-- > 0;) {
        const struct sim_named *n = &a->names[i];
        if (n->from > offset) {
            if (!*behind || n->from < (*behind)->from)
                *behind = n;
        } else if (!*before ||
                   n->from + n->bytes > (*before)->from + (*before)->bytes)
            *before = n;
    }
}

/* Between two tensors: the one with the nearer end or beginning, and the other. It may
 * be that of the next pointer, off by much. */
static const struct sim_named *nearer_name(const struct sim_alloc *a,
                                           size_t offset,
                                           const struct sim_named **other)
{
    const struct sim_named *before;
    const struct sim_named *behind;
    neighbours(a, offset, &before, &behind);
    const bool first =
        before && (!behind || offset - (before->from + before->bytes) <
                                  behind->from - offset);
    *other = first ? behind : before;
    return first ? before : behind;
}

/* ", 124 bytes after the end of relu1.out": beside an access that is not at the edge of
 * the tensor that was named. */
static void describe_other(const struct sim_named *named,
                           const struct sim_named *other, int64_t at,
                           char *words)
{
    const int64_t element = named->label.element_bytes;
    const int64_t end = (int64_t)(other->from + other->bytes);
    if (at == (int64_t)(named->from + named->bytes) ||
        at == (int64_t)named->from - element || !other->label.name[0])
        return;
    if (at < (int64_t)other->from)
        sim_append(words, SIM_WORDS, strlen(words),
                   ", %lld bytes before the start of %s",
                   (long long)((int64_t)other->from - at), other->label.name);
    else
        sim_append(words, SIM_WORDS, strlen(words),
                   ", %lld bytes after the end of %s", (long long)(at - end),
                   other->label.name);
}

/* An address in the memory of `a`, or in a guard zone of it. */
static void describe_alloc(const struct sim_grid *g, const struct sim_alloc *a,
                           uint64_t addr, struct lab_sim_finding *f,
                           char *words)
{
    const int64_t bytes = (int64_t)a->bytes;
    const int64_t at = (int64_t)(addr - (uint64_t)(uintptr_t)a->base);
    /* Past the end: what the last byte is called; before: the first. */
    size_t nearest = at >= 0 && at < bytes  ? (size_t)at
                     : at < 0 || bytes == 0 ? 0
                                            : a->bytes - 1;
    const struct sim_named *named = sim_memory_name(a, nearest);
    const struct sim_named *other = NULL;
    if (!named && a->bounded)
        named = nearer_name(a, nearest, &other);
    /* What is its: of an allocation with several tensors the tensor. */
    const int64_t from = a->bounded && named ? (int64_t)named->from : 0;
    const int64_t end =
        a->bounded && named ? from + (int64_t)named->bytes : bytes;
    const bool inside = at >= from && at < end;
    int element_bytes = 1;
    int64_t offset = at;
    if (named) {
        const struct lab_sim_label *l = &named->label;
        f->argument = l->argument;
        memcpy(f->name, l->name, sizeof(f->name));
        offset = at - (int64_t)named->from;
        element_bytes = l->element_bytes > 0 ? l->element_bytes : 1;
        int64_t rest = offset % element_bytes;
        rest += rest < 0 ? element_bytes : 0;
        unravel(l, (offset - rest) / element_bytes, f);
    } else {
        f->argument = argument_of(g, a);
    }
    if (!f->name[0] && f->argument >= 0)
        snprintf(f->name, sizeof(f->name), "argument %d", f->argument);
    else if (!f->name[0])
        snprintf(f->name, sizeof(f->name), "an allocation of %lld bytes",
                 (long long)bytes);
    if (inside)
        describe_inside(f, offset, element_bytes, words);
    else if (at < from)
        sim_append(words, SIM_WORDS, 0, "%lld bytes before the start of %s",
                   (long long)(from - at), f->name);
    else
        sim_append(words, SIM_WORDS, 0, "%lld bytes after the end of %s",
                   (long long)(at - end), f->name);
    if (named && other)
        describe_other(named, other, at, words);
    if (a->freed)
        sim_append(words, SIM_WORDS, strlen(words), ", which was freed");
}

/* An address far from all memory, as x[i - 1u] has: how far from the nearest, for the
 * address itself is another one in each run. */
static void describe_far(const struct sim_grid *g, uint64_t addr, char *words)
{
    const struct lab_sim_memory *m = g->memory;
    const struct sim_alloc *near = NULL;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < m->count; i++) {
        const struct sim_alloc *a = m->allocs[i];
        const uint64_t base = (uint64_t)(uintptr_t)a->base;
        const uint64_t far =
            addr < base ? base - addr : addr - (base + a->bytes);
        if (!a->freed && far < least) {
            least = far;
            near = a;
        }
    }
    if (!near) {
        sim_append(words, SIM_WORDS, 0, "in no allocation");
        return;
    }
    const bool before = addr < (uint64_t)(uintptr_t)near->base;
    const struct sim_named *named =
        sim_memory_name(near, before || !near->bytes ? 0 : near->bytes - 1);
    sim_append(words, SIM_WORDS, 0, "in no allocation, %llu bytes %s %s",
               (unsigned long long)least,
               before ? "before the start of" : "after the end of",
               named && named->label.name[0] ? named->label.name
                                             : "an allocation");
}

static const char *const space_names[] = {"shared memory", "local memory",
                                          "parameter memory"};

/* Is what was touched the block's or the thread's own? */
static bool is_space(const char *name)
{
    for (size_t i = 0; i < sizeof(space_names) / sizeof(space_names[0]); i++)
        if (strcmp(space_names[i], name) == 0)
            return true;
    return false;
}

static int64_t space_bytes(const struct sim_grid *g, const struct sim_check *c,
                           enum lab_ptx_space space)
{
    return space == LAB_PTX_SHARED  ? (c ? c->block->shared_bytes : 0)
           : space == LAB_PTX_LOCAL ? g->kernel->local_bytes
                                    : g->params_bytes;
}

/* The variable of static shared memory that has a byte, or the array in dynamic one;
 * NULL: none has. */
static const struct sim_variable *variable_at(const struct lab_sim_kernel *k,
                                              uint64_t addr)
{
    for (int32_t v = 0; v < k->variable_count; v++)
        if (addr >= (uint64_t)k->variables[v].from &&
            addr < (uint64_t)k->variables[v].end)
            return &k->variables[v];
    return k->dynamic_array.element_bytes > 0 &&
                   addr >= (uint64_t)k->dynamic_array.from
               ? &k->dynamic_array
               : NULL;
}

/* The array that an access is of, or was meant for. */
static const struct sim_variable *array_of(const struct lab_sim_kernel *k,
                                           const struct sim_instr *i,
                                           uint64_t addr)
{
    return i && i->variable > 0 ? &k->variables[i->variable - 1]
                                : variable_at(k, addr);
}

int64_t sim_array_at(const struct lab_sim_kernel *k, const struct sim_instr *i,
                     uint64_t addr)
{
    const struct sim_variable *v = array_of(k, i, addr);
    return v ? v->from : -1;
}

bool sim_shared_element(const struct lab_sim_kernel *k, uint64_t addr,
                        char *words)
{
    const struct sim_variable *v = variable_at(k, addr);
    int64_t index[LAB_SIM_MAX_RANK] = {0};
    if (!v || v->element_bytes < 1)
        return false;
    const int64_t at = (int64_t)addr - v->from;
    int64_t element = at / v->element_bytes;
    for (int d = v->rank; d-- > 0;) {
        index[d] = d > 0 ? element % v->dim[d] : element;
        element = d > 0 ? element / v->dim[d] : element;
    }
    size_t n = sim_append(words, SIM_WORDS, 0, "%s", v->name);
    for (int d = 0; d < v->rank; d++)
        n = sim_append(words, SIM_WORDS, n, "[%lld]", (long long)index[d]);
    if (at % v->element_bytes != 0)
        sim_append(words, SIM_WORDS, n, " + %lld byte%s",
                   (long long)(at % v->element_bytes),
                   at % v->element_bytes == 1 ? "" : "s");
    return true;
}

/* Addresses in shared and local memory have 32 bits: tile[-1] of the first array is at
 * 0xfffffffc. */
static int64_t narrow(uint64_t addr)
{
    return addr <= UINT32_MAX ? (int32_t)(uint32_t)addr : (int64_t)addr;
}

void sim_describe_beyond(const struct lab_sim_kernel *k, int variable,
                         uint64_t addr, char *words)
{
    const struct sim_variable *v =
        variable > 0 ? &k->variables[variable - 1] : NULL;
    const int64_t at = narrow(addr);
    if (v && at < v->from)
        sim_append(words, SIM_WORDS, 0,
                   "%lld bytes before the start of %s in shared memory",
                   (long long)(v->from - at), v->name);
    else if (v && at >= v->end)
        sim_append(words, SIM_WORDS, 0,
                   "%lld bytes after the end of %s in shared memory",
                   (long long)(at - v->end), v->name);
}

void sim_describe(const struct sim_grid *g, const struct sim_check *c,
                  enum lab_ptx_space space, uint64_t addr,
                  struct lab_sim_finding *f, char *words)
{
    enum { NULL_PAGE = 4096 };
    f->argument = -1;
    f->address = addr;
    f->rank = 0;
    f->name[0] = '\0';
    words[0] = '\0';
    if (space == LAB_PTX_SHARED || space == LAB_PTX_LOCAL ||
        space == LAB_PTX_PARAM) {
        snprintf(f->name, sizeof(f->name), "%s",
                 space_names[space == LAB_PTX_SHARED  ? 0
                             : space == LAB_PTX_LOCAL ? 1
                                                      : 2]);
        f->rank = 1;
        f->index[0] = narrow(addr);
        const bool beyond = c && addr >= (uint64_t)space_bytes(g, c, space);
        const struct sim_variable *v = space == LAB_PTX_SHARED && !beyond
                                           ? variable_at(g->kernel, addr)
                                           : NULL;
        char element[SIM_WORDS];
        if (v && sim_shared_element(g->kernel, addr, element))
            sim_append(words, SIM_WORDS, 0, "%s %s", f->name, element);
        else if (v)
            sim_append(words, SIM_WORDS, 0, "%s %s, byte %lld of %lld", f->name,
                       v->name, (long long)addr - (long long)v->from,
                       (long long)(v->end - v->from));
        else
            sim_append(words, SIM_WORDS, 0, "%s, byte %lld of %lld", f->name,
                       (long long)f->index[0],
                       (long long)space_bytes(g, c, space));
        return;
    }
    const struct sim_alloc *a = sim_memory_near(g->memory, addr);
    if (a)
        describe_alloc(g, a, addr, f, words);
    else if (addr < NULL_PAGE && addr == 0)
        sim_append(words, SIM_WORDS, 0, "the NULL pointer");
    else if (addr < NULL_PAGE)
        sim_append(words, SIM_WORDS, 0, "%llu bytes after the NULL pointer",
                   (unsigned long long)addr);
    else
        describe_far(g, addr, words);
}

/* ---- findings ---- */

static int by_position(const struct sim_found *x, const struct sim_found *y)
{
    if (x->late != y->late)
        return x->late ? 1 : -1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->f.check != y->f.check)
        return x->f.check < y->f.check ? -1 : 1;
    const int names = strcmp(x->f.name, y->f.name);
    return names                  ? names
           : x->array == y->array ? 0
           : x->array < y->array  ? -1
                                  : 1;
}

static int by_position_void(const void *a, const void *b)
{
    return by_position(a, b);
}

/* One and the same fault: of one check, on one line, of one tensor or array. */
static bool same_fault(const struct sim_found *x, const struct sim_found *y)
{
    return x->f.check == y->f.check && x->line == y->line &&
           x->file == y->file && x->array == y->array &&
           strcmp(x->f.name, y->f.name) == 0;
}

/* Adds `one` to a list in which each fault is there once: *at. */
static bool merge(struct sim_found **list, size_t *count, size_t *room,
                  const struct sim_found *one, size_t *at)
{
    for (size_t k = 0; k < *count; k++) {
        struct sim_found *old = &(*list)[k];
        if (!same_fault(old, one))
            continue;
        int64_t times = old->f.times + one->f.times;
        if (by_position(one, old) < 0)
            *old = *one;
        old->f.times = times;
        *at = k;
        return true;
    }
    if (lab_grow(list, *count, room, sizeof(**list), "findings"))
        return false;
    *at = *count;
    (*list)[(*count)++] = *one;
    return true;
}

void sim_check_no_memory(struct sim_launch_check *l)
{
    pthread_mutex_lock(&l->lock);
    l->no_memory = true;
    pthread_mutex_unlock(&l->lock);
}

static bool is_breaking(const struct sim_block *b)
{
    for (int w = 0; w < b->warp_count; w++)
        if (b->warps[w].faulted)
            return true;
    return false;
}

/* May it come of a thread of the block that another finding has ended? What that thread
 * would have written is read, or it was not at a barrier with the other. */
static bool is_follower(const struct sim_block *b,
                        const struct lab_sim_finding *f)
{
    const uint32_t *n = b->grid->launch->block;
    const uint32_t *t = f->at.thread;
    if (f->check == LAB_SIM_SHUFFLE)
        return b->warps[(t[0] + n[0] * (t[1] + n[1] * t[2])) / SIM_LANES]
                   .faulted != 0;
    if (f->check != LAB_SIM_UNINITIALISED && f->check != LAB_SIM_RACE)
        return false;
    if (f->check == LAB_SIM_UNINITIALISED)
        return is_space(f->name) && is_breaking(b);
    if (!f->has_other ||
        memcmp(f->other.block, f->at.block, sizeof(f->at.block)) != 0)
        return false;
    t = f->other.thread;
    return sim_is_ended(b, t[0] + n[0] * (t[1] + n[1] * t[2]));
}

/* Of so many blocks, the first ones, it is kept: 16 MiB. */
static uint64_t kept_blocks(const struct sim_launch_check *l)
{
    const uint64_t most = UINT64_C(1) << 27;
    return l->blocks < most ? l->blocks : most;
}

void sim_keep_broken(struct sim_launch_check *l, const struct sim_block *b)
{
    if (!l->ordered || !is_breaking(b) || b->number >= kept_blocks(l))
        return;
    pthread_mutex_lock(&l->lock);
    if (!l->broken)
        l->broken = lab_alloc_array((size_t)kept_blocks(l) / 8 + 1, 1);
    if (l->broken)
        l->broken[b->number / 8] |= (unsigned char)(1u << b->number % 8);
    else
        l->no_memory = true;
    pthread_mutex_unlock(&l->lock);
}

bool sim_is_cut(const struct sim_launch_check *l, const struct sim_block *b,
                uint64_t other)
{
    return is_breaking(b) || (l->broken && other < kept_blocks(l) &&
                              l->broken[other / 8] >> other % 8 & 1);
}

void sim_found(struct sim_check *c, const struct sim_found *found)
{
    const struct lab_ptx *ptx = c->launch->ptx;
    const struct lab_sim_finding *f = &found->f;
    struct sim_found one = *found;
    one.file = -1;
    one.line = 0;
    if (f->at.place >= 0 && ptx && f->at.place < ptx->place_count) {
        one.file = ptx->places[f->at.place].file;
        one.line = ptx->places[f->at.place].line;
    }
    one.f.times = f->times > 0 ? f->times : 1;
    size_t at = 0;
    struct sim_repeat *r = c->pending;
    c->pending = NULL;
    if (!merge(&c->found, &c->found_count, &c->found_room, &one, &at))
        sim_check_no_memory(c->launch);
    else if (r && lab_ptx_user_place(ptx, r->place) == f->at.place) {
        r->check = (int)f->check;
        r->found = at;
    }
}

/* What a finding at this address names. */
static const void *named_at(const struct sim_check *c,
                            const struct sim_instr *i, enum lab_ptx_space space,
                            uint64_t addr)
{
    static const char spaces[LAB_PTX_LOCAL + 1];
    const struct sim_variable *v =
        space == LAB_PTX_SHARED ? array_of(c->launch->grid->kernel, i, addr)
                                : NULL;
    if (v)
        return v;
    if (space == LAB_PTX_SHARED || space == LAB_PTX_LOCAL ||
        space == LAB_PTX_PARAM)
        return &spaces[space];
    const struct sim_alloc *a = sim_memory_near(c->launch->grid->memory, addr);
    const uint64_t base = a ? (uint64_t)(uintptr_t)a->base : 0;
    const struct sim_named *n =
        a && addr >= base ? sim_memory_name(a, (size_t)(addr - base)) : NULL;
    return n ? (const void *)n : (const void *)a;
}

bool sim_repeats(struct sim_warp *w, const struct sim_instr *i, int lane,
                 enum lab_sim_check check, enum lab_ptx_space space,
                 uint64_t addr)
{
    struct sim_check *c = sim_check_of(w);
    const struct sim_watch *watch = w->block->grid->watch;
    const void *what = named_at(c, i, space, addr);
    const int32_t place = place_of(i);
    struct sim_repeat *r =
        &c->repeats[((uint32_t)place * 8 + (uint32_t)check) % SIM_REPEATS];
    c->pending = NULL;
    if (watch && watch->finding)
        return false;
    if (r->check == (int)check && r->place == place && r->what == what &&
        r->found < c->found_count) {
        struct sim_found *old = &c->found[r->found];
        if (!old->late && (old->block < w->block->number ||
                           (old->block == w->block->number &&
                            old->thread <= thread_of(w, lane)))) {
            old->f.times++;
            return true;
        }
    }
    *r = (struct sim_repeat){what, place, -1, 0};
    c->pending = r;
    return false;
}

void sim_tell(const struct sim_grid *g, const struct lab_sim_finding *f)
{
    if (g->watch && g->watch->finding)
        g->watch->finding(g->watch->arg, f);
}

void sim_find(struct sim_warp *w, const struct sim_instr *i, uint32_t lanes,
              enum lab_sim_check check, const struct lab_sim_finding *f,
              const char *format, ...)
{
    struct sim_check *c = sim_check_of(w);
    /* What is outside of memory cannot be left to happen. */
    if (!(c->launch->checks >> check & 1) && check != LAB_SIM_MEMORY)
        return;
    struct lab_sim_finding one = {.argument = -1};
    uint32_t thread = thread_of(w, lanes ? __builtin_ctz(lanes) : 0);
    if (f)
        one = *f;
    one.check = check;
    sim_where(w->block->grid, w->block->number, thread, place_of(i), &one.at);
    va_list list;
    va_start(list, format);
    vsnprintf(one.message, sizeof(one.message), format, list);
    va_end(list);
    sim_tell(w->block->grid, &one);
    const bool shared = strcmp(one.name, space_names[0]) == 0;
    sim_found(c, &(struct sim_found){
                     .f = one,
                     .block = w->block->number,
                     .thread = thread,
                     .late = is_follower(w->block, &one),
                     .array = shared ? sim_array_at(w->block->grid->kernel, i,
                                                    (uint64_t)one.index[0])
                                     : -1});
}

void sim_end(struct sim_warp *w, const struct sim_instr *i, uint32_t lanes,
             enum lab_sim_check check, const struct lab_sim_finding *f,
             const char *format, ...)
{
    char text[sizeof f->message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sim_find(w, i, lanes, check, f, "%s", text);
    w->faulted |= lanes;
}

void sim_find_late(struct sim_grid *g, uint64_t block, uint32_t thread,
                   const struct sim_instr *i, enum lab_sim_check check,
                   bool last, const char *format, ...)
{
    struct sim_launch_check *l = g->check;
    if (last && !l->ordered)
        l->last = block;
    struct lab_sim_finding one = {.argument = -1, .check = check};
    if (!(l->checks >> check & 1) || !l->all)
        return;
    sim_where(g, block, thread, place_of(i), &one.at);
    va_list list;
    va_start(list, format);
    vsnprintf(one.message, sizeof(one.message), format, list);
    va_end(list);
    sim_tell(g, &one);
    sim_found(l->all,
              &(struct sim_found){
                  .f = one, .block = block, .thread = thread, .array = -1});
}

void sim_find_unset(struct sim_warp *w, const struct sim_instr *i,
                    enum lab_ptx_space space, int lane, uint64_t addr,
                    int bytes, const char *what, const char *hint)
{
    char words[SIM_WORDS];
    struct lab_sim_finding f = {.bytes = bytes};
    if (sim_repeats(w, i, lane, LAB_SIM_UNINITIALISED, space, addr))
        return;
    sim_describe(w->block->grid, sim_check_of(w), space, addr, &f, words);
    f.hint = hint;
    sim_find(w, i, 1u << lane, LAB_SIM_UNINITIALISED, &f, "read of %s: %s",
             what, words);
}

/* A struct has bytes between its members that nothing writes, and a copy of the struct
 * reads them. That is no fault if the value is only stored again, and if each element
 * of the access with such bytes has others that were written. nvcc copies the rest of
 * a struct as several numbers of 8 or 16 bits: there padding follows a member, and no
 * word of 8 bytes begins with it. */
bool sim_is_padding(const struct sim_instr *i, sim_is_set_fn *is_set,
                    const void *arg, size_t from)
{
    enum { NARROW = 2, WORD = 8 };
    if (!i->copies)
        return false;
    if (i->bytes <= NARROW && i->count > 1)
        return is_set(arg, from) || (from % WORD != 0 && is_set(arg, from - 1));
    if (i->bytes < 2)
        return false;
    for (int e = 0; e < i->count; e++) {
        int set = 0;
        for (int k = 0; k < i->bytes; k++)
            set += is_set(arg, from + (size_t)(e * i->bytes + k));
        if (set == 0)
            return false;
    }
    return true;
}

/* A thread that an access or a barrier ended writes no more: the finding of a later
 * read of that global memory, in whichever block, is listed after it. */
static void put_causes_first(struct sim_found *list, size_t count)
{
    bool ended = false;
    for (size_t k = 0; k < count; k++)
        ended = ended || list[k].f.check == LAB_SIM_MEMORY ||
                list[k].f.check == LAB_SIM_BARRIER;
    for (size_t k = 0; ended && k < count; k++)
        list[k].late =
            list[k].late || (list[k].f.check == LAB_SIM_UNINITIALISED &&
                             list[k].f.name[0] && !is_space(list[k].f.name));
}

enum lab_status sim_findings_end(struct sim_launch_check *l,
                                 struct lab_sim_result *out)
{
    enum { USUAL = 100 };
    const int wanted = l->grid->options->max_findings;
    const size_t most = wanted > 0 ? (size_t)wanted : USUAL;
    struct sim_found *list = NULL;
    size_t count = 0;
    size_t room = 0;
    bool enough = !l->no_memory;
    size_t at;
    for (struct sim_check *c = l->all; c; c = c->next)
        for (size_t k = 0; enough && k < c->found_count; k++)
            enough = c->found[k].block > l->last ||
                     merge(&list, &count, &room, &c->found[k], &at);
    const size_t kept = count < most ? count : most;
    out->findings =
        enough ? lab_alloc_array(kept, sizeof(out->findings[0])) : NULL;
    if (!out->findings) {
        lab_free(list);
        return lab_no_memory("findings");
    }
    put_causes_first(list, count);
    if (count > 0)
        qsort(list, count, sizeof(list[0]), by_position_void);
    /* Why the launch ended is among those that are kept. */
    for (size_t k = kept; kept > 0 && k < count; k++)
        if (list[k].f.check == LAB_SIM_BUDGET)
            list[kept - 1] = list[k];
    for (size_t k = 0; k < kept; k++)
        out->findings[k] = list[k].f;
    out->finding_count = (int32_t)kept;
    out->findings_left_out = (int64_t)(count - kept);
    lab_free(list);
    return LAB_OK;
}
