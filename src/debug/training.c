/* Training at speed from the command line, the counters of an iteration of it,
 * and the text that the network writes afterwards. */
#include "debug/training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "base/clock.h"
#include "base/signals.h"
#include "base/format.h"
#include "base/mem.h"
#include "engine/machine_use.h"
#include "engine/text.h"

static void add_figures(json_t *line, const struct lab_counters *c)
{
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"counted_time_ns", c->time_ns},
        {"achieved_occupancy_pct", c->achieved_occupancy_pct},
        {"dram_read_bytes", c->dram_read_bytes},
        {"dram_write_bytes", c->dram_write_bytes},
        {"fp16_flop", c->fp16_flop},
        {"fp32_flop", c->fp32_flop},
        {"fp64_flop", c->fp64_flop},
        {"tensor_flop", c->tensor_flop},
        {"ipc", c->ipc},
        {"tensor_active_pct", c->tensor_active_pct},
        {"sm_pct", c->sm_pct},
        {"memory_pct", c->memory_pct},
        {"dram_pct", c->dram_pct},
        {"l1_hit_pct", c->l1_hit_pct},
        {"l2_hit_pct", c->l2_hit_pct},
        {"sectors_per_load", c->sectors_per_load},
        {"sectors_per_store", c->sectors_per_store},
    };
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        lab_json_real(line, figures[i].name, figures[i].value);
}

/* The kernels of one step; those that the window has lost are left out. */
static enum lab_status print_step(struct lab_lesson_run *w, int index)
{
    const struct lab_schedule_step *s =
        &lab_walk_schedule(w->walk)->steps[index];
    struct lab_live *live = lab_recording_live(w->recording);
    struct lab_counters c;
    enum lab_status st = LAB_OK;
    int64_t exec;
    int64_t ns;
    lab_walk_step_status(w->walk, index, &exec, &ns);
    for (int64_t k = 0; !st && lab_live_counters(live, exec, k, &c); k++) {
        json_t *line = lab_json_new("counters");
        lab_json_int(line, "index", index);
        lab_json_int(line, "iteration", lab_walk_iteration(w->walk));
        lab_json_text(line, "name", s->step->name);
        lab_json_text(line, "phase", lab_phase_name(s->step->phase));
        lab_json_text(line, "variant", s->variant->name);
        lab_json_int(line, "kernel", k);
        lab_json_real(line, "flop", s->step->flop);
        lab_json_real(line, "bytes", s->step->bytes);
        add_figures(line, &c);
        st = lab_json_print(line);
    }
    return st;
}

enum lab_status lab_run_counters_iteration(struct lab_lesson_run *w)
{
    struct lab_counted counted;
    int n = lab_walk_schedule(w->walk)->n_steps;
    if (lab_recording_count(w->recording, w->walk, 0, n, &counted)) {
        lab_warn("%s", lab_error());
        return LAB_OK;
    }
    lab_warn("counted iteration %lld on %s: %lld kernels, %d counters in %d "
             "passes, %s",
             (long long)lab_walk_iteration(w->walk), counted.chip,
             (long long)counted.kernels, counted.metrics, counted.passes,
             LAB_NS_TEXT((double)counted.wall_ns));
    enum lab_status st = LAB_OK;
    for (int i = 0; i < n && w->options->json && !st; i++)
        st = print_step(w, i);
    return st;
}

static struct lab_sampling sampling_of(const struct lab_lesson_run *w)
{
    return (struct lab_sampling){.temperature = w->options->temperature,
                                 .top_k = w->options->top_k,
                                 .seed = w->plan->seed};
}

enum lab_status lab_sample_text_open(struct lab_generator **out,
                                     const struct lab_lesson_run *w)
{
    struct lab_generator *g = NULL;
    struct lab_sampling how = sampling_of(w);
    if (w->options->sample == 0)
        return LAB_OK;
    enum lab_status st = lab_generator_new(&g, w->walk);
    if (!st)
        st = lab_generator_begin(g, w->options->prompt, &how);
    if (st)
        lab_generator_free(g);
    else
        *out = g;
    return st;
}

static enum lab_status print_json(const struct lab_lesson_run *w,
                                  const char *text, int64_t iterations)
{
    const struct lab_options *o = w->options;
    json_t *line = lab_json_new("sample");
    lab_json_int(line, "iterations", iterations);
    lab_json_uint(line, "seed", w->plan->seed);
    lab_json_real(line, "temperature", o->temperature);
    lab_json_int(line, "top_k", o->top_k > 0 ? o->top_k : LAB_UNKNOWN);
    lab_json_text(line, "prompt", o->prompt);
    lab_json_text(line, "text", text);
    return lab_json_print(line);
}

