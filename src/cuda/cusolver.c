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

static void load(void)
{
    static const char *const names[] = {
        CUDART_VERSION >= 13000 ? "libcusolver.so.12" : "libcusolver.so.11",
        "libcusolver.so", "/usr/local/cuda/lib64/libcusolver.so", NULL};
    static const struct lab_cuda_function functions[] = {
        {&api.table.create, "cusolverDnCreate"},
        {&api.table.destroy, "cusolverDnDestroy"},
        {&api.table.set_stream, "cusolverDnSetStream"},
        {&api.table.getrf_size, "cusolverDnDgetrf_bufferSize"},
        {&api.table.getrf, "cusolverDnDgetrf"},
        {&api.table.getrs, "cusolverDnDgetrs"},
        {NULL}};
    void *lib = lab_cuda_library(names);
    if (!lib)
        return;
    if (lab_cuda_functions(lib, functions))
        dlclose(lib);
    else
        api.lib = lib;
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
