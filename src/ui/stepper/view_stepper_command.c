/* The `:` commands of the stepper, made into the session's. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "train_sample.h"
#include "view_stepper_axes.h"
#include "view_stepper_priv.h"

static int64_t count_of(const struct lab_ui_command *cmd, int64_t none)
{
    return cmd->n == LAB_COMMAND_ALL ? none : cmd->n;
}

static void fail(struct lab_stepper *v, const char *what, const char *name,
                 const char *near)
{
    lab_ui_message(v->ui, LAB_ROLE_BAD,
                   near ? "no %s \"%s\"; did you mean \"%s\"?" : "no %s \"%s\"",
                   what, name, near);
}

/* Index of a step by name, or -1 with a message that names the nearest. */
static int find_step(struct lab_stepper *v, const char *name, int phase)
{
    const struct lab_schedule *s = v->snap.schedule;
    int at = lab_schedule_find(s, v->snap.plan, name, phase, v->snap.position);
    if (at < 0)
        at = lab_schedule_find(s, v->snap.plan, name, phase, 0);
    if (at >= 0)
        return at;
    const char *near = NULL;
    for (int i = 0; i < s->n_steps && !near; i++)
        near =
            lab_nearest(name, (const char *const *)&s->steps[i].step->name, 1);
    fail(v, "step", name, near);
    return -1;
}

static int find_tensor(struct lab_stepper *v, const char *name)
{
    const struct lab_plan *p = v->snap.plan;
    const char *near = NULL;
    for (int i = 0; i < p->n_tensors; i++)
        if (strcmp(p->tensors[i].name, name) == 0)
            return i;
    for (int i = 0; i < p->n_tensors && !near; i++)
        near = lab_nearest(name, (const char *const *)&p->tensors[i].name, 1);
    fail(v, "tensor", name, near);
    return -1;
}

/* The element that an index names; axes it leaves out, or that it takes whole,
 * count from 0. */
static bool element_of(struct lab_stepper *v, const struct lab_ui_command *cmd,
                       struct lab_element *out)
{
    int64_t at[LAB_MAX_RANK] = {0};
    int tensor = find_tensor(v, cmd->arg);
    if (tensor < 0)
        return false;
    const struct lab_shape *shape = &v->snap.plan->tensors[tensor].shape;
    for (int i = 0; i < cmd->index_count && i < LAB_MAX_RANK; i++) {
        int64_t k = cmd->index[i] == LAB_INDEX_ALL ? 0 : cmd->index[i];
        at[i] = k < 0 && i < shape->rank ? k + shape->dim[i] : k;
    }
    int64_t flat = lab_shape_ravel(shape, at, shape->rank);
    if (flat < 0 || cmd->index_count > shape->rank) {
        char text[LAB_SHAPE_TEXT];
        lab_ui_message(v->ui, LAB_ROLE_BAD, "%s is %s: no such element",
                       cmd->arg, lab_shape_text(shape, text));
        return false;
    }
    *out = (struct lab_element){tensor, flat};
    return true;
}

/* The axes that an index takes whole run down and across. One alone runs
 * across and is shown by itself; of more than two the last two do, unless two
 * of them are. Without an index the tensor is seen as it was. */
static void show_whole(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    const struct lab_show *now = &lab_stepper_look(v)->show;
    int rank = v->snap.plan->tensors[v->tensor].shape.rank;
    int last[2] = {-1, -1};
    int whole = 0;
    int seen = 0;
    for (int i = 0; i < rank; i++) {
        if (i < cmd->index_count && cmd->index[i] != LAB_INDEX_ALL)
            continue;
        whole++;
        seen += lab_stepper_is_shown(now, i);
        last[0] = last[1];
        last[1] = i;
    }
    bool alone = now->row_axis < 0 && now->col_axis == last[1];
    if (cmd->index_count == 0 || whole == 0 || (whole == 1 && alone) ||
        (whole > 2 && seen == 2))
        return;
    lab_stepper_look_along(v, whole > 1 ? last[0] : -1, last[1]);
}

