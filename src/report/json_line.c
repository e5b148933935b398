/* json_line.c -- one JSON object a line on standard output, flushed.
 *
 * The JSON lines of all commands: keys and values by jansson, a record by its table
 * of fields, and the line of an iteration by hand, of which a fast training has very
 * many. A lack of memory is an error of the line, never a member that is missing. */
#include "report/json_line.h"
#include "report/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/unknown.h"

__extension__ typedef unsigned __int128 u128;

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

void lab_json_begin(struct lab_str *line, json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(object);
    line->failed = take_lack() || line->failed || !text;
    if (text)
        lab_str_add_bytes(line, text, strlen(text) - 1);
    free(text);
}

enum lab_status lab_json_end(FILE *to, struct lab_str *line)
{
    lab_str_addf(line, ",\"format\":%d}\n", LAB_JSON_FORMAT);
    enum lab_status st = lab_str_check(line, "a line of JSON");
    if (!st && fwrite(line->data, 1, line->len, to) != line->len)
        st = cannot_write();
    lab_str_release(line);
    return st;
}

enum lab_status lab_json_write(FILE *to, json_t *object)
{
    struct lab_str line;
    lab_str_init(&line);
    lab_json_begin(&line, object);
    return lab_json_end(to, &line);
}

/* As jansson writes it: 17 digits, a point or an exponent, and of that neither a
 * plus nor leading zeros. */
static int print_real(char *out, size_t size, double v)
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

enum { DIGITS = 17 };

/* The digits of "%.17g", half to even, without a point, and the power of ten of the
 * first one. False: outside 1e-10 to 1e17 a product of 128 bits is not exact. */
static bool digits_of(double v, uint64_t *digits, int *power)
{
    const uint64_t too_many = (uint64_t)1e17;
    const uint64_t hidden = (uint64_t)1 << 52; /* the first bit of a mantissa */
    uint64_t bits;
    if (!(v >= 1e-10 && v < 1e17))
        return false;
    memcpy(&bits, &v, sizeof(bits));
    const uint64_t mantissa = hidden | (bits & (hidden - 1));
    const int exponent = (int)(bits >> 52) - 1023; /* of two */
    /* log10 of the power of two below v, rounded down: right, or one too small */
    *power = (exponent * 78913) >> 18;
    for (;; ++*power) {
        const int tens = DIGITS - 1 - *power; /* 0 to 27: 5^27 has 63 bits */
        const int shift = exponent - 52 + tens;
        uint64_t fives = 1;
        for (uint64_t left = (uint64_t)tens, square = 5; left > 0; left >>= 1) {
            fives *= left & 1 ? square : 1;
            square *= square;
        }
        u128 product = (u128)mantissa * fives; /* v * 10^tens / 2^shift */
        if (shift >= 0) {
            *digits = (uint64_t)(product << shift);
        } else {
            u128 half = (u128)1 << (-shift - 1);
            u128 rest = product & (2 * half - 1);
            *digits = (uint64_t)(product >> -shift);
            *digits += rest > half || (rest == half && *digits % 2 == 1);
        }
        if (*digits < too_many)
            return true;
    }
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

/* What print_real() writes, a loss in a quarter of its time. */
static char *put_real(char *to, char *end, double v)
{
    char text[48];
    char digit[DIGITS];
    uint64_t digits = 0;
    int power = 0;
    int n = DIGITS;
    char *at = text;
    if (v != 0 && !digits_of(fabs(v), &digits, &power)) {
        print_real(text, sizeof(text), v);
        return put_text(to, end, text);
    }
    uint32_t high = (uint32_t)(digits / 1000000000); /* 8 digits */
    uint32_t low = (uint32_t)(digits % 1000000000);  /* and 9 */
    for (int i = 0; i < 9; i++, low /= 10, high /= 10) {
        digit[DIGITS - 1 - i] = (char)('0' + low % 10);
        if (i < 8)
            digit[7 - i] = (char)('0' + high % 10);
    }
    while (n > 1 && digit[n - 1] == '0')
        n--;
    const bool scaled = power < -4;
    const int whole = scaled ? 0 : power; /* the point is behind this digit */
    if (signbit(v))
        *at++ = '-';
    for (int i = whole < 0 ? whole : 0; i < n || (!scaled && i <= whole + 1);
         i++) {
        *at++ = i < 0 || i >= n ? '0' : digit[i];
        if (i == whole && (!scaled || n > 1))
            *at++ = '.';
    }
    if (scaled)
        *at++ = 'e';
    *at = '\0';
    to = put_text(to, end, text);
    return scaled ? put_whole(to, end, power) : to;
}

void lab_json_add_number(struct lab_str *line, double v, bool whole)
{
    char number[48];
    char *end = number + sizeof(number);
    char *at = whole         ? put_whole(number, end, (int64_t)v)
               : isfinite(v) ? put_real(number, end, v)
               : isnan(v)
                   ? put_text(number, end, "\"nan\"")
                   : put_text(number, end, v > 0 ? "\"inf\"" : "\"-inf\"");
    lab_str_add_bytes(line, number, (size_t)(at - number));
}

enum lab_status lab_json_write_numbers(FILE *to, const char *type,
                                       const struct lab_json_member *m, int n)
{
    char line[512];
    char *end = line + sizeof(line);
    char *at = put_text(line, end, "{\"type\":\"");
    at = put_text(at, end, type);
    at = put_text(at, end, "\"");
    for (int i = 0; i < n; i++) {
        at = put_text(at, end, ",\"");
        at = put_text(at, end, m[i].key);
        at = put_text(at, end, "\":");
        at = m[i].is_whole ? put_whole(at, end, m[i].whole)
                           : put_real(at, end, m[i].value);
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
