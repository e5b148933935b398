/* A warp: its lanes, which of them run, and the loop that executes instructions;
 * branches, calls and ends.
 *
 * Lanes that part at a branch meet again at its post-dominator. Each of these
 * places is a struct sim_join that knows which lanes come; lanes that run later
 * are a struct sim_side. A side that waits for memory lets the others run, and if
 * need be the lanes that wait for it at a join go on without it, so that a lock
 * that one lane of a warp holds does not stop the warp. */
#include "warp/lanes.h"
#include "module.h"

/* ---- lanes that part and meet ---- */

static void set_join(struct sim_stack *s, int join)
{
    s->join = join;
    s->join_pc = join >= 0 && !s->joins[join].call ? s->joins[join].pc : -1;
}

/* -1: there is no room, and the lanes part for longer than they had to. */
static int new_join(struct sim_stack *s)
{
    return s->free_count > 0 ? s->free[--s->free_count] : -1;
}

static void free_join(struct sim_stack *s, int join)
{
    s->free[s->free_count++] = (uint8_t)join;
}

static void go(struct sim_warp *w, int32_t pc, uint32_t lanes, int join)
{
    w->pc = pc;
    w->active = lanes;
    w->stack->spins = 0;
    set_join(w->stack, join);
}

static void add_side(struct sim_warp *w, int32_t pc, uint32_t mask, int join,
                     bool parked, bool last)
{
    struct sim_stack *s = w->stack;
    int at = last ? 0 : s->side_count;
    memmove(&s->sides[at + 1], &s->sides[at],
            (size_t)(s->side_count - at) * sizeof(s->sides[0]));
    s->sides[at] = (struct sim_side){pc, mask, join, parked};
    s->side_count++;
}

static void take_side(struct sim_warp *w, int at)
{
    struct sim_stack *s = w->stack;
    struct sim_side side = s->sides[at];
    s->side_count--;
    memmove(&s->sides[at], &s->sides[at + 1],
            (size_t)(s->side_count - at) * sizeof(s->sides[0]));
    go(w, side.pc, side.mask, side.join);
}

/* The newest side that can run; -1: none. */
static int runnable(const struct sim_stack *s)
{
    int at = s->side_count - 1;
    while (at >= 0 && s->sides[at].parked)
        at--;
    return at;
}

/* No lane is active. A parked side looks again whether its lanes are there. */
static void next_side(struct sim_warp *w)
{
    struct sim_stack *s = w->stack;
    int at = runnable(s);
    if (at < 0)
        at = s->side_count - 1;
    if (at >= 0)
        take_side(w, at);
    else {
        w->active = 0;
        w->state = SIM_DONE;
    }
}

static void move_bytes(struct sim_warp *w, const struct sim_copied *c,
                       int count, uint32_t lanes)
{
    int64_t each = w->block->grid->kernel->local_bytes;
    for (int k = 0; k < count; k++)
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            unsigned char *local = w->local + __builtin_ctz(rest) * each;
            memcpy(local + c[k].to, local + c[k].from, (size_t)c[k].bytes);
        }
}

/* All lanes of a join are there. */
static void pass_join(struct sim_warp *w, int join)
{
    struct sim_stack *s = w->stack;
    struct sim_join j = s->joins[join];
    free_join(s, join);
    go(w, j.pc, j.arrived, j.parent);
    if (j.call) {
        const struct sim_called *c = j.call->extra;
        move_bytes(w, c->results, c->result_count, j.arrived);
    }
}

/* No lane is active; those that the last ones kept waiting may go on. */
static void settle(struct sim_warp *w, int join)
{
    struct sim_stack *s = w->stack;
    while (join >= 0) {
        struct sim_join *j = &s->joins[join];
        if (j->expected && j->expected == j->arrived) {
            pass_join(w, join);
            return;
        }
        if (j->expected)
            break;
        int parent = j->parent;
        free_join(s, join);
        join = parent;
    }
    next_side(w);
}

/* The active lanes are at their join. */
static void arrive(struct sim_warp *w)
{
    struct sim_join *j = &w->stack->joins[w->stack->join];
    j->arrived |= w->active;
    settle(w, w->stack->join);
}

