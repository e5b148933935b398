/* kernels/cpu/vector.h -- kernels on the CPU that the compiler vectorises, and
 * that run on all threads.
 *
 * A loop over elements or rows is a function of a part of it (lab_part_fn), marked
 * LAB_VECTOR: compiled for AVX-512, for AVX2 and for every x86-64, the fitting one
 * chosen when the program starts. `#pragma omp simd` before the inner loop states
 * that its rounds are independent, or may be added up in any order. exp, tanh and
 * their like are glibc's vector versions (libmvec, glibc 2.35), off by 4 units in
 * the last place at most. Files named *_vector.c are compiled with what this needs
 * (kernels/CMakeLists.txt). Elsewhere, and under sanitizers, the same code runs
 * one element at a time. */
#pragma once
#include <math.h>
#include "base/parallel.h"
#include "common/kernel.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) &&                    \
    !defined(__SANITIZE_THREAD__)
#define LAB_VECTOR_IS_CLONED
#define LAB_VECTOR __attribute__((target_clones("avx512f", "avx2", "default")))
#if __GLIBC_PREREQ(2, 35)
__attribute__((simd("notinbranch"))) float expf(float);
__attribute__((simd("notinbranch"))) float tanhf(float);
__attribute__((simd("notinbranch"))) float erfcf(float);
__attribute__((simd("notinbranch"))) float log1pf(float);
#endif
#else
#define LAB_VECTOR
#endif

/* Elements of a part that are worth handing over: some microseconds of work. */
enum { LAB_GRAIN = 8192 };

/* 1 / (1 + exp(-x)), without exp of a positive number. */
static inline float lab_sigmoidf(float x)
{
    float e = expf(-fabsf(x));
    float small = x < 0 ? e : 1.0f;
    return small / (1.0f + e);
}

/* Runs `run` over the elements of out[0]. */
static inline enum lab_status lab_each_element(const struct lab_call *call,
                                               lab_part_fn *run)
{
    lab_parallel(call->out[0].count, LAB_GRAIN, run, call);
    return LAB_OK;
}

/* Runs `run` over the rows of `v`. */
static inline enum lab_status lab_each_row(const struct lab_call *call,
                                           const struct lab_view *v,
                                           lab_part_fn *run)
{
    int64_t cols = lab_view_cols(v);
    lab_parallel(lab_view_rows(v), 1 + LAB_GRAIN / (cols > 0 ? cols : 1), run,
                 call);
    return LAB_OK;
}

LAB_C_BEGIN
/* n sums over rows on all threads, in an order that does not depend on their number:
 * `run` adds rows from .. to-1 to sums of its own. n is at most LAB_ROW_SUMS. */
enum { LAB_ROW_SUMS = 512 };
typedef void lab_add_rows_fn(const void *arg, int64_t from, int64_t to,
                             double *sum);
void lab_sum_over_rows(double *sum, int64_t n, lab_add_rows_fn *run,
                       const void *arg, int64_t rows);
/* sum[c] = sum_r x[r,c], by that. */
void lab_column_sums(float *sum, const float *x, int64_t rows, int64_t cols);
LAB_C_END

/* A row of a table: step, phase, function, in the file LAB_VECTOR_FILE. */
#define LAB_VECTOR_ROW(step_name, phase_id, fn)                                \
    {                                                                          \
        .name = "vector", .step = step_name, .phase = phase_id, .run = fn,     \
        .source = LAB_VECTOR_FILE, .symbol = #fn, .preferred = true            \
    }
