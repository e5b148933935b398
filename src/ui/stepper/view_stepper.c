/* view_stepper.c -- the stepper screen: its keys, its commands, what is drawn
 * where. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stepper_priv.h"
#include "engine/setup.h"
#include "report/doc.h"
#include "base/format.h"
#include "ui/ui.h"
#include "ui/views.h"
#include "base/str.h"
#include "base/clock.h"
#include "base/mem.h"
#include "shell/neighbours_text.h"

static void stepper_count(struct lab_stepper *v, const char *what);

/* The stepper's keys: what gdb's users expect, and what moves the eye. */

const struct lab_binding lab_stepper_keys[] = {
    {{'s', LAB_KEY_F1 + 6}, LAB_STEPPER_ACT_STEP, "step", "run one step", true},
    {{'n', LAB_KEY_F1 + 7},
     LAB_STEPPER_ACT_NEXT,
     "next",
     "run the rest of this node (after a search: to the next match)",
     true},
    {{'c', LAB_KEY_F1 + 4},
     LAB_STEPPER_ACT_CONTINUE,
     "cont",
     "continue to a breakpoint, or to the end of the iteration",
     true},
    {{'r', LAB_KEY_BACKSPACE, 'B'},
     LAB_STEPPER_ACT_BACK,
     "back",
     "one step back, bit for bit",
     true},
    {{'v'},
     LAB_STEPPER_ACT_VARIANT,
     "variant",
     "choose how this node runs: naive, tiled, a library ...",
     true},
    {{'e'},
     LAB_STEPPER_ACT_EXPLAIN,
     "explain",
     "explain the number under the cursor, and go to its terms",
     true},
    {{'t'},
     LAB_STEPPER_ACT_TRAIN,
     "train",
     "train over many iterations, with curves",
     true},
    {{'d'},
     LAB_STEPPER_ACT_DIGITS,
     "digits",
     "the tensor as numbers, or as a heat map",
     true},
    {{'x'},
     LAB_STEPPER_ACT_TENSOR_NEXT,
     "tensor",
     "the next tensor of this step: inputs, then outputs",
     true},
    {{'b', LAB_KEY_F1 + 8},
     LAB_STEPPER_ACT_BREAK,
     "break",
     "set or remove a breakpoint at the step under the cursor",
     true},
    {{'f'},
     LAB_STEPPER_ACT_FINISH,
     "finish",
     "run to the end of this phase",
     true},
    {{'u'},
     LAB_STEPPER_ACT_UNTIL,
     "until",
     "run to the step under the cursor",
     true},
    {{'X'},
     LAB_STEPPER_ACT_TENSOR_PREV,
     "tensor back",
     "the tensor before",
     false},
    {{'o'},
     LAB_STEPPER_ACT_SOURCE,
     "source",
     "read the source of the step's kernel",
     true},
    {{'L'},
     LAB_STEPPER_ACT_LESSON,
     "lesson",
     "read the whole text of the lesson",
     true},
    {{'w'},
     LAB_STEPPER_ACT_WATCH,
     "watch",
     "stop when the tensor shown has been written, or no longer",
     false},
    {{'C'},
     LAB_STEPPER_ACT_CHECK,
     "check",
     "compare the gradient of the parameter shown with central differences",
     false},
    {{'m'},
     LAB_STEPPER_ACT_COUNT,
     "counters",
     "take the hardware counters of this step's kernels (a GPU's)",
     false},
    {{'M'},
     LAB_STEPPER_ACT_COUNT_ALL,
     "all counters",
     "take the counters of every step that has run in this iteration",
     false},
    {{'O'},
     LAB_STEPPER_ACT_OCCUPANCY,
     "occupancy",
     "what if the kernel's block, registers or shared memory were others",
     false},
    {{'R'},
     LAB_STEPPER_ACT_RESTART,
     "restart",
     "back to the first iteration, with the same seed",
     false},
    {{'y'},
     LAB_STEPPER_ACT_ORIGIN,
     "to explained",
     "from a source back to the number that is explained",
     false},
    {{'.'}, LAB_STEPPER_ACT_HERE, "here", "go to the current step", false},
    {{'['},
     LAB_STEPPER_ACT_SLICE_PREV,
     "slice back",
     "the slice before, of a tensor with more than two axes",
     false},
    {{']'}, LAB_STEPPER_ACT_SLICE_NEXT, "slice", "the next slice", false},
    {{'{'},
     LAB_STEPPER_ACT_HIDDEN_PREV,
     "axis back",
     "[ and ] move along the hidden axis before",
     false},
    {{'}'},
     LAB_STEPPER_ACT_HIDDEN_NEXT,
     "axis",
     "[ and ] move along the next hidden axis",
     false},
    {{'<'},
     LAB_STEPPER_ACT_ROW_AXIS,
     "axis down",
     "choose the row axis",
     false},
    {{'>'},
     LAB_STEPPER_ACT_COL_AXIS,
     "axis across",
     "choose the column axis",
     false},
    {{'i'},
     LAB_STEPPER_ACT_PICTURE,
     "picture",
     "one row as a square picture; of images, the image again",
     false},
    {{' '},
     LAB_STEPPER_ACT_FOLD,
     "fold",
     "fold or unfold this group of steps",
     false},
    {{'-'},
     LAB_STEPPER_ACT_FOLD_ALL,
     "fold all",
     "fold every node, or unfold them all",
     false},
    {{'z', LAB_KEY_F1 + 1},
     LAB_STEPPER_ACT_ZOOM,
     "zoom",
     "this pane alone on the screen, or all again",
     false},
    {{'1'}, LAB_STEPPER_ACT_PANE + 0, "steps", "to the list of steps", false},
    {{'2'}, LAB_STEPPER_ACT_PANE + 1, "tensor", "to the tensor", false},
    {{'3'}, LAB_STEPPER_ACT_PANE + 2, "explain", "to the explanation", false},
    {{'4'}, LAB_STEPPER_ACT_PANE + 3, "kernels", "to the kernels", false},
    {{'5'}, LAB_STEPPER_ACT_PANE + 4, "lesson", "to the lesson's text", false},
    {{LAB_KEY_ESC},
     LAB_STEPPER_ACT_STOP,
     "stop",
     "stop what runs; else close a list, a search, a zoom",
     false},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};

