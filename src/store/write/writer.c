/* writer.c -- records of one run into a database: the run's row, records into
 * rows (which member becomes which column of which table), and the thread that
 * stores them in batches. */
#include "store/writer.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/signals.h"
#include "base/clock.h"
#include "trace/intern.h"
#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "store/time_sum.h"
#include "db/row.h"
#include "store/query.h"
#include "store/choice.h"

enum lab_insert_table {
    LAB_INTO_STEP,
    LAB_INTO_KERNEL,
    LAB_INTO_OP_KERNEL,
    LAB_INTO_MEMCPY,
    LAB_INTO_MEMSET,
    LAB_INTO_OP_MEMORY,
    LAB_INTO_API,
    LAB_INTO_SYNC,
    LAB_INTO_RANGE,
    LAB_INTO_OVERHEAD,
    LAB_INTO_LOSS,
    LAB_INTO_METRIC,
    LAB_INTO_COUNT
};

/* Rows are inserted 32 at a time: one statement for 32 costs about half of 32
 * statements of one row. What is left over goes one by one. */
enum { LAB_BULK = 32 };

struct lab_bulk_row {
    struct lab_record record;
    int64_t row; /* the rowid it shall have, where the table has a named one */
};

struct lab_bulk {
    sqlite3_stmt *many;
    sqlite3_stmt *one;
    int count;
    struct lab_bulk_row rows[LAB_BULK];
};

/* What the kernels of one execution add up to, until its step row has it. */
struct lab_exec_sum {
    int64_t exec;
    int64_t time_ns; /* LAB_UNKNOWN: one of them has no time */
    int64_t count;
    int64_t first_row;
    int64_t last_row;
};

struct lab_exec_sums {
    struct lab_exec_sum *list; /* one step may have several */
    size_t count;
    size_t room;
};

enum { MOST_KERNEL_COLUMNS = 32 };

struct lab_insert {
    struct lab_database *db;
    int64_t run;
    int64_t global_pid;
    struct lab_bulk bulk[LAB_INTO_COUNT];
    int64_t *string_ids; /* by intern id; 0: not known yet */
    size_t n_string_ids;
    struct lab_stmt find_string;
    struct lab_stmt add_string;
    struct lab_stmt add_sum;
    int64_t next_row[3];      /* kernel, memcpy, memset */
    int64_t first_kernel_row; /* of the run; 0: none yet */
    int64_t last_kernel_row;
    int64_t last_iteration; /* that has a loss */
    bool range_seen;
    bool step_seen;
    struct lab_exec_sums sums;
    /* Of the columns that a kernel's record has in the same structs as its row:
     * where in the record each is. */
    size_t kernel_at[MOST_KERNEL_COLUMNS];
    int kernel_columns;
};

void lab_run_info_init(struct lab_run_info *info)
{
    *info = (struct lab_run_info){.time_source = LAB_TIME_NONE};
    lab_fields_clear(&lab_run_fields, &info->row);
    info->row.kind = "lesson";
    info->row.seed = 0;
    info->row.rank = 0;
    lab_fields_clear(&lab_gpu_fields, &info->device);
}

enum lab_run_status lab_run_ended(enum lab_status st)
{
    if (st == LAB_E_CANCELLED || (st && lab_signals_reader_gone()))
        return LAB_RUN_CANCELLED;
    return st ? LAB_RUN_FAILED : LAB_RUN_DONE;
}

void lab_run_summary_init(struct lab_run_summary *summary)
{
    *summary = (struct lab_run_summary){
        .status = LAB_RUN_DONE,
        .iterations = LAB_UNKNOWN,
        .iteration_median_ns = LAB_UNKNOWN,
        .samples_per_s = NAN,
        .loss_first = NAN,
        .loss_last = NAN,
        .accuracy = NAN,
        .memory_peak_bytes = LAB_UNKNOWN,
        .utilization_pct = NAN,
        .energy_j = NAN,
        .warm_iterations = LAB_UNKNOWN,
        .warm_ns = LAB_UNKNOWN,
        .warm_energy_j = NAN,
        .iteration_flop = NAN,
    };
}

static const char *time_source_text(enum lab_time_source source)
{
    static const char *const text[LAB_TIME_SOURCE_COUNT] = {
        NULL,
        "cpu_clock",
        "cupti",
        "cuda_events",
    };
    return (unsigned)source < LAB_TIME_SOURCE_COUNT ? text[source] : NULL;
}

static const char *trace_state_text(enum lab_trace_state state)
{
    static const char *const text[LAB_TRACE_STATE_COUNT] = {
        NULL, "never", "on", "off", "mixed", "kernels",
    };
    return (unsigned)state < LAB_TRACE_STATE_COUNT ? text[state] : NULL;
}

static const char storing_run[] = "storing the run";

/* A random one, RFC 9562 version 4. */
static void add_uuid(char out[37])
{
    unsigned char b[16];
    size_t n = 0;
    sqlite3_randomness(sizeof(b), b);
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    for (int i = 0; i < 16; i++)
        n += (size_t)snprintf(out + n, 37 - n, "%s%02x",
                              i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                              b[i]);
}

static enum lab_status add_run_row(struct lab_database *db,
                                   const struct lab_run_info *info, int64_t now)
{
    const struct lab_run_device *d = &info->device;
    struct lab_run_row r = info->row;
    struct passwd entry;
    struct passwd *found = NULL;
    char host[256];
    char buffer[1024];
    char capability[48];
    char started[32];
    char uuid[37];
    bool known =
        d->compute_major != LAB_UNKNOWN && d->compute_minor != LAB_UNKNOWN;
    snprintf(capability, sizeof(capability), "%lld.%lld",
             (long long)d->compute_major, (long long)d->compute_minor);
    lab_host_name(host, sizeof(host));
    getpwuid_r(geteuid(), &entry, buffer, sizeof(buffer), &found);
    lab_utc_text(now, started);
    add_uuid(uuid);
    r.status = lab_run_status_text(LAB_RUN_RUNNING);
    r.device = d->name;
    r.chip = d->chip;
    r.compute_capability = known ? capability : NULL;
    r.sm_count = d->sm_count;
    r.driver = d->driver;
    r.runtime = d->runtime;
    r.hostname = host;
    r.user = found ? found->pw_name : NULL;
    r.started = started;
    r.started_ns = now;
    r.time_source = time_source_text(info->time_source);
    r.uuid = uuid;
    r.trace_state = trace_state_text(info->trace_state);
    struct lab_stmt s =
        lab_fields_insert(db, &lab_run_fields, ", pid, processStart");
    int n = lab_fields_bind(&s, &lab_run_fields, &r);
    sqlite3_bind_int64(s.sql, n, getpid());
    sqlite3_bind_int64(s.sql, n + 1, lab_process_start(getpid()));
    return lab_stmt_once(&s, storing_run);
}

static enum lab_status add_gpu(struct lab_database *db,
                               const struct lab_run_device *d, int64_t run)
{
    struct lab_stmt s = lab_fields_insert(db, &lab_gpu_fields, ", vmId, runId");
    int n = lab_fields_bind(&s, &lab_gpu_fields, d);
    sqlite3_bind_int(s.sql, n, 0);
    sqlite3_bind_int64(s.sql, n + 1, run);
    return lab_stmt_once(&s, storing_run);
}

/* What nsys writes of a capture's start. */
static enum lab_status add_session(struct lab_database *db, int64_t run,
                                   int64_t now)
{
    char utc[32];
    char local[32];
    time_t seconds = (time_t)(now / 1000000000);
    struct tm t;
    struct lab_stmt s = lab_stmt_new(
        db, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?1,?2,?3,?4)");
    lab_utc_text(now, utc);
    localtime_r(&seconds, &t);
    strftime(local, sizeof(local), "%Y-%m-%dT%H:%M:%S%z", &t);
    sqlite3_bind_int64(s.sql, 1, now);
    lab_bind_text(s.sql, 2, utc);
    lab_bind_text(s.sql, 3, local);
    sqlite3_bind_int64(s.sql, 4, run);
    return lab_stmt_once(&s, storing_run);
}

