/* lapenna-lab run LESSON: train, record, print the summary.
 *
 * Opens the lesson as every command does (debug/lesson_run.h), trains it
 * (debug/training.h) and prints: lines of text with a progress line on a
 * terminal, or JSON Lines, each after its iteration is in the database. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd.h"
#include "debug/sim_findings.h"
#include "base/clock.h"
#include "engine/session.h"
#include "report/suggest.h"
#include "report/json_line.h"
#include "report/print.h"
#include "debug/kept.h"
#include "debug/progress.h"
#include "base/signals.h"
#include "debug/training.h"
#include "base/format.h"
#include "base/mem.h"

static const struct lab_command_line usage = {
    .name = "lapenna-lab run",
    .commands = LAB_FOR_RUN,
    .knows = LAB_FOR_SHARED,
    .args = "LESSON",
    .doc =
        "Train a lesson, record the run, print how it went.\v"
        "LESSON is an id of `lapenna-lab lesson list` or a path. How long: "
        "--iterations or --epochs, else the lesson's number. The first 32 "
        "iterations and then ever fewer are recorded step by step, the loss of "
        "all of them."};

/* One line on a terminal's stderr, written over again as the training goes on. */
struct progress {
    bool on;
    bool shown;
    int64_t begun_ns;
    int64_t shown_ns;
    int64_t done; /* iterations */
};

/* A line that waits until it is stored. */
struct line {
    int64_t iteration;
    double loss;
    double rate;   /* printed where `rated` */
    json_t *whole; /* of an evaluation: the line */
};

struct lines {
    struct line *list;
    size_t n;
    size_t room;
};

struct printer {
    struct lab_lesson_run *w;
    struct lab_training_lines lines;
    bool rated;           /* each iteration has its own learning rate */
    struct lines pending; /* lines that are not printed yet, */
    struct lines marked;  /* and those before them, of which the records are */
    int64_t mark;         /* before this mark */
    int64_t marked_ns; /* when that was set, or all was printed; 0: not yet */
    int64_t looked_ns; /* when it was asked last whether they are stored */
    struct progress progress;
};

static void forget_lines(struct lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        json_decref(l->list[i].whole);
    l->n = 0;
}

static enum lab_status write_object(const struct printer *t,
                                    const struct line *l)
{
    json_t *line = lab_json_new("iteration");
    lab_json_int(line, "iteration", l->iteration);
    lab_json_value(line, "loss", l->loss);
    if (t->rated)
        lab_json_real(line, "learning_rate", l->rate);
    return lab_json_write(stdout, line);
}

static enum lab_status write_line(const struct printer *t, const struct line *l)
{
    const struct lab_json_member m[] = {
        {.key = "iteration", .whole = l->iteration, .is_whole = true},
        {.key = "loss", .value = l->loss},
        {.key = "learning_rate", .value = l->rate}};
    if (l->whole)
        return lab_json_write(stdout, json_incref(l->whole));
    if (!isfinite(l->loss) || (t->rated && !isfinite(l->rate)))
        return write_object(t, l);
    return lab_json_write_numbers(stdout, "iteration", m, t->rated ? 3 : 2);
}

/* A line that is printed is stored first: a program that reads these lines and
 * kills this one finds them in the database. A database that refuses does not stop the
 * training; the summary states it. */
static enum lab_status print_lines(struct printer *t, struct lines *lines)
{
    /* A reader never gets a part of a line: as many are written at once as fit what a
     * pipe takes whole. A write for each woke the reader each time. */
    enum { LONGEST = 512 }; /* lab_json_write_numbers() */
    enum lab_status st = LAB_OK;
    for (size_t i = 0; i < lines->n && !st; i++) {
        bool alone = lines->list[i].whole != NULL;
        if (alone || __fpending(stdout) > PIPE_BUF - LONGEST)
            st = lab_print_check();
        if (!st)
            st = write_line(t, &lines->list[i]);
        if (!st && alone)
            st = lab_print_check();
    }
    if (!st)
        st = lab_print_check();
    forget_lines(lines);
    return st;
}