static const struct lab_binding variant_keys[] = {
    {{LAB_KEY_ENTER}, LAB_ACT_OPEN, "take", "run the node so", true},
    {{LAB_KEY_ESC, 'q', 'v'},
     LAB_ACT_CANCEL,
     "close",
     "leave it as it is",
     true},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};

/* A lesson that could not be started has its text, and nothing to walk. */
static const struct lab_binding failed_keys[] = {
    {{'L'},
     LAB_STEPPER_ACT_LESSON,
     "lesson",
     "read the whole text of the lesson",
     true},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};

/* While a training runs the bar has the keys that act, its own two first. */
static const struct lab_binding *training_keys(void)
{
    enum { KEYS = sizeof(lab_stepper_keys) / sizeof(lab_stepper_keys[0]) };
    static const int bar[] = {LAB_STEPPER_ACT_STOP,   LAB_STEPPER_ACT_TRAIN,
                              LAB_STEPPER_ACT_DIGITS, LAB_STEPPER_ACT_BREAK,
                              LAB_STEPPER_ACT_SOURCE, LAB_STEPPER_ACT_LESSON};
    enum { BAR = sizeof(bar) / sizeof(bar[0]) };
    static struct lab_binding list[KEYS];
    int n = BAR;
    for (int i = 0; i < KEYS; i++) {
        int at = 0;
        while (at < BAR && bar[at] != lab_stepper_keys[i].action)
            at++;
        struct lab_binding *b = &list[at < BAR ? at : n++];
        *b = lab_stepper_keys[i];
        b->bar = at < BAR;
    }
    return list;
}

static const struct lab_binding *stepper_bindings(const struct lab_screen *s)
{
    const struct lab_stepper *v = s->state;
    if (v->snap.state == LAB_SESSION_FAILED && !v->snap.schedule)
        return failed_keys;
    return v->variants.open                        ? variant_keys
           : v->snap.state == LAB_SESSION_TRAINING ? training_keys()
                                                   : lab_stepper_keys;
}

/* ---- `list`: what there is, as a text that scrolls ---- */

static enum lab_status write_list(void *user, struct lab_doc *d)
{
    const struct lab_stepper *v = user;
    bool notes = v->list[0] == 'n'; /* sentences, which wrap */
    const char *title;
    struct lab_str text;
    lab_str_init(&text);
    enum lab_status st =
        lab_debugger_list(&v->snap, v->list, v->model.variant_names,
                          v->model.user, &title, &text);
    const char *line = lab_str_text(&text);
    while (!st && line[0]) {
        int n = (int)strcspn(line, "\n");
        lab_doc_para(d, 0, 0, notes);
        lab_doc_addf(d, LAB_ROLE_NORMAL, "%.*s", n, line);
        line += line[n] ? n + 1 : n;
    }
    lab_str_release(&text);
    return st;
}

static void stepper_list(struct lab_stepper *v, const char *what)
{
    struct lab_text_args args = {.user = v, .write = write_list};
    struct lab_str text;
    lab_str_init(&text);
    snprintf(v->list, sizeof(v->list), "%s", what);
    enum lab_status st =
        lab_debugger_list(&v->snap, v->list, v->model.variant_names,
                          v->model.user, &args.title, &text);
    lab_str_release(&text);
    if (st || lab_ui_push(v->ui, &lab_view_text, &args))
        lab_ui_error(v->ui);
}

/* ---- typed commands ---- */

/* The axes that an index takes whole run down and across. One alone runs
 * across and is shown by itself; of more than two the last two do, unless two
 * of them are. */
static void show_whole(struct lab_stepper *v,
                       const struct lab_tensor_part *part)
{
    const struct lab_show *now = &lab_stepper_look(v)->show;
    int n = part->n_whole;
    int seen = 0;
    if (n == 0)
        return;
    for (int i = 0; i < n; i++)
        seen += lab_stepper_is_shown(now, part->whole[i]);
    int last = part->whole[n - 1];
    bool alone = now->row_axis < 0 && now->col_axis == last;
    if ((n == 1 && alone) || (n > 2 && seen == 2))
        return;
    lab_stepper_look_along(v, n > 1 ? part->whole[n - 2] : -1, last);
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
    struct lab_tensor_part part;
    if (lab_debugger_part(&v->snap, cmd, &part)) {
        lab_ui_error(v->ui);
        return;
    }
    int64_t flat = lab_shape_ravel(&part.shape, part.at, part.shape.rank);
    lab_stepper_goto_element(v, (struct lab_element){part.tensor, flat});
    say_how_to_get(v, part.tensor);
    if (cmd->index_count > 0)
        show_whole(v, &part);
    v->pinned = false;
    lab_stepper_explain_cursor(v);
    if (v->tab == LAB_PANE_TEXT)
        v->tab = LAB_PANE_EXPLAIN;
    lab_stepper_focus(v, cmd->kind == LAB_COMMAND_EXPLAIN ? LAB_PANE_EXPLAIN
                                                          : LAB_PANE_TENSOR);
}