static enum lab_status add_choices(struct lab_database *db,
                                   const struct lab_run_info *info, int64_t run)
{
    struct lab_stmt s =
        lab_fields_insert(db, &lab_choice_row_fields, ", runId");
    for (size_t i = 0; i < info->n_choices && !s.st; i++) {
        int n = lab_fields_bind(&s, &lab_choice_row_fields, &info->choices[i]);
        sqlite3_bind_int64(s.sql, n, run);
        lab_stmt_run(&s, storing_run);
    }
    return lab_stmt_end(&s);
}

static enum lab_status add_run(struct lab_database *db,
                               const struct lab_run_info *info, int64_t *run)
{
    int64_t now = lab_clock_wall_ns();
    enum lab_status st = add_run_row(db, info, now);
    if (st)
        return st;
    *run = sqlite3_last_insert_rowid(db->sql);
    st = add_session(db, *run, now);
    if (st == LAB_OK)
        st = lab_database_exec_of(db,
                                  "INSERT INTO META_DATA_CAPTURE VALUES "
                                  "('CAPTURE_PRODUCT', 'lapenna-lab', ?1)",
                                  *run, storing_run);
    if (st == LAB_OK && info->device.gpu)
        st = add_gpu(db, &info->device, *run);
    return st ? st : add_choices(db, info, *run);
}

static enum lab_status run_row_begin(struct lab_database *db,
                                     const struct lab_run_info *info,
                                     int64_t *run)
{
    int64_t id = 0;
    enum lab_status st = lab_database_begin(db, "adding a run");
    if (st)
        return st;
    st = add_run(db, info, &id);
    if (st == LAB_OK)
        st = lab_database_exec(db, "COMMIT", "adding a run");
    if (st)
        lab_database_rollback(db);
    else
        *run = id;
    return st;
}

/* More of a run comes that had an end. */
static enum lab_status run_row_resume(const struct lab_insert *in)
{
    return lab_database_exec_of(
        in->db,
        "UPDATE run SET status = 'running', ended = NULL, ended_ns = NULL, "
        "kernelRowFirst = NULL, kernelRowLast = NULL, summed = NULL WHERE id = "
        "?1",
        in->run, storing_run);
}

/* `open`: more may come, and its times are not added up yet. */
static enum lab_status run_row_end(const struct lab_insert *in,
                                   const struct lab_run_summary *u,
                                   const struct lab_writer_state *state,
                                   bool open)
{
    const struct lab_ring_stats *ring = &state->ring;
    char ended[32];
    int64_t now = lab_clock_wall_ns();
    struct lab_stmt stmt = lab_stmt_new(
        in->db,
        "UPDATE run SET status = ?2, ended = ?3, ended_ns = ?4, "
        "iterations = ?5, iterationMedian_ns = ?6, samples_per_s = ?7, "
        "loss_first = ?8, loss_last = ?9, accuracy = ?10, "
        "timeSource = ifnull(?11, timeSource), "
        "counters = ifnull(?12, counters), "
        "countersReason = ifnull(?13, countersReason), ringDrops = ?14, "
        "ringWaits = ?15, ringWait_ns = ?16, ringHighWater = ?17, "
        "writeErrors = ?18, writeError = ?19, kernelRowFirst = ?20, "
        "kernelRowLast = ?21, traceState = ifnull(?22, traceState), "
        "variants = nullif(ifnull(?23, variants), ''), "
        "memoryPeak_bytes = ?24, utilization_pct = ?25, summed = ?26, "
        "energy_j = ?27, iteration_flop = ?28, "
        "variantsFrom = ifnull(?29, variantsFrom), "
        "warmIterations = ?30, warm_ns = ?31, warmEnergy_j = ?32 "
        "WHERE id = ?1");
    sqlite3_stmt *s = stmt.sql;
    lab_utc_text(now, ended);
    sqlite3_bind_int64(s, 1, in->run);
    lab_bind_text(s, 2, lab_run_status_text(u->status));
    lab_bind_text(s, 3, ended);
    sqlite3_bind_int64(s, 4, now);
    lab_bind_int(s, 5, u->iterations);
    lab_bind_int(s, 6, u->iteration_median_ns);
    lab_bind_real(s, 7, u->samples_per_s);
    lab_bind_real(s, 8, u->loss_first);
    lab_bind_real(s, 9, u->loss_last);
    lab_bind_real(s, 10, u->accuracy);
    lab_bind_text(s, 11, time_source_text(u->time_source));
    lab_bind_text(s, 12, u->counters);
    lab_bind_text(s, 13, u->counters_reason);
    sqlite3_bind_int64(s, 14, (int64_t)ring->dropped);
    sqlite3_bind_int64(s, 15, (int64_t)ring->waits);
    sqlite3_bind_int64(s, 16, ring->wait_ns);
    sqlite3_bind_int64(s, 17, (int64_t)ring->high_water);
    sqlite3_bind_int64(s, 18, (int64_t)state->lost);
    lab_bind_text(s, 19, state->failed ? state->error : NULL);
    /* none: between 1 and 0, so that no query looks through all rows for
     * them */
    lab_bind_int(s, 20, in->first_kernel_row ? in->first_kernel_row : 1);
    lab_bind_int(s, 21, in->last_kernel_row);
    lab_bind_text(s, 22, trace_state_text(u->trace_state));
    lab_bind_text(s, 23, u->variants);
    lab_bind_int(s, 24, u->memory_peak_bytes);
    lab_bind_real(s, 25, u->utilization_pct);
    lab_bind_int(s, 26, open ? LAB_SUMMED_LATER : LAB_UNKNOWN);
    lab_bind_real(s, 27, u->energy_j);
    lab_bind_real(s, 28, u->iteration_flop);
    lab_bind_text(s, 29, u->variants_from);
    lab_bind_int(s, 30, u->warm_iterations);
    lab_bind_int(s, 31, u->warm_ns);
    lab_bind_real(s, 32, u->warm_energy_j);
    return lab_stmt_once(&stmt, storing_run);
}

/* records into rows: which member becomes which column of which
 * table, and the time of a step from its kernels. */

enum row_column_kind {
    ROW_INT32,     /* INT32_MIN is NULL */
    ROW_UINT32,    /* always known */
    ROW_INT,       /* LAB_UNKNOWN is NULL */
    ROW_NONZERO,   /* so is 0 */
    ROW_MOMENT,    /* NULL where start and end are 0 */
    ROW_REAL,      /* NaN is NULL */
    ROW_NAME,      /* an id of trace/intern.h, as one of StringIds */
    ROW_NUMBER,    /* the row's own number */
    ROW_MADE,      /* by `value` */
    ROW_KERNEL,    /* columns of launch and facts: db/row.h */
    ROW_RANGE_TEXT /* of a range that has a number */
};

struct row_column {
    const char *name;
    enum row_column_kind kind;
    size_t at; /* in struct lab_record */
    int64_t (*value)(const struct lab_bulk_row *row);
};

struct row_kind {
    const char *table; /* has runId */
    const struct row_column *columns;
    int count;
    const char *also; /* another column, and its value; ?2 is the process */
    const char *also_value;
    const char *tail; /* after the values; may be NULL */
    bool fail;        /* OR FAIL: rows before the one that fails stay */
};

/* A range record of this level names the domain instead. */
enum { LAB_RANGE_DOMAIN = -1 };

static enum lab_status insert_string(struct lab_insert *in, uint32_t name,
                                     int64_t *out);

