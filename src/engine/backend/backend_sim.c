/* backend_sim.c -- the backend "sim": the launchers of lapenna-lab-sim.so choose
 * grid and block as they do for a GPU, and src/sim executes the kernels. Nothing
 * is under way when a call returns, and nothing has a time.
 *
 * A tensor that a step writes counts as unwritten before it, so that a kernel
 * that reads it is found; one that it only reads must not be written. */
#include "engine/sim_backend.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/module.h"
#include "engine/sim_module.h"
#include "common/cuda_exec.h"
#include "sim/argument.h"

#define WORKSPACE_BYTES ((size_t)32 << 20) /* as the CUDA backend's */

/* ---- the module ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct lab_sim_kernels *kernels;
static char reason[512];

static void load(void)
{
    void *handle;
    lab_sim_kernels_fn *entry;
    enum lab_status st = lab_module_open("lapenna-lab-sim.so", &handle);
    bool none = st == LAB_E_NOTFOUND;
    if (!st)
        st = lab_module_symbol(handle, "lab_sim_kernels", &entry);
    const struct lab_sim_kernels *k = st ? NULL : entry(&lab_sim_host);
    if (none)
        snprintf(reason, sizeof(reason),
                 "no module of the simulator: this build has none (%s). "
                 "Remedy: put nvcc of CUDA 12 or later on PATH or install "
                 "clang (neither needs a GPU), and build again",
                 lab_error());
    else if (st)
        snprintf(reason, sizeof(reason),
                 "the simulator's module does not load: %s", lab_error());
    else if (!k || k->abi != LAB_SIM_MODULE_ABI)
        snprintf(reason, sizeof(reason),
                 "the simulator's module is of another version or was built by "
                 "a compiler that is not known. Remedy: build it again");
    else
        kernels = k;
}

enum lab_status lab_sim_kernels_load(const struct lab_sim_kernels **out)
{
    pthread_once(&once, load);
    if (!kernels)
        return lab_fail(LAB_E_UNSUPPORTED, "%s", reason);
    *out = kernels;
    return LAB_OK;
}

/* ---- the backend ---- */

/* A tensor of a plan. */
struct named {
    const void *memory; /* the allocation */
    const void *at;
    bool kept; /* over iterations */
    char name[LAB_SIM_NAME];
};

struct sim_backend {
    struct lab_backend base;
    struct lab_exec exec;
    struct lab_sim_gpu *gpu;
    struct lab_sim_memory *memory; /* the GPU's */
    const struct lab_sim_device *device;
    struct named *names;
    size_t name_count;
    size_t name_room;
    struct lab_sim_backend_left *left; /* by the last call */
    size_t left_count;
    size_t left_room;
};

/* Of backends to come. */
static const struct lab_sim_device *model;
static int64_t budget = LAB_SIM_LAB_BUDGET;
static void (*listener)(void *user, const struct lab_sim_gpu_launched *of);
static void *listener_user;

static struct sim_backend *of(struct lab_backend *be)
{
    return (struct sim_backend *)be;
}

enum lab_status lab_sim_backend_model(const char *name)
{
    char known[256] = "";
    size_t used = 0;
    model = name ? lab_sim_device(name) : NULL;
    if (model || !name)
        return LAB_OK;
    const struct lab_sim_device *d;
    for (int i = 0; (d = lab_sim_device_at(i)) && used < sizeof(known); i++) {
        int n = snprintf(known + used, sizeof(known) - used, "%s\"%s\"",
                         i ? ", " : "", d->name);
        used += n > 0 ? (size_t)n : 0;
    }
    return lab_fail(LAB_E_USAGE,
                    "[backend.device-model] no device model '%s': there are %s",
                    name, known);
}

const char *lab_sim_backend_registers_missing(void)
{
    const struct lab_sim_kernels *loaded;
    if (lab_sim_kernels_load(&loaded))
        return lab_error();
    return loaded->registers_missing(model ? model : lab_sim_device_at(0));
}

struct lab_sim_gpu *lab_sim_backend_gpu(struct lab_backend *be)
{
    return be->ops == &lab_backend_sim ? of(be)->gpu : NULL;
}

void lab_sim_backend_listen(
    void (*launched)(void *user, const struct lab_sim_gpu_launched *of),
    void *user)
{
    listener = launched;
    listener_user = user;
}

void lab_sim_backend_budget(int64_t instructions)
{
    budget = instructions;
}

/* ---- the launch that runs ---- */

