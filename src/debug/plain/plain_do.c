/* The words of ui/command.h, made into the session's commands. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/exit.h"
#include "plain_priv.h"
#include "report/print.h"
#include "debug/seen.h"

static void complain(void)
{
    fflush(stdout); /* the error comes after what led to it */
    lab_warn("%s", lab_error());
}

/* ---- names ---- */

/* Index of a step by name: after the position when there is one. */
static enum lab_status find_step(struct lab_plain *p, const char *name,
                                 int phase, int *out)
{
    const struct lab_schedule *s = p->snap.schedule;
    const struct lab_plan *plan = p->snap.plan;
    int at = lab_schedule_find(s, plan, name, phase, p->snap.position);
    if (at < 0)
        at = lab_schedule_find(s, plan, name, phase, 0);
    if (at >= 0) {
        *out = at;
        return LAB_OK;
    }
    const char **names = lab_alloc_array((size_t)s->n_steps, sizeof(*names));
    for (int i = 0; names && i < s->n_steps; i++)
        names[i] = s->steps[i].step->name;
    const char *near =
        names ? lab_nearest(name, names, (size_t)s->n_steps) : NULL;
    lab_free(names);
    const char *where = phase >= 0 ? lab_phase_name((enum lab_phase)phase) : "";
    if (near)
        return lab_fail(LAB_E_NOTFOUND, "no step '%s'%s%s; did you mean %s?",
                        name, *where ? " in phase " : "", where, near);
    return lab_fail(LAB_E_NOTFOUND, "no step '%s'%s%s; `list steps` has them",
                    name, *where ? " in phase " : "", where);
}

static void put_text(char out[LAB_COMMAND_TEXT], const char *text)
{
    snprintf(out, LAB_COMMAND_TEXT, "%s", text);
}

/* ---- moving ---- */

static enum lab_status move(struct lab_plain *p, enum lab_command_kind kind,
                            int64_t n)
{
    struct lab_command c = {.kind = kind, .n = n, .phase = -1};
    int64_t iteration = p->snap.iteration;
    enum lab_status st = lab_plain_run(p, &c);
    if (st)
        complain(); /* what ran before it failed is still worth showing */
    int64_t walked = p->snap.iteration > iteration ? p->snap.schedule->n_steps
                                                   : p->snap.position;
    p->walked = walked > p->walked ? walked : p->walked;
    lab_plain_print_move(p);
    return LAB_OK;
}

static enum lab_status run_to(struct lab_plain *p,
                              const struct lab_ui_command *c)
{
    int at;
    enum lab_status st = find_step(p, c->arg, c->phase, &at);
    return st ? st : move(p, LAB_DO_RUN_TO, at);
}

static enum lab_status go_back(struct lab_plain *p, int64_t n)
{
    struct lab_command c = {.kind = LAB_DO_BACK, .n = n, .phase = -1};
    enum lab_status st = lab_plain_run(p, &c);
    lab_plain_forget_moves(p);
    if (!st)
        lab_plain_print_where(p);
    return st;
}

static enum lab_status restart(struct lab_plain *p,
                               const struct lab_ui_command *from)
{
    struct lab_command c = {.kind = LAB_DO_RESTART, .phase = -1};
    if (from->kind == LAB_COMMAND_SEED) {
        c.seed_given = true;
        c.seed = (uint64_t)from->n;
    }
    if (from->kind == LAB_COMMAND_LR &&
        (isnan(from->value) || isnan(p->snap.lr))) {
        char text[LAB_COMMAND_LR_TEXT];
        lab_printf(stdout, "%s\n", lab_ui_command_lr_text(p->snap.lr, text));
        return LAB_OK;
    }
    if (from->kind == LAB_COMMAND_LR)
        c.lr = from->value;
    enum lab_status st = lab_plain_run(p, &c);
    lab_plain_forget_moves(p);
    if (st)
        return st;
    if (from->kind == LAB_COMMAND_LR)
        lab_printf(stdout, "At the start again, learning rate %g.\n",
                   p->snap.lr);
    else
        lab_printf(stdout, "At the start again, seed %llu.\n",
                   (unsigned long long)p->snap.plan->seed);
    lab_plain_print_where(p);
    return LAB_OK;
}

