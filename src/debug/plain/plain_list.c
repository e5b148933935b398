/* list, help, and the table of a gradient check. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plain_priv.h"
#include "report/print.h"
#include "report/text_table.h"

enum { MOST_VARIANTS = 32 };

static enum lab_status put_table(struct lab_text_table *t)
{
    struct lab_str text;
    lab_str_init(&text);
    enum lab_status st = lab_text_table_format(t, &text);
    if (!st) /* a line at a time: a table may be long */
        for (char *line = text.data; line && *line;) {
            char *end = strchr(line, '\n');
            if (end)
                *end = '\0';
            lab_printf(stdout, "%s\n", line);
            line = end ? end + 1 : NULL;
        }
    lab_str_release(&text);
    lab_text_table_release(t);
    return st;
}

static enum lab_status list_steps(struct lab_plain *p)
{
    static const char *const heads[] = {"",        ">step", "name", "phase",
                                        "variant", ">time", NULL};
    const struct lab_snapshot *s = &p->snap;
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
    return put_table(&t);
}

static void say_break(const struct lab_break_info *b)
{
    const char *phase =
        b->phase >= 0 ? lab_phase_name((enum lab_phase)b->phase) : "";
    lab_printf(stdout, "  %d  ", b->number);
    if (b->watch)
        lab_printf(stdout, "watch %s: when it has been written", b->step);
    else if (b->kind == LAB_BREAK_STEP)
        lab_printf(stdout, "step %s%s%s", b->step, *phase ? " " : "", phase);
    else if (b->kind == LAB_BREAK_PHASE)
        lab_printf(stdout, "phase %s", phase);
    else if (b->kind == LAB_BREAK_LOSS_ABOVE)
        lab_printf(stdout, "loss above %g", b->value);
    else
        lab_printf(stdout, "%s in what a step writes",
                   b->kind == LAB_BREAK_NAN ? "NaN" : "Inf");
    if (b->hits)
        lab_printf(stdout, "  (hit %lld time%s)", (long long)b->hits,
                   b->hits == 1 ? "" : "s");
    lab_printf(stdout, "\n");
}

static enum lab_status list_breaks(struct lab_plain *p)
{
    if (p->snap.n_breaks == 0)
        lab_printf(stdout, "no breakpoints and no watches\n");
    for (int i = 0; i < p->snap.n_breaks; i++)
        say_break(&p->snap.breaks[i]);
    return LAB_OK;
}

static enum lab_status list_tensors(struct lab_plain *p)
{
    static const char *const heads[] = {"tensor", "shape", "type", "role",
                                        NULL};
    static const char *const roles[] = {"data", "parameter", "state",
                                        "activation", "gradient"};
    static const char *const types[] = {"f32", "f64", "i32"};
    const struct lab_plan *plan = p->snap.plan;
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
    return put_table(&t);
}

/* What a node's first step in the schedule runs as; NULL: it has none. */
static const char *variant_of(const struct lab_plain *p, int node)
{
    const struct lab_schedule *s = p->snap.schedule;
    for (int i = 0; i < s->n_steps; i++) {
        if (s->steps[i].step->node == node)
            return s->steps[i].variant->name;
    }
    return NULL;
}

static enum lab_status list_variants(struct lab_plain *p)
{
    static const char *const heads[] = {"node", "op", "runs as", "can run as",
                                        NULL};
    const struct lab_plan *plan = p->snap.plan;
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < plan->n_nodes; i++) {
        const char *names[MOST_VARIANTS];
        struct lab_str all;
        int n = lab_session_variant_names(p->session, i, names, MOST_VARIANTS);
        if (n == 0 || !plan->nodes[i].op)
            continue;
        lab_str_init(&all);
        for (int k = 0; k < n && k < MOST_VARIANTS; k++)
            lab_str_addf(&all, "%s%s", k ? ", " : "", names[k]);
        const char *now = variant_of(p, i);
        lab_text_table_add(&t, plan->nodes[i].id);
        lab_text_table_add(&t, plan->nodes[i].op->name);
        lab_text_table_add(&t, now ? now : "(inside another)");
        lab_text_table_add(&t, lab_str_text(&all));
        lab_str_release(&all);
    }
    return put_table(&t);
}

