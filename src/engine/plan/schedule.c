/* schedule.c -- which variant serves each step, and what it prepares.
 *
 * A plan becomes a schedule: for each step the choice of the user, of measured
 * times or of the fixed table; a group's variant hides the group's steps. A
 * schedule is never changed: another choice makes another one, shared by
 * counted references. The walk makes it, snapshots of the session keep it, the
 * stepper's `v` lists the candidates. */
#include <math.h>
#include <string.h>

#include "plan_priv.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "base/str.h"
#include "engine/tune.h"

/* What the variant needs for the step's sizes; LAB_OK where it needs
 * nothing. */
static enum lab_status step_prepare(const struct lab_plan *plan,
                                    struct lab_backend *be,
                                    const struct lab_step *s,
                                    const struct lab_variant *v)
{
    struct lab_step_call c;
    if (!v->prepare)
        return LAB_OK;
    lab_step_call(&c, plan, s, NULL, NULL);
    enum lab_status st = lab_backend_prepare(be, v, &c.call);
    return st ? lab_fail_context(st, "step %s", s->name) : LAB_OK;
}

enum lab_status lab_group_fill(struct lab_step *step,
                               const struct lab_plan *plan,
                               const struct lab_node *node,
                               const struct lab_variant *v,
                               const struct lab_node *absorbed)
{
    struct lab_group_step g = {.variant = v, .def = {.name = node->op->name}};
    node->op->group(plan, node, v->phase, absorbed, &g);
    *step = (struct lab_step){.op = node->op,
                              .node = (int)(node - plan->nodes),
                              .phase = v->phase,
                              .group = true};
    return lab_step_fill(step, plan, &g.def, node->id, true);
}

/* The same of the step of a group. v NULL: LAB_OK. */
static enum lab_status group_prepare(const struct lab_plan *plan,
                                     struct lab_backend *be,
                                     const struct lab_node *node,
                                     const struct lab_variant *v)
{
    struct lab_step step;
    if (!v || !v->prepare)
        return LAB_OK;
    enum lab_status st = lab_group_fill(&step, plan, node, v, NULL);
    if (st)
        return st;
    st = step_prepare(plan, be, &step, v);
    lab_step_release(&step);
    return st;
}

/* Which variant runs each step of a plan, and which steps a group variant
 * hides. */

/* What has become of a choice. A variant may not serve a step's sizes
 * (lab_variant.prepare). */
struct outcome {
    bool used; /* it fitted some step */
    bool served;
    bool refused;
};

/* The closest choice that fits a step or a group; of equals the last. */
struct winner {
    const struct lab_variant *variant; /* NULL: none */
    int choice;
    int close;
};

struct maker {
    const struct lab_plan *plan;
    struct lab_backend *be;
    const struct lab_variant_choice *choices;
    const struct lab_tuning *tuning; /* NULL: the fixed table */
    const char *usual;               /* by find_usual(), or NULL */
    bool *large;               /* by node: see LAB_PREFERRED_FLOP, _WALK */
    struct outcome *outcome;   /* by choice */
    struct lab_kept_error why; /* the first refusal */
    enum lab_status status;    /* a variant that could not be prepared */
    int n_choices;
    struct lab_schedule *out;
    int absorbed_until; /* plan steps before this one are hidden already */
};

/* Is `id` the node `target`, or one of the inner nodes that it represents? */
static bool within(const char *target, const char *id)
{
    size_t n = strlen(target);
    return strncmp(target, id, n) == 0 && (id[n] == '\0' || id[n] == '.');
}

/* How closely a choice names a node: 4 its id, 3 the id of a node that it is a
 * part of, 2 its op, 1 anything, 0 not. */
static int closeness(const char *target, const struct lab_node *node,
                     const struct lab_op_def *op)
{
    if (strcmp(target, node->id) == 0)
        return 4;
    if (within(target, node->id))
        return 3;
    if (strcmp(target, op->name) == 0 ||
        (node->outer && strcmp(target, node->outer->name) == 0))
        return 2;
    return strcmp(target, "*") == 0;
}

/* What a choice named by id must serve; one for an op or for all steps serves
 * what it can, and the others run as if it were not there. */
static bool accept(struct maker *m, const struct winner *w, enum lab_status st)
{
    bool refused = st == LAB_E_UNSUPPORTED && w->close <= 2;
    if (refused && !m->why.text[0])
        lab_error_keep(&m->why);
    if (refused)
        m->outcome[w->choice].refused = true;
    else if (st)
        m->status = st;
    else
        m->outcome[w->choice].served = true;
    return st == LAB_OK;
}

