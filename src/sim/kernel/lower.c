/* Lowering: the PTX of a kernel becomes an array of struct sim_instr. Each opcode
 * belongs to a family, which knows its modifiers and operands; what no family
 * takes refuses the kernel, with the opcode and its source line. Types are
 * checked here, so that a handler never meets a register of another size. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/kernel_name.h"
#include "base/mem.h"
#include "kernel/flow.h"
#include "module.h"
#include "warp/code.h"

/* ---- arithmetic ---- */

static unsigned flags_of(const struct sim_mods *m)
{
    unsigned flags = 0;
    flags |= m->bits & SIM_M(FTZ) ? SIM_F_FTZ : 0;
    flags |= m->bits & SIM_M(SAT) ? SIM_F_SAT : 0;
    flags |= m->bits & SIM_M(RZ) ? SIM_F_RZ : 0;
    flags |= m->bits & SIM_M(RM) ? SIM_F_RM : 0;
    flags |= m->bits & SIM_M(RP) ? SIM_F_RP : 0;
    flags |= m->bits & SIM_M(RELU) ? SIM_F_RELU : 0;
    flags |= m->bits & SIM_M(NAN) ? SIM_F_NAN : 0;
    flags |= m->bits & SIM_M(XORSIGN) ? SIM_F_XORSIGN : 0;
    flags |= m->bits & SIM_M(CC) ? SIM_F_CC : 0;
    return flags;
}

static int wide_type(int type)
{
    return type == LAB_PTX_U16 || type == LAB_PTX_S16 ? LAB_PTX_B32
                                                      : LAB_PTX_B64;
}

static enum lab_status lower_math(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out, bool *known)
{
    struct sim_mods m;
    sim_mods_of(in, &m);
    const struct sim_row *row = sim_math_row(in->opcode, &m);
    *known = row != NULL;
    if (!row)
        return LAB_OK;
    int n = (int)strlen(row->shape);
    if (in->operand_count != n)
        return sim_lower_refuse(l, in, "another number of operands");
    out->flags = (uint8_t)flags_of(&m);
    out->run = out->flags && row->flagged ? row->flagged : row->run;
    out->type = row->type;
    out->from = row->from;
    struct sim_operand *to[] = {&out->d, &out->a, &out->b, &out->c, NULL};
    if (n == 5) {
        to[4] = sim_lower_take(l, sizeof(*to[4]));
        if (!to[4])
            return lab_no_memory("a kernel");
        out->more = to[4];
        out->more_count = 1;
    }
    for (int k = 0; k < n; k++) {
        int type = row->shape[k] == 'W'   ? wide_type(row->type)
                   : row->shape[k] == 'I' ? LAB_PTX_B32
                   : row->shape[k] == 'P' ? LAB_PTX_PRED
                                          : row->type;
        enum lab_status st = sim_lower_typed(l, in, k, type, to[k]);
        if (st)
            return st;
    }
    if (out->run == row->run && row->shape[0] == 'T' &&
        strcmp(in->opcode, "lop3") == 0 && out->more[0].source != SIM_IMMEDIATE)
        return sim_lower_refuse(l, in, "the table must be a number");
    return LAB_OK;
}

/* ---- a kernel ---- */

static enum lab_status lower_instr(struct sim_lowering *l,
                                   const struct lab_ptx_instr *in,
                                   struct sim_instr *out)
{
    static sim_lower_fn *const families[] = {
        sim_lower_flow,    lower_math,     sim_lower_move,  sim_lower_compare,
        sim_lower_convert, sim_lower_warp, sim_lower_tensor};
    bool known = false;
    out->ptx = in;
    out->guard = -1;
    out->target = -1;
    out->d.source = SIM_NONE;
    out->a.source = SIM_NONE;
    out->b.source = SIM_NONE;
    out->c.source = SIM_NONE;
    if (in->guard >= 0) {
        struct sim_operand guard;
        enum lab_status st = sim_lower_reg(l, in->guard, &guard);
        if (!st && guard.source != SIM_PREDICATE)
            st = lab_fail(LAB_E_UNSUPPORTED, "the guard is no predicate");
        if (st)
            return sim_lower_because(l, in, st);
        out->guard = guard.slot;
        out->guard_negated = in->guard_negated;
    }
    for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++) {
        enum lab_status st = families[k](l, in, out, &known);
        if (st || known)
            return st ? sim_lower_because(l, in, st) : LAB_OK;
    }
    return sim_lower_refuse(l, in, NULL);
}

