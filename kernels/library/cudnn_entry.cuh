/* kernels/library/cudnn_entry.cuh -- what the launchers of cuDNN share: entries, memory
 * and messages. See cudnn_exec.h. */
#pragma once
#include "library/cudnn_exec.h"
#include "library/cudnn_sets.h"
#include "common/launch.cuh"

/* The key of an entry: which function, and the sizes. */
struct cudnn_key {
    int64_t part[LAB_CUDNN_KEY];
};

enum cudnn_kind {
    CUDNN_CONV = 1,
    CUDNN_POOL,
    CUDNN_ROWS,
    CUDNN_CHANNELS,
    CUDNN_RNN,
    CUDNN_ATTENTION,
    CUDNN_LAB_CONV
};

/* The entry of `key`; one that is not `ready` is new, and its maker fills it:
 * `plan` is plan_bytes of zeros. LAB_E_UNSUPPORTED without cuDNN, and for a new
 * entry while a graph is captured. */
enum lab_status cudnn_entry_of(const struct lab_call *call,
                               const struct cudnn_key &key, size_t plan_bytes,
                               struct lab_cudnn_entry **out);
/* A new entry is complete (st LAB_OK), or is taken out again. Returns st. */
enum lab_status cudnn_entry_made(const struct lab_call *call,
                                 struct lab_cudnn_entry *entry,
                                 enum lab_status st);
/* A descriptor that the entry owns; NULL when there is none to be had. */
void *cudnn_descriptor(struct lab_cudnn_entry *entry,
                       lab_cudnn_create_fn *create,
                       lab_cudnn_destroy_fn *destroy);
/* Device memory of the entry, as long as it lives. */
enum lab_status cudnn_memory(const struct lab_call *call,
                             struct lab_cudnn_entry *entry, size_t bytes);
/* Scratch of one launcher, at least `bytes`; grows unless a graph is captured.
 */
enum lab_status cudnn_workspace(const struct lab_call *call, size_t bytes);
/* How much of it an algorithm may ask for. */
size_t cudnn_workspace_limit();
/* LAB_OK, or what failed; LAB_E_UNSUPPORTED where cuDNN does not serve it. */
enum lab_status cudnn_judge(const struct lab_call *call, int status,
                            const char *what);
/* Sizes that cuDNN can count: an int each. */
bool cudnn_fits(const int64_t *sizes, int n);

/* Rows of 256 bytes, as cudaMalloc gives them. */
static inline size_t cudnn_round(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static constexpr float cudnn_one = 1.0f;
static constexpr float cudnn_zero = 0.0f;
