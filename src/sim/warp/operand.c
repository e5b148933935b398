/* What each family of instructions uses to lower its own: modifiers sorted, operands
 * resolved to registers, immediates and variables, with types checked, and the one
 * way to refuse an instruction, with its opcode and its source line; and what such
 * operands are in the lanes of a warp that runs, special registers too. */
#include <string.h>

#include "base/arena.h"
#include "warp/lanes.h"

/* ---- special registers ---- */

/* name, what it is in lane l of warp w, bytes */
#define SPECIAL_LIST(X)                                                        \
    X("%tid.x", t % n[0], 4)                                                   \
    X("%tid.y", t / n[0] % n[1], 4)                                            \
    X("%tid.z", t / n[0] / n[1], 4)                                            \
    X("%ntid.x", n[0], 4)                                                      \
    X("%ntid.y", n[1], 4)                                                      \
    X("%ntid.z", n[2], 4)                                                      \
    X("%ctaid.x", b->index[0], 4)                                              \
    X("%ctaid.y", b->index[1], 4)                                              \
    X("%ctaid.z", b->index[2], 4)                                              \
    X("%nctaid.x", g[0], 4)                                                    \
    X("%nctaid.y", g[1], 4)                                                    \
    X("%nctaid.z", g[2], 4)                                                    \
    X("%clusterid.x", b->index[0], 4)                                          \
    X("%clusterid.y", b->index[1], 4)                                          \
    X("%clusterid.z", b->index[2], 4)                                          \
    X("%nclusterid.x", g[0], 4)                                                \
    X("%nclusterid.y", g[1], 4)                                                \
    X("%nclusterid.z", g[2], 4)                                                \
    X("%cluster_ctaid.x", 0, 4)                                                \
    X("%cluster_ctaid.y", 0, 4)                                                \
    X("%cluster_ctaid.z", 0, 4)                                                \
    X("%cluster_nctaid.x", 1, 4)                                               \
    X("%cluster_nctaid.y", 1, 4)                                               \
    X("%cluster_nctaid.z", 1, 4)                                               \
    X("%cluster_ctarank", 0, 4)                                                \
    X("%cluster_nctarank", 1, 4)                                               \
    X("%is_explicit_cluster", 0, 4)                                            \
    X("%laneid", (uint64_t)l, 4)                                               \
    X("%warpid", (uint64_t)w->index, 4)                                        \
    X("%nwarpid", (uint64_t)device->warps_per_sm, 4)                           \
    X("%smid", b->number % (uint64_t)device->sm_count, 4)                      \
    X("%nsmid", (uint64_t)device->sm_count, 4)                                 \
    X("%gridid", 1, 8)                                                         \
    X("%lanemask_eq", 1u << l, 4)                                              \
    X("%lanemask_lt", (1u << l) - 1, 4)                                        \
    X("%lanemask_le", (2u << l) - 1, 4)                                        \
    X("%lanemask_gt", ~((2u << l) - 1), 4)                                     \
    X("%lanemask_ge", ~((1u << l) - 1), 4)                                     \
    X("%clock", (uint64_t)w->steps, 4)                                         \
    X("%clock_hi", (uint64_t)w->steps >> 32, 4)                                \
    X("%clock64", (uint64_t)w->steps, 8)                                       \
    X("%globaltimer", (uint64_t)w->steps, 8)                                   \
    X("%globaltimer_lo", (uint64_t)w->steps, 4)                                \
    X("%globaltimer_hi", (uint64_t)w->steps >> 32, 4)                          \
    X("%dynamic_smem_size", (uint64_t)launch->shared_bytes, 4)                 \
    X("%total_smem_size", (uint64_t)b->shared_bytes, 4)                        \
    X("%aggr_smem_size", (uint64_t)b->shared_bytes, 4)

/* -1: not known. Its size in bytes in *bytes. */
static int special_code(const char *name, int *bytes)
{
    static const struct {
        const char *name;
        int bytes;
    } names[] = {
#define X(name, value, bytes) {name, bytes},
        SPECIAL_LIST(X)
#undef X
    };
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        if (strcmp(names[k].name, name) == 0) {
            *bytes = names[k].bytes;
            return (int)k;
        }
    return -1;
}

