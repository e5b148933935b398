/* ytree.c -- YAML as a tree that knows its lines, and values read from it with a
 * message for each mistake. */
#include "ytree.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/str.h"

/* typed values out of the YAML tree. */

enum { SHOWN_BYTES = 40 };

static void add_error(struct lab_reader *r, int line, int column,
                      enum lab_status st, const char *fmt, va_list args)
{
    lab_findings_add_v(r->found, r->file, line, column, LAB_SEVERITY_ERROR, st,
                       fmt, args);
}

enum lab_status lab_y_fail(struct lab_reader *r, const struct lab_ynode *node,
                           enum lab_status st, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_error(r, node->line, node->column, st, fmt, args);
    va_end(args);
    return st;
}

enum lab_status lab_y_fail_key(struct lab_reader *r,
                               const struct lab_ynode *node, enum lab_status st,
                               const char *fmt, ...)
{
    va_list args;
    bool key = node->key != NULL;
    va_start(args, fmt);
    add_error(r, key ? node->key_line : node->line,
              key ? node->key_column : node->column, st, fmt, args);
    va_end(args);
    return st;
}

enum lab_status lab_y_nomem(struct lab_reader *r)
{
    r->found->failed = true;
    return lab_fail(LAB_E_NOMEM, "%s: no memory left to read it", r->file);
}

enum lab_status lab_y_fail_unknown(struct lab_reader *r,
                                   const struct lab_ynode *node,
                                   const char *what, const char *word,
                                   const char *const *names, size_t count)
{
    const char *near = lab_nearest(word, names, count);
    struct lab_str list;
    if (near)
        return lab_y_fail_key(r, node, LAB_E_PARSE,
                              "unknown %s %.*s; did you mean %s?", what,
                              SHOWN_BYTES, word, near);
    lab_str_init(&list);
    for (size_t i = 0; i < count; i++)
        lab_str_addf(&list, "%s%s", i ? ", " : "", names[i]);
    enum lab_status st = LAB_E_PARSE;
    if (list.failed)
        st = lab_y_nomem(r);
    else
        lab_y_fail_key(r, node, st, "unknown %s %.*s; known: %s", what,
                       SHOWN_BYTES, word, lab_str_text(&list));
    lab_str_release(&list);
    return st;
}

/* Says in a few words what stands at `node`, for "expected X, found Y". */
static void describe(const struct lab_ynode *node, char *out, size_t n)
{
    int shown = (int)(node->len < SHOWN_BYTES ? node->len : SHOWN_BYTES);
    const char *more = node->len > SHOWN_BYTES ? "..." : "";
    if (node->kind == LAB_Y_LIST)
        snprintf(out, n, "a list of %lld", (long long)node->count);
    else if (node->kind == LAB_Y_MAP)
        snprintf(out, n, "a mapping");
    else if (node->plain && node->len == 0)
        snprintf(out, n, "nothing");
    else if (lab_y_is_number(node))
        snprintf(out, n, "the number %.*s%s", shown, node->text, more);
    else
        snprintf(out, n, "the text \"%.*s%s\"", shown, node->text, more);
}

static enum lab_status fail_expected(struct lab_reader *r,
                                     const struct lab_ynode *node,
                                     const char *what)
{
    char found[96];
    describe(node, found, sizeof(found));
    if (node->key)
        return lab_y_fail(r, node, LAB_E_PARSE, "%.*s: expected %s, found %s",
                          SHOWN_BYTES, node->key, what, found);
    return lab_y_fail(r, node, LAB_E_PARSE, "expected %s, found %s", what,
                      found);
}

enum lab_status lab_y_want(struct lab_reader *r, const struct lab_ynode *node,
                           enum lab_ykind kind, const char *what)
{
    return node->kind == kind ? LAB_OK : fail_expected(r, node, what);
}

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

static bool is_special(const char *s)
{
    static const char *const names[] = {
        ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN",     "inf",
        "Inf",  "INF",  "nan",  "NaN",  "NAN",  "infinity", "Infinity"};
    s += *s == '-' || *s == '+';
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(s, names[i]) == 0)
            return true;
    }
    return false;
}