/* The kernels of a step come one after the other, but for those of steps that
 * run at the same time. */
static enum lab_status exec_sums_add(struct lab_exec_sums *sums,
                                     const struct lab_exec_sum *part)
{
    enum { NEAR = 8 };
    struct lab_exec_sum *s = NULL;
    for (size_t i = sums->count; i > 0 && sums->count - i < NEAR && !s; i--)
        if (sums->list[i - 1].exec == part->exec)
            s = &sums->list[i - 1];
    if (!s) {
        if (lab_grow(&sums->list, sums->count, &sums->room, sizeof(*sums->list),
                     "the times of steps"))
            return LAB_E_NOMEM;
        sums->list[sums->count++] = *part;
        return LAB_OK;
    }
    if (part->time_ns == LAB_UNKNOWN || s->time_ns == LAB_UNKNOWN)
        s->time_ns = LAB_UNKNOWN;
    else
        s->time_ns += part->time_ns;
    s->count += part->count;
    if (part->first_row < s->first_row)
        s->first_row = part->first_row;
    if (part->last_row > s->last_row)
        s->last_row = part->last_row;
    return LAB_OK;
}

/* Which member of a record becomes which column of which table. */

static enum lab_status bind_name(struct lab_insert *in, sqlite3_stmt *s, int i,
                                 uint32_t name)
{
    int64_t id = 0;
    enum lab_status st = LAB_OK;
    if (name == 0) {
        sqlite3_bind_null(s, i);
        return LAB_OK;
    }
    st = insert_string(in, name, &id);
    if (st == LAB_OK)
        sqlite3_bind_int64(s, i, id);
    return st;
}

/* "iteration 7" in the row itself: StringIds has what comes again. */
static void bind_range_text(sqlite3_stmt *s, int i,
                            const struct lab_range_record *r)
{
    enum { ITERATION = 1 };
    char text[64];
    if (r->level != ITERATION || r->number == LAB_UNKNOWN) {
        sqlite3_bind_null(s, i);
        return;
    }
    int n = snprintf(text, sizeof(text), "%s %lld", lab_intern_text(r->text),
                     (long long)r->number);
    sqlite3_bind_text(s, i, text, n, SQLITE_TRANSIENT);
}

/* CUPTI gives a start and an end of 0 where there is no time. */
static bool is_timed(const struct lab_bulk_row *row)
{
    const struct lab_record *r = &row->record;
    switch (r->kind) {
    case LAB_RECORD_KERNEL:
        return r->u.kernel.start_ns != 0 || r->u.kernel.end_ns != 0;
    case LAB_RECORD_MEMCPY:
    case LAB_RECORD_MEMSET:
        return r->u.memcpy_.start_ns != 0 || r->u.memcpy_.end_ns != 0;
    default:
        return r->u.api.start_ns != 0 || r->u.api.end_ns != 0;
    }
}

static void bind_int32(sqlite3_stmt *stmt, int i, int32_t v)
{
    if (v == INT32_MIN)
        sqlite3_bind_null(stmt, i);
    else
        sqlite3_bind_int64(stmt, i, v);
}

/* Where the record of a profiler has the same structs as the row, the member that
 * a field is: where in the record; -1: not there. */
static int64_t in_record(const struct lab_field *f)
{
#define BOTH(member)                                                           \
    {                                                                          \
        offsetof(struct lab_kernel_row, member),                               \
            offsetof(struct lab_kernel_record, member),                        \
            sizeof(((struct lab_kernel_row *)NULL)->member)                    \
    }
    static const struct {
        size_t row;
        size_t record;
        size_t bytes;
    } both[] = {BOTH(launch), BOTH(facts)};
#undef BOTH
    for (size_t i = 0; f->column && i < sizeof(both) / sizeof(both[0]); i++) {
        if (f->at >= both[i].row && f->at - both[i].row < both[i].bytes)
            return (int64_t)(f->at - both[i].row + both[i].record);
    }
    return -1;
}

/* Appends ", \"gridX\"" and so on, and notes where in a record each column is; returns
 * how many they are. */
static int add_kernel_columns(struct lab_insert *in, struct lab_str *sql)
{
    int n = 0;
    for (int i = 0; i < lab_kernel_fields.count; i++) {
        const struct lab_field *f = &lab_kernel_fields.list[i];
        int64_t at = in_record(f);
        if (at < 0)
            continue;
        /* "k.gridX, k.gridY, k.gridZ" */
        for (const char *name = strchr(f->column, '.'); name;
             name = strchr(name + 1, '.')) {
            lab_str_addf(sql, ", \"%.*s\"", (int)strcspn(name + 1, ","),
                         name + 1);
            assert(n < MOST_KERNEL_COLUMNS);
            in->kernel_at[n++] = (size_t)at;
            at += (int64_t)sizeof(int64_t);
        }
    }
    return in->kernel_columns = n;
}

/* Returns the number of the next parameter. */
static int bind_kernel(const struct lab_insert *in, sqlite3_stmt *s, int first,
                       const struct lab_kernel_record *k)
{
    for (int i = 0; i < in->kernel_columns; i++) {
        const int64_t *v = (const void *)((const char *)k + in->kernel_at[i]);
        lab_bind_int(s, first++, *v);
    }
    return first;
}

/* From parameter *parameter on, which becomes the next one. */
static enum lab_status row_bind(struct lab_insert *in,
                                const struct row_kind *kind, sqlite3_stmt *s,
                                int *parameter, const struct lab_bulk_row *row)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < kind->count && st == LAB_OK; i++) {
        const struct row_column *c = &kind->columns[i];
        const void *at = (const char *)&row->record + c->at;
        int n = *parameter;
        switch (c->kind) {
        case ROW_INT32:
            bind_int32(s, n, *(const int32_t *)at);
            break;
        case ROW_UINT32:
            sqlite3_bind_int64(s, n, *(const uint32_t *)at);
            break;
        case ROW_INT:
            lab_bind_int(s, n, *(const int64_t *)at);
            break;
        case ROW_NONZERO:
            lab_bind_int(s, n,
                         *(const int64_t *)at ? *(const int64_t *)at
                                              : LAB_UNKNOWN);
            break;
        case ROW_MOMENT:
            lab_bind_int(s, n,
                         is_timed(row) ? *(const int64_t *)at : LAB_UNKNOWN);
            break;
        case ROW_REAL:
            lab_bind_real(s, n, *(const double *)at);
            break;
        case ROW_NAME:
            st = bind_name(in, s, n, *(const uint32_t *)at);
            break;
        case ROW_NUMBER:
            lab_bind_int(s, n, row->row);
            break;
        case ROW_MADE:
            lab_bind_int(s, n, c->value(row));
            break;
        case ROW_KERNEL:
            n = bind_kernel(in, s, n, at) - 1;
            break;
        case ROW_RANGE_TEXT:
            bind_range_text(s, n, &row->record.u.range);
        }
        *parameter = n + 1;
    }
    return st;
}

/* ---- values that are made of more than one member ---- */

/* CUPTI's launch types begin with regular = 0, nsys's with unknown = 0. */
static int64_t launch_type(const struct lab_bulk_row *row)
{
    int32_t cupti = row->record.u.kernel.launch_type;
    return cupti == INT32_MIN ? LAB_UNKNOWN : (int64_t)cupti + 1;
}

/* CUPTI: 0 unknown, 1 pageable, 2 pinned ... ; nsys: 0 pageable, 1 pinned ...
 * 7 unknown. */
static int64_t nsys_memory_kind(int32_t cupti)
{
    if (cupti == INT32_MIN)
        return LAB_UNKNOWN;
    return cupti == 0 ? 7 : (int64_t)cupti - 1;
}

static int64_t source_kind(const struct lab_bulk_row *row)
{
    return nsys_memory_kind(row->record.u.memcpy_.src_kind);
}

