/* runtime.c -- the part of NVIDIA's CUDA runtime that our kernels' host code
 * calls, for a simulated GPU. A launch, a copy and an event are done when the
 * call returns, so a stream has no state and an event no time: what asks for the
 * milliseconds between two gets NaN. As on a GPU, what a launch asks for wrongly
 * is its own error (cudaGetLastError), and what goes wrong while it runs is
 * reported by the next call that waits.
 *
 * Device memory is memory of the process; the program checks and counts. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda_priv.h"
#include "simcuda_abi.h"

/* ---- the PTX text in what a compiler registers for a source file ----
 *
 * nvcc puts code for several GPUs into one "fat binary". With
 * `-gencode arch=compute_90a,code=compute_90a --compress-mode=none` it holds PTX
 * alone, as text, once for each -gencode. clang embeds the file that it is given
 * as it is: our build gives it the PTX. NVIDIA does not document the format; the
 * fields below are what nvcc 12 and 13 write, and what looks different is
 * refused. */

enum {
    WRAPPER_MAGIC = 0x466243b1,
    ENTRY_PTX = 1,
    FLAG_COMPRESSED = 0x2000,
    FLAG_COMPRESSED_ZSTD = 0x8000
};
#define BINARY_MAGIC 0xBA55ED50u

struct wrapper {
    int32_t magic;
    int32_t version;
    const void *data;
    const void *unused;
};

struct binary {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t bytes; /* of all entries */
};

struct entry {
    uint16_t kind;
    uint16_t version;
    uint32_t header_bytes;
    uint64_t bytes; /* of the payload, padded with NUL */
    uint32_t compressed_bytes;
    uint32_t options_at;
    uint16_t minor; /* of the PTX version */
    uint16_t major;
    uint32_t arch;
    uint32_t name_at; /* from the entry's start */
    uint32_t name_bytes;
    uint64_t flags;
};

/* One more text; kept in the order of their GPUs. */
static bool add(struct simcuda_images *to, const char *name, size_t name_bytes,
                const char *text, size_t bytes, int arch)
{
    char *copy = lab_strndup(name, name_bytes);
    if (!copy)
        return false;
    int at = to->count++;
    for (; at > 0 && to->image[at - 1].arch > arch; at--)
        to->image[at] = to->image[at - 1];
    to->image[at] = (struct lab_sim_image){copy, text, bytes, arch};
    return true;
}

void simcuda_images_free(struct simcuda_images *images)
{
    for (int i = 0; images && i < images->count; i++)
        lab_free((void *)(uintptr_t)images->image[i].name);
    lab_free(images);
}

const struct lab_sim_image *simcuda_image(const struct simcuda_images *images,
                                          int capability)
{
    int i = images->count - 1;
    while (i > 0 && images->image[i].arch > capability)
        i--;
    /* A source that is the same for every GPU has the newest one's PTX alone. */
    return &images->image[images->image[i].arch > capability ? images->count - 1
                                                             : i];
}

/* The entry at `at`; false: there is none, or one that is cut off. */
static bool entry_at(const char *at, const char *end, struct entry *out)
{
    if ((size_t)(end - at) < sizeof(*out))
        return false;
    memcpy(out, at, sizeof(*out));
    size_t left = (size_t)(end - at);
    return out->header_bytes >= sizeof(*out) && out->header_bytes <= left &&
           out->bytes <= left - out->header_bytes;
}

/* Why nothing can be used, or NULL. */
static const char *read_entries(struct simcuda_images *to, const char *at,
                                const char *end)
{
    struct entry e;
    for (; entry_at(at, end, &e); at += e.header_bytes + e.bytes) {
        if (e.kind != ENTRY_PTX)
            continue;
        if (e.compressed_bytes ||
            (e.flags & (FLAG_COMPRESSED | FLAG_COMPRESSED_ZSTD)))
            return "PTX that is compressed";
        if (to->count == SIMCUDA_IMAGES)
            return "PTX for more GPUs than are known";
        const char *text = at + e.header_bytes;
        bool named = (uint64_t)e.name_at + e.name_bytes <= e.header_bytes;
        if (!add(to, named ? at + e.name_at : "PTX", named ? e.name_bytes : 3,
                 text, strnlen(text, e.bytes), (int)e.arch))
            return "PTX, and there is no memory for its name";
    }
    return to->count > 0 ? NULL : "a fat binary without PTX";
}

