/* The stepper as lines of text, for pipes and screen readers: the session, the
 * lines that are read, and what each command does. */
#include "debug/plain.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/exit.h"
#include "plain_priv.h"
#include "report/print.h"
#include "report/suggest.h"
#include "debug/progress.h"
#include "base/signals.h"

static void complain(void)
{
    fflush(stdout); /* the error comes after what led to it */
    lab_warn("%s", lab_error());
}

/* ---- commands ---- */

/* What the session is asked for; LAB_E_NOTFOUND: a name in it is none. */
static enum lab_status session_command(const struct lab_plain *p,
                                       const struct lab_ui_command *from,
                                       struct lab_command *out)
{
    int position = p->snap.position;
    int here = from->kind == LAB_COMMAND_COUNT        ? position - 1
               : position < p->snap.schedule->n_steps ? position
                                                      : 0;
    return lab_debugger_command(&p->snap, from, here, out);
}

/* What ran before a move failed is worth showing, too. */
static void show_move(struct lab_plain *p, int64_t iteration,
                      enum lab_status st)
{
    if (st)
        complain();
    int64_t walked = p->snap.iteration > iteration ? p->snap.schedule->n_steps
                                                   : p->snap.position;
    p->walked = walked > p->walked ? walked : p->walked;
    lab_plain_print_move(p);
}

static void show_restart(struct lab_plain *p, const struct lab_command *c)
{
    if (c->lr > 0)
        lab_printf(stdout, "At the start again, learning rate %g.\n",
                   p->snap.lr);
    else
        lab_printf(stdout, "At the start again, seed %llu.\n",
                   (unsigned long long)p->snap.plan->seed);
    lab_plain_print_where(p);
}

/* As many iterations as the line asks for, else as the command line has it,
 * else the lesson. */
static void prepare_training(struct lab_plain *p, struct lab_command *c)
{
    struct lab_data_facts facts = {.batches_per_epoch =
                                       p->snap.iterations_per_epoch};
    if (c->n == 0)
        c->n =
            lab_train_iterations(&p->run.spec, &facts, p->run.options->epochs,
                                 p->run.options->iterations);
    p->trained_to = p->snap.iteration - (p->snap.position == 0);
}

static void show_neighbours(const struct lab_plain *p)
{
    for (int i = 0; i < p->snap.near.n; i++)
        lab_printf(stdout, "%8.4f  %s\n", p->snap.near.near[i].similarity,
                   lab_vocabulary_word(p->snap.words, p->snap.near.near[i].id));
}

/* What a command has done. */
static enum lab_status show(struct lab_plain *p, const struct lab_command *c)
{
    switch (c->kind) {
    case LAB_DO_BACK:
        lab_plain_print_where(p);
        return LAB_OK;
    case LAB_DO_RESTART:
        show_restart(p, c);
        return LAB_OK;
    case LAB_DO_TRAIN:
        lab_plain_print_trained(p);
        return LAB_OK;
    case LAB_DO_BREAK:
    case LAB_DO_WATCH:
    case LAB_DO_DELETE:
    case LAB_DO_UNWATCH:
        return lab_plain_list(p, "breaks");
    case LAB_DO_VARIANT:
        lab_printf(stdout, "%s runs as %s from now on.\n", c->text, c->text2);
        lab_plain_print_where(p);
        return LAB_OK;
    case LAB_DO_NEAR:
        show_neighbours(p);
        return LAB_OK;
    case LAB_DO_CHECK:
        return lab_plain_print_checks(p);
    case LAB_DO_COUNT:
        lab_printf(stdout, "%s\n", p->snap.stop_reason);
        lab_plain_print_counters(p);
        return LAB_OK;
    case LAB_DO_TRACE:
        lab_printf(stdout, "%s\n", p->snap.stop_reason);
        return LAB_OK;
    default:
        return LAB_OK;
    }
}