/* A group hides parts; one that another node reads must be there. */
const char *lab_node_unserved(const struct lab_node *node,
                              const struct lab_variant *group)
{
    if (node->no_group)
        return node->no_group;
    return node->parts_read && !(group && group->keeps_parts)
               ? "has parts that another node reads"
               : NULL;
}

/* What the fixed table has for a step; kernel NULL: for a group, nothing. */
static const struct lab_variant *by_table(struct maker *m, int node,
                                          const struct lab_op_def *op,
                                          const char *kernel,
                                          enum lab_phase phase)
{
    const struct lab_variant *v = NULL;
    if (kernel && m->large[node])
        v = lab_backend_preferred(m->be, m->plan->real, op->name, kernel,
                                  phase);
    return v || !kernel ? v
                        : lab_backend_variant(m->be, m->plan->real, op->name,
                                              kernel, phase, NULL);
}

/* kernel NULL: of the op's group in the phase. A choice that fits and is
 * overruled has been used all the same. A closer or later choice of a variant
 * that has no group takes the steps apart again: there the winning choice
 * decides, not the first group that fits. */
static struct winner closest(struct maker *m, const struct lab_node *node,
                             const struct lab_op_def *op, const char *kernel,
                             enum lab_phase phase)
{
    struct winner best = {.variant = NULL};
    for (int i = 0; i < m->n_choices; i++) {
        int close = closeness(m->choices[i].target, node, op);
        const struct lab_variant *v = NULL;
        bool table = strcmp(m->choices[i].variant, LAB_VARIANT_DEFAULT) == 0;
        if (close > 0 && table)
            v = by_table(m, (int)(node - m->plan->nodes), op, kernel, phase);
        else if (close > 0)
            v = lab_backend_variant(m->be, m->plan->real, op->name, kernel,
                                    phase, m->choices[i].variant);
        if (v && !kernel && lab_node_unserved(node, v))
            v = NULL;
        m->outcome[i].used |= v != NULL;
        if (close > 0 && close >= best.close && (v || !kernel))
            best = (struct winner){v, i, close};
    }
    return best;
}

/* What the fixed table has, or the reference where that does not serve the shape. */
static const struct lab_variant *table_serves(struct maker *m,
                                              const struct lab_step *step)
{
    const struct lab_variant *v =
        by_table(m, step->node, step->op, step->kernel, step->phase);
    return v && v->preferred && step_prepare(m->plan, m->be, step, v) != LAB_OK
               ? lab_backend_variant(m->be, m->plan->real, step->op->name,
                                     step->kernel, step->phase, NULL)
               : v;
}

/* The variant that is chosen for a step; NULL: none, or it is refused. */
static const struct lab_variant *chosen(struct maker *m,
                                        const struct lab_node *node,
                                        const struct lab_step *step,
                                        enum lab_chosen_by *by)
{
    struct winner w = closest(m, node, step->op, step->kernel, step->phase);
    bool table = w.variant &&
                 strcmp(m->choices[w.choice].variant, LAB_VARIANT_DEFAULT) == 0;
    if (table)
        w.variant = table_serves(m, step);
    if (!w.variant ||
        !accept(m, &w, step_prepare(m->plan, m->be, step, w.variant)))
        return NULL;
    *by = table ? LAB_BY_DEFAULT : LAB_BY_HAND;
    return w.variant;
}

/* The group's twin in the other phase, if it needs one. false: it has none. */
static bool find_twin(struct maker *m, const struct lab_node *node,
                      const struct lab_variant *group,
                      const struct lab_variant **twin)
{
    enum lab_phase other =
        group->phase == LAB_FORWARD ? LAB_BACKWARD : LAB_FORWARD;
    *twin = NULL;
    if (!node->op->group_both || group->one_way || node->n_steps[other] == 0)
        return true;
    *twin = lab_backend_variant(m->be, m->plan->real, node->op->name, NULL,
                                other, group->name);
    return *twin != NULL;
}

