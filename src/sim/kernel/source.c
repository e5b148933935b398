/* source.c -- a kernel's parameters as its source writes them: names, which PTX has
 * not, and types, which it has where a name is mangled only; and the statements that
 * give its variables their values. The text is read as words and brackets, before the
 * preprocessor: what a macro makes is not known. */
#include "sim/argument.h"
#include "sim/variable.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- a text without comments, strings and lines of the preprocessor ---- */

static size_t comment_end(const char *p, size_t i, size_t n)
{
    bool line = p[i + 1] == '/';
    for (i += 2; i < n; i++) {
        if (line && p[i] == '\n')
            return i;
        if (!line && p[i - 1] == '*' && p[i] == '/')
            return i + 1;
    }
    return n;
}

static size_t quote_end(const char *p, size_t i, size_t n)
{
    char mark = p[i];
    for (i++; i < n && p[i] != mark && p[i] != '\n'; i++)
        i += p[i] == '\\';
    return i < n ? i + 1 : n;
}

static size_t directive_end(const char *p, size_t i, size_t n)
{
    while (i < n && p[i] != '\n')
        i += p[i] == '\\' && i + 1 < n ? 2 : 1;
    return i < n ? i : n;
}

static void blank(char *p, size_t n)
{
    bool starts = true; /* nothing but blanks on this line so far */
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        /* 1'000 is a number. */
        bool quote =
            p[i] == '"' ||
            (p[i] == '\'' && !(i > 0 && isalnum((unsigned char)p[i - 1])));
        if (p[i] == '/' && i + 1 < n && (p[i + 1] == '/' || p[i + 1] == '*'))
            end = comment_end(p, i, n);
        else if (quote)
            end = quote_end(p, i, n);
        else if (p[i] == '#' && starts)
            end = directive_end(p, i, n);
        if (end > i + 1)
            memset(p + i, ' ', end - i);
        starts = p[i] == '\n' || (starts && isspace((unsigned char)p[i]));
        i = end;
    }
}

/* ---- a list of parameters ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* What names no parameter: the last word of "const int". */
static bool is_type_word(const char *word, size_t n)
{
    static const char *const words[] = {
        "const",  "volatile", "__restrict__", "__restrict", "restrict",
        "struct", "enum",     "unsigned",     "signed",     "int",
        "long",   "short",    "char",         "bool",       "float",
        "double", "void",     "half",         "__half",     "typename"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i]) == n && memcmp(words[i], word, n) == 0)
            return true;
    return false;
}

/* Text from .. end with single blanks, and none at its ends. */
static void copy_words(char *out, size_t cap, const char *from, const char *end)
{
    size_t n = 0;
    for (; from < end && n + 1 < cap; from++) {
        bool space = isspace((unsigned char)*from);
        if (!space || (n > 0 && out[n - 1] != ' '))
            out[n++] = space ? ' ' : *from;
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

/* "const float *x", "float (*x)[32]", "int n = 4". */
static void read_parameter(const char *from, const char *end,
                           struct lab_sim_parameter *out)
{
    const char *stop = memchr(from, '=', (size_t)(end - from));
    *out = (struct lab_sim_parameter){.name = ""};
    if (stop)
        end = stop;
    const char *turned = memmem(from, (size_t)(end - from), "(*", 2);
    stop = turned ? memchr(turned, ')', (size_t)(end - turned))
                  : memchr(from, '[', (size_t)(end - from));
    const char *last = stop ? stop : end;
    while (last > from && isspace((unsigned char)last[-1]))
        last--;
    const char *first = last;
    while (first > from && is_word(first[-1]))
        first--;
    size_t n = (size_t)(last - first);
    if (n > 0 && !isdigit((unsigned char)*first) && !is_type_word(first, n) &&
        n < sizeof(out->name))
        snprintf(out->name, sizeof(out->name), "%.*s", (int)n, first);
    if (turned)
        return;
    copy_words(out->type, sizeof(out->type) - 2, from,
               out->name[0] ? first : last);
    /* One word alone is a type. */
    if (!out->type[0]) {
        copy_words(out->type, sizeof(out->type) - 2, from, last);
        out->name[0] = '\0';
    }
    size_t used = strlen(out->type);
    if (stop)
        snprintf(out->type + used, sizeof(out->type) - used, " *");
}

/* From behind '(' on; the end of the list, or NULL: it is none of `count`. */
static const char *read_list(const char *p, const char *end,
                             struct lab_sim_parameter *out, int count)
{
    const char *from = p;
    int depth = 0;
    int n = 0;
    for (; p < end && *p != ';'; p++) {
        bool last = depth == 0 && *p == ')';
        if (last || (depth == 0 && *p == ',')) {
            char text[8];
            copy_words(text, sizeof(text), from, p);
            if (last && n == 0 && (!text[0] || strcmp(text, "void") == 0))
                return count == 0 ? p : NULL;
            if (n == count)
                return NULL;
            read_parameter(from, p, &out[n++]);
            from = p + 1;
        }
        if (last)
            return n == count ? p : NULL;
        depth += strchr("(<[{", *p) != NULL;
        depth -= depth > 0 && strchr(")>]}", *p) != NULL;
    }
    return NULL;
}

/* Is the text between the end of the declaration before and the name that of a
 * kernel? */
static bool is_kernel(const char *text, const char *name)
{
    static const char mark[] = "__global__";
    const size_t n = sizeof(mark) - 1;
    const char *p = name;
    while (p > text && !strchr(";{}", p[-1]))
        p--;
    return memmem(p, (size_t)(name - p), mark, n) != NULL;
}

bool lab_sim_source_parameters(const char *text, size_t bytes, const char *name,
                               struct lab_sim_parameter *out, int count)
{
    const size_t n = strlen(name);
    bool found = false;
    char *copy = lab_alloc(bytes + 1);
    struct lab_sim_parameter *now =
        lab_alloc_array((size_t)count + 1, sizeof(*now));
    if (copy && now && n > 0) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
        blank(copy, bytes);
    }
    const char *end = copy ? copy + bytes : NULL;
    for (const char *p = copy; copy && now && n > 0 && p < end; p++) {
        p = memmem(p, (size_t)(end - p), name, n);
        if (!p)
            break;
        const char *open = p + n;
        while (open < end && isspace((unsigned char)*open))
            open++;
        if (open == end || *open != '(' || (p > copy && is_word(p[-1])) ||
            !is_kernel(copy, p) || !read_list(open + 1, end, now, count))
            continue;
        /* Two of one name: what they agree on. */
        for (int i = 0; i < count; i++) {
            if (found && strcmp(out[i].name, now[i].name) != 0)
                now[i].name[0] = '\0';
            if (found && strcmp(out[i].type, now[i].type) != 0)
                now[i].type[0] = '\0';
            out[i] = now[i];
        }
        found = true;
    }
    lab_free(now);
    lab_free(copy);
    return found;
}

/* ---- words and signs ---- */

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_SIGN };
struct token {
    const char *at;
    int n;
    enum token_kind kind;
    int32_t line;
    int32_t column;
    bool assigned; /* a name whose assignment is read */
};

enum { DEEPEST = 200 };

