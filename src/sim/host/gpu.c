/* gpu.c -- a simulated GPU behind a CUDA runtime: which PTX was loaded into its
 * memory, which GPU a thread works with, and what its launches found. */
#include "sim/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "exec.h"
#include "tensor/tensor_map.h"

struct loaded {
    const struct lab_sim_image *image;
    struct lab_sim_module *module;
};

struct lab_sim_gpu {
    const struct lab_sim_device *device;
    struct lab_sim_memory *memory;
    struct lab_sim_options options;
    struct loaded *loaded;
    size_t loaded_count;
    size_t loaded_room;
    struct lab_sim_gpu_finding *findings;
    size_t finding_count;
    size_t finding_room;
    int64_t left_out; /* findings that are not in the list */
    int launches;     /* since the findings were forgotten */
    void (*launched)(void *user, const struct lab_sim_gpu_launched *of);
    void *user;
    void (*before)(void *user, const struct lab_sim_gpu_call *of);
    void *before_user;
};

static _Thread_local struct lab_sim_gpu *current;

enum lab_status lab_sim_gpu_open(const struct lab_sim_device *device,
                                 struct lab_sim_gpu **out)
{
    struct lab_sim_gpu *gpu = lab_alloc(sizeof(*gpu));
    if (!gpu)
        return lab_no_memory("a simulated GPU");
    gpu->device = device ? device : lab_sim_device_at(0);
    gpu->options = (struct lab_sim_options){
        .checks = (1u << LAB_SIM_CHECK_COUNT) - 1, .device = gpu->device};
    enum lab_status st = lab_sim_memory_open(&gpu->memory);
    if (st) {
        lab_free(gpu);
        return st;
    }
    *out = gpu;
    return LAB_OK;
}

void lab_sim_gpu_close(struct lab_sim_gpu *gpu)
{
    if (!gpu)
        return;
    if (current == gpu)
        current = NULL;
    for (size_t i = 0; i < gpu->loaded_count; i++)
        lab_sim_module_close(gpu->loaded[i].module);
    lab_sim_memory_close(gpu->memory);
    lab_free(gpu->loaded);
    lab_free(gpu->findings);
    lab_free(gpu);
}

void lab_sim_gpu_enter(struct lab_sim_gpu *gpu)
{
    current = gpu;
}

struct lab_sim_memory *lab_sim_gpu_memory(struct lab_sim_gpu *gpu)
{
    return gpu->memory;
}

struct lab_sim_options *lab_sim_gpu_options(struct lab_sim_gpu *gpu)
{
    return &gpu->options;
}

void lab_sim_gpu_listen(struct lab_sim_gpu *gpu,
                        void (*launched)(void *user,
                                         const struct lab_sim_gpu_launched *of),
                        void *user)
{
    gpu->launched = launched;
    gpu->user = user;
}

void lab_sim_gpu_before(struct lab_sim_gpu *gpu,
                        void (*call)(void *user,
                                     const struct lab_sim_gpu_call *of),
                        void *user)
{
    gpu->before = call;
    gpu->before_user = user;
}

/* ---- what was found ---- */

const struct lab_sim_gpu_finding *
lab_sim_gpu_findings(const struct lab_sim_gpu *gpu, int *count)
{
    *count = (int)gpu->finding_count;
    return gpu->findings;
}

void lab_sim_gpu_forget(struct lab_sim_gpu *gpu)
{
    gpu->finding_count = 0;
    gpu->left_out = 0;
    gpu->launches = 0;
}

/* "kernels/dense/dense.cu": a build knows its sources by absolute paths. */
static const char *source_name(const char *path)
{
    static const char folder[] = "/kernels/";
    const char *last = NULL;
    for (const char *at = path; at && (at = strstr(at, folder)); at++)
        last = at + 1;
    return last ? last : path;
}

const char *lab_sim_source(const struct lab_ptx *ptx, int32_t place, int *line)
{
    *line = 0;
    if (!ptx || place < 0 || place >= ptx->place_count)
        return NULL;
    const struct lab_ptx_place *p = &ptx->places[place];
    if (p->file < 0 || p->file >= ptx->file_count)
        return NULL;
    *line = p->line;
    return source_name(ptx->files[p->file]);
}