static const struct lab_variant *
chosen_group(struct maker *m, const struct lab_node *node, enum lab_phase phase)
{
    struct winner w = {.variant = NULL};
    const struct lab_variant *twin;
    if (node->op->group)
        w = closest(m, node, node->op, NULL, phase);
    if (!w.variant || !find_twin(m, node, w.variant, &twin))
        return NULL;
    enum lab_status st = group_prepare(m->plan, m->be, node, w.variant);
    if (!st)
        st = group_prepare(m->plan, m->be, node, twin);
    return accept(m, &w, st) ? w.variant : NULL;
}

/* Is another variant than `group` asked for `node`, by its id or its op? */
static bool has_own_choice(struct maker *m, const struct lab_node *node,
                           const struct lab_variant *group)
{
    bool other = false;
    int best_close = 2;
    for (int i = 0; i < m->n_choices; i++) {
        int close = closeness(m->choices[i].target, node, node->op);
        bool same = strcmp(m->choices[i].variant, group->name) == 0;
        if (close < best_close)
            continue;
        other = !same;
        best_close = close;
        m->outcome[i].used |= same;
    }
    return other;
}

static const struct lab_node *absorbable(const struct maker *m,
                                         const struct lab_node *node,
                                         enum lab_phase phase)
{
    int next = (int)(node - m->plan->nodes) + 1;
    if (phase != LAB_FORWARD || next >= m->plan->loss_node)
        return NULL;
    const struct lab_node *n = &m->plan->nodes[next];
    bool fits = n->may_be_absorbed && n->n_in == 1 && n->in[0] == node->out &&
                n->n_steps[phase] == 1;
    return fits ? n : NULL;
}

static bool group_starts(const struct maker *m, const struct lab_node *node,
                         int index)
{
    const struct lab_step *step = &m->plan->steps[index];
    const char *from = node->op->group_from[step->phase];
    if (step->op != node->op)
        return false;
    return from ? strcmp(from, step->kernel) == 0
                : index == node->first_step[step->phase];
}

/* The steps that a group hides from step `first` on. A node may have fewer than its op:
 * where data are queries and keys, attention has no gradients of them. */
static int group_count(const struct lab_node *node, enum lab_phase phase,
                       int first)
{
    int left = node->first_step[phase] + node->n_steps[phase] - first;
    bool all = !node->op->group_from[phase] || node->op->group_steps > left;
    return all ? left : node->op->group_steps;
}

static void append(struct maker *m, const struct lab_step *step,
                   const struct lab_variant *v, enum lab_chosen_by by,
                   int first, int count)
{
    m->out->steps[m->out->n_steps++] =
        (struct lab_schedule_step){.step = step,
                                   .variant = v,
                                   .by = by,
                                   .depth_node = step->node,
                                   .hides_from = first,
                                   .hides_count = count};
}

static enum lab_status add_group(struct maker *m, const struct lab_node *node,
                                 const struct lab_variant *v,
                                 enum lab_chosen_by by, int first)
{
    struct lab_schedule *s = m->out;
    struct lab_step *step = &s->groups[s->n_groups];
    const struct lab_node *absorbed =
        v->absorbs_activation ? absorbable(m, node, v->phase) : NULL;
    if (absorbed && has_own_choice(m, absorbed, v))
        absorbed = NULL;
    enum lab_status st = lab_group_fill(step, m->plan, node, v, absorbed);
    if (st)
        return st;
    s->n_groups++;
    int count = group_count(node, v->phase, first);
    if (absorbed)
        count += absorbed->n_steps[v->phase];
    append(m, step, v, by, first, count);
    m->absorbed_until = first + count;
    return LAB_OK;
}

/* ---- without a choice: the fastest of the measured ones ---- */

/* The variant of a step by that name, where it may run without being chosen. */
static const struct lab_variant *
candidate(struct maker *m, const struct lab_step *step, const char *name)
{
    const struct lab_variant *v = lab_backend_variant(
        m->be, m->plan->real, step->op->name, step->group ? NULL : step->kernel,
        step->phase, name);
    return v && lab_tune_competes(v) &&
                   step_prepare(m->plan, m->be, step, v) == LAB_OK
               ? v
               : NULL;
}

/* Does the step have a preferred variant without a known time? What others take
 * means nothing then. */
static bool lacks_preferred(struct maker *m, const struct lab_step *step,
                            const char *key)
{
    const struct lab_variant *v =
        step->group
            ? NULL
            : lab_backend_preferred(m->be, m->plan->real, step->op->name,
                                    step->kernel, step->phase);
    const struct lab_tune_time *t =
        v ? lab_tuning_find(m->tuning, key, v->name) : NULL;
    return v && (!t || isnan(t->ns)) && candidate(m, step, v->name);
}

