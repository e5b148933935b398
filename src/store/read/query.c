/* query.c -- reading the rows of runs, losses and kernels.
 *
 * Lists and finds runs, fills in the figures of a run that was killed, deletes
 * runs, and has the table of a run's columns (lab_run_fields) that list, text,
 * JSON and screen share. Steps and kernels, which are many, have files of their
 * own beside it. */
#include "store/query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/row.h"
#include "store/delete.h"
#include "store/row_fields.h"
#include "base/format.h"

/* ---- the figures of a run that was killed: from its stored losses ---- */

static const char figures[] =
    "SELECT count(*),"
    " (SELECT loss FROM loss WHERE runId = ?1 ORDER BY iteration LIMIT 1),"
    " (SELECT loss FROM loss WHERE runId = ?1 ORDER BY iteration DESC LIMIT 1),"
    " (SELECT accuracy FROM loss WHERE runId = ?1 AND accuracy IS NOT NULL"
    "  ORDER BY iteration DESC LIMIT 1),"
    " min(moment_ns), max(moment_ns) FROM loss WHERE runId = ?1";

static void take(struct lab_stmt *s, struct lab_run_row *r)
{
    int64_t n = lab_column_int(s);
    if (n < 1)
        return;
    r->figures_from_rows = true;
    r->iterations = n;
    r->loss_first = lab_column_real(s);
    r->loss_last = lab_column_real(s);
    r->accuracy = lab_column_real(s);
    int64_t first = lab_column_int(s);
    int64_t span = lab_span_ns(first, lab_column_int(s));
    /* The first loss is known at the end of the first iteration. */
    if (n > 1 && span != LAB_UNKNOWN && span > 0 && r->batch != LAB_UNKNOWN)
        r->samples_per_s =
            (double)(n - 1) * (double)r->batch * 1e9 / (double)span;
}

static enum lab_status run_fill_from_rows(struct lab_database *db,
                                          struct lab_run_row *r)
{
    bool has_figures = r->iterations != LAB_UNKNOWN || !isnan(r->loss_first) ||
                       !isnan(r->loss_last) || !isnan(r->samples_per_s) ||
                       r->iteration_median_ns != LAB_UNKNOWN;
    if (has_figures)
        return LAB_OK;
    struct lab_stmt s = lab_stmt_new(db, figures);
    sqlite3_bind_int64(s.sql, 1, r->id);
    if (lab_stmt_next(&s))
        take(&s, r);
    return lab_stmt_end(&s);
}

/* Whether the process that records a run is gone. Only this machine can tell
 * so of its own processes. */
static bool recorder_is_gone(const char *host, int64_t pid, int64_t start)
{
    char here[256];
    lab_host_name(here, sizeof(here));
    if (!host || strcmp(host, here) != 0 || pid == LAB_UNKNOWN)
        return false;
    int64_t now = lab_process_start(pid);
    return now < 0 || (start != LAB_UNKNOWN && now != start);
}

#define FIELD(row, kind_, member, column_, key_)                               \
    {                                                                          \
        .column = column_, .kind = LAB_FIELD_##kind_, .key = key_,             \
        .at = offsetof(struct row, member)                                     \
    }
#define RUN(kind, member, column, key)                                         \
    FIELD(lab_run_row, kind, member, column, key)
/* For a reader alone. */
#define READ(kind_, member, ...)                                               \
    {                                                                          \
        .kind = LAB_FIELD_##kind_, .at = offsetof(struct lab_run_row, member), \
        __VA_ARGS__                                                            \
    }
#define SHOWN LAB_SHOWN
#define LISTED LAB_LISTED

/* Of iterations of a lesson on a GPU, when they have been added up. Without a trace a
 * step's time has the host's gaps in it: then of a run of which every iteration was
 * recorded, for beside the median of others it would be that of slower ones. */
