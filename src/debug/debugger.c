/* debugger.c -- from a typed command to the session's: names are looked up in a
 * snapshot, defaults are filled in; and the lists of what there is. */
#include "debug/debugger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "debug/kernel_walk.h"
#include "engine/setup.h"
#include "report/text_table.h"

/* ---- names ---- */

/* LAB_E_NOTFOUND, with the nearest of `names`, which it frees; NULL: none. Where
 * none is near: `list`, what lists them. */
static enum lab_status fail_nearest(const char *what, const char *name,
                                    int phase, const char *list,
                                    const char **names, int n)
{
    const char *near = names ? lab_nearest(name, names, (size_t)n) : NULL;
    const char *where = phase >= 0 ? lab_phase_name((enum lab_phase)phase) : "";
    const char *in = phase >= 0 ? " in phase " : "";
    lab_free(names);
    if (near)
        return lab_fail(LAB_E_NOTFOUND,
                        "[debugger.name] no %s '%s'%s%s; did you mean %s?",
                        what, name, in, where, near);
    return lab_fail(LAB_E_NOTFOUND,
                    "[debugger.name] no %s '%s'%s%s; `%s` shows them", what,
                    name, in, where, list);
}

enum lab_status lab_debugger_find_step(const struct lab_schedule *s,
                                       const struct lab_plan *plan,
                                       const char *name, int phase, int from,
                                       const char *list, int *out)
{
    int at = lab_schedule_find(s, plan, name, phase, from);
    if (at < 0)
        at = lab_schedule_find(s, plan, name, phase, 0);
    if (at >= 0) {
        *out = at;
        return LAB_OK;
    }
    const char **names = lab_alloc_array((size_t)s->n_steps, sizeof(*names));
    for (int i = 0; names && i < s->n_steps; i++)
        names[i] = s->steps[i].step->name;
    return fail_nearest("step", name, phase, list, names, s->n_steps);
}

static enum lab_status debugger_step(const struct lab_snapshot *snap,
                                     const char *name, int phase, int *out)
{
    return lab_debugger_find_step(snap->schedule, snap->plan, name, phase,
                                  snap->position, "list steps", out);
}

static enum lab_status debugger_tensor(const struct lab_snapshot *snap,
                                       const char *name, int *out)
{
    const struct lab_plan *plan = snap->plan;
    *out = lab_plan_tensor(plan, name);
    if (*out >= 0)
        return LAB_OK;
    const char **names =
        lab_alloc_array((size_t)plan->n_tensors, sizeof(*names));
    for (int i = 0; names && i < plan->n_tensors; i++)
        names[i] = plan->tensors[i].name;
    return fail_nearest("tensor", name, -1, "list tensors", names,
                        plan->n_tensors);
}

