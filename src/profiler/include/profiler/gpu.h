/* profiler/gpu.h -- what the CUDA module offers the profiler, and what the
 * profiler offers the CUDA module.
 *
 * The module turns CUPTI's activity records into records of trace/record.h and
 * hands them over with the execution that they belong to. Their theoretical
 * occupancy, their readable names and the step of a graph's node are found on
 * the program's side (profiler/join.h), so that they can be tested without a
 * GPU.
 *
 * CUPTI is one for the process, so there is one table and no instance. The
 * module loads libcupti by itself when start() or probe() is called, and works
 * without it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "trace/metric.h"
#include "trace/record.h"

enum { LAB_GPU_PROFILER_ABI = 5, LAB_GPU_TEXT = 512 };

/* What a kernel's record knows that struct lab_kernel_record has no place for,
 * as occupancy needs it. */
struct lab_gpu_launch {
    const char *mangled; /* valid during the call */
    int carveout_pct;    /* asked for: 0..100; -1: the driver's choice */
    int shared_optin;    /* the function may take more than the default */
};

/* Where the module's records go. Calls come from CUPTI's worker or from the
 * thread that flushes, perhaps at once. They may wait (base/ring.h states how
 * long), must not call CUPTI or CUDA, and must not throw the record's order of
 * one buffer away. */
struct lab_gpu_sink {
    void *user;
    /* `k` has no names and no occupancy yet. */
    void (*kernel)(void *user, const struct lab_kernel_record *k,
                   const struct lab_gpu_launch *launch);
    /* MEMCPY, MEMSET, API, SYNC and OVERHEAD; METRIC of a simulation. */
    void (*record)(void *user, const struct lab_record *record);
    uint32_t (*intern)(void *user, const char *text);
};

/* What is recorded. The fewer, the less a launch costs. */
enum lab_gpu_records {
    LAB_GPU_RECORDS_ALL,
    LAB_GPU_RECORDS_KERNELS, /* and copies and memsets: no calls of the host */
    LAB_GPU_RECORDS_NONE
};

struct lab_gpu_trace_options {
    enum lab_gpu_records records;
    size_t buffer_bytes; /* of one activity buffer; 0: 8 MiB */
    bool graph_nodes;    /* a record for each node of a CUDA graph, instead of
                            the graph as a whole: each node takes longer */
};

/* Everything since start(), as far as it has been seen. */
struct lab_gpu_trace_stats {
    uint64_t records; /* read from buffers */
    uint64_t dropped; /* CUPTI had no buffer for them */
    uint64_t invalid; /* buffers that ended in an unreadable record */
    uint64_t untimed; /* start = end = 0 */
    uint64_t buffers;
    uint64_t flushes;
    int64_t callback_ns; /* time spent in the buffer callbacks, summed */
};

/* The place of a range: its colour and its category in nsys. */
enum lab_range_level {
    LAB_RANGE_RUN,
    LAB_RANGE_ITERATION,
    LAB_RANGE_PHASE,
    LAB_RANGE_NODE,
    LAB_RANGE_STEP,
    LAB_RANGE_BETWEEN, /* steps: an evaluation */
    LAB_RANGE_LEVEL_COUNT
};

struct lab_gpu_range {
    const char *text; /* UTF-8 */
    int level;        /* enum lab_range_level */
    int phase;        /* enum lab_phase; -1: none. Chooses the colour */
    int64_t value; /* iteration or exec, shown as payload; LAB_UNKNOWN none */
};

/* What is counted, after open(). */
struct lab_gpu_counter_info {
    char chip[32]; /* CUPTI's name: "GH100" */
    int passes;    /* how often the work has to run */
    int n;         /* metrics that this chip knows */
    /* Their places among the metrics asked for. */
    int metric[LAB_MAX_METRICS];
};

/* Hardware counters of every kernel. The order: open, launches, begin, then
 * pass_begin, the work and pass_end until it reports that it has seen enough,
 * end; close. One for the process, on one thread, and its current CUDA context
 * is the one that works. After a failure error() of the table below has what
 * happened and what helps. Counting is not for timing: clocks and caches are
 * not those of ordinary work. */
