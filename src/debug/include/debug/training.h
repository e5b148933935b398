/* training.h -- training at speed from the command line. Threads: one. */
#pragma once
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
    bool interrupted;      /* a signal came */
};

/* Told after every iteration and after every evaluation (accuracy not NaN);
 * a failure ends the training. */
typedef enum lab_status lab_training_fn(void *user, int64_t iteration,
                                        double loss, double accuracy);

/* Nothing done, nothing known. */
void lab_training_init(struct lab_training *t);
/* Trains `iterations` from where the walk stands, evaluating at every epoch's
 * end and at the end. The result is also filled in on failure. */
enum lab_status lab_training_run(struct lab_lesson_run *w, int64_t iterations,
                                 lab_training_fn *tell, void *user,
                                 struct lab_training *out);
/* Its figures as the run's summary for the database. */
void lab_training_summary(const struct lab_training *t, enum lab_status st,
                          struct lab_run_summary *out);
/* All of `run`: opens, trains, prints, records. Returns the exit code. */
int lab_run_lesson(const struct lab_options *o, const char *lesson);
