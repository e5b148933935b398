#include "debug/plain.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "report/exit.h"
#include "report/suggest.h"
#include "lesson/catalog.h"
#include "plain_priv.h"
#include "report/print.h"
#include "debug/seen.h"
#include "base/signals.h"
#include "debug/lesson_run.h"

enum { LINE_BYTES = 4096, TICK_NS = 50000000 };

/* ---- the session, from this side ---- */

static void refresh(struct lab_plain *p)
{
    struct lab_snapshot next;
    if (lab_session_snapshot(p->session, &next)) {
        lab_print_lose(); /* no memory: the old one stays */
        return;
    }
    lab_snapshot_release(&p->snap);
    p->snap = next;
}

/* Waits for what runs. A signal cancels it; any but INT also ends us. */
static void wait_idle(struct lab_plain *p, bool training)
{
    const struct lab_command stop = {.kind = LAB_DO_STOP};
    bool stopping = false;
    while (lab_session_wait(p->session, TICK_NS) == LAB_E_CANCELLED) {
        int number = lab_signals_take();
        stopping = stopping || number != 0 || lab_signals_reader_gone();
        if (number && (number != SIGINT || p->opening))
            p->signal = number;
        if (p->signal)
            lab_session_end(p->session);
        else if (stopping) /* again and again: it may not have begun yet */
            lab_session_post(p->session, &stop);
        struct lab_snapshot now;
        if (!training || lab_session_snapshot(p->session, &now))
            continue;
        lab_plain_print_progress(p, &now);
        lab_snapshot_release(&now);
    }
}

enum lab_status lab_plain_run(struct lab_plain *p, const struct lab_command *c)
{
    enum lab_status st = lab_session_post(p->session, c);
    if (st)
        return st;
    wait_idle(p, c->kind == LAB_DO_TRAIN);
    refresh(p);
    return p->snap.error_code
               ? lab_fail(p->snap.error_code, "%s", p->snap.error)
               : LAB_OK;
}

/* ---- opening ---- */

static enum lab_status open_lesson(struct lab_plain *p, const char *name)
{
    enum lab_status st =
        lab_lesson_run_lesson(name, p->options->db, &p->lesson);
    if (st)
        return st;
    p->spec = lab_lesson_run_spec(p->options, p->lesson);
    return lab_reader_init(&p->reader, p->lesson);
}

static enum lab_status open_session(struct lab_plain *p)
{
    const struct lab_options *o = p->options;
    struct lab_recording_options recording =
        lab_lesson_run_recording(o, p->lesson);
    recording.graph_nodes = false; /* of `run` */
    enum lab_status st = lab_recording_new(&p->recording, &recording);
    if (st)
        return st;
    struct lab_session_config config = {
        .spec = &p->spec,
        .backend = o->backend,
        .device = o->device,
        .batch = o->batch,
        .data = o->data,
        .choices = o->choices,
        .n_choices = o->n_choices,
        .hooks = {.user = p->recording,
                  .prepare = lab_recording_prepare,
                  .opened = lab_recording_opened,
                  .restarted = lab_recording_restarted,
                  .closing = lab_recording_closing,
                  .count = lab_recording_count_said,
                  .trace = lab_recording_trace_said}};
    st = lab_session_new(&p->session, &config);
    if (st)
        return st;
    p->opening = true;
    wait_idle(p, false);
    p->opening = false;
    refresh(p);
    if (p->snap.state == LAB_SESSION_FAILED)
        return lab_fail(p->snap.error_code, "%s", p->snap.error);
    if (!p->signal && !p->snap.schedule)
        return lab_fail(LAB_E_NOMEM, "no memory to show the lesson");
    return LAB_OK;
}

/* ---- ending ---- */

static void summarize(const struct lab_plain *p, struct lab_run_summary *out)
{
    lab_recording_summarize(&p->snap, out);
    if (p->signal)
        out->status = LAB_RUN_CANCELLED;
}

static void say_notes(struct lab_plain *p)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_recording_note(p->recording, &text);
    if (text.failed)
        lab_warn("out of memory: what the record lacks is not known");
    else
        lab_warn_lines(lab_str_text(&text));
    lab_str_release(&text);
}

/* A database that refuses is told, and is no failure of the walk. */
static void close_all(struct lab_plain *p)
{
    struct lab_run_summary summary;
    struct lab_recording_state kept;
    summarize(p, &summary);
    if (p->walked > 0 || p->trained)
        lab_seen_keep(p->lesson->id, p->walked, p->snap.schedule->n_steps,
                      p->trained || p->walked >= p->snap.schedule->n_steps);
    lab_session_free(p->session);
    if (p->recording) {
        lab_recording_finish(p->recording, &summary);
        lab_recording_get_state(p->recording, &kept);
        if (kept.run > 0 && !kept.empty)
            lab_print_recorded(p->options->db, kept.run, kept.whole);
        say_notes(p);
    }
    lab_snapshot_release(&p->snap);
    lab_recording_free(p->recording);
    lab_reader_release(&p->reader);
    lab_lesson_free(p->lesson);
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
            lab_plain_line(p, line);
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
        lab_plain_do(p, &step);
        if (p->snap.position == before)
            break;
    }
    return LAB_OK;
}

int lab_plain_session(const struct lab_options *o, const char *lesson)
{
    struct lab_plain p = {.options = o,
                          .interactive = isatty(STDIN_FILENO) != 0};
    int code = LAB_EXIT_DONE;
    p.snap.plane.tensor = p.snap.explanation.tensor = -1;
    p.snap.loss = p.snap.accuracy = p.snap.step_ms_median = NAN;
    p.snap.bits_per_char = p.snap.bits_order3 = NAN;
    lab_signals_catch();
    enum lab_status st = open_lesson(&p, lesson);
    if (!st)
        st = open_session(&p);
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
