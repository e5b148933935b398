/* insert_rows.h -- how each kind of record becomes a row. */
#pragma once
#include "insert.h"

struct lab_row_kind {
    const char *head;
    const char *row; /* "$": the next parameter; ?1 the run, ?2 the process */
    const char *tail;
    int parameters; /* how many "$" */
    /* Binds one row's parameters from number `first` on. */
    enum lab_status (*bind)(struct lab_insert *in, sqlite3_stmt *stmt,
                            int first, const struct lab_bulk_row *row);
};

extern const struct lab_row_kind lab_row_kinds[LAB_INTO_COUNT];

/* A range record of this level names the domain instead. */
enum { LAB_RANGE_DOMAIN = -1 };
