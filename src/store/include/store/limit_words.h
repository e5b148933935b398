/* store/limit_words.h -- what limits a kernel's occupancy, in words: the bits of
 * enum lab_occupancy_limit that are kept with it. Threads: any. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

LAB_C_BEGIN
/* "registers<between>shared"; "" for none, or when they are not known. */
void lab_limit_words(int64_t limit, const char *between, char *out,
                     size_t bytes);
/* "registers+shared", "none"; NULL: unknown. 64 bytes are enough for all. */
const char *lab_limit_text(int64_t limit, char *out, size_t bytes);
LAB_C_END
