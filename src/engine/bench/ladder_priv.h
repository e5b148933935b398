/* ladder_priv.h -- what the files of the ladders share. */
#pragma once
#include "engine/ladder.h"

/* Random numbers of a tensor: those of a period, over and over. The period is
 * a prime, so that no row of a matrix is another one's. */
enum { LAB_LADDER_PERIOD = 1048573 };

struct lab_ladder_numbers {
    /* LAB_LADDER_PERIOD numbers, drawn from [-0.5, 0.5) with 53 bits and then
     * rounded to the dtype, for each that was wanted so far. */
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
    struct lab_exec *exec; /* of the last run, for the rung's note */
    struct lab_bench_tensor tensor[LAB_BENCH_TENSORS];
    void *memory[LAB_BENCH_TENSORS]; /* with a guard before and after */
    void *host[LAB_BENCH_TENSORS];   /* what the operation's fill() made */
    struct lab_view view[LAB_BENCH_TENSORS];
    int n; /* inputs first, then outputs, then scratch */
    int n_in;
    int n_out; /* with scratch */
    /* Of the last comparison: errors in the operation's scale. */
    double error_squares;
    int64_t n_errors;
};

enum lab_status lab_ladder_numbers_make(struct lab_ladder_numbers *out,
                                        uint64_t seed);
/* Makes the numbers of a dtype, where they are not there yet. */
enum lab_status lab_ladder_numbers_want(struct lab_ladder_numbers *n,
                                        enum lab_dtype dtype);
void lab_ladder_numbers_release(struct lab_ladder_numbers *numbers);
struct lab_ladder_tensors;
/* The inputs as the reference sees them. */
struct lab_bench_numbers
lab_ladder_numbers_of(const struct lab_ladder_tensors *t);

/* The operation's tensors; *count is checked against what their roles allow. */
enum lab_status lab_ladder_shapes(const struct lab_operation *op,
                                  const struct lab_ladder_size *size,
                                  enum lab_precision p,
                                  struct lab_bench_tensor *out, int *count);
/* Elements of a tensor, 0 when there are more than can be counted. */
int64_t lab_ladder_count(const struct lab_bench_tensor *t);

/* Memory that the size takes, before anybody is asked for it: a host that
 * promises more than it has ends the program later. Copies of inputs lie on the
 * host, which for a processor's lab is where its tensors are. LAB_E_NOMEM. */
enum lab_status lab_ladder_has_room(const struct lab_backend *be,
                                    const struct lab_device_info *info,
                                    const struct lab_operation *op,
                                    const struct lab_ladder_size *s,
                                    enum lab_precision p);
/* `size` and `n` have to stay. */
enum lab_status lab_ladder_tensors_make(struct lab_ladder_tensors *t,
                                        struct lab_backend *be,
                                        const struct lab_operation *op,
                                        const struct lab_ladder_size *size,
                                        enum lab_precision p,
                                        struct lab_ladder_numbers *n);
void lab_ladder_tensors_release(struct lab_ladder_tensors *t);
/* Inputs as the operation describes them, outputs full of NaN, guards
 * marked. */
enum lab_status lab_ladder_tensors_fill(struct lab_ladder_tensors *t);
/* What a launcher is called with. */
struct lab_call lab_ladder_tensors_call(const struct lab_ladder_tensors *t);
enum lab_status lab_ladder_tensors_run(struct lab_ladder_tensors *t,
                                       const struct lab_variant *rung);
enum lab_status lab_ladder_tensors_prepare(struct lab_ladder_tensors *t,
                                           const struct lab_variant *rung);
/* Gives back what `prepare` made. */
void lab_ladder_tensors_done(struct lab_ladder_tensors *t,
                             const struct lab_variant *rung);
/* Compares the results with the reference: all elements of a small one, 64 of a
 * large one; and looks whether the guards still stand. */
enum lab_status lab_ladder_tensors_compare(struct lab_ladder_tensors *t,
                                           double *error);

/* Runs a rung that is wrong on purpose once, and counts the elements of its
 * first result that are wrong, of the first LAB_LADDER_COUNTED at most. Returns
 * LAB_E_CHECK, with what was found in the row and in the detail, also when
 * nothing was; another status when it could not be run. */
enum { LAB_LADDER_COUNTED = 1 << 20 };
enum lab_status lab_ladder_show_wrong(struct lab_ladder_tensors *t,
                                      struct lab_ladder_row *row);
