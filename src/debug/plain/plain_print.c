/* What a move did, where the stepper stands, how training goes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/setup.h"
#include "plain_priv.h"
#include "report/print.h"
#include "debug/step_text.h"
#include "base/format.h"

enum { MOST_LINES = 40 };
static const int64_t progress_every_ns = 5000000000;

/* ---- where ---- */

/* That there is no GPU has been said. */
bool lab_plain_print_notes(const struct lab_plain *p)
{
    const char *notice = lab_setup_notice_rest(p->snap.notice);
    if (notice[0])
        lab_printf(stdout, "note: %s%s", notice,
                   notice[strlen(notice) - 1] == '\n' ? "" : "\n");
    return notice[0];
}

static void say_badge(struct lab_plain *p)
{
    const struct lab_snapshot *s = &p->snap;
    char rate[LAB_WORK_LR_TEXT];
    bool fell_back = strcmp(p->options->backend, "auto") == 0 &&
                     strcmp(s->backend, "cuda") != 0;
    lab_printf(
        stdout,
        "backend %s (%s)%s, seed %llu%s, batch %lld, %lld parameters, %d "
        "steps an iteration\n",
        s->backend, s->device.name,
        fell_back ? ", no GPU (`lapenna-lab doctor` says why)" : "",
        (unsigned long long)s->plan->seed,
        lab_lesson_run_lr_text(p->options, rate), (long long)s->plan->batch,
        (long long)s->plan->parameter_count, s->schedule->n_steps);
    lab_plain_print_notes(p);
}

void lab_plain_print_where(struct lab_plain *p)
{
    const struct lab_snapshot *s = &p->snap;
    if (s->position >= s->schedule->n_steps) {
        lab_printf(stdout,
                   "Iteration %lld is done, loss %.9g. `step` begins the next "
                   "one.\n",
                   (long long)s->iteration, s->loss);
        return;
    }
    const struct lab_schedule_step *next = &s->schedule->steps[s->position];
    lab_printf(stdout, "Next: %d. %s  (%s, %s), iteration %lld\n",
               s->position + 1, next->step->name,
               lab_phase_name(next->step->phase), next->variant->name,
               (long long)s->iteration);
}

void lab_plain_print_start(struct lab_plain *p)
{
    const struct lab_lesson *l = p->lesson;
    lab_read_heading(l->title, 1);
    if (l->summary[0])
        lab_read_paragraph(l->summary, 0);
    lab_printf(stdout, "\n");
    say_badge(p);
    if (l->sections[0].doc.n_blocks > 0) {
        lab_printf(stdout, "\n");
        lab_read_doc(&l->sections[0].doc);
    }
    if (p->snap.n_breaks > 0) {
        lab_printf(stdout, "\nThe lesson stops at:\n");
        lab_plain_list(p, "breaks");
    }
    lab_printf(stdout, "\n`help` lists the commands; `step` takes a step.\n\n");
    lab_plain_print_where(p);
}

/* ---- moves ---- */

void lab_plain_forget_moves(struct lab_plain *p)
{
    const struct lab_snapshot *s = &p->snap;
    for (int i = 0; i < s->schedule->n_steps; i++) {
        if (s->steps[i].exec > p->last_exec)
            p->last_exec = s->steps[i].exec;
    }
}

/* By the profiler, when it has told by now; else on the CPU's clock. */
static int64_t time_of(struct lab_plain *p, int index)
{
    const struct lab_step_status *st = &p->snap.steps[index];
    struct lab_step_record r;
    if (lab_live_step(lab_recording_live(p->recording), index, &r) &&
        r.exec == st->exec && r.time_ns != LAB_UNKNOWN)
        return r.time_ns;
    return st->time_ns;
}

static void print_brief(struct lab_plain *p, int index)
{
    const struct lab_schedule_step *s = &p->snap.schedule->steps[index];
    char time[LAB_FORMAT_BYTES];
    int64_t ns = time_of(p, index);
    lab_format_ns(ns == LAB_UNKNOWN ? NAN : (double)ns, time, sizeof(time));
    lab_printf(stdout, "%d. %s  (%s, %s)  %s\n", index + 1, s->step->name,
               lab_phase_name(s->step->phase), s->variant->name, time);
}

static void print_whole(struct lab_plain *p, int index)
{
    /* Looking at tensors makes new snapshots: keep what is needed. */
    struct lab_schedule *schedule = lab_schedule_retain(p->snap.schedule);
    const struct lab_schedule_step *s = &schedule->steps[index];
    int64_t exec = p->snap.steps[index].exec;
    const struct lab_command hide = {.kind = LAB_DO_SHOW,
                                     .show = {.tensor = -1}};
    lab_step_text_head(s, index, time_of(p, index), stdout);
    lab_step_text_kernels(lab_recording_live(p->recording), exec, stdout);
    for (int i = 0; i < s->step->n_out; i++) {
        if (s->step->out[i] >= 0)
            lab_plain_print_stats(p, s->step->out[i]);
    }
    lab_plain_run(p, &hide);
    if (s->step->node >= 0)
        lab_read_step(&p->reader, s->step->name,
                      p->snap.plan->nodes[s->step->node].id, s->step->phase);
    lab_schedule_release(schedule);
}