static enum lab_status run(struct lab_plain *p,
                           const struct lab_ui_command *from)
{
    struct lab_command c;
    enum lab_status st = session_command(p, from, &c);
    if (st)
        return st;
    int64_t iteration = p->snap.iteration;
    p->progress_ns = 0;
    if (c.kind == LAB_DO_TRAIN)
        prepare_training(p, &c);
    st = lab_plain_run(p, &c);
    if (c.kind < LAB_DO_BACK) { /* a move forward */
        show_move(p, iteration, st);
        return LAB_OK;
    }
    if (c.kind <= LAB_DO_TRAIN) /* what it ran is not shown step by step */
        lab_plain_forget_moves(p);
    if (c.kind == LAB_DO_TRAIN)
        p->trained = p->trained || lab_seen_trained(&p->run.spec, &p->snap);
    return st ? st : show(p, &c);
}

static enum lab_status sample(struct lab_plain *p,
                              const struct lab_ui_command *from)
{
    const struct lab_options *o = p->run.options;
    struct lab_sample_request how = {
        .n = o->sample, .temperature = o->temperature, .top_k = o->top_k};
    snprintf(how.prompt, sizeof(how.prompt), "%s", o->prompt);
    lab_sample_request_take(&how, from);
    struct lab_command c = lab_sample_request_command(&how);
    enum lab_status st = lab_plain_run(p, &c);
    if (!st && p->snap.sample)
        lab_printf(stdout, "%s\n", p->snap.sample);
    return st;
}

static void show_lr(const struct lab_plain *p)
{
    char text[LAB_COMMAND_LR_TEXT];
    lab_printf(stdout, "%s\n", lab_ui_command_lr_text(p->snap.lr, text));
}

static enum lab_status do_command(struct lab_plain *p,
                                  const struct lab_ui_command *c)
{
    switch (c->kind) {
    case LAB_COMMAND_NONE:
        return LAB_OK;
    case LAB_COMMAND_PRINT:
        return lab_plain_print_tensor(p, c);
    case LAB_COMMAND_EXPLAIN:
        return lab_plain_explain(p, c);
    case LAB_COMMAND_LR:
        if (!isnan(c->value) && !isnan(p->snap.lr))
            return run(p, c);
        show_lr(p);
        return LAB_OK;
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
        return run(p, c);
    }
}

static void plain_do(struct lab_plain *p, const struct lab_ui_command *c)
{
    if (do_command(p, c))
        complain();
}

static void plain_line(struct lab_plain *p, const char *line)
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
    plain_do(p, &c);
}

enum { LINE_BYTES = 4096 };

/* ---- opening ---- */

static enum lab_status
open_lesson(struct lab_plain *p, const struct lab_options *o, const char *name)
{
    enum lab_status st =
        lab_lesson_run_start(&p->run, o, name, false, NULL, NULL);
    if (!st)
        st = lab_reader_init(&p->reader, p->run.lesson);
    if (st)
        return st;
    p->opening = true;
    lab_plain_wait(p, false);
    p->opening = false;
    if (p->snap.state == LAB_SESSION_FAILED)
        return lab_fail(p->snap.error_code, "%s", p->snap.error);
    if (!p->signal && !p->snap.schedule)
        return lab_fail(LAB_E_NOMEM, "no memory to show the lesson");
    return LAB_OK;
}

/* ---- ending ---- */

static void say_notes(struct lab_plain *p)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_recording_note(p->run.recording, &text);
    if (text.failed)
        lab_warn("out of memory: what the record lacks is not known");
    else
        lab_warn_lines(lab_str_text(&text));
    lab_str_release(&text);
}

/* A database that refuses is a warning, and no failure of the walk. */
static void close_all(struct lab_plain *p)
{
    struct lab_run_summary summary;
    struct lab_recording_state kept;
    lab_recording_summarize(&p->snap, &summary);
    if (p->signal)
        summary.status = LAB_RUN_CANCELLED;
    if (p->walked > 0 || p->trained)
        lab_seen_keep(p->run.lesson->id, p->walked, p->snap.schedule->n_steps,
                      p->trained || p->walked >= p->snap.schedule->n_steps);
    if (p->run.session)
        lab_session_end(p->run.session); /* hands out its last records */
    if (p->run.recording) {
        lab_recording_finish(p->run.recording, &summary);
        lab_recording_get_state(p->run.recording, &kept);
        if (kept.run > 0 && !kept.empty)
            lab_print_recorded(p->run.options->db, kept.run, kept.whole);
        say_notes(p);
    }
    lab_snapshot_release(&p->snap);
    lab_reader_release(&p->reader);
    lab_lesson_run_close(&p->run);
}

