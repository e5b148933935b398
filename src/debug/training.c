#include "debug/training.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/text.h"
#include "report/exit.h"
#include "debug/run_counters.h"
#include "base/signals.h"

/* The times of iterations, for the median: all of them up to MOST_TIMES, then
 * those of every second, fourth ... iteration, never fewer than half of
 * MOST_TIMES. Its rank is then right to about half a percent. */
enum { MOST_TIMES = 65536 };
struct times {
    double *ms;
    size_t n;
    size_t room;
    int64_t seen;
    int64_t every;
};

static enum lab_status keep_time(struct times *t, double ms)
{
    if (t->every == 0)
        t->every = 1;
    if (t->seen++ % t->every != 0)
        return LAB_OK;
    if (t->n == MOST_TIMES) {
        t->n /= 2;
        for (size_t i = 0; i < t->n; i++)
            t->ms[i] = t->ms[2 * i];
        t->every *= 2;
    }
    if (t->n == t->room) {
        size_t room = t->room ? t->room * 2 : 1024;
        double *p = lab_realloc_array(t->ms, room, sizeof(*p));
        if (!p)
            return lab_fail(LAB_E_NOMEM, "no memory for the times");
        t->ms = p;
        t->room = room;
    }
    t->ms[t->n++] = ms;
    return LAB_OK;
}

static enum lab_status evaluate(struct lab_lesson_run *w,
                                const struct lab_data_facts *facts,
                                lab_training_fn *tell, void *user,
                                struct lab_training *out)
{
    double accuracy;
    double loss;
    enum lab_status st = lab_walk_evaluate(w->walk, &accuracy, &loss);
    if (st || isnan(accuracy))
        return st;
    out->accuracy = accuracy;
    out->bits_per_char = lab_data_bits(facts, loss);
    return tell(user, lab_walk_iteration(w->walk), loss, accuracy);
}

/* The losses that have come: those of iterations at speed come late. */
static enum lab_status take_news(struct lab_lesson_run *w, struct times *times,
                                 lab_training_fn *tell, void *user,
                                 struct lab_training *out)
{
    struct lab_iteration_progress n;
    enum lab_status st = LAB_OK;
    while (!st && lab_walk_poll(w->walk, &n)) {
        double ms = (double)(n.end_ns - n.start_ns) / 1e6;
        out->seconds += ms / 1e3;
        out->loss_last = n.loss;
        if (out->iterations++ == 0)
            out->loss_first = n.loss;
        st = keep_time(times, ms);
        if (!st)
            st = tell(user, n.iteration, n.loss, NAN);
    }
    return st;
}

static void say_no_graph(struct lab_lesson_run *w)
{
    const char *why = lab_walk_graph_refused(w->walk);
    if (why)
        lab_warn("the iterations go step by step, not as one CUDA graph: %s",
                 why);
}

void lab_training_init(struct lab_training *t)
{
    *t = (struct lab_training){.loss_first = NAN,
                               .loss_last = NAN,
                               .accuracy = NAN,
                               .bits_per_char = NAN,
                               .bits_order3 = NAN,
                               .samples_per_s = NAN,
                               .step_ms_median = NAN};
}

enum lab_status lab_training_run(struct lab_lesson_run *w, int64_t iterations,
                                 lab_training_fn *tell, void *user,
                                 struct lab_training *out)
{
    struct times times = {0};
    struct lab_data_facts facts;
    enum lab_status st = LAB_OK;
    bool evaluated = true;
    int64_t begun = 0;
    lab_training_init(out);
    lab_data_get_facts(lab_walk_data(w->walk), &facts);
    while (!st && begun < iterations && !out->interrupted) {
        st = lab_walk_iterate(w->walk);
        if (st == LAB_E_CANCELLED)
            break;
        begun++;
        say_no_graph(w);
        /* The second iteration is a warm one, if there is a second. */
        if (!st && lab_run_counters_wanted(w) &&
            begun == (iterations > 1 ? 2 : 1))
            st = lab_run_counters_iteration(w);
        evaluated =
            facts.batches_per_epoch > 0 &&
            (lab_walk_iteration(w->walk) + 1) % facts.batches_per_epoch == 0;
        out->interrupted = lab_signals_caught() != 0;
        bool last = begun == iterations || out->interrupted;
        if (!st && (evaluated || last))
            st = lab_walk_drain(w->walk);
        if (!st)
            st = take_news(w, &times, tell, user, out);
        if (!st && evaluated)
            st = evaluate(w, &facts, tell, user, out);
        out->interrupted = lab_signals_caught() != 0; /* it may have cut that */
    }
    if (st == LAB_E_CANCELLED) { /* what came before it is kept */
        out->interrupted = true;
        st = lab_walk_drain(w->walk);
        if (!st)
            st = take_news(w, &times, tell, user, out);
    }
    if (!st && !evaluated && !out->interrupted) {
        st = evaluate(w, &facts, tell, user, out);
        out->interrupted = st == LAB_E_CANCELLED;
        st = out->interrupted ? LAB_OK : st;
    }
    /* A text too long to be counted leaves the line to beat unknown. */
    if (!st && facts.text && !out->interrupted &&
        lab_text_order3_bits(lab_data_text(lab_walk_data(w->walk)),
                             &out->bits_order3))
        out->bits_order3 = NAN;
    out->step_ms_median = lab_median(times.ms, times.n);
    out->samples_per_s =
        out->seconds > 0
            ? (double)(out->iterations * w->plan->batch) / out->seconds
            : NAN;
    lab_free(times.ms);
    return st;
}

void lab_training_summary(const struct lab_training *t, enum lab_status st,
                          struct lab_run_summary *out)
{
    lab_run_summary_init(out);
    out->status = t->interrupted ? LAB_RUN_CANCELLED
                  : st           ? LAB_RUN_FAILED
                                 : LAB_RUN_DONE;
    out->iterations = t->iterations;
    out->loss_first = t->loss_first;
    out->loss_last = t->loss_last;
    out->accuracy = t->accuracy;
    out->samples_per_s = t->samples_per_s;
    if (!isnan(t->step_ms_median))
        out->iteration_median_ns = (int64_t)(t->step_ms_median * 1e6);
}
