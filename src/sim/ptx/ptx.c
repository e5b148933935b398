/* ptx.c -- reads PTX text: declarations, functions, instructions with their
 * operands, the line table. One pass; what a name means is found when it is read,
 * a label and an address of a variable when the scope ends.
 *
 * Names are interned, and each knows the innermost symbol that it is bound to, so
 * that a look-up is one step at any depth. A range of registers, %r<12>, is one
 * symbol; a register exists from its first use on. So the memory that is taken
 * depends on the length of the text and on no number in it. */
#include "sim/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"

enum {
    NEWEST = 90, /* version of PTX that is known */
    MOST_SCOPES = 64,
    MOST_NESTED = 8, /* of vectors and of dimensions */
    MOST_TERMS = 64, /* parentheses and signs of an expression */
    MOST_INLINED = 256,
    MOST_ALIGN = 1 << 16
};

#define MOST_TEXT ((size_t)1 << 30)
#define MOST_BYTES (INT64_MAX / 64) /* of a variable */

/* ---- types ---- */

static const struct {
    const char *name;
    int bytes;
} types[LAB_PTX_TYPE_COUNT] = {
    [LAB_PTX_NO_TYPE] = {"", 0},      [LAB_PTX_PRED] = {"pred", 0},
    [LAB_PTX_B8] = {"b8", 1},         [LAB_PTX_B16] = {"b16", 2},
    [LAB_PTX_B32] = {"b32", 4},       [LAB_PTX_B64] = {"b64", 8},
    [LAB_PTX_B128] = {"b128", 16},    [LAB_PTX_U8] = {"u8", 1},
    [LAB_PTX_U16] = {"u16", 2},       [LAB_PTX_U32] = {"u32", 4},
    [LAB_PTX_U64] = {"u64", 8},       [LAB_PTX_S8] = {"s8", 1},
    [LAB_PTX_S16] = {"s16", 2},       [LAB_PTX_S32] = {"s32", 4},
    [LAB_PTX_S64] = {"s64", 8},       [LAB_PTX_U16X2] = {"u16x2", 4},
    [LAB_PTX_S16X2] = {"s16x2", 4},   [LAB_PTX_F16] = {"f16", 2},
    [LAB_PTX_F16X2] = {"f16x2", 4},   [LAB_PTX_BF16] = {"bf16", 2},
    [LAB_PTX_BF16X2] = {"bf16x2", 4}, [LAB_PTX_TF32] = {"tf32", 4},
    [LAB_PTX_E4M3] = {"e4m3", 1},     [LAB_PTX_E5M2] = {"e5m2", 1},
    [LAB_PTX_F32] = {"f32", 4},       [LAB_PTX_F64] = {"f64", 8},
};

int lab_ptx_type_bytes(enum lab_ptx_type type)
{
    return type < LAB_PTX_TYPE_COUNT ? types[type].bytes : 0;
}

enum lab_ptx_type lab_ptx_type_of(const char *text)
{
    if (*text == '.')
        text++;
    for (int i = LAB_PTX_NO_TYPE + 1; i < LAB_PTX_TYPE_COUNT; i++)
        if (strcmp(types[i].name, text) == 0)
            return (enum lab_ptx_type)i;
    return LAB_PTX_NO_TYPE;
}

/* ---- the reader ---- */

enum symbol_kind {
    IS_REG,
    IS_RANGE,    /* of registers */
    IS_GLOBAL,   /* variable of the module */
    IS_VARIABLE, /* of the function */
    IS_PARAM,
    IS_RESULT,
    IS_FUNCTION,
    IS_LABEL,
    IS_TARGETS, /* of brx.idx */
    IS_PROTOTYPE,
    IS_STRING /* of .debug_str */
};

struct symbol {
    enum symbol_kind kind;
    int depth;              /* of its scope */
    int64_t index;          /* of a range: how many; of a string: its offset */
    enum lab_ptx_type type; /* of registers */
    const struct lab_ptx_operand *labels; /* of IS_TARGETS */
    int32_t label_count;
    struct name *name;
    struct symbol *hidden; /* that the name means outside of this scope */
    struct symbol *next;   /* in the scope */
};

struct name {
    uint32_t hash;
    uint32_t number; /* 12 of "%r12", where `stem` is given */
    struct name *stem;
    struct symbol *bound;
    bool shared_inside; /* a .shared variable of some function */
    size_t length;
    /* An opcode with modifiers, once it was taken apart. */
    const char *opcode;
    const char *const *modifiers;
    int32_t modifier_count;
    char text[];
};

struct list {
    void *items;
    size_t count;
    size_t room;
};

struct scope {
    struct symbol *first;
    size_t waiting; /* where its part of reader.waiting begins */
};

/* An operand that names a label, which may still come. */
struct waiting {
    struct lab_ptx_operand *operand;
    struct name *name;
    int32_t line;
};

/* A name in an initial value, of a variable in a function that is still to come. */
struct forward {
    const struct name *name;
    int32_t line;
};

/* An operand that names a variable; the list of these may still move. */
struct variable_use {
    struct lab_ptx_operand *operand;
    enum symbol_kind kind;
    int64_t index;
};

/* An operand of an instruction that is being read. */
struct open_operand {
    struct lab_ptx_operand o;
    struct name *name;     /* NULL: `o` is complete */
    struct symbol *symbol; /* NULL: not known yet */
};

struct open_place {
    struct lab_ptx_place place;
    struct name *label; /* in .debug_str, of the function */
    int64_t offset;     /* from it */
    int32_t function;   /* in which it was seen last */
    int32_t depth;      /* how many calls it is inlined in */
};

struct file_name {
    int64_t number;
    const char *path;
};

struct module {
    struct lab_ptx ptx;
    struct lab_arena arena;
};

struct reader {
    const char *at;
    const char *end; /* holds a NUL */
    int32_t line;
    size_t bytes;
    const char *file; /* name of the text */
    enum lab_status st;
    struct module *module;
    struct lab_arena scratch;

    struct name **names; /* open addressing; a power of two */
    size_t name_count;
    size_t name_room;

    int depth; /* 0: module, 1: function */
    struct scope scopes[MOST_SCOPES];
    struct list waiting;  /* struct waiting */
    struct list operands; /* struct open_operand */
    bool call;            /* the instruction is a call */

    /* of the module */
    struct list variables;
    struct list functions;
    struct list files;     /* struct file_name */
    struct list strings;   /* bytes of .debug_str */
    struct list places;    /* struct open_place */
    int32_t *place_slots;  /* by all that a place is; -1: none */
    int32_t *newest_slots; /* by file, line and column: the newest of them */
    size_t place_room;
    struct list global_uses; /* struct variable_use */
    struct list forwards;    /* struct forward */

    /* of the function */
    int32_t function; /* its number among those with a body, from 1 */
    int32_t place;    /* of the instructions that come; -1: none */
    int32_t near;     /* the last one that was known, of this function */
    struct list regs;
    struct list instrs;
    struct list locals;
    struct list local_uses;

    /* of a list of parameters, of an initialiser */
    struct list params;
    struct list init;
    struct list addresses;
};

/* ---- errors ---- */

static bool wrong_at(struct reader *r, int32_t line, const char *format, ...)
    LAB_PRINTF(3, 4);

static bool wrong_at(struct reader *r, int32_t line, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    r->st = lab_fail(LAB_E_PARSE, "[ptx.syntax] %.200s:%d: %s", r->file, line,
                     text);
    return false;
}

#define wrong(r, ...) wrong_at(r, (r)->line, __VA_ARGS__)

static bool no_memory(struct reader *r)
{
    r->st = lab_no_memory("PTX");
    return false;
}

/* ---- memory ---- */

/* A new zeroed item; NULL: no memory. */
static void *add(struct reader *r, struct list *l, size_t each)
{
    enum lab_status st = lab_grow(&l->items, l->count, &l->room, each, "PTX");
    if (st) {
        r->st = st;
        return NULL;
    }
    return memset((char *)l->items + l->count++ * each, 0, each);
}

static void *take(struct reader *r, size_t count, size_t each)
{
    void *p = lab_arena_array(&r->module->arena, count, each);
    if (!p)
        no_memory(r);
    return p;
}

/* Moves the items from `from` on into the module; NULL: none, or no memory. */
static void *keep(struct reader *r, struct list *l, size_t from, size_t each)
{
    size_t n = l->count - from;
    void *p = n ? take(r, n, each) : NULL;
    if (p)
        memcpy(p, (char *)l->items + from * each, n * each);
    l->count = from;
    return p;
}

/* ---- characters ---- */

enum { BLANK = 1, WORD = 2, FIRST = 4, DIGIT = 8, HEX = 16 };

static unsigned char_is(char c)
{
    unsigned u = (unsigned char)c;
    unsigned is = 0;
    if (u >= '0' && u <= '9')
        is = WORD | DIGIT | HEX;
    else if ((u | 32u) >= 'a' && (u | 32u) <= 'z')
        is = WORD | FIRST | ((u | 32u) <= 'f' ? HEX : 0u);
    else if (u == '_' || u == '$')
        is = WORD | FIRST;
    else if (u == '%')
        is = FIRST;
    else if (u == ' ' || (u >= '\t' && u <= '\r'))
        is = BLANK;
    return is;
}

static void to_line_end(struct reader *r)
{
    while (r->at < r->end && *r->at != '\n')
        r->at++;
}

/* Past blanks and comments. */
static void skip(struct reader *r)
{
    for (;;) {
        const char *p = r->at;
        if (*p == '\n') {
            r->line++;
            r->at++;
        } else if (char_is(*p) & BLANK) {
            r->at++;
        } else if (*p == '#' || (p[0] == '/' && p[1] == '/') ||
                   (p[0] == '@' && p[1] == '@')) {
            to_line_end(r);
        } else if (p[0] == '/' && p[1] == '*') {
            int32_t from = r->line;
            for (p += 2; p < r->end && !(p[0] == '*' && p[1] == '/'); p++)
                r->line += *p == '\n';
            if (p == r->end && !r->st)
                wrong_at(r, from, "a comment has no end, expected */");
            r->at = p == r->end ? p : p + 2;
        } else {
            return;
        }
    }
}

static char peek(struct reader *r)
{
    skip(r);
    return *r->at;
}

/* What comes next, for a message. */
static const char *got(struct reader *r, char out[48])
{
    skip(r);
    size_t n = 0;
    unsigned char c = (unsigned char)*r->at;
    if (r->at == r->end)
        return "the end of the text";
    while (n < 40 && char_is(r->at[n]) & (WORD | FIRST))
        n++;
    if (n)
        snprintf(out, 48, "'%.*s'", (int)n, r->at);
    else if (c > ' ' && c < 0x7F)
        snprintf(out, 48, "'%c'", c);
    else
        snprintf(out, 48, "a byte 0x%02X", c);
    return out;
}