static enum lab_status add_symbol(struct sim_lowering *l,
                                  const struct lab_ptx_variable *v,
                                  uint64_t address, enum lab_ptx_space space)
{
    enum lab_status st = lab_grow(&l->symbols, l->symbol_count, &l->symbol_room,
                                  sizeof(l->symbols[0]), "variables");
    if (!st)
        l->symbols[l->symbol_count++] = (struct sim_symbol){v, address, space};
    return st;
}

/* Room for a variable after `*end`, which moves on. */
enum {
    MOST_BYTES = 1 << 26 /* of shared, local or parameters of a kernel */
};
static enum lab_status place(struct sim_lowering *l,
                             const struct lab_ptx_variable *v, int64_t *end,
                             uint64_t *address)
{
    int64_t align = v->align > 0 ? v->align : 1;
    int64_t each = lab_ptx_type_bytes(v->type);
    int64_t at = (*end + align - 1) / align * align;
    if (v->elements < 0 || v->elements > MOST_BYTES || align > MOST_BYTES ||
        at + v->elements * each > MOST_BYTES)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[ptx.room] kernel %s: %s is larger than any device has room for",
            l->kernel->name, v->name);
    *address = (uint64_t)at;
    *end = at + v->elements * each;
    return LAB_OK;
}

static bool have_symbol(const struct sim_lowering *l,
                        const struct lab_ptx_variable *v)
{
    for (size_t k = 0; k < l->symbol_count; k++)
        if (l->symbols[k].variable == v)
            return true;
    return false;
}

static enum lab_status use_variable(struct sim_lowering *l,
                                    const struct lab_ptx_variable *v)
{
    uint64_t address = 0;
    enum lab_status st = LAB_OK;
    enum lab_ptx_space space = v->space;
    if (have_symbol(l, v))
        return LAB_OK;
    if (space == LAB_PTX_SHARED && v->external)
        return LAB_OK; /* behind all others */
    if (space == LAB_PTX_SHARED)
        st = place(l, v, &l->kernel->shared_bytes, &address);
    else if (space == LAB_PTX_LOCAL || space == LAB_PTX_PARAM) {
        st = place(l, v, &l->kernel->local_bytes, &address);
        space = LAB_PTX_LOCAL;
    } else
        address = sim_module_address(l->module, v);
    if (!st && space != LAB_PTX_REG &&
        (address || space == LAB_PTX_SHARED || space == LAB_PTX_LOCAL))
        st = add_symbol(l, v, address, space);
    return st;
}

static enum lab_status use_operand(struct sim_lowering *l,
                                   const struct lab_ptx_operand *o, int depth)
{
    enum lab_status st = LAB_OK;
    if (o->kind == LAB_PTX_OPERAND_SYMBOL && o->variable)
        return use_variable(l, o->variable);
    for (int k = 0; !st && depth < 8 && k < o->part_count; k++)
        st = use_operand(l, &o->parts[k], depth + 1);
    return st;
}

/* A variable in shared memory by its name: the kernel's, or the module's. */
static const struct lab_ptx_variable *shared_named(const struct sim_lowering *l,
                                                   const char *name)
{
    for (const struct sim_part *p = l->parts; p; p = p->next)
        for (int32_t k = 0; k < p->code.variable_count; k++)
            if (p->code.variables[k].space == LAB_PTX_SHARED &&
                strcmp(p->code.variables[k].name, name) == 0)
                return &p->code.variables[k];
    const struct lab_ptx *ptx = l->module->ptx;
    for (int32_t k = 0; k < ptx->variable_count; k++)
        if (ptx->variables[k].space == LAB_PTX_SHARED &&
            strcmp(ptx->variables[k].name, name) == 0)
            return &ptx->variables[k];
    return NULL;
}

/* Initial values of what the kernel uses may name more variables: those in global
 * memory are followed, those in shared memory get room. */
static enum lab_status use_addresses(struct sim_lowering *l)
{
    const struct lab_ptx *ptx = l->module->ptx;
    enum lab_status st = LAB_OK;
    for (size_t s = 0; !st && s < l->symbol_count; s++) {
        const struct lab_ptx_variable *v = l->symbols[s].variable;
        for (int32_t a = 0; !st && a < v->address_count; a++) {
            const char *name = v->addresses[a].symbol;
            const struct lab_ptx_variable *of = shared_named(l, name);
            for (int32_t k = 0; !of && k < ptx->variable_count; k++)
                if (ptx->variables[k].address_count > 0 &&
                    strcmp(ptx->variables[k].name, name) == 0)
                    of = &ptx->variables[k];
            if (of)
                st = use_variable(l, of);
        }
    }
    return st;
}