/* What the steps of a name take together, and their fastest. */
struct usual {
    const char *name;
    double takes;
    double least;
};

/* The name that takes the least beside the fastest of its steps, of those names that
 * serve half of the time of all steps. The sum over many steps is less disturbed than
 * the time of any: on the host, other variants are for steps where they gain more. */
static void find_usual(struct maker *m)
{
    enum { MOST_NAMES = 64 };
    struct usual of[MOST_NAMES];
    int n_names = 0;
    double all = 0;
    for (int i = 0; i < m->plan->n_steps; i++) {
        char key[LAB_TUNE_KEY];
        int n;
        lab_tune_key(m->plan, &m->plan->steps[i], key);
        const struct lab_tune_time *t = lab_tuning_of(m->tuning, key, &n);
        for (int k = 0; k < n && !isnan(t[k].ns); k++) {
            int at = 0;
            while (at < n_names && strcmp(of[at].name, t[k].variant) != 0)
                at++;
            if (at == MOST_NAMES)
                continue;
            if (at == n_names)
                of[n_names++] = (struct usual){.name = t[k].variant};
            of[at].takes += t[k].ns;
            of[at].least += t->ns;
        }
        all += n > 0 && !isnan(t->ns) ? t->ns : 0;
    }
    double best = INFINITY;
    for (int i = 0; i < n_names; i++) {
        double share = of[i].takes / of[i].least;
        if (2 * of[i].least < all || share >= best)
            continue;
        best = share;
        m->usual = of[i].name;
    }
}

/* The fastest variant of a step that has a time, or NULL; *ns gets the time of the one
 * that is returned. The usual one counts as the fastest where it may be, a preferred one
 * where it is equal. */
static const struct lab_variant *
fastest(struct maker *m, const struct lab_step *step, double *ns)
{
    const struct lab_variant *best = NULL;
    double least = NAN;
    char key[LAB_TUNE_KEY];
    int n;
    lab_tune_key(m->plan, step, key);
    const struct lab_tune_time *t = lab_tuning_of(m->tuning, key, &n);
    if (lacks_preferred(m, step, key))
        return NULL;
    for (int i = 0; i < n && !isnan(t[i].ns); i++) {
        if (best && t[i].ns > LAB_DISTURBED_TIMES * least)
            break;
        const struct lab_variant *v = candidate(m, step, t[i].variant);
        bool is_usual = v && m->usual && strcmp(m->usual, t[i].variant) == 0;
        bool is_equal = v && best && v->preferred && !best->preferred &&
                        t[i].ns <= LAB_EQUAL_TIMES * least;
        if (v && !best)
            least = t[i].ns;
        if (v && (!best || is_usual || is_equal)) {
            *ns = t[i].ns;
            best = v;
        }
        if (is_usual)
            break;
    }
    return best;
}

/* What runs a step without a chosen variant. */
static const struct lab_variant *
by_default(struct maker *m, const struct lab_step *step, enum lab_chosen_by *by)
{
    double ns;
    const struct lab_variant *v = m->tuning ? fastest(m, step, &ns) : NULL;
    *by = v ? LAB_BY_TIME : LAB_BY_TABLE;
    return v ? v : table_serves(m, step);
}

/* The steps that a group of the node hides in a phase: the first of them in the
 * plan; *count how many. -1: there are none. */
static int hidden_steps(const struct maker *m, const struct lab_node *node,
                        enum lab_phase phase, int *count)
{
    int first = node->first_step[phase];
    for (int i = first; i < first + node->n_steps[phase]; i++) {
        if (!group_starts(m, node, i))
            continue;
        *count = group_count(node, phase, i);
        return i;
    }
    return -1;
}

/* What steps take by the variants that would run them; NaN: one has no time. */
static double time_of(struct maker *m, int first, int count)
{
    double sum = 0;
    for (int i = first; i < first + count; i++) {
        double ns;
        sum += fastest(m, &m->plan->steps[i], &ns) ? ns : NAN;
    }
    return sum;
}

/* The time of a group that may run without being chosen; NaN: it has none. Another one of
 * the same shapes may not serve here, or not with its twin, so that each counts by its own
 * time. One that fastest() passes over counts as no faster than the one that it takes. */
