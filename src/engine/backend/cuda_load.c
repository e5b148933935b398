/* cuda_load.c -- the CUDA module, loaded at the first use.
 *
 * The program links no NVIDIA library; this opens lapenna-lab-cuda.so once,
 * checks its ABI number, and keeps the reason with a remedy where there is
 * none. Any thread. */
#include <pthread.h>
#include <stdio.h>

#include "base/module.h"
#include "engine/backend.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct lab_cuda_module *module;
static char reason[512];

static void load(void)
{
    void *handle;
    lab_cuda_module_fn *entry;
    enum lab_status st = lab_module_open("lapenna-lab-cuda.so", &handle);
    bool none = st == LAB_E_NOTFOUND;
    if (!st)
        st = lab_module_symbol(handle, "lab_cuda_module", &entry);
    const struct lab_cuda_module *m = st ? NULL : entry();
    if (none)
        snprintf(reason, sizeof(reason),
                 "no CUDA module: this build has none (%s). Remedy: install "
                 "the CUDA toolkit, put nvcc on PATH and build again",
                 lab_error());
    else if (st)
        snprintf(reason, sizeof(reason), "the CUDA module does not load: %s",
                 lab_error());
    else if (m->abi != LAB_BACKEND_ABI)
        snprintf(reason, sizeof(reason),
                 "the CUDA module is of another version (%u, the program "
                 "needs %d). Remedy: build both again",
                 m->abi, LAB_BACKEND_ABI);
    else
        module = m;
}

enum lab_status lab_cuda_load(const struct lab_cuda_module **out)
{
    pthread_once(&once, load);
    if (!module)
        return lab_fail(LAB_E_UNSUPPORTED, "%s", reason);
    *out = module;
    return LAB_OK;
}
