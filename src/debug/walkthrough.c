/* walkthrough.c -- the bare program without a terminal: a tour of the default
 * lesson.
 *
 * Walks one iteration as text, trains for a few epochs, records that, and names
 * the commands that go on from there. cli/cmd_open.c calls it. */
#include "debug/walkthrough.h"

#include <math.h>
#include <stdio.h>

#include "report/exit.h"
#include "report/suggest.h"
#include "debug/lesson_print.h"
#include "report/print.h"
#include "base/signals.h"
#include "debug/step_print.h"
#include "store/database.h"
#include "debug/training.h"

enum { DEFAULT_EPOCHS = 5 };

struct walkthrough {
    struct lab_lesson_run w;
    struct lab_lesson_reader reader;
    struct lab_training_lines lines; /* the walked iteration included */
    double first_loss;
    bool interrupted;
};

static enum lab_status introduce(struct walkthrough *t)
{
    const struct lab_lesson *l = t->w.lesson;
    lab_printf(stdout, "lapenna-lab walks the lesson %s once, as text.\n\n",
               l->id);
    enum lab_status st = lab_step_text_run(&t->w);
    if (!st && l->summary[0]) {
        lab_printf(stdout, "\n");
        st = lab_lesson_put_paragraph(l->summary, 0);
    }
    if (st || l->sections[0].doc.n_blocks == 0)
        return st;
    lab_printf(stdout, "\n");
    return lab_lesson_put_doc(&l->sections[0].doc, false);
}

/* Runs the step at the position and moves on. At the end of the iteration the
 * next one starts first. */
static enum lab_status walk_step(struct walkthrough *t)
{
    struct lab_walk *walk = t->w.walk;
    int at = lab_walk_position(walk);
    const struct lab_step *s = lab_walk_schedule(walk)->steps[at].step;
    enum lab_phase phase = s->phase;
    if (at == lab_walk_schedule(walk)->phase_first[phase]) {
        char head[32];
        snprintf(head, sizeof(head), "Phase: %s", lab_phase_name(phase));
        lab_printf(stdout, "\n");
        enum lab_status heading = lab_lesson_put_heading(head, 2, false);
        if (heading)
            return heading;
    }
    enum lab_status st =
        lab_read_step(&t->reader, s->name, t->w.plan->nodes[s->node].id, phase);
    if (!st)
        st = lab_walk_step(walk);
    return st ? st : lab_step_text(&t->w, at);
}

static enum lab_status walk_once(struct walkthrough *t)
{
    enum lab_status st = LAB_OK;
    while (!st && !lab_walk_at_end(t->w.walk) && !lab_signals_caught())
        st = walk_step(t);
    t->first_loss = lab_walk_loss(t->w.walk);
    t->interrupted = lab_signals_caught() != 0;
    return st;
}

/* The walked iteration was the first of the training. */
static enum lab_status train(struct walkthrough *t, struct lab_training *out)
{
    lab_printf(stdout, "\n");
    enum lab_status st = lab_lesson_put_heading("Training", 2, false);
    if (st)
        return st;
    lab_printf(stdout,
               "\nThat was one iteration. Now %lld of them, without a stop:\n",
               (long long)t->lines.target);
    t->lines.loss_sum = t->first_loss;
    t->lines.n_losses = 1;
    if (t->lines.target > 1)
        st = lab_training_run(&t->w, t->lines.target - 1, lab_training_line,
                              &t->lines, out);
    out->iterations++;
    out->loss_first = t->first_loss;
    if (isnan(out->loss_last))
        out->loss_last = t->first_loss;
    t->interrupted = out->interrupted;
    return st;
}

static void report_database(const struct lab_options *o, bool whole)
{
    struct lab_str path;
    lab_str_init(&path);
    if (o->db)
        lab_str_add(&path, o->db);
    else if (lab_database_default_path(&path))
        lab_str_clear(&path);
    if (path.len)
        lab_printf(stdout, "The run is kept%s in %s\n",
                   whole ? "" : ", in part only,", lab_str_text(&path));
    lab_str_release(&path);
}

static void advise(const char *db, const char *const *words, const char *what)
{
    struct lab_str command = lab_suggest_command_text(db, words);
    lab_printf(stdout, "  %-34s  %s\n", lab_str_text(&command), what);
    lab_str_release(&command);
}

static void report_next(struct walkthrough *t, int64_t run)
{
    const char *db = t->w.options->db;
    const char *id = t->w.lesson->id;
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)run);
    lab_printf(stdout, "\nWhat to type next:\n");
    if (run > 0)
        advise(db, LAB_WORDS("profile", "show", number), "what each step took");
    advise(db, LAB_WORDS(id), "the same in the stepper, on a terminal");
    advise(db, LAB_WORDS("--plain", id), "the stepper as lines of text");
    advise(NULL, LAB_WORDS("lesson", "list"), "all lessons");
    advise(db, LAB_WORDS("doctor"), "what this machine can do");
}

static enum lab_status conclude(struct walkthrough *t,
                                const struct lab_training *r,
                                const struct lab_recording_state *kept)
{
    lab_printf(stdout, "\n");
    lab_training_text(&t->w, r);
    if (kept->run > 0 && !kept->empty)
        report_database(t->w.options, kept->whole);
    report_next(t, kept->empty ? 0 : kept->run);
    return lab_print_check();
}

static enum lab_status all(struct walkthrough *t, struct lab_training *r)
{
    enum lab_status st = introduce(t);
    lab_walk_run_begin(t->w.walk, t->w.lesson->title);
    if (!st)
        st = walk_once(t);
    if (!st && !t->interrupted)
        st = train(t, r);
    lab_walk_run_end(t->w.walk);
    return st;
}

int lab_walkthrough(const struct lab_options *o)
{
    struct walkthrough t = {.first_loss = NAN};
    struct lab_training r;
    struct lab_run_summary summary;
    struct lab_recording_state kept;
    lab_training_init(&r);
    lab_signals_catch();
    enum lab_status st = lab_lesson_run_open(&t.w, o, LAB_DEFAULT_LESSON, NULL);
    if (st)
        return lab_exit_error(st);
    lab_lesson_run_warn(&t.w);
    lab_training_lines_init(&t.lines, &t.w,
                            o->epochs > 0 ? o->epochs : DEFAULT_EPOCHS, "  ");
    st = lab_reader_init(&t.reader, t.w.lesson);
    if (!st)
        st = all(&t, &r);
    lab_reader_release(&t.reader);
    r.interrupted = t.interrupted || lab_signals_reader_gone();
    lab_training_summary(&r, r.interrupted ? LAB_OK : st, &summary);
    lab_lesson_run_finish(&t.w, &summary, &kept);
    if (!st && !t.interrupted)
        st = conclude(&t, &r, &kept);
    lab_lesson_run_close(&t.w);
    int code = lab_lesson_run_code(lab_exit_error(st), &kept);
    if (t.interrupted && code == LAB_EXIT_DONE)
        code = LAB_EXIT_SIGNAL + lab_signals_caught();
    return code;
}
