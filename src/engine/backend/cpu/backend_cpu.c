/* The CPU backend: memory is plain memory, and a kernel has finished when it
 * returns. And the null backend: the same, but no kernel runs, for interface
 * tests, which then never wait for arithmetic. */
#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "cpu/cpu_exec.h"
#include "common/random.h"
#include "cpu/vector_sets.h"
#include "cpu_sets.h"
#include "engine/ceiling.h"
#include "labs/cpu_variants.h"
#include "library/blas.h"
#include "library/openblas.h"
#include "library/onednn_abi.h"

/* ---- what this processor can do at best, on one thread, as every CPU kernel of the
 * program runs: a copy of memory or y = 2 x + y, a product by OpenBLAS, and
 * multiply-adds in registers ---- */

enum {
    CEILING_REPEATS = 9,
    SIDE = 768,
    COPY_MIB = 128,
    STEPS = 1 << 20,
    UPDATES = 5,
    QUICK =
        16 /* of memory and steps a 16th, of a side a 4th (lab_bench_quick) */
};

bool lab_bench_quick(void)
{
    const char *set = getenv("LAPENNA_LAB_BENCH");
    return set && strcmp(set, "quick") == 0;
}

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
        lab_openblas()->saxpy((int)(bytes / sizeof(*x)), 2.0f, x, 1, y, 1);
        t.seconds[i] = (double)(lab_clock_monotonic_ns() - start) / 1e9;
    }
    if (t.work / shortest(t.seconds, t.n) >
        copy->work / shortest(copy->seconds, copy->n))
        *copy = t;
}

static enum lab_status copy_ceiling(struct lab_ceiling_times *out)
{
    const size_t bytes =
        ((size_t)COPY_MIB << 20) / (lab_bench_quick() ? QUICK : 1);
    char *from = lab_alloc(bytes);
    char *to = lab_alloc(bytes);
    if (from && to) {
        memset(from, 1, bytes); /* every page is there before the clock runs */
        memset(to, 2, bytes);
        for (int i = 0; i < CEILING_REPEATS; i++) {
            int64_t start = lab_clock_monotonic_ns();
            memcpy(to, from, bytes);
            out->seconds[i] = (double)(lab_clock_monotonic_ns() - start) / 1e9;
        }
        out->size = (int64_t)bytes;
        out->n = CEILING_REPEATS;
        out->work = 2.0 * (double)bytes;
        if (lab_openblas())
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
    const int n = SIDE / (lab_bench_quick() ? QUICK / 4 : 1);
    const size_t count = (size_t)n * (size_t)n;
    if (!lab_openblas())
        return lab_fail(LAB_E_UNSUPPORTED, "OpenBLAS is not installed");
    float *m = lab_alloc_array(3 * count, sizeof(*m));
    if (!m)
        return lab_fail(LAB_E_NOMEM, "no memory for three matrices");
    for (size_t i = 0; i < 2 * count; i++)
        m[i] = lab_random_unit(lab_random_word(1, 0, 0, i)) - 0.5f;
    for (int i = -1; i < CEILING_REPEATS; i++) { /* -1: warm-up */
        int64_t start = lab_clock_monotonic_ns();
        lab_openblas()->sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n,
                              n, 1.0f, m, n, m + count, n, 0.0f, m + 2 * count,
                              n);
        if (i >= 0)
            out->seconds[i] = (double)(lab_clock_monotonic_ns() - start) / 1e9;
    }
    out->size = n;
    out->n = CEILING_REPEATS;
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
    const int steps = STEPS / (lab_bench_quick() ? QUICK : 1);
    float last[LAB_CPU_CHAINS];
    for (int i = -1; i < CEILING_REPEATS;
         i++) { /* -1: the clock of the core rises */
        int64_t start = lab_clock_monotonic_ns();
        out->work = lab_cpu_multiply_adds(steps, last);
        if (i >= 0)
            out->seconds[i] = (double)(lab_clock_monotonic_ns() - start) / 1e9;
    }
    out->size = steps;
    out->n = CEILING_REPEATS;
    return LAB_OK;
}

