/* lapenna-lab step LESSON: one iteration, every step and tensor. */
#include <math.h>
#include <stdio.h>

#include "cmd.h"
#include "counting.h"
#include "say.h"
#include "signals.h"
#include "step_json.h"
#include "step_text.h"

static const char doc[] =
    "Walk one iteration of a lesson and show every step: its formula, what it "
    "cost, and every tensor that it wrote.\v"
    "LESSON is an id of `lapenna-lab lesson list` or a path. --iterations N "
    "walks N of them.";

static enum lab_status print_step(struct lab_work *w, int index)
{
    return w->options->json ? lab_step_json(w, index)
                            : lab_step_text(w, index, stdout);
}

static enum lab_status walk(struct lab_work *w, int64_t iterations)
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
    if (!st && lab_counting_wanted(w))
        st = lab_counting_iteration(w);
    lab_walk_run_end(w->walk);
    if (!st)
        st = w->options->json ? lab_step_json_end(w)
                              : lab_step_text_end(w, stdout);
    return st;
}

int lab_cmd_step(int argc, char **argv)
{
    struct lab_options o;
    struct lab_work w;
    struct lab_run_summary summary;
    struct lab_recording_state kept;
    lab_options_init(&o);
    lab_options_parse(&o, argc, argv, "lapenna-lab step", "LESSON", doc);
    if (!o.lesson) {
        lab_warn("step: which LESSON? `lapenna-lab lesson list` shows them");
        return LAB_EXIT_USAGE;
    }
    if (o.ascii)
        lab_say_ascii(true);
    lab_signals_catch();
    enum lab_status st = lab_work_open(&w, &o, o.lesson);
    if (st)
        return lab_exit_error(st);
    lab_work_warn(&w);
    st = walk(&w, o.iterations > 0 ? o.iterations : 1);
    int code = st == LAB_E_CANCELLED ? LAB_EXIT_SIGNAL + lab_signals_caught()
                                     : lab_exit_error(st);
    lab_run_summary_init(&summary);
    summary.status = st == LAB_E_CANCELLED ? LAB_RUN_CANCELLED
                     : st                  ? LAB_RUN_FAILED
                                           : LAB_RUN_DONE;
    summary.iterations = lab_walk_iteration(w.walk) + 1;
    summary.loss_first = summary.loss_last = lab_walk_loss(w.walk);
    lab_work_finish(&w, &summary, &kept);
    lab_work_close(&w);
    return code;
}
