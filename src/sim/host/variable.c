/* The variables of a kernel's source while it is walked: which register has the value
 * of which. A statement's place in the text leads to its instructions, the shape of its
 * expression to the one that makes its value; where that does not agree, the variable
 * has no name, for a wrong value is worse than none. Then the values are followed over
 * the branches to where the warp is. */
#include "sim/variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/flow.h"
#include "warp/code.h"

enum { UNKNOWN = -1, UNSEEN = -2 };

/* A call of a function that was inlined: only its places in the source are left. */
struct frame {
    int32_t file;
    int32_t line;
    int32_t inlined_at;
};

struct search {
    const struct lab_sim_debug *debug;
    const struct lab_ptx *ptx;
    const struct lab_ptx_function *f;
    const struct lab_sim_statements *source;
    struct frame frame;
    int32_t variable;
    char kind; /* of its type; see kind_of() */
    lab_sim_text_fn *text;
    void *user;
    bool *in; /* the instructions of a statement */
    bool
        *side[2]; /* those that give the two sides of a division their values */
    bool *gives;  /* instructions that give the variable its value */
    int32_t *held; /* the register before each instruction, UNKNOWN, UNSEEN */
};

/* ---- types and instructions ---- */

static bool has_word(const char *type, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = strstr(type, word); p; p = strstr(p + 1, word))
        if ((p == type || p[-1] == ' ') && (!p[n] || p[n] == ' '))
            return true;
    return false;
}

/* 'f' float, 'd' double, 'i' and 'l' whole numbers of 32 and 64 bits, 'p' a pointer,
 * 0: another one. A bool is not followed: a compiler turns it around. */
static char kind_of(const char *type)
{
    static const struct {
        const char *word;
        char kind;
    } words[] = {{"float", 'f'},    {"double", 'd'},   {"int64_t", 'l'},
                 {"uint64_t", 'l'}, {"size_t", 'l'},   {"long", 'l'},
                 {"int32_t", 'i'},  {"uint32_t", 'i'}, {"unsigned", 'i'},
                 {"int", 'i'}};
    if (strchr(type, '&') || strchr(type, '<') || has_word(type, "short") ||
        has_word(type, "char"))
        return 0;
    if (strchr(type, '*'))
        return 'p';
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (has_word(type, words[i].word))
            return words[i].kind;
    return 0;
}

static enum lab_ptx_type type_of_kind(char kind, const char *type)
{
    bool plain = has_word(type, "unsigned") || strstr(type, "uint") ||
                 has_word(type, "size_t");
    return kind == 'f'   ? LAB_PTX_F32
           : kind == 'd' ? LAB_PTX_F64
           : kind == 'i' ? (plain ? LAB_PTX_U32 : LAB_PTX_S32)
                         : (plain ? LAB_PTX_U64 : LAB_PTX_S64);
}

static bool is(const struct lab_ptx_instr *in, const char *opcode)
{
    return strcmp(in->opcode, opcode) == 0;
}

/* The register that an instruction writes as a whole; -1: none. */
static int32_t written_by(const struct lab_ptx_instr *in)
{
    if (in->operand_count < 1 || !sim_has_result(in))
        return -1;
    const struct lab_ptx_operand *d = &in->operands[0];
    return d->kind == LAB_PTX_OPERAND_REG ? d->reg : -1;
}

static bool names_reg(const struct lab_ptx_operand *o, int32_t reg)
{
    for (int k = 0; k < o->part_count; k++)
        if (names_reg(&o->parts[k], reg))
            return true;
    return o->kind == LAB_PTX_OPERAND_REG && o->reg == reg;
}

static bool reads(const struct lab_ptx_instr *in, int32_t reg)
{
    if (in->guard == reg)
        return true;
    for (int k = written_by(in) >= 0 ? 1 : 0; k < in->operand_count; k++)
        if (names_reg(&in->operands[k], reg))
            return true;
    return false;
}

/* Does the instruction make a real number? Its first type is that of the result. */
static bool is_real(const struct lab_ptx_instr *in)
{
    for (int k = 0; k < in->modifier_count; k++) {
        enum lab_ptx_type t = lab_ptx_type_of(in->modifiers[k]);
        if (t != LAB_PTX_NO_TYPE)
            return t == LAB_PTX_F32 || t == LAB_PTX_F64;
    }
    return false;
}

/* Is what the instruction writes of the variable's type? */
static bool fits(const struct search *s, const struct lab_ptx_instr *in)
{
    int32_t reg = written_by(in);
    if (reg < 0)
        return false;
    enum lab_ptx_type type = s->f->regs[reg].type;
    int bytes = lab_ptx_type_bytes(type);
    bool real = is_real(in);
    bool copy = is(in, "mov") || is(in, "ld") || is(in, "selp");
    switch (s->kind) {
    case 'f':
        return bytes == 4 && (type == LAB_PTX_F32 || real || copy);
    case 'd':
        return bytes == 8 && (type == LAB_PTX_F64 || real || copy);
    case 'i':
        return bytes == 4 && type != LAB_PTX_F32 && !real;
    default:
        return bytes == 8 && type != LAB_PTX_F64 && !real && !is(in, "cvta");
    }
}

/* ---- the instructions of a statement ---- */

