/* A record as the members of a JSON line, by its table of columns. */
#include "report/json_fields.h"

#include "base/unknown.h"

#include <math.h>
#include <string.h>

struct line {
    json_t *object;
    const struct lab_fields *fields;
    const void *row;
    const struct lab_json_field *but;
    size_t n;
};

static const struct lab_json_field *find(const struct line *l,
                                         const char *column)
{
    for (size_t i = 0; column && i < l->n; i++)
        if (strcmp(l->but[i].column, column) == 0)
            return &l->but[i];
    return NULL;
}

static void add_value(json_t *o, const char *key, const struct lab_field *f,
                      const void *row)
{
    char text[256];
    const void *at = (const char *)row + f->at;
    if (f->text || f->kind == LAB_FIELD_TEXT) {
        lab_json_text(o, key, lab_field_text(f, row, text, sizeof(text)));
        return;
    }
    if (f->real) {
        lab_json_real(o, key, f->real(row));
        return;
    }
    switch (f->kind) {
    case LAB_FIELD_INT:
        lab_json_int(o, key, *(const int64_t *)at);
        break;
    case LAB_FIELD_NS: {
        double ns = *(const double *)at;
        lab_json_int(o, key, isnan(ns) ? LAB_UNKNOWN : (int64_t)ns);
        break;
    }
    case LAB_FIELD_DIMS:
        lab_json_ints(o, key, at, 3);
        break;
    case LAB_FIELD_UINT:
        if (*(const int64_t *)at == LAB_UNKNOWN)
            lab_json_int(o, key, LAB_UNKNOWN);
        else
            lab_json_uint(o, key, *(const uint64_t *)at);
        break;
    case LAB_FIELD_BOOL:
        lab_json_bool(o, key, *(const bool *)at);
        break;
    default:
        lab_json_real(o, key, *(const double *)at);
    }
}

static void add_field(struct line *l, const struct lab_field *f,
                      const struct lab_json_field *but)
{
    struct lab_str key;
    if (!but && f->key) {
        if (f->key[0])
            add_value(l->object, f->key, f, l->row);
        return;
    }
    lab_str_init(&key);
    if (but && but->key)
        lab_str_add(&key, but->key);
    else
        lab_field_key(&key, f, false);
    if (key.failed) {
        json_decref(l->object);
        l->object = NULL;
    } else if (key.len) {
        add_value(l->object, lab_str_text(&key), f, l->row);
    }
    lab_str_release(&key);
}

/* In their order those that follow `column`; NULL: those that stand in their
 * own place, each with its followers. */
static void add_after(struct line *l, const char *column)
{
    for (int i = 0; i < l->fields->count; i++) {
        const struct lab_field *f = &l->fields->list[i];
        const struct lab_json_field *but = find(l, f->column);
        const char *after = but ? but->after : NULL;
        if (after ? !column || strcmp(after, column) != 0 : column != NULL)
            continue;
        add_field(l, f, but);
        if (!column && l->n > 0)
            add_after(l, f->column);
    }
}

json_t *lab_json_fields(json_t *object, const struct lab_fields *fields,
                        const void *row, const struct lab_json_field *but,
                        size_t n)
{
    struct line l = {object, fields, row, but, n};
    add_after(&l, NULL);
    return l.object;
}
