/* The tables of every op: references, kernels, and the rows of cuDNN, which of
 * them have passed a case. */
#include "common/cuda_sets.h"
#include "library/cudnn_sets.h"
#include "gpu_harness.h"

#define LAB_OP(id)                                                             \
    extern const struct lab_kernel_set lab_ref_f32_##id;                       \
    extern const struct lab_kernel_set lab_ref_f64_##id;
#define LAB_OP_PLAN(id)
#include "ops.def"
#undef LAB_OP
#define LAB_OP(id) {&lab_ref_f32_##id, &lab_ref_f64_##id, &lab_cuda_##id},

static const struct {
    const struct lab_kernel_set *f32;
    const struct lab_kernel_set *f64;
    const struct lab_kernel_set *cuda;
} sets[] = {
#include "ops.def"
};
#undef LAB_OP
#undef LAB_OP_PLAN

static const struct lab_kernel_set *const cudnn_sets[] = {
#define LAB_CUDNN_SET(id) &lab_cudnn_##id,
    LAB_CUDNN_SETS(LAB_CUDNN_SET)
#undef LAB_CUDNN_SET
};

enum {
    SET_COUNT = sizeof(sets) / sizeof(sets[0]),
    CUDNN_COUNT = sizeof(cudnn_sets) / sizeof(cudnn_sets[0])
};

/* Rows that have passed a case. */
enum { MAX_SERVED = 512 };
static const struct lab_variant *served[MAX_SERVED];
static int n_served;

static int set_index(const char *op)
{
    for (int i = 0; i < SET_COUNT; i++) {
        if (strcmp(sets[i].cuda->op, op) == 0)
            return i;
    }
    fail_msg("no op %s", op);
    return 0;
}

const struct lab_kernel_set *gpu_cuda_set(const char *op)
{
    return sets[set_index(op)].cuda;
}

const struct lab_kernel_set *const *gpu_cudnn_sets(int *count)
{
    *count = CUDNN_COUNT;
    return cudnn_sets;
}

const struct lab_kernel_set *gpu_ref_set(const char *op, enum lab_dtype real)
{
    int i = set_index(op);
    return real == LAB_F64 ? sets[i].f64 : sets[i].f32;
}

bool gpu_fits(const struct lab_variant *v, const char *step,
              enum lab_phase phase)
{
    if (v->phase != phase || !v->step != !step)
        return false;
    return !step || strcmp(v->step, step) == 0;
}

lab_kernel_fn *gpu_ref(const char *op, const char *step, enum lab_phase phase)
{
    const struct lab_kernel_set *set = gpu_ref_set(op, LAB_F64);
    for (int i = 0; i < set->count; i++) {
        if (gpu_fits(&set->variants[i], step, phase))
            return set->variants[i].run;
    }
    fail_msg("no reference for %s.%s %s", op, step, lab_phase_name(phase));
    return NULL;
}

void gpu_note_served(const struct lab_variant *v)
{
    for (int i = 0; i < n_served; i++) {
        if (served[i] == v)
            return;
    }
    assert_true(n_served < MAX_SERVED);
    served[n_served++] = v;
}

void gpu_check_served(const char *op)
{
    int n = 0;
    for (int i = 0; i < CUDNN_COUNT; i++) {
        for (int k = 0; k < cudnn_sets[i]->count; k++) {
            const struct lab_variant *v = &cudnn_sets[i]->variants[k];
            bool found = false;
            /* Winograd in one kernel: GPUs before Hopper. */
            if (strcmp(v->name, "cudnn_winograd") == 0 ||
                strcmp(cudnn_sets[i]->op, op) != 0)
                continue;
            for (int at = 0; at < n_served && !found; at++)
                found = served[at] == v;
            if (!found)
                fail_msg("%s.%s %s %s has not served any case",
                         cudnn_sets[i]->op, v->step ? v->step : "group",
                         lab_phase_name(v->phase), v->name);
            n++;
        }
    }
    assert_true(n > 0);
}