/* ---- texts ---- */

void sim_mods_of(const struct lab_ptx_instr *in, struct sim_mods *out)
{
    static const char *const names[] = {
#define X(name, text) text,
        SIM_MODIFIER_LIST(X)
#undef X
    };
    memset(out, 0, sizeof(*out));
    for (int k = 0; k < in->modifier_count; k++) {
        const char *m = in->modifiers[k];
        enum lab_ptx_type type = lab_ptx_type_of(m);
        int bit = 0;
        while (bit < SIM_MODIFIER_COUNT && strcmp(m, names[bit]) != 0)
            bit++;
        if (bit < SIM_MODIFIER_COUNT)
            out->bits |= (uint64_t)1 << bit;
        else if (type != LAB_PTX_NO_TYPE && out->type_count < 4)
            out->types[out->type_count++] = (uint8_t)type;
        else if (!out->other)
            out->other = m;
    }
}

static void add_text(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);
    size_t n = strlen(text);
    if (n > size - 1 - used)
        n = size - 1 - used;
    memcpy(out + used, text, n);
    out[used + n] = '\0';
}

/* What a person wrote, and what to write in its place. */
static const char *reason_of(const struct lab_ptx_instr *in)
{
    static const struct {
        const char *opcode;
        const char *why;
    } rows[] = {
        {"tex", "textures are not simulated: read the array itself"},
        {"tld4", "textures are not simulated: read the array itself"},
        {"txq", "textures are not simulated: pass the size as an argument"},
        {"suld", "surfaces are not simulated: read the array itself"},
        {"sust", "surfaces are not simulated: write to an array"},
        {"suq", "surfaces are not simulated: pass the size as an argument"}};
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        if (strcmp(rows[k].opcode, in->opcode) == 0)
            return rows[k].why;
    return "the simulator does not know this form";
}

enum lab_status sim_lower_refuse(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 const char *why)
{
    const struct lab_ptx *ptx = l->kernel->ptx;
    char opcode[160] = "";
    add_text(opcode, sizeof(opcode), in->opcode);
    for (int k = 0; k < in->modifier_count; k++) {
        add_text(opcode, sizeof(opcode), ".");
        add_text(opcode, sizeof(opcode), in->modifiers[k]);
    }
    const char *file = ptx->name;
    int line = in->text_line;
    l->refused = true;
    if (in->place >= 0 && in->place < ptx->place_count) {
        /* Of tex2D() the line that calls it, not the one in a header of CUDA. */
        const struct lab_ptx_place *p =
            &ptx->places[lab_ptx_user_place(ptx, in->place)];
        if (p->file >= 0 && p->file < ptx->file_count && ptx->files[p->file]) {
            file = ptx->files[p->file];
            line = p->line;
        }
    }
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[ptx.instruction] %s:%d: kernel %s: %s (PTX line %d): %s",
                    file, line, l->kernel->name, opcode, in->text_line,
                    why ? why : reason_of(in));
}

void *sim_lower_take(struct sim_lowering *l, size_t bytes)
{
    return lab_arena_take(l->arena, bytes);
}

/* ---- operands ---- */

static const struct lab_ptx_reg *reg_of(const struct sim_lowering *l,
                                        int32_t reg)
{
    const struct lab_ptx_function *f = l->part->function;
    return reg >= 0 && reg < f->reg_count ? &f->regs[reg] : NULL;
}

int sim_lower_register_bytes(const struct sim_lowering *l,
                             const struct lab_ptx_operand *o)
{
    const struct lab_ptx_reg *r =
        o->kind == LAB_PTX_OPERAND_REG ? reg_of(l, o->reg) : NULL;
    return r ? lab_ptx_type_bytes(r->type) : 0;
}