/* `lanes` are not awaited at the joins from `join` up to, not at, `end`. */
static void forget(struct sim_stack *s, int join, int end, uint32_t lanes)
{
    for (; join != end && join >= 0; join = s->joins[join].parent)
        s->joins[join].expected &= ~lanes;
}

static void leave(struct sim_warp *w, uint32_t lanes)
{
    lanes &= w->active;
    w->alive &= ~lanes;
    w->active &= ~lanes;
    forget(w->stack, w->stack->join, -1, lanes);
    if (!w->active)
        settle(w, w->stack->join);
}

static void exit_lanes(struct sim_warp *w, const struct sim_instr *i,
                       uint32_t mask)
{
    (void)i;
    leave(w, mask);
}

/* The function of a call's lanes or, outside of one, the lanes themselves end. */
static void ret(struct sim_warp *w, const struct sim_instr *i, uint32_t lanes)
{
    (void)i;
    struct sim_stack *s = w->stack;
    int call = s->join;
    while (call >= 0 && !s->joins[call].call)
        call = s->joins[call].parent;
    if (call < 0) {
        leave(w, lanes);
        return;
    }
    forget(s, s->join, call, lanes);
    s->joins[call].arrived |= lanes;
    w->active &= ~lanes;
    if (!w->active)
        settle(w, s->join);
}

/* The lanes of `taken` go to `target`, the others on; both meet at `join`. */
static void split(struct sim_warp *w, const struct sim_instr *i, uint32_t taken,
                  int32_t target, int32_t join)
{
    struct sim_stack *s = w->stack;
    uint32_t others = w->active & ~taken;
    if (!others) {
        w->pc = target;
        return;
    }
    w->block->tally[sim_index(w, i)].divergent++;
    int at = s->join;
    int made = join >= 0 && join != s->join_pc ? new_join(s) : -1;
    if (made >= 0) {
        s->joins[made] = (struct sim_join){join, w->active, 0, at, NULL};
        at = made;
    }
    add_side(w, w->pc, others, at, false, false);
    go(w, target, taken, at);
}

static void bra(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    split(w, i, mask, i->target, i->join);
}

/* Each lane of `mask` goes to its target; the active others on. */
static void branch_each(struct sim_warp *w, const struct sim_instr *i,
                        uint32_t mask, const int32_t targets[SIM_LANES])
{
    struct sim_stack *s = w->stack;
    int32_t first = targets[__builtin_ctz(mask)];
    uint32_t rest = w->active;
    uint32_t there = 0;
    for (int l = 0; l < SIM_LANES; l++)
        there |= mask >> l & 1 && targets[l] == first ? 1u << l : 0;
    rest &= ~there;
    if (!rest) {
        w->pc = first;
        return;
    }
    int32_t after = w->pc;
    split(w, i, there, first, i->join);
    /* What split() took for one side are several. */
    int at = s->join;
    s->side_count--;
    if (rest & ~mask)
        add_side(w, after, rest & ~mask, at, false, false);
    for (rest &= mask; rest;) {
        int32_t target = targets[__builtin_ctz(rest)];
        uint32_t lanes = 0;
        for (int l = 0; l < SIM_LANES; l++)
            lanes |= rest >> l & 1 && targets[l] == target ? 1u << l : 0;
        add_side(w, target, lanes, at, false, false);
        rest &= ~lanes;
    }
}

static void call(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    const struct sim_called *c = i->extra;
    struct sim_stack *s = w->stack;
    move_bytes(w, c->params, c->param_count, mask);
    int at = new_join(s);
    if (at < 0) {
        sim_end(w, i, mask, LAB_SIM_BUDGET,
                SIM_HINT("a function that calls itself, and where it stops"),
                "calls are nested deeper than the simulator follows them");
        return;
    }
    int32_t after = w->pc;
    uint32_t others = w->active & ~mask;
    s->joins[at] = (struct sim_join){after, mask, 0, s->join, i};
    if (others)
        add_side(w, after, others, s->join, false, false);
    go(w, i->target, mask, at);
}