static bool is_in_text(const struct lab_ptx_place *p,
                       const struct lab_sim_assigned *a)
{
    bool late = p->line > a->line[0] ||
                (p->line == a->line[0] && p->column >= a->column[0]);
    bool early = p->line < a->line[1] ||
                 (p->line == a->line[1] && p->column < a->column[1]);
    return late && early;
}

/* The place itself or a call on the way to it is in the statement, of this frame. */
static bool is_of(const struct search *s, const struct lab_ptx_instr *in,
                  const struct lab_sim_assigned *a)
{
    for (int32_t p = in->place; p >= 0; p = s->ptx->places[p].inlined_at) {
        const struct lab_ptx_place *at = &s->ptx->places[p];
        if (at->inlined_at == s->frame.inlined_at && at->file == s->frame.file)
            return is_in_text(at, a);
    }
    return false;
}

static bool is_product(const struct lab_ptx_instr *in)
{
    return is(in, "fma") || is(in, "mad");
}

/* Which operand of `sum + x` is the sum before; -1: it is not known. */
static int kept_operand(const struct search *s, const struct lab_ptx_instr *in,
                        int depth);

/* Has a register the variable's value before the statement, or a copy of it? */
static bool is_kept(const struct search *s, int32_t reg, const char *opcode,
                    int depth)
{
    enum { DEEPEST = 64 };
    bool inside = false;
    int writers = 0;
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        if (written_by(in) != reg)
            continue;
        writers++;
        inside = inside || s->in[k];
        if (s->in[k] && !is(in, opcode))
            return false;
        if (s->in[k] && !names_reg(&in->operands[0], reg))
            return false;
    }
    if (!inside || writers > 1 || depth > DEEPEST)
        return true;
    for (int32_t k = 0; k < s->f->instr_count; k++)
        if (written_by(&s->f->instrs[k]) == reg)
            return kept_operand(s, &s->f->instrs[k], depth + 1) >= 0;
    return true;
}

static int kept_operand(const struct search *s, const struct lab_ptx_instr *in,
                        int depth)
{
    const int32_t d = written_by(in);
    if (is_product(in))
        return in->operand_count == 4 &&
                       in->operands[3].kind == LAB_PTX_OPERAND_REG
                   ? 3
                   : -1;
    if (in->operand_count != 3 || in->operands[1].kind != LAB_PTX_OPERAND_REG)
        return -1;
    const struct lab_ptx_operand *o = in->operands;
    if (o[2].kind != LAB_PTX_OPERAND_REG || o[1].reg == d || is(in, "sub") ||
        is(in, "div") || is(in, "shl") || is(in, "shr"))
        return 1;
    if (o[2].reg == d)
        return 2;
    /* A chain goes back a register at a time, each written before it. */
    if (o[1].reg == o[2].reg)
        return -1;
    bool first = is_kept(s, o[1].reg, in->opcode, depth);
    bool second = is_kept(s, o[2].reg, in->opcode, depth);
    return first == second ? -1 : first ? 1 : 2;
}

/* `x / 2` takes the sign of x first, by a shift that leaves one bit. */
static bool is_sign(const struct lab_ptx_instr *in)
{
    const struct lab_ptx_operand *by = &in->operands[2];
    bool wide = in->modifier_count > 0 &&
                lab_ptx_type_bytes(lab_ptx_type_of(
                    in->modifiers[in->modifier_count - 1])) == 8;
    return is(in, "shr") && in->operand_count == 3 &&
           by->kind == LAB_PTX_OPERAND_INT && by->value == (wide ? 63u : 31u);
}

/* Can the instruction be the last of such an expression? */
static bool makes(const struct lab_ptx_instr *in,
                  const struct lab_sim_assigned *a, char top)
{
    switch (top) {
    case '+':
        /* clang gives n - i / 4 * 4, of another line, the place of 4 * q + i. */
        return is(in, "add") || is_product(in) || is(in, "or") ||
               (is(in, "sub") && is_real(in));
    case '-':
        return is(in, "sub") || is(in, "add") || is_product(in) ||
               is(in, "neg");
    case '*':
        return is(in, "mul") || (is(in, "shl") && a->factor);
    case '/':
        return is(in, "div") || is(in, "mul") || is(in, "rcp") ||
               (is(in, "shr") && !is_sign(in));
    case '%':
        return is(in, "rem") || is(in, "and") || is(in, "sub");
    case '&':
        return is(in, "and") || is(in, "bfe");
    case '|':
        return is(in, "or") || is(in, "bfi");
    case '^':
        return is(in, "xor");
    case '<':
        return is(in, "shl") || is(in, "shr") || is(in, "mul") || is(in, "bfe");
    case '[':
        return is(in, "ld") ||
               (is(in, "mov") && in->operands[1].kind == LAB_PTX_OPERAND_REG);
    case '#':
        return is(in, "mov") && in->operands[1].kind != LAB_PTX_OPERAND_REG;
    case 'n':
        return is(in, "mov") || is(in, "cvt") || is(in, "ld");
    default: /* a call, a choice */
        return !is(in, "mov") || in->operands[1].kind == LAB_PTX_OPERAND_REG;
    }
}

/* Sums that a register is made of, in the statement. A compiler adds what is constant
 * where it is used: then the register lacks it. And what it made for later, as the
 * beginning of an address, has the place of the statement before. */