static enum lab_status print_text(const struct lab_lesson_run *w,
                                  const char *text, int64_t iterations)
{
    lab_printf(stdout,
               "\nwritten after %lld iteration%s, temperature %g:\n\n%s\n",
               (long long)iterations, iterations == 1 ? "" : "s",
               w->options->temperature, text);
    return lab_print_check();
}

enum lab_status lab_sample_text_print(struct lab_generator *g,
                                      const struct lab_lesson_run *w,
                                      int64_t iterations)
{
    struct lab_sampling how = sampling_of(w);
    struct lab_str text;
    lab_str_init(&text);
    lab_str_add(&text, w->options->prompt);
    enum lab_status st = lab_generator_begin(g, w->options->prompt, &how);
    for (int64_t i = 0; i < w->options->sample && !st && !lab_signals_caught();
         i++)
        st = lab_generator_next(g, &text);
    if (!st && text.failed)
        st = lab_no_memory("the text");
    if (!st)
        st = w->options->json ? print_json(w, lab_str_text(&text), iterations)
                              : print_text(w, lab_str_text(&text), iterations);
    lab_str_release(&text);
    return st;
}

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
    int64_t last_ns;  /* the end of the last iteration; 0: other work since */
    int64_t steps_ns; /* of timed iterations that were not observed, */
    int64_t unobserved_ns; /* and they in whole */
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
    if (lab_grow(&t->ms, t->n, &t->room, sizeof(*t->ms), "the times"))
        return LAB_E_NOMEM;
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
    if (!st && facts->held_rows > 0)
        out->stopped_early = lab_patience_ends(
            &out->patience, lab_walk_iteration(w->walk), loss);
    if (!st && out->patience.most > 0 && out->patience.since == 0 &&
        !isnan(out->patience.best))
        lab_walk_set_mark(w->walk, 0);
    if (st || isnan(accuracy))
        return st;
    out->accuracy = accuracy;
    out->bits_per_char = lab_data_bits(facts, loss);
    return tell(user, lab_walk_iteration(w->walk), loss, accuracy);
}

