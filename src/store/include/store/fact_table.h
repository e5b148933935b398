/* store/fact_table.h -- a table of facts of the course: read from a CSV file of
 * profiles/tables, with columns that are computed, and kept in the database.
 *
 * The file's own head is the only description of the table (docs/tables.md):
 * lines "#:key value", then the names of the columns with their units, then the
 * rows. The first column is the key. A column without a unit is text; one with a
 * unit holds numbers. Unknown is NULL and NaN.
 *
 * A table owns all that it points to. Errors of reading are LAB_E_PARSE with the
 * file, the line and what to do; LAB_E_NOTFOUND; LAB_E_NOMEM. Threads: one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/str.h"

enum { LAB_FACT_COLUMNS = 48, LAB_FACT_ROWS = 1000 };

struct lab_fact_column {
    const char *name;    /* "boost" */
    const char *unit;    /* "MHz"; "1": a plain number; NULL: text */
    const char *sql;     /* "boost_mhz": in the database, JSON and CSV */
    const char *formula; /* of a computed column; NULL: given */
    int line;            /* of the file */
};

struct lab_fact_cell {
    const char *text;     /* as written; NULL: unknown, or computed */
    long double value;    /* NaN: unknown, or text */
    const char *recorded; /* "@LESSON/VARIANT/SIZE/WHAT"; NULL: no such cell */
    long double was; /* before lab_fact_set() changed something; NaN: same */
};

struct lab_fact_table {
    struct lab_arena memory;
    const char *path;
    const char *name;   /* "gpus", of gpus.csv */
    const char *course; /* the row of the course: "C01" */
    const char *title;
    const char *about;   /* what it shows and how it is read; may be "" */
    const char *machine; /* what this machine adds: report/fact_machine.h; "" */
    const char *lessons; /* ids of lessons and labs that use it; "" */
    struct lab_fact_column column[LAB_FACT_COLUMNS];
    int columns;
    struct lab_fact_cell *cells; /* rows x LAB_FACT_COLUMNS */
    int *line;                   /* of each row; 0: of no file */
    int rows;
};

/* "boost=1500", "A100:boost=1500". */
struct lab_fact_change {
    const char *row; /* a key, in the text that was read; NULL: every row */
    int row_bytes;
    int column;
    long double value;
};

LAB_C_BEGIN
/* Reads a file and computes its columns. *out is the caller's. `course`: for several
 * files, empty before the first; it takes the rows of the course, which each table's own
 * row is looked for in. NULL: read for this file alone. */
enum lab_status lab_fact_read(struct lab_fact_table **out, const char *path,
                              struct lab_str *course);
/* The same of the text of a file; `path` is for messages and the name. */
enum lab_status lab_fact_parse(struct lab_fact_table **out, const char *path,
                               const char *text, size_t bytes);
void lab_fact_free(struct lab_fact_table *t); /* NULL allowed */

struct lab_fact_cell *lab_fact_at(const struct lab_fact_table *t, int row,
                                  int column);
/* The key of a row. */
const char *lab_fact_key(const struct lab_fact_table *t, int row);
/* By its name or its SQL name; -1. */
int lab_fact_column(const struct lab_fact_table *t, const char *name);
/* A row of unknown values behind the others; LAB_E_NOMEM. */
enum lab_status lab_fact_add_row(struct lab_fact_table *t, const char *key);
/* Copies a text into a cell; LAB_E_NOMEM. */
enum lab_status lab_fact_put_text(struct lab_fact_table *t, int row, int column,
                                  const char *text);
/* All computed columns of all rows. LAB_E_PARSE. */
enum lab_status lab_fact_compute(struct lab_fact_table *t);
/* A value as it is shown: the file's own digits, or five; "n/a". */
const char *lab_fact_text(const struct lab_fact_table *t, int row, int column,
                          char *out, size_t cap);
/* "boost [MHz]". */
void lab_fact_head(const struct lab_fact_table *t, int column,
                   struct lab_str *out);

/* Reads a change and checks it: a negative or infinite number, half a core, a
 * share above 1 and a value 1,000 times the largest of its column or more are
 * LAB_E_RANGE; what is no change is LAB_E_USAGE. */
enum lab_status lab_fact_change(const struct lab_fact_table *t,
                                const char *text, struct lab_fact_change *out);
/* Applies it and computes: changed cells keep what they were. LAB_E_USAGE: there
 * is no such row. */
enum lab_status lab_fact_set(struct lab_fact_table *t,
                             const struct lab_fact_change *change);

/* The rows that pass a filter, in an order. `filter`: "COLUMN=TEXT" (a part of a
 * text, or the number), "COLUMN>NUMBER", "<", ">=", "<=", "!=", or a text that
 * some cell contains; NULL: all. `sort` -1: as given. *shown has `*count` row
 * numbers, the caller's (lab_free). LAB_E_USAGE: no such filter. */
enum lab_status lab_fact_select(const struct lab_fact_table *t,
                                const char *const *filters, int n_filters,
                                int sort, bool reverse, int **shown,
                                int *count);

/* Fills the cells that a run which ships has measured, from the database at
 * `path`; `note` gets a line for each. LAB_E_PARSE, LAB_E_DB. */
enum lab_status lab_fact_take_recorded(struct lab_fact_table *t,
                                       const char *path, struct lab_str *note);

/* The run that a lesson is shown by on a backend, in the database at `path`: one that
 * trained before a sweep over it, with its own variants before chosen ones, with a trace
 * before one without, of a lab the one with most rows, then the newest. *run is left
 * alone where there is none. LAB_E_DB. */
enum lab_status lab_fact_recorded_run(const char *path, const char *lesson,
                                      const char *backend, int64_t *run);

/* ---- formulas ---- */

/* The value of a name; false: there is none. */
typedef bool lab_fact_name_fn(void *user, const char *name, long double *out);
/* Numbers, names, + - * / ^, brackets, sqrt, log2, exp, floor, ceil, min, max,
 * and if(condition, a, b) with < > <= >= ==. NaN in, NaN out. LAB_E_PARSE: the
 * place and what was expected. */
enum lab_status lab_fact_expression(const char *text, lab_fact_name_fn *name,
                                    void *user, long double *out);

/* ---- all tables ---- */

struct lab_database;

/* The tables that ship, in the order of the course: `each` gets one after the
 * other, until it returns an error. A table is valid during the call; one that `each`
 * sets to NULL it has taken over. LAB_E_PARSE: a file is wrong; `each` has had the
 * others. */
typedef enum lab_status lab_fact_each_fn(void *user, struct lab_fact_table **t);
enum lab_status lab_fact_all(lab_fact_each_fn *each, void *user);
/* Those of them that have the lesson in their key "lessons". A file that is wrong is
 * none of them. LAB_E_NOMEM. */
enum lab_status lab_fact_of_lesson(const char *lesson, lab_fact_each_fn *each,
                                   void *user);
/* A table by its name ("gpus"), its row of the course ("C01", "c1") or a path. */
enum lab_status lab_fact_find(struct lab_fact_table **out, const char *name);
/* Keeps the table as the SQL table course_NAME, in place of what was kept under
 * this name; nothing is written where it is the same already. LAB_E_DB. */
enum lab_status lab_fact_store(struct lab_database *db,
                               const struct lab_fact_table *t);
LAB_C_END