/* What a command has done, where the screen does not show it by itself. */
static void confirm(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    switch (cmd->kind) {
    case LAB_COMMAND_BREAK:
        lab_ui_message(
            v->ui, LAB_ROLE_NORMAL,
            "breakpoint set; list breaks shows all, delete removes one");
        break;
    case LAB_COMMAND_DELETE:
        if (cmd->n > 0)
            lab_ui_message(v->ui, LAB_ROLE_NORMAL, "number %lld is removed",
                           (long long)cmd->n);
        else
            lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                           "all breakpoints and watches are removed");
        break;
    case LAB_COMMAND_WATCH:
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       "stops when %s has been written; unwatch %s removes it",
                       cmd->arg, cmd->arg);
        break;
    case LAB_COMMAND_UNWATCH:
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       cmd->arg[0] ? "%s is not watched any more"
                                   : "nothing is watched any more",
                       cmd->arg);
        break;
    case LAB_COMMAND_VARIANT:
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s runs as %s from now on",
                       cmd->arg, cmd->arg2);
        break;
    default:
        break;
    }
}

static void train(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_stepper_model model = v->model;
    if (cmd->n != LAB_COMMAND_ALL)
        model.train_iterations = cmd->n;
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
    lab_sample_request_take(&model.sampling, cmd);
    struct lab_command out = lab_sample_request_command(&model.sampling);
    lab_stepper_post(v, &out);
    if (lab_ui_push(v->ui, &lab_view_train, &model))
        lab_ui_error(v->ui);
}

static void stepper_restart_now(struct lab_stepper *v)
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

static void stepper_restart(struct lab_stepper *v,
                            const struct lab_command *how, bool asks)
{
    v->again = *how;
    if (v->snap.state == LAB_SESSION_TRAINING)
        lab_ui_ask(v->ui, LAB_STEPPER_ASK_RESTART,
                   "The training goes on: stop it and start again?");
    else if (asks && v->snap.iteration > 0)
        lab_ui_ask(v->ui, LAB_STEPPER_ASK_RESTART,
                   "Start again from the seed? What was trained is lost.");
    else
        stepper_restart_now(v);
}

/* What the session does. */
static void run(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_command out;
    if (lab_debugger_command(&v->snap, cmd, v->step, &out)) {
        lab_ui_error(v->ui);
        return;
    }
    if (out.kind == LAB_DO_RESTART) {
        stepper_restart(v, &out, false);
        return;
    }
    v->stay = v->stay || out.kind == LAB_DO_RUN_TO;
    v->walked = v->walked || out.kind <= LAB_DO_BACK;
    confirm(v, cmd);
    lab_stepper_post(v, &out);
}

static void show_lr(struct lab_stepper *v)
{
    char text[LAB_COMMAND_LR_TEXT];
    lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s",
                   lab_ui_command_lr_text(v->snap.lr, text));
}

static bool do_command(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    switch (cmd->kind) {
    case LAB_COMMAND_NONE:
    case LAB_COMMAND_HELP:
    case LAB_COMMAND_QUIT:
        return false;
    case LAB_COMMAND_COUNT:
        stepper_count(v, cmd->arg[0] ? cmd->arg : "step");
        return true;
    case LAB_COMMAND_PRINT:
    case LAB_COMMAND_EXPLAIN:
        show(v, cmd);
        return true;
    case LAB_COMMAND_LR:
        if (isnan(cmd->value) || isnan(v->snap.lr))
            show_lr(v);
        else
            run(v, cmd);
        return true;
    case LAB_COMMAND_TRAIN:
        train(v, cmd);
        return true;
    case LAB_COMMAND_SAMPLE:
        sample(v, cmd);
        return true;
    case LAB_COMMAND_LIST:
        stepper_list(v, cmd->arg);
        return true;
    default:
        run(v, cmd);
        return true;
    }
}

static bool stepper_command(struct lab_screen *s,
                            const struct lab_ui_command *cmd)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.plan || !v->snap.schedule || v->step < 0)
        return false;
    bool used = do_command(v, cmd);
    if (used)
        lab_stepper_refresh(v);
    return used;
}