static int64_t target_kind(const struct lab_bulk_row *row)
{
    return nsys_memory_kind(row->record.u.memcpy_.dst_kind);
}

/* CUPTI's time of a step is added up from its kernels. */
static int64_t step_time(const struct lab_bulk_row *row)
{
    const struct lab_step_record *r = &row->record.u.step;
    return r->time_source == LAB_TIME_CUPTI ? LAB_UNKNOWN : r->time_ns;
}

static int64_t occupancy_limit(const struct lab_bulk_row *row)
{
    const struct lab_kernel_record *k = &row->record.u.kernel;
    return isnan(k->occupancy_pct) ? LAB_UNKNOWN
                                   : lab_from_int32(k->occupancy_limit);
}

static int64_t active_blocks(const struct lab_bulk_row *row)
{
    const struct lab_kernel_record *k = &row->record.u.kernel;
    return isnan(k->occupancy_pct) ? LAB_UNKNOWN
                                   : lab_from_int32(k->active_blocks_per_sm);
}

static int64_t memcpy_row(const struct lab_bulk_row *row)
{
    return row->record.kind == LAB_RECORD_MEMSET ? LAB_UNKNOWN : row->row;
}

static int64_t memset_row(const struct lab_bulk_row *row)
{
    return row->record.kind == LAB_RECORD_MEMSET ? row->row : LAB_UNKNOWN;
}

static int64_t range_type(const struct lab_bulk_row *row)
{
    enum { PUSH_POP = 59, DOMAIN_CREATE = 75 };
    bool domain = row->record.u.range.level == LAB_RANGE_DOMAIN;
    return domain ? DOMAIN_CREATE : PUSH_POP;
}

static int64_t range_level(const struct lab_bulk_row *row)
{
    int64_t level = row->record.u.range.level;
    return level == LAB_RANGE_DOMAIN ? LAB_UNKNOWN : level;
}

/* ---- the tables ---- */

#define COLUMN(name_, kind_, member)                                           \
    {                                                                          \
        .name = name_, .kind = ROW_##kind_,                                    \
        .at = offsetof(struct lab_record, u.member)                            \
    }
#define MADE(name_, value_)                                                    \
    {                                                                          \
        .name = name_, .kind = ROW_MADE, .value = value_                       \
    }

/* What everything that ran on a device has. */
#define ON_DEVICE(record)                                                      \
    COLUMN("start", MOMENT, record.start_ns),                                  \
        COLUMN("end", MOMENT, record.end_ns),                                  \
        COLUMN("deviceId", INT32, record.device_id),                           \
        COLUMN("contextId", INT32, record.context_id),                         \
        COLUMN("streamId", INT32, record.stream_id),                           \
        COLUMN("correlationId", UINT32, record.correlation_id)

static const struct row_column step[] = {
    COLUMN("exec", INT, step.exec),
    COLUMN("iteration", INT, step.iteration),
    COLUMN("stepIndex", INT32, step.index),
    COLUMN("phase", INT32, step.phase),
    COLUMN("nameId", NAME, step.name),
    COLUMN("nodeId", NAME, step.node),
    COLUMN("opId", NAME, step.op),
    COLUMN("variantId", NAME, step.variant),
    COLUMN("backendId", NAME, step.backend),
    COLUMN("start_ns", INT, step.start_ns),
    COLUMN("end_ns", INT, step.end_ns),
    MADE("time_ns", step_time),
    COLUMN("timeSource", INT32, step.time_source),
    COLUMN("flop", REAL, step.flop),
    COLUMN("bytes", REAL, step.bytes),
};

static const struct row_column kernel[] = {
    ON_DEVICE(kernel),
    COLUMN("demangledName", NAME, kernel.demangled_name),
    COLUMN("shortName", NAME, kernel.short_name),
    COLUMN("mangledName", NAME, kernel.mangled_name),
    MADE("launchType", launch_type),
    COLUMN("cacheConfig", INT32, kernel.cache_config),
    COLUMN("localMemoryTotal", INT, kernel.local_total_bytes),
    COLUMN("gridId", INT, kernel.grid_id),
    COLUMN("graphNodeId", NONZERO, kernel.graph_node_id),
    COLUMN("sharedMemoryLimitConfig", INT32, kernel.shared_limit_config),
    COLUMN("graphId", NONZERO, kernel.graph_id),
    COLUMN(NULL, KERNEL, kernel),
    {.name = "kernelRow", .kind = ROW_NUMBER},
};

static const struct row_column op_kernel[] = {
    {.name = "kernelRow", .kind = ROW_NUMBER},
    COLUMN("stepExec", INT, kernel.exec),
    COLUMN("occupancy_pct", REAL, kernel.occupancy_pct),
    MADE("occupancyLimit", occupancy_limit),
    MADE("activeBlocksPerSm", active_blocks),
};

static const struct row_column copy[] = {
    ON_DEVICE(memcpy_),
    COLUMN("bytes", INT, memcpy_.bytes),
    COLUMN("copyKind", INT32, memcpy_.copy_kind),
    MADE("srcKind", source_kind),
    MADE("dstKind", target_kind),
    COLUMN("graphNodeId", NONZERO, memcpy_.graph_node_id),
    {.name = "memcpyRow", .kind = ROW_NUMBER},
};

static const struct row_column set_columns[] = {
    ON_DEVICE(memcpy_),
    COLUMN("bytes", INT, memcpy_.bytes),
    COLUMN("value", UINT32, memcpy_.value),
    COLUMN("graphNodeId", NONZERO, memcpy_.graph_node_id),
    {.name = "memsetRow", .kind = ROW_NUMBER},
};

static const struct row_column op_memory[] = {
    COLUMN("stepExec", INT, memcpy_.exec),
    MADE("memcpyRow", memcpy_row),
    MADE("memsetRow", memset_row),
};

static const struct row_column api[] = {
    COLUMN("start", MOMENT, api.start_ns),
    COLUMN("end", MOMENT, api.end_ns),
    COLUMN("eventClass", INT32, api.event_class),
    COLUMN("globalTid", INT, api.global_tid),
    COLUMN("correlationId", UINT32, api.correlation_id),
    COLUMN("returnValue", INT32, api.return_value),
    COLUMN("nameId", NAME, api.name),
};

static const struct row_column sync_columns[] = {
    COLUMN("start", MOMENT, api.start_ns),
    COLUMN("end", MOMENT, api.end_ns),
    COLUMN("deviceId", INT32, api.device_id),
    COLUMN("streamId", INT32, api.stream_id),
    COLUMN("correlationId", UINT32, api.correlation_id),
    COLUMN("syncType", INT32, api.sync_type),
};

static const struct row_column range[] = {
    COLUMN("start", INT, range.start_ns),
    COLUMN("end", INT, range.end_ns),
    MADE("eventType", range_type),
    MADE("category", range_level),
    COLUMN("globalTid", INT, range.global_tid),
    COLUMN("textId", NAME, range.text),
    {.name = "text", .kind = ROW_RANGE_TEXT},
};

static const struct row_column overhead[] = {
    COLUMN("start", INT, overhead.start_ns),
    COLUMN("end", INT, overhead.end_ns),
    COLUMN("nameId", NAME, overhead.name),
};

static const struct row_column loss[] = {
    COLUMN("iteration", INT, loss.iteration),
    COLUMN("loss", REAL, loss.loss),
    COLUMN("accuracy", REAL, loss.accuracy),
    COLUMN("heldLoss", REAL, loss.held_loss),
    COLUMN("learningRate", REAL, loss.rate),
    COLUMN("moment_ns", INT, loss.moment_ns),
};

