/* kernels/library/onednn.c -- oneDNN's engine and its primitives, kept by shape. */
#include "base/error.h"
#include "library/onednn.h"

#include <pthread.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "library/onednn_abi.h"

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

/* Starts oneDNN, once. LAB_E_DEVICE with oneDNN's code. */
static enum lab_status start(void)
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

struct onednn_key onednn_key(onednn_recipe_fn *recipe, enum onednn_way way)
{
    struct onednn_key key;
    memset(&key, 0, sizeof(key));
    key.recipe = recipe;
    key.way = way;
    return key;
}

/* Member by member: the key's padding stays zero. */
void onednn_set_windows(struct onednn_key *key, const struct lab_image *x,
                        const struct lab_image *y, const struct lab_window *win)
{
    struct onednn_windows *w = &key->windows;
    w->N = x->N;
    w->C = x->C;
    w->M = y->C;
    w->in[0] = x->H;
    w->in[1] = x->W;
    w->out[0] = y->H;
    w->out[1] = y->W;
    w->win.nhwc = win->nhwc;
    for (int i = 0; i < 2; i++) {
        w->win.size[i] = win->size[i];
        w->win.stride[i] = win->stride[i];
        w->win.pad[i] = win->pad[i];
    }
}

void onednn_add_arg(struct onednn_recipe *r, int id,
                    const dnnl_memory_desc_t *md)
{
    r->id[r->n_args] = id;
    r->md[r->n_args] = *md;
    r->n_args++;
}

dnnl_status_t onednn_describe(struct onednn_recipe *r, const void *operation,
                              dnnl_engine_t at)
{
    dnnl_primitive_desc_t hint = r->desc;
    r->desc = NULL;
    dnnl_status_t code =
        dnnl_primitive_desc_create(&r->desc, operation, NULL, at, hint);
    if (hint)
        dnnl_primitive_desc_destroy(hint);
    return code;
}

dnnl_status_t onednn_vector(dnnl_memory_desc_t *md, int64_t count)
{
    dnnl_dims_t dims = {count};
    dnnl_dims_t strides = {1};
    return dnnl_memory_desc_init_by_strides(md, 1, dims, dnnl_f32, strides);
}

dnnl_status_t onednn_matrix(dnnl_memory_desc_t *md, int64_t rows, int64_t cols,
                            bool flip)
{
    dnnl_dims_t dims = {rows, cols};
    dnnl_dims_t strides = {flip ? 1 : cols, flip ? rows : 1};
    return dnnl_memory_desc_init_by_strides(md, 2, dims, dnnl_f32, strides);
}

dnnl_status_t onednn_tensor4(dnnl_memory_desc_t *md, int64_t A, int64_t B,
                             const int64_t side[2], const int64_t strides[4])
{
    dnnl_dims_t dims = {A, B, side[0], side[1]};
    dnnl_dims_t step = {strides[0], strides[1], strides[2], strides[3]};
    return dnnl_memory_desc_init_by_strides(md, 4, dims, dnnl_f32, step);
}

static dnnl_status_t image(dnnl_memory_desc_t *md, bool nhwc, int64_t N,
                           int64_t C, const int64_t side[2])
{
    const int64_t hw = side[0] * side[1];
    const int64_t nchw_step[] = {C * hw, hw, side[1], 1};
    const int64_t nhwc_step[] = {C * hw, 1, side[1] * C, C};
    return onednn_tensor4(md, N, C, side, nhwc ? nhwc_step : nchw_step);
}

dnnl_status_t onednn_images(struct onednn_images *out,
                            const struct onednn_windows *w)
{
    for (int i = 0; i < 2; i++) {
        out->stride[i] = w->win.stride[i];
        out->size[i] = w->win.size[i];
        out->before[i] = w->win.pad[i];
        int64_t after = (w->out[i] - 1) * w->win.stride[i] + w->win.size[i] -
                        w->in[i] - w->win.pad[i];
        out->after[i] = after < 0 ? 0 : after; /* no window reaches the rest */
    }
    dnnl_status_t code = image(&out->x, w->win.nhwc, w->N, w->C, w->in);
    return code ? code : image(&out->y, w->win.nhwc, w->N, w->M, w->out);
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
    struct onednn_recipe r = {0};
    dnnl_status_t code = key->recipe(&r, key, engine);
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

bool onednn_all_finite(const struct lab_view *v)
{
    const float *x = v->data;
    float sum = 0;
    for (int64_t i = 0; i < v->count; i++)
        sum += x[i] * 0.0f; /* NaN where x is NaN or infinite */
    return sum == 0.0f;
}

/* ---- what the module exports; declared here, as nothing links it ---- */

#define LAB_EXPORT __attribute__((visibility("default")))
LAB_EXPORT lab_onednn_report_to_fn lab_onednn_report_to;
LAB_EXPORT lab_onednn_sets_fn lab_onednn_sets;

void lab_onednn_report_to(lab_onednn_report_fn *function)
{
    report = function;
}

enum lab_status onednn_finish(enum lab_status st)
{
    if (st && report)
        report(st, lab_error_id(), lab_error());
    return st;
}

const struct lab_kernel_set *const *lab_onednn_sets(int *count, int *abi)
{
#define LAB_ONEDNN_SET(op) &lab_onednn_##op,
    static const struct lab_kernel_set *const sets[] = {
        LAB_ONEDNN_SETS(LAB_ONEDNN_SET)};
    *abi = LAB_ONEDNN_ABI;
    *count = 0;
    if (onednn_finish(start()))
        return NULL;
    *count = sizeof(sets) / sizeof(sets[0]);
    return sets;
}
