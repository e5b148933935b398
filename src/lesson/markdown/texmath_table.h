/* texmath_table.h -- TeX's words and their Unicode forms. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"

enum lab_texmath_kind {
    LAB_TEX_SYMBOL,
    LAB_TEX_OPERATOR,
    LAB_TEX_FUNCTION,
    LAB_TEX_FRACTION,
    LAB_TEX_ROOT,
    LAB_TEX_ACCENT,
    LAB_TEX_LITERAL,
    LAB_TEX_DELIMITER,
    LAB_TEX_ENVIRONMENT,
    LAB_TEX_NOTHING
};

struct lab_texmath_word {
    const char *name; /* without the backslash */
    enum lab_texmath_kind kind;
    const char *text;
};

LAB_C_BEGIN
/* NULL when the command is not known. */
const struct lab_texmath_word *lab_texmath_find(const char *name);
/* The raised or lowered form of one character, or NULL when Unicode has
 * none. */
const char *lab_texmath_script(const char *utf8, size_t len, bool raise);
LAB_C_END