static enum lab_status print_pending(struct printer *t)
{
    lab_recording_flush(t->w->recording);
    t->marked_ns = lab_clock_coarse_ns();
    enum lab_status st = print_lines(t, &t->marked);
    return st ? st : print_lines(t, &t->pending);
}

/* The lines so far wait for their records. */
static void mark_pending(struct printer *t, int64_t now)
{
    struct lines empty = t->marked;
    t->marked = t->pending;
    t->pending = empty;
    t->mark = lab_recording_mark(t->w->recording);
    t->marked_ns = now;
}

/* The training does not wait for the database: lines are marked, and printed when
 * they are stored. That of a slow iteration, as the first, is printed at once:
 * beside it the wait is short, and the next one would come late. */
static enum lab_status print_stored(struct printer *t)
{
    enum { MOST_PENDING = 4096, SLOW = 10 };
    const int64_t patience_ns = 20000000;
    const int64_t look_ns = 1000000;
    int64_t now = lab_clock_coarse_ns();
    int64_t since = now - t->marked_ns;
    enum lab_status st = LAB_OK;
    if (t->marked.n > 0 && now - t->looked_ns >= look_ns) {
        t->looked_ns = now;
        if (lab_recording_stored(t->w->recording, t->mark))
            st = print_lines(t, &t->marked);
    }
    if (!st && since >= SLOW * patience_ns)
        st = print_pending(t);
    else if (!st && t->marked.n == 0 && since >= patience_ns)
        mark_pending(t, now);
    if (!st && t->pending.n >= MOST_PENDING)
        st = print_pending(t);
    return st;
}

static enum lab_status add_line(struct printer *t, const struct line *line)
{
    struct lines *to = &t->pending;
    enum lab_status st =
        lab_grow(&to->list, to->n, &to->room, sizeof(*to->list), "a line");
    if (!st)
        to->list[to->n++] = *line;
    else
        json_decref(line->whole);
    return st ? st : print_stored(t);
}

static enum lab_status evaluation_json(struct printer *t, int64_t iteration,
                                       double loss, double accuracy)
{
    struct lab_decoded decoded;
    json_t *line = lab_json_new("evaluation");
    lab_walk_decoded(t->w->walk, &decoded);
    lab_json_int(line, "iteration", iteration);
    lab_json_value(line, "loss", loss);
    if (t->lines.facts.valid_rows > 0)
        lab_json_text(line, "set", "validation");
    lab_json_real(line, "accuracy", accuracy);
    if (t->lines.facts.text)
        lab_json_real(line, "bits_per_char",
                      lab_data_bits(&t->lines.facts, loss));
    if (!isnan(decoded.exact))
        lab_json_real(line, "exact", decoded.exact);
    if (!line)
        return lab_no_memory("a line of JSON");
    return add_line(t, &(struct line){.whole = line});
}

static enum lab_status on_json(void *user, int64_t iteration, double loss,
                               double accuracy)
{
    struct printer *t = user;
    if (!isnan(accuracy))
        return evaluation_json(t, iteration, loss, accuracy);
    struct line line = {.iteration = iteration, .loss = loss};
    if (t->rated)
        line.rate = lab_walk_rate(t->w->walk, iteration);
    return add_line(t, &line);
}