/* The network of the file that the training goes on from may be the best one, too. */
static enum lab_status evaluate_first(struct lab_lesson_run *w,
                                      struct lab_training *out)
{
    double accuracy;
    double loss;
    enum lab_status st = lab_walk_evaluate(w->walk, &accuracy, &loss);
    if (st || isnan(loss))
        return st;
    (void)lab_patience_ends(&out->patience, lab_walk_first(w->walk) - 1, loss);
    lab_walk_set_mark(w->walk, 0);
    return LAB_OK;
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
        int64_t start_ns = times->last_ns > 0 ? times->last_ns : n.start_ns;
        times->last_ns = n.end_ns;
        if (n.steps_ns >= 0) {
            times->steps_ns += n.steps_ns;
            times->unobserved_ns += n.end_ns - start_ns - n.readings_ns;
        }
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

static void report_no_graph(struct lab_lesson_run *w)
{
    const char *why = lab_walk_graph_refused(w->walk);
    if (why)
        lab_warn("the iterations go step by step, not as one CUDA graph: %s",
                 why);
}

/* ---- the energy of iterations ----
 * Of those after the second: the first loads libraries and kernels, and counters
 * replay the second. The counter is read twice, before them and after them. */

struct warm {
    double energy_j; /* by the counter, where they begin; NaN: no counter */
    int64_t start_ns;
    int64_t done;          /* iterations before them */
    int64_t evaluating_ns; /* in between */
};

static void warm_begin(struct lab_lesson_run *w, int64_t done,
                       struct warm *warm)
{
    *warm = (struct warm){.energy_j = lab_recording_energy(w->recording),
                          .done = done,
                          .start_ns = lab_clock_monotonic_ns()};
}

/* An evaluation's energy is not an iteration's: it is taken as the mean power over
 * its time. Any less than LAB_ENERGY_LEAST_NS of them is too short for the counter. */
static void warm_end(struct lab_lesson_run *w, const struct warm *warm,
                     struct lab_training *out)
{
    double counted_j = lab_recording_energy(w->recording);
    int64_t span_ns = lab_clock_monotonic_ns() - warm->start_ns;
    if (isnan(counted_j))
        return;
    bool begun = !isnan(warm->energy_j);
    out->warm_iterations = begun ? out->iterations - warm->done : 0;
    out->warm_ns = begun ? span_ns - warm->evaluating_ns : 0;
    if (out->warm_iterations > 0 && out->warm_ns >= LAB_ENERGY_LEAST_NS)
        out->warm_energy_j = (counted_j - warm->energy_j) *
                             (double)out->warm_ns / (double)span_ns;
}

void lab_training_init(struct lab_training *t)
{
    *t = (struct lab_training){.loss_first = NAN,
                               .loss_last = NAN,
                               .accuracy = NAN,
                               .bits_per_char = NAN,
                               .bits_order3 = NAN,
                               .samples_per_s = NAN,
                               .test_accuracy = NAN,
                               .test_loss = NAN,
                               .step_ms_median = NAN,
                               .host_pct = NAN,
                               .warm_iterations = LAB_UNKNOWN,
                               .warm_ns = LAB_UNKNOWN,
                               .warm_energy_j = NAN};
    lab_patience_init(&t->patience, 0);
}

enum lab_status lab_training_run(struct lab_lesson_run *w, int64_t iterations,
                                 lab_training_fn *tell, void *user,
                                 struct lab_training *out)
{
    enum { COLD = 2 };
    struct times times = {0};
    struct warm warm = {.energy_j = NAN};
    struct lab_data_facts facts;
    enum lab_status st = LAB_OK;
    bool evaluated = true;
    int64_t begun = 0;
    lab_training_init(out);
    lab_patience_init(&out->patience, w->spec.early_stop);
    lab_data_get_facts(lab_walk_data(w->walk), &facts);
    if (out->patience.most > 0 && facts.held_rows > 0 &&
        lab_walk_first(w->walk) > 0)
        st = evaluate_first(w, out);
    while (!st && begun < iterations && !out->interrupted &&
           !out->stopped_early) {
        st = lab_walk_iterate(w->walk);
        if (st == LAB_E_CANCELLED)
            break;
        begun++;
        report_no_graph(w);
        /* The second iteration is a warm one, if there is a second. */
        if (!st && lab_recording_counts(w->recording) &&
            begun == (iterations > 1 ? 2 : 1))
            st = lab_run_counters_iteration(w);
        evaluated =
            facts.batches_per_epoch > 0 &&
            (lab_walk_iteration(w->walk) + 1) % facts.batches_per_epoch == 0;
        out->interrupted = lab_signals_caught() != 0;
        bool last = begun == iterations || out->interrupted;
        bool warms = begun == COLD && !last &&
                     !isnan(lab_recording_energy(w->recording));
        if (!st && (evaluated || last || warms))
            st = lab_walk_drain(w->walk);
        if (!st)
            st = take_news(w, &times, tell, user, out);
        if (!st && evaluated) {
            int64_t start_ns = lab_clock_monotonic_ns();
            st = evaluate(w, &facts, tell, user, out);
            warm.evaluating_ns += lab_clock_monotonic_ns() - start_ns;
            times.last_ns = 0;
        }
        if (!st && warms)
            warm_begin(w, out->iterations, &warm);
        out->interrupted = lab_signals_caught() != 0; /* it may have cut that */
    }
    if (st == LAB_E_CANCELLED) { /* what came before it is kept */
        out->interrupted = true;
        st = lab_walk_drain(w->walk);
        if (!st)
            st = take_news(w, &times, tell, user, out);
    }
    if (!st)
        warm_end(w, &warm, out);
    if (!st && !evaluated && !out->interrupted) {
        st = evaluate(w, &facts, tell, user, out);
        out->interrupted = st == LAB_E_CANCELLED;
        st = out->interrupted ? LAB_OK : st;
        out->stopped_early = false; /* it is over anyway */
    }
    if (!st && !out->interrupted && out->patience.most > 0 &&
        !isnan(out->patience.best) &&
        out->patience.best_iteration < lab_walk_iteration(w->walk)) {
        double loss;
        st = lab_walk_to_mark(w->walk, 0);
        if (!st)
            out->network = out->patience.best_iteration + 1;
        if (!st)
            st = lab_walk_evaluate(w->walk, &out->accuracy, &loss);
        if (!st)
            out->bits_per_char = lab_data_bits(&facts, loss);
    }
    if (!st && !out->interrupted)
        st = lab_walk_test(w->walk, &out->test_accuracy, &out->test_loss);
    if (st == LAB_E_CANCELLED) {
        out->interrupted = true;
        st = LAB_OK;
    }
    /* A text too long to be counted leaves the line to beat unknown. */
    if (!st && facts.text && !out->interrupted &&
        lab_text_order3_bits(lab_data_text(lab_walk_data(w->walk)),
                             &out->bits_order3))
        out->bits_order3 = NAN;
    bool timed = !lab_walk_backend(w->walk)->untimed;
    out->step_ms_median = timed ? lab_median(times.ms, times.n) : NAN;
    out->host_pct =
        timed && times.unobserved_ns > 0
            ? 100 - 100 * (double)times.steps_ns / (double)times.unobserved_ns
            : NAN;
    out->samples_per_s =
        timed && out->seconds > 0
            ? (double)(out->iterations * w->plan->batch) / out->seconds
            : NAN;
    lab_free(times.ms);
    return st;
}

void lab_training_lines_init(struct lab_training_lines *l,
                             struct lab_lesson_run *w, int64_t epochs,
                             const char *indent)
{
    *l = (struct lab_training_lines){.w = w, .indent = indent};
    lab_data_get_facts(lab_walk_data(w->walk), &l->facts);
    l->target = lab_train_iterations(&w->spec, &l->facts, epochs,
                                     w->options->iterations);
}

bool lab_training_has_line(const struct lab_training_lines *l,
                           int64_t iteration, double accuracy)
{
    int64_t tenth = l->target / 10 > 0 ? l->target / 10 : 1;
    return !isnan(accuracy) ||
           (l->facts.batches_per_epoch == 0 && (iteration + 1) % tenth == 0);
}

static void report_exact(const struct lab_lesson_run *w)
{
    struct lab_decoded decoded;
    lab_walk_decoded(w->walk, &decoded);
    if (!isnan(decoded.exact))
        lab_printf(stdout, ", %.2f %% of the strings exact",
                   100 * decoded.exact);
}

/* Where it is another one in each iteration. */
static void report_rate(const struct lab_training_lines *l, int64_t iteration)
{
    if (lab_rate_changes(&l->w->plan->rate))
        lab_printf(stdout, "  learning rate %.4g",
                   lab_walk_rate(l->w->walk, iteration));
    lab_printf(stdout, "\n");
}

static void report_epoch(const struct lab_training_lines *l, int64_t iteration,
                         double loss, double accuracy)
{
    int64_t each = l->facts.batches_per_epoch;
    /* The training may end within one. */
    int64_t epoch = each > 0 ? iteration / each + 1 : 0;
    bool whole = each > 0 && (iteration + 1) % each == 0;
    char name[64];
    snprintf(name, sizeof(name), "epoch %lld", (long long)epoch);
    if (!whole)
        snprintf(name, sizeof(name), "iteration %lld, in epoch %lld",
                 (long long)iteration + 1, (long long)epoch);
    lab_printf(stdout,
               "%s%-8s  mean loss %-9s  validation: loss %-9s  "
               "accuracy %.2f %%",
               l->indent, name,
               LAB_DIGITS_TEXT(l->loss_sum / (double)l->n_losses, 6),
               LAB_DIGITS_TEXT(loss, 6), 100 * accuracy);
    double bits = lab_data_bits(&l->facts, loss);
    if (!isnan(bits))
        lab_printf(stdout, ", %.4f bits a character", bits);
    report_exact(l->w);
    report_rate(l, iteration);
}

enum lab_status lab_training_line(void *lines, int64_t iteration, double loss,
                                  double accuracy)
{
    struct lab_training_lines *l = lines;
    bool evaluation = !isnan(accuracy);
    if (evaluation)
        report_epoch(l, iteration, loss, accuracy);
    else if (lab_training_has_line(l, iteration, accuracy)) {
        lab_printf(stdout, "%siteration %lld  loss %s", l->indent,
                   (long long)iteration + 1, LAB_DIGITS_TEXT(loss, 6));
        report_rate(l, iteration);
    }
    l->loss_sum = evaluation ? 0 : l->loss_sum + loss;
    l->n_losses = evaluation ? 0 : l->n_losses + 1;
    return lab_print_check();
}

/* Held-back strings, as they were read and as they came out. */
static void report_examples(const struct lab_lesson_run *w)
{
    struct lab_str text;
    lab_str_init(&text);
    for (int i = 0; lab_walk_decoded_example(w->walk, i, &text); i++) {
        lab_printf(stdout, "  %s\n", lab_str_text(&text));
        lab_str_clear(&text);
    }
    lab_str_release(&text);
}

static void report_trace_cost(const struct lab_lesson_run *w, double seconds)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_recording_trace_cost(w->recording, seconds, &text);
    if (text.len)
        lab_printf(stdout, "tracing cost %s\n", lab_str_text(&text));
    lab_str_release(&text);
}

