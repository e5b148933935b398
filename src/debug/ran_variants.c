/* Collects the variants of the forward steps from the records of a run. The
 * run's row names them when the run ends: what was chosen when it was opened
 * may not be what was timed. */
#include "debug/ran_variants.h"

#include <string.h>

#include "base/mem.h"
#include "engine/plan.h"
#include "trace/intern.h"

struct lab_ran_variant {
    uint32_t name;
    uint32_t node;
    uint32_t variant;
    int32_t index;
    int pass; /* of the node: 0, and one more after each switch */
};

static bool is_known(const struct lab_ran_variants *v, size_t i,
                     const struct lab_step_record *s)
{
    return i < v->n && v->list[i].name == s->name &&
           v->list[i].variant == s->variant;
}

void lab_ran_variants_note(struct lab_ran_variants *v,
                           const struct lab_step_record *s)
{
    struct lab_ran_variant ran = {s->name, s->node, s->variant, s->index, 0};
    if (s->phase != LAB_FORWARD ||
        (s->index >= 0 && is_known(v, (size_t)s->index, s)))
        return; /* the usual place: nothing was switched */
    for (size_t i = 0; i < v->n; i++)
        if (is_known(v, i, s))
            return;
    for (size_t i = 0; i < v->n; i++) {
        const struct lab_ran_variant *old = &v->list[i];
        if (old->node == s->node)
            ran.pass = old->pass + (old->index >= s->index);
    }
    if (v->n == v->room) {
        size_t room = v->room ? 2 * v->room : 64;
        void *more = lab_realloc_array(v->list, room, sizeof(*v->list));
        v->incomplete = v->incomplete || !more;
        if (!more)
            return;
        v->list = more;
        v->room = room;
    }
    v->list[v->n++] = ran;
}

static bool was_switched(const struct lab_ran_variants *v, uint32_t node)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->list[i].node == node && v->list[i].pass > 0)
            return true;
    return false;
}

/* What one pass over the node of step `at` adds, from that step on. */
static void add_pass(const struct lab_ran_variants *v, size_t at,
                     struct lab_str *out)
{
    const struct lab_ran_variant *first = NULL;
    bool switched = was_switched(v, v->list[at].node);
    for (size_t i = at; i < v->n; i++) {
        const struct lab_ran_variant *r = &v->list[i];
        const char *name = lab_intern_text(r->variant);
        if (r->node != v->list[at].node || r->pass != v->list[at].pass ||
            (first && r->variant == first->variant) ||
            (strcmp(name, "naive") == 0 && (first || !switched)))
            continue;
        lab_str_addf(out, "%s%s=%s", out->len ? " " : "",
                     lab_intern_text(first ? r->name : r->node), name);
        if (!first)
            first = r;
    }
}

bool lab_ran_variants_text(const struct lab_ran_variants *v,
                           struct lab_str *out)
{
    for (size_t i = 0; i < v->n; i++) {
        size_t k = 0;
        while (v->list[k].node != v->list[i].node ||
               v->list[k].pass != v->list[i].pass)
            k++;
        if (k == i)
            add_pass(v, i, out);
    }
    return v->n > 0 && !v->incomplete && !out->failed;
}

void lab_ran_variants_clear(struct lab_ran_variants *v)
{
    lab_free(v->list);
    *v = (struct lab_ran_variants){0};
}
