/* Moving values: mov, ld, st, atom, red, cvta, isspacep, and hints that do
 * nothing here. Every access of a lane goes through sim_check_access(), but for kernel
 * parameters and those of calls at a fixed place, which the lowering bounds. */
#include "warp/lanes.h"

/* ---- mov ---- */

SIM_OP1(mov32, u32, u32, a)
SIM_OP1(mov64, u64, u64, a)

static void mov_pred(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    sim_put_pred(w, &i->d, sim_pred(w, &i->a), mask);
}

/* {a, b} to one register; i->bytes of a part. */
static void pack(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    uint64_t r[SIM_LANES] = {0};
    uint64_t v[SIM_LANES];
    int bits = i->bytes * 8;
    for (int k = 0; k < i->more_count; k++) {
        sim_values(w, &i->more[k], v);
        for (int l = 0; l < SIM_LANES; l++)
            r[l] |= (v[l] & (((uint64_t)1 << bits) - 1)) << k * bits;
    }
    sim_set(w, &i->d, mask, r);
}

static void unpack(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    uint64_t r[SIM_LANES];
    uint64_t v[SIM_LANES];
    int bits = i->bytes * 8;
    sim_values(w, &i->a, v);
    for (int k = 0; k < i->more_count; k++) {
        for (int l = 0; l < SIM_LANES; l++)
            r[l] = v[l] >> k * bits & (((uint64_t)1 << bits) - 1);
        if (i->more[k].source == SIM_SLOT)
            sim_set(w, &i->more[k], mask, r);
    }
}

static enum lab_status lower_parts(struct sim_lowering *l,
                                   const struct lab_ptx_instr *in,
                                   const struct lab_ptx_operand *o, int type,
                                   bool wider, struct sim_instr *out)
{
    struct sim_operand *parts =
        sim_lower_take(l, (size_t)o->part_count * sizeof(*parts));
    if (!parts)
        return lab_no_memory("a kernel");
    out->more = parts;
    out->more_count = o->part_count;
    for (int k = 0; k < o->part_count; k++) {
        enum lab_status st =
            sim_lower_typed_part(l, in, &o->parts[k], type, wider, &parts[k]);
        if (st)
            return st;
    }
    return LAB_OK;
}

/* The type of each of n parts of `bytes`. */
static int part_type(int bytes, int n)
{
    return n < 1            ? 0
           : bytes / n == 4 ? LAB_PTX_B32
           : bytes / n == 2 ? LAB_PTX_B16
           : bytes / n == 1 ? LAB_PTX_B8
                            : 0;
}

static enum lab_status lower_mov(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 struct sim_instr *out)
{
    struct sim_mods m;
    sim_mods_of(in, &m);
    if (m.type_count != 1 || m.bits || m.other || in->operand_count != 2)
        return sim_lower_refuse(l, in, NULL);
    const struct lab_ptx_operand *d = &in->operands[0];
    const struct lab_ptx_operand *a = &in->operands[1];
    int type = m.types[0];
    int bytes = lab_ptx_type_bytes((enum lab_ptx_type)type);
    enum lab_status st;
    out->type = (uint8_t)type;
    if (type == LAB_PTX_PRED) {
        out->run = mov_pred;
        st = sim_lower_pred(l, in, d, &out->d);
        return st ? st : sim_lower_pred(l, in, a, &out->a);
    }
    if (bytes != 2 && bytes != 4 && bytes != 8)
        return sim_lower_refuse(l, in, NULL);
    bool from = a->kind == LAB_PTX_OPERAND_VECTOR;
    bool to = d->kind == LAB_PTX_OPERAND_VECTOR;
    if (from || to) {
        const struct lab_ptx_operand *v = from ? a : d;
        int part = part_type(bytes, v->part_count);
        if ((from && to) || !part || bytes % v->part_count)
            return sim_lower_refuse(l, in, NULL);
        out->bytes = (uint8_t)lab_ptx_type_bytes((enum lab_ptx_type)part);
        out->run = from ? pack : unpack;
        st = lower_parts(l, in, v, part, part == LAB_PTX_B8, out);
        if (!st)
            st = from ? sim_lower_typed(l, in, 0, type, &out->d)
                      : sim_lower_typed(l, in, 1, type, &out->a);
        for (int k = 0; !st && to && k < out->more_count; k++)
            if (out->more[k].source != SIM_SLOT &&
                out->more[k].source != SIM_NONE)
                st = sim_lower_refuse(l, in, "the result is no register");
        return st;
    }
    out->run = bytes == 8 ? mov64 : mov32;
    st = sim_lower_typed(l, in, 0, type, &out->d);
    return st ? st : sim_lower_typed(l, in, 1, type, &out->a);
}