static struct {
    pthread_mutex_t lock;
    struct lab_sim_backend_running now; /* ns: when it began */
    bool is;
    atomic_llong executed;
} running = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void running_begin(const struct lab_sim_gpu_call *of)
{
    pthread_mutex_lock(&running.lock);
    snprintf(running.now.kernel, sizeof(running.now.kernel), "%s", of->kernel);
    running.now.launch = of->number;
    running.now.ns = lab_clock_monotonic_ns();
    running.is = true;
    atomic_store(&running.executed, 0);
    pthread_mutex_unlock(&running.lock);
}

static void running_end(void)
{
    pthread_mutex_lock(&running.lock);
    running.is = false;
    pthread_mutex_unlock(&running.lock);
}

bool lab_sim_backend_running(struct lab_sim_backend_running *out)
{
    pthread_mutex_lock(&running.lock);
    const bool is = running.is;
    *out = running.now;
    pthread_mutex_unlock(&running.lock);
    out->executed = atomic_load(&running.executed);
    out->ns = lab_clock_monotonic_ns() - out->ns;
    return is;
}

static void tell(void *user, const struct lab_sim_gpu_launched *launched)
{
    (void)user;
    running_end();
    if (listener)
        listener(listener_user, launched);
}

/* Launches are few: a lock each is nothing. */
static struct {
    pthread_mutex_t lock;
    void (*call)(void *user, const struct lab_sim_gpu_call *of);
    void *user;
} before = {.lock = PTHREAD_MUTEX_INITIALIZER};

void lab_sim_backend_before(void (*call)(void *user,
                                         const struct lab_sim_gpu_call *of),
                            void *user)
{
    pthread_mutex_lock(&before.lock);
    before.call = call;
    before.user = user;
    pthread_mutex_unlock(&before.lock);
}

static void tell_before(void *user, const struct lab_sim_gpu_call *of)
{
    (void)user;
    pthread_mutex_lock(&before.lock);
    void (*call)(void *arg, const struct lab_sim_gpu_call *) = before.call;
    void *arg = before.user;
    pthread_mutex_unlock(&before.lock);
    if (call) /* which may wait */
        call(arg, of);
    running_begin(of);
}

/* A kernel's printf(), where that of a GPU comes out too. */
static void print_out(void *user, const char *text)
{
    (void)user;
    fputs(text, stdout);
}

static void sim_close(struct lab_backend *be)
{
    if (!be)
        return;
    lab_sim_gpu_close(of(be)->gpu);
    lab_free(of(be)->left);
    lab_free(of(be)->names);
    lab_free(be);
}

static enum lab_status sim_open(struct lab_backend **out, int device)
{
    const struct lab_sim_kernels *loaded;
    enum lab_status st = lab_sim_kernels_load(&loaded);
    if (st)
        return st;
    if (device != 0)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[backend.sim-device] no simulated device %d: there is "
                        "one, number 0; --device-model chooses what it is like",
                        device);
    struct sim_backend *sim = lab_alloc(sizeof(*sim));
    if (!sim)
        return lab_no_memory("the simulator's backend");
    sim->base.ops = &lab_backend_sim;
    sim->base.untimed = true;
    sim->device = model ? model : lab_sim_device_at(0);
    st = lab_sim_gpu_open(sim->device, &sim->gpu);
    if (!st) {
        sim->memory = lab_sim_gpu_memory(sim->gpu);
        lab_sim_gpu_listen(sim->gpu, tell, NULL);
        lab_sim_gpu_before(sim->gpu, tell_before, NULL);
        lab_sim_gpu_options(sim->gpu)->budget = budget;
        lab_sim_gpu_options(sim->gpu)->stop_found = true;
        lab_sim_gpu_options(sim->gpu)->executed = &running.executed;
        lab_sim_gpu_options(sim->gpu)->print = print_out;
        st = lab_sim_alloc(sim->memory, WORKSPACE_BYTES, &sim->exec.workspace);
    }
    if (st) {
        sim_close(&sim->base);
        return st;
    }
    sim->exec.workspace_bytes = WORKSPACE_BYTES;
    sim->exec.sm_count = sim->device->sm_count;
    sim->exec.cc_major = sim->device->major;
    sim->exec.cc_minor = sim->device->minor;
    *out = &sim->base;
    return LAB_OK;
}

/* Zeroed, as every backend's memory is. */
static enum lab_status sim_alloc(struct lab_backend *be, size_t bytes,
                                 void **out)
{
    void *p;
    if (bytes == 0)
        bytes = 1;
    enum lab_status st = lab_sim_alloc(of(be)->memory, bytes, &p);
    if (!st)
        st = lab_sim_written(of(be)->memory, p, bytes);
    if (st)
        return st;
    memset(p, 0, bytes);
    *out = p;
    return LAB_OK;
}

