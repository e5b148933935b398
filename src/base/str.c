/* str.c -- growing strings; text from outside made visible and safe for a
 * terminal; the nearest name for "did you mean". */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

void lab_str_init(struct lab_str *s)
{
    *s = (struct lab_str){0};
}

void lab_str_release(struct lab_str *s)
{
    lab_free(s->data);
    lab_str_init(s);
}

void lab_str_clear(struct lab_str *s)
{
    s->len = 0;
    s->failed = false;
    if (s->data)
        s->data[0] = '\0';
}

const char *lab_str_text(const struct lab_str *s)
{
    return s->data ? s->data : "";
}

static bool reserve(struct lab_str *s, size_t more)
{
    size_t need;
    if (s->failed)
        return false;
    if (!lab_add_size(s->len, more, &need) || !lab_add_size(need, 1, &need)) {
        s->failed = true;
        return false;
    }
    if (need <= s->cap)
        return true;
    size_t cap = s->cap ? s->cap : 64;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    char *data = lab_realloc_array(s->data, cap, 1);
    if (!data) {
        s->failed = true;
        return false;
    }
    s->data = data;
    s->cap = cap;
    return true;
}

enum lab_status lab_str_check(const struct lab_str *s, const char *what)
{
    return s->failed ? lab_no_memory(what) : LAB_OK;
}

char *lab_str_detach(struct lab_str *s)
{
    if (!reserve(s, 0)) {
        lab_str_release(s);
        return NULL;
    }
    s->data[s->len] = '\0';
    char *data = s->data;
    lab_str_init(s);
    return data;
}

void lab_str_add_bytes(struct lab_str *s, const char *bytes, size_t n)
{
    if (!reserve(s, n))
        return;
    if (n)
        memcpy(s->data + s->len, bytes, n);
    s->len += n;
    s->data[s->len] = '\0';
}

void lab_str_add(struct lab_str *s, const char *text)
{
    lab_str_add_bytes(s, text, strlen(text));
}

void lab_str_add_char(struct lab_str *s, char c)
{
    lab_str_add_bytes(s, &c, 1);
}

void lab_str_addf(struct lab_str *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab_str_addv(s, fmt, args);
    va_end(args);
}

void lab_str_addv(struct lab_str *s, const char *fmt, va_list args)
{
    va_list again;
    size_t room = s->failed ? 0 : s->cap - s->len;
    va_copy(again, args);
    int n = vsnprintf(room ? s->data + s->len : NULL, room, fmt, args);
    if (n < 0 || !reserve(s, (size_t)n)) {
        s->failed = true;
        if (room)
            s->data[s->len] = '\0';
        va_end(again);
        return;
    }
    if ((size_t)n >= room) /* it was cut off */
        vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
    va_end(again);
    s->len += (size_t)n;
}

size_t lab_utf8_check(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned code;
        size_t len = lab_utf8_next(s + i, n - i, &code);
        if (len == 0)
            return i;
        i += len;
    }
    return (size_t)-1;
}

/* Characters that reorder or hide text, or show nothing: a lesson must not use
 * them to show one thing and mean another. U+200C and U+200D are not among them:
 * scripts and emoji need these. */
static bool hides_text(unsigned code)
{
    static const struct {
        unsigned first;
        unsigned last;
    } hidden[] = {
        {0xAD, 0xAD},       {0x34F, 0x34F},   {0x61C, 0x61C},
        {0x115F, 0x1160},   {0x17B4, 0x17B5}, {0x180E, 0x180E},
        {0x200B, 0x200B},   {0x200E, 0x200F}, {0x2028, 0x202E},
        {0x2060, 0x206F},   {0x3164, 0x3164}, {0xFEFF, 0xFEFF},
        {0xFFA0, 0xFFA0},   {0xFFF9, 0xFFFB}, {0x1D173, 0x1D17A},
        {0xE0000, 0xE007F},
    };
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

/* Shown by a terminal as it is. */
static bool is_shown(unsigned code, bool keep_lines)
{
    bool line = code == '\n' || code == '\t';
    return line ? keep_lines
                : code >= 0x20 && (code < 0x7F || code >= 0xA0) &&
                      !hides_text(code);
}

/* How many bytes at the start are printable ASCII, which is nearly all text. */
static size_t ascii_bytes(const char *s, size_t n, bool keep_lines)
{
    size_t i = 0;
    while (i < n && ((s[i] >= 0x20 && s[i] < 0x7F) ||
                     (keep_lines && (s[i] == '\n' || s[i] == '\t'))))
        i++;
    return i;
}

bool lab_is_visible(const char *s, size_t n, bool keep_lines)
{
    unsigned code;
    for (size_t i = ascii_bytes(s, n, keep_lines), len; i < n;
         i += len, i += ascii_bytes(s + i, n - i, keep_lines)) {
        len = lab_utf8_next(s + i, n - i, &code);
        if (len == 0 || !is_shown(code, keep_lines))
            return false;
    }
    return true;
}

void lab_str_add_visible(struct lab_str *s, const char *bytes, size_t n,
                         bool keep_lines)
{
    for (size_t i = 0; i < n;) {
        unsigned code = 0;
        size_t ascii = ascii_bytes(bytes + i, n - i, keep_lines);
        lab_str_add_bytes(s, bytes + i, ascii);
        i += ascii;
        if (i == n)
            break;
        size_t len = lab_utf8_next(bytes + i, n - i, &code);
        if (len == 0)
            lab_str_addf(s, "\\x%02X", (unsigned char)bytes[i]);
        else if (is_shown(code, keep_lines))
            lab_str_add_bytes(s, bytes + i, len);
        else if (code < 0x20)
            lab_str_addf(s, "^%c", (char)(code + '@'));
        else if (code == 0x7F)
            lab_str_add(s, "^?");
        else
            lab_str_addf(s, code < 0xA0 ? "\\x%02X" : "\\u%04X", code);
        i += len ? len : 1;
    }
}

void lab_visible_copy(char *out, size_t cap, const char *text)
{
    struct lab_str s;
    lab_str_init(&s);
    lab_str_add_visible(&s, text ? text : "", text ? strlen(text) : 0, false);
    if ((size_t)snprintf(out, cap, "%s", lab_str_text(&s)) >= cap)
        lab_utf8_trim(out);
    lab_str_release(&s);
}

enum { NEAR_MAX = 63 };

/* Levenshtein distance, one row at a time. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NEAR_MAX + 1];
    size_t na = strlen(a);
    size_t nb = strlen(b);
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

const char *lab_nearest(const char *word, const char *const *names,
                        size_t count)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 3 + 2;
    if (strlen(word) > NEAR_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strlen(names[i]) > NEAR_MAX)
            continue;
        size_t d = edit_distance(word, names[i]);
        if (d < best_distance) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}
