#include "variant_facts.h"

#include <stddef.h>
#include <string.h>

#include "engine/op.h"

bool lab_variant_is_library(const char *variant)
{
    static const char *const starts[] = {"blas",   "openblas", "onednn",
                                         "cublas", "cudnn",    "cusolver"};
    for (size_t i = 0; variant && i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strncmp(variant, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* cuDNN's words for its algorithms, which its variants and rungs bear. */
bool lab_variant_is_other_algorithm(const char *variant)
{
    return variant && (strstr(variant, "winograd") || strstr(variant, "_fft"));
}

/* A group's own step has the name of its op: "fc1.dense". */
static bool is_group(const struct lab_op_def *op, const char *step)
{
    const char *part = step ? strrchr(step, '.') : NULL;
    return part && strcmp(part + 1, op->name) == 0;
}

/* Groups are kernels of the GPU. One that is not of both phases is forward. */
bool lab_variant_can_fuse(const char *backend, const char *op, int64_t phase,
                          const char *step, const char *variant)
{
    const struct lab_op_def *def = op ? lab_op_find(op, LAB_KIND_LAYER) : NULL;
    if (!def || !def->group || !backend || strcmp(backend, "cuda") != 0 ||
        (phase != LAB_FORWARD && !def->group_both))
        return false;
    return !is_group(def, step) && !(variant && strcmp(variant, "fused") == 0);
}
