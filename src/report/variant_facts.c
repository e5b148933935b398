/* variant_facts.c -- what follows from the name of a variant: whether it is a
 * library, whether it can fuse. */
#include "report/variant_facts.h"

#include <stddef.h>
#include <string.h>

#include "engine/op.h"

static bool starts_with_one(const char *text, const char *const *starts)
{
    for (int i = 0; text && starts[i]; i++)
        if (strncmp(text, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* "threads" is OpenBLAS on all cores. */
bool lab_variant_is_library(const char *variant)
{
    static const char *const starts[] = {
        "blas",   "openblas", "lapack",   "onednn",     "threads",
        "cublas", "cudnn",    "cusolver", "cusparselt", NULL};
    return starts_with_one(variant, starts);
}

/* A group's own step has the name of its op: "fc1.dense". */
static bool is_group(const struct lab_op_def *op, const char *step)
{
    const char *part = step ? strrchr(step, '.') : NULL;
    return part && strcmp(part + 1, op->name) == 0;
}

/* On the CPU groups are oneDNN's. */
static bool has_group(const struct lab_op_def *op, const char *backend)
{
    static const char *const cpu[] = {"dense", "lstm", "rnn", NULL};
    return backend && op->group &&
           (strcmp(backend, "cuda") == 0 ||
            (strcmp(backend, "cpu") == 0 && starts_with_one(op->name, cpu)));
}

/* A group that is not of both phases is of the forward one. */
bool lab_variant_can_fuse(const char *backend, const char *op, int64_t phase,
                          const char *step, const char *variant)
{
    const struct lab_op_def *def = op ? lab_op_find(op, LAB_KIND_LAYER) : NULL;
    if (!def || !has_group(def, backend) ||
        (phase != LAB_FORWARD && !def->group_both))
        return false;
    return !is_group(def, step) && !(variant && strcmp(variant, "fused") == 0);
}
