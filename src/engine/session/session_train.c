/* Training over many iterations, with cancel, curves and evaluation; and text
 * from the network, as it is at this moment. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/decode.h"
#include "engine/generate.h"
#include "engine/text.h"
#include "session_priv.h"

int64_t lab_train_iterations(const struct lab_network_spec *spec,
                             const struct lab_data_facts *facts, int64_t epochs,
                             int64_t iterations)
{
    enum { DEFAULT_ITERATIONS = 100, DEFAULT_EPOCHS = 10 };
    int64_t each = facts->batches_per_epoch > 0 ? facts->batches_per_epoch : 1;
    if (iterations > 0)
        return iterations;
    if (epochs > 0)
        return epochs > INT64_MAX / each ? INT64_MAX : epochs * each;
    if (spec->iterations > 0)
        return spec->iterations;
    if (spec->epochs > 0)
        return spec->epochs > INT64_MAX / each ? INT64_MAX
                                               : spec->epochs * each;
    return facts->batches_per_epoch > 0 ? DEFAULT_EPOCHS * each
                                        : DEFAULT_ITERATIONS;
}

static void keep_decoded(struct lab_session *s)
{
    struct lab_decoded decoded;
    struct lab_str text;
    lab_walk_decoded(s->walk, &decoded);
    s->exact = decoded.exact;
    lab_str_init(&text);
    for (int i = 0; lab_walk_decoded_example(s->walk, i, &text); i++)
        lab_str_add(&text, "\n");
    snprintf(s->decoded, sizeof(s->decoded), "%s", lab_str_text(&text));
    lab_str_release(&text);
}

/* Counting takes a moment and is of the text alone: once. */
static void keep_bits(struct lab_session *s, double loss)
{
    const struct lab_data *data = lab_walk_data(s->walk);
    struct lab_data_facts facts;
    lab_data_get_facts(data, &facts);
    if (!facts.text)
        return;
    s->bits_per_char = lab_data_bits(&facts, loss);
    lab_curve_add(&s->bits, lab_walk_iteration(s->walk), s->bits_per_char);
    if (s->bits_counted)
        return;
    s->bits_counted = true;
    /* A text too long to be counted leaves the line to beat unknown. */
    if (lab_text_order3_bits(lab_data_text(data), &s->bits_order3))
        s->bits_order3 = NAN;
}

static enum lab_status evaluate(struct lab_session *s)
{
    double accuracy;
    double loss;
    enum lab_status st = lab_walk_evaluate(s->walk, &accuracy, &loss);
    if (!st && !isnan(loss))
        lab_curve_add(&s->held, lab_walk_iteration(s->walk), loss);
    if (!st && !isnan(accuracy)) {
        s->accuracy = accuracy;
        keep_decoded(s);
        lab_curve_add(&s->accuracies, lab_walk_iteration(s->walk), accuracy);
        keep_bits(s, loss);
    }
    return st;
}

/* What an iteration that began as a walk has left to do. */
static enum lab_status finish_walked(struct lab_session *s)
{
    enum lab_status st = LAB_OK;
    while (!st && lab_walk_position(s->walk) > 0 && !lab_walk_at_end(s->walk)) {
        st = lab_walk_look_for_stop(s->walk);
        if (!st)
            st = lab_walk_step(s->walk);
    }
    return st;
}

/* The losses that have come: those of iterations at speed come late. */
static void take_news(struct lab_session *s)
{
    struct lab_iteration_progress n;
    while (lab_walk_poll(s->walk, &n)) {
        s->iteration_ms[s->n_iteration_ms++ % LAB_TIMES_KEPT] =
            (double)(n.end_ns - n.start_ns) / 1e6;
        lab_curve_add(&s->losses, n.iteration, n.loss);
    }
}

static void note_no_graph(struct lab_session *s)
{
    const char *why = lab_walk_graph_refused(s->walk);
    size_t used = strlen(s->notice);
    bool line = used > 0 && s->notice[used - 1] != '\n';
    if (why)
        snprintf(s->notice + used, sizeof(s->notice) - used,
                 "%sthe iterations go step by step, not as one CUDA graph: "
                 "%s\n",
                 line ? "\n" : "", why);
}

static enum lab_status one_iteration(struct lab_session *s, bool last)
{
    enum lab_status st = LAB_OK;
    /* The last one is walked, so that its steps can be looked at and undone. */
    if (last) {
        do {
            st = lab_walk_look_for_stop(s->walk);
            if (!st)
                st = lab_walk_step(s->walk);
        } while (!st && !lab_walk_at_end(s->walk));
    } else {
        st = lab_walk_iterate(s->walk);
        note_no_graph(s);
        /* Who waits for a certain loss hears of each before the next. */
        if (!st && s->n_breaks > 0)
            st = lab_walk_drain(s->walk);
    }
    take_news(s);
    if (!st && last) /* a walked one has another cost: no time of it */
        lab_curve_add(&s->losses, lab_walk_iteration(s->walk),
                      lab_walk_loss(s->walk));
    return st;
}