static void clear_progress(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

static void show_progress(struct printer *t, double loss)
{
    const int64_t every_ns = 100000000;
    struct progress *p = &t->progress;
    int64_t now = lab_clock_monotonic_ns();
    p->done++;
    if (!p->on || now - p->shown_ns < every_ns)
        return;
    double seconds = (double)(now - p->begun_ns) / 1e9;
    double rate = (double)p->done / seconds;
    struct winsize size = {0};
    char left[32];
    char line[160];
    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    lab_format_span((int64_t)((double)(t->lines.target - p->done) / rate * 1e9),
                    left, sizeof(left));
    snprintf(line, sizeof(line),
             "%lld of %lld iterations  loss %s  %.0f samples/s  %s left",
             (long long)p->done, (long long)t->lines.target,
             LAB_DIGITS_TEXT(loss, 4), rate * (double)t->w->plan->batch, left);
    fprintf(stderr, "\r%.*s\033[K", size.ws_col > 1 ? size.ws_col - 1 : 79,
            line);
    p->shown = true;
    p->shown_ns = now;
}

/* Text: a line at every evaluation, or ten over the whole run. */
static enum lab_status on_text(void *user, int64_t iteration, double loss,
                               double accuracy)
{
    struct printer *t = user;
    if (lab_training_has_line(&t->lines, iteration, accuracy))
        clear_progress(&t->progress);
    if (!isnan(accuracy))
        lab_recording_flush(t->w->recording);
    enum lab_status st =
        lab_training_line(&t->lines, iteration, loss, accuracy);
    if (isnan(accuracy))
        show_progress(t, loss);
    return st;
}

static void add_sets(json_t *line, const struct lab_lesson_run *w,
                     const struct lab_training *t)
{
    struct lab_data_facts f;
    lab_data_get_facts(lab_walk_data(w->walk), &f);
    lab_json_int(line, "batch", f.batch);
    if (f.batches_per_epoch > 0) {
        lab_json_int(line, "iterations_per_epoch", f.batches_per_epoch);
        lab_json_int(line, "train_rows", f.train_rows);
        lab_json_int(line, "validation_rows", f.valid_rows);
        lab_json_int(line, "test_rows", f.held_rows - f.valid_rows);
    }
    if (f.valid_rows > 0) {
        lab_json_real(line, "test_accuracy", t->test_accuracy);
        lab_json_value(line, "test_loss", t->test_loss);
    }
    if (w->spec.early_stop > 0) {
        lab_json_bool(line, "stopped_early", t->stopped_early);
        lab_json_real(line, "validation_loss_best", t->patience.best);
        lab_json_int(line, "best_iteration",
                     isnan(t->patience.best) ? LAB_UNKNOWN
                                             : t->patience.best_iteration);
        lab_json_bool(line, "network_is_best", t->network > 0);
    }
}

static enum lab_status summary_json(struct lab_lesson_run *w,
                                    const struct lab_training *t,
                                    const struct lab_recording_state *kept)
{
    json_t *line = lab_json_new("summary");
    char schedule[LAB_RATE_TEXT];
    lab_json_int(line, "run", kept->run > 0 ? kept->run : LAB_UNKNOWN);
    lab_json_bool(line, "recorded_whole", kept->whole);
    if (!kept->whole) {
        lab_json_int(line, "records_lost",
                     kept->run > 0 ? kept->lost : LAB_UNKNOWN);
        lab_json_text(line, "recording_error", kept->error);
    }
    lab_json_text(line, "lesson", w->lesson->id);
    lab_json_text(line, "backend", lab_walk_backend(w->walk)->ops->name);
    lab_json_uint(line, "seed", w->plan->seed);
    lab_json_real(line, "learning_rate", lab_plan_lr(w->plan));
    lab_json_word(line, "schedule", lab_rate_text(&w->plan->rate, schedule));
    lab_json_int(line, "iterations", t->iterations);
    lab_json_value(line, "loss_first", t->loss_first);
    lab_json_value(line, "loss_last", t->loss_last);
    lab_json_real(line, "accuracy", t->accuracy);
    add_sets(line, w, t);
    if (lab_walk_first(w->walk) > 0)
        lab_json_int(line, "iterations_before", lab_walk_first(w->walk));
    if (w->options->save)
        lab_json_text(line, "saved", w->options->save);
    if (!isnan(t->bits_per_char)) {
        lab_json_real(line, "bits_per_char", t->bits_per_char);
        lab_json_real(line, "bits_per_char_order3", t->bits_order3);
    }
    struct lab_decoded decoded;
    lab_walk_decoded(w->walk, &decoded);
    if (!isnan(decoded.exact))
        lab_json_real(line, "exact", decoded.exact);
    lab_json_real(line, "samples_per_s", t->samples_per_s);
    lab_json_real(line, "step_ms_median", t->step_ms_median);
    lab_json_real(line, "host_pct", t->host_pct);
    lab_json_text(
        line, "trace",
        lab_trace_state_name(lab_recording_trace_state(w->recording)));
    lab_json_real(line, "trace_calls_ms", kept->trace_calls_ms);
    lab_json_real(line, "trace_callbacks_ms", kept->trace_callbacks_ms);
    return lab_json_print(line);
}

static bool has_cursor(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && term[0] && strcmp(term, "dumb") != 0;
}

/* Trains and prints; `t` is filled in on failure too. */
static enum lab_status train(struct lab_lesson_run *w, struct lab_training *t)
{
    const struct lab_options *o = w->options;
    struct printer printer = {.w = w,
                              .rated = lab_rate_changes(&w->plan->rate)};
    lab_training_lines_init(&printer.lines, w, o->epochs, "");
    printer.progress.on = !o->json && has_cursor(STDERR_FILENO);
    printer.progress.begun_ns = lab_clock_monotonic_ns();
    lab_walk_run_begin(w->walk, w->lesson->title);
    enum lab_status st = lab_training_run(
        w, printer.lines.target, o->json ? on_json : on_text, &printer, t);
    lab_walk_run_end(w->walk);
    clear_progress(&printer.progress);
    if (!st && o->json)
        st = print_pending(&printer);
    forget_lines(&printer.pending);
    forget_lines(&printer.marked);
    lab_free(printer.pending.list);
    lab_free(printer.marked.list);
    if (!st && w->generator && !t->interrupted)
        st = lab_sample_text_print(w->generator, w, t->iterations);
    return st;
}

static enum lab_status vector_json(const char *question, const double *v,
                                   int64_t n, double norm)
{
    json_t *line = lab_json_new("vector");
    lab_json_text(line, "question", question);
    lab_json_int(line, "numbers", n);
    lab_json_real(line, "norm", norm);
    lab_json_reals(line, "vector", v, (size_t)n);
    return lab_json_print(line);
}

/* The question's own vector, six numbers a line. */
static enum lab_status print_vector(struct lab_lesson_run *w,
                                    const char *question, bool json)
{
    double *v = NULL;
    double squares = 0;
    int64_t n = 0;
    enum lab_status st = lab_near_vector(w->walk, question, &v, &n);
    if (st)
        return st;
    for (int64_t i = 0; i < n; i++)
        squares += v[i] * v[i];
    if (json) {
        st = vector_json(question, v, n, sqrt(squares));
        lab_free(v);
        return st;
    }
    lab_printf(stdout, "%s: %lld numbers, norm %.4f\n", question, (long long)n,
               sqrt(squares));
    for (int64_t i = 0; i < n; i++)
        lab_printf(stdout, "%12.8f%s", v[i],
                   i % 6 == 5 || i + 1 == n ? "\n" : "");
    lab_free(v);
    return lab_print_check();
}

/* What --near asked, of the network as training left it. */
static enum lab_status print_near(struct lab_lesson_run *w,
                                  const char *question, bool json)
{
    struct lab_neighbours n;
    const struct lab_vocabulary *words = lab_data_words(lab_walk_data(w->walk));
    enum lab_status st = lab_near_ask(w->walk, question, &n);
    if (!st)
        st = print_vector(w, question, json);
    if (!st && !json)
        lab_printf(stdout, "near %s (cosine, distance, norm):\n", question);
    for (int i = 0; i < n.n && !st; i++) {
        const char *word = lab_vocabulary_word(words, n.near[i].id);
        if (!json) {
            lab_printf(stdout, "%8.4f %8.4f %8.4f  %s\n", n.near[i].similarity,
                       n.near[i].distance, n.near[i].norm, word);
            continue;
        }
        json_t *line = lab_json_new("neighbour");
        lab_json_text(line, "question", question);
        lab_json_int(line, "rank", i + 1);
        lab_json_text(line, "word", word);
        lab_json_real(line, "similarity", n.near[i].similarity);
        lab_json_real(line, "distance", n.near[i].distance);
        lab_json_real(line, "norm", n.near[i].norm);
        st = lab_json_print(line);
    }
    return st;
}

static enum lab_status print_all_near(struct lab_lesson_run *w,
                                      const struct lab_options *o)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < o->n_near && !st; i++)
        st = print_near(w, o->near[i], o->json);
    return st;
}

