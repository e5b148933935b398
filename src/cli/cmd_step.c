/* lapenna-lab step LESSON: one iteration, every step and tensor. */
#include <math.h>
#include <stdio.h>

#include "cmd.h"
#include "debug/training.h"
#include "report/print.h"
#include "base/signals.h"
#include "debug/step_print.h"

static const struct lab_command_line usage = {
    .name = "lapenna-lab step",
    .commands = LAB_FOR_STEP,
    .takes = LAB_FOR_SHARED,
    .args = "LESSON",
    .doc = "Walk one iteration of a lesson and show every step: its formula, "
           "what it cost, and every tensor that it wrote.\v"
           "LESSON is an id of `lapenna-lab lesson list` or a path. "
           "--iterations N walks N of them. --npy DIR writes NAME.npy for "
           "every tensor of the last one, and NAME.before.npy for parameters "
           "as it found them."};

static enum lab_status print_step(struct lab_lesson_run *w, int index)
{
    return w->options->json ? lab_step_json(w, index)
                            : lab_step_text(w, index, stdout);
}

/* One iteration whose tensors become files: nothing is printed on the way. */
static enum lab_status walk_to_files(struct lab_lesson_run *w,
                                     int64_t iterations)
{
    const struct lab_options *o = w->options;
    int64_t count = 0;
    enum lab_status st = lab_npy_open(o->npy);
    lab_walk_run_begin(w->walk, w->lesson->title);
    for (int64_t i = 0; i < iterations && !st; i++) {
        st = lab_walk_begin(w->walk);
        if (!st && i + 1 == iterations)
            st = lab_npy_write(w, o->npy, o->tensors, true, &count);
        do {
            if (!st)
                st = lab_walk_step(w->walk);
            if (!st && lab_signals_caught())
                st = lab_fail(LAB_E_CANCELLED, "interrupted");
        } while (!st && !lab_walk_at_end(w->walk));
    }
    if (!st)
        st = lab_npy_write(w, o->npy, o->tensors, false, &count);
    lab_walk_run_end(w->walk);
    if (!st)
        lab_printf(stdout, "%lld files in %s; loss %.9g\n", (long long)count,
                   o->npy, lab_walk_loss(w->walk));
    return st;
}

static enum lab_status walk(struct lab_lesson_run *w, int64_t iterations)
{
    enum lab_status st =
        w->options->json ? lab_step_json_run(w) : lab_step_text_run(w, stdout);
    lab_walk_run_begin(w->walk, w->lesson->title);
    for (int64_t i = 0; i < iterations && !st; i++) {
        do {
            int at = lab_walk_at_end(w->walk) ? 0 : lab_walk_position(w->walk);
            st = lab_walk_step(w->walk);
            if (!st)
                st = print_step(w, at);
            if (lab_signals_caught()) /* which may have cut a line short */
                st = lab_fail(LAB_E_CANCELLED, "interrupted");
        } while (!st && !lab_walk_at_end(w->walk));
    }
    if (!st && lab_run_counters_wanted(w))
        st = lab_run_counters_iteration(w);
    lab_walk_run_end(w->walk);
    if (!st)
        st = w->options->json ? lab_step_json_end(w)
                              : lab_step_text_end(w, stdout);
    return st;
}

int lab_cmd_step(int argc, char **argv)
{
    struct lab_options o;
    struct lab_lesson_run w;
    struct lab_run_summary summary;
    struct lab_recording_state kept;
    lab_options_parse(&o, argc, argv, &usage);
    if (!o.lesson) {
        lab_warn("which LESSON? `lapenna-lab lesson list` shows them");
        return LAB_EXIT_USAGE;
    }
    if (o.ascii)
        lab_print_ascii(true);
    lab_signals_catch();
    enum lab_status st = lab_lesson_run_open(&w, &o, o.lesson, NULL);
    if (st)
        return lab_exit_error(st);
    lab_lesson_run_warn(&w);
    int64_t iterations = o.iterations > 0 ? o.iterations : 1;
    st = o.npy ? walk_to_files(&w, iterations) : walk(&w, iterations);
    int code = st == LAB_E_CANCELLED ? LAB_EXIT_SIGNAL + lab_signals_caught()
                                     : lab_exit_error(st);
    lab_run_summary_init(&summary);
    summary.status = st == LAB_E_CANCELLED ? LAB_RUN_CANCELLED
                     : st                  ? LAB_RUN_FAILED
                                           : LAB_RUN_DONE;
    summary.iterations = lab_walk_iteration(w.walk) + 1;
    summary.loss_first = summary.loss_last = lab_walk_loss(w.walk);
    lab_lesson_run_finish(&w, &summary, &kept);
    lab_lesson_run_close(&w);
    return lab_lesson_run_code(code, &kept);
}
