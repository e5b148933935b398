/* kernels/library/cudnn_entry.cu -- entries and memory for the launchers of cuDNN.
 *
 * The handle is made with the first entry, not with the backend: cuDNN takes
 * memory and time that a lesson without it need not spend. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "library/cudnn_entry.cuh"

static bool capturing(const struct lab_call *call)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(lab_stream(call), &status) == cudaSuccess &&
           status != cudaStreamCaptureStatusNone;
}

static enum lab_status refuse_capture(const struct lab_call *call)
{
    if (!capturing(call))
        return LAB_OK;
    return lab_fail(LAB_E_INTERNAL,
                    "cuDNN: a shape was not prepared before the graph");
}

enum lab_status cudnn_judge(const struct lab_call *call, int status,
                            const char *what)
{
    const struct lab_cudnn *dnn = call->exec->cudnn;
    char more[160] = "";
    if (status == 0)
        return LAB_OK;
    if (dnn->last_error)
        dnn->last_error(more, sizeof(more));
    more[strcspn(more, "\n")] = '\0';
    if (status >= LAB_CUDNN_NOT_SUPPORTED && status < 4000)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[launch.cudnn-refused] %s: cuDNN does not serve these sizes%s%s",
            what, more[0] ? ": " : "", more);
    return lab_fail(LAB_E_DEVICE, "%s: %s (status %d)%s%s", what,
                    dnn->status_text(status), status, more[0] ? ": " : "",
                    more);
}

bool cudnn_fits(const int64_t *sizes, int n)
{
    bool fits = true;
    for (int i = 0; i < n; i++)
        fits = fits && sizes[i] <= INT32_MAX;
    return fits;
}

size_t cudnn_workspace_limit()
{
    return (size_t)1 << 30;
}

static enum lab_status start(const struct lab_call *call)
{
    struct lab_cudnn *dnn = call->exec->cudnn;
    if (dnn->handle)
        return LAB_OK;
    enum lab_status st = cudnn_judge(call, dnn->create(&dnn->handle), "cuDNN");
    if (st)
        return st;
    return cudnn_judge(call, dnn->set_stream(dnn->handle, lab_stream(call)),
                       "cuDNN");
}

static void entry_free(struct lab_cudnn_entry *entry)
{
    for (int i = entry->n_descriptors - 1; i >= 0; i--)
        entry->destroy[i](entry->descriptor[i]);
    if (entry->memory)
        (void)cudaFree(entry->memory);
    lab_free(entry->plan);
    lab_free(entry);
}

enum lab_status cudnn_entry_of(const struct lab_call *call,
                               const struct cudnn_key &key, size_t plan_bytes,
                               struct lab_cudnn_entry **out)
{
    struct lab_cudnn *dnn = call->exec->cudnn;
    if (!dnn)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.no-cudnn] cuDNN is not on this machine");
    for (*out = dnn->entries; *out; *out = (*out)->next) {
        if (memcmp((*out)->key, key.part, sizeof(key.part)) == 0)
            return LAB_OK;
    }
    enum lab_status st = refuse_capture(call);
    if (!st)
        st = start(call);
    if (st)
        return st;
    struct lab_cudnn_entry *entry =
        static_cast<struct lab_cudnn_entry *>(lab_alloc(sizeof(*entry)));
    void *plan = lab_alloc(plan_bytes);
    if (!entry || !plan) {
        lab_free(entry);
        lab_free(plan);
        return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
    }
    memcpy(entry->key, key.part, sizeof(key.part));
    entry->plan = plan;
    entry->next = dnn->entries;
    dnn->entries = entry;
    *out = entry;
    return LAB_OK;
}

enum lab_status cudnn_entry_made(const struct lab_call *call,
                                 struct lab_cudnn_entry *entry,
                                 enum lab_status st)
{
    struct lab_cudnn *dnn = call->exec->cudnn;
    if (!st) {
        entry->ready = true;
        return LAB_OK;
    }
    struct lab_cudnn_entry **at = &dnn->entries;
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    entry_free(entry);
    return st;
}

void *cudnn_descriptor(struct lab_cudnn_entry *entry,
                       lab_cudnn_create_fn *create,
                       lab_cudnn_destroy_fn *destroy)
{
    void *made = nullptr;
    if (entry->n_descriptors == LAB_CUDNN_DESCRIPTORS || create(&made))
        return nullptr;
    entry->descriptor[entry->n_descriptors] = made;
    entry->destroy[entry->n_descriptors++] = destroy;
    return made;
}

static enum lab_status take(const struct lab_call *call, size_t bytes,
                            void **out)
{
    enum lab_status st = refuse_capture(call);
    if (st)
        return st;
    cudaError_t err = cudaMalloc(out, bytes);
    if (err == cudaSuccess)
        return LAB_OK;
    (void)cudaGetLastError();
    return lab_fail(err == cudaErrorMemoryAllocation ? LAB_E_NOMEM
                                                     : LAB_E_DEVICE,
                    "cuDNN asks for %zu bytes on the GPU: %s", bytes,
                    cudaGetErrorString(err));
}

enum lab_status cudnn_memory(const struct lab_call *call,
                             struct lab_cudnn_entry *entry, size_t bytes)
{
    if (bytes == 0)
        return LAB_OK;
    enum lab_status st = take(call, bytes, &entry->memory);
    if (!st)
        entry->memory_bytes = bytes;
    return st;
}

/* The old one stays until the end: a captured graph may hold its address. */
enum lab_status cudnn_workspace(const struct lab_call *call, size_t bytes)
{
    struct lab_cudnn *dnn = call->exec->cudnn;
    if (bytes <= dnn->workspace_bytes)
        return LAB_OK;
    if (bytes < 2 * dnn->workspace_bytes)
        bytes = 2 * dnn->workspace_bytes;
    struct lab_cudnn_retired *old =
        static_cast<struct lab_cudnn_retired *>(lab_alloc(sizeof(*old)));
    if (!old)
        return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's workspace");
    void *memory = nullptr;
    enum lab_status st = take(call, bytes, &memory);
    if (st || !dnn->workspace) {
        lab_free(old);
    } else {
        old->memory = dnn->workspace;
        old->next = dnn->retired;
        dnn->retired = old;
    }
    if (st)
        return st;
    dnn->workspace = memory;
    dnn->workspace_bytes = bytes;
    return LAB_OK;
}

void lab_cudnn_release(struct lab_cudnn *dnn)
{
    while (dnn->entries) {
        struct lab_cudnn_entry *entry = dnn->entries;
        dnn->entries = entry->next;
        entry_free(entry);
    }
    while (dnn->retired) {
        struct lab_cudnn_retired *old = dnn->retired;
        dnn->retired = old->next;
        (void)cudaFree(old->memory);
        lab_free(old);
    }
    if (dnn->workspace)
        (void)cudaFree(dnn->workspace);
    if (dnn->handle)
        dnn->destroy(dnn->handle);
    dnn->workspace = nullptr;
    dnn->workspace_bytes = 0;
    dnn->handle = nullptr;
}