/* YAML 1.2's decimal numbers. Hexadecimal, octal and 1_000 are not taken:
 * readers disagree about them. */
static bool is_decimal(const char *s, bool *is_int)
{
    s += *s == '-' || *s == '+';
    size_t whole = digits(s);
    size_t fraction = 0;
    s += whole;
    *is_int = true;
    if (*s == '.') {
        fraction = digits(s + 1);
        s += 1 + fraction;
        *is_int = false;
    }
    if (whole + fraction == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '-' || *s == '+';
        size_t power = digits(s);
        if (power == 0)
            return false;
        s += power;
        *is_int = false;
    }
    return *s == '\0';
}

bool lab_y_is_number(const struct lab_ynode *node)
{
    bool is_int;
    return node->kind == LAB_Y_SCALAR && node->plain &&
           strlen(node->text) == node->len &&
           (is_decimal(node->text, &is_int) || is_special(node->text));
}

/* 010 is eight to one YAML reader and ten to the next. */
static bool looks_octal(const char *s)
{
    s += *s == '-' || *s == '+';
    return s[0] == '0' && s[1] >= '0' && s[1] <= '9';
}

static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* strtod() of the user's locale may want a comma. */
static double to_double(const char *s)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale ? strtod_l(s, NULL, c_locale) : strtod(s, NULL);
}

static enum lab_status want_number(struct lab_reader *r,
                                   const struct lab_ynode *node,
                                   const char *what, bool *is_int)
{
    if (!lab_y_is_number(node))
        return fail_expected(r, node, what);
    if (is_special(node->text))
        return lab_y_fail(r, node, LAB_E_RANGE,
                          "%.*s%sNaN or Inf (%s): expected a finite number",
                          SHOWN_BYTES, node->key ? node->key : "",
                          node->key ? ": " : "", node->text);
    is_decimal(node->text, is_int);
    if (looks_octal(node->text))
        return lab_y_fail(r, node, LAB_E_PARSE,
                          "the number %.*s begins with 0, which some readers "
                          "take for octal: write it without",
                          SHOWN_BYTES, node->text);
    return LAB_OK;
}

enum lab_status lab_y_number(struct lab_reader *r, const struct lab_ynode *node,
                             double *out, bool *is_int)
{
    bool whole = false;
    enum lab_status st = want_number(r, node, "a number", &whole);
    if (st)
        return st;
    double value = to_double(node->text);
    if (!isfinite(value))
        return lab_y_fail(r, node, LAB_E_RANGE,
                          "the number %.*s is too large for any float",
                          SHOWN_BYTES, node->text);
    *out = value;
    if (is_int)
        *is_int = whole;
    return LAB_OK;
}

static enum lab_status fail_range(struct lab_reader *r,
                                  const struct lab_ynode *node, int64_t least,
                                  int64_t most)
{
    const char *key = node->key ? node->key : "";
    const char *colon = node->key ? ": " : "";
    if (most != INT64_MAX)
        return lab_y_fail(r, node, LAB_E_RANGE,
                          "%.*s%s%.*s is not between %lld and %lld",
                          SHOWN_BYTES, key, colon, SHOWN_BYTES, node->text,
                          (long long)least, (long long)most);
    if (node->text[0] == '-' || least > 0)
        return lab_y_fail(r, node, LAB_E_RANGE,
                          "%.*s%s%.*s: expected a whole number from %lld on, "
                          "below 2^63",
                          SHOWN_BYTES, key, colon, SHOWN_BYTES, node->text,
                          (long long)least);
    return lab_y_fail(r, node, LAB_E_RANGE, "%.*s%s%.*s is 2^63 or more",
                      SHOWN_BYTES, key, colon, SHOWN_BYTES, node->text);
}

enum lab_status lab_y_int(struct lab_reader *r, const struct lab_ynode *node,
                          int64_t least, int64_t most, int64_t *out)
{
    bool whole = false;
    enum lab_status st = want_number(r, node, "a whole number", &whole);
    if (st)
        return st;
    if (!whole)
        return fail_expected(r, node, "a whole number");
    errno = 0;
    long long value = strtoll(node->text, NULL, 10);
    if (errno == ERANGE || value < least || value > most)
        return fail_range(r, node, least, most);
    *out = value;
    return LAB_OK;
}

