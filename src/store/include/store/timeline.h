/* store/timeline.h -- what happened when: the steps, ranges, calls, kernels,
 * copies and sets of one iteration, on lanes.
 *
 * A step's span is the host's: from before the call to after it. The work it
 * launched runs beside it or later. A kernel finds its step by the execution
 * that was noted with it, else by its call; a call by the time at which it was
 * made. Moments are nanoseconds since 1970 (trace/record.h); what is not known
 * is LAB_UNKNOWN, and a span without moments is last in its lane.
 *
 * A window may hold more spans than a screen can show: then the longest of
 * each kind stay, `left_out` is the number of the others, and a smaller window
 * shows them. The sums are those of all spans, and a span names its step,
 * always.
 *
 * Threads: a loaded timeline is plain data; loading is the connection's. */
#pragma once
#include <stdbool.h>
#include "store/query.h"

enum lab_span_kind { /* in the order of the lanes */
                     LAB_SPAN_STEP,
                     LAB_SPAN_RANGE,
                     LAB_SPAN_CALL,
                     LAB_SPAN_KERNEL,
                     LAB_SPAN_COPY,
                     LAB_SPAN_SET,
                     LAB_SPAN_KIND_COUNT
};

struct lab_span {
    int64_t start_ns;
    int64_t end_ns;
    int64_t row;         /* of its table; a step: its exec */
    int64_t exec;        /* the step it belongs to */
    int64_t correlation; /* call and what it launched, within a process */
    int64_t process;     /* calls and the device's; LAB_UNKNOWN: any */
    int64_t bytes;       /* copies and sets */
    int64_t graph_node;  /* of a CUDA graph; LAB_UNKNOWN: launched alone */
    int64_t where;       /* range: level; call: thread; else stream */
    int64_t device;
    int64_t gap_ns;     /* its lane was idle so long before it; UNKNOWN: it is
                         * the first, or spans of the lane are left out */
    int64_t latency_ns; /* from the start of its call to its own */
    int64_t phase;      /* steps: enum lab_phase */
    int32_t call;       /* place in spans[] of the call, -1: not known */
    int32_t step;       /* likewise of the step */
    int32_t lane;
    uint32_t name;      /* trace/intern.h; safe for a terminal */
    uint32_t step_name; /* 0: of no step. Known without the step's span */
    int64_t step_phase; /* enum lab_phase */
    enum lab_span_kind kind;
};

struct lab_lane {
    enum lab_span_kind kind;
    int64_t where;
    int64_t device;
    int32_t first; /* its spans, by start */
    int32_t count;
    int32_t timed;   /* of these, with moments: they come first */
    int64_t busy_ns; /* covered by its spans that are here */
    int64_t longest_ns;
};

/* What a moment belongs to: the first of these that went on then. */
enum lab_cover {
    LAB_COVER_KERNEL, /* at least one, on whatever stream */
    LAB_COVER_COPY,   /* or memset */
    LAB_COVER_LAUNCH, /* one of these was launched, and had not begun */
    LAB_COVER_STEP,   /* the host was in a step */
    LAB_COVER_REST,
    LAB_COVER_COUNT
};

/* What the device did in the iteration; all spans counted. */
struct lab_timeline_sums {
    int64_t kernels;
    int64_t kernels_untimed;
    int64_t graph_kernels; /* of the kernels, nodes of graphs */
    int64_t launches;      /* calls that launched kernels */
    int64_t copies;        /* and sets */
    int64_t copied_bytes;
    int64_t busy_ns; /* covered by kernels, copies and sets; UNKNOWN: none */
    /* Of the time that was loaded; together all of it, if its ends are known.
     */
    int64_t cover_ns[LAB_COVER_COUNT];
    int64_t called;     /* kernels, copies and sets with a known call */
    int64_t gaps;       /* of each device by itself */
    int64_t gap_sum_ns; /* UNKNOWN: no two of them */
    int64_t gap_longest_ns;
    int64_t gap_start_ns; /* of the longest */
    uint32_t gap_after;   /* names: what ended, what began */
    uint32_t gap_before;
    int64_t latency_median_ns; /* of its kernels */
    int64_t latency_max_ns;
};

/* The same of one device. */
struct lab_timeline_device {
    int64_t device;
    int64_t busy_ns; /* of the time that was loaded */
    int64_t gaps;
    int64_t gap_sum_ns;
    int64_t gap_longest_ns;
};

