/* cupti_api.c -- loads CUPTI and resolves the functions that are used; starts and
 * stops it in this process, and reports why it refuses. */
#include "cupti_api.h"

#ifdef LAB_HAVE_CUPTI
#include <dlfcn.h>
#include <libgen.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda.h>

#include "base/mem.h"

enum { CUDA_MAJOR = CUDA_VERSION / 1000, TEXT_BYTES = 512, MAX_ROOTS = 16 };

static struct lab_cupti table;
static bool loaded;
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

/* Where a CUDA library was found; "..": its toolkit. */
struct roots {
    char path[MAX_ROOTS][LAB_CUPTI_PATH_BYTES];
    int count;
};

static void add_root(struct roots *r, const char *path)
{
    if (!path || !*path || r->count == MAX_ROOTS ||
        strlen(path) >= LAB_CUPTI_PATH_BYTES)
        return;
    strcpy(r->path[r->count++], path);
}

static int add_loaded(struct dl_phdr_info *info, size_t bytes, void *user)
{
    char path[LAB_CUPTI_PATH_BYTES];
    (void)bytes;
    const char *name = info->dlpi_name;
    if (!name || strlen(name) >= sizeof(path))
        return 0;
    const char *base = strrchr(name, '/');
    if (!base || (strncmp(base, "/libcudart", 10) != 0 &&
                  strncmp(base, "/libcublas.", 11) != 0))
        return 0;
    char real[PATH_MAX];
    add_root(user, dirname(strcpy(path, name)));
    if (realpath(name, real) && strlen(real) < sizeof(path))
        add_root(user, dirname(strcpy(path, real)));
    return 0;
}

/* The toolkit of the nvcc on PATH. */
static void add_nvcc(struct roots *r)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        char file[PATH_MAX];
        char real[PATH_MAX];
        size_t n = strcspn(path, ":");
        int len = snprintf(file, sizeof(file), "%.*s/nvcc", (int)n, path);
        if (len > 0 && (size_t)len < sizeof(file) && access(file, X_OK) == 0 &&
            realpath(file, real)) {
            char *bin = dirname(real);
            add_root(r, bin); /* the patterns below go up from it */
            return;
        }
        path += n;
        path += *path == ':';
    }
}

/* A variable names the toolkit, and the patterns go up from a directory in it.
 */
static void add_toolkit(struct roots *r, const char *toolkit)
{
    char path[LAB_CUPTI_PATH_BYTES];
    if (!toolkit || !*toolkit)
        return;
    int n = snprintf(path, sizeof(path), "%s/lib64", toolkit);
    if (n > 0 && (size_t)n < sizeof(path))
        add_root(r, path);
}

static void *try_open(const char *path, char *opened)
{
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (lib)
        snprintf(opened, LAB_CUPTI_PATH_BYTES, "%.*s", LAB_CUPTI_PATH_BYTES - 1,
                 path);
    return lib;
}

static void *open_near(const struct roots *r, char *opened)
{
    static const char *const patterns[] = {
        "%s/libcupti.so.%d",
        "%s/../lib64/libcupti.so.%d",
        "%s/../lib/libcupti.so.%d",
        "%s/../extras/CUPTI/lib64/libcupti.so.%d",
        "%s/../../../extras/CUPTI/lib64/libcupti.so.%d",
        "%s/../../cuda_cupti/lib/libcupti.so.%d",
    };
    char path[PATH_MAX];
    for (int i = 0; i < r->count; i++) {
        for (size_t k = 0; k < sizeof(patterns) / sizeof(patterns[0]); k++) {
            int n = snprintf(path, sizeof(path), patterns[k], r->path[i],
                             (int)CUDA_MAJOR);
            if (n <= 0 || n >= LAB_CUPTI_PATH_BYTES || access(path, R_OK) != 0)
                continue;
            void *lib = try_open(path, opened);
            if (lib)
                return lib;
        }
    }
    return NULL;
}

static void *open_library(char *opened)
{
    char name[TEXT_BYTES];
    const char *given = getenv("LAPENNA_LAB_CUPTI");
    if (given && *given)
        return try_open(given, opened);
    snprintf(name, sizeof(name), "libcupti.so.%d", (int)CUDA_MAJOR);
    void *lib = try_open(name, opened);
    if (!lib)
        lib = try_open("libcupti.so", opened);
    if (lib)
        return lib;
    struct roots *r = lab_alloc(sizeof(*r));
    if (!r)
        return NULL;
    dl_iterate_phdr(add_loaded, r);
    add_toolkit(r, getenv("CUDA_HOME"));
    add_toolkit(r, getenv("CUDA_PATH"));
    add_nvcc(r);
    add_toolkit(r, "/usr/local/cuda");
    lib = open_near(r, opened);
    lab_free(r);
    return lib;
}