enum lab_status lab_y_bool(struct lab_reader *r, const struct lab_ynode *node,
                           bool *out)
{
    bool plain = node->kind == LAB_Y_SCALAR && node->plain;
    if (plain && strcmp(node->text, "true") == 0)
        *out = true;
    else if (plain && strcmp(node->text, "false") == 0)
        *out = false;
    else
        return fail_expected(r, node, "true or false");
    return LAB_OK;
}

enum lab_status lab_y_text(struct lab_reader *r, const struct lab_ynode *node,
                           size_t most, const char **out)
{
    if (node->kind != LAB_Y_SCALAR || node->len == 0 ||
        strlen(node->text) != node->len)
        return fail_expected(r, node, "a text");
    if (node->len > most)
        return lab_y_fail(r, node, LAB_E_RANGE,
                          "this text has %zu bytes; at most %zu are taken",
                          node->len, most);
    const char *copy = lab_arena_text(r->arena, node->text, node->len);
    if (!copy)
        return lab_y_nomem(r);
    *out = copy;
    return LAB_OK;
}

enum lab_status lab_y_choice(struct lab_reader *r, const struct lab_ynode *node,
                             const char *what, const char *const *names,
                             size_t count, size_t *out)
{
    if (node->kind != LAB_Y_SCALAR || node->len == 0)
        return fail_expected(r, node, "a word");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(node->text, names[i]) == 0) {
            *out = i;
            return LAB_OK;
        }
    }
    /* The mistake is in the value, not in the key before it. */
    struct lab_ynode value = *node;
    value.key = NULL;
    return lab_y_fail_unknown(r, &value, what, node->text, names, count);
}

static enum lab_status unknown_key(struct lab_reader *r,
                                   const struct lab_ynode *node,
                                   const struct lab_ykey *keys, size_t count)
{
    const char *names[64];
    size_t n = 0;
    for (size_t i = 0; i < count && n < 64; i++)
        names[n++] = keys[i].name;
    return lab_y_fail_unknown(r, node, "key", node->key, names, n);
}

enum lab_status lab_y_keys(struct lab_reader *r, const struct lab_ynode *map,
                           const struct lab_ykey *keys, size_t count,
                           void *user)
{
    enum lab_status worst = LAB_OK;
    for (const struct lab_ynode *n = map->first; n; n = n->next) {
        size_t i = 0;
        while (i < count && strcmp(keys[i].name, n->key) != 0)
            i++;
        enum lab_status st = i < count ? keys[i].take(r, n, user)
                                       : unknown_key(r, n, keys, count);
        if (st == LAB_E_NOMEM)
            return st;
        if (st)
            worst = LAB_E_PARSE;
    }
    return worst;
}

const struct lab_ynode *lab_y_get(const struct lab_ynode *map, const char *key)
{
    if (map->kind != LAB_Y_MAP)
        return NULL;
    for (const struct lab_ynode *n = map->first; n; n = n->next) {
        if (strcmp(n->key, key) == 0)
            return n;
    }
    return NULL;
}

struct builder {
    struct lab_reader *r;
    struct lab_arena *arena;
    const struct lab_source *src;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; valid while have_event */
    bool have_event;
};

static int file_line(const struct builder *b, const yaml_mark_t *mark)
{
    return (int)mark->line + b->src->yaml_line;
}

static enum lab_status fail_at(struct builder *b, const yaml_mark_t *mark,
                               const char *fmt, ...) LAB_PRINTF(3, 4);
static enum lab_status fail_at(struct builder *b, const yaml_mark_t *mark,
                               const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab_findings_add_v(b->r->found, b->r->file, file_line(b, mark),
                       (int)mark->column + 1, LAB_SEVERITY_ERROR, LAB_E_PARSE,
                       fmt, args);
    va_end(args);
    return LAB_E_PARSE;
}