/* Once all of them have their place. */
static enum lab_status set_addresses(struct sim_lowering *l)
{
    enum lab_status st = LAB_OK;
    for (size_t s = 0; !st && s < l->symbol_count; s++) {
        const struct lab_ptx_variable *v = l->symbols[s].variable;
        bool any = false;
        for (int32_t a = 0; !st && a < v->address_count; a++) {
            const struct lab_ptx_variable *of =
                shared_named(l, v->addresses[a].symbol);
            uint64_t at = (uint64_t)l->kernel->dynamic_at;
            for (size_t k = 0; of && k < l->symbol_count; k++)
                if (l->symbols[k].variable == of)
                    at = l->symbols[k].address;
            if (of)
                st = sim_module_set_shared(l->module, v, &v->addresses[a], at);
            any |= of != NULL;
        }
        if (!st && any)
            l->module->has_shared[v - l->module->ptx->variables] = true;
    }
    return st;
}

/* Dynamic shared memory begins where its most aligned name may. */
static enum lab_status align_dynamic(struct sim_lowering *l,
                                     const struct lab_ptx_operand *o, int depth)
{
    const struct lab_ptx_variable *v = o->variable;
    struct lab_sim_kernel *k = l->kernel;
    int64_t align = 128;
    if (o->kind == LAB_PTX_OPERAND_SYMBOL && v && v->space == LAB_PTX_SHARED &&
        v->external && v->align > align && v->align <= MOST_BYTES)
        align = v->align;
    int64_t at = (k->shared_bytes + align - 1) / align * align;
    k->dynamic_at = at > k->dynamic_at ? at : k->dynamic_at;
    for (int p = 0; depth < 8 && p < o->part_count; p++)
        align_dynamic(l, &o->parts[p], depth + 1);
    return LAB_OK;
}

static enum lab_status use_dynamic(struct sim_lowering *l,
                                   const struct lab_ptx_operand *o, int depth)
{
    const struct lab_ptx_variable *v = o->variable;
    enum lab_status st = LAB_OK;
    if (o->kind == LAB_PTX_OPERAND_SYMBOL && v && v->space == LAB_PTX_SHARED &&
        v->external)
        l->kernel->dynamic = true;
    if (o->kind == LAB_PTX_OPERAND_SYMBOL && v && v->space == LAB_PTX_SHARED &&
        v->external && !have_symbol(l, v))
        return add_symbol(l, v, (uint64_t)l->kernel->dynamic_at,
                          LAB_PTX_SHARED);
    for (int k = 0; !st && depth < 8 && k < o->part_count; k++)
        st = use_dynamic(l, &o->parts[k], depth + 1);
    return st;
}

typedef enum lab_status operand_fn(struct sim_lowering *l,
                                   const struct lab_ptx_operand *o, int depth);

static enum lab_status each_operand(struct sim_lowering *l, operand_fn *fn)
{
    enum lab_status st = LAB_OK;
    for (struct sim_part *p = l->parts; !st && p; p = p->next)
        for (int32_t k = 0; !st && k < p->code.instr_count; k++) {
            const struct lab_ptx_instr *in = &p->code.instrs[k];
            for (int o = 0; !st && o < in->operand_count; o++)
                st = fn(l, &in->operands[o], 0);
        }
    return st;
}

/* The function that a call names; NULL: none of this module with a body. */
static const struct lab_ptx_function *callee(const struct sim_lowering *l,
                                             const struct lab_ptx_instr *in)
{
    if (strcmp(in->opcode, "call") != 0)
        return NULL;
    for (int k = 0; k < in->operand_count; k++) {
        const struct lab_ptx_operand *o = &in->operands[k];
        const struct lab_ptx_function *f =
            o->kind == LAB_PTX_OPERAND_SYMBOL && !o->variable && o->name
                ? lab_ptx_function(l->module->ptx, o->name)
                : NULL;
        if (f && !f->entry && !f->declared)
            return f;
    }
    return NULL;
}

