/* base/str.h -- growing strings, text from outside made safe, nearest names.
 *
 * struct lab_str owns its bytes, which always end in NUL. A failed allocation
 * sets `failed` and turns later appends into no-ops, so that a caller may build
 * a whole text and check once. Threads: one at a time. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"

struct lab_str {
    char *data; /* NULL until the first append; use lab_str_text() */
    size_t len;
    size_t cap;
    bool failed;
};

LAB_C_BEGIN
void lab_str_init(struct lab_str *s);
void lab_str_release(struct lab_str *s);
/* Empties the text and keeps the memory. */
void lab_str_clear(struct lab_str *s);
/* The text; "" when empty. Valid until the next change. */
const char *lab_str_text(const struct lab_str *s);
/* LAB_E_NOMEM, "no memory for WHAT", when an append failed. */
enum lab_status lab_str_check(const struct lab_str *s, const char *what);
/* Hands the memory to the caller (lab_free); NULL when an append failed. */
char *lab_str_detach(struct lab_str *s);

void lab_str_add(struct lab_str *s, const char *text);
void lab_str_add_bytes(struct lab_str *s, const char *bytes, size_t n);
void lab_str_add_char(struct lab_str *s, char c);
void lab_str_addf(struct lab_str *s, const char *fmt, ...) LAB_PRINTF(2, 3);
void lab_str_addv(struct lab_str *s, const char *fmt, va_list args);

/* Appends text from outside (a lesson, a file name, a kernel name) so that a
 * terminal only ever prints it: control characters become ^X or \xNN, invalid
 * UTF-8 becomes \xNN, bidirectional overrides become \uNNNN. Newline and tab
 * are kept when `keep_lines`. */
void lab_str_add_visible(struct lab_str *s, const char *bytes, size_t n,
                         bool keep_lines);
/* That would append the text as it is. */
bool lab_is_visible(const char *s, size_t n, bool keep_lines);

/* Length of the valid UTF-8 sequence at `s` (1 to 4), or 0 when it is not one;
 * *code is its code point. Never reads past `n`. */
size_t lab_utf8_next(const char *s, size_t n, unsigned *code);
/* The code point as UTF-8 and NUL; "" beyond U+10FFFF. */
void lab_utf8_put(unsigned code, char out[5]);
/* Columns of a code point on a terminal: 2 wide, 1, 0 combining, -1 what must
 * not reach one: control characters, text direction, invisible joiners. The
 * same in every locale. */
int lab_utf8_columns(unsigned code);
/* Drops the bytes of an incomplete last character from `s`, a string that was
 * cut to fit its room. */
void lab_utf8_trim(char *s);
/* lab_str_add_visible() of a string into the `cap` bytes at `out`: what does not
 * fit is cut between two characters. NULL is "". */
void lab_visible_copy(char *out, size_t cap, const char *text);
/* Byte offset of the first invalid sequence, or (size_t)-1. */
size_t lab_utf8_check(const char *s, size_t n);

/* The entry of names[count] that is nearest to `word` by edit distance, or NULL
 * when none is near enough to be what the writer meant. */
const char *lab_nearest(const char *word, const char *const *names,
                        size_t count);
LAB_C_END