static bool expected(struct reader *r, const char *what)
{
    char text[48];
    if (r->st)
        return false;
    const char *next = got(r, text);
    return r->st ? false : wrong(r, "expected %s, got %s", what, next);
}

static bool accept(struct reader *r, char c)
{
    if (peek(r) != c || r->at == r->end)
        return false;
    r->at++;
    return true;
}

static bool expect(struct reader *r, char c, const char *where)
{
    char what[64];
    if (accept(r, c))
        return true;
    snprintf(what, sizeof(what), "'%c' %s", c, where);
    return expected(r, what);
}

/* ---- names ---- */

static uint32_t hash_of(const char *text, size_t n)
{
    uint64_t h = n;
    while (n > 0) {
        uint64_t word = 0;
        size_t part = n < sizeof(word) ? n : sizeof(word);
        memcpy(&word, text, part);
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
        text += part;
        n -= part;
    }
    return (uint32_t)h;
}

static bool grow_names(struct reader *r)
{
    size_t room = r->name_room ? r->name_room * 2 : 1024;
    struct name **names = lab_alloc_array(room, sizeof(*names));
    if (!names)
        return no_memory(r);
    for (size_t i = 0; i < r->name_room; i++) {
        struct name *n = r->names[i];
        if (!n)
            continue;
        size_t k = n->hash & (room - 1);
        while (names[k])
            k = (k + 1) & (room - 1);
        names[k] = n;
    }
    lab_free(r->names);
    r->names = names;
    r->name_room = room;
    return true;
}

static struct name *intern(struct reader *r, const char *text, size_t n)
{
    if (r->name_count * 2 >= r->name_room && !grow_names(r))
        return NULL;
    uint32_t hash = hash_of(text, n);
    size_t k = hash & (r->name_room - 1);
    for (struct name *have; (have = r->names[k]);
         k = (k + 1) & (r->name_room - 1))
        if (have->hash == hash && have->length == n &&
            memcmp(have->text, text, n) == 0)
            return have;
    struct name *name = take(r, 1, sizeof(*name) + n + 1);
    if (!name)
        return NULL;
    name->hash = hash;
    name->length = n;
    memcpy(name->text, text, n);
    r->names[k] = name;
    r->name_count++;
    return name;
}

/* The number at the end of a name from `from` on, if it is written as a register
 * of a range would be; -1: it is not. */
static int64_t number_from(const char *text, size_t from, size_t n)
{
    int64_t v = 0;
    if (from == n || n - from > 10 || (text[from] == '0' && n - from > 1))
        return -1;
    for (size_t i = from; i < n; i++)
        v = v * 10 + (text[i] - '0');
    return v <= INT32_MAX ? v : -1;
}

static size_t digits_from(const char *text, size_t n)
{
    while (n > 0 && char_is(text[n - 1]) & DIGIT)
        n--;
    return n;
}

/* A name of the text; NULL: it cannot be one, or no memory. */
static struct name *take_name(struct reader *r, const char *what)
{
    skip(r);
    const char *from = r->at;
    const char *p = from;
    if (!(char_is(*p) & FIRST)) {
        expected(r, what);
        return NULL;
    }
    do
        p++;
    while (char_is(*p) & WORD);
    if (*from == '%' && p == from + 1) {
        expected(r, what);
        return NULL;
    }
    size_t n = (size_t)(p - from);
    struct name *name = intern(r, from, n);
    r->at = p;
    if (name && !name->stem && char_is(p[-1]) & DIGIT) {
        size_t cut = digits_from(name->text, n);
        int64_t number = number_from(name->text, cut, n);
        if (number >= 0) {
            name->stem = intern(r, name->text, cut);
            name->number = (uint32_t)number;
            if (!name->stem)
                return NULL;
        }
    }
    return name;
}

/* ---- symbols ---- */

static struct symbol *bind_at(struct reader *r, struct name *name,
                              enum symbol_kind kind, int depth)
{
    if (name->bound && name->bound->depth == depth) {
        wrong(r, "%.200s is declared twice", name->text);
        return NULL;
    }
    struct symbol *s = lab_arena_take(&r->scratch, sizeof(*s));
    if (!s) {
        no_memory(r);
        return NULL;
    }
    s->kind = kind;
    s->depth = depth;
    s->name = name;
    s->hidden = name->bound;
    s->next = r->scopes[depth].first;
    r->scopes[depth].first = s;
    name->bound = s;
    return s;
}

static struct symbol *bind(struct reader *r, struct name *name,
                           enum symbol_kind kind)
{
    return bind_at(r, name, kind, r->depth);
}

/* The range that a register belongs to, when it is deeper than `depth`. */
static struct symbol *range_of(const struct name *stem, int64_t number,
                               int depth)
{
    struct symbol *s = stem->bound;
    while (s && s->depth > depth && (s->kind != IS_RANGE || number >= s->index))
        s = s->hidden;
    return s && s->depth > depth ? s : NULL;
}

static bool new_reg(struct reader *r, const struct name *name,
                    enum lab_ptx_type type, struct symbol *s)
{
    struct lab_ptx_reg *reg = add(r, &r->regs, sizeof(*reg));
    if (!s || !reg)
        return false;
    s->type = type;
    s->index = (int64_t)r->regs.count - 1;
    reg->name = name->text;
    reg->type = type;
    return true;
}

/* What a name means here, NULL: nothing yet; r->st is set where that is an error. */
static struct symbol *find(struct reader *r, struct name *name)
{
    struct symbol *s = name->bound;
    int depth = s ? s->depth : -1;
    struct symbol *range =
        name->stem ? range_of(name->stem, name->number, depth) : NULL;
    if (!range && !s && name->stem) {
        /* A range with a name that ends in digits: %r1<5> has %r14. */
        size_t n = name->length;
        size_t first = digits_from(name->text, n);
        for (size_t cut = first + 1; cut < n && !range; cut++) {
            int64_t number = number_from(name->text, cut, n);
            struct name *stem = number < 0 ? NULL : intern(r, name->text, cut);
            if (stem)
                range = range_of(stem, number, depth);
        }
    }
    if (!range)
        return s;
    s = bind_at(r, name, IS_REG, range->depth);
    return new_reg(r, name, range->type, s) ? s : NULL;
}

static bool open_scope(struct reader *r)
{
    if (r->depth + 1 >= MOST_SCOPES)
        return wrong(r, "more than %d nested scopes", MOST_SCOPES - 2);
    r->depth++;
    r->scopes[r->depth].first = NULL;
    r->scopes[r->depth].waiting = r->waiting.count;
    return true;
}

/* Makes an operand of what its name means. */
static bool settle(struct reader *r, struct lab_ptx_operand *o,
                   const struct name *name, const struct symbol *s)
{
    o->name = name->text;
    o->kind = LAB_PTX_OPERAND_SYMBOL;
    switch (s->kind) {
    case IS_REG:
        o->kind = LAB_PTX_OPERAND_REG;
        o->reg = (int32_t)s->index;
        return true;
    case IS_LABEL:
        o->kind = LAB_PTX_OPERAND_LABEL;
        o->target = (int32_t)s->index;
        return true;
    case IS_TARGETS:
        o->kind = LAB_PTX_OPERAND_VECTOR;
        o->parts = s->labels;
        o->part_count = s->label_count;
        return true;
    case IS_FUNCTION:
    case IS_PROTOTYPE:
        return true;
    case IS_RANGE:
    case IS_STRING:
        return wrong(r, "%.200s is no operand", name->text);
    default:
        break;
    }
    struct variable_use *use =
        add(r, s->kind == IS_GLOBAL ? &r->global_uses : &r->local_uses,
            sizeof(*use));
    if (!use)
        return false;
    use->operand = o;
    use->kind = s->kind;
    use->index = s->index;
    return true;
}

/* Labels of this scope are known now; other names may be of the next one. */
static bool close_scope(struct reader *r)
{
    struct scope *scope = &r->scopes[r->depth];
    struct waiting *w = r->waiting.items;
    size_t left = scope->waiting;
    for (size_t i = scope->waiting; i < r->waiting.count; i++) {
        struct symbol *s = w[i].name->bound;
        if (s && (s->depth == r->depth || r->depth == 1)) {
            if (!settle(r, w[i].operand, w[i].name, s))
                return false;
        } else if (r->depth > 1) {
            w[left++] = w[i];
        } else {
            return wrong_at(r, w[i].line,
                            "%.200s is neither declared nor a label here",
                            w[i].name->text);
        }
    }
    r->waiting.count = left;
    for (struct symbol *s = scope->first; s; s = s->next)
        s->name->bound = s->hidden;
    scope->first = NULL;
    r->depth--;
    return true;
}

/* ---- numbers and constant expressions ---- */

struct constant {
    enum lab_ptx_operand_kind kind; /* INT, F32, F64 */
    bool is_unsigned;
    uint64_t value;
};

static bool too_large(struct reader *r)
{
    return wrong(r, "a number of more than 64 bits");
}

static int digit_of(char c)
{
    if (char_is(c) & DIGIT)
        return c - '0';
    return char_is(c) & HEX ? (c | 32) - 'a' + 10 : 99;
}

static bool take_bits(struct reader *r, int digits, struct constant *out)
{
    const char *p = r->at + 2;
    for (int i = 0; i < digits; i++, p++) {
        if (!(char_is(*p) & HEX))
            return wrong(r, "expected %d hexadecimal digits after %.2s", digits,
                         r->at);
        out->value = out->value << 4 | (uint64_t)digit_of(*p);
    }
    r->at = p;
    out->kind = digits == 8 ? LAB_PTX_OPERAND_F32 : LAB_PTX_OPERAND_F64;
    return true;
}

/* 1.5, 2., 1e-3: at most 63 characters. */
static bool take_decimal(struct reader *r, struct constant *out)
{
    char text[64];
    size_t n = strspn(r->at, "0123456789.");
    if ((r->at[n] | 32) == 'e') {
        n++;
        n += r->at[n] == '-' || r->at[n] == '+';
        n += strspn(r->at + n, "0123456789");
    }
    if (n >= sizeof(text))
        return wrong(r, "a number of more than %zu characters",
                     sizeof(text) - 1);
    memcpy(text, r->at, n);
    text[n] = 0;
    char *end;
    double v = strtod(text, &end);
    if (*end)
        return wrong(r, "%s is no number", text);
    memcpy(&out->value, &v, sizeof(v));
    out->kind = LAB_PTX_OPERAND_F64;
    r->at += n;
    return true;
}

