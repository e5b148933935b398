#include "cupti_mark.h"

#ifdef LAB_HAVE_CUPTI
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cupti_attach.h"

enum { CALL = CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion };

static CUresult (*ask)(int *version);
static _Thread_local struct {
    bool known;
    uint32_t id;
} seen;

static void on_mark(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                    const CUpti_CallbackData *data)
{
    (void)domain;
    (void)id;
    if (data->callbackSite != CUPTI_API_ENTER)
        return;
    seen.id = data->correlationId;
    seen.known = true;
}

/* libcuda is there where CUPTI could attach; the program does not link it, and
 * it stays open. */
static void *driver_call(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    void *cuda = symbol ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return cuda ? dlsym(cuda, name) : symbol;
}

bool lab_cupti_mark(uint32_t *correlation_id)
{
    int version;
    seen.known = false;
    (void)ask(&version);
    *correlation_id = seen.id;
    return seen.known;
}

/* Before cuInit() the driver need not report its calls. Tracing is for a
 * program that opens the device next, so that it is not early. */
static bool works(CUresult *init_gives)
{
    CUresult (*init)(unsigned) = NULL;
    uint32_t id;
    *init_gives = CUDA_SUCCESS;
    if (lab_cupti_mark(&id))
        return true;
    void *symbol = driver_call("cuInit");
    memcpy(&init, &symbol, sizeof(symbol));
    if (init)
        *init_gives = init(0);
    return *init_gives == CUDA_SUCCESS && lab_cupti_mark(&id);
}

enum lab_status lab_cupti_mark_open(const struct lab_cupti *cupti,
                                    CUpti_SubscriberHandle subscriber,
                                    char *why, size_t bytes)
{
    if (!ask) {
        void *symbol = driver_call("cuDriverGetVersion");
        memcpy(&ask, &symbol, sizeof(symbol));
    }
    if (!ask) {
        snprintf(why, bytes,
                 "libcuda.so.1 is not to be found: is an NVIDIA driver "
                 "installed?");
        return LAB_E_UNSUPPORTED;
    }
    lab_cupti_listen_marks(CALL, on_mark);
    CUptiResult r = cupti->cuptiEnableCallback(
        1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CALL);
    if (r != CUPTI_SUCCESS) {
        lab_cupti_listen_marks(CALL, NULL);
        return lab_cupti_refused(cupti, r, "watch a call", "", why, bytes);
    }
    CUresult init;
    if (works(&init))
        return LAB_OK;
    lab_cupti_mark_close(cupti, subscriber);
    if (init != CUDA_SUCCESS)
        snprintf(why, bytes,
                 "the driver does not start (cuInit: error %d); nvidia-smi "
                 "says more",
                 (int)init);
    else
        snprintf(why, bytes,
                 "%s tells no correlation id of a call, so that kernels cannot "
                 "be given to their steps; use the CUPTI of CUDA 13",
                 cupti->path);
    return LAB_E_UNSUPPORTED;
}

void lab_cupti_mark_close(const struct lab_cupti *cupti,
                          CUpti_SubscriberHandle subscriber)
{
    (void)cupti->cuptiEnableCallback(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                     CALL);
    lab_cupti_listen_marks(CALL, NULL);
}

bool lab_cupti_is_mark(CUpti_CallbackId call)
{
    return call == CALL;
}
#else
typedef int lab_cupti_mark_left_out;
#endif