static enum lab_status list_words(struct lab_plain *p)
{
    static const char *const heads[] = {">number", "word", ">times", NULL};
    const struct lab_vocabulary *words = p->snap.words;
    struct lab_text_table t;
    if (!words)
        return lab_fail(LAB_E_STATE, "this lesson's data has no words");
    lab_text_table_init(&t, heads);
    for (int64_t i = 0; i < words->n; i++) {
        lab_text_table_add_int(&t, i);
        lab_text_table_add(&t, words->word[i]);
        lab_text_table_add_int(&t, words->times[i]);
    }
    return put_table(&t);
}

static enum lab_status list_notes(struct lab_plain *p)
{
    if (!lab_plain_print_notes(p))
        lab_printf(stdout, "nothing was left out or withdrawn\n");
    return LAB_OK;
}

enum lab_status lab_plain_list(struct lab_plain *p, const char *what)
{
    static const struct {
        const char *word;
        enum lab_status (*list)(struct lab_plain *p);
    } lists[] = {{"steps", list_steps},     {"breaks", list_breaks},
                 {"tensors", list_tensors}, {"variants", list_variants},
                 {"words", list_words},     {"notes", list_notes}};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (strncmp(lists[i].word, what, strlen(what)) == 0)
            return lists[i].list(p); /* "" means steps */
    }
    return lab_fail(LAB_E_PARSE,
                    "list: no \"%s\": steps, breaks, tensors, variants, "
                    "words or notes",
                    what);
}

static void say_word(const struct lab_ui_command_word *w)
{
    lab_printf(stdout, "  %s\n      %s\n", w->usage, w->help);
}

enum lab_status lab_plain_help(const char *word)
{
    size_t n;
    const struct lab_ui_command_word *words = lab_ui_command_words(&n);
    struct lab_ui_command c;
    enum lab_ui_command_kind kind = LAB_COMMAND_NONE;
    if (word[0]) {
        for (size_t i = 0; i < n; i++) {
            if (strcmp(words[i].word, word) == 0)
                kind = words[i].kind;
        }
        /* A shortened word, where the parser can tell which. */
        if (!kind && lab_ui_command_parse(word, &c) == LAB_OK)
            kind = c.kind;
        if (!kind)
            return lab_fail(LAB_E_PARSE, "no command \"%s\"; `help` lists them",
                            word);
    }
    for (size_t i = 0; i < n; i++) {
        if (words[i].help && (!kind || words[i].kind == kind))
            say_word(&words[i]);
    }
    if (!kind)
        lab_printf(
            stdout,
            "\nA word may be shortened as far as it is clear; s, n, c, b, "
            "p and q are\nwhat they are in gdb. An empty line on a "
            "terminal repeats a move. A line that\nbegins with # is a "
            "comment. `check all` checks every parameter. Ctrl-C\nstops "
            "a training, not the program.\n");
    return LAB_OK;
}

enum lab_status lab_plain_print_checks(struct lab_plain *p)
{
    static const char *const heads[] = {
        "parameter", ">compared",  ">of",       ">max error", ">tolerance",
        "worst at",  ">numerical", ">gradient", "",           NULL};
    const struct lab_snapshot *s = &p->snap;
    struct lab_text_table t;
    bool walked = false;
    int64_t corners = 0;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < s->n_checks; i++) {
        const struct lab_check_result *c = &s->checks[i];
        int id = lab_plan_tensor(s->plan, c->parameter);
        char at[LAB_SHAPE_TEXT] = "";
        if (id >= 0)
            lab_explain_at(&s->plan->tensors[id].shape, c->worst, at);
        lab_text_table_add(&t, c->parameter);
        lab_text_table_add_int(&t, c->elements);
        lab_text_table_add_int(&t, c->of);
        lab_text_table_add_real(&t, c->max_error, 3);
        lab_text_table_add_real(&t, c->tolerance, 3);
        lab_text_table_addf(&t, "[%s]", at);
        lab_text_table_add_real(&t, c->numeric, 7);
        lab_text_table_add_real(&t, c->analytic, 7);
        lab_text_table_add(&t, c->passed ? "ok" : "WRONG");
        walked = walked || c->from_walk;
        corners += c->corners;
    }
    enum lab_status st = put_table(&t);
    if (!st)
        lab_printf(stdout,
                   "%s against central differences of the loss in double\n",
                   walked ? "the gradient of this iteration"
                          : "the backward pass in double");
    if (!st && corners > 0)
        lab_printf(
            stdout,
            "%lld elements stand at a corner of the loss (a relu at "
            "exactly 0, a tie), where any number between the two slopes is "
            "a gradient\n",
            (long long)corners);
    return st;
}
