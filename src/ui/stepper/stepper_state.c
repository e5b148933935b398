/* stepper_state.c -- the step that comes next, and commands to the session. */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/setup.h"
#include "shell/neighbours_text.h"
#include "stepper_priv.h"

const struct lab_schedule_step *lab_stepper_now(const struct lab_stepper *v)
{
    const struct lab_schedule *s = v->snap.schedule;
    return s && v->step >= 0 && v->step < s->n_steps ? &s->steps[v->step]
                                                     : NULL;
}

const char *lab_stepper_node(const struct lab_stepper *v, int step)
{
    const struct lab_schedule *s = v->snap.schedule;
    return v->snap.plan->nodes[s->steps[step].depth_node].id;
}

bool lab_stepper_busy(const struct lab_stepper *v)
{
    enum lab_session_state state = v->snap.state;
    return state == LAB_SESSION_WALKING || state == LAB_SESSION_TRAINING ||
           state == LAB_SESSION_CHECKING;
}

/* What a session takes only when nothing runs. */
static bool waits_for_training(enum lab_command_kind kind)
{
    switch (kind) {
    case LAB_DO_STEP:
    case LAB_DO_NEXT:
    case LAB_DO_FINISH:
    case LAB_DO_CONTINUE:
    case LAB_DO_BACK:
    case LAB_DO_RUN_TO:
    case LAB_DO_VARIANT:
    case LAB_DO_CHECK:
    case LAB_DO_COUNT:
    case LAB_DO_TRACE:
        return true;
    default:
        return false;
    }
}

void lab_stepper_post(struct lab_stepper *v, const struct lab_command *cmd)
{
    if (v->snap.state == LAB_SESSION_TRAINING &&
        waits_for_training(cmd->kind)) {
        lab_ui_message(v->ui, LAB_ROLE_WARN,
                       "a training runs: Esc stops it, t shows it");
        return;
    }
    if (v->model.post(v->model.session, cmd))
        lab_ui_error(v->ui);
}

static bool names_step(const struct lab_break_info *b,
                       const struct lab_schedule_step *s, const char *node)
{
    if (b->phase >= 0 && b->phase != (int)s->step->phase)
        return false;
    return strcmp(b->step, s->step->name) == 0 || strcmp(b->step, node) == 0;
}

/* A breakpoint that stops in front of this step. A node's stops at its first
 * step of each phase, a phase's at the first of the phase. */
bool lab_stepper_breaks_at(const struct lab_snapshot *snap, int step)
{
    const struct lab_schedule *s = snap->schedule;
    const struct lab_schedule_step *at = &s->steps[step];
    const char *node = snap->plan->nodes[at->depth_node].id;
    for (int i = 0; i < snap->n_breaks; i++) {
        const struct lab_break_info *b = &snap->breaks[i];
        if (b->watch)
            continue;
        if (b->kind == LAB_BREAK_PHASE &&
            step == s->phase_first[at->step->phase] &&
            b->phase == (int)at->step->phase)
            return true;
        if (b->kind != LAB_BREAK_STEP || !names_step(b, at, node))
            continue;
        bool first = step == 0 ||
                     s->steps[step - 1].depth_node != at->depth_node ||
                     s->steps[step - 1].step->phase != at->step->phase;
        if (strcmp(b->step, at->step->name) == 0 || first)
            return true;
    }
    return false;
}