static double group_time(struct maker *m, const struct lab_step *step,
                         const struct lab_variant *v)
{
    char key[LAB_TUNE_KEY];
    double least;
    lab_tune_key(m->plan, step, key);
    const struct lab_tune_time *own = lab_tuning_find(m->tuning, key, v->name);
    const struct lab_variant *first = fastest(m, step, &least);
    if (!own || isnan(own->ns) || !candidate(m, step, v->name))
        return NAN;
    return first != v && own->ns <= least ? nextafter(least, INFINITY)
                                          : own->ns;
}

/* What a group saves in its phase, in ns; NaN where a time is missing. One that is equal
 * to its steps saves nothing: those can be looked at one by one. */
static double saved(struct maker *m, const struct lab_node *node,
                    const struct lab_variant *v)
{
    struct lab_step step;
    int count;
    int first = hidden_steps(m, node, v->phase, &count);
    const struct lab_node *absorbed =
        v->absorbs_activation ? absorbable(m, node, v->phase) : NULL;
    if (first < 0 || lab_group_fill(&step, m->plan, node, v, absorbed))
        return NAN;
    double group = group_time(m, &step, v);
    lab_step_release(&step);
    double steps = time_of(m, first, count);
    if (absorbed)
        steps += time_of(m, absorbed->first_step[v->phase], 1);
    return steps - LAB_EQUAL_TIMES * group;
}

static bool has_choice(const struct maker *m, const struct lab_node *node)
{
    for (int i = 0; i < m->n_choices; i++) {
        if (closeness(m->choices[i].target, node, node->op))
            return true;
    }
    return false;
}

/* The group of a phase that saves most, over both phases where it has a twin in the
 * other; NULL: none saves anything. Of those with a twin, or of those without. */
static const struct lab_variant *most_saving(struct maker *m,
                                             const struct lab_node *node,
                                             enum lab_phase phase, bool twins,
                                             double *most)
{
    enum { MOST_NAMES = 64 };
    const char *names[MOST_NAMES];
    const struct lab_variant *best = NULL;
    const struct lab_node *next = absorbable(m, node, phase);
    int n = lab_backend_variant_names(m->be, m->plan->real, node->op->name,
                                      names, MOST_NAMES);
    *most = 0;
    for (int i = 0; i < n && node->n_steps[phase] > 0; i++) {
        const struct lab_variant *twin;
        const struct lab_variant *v = lab_backend_variant(
            m->be, m->plan->real, node->op->name, NULL, phase, names[i]);
        if (!v || lab_node_unserved(node, v) || !find_twin(m, node, v, &twin) ||
            twins != (twin != NULL) ||
            (v->absorbs_activation && next && has_choice(m, next)) ||
            (v->steps_first && node->explained[phase]))
            continue;
        double ns = saved(m, node, v) + (twin ? saved(m, node, twin) : 0);
        if (ns > *most) {
            *most = ns;
            best = v;
        }
    }
    return best;
}

/* The group that runs a phase: one of a pair, where that saves more than a group of each
 * phase by itself; NULL: the steps are faster, or a variant was chosen for the node or
 * its activation. Seen from either phase, the same pair or no pair wins. */
static const struct lab_variant *fastest_group(struct maker *m,
                                               const struct lab_node *node,
                                               enum lab_phase phase)
{
    enum lab_phase other = phase == LAB_FORWARD ? LAB_BACKWARD : LAB_FORWARD;
    double alone;
    double other_alone;
    double both;
    if (!m->tuning || !node->op->group || has_choice(m, node))
        return NULL;
    const struct lab_variant *best = most_saving(m, node, phase, false, &alone);
    const struct lab_variant *pair = most_saving(m, node, phase, true, &both);
    if (pair)
        most_saving(m, node, other, false, &other_alone);
    return pair && both > alone + other_alone ? pair : best;
}

/* ---- what a step could run as ---- */

static bool look_up(const struct maker *m, const struct lab_step *step,
                    struct lab_candidate *c)
{
    char key[LAB_TUNE_KEY];
    lab_tune_key(m->plan, step, key);
    const struct lab_tune_time *t = lab_tuning_find(m->tuning, key, c->name);
    c->timed = t != NULL;
    c->ns = t ? t->ns : NAN;
    return t != NULL;
}

/* The time of the steps that a group hides, as c->name runs them, or as the
 * fastest does that is no row for them. */