static int sums_below(const struct search *s, int32_t reg, int depth,
                      bool *number)
{
    int most = 0;
    for (int32_t k = 0; k < s->f->instr_count && depth < 16; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        if (!s->in[k] || written_by(in) != reg)
            continue;
        int n =
            is(in, "add") || is(in, "sub") || is(in, "or") || is_product(in);
        for (int o = 1; o < in->operand_count; o++) {
            if (n > 0 && in->operands[o].kind == LAB_PTX_OPERAND_INT)
                *number = true;
            if (in->operands[o].kind == LAB_PTX_OPERAND_REG &&
                in->operands[o].reg != reg)
                n += sums_below(s, in->operands[o].reg, depth + 1, number);
        }
        most = n > most ? n : most;
    }
    return most;
}

static bool is_whole(const struct search *s, const struct lab_sim_assigned *a,
                     int32_t reg)
{
    bool number = false;
    if (s->kind == 'f' || s->kind == 'd' || a->terms == 0)
        return true;
    return sums_below(s, reg, 0, &number) == a->terms &&
           (number || !a->constant);
}

static bool is_read_outside(const struct search *s, int32_t reg)
{
    for (int32_t k = 0; k < s->f->instr_count; k++)
        if (!s->in[k] && reads(&s->f->instrs[k], reg))
            return true;
    return false;
}

/* Of a call's value: is one of its operands read elsewhere, too? Then the operand may
 * be the value, and this register what was computed from it for later. */
static bool is_doubtful(const struct search *s,
                        const struct lab_sim_assigned *a, int32_t reg)
{
    if (a->top != 'f' || s->kind == 'f' || s->kind == 'd')
        return false;
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        if (s->in[k] && fits(s, in) && written_by(in) != reg &&
            !is(in, "mov") && !is(in, "ld") && !is(in, "cvt") &&
            is_read_outside(s, written_by(in)))
            return true;
    }
    return false;
}

/* Several instructions write it: what a mov gives it is there for a branch. */
static bool is_shared(const struct search *s, int32_t reg)
{
    int writers = 0;
    for (int32_t k = 0; k < s->f->instr_count; k++)
        writers += written_by(&s->f->instrs[k]) == reg;
    return writers > 1;
}

/* What chooses between two values of lanes reads it: it is one of the two. */
static bool is_picked(const struct search *s, int32_t reg)
{
    for (int32_t k = 0; k < s->f->instr_count; k++)
        if (is(&s->f->instrs[k], "selp") && reads(&s->f->instrs[k], reg))
            return true;
    return false;
}

/* The same outside of the statement. */
static bool is_chosen(const struct search *s, int32_t reg)
{
    for (int32_t k = 0; k < s->f->instr_count; k++)
        if (!s->in[k] && is(&s->f->instrs[k], "selp") &&
            reads(&s->f->instrs[k], reg))
            return true;
    return false;
}

static bool is_read_inside(const struct search *s, int32_t reg, char sign)
{
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        if (!s->in[k] || is(in, "setp") || !reads(in, reg) || is(in, "bra"))
            continue;
        if (sign != '=' && is_product(in) &&
            !names_reg(&in->operands[1], reg) &&
            !names_reg(&in->operands[2], reg))
            continue;
        return true;
    }
    return false;
}

/* The only instruction that writes the register; NULL: there are several. */
static const struct lab_ptx_instr *only_writer(const struct search *s,
                                               int32_t reg)
{
    const struct lab_ptx_instr *one = NULL;
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        if (written_by(&s->f->instrs[k]) != reg)
            continue;
        if (one || s->f->instrs[k].guard >= 0)
            return NULL;
        one = &s->f->instrs[k];
    }
    return one;
}

/* The number that a mov gives, itself or by a register that has nothing else. */
static const struct lab_ptx_operand *
moved_number(const struct search *s, const struct lab_ptx_instr *in)
{
    const struct lab_ptx_operand *o = &in->operands[1];
    if (!is(in, "mov"))
        return NULL;
    if (o->kind != LAB_PTX_OPERAND_REG)
        return o;
    in = only_writer(s, o->reg);
    return in && is(in, "mov") && in->operands[1].kind != LAB_PTX_OPERAND_REG
               ? &in->operands[1]
               : NULL;
}

/* ---- which instructions give the variable its value ---- */

static bool find_instructions(struct search *s,
                              const struct lab_sim_assigned *a)
{
    bool any = false;
    struct lab_sim_assigned wide = *a;
    if (a->wide && (s->kind == 'f' || s->kind == 'd'))
        wide.column[0] = a->wide;
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        s->in[k] = is_of(s, &s->f->instrs[k], &wide);
        any = any || s->in[k];
    }
    return any;
}

/* `v = expression`: what nothing of the statement reads, made as it is written. All
 * copies of the statement, of a loop that was unrolled, are made by the same opcode. */
static bool take_value(struct search *s, const struct lab_sim_assigned *a)
{
    const struct lab_ptx_instr *one = NULL;
    bool same = true;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = 0; k < s->f->instr_count; k++) {
            const struct lab_ptx_instr *in = &s->f->instrs[k];
            if (!s->in[k] || !fits(s, in) ||
                is_read_inside(s, written_by(in), '=') ||
                (is(in, "mov") && is_shared(s, written_by(in))))
                continue;
            if (pass == 1) {
                s->gives[k] = true;
                continue;
            }
            if (!makes(in, a, a->top) || !is_whole(s, a, written_by(in)) ||
                is_doubtful(s, a, written_by(in)) ||
                (a->sign == '=' && is_chosen(s, written_by(in))))
                return false;
            same = same && (!one || is(in, one->opcode) ||
                            written_by(in) == written_by(one));
            one = in;
        }
        if (!one || !same)
            return false;
    }
    return true;
}