struct parser {
    struct lab_sim_statements *out;
    struct token *tokens; /* one more than `count`: the end */
    size_t token_count;
    size_t token_room;
    size_t at;
    size_t *referring; /* names of functions that take a reference */
    size_t referring_count;
    size_t referring_room;
    size_t scope; /* declarations from here on end with the block */
    size_t function;
    int32_t body;
    int32_t loop[2];
    int depth;
    enum lab_status st;
};

static int sign_length(const char *p, const char *end)
{
    static const char *const signs[] = {"<<=", ">>=", "...", "+=", "-=", "*=",
                                        "/=",  "%=",  "&=",  "|=", "^=", "++",
                                        "--",  "==",  "<=",  ">=", "!=", "&&",
                                        "||",  "->",  "::",  "<<", ">>"};
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        size_t n = strlen(signs[i]);
        if ((size_t)(end - p) >= n && memcmp(p, signs[i], n) == 0)
            return (int)n;
    }
    return 1;
}

static enum lab_status cut_tokens(struct parser *p, const char *text,
                                  const char *end)
{
    const char *start = text; /* of the line */
    int32_t line = 1;
    enum lab_status st = LAB_OK;
    for (const char *at = text; !st;) {
        while (at < end && isspace((unsigned char)*at)) {
            line += *at == '\n';
            start = *at == '\n' ? at + 1 : start;
            at++;
        }
        st = lab_grow(&p->tokens, p->token_count, &p->token_room,
                      sizeof(*p->tokens), "a source");
        if (st)
            break;
        struct token *t = &p->tokens[p->token_count];
        *t = (struct token){
            .at = at, .line = line, .column = (int32_t)(at - start) + 1};
        if (at >= end)
            return LAB_OK;
        const char *to = at;
        if (is_word(*at)) {
            bool digit = isdigit((unsigned char)*at) != 0;
            t->kind = digit ? TOKEN_NUMBER : TOKEN_WORD;
            while (to < end &&
                   (is_word(*to) || (digit && (*to == '.' || *to == '\''))))
                to++;
        } else {
            t->kind = TOKEN_SIGN;
            to += sign_length(at, end);
        }
        t->n = (int)(to - at);
        at = to;
        p->token_count++;
    }
    return st;
}

static const struct token *token(const struct parser *p, size_t i)
{
    return &p->tokens[i < p->token_count ? i : p->token_count];
}

static bool is_token(const struct token *t, const char *text)
{
    return t->n == (int)strlen(text) && memcmp(t->at, text, (size_t)t->n) == 0;
}

static bool is_one_of(const struct token *t, const char *signs)
{
    return t->kind == TOKEN_SIGN && t->n == 1 && strchr(signs, *t->at);
}

/* The index behind the bracket that belongs to the one at `i`. */
static size_t behind(const struct parser *p, size_t i, size_t end)
{
    int depth = 0;
    for (; i < end; i++) {
        depth += is_one_of(token(p, i), "([{");
        depth -= is_one_of(token(p, i), ")]}");
        if (depth <= 0)
            return i + 1;
    }
    return end;
}

/* The first of `signs` from i on that is in no bracket; `end`: there is none. */
static size_t first_of(const struct parser *p, size_t i, size_t end,
                       const char *signs)
{
    while (i < end && !is_one_of(token(p, i), signs)) {
        if (is_one_of(token(p, i), ")]}"))
            return end;
        i = is_one_of(token(p, i), "([{") ? behind(p, i, end) : i + 1;
    }
    return i < end ? i : end;
}

/* How weakly an operator binds: 1 the weakest; 0: it is none. */
static int strength(const struct token *t, char *top)
{
    static const struct {
        const char *sign;
        char top;
        int strength;
    } rows[] = {{"?", '?', 1},  {"||", '!', 2}, {"&&", '!', 2}, {"|", '|', 3},
                {"^", '^', 4},  {"&", '&', 5},  {"==", '!', 6}, {"!=", '!', 6},
                {"<", '!', 7},  {">", '!', 7},  {"<=", '!', 7}, {">=", '!', 7},
                {"<<", '<', 8}, {">>", '>', 8}, {"+", '+', 9},  {"-", '-', 9},
                {"*", '*', 10}, {"/", '/', 10}, {"%", '%', 10}};
    for (size_t i = 0;
         t->kind == TOKEN_SIGN && i < sizeof(rows) / sizeof(*rows); i++)
        if (is_token(t, rows[i].sign)) {
            *top = rows[i].top;
            return rows[i].strength;
        }
    return 0;
}

/* What the value of an expression is made by. */
static void judge(const struct parser *p, size_t from, size_t end,
                  struct lab_sim_assigned *a)
{
    int weakest = 100;
    bool operand = false; /* a sign behind one has two sides */
    size_t parts = 0;
    /* "(float)x" and "(a + b)" are what is inside or behind. */
    while (from < end && is_one_of(token(p, from), "(")) {
        size_t next = behind(p, from, end);
        if (next == end) {
            from++;
            end--;
        } else if (next == from + 3 && token(p, from + 1)->kind == TOKEN_WORD &&
                   (token(p, next)->kind != TOKEN_SIGN ||
                    is_one_of(token(p, next), "(")))
            from = next;
        else
            break;
    }
    for (size_t i = from; i < end; parts++) {
        const struct token *t = token(p, i);
        char top = 0;
        int s = operand ? strength(t, &top) : 0;
        if (s > 0 && (s < weakest || (s == weakest && s == 9))) {
            weakest = s;
            a->top = top;
        }
        if (s == 9)
            a->terms++;
        bool alone = (i == from || (token(p, i - 1)->kind == TOKEN_SIGN &&
                                    is_one_of(token(p, i - 1), "+-"))) &&
                     (i + 1 == end || is_one_of(token(p, i + 1), "+-"));
        a->constant = a->constant || (t->kind == TOKEN_NUMBER && alone);
        a->factor = a->factor || t->kind == TOKEN_NUMBER;
        operand = t->kind != TOKEN_SIGN || is_one_of(t, "([");
        i = is_one_of(t, "([{") ? behind(p, i, end) : i + 1;
    }
    if (weakest < 100)
        return;
    const struct token *first = token(p, from);
    const struct token *last = token(p, end - 1);
    if (from + 1 == end && first->kind == TOKEN_NUMBER) {
        a->top = '#';
        snprintf(a->number, sizeof(a->number), "%.*s", first->n, first->at);
    } else if (is_one_of(last, "]"))
        a->top = '[';
    else if (is_one_of(last, ")"))
        a->top = 'f';
    else if (parts > 0 && last->kind == TOKEN_WORD)
        a->top = 'n';
    if (a->top == 'n' && parts == 3)
        copy_words(a->number, sizeof(a->number), first->at, last->at + last->n);
}

static int32_t visible(const struct parser *p, const struct token *t)
{
    for (size_t i = p->out->declared_count; i-- > p->function;) {
        const struct lab_sim_declared *d = &p->out->declared[i];
        if (d->last == 0 && strlen(d->name) == (size_t)t->n &&
            memcmp(d->name, t->at, (size_t)t->n) == 0)
            return (int32_t)i;
    }
    return -1;
}

