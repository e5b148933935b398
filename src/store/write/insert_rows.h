/* insert_rows.h -- how each kind of record becomes a row: a table of its columns,
 * from which come the statement and what is bound to it. */
#pragma once
#include "insert.h"

enum lab_row_column_kind {
    LAB_ROW_INT32,     /* INT32_MIN is NULL */
    LAB_ROW_UINT32,    /* always known */
    LAB_ROW_INT,       /* LAB_UNKNOWN is NULL */
    LAB_ROW_NONZERO,   /* so is 0 */
    LAB_ROW_MOMENT,    /* NULL where start and end are 0 */
    LAB_ROW_REAL,      /* NaN is NULL */
    LAB_ROW_NAME,      /* an id of trace/intern.h, as one of StringIds */
    LAB_ROW_NUMBER,    /* the row's own number */
    LAB_ROW_MADE,      /* by `value` */
    LAB_ROW_RANGE_TEXT /* of a range that has a number */
};

struct lab_row_column {
    const char *name;
    enum lab_row_column_kind kind;
    size_t at; /* in struct lab_record */
    int64_t (*value)(const struct lab_bulk_row *row);
};

struct lab_row_kind {
    const char *table; /* has runId */
    const struct lab_row_column *columns;
    int count;
    const char *also; /* another column, and its value; ?2 is the process */
    const char *also_value;
    const char *tail; /* after the values; may be NULL */
    bool fail;        /* OR FAIL: rows before the one that fails stay */
};

extern const struct lab_row_kind lab_row_kinds[LAB_INTO_COUNT];

/* Binds one row's columns from parameter `first` on. */
enum lab_status lab_row_bind(struct lab_insert *in,
                             const struct lab_row_kind *kind,
                             sqlite3_stmt *stmt, int first,
                             const struct lab_bulk_row *row);

/* A range record of this level names the domain instead. */
enum { LAB_RANGE_DOMAIN = -1 };