/* The `ceiling` slot (engine/backend.h). */
static enum lab_status cpu_ceiling(struct lab_backend *be, int ceiling,
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

/* ---- the backend ---- */

#define LAB_OP(id)                                                             \
    extern const struct lab_kernel_set lab_ref_f32_##id;                       \
    extern const struct lab_kernel_set lab_ref_f64_##id;
#include "ops.def"
#undef LAB_OP

static const struct lab_kernel_set *const ref_f32[] = {
#define LAB_OP(id) &lab_ref_f32_##id,
#include "ops.def"
#undef LAB_OP
};

static const struct lab_kernel_set *const ref_f64[] = {
#define LAB_OP(id) &lab_ref_f64_##id,
#include "ops.def"
#undef LAB_OP
};

enum { REF_COUNT = sizeof(ref_f32) / sizeof(ref_f32[0]), MAX_SETS = 128 };

struct cpu_backend {
    struct lab_backend base;
    const struct lab_kernel_set *f32[MAX_SETS];
    int n_f32;
    struct lab_cpu_exec exec;
};

/* The lab that a set of oneDNN is for; NULL: an op's set. */
static const char *lab_of(const struct lab_kernel_set *set)
{
    const size_t n = strlen(LAB_ONEDNN_LAB);
    return strncmp(set->op, LAB_ONEDNN_LAB, n) == 0 ? set->op + n : NULL;
}

static void add_sets(struct cpu_backend *cpu,
                     const struct lab_kernel_set *const *sets, int count)
{
    for (int i = 0; i < count && cpu->n_f32 < MAX_SETS; i++)
        if (!lab_of(sets[i]))
            cpu->f32[cpu->n_f32++] = sets[i];
}

static void collect_sets(struct cpu_backend *cpu)
{
    int n_vector;
    int n_blas;
    int n_onednn;
    const struct lab_kernel_set *const *vector = lab_vector_sets(&n_vector);
    const struct lab_kernel_set *const *blas = lab_blas_sets(&n_blas);
    const struct lab_kernel_set *const *onednn;
    lab_onednn_open(&onednn, &n_onednn); /* without it there are fewer rows */
    add_sets(cpu, ref_f32, REF_COUNT);
    add_sets(cpu, vector, n_vector);
    add_sets(cpu, blas, n_blas);
    add_sets(cpu, onednn, n_onednn);
}

static enum lab_status cpu_open(struct lab_backend **out, int device)
{
    if (device != 0)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[backend.cpu-device] the CPU backend has one device, "
                        "number 0; --device %d is not there",
                        device);
    struct cpu_backend *cpu = lab_alloc(sizeof(*cpu));
    if (!cpu)
        return lab_fail(LAB_E_NOMEM, "no memory for the CPU backend");
    cpu->base.ops = &lab_backend_cpu;
    cpu->base.host_memory = true;
    collect_sets(cpu);
    *out = &cpu->base;
    return LAB_OK;
}

static void cpu_close(struct lab_backend *be)
{
    lab_free(be);
}

/* Memory to be cleared, in blocks; the last one may be shorter. */
struct cleared {
    char *first;
    size_t bytes;
};
enum { BLOCK = 2 << 20 };

static void clear_blocks(const void *arg, int64_t from, int64_t to)
{
    const struct cleared *c = arg;
    size_t begin = (size_t)from * BLOCK;
    size_t end = (size_t)to * BLOCK;
    memset(c->first + begin, 0, (end < c->bytes ? end : c->bytes) - begin);
}

/* On all threads. The system makes the pages meanwhile, which takes seconds for some
 * GiB where it has none that are free. */
static enum lab_status clear(struct cpu_backend *cpu, char *p, size_t bytes)
{
    const size_t at_once = (size_t)BLOCK * 64;
    for (size_t at = 0; at < bytes; at += at_once) {
        struct cleared c = {p + at,
                            bytes - at < at_once ? bytes - at : at_once};
        if (at > 0 && lab_stop_asked(&cpu->exec.stop))
            return lab_fail(LAB_E_CANCELLED, "stopped");
        lab_parallel((int64_t)((c.bytes + BLOCK - 1) / BLOCK), 1, clear_blocks,
                     &c);
    }
    return LAB_OK;
}

static enum lab_status cpu_alloc(struct lab_backend *be, size_t bytes,
                                 void **out)
{
    void *p = lab_alloc_uncleared(bytes);
    if (!p)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu bytes of tensors",
                        bytes);
    enum lab_status st = clear((struct cpu_backend *)be, p, bytes);
    if (st)
        lab_free(p);
    else
        *out = p;
    return st;
}

static void cpu_free(struct lab_backend *be, void *p)
{
    (void)be;
    lab_free(p);
}