static bool take_number(struct reader *r, struct constant *out)
{
    const char *p = r->at;
    int base = 10;
    *out = (struct constant){.kind = LAB_PTX_OPERAND_INT};
    if (!(char_is(*p) & DIGIT))
        return expected(r, "a number");
    char second = (char)(p[1] | 32);
    if (p[0] == '0' && (second == 'f' || second == 'd')) {
        if (!take_bits(r, second == 'f' ? 8 : 16, out))
            return false;
    } else {
        size_t n = strspn(p, "0123456789");
        bool exponent =
            (p[n] | 32) == 'e' &&
            (char_is(p[n + 1]) & DIGIT || p[n + 1] == '-' || p[n + 1] == '+');
        if (p[n] == '.' || exponent) {
            if (!take_decimal(r, out))
                return false;
        } else {
            if (p[0] == '0' && second == 'x')
                base = 16;
            else if (p[0] == '0' && second == 'b')
                base = 2;
            else if (p[0] == '0')
                base = 8;
            p += base == 16 || base == 2 ? 2 : 0;
            const char *from = p;
            for (; digit_of(*p) < base; p++) {
                uint64_t digit = (uint64_t)digit_of(*p);
                if (out->value > (UINT64_MAX - digit) / (uint64_t)base)
                    return too_large(r);
                out->value = out->value * (uint64_t)base + digit;
            }
            r->at = p;
            if (p == from)
                return expected(r, "digits after 0x or 0b");
            out->is_unsigned = *p == 'U' || out->value > INT64_MAX;
            r->at = p + (*p == 'U');
        }
    }
    return char_is(*r->at) & WORD ? expected(r, "the end of a number") : true;
}

static bool take_expression(struct reader *r, int level, int depth,
                            struct constant *out);

/* (.s64) or (.u64) before a value; '(' was read. */
static bool take_cast(struct reader *r, int depth, struct constant *out)
{
    bool is_unsigned = r->at[1] == 'u';
    if (strncmp(r->at, ".s64", 4) != 0 && strncmp(r->at, ".u64", 4) != 0)
        return expected(r, ".s64 or .u64");
    r->at += 4;
    if (!expect(r, ')', "after the type") ||
        !take_expression(r, 99, depth + 1, out))
        return false;
    out->is_unsigned = is_unsigned;
    return out->kind == LAB_PTX_OPERAND_INT ? true
                                            : wrong(r, "a cast of a float");
}

static bool take_unary(struct reader *r, int depth, struct constant *out)
{
    char c = peek(r);
    if (depth > MOST_TERMS)
        return wrong(r, "an expression of more than %d nested terms",
                     MOST_TERMS);
    if (c == '(') {
        r->at++;
        if (peek(r) == '.')
            return take_cast(r, depth, out);
        return take_expression(r, 0, depth + 1, out) &&
               expect(r, ')', "after the expression");
    }
    if (strncmp(r->at, "WARP_SZ", 7) == 0 && !(char_is(r->at[7]) & WORD)) {
        r->at += 7;
        *out = (struct constant){.kind = LAB_PTX_OPERAND_INT, .value = 32};
        return true;
    }
    if (c != '-' && c != '+' && c != '~' && c != '!')
        return take_number(r, out);
    r->at++;
    if (!take_unary(r, depth + 1, out))
        return false;
    bool integer = out->kind == LAB_PTX_OPERAND_INT;
    if (!integer && (c == '~' || c == '!'))
        return wrong(r, "%c of a float", c);
    if (c == '-' && integer)
        out->value = 0 - out->value;
    else if (c == '-')
        out->value ^= out->kind == LAB_PTX_OPERAND_F32 ? (uint64_t)1 << 31
                                                       : (uint64_t)1 << 63;
    else if (c == '~')
        out->value = ~out->value;
    else if (c == '!')
        out->value = !out->value;
    return true;
}