/* The kernel and all that it calls, each once. */
static enum lab_status add_part(struct sim_lowering *l,
                                const struct lab_ptx_function *f, int depth)
{
    struct sim_part *p = lab_arena_take(l->arena, sizeof(*p));
    if (!p)
        return lab_no_memory("a kernel");
    p->function = f;
    p->homes = lab_arena_array(l->arena, (size_t)f->reg_count + 1,
                               sizeof(p->homes[0]));
    if (!p->homes)
        return lab_no_memory("the registers of a kernel");
    struct sim_part **end = &l->parts;
    while (*end)
        end = &(*end)->next;
    *end = p;
    p->open = true;
    enum lab_status st = sim_fuse(f, l->arena, &p->code, &p->fused);
    if (st)
        return st;
    for (int32_t k = 0; k < f->instr_count; k++) {
        const struct lab_ptx_function *g = callee(l, &f->instrs[k]);
        const struct sim_part *q = g ? sim_lower_part(l, g) : NULL;
        if ((q && q->open) || (g && depth > 64))
            return sim_lower_refuse(
                l, &f->instrs[k],
                "a function that calls itself: write a loop, with "
                "an array for what waits");
        if (!g || q)
            continue;
        st = add_part(l, g, depth + 1);
        if (st)
            return st;
    }
    p->open = false;
    return LAB_OK;
}

/* Kernel parameters: their offsets in parameter space. */
static enum lab_status place_params(struct sim_lowering *l)
{
    const struct lab_ptx_function *f = l->kernel->function;
    int64_t *offsets =
        lab_arena_array(l->arena, (size_t)f->param_count + 1, sizeof(*offsets));
    if (!offsets)
        return lab_no_memory("a kernel");
    for (int k = 0; k < f->param_count; k++) {
        uint64_t address = 0;
        enum lab_status st =
            place(l, &f->params[k], &l->kernel->params_bytes, &address);
        if (!st)
            st = add_symbol(l, &f->params[k], address, LAB_PTX_PARAM);
        if (st)
            return st;
        offsets[k] = (int64_t)address;
    }
    l->kernel->param_offsets = offsets;
    return LAB_OK;
}

/* Parameters and results of the functions, also those that no instruction reads. */
static enum lab_status place_calls(struct sim_lowering *l)
{
    enum lab_status st = LAB_OK;
    for (struct sim_part *p = l->parts->next; !st && p; p = p->next) {
        const struct lab_ptx_function *f = p->function;
        for (int k = 0; !st && k < f->param_count; k++)
            st = use_variable(l, &f->params[k]);
        for (int k = 0; !st && k < f->result_count; k++)
            st = use_variable(l, &f->results[k]);
    }
    return st;
}

enum { MOST_SLOTS = 1 << 16 };

static enum lab_status assign_registers(struct sim_lowering *l)
{
    struct lab_sim_kernel *k = l->kernel;
    k->preds = 1; /* number 0 is the carry */
    for (struct sim_part *p = l->parts; p; p = p->next) {
        enum lab_status st =
            sim_flow_homes(&p->code, p->homes, &k->slots, &k->preds);
        if (st)
            return st;
        if (k->slots > MOST_SLOTS || k->preds > MOST_SLOTS)
            return lab_fail(
                LAB_E_UNSUPPORTED,
                "[ptx.registers] kernel %s keeps more than %d registers",
                k->name, MOST_SLOTS);
    }
    k->homes = l->parts->homes;
    return LAB_OK;
}

/* What a function runs into at its end. */
static const struct lab_ptx_instr end_of_function = {
    .opcode = "ret", .guard = -1, .place = -1, .near = -1};

static enum lab_status lower_part(struct sim_lowering *l, struct sim_part *p,
                                  struct sim_instr *code)
{
    const struct lab_ptx_function *f = &p->code;
    int32_t *join = lab_alloc_array((size_t)f->instr_count + 1, sizeof(*join));
    if (!join)
        return lab_no_memory("a kernel");
    l->part = p;
    enum lab_status st = sim_flow_joins(f, join);
    for (int32_t k = 0; !st && k <= f->instr_count; k++) {
        struct sim_instr *i = &code[p->base + k];
        st = lower_instr(
            l, k < f->instr_count ? &f->instrs[k] : &end_of_function, i);
        i->flop = p->fused[k].flop;
        i->wide = p->fused[k].wide;
        i->back = p->fused[k].back;
        i->kept = p->fused[k].kept;
        i->with =
            p->fused[k].with >= 0 ? &code[p->base + p->fused[k].with] : NULL;
        i->join = join[k] < 0 ? -1 : p->base + join[k];
    }
    lab_free(join);
    return st;
}

/* ---- loads that only copy ---- */

static void mark(void *marks, int32_t reg)
{
    ((bool *)marks)[reg] = true;
}

