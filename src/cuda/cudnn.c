/* cuDNN, found at run time: a machine without it has every other kernel. */
#include "library/cudnn_exec.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "cuda_priv.h"

enum { OLDEST = 90000 };

static struct {
    void *lib;
    size_t (*version)(void);
    struct lab_cudnn table;
} api;
static char text[256]; /* the version, or why not */

/* ISO C has no cast from void * to a function; POSIX promises that it works. */
static bool symbol(void *fn, const char *name)
{
    void *address = dlsym(api.lib, name);
    *(void **)fn = address;
    if (!address && !text[0])
        snprintf(text, sizeof(text), "libcudnn has no %s", name);
    return address != NULL;
}

static void *open_library(void)
{
    static const char *const names[] = {"libcudnn.so.9", "libcudnn.so",
                                        "/usr/local/cuda/lib64/libcudnn.so.9"};
    void *lib = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !lib; i++)
        lib = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    if (!lib) {
        snprintf(text, sizeof(text),
                 "libcudnn.so.9 was not found: install cuDNN 9 of CUDA %d, or "
                 "add its directory to LD_LIBRARY_PATH",
                 CUDART_VERSION / 1000);
    }
    return lib;
}

static bool find_symbols(void)
{
    bool whole = symbol(&api.version, "cudnnGetVersion");
    if (whole && api.version() < OLDEST) {
        snprintf(text, sizeof(text),
                 "libcudnn is of version %zu; cuDNN 9 or later is needed",
                 api.version());
        return false;
    }
#define LAB_CUDNN_FIND(type, field, name)                                      \
    whole = whole && symbol(&api.table.field, name);
    LAB_CUDNN_FUNCTIONS(LAB_CUDNN_FIND)
#undef LAB_CUDNN_FIND
    whole = whole && symbol(&api.table.status_text, "cudnnGetErrorString");
    if (!whole)
        return false;
    *(void **)&api.table.last_error = dlsym(api.lib, "cudnnGetLastErrorString");
#define LAB_CUDNN_TRY(type, field, name)                                       \
    *(void **)&api.table.field = dlsym(api.lib, name);
    LAB_CUDNN_OPTIONAL(LAB_CUDNN_TRY)
#undef LAB_CUDNN_TRY
    return true;
}

static void load(void)
{
    api.lib = open_library();
    if (!api.lib)
        return;
    if (find_symbols()) {
        size_t v = api.version();
        snprintf(text, sizeof(text), "version %zu.%zu.%zu", v / 10000,
                 v / 100 % 100, v % 100);
        return;
    }
    dlclose(api.lib);
    api.lib = NULL;
}

bool lab_cudnn_available(const char **report)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (report)
        *report = text;
    return api.lib != NULL;
}

bool lab_cudnn_open(struct lab_cudnn *out)
{
    if (!lab_cudnn_available(NULL))
        return false;
    *out = api.table;
    return true;
}
