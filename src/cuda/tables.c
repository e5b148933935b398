/* The kernel tables that this machine can run. */
#include <pthread.h>
#include <string.h>

#include "cuda_priv.h"
#include "common/cuda_sets.h"
#include "library/cudnn_sets.h"

static const struct lab_kernel_set *const all[] = {
#define LAB_OP(id) &lab_cuda_##id,
#define LAB_OP_PLAN(id)
#include "ops.def"
#undef LAB_OP
#undef LAB_OP_PLAN
};

/* Offered after those, where cuDNN is there. */
static const struct lab_kernel_set *const of_cudnn[] = {
#define LAB_CUDNN_SET(id) &lab_cudnn_##id,
    LAB_CUDNN_SETS(LAB_CUDNN_SET)
#undef LAB_CUDNN_SET
};

enum {
    SET_COUNT = sizeof(all) / sizeof(all[0]),
    CUDNN_COUNT = sizeof(of_cudnn) / sizeof(of_cudnn[0]),
    MAX_ROWS = 512
};

static const struct lab_kernel_set *offered[SET_COUNT + CUDNN_COUNT];
static int offered_count;
static struct lab_variant kept_rows[MAX_ROWS];
static struct lab_kernel_set kept_sets[SET_COUNT];

static bool needs_cublas(const struct lab_variant *v)
{
    return strcmp(v->name, "cublas") == 0;
}

/* A copy of the set without the rows that need cuBLAS, at kept_rows[*used]. */
static void keep_rows(const struct lab_kernel_set *set,
                      struct lab_kernel_set *kept, int *used)
{
    *kept = (struct lab_kernel_set){set->op, &kept_rows[*used], 0};
    for (int i = 0; i < set->count && *used < MAX_ROWS; i++) {
        if (needs_cublas(&set->variants[i]))
            continue;
        kept_rows[(*used)++] = set->variants[i];
        kept->count++;
    }
}

static void collect(void)
{
    bool cublas = lab_cublas_available(NULL);
    int used = 0;
    for (int s = 0; s < SET_COUNT; s++) {
        bool whole = true;
        for (int i = 0; i < all[s]->count; i++)
            whole = whole && !needs_cublas(&all[s]->variants[i]);
        offered[s] = all[s];
        if (cublas || whole)
            continue;
        keep_rows(all[s], &kept_sets[s], &used);
        offered[s] = &kept_sets[s];
    }
    offered_count = SET_COUNT;
    for (int s = 0; s < CUDNN_COUNT && lab_cudnn_available(NULL); s++)
        offered[offered_count++] = of_cudnn[s];
}

const struct lab_kernel_set *const *lab_cuda_sets(int *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, collect);
    *count = offered_count;
    return offered;
}
