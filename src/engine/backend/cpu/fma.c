/* Multiply-adds that touch no memory: what the arithmetic of one core does at
 * best. A result is there some cycles after its operands, so that a core needs
 * many independent chains: 12 registers of them, as wide as the processor has
 * them (192 chains in 16 floats each; narrower registers do them in turns). */
#include "base/status.h"
#include "cpu_sets.h"

#include <math.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

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