/* ---- input ---- */

struct input {
    char bytes[LINE_BYTES];
    size_t used;
    bool ended;
    int error;     /* errno of the read that ended it; 0: none */
    bool skipping; /* the rest of a line that was too long */
};

/* Takes a line out of what has been read; false: there is none yet. */
static bool take_line(struct input *in, char *line)
{
    char *end = memchr(in->bytes, '\n', in->used);
    size_t n = end ? (size_t)(end - in->bytes) : in->used;
    bool full = !end && in->used == sizeof(in->bytes);
    if (!end && !full && !(in->ended && n > 0))
        return false;
    bool rest = in->skipping;
    in->skipping = full;
    if (n == sizeof(in->bytes))
        n--;
    for (size_t i = 0; i < n; i++) /* NUL would hide the rest */
        line[i] = in->bytes[i] ? in->bytes[i] : '?';
    line[n] = '\0';
    size_t gone = end ? n + 1 : in->used;
    memmove(in->bytes, in->bytes + gone, in->used - gone);
    in->used -= gone;
    return rest ? take_line(in, line) : true;
}

/* The next line; false: the input has ended, or a signal came. */
static bool read_line(struct input *in, char *line)
{
    while (!take_line(in, line)) {
        if (in->ended || !lab_signals_wait_input(STDIN_FILENO))
            return false;
        ssize_t n = read(STDIN_FILENO, in->bytes + in->used,
                         sizeof(in->bytes) - in->used);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        in->ended = n <= 0;
        in->error = n < 0 ? errno : 0;
        in->used += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* At the prompt INT drops the line, as in gdb; from a script it is meant for
 * the whole. */
static bool interrupted(struct lab_plain *p, struct input *in)
{
    int number = lab_signals_take();
    if (!number)
        return false;
    if (number == SIGINT && p->interactive) {
        in->used = 0;
        lab_printf(stdout, "\n");
        return true;
    }
    p->signal = number;
    return false;
}

static enum lab_status read_commands(struct lab_plain *p)
{
    struct input in = {.used = 0};
    char line[LINE_BYTES];
    int64_t commands = 0;
    while (!p->leaving && !p->signal && !ferror(stdout)) {
        if (p->interactive)
            lab_printf(stdout, "(lab) ");
        fflush(stdout);
        if (read_line(&in, line)) {
            commands++;
            plain_line(p, line);
        } else if (!interrupted(p, &in)) {
            break;
        }
    }
    if (p->interactive && in.ended)
        lab_printf(stdout, "\n");
    if (in.error)
        return lab_fail(LAB_E_IO, "cannot read the commands: %s",
                        strerror(in.error));
    if (commands > 0 || p->interactive || p->signal)
        return LAB_OK;
    /* Nobody says anything: walk the iteration once. */
    const struct lab_ui_command step = {
        .kind = LAB_COMMAND_STEP, .n = 1, .phase = -1};
    while (!p->signal && !p->snap.error_code && !ferror(stdout) &&
           p->snap.position < p->snap.schedule->n_steps) {
        int before = p->snap.position;
        plain_do(p, &step);
        if (p->snap.position == before)
            break;
    }
    return LAB_OK;
}

int lab_plain_session(const struct lab_options *o, const char *lesson)
{
    struct lab_plain p = {.interactive = isatty(STDIN_FILENO) != 0};
    int code = LAB_EXIT_DONE;
    p.snap.plane.tensor = p.snap.explanation.tensor = -1;
    p.snap.loss = p.snap.accuracy = p.snap.step_ms_median = NAN;
    p.snap.bits_per_char = p.snap.bits_order3 = NAN;
    lab_signals_catch();
    enum lab_status st = open_lesson(&p, o, lesson);
    if (st && !p.signal) {
        code = lab_exit_error(st);
    } else if (!p.signal) {
        lab_plain_print_start(&p);
        st = read_commands(&p);
        code = st ? lab_exit_error(st) : LAB_EXIT_DONE;
    }
    close_all(&p);
    if (p.signal)
        return LAB_EXIT_SIGNAL + p.signal;
    if (fflush(stdout) || ferror(stdout))
        return lab_exit_error(lab_fail(LAB_E_IO, "cannot write"));
    return code;
}
