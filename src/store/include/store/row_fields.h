/* store/row_fields.h -- tables beside a run whose rows are structs: which member
 * is which column. From these lists they are added, read, imported and exported
 * (CSV, JSON), so that a new column is everywhere at once. What the HTML report
 * and the screens show of them is chosen there.
 *
 * Errors of all functions: LAB_E_DB; LAB_E_NOMEM. Threads: that of the
 * connection. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/str.h"
#include "store/database.h"

enum lab_field_kind {
    LAB_FIELD_INT,  /* int64_t, LAB_UNKNOWN is NULL */
    LAB_FIELD_TEXT, /* const char *, NULL is NULL */
    LAB_FIELD_REAL  /* double, NaN is NULL */
};

struct lab_field {
    const char *column;
    enum lab_field_kind kind;
    size_t at; /* in the struct */
};

struct lab_fields {
    const char *table;  /* has runId */
    const char *order;  /* a column; each run's rows come in its order */
    const char *prefix; /* of its columns where other tables' stand beside */
    const struct lab_field *list;
    int count;
    size_t row_bytes;
};

extern const struct lab_fields lab_bench_result_fields;
extern const struct lab_fields lab_sweep_row_fields;
extern const struct lab_fields lab_prediction_fields;
extern const struct lab_fields lab_tuned_row_fields; /* of the run that tuned */

typedef bool lab_fields_row_fn(void *user, const void *row);

LAB_C_BEGIN
/* Adds a row of `run`. LAB_E_NOTFOUND: there is no such run. */
enum lab_status lab_fields_add(struct lab_database *db, int64_t run,
                               const struct lab_fields *fields,
                               const void *row);
/* Adds a row of no run, or of the one that a member says; it need not be there.
 */
enum lab_status lab_fields_add_row(struct lab_database *db,
                                   const struct lab_fields *fields,
                                   const void *row);
/* The rows of `run`, until `each` returns false; a row and its texts are valid
 * during the call. LAB_E_NOTFOUND: there is no such run. */
enum lab_status lab_fields_read(struct lab_database *db, int64_t run,
                                const struct lab_fields *fields,
                                lab_fields_row_fn *each, void *user);
/* The same of `from`, what follows FROM in a SELECT of all columns. */
enum lab_status lab_fields_read_from(struct lab_database *db,
                                     const struct lab_fields *fields,
                                     const char *from, lab_fields_row_fn *each,
                                     void *user);
/* Makes every field of a row unknown. */
void lab_fields_clear(const struct lab_fields *fields, void *row);
/* Appends a column's name in the small letters of exports: threeQuarters_ns is
 * three_quarters_ns there. */
void lab_field_name(struct lab_str *out, const char *column);
LAB_C_END

/* A line of the list `fields` of a struct `row`. */
#define LAB_FIELD(row, column, kind, member)                                   \
    {                                                                          \
        column, LAB_FIELD_##kind, offsetof(struct row, member)                 \
    }

/* After the list: ROW_fields, and the function `read`, which is
 * lab_fields_read() with the row's own type, ROW_fn. */
#define LAB_FIELDS(row, list, read, table, order, prefix)                      \
    const struct lab_fields row##_fields = {                                   \
        table,                                                                 \
        order,                                                                 \
        prefix,                                                                \
        list,                                                                  \
        (int)(sizeof(list) / sizeof(list[0])),                                 \
        sizeof(struct row)};                                                   \
    struct row##_reader {                                                      \
        row##_fn *each;                                                        \
        void *user;                                                            \
    };                                                                         \
    static bool row##_each(void *user, const void *r)                          \
    {                                                                          \
        const struct row##_reader *to = user;                                  \
        return to->each(to->user, r);                                          \
    }                                                                          \
    enum lab_status read(struct lab_database *db, int64_t run, row##_fn *each, \
                         void *user)                                           \
    {                                                                          \
        struct row##_reader to = {each, user};                                 \
        return lab_fields_read(db, run, &row##_fields, row##_each, &to);       \
    }
