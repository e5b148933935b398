#include <string.h>

#include "base/clock.h"
#include "import_priv.h"

/* What every copy of a run of version 1 is called (profiles/schema_2.sql). */
#define OLD_UUID "printf('v1-%x-%x-%x-%x', started_ns, pid, processStart, id)"

/* The columns of a run that are copied, the texts first. */
static const char *const run_texts[] = {"lesson",     "lessonPath",
                                        "title",      "backend",
                                        "device",     "chip",
                                        "driver",     "runtime",
                                        "precision",  "variants",
                                        "version",    "commitId",
                                        "hostname",   "user",
                                        "started",    "ended",
                                        "status",     "timeSource",
                                        "counters",   "countersReason",
                                        "writeError", "computeCapability"};
static const char *const run_numbers[] = {"id",
                                          "smCount",
                                          "seed",
                                          "batch",
                                          "iterations",
                                          "pid",
                                          "processStart",
                                          "started_ns",
                                          "ended_ns",
                                          "ringDrops",
                                          "ringWaits",
                                          "ringWait_ns",
                                          "ringHighWater",
                                          "writeErrors",
                                          "iterationMedian_ns",
                                          "rank"};
static const char *const run_reals[] = {"samples_per_s", "loss_first",
                                        "loss_last", "accuracy"};
enum {
    TEXTS = sizeof(run_texts) / sizeof(run_texts[0]),
    NUMBERS = sizeof(run_numbers) / sizeof(run_numbers[0]),
    REALS = sizeof(run_reals) / sizeof(run_reals[0])
};

/* Columns that came later: a file of an older version has not got them. */
struct later {
    bool uuid;
    bool label;
    bool trace;
    bool kind;
    bool from;
    bool rate;
};

static enum lab_status check_run_columns(struct lab_import *in,
                                         struct later *later)
{
    bool there;
    enum lab_status st = lab_import_has_table(in, "run", &there);
    for (int i = 0; i < TEXTS + NUMBERS + REALS && st == LAB_OK && there; i++) {
        const char *name = i < TEXTS ? run_texts[i]
                           : i < TEXTS + NUMBERS
                               ? run_numbers[i - TEXTS]
                               : run_reals[i - TEXTS - NUMBERS];
        st = lab_import_column(in, "run", name, &there);
    }
    if (st == LAB_OK && !there)
        st = lab_fail(LAB_E_DB,
                      "%s: its table of runs is not one of "
                      "lapenna-lab: refused",
                      in->path);
    if (st == LAB_OK)
        st = lab_import_column(in, "run", "uuid", &later->uuid);
    if (st == LAB_OK)
        st = lab_import_column(in, "run", "traceState", &later->trace);
    if (st == LAB_OK)
        st = lab_import_column(in, "run", "kind", &later->kind);
    if (st == LAB_OK)
        st = lab_import_column(in, "run", "importedFrom", &later->from);
    if (st == LAB_OK)
        st = lab_import_column(in, "run", "lessonLearningRate", &later->rate);
    return st ? st : lab_import_column(in, "run", "label", &later->label);
}

/* Their lengths too. */
static enum lab_status check_run_texts(struct lab_import *in)
{
    struct lab_str list;
    enum lab_status st = LAB_OK;
    lab_str_init(&list);
    for (int i = 0; i < TEXTS; i++)
        lab_str_addf(&list, "t%s ", run_texts[i]);
    lab_str_add(&list, "tlabel");
    if (list.failed)
        st = lab_no_memory("a query");
    if (st == LAB_OK)
        st = lab_import_check_columns(
            in, "run",
            (struct lab_import_columns){.list = lab_str_text(&list)});
    lab_str_release(&list);
    return st;
}