/* Which step computes a tensor that has no values yet. */
static void say_how_to_get(struct lab_stepper *v, int tensor)
{
    const struct lab_schedule *s = v->snap.schedule;
    enum lab_tensor_role role = v->snap.plan->tensors[tensor].role;
    if (role != LAB_TENSOR_ACTIVATION && role != LAB_TENSOR_GRADIENT)
        return;
    int found = -1;
    for (int i = 0; i < s->n_steps; i++) {
        const struct lab_step *step = s->steps[i].step;
        for (int k = 0; k < step->n_out; k++)
            if (step->out[k] == tensor && v->snap.steps[i].done)
                return;
            else if (step->out[k] == tensor && found < 0)
                found = i;
    }
    if (found >= 0)
        lab_ui_message(v->ui, LAB_ROLE_WARN,
                       "%s is not computed yet: `:run %s %s`, then s",
                       v->snap.plan->tensors[tensor].name,
                       s->steps[found].step->name,
                       lab_phase_name(s->steps[found].step->phase));
}

static void show(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_element e;
    if (!element_of(v, cmd, &e))
        return;
    lab_stepper_goto_element(v, e);
    say_how_to_get(v, e.tensor);
    show_whole(v, cmd);
    v->pinned = false;
    lab_stepper_explain_cursor(v);
    if (v->tab == LAB_PANE_TEXT)
        v->tab = LAB_PANE_EXPLAIN;
    lab_stepper_focus(v, cmd->kind == LAB_COMMAND_EXPLAIN ? LAB_PANE_EXPLAIN
                                                          : LAB_PANE_TENSOR);
}

static void add_break(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_command out = {.kind = LAB_DO_BREAK, .phase = cmd->phase};
    const struct lab_schedule_step *now = lab_stepper_now(v);
    switch (cmd->when) {
    case LAB_WHEN_HERE:
        out.break_kind = LAB_BREAK_STEP;
        out.phase = (int)now->step->phase;
        snprintf(out.text, sizeof(out.text), "%s", now->step->name);
        break;
    case LAB_WHEN_STEP:
        if (find_step(v, cmd->arg, cmd->phase) < 0)
            return;
        out.break_kind = LAB_BREAK_STEP;
        snprintf(out.text, sizeof(out.text), "%s", cmd->arg);
        break;
    case LAB_WHEN_PHASE:
        out.break_kind = LAB_BREAK_PHASE;
        break;
    case LAB_WHEN_NAN:
        out.break_kind = LAB_BREAK_NAN;
        break;
    case LAB_WHEN_INF:
        out.break_kind = LAB_BREAK_INF;
        break;
    case LAB_WHEN_LOSS:
        out.break_kind = LAB_BREAK_LOSS_ABOVE;
        out.value = cmd->value;
        break;
    }
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   "breakpoint set; list breaks shows all, delete removes one");
    lab_stepper_post(v, &out);
}

/* Kinds that only carry a count. */
static bool counted(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    static const struct {
        enum lab_ui_command_kind word;
        enum lab_command_kind act;
        int64_t none;
    } rows[] = {
        {LAB_COMMAND_STEP, LAB_DO_STEP, 1},
        {LAB_COMMAND_NEXT, LAB_DO_NEXT, 1},
        {LAB_COMMAND_FINISH, LAB_DO_FINISH, 0},
        {LAB_COMMAND_CONTINUE, LAB_DO_CONTINUE, 0},
        {LAB_COMMAND_BACK, LAB_DO_BACK, 1},
        {LAB_COMMAND_DELETE, LAB_DO_DELETE, 0},
        {LAB_COMMAND_STOP, LAB_DO_STOP, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].word != cmd->kind)
            continue;
        struct lab_command out = {
            .kind = rows[i].act, .n = count_of(cmd, rows[i].none), .phase = -1};
        v->walked = true;
        if (cmd->kind == LAB_COMMAND_DELETE && out.n > 0)
            lab_ui_message(v->ui, LAB_ROLE_NORMAL, "number %lld is removed",
                           (long long)out.n);
        else if (cmd->kind == LAB_COMMAND_DELETE)
            lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                           "all breakpoints and watches are removed");
        lab_stepper_post(v, &out);
        return true;
    }
    return false;
}