/* 130001 is CUDA 13.0; before that the numbers ran 1, 2, ... 28. */
static unsigned release_of(uint32_t version)
{
    return version >= 10000 ? version / 10000 : 12;
}

/* *missing: a function that tracing needs and `lib` lacks, or unchanged. */
static void find_functions(void *lib, struct lab_cupti *t, const char **missing)
{
    void *symbol;
#define TEXT_OF(name) #name
#define FIND(name, lacking)                                                    \
    symbol = dlsym(lib, TEXT_OF(name));                                        \
    memcpy(&t->name, &symbol, sizeof(symbol));                                 \
    if (!symbol)                                                               \
        lacking = TEXT_OF(name);
#define X(name) FIND(name, *missing)
    LAB_CUPTI_LIST(X)
#undef X
#ifdef LAB_HAVE_COUNTERS
#define X(name) FIND(name, t->no_counters)
    LAB_CUPTI_COUNTER_LIST(X)
#undef X
#endif
#undef FIND
#undef TEXT_OF
    symbol = dlsym(lib, "cuptiActivityEnableRuntimeApi");
    memcpy(&t->enable_runtime_call, &symbol, sizeof(symbol));
    symbol = dlsym(lib, "cuptiActivityEnableDriverApi");
    memcpy(&t->enable_driver_call, &symbol, sizeof(symbol));
}

static enum lab_status load(struct lab_cupti *t)
{
    const char *missing = NULL;
    dlerror();
    void *lib = open_library(t->path);
    if (!lib) {
        const char *given = getenv("LAPENNA_LAB_CUPTI");
        const char *text = given && *given ? dlerror() : NULL;
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[cupti.missing] libcupti.so.%d was not found%s%s: "
                        "install cuda-cupti-%d-%d "
                        "or set LAPENNA_LAB_CUPTI to the library's path",
                        (int)CUDA_MAJOR, text ? ": " : "", text ? text : "",
                        (int)CUDA_MAJOR, CUDA_VERSION % 1000 / 10);
    }
    find_functions(lib, t, &missing);
    if (missing) {
        dlclose(lib);
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[cupti.symbol] %s has no %s, which the CUDA module needs: install "
            "cuda-cupti-%d-%d or set LAPENNA_LAB_CUPTI",
            t->path, missing, (int)CUDA_MAJOR, CUDA_VERSION % 1000 / 10);
    }
    if (t->cuptiGetVersion(&t->version) != CUPTI_SUCCESS ||
        release_of(t->version) != (unsigned)CUDA_MAJOR) {
        dlclose(lib);
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[cupti.version] %s is CUPTI of CUDA %u, the CUDA "
                        "module was built for %d: "
                        "install cuda-cupti-%d-%d or set LAPENNA_LAB_CUPTI",
                        t->path, release_of(t->version), (int)CUDA_MAJOR,
                        (int)CUDA_MAJOR, CUDA_VERSION % 1000 / 10);
    }
    struct link_map *map = NULL;
    if (dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0])
        snprintf(t->path, sizeof(t->path), "%.*s", LAB_CUPTI_PATH_BYTES - 1,
                 map->l_name);
    return LAB_OK;
}

enum lab_status lab_cupti_load(const struct lab_cupti **out)
{
    enum lab_status st = LAB_OK;
    pthread_mutex_lock(&load_lock);
    if (!loaded) {
        struct lab_cupti t = {0};
        st = load(&t);
        if (!st) {
            table = t;
            loaded = true;
        }
    }
    if (!st)
        *out = &table;
    pthread_mutex_unlock(&load_lock);
    return st;
}

/* ---- being the one subscriber ---- */

enum { TOOL_BYTES = 256 };

/* One for the process, as CUPTI is. */
static struct {
    pthread_mutex_t lock;
    const struct lab_cupti *cupti;
    CUpti_SubscriberHandle subscriber;
    char other[TOOL_BYTES]; /* the tool that was there before; "": none */
    int holders;
    _Atomic(lab_cupti_callback_fn *) listener;
    _Atomic(lab_cupti_callback_fn *) marks;
    CUpti_CallbackId mark; /* the call of the driver that `marks` gets */
} attached = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* CUPTI asks for a subscriber even where no callback is enabled. */
static void CUPTIAPI on_callback(void *user, CUpti_CallbackDomain domain,
                                 CUpti_CallbackId id, const void *data)
{
    bool mark = id == attached.mark && domain == CUPTI_CB_DOMAIN_DRIVER_API;
    lab_cupti_callback_fn *listener = mark ? attached.marks : attached.listener;
    (void)user;
    if (listener)
        listener(domain, id, data);
}

