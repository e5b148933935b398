/* tensor.c -- shapes: sizes, text, and the index of an element. */
#include "engine/tensor.h"

#include <stdio.h>

struct lab_shape lab_shape_make(int rank, const int64_t *dim)
{
    struct lab_shape s = {.rank = rank};
    for (int i = 0; i < rank; i++)
        s.dim[i] = dim[i];
    return s;
}

enum lab_status lab_shape_count(const struct lab_shape *s, int64_t *out)
{
    /* Room for 8-byte elements and for padding of the arena. */
    const int64_t most = INT64_MAX / 16;
    int64_t count = 1;
    char text[LAB_SHAPE_TEXT];
    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] < 1)
            return lab_fail(
                LAB_E_SHAPE,
                "[network.shape-dimension] shape %s has a dimension below 1",
                lab_shape_text(s, text));
        if (count > most / s->dim[i])
            return lab_fail(
                LAB_E_SHAPE,
                "[network.shape-large] shape %s has too many elements",
                lab_shape_text(s, text));
        count *= s->dim[i];
    }
    *out = count;
    return LAB_OK;
}

size_t lab_tensor_bytes(const struct lab_tensor *t)
{
    return (size_t)t->count * lab_dtype_bytes(t->dtype);
}

bool lab_shape_equal(const struct lab_shape *a, const struct lab_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i] != b->dim[i])
            return false;
    }
    return true;
}

const char *lab_shape_text(const struct lab_shape *s, char buf[LAB_SHAPE_TEXT])
{
    size_t at = 0;
    buf[at++] = '[';
    for (int i = 0; i < s->rank; i++)
        at += (size_t)snprintf(buf + at, LAB_SHAPE_TEXT - at - 1, "%s%lld",
                               i ? "," : "", (long long)s->dim[i]);
    buf[at++] = ']';
    buf[at] = '\0';
    return buf;
}

void lab_shape_unravel(const struct lab_shape *s, int64_t flat,
                       int64_t at[LAB_MAX_RANK])
{
    for (int i = s->rank - 1; i >= 0; i--) {
        at[i] = flat % s->dim[i];
        flat /= s->dim[i];
    }
}

int64_t lab_shape_ravel(const struct lab_shape *s, const int64_t *at, int n)
{
    int64_t flat = 0;
    if (n != s->rank)
        return -1;
    for (int i = 0; i < n; i++) {
        if (at[i] < 0 || at[i] >= s->dim[i])
            return -1;
        flat = flat * s->dim[i] + at[i];
    }
    return flat;
}