void lab_sim_callers_text(const struct lab_ptx *ptx, int32_t place, char *out,
                          size_t cap)
{
    size_t n = 0;
    int line;
    out[0] = '\0';
    for (int32_t at = ptx ? lab_ptx_caller(ptx, place) : -1; at >= 0;
         at = lab_ptx_caller(ptx, at)) {
        const char *file = lab_sim_source(ptx, at, &line);
        const char *slash = strrchr(file, '/');
        const size_t more =
            (size_t)snprintf(out + n, cap - n, ", called at %s:%d",
                             slash ? slash + 1 : file, line);
        if (more >= cap - n) {
            out[n] = '\0';
            return;
        }
        n += more;
    }
}

void lab_sim_launch_text(int launch, char *out, size_t cap)
{
    out[0] = '\0';
    if (launch > 1)
        snprintf(out, cap, " (launch %d)", launch);
}

void lab_sim_finding_text(const struct lab_sim_gpu_finding *f, char *out,
                          size_t cap)
{
    const struct lab_sim_where *at = &f->found.at;
    char where[LAB_SIM_NAME * 4] = "";
    char callers[LAB_SIM_CALLERS];
    char launch[32];
    int line;
    const char *file = lab_sim_source(f->ptx, at->place, &line);
    if (file)
        snprintf(where, sizeof(where), " at %s:%d", file, line);
    lab_sim_callers_text(f->ptx, at->place, callers, sizeof(callers));
    lab_sim_launch_text(f->launch, launch, sizeof(launch));
    snprintf(out, cap,
             "%s in %s%s%s%s, block (%u,%u,%u), thread (%u,%u,%u): %s",
             lab_sim_check_id(f->found.check), f->kernel, launch, where,
             callers, at->block[0], at->block[1], at->block[2], at->thread[0],
             at->thread[1], at->thread[2], f->found.message);
    lab_utf8_trim(out);
}

enum lab_status lab_sim_gpu_judge(const struct lab_sim_gpu *gpu)
{
    char text[768];
    int64_t more = gpu->left_out;
    if (gpu->finding_count == 0)
        return LAB_OK;
    more += (int64_t)gpu->finding_count - 1;
    lab_sim_finding_text(&gpu->findings[0], text, sizeof(text));
    if (more > 0)
        return lab_fail(LAB_E_CHECK, "%s (and %lld more)", text,
                        (long long)more);
    return lab_fail(LAB_E_CHECK, "%s", text);
}

/* "stencil_shared" for "_Z14stencil_sharedILb0EEvPfPKfl": the last part of the
 * name of C++, without its types. */
static void bare_name(const char *symbol, char *out, size_t cap)
{
    const char *at = symbol;
    const char *name = symbol;
    size_t n = strlen(symbol);
    if (strncmp(at, "_Z", 2) == 0) {
        at += 2 + (at[2] == 'N');
        while (*at >= '1' && *at <= '9') {
            char *rest;
            size_t length = strtoul(at, &rest, 10);
            if (length > strlen(rest))
                break;
            name = rest;
            n = length;
            at = rest + length;
        }
    }
    snprintf(out, cap, "%.*s", n < cap ? (int)n : (int)cap - 1, name);
}

static enum lab_status keep(struct lab_sim_gpu *gpu,
                            const struct lab_sim_result *r,
                            const struct lab_ptx *ptx, const char *kernel)
{
    enum { MOST = 1000 };
    gpu->left_out += r->findings_left_out;
    for (int32_t i = 0; i < r->finding_count; i++) {
        if (gpu->finding_count == MOST) {
            gpu->left_out += r->finding_count - i;
            return LAB_OK;
        }
        enum lab_status st =
            lab_grow(&gpu->findings, gpu->finding_count, &gpu->finding_room,
                     sizeof(*gpu->findings), "findings");
        if (st)
            return st;
        struct lab_sim_gpu_finding *f = &gpu->findings[gpu->finding_count++];
        *f = (struct lab_sim_gpu_finding){
            .found = r->findings[i], .ptx = ptx, .launch = gpu->launches};
        bare_name(kernel, f->kernel, sizeof(f->kernel));
    }
    return LAB_OK;
}