static const struct row_column metric[] = {
    COLUMN("stepExec", INT, metric.exec),
    COLUMN("kernelOrdinal", INT, metric.kernel_ordinal),
    COLUMN("value", REAL, metric.value),
    COLUMN("passes", INT32, metric.passes),
    COLUMN("metricId", NAME, metric.metric),
};

#define INTO(table_, columns_, ...)                                            \
    {                                                                          \
        .table = table_, .columns = columns_,                                  \
        .count = (int)(sizeof(columns_) / sizeof(columns_[0])), __VA_ARGS__    \
    }

static const struct row_kind row_kinds[LAB_INTO_COUNT] = {
    [LAB_INTO_STEP] =
        INTO("step", step,
             .tail = " ON CONFLICT (runId, exec) DO UPDATE SET"
                     " variantId = excluded.variantId,"
                     " backendId = excluded.backendId,"
                     " start_ns = excluded.start_ns, end_ns = excluded.end_ns,"
                     " time_ns = CASE excluded.timeSource WHEN 2 THEN time_ns"
                     "  ELSE excluded.time_ns END,"
                     " timeSource = excluded.timeSource,"
                     " flop = excluded.flop, bytes = excluded.bytes"),
    [LAB_INTO_KERNEL] =
        INTO("CUPTI_ACTIVITY_KIND_KERNEL", kernel, .also = "globalPid",
             .also_value = "?2", .fail = true),
    [LAB_INTO_OP_KERNEL] = INTO("op_kernel", op_kernel, .fail = true),
    [LAB_INTO_MEMCPY] =
        INTO("CUPTI_ACTIVITY_KIND_MEMCPY", copy, .also = "globalPid",
             .also_value = "?2", .fail = true),
    [LAB_INTO_MEMSET] =
        INTO("CUPTI_ACTIVITY_KIND_MEMSET", set_columns, .also = "globalPid",
             .also_value = "?2", .fail = true),
    [LAB_INTO_OP_MEMORY] = INTO("op_memory", op_memory, .fail = false),
    [LAB_INTO_API] = INTO("CUPTI_ACTIVITY_KIND_RUNTIME", api, .fail = false),
    [LAB_INTO_SYNC] = INTO("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync_columns,
                           .also = "globalPid", .also_value = "?2"),
    [LAB_INTO_RANGE] =
        INTO("NVTX_EVENTS", range, .also = "domainId", .also_value = "1"),
    [LAB_INTO_OVERHEAD] = INTO("PROFILER_OVERHEAD", overhead, .fail = false),
    [LAB_INTO_LOSS] =
        INTO("loss", loss,
             .tail = " ON CONFLICT (runId, iteration) DO UPDATE SET"
                     /* Without a rate it is an evaluation. */
                     " loss = CASE WHEN excluded.loss IS NULL"
                     "  AND excluded.learningRate IS NULL"
                     "  THEN loss ELSE excluded.loss END,"
                     " accuracy = ifnull(excluded.accuracy, accuracy),"
                     " heldLoss = ifnull(excluded.heldLoss, heldLoss),"
                     " learningRate ="
                     "  ifnull(excluded.learningRate, learningRate),"
                     " moment_ns = excluded.moment_ns"),
    [LAB_INTO_METRIC] = INTO("metric_value", metric, .fail = false),
};

enum { NEXT_KERNEL, NEXT_MEMCPY, NEXT_MEMSET };

/* "?1" is the run and "?2" the process; the columns of all rows follow from ?3
 * on. */
static enum lab_status prepare_rows(struct lab_insert *in,
                                    const struct row_kind *kind, int rows,
                                    sqlite3_stmt **out)
{
    struct lab_str sql;
    int parameter = 3;
    int columns = 0;
    lab_str_init(&sql);
    lab_str_addf(&sql, "INSERT %sINTO %s (runId", kind->fail ? "OR FAIL " : "",
                 kind->table);
    if (kind->also)
        lab_str_addf(&sql, ", %s", kind->also);
    for (int i = 0; i < kind->count; i++) {
        if (kind->columns[i].kind == ROW_KERNEL) {
            columns += add_kernel_columns(in, &sql);
            continue;
        }
        lab_str_addf(&sql, ", \"%s\"", kind->columns[i].name);
        columns++;
    }
    lab_str_add(&sql, ") VALUES ");
    for (int i = 0; i < rows; i++) {
        lab_str_add(&sql, i ? ",\n(?1" : "\n(?1");
        if (kind->also)
            lab_str_addf(&sql, ",%s", kind->also_value);
        for (int c = 0; c < columns; c++)
            lab_str_addf(&sql, ",?%d", parameter++);
        lab_str_add_char(&sql, ')');
    }
    lab_str_add(&sql, kind->tail ? kind->tail : "");
    struct lab_stmt s = lab_stmt_built(in->db, &sql);
    sqlite3_bind_int64(s.sql, 1, in->run);
    sqlite3_bind_int64(s.sql, 2, in->global_pid);
    *out = s.sql;
    return s.st;
}

static enum lab_status step_once(struct lab_insert *in, sqlite3_stmt *stmt,
                                 const char *doing)
{
    enum lab_status st = LAB_OK;
    if (sqlite3_step(stmt) != SQLITE_DONE)
        st = lab_database_error(in->db, doing);
    sqlite3_reset(stmt);
    return st;
}

/* Statements are made when the first row of their kind comes: a CPU run needs
 * few of them. */
static enum lab_status write_as(struct lab_insert *in,
                                enum lab_insert_table table,
                                const struct lab_bulk *bulk)
{
    const struct row_kind *kind = &row_kinds[table];
    bool full = bulk->count == LAB_BULK;
    sqlite3_stmt **stmt = full ? &in->bulk[table].many : &in->bulk[table].one;
    int per_step = full ? LAB_BULK : 1;
    enum lab_status st = LAB_OK;
    if (bulk->count > 0 && !*stmt)
        st = prepare_rows(in, kind, per_step, stmt);
    for (int i = 0; i < bulk->count && st == LAB_OK; i += per_step) {
        int parameter = 3;
        for (int j = 0; j < per_step && st == LAB_OK; j++)
            st = row_bind(in, kind, *stmt, &parameter, &bulk->rows[i + j]);
        if (st == LAB_OK)
            st = step_once(in, *stmt, "storing a record");
    }
    return st;
}

/* A kernel's rows are of two tables. */
static enum lab_status write_rows(struct lab_insert *in,
                                  enum lab_insert_table table)
{
    struct lab_bulk *bulk = &in->bulk[table];
    enum lab_status st = write_as(in, table, bulk);
    if (st == LAB_OK && table == LAB_INTO_KERNEL)
        st = write_as(in, LAB_INTO_OP_KERNEL, bulk);
    bulk->count = 0;
    return st;
}

static enum lab_status add_row(struct lab_insert *in,
                               enum lab_insert_table table,
                               const struct lab_record *record, int64_t row)
{
    struct lab_bulk *bulk = &in->bulk[table];
    bulk->rows[bulk->count].record = *record;
    bulk->rows[bulk->count].row = row;
    if (++bulk->count < LAB_BULK)
        return LAB_OK;
    return write_rows(in, table);
}

static enum lab_status add_kernel(struct lab_insert *in,
                                  const struct lab_record *record)
{
    const struct lab_kernel_record *k = &record->u.kernel;
    int64_t row = in->next_row[NEXT_KERNEL]++;
    if (!in->first_kernel_row)
        in->first_kernel_row = row;
    in->last_kernel_row = row;
    enum lab_status st = add_row(in, LAB_INTO_KERNEL, record, row);
    if (st || k->exec == LAB_UNKNOWN || k->exec == LAB_EXEC_BETWEEN)
        return st;
    bool timed = k->start_ns != LAB_UNKNOWN && k->end_ns != LAB_UNKNOWN &&
                 (k->start_ns != 0 || k->end_ns != 0);
    const struct lab_exec_sum part = {
        .exec = k->exec,
        .time_ns = timed ? k->end_ns - k->start_ns : LAB_UNKNOWN,
        .count = 1,
        .first_row = row,
        .last_row = row,
    };
    return exec_sums_add(&in->sums, &part);
}