/* `v = f()`. clang 14 writes no calls, only the place in the function: where f returns
 * what a thread's position gives it, that is the value wherever it was called. */
static bool take_returned(struct search *s, const struct lab_sim_assigned *a)
{
    struct lab_sim_assigned found = {.variable = -1};
    int32_t file = -1;
    int times = 0;
    for (int32_t i = 0; i < s->ptx->file_count; i++) {
        const char *source;
        size_t bytes;
        struct lab_sim_statements t;
        bool used = false;
        for (int32_t k = 0; k < s->f->instr_count && !used; k++) {
            const int32_t p = s->f->instrs[k].place;
            used = p >= 0 && s->ptx->places[p].file == i;
        }
        if (!used || !s->text(s->user, i, &source, &bytes) ||
            lab_sim_statements_read(source, bytes, &t))
            continue;
        for (size_t k = 0; k < t.assigned_count; k++)
            if (t.assigned[k].variable < 0 &&
                strcmp(t.assigned[k].call, a->call) == 0) {
                found = t.assigned[k];
                file = i;
                times++;
            }
        lab_sim_statements_release(&t);
    }
    bool any = false;
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        const int32_t p = s->f->instrs[k].place;
        const struct lab_ptx_place *at = p >= 0 ? &s->ptx->places[p] : NULL;
        s->in[k] = at && at->inlined_at < 0 && at->file == file &&
                   is_in_text(at, &found);
        any = any || s->in[k];
    }
    return times == 1 && any && take_value(s, &found);
}

/* ---- a quotient and a remainder ---- */

/* Is an operand the left (0) or right side of the division? Where both are below 2^32
 * a compiler divides their lower halves. */
static bool is_side(const struct search *s, const struct lab_ptx_operand *o,
                    int side, bool half)
{
    const struct lab_ptx_instr *in =
        o->kind == LAB_PTX_OPERAND_REG ? only_writer(s, o->reg) : NULL;
    if (in && half)
        return is(in, "cvt") && is_side(s, &in->operands[1], side, false);
    return in && s->side[side][in - s->f->instrs];
}

static bool divides(const struct search *s, const struct lab_ptx_instr *in,
                    const char *opcode, bool half)
{
    return in && is(in, opcode) && in->operand_count == 3 &&
           is_side(s, &in->operands[1], 0, half) &&
           is_side(s, &in->operands[2], 1, half);
}

/* Is all that writes a register the quotient, or (`rest`) the remainder? */
static bool is_divided(const struct search *s, int32_t reg, bool rest,
                       bool half);

/* left - quotient * right */
static bool is_rest(const struct search *s, const struct lab_ptx_instr *in,
                    bool half)
{
    if (!in || !is(in, "sub") || in->operand_count != 3 ||
        in->operands[2].kind != LAB_PTX_OPERAND_REG ||
        !is_side(s, &in->operands[1], 0, half))
        return false;
    const struct lab_ptx_instr *by = only_writer(s, in->operands[2].reg);
    return by && is(by, "mul") && by->operand_count == 3 &&
           by->operands[1].kind == LAB_PTX_OPERAND_REG &&
           is_divided(s, by->operands[1].reg, false, half) &&
           is_side(s, &by->operands[2], 1, half);
}

static bool is_divided(const struct search *s, int32_t reg, bool rest,
                       bool half)
{
    bool whole = false;
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        if (written_by(in) != reg)
            continue;
        bool now = divides(s, in, rest ? "rem" : "div", half) ||
                   (rest && is_rest(s, in, half));
        whole = whole || now;
        if (!now && !half && is(in, "cvt") &&
            in->operands[1].kind == LAB_PTX_OPERAND_REG)
            now = is_divided(s, in->operands[1].reg, rest, true);
        if (!now || in->guard >= 0)
            return false;
    }
    return whole;
}

static bool find_side(struct search *s, int32_t variable, bool *out);

/* `v = i / M`: a compiler divides once for i / M and i % M, and gives the place of
 * neither. What divides a register that has only i by one that has only M is it. */
static bool take_divided(struct search *s, const struct lab_sim_assigned *a)
{
    const int32_t variable = s->variable;
    bool found = a->side[0] >= 0 && a->side[1] >= 0 && a->side[0] != variable &&
                 a->side[1] != variable && (a->top == '/' || a->top == '%');
    for (int k = 0; k < 2 && found; k++)
        found = find_side(s, a->side[k], s->side[k]);
    s->variable = variable;
    memset(s->gives, 0, (size_t)s->f->instr_count * sizeof(*s->gives));
    int32_t one = -1;
    for (int32_t k = 0; k < s->f->instr_count && found; k++) {
        const int32_t reg = written_by(&s->f->instrs[k]);
        if (!fits(s, &s->f->instrs[k]) ||
            !is_divided(s, reg, a->top == '%', false))
            continue;
        found = one < 0 || one == reg;
        one = reg;
        s->gives[k] = true;
    }
    if (!found)
        memset(s->gives, 0, (size_t)s->f->instr_count * sizeof(*s->gives));
    return found && one >= 0;
}