/* Each lane's label by its index; i->extra: int32_t, more_count of them. */
static void brx(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    const int32_t *labels = i->extra;
    uint64_t v[SIM_LANES];
    int32_t targets[SIM_LANES] = {0};
    uint32_t bad = 0;
    sim_values(w, &i->a, v);
    for (int l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        if (v[l] >= (uint64_t)i->target)
            bad |= 1u << l;
        else
            targets[l] = labels[v[l]];
    }
    if (bad) {
        sim_end(w, i, bad, LAB_SIM_MEMORY, SIM_HINT("the value of the switch"),
                "a branch by index beyond its %d labels", i->target);
        mask &= ~bad;
        if (!mask)
            return;
    }
    for (uint32_t rest = bad; rest; rest &= rest - 1)
        targets[__builtin_ctz(rest)] = targets[__builtin_ctz(mask)];
    branch_each(w, i, mask | bad, targets);
}

static void trap(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    sim_end(w, i, mask, LAB_SIM_MEMORY,
            SIM_HINT("what the kernel tests before __trap(): it was not so"),
            "the kernel stopped itself (trap)");
}

void sim_run_nothing(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    (void)w;
    (void)i;
    (void)mask;
}

/* ---- lanes that wait for each other ---- */

/* Lanes that wait at a join go on without those that are still to come. */
static bool release(struct sim_warp *w)
{
    struct sim_stack *s = w->stack;
    for (int at = s->join; at >= 0; at = s->joins[at].parent) {
        struct sim_join *j = &s->joins[at];
        if (!j->arrived || j->call)
            continue;
        add_side(w, j->pc, j->arrived, j->parent, false, true);
        j->expected &= ~j->arrived;
        j->arrived = 0;
        return true;
    }
    return false;
}

/* The active lanes let another side of the warp run. */
static void turn(struct sim_warp *w)
{
    struct sim_stack *s = w->stack;
    int at = runnable(s);
    if (at < 0)
        return;
    add_side(w, w->pc, w->active, s->join, false, true);
    take_side(w, at + 1);
}

enum { SPINS_OF_TURN = 16, SPINS_OF_WARP = 128 };

void sim_spins(struct sim_warp *w)
{
    w->stack->spins++;
    if (w->stack->spins % SPINS_OF_TURN == 0)
        w->stack->turn_over = true;
}

static void after_spins(struct sim_warp *w)
{
    int spins = w->stack->spins;
    if (spins >= SPINS_OF_WARP && release(w))
        spins = 0;
    turn(w);
    w->stack->spins = spins;
}

static uint32_t guarded(const struct sim_warp *w, const struct sim_instr *i)
{
    if (i->guard < 0)
        return w->active;
    uint32_t p = w->preds[i->guard];
    return w->active & (i->guard_negated ? ~p : p);
}

/* The instruction that was counted will run later. */
static void uncount(struct sim_warp *w, const struct sim_instr *i)
{
    struct sim_tally *t = &w->block->tally[sim_index(w, i)];
    t->warps--;
    t->lanes -= __builtin_popcount(guarded(w, i));
}

void sim_warp_part(struct sim_warp *w, const struct sim_instr *i,
                   uint32_t lanes)
{
    int32_t pc = sim_index(w, i);
    uncount(w, i);
    w->pc = pc;
    split(w, i, lanes, pc, pc + 1);
    w->block->tally[pc].divergent--; /* it is no branch */
}

/* The lowest join that both have above them; -1: none. A call is not passed. */
static bool common(const struct sim_stack *s, int a, int b, int *out)
{
    for (int x = a;; x = s->joins[x].parent) {
        for (int y = b;; y = s->joins[y].parent) {
            if (x == y) {
                *out = x;
                return true;
            }
            if (y < 0 || s->joins[y].call)
                break;
        }
        if (x < 0 || s->joins[x].call)
            return false;
    }
}