static enum lab_status add_memory(struct lab_insert *in,
                                  const struct lab_record *record)
{
    bool set = record->kind == LAB_RECORD_MEMSET;
    int64_t exec = record->u.memcpy_.exec;
    int64_t row = in->next_row[set ? NEXT_MEMSET : NEXT_MEMCPY]++;
    enum lab_status st =
        add_row(in, set ? LAB_INTO_MEMSET : LAB_INTO_MEMCPY, record, row);
    if (st == LAB_OK && exec != LAB_UNKNOWN && exec != LAB_EXEC_BETWEEN)
        st = add_row(in, LAB_INTO_OP_MEMORY, record, row);
    return st;
}

/* The first range of a run brings the row that names the domain. */
static enum lab_status add_range(struct lab_insert *in,
                                 const struct lab_record *record)
{
    enum lab_status st = LAB_OK;
    if (!in->range_seen) {
        struct lab_record domain = *record;
        domain.u.range.level = LAB_RANGE_DOMAIN;
        domain.u.range.end_ns = LAB_UNKNOWN;
        domain.u.range.text = lab_intern("lapenna-lab");
        st = add_row(in, LAB_INTO_RANGE, &domain, 0);
        in->range_seen = true;
    }
    return st ? st : add_row(in, LAB_INTO_RANGE, record, 0);
}

/* A walk that has gone back runs an iteration anew: the rows of the way that was left
 * go; its own too, with its evaluation, unless it is as it was. An evaluation has no rate, and is of an iteration that has its row. */
static enum lab_status add_loss(struct lab_insert *in,
                                const struct lab_record *record)
{
    int64_t iteration = record->u.loss.iteration;
    bool again = iteration <= in->last_iteration;
    if (isnan(record->u.loss.loss) && isnan(record->u.loss.rate))
        return add_row(in, LAB_INTO_LOSS, record, 0);
    in->last_iteration = iteration;
    enum lab_status st = again ? write_rows(in, LAB_INTO_LOSS) : LAB_OK;
    if (!st && again) {
        struct lab_stmt left = lab_stmt_new(
            in->db, "DELETE FROM loss WHERE runId = ?1 AND (iteration > ?2 OR "
                    "(iteration = ?2 AND (loss IS NOT ?3 OR "
                    "learningRate IS NOT ?4)))");
        sqlite3_bind_int64(left.sql, 1, in->run);
        sqlite3_bind_int64(left.sql, 2, iteration);
        sqlite3_bind_double(left.sql, 3, record->u.loss.loss);
        sqlite3_bind_double(left.sql, 4, record->u.loss.rate);
        st = lab_stmt_once(&left, "leaving losses out");
    }
    return st ? st : add_row(in, LAB_INTO_LOSS, record, 0);
}

static enum lab_status insert_record(struct lab_insert *in,
                                     const struct lab_record *record)
{
    switch (record->kind) {
    case LAB_RECORD_STEP:
        in->step_seen = true;
        return add_row(in, LAB_INTO_STEP, record, 0);
    case LAB_RECORD_KERNEL:
        return add_kernel(in, record);
    case LAB_RECORD_MEMCPY:
    case LAB_RECORD_MEMSET:
        return add_memory(in, record);
    case LAB_RECORD_API:
        return add_row(in, LAB_INTO_API, record, 0);
    case LAB_RECORD_SYNC:
        return add_row(in, LAB_INTO_SYNC, record, 0);
    case LAB_RECORD_RANGE:
        return add_range(in, record);
    case LAB_RECORD_OVERHEAD:
        return add_row(in, LAB_INTO_OVERHEAD, record, 0);
    case LAB_RECORD_LOSS:
        return add_loss(in, record);
    case LAB_RECORD_METRIC:
        return add_row(in, LAB_INTO_METRIC, record, 0);
    case LAB_RECORD_MARK:
    case LAB_RECORD_KIND_COUNT:
        break;
    }
    return LAB_OK;
}

static enum lab_status insert_drain(struct lab_insert *in)
{
    enum lab_status st = LAB_OK;
    for (int t = 0; t < LAB_INTO_COUNT && st == LAB_OK; t++)
        st = write_rows(in, (enum lab_insert_table)t);
    return st;
}

/* The sum of a step that is not stored yet stays for the next time. */
static enum lab_status insert_sums(struct lab_insert *in)
{
    struct lab_exec_sums *sums = &in->sums;
    struct lab_stmt *add = &in->add_sum;
    size_t waiting = 0;
    if (!in->step_seen)
        return LAB_OK;
    for (size_t i = 0; i < sums->count && !add->st; i++) {
        const struct lab_exec_sum s = sums->list[i];
        sqlite3_bind_int64(add->sql, 1, in->run);
        sqlite3_bind_int64(add->sql, 2, s.exec);
        lab_bind_int(add->sql, 3, s.time_ns);
        sqlite3_bind_int64(add->sql, 4, s.count);
        sqlite3_bind_int64(add->sql, 5, s.first_row);
        sqlite3_bind_int64(add->sql, 6, s.last_row);
        lab_stmt_run(add, "adding up kernel times");
        if (sqlite3_changes(in->db->sql) == 0)
            sums->list[waiting++] = s;
    }
    sums->count = waiting;
    return add->st;
}

static enum lab_status grow_string_ids(struct lab_insert *in, uint32_t name)
{
    size_t want = in->n_string_ids ? in->n_string_ids : 256;
    while (want <= name)
        want *= 2;
    int64_t *ids = lab_realloc_array(in->string_ids, want, sizeof(*ids));
    if (!ids)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu names", want);
    memset(ids + in->n_string_ids, 0, (want - in->n_string_ids) * sizeof(*ids));
    in->string_ids = ids;
    in->n_string_ids = want;
    return LAB_OK;
}

static enum lab_status insert_string(struct lab_insert *in, uint32_t name,
                                     int64_t *out)
{
    enum lab_status st = LAB_OK;
    if (name >= in->n_string_ids)
        st = grow_string_ids(in, name);
    if (st)
        return st;
    if (in->string_ids[name] == 0) {
        struct lab_stmt *find = &in->find_string;
        const char *text = lab_intern_text(name);
        sqlite3_bind_text(find->sql, 1, text, -1, SQLITE_STATIC);
        bool there = lab_stmt_next(find);
        if (there)
            in->string_ids[name] = lab_column_int(find);
        sqlite3_reset(find->sql);
        st = find->st;
        if (st == LAB_OK && !there) {
            sqlite3_bind_text(in->add_string.sql, 1, text, -1, SQLITE_STATIC);
            st = lab_stmt_run(&in->add_string, "storing a name");
            if (st == LAB_OK)
                in->string_ids[name] = sqlite3_last_insert_rowid(in->db->sql);
        }
    }
    *out = in->string_ids[name];
    return st;
}

static const char add_sum_sql[] =
    "UPDATE step SET"
    " time_ns = CASE WHEN timeSource <> 2 THEN time_ns"
    "  WHEN kernelCount > 0 THEN time_ns + ?3 ELSE ?3 END,"
    " kernelCount = ifnull(kernelCount, 0) + ?4,"
    " kernelRowFirst = min(ifnull(kernelRowFirst, ?5), ?5),"
    " kernelRowLast = max(ifnull(kernelRowLast, ?6), ?6) "
    "WHERE runId = ?1 AND exec = ?2";