static const char *stepper_complete(struct lab_screen *s,
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

/* The stepper's frame: the two lines that say where the walk stands, the titles
 * of the panes, and lines of text that scroll. */

static const char *const pane_names[LAB_PANE_COUNT] = {
    "1 steps", "2 tensor", "3 explain", "4 kernels", "5 lesson, L: all"};

/* As much of a pane's name as fits whole: "5 lesson" without what L does. */
static int name_bytes(const struct lab_canvas *c, int pane, int room)
{
    const char *name = pane_names[pane];
    return (int)(lab_canvas_columns(c, name) <= room ? strlen(name)
                                                     : strcspn(name, ","));
}

static void rule(struct lab_canvas *c, struct lab_rect row, bool focused)
{
    lab_canvas_fill(c, row, focused ? "═" : "─",
                    focused ? LAB_ROLE_HEADING : LAB_ROLE_BORDER);
}

/* Draws the title line of a pane and returns what is left below. */
static struct lab_rect pane_title(struct lab_canvas *c, struct lab_rect r,
                                  const char *title, bool focused)
{
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    rule(c, row, focused);
    if (row.w > 4) {
        int x = row.x + 1;
        lab_canvas_text(c, row.y, x, 1, LAB_ROLE_BORDER, " ");
        x += 1 + lab_canvas_text(c, row.y, x + 1, row.w - 4,
                                 focused ? LAB_ROLE_TITLE : LAB_ROLE_HEADING,
                                 title);
        lab_canvas_text(c, row.y, x, 1, LAB_ROLE_BORDER, " ");
    }
    return r;
}

/* The title line of the shared place: its three tabs, the open one in
 * brackets. */
static struct lab_rect tab_title(struct lab_stepper *v, struct lab_canvas *c,
                                 struct lab_rect r)
{
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    int x = row.x + 1;
    rule(c, row, v->focus == v->tab);
    for (int i = LAB_PANE_EXPLAIN; i < LAB_PANE_COUNT; i++) {
        bool open = (int)v->tab == i;
        int room = row.x + row.w - x - 1;
        if (room < 6)
            break;
        int w = lab_canvas_textf(c, row.y, x, room,
                                 open ? LAB_ROLE_TITLE : LAB_ROLE_HEADING,
                                 open ? "[%.*s]" : " %.*s ",
                                 name_bytes(c, i, room - 2), pane_names[i]);
        v->tabs[i] = (struct lab_rect){row.y, x, 1, w};
        x += w;
    }
    return r;
}

static void draw_pane(struct lab_stepper *v, struct lab_canvas *c, int pane,
                      struct lab_rect r, bool tabs)
{
    static void (*const draw[LAB_PANE_COUNT])(
        struct lab_stepper *, struct lab_canvas *,
        struct lab_rect) = {lab_stepper_draw_steps, lab_stepper_draw_tensor,
                            lab_stepper_draw_explain, lab_stepper_draw_kernels,
                            lab_stepper_draw_text};
    if (tabs && pane >= LAB_PANE_EXPLAIN)
        r = tab_title(v, c, r);
    else
        r = pane_title(c, r, pane_names[pane], (int)v->focus == pane);
    v->view_h[pane] = r.h;
    if (lab_rect_empty(r))
        return;
    struct lab_rect old = lab_canvas_clip(c, r);
    draw[pane](v, c, r);
    lab_canvas_unclip(c, old);
}

/* The lines between columns of panes. */
static void draw_gaps(struct lab_canvas *c, const struct lab_stepper_layout *l)
{
    for (int i = LAB_PANE_STEPS; i <= LAB_PANE_TENSOR; i++) {
        struct lab_rect p = l->pane[i];
        int x = p.x + p.w;
        int h = i == LAB_PANE_STEPS
                    ? p.h
                    : l->pane[LAB_PANE_TEXT].h + l->pane[LAB_PANE_KERNELS].h;
        if (lab_rect_empty(p) || (i == LAB_PANE_TENSOR && l->tabs) || x >= c->w)
            continue;
        lab_canvas_fill(c, (struct lab_rect){p.y, x, h, 1}, "│",
                        LAB_ROLE_BORDER);
    }
}

static void step_line(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    const struct lab_schedule_step *s = lab_stepper_now(v);
    char time[LAB_FORMAT_BYTES];
    char right[128];
    if (!s || lab_rect_empty(r))
        return;
    const struct lab_step_status *status = &v->snap.steps[v->step];
    int x = r.x;
    x += lab_canvas_text(c, r.y, x, r.w, LAB_ROLE_TITLE, s->step->name) + 2;
    x += lab_canvas_text(c, r.y, x, -1, LAB_ROLE_HEADING,
                         lab_phase_name(s->step->phase)) +
         2;
    lab_format_ns(status->exec > 0 ? (double)status->time_ns : NAN, time,
                  sizeof(time));
    const char *now = s->variant ? s->variant->name : "?";
    const char *ran = status->exec > 0 && status->ran ? status->ran : now;
    bool other = strcmp(ran, now) != 0; /* the time is not the choice's */
    snprintf(right, sizeof(right), "  %s, %s%s%s", ran,
             status->exec > 0 ? time : lab_stepper_untimed(status),
             other ? ", next " : "", other ? now : "");
    int w = lab_canvas_columns(c, right);
    int formula = lab_canvas_columns(c, s->step->formula);
    if (x + formula + w <= r.x + r.w) /* the formula comes first */
        lab_canvas_text(c, r.y, r.x + r.w - w, w, LAB_ROLE_DIM, right);
    lab_canvas_text(c, r.y, x, -1, LAB_ROLE_FORMULA, s->step->formula);
}

static void draw_waiting(const struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect body)
{
    const struct lab_snapshot *snap = &v->snap;
    int y = body.y + body.h / 3;
    if (snap->state == LAB_SESSION_FAILED) {
        lab_canvas_text(c, y, body.x + 2, body.w - 4, LAB_ROLE_BAD,
                        "This lesson could not be started:");
        struct lab_stepper_text t;
        struct lab_rect r = {y + 2, body.x + 2, body.h, body.w - 4};
        int64_t top = 0;
        lab_stepper_text_init(&t, c->ascii);
        lab_stepper_text_wrap(&t, LAB_ROLE_NORMAL, snap->error, r.w, 0);
        lab_stepper_draw_lines(c, r, &t, &top, -1, false);
        lab_stepper_text_release(&t);
        return;
    }
    lab_canvas_text(c, y, body.x + 2, body.w - 4, LAB_ROLE_NORMAL,
                    "Reading the data and building the network ...");
}

static void stepper_draw(struct lab_screen *s, struct lab_canvas *c,
                         struct lab_rect body)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.plan || !v->snap.schedule) {
        draw_waiting(v, c, body);
        return;
    }
    struct lab_stepper_layout l =
        lab_stepper_layout(body, v->focus, v->tab, v->zoom);
    v->layout = l;
    memset(v->tabs, 0, sizeof(v->tabs));
    memset(v->chips, 0, sizeof(v->chips));
    memset(&v->cells, 0, sizeof(v->cells));
    lab_stepper_state_line(v, c, l.state);
    step_line(v, c, l.step);
    draw_gaps(c, &l);
    for (int i = 0; i < LAB_PANE_COUNT; i++)
        if (!lab_rect_empty(l.pane[i]))
            draw_pane(v, c, i, l.pane[i], l.tabs);
    if (v->variants.open)
        lab_stepper_draw_variants(v, c, body);
}

