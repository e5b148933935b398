/* front_run.c -- parameters, variants, watches, breakpoints, printed values. */
#include "front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A tensor or step name: what stands before its last part must be a node. */
static enum lab_status check_owner(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   const char *name, bool key)
{
    const struct lab_node_spec *owner =
        lab_front_find_node(f->spec, name, true);
    size_t count = 0;
    if (owner || f->spec->n_nodes == 0)
        return LAB_OK;
    const char **names = lab_front_names(f, true, false, &count);
    if (!names)
        return LAB_E_NOMEM;
    size_t len = strcspn(name, ".");
    const char *id = lab_arena_text(f->tree, name, len);
    if (!id)
        return lab_y_nomem(f->r);
    struct lab_ynode value = *node;
    if (!key)
        value.key = NULL;
    return lab_y_fail_unknown(f->r, &value, "node", id, names, count);
}

static bool is_input_or_loss(const struct lab_network_spec *s, const char *name)
{
    size_t len = strcspn(name, ".");
    if ((len == 1 && (*name == 'x' || *name == 'y')) ||
        (len == 4 && strncmp(name, "loss", 4) == 0))
        return true;
    for (int i = 0; i < s->data.n_tensors; i++) {
        const char *own = s->data.tensors[i].name;
        if (strlen(own) == len && strncmp(own, name, len) == 0)
            return true;
    }
    return false;
}

enum lab_status lab_front_parameters(struct lab_front *f,
                                     const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_MAP,
                                    "a mapping from parameters to tensors");
    if (st)
        return lab_front_pass(st);
    s->parameters =
        lab_alloc_array((size_t)node->count, sizeof(*s->parameters));
    if (!s->parameters)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        st = check_owner(f, n, n->key, true);
        if (st != LAB_E_NOMEM)
            st = lab_front_tensor(f, n, &s->parameters[s->n_parameters++]);
        if (st == LAB_E_NOMEM)
            return st;
    }
    return LAB_OK;
}

static enum lab_status check_target(struct lab_front *f,
                                    const struct lab_ynode *node)
{
    const struct lab_network_spec *s = f->spec;
    if (strcmp(node->key, "*") == 0 || strcmp(node->key, "loss") == 0 ||
        s->n_nodes == 0)
        return LAB_OK;
    if (lab_op_find(node->key, LAB_KIND_LAYER) ||
        lab_op_find(node->key, LAB_KIND_LOSS) ||
        lab_op_find(node->key, LAB_KIND_OPTIMIZER))
        return LAB_OK;
    return check_owner(f, node, node->key, true);
}

enum lab_status lab_front_variants(struct lab_front *f,
                                   const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_MAP,
                                    "a mapping from nodes or ops to variants");
    if (st)
        return lab_front_pass(st);
    s->variants = lab_alloc_array((size_t)node->count, sizeof(*s->variants));
    if (!s->variants)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        struct lab_variant_spec *out = &s->variants[s->n_variants];
        st = check_target(f, n);
        if (!st)
            st = lab_front_string(f, n, LAB_FRONT_NAME_BYTES, &out->variant);
        if (!st) {
            s->n_variants++;
            out->place = lab_front_key_place(n);
            out->target = lab_strdup(n->key);
            if (!out->target)
                return lab_y_nomem(f->r);
        }
        if (st == LAB_E_NOMEM)
            return st;
    }
    return LAB_OK;
}

enum lab_status lab_front_watch(struct lab_front *f,
                                const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_LIST, "a list of tensor names");
    if (st)
        return lab_front_pass(st);
    s->watch = lab_alloc_array((size_t)node->count, sizeof(*s->watch));
    f->watch_places = lab_arena_array(f->r->arena, (size_t)node->count,
                                      sizeof(*f->watch_places));
    if (!s->watch || !f->watch_places)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        char **slot = &s->watch[s->n_watch];
        st = lab_front_string(f, n, 2 * LAB_FRONT_NAME_BYTES, slot);
        if (!st) {
            f->watch_places[s->n_watch++] = lab_front_place(n);
            if (!is_input_or_loss(s, *slot))
                st = check_owner(f, n, *slot, false);
        }
        if (st == LAB_E_NOMEM)
            return st;
    }
    return LAB_OK;
}

