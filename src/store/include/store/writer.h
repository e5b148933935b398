/* store/writer.h -- records of one run into a database.
 *
 * A writer owns the ring and one thread; that thread owns the connection. The
 * engine, the profiler and CUPTI's worker push records through lab_sink and
 * never wait for the disk, only for room in the ring (base/ring.h).
 *
 * The thread stores a batch in one transaction, and commits at the end of an
 * iteration (a LOSS record), at a mark, after 10,000 rows, after half a second
 * and when nothing came for 100 ms; where records come slowly it takes those of
 * 20 ms together. What lab_writer_flush() has acknowledged survives a kill -9;
 * without a flush what was still in the ring is lost.
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

/* A row of the table `run`: what was recorded of a run, and as it is read. */
struct lab_run_row {
    int64_t id;
    const char *lesson;
    const char *lesson_path;
    const char *title;
    const char *backend;
    const char *device;
    const char *chip;
    const char *compute_capability;
    int64_t sm_count;
    const char *driver;
    const char *runtime;
    const char *precision;
    uint64_t seed;
    int64_t batch;
    int64_t iterations;
    const char *variants;
    const char *version;
    const char *commit;
    const char *hostname;
    const char *user;
    const char *started; /* UTC, ISO 8601 */
    const char *ended;
    int64_t started_ns;
    int64_t ended_ns;
    const char *status; /* "interrupted" too where its process is gone */
    const char *time_source;
    const char *counters;
    const char *counters_reason;
    int64_t ring_drops;
    int64_t ring_waits;
    int64_t ring_wait_ns;
    int64_t ring_high_water;
    int64_t write_errors;
    const char *write_error;
    double samples_per_s;
    int64_t iteration_median_ns; /* wall time */
    int64_t gpu_ns; /* of an iteration's steps, the median; known when added
                       up, of a lesson on a GPU */
    double loss_first;
    double loss_last;
    double accuracy;
    int64_t rank;
    const char *uuid;          /* the same wherever the run is copied to */
    const char *label;         /* its owner, given at an import */
    const char *imported_from; /* a file's name; NULL: recorded here */
    const char *imported;      /* UTC */
    const char *kind;          /* lesson, lab; NULL: another tool's */
    const char *trace_state;   /* of lab_trace_state_name() */
    double learning_rate;
    double lesson_learning_rate; /* the lesson's own, when it ran */
    int64_t threads;             /* that computed, on the CPU */
    const char *variants_from;   /* measured, table, chosen */
    const char *optimizer;
    const char *rate_schedule; /* of the learning rate */
    double validation;         /* share of the samples */
    int64_t early_stop;        /* evaluations; 0: none ends it */
    int64_t memory_peak_bytes; /* of the process on the CPU, of a GPU in use */
    double utilization_pct;    /* processor time over wall time and threads; of
                                  a GPU the time in which a kernel ran */
    double energy_j;           /* of the whole run */
    int64_t warm_iterations;   /* in their time energy was counted */
    int64_t warm_ns;           /* their time */
    double warm_energy_j;      /* NaN: too short for the counter, too */
    double iteration_flop;     /* from the shapes */
    bool figures_from_rows;    /* it has none: those of the stored losses */
};

struct lab_choice_row; /* store/choice.h */

struct lab_run_info { /* texts are copied; NULL where unknown */
    /* What is known when it begins; the writer adds status, times, host, user
     * and uuid, and what follows from the fields below. */
    struct lab_run_row row;
    enum lab_time_source time_source;
    enum lab_trace_state trace_state;
    struct lab_run_device device;
    const struct lab_choice_row *choices; /* how its variants were chosen */
    size_t n_choices;
};
/* A lesson's, with everything else unknown. */
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
    int64_t memory_peak_bytes;
    double utilization_pct;
    double energy_j;
    int64_t warm_iterations;
    int64_t warm_ns;
    double warm_energy_j;
    double iteration_flop;
    enum lab_time_source time_source; /* NONE: as in the info */
    enum lab_trace_state trace_state; /* UNKNOWN: as in the info */
    const char *counters;             /* NULL: as in the info */
    const char *counters_reason;
    const char *variants;      /* NULL: as in the info; "": the defaults */
    const char *variants_from; /* NULL: as in the info */
};
/* Everything unknown, status done. */
void lab_run_summary_init(struct lab_run_summary *summary);
/* How a run ended that returned `st`: one that was cancelled, or that lost the reader of
 * its output (head), has not failed. */
enum lab_run_status lab_run_ended(enum lab_status st);

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
/* A flush in two halves, for who has other work meanwhile: the mark that is
 * committed after everything that this thread pushed before (LAB_UNKNOWN: the
 * writer takes no records any more), and whether the writer is past it, as it always
 * is past LAB_UNKNOWN. It may be 20 ms later, and is also where the database
 * refused. */
int64_t lab_writer_mark(struct lab_writer *writer);
bool lab_writer_stored(struct lab_writer *writer, int64_t mark);
/* Returns when everything that this thread pushed before is committed.
 * Errors: the writer's own, with its text. */
enum lab_status lab_writer_flush(struct lab_writer *writer);
void lab_writer_get_state(struct lab_writer *writer,
                          struct lab_writer_state *out);
/* The run has reached an end that may not be its last, of a training that can go
 * on: all that was pushed before and the end are stored as by
 * lab_writer_finish(); the next step makes it a running one again. Errors: the
 * writer's own. */
enum lab_status lab_writer_settle(struct lab_writer *writer,
                                  const struct lab_run_summary *summary);
/* Stores what is left and the run's end, and ends the thread. To be called
 * once. Errors: the first that the database gave. */
enum lab_status lab_writer_finish(struct lab_writer *writer,
                                  const struct lab_run_summary *summary);
/* Without lab_writer_finish() before, the run ends as interrupted. NULL ok. */
void lab_writer_free(struct lab_writer *writer);
LAB_C_END
