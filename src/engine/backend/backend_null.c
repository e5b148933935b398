/* The null backend: memory and tables of the CPU's, but no kernel runs. For
 * interface tests, which then never wait for arithmetic. */
#include <stdio.h>

#include "engine/backend.h"

static enum lab_status null_open(struct lab_backend **out, int device)
{
    enum lab_status st = lab_backend_cpu.open(out, device);
    if (st == LAB_OK)
        (*out)->ops = &lab_backend_null;
    return st;
}

static void null_close(struct lab_backend *be)
{
    lab_backend_cpu.close(be);
}

static enum lab_status null_alloc(struct lab_backend *be, size_t bytes,
                                  void **out)
{
    return lab_backend_cpu.alloc(be, bytes, out);
}

static void null_free(struct lab_backend *be, void *p)
{
    lab_backend_cpu.free(be, p);
}

static enum lab_status null_move(struct lab_backend *be, void *dst,
                                 const void *src, size_t bytes)
{
    return lab_backend_cpu.copy(be, dst, src, bytes);
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

static const struct lab_kernel_set *const *
null_sets(struct lab_backend *be, enum lab_dtype real, int *count)
{
    return lab_backend_cpu.sets(be, real, count);
}

static void null_info(struct lab_backend *be, struct lab_device_info *out)
{
    (void)be;
    snprintf(out->name, sizeof(out->name), "null (nothing is computed)");
}

const struct lab_backend_ops lab_backend_null = {
    .name = "null",
    .open = null_open,
    .close = null_close,
    .alloc = null_alloc,
    .free = null_free,
    .upload = null_move,
    .download = null_move,
    .copy = null_move,
    .run = null_run,
    .sync = NULL,
    .sets = null_sets,
    .info = null_info,
    .error = lab_error,
};