/* ---- ld and st ---- */

/* What an access is beside its operands; i->extra. */
struct access {
    bool synchronises;
    bool is_volatile;
    bool narrow; /* .cta */
    bool acquire;
    bool release;
    bool spins;     /* a load that others may be waited for with */
    int64_t offset; /* of a parameter: in its space */
};

static const unsigned char nowhere[64];

static uint32_t access(struct sim_warp *w, const struct sim_instr *i,
                       uint32_t mask, enum sim_access_kind kind,
                       struct sim_access *a, unsigned char *at[SIM_LANES])
{
    const struct access *x = i->extra;
    a->kind = kind;
    a->space = (enum lab_ptx_space)i->space;
    a->mask = mask;
    a->bytes = i->bytes * i->count;
    a->align = a->bytes;
    a->synchronises = x->synchronises;
    a->is_volatile = x->is_volatile;
    a->narrow = x->narrow;
    a->async = false;
    a->proxy = false;
    a->issued = false;
    a->overlap = false;
    sim_addresses(w, kind == SIM_STORE ? &i->d : &i->a, a->addr);
    return sim_check_access(w, i, a, at);
}

static uint64_t read_element(const unsigned char *p, int bytes, bool sign)
{
    uint64_t v = 0;
    memcpy(&v, p, (size_t)bytes);
    if (sign && bytes < 8 && v >> (bytes * 8 - 1))
        v |= ~(uint64_t)0 << bytes * 8;
    return v;
}

static const struct sim_operand *element(const struct sim_instr *i, int k,
                                         const struct sim_operand *single)
{
    return i->more_count ? &i->more[k] : single;
}

/* Words of lanes that follow one another or are one are the usual case. */
static SIM_CLONES void gather(uint32_t r[SIM_LANES],
                              unsigned char *const at[SIM_LANES], int offset)
{
    uintptr_t first = (uintptr_t)at[0];
    uintptr_t row = 0;
    uintptr_t one = 0;
    for (uintptr_t l = 0; l < SIM_LANES; l++) {
        row |= (uintptr_t)at[l] ^ (first + 4 * l);
        one |= (uintptr_t)at[l] ^ first;
    }
    if (row == 0)
        memcpy(r, at[0] + offset, SIM_LANES * sizeof(*r));
    else if (one == 0) {
        uint32_t v;
        memcpy(&v, at[0] + offset, sizeof(v));
        for (int l = 0; l < SIM_LANES; l++)
            r[l] = v;
    } else
        for (int l = 0; l < SIM_LANES; l++)
            memcpy(&r[l], at[l] + offset, sizeof(r[l]));
}

/* Each element as 64 bits; a register of 16 bits keeps the lower. */
static void put_elements(struct sim_warp *w, const struct sim_instr *i,
                         uint32_t mask, unsigned char *const at[SIM_LANES])
{
    bool sign = i->flags & 1;
    for (int k = 0; k < i->count; k++) {
        const struct sim_operand *d = element(i, k, &i->d);
        if (d->source == SIM_NONE)
            continue;
        if (i->bytes == 4 && d->bytes == 4) {
            uint32_t r[SIM_LANES];
            gather(r, at, 4 * k);
            sim_put32(w, d, r, mask);
            continue;
        }
        uint64_t v[SIM_LANES];
        for (int l = 0; l < SIM_LANES; l++)
            v[l] = read_element(at[l] + i->bytes * k, i->bytes, sign);
        if (i->flags & 2)
            for (int l = 0; l < SIM_LANES; l++)
                v[l] &= 0xFFFF;
        sim_set(w, d, mask, v);
    }
}

static void load(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    const struct access *x = i->extra;
    struct sim_access a;
    unsigned char *at[SIM_LANES];
    uint32_t got = access(w, i, mask, SIM_LOAD, &a, at);
    if (got != ~0u)
        for (int l = 0; l < SIM_LANES; l++)
            if (!(got >> l & 1))
                at[l] = (unsigned char *)nowhere;
    if (x->acquire)
        sim_fence(w, got, x->narrow);
    if (got)
        put_elements(w, i, got, at);
    if (x->spins)
        sim_spins(w);
}

/* Words of all lanes that follow one another; false: they do not. */
static SIM_CLONES bool store_row(const uint32_t v[SIM_LANES],
                                 unsigned char *const at[SIM_LANES])
{
    uintptr_t first = (uintptr_t)at[0];
    uintptr_t row = 0;
    for (uintptr_t l = 0; l < SIM_LANES; l++)
        row |= (uintptr_t)at[l] ^ (first + 4 * l);
    if (row == 0)
        memcpy(at[0], v, SIM_LANES * sizeof(*v));
    return row == 0;
}

