/* store/writer.h -- records of one run into a database.
 *
 * A writer owns the ring and one thread; that thread owns the connection. The
 * engine, the profiler and CUPTI's worker push records through lab_sink and
 * never wait for the disk, only for room in the ring (base/ring.h).
 *
 * The thread stores a batch in one transaction, and commits at the end of an
 * iteration (a LOSS record), at a mark, after 10,000 rows, after half a second
 * and when nothing came for 100 ms. What lab_writer_flush() has acknowledged
 * survives a kill -9; without a flush what was still in the ring is lost.
 *
 * When the database refuses (disk full, locked), the first error is kept,
 * recording stops, later records are counted as lost, and the program goes on.
 *
 * What the writer makes of records:
 *   - a step with the time_source LAB_TIME_CUPTI gets the sum of its kernels'
 *     durations as time_ns, in whatever order the records come (at a flush and
 *     at the end); the record's own time_ns is not used;
 *   - a LOSS record with an accuracy adds that accuracy to its iteration and
 *     leaves a loss that is already there alone;
 *   - a second STEP record of the same exec replaces the first;
 *   - int32_t fields that hold INT32_MIN, int64_t fields that hold LAB_UNKNOWN
 *     and NaN become NULL; a kernel's start = end = 0 does too;
 *   - launch types and memory kinds, CUPTI's on the way in, get nsys's values.
 *
 * Threads: lab_writer_new, _finish and _free one thread; everything else any.
 */
#pragma once
#include <stdbool.h>
#include "base/ring.h"
#include "trace/record.h"

struct lab_writer;

/* Unknown numbers are LAB_UNKNOWN, unknown texts NULL. */
struct lab_run_device {
    const char *name;
    const char *chip;
    const char *driver;
    const char *runtime;
    const char *uuid;
    bool gpu; /* it gets a row of TARGET_INFO_GPU */
    int64_t device_id;
    int64_t compute_major;
    int64_t compute_minor;
    int64_t sm_count; /* CPU: logical cores */
    int64_t warp_size;
    int64_t max_warps_per_sm;
    int64_t max_blocks_per_sm;
    int64_t max_registers_per_sm;
    int64_t max_shared_per_sm_bytes;
    int64_t max_shared_per_block_optin_bytes;
    int64_t memory_bytes;
    int64_t memory_bytes_per_s;
    int64_t l2_bytes;
    int64_t clock_hz;
};

struct lab_run_info { /* texts are copied; NULL where unknown */
    const char *kind; /* lesson (what init gives), lab */
    const char *lesson;
    const char *lesson_path;
    const char *title;
    const char *backend;
    const char *precision;
    const char *variants; /* "fc1=tiled relu=fused"; NULL: the defaults */
    const char *version;
    const char *commit;
    const char *counters; /* off, basic, full, refused */
    const char *counters_reason;
    uint64_t seed;
    double learning_rate;        /* of the optimizer; NaN: none, or unknown */
    double lesson_learning_rate; /* the lesson's */
    int64_t threads;             /* that compute; a GPU: unknown */
    const char *variants_from;   /* measured, table, chosen */
    int64_t batch;
    int64_t rank;
    enum lab_time_source time_source;
    enum lab_trace_state trace_state;
    struct lab_run_device device;
};
/* Everything unknown. */
void lab_run_info_init(struct lab_run_info *info);

enum lab_run_status {
    LAB_RUN_RUNNING,
    LAB_RUN_DONE,
    LAB_RUN_CANCELLED,
    LAB_RUN_FAILED,
    LAB_RUN_INTERRUPTED,
    LAB_RUN_STATUS_COUNT
};
const char *lab_run_status_text(enum lab_run_status status);

struct lab_run_summary { /* LAB_UNKNOWN and NaN where unknown */
    enum lab_run_status status;
    int64_t iterations;
    int64_t iteration_median_ns;
    double samples_per_s;
    double loss_first;
    double loss_last;
    double accuracy;
    enum lab_time_source time_source; /* NONE: as in the info */
    enum lab_trace_state trace_state; /* UNKNOWN: as in the info */
    const char *counters;             /* NULL: as in the info */
    const char *counters_reason;
    const char *variants; /* NULL: as in the info; "": the defaults */
};
/* Everything unknown, status done. */
void lab_run_summary_init(struct lab_run_summary *summary);

struct lab_writer_options { /* 0: the default */
    size_t ring_records;    /* 32768 */
    int64_t ring_wait_ns;   /* two seconds */
    int busy_timeout_ms;    /* five seconds */
};

enum { LAB_WRITER_ERROR_TEXT = 512 };
struct lab_writer_state {
    int64_t run;
    uint64_t stored; /* records committed */
    uint64_t lost;   /* records that the database refused */
    bool failed;     /* recording has stopped */
    char error[LAB_WRITER_ERROR_TEXT];
    struct lab_ring_stats ring;
};

LAB_C_BEGIN
/* Opens the database at `path` (lab_database_open), adds the run and starts
 * the thread. Errors: those of lab_database_open; LAB_E_NOMEM. */
enum lab_status lab_writer_new(struct lab_writer **out, const char *path,
                               const struct lab_run_info *info,
                               const struct lab_writer_options *options);
/* Valid until lab_writer_free(); refuses records after lab_writer_finish(). */
struct lab_sink lab_writer_sink(struct lab_writer *writer);
int64_t lab_writer_run(const struct lab_writer *writer); /* run.id */
/* Returns when everything that this thread pushed before is committed.
 * Errors: the writer's own, with its text. */
enum lab_status lab_writer_flush(struct lab_writer *writer);
void lab_writer_get_state(struct lab_writer *writer,
                          struct lab_writer_state *out);
/* Stores what is left and the run's end, and ends the thread. To be called
 * once. Errors: the first that the database gave. */
enum lab_status lab_writer_finish(struct lab_writer *writer,
                                  const struct lab_run_summary *summary);
/* Without lab_writer_finish() before, the run ends as interrupted. NULL ok. */
void lab_writer_free(struct lab_writer *writer);
LAB_C_END
