/* cuSOLVER, found at run time: a machine without it has every other kernel. Its
 * number is not the toolkit's: libcusolver.so.11 is of CUDA 11 and 12, .12 of
 * CUDA 13. */
#include "library/cusolver_exec.h"

#include <dlfcn.h>
#include <pthread.h>

#include "cuda_priv.h"

static struct {
    void *lib;
    struct lab_cusolver table;
} api;

/* ISO C has no cast from void * to a function; POSIX promises that it works. */
static bool symbol(void *fn, const char *name)
{
    void *address = dlsym(api.lib, name);
    *(void **)fn = address;
    return address != NULL;
}

static void load(void)
{
    static const char *const names[] = {
        CUDART_VERSION >= 13000 ? "libcusolver.so.12" : "libcusolver.so.11",
        "libcusolver.so", "/usr/local/cuda/lib64/libcusolver.so"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !api.lib; i++)
        api.lib = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    if (!api.lib)
        return;
    if (symbol(&api.table.create, "cusolverDnCreate") &&
        symbol(&api.table.destroy, "cusolverDnDestroy") &&
        symbol(&api.table.set_stream, "cusolverDnSetStream") &&
        symbol(&api.table.getrf_size, "cusolverDnDgetrf_bufferSize") &&
        symbol(&api.table.getrf, "cusolverDnDgetrf") &&
        symbol(&api.table.getrs, "cusolverDnDgetrs"))
        return;
    dlclose(api.lib);
    api.lib = NULL;
}

bool lab_cusolver_open(struct lab_cusolver *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!api.lib)
        return false;
    *out = api.table;
    return true;
}