/* ---- breakpoints ---- */

struct taking {
    struct lab_front *f;
    void *out;
    bool has_when;
    bool has_step;
    bool has_phase;
    bool has_tensor;
    bool has_values;
    const struct lab_ynode *at;
};

static enum lab_status take_step(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_break_spec *b = t->out;
    (void)r;
    t->has_step = true;
    enum lab_status st =
        lab_front_string(t->f, node, 2 * LAB_FRONT_NAME_BYTES, &b->step);
    /* Update steps are named like parameters, loss steps begin with loss. */
    if (!st && !is_input_or_loss(t->f->spec, b->step))
        st = check_owner(t->f, node, b->step, false);
    return st;
}

static enum lab_status take_phase(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_break_spec *b = t->out;
    const char *names[LAB_PHASE_COUNT];
    size_t which = 0;
    for (int i = 0; i < LAB_PHASE_COUNT; i++)
        names[i] = lab_phase_name((enum lab_phase)i);
    t->has_phase = true;
    enum lab_status st =
        lab_y_choice(r, node, "phase", names, LAB_PHASE_COUNT, &which);
    if (!st)
        b->phase = (int)which;
    return st;
}

/* The bound of "loss > 2.5" as a scalar of its own, so that it is read like
 * every other number. */
static enum lab_status take_loss_bound(struct lab_reader *r,
                                       const struct lab_ynode *node,
                                       struct lab_break_spec *b)
{
    const char *s = node->text + strlen("loss");
    s += strspn(s, " ");
    struct lab_ynode number = *node;
    if (*s != '>')
        return lab_y_fail(r, node, LAB_E_PARSE,
                          "when: expected nan, inf or loss > NUMBER");
    number.text = s + 1 + strspn(s + 1, " ");
    number.len = strlen(number.text);
    number.plain = true;
    number.key = NULL;
    b->kind = LAB_BREAK_LOSS_ABOVE;
    return lab_y_number(r, &number, &b->value, NULL);
}

static enum lab_status take_when(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    static const char *const names[] = {"nan", "inf", "loss > NUMBER"};
    struct taking *t = user;
    struct lab_break_spec *b = t->out;
    size_t which = 0;
    t->has_when = true;
    if (node->kind == LAB_Y_SCALAR && strncmp(node->text, "loss", 4) == 0)
        return take_loss_bound(r, node, b);
    enum lab_status st = lab_y_choice(r, node, "condition", names, 3, &which);
    if (!st)
        b->kind = which == 0 ? LAB_BREAK_NAN : LAB_BREAK_INF;
    return st;
}

static enum lab_status take_break(struct lab_front *f,
                                  const struct lab_ynode *node,
                                  struct lab_break_spec *b)
{
    static const struct lab_ykey keys[] = {
        {"step", take_step}, {"phase", take_phase}, {"when", take_when}};
    struct taking t = {.f = f, .out = b};
    b->phase = -1;
    b->place = lab_front_place(node);
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_MAP, "a mapping with step, phase or when");
    if (!st)
        st = lab_y_keys(f->r, node, keys, 3, &t);
    if (st)
        return st;
    if (t.has_when ? t.has_step || t.has_phase : !t.has_step && !t.has_phase)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "a breakpoint has a step, a phase, both, or when "
                          "alone");
    if (!t.has_when)
        b->kind = t.has_step ? LAB_BREAK_STEP : LAB_BREAK_PHASE;
    return LAB_OK;
}

enum lab_status lab_front_breaks(struct lab_front *f,
                                 const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_LIST, "a list of breakpoints");
    if (st)
        return lab_front_pass(st);
    s->breaks = lab_alloc_array((size_t)node->count, sizeof(*s->breaks));
    if (!s->breaks)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        st = take_break(f, n, &s->breaks[s->n_breaks++]);
        if (st == LAB_E_NOMEM)
            return st;
    }
    return LAB_OK;
}

