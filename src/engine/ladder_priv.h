/* ladder_priv.h -- what the files of the ladders share. */
#pragma once
#include "engine/ladder.h"

/* Random numbers of a tensor: those of a period, over and over. The period is
 * a prime, so that no row of a matrix is another one's. */
enum { LAB_LADDER_PERIOD = 1048573, LAB_LADDER_TENSORS = 3 };

struct lab_ladder_numbers {
    float *period; /* LAB_LADDER_PERIOD numbers in [-0.5, 0.5) */
};

/* The tensors of one size, on the device. */
struct lab_ladder_tensors {
    struct lab_backend *be;
    const struct lab_ladder *ladder;
    const struct lab_ladder_size *size;
    const struct lab_ladder_numbers *numbers;
    void *memory[LAB_LADDER_TENSORS]; /* with a guard before and after */
    struct lab_view view[LAB_LADDER_TENSORS];
    int n_in;
    int n_out;
};

/* An element of the result, in double, and the error that it may have. */
struct lab_ladder_element {
    double value;
    double allowed;
};

enum lab_status lab_ladder_numbers_make(struct lab_ladder_numbers *out,
                                        uint64_t seed);
void lab_ladder_numbers_release(struct lab_ladder_numbers *numbers);

enum lab_status lab_ladder_tensors_make(struct lab_ladder_tensors *t,
                                        struct lab_backend *be,
                                        const struct lab_ladder *ladder,
                                        const struct lab_ladder_size *size,
                                        const struct lab_ladder_numbers *n);
void lab_ladder_tensors_release(struct lab_ladder_tensors *t);
/* Inputs random, outputs full of NaN (saxpy's y random), guards marked. */
enum lab_status lab_ladder_tensors_fill(struct lab_ladder_tensors *t);
enum lab_status lab_ladder_tensors_run(struct lab_ladder_tensors *t,
                                       const struct lab_rung *rung);
/* Compares the result with the reference: all elements of a small one, 64 of a
 * large one; and looks whether the guards still stand. */
enum lab_status lab_ladder_tensors_compare(const struct lab_ladder_tensors *t,
                                           double *error);
struct lab_ladder_element lab_ladder_element(const struct lab_ladder *l,
                                             const struct lab_ladder_size *s,
                                             const struct lab_ladder_numbers *n,
                                             int64_t i);
/* dim[] of the tensor k (inputs first); returns the rank, 0: there is none. */
int lab_ladder_tensor_shape(const struct lab_ladder *l,
                            const struct lab_ladder_size *s, int k,
                            int64_t *dim);
