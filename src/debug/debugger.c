/* From a typed command to the session's: names are looked up in a snapshot,
 * defaults are filled in. */
#include "debug/debugger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* ---- names ---- */

/* LAB_E_NOTFOUND, with the nearest of `names`, which it frees; NULL: none. */
static enum lab_status fail_nearest(const char *what, const char *name,
                                    int phase, const char **names, int n)
{
    const char *near = names ? lab_nearest(name, names, (size_t)n) : NULL;
    const char *where = phase >= 0 ? lab_phase_name((enum lab_phase)phase) : "";
    const char *in = phase >= 0 ? " in phase " : "";
    lab_free(names);
    if (near)
        return lab_fail(LAB_E_NOTFOUND, "no %s '%s'%s%s; did you mean %s?",
                        what, name, in, where, near);
    return lab_fail(LAB_E_NOTFOUND, "no %s '%s'%s%s; `list %ss` has them", what,
                    name, in, where, what);
}

enum lab_status lab_debugger_step(const struct lab_snapshot *snap,
                                  const char *name, int phase, int *out)
{
    const struct lab_schedule *s = snap->schedule;
    int at = lab_schedule_find(s, snap->plan, name, phase, snap->position);
    if (at < 0)
        at = lab_schedule_find(s, snap->plan, name, phase, 0);
    if (at >= 0) {
        *out = at;
        return LAB_OK;
    }
    const char **names = lab_alloc_array((size_t)s->n_steps, sizeof(*names));
    for (int i = 0; names && i < s->n_steps; i++)
        names[i] = s->steps[i].step->name;
    return fail_nearest("step", name, phase, names, s->n_steps);
}

enum lab_status lab_debugger_tensor(const struct lab_snapshot *snap,
                                    const char *name, int *out)
{
    const struct lab_plan *plan = snap->plan;
    for (int i = 0; i < plan->n_tensors; i++) {
        if (strcmp(plan->tensors[i].name, name) == 0) {
            *out = i;
            return LAB_OK;
        }
    }
    const char **names =
        lab_alloc_array((size_t)plan->n_tensors, sizeof(*names));
    for (int i = 0; names && i < plan->n_tensors; i++)
        names[i] = plan->tensors[i].name;
    return fail_nearest("tensor", name, -1, names, plan->n_tensors);
}

enum lab_status lab_debugger_part(const struct lab_snapshot *snap,
                                  const struct lab_ui_command *c,
                                  struct lab_tensor_part *out)
{
    char shape[LAB_SHAPE_TEXT];
    struct lab_tensor_part s = {.tensor = -1};
    enum lab_status st = lab_debugger_tensor(snap, c->arg, &s.tensor);
    if (st)
        return st;
    s.shape = snap->plan->tensors[s.tensor].shape;
    lab_shape_text(&s.shape, shape);
    if (c->index_count > s.shape.rank)
        return lab_fail(LAB_E_RANGE, "%s is %s: %d indices are too many",
                        c->arg, shape, c->index_count);
    for (int i = 0; i < s.shape.rank; i++) {
        int64_t dim = s.shape.dim[i];
        int64_t k = i < c->index_count ? c->index[i] : LAB_INDEX_ALL;
        if (k == LAB_INDEX_ALL) {
            s.whole[s.n_whole++] = i;
            continue;
        }
        if (k < -dim || k >= dim)
            return lab_fail(LAB_E_RANGE,
                            "%s is %s: index %lld of axis %d is outside",
                            c->arg, shape, (long long)k, i);
        s.at[i] = k < 0 ? k + dim : k;
    }
    *out = s;
    return LAB_OK;
}

/* ---- commands ---- */

static void put_text(struct lab_command *c, const char *text)
{
    snprintf(c->text, sizeof(c->text), "%s", text);
}

static enum lab_status put_break(const struct lab_snapshot *snap,
                                 const struct lab_ui_command *from, int here,
                                 struct lab_command *out)
{
    static const enum lab_break_kind kinds[] = {
        [LAB_WHEN_HERE] = LAB_BREAK_STEP,
        [LAB_WHEN_STEP] = LAB_BREAK_STEP,
        [LAB_WHEN_PHASE] = LAB_BREAK_PHASE,
        [LAB_WHEN_NAN] = LAB_BREAK_NAN,
        [LAB_WHEN_INF] = LAB_BREAK_INF,
        [LAB_WHEN_LOSS] = LAB_BREAK_LOSS_ABOVE};
    int at;
    out->break_kind = kinds[from->when];
    out->phase = from->phase;
    out->value = from->value;
    if (from->when == LAB_WHEN_HERE) {
        out->phase = (int)snap->schedule->steps[here].step->phase;
        put_text(out, snap->schedule->steps[here].step->name);
    }
    return from->when == LAB_WHEN_STEP
               ? lab_debugger_step(snap, from->arg, from->phase, &at)
               : LAB_OK;
}