static bool is_marked(const struct lab_ptx_operand *o, const bool *marks,
                      int32_t count)
{
    for (int k = 0; k < o->part_count; k++)
        if (is_marked(&o->parts[k], marks, count))
            return true;
    return o->kind == LAB_PTX_OPERAND_REG && o->reg >= 0 && o->reg < count &&
           marks[o->reg];
}

/* Loads of registers that nothing but st reads, as what it stores. */
static enum lab_status mark_copies(struct sim_part *p, struct sim_instr *code)
{
    const struct lab_ptx_function *f = &p->code;
    bool *computed = lab_alloc_array((size_t)f->reg_count + 1, sizeof(bool));
    if (!computed)
        return lab_no_memory("a kernel");
    for (int32_t k = 0; k < f->instr_count; k++) {
        const struct lab_ptx_instr *in = &f->instrs[k];
        const bool store = strcmp(in->opcode, "st") == 0;
        const bool load = strcmp(in->opcode, "ld") == 0;
        const int from = load || sim_flow_writes(in) ? 1 : 0;
        for (int o = from; o < in->operand_count; o++)
            if (!(store && o == 1))
                sim_each_reg(f, &in->operands[o], mark, computed);
    }
    for (int32_t k = 0; k < f->instr_count; k++) {
        const struct lab_ptx_instr *in = &f->instrs[k];
        if (strcmp(in->opcode, "ld") == 0 && in->operand_count > 0)
            code[p->base + k].copies =
                !is_marked(&in->operands[0], computed, f->reg_count);
    }
    lab_free(computed);
    return LAB_OK;
}

/* ---- sums of wgmma ---- */

static bool is_wgmma(const struct lab_ptx_instr *in)
{
    return strcmp(in->opcode, "wgmma") == 0 &&
           lab_ptx_has_modifier(in, "mma_async") && in->operand_count > 0;
}

/* Instructions on registers that a sum, or a copy of one, may be in. */
static enum lab_status mark_sums(struct sim_part *p, struct sim_instr *code)
{
    const struct lab_ptx_function *f = &p->code;
    bool *sums = lab_alloc_array((size_t)f->reg_count + 1, sizeof(bool));
    if (!sums)
        return lab_no_memory("a kernel");
    bool any = false;
    for (int32_t k = 0; k < f->instr_count; k++)
        if (is_wgmma(&f->instrs[k])) {
            any = true;
            sim_each_reg(f, &f->instrs[k].operands[0], mark, sums);
        }
    for (bool more = any; more;) {
        more = false;
        for (int32_t k = 0; k < f->instr_count; k++) {
            const struct lab_ptx_instr *in = &f->instrs[k];
            if (strcmp(in->opcode, "mov") != 0 || in->operand_count != 2 ||
                !is_marked(&in->operands[1], sums, f->reg_count) ||
                is_marked(&in->operands[0], sums, f->reg_count))
                continue;
            sim_each_reg(f, &in->operands[0], mark, sums);
            more = true;
        }
    }
    for (int32_t k = 0; any && k < f->instr_count; k++) {
        const struct lab_ptx_instr *in = &f->instrs[k];
        struct sim_instr *i = &code[p->base + k];
        bool touches = false;
        for (int o = 0; o < in->operand_count; o++)
            touches |= is_marked(&in->operands[o], sums, f->reg_count);
        if (!touches || strcmp(in->opcode, "wgmma") == 0)
            continue;
        i->then = i->run;
        i->run = sim_run_on_sums;
    }
    lab_free(sums);
    return LAB_OK;
}

/* ---- what nothing wrote ---- */

static int32_t track(const struct lab_ptx_operand *o, int32_t *tracked,
                     int32_t count)
{
    if (o->kind == LAB_PTX_OPERAND_REG && o->reg >= 0 && !tracked[o->reg])
        tracked[o->reg] = ++count;
    for (int k = 0; k < o->part_count; k++)
        count = track(&o->parts[k], tracked, count);
    return count;
}

/* Opcodes that may write operand 0, and may not: their registers count as written. */
static void written(void *homes, int32_t reg)
{
    ((struct sim_home *)homes)[reg].unwritten = false;
}

static bool is_tracked(const struct lab_ptx_operand *o, const int32_t *tracked)
{
    for (int k = 0; k < o->part_count; k++)
        if (is_tracked(&o->parts[k], tracked))
            return true;
    return o->kind == LAB_PTX_OPERAND_REG && o->reg >= 0 && tracked[o->reg];
}