static enum lab_status insert_init(struct lab_insert *in,
                                   struct lab_database *db, int64_t run)
{
    _Static_assert(LAB_TIME_CUPTI == 2, "add_sum_sql and ENUM_LAB_TIME_SOURCE");
    *in = (struct lab_insert){.db = db, .run = run};
    in->global_pid = (int64_t)getpid() << 24;
    in->find_string =
        lab_stmt_new(db, "SELECT id FROM StringIds WHERE value = ?1");
    in->add_string =
        lab_stmt_new(db, "INSERT INTO StringIds (value) VALUES (?1)");
    in->add_sum = lab_stmt_new(db, add_sum_sql);
    enum lab_status st =
        in->find_string.st ? in->find_string.st : in->add_string.st;
    return st ? st : in->add_sum.st;
}

static void insert_release(struct lab_insert *in)
{
    for (int t = 0; t < LAB_INTO_COUNT; t++) {
        sqlite3_finalize(in->bulk[t].many);
        sqlite3_finalize(in->bulk[t].one);
    }
    lab_stmt_end(&in->find_string);
    lab_stmt_end(&in->add_string);
    lab_stmt_end(&in->add_sum);
    lab_free(in->sums.list);
    lab_free(in->string_ids);
    *in = (struct lab_insert){0};
}

/* Another process may have added rows since our last transaction. */
static enum lab_status insert_begin(struct lab_insert *in)
{
    static const char *const last_row[3] = {
        "SELECT max(kernelRow) FROM CUPTI_ACTIVITY_KIND_KERNEL",
        "SELECT max(memcpyRow) FROM CUPTI_ACTIVITY_KIND_MEMCPY",
        "SELECT max(memsetRow) FROM CUPTI_ACTIVITY_KIND_MEMSET",
    };
    enum lab_status st = lab_database_begin(in->db, "storing records");
    for (int i = 0; i < 3 && st == LAB_OK; i++) {
        st = lab_database_int(in->db, last_row[i], 0, &in->next_row[i]);
        in->next_row[i]++;
    }
    return st;
}

static enum lab_status insert_commit(struct lab_insert *in)
{
    enum lab_status st = insert_drain(in);
    if (st == LAB_OK)
        st = lab_database_exec(in->db, "COMMIT", "storing records");
    return st;
}

enum {
    RING_RECORDS = 32768,
    BATCH = 512,
    COMMIT_ROWS = 10000,
    SUMS_MANY = 16384, /* sums of kernel times that wait for a flush */
};
static const int64_t RING_WAIT_NS = 2000000000;
static const int64_t IDLE_NS = 100000000;
static const int64_t REST_NS = 20000000;
static const int64_t OLD_NS = 500000000;
static const int64_t SLEEP_NS = 10000000000; /* nothing to do until a record */

struct lab_writer {
    struct lab_ring *ring;
    struct lab_database *db; /* the thread's, once it runs */
    int64_t run;
    pthread_t thread;
    bool joined;
    struct lab_run_summary summary; /* set before the ring is closed */

    pthread_mutex_t mark_lock; /* so that marks go in in their order */
    int64_t last_mark;

    pthread_mutex_t lock; /* what follows */
    pthread_cond_t acknowledged;
    int64_t mark_done;
    bool settles; /* with `summary`, at the next mark */
    uint64_t stored;
    uint64_t lost;
    enum lab_status status;
    struct lab_kept_error error;
};

/* The thread's own view of its work. */
struct work {
    struct lab_writer *writer;
    struct lab_insert in;
    bool open; /* a transaction */
    int64_t opened_ns;
    uint64_t rows; /* in it */
    int64_t mark;  /* the last one seen */
    bool settled;  /* the run has an end in the database */
    size_t sums_limit;
    bool failed;
    struct lab_record batch[BATCH];
};

static void note_failure(struct work *w, enum lab_status st)
{
    struct lab_writer *writer = w->writer;
    lab_database_rollback(writer->db);
    w->failed = true;
    w->open = false;
    pthread_mutex_lock(&writer->lock);
    writer->lost += w->rows;
    if (!writer->status) {
        writer->status = st;
        lab_error_keep(&writer->error);
    }
    pthread_mutex_unlock(&writer->lock);
    w->rows = 0;
}

static void acknowledge(struct work *w)
{
    pthread_mutex_lock(&w->writer->lock);
    w->writer->mark_done = w->mark;
    pthread_cond_broadcast(&w->writer->acknowledged);
    pthread_mutex_unlock(&w->writer->lock);
}

/* Sums of steps that are not stored yet wait; they must not be tried again at
 * every commit. */
static enum lab_status add_sums(struct work *w)
{
    enum lab_status st = LAB_OK;
    if (!w->open)
        st = insert_begin(&w->in);
    w->open = true; /* a failure rolls back */
    if (st == LAB_OK)
        st = insert_drain(&w->in);
    if (st == LAB_OK)
        st = insert_sums(&w->in);
    w->sums_limit = w->in.sums.count * 2;
    if (w->sums_limit < SUMS_MANY)
        w->sums_limit = SUMS_MANY;
    return st;
}

/* `flush`: also the sums that wait. */
static void commit(struct work *w, bool flush)
{
    enum lab_status st = LAB_OK;
    size_t waiting = w->in.sums.count;
    if (w->failed)
        return;
    if (waiting && (flush || waiting >= w->sums_limit))
        st = add_sums(w);
    if (st == LAB_OK && w->open)
        st = insert_commit(&w->in);
    if (st) {
        note_failure(w, st);
        return;
    }
    w->open = false;
    pthread_mutex_lock(&w->writer->lock);
    w->writer->stored += w->rows;
    pthread_mutex_unlock(&w->writer->lock);
    w->rows = 0;
}

static void store_record(struct work *w, const struct lab_record *record)
{
    enum lab_status st = LAB_OK;
    w->rows++;
    if (w->failed) {
        pthread_mutex_lock(&w->writer->lock);
        w->writer->lost += w->rows;
        pthread_mutex_unlock(&w->writer->lock);
        w->rows = 0;
        return;
    }
    if (!w->open) {
        st = insert_begin(&w->in);
        w->open = st == LAB_OK;
        w->opened_ns = lab_clock_monotonic_ns();
    }
    /* Not by a copy that only shows something. */
    if (st == LAB_OK && w->settled && record->kind == LAB_RECORD_STEP) {
        st = run_row_resume(&w->in);
        w->settled = false;
    }
    if (st == LAB_OK)
        st = insert_record(&w->in, record);
    if (st)
        note_failure(w, st);
}

static void settle(struct work *w)
{
    struct lab_writer *writer = w->writer;
    struct lab_run_summary summary;
    struct lab_writer_state state;
    pthread_mutex_lock(&writer->lock);
    bool settles = writer->settles;
    summary = writer->summary;
    writer->settles = false;
    pthread_mutex_unlock(&writer->lock);
    if (!settles || w->failed)
        return;
    lab_writer_get_state(writer, &state);
    enum lab_status st = run_row_end(&w->in, &summary, &state, true);
    w->settled = st == LAB_OK;
    if (st)
        note_failure(w, st);
}

static void store_batch(struct work *w, size_t n)
{
    bool iteration_ended = false;
    int64_t mark = w->mark;
    for (size_t i = 0; i < n; i++) {
        const struct lab_record *record = &w->batch[i];
        if (record->kind == LAB_RECORD_MARK) {
            mark = record->u.mark;
            continue;
        }
        iteration_ended |= record->kind == LAB_RECORD_LOSS;
        store_record(w, record);
    }
    bool marked = mark != w->mark;
    bool old = w->open && lab_clock_monotonic_ns() - w->opened_ns > OLD_NS;
    if (marked || iteration_ended || old || w->rows >= COMMIT_ROWS)
        commit(w, marked);
    if (marked) {
        settle(w);
        w->mark = mark;
        acknowledge(w);
    }
}