/* ---- lines of text ---- */

/* What the stepper's keys do. */

/* ---- commands to the session ---- */

static void post_n(struct lab_stepper *v, enum lab_command_kind kind, int64_t n)
{
    struct lab_command cmd = {.kind = kind, .n = n, .phase = -1};
    v->walked = true;
    v->searching = false;
    /* Walking is for reading on; the kernels stay for who looks at them. */
    if (v->focus == LAB_PANE_STEPS && v->tab == LAB_PANE_EXPLAIN)
        v->tab = LAB_PANE_TEXT;
    lab_stepper_post(v, &cmd);
}

static void toggle_break(struct lab_stepper *v)
{
    const struct lab_schedule_step *s = lab_stepper_now(v);
    struct lab_command cmd = {.kind = LAB_DO_BREAK,
                              .break_kind = LAB_BREAK_STEP};
    if (!s)
        return;
    cmd.phase = (int)s->step->phase;
    snprintf(cmd.text, sizeof(cmd.text), "%s", s->step->name);
    for (int i = 0; i < v->snap.n_breaks; i++) {
        const struct lab_break_info *b = &v->snap.breaks[i];
        if (b->watch || b->kind != LAB_BREAK_STEP ||
            strcmp(b->step, s->step->name) != 0 ||
            (b->phase >= 0 && b->phase != (int)s->step->phase))
            continue;
        cmd.kind = LAB_DO_DELETE;
        cmd.n = b->number;
    }
    lab_stepper_post(v, &cmd);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   cmd.kind == LAB_DO_DELETE ? "no breakpoint at %s any more"
                                             : "breakpoint at %s",
                   s->step->name);
}

static void toggle_watch(struct lab_stepper *v)
{
    struct lab_command cmd = {.kind = LAB_DO_WATCH, .phase = -1};
    if (v->tensor < 0)
        return;
    const char *name = v->snap.plan->tensors[v->tensor].name;
    snprintf(cmd.text, sizeof(cmd.text), "%s", name);
    for (int i = 0; i < v->snap.n_breaks; i++)
        if (v->snap.breaks[i].watch &&
            strcmp(v->snap.breaks[i].step, name) == 0)
            cmd.kind = LAB_DO_UNWATCH;
    lab_stepper_post(v, &cmd);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   cmd.kind == LAB_DO_WATCH ? "stops when %s has been written"
                                            : "%s is no longer watched",
                   name);
}

/* The parameter shown, or the one whose gradient is shown. */
static void check_gradient(struct lab_stepper *v)
{
    const struct lab_plan *plan = v->snap.plan;
    struct lab_command cmd = {.kind = LAB_DO_CHECK, .phase = -1};
    int t = v->tensor;
    if (t >= 0 && plan->tensors[t].gradient_of >= 0)
        t = plan->tensors[t].gradient_of;
    if (t < 0 || plan->tensors[t].role != LAB_TENSOR_PARAM) {
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "show a parameter or its gradient first (x), or :check");
        return;
    }
    snprintf(cmd.text, sizeof(cmd.text), "%s", plan->tensors[t].name);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   "comparing the gradient of %s with central differences",
                   cmd.text);
    lab_stepper_post(v, &cmd);
}

/* Hardware counters of "step" (the one under the cursor), "node" or
 * "iteration". */
static void stepper_count(struct lab_stepper *v, const char *what)
{
    struct lab_command cmd = {.kind = LAB_DO_COUNT, .n = v->step, .phase = -1};
    if (strcmp(v->snap.backend, "cuda") != 0) {
        lab_ui_message(
            v->ui, LAB_ROLE_DIM,
            "hardware counters need a GPU: this walk runs on the CPU");
        return;
    }
    snprintf(cmd.text, sizeof(cmd.text), "%s", what);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   "counting: the steps run again, and nothing changes");
    lab_stepper_post(v, &cmd);
}

static void open_occupancy(struct lab_stepper *v)
{
    if (!v->model.open_occupancy)
        lab_ui_message(v->ui, LAB_ROLE_DIM, "there is no GPU to ask about");
    else if (v->model.open_occupancy(v->model.user, v->ui, &v->snap, v->step))
        lab_ui_error(v->ui);
}

static void restart(struct lab_stepper *v)
{
    const struct lab_command again = {.kind = LAB_DO_RESTART, .phase = -1};
    stepper_restart(v, &again, true);
}

static void keys_train(struct lab_stepper *v)
{
    if (lab_ui_push(v->ui, &lab_view_train, &v->model))
        lab_ui_error(v->ui);
}

/* ---- search ---- */