void lab_cupti_listen(lab_cupti_callback_fn *listener)
{
    attached.listener = listener;
}

void lab_cupti_listen_marks(CUpti_CallbackId call,
                            lab_cupti_callback_fn *listener)
{
    attached.mark = call;
    attached.marks = listener;
}

/* Nsight tools come in by injection, which the environment shows. CUPTI
 * itself as the NVTX library is no other tool. */
static enum lab_status find_other_tool(void)
{
    static const char *const names[] = {"CUDA_INJECTION64_PATH",
                                        "NVTX_INJECTION64_PATH"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *path = getenv(names[i]);
        if (!path || !*path)
            continue;
        const char *base = strrchr(path, '/');
        base = base ? base + 1 : path;
        if (strncmp(base, "libcupti", 8) != 0)
            return lab_fail(LAB_E_STATE,
                            "[cupti.other-tool] another tool is attached "
                            "(%s=%s): it records the "
                            "kernels, and the NVTX ranges go to it; run "
                            "without it to record them here",
                            names[i], path);
    }
    return LAB_OK;
}

static CUptiResult subscribe(void)
{
    attached.other[0] = '\0';
#ifdef CUpti_SubscriberParams_STRUCT_SIZE
    CUpti_SubscriberParams params = {
        .structSize = CUpti_SubscriberParams_STRUCT_SIZE,
        .subscriberName = "lapenna-lab",
        .oldSubscriberName = attached.other,
        .oldSubscriberSize = sizeof(attached.other),
    };
    return attached.cupti->cuptiSubscribe_v2(&attached.subscriber, on_callback,
                                             NULL, &params);
#else
    return attached.cupti->cuptiSubscribe(&attached.subscriber, on_callback,
                                          NULL);
#endif
}

static const char *text_of(const struct lab_cupti *cupti, CUptiResult result)
{
    const char *text = NULL;
    if (cupti->cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text)
        return "unknown CUPTI error";
    return text;
}

enum lab_status lab_cupti_check(const struct lab_cupti *cupti, CUptiResult r,
                                const char *what)
{
    const char *remedy = "";
    if (r == CUPTI_SUCCESS)
        return LAB_OK;
    if (r == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return lab_fail(
            LAB_E_STATE,
            "[cupti.other-tool] another tool is attached%s%s%s: it records the "
            "kernels; run without it to record them here",
            *attached.other ? " (" : "", attached.other,
            *attached.other ? ")" : "");
    if (r == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
        remedy = "; the driver keeps profiling to administrators: set "
                 "NVreg_RestrictProfilingToAdminUsers=0 for it, or run as one";
    else if (r == CUPTI_ERROR_NOT_INITIALIZED || r == CUPTI_ERROR_UNKNOWN)
        remedy = "; is an NVIDIA driver for this CUDA version loaded?";
    return lab_fail(LAB_E_DEVICE, "[cupti.call] CUPTI: %s: %s (error %d)%s",
                    what, text_of(cupti, r), (int)r, remedy);
}

static enum lab_status attach(void)
{
    enum lab_status st = find_other_tool();
    if (!st)
        st = lab_cupti_load(&attached.cupti);
    return st ? st : lab_cupti_check(attached.cupti, subscribe(), "subscribe");
}

enum lab_status lab_cupti_attach(const struct lab_cupti **cupti,
                                 CUpti_SubscriberHandle *subscriber)
{
    enum lab_status st = LAB_OK;
    pthread_mutex_lock(&attached.lock);
    if (attached.holders == 0)
        st = attach();
    if (!st) {
        attached.holders++;
        *cupti = attached.cupti;
        *subscriber = attached.subscriber;
    }
    pthread_mutex_unlock(&attached.lock);
    return st;
}

void lab_cupti_detach(void)
{
    pthread_mutex_lock(&attached.lock);
    if (attached.holders > 0 && --attached.holders == 0)
        attached.cupti->cuptiUnsubscribe(attached.subscriber);
    pthread_mutex_unlock(&attached.lock);
}
#else
typedef int lab_cupti_api_left_out;
#endif
