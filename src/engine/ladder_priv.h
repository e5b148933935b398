/* ladder_priv.h -- what the files of the ladders share. */
#pragma once
#include "engine/ladder.h"

/* Random numbers of a tensor: those of a period, over and over. The period is
 * a prime, so that no row of a matrix is another one's. */
enum { LAB_LADDER_PERIOD = 1048573 };

struct lab_ladder_numbers {
    /* LAB_LADDER_PERIOD numbers in [-0.5, 0.5), for each dtype that was wanted
     * so far. */
    void *period[LAB_DTYPE_COUNT];
    uint64_t seed;
};

/* The tensors of one size in one precision, on the device. */
struct lab_ladder_tensors {
    struct lab_backend *be;
    const struct lab_operation *operation;
    const struct lab_ladder_size *size;
    enum lab_precision precision;
    struct lab_ladder_numbers *numbers;
    struct lab_lab_tensor tensor[LAB_LAB_TENSORS];
    void *memory[LAB_LAB_TENSORS]; /* with a guard before and after */
    void *host[LAB_LAB_TENSORS];   /* what the operation's fill() made */
    struct lab_view view[LAB_LAB_TENSORS];
    int n; /* inputs first, then outputs, then scratch */
    int n_in;
    int n_out; /* with scratch */
};

enum lab_status lab_ladder_numbers_make(struct lab_ladder_numbers *out,
                                        uint64_t seed);
/* Makes the numbers of a dtype, where they are not there yet. */
enum lab_status lab_ladder_numbers_want(struct lab_ladder_numbers *n,
                                        enum lab_dtype dtype);
void lab_ladder_numbers_release(struct lab_ladder_numbers *numbers);

/* The operation's tensors; *count is checked against what their roles allow. */
enum lab_status lab_ladder_shapes(const struct lab_operation *op,
                                  const struct lab_ladder_size *size,
                                  enum lab_precision p,
                                  struct lab_lab_tensor *out, int *count);
/* Elements of a tensor, 0 when there are more than can be counted. */
int64_t lab_ladder_count(const struct lab_lab_tensor *t);

/* `size` and `n` have to stay. */
enum lab_status lab_ladder_tensors_make(struct lab_ladder_tensors *t,
                                        struct lab_backend *be,
                                        const struct lab_operation *op,
                                        const struct lab_ladder_size *size,
                                        enum lab_precision p,
                                        struct lab_ladder_numbers *n);
void lab_ladder_tensors_release(struct lab_ladder_tensors *t);
/* Inputs as they are said to be, outputs full of NaN, guards marked. */
enum lab_status lab_ladder_tensors_fill(struct lab_ladder_tensors *t);
/* What a launcher is called with. */
struct lab_call lab_ladder_tensors_call(const struct lab_ladder_tensors *t);
enum lab_status lab_ladder_tensors_run(struct lab_ladder_tensors *t,
                                       const struct lab_rung *rung);
enum lab_status lab_ladder_tensors_prepare(struct lab_ladder_tensors *t,
                                           const struct lab_rung *rung);
/* Gives back what `prepare` made. */
void lab_ladder_tensors_done(struct lab_ladder_tensors *t,
                             const struct lab_rung *rung);
/* Compares the results with the reference: all elements of a small one, 64 of a
 * large one; and looks whether the guards still stand. */
enum lab_status lab_ladder_tensors_compare(const struct lab_ladder_tensors *t,
                                           double *error);
