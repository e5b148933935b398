/* What changes what is walked, or measures it: variants, the gradient check,
 * hardware counters, the trace, a restart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session_priv.h"

/* ---- variants ---- */

enum lab_status lab_session_apply_choices(struct lab_session *s)
{
    struct lab_variant_choice list[LAB_MAX_CHOICES];
    for (int i = 0; i < s->n_choices; i++)
        list[i] = (struct lab_variant_choice){s->choices[i].target,
                                              s->choices[i].variant};
    return lab_walk_choose(s->walk, list, s->n_choices);
}

void lab_session_choose(struct lab_session *s, const struct lab_command *c)
{
    struct lab_owned_choice kept[LAB_MAX_CHOICES];
    int n = s->n_choices;
    memcpy(kept, s->choices, sizeof(kept));
    int at = 0; /* a new choice for the same target replaces the old one */
    for (int i = 0; i < n; i++) {
        if (strcmp(kept[i].target, c->text) != 0)
            s->choices[at++] = kept[i];
    }
    s->n_choices = at;
    enum lab_status st = LAB_OK;
    if (at == LAB_MAX_CHOICES) {
        st = lab_fail(LAB_E_STATE, "too many variants chosen");
    } else {
        snprintf(s->choices[at].target, LAB_COMMAND_TEXT, "%s", c->text);
        snprintf(s->choices[at].variant, LAB_COMMAND_TEXT, "%s", c->text2);
        s->n_choices++;
        st = lab_session_apply_choices(s);
    }
    if (st) {
        memcpy(s->choices, kept, sizeof(kept));
        s->n_choices = n;
        lab_session_fail(s, st);
    }
}

/* ---- gradient check ---- */

static bool check_cancelled(void *user, int64_t done, int64_t of)
{
    struct lab_session *s = user;
    s->check_done = done;
    s->check_of = of;
    if (lab_clock_monotonic_ns() - s->last_publish_ns > 30000000) {
        s->serve_quick(s);
        lab_session_publish(s);
    }
    return atomic_load(&s->cancel);
}

void lab_session_check(struct lab_session *s, const struct lab_command *c)
{
    struct lab_check_result *list = NULL;
    int n = 0;
    s->state = LAB_SESSION_CHECKING;
    s->check_done = s->check_of = 0;
    lab_session_publish(s);
    enum lab_status st = lab_gradcheck(s->walk, &s->spec, c->text,
                                       check_cancelled, s, &list, &n);
    s->check_done = s->check_of = 0;
    if (st) {
        lab_session_fail(s, st);
        return;
    }
    lab_free(s->checks);
    s->checks = list;
    s->n_checks = n;
}

/* ---- counters and trace: the hooks do it ---- */

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
        lab_session_fail(s, st);
    else
        snprintf(s->stop_reason, sizeof(s->stop_reason), "%s", said);
}

void lab_session_trace(struct lab_session *s, const struct lab_command *c)
{
    char said[LAB_SESSION_TEXT] = "";
    enum lab_status st = LAB_OK;
    if (!s->hooks.trace)
        st = lab_fail(LAB_E_UNSUPPORTED, "nobody traces here");
    if (!st)
        st =
            s->hooks.trace(s->hooks.user, s->walk, c->text, said, sizeof(said));
    if (st)
        lab_session_fail(s, st);
    else
        snprintf(s->stop_reason, sizeof(s->stop_reason), "%s", said);
}

/* ---- restart ---- */

/* What was recorded belongs to the walk that ends here. */
static void end_run(struct lab_session *s)
{
    lab_walk_run_end(s->walk);
    enum lab_status st = lab_walk_sync(s->walk);
    if (st)
        lab_session_fail(s, st);
    /* Only this thread writes `latest`: it needs no lock to read it. */
    if (s->hooks.restarted)
        s->hooks.restarted(s->hooks.user, s->walk, s->spec.seed, &s->latest);
}

void lab_session_restart(struct lab_session *s, const struct lab_command *c)
{
    if (c->seed_given)
        s->spec.seed = c->seed;
    if (c->lr > 0) {
        lab_network_set_lr(&s->spec, c->lr);
        lab_plan_set_lr(s->plan, c->lr);
    }
    end_run(s);
    s->losses = (struct lab_curve_buffer){0};
    s->accuracies = (struct lab_curve_buffer){0};
    s->bits = (struct lab_curve_buffer){0};
    s->held = (struct lab_curve_buffer){0};
    s->accuracy = s->exact = s->bits_per_char = NAN;
    lab_str_clear(&s->sample);
    s->samples = 0;
    s->decoded[0] = '\0';
    s->near = (struct lab_neighbours){.asked = s->near.asked};
    s->train_done = s->train_target = 0;
    s->n_iteration_ms = 0;
    if (c->seed_given) {
        /* Data order and masks follow the spec's and the plan's seed. */
        s->plan->seed = c->seed;
        lab_data_reseed(lab_walk_data(s->walk), c->seed);
    }
    enum lab_status st = lab_walk_restart(s->walk);
    if (st)
        lab_session_fail(s, st);
    lab_session_begin_run(s);
}