/* All that write a register are copies of numbers, or it is written once. */
static void take_before(struct search *s, int32_t reg)
{
    bool numbers = true;
    int writers = 0;
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        if (written_by(in) != reg || s->gives[k])
            continue;
        writers++;
        numbers = numbers && moved_number(s, in);
    }
    for (int32_t k = 0; k < s->f->instr_count && (numbers || writers == 1); k++)
        if (written_by(&s->f->instrs[k]) == reg)
            s->gives[k] = true;
}

/* Is it the number that the statement adds? */
static bool is_step(const struct lab_sim_assigned *a,
                    const struct lab_ptx_instr *in,
                    const struct lab_ptx_operand *o)
{
    int64_t by = strtoll(a->number, NULL, 0);
    bool same = (a->sign == '-') == is(in, "sub");
    return a->top != '#' || (o->kind == LAB_PTX_OPERAND_INT &&
                             (int64_t)o->value == (same ? by : -by));
}

static bool makes_sign(const struct lab_ptx_instr *in,
                       const struct lab_sim_assigned *a)
{
    bool sum = is(in, "add") || is(in, "sub") || is_product(in);
    return a->sign == '+' || a->sign == '-' ? sum : makes(in, a, a->sign);
}

/* Is a sum a part of what is added, as a - b in `v += (a - b) * c`? The next sum of a
 * chain has it as the one to which it adds. */
static bool is_part(const struct search *s, const struct lab_sim_assigned *a,
                    int32_t reg)
{
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        if (!s->in[k] || !reads(in, reg) || is(in, "mov") || is(in, "setp") ||
            is(in, "bra"))
            continue;
        const int kept =
            fits(s, in) && makes_sign(in, a) ? kept_operand(s, in, 0) : -1;
        for (int o = 1; o < in->operand_count; o++)
            if (o != kept && names_reg(&in->operands[o], reg))
                return true;
    }
    return false;
}

/* `v += expression`: each sum of a chain, and what the first one begins with. */
static bool take_changed(struct search *s, const struct lab_sim_assigned *a)
{
    bool real = s->kind == 'f' || s->kind == 'd';
    int32_t by = -1; /* the register that is added, of whole numbers */
    bool any = false;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = 0; k < s->f->instr_count; k++) {
            const struct lab_ptx_instr *in = &s->f->instrs[k];
            if (!s->in[k] || !fits(s, in) || !makes_sign(in, a))
                continue;
            int kept = kept_operand(s, in, 0);
            bool last =
                kept > 0 && in->operands[kept].kind == LAB_PTX_OPERAND_REG;
            if ((!last && is_read_inside(s, written_by(in), a->sign)) ||
                is_part(s, a, written_by(in)))
                continue;
            /* `if (p) v += x` may be a choice between v before and behind. */
            if (!last || is_picked(s, written_by(in)))
                return false;
            const struct lab_ptx_operand *o = &in->operands[kept == 1 ? 2 : 1];
            if (!real && !is_step(a, in, o))
                return false;
            if (!real && a->top != '#' && o->kind == LAB_PTX_OPERAND_REG &&
                a->step) {
                if (by >= 0 && by != o->reg)
                    return false;
                by = o->reg;
            }
            any = true;
            if (pass == 0)
                continue;
            s->gives[k] = true;
            take_before(s, in->operands[kept].reg);
        }
        if (!any)
            return false;
    }
    return true;
}

/* ---- where the value is ---- */

struct change {
    int32_t reg;
    bool any;
};

static void on_change(void *arg, int32_t reg)
{
    struct change *c = arg;
    c->any = c->any || c->reg == reg;
}

static int32_t join(int32_t a, int32_t b)
{
    return a == UNSEEN ? b : b == UNSEEN || a == b ? a : UNKNOWN;
}

static int32_t after(const struct search *s, int32_t k)
{
    const struct lab_ptx_instr *in = &s->f->instrs[k];
    struct change c = {s->held[k], false};
    if (s->gives[k])
        return in->guard < 0 ? written_by(in)
                             : join(s->held[k], written_by(in));
    if (s->held[k] >= 0)
        sim_each_changed(s->f, in, on_change, &c);
    return c.any ? UNKNOWN : s->held[k];
}

static bool meet(const struct search *s, int32_t at, int32_t held)
{
    if (at < 0 || at >= s->f->instr_count)
        return false;
    int32_t now = join(s->held[at], held);
    bool changed = now != s->held[at];
    s->held[at] = now;
    return changed;
}

static bool meet_labels(const struct search *s, const struct lab_ptx_operand *o,
                        int32_t held)
{
    bool changed = o->kind == LAB_PTX_OPERAND_LABEL && meet(s, o->target, held);
    for (int k = 0; k < o->part_count; k++)
        changed = meet_labels(s, &o->parts[k], held) || changed;
    return changed;
}

static void follow(const struct search *s)
{
    for (int32_t k = 0; k < s->f->instr_count; k++)
        s->held[k] = k == 0 ? UNKNOWN : UNSEEN;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t k = 0; k < s->f->instr_count; k++) {
            const struct lab_ptx_instr *in = &s->f->instrs[k];
            if (s->held[k] == UNSEEN)
                continue;
            int32_t held = after(s, k);
            bool jumps = is(in, "bra") || is(in, "brx");
            for (int o = 0; jumps && o < in->operand_count; o++)
                changed = meet_labels(s, &in->operands[o], held) || changed;
            if (in->guard >= 0 || !(jumps || is(in, "ret") || is(in, "exit")))
                changed = meet(s, k + 1, held) || changed;
        }
    }
}