/* What each lane writes, before it is written. */
static void compare_stores(struct sim_warp *w, const struct sim_instr *i,
                           struct sim_access *a, uint32_t lanes)
{
    unsigned char bytes[SIM_LANES][32];
    const unsigned char *data[SIM_LANES];
    uint64_t v[SIM_LANES];
    for (int k = 0; k < i->count; k++) {
        sim_values(w, element(i, k, &i->a), v);
        for (int l = 0; l < SIM_LANES; l++)
            memcpy(bytes[l] + i->bytes * k, &v[l], i->bytes);
    }
    for (int l = 0; l < SIM_LANES; l++)
        data[l] = bytes[l];
    a->mask = lanes;
    sim_same(w, i, a, data);
}

static void store(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    const struct access *x = i->extra;
    struct sim_access a;
    unsigned char *at[SIM_LANES];
    if (x->release)
        sim_fence(w, mask, x->narrow);
    uint32_t got = access(w, i, mask, SIM_STORE, &a, at);
    if (a.overlap)
        compare_stores(w, i, &a, got);
    for (int k = 0; k < i->count; k++) {
        const struct sim_operand *s = element(i, k, &i->a);
        if (i->bytes == 4 && s->bytes == 4) {
            uint32_t buffer[SIM_LANES];
            const uint32_t *v = sim_fetch32(w, s, buffer);
            if (got == ~0u && i->count == 1 && store_row(v, at))
                continue;
            for (uint32_t rest = got; rest; rest &= rest - 1) {
                int l = __builtin_ctz(rest);
                memcpy(at[l] + 4 * k, &v[l], 4);
            }
            continue;
        }
        uint64_t v[SIM_LANES];
        sim_values(w, s, v);
        for (uint32_t rest = got; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            memcpy(at[l] + i->bytes * k, &v[l], i->bytes);
        }
    }
}

/* A parameter of the kernel at a fixed place: the same for all lanes. */
static void load_param(struct sim_warp *w, const struct sim_instr *i,
                       uint32_t mask)
{
    const struct access *x = i->extra;
    unsigned char *at[SIM_LANES];
    for (int l = 0; l < SIM_LANES; l++)
        at[l] = w->block->grid->params + x->offset;
    put_elements(w, i, mask, at);
}

/* A parameter or a result of a call: in local memory, at a fixed place. */
static void load_call(struct sim_warp *w, const struct sim_instr *i,
                      uint32_t mask)
{
    const struct access *x = i->extra;
    int64_t each = w->block->grid->kernel->local_bytes;
    unsigned char *at[SIM_LANES];
    for (int l = 0; l < SIM_LANES; l++)
        at[l] = w->local + l * each + x->offset;
    put_elements(w, i, mask, at);
}

static void store_call(struct sim_warp *w, const struct sim_instr *i,
                       uint32_t mask)
{
    const struct access *x = i->extra;
    int64_t each = w->block->grid->kernel->local_bytes;
    for (int k = 0; k < i->count; k++) {
        uint64_t v[SIM_LANES];
        sim_values(w, element(i, k, &i->a), v);
        for (int l = 0; l < SIM_LANES; l++)
            if (mask >> l & 1)
                memcpy(w->local + l * each + x->offset + i->bytes * k, &v[l],
                       i->bytes);
    }
}

/* ---- modifiers of an access ---- */

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_cache_hint(const char *m)
{
    static const char *const hints[] = {"ca", "cg", "cs", "lu",   "cv",
                                        "wb", "wt", "nc", "weak", "unified"};
    for (size_t k = 0; k < sizeof(hints) / sizeof(hints[0]); k++)
        if (strcmp(m, hints[k]) == 0)
            return true;
    return starts(m, "L1::") || starts(m, "L2::") || starts(m, "level::");
}

static bool read_space(const char *m, uint8_t *space)
{
    static const struct {
        const char *text;
        enum lab_ptx_space space;
    } spaces[] = {
        {"global", LAB_PTX_GLOBAL},      {"shared", LAB_PTX_SHARED},
        {"shared::cta", LAB_PTX_SHARED}, {"shared::cluster", LAB_PTX_SHARED},
        {"local", LAB_PTX_LOCAL},        {"const", LAB_PTX_CONST},
        {"param", LAB_PTX_PARAM},        {"param::entry", LAB_PTX_PARAM},
        {"param::func", LAB_PTX_PARAM}};
    for (size_t k = 0; k < sizeof(spaces) / sizeof(spaces[0]); k++)
        if (strcmp(m, spaces[k].text) == 0) {
            *space = (uint8_t)spaces[k].space;
            return true;
        }
    return false;
}