static void sim_free(struct lab_backend *be, void *p)
{
    struct sim_backend *sim = of(be);
    size_t kept = 0;
    for (size_t i = 0; i < sim->name_count; i++)
        if (sim->names[i].memory != p)
            sim->names[kept++] = sim->names[i];
    sim->name_count = kept;
    (void)lab_sim_free(sim->memory, p);
}

static enum lab_status sim_upload(struct lab_backend *be, void *dst,
                                  const void *src, size_t bytes)
{
    enum lab_status st = lab_sim_written(of(be)->memory, dst, bytes);
    if (!st)
        memmove(dst, src, bytes);
    return st;
}

static enum lab_status sim_download(struct lab_backend *be, void *dst,
                                    const void *src, size_t bytes)
{
    (void)be;
    memcpy(dst, src, bytes);
    return LAB_OK;
}

/* NULL: no tensor begins there. */
static const struct named *named_at(const struct sim_backend *sim,
                                    const void *p)
{
    for (size_t i = 0; i < sim->name_count; i++)
        if (sim->names[i].at == p)
            return &sim->names[i];
    return NULL;
}

static void sim_label(struct lab_backend *be, void *memory, size_t offset,
                      const char *name, bool kept)
{
    struct sim_backend *sim = of(be);
    if (lab_grow(&sim->names, sim->name_count, &sim->name_room,
                 sizeof(*sim->names), "names of tensors"))
        return; /* messages have "input 0" */
    struct named *n = &sim->names[sim->name_count++];
    *n = (struct named){
        .memory = memory, .at = (char *)memory + offset, .kept = kept};
    snprintf(n->name, sizeof(n->name), "%s", name);
}

/* What the checks' sentences call a tensor of the call: by its own name, else
 * "input 0". `label` false: they forget it. */
static enum lab_status label_view(struct sim_backend *sim,
                                  const struct lab_view *v, const char *role,
                                  int number, int argument, bool label)
{
    static const int types[LAB_DTYPE_COUNT] = {
        [LAB_F32] = 1 + LAB_SIM_TYPE_FLOAT,
        [LAB_F64] = 1 + LAB_SIM_TYPE_DOUBLE,
        [LAB_I32] = 1 + LAB_SIM_TYPE_INT,
        [LAB_F16] = 1 + LAB_SIM_TYPE_HALF,
        [LAB_BFLOAT16] = 1 + LAB_SIM_TYPE_BFLOAT16};
    struct lab_sim_label l = {.argument = argument,
                              .type = types[v->dtype],
                              .element_bytes = (int)lab_dtype_bytes(v->dtype),
                              .rank = v->rank,
                              .read_only = strcmp(role, "input") == 0,
                              .bounded = true};
    const struct named *named = named_at(sim, v->data);
    size_t bytes = (size_t)v->count * lab_dtype_bytes(v->dtype);
    if (!v->data || bytes == 0)
        return LAB_OK;
    memcpy(l.dim, v->dim, sizeof(l.dim));
    if (named)
        snprintf(l.name, sizeof(l.name), "%s", named->name);
    else
        snprintf(l.name, sizeof(l.name), "%s %d", role, number);
    return lab_sim_label(sim->memory, v->data, bytes, label ? &l : NULL);
}

/* Tensors of one step may share memory: an update writes what it reads. So
 * inputs are named first, and what is written after them. */
static enum lab_status label_call(struct sim_backend *sim,
                                  const struct lab_call *call, bool label)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < call->n_in && !st; i++)
        st = label_view(sim, &call->in[i], "input", i, i, label);
    for (int i = 0; i < call->n_out && !st; i++)
        st = label_view(sim, &call->out[i], "output", i, call->n_in + i, label);
    return st;
}