static enum lab_status check_run_values(struct lab_import *in,
                                        const struct later *later)
{
    struct lab_str sql;
    sqlite3_stmt *stmt;
    lab_str_init(&sql);
    lab_str_add(&sql, "SELECT id FROM src.run WHERE id NOT BETWEEN 1 AND "
                      "0x1FFFFFFFFFFFFF OR status IS NULL OR status NOT IN "
                      "('running', 'done', 'cancelled', 'failed', "
                      "'interrupted')");
    for (int i = 0; i < TEXTS; i++)
        lab_str_addf(&sql, " OR typeof(\"%s\") NOT IN ('text', 'null')",
                     run_texts[i]);
    for (int i = 0; i < NUMBERS; i++)
        lab_str_addf(&sql, " OR typeof(\"%s\") NOT IN ('integer', 'null')",
                     run_numbers[i]);
    for (int i = 0; i < REALS; i++)
        lab_str_addf(&sql,
                     " OR typeof(\"%s\") NOT IN ('real', 'integer', 'null')",
                     run_reals[i]);
    if (later->uuid)
        lab_str_add(&sql, " OR typeof(uuid) NOT IN ('text', 'null') OR "
                          "length(uuid) > 80 OR uuid GLOB '*[^0-9A-Za-z-]*'");
    if (later->label)
        lab_str_add(&sql, " OR typeof(label) NOT IN ('text', 'null')");
    if (later->trace)
        lab_str_add(&sql, " OR traceState NOT IN ('never', 'on', 'off', "
                          "'mixed', 'kernels')");
    if (later->kind)
        lab_str_add(&sql, " OR kind NOT IN ('lesson', 'lab')");
    if (later->rate)
        lab_str_add(&sql, " OR typeof(learningRate) NOT IN ('real', 'null') OR "
                          "typeof(lessonLearningRate) NOT IN ('real', 'null')");
    lab_str_add(&sql, " LIMIT 1");
    enum lab_status st =
        sql.failed ? lab_no_memory("a query")
                   : lab_database_prepare(in->db, lab_str_text(&sql), &stmt);
    lab_str_release(&sql);
    if (st)
        return st;
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        st = lab_fail(LAB_E_DB,
                      "%s: a value of run %lld is not what it should be: "
                      "refused",
                      in->path, (long long)sqlite3_column_int64(stmt, 0));
    enum lab_status end = lab_query_end(in->db, stmt, rc);
    return st ? st : end;
}

/* Every run of the file, and what is here of it. A run that its recorder left
 * as running is interrupted, unless the recorder lives on this machine. */
static enum lab_status list_runs(struct lab_import *in, bool uuid, bool label)
{
    char sql[1800];
    sqlite3_snprintf(
        sizeof(sql), sql,
        "CREATE TEMP TABLE candidate (old INTEGER PRIMARY KEY, uuid TEXT, "
        "label TEXT, here INTEGER, alive INTEGER);"
        "INSERT INTO temp.candidate SELECT id, %s, %s, NULL, 0 FROM src.run;"
        "UPDATE temp.candidate SET here = (SELECT min(r.id) FROM main.run AS r "
        "WHERE r.uuid = candidate.uuid);"
        "CREATE TEMP TABLE known (started_ns, pid, processStart, hostname, id, "
        "PRIMARY KEY (started_ns, pid, processStart, hostname)) WITHOUT ROWID;"
        "INSERT OR IGNORE INTO temp.known SELECT started_ns, pid, "
        "processStart, hostname, id FROM main.run WHERE started_ns NOTNULL AND "
        "pid NOTNULL AND processStart NOTNULL AND hostname NOTNULL ORDER BY "
        "id;"
        "UPDATE temp.candidate SET here = (SELECT k.id FROM src.run AS s JOIN "
        "temp.known AS k ON k.started_ns = s.started_ns AND k.pid = s.pid AND "
        "k.processStart = s.processStart AND k.hostname = s.hostname WHERE "
        "s.id = candidate.old) WHERE here IS NULL",
        uuid ? "ifnull(uuid, " OLD_UUID ")" : OLD_UUID,
        label ? "label" : "NULL");
    return lab_import_exec(in, sql);
}

static enum lab_status mark_living(struct lab_import *in)
{
    char host[256];
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    lab_host_name(host, sizeof(host));
    enum lab_status st = lab_database_prepare(
        in->db,
        "SELECT id, pid, processStart FROM src.run WHERE status = 'running' "
        "AND hostname = ?1",
        &stmt);
    if (st)
        return st;
    lab_bind_text(stmt, 1, host);
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        char sql[120];
        int64_t start = lab_process_start(sqlite3_column_int64(stmt, 1));
        if (start < 0 || start != sqlite3_column_int64(stmt, 2))
            continue;
        sqlite3_snprintf(sizeof(sql), sql,
                         "UPDATE temp.candidate SET alive = 1 WHERE old = %lld",
                         sqlite3_column_int64(stmt, 0));
        st = lab_import_exec(in, sql);
    }
    enum lab_status read = lab_query_end(in->db, stmt, st ? SQLITE_DONE : rc);
    return st ? st : read;
}