/* Space, order and type of an access; false: something else is given, too, but
 * for `operation` of an atomic. */
static bool read_access(const struct lab_ptx_instr *in, struct sim_instr *out,
                        struct access *x, const char **operation)
{
    bool typed = false;
    out->count = 1;
    out->space = LAB_PTX_GENERIC;
    for (int k = 0; k < in->modifier_count; k++) {
        const char *m = in->modifiers[k];
        enum lab_ptx_type type = lab_ptx_type_of(m);
        if (read_space(m, &out->space) || is_cache_hint(m))
            continue;
        if (strcmp(m, "volatile") == 0)
            x->synchronises = x->is_volatile = true;
        else if (strcmp(m, "relaxed") == 0 || strcmp(m, "mmio") == 0)
            x->synchronises = true;
        else if (strcmp(m, "acquire") == 0)
            x->synchronises = x->acquire = true;
        else if (strcmp(m, "release") == 0)
            x->synchronises = x->release = true;
        else if (strcmp(m, "acq_rel") == 0)
            x->synchronises = x->acquire = x->release = true;
        else if (strcmp(m, "cta") == 0)
            x->narrow = true;
        else if (strcmp(m, "gpu") == 0 || strcmp(m, "sys") == 0 ||
                 strcmp(m, "cluster") == 0)
            continue;
        else if (strcmp(m, "v2") == 0)
            out->count = 2;
        else if (strcmp(m, "v4") == 0)
            out->count = 4;
        else if (strcmp(m, "v8") == 0)
            out->count = 8;
        else if (type != LAB_PTX_NO_TYPE && !typed) {
            typed = true;
            out->type = (uint8_t)type;
            out->bytes = (uint8_t)lab_ptx_type_bytes(type);
        } else if (operation && !*operation)
            *operation = m;
        else
            return false;
    }
    return typed && out->bytes >= 1 && out->bytes <= 8 &&
           out->bytes * out->count <= 32;
}

static bool is_signed(int type)
{
    return type == LAB_PTX_S8 || type == LAB_PTX_S16 || type == LAB_PTX_S32;
}

/* [name + offset] of a parameter, at a fixed place: its address. */
static const struct sim_symbol *fixed(const struct sim_lowering *l,
                                      const struct lab_ptx_operand *o,
                                      int64_t *offset)
{
    const struct sim_symbol *s =
        o->kind == LAB_PTX_OPERAND_ADDRESS && o->part_count == 1
            ? sim_lower_symbol(l, &o->parts[0])
            : NULL;
    if (s)
        *offset = (int64_t)(o->value + o->parts[0].value);
    return s;
}

/* `ld.param`, `st.param` of a name: bounded here. */
static enum lab_status lower_param(struct sim_lowering *l,
                                   const struct lab_ptx_instr *in,
                                   const struct sim_symbol *s, int64_t offset,
                                   struct access *x, struct sim_instr *out)
{
    bool store = in->opcode[0] == 's';
    const struct lab_ptx_variable *v = s->variable;
    int64_t size = v->elements * lab_ptx_type_bytes(v->type);
    int64_t bytes = out->bytes * out->count;
    bool of_kernel = s->space == LAB_PTX_PARAM;
    if (offset < 0 || offset > size - bytes)
        return sim_lower_refuse(l, in, "it is outside of the parameter");
    if (store && of_kernel)
        return sim_lower_refuse(l, in, "a kernel's parameter is not written");
    x->offset = (int64_t)s->address + offset;
    out->run = of_kernel ? load_param : store ? store_call : load_call;
    return LAB_OK;
}

/* What an address is made of, through mov and cvta: a register or a variable. */
static const struct lab_ptx_operand *
address_root(const struct lab_ptx_function *f,
             const struct lab_ptx_operand *part)
{
    enum { MOVES = 4 };
    for (int moves = 0; moves < MOVES && part->kind == LAB_PTX_OPERAND_REG;
         moves++) {
        const struct lab_ptx_operand *from = NULL;
        for (int32_t k = 0; k < f->instr_count && !from; k++) {
            const struct lab_ptx_instr *in = &f->instrs[k];
            if (in->operand_count == 2 &&
                in->operands[0].kind == LAB_PTX_OPERAND_REG &&
                in->operands[0].reg == part->reg &&
                (strcmp(in->opcode, "mov") == 0 ||
                 strcmp(in->opcode, "cvta") == 0))
                from = &in->operands[1];
        }
        if (!from || (from->kind != LAB_PTX_OPERAND_REG &&
                      from->kind != LAB_PTX_OPERAND_SYMBOL))
            break;
        part = from;
    }
    return part;
}

