/* profiler/join.h -- finds the step that a kernel, copy or call belongs to.
 *
 * CUPTI says "API call 17 was made under external id 5" and, in another record
 * and perhaps in another buffer, "kernel K was launched by API call 17". A join
 * puts the two together: 5 is the exec of the step. Records whose call is not
 * known yet wait, until it is or until lab_join_flush().
 *
 * Bounded memory: the last `window` correlation ids and at most `max_pending`
 * waiting records. A record that had to leave without its step, and a kernel
 * that has none, is counted.
 *
 * No CUPTI types here. Threads: any, one mutex inside; the sink is called with
 * it held. */
#pragma once
#include "engine/backend.h"
#include "profiler/gpu.h"
#include "trace/record.h"

struct lab_join;

/* An external id for work that is meant to belong to no step: evaluation,
 * checks. Kernels under it are counted and not handed on; copies and calls go
 * on with exec LAB_UNKNOWN. */
#define LAB_EXEC_OUTSIDE INT64_MAX

struct lab_join_config {
    const struct lab_sink *sink; /* copied */
    size_t window;               /* power of two; 0: 262144 ids, 4 MiB */
    size_t max_pending;          /* 0: 65536 records */
    bool drop_api;               /* do not pass API and SYNC records on */
};

struct lab_join_stats {
    uint64_t kernels;              /* handed on */
    uint64_t kernels_without_step; /* of these */
    uint64_t kernels_outside;      /* not handed on: meant to have no step */
    uint64_t before;     /* not handed on: no step, and over before the run */
    uint64_t joined;     /* records of any kind that found their step */
    uint64_t late;       /* of these, after waiting */
    uint64_t expired;    /* left early because too many were waiting */
    uint64_t not_stored; /* the sink said no */
};

LAB_C_BEGIN
/* Errors: LAB_E_ARG (no sink, window not a power of two), LAB_E_NOMEM. */
enum lab_status lab_join_new(struct lab_join **out,
                             const struct lab_join_config *config);
/* Waiting records are lost: flush first. NULL allowed. */
void lab_join_free(struct lab_join *j);
/* The device for occupancy; NULL or unknown numbers: NaN. */
void lab_join_set_device(struct lab_join *j,
                         const struct lab_device_info *device);

/* The run begins: records that have no step and were over by `moment_ns` (a
 * check of the kernels while the backend was opened, say) are not of it. */
void lab_join_begin(struct lab_join *j, int64_t moment_ns);

/* The next graph that is launched under execution `exec`: nodes before
 * node_end[i], and not before node_end[i - 1] or first_node, are execution
 * exec + i. Nodes count in the order of their capture: the low half of CUPTI's
 * id of a node (seen with CUPTI 13.0). LAB_E_NOMEM. */
enum lab_status lab_join_graph(struct lab_join *j, int64_t exec, int n_steps,
                               int64_t first_node, const int64_t *node_end);
/* From the first start to the last end of that execution's nodes; both
 * LAB_UNKNOWN: it has none, or they have not come. */
void lab_join_graph_span(struct lab_join *j, int64_t exec, int64_t *start_ns,
                         int64_t *end_ns);
void lab_join_external(struct lab_join *j, uint32_t correlation_id,
                       int64_t exec);
/* Fills in names and occupancy, then joins. */
void lab_join_kernel(struct lab_join *j, const struct lab_kernel_record *k,
                     const struct lab_gpu_launch *launch);
/* Any record; those without a correlation pass straight on. */
void lab_join_record(struct lab_join *j, const struct lab_record *record);
/* While muted, records are joined and not handed on: work that is repeated for
 * its counters is not of the run. Flush before and after. */
void lab_join_mute(struct lab_join *j, bool on);
/* Looks at the waiting records again. */
void lab_join_retry(struct lab_join *j);
/* After it nothing waits: what has no step goes on with exec LAB_UNKNOWN. */
void lab_join_flush(struct lab_join *j);
void lab_join_get_stats(struct lab_join *j, struct lab_join_stats *out);
/* A sink for the module; `j` must live until the module's stop(). */
void lab_join_gpu_sink(struct lab_join *j, struct lab_gpu_sink *out);
LAB_C_END