static bool step_matches(const struct lab_stepper *v, int i, int *tensor)
{
    const struct lab_step *step = v->snap.schedule->steps[i].step;
    const struct lab_plan *plan = v->snap.plan;
    *tensor = -1;
    if (strcasestr(step->name, v->search))
        return true;
    for (int k = 0; k < step->n_out + step->n_in; k++) {
        int t = k < step->n_out ? step->out[k] : step->in[k - step->n_out];
        if (t >= 0 && strcasestr(plan->tensors[t].name, v->search)) {
            *tensor = t;
            return true;
        }
    }
    return false;
}

/* The next step whose name, or the name of one of its tensors, contains the
 * text, around the end. dir 0: from the cursor's own step on. */
static void stepper_search(struct lab_stepper *v, int dir)
{
    int n = v->snap.schedule ? v->snap.schedule->n_steps : 0;
    int tensor;
    if (!v->search[0] || n == 0)
        return;
    int turn = dir < 0 ? -1 : 1;
    for (int i = 0; i < n; i++) {
        int at = v->step + dir + turn * i;
        at = ((at % n) + n) % n;
        if (!step_matches(v, at, &tensor))
            continue;
        lab_stepper_choose(v, at);
        lab_step_tree_reveal(&v->tree, v->item);
        if (tensor >= 0) {
            lab_stepper_look_at(v, tensor);
            lab_stepper_explain_cursor(v);
        }
        v->searching = true;
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "/%s   n next, N before, Esc ends the search",
                       v->search);
        return;
    }
    lab_ui_message(v->ui, LAB_ROLE_WARN, "no step or tensor has \"%s\"",
                   v->search);
}

/* ---- actions ---- */

static void stop_or_close(struct lab_stepper *v)
{
    if (lab_stepper_busy(v)) {
        post_n(v, LAB_DO_STOP, 0);
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "stopping");
    } else if (v->searching) {
        v->searching = false;
    } else if (v->zoom) {
        v->zoom = false;
    } else if (v->pinned) {
        lab_stepper_goto_element(v, v->explained);
        v->pinned = false;
    }
}

static bool walk(struct lab_stepper *v, int action)
{
    switch (action) {
    case LAB_STEPPER_ACT_STEP:
        post_n(v, LAB_DO_STEP, 1);
        return true;
    case LAB_STEPPER_ACT_NEXT:
        if (v->searching)
            stepper_search(v, 1);
        else
            post_n(v, LAB_DO_NEXT, 1);
        return true;
    case LAB_STEPPER_ACT_FINISH:
        post_n(v, LAB_DO_FINISH, 0);
        return true;
    case LAB_STEPPER_ACT_CONTINUE:
        post_n(v, LAB_DO_CONTINUE, 0);
        return true;
    case LAB_STEPPER_ACT_BACK:
        post_n(v, LAB_DO_BACK, 1);
        return true;
    case LAB_STEPPER_ACT_UNTIL:
        v->stay = true;
        post_n(v, LAB_DO_RUN_TO, v->step);
        return true;
    case LAB_STEPPER_ACT_RESTART:
        restart(v);
        return true;
    case LAB_STEPPER_ACT_BREAK:
        toggle_break(v);
        return true;
    case LAB_STEPPER_ACT_WATCH:
        toggle_watch(v);
        return true;
    case LAB_STEPPER_ACT_CHECK:
        check_gradient(v);
        return true;
    case LAB_STEPPER_ACT_OCCUPANCY:
        open_occupancy(v);
        return true;
    case LAB_STEPPER_ACT_COUNT:
        stepper_count(v, "step");
        return true;
    case LAB_STEPPER_ACT_COUNT_ALL:
        stepper_count(v, "iteration");
        return true;
    default:
        return false;
    }
}

static void fold_all(struct lab_stepper *v)
{
    bool any = false;
    for (int i = 0; i < v->tree.count; i++)
        any = any || v->tree.items[i].folded;
    lab_step_tree_fold_all(&v->tree, !any);
    int row = lab_step_tree_row(&v->tree, v->item);
    if (row >= 0)
        v->item = v->tree.rows[row];
}

static void fold_here(struct lab_stepper *v)
{
    const struct lab_tree_item *item = &v->tree.items[v->item];
    int header = item->step < 0 ? v->item : item->parent;
    lab_step_tree_fold(&v->tree, header, !v->tree.items[header].folded);
    v->item = header;
}

static void open_lesson(struct lab_stepper *v)
{
    struct lab_stepper_topic at = lab_stepper_topic(v);
    if (!v->model.open_lesson)
        lab_ui_message(v->ui, LAB_ROLE_DIM, "the lesson has no text");
    else if (v->model.open_lesson(v->model.user, v->ui, at.step, at.node,
                                  at.phase))
        lab_ui_error(v->ui);
}

