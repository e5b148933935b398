/* step_rows.c -- finds the rows of labs that can do a step of a network, and
 * calls them with the step's tensors as matrices. */
#include "step_rows.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 32, MAX_BACKENDS = 8, NAME_BYTES = 32, TMA_BYTES = 16 };

/* A step that is an operation of a lab: the same inputs, then the output. */
static const struct {
    const char *op;
    const char *step;
    enum lab_phase phase;
    const char *operation;
} links[] = {
    {"dense", "matmul", LAB_FORWARD, "gemm"},
    {"softmax", "softmax", LAB_FORWARD, "softmax"},
};
enum { LINKS = sizeof(links) / sizeof(links[0]) };

static struct {
    const struct lab_backend_ops *ops;
    struct lab_variant rows[LINKS][MAX_ROWS];
    char names[LINKS][MAX_ROWS][NAME_BYTES];
    struct lab_kernel_set sets[LINKS];
    const struct lab_kernel_set *list[LINKS];
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
 * not start on 16 bytes, which lab_step_row_serves() refuses. */
static bool fits(const struct lab_variant *v)
{
    return v->run && !v->family && !v->tuned && !v->wrong_on_purpose &&
           (!v->prepare || v->release) &&
           (v->precision == LAB_FP32 || v->precision == LAB_TF32);
}

static bool is_own(struct lab_backend *be, int link, const char *name)
{
    int n = 0;
    const struct lab_kernel_set *const *sets = be->ops->sets(be, LAB_F32, &n);
    for (int i = 0; i < n; i++) {
        if (strcmp(sets[i]->op, links[link].op) != 0)
            continue;
        for (int k = 0; k < sets[i]->count; k++) {
            const struct lab_variant *v = &sets[i]->variants[k];
            if (v->phase == links[link].phase && v->step &&
                strcmp(v->step, links[link].step) == 0 &&
                strcmp(v->name, name) == 0)
                return true;
        }
    }
    return false;
}

static void collect(struct lab_backend *be, int t, int link)
{
    const struct lab_variant *v;
    int n = 0;
    for (int i = 0;
         n < MAX_ROWS && (v = be->ops->rung(be, links[link].operation, i));
         i++) {
        char *name = tables[t].names[link][n];
        if (!fits(v))
            continue;
        snprintf(name, NAME_BYTES, "%s%s%s", v->name,
                 v->precision == LAB_FP32 ? "" : "_",
                 v->precision == LAB_FP32 ? ""
                                          : lab_precision_name(v->precision));
        if (is_own(be, link, name))
            continue;
        struct lab_variant *row = &tables[t].rows[link][n++];
        *row = *v;
        row->name = name;
        row->step = links[link].step;
        row->phase = links[link].phase;
        row->of_lab = true;
        row->prepare = nothing; /* may refuse: lab_step_row_serves() */
        row->release = v->release;
    }
    tables[t].sets[link] =
        (struct lab_kernel_set){links[link].op, tables[t].rows[link], n};
    tables[t].list[link] = &tables[t].sets[link];
}

const struct lab_kernel_set *const *lab_step_rows(struct lab_backend *be,
                                                  int *count)
{
    int t = 0;
    *count = 0;
    if (!be->ops->rung)
        return NULL;
    pthread_mutex_lock(&lock);
    while (t < MAX_BACKENDS && tables[t].ops && tables[t].ops != be->ops)
        t++;
    if (t < MAX_BACKENDS && !tables[t].ops) {
        for (int link = 0; link < LINKS; link++)
            collect(be, t, link);
        tables[t].ops = be->ops;
    }
    pthread_mutex_unlock(&lock);
    if (t == MAX_BACKENDS)
        return NULL;
    *count = LINKS;
    return tables[t].list;
}

static struct lab_view matrix(const struct lab_view *v)
{
    struct lab_view m = *v;
    m.rank = 2;
    m.dim[0] = lab_view_rows(v);
    m.dim[1] = lab_view_cols(v);
    return m;
}

void lab_step_call_of(struct lab_step_call *out, const struct lab_call *step)
{
    out->call = *step;
    out->out[0] = matrix(&step->out[0]);
    for (int i = 0; i < step->n_in && i < 2; i++)
        out->in[i] = matrix(&step->in[i]);
    out->size[0] = out->out[0].dim[0];
    out->size[1] = out->out[0].dim[1];
    out->size[2] = out->in[0].dim[1];
    out->call.in = out->in;
    out->call.out = out->out;
    out->call.params = out->size;
}

enum lab_status lab_step_row_serves(struct lab_backend *be,
                                    const struct lab_variant *v,
                                    const struct lab_call *step)
{
    struct lab_device_info info = {0};
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
    return LAB_OK;
}
