#include "report/json_fields.h"

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
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->but[i].column, column) == 0)
            return &l->but[i];
    return NULL;
}

static void add_value(json_t *o, const char *key, const struct lab_field *f,
                      const void *row)
{
    const void *at = (const char *)row + f->at;
    if (f->kind == LAB_FIELD_INT)
        lab_json_int(o, key, *(const int64_t *)at);
    else if (f->kind == LAB_FIELD_TEXT)
        lab_json_text(o, key, *(const char *const *)at);
    else
        lab_json_real(o, key, *(const double *)at);
}

static void add_field(struct line *l, const struct lab_field *f)
{
    const struct lab_json_field *but = find(l, f->column);
    struct lab_str key;
    lab_str_init(&key);
    if (but && but->key)
        lab_str_add(&key, but->key);
    else
        lab_field_name(&key, f->column);
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
        add_field(l, f);
        if (!column)
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