#define GPU_NS                                                                 \
    "CASE WHEN backend = 'cuda' AND kind IS NOT 'lab' THEN (SELECT "           \
    "CAST(round(median_ns) AS INTEGER) FROM time_sum WHERE runId = run.id "    \
    "AND level = 0 AND (run.timeSource IS NOT 'cuda_events' OR "               \
    "count >= ifnull(run.iterations, 0))) END"

bool lab_run_is_lab(const struct lab_run_row *run)
{
    return run->kind && strcmp(run->kind, "lab") == 0;
}

const char *lab_run_lesson_text(const struct lab_run_row *run, char *out,
                                size_t cap)
{
    if (!lab_run_is_lab(run))
        return run->lesson;
    snprintf(out, cap, "%.80s (lab)", run->lesson ? run->lesson : "");
    return out;
}

static const char *lesson_text(const void *row, char *out, size_t cap)
{
    return lab_run_lesson_text(row, out, cap);
}

/* ---- the variants of a run shortened to a column ---- */

/* Operations have fewer; of a file from elsewhere the first ones are shown. */
enum { VARIANTS = 16 };

struct tally {
    const char *name; /* not ended */
    int length;
    int nodes;
};

static void count_variant(struct tally *list, int *n, const char *name,
                          int length)
{
    int i = 0;
    while (i < *n && (list[i].length != length ||
                      strncmp(list[i].name, name, (size_t)length) != 0))
        i++;
    if (i == VARIANTS)
        return;
    if (i == *n)
        list[(*n)++] = (struct tally){name, length, 0};
    list[i].nodes++;
}

/* A sweep's text has sizes before the nodes, which have no '=', and ';' after the
 * nodes of one variant: "4, 16: fc1=vector; 64: fc1=fused". */
static int count_variants(struct tally *list, const char *text)
{
    int n = 0;
    while (*text) {
        size_t word = strcspn(text, " ;");
        const char *equals = memchr(text, '=', word);
        if (equals && equals + 1 < text + word)
            count_variant(list, &n, equals + 1,
                          (int)(text + word - equals - 1));
        text += word + strspn(text + word, " ;");
    }
    return n;
}

static struct tally *commonest(struct tally *list, int n)
{
    struct tally *best = NULL;
    for (int i = 0; i < n; i++)
        if (list[i].nodes > 0 && (!best || list[i].nodes > best->nodes))
            best = &list[i];
    return best;
}

static void write_words(struct tally *list, int n, char *out)
{
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        struct tally *t = commonest(list, n);
        int wrote = snprintf(out + used, LAB_VARIANT_WORDS - used, "%s%.*s",
                             used ? ", " : "", t->length, t->name);
        if (used + (size_t)wrote >= LAB_VARIANT_WORDS) {
            strcpy(out + LAB_VARIANT_WORDS - 4, "...");
            return;
        }
        used += (size_t)wrote;
        t->nodes = 0;
    }
}

static void words_of(const char *variants, char out[LAB_VARIANT_WORDS])
{
    struct tally list[VARIANTS];
    int n = count_variants(list, variants);
    snprintf(out, LAB_VARIANT_WORDS, "%s", n ? "" : "naive");
    write_words(list, n, out);
}

/* Whether another rate than the lesson's was set. */
static bool lr_was_set(const struct lab_run_row *run)
{
    return run->learning_rate < run->lesson_learning_rate ||
           run->learning_rate > run->lesson_learning_rate;
}

const char *lab_variant_words(const struct lab_run_row *run,
                              char out[LAB_VARIANT_WORDS])
{
    if (!run->variants && (!run->kind || strcmp(run->kind, "lesson") != 0))
        return NULL;
    char words[LAB_VARIANT_WORDS];
    words_of(run->variants ? run->variants : "", words);
    if (!lr_was_set(run))
        strcpy(out, words);
    else if (snprintf(out, LAB_VARIANT_WORDS, "lr %g, %s", run->learning_rate,
                      words) >= LAB_VARIANT_WORDS)
        strcpy(out + LAB_VARIANT_WORDS - 4, "...");
    return out;
}

