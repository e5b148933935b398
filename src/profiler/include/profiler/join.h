/* profiler/join.h -- what the program adds to a GPU's records before they are
 * stored.
 *
 * The CUDA module states to which execution a record belongs (profiler/gpu.h).
 * A join fills in a kernel's names and theoretical occupancy, gives the nodes
 * of a graph to their steps, and leaves out what is not of the run. Every
 * record is handed on or counted as left out. Nothing waits in it: a record
 * goes on at once.
 *
 * No CUPTI types here. Threads: any, one mutex inside; the sink is called with
 * it held. */
#pragma once
#include "engine/backend.h"
#include "profiler/gpu.h"
#include "trace/record.h"

struct lab_join;

/* An execution for steps that are not reported (engine/observer.h): what is
 * launched under it is counted and not handed on. */
#define LAB_EXEC_DROPPED INT64_C(-2)

struct lab_join_stats {
    uint64_t kernels;              /* handed on */
    uint64_t kernels_without_step; /* of these: their step is not known */
    uint64_t kernels_between;      /* of these: LAB_EXEC_BETWEEN */
    uint64_t before;     /* not handed on: no step, and over before the run */
    uint64_t muted;      /* not handed on: came while muted */
    uint64_t unreported; /* not handed on: LAB_EXEC_DROPPED */
    uint64_t not_stored; /* the sink refused it */
};

LAB_C_BEGIN
/* `sink` is copied. Errors: LAB_E_ARG (no sink), LAB_E_NOMEM. */
enum lab_status lab_join_new(struct lab_join **out,
                             const struct lab_sink *sink);
/* NULL allowed. */
void lab_join_free(struct lab_join *j);
/* The device for occupancy; NULL or unknown numbers: NaN. */
void lab_join_set_device(struct lab_join *j,
                         const struct lab_device_info *device);

/* The run begins: records that have no step and were over by `moment_ns` (a
 * check of the kernels while the backend was opened) are not of it. */
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
/* Fills in names and occupancy. */
void lab_join_kernel(struct lab_join *j, const struct lab_kernel_record *k,
                     const struct lab_gpu_launch *launch);
/* Any other record. */
void lab_join_record(struct lab_join *j, const struct lab_record *record);
/* While muted, records are not handed on: work that is repeated for its
 * counters is not of the run. Flush the trace before and after. */
void lab_join_mute(struct lab_join *j, bool on);
void lab_join_get_stats(struct lab_join *j, struct lab_join_stats *out);
/* A sink for the module; `j` must live until the module's stop(). */
void lab_join_gpu_sink(struct lab_join *j, struct lab_gpu_sink *out);
LAB_C_END
