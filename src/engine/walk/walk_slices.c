/* Tensors that are slices of others: what is written, and by what name. */
#include "walk_priv.h"

/* A whole that no step writes holds numbers when all its slices do. */
static bool slices_written(const struct lab_walk *w, int tensor)
{
    const struct lab_plan *plan = w->plan;
    bool any = false;
    for (int i = 0; i < plan->n_tensors && plan->tensors[tensor].sliced; i++) {
        if (plan->tensors[i].alias_of != tensor || !plan->tensors[i].slice)
            continue;
        if (!w->written[i])
            return false;
        any = true;
    }
    return any;
}

bool lab_walk_written(const struct lab_walk *w, int tensor)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    if (t->alias_of >= 0 && w->written[t->alias_of])
        return true;
    if (t->alias_of >= 0 && !t->slice)
        return false;
    return w->written[tensor] || slices_written(w, tensor);
}

int64_t lab_walk_generation(const struct lab_walk *w, int tensor)
{
    const struct lab_plan *plan = w->plan;
    const struct lab_tensor *t = &plan->tensors[tensor];
    if (t->alias_of >= 0)
        return w->generation[t->alias_of] +
               (t->slice ? w->generation[tensor] : 0);
    int64_t sum = w->generation[tensor];
    for (int i = 0; i < plan->n_tensors && t->sliced; i++) {
        if (plan->tensors[i].alias_of == tensor && plan->tensors[i].slice)
            sum += w->generation[i];
    }
    return sum;
}

void lab_walk_find_written(const struct lab_walk *w, int *tensor,
                           int64_t *index)
{
    const struct lab_plan *plan = w->plan;
    const struct lab_tensor *t = &plan->tensors[*tensor];
    if (w->written[*tensor] || *index < 0 || *index >= t->count)
        return;
    if (t->slice && w->written[t->alias_of]) {
        *index += t->first;
        *tensor = t->alias_of;
        return;
    }
    for (int i = 0; i < plan->n_tensors && t->sliced; i++) {
        const struct lab_tensor *part = &plan->tensors[i];
        if (part->slice && part->alias_of == *tensor && w->written[i] &&
            *index >= part->first && *index < part->first + part->count) {
            *index -= part->first;
            *tensor = i;
            return;
        }
    }
}