/* From the node on at which they begin to differ. */
static const char *from_difference(const char *text, const char *other)
{
    size_t i = 0;
    while (text[i] && text[i] == other[i])
        i++;
    while (i > 0 && text[i - 1] != ' ')
        i--;
    return text + i;
}

void lab_variant_words_beside(const char *kept[2],
                              char words[2][LAB_VARIANT_WORDS])
{
    const char *a = kept[0] ? kept[0] : "";
    const char *b = kept[1] ? kept[1] : "";
    words_of(a, words[0]);
    words_of(b, words[1]);
    bool same = *a && *b && strcmp(words[0], words[1]) == 0;
    kept[0] = same ? from_difference(a, b) : words[0];
    kept[1] = same ? from_difference(b, a) : words[1];
}

/* ---- the columns of a run ---- */

static const char *variants_text(const void *row, char *out, size_t cap)
{
    (void)cap;
    return lab_variant_words(row, out);
}

/* "2026-01-31 09:30:00" of 2026-01-31T09:30:00.123Z; another text as it is. */
static const char *started_text(const void *row, char *out, size_t cap)
{
    return lab_moment_text(((const struct lab_run_row *)row)->started, out,
                           cap);
}

/* The same without the seconds. */
static const char *started_minute(const void *row, char *out, size_t cap)
{
    const char *iso = ((const struct lab_run_row *)row)->started;
    if (!iso)
        return NULL;
    snprintf(out, cap, "%.10s %.5s", iso, strlen(iso) > 11 ? iso + 11 : "");
    return out;
}

const char *lab_moment_text(const char *iso, char *out, size_t cap)
{
    if (!iso || strlen(iso) < 19 || iso[10] != 'T')
        return iso;
    snprintf(out, cap, "%.10s %.8s", iso, iso + 11);
    return out;
}

bool lab_run_has_lost(const struct lab_run_row *run)
{
    return run->ring_drops > 0 || run->write_errors > 0;
}

static const char *status_text(const void *row, char *out, size_t cap)
{
    const struct lab_run_row *r = row;
    snprintf(out, cap, "%s%s", r->status ? r->status : LAB_NA,
             lab_run_has_lost(r) ? ", lost" : "");
    return out;
}

bool lab_run_has_one(const struct lab_run_row *run)
{
    return run->iterations == 1 && run->iteration_median_ns != LAB_UNKNOWN;
}

/* What one iteration took is no median of a run's. */
static const char *median_text(const void *row, char *out, size_t cap)
{
    const struct lab_run_row *r = row;
    snprintf(out, cap, "%s%s", lab_run_has_one(r) ? "first: " : "",
             LAB_NS_TEXT(lab_to_real(r->iteration_median_ns)));
    return out;
}

static double median(const void *row)
{
    return lab_to_real(((const struct lab_run_row *)row)->iteration_median_ns);
}

static const char *median_listed(const void *row, char *out, size_t cap)
{
    const struct lab_run_row *r = row;
    snprintf(out, cap, "%s%s", lab_run_has_one(r) ? "first " : "",
             LAB_NS_TEXT(median(row)));
    return out;
}

bool lab_run_is_imported(const struct lab_run_row *run)
{
    return run->label || run->imported_from;
}

/* The label of the import, else the user and the machine. */
static const char *owner_text(const void *row, char *out, size_t cap)
{
    const struct lab_run_row *r = row;
    if (r->label || !lab_run_is_imported(r))
        return r->label ? r->label : "";
    if (!r->hostname)
        return r->imported_from;
    snprintf(out, cap, "%s@%s", r->user ? r->user : LAB_NA, r->hostname);
    return out;
}