/* N = size / batches, and the loss of the sets that do not train. */
static void report_sets(const struct lab_lesson_run *w,
                        const struct lab_training *t)
{
    struct lab_data_facts f;
    lab_data_get_facts(lab_walk_data(w->walk), &f);
    if (f.valid_rows > 0)
        lab_printf(
            stdout,
            "an epoch is %lld batches of %lld: %lld rows train, %lld are "
            "for validation, %lld for the test\n",
            (long long)f.batches_per_epoch, (long long)f.batch,
            (long long)f.train_rows, (long long)f.valid_rows,
            (long long)(f.held_rows - f.valid_rows));
    if (!isnan(t->test_accuracy))
        lab_printf(stdout, "test: loss %s, accuracy %.2f %%\n",
                   LAB_DIGITS_TEXT(t->test_loss, 6), 100 * t->test_accuracy);
    else if (!isnan(t->test_loss))
        lab_printf(stdout, "test: loss %.6g\n", t->test_loss);
    if (w->spec.early_stop > 0 && !isnan(t->patience.best))
        lab_printf(
            stdout,
            "%svalidation loss was lowest, %.6g, after %lld iterations%s\n",
            t->stopped_early ? "stopped early: the " : "the ", t->patience.best,
            (long long)t->patience.best_iteration + 1,
            t->network > 0 ? ": that network is tested and kept" : "");
}