enum lab_status sim_lower_reg(const struct sim_lowering *l, int32_t reg,
                              struct sim_operand *out)
{
    const struct lab_ptx_reg *r = reg_of(l, reg);
    if (!r || l->part->homes[reg].slot < 0)
        return lab_fail(LAB_E_UNSUPPORTED, "a register that is not there");
    memset(out, 0, sizeof(*out));
    out->slot = l->part->homes[reg].slot;
    out->source = r->type == LAB_PTX_PRED ? SIM_PREDICATE : SIM_SLOT;
    out->bytes = lab_ptx_type_bytes(r->type) == 8 ? 8 : 4;
    if (lab_ptx_type_bytes(r->type) > 8)
        return lab_fail(LAB_E_UNSUPPORTED, "%s is a register of 128 bits",
                        r->name);
    return LAB_OK;
}

const struct sim_symbol *sim_lower_symbol(const struct sim_lowering *l,
                                          const struct lab_ptx_operand *o)
{
    if (o->kind != LAB_PTX_OPERAND_SYMBOL || !o->variable)
        return NULL;
    for (size_t k = 0; k < l->symbol_count; k++)
        if (l->symbols[k].variable == o->variable)
            return &l->symbols[k];
    return NULL;
}

enum lab_status sim_lower_operand(struct sim_lowering *l,
                                  const struct lab_ptx_operand *in,
                                  struct sim_operand *out)
{
    memset(out, 0, sizeof(*out));
    switch (in->kind) {
    case LAB_PTX_OPERAND_REG: {
        enum lab_status st = sim_lower_reg(l, in->reg, out);
        out->negated = in->negated;
        return st;
    }
    case LAB_PTX_OPERAND_INT:
    case LAB_PTX_OPERAND_F64:
        out->source = SIM_IMMEDIATE;
        out->bytes = 8;
        out->value = in->value;
        return LAB_OK;
    case LAB_PTX_OPERAND_F32:
        out->source = SIM_IMMEDIATE;
        out->bytes = 4;
        out->value = in->value & 0xFFFFFFFF;
        return LAB_OK;
    case LAB_PTX_OPERAND_SPECIAL: {
        int bytes;
        int code = special_code(in->name, &bytes);
        if (code < 0)
            return lab_fail(
                LAB_E_UNSUPPORTED, "special register %s is not simulated%s",
                in->name,
                /* What cooperative_groups::this_grid() asks for. */
                strncmp(in->name, "%envreg", 7) == 0
                    ? ": blocks of a grid do not wait for each other "
                      "(this_grid().sync()); a launch for each part does the "
                      "same"
                    : "");
        out->source = SIM_SPECIAL;
        out->bytes = (uint8_t)bytes;
        out->value = (uint64_t)code;
        return LAB_OK;
    }
    case LAB_PTX_OPERAND_SYMBOL: {
        const struct sim_symbol *s = sim_lower_symbol(l, in);
        if (!s)
            return lab_fail(LAB_E_UNSUPPORTED, "%s is not a variable",
                            in->name ? in->name : "a symbol");
        out->source = SIM_IMMEDIATE;
        out->bytes = 8;
        out->value = s->address + in->value;
        return LAB_OK;
    }
    case LAB_PTX_OPERAND_SINK:
        out->source = SIM_NONE;
        return LAB_OK;
    default:
        return lab_fail(LAB_E_UNSUPPORTED, "an operand of another kind");
    }
}

enum lab_status sim_lower_address(struct sim_lowering *l,
                                  const struct lab_ptx_operand *in,
                                  struct sim_operand *out)
{
    if (in->kind != LAB_PTX_OPERAND_ADDRESS || in->part_count != 1)
        return lab_fail(LAB_E_UNSUPPORTED, "an operand that is no address");
    const struct lab_ptx_operand *base = &in->parts[0];
    if (base->kind != LAB_PTX_OPERAND_REG &&
        base->kind != LAB_PTX_OPERAND_INT &&
        base->kind != LAB_PTX_OPERAND_SYMBOL)
        return lab_fail(LAB_E_UNSUPPORTED, "an operand that is no address");
    enum lab_status st = sim_lower_operand(l, base, out);
    if (!st && out->source != SIM_SLOT && out->source != SIM_IMMEDIATE)
        st = lab_fail(LAB_E_UNSUPPORTED, "an address in a predicate");
    if (!st && out->source == SIM_SLOT && sim_lower_register_bytes(l, base) < 4)
        st = lab_fail(LAB_E_UNSUPPORTED, "an address of 16 bits");
    if (st)
        return st;
    out->value += in->value;
    return LAB_OK;
}