/* In the order of JSON. */
static const struct lab_field run_fields[] = {
    RUN(INT, id, "id", "run"),
    RUN(TEXT, lesson, "lesson", NULL),
    RUN(TEXT, kind, "kind", NULL),
    RUN(TEXT, backend, "backend", NULL),
    RUN(TEXT, device, "device", NULL),
    RUN(TEXT, started, "started", NULL),
    RUN(TEXT, ended, "ended", NULL),
    RUN(TEXT, status, "status", NULL),
    RUN(TEXT, title, "title", NULL),
    RUN(TEXT, lesson_path, "lessonPath", NULL),
    RUN(TEXT, precision, "precision", NULL),
    RUN(TEXT, variants, "variants", NULL),
    RUN(UINT, seed, "seed", NULL),
    RUN(INT, batch, "batch", NULL),
    RUN(REAL, learning_rate, "learningRate", NULL),
    RUN(REAL, lesson_learning_rate, "lessonLearningRate", NULL),
    RUN(INT, threads, "threads", NULL),
    RUN(TEXT, variants_from, "variantsFrom", NULL),
    RUN(TEXT, optimizer, "optimizer", NULL),
    RUN(TEXT, rate_schedule, "rateSchedule", NULL),
    RUN(REAL, validation, "validation", NULL),
    RUN(INT, early_stop, "earlyStop", NULL),
    RUN(INT, memory_peak_bytes, "memoryPeak_bytes", NULL),
    RUN(REAL, utilization_pct, "utilization_pct", NULL),
    RUN(REAL, energy_j, "energy_j", NULL),
    RUN(INT, warm_iterations, "warmIterations", NULL),
    RUN(INT, warm_ns, "warm_ns", NULL),
    RUN(REAL, warm_energy_j, "warmEnergy_j", NULL),
    RUN(REAL, iteration_flop, "iteration_flop", NULL),
    RUN(INT, iterations, "iterations", NULL),
    RUN(INT, iteration_median_ns, "iterationMedian_ns", NULL),
    RUN(INT, gpu_ns, NULL, "gpu_ns"),
    RUN(REAL, samples_per_s, "samples_per_s", NULL),
    RUN(REAL, loss_first, "loss_first", NULL),
    RUN(REAL, loss_last, "loss_last", NULL),
    RUN(REAL, accuracy, "accuracy", NULL),
    RUN(BOOL, figures_from_rows, NULL, "figures_from_rows"),
    RUN(TEXT, time_source, "timeSource", NULL),
    RUN(TEXT, trace_state, "traceState", "trace"),
    RUN(TEXT, counters, "counters", NULL),
    RUN(TEXT, counters_reason, "countersReason", NULL),
    RUN(TEXT, chip, "chip", NULL),
    RUN(TEXT, compute_capability, "computeCapability", NULL),
    RUN(INT, sm_count, "smCount", NULL),
    RUN(TEXT, driver, "driver", NULL),
    RUN(TEXT, runtime, "runtime", NULL),
    RUN(TEXT, version, "version", NULL),
    RUN(TEXT, commit, "commitId", "commit"),
    RUN(TEXT, hostname, "hostname", NULL),
    RUN(TEXT, user, "user", NULL),
    RUN(INT, rank, "rank", NULL),
    RUN(TEXT, uuid, "uuid", NULL),
    RUN(TEXT, label, "label", NULL),
    RUN(TEXT, imported_from, "importedFrom", NULL),
    RUN(TEXT, imported, "imported", NULL),
    RUN(INT, ring_drops, "ringDrops", NULL),
    RUN(INT, ring_waits, "ringWaits", NULL),
    RUN(INT, ring_wait_ns, "ringWait_ns", NULL),
    RUN(INT, write_errors, "writeErrors", NULL),
    RUN(TEXT, write_error, "writeError", NULL),
    RUN(INT, ring_high_water, "ringHighWater", ""),
    RUN(INT, started_ns, "started_ns", ""),
    RUN(INT, ended_ns, "ended_ns", ""),
    READ(INT, id, SHOWN(">run", 1, NUMBER), LISTED(1, ">run", 5, 0, true, 0)),
    READ(TEXT, started, SHOWN("started (UTC)", 2, PLAIN), .text = started_text),
    READ(TEXT, lesson, SHOWN("lesson", 3, PLAIN)),
    READ(TEXT, lesson, .text = lesson_text,
         LISTED(2, "lesson", 14, 3, false, 0)),
    READ(TEXT, variants, SHOWN("variants", 4, PLAIN), .text = variants_text,
         LISTED(3, "variants", 12, 4, false, 1)),
    READ(TEXT, kind, SHOWN("kind", 5, PLAIN)),
    READ(TEXT, backend, SHOWN("backend", 6, PLAIN),
         LISTED(4, "backend", 7, 0, false, 3)),
    READ(TEXT, started, .text = started_minute,
         LISTED(6, "started", 16, 0, true, 2)),
    READ(TEXT, status, SHOWN("status", 7, PLAIN), .text = status_text),
    READ(TEXT, status, .show = LAB_SHOW_VERDICT,
         LISTED(7, "status", 11, 0, false, 0)),
    READ(INT, iterations, SHOWN(">iterations", 8, PLAIN),
         LISTED(8, ">iterations", 11, 0, true, 7)),
    READ(INT, iteration_median_ns, SHOWN(">median", 9, PLAIN),
         .text = median_text),
    READ(INT, iteration_median_ns, .real = median, .text = median_listed,
         LISTED(9, ">median", 13, 0, true, 4)),
    READ(INT, gpu_ns, SHOWN(">GPU time", 10, NS),
         LISTED(10, ">GPU time", 9, 0, true, 5)),
    READ(REAL, loss_last, SHOWN(">loss", 11, PLAIN), .digits = 4,
         LISTED(11, ">loss", 8, 0, false, 0)),
    READ(TEXT, device, SHOWN("device", 12, PLAIN),
         LISTED(5, "device", 16, 1, false, 8)),
    READ(TEXT, user, SHOWN("user", LAB_RUN_OWNER_PLACE, PLAIN),
         .text = owner_text),
    READ(REAL, accuracy, .show = LAB_SHOW_SHARE,
         LISTED(12, ">right", 7, 0, true, 6)),
    READ(REAL, samples_per_s, .show = LAB_SHOW_WHOLE,
         LISTED(13, ">samples/s", 10, 0, true, 9)),
};
const struct lab_fields lab_run_fields = {
    .table = "run",
    .list = run_fields,
    .count = (int)(sizeof(run_fields) / sizeof(run_fields[0])),
    .row_bytes = sizeof(struct lab_run_row)};

