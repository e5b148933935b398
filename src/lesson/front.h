/* front.h -- what lesson.c and front.c share: the bytes of a lesson file, and the
 * reading of its front matter. Lines and columns are those of the file.
 * Threads: one at a time. */
#pragma once
#include <stddef.h>
#include "lesson/finding.h"
#include "lesson/lesson.h"

/* Larger than any lesson that a person writes or reads; data that needs more
 * belongs into a file of its own (data: source: csv). */
enum { LAB_SOURCE_MAX_BYTES = 4 * 1024 * 1024 };

struct lab_source {
    const char *name; /* as messages show it; borrowed */
    char *bytes;      /* owned, NUL after `size` bytes */
    size_t size;
    const char *yaml; /* points into bytes; NULL: there is no front matter */
    size_t yaml_size;
    int yaml_line; /* the file's line of its first line, from 1 */
    const char *body;
    size_t body_size;
    int body_line;
};

LAB_C_BEGIN
/* Reads the front matter of `src` into `lesson`, into its arena.
 * Mistakes go to `found`; found->failed: without memory. */
void lab_front_read(struct lab_lesson *lesson, const struct lab_source *src,
                    struct lab_findings *found);
LAB_C_END