/* Longer ones first. */
static const struct infix {
    const char *text;
    int level;
} operators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
    {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
    {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

static const struct infix *next_operator(struct reader *r)
{
    /* Not past the end of the line: what comes there is another statement. */
    while (*r->at != '\n' && char_is(*r->at) & BLANK)
        r->at++;
    if (!*r->at || !strchr("|&=!<>^+-*/%", *r->at))
        return NULL;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (strncmp(r->at, operators[i].text, strlen(operators[i].text)) == 0)
            return &operators[i];
    return NULL;
}

/* a / b and a % b, where b is not 0. */
static uint64_t divided(uint64_t a, uint64_t b, bool is_unsigned, bool rest)
{
    if (is_unsigned)
        return rest ? a % b : a / b;
    if (b == UINT64_MAX) /* by -1 */
        return rest ? 0 : 0 - a;
    int64_t x = (int64_t)a;
    int64_t y = (int64_t)b;
    return (uint64_t)(rest ? x % y : x / y);
}

static bool apply(struct reader *r, const char *op, struct constant *a,
                  const struct constant *b)
{
    uint64_t x = a->value;
    uint64_t y = b->value;
    bool u = a->is_unsigned || b->is_unsigned;
    bool less = u ? x < y : (int64_t)x < (int64_t)y;
    bool shift = op[0] == op[1] && (op[0] == '<' || op[0] == '>');
    if (a->kind != LAB_PTX_OPERAND_INT || b->kind != LAB_PTX_OPERAND_INT)
        return wrong(r, "'%s' between floats", op);
    if ((op[0] == '/' || op[0] == '%') && y == 0)
        return wrong(r, "a division by 0");
    switch (op[0]) {
    case '+':
        x += y;
        break;
    case '-':
        x -= y;
        break;
    case '*':
        x *= y;
        break;
    case '/':
    case '%':
        x = divided(x, y, u, op[0] == '%');
        break;
    case '|':
        x = op[1] ? x || y : x | y;
        break;
    case '&':
        x = op[1] ? x && y : x & y;
        break;
    case '^':
        x ^= y;
        break;
    case '=':
        x = x == y;
        break;
    case '!':
        x = x != y;
        break;
    case '<':
        if (shift)
            x = y > 63 ? 0 : x << y;
        else
            x = op[1] ? less || x == y : less;
        break;
    default: /* '>' */
        if (shift && a->is_unsigned)
            x = y > 63 ? 0 : x >> y;
        else if (shift)
            x = (uint64_t)((int64_t)x >> (y > 63 ? 63 : y));
        else
            x = op[1] ? !less : !less && x != y;
    }
    a->value = x;
    a->is_unsigned = shift ? a->is_unsigned : u;
    return true;
}

/* An expression of operators above `level`. */
static bool take_expression(struct reader *r, int level, int depth,
                            struct constant *out)
{
    const struct infix *op;
    struct constant right;
    if (!take_unary(r, depth, out))
        return false;
    while ((op = next_operator(r)) && op->level > level) {
        r->at += strlen(op->text);
        if (!take_expression(r, op->level, depth + 1, &right) ||
            !apply(r, op->text, out, &right))
            return false;
    }
    if (level == 0 && *r->at == '?') {
        struct constant other;
        r->at++;
        if (!take_expression(r, 0, depth + 1, &right) ||
            !expect(r, ':', "between the sides of '?'") ||
            !take_expression(r, 0, depth + 1, &other))
            return false;
        *out = out->value ? right : other;
    }
    return true;
}

/* An integer between `least` and `most`. */
static bool take_integer(struct reader *r, const char *what, int64_t least,
                         int64_t most, int64_t *out)
{
    struct constant c;
    int32_t line = r->line;
    if (!take_expression(r, 0, 0, &c))
        return false;
    int64_t v = (int64_t)c.value;
    if (c.kind != LAB_PTX_OPERAND_INT || (c.is_unsigned && v < 0) ||
        v < least || v > most)
        return wrong_at(r, line, "%s is not between %lld and %lld", what,
                        (long long)least, (long long)most);
    *out = v;
    return true;
}

/* ---- operands ---- */

static const char *const specials[] = {
    "tid", "ntid", "laneid", "warpid", "nwarpid", "ctaid", "nctaid", "smid",
    "nsmid", "gridid", "is_explicit_cluster", "clusterid", "nclusterid",
    "cluster_ctaid", "cluster_nctaid", "cluster_ctarank", "cluster_nctarank",
    "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt",
    "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo",
    "globaltimer_hi", "total_smem_size", "aggr_smem_size", "dynamic_smem_size",
    "current_graph_exec",
    /* and those with a number */
    "pm", "envreg", "reserved_smem_offset_"};

static bool is_special(const char *name)
{
    enum { COUNT = sizeof(specials) / sizeof(specials[0]), NUMBERED = 3 };
    for (int i = 0; i < COUNT; i++) {
        size_t n = strlen(specials[i]);
        if (strncmp(name, specials[i], n) == 0 &&
            (name[n] == 0 || i >= COUNT - NUMBERED))
            return true;
    }
    return false;
}

/* Moves the operands from `from` on into the module. NULL with r->st set: no
 * memory, or a wrong one. */
static const struct lab_ptx_operand *close_operands(struct reader *r,
                                                    size_t from, int32_t *count)
{
    size_t n = r->operands.count - from;
    const struct open_operand *open = r->operands.items;
    struct lab_ptx_operand *out = take(r, n, sizeof(*out));
    if (!out)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const struct open_operand *o = &open[from + i];
        out[i] = o->o;
        if (o->symbol) {
            if (!settle(r, &out[i], o->name, o->symbol))
                return NULL;
        } else if (o->name) {
            struct waiting *w = add(r, &r->waiting, sizeof(*w));
            if (!w)
                return NULL;
            *w = (struct waiting){&out[i], o->name, r->line};
        }
    }
    r->operands.count = from;
    *count = (int32_t)n;
    return out;
}

static bool push_operand(struct reader *r, const struct open_operand *o)
{
    struct open_operand *to = add(r, &r->operands, sizeof(*to));
    if (to)
        *to = *o;
    return to != NULL;
}

static bool take_operand(struct reader *r, int depth);

/* Operands up to `close`, which is read too, become the parts of one. */
static bool take_parts(struct reader *r, char close, int depth,
                       struct open_operand *out)
{
    size_t from = r->operands.count;
    if (close == '}' || !accept(r, close)) {
        do
            if (!take_operand(r, depth + 1))
                return false;
        while (accept(r, ','));
        if (!expect(r, close, "after a list of operands"))
            return false;
    }
    out->o.kind = LAB_PTX_OPERAND_VECTOR;
    out->o.parts = close_operands(r, from, &out->o.part_count);
    return out->o.parts != NULL;
}

/* ".x" of a special register. */
static bool take_special(struct reader *r, struct open_operand *out)
{
    const char *name = out->name->text;
    if (!is_special(name + 1))
        return wrong(r, "register %.200s is not declared", name);
    if (r->at[0] == '.' && r->at[1] && strchr("xyzw", r->at[1]) &&
        !(char_is(r->at[2]) & WORD)) {
        char text[64];
        snprintf(text, sizeof(text), "%.48s.%c", name, r->at[1]);
        r->at += 2;
        struct name *whole = intern(r, text, strlen(text));
        if (!whole)
            return false;
        name = whole->text;
    }
    out->o.kind = LAB_PTX_OPERAND_SPECIAL;
    out->o.name = name;
    out->name = NULL;
    return true;
}

/* A name and what belongs to it. */
static bool take_named(struct reader *r, struct open_operand *out)
{
    out->name = take_name(r, "an operand");
    if (!out->name)
        return false;
    if (strcmp(out->name->text, "_") == 0) {
        out->o.kind = LAB_PTX_OPERAND_SINK;
        out->name = NULL;
        return true;
    }
    if (strcmp(out->name->text, "WARP_SZ") == 0) {
        out->o.kind = LAB_PTX_OPERAND_INT;
        out->o.value = 32;
        out->name = NULL;
        return true;
    }
    out->symbol = find(r, out->name);
    if (r->st)
        return false;
    if (!out->symbol && out->name->text[0] == '%')
        return take_special(r, out);
    /* The same label may come in this scope and hide one outside. */
    if (out->symbol && out->symbol->kind == IS_LABEL &&
        out->symbol->depth < r->depth)
        out->symbol = NULL;
    return true;
}

static bool take_offset(struct reader *r, uint64_t *out)
{
    struct constant c;
    if (peek(r) != '+' && *r->at != '-')
        return true;
    if (!take_expression(r, 0, 0, &c))
        return false;
    if (c.kind != LAB_PTX_OPERAND_INT)
        return wrong(r, "an offset that is no integer");
    *out = c.value;
    return true;
}

/* '[' was read. */
static bool take_address(struct reader *r, int depth, struct open_operand *out)
{
    struct open_operand base = {0};
    size_t from = r->operands.count;
    uint64_t offset = 0;
    bool named = char_is(peek(r)) & FIRST;
    if (named && (!take_named(r, &base) || !take_offset(r, &offset)))
        return false;
    if (!named) {
        struct constant c;
        if (!take_expression(r, 0, 0, &c))
            return false;
        base.o.kind = c.kind;
        base.o.value = c.value;
    }
    if (!push_operand(r, &base))
        return false;
    while (accept(r, ','))
        if (!take_operand(r, depth + 1))
            return false;
    if (!expect(r, ']', "after an address"))
        return false;
    out->o.kind = LAB_PTX_OPERAND_ADDRESS;
    out->o.value = offset;
    out->o.parts = close_operands(r, from, &out->o.part_count);
    return out->o.parts != NULL;
}

/* %p1|%p2, of which %p1 was read. */
static bool take_pair(struct reader *r, struct open_operand *out)
{
    struct open_operand second = {0};
    size_t from = r->operands.count;
    if (!push_operand(r, out) || !take_named(r, &second) ||
        !push_operand(r, &second))
        return false;
    *out = (struct open_operand){.o.kind = LAB_PTX_OPERAND_PAIR};
    out->o.parts = close_operands(r, from, &out->o.part_count);
    return out->o.parts != NULL;
}

/* Puts one operand on the list. */
static bool take_operand(struct reader *r, int depth)
{
    struct open_operand o = {0};
    char c = peek(r);
    bool ok;
    if (depth > MOST_NESTED)
        return wrong(r, "operands nested more than %d deep", MOST_NESTED);
    if (c == '{' || (c == '(' && r->call)) {
        r->at++;
        ok = take_parts(r, c == '{' ? '}' : ')', depth, &o);
    } else if (c == '[') {
        r->at++;
        ok = take_address(r, depth, &o);
    } else if (char_is(c) & FIRST) {
        ok = take_named(r, &o);
        bool symbol = ok && o.name && (!o.symbol || o.symbol->kind != IS_REG);
        if (symbol)
            ok = take_offset(r, &o.o.value);
        if (ok && accept(r, '|'))
            ok = take_pair(r, &o);
    } else if (c == '!' && char_is(r->at[1]) & FIRST) {
        r->at++;
        ok = take_named(r, &o);
        o.o.negated = true;
        if (ok && (!o.symbol || o.symbol->kind != IS_REG))
            ok = wrong(r, "expected a predicate after '!'");
    } else {
        struct constant k;
        if (r->at == r->end || !strchr("(-+~!0123456789", c))
            return expected(r, "an operand");
        ok = take_expression(r, 0, 0, &k);
        if (ok) {
            o.o.kind = k.kind;
            o.o.value = k.value;
        }
    }
    return ok && push_operand(r, &o);
}

/* ---- instructions ---- */

/* "fma.rn.f32" taken apart, once for each that occurs. */
static bool split_opcode(struct reader *r, struct name *n)
{
    size_t count = 0;
    for (size_t i = 0; i < n->length; i++)
        count += n->text[i] == '.';
    char *text = take(r, 1, n->length + 1);
    const char **modifiers = take(r, count, sizeof(*modifiers));
    if (!text || !modifiers)
        return false;
    memcpy(text, n->text, n->length);
    n->modifiers = modifiers;
    n->modifier_count = (int32_t)count;
    n->opcode = text;
    for (char *p = text; (p = strchr(p, '.'));) {
        *p++ = 0;
        *modifiers++ = p;
        if (!(char_is(*p) & WORD))
            return wrong(r, "an opcode with an empty part: %.200s", n->text);
    }
    return true;
}

/* From the first letter on; `word` was read already. */
static struct name *take_opcode(struct reader *r, const char *from)
{
    while (char_is(*r->at) & WORD || *r->at == '.' || *r->at == ':')
        r->at++;
    struct name *n = intern(r, from, (size_t)(r->at - from));
    if (n && !n->opcode && !split_opcode(r, n))
        return NULL;
    return n;
}

static bool take_guard(struct reader *r, int32_t *guard, bool *negated)
{
    *negated = accept(r, '!');
    struct name *n = take_name(r, "a predicate after '@'");
    if (!n)
        return false;
    struct symbol *s = find(r, n);
    if (r->st)
        return false;
    if (!s || s->kind != IS_REG || s->type != LAB_PTX_PRED)
        return wrong(r, "%.200s is no predicate", n->text);
    *guard = (int32_t)s->index;
    return true;
}

/* The first word of the opcode begins at `from` and was read. */
static bool take_instruction(struct reader *r, const char *from, int32_t guard,
                             bool negated)
{
    int32_t line = r->line;
    size_t first = r->operands.count;
    struct name *opcode = take_opcode(r, from);
    if (!opcode)
        return false;
    r->call = strcmp(opcode->opcode, "call") == 0;
    if (peek(r) != ';') {
        do
            if (!take_operand(r, 0))
                return false;
        while (accept(r, ','));
    }
    if (!expect(r, ';', "after an instruction"))
        return false;
    struct lab_ptx_instr *in = add(r, &r->instrs, sizeof(*in));
    if (!in)
        return false;
    in->opcode = opcode->opcode;
    in->modifiers = opcode->modifiers;
    in->modifier_count = opcode->modifier_count;
    in->guard = guard;
    in->guard_negated = negated;
    in->place = r->place;
    in->near = r->near = r->place >= 0 ? r->place : r->near;
    in->text_line = line;
    in->operands = close_operands(r, first, &in->operand_count);
    return in->operands != NULL;
}

/* ---- directives ---- */

struct word {
    const char *text;
    size_t length;
};

static bool is(struct word w, const char *text)
{
    return strlen(text) == w.length && memcmp(w.text, text, w.length) == 0;
}

/* The word after a '.'; an empty one and r->st: there is none. */
static struct word take_word(struct reader *r)
{
    struct word w = {"", 0};
    if (!expect(r, '.', "before a directive or a type"))
        return w;
    w.text = r->at;
    while (char_is(*r->at) & WORD)
        r->at++;
    w.length = (size_t)(r->at - w.text);
    if (!w.length)
        expected(r, "a word after '.'");
    return w;
}

static enum lab_ptx_type type_of_word(struct word w)
{
    char text[16];
    if (w.length >= sizeof(text))
        return LAB_PTX_NO_TYPE;
    memcpy(text, w.text, w.length);
    text[w.length] = 0;
    return lab_ptx_type_of(text);
}

static int space_of_word(struct word w)
{
    static const char *const names[] = {
        [LAB_PTX_REG] = "reg",       [LAB_PTX_PARAM] = "param",
        [LAB_PTX_CONST] = "const",   [LAB_PTX_GLOBAL] = "global",
        [LAB_PTX_SHARED] = "shared", [LAB_PTX_LOCAL] = "local"};
    for (int i = LAB_PTX_REG; i <= LAB_PTX_LOCAL; i++)
        if (is(w, names[i]))
            return i;
    return -1;
}

/* A text in quotes, with the escapes of C. NULL: none. */
static char *take_string(struct reader *r, size_t *length)
{
    if (!expect(r, '"', "before a text"))
        return NULL;
    const char *from = r->at;
    const char *p = from;
    while (p < r->end && *p != '"' && *p != '\n')
        p += *p == '\\' && p + 1 < r->end && p[1] != '\n' ? 2 : 1;
    if (p >= r->end || *p != '"') {
        wrong(r, "a text has no end, expected '\"'");
        return NULL;
    }
    char *out = take(r, 1, (size_t)(p - from) + 1);
    if (!out)
        return NULL;
    size_t n = 0;
    while (from < p) {
        static const char escapes[] = "n\nt\tr\ra\ab\bf\fv\v";
        char c = *from++;
        if (c == '\\') {
            c = *from++;
            const char *e = strchr(escapes, c);
            if (e && c && (e - escapes) % 2 == 0) {
                c = e[1];
            } else if (c >= '0' && c <= '7') {
                int v = c - '0';
                for (int i = 0; i < 2 && *from >= '0' && *from <= '7'; i++)
                    v = v * 8 + (*from++ - '0');
                c = (char)(unsigned char)v;
            } else if (c == 'x') {
                int v = 0;
                for (int i = 0; i < 2 && char_is(*from) & HEX; i++)
                    v = v * 16 + digit_of(*from++);
                c = (char)(unsigned char)v;
            }
        }
        out[n++] = c;
    }
    r->at = p + 1;
    if (length)
        *length = n;
    return out;
}

/* .attribute(.managed): nothing that a simulator needs. '(' comes next. */
static bool skip_parentheses(struct reader *r)
{
    if (!expect(r, '(', "after .attribute"))
        return false;
    while (r->at < r->end && *r->at != ')' && *r->at != ';') {
        r->line += *r->at == '\n';
        r->at++;
    }
    return expect(r, ')', "after an attribute");
}

/* ---- variables ---- */

/* What is declared before the names: .align 4 .b8. */
struct declared {
    enum lab_ptx_space space;
    enum lab_ptx_type type;
    int32_t align;
    int32_t vector; /* elements of .v2 and .v4, else 1 */
    bool external;
};

static bool take_declared(struct reader *r, struct declared *d)
{
    bool pointer = false; /* .align after .ptr is of what it points to */
    int64_t align = 0;
    d->vector = 1;
    while (peek(r) == '.') {
        struct word w = take_word(r);
        enum lab_ptx_type type = type_of_word(w);
        if (type) {
            if (d->type)
                return wrong(r, "a second type, .%.*s", (int)w.length, w.text);
            d->type = type;
        } else if (is(w, "align")) {
            if (!take_integer(r, "an alignment", 1, MOST_ALIGN, &align))
                return false;
            if (align & (align - 1))
                return wrong(r, "alignment %d is no power of two", (int)align);
            if (!pointer)
                d->align = (int32_t)align;
        } else if (is(w, "v2") || is(w, "v4")) {
            d->vector = w.text[1] - '0';
        } else if (is(w, "ptr")) {
            pointer = true;
        } else if (is(w, "attribute")) {
            if (!skip_parentheses(r))
                return false;
        } else if (!pointer || space_of_word(w) < 0) {
            return r->st ? false
                         : wrong(r, "expected a type, got .%.*s", (int)w.length,
                                 w.text);
        }
    }
    if (!d->type)
        return expected(r, "a type");
    if (d->type == LAB_PTX_PRED && d->space != LAB_PTX_REG)
        return wrong(r, "a predicate that is no register");
    if (d->vector > 1 && d->space == LAB_PTX_REG)
        return wrong(r, "registers of a vector type are not known");
    int32_t least = lab_ptx_type_bytes(d->type) * d->vector;
    if (d->align < least)
        d->align = least;
    return true;
}

struct shape {
    int dims;
    int64_t dim[MOST_NESTED]; /* the first is 0 for [] */
};

static bool take_shape(struct reader *r, int32_t bytes, struct shape *s)
{
    int64_t all = bytes;
    s->dims = 0;
    while (accept(r, '[')) {
        int64_t n = 0;
        if (s->dims == MOST_NESTED)
            return wrong(r, "an array of more than %d dimensions", MOST_NESTED);
        if (peek(r) == ']' && s->dims > 0)
            return expected(r, "a size: only the first may be left out");
        if (*r->at != ']' &&
            !take_integer(r, "the size of an array", s->dims > 0,
                          MOST_BYTES / (all ? all : 1), &n))
            return false;
        if (n)
            all *= n;
        s->dim[s->dims++] = n;
        if (!expect(r, ']', "after the size of an array"))
            return false;
    }
    return true;
}

/* An initialiser being read. */
struct initialiser {
    enum lab_ptx_type type;
    int64_t bytes; /* of an element */
    int64_t at;    /* where the next one is stored */
    int64_t most;  /* bytes of the variable; 0: as many as there are */
    const struct shape *shape;
};

/* Room for `bytes` at in->at. */
static unsigned char *init_room(struct reader *r, struct initialiser *in,
                                int64_t bytes)
{
    int64_t end = in->at + bytes;
    if (in->most && end > in->most) {
        wrong(r, "more initial values than elements");
        return NULL;
    }
    if ((uint64_t)end > 64 * (uint64_t)r->bytes + 65536) {
        wrong(r, "initial values too far apart");
        return NULL;
    }
    while ((int64_t)r->init.count < end)
        if (!add(r, &r->init, 1))
            return NULL;
    unsigned char *p = (unsigned char *)r->init.items + in->at;
    in->at = end;
    return p;
}

static bool not_declared(struct reader *r, const struct name *n, int32_t line)
{
    return wrong_at(
        r, line, "%.200s is no variable or function declared so far", n->text);
}

/* clang moves a .shared variable into the only function that uses it, and leaves a
 * table of its address before that function. */
static bool finish_forwards(struct reader *r)
{
    const struct forward *f = r->forwards.items;
    for (size_t i = 0; i < r->forwards.count; i++)
        if (!f[i].name->shared_inside)
            return not_declared(r, f[i].name, f[i].line);
    return true;
}

/* name, generic(name), name + 8; `mask` of 0xFF00(name), else 0. */
static bool init_address(struct reader *r, struct initialiser *in,
                         uint64_t mask)
{
    struct lab_ptx_address *a = add(r, &r->addresses, sizeof(*a));
    struct name *n = take_name(r, "a value or a name");
    if (!a || !n)
        return false;
    if (strcmp(n->text, "generic") == 0 && accept(r, '(')) {
        a->generic = true;
        n = take_name(r, "a name");
        if (!n || !expect(r, ')', "after generic("))
            return false;
    }
    if (!n->bound) {
        struct forward *f = add(r, &r->forwards, sizeof(*f));
        if (!f)
            return false;
        *f = (struct forward){n, r->line};
    } else if (n->bound->kind != IS_GLOBAL && n->bound->kind != IS_FUNCTION &&
               !n->shared_inside) {
        return not_declared(r, n, r->line);
    }
    a->symbol = n->text;
    a->at = in->at;
    a->bytes = mask ? 1 : (int32_t)in->bytes;
    for (; mask && !(mask & 1); mask >>= 1)
        a->shift++;
    if (mask && (mask != 0xFF || in->bytes != 1))
        return wrong(r, "a mask that does not choose one byte");
    if (!a->bytes || (a->bytes < 4 && !mask))
        return wrong(r, "an address in less than 4 bytes");
    return take_offset(r, &a->add) && init_room(r, in, in->bytes);
}

static bool init_constant(struct reader *r, struct initialiser *in,
                          const struct constant *c)
{
    bool f32 = in->type == LAB_PTX_F32;
    bool f64 = in->type == LAB_PTX_F64;
    uint64_t bits = c->value;
    int64_t bytes = c->kind == LAB_PTX_OPERAND_F32 ? 4 : 8;
    double v = 0;
    float f = 0;
    uint32_t low = (uint32_t)bits;
    if (c->kind == LAB_PTX_OPERAND_INT) {
        v = c->is_unsigned ? (double)bits : (double)(int64_t)bits;
    } else if (c->kind == LAB_PTX_OPERAND_F32) {
        memcpy(&f, &low, 4);
        v = (double)f;
    } else {
        memcpy(&v, &bits, 8);
    }
    if (f64) {
        memcpy(&bits, &v, 8);
    } else if (f32 && c->kind != LAB_PTX_OPERAND_F32) {
        f = (float)v;
        memcpy(&low, &f, 4);
        bits = low;
    } else if (!f32 && c->kind != LAB_PTX_OPERAND_INT && bytes != in->bytes) {
        return wrong(r, "a float in %d bytes", (int)in->bytes);
    }
    unsigned char *p = init_room(r, in, in->bytes);
    for (int i = 0; p && i < in->bytes; i++)
        p[i] = i < 8 ? (unsigned char)(bits >> (8 * i)) : 0;
    return p != NULL;
}

static bool init_value(struct reader *r, struct initialiser *in)
{
    struct constant c;
    if (peek(r) == '"') {
        size_t n;
        char *text = take_string(r, &n);
        if (!text)
            return false;
        if (in->bytes != 1)
            return wrong(r, "a text for elements of %d bytes", (int)in->bytes);
        /* As in C: the NUL is left out where it has no room. */
        int64_t bytes =
            (int64_t)n + (!in->most || in->most != in->at + (int64_t)n);
        unsigned char *p = init_room(r, in, bytes);
        if (p)
            memcpy(p, text, (size_t)bytes);
        return p != NULL;
    }
    if (char_is(*r->at) & FIRST)
        return init_address(r, in, 0);
    if (!take_expression(r, 0, 0, &c))
        return false;
    if (accept(r, '(')) {
        if (c.value == 0)
            return wrong(r, "a mask that does not choose one byte");
        return init_address(r, in, c.value) && expect(r, ')', "after a mask");
    }
    return init_constant(r, in, &c);
}

/* { ... }, nested as the dimensions are or not at all. '{' was read. */
static bool init_list(struct reader *r, struct initialiser *in, int level)
{
    int64_t size = in->bytes;
    int64_t from = in->at;
    for (int i = level; i < in->shape->dims; i++)
        size *= in->shape->dim[i];
    if (level > 0 && level >= in->shape->dims)
        return wrong(r, "more braces than dimensions");
    if (!accept(r, '}')) {
        do {
            bool ok = accept(r, '{') ? init_list(r, in, level + 1)
                                     : init_value(r, in);
            if (!ok)
                return false;
        } while (accept(r, ','));
        if (!expect(r, '}', "after the initial values"))
            return false;
    }
    if (level == 0)
        return true;
    if (in->at - from > size)
        return wrong(r, "more initial values than elements");
    in->at = from + size;
    return true;
}

/* `= ...` of a variable of this shape. */
static bool take_initialiser(struct reader *r, struct lab_ptx_variable *v,
                             const struct shape *shape)
{
    int64_t bytes = lab_ptx_type_bytes(v->type);
    bool open = shape->dims > 0 && shape->dim[0] == 0;
    struct initialiser in = {.type = v->type,
                             .bytes = bytes,
                             .most = open ? 0 : bytes * v->elements,
                             .shape = shape};
    r->init.count = 0;
    r->addresses.count = 0;
    if (!(accept(r, '{') ? init_list(r, &in, 0) : init_value(r, &in)))
        return false;
    if (open) {
        int64_t row = bytes;
        for (int i = 1; i < shape->dims; i++)
            row *= shape->dim[i];
        v->elements = (in.at + row - 1) / row * (row / bytes);
    }
    v->init_bytes = (int64_t)r->init.count;
    v->address_count = (int32_t)r->addresses.count;
    v->init = keep(r, &r->init, 0, 1);
    v->addresses = keep(r, &r->addresses, 0, sizeof(*v->addresses));
    return !r->st;
}

/* One name with its sizes, of the kind of `d`. */
static bool take_variable(struct reader *r, const struct declared *d,
                          struct name **name, struct lab_ptx_variable *v,
                          struct shape *shape)
{
    int32_t bytes = lab_ptx_type_bytes(d->type) * d->vector;
    *name = take_name(r, "a name");
    if (!*name || !take_shape(r, bytes, shape))
        return false;
    *v = (struct lab_ptx_variable){.name = (*name)->text,
                                   .space = d->space,
                                   .type = d->type,
                                   .align = d->align,
                                   .elements = d->vector,
                                   .external = d->external};
    for (int i = 0; i < shape->dims; i++)
        v->elements *= shape->dim[i];
    return true;
}

static bool same_variable(const struct lab_ptx_variable *a,
                          const struct lab_ptx_variable *b)
{
    return a->space == b->space && a->type == b->type;
}

/* A variable of the module, or one of a function that lives as long. An .extern
 * one may be declared again, and defined. */
static struct lab_ptx_variable *add_global(struct reader *r, struct name *name,
                                           const struct lab_ptx_variable *v)
{
    struct symbol *s = name->bound;
    struct lab_ptx_variable *have = r->variables.items;
    if (r->depth == 0 && s && s->kind == IS_GLOBAL) {
        have += s->index;
        if ((have->external || v->external) && same_variable(have, v)) {
            if (have->external)
                *have = *v;
            return have;
        }
    }
    s = bind(r, name, IS_GLOBAL);
    if (!s)
        return NULL;
    s->index = (int64_t)r->variables.count;
    have = add(r, &r->variables, sizeof(*have));
    if (have)
        *have = *v;
    return have;
}

static bool take_variables(struct reader *r, enum lab_ptx_space space,
                           bool external)
{
    struct declared d = {.space = space, .external = external};
    bool inside =
        r->depth > 0 && space != LAB_PTX_GLOBAL && space != LAB_PTX_CONST;
    if (!take_declared(r, &d))
        return false;
    do {
        struct name *name;
        struct lab_ptx_variable v;
        struct lab_ptx_variable *kept;
        struct shape shape;
        if (!take_variable(r, &d, &name, &v, &shape))
            return false;
        if (inside && !external) {
            struct symbol *s = bind(r, name, IS_VARIABLE);
            if (!s)
                return false;
            name->shared_inside |= space == LAB_PTX_SHARED;
            s->index = (int64_t)r->locals.count;
            kept = add(r, &r->locals, sizeof(*kept));
            if (kept)
                *kept = v;
        } else {
            kept = add_global(r, name, &v);
        }
        if (!kept)
            return false;
        if (accept(r, '=')) {
            if (space != LAB_PTX_GLOBAL && space != LAB_PTX_CONST)
                return wrong(r,
                             "%.200s: only .global and .const variables "
                             "have initial values",
                             name->text);
            if (!take_initialiser(r, kept, &shape))
                return false;
        } else if (shape.dims && !shape.dim[0] && !external) {
            return wrong(r, "the array %.200s has no size", name->text);
        }
    } while (accept(r, ','));
    return expect(r, ';', "after a declaration");
}

/* `.reg` was read. */
static bool take_registers(struct reader *r)
{
    struct declared d = {.space = LAB_PTX_REG};
    if (!take_declared(r, &d))
        return false;
    do {
        struct name *n = take_name(r, "the name of a register");
        int64_t count;
        if (!n)
            return false;
        if (accept(r, '<')) {
            struct symbol *s = bind(r, n, IS_RANGE);
            /* Not as an expression, in which '>' is an operator. */
            struct constant c;
            skip(r);
            if (!s || !take_number(r, &c) ||
                !expect(r, '>', "after the number of registers"))
                return false;
            count = c.kind == LAB_PTX_OPERAND_INT && c.value <= INT32_MAX
                        ? (int64_t)c.value
                        : -1;
            if (count < 0)
                return wrong(r, "more than %d registers", INT32_MAX);
            s->index = count;
            s->type = d.type;
        } else if (!new_reg(r, n, d.type, bind(r, n, IS_REG))) {
            return false;
        }
    } while (accept(r, ','));
    return expect(r, ';', "after registers");
}

/* ---- functions ---- */

/* (.param .b32 a, ...) as symbols of `kind`; '(' was read. IS_PROTOTYPE: no
 * symbols, their names are `_`. */
static bool take_params(struct reader *r, enum symbol_kind kind,
                        const struct lab_ptx_variable **out, int32_t *count)
{
    r->params.count = 0;
    if (!accept(r, ')')) {
        do {
            struct word w = take_word(r);
            struct name *name;
            struct shape shape;
            int space = space_of_word(w);
            if (space != LAB_PTX_PARAM && space != LAB_PTX_REG)
                return r->st ? false
                             : wrong(r, "expected .param, got .%.*s",
                                     (int)w.length, w.text);
            struct declared d = {.space = (enum lab_ptx_space)space};
            struct lab_ptx_variable *v = add(r, &r->params, sizeof(*v));
            if (!v || !take_declared(r, &d) ||
                !take_variable(r, &d, &name, v, &shape))
                return false;
            if (kind == IS_PROTOTYPE || strcmp(name->text, "_") == 0)
                continue;
            struct symbol *s =
                bind(r, name, space == LAB_PTX_REG ? IS_REG : kind);
            if (!s)
                return false;
            s->index = (int64_t)r->params.count - 1;
            if (space == LAB_PTX_REG && !new_reg(r, name, d.type, s))
                return false;
        } while (accept(r, ','));
        if (!expect(r, ')', "after the parameters"))
            return false;
    }
    *count = (int32_t)r->params.count;
    *out = keep(r, &r->params, 0, sizeof(**out));
    return !r->st;
}

/* Up to three numbers after .maxntid and the like. */
static bool take_sizes(struct reader *r, int32_t out[3])
{
    for (int i = 0; i < 3; i++) {
        int64_t v = 1;
        if ((i == 0 || accept(r, ',')) &&
            !take_integer(r, "a limit", 1, INT32_MAX, &v))
            return false;
        out[i] = (int32_t)v;
    }
    return true;
}

static bool skip_texts(struct reader *r)
{
    do
        if (!take_string(r, NULL))
            return false;
    while (accept(r, ','));
    accept(r, ';');
    return true;
}

/* .maxntid 256, 1, 1 .pragma "..." before a body or ';'. */
static bool take_limits(struct reader *r, struct lab_ptx_function *f)
{
    static const char *const flags[] = {"noreturn", "explicitcluster",
                                        "blocksareclusters"};
    static const char *const numbers[] = {"maxnctapersm", "maxclusterrank",
                                          "abi_preserve",
                                          "abi_preserve_control"};
    while (peek(r) == '.') {
        struct word w = take_word(r);
        int32_t sizes[3];
        bool known = false;
        bool number = is(w, "minnctapersm") || is(w, "maxnreg");
        for (int i = 0; i < 3; i++)
            known |= is(w, flags[i]);
        for (int i = 0; i < 4; i++)
            number |= is(w, numbers[i]);
        if (is(w, "maxntid") || is(w, "reqntid")) {
            known = take_sizes(r, f->max_threads);
            f->exact_threads |= w.text[0] == 'r';
        } else if (is(w, "reqnctapercluster")) {
            known = take_sizes(r, f->cluster);
        } else if (number) {
            known = take_sizes(r, sizes);
            if (is(w, "minnctapersm"))
                f->min_blocks = sizes[0];
            if (is(w, "maxnreg"))
                f->max_registers = sizes[0];
        } else if (is(w, "pragma")) {
            known = skip_texts(r);
        } else if (is(w, "attribute")) {
            known = skip_parentheses(r);
        }
        if (!known)
            return r->st
                       ? false
                       : wrong(r, "directive .%.*s of a function is not known",
                               (int)w.length, w.text);
    }
    return true;
}

/* X: .branchtargets L1, L2; */
static bool take_targets(struct reader *r, struct symbol *s)
{
    size_t from = r->operands.count;
    do {
        struct open_operand o = {.name = take_name(r, "a label")};
        if (!o.name || !push_operand(r, &o))
            return false;
    } while (accept(r, ','));
    s->kind = IS_TARGETS;
    s->labels = close_operands(r, from, &s->label_count);
    return s->labels && expect(r, ';', "after labels");
}

/* X: .callprototype (.param .b32 _) _ (.param .b32 _); */
static bool take_prototype(struct reader *r)
{
    struct lab_ptx_function f = {0};
    if (accept(r, '(') &&
        !take_params(r, IS_PROTOTYPE, &f.results, &f.result_count))
        return false;
    if (!take_name(r, "_ in the place of a name"))
        return false;
    if (accept(r, '(') &&
        !take_params(r, IS_PROTOTYPE, &f.params, &f.param_count))
        return false;
    return take_limits(r, &f) && expect(r, ';', "after a prototype");
}

/* `name:` was read. */
static bool take_label(struct reader *r, struct name *name)
{
    struct symbol *s = bind(r, name, IS_LABEL);
    if (!s)
        return false;
    s->index = (int64_t)r->instrs.count;
    if (peek(r) != '.')
        return true;
    const char *at = r->at;
    struct word w = take_word(r);
    if (is(w, "branchtargets"))
        return take_targets(r, s);
    if (is(w, "calltargets") || is(w, "callprototype")) {
        s->kind = IS_PROTOTYPE;
        if (is(w, "callprototype"))
            return take_prototype(r);
        do
            if (!take_name(r, "a function"))
                return false;
        while (accept(r, ','));
        return expect(r, ';', "after functions");
    }
    r->at = at; /* another directive after the label */
    return !r->st;
}

/* ---- the line table ---- */

static size_t place_hash(const struct open_place *p, bool whole)
{
    uint64_t h = (uint32_t)p->place.file;
    h = h * 0x9E3779B97F4A7C15u + (uint32_t)p->place.line;
    h = h * 0x9E3779B97F4A7C15u + (uint32_t)p->place.column;
    if (whole) {
        h = h * 0x9E3779B97F4A7C15u + (uint32_t)p->place.inlined_at;
        h = h * 0x9E3779B97F4A7C15u + (p->label ? p->label->hash : 0);
        h = h * 0x9E3779B97F4A7C15u + (uint64_t)p->offset;
    }
    h *= 0x9E3779B97F4A7C15u;
    return (size_t)(h >> 32);
}

static bool same_place(const struct open_place *a, const struct open_place *b,
                       bool whole)
{
    return a->place.file == b->place.file && a->place.line == b->place.line &&
           a->place.column == b->place.column &&
           (!whole || (a->place.inlined_at == b->place.inlined_at &&
                       a->label == b->label && a->offset == b->offset));
}

/* The slot of a place, or the empty one where it would be. */
static int32_t *place_slot(struct reader *r, const struct open_place *p,
                           bool whole)
{
    const struct open_place *places = r->places.items;
    int32_t *slots = whole ? r->place_slots : r->newest_slots;
    size_t k = place_hash(p, whole) & (r->place_room - 1);
    while (slots[k] >= 0 && !same_place(&places[slots[k]], p, whole))
        k = (k + 1) & (r->place_room - 1);
    return &slots[k];
}

static bool grow_places(struct reader *r)
{
    size_t room = r->place_room ? r->place_room * 2 : 256;
    int32_t *slots = lab_alloc_array(room, 2 * sizeof(*slots));
    const struct open_place *places = r->places.items;
    int32_t *old = r->newest_slots;
    size_t old_room = r->place_room;
    int32_t *old_slots = r->place_slots;
    if (!slots)
        return no_memory(r);
    memset(slots, 0xFF, room * 2 * sizeof(*slots));
    r->place_slots = slots;
    r->newest_slots = slots + room;
    r->place_room = room;
    for (size_t i = 0; i < r->places.count; i++)
        *place_slot(r, &places[i], true) = (int32_t)i;
    for (size_t i = 0; i < old_room; i++)
        if (old[i] >= 0)
            *place_slot(r, &places[old[i]], false) = old[i];
    lab_free(old_slots);
    return true;
}

/* The number of a place, a new one where it was not seen before; -1: no memory. */
static int32_t place_of(struct reader *r, const struct open_place *p)
{
    if (r->places.count * 2 >= r->place_room && !grow_places(r))
        return -1;
    int32_t *slot = place_slot(r, p, true);
    struct open_place *places = r->places.items;
    if (*slot < 0) {
        struct open_place *to = add(r, &r->places, sizeof(*to));
        if (!to)
            return -1;
        *to = *p;
        *slot = (int32_t)r->places.count - 1;
        places = r->places.items;
    }
    places[*slot].function = r->function;
    *place_slot(r, p, false) = *slot;
    return *slot;
}

static bool take_position(struct reader *r, struct lab_ptx_place *out)
{
    int64_t file;
    int64_t line;
    int64_t column;
    if (!take_integer(r, "the number of a file", 0, INT32_MAX, &file) ||
        !take_integer(r, "a line", 0, INT32_MAX, &line) ||
        !take_integer(r, "a column", 0, INT32_MAX, &column))
        return false;
    *out = (struct lab_ptx_place){.file = (int32_t)file,
                                  .line = (int32_t)line,
                                  .column = (int32_t)column,
                                  .inlined_at = -1};
    return true;
}

/* The place that a call of `p` was inlined at: the newest one of that position,
 * which knows what it was itself inlined at. -1: no memory. */
static int32_t call_place(struct reader *r, const struct open_place *p,
                          const struct lab_ptx_place *at)
{
    struct open_place key = {.place = *at};
    if (r->places.count) {
        int32_t newest = *place_slot(r, &key, false);
        const struct open_place *places = r->places.items;
        if (newest >= 0 && places[newest].function == r->function) {
            int32_t outer = places[newest].place.inlined_at;
            /* walk<1>() calls walk<0>() in the line where it is itself called;
             * and this is walk<0>() once more. */
            bool itself = places[newest].label == p->label && outer >= 0 &&
                          same_place(&places[outer], &key, false);
            return itself ? outer : newest;
        }
    }
    return place_of(r, &key);
}

/* `.loc` was read. Line 0: no line of the source, but of a call perhaps. */
static bool take_loc(struct reader *r)
{
    struct open_place p = {0};
    if (!take_position(r, &p.place))
        return false;
    while (accept(r, ',')) {
        skip(r);
        const char *from = r->at;
        struct name *n = take_name(r, "function_name or inlined_at");
        if (!n)
            return false;
        if (strcmp(n->text, "function_name") == 0) {
            struct constant c = {0};
            accept(r, '.'); /* .debug_str + 7 */
            p.label = take_name(r, "a label");
            if (!p.label || (accept(r, '+') && !take_expression(r, 0, 0, &c)))
                return false;
            p.offset = (int64_t)c.value;
        } else if (strcmp(n->text, "inlined_at") == 0) {
            struct lab_ptx_place at;
            if (!take_position(r, &at))
                return false;
            int32_t outer = call_place(r, &p, &at);
            if (outer < 0)
                return false;
            p.depth = ((struct open_place *)r->places.items)[outer].depth + 1;
            if (p.depth < MOST_INLINED)
                p.place.inlined_at = outer;
            else
                p.depth = 0;
        } else {
            r->at = from;
            return expected(r, "function_name or inlined_at");
        }
    }
    if (p.place.line == 0)
        r->place = p.place.inlined_at;
    else
        r->place = place_of(r, &p);
    return !r->st;
}

/* ---- the body of a function ---- */

static bool body_directive(struct reader *r)
{
    struct word w = take_word(r);
    int space = space_of_word(w);
    if (r->st)
        return false;
    if (space == LAB_PTX_REG)
        return take_registers(r);
    if (space >= 0)
        return take_variables(r, (enum lab_ptx_space)space, false);
    if (is(w, "loc"))
        return take_loc(r);
    if (is(w, "pragma"))
        return skip_texts(r);
    if (is(w, "extern")) {
        w = take_word(r);
        if (is(w, "shared"))
            return take_variables(r, LAB_PTX_SHARED, true);
    }
    return r->st ? false
                 : wrong(r, "directive .%.*s in a function is not known",
                         (int)w.length, w.text);
}

/* A label, or an instruction behind its guard. */
static bool take_statement(struct reader *r)
{
    int32_t guard = -1;
    bool negated = false;
    bool guarded = accept(r, '@');
    if (guarded && !take_guard(r, &guard, &negated))
        return false;
    skip(r);
    const char *from = r->at;
    const char *p = from;
    if (!(char_is(*p) & FIRST))
        return expected(r, "an instruction, a label or '}'");
    do
        p++;
    while (char_is(*p) & WORD);
    const char *after = p;
    while (*after == ' ' || *after == '\t')
        after++;
    if (!guarded && after[0] == ':' && after[1] != ':') {
        struct name *n = take_name(r, "a label");
        r->at = after + 1;
        return n && take_label(r, n);
    }
    if (*from == '%')
        return expected(r, "an instruction");
    r->at = p;
    return take_instruction(r, from, guard, negated);
}

static bool finish_uses(struct reader *r, struct list *uses,
                        const struct lab_ptx_function *f)
{
    const struct variable_use *u = uses->items;
    for (size_t i = 0; i < uses->count; i++) {
        const struct lab_ptx_variable *from = r->module->ptx.variables;
        if (u[i].kind == IS_VARIABLE)
            from = f->variables;
        else if (u[i].kind == IS_PARAM)
            from = f->params;
        else if (u[i].kind == IS_RESULT)
            from = f->results;
        u[i].operand->variable = &from[u[i].index];
    }
    uses->count = 0;
    return true;
}

/* '{' was read, the parameters are bound. */
static bool take_body(struct reader *r, struct lab_ptx_function *f)
{
    r->place = r->near = -1;
    r->function++;
    for (;;) {
        char c = peek(r);
        bool ok;
        if (r->st)
            return false;
        if (c == '{') {
            r->at++;
            ok = open_scope(r);
        } else if (c == '}' && r->depth > 1) {
            r->at++;
            if (r->depth == 2)
                break;
            ok = close_scope(r);
        } else if (c == '.') {
            ok = body_directive(r);
        } else {
            ok = take_statement(r);
        }
        if (!ok)
            return false;
    }
    return close_scope(r) && f;
}

static bool take_function(struct reader *r, bool entry)
{
    struct lab_ptx_function f = {.entry = entry, .text_line = r->line};
    struct lab_ptx_function *kept;
    r->regs.count = r->instrs.count = r->locals.count = 0;
    if (!open_scope(r))
        return false;
    if (peek(r) == '.' &&
        (!is(take_word(r), "attribute") || !skip_parentheses(r)))
        return expected(r, "a name");
    if (!entry && accept(r, '(') &&
        !take_params(r, IS_RESULT, &f.results, &f.result_count))
        return false;
    struct name *name = take_name(r, "the name of a function");
    if (!name)
        return false;
    f.name = name->text;
    struct symbol *s = name->bound;
    if (!s) {
        s = bind_at(r, name, IS_FUNCTION, 0);
        if (!s)
            return false;
        s->index = (int64_t)r->functions.count;
        kept = add(r, &r->functions, sizeof(*kept));
        if (!kept)
            return false;
        kept->declared = true;
    }
    kept = r->functions.items;
    if (s->kind != IS_FUNCTION ||
        (!kept[s->index].declared && kept[s->index].name))
        return wrong(r, "%.200s is declared twice", f.name);
    if (accept(r, '(') && !take_params(r, IS_PARAM, &f.params, &f.param_count))
        return false;
    if (!take_limits(r, &f))
        return false;
    f.declared = accept(r, ';');
    if (f.declared) {
        r->local_uses.count = 0;
        kept[s->index] = f;
        return close_scope(r);
    }
    if (!expect(r, '{', "before the body of a function") || !open_scope(r) ||
        !take_body(r, &f))
        return false;
    if (!close_scope(r))
        return false;
    f.reg_count = (int32_t)r->regs.count;
    f.instr_count = (int32_t)r->instrs.count;
    f.variable_count = (int32_t)r->locals.count;
    f.regs = keep(r, &r->regs, 0, sizeof(*f.regs));
    f.instrs = keep(r, &r->instrs, 0, sizeof(*f.instrs));
    f.variables = keep(r, &r->locals, 0, sizeof(*f.variables));
    if (r->st)
        return false;
    kept = r->functions.items;
    kept[s->index] = f;
    return finish_uses(r, &r->local_uses, &f);
}

/* ---- the module ---- */

/* .alias a, b; */
static bool take_alias(struct reader *r)
{
    struct name *a = take_name(r, "a function");
    struct name *b = a && expect(r, ',', "between two functions")
                         ? take_name(r, "a function")
                         : NULL;
    struct lab_ptx_function *f = r->functions.items;
    if (!b)
        return false;
    struct symbol *to = b->bound;
    if (!a->bound || a->bound->kind != IS_FUNCTION || !to ||
        to->kind != IS_FUNCTION || !f[a->bound->index].declared ||
        f[to->index].declared)
        return wrong(r,
                     ".alias of %.200s: expected a function that is only "
                     "declared, and one that has a body",
                     a->text);
    f[a->bound->index] = f[to->index];
    f[a->bound->index].name = a->text;
    return expect(r, ';', "after .alias");
}

static bool take_file(struct reader *r)
{
    struct file_name f = {0};
    if (!take_integer(r, "the number of a file", 1, (int64_t)r->bytes,
                      &f.number))
        return false;
    f.path = take_string(r, NULL);
    while (accept(r, ',')) {
        int64_t unused; /* its time and its size */
        if (!take_integer(r, "a number", 0, INT64_MAX, &unused))
            return false;
    }
    struct file_name *kept = f.path ? add(r, &r->files, sizeof(*kept)) : NULL;
    if (kept)
        *kept = f;
    return kept != NULL;
}

/* Labels and bytes of .debug_str; '{' was read. */
static bool take_strings(struct reader *r)
{
    while (!accept(r, '}')) {
        if (char_is(peek(r)) & FIRST) {
            struct name *n = take_name(r, "a label");
            struct symbol *s = n ? bind_at(r, n, IS_STRING, 0) : NULL;
            if (!s || !expect(r, ':', "after a label"))
                return false;
            s->index = (int64_t)r->strings.count;
            continue;
        }
        struct word w = take_word(r);
        int bytes = lab_ptx_type_bytes(type_of_word(w));
        if (!bytes)
            return r->st ? false : expected(r, ".b8 with the bytes of a text");
        do {
            struct constant c;
            if (peek(r) != '-' && !(char_is(*r->at) & DIGIT))
                return expected(r, "a byte of a text");
            if (!take_unary(r, 0, &c))
                return false;
            for (int i = 0; i < bytes; i++) {
                char *p = add(r, &r->strings, 1);
                if (!p)
                    return false;
                *p = (char)(unsigned char)(i < 8 ? c.value >> (8 * i) : 0);
            }
        } while (accept(r, ','));
    }
    return true;
}

/* `.section` was read: .debug_str gives names of functions, the others nothing. */
static bool take_section(struct reader *r)
{
    skip(r);
    if (*r->at == '"' && !take_string(r, NULL))
        return false;
    struct word w = *r->at == '.' ? take_word(r) : (struct word){"", 0};
    if (r->st || !expect(r, '{', "after the name of a section"))
        return false;
    if (is(w, "debug_str"))
        return take_strings(r);
    for (char c; (c = peek(r)) != '}'; r->at++)
        if (r->at == r->end)
            return expected(r, "'}' after a section");
    r->at++;
    return true;
}

static bool take_version(struct reader *r)
{
    int64_t major = 0;
    int64_t minor = 0;
    size_t n;
    skip(r);
    n = strspn(r->at, "0123456789");
    for (size_t i = 0; i < n && major < 1000; i++)
        major = major * 10 + (r->at[i] - '0');
    r->at += n;
    if (r->at[0] != '.' || !(char_is(r->at[1]) & DIGIT))
        return expected(r, "a version such as 9.0");
    r->at++;
    n = strspn(r->at, "0123456789");
    for (size_t i = 0; i < n && minor < 1000; i++)
        minor = minor * 10 + (r->at[i] - '0');
    r->at += n;
    if (major * 10 + minor > NEWEST || minor > 9)
        return wrong(r,
                     "PTX of version %d.%d; up to %d.%d is known, compile "
                     "with an older nvcc or for .version %d.%d",
                     (int)major, (int)minor, NEWEST / 10, NEWEST % 10,
                     NEWEST / 10, NEWEST % 10);
    r->module->ptx.version = (int32_t)(major * 10 + minor);
    return true;
}

static bool is_target(long number)
{
    static const short known[] = {
        10, 11, 12, 13, 20, 21, 30, 32, 35, 37,  50,  52,  53,  60,  61, 62,
        70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i] == number)
            return true;
    return false;
}

