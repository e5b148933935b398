/* ytree.c -- builds a tree of a YAML document from libyaml events, with the
 * place of every value. */
#include "ytree.h"

#include <string.h>
#include <yaml.h>

#include "base/str.h"

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