/* [register + number] or [variable + number], the same by moves. */
static bool same_address(const struct lab_ptx_function *f,
                         const struct lab_ptx_operand *a,
                         const struct lab_ptx_operand *b)
{
    if (a->kind != LAB_PTX_OPERAND_ADDRESS || b->kind != a->kind ||
        a->part_count != 1 || b->part_count != 1 || a->value != b->value)
        return false;
    const struct lab_ptx_operand *x = address_root(f, &a->parts[0]);
    const struct lab_ptx_operand *y = address_root(f, &b->parts[0]);
    return x->kind == y->kind && x->value == y->value &&
           (x->kind == LAB_PTX_OPERAND_REG
                ? x->reg == y->reg
                : x->variable && x->variable == y->variable);
}

/* Has the register `to` the value of `from`, by moves? */
static bool comes_from(const struct lab_ptx_function *f, int32_t to,
                       int32_t from, int moves)
{
    if (to == from)
        return true;
    for (int32_t k = 0; moves > 0 && k < f->instr_count; k++) {
        const struct lab_ptx_instr *in = &f->instrs[k];
        if (strcmp(in->opcode, "mov") == 0 && in->operand_count == 2 &&
            in->operands[0].kind == LAB_PTX_OPERAND_REG &&
            in->operands[1].kind == LAB_PTX_OPERAND_REG &&
            in->operands[0].reg == to &&
            comes_from(f, in->operands[1].reg, from, moves - 1))
            return true;
    }
    return false;
}

/* A load of what a compare-and-swap at the same address expects to find, as the CUDA
 * C++ Programming Guide writes atomicAdd() of double: `old = *p` before the loop. A
 * value that has changed meanwhile is found by the comparison. */
static bool is_expected(const struct lab_ptx_function *f,
                        const struct lab_ptx_instr *load)
{
    enum { MOVES = 3 };
    if (load->operands[0].kind != LAB_PTX_OPERAND_REG)
        return false;
    for (int32_t k = 0; k < f->instr_count; k++) {
        const struct lab_ptx_instr *in = &f->instrs[k];
        if (strcmp(in->opcode, "atom") == 0 && in->operand_count >= 4 &&
            lab_ptx_has_modifier(in, "cas") &&
            same_address(f, &in->operands[1], &load->operands[1]) &&
            in->operands[2].kind == LAB_PTX_OPERAND_REG &&
            comes_from(f, in->operands[2].reg, load->operands[0].reg, MOVES))
            return true;
    }
    return false;
}

static enum lab_status lower_access(struct sim_lowering *l,
                                    const struct lab_ptx_instr *in,
                                    struct sim_instr *out)
{
    struct access *x = sim_lower_take(l, sizeof(*x));
    bool is_store = in->opcode[0] == 's';
    if (!x)
        return lab_no_memory("a kernel");
    /* The last operand may be a cache policy. */
    if (!read_access(in, out, x, NULL) || in->operand_count < 2 ||
        in->operand_count > 3)
        return sim_lower_refuse(l, in, NULL);
    out->extra = x;
    x->spins = !is_store && x->synchronises;
    if (!is_store && is_expected(&l->part->code, in))
        x->synchronises = true;
    const struct lab_ptx_operand *address = &in->operands[is_store ? 0 : 1];
    const struct lab_ptx_operand *value = &in->operands[is_store ? 1 : 0];
    out->flags = is_signed(out->type) ? 1 : 0;
    enum lab_status st;
    struct sim_operand *single = is_store ? &out->a : &out->d;
    if (out->count > 1) {
        if (value->kind != LAB_PTX_OPERAND_VECTOR ||
            value->part_count != out->count)
            return sim_lower_refuse(l, in, "another number of registers");
        st = lower_parts(l, in, value, out->type, true, out);
    } else
        st = sim_lower_typed_part(l, in, value, out->type, true, single);
    if (st)
        return st;
    for (int k = 0; k < out->count; k++) {
        const struct sim_operand *o = element(out, k, single);
        const struct lab_ptx_operand *p =
            out->count > 1 ? &value->parts[k] : value;
        if (!is_store && o->source != SIM_SLOT && o->source != SIM_NONE)
            return sim_lower_refuse(l, in, "the result is no register");
        if (sim_lower_register_bytes(l, p) == 2)
            out->flags |= 2;
    }
    int64_t offset = 0;
    const struct sim_symbol *s = fixed(l, address, &offset);
    if (out->space == LAB_PTX_PARAM && s)
        return lower_param(l, in, s, offset, x, out);
    /* A parameter of a function by a register: its local memory. */
    if (out->space == LAB_PTX_PARAM && l->part != l->parts)
        out->space = LAB_PTX_LOCAL;
    out->run = is_store ? store : load;
    return sim_lower_address(l, address, is_store ? &out->d : &out->a);
}

