/* step_rows.c -- finds the rows of labs that can do a step of a network, and
 * calls them with the step's tensors in the operation's shapes. */
#include "step_rows.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LINKS = 8, MAX_ROWS = 32, MAX_BACKENDS = 8, NAME_BYTES = 32 };
enum { TMA_BYTES = 16 };

/* The rows of one backend, an operation after the other. */
static struct {
    const struct lab_backend_ops *ops;
    int count;
    struct lab_variant rows[MAX_LINKS][MAX_ROWS];
    char names[MAX_LINKS][MAX_ROWS][NAME_BYTES];
    struct lab_kernel_set sets[MAX_LINKS];
    const struct lab_kernel_set *list[MAX_LINKS];
} tables[MAX_BACKENDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum lab_status nothing(const struct lab_call *call)
{
    (void)call;
    return LAB_OK;
}

/* A candidate of `lab tune` and a row that shows a mistake are for labs alone.
 * What `prepare` makes is made for one size at a time, unless it only describes
 * tensors (it is given back by `release`): then it is needed for rows that do
 * not start on 16 bytes, which lab_step_row_serves() refuses. A step has no
 * scratch tensors. */
static bool fits(const struct lab_variant *v)
{
    return v->run && !v->family && !v->tuned && !v->wrong_on_purpose &&
           !v->scratch && (!v->prepare || v->release) &&
           (v->precision == LAB_FP32 || v->precision == LAB_TF32);
}

static bool is_own(struct lab_backend *be, const struct lab_operation_step *to,
                   const char *name)
{
    int n = 0;
    const struct lab_kernel_set *const *sets = be->ops->sets(be, LAB_F32, &n);
    for (int i = 0; i < n; i++) {
        if (strcmp(sets[i]->op, to->op) != 0)
            continue;
        for (int k = 0; k < sets[i]->count; k++) {
            const struct lab_variant *v = &sets[i]->variants[k];
            if (v->phase == to->phase && v->step &&
                strcmp(v->step, to->step) == 0 && strcmp(v->name, name) == 0)
                return true;
        }
    }
    return false;
}

static void collect(struct lab_backend *be, int t,
                    const struct lab_operation *operation)
{
    const struct lab_operation_step *to = &operation->as_step;
    const struct lab_variant *v;
    int link = tables[t].count;
    int n = 0;
    for (int i = 0; n < MAX_ROWS && (v = be->ops->rung(be, operation->name, i));
         i++) {
        char *name = tables[t].names[link][n];
        if (!fits(v))
            continue;
        snprintf(name, NAME_BYTES, "%s%s%s", v->name,
                 v->precision == LAB_FP32 ? "" : "_",
                 v->precision == LAB_FP32 ? ""
                                          : lab_precision_name(v->precision));
        if (is_own(be, to, name))
            continue;
        struct lab_variant *row = &tables[t].rows[link][n++];
        *row = *v;
        row->name = name;
        row->step = to->step;
        row->phase = to->phase;
        row->of_lab = operation;
        row->prepare = nothing; /* may refuse: lab_step_row_serves() */
    }
    tables[t].sets[link] =
        (struct lab_kernel_set){to->op, tables[t].rows[link], n};
    tables[t].list[link] = &tables[t].sets[link];
    tables[t].count++;
}

const struct lab_kernel_set *const *lab_step_rows(struct lab_backend *be,
                                                  int *count)
{
    const struct lab_operation *operation;
    int t = 0;
    *count = 0;
    if (!be->ops->rung)
        return NULL;
    pthread_mutex_lock(&lock);
    while (t < MAX_BACKENDS && tables[t].ops && tables[t].ops != be->ops)
        t++;
    if (t < MAX_BACKENDS && !tables[t].ops) {
        for (int i = 0;
             tables[t].count < MAX_LINKS && (operation = lab_operation_at(i));
             i++)
            if (operation->as_step.op)
                collect(be, t, operation);
        tables[t].ops = be->ops;
    }
    pthread_mutex_unlock(&lock);
    if (t == MAX_BACKENDS)
        return NULL;
    *count = tables[t].count;
    return tables[t].list;
}

enum lab_status lab_step_call_of(struct lab_step_call *out,
                                 const struct lab_operation *operation,
                                 const struct lab_call *step)
{
    struct lab_bench_tensor t[LAB_BENCH_TENSORS];
    out->call = *step;
    out->call.in = out->in;
    out->call.out = out->out;
    out->call.params = out->size;
    out->call.n_in = 0;
    out->call.n_out = 0;
    if (!operation->as_step.size(step, out->size))
        return LAB_E_UNSUPPORTED;
    int n = operation->tensors(out->size, LAB_FP32, t);
    for (int i = 0; i < n && t[i].role != LAB_ROLE_SCRATCH; i++) {
        bool in = t[i].role == LAB_ROLE_IN;
        struct lab_view *to =
            in ? &out->in[out->call.n_in] : &out->out[out->call.n_out];
        *to = in ? step->in[out->call.n_in++] : step->out[out->call.n_out++];
        to->rank = t[i].rank;
        memcpy(to->dim, t[i].dim, sizeof(to->dim));
    }
    return n > 0 ? LAB_OK : LAB_E_UNSUPPORTED;
}

enum lab_status lab_step_row_serves(struct lab_backend *be,
                                    const struct lab_variant *v,
                                    const struct lab_call *step)
{
    struct lab_device_info info = {0};
    struct lab_step_call call;
    int major = v->capability / 10;
    be->ops->info(be, &info);
    int has = info.compute_major * 10 + info.compute_minor;
    if (v->capability_only ? info.compute_major != major : has < v->capability)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "%s needs compute capability %d.%d%s, this GPU has "
                        "%d.%d",
                        v->name, major, v->capability % 10,
                        v->capability_only ? "" : " or later",
                        info.compute_major, info.compute_minor);
    for (int i = 0; i < step->n_in && v->release; i++) {
        int64_t cols = lab_view_cols(&step->in[i]);
        if (cols * (int64_t)sizeof(float) % TMA_BYTES)
            return lab_fail(LAB_E_UNSUPPORTED,
                            "%s needs rows that start on %d bytes: %lld "
                            "numbers a row are not a multiple of %d",
                            v->name, TMA_BYTES, (long long)cols,
                            TMA_BYTES / (int)sizeof(float));
    }
    return lab_step_call_of(&call, v->of_lab, step);
}