/* ---- what the module calls ---- */

static enum lab_status entered(void)
{
    return current ? LAB_OK
                   : lab_fail(LAB_E_STATE,
                              "[sim.no-gpu] this thread has no simulated GPU");
}

static const struct lab_sim_device *host_device(void)
{
    return current ? current->device : NULL;
}

static enum lab_status host_alloc(size_t bytes, void **out)
{
    enum lab_status st = entered();
    return st ? st : lab_sim_alloc(current->memory, bytes, out);
}

static enum lab_status host_free(void *p)
{
    enum lab_status st = entered();
    return st ? st : lab_sim_free(current->memory, p);
}

static enum lab_status host_written(void *p, size_t bytes)
{
    enum lab_status st = entered();
    return st ? st : lab_sim_written(current->memory, p, bytes);
}

/* Reads the PTX of an image when it is first used. */
static enum lab_status load(const struct lab_sim_image *image,
                            struct lab_sim_module **out)
{
    struct lab_sim_gpu *gpu = current;
    enum lab_status st = entered();
    if (st)
        return st;
    for (size_t i = 0; i < gpu->loaded_count; i++) {
        if (gpu->loaded[i].image == image) {
            *out = gpu->loaded[i].module;
            return LAB_OK;
        }
    }
    st = lab_grow(&gpu->loaded, gpu->loaded_count, &gpu->loaded_room,
                  sizeof(*gpu->loaded), "the modules of a simulated GPU");
    if (!st)
        st = lab_sim_module_open(gpu->memory, image->text, image->bytes,
                                 image->name, out);
    if (st)
        return st;
    gpu->loaded[gpu->loaded_count++] = (struct loaded){image, *out};
    return LAB_OK;
}

static enum lab_status host_variable(const struct lab_sim_image *image,
                                     const char *name, void **out,
                                     size_t *bytes)
{
    struct lab_sim_module *module;
    enum lab_status st = load(image, &module);
    return st ? st : lab_sim_module_variable(module, name, out, bytes);
}

/* Bytes of the variables of a space, one after another, each aligned. */
static int64_t variable_bytes(const struct lab_ptx_function *f,
                              enum lab_ptx_space space)
{
    int64_t at = 0;
    for (int32_t i = 0; i < f->variable_count; i++) {
        const struct lab_ptx_variable *v = &f->variables[i];
        if (v->space != space || v->external)
            continue;
        int64_t align = v->align > 0 ? v->align : 1;
        at = (at + align - 1) / align * align;
        at += v->elements * lab_ptx_type_bytes(v->type);
    }
    return at;
}

static void facts_of(const struct lab_ptx_function *f,
                     struct lab_sim_kernel_facts *out)
{
    int most = current->device->max_threads;
    int64_t bound = 1;
    for (int d = 0; d < 3; d++)
        bound *= f->max_threads[d] > 0 ? f->max_threads[d] : 1;
    if (f->max_threads[0] > 0 && bound < most)
        most = (int)bound;
    *out = (struct lab_sim_kernel_facts){
        .shared_bytes = variable_bytes(f, LAB_PTX_SHARED),
        .local_bytes = variable_bytes(f, LAB_PTX_LOCAL),
        .max_threads = most};
}

static enum lab_status host_facts(const struct lab_sim_image *image,
                                  const char *kernel,
                                  struct lab_sim_kernel_facts *out)
{
    struct lab_sim_module *module;
    enum lab_status st = load(image, &module);
    if (st)
        return st;
    const struct lab_ptx_function *f =
        lab_ptx_function(lab_sim_module_ptx(module), kernel);
    if (!f)
        return lab_fail(LAB_E_NOTFOUND,
                        "[sim.module-kernel] %s has no kernel %s", image->name,
                        kernel);
    facts_of(f, out);
    return LAB_OK;
}