static enum lab_status cpu_move(struct lab_backend *be, void *dst,
                                const void *src, size_t bytes)
{
    (void)be;
    memcpy(dst, src, bytes);
    return LAB_OK;
}

static enum lab_status cpu_run(struct lab_backend *be,
                               const struct lab_variant *v,
                               struct lab_call *call)
{
    struct cpu_backend *cpu = (struct cpu_backend *)be;
    cpu->exec.stopped = false;
    cpu->exec.ask_ns = lab_clock_coarse_ns() + LAB_CALL_PATIENCE_NS;
    call->exec = (struct lab_exec *)&cpu->exec;
    enum lab_status st = v->run(call);
    return cpu->exec.stopped
               ? lab_fail(LAB_E_CANCELLED, "%s was stopped", v->symbol)
               : st;
}

static void cpu_stop_when(struct lab_backend *be, const struct lab_stop *stop)
{
    ((struct cpu_backend *)be)->exec.stop = *stop;
}

static const struct lab_kernel_set *const *
cpu_sets(struct lab_backend *be, enum lab_dtype real, int *count)
{
    struct cpu_backend *cpu = (struct cpu_backend *)be;
    if (real == LAB_F64) {
        *count = REF_COUNT;
        return ref_f64;
    }
    *count = cpu->n_f32;
    return cpu->f32;
}

static void read_cpu_name(char *name, size_t size)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (f && fgets(line, sizeof(line), f)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10) != 0)
            continue;
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(name, size, "%.90s", colon + 2);
        break;
    }
    if (f)
        fclose(f);
}

static void cpu_info(struct lab_backend *be, struct lab_device_info *out)
{
    (void)be;
    snprintf(out->name, sizeof(out->name), "CPU");
    read_cpu_name(out->name, sizeof(out->name));
    snprintf(out->chip, sizeof(out->chip), "x86-64");
#if defined(__aarch64__)
    snprintf(out->chip, sizeof(out->chip), "aarch64");
#endif
    out->sm_count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    out->memory_bytes = lab_host_memory();
}

/* Variant i of those that oneDNN has for a lab; NULL past the last. */
static const struct lab_variant *onednn_variant(const char *operation, int i)
{
    const struct lab_kernel_set *const *sets;
    int count;
    lab_onednn_open(&sets, &count);
    for (int k = 0; k < count; k++) {
        const char *lab = lab_of(sets[k]);
        if (lab && strcmp(lab, operation) == 0)
            return i < sets[k]->count ? &sets[k]->variants[i] : NULL;
    }
    return NULL;
}

/* An operation's own variants, then OpenBLAS's, then oneDNN's. */
static const struct lab_variant *cpu_variant(struct lab_backend *be,
                                             const char *operation, int i)
{
    int own = 0;
    int blas = 0;
    (void)be;
    while (lab_cpu_variant(operation, own))
        own++;
    if (i < own)
        return lab_cpu_variant(operation, i);
    while (lab_blas_variant(operation, blas))
        blas++;
    return i < own + blas ? lab_blas_variant(operation, i - own)
                          : onednn_variant(operation, i - own - blas);
}

const struct lab_backend_ops lab_backend_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .upload = cpu_move,
    .download = cpu_move,
    .copy = cpu_move,
    .run = cpu_run,
    .sync = NULL,
    .sets = cpu_sets,
    .info = cpu_info,
    .error = lab_error,
    .error_id = lab_error_id,
    .ceiling = cpu_ceiling,
    .variant = cpu_variant,
    .stop_when = cpu_stop_when,
};

/* ---- null ---- */

static enum lab_status null_open(struct lab_backend **out, int device)
{
    enum lab_status st = cpu_open(out, device);
    if (st == LAB_OK)
        (*out)->ops = &lab_backend_null;
    return st;
}

static enum lab_status null_run(struct lab_backend *be,
                                const struct lab_variant *v,
                                struct lab_call *call)
{
    (void)be;
    (void)v;
    (void)call;
    return LAB_OK;
}

static void null_info(struct lab_backend *be, struct lab_device_info *out)
{
    (void)be;
    snprintf(out->name, sizeof(out->name), "null (nothing is computed)");
}

const struct lab_backend_ops lab_backend_null = {
    .name = "null",
    .open = null_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .upload = cpu_move,
    .download = cpu_move,
    .copy = cpu_move,
    .run = null_run,
    .sync = NULL,
    .sets = cpu_sets,
    .info = null_info,
    .error = lab_error,
    .error_id = lab_error_id,
};