enum lab_status sim_lower_because(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  enum lab_status st)
{
    char why[512] = "";
    if (st != LAB_E_UNSUPPORTED || l->refused)
        return st;
    add_text(why, sizeof(why), lab_error());
    return sim_lower_refuse(l, in, why);
}

/* An immediate as a value of `type`. */
static uint64_t immediate(const struct lab_ptx_operand *o, int type)
{
    if (type == LAB_PTX_F32 && o->kind == LAB_PTX_OPERAND_F64)
        return sim_bits32((float)sim_f64(o->value));
    if (type == LAB_PTX_F64 && o->kind == LAB_PTX_OPERAND_F32)
        return sim_bits64((double)sim_f32((uint32_t)o->value));
    if (type == LAB_PTX_F64 && o->kind == LAB_PTX_OPERAND_INT)
        return sim_bits64((double)(int64_t)o->value);
    if (type == LAB_PTX_F32 && o->kind == LAB_PTX_OPERAND_INT)
        return sim_bits32((float)(int64_t)o->value);
    int bytes = lab_ptx_type_bytes((enum lab_ptx_type)type);
    return bytes < 8 ? o->value & (((uint64_t)1 << bytes * 8) - 1) : o->value;
}

enum lab_status sim_lower_typed_part(struct sim_lowering *l,
                                     const struct lab_ptx_instr *in,
                                     const struct lab_ptx_operand *o, int type,
                                     bool wider, struct sim_operand *out)
{
    int want =
        type == LAB_PTX_TF32 ? 4 : lab_ptx_type_bytes((enum lab_ptx_type)type);
    if (type == LAB_PTX_PRED)
        return sim_lower_pred(l, in, o, out);
    enum lab_status st = sim_lower_operand(l, o, out);
    if (st)
        return sim_lower_because(l, in, st);
    if (out->source == SIM_PREDICATE)
        return sim_lower_refuse(l, in, "a predicate in place of a number");
    if (out->negated)
        return sim_lower_refuse(l, in, "! before a number");
    if (out->source == SIM_SLOT) {
        int have = sim_lower_register_bytes(l, o);
        if (have < want || (have > want && !wider))
            return sim_lower_refuse(l, in, "a register of another size");
    }
    if (out->source == SIM_IMMEDIATE && o->kind != LAB_PTX_OPERAND_SYMBOL) {
        out->value = immediate(o, type);
        out->bytes = want == 8 ? 8 : 4;
    }
    return LAB_OK;
}

enum lab_status sim_lower_typed(struct sim_lowering *l,
                                const struct lab_ptx_instr *in, int operand,
                                int type, struct sim_operand *out)
{
    if (operand >= in->operand_count)
        return sim_lower_refuse(l, in, "an operand is missing");
    enum lab_status st =
        sim_lower_typed_part(l, in, &in->operands[operand], type, false, out);
    if (!st && operand == 0 && out->source != SIM_SLOT &&
        out->source != SIM_NONE && out->source != SIM_PREDICATE)
        st = sim_lower_refuse(l, in, "the result is no register");
    return st;
}

enum lab_status sim_lower_pred(struct sim_lowering *l,
                               const struct lab_ptx_instr *in,
                               const struct lab_ptx_operand *o,
                               struct sim_operand *out)
{
    enum lab_status st = sim_lower_operand(l, o, out);
    if (st)
        return sim_lower_because(l, in, st);
    if (out->source != SIM_PREDICATE && out->source != SIM_NONE &&
        out->source != SIM_IMMEDIATE)
        return sim_lower_refuse(l, in, "a predicate is needed");
    return LAB_OK;
}

struct sim_part *sim_lower_part(const struct sim_lowering *l,
                                const struct lab_ptx_function *f)
{
    struct sim_part *p = l->parts;
    while (p && p->function != f)
        p = p->next;
    return p;
}