static int32_t declare(struct parser *p, const struct token *name,
                       const struct token *type, const struct token *type_end)
{
    p->st =
        lab_grow(&p->out->declared, p->out->declared_count,
                 &p->out->declared_room, sizeof(*p->out->declared), "a source");
    if (p->st)
        return -1;
    struct lab_sim_declared *d = &p->out->declared[p->out->declared_count];
    *d = (struct lab_sim_declared){.first = name->line, .body = p->body};
    snprintf(d->name, sizeof(d->name), "%.*s", name->n, name->at);
    copy_words(d->type, sizeof(d->type), type->at, type_end->at);
    return (int32_t)p->out->declared_count++;
}

/* The value of a variable in tokens from .. end, of a text that begins at `start`. */
static void assign(struct parser *p, int32_t variable, char sign, size_t start,
                   size_t from, size_t end, bool head)
{
    p->st =
        lab_grow(&p->out->assigned, p->out->assigned_count,
                 &p->out->assigned_room, sizeof(*p->out->assigned), "a source");
    if (p->st || end == 0)
        return;
    struct lab_sim_assigned *a = &p->out->assigned[p->out->assigned_count++];
    const struct token *last = token(p, end - 1);
    *a = (struct lab_sim_assigned){
        .variable = variable,
        .sign = sign,
        .line = {token(p, start)->line, last->line},
        .column = {token(p, start)->column, last->column + last->n},
        .head = head,
        .loop = {p->loop[0], p->loop[1]},
        .side = {-1, -1}};
    if (from < end)
        judge(p, from, end, a);
    if (from + 3 == end && token(p, from)->kind == TOKEN_WORD &&
        is_one_of(token(p, from + 1), "(")) {
        const struct token *name = token(p, from);
        snprintf(a->call, sizeof(a->call), "%.*s", name->n, name->at);
    } else if (from + 3 == end && (a->top == '/' || a->top == '%')) {
        a->side[0] = visible(p, token(p, from));
        a->side[1] = visible(p, token(p, end - 1));
    }
    if (from >= end) { /* ++ */
        a->top = '#';
        snprintf(a->number, sizeof(a->number), "1");
    }
}

/* "=", "+=" ... of a token; 0: it assigns nothing. */
static char assigns(const struct token *t)
{
    if (t->kind != TOKEN_SIGN || t->at[t->n - 1] != '=' || is_token(t, "==") ||
        is_token(t, "<=") || is_token(t, ">=") || is_token(t, "!="))
        return 0;
    return *t->at;
}

/* How often a name is in tokens i .. end. */
static int times(const struct parser *p, const struct token *name, size_t i,
                 size_t end)
{
    int n = 0;
    for (; i < end; i++)
        n += token(p, i)->kind == TOKEN_WORD && token(p, i)->n == name->n &&
             memcmp(token(p, i)->at, name->at, (size_t)name->n) == 0;
    return n;
}

/* "sum = fmaf(a, b, sum)" and "sum = sum + a", from behind the `=` on, are a change:
 * where what is added begins; 0: they are not. */
static size_t added_from(const struct parser *p, const struct token *name,
                         size_t i, size_t end)
{
    static const char *const products[] = {"fmaf", "fma", "__fmaf_rn",
                                           "__fma_rn"};
    if (times(p, name, i, end) != 1)
        return 0;
    if (times(p, name, i, i + 1) == 1 && is_one_of(token(p, i + 1), "+")) {
        struct lab_sim_assigned all = {.top = 0};
        judge(p, i, end, &all);
        return all.top == '+' && all.terms == 1 ? i + 2 : 0;
    }
    for (size_t k = 0; k < sizeof(products) / sizeof(products[0]); k++)
        if (is_token(token(p, i), products[k]) &&
            is_one_of(token(p, i + 1), "(") && behind(p, i + 1, end) == end &&
            end > i + 4 && is_one_of(token(p, end - 3), ",") &&
            times(p, name, end - 2, end - 1) == 1)
            return i;
    return 0;
}

/* "sum += x", "i++" in tokens i .. end; false: neither. */
static bool read_assignment(struct parser *p, size_t i, size_t end)
{
    const struct token *first = token(p, i);
    const struct token *next = token(p, i + 1);
    bool before = is_token(first, "++") || is_token(first, "--");
    bool after = is_token(next, "++") || is_token(next, "--");
    const struct token *name = before ? next : first;
    char sign = before ? *first->at : after ? *next->at : assigns(next);
    if (name->kind != TOKEN_WORD || !sign || i + 1 >= end ||
        ((before || after) && i + 2 != end))
        return false;
    int32_t v = visible(p, name);
    p->tokens[before ? i + 1 : i].assigned = true;
    size_t added = sign == '=' ? added_from(p, name, i + 2, end) : 0;
    if (v >= 0)
        assign(p, v, added ? '+' : sign, i, added ? added : i + 2, end, false);
    return true;
}

/* "const float *x = a, y" in tokens i .. end: the index of the name, 0: no such. */
static size_t declared_name(const struct parser *p, size_t i, size_t end)
{
    size_t name = 0;
    int words = 0;
    size_t k = i;
    for (; k < end; k++) {
        const struct token *t = token(p, k);
        bool joined = k > i && is_token(token(p, k - 1), "::");
        if (t->kind == TOKEN_WORD) {
            name = joined ? 0 : k;
            words += !joined;
        } else if (is_token(t, "<") && k > i) {
            int depth = 0;
            for (; k < end; k++) {
                depth += is_token(token(p, k), "<");
                depth -= is_token(token(p, k), ">");
                if (depth == 0 || is_one_of(token(p, k), ";{}="))
                    break;
            }
            if (depth != 0)
                return 0;
        } else if (!is_one_of(t, "*&") && !is_token(t, "::"))
            break;
    }
    bool follows = k == end || is_one_of(token(p, k), "=,[({");
    return words >= 2 && name > i && k == name + 1 && follows ? name : 0;
}

static void read_declaration(struct parser *p, size_t i, size_t end, bool head)
{
    size_t name = declared_name(p, i, end);
    bool several = first_of(p, i, end, ",") < end;
    for (size_t k = i; k < name; k++)
        if (is_token(token(p, k), "__shared__") ||
            is_token(token(p, k), "extern"))
            return;
    const struct token *type = token(p, i);
    size_t type_end = name;
    for (size_t first = i; name > 0 && name < end && !p->st;) {
        size_t next = first_of(p, name, end, ",");
        const struct token *t = token(p, name + 1);
        p->tokens[name].assigned = true;
        /* Arrays have an element a register, and no register a name. */
        if (!is_one_of(t, "[")) {
            int32_t v = declare(p, token(p, name), type, token(p, type_end));
            if (v >= 0 && name + 2 < next && is_one_of(t, "="))
                assign(p, v, '=', several ? name : first, name + 2, next, head);
            else if (v >= 0 && name + 2 < next && is_one_of(t, "({"))
                assign(p, v, '=', several ? name : first, name + 2, next - 1,
                       head);
        }
        name = next + 1;
        while (name < end && is_one_of(token(p, name), "*&"))
            name++;
    }
}

