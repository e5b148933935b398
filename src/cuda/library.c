/* library.c -- NVIDIA's libraries, found at run time: a machine without one has
 * every other kernel. */
#include <dlfcn.h>
#include <stddef.h>

#include "cuda_priv.h"

void *lab_cuda_library(const char *const *names)
{
    void *lib = NULL;
    for (; *names && !lib; names++)
        lib = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);
    return lib;
}

/* ISO C has no cast from void * to a function; POSIX promises that it works. */
const char *lab_cuda_functions(void *lib, const struct lab_cuda_function *f)
{
    const char *missing = NULL;
    for (; f->name; f++) {
        void *address = dlsym(lib, f->name);
        *(void **)f->to = address;
        if (!address && !f->optional && !missing)
            missing = f->name;
    }
    return missing;
}