/* Joins of `lanes` below `end` go on without them, or are no longer needed. */
static void part_from(struct sim_warp *w, int join, int end, uint32_t lanes)
{
    struct sim_stack *s = w->stack;
    forget(s, join, end, lanes);
    while (join != end) {
        struct sim_join j = s->joins[join];
        if (j.expected != j.arrived)
            return;
        if (j.expected)
            add_side(w, j.pc, j.arrived, j.parent, false, true);
        free_join(s, join);
        join = j.parent;
        if (j.expected)
            return;
    }
}

/* Sides that wait at the same instruction run it with the active lanes. */
static void merge(struct sim_warp *w, int32_t pc)
{
    struct sim_stack *s = w->stack;
    for (int k = 0; k < s->side_count; k++) {
        struct sim_side side = s->sides[k];
        int end;
        if (side.pc != pc || !common(s, s->join, side.join, &end))
            continue;
        s->side_count--;
        memmove(&s->sides[k], &s->sides[k + 1],
                (size_t)(s->side_count - k) * sizeof(s->sides[0]));
        int mine = s->join;
        part_from(w, mine, end, w->active);
        part_from(w, side.join, end, side.mask);
        w->active |= side.mask;
        set_join(s, end);
        k = -1;
    }
}

/* Lanes that a branch took to the kernel's end, where they wait for the others to
 * return with them. At the end of a called function lanes wait, too: they go on behind
 * the call. "All non-exited threads named in mask" have to come to a shuffle, a
 * vote or __syncwarp() (CUDA C++ Programming Guide): these have exited. */
static uint32_t returned(const struct sim_warp *w)
{
    const struct sim_stack *s = w->stack;
    uint32_t out = 0;
    for (int j = s->join; j >= 0; j = s->joins[j].parent) {
        const struct sim_join *at = &s->joins[j];
        const struct lab_ptx_instr *in =
            at->pc >= 0 ? w->block->grid->kernel->instrs[at->pc].ptx : NULL;
        if (at->call)
            out = 0;
        else if (in && in->guard < 0 && strcmp(in->opcode, "ret") == 0)
            out |= at->arrived;
    }
    return out;
}

bool sim_gather(struct sim_warp *w, const struct sim_instr *i, uint32_t lanes,
                enum lab_sim_check check)
{
    struct sim_stack *s = w->stack;
    int32_t pc = sim_index(w, i);
    uint32_t missing = lanes & w->alive & ~w->active;
    if (!missing)
        return true;
    uncount(w, i);
    uint32_t there = 0;
    for (int k = 0; k < s->side_count; k++)
        if (s->sides[k].pc == pc)
            there |= s->sides[k].mask;
    if (!(missing & ~there)) {
        merge(w, pc);
        missing = lanes & w->alive & ~w->active;
        if (!missing) {
            /* The guard is that of all of them. */
            w->pc = pc;
            return false;
        }
    }
    int at = runnable(s);
    if (at >= 0) {
        add_side(w, pc, w->active, s->join, true, true);
        take_side(w, at + 1);
        return false;
    }
    struct sim_tally *t = &w->block->tally[pc];
    t->warps++;
    t->lanes += __builtin_popcount(guarded(w, i));
    if (!(w->block->grid->options->checks >> check & 1) ||
        (check == LAB_SIM_SHUFFLE && !(missing & ~returned(w))))
        return true;
    const char *what = check == LAB_SIM_BARRIER
                           ? "barrier that not all threads of the warp reach"
                           : "its mask names lanes that do not execute it";
    sim_end(w, i, w->active, check, NULL,
            "%s: lanes 0x%08x of the warp wait, 0x%08x do not come", what,
            w->active, missing);
    return false;
}

/* ---- running ---- */

void sim_warp_start(struct sim_warp *w, uint32_t lanes)
{
    struct sim_stack *s = w->stack;
    w->state = SIM_READY;
    w->lanes = lanes;
    w->alive = lanes;
    w->faulted = 0;
    w->held = false;
    w->barrier = 0;
    w->steps = 0;
    s->side_count = 0;
    s->turn_over = false;
    s->free_count = 0;
    for (int k = 0; k < SIM_JOINS; k++)
        free_join(s, k);
    go(w, 0, lanes, -1);
}