void lab_plain_print_move(struct lab_plain *p)
{
    const struct lab_snapshot *s = &p->snap;
    int ran = 0;
    int last = -1;
    for (int i = 0; i < s->schedule->n_steps; i++) {
        if (s->steps[i].exec <= p->last_exec || !s->steps[i].done)
            continue;
        ran++;
        last = i;
    }
    int left_out = ran > MOST_LINES ? ran - MOST_LINES : 0;
    if (left_out)
        lab_printf(stdout, "%d steps, and then:\n", left_out);
    int seen = 0;
    for (int i = 0; i < last; i++) {
        if (s->steps[i].exec > p->last_exec && s->steps[i].done &&
            seen++ >= left_out)
            print_brief(p, i);
    }
    char reason[LAB_SESSION_TEXT];
    snprintf(reason, sizeof(reason), "%s", s->stop_reason);
    lab_plain_forget_moves(p);
    if (ran > 1)
        lab_printf(stdout, "\n");
    if (last >= 0)
        print_whole(p, last);
    if (last >= 0)
        lab_printf(stdout, "\n");
    if (reason[0] && p->snap.position < p->snap.schedule->n_steps)
        lab_printf(stdout, "Stopped: %s\n", reason);
    lab_plain_print_where(p);
}

/* ---- training ---- */

static double accuracy_between(const struct lab_curve *c, int64_t after,
                               int64_t to)
{
    double found = NAN;
    for (int i = 0; i < c->n; i++) {
        if (c->iteration[i] > after && c->iteration[i] <= to)
            found = c->value[i];
    }
    return found;
}

/* A line for each epoch that has ended, or for each tenth of the way. */
static bool print_ended(struct lab_plain *p, const struct lab_snapshot *s)
{
    int64_t tenth = s->train_target / 10 > 0 ? s->train_target / 10 : 1;
    bool epochs = s->iterations_per_epoch > 0;
    int64_t unit = epochs ? s->iterations_per_epoch : tenth;
    bool any = false;
    for (int i = 0; i < s->losses.n; i++) {
        int64_t at = s->losses.iteration[i];
        if (at <= p->trained_to ||
            (at + 1) / unit <= (p->trained_to + 1) / unit)
            continue;
        double right = accuracy_between(&s->accuracies, p->trained_to, at);
        lab_printf(stdout, "%s %lld  loss %.6g", epochs ? "epoch" : "iteration",
                   (long long)(epochs ? (at + 1) / unit : at + 1),
                   s->losses.value[i]);
        if (!isnan(right))
            lab_printf(stdout, "  held back: %.2f %% right", 100 * right);
        lab_printf(stdout, "\n");
        p->trained_to = at;
        any = true;
    }
    return any;
}

/* A long check is not a silent one. */
static void say_checked(struct lab_plain *p, const struct lab_snapshot *s)
{
    int64_t now = lab_clock_monotonic_ns();
    if (p->progress_ns == 0 || now - p->progress_ns < progress_every_ns) {
        p->progress_ns = p->progress_ns ? p->progress_ns : now;
        return;
    }
    p->progress_ns = now;
    lab_printf(stdout, "compared %lld of %lld elements\n",
               (long long)s->check_done, (long long)s->check_of);
    fflush(stdout);
}

void lab_plain_print_progress(struct lab_plain *p, const struct lab_snapshot *s)
{
    char text[96];
    int64_t now = lab_clock_monotonic_ns();
    if (s->state == LAB_SESSION_CHECKING && s->check_of > 0)
        say_checked(p, s);
    if (s->state != LAB_SESSION_TRAINING)
        return;
    if (p->progress_ns == 0 || print_ended(p, s)) {
        p->progress_ns = now;
    } else if (now - p->progress_ns > progress_every_ns &&
               s->samples_per_s > 0) {
        double taken =
            (double)(s->train_done * s->plan->batch) * 1e9 / s->samples_per_s;
        lab_printf(stdout, "%s\n",
                   lab_format_progress(s->train_done, s->train_target,
                                       (int64_t)taken, "it", text,
                                       sizeof(text)));
        p->progress_ns = now;
    }
    fflush(stdout);
}

void lab_plain_print_trained(struct lab_plain *p)
{
    const struct lab_snapshot *s = &p->snap;
    print_ended(p, s);
    lab_printf(stdout, "%s: loss %.6g", s->stop_reason, s->loss);
    if (!isnan(s->accuracy))
        lab_printf(stdout, ", %.2f %% of the held-back %s right",
                   100 * s->accuracy, s->text ? "characters" : "rows");
    if (!isnan(s->bits_per_char))
        lab_printf(
            stdout,
            ", %.4f bits a character (counting what follows three: %.4f)",
            s->bits_per_char, s->bits_order3);
    if (!isnan(s->step_ms_median))
        lab_printf(stdout, ", %.4g ms an iteration (median)",
                   s->step_ms_median);
    lab_printf(stdout, "\n");
    lab_plain_print_where(p);
}