static bool touches(const struct lab_ptx_instr *in, const int32_t *tracked,
                    int first)
{
    bool any = in->guard >= 0 && tracked[in->guard];
    for (int o = first; o < in->operand_count; o++)
        any = any || is_tracked(&in->operands[o], tracked);
    return any;
}

/* Instructions on registers that what nothing wrote may come to. The carry, which is
 * no register, and sums of wgmma are not followed. */
static enum lab_status mark_unwritten(struct sim_lowering *l,
                                      struct sim_instr *code)
{
    const struct sim_part *p = l->parts;
    const struct lab_ptx_function *f = &p->code;
    int32_t count = 0;
    bool any = false;
    for (int32_t k = 0; k < f->instr_count; k++)
        if (!sim_has_result(&f->instrs[k]))
            sim_each_changed(f, &f->instrs[k], written, p->homes);
    for (int32_t r = 0; r < f->reg_count; r++)
        any = any || p->homes[r].unwritten;
    if (!any)
        return LAB_OK;
    int32_t *tracked =
        lab_arena_array(l->arena, (size_t)f->reg_count + 1, sizeof(*tracked));
    if (!tracked)
        return lab_no_memory("the registers of a kernel");
    for (int32_t r = 0; r < f->reg_count; r++)
        if (p->homes[r].unwritten)
            tracked[r] = ++count;
    for (int32_t before = -1; before != count;) {
        before = count;
        for (int32_t k = 0; k < f->instr_count; k++) {
            const struct lab_ptx_instr *in = &f->instrs[k];
            if (in->operand_count > 0 && sim_has_result(in) &&
                sim_unwritten_passes(in) && touches(in, tracked, 1))
                count = track(&in->operands[0], tracked, count);
        }
    }
    for (int32_t k = 0; k < f->instr_count; k++) {
        struct sim_instr *i = &code[p->base + k];
        if (i->then || !touches(&f->instrs[k], tracked, 0))
            continue;
        i->then = i->run;
        i->run = sim_run_on_unwritten;
    }
    l->kernel->tracked = tracked;
    l->kernel->tracked_count = count;
    return LAB_OK;
}

/* Instructions that only some lanes execute of those that have them in PTX, or that
 * take another way for some numbers. They count before they run, and behind what
 * follows them for another reason. */
static void mark_choices(const struct sim_part *p, struct sim_instr *code)
{
    for (int32_t k = 0; k < p->code.instr_count; k++) {
        struct sim_instr *i = &code[p->base + k];
        for (int s = 0; s < 2; s++)
            if (p->fused[k].source[s] >= 0) {
                struct sim_instr *from = &code[p->base + p->fused[k].source[s]];
                from->flop = SIM_FLOP_CHOSEN;
                i->source[s] = from;
            }
        sim_run_fn *run =
            i->source[0] || i->source[1] ? sim_run_choice : sim_math_counts(i);
        if (!run)
            continue;
        sim_run_fn **place = i->then ? &i->then : &i->run;
        i->after = *place;
        *place = run;
    }
}

static bool is_number(const struct lab_ptx_instr *in)
{
    for (int k = 0; k < in->modifier_count; k++) {
        enum lab_ptx_type t = lab_ptx_type_of(in->modifiers[k]);
        if (t == LAB_PTX_F32 || t == LAB_PTX_F64 || t == LAB_PTX_F16 ||
            t == LAB_PTX_F16X2 || t == LAB_PTX_BF16 || t == LAB_PTX_BF16X2)
            return true;
    }
    return false;
}

/* nvcc writes `atom` also where nothing reads the old value. */
static bool is_read(const struct sim_part *p, const struct lab_ptx_instr *in)
{
    const struct lab_ptx_operand *d = &in->operands[0];
    if (in->operand_count < 1 || d->kind != LAB_PTX_OPERAND_REG)
        return in->operand_count > 0 && d->kind != LAB_PTX_OPERAND_SINK;
    return d->reg < 0 || d->reg >= p->function->reg_count ||
           p->homes[d->reg].from != p->homes[d->reg].to;
}

static bool prints(const struct lab_ptx_instr *in)
{
    for (int k = 0; k < in->operand_count; k++)
        if (in->operands[k].kind == LAB_PTX_OPERAND_SYMBOL &&
            in->operands[k].name &&
            strcmp(in->operands[k].name, "vprintf") == 0)
            return true;
    return false;
}

/* The bits of a run depend on the order of blocks where an atomic's old value is
 * read or floats are added, where a block waits for another or stores what is no race
 * though others store there, and where text is printed. */