static enum lab_status syntax_error(struct builder *b)
{
    const yaml_parser_t *p = &b->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return lab_y_nomem(b->r);
    const char *problem = p->problem ? p->problem : "not understood";
    if (strstr(problem, "cannot start any token"))
        return fail_at(b, &p->problem_mark,
                       "YAML: this character cannot stand here (a tab cannot "
                       "indent; quote a text that begins with @, ` or %%)");
    if (p->context && p->context_mark.line != p->problem_mark.line)
        return fail_at(b, &p->problem_mark, "YAML: %s (%s from line %d)",
                       problem, p->context, file_line(b, &p->context_mark));
    return fail_at(b, &p->problem_mark, "YAML: %s%s%s", problem,
                   p->context ? " " : "", p->context ? p->context : "");
}

static enum lab_status advance(struct builder *b)
{
    if (b->have_event)
        yaml_event_delete(&b->event);
    b->have_event = yaml_parser_parse(&b->parser, &b->event) != 0;
    return b->have_event ? LAB_OK : syntax_error(b);
}

static struct lab_ynode *new_node(struct builder *b, enum lab_ykind kind)
{
    struct lab_ynode *node = lab_arena_take(b->arena, sizeof(*node));
    if (!node) {
        lab_y_nomem(b->r);
        return NULL;
    }
    node->kind = kind;
    node->line = file_line(b, &b->event.start_mark);
    node->column = (int)b->event.start_mark.column + 1;
    return node;
}

/* A quoted scalar may write any character as an escape; what the file may not
 * hold, its texts may not hold either. */
static enum lab_status check_scalar(struct builder *b, const char *s, size_t n)
{
    struct lab_str shown;
    lab_str_init(&shown);
    lab_str_add_visible(&shown, s, n, true);
    bool failed = shown.failed;
    bool same =
        shown.len == n && (n == 0 || memcmp(lab_str_text(&shown), s, n) == 0);
    lab_str_release(&shown);
    if (failed)
        return lab_y_nomem(b->r);
    if (!same)
        return fail_at(b, &b->event.start_mark,
                       "this text holds an escaped control character: "
                       "remove it");
    return LAB_OK;
}

