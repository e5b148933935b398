/* kernels/labs/cpu_variants.c -- finds an operation's table of CPU variants.
 *
 * A line of memory is 64 bytes. The CPU's variants have no model of the core: what
 * it issues a cycle and how much its caches hold differs too much between
 * processors. */
#include "labs/cpu_variants.h"
#include "first/first.h"

#include <stddef.h>
#include <string.h>

#define LAB_OPERATION(name)                                                    \
    extern const struct lab_variant lab_cpu_variants_##name[];
#include "labs/labs.def"
#undef LAB_OPERATION

static const struct {
    const char *operation;
    const struct lab_variant *variants;
} tables[] = {
#define LAB_OPERATION(name) {#name, lab_cpu_variants_##name},
#include "labs/labs.def"
#undef LAB_OPERATION
    {"first", lab_cpu_variants_first}, /* no ladder: first/first.h */
};

const struct lab_variant *lab_cpu_variant(const char *operation, int i)
{
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
        if (strcmp(tables[t].operation, operation) != 0)
            continue;
        for (const struct lab_variant *r = tables[t].variants; r->name; r++) {
            if (i-- == 0)
                return r;
        }
    }
    return NULL;
}