static void look_up_hidden(const struct maker *m,
                           const struct lab_schedule_step *at,
                           struct lab_candidate *c)
{
    double sum = 0;
    bool timed = false;
    for (int i = at->hides_from; i < at->hides_from + at->hides_count; i++) {
        const struct lab_step *step = &m->plan->steps[i];
        struct lab_candidate one = {.name = c->name};
        char key[LAB_TUNE_KEY];
        int n;
        timed |= look_up(m, step, &one);
        if (!one.timed) {
            lab_tune_key(m->plan, step, key);
            const struct lab_tune_time *t = lab_tuning_of(m->tuning, key, &n);
            one.ns = t ? t->ns : NAN;
        }
        sum += one.ns;
    }
    c->timed = timed;
    c->ns = timed ? sum : NAN;
}

/* The time of a group that hides the step *at, among others. */
static void look_up_group(const struct maker *m,
                          const struct lab_schedule_step *at,
                          const struct lab_variant *v, struct lab_candidate *c)
{
    const struct lab_node *node = &m->plan->nodes[at->step->node];
    const struct lab_node *absorbed =
        v->absorbs_activation ? absorbable(m, node, v->phase) : NULL;
    struct lab_step step;
    int count;
    int first = hidden_steps(m, node, v->phase, &count);
    bool hides = first >= 0 && at->hides_from >= first &&
                 at->hides_from < first + count && !lab_node_unserved(node, v);
    c->serves |= hides;
    if (!hides || !m->tuning ||
        lab_group_fill(&step, m->plan, node, v, absorbed))
        return;
    if (look_up(m, &step, c))
        c->steps = count + (absorbed ? absorbed->n_steps[v->phase] : 0);
    lab_step_release(&step);
}

static void describe(const struct maker *m, const struct lab_schedule_step *at,
                     struct lab_candidate *c)
{
    const struct lab_step *step = at->step;
    const struct lab_variant *v = lab_backend_variant(
        m->be, m->plan->real, step->op->name, step->group ? NULL : step->kernel,
        step->phase, c->name);
    const struct lab_variant *group = lab_backend_variant(
        m->be, m->plan->real, step->op->name, NULL, step->phase, c->name);
    c->serves = v != NULL || step->group;
    c->by_hand = v && !lab_tune_competes(v);
    c->wrong = v ? v->wrong_on_purpose : NULL;
    c->steps = at->hides_count;
    if (m->tuning && v && look_up(m, step, c))
        return;
    if (step->group && m->tuning)
        look_up_hidden(m, at, c);
    else if (!step->group && group)
        look_up_group(m, at, group, c);
}

int lab_candidates(const struct lab_plan *plan, struct lab_backend *be,
                   const struct lab_tuning *t, int node,
                   const struct lab_schedule_step *at,
                   struct lab_candidate *out, int max)
{
    enum { MOST_NAMES = 64 };
    const char *names[MOST_NAMES];
    const struct maker m = {.plan = plan, .be = be, .tuning = t};
    double best = INFINITY;
    int n =
        lab_backend_variant_names(be, plan->real, plan->nodes[node].op->name,
                                  names, max < MOST_NAMES ? max : MOST_NAMES);
    for (int i = 0; i < n; i++) {
        out[i] = (struct lab_candidate){.name = names[i], .ns = NAN};
        if (at)
            describe(&m, at, &out[i]);
        if (at && out[i].steps == at->hides_count)
            best = fmin(best, out[i].ns);
    }
    for (int i = 0; i < n && at; i++)
        out[i].fastest = out[i].steps == at->hides_count && out[i].ns <= best;
    return n;
}

static enum lab_status add_step(struct maker *m, int index)
{
    const struct lab_step *step = &m->plan->steps[index];
    const struct lab_node *node = &m->plan->nodes[step->node];
    enum lab_chosen_by by = LAB_BY_HAND;
    if (group_starts(m, node, index)) {
        const struct lab_variant *g = chosen_group(m, node, step->phase);
        if (!g && !m->status) {
            g = fastest_group(m, node, step->phase);
            by = LAB_BY_TIME;
        }
        if (g)
            return add_group(m, node, g, by, index);
    }
    const struct lab_variant *v = m->status ? NULL : chosen(m, node, step, &by);
    if (m->status)
        return m->status;
    if (!v) {
        v = by_default(m, step, &by);
        enum lab_status st = v ? step_prepare(m->plan, m->be, step, v) : LAB_OK;
        if (st)
            return st;
    }
    if (!v)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[variant.no-kernel] the %s backend has no kernel for step %s (%s)",
            m->be->ops->name, step->name, lab_phase_name(step->phase));
    append(m, step, v, by, index, 1);
    return LAB_OK;
}