/* Why the data cannot be used, or NULL. */
static const char *read_data(struct simcuda_images *to, const char *data)
{
    static const char prologue[] = "//";
    struct binary b;
    if (memcmp(data, prologue, strlen(prologue)) == 0 ||
        strncmp(data, ".version", 8) == 0)
        return add(to, "PTX", 3, data, strlen(data), 0) ? NULL
                                                        : "PTX, without memory";
    memcpy(&b, data, sizeof(b));
    if (b.magic != BINARY_MAGIC || b.version != 1 || b.header_bytes < sizeof(b))
        return "a fat binary of an unknown kind";
    const char *first = data + b.header_bytes;
    return read_entries(to, first, first + b.bytes);
}

struct simcuda_images *simcuda_images(const void *wrapper, char *why,
                                      size_t cap)
{
    struct wrapper w;
    memcpy(&w, wrapper, sizeof(w));
    struct simcuda_images *images = lab_alloc(sizeof(*images));
    const char *wrong = !images ? "PTX, and there is no memory for its place"
                        : w.magic != WRAPPER_MAGIC || !w.data
                            ? "no fat binary"
                            : read_data(images, w.data);
    if (!wrong)
        return images;
    snprintf(why, cap, "%s", wrong);
    simcuda_images_free(images);
    return NULL;
}

const struct lab_sim_host *simcuda_host;

enum {
    MAX_CALLS = 8, /* launches begun and not done, on one thread: one */
    MAX_GRID_YZ = 65535,
    MAX_BLOCK_Z = 64,
    DEFAULT_SHARED = 48 * 1024, /* of a block, without asking for more */
    WARP = 32
};

/* ---- errors ---- */

static _Thread_local struct {
    cudaError_t last;
    cudaError_t fault; /* of a launch that ran, until something waits */
    cudaError_t reason_of;
    char reason[768];
} state;

/* What our code returns or asks for by name: value, text. */
#define ERRORS(X)                                                              \
    X(cudaSuccess, "no error")                                                 \
    X(cudaErrorInvalidValue, "invalid argument")                               \
    X(cudaErrorMemoryAllocation, "out of memory")                              \
    X(cudaErrorInvalidConfiguration, "invalid configuration argument")         \
    X(cudaErrorInvalidSymbol, "invalid device symbol")                         \
    X(cudaErrorInvalidDeviceFunction, "invalid device function")               \
    X(cudaErrorInvalidDevice, "invalid device ordinal")                        \
    X(cudaErrorNoDevice, "no simulated GPU was entered")                       \
    X(cudaErrorNotSupported, "not simulated")                                  \
    X(cudaErrorNotReady, "device not ready")                                   \
    X(cudaErrorLaunchFailure, "unspecified launch failure")                    \
    X(cudaErrorLaunchOutOfResources, "too many resources requested for "       \
                                     "launch")

static const struct {
    cudaError_t error;
    const char *name;
    const char *text;
} errors[] = {
#define X(error, text) {error, #error, text},
    ERRORS(X)
#undef X
};

enum { ERROR_COUNT = sizeof(errors) / sizeof(errors[0]) };

static cudaError_t fail(cudaError_t error, const char *reason)
{
    if (error == cudaSuccess)
        return error;
    state.last = error;
    state.reason_of = reason ? error : cudaSuccess;
    snprintf(state.reason, sizeof(state.reason), "%s", reason ? reason : "");
    return error;
}

static cudaError_t unsupported(const char *what)
{
    return fail(cudaErrorNotSupported, what);
}

