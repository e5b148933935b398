/* ui/glyph.h -- the stand-in of a character in ASCII. Threads: any. */
#pragma once
#include <stddef.h>
#include "base/status.h"

LAB_C_BEGIN
/* A few ASCII characters that say the same, or NULL when none are known:
 * U+00D7 "x", U+03A3 "sum", U+2500 "-", U+00E9 "e". Static text. */
const char *lab_glyph_ascii(unsigned code);

/* Writes `utf8` to `out` with every character above 0x7F replaced by its
 * stand-in or '?', cut at cap - 1 bytes: text for LC_ALL=C. */
void lab_text_to_ascii(const char *utf8, char *out, size_t cap);
LAB_C_END
