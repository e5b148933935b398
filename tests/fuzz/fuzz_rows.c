/* Rows of a sound database with what no program would have written: the
 * bytes of an input are changes to cells, columns and tables of a recorded run
 * or of an export of Nsight Systems, which is then read, exported and imported.
 *
 * The first byte chooses one of the files of $FUZZ_DATABASES, as run_target.sh
 * names them; each change takes six. */
#include "fuzz.h"
#include "fuzz_read.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/database.h"

enum { FILES = 3, TABLES = 64, NAME_BYTES = 96, SQL_BYTES = 640, CHANGES = 24 };

static const char *const names[FILES] = {"runs.db", "nsys.db", "long.db"};

static struct {
    char *bytes;
    size_t size;
} files[FILES];

static void read_file(int i)
{
    const char *from = getenv("FUZZ_DATABASES");
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", from ? from : ".", names[i]);
    FILE *f = fopen(path, "rb");
    fuzz_check(f && !fseek(f, 0, SEEK_END), "no databases");
    files[i].size = (size_t)ftell(f);
    files[i].bytes = malloc(files[i].size);
    rewind(f);
    fuzz_check(files[i].bytes &&
                   fread(files[i].bytes, 1, files[i].size, f) == files[i].size,
               "a database cannot be read");
    fclose(f);
}

static void free_files(void)
{
    for (int i = 0; i < FILES; i++)
        free(files[i].bytes);
}

/* What a cell may hold, as SQL. */
static const char *const values[] = {"0",
                                     "1",
                                     "-1",
                                     "2",
                                     "3",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "2147483647",
                                     "2147483648",
                                     "4294967296",
                                     "4611686018427387904",
                                     "-2305843009213693951",
                                     "100000",
                                     "0.5",
                                     "1e308",
                                     "-1e308",
                                     "1e999",
                                     "1e999 - 1e999",
                                     "NULL",
                                     "''",
                                     "'x'",
                                     "x'00ff'",
                                     "zeroblob(70000)",
                                     "x'102030405060708090'",
                                     "'\x1b[31m<script>'",
                                     "'=cmd|1'",
                                     "char(0) || 'a'",
                                     "'a' || char(10) || 'b'"};

enum { VALUES = sizeof(values) / sizeof(values[0]) };

/* A change that multiplies rows ends after this many steps. */
static int too_long(void *steps)
{
    return ++*(int *)steps > 2000;
}

static void run_sql(sqlite3 *db, const char *sql)
{
    int steps = 0;
    sqlite3_progress_handler(db, 1000, too_long, &steps);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_progress_handler(db, 0, NULL, NULL);
}

/* The texts of column `column` of a query, at most `most`; how many. */
static int list(sqlite3 *db, const char *sql, int column,
                char out[][NAME_BYTES], int most)
{
    sqlite3_stmt *s;
    int n = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return 0;
    while (n < most && sqlite3_step(s) == SQLITE_ROW) {
        const unsigned char *text = sqlite3_column_text(s, column);
        snprintf(out[n++], NAME_BYTES, "%s", text ? (const char *)text : "");
    }
    sqlite3_finalize(s);
    return n;
}

static void change(sqlite3 *db, const char *table, const uint8_t d[6])
{
    char columns[TABLES][NAME_BYTES];
    char sql[SQL_BYTES];
    char value[NAME_BYTES + 32];
    char where[NAME_BYTES * 3 + 80] = "";
    snprintf(sql, sizeof(sql), "PRAGMA table_info(\"%s\")", table);
    int n = list(db, sql, 1, columns, TABLES);
    const char *column = n > 0 ? columns[d[2] % n] : "";
    snprintf(value, sizeof(value), "%s", values[d[4] % VALUES]);
    if (d[4] >= 200)
        snprintf(value, sizeof(value), "\"%s\" + %d", column,
                 (d[5] - 128) * (d[4] & 1 ? 1 : 1000000));
    if (d[3] < 200)
        snprintf(where, sizeof(where),
                 " WHERE \"%s\" IN (SELECT \"%s\" FROM \"%s\" LIMIT 1 OFFSET "
                 "%d)",
                 column, column, table, d[3] % 40);
    switch (d[0] % 12) {
    case 0:
        snprintf(sql, sizeof(sql), "DELETE FROM \"%s\"%s", table, where);
        break;
    case 1:
        snprintf(sql, sizeof(sql), "DROP TABLE \"%s\"", table);
        break;
    case 2:
        snprintf(sql, sizeof(sql),
                 "ALTER TABLE \"%s\" RENAME COLUMN \"%s\" TO \"z%d\"", table,
                 column, d[3]);
        break;
    case 3:
        snprintf(sql, sizeof(sql), "INSERT INTO \"%s\" (\"%s\") VALUES (%s)",
                 table, column, value);
        break;
    case 4:
        snprintf(sql, sizeof(sql),
                 "INSERT OR IGNORE INTO \"%s\" SELECT * FROM \"%s\"%s", table,
                 table, where);
        break;
    case 5:
        snprintf(sql, sizeof(sql),
                 "ALTER TABLE \"%s\" RENAME TO o%d; "
                 "CREATE VIEW \"%s\" AS SELECT * FROM o%d",
                 table, d[3], table, d[3]);
        break;
    case 6:
        snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", d[4] % 9);
        break;
    default:
        snprintf(sql, sizeof(sql), "UPDATE OR IGNORE \"%s\" SET \"%s\" = %s%s",
                 table, column, value, where);
        break;
    }
    run_sql(db, sql);
}

static void change_all(const char *path, const uint8_t *data, size_t size)
{
    char tables[TABLES][NAME_BYTES];
    sqlite3 *db;
    fuzz_check(sqlite3_open(path, &db) == SQLITE_OK, "no database");
    run_sql(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; "
                "PRAGMA ignore_check_constraints = 1; BEGIN");
    int n = list(db,
                 "SELECT name FROM sqlite_master WHERE type = 'table' AND name "
                 "NOT LIKE 'sqlite%' ORDER BY name",
                 0, tables, TABLES);
    for (size_t i = 0; i + 6 <= size && i < (size_t)6 * CHANGES; i += 6)
        change(db, tables[data[i + 1] % n], data + i);
    run_sql(db, "COMMIT");
    sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned first = fuzz_byte(&data, &size);
    /* The long one costs as much as twenty of the others. */
    int which = first % 16 == 15 ? 2 : (int)(first % 2);
    const char *path = fuzz_path("in.db");
    struct lab_database *own;
    if (!files[0].bytes) {
        atexit(free_files);
        for (int i = 0; i < FILES; i++)
            read_file(i);
    }
    fuzz_write("in.db", files[which].bytes, files[which].size);
    change_all(path, data, size);
    fuzz_read_database(path, first & 16 ? "label" : NULL);
    /* As a damaged file of one's own. */
    if (first & 32 && lab_database_open(&own, path, NULL) == LAB_OK)
        lab_database_close(own);
    return 0;
}