static cudaError_t error_of(enum lab_status st)
{
    switch (st) {
    case LAB_OK:
        return cudaSuccess;
    case LAB_E_NOMEM:
        return cudaErrorMemoryAllocation;
    case LAB_E_ARG:
        return cudaErrorInvalidConfiguration;
    case LAB_E_RANGE:
        return cudaErrorInvalidValue;
    case LAB_E_NOTFOUND:
        return cudaErrorInvalidDeviceFunction;
    case LAB_E_STATE:
        return cudaErrorNoDevice;
    case LAB_E_CHECK:
    case LAB_E_CANCELLED:
        return cudaErrorLaunchFailure;
    default:
        return cudaErrorNotSupported;
    }
}

static cudaError_t judge(enum lab_status st)
{
    return st ? fail(error_of(st), simcuda_host->error()) : cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = state.last;
    state.last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return state.last;
}

const char *cudaGetErrorName(cudaError_t error)
{
    for (int i = 0; i < ERROR_COUNT; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

/* With the program's text about the thread's last failure of this kind. */
const char *cudaGetErrorString(cudaError_t error)
{
    if (error != cudaSuccess && error == state.reason_of)
        return state.reason;
    for (int i = 0; i < ERROR_COUNT; i++)
        if (errors[i].error == error)
            return errors[i].text;
    return "unrecognized error code";
}

/* ---- what compilers register when the module is loaded ---- */

struct function {
    const void *host; /* the launcher's stub: what host code calls it by */
    const char *name; /* in the PTX */
    const struct simcuda_images *images;
    int64_t most_dynamic; /* shared memory that was asked for */
    struct function *next;
};

struct variable {
    const void *host;
    const char *name;
    const struct simcuda_images *images;
    struct variable *next;
};

static struct function *functions;
static struct variable *variables;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char broken[256]; /* why a fat binary could not be used */

const char *simcuda_broken(void)
{
    return broken;
}

void **__cudaRegisterFatBinary(void *wrapper)
{
    return (void **)simcuda_images(wrapper, broken, sizeof(broken));
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    struct simcuda_images *images = (struct simcuda_images *)(void *)handle;
    struct function **f = &functions;
    struct variable **v = &variables;
    while (*f) {
        struct function *gone = *f;
        if (gone->images == images) {
            *f = gone->next;
            lab_free(gone);
        } else {
            f = &gone->next;
        }
    }
    while (*v) {
        struct variable *gone = *v;
        if (gone->images == images) {
            *v = gone->next;
            lab_free(gone);
        } else {
            v = &gone->next;
        }
    }
    simcuda_images_free(images);
}

char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device,
                            const char *name, int thread_limit, uint3 *tid,
                            uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
    struct function *f = lab_alloc(sizeof(*f));
    (void)device;
    (void)thread_limit;
    (void)tid;
    (void)bid;
    (void)block;
    (void)grid;
    (void)warp;
    if (!f) {
        snprintf(broken, sizeof(broken), "no memory for a kernel's name");
        return;
    }
    *f = (struct function){.host = host,
                           .name = name,
                           .images = (struct simcuda_images *)(void *)handle,
                           .next = functions};
    functions = f;
}

void __cudaRegisterVar(void **handle, char *host, char *device,
                       const char *name, int external, size_t bytes,
                       int constant, int global)
{
    struct variable *v = lab_alloc(sizeof(*v));
    (void)device;
    (void)external;
    (void)bytes;
    (void)constant;
    (void)global;
    if (!v) {
        snprintf(broken, sizeof(broken), "no memory for a variable's name");
        return;
    }
    *v = (struct variable){.host = host,
                           .name = name,
                           .images = (struct simcuda_images *)(void *)handle,
                           .next = variables};
    variables = v;
}

const char *simcuda_kernel(int i, const struct lab_sim_image **image)
{
    for (const struct function *f = functions; f; f = f->next) {
        if (i-- == 0) {
            *image = simcuda_image(f->images, INT_MAX);
            return f->name;
        }
    }
    return NULL;
}

static struct function *function_of(const void *host)
{
    for (struct function *f = functions; f; f = f->next)
        if (f->host == host && f->images)
            return f;
    (void)fail(cudaErrorInvalidDeviceFunction, NULL);
    return NULL;
}

/* The code that the thread's GPU would run; the newest where there is none. */
static const struct lab_sim_image *image_for(const struct simcuda_images *of)
{
    const struct lab_sim_device *d = simcuda_host->device();
    return simcuda_image(of, d ? d->major * 10 + d->minor : INT_MAX);
}

static cudaError_t facts_of(const struct function *f,
                            struct lab_sim_kernel_facts *out)
{
    return judge(simcuda_host->facts(image_for(f->images), f->name, out));
}

/* ---- what ptxas reported ---- */

const struct simcuda_ptxas *simcuda_ptxas;
int simcuda_ptxas_count;

/* A GPU runs code of its major compute capability and not a later minor one;
 * 90a's on 9.0 alone. */
static bool runs_on(const struct simcuda_ptxas *p,
                    const struct lab_sim_device *d)
{
    int minor = p->arch % 10;
    return p->arch / 10 == d->major &&
           (p->exact ? minor == d->minor : minor <= d->minor);
}

static bool ends_with(const char *path, const char *end)
{
    size_t all = strlen(path);
    size_t n = strlen(end);
    return all >= n && strcmp(path + all - n, end) == 0;
}

const struct simcuda_ptxas *simcuda_ptxas_of(const char *source,
                                             const char *kernel,
                                             const struct lab_sim_device *of)
{
    const struct simcuda_ptxas *best = NULL;
    for (int i = 0; i < simcuda_ptxas_count && of; i++) {
        const struct simcuda_ptxas *p = &simcuda_ptxas[i];
        if (runs_on(p, of) && strcmp(p->kernel, kernel) == 0 &&
            ends_with(source, p->source) && (!best || p->arch >= best->arch))
            best = p;
    }
    return best;
}

#ifdef LAB_SIM_CLANG
static const char ptx_alone[] =
    "clang compiled the kernels, to PTX alone, so no ptxas has counted them";
#else
static const char ptx_alone[] =
    "this build compiled its kernels to PTX alone, so no ptxas has counted "
    "them";
#endif

const char *simcuda_registers_missing(const struct lab_sim_device *of)
{
    if (simcuda_ptxas_count == 0)
        return ptx_alone;
    for (int i = 0; i < simcuda_ptxas_count; i++)
        if (runs_on(&simcuda_ptxas[i], of))
            return NULL;
    return "this build has no machine code for that device's compute "
           "capability (CMAKE_CUDA_ARCHITECTURES), so no ptxas has counted "
           "them";
}

static const struct simcuda_ptxas *ptxas_of(const struct function *f)
{
    return simcuda_ptxas_of(image_for(f->images)->name, f->name,
                            simcuda_host->device());
}

/* ---- launches ---- */

struct configuration {
    dim3 grid;
    dim3 block;
    size_t shared;
    cudaStream_t stream;
};

static _Thread_local struct {
    struct configuration call[MAX_CALLS];
    int count;
} pushed;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     struct CUstream_st *stream)
{
    if (pushed.count == MAX_CALLS)
        return 1;
    pushed.call[pushed.count++] =
        (struct configuration){grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                       void *stream)
{
    if (pushed.count == 0)
        return fail(cudaErrorInvalidConfiguration, NULL);
    const struct configuration *c = &pushed.call[--pushed.count];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    memcpy(stream, &c->stream, sizeof(c->stream));
    return cudaSuccess;
}

static int64_t most_dynamic(const struct function *f,
                            const struct lab_sim_kernel_facts *facts)
{
    int64_t most = f->most_dynamic;
    int64_t plain = DEFAULT_SHARED - facts->shared_bytes;
    return most > plain ? most : plain;
}

/* What every device refuses before the kernel starts. */
static cudaError_t check_launch(const struct function *f, dim3 grid, dim3 block,
                                size_t shared)
{
    const struct lab_sim_device *device = simcuda_host->device();
    struct lab_sim_kernel_facts facts;
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (!device)
        return fail(cudaErrorNoDevice, NULL);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > INT32_MAX ||
        grid.y > MAX_GRID_YZ || grid.z > MAX_GRID_YZ || block.x > 1024 ||
        block.y > 1024 || block.z > MAX_BLOCK_Z || threads == 0 ||
        threads > (uint64_t)device->max_threads)
        return fail(cudaErrorInvalidConfiguration, NULL);
    cudaError_t error = facts_of(f, &facts);
    if (error != cudaSuccess)
        return error;
    if (threads > (uint64_t)facts.max_threads)
        return fail(cudaErrorLaunchOutOfResources, NULL);
    if (shared > (size_t)most_dynamic(f, &facts) ||
        (int64_t)shared + facts.shared_bytes > device->shared_per_block)
        return fail(cudaErrorInvalidValue, NULL);
    return cudaSuccess;
}