void sim_warp_settle(struct sim_warp *w)
{
    while (w->state == SIM_READY && w->pc == w->stack->join_pc)
        arrive(w);
}

/* Lanes that touched what they must not end at the next turn of a warp that is watched:
 * till then it is before that instruction, with all its values. */
static bool hold(struct sim_warp *w, int32_t pc)
{
    const struct sim_watch *watch = w->block->grid->watch;
    w->held = watch && watch->finding && w->state == SIM_READY &&
              w->pc == pc + 1 && !w->stack->turn_over;
    if (w->held)
        w->pc = pc;
    return w->held;
}

static void let_go(struct sim_warp *w)
{
    w->held = false;
    w->pc++;
    leave(w, w->faulted & w->active);
}

SIM_CLONES
void sim_warp_run(struct sim_warp *w, int64_t most)
{
    const struct sim_instr *code = w->block->grid->kernel->instrs;
    struct sim_tally *tally = w->block->tally;
    struct sim_stack *s = w->stack;
    const int64_t end = w->steps + most;
    s->turn_over = false;
    if (__builtin_expect(w->held, 0))
        let_go(w);
    while (w->steps < end && w->state == SIM_READY) {
        int32_t pc = w->pc;
        if (pc == s->join_pc) {
            arrive(w);
            continue;
        }
        const struct sim_instr *i = &code[pc];
        uint32_t mask = w->active;
        if (i->guard >= 0)
            mask = guarded(w, i);
        tally[pc].warps++;
        tally[pc].lanes += __builtin_popcount(mask);
        w->pc = pc + 1;
        w->steps++; /* %clock reads it */
        if (mask)
            i->run(w, i, mask);
        if (__builtin_expect((w->faulted & w->active) != 0, 0)) {
            if (hold(w, pc))
                break;
            leave(w, w->faulted & w->active);
        }
        if (__builtin_expect(s->turn_over || w->state == SIM_WAITING, 0)) {
            s->spins += w->state == SIM_WAITING ? SPINS_OF_TURN : 0;
            after_spins(w);
            break;
        }
    }
}

/* ---- lowering: bra, brx.idx, call, ret, exit, trap ---- */

static int32_t at_label(const struct sim_lowering *l,
                        const struct lab_ptx_operand *o)
{
    int32_t n = l->part->function->instr_count;
    return o->kind == LAB_PTX_OPERAND_LABEL && o->target >= 0 && o->target <= n
               ? l->part->base + o->target
               : -1;
}

static enum lab_status lower_bra(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 struct sim_instr *out)
{
    out->run = bra;
    out->target = in->operand_count == 1 ? at_label(l, &in->operands[0]) : -1;
    return out->target < 0 ? sim_lower_refuse(l, in, "it does not name a label")
                           : LAB_OK;
}

static enum lab_status lower_brx(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 struct sim_instr *out)
{
    if (in->operand_count != 2 ||
        in->operands[1].kind != LAB_PTX_OPERAND_VECTOR ||
        in->operands[1].part_count < 1)
        return sim_lower_refuse(l, in, "it does not name a list of labels");
    const struct lab_ptx_operand *list = &in->operands[1];
    int32_t *labels =
        sim_lower_take(l, (size_t)list->part_count * sizeof(*labels));
    if (!labels)
        return lab_no_memory("a kernel");
    for (int k = 0; k < list->part_count; k++) {
        labels[k] = at_label(l, &list->parts[k]);
        if (labels[k] < 0)
            return sim_lower_refuse(l, in, "it does not name a label");
    }
    out->run = brx;
    out->extra = labels;
    out->target = list->part_count;
    return sim_lower_typed_part(l, in, &in->operands[0], LAB_PTX_U32, false,
                                &out->a);
}

static int64_t bytes_of(const struct lab_ptx_variable *v)
{
    return v->elements * lab_ptx_type_bytes(v->type);
}

