/* ceilings.c -- what this processor can do at best, on one thread, as every CPU
 * kernel of the program runs: a copy of memory or y = 2 x + y, a product by
 * OpenBLAS, and multiply-adds in registers. */
#include <cblas.h>
#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/clock.h"
#include "base/mem.h"
#include "cpu_sets.h"
#include "engine/backend.h"
#include "common/random.h"
#include "library/blas.h"

enum { REPEATS = 9, SIDE = 768, COPY_MIB = 128, STEPS = 1 << 20, UPDATES = 5 };

static double shortest(const double *seconds, int n)
{
    double least = seconds[0];
    for (int i = 1; i < n; i++)
        least = seconds[i] < least ? seconds[i] : least;
    return least;
}

/* What is written in a copy is often read before: y = 2 x + y asks for three
 * times the bytes of one tensor, and no more are moved. The faster of the two
 * is what memory can do. */
static void time_update(float *y, const float *x, size_t bytes,
                        struct lab_ceiling_times *copy)
{
    struct lab_ceiling_times t = *copy;
    t.work = 3.0 * (double)bytes;
    t.n = UPDATES;
    for (int i = 0; i < UPDATES; i++) {
        int64_t start = lab_clock_monotonic_ns();
        cblas_saxpy((int)(bytes / sizeof(*x)), 2.0f, x, 1, y, 1);
        t.seconds[i] = (double)(lab_clock_monotonic_ns() - start) / 1e9;
    }
    if (t.work / shortest(t.seconds, t.n) >
        copy->work / shortest(copy->seconds, copy->n))
        *copy = t;
}

static enum lab_status copy_ceiling(struct lab_ceiling_times *out)
{
    const size_t bytes = (size_t)COPY_MIB << 20;
    char *from = lab_alloc(bytes);
    char *to = lab_alloc(bytes);
    if (from && to) {
        memset(from, 1, bytes); /* every page is there before the clock runs */
        memset(to, 2, bytes);
        for (int i = 0; i < REPEATS; i++) {
            int64_t start = lab_clock_monotonic_ns();
            memcpy(to, from, bytes);
            out->seconds[i] = (double)(lab_clock_monotonic_ns() - start) / 1e9;
        }
        out->size = (int64_t)bytes;
        out->n = REPEATS;
        out->work = 2.0 * (double)bytes;
        lab_blas_start();
        time_update((float *)(void *)to, (const float *)(const void *)from,
                    bytes, out);
    }
    bool failed = !from || !to;
    lab_free(from);
    lab_free(to);
    return failed ? lab_fail(LAB_E_NOMEM, "no memory to copy") : LAB_OK;
}

static enum lab_status product_ceiling(struct lab_ceiling_times *out)
{
    const int n = SIDE;
    const size_t count = (size_t)n * (size_t)n;
    float *m = lab_alloc_array(3 * count, sizeof(*m));
    if (!m)
        return lab_fail(LAB_E_NOMEM, "no memory for three matrices");
    lab_blas_start();
    for (size_t i = 0; i < 2 * count; i++)
        m[i] = lab_random_unit(lab_random_word(1, 0, 0, i)) - 0.5f;
    for (int i = -1; i < REPEATS; i++) { /* -1: warm-up */
        int64_t start = lab_clock_monotonic_ns();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, m,
                    n, m + count, n, 0.0f, m + 2 * count, n);
        if (i >= 0)
            out->seconds[i] = (double)(lab_clock_monotonic_ns() - start) / 1e9;
    }
    out->size = n;
    out->n = REPEATS;
    out->work = 2.0 * n * (double)n * n;
    lab_free(m);
    return LAB_OK;
}

/* ---- multiply-adds that touch no memory ---- */

/* What the arithmetic of one core does at best. A result is there some cycles
 * after its operands, so that a core needs many independent chains: 12 registers
 * of them, as wide as the processor has them (192 chains in 16 floats each;
 * narrower registers do them in turns). */