static bool look_around(struct lab_stepper *v, int action)
{
    switch (action) {
    case LAB_STEPPER_ACT_VARIANT:
        lab_stepper_open_variants(v);
        return true;
    case LAB_STEPPER_ACT_EXPLAIN:
        v->pinned = false;
        lab_stepper_explain_cursor(v);
        lab_stepper_focus(v, LAB_PANE_EXPLAIN);
        return true;
    case LAB_STEPPER_ACT_ORIGIN:
        lab_stepper_goto_element(v, v->explained);
        v->pinned = false;
        lab_stepper_mark_sources(v);
        return true;
    case LAB_STEPPER_ACT_TRAIN:
        keys_train(v);
        return true;
    case LAB_STEPPER_ACT_SOURCE:
        lab_stepper_open_source(v);
        return true;
    case LAB_STEPPER_ACT_LESSON:
        open_lesson(v);
        return true;
    case LAB_STEPPER_ACT_HERE:
        lab_stepper_choose(v, v->snap.position < v->snap.schedule->n_steps
                                  ? v->snap.position
                                  : v->snap.position - 1);
        lab_step_tree_reveal(&v->tree, v->item);
        return true;
    case LAB_STEPPER_ACT_FOLD:
        fold_here(v);
        return true;
    case LAB_STEPPER_ACT_FOLD_ALL:
        fold_all(v);
        return true;
    case LAB_STEPPER_ACT_ZOOM:
        v->zoom = !v->zoom;
        return true;
    case LAB_STEPPER_ACT_STOP:
        stop_or_close(v);
        return true;
    default:
        return false;
    }
}

static bool scroll(struct lab_stepper *v, int action)
{
    int64_t *top = &v->top[v->focus];
    int64_t page = v->view_h[v->focus] > 1 ? v->view_h[v->focus] - 1 : 1;
    int64_t by = action == LAB_ACT_UP          ? -1
                 : action == LAB_ACT_DOWN      ? 1
                 : action == LAB_ACT_PAGE_UP   ? -page
                 : action == LAB_ACT_PAGE_DOWN ? page
                 : action == LAB_ACT_FIRST     ? -*top
                 : action == LAB_ACT_LAST      ? INT32_MAX
                                               : 0;
    *top += by; /* drawing keeps it in range */
    if (*top < 0)
        *top = 0;
    return by != 0 || action == LAB_ACT_FIRST || action == LAB_ACT_LEFT ||
           action == LAB_ACT_RIGHT;
}

static bool in_pane(struct lab_stepper *v, int action)
{
    if (action == LAB_ACT_OPEN && v->focus == LAB_PANE_TENSOR) {
        v->pinned = false;
        lab_stepper_explain_cursor(v);
        lab_stepper_focus(v, LAB_PANE_EXPLAIN);
        return true;
    }
    if (v->focus == LAB_PANE_STEPS && lab_stepper_steps_action(v, action))
        return true;
    if (v->focus == LAB_PANE_EXPLAIN && lab_stepper_explain_action(v, action))
        return true;
    if (lab_stepper_tensor_action(v, action))
        return true;
    return v->focus >= LAB_PANE_EXPLAIN && scroll(v, action);
}

static bool act(struct lab_stepper *v, int action)
{
    if (v->variants.open)
        return lab_stepper_variants_action(v, action);
    if (action >= LAB_STEPPER_ACT_PANE &&
        action < LAB_STEPPER_ACT_PANE + LAB_PANE_COUNT) {
        lab_stepper_focus(v, action - LAB_STEPPER_ACT_PANE);
        return true;
    }
    if (action == LAB_ACT_NEXT_PANE || action == LAB_ACT_PREV_PANE) {
        int dir = action == LAB_ACT_NEXT_PANE ? 1 : LAB_PANE_COUNT - 1;
        lab_stepper_focus(v, ((int)v->focus + dir) % LAB_PANE_COUNT);
        return true;
    }
    if (action == LAB_ACT_SEARCH_NEXT || action == LAB_ACT_SEARCH_PREV) {
        stepper_search(v, action == LAB_ACT_SEARCH_NEXT ? 1 : -1);
        return true;
    }
    return walk(v, action) || look_around(v, action) || in_pane(v, action);
}

static bool stepper_action(struct lab_screen *s, int action)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.plan || !v->snap.schedule || v->item < 0) {
        if (action == LAB_STEPPER_ACT_LESSON) {
            open_lesson(v);
            return true;
        }
        bool waits = action == LAB_STEPPER_ACT_STOP;
        if (action >= LAB_ACT_OWN && !waits)
            lab_ui_message(v->ui, LAB_ROLE_DIM, "there is nothing to walk yet");
        return action >= LAB_ACT_OWN;
    }
    bool used = act(v, action);
    if (used)
        lab_stepper_refresh(v);
    return used;
}

/* A click goes to a pane or its tab, in the list to a step, in the tensor to an
 * element or to another tensor, in the explanation to a term; the wheel moves in
 * it. In the list of variants it takes one. */
static bool stepper_mouse(struct lab_screen *s, enum lab_mouse what, int y,
                          int x)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.schedule || v->item < 0)
        return false;
    if (v->variants.open && what == LAB_MOUSE_CLICK) {
        lab_stepper_click_variants(v, y, x);
        lab_stepper_refresh(v);
        return true;
    }
    if (v->variants.open)
        return false;
    for (int i = 0; i < LAB_PANE_COUNT; i++) {
        struct lab_rect r = v->layout.pane[i];
        if (!lab_rect_has(r, y, x))
            continue;
        int pane = i;
        for (int k = 0; what == LAB_MOUSE_CLICK && k < LAB_PANE_COUNT; k++)
            if (lab_rect_has(v->tabs[k], y, x))
                pane = k;
        lab_stepper_focus(v, (enum lab_stepper_pane)pane);
        int64_t row = v->tree_top + y - r.y - 1;
        if (what == LAB_MOUSE_CLICK && i == LAB_PANE_STEPS && y > r.y &&
            row < v->tree.n_rows)
            lab_stepper_choose_item(v, v->tree.rows[row]);
        if (what == LAB_MOUSE_CLICK && i == LAB_PANE_TENSOR)
            lab_stepper_click_tensor(v, y, x);
        if (what == LAB_MOUSE_CLICK && pane == LAB_PANE_EXPLAIN)
            lab_stepper_click_explain(v, y, x);
        lab_stepper_refresh(v);
        return what == LAB_MOUSE_CLICK; /* the wheel: as the arrows */
    }
    return false;
}

