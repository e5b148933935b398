/* base/glyph.h -- ASCII text for a character. Threads: any. */
#pragma once
#include <stddef.h>
#include "base/status.h"

LAB_C_BEGIN
/* A few ASCII characters with the same meaning, or NULL when none are known:
 * U+00D7 "x", U+03A3 "sum", U+2500 "-", U+00E9 "e". Static text. */
const char *lab_glyph_ascii(unsigned code);

/* Writes `utf8` to `out` with every character above 0x7F replaced by its
 * ASCII text or '?', cut at cap - 1 bytes: text for LC_ALL=C. */
void lab_text_to_ascii(const char *utf8, char *out, size_t cap);
LAB_C_END
