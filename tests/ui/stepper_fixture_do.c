/* What the fixture does at a command: it walks without arithmetic. */
#include <stdio.h>
#include <string.h>

#include "stepper_fixture_priv.h"
#include "stepper_plan.h"

static bool breaks(struct stepper_fixture *f)
{
    const struct lab_step *s = f->schedule->steps[f->position].step;
    for (int i = 0; i < f->n_breaks; i++) {
        const struct lab_break_info *b = &f->breaks[i];
        if (b->watch || strcmp(b->step, s->name) != 0 ||
            (b->phase >= 0 && b->phase != (int)s->phase))
            continue;
        snprintf(f->stop_reason, sizeof(f->stop_reason), "breakpoint %d at %s",
                 b->number, s->name);
        return true;
    }
    return false;
}

static void advance(struct stepper_fixture *f, int64_t n)
{
    f->stop_reason[0] = '\0';
    for (int64_t i = 0; i < n; i++) {
        if (f->position == f->schedule->n_steps) {
            f->position = 0;
            f->iteration++;
        }
        f->position++;
        if (f->position < f->schedule->n_steps && breaks(f))
            break;
    }
}

static int64_t to_end_of_node(const struct stepper_fixture *f)
{
    const struct lab_schedule *s = f->schedule;
    int at = f->position < s->n_steps ? f->position : 0;
    int end = at + 1;
    while (end < s->n_steps &&
           s->steps[end].depth_node == s->steps[at].depth_node &&
           s->steps[end].step->phase == s->steps[at].step->phase)
        end++;
    return end - at;
}

static void change_break(struct stepper_fixture *f, const struct lab_command *c)
{
    if (c->kind == LAB_DO_BREAK || c->kind == LAB_DO_WATCH) {
        struct lab_break_info *b = &f->breaks[f->n_breaks++];
        *b = (struct lab_break_info){.number = ++f->next_break,
                                     .kind = c->break_kind,
                                     .phase = c->phase,
                                     .value = c->value,
                                     .watch = c->kind == LAB_DO_WATCH};
        snprintf(b->step, sizeof(b->step), "%s", c->text);
        return;
    }
    for (int i = 0; i < f->n_breaks; i++) {
        bool gone =
            c->kind == LAB_DO_DELETE
                ? f->breaks[i].number == c->n
                : f->breaks[i].watch && strcmp(f->breaks[i].step, c->text) == 0;
        if (gone)
            f->breaks[i--] = f->breaks[--f->n_breaks];
    }
}

static void switch_variant(struct stepper_fixture *f,
                           const struct lab_command *c)
{
    bool fused = strcmp(c->text2, "fused") == 0;
    if (fused != f->fused) {
        /* A snapshot may still hold the old one: all live to the end. */
        f->fused = fused;
        f->position = f->position > 2 ? f->position + (fused ? -1 : 1) : 0;
        fixture_make_schedule(f, fused);
        return;
    }
    f->schedule->steps[0].variant =
        plan_variant(strcmp(c->text2, "tiled") == 0);
}

static void walk(struct stepper_fixture *f, const struct lab_command *c)
{
    switch (c->kind) {
    case LAB_DO_STEP:
        advance(f, c->n);
        break;
    case LAB_DO_NEXT:
        advance(f, to_end_of_node(f));
        break;
    case LAB_DO_FINISH:
    case LAB_DO_CONTINUE:
        advance(f, f->schedule->n_steps - f->position);
        break;
    case LAB_DO_RUN_TO:
        f->position = (int)c->n;
        break;
    case LAB_DO_BACK:
        f->position -= f->position > 0;
        break;
    default: /* LAB_DO_RESTART */
        f->position = 0;
        f->iteration = 0;
        break;
    }
}

static void keep_command(struct stepper_fixture *f, const struct lab_command *c)
{
    if (f->n_commands == FIXTURE_COMMANDS) {
        memmove(f->commands, f->commands + 1,
                sizeof(f->commands) - sizeof(f->commands[0]));
        f->n_commands--;
    }
    f->commands[f->n_commands++] = *c;
    f->version++;
}

enum lab_status fixture_post(struct lab_session *session,
                             const struct lab_command *c)
{
    struct stepper_fixture *f = fixture_of(session);
    keep_command(f, c);
    switch (c->kind) {
    case LAB_DO_TRAIN:
        f->state = LAB_SESSION_TRAINING;
        f->target = c->n ? c->n : 4320;
        break;
    case LAB_DO_STOP:
        f->state = LAB_SESSION_IDLE;
        break;
    case LAB_DO_SHOW:
        f->show = c->show;
        break;
    case LAB_DO_BOARD:
        memcpy(f->board, c->board, sizeof(f->board));
        f->n_board = c->n_board;
        break;
    case LAB_DO_EXPLAIN:
        f->element = c->element;
        break;
    case LAB_DO_VARIANT:
        switch_variant(f, c);
        break;
    case LAB_DO_CHECK:
        f->checked = true;
        f->checked_all = !c->text[0];
        break;
    case LAB_DO_LR:
    case LAB_DO_INSPECT:
        break;
    case LAB_DO_SAMPLE:
        f->written = "The gradient of";
        break;
    case LAB_DO_BREAK:
    case LAB_DO_DELETE:
    case LAB_DO_WATCH:
    case LAB_DO_UNWATCH:
        change_break(f, c);
        break;
    default:
        walk(f, c);
        break;
    }
    return LAB_OK;
}