/* One statement without its `;`, or the first part of a for. */
static void read_simple(struct parser *p, size_t i, size_t end, bool head)
{
    static const char *const others[] = {
        "return",  "break", "continue", "goto",  "using",
        "typedef", "asm",   "delete",   "throw", "co_return"};
    for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
        if (is_token(token(p, i), others[k]))
            return;
    if (i >= end || read_assignment(p, i, end))
        return;
    read_declaration(p, i, end, head);
}

static void close_scope(struct parser *p, size_t from, int32_t line)
{
    for (size_t i = from; i < p->out->declared_count; i++)
        if (p->out->declared[i].last == 0)
            p->out->declared[i].last = line;
}

static void read_statement(struct parser *p, size_t end);

static void read_block(struct parser *p, size_t end)
{
    const size_t scope = p->out->declared_count;
    const size_t close = behind(p, p->at, end) - 1;
    p->at++;
    while (p->at < close && !p->st)
        read_statement(p, close);
    p->at = close + 1;
    close_scope(p, scope, token(p, close)->line);
}

/* A loop's lines, as long as its statements are read, unless it is in another. */
static void read_looped(struct parser *p, size_t head, size_t end)
{
    const bool outer = p->loop[0] == 0;
    const size_t first = p->out->assigned_count;
    if (outer)
        p->loop[0] = p->loop[1] = token(p, head)->line;
    read_statement(p, end);
    if (!outer)
        return;
    for (size_t i = first; i < p->out->assigned_count; i++)
        p->out->assigned[i].loop[1] = token(p, p->at - 1)->line;
    p->loop[0] = p->loop[1] = 0;
}

static void read_for(struct parser *p, size_t end)
{
    const size_t head = p->at;
    const size_t scope = p->out->declared_count;
    const size_t open = head + 1;
    const size_t close = behind(p, open, end) - 1;
    size_t first = first_of(p, open + 1, close, ";");
    size_t second = first_of(p, first + 1, close, ";");
    const size_t assigned = p->out->assigned_count;
    read_simple(p, open + 1, first, true);
    /* nvcc gives the place of the word `for`. */
    if (p->out->assigned_count == assigned + 1) {
        p->out->assigned[assigned].line[0] = token(p, head)->line;
        p->out->assigned[assigned].column[0] = token(p, head)->column;
    }
    const size_t steps = p->out->assigned_count;
    for (size_t i = second + 1; i < close;) {
        size_t next = first_of(p, i, close, ",");
        (void)read_assignment(p, i, next);
        i = next + 1;
    }
    const size_t after = p->out->assigned_count;
    p->at = close + 1;
    const bool block = is_one_of(token(p, p->at), "{");
    read_looped(p, head, end);
    const int32_t line = token(p, head)->line;
    if (!block && p->out->assigned_count == after + 1 && head > 0 &&
        token(p, head - 1)->line < line && token(p, p->at - 1)->line == line &&
        token(p, p->at)->line > line)
        p->out->assigned[after].wide = token(p, head)->column;
    for (size_t i = steps; i < after; i++) {
        struct lab_sim_assigned *a = &p->out->assigned[i];
        a->step = true;
        if (p->loop[0] == 0) {
            a->loop[0] = token(p, head)->line;
            a->loop[1] = token(p, p->at - 1)->line;
        }
    }
    close_scope(p, scope, token(p, p->at - 1)->line);
}

static void read_statement(struct parser *p, size_t end)
{
    const struct token *t = token(p, p->at);
    if (p->depth >= DEEPEST || p->at >= end) {
        p->at = end;
        return;
    }
    p->depth++;
    bool bracket = is_one_of(token(p, p->at + 1), "(");
    if (is_one_of(t, "{"))
        read_block(p, end);
    else if (is_token(t, "for") && bracket)
        read_for(p, end);
    else if ((is_token(t, "if") || is_token(t, "while") ||
              is_token(t, "switch"))) {
        size_t head = p->at++;
        if (is_token(token(p, p->at), "constexpr"))
            p->at++;
        if (is_one_of(token(p, p->at), "("))
            p->at = behind(p, p->at, end);
        if (is_token(t, "while"))
            read_looped(p, head, end);
        else
            read_statement(p, end);
    } else if (is_token(t, "do")) {
        size_t head = p->at++;
        read_looped(p, head, end);
    } else if (is_token(t, "else"))
        p->at++;
    else if (is_token(t, "case") || is_token(t, "default"))
        p->at = first_of(p, p->at, end, ":") + 1;
    else {
        size_t to = first_of(p, p->at, end, ";");
        read_simple(p, p->at, to, false);
        p->at = to + 1;
    }
    if (p->at > end)
        p->at = end;
    p->depth--;
}

/* The parameters of the function whose body begins at `open`. */
static void read_parameters(struct parser *p, size_t open)
{
    size_t close = open;
    while (close > 0 && token(p, close - 1)->kind == TOKEN_WORD)
        close--; /* noexcept */
    int depth = 0;
    size_t from = close;
    while (from > 0) {
        from--;
        depth += is_one_of(token(p, from), ")");
        depth -= is_one_of(token(p, from), "(");
        if (depth == 0)
            break;
    }
    p->body = token(p, from)->line;
    for (size_t i = from + 1; i + 1 < close && !p->st;) {
        size_t next = first_of(p, i, close - 1, ",");
        size_t name = declared_name(p, i, first_of(p, i, next, "="));
        if (name > 0) {
            int32_t v = declare(p, token(p, name), token(p, i), token(p, name));
            if (v >= 0)
                p->out->declared[v].parameter = true;
        }
        i = next + 1;
    }
}

/* ---- what changes a variable without an assignment that is read ---- */

static void mark_elsewhere(struct parser *p, size_t i)
{
    const struct token *t = token(p, i);
    for (size_t k = p->function; k < p->out->declared_count; k++) {
        struct lab_sim_declared *d = &p->out->declared[k];
        if (strlen(d->name) == (size_t)t->n &&
            memcmp(d->name, t->at, (size_t)t->n) == 0 && d->first <= t->line &&
            t->line <= d->last)
            d->elsewhere = true;
    }
}

/* "f(&n)", "(int *)&n"; not "&x[i]", which leaves x as it is. */
static bool is_address_of(const struct parser *p, size_t i)
{
    const struct token *before = token(p, i - 1);
    const struct token *behind = token(p, i + 2);
    bool cast = is_one_of(before, ")") && is_one_of(token(p, i - 2), "*");
    return is_one_of(token(p, i), "&") && !is_one_of(behind, "[") &&
           !is_token(behind, "->") &&
           (cast || is_token(before, "return") ||
            (before->kind == TOKEN_SIGN && !is_one_of(before, ")]")));
}

/* A statement begins with a type before token i: "float &r(n)", not "x = a & f(n)" nor
 * "if (a && f(n))". */
static bool follows_type(const struct parser *p, size_t i)
{
    size_t k = i;
    while (k > 0 && !is_one_of(token(p, k - 1), ";{}")) {
        const struct token *t = token(p, --k);
        if (is_token(t, "return") || is_token(t, "case") ||
            (t->kind != TOKEN_WORD && !is_one_of(t, "<>,*") &&
             !is_token(t, "::")))
            return false;
    }
    return k < i;
}