/* Copies of the value into a register that has nothing else. */
static bool take_copies(struct search *s)
{
    bool more = false;
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        int32_t reg = written_by(in);
        bool whole = reg >= 0 && !s->gives[k] && is(in, "mov") &&
                     in->operands[1].kind == LAB_PTX_OPERAND_REG &&
                     s->held[k] >= 0 && in->operands[1].reg == s->held[k];
        for (int32_t i = 0; whole && i < s->f->instr_count; i++)
            if (i != k && written_by(&s->f->instrs[i]) == reg)
                whole = s->gives[i];
        s->gives[k] = s->gives[k] || whole;
        more = more || whole;
    }
    return more;
}

/* ---- one variable ---- */

/* May a statement have run, that the value cannot be followed through? */
static bool may_have_run(const struct lab_sim_assigned *a, int32_t line)
{
    return line >= a->line[0] ||
           (a->loop[0] && line >= a->loop[0] && line <= a->loop[1]);
}

static void take_parameter(struct search *s, const char *name)
{
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        if (is(in, "ld") && in->operand_count == 2 && fits(s, in) &&
            in->operands[1].part_count == 1 &&
            in->operands[1].parts[0].kind == LAB_PTX_OPERAND_SYMBOL &&
            in->operands[1].parts[0].name &&
            strcmp(in->operands[1].parts[0].name, name) == 0)
            s->gives[k] = true;
    }
}

static int number_of_assignments(const struct search *s)
{
    int n = 0;
    for (size_t i = 0; i < s->source->assigned_count; i++)
        n += s->source->assigned[i].variable == s->variable;
    return n;
}

static bool is_number(const struct lab_sim_assigned *a,
                      const struct lab_ptx_operand *o)
{
    float f;
    double d;
    uint32_t low = (uint32_t)o->value;
    memcpy(&f, &low, sizeof(f));
    memcpy(&d, &o->value, sizeof(d));
    if (o->kind == LAB_PTX_OPERAND_F32)
        return f == strtof(a->number, NULL);
    if (o->kind == LAB_PTX_OPERAND_F64)
        return d == strtod(a->number, NULL);
    return o->kind == LAB_PTX_OPERAND_INT &&
           (int64_t)o->value == strtoll(a->number, NULL, 0);
}

/* Many registers begin with 0. One of them is the variable's if a change of the
 * variable is in the same register. */
static bool take_number(struct search *s, const struct lab_sim_assigned *a)
{
    bool any = false;
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        const struct lab_ptx_operand *o =
            fits(s, in) ? moved_number(s, in) : NULL;
        bool number = o && is_number(a, o);
        for (int32_t i = 0; number && i < s->f->instr_count && !s->gives[k];
             i++)
            s->gives[k] = s->gives[i] && i != k &&
                          written_by(&s->f->instrs[i]) == written_by(in);
        any = any || (number && s->gives[k]);
    }
    return any;
}

/* `v = threadIdx.x`: whatever has it, for all statements that need it. */
static bool take_position(struct search *s, const struct lab_sim_assigned *a)
{
    static const char *const names[][2] = {{"threadIdx.", "%tid."},
                                           {"blockIdx.", "%ctaid."},
                                           {"blockDim.", "%ntid."},
                                           {"gridDim.", "%nctaid."}};
    char special[16] = "";
    bool any = false;
    for (size_t i = 0; a->top == 'n' && i < sizeof(names) / sizeof(names[0]);
         i++) {
        size_t n = strlen(names[i][0]);
        if (strncmp(a->number, names[i][0], n) == 0)
            snprintf(special, sizeof(special), "%s%s", names[i][1],
                     a->number + n);
    }
    for (int32_t k = 0; special[0] && k < s->f->instr_count; k++) {
        const struct lab_ptx_instr *in = &s->f->instrs[k];
        if (!fits(s, in) || !is(in, "mov") ||
            in->operands[1].kind != LAB_PTX_OPERAND_SPECIAL ||
            strcmp(in->operands[1].name, special) != 0)
            continue;
        s->gives[k] = true;
        any = true;
    }
    return any;
}

static int parameter_number(const struct search *s, int32_t index);

static bool take_first(struct search *s, const struct lab_sim_assigned *a,
                       bool some)
{
    if (a->top == '#')
        return take_number(s, a);
    return take_position(s, a) || (some && take_value(s, a)) ||
           (a->call[0] && !some && take_returned(s, a));
}

/* The instructions that give a variable its only value. */
static bool find_side(struct search *s, int32_t variable, bool *out)
{
    const struct lab_sim_statements *t = s->source;
    const struct lab_sim_declared *d = &t->declared[variable];
    const int number =
        s->frame.inlined_at < 0 ? parameter_number(s, variable) : -1;
    bool found = false;
    s->variable = variable;
    if (kind_of(d->type) != s->kind || d->elsewhere ||
        number_of_assignments(s) != (number < 0))
        return false;
    memset(s->gives, 0, (size_t)s->f->instr_count * sizeof(*s->gives));
    if (number >= 0)
        take_parameter(s, s->f->params[number].name);
    for (size_t i = 0; i < t->assigned_count; i++) {
        const struct lab_sim_assigned *a = &t->assigned[i];
        if (a->variable == variable &&
            (a->sign != '=' || !take_first(s, a, find_instructions(s, a))))
            return false;
    }
    for (int32_t k = 0; k < s->f->instr_count; k++) {
        out[k] = s->gives[k];
        found = found || out[k];
    }
    return found;
}

