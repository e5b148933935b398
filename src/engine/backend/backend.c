#include "engine/backend.h"

#include <stdio.h>
#include <string.h>

#include "backend_priv.h"
#include "verify/variant_check.h"

/* Built-in backends; the CUDA module's table joins when it is loaded. A table,
 * not constructors: the linker drops those from a static library. */
static const struct lab_backend_ops *const built_in[] = {&lab_backend_cpu,
                                                         &lab_backend_null};
_Static_assert(sizeof(built_in) / sizeof(built_in[0]) == 2,
               "cpu and null are built in, cuda is a module");

enum lab_status lab_backend_slot_failed(const struct lab_backend_ops *ops,
                                        enum lab_status st)
{
    const char *text = ops->error ? ops->error() : "";
    char copy[512];
    if (!text[0])
        text = lab_status_text(st);
    snprintf(copy, sizeof(copy), "%s", text);
    return lab_fail(st, "%s", copy);
}

enum lab_status lab_backend_open(struct lab_backend **out, const char *name,
                                 int device)
{
    const struct lab_backend_ops *ops = NULL;
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
        return lab_fail(LAB_E_USAGE, "no backend '%s': use auto, cpu or cuda",
                        name);
    enum lab_status st = ops->open(out, device);
    return st ? lab_backend_slot_failed(ops, st) : LAB_OK;
}

void lab_backend_close(struct lab_backend *be)
{
    if (be)
        be->ops->close(be);
}

enum lab_status lab_backend_alloc(struct lab_backend *be, size_t bytes,
                                  void **out)
{
    enum lab_status st = be->ops->alloc(be, bytes, out);
    return st ? lab_backend_slot_failed(be->ops, st) : LAB_OK;
}

void lab_backend_free(struct lab_backend *be, void *p)
{
    if (be && p)
        be->ops->free(be, p);
}

enum lab_status lab_backend_upload(struct lab_backend *be, void *dst,
                                   const void *src, size_t bytes)
{
    if (bytes == 0)
        return LAB_OK;
    enum lab_status st = be->ops->upload(be, dst, src, bytes);
    return st ? lab_backend_slot_failed(be->ops, st) : LAB_OK;
}

enum lab_status lab_backend_download(struct lab_backend *be, void *dst,
                                     const void *src, size_t bytes)
{
    if (bytes == 0)
        return LAB_OK;
    enum lab_status st = be->ops->download(be, dst, src, bytes);
    return st ? lab_backend_slot_failed(be->ops, st) : LAB_OK;
}

enum lab_status lab_backend_copy(struct lab_backend *be, void *dst,
                                 const void *src, size_t bytes)
{
    if (bytes == 0)
        return LAB_OK;
    enum lab_status st = be->ops->copy(be, dst, src, bytes);
    return st ? lab_backend_slot_failed(be->ops, st) : LAB_OK;
}

enum lab_status lab_backend_run(struct lab_backend *be,
                                const struct lab_variant *v,
                                struct lab_call *call)
{
    enum lab_status st = be->ops->run(be, v, call);
    return st ? lab_backend_slot_failed(be->ops, st) : LAB_OK;
}

/* The slot that sets call->exec does for it, too. */
enum lab_status lab_backend_prepare(struct lab_backend *be,
                                    const struct lab_variant *v,
                                    struct lab_call *call)
{
    struct lab_variant first = *v;
    if (!v->prepare)
        return LAB_OK;
    first.run = v->prepare;
    return lab_backend_run(be, &first, call);
}

enum lab_status lab_backend_sync(struct lab_backend *be)
{
    if (!be->ops->sync)
        return LAB_OK;
    enum lab_status st = be->ops->sync(be);
    return st ? lab_backend_slot_failed(be->ops, st) : LAB_OK;
}

enum lab_status lab_backend_time_begin(struct lab_backend *be)
{
    if (!be->ops->time_begin)
        return lab_fail(LAB_E_UNSUPPORTED, "no device clock");
    enum lab_status st = be->ops->time_begin(be);
    return st ? lab_backend_slot_failed(be->ops, st) : LAB_OK;
}

enum lab_status lab_backend_time_end(struct lab_backend *be, int64_t *ns)
{
    if (!be->ops->time_end)
        return lab_fail(LAB_E_UNSUPPORTED, "no device clock");
    enum lab_status st = be->ops->time_end(be, ns);
    return st ? lab_backend_slot_failed(be->ops, st) : LAB_OK;
}

void lab_backend_info(struct lab_backend *be, struct lab_device_info *out)
{
    *out = (struct lab_device_info){0};
    be->ops->info(be, out);
}

enum lab_status lab_backend_check(struct lab_backend *be, struct lab_str *said)
{
    return lab_variant_check(be, said);
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
    int n = 0;
    const struct lab_kernel_set *const *sets = be->ops->sets(be, real, &n);
    for (int i = 0; i < n; i++) {
        if (strcmp(sets[i]->op, op) != 0)
            continue;
        for (int k = 0; k < sets[i]->count; k++) {
            const struct lab_variant *v = &sets[i]->variants[k];
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
    int n_sets = 0;
    int n = 0;
    const struct lab_kernel_set *const *sets = be->ops->sets(be, real, &n_sets);
    for (int i = 0; i < n_sets; i++) {
        if (strcmp(sets[i]->op, op) != 0)
            continue;
        for (int k = 0; k < sets[i]->count && n < max; k++) {
            const struct lab_variant *v = &sets[i]->variants[k];
            if (!lab_variant_disabled(v) && !listed(names, n, v->name))
                names[n++] = v->name;
        }
    }
    return n;
}

const struct lab_rung *lab_backend_rung(struct lab_backend *be,
                                        const char *operation, int i)
{
    return be->ops->rung ? be->ops->rung(be, operation, i) : NULL;
}
