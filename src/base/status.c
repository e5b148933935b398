/* status.c -- status codes, and the text and id of the last failure of each
 * thread. */
#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { DETAIL_BYTES = LAB_ERROR_BYTES };
static _Thread_local char detail[DETAIL_BYTES];
static _Thread_local char detail_id[LAB_ERROR_ID_BYTES];

const char *lab_status_text(enum lab_status st)
{
    static const char *const text[LAB_STATUS_COUNT] = {
#define X(code, words) [LAB_##code] = words,
        LAB_STATUS_LIST(X)
#undef X
    };
    return (unsigned)st < LAB_STATUS_COUNT ? text[st] : "unknown status";
}

static const char *id_of(enum lab_status st)
{
    static const char *const ids[LAB_STATUS_COUNT] = {
        [LAB_OK] = "done",
        [LAB_E_ARG] = "argument",
        [LAB_E_USAGE] = "usage",
        [LAB_E_NOMEM] = "memory",
        [LAB_E_IO] = "io",
        [LAB_E_PARSE] = "syntax",
        [LAB_E_SHAPE] = "shape",
        [LAB_E_RANGE] = "range",
        [LAB_E_NOTFOUND] = "missing",
        [LAB_E_UNSUPPORTED] = "unsupported",
        [LAB_E_DEVICE] = "device",
        [LAB_E_DB] = "database",
        [LAB_E_CHECK] = "check",
        [LAB_E_CANCELLED] = "cancelled",
        [LAB_E_STATE] = "state",
        [LAB_E_INTERNAL] = "defect",
        [LAB_E_NOT_BUILT] = "not-built",
    };
    return (unsigned)st < LAB_STATUS_COUNT ? ids[st] : "";
}

const char *lab_error_wording(const char *fmt, char id[LAB_ERROR_ID_BYTES])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
    size_t n = fmt[0] == '[' ? strspn(fmt + 1, letters) : 0;
    bool has = n > 0 && n < LAB_ERROR_ID_BYTES && fmt[n + 1] == ']' &&
               fmt[n + 2] == ' ';
    snprintf(id, LAB_ERROR_ID_BYTES, "%.*s", has ? (int)n : 0, fmt + has);
    return has ? fmt + n + 3 : fmt;
}

/* The detail alone. The arguments may point into the old one. */
static void set_detail(const char *fmt, va_list args)
{
    char next[DETAIL_BYTES];
    int n = vsnprintf(next, sizeof(next), fmt, args);
    if (n >= (int)sizeof(next))
        lab_utf8_trim(next);
    memcpy(detail, next, sizeof(detail));
}

static void set_id(const char *id)
{
    if (id != detail_id)
        snprintf(detail_id, sizeof(detail_id), "%s", id);
}

enum lab_status lab_failv(enum lab_status st, const char *fmt, va_list args)
{
    char id[LAB_ERROR_ID_BYTES];
    set_detail(lab_error_wording(fmt, id), args);
    set_id(id[0] ? id : id_of(st));
    return st;
}

enum lab_status lab_fail(enum lab_status st, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab_failv(st, fmt, args);
    va_end(args);
    return st;
}

enum lab_status lab_no_memory(const char *what)
{
    return lab_fail(LAB_E_NOMEM, "no memory for %s", what);
}

enum lab_status lab_fail_id(enum lab_status st, const char *id, const char *fmt,
                            ...)
{
    va_list args;
    va_start(args, fmt);
    set_detail(fmt, args);
    va_end(args);
    set_id(id);
    return st;
}

void lab_error_keep(struct lab_kept_error *out)
{
    snprintf(out->id, sizeof(out->id), "%s", detail_id);
    snprintf(out->text, sizeof(out->text), "%s", detail);
}

enum lab_status lab_error_again(enum lab_status st,
                                const struct lab_kept_error *kept)
{
    return st ? lab_fail_id(st, kept->id, "%s", kept->text) : st;
}

enum lab_status lab_fail_context(enum lab_status st, const char *fmt, ...)
{
    char where[DETAIL_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(where, sizeof(where), fmt, args);
    va_end(args);
    return lab_fail_id(st, detail_id, "%s: %s", where, detail);
}

const char *lab_error(void)
{
    return detail;
}

const char *lab_error_id(void)
{
    return detail_id;
}
