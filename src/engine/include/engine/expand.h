/* engine/expand.h -- a node that represents several.
 *
 * The op's expand() lists the inner nodes in the order in which they run; each
 * is a node like any other. `block1.ln1` is called like a part of `block1`, and
 * the last has the id `block1` itself, so that what follows reads its result. A
 * failure is kept, as in the builder. Threads: one at a time. */
#pragma once
#include "engine/op.h"

LAB_C_BEGIN
/* An inner node "<id>.<name>"; name NULL: the last one, under the node's own
 * id. Its inputs are ".ln1", an inner node of that name, or "", what the outer
 * node reads; second NULL: it has one. A name that begins with '=' ("=r") calls
 * the result <id>.r instead of <id>.r.out. */
void lab_expand_node(struct lab_expansion *e, const char *name, const char *op,
                     const char *first, const char *second);
/* The last inner node's key takes the value of the outer node's. */
void lab_expand_key(struct lab_expansion *e, const char *key,
                    const char *outer_key);
/* The last inner node's `units` is the width of what that inner node gives. */
void lab_expand_width(struct lab_expansion *e, const char *of);
LAB_C_END