struct lab_gpu_counter_ops {
    /* May this process read the counters of the current context's device?
     * LAB_OK: `text` names the chip. Errors: LAB_E_UNSUPPORTED, LAB_E_STATE
     * another tool has them, LAB_E_DEVICE no right to. */
    enum lab_status (*probe)(char *text, size_t bytes);
    /* Gets ready to count `metrics` (constants); a tenth of a second the first
     * time, nothing when the same have been open before. LAB_E_UNSUPPORTED: the
     * chip knows none of them. */
    enum lab_status (*open)(const char *const *metrics, int n,
                            struct lab_gpu_counter_info *info);
    /* Kernels that this process has launched since listen(true). */
    enum lab_status (*listen)(bool on);
    int64_t (*launches)(void);
    /* Counts up to `kernels` of them in each pass. */
    enum lab_status (*begin)(int64_t kernels);
    enum lab_status (*pass_begin)(void);
    enum lab_status (*pass_end)(bool *again);
    /* *values: info.n numbers for each of *kernels kernels in the order of
     * their launches; the caller frees it with lab_free(). Also after a failure
     * in between, with values NULL. */
    enum lab_status (*end)(double **values, int64_t *kernels);
    void (*close)(void);
};

struct lab_gpu_profiler_ops {
    uint32_t abi; /* LAB_GPU_PROFILER_ABI, or the table is not used */
    /* What the module's last failure on this thread was, and the remedy: the
     * module has its own copy of base/status.h. */
    const char *(*error)(void);

    /* Whether tracing could start, without starting it, for `doctor`. LAB_OK:
     * `text` states which CUPTI and where from. Errors: as start(). Any
     * thread. */
    enum lab_status (*probe)(char *text, size_t bytes);

    /* Starts tracing; best before the first CUDA call of the process. `sink` is
     * copied; its functions are called until stop() returns. On failure nothing
     * is started.
     * Errors: LAB_E_UNSUPPORTED no usable CUPTI or driver; LAB_E_STATE another
     * tool is attached, or already started; LAB_E_DEVICE CUPTI refused. */
    enum lab_status (*start)(const struct lab_gpu_sink *sink,
                             const struct lab_gpu_trace_options *options);
    /* Hands out what is left and ends tracing. Safe when not started, when
     * start() failed, and in a forked child (where it does nothing). The same
     * thread as start(). */
    void (*stop)(void);

    /* The caller has synchronised the stream. When it returns LAB_OK every
     * record of work that was done before has been given to the sink, except
     * what stats() counts as dropped. LAB_E_STATE: not started. */
    enum lab_status (*flush)(void);

    /* Changes what is recorded without stop(): with NONE launches cost what
     * they did before. A graph keeps what it was made with: make it anew. The
     * caller has flushed. No-op when not started. LAB_E_DEVICE: CUPTI refuses,
     * and nothing is recorded. The thread that pushes. */
    enum lab_status (*set_records)(enum lab_gpu_records records);

    /* What this thread launches between push and pop belongs to `exec`, and so
     * does what others launch meanwhile. One thread at a time; cheap; no-ops
     * when not started. */
    void (*push)(int64_t exec);
    void (*pop)(void);

    /* NVTX push/pop ranges of the calling thread in the domain "lapenna-lab",
     * for nsys and ncu. Work whether tracing was started or not, and cost next
     * to nothing when no tool listens. */
    void (*range_push)(const struct lab_gpu_range *range);
    void (*range_pop)(void);

    void (*stats)(struct lab_gpu_trace_stats *out); /* any thread */

    const struct lab_gpu_counter_ops *counters; /* NULL: built without */
};

LAB_C_BEGIN
/* The CUDA module's table: lab_cuda_module.profiler points to it. Defined in
 * profiler/cuda/cupti_trace.c, which only the module contains. */
extern const struct lab_gpu_profiler_ops lab_gpu_profiler_cupti;
/* Of the backend "sim". */
extern const struct lab_gpu_profiler_ops lab_gpu_profiler_sim;
LAB_C_END