static void end_run(struct work *w)
{
    struct lab_writer *writer = w->writer;
    struct lab_writer_state state;
    commit(w, true);
    lab_writer_get_state(writer, &state);
    enum lab_status st = run_row_end(&w->in, &writer->summary, &state, false);
    if (st)
        note_failure(w, st);
    /* Not a record that could be lost: readers add up what is not kept. */
    if (!w->failed && lab_time_sums_keep(writer->db, writer->run))
        lab_database_rollback(writer->db);
}

static void *write_records(void *arg)
{
    struct work *w = arg;
    struct lab_ring *ring = w->writer->ring;
    while (!lab_ring_drained(ring)) {
        size_t n =
            lab_ring_pop(ring, w->batch, BATCH, w->open ? IDLE_NS : SLEEP_NS);
        if (n)
            store_batch(w, n);
        else
            commit(w, false);
        /* Few records are seldom all: a moment later more have come, for the
         * same transaction. */
        if (n > 0 && n < BATCH)
            lab_ring_rest(ring, REST_NS);
    }
    end_run(w);
    insert_release(&w->in);
    lab_free(w);
    return NULL;
}

static int push_record(void *user, const struct lab_record *record)
{
    struct lab_writer *writer = user;
    return lab_ring_push(writer->ring, record);
}

struct lab_sink lab_writer_sink(struct lab_writer *writer)
{
    return (struct lab_sink){.user = writer, .push = push_record};
}

int64_t lab_writer_run(const struct lab_writer *writer)
{
    return writer->run;
}

/* Takes everything but the thread; lab_writer_free() also after a failure. */
static enum lab_status prepare(struct lab_writer *writer, const char *path,
                               const struct lab_run_info *info,
                               const struct lab_writer_options *given)
{
    struct lab_writer_options o =
        given ? *given : (struct lab_writer_options){0};
    const struct lab_database_options db_options = {.busy_timeout_ms =
                                                        o.busy_timeout_ms};
    size_t records = o.ring_records ? o.ring_records : (size_t)RING_RECORDS;
    int64_t wait_ns = o.ring_wait_ns ? o.ring_wait_ns : RING_WAIT_NS;
    enum lab_status st = lab_ring_new(&writer->ring, records,
                                      sizeof(struct lab_record), wait_ns);
    if (st == LAB_OK)
        st = lab_database_open(&writer->db, path, &db_options);
    if (st == LAB_OK)
        st = run_row_begin(writer->db, info, &writer->run);
    return st;
}

static enum lab_status start_thread(struct lab_writer *writer)
{
    struct work *w = lab_alloc(sizeof(*w));
    if (!w)
        return lab_no_memory("the writer");
    w->writer = writer;
    w->sums_limit = SUMS_MANY;
    enum lab_status st = insert_init(&w->in, writer->db, writer->run);
    if (st == LAB_OK && lab_thread_start(&writer->thread, write_records, w))
        st = lab_fail(LAB_E_NOMEM, "no thread for the writer");
    if (st) {
        insert_release(&w->in);
        lab_free(w);
        return st;
    }
    writer->joined = false;
    return LAB_OK;
}

enum lab_status lab_writer_new(struct lab_writer **out, const char *path,
                               const struct lab_run_info *info,
                               const struct lab_writer_options *options)
{
    struct lab_writer *writer = lab_alloc(sizeof(*writer));
    if (!writer)
        return lab_no_memory("the writer");
    writer->joined = true;
    pthread_mutex_init(&writer->mark_lock, NULL);
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->acknowledged, NULL);
    lab_run_summary_init(&writer->summary);
    writer->summary.status = LAB_RUN_INTERRUPTED;
    enum lab_status st = prepare(writer, path, info, options);
    if (st == LAB_OK)
        st = start_thread(writer);
    if (st) {
        lab_writer_free(writer);
        return st;
    }
    *out = writer;
    return LAB_OK;
}

static enum lab_status first_error(struct lab_writer *writer)
{
    struct lab_kept_error error;
    pthread_mutex_lock(&writer->lock);
    enum lab_status st = writer->status;
    error = writer->error;
    pthread_mutex_unlock(&writer->lock);
    return lab_error_again(st, &error);
}

int64_t lab_writer_mark(struct lab_writer *writer)
{
    struct lab_record mark = {.kind = LAB_RECORD_MARK};
    pthread_mutex_lock(&writer->mark_lock);
    mark.u.mark = ++writer->last_mark;
    bool pushed = lab_ring_push(writer->ring, &mark);
    pthread_mutex_unlock(&writer->mark_lock);
    return pushed ? mark.u.mark : LAB_UNKNOWN;
}

bool lab_writer_stored(struct lab_writer *writer, int64_t mark)
{
    pthread_mutex_lock(&writer->lock);
    bool stored = mark <= writer->mark_done;
    pthread_mutex_unlock(&writer->lock);
    return stored;
}

enum lab_status lab_writer_flush(struct lab_writer *writer)
{
    int64_t mark = lab_writer_mark(writer);
    if (mark == LAB_UNKNOWN) {
        enum lab_status st = first_error(writer);
        return st ? st
                  : lab_fail(
                        LAB_E_STATE,
                        "[db.writer-refuses] the writer takes no records: it "
                        "has ended, or cannot keep up");
    }
    lab_ring_hurry(writer->ring);
    pthread_mutex_lock(&writer->lock);
    while (writer->mark_done < mark)
        pthread_cond_wait(&writer->acknowledged, &writer->lock);
    pthread_mutex_unlock(&writer->lock);
    return first_error(writer);
}

void lab_writer_get_state(struct lab_writer *writer,
                          struct lab_writer_state *out)
{
    *out = (struct lab_writer_state){.run = writer->run};
    lab_ring_get_stats(writer->ring, &out->ring);
    pthread_mutex_lock(&writer->lock);
    out->stored = writer->stored;
    out->lost = writer->lost;
    out->failed = writer->status != LAB_OK;
    snprintf(out->error, sizeof(out->error), "%s", writer->error.text);
    lab_utf8_trim(out->error);
    pthread_mutex_unlock(&writer->lock);
}

enum lab_status lab_writer_settle(struct lab_writer *writer,
                                  const struct lab_run_summary *summary)
{
    pthread_mutex_lock(&writer->lock);
    writer->summary = *summary;
    writer->settles = true;
    pthread_mutex_unlock(&writer->lock);
    enum lab_status st = lab_writer_flush(writer);
    pthread_mutex_lock(&writer->lock);
    writer->settles = false; /* a writer that refuses has not taken it */
    lab_run_summary_init(&writer->summary);
    writer->summary.status = LAB_RUN_INTERRUPTED;
    pthread_mutex_unlock(&writer->lock);
    return st;
}

/* Ends the thread: it takes what is left, and then the run's end. */
static void join(struct lab_writer *writer)
{
    if (writer->joined)
        return;
    lab_ring_close(writer->ring);
    pthread_join(writer->thread, NULL);
    writer->joined = true;
}

enum lab_status lab_writer_finish(struct lab_writer *writer,
                                  const struct lab_run_summary *summary)
{
    if (writer->joined)
        return lab_fail(LAB_E_STATE,
                        "[db.writer-ended] the run has ended already");
    writer->summary = *summary;
    join(writer);
    lab_database_close(writer->db);
    writer->db = NULL;
    return first_error(writer);
}

void lab_writer_free(struct lab_writer *writer)
{
    if (!writer)
        return;
    join(writer);
    lab_database_close(writer->db);
    lab_ring_free(writer->ring);
    pthread_cond_destroy(&writer->acknowledged);
    pthread_mutex_destroy(&writer->lock);
    pthread_mutex_destroy(&writer->mark_lock);
    lab_free(writer);
}