static void run_to(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    int at = find_step(v, cmd->arg, cmd->phase);
    struct lab_command out = {.kind = LAB_DO_RUN_TO, .n = at, .phase = -1};
    if (at < 0)
        return;
    v->stay = true;
    v->walked = true;
    lab_stepper_post(v, &out);
}

static void named(struct lab_stepper *v, enum lab_command_kind kind,
                  const struct lab_ui_command *cmd)
{
    struct lab_command out = {.kind = kind, .phase = -1};
    bool tensor =
        kind == LAB_DO_WATCH || kind == LAB_DO_UNWATCH || kind == LAB_DO_CHECK;
    if (tensor && cmd->arg[0] && find_tensor(v, cmd->arg) < 0)
        return;
    snprintf(out.text, sizeof(out.text), "%s", cmd->arg);
    snprintf(out.text2, sizeof(out.text2), "%s", cmd->arg2);
    if (kind == LAB_DO_WATCH)
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       "stops when %s has been written; unwatch %s removes it",
                       cmd->arg, cmd->arg);
    else if (kind == LAB_DO_UNWATCH)
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       cmd->arg[0] ? "%s is not watched any more"
                                   : "nothing is watched any more",
                       cmd->arg);
    else if (kind == LAB_DO_VARIANT)
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s runs as %s from now on",
                       cmd->arg, cmd->arg2);
    lab_stepper_post(v, &out);
}

/* No parameter's name, for the session, is every parameter. */
static void check(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_ui_command every = *cmd;
    every.arg[0] = '\0';
    named(v, LAB_DO_CHECK, strcmp(cmd->arg, "all") == 0 ? &every : cmd);
}

static void train(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_stepper_model model = v->model;
    model.train_iterations = count_of(cmd, v->model.train_iterations);
    if (lab_ui_push(v->ui, &lab_view_train, &model))
        lab_ui_error(v->ui);
}

/* On the training screen, where there is room for the text. */
static void sample(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_stepper_model model = v->model;
    if (!v->snap.text) {
        lab_ui_message(v->ui, LAB_ROLE_DIM, "%s", lab_train_sample_not_here);
        return;
    }
    model.train_waits = true;
    lab_train_sample_take(&model.sampling, cmd);
    struct lab_command out = lab_train_sample_command(&model.sampling);
    lab_stepper_post(v, &out);
    if (lab_ui_push(v->ui, &lab_view_train, &model))
        lab_ui_error(v->ui);
}

static enum lab_command_kind act_of(enum lab_ui_command_kind word)
{
    return word == LAB_COMMAND_VARIANT ? LAB_DO_VARIANT
           : word == LAB_COMMAND_NEAR  ? LAB_DO_NEAR
                                       : LAB_DO_TRACE;
}

void lab_stepper_restart_now(struct lab_stepper *v)
{
    const struct lab_command stop = {.kind = LAB_DO_STOP, .phase = -1};
    const struct lab_command *how = &v->again;
    v->ends_training = v->snap.state == LAB_SESSION_TRAINING;
    if (v->ends_training)
        lab_stepper_post(v, &stop);
    lab_stepper_post(v, how);
    v->walked = true;
    if (how->seed_given)
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       "iteration 0 again, from seed %llu",
                       (unsigned long long)how->seed);
    else if (how->lr > 0)
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       "iteration 0 again, with learning rate %g", how->lr);
    else
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "iteration 0 again");
}

void lab_stepper_restart(struct lab_stepper *v, const struct lab_command *how,
                         bool asks)
{
    v->again = *how;
    if (v->snap.state == LAB_SESSION_TRAINING)
        lab_ui_ask(v->ui, LAB_STEPPER_ASK_RESTART,
                   "The training goes on: stop it and start again?");
    else if (asks && v->snap.iteration > 0)
        lab_ui_ask(v->ui, LAB_STEPPER_ASK_RESTART,
                   "Start again from the seed? What was trained is lost.");
    else
        lab_stepper_restart_now(v);
}