static enum lab_status read_scalar(struct builder *b, struct lab_ynode **out)
{
    const char *s = (const char *)b->event.data.scalar.value;
    size_t n = b->event.data.scalar.length;
    enum lab_status st = LAB_OK;
    if (b->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        st = check_scalar(b, s, n);
    if (st)
        return st;
    struct lab_ynode *node = new_node(b, LAB_Y_SCALAR);
    if (!node)
        return LAB_E_NOMEM;
    node->plain = b->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->len = n;
    node->text = lab_arena_text(b->arena, s, n);
    if (!node->text)
        return lab_y_nomem(b->r);
    *out = node;
    return LAB_OK;
}

static enum lab_status check_properties(struct builder *b)
{
    const yaml_event_t *e = &b->event;
    const yaml_mark_t *at = &e->start_mark;
    const unsigned char *anchor = NULL;
    const unsigned char *tag = NULL;
    if (e->type == YAML_ALIAS_EVENT)
        return fail_at(b, at, "an alias (*%s): write the value out",
                       (const char *)e->data.alias.anchor);
    if (e->type == YAML_SCALAR_EVENT) {
        anchor = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
    } else if (e->type == YAML_SEQUENCE_START_EVENT) {
        anchor = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
    } else if (e->type == YAML_MAPPING_START_EVENT) {
        anchor = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
    }
    if (anchor)
        return fail_at(b, at, "an anchor (&%s): lessons have none; remove it",
                       (const char *)anchor);
    if (tag)
        return fail_at(b, at, "a tag (%s): lessons have none; remove it",
                       (const char *)tag);
    return LAB_OK;
}

static enum lab_status read_node(struct builder *b, int depth,
                                 struct lab_ynode **out);

static enum lab_status read_list(struct builder *b, int depth,
                                 struct lab_ynode **out)
{
    struct lab_ynode *list = new_node(b, LAB_Y_LIST);
    if (!list)
        return LAB_E_NOMEM;
    struct lab_ynode **tail = &list->first;
    for (;;) {
        enum lab_status st = advance(b);
        if (st)
            return st;
        if (b->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        st = read_node(b, depth + 1, tail);
        if (st)
            return st;
        tail = &(*tail)->next;
        list->count++;
    }
    *out = list;
    return LAB_OK;
}

static enum lab_status read_key(struct builder *b, struct lab_ynode *map,
                                struct lab_ynode **key)
{
    enum lab_status st = check_properties(b);
    if (st)
        return st;
    if (b->event.type != YAML_SCALAR_EVENT)
        return fail_at(b, &b->event.start_mark,
                       "a key must be a plain name, not a list or mapping");
    st = read_scalar(b, key);
    if (st)
        return st;
    if (memchr((*key)->text, '\n', (*key)->len))
        return fail_at(b, &b->event.start_mark, "a key must be one line");
    for (const struct lab_ynode *n = map->first; n; n = n->next) {
        if (strcmp(n->key, (*key)->text) == 0)
            return fail_at(b, &b->event.start_mark,
                           "the key %s stands here and in line %d, column %d: "
                           "remove one",
                           n->key, n->key_line, n->key_column);
    }
    return LAB_OK;
}

static enum lab_status read_map(struct builder *b, int depth,
                                struct lab_ynode **out)
{
    struct lab_ynode *map = new_node(b, LAB_Y_MAP);
    if (!map)
        return LAB_E_NOMEM;
    struct lab_ynode **tail = &map->first;
    for (;;) {
        struct lab_ynode *key = NULL;
        enum lab_status st = advance(b);
        if (st)
            return st;
        if (b->event.type == YAML_MAPPING_END_EVENT)
            break;
        if (map->count >= LAB_Y_MAX_KEYS)
            return fail_at(b, &b->event.start_mark,
                           "more than %d keys in one mapping", LAB_Y_MAX_KEYS);
        st = read_key(b, map, &key);
        if (!st)
            st = advance(b);
        struct lab_ynode *value = NULL;
        if (!st)
            st = read_node(b, depth + 1, &value);
        if (st)
            return st;
        value->key = key->text;
        value->key_line = key->line;
        value->key_column = key->column;
        *tail = value;
        tail = &value->next;
        map->count++;
    }
    *out = map;
    return LAB_OK;
}

/* Reads the node that the current event begins. */
static enum lab_status read_node(struct builder *b, int depth,
                                 struct lab_ynode **out)
{
    if (depth > LAB_Y_MAX_DEPTH)
        return fail_at(b, &b->event.start_mark, "nested deeper than %d levels",
                       LAB_Y_MAX_DEPTH);
    enum lab_status st = check_properties(b);
    if (st)
        return st;
    switch (b->event.type) {
    case YAML_SCALAR_EVENT:
        return read_scalar(b, out);
    case YAML_SEQUENCE_START_EVENT:
        return read_list(b, depth, out);
    case YAML_MAPPING_START_EVENT:
        return read_map(b, depth, out);
    default:
        return fail_at(b, &b->event.start_mark, "YAML: not understood");
    }
}

static enum lab_status read_stream(struct builder *b, struct lab_ynode **out)
{
    enum lab_status st = advance(b); /* stream start */
    if (!st)
        st = advance(b);
    if (st)
        return st;
    if (b->event.type == YAML_STREAM_END_EVENT)
        return fail_at(b, &b->event.start_mark,
                       "the front matter is empty: it needs format, title, "
                       "network and loss");
    st = advance(b);
    if (!st)
        st = read_node(b, 1, out);
    if (!st)
        st = advance(b); /* document end */
    if (!st)
        st = advance(b);
    if (!st && b->event.type != YAML_STREAM_END_EVENT)
        st = fail_at(b, &b->event.start_mark,
                     "the front matter is one YAML document, not several");
    return st;
}

enum lab_status lab_ytree_read(struct lab_reader *r, struct lab_arena *arena,
                               const struct lab_source *src,
                               struct lab_ynode **out)
{
    struct builder b = {.r = r, .arena = arena, .src = src};
    struct lab_ynode *root = NULL;
    *out = NULL;
    if (!yaml_parser_initialize(&b.parser))
        return lab_y_nomem(r);
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)src->yaml,
                                 src->yaml_size);
    enum lab_status st = read_stream(&b, &root);
    if (b.have_event)
        yaml_event_delete(&b.event);
    yaml_parser_delete(&b.parser);
    if (st == LAB_E_NOMEM)
        return st;
    *out = st ? NULL : root;
    return LAB_OK;
}