static cudaError_t launch(const struct function *f, dim3 grid, dim3 block,
                          void **args, size_t shared)
{
    cudaError_t error = check_launch(f, grid, block, shared);
    if (error != cudaSuccess)
        return error;
    const struct simcuda_ptxas *ptxas = ptxas_of(f);
    struct lab_sim_gpu_launch of = {.image = image_for(f->images),
                                    .kernel = f->name,
                                    .grid = {grid.x, grid.y, grid.z},
                                    .block = {block.x, block.y, block.z},
                                    .shared_bytes = (int64_t)shared,
                                    .args = args,
                                    .registers = ptxas ? ptxas->registers : -1,
                                    .stack_bytes =
                                        ptxas ? ptxas->stack_bytes : -1};
    enum lab_status st = simcuda_host->launch(&of);
    if (st != LAB_E_CHECK && st != LAB_E_CANCELLED)
        return judge(st);
    cudaError_t before = state.last;
    state.fault = judge(st);
    state.last = before;
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
    struct function *f = function_of(host);
    *out = (cudaKernel_t)(void *)f;
    return f ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                               void **args, size_t shared, cudaStream_t stream)
{
    const struct function *f = (const struct function *)(void *)kernel;
    (void)stream;
    return f ? launch(f, grid, block, args, shared)
             : fail(cudaErrorInvalidDeviceFunction, NULL);
}

cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block,
                             void **args, size_t shared, cudaStream_t stream)
{
    const struct function *f = function_of(host);
    (void)stream;
    return f ? launch(f, grid, block, args, shared)
             : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out,
                                  const void *host)
{
    struct lab_sim_kernel_facts facts;
    const struct function *f = function_of(host);
    if (!f)
        return cudaErrorInvalidDeviceFunction;
    cudaError_t error = facts_of(f, &facts);
    if (error != cudaSuccess)
        return error;
    const struct simcuda_ptxas *ptxas = ptxas_of(f);
    memset(out, 0, sizeof(*out));
    out->sharedSizeBytes = (size_t)facts.shared_bytes;
    out->localSizeBytes = (size_t)facts.local_bytes;
    out->numRegs = ptxas ? ptxas->registers : 0;
    out->maxThreadsPerBlock = facts.max_threads;
    out->maxDynamicSharedSizeBytes = (int)most_dynamic(f, &facts);
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute what,
                                 int value)
{
    struct cudaFuncAttributes a;
    struct function *f = function_of(host);
    const struct lab_sim_device *device = simcuda_host->device();
    cudaError_t error = cudaFuncGetAttributes(&a, host);
    if (error != cudaSuccess || !f || !device)
        return error;
    if (what != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess; /* a hint */
    if (value < 0 ||
        value + (int64_t)a.sharedSizeBytes > device->shared_per_block)
        return fail(cudaErrorInvalidValue, NULL);
    pthread_mutex_lock(&lock);
    f->most_dynamic = value;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* Blocks of an SM by its registers, which warps take in units and from the
 * sub-partition that they belong to. */
static int64_t by_registers(const struct lab_sim_device *d, int registers,
                            int block)
{
    enum { UNIT = 256, PARTS = 4 };
    int64_t warps = (block + WARP - 1) / WARP;
    int64_t each = (registers * WARP + UNIT - 1) / UNIT * UNIT;
    return d->registers_per_sm / PARTS / each * PARTS / warps;
}

/* By threads, blocks, shared memory, and registers where ptxas has counted
 * them. */
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out,
                                                          const void *host,
                                                          int block,
                                                          size_t shared)
{
    enum { RESERVED = 1024, UNIT = 128 }; /* shared memory that CUDA takes */
    struct cudaFuncAttributes a;
    const struct lab_sim_device *device = simcuda_host->device();
    cudaError_t error = cudaFuncGetAttributes(&a, host);
    if (error != cudaSuccess)
        return error;
    if (!device || block < 1 || block > device->max_threads)
        return fail(cudaErrorInvalidValue, NULL);
    int64_t most = device->warps_per_sm / ((block + WARP - 1) / WARP);
    int64_t bytes = (int64_t)(a.sharedSizeBytes + shared);
    int64_t each =
        (bytes + UNIT - 1) / UNIT * UNIT + (device->major >= 8 ? RESERVED : 0);
    if (most > device->blocks_per_sm)
        most = device->blocks_per_sm;
    if (bytes > 0 && most > device->shared_per_sm / each)
        most = device->shared_per_sm / each;
    if (a.numRegs > 0 && most > by_registers(device, a.numRegs, block))
        most = by_registers(device, a.numRegs, block);
    *out = (int)most;
    return cudaSuccess;
}

/* ---- memory ---- */

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    return judge(simcuda_host->alloc(bytes, out));
}