static bool take_target(struct reader *r)
{
    static const char *const others[] = {
        "debug", "texmode_unified", "texmode_independent", "map_f64_to_f32"};
    struct lab_ptx *ptx = &r->module->ptx;
    do {
        struct name *n = take_name(r, "a target such as sm_90");
        bool known = false;
        if (!n)
            return false;
        for (int i = 0; i < 4; i++)
            known |= strcmp(n->text, others[i]) == 0;
        if (strncmp(n->text, "sm_", 3) == 0) {
            char *end;
            long v = strtol(n->text + 3, &end, 10);
            known = is_target(v) &&
                    (!*end || ((*end == 'a' || *end == 'f') && !end[1]));
            ptx->target = (int32_t)v;
            ptx->target_specific = *end != 0;
        }
        if (!known)
            return wrong(r, "target %.200s is not known", n->text);
    } while (accept(r, ','));
    return true;
}

static bool module_directive(struct reader *r)
{
    struct lab_ptx *ptx = &r->module->ptx;
    struct word w = take_word(r);
    bool external = false;
    if (r->st)
        return false;
    if (is(w, "version"))
        return take_version(r);
    if (!ptx->version)
        return wrong(r, "expected .version first, got .%.*s", (int)w.length,
                     w.text);
    if (is(w, "target"))
        return take_target(r);
    if (is(w, "address_size")) {
        int64_t bits;
        if (!take_integer(r, "an address size", 0, 1024, &bits))
            return false;
        return bits == 64 ? true
                          : wrong(r, "addresses of %d bits; only 64 are known",
                                  (int)bits);
    }
    if (is(w, "file"))
        return take_file(r);
    if (is(w, "section"))
        return take_section(r);
    if (is(w, "pragma"))
        return skip_texts(r);
    if (is(w, "alias"))
        return take_alias(r);
    while (is(w, "extern") || is(w, "visible") || is(w, "weak") ||
           is(w, "common")) {
        external |= is(w, "extern");
        w = take_word(r);
    }
    if (is(w, "entry") || is(w, "func"))
        return take_function(r, is(w, "entry"));
    int space = space_of_word(w);
    if (space > LAB_PTX_PARAM && space != LAB_PTX_LOCAL)
        return take_variables(r, (enum lab_ptx_space)space, external);
    return r->st ? false
                 : wrong(r, "directive .%.*s is not known", (int)w.length,
                         w.text);
}

