/* Steps from their definitions: names, formulas, bytes. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/op.h"
#include "plan_priv.h"

/* "$o0" and "$i1" become tensor names. */
static char *expand_formula(const struct lab_plan *plan,
                            const struct lab_step_def *def)
{
    struct lab_str s;
    lab_str_init(&s);
    for (const char *p = def->formula; *p; p++) {
        bool name = p[0] == '$' && (p[1] == 'o' || p[1] == 'i') &&
                    p[2] >= '0' && p[2] <= '9';
        if (!name) {
            size_t n = 1 + strcspn(p + 1, "$");
            lab_str_add_bytes(&s, p, n);
            p += n - 1;
            continue;
        }
        int slot = p[2] - '0';
        int id = p[1] == 'o' ? def->out[slot] : def->in[slot];
        lab_str_add(&s, id >= 0 ? plan->tensors[id].name : "?");
        p += 2;
    }
    return lab_str_detach(&s);
}

/* A step's formula names what it reads: a gradient that is not wanted, and a
 * slope that needs only one of x and y, leave an input unread. A group's
 * formula is prose, and "..." stands for the rest: those read all. */
static bool reads(const struct lab_step_def *def, int slot, bool group)
{
    const char name[] = {'$', 'i', (char)('0' + slot), '\0'};
    return group || slot > 9 || !def->formula || strstr(def->formula, name) ||
           strstr(def->formula, " ...");
}

static double bytes_touched(const struct lab_plan *plan,
                            const struct lab_step_def *def, bool group)
{
    double bytes = 0;
    for (int i = 0; i < def->n_in + def->n_out; i++) {
        int id = i < def->n_in ? def->in[i] : def->out[i - def->n_in];
        if (id < 0 || (i < def->n_in && !reads(def, i, group)))
            continue;
        const struct lab_tensor *t = &plan->tensors[id];
        if (i >= def->n_in && t->alias_of >= 0 && !t->slice)
            continue; /* written already, under its other name */
        double size = (double)t->count * (double)lab_dtype_bytes(t->dtype);
        /* What a step updates in place is read and written. */
        bytes += i >= def->n_in && t->persistent ? 2 * size : size;
    }
    return bytes;
}

static bool grow_steps(struct lab_builder *b)
{
    if (b->plan->n_steps < b->step_room)
        return true;
    int room = b->step_room ? b->step_room * 2 : 64;
    void *p = lab_realloc_array(b->plan->steps, (size_t)room,
                                sizeof(*b->plan->steps));
    if (!p) {
        lab_builder_no_memory(b);
        return false;
    }
    b->plan->steps = p;
    b->step_room = room;
    return true;
}

void lab_step_release(struct lab_step *s)
{
    lab_free(s->name);
    lab_free(s->formula);
    lab_free(s->params);
}

enum lab_status lab_step_fill(struct lab_step *s, const struct lab_plan *plan,
                              const struct lab_step_def *def,
                              const char *node_id, bool group)
{
    struct lab_str name;
    lab_str_init(&name);
    if (def->phase == LAB_UPDATE) /* named like the parameter */
        lab_str_add(&name, plan->tensors[def->out[0]].name);
    else
        lab_str_addf(&name, "%s.%s", node_id, def->name);
    if (def->numbered)
        lab_str_addf(&name, ".%d", def->number);
    s->kernel = def->name;
    s->phase = def->phase;
    s->n_in = def->n_in;
    s->n_out = def->n_out;
    s->flop = def->flop;
    s->explain = def->explain;
    memcpy(s->in, def->in, sizeof(s->in));
    memcpy(s->out, def->out, sizeof(s->out));
    s->bytes = def->bytes > 0 ? def->bytes : bytes_touched(plan, def, group);
    s->name = lab_str_detach(&name);
    s->formula = expand_formula(plan, def);
    s->params = NULL;
    if (def->params) {
        s->params = lab_alloc(def->params_bytes);
        if (s->params)
            memcpy(s->params, def->params, def->params_bytes);
    }
    if (s->name && s->formula && (!def->params || s->params))
        return LAB_OK;
    lab_step_release(s);
    return lab_fail(LAB_E_NOMEM, "no memory for the plan");
}

static void count_step(struct lab_builder *b, const struct lab_step *s)
{
    struct lab_node *node = &b->plan->nodes[s->node];
    if (s->op != node->op)
        return; /* a sum of gradients, an optimizer's update */
    if (node->n_steps[s->phase]++ == 0)
        node->first_step[s->phase] = b->plan->n_steps;
}

void lab_build_step(struct lab_builder *b, const struct lab_step_def *def)
{
    if (b->status || !grow_steps(b))
        return;
    struct lab_step s = {.op = b->node_spec->op, .node = b->node};
    if (lab_step_fill(&s, b->plan, def, b->plan->nodes[b->node].id, false)) {
        lab_builder_no_memory(b);
        return;
    }
    struct lab_names *names = b->plan->names;
    if (!lab_names_add(names, LAB_NAME_STEP, s.name, b->plan->n_steps)) {
        lab_step_release(&s);
        lab_builder_no_memory(b);
        return;
    }
    count_step(b, &s);
    b->plan->steps[b->plan->n_steps++] = s;
}
