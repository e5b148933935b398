/* The CPU backend: memory is plain memory, and a kernel has finished when it
 * returns. And the null backend: the same, but no kernel runs, for interface
 * tests, which then never wait for arithmetic. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "common/vector_sets.h"
#include "cpu_sets.h"
#include "engine/backend.h"
#include "labs/cpu_rungs.h"
#include "library/blas.h"

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
};

static void add_sets(struct cpu_backend *cpu,
                     const struct lab_kernel_set *const *sets, int count)
{
    for (int i = 0; i < count && cpu->n_f32 < MAX_SETS; i++)
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

static enum lab_status cpu_alloc(struct lab_backend *be, size_t bytes,
                                 void **out)
{
    (void)be;
    void *p = lab_alloc_aligned(bytes);
    if (!p)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu bytes of tensors",
                        bytes);
    *out = p;
    return LAB_OK;
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
    (void)be;
    call->exec = NULL;
    return v->run(call);
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

/* An operation's own rungs, then OpenBLAS's. */
static const struct lab_variant *cpu_rung(struct lab_backend *be,
                                          const char *operation, int i)
{
    int own = 0;
    (void)be;
    while (lab_cpu_rung(operation, own))
        own++;
    return i < own ? lab_cpu_rung(operation, i)
                   : lab_blas_rung(operation, i - own);
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
    .ceiling = lab_cpu_ceiling,
    .rung = cpu_rung,
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