static void add_names(struct lab_str *sql, const char *prefix)
{
    for (int i = 0; i < TEXTS + NUMBERS + REALS; i++) {
        const char *name = i < TEXTS ? run_texts[i]
                           : i < TEXTS + NUMBERS
                               ? run_numbers[i - TEXTS]
                               : run_reals[i - TEXTS - NUMBERS];
        if (strcmp(name, "id") == 0)
            continue;
        if (*prefix && strcmp(name, "status") == 0)
            lab_str_add(sql, ", CASE s.status WHEN 'running' THEN "
                             "'interrupted' ELSE s.status END");
        else if (*prefix && strcmp(name, "rank") == 0)
            lab_str_add(sql, ", ifnull(s.rank, 0)");
        else
            lab_str_addf(sql, ", %s\"%s\"", prefix, name);
    }
}

/* One statement for each run, so that its new number is known. */
static enum lab_status add_run(struct lab_import *in, sqlite3_stmt *stmt,
                               int64_t old, const char *from, const char *now)
{
    char sql[160];
    sqlite3_bind_int64(stmt, 1, old);
    lab_bind_text(stmt, 2, in->options->label);
    lab_bind_text(stmt, 3, from);
    lab_bind_text(stmt, 4, now);
    if (sqlite3_step(stmt) != SQLITE_DONE)
        return lab_database_error(in->db, "importing a run");
    sqlite3_reset(stmt);
    sqlite3_snprintf(sizeof(sql), sql,
                     "INSERT INTO temp.run_map (old, new) VALUES (%lld, %lld)",
                     old, sqlite3_last_insert_rowid(in->db->sql));
    return lab_import_exec(in, sql);
}

/* What a run is; a file that does not say it has it by the rule of
 * profiles/schema_5.sql, which says lesson of what may turn out a lab. */
static const char *kind_of(const struct later *later)
{
    return later->kind   ? "s.kind"
           : later->from ? "CASE WHEN s.lesson NOTNULL OR s.importedFrom "
                           "ISNULL THEN 'lesson' END"
                         : "'lesson'";
}

static enum lab_status add_runs(struct lab_import *in,
                                const struct later *later)
{
    struct lab_str sql;
    sqlite3_stmt *stmt = NULL;
    char now[32];
    int64_t old = 0;
    const char *slash = strrchr(in->path, '/');
    lab_str_init(&sql);
    lab_str_add(&sql, "INSERT INTO main.run (uuid, label, importedFrom, "
                      "imported, traceState, kind, learningRate, "
                      "lessonLearningRate");
    add_names(&sql, "");
    lab_str_addf(
        &sql, ") SELECT c.uuid, ifnull(?2, c.label), ?3, ?4, %s, %s, %s",
        later->trace ? "s.traceState" : "NULL", kind_of(later),
        later->rate ? "s.learningRate, s.lessonLearningRate" : "NULL, NULL");
    add_names(&sql, "s.");
    lab_str_add(&sql, " FROM src.run AS s JOIN temp.candidate AS c ON c.old = "
                      "s.id WHERE s.id = ?1");
    enum lab_status st =
        sql.failed ? lab_no_memory("a query")
                   : lab_database_prepare(in->db, lab_str_text(&sql), &stmt);
    lab_str_release(&sql);
    lab_utc_text(lab_clock_wall_ns(), now);
    while (st == LAB_OK && old != LAB_UNKNOWN) {
        char next[128];
        sqlite3_snprintf(sizeof(next), next,
                         "SELECT min(old) FROM temp.candidate WHERE here IS "
                         "NULL AND NOT alive AND old > %lld",
                         old);
        st = lab_database_int(in->db, next, LAB_UNKNOWN, &old);
        if (st == LAB_OK && old != LAB_UNKNOWN)
            st = add_run(in, stmt, old, slash ? slash + 1 : in->path, now);
    }
    sqlite3_finalize(stmt);
    return st;
}

enum lab_status lab_import_own_runs(struct lab_import *in)
{
    struct later later = {0};
    enum lab_status st = check_run_columns(in, &later);
    if (st == LAB_OK)
        st = check_run_values(in, &later);
    if (st == LAB_OK)
        st = check_run_texts(in);
    if (st == LAB_OK)
        st = list_runs(in, later.uuid, later.label);
    if (st == LAB_OK)
        st = mark_living(in);
    in->kinds = later.kind;
    return st ? st : add_runs(in, &later);
}
