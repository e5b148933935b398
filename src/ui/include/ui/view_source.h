/* ui/view_source.h -- the functions of a C or CUDA source file, found without
 * a compiler. Pure. Threads: any. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "report/doc.h"

struct lab_source_symbol {
    char name[96];
    int64_t line; /* from 1 */
};

LAB_C_BEGIN
/* Functions and kernels that the text defines, in order: their heads start at
 * the margin and end in a body. Fills at most `cap`; returns how many there
 * are. */
size_t lab_source_symbols(const char *text, size_t bytes,
                          struct lab_source_symbol *out, size_t cap);
/* The text as numbered lines, comments apart from code. */
void lab_source_write(struct lab_doc *doc, const char *text, size_t bytes,
                      bool wrap);
LAB_C_END