#define LOSS(kind, member, column)                                             \
    FIELD(lab_loss_row, kind, member, column, NULL)
static const struct lab_field loss_fields[] = {
    {.column = "iteration",
     .kind = LAB_FIELD_INT,
     .at = offsetof(struct lab_loss_row, iteration),
     .csv = "loss_iteration"},
    LOSS(REAL, loss, "loss"),
    LOSS(REAL, accuracy, "accuracy"),
    LOSS(REAL, held_loss, "heldLoss"),
    LOSS(REAL, learning_rate, "learningRate"),
    {.column = "moment_ns",
     .kind = LAB_FIELD_INT,
     .at = offsetof(struct lab_loss_row, moment_ns),
     .key = "",
     .csv = "moment_ns"},
};
LAB_FIELDS(lab_loss_row, loss_fields, lab_query_losses, "loss", "iteration",
           NULL)

/* From one to the next by the primary key. Two queries for the ends: SQLite
 * reads all rows for a minimum and a maximum in one. */
#define THINNED                                                                \
    "(WITH RECURSIVE mine AS NOT MATERIALIZED "                                \
    "(SELECT * FROM loss WHERE runId = %lld%s), "                              \
    "ends(first, last) AS (SELECT (SELECT min(iteration) FROM mine), "         \
    "(SELECT max(iteration) FROM mine)), "                                     \
    "taken(at) AS (SELECT first FROM ends UNION ALL "                          \
    "SELECT (SELECT min(iteration) FROM mine WHERE iteration >= "              \
    "at + (last - first) / %d + 1) FROM taken, ends WHERE at IS NOT NULL) "    \
    "SELECT mine.* FROM taken CROSS JOIN mine ON mine.iteration = at) "        \
    "ORDER BY iteration"