enum lab_status lab_debugger_part(const struct lab_snapshot *snap,
                                  const struct lab_ui_command *c,
                                  struct lab_tensor_part *out)
{
    char shape[LAB_SHAPE_TEXT];
    struct lab_tensor_part s = {.tensor = -1};
    enum lab_status st = debugger_tensor(snap, c->arg, &s.tensor);
    if (st)
        return st;
    s.shape = snap->plan->tensors[s.tensor].shape;
    lab_shape_text(&s.shape, shape);
    if (c->index_count > s.shape.rank)
        return lab_fail(LAB_E_RANGE,
                        "[debugger.indices] %s is %s: %d indices are too many",
                        c->arg, shape, c->index_count);
    for (int i = 0; i < s.shape.rank; i++) {
        int64_t dim = s.shape.dim[i];
        int64_t k = i < c->index_count ? c->index[i] : LAB_INDEX_ALL;
        if (k == LAB_INDEX_ALL) {
            s.whole[s.n_whole++] = i;
            continue;
        }
        if (k < -dim || k >= dim)
            return lab_fail(
                LAB_E_RANGE,
                "[debugger.index] %s is %s: index %lld of axis %d is outside",
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
               ? debugger_step(snap, from->arg, from->phase, &at)
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
    {LAB_COMMAND_LR, LAB_DO_LR, 0},
    {LAB_COMMAND_LOAD, LAB_DO_RESTART, 0},
    {LAB_COMMAND_SAVE, LAB_DO_SAVE, 0},
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
        return lab_fail(LAB_E_ARG,
                        "[debugger.screens-only] %s is for the screens: it "
                        "does nothing here",
                        lab_ui_command_name(c->kind));
    struct lab_command made = {.kind = act->kind,
                               .n = c->n == LAB_COMMAND_ALL ? act->n : c->n,
                               .phase = -1};
    put_text(&made, c->arg);
    snprintf(made.text2, sizeof(made.text2), "%s", c->arg2);
    switch (c->kind) {
    case LAB_COMMAND_RUN:
        st = debugger_step(snap, c->arg, c->phase, &at);
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
    case LAB_COMMAND_RESTART:
        made.lr = isnan(c->value) ? 0 : c->value;
        break;
    case LAB_COMMAND_SAVE:
        made.n = made.text2[0] != '\0';
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
        st = debugger_tensor(snap, made.text, &at);
    if (!st)
        *out = made;
    return st;
}

/* ---- into a kernel ---- */

enum lab_status lab_debugger_into(const struct lab_snapshot *snap,
                                  const struct lab_ui_command *c,
                                  struct lab_command *out)
{
    const int steps = snap->schedule->n_steps;
    int at = snap->position < steps ? snap->position : 0;
    enum lab_status st = lab_kernel_walk_possible(snap->backend);
    if (!st && c->arg[0])
        st = debugger_step(snap, c->arg, c->phase, &at);
    if (!st)
        *out =
            (struct lab_command){.kind = LAB_DO_RUN_TO, .n = at, .phase = -1};
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

struct listing {
    const struct lab_snapshot *snap;
    lab_candidates_fn *candidates;
    void *user;
};

static enum lab_status list_steps(const struct listing *l, struct lab_str *out)
{
    static const char *const heads[] = {"",        ">step", "name", "phase",
                                        "variant", ">time", NULL};
    const struct lab_snapshot *s = l->snap;
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < s->schedule->n_steps; i++) {
        const struct lab_schedule_step *step = &s->schedule->steps[i];
        lab_text_table_add(&t, i == s->position ? ">" : "");
        lab_text_table_add_int(&t, i + 1);
        lab_text_table_add(&t, step->step->name);
        lab_text_table_add(&t, lab_phase_name(step->step->phase));
        lab_text_table_add(&t, step->variant->name);
        if (s->steps[i].done && s->steps[i].exec > 0)
            lab_text_table_add_ns(&t, s->steps[i].time_ns);
        else
            lab_text_table_add(&t, "");
    }
    return lab_text_table_format(&t, out);
}

static void add_break(const struct lab_break_info *b, struct lab_str *out)
{
    const char *phase =
        b->phase >= 0 ? lab_phase_name((enum lab_phase)b->phase) : "";
    lab_str_addf(out, "  %d  ", b->number);
    if (b->watch)
        lab_str_addf(out, "watch %s: when it has been written", b->step);
    else if (b->kind == LAB_BREAK_STEP)
        lab_str_addf(out, "step %s%s%s", b->step, *phase ? " " : "", phase);
    else if (b->kind == LAB_BREAK_PHASE)
        lab_str_addf(out, "phase %s", phase);
    else if (b->kind == LAB_BREAK_LOSS_ABOVE)
        lab_str_addf(out, "loss above %g", b->value);
    else
        lab_str_addf(out, "%s in what a step writes",
                     b->kind == LAB_BREAK_NAN ? "NaN" : "Inf");
    if (b->hits)
        lab_str_addf(out, "  (hit %lld time%s)", (long long)b->hits,
                     b->hits == 1 ? "" : "s");
    lab_str_addf(out, "\n");
}

static enum lab_status list_breaks(const struct listing *l, struct lab_str *out)
{
    if (l->snap->n_breaks == 0)
        lab_str_add(out, "no breakpoints and no watches\n");
    for (int i = 0; i < l->snap->n_breaks; i++)
        add_break(&l->snap->breaks[i], out);
    return LAB_OK;
}

static enum lab_status list_tensors(const struct listing *l,
                                    struct lab_str *out)
{
    static const char *const heads[] = {"tensor", "shape", "type", "role",
                                        NULL};
    static const char *const roles[] = {"data", "parameter", "state",
                                        "activation", "gradient"};
    const struct lab_plan *plan = l->snap->plan;
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *tensor = &plan->tensors[i];
        char shape[LAB_SHAPE_TEXT];
        lab_text_table_add(&t, tensor->name);
        lab_text_table_add(&t, lab_shape_text(&tensor->shape, shape));
        lab_text_table_add(&t, lab_dtype_name(tensor->dtype));
        lab_text_table_add(&t, roles[tensor->role]);
    }
    return lab_text_table_format(&t, out);
}

/* ---- variants ---- */

static const char *const by_words[] = {[LAB_BY_TABLE] = "(fixed table)",
                                       [LAB_BY_DEFAULT] = "(fixed table)",
                                       [LAB_BY_TIME] = "(measured)",
                                       [LAB_BY_HAND] = "(by hand)"};

static bool is_own(const struct lab_snapshot *snap, int node, int index)
{
    const struct lab_schedule_step *at = &snap->schedule->steps[index];
    return at->depth_node == node && at->step->op == snap->plan->nodes[node].op;
}

int lab_debugger_step_of(const struct lab_snapshot *snap, int node, int index)
{
    if (index >= 0 && is_own(snap, node, index))
        return index;
    for (int i = 0; i < snap->schedule->n_steps; i++) {
        if (is_own(snap, node, i))
            return i;
    }
    return -1;
}

const char *lab_candidate_note(const struct lab_candidate *c,
                               const struct lab_schedule_step *at,
                               char out[LAB_CANDIDATE_NOTE])
{
    bool runs = at && strcmp(at->variant->name, c->name) == 0;
    bool several = c->timed && at && c->steps != at->hides_count;
    char steps[32] = "";
    char wrong[LAB_CANDIDATE_NOTE / 2];
    if (c->wrong)
        snprintf(wrong, sizeof(wrong), "wrong on purpose: %.26s, ", c->wrong);
    const char *time = !c->serves     ? "not for this step, "
                       : c->wrong     ? wrong
                       : c->by_hand   ? "not measured: by hand alone, "
                       : !c->timed    ? "not measured, "
                       : isnan(c->ns) ? "left out: over the budget, "
                       : c->fastest   ? "fastest, "
                                      : "";
    if (several)
        snprintf(steps, sizeof(steps), "for %d steps, ", c->steps);
    int n = snprintf(out, LAB_CANDIDATE_NOTE, "%s%s%s%s", time, steps,
                     runs ? "runs now " : "", runs ? by_words[at->by] : "");
    if (!runs && n >= 2)
        out[n - 2] = '\0';
    return out;
}

const char *lab_variant_chosen_text(const char *target, const char *variant,
                                    char out[LAB_SESSION_TEXT])
{
    const char *fmt = "%s runs as %s from now on";
    if (strcmp(variant, LAB_VARIANT_DEFAULT) == 0)
        fmt = "%s runs by the fixed table from now on";
    else if (strcmp(variant, LAB_VARIANT_AUTO) == 0)
        fmt = "%s: nothing is chosen any more; what was measured decides, else "
              "the fixed table";
    snprintf(out, LAB_SESSION_TEXT, fmt, target, variant);
    return out;
}

static void add_candidates(const struct lab_schedule_step *at,
                           const struct lab_candidate *list, int n,
                           struct lab_text_table *t)
{
    char note[LAB_CANDIDATE_NOTE];
    for (int i = 0; i < n; i++) {
        lab_text_table_add(t, i ? "" : at->step->name);
        lab_text_table_add(t, i ? "" : lab_phase_name(at->step->phase));
        lab_text_table_add(t, list[i].name);
        if (isnan(list[i].ns))
            lab_text_table_add(t, "");
        else
            lab_text_table_add_real_ns(t, list[i].ns);
        lab_text_table_add(t, lab_candidate_note(&list[i], at, note));
    }
}

enum lab_status lab_debugger_variants(const struct lab_snapshot *snap,
                                      const char *node,
                                      lab_candidates_fn *candidates, void *user,
                                      struct lab_str *out)
{
    static const char *const heads[] = {"step",  "phase", "variant",
                                        ">time", "",      NULL};
    struct lab_candidate list[LAB_CANDIDATES];
    struct lab_text_table t;
    int id = lab_plan_node(snap->plan, node);
    if (id < 0)
        return lab_fail(LAB_E_NOTFOUND,
                        "[debugger.node] this network has no node '%s'", node);
    lab_text_table_init(&t, heads);
    for (int i = 0; i < snap->schedule->n_steps && candidates; i++) {
        const struct lab_schedule_step *at = &snap->schedule->steps[i];
        if (is_own(snap, id, i))
            add_candidates(at, list,
                           candidates(user, id, at, list, LAB_CANDIDATES), &t);
    }
    enum lab_status st = lab_text_table_format(&t, out);
    return !st && out->failed ? lab_no_memory("a list") : st;
}

static enum lab_status list_variants(const struct listing *l,
                                     struct lab_str *out)
{
    static const char *const heads[] = {"node", "op",         "runs as",
                                        "",     "can run as", NULL};
    const struct lab_plan *plan = l->snap->plan;
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < plan->n_nodes && l->candidates; i++) {
        struct lab_candidate list[LAB_CANDIDATES];
        struct lab_str all;
        int n = l->candidates(l->user, i, NULL, list, LAB_CANDIDATES);
        if (n == 0 || !plan->nodes[i].op)
            continue;
        lab_str_init(&all);
        for (int k = 0; k < n; k++)
            lab_str_addf(&all, "%s%s", k ? ", " : "", list[k].name);
        int first = lab_debugger_step_of(l->snap, i, -1);
        const struct lab_schedule_step *at =
            first < 0 ? NULL : &l->snap->schedule->steps[first];
        lab_text_table_add(&t, plan->nodes[i].id);
        lab_text_table_add(&t, plan->nodes[i].op->name);
        lab_text_table_add(&t, at ? at->variant->name : "(inside another)");
        lab_text_table_add(&t, at ? by_words[at->by] : "");
        lab_text_table_add(&t, lab_str_text(&all));
        lab_str_release(&all);
    }
    return lab_text_table_format(&t, out);
}

static enum lab_status list_words(const struct listing *l, struct lab_str *out)
{
    static const char *const heads[] = {">number", "word", ">times", NULL};
    const struct lab_vocabulary *words = l->snap->words;
    struct lab_text_table t;
    if (!words)
        return lab_fail(LAB_E_STATE,
                        "[debugger.no-words] this lesson's data has no words");
    lab_text_table_init(&t, heads);
    for (int64_t i = 0; i < words->n; i++) {
        lab_text_table_add_int(&t, i);
        lab_text_table_add(&t, words->word[i]);
        lab_text_table_add_int(&t, words->times[i]);
    }
    return lab_text_table_format(&t, out);
}

/* What was withdrawn or left out. */
static enum lab_status list_notes(const struct listing *l, struct lab_str *out)
{
    const char *notice = lab_setup_notice_rest(l->snap->notice);
    lab_str_add(out, notice[0] ? notice : "nothing was left out or withdrawn");
    if (!notice[0] || notice[strlen(notice) - 1] != '\n')
        lab_str_add(out, "\n");
    return LAB_OK;
}

enum lab_status lab_debugger_list(const struct lab_snapshot *snap,
                                  const char *what,
                                  lab_candidates_fn *candidates, void *user,
                                  const char **title, struct lab_str *out)
{
    static const struct {
        const char *word;
        const char *title;
        enum lab_status (*list)(const struct listing *l, struct lab_str *out);
    } lists[] = {{"steps", "Steps", list_steps},
                 {"breaks", "Breakpoints and watches", list_breaks},
                 {"tensors", "Tensors", list_tensors},
                 {"variants", "Variants", list_variants},
                 {"words", "Words and their numbers", list_words},
                 {"notes", "Notes", list_notes}};
    const struct listing l = {snap, candidates, user};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (strncmp(lists[i].word, what, strlen(what)) != 0)
            continue; /* "" means steps */
        *title = lists[i].title;
        enum lab_status st = lists[i].list(&l, out);
        return !st && out->failed ? lab_no_memory("a list") : st;
    }
    return lab_fail(LAB_E_PARSE,
                    "[debugger.list] list: no \"%s\": steps, breaks, tensors, "
                    "variants, words or notes",
                    what);
}
