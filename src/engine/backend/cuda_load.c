/* The CUDA module, loaded at the first use. */
#include <pthread.h>
#include <stdio.h>

#include "base/module.h"
#include "engine/backend.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct lab_cuda_module *module;
static enum lab_status result;
static char reason[512];

static void load(void)
{
    void *handle;
    void *address;
    lab_cuda_module_fn *entry;
    result = lab_module_open("lapenna-lab-cuda.so", &handle);
    if (result == LAB_E_NOTFOUND) {
        snprintf(reason, sizeof(reason),
                 "no CUDA module: this build has none (%s). Remedy: install "
                 "the CUDA toolkit, put nvcc on PATH and build again",
                 lab_error());
        result = LAB_E_UNSUPPORTED;
        return;
    }
    if (!result)
        result = lab_module_symbol(handle, "lab_cuda_module", &address);
    if (result) {
        snprintf(reason, sizeof(reason), "the CUDA module does not load: %s",
                 lab_error());
        result = LAB_E_UNSUPPORTED;
        return;
    }
    *(void **)&entry = address; /* the way POSIX has it for dlsym() */
    const struct lab_cuda_module *m = entry();
    if (m->abi != LAB_BACKEND_ABI) {
        snprintf(reason, sizeof(reason),
                 "the CUDA module is of another version (%u, the program "
                 "needs %d). Remedy: build both again",
                 m->abi, LAB_BACKEND_ABI);
        result = LAB_E_UNSUPPORTED;
        return;
    }
    module = m;
}

enum lab_status lab_cuda_load(const struct lab_cuda_module **out)
{
    pthread_once(&once, load);
    if (result)
        return lab_fail(result, "%s", reason);
    *out = module;
    return LAB_OK;
}
