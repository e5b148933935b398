/* op_table.c -- the table of all ops, made from kernels/ops.def, and their
 * keys. */
#include "engine/op.h"

#include <string.h>

#define LAB_OP(id) extern const struct lab_op_def lab_op_##id;
#define LAB_OP_PLAN LAB_OP
#include "ops.def"
#undef LAB_OP

static const struct lab_op_def *const table[] = {
#define LAB_OP(id) &lab_op_##id,
#include "ops.def"
#undef LAB_OP
#undef LAB_OP_PLAN
};

const struct lab_op_def *const *lab_op_table(int *count)
{
    *count = (int)(sizeof(table) / sizeof(table[0]));
    return table;
}

const struct lab_op_def *lab_op_find(const char *name, enum lab_op_kind kind)
{
    int n;
    const struct lab_op_def *const *ops = lab_op_table(&n);
    for (int i = 0; i < n; i++) {
        if (ops[i]->kind == kind && !ops[i]->internal &&
            strcmp(ops[i]->name, name) == 0)
            return ops[i];
    }
    return NULL;
}

static void set_fallback(const struct lab_key_def *key, struct lab_attr *attr)
{
    *attr = (struct lab_attr){0};
    attr->i = (int64_t)key->fallback;
    attr->f = key->fallback;
    attr->b = key->fallback != 0;
    attr->choice = (int)key->fallback;
    if (key->type == LAB_KEY_INTS) {
        attr->n = key->max_items;
        for (int i = 0; i < attr->n; i++)
            attr->list[i] = (int64_t)key->fallback;
    }
}

void lab_op_defaults(const struct lab_op_def *op, struct lab_attr *attr)
{
    for (int i = 0; i < op->n_keys; i++)
        set_fallback(&op->keys[i], &attr[i]);
}

int lab_op_key(const struct lab_op_def *op, const char *name)
{
    for (int i = 0; i < op->n_keys; i++) {
        if (strcmp(op->keys[i].name, name) == 0)
            return i;
    }
    return -1;
}
