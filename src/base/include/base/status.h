/* base/status.h -- how every function of the program reports failure.
 *
 * A function that can fail returns enum lab_status. LAB_OK is 0. On failure it
 * calls lab_fail(), which keeps one line of detail for the calling thread and
 * returns the code, so that `return lab_fail(LAB_E_SHAPE, "...")` both explains
 * and returns. Outputs are untouched on failure unless a header states
 * otherwise.
 *
 * Threads: the detail is thread-local. A code that crosses threads must carry
 * a copy of its text. Nothing here prints or exits. */
#pragma once
#include <stdarg.h>

#ifdef __cplusplus
#define LAB_C_BEGIN extern "C" {
#define LAB_C_END }
#else
#define LAB_C_BEGIN
#define LAB_C_END
#endif

#if defined(__GNUC__)
#define LAB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define LAB_PRINTF(fmt, args)
#endif

/* code, what it means in a few words */
#define LAB_STATUS_LIST(X)                                                     \
    X(OK, "done")                                                              \
    X(E_ARG, "wrong argument")                                                 \
    X(E_USAGE, "wrong usage")                                                  \
    X(E_NOMEM, "out of memory")                                                \
    X(E_IO, "cannot read or write")                                            \
    X(E_PARSE, "not understood")                                               \
    X(E_SHAPE, "shapes do not fit")                                            \
    X(E_RANGE, "value out of range")                                           \
    X(E_NOTFOUND, "not found")                                                 \
    X(E_UNSUPPORTED, "not available here")                                     \
    X(E_DEVICE, "device failure")                                              \
    X(E_DB, "database failure")                                                \
    X(E_CHECK, "a check failed")                                               \
    X(E_CANCELLED, "cancelled")                                                \
    X(E_STATE, "not possible now")                                             \
    X(E_INTERNAL, "a defect in the program")                                   \
    X(E_NOT_BUILT, "not in this version")

enum lab_status {
#define X(code, text) LAB_##code,
    LAB_STATUS_LIST(X)
#undef X
        LAB_STATUS_COUNT
};

LAB_C_BEGIN
/* The few words for `st`; never NULL. */
const char *lab_status_text(enum lab_status st);

/* Keeps the formatted detail (at most 1023 bytes, cut at a UTF-8 boundary) as
 * this thread's last error and returns `st`. */
enum lab_status lab_fail(enum lab_status st, const char *fmt, ...)
    LAB_PRINTF(2, 3);

/* LAB_E_NOMEM: "no memory for WHAT". */
enum lab_status lab_no_memory(const char *what);

/* Puts "text: " before this thread's last error; returns `st`. */
enum lab_status lab_fail_context(enum lab_status st, const char *fmt, ...)
    LAB_PRINTF(2, 3);

/* This thread's last error; "" when there was none. Valid until the thread's
 * next lab_fail(). */
const char *lab_error(void);
LAB_C_END