/* "float &r = n", "float &r(n)", "float &r{n}" */
static bool is_referred(const struct parser *p, size_t i)
{
    return (is_one_of(token(p, i), "&") || is_token(token(p, i), "&&")) &&
           token(p, i + 1)->kind == TOKEN_WORD &&
           is_one_of(token(p, i + 2), "=({") &&
           is_one_of(token(p, i + 4), ";)}") &&
           (is_one_of(token(p, i + 2), "=") || follows_type(p, i));
}

/* "n++" in an expression, or "n = 3" behind a comma. */
static bool is_changed(const struct parser *p, size_t i)
{
    const struct token *before = token(p, i - 1);
    const struct token *next = token(p, i + 1);
    return token(p, i)->kind == TOKEN_WORD && !token(p, i)->assigned &&
           !is_one_of(before, ".") && !is_token(before, "->") &&
           (assigns(next) || is_token(next, "++") || is_token(next, "--") ||
            is_token(before, "++") || is_token(before, "--"));
}

/* The results of an asm: what is between its first two colons. */
static void mark_results(struct parser *p, size_t i, size_t end)
{
    int colons = 0;
    while (i < end && !is_one_of(token(p, i), "("))
        i++;
    for (end = behind(p, i, end); i < end && colons < 2; i++) {
        colons += is_one_of(token(p, i), ":");
        colons += 2 * is_token(token(p, i), "::");
        if (colons == 1 && token(p, i)->kind == TOKEN_WORD)
            mark_elsewhere(p, i);
    }
}

/* Functions of this text that take a reference. */
static void find_referring(struct parser *p)
{
    for (size_t k = 0; k + 1 < p->token_count && !p->st; k++) {
        if (token(p, k)->kind != TOKEN_WORD || !is_one_of(token(p, k + 1), "("))
            continue;
        const size_t list = behind(p, k + 1, p->token_count);
        bool any = false;
        for (size_t i = k + 2; i < list; i++)
            any = any || is_one_of(token(p, i), "&");
        if (!any || !is_one_of(token(p, list), "{"))
            continue;
        p->st = lab_grow(&p->referring, p->referring_count, &p->referring_room,
                         sizeof(*p->referring), "a source");
        if (!p->st)
            p->referring[p->referring_count++] = k;
    }
}

/* What the call `name` gives to references. */
static void mark_referred(struct parser *p, size_t name, size_t end)
{
    const struct token *f = token(p, name);
    for (size_t r = 0; r < p->referring_count; r++) {
        const size_t k = p->referring[r];
        const struct token *t = token(p, k);
        if (t->n != f->n || k == name ||
            memcmp(t->at, f->at, (size_t)t->n) != 0)
            continue;
        const size_t list = behind(p, k + 1, p->token_count);
        const size_t close = behind(p, name + 1, end);
        size_t given = name + 2;
        for (size_t from = k + 2; from < list && given < close;) {
            size_t next = first_of(p, from, list - 1, ",");
            size_t after = first_of(p, given, close - 1, ",");
            if (next > from + 1 && is_one_of(token(p, next - 2), "&") &&
                after == given + 1)
                mark_elsewhere(p, given);
            from = next + 1;
            given = after + 1;
        }
    }
}

/* In the body open .. end. */
static void read_elsewhere(struct parser *p, size_t open, size_t end)
{
    for (size_t i = open + 1; i < end; i++) {
        const struct token *t = token(p, i);
        if (is_token(t, "asm") || is_token(t, "__asm__"))
            mark_results(p, i, end);
        else if (is_referred(p, i)) /* "pair<int, int> &r = n", too */
            mark_elsewhere(p, i + 3);
        else if (is_address_of(p, i))
            mark_elsewhere(p, i + 1);
        else if (is_changed(p, i))
            mark_elsewhere(p, i);
        else if (t->kind == TOKEN_WORD && is_one_of(token(p, i + 1), "("))
            mark_referred(p, i, end);
    }
}

/* A function without parameters that only returns what a thread's position gives it:
 * the same wherever it is called. */
static void read_returned(struct parser *p, size_t open, size_t end)
{
    static const char *const known[] = {
        "threadIdx",   "blockIdx", "blockDim", "gridDim",  "x",
        "y",           "z",        "int64_t",  "uint64_t", "int32_t",
        "static_cast", "uint32_t", "size_t",   "int",      "unsigned",
        "long",        "const"};
    const size_t stop = first_of(p, open + 1, end, ";");
    if (open < 3 || !is_one_of(token(p, open - 1), ")") ||
        !is_one_of(token(p, open - 2), "(") ||
        token(p, open - 3)->kind != TOKEN_WORD ||
        !is_token(token(p, open + 1), "return") || stop + 2 != end ||
        stop < open + 3)
        return;
    for (size_t i = open + 2; i < stop; i++) {
        bool any = token(p, i)->kind != TOKEN_WORD;
        for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
            any = any || is_token(token(p, i), known[k]);
        if (!any)
            return;
    }
    const size_t before = p->out->assigned_count;
    assign(p, -1, '=', open + 1, open + 2, stop, false);
    if (p->out->assigned_count > before) {
        struct lab_sim_assigned *a = &p->out->assigned[before];
        const struct token *name = token(p, open - 3);
        snprintf(a->call, sizeof(a->call), "%.*s", name->n, name->at);
    }
}

/* A body follows a list of parameters. */
static bool is_body(const struct parser *p, size_t i)
{
    if (!is_one_of(token(p, i), "{"))
        return false;
    while (i > 0 && (is_token(token(p, i - 1), "const") ||
                     is_token(token(p, i - 1), "noexcept")))
        i--;
    return i > 0 && is_one_of(token(p, i - 1), ")");
}

enum lab_status lab_sim_statements_read(const char *text, size_t bytes,
                                        struct lab_sim_statements *out)
{
    struct parser p = {.out = out};
    *out = (struct lab_sim_statements){.declared = NULL};
    char *copy = lab_alloc(bytes + 1);
    if (!copy)
        return lab_no_memory("a source");
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    blank(copy, bytes);
    for (size_t i = 0; i < bytes; i++) /* of comments, too: lines are counted */
        copy[i] = text[i] == '\n' ? '\n' : copy[i];
    p.st = cut_tokens(&p, copy, copy + bytes);
    if (!p.st)
        find_referring(&p);
    while (!p.st && p.at < p.token_count) {
        if (!is_body(&p, p.at)) {
            p.at++;
            continue;
        }
        p.function = out->declared_count;
        read_parameters(&p, p.at);
        const size_t open = p.at;
        size_t end = behind(&p, p.at, p.token_count);
        if (!p.st)
            read_block(&p, end);
        close_scope(&p, p.function, token(&p, end - 1)->line);
        if (!p.st)
            read_elsewhere(&p, open, end);
        if (!p.st)
            read_returned(&p, open, end);
    }
    lab_free(p.tokens);
    lab_free(p.referring);
    lab_free(copy);
    if (p.st)
        lab_sim_statements_release(out);
    return p.st;
}

