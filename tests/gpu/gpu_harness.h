/* gpu_harness.h -- runs one step on the GPU in every variant and compares it
 * with the reference in double.
 *
 * Outputs are filled with NaN before a call and have guard words on both
 * sides; inputs must come back unchanged. Every variant runs three times: as it
 * is, again (the same bits), and captured into a CUDA graph (the same bits).
 *
 * tests/sim compiles the same tests with LAB_GPU_SIMULATED: the kernels run on the
 * simulator with all checks on, where a finding fails the case. A variant runs twice
 * there, the second time with its warps in another order. Cases that would take minutes
 * are left out. */
#pragma once
#include "base/mem.h"
#include "common/cuda_exec.h"
#include "common/kernel.h"
#include "test.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* A case that needs a GPU, and is skipped where there is none. */
#define GPU_CASE(name)                                                         \
    static void gpu_##name(void);                                              \
    TEST_CASE(name)                                                            \
    {                                                                          \
        if (!gpu_exec())                                                       \
            skip();                                                            \
        gpu_##name();                                                          \
    }                                                                          \
    static void gpu_##name(void)

enum { CASE_TENSORS = 17, CASE_OUT = 8 };

enum fill {
    FILL_NULL,      /* the plan does not want it */
    FILL_UNIFORM,   /* [-2, 2) */
    FILL_SMALL,     /* [-0.25, 0.25): weights of recurrent layers */
    FILL_TIES,      /* 0, 1 or 2 */
    FILL_POSITIVE,  /* [0, 1): probabilities, Adam's v */
    FILL_WIDE,      /* [-30, 30), and what is hard: 0, -0, 100, -100, 1e-30 */
    FILL_SPECIAL,   /* FILL_UNIFORM with NaN and both infinities in it */
    FILL_LOW,       /* all -inf */
    FILL_LABELS,    /* i32 in 0..limit-1 */
    FILL_BAD_LABELS /* i32, half of them outside */
};

struct tensor {
    enum fill fill; /* of an output: FILL_NULL, else what an inout starts as */
    int rank;
    int64_t dim[4];
    int64_t limit; /* labels */
};

static inline struct tensor vector(enum fill fill, int64_t n)
{
    return (struct tensor){.fill = fill, .rank = 1, .dim = {n}};
}

static inline struct tensor matrix(enum fill fill, int64_t rows, int64_t cols)
{
    return (struct tensor){.fill = fill, .rank = 2, .dim = {rows, cols}};
}

static inline struct tensor shaped(int rank, const int64_t *dim)
{
    struct tensor t = {.fill = FILL_UNIFORM, .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof(*dim));
    return t;
}
#define T1(a) shaped(1, (const int64_t[]){a})
#define T2(a, b) shaped(2, (const int64_t[]){a, b})
#define T3(a, b, c) shaped(3, (const int64_t[]){a, b, c})
#define T4(a, b, c, d) shaped(4, (const int64_t[]){a, b, c, d})

/* The plan leaves it out. */
static inline struct tensor absent(void)
{
    return (struct tensor){.fill = FILL_NULL, .rank = 1, .dim = {0}};
}

/* For lab_free(). */
static inline double *zeros(int64_t n)
{
    double *p = lab_alloc_array((size_t)n, sizeof(*p));
    assert_non_null(p);
    return p;
}

struct gpu_case {
    const char *op;
    const char *step; /* NULL: the group */
    enum lab_phase phase;
    struct tensor in[CASE_TENSORS]; /* up to the first without fill and rank */
    struct tensor out[CASE_OUT];
    bool inout;
    bool keeps_parts; /* the outputs are those of a group that keeps parts */
    lab_kernel_fn *derive; /* inputs from the others, in double; may be NULL */
    const void *params;
    const char *only; /* variants of this name; NULL: all */
    bool not_cudnn;   /* its rows document that they differ here */
    bool evaluation;  /* call->training is false */
    uint64_t iteration;
};

/* ---- gpu_inputs.c ---- */

/* From LAB_TEST_SEED or from the clock; prints which. */
void gpu_seed(void);
/* The number for element i of a tensor. */
float gpu_draw(enum fill fill, int64_t i);
int32_t gpu_draw_label(enum fill fill, int64_t i, int64_t limit);

/* ---- gpu_tables.c ---- */

/* Is it a row of that step (NULL: of the group) in that phase? */
bool gpu_fits(const struct lab_variant *v, const char *step,
              enum lab_phase phase);
void gpu_note_served(const struct lab_variant *v);

/* ---- gpu_harness.c ---- */

/* NULL without a device. */
struct lab_exec *gpu_exec(void);
/* What is opened by lab_cuda_select() is closed. */
int gpu_end(void);
#ifdef LAB_GPU_SIMULATED
void gpu_other_order(void); /* of warps, in the runs that follow */
#endif
int gpu_close(void **state); /* after all cases of a file */
/* Fails the running cmocka test when a variant is wrong, or when there is no
 * variant of the step at all. */
void gpu_check(const struct gpu_case *c);
/* The same for each of an array, GPU_CHECK_ALL(cases). */
#define GPU_CHECK_ALL(cases) gpu_check_all(cases, COUNT_OF(cases))
void gpu_check_all(const struct gpu_case *cases, size_t count);
/* The same for a step that is no more than that; the lists are TENSORS(). */
#define TENSORS(...) ((const struct tensor[CASE_TENSORS]){__VA_ARGS__})
void gpu_check_step(const char *op, const char *step, enum lab_phase phase,
                    const struct tensor *in, const struct tensor *out);
void gpu_check_with(const void *params, const char *op, const char *step,
                    enum lab_phase phase, const struct tensor *in,
                    const struct tensor *out);
/* The same; `reference` fills the outputs, in double, where the step has no
 * reference of its own: groups. */
void gpu_check_against(const struct gpu_case *c, lab_kernel_fn *reference);
/* Fails unless every row of cuDNN's table of the op has served at least one
 * case of this process: a row may refuse sizes, not all of them. */
void gpu_check_served(const char *op);
/* The same for the fused dense group, whose reference is three steps. */
void gpu_check_fused(const struct gpu_case *c, const char *activation_op,
                     const void *activation_params);

const struct lab_kernel_set *gpu_cuda_set(const char *op);
const struct lab_kernel_set *const *gpu_cudnn_sets(int *count);
const struct lab_kernel_set *gpu_ref_set(const char *op, enum lab_dtype real);
lab_kernel_fn *gpu_ref(const char *op, const char *step, enum lab_phase phase);
