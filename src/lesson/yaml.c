/* yaml.c -- the YAML of a front matter as a tree that knows its lines: libyaml
 * reads it, what a lesson may not have is refused here. */
#include "front.h"

#include <string.h>
#include <yaml.h>

#include "base/str.h"

enum { MAX_DEPTH = 32, MAX_KEYS = 4096 /* of one mapping */ };

/* A function that reads returns false after a mistake, which is in b->found by
 * then, or without memory. */
struct builder {
    struct lab_findings *found;
    struct lab_arena *arena;
    const struct lab_source *src;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; valid while have_event */
    bool have_event;
};

static struct lab_place place_of(const struct builder *b,
                                 const yaml_mark_t *mark)
{
    return (struct lab_place){(int)mark->line + b->src->yaml_line,
                              (int)mark->column + 1};
}

#define fail_at(b, mark, ...)                                                  \
    lab_findings_error((b)->found, place_of(b, mark), LAB_E_PARSE, __VA_ARGS__)
#define fail(b, ...) fail_at(b, &(b)->event.start_mark, __VA_ARGS__)

static bool no_memory(struct builder *b)
{
    b->found->failed = true;
    return false;
}

static bool syntax_error(struct builder *b)
{
    const yaml_parser_t *p = &b->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return no_memory(b);
    const char *problem = p->problem ? p->problem : "not understood";
    if (strstr(problem, "cannot start any token"))
        return fail_at(b, &p->problem_mark,
                       "YAML: this character cannot stand here (a tab cannot "
                       "indent; quote a text that begins with @, ` or %%)");
    if (p->context && p->context_mark.line != p->problem_mark.line)
        return fail_at(b, &p->problem_mark, "YAML: %s (%s from line %d)",
                       problem, p->context, place_of(b, &p->context_mark).line);
    return fail_at(b, &p->problem_mark, "YAML: %s%s%s", problem,
                   p->context ? " " : "", p->context ? p->context : "");
}

static bool advance(struct builder *b)
{
    if (b->have_event)
        yaml_event_delete(&b->event);
    b->have_event = yaml_parser_parse(&b->parser, &b->event) != 0;
    return b->have_event || syntax_error(b);
}

static struct yaml *new_node(struct builder *b, enum yaml_kind kind)
{
    struct yaml *node = lab_arena_take(b->arena, sizeof(*node));
    if (!node) {
        no_memory(b);
        return NULL;
    }
    node->kind = kind;
    node->at = place_of(b, &b->event.start_mark);
    return node;
}

static bool read_scalar(struct builder *b, struct yaml **out)
{
    const char *s = (const char *)b->event.data.scalar.value;
    size_t n = b->event.data.scalar.length;
    bool plain = b->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    /* A quoted scalar may write any character as an escape; what the file may
     * not hold, its texts may not hold either. */
    if (!plain && !lab_is_visible(s, n, true))
        return fail(b, "this text holds an escaped control character: "
                       "remove it");
    struct yaml *node = new_node(b, YAML_SCALAR);
    if (!node)
        return false;
    node->plain = plain;
    node->len = n;
    node->text = lab_arena_text(b->arena, s, n);
    *out = node;
    return node->text || no_memory(b);
}

static bool check_properties(struct builder *b)
{
    const yaml_event_t *e = &b->event;
    const unsigned char *anchor = NULL;
    const unsigned char *tag = NULL;
    if (e->type == YAML_ALIAS_EVENT)
        return fail(b, "an alias (*%s): write the value out",
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
        return fail(b, "an anchor (&%s): lessons have none; remove it",
                    (const char *)anchor);
    return !tag || fail(b, "a tag (%s): lessons have none; remove it",
                        (const char *)tag);
}

static bool read_node(struct builder *b, int depth, struct yaml **out);

static bool read_key(struct builder *b, const struct yaml *map,
                     struct yaml **key)
{
    if (!check_properties(b))
        return false;
    if (b->event.type != YAML_SCALAR_EVENT)
        return fail(b, "a key must be a plain name, not a list or mapping");
    if (!read_scalar(b, key))
        return false;
    if (memchr((*key)->text, '\n', (*key)->len))
        return fail(b, "a key must be one line");
    const struct yaml *other = lab_yaml_get(map, (*key)->text);
    return !other ||
           fail(b,
                "the key %s stands here and in line %d, column %d: remove one",
                other->key, other->key_at.line, other->key_at.column);
}

/* The items of a list, or the keys and values of a mapping, up to its end. */
static bool read_items(struct builder *b, int depth, enum yaml_kind kind,
                       struct yaml **out)
{
    bool map = kind == YAML_MAP;
    struct yaml *whole = new_node(b, kind);
    if (!whole)
        return false;
    *out = whole;
    for (struct yaml **tail = &whole->first;; tail = &(*tail)->next) {
        struct yaml *key = NULL;
        struct yaml *value = NULL;
        if (!advance(b))
            return false;
        if (b->event.type ==
            (map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT))
            return true;
        if (map && whole->count >= MAX_KEYS)
            return fail(b, "more than %d keys in one mapping", MAX_KEYS);
        if (map && (!read_key(b, whole, &key) || !advance(b)))
            return false;
        if (!read_node(b, depth + 1, &value))
            return false;
        if (map) {
            value->key = key->text;
            value->key_at = key->at;
        }
        *tail = value;
        whole->count++;
    }
}

/* Reads the node that the current event begins. */
static bool read_node(struct builder *b, int depth, struct yaml **out)
{
    if (depth > MAX_DEPTH)
        return fail(b, "nested deeper than %d levels", MAX_DEPTH);
    if (!check_properties(b))
        return false;
    switch (b->event.type) {
    case YAML_SCALAR_EVENT:
        return read_scalar(b, out);
    case YAML_SEQUENCE_START_EVENT:
        return read_items(b, depth, YAML_LIST, out);
    case YAML_MAPPING_START_EVENT:
        return read_items(b, depth, YAML_MAP, out);
    default:
        return fail(b, "YAML: not understood");
    }
}

static bool read_stream(struct builder *b, struct yaml **out)
{
    bool begun = advance(b); /* the stream */
    if (!begun || !advance(b))
        return false;
    if (b->event.type == YAML_STREAM_END_EVENT)
        return fail(b, "the front matter is empty: it needs format, title, "
                       "network and loss");
    if (!advance(b) || !read_node(b, 1, out) || !advance(b) || !advance(b))
        return false;
    return b->event.type == YAML_STREAM_END_EVENT ||
           fail(b, "the front matter is one YAML document, not several");
}

const struct yaml *lab_yaml_read(struct lab_findings *found,
                                 struct lab_arena *arena,
                                 const struct lab_source *src)
{
    struct builder b = {.found = found, .arena = arena, .src = src};
    struct yaml *root = NULL;
    if (!yaml_parser_initialize(&b.parser)) {
        no_memory(&b);
        return NULL;
    }
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)src->yaml,
                                 src->yaml_size);
    bool ok = read_stream(&b, &root);
    if (b.have_event)
        yaml_event_delete(&b.event);
    yaml_parser_delete(&b.parser);
    return ok ? root : NULL;
}

const struct yaml *lab_yaml_get(const struct yaml *map, const char *key)
{
    const struct yaml *n = map->kind == YAML_MAP ? map->first : NULL;
    while (n && strcmp(n->key, key) != 0)
        n = n->next;
    return n;
}