enum { REGISTERS = 12 };

typedef void chains_fn(int64_t steps, float *v);

/* In turns of 12 registers of 4 floats. Without an instruction for it a
 * multiply-add is two. */
static void chains(int64_t steps, float *v)
{
    enum { LANES = 4 * REGISTERS };
    for (int turn = 0; turn < LAB_CPU_CHAINS; turn += LANES) {
        for (int64_t s = 0; s < steps; s++) {
            for (int i = 0; i < LANES; i++) {
#ifdef FP_FAST_FMAF
                v[turn + i] = fmaf(v[turn + i], 0.5f, 1.0f);
#else
                v[turn + i] = v[turn + i] * 0.5f + 1.0f;
#endif
            }
        }
    }
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void chains_avx2(int64_t steps,
                                                            float *v)
{
    enum { LANES = 8 };
    const __m256 half = _mm256_set1_ps(0.5f);
    const __m256 one = _mm256_set1_ps(1.0f);
    for (int turn = 0; turn < LAB_CPU_CHAINS; turn += LANES * REGISTERS) {
        __m256 r[REGISTERS];
        for (int i = 0; i < REGISTERS; i++)
            r[i] = _mm256_loadu_ps(v + turn + i * LANES);
        for (int64_t s = 0; s < steps; s++) {
#pragma GCC unroll 12
            for (int i = 0; i < REGISTERS; i++)
                r[i] = _mm256_fmadd_ps(r[i], half, one);
        }
        for (int i = 0; i < REGISTERS; i++)
            _mm256_storeu_ps(v + turn + i * LANES, r[i]);
    }
}

__attribute__((target("avx512f"))) static void chains_avx512(int64_t steps,
                                                             float *v)
{
    enum { LANES = 16 };
    const __m512 half = _mm512_set1_ps(0.5f);
    const __m512 one = _mm512_set1_ps(1.0f);
    __m512 r[REGISTERS];
    for (int i = 0; i < REGISTERS; i++)
        r[i] = _mm512_loadu_ps(v + i * LANES);
    for (int64_t s = 0; s < steps; s++) {
#pragma GCC unroll 12
        for (int i = 0; i < REGISTERS; i++)
            r[i] = _mm512_fmadd_ps(r[i], half, one);
    }
    for (int i = 0; i < REGISTERS; i++)
        _mm512_storeu_ps(v + i * LANES, r[i]);
}
#endif

static chains_fn *widest(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return chains_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return chains_avx2;
#endif
    return chains;
}

double lab_cpu_multiply_adds(int64_t steps, float last[LAB_CPU_CHAINS])
{
    for (int i = 0; i < LAB_CPU_CHAINS; i++)
        last[i] = (float)i;
    widest()(steps, last);
    return 2.0 * LAB_CPU_CHAINS * (double)steps;
}

static enum lab_status fma_ceiling(struct lab_ceiling_times *out)
{
    float last[LAB_CPU_CHAINS];
    for (int i = -1; i < REPEATS; i++) { /* -1: the clock of the core rises */
        int64_t start = lab_clock_monotonic_ns();
        out->work = lab_cpu_multiply_adds(STEPS, last);
        if (i >= 0)
            out->seconds[i] = (double)(lab_clock_monotonic_ns() - start) / 1e9;
    }
    out->size = STEPS;
    out->n = REPEATS;
    return LAB_OK;
}

enum lab_status lab_cpu_ceiling(struct lab_backend *be, int ceiling,
                                struct lab_ceiling_times *out)
{
    (void)be;
    if (ceiling == LAB_CEILING_COPY)
        return copy_ceiling(out);
    if (ceiling == LAB_CEILING_FP32)
        return product_ceiling(out);
    if (ceiling == LAB_CEILING_FMA)
        return fma_ceiling(out);
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[backend.gpu-only] measured on a GPU only");
}
