/* backend.c -- what all backends share: opening one, calling its slots, its variants,
 * and the rows of labs that can do a step of a network, which are called with
 * the step's tensors in the operation's shapes. */
#include "engine/backend.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "variant_disabled.h"
#include "labs/operation.h"

/* ---- rows of labs that can do a step of a network ----
 *
 * The product of the lab gemm is that of a dense layer: the same tensors in the
 * same order, seen as matrices. An operation names the step that it is
 * (struct lab_operation's as_step), and its rows are offered under that step as
 * they are; one in another precision has it in its name ("mma_tf32"). Rows with
 * tensors of another type than the step's do not fit. */

/* A call of the lab's operation, made from the step's. */
struct step_call {
    struct lab_call call;
    struct lab_view in[LAB_BENCH_TENSORS];
    struct lab_view out[LAB_BENCH_TENSORS];
    int64_t size[LAB_BENCH_DIMS];
};

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
 * not start on 16 bytes, which step_row_serves() refuses. A step has no
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
    for (int i = 0;
         n < MAX_ROWS && (v = be->ops->variant(be, operation->name, i)); i++) {
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
        row->prepare = nothing; /* may refuse: step_row_serves() */
    }
    tables[t].sets[link] =
        (struct lab_kernel_set){to->op, tables[t].rows[link], n};
    tables[t].list[link] = &tables[t].sets[link];
    tables[t].count++;
}

static const struct lab_kernel_set *const *step_rows(struct lab_backend *be,
                                                     int *count)
{
    const struct lab_operation *operation;
    int t = 0;
    *count = 0;
    if (!be->ops->variant)
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

static enum lab_status step_call_of(struct step_call *out,
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

static enum lab_status step_row_serves(struct lab_backend *be,
                                       const struct lab_variant *v,
                                       const struct lab_call *step)
{
    struct lab_device_info info = {0};
    struct step_call call;
    int major = v->capability / 10;
    if (v->capability) /* costs files that are read, on a CPU */
        be->ops->info(be, &info);
    int has = info.compute_major * 10 + info.compute_minor;
    if (v->capability_only ? info.compute_major != major : has < v->capability)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[variant.capability] %s needs compute capability "
                        "%d.%d%s, this GPU has %d.%d",
                        v->name, major, v->capability % 10,
                        v->capability_only ? "" : " or later",
                        info.compute_major, info.compute_minor);
    for (int i = 0; i < step->n_in && v->release; i++) {
        int64_t cols = lab_view_cols(&step->in[i]);
        if (cols * (int64_t)sizeof(float) % TMA_BYTES)
            return lab_fail(
                LAB_E_UNSUPPORTED,
                "[variant.alignment] %s needs rows that start on %d bytes: "
                "%lld numbers a row are not a multiple of %d",
                v->name, TMA_BYTES, (long long)cols,
                TMA_BYTES / (int)sizeof(float));
    }
    return step_call_of(&call, v->of_lab, step);
}

/* the only caller of a backend's slots: defaults for optional
 * ones, texts for their errors. */

/* Built-in backends; the CUDA module's table joins when it is loaded. A table,
 * not constructors: the linker drops those from a static library. */
static const struct lab_backend_ops *const built_in[] = {
    &lab_backend_cpu, &lab_backend_null, &lab_backend_sim};
_Static_assert(sizeof(built_in) / sizeof(built_in[0]) == 3,
               "cpu, null and sim are built in, cuda is a module");

enum lab_status lab_backend_judge(const struct lab_backend_ops *ops,
                                  enum lab_status st)
{
    char copy[512];
    char id[LAB_ERROR_ID_BYTES];
    if (!st)
        return LAB_OK;
    const char *text = ops->error ? ops->error() : "";
    bool has_id = text[0] && ops->error_id;
    if (!text[0])
        text = lab_status_text(st);
    snprintf(copy, sizeof(copy), "%s", text);
    snprintf(id, sizeof(id), "%s", has_id ? ops->error_id() : "");
    return id[0] ? lab_fail_id(st, id, "%s", copy) : lab_fail(st, "%s", copy);
}

enum lab_status lab_backend_open(struct lab_backend **out, const char *name,
                                 int device)
{
    const struct lab_backend_ops *ops = NULL;
    if (strcmp(name, "auto") == 0)
        return lab_backend_open(out, "cuda", device)
                   ? lab_backend_open(out, "cpu", 0)
                   : LAB_OK;
    for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++) {
        if (strcmp(built_in[i]->name, name) == 0)
            ops = built_in[i];
    }
    if (!ops && strcmp(name, "cuda") == 0) {
        const struct lab_cuda_module *module;
        enum lab_status st = lab_cuda_load(&module);
        if (st)
            return st;
        ops = module->backend;
    }
    if (!ops)
        return lab_fail(
            LAB_E_USAGE,
            "[backend.name] no backend '%s': use auto, cpu, cuda or sim", name);
    return lab_backend_judge(ops, ops->open(out, device));
}

void lab_backend_close(struct lab_backend *be)
{
    if (be)
        be->ops->close(be);
}

enum lab_status lab_backend_alloc(struct lab_backend *be, size_t bytes,
                                  void **out)
{
    return lab_backend_judge(be->ops, be->ops->alloc(be, bytes, out));
}

void lab_backend_free(struct lab_backend *be, void *p)
{
    if (be && p)
        be->ops->free(be, p);
}