static enum lab_status train(struct lab_plain *p, int64_t n)
{
    struct lab_data_facts facts = {.batches_per_epoch =
                                       p->snap.iterations_per_epoch};
    int64_t asked = n == LAB_COMMAND_ALL ? 0 : n;
    if (!asked) /* as the command line has it, else the lesson */
        asked = lab_train_iterations(&p->spec, &facts, p->options->epochs,
                                     p->options->iterations);
    struct lab_command c = {.kind = LAB_DO_TRAIN, .n = asked, .phase = -1};
    p->trained_to = p->snap.iteration - (p->snap.position == 0);
    p->progress_ns = 0;
    enum lab_status st = lab_plain_run(p, &c);
    lab_plain_forget_moves(p);
    p->trained = p->trained || lab_seen_trained(&p->spec, &p->snap);
    if (!st)
        lab_plain_print_trained(p);
    return st;
}

/* ---- stops ---- */

static enum lab_status add_break(struct lab_plain *p,
                                 const struct lab_ui_command *from)
{
    struct lab_command c = {.kind = LAB_DO_BREAK, .phase = from->phase};
    const struct lab_schedule *s = p->snap.schedule;
    int at = p->snap.position < s->n_steps ? p->snap.position : 0;
    enum lab_status st = LAB_OK;
    c.value = from->value;
    switch (from->when) {
    case LAB_WHEN_HERE:
        c.break_kind = LAB_BREAK_STEP;
        c.phase = (int)s->steps[at].step->phase;
        put_text(c.text, s->steps[at].step->name);
        break;
    case LAB_WHEN_STEP:
        c.break_kind = LAB_BREAK_STEP;
        put_text(c.text, from->arg);
        st = find_step(p, from->arg, from->phase, &at);
        break;
    case LAB_WHEN_PHASE:
        c.break_kind = LAB_BREAK_PHASE;
        break;
    case LAB_WHEN_NAN:
        c.break_kind = LAB_BREAK_NAN;
        break;
    case LAB_WHEN_INF:
        c.break_kind = LAB_BREAK_INF;
        break;
    case LAB_WHEN_LOSS:
        c.break_kind = LAB_BREAK_LOSS_ABOVE;
        break;
    }
    if (!st)
        st = lab_plain_run(p, &c);
    return st ? st : lab_plain_list(p, "breaks");
}

static enum lab_status watch(struct lab_plain *p, const char *tensor)
{
    struct lab_command c = {.kind = LAB_DO_WATCH, .phase = -1};
    int id;
    enum lab_status st = lab_plain_tensor(p, tensor, &id);
    put_text(c.text, tensor);
    if (!st)
        st = lab_plain_run(p, &c);
    return st ? st : lab_plain_list(p, "breaks");
}

static enum lab_status forget(struct lab_plain *p,
                              const struct lab_ui_command *from)
{
    bool watches = from->kind == LAB_COMMAND_UNWATCH;
    struct lab_command c = {.kind = watches ? LAB_DO_UNWATCH : LAB_DO_DELETE,
                            .phase = -1};
    c.n = from->n == LAB_COMMAND_ALL ? 0 : from->n;
    put_text(c.text, from->arg);
    enum lab_status st = lab_plain_run(p, &c);
    return st ? st : lab_plain_list(p, "breaks");
}

/* ---- the rest ---- */

static enum lab_status choose(struct lab_plain *p,
                              const struct lab_ui_command *from)
{
    struct lab_command c = {.kind = LAB_DO_VARIANT, .phase = -1};
    put_text(c.text, from->arg);
    put_text(c.text2, from->arg2);
    enum lab_status st = lab_plain_run(p, &c);
    if (st)
        return st;
    lab_printf(stdout, "%s runs as %s from now on.\n", from->arg, from->arg2);
    lab_plain_print_where(p);
    return LAB_OK;
}

static enum lab_status near(struct lab_plain *p, const char *question)
{
    struct lab_command c = {.kind = LAB_DO_NEAR, .phase = -1};
    put_text(c.text, question);
    enum lab_status st = lab_plain_run(p, &c);
    for (int i = 0; i < p->snap.near.n && !st; i++)
        lab_printf(stdout, "%8.4f  %s\n", p->snap.near.near[i].similarity,
                   lab_vocabulary_word(p->snap.words, p->snap.near.near[i].id));
    return st;
}

static enum lab_status check(struct lab_plain *p, const char *parameter)
{
    struct lab_command c = {.kind = LAB_DO_CHECK, .phase = -1};
    if (strcmp(parameter, "all") != 0)
        put_text(c.text, parameter);
    p->progress_ns = 0;
    enum lab_status st = lab_plain_run(p, &c);
    return st ? st : lab_plain_print_checks(p);
}