/* ---- atom and red ---- */

enum operation {
    OP_ADD,
    OP_MIN,
    OP_MAX,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_EXCH,
    OP_CAS,
    OP_INC,
    OP_DEC
};

static const char *const operations[] = {"add", "min",  "max", "and", "or",
                                         "xor", "exch", "cas", "inc", "dec"};

struct atom {
    struct access access; /* first: i->extra of access() */
    enum operation operation;
};

/* One element: what is stored for the old value, the operand and, of a
 * compare-and-swap, the new one. */
static uint64_t combine(enum operation op, int type, uint64_t old, uint64_t b,
                        uint64_t c)
{
#define AS(T, raw, expr)                                                       \
    {                                                                          \
        val_##T x = get_##T((raw_##T)old);                                     \
        val_##T y = get_##T((raw_##T)b);                                       \
        return put_##T(expr);                                                  \
    }
#define LEAST(T) AS(T, raw, x < y ? x : y)
#define MOST(T) AS(T, raw, x > y ? x : y)
    switch (op) {
    case OP_EXCH:
        return b;
    case OP_CAS:
        return old == b ? c : old;
    case OP_AND:
        return old & b;
    case OP_OR:
        return old | b;
    case OP_XOR:
        return old ^ b;
    case OP_INC:
        return old >= b ? 0 : old + 1;
    case OP_DEC:
        return old == 0 || old > b ? b : old - 1;
    case OP_ADD:
        switch (type) {
        case LAB_PTX_F32:
            AS(f32, raw, x + y)
        case LAB_PTX_F64:
            AS(f64, raw, x + y)
        case LAB_PTX_F16:
            AS(f16, raw, x + y)
        case LAB_PTX_BF16:
            AS(bf16, raw, x + y)
        default:
            return old + b;
        }
    default:
        break;
    }
    bool least = op == OP_MIN;
    switch (type) {
    case LAB_PTX_S32:
        if (least)
            LEAST(s32)
        MOST(s32)
    case LAB_PTX_S64:
        if (least)
            LEAST(s64)
        MOST(s64)
    case LAB_PTX_F16:
    case LAB_PTX_BF16: {
        bool brain = type == LAB_PTX_BF16;
        float x = brain ? get_bf16(old) : get_f16(old);
        float y = brain ? get_bf16(b) : get_f16(b);
        if (x != x)
            return b;
        return y != y || (least ? x <= y : x >= y) ? old : b;
    }
    default:
        return least ? (old < b ? old : b) : (old > b ? old : b);
    }
#undef AS
}

/* Blocks of other host threads may do the same: the whole is one exchange. */
static uint64_t exchange(unsigned char *p, int bytes, enum operation op,
                         int type, uint64_t b, uint64_t c)
{
#define EXCHANGE(T)                                                            \
    {                                                                          \
        T *at = (T *)(void *)p;                                                \
        T old = __atomic_load_n(at, __ATOMIC_RELAXED);                         \
        T new;                                                                 \
        do                                                                     \
            new = (T)combine(op, type, old, b, c);                             \
        while (!__atomic_compare_exchange_n(                                   \
            at, &old, new, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));         \
        return old;                                                            \
    }
    if (bytes == 8)
        EXCHANGE(uint64_t)
    if (bytes == 4)
        EXCHANGE(uint32_t)
    EXCHANGE(uint16_t)
#undef EXCHANGE
}

/* Pairs of halves are two elements. */
static uint64_t exchange_pair(unsigned char *p, enum operation op, int type,
                              uint64_t b)
{
    int half = type == LAB_PTX_F16X2 ? LAB_PTX_F16 : LAB_PTX_BF16;
    uint64_t low = exchange(p, 2, op, half, b & 0xFFFF, 0);
    return low | exchange(p + 2, 2, op, half, b >> 16, 0) << 16;
}