static struct {
    pthread_mutex_t lock;
    struct lab_sim_backend_found found; /* count 0: nothing */
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* For a screen on another thread. */
static void keep_found(const struct lab_sim_gpu *gpu)
{
    int line;
    int count;
    const struct lab_sim_gpu_finding *f = lab_sim_gpu_findings(gpu, &count);
    if (count == 0)
        return;
    const char *file = lab_sim_source(f->ptx, f->found.at.place, &line);
    pthread_mutex_lock(&last.lock);
    last.found = (struct lab_sim_backend_found){
        .launch = f->launch, .first = f->found, .line = line, .count = count};
    snprintf(last.found.kernel, sizeof(last.found.kernel), "%s", f->kernel);
    snprintf(last.found.file, sizeof(last.found.file), "%s", file ? file : "");
    lab_sim_callers_text(f->ptx, f->found.at.place, last.found.callers,
                         sizeof(last.found.callers));
    pthread_mutex_unlock(&last.lock);
}

/* Another fault than a kernel's stopped the walk. */
static void forget_found(void)
{
    pthread_mutex_lock(&last.lock);
    last.found.count = 0;
    pthread_mutex_unlock(&last.lock);
}

bool lab_sim_backend_found(struct lab_sim_backend_found *out)
{
    pthread_mutex_lock(&last.lock);
    *out = last.found;
    pthread_mutex_unlock(&last.lock);
    return out->count > 0;
}

enum lab_status lab_sim_backend_stopped(struct lab_backend *be)
{
    const struct lab_sim_gpu *gpu = lab_sim_backend_gpu(be);
    int n = 0;
    bool within = false;
    const struct lab_sim_gpu_finding *f =
        gpu ? lab_sim_gpu_findings(gpu, &n) : NULL;
    for (int i = 0; i < n; i++)
        within = within || f[i].found.check == LAB_SIM_BUDGET;
    if (!within)
        return LAB_OK;
    keep_found(gpu);
    return lab_sim_gpu_judge(gpu);
}

static size_t view_bytes(const struct lab_view *v)
{
    return v->data ? (size_t)v->count * lab_dtype_bytes(v->dtype) : 0;
}

/* An update reads what it writes, and so may a step that has both of one tensor. */
static bool is_read(const struct sim_backend *sim, const struct lab_call *call,
                    const struct lab_view *out)
{
    const char *from = out->data;
    const struct named *named = named_at(sim, from);
    if (!named || named->kept)
        return true;
    for (int i = 0; i < call->n_in; i++) {
        const char *in = call->in[i].data;
        if (in < from + view_bytes(out) && from < in + view_bytes(&call->in[i]))
            return true;
    }
    return false;
}

/* Nothing has written the outputs yet, but those that the call reads, too. `begins`
 * false: the host counts them as written again, whatever the kernels left out. */
static enum lab_status outputs_begin(struct sim_backend *sim,
                                     const struct lab_call *call, bool begins)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < call->n_out && !st; i++) {
        const struct lab_view *v = &call->out[i];
        if (view_bytes(v) == 0 || is_read(sim, call, v))
            continue;
        st = begins ? lab_sim_unwritten(sim->memory, v->data, view_bytes(v))
                    : lab_sim_written(sim->memory, v->data, view_bytes(v));
    }
    return st;
}

/* Index of an element of a tensor, row-major. */
static void unravel(const struct lab_view *v, int64_t element, int64_t *index)
{
    for (int d = v->rank; d-- > 0;) {
        const int64_t n = v->dim[d] > 0 ? v->dim[d] : 1;
        index[d] = element % n;
        element /= n;
    }
}

static void describe_left(struct lab_sim_backend_left *l)
{
    char at[160] = "";
    size_t used = 0;
    for (int d = 0; d < l->rank && used < sizeof(at); d++)
        used += (size_t)snprintf(at + used, sizeof(at) - used, "%s%lld",
                                 d ? "," : "[", (long long)l->index[d]);
    snprintf(l->message, sizeof(l->message),
             "%s: no kernel wrote %lld of its %lld elements; the first is "
             "%s%s%s",
             l->name, (long long)l->unwritten, (long long)l->elements, l->name,
             at, l->rank > 0 ? "]" : "");
}

/* LAB_E_CHECK: elements of an output that no kernel of the call wrote. */
static enum lab_status judge_outputs(struct sim_backend *sim,
                                     const struct lab_call *call)
{
    for (int i = 0; i < call->n_out; i++) {
        const struct lab_view *v = &call->out[i];
        const struct named *named = named_at(sim, v->data);
        int64_t first;
        int64_t n =
            view_bytes(v) == 0
                ? 0
                : lab_sim_count_unwritten(sim->memory, v->data, v->count,
                                          lab_dtype_bytes(v->dtype), &first);
        if (n == 0)
            continue;
        enum lab_status st =
            lab_grow(&sim->left, sim->left_count, &sim->left_room,
                     sizeof(*sim->left), "what no kernel wrote");
        if (st)
            return st;
        struct lab_sim_backend_left *l = &sim->left[sim->left_count++];
        *l = (struct lab_sim_backend_left){.argument = call->n_in + i,
                                           .elements = v->count,
                                           .unwritten = n,
                                           .rank = v->rank};
        snprintf(l->name, sizeof(l->name), "%s",
                 named ? named->name : "an output");
        unravel(v, first, l->index);
        describe_left(l);
    }
    return sim->left_count > 0
               ? lab_fail(LAB_E_CHECK, "[backend.sim-unwritten] %s",
                          sim->left[0].message)
               : LAB_OK;
}