static void change_lr(struct lab_stepper *v, double lr)
{
    char text[LAB_COMMAND_LR_TEXT];
    struct lab_command out = {.kind = LAB_DO_RESTART, .phase = -1, .lr = lr};
    if (isnan(lr) || isnan(v->snap.lr)) {
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s",
                       lab_ui_command_lr_text(v->snap.lr, text));
        return;
    }
    lab_stepper_restart(v, &out, false);
}

static bool run(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_command again = {.kind = LAB_DO_RESTART, .phase = -1};
    switch (cmd->kind) {
    case LAB_COMMAND_RUN:
        run_to(v, cmd);
        return true;
    case LAB_COMMAND_BREAK:
        add_break(v, cmd);
        return true;
    case LAB_COMMAND_WATCH:
        named(v, LAB_DO_WATCH, cmd);
        return true;
    case LAB_COMMAND_UNWATCH:
        named(v, LAB_DO_UNWATCH, cmd);
        return true;
    case LAB_COMMAND_CHECK:
        check(v, cmd);
        return true;
    case LAB_COMMAND_VARIANT:
    case LAB_COMMAND_NEAR:
    case LAB_COMMAND_TRACE:
        named(v, act_of(cmd->kind), cmd);
        return true;
    case LAB_COMMAND_COUNT:
        lab_stepper_count(v, cmd->arg[0] ? cmd->arg : "step");
        return true;
    case LAB_COMMAND_PRINT:
    case LAB_COMMAND_EXPLAIN:
        show(v, cmd);
        return true;
    case LAB_COMMAND_SEED:
        again.seed_given = true;
        again.seed = (uint64_t)cmd->n;
        lab_stepper_restart(v, &again, false);
        return true;
    case LAB_COMMAND_RESTART:
        lab_stepper_restart(v, &again, false);
        return true;
    case LAB_COMMAND_LR:
        change_lr(v, cmd->value);
        return true;
    case LAB_COMMAND_TRAIN:
        train(v, cmd);
        return true;
    case LAB_COMMAND_SAMPLE:
        sample(v, cmd);
        return true;
    case LAB_COMMAND_LIST:
        lab_stepper_list(v, cmd->arg);
        return true;
    default:
        return counted(v, cmd);
    }
}

bool lab_stepper_command(struct lab_screen *s, const struct lab_ui_command *cmd)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.plan || !v->snap.schedule || v->step < 0)
        return false;
    bool used = run(v, cmd);
    if (used)
        lab_stepper_refresh(v);
    return used;
}

const char *lab_stepper_complete(struct lab_screen *s,
                                 enum lab_ui_command_kind kind, int nth)
{
    const struct lab_stepper *v = s->state;
    if (!v->snap.plan || !v->snap.schedule)
        return NULL;
    switch (kind) {
    case LAB_COMMAND_RUN:
    case LAB_COMMAND_BREAK:
        return nth < v->snap.schedule->n_steps
                   ? v->snap.schedule->steps[nth].step->name
                   : NULL;
    case LAB_COMMAND_WATCH:
    case LAB_COMMAND_UNWATCH:
    case LAB_COMMAND_PRINT:
    case LAB_COMMAND_EXPLAIN:
        return nth < v->snap.plan->n_tensors ? v->snap.plan->tensors[nth].name
                                             : NULL;
    case LAB_COMMAND_CHECK:
        return nth == 0 ? "all"
               : nth <= v->snap.plan->n_tensors
                   ? v->snap.plan->tensors[nth - 1].name
                   : NULL;
    case LAB_COMMAND_NEAR:
        return v->snap.words && nth + 1 < v->snap.words->n
                   ? lab_vocabulary_word(v->snap.words, nth + 1)
                   : NULL;
    case LAB_COMMAND_VARIANT:
        return nth < v->snap.plan->n_nodes ? v->snap.plan->nodes[nth].id : NULL;
    default:
        return NULL;
    }
}
