/* engine/ladder.h -- one operation in several ways, checked and then timed.
 *
 * A ladder is an operation (kernels/labs/operation.h), a variant one kernel of it
 * (kernels/common/kernel.h). A variant is first compared with a reference in
 * double on small odd shapes, those that it refuses left out; one that is
 * wrong, or that refuses them all, is never timed. Then, for each size: random
 * inputs, outputs full of NaN, warm-up left out, caches emptied before every
 * repeat, and some elements of the result compared with the reference again,
 * before the first repeat.
 *
 * A simulated backend has no times: a variant is checked, run once at each size and
 * compared, and its row has values and no repeats.
 *
 * A variant that is wrong on purpose is neither checked nor timed: it is run once
 * at each size, and its row states how much of its result is wrong.
 *
 * What is unknown is NaN. Threads: one at a time a backend. */
#pragma once
#include "engine/machine_use.h"
#include "labs/operation.h"
#include "common/kernel.h"

enum {
    LAB_LADDER_REPEATS_MIN = 20,
    LAB_LADDER_REPEATS_MAX = 1000,
    LAB_LADDER_TEXT = 512
};

struct lab_ladder_size {
    int64_t dim[LAB_BENCH_DIMS]; /* 1 past the operation's */
    char text[96];               /* as a person writes it: "4096", "100x20" */
};

/* What a machine can do at best, and so what a model reckons with. */
struct lab_ladder_machine {
    struct lab_device_info info;
    double copy_bytes_s; /* measured in this run; NaN: refused */
    /* Measured: the vendor's product in each precision, in fp32 multiply-adds
     * in registers where they are faster; NaN: not asked for, or there is
     * none. */
    double flops[LAB_PRECISION_COUNT];
    bool fp32_by_fma;
    size_t flush_bytes; /* twice as many are read before each repeat */
};

struct lab_ladder_row {
    const struct lab_variant *variant;
    const struct lab_variant *ran; /* `variant`, or its candidate */
    struct lab_ladder_size size;
    enum lab_status status; /* LAB_OK: timed */
    char reason[LAB_LADDER_TEXT];
    double check_error;  /* largest error / what is allowed, odd shapes */
    double sample_error; /* the same at this size */
    double error; /* as the operation's error_is has it; NaN: it has none */
    int repeats;
    double *ns; /* of each repeat, in their order; valid during the call */
    double min_ns;
    double quarter_ns;
    double median_ns;
    double three_quarters_ns;
    double max_ns;
    double flop;
    double bytes;   /* that the problem needs */
    double traffic; /* bytes that the variant reads and writes by its model */
    double rate;    /* FLOP/s, B/s, or seconds an item, of the median */
    double rate_model; /* by the model, which knows no cache */
    double gain; /* over the last variant that was timed, not a library's */
    double gain_model; /* that the variant's idea promises, or the model */
    double share;      /* of the ceiling of its precision that was measured */
    struct lab_variant_note note;
    /* Of a variant that is wrong on purpose: elements that are wrong, of those
     * that were compared; its status is LAB_E_CHECK. Else 0. */
    int64_t wrong;
    int64_t compared;
    struct lab_device_state before;
    struct lab_device_state after;
};

/* Queues the variant once more each time it is called. */
typedef enum lab_status lab_ladder_again_fn(void *launch);
typedef enum lab_status
lab_ladder_look_fn(void *user, lab_ladder_again_fn *again, void *launch);

struct lab_ladder_run {
    struct lab_backend *backend;
    const struct lab_operation *ladder;
    const struct lab_ladder_machine *machine;
    const struct lab_variant *const *variants;
    int n_variants;
    const struct lab_ladder_size *sizes;
    int n_sizes;
    int repeats;
    bool once; /* no repeats: the first run is compared and timed */
    uint64_t seed;
    /* The row that is run for a tuned variant at a size, with a word in `note`;
     * NULL, or no function: the variant itself. */
    const struct lab_variant *(*resolve_tuned)(
        void *user, const struct lab_variant *tuned,
        const struct lab_ladder_size *size, struct lab_variant_note *note);
    /* Every row when it is there; another status than LAB_OK ends the climb. */
    enum lab_status (*row)(void *user, const struct lab_ladder_row *row);
    bool (*stop)(
        void *user); /* asked between variants and repeats; may be NULL */
    /* What comes next: the check of a variant (size NULL), or its times at a size.
     * May be NULL. */
    void (*doing)(void *user, const struct lab_variant *variant,
                  const struct lab_ladder_size *size);
    /* Does the one run of a variant at a size where nothing is timed, a simulation:
     * calls again(launch) once. May be NULL. */
    lab_ladder_look_fn *look;
    /* A variant's check or run has failed, and the backend has nothing else done
     * since. May be NULL. */
    void (*failed)(void *user, const struct lab_variant *variant,
                   enum lab_status status);
    void *user;
};