/* A list of arguments as places in the caller's local memory. */
static enum lab_status lower_list(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  const struct lab_ptx_operand *list,
                                  bool results, struct sim_copied **out,
                                  int *count)
{
    int n = list ? list->part_count : 0;
    struct sim_copied *c = sim_lower_take(l, ((size_t)n + 1) * sizeof(*c));
    if (!c)
        return lab_no_memory("a call");
    for (int k = 0; k < n; k++) {
        const struct sim_symbol *s = sim_lower_symbol(l, &list->parts[k]);
        if (!s || s->space != LAB_PTX_LOCAL)
            return sim_lower_refuse(l, in,
                                    "an argument that is no .param variable");
        c[k].bytes = bytes_of(s->variable);
        *(results ? &c[k].to : &c[k].from) = (int64_t)s->address;
    }
    *out = c;
    *count = n;
    return LAB_OK;
}

/* The other half of each copy: the function's own variables. */
static bool match_list(const struct sim_lowering *l, struct sim_copied *c,
                       int count, const struct lab_ptx_variable *v, int v_count,
                       bool results)
{
    if (count != v_count)
        return false;
    for (int k = 0; k < count; k++) {
        struct lab_ptx_operand o = {.kind = LAB_PTX_OPERAND_SYMBOL,
                                    .variable = &v[k]};
        const struct sim_symbol *s = sim_lower_symbol(l, &o);
        if (!s || bytes_of(&v[k]) != c[k].bytes)
            return false;
        *(results ? &c[k].from : &c[k].to) = (int64_t)s->address;
    }
    return true;
}

static enum lab_status lower_call(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out)
{
    static const char by_address[] = "a call by address (a function pointer, a "
                                     "virtual function): choose by a "
                                     "switch that calls functions by name, or "
                                     "make the function a template's "
                                     "argument";
    const struct lab_ptx_operand *results = NULL;
    const struct lab_ptx_operand *params = NULL;
    const char *name = NULL;
    struct sim_called *c = sim_lower_take(l, sizeof(*c));
    if (!c)
        return lab_no_memory("a call");
    for (int k = 0; k < in->operand_count; k++) {
        const struct lab_ptx_operand *o = &in->operands[k];
        if (o->kind == LAB_PTX_OPERAND_SYMBOL && !o->variable && !name)
            name = o->name;
        else if (o->kind == LAB_PTX_OPERAND_VECTOR && !name && !results)
            results = o;
        else if (o->kind == LAB_PTX_OPERAND_VECTOR && name && !params)
            params = o;
        else
            return sim_lower_refuse(l, in, by_address);
    }
    if (!name)
        return sim_lower_refuse(l, in, by_address);
    enum lab_status st =
        lower_list(l, in, params, false, &c->params, &c->param_count);
    if (!st)
        st = lower_list(l, in, results, true, &c->results, &c->result_count);
    if (st)
        return st;
    out->extra = c;
    const struct lab_ptx_function *f = lab_ptx_function(l->module->ptx, name);
    const struct sim_part *p = f ? sim_lower_part(l, f) : NULL;
    if (!p)
        return sim_lower_outside(l, in, name, c, out);
    if (!match_list(l, c->params, c->param_count, f->params, f->param_count,
                    false) ||
        !match_list(l, c->results, c->result_count, f->results, f->result_count,
                    true))
        return sim_lower_refuse(l, in,
                                "the arguments are not those of the function");
    out->run = call;
    out->target = p->base;
    return LAB_OK;
}

enum lab_status sim_lower_flow(struct sim_lowering *l,
                               const struct lab_ptx_instr *in,
                               struct sim_instr *out, bool *known)
{
    static const struct {
        const char *opcode;
        sim_run_fn *run;
    } ends[] = {{"ret", ret},
                {"exit", exit_lanes},
                {"trap", trap},
                {"brkpt", sim_run_nothing}};
    *known = true;
    if (strcmp(in->opcode, "bra") == 0)
        return lower_bra(l, in, out);
    if (strcmp(in->opcode, "brx") == 0)
        return lower_brx(l, in, out);
    if (strcmp(in->opcode, "call") == 0)
        return lower_call(l, in, out);
    for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
        if (strcmp(in->opcode, ends[k].opcode) == 0) {
            out->run = ends[k].run;
            return LAB_OK;
        }
    *known = false;
    return LAB_OK;
}
