/* What a long run keeps of its passes (level 5 of time_sum) and of its steps'
 * kernels (6) may be any bytes: the passes that are listed have the run's
 * steps, one after the other, and a page has no kernel twice and none of
 * another step.
 *
 * The first byte of an input, '5' or '6', says instead of which bytes of
 * $FUZZ_DATABASE the others stand; fuzz_passes.sh makes both. */
#include "fuzz.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "store/query.h"
#include "store/timeline.h"
#include "trace/record.h"

enum { PAGE = 20, STEP = 1 };

static sqlite3 *writer;
static sqlite3_stmt *change;
static struct lab_database *reader;
static int64_t steps; /* of the run */

static void clean_up(void)
{
    sqlite3_finalize(change);
    sqlite3_close(writer);
    lab_database_close(reader);
}

static void run_sql(const char *sql)
{
    fuzz_check(sqlite3_exec(writer, sql, NULL, NULL, NULL) == SQLITE_OK, sql);
}

static void prepare(void)
{
    const struct lab_database_options only = {.read_only = true};
    const char *path = getenv("FUZZ_DATABASE");
    sqlite3_stmt *count;
    if (reader)
        return;
    fuzz_check(path && sqlite3_open(path, &writer) == SQLITE_OK, "no database");
    atexit(clean_up);
    run_sql("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; DROP "
            "TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT * FROM time_sum "
            "WHERE level > 4");
    fuzz_check(sqlite3_prepare_v2(writer, "SELECT count(*) FROM step", -1,
                                  &count, NULL) == SQLITE_OK &&
                   sqlite3_step(count) == SQLITE_ROW,
               "no steps");
    steps = sqlite3_column_int64(count, 0);
    sqlite3_finalize(count);
    fuzz_check(
        sqlite3_prepare_v2(writer,
                           "UPDATE time_sum SET times = ?1 WHERE level = ?2 "
                           "AND (level = 5 OR (stepIndex = 1 AND phase = 2))",
                           -1, &change, NULL) == SQLITE_OK,
        "no rows to change");
    fuzz_check(lab_database_open(&reader, path, &only) == LAB_OK,
               "no database");
}

struct seen {
    struct lab_iteration_row last;
    int64_t steps;
    int64_t rows[PAGE];
    int n;
};

static bool see_pass(void *user, const struct lab_iteration_row *row)
{
    struct seen *seen = user;
    fuzz_check(row->steps > 0 &&
                   row->steps <= row->exec_last - row->exec_first + 1,
               "a pass has more steps than it has room for");
    fuzz_check(seen->steps == 0 || row->exec_first > seen->last.exec_last,
               "passes overlap");
    seen->last = *row;
    seen->steps += row->steps;
    return true;
}

static bool see_kernel(void *user, const struct lab_kernel_row *row)
{
    struct seen *seen = user;
    fuzz_check(seen->n < PAGE, "a page is longer than was asked for");
    fuzz_check(row->step_index == STEP, "a kernel is another step's");
    for (int i = 0; i < seen->n; i++)
        fuzz_check(seen->rows[i] != row->row, "a kernel comes twice");
    seen->rows[seen->n++] = row->row;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen passes = {0};
    prepare();
    if (size == 0 || (data[0] != '5' && data[0] != '6'))
        return 0;
    fuzz_accepted();
    run_sql("UPDATE time_sum SET times = (SELECT times FROM kept WHERE "
            "kept.place = time_sum.place) WHERE level > 4");
    sqlite3_bind_blob64(change, 1, data + 1, size - 1, SQLITE_STATIC);
    sqlite3_bind_int(change, 2, data[0] - '0');
    fuzz_check(sqlite3_step(change) == SQLITE_DONE, "cannot change it");
    sqlite3_reset(change);
    fuzz_check(lab_query_iterations(reader, 1, see_pass, &passes) == LAB_OK &&
                   passes.steps == steps,
               "passes do not have the run's steps");
    for (int i = 0; i < 2; i++) {
        const struct lab_kernel_filter f = {.step_index = STEP,
                                            .iteration = LAB_UNKNOWN,
                                            .sort = LAB_KERNEL_BY_TIME,
                                            .descending = i == 1,
                                            .limit = PAGE};
        struct seen page = {0};
        fuzz_check(lab_query_kernels(reader, 1, &f, see_kernel, &page) ==
                           LAB_OK &&
                       page.n == PAGE,
                   "a page is not full");
    }
    return 0;
}