/* Numbers of files become indices, labels the names of functions. */
static bool finish_places(struct reader *r)
{
    struct lab_ptx *ptx = &r->module->ptx;
    const struct file_name *f = r->files.items;
    const struct open_place *p = r->places.items;
    int64_t files = 0;
    for (size_t i = 0; i < r->files.count; i++)
        files = f[i].number > files ? f[i].number : files;
    const char **paths = take(r, (size_t)files, sizeof(*paths));
    struct lab_ptx_place *places = take(r, r->places.count, sizeof(*places));
    if (!paths || !places || !add(r, &r->strings, 1)) /* a NUL at the end */
        return false;
    for (size_t i = 0; i < r->files.count; i++)
        paths[f[i].number - 1] = f[i].path;
    int64_t bytes = (int64_t)r->strings.count;
    const char *strings = keep(r, &r->strings, 0, 1);
    if (!strings)
        return false;
    for (size_t i = 0; i < r->places.count; i++) {
        places[i] = p[i].place;
        int32_t file = places[i].file - 1;
        places[i].file = file < files && file >= 0 && paths[file] ? file : -1;
        if (!p[i].label)
            continue;
        const struct symbol *s = p[i].label->bound;
        int64_t at = s && s->kind == IS_STRING ? s->index : -1;
        if (strcmp(p[i].label->text, "debug_str") == 0)
            at = 0;
        if (at >= 0 && p[i].offset >= 0 && p[i].offset < bytes - at)
            places[i].function = strings + at + p[i].offset;
    }
    ptx->files = paths;
    ptx->file_count = (int32_t)files;
    ptx->places = places;
    ptx->place_count = (int32_t)r->places.count;
    return true;
}

