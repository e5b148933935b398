/* What there is: the lists of steps, breakpoints, tensors, variants, words and
 * notes, as text for the screen and for --plain. */
#include <string.h>

#include "debug/debugger.h"
#include "engine/setup.h"
#include "report/text_table.h"

enum { MOST_VARIANTS = 32 };

struct listing {
    const struct lab_snapshot *snap;
    lab_variant_names_fn *names;
    void *user;
};

static enum lab_status put_table(struct lab_text_table *t, struct lab_str *out)
{
    enum lab_status st = lab_text_table_format(t, out);
    lab_text_table_release(t);
    return st;
}

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
    return put_table(&t, out);
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
    static const char *const types[] = {"f32", "f64", "i32"};
    const struct lab_plan *plan = l->snap->plan;
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *tensor = &plan->tensors[i];
        char shape[LAB_SHAPE_TEXT];
        lab_text_table_add(&t, tensor->name);
        lab_text_table_add(&t, lab_shape_text(&tensor->shape, shape));
        lab_text_table_add(&t, types[tensor->dtype]);
        lab_text_table_add(&t, roles[tensor->role]);
    }
    return put_table(&t, out);
}

/* What a node's first step in the schedule runs as; NULL: it has none. */
static const char *variant_of(const struct lab_snapshot *snap, int node)
{
    const struct lab_schedule *s = snap->schedule;
    for (int i = 0; i < s->n_steps; i++) {
        if (s->steps[i].step->node == node)
            return s->steps[i].variant->name;
    }
    return NULL;
}

static enum lab_status list_variants(const struct listing *l,
                                     struct lab_str *out)
{
    static const char *const heads[] = {"node", "op", "runs as", "can run as",
                                        NULL};
    const struct lab_plan *plan = l->snap->plan;
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < plan->n_nodes && l->names; i++) {
        const char *names[MOST_VARIANTS];
        struct lab_str all;
        int n = l->names(l->user, i, names, MOST_VARIANTS);
        if (n == 0 || !plan->nodes[i].op)
            continue;
        lab_str_init(&all);
        for (int k = 0; k < n && k < MOST_VARIANTS; k++)
            lab_str_addf(&all, "%s%s", k ? ", " : "", names[k]);
        const char *now = variant_of(l->snap, i);
        lab_text_table_add(&t, plan->nodes[i].id);
        lab_text_table_add(&t, plan->nodes[i].op->name);
        lab_text_table_add(&t, now ? now : "(inside another)");
        lab_text_table_add(&t, lab_str_text(&all));
        lab_str_release(&all);
    }
    return put_table(&t, out);
}

static enum lab_status list_words(const struct listing *l, struct lab_str *out)
{
    static const char *const heads[] = {">number", "word", ">times", NULL};
    const struct lab_vocabulary *words = l->snap->words;
    struct lab_text_table t;
    if (!words)
        return lab_fail(LAB_E_STATE, "this lesson's data has no words");
    lab_text_table_init(&t, heads);
    for (int64_t i = 0; i < words->n; i++) {
        lab_text_table_add_int(&t, i);
        lab_text_table_add(&t, words->word[i]);
        lab_text_table_add_int(&t, words->times[i]);
    }
    return put_table(&t, out);
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
                                  const char *what, lab_variant_names_fn *names,
                                  void *user, const char **title,
                                  struct lab_str *out)
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
    const struct listing l = {snap, names, user};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (strncmp(lists[i].word, what, strlen(what)) != 0)
            continue; /* "" means steps */
        *title = lists[i].title;
        enum lab_status st = lists[i].list(&l, out);
        return !st && out->failed ? lab_no_memory("a list") : st;
    }
    return lab_fail(LAB_E_PARSE,
                    "list: no \"%s\": steps, breaks, tensors, variants, "
                    "words or notes",
                    what);
}