void lab_sim_statements_release(struct lab_sim_statements *s)
{
    lab_free(s->declared);
    lab_free(s->assigned);
    *s = (struct lab_sim_statements){.declared = NULL};
}

/* ---- arrays in shared memory ---- */

struct number {
    int64_t value;
    bool known;
};

/* A text in words, and itself for the lines of the preprocessor. */
struct declarations {
    struct parser p;
    const char *text;
    const char *end;
    const char *given; /* definitions of the command line; NULL: none */
    const char
        *scope;   /* "void k<32, float>(float*)", with the array; or NULL */
    int names;    /* how many more names may be looked up */
    size_t place; /* the token that the names are looked up for */
};

static struct number expression(struct declarations *d, size_t *at, int least,
                                int depth);

static struct number same(struct number a, struct number b, bool first)
{
    a.known = first ? b.known : a.known && b.known && a.value == b.value;
    a.value = b.value;
    return a;
}

static struct number written_number(const char *from, const char *end)
{
    char text[32];
    char *rest;
    const size_t n = (size_t)(end - from);
    if (n == 0 || n >= sizeof(text))
        return (struct number){0, false};
    memcpy(text, from, n);
    text[n] = '\0';
    const int64_t value = strtoll(text, &rest, 0);
    return (struct number){value, rest > text && !rest[strspn(rest, "uUlL")]};
}