static bool epoch_ended(struct lab_session *s)
{
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(s->walk), &facts);
    return facts.held_rows > 0 && facts.batches_per_epoch > 0 &&
           (lab_walk_iteration(s->walk) + 1) % facts.batches_per_epoch == 0;
}

/* Within an iteration the walk stays before a step, as after any stop. */
static void say_stopped(struct lab_session *s)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    int at = lab_walk_position(s->walk);
    bool within = at > 0 && at < schedule->n_steps;
    snprintf(s->stop_reason, sizeof(s->stop_reason),
             "training stopped after %lld iteration%s%s%s",
             (long long)s->train_done, s->train_done == 1 ? "" : "s",
             within ? ", in the next one before " : "",
             within ? schedule->steps[at].step->name : "");
}

void lab_session_train(struct lab_session *s, const struct lab_command *c)
{
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(s->walk), &facts);
    s->state = LAB_SESSION_TRAINING;
    s->train_target = lab_train_iterations(&s->spec, &facts, 0, c->n);
    s->train_done = 0;
    s->n_iteration_ms = 0;
    s->train_start_ns = lab_clock_monotonic_ns();
    lab_session_publish(s);
    enum lab_status st = finish_walked(s);
    bool evaluated = false;
    while (!st && s->train_done < s->train_target) {
        st = lab_walk_look_for_stop(s->walk);
        if (!st)
            st = one_iteration(s, s->train_done + 1 == s->train_target);
        if (st)
            break;
        s->train_done++;
        evaluated = epoch_ended(s);
        if (evaluated)
            st = evaluate(s);
        if (!st && s->n_breaks > 0 && lab_session_loss_break(s))
            break;
        if (!st && lab_clock_monotonic_ns() - s->last_publish_ns > 30000000) {
            st = lab_walk_drain(s->walk); /* the snapshot shows the loss */
            take_news(s);
            s->serve_quick(s);
            lab_session_publish(s);
        }
    }
    if (!st || st == LAB_E_CANCELLED) {
        enum lab_status settled = lab_walk_drain(s->walk);
        st = settled ? settled : st;
    }
    take_news(s);
    if (!st && !evaluated)
        st = evaluate(s);
    if (st == LAB_E_CANCELLED)
        say_stopped(s);
    else if (st)
        lab_session_fail(s, st);
    else if (!s->stop_reason[0])
        snprintf(s->stop_reason, sizeof(s->stop_reason),
                 "trained %lld iteration%s", (long long)s->train_done,
                 s->train_done == 1 ? "" : "s");
}

/* ---- text from the network ---- */

enum { DEFAULT_CHARACTERS = 200, MOST_CHARACTERS = 100000 };

static enum lab_status write_on(struct lab_session *s, struct lab_generator *g,
                                int64_t n)
{
    const int64_t patience_ns = 50000000;
    enum lab_status st = LAB_OK;
    for (int64_t i = 0; i < n && !st && !atomic_load(&s->cancel); i++) {
        st = lab_generator_next(g, &s->sample);
        if (!st && s->sample.failed)
            st = lab_no_memory("the text");
        if (!st && lab_clock_monotonic_ns() - s->last_publish_ns > patience_ns)
            lab_session_publish(s);
    }
    return st;
}

/* Every text has a seed of its own, which follows from the lesson's. */
static enum lab_status draw(struct lab_session *s, const struct lab_command *c)
{
    struct lab_generator *g = NULL;
    struct lab_sampling how = {.temperature = c->value,
                               .top_k = c->top_k,
                               .seed = s->plan->seed + (uint64_t)s->samples};
    int64_t n = c->n > 0 ? c->n : DEFAULT_CHARACTERS;
    if (c->seed_given)
        how.seed = c->seed;
    if (n > MOST_CHARACTERS)
        return lab_fail(LAB_E_RANGE, "at most %d characters at a time",
                        MOST_CHARACTERS);
    enum lab_status st = lab_generator_new(&g, s->walk);
    if (!st)
        st = lab_generator_begin(g, c->text, &how);
    if (!st) {
        s->samples++;
        s->sample_iteration =
            lab_walk_iteration(s->walk) + lab_walk_at_end(s->walk);
        lab_str_release(&s->sample);
        lab_str_add(&s->sample, c->text);
        s->sampling = true;
        st = write_on(s, g, n);
        s->sampling = false;
    }
    lab_generator_free(g);
    return st;
}

void lab_session_sample(struct lab_session *s, const struct lab_command *c)
{
    int64_t start = lab_clock_monotonic_ns();
    enum lab_status st = draw(s, c);
    if (st)
        lab_session_fail(s, st);
    /* It is no part of the training that it interrupts. */
    s->train_start_ns += lab_clock_monotonic_ns() - start;
}