static enum lab_status thinned(struct lab_database *db, int64_t run, int most,
                               const char *only, lab_loss_row_fn *each,
                               void *user)
{
    struct lab_loss_row_reader to = {each, user};
    char from[1024];
    snprintf(from, sizeof(from), THINNED, (long long)run, only, most);
    enum lab_status st = lab_query_require_run(db, run);
    return st ? st
              : lab_fields_read_from(db, &lab_loss_row_fields, from,
                                     lab_loss_row_each, &to);
}

enum lab_status lab_query_losses_thinned(struct lab_database *db, int64_t run,
                                         int most, lab_loss_row_fn *each,
                                         void *user)
{
    return thinned(db, run, most, "", each, user);
}

enum lab_status lab_query_evaluations_thinned(struct lab_database *db,
                                              int64_t run, int most,
                                              lab_loss_row_fn *each, void *user)
{
    return thinned(db, run, most,
                   " AND (heldLoss IS NOT NULL OR accuracy IS NOT NULL)", each,
                   user);
}

static void read_run(struct lab_stmt *s, struct lab_run_row *r)
{
    *r = (struct lab_run_row){0};
    lab_fields_take(s, &lab_run_fields, r);
    r->gpu_ns = lab_column_int(s);
    int64_t pid = lab_column_int(s);
    int64_t process_start = lab_column_int(s);
    if (r->status && strcmp(r->status, "running") == 0 &&
        recorder_is_gone(r->hostname, pid, process_start))
        r->status = lab_run_status_text(LAB_RUN_INTERRUPTED);
}

const char *lab_run_lr_text(const struct lab_run_row *run,
                            char out[LAB_RUN_LR_TEXT])
{
    out[0] = '\0';
    if (lr_was_set(run))
        snprintf(out, LAB_RUN_LR_TEXT, "%g (the lesson: %g)",
                 run->learning_rate, run->lesson_learning_rate);
    else if (!isnan(run->learning_rate))
        snprintf(out, LAB_RUN_LR_TEXT, "%g", run->learning_rate);
    return out;
}

/* `traced` is traced_first of the database. */
#define NEWEST_FIRST(traced)                                                   \
    " ORDER BY " traced " AND traceState IS 'never'," LAB_SQL_NEWEST

/* run LAB_UNKNOWN: all of them. */
static enum lab_status query_runs(struct lab_database *db, int64_t run,
                                  lab_run_row_fn *each, void *user)
{
    struct lab_run_row row;
    struct lab_str sql;
    lab_str_init(&sql);
    lab_fields_select(&sql, &lab_run_fields);
    lab_str_add(&sql, ", " GPU_NS
                      ", pid, processStart FROM run WHERE ?1 IS NULL OR id = "
                      "?1" NEWEST_FIRST("?2"));
    struct lab_stmt s = lab_stmt_built(db, &sql);
    lab_bind_int(s.sql, 1, run);
    lab_bind_int(s.sql, 2, db->traced_first);
    while (lab_stmt_next(&s)) {
        read_run(&s, &row);
        if (row.status && strcmp(row.status, "running") != 0)
            s.st = run_fill_from_rows(db, &row);
        if (s.st || !each(user, &row))
            break;
    }
    return lab_stmt_end(&s);
}

enum lab_status lab_query_runs(struct lab_database *db, lab_run_row_fn *each,
                               void *user)
{
    return query_runs(db, LAB_UNKNOWN, each, user);
}