static bool read_module(struct reader *r)
{
    struct lab_ptx *ptx = &r->module->ptx;
    while (peek(r) == '.')
        if (!module_directive(r))
            return false;
    if (r->st)
        return false;
    if (r->at != r->end)
        return *r->at ? expected(r, "a directive")
                      : wrong(r, "a NUL byte in the text");
    if (!ptx->version || !ptx->target)
        return expected(r, ptx->version ? ".target" : ".version");
    ptx->variable_count = (int32_t)r->variables.count;
    ptx->variables = keep(r, &r->variables, 0, sizeof(*ptx->variables));
    ptx->function_count = (int32_t)r->functions.count;
    ptx->functions = keep(r, &r->functions, 0, sizeof(*ptx->functions));
    return !r->st && finish_uses(r, &r->global_uses, NULL) &&
           finish_forwards(r) && finish_places(r);
}

static void release_lists(struct reader *r)
{
    struct list *const lists[] = {
        &r->waiting, &r->operands, &r->variables, &r->functions,
        &r->files,   &r->strings,  &r->places,    &r->global_uses,
        &r->regs,    &r->instrs,   &r->locals,    &r->local_uses,
        &r->params,  &r->init,     &r->addresses, &r->forwards};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        lab_free(lists[i]->items);
    lab_free(r->names);
    lab_free(r->place_slots);
    lab_arena_release(&r->scratch);
}

