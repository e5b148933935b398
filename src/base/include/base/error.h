/* base/error.h -- the ids of errors.
 *
 * An error has an id, a few stable words with dots between them, for scripts and
 * tests; its wording may change. The id is in brackets before the wording:
 *     lab_fail(LAB_E_PARSE, "[lesson.key.twice] the key %s is there twice", key)
 * An error without one has the id of its code. docs/errors.md has more.
 *
 * Threads: like base/status.h. An error that crosses threads keeps its id only
 * where the id is carried beside its text. */
#pragma once
#include "base/status.h"

#if defined(__GNUC__)
#define LAB_FORMAT_OF(fmt) __attribute__((format_arg(fmt)))
#else
#define LAB_FORMAT_OF(fmt)
#endif

enum { LAB_ERROR_ID_BYTES = 48, LAB_ERROR_BYTES = 1024 };

LAB_C_BEGIN
/* The id of this thread's last error; "" when there was none. Valid as long as
 * lab_error(). */
const char *lab_error_id(void);
/* lab_fail(). */
enum lab_status lab_failv(enum lab_status st, const char *fmt, va_list args);
/* The same with an id that was kept with an earlier error, or lab_error_id() for
 * another code or wording of the last one. */
enum lab_status lab_fail_id(enum lab_status st, const char *id, const char *fmt,
                            ...) LAB_PRINTF(3, 4);
/* This thread's last error, to be raised again after calls that may overwrite it,
 * or on another thread. */
struct lab_kept_error {
    char id[LAB_ERROR_ID_BYTES];
    char text[LAB_ERROR_BYTES];
};
void lab_error_keep(struct lab_kept_error *out);
/* Returns `st`; LAB_OK raises nothing. */
enum lab_status lab_error_again(enum lab_status st,
                                const struct lab_kept_error *kept);
/* The wording in `fmt`, behind its id, which is copied; "": it has none. */
const char *lab_error_wording(const char *fmt, char id[LAB_ERROR_ID_BYTES])
    LAB_FORMAT_OF(1);
LAB_C_END