LAB_C_BEGIN
/* LAB_E_NOTFOUND: the detail has the nearest name or all of them. */
enum lab_status lab_ladder_find(const char *name,
                                const struct lab_operation **out);
/* One size as it is written, "4096" or "4096x2048x512"; one number represents
 * all dimensions. LAB_E_USAGE: 0, negative, not a number, too many, or a size
 * that has no meaning for the operation. */
enum lab_status lab_ladder_size(const struct lab_operation *ladder,
                                const char *text, size_t bytes,
                                struct lab_ladder_size *out);
/* Its operations, or where they are more the numbers that it moves: what a
 * simulation of it costs. */
double lab_ladder_work(const struct lab_operation *l,
                       const struct lab_ladder_size *s);
/* Memory that the tensors of a size take; host: that of the host beside them,
 * copies of the inputs that the operation fills. 0 when that is more than can be
 * counted. */
size_t lab_ladder_memory(const struct lab_operation *l,
                         const struct lab_ladder_size *s, enum lab_precision p,
                         bool host);
/* The unit of a rate: "FLOP/s", "B/s", "s/access". */
void lab_ladder_unit(const struct lab_operation *l, char *out, size_t size);

/* Sizes that a tuning counts for together: the geometric mean of the sides,
 * rounded to a power of two: "~2048". */
void lab_ladder_size_class(const struct lab_operation *l,
                           const struct lab_ladder_size *s, char *out,
                           size_t bytes);

/* The backend's variants of a ladder, candidates left out; with `tuned` the
 * candidates of that variant. At most `max`; returns how many. */
int lab_ladder_variants(struct lab_backend *be, const struct lab_operation *l,
                        const struct lab_variant *tuned,
                        const struct lab_variant **out, int max);
/* LAB_E_UNSUPPORTED: the device lacks what the variant needs, the build its code; before
 * anything of it is called. */
enum lab_status lab_ladder_serves(const struct lab_device_info *info,
                                  const struct lab_variant *variant);
/* What a variant of that precision multiplies: "fp32", or the operation's "int8". */
const char *lab_ladder_precision(const struct lab_operation *l,
                                 enum lab_precision p);
/* Measures the ceilings that the models of `l` need, a second or two: memory, fp32,
 * and the precisions p with bit 1 << p set. Where `l` has an arithmetic of its own,
 * flops[LAB_FP32] is that one's. */
void lab_ladder_measure(struct lab_backend *be, const struct lab_operation *l,
                        unsigned precisions, struct lab_ladder_machine *out);
/* Bytes that the variant asks of L2 and memory: the blocked-access model, each
 * tensor read again for each tile; NaN where there is no model. */
double lab_ladder_traffic(const struct lab_operation *l,
                          const struct lab_variant *variant,
                          const struct lab_ladder_size *s);
/* The variant's rate by its model, on this machine; NaN where there is no model.
 * The model charges every access of the kernel's text to L1 or to memory: where
 * caches serve it, a variant is faster. */
double lab_ladder_model(const struct lab_ladder_machine *m,
                        const struct lab_operation *l,
                        const struct lab_variant *variant,
                        const struct lab_ladder_size *s);
/* Compares a variant with the reference on odd shapes: *error is the largest error
 * in parts of what is allowed. LAB_E_CHECK: it is wrong (the detail states
 * where); LAB_E_UNSUPPORTED: the machine lacks what it needs. */
enum lab_status lab_ladder_check(struct lab_backend *be,
                                 const struct lab_operation *l,
                                 const struct lab_variant *variant,
                                 uint64_t seed, double *error);
/* Variants within sizes, a row for each. What goes wrong with one row is in that
 * row, and the climb goes on. Returns LAB_E_CANCELLED when `stop` returned
 * true, what `row` returned, LAB_E_NOMEM of the host. */
enum lab_status lab_ladder_run(const struct lab_ladder_run *climb);

/* Makes the tensors of one size, runs the variant once, and lets `look` run it as
 * often as it likes, for a trace or for counters. Errors: as a row's. */
enum lab_status lab_ladder_launch(struct lab_backend *be,
                                  const struct lab_operation *op,
                                  const struct lab_variant *variant,
                                  const struct lab_ladder_size *size,
                                  uint64_t seed, lab_ladder_look_fn *look,
                                  void *user);

LAB_C_END