/* Adds the variants of an op that are not in the list yet. */
static int add_names(const struct maker *m, const struct lab_op_def *op,
                     const char **list, int n, int max)
{
    const char *more[32];
    int n_more =
        lab_backend_variant_names(m->be, m->plan->real, op->name, more, 32);
    for (int i = 0; i < n_more; i++) {
        bool known = n == max;
        for (int k = 0; k < n && !known; k++)
            known = strcmp(list[k], more[i]) == 0;
        if (!known)
            list[n++] = more[i];
    }
    return n;
}

static enum lab_status no_such_target(const struct maker *m, const char *target)
{
    struct lab_str names;
    lab_str_init(&names);
    for (int i = 0; i < m->plan->n_nodes; i++)
        lab_str_addf(&names, "%s%s", i ? ", " : "", m->plan->nodes[i].id);
    enum lab_status st =
        lab_fail(LAB_E_NOTFOUND,
                 "[variant.node] a variant for '%s': this network has no node "
                 "or op of that name; its nodes are %s",
                 target, lab_str_text(&names));
    lab_str_release(&names);
    return st;
}

static enum lab_status unused_choice(const struct maker *m,
                                     const struct lab_variant_choice *c)
{
    const char *list[32];
    int n = 0;
    bool known = false;
    const char *why = NULL;
    for (int i = 0; i < m->plan->n_steps; i++) {
        const struct lab_step *s = &m->plan->steps[i];
        const struct lab_node *node = &m->plan->nodes[s->node];
        bool by_id = within(c->target, node->id);
        if (closeness(c->target, node, s->op) == 0 ||
            (by_id && s->op != node->op))
            continue; /* a node's variants are its op's, not its optimizer's */
        known = true;
        why = why ? why : lab_node_unserved(node, NULL);
        n = add_names(m, s->op, list, n, 32);
    }
    if (!known)
        return no_such_target(m, c->target);
    struct lab_str names;
    lab_str_init(&names);
    for (int i = 0; i < n; i++)
        lab_str_addf(&names, "%s%s", i ? ", " : "", list[i]);
    lab_str_add(&names, ", " LAB_VARIANT_DEFAULT);
    bool there = false;
    for (int i = 0; i < n; i++)
        there = there || strcmp(list[i], c->variant) == 0;
    enum lab_status st;
    if (!there)
        st = lab_fail(LAB_E_NOTFOUND,
                      "[variant.missing] %s has no variant '%s' on the %s "
                      "backend; it has %s",
                      c->target, c->variant, m->be->ops->name,
                      lab_str_text(&names));
    else if (why)
        st = lab_fail(LAB_E_NOTFOUND,
                      "[variant.group] %s: variant '%s' does several steps in "
                      "one, and not for a node that %s; there are %s",
                      c->target, c->variant, why, lab_str_text(&names));
    else
        st = lab_fail(LAB_E_UNSUPPORTED,
                      "[variant.unserved] %s: variant '%s' is for steps that "
                      "this network does not have; there are %s",
                      c->target, c->variant, lab_str_text(&names));
    lab_str_release(&names);
    return st;
}

double lab_step_walk(const struct lab_plan *plan, const struct lab_step *step)
{
    int64_t fewest = 0;
    int written = 0;
    for (int i = 0; i < step->n_out; i++) {
        if (step->out[i] == LAB_NO_TENSOR)
            continue;
        int64_t count = plan->tensors[step->out[i]].count;
        written++;
        if (fewest == 0 || count < fewest)
            fewest = count;
    }
    return fewest ? step->flop / ((double)written * (double)fewest) : 0.0;
}

/* Does a thread of the step's readable kernel add up many elements, one after
 * the other? On a GPU that takes as long as a far larger step. */
static bool walks_far(const struct maker *m, const struct lab_step *step)
{
    return (strcmp(m->be->ops->name, "cuda") == 0 ||
            strcmp(m->be->ops->name, "sim") == 0) &&
           lab_step_walk(m->plan, step) >= LAB_PREFERRED_WALK;
}