/* The register that has the variable before instruction `at`; UNKNOWN. */
static int32_t find_register(struct search *s, int32_t at, const char *param)
{
    const struct lab_sim_statements *t = s->source;
    bool lost = false;
    memset(s->gives, 0, (size_t)s->f->instr_count * sizeof(*s->gives));
    if (param)
        take_parameter(s, param);
    /* Changes first: they name what the first value is in. */
    for (int changes = 1; changes >= 0; changes--)
        for (size_t i = 0; i < t->assigned_count; i++) {
            const struct lab_sim_assigned *a = &t->assigned[i];
            if (a->variable != s->variable || (a->sign != '=') != changes)
                continue;
            bool some = find_instructions(s, a);
            bool found =
                changes ? some && take_changed(s, a) : take_first(s, a, some);
            if (!found && !changes && !param && number_of_assignments(s) == 1)
                found = take_divided(s, a);
            bool first =
                !changes && t->declared[s->variable].first == a->line[0];
            bool loses = !found && !(first && (a->top == '#' || !some));
            lost = lost || (loses && may_have_run(a, s->frame.line));
        }
    if (lost)
        return UNKNOWN;
    enum { ROUNDS = 4 };
    follow(s);
    for (int k = 0; k < ROUNDS && take_copies(s); k++)
        follow(s);
    return at >= 0 && at < s->f->instr_count && s->held[at] >= 0 ? s->held[at]
                                                                 : UNKNOWN;
}

/* ---- all of them ---- */

struct listing {
    struct search search;
    struct lab_sim_warp_view warp;
    int index;
    int32_t at; /* the next instruction in the function; -1 */
    struct lab_sim_variable *out;
    int most;
    int count;
};

static bool is_listed(const struct listing *l, const char *name)
{
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->out[i].name, name) == 0)
            return true;
    return false;
}

static struct lab_sim_variable *add(struct listing *l, const char *name,
                                    const char *type)
{
    if (l->count == l->most || is_listed(l, name))
        return NULL;
    struct lab_sim_variable *v = &l->out[l->count++];
    *v = (struct lab_sim_variable){.reg = -1, .held = LAB_SIM_HELD_NOT};
    snprintf(v->name, sizeof(v->name), "%s", name);
    snprintf(v->type, sizeof(v->type), "%s", type);
    return v;
}

static void all_lanes(struct lab_sim_variable *v, uint32_t lanes,
                      uint64_t value)
{
    v->held = LAB_SIM_HELD_KNOWN;
    v->lanes = lanes;
    for (int k = 0; k < SIM_LANES; k++)
        v->value[k] = value;
}

/* A number that is the variable's only value; the compiler keeps none. */
static void keep_number(const struct listing *l, struct lab_sim_variable *v,
                        const struct lab_sim_assigned *a)
{
    float f = strtof(a->number, NULL);
    double d = strtod(a->number, NULL);
    uint64_t bits = (uint64_t)strtoll(a->number, NULL, 0);
    if (v->as == LAB_PTX_F32) {
        uint32_t low;
        memcpy(&low, &f, sizeof(low));
        bits = low;
    } else if (v->as == LAB_PTX_F64)
        memcpy(&bits, &d, sizeof(bits));
    all_lanes(v, l->warp.lanes, bits);
}

static void add_local(struct listing *l, int32_t index, int parameter)
{
    struct search *s = &l->search;
    const struct lab_sim_declared *d = &s->source->declared[index];
    struct lab_sim_variable *v = add(l, d->name, d->type);
    if (!v)
        return;
    s->variable = index;
    s->kind = kind_of(d->type);
    v->as = type_of_kind(s->kind, d->type);
    v->pointer = s->kind == 'p';
    /* A constant is not changed by what has its address. */
    if (d->elsewhere && (v->pointer || !has_word(d->type, "const")))
        return;
    const int assignments = number_of_assignments(s);
    const char *param = parameter >= 0 ? s->f->params[parameter].name : NULL;
    if (param && assignments == 0) {
        uint64_t value;
        if (s->kind && lab_sim_debug_parameter(s->debug, parameter, &value))
            all_lanes(v, l->warp.lanes, value);
        return;
    }
    int32_t reg = s->kind ? find_register(s, l->at, param) : UNKNOWN;
    enum lab_ptx_type type;
    if (reg != UNKNOWN &&
        !lab_sim_debug_register(s->debug, l->index, s->f->regs[reg].name,
                                v->value, &type)) {
        v->held = LAB_SIM_HELD_REGISTER;
        v->reg = reg;
        v->lanes = l->warp.active;
        return;
    }
    /* Another variable can change through a pointer, a reference, a macro or asm. */
    const bool fixed = strstr(d->type, "const") != NULL;
    for (size_t i = 0; s->kind && fixed && assignments == 1 && !param &&
                       i < s->source->assigned_count;
         i++) {
        const struct lab_sim_assigned *a = &s->source->assigned[i];
        if (a->variable == index && a->top == '#' && a->sign == '=')
            keep_number(l, v, a);
    }
}

