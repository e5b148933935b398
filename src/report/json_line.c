/* json_line.c -- one JSON object a line on standard output, flushed. */
#include "report/json_line.h"
#include "report/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/unknown.h"

/* jansson refuses a member of an object that it has no memory for, and the
 * object goes on without it. */
static _Thread_local bool lacks_memory; /* since the last line */

static void *watched_malloc(size_t bytes)
{
    void *p = malloc(bytes);
    lacks_memory = lacks_memory || !p;
    return p;
}

void lab_json_watch_memory(void)
{
    json_set_alloc_funcs(watched_malloc, free);
}

/* Has this thread lacked memory for JSON since it was last asked? */
static bool take_lack(void)
{
    bool lacks = lacks_memory;
    lacks_memory = false;
    return lacks;
}

json_t *lab_json_new(const char *type)
{
    json_t *object = json_object();
    lab_json_text(object, "type", type);
    return object;
}

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value ? value : json_null());
}

void lab_json_text(json_t *object, const char *key, const char *text)
{
    struct lab_str visible;
    json_t *value = text ? json_string(text) : NULL;
    if (text && !value) {
        lab_str_init(&visible);
        lab_str_add_visible(&visible, text, strlen(text), true);
        value = json_string(lab_str_text(&visible));
        lab_str_release(&visible);
    }
    set(object, key, value);
}

void lab_json_word(json_t *object, const char *key, const char *text)
{
    lab_json_text(object, key, text && text[0] ? text : NULL);
}

void lab_json_bool(json_t *object, const char *key, bool v)
{
    set(object, key, json_boolean(v));
}

void lab_json_int(json_t *object, const char *key, int64_t v)
{
    set(object, key, v == INT64_MIN ? NULL : json_integer(v));
}

void lab_json_uint(json_t *object, const char *key, uint64_t v)
{
    char text[24];
    if (v <= INT64_MAX) {
        lab_json_int(object, key, (int64_t)v);
        return;
    }
    snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
    set(object, key, json_string(text)); /* JSON readers lose such numbers */
}

json_t *lab_json_number(double v)
{
    if (isfinite(v))
        return json_real(v);
    return json_string(isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
}

void lab_json_real(json_t *object, const char *key, double v)
{
    set(object, key, isnan(v) ? NULL : lab_json_number(v));
}

void lab_json_value(json_t *object, const char *key, double v)
{
    set(object, key, lab_json_number(v));
}

void lab_json_ints(json_t *object, const char *key, const int64_t *v, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, v[i] == INT64_MIN ? json_null()
                                                       : json_integer(v[i]));
    set(object, key, array);
}

void lab_json_reals(json_t *object, const char *key, const double *v, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, isnan(v[i]) ? json_null()
                                                 : lab_json_number(v[i]));
    set(object, key, array);
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

json_t *lab_json_fields(json_t *object, const struct lab_fields *fields,
                        const void *row)
{
    struct lab_str key;
    lab_str_init(&key);
    for (int i = 0; i < fields->count; i++) {
        lab_str_clear(&key);
        lab_field_key(&key, &fields->list[i], false);
        if (key.len)
            add_value(object, lab_str_text(&key), &fields->list[i], row);
        if (!key.failed)
            continue;
        json_decref(object);
        object = NULL;
    }
    lab_str_release(&key);
    return object;
}

static enum lab_status cannot_write(void)
{
    return lab_fail(LAB_E_IO, "[output.line] cannot write the output");
}

enum lab_status lab_json_write(FILE *to, json_t *object)
{
    lab_json_int(object, "format", LAB_JSON_FORMAT);
    char *line = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(object);
    if (take_lack() || !line) {
        free(line);
        return lab_no_memory("a line of JSON");
    }
    bool written = fputs(line, to) >= 0 && putc('\n', to) != EOF;
    free(line);
    return written ? LAB_OK : cannot_write();
}

/* As jansson writes it: 17 digits, a point or an exponent, and of that neither a
 * plus nor leading zeros. */
static int put_real(char *out, size_t size, double v)
{
    int n = strfromd(out, size, "%.17g", v);
    char *e = strchr(out, 'e');
    if (!e && !strchr(out, '.'))
        return n + snprintf(out + n, size - (size_t)n, ".0");
    if (!e)
        return n;
    char *digits = e + 1 + (e[1] == '-');
    char *from = e + 2; /* behind the sign, which %g always writes */
    while (*from == '0')
        from++;
    memmove(digits, from, strlen(from) + 1);
    return (int)strlen(out);
}

/* Every iteration has such a line: the rest of it is put together by hand. printf is
 * slow where a library has added conversions to it, as that of Fortran's quadruple
 * precision does, which OpenBLAS loads. */
static char *put_text(char *to, char *end, const char *text)
{
    while (*text && to < end)
        *to++ = *text++;
    return to;
}

static char *put_whole(char *to, char *end, int64_t v)
{
    char digits[24];
    char *at = digits + sizeof(digits);
    uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
    *--at = '\0';
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0)
        *--at = '-';
    return put_text(to, end, at);
}

enum lab_status lab_json_write_numbers(FILE *to, const char *type,
                                       const struct lab_json_member *m, int n)
{
    char line[512];
    char number[40];
    char *end = line + sizeof(line);
    char *at = put_text(line, end, "{\"type\":\"");
    at = put_text(at, end, type);
    at = put_text(at, end, "\"");
    for (int i = 0; i < n; i++) {
        at = put_text(at, end, ",\"");
        at = put_text(at, end, m[i].key);
        at = put_text(at, end, "\":");
        if (m[i].is_whole) {
            at = put_whole(at, end, m[i].whole);
        } else {
            put_real(number, sizeof(number), m[i].value);
            at = put_text(at, end, number);
        }
    }
    at = put_text(at, end, ",\"format\":");
    at = put_whole(at, end, LAB_JSON_FORMAT);
    at = put_text(at, end, "}\n");
    size_t bytes = (size_t)(at - line);
    return at < end && fwrite(line, 1, bytes, to) == bytes ? LAB_OK
                                                           : cannot_write();
}

enum lab_status lab_json_print(json_t *object)
{
    enum lab_status st = lab_json_write(stdout, object);
    return st ? st : lab_print_check();
}
