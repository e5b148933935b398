/* front.h -- what lesson.c, front.c and yaml.c share: the bytes of a lesson
 * file, and its front matter as a tree that knows its places.
 *
 * The tree is a subset of YAML on purpose: mappings with plain names, lists,
 * scalars. No anchors, aliases, tags or second documents: no lesson needs one,
 * and each is a way to surprise. Lines and columns are those of the lesson file.
 * Threads: one at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
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

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
    enum yaml_kind kind;
    struct lab_place at;
    bool plain;       /* of a scalar: written without quotes */
    const char *text; /* of a scalar */
    size_t len;
    const char *key; /* of a value in a mapping, else NULL */
    struct lab_place key_at;
    struct yaml *first; /* of a list or mapping, in the file's order */
    struct yaml *next;
    int64_t count; /* children */
};

LAB_C_BEGIN
/* The front matter of `src` as a tree in `arena`. NULL: the YAML could not be
 * understood, the reason is in `found`; or found->failed, without memory. */
const struct yaml *lab_yaml_read(struct lab_findings *found,
                                 struct lab_arena *arena,
                                 const struct lab_source *src);
/* The value of `key`, or NULL. */
const struct yaml *lab_yaml_get(const struct yaml *map, const char *key);
/* Reads the front matter of `src` into `lesson`, whose arena is its memory.
 * Mistakes go to `found`; found->failed: without memory. */
void lab_front_read(struct lab_lesson *lesson, const struct lab_source *src,
                    struct lab_findings *found);
LAB_C_END
