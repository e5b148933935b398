/* cupti_api.c -- loads CUPTI and resolves the functions that are used. */
#include "cupti_api.h"

#ifdef LAB_HAVE_CUPTI
#include <dlfcn.h>
#include <libgen.h>
#include <link.h>
#include <pthread.h>
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

static bool find_functions(void *lib, struct lab_cupti *t, const char **missing)
{
    void *symbol;
#define TEXT_OF(name) #name
#define X(name)                                                                \
    symbol = dlsym(lib, TEXT_OF(name));                                        \
    memcpy(&t->name, &symbol, sizeof(symbol));                                 \
    if (!symbol)                                                               \
        *missing = TEXT_OF(name);
    LAB_CUPTI_LIST(X)
#undef X
#undef TEXT_OF
    symbol = dlsym(lib, "cuptiActivityEnableRuntimeApi");
    memcpy(&t->enable_runtime_call, &symbol, sizeof(symbol));
    symbol = dlsym(lib, "cuptiActivityEnableDriverApi");
    memcpy(&t->enable_driver_call, &symbol, sizeof(symbol));
    return *missing == NULL;
}

#ifdef LAB_HAVE_COUNTERS
static void find_counter_functions(void *lib, struct lab_cupti *t)
{
    void *symbol;
#define TEXT_OF(name) #name
#define X(name)                                                                \
    symbol = dlsym(lib, TEXT_OF(name));                                        \
    memcpy(&t->name, &symbol, sizeof(symbol));                                 \
    if (!symbol)                                                               \
        t->no_counters = TEXT_OF(name);
    LAB_CUPTI_COUNTER_LIST(X)
#undef X
#undef TEXT_OF
}
#endif

static enum lab_status load(struct lab_cupti *t, char *why, size_t why_bytes)
{
    const char *missing = NULL;
    dlerror();
    void *lib = open_library(t->path);
    if (!lib) {
        const char *given = getenv("LAPENNA_LAB_CUPTI");
        const char *text = given && *given ? dlerror() : NULL;
        snprintf(why, why_bytes,
                 "libcupti.so.%d was not found%s%s: install cuda-cupti-%d-%d "
                 "or set LAPENNA_LAB_CUPTI to the library's path",
                 (int)CUDA_MAJOR, text ? ": " : "", text ? text : "",
                 (int)CUDA_MAJOR, CUDA_VERSION % 1000 / 10);
        return LAB_E_UNSUPPORTED;
    }
    if (!find_functions(lib, t, &missing)) {
        snprintf(why, why_bytes,
                 "%s has no %s, which the CUDA module needs: install "
                 "cuda-cupti-%d-%d or set LAPENNA_LAB_CUPTI",
                 t->path, missing, (int)CUDA_MAJOR, CUDA_VERSION % 1000 / 10);
        dlclose(lib);
        return LAB_E_UNSUPPORTED;
    }
    if (t->cuptiGetVersion(&t->version) != CUPTI_SUCCESS ||
        release_of(t->version) != (unsigned)CUDA_MAJOR) {
        snprintf(why, why_bytes,
                 "%s is CUPTI of CUDA %u, the CUDA module was built for %d: "
                 "install cuda-cupti-%d-%d or set LAPENNA_LAB_CUPTI",
                 t->path, release_of(t->version), (int)CUDA_MAJOR,
                 (int)CUDA_MAJOR, CUDA_VERSION % 1000 / 10);
        dlclose(lib);
        return LAB_E_UNSUPPORTED;
    }
#ifdef LAB_HAVE_COUNTERS
    find_counter_functions(lib, t);
#endif
    struct link_map *map = NULL;
    if (dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0])
        snprintf(t->path, sizeof(t->path), "%.*s", LAB_CUPTI_PATH_BYTES - 1,
                 map->l_name);
    return LAB_OK;
}

enum lab_status lab_cupti_load(const struct lab_cupti **out, char *why,
                               size_t why_bytes)
{
    enum lab_status st = LAB_OK;
    pthread_mutex_lock(&load_lock);
    if (!loaded) {
        struct lab_cupti t = {0};
        st = load(&t, why, why_bytes);
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

const char *lab_cupti_text(const struct lab_cupti *cupti, CUptiResult result)
{
    const char *text = NULL;
    if (cupti->cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text)
        return "unknown CUPTI error";
    return text;
}
#else
typedef int lab_cupti_api_left_out;
#endif