/* A pass through an iteration: going back makes another one. A run that another
 * tool recorded has no steps: it is one pass, with all kernels. */
struct lab_iteration_row {
    int64_t iteration; /* LAB_UNKNOWN: the whole run */
    int64_t start_ns;  /* of its first step, as the host saw it */
    int64_t end_ns;
    int64_t steps;
    int64_t kernels; /* LAB_UNKNOWN: none recorded */
    int64_t exec_first;
    int64_t exec_last;
    int64_t kernel_row_first;
    int64_t kernel_row_last;
};

struct lab_timeline {
    int64_t run;
    struct lab_iteration_row of;
    int64_t start_ns; /* the iteration with its ranges and kernels */
    int64_t end_ns;
    int64_t from_ns; /* what was loaded of it */
    int64_t to_ns;
    struct lab_span *spans; /* lane by lane, by start */
    int32_t count;
    struct lab_lane *lanes;
    int32_t lane_count;
    bool many_devices; /* lanes of several: their names have theirs */
    bool many_threads;
    bool lab; /* one traced launch of each variant after the other: what lies
                       between them sets up and checks, and is left out, */
    int64_t set_up; /* so many spans of it; gaps are those inside a launch */
    struct lab_timeline_sums sums;
    struct lab_timeline_device *devices; /* by number */
    int32_t device_count;
    int64_t left_out[LAB_SPAN_KIND_COUNT];
    int32_t pauses; /* that were closed, and what was taken out of them */
    int64_t paused_ns;
    int64_t *pause_ns; /* where each of them is now */
};

struct lab_timeline_filter {
    int64_t from_ns; /* LAB_UNKNOWN: the iteration's start and end. A part */
    int64_t to_ns;   /* is without kernels that have no times */
    int32_t most;    /* spans of a kind; 0: LAB_TIMELINE_MOST */
};
enum { LAB_TIMELINE_MOST = 50000 };

typedef bool lab_iteration_row_fn(void *user,
                                  const struct lab_iteration_row *row);

LAB_C_BEGIN
/* The passes of a run in the order they ran: as they were kept with a long run
 * that has ended, else from its steps. */
enum lab_status lab_query_iterations(struct lab_database *db, int64_t run,
                                     lab_iteration_row_fn *each, void *user);
/* Whether `row`, which ran later, states at least as much as `best`: when
 * no iteration is asked for it is the last that has moments, and kernels. */
bool lab_iteration_prefer(const struct lab_iteration_row *best,
                          const struct lab_iteration_row *row);
/* The last pass of an iteration; LAB_UNKNOWN: the one to prefer. Errors:
 * LAB_E_NOTFOUND, it was not recorded, with what there is. */
enum lab_status lab_query_iteration(struct lab_database *db, int64_t run,
                                    int64_t iteration,
                                    struct lab_iteration_row *out);

/* One pass. The tables of calls, copies and ranges have no index: their rows
 * are found by bisection, because they lie in the order in which they ended,
 * but for a few thousand places. filter NULL: all of it. Free it with
 * lab_timeline_free(). */
enum lab_status lab_timeline_load(struct lab_timeline **out,
                                  struct lab_database *db, int64_t run,
                                  const struct lab_iteration_row *of,
                                  const struct lab_timeline_filter *filter);
void lab_timeline_free(struct lab_timeline *t);
/* For a picture: the pauses of an iteration that was walked by hand, 20 ms and
 * more in which nothing ran, shrink to a fraction of its work, and all moments
 * move. Gaps and sums stay as they were measured. Nothing changes where spans
 * are left out. LAB_E_NOMEM: nothing has changed. */
enum lab_status lab_timeline_close_pauses(struct lab_timeline *t);

/* "kernels, stream 7", "CUDA calls", "NVTX phase": without what is the same
 * for all lanes of the kind. */
const char *lab_lane_name(const struct lab_timeline *t, int32_t lane, char *out,
                          size_t cap);
/* "step", "range", "call", "kernel", "copy", "set". */
const char *lab_span_kind_name(enum lab_span_kind kind);
/* end - start, or LAB_UNKNOWN. */
int64_t lab_span_time(const struct lab_span *s);
/* The spans of the lane that a window touches: the first of them and their
 * number. Long ones may begin far to the left. */
int32_t lab_lane_find(const struct lab_timeline *t, int32_t lane, int64_t from,
                      int64_t to, int32_t *count);
LAB_C_END
