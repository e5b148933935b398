/* data_priv.h -- the table that the readers of the sources fill. */
#pragma once
#include "engine/data.h"

struct lab_samples {
    int64_t rows;
    int64_t features;
    int64_t steps;          /* > 0: a sequence, [steps, features / steps] */
    bool single;            /* of one number each: x is [N] */
    struct lab_shape image; /* of one sample, [H,W,C]; rank 0: not an image */
    float *x;               /* rows * features */
    int32_t *label;         /* NULL: targets */
    float *target;          /* NULL: labels; one number a row */
    int64_t classes;
    int64_t held_from; /* rows from here are held back by the source; 0: none */
};

void lab_samples_release(struct lab_samples *t);
/* Rows and features are set; takes the memory. */
enum lab_status lab_samples_alloc(struct lab_samples *t, bool labels,
                                  const char *file);

/* Takes `context` terms a sample; LAB_E_RANGE: too few or too many. */
enum lab_status lab_fibonacci_make(struct lab_samples *t,
                                   const struct lab_network_spec *spec);
/* *words is the caller's: lab_vocabulary_free(). */
enum lab_status lab_words_read(struct lab_samples *t,
                               struct lab_vocabulary **words,
                               const struct lab_network_spec *spec,
                               const char *path);
enum lab_status lab_digits_read(struct lab_samples *t, const char *path);
enum lab_status lab_mnist_read(struct lab_samples *t, const char *dir);
enum lab_status lab_csv_read(struct lab_samples *t,
                             const struct lab_data_spec *spec, const char *path,
                             bool labels);
