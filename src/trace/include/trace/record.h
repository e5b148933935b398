/* trace/record.h -- what is observed of a run: the records that profiler,
 * store and views share.
 *
 * Plain data, fixed size, copied by value through the ring. Names are ids of
 * trace/intern.h, so that a record never owns memory. Unknown numbers are
 * LAB_UNKNOWN (integers) or NaN (doubles), never 0: they become NULL in SQLite
 * and n/a on the screen.
 *
 * Moments are CLOCK_REALTIME nanoseconds, the clock of CUPTI's records;
 * durations are nanoseconds. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "base/unknown.h"

/* The execution of work that belongs to no step: values read back, evaluation,
 * checks, what sets a graph up. Executions of steps count from 1. Kernels
 * of a step that is not recorded are in no record. */
#define LAB_EXEC_BETWEEN INT64_C(-1)

/* Which of a run's clocks gave a step's time. */
enum lab_time_source {
    LAB_TIME_NONE,
    LAB_TIME_CPU_CLOCK,   /* CLOCK_MONOTONIC around the call */
    LAB_TIME_CUPTI,       /* sum of the step's kernel records */
    LAB_TIME_CUDA_EVENTS, /* events around the step */
    LAB_TIME_SOURCE_COUNT
};

/* What the times of a run were taken under: a launch costs more while it is
 * traced, and a little more after CUPTI was attached to the process at all. */
enum lab_trace_state {
    LAB_TRACE_UNKNOWN,
    LAB_TRACE_NEVER, /* attached: no CUPTI in the process */
    LAB_TRACE_ON,
    LAB_TRACE_OFF,     /* attached, and taken off for the whole run */
    LAB_TRACE_MIXED,   /* changed meanwhile */
    LAB_TRACE_KERNELS, /* on, without records of the host's calls */
    LAB_TRACE_STATE_COUNT
};

enum lab_record_kind {
    LAB_RECORD_STEP,
    LAB_RECORD_KERNEL,
    LAB_RECORD_MEMCPY,
    LAB_RECORD_MEMSET,
    LAB_RECORD_API,
    LAB_RECORD_SYNC,
    LAB_RECORD_RANGE,
    LAB_RECORD_OVERHEAD,
    LAB_RECORD_LOSS,
    LAB_RECORD_METRIC,
    LAB_RECORD_MARK, /* for the writer: "everything before this is stored" */
    LAB_RECORD_KIND_COUNT
};

/* One execution of one step. */
struct lab_step_record {
    int64_t exec; /* unique in the run: joins kernels, copies and metrics */
    int64_t iteration;
    int32_t index; /* place in the iteration's schedule */
    int32_t phase; /* enum lab_phase */
    uint32_t name; /* "fc1.matmul" */
    uint32_t node; /* "fc1" */
    uint32_t op;   /* "dense" */
    uint32_t variant;
    uint32_t backend;
    int32_t time_source; /* enum lab_time_source */
    int64_t start_ns;    /* moment */
    int64_t end_ns;
    int64_t time_ns; /* work on the device, or LAB_UNKNOWN until it is known */
    double flop;     /* analytic */
    double bytes;    /* analytic */
};

/* What a launch was configured with, by its author and the compiler; in every
 * record, row and calculator that knows a launch. Unknown: LAB_UNKNOWN. */
struct lab_launch {
    int64_t grid[3];
    int64_t block[3];
    int64_t cluster[3]; /* 0 when the launch had none */
    int64_t registers_per_thread;
    int64_t static_shared_bytes; /* of a block */
    int64_t dynamic_shared_bytes;
};

/* What a profiler reports of a kernel beside its launch; in its record and its
 * row. Every member is an int64_t. Unknown: LAB_UNKNOWN. */
struct lab_kernel_facts {
    int64_t shared_executed_bytes; /* of a block, as the device ran it */
    int64_t local_per_thread_bytes;
};

/* None is known: what a tracer begins with that cannot report all of them. */
static inline struct lab_kernel_facts lab_kernel_facts_unknown(void)
{
    struct lab_kernel_facts facts;
    int64_t *member = (int64_t *)(void *)&facts;
    for (size_t i = 0; i < sizeof(facts) / sizeof(*member); i++)
        member[i] = LAB_UNKNOWN;
    return facts;
}

struct lab_kernel_record {
    int64_t exec; /* the step it belongs to; LAB_EXEC_BETWEEN: none;
                     LAB_UNKNOWN: none known */
    int64_t start_ns;
    int64_t end_ns; /* start = end = 0 from CUPTI means no timing: UNKNOWN */
    int32_t device_id;
    int32_t context_id;
    int32_t stream_id;
    uint32_t correlation_id;
    uint32_t demangled_name;
    uint32_t short_name;
    uint32_t mangled_name;
    struct lab_launch launch;
    struct lab_kernel_facts facts;
    int64_t local_total_bytes;
    int32_t launch_type;
    int32_t cache_config;
    int32_t shared_limit_config;
    int64_t grid_id;
    int64_t graph_node_id; /* 0: not from a graph */
    int64_t graph_id;
    /* Theoretical occupancy, from the launch and the device (NaN unknown). */
    double occupancy_pct;
    int32_t occupancy_limit; /* enum lab_occupancy_limit, a bit set */
    int32_t active_blocks_per_sm;
};