void lab_backend_label(struct lab_backend *be, void *memory, size_t offset,
                       const char *name, bool kept)
{
    if (be->ops->label)
        be->ops->label(be, memory, offset, name, kept);
}

void lab_backend_stop_when(struct lab_backend *be, const struct lab_stop *stop)
{
    if (be->ops->stop_when)
        be->ops->stop_when(be, stop);
}

enum lab_status lab_backend_upload(struct lab_backend *be, void *dst,
                                   const void *src, size_t bytes)
{
    return bytes ? lab_backend_judge(be->ops,
                                     be->ops->upload(be, dst, src, bytes))
                 : LAB_OK;
}

enum lab_status lab_backend_download(struct lab_backend *be, void *dst,
                                     const void *src, size_t bytes)
{
    return bytes ? lab_backend_judge(be->ops,
                                     be->ops->download(be, dst, src, bytes))
                 : LAB_OK;
}

enum lab_status lab_backend_copy(struct lab_backend *be, void *dst,
                                 const void *src, size_t bytes)
{
    return bytes
               ? lab_backend_judge(be->ops, be->ops->copy(be, dst, src, bytes))
               : LAB_OK;
}

enum lab_status lab_backend_run(struct lab_backend *be,
                                const struct lab_variant *v,
                                struct lab_call *call)
{
    struct step_call of_lab;
    if (v->of_lab) {
        enum lab_status no = step_call_of(&of_lab, v->of_lab, call);
        if (no)
            return no;
        call = &of_lab.call;
    }
    return lab_backend_judge(be->ops, be->ops->run(be, v, call));
}

const struct lab_kernel_set *lab_backend_set(struct lab_backend *be,
                                             enum lab_dtype real, int i)
{
    int n = 0;
    int more = 0;
    const struct lab_kernel_set *const *sets = be->ops->sets(be, real, &n);
    if (i < n)
        return sets[i];
    sets = real == LAB_F32 ? step_rows(be, &more) : NULL;
    return i - n < more ? sets[i - n] : NULL;
}

/* The slot that sets call->exec does for it, too. */
enum lab_status lab_backend_prepare(struct lab_backend *be,
                                    const struct lab_variant *v,
                                    struct lab_call *call)
{
    struct lab_variant first = *v;
    if (v->of_lab)
        return step_row_serves(be, v, call);
    if (!v->prepare)
        return LAB_OK;
    first.run = v->prepare;
    return lab_backend_run(be, &first, call);
}

enum lab_status lab_backend_sync(struct lab_backend *be)
{
    return be->ops->sync ? lab_backend_judge(be->ops, be->ops->sync(be))
                         : LAB_OK;
}

enum lab_status lab_backend_time_begin(struct lab_backend *be)
{
    if (!be->ops->time_begin)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[backend.no-clock] no device clock");
    return lab_backend_judge(be->ops, be->ops->time_begin(be));
}

enum lab_status lab_backend_time_end(struct lab_backend *be, int64_t *ns)
{
    if (!be->ops->time_end)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[backend.no-clock] no device clock");
    return lab_backend_judge(be->ops, be->ops->time_end(be, ns));
}

void lab_backend_info(struct lab_backend *be, struct lab_device_info *out)
{
    *out = (struct lab_device_info){0};
    be->ops->info(be, out);
}

static bool same_step(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The first row of the step that has this name, or any with NULL. */
static const struct lab_variant *first_row(struct lab_backend *be,
                                           enum lab_dtype real, const char *op,
                                           const char *step,
                                           enum lab_phase phase,
                                           const char *name, bool preferred)
{
    const struct lab_kernel_set *set;
    for (int i = 0; (set = lab_backend_set(be, real, i)); i++) {
        if (strcmp(set->op, op) != 0)
            continue;
        for (int k = 0; k < set->count; k++) {
            const struct lab_variant *v = &set->variants[k];
            if (v->phase == phase && same_step(v->step, step) &&
                (!name || strcmp(v->name, name) == 0) &&
                (!preferred || v->preferred) && !lab_variant_disabled(v))
                return v;
        }
    }
    return NULL;
}

const struct lab_variant *
lab_backend_variant(struct lab_backend *be, enum lab_dtype real, const char *op,
                    const char *step, enum lab_phase phase, const char *name)
{
    return first_row(be, real, op, step, phase, name, false);
}

const struct lab_variant *
lab_backend_preferred(struct lab_backend *be, enum lab_dtype real,
                      const char *op, const char *step, enum lab_phase phase)
{
    return first_row(be, real, op, step, phase, NULL, true);
}

static bool listed(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

int lab_backend_variant_names(struct lab_backend *be, enum lab_dtype real,
                              const char *op, const char **names, int max)
{
    const struct lab_kernel_set *set;
    int n = 0;
    for (int i = 0; (set = lab_backend_set(be, real, i)); i++) {
        if (strcmp(set->op, op) != 0)
            continue;
        for (int k = 0; k < set->count && n < max; k++) {
            const struct lab_variant *v = &set->variants[k];
            if (!lab_variant_disabled(v) && !listed(names, n, v->name))
                names[n++] = v->name;
        }
    }
    return n;
}

const struct lab_variant *lab_backend_variant_at(struct lab_backend *be,
                                                 const char *operation, int i)
{
    return be->ops->variant ? be->ops->variant(be, operation, i) : NULL;
}