static enum lab_status host_launch(const struct lab_sim_gpu_launch *launch)
{
    struct lab_sim_module *module;
    struct lab_sim_launch run = {.shared_bytes = launch->shared_bytes,
                                 .args = (const void *const *)launch->args};
    struct lab_sim_result result = {0};
    struct lab_sim_kernel_facts facts;
    enum lab_status st = load(launch->image, &module);
    if (!st)
        st = lab_sim_kernel_find(module, launch->kernel, &run.kernel);
    if (st)
        return st;
    struct lab_sim_gpu *gpu = current;
    const struct lab_ptx *ptx = lab_sim_module_ptx(module);
    const struct lab_ptx_function *f = lab_sim_kernel_function(run.kernel);
    memcpy(run.grid, launch->grid, sizeof(run.grid));
    memcpy(run.block, launch->block, sizeof(run.block));
    run.arg_count = f->param_count;
    struct lab_sim_gpu_launched of = {.launch = launch,
                                      .facts = &facts,
                                      .result = &result,
                                      .ptx = ptx,
                                      .start_ns = lab_clock_wall_ns()};
    facts_of(f, &facts);
    const struct lab_sim_gpu_call call = {
        gpu->memory, &run, &gpu->options, ptx, launch->kernel, ++gpu->launches};
    if (gpu->before)
        gpu->before(gpu->before_user, &call);
    st = lab_sim_run(gpu->memory, &run, &gpu->options, &result);
    if (st && st != LAB_E_CANCELLED)
        return st;
    of.end_ns = lab_clock_wall_ns();
    enum lab_status kept = keep(gpu, &result, ptx, run.kernel->name);
    if (gpu->launched && !st)
        gpu->launched(gpu->user, &of);
    bool found = result.finding_count > 0;
    lab_sim_result_release(&result);
    if (st) {
        char name[LAB_SIM_NAME];
        bare_name(run.kernel->name, name, sizeof(name));
        return lab_fail(st, "kernel %s: it was stopped", name);
    }
    return kept || !found ? kept : lab_sim_gpu_judge(gpu);
}

static enum lab_status host_tensor_map(void *out,
                                       const struct lab_sim_tensor_map *in)
{
    struct sim_tensor_map m = {.magic = SIM_TENSOR_MAGIC,
                               .address = (uint64_t)(uintptr_t)in->address,
                               .type = (uint8_t)in->type,
                               .rank = (uint8_t)in->rank,
                               .swizzle = (uint8_t)in->swizzle,
                               .interleave = (uint8_t)in->interleave,
                               .fill = (uint8_t)in->fill};
    if (in->rank < 1 || in->rank > SIM_TENSOR_RANK)
        return lab_fail(LAB_E_ARG, "a tensor map of rank %u", in->rank);
    for (uint32_t d = 0; d < in->rank; d++) {
        if (in->box[d] > UINT16_MAX || in->step[d] > UINT8_MAX)
            return lab_fail(LAB_E_ARG, "a box of %u elements, every %u",
                            in->box[d], in->step[d]);
        m.dim[d] = in->dim[d];
        m.box[d] = (uint16_t)in->box[d];
        m.step[d] = (uint8_t)in->step[d];
        if (d > 0)
            m.stride[d - 1] = in->stride[d - 1];
    }
    const char *wrong = sim_tensor_map_wrong(&m);
    if (wrong)
        return lab_fail(LAB_E_ARG, "a tensor map that is wrong: %s", wrong);
    memcpy(out, &m, sizeof(m));
    return LAB_OK;
}

const struct lab_sim_host lab_sim_host = {
    .abi = LAB_SIM_MODULE_ABI,
    .error = lab_error,
    .device = host_device,
    .alloc = host_alloc,
    .free = host_free,
    .written = host_written,
    .variable = host_variable,
    .facts = host_facts,
    .launch = host_launch,
    .tensor_map = host_tensor_map,
};