/* The number of a declared parameter among those of its function; -1: none, or not the
 * kernel's. */
static int parameter_number(const struct search *s, int32_t index)
{
    const struct lab_sim_declared *d = s->source->declared;
    int n = 0;
    int of = 0;
    if (!d[index].parameter)
        return -1;
    for (size_t i = 0; i < s->source->declared_count; i++)
        if (d[i].parameter && d[i].body == d[index].body) {
            of++;
            n += (int32_t)i < index;
        }
    return of == s->f->param_count ? n : -1;
}

/* Of the function that the frame is in, the innermost block's first. */
static void add_frame(struct listing *l, bool outermost)
{
    struct search *s = &l->search;
    const int32_t line = s->frame.line;
    int32_t body = -1;
    for (size_t i = 0; i < s->source->declared_count; i++) {
        const struct lab_sim_declared *d = &s->source->declared[i];
        if (d->first <= line && line <= d->last && d->body > body)
            body = d->body;
    }
    for (size_t i = s->source->declared_count; i-- > 0;) {
        const struct lab_sim_declared *d = &s->source->declared[i];
        if (d->body == body && d->first <= line && line <= d->last)
            add_local(l, (int32_t)i,
                      outermost ? parameter_number(s, (int32_t)i) : -1);
    }
}

static void add_position(struct listing *l)
{
    static const char *const parts[] = {"threadIdx", "blockIdx", "blockDim",
                                        "gridDim"};
    static const char axes[] = "xyz";
    for (int part = 0; part < 4; part++)
        for (int axis = 0; axis < 3; axis++) {
            char name[48];
            uint32_t grid[3];
            uint32_t block[3];
            uint32_t at[3];
            int warp;
            int warps;
            lab_sim_debug_shape(l->search.debug, grid, block);
            lab_sim_debug_where(l->search.debug, at, &warp, &warps);
            snprintf(name, sizeof(name), "%s.%c", parts[part], axes[axis]);
            bool flat = part % 2 == 0 ? block[axis] == 1 : grid[axis] == 1;
            struct lab_sim_variable *v =
                axis > 0 && flat ? NULL : add(l, name, "unsigned");
            if (!v)
                continue;
            v->as = LAB_PTX_U32;
            all_lanes(v, l->warp.lanes,
                      part == 1   ? at[axis]
                      : part == 2 ? block[axis]
                                  : grid[axis]);
            for (int lane = 0; part == 0 && lane < SIM_LANES; lane++) {
                lab_sim_debug_thread_of(l->search.debug, l->index, lane, at);
                v->value[lane] = at[axis];
            }
        }
}

static enum lab_status add_frames(struct listing *l, lab_sim_text_fn *text,
                                  void *user)
{
    struct search *s = &l->search;
    enum lab_status st = LAB_OK;
    for (int32_t p = l->warp.place; p >= 0 && !st;
         p = s->ptx->places[p].inlined_at) {
        const struct lab_ptx_place *at = &s->ptx->places[p];
        const char *source;
        size_t bytes;
        struct lab_sim_statements statements;
        if (!text(user, at->file, &source, &bytes))
            continue;
        st = lab_sim_statements_read(source, bytes, &statements);
        if (st)
            return st;
        s->source = &statements;
        s->frame = (struct frame){at->file, at->line, at->inlined_at};
        add_frame(l, at->inlined_at < 0);
        lab_sim_statements_release(&statements);
    }
    return st;
}

enum lab_status lab_sim_variables(const struct lab_sim_debug *d, int warp,
                                  lab_sim_text_fn *text, void *user,
                                  struct lab_sim_variable *out, int most,
                                  int *count)
{
    struct listing l = {.search = {.text = text,
                                   .user = user,
                                   .debug = d,
                                   .ptx = lab_sim_debug_ptx(d),
                                   .f = lab_sim_debug_function(d)},
                        .index = warp,
                        .at = -1,
                        .out = out,
                        .most = most};
    const struct lab_ptx_function *f = l.search.f;
    const size_t n = (size_t)f->instr_count + 1;
    enum lab_status st = LAB_OK;
    lab_sim_debug_warp(d, warp, &l.warp);
    for (int32_t k = 0; k < f->instr_count && l.at < 0; k++)
        if (f->instrs[k].text_line == l.warp.text_line)
            l.at = k;
    l.search.in = lab_alloc_array(n, sizeof(*l.search.in));
    l.search.gives = lab_alloc_array(n, sizeof(*l.search.gives));
    l.search.held = lab_alloc_array(n, sizeof(*l.search.held));
    for (int k = 0; k < 2; k++)
        l.search.side[k] = lab_alloc_array(n, sizeof(*l.search.side[k]));
    if (!l.search.in || !l.search.gives || !l.search.held ||
        !l.search.side[0] || !l.search.side[1])
        st = lab_no_memory("the variables of a kernel");
    else if (l.at >= 0)
        st = add_frames(&l, text, user);
    if (!st)
        add_position(&l);
    lab_free(l.search.side[0]);
    lab_free(l.search.side[1]);
    lab_free(l.search.in);
    lab_free(l.search.gives);
    lab_free(l.search.held);
    *count = l.count;
    return st;
}
