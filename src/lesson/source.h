/* source.h -- a lesson file as bytes: read, found safe, split in two.
 *
 * Threads: one at a time. */
#pragma once
#include <stddef.h>
#include "base/status.h"
#include "lesson/finding.h"

/* Larger than any lesson that a person writes or reads; data that needs more
 * belongs into a file of its own (data: source: csv). */
enum { LAB_SOURCE_MAX_BYTES = 4 * 1024 * 1024 };

struct lab_source {
    const char *name; /* as messages show it; borrowed */
    char *bytes;      /* owned, NUL after `size` bytes */
    size_t size;
    const char *yaml; /* points into bytes */
    size_t yaml_size;
    int yaml_line; /* the file's line of its first line, from 1 */
    const char *body;
    size_t body_size;
    int body_line;
};

LAB_C_BEGIN
/* Reads the file at `path`. Its mistakes go to `found`; the caller asks
 * found->errors. Errors: LAB_E_NOMEM, LAB_E_IO, LAB_E_RANGE (too large). */
enum lab_status lab_source_read(struct lab_source *src, const char *path,
                                struct lab_findings *found);
/* The same from memory; the bytes are copied. */
enum lab_status lab_source_copy(struct lab_source *src, const char *name,
                                const char *bytes, size_t size,
                                struct lab_findings *found);
void lab_source_release(struct lab_source *src);
LAB_C_END