static enum lab_status sample(struct lab_plain *p,
                              const struct lab_ui_command *from)
{
    const struct lab_options *o = p->options;
    struct lab_command c = {
        .kind = LAB_DO_SAMPLE,
        .phase = -1,
        .n = from->n == LAB_COMMAND_ALL ? o->sample : from->n,
        .top_k = from->top_k ? from->top_k : o->top_k,
        .value = isnan(from->value) ? o->temperature : from->value};
    put_text(c.text, from->arg[0] ? from->arg : o->prompt);
    enum lab_status st = lab_plain_run(p, &c);
    if (!st && p->snap.sample)
        lab_printf(stdout, "%s\n", p->snap.sample);
    return st;
}

/* Counters of the step that ran last, its node, or all that has run. */
static enum lab_status count(struct lab_plain *p, const char *scope)
{
    struct lab_command c = {
        .kind = LAB_DO_COUNT, .n = p->snap.position - 1, .phase = -1};
    put_text(c.text, scope[0] ? scope : "step");
    enum lab_status st = lab_plain_run(p, &c);
    if (st)
        return st;
    lab_printf(stdout, "%s\n", p->snap.stop_reason);
    lab_plain_print_counters(p);
    return LAB_OK;
}

static enum lab_status trace(struct lab_plain *p, const char *what)
{
    struct lab_command c = {.kind = LAB_DO_TRACE, .phase = -1};
    put_text(c.text, what);
    enum lab_status st = lab_plain_run(p, &c);
    if (!st)
        lab_printf(stdout, "%s\n", p->snap.stop_reason);
    return st;
}

static enum lab_status do_moves(struct lab_plain *p,
                                const struct lab_ui_command *c)
{
    switch (c->kind) {
    case LAB_COMMAND_STEP:
        return move(p, LAB_DO_STEP, c->n);
    case LAB_COMMAND_NEXT:
        return move(p, LAB_DO_NEXT, c->n);
    case LAB_COMMAND_FINISH:
        return move(p, LAB_DO_FINISH, 1);
    case LAB_COMMAND_CONTINUE:
        return move(p, LAB_DO_CONTINUE, 1);
    case LAB_COMMAND_RUN:
        return run_to(p, c);
    case LAB_COMMAND_BACK:
        return go_back(p, c->n);
    case LAB_COMMAND_RESTART:
    case LAB_COMMAND_SEED:
    case LAB_COMMAND_LR:
        return restart(p, c);
    case LAB_COMMAND_TRAIN:
        return train(p, c->n);
    default:
        return LAB_OK;
    }
}

static enum lab_status do_command(struct lab_plain *p,
                                  const struct lab_ui_command *c)
{
    switch (c->kind) {
    case LAB_COMMAND_BREAK:
        return add_break(p, c);
    case LAB_COMMAND_DELETE:
    case LAB_COMMAND_UNWATCH:
        return forget(p, c);
    case LAB_COMMAND_WATCH:
        return watch(p, c->arg);
    case LAB_COMMAND_PRINT:
        return lab_plain_print_tensor(p, c);
    case LAB_COMMAND_EXPLAIN:
        return lab_plain_explain(p, c);
    case LAB_COMMAND_VARIANT:
        return choose(p, c);
    case LAB_COMMAND_COUNT:
        return count(p, c->arg);
    case LAB_COMMAND_TRACE:
        return trace(p, c->arg);
    case LAB_COMMAND_CHECK:
        return check(p, c->arg);
    case LAB_COMMAND_NEAR:
        return near(p, c->arg);
    case LAB_COMMAND_STOP:
        return lab_fail(LAB_E_STATE, "nothing runs; Ctrl-C stops a training");
    case LAB_COMMAND_SAMPLE:
        return sample(p, c);
    case LAB_COMMAND_LIST:
        return lab_plain_list(p, c->arg);
    case LAB_COMMAND_HELP:
        return lab_plain_help(c->arg);
    case LAB_COMMAND_QUIT:
        p->leaving = true;
        return LAB_OK;
    default:
        return do_moves(p, c);
    }
}

void lab_plain_do(struct lab_plain *p, const struct lab_ui_command *c)
{
    if (do_command(p, c))
        complain();
}

void lab_plain_line(struct lab_plain *p, const char *line)
{
    struct lab_ui_command c;
    if (line[strspn(line, " \t\r")] == '#')
        return; /* a script explains itself */
    if (lab_ui_command_parse(line, &c)) {
        complain();
        return;
    }
    bool again = c.kind == LAB_COMMAND_NONE && p->interactive;
    if (again)
        c = p->last;
    if (c.kind == LAB_COMMAND_NONE)
        return;
    p->last = lab_ui_command_repeats(c.kind) ? c : (struct lab_ui_command){0};
    lab_plain_do(p, &c);
}
