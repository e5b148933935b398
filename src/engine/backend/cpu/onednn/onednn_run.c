/* onednn_run.c -- oneDNN's engine and its primitives, kept by shape; how those
 * of dense, softmax and the elementwise steps are made. */
#include "onednn_recipe.h"

#include <pthread.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "backend/cpu/onednn_abi.h"

enum { CACHE_SIZE = 128 };

struct entry {
    struct onednn_key key;
    dnnl_primitive_t primitive; /* NULL: a free place */
    int n_args;
    dnnl_exec_arg_t args[ONEDNN_MAX_ARGS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static dnnl_engine_t engine;
static dnnl_stream_t stream;
static lab_onednn_report_fn *report;
static struct entry cache[CACHE_SIZE];
static int next_place;

static enum lab_status check(dnnl_status_t code, const char *what)
{
    if (code == dnnl_success)
        return LAB_OK;
    enum lab_status st =
        code == dnnl_out_of_memory ? LAB_E_NOMEM : LAB_E_DEVICE;
    return lab_fail(st, "oneDNN: %s failed: %s", what, dnnl_status2str(code));
}

enum lab_status onednn_start(void)
{
    pthread_mutex_lock(&lock);
    enum lab_status st = LAB_OK;
    if (!engine)
        st = check(dnnl_engine_create(&engine, dnnl_cpu, 0), "the CPU engine");
    if (!st && !stream)
        st = check(
            dnnl_stream_create(&stream, engine, dnnl_stream_default_flags),
            "the stream");
    pthread_mutex_unlock(&lock);
    return st;
}

struct onednn_key onednn_key(enum onednn_kind kind)
{
    struct onednn_key key;
    memset(&key, 0, sizeof(key));
    key.kind = kind;
    return key;
}

void onednn_add_arg(struct onednn_recipe *r, int id,
                    const dnnl_memory_desc_t *md)
{
    r->id[r->n_args] = id;
    r->md[r->n_args] = *md;
    r->n_args++;
}

/* A matrix of rows x cols; `flip`: memory has its transpose. */
static dnnl_status_t matrix(dnnl_memory_desc_t *md, int64_t rows, int64_t cols,
                            bool flip)
{
    dnnl_dims_t dims = {rows, cols};
    dnnl_dims_t strides = {flip ? 1 : cols, flip ? rows : 1};
    return dnnl_memory_desc_init_by_strides(md, 2, dims, dnnl_f32, strides);
}

static dnnl_status_t matmul_recipe(struct onednn_recipe *r,
                                   const struct onednn_key *key)
{
    dnnl_memory_desc_t C;
    dnnl_memory_desc_t A;
    dnnl_memory_desc_t B;
    dnnl_memory_desc_t bias;
    dnnl_matmul_desc_t desc;
    dnnl_status_t code = matrix(&C, key->n, key->m, false);
    if (!code)
        code = matrix(&A, key->n, key->k, key->flip_a);
    if (!code)
        code = matrix(&B, key->k, key->m, key->flip_b);
    if (!code)
        code = matrix(&bias, 1, key->m, false);
    if (!code)
        code =
            dnnl_matmul_desc_init(&desc, &A, &B, key->bias ? &bias : NULL, &C);
    if (code)
        return code;
    onednn_add_arg(r, DNNL_ARG_DST, &C);
    onednn_add_arg(r, DNNL_ARG_SRC, &A);
    onednn_add_arg(r, DNNL_ARG_WEIGHTS, &B);
    if (key->bias)
        onednn_add_arg(r, DNNL_ARG_BIAS, &bias);
    return dnnl_primitive_desc_create(&r->desc, &desc, NULL, engine, NULL);
}

static dnnl_status_t eltwise_recipe(struct onednn_recipe *r,
                                    const struct onednn_key *key)
{
    dnnl_memory_desc_t md;
    dnnl_eltwise_desc_t desc;
    dnnl_dims_t dims = {key->n};
    dnnl_dims_t strides = {1};
    dnnl_status_t code =
        dnnl_memory_desc_init_by_strides(&md, 1, dims, dnnl_f32, strides);
    if (!code)
        code = dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_training,
                                              key->alg, &md, key->alpha, 0);
    if (!code)
        code = dnnl_primitive_desc_create(&r->desc, &desc, NULL, engine, NULL);
    if (code)
        return code;
    if (key->kind == ONEDNN_ELTWISE_FORWARD) {
        onednn_add_arg(r, DNNL_ARG_DST, &md);
        onednn_add_arg(r, DNNL_ARG_SRC, &md);
        return dnnl_success;
    }
    bool from_y = key->alg == dnnl_eltwise_tanh_use_dst_for_bwd ||
                  key->alg == dnnl_eltwise_logistic_use_dst_for_bwd;
    onednn_add_arg(r, DNNL_ARG_DIFF_SRC, &md);
    onednn_add_arg(r, DNNL_ARG_DIFF_DST, &md);
    onednn_add_arg(r, from_y ? DNNL_ARG_DST : DNNL_ARG_SRC, &md);
    dnnl_primitive_desc_t forward = r->desc;
    r->desc = NULL;
    code = dnnl_eltwise_backward_desc_init(&desc, key->alg, &md, &md,
                                           key->alpha, 0);
    if (!code)
        code =
            dnnl_primitive_desc_create(&r->desc, &desc, NULL, engine, forward);
    dnnl_primitive_desc_destroy(forward);
    return code;
}

static dnnl_status_t softmax_recipe(struct onednn_recipe *r,
                                    const struct onednn_key *key)
{
    dnnl_memory_desc_t md;
    dnnl_softmax_desc_t desc;
    dnnl_status_t code = matrix(&md, key->n, key->m, false);
    if (!code)
        code = dnnl_softmax_forward_desc_init(&desc, dnnl_forward_training, &md,
                                              1);
    if (!code)
        code = dnnl_primitive_desc_create(&r->desc, &desc, NULL, engine, NULL);
    if (code)
        return code;
    if (key->kind == ONEDNN_SOFTMAX_FORWARD) {
        onednn_add_arg(r, DNNL_ARG_DST, &md);
        onednn_add_arg(r, DNNL_ARG_SRC, &md);
        return dnnl_success;
    }
    onednn_add_arg(r, DNNL_ARG_DIFF_SRC, &md);
    onednn_add_arg(r, DNNL_ARG_DIFF_DST, &md);
    onednn_add_arg(r, DNNL_ARG_DST, &md);
    dnnl_primitive_desc_t forward = r->desc;
    r->desc = NULL;
    code = dnnl_softmax_backward_desc_init(&desc, &md, &md, 1);
    if (!code)
        code =
            dnnl_primitive_desc_create(&r->desc, &desc, NULL, engine, forward);
    dnnl_primitive_desc_destroy(forward);
    return code;
}

static dnnl_status_t add_recipe(struct onednn_recipe *r,
                                const struct onednn_key *key)
{
    dnnl_memory_desc_t md;
    dnnl_binary_desc_t desc;
    dnnl_dims_t dims = {key->n};
    dnnl_dims_t strides = {1};
    dnnl_status_t code =
        dnnl_memory_desc_init_by_strides(&md, 1, dims, dnnl_f32, strides);
    if (!code)
        code = dnnl_binary_desc_init(&desc, dnnl_binary_add, &md, &md, &md);
    if (code)
        return code;
    onednn_add_arg(r, DNNL_ARG_DST, &md);
    onednn_add_arg(r, DNNL_ARG_SRC_0, &md);
    onednn_add_arg(r, DNNL_ARG_SRC_1, &md);
    return dnnl_primitive_desc_create(&r->desc, &desc, NULL, engine, NULL);
}

static dnnl_status_t make_recipe(struct onednn_recipe *r,
                                 const struct onednn_key *key)
{
    *r = (struct onednn_recipe){0};
    switch (key->kind) {
    case ONEDNN_MATMUL:
        return matmul_recipe(r, key);
    case ONEDNN_ELTWISE_FORWARD:
    case ONEDNN_ELTWISE_BACKWARD:
        return eltwise_recipe(r, key);
    case ONEDNN_SOFTMAX_FORWARD:
    case ONEDNN_SOFTMAX_BACKWARD:
        return softmax_recipe(r, key);
    case ONEDNN_ADD:
        return add_recipe(r, key);
    default:
        return key->recipe(r, key, engine);
    }
}

static void entry_clear(struct entry *e)
{
    for (int i = 0; i < e->n_args; i++)
        dnnl_memory_destroy(e->args[i].memory);
    if (e->primitive)
        dnnl_primitive_destroy(e->primitive);
    memset(e, 0, sizeof(*e));
}

static dnnl_status_t entry_make(struct entry *e, const struct onednn_key *key)
{
    struct onednn_recipe r;
    dnnl_status_t code = make_recipe(&r, key);
    for (int i = 0; !code && i < r.n_args; i++) {
        e->args[i].arg = r.id[i];
        code = dnnl_memory_create(&e->args[i].memory, &r.md[i], engine,
                                  DNNL_MEMORY_NONE);
        if (!code)
            e->n_args = i + 1;
    }
    if (!code)
        code = dnnl_primitive_create(&e->primitive, r.desc);
    if (r.desc)
        dnnl_primitive_desc_destroy(r.desc);
    memcpy(&e->key, key, sizeof(*key));
    if (code)
        entry_clear(e);
    return code;
}

static dnnl_status_t find_or_make(struct entry **out,
                                  const struct onednn_key *key)
{
    for (int i = 0; i < CACHE_SIZE; i++) {
        struct entry *e = &cache[i];
        if (e->primitive && memcmp(&e->key, key, sizeof(*key)) == 0) {
            *out = e;
            return dnnl_success;
        }
    }
    struct entry *e = &cache[next_place];
    next_place = (next_place + 1) % CACHE_SIZE;
    entry_clear(e);
    *out = e;
    return entry_make(e, key);
}

void onednn_enter(struct onednn_place *out)
{
    pthread_mutex_lock(&lock);
#ifdef _OPENMP
    omp_set_num_threads(1); /* this thread's setting: the same bits always */
#endif
    *out = (struct onednn_place){engine, stream};
}

enum lab_status onednn_leave(dnnl_status_t code, const char *what)
{
    enum lab_status st = check(code, what);
    pthread_mutex_unlock(&lock);
    return st;
}

enum lab_status onednn_run(const struct onednn_key *key, void *const *data)
{
    struct entry *e = NULL;
    struct onednn_place at;
    onednn_enter(&at);
    dnnl_status_t code = find_or_make(&e, key);
    for (int i = 0; !code && i < e->n_args; i++)
        code = dnnl_memory_set_data_handle(e->args[i].memory, data[i]);
    if (!code)
        code =
            dnnl_primitive_execute(e->primitive, at.stream, e->n_args, e->args);
    if (!code)
        code = dnnl_stream_wait(at.stream);
    return onednn_leave(code, "a primitive");
}

/* Exported; declared here, as nothing links it. */
__attribute__((visibility("default")))
lab_onednn_report_to_fn lab_onednn_report_to;

void lab_onednn_report_to(lab_onednn_report_fn *function)
{
    report = function;
}

enum lab_status onednn_finish(enum lab_status st)
{
    if (st && report)
        report(st, lab_error());
    return st;
}
