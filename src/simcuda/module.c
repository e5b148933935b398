/* module.c -- what the program finds in lapenna-lab-sim.so: one function, the rows
 * of our own kernels, and the encoder of tensor maps. */
#include "engine/sim_module.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "simcuda_priv.h"
#include "common/cuda_sets.h"
#include "labs/cuda_variants.h"
#include "library/cublas_exec.h"

static const struct lab_kernel_set *const all[] = {
#define LAB_OP(id) &lab_cuda_##id,
#define LAB_OP_PLAN(id)
#include "ops.def"
#undef LAB_OP
#undef LAB_OP_PLAN
};

enum { SET_COUNT = sizeof(all) / sizeof(all[0]), MAX_ROWS = 512 };

static struct lab_variant rows[MAX_ROWS];
static struct lab_kernel_set own[SET_COUNT];
static const struct lab_kernel_set *offered[SET_COUNT];

/* Copies of the sets without the rows of cuBLAS, which has no PTX. */
static void collect(void)
{
    int used = 0;
    for (int s = 0; s < SET_COUNT; s++) {
        own[s] = (struct lab_kernel_set){all[s]->op, &rows[used], 0};
        offered[s] = &own[s];
        for (int i = 0; i < all[s]->count && used < MAX_ROWS; i++) {
            if (lab_cublas_row(&all[s]->variants[i]))
                continue;
            rows[used++] = all[s]->variants[i];
            own[s].count++;
        }
    }
}

static const struct lab_kernel_set *const *sets(int *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, collect);
    *count = SET_COUNT;
    return offered;
}

static const struct lab_variant *variant(const char *operation, int i)
{
    const struct lab_variant *v;
    for (int k = 0; (v = lab_cuda_variant(operation, k)); k++)
        if (!v->model.library && i-- == 0)
            return v;
    return NULL;
}

__attribute__((visibility("default"))) lab_sim_kernels_fn lab_sim_kernels;

const struct lab_sim_kernels *lab_sim_kernels(const struct lab_sim_host *host)
{
    static const struct lab_sim_kernels kernels = {
        .abi = LAB_SIM_MODULE_ABI,
        .sets = sets,
        .begin = simcuda_begin,
        .variant = variant,
        .kernel = simcuda_kernel,
        .registers_missing = simcuda_registers_missing,
        .error = lab_error,
        .error_id = lab_error_id,
    };
    simcuda_ptxas = simcuda_ptxas_rows;
    simcuda_ptxas_count = simcuda_ptxas_row_count;
    if (simcuda_broken()[0])
        (void)lab_fail(LAB_E_UNSUPPORTED,
                       "[module.broken-code] the module holds %s",
                       simcuda_broken());
    simcuda_host = host;
    return simcuda_broken()[0] ? NULL : &kernels;
}