const struct sim_form *sim_form_find(const struct sim_form *forms, size_t count,
                                     const struct lab_ptx_instr *in)
{
    for (size_t k = 0; k < count; k++) {
        const struct sim_form *f = &forms[k];
        bool fits = strcmp(f->opcode, in->opcode) == 0;
        for (int m = 0; fits && m < 3 && f->first[m]; m++)
            fits = m < in->modifier_count &&
                   strcmp(f->first[m], in->modifiers[m]) == 0;
        if (fits)
            return f;
    }
    return NULL;
}

enum lab_ptx_space sim_space_of(const struct lab_ptx_instr *in)
{
    static const char *const names[] = {"shared", "shared::cta",
                                        "shared::cluster"};
    for (int k = 0; k < 3; k++)
        if (lab_ptx_has_modifier(in, names[k]))
            return LAB_PTX_SHARED;
    return LAB_PTX_GENERIC;
}

/* ---- operands of a warp that runs ---- */

static uint64_t special(const struct sim_warp *w, uint64_t code, int l)
{
    const struct sim_block *b = w->block;
    const struct lab_sim_launch *launch = b->grid->launch;
    const struct lab_sim_device *device = b->grid->options->device
                                              ? b->grid->options->device
                                              : lab_sim_device_at(0);
    const uint32_t *n = launch->block;
    const uint32_t *g = launch->grid;
    uint64_t t = (uint64_t)w->index * SIM_LANES + (uint64_t)l;
    uint64_t k = 0;
#define X(name, value, bytes)                                                  \
    if (code == k++)                                                           \
        return (bytes) == 4 ? (uint32_t)(value) : (value);
    SPECIAL_LIST(X)
#undef X
    return 0;
}

void sim_values(const struct sim_warp *w, const struct sim_operand *o,
                uint64_t out[SIM_LANES])
{
    switch (o->source) {
    case SIM_SLOT:
        if (o->bytes == 8)
            memcpy(out, sim_r64(w, o->slot), SIM_LANES * sizeof(*out));
        else
            for (int l = 0; l < SIM_LANES; l++)
                out[l] = sim_r32(w, o->slot)[l];
        break;
    case SIM_IMMEDIATE:
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = o->value;
        break;
    case SIM_PREDICATE:
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = sim_pred(w, o) >> l & 1;
        break;
    case SIM_SPECIAL:
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = special(w, o->value, l);
        break;
    default:
        memset(out, 0, SIM_LANES * sizeof(*out));
    }
}

void sim_fetch_slow32(const struct sim_warp *w, const struct sim_operand *o,
                      uint32_t *out)
{
    uint64_t v[SIM_LANES];
    sim_values(w, o, v);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = (uint32_t)v[l];
}

SIM_CLONES
void sim_addresses(const struct sim_warp *w, const struct sim_operand *o,
                   uint64_t out[SIM_LANES])
{
    if (o->source != SIM_SLOT)
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = o->value;
    else if (o->bytes == 8) {
        const uint64_t *r = sim_r64(w, o->slot);
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = r[l] + o->value;
    } else {
        const uint32_t *r = sim_r32(w, o->slot);
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = (uint32_t)(r[l] + o->value);
    }
}

SIM_CLONES
void sim_blend32(uint32_t *d, const uint32_t *r, uint32_t mask)
{
    for (int l = 0; l < SIM_LANES; l++)
        d[l] = mask >> l & 1 ? r[l] : d[l];
}

SIM_CLONES
void sim_blend64(uint64_t *d, const uint64_t *r, uint32_t mask)
{
    for (int l = 0; l < SIM_LANES; l++)
        d[l] = mask >> l & 1 ? r[l] : d[l];
}

void sim_set(struct sim_warp *w, const struct sim_operand *o, uint32_t mask,
             const uint64_t values[SIM_LANES])
{
    if (o->source == SIM_PREDICATE) {
        uint32_t bits = 0;
        for (int l = 0; l < SIM_LANES; l++)
            bits |= (uint32_t)(values[l] != 0) << l;
        sim_put_pred(w, o, bits, mask);
    } else if (o->bytes == 8)
        sim_put64(w, o, values, mask);
    else {
        uint32_t low[SIM_LANES];
        for (int l = 0; l < SIM_LANES; l++)
            low[l] = (uint32_t)values[l];
        sim_put32(w, o, low, mask);
    }
}