static enum lab_status make_steps(struct maker *m)
{
    for (int i = 0; i < m->plan->n_steps; i++) {
        const struct lab_step *step = &m->plan->steps[i];
        if (step->flop >= LAB_PREFERRED_FLOP || walks_far(m, step))
            m->large[step->node] = true;
    }
    for (int i = 0; i < m->plan->n_steps; i++) {
        if (i < m->absorbed_until)
            continue;
        enum lab_status st = add_step(m, i);
        if (st)
            return st;
    }
    for (int i = 0; i < m->n_choices; i++) {
        if (m->choices[i].optional)
            continue;
        if (!m->outcome[i].used)
            return unused_choice(m, &m->choices[i]);
        if (m->outcome[i].refused && !m->outcome[i].served)
            return lab_error_again(LAB_E_UNSUPPORTED, &m->why);
    }
    int at = 0;
    for (int phase = 0; phase <= LAB_PHASE_COUNT; phase++) {
        while (at < m->out->n_steps &&
               (int)m->out->steps[at].step->phase < phase)
            at++;
        m->out->phase_first[phase] = at;
    }
    return LAB_OK;
}

static struct lab_schedule *schedule_alloc(int n_steps, int n_nodes)
{
    struct lab_schedule *s = lab_alloc(sizeof(*s));
    if (!s)
        return NULL;
    s->refs = 1;
    s->steps = lab_alloc_array((size_t)n_steps, sizeof(*s->steps));
    s->groups =
        lab_alloc_array((size_t)n_nodes * LAB_PHASE_COUNT, sizeof(*s->groups));
    if (s->steps && s->groups)
        return s;
    lab_schedule_release(s);
    return NULL;
}

enum lab_status lab_schedule_make(struct lab_schedule **out,
                                  const struct lab_plan *plan,
                                  struct lab_backend *be,
                                  const struct lab_variant_choice *choices,
                                  int n_choices,
                                  const struct lab_tuning *tuning)
{
    struct maker m = {.plan = plan,
                      .be = be,
                      .choices = choices,
                      .n_choices = n_choices,
                      .tuning = tuning};
    enum lab_status st;
    m.large = lab_alloc_array((size_t)plan->n_nodes + 1, sizeof(*m.large));
    m.outcome = lab_alloc_array((size_t)n_choices + 1, sizeof(*m.outcome));
    m.out = schedule_alloc(plan->n_steps, plan->n_nodes);
    if (!m.large || !m.outcome || !m.out)
        st = lab_no_memory("the schedule");
    else {
        if (tuning && !be->ops->graph)
            find_usual(&m);
        st = make_steps(&m);
    }
    lab_free(m.large);
    lab_free(m.outcome);
    if (st) {
        lab_schedule_release(m.out);
        return st;
    }
    *out = m.out;
    return LAB_OK;
}

struct lab_schedule *lab_schedule_retain(struct lab_schedule *s)
{
    if (s)
        __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void lab_schedule_release(struct lab_schedule *s)
{
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (int i = 0; i < s->n_groups; i++)
        lab_step_release(&s->groups[i]);
    lab_free(s->groups);
    lab_free(s->steps);
    lab_free(s);
}

int lab_schedule_find(const struct lab_schedule *s, const struct lab_plan *plan,
                      const char *name, int phase, int from)
{
    for (int i = from < 0 ? 0 : from; i < s->n_steps; i++) {
        const struct lab_step *step = s->steps[i].step;
        if (phase >= 0 && (int)step->phase != phase)
            continue;
        if (strcmp(step->name, name) == 0 ||
            within(name, plan->nodes[step->node].id))
            return i;
        /* A step that a group hides is found as its group. */
        for (int k = 0; k < s->steps[i].hides_count; k++) {
            if (strcmp(plan->steps[s->steps[i].hides_from + k].name, name) == 0)
                return i;
        }
    }
    return -1;
}

static bool step_writes(const struct lab_step *step, int tensor)
{
    for (int i = 0; i < step->n_out; i++) {
        if (step->out[i] == tensor)
            return true;
    }
    return false;
}

int lab_schedule_hider(const struct lab_schedule *s,
                       const struct lab_plan *plan, int tensor)
{
    for (int i = 0; i < s->n_steps; i++) {
        const struct lab_schedule_step *g = &s->steps[i];
        if (!g->step->group || step_writes(g->step, tensor))
            continue;
        for (int k = 0; k < g->hides_count; k++) {
            if (step_writes(&plan->steps[g->hides_from + k], tensor))
                return i;
        }
    }
    return -1;
}
