#include "training.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/text.h"
#include "counting.h"
#include "signals.h"

struct times {
    double *ms;
    size_t n;
    size_t room;
};

static enum lab_status keep_time(struct times *t, double ms)
{
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

static enum lab_status evaluate(struct lab_work *w,
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

static enum lab_status iterate(struct lab_work *w, struct times *times,
                               struct lab_training *out)
{
    int64_t start = lab_clock_monotonic_ns();
    enum lab_status st = lab_walk_iterate(w->walk);
    double ms = (double)(lab_clock_monotonic_ns() - start) / 1e6;
    if (st)
        return st;
    out->seconds += ms / 1e3;
    out->loss_last = lab_walk_loss(w->walk);
    if (out->iterations++ == 0)
        out->loss_first = out->loss_last;
    return keep_time(times, ms);
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

enum lab_status lab_training_run(struct lab_work *w, int64_t iterations,
                                 lab_training_fn *tell, void *user,
                                 struct lab_training *out)
{
    struct times times = {0};
    struct lab_data_facts facts;
    enum lab_status st = LAB_OK;
    bool evaluated = true;
    lab_training_init(out);
    lab_data_get_facts(lab_walk_data(w->walk), &facts);
    while (!st && out->iterations < iterations && !out->interrupted) {
        st = iterate(w, &times, out);
        /* The second iteration is a warm one, if there is a second. */
        if (!st && lab_counting_wanted(w) &&
            out->iterations == (iterations > 1 ? 2 : 1))
            st = lab_counting_iteration(w);
        if (!st)
            st = tell(user, lab_walk_iteration(w->walk), out->loss_last, NAN);
        evaluated =
            facts.batches_per_epoch > 0 &&
            (lab_walk_iteration(w->walk) + 1) % facts.batches_per_epoch == 0;
        if (!st && evaluated)
            st = evaluate(w, &facts, tell, user, out);
        out->interrupted = lab_signals_caught() != 0;
    }
    if (!st && !evaluated)
        st = evaluate(w, &facts, tell, user, out);
    if (!st && facts.text)
        st = lab_text_order3_bits(lab_data_text(lab_walk_data(w->walk)),
                                  &out->bits_order3);
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
