/* Tensors that are parts of others, as ops/<op>.c declare them. */
#include <stdio.h>

#include "plan_priv.h"

/* Part of the memory of `of`; false: it has no such part. */
static bool cut(struct lab_builder *b, int id, int of, int64_t first)
{
    if (id < 0 || of < 0)
        return false;
    struct lab_tensor *t = &b->plan->tensors[id];
    const struct lab_tensor *owner = &b->plan->tensors[of];
    if (first < 0 || first > owner->count - t->count || owner->persistent ||
        owner->alias_of >= 0 || owner->dtype != t->dtype) {
        lab_build_fail(b, LAB_E_INTERNAL, "'%s' is no part of '%s'", t->name,
                       owner->name);
        return false;
    }
    t->alias_of = of;
    t->slice = true;
    t->first = first;
    b->plan->tensors[of].sliced = true;
    return true;
}

int lab_build_slice(struct lab_builder *b, const char *name,
                    const struct lab_shape *shape, int of, int64_t first)
{
    if (b->status || of < 0)
        return LAB_NO_TENSOR;
    const struct lab_tensor *owner = &b->plan->tensors[of];
    int id = lab_builder_node_tensor(b, name, shape, owner->dtype, owner->role);
    return cut(b, id, of, first) ? id : LAB_NO_TENSOR;
}

int lab_build_grad_path(struct lab_builder *b, int tensor, const char *path)
{
    char suffix[160];
    snprintf(suffix, sizeof(suffix), ".%s", path);
    return lab_builder_grad(b, tensor, suffix);
}

int lab_build_grad_slice(struct lab_builder *b, int tensor, const char *path,
                         int of, int64_t first)
{
    int id =
        path ? lab_build_grad_path(b, tensor, path) : lab_build_grad(b, tensor);
    return cut(b, id, of, first) ? id : LAB_NO_TENSOR;
}