enum lab_status lab_ptx_read(const char *text, size_t bytes, const char *name,
                             struct lab_ptx **out)
{
    struct reader *r;
    char *copy;
    if (bytes > MOST_TEXT)
        return lab_fail(LAB_E_PARSE,
                        "[ptx.size] %.200s:1: more than 1 GiB of PTX", name);
    r = lab_alloc(sizeof(*r));
    copy = lab_alloc(bytes + 1);
    struct module *module = lab_alloc(sizeof(*module));
    if (!r || !copy || !module) {
        lab_free(r);
        lab_free(copy);
        lab_free(module);
        return lab_no_memory("PTX");
    }
    if (bytes)
        memcpy(copy, text, bytes);
    r->at = copy;
    r->end = copy + bytes;
    r->bytes = bytes;
    r->line = 1;
    r->file = name;
    r->module = module;
    r->place = r->near = -1;
    module->ptx.name = lab_arena_text(&module->arena, name, strlen(name));
    bool ok = module->ptx.name ? read_module(r) : no_memory(r);
    enum lab_status st = r->st;
    release_lists(r);
    lab_free(r);
    lab_free(copy);
    if (ok)
        *out = &module->ptx;
    else
        lab_ptx_free(&module->ptx);
    return ok ? LAB_OK : st;
}

void lab_ptx_free(struct lab_ptx *ptx)
{
    if (!ptx)
        return;
    struct module *m = (struct module *)(void *)ptx; /* its first member */
    lab_arena_release(&m->arena);
    lab_free(m);
}

const struct lab_ptx_function *lab_ptx_function(const struct lab_ptx *ptx,
                                                const char *name)
{
    for (int32_t i = 0; i < ptx->function_count; i++)
        if (strcmp(ptx->functions[i].name, name) == 0)
            return &ptx->functions[i];
    return NULL;
}
