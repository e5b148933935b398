/* kernels/labs/operation.h -- what a lab computes: sizes, tensors, costs and a
 * reference in double. docs/add-a-lab.md has the steps.
 *
 * An operation is files in the folder of its op, kernels/<folder>/: operation.c
 * holds `const struct lab_operation lab_operation_<name>`, cpu.c the CPU's
 * variants, variants.cu the table of the CUDA ones. The build makes the list of all
 * operations, labs/labs.def, of what the operation.c define.
 *
 * Functions here are called by one thread at a time and keep nothing. */
#pragma once
#include "common/kernel.h"

enum {
    LAB_BENCH_DIMS = 8,      /* of a size */
    LAB_BENCH_TENSORS = 6,   /* of an operation */
    LAB_BENCH_APART = 333667 /* numbers from a tensor's start in the period to
                              that of the next */
};

/* The unit of a variant's speed. */
enum lab_bench_unit {
    LAB_UNIT_FLOPS, /* FLOP a second */
    LAB_UNIT_BYTES, /* bytes that the problem needs, a second */
    LAB_UNIT_TIME   /* seconds an item: less is better */
};

enum lab_bench_role {
    LAB_ROLE_IN,
    LAB_ROLE_OUT,    /* starts full of NaN (an integer: a large number) */
    LAB_ROLE_INOUT,  /* an output that starts like an input */
    LAB_ROLE_SCRATCH /* the kernel's to write; never compared */
};

struct lab_bench_tensor {
    enum lab_bench_role role;
    enum lab_dtype dtype;
    int rank;
    int64_t dim[LAB_MAX_RANK];
};

/* The inputs of one size in one precision, as the reference sees them. */
struct lab_bench_numbers {
    enum lab_precision precision;
    /* Random numbers of [-0.5, 0.5), over and over, rounded to each dtype (an
     * enum lab_dtype) that the tensors have. */
    const void *const *period;
    int64_t period_count;
    const struct lab_bench_tensor *tensor; /* those of tensors() */
    const void *const *host; /* copies of what fill() made; NULL: period */
    int64_t *reads; /* lab_bench_number() counts its calls here; may be NULL */
};

/* An element of a result, in double, and the error that it may have. */
struct lab_ladder_element {
    double value;
    double allowed;
    /* The unit in which an error is given where it is a lab's result, as the
     * size of a sum of random terms; 0: no error is given. The error of a result is
     * the root of the sum of its elements' squared errors over that of their squared
     * units. */
    double scale;
};

struct lab_kernel_model;

/* A step of a network that is the operation: its inputs, then its output, are
 * the first tensors of tensors(), with the same numbers in the same order. The
 * operation's rows in fp32 and TF32 are offered under that step. */
struct lab_operation_step {
    const char *op; /* "dense"; NULL: there is no such step */
    const char *step;
    enum lab_phase phase;
    /* The size of a call. False: the operation is not what this call asks, as a
     * convolution with another stride; lab_error() has the reason. */
    bool (*size)(const struct lab_call *call, int64_t *dim);
};

struct lab_operation {
    const char *name;         /* "gemm" */
    const char *folder;       /* below kernels/; NULL: its name */
    const char *title;        /* what it computes, in a line */
    const char *shape;        /* how a size is written: "MxNxK" */
    int dims;                 /* 1 to LAB_BENCH_DIMS */
    enum lab_bench_unit unit; /* of its rates */
    /* What its variants multiply where that is no enum lab_precision: "int8". Their
     * precision is LAB_FP32 then, that of the result. NULL: as they state. */
    const char *arithmetic;
    const char *item;      /* LAB_UNIT_TIME: what is counted, "access" */
    const char *sizes_cpu; /* when none are named: "100,4000" */
    const char *sizes_gpu;
    const char *const
        *checks; /* odd sizes, compared before timing; NULL ends */
    /* Tensors of a size in a precision: inputs, then outputs, then scratch;
     * returns how many, or 0: the size has no meaning; lab_error() has the reason. */
    int (*tensors)(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out);
    /* What a simulation calls them, in their order: "A B C". A precision may have
     * fewer tensors than names; a tensor without a name is "input 0". */
    const char *names;
    double (*flop)(const int64_t *dim);
    double (*bytes)(const int64_t *dim, enum lab_precision p); /* needed */
    double (*items)(const int64_t *dim); /* LAB_UNIT_TIME only */
    /* Bytes that a variant asks of L2 and memory; NULL: model.traffic * bytes. */
    double (*traffic)(const int64_t *dim, enum lab_precision p,
                      const struct lab_kernel_model *model);
    /* The same of a library's variant, by its name, where its kernels are known; NaN
     * for the others. NULL: of none. */
    double (*library_traffic)(const int64_t *dim, enum lab_precision p,
                              const char *variant);
    /* Element i of output `out` (0: the first that is no input). */
    struct lab_ladder_element (*element)(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out,
                                         int64_t i);
    /* The error of a whole result where elements alone do not tell it, as a
     * factorisation's; `out`: copies of the outputs, scratch left out (NULL). NaN:
     * not to be had, as without memory. NULL: by the elements' scale. */
    double (*residual)(const struct lab_bench_numbers *n, const int64_t *dim,
                       const void *const *out);
    const char *error_is; /* what the error is, in a line; NULL: it has none */
    /* NULL: all inputs are random. Else fills the host's copy of tensor k (an
     * index into tensors()) and returns true; false: random, as usual. An
     * integer tensor has to be filled. */
    bool (*fill)(const int64_t *dim, int k,
                 const struct lab_bench_tensor *tensor, uint64_t seed,
                 void *host);
    struct lab_operation_step as_step;
};

/* A sum of terms and the rounding errors that it may have. */
struct lab_bench_sum {
    double value;
    double squares;
    double terms;
};

LAB_C_BEGIN
/* Operation i in the order of the lessons, or NULL past the last. */
const struct lab_operation *lab_operation_at(int i);
/* Number i of a stream, random in [-0.5, 0.5), with 53 bits: a dtype that has
 * fewer is full of them. For fill(). */
double lab_bench_random(uint64_t seed, uint32_t stream_a, uint32_t stream_b,
                        int64_t i);
/* What fill() made of `own` numbers of `each` bytes again and again, up to
 * `count`. */
void lab_bench_repeat(void *host, int64_t own, int64_t count, size_t each);
/* Element i of input `tensor` as the kernels find it: rounded to its dtype. */
double lab_bench_number(const struct lab_bench_numbers *n, int tensor,
                        int64_t i);
void lab_bench_add(struct lab_bench_sum *sum, double term);
/* The sum as an element of an output of `dtype`, computed in `p`.
 *
 * Rounding errors of random terms add up like a random walk: 16 u sqrt(n S)
 * for n terms with sum of squares S, u = 2^-24 (FP64: 2^-53), is an order above
 * what one gets. TF32 rounds both factors of each term: 8 2^-11 sqrt(S) more.
 * An output of 16 bits is rounded once more: a unit in its last place. */
struct lab_ladder_element lab_bench_sum_element(const struct lab_bench_sum *sum,
                                                enum lab_precision p,
                                                enum lab_dtype dtype);
/* A value that is copied or computed without error, rounded to `dtype`. */
struct lab_ladder_element lab_bench_exact(double value, enum lab_dtype dtype);
/* The dtype of a precision's tensors: TF32 has fp32 ones. */
enum lab_dtype lab_bench_dtype(enum lab_precision p);
LAB_C_END
