/* training.h -- training at speed from the command line: the training, its
 * lines of text, the counters of one of its iterations, and the text that the
 * network writes when it is over. Threads: the one that walks. */
#pragma once
#include "engine/generate.h"
#include "debug/lesson_run.h"

struct lab_training {
    int64_t iterations; /* done */
    double loss_first;
    double loss_last;
    double accuracy; /* held back, NaN none */
    /* Text: the same rows, by the network and by a model that counts which
     * characters follow which three (engine/text.h); NaN none. */
    double bits_per_char;
    double bits_order3;
    double seconds; /* of training, evaluations left out */
    /* Over `seconds`: the mean. Slow iterations (the first, those that are
     * recorded) make it less than batch / step_ms_median. */
    double samples_per_s;
    double step_ms_median; /* of an iteration */
    /* What iterations of which no step is observed spend outside their steps, and
     * between two; NaN: there are none, or the device runs them as graphs. */
    double host_pct;
    /* The iterations after the second, when all is loaded, measured and counted. */
    int64_t warm_iterations; /* LAB_UNKNOWN: nothing counts energy */
    int64_t warm_ns;         /* evaluations left out */
    double warm_energy_j;    /* NaN: too short for the counter */
    bool interrupted;        /* a signal came */
    bool stopped_early;      /* the patience was over */
    /* Where the walk went back to the best network: it is that of so many
     * iterations; 0: it has the last one. */
    int64_t network;
    struct lab_patience patience; /* validation: the lowest loss, and when */
    double test_accuracy; /* rows that are not for validation; NaN none */
    double test_loss;
};

/* Called after every iteration and every evaluation (accuracy not NaN); a
 * failure ends the training. */
typedef enum lab_status lab_training_fn(void *user, int64_t iteration,
                                        double loss, double accuracy);

/* Nothing done, nothing known. */
void lab_training_init(struct lab_training *t);
/* Trains `iterations` from the walk's position, evaluating at every epoch's
 * end and at the end. With early_stop the walk then has the network with the
 * lowest validation loss again, at the end of the iteration that made it, unless it
 * was interrupted, and the test is of that one. The result is also filled in on failure. */
enum lab_status lab_training_run(struct lab_lesson_run *w, int64_t iterations,
                                 lab_training_fn *tell, void *user,
                                 struct lab_training *out);
/* The lines that a training prints: one an epoch, or ten over the whole where
 * there are no epochs. */
struct lab_training_lines {
    struct lab_lesson_run *w;
    const char *indent;
    int64_t target;              /* iterations */
    struct lab_data_facts facts; /* of the data */
    double loss_sum;             /* of the epoch so far */
    int64_t n_losses;
};
/* `epochs`: 0 as many as the lesson has. */
void lab_training_lines_init(struct lab_training_lines *l,
                             struct lab_lesson_run *w, int64_t epochs,
                             const char *indent);
/* Does an iteration, or an evaluation (accuracy not NaN), have a line? */
bool lab_training_has_line(const struct lab_training_lines *l,
                           int64_t iteration, double accuracy);
/* A lab_training_fn of struct lab_training_lines: takes the loss in and prints the
 * line, where there is one. LAB_E_IO. */
enum lab_status lab_training_line(void *lines, int64_t iteration, double loss,
                                  double accuracy);
/* What came of it, when the walk's recording has been finished. */
void lab_training_text(const struct lab_lesson_run *w,
                       const struct lab_training *t);
/* Its figures as the run's summary for the database. */
void lab_training_summary(const struct lab_training *t, enum lab_status st,
                          struct lab_run_summary *out);
/* Counts every step of the iteration that has run to its end; prints on stderr
 * how long it took, and with --json a line for every kernel. A refusal in the
 * middle is a warning: the run goes on. */
enum lab_status lab_run_counters_iteration(struct lab_lesson_run *w);
/* *out stays NULL without --sample. Before a run is recorded, so that what
 * cannot be (no text, a prompt with characters that the text lacks) is reported at
 * once and leaves none.
 * Errors: those of lab_generator_new and lab_generator_begin. */
enum lab_status lab_sample_text_open(struct lab_generator **out,
                                     const struct lab_lesson_run *w);
/* Writes and prints the text, or a JSON line {"type":"sample"}. A signal ends
 * it early. LAB_E_IO, LAB_E_STATE, LAB_E_NOMEM. */
enum lab_status lab_sample_text_print(struct lab_generator *g,
                                      const struct lab_lesson_run *w,
                                      int64_t iterations);