/* What --continue goes on with is kept again under its own name. */
static bool may_overwrite(const struct lab_options *o)
{
    return o->force || (o->resume && strcmp(o->resume, o->save) == 0);
}

/* Before a run is recorded, and before an hour of training: is every question
 * of --near one, and can the network write from --prompt? */
static enum lab_status check_questions(struct lab_lesson_run *w)
{
    const struct lab_options *o = w->options;
    struct lab_neighbours n;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < o->n_near && !st; i++)
        st = lab_near_ask(w->walk, o->near[i], &n);
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(w->walk), &facts);
    bool watches = facts.held_rows > 0 && facts.batches_per_epoch > 0;
    if (!st && !watches && o->early_stop <= 0 && w->spec.early_stop > 0)
        lab_warn("early_stop of %s: no rows are held back, and there is no "
                 "loss to watch; it trains to its end",
                 w->lesson->id);
    if (!st && !watches && o->early_stop > 0)
        st = lab_fail(LAB_E_USAGE,
                      "[run.early-stop] --early-stop: no rows of %s are held "
                      "back, and there is no loss to watch",
                      w->lesson->id);
    if (!st && o->save)
        st = lab_kept_check_place(o->save, o->db, may_overwrite(o));
    return st ? st : lab_sample_text_open(&w->generator, w);
}