void lab_training_text(const struct lab_lesson_run *w,
                       const struct lab_training *t)
{
    const char *trace =
        lab_trace_state_text(lab_recording_trace_state(w->recording));
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(w->walk), &facts);
    struct lab_decoded decoded;
    lab_walk_decoded(w->walk, &decoded);
    lab_printf(stdout, "%s%lld iteration%s on %s (%s): loss %s -> %s",
               t->interrupted ? "stopped after " : "", (long long)t->iterations,
               t->iterations == 1 ? "" : "s",
               lab_walk_backend(w->walk)->ops->name, w->device.name,
               LAB_DIGITS_TEXT(t->loss_first, 6),
               LAB_DIGITS_TEXT(t->loss_last, 6));
    if (!isnan(t->accuracy))
        lab_printf(stdout, ", validation accuracy %.2f %% of %s",
                   100 * t->accuracy,
                   !isnan(t->bits_per_char) ? "characters"
                   : isnan(decoded.exact)   ? "rows"
                                            : "symbols");
    if (!isnan(t->bits_per_char))
        lab_printf(stdout,
                   "\nvalidation: %.4f bits a character; counting what follows "
                   "three characters: %.4f",
                   t->bits_per_char, t->bits_order3);
    report_exact(w);
    lab_printf(stdout, "\n");
    report_sets(w, t);
    report_examples(w);
    if (!isnan(t->samples_per_s)) {
        double ns = t->step_ms_median * 1e6;
        lab_print_wrap(lab_print_columns(), 0);
        lab_printf(stdout,
                   "%.0f samples/s on average, %s an iteration (median)",
                   t->samples_per_s, LAB_NS_TEXT(ns));
        if (facts.batches_per_epoch > 0)
            lab_printf(stdout, ", %s an epoch (%lld iteration%s)",
                       LAB_NS_TEXT(ns * (double)facts.batches_per_epoch),
                       (long long)facts.batches_per_epoch,
                       facts.batches_per_epoch == 1 ? "" : "s");
        lab_printf(stdout, "%s%s\n", *trace ? ", timed " : "", trace);
        lab_print_wrap(0, 0);
    }
    report_trace_cost(w, t->seconds);
}

void lab_training_summary(const struct lab_training *t, enum lab_status st,
                          struct lab_run_summary *out)
{
    lab_run_summary_init(out);
    out->status = t->interrupted ? LAB_RUN_CANCELLED : lab_run_ended(st);
    out->iterations = t->iterations;
    out->loss_first = t->loss_first;
    out->loss_last = t->loss_last;
    out->accuracy = t->accuracy;
    out->samples_per_s = t->samples_per_s;
    out->warm_iterations = t->warm_iterations;
    out->warm_ns = t->warm_ns;
    out->warm_energy_j = t->warm_energy_j;
    if (!isnan(t->step_ms_median))
        out->iteration_median_ns = (int64_t)(t->step_ms_median * 1e6);
}
