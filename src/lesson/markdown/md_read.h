/* md_read.h -- Markdown to blocks, once per lesson. Threads: one at a time. */
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "lesson/markdown.h"

LAB_C_BEGIN
/* Reads md[n], whose first line is line `first_line` of the file. Everything
 * in *out lives in `arena`. Any text is valid Markdown.
 * Errors: LAB_E_NOMEM. */
enum lab_status lab_md_read(struct lab_arena *arena, const char *md, size_t n,
                            int first_line, struct lab_md *out, int *bad_line);
LAB_C_END