static void atom(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    const struct atom *t = i->extra;
    struct sim_access a;
    unsigned char *at[SIM_LANES];
    uint64_t b[SIM_LANES];
    uint64_t c[SIM_LANES];
    uint64_t old[SIM_LANES] = {0};
    if (t->access.release)
        sim_fence(w, mask, t->access.narrow);
    uint32_t got = access(w, i, mask, SIM_ATOMIC, &a, at);
    bool pair = i->type == LAB_PTX_F16X2 || i->type == LAB_PTX_BF16X2;
    for (int k = 0; k < i->count; k++) {
        sim_values(w, element(i, k, &i->b), b);
        sim_values(w, &i->c, c);
        for (uint32_t rest = got; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            unsigned char *p = at[l] + i->bytes * k;
            old[l] =
                pair ? exchange_pair(p, t->operation, i->type, b[l])
                     : exchange(p, i->bytes, t->operation, i->type, b[l], c[l]);
        }
        if (i->count == 1 && i->d.source == SIM_SLOT)
            sim_set(w, &i->d, got, old);
    }
    if (t->access.acquire)
        sim_fence(w, got, t->access.narrow);
    if (i->d.source == SIM_SLOT)
        sim_spins(w);
}

/* Which types an operation has. */
static bool has_type(enum operation op, int type)
{
    int bytes = lab_ptx_type_bytes((enum lab_ptx_type)type);
    bool half = type == LAB_PTX_F16 || type == LAB_PTX_BF16 ||
                type == LAB_PTX_F16X2 || type == LAB_PTX_BF16X2;
    bool number = type == LAB_PTX_F32 || type == LAB_PTX_F64;
    bool bits = type == LAB_PTX_B32 || type == LAB_PTX_B64;
    switch (op) {
    case OP_ADD:
        return half || number || ((bytes == 4 || bytes == 8) && !bits);
    case OP_MIN:
    case OP_MAX:
        return half || (!number && !bits && (bytes == 4 || bytes == 8));
    case OP_INC:
    case OP_DEC:
        return type == LAB_PTX_U32;
    case OP_CAS:
        return bits || type == LAB_PTX_B16 || type == LAB_PTX_U32 ||
               type == LAB_PTX_U64 || type == LAB_PTX_S32 ||
               type == LAB_PTX_S64;
    default:
        return !half && (bytes == 4 || bytes == 8);
    }
}

static enum lab_status lower_atom(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out)
{
    bool red = in->opcode[0] == 'r';
    struct atom *t = sim_lower_take(l, sizeof(*t));
    const char *name = NULL;
    struct lab_ptx_instr plain = *in;
    const char *kept[16];
    int kept_count = 0;
    if (!t)
        return lab_no_memory("a kernel");
    /* noftz has no effect: halves are never flushed here. */
    for (int k = 0; k < in->modifier_count && kept_count < 16; k++)
        if (strcmp(in->modifiers[k], "noftz") != 0)
            kept[kept_count++] = in->modifiers[k];
    plain.modifiers = kept;
    plain.modifier_count = kept_count;
    if (!read_access(&plain, out, &t->access, &name) || !name)
        return sim_lower_refuse(l, in, NULL);
    size_t op = 0;
    while (op < sizeof(operations) / sizeof(operations[0]) &&
           strcmp(operations[op], name) != 0)
        op++;
    t->operation = (enum operation)op;
    int at = red ? 0 : 1;
    int need = at + (op == OP_CAS ? 3 : 2);
    if (op > OP_DEC || !has_type(t->operation, out->type) ||
        in->operand_count < need || in->operand_count > need + 1 ||
        (red && (op == OP_CAS || op == OP_EXCH)) || (out->count > 1 && !red))
        return sim_lower_refuse(l, in, NULL);
    t->access.synchronises = true;
    out->extra = t;
    out->run = atom;
    enum lab_status st = LAB_OK;
    if (!red)
        st = sim_lower_typed(l, in, 0, out->type, &out->d);
    if (!st)
        st = sim_lower_address(l, &in->operands[at], &out->a);
    const struct lab_ptx_operand *value = &in->operands[at + 1];
    if (!st && out->count > 1) {
        if (value->kind != LAB_PTX_OPERAND_VECTOR ||
            value->part_count != out->count)
            return sim_lower_refuse(l, in, "another number of registers");
        st = lower_parts(l, in, value, out->type, false, out);
    } else if (!st)
        st = sim_lower_typed_part(l, in, value, out->type, false, &out->b);
    if (!st && op == OP_CAS)
        st = sim_lower_typed(l, in, at + 2, out->type, &out->c);
    return st;
}

/* ---- addresses ---- */