static bool order_matters(const struct sim_part *p,
                          const struct lab_ptx_instr *in)
{
    if (strcmp(in->opcode, "call") == 0)
        return prints(in);
    for (int k = 0; k < in->modifier_count; k++)
        if (strncmp(in->modifiers[k], "shared", 6) == 0 ||
            strcmp(in->modifiers[k], "local") == 0 ||
            strcmp(in->modifiers[k], "param") == 0)
            return false;
    if (strcmp(in->opcode, "atom") == 0)
        return is_number(in) || lab_ptx_has_modifier(in, "exch") ||
               lab_ptx_has_modifier(in, "cas") || is_read(p, in);
    if (strcmp(in->opcode, "red") == 0)
        return is_number(in);
    return (strcmp(in->opcode, "ld") == 0 || strcmp(in->opcode, "st") == 0) &&
           (lab_ptx_has_modifier(in, "volatile") ||
            lab_ptx_has_modifier(in, "acquire") ||
            lab_ptx_has_modifier(in, "release") ||
            lab_ptx_has_modifier(in, "relaxed"));
}

/* ---- variables in shared memory ---- */

enum { NO_VARIABLE = -1, SEVERAL = -2 };

/* "two(float const*)::a" is "a". */
static void variable_name(const char *symbol, char *out, size_t cap)
{
    char *types = lab_kernel_demangle(symbol);
    const char *name = types ? types : symbol;
    const char *list = strrchr(name, ')');
    const char *scope = list ? strstr(list, "::") : NULL;
    snprintf(out, cap, "%s", scope ? scope + 2 : name);
    lab_free(types);
}

static enum lab_status keep_variables(struct sim_lowering *l)
{
    struct sim_variable *v =
        lab_arena_array(l->arena, (size_t)l->symbol_count + 1, sizeof(*v));
    struct lab_sim_kernel *k = l->kernel;
    if (!v)
        return lab_no_memory("the variables of a kernel");
    k->variables = v;
    k->dynamic_array.type = -1;
    int names = 0;
    for (size_t i = 0; i < l->symbol_count; i++) {
        const struct lab_ptx_variable *of = l->symbols[i].variable;
        if (l->symbols[i].space != LAB_PTX_SHARED)
            continue;
        if (of->external) {
            struct sim_variable *dynamic = &k->dynamic_array;
            variable_name(of->name, dynamic->name, sizeof(dynamic->name));
            if (++names > 1)
                dynamic->name[0] = '\0';
            dynamic->from = k->dynamic_at;
            continue;
        }
        struct sim_variable *one = &v[k->variable_count++];
        variable_name(of->name, one->name, sizeof(one->name));
        one->symbol = of->name;
        one->type = -1;
        one->from = (int64_t)l->symbols[i].address;
        one->end = one->from + of->elements * lab_ptx_type_bytes(of->type);
    }
    return LAB_OK;
}

static int32_t both(int32_t a, int32_t b)
{
    return a == NO_VARIABLE ? b : b == NO_VARIABLE || a == b ? a : SEVERAL;
}

/* The variable that an operand's value is made of. */
static int32_t variable_of(const struct sim_lowering *l,
                           const struct lab_ptx_operand *o,
                           const int32_t *of_register)
{
    const struct lab_sim_kernel *k = l->kernel;
    int32_t found = NO_VARIABLE;
    if (o->kind == LAB_PTX_OPERAND_REG && o->reg >= 0)
        return of_register[o->reg];
    if (o->kind == LAB_PTX_OPERAND_SYMBOL && o->variable &&
        o->variable->space == LAB_PTX_SHARED) {
        for (size_t s = 0; s < l->symbol_count; s++)
            for (int32_t v = 0; v < k->variable_count; v++)
                if (l->symbols[s].variable == o->variable &&
                    !o->variable->external &&
                    k->variables[v].from == (int64_t)l->symbols[s].address &&
                    k->variables[v].end > k->variables[v].from)
                    return v;
        return SEVERAL; /* dynamic: it has no end of its own */
    }
    for (int p = 0; p < o->part_count; p++)
        found = both(found, variable_of(l, &o->parts[p], of_register));
    return found;
}

struct origins {
    int32_t *of_register;
    int32_t now;
    bool changed;
};

static void add_origin(void *arg, int32_t reg)
{
    struct origins *o = arg;
    int32_t next = both(o->of_register[reg], o->now);
    o->changed = o->changed || next != o->of_register[reg];
    o->of_register[reg] = next;
}

/* An index past the end of one array is within the next one: an address that is made
 * of one variable alone must stay in it. Whatever the order of the instructions; what
 * is loaded from memory is not followed. */
