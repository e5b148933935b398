/* climb.h -- an operation and a size of it by name, and a climb up its ladder. */
#pragma once
#include "test.h"

#include "engine/ladder.h"

static inline const struct lab_operation *operation_of(const char *name)
{
    const struct lab_operation *l = NULL;
    assert_ok(lab_ladder_find(name, &l));
    return l;
}

static inline struct lab_ladder_size size_of(const struct lab_operation *l,
                                             const char *text)
{
    struct lab_ladder_size s;
    assert_ok(lab_ladder_size(l, text, strlen(text), &s));
    return s;
}

/* At one size, with the backend, the ladder and the function of the rows in `c`; where
 * it has none: all variants, and the fewest repeats. Returns how many variants. */
static inline int climb_at(struct lab_ladder_run c, const char *size)
{
    enum { MOST = 96 };
    const struct lab_variant *variants[MOST];
    const struct lab_ladder_size s = size_of(c.ladder, size);
    struct lab_ladder_machine m = {.copy_bytes_s = NAN, .flush_bytes = 4096};
    lab_backend_info(c.backend, &m.info);
    c.machine = &m;
    c.sizes = &s;
    c.n_sizes = 1;
    c.seed = 3;
    c.repeats = c.repeats ? c.repeats : LAB_LADDER_REPEATS_MIN;
    if (!c.variants) {
        c.variants = variants;
        c.n_variants = lab_ladder_variants(c.backend, c.ladder, NULL, variants,
                                           c.n_variants ? c.n_variants : MOST);
    }
    assert_ok(lab_ladder_run(&c));
    return c.n_variants;
}