static void stepper_answer(struct lab_screen *s, int id, const char *text)
{
    struct lab_stepper *v = s->state;
    if (!text)
        return;
    if (id == LAB_PROMPT_SEARCH) {
        if (text[0])
            snprintf(v->search, sizeof(v->search), "%s", text);
        stepper_search(v, 0);
    } else if (id == LAB_STEPPER_ASK_RESTART) {
        stepper_restart_now(v);
    } else if (id == LAB_STEPPER_ASK_LEAVE) {
        v->leave = true;
        lab_ui_pop(v->ui);
    }
    lab_stepper_refresh(v);
}

/* The stepper: a training iteration as a debugger shows it. This file is the
 * life of the screen: taking snapshots, following the walk, choosing a step. */

static const struct lab_element no_element = {-1, 0};

/* ---- the chosen step and its tensors ---- */

/* ---- following the walk ---- */

/* ---- the screen ---- */

/* For a moment after a step its tensor is on the way: the old frame is better
 * than one with a hole in it. */
static bool plane_is_coming(const struct lab_stepper *v)
{
    enum { PATIENCE_NS = 100 * 1000 * 1000 };
    return v->tensor >= 0 && !lab_stepper_plane_ready(v) &&
           lab_clock_monotonic_ns() - v->asked_ns < PATIENCE_NS;
}

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct lab_stepper *v = s->state;
    v->ui = s->ui;
    v->model = *(const struct lab_stepper_model *)args;
    v->focus = LAB_PANE_STEPS;
    v->tab = LAB_PANE_TEXT;
    v->step = -1;
    v->item = -1;
    v->tensor = -1;
    v->asked.tensor = -1;
    v->explained = no_element;
    v->text_step = LAB_TEXT_NONE;
    v->n_kernels = -1;
    lab_step_tree_init(&v->tree);
    lab_stepper_text_init(&v->lines, lab_ui_is_ascii(v->ui));
    lab_stepper_text_init(&v->text, lab_ui_is_ascii(v->ui));
    v->kernels = lab_alloc_array(LAB_STEPPER_KERNELS, sizeof(*v->kernels));
    if (!v->kernels)
        return lab_no_memory("the stepper");
    /* Records of kernels arrive without a new snapshot. */
    lab_ui_tick_every(s->ui, 200);
    lab_stepper_refresh(v);
    return LAB_OK;
}

static void release(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    if (v->taken)
        v->model.snapshot_release(v->model.session, &v->snap);
    lab_step_tree_release(&v->tree);
    lab_stepper_text_release(&v->lines);
    lab_stepper_text_release(&v->text);
    lab_free(v->kernels);
    lab_free(v->looks);
    lab_free(v->marks);
}

static bool tick(struct lab_screen *s, int64_t now_ns)
{
    struct lab_stepper *v = s->state;
    (void)now_ns;
    bool changed = lab_stepper_refresh(v) || v->held;
    v->held = changed && plane_is_coming(v);
    return changed && !v->held;
}

/* A key acts on what the reader expects to see: on the step that was asked for
 * before it, and on its numbers. Long work does not hold keys up. */
static bool waits(struct lab_screen *s, int key)
{
    struct lab_stepper *v = s->state;
    if (!v->model.pending)
        return false;
    bool pending = v->model.pending(v->model.session);
    if (!pending) {
        if (lab_stepper_refresh(v)) /* may ask for the numbers of a step */
            lab_ui_redraw(v->ui);
        pending = v->model.pending(v->model.session);
    }
    enum lab_session_state state =
        v->taken ? v->snap.state : LAB_SESSION_STARTING;
    if (state == LAB_SESSION_STARTING)
        return key != 'q' && key != LAB_KEY_ESC && key != '?';
    if (key == LAB_KEY_ESC && lab_stepper_busy(v))
        return false;
    return pending && state != LAB_SESSION_TRAINING &&
           state != LAB_SESSION_CHECKING && state != LAB_SESSION_FAILED;
}

/* A training that goes on is not ended by a slip of the finger. */
static bool may_close(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    lab_stepper_refresh(v);
    if (v->leave || v->snap.state != LAB_SESSION_TRAINING)
        return true;
    lab_ui_ask(v->ui, LAB_STEPPER_ASK_LEAVE,
               "The training goes on: stop it and leave?");
    return false;
}

static void shown(struct lab_screen *s)
{
    lab_stepper_refresh(s->state);
}

static void title_now(struct lab_screen *s, char *out, size_t cap)
{
    const struct lab_stepper *v = s->state;
    const char *title = v->model.title;
    snprintf(out, cap, "%s", title && title[0] ? title : "stepper");
}

const struct lab_screen_ops lab_view_stepper = {
    .name = "stepper",
    .title = "stepper",
    .state_bytes = sizeof(struct lab_stepper),
    .bindings = lab_stepper_keys,
    .sideways = true,
    .init = init,
    .release = release,
    .draw = stepper_draw,
    .action = stepper_action,
    .mouse = stepper_mouse,
    .tick = tick,
    .command = stepper_command,
    .answer = stepper_answer,
    .complete = stepper_complete,
    .title_now = title_now,
    .bindings_now = stepper_bindings,
    .waits = waits,
    .may_close = may_close,
    .shown = shown,
};