/* What was refused before the training is not refused after it. Also of a training
 * that Ctrl-C has ended. */
static enum lab_status save_network(struct lab_lesson_run *w)
{
    const struct lab_options *o = w->options;
    int64_t n = 0;
    if (!o->save)
        return LAB_OK;
    enum lab_status st =
        lab_kept_save(w->walk, w->lesson->id, o->save, o->db, true, &n);
    if (!st && !o->json)
        lab_printf(stdout, "%s has the network after %lld iteration%s\n",
                   o->save, (long long)n, n == 1 ? "" : "s");
    return st;
}

/* A lesson that was trained as long as it asks for is finished, as on the
 * screen. */
static void note_trained(struct lab_lesson_run *w, const struct lab_training *t)
{
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(w->walk), &facts);
    if (t->iterations >= lab_train_iterations(&w->spec, &facts, 0, 0))
        lab_seen_keep(w->lesson->id, 0, lab_walk_schedule(w->walk)->n_steps,
                      true);
}

static int run_lesson(const struct lab_options *o, const char *lesson)
{
    struct lab_lesson_run w;
    struct lab_training t;
    struct lab_run_summary summary;
    struct lab_recording_state kept;
    enum lab_status st = lab_lesson_run_open(&w, o, lesson, check_questions);
    if (st)
        return lab_exit_error(st);
    lab_lesson_run_warn(&w);
    lab_training_init(&t);
    st = train(&w, &t);
    if (st == LAB_E_CHECK && o->json)
        lab_sim_findings_print(lab_walk_backend(w.walk), NULL);
    int code = lab_exit_error(st);
    lab_training_summary(&t, st, &summary);
    lab_lesson_run_finish(&w, &summary, &kept);
    if (!st && !o->json) {
        lab_training_text(&w, &t);
        if (kept.run > 0 && !kept.empty)
            lab_print_recorded(o->db, kept.run, kept.whole);
    }
    if (!st)
        code = lab_exit_error(save_network(&w));
    if (!st && code == LAB_EXIT_DONE)
        code = lab_exit_error(print_all_near(&w, o));
    if (!st && o->json && code == LAB_EXIT_DONE)
        code = lab_exit_error(summary_json(&w, &t, &kept));
    if (!st)
        note_trained(&w, &t);
    lab_lesson_run_close(&w);
    code = lab_lesson_run_code(code, &kept);
    if (t.interrupted && code == LAB_EXIT_DONE)
        code = LAB_EXIT_SIGNAL + lab_signals_caught();
    return code;
}

static int cmd_run(int argc, char **argv)
{
    struct lab_options o;
    lab_options_parse(&o, argc, argv, &usage);
    if (!o.lesson)
        return lab_exit_error(lab_fail(LAB_E_USAGE,
                                       "[usage.run-lesson] which LESSON? "
                                       "`lapenna-lab lesson list` shows them"));
    lab_signals_catch();
    return run_lesson(&o, o.lesson);
}

const struct lab_cmd lab_cmd_run = {
    .name = "run",
    .run = cmd_run,
    .help = "LESSON: train, record, print the summary"};