enum lab_status lab_query_run(struct lab_database *db, int64_t run,
                              lab_run_row_fn *each, void *user)
{
    enum lab_status st = lab_query_require_run(db, run);
    return st ? st : query_runs(db, run, each, user);
}

enum lab_status lab_query_last_run(struct lab_database *db, int64_t *out)
{
    int64_t run;
    enum lab_status st = lab_database_int_of(
        db, "SELECT id FROM run" NEWEST_FIRST("?1") " LIMIT 1",
        db->traced_first, LAB_UNKNOWN, &run);
    if (st)
        return st;
    if (run == LAB_UNKNOWN)
        return lab_fail(LAB_E_NOTFOUND,
                        "[run.none] %s: no run has been recorded yet",
                        db->path);
    *out = run;
    return LAB_OK;
}

static bool check_run(void *running, const struct lab_run_row *row)
{
    *(bool *)running = row->status && strcmp(row->status, "running") == 0;
    return true;
}

/* The statements of delete_run.sql, one after the other. To find the names that
 * nothing uses any more takes a look at every row: 15 s for ten million
 * kernels. In such a database a few unused names stay. */
static enum lab_status delete_rows(struct lab_database *db, int64_t run,
                                   struct lab_deleted *out)
{
    enum { MANY_KERNELS = 1000000 };
    const char *sql = lab_sql_delete_run;
    int64_t kernels_there;
    enum lab_status st = lab_database_int(
        db, "SELECT max(kernelRow) FROM CUPTI_ACTIVITY_KIND_KERNEL", 0,
        &kernels_there);
    while (st == LAB_OK) {
        struct lab_stmt s = lab_stmt_of(db, &sql, "deleting a run");
        if (!s.sql)
            return s.st;
        const char *text = sqlite3_sql(s.sql);
        bool names = sqlite3_bind_parameter_count(s.sql) == 0;
        if (names && kernels_there > MANY_KERNELS)
            return lab_stmt_end(&s);
        bool steps = strstr(text, "FROM step WHERE runId") && !names;
        bool kernels = strstr(text, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL");
        sqlite3_bind_int64(s.sql, 1, run);
        st = lab_stmt_once(&s, "deleting a run");
        int64_t n = sqlite3_changes64(db->sql);
        out->steps += steps ? n : 0;
        out->kernels += kernels ? n : 0;
        out->rows += names ? 0 : n;
    }
    return st;
}

enum lab_status lab_run_delete(struct lab_database *db, int64_t run,
                               struct lab_deleted *out)
{
    bool running = false;
    struct lab_deleted deleted = {0};
    enum lab_status st = lab_database_begin(db, "deleting a run");
    if (st)
        return st;
    st = lab_query_run(db, run, check_run, &running);
    if (st == LAB_OK && running)
        st = lab_fail(LAB_E_STATE,
                      "[run.running] %s: run %lld is still being recorded; end "
                      "that program first",
                      db->path, (long long)run);
    if (st == LAB_OK)
        st = delete_rows(db, run, &deleted);
    if (st == LAB_OK)
        st = lab_database_exec(db, "COMMIT", "deleting a run");
    if (st) {
        lab_database_rollback(db);
        return st;
    }
    *out = deleted;
    return LAB_OK;
}

enum lab_status lab_database_free_bytes(struct lab_database *db, int64_t *out)
{
    return lab_database_int(db,
                            "SELECT freelist_count * page_size FROM "
                            "pragma_freelist_count, pragma_page_size",
                            0, out);
}

/* In WAL mode the shorter file is in the log until a checkpoint moves it. */
enum lab_status lab_database_vacuum(struct lab_database *db)
{
    enum lab_status st = lab_database_exec(db, "VACUUM", "making it smaller");
    return st ? st
              : lab_database_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)",
                                  "making it smaller");
}
