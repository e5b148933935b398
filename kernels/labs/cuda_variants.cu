/* kernels/labs/cuda_variants.cu -- finds an operation's table of CUDA variants. */
#include "labs/cuda_variants.h"
#include "first/first.h"

#include <string.h>

#define LAB_OPERATION(name)                                                    \
    extern const struct lab_variant lab_cuda_variants_##name[];
#include "labs/labs.def"
#undef LAB_OPERATION

static const struct {
    const char *operation;
    const struct lab_variant *variants;
} tables[] = {
#define LAB_OPERATION(name) {#name, lab_cuda_variants_##name},
#include "labs/labs.def"
#undef LAB_OPERATION
    {"first", lab_cuda_variants_first}, /* no ladder: first/first.h */
};

const struct lab_variant *lab_cuda_variant(const char *operation, int i)
{
    for (const auto &table : tables) {
        if (strcmp(table.operation, operation) != 0)
            continue;
        for (const struct lab_variant *r = table.variants; r->name; r++) {
            if (i-- == 0)
                return r;
        }
    }
    return nullptr;
}