static enum lab_status mark_variables(struct sim_lowering *l,
                                      struct sim_instr *code)
{
    const struct sim_part *p = l->parts;
    const struct lab_ptx_function *f = &p->code;
    struct origins o = {
        lab_alloc_array((size_t)f->reg_count + 1, sizeof(int32_t)), 0, true};
    if (!o.of_register)
        return lab_no_memory("the registers of a kernel");
    for (int32_t r = 0; r < f->reg_count; r++)
        o.of_register[r] = NO_VARIABLE;
    while (o.changed && l->kernel->variable_count > 0) {
        o.changed = false;
        for (int32_t k = 0; k < f->instr_count; k++) {
            const struct lab_ptx_instr *in = &f->instrs[k];
            if (!sim_has_result(in) || !sim_unwritten_passes(in))
                continue;
            o.now = NO_VARIABLE;
            for (int i = 1; i < in->operand_count; i++)
                o.now = both(o.now,
                             variable_of(l, &in->operands[i], o.of_register));
            if (o.now != NO_VARIABLE)
                sim_each_changed(f, in, add_origin, &o);
        }
    }
    for (int32_t k = 0; k < f->instr_count; k++) {
        const struct lab_ptx_instr *in = &f->instrs[k];
        int32_t found = NO_VARIABLE;
        for (int i = 0; i < in->operand_count; i++)
            if (in->operands[i].kind == LAB_PTX_OPERAND_ADDRESS)
                found = both(found,
                             variable_of(l, &in->operands[i], o.of_register));
        code[p->base + k].variable = found < 0 ? 0 : found + 1;
    }
    lab_free(o.of_register);
    return LAB_OK;
}

static enum lab_status lower_all(struct sim_lowering *l)
{
    struct lab_sim_kernel *k = l->kernel;
    enum lab_status st = add_part(l, k->function, 0);
    if (!st)
        st = place_params(l);
    if (!st)
        st = place_calls(l);
    if (!st)
        st = each_operand(l, use_operand);
    if (!st)
        st = use_addresses(l);
    k->local_bytes = (k->local_bytes + 15) / 16 * 16;
    if (!st)
        st = each_operand(l, align_dynamic);
    if (!st)
        st = each_operand(l, use_dynamic);
    if (!st)
        st = set_addresses(l);
    if (!st)
        st = assign_registers(l);
    if (st)
        return st;
    int64_t count = 0;
    for (struct sim_part *p = l->parts; p; p = p->next) {
        p->base = (int32_t)count;
        count += (int64_t)p->function->instr_count + 1;
        for (int32_t n = 0; n < p->function->instr_count; n++)
            k->in_order |= order_matters(p, &p->function->instrs[n]);
    }
    struct sim_instr *code =
        count < INT32_MAX
            ? lab_arena_array(l->arena, (size_t)count, sizeof(*code))
            : NULL;
    if (!code)
        return lab_no_memory("the instructions of a kernel");
    k->instrs = code;
    k->instr_count = (int32_t)count;
    for (struct sim_part *p = l->parts; !st && p; p = p->next)
        st = lower_part(l, p, code);
    if (!st)
        st = keep_variables(l);
    if (!st)
        st = mark_variables(l, code);
    for (struct sim_part *p = l->parts; !st && p; p = p->next)
        st = mark_copies(p, code);
    if (!st)
        st = mark_sums(l->parts, code);
    if (!st)
        st = mark_unwritten(l, code);
    for (struct sim_part *p = l->parts; !st && p; p = p->next)
        mark_choices(p, code);
    return st;
}

enum lab_status sim_lower_kernel(struct lab_sim_module *module,
                                 const struct lab_ptx_function *f,
                                 struct lab_arena *arena,
                                 struct lab_sim_kernel **out)
{
    struct sim_lowering l = {.module = module, .arena = arena};
    l.kernel = lab_arena_take(arena, sizeof(*l.kernel));
    if (!l.kernel)
        return lab_no_memory("a kernel");
    l.kernel->module = module;
    l.kernel->ptx = module->ptx;
    l.kernel->function = f;
    char *types = lab_kernel_demangle(f->name);
    if (!types)
        return lab_no_memory("a kernel");
    lab_kernel_short_name(l.kernel->name, sizeof(l.kernel->name), types);
    lab_free(types);
    enum lab_status st = lower_all(&l);
    lab_free(l.symbols);
    if (!st)
        *out = l.kernel;
    return st;
}