/* ---- printed values ---- */

static enum lab_status take_tensor(struct lab_reader *r,
                                   const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    (void)r;
    t->has_tensor = true;
    enum lab_status st =
        lab_front_string(t->f, node, 2 * LAB_FRONT_NAME_BYTES, &p->tensor);
    if (!st && !is_input_or_loss(t->f->spec, p->tensor))
        st = check_owner(t->f, node, p->tensor, false);
    return st;
}

static enum lab_status take_at(struct lab_reader *r,
                               const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    (void)r;
    return lab_front_shape(t->f, node, 0, &p->at);
}

static enum lab_status take_values(struct lab_reader *r,
                                   const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    t->has_values = true;
    enum lab_status st =
        lab_y_want(r, node, LAB_Y_LIST, "a flat list of numbers");
    if (!st && node->count == 0)
        st = lab_y_fail(r, node, LAB_E_PARSE, "values: an empty list");
    if (st)
        return st;
    p->values = lab_alloc_array((size_t)node->count, sizeof(*p->values));
    if (!p->values)
        return lab_y_nomem(r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        st = lab_y_number(r, n, &p->values[p->n_values++], NULL);
        if (st)
            return st;
    }
    return LAB_OK;
}

static enum lab_status take_tolerance(struct lab_reader *r,
                                      const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    enum lab_status st = lab_y_number(r, node, &p->tolerance, NULL);
    if (!st && p->tolerance < 0)
        st = lab_y_fail(r, node, LAB_E_RANGE, "tolerance: %s is below 0",
                        node->text);
    return st;
}

static enum lab_status take_printed_phase(struct lab_reader *r,
                                          const struct lab_ynode *node,
                                          void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    const char *names[LAB_PHASE_COUNT];
    size_t which = 0;
    for (int i = 0; i < LAB_PHASE_COUNT; i++)
        names[i] = lab_phase_name((enum lab_phase)i);
    enum lab_status st =
        lab_y_choice(r, node, "phase", names, LAB_PHASE_COUNT, &which);
    p->updated = which == LAB_UPDATE;
    return st;
}

static enum lab_status take_where(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    (void)r;
    return lab_front_string(t->f, node, LAB_FRONT_TEXT_BYTES, &p->where);
}

static enum lab_status take_note(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    struct taking *t = user;
    struct lab_course_values_spec *p = t->out;
    (void)r;
    return lab_front_string(t->f, node, LAB_FRONT_TEXT_BYTES, &p->note);
}

static enum lab_status take_printed(struct lab_front *f,
                                    const struct lab_ynode *node,
                                    struct lab_course_values_spec *p)
{
    static const struct lab_ykey keys[] = {
        {"tensor", take_tensor},      {"at", take_at},
        {"values", take_values},      {"tolerance", take_tolerance},
        {"where", take_where},        {"note", take_note},
        {"phase", take_printed_phase}};
    struct taking t = {.f = f, .out = p};
    p->tolerance = NAN; /* not given */
    p->place = lab_front_place(node);
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_MAP, "a mapping with tensor and values");
    if (!st)
        st = lab_y_keys(f->r, node, keys, sizeof(keys) / sizeof(*keys), &t);
    if (!st && (!t.has_tensor || !t.has_values))
        st = lab_y_fail(f->r, node, LAB_E_PARSE,
                        "a printed value needs a tensor and values");
    return st;
}

enum lab_status lab_front_printed(struct lab_front *f,
                                  const struct lab_ynode *node)
{
    struct lab_network_spec *s = f->spec;
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_LIST, "a list of printed values");
    if (st)
        return lab_front_pass(st);
    s->printed = lab_alloc_array((size_t)node->count, sizeof(*s->printed));
    if (!s->printed)
        return lab_y_nomem(f->r);
    for (const struct lab_ynode *n = node->first; n; n = n->next) {
        st = take_printed(f, n, &s->printed[s->n_printed++]);
        if (st == LAB_E_NOMEM)
            return st;
    }
    return LAB_OK;
}