/* The session's word for each of ours, and what the number is where none was
 * given. */
static const struct act {
    enum lab_ui_command_kind word;
    enum lab_command_kind kind;
    int64_t n;
} acts[] = {
    {LAB_COMMAND_STEP, LAB_DO_STEP, 1},
    {LAB_COMMAND_NEXT, LAB_DO_NEXT, 1},
    {LAB_COMMAND_FINISH, LAB_DO_FINISH, 0},
    {LAB_COMMAND_CONTINUE, LAB_DO_CONTINUE, 0},
    {LAB_COMMAND_RUN, LAB_DO_RUN_TO, 0},
    {LAB_COMMAND_BACK, LAB_DO_BACK, 1},
    {LAB_COMMAND_RESTART, LAB_DO_RESTART, 0},
    {LAB_COMMAND_SEED, LAB_DO_RESTART, 0},
    {LAB_COMMAND_LR, LAB_DO_RESTART, 0},
    {LAB_COMMAND_TRAIN, LAB_DO_TRAIN, 0},
    {LAB_COMMAND_STOP, LAB_DO_STOP, 0},
    {LAB_COMMAND_BREAK, LAB_DO_BREAK, 0},
    {LAB_COMMAND_DELETE, LAB_DO_DELETE, 0},
    {LAB_COMMAND_WATCH, LAB_DO_WATCH, 0},
    {LAB_COMMAND_UNWATCH, LAB_DO_UNWATCH, 0},
    {LAB_COMMAND_VARIANT, LAB_DO_VARIANT, 0},
    {LAB_COMMAND_NEAR, LAB_DO_NEAR, 0},
    {LAB_COMMAND_CHECK, LAB_DO_CHECK, 0},
    {LAB_COMMAND_COUNT, LAB_DO_COUNT, 0},
    {LAB_COMMAND_TRACE, LAB_DO_TRACE, 0},
};

static const struct act *find_act(enum lab_ui_command_kind word)
{
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
        if (acts[i].word == word)
            return &acts[i];
    return NULL;
}

enum lab_status lab_debugger_command(const struct lab_snapshot *snap,
                                     const struct lab_ui_command *c, int here,
                                     struct lab_command *out)
{
    const struct act *act = find_act(c->kind);
    enum lab_status st = LAB_OK;
    int at = -1;
    if (!act)
        return lab_fail(LAB_E_ARG, "%s is no command of the session",
                        lab_ui_command_name(c->kind));
    struct lab_command made = {.kind = act->kind,
                               .n = c->n == LAB_COMMAND_ALL ? act->n : c->n,
                               .phase = -1};
    put_text(&made, c->arg);
    snprintf(made.text2, sizeof(made.text2), "%s", c->arg2);
    switch (c->kind) {
    case LAB_COMMAND_RUN:
        st = lab_debugger_step(snap, c->arg, c->phase, &at);
        made.n = at;
        break;
    case LAB_COMMAND_BREAK:
        st = put_break(snap, c, here, &made);
        break;
    case LAB_COMMAND_SEED:
        made.seed_given = true;
        made.seed = (uint64_t)c->n;
        break;
    case LAB_COMMAND_LR:
        made.lr = c->value;
        break;
    case LAB_COMMAND_COUNT:
        made.n = here;
        if (!c->arg[0])
            put_text(&made, "step");
        break;
    case LAB_COMMAND_CHECK: /* no name, for the session, is every parameter */
        if (strcmp(c->arg, "all") == 0)
            made.text[0] = '\0';
        break;
    default:
        break;
    }
    bool tensor = c->kind == LAB_COMMAND_WATCH ||
                  c->kind == LAB_COMMAND_UNWATCH ||
                  c->kind == LAB_COMMAND_CHECK;
    if (tensor && made.text[0])
        st = lab_debugger_tensor(snap, made.text, &at);
    if (!st)
        *out = made;
    return st;
}

/* ---- text from the network ---- */

void lab_sample_request_take(struct lab_sample_request *how,
                             const struct lab_ui_command *c)
{
    if (c->n != LAB_COMMAND_ALL)
        how->n = c->n;
    if (!isnan(c->value))
        how->temperature = c->value;
    if (c->top_k > 0)
        how->top_k = c->top_k;
    if (c->arg[0])
        snprintf(how->prompt, sizeof(how->prompt), "%s", c->arg);
}

struct lab_command
lab_sample_request_command(const struct lab_sample_request *how)
{
    struct lab_command c = {.kind = LAB_DO_SAMPLE,
                            .n = how->n,
                            .phase = -1,
                            .value = how->temperature,
                            .top_k = how->top_k};
    put_text(&c, how->prompt);
    return c;
}