cudaError_t cudaFree(void *p)
{
    return p ? judge(simcuda_host->free(p)) : cudaSuccess;
}

/* Kernels may use pinned memory, so it is device memory here. */
cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    cudaError_t error = cudaMalloc(out, bytes);
    if (error != cudaSuccess)
        return error;
    memset(*out, 0, bytes);
    return judge(simcuda_host->written(*out, bytes));
}

cudaError_t cudaFreeHost(void *p)
{
    return cudaFree(p);
}

static cudaError_t fault(void)
{
    cudaError_t error = state.fault;
    state.fault = cudaSuccess;
    return error;
}

void simcuda_begin(void)
{
    state.fault = cudaSuccess;
    state.last = cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       enum cudaMemcpyKind kind)
{
    cudaError_t error = fault();
    bool device =
        kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    if (error == cudaSuccess && bytes > 0 && device)
        error = judge(simcuda_host->written(to, bytes));
    if (error == cudaSuccess && bytes > 0)
        memmove(to, from, bytes);
    return error;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    cudaError_t error =
        bytes ? judge(simcuda_host->written(to, bytes)) : cudaSuccess;
    if (error == cudaSuccess && bytes > 0)
        memset(to, value, bytes);
    return error;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream)
{
    (void)stream;
    return cudaMemset(to, value, bytes);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from,
                                    size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind,
                                    cudaStream_t stream)
{
    void *to = NULL;
    size_t has = 0;
    (void)kind;
    (void)stream;
    for (struct variable *v = variables; v; v = v->next) {
        if (v->host != symbol || !v->images)
            continue;
        cudaError_t error = judge(
            simcuda_host->variable(image_for(v->images), v->name, &to, &has));
        if (error != cudaSuccess)
            return error;
        if (offset > has || bytes > has - offset)
            return fail(cudaErrorInvalidValue, NULL);
        memcpy((char *)to + offset, from, bytes);
        return cudaSuccess;
    }
    return fail(cudaErrorInvalidSymbol, NULL);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from,
                               size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, NULL);
}

/* ---- streams and events: nothing is ever under way ---- */

static char token; /* what a stream and an event point to */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    (void)flags;
    *out = (cudaStream_t)(void *)&token;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return cudaStreamCreateWithFlags(out, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return fault();
}

cudaError_t cudaDeviceSynchronize(void)
{
    return fault();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  enum cudaStreamCaptureStatus *out)
{
    (void)stream;
    *out = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    (void)flags;
    *out = (cudaEvent_t)(void *)&token;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)event;
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return fault();
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    (void)begin;
    (void)end;
    *ms = NAN;
    return cudaSuccess;
}

