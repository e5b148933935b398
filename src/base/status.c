/* status.c -- status codes, and the text of the last failure of each thread. */
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { DETAIL_BYTES = 1024 };
static _Thread_local char detail[DETAIL_BYTES];

const char *lab_status_text(enum lab_status st)
{
    static const char *const text[LAB_STATUS_COUNT] = {
#define X(code, words) [LAB_##code] = words,
        LAB_STATUS_LIST(X)
#undef X
    };
    if ((unsigned)st >= LAB_STATUS_COUNT)
        return "unknown status";
    return text[st];
}

enum lab_status lab_fail(enum lab_status st, const char *fmt, ...)
{
    va_list args;
    char next[DETAIL_BYTES]; /* the arguments may point into `detail` */
    va_start(args, fmt);
    int n = vsnprintf(next, sizeof(next), fmt, args);
    va_end(args);
    if (n >= (int)sizeof(next))
        lab_utf8_trim(next);
    memcpy(detail, next, sizeof(detail));
    return st;
}

enum lab_status lab_no_memory(const char *what)
{
    return lab_fail(LAB_E_NOMEM, "no memory for %s", what);
}

enum lab_status lab_fail_context(enum lab_status st, const char *fmt, ...)
{
    char where[DETAIL_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(where, sizeof(where), fmt, args);
    va_end(args);
    return lab_fail(st, "%s: %s", where, detail);
}

const char *lab_error(void)
{
    return detail;
}
