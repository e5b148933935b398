/* Hardware counters and the trace on demand: which steps are meant; who counts
 * and traces is outside. */
#include <stdio.h>
#include <string.h>

#include "session_priv.h"

/* The steps around `at` that belong to its node, in its phase. */
static void widen_to_node(const struct lab_schedule *s, int *from, int *to)
{
    const struct lab_schedule_step *at = &s->steps[*from];
    while (*from > 0 && s->steps[*from - 1].depth_node == at->depth_node &&
           s->steps[*from - 1].step->phase == at->step->phase)
        --*from;
    while (*to < s->n_steps && s->steps[*to].depth_node == at->depth_node &&
           s->steps[*to].step->phase == at->step->phase)
        ++*to;
}

static enum lab_status find_range(struct lab_session *s,
                                  const struct lab_command *c, int *from,
                                  int *to)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    if (strcmp(c->text, "iteration") == 0) {
        *from = 0;
        *to = lab_walk_position(s->walk);
        return *to > 0 ? LAB_OK
                       : lab_fail(LAB_E_STATE,
                                  "nothing of this iteration has run: step "
                                  "first, then count");
    }
    if (c->n < 0 || c->n >= schedule->n_steps)
        return lab_fail(LAB_E_RANGE, "there is no such step");
    *from = (int)c->n;
    *to = *from + 1;
    if (strcmp(c->text, "node") == 0)
        widen_to_node(schedule, from, to);
    if (*to > lab_walk_position(s->walk) && *from < lab_walk_position(s->walk))
        *to = lab_walk_position(s->walk);
    return LAB_OK;
}

void lab_session_count(struct lab_session *s, const struct lab_command *c)
{
    char said[LAB_SESSION_TEXT] = "";
    int from = 0;
    int to = 0;
    enum lab_status st = LAB_OK;
    if (!s->hooks.count)
        st = lab_fail(LAB_E_UNSUPPORTED, "nobody counts here");
    if (!st)
        st = find_range(s, c, &from, &to);
    s->state = LAB_SESSION_CHECKING;
    lab_session_publish(s);
    if (!st)
        st = s->hooks.count(s->hooks.user, s->walk, from, to, said,
                            sizeof(said));
    if (st)
        lab_session_say_error(s, st);
    else
        snprintf(s->stop_reason, sizeof(s->stop_reason), "%s", said);
}

void lab_session_trace(struct lab_session *s, const char *what)
{
    char said[LAB_SESSION_TEXT] = "";
    enum lab_status st = LAB_OK;
    if (!s->hooks.trace)
        st = lab_fail(LAB_E_UNSUPPORTED, "nobody traces here");
    if (!st)
        st = s->hooks.trace(s->hooks.user, s->walk, what, said, sizeof(said));
    if (st)
        lab_session_say_error(s, st);
    else
        snprintf(s->stop_reason, sizeof(s->stop_reason), "%s", said);
}