/* Generic addresses of shared, local and parameter space have a window. */
static uint64_t window(int space)
{
    return space == LAB_PTX_SHARED  ? SIM_SHARED_WINDOW
           : space == LAB_PTX_LOCAL ? SIM_LOCAL_WINDOW
           : space == LAB_PTX_PARAM ? SIM_PARAM_WINDOW
                                    : 0;
}

static void cvta(struct sim_warp *w, const struct sim_instr *i, uint32_t mask)
{
    uint64_t v[SIM_LANES];
    sim_values(w, &i->a, v);
    uint64_t add = i->flags ? 0 - window(i->space) : window(i->space);
    for (int l = 0; l < SIM_LANES; l++)
        v[l] += add;
    sim_set(w, &i->d, mask, v);
}

static void isspacep(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    uint64_t v[SIM_LANES];
    sim_values(w, &i->a, v);
    uint32_t bits = 0;
    for (int l = 0; l < SIM_LANES; l++) {
        int space = v[l] >> 60 == SIM_PARAM_WINDOW >> 60    ? LAB_PTX_PARAM
                    : v[l] >> 60 == SIM_SHARED_WINDOW >> 60 ? LAB_PTX_SHARED
                    : v[l] >> 60 == SIM_LOCAL_WINDOW >> 60  ? LAB_PTX_LOCAL
                                                            : LAB_PTX_GLOBAL;
        bits |= (uint32_t)(space == i->space) << l;
    }
    sim_put_pred(w, &i->d, bits, mask);
}

static enum lab_status lower_cvta(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out)
{
    bool space = false;
    int type = 0;
    bool predicate = in->opcode[0] == 'i';
    for (int k = 0; k < in->modifier_count; k++) {
        const char *m = in->modifiers[k];
        enum lab_ptx_type t = lab_ptx_type_of(m);
        if (read_space(m, &out->space))
            space = true;
        else if (strcmp(m, "to") == 0 && !predicate)
            out->flags = 1;
        else if ((t == LAB_PTX_U64 || t == LAB_PTX_U32) && !predicate)
            type = t;
        else
            return sim_lower_refuse(l, in, NULL);
    }
    if (!space || in->operand_count != 2 || (!predicate && !type))
        return sim_lower_refuse(l, in, NULL);
    /* A function's parameter is in its local memory. */
    if (out->space == LAB_PTX_PARAM && l->part != l->parts)
        out->space = LAB_PTX_LOCAL;
    if (predicate) {
        out->run = isspacep;
        enum lab_status st = sim_lower_pred(l, in, &in->operands[0], &out->d);
        return st ? st : sim_lower_typed(l, in, 1, LAB_PTX_U64, &out->a);
    }
    out->run = window(out->space) ? cvta : type == LAB_PTX_U64 ? mov64 : mov32;
    enum lab_status st = sim_lower_typed(l, in, 0, type, &out->d);
    return st ? st : sim_lower_typed(l, in, 1, type, &out->a);
}

/* ---- what has no effect here ---- */

static void createpolicy(struct sim_warp *w, const struct sim_instr *i,
                         uint32_t mask)
{
    static const uint64_t zero[SIM_LANES];
    sim_set(w, &i->d, mask, zero);
}

enum lab_status sim_lower_move(struct sim_lowering *l,
                               const struct lab_ptx_instr *in,
                               struct sim_instr *out, bool *known)
{
    static const char *const hints[] = {"prefetch",      "prefetchu", "discard",
                                        "applypriority", "pmevent",   "brkpt"};
    *known = true;
    if (strcmp(in->opcode, "mov") == 0)
        return lower_mov(l, in, out);
    if (strcmp(in->opcode, "ld") == 0 || strcmp(in->opcode, "ldu") == 0 ||
        strcmp(in->opcode, "st") == 0)
        return lower_access(l, in, out);
    if (strcmp(in->opcode, "atom") == 0 || strcmp(in->opcode, "red") == 0)
        return lower_atom(l, in, out);
    if (strcmp(in->opcode, "cvta") == 0 || strcmp(in->opcode, "isspacep") == 0)
        return lower_cvta(l, in, out);
    if (strcmp(in->opcode, "createpolicy") == 0) {
        out->run = createpolicy;
        return sim_lower_typed(l, in, 0, LAB_PTX_B64, &out->d);
    }
    for (size_t k = 0; k < sizeof(hints) / sizeof(hints[0]); k++)
        if (strcmp(in->opcode, hints[k]) == 0) {
            out->run = sim_run_nothing;
            return LAB_OK;
        }
    *known = false;
    return LAB_OK;
}