/* What limits theoretical occupancy; several may at once. */
enum lab_occupancy_limit {
    LAB_LIMIT_NONE = 0,
    LAB_LIMIT_WARPS = 1, /* full: nothing but the number of warps */
    LAB_LIMIT_BLOCKS = 2,
    LAB_LIMIT_REGISTERS = 4,
    LAB_LIMIT_SHARED = 8,
    LAB_LIMIT_BARRIERS = 16,
    LAB_LIMIT_GRID = 32 /* fewer blocks than the device could hold */
};

struct lab_memcpy_record { /* also memset: kinds 0, value set */
    int64_t exec;
    int64_t start_ns;
    int64_t end_ns;
    int64_t bytes;
    int32_t device_id;
    int32_t context_id;
    int32_t stream_id;
    uint32_t correlation_id;
    int32_t copy_kind; /* CUpti_ActivityMemcpyKind */
    int32_t src_kind;
    int32_t dst_kind;
    uint32_t value; /* memset */
    int64_t graph_node_id;
};

struct lab_api_record { /* a call of the CUDA runtime or driver; also sync */
    int64_t exec;
    int64_t start_ns;
    int64_t end_ns;
    uint32_t name;
    uint32_t correlation_id;
    int32_t event_class; /* nsys: 0 runtime... as its exports have it */
    int32_t return_value;
    int64_t global_tid; /* hw<<56 | vm<<48 | pid<<24 | tid */
    int32_t device_id;  /* sync */
    int32_t stream_id;
    int32_t sync_type;
};

/* The ranges that NVTX shows to nsys. */
struct lab_range_record {
    int64_t start_ns;
    int64_t end_ns;
    uint32_t text;
    int32_t level; /* 0 run, 1 iteration, 2 phase, 3 node, 4 step, 5 between
                      steps */
    int64_t global_tid;
    int64_t number; /* of an iteration, which its text leaves out */
};

struct lab_overhead_record {
    int64_t start_ns;
    int64_t end_ns;
    int32_t overhead_kind;
    uint32_t name;
};

struct lab_loss_record {
    int64_t iteration;
    double loss;
    double accuracy;  /* validation accuracy, 0..1, or NaN */
    double held_loss; /* of the same rows, or NaN */
    double rate;      /* learning rate of the iteration, or NaN */
    int64_t moment_ns;
};

struct lab_metric_record { /* a hardware counter */
    int64_t exec;
    int64_t kernel_ordinal; /* in the step; LAB_UNKNOWN: the whole step */
    uint32_t metric;
    int32_t passes;
    double value;
};

struct lab_record {
    enum lab_record_kind kind;
    union {
        struct lab_step_record step;
        struct lab_kernel_record kernel;
        struct lab_memcpy_record memcpy_;
        struct lab_api_record api;
        struct lab_range_record range;
        struct lab_overhead_record overhead;
        struct lab_loss_record loss;
        struct lab_metric_record metric;
        int64_t mark;
    } u;
};

/* Where records go. The program hands one to the profiler; the CUDA module
 * reaches the program through it and through nothing else. `push` may wait
 * (base/ring.h states how long) and returns false when the record was dropped.
 * Threads: any. */
struct lab_sink {
    void *user;
    int (*push)(void *user, const struct lab_record *record);
};

/* Threads of a block, or blocks of a grid; LAB_UNKNOWN where one of the three
 * is, or the product has no room in 64 bits. A side of 0 makes it 0, however
 * large the others are: so it is in SQL. */
static inline int64_t lab_launch_size(const int64_t d[3])
{
    int64_t size = 1;
    int none = 0;
    int room = 1;
    for (int i = 0; i < 3; i++) {
        if (d[i] == LAB_UNKNOWN)
            return LAB_UNKNOWN;
        none = none || d[i] == 0;
        room = room && !__builtin_mul_overflow(size, d[i], &size);
    }
    return none ? 0 : room ? size : LAB_UNKNOWN;
}

/* Static and dynamic; LAB_UNKNOWN where one of them is. */
static inline int64_t lab_launch_shared(const struct lab_launch *l)
{
    int64_t sum;
    if (l->static_shared_bytes == LAB_UNKNOWN ||
        l->dynamic_shared_bytes == LAB_UNKNOWN ||
        __builtin_add_overflow(l->static_shared_bytes, l->dynamic_shared_bytes,
                               &sum))
        return LAB_UNKNOWN;
    return sum;
}