/* Is what is left of a line comments? Not if one of them goes on behind the line. */
static bool is_comments(const char *at, const char *end)
{
    for (;;) {
        while (at < end && isspace((unsigned char)*at))
            at++;
        if (at == end)
            return true;
        if (end - at < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*'))
            return false;
        if (at[1] == '/')
            return true;
        for (at += 2; end - at >= 2 && (at[0] != '*' || at[1] != '/');)
            at++;
        if (end - at < 2)
            return false;
        at += 2;
    }
}

/* "#define NAME 32", or in brackets; *count of them. */
static struct number defined(const char *from, const char *end,
                             const struct token *name, int *count)
{
    static const char word[] = "define";
    struct number out = {0, false};
    for (const char *at = from; at < end; at++) {
        const char *line = at;
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        at = stop;
        while (line < stop && isspace((unsigned char)*line))
            line++;
        if (line == stop || *line++ != '#')
            continue;
        while (line < stop && isspace((unsigned char)*line))
            line++;
        if ((size_t)(stop - line) < sizeof(word) ||
            memcmp(line, word, sizeof(word) - 1) != 0)
            continue;
        line += sizeof(word) - 1;
        while (line < stop && isspace((unsigned char)*line))
            line++;
        if (stop - line <= name->n ||
            memcmp(line, name->at, (size_t)name->n) != 0 ||
            is_word(line[name->n]))
            continue;
        line += name->n;
        const char *last = line;
        while (line < stop && (isspace((unsigned char)*line) || *line == '('))
            line++;
        for (last = line; last < stop && is_word(*last);)
            last++;
        struct number one = written_number(line, last);
        while (last < stop && (isspace((unsigned char)*last) || *last == ')'))
            last++;
        one.known = one.known && is_comments(last, stop);
        out = same(out, one, *count == 0);
        ++*count;
    }
    return out;
}

/* "const int NAME = 32", "enum { NAME = 32" ends before token i. */
static bool is_constant(const struct parser *p, size_t i)
{
    bool any = false;
    while (i > 0 && !is_one_of(token(p, i - 1), ";{}")) {
        const struct token *t = token(p, --i);
        any = any || is_token(t, "const") || is_token(t, "constexpr");
    }
    if (!any && i > 0 && is_one_of(token(p, i - 1), "{"))
        any = is_token(token(p, i - 2), "enum") ||
              (i > 2 && is_token(token(p, i - 3), "enum"));
    return any;
}

static bool same_name(const struct token *a, const struct token *b)
{
    return a->kind == TOKEN_WORD && a->n == b->n &&
           memcmp(a->at, b->at, (size_t)a->n) == 0;
}

/* Behind "name<" in the scope; NULL: it has none. */
static const char *arguments_of(const char *scope, const struct token *name)
{
    for (const char *at = scope; name->n > 0 && *at; at++)
        if (strncmp(at, name->at, (size_t)name->n) == 0 && at[name->n] == '<' &&
            (at == scope || !is_word(at[-1])))
            return at + name->n + 1;
    return NULL;
}

/* Argument `number` of a list that ends at its '>': where, and *end; NULL: too few. */
static const char *argument_at(const char *list, int number, const char **end)
{
    int depth = 0;
    while (*list == ' ')
        list++;
    for (const char *at = list; *at; at++) {
        const bool ends = depth == 0 && (*at == ',' || *at == '>');
        if (ends && number == 0) {
            *end = at;
            return list;
        }
        if (ends && *at == '>')
            return NULL;
        if (ends) {
            number--;
            for (list = at + 1; *list == ' ';)
                list++;
        }
        depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
    }
    return NULL;
}

/* What the scope has for a parameter of a template. */
struct parameter {
    const char *from; /* NULL: it is not known */
    const char *end;
};

/* Is it a parameter of a template whose body has token `place`? */
static bool is_parameter(const struct declarations *d, size_t place,
                         const struct token *name, struct parameter *out)
{
    const struct parser *p = &d->p;
    *out = (struct parameter){NULL, NULL};
    for (size_t i = 0; i < place; i++) {
        if (!is_token(token(p, i), "template") ||
            !is_one_of(token(p, i + 1), "<"))
            continue;
        int found = -1;      /* its number */
        int count = 0;       /* of those before */
        bool preset = false; /* behind a parameter's "=" */
        int depth = 0;
        size_t k = i + 1;
        for (; k < place; k++) {
            const struct token *t = token(p, k);
            if (is_one_of(t, "([{")) {
                k = behind(p, k, place) - 1;
                continue;
            }
            depth += is_one_of(t, "<");
            depth -= is_token(t, ">>") ? 2 : is_one_of(t, ">");
            if (depth <= 0)
                break;
            if (depth == 1 && is_one_of(t, ",="))
                preset = is_one_of(t, "=");
            count += depth == 1 && is_one_of(t, ",");
            if (!preset && same_name(t, name))
                found = count;
        }
        const size_t body = first_of(p, k + 1, p->token_count, "{;");
        if (found < 0 || body >= place || !is_one_of(token(p, body), "{") ||
            behind(p, body, p->token_count) <= place)
            continue;
        for (k++; d->scope && k < body && !out->from; k++) {
            const char *list = token(p, k)->kind == TOKEN_WORD
                                   ? arguments_of(d->scope, token(p, k))
                                   : NULL;
            if (list)
                out->from = argument_at(list, found, &out->end);
        }
        return true;
    }
    return false;
}

/* "32", "(int)32", "true", as a demangled name has it. */
static struct number argument_number(const struct parameter *of)
{
    const char *from = of->from;
    const char *end = of->end;
    if (!from)
        return (struct number){0, false};
    if (*from == '(')
        while (from < end && *from++ != ')')
            ;
    if (end - from == 4 && memcmp(from, "true", 4) == 0)
        return (struct number){1, true};
    if (end - from == 5 && memcmp(from, "false", 5) == 0)
        return (struct number){0, true};
    return written_number(from, end);
}

/* What all that is called so in the text agree on. */
static struct number constant(struct declarations *d, const struct token *name,
                              int depth)
{
    const struct parser *p = &d->p;
    int count = 0;
    struct number out = {0, false};
    struct parameter argument;
    if (--d->names < 0)
        return out;
    if (is_parameter(d, d->place, name, &argument))
        return argument_number(&argument);
    /* What the command line defines a text has under #ifndef at most. */
    if (d->given)
        out = defined(d->given, d->given + strlen(d->given), name, &count);
    if (count > 0)
        return out;
    out = defined(d->text, d->end, name, &count);
    for (size_t i = 1; i + 2 < p->token_count; i++) {
        const struct token *t = token(p, i);
        if (!same_name(t, name) || !is_token(token(p, i + 1), "="))
            continue;
        const size_t place = d->place;
        size_t at = i + 2;
        struct number one = {0, false};
        d->place = i;
        if (is_constant(p, i))
            one = expression(d, &at, 1, depth + 1);
        d->place = place;
        one.known = one.known && is_one_of(token(p, at), ",;}");
        out = same(out, one, count == 0);
        count++;
    }
    return out;
}

static struct number operand(struct declarations *d, size_t *at, int depth)
{
    enum { DEEP = 16 };
    const struct token *t = token(&d->p, *at);
    struct number out = {0, false};
    ++*at;
    if (t->kind == TOKEN_NUMBER)
        return written_number(t->at, t->at + t->n);
    if (t->kind == TOKEN_WORD && depth < DEEP)
        return constant(d, t, depth);
    if (!is_one_of(t, "(") || depth >= DEEP)
        return out;
    out = expression(d, at, 1, depth + 1);
    out.known = out.known && is_one_of(token(&d->p, *at), ")");
    ++*at;
    return out;
}

/* From token *at on, of operators of at least this strength. */
static struct number expression(struct declarations *d, size_t *at, int least,
                                int depth)
{
    enum { SUM = 9 };
    struct number a = operand(d, at, depth);
    for (;;) {
        char top = 0;
        const int s = strength(token(&d->p, *at), &top);
        if (s < SUM || s < least)
            return a;
        ++*at;
        const struct number b = expression(d, at, s + 1, depth);
        int64_t value = 0;
        a.known = a.known && b.known;
        if (a.known && (top == '/' || top == '%') && b.value <= 0)
            a.known = false;
        else if (a.known && top == '/')
            value = a.value / b.value;
        else if (a.known && top == '%')
            value = a.value % b.value;
        else if (a.known)
            a.known = top == '*'
                          ? !__builtin_mul_overflow(a.value, b.value, &value)
                      : top == '-'
                          ? !__builtin_sub_overflow(a.value, b.value, &value)
                          : !__builtin_add_overflow(a.value, b.value, &value);
        a.value = value;
    }
}

/* ---- types ---- */

/* The type of an element, by its words; -1 and 0: not known. */
struct element {
    int type; /* enum lab_sim_type, of its numbers */
    int bytes;
};

/* What a type has been read to be so far. */
struct type_words {
    int type;
    int count; /* of numbers */
    bool without_sign;
    bool wrong;
};

/* In any order, as the language has it: "long unsigned int", "int long". */
static void add_type_word(struct type_words *t, const char *word, size_t n)
{
    static const struct {
        const char *word;
        enum lab_sim_type type;
        int most; /* numbers of CUDA's vectors of it: float2 to float4; 1: none */
    } rows[] = {{"float", LAB_SIM_TYPE_FLOAT, 4},
                {"double", LAB_SIM_TYPE_DOUBLE, 4},
                {"half", LAB_SIM_TYPE_HALF, 2},
                {"__half", LAB_SIM_TYPE_HALF, 2},
                {"__nv_bfloat16", LAB_SIM_TYPE_BFLOAT16, 2},
                {"int", LAB_SIM_TYPE_INT, 4},
                {"int32_t", LAB_SIM_TYPE_INT, 1},
                {"uint", LAB_SIM_TYPE_UNSIGNED, 4},
                {"uint32_t", LAB_SIM_TYPE_UNSIGNED, 1},
                {"long", LAB_SIM_TYPE_LONG, 4},
                {"longlong", LAB_SIM_TYPE_LONG, 4},
                {"int64_t", LAB_SIM_TYPE_LONG, 1},
                {"ulong", LAB_SIM_TYPE_ULONG, 4},
                {"ulonglong", LAB_SIM_TYPE_ULONG, 4},
                {"size_t", LAB_SIM_TYPE_ULONG, 1},
                {"uint64_t", LAB_SIM_TYPE_ULONG, 1},
                {"short", LAB_SIM_TYPE_SHORT, 4},
                {"int16_t", LAB_SIM_TYPE_SHORT, 1},
                {"ushort", LAB_SIM_TYPE_USHORT, 4},
                {"uint16_t", LAB_SIM_TYPE_USHORT, 1},
                {"char", LAB_SIM_TYPE_CHAR, 4},
                {"int8_t", LAB_SIM_TYPE_CHAR, 1},
                {"uchar", LAB_SIM_TYPE_UCHAR, 4},
                {"uint8_t", LAB_SIM_TYPE_UCHAR, 1},
                {"bool", LAB_SIM_TYPE_BOOL, 1}};
    int count = 1;
    size_t k = 0;
    if (n == 8 && memcmp(word, "unsigned", n) == 0) {
        t->without_sign = true;
        return;
    }
    if (n == 6 && memcmp(word, "signed", n) == 0) {
        t->type = t->type < 0 ? LAB_SIM_TYPE_INT : t->type;
        return;
    }
    if (n > 1 && word[n - 1] >= '2' && word[n - 1] <= '4')
        count = word[--n] - '0';
    while (k < sizeof(rows) / sizeof(rows[0]) &&
           (strlen(rows[k].word) != n || memcmp(rows[k].word, word, n) != 0 ||
            count > rows[k].most))
        k++;
    if (k == sizeof(rows) / sizeof(rows[0]))
        t->wrong = true;
    else if (t->type < 0 || t->type == LAB_SIM_TYPE_INT) {
        t->type = rows[k].type;
        t->count = count;
    } else if (rows[k].type != LAB_SIM_TYPE_INT &&
               !(t->type == LAB_SIM_TYPE_LONG &&
                 rows[k].type == LAB_SIM_TYPE_LONG))
        t->wrong = true;
}

static struct element element_of(const struct type_words *t)
{
#define X(code, name, bytes, ...) bytes,
    static const int bytes_of[] = {LAB_SIM_TYPE_LIST(X)};
#undef X
    static const enum lab_sim_type without[LAB_SIM_TYPE_COUNT] = {
        [LAB_SIM_TYPE_INT] = LAB_SIM_TYPE_UNSIGNED,
        [LAB_SIM_TYPE_LONG] = LAB_SIM_TYPE_ULONG,
        [LAB_SIM_TYPE_SHORT] = LAB_SIM_TYPE_USHORT,
        [LAB_SIM_TYPE_CHAR] = LAB_SIM_TYPE_UCHAR};
    int type = t->type;
    if (t->without_sign)
        type = type < 0        ? LAB_SIM_TYPE_UNSIGNED
               : without[type] ? (int)without[type]
                               : -1;
    if (t->wrong || type < 0)
        return (struct element){-1, 0};
    return (struct element){type,
                            bytes_of[type] * (t->count > 0 ? t->count : 1)};
}

int lab_sim_type_of_words(const char *text, size_t n)
{
    struct type_words t = {.type = -1};
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && text[end] != ' ')
            end++;
        if (end > i)
            add_type_word(&t, text + i, end - i);
        i = end + 1;
    }
    return element_of(&t).type;
}