bool lab_sim_backend_left(struct lab_backend *be, int i,
                          struct lab_sim_backend_left *out)
{
    if (be->ops != &lab_backend_sim || i < 0 || (size_t)i >= of(be)->left_count)
        return false;
    *out = of(be)->left[i];
    return true;
}

static enum lab_status sim_run(struct lab_backend *be,
                               const struct lab_variant *v,
                               struct lab_call *call)
{
    struct sim_backend *sim = of(be);
    call->exec = &sim->exec;
    lab_sim_gpu_enter(sim->gpu);
    if (v->run == v->release) {
        /* It launches nothing; what the run before it did is asked for later. */
        enum lab_status st = v->run(call);
        lab_sim_gpu_enter(NULL);
        return st ? lab_fail(st, "%s", kernels->error()) : LAB_OK;
    }
    lab_sim_gpu_forget(sim->gpu);
    sim->left_count = 0;
    kernels->begin();
    enum lab_status st = label_call(sim, call, true);
    if (!st)
        st = outputs_begin(sim, call, true);
    if (st) {
        lab_sim_gpu_enter(NULL);
        return st;
    }
    st = v->run(call);
    running_end();
    char text[512];
    char id[LAB_ERROR_ID_BYTES];
    snprintf(text, sizeof(text), "%s", st ? kernels->error() : "");
    snprintf(id, sizeof(id), "%s", st ? kernels->error_id() : "");
    (void)label_call(sim, call, false);
    lab_sim_gpu_enter(NULL);
    enum lab_status written = st ? LAB_OK : judge_outputs(sim, call);
    struct lab_kept_error left;
    lab_error_keep(&left);
    (void)outputs_begin(sim, call, false);
    const struct lab_sim_options *options = lab_sim_gpu_options(sim->gpu);
    if ((options->stop && atomic_load(options->stop)) ||
        lab_stop_asked(&options->when))
        return lab_fail(LAB_E_CANCELLED, "the simulation was stopped");
    enum lab_status found = lab_sim_gpu_judge(sim->gpu);
    if (found) {
        keep_found(sim->gpu);
        return found;
    }
    if (written) {
        forget_found();
        return lab_error_again(written, &left);
    }
    return st ? lab_fail_id(st, id, "%s", text) : LAB_OK;
}

/* Kernels here are fp32, as those of the CUDA backend. */
static const struct lab_kernel_set *const *
sim_sets(struct lab_backend *be, enum lab_dtype real, int *count)
{
    (void)be;
    const struct lab_kernel_set *const *sets = kernels->sets(count);
    if (real != LAB_F32)
        *count = 0;
    return sets;
}

static void sim_info(struct lab_backend *be, struct lab_device_info *out)
{
    const struct lab_sim_device *d = of(be)->device;
    snprintf(out->name, sizeof(out->name), "%s (simulated)", d->name);
    snprintf(out->runtime, sizeof(out->runtime), "lapenna-lab");
    out->compute_major = d->major;
    out->compute_minor = d->minor;
    out->sm_count = d->sm_count;
    out->max_threads_per_sm = d->warps_per_sm * 32;
    out->max_warps_per_sm = d->warps_per_sm;
    out->max_blocks_per_sm = d->blocks_per_sm;
    out->warp_size = 32;
    out->max_registers_per_sm = d->registers_per_sm;
    out->max_shared_per_sm_bytes = d->shared_per_sm;
    out->max_shared_per_block_optin_bytes = d->shared_per_block;
}

static const struct lab_variant *sim_variant(struct lab_backend *be,
                                             const char *operation, int i)
{
    (void)be;
    return kernels->variant(operation, i);
}

static void sim_stop_when(struct lab_backend *be, const struct lab_stop *stop)
{
    lab_sim_gpu_options(of(be)->gpu)->when = *stop;
}

const struct lab_backend_ops lab_backend_sim = {
    .name = "sim",
    .open = sim_open,
    .close = sim_close,
    .alloc = sim_alloc,
    .free = sim_free,
    .upload = sim_upload,
    .download = sim_download,
    .copy = sim_upload,
    .run = sim_run,
    .sets = sim_sets,
    .info = sim_info,
    .error = lab_error,
    .error_id = lab_error_id,
    .variant = sim_variant,
    .label = sim_label,
    .stop_when = sim_stop_when,
};