/* ---- the device ---- */

cudaError_t cudaGetDevice(int *out)
{
    *out = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : fail(cudaErrorInvalidDevice, NULL);
}

cudaError_t cudaGetDeviceCount(int *out)
{
    *out = simcuda_host && simcuda_host->device() ? 1 : 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *out, enum cudaDeviceAttr what,
                                   int device)
{
    const struct lab_sim_device *d = simcuda_host->device();
    if (!d)
        return fail(cudaErrorNoDevice, NULL);
    if (device != 0)
        return fail(cudaErrorInvalidDevice, NULL);
    const struct {
        enum cudaDeviceAttr what;
        int64_t value;
    } known[] = {
        {cudaDevAttrMaxThreadsPerBlock, d->max_threads},
        {cudaDevAttrMaxBlockDimX, d->max_threads},
        {cudaDevAttrMaxBlockDimY, d->max_threads},
        {cudaDevAttrMaxBlockDimZ, MAX_BLOCK_Z},
        {cudaDevAttrMaxGridDimX, INT32_MAX},
        {cudaDevAttrMaxGridDimY, MAX_GRID_YZ},
        {cudaDevAttrMaxGridDimZ, MAX_GRID_YZ},
        {cudaDevAttrWarpSize, WARP},
        {cudaDevAttrMaxSharedMemoryPerBlock, DEFAULT_SHARED},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, d->shared_per_block},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, d->shared_per_sm},
        {cudaDevAttrMaxRegistersPerMultiprocessor, d->registers_per_sm},
        {cudaDevAttrMaxThreadsPerMultiProcessor, d->warps_per_sm * WARP},
        {cudaDevAttrMaxBlocksPerMultiprocessor, d->blocks_per_sm},
        {cudaDevAttrMultiProcessorCount, d->sm_count},
        {cudaDevAttrComputeCapabilityMajor, d->major},
        {cudaDevAttrComputeCapabilityMinor, d->minor},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].what == what) {
            *out = (int)known[i].value;
            return cudaSuccess;
        }
    }
    return unsupported("a simulated GPU does not have this attribute");
}

/* ---- the driver: the one function that kernels look up ---- */

static CUresult
encode_tiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
             void *address, const cuuint64_t *dim, const cuuint64_t *stride,
             const cuuint32_t *box, const cuuint32_t *step,
             CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
             CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    const struct lab_sim_tensor_map map = {.type = (int)type,
                                           .rank = rank,
                                           .address = address,
                                           .dim = dim,
                                           .stride = stride,
                                           .box = box,
                                           .step = step,
                                           .interleave = (int)interleave,
                                           .swizzle = (int)swizzle,
                                           .fill = (int)fill};
    (void)promotion;
    return simcuda_host->tensor_map(out, &map) ? CUDA_ERROR_INVALID_VALUE
                                               : CUDA_SUCCESS;
}

static cudaError_t entry_point(const char *symbol, void **out,
                               enum cudaDriverEntryPointQueryResult *found)
{
    CUresult (*encoder)(
        CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
        const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
        const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
        CUtensorMapL2promotion, CUtensorMapFloatOOBfill) = encode_tiled;
    *out = NULL;
    if (strcmp(symbol, "cuTensorMapEncodeTiled") == 0)
        memcpy(out, &encoder, sizeof(*out));
    if (found)
        *found = *out ? cudaDriverEntryPointSuccess
                      : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

#if CUDART_VERSION < 13000
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out,
                                    unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *found)
{
    (void)flags;
    return entry_point(symbol, out, found);
}
#endif

#if CUDART_VERSION >= 12050
cudaError_t
cudaGetDriverEntryPointByVersion(const char *symbol, void **out,
                                 unsigned version, unsigned long long flags,
                                 enum cudaDriverEntryPointQueryResult *found)
{
    (void)version;
    (void)flags;
    return entry_point(symbol, out, found);
}
#endif
