/* tests/unit/played_cupti.h -- a trace by the module's profiler of what the fake
 * libcupti plays, for one test at a time. */
#pragma once
#include <dlfcn.h>
#include "test.h"

#include "profiler/gpu.h"
#include "profiler/join.h"
#include "unit/fake_cupti.h"
#include "unit/profiler_sink.h"

static const struct lab_gpu_profiler_ops *const ops = &lab_gpu_profiler_cupti;
static struct fake_cupti *fake;
static void (*launch)(const char *name, int times_known);
static void (*others)(void);
static void (*spoil)(void);
static void (*hand_over)(void);

struct traced {
    struct kept *kept;
    struct lab_join *join;
};

static inline enum lab_status start(struct traced *t)
{
    struct lab_gpu_sink sink;
    struct lab_gpu_trace_options options = {.buffer_bytes = 1};
    lab_join_gpu_sink(t->join, &sink);
    return ops->start(&sink, &options);
}

static inline void flush(void)
{
    assert_ok(ops->flush());
}

static inline int setup(void **state)
{
    struct traced *t = calloc(1, sizeof(*t));
    t->kept = kept_new();
    struct lab_sink sink = kept_sink(t->kept);
    *state = t;
    memset(fake, 0, sizeof(*fake));
    return lab_join_new(&t->join, &sink) == LAB_OK ? 0 : -1;
}

static inline int teardown(void **state)
{
    struct traced *t = *state;
    ops->stop(); /* a failed test leaves it running */
    lab_join_free(t->join);
    kept_free(t->kept);
    free(t);
    return 0;
}

static inline int find(void *lib, const char *name, void *to)
{
    void *symbol = dlsym(lib, name);
    memcpy(to, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static inline int play(void)
{
    struct fake_cupti *(*get)(void);
    void *lib = dlopen(LAB_FAKE_CUPTI, RTLD_NOW | RTLD_GLOBAL);
    if (!lib || !find(lib, "fake_cupti_state", &get) ||
        !find(lib, "fake_cupti_launch", &launch) ||
        !find(lib, "fake_cupti_others", &others) ||
        !find(lib, "fake_cupti_spoil", &spoil) ||
        !find(lib, "fake_cupti_hand_over", &hand_over))
        return 0;
    fake = get();
    unsetenv("CUDA_INJECTION64_PATH");
    unsetenv("NVTX_INJECTION64_PATH");
    return 1;
}