static struct element read_element(const struct parser *p, size_t from,
                                   size_t end, const struct declarations *d);

/* Of the type that the scope has for a parameter. */
static struct element argument_element(const struct parameter *of)
{
    struct parser p = {.out = NULL};
    struct element e = {-1, 0};
    if (!of->from)
        return e;
    if (of->end > of->from && of->end[-1] == '*')
        return (struct element){-1, 8};
    if (!cut_tokens(&p, of->from, of->end))
        e = read_element(&p, 0, p.token_count, NULL);
    lab_free(p.tokens);
    return e;
}

/* Of tokens from .. end - 1. `d`: what a word may be a parameter in, or NULL. */
static struct element read_element(const struct parser *p, size_t from,
                                   size_t end, const struct declarations *d)
{
    static const char *const others[] = {"__shared__", "extern", "volatile",
                                         "static", "const"};
    struct type_words words = {.type = -1};
    for (size_t i = from; i < end; i++) {
        const struct token *t = token(p, i);
        struct parameter argument;
        bool other = false;
        if (is_token(t, "__align__") || is_token(t, "alignas")) {
            i = behind(p, i + 1, end) - 1;
            continue;
        }
        for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
            other = other || is_token(t, others[k]);
        if (other)
            continue;
        if (d && t->kind == TOKEN_WORD && is_parameter(d, i, t, &argument))
            return argument_element(&argument);
        add_type_word(&words, t->at, (size_t)t->n);
    }
    return element_of(&words);
}

enum array_match { ARRAY_OTHER, ARRAY_FOUND, ARRAY_UNKNOWN };

/* Fills in what follows from `total` bytes for the size of an element and the first side. */
static enum array_match fit(struct lab_sim_array *a, int64_t total)
{
    int64_t inner = a->element_bytes > 0 ? a->element_bytes : 1;
    for (int k = 1; k < a->rank; k++)
        if (__builtin_mul_overflow(inner, a->dim[k], &inner))
            return ARRAY_OTHER;
    if (total % inner != 0)
        return ARRAY_OTHER;
    const int64_t rest = total / inner; /* the first side, or more */
    if (a->element_bytes > 0) {
        const int64_t first = a->rank > 0 ? a->dim[0] : 1;
        if (a->rank > 0)
            a->dim[0] = rest;
        return first == rest || first == 0 ? ARRAY_FOUND : ARRAY_OTHER;
    }
    if (a->rank == 0 || a->dim[0] == 0)
        return ARRAY_UNKNOWN;
    if (rest % a->dim[0] != 0 || rest / a->dim[0] > INT32_MAX)
        return ARRAY_OTHER;
    a->element_bytes = (int)(rest / a->dim[0]);
    return a->element_bytes > 0 ? ARRAY_FOUND : ARRAY_OTHER;
}

/* "__shared__ float s[8][9]" of tokens that begin at `from`, with its name. A side of 0
 * is not known. */
static enum array_match read_array(struct declarations *d, size_t from,
                                   size_t name, size_t type_end, int64_t total,
                                   struct lab_sim_array *out)
{
    const struct parser *p = &d->p;
    size_t at = name + 1;
    d->place = name;
    const struct element e = read_element(p, from, type_end, d);
    *out = (struct lab_sim_array){.type = e.type, .element_bytes = e.bytes};
    while (is_one_of(token(p, at), "[")) {
        struct number n = {0, false};
        if (out->rank == LAB_SIM_MAX_RANK)
            return ARRAY_UNKNOWN;
        at++;
        if (!is_one_of(token(p, at), "]"))
            n = expression(d, &at, 1, 0);
        n.known = n.known && n.value > 0 && is_one_of(token(p, at), "]");
        while (at < p->token_count && !is_one_of(token(p, at), "];"))
            at++;
        if (is_one_of(token(p, at), "]"))
            at++;
        if (out->rank > 0 && !n.known)
            return ARRAY_UNKNOWN;
        out->dim[out->rank++] = n.known ? n.value : 0;
    }
    if (total >= 0)
        return fit(out, total);
    return out->rank == 1 && out->element_bytes > 0 ? ARRAY_FOUND
                                                    : ARRAY_UNKNOWN;
}

/* Declarations in the statement of `__shared__` at token i. */
static void read_shared(struct declarations *d, size_t i, const char *name,
                        int64_t total, struct lab_sim_array *out, int *count)
{
    const struct parser *p = &d->p;
    bool external = false;
    size_t from = i;
    while (from > 0 && !is_one_of(token(p, from - 1), ";{})"))
        from--;
    const size_t end = first_of(p, i, p->token_count, ";");
    size_t type_end = 0;
    for (size_t k = from; k < end; k++)
        external = external || is_token(token(p, k), "extern");
    if (external != (total < 0))
        return;
    for (size_t k = i + 1; k < end; k++) {
        if (token(p, k)->kind != TOKEN_WORD ||
            !(is_one_of(token(p, k + 1), "[;,=")))
            continue;
        struct lab_sim_array one = {0};
        type_end = type_end > 0 ? type_end : k;
        if (is_token(token(p, k), name)) {
            const enum array_match match =
                read_array(d, from, k, type_end, total, &one);
            /* One that is not known may be the one. */
            if (match == ARRAY_UNKNOWN ||
                (*count > 0 && memcmp(out, &one, sizeof(one)) != 0))
                one.element_bytes = -1;
            if (match != ARRAY_OTHER) {
                *out = one;
                ++*count;
            }
        }
        k = first_of(p, k + 1, end, ",");
    }
}

bool lab_sim_source_array(const char *text, size_t bytes, const char *given,
                          const char *scope, const char *name, int64_t total,
                          struct lab_sim_array *out)
{
    enum { NAMES = 1000 };
    struct declarations d = {.text = text,
                             .end = text + bytes,
                             .given = given,
                             .scope = scope,
                             .names = NAMES};
    int count = 0;
    memset(out, 0, sizeof(*out));
    char *copy = lab_alloc(bytes + 1);
    if (!copy)
        return false;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    blank(copy, bytes);
    const enum lab_status st = cut_tokens(&d.p, copy, copy + bytes);
    for (size_t i = 0; !st && i < d.p.token_count; i++)
        if (is_token(token(&d.p, i), "__shared__"))
            read_shared(&d, i, name, total, out, &count);
    lab_free(d.p.tokens);
    lab_free(copy);
    return count > 0 && out->element_bytes > 0;
}
