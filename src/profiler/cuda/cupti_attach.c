/* cupti_attach.c -- starts and stops CUPTI in this process, and reports why it
 * refuses. */
#include "cupti_attach.h"

#ifdef LAB_HAVE_CUPTI
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOOL_BYTES = 256 };

/* One for the process, as CUPTI is. */
static struct {
    pthread_mutex_t lock;
    const struct lab_cupti *cupti;
    CUpti_SubscriberHandle subscriber;
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

/* Nsight tools come in by injection and say so in the environment. CUPTI
 * itself as the NVTX library is no other tool. */
static bool other_tool(char *why, size_t bytes)
{
    static const char *const names[] = {"CUDA_INJECTION64_PATH",
                                        "NVTX_INJECTION64_PATH"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *path = getenv(names[i]);
        if (!path || !*path)
            continue;
        const char *base = strrchr(path, '/');
        base = base ? base + 1 : path;
        if (strncmp(base, "libcupti", 8) == 0)
            continue;
        snprintf(why, bytes,
                 "another tool is attached (%s=%s): it records the kernels, "
                 "and the NVTX ranges go to it; run without it to record them "
                 "here",
                 names[i], path);
        return true;
    }
    return false;
}

static CUptiResult subscribe(const struct lab_cupti *cupti,
                             CUpti_SubscriberHandle *out, char *other,
                             size_t other_bytes)
{
    other[0] = '\0';
#ifdef CUpti_SubscriberParams_STRUCT_SIZE
    CUpti_SubscriberParams params = {
        .structSize = CUpti_SubscriberParams_STRUCT_SIZE,
        .subscriberName = "lapenna-lab",
        .oldSubscriberName = other,
        .oldSubscriberSize = other_bytes,
    };
    return cupti->cuptiSubscribe_v2(out, on_callback, NULL, &params);
#else
    (void)other_bytes;
    return cupti->cuptiSubscribe(out, on_callback, NULL);
#endif
}

enum lab_status lab_cupti_refused(const struct lab_cupti *cupti, CUptiResult r,
                                  const char *what, const char *other,
                                  char *why, size_t bytes)
{
    if (r == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
        snprintf(why, bytes,
                 "another tool is attached%s%s%s: it records the kernels; run "
                 "without it to record them here",
                 *other ? " (" : "", other, *other ? ")" : "");
        return LAB_E_STATE;
    }
    const char *remedy = "";
    if (r == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
        remedy = "; the driver keeps profiling to administrators: set "
                 "NVreg_RestrictProfilingToAdminUsers=0 for it, or run as one";
    else if (r == CUPTI_ERROR_NOT_INITIALIZED || r == CUPTI_ERROR_UNKNOWN)
        remedy = "; is an NVIDIA driver for this CUDA version loaded?";
    snprintf(why, bytes, "CUPTI: %s: %s (error %d)%s", what,
             lab_cupti_text(cupti, r), (int)r, remedy);
    return LAB_E_DEVICE;
}

static enum lab_status attach(const struct lab_cupti **cupti,
                              CUpti_SubscriberHandle *subscriber, char *why,
                              size_t bytes)
{
    char other[TOOL_BYTES];
    if (other_tool(why, bytes))
        return LAB_E_STATE;
    enum lab_status st = lab_cupti_load(cupti, why, bytes);
    if (st)
        return st;
    CUptiResult r = subscribe(*cupti, subscriber, other, sizeof(other));
    if (r != CUPTI_SUCCESS)
        return lab_cupti_refused(*cupti, r, "subscribe", other, why, bytes);
    return LAB_OK;
}

enum lab_status lab_cupti_attach(const struct lab_cupti **cupti,
                                 CUpti_SubscriberHandle *subscriber, char *why,
                                 size_t bytes)
{
    enum lab_status st = LAB_OK;
    pthread_mutex_lock(&attached.lock);
    if (attached.holders == 0)
        st = attach(&attached.cupti, &attached.subscriber, why, bytes);
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
typedef int lab_cupti_attach_left_out;
#endif
