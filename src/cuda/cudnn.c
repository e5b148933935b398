/* cudnn.c -- cuDNN, found at run time: a machine without it has every other
 * kernel.
 *
 * Loads the library at the first use, resolves its functions into one table
 * (kernels/library/cudnn_exec.h), and keeps the version or the reason for
 * `doctor`. */
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

static bool find_functions(void *lib)
{
    static const struct lab_cuda_function version[] = {
        {&api.version, "cudnnGetVersion"}, {NULL}};
#define LAB_CUDNN_FIND(type, field, name) {&api.table.field, name},
#define LAB_CUDNN_TRY(type, field, name) {&api.table.field, name, true},
    static const struct lab_cuda_function functions[] = {
        LAB_CUDNN_FUNCTIONS(LAB_CUDNN_FIND) LAB_CUDNN_OPTIONAL(LAB_CUDNN_TRY){
            &api.table.status_text, "cudnnGetErrorString"},
        {&api.table.last_error, "cudnnGetLastErrorString", true},
        {NULL}};
    const char *missing = lab_cuda_functions(lib, version);
    size_t v = missing ? 0 : api.version();
    if (!missing && v < OLDEST) {
        snprintf(text, sizeof(text),
                 "libcudnn is of version %zu; cuDNN 9 or later is needed", v);
        return false;
    }
    if (!missing)
        missing = lab_cuda_functions(lib, functions);
    if (missing)
        snprintf(text, sizeof(text), "libcudnn has no %s", missing);
    else
        snprintf(text, sizeof(text), "version %zu.%zu.%zu", v / 10000,
                 v / 100 % 100, v % 100);
    return !missing;
}

static void load(void)
{
    static const char *const names[] = {"libcudnn.so.9", "libcudnn.so",
                                        "/usr/local/cuda/lib64/libcudnn.so.9",
                                        NULL};
    void *lib = lab_cuda_library(names);
    if (!lib)
        snprintf(text, sizeof(text),
                 "libcudnn.so.9 was not found: install cuDNN 9 of CUDA %d, or "
                 "add its directory to LD_LIBRARY_PATH",
                 CUDART_VERSION / 1000);
    else if (find_functions(lib))
        api.lib = lib;
    else
        dlclose(lib);
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
