/* ytree.h -- the front matter as a tree that knows its places.
 *
 * A subset of YAML on purpose: mappings with plain names, lists, scalars. No
 * anchors, aliases, tags or second documents: none of them says anything that
 * a lesson needs, and each is a way to surprise. Lines and columns are those
 * of the lesson file. Threads: one at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "lesson/finding.h"
#include "source.h"

enum lab_ykind { LAB_Y_SCALAR, LAB_Y_LIST, LAB_Y_MAP };

enum {
    LAB_Y_MAX_DEPTH = 32,
    LAB_Y_MAX_KEYS = 4096 /* of one mapping */
};

struct lab_ynode {
    enum lab_ykind kind;
    int line;
    int column;
    bool plain;       /* of a scalar: written without quotes */
    const char *text; /* of a scalar */
    size_t len;
    const char *key; /* of a value in a mapping, else NULL */
    int key_line;
    int key_column;
    struct lab_ynode *first; /* of a list or mapping, in the file's order */
    struct lab_ynode *next;
    int64_t count; /* children */
};

/* What every reading function needs: whose mistakes these are, where they go
 * and where memory comes from. */
struct lab_reader {
    const char *file;
    struct lab_findings *found;
    struct lab_arena *arena; /* lives as long as the lesson */
};

/* One key that a mapping may have and the function that takes its value. */
struct lab_ykey {
    const char *name;
    enum lab_status (*take)(struct lab_reader *r, const struct lab_ynode *node,
                            void *user);
};

LAB_C_BEGIN
/* Reads the front matter of `src` into `tree_arena`. *out is NULL when the
 * YAML could not be understood (the reason is in r->found).
 * Errors: LAB_E_NOMEM. */
enum lab_status lab_ytree_read(struct lab_reader *r, struct lab_arena *arena,
                               const struct lab_source *src,
                               struct lab_ynode **out);

/* Notes an error at `node` and returns `st`. */
enum lab_status lab_y_fail(struct lab_reader *r, const struct lab_ynode *node,
                           enum lab_status st, const char *fmt, ...)
    LAB_PRINTF(4, 5);
enum lab_status lab_y_fail_key(struct lab_reader *r,
                               const struct lab_ynode *node, enum lab_status st,
                               const char *fmt, ...) LAB_PRINTF(4, 5);
/* "unknown WHAT X; did you mean Y?", or the whole list when none is near. */
enum lab_status lab_y_fail_unknown(struct lab_reader *r,
                                   const struct lab_ynode *node,
                                   const char *what, const char *word,
                                   const char *const *names, size_t count);
enum lab_status lab_y_nomem(struct lab_reader *r);

/* Typed access. Each notes an error that says what was expected and what was
 * found, and leaves *out untouched. */
enum lab_status lab_y_want(struct lab_reader *r, const struct lab_ynode *node,
                           enum lab_ykind kind, const char *what);
enum lab_status lab_y_int(struct lab_reader *r, const struct lab_ynode *node,
                          int64_t least, int64_t most, int64_t *out);
/* Any finite number; *is_int tells 3 from 3.0. is_int may be NULL. */
enum lab_status lab_y_number(struct lab_reader *r, const struct lab_ynode *node,
                             double *out, bool *is_int);
enum lab_status lab_y_bool(struct lab_reader *r, const struct lab_ynode *node,
                           bool *out);
/* A text of 1 to `most` bytes, copied into r->arena. */
enum lab_status lab_y_text(struct lab_reader *r, const struct lab_ynode *node,
                           size_t most, const char **out);
/* One of names[count]; *out is its index. */
enum lab_status lab_y_choice(struct lab_reader *r, const struct lab_ynode *node,
                             const char *what, const char *const *names,
                             size_t count, size_t *out);
/* Hands every value of a mapping to its key's function; an unknown key is an
 * error. Goes on after mistakes. Errors: LAB_E_NOMEM, or LAB_E_PARSE when
 * anything was wrong. */
enum lab_status lab_y_keys(struct lab_reader *r, const struct lab_ynode *map,
                           const struct lab_ykey *keys, size_t count,
                           void *user);
/* The value of `key`, or NULL. */
const struct lab_ynode *lab_y_get(const struct lab_ynode *map, const char *key);
/* True when the scalar is a number as YAML writes it (also inf and nan). */
bool lab_y_is_number(const struct lab_ynode *node);
LAB_C_END
