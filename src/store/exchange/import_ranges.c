/* Steps of an nsys export that this program made of a run on a processor: no
 * kernels, but the ranges of its steps. */
#include <stdio.h>
#include <string.h>

#include "import_priv.h"
#include "db/row.h"

/* As the ranges were recorded: NVTX_EVENTS.category. */
enum { ITERATION = 1, PHASE, NODE, STEP };

/* Where in the nested ranges the reading is. */
struct inside {
    int64_t iteration;
    int64_t index; /* of the next step in it */
    int64_t phase; /* ENUM_LAB_PHASE */
    int64_t node;  /* StringIds */
    int64_t exec;
};

static const char ranges_sql[] =
    "SELECT n.category, n.start, n.end, n.textId, ifnull(n.text, s.value), "
    "p.id FROM "
    "main.NVTX_EVENTS AS n JOIN main.StringIds AS s ON s.id = n.textId LEFT "
    "JOIN main.ENUM_LAB_PHASE AS p ON p.name = s.value WHERE n.runId = ?1 AND "
    "n.eventType = 59 AND n.category BETWEEN 1 AND 4 AND n.end >= n.start "
    "ORDER BY n.start, n.category";
static const char step_sql[] =
    "INSERT INTO main.step (runId, exec, iteration, stepIndex, phase, nameId, "
    "nodeId, start_ns, end_ns, time_ns, timeSource) VALUES (?1, ?2, ?3, ?4, "
    "?5, ?6, ?7, ?8, ?9, ?10, ?11)";

static enum lab_status add_step(struct lab_import *in, sqlite3_stmt *add,
                                int64_t run, struct inside *at, int64_t name,
                                int64_t start, int64_t end)
{
    enum lab_status st = LAB_OK;
    sqlite3_bind_int64(add, 1, run);
    sqlite3_bind_int64(add, 2, ++at->exec);
    lab_bind_int(add, 3, at->iteration);
    sqlite3_bind_int64(add, 4, at->index++);
    lab_bind_int(add, 5, at->phase);
    sqlite3_bind_int64(add, 6, name);
    lab_bind_int(add, 7, at->node);
    sqlite3_bind_int64(add, 8, start);
    sqlite3_bind_int64(add, 9, end);
    lab_bind_int(add, 10, lab_span_ns(start, end));
    sqlite3_bind_int(add, 11, LAB_TIME_CPU_CLOCK);
    if (sqlite3_step(add) != SQLITE_DONE)
        st = lab_database_error(in->db, "importing steps");
    sqlite3_reset(add);
    return st;
}

static enum lab_status read_range(struct lab_import *in, sqlite3_stmt *add,
                                  int64_t run, struct inside *at,
                                  sqlite3_stmt *range)
{
    struct lab_columns c = {range, 0};
    int64_t category = lab_column_int(&c);
    int64_t start = lab_column_int(&c);
    int64_t end = lab_column_int(&c);
    int64_t name = lab_column_int(&c);
    const char *text = lab_column_text(&c);
    int64_t phase = lab_column_int(&c);
    long long number = -1;
    switch (category) {
    case ITERATION:
        if (text)
            sscanf(text, "iteration %lld", &number);
        at->iteration = number >= 0 ? (int64_t)number : LAB_UNKNOWN;
        at->index = 0;
        break;
    case PHASE:
        at->phase = phase;
        break;
    case NODE:
        at->node = name;
        break;
    default:
        return add_step(in, add, run, at, name, start, end);
    }
    return LAB_OK;
}

enum lab_status lab_import_range_steps(struct lab_import *in, int64_t run)
{
    struct inside at = {
        .iteration = LAB_UNKNOWN, .phase = LAB_UNKNOWN, .node = LAB_UNKNOWN};
    sqlite3_stmt *ranges = NULL;
    sqlite3_stmt *add = NULL;
    int rc = SQLITE_DONE;
    enum lab_status st = lab_database_prepare(in->db, ranges_sql, &ranges);
    if (st == LAB_OK)
        st = lab_database_prepare(in->db, step_sql, &add);
    if (st == LAB_OK)
        sqlite3_bind_int64(ranges, 1, run);
    while (st == LAB_OK && (rc = sqlite3_step(ranges)) == SQLITE_ROW)
        st = read_range(in, add, run, &at, ranges);
    sqlite3_finalize(add);
    if (!ranges)
        return st;
    enum lab_status end = lab_query_end(in->db, ranges, rc);
    return st ? st : end;
}
